//! `agon demo`: plays the protocols' demos, which need no model.
//!
//! A demo is a debate like any other and is stored like one, so `agon show` and `agon export` find it. It uses no configuration, runs no
//! hook and writes no files, and because scripts speak in it, it leaves nothing in ratings, knowledge and memories.

use std::sync::Arc;
use std::time::Duration;

use agon_context::{Toolbox, ToolsConfig};
use agon_core::{Brief, document};
use agon_engine::{DebateWatch, Engine, EngineSettings, StopSignal};
use agon_store::DebateStore;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use super::{CliVerb, VerbGroup};
use crate::cli::app::{App, model_catalogue};
use crate::cli::arguments::{self, CliArguments};
use crate::cli::brief_builder::BriefBuilder;
use crate::cli::configuration::Configuration;
use crate::cli::debate_reading::outcome_document;
use crate::cli::debate_run::DebateSession;
use crate::cli::demo_debates::{DemoDebate, demo_debates};
use crate::cli::errors::{CliError, EXIT_INCOMPLETE, EXIT_INTERRUPTED};
use crate::cli::key_pause::{self, PauseEnd};
use crate::cli::model_directory::ModelDirectory;
use crate::cli::progress::TaskProgress;
use crate::cli::result_output::ResultOutput;
use crate::cli::signals::run_until_stopped;
use crate::cli::{output, targets};

pub(super) const VERB: CliVerb = CliVerb { name: "demo", group: VerbGroup::Learning, command, run };

/// The same debate every time.
const SEED: u64 = 1;
/// How long a person may read a report before the next demo begins.
const PAUSE: Duration = Duration::from_secs(15);

fn command(command: Command) -> Command {
    let name = Arg::new("name")
        .value_name("NAME")
        .num_args(0..)
        .value_parser(PossibleValuesParser::new(demo_debates().map(|demo| demo.name())))
        .help("The kinds of debate to show [default: all]");
    command
        .about("Play scripted debates, one of each kind; no model is needed")
        .after_help(
            "On a terminal there is a pause before the next demo, and a key skips it. The debates are stored, so `agon list` shows \
             them, but ratings and knowledge are left alone.\n\
             Exit status: 0 if every demo came to its end, whatever its verdict.",
        )
        .arg(name)
        .arg(switch_json())
        .arg(arguments::switch("quiet", "Print nothing but the reports"))
        .arg(arguments::store())
}

fn switch_json() -> Arg {
    arguments::switch("json", "Print one JSON document on stdout and nothing else there: {\"debates\": [..]}")
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let app = App::new(args);
    let named: Vec<&String> = args.get_many::<String>("name").into_iter().flatten().collect();
    let is_wanted = |demo: &DemoDebate| named.is_empty() || named.iter().any(|name| *name == demo.name());
    let demos: Vec<DemoDebate> = demo_debates().filter(is_wanted).collect();
    let player = DemoPlayer::new(app.store()?, &app);
    if app.flag("json") {
        let outcomes = demos.iter().map(|demo| player.outcome(demo)).collect::<Result<Vec<_>, _>>()?;
        let status = outcomes.iter().map(|(_, status)| *status).max().unwrap_or_default();
        let outcomes: Vec<Value> = outcomes.into_iter().map(|(outcome, _)| outcome).collect();
        output::print_json(&json!({"debates": outcomes}))?;
        return Ok(status);
    }
    let mut status = 0;
    for (place, demo) in (1..).zip(&demos) {
        if place > 1 {
            match player.pause(demo) {
                PauseEnd::GoOn => {}
                PauseEnd::Quit => break,
                PauseEnd::Interrupted => return Ok(EXIT_INTERRUPTED),
            }
        }
        player.announce(demo, place, demos.len());
        status = status.max(player.play(demo)?);
    }
    player.say_farewell();
    Ok(status)
}

/// What the demos are played with.
struct DemoPlayer {
    store: DebateStore,
    engine: Engine,
    output: ResultOutput,
    is_quiet: bool,
}

impl DemoPlayer {
    fn new(store: DebateStore, app: &App<'_>) -> Self {
        let catalogue = model_catalogue(&Configuration::default());
        let tools = Toolbox::new(ToolsConfig::default());
        let directory = ModelDirectory::new(catalogue, &store, Default::default(), tools);
        let engine = Engine::new(Arc::new(directory), Arc::new(store.clone()), EngineSettings::default());
        Self { store, engine, output: ResultOutput::of_demo(app), is_quiet: app.flag("quiet") }
    }

    fn brief(&self, demo: &DemoDebate) -> Result<Brief, CliError> {
        let info = demo.protocol.info();
        let isolation = info.isolation.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let arguments = CliArguments {
            models: vec![demo.model.clone()],
            seed: Some(SEED),
            options: demo.options.iter().cloned().chain(isolation).collect(),
            ..CliArguments::default()
        };
        let builder = BriefBuilder::new(demo.protocol, arguments, &Configuration::default())?;
        let question = demo.question.map(str::to_owned);
        let mut brief = builder.brief(targets::subject_of_request(info, question, demo.files.clone())?)?;
        self.output.write_no_files(info, &mut brief);
        Ok(brief)
    }

    /// Plays a demo and shows it. Returns 0 if it came to its end.
    fn play(&self, demo: &DemoDebate) -> Result<u8, CliError> {
        let brief = self.brief(demo)?;
        let (protocol, id, store) = (demo.protocol, brief.id.clone(), self.store.clone());
        let session = DebateSession { protocol, id, store, output: &self.output };
        let status =
            session.run(async |watch, stop| Ok(self.engine.open(protocol, brief, watch, stop).await?))?;
        Ok(end_status(status))
    }

    /// Plays a demo without showing it.
    fn outcome(&self, demo: &DemoDebate) -> Result<(Value, u8), CliError> {
        let _progress = TaskProgress::start(&format!("playing {}", demo.name()), self.is_quiet);
        let brief = self.brief(demo)?;
        let id = brief.id.clone();
        let (watch, stop) = (DebateWatch::default(), StopSignal::new());
        let ended = run_until_stopped(self.engine.open(demo.protocol, brief, &watch, &stop))?;
        let store = &self.output.store_option;
        let interrupted = || CliError::Stopped(format!("interrupted; agon resume {id}{store} continues"));
        let debate = ended.ok_or_else(interrupted)??;
        Ok((outcome_document(&debate)?, end_status(document::exit_status(&debate))))
    }

    /// Says which demo follows, and how to have the same debate without `agon demo`.
    fn announce(&self, demo: &DemoDebate, place: usize, count: usize) {
        if self.is_quiet {
            return;
        }
        let style = output::stderr_style();
        let info = demo.protocol.info();
        let gap = if place > 1 { "\n" } else { "" };
        output::note(&format!("{gap}{}", style.heading(&format!("Demo {place} of {count}: {}", info.name))));
        output::note(style.paragraph(info.about).trim_end());
        if let Some(question) = demo.question {
            let question = arguments::shell_quoted(question);
            output::note(&style.dim(&format!("agon {} {question} --models {}", info.name, demo.model)));
        }
        output::note("");
    }

    fn pause(&self, next: &DemoDebate) -> PauseEnd {
        if self.is_quiet {
            return PauseEnd::GoOn;
        }
        let (name, seconds) = (next.name(), PAUSE.as_secs());
        key_pause::wait_for_key(PAUSE, || {
            output::note(&format!("\nNext: {name}. Press a key, or wait {seconds} s; q ends the demos."));
        })
    }

    fn say_farewell(&self) {
        if !self.is_quiet {
            let store = &self.output.store_option;
            output::note(&format!(
                "\nThe demos are stored: agon list{store} lists them, agon show ID{store} shows one again."
            ));
        }
    }
}

/// A verdict that says no is as good a demo as any.
fn end_status(status: u8) -> u8 {
    if status < EXIT_INCOMPLETE { 0 } else { status }
}
