//! Whether the statement is what the log gives, and what the protocol would have decided.

use agon_core::play::replay as play_again;
use agon_core::{Corrupt, Debate};
use serde_json::Value;

use super::seal::Seal;
use super::{DIFFERENCES_MAX, Log, Means, State, Verification};
use crate::canonical;
use crate::difference::{Difference, differences};
use crate::statement::VERSION;

/// Compares the statement with the one that the log gives. Whether it is known which of its fields were changed.
pub(super) fn compare(
    statement: Option<&Value>,
    rebuilt: Option<&Value>,
    log: Option<&Log>,
    seal: &Seal,
    told: &mut Verification,
) -> bool {
    let Some(statement) = statement else { return false };
    if seal.valid == Some(false) && was_changed(statement, rebuilt, seal, told) {
        return true;
    }
    let Some((log, rebuilt)) = log.zip(rebuilt) else {
        log.map(|log| check_end(log, told));
        return false;
    };
    let is_end = check_end(log, told);
    // What follows from a log that is not whole is not worth a word each.
    if !is_end && log.short {
        return false;
    }
    let of_the_log = |path: &str| path.starts_with("predicate.log") || path.starts_with("subject");
    let found = differences(statement, rebuilt, "", DIFFERENCES_MAX);
    let found: Vec<Difference> =
        found.into_iter().filter(|difference| is_end || !of_the_log(&difference.path)).collect();
    let (worked_out, firm): (Vec<Difference>, Vec<Difference>) =
        found.into_iter().partition(|found| is_end && log.whole && is_of_another_version(statement, &found.path));
    for Difference { path, first, second } in firm {
        told.find_field(&path, format!("`{path}`: the receipt says {first}, the log gives {second}"));
    }
    if let Some(first) = worked_out.first() {
        let said = version(statement);
        told.notes.push(format!(
            "agon {said} signed it and this is agon {VERSION}, which works some of it out in another way \
             (`{}` and {} more)",
            first.path,
            worked_out.len() - 1
        ));
    }
    false
}

/// Goes through the log with the protocol: whether it would have decided the same.
pub(super) fn replay(log: &Log, statement: Option<&Value>, means: &Means<'_>, told: &mut Verification) {
    let (state, said) = match (&log.debate, log.whole) {
        (Some(debate), true) => replayed(log, debate, statement, means, told),
        _ => (State::NotChecked, "the log is not whole".to_owned()),
    };
    told.check("replay", state, said);
}

fn replayed(
    log: &Log,
    debate: &Debate,
    statement: Option<&Value>,
    means: &Means<'_>,
    told: &mut Verification,
) -> (State, String) {
    let name = &debate.brief.protocol;
    let Some(protocol) = (means.protocol)(name) else {
        return (State::NotChecked, format!("this agon has no protocol {name}"));
    };
    let why = match play_again(protocol, &log.records) {
        Ok(_) => return (State::Holds, format!("{name} gives the same outcome from the same answers")),
        Err(why @ (Corrupt::Template { .. } | Corrupt::Version { .. })) => {
            return (State::NotChecked, why.to_string());
        }
        Err(why) => why,
    };
    let other = statement.map(version).filter(|version| *version != VERSION);
    if let Some(other) = other {
        return (State::NotChecked, format!("agon {other} signed it, and by this agon {VERSION} {why}"));
    }
    match why {
        Corrupt::Departed { seq, .. } | Corrupt::Order { seq, .. } => {
            told.find_event(format!("log[{seq}].body"), seq, why.to_string());
        }
        _ => told.find("log", why.to_string()),
    }
    (State::Fails, why.to_string())
}

/// Explains a signature that does not fit. Whether it is known which fields were changed.
fn was_changed(statement: &Value, rebuilt: Option<&Value>, seal: &Seal, told: &mut Verification) -> bool {
    let Some(rebuilt) = rebuilt else {
        let why = "the statement was changed after it was signed, or the signature is not that of this key";
        told.find("receipt.payload", why);
        return false;
    };
    if let Some(signed) = mended(rebuilt, seal) {
        for Difference { path, first, second } in differences(statement, &signed, "", DIFFERENCES_MAX) {
            told.find_field(&path, format!("`{path}` was changed: it is {first}, and {second} was signed"));
        }
        return true;
    }
    if statement == rebuilt {
        let why = "the signature was changed: it does not fit the statement, which is what the log gives";
        told.find("receipt.signatures[0].sig", why);
        return true;
    }
    told.find("receipt.payload", "the signature does not fit: the statement was changed after it was signed");
    false
}

/// The statement that the signature fits: what the log gives, or that with another character in what the log does not give.
fn mended(rebuilt: &Value, seal: &Seal) -> Option<Value> {
    let fits = |statement: &Value| canonical::text(statement).is_ok_and(|text| seal.fits(text.as_bytes()));
    if fits(rebuilt) {
        return Some(rebuilt.clone());
    }
    let tries = ["agon", "signed_at"].into_iter().flat_map(|key| {
        let said = rebuilt.pointer(&format!("/predicate/{key}")).and_then(Value::as_str).unwrap_or_default();
        respelled(said).map(move |text| (key, text))
    });
    let with = |(key, text): (&str, String)| {
        let mut other = rebuilt.clone();
        *other.pointer_mut(&format!("/predicate/{key}"))? = text.into();
        Some(other)
    };
    tries.filter_map(with).find(fits)
}

/// A version or a time with another character in one place.
fn respelled(text: &str) -> impl Iterator<Item = String> {
    let places = text.char_indices().map(|(place, is)| (place, is.len_utf8()));
    places.flat_map(move |(place, length)| {
        "0123456789.-:TZ".chars().filter_map(move |was| {
            let (before, after) = (text.get(..place)?, text.get(place + length..)?);
            Some(format!("{before}{was}{after}"))
        })
    })
}

/// Whether the log ends where the statement says. A chain that was cut off at its end still holds.
fn check_end(log: &Log, told: &mut Verification) -> bool {
    let (Some(head), Some(events)) = (told.head.clone(), told.events) else { return false };
    if log.head() == head || (!log.whole && !log.short) {
        return log.head() == head;
    }
    let count = log.records.last().map_or(0, |record| record.entry.seq + 1);
    let signed_last = events.checked_sub(1).and_then(|last| log.records.get(usize::try_from(last).ok()?));
    if count < events {
        let missing = events - count;
        let which = if missing == 1 { "the last event is".into() } else { format!("the last {missing} events are") };
        let why = format!("{which} missing: the receipt is of {events} events, and the log ends with event {}", count.saturating_sub(1));
        told.find_event("log", count, why);
    } else if count > events && signed_last.is_some_and(|record| record.hash == head) {
        let why = format!("the log was added to: the receipt is of {events} events, and the log has {count}");
        told.find_event(format!("log[{events}]"), events, why);
    } else if log.whole {
        let why = format!(
            "the log is another one: its hashes fit each other, but its head is {}, and {head} was signed",
            log.head()
        );
        told.find("log", why);
    }
    false
}

fn version(statement: &Value) -> &str {
    statement.pointer("/predicate/agon").and_then(Value::as_str).unwrap_or("of another version")
}

/// What a later version may measure or name in another way without anybody having changed anything.
fn is_of_another_version(statement: &Value, path: &str) -> bool {
    let worked_out = ["predicate.evidence", "predicate.usage"].iter().any(|part| path.starts_with(part));
    worked_out && version(statement) != VERSION
}
