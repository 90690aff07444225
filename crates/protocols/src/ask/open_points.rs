//! What the debaters still disagree about, and the files that the panel judges.

use agon_core::wording::counted;
use agon_core::{Brief, BriefFile, NameMask, Outcome, PositionHistory, Status, Termination};

use crate::deep::verdict::DeepVerdict;
use crate::quotes::is_same_text;

/// The points that stayed in dispute: the chair's list and the moderator's after the last round, without duplicates.
pub(super) fn contested(deep: &DeepVerdict) -> Vec<String> {
    let status = deep.synthesis_input.convergence_status.as_ref();
    let open = status.map_or(&[][..], |status| &status.remaining_disagreements);
    let mut contested: Vec<String> = Vec::new();
    for point in deep.contested.iter().chain(open).map(|point| point.trim()) {
        let is_new = contested.iter().all(|before| !is_same_text(before, point));
        if is_new && !point.is_empty() {
            contested.push(point.to_owned());
        }
    }
    contested
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
    lines.push("\n## The positions that are left".to_owned());
    for (holders, position) in final_positions(deep) {
        lines.push(format!("\n### {}\n\n{position}", holders.join(", ")));
    }
    format!("{}\n", lines.join("\n"))
}

/// The debaters' final positions and who holds them, by label. Equal positions are listed once.
fn final_positions(deep: &DeepVerdict) -> Vec<(Vec<String>, &str)> {
    let mut positions: Vec<(Vec<String>, &str)> = Vec::new();
    for stance in &deep.synthesis_input.final_stances {
        let (label, position) = (format!("Debater {}", stance.debater), stance.revised_position.as_str());
        match positions.iter_mut().find(|(_, other)| is_same_text(other, position)) {
            Some((holders, _)) => holders.push(label),
            None => positions.push((vec![label], position)),
        }
    }
    positions
}
