//! What still divides the debaters, and what the panel is given to judge.

use agon_core::{Brief, BriefFile, NameMask, Outcome, PositionHistory, Status, Termination};

use crate::deep::verdict::DeepVerdict;
use crate::lexical;

/// The points that stayed in dispute: the chair's list, and what the moderator still saw after the last round.
pub(super) fn contested(deep: &DeepVerdict) -> Vec<String> {
    let status = deep.synthesis_input.convergence_status.as_ref();
    let open = status.map_or(&[][..], |status| &status.remaining_disagreements);
    let mut contested: Vec<String> = Vec::new();
    for point in deep.contested.iter().chain(open).map(|point| point.trim()) {
        let is_new = contested.iter().all(|before| !lexical::same_words(before, point));
        if is_new && !point.is_empty() {
            contested.push(point.to_owned());
        }
    }
    contested
}

/// Why a panel must rule on the debate's result; `None` where there is nothing to rule on.
pub(super) fn reason(deep: &Outcome, verdict: &DeepVerdict, stands: &PositionHistory) -> Option<String> {
    let positions = stands.rounds.last().map_or(0, |held| held.distinct().len());
    let (points, one) = (contested(verdict).len(), positions < 2);
    let settled = deep.termination == Termination::Converged
        || (deep.termination == Termination::Stable && one)
        || (points == 0 && one);
    if settled || deep.status != Status::Complete || verdict.answer.is_none() {
        return None;
    }
    let s = |n: usize| if n == 1 { "" } else { "s" };
    Some(format!(
        "the debate did not converge: {positions} position{} and {points} contested point{} were left",
        s(positions),
        s(points)
    ))
}

/// The files that the panel judges: the answer, and what is said against it. Seats are named by label only.
pub(super) fn files(brief: &Brief, deep: &DeepVerdict) -> Vec<BriefFile> {
    let mask = NameMask::new(brief);
    let file =
        |path: &str, text: String| BriefFile { path: path.to_owned(), text: mask.apply(&text), part: None };
    let why = deep.why.as_deref().unwrap_or_default();
    let text = format!("# The answer\n\n{}\n\n## Why\n\n{why}\n", deep.answer.as_deref().unwrap_or_default());
    vec![file("answer.md", text), file("divided.md", divided(deep))]
}

fn divided(deep: &DeepVerdict) -> String {
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

/// Where the debaters stand at the end, by label. Equal positions are listed once.
fn remaining(deep: &DeepVerdict) -> Vec<(Vec<String>, &str)> {
    let mut left: Vec<(Vec<String>, &str)> = Vec::new();
    for stance in &deep.synthesis_input.final_stances {
        let (label, position) = (format!("Debater {}", stance.debater), stance.revised_position.as_str());
        match left.iter_mut().find(|(_, other)| lexical::same_words(other, position)) {
            Some((holders, _)) => holders.push(label),
            None => left.push((vec![label], position)),
        }
    }
    left
}
