//! Who sat where, and who really spoke.

use serde_json::Value;

use super::evidence::Ways;
use super::facts::{fate_of, heading_id, label_for, label_of, named, seat_of};
use super::{Block, Section, at, list, shortened, string, words};
use crate::clean::one_line;

/// A seat at a glance.
#[derive(Debug, Default)]
pub(crate) struct Card {
    /// Its place at the table.
    pub(crate) place: usize,
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) model: String,
    /// What it held before the debate, where it took positions.
    pub(crate) first: Option<String>,
    /// What it held at last, where that is something else.
    pub(crate) last: Option<String>,
    /// Whether it changed, and what became of its first position.
    pub(crate) notes: Vec<String>,
}

impl Card {
    pub(super) fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        let Self { name, id, model, first, last, notes, .. } = self;
        [name, id, model].into_iter().chain(first).chain(last).chain(notes)
    }
}

/// The seats at a glance for a page, and as a list for everything else.
pub(super) fn cards(document: &Value) -> Option<Section> {
    let mut section = seats(document)?;
    let ways = Ways::read(document);
    let cards = list(document, "/seats").iter().enumerate();
    let mut cards: Vec<Card> = cards.map(|(place, seat)| card(document, &ways, place, seat)).collect();
    // By their labels, as they were known; who has none follows in seat order.
    cards.sort_by_key(|card| {
        label_for(document, &card.id).map_or((true, String::new()), |label| (false, label))
    });
    let (pairs, lines) = section.blocks.into_iter().partition(|block| matches!(block, Block::Pairs(_)));
    let lines: Vec<Block> = lines;
    section.blocks = vec![Block::Cards(cards), Block::OffPage(pairs)];
    section.blocks.extend(lines);
    Some(section)
}

/// A longer position is cut on a card.
const CARD_CHARS_MAX: usize = 180;

fn card(document: &Value, ways: &Ways, place: usize, seat: &Value) -> Card {
    let id = string(seat, "/id");
    let name = label_for(document, &id).unwrap_or_else(|| heading_id(&id));
    let mut card = Card { place, name, model: model_of(seat), ..Card::default() };
    let way = ways.ways.iter().find(|way| way.place == place);
    let steps: Vec<_> = way.iter().flat_map(|way| way.steps.iter().flatten()).collect();
    let held = |position: usize| {
        ways.positions.get(position).map(|text| shortened(&one_line(text), Some(CARD_CHARS_MAX)))
    };
    if let (Some(first), Some(last)) = (steps.first(), steps.last()) {
        card.first = held(first.position);
        card.last = held(last.position).filter(|_| first.position != last.position);
        let changes = steps.iter().filter(|step| step.change.is_some()).count();
        card.notes.push(match changes {
            0 => "kept its position".to_owned(),
            1 => "changed once".to_owned(),
            2 => "changed twice".to_owned(),
            n => format!("changed {n} times"),
        });
    }
    let mine = |position: &&Value| words(position, "/seat") == Some(&id);
    let fate = list(document, "/evidence/dissent").iter().find(mine).and_then(|own| words(own, "/fate"));
    card.notes.extend(fate.map(|fate| format!("first position {}", fate_of(fate))));
    card.id = id;
    card
}

/// The mapping from labels to seats and models, and who plays more than one part.
pub(super) fn seats(document: &Value) -> Option<Section> {
    let seats = list(document, "/seats");
    if let Some(blocks) = one_model(document, seats) {
        return Some(Section::new("seats", "Who sat where", blocks));
    }
    let mut pairs: Vec<(String, String)> = Vec::new();
    for (label, seat) in at(document, "/labels").as_object().into_iter().flatten() {
        let id = seat.as_str().unwrap_or_default();
        let model = seat_of(document, id).map(model_of).unwrap_or_default();
        pairs.push((named(document, label), format!("{id}, {model}")));
    }
    let labelled = |seat: &&Value| label_of(document, &string(seat, "/id")).is_some();
    for seat in seats.iter().filter(|seat| !labelled(seat)) {
        let (id, role) = (string(seat, "/id"), string(seat, "/role"));
        let name = if id.starts_with(&role) { heading_id(&id) } else { format!("{id} ({role})") };
        pairs.push((name, model_of(seat)));
    }
    let mut blocks = vec![Block::Pairs(pairs)];
    blocks.extend(also_plays(seats).map(Block::Line));
    (!seats.is_empty()).then(|| Section::new("seats", "Who sat where", blocks))
}

/// Where one model has every seat, its name is said once.
fn one_model(document: &Value, seats: &[Value]) -> Option<Vec<Block>> {
    let (first, others) = seats.split_first()?;
    let model = words(first, "/model")?;
    let heard = seats.iter().find(|seat| !list(seat, "/spoke").is_empty()).unwrap_or(first);
    let same = |seat: &Value| {
        let spoke = list(seat, "/spoke");
        words(seat, "/model") == Some(model) && (spoke.is_empty() || spoke == list(heard, "/spoke"))
    };
    if others.is_empty() || !seats.iter().all(same) {
        return None;
    }
    let labels = at(document, "/labels").as_object().into_iter().flatten();
    let labels: Vec<String> = labels
        .map(|(label, seat)| format!("{} is {}", named(document, label), seat.as_str().unwrap_or_default()))
        .collect();
    let mut blocks = vec![Block::Pairs(vec![("All seats".to_owned(), model_of(heard))])];
    blocks.extend((!labels.is_empty()).then(|| Block::Line(format!("{}.", labels.join(", ")))));
    Some(blocks)
}

/// A seat's model by the name that it was given, and who really spoke where that is not simply the same.
fn model_of(seat: &Value) -> String {
    let model = string(seat, "/model");
    let spoke: Vec<&str> = list(seat, "/spoke").iter().filter_map(Value::as_str).collect();
    match spoke.as_slice() {
        [] => model,
        [only] if *only == model => model,
        [only] => format!("{model} ({only} spoke)"),
        [before @ .., last] => format!("{model} ({} and {last} spoke)", before.join(", ")),
    }
}

fn also_plays(seats: &[Value]) -> Option<String> {
    let first = seats.first()?;
    let (role, model) = (words(first, "/role")?, words(first, "/model")?);
    let others = seats
        .iter()
        .filter(|seat| words(seat, "/role") != Some(role) && words(seat, "/model") == Some(model));
    let others: Vec<&str> = others.filter_map(|seat| words(seat, "/role")).collect();
    let (last, before) = others.split_last()?;
    let parts =
        if before.is_empty() { (*last).to_owned() } else { format!("{} and {last}", before.join(", ")) };
    Some(format!("The first model also plays {parts}."))
}
