//! Any JSON document as report blocks. Keys become headings, lists become lists, and flat records become tables.
//!
//! The first field of a record in a list says what the record is about if it is a short string: a seat, an id or a name. So do `a` and `b`
//! together.

use agon_core::wording::{heading, score, sentences, spoken};
use agon_core::{ReportBlock, ReportItem, ReportSection, SectionKind};
use serde_json::{Map, Value};

/// A string longer than this is prose and gets a heading of its own.
const SHORT_CHARS_MAX: usize = 60;
/// A longer string is not put into a table or a title.
const CELL_CHARS_MAX: usize = 32;
/// A table has at most this many columns.
const COLUMNS_MAX: usize = 6;
/// Values deeper than this are shown as JSON.
const DEPTH_MAX: usize = 6;

/// A verdict as sections: the short values together, then each other key with its own heading.
pub(crate) fn sections(verdict: &Value) -> Vec<ReportSection> {
    let Some(fields) = verdict.as_object() else {
        return vec![ReportSection::new(SectionKind::Answer, "Verdict", blocks(verdict))];
    };
    let mut sections =
        vec![ReportSection::new(SectionKind::Answer, "Verdict", pairs(fields).into_iter().collect())];
    for (key, value) in fields.iter().filter(|(_, value)| !is_short(value)) {
        sections.push(ReportSection::new(SectionKind::Part, heading(key), blocks(value)));
    }
    sections
}

pub(crate) fn blocks(value: &Value) -> Vec<ReportBlock> {
    blocks_at(value, 0)
}

fn blocks_at(value: &Value, depth: usize) -> Vec<ReportBlock> {
    match value {
        Value::Null => Vec::new(),
        Value::String(text) if text.trim().is_empty() => Vec::new(),
        Value::String(text) => vec![ReportBlock::Prose(text.clone())],
        Value::Bool(_) | Value::Number(_) => vec![ReportBlock::Line(scalar(value))],
        _ if depth >= DEPTH_MAX => vec![ReportBlock::Line(value.to_string())],
        Value::Array(values) => array(values, depth),
        Value::Object(fields) => object(fields, depth),
    }
}

/// The fields in their own order.
fn object(fields: &Map<String, Value>, depth: usize) -> Vec<ReportBlock> {
    let mut blocks: Vec<ReportBlock> = Vec::new();
    for (key, value) in fields.iter().filter(|(_, value)| !is_blank(value)) {
        if is_short(value) {
            let pair = (heading(key), scalar(value));
            match blocks.last_mut() {
                Some(ReportBlock::Pairs(pairs)) => pairs.push(pair),
                _ => blocks.push(ReportBlock::Pairs(vec![pair])),
            }
            continue;
        }
        let inner = blocks_at(value, depth + 1);
        if !inner.is_empty() {
            blocks.push(ReportBlock::Group { title: heading(key), badges: Vec::new(), blocks: inner });
        }
    }
    blocks
}

fn pairs(fields: &Map<String, Value>) -> Option<ReportBlock> {
    let short = fields.iter().filter(|(_, value)| is_short(value) && !is_blank(value));
    let pairs: Vec<(String, String)> = short.map(|(key, value)| (heading(key), scalar(value))).collect();
    (!pairs.is_empty()).then_some(ReportBlock::Pairs(pairs))
}

fn array(values: &[Value], depth: usize) -> Vec<ReportBlock> {
    let values: Vec<&Value> = values.iter().filter(|value| !is_blank(value)).collect();
    if values.is_empty() {
        return Vec::new();
    }
    if let Some(rows) = rows(&values).or_else(|| matrix(&values)) {
        return vec![ReportBlock::Table(rows)];
    }
    if values.iter().all(|value| is_flat(value)) {
        return vec![ReportBlock::Items(values.into_iter().map(item).collect())];
    }
    let groups = values.iter().zip(1..).map(|(value, place)| group(value, place, depth));
    groups.collect()
}

/// A list of flat records with short values, as a table.
fn rows(values: &[&Value]) -> Option<Vec<Vec<String>>> {
    let records: Option<Vec<&Map<String, Value>>> = values.iter().map(|value| value.as_object()).collect();
    let records = records.filter(|records| records.iter().all(|record| record.values().all(fits_cell)))?;
    let mut keys: Vec<&String> = Vec::new();
    for key in records.iter().flat_map(|record| record.keys()) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    if keys.is_empty() || keys.len() > COLUMNS_MAX {
        return None;
    }
    let head = |key: &&String| if *key == ID { "Id".to_owned() } else { heading(key) };
    let mut rows = vec![keys.iter().map(head).collect::<Vec<String>>()];
    for record in records {
        rows.push(keys.iter().map(|key| record.get(*key).map(scalar).unwrap_or_default()).collect());
    }
    Some(rows)
}

/// Rows of numbers of the same length, as a numbered table.
fn matrix(values: &[&Value]) -> Option<Vec<Vec<String>>> {
    let columns = values.first()?.as_array()?.len();
    let mut rows =
        vec![[String::new()].into_iter().chain((1..=columns).map(|place| place.to_string())).collect()];
    for (place, value) in (1..).zip(values) {
        let figures = value.as_array().filter(|figures| figures.len() == columns)?;
        let figures: Option<Vec<String>> = figures.iter().map(|figure| figure.as_f64().map(score)).collect();
        rows.push([format!("{place}.")].into_iter().chain(figures?).collect());
    }
    (columns > 1).then_some(rows)
}

fn group(value: &Value, place: usize, depth: usize) -> ReportBlock {
    let Some(fields) = value.as_object() else {
        return ReportBlock::Group {
            title: format!("{place}."),
            badges: Vec::new(),
            blocks: blocks_at(value, depth + 1),
        };
    };
    let mut rest = fields.clone();
    let title = match rest.shift_remove("round") {
        Some(round) if round.is_u64() => format!("Round {round}"),
        _ => take_subject(&mut rest).unwrap_or_else(|| format!("{place}.")),
    };
    let badges = take_badges(&mut rest);
    ReportBlock::Group { title, badges, blocks: object(&rest, depth + 1) }
}

/// Takes the short values out of a record, to show them beside its title.
pub(crate) fn take_badges(fields: &mut Map<String, Value>) -> Vec<String> {
    let mut badges = Vec::new();
    fields.retain(|key, value| {
        let badge = match value {
            Value::Bool(flag) => format!("{}: {}", spoken(key), if *flag { "yes" } else { "no" }),
            Value::Number(number) => {
                let figure = number.as_f64().filter(|_| number.is_f64());
                format!("{} {}", spoken(key), figure.map_or_else(|| scalar(value), score))
            }
            Value::String(text) if is_word(text) => format!("{}: {}", spoken(key), spoken(text)),
            _ => return true,
        };
        badges.push(badge);
        false
    });
    badges
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 24
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// A flat value as a list entry: what it is about, what it says, and the rest as a note.
pub(crate) fn item(value: &Value) -> ReportItem {
    let Some(fields) = value.as_object() else { return ReportItem::text(scalar(value)) };
    let mut rest = fields.clone();
    let who = take_subject(&mut rest);
    let strings: Vec<(String, bool)> =
        rest.iter().filter_map(|(key, value)| Some((key.clone(), value.as_str()?.contains(' ')))).collect();
    // The first string of more than one word, else the first string.
    let main = strings.iter().find(|(_, prose)| *prose).or(strings.first());
    let text =
        main.and_then(|(key, _)| rest.shift_remove(key)).map(|value| scalar(&value)).unwrap_or_default();
    let notes: Vec<String> = rest
        .iter()
        .filter(|(_, value)| !is_blank(value))
        .map(|(key, value)| format!("{}: {}", heading(key), scalar(value)))
        .collect();
    ReportItem { who, text, note: (!notes.is_empty()).then(|| sentences(&notes)) }
}

/// The key of an id that a record gets from its report. It stands before what the record is about.
pub(crate) const ID: &str = "[id]";

/// Takes the first field if it says what the record is about.
fn take_subject(fields: &mut Map<String, Value>) -> Option<String> {
    if let Some(id) = fields.shift_remove(ID) {
        let subject = take_subject(fields).map_or_else(String::new, |subject| format!(" {subject}"));
        return Some(format!("{}{subject}", scalar(&id)));
    }
    if let Some(pair) = pair_name(fields) {
        fields.retain(|key, _| !PAIR.contains(&key.as_str()));
        return Some(pair);
    }
    let (key, value) = fields.iter().next()?;
    let is_subject =
        value.as_str().is_some_and(|text| !text.is_empty()) && fits_cell(value) && fields.len() > 1;
    let key = is_subject.then(|| key.clone())?;
    fields.shift_remove(&key).map(|subject| scalar(&subject))
}

/// The keys of the two that a record is about.
const PAIR: [&str; 2] = ["a", "b"];

/// What a record about two is about: "Agent A and Agent B".
pub(crate) fn pair_name(fields: &Map<String, Value>) -> Option<String> {
    let name = |key: &str| fields.get(key).filter(|value| fits_cell(value)).and_then(Value::as_str);
    match PAIR.map(name) {
        [Some(a), Some(b)] if fields.len() > PAIR.len() => Some(format!("{a} and {b}")),
        _ => None,
    }
}

pub(crate) fn scalar(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) => {
                let written = format!("{float:.3}");
                written.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            None => number.to_string(),
        },
        _ => value.to_string(),
    }
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

fn is_short(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => text.chars().count() <= SHORT_CHARS_MAX && !text.contains('\n'),
        _ => false,
    }
}

fn fits_cell(value: &Value) -> bool {
    is_short(value) && value.as_str().is_none_or(|text| text.chars().count() <= CELL_CHARS_MAX)
}

fn is_flat(value: &Value) -> bool {
    match value {
        Value::Array(_) => false,
        Value::Object(fields) => {
            fields.len() <= COLUMNS_MAX
                && fields.values().all(|value| !value.is_array() && !value.is_object())
        }
        _ => true,
    }
}
