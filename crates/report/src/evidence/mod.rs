//! What the debate did.
//!
//! Every report has a paragraph and what each seat held in each round. The full report adds who changed and why, and all figures.

mod measures;
mod paragraph;
pub(crate) mod paths;

pub(crate) use measures::measures;

use agon_core::wording::{excerpt_of_sentences, joined};
use agon_core::{
    PositionFlip, ReportBlock, ReportItem, ReportLength, ReportSection, RoundPositions, SectionKind,
};
use agon_host::clean_line;

use crate::report_source::ReportSource;

/// The paragraph, and what each seat held in each round.
pub(crate) fn what_the_debate_did(source: &ReportSource<'_>, length: ReportLength) -> Option<ReportSection> {
    let mut blocks: Vec<ReportBlock> =
        paragraph::paragraph(source).map(ReportBlock::Line).into_iter().collect();
    let paths = paths::position_paths(source);
    blocks.extend(paths::is_worth_drawing(&paths).then_some(ReportBlock::Paths(paths)));
    if length == ReportLength::Short && source.view.positions.are_texts {
        blocks.push(ReportBlock::Items(change_items(source)));
    }
    (!blocks.is_empty()).then(|| ReportSection::new(SectionKind::Evidence, "What the debate did", blocks))
}

/// The most changes that the short report lists.
const CHANGES_MAX: usize = 7;
/// The most changes that the paragraph tells one by one.
const CHANGES_IN_PARAGRAPH_MAX: usize = 3;
/// The seat's own words for a change are cut to this length.
const REASON_CHARS_MAX: usize = 200;

/// Whether the paragraph tells the changes one by one.
fn are_changes_in_paragraph(source: &ReportSource<'_>) -> bool {
    !source.view.positions.are_texts && source.evidence.flips.len() <= CHANGES_IN_PARAGRAPH_MAX
}

/// What a seat did with its position, and in which rounds.
pub(crate) struct SeatMoves<'a> {
    pub(crate) seat: &'a str,
    pub(crate) did: &'static str,
    /// Whether it took another position.
    pub(crate) is_change: bool,
    pub(crate) rounds: Vec<u32>,
}

/// What the seats did with their positions, in seat order. Of scores only changes are told.
pub(crate) fn seat_moves<'a>(source: &ReportSource<'a>) -> Vec<SeatMoves<'a>> {
    let history = &source.view.positions;
    let mut moves: Vec<SeatMoves<'a>> = Vec::new();
    for held in &source.evidence.trajectory {
        let seat = held.seat.as_str();
        let revised = history.revisions(seat);
        let flips = source.evidence.flips.iter().filter(|flip| flip.seat == seat);
        for (at, round) in history.rounds.iter().enumerate() {
            let flip = flips.clone().find(|flip| flip.round == round.round);
            let is_other = history.before(at, seat).is_some_and(|before| is_other_text(before, round, seat));
            let did = match flip {
                Some(flip) => change_verb(source, flip),
                None if source.is_scored() => continue,
                None if revised.contains(&round.round) && history.are_texts => "revised the text",
                None if revised.contains(&round.round) => "revised the position and kept the vote",
                // The seat does not call it a change.
                None if history.are_texts && is_other => "was counted with another position",
                None => continue,
            };
            match moves.iter_mut().find(|moves| moves.seat == seat && moves.did == did) {
                Some(moves) => moves.rounds.push(round.round),
                None => {
                    moves.push(SeatMoves { seat, did, is_change: flip.is_some(), rounds: vec![round.round] });
                }
            }
        }
    }
    moves
}

/// Whether two texts of a seat are declared to be two positions.
fn is_other_text(before: &RoundPositions, after: &RoundPositions, seat: &str) -> bool {
    let held = before.of(seat).zip(after.of(seat)).filter(|_| !after.ballots);
    held.is_some_and(|(then, now)| then.position != now.position && !then.is_unsorted && !now.is_unsorted)
}

/// What a seat did that has another position than before.
fn change_verb(source: &ReportSource<'_>, flip: &PositionFlip) -> &'static str {
    let history = &source.view.positions;
    let at = history.rounds.iter().position(|held| held.round == flip.round);
    let now = at.and_then(|at| history.rounds.get(at));
    let before = at.and_then(|at| history.before(at, &flip.seat));
    let mut held = now.into_iter().chain(before).filter_map(|held| held.of(&flip.seat));
    match now.is_some_and(|now| now.ballots) {
        _ if source.is_scored() => "gave another score",
        true if history.are_texts => "chose another position",
        // A text that nobody compared with the others may state the old position.
        _ if held.any(|held| held.is_unsorted) => "revised the position",
        _ => "changed position",
    }
}

/// What a seat did, when, and from what to what if positions are values.
fn change_words(source: &ReportSource<'_>, flip: &PositionFlip) -> String {
    let round = source.round_name(flip.round);
    match source.view.positions.are_texts {
        true => format!("{} in {round}", change_verb(source, flip)),
        false => format!("changed from {} to {} in {round}", flip.from, flip.to),
    }
}

/// What a change names, without the words that it quotes.
pub(crate) fn citation(cited: &[String], names_unverified: bool) -> String {
    let name = |cited: &String| {
        let name =
            cited.split(['"', '\u{201c}']).next().unwrap_or_default().trim_end_matches([' ', ':', ',']);
        if name.is_empty() { "quoted words".to_owned() } else { name.to_owned() }
    };
    match cited {
        [] if names_unverified => "naming nothing that verifies".to_owned(),
        [] => "naming nothing".to_owned(),
        cited => format!("naming {}", joined(&cited.iter().map(name).collect::<Vec<_>>())),
    }
}

fn flip_citation(flip: &PositionFlip) -> String {
    citation(&flip.cited, !flip.unverified.is_empty())
}

/// What a change names, in full. What does not verify says so itself.
fn named_in_full(flip: &PositionFlip) -> String {
    match (flip.cited.as_slice(), flip.unverified.as_slice()) {
        ([], []) => "nothing".to_owned(),
        ([], named) => {
            let mut named = named.to_vec();
            named.dedup();
            named.join("; ")
        }
        (cited, _) => cited.join("; "),
    }
}

/// The first changes, and how many more there are.
fn change_items(source: &ReportSource<'_>) -> Vec<ReportItem> {
    let flips = &source.evidence.flips;
    let shown = flips.iter().take(CHANGES_MAX).map(|flip| change_item(source, flip));
    let more = flips.len().saturating_sub(CHANGES_MAX);
    let more = (more > 0).then(|| ReportItem::text(format!("and {more} more, which the full report has")));
    shown.chain(more).collect()
}

/// When a seat changed and what it names. Its own words are shown where it names nothing that verifies.
fn change_item(source: &ReportSource<'_>, flip: &PositionFlip) -> ReportItem {
    let reason = flip.reason.as_deref().filter(|_| flip.cited.is_empty());
    let reason = reason.map_or(String::new(), |reason| {
        format!(". In its own words: {}", excerpt_of_sentences(reason, REASON_CHARS_MAX))
    });
    let text = format!("{}, naming {}{reason}", change_words(source, flip), named_in_full(flip));
    ReportItem { who: Some(source.name(&flip.seat)), text, note: None }
}

/// These changes: from what to what, what each names, and why in the seat's own words.
pub(crate) fn who_changed<'f>(
    source: &ReportSource<'_>,
    flips: impl Iterator<Item = &'f PositionFlip>,
) -> Option<ReportSection> {
    let blocks: Vec<ReportBlock> = flips.map(|flip| change_block(source, flip)).collect();
    (!blocks.is_empty()).then(|| ReportSection::new(SectionKind::Part, "Who changed and why", blocks))
}

/// One change. The words are the seat's own; the name of the position is beside them where it is in the words of somebody else.
fn change_block(source: &ReportSource<'_>, flip: &PositionFlip) -> ReportBlock {
    let history = &source.view.positions;
    let at = history.rounds.iter().position(|held| held.round == flip.round);
    // A first vote is compared with what the voter proposed.
    let before = at.and_then(|at| history.before(at, &flip.seat));
    let from = before.and_then(|before| source.held_words(&flip.seat, before.round));
    let name = history.in_full(&flip.to);
    let to = source.held_words(&flip.seat, flip.round).unwrap_or_else(|| name.clone());
    let is_own = clean_line(&to) == clean_line(&name);
    let mut pairs = vec![("From", from.unwrap_or_else(|| history.in_full(&flip.from))), ("To", to)];
    pairs.extend((!is_own).then_some(("Counted with", name)));
    pairs.push(("Named", named_in_full(flip)));
    pairs.extend(flip.reason.as_ref().map(|reason| ("In its own words", reason.clone())));
    let pairs = pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    ReportBlock::Speech {
        place: source.place(&flip.seat),
        title: format!("{} in {}", source.name(&flip.seat), source.round_name(flip.round)),
        badges: Vec::new(),
        blocks: vec![ReportBlock::Pairs(pairs)],
    }
}
