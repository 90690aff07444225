//! Who changed, and who dissents.

use agon_core::{PositionFlip, ReportBlock, ReportSection, SectionKind};
use serde::Serialize;
use serde_json::{Value, json};

use crate::evidence::{change_block, reason_given};
use crate::sections;
use crate::source::ReportSource;

/// Every change with its reason.
pub(super) fn flips(source: &ReportSource<'_>) -> Vec<ReportSection> {
    let flips = source.evidence.flips.iter();
    let mut blocks: Vec<ReportBlock> = flips.map(|flip| change_block(source, flip)).collect();
    if blocks.is_empty() {
        blocks.push(ReportBlock::Line("Nobody changed position.".to_owned()));
    }
    vec![ReportSection::new(SectionKind::Part, "Who changed and why", blocks)]
}

/// A change with the seat's own words for it.
#[derive(Serialize)]
struct ExplainedFlip<'a> {
    #[serde(flatten)]
    flip: &'a PositionFlip,
    reason: Option<String>,
}

pub(super) fn flips_json(source: &ReportSource<'_>) -> Value {
    let flips = source
        .evidence
        .flips
        .iter()
        .map(|flip| ExplainedFlip { flip, reason: reason_given(source.debate, &flip.seat, flip.round) });
    let flips: Vec<ExplainedFlip<'_>> = flips.collect();
    json!({"id": source.debate.brief.id, "flips": flips, "flips_by_seat": source.evidence.flips_by_seat})
}

/// What the minority holds, and what became of each first position.
pub(super) fn dissent(source: &ReportSource<'_>) -> Vec<ReportSection> {
    let none = || {
        let line = match source.outcome() {
            Some(_) => "No dissent is recorded.",
            None => "The debate is not over: nobody dissents yet.",
        };
        ReportSection::new(SectionKind::Dissent, "Dissent", vec![ReportBlock::Line(line.to_owned())])
    };
    let held = sections::dissent(source).unwrap_or_else(none);
    [held].into_iter().chain(sections::first_positions(source)).collect()
}

pub(super) fn dissent_json(source: &ReportSource<'_>) -> Value {
    let dissent = source.outcome().map_or(&[][..], |outcome| &outcome.dissent);
    json!({"id": source.debate.brief.id, "dissent": dissent, "positions": source.evidence.dissent})
}
