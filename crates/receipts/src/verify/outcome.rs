//! Whether the statement is what the log gives, and what the protocol would have decided.

use agon_core::play::replay as play_again;
use agon_core::{Corrupt, Debate};
use serde_json::Value;

use super::seal::Seal;
use super::words::version_shown;
use super::{DIFFERENCES_MAX, Finding, Log, Means, State, Verification};
use crate::canonical;
use crate::difference::{Difference, differences};
use crate::statement::VERSION;

/// Compares the statement with the one that the log gives.
pub(super) fn compare(
    statement: Option<&Value>,
    rebuilt: Option<&Value>,
    log: Option<&Log>,
    seal: &Seal,
    told: &mut Verification,
) -> Compared {
    let none = Compared::default();
    let Some(statement) = statement else { return none };
    if seal.valid == Some(false) && was_changed(statement, rebuilt, seal, told) {
        return Compared { named: true, all: true };
    }
    let Some(log) = log else { return none };
    let end = end_of(log, told);
    // All that follows from events that are not there is not worth a word each.
    let Some(rebuilt) = rebuilt.filter(|_| !log.short && end != End::CutOff) else {
        return none;
    };
    let as_signed = end == End::AsSigned;
    let of_the_log = |path: &str| path.starts_with("predicate.log") || path.starts_with("subject");
    let excused = if as_signed && log.whole { excused(statement, rebuilt) } else { statement.clone() };
    // Each with a bound of its own: a signer must not hide a false verdict behind much other evidence.
    let unsettled = differences(statement, &excused, "", DIFFERENCES_MAX);
    let mut firm = differences(&excused, rebuilt, "", DIFFERENCES_MAX);
    firm.retain(|found| as_signed || !of_the_log(&found.path));
    let why = |Difference { path, first, second }: &Difference| {
        format!("`{path}`: the receipt says {first}, the log gives {second}")
    };
    for found in firm {
        told.find_field(&found.path, why(&found));
    }
    told.unsettled.extend(unsettled.into_iter().map(|found| Finding {
        place: "receipt.payload".into(),
        event: None,
        why: why(&found),
        field: Some(found.path),
    }));
    Compared { named: false, all: true }
}

/// What came of a comparison.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Compared {
    /// Whether it is known which fields were changed after they were signed.
    pub(super) named: bool,
    /// Whether every field was held against what the log gives.
    pub(super) all: bool,
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
    let (place, event) = match why {
        Corrupt::Departed { seq, .. } | Corrupt::Order { seq, .. } => (format!("log[{seq}].body"), Some(seq)),
        _ => ("log".to_owned(), None),
    };
    let finding = Finding { place, event, field: None, why: why.to_string() };
    if let Some(other) = statement.map(version).filter(|version| *version != VERSION) {
        told.unsettled.push(finding);
        let other = version_shown(other);
        return (State::NotChecked, format!("agon {other} signed it, and by this agon {VERSION} {why}"));
    }
    told.findings.push(finding);
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
        let why = "the signature was changed, or is not by the owner of this key: it does not fit the statement, \
                   which is what the log gives";
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
        let said = rebuilt.pointer(&format!("/predicate/{key}")).and_then(Value::as_str);
        let said = said.filter(|said| said.len() <= RESPELLED_BYTES_MAX).unwrap_or_default();
        respelled(said).map(move |text| (key, text))
    });
    let with = |(key, text): (&str, String)| {
        let mut other = rebuilt.clone();
        *other.pointer_mut(&format!("/predicate/{key}"))? = text.into();
        Some(other)
    };
    tries.filter_map(with).find(fits)
}

/// More than a version or a time has.
const RESPELLED_BYTES_MAX: usize = 40;

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

/// How a log ends, as the statement knows its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    AsSigned,
    CutOff,
    Other,
}

/// How the log ends, with a finding where that is not as it was signed. A chain that was cut off at its end still holds.
fn end_of(log: &Log, told: &mut Verification) -> End {
    let (Some(head), Some(events)) = (told.head.clone(), told.events) else { return End::Other };
    if log.head() == head {
        return End::AsSigned;
    }
    let count = log.records.last().map_or(0, |record| record.entry.seq + 1);
    // An event that cannot be read was told of already, and it may be the last.
    if log.readable && count < events {
        told.find_event("log", count, cut_off(count, events));
        return End::CutOff;
    }
    if log.whole {
        let why = "the log is another one: its hashes fit each other, but its head is";
        told.find("log", format!("{why} {}, and {head} was signed", log.head()));
    }
    End::Other
}

fn cut_off(count: u64, events: u64) -> String {
    let missing = match events - count {
        1 => "the last event is".to_owned(),
        missing => format!("the last {missing} events are"),
    };
    let end = match count.checked_sub(1) {
        Some(last) => format!("ends with event {last}"),
        None => "is empty".to_owned(),
    };
    format!("{missing} missing: the receipt is of {events} events, and the log {end}")
}

fn version(statement: &Value) -> &str {
    statement.pointer("/predicate/agon").and_then(Value::as_str).unwrap_or("of another version")
}

/// The statement with the evidence that the log gives, where another version may have measured it in another way without anybody
/// having changed anything. All else is copied or added up from the log, the same in every version.
fn excused(statement: &Value, rebuilt: &Value) -> Value {
    let mut excused = statement.clone();
    let predicate = excused.pointer_mut("/predicate").and_then(Value::as_object_mut);
    let evidence = rebuilt.pointer("/predicate/evidence").filter(|_| version(statement) != VERSION);
    if let (Some(predicate), Some(evidence)) = (predicate, evidence) {
        predicate.insert("evidence".into(), evidence.clone());
    }
    excused
}
