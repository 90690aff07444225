//! `agon verify`: checks the hash chain of a debate's log, and says exactly where it breaks.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use agon_core::event::GENESIS;
use agon_core::{Debate, Record};
use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use super::{Group, Verb};
use crate::cli::failure::Failure;
use crate::cli::verify::{self, Beside, Finding, Raw};
use crate::cli::{args, desk, output};

pub(super) const VERB: Verb = Verb { name: "verify", group: Group::Kept, command, run };

fn command(command: Command) -> Command {
    let id =
        Arg::new("id").value_name("ID|FILE").required(true).value_parser(clap::value_parser!(OsString)).help(
            "A kept debate, or a file: an export as JSON, a log.ndjson of --save, or the lines of --events",
        );
    command
        .about("Check that nothing in a debate's log was changed since it was written")
        .after_help("Exit status: 0 the chain holds, 1 it is broken.")
        .arg(id)
        .arg(args::json())
        .arg(args::db())
}

type Checked = Result<(Vec<Record>, Debate), Finding>;

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let name = args.get_one::<OsString>("id").cloned().unwrap_or_default();
    let path = Path::new(&name);
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
