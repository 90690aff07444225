//! `agon resume`: continues a debate that was interrupted.

use agon_engine::{DebateWatch, StopSignal};
use clap::{Arg, ArgMatches, Command};

use super::{CliVerb, VerbGroup};
use crate::cli::app::{App, protocol_of};
use crate::cli::debate_run::DebateSession;
use crate::cli::errors::CliError;
use crate::cli::result_output::ResultOutput;
use crate::cli::seat_models::{brief_models, check_models, fetch_model_files};
use crate::cli::{arguments, input};

pub(super) const VERB: CliVerb = CliVerb { name: "resume", group: VerbGroup::StoredDebates, command, run };

fn command(command: Command) -> Command {
    command
        .about("Continue an interrupted debate; answers that it has are not asked for again")
        .arg(arguments::debate_id())
        .arg(say_option())
        .args(arguments::output_options())
        .arg(arguments::no_files())
        .args(arguments::config_and_store())
}

/// `--say`.
pub(super) fn say_option() -> Arg {
    Arg::new("say").long("say").value_name("TEXT").help("Say this to all seats before the debate continues")
}

/// The text of `--say`.
pub(super) fn interjection(args: &ArgMatches) -> Result<Option<String>, CliError> {
    args.get_one::<String>("say").map(|text| input::check_question(text, "text of --say")).transpose()
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let app = App::new(args);
    app.configuration()?;
    let interjection = interjection(args)?;
    let handle = app.stored_debate()?;
    let debate = handle.read()?.debate;
    let protocol = protocol_of(&debate.brief)?;
    let is_over = debate.outcome.is_some();
    let mut output = ResultOutput::read(&app);
    output.read_no_files(&debate.brief);
    if is_over {
        // The records were written when the debate ended, unless the user did not want them.
        output.skip_records();
    }
    output.check(protocol, &debate.brief)?;
    if is_over && interjection.is_some() {
        let (id, store_option) = (&handle.id, app.store_option());
        return Err(CliError::input(format!("debate {id} is over, so no seat can read it")).with_help(
            format!("agon branch {id}{store_option} --at ROUND --say TEXT continues from an earlier round"),
        ));
    }
    if !is_over {
        check_models(&debate.brief, &**app.catalogue()?)?;
        fetch_model_files(&app, brief_models(&debate.brief))?;
    }
    let engine = app.engine(&handle.store)?;
    let run = DebateSession { protocol, id: handle.id.clone(), store: handle.store.clone(), output: &output };
    let status = run.run(async |watch: &DebateWatch, stop: &StopSignal| {
        Ok(engine.resume(&agon_protocols::find, &handle.id, interjection, watch, stop).await?)
    })?;
    if !is_over {
        app.deliver_and_index(&handle.store, Some(&handle.id))?;
    }
    Ok(status)
}
