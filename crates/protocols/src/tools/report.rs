//! What readers are told of what was attached and looked up: who asked for it and why, what it was, who cited it, and who cited it
//! for a change of position.

use agon_core::wording::{joined, seat_name};
use agon_core::{
    DebateView, ItemCitation, ItemFinding, ItemRecord, ItemStatus, PositionHistory, Reply, ReportItem,
    SeatPosition, ToolItem,
};
use serde_json::Value;

use super::table::ToolTable;
use super::{cited_item, has_words};
use crate::quotes::{QuotedTexts, quoted_words};
use crate::report_sections::list_section;

/// Adds every item to a view: as data, and as a section of the report.
pub(super) fn add_items(view: &mut DebateView, table: &ToolTable) {
    let quoted = QuotedTexts::new(&table.seen.brief);
    view.items = table.seen.items.iter().map(|item| record(&view.positions, table, &quoted, item)).collect();
    for (title, is_attached) in [("What was looked up", false), ("What you attached", true)] {
        let items = view.items.iter().filter(|item| item.asked_by.is_empty() == is_attached);
        let section = list_section(title, items.map(entry));
        view.outline.details.splice(0..0, section);
    }
}

fn record(
    positions: &PositionHistory,
    table: &ToolTable,
    quoted: &QuotedTexts<'_>,
    item: &ToolItem,
) -> ItemRecord {
    let (status, source, detail) = match &item.finding {
        ItemFinding::Pending => (ItemStatus::Pending, None, None),
        ItemFinding::Found { source, .. } => (ItemStatus::Found, Some(source.clone()), None),
        ItemFinding::Refused(why) => (ItemStatus::Refused, None, Some(why.clone())),
        ItemFinding::LeftOut { source, tokens, left } => {
            let detail = format!("it has about {tokens} tokens, and {left} were left (--tool-tokens)");
            (ItemStatus::LeftOut, Some(source.clone()), Some(detail))
        }
    };
    ItemRecord {
        id: item.id.clone(),
        tool: item.tool.clone(),
        arguments: item.arguments.clone(),
        status,
        source,
        detail,
        asked_by: item.askers.clone(),
        cited_by: citations(table, quoted, item),
        changed: changes(positions, &item.id),
    }
}

/// Who changed its position and cites an item for that.
fn changes(positions: &PositionHistory, id: &str) -> Vec<ItemCitation> {
    let mut changes = Vec::new();
    for round in &positions.rounds {
        for SeatPosition { seat, label, change, .. } in &round.stands {
            if change.as_ref().is_some_and(|change| change.sources.iter().any(|source| source == id)) {
                let (seat, label) = (seat.clone(), label.clone());
                changes.push(ItemCitation { seat, label, round: round.round, verified: true });
            }
        }
    }
    changes
}

fn entry(item: &ItemRecord) -> ReportItem {
    let text = match &item.source {
        Some(source) if item.asked_by.is_empty() => source.clone(),
        Some(source) => format!("{}: {source}", item.tool),
        None => format!("{} {}", item.tool, item.arguments),
    };
    let asked = item.asked_by.iter().map(|asker| {
        let why =
            if asker.why.is_empty() { String::new() } else { format!(" (\u{201c}{}\u{201d})", asker.why) };
        format!("{}{why}", reader_name(asker.label.as_ref(), &asker.seat))
    });
    let detail = item.detail.as_deref().unwrap_or_default();
    let status = match item.status {
        ItemStatus::Pending => Some("It was not looked up yet.".to_owned()),
        ItemStatus::Refused => Some(format!("Nothing was looked up: {detail}.")),
        ItemStatus::LeftOut => Some(format!("Left out: {detail}.")),
        ItemStatus::Found => None,
    };
    let cited = item.cited_by.iter().map(|citation| {
        let quoted = if citation.verified { " with a quote that verifies" } else { "" };
        format!("{}{quoted}", who_and_when(citation))
    });
    let changed = item.changed.iter().map(who_and_when);
    let notes = [
        list("Asked for by", asked.collect()),
        status,
        list("Cited by", cited.collect()),
        list("Cited for a change of position by", changed.collect()),
    ];
    let note = notes.into_iter().flatten().collect::<Vec<_>>().join(" ");
    ReportItem { who: Some(format!("[{}]", item.id)), text, note: Some(note).filter(|note| !note.is_empty()) }
}

fn list(words: &str, entries: Vec<String>) -> Option<String> {
    (!entries.is_empty()).then(|| format!("{words} {}.", joined(&entries)))
}

fn reader_name(label: Option<&String>, seat: &str) -> String {
    label.cloned().unwrap_or_else(|| seat_name(seat))
}

fn who_and_when(citation: &ItemCitation) -> String {
    let name = reader_name(citation.label.as_ref(), &citation.seat);
    if citation.round == 0 { name } else { format!("{name} in round {}", citation.round) }
}

/// Who cites an item: each seat that read it once in each round, with a verified quote if there is one.
fn citations(table: &ToolTable, quoted: &QuotedTexts<'_>, item: &ToolItem) -> Vec<ItemCitation> {
    let mut citations: Vec<ItemCitation> = Vec::new();
    for (place, turn) in table.seen.turns.iter().enumerate() {
        for (ask, reply) in turn.settled().filter(|(ask, _)| table.was_shown(item, place, ask)) {
            let Some(verified) = cites(reply, quoted, item) else { continue };
            let (seat, label, round) = (ask.seat.clone(), ask.label.clone(), turn.phase.round);
            match citations.iter_mut().find(|known| known.seat == seat && known.round == round) {
                Some(known) => known.verified |= verified,
                None => citations.push(ItemCitation { seat, label, round, verified }),
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
        None => reply.words().filter(|words| words.contains(&id)).map(|words| quotes(&words, quoted, item)),
    }
}

/// Whether a text has words of the item in quotation marks, in the paragraph that names it.
fn quotes(text: &str, quoted: &QuotedTexts<'_>, item: &ToolItem) -> bool {
    let named = text.lines().filter(|line| line.contains(&item.id));
    named.flat_map(quoted_words).any(|words| has_words(quoted, item, words))
}

fn value_cites(value: &Value, quoted: &QuotedTexts<'_>, item: &ToolItem, id: &str) -> Option<bool> {
    let inner: Vec<&Value> = match value {
        Value::String(text) => {
            let names = text.contains(id) || cited_item([item], text).is_some();
            return names.then(|| quotes(text, quoted, item));
        }
        Value::Array(entries) => entries.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        _ => return None,
    };
    let found = inner.into_iter().filter_map(|inner| value_cites(inner, quoted, item, id));
    let is_quoted = found.reduce(|one, other| one || other)?;
    let quote = value.get("quote").and_then(Value::as_str);
    Some(is_quoted || quote.is_some_and(|quote| has_words(quoted, item, quote)))
}
