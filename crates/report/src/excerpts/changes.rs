//! Who changed, and who dissents.

use agon_core::{ReportBlock, ReportSection, SectionKind};
use serde_json::{Value, json};

use crate::evidence::who_changed;
use crate::report_source::ReportSource;
use crate::sections;

/// Every change with its reason.
pub(super) fn flips(source: &ReportSource<'_>) -> Vec<ReportSection> {
    let nobody = || {
        let line = ReportBlock::Line("Nobody changed position.".to_owned());
        ReportSection::new(SectionKind::Part, "Who changed and why", vec![line])
    };
    vec![who_changed(source, source.evidence.flips.iter()).unwrap_or_else(nobody)]
}

pub(super) fn flips_json(source: &ReportSource<'_>) -> Value {
    let evidence = source.evidence;
    json!({"id": source.debate.brief.id, "flips": evidence.flips, "flips_by_seat": evidence.flips_by_seat})
}

/// What the minority holds, and what became of each first position.
pub(super) fn dissent(source: &ReportSource<'_>) -> Vec<ReportSection> {
    let none = || {
        let line = match source.outcome() {
            Some(_) => "No dissent is recorded.",
            None => "The debate is not over.",
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
