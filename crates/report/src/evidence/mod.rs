//! What the debate did, as people read it.
//!
//! The paragraph and the paths of the seats are in every report. The full report adds who changed and why, and every measure.

mod measures;
mod paragraph;
pub(crate) mod paths;

pub(crate) use measures::measures;

use agon_core::{
    AskRecord, ChartPoint, Debate, PhaseTurn, PositionFlip, Reply, ReportBlock, ReportLength, ReportSection,
    RoundChart, SectionKind,
};
use serde_json::Value;

use crate::source::ReportSource;
use paths::{after_round, column_head};

/// The paragraph, and what everybody held in each round.
pub(crate) fn what_the_debate_did(source: &ReportSource<'_>, length: ReportLength) -> Option<ReportSection> {
    let mut blocks: Vec<ReportBlock> =
        paragraph::paragraph(source).map(ReportBlock::Line).into_iter().collect();
    let paths = paths::position_paths(source);
    blocks.extend(paths::is_worth_drawing(&paths).then_some(ReportBlock::Paths(paths)));
    if length == ReportLength::Full {
        blocks.extend(agreement_chart(source).map(ReportBlock::Chart));
    }
    (!blocks.is_empty()).then(|| ReportSection::new(SectionKind::Evidence, "What the debate did", blocks))
}

/// Agreement and spread by round. A single round gives nothing to draw.
fn agreement_chart(source: &ReportSource<'_>) -> Option<RoundChart> {
    let rows = &source.evidence.agreement;
    let points = rows.iter().map(|row| ChartPoint {
        round: after_round(row.round),
        tick: column_head(row.round),
        first: row.pairwise,
        second: row.entropy,
    });
    // Spread has no upper end, so the axis ends at the most that there was.
    let spread_max = rows.iter().filter_map(|row| row.entropy).fold(1.0, f64::max).ceil();
    let chart = RoundChart {
        names: ["agreement", "spread, bits"],
        threshold: None,
        axis_max: [1.0, spread_max],
        points: points.collect(),
    };
    (rows.len() > 1).then_some(chart)
}

/// Every change: from what to what, on what, and the seat's own words for it.
pub(crate) fn who_changed(source: &ReportSource<'_>) -> Option<ReportSection> {
    let blocks: Vec<ReportBlock> =
        source.evidence.flips.iter().map(|flip| change_block(source, flip)).collect();
    (!blocks.is_empty()).then(|| ReportSection::new(SectionKind::Part, "Who changed and why", blocks))
}

/// One change.
pub(crate) fn change_block(source: &ReportSource<'_>, flip: &PositionFlip) -> ReportBlock {
    let mut badges = vec![if flip.evidenced { "after a cited point" } else { "nothing cited" }.to_owned()];
    badges.extend((flip.toward_majority == Some(true)).then(|| "toward the majority".to_owned()));
    let mut pairs = vec![("From".to_owned(), flip.from.clone()), ("To".to_owned(), flip.to.clone())];
    pairs.extend((!flip.cited.is_empty()).then(|| ("Cited".to_owned(), flip.cited.join("; "))));
    let reason = reason_given(source.debate, &flip.seat, flip.round);
    pairs.extend(reason.map(|reason| ("In its own words".to_owned(), reason)));
    ReportBlock::Speech {
        place: source.place(&flip.seat),
        title: format!("{} in round {}", source.name(&flip.seat), flip.round),
        badges,
        blocks: vec![ReportBlock::Pairs(pairs)],
    }
}

/// Fields in which replies give the reason for a change, the most direct first.
const REASON_FIELDS: [&str; 9] = [
    "/change_reason",
    "/changed_because/citation",
    "/changed_because",
    "/because",
    "/addressed/0/how",
    "/concessions_made/0/point",
    "/reason",
    "/key_points/0/point",
    "/key_points/0",
];

/// Why a seat changed in a round, in its own words.
pub(crate) fn reason_given(debate: &Debate, seat: &str, round: u32) -> Option<String> {
    let turns = debate.turns.iter().rev().filter(|turn| turn.phase.round == round);
    let said = turns.flat_map(PhaseTurn::settled).filter(|(ask, _): &(&AskRecord, &Reply)| ask.seat == seat);
    let mut values = said.filter_map(|(_, reply)| reply.value()).filter(|value| !says_unchanged(value));
    values.find_map(|value| {
        let texts = REASON_FIELDS.iter().filter_map(|pointer| value.pointer(pointer)?.as_str());
        texts.map(str::trim).find(|text| !text.is_empty()).map(str::to_owned)
    })
}

/// Whether a reply says that nothing changed, so that its reason is not one for a change.
fn says_unchanged(value: &Value) -> bool {
    let is_false = |key: &str| value.get(key).and_then(Value::as_bool) == Some(false);
    let revision = value.get("revision").and_then(Value::as_str);
    is_false("changed") || is_false("score_changed") || revision == Some("no_change")
}
