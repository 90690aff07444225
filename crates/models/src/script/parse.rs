//! From a script's text to its replies, with errors that say where.

use std::collections::BTreeMap;
use std::time::Duration;

use agon_engine::FaultKind;
use serde_json::{Map, Value};

use super::{Case, Reply, Script, Seat, What};

/// The words of `fail`, and what each is.
const FAILURES: &[(&str, Option<FaultKind>)] = &[
    ("timeout", None),
    ("refuse", Some(FaultKind::Refused)),
    ("unavailable", Some(FaultKind::Unavailable)),
    ("rate_limited", Some(FaultKind::RateLimited)),
    ("garbled", Some(FaultKind::Garbled)),
    ("rejected", Some(FaultKind::Rejected)),
    ("key", Some(FaultKind::Key)),
    ("no_such_model", Some(FaultKind::NoSuchModel)),
];

/// The keys that make a mapping a reply with its circumstances, and those that may stand beside each.
const REPLIES: &[(&str, &[&str])] =
    &[("text", &["delay_ms"]), ("say", &["delay_ms"]), ("fail", &["after_ms", "retry_after_ms"])];

/// The longest delay: a day, so that a slip of the keyboard is noticed.
const DELAY_MS_MAX: u64 = 86_400_000;

/// Reads a script; an error is the rest of a sentence that begins with the file's name.
pub(super) fn script(file: &str, text: &str) -> Result<Script, String> {
    let root: Value = match file.ends_with(".json") {
        true => serde_json::from_str(text).map_err(|why| format!("is not JSON: {why}"))?,
        false => serde_norway::from_str(text).map_err(|why| format!("is not YAML: {why}"))?,
    };
    let root = mapping(&root, "the script")?;
    known_keys(root, &["question", "delay_ms", "stream", "seats", "cases"], "the script")?;
    let delay = millis(root, "delay_ms", "the script")?.unwrap_or_default();
    let words_per_second = match root.get("stream") {
        None => None,
        Some(words) => Some(
            words
                .as_u64()
                .filter(|words| (1..=10_000).contains(words))
                .ok_or("stream is a whole number of words per second, from 1 to 10000")?,
        ),
    };
    let cases = match root.get("cases") {
        None => Vec::new(),
        Some(Value::Array(cases)) => {
            (0..).zip(cases).map(|(n, entry)| case(entry, delay, n)).collect::<Result<_, _>>()?
        }
        Some(_) => return Err("cases is a list: each has `asked:` and `seats:`".into()),
    };
    let all = match root.get("seats") {
        Some(all) => seats(all, delay, "seats")?,
        None => BTreeMap::new(),
    };
    if all.is_empty() && cases.is_empty() {
        return Err("has no seats: write them under `seats:`".into());
    }
    Ok(Script {
        name: format!("script/{file}"),
        question: root.get("question").and_then(Value::as_str).map(|question| question.trim().to_owned()),
        words_per_second: words_per_second.and_then(|words| u32::try_from(words).ok()),
        seats: all,
        cases,
    })
}

/// What is said where the ask holds certain words.
fn case(entry: &Value, delay: Duration, number: usize) -> Result<Case, String> {
    let place = format!("cases[{number}]");
    let map = mapping(entry, &place)?;
    known_keys(map, &["asked", "seats"], &place)?;
    let asked = map.get("asked").and_then(Value::as_str).map(str::trim).filter(|asked| !asked.is_empty());
    let asked = asked.ok_or_else(|| format!("{place}: `asked` has the words by which it is known"))?;
    let all = map.get("seats").ok_or_else(|| format!("{place} has no seats"))?;
    Ok(Case { asked: asked.to_lowercase(), seats: seats(all, delay, &format!("{place}.seats"))? })
}

fn seats(all: &Value, delay: Duration, place: &str) -> Result<BTreeMap<String, Seat>, String> {
    let all = mapping(all, place)?;
    all.iter().map(|(id, phases)| Ok((id.clone(), seat(phases, delay, &format!("{place}.{id}"))?))).collect()
}

fn seat(phases: &Value, delay: Duration, place: &str) -> Result<Seat, String> {
    let phases = mapping(phases, place)?;
    let delay = millis(phases, "delay_ms", place)?.unwrap_or(delay);
    let phases = phases.iter().filter(|(phase, _)| *phase != "delay_ms");
    phases
        .map(|(phase, replies)| Ok((phase.clone(), rounds(replies, delay, &format!("{place}.{phase}"))?)))
        .collect()
}

/// A phase's replies: one for all rounds, or a list with one per round.
fn rounds(replies: &Value, delay: Duration, place: &str) -> Result<Vec<Vec<Reply>>, String> {
    each(replies, place, |entry, place| {
        // A list inside a list is one reply per attempt.
        each(entry, place, |entry, place| reply(entry, delay, place))
    })
}

fn each<T>(
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

fn reply(entry: &Value, delay: Duration, place: &str) -> Result<Reply, String> {
    let map = match entry {
        Value::String(text) => return Ok(Reply { after: delay, what: What::Text(text.clone()) }),
        Value::Object(map) => map,
        _ => return Err(format!("{place}: a reply is text or a mapping; put anything else under `say:`")),
    };
    let Some((kind, beside)) = REPLIES.iter().find(|(kind, _)| map.contains_key(*kind)) else {
        return Ok(Reply { after: delay, what: What::Say(entry.clone()) });
    };
    let allowed: Vec<&str> = [kind].into_iter().chain(*beside).copied().collect();
    known_keys(map, &allowed, place)?;
    let value = map.get(*kind).unwrap_or(&Value::Null);
    let what = match (*kind, value) {
        ("text", Value::String(text)) => What::Text(text.clone()),
        ("text", _) => return Err(format!("{place}: `text` is text; put data under `say:`")),
        ("say", value) => What::Say(value.clone()),
        _ => failure(value, millis(map, "retry_after_ms", place)?, place)?,
    };
    let own = millis(map, if *kind == "fail" { "after_ms" } else { "delay_ms" }, place)?;
    Ok(Reply { after: own.unwrap_or(delay), what })
}

fn failure(word: &Value, retry_after: Option<Duration>, place: &str) -> Result<What, String> {
    let found = FAILURES.iter().find(|(name, _)| word.as_str() == Some(name));
    let (_, kind) = found.ok_or_else(|| {
        let words: Vec<&str> = FAILURES.iter().map(|(name, _)| *name).collect();
        format!("{place}: `fail` is one of {}", words.join(", "))
    })?;
    Ok(kind.map_or(What::Hang, |kind| What::Fail(kind, retry_after)))
}

fn mapping<'a>(value: &'a Value, place: &str) -> Result<&'a Map<String, Value>, String> {
    value.as_object().ok_or_else(|| format!("{place} must be a mapping"))
}

fn known_keys(map: &Map<String, Value>, known: &[&str], place: &str) -> Result<(), String> {
    match map.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("{place}: there is no key {key:?} here; there is {}", known.join(", "))),
        None => Ok(()),
    }
}

fn millis(map: &Map<String, Value>, key: &str, place: &str) -> Result<Option<Duration>, String> {
    let Some(value) = map.get(key) else { return Ok(None) };
    let ms = value.as_u64().filter(|ms| *ms <= DELAY_MS_MAX);
    let ms = ms
        .ok_or_else(|| format!("{place}: {key} is a whole number of milliseconds, at most {DELAY_MS_MAX}"))?;
    Ok(Some(Duration::from_millis(ms)))
}
