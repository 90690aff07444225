//! Who changed, and who dissents.

use serde_json::{Value, json};

use super::Kept;
use crate::outline::evidence::{flipped, reason};
use crate::outline::facts::{dissent as minority, positions};
use crate::outline::{Block, Section, at, list, string, whole};

/// Every change with its reason.
pub(super) fn flips(kept: &Kept<'_>) -> Vec<Section> {
    let flips = list(kept.document, "/evidence/flips");
    let mut blocks: Vec<Block> = flips.iter().map(|flip| flipped(kept.document, kept.debate, flip)).collect();
    if blocks.is_empty() {
        let line = match at(kept.document, "/evidence/flips").is_array() {
            true => "Nobody changed position.",
            false => "Who changed was not measured in this debate.",
        };
        blocks.push(Block::Line(line.to_owned()));
    }
    vec![Section::new("changed", "Who changed and why", blocks)]
}

/// The same, each change with the seat's own words for it.
pub(super) fn flips_json(kept: &Kept<'_>) -> Value {
    let told = list(kept.document, "/evidence/flips").iter().map(|flip| {
        let mut told = flip.clone();
        let reason = reason(kept.debate, &string(flip, "/seat"), whole(flip, "/round"));
        if let Some(fields) = told.as_object_mut() {
            fields.insert("reason".to_owned(), json!(reason));
        }
        told
    });
    let told: Vec<Value> = told.collect();
    let by_seat = at(kept.document, "/evidence/flips_by_seat");
    json!({"id": at(kept.document, "/id"), "flips": told, "flips_by_seat": by_seat})
}

/// What the minority holds, and what became of each first position.
pub(super) fn dissent(kept: &Kept<'_>) -> Vec<Section> {
    let none = || {
        let over = kept.debate.outcome.is_some();
        let line =
            if over { "No dissent is recorded." } else { "The debate is not over: nobody dissents yet." };
        Section::new("dissent", "Dissent", vec![Block::Line(line.to_owned())])
    };
    let held = minority(kept.document, None).unwrap_or_else(none);
    [held].into_iter().chain(positions(kept.document)).collect()
}

/// The same as the outcome has it.
pub(super) fn dissent_json(kept: &Kept<'_>) -> Value {
    json!({"id": at(kept.document, "/id"), "dissent": at(kept.document, "/dissent"),
        "positions": at(kept.document, "/evidence/dissent")})
}
