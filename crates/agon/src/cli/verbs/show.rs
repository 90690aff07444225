//! `agon show`: a kept debate's report.

use agon_core::Debate;
use clap::{ArgMatches, Command};
use serde_json::json;

use super::{Group, Verb, id};
use crate::cli::desk::Kept;
use crate::cli::failure::Failure;
use crate::cli::show::{outcome, report};
use crate::cli::{args, output};

pub(super) const VERB: Verb = Verb { name: "show", group: Group::Kept, command, run };

fn command(command: Command) -> Command {
    command.about("Print a debate's report again").arg(id()).arg(args::json()).arg(args::db())
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let kept = Kept::find(args)?;
    let debate = kept.debate()?;
    let mut outcome = outcome(&debate);
    let running = debate.outcome.is_none() && is_running(&kept)?;
    if running && let Some(status) = outcome.get_mut("status") {
        *status = json!("running");
    }
    if args.get_flag("json") {
        output::print_json(&outcome)?;
    } else {
        output::print(&report(&outcome))?;
        output::note(&how_to_go_on(&debate, running));
    }
    Ok(0)
}

fn is_running(kept: &Kept) -> Result<bool, Failure> {
    let listed = kept.store.list(None)?;
    Ok(listed.iter().any(|debate| debate.id == kept.id && debate.status == "running"))
}
