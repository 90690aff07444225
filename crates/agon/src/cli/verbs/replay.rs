//! `agon replay`: goes through a debate's log again without a call, and checks that every step follows.

use agon_core::{Corrupt, play};
use clap::{ArgMatches, Command};

use super::{Group, Verb, id};
use crate::cli::desk::Kept;
use crate::cli::failure::Failure;
use crate::cli::show::{outcome, report};
use crate::cli::{args, output};

pub(super) const VERB: Verb = Verb { name: "replay", group: Group::Kept, command, run };

fn command(command: Command) -> Command {
    command
        .about("Check every step of a debate against its protocol, without any call, and print the report")
        .arg(id())
        .arg(args::json())
        .arg(args::db())
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let kept = Kept::find(args)?;
    let records = kept.records()?;
    let brief = kept.debate()?.brief;
    let protocol = super::protocol_of(&brief)?;
    let debate = play::replay(protocol, &records).map_err(|why| match why {
        Corrupt::Departed { .. } | Corrupt::Template { .. } => Failure::Departed {
            id: brief.id,
            why,
            written_by: brief.written_by,
            store: args::same_store(args),
        },
        _ => Failure::Log { id: brief.id, why },
    })?;
    let outcome = outcome(&debate);
    if args.get_flag("json") {
        output::print_json(&outcome)?
    } else {
        output::print(&report(&outcome, &args::same_store(args)))?
    }
    Ok(0)
}
