//! `agon replay`: checks every step of a debate against its protocol, without a call.

use agon_core::{Corrupt, Debate, play};
use agon_report::terminal_report;
use clap::{ArgMatches, Command};

use super::{CliVerb, VerbGroup};
use crate::cli::app::{App, StoredLog, protocol_of};
use crate::cli::debate_reading::DebateReading;
use crate::cli::errors::CliError;
use crate::cli::progress::TaskProgress;
use crate::cli::{arguments, output};

pub(super) const VERB: CliVerb = CliVerb { name: "replay", group: VerbGroup::StoredDebates, command, run };

fn command(command: Command) -> Command {
    command
        .about("Check every step of a debate against its protocol, without any call, and print the report")
        .arg(arguments::debate_id())
        .arg(arguments::json())
        .arg(arguments::store())
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let app = App::new(args);
    let handle = app.stored_debate()?;
    let progress = TaskProgress::start("replaying the debate", false);
    let StoredLog { records, debate: Debate { brief, .. }, .. } = handle.read()?;
    let protocol = protocol_of(&brief)?;
    let debate = play::replay(protocol, &records).map_err(|reason| match reason {
        Corrupt::Departed { .. } | Corrupt::ChangedTemplate { .. } => CliError::Departed {
            id: brief.id,
            reason: Box::new(reason),
            written_by: brief.written_by,
            store_option: app.store_option(),
        },
        _ => CliError::Log { id: brief.id, reason: Box::new(reason) },
    })?;
    let reading = DebateReading::of(&debate)?;
    drop(progress);
    if !app.flag("json") {
        output::note("replayed: every step is the one that the protocol takes; no call was made");
    }
    let report = || terminal_report(&reading.source(), &output::stdout_style(), &app.store_option());
    output::print_result(app.flag("json"), || &reading.document, report)
}
