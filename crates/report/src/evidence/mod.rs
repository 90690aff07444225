//! What the debate did.
//!
//! Every report has a paragraph and what each seat held in each round. The full report adds who changed and why, and all figures.

mod measures;
mod paragraph;
pub(crate) mod paths;

pub(crate) use measures::measures;

use agon_core::wording::excerpt;
use agon_core::{
    ChartPoint, PositionFlip, ReportBlock, ReportItem, ReportLength, ReportSection, RoundChart, SectionKind,
};

use crate::report_source::ReportSource;
use paths::{after_round, round_head};

/// The paragraph, and what each seat held in each round.
pub(crate) fn what_the_debate_did(source: &ReportSource<'_>, length: ReportLength) -> Option<ReportSection> {
    let mut blocks: Vec<ReportBlock> =
        paragraph::paragraph(source).map(ReportBlock::Line).into_iter().collect();
    let paths = paths::position_paths(source);
    blocks.extend(paths::is_worth_drawing(&paths).then_some(ReportBlock::Paths(paths)));
    if length == ReportLength::Full {
        blocks.extend(agreement_chart(source).map(ReportBlock::Chart));
    } else if source.view.positions.are_texts {
        let changes: Vec<ReportItem> =
            source.evidence.flips.iter().take(CHANGES_MAX).map(|flip| change_item(source, flip)).collect();
        blocks.extend((!changes.is_empty()).then_some(ReportBlock::Items(changes)));
    }
    (!blocks.is_empty()).then(|| ReportSection::new(SectionKind::Evidence, "What the debate did", blocks))
}

/// The most changes that the short report lists.
const CHANGES_MAX: usize = 7;
/// The seat's own words for a change are cut to this length.
const REASON_CHARS_MAX: usize = 200;

/// When a seat changed and because of what.
fn change_item(source: &ReportSource<'_>, flip: &PositionFlip) -> ReportItem {
    let why = match (flip.cited.as_slice(), &flip.reason) {
        ([], None) => ", without a verified citation or a reason".to_owned(),
        ([], Some(reason)) => {
            format!(", without a verified citation: {}", excerpt(reason, REASON_CHARS_MAX))
        }
        (cited, _) => format!(" because of {}", cited.join("; ")),
    };
    let text = format!("changed in round {}{why}", flip.round);
    ReportItem { who: Some(source.name(&flip.seat)), text, note: None }
}

/// Agreement and spread by round. A single round gives nothing to draw, and a round that nobody sorted is a gap.
fn agreement_chart(source: &ReportSource<'_>) -> Option<RoundChart> {
    let rows = &source.evidence.agreement;
    let points = rows.iter().map(|row| ChartPoint {
        round: after_round(row.round),
        tick: round_head(row.round),
        first: row.pairwise,
        second: row.entropy,
    });
    // Spread has no upper limit, so the axis ends at the largest value.
    let spread_max = rows.iter().filter_map(|row| row.entropy).fold(1.0, f64::max).ceil();
    let chart = RoundChart {
        names: ["agreement", "spread, bits"],
        threshold: None,
        axis_max: [1.0, spread_max],
        points: points.collect(),
    };
    (rows.len() > 1).then_some(chart)
}

/// Every change: from what to what, what it cites, and why in the seat's own words.
pub(crate) fn who_changed(source: &ReportSource<'_>) -> Option<ReportSection> {
    let blocks: Vec<ReportBlock> =
        source.evidence.flips.iter().map(|flip| change_block(source, flip)).collect();
    (!blocks.is_empty()).then(|| ReportSection::new(SectionKind::Part, "Who changed and why", blocks))
}

/// One change.
pub(crate) fn change_block(source: &ReportSource<'_>, flip: &PositionFlip) -> ReportBlock {
    let cited = match (flip.evidenced, flip.by_source) {
        (false, _) => "without a verified citation",
        (true, false) => "with a verified citation",
        (true, true) => "with a verified citation of something that was looked up",
    };
    let mut badges = vec![cited.to_owned()];
    badges.extend((flip.toward_majority == Some(true)).then(|| "joins most of the others".to_owned()));
    let mut pairs = vec![("From".to_owned(), flip.from.clone()), ("To".to_owned(), flip.to.clone())];
    pairs.extend((!flip.cited.is_empty()).then(|| ("Cited".to_owned(), flip.cited.join("; "))));
    pairs.extend(flip.reason.as_ref().map(|reason| ("In its own words".to_owned(), reason.clone())));
    ReportBlock::Speech {
        place: source.place(&flip.seat),
        title: format!("{} in round {}", source.name(&flip.seat), flip.round),
        badges,
        blocks: vec![ReportBlock::Pairs(pairs)],
    }
}
