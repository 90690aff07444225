//! Whether a log is as it was written, and what stands beside it is what it says.

use agon_core::event::{Broken, open_all};
use agon_core::{Debate, Record};
use agon_store::Listed;
use serde_json::Value;

use super::show;

pub mod file;

/// The stored bytes and hashes of a log.
pub type Raw = Vec<(String, String)>;

/// What stands beside a log and must agree with it.
#[derive(Debug)]
pub enum Beside {
    /// Nothing.
    Nothing,
    /// The outcome in an exported file; `None` if somebody took it out.
    Outcome(Option<Value>),
    /// The store's own row of it.
    Row(Listed),
}

/// What is wrong, and with which event.
#[derive(Debug)]
pub struct Finding {
    /// The event, where it is one.
    pub event: Option<u64>,
    /// In a sentence.
    pub why: String,
}

impl Finding {
    fn new(why: impl Into<String>) -> Self {
        Self { event: None, why: why.into() }
    }
}

/// The log's events and the debate that they make, if the chain over them holds and what stands beside them is what
/// they say.
pub fn check(raw: Raw, beside: &Beside) -> Result<(Vec<Record>, Debate), Finding> {
    let records = open_all(raw).map_err(|broken| {
        let (Broken::Hash { seq, .. } | Broken::Unreadable { seq, .. } | Broken::Gap { expected: seq, .. }) =
            &broken;
        Finding { event: Some(*seq), why: broken.to_string() }
    })?;
    let debate = Debate::from_records(&records).map_err(|why| Finding::new(why.to_string()))?;
    match beside {
        Beside::Nothing => {}
        Beside::Outcome(told) => outcome(&debate, told.as_ref())?,
        Beside::Row(row) => listed(&debate, row)?,
    }
    Ok((records, debate))
}

/// A chain that was cut off at its end still holds; the outcome beside it knows better.
fn outcome(debate: &Debate, told: Option<&Value>) -> Result<(), Finding> {
    let told = told.ok_or_else(|| Finding::new("the outcome is missing"))?;
    let ours = show::outcome(debate);
    let Some(path) = difference(&ours, told, "outcome") else { return Ok(()) };
    let mut why = format!("`{path}` is not what the log says");
    let (theirs, version) = (debate.brief.written_by.as_str(), env!("CARGO_PKG_VERSION"));
    if theirs != version {
        let theirs = if theirs.is_empty() { "an earlier agon".into() } else { format!("agon {theirs}") };
        why.push_str(&format!(
            "; {theirs} wrote it, and this is agon {version}, which may tell an outcome in another way"
        ));
    }
    Err(Finding::new(why))
}

/// Where two values first differ.
fn difference(ours: &Value, theirs: &Value, path: &str) -> Option<String> {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            let inner = |key: &String| match (a.get(key), b.get(key)) {
                (Some(a), Some(b)) => difference(a, b, &format!("{path}.{key}")),
                _ => Some(format!("{path}.{key}")),
            };
            a.keys().chain(b.keys()).find_map(inner)
        }
        (Value::Array(a), Value::Array(b)) => {
            let mut pairs = a.iter().zip(b).enumerate();
            let inner = pairs.find_map(|(n, (a, b))| difference(a, b, &format!("{path}[{n}]")));
            inner.or_else(|| (a.len() != b.len()).then(|| format!("{path}[{}]", a.len().min(b.len()))))
        }
        _ => (ours != theirs).then(|| path.to_owned()),
    }
}

/// The store's row is written from the log's first and last event, in the same commit.
fn listed(debate: &Debate, row: &Listed) -> Result<(), Finding> {
    let brief = &debate.brief;
    let parent = brief.parent.as_ref().map(|parent| parent.id.as_str());
    for (what, same) in [
        ("id", brief.id == row.id),
        ("protocol", brief.protocol == row.protocol),
        ("question", brief.question == row.question),
        ("created_at", brief.created_at == row.created_at),
        ("parent", parent == row.parent.as_deref()),
    ] {
        if !same {
            return Err(Finding::new(format!("the store lists another {what} than the log has")));
        }
    }
    let over = !matches!(row.status.as_str(), "running" | "interrupted");
    let status = &row.status;
    match &debate.outcome {
        None if over => Err(Finding::new(format!(
            "the end of the log is missing: the store lists the debate as {status}, but its last event does not close it"
        ))),
        Some(outcome) if serde_json::to_value(outcome.status).ok() != Some(status.as_str().into()) => {
            Err(Finding::new(format!("the store lists the debate as {status}, and the log does not")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
            assert_eq!(difference(&ours, &theirs, "o").as_deref(), path, "{theirs}");
        }
    }

    #[test]
    fn an_outcome_of_another_version_is_said_to_be_one() {
        use crate::cli::{args::Said, config::Config, opening::Opening, opening::Subject};
        let said = Said { models: vec!["script/demo".into()], ..Said::default() };
        let protocol = agon_protocols::find("deep").unwrap();
        let opening = Opening::new(protocol, said, &Config::default()).unwrap();
        let mut brief = opening.brief(Subject { question: "Why?".into(), ..Subject::default() }).unwrap();
        for (version, theirs) in [("0.0.9", "; agon 0.0.9 wrote it"), ("", "; an earlier agon wrote it")] {
            brief.written_by = version.into();
            let (debate, _) = Debate::open(brief.clone()).unwrap();
            let why = outcome(&debate, Some(&json!({}))).unwrap_err().why;
            assert!(
                why.starts_with("`outcome.id` is not what the log says") && why.contains(theirs),
                "{why}"
            );
        }
    }
}
