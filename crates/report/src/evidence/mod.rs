//! What the debate did.
//!
//! Every report has a paragraph and what each seat held in each round. The full report adds who changed and why, and all figures.

mod measures;
mod paragraph;
pub(crate) mod paths;

pub(crate) use measures::measures;

use agon_core::wording::{excerpt, joined};
use agon_core::{
    ChartPoint, PositionFlip, ReportBlock, ReportItem, ReportLength, ReportSection, RoundChart, SectionKind,
};

use agon_host::clean_line;

use crate::report_source::ReportSource;
use paths::round_head;

/// The paragraph, and what each seat held in each round.
pub(crate) fn what_the_debate_did(source: &ReportSource<'_>, length: ReportLength) -> Option<ReportSection> {
    let mut blocks: Vec<ReportBlock> =
        paragraph::paragraph(source, length).map(ReportBlock::Line).into_iter().collect();
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

/// What a change cites: words that were checked, or ids and places, which say nothing about what they name.
pub(crate) fn citation(cited: &[String], names_unverified: bool) -> String {
    match cited {
        [] if names_unverified => "citing nothing that verifies".to_owned(),
        [] => "citing nothing".to_owned(),
        cited if has_quote(cited) => "with a verified quote".to_owned(),
        cited => format!("citing {}", joined(cited)),
    }
}

/// What a change cites, in a clause.
fn flip_citation(flip: &PositionFlip) -> String {
    citation(&flip.cited, !flip.unverified.is_empty())
}

/// What a change cites, and what of it does not verify.
fn change_citation(flip: &PositionFlip) -> String {
    match (flip.cited.as_slice(), flip.unverified.as_slice()) {
        ([], []) => citation(&[], false),
        ([], named) => format!("citing {}", named.join("; ")),
        (cited, _) => format!("citing {}", cited.join("; ")),
    }
}

/// Whether words are cited, and not only an id or a place.
fn has_quote(cited: &[String]) -> bool {
    cited.iter().any(|cited| cited.contains(['"', '\u{201c}']))
}

/// When a seat changed and because of what.
fn change_item(source: &ReportSource<'_>, flip: &PositionFlip) -> ReportItem {
    let why = change_citation(flip);
    // Words that verify are reason enough.
    let reason = flip.reason.as_deref().filter(|_| flip.cited.is_empty());
    let reason = reason
        .map_or(String::new(), |reason| format!(". In its own words: {}", excerpt(reason, REASON_CHARS_MAX)));
    let text = format!("changed in {}, {why}{reason}", source.round_name(flip.round));
    ReportItem { who: Some(source.name(&flip.seat)), text, note: None }
}

/// Agreement and spread by round. A single round gives nothing to draw, and a round that nobody sorted is a gap.
fn agreement_chart(source: &ReportSource<'_>) -> Option<RoundChart> {
    let (rows, votes) = (&source.evidence.agreement, source.vote_rounds());
    let points = rows.iter().map(|row| ChartPoint {
        round: source.round_name(row.round),
        tick: round_head(&votes, row.round),
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

/// One change. The words are the seat's own; the name of the position stands beside them where it is in the words of somebody else.
pub(crate) fn change_block(source: &ReportSource<'_>, flip: &PositionFlip) -> ReportBlock {
    let outside = if flip.by_source { " of a source" } else { "" };
    let cited = if flip.cited.is_empty() { change_citation(flip) } else { flip_citation(flip) };
    let mut badges = vec![format!("{cited}{outside}")];
    let toward =
        if source.is_scored() { "moves toward the other scores" } else { "joins most of the others" };
    badges.extend((flip.toward_majority == Some(true)).then(|| toward.to_owned()));
    let history = &source.view.positions;
    let is_vote = history.rounds.iter().any(|held| held.round == flip.round && held.ballots);
    // A first vote is compared with what the voter proposed.
    let held = || history.rounds.iter().filter(|held| held.round <= flip.round).rev();
    let to = held().find(|held| held.ballots == is_vote).and_then(|held| held.of(&flip.seat));
    let to = to.and_then(|held| held.words.clone());
    let earlier = held().filter(|held| held.round < flip.round).filter_map(|held| held.of(&flip.seat));
    let mut earlier = earlier.filter(|held| held.position == flip.from);
    let from = earlier.find_map(|held| held.reworded.clone().or_else(|| held.words.clone()));
    let name = history.in_full(&flip.to);
    let is_own = to.as_ref().is_none_or(|words| clean_line(words) == clean_line(&name));
    let mut pairs = vec![
        ("From", from.unwrap_or_else(|| history.in_full(&flip.from))),
        ("To", to.unwrap_or_else(|| name.clone())),
    ];
    pairs.extend((!is_own).then_some(("Counted with", name)));
    pairs.extend((!flip.cited.is_empty()).then(|| ("Cited", flip.cited.join("; "))));
    pairs.extend(flip.reason.as_ref().map(|reason| ("In its own words", reason.clone())));
    let pairs = pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    ReportBlock::Speech {
        place: source.place(&flip.seat),
        title: format!("{} in {}", source.name(&flip.seat), source.round_name(flip.round)),
        badges,
        blocks: vec![ReportBlock::Pairs(pairs)],
    }
}
