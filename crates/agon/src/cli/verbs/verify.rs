//! `agon verify`: checks the hash chain of a log or a receipt, and says exactly where it breaks.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use agon_core::event::GENESIS;
use agon_core::{Debate, LogRecord};
use agon_publish::receipts::{KeyStanding, KnownKey, LoggedRecord, Receipt, is_receipt};
use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use super::keys::read_key;
use super::{CliVerb, VerbGroup};
use crate::cli::app::App;
use crate::cli::errors::CliError;
use crate::cli::progress::TaskProgress;
use crate::cli::receipts::{keyring, keyring_error, verify_receipt};
use crate::cli::verification::{
    FILE_BYTES_MAX, LogCompanion, LogFault, RawLog, check_log, read_log_file, read_log_text, replay_log,
};
use crate::cli::{arguments, input, output};

pub(super) const VERB: CliVerb = CliVerb { name: "verify", group: VerbGroup::StoredDebates, command, run };

fn command(command: Command) -> Command {
    let id =
        Arg::new("id").value_name("ID|FILE").required(true).value_parser(clap::value_parser!(OsString)).help(
            "A stored debate, or a file: an export as JSON, a receipt, a log.ndjson of --save, or the lines of --events",
        );
    let key = Arg::new("key")
        .long("key")
        .value_name("FILE|KEY")
        .help("The public key that must have signed the receipt");
    command
        .about("Check that a debate's log, or a receipt, was not changed since it was written")
        .after_help(
            "A receipt is checked against --key, else against the keys that `agon keys show` lists, because anybody can sign a forged \
             debate with a new key. A file without a signature proves nothing about who wrote it: anybody can compute its hashes anew.\n\
             Exit status: 0 signed by a known key and replayed, or a debate of your own store that replays; 3 only the hash chain holds, \
             or it could not be replayed; 1 something was changed, or no known key signed it.",
        )
        .arg(id)
        .arg(key)
        .arg(arguments::path_option("log", "FILE", "The exported log of a receipt that has none"))
        .arg(arguments::json())
        .arg(arguments::store())
}

/// A log whose hash chain holds, or what is wrong with it.
type CheckedLog = Result<IntactLog, LogFault>;

struct IntactLog {
    records: Vec<LogRecord>,
    debate: Debate,
    /// Why it could not be replayed; `None` if it was.
    not_replayed: Option<String>,
    /// Whether it is in the user's own store.
    is_stored: bool,
}

/// The exit status of a log or receipt that is as it was written, but not fully proven.
const NOT_PROVEN: u8 = 3;

impl IntactLog {
    /// `chain_only`, `not_replayed`, or `replayed` for a debate of the user's own store.
    fn answer(&self) -> &'static str {
        match (&self.not_replayed, self.is_stored) {
            (Some(_), _) => "not_replayed",
            (None, false) => "chain_only",
            (None, true) => "replayed",
        }
    }
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let app = App::new(args);
    let name = args.get_one::<OsString>("id").cloned().unwrap_or_default();
    let path = Path::new(&name);
    let progress = TaskProgress::start("checking the log", false);
    if path.is_file()
        && let Some(status) = check_receipt(path, args)?
    {
        return Ok(status);
    }
    if let Some(option) = ["key", "log"].into_iter().find(|option| args.contains_id(option)) {
        return Err(CliError::input(format!("--{option} needs a receipt, and {} is none", name.display())));
    }
    let is_stored = !path.is_file() && !looks_like_path(&name);
    let (name, read) = if !is_stored {
        (path.display().to_string(), read_log_file(path)?)
    } else {
        let (id, raw, companion) = stored_log(&app, &name)?;
        (id, Ok((raw, companion)))
    };
    let checked: CheckedLog = read.and_then(|(raw, companion)| {
        let (records, debate) = check_log(raw, &companion)?;
        let not_replayed = replay_log(&records, &debate)?;
        Ok(IntactLog { records, debate, not_replayed, is_stored })
    });
    drop(progress);
    let (document, sentence) = (|| result_document(&name, &checked), || result_sentence(&name, &checked));
    output::print_result(app.flag("json"), document, sentence)?;
    Ok(match &checked {
        Err(_) => 1,
        Ok(log) if log.answer() == "replayed" => 0,
        Ok(_) => NOT_PROVEN,
    })
}

/// Checks the bytes of a receipt or an export, as a caller sent them. Nothing is known of them but the keys of this machine.
pub(crate) fn verify_bytes(bytes: &[u8], name: &str) -> Result<Value, CliError> {
    if is_receipt(bytes) {
        let known = keyring()?.known().map_err(keyring_error)?;
        return Ok(verify_receipt(bytes, &known).document(name));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| CliError::input("the file is not UTF-8 text"))?;
    let checked: CheckedLog = read_log_text(Path::new(name), text)?.and_then(|(raw, companion)| {
        let (records, debate) = check_log(raw, &companion)?;
        let not_replayed = replay_log(&records, &debate)?;
        Ok(IntactLog { records, debate, not_replayed, is_stored: false })
    });
    Ok(result_document(name, &checked))
}

/// Checks a file that is a receipt; `None` if it is something else.
fn check_receipt(path: &Path, args: &ArgMatches) -> Result<Option<u8>, CliError> {
    let mut bytes = input::read_bytes(path, FILE_BYTES_MAX)?;
    if !is_receipt(&bytes) {
        return Ok(None);
    }
    if let Some(log) = args.get_one::<PathBuf>("log") {
        bytes = receipt_with_log(bytes, path, log)?;
    }
    let mut known = keyring()?.known().map_err(keyring_error)?;
    let wanted = args.get_one::<String>("key").map(|word| read_key(word)).transpose()?;
    if let Some(key) = wanted.clone()
        && !known.iter().any(|other| other.key == key)
    {
        known.push(KnownKey { key, standing: KeyStanding::Trusted { name: "--key".into() } });
    }
    let mut verification = verify_receipt(&bytes, &known);
    if let Some(key) = &wanted {
        verification.require(key);
    }
    let name = path.display().to_string();
    output::print_result(
        args.get_flag("json"),
        || verification.document(&name),
        || verification.text(&name),
    )?;
    Ok(Some(match verification.answer() {
        "signed_and_replayed" => 0,
        "not_replayed" => NOT_PROVEN,
        _ => 1,
    }))
}

/// A receipt with the log of another file.
fn receipt_with_log(bytes: Vec<u8>, path: &Path, log: &Path) -> Result<Vec<u8>, CliError> {
    // The verification reports a receipt that cannot be read.
    let Ok(mut receipt) = serde_json::from_slice::<Receipt>(&bytes) else { return Ok(bytes) };
    if receipt.log.is_some() {
        return Err(CliError::file(path, "this receipt contains its log: omit --log"));
    }
    let (raw, _) = read_log_file(log)?.map_err(|fault| CliError::file(log, fault.reason))?;
    receipt.log = Some(raw.into_iter().map(|(body, hash)| LoggedRecord { hash, body }).collect());
    serde_json::to_vec_pretty(&receipt).map_err(|why| CliError::file(path, why))
}

/// An id has neither slashes nor dots.
fn looks_like_path(name: &OsStr) -> bool {
    name.to_string_lossy().contains(['/', '\\', '.'])
}

fn stored_log(app: &App<'_>, name: &OsStr) -> Result<(String, RawLog, LogCompanion), CliError> {
    let shown = name.to_string_lossy().into_owned();
    let unknown = || agon_engine::StoreError::Unknown(shown.clone());
    let store = app.store_to_read()?.ok_or_else(unknown)?;
    let id = store.find_debate(name.to_str().ok_or_else(unknown)?)?;
    let (entry, raw) = store.debate_with_raw_log(&id)?;
    Ok((id, raw, LogCompanion::ListEntry(entry)))
}

fn result_sentence(name: &str, checked: &CheckedLog) -> String {
    match checked {
        Ok(IntactLog { records, debate, not_replayed, is_stored }) => {
            let so_far = if debate.outcome.is_some() { "" } else { " so far (the debate is not over)" };
            let replayed = match not_replayed {
                None => "and replayed".to_owned(),
                Some(why) => format!("but not replayed ({why})"),
            };
            let unsigned = if *is_stored { "" } else { "; without a signature, anybody can have written it" };
            let (events, head) = (records.len(), head(records));
            format!(
                "{name}: the hash chain is intact{so_far} {replayed}{unsigned}; {events} events, head {head}\n"
            )
        }
        Err(fault) => format!("{name}: broken: {}\n", fault.reason),
    }
}

fn result_document(name: &str, checked: &CheckedLog) -> Value {
    match checked {
        Ok(log) => json!({
            "name": name, "intact": true, "answer": log.answer(), "over": log.debate.outcome.is_some(),
            "events": log.records.len(), "head": head(&log.records), "not_replayed": log.not_replayed,
        }),
        Err(LogFault { event, reason }) => {
            json!({"name": name, "intact": false, "answer": "changed", "event": event, "why": reason})
        }
    }
}

fn head(records: &[LogRecord]) -> &str {
    records.last().map_or(GENESIS, |record| &record.hash)
}
