//! Who sat where, and who really spoke.

use serde_json::Value;

use super::facts::{heading_id, label_of, named, seat_of};
use super::{Block, Section, at, list, string, words};

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
