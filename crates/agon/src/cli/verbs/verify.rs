//! `agon verify`: checks the hash chain of a debate's log, and says exactly where it breaks.

use std::path::Path;

use agon_core::event::{Broken, GENESIS, open_all};
use agon_core::{Debate, Record, document};
use clap::{Arg, ArgMatches, Command};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Group, Verb};
use crate::cli::failure::Failure;
use crate::cli::{args, desk, input, output};

pub(super) const VERB: Verb = Verb { name: "verify", group: Group::Kept, command, run };

const FILE_BYTES_MAX: u64 = 1 << 30;
/// What an exported outcome says that its log can be held against. The rest is computed from these and may grow with
/// the program's version.
const TOLD: &[&str] = &[
    "id",
    "protocol",
    "question",
    "status",
    "termination",
    "verdict",
    "dissent",
    "warnings",
    "seats",
    "usage",
    "receipt",
];

fn command(command: Command) -> Command {
    let id = Arg::new("id")
        .value_name("ID|FILE")
        .required(true)
        .value_parser(clap::value_parser!(std::ffi::OsString))
        .help("A kept debate, or a file that `agon export --format json` wrote");
    command
        .about("Check that nothing in a debate's log was changed since it was written")
        .after_help("Exit status: 0 the chain holds, 1 it is broken.")
        .arg(id)
        .arg(args::json())
        .arg(args::db())
}

/// An exported debate, as far as the chain is concerned.
#[derive(Deserialize)]
struct Exported {
    #[serde(default)]
    outcome: Value,
    log: Vec<Link>,
}

#[derive(Deserialize)]
struct Link {
    hash: String,
    body: String,
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let name = args.get_one::<std::ffi::OsString>("id").cloned().unwrap_or_default();
    let path = Path::new(&name);
    let (name, raw, outcome) = if path.is_file() { exported(path)? } else { kept(args, &name)? };
    if raw.is_empty() {
        return Err(Failure::input(format!("{name} holds no events: there is nothing to check")));
    }
    let checked = check(raw, &outcome);
    if args.get_flag("json") {
        output::print_json(&document_of(&name, &checked))?;
    } else {
        output::print(&match &checked {
            Ok(records) => {
                format!("{name}: intact, {} events, head {}\n", records.len(), head(records))
            }
            Err(finding) => format!("{name}: broken: {}\n", finding.why),
        })?;
    }
    Ok(u8::from(checked.is_err()))
}

type Raw = Vec<(String, String)>;

fn exported(file: &Path) -> Result<(String, Raw, Value), Failure> {
    let text = input::file(file, FILE_BYTES_MAX)?;
    let exported: Exported = serde_json::from_str(&text).map_err(|why| {
        Failure::file(file, format!("this is not what `agon export --format json` writes: {why}"))
    })?;
    let raw = exported.log.into_iter().map(|link| (link.body, link.hash)).collect();
    Ok((file.display().to_string(), raw, exported.outcome))
}

fn kept(args: &ArgMatches, name: &std::ffi::OsStr) -> Result<(String, Raw, Value), Failure> {
    let shown = name.to_string_lossy().into_owned();
    let unknown = || agon_engine::StoreError::Unknown(shown.clone());
    let store = desk::kept(args)?.ok_or_else(unknown)?;
    let id = store.find(name.to_str().ok_or_else(unknown)?)?;
    let raw = store.raw(&id)?;
    Ok((id, raw, Value::Null))
}

/// What is wrong, and with which event.
struct Finding {
    event: Option<u64>,
    why: String,
}

/// The log's events, if the chain over them holds and what stands beside them is what they say.
fn check(raw: Raw, outcome: &Value) -> Result<Vec<Record>, Finding> {
    let records = open_all(raw).map_err(|broken| {
        let (Broken::Hash { seq, .. } | Broken::Unreadable { seq, .. } | Broken::Gap { expected: seq, .. }) =
            &broken;
        Finding { event: Some(*seq), why: broken.to_string() }
    })?;
    let debate =
        Debate::from_records(&records).map_err(|why| Finding { event: None, why: why.to_string() })?;
    if let Some(told) = outcome.as_object() {
        let ours = document::document(&debate, Value::Null);
        // A chain that was cut off at its end still holds; the outcome beside it knows better.
        if let Some(key) = TOLD.iter().find(|key| told.get(**key) != ours.get(**key)) {
            let why = format!("`{key}` of the outcome is not what the log says");
            return Err(Finding { event: None, why });
        }
    }
    Ok(records)
}

fn document_of(name: &str, checked: &Result<Vec<Record>, Finding>) -> Value {
    match checked {
        Ok(records) => {
            json!({"name": name, "intact": true, "events": records.len(), "head": head(records)})
        }
        Err(Finding { event, why }) => json!({"name": name, "intact": false, "event": event, "why": why}),
    }
}

fn head(records: &[Record]) -> &str {
    records.last().map_or(GENESIS, |record| &record.hash)
}
