//! `agon show`: a kept debate's report.

use agon_core::{Debate, Protocol, Record};
use agon_report::Live;
use clap::{ArgMatches, Command};
use serde_json::json;

use super::{Group, Verb, id};
use crate::cli::desk::Kept;
use crate::cli::failure::Failure;
use crate::cli::show::{outcome, report};
use crate::cli::{args, checks, output};

pub(super) const VERB: Verb = Verb { name: "show", group: Group::Kept, command, run };

fn command(command: Command) -> Command {
    let check =
        "Check what makes a good debate of its kind, over the log; exit status 1 if something is not met";
    command
        .about("Print a debate's report again")
        .arg(id())
        .arg(args::switch("check", check))
        .arg(args::json())
        .arg(args::db())
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let kept = Kept::find(args)?;
    let records = kept.records()?;
    let debate = Debate::from_records(&records).map_err(|why| Failure::Log { id: kept.id.clone(), why })?;
    if args.get_flag("check") {
        return checks::print(super::protocol_of(&debate.brief)?, &debate, &records, args.get_flag("json"));
    }
    let mut outcome = outcome(&debate);
    if debate.outcome.is_none()
        && is_running(&kept)?
        && let Some(status) = outcome.get_mut("status")
    {
        *status = json!("running");
    }
    if args.get_flag("json") {
        output::print_json(&outcome)?;
        return Ok(0);
    }
    if debate.outcome.is_none() {
        so_far(super::protocol_of(&debate.brief)?, &records);
    }
    output::print(&report(&outcome, &args::same_store(args)))?;
    Ok(0)
}

/// What the live view showed until the debate broke off; there is no verdict to show in its place.
fn so_far(protocol: &'static dyn Protocol, records: &[Record]) {
    let mut live = Live::plain(protocol, output::stdout_style(), Box::new(std::io::stdout()));
    records.iter().for_each(|record| live.record(record));
    live.finish();
}

fn is_running(kept: &Kept) -> Result<bool, Failure> {
    let listed = kept.store.list(None)?;
    Ok(listed.iter().any(|debate| debate.id == kept.id && debate.status == "running"))
}
