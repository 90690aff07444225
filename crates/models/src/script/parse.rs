//! Reads a script's text, with errors that say where.

use std::collections::BTreeMap;
use std::time::Duration;

use agon_core::nesting::{BRACKETS_MAX, is_nested_too_deeply};
use agon_engine::CallFaultKind;
use serde_json::{Map, Value};

use super::{ReplyContent, ScriptCase, ScriptModel, ScriptedReply, SeatScript};

/// The values of `fail`. `timeout` never answers.
const FAILURES: &[(&str, Option<CallFaultKind>)] = &[
    ("timeout", None),
    ("refuse", Some(CallFaultKind::Refused)),
    ("unavailable", Some(CallFaultKind::Unavailable)),
    ("rate_limited", Some(CallFaultKind::RateLimited)),
    ("garbled", Some(CallFaultKind::Garbled)),
    ("rejected", Some(CallFaultKind::Rejected)),
    ("key", Some(CallFaultKind::Key)),
    ("no_such_model", Some(CallFaultKind::NoSuchModel)),
];

/// The keys that make a mapping more than data, each with the keys that may stand next to it.
const REPLY_KEYS: &[(&str, &[&str])] =
    &[("text", &["delay_ms"]), ("say", &["delay_ms"]), ("fail", &["after_ms", "retry_after_ms"])];

/// A day. A longer delay is a typing error.
const DELAY_MS_MAX: u64 = 86_400_000;

/// An error is the end of a sentence that starts with the name of the file.
pub(super) fn parse_script(file: &str, text: &str) -> Result<ScriptModel, String> {
    let root: Value = match file.ends_with(".json") {
        true => serde_json::from_str(text).map_err(|why| format!("is not JSON: {why}"))?,
        false if is_nested_too_deeply(text) => {
            return Err(format!("has more than {BRACKETS_MAX} open brackets"));
        }
        false => serde_norway::from_str(text).map_err(|why| format!("is not YAML: {why}"))?,
    };
    let root = mapping(&root, "the script")?;
    check_keys(root, &["question", "delay_ms", "stream", "seats", "cases"], "the script")?;
    let delay = milliseconds(root, "delay_ms", "the script")?.unwrap_or_default();
    let words_per_second = match root.get("stream") {
        None => None,
        Some(words) => Some(
            words
                .as_u64()
                .filter(|words| (1..=10_000).contains(words))
                .ok_or("stream must be a whole number of words per second, from 1 to 10000")?,
        ),
    };
    let cases = match root.get("cases") {
        None => Vec::new(),
        Some(Value::Array(cases)) => {
            (0..).zip(cases).map(|(n, entry)| parse_case(entry, delay, n)).collect::<Result<_, _>>()?
        }
        Some(_) => return Err("cases is a list: each has `asked:` and `seats:`".into()),
    };
    let seats = match root.get("seats") {
        Some(seats) => parse_seats(seats, delay, "seats")?,
        None => BTreeMap::new(),
    };
    if seats.is_empty() && cases.is_empty() {
        return Err("has no seats: write them under `seats:`".into());
    }
    Ok(ScriptModel {
        name: format!("script/{file}"),
        question: root.get("question").and_then(Value::as_str).map(|question| question.trim().to_owned()),
        words_per_second: words_per_second.and_then(|words| u32::try_from(words).ok()),
        seats,
        cases,
    })
}

fn parse_case(entry: &Value, delay: Duration, number: usize) -> Result<ScriptCase, String> {
    let place = format!("cases[{number}]");
    let map = mapping(entry, &place)?;
    check_keys(map, &["asked", "seats"], &place)?;
    let asked = map.get("asked").and_then(Value::as_str).map(str::trim).filter(|asked| !asked.is_empty());
    let asked = asked.ok_or_else(|| format!("{place}: `asked` must have the words that select it"))?;
    let seats = map.get("seats").ok_or_else(|| format!("{place} has no seats"))?;
    let seats = parse_seats(seats, delay, &format!("{place}.seats"))?;
    Ok(ScriptCase { words: asked.to_lowercase(), seats })
}

fn parse_seats(seats: &Value, delay: Duration, place: &str) -> Result<BTreeMap<String, SeatScript>, String> {
    let seat = |(id, phases): (&String, &Value)| {
        Ok((id.clone(), parse_seat(phases, delay, &format!("{place}.{id}"))?))
    };
    mapping(seats, place)?.iter().map(seat).collect()
}

fn parse_seat(phases: &Value, delay: Duration, place: &str) -> Result<SeatScript, String> {
    let phases = mapping(phases, place)?;
    let delay = milliseconds(phases, "delay_ms", place)?.unwrap_or(delay);
    let phases = phases.iter().filter(|(phase, _)| *phase != "delay_ms");
    phases
        .map(|(phase, replies)| {
            Ok((phase.clone(), parse_rounds(replies, delay, &format!("{place}.{phase}"))?))
        })
        .collect()
}

/// A phase's replies: one for all rounds, or a list with one per round. A list inside the list has one reply per attempt.
fn parse_rounds(replies: &Value, delay: Duration, place: &str) -> Result<Vec<Vec<ScriptedReply>>, String> {
    one_or_many(replies, place, |entry, place| {
        one_or_many(entry, place, |entry, place| parse_reply(entry, delay, place))
    })
}

fn one_or_many<T>(
    value: &Value,
    place: &str,
    read: impl Fn(&Value, &str) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    match value {
        Value::Array(entries) if entries.is_empty() => Err(format!("{place}: the list is empty")),
        Value::Array(entries) => entries
            .iter()
            .enumerate()
            .map(|(index, entry)| read(entry, &format!("{place}[{index}]")))
            .collect(),
        entry => Ok(vec![read(entry, place)?]),
    }
}

fn parse_reply(entry: &Value, delay: Duration, place: &str) -> Result<ScriptedReply, String> {
    let map = match entry {
        Value::String(text) => {
            return Ok(ScriptedReply { delay, content: ReplyContent::Text(text.clone()) });
        }
        Value::Object(map) => map,
        _ => return Err(format!("{place}: a reply is text or a mapping; put anything else under `say:`")),
    };
    let Some((key, extra_keys)) = REPLY_KEYS.iter().find(|(key, _)| map.contains_key(*key)) else {
        return Ok(ScriptedReply { delay, content: ReplyContent::Data(entry.clone()) });
    };
    let allowed: Vec<&str> = [key].into_iter().chain(*extra_keys).copied().collect();
    check_keys(map, &allowed, place)?;
    let value = map.get(*key).unwrap_or(&Value::Null);
    let content = match (*key, value) {
        ("text", Value::String(text)) => ReplyContent::Text(text.clone()),
        ("text", _) => return Err(format!("{place}: `text` is text; put data under `say:`")),
        ("say", value) => ReplyContent::Data(value.clone()),
        _ => parse_failure(value, milliseconds(map, "retry_after_ms", place)?, place)?,
    };
    let own_delay = milliseconds(map, if *key == "fail" { "after_ms" } else { "delay_ms" }, place)?;
    Ok(ScriptedReply { delay: own_delay.unwrap_or(delay), content })
}

fn parse_failure(word: &Value, retry_after: Option<Duration>, place: &str) -> Result<ReplyContent, String> {
    let found = FAILURES.iter().find(|(name, _)| word.as_str() == Some(name));
    let (_, kind) = found.ok_or_else(|| {
        let words: Vec<&str> = FAILURES.iter().map(|(name, _)| *name).collect();
        format!("{place}: `fail` must be one of {}", words.join(", "))
    })?;
    Ok(kind.map_or(ReplyContent::Hang, |kind| ReplyContent::Fail(kind, retry_after)))
}

fn mapping<'a>(value: &'a Value, place: &str) -> Result<&'a Map<String, Value>, String> {
    value.as_object().ok_or_else(|| format!("{place} must be a mapping"))
}

fn check_keys(map: &Map<String, Value>, known: &[&str], place: &str) -> Result<(), String> {
    match map.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("{place}: unknown key {key:?}; the keys here are {}", known.join(", "))),
        None => Ok(()),
    }
}

fn milliseconds(map: &Map<String, Value>, key: &str, place: &str) -> Result<Option<Duration>, String> {
    let Some(value) = map.get(key) else { return Ok(None) };
    let ms = value.as_u64().filter(|ms| *ms <= DELAY_MS_MAX);
    let ms = ms.ok_or_else(|| {
        format!("{place}: {key} must be a whole number of milliseconds, at most {DELAY_MS_MAX}")
    })?;
    Ok(Some(Duration::from_millis(ms)))
}
