//! `agon verify`: checks the hash chain of a debate's log, and says exactly where it breaks.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use agon_core::event::GENESIS;
use agon_core::{Debate, Record};
use agon_publish::receipts::{Known, Link, Receipt, Standing};
use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use super::{Group, Verb, keys};
use crate::cli::failure::Failure;
use crate::cli::verify::{self, Beside, Finding, Raw};
use crate::cli::{args, desk, input, output, place, receipts};

pub(super) const VERB: Verb = Verb { name: "verify", group: Group::Kept, command, run };

fn command(command: Command) -> Command {
    let id =
        Arg::new("id").value_name("ID|FILE").required(true).value_parser(clap::value_parser!(OsString)).help(
            "A kept debate, or a file: an export as JSON, a log.ndjson of --save, or the lines of --events",
        );
    command
        .about("Check that nothing in a debate's log, or in a receipt, was changed since it was written")
        .after_help(
            "A receipt is checked against --key, else against the keys that `agon keys show` lists: anybody can sign a forged debate with\n\
             a new key. Exit status: 0 nothing was changed, 1 something was, or it is not signed with a key that you know.",
        )
        .arg(id)
        .arg(
            Arg::new("key")
                .long("key")
                .value_name("FILE|KEY")
                .help("The public key that a receipt must be signed with"),
        )
        .arg(args::path("log", "FILE", "The exported log of a receipt that came without"))
        .arg(args::json())
        .arg(args::db())
}

type Checked = Result<(Vec<Record>, Debate), Finding>;

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let name = args.get_one::<OsString>("id").cloned().unwrap_or_default();
    let path = Path::new(&name);
    if path.is_file()
        && let Some(status) = receipt(path, args)?
    {
        return Ok(status);
    }
    if let Some(option) = ["key", "log"].into_iter().find(|option| args.contains_id(option)) {
        return Err(Failure::input(format!("--{option} is for a receipt, and {} is none", name.display())));
    }
    let (name, read) = if path.is_file() || looks_like_a_path(&name) {
        // One that is not there, or is a folder, gets its sentence from the same door as every file.
        (path.display().to_string(), verify::file::read(path)?)
    } else {
        let (id, raw, beside) = kept(args, &name)?;
        (id, Ok((raw, beside)))
    };
    let checked = read.and_then(|(raw, beside)| verify::check(raw, &beside));
    if args.get_flag("json") {
        output::print_json(&document(&name, &checked))?;
    } else {
        output::print(&sentence(&name, &checked))?;
    }
    Ok(u8::from(checked.is_err()))
}

/// Checks a file that is a receipt; `None` for another.
fn receipt(path: &Path, args: &ArgMatches) -> Result<Option<u8>, Failure> {
    let mut bytes = input::bytes(path, verify::file::FILE_BYTES_MAX)?;
    if !agon_publish::receipts::is_receipt(&bytes) {
        return Ok(None);
    }
    if let Some(log) = args.get_one::<PathBuf>("log") {
        bytes = with_log(bytes, path, log)?;
    }
    let mut known = receipts::keyring(&place::env)?.known().map_err(receipts::refused)?;
    let wanted = args.get_one::<String>("key").map(|word| keys::read(word)).transpose()?;
    if let Some(key) = wanted.clone()
        && !known.iter().any(|other| other.key == key)
    {
        known.push(Known { key, standing: Standing::Trusted { name: "--key".into() } });
    }
    let mut told = receipts::check(&bytes, &known);
    if let Some(key) = &wanted {
        told.require(key);
    }
    let name = path.display().to_string();
    match args.get_flag("json") {
        true => output::print_json(&told.document(&name))?,
        false => output::print(&told.text(&name))?,
    }
    Ok(Some(u8::from(!told.is_trusted())))
}

/// A receipt with the log that came beside it.
fn with_log(bytes: Vec<u8>, path: &Path, log: &Path) -> Result<Vec<u8>, Failure> {
    // A receipt that cannot be read is told of by what checks it.
    let Ok(mut receipt) = serde_json::from_slice::<Receipt>(&bytes) else { return Ok(bytes) };
    if receipt.log.is_some() {
        return Err(Failure::file(path, "this receipt has its log in it: leave --log away"));
    }
    let (raw, _) = verify::file::read(log)?.map_err(|finding| Failure::file(log, finding.why))?;
    receipt.log = Some(raw.into_iter().map(|(body, hash)| Link { hash, body }).collect());
    serde_json::to_vec_pretty(&receipt).map_err(|why| Failure::file(path, why.to_string()))
}

/// Ids have neither.
fn looks_like_a_path(name: &OsStr) -> bool {
    name.to_string_lossy().contains(['/', '\\', '.'])
}

fn kept(args: &ArgMatches, name: &OsStr) -> Result<(String, Raw, Beside), Failure> {
    let shown = name.to_string_lossy().into_owned();
    let unknown = || agon_engine::StoreError::Unknown(shown.clone());
    let store = desk::kept(args)?.ok_or_else(unknown)?;
    let id = store.find(name.to_str().ok_or_else(unknown)?)?;
    let (row, raw) = store.stored(&id)?;
    Ok((id, raw, Beside::Row(row)))
}

fn sentence(name: &str, checked: &Checked) -> String {
    match checked {
        Ok((records, debate)) => {
            let so_far = if debate.outcome.is_some() { "" } else { " so far (the debate is not over)" };
            format!("{name}: intact{so_far}, {} events, head {}\n", records.len(), head(records))
        }
        Err(finding) => format!("{name}: broken: {}\n", finding.why),
    }
}

fn document(name: &str, checked: &Checked) -> Value {
    match checked {
        Ok((records, debate)) => json!({
            "name": name, "intact": true, "over": debate.outcome.is_some(), "events": records.len(),
            "head": head(records),
        }),
        Err(Finding { event, why }) => json!({"name": name, "intact": false, "event": event, "why": why}),
    }
}

fn head(records: &[Record]) -> &str {
    records.last().map_or(GENESIS, |record| &record.hash)
}
