//! What readers are told of what was looked up: who asked for it and why, what it was, and who cited it.

use agon_core::wording::{joined, seat_name};
use agon_core::{
    Debate, DebateView, ItemAsker, ItemFinding, Reply, ReportBlock, ReportItem, ReportSection, SectionKind,
    ToolItem,
};
use serde_json::Value;

use super::cited_item;
use crate::quotes::QuotedTexts;

/// Adds a section with every item to a view.
pub(super) fn add_items(view: &mut DebateView, seen: &Debate) {
    if seen.items.is_empty() {
        return;
    }
    let quoted = QuotedTexts::new(&seen.brief);
    let entry = |item: &ToolItem| {
        let (what, note) = description(item);
        let asked = joined(&item.askers.iter().map(asked_words).collect::<Vec<_>>());
        let cited = cited_words(&citations(seen, &quoted, item));
        let note = [Some(format!("Asked for by {asked}.")), note, Some(cited)];
        let note = note.into_iter().flatten().collect::<Vec<_>>().join(" ");
        ReportItem { who: Some(format!("[{}]", item.id)), text: what, note: Some(note) }
    };
    let blocks = vec![ReportBlock::Items(seen.items.iter().map(entry).collect())];
    view.outline.details.insert(0, ReportSection::new(SectionKind::Part, "What was looked up", blocks));
}

fn description(item: &ToolItem) -> (String, Option<String>) {
    let request = format!("{} {}", item.tool, item.arguments);
    match &item.finding {
        ItemFinding::Pending => (request, Some("It was not looked up yet.".to_owned())),
        ItemFinding::Found { source, .. } => (format!("{}: {source}", item.tool), None),
        ItemFinding::Refused(why) => (request, Some(format!("Nothing was looked up: {why}."))),
        ItemFinding::LeftOut { source, tokens, left } => (
            format!("{}: {source}", item.tool),
            Some(format!("Left out: it has about {tokens} tokens, and {left} were left (--tool-tokens).")),
        ),
    }
}

fn asked_words(asker: &ItemAsker) -> String {
    let name = asker.label.clone().unwrap_or_else(|| seat_name(&asker.seat));
    match asker.why.as_str() {
        "" => name,
        why => format!("{name} (\u{201c}{why}\u{201d})"),
    }
}

/// A citation of an item.
#[derive(Debug, PartialEq, Eq)]
struct ItemCitation {
    /// Who cites it, and in which round.
    who: String,
    /// Whether its words are quoted exactly.
    is_verified: bool,
}

fn cited_words(citations: &[ItemCitation]) -> String {
    let said = |citation: &ItemCitation| match citation.is_verified {
        true => format!("{} with a quote that verifies", citation.who),
        false => citation.who.clone(),
    };
    match citations {
        [] => "Nobody cited it.".to_owned(),
        cited => format!("Cited by {}.", joined(&cited.iter().map(said).collect::<Vec<_>>())),
    }
}

/// Who cites an item: each seat once in each round, with a verified quote if there is one.
fn citations(seen: &Debate, quoted: &QuotedTexts<'_>, item: &ToolItem) -> Vec<ItemCitation> {
    let mut citations: Vec<ItemCitation> = Vec::new();
    for turn in &seen.turns {
        for (ask, reply) in turn.settled() {
            let Some(is_verified) = cites(reply, quoted, item) else { continue };
            let name = ask.label.clone().unwrap_or_else(|| seat_name(&ask.seat));
            let who = match turn.phase.round {
                0 => name,
                round => format!("{name} in round {round}"),
            };
            match citations.iter_mut().find(|known| known.who == who) {
                Some(known) => known.is_verified |= is_verified,
                None => citations.push(ItemCitation { who, is_verified }),
            }
        }
    }
    citations
}

/// Whether a reply cites an item, and then whether it quotes its words beside the id.
fn cites(reply: &Reply, quoted: &QuotedTexts<'_>, item: &ToolItem) -> Option<bool> {
    let id = format!("[{}]", item.id);
    match reply.value() {
        Some(value) => value_cites(value, quoted, item, &id),
        None => reply.words().filter(|words| words.contains(&id)).map(|_| false),
    }
}

fn value_cites(value: &Value, quoted: &QuotedTexts<'_>, item: &ToolItem, id: &str) -> Option<bool> {
    let inner: Vec<&Value> = match value {
        Value::String(text) => {
            let names = text.contains(id) || cited_item([item], text).is_some();
            return names.then_some(false);
        }
        Value::Array(entries) => entries.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        _ => return None,
    };
    let found: Vec<bool> =
        inner.into_iter().filter_map(|inner| value_cites(inner, quoted, item, id)).collect();
    let quote = value.get("quote").and_then(Value::as_str).zip(item.text());
    let is_quoted = quote.is_some_and(|(quote, text)| quoted.is_quoted_item(quote, text));
    (!found.is_empty()).then(|| is_quoted || found.contains(&true))
}
