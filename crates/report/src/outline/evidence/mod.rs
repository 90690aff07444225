//! What the debate did: the `evidence` of the outcome as people read it.
//!
//! The paragraph and the ways of the seats are in every form; the long forms add who changed and why, and every
//! measure. Any part may be missing: old debates have few of them.

mod measures;
mod paragraph;
mod reasons;
mod ways;

pub(crate) use measures::measures;
pub(crate) use reasons::reason;
pub(crate) use ways::{Change, Way, Ways, after, column, who};

use agon_core::Debate;
use serde_json::Value;

use super::facts::place_of;
use super::{Block, Chart, Mark, Section, at, list, string, whole, words};

/// The paragraph, and how everybody went through the rounds.
pub(super) fn did(document: &Value, full: bool) -> Option<Section> {
    let mut blocks: Vec<Block> = paragraph::paragraph(document).map(Block::Line).into_iter().collect();
    let ways = Ways::read(document);
    blocks.extend(ways.drawn().then_some(Block::Ways(ways)));
    blocks.extend(full.then(|| agreement(document)).flatten().map(Block::Chart));
    (!blocks.is_empty()).then(|| Section::new("did", "What the debate did", blocks))
}

/// How far they agreed and how many ways they were spread, by round. Of one round there is nothing to draw.
fn agreement(document: &Value) -> Option<Chart> {
    let rows = list(document, "/evidence/agreement");
    let marks = rows.iter().map(|row| Mark {
        round: after(whole(row, "/round")),
        tick: column(whole(row, "/round")),
        first: at(row, "/pairwise").as_f64(),
        second: at(row, "/entropy").as_f64(),
    });
    let marks: Vec<Mark> = marks.collect();
    // Spread has no upper end; the axis has room for the most that there was.
    let most = marks.iter().filter_map(|mark| mark.second).fold(1.0, f64::max).ceil();
    let chart = Chart { names: ["agreement", "spread, bits"], threshold: None, most: [1.0, most], marks };
    (chart.marks.len() > 1).then_some(chart)
}

/// Every change: from what to what, on what, and the seat's own words for it.
pub(super) fn changed(document: &Value, debate: &Debate) -> Option<Section> {
    let flips = list(document, "/evidence/flips");
    let blocks: Vec<Block> = flips.iter().map(|flip| flipped(document, debate, flip)).collect();
    (!blocks.is_empty()).then(|| Section::new("changed", "Who changed and why", blocks))
}

/// One change.
pub(crate) fn flipped(document: &Value, debate: &Debate, flip: &Value) -> Block {
    let (seat, round) = (string(flip, "/seat"), whole(flip, "/round"));
    let flag = |pointer: &str| at(flip, pointer).as_bool() == Some(true);
    let cited: Vec<&str> = list(flip, "/cited").iter().filter_map(Value::as_str).collect();
    let mut badges =
        vec![if flag("/evidenced") { "after a cited point" } else { "nothing cited" }.to_owned()];
    badges.extend(flag("/toward_majority").then(|| "toward the majority".to_owned()));
    let mut pairs = Vec::new();
    for (name, text) in [("From", words(flip, "/from")), ("To", words(flip, "/to"))] {
        pairs.extend(text.map(|text| (name.to_owned(), text.to_owned())));
    }
    pairs.extend((!cited.is_empty()).then(|| ("Cited".to_owned(), cited.join("; "))));
    pairs.extend(reason(debate, &seat, round).map(|reason| ("In its own words".to_owned(), reason)));
    Block::Speech {
        place: place_of(document, &seat),
        title: format!("{} in round {round}", who(document, flip)),
        badges,
        blocks: vec![Block::Pairs(pairs)],
    }
}
