//! What still divides the debaters, and what the panel is given to judge.

use agon_core::fence::Mask;
use agon_core::{Artifact, Brief, Outcome, Stands, Status, Termination};
use serde_json::Value;

use crate::lexical;

/// The points that stayed in dispute: the chair's list, and what the moderator still saw after the last round.
pub(super) fn contested(deep: &Outcome) -> Vec<String> {
    let texts = |list: Option<&Value>| -> Vec<String> {
        let list = list.and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(|text| text.trim().to_owned()).collect()
    };
    let open = deep.verdict.pointer("/synthesis_input/convergence_status/remaining_disagreements");
    let mut contested: Vec<String> = Vec::new();
    for point in texts(deep.verdict.get("contested")).into_iter().chain(texts(open)) {
        let is_new = contested.iter().all(|before| !lexical::same_words(before, &point));
        if is_new && !point.is_empty() {
            contested.push(point);
        }
    }
    contested
}

/// The answer that a debate came to.
pub(super) fn answer(deep: &Outcome) -> Option<&str> {
    deep.verdict.get("answer").and_then(Value::as_str)
}

/// Why a panel is to rule on what a debate came to; `None` where there is nothing to rule on.
pub(super) fn reason(deep: &Outcome, stands: &Stands) -> Option<String> {
    let positions = stands.rounds.last().map_or(0, |held| held.distinct().len());
    let (points, one) = (contested(deep).len(), positions < 2);
    let settled = deep.termination == Termination::Converged
        || (deep.termination == Termination::Stable && one)
        || (points == 0 && one);
    if settled || deep.status != Status::Complete || answer(deep).is_none() {
        return None;
    }
    let s = |n: usize| if n == 1 { "" } else { "s" };
    Some(format!(
        "the debate did not converge: {positions} position{} and {points} contested point{} were left",
        s(positions),
        s(points)
    ))
}

/// What the panel judges: the answer, and what is said against it. Nobody is named but by label.
pub(super) fn files(brief: &Brief, deep: &Outcome) -> Vec<Artifact> {
    let mask = Mask::new(brief);
    let file =
        |path: &str, text: String| Artifact { path: path.to_owned(), text: mask.apply(&text), part: None };
    let why = deep.verdict.get("why").and_then(Value::as_str).unwrap_or_default();
    let text = format!("# The answer\n\n{}\n\n## Why\n\n{why}\n", answer(deep).unwrap_or_default());
    vec![file("answer.md", text), file("divided.md", divided(deep))]
}

fn divided(deep: &Outcome) -> String {
    let mut lines = vec!["# What still divides the debaters".to_owned()];
    let contested = contested(deep);
    if !contested.is_empty() {
        lines.push("\n## Contested points\n".to_owned());
        lines.extend(contested.iter().map(|point| format!("- {point}")));
    }
    lines.push("\n## The positions that are left".to_owned());
    for (holders, position) in remaining(deep) {
        lines.push(format!("\n### {}\n\n{position}", holders.join(", ")));
    }
    format!("{}\n", lines.join("\n"))
}

/// Where the debaters stood in the end, by label; the same words once.
fn remaining(deep: &Outcome) -> Vec<(Vec<String>, &str)> {
    let stances = deep.verdict.pointer("/synthesis_input/final_stances").and_then(Value::as_array);
    let mut left: Vec<(Vec<String>, &str)> = Vec::new();
    for stance in stances.into_iter().flatten() {
        let text = |key: &str| stance.get(key).and_then(Value::as_str);
        let (Some(label), Some(position)) = (text("debater"), text("revised_position")) else { continue };
        let label = format!("Debater {label}");
        match left.iter_mut().find(|(_, other)| lexical::same_words(other, position)) {
            Some((holders, _)) => holders.push(label),
            None => left.push((vec![label], position)),
        }
    }
    left
}
