//! Everything that was said in a debate.

use agon_core::view::absence_words;
use agon_core::wording::{seat_name, seconds};
use agon_core::{
    AskRecord, CallAttempt, CitableText, Interjection, PhaseTurn, Reply, ReportBlock, ReportItem,
    ReportSection, SectionFold, SectionKind,
};
use serde_json::Value;

use crate::json_blocks;
use crate::report_source::ReportSource;

/// One section for each phase, with interjections between them.
pub(crate) fn all_phases(source: &ReportSource<'_>) -> Vec<ReportSection> {
    let debate = source.debate;
    let mut sections = Vec::new();
    for (place, turn) in debate.turns.iter().enumerate() {
        sections.extend(interjections(debate.interjections.iter().filter(|said| said.after == place)));
        sections.push(phase_section(source, turn, &|_| true));
    }
    let last = debate.interjections.iter().filter(|said| said.after >= debate.turns.len());
    sections.extend(interjections(last));
    sections
}

/// One section for each phase that has a wanted ask, with those asks alone.
pub(crate) fn phases_with(
    source: &ReportSource<'_>,
    wanted: &dyn Fn(&PhaseTurn, &AskRecord) -> bool,
) -> Vec<ReportSection> {
    let turns = source.debate.turns.iter().filter(|turn| turn.asks.iter().any(|ask| wanted(turn, ask)));
    turns.map(|turn| phase_section(source, turn, &|ask| wanted(turn, ask))).collect()
}

fn interjections<'a>(said: impl Iterator<Item = &'a Interjection>) -> Option<ReportSection> {
    let item =
        |said: &Interjection| ReportItem { who: Some(said.by.clone()), text: said.text.clone(), note: None };
    let items: Vec<ReportItem> = said.map(item).collect();
    let section =
        |items| ReportSection::new(SectionKind::Transcript, "Interjections", vec![ReportBlock::Items(items)]);
    (!items.is_empty()).then(|| section(items))
}

fn phase_section(
    source: &ReportSource<'_>,
    turn: &PhaseTurn,
    wanted: &dyn Fn(&AskRecord) -> bool,
) -> ReportSection {
    let title = source.phase_heading(&turn.phase.name, turn.phase.round);
    let in_round = source.is_in_round(&turn.phase.name, turn.phase.round);
    let asks = turn.asks.iter().zip(&turn.replies).zip(&turn.attempts).filter(|((ask, _), _)| wanted(ask));
    let blocks = asks
        .map(|((ask, reply), attempts)| {
            let round = turn.phase.round;
            speech(source, round, ask, reply.as_ref(), attempts)
        })
        .collect();
    let fold = if in_round { SectionFold::Open } else { SectionFold::Closed };
    ReportSection { fold, ..ReportSection::new(SectionKind::Transcript, title, blocks) }
}

/// Who was asked, by label, else by seat.
pub(crate) fn asked_name(source: &ReportSource<'_>, ask: &AskRecord) -> String {
    let name = ask.label.clone().unwrap_or_else(|| source.name(&ask.seat));
    format!("{name}{}", about_words(ask))
}

/// What an ask is about, after a name: " on Debater B"; empty if it is about nothing in particular.
pub(crate) fn about_words(ask: &AskRecord) -> String {
    ask.about.as_ref().map_or_else(String::new, |about| format!(" on {about}"))
}

/// Who spoke, with the model. The seat behind a label is named only after the debate.
fn speaker(source: &ReportSource<'_>, ask: &AskRecord, reply: Option<&Reply>) -> String {
    let model = match reply {
        Some(Reply::Said { model, .. }) => model,
        _ => &ask.model,
    };
    let label = ask.label.clone().or_else(|| source.label(&ask.seat).map(|_| source.name(&ask.seat)));
    let name = match (label, source.outcome().is_some()) {
        (Some(label), true) => format!("{label} ({}, {model})", ask.seat),
        (Some(label), false) => label,
        (None, true) => format!("{} ({model})", seat_name(&ask.seat)),
        (None, false) => seat_name(&ask.seat),
    };
    format!("{name}{}", about_words(ask))
}

pub(crate) fn speech(
    source: &ReportSource<'_>,
    round: u32,
    ask: &AskRecord,
    reply: Option<&Reply>,
    attempts: &[CallAttempt],
) -> ReportBlock {
    // While the debate runs, the colour must not reveal the seat behind a label.
    let place = match &ask.label {
        Some(label) if source.outcome().is_none() => label.bytes().map(usize::from).sum(),
        _ => source.place(&ask.seat),
    };
    let (badges, blocks) = match reply {
        None => (vec!["no answer yet".into()], Vec::new()),
        Some(Reply::Absent { why, detail }) => {
            let blocks = if detail.is_empty() { Vec::new() } else { vec![ReportBlock::Line(detail.clone())] };
            (vec![format!("absent: {}", absence_words(*why))], blocks)
        }
        Some(Reply::Said { text, value, usage, shortened, .. }) => {
            let is_own = |known: &&CitableText| known.seat == ask.seat && known.round == round;
            let ids: Vec<&CitableText> = source.view.citable.iter().filter(is_own).collect();
            let (mut badges, blocks) = said(&ids, text, value.as_ref());
            badges.extend(shortened.as_ref().map(|left| format!("did not read {}", left.left_out_of())));
            let failed = attempts.iter().filter_map(|attempt| attempt.fault.as_ref());
            let spent_ms =
                failed.fold(usage.latency_ms, |sum, fault| sum.saturating_add(fault.usage.latency_ms));
            badges.extend((spent_ms > 0).then(|| seconds(spent_ms)));
            badges.extend((attempts.len() > 1).then(|| format!("asked {} times", attempts.len())));
            (badges, blocks)
        }
    };
    ReportBlock::Speech { place, title: speaker(source, ask, reply), badges, blocks }
}

/// What a seat said, with the ids by which others cite parts of it.
fn said(ids: &[&CitableText], text: &str, value: Option<&Value>) -> (Vec<String>, Vec<ReportBlock>) {
    match value {
        None => (id_words(ids, text).into_iter().collect(), vec![ReportBlock::Prose(text.to_owned())]),
        Some(value) => match with_ids(value, ids) {
            Value::Object(mut fields) => {
                let badges = json_blocks::take_badges(&mut fields);
                (badges, json_blocks::blocks(&Value::Object(fields)))
            }
            value => (Vec::new(), json_blocks::blocks(&value)),
        },
    }
}

/// The ids of a text with what is to be said about it: `[L7] (evidence unverified)`.
fn id_words(ids: &[&CitableText], text: &str) -> Option<String> {
    let own: Vec<&&CitableText> = ids.iter().filter(|known| known.text.trim() == text.trim()).collect();
    let named = own.iter().filter(|known| !known.id.is_empty());
    let mut words: Vec<String> = named.map(|known| format!("[{}]", known.id)).collect();
    words.extend(own.iter().find_map(|known| known.remark).map(|remark| format!("({remark})")));
    (!own.is_empty()).then(|| words.join(" "))
}

/// The value with an id in every entry that has one: as the first field of a record, before a text, else behind a field's name.
fn with_ids(value: &Value, ids: &[&CitableText]) -> Value {
    let entry = |value: &Value| match (value, entry_id(value, ids)) {
        (Value::String(text), Some(id)) => Value::String(format!("{id} {text}")),
        (Value::Object(fields), Some(id)) => {
            let fields = fields.iter().map(|(key, value)| (key.clone(), value.clone()));
            Value::Object(
                [(json_blocks::ID.to_owned(), Value::String(id))].into_iter().chain(fields).collect(),
            )
        }
        (value, _) => with_ids(value, ids),
    };
    let field = |(key, value): (&String, &Value)| match value.as_str().and_then(|text| id_words(ids, text)) {
        Some(id) => (format!("{key} {id}"), value.clone()),
        None => (key.clone(), with_ids(value, ids)),
    };
    match value {
        Value::Array(values) => values.iter().map(entry).collect(),
        Value::Object(fields) => Value::Object(fields.iter().map(field).collect()),
        value => value.clone(),
    }
}

/// The id of an entry of a list.
fn entry_id(value: &Value, ids: &[&CitableText]) -> Option<String> {
    match value {
        Value::String(text) => id_words(ids, text),
        Value::Object(fields) => {
            let mut texts = fields.values().filter_map(Value::as_str);
            let pair = || id_words(ids, &json_blocks::pair_name(fields)?);
            texts.find_map(|text| id_words(ids, text)).or_else(pair)
        }
        _ => None,
    }
}
