//! The log of a receipt: its hash chain, whether it gives what the statement says, and whether the protocol would
//! decide the same again.

use agon_core::event::{GENESIS, LogEntry};
use agon_core::play::replay as replay_debate;
use agon_core::{Corrupt, Debate, LogRecord};
use serde_json::Value;

use super::{
    CheckState, CheckedSignature, DIFFERENCES_MAX, ReceiptCheck, ReceiptFinding, ReceiptVerification,
    ReplayContext,
};
use crate::receipts::chain::{ChainFault, ChainedRecord, SignedEnd, follow_chain};
use crate::receipts::difference::{ValueDifference, find_differences};
use crate::receipts::envelope::{canonical_json, canonical_value};
use crate::receipts::explain::{describe_event, shown_version};
use crate::receipts::receipt::LoggedRecord;
use crate::receipts::statement::{StatementOrigin, VERSION, build_statement};

/// A log as far as it can be read.
pub(in crate::receipts) struct CheckedLog {
    records: Vec<LogRecord>,
    /// The debate of these records, if they form one.
    debate: Option<Debate>,
    /// Whether every record is as it was written.
    is_whole: bool,
    /// Whether events are missing in the middle.
    has_gap: bool,
    /// Whether every event can be parsed.
    is_readable: bool,
}

impl CheckedLog {
    pub(in crate::receipts) fn head(&self) -> &str {
        self.records.last().map_or(GENESIS, |record| &record.hash)
    }

    fn add(&mut self, record: &ChainedRecord, logged: &LoggedRecord, result: &mut ReceiptVerification) {
        let (seq, index, body) = (record.seq, record.index, &logged.body);
        let described = || describe_event(seq, body, &self.records);
        match &record.fault {
            None => {}
            Some(ChainFault::Hash) => {
                let why = format!(
                    "the hash of {} was changed: it is {:?} and should be {:?}",
                    described(),
                    logged.hash,
                    record.hash
                );
                result.add_event(format!("log[{index}].hash"), seq, why);
            }
            Some(ChainFault::Moved) => {
                let why = format!("{} was moved: it is in the place of event {index}", described());
                result.add_event(format!("log[{index}]"), seq, why);
            }
            Some(ChainFault::Missing(first, next)) => {
                let last = next - 1;
                let why = match *first == last {
                    true => format!("event {first} is missing: event {next} is in its place"),
                    false => format!("events {first} to {last} are missing: event {next} is in their place"),
                };
                result.add_event(format!("log[{index}]"), *first, why);
                (self.is_whole, self.has_gap) = (false, true);
            }
            Some(ChainFault::Body) => {
                let or_before = match seq.checked_sub(1) {
                    Some(before) => format!(" (or event {before} was changed together with its hash)"),
                    None => String::new(),
                };
                let why = format!("{} was changed: its text does not match its hash{or_before}", described());
                result.add_event(format!("log[{index}].body"), seq, why);
                self.is_whole = false;
            }
        }
        match serde_json::from_str::<LogEntry>(body) {
            Ok(entry) => {
                self.records.push(LogRecord { entry, body: body.clone(), hash: record.hash.clone() })
            }
            Err(why) => {
                if record.fault.is_none() {
                    let why = format!(
                        "this version of agon does not know event {seq} ({why}): use a newer version"
                    );
                    result.add_event(format!("log[{index}].body"), seq, why);
                }
                (self.is_whole, self.is_readable) = (false, false);
            }
        }
    }
}

/// Follows the hash chain, with a finding for each event that is not as it was written.
pub(super) fn check_log(log: &[LoggedRecord], result: &mut ReceiptVerification) -> CheckedLog {
    let signed = result.signed_end();
    let order = follow_chain(log, signed.as_ref());
    let mut checked =
        CheckedLog { records: Vec::new(), debate: None, is_whole: true, has_gap: false, is_readable: true };
    for record in &order.records {
        if let Some(logged) = log.get(record.index) {
            checked.add(record, logged, result);
        }
    }
    for index in order.inserted {
        let why = format!("log[{index}] was inserted: the chain is complete without it");
        result.add_event(format!("log[{index}]"), index as u64, why);
    }
    if let Some(signed) = &signed {
        remove_appended(&mut checked.records, signed, result);
    }
    if checked.is_readable {
        match Debate::from_records(&checked.records) {
            Ok(debate) => checked.debate = Some(debate),
            Err(why) => {
                // Missing events are reported elsewhere, with their number.
                if checked.is_whole && !checked.records.is_empty() {
                    result.add("log", format!("the log is not a debate: {why}"));
                }
                checked.is_whole = false;
            }
        }
    }
    checked
}

/// Removes records after the head that was signed, with a finding.
fn remove_appended(records: &mut Vec<LogRecord>, signed: &SignedEnd, result: &mut ReceiptVerification) {
    let Ok(events) = usize::try_from(signed.events) else { return };
    let last = events.checked_sub(1).and_then(|last| records.get(last));
    if records.len() > events && last.is_some_and(|record| record.hash == signed.head) {
        let why = format!(
            "events were appended: the receipt covers {events} events, but the log has {}",
            records.len()
        );
        result.add_event(format!("log[{events}]"), signed.events, why);
        records.truncate(events);
    }
}

/// How far the statement was compared with the log.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::receipts) struct StatementComparison {
    /// Whether the findings name every field that was changed after signing.
    pub(in crate::receipts) changes_named: bool,
    /// Whether every field was compared with what the log gives.
    pub(in crate::receipts) complete: bool,
}

/// Compares the statement with the one that the log gives.
pub(super) fn compare(
    statement: Option<&Value>,
    log: Option<&CheckedLog>,
    signature: &CheckedSignature,
    context: &ReplayContext<'_>,
    result: &mut ReceiptVerification,
) -> StatementComparison {
    let nothing = StatementComparison::default();
    let Some(statement) = statement else { return nothing };
    let rebuilt = log.and_then(|log| rebuild(statement, log, context, result));
    if signature.valid == Some(false) && explain_mismatch(statement, rebuilt.as_ref(), signature, result) {
        return StatementComparison { changes_named: true, complete: true };
    }
    let Some(log) = log else { return nothing };
    let end = check_end(log, result);
    // If events are missing, everything that follows from them would differ too.
    let Some(rebuilt) = rebuilt.filter(|_| !log.has_gap && end != LogEnd::CutOff) else { return nothing };
    let as_signed = end == LogEnd::AsSigned;
    let excused = match as_signed && log.is_whole {
        true => with_evidence_of_log(statement, &rebuilt),
        false => statement.clone(),
    };
    let is_about_log = |path: &str| path.starts_with("predicate.log") || path.starts_with("subject");
    let why = |difference: &ValueDifference| {
        let ValueDifference { path, first, second } = difference;
        format!("`{path}`: the receipt says {first}, the log gives {second}")
    };
    // Each list has its own limit, so that a signer cannot hide a false verdict behind many differences in the evidence.
    let mut wrong = find_differences(&excused, &rebuilt, DIFFERENCES_MAX);
    wrong.retain(|difference| as_signed || !is_about_log(&difference.path));
    for difference in wrong {
        result.add_field(&difference.path, why(&difference));
    }
    let unsettled = find_differences(statement, &excused, DIFFERENCES_MAX);
    result.unsettled.extend(unsettled.into_iter().map(|difference| ReceiptFinding {
        place: "receipt.payload".into(),
        event: None,
        why: why(&difference),
        field: Some(difference.path),
    }));
    StatementComparison { changes_named: false, complete: true }
}

/// The statement that the log gives, with the claimed origin.
fn rebuild(
    statement: &Value,
    log: &CheckedLog,
    context: &ReplayContext<'_>,
    result: &mut ReceiptVerification,
) -> Option<Value> {
    let debate = log.debate.as_ref()?;
    let rebuilt = (context.outcome)(debate).and_then(|outcome| {
        let built = build_statement(&outcome, debate, &StatementOrigin::claimed_by(statement));
        canonical_value(&built).map_err(|why| why.to_string())
    });
    if let (Err(why), true) = (&rebuilt, log.is_whole) {
        let why = format!("the statement was not compared with the log, which cannot be read: {why}");
        result.unsettled.push(ReceiptFinding { place: "log".into(), event: None, field: None, why });
    }
    rebuilt.ok()
}

/// Says why the signature does not match. Returns whether the findings name every field that was changed.
fn explain_mismatch(
    statement: &Value,
    rebuilt: Option<&Value>,
    signature: &CheckedSignature,
    result: &mut ReceiptVerification,
) -> bool {
    let Some(rebuilt) = rebuilt else {
        let why = "the signature does not match: the statement was changed after it was signed, or another key signed";
        result.add("receipt.payload", why);
        return false;
    };
    // What the log gives may be exactly what was signed.
    if canonical_json(rebuilt).is_ok_and(|text| signature.matches(text.as_bytes())) {
        for ValueDifference { path, first, second } in find_differences(statement, rebuilt, DIFFERENCES_MAX) {
            let why = format!("`{path}` was changed: it is {first}, but {second} was signed");
            result.add_field(&path, why);
        }
        return true;
    }
    if statement == rebuilt {
        let why = "the signature does not match, although the statement is what the log gives: the signature was \
                   changed or made with another key, or `predicate.agon` or `predicate.signed_at` was changed, which \
                   the log does not give";
        result.add("receipt.signatures[0].sig", why);
        return true;
    }
    let why = "the signature does not match: the statement was changed after it was signed";
    result.add("receipt.payload", why);
    false
}

/// Whether a log ends where the receipt says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogEnd {
    AsSigned,
    CutOff,
    Other,
}

/// Compares the end of the log with the end that was signed. The chain alone cannot show that the last events are missing.
fn check_end(log: &CheckedLog, result: &mut ReceiptVerification) -> LogEnd {
    let Some(SignedEnd { head, events }) = result.signed_end() else { return LogEnd::Other };
    if log.head() == head {
        return LogEnd::AsSigned;
    }
    let count = log.records.last().map_or(0, |record| record.entry.seq + 1);
    // An event that cannot be parsed has its own finding, and it may be the last.
    if log.is_readable && count < events {
        let missing = match events - count {
            1 => "the last event is".to_owned(),
            missing => format!("the last {missing} events are"),
        };
        let end = match count.checked_sub(1) {
            Some(last) => format!("ends with event {last}"),
            None => "is empty".to_owned(),
        };
        let why = format!("{missing} missing: the receipt covers {events} events, but the log {end}");
        result.add_event("log", count, why);
        return LogEnd::CutOff;
    }
    if log.is_whole {
        let why = format!(
            "this is another log: its hashes are consistent, but its head is {} and {head} was signed",
            log.head()
        );
        result.add("log", why);
    }
    LogEnd::Other
}

/// The statement with the evidence that this version computes, if another version signed it: a version may measure
/// evidence differently. Everything else is copied or summed from the log and is the same in every version.
fn with_evidence_of_log(statement: &Value, rebuilt: &Value) -> Value {
    let mut excused = statement.clone();
    let other_version = statement.pointer("/predicate/agon").and_then(Value::as_str) != Some(VERSION);
    let evidence = rebuilt.pointer("/predicate/evidence").filter(|_| other_version);
    let predicate = excused.pointer_mut("/predicate").and_then(Value::as_object_mut);
    if let (Some(predicate), Some(evidence)) = (predicate, evidence) {
        predicate.insert("evidence".into(), evidence.clone());
    }
    excused
}

/// Replays the log with its protocol and checks that it decides the same again.
pub(super) fn replay(
    log: &CheckedLog,
    context: &ReplayContext<'_>,
    result: &mut ReceiptVerification,
) -> ReceiptCheck {
    let check = |state, said| ReceiptCheck { what: "replay", state, said };
    let Some(debate) = log.debate.as_ref().filter(|_| log.is_whole) else {
        return check(CheckState::NotChecked, "the log is not whole".to_owned());
    };
    let name = &debate.brief.protocol;
    let Some(protocol) = (context.protocol)(name) else {
        return check(CheckState::NotChecked, format!("this version of agon has no protocol {name}"));
    };
    let why = match replay_debate(protocol, &log.records) {
        Ok(_) => {
            return check(CheckState::Holds, format!("{name} gives the same outcome for the same replies"));
        }
        Err(why @ (Corrupt::ChangedTemplate { .. } | Corrupt::Version { .. })) => {
            return check(CheckState::NotChecked, why.to_string());
        }
        Err(why) => why,
    };
    let (place, event) = match why {
        Corrupt::Departed { seq, .. } | Corrupt::Order { seq, .. } => (format!("log[{seq}].body"), Some(seq)),
        _ => ("log".to_owned(), None),
    };
    let finding = ReceiptFinding { place, event, field: None, why: why.to_string() };
    match result.agon.as_deref().filter(|version| *version != VERSION) {
        Some(other) => {
            let said = format!("agon {} signed it; for this agon {VERSION}, {why}", shown_version(other));
            result.unsettled.push(finding);
            check(CheckState::NotChecked, said)
        }
        None => {
            result.findings.push(finding);
            check(CheckState::Fails, why.to_string())
        }
    }
}
