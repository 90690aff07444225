//! `agon resume`: goes on with a debate that was interrupted.

use agon_engine::{Stop, Watch};
use clap::{Arg, ArgMatches, Command};

use super::{Group, Verb, id};
use crate::cli::desk::{self, Kept};
use crate::cli::failure::Failure;
use crate::cli::opening::check_models;
use crate::cli::run::Run;
use crate::cli::show::Show;
use crate::cli::{after, args, defaults, input};

pub(super) const VERB: Verb = Verb { name: "resume", group: Group::Kept, command, run };

fn command(command: Command) -> Command {
    command
        .about("Go on with an interrupted debate; what was answered is not asked again")
        .arg(id())
        .arg(say())
        .args(args::face())
        .arg(args::no_files())
        .args(args::files())
}

/// `--say`.
pub(super) fn say() -> Arg {
    Arg::new("say").long("say").value_name("TEXT").help("Say this to the whole table before it goes on")
}

/// What `--say` says.
pub(super) fn said(args: &ArgMatches) -> Result<Option<String>, Failure> {
    args.get_one::<String>("say").map(|text| input::check(text, "text of --say")).transpose()
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let (config, say) = (desk::config(args)?, said(args)?);
    let kept = Kept::find(args)?;
    let debate = kept.debate()?;
    let protocol = super::protocol_of(&debate.brief)?;
    let models = desk::models(&config);
    let mut show = Show::read(args)?;
    if debate.outcome.is_some() {
        // What it wrote when it ended is there, or was not wanted.
        show.write_no_files();
    }
    show.check(protocol, &debate.brief)?;
    if debate.outcome.is_some() {
        if say.is_some() {
            return Err(Failure::input(format!("debate {} is over: nobody is left to hear it", kept.id))
                .help(format!(
                    "agon branch {}{} --at ROUND --say TEXT goes on from an earlier round",
                    kept.id,
                    args::same_store(args)
                )));
        }
    } else {
        check_models(&debate.brief, &*models)?;
        let behind = || defaults::names(&debate.brief).map(|name| config.behind(name));
        defaults::fetch(behind(), args.get_flag("quiet"))?;
    }
    let was_over = debate.outcome.is_some();
    let engine = desk::engine(&config, models.clone(), kept.store.clone());
    let run = Run { protocol, id: kept.id.clone(), store: kept.store.clone(), show: &show };
    let resumed = async |watch: &Watch, stop: &Stop| {
        engine.resume(&agon_protocols::find, &kept.id, say, watch, stop).await
    };
    let status = run.debate(resumed)?;
    if !was_over {
        after::all(&models, &kept.store, std::slice::from_ref(&kept.id), args.get_flag("quiet"))?;
    }
    Ok(status)
}
