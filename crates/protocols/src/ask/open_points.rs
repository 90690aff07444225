//! What the debaters still disagree about, and the files that the panel judges.

use agon_core::wording::{counted, sentence};
use agon_core::{Brief, BriefFile, NameMask, Outcome, PositionHistory, Status, Termination};

use crate::deep::verdict::DeepVerdict;
use crate::quotes::is_same_text;

/// The points that stayed in dispute: the chair's list, or the moderator's after the last round if the chair has none. The chair read
/// the moderator's, so one point in two wordings is not listed twice.
pub(super) fn contested(deep: &DeepVerdict) -> Vec<String> {
    let listed = |points: &[String]| -> Vec<String> {
        let points = points.iter().map(|point| point.trim().to_owned());
        points.filter(|point| !point.is_empty()).collect()
    };
    let status = deep.synthesis_input.convergence_status.as_ref();
    match listed(&deep.contested) {
        chair if !chair.is_empty() => chair,
        _ => status.map_or(Vec::new(), |status| listed(&status.remaining_disagreements)),
    }
}

/// Why a panel must rule on the debate's answer. `None` if there is nothing to rule on.
pub(super) fn panel_reason(
    deep: &Outcome,
    verdict: &DeepVerdict,
    history: &PositionHistory,
) -> Option<String> {
    let last = history.rounds.last().filter(|round| round.is_sorted());
    let positions = last.map(|round| round.distinct().len());
    let points = contested(verdict).len();
    let is_settled = match (positions, deep.termination) {
        (Some(positions), _) if positions > 1 => false,
        (_, Termination::Converged) => true,
        (Some(_), Termination::Stable) => true,
        (Some(_), _) => points == 0,
        (None, _) => false,
    };
    if is_settled || deep.status != Status::Complete || verdict.answer.is_none() {
        return None;
    }
    let points = counted(points as u64, "contested point");
    Some(match positions {
        Some(positions) => {
            let positions = counted(positions as u64, "position");
            format!("the debate left {positions} and {points}")
        }
        None => format!("the debate left {points}, and it is not known whether the debaters agree"),
    })
}

/// The files that the panel judges: the answer, and the points and positions against it. Seats appear by label only.
pub(super) fn panel_files(brief: &Brief, deep: &DeepVerdict) -> Vec<BriefFile> {
    let mask = NameMask::new(brief);
    let file =
        |path: &str, text: String| BriefFile { path: path.to_owned(), text: mask.apply(&text), part: None };
    let why = deep.why.as_deref().unwrap_or_default();
    let text = format!("# The answer\n\n{}\n\n## Why\n\n{why}\n", deep.answer.as_deref().unwrap_or_default());
    vec![file("answer.md", text), file("divided.md", disagreements(deep))]
}

fn disagreements(deep: &DeepVerdict) -> String {
    let mut lines = vec!["# What still divides the debaters".to_owned()];
    let contested = contested(deep);
    if !contested.is_empty() {
        lines.push("\n## Contested points\n".to_owned());
        lines.extend(contested.iter().map(|point| format!("- {point}")));
    }
    lines.push("\n## The debaters' positions at the end".to_owned());
    for (holders, position) in final_positions(deep) {
        let names: Vec<String> = holders.iter().map(|label| format!("Debater {label}")).collect();
        lines.push(format!("\n### {}\n\n{position}", names.join(", ")));
        let points: Vec<String> = holders.iter().flat_map(|label| last_points(deep, label)).collect();
        if !points.is_empty() {
            lines.push(format!("\nLast argued for it:\n\n{}", points.join("\n")));
        }
    }
    format!("{}\n", lines.join("\n"))
}

/// What a debater argued when it last spoke: its reasons, and what it says against others.
fn last_points(deep: &DeepVerdict, label: &str) -> Vec<String> {
    let stances = deep.rounds.iter().rev().flat_map(|round| &round.stances);
    let mut spoken =
        stances.filter(|stance| stance.debater == label).filter_map(|stance| stance.argument.as_ref());
    let Some(argument) = spoken.next() else { return Vec::new() };
    let against = argument.counterpoints.iter().map(|counter| {
        let words = [&counter.point, &counter.evidence].map(|text| sentence(text)).join(" ");
        let target = counter.target.trim().trim_start_matches("Debater ");
        format!("- Against Debater {target}: {}", words.trim())
    });
    let reasons = argument.key_points.iter().map(|point| format!("- {}", point.trim()));
    reasons.chain(against).collect()
}

/// The debaters' final positions and who holds them, by label. Equal positions are listed once.
fn final_positions(deep: &DeepVerdict) -> Vec<(Vec<&str>, &str)> {
    let mut positions: Vec<(Vec<&str>, &str)> = Vec::new();
    for stance in &deep.synthesis_input.final_stances {
        let (label, position) = (stance.debater.as_str(), stance.revised_position.as_str());
        match positions.iter_mut().find(|(_, other)| is_same_text(other, position)) {
            Some((holders, _)) => holders.push(label),
            None => positions.push((vec![label], position)),
        }
    }
    positions
}
