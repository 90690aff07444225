//! Whether a log is unchanged: its lines, its hash chain, and what is stored beside it.

use std::path::Path;

use agon_core::event::open_all;
use agon_core::{Ask, BrokenChain, Corrupt, Debate, LogRecord, Reply, play};
use agon_engine::answer_value;
use agon_store::ListedDebate;
use serde::Deserialize;
use serde_json::Value;

use super::debate_reading::outcome_document;
use super::errors::{CliError, version_name};
use super::input;

/// The longest file that is verified.
pub const FILE_BYTES_MAX: u64 = 1 << 30;
const READABLE_FILES: &str = "verify reads what `agon export --format json` writes, the log.ndjson of --save, \
                              and what --events printed";
/// What separates an event's bytes from its hash in a line.
const HASH_FIELD: &str = ",\"hash\":\"";
const HASH_CHARS: usize = 64;

/// The bytes and hash of each event of a log.
pub type RawLog = Vec<(String, String)>;

/// What is stored beside a log and must agree with it.
#[derive(Debug)]
pub enum LogCompanion {
    Nothing,
    /// The outcome in an exported file; `None` if it was removed.
    Outcome(Option<Value>),
    /// The store's list entry.
    ListEntry(ListedDebate),
}

/// What is wrong with a log.
#[derive(Debug)]
pub struct LogFault {
    /// The event, where it is one.
    pub event: Option<u64>,
    pub reason: String,
}

impl LogFault {
    fn new(reason: impl Into<String>) -> Self {
        Self { event: None, reason: reason.into() }
    }
}

/// An event as a line of JSON: its exact bytes with the hash as one more field at the end.
pub fn log_line(body: &str, hash: &str) -> String {
    let open = body.strip_suffix('}').unwrap_or(body);
    format!("{open}{HASH_FIELD}{hash}\"}}")
}

/// The event's bytes and its hash; `None` if the line does not end in a hash.
pub fn split_log_line(line: &str) -> Option<(String, String)> {
    let rest = line.strip_suffix("\"}")?;
    let (rest, hash) = rest.split_at_checked(rest.len().checked_sub(HASH_CHARS)?)?;
    let open = rest.strip_suffix(HASH_FIELD)?;
    let is_hash = hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| (format!("{open}}}"), hash.to_owned()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExportedDebate {
    #[serde(default)]
    outcome: Option<Value>,
    log: Vec<ExportedEvent>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExportedEvent {
    hash: String,
    body: String,
}

/// Reads the log in a file and what is beside it. The inner error is a line that Agon did not write.
pub fn read_log_file(file: &Path) -> Result<Result<(RawLog, LogCompanion), LogFault>, CliError> {
    read_log_text(file, &input::read_text(file, FILE_BYTES_MAX)?)
}

/// The same for the text of a file that is at hand.
pub fn read_log_text(file: &Path, text: &str) -> Result<Result<(RawLog, LogCompanion), LogFault>, CliError> {
    if text.trim().is_empty() {
        return Err(CliError::file(file, format!("it is empty: {READABLE_FILES}")));
    }
    if text.starts_with("{\"seq\":") {
        return Ok(split_log_lines(text).map(|raw| (raw, LogCompanion::Nothing)));
    }
    let exported: ExportedDebate = serde_json::from_str(text).map_err(|why| {
        CliError::file(file, format!("it is none of the files that verify reads ({why}): {READABLE_FILES}"))
    })?;
    let raw: RawLog = exported.log.into_iter().map(|event| (event.body, event.hash)).collect();
    if raw.is_empty() {
        return Err(CliError::file(file, "it has no events: there is nothing to check"));
    }
    Ok(Ok((raw, LogCompanion::Outcome(exported.outcome))))
}

fn split_log_lines(text: &str) -> Result<RawLog, LogFault> {
    let split = |(seq, line): (u64, &str)| {
        let fault = || LogFault { event: Some(seq), reason: format!("event {seq} does not end in its hash") };
        split_log_line(line).ok_or_else(fault)
    };
    (0..).zip(text.lines()).map(split).collect()
}

/// Checks the hash chain of a log and compares the log with what is stored beside it.
pub fn check_log(raw: RawLog, companion: &LogCompanion) -> Result<(Vec<LogRecord>, Debate), LogFault> {
    let records = open_all(raw).map_err(|broken| {
        let (BrokenChain::Hash { seq, .. }
        | BrokenChain::Unreadable { seq, .. }
        | BrokenChain::Gap { expected: seq, .. }) = &broken;
        LogFault { event: Some(*seq), reason: broken.to_string() }
    })?;
    let debate = Debate::from_records(&records).map_err(|why| LogFault::new(why.to_string()))?;
    match companion {
        LogCompanion::Nothing => {}
        LogCompanion::Outcome(outcome) => check_outcome(&debate, outcome.as_ref())?,
        LogCompanion::ListEntry(entry) => check_list_entry(&debate, entry)?,
    }
    Ok((records, debate))
}

/// Computes every step of a debate again: what is asked, what replies mean and how it ends. Returns why that is not possible: another version of Agon wrote the log. A step that its own
/// version would not have taken is a fault: somebody changed it and computed the hashes anew.
pub fn replay_log(records: &[LogRecord], debate: &Debate) -> Result<Option<String>, LogFault> {
    let brief = &debate.brief;
    let Some(protocol) = agon_protocols::find(&brief.protocol) else {
        return Ok(Some(format!("this version of agon has no protocol {:?}", brief.protocol)));
    };
    let why = match play::replay_with(protocol, records, &mut check_reply) {
        Ok(_) => return Ok(None),
        Err(why) => why,
    };
    let is_other_version = brief.written_by != env!("CARGO_PKG_VERSION");
    match why {
        Corrupt::ChangedTemplate { .. } | Corrupt::Version { .. } => Ok(Some(why.to_string())),
        _ if is_other_version => Ok(Some(format!("{} wrote it: {why}", version_name(&brief.written_by)))),
        Corrupt::Departed { seq, .. } | Corrupt::Order { seq, .. } => {
            Err(LogFault { event: Some(seq), reason: why.to_string() })
        }
        _ => Err(LogFault::new(why.to_string())),
    }
}

/// Whether the value of a reply is what its text says.
fn check_reply(ask: &Ask, reply: &Reply) -> Result<(), String> {
    let Reply::Said { text, value, cut_off, .. } = reply else { return Ok(()) };
    match answer_value(ask.schema.as_ref(), text, *cut_off) {
        Ok(said) if said == *value => Ok(()),
        _ => Err(format!("the value of {}'s reply is not what its text says", ask.seat)),
    }
}

/// The chain of a log still holds if its end is cut off. The outcome beside it then differs.
fn check_outcome(debate: &Debate, written: Option<&Value>) -> Result<(), LogFault> {
    let written = written.ok_or_else(|| LogFault::new("the outcome is missing"))?;
    let expected = outcome_document(debate).map_err(|error| LogFault::new(error.to_string()))?;
    let Some(path) = first_difference(&expected, written, "outcome") else { return Ok(()) };
    let mut reason = format!("`{path}` is not what the log says");
    let (written_by, version) = (debate.brief.written_by.as_str(), env!("CARGO_PKG_VERSION"));
    if written_by != version {
        let theirs = version_name(written_by);
        reason.push_str(&format!(
            "; {theirs} wrote it, and this is agon {version}, whose outcomes may have another form"
        ));
    }
    Err(LogFault::new(reason))
}

/// The path of the first difference between two values.
fn first_difference(ours: &Value, theirs: &Value, path: &str) -> Option<String> {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            let inner = |key: &String| match (a.get(key), b.get(key)) {
                (Some(a), Some(b)) => first_difference(a, b, &format!("{path}.{key}")),
                _ => Some(format!("{path}.{key}")),
            };
            a.keys().chain(b.keys()).find_map(inner)
        }
        (Value::Array(a), Value::Array(b)) => {
            let mut pairs = a.iter().zip(b).enumerate();
            let inner = pairs.find_map(|(n, (a, b))| first_difference(a, b, &format!("{path}[{n}]")));
            inner.or_else(|| (a.len() != b.len()).then(|| format!("{path}[{}]", a.len().min(b.len()))))
        }
        _ => (ours != theirs).then(|| path.to_owned()),
    }
}

/// The store writes its list entry from the first and last event, in the same commit.
fn check_list_entry(debate: &Debate, entry: &ListedDebate) -> Result<(), LogFault> {
    let brief = &debate.brief;
    let parent = brief.parent.as_ref().map(|parent| parent.id.as_str());
    for (field, is_same) in [
        ("id", brief.id == entry.id),
        ("protocol", brief.protocol == entry.protocol),
        ("question", brief.question == entry.question),
        ("created_at", brief.created_at == entry.created_at),
        ("parent", parent == entry.parent.as_deref()),
    ] {
        if !is_same {
            return Err(LogFault::new(format!("the store lists another {field} than the log has")));
        }
    }
    let status = &entry.status;
    let is_over = !matches!(status.as_str(), "running" | "interrupted");
    match &debate.outcome {
        None if is_over => Err(LogFault::new(format!(
            "the end of the log is missing: the store lists the debate as {status}, but its last event does not close it"
        ))),
        Some(outcome) if serde_json::to_value(outcome.status).ok() != Some(status.as_str().into()) => {
            Err(LogFault::new(format!("the store lists the debate as {status}, but the log does not")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::arguments::CliArguments;
    use crate::cli::brief_builder::{BriefBuilder, DebateSubject};
    use crate::cli::configuration::Configuration;

    #[test]
    fn a_log_line_splits_into_the_exact_bytes_that_were_hashed() {
        let hash = "0123456789abcdef".repeat(4);
        for body in ["{\"seq\":0}", "{\"text\":\"ends in ,\\\"hash\\\":\\\"\"}", "{\"é\":{}}"] {
            let line = log_line(body, &hash);
            assert_eq!(split_log_line(&line), Some((body.to_owned(), hash.clone())));
            assert!(serde_json::from_str::<Value>(&line).is_ok_and(|value| value["hash"] == hash));
        }
        for bad in ["", "{}", "{\"seq\":0}", "{\"seq\":0,\"hash\":\"abc\"}", "é\"}"] {
            assert_eq!(split_log_line(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_first_difference_is_named_by_its_path() {
        let ours = json!({"a": {"b": [1, {"c": 2}]}, "d": null});
        for (theirs, path) in [
            (json!({"a": {"b": [1, {"c": 3}]}, "d": null}), Some("o.a.b[1].c")),
            (json!({"a": {"b": [1]}, "d": null}), Some("o.a.b[1]")),
            (json!({"a": {"b": [1, {"c": 2}, 3]}, "d": null}), Some("o.a.b[2]")),
            (json!({"a": {"b": [1, {"c": 2}]}}), Some("o.d")),
            (json!({"a": {"b": [1, {"c": 2}]}, "d": null, "e": null}), Some("o.e")),
            (json!([]), Some("o")),
            (json!({"d": null, "a": {"b": [1, {"c": 2}]}}), None),
        ] {
            assert_eq!(first_difference(&ours, &theirs, "o").as_deref(), path, "{theirs}");
        }
    }

    #[test]
    fn a_difference_in_an_outcome_of_another_version_names_the_version() {
        let arguments = CliArguments { models: vec!["script/demo".into()], ..CliArguments::default() };
        let protocol = agon_protocols::find("deep").unwrap();
        let builder = BriefBuilder::new(protocol, arguments, &Configuration::default()).unwrap();
        let mut brief = builder.brief(DebateSubject::question("Why?")).unwrap();
        for (version, theirs) in [("0.0.9", "; agon 0.0.9 wrote it"), ("", "; an earlier agon wrote it")] {
            brief.written_by = version.into();
            let (debate, _) = Debate::open(brief.clone()).unwrap();
            let reason = check_outcome(&debate, Some(&json!({}))).unwrap_err().reason;
            let is_expected =
                reason.starts_with("`outcome.id` is not what the log says") && reason.contains(theirs);
            assert!(is_expected, "{reason}");
        }
    }
}
