//! The verb of a protocol: opens a debate and runs it to its end.

use std::path::PathBuf;

use agon_core::Protocol;
use clap::{Arg, ArgMatches, Command, value_parser};

use crate::cli::args::{self, Said};
use crate::cli::failure::Failure;
use crate::cli::opening::{Opening, Subject, check_models, notices};
use crate::cli::run::Run;
use crate::cli::show::Show;
use crate::cli::{defaults, desk, dry_run, input, output, place, threads};

/// The command of one protocol, from its own tables.
pub fn command(protocol: &'static dyn Protocol) -> Command {
    let dry_run = "Show seats, calls, tokens and price range; make no call, store nothing";
    Command::new(protocol.name())
        .about(protocol.about())
        .arg(subject(protocol))
        .arg(args::switch("dry-run", dry_run))
        .args(args::seats())
        .args(args::roles(protocol.roles()))
        .args(args::options(protocol))
        .arg(args::set())
        .args(args::limits())
        .args(args::face())
        .args(args::files())
}

/// Runs a debate of this protocol.
pub fn run(protocol: &'static dyn Protocol, args: &ArgMatches) -> Result<u8, Failure> {
    let config = desk::config(args)?;
    let said = Said::read(args, protocol.roles(), protocol.options());
    let seed = said.seed;
    let models = desk::models(&config);
    let opening =
        Opening::new(protocol, said, &config)?.or_else(|| defaults::models(&models, &place::env))?;
    threads::settle(opening.named(), &config)?;
    let brief = opening.brief(read_subject(protocol, args)?)?;
    check_models(&brief, &*models)?;
    if args.get_flag("dry-run") {
        return dry_run::show(protocol, brief, seed, &*models, args.get_flag("json"));
    }
    let show = Show::read(args)?;
    show.check(&brief.id)?;
    let store = desk::store(args)?;
    if !args.get_flag("quiet") {
        notices(&brief, &*models).iter().for_each(|notice| output::note(&format!("note: {notice}")));
    }
    defaults::fetch(defaults::names(&brief), args.get_flag("quiet"))?;
    let engine = desk::engine(&config, models, store.clone());
    let run = Run { protocol, id: brief.id.clone(), store, show: &show };
    run.debate(async |watch, stop| engine.open(protocol, brief, watch, stop).await)
}

/// Whether the first words are files to read rather than a question.
pub fn takes_files(protocol: &dyn Protocol) -> bool {
    protocol.subject().starts_with("FILE")
}

fn subject(protocol: &'static dyn Protocol) -> Arg {
    let arg = Arg::new("subject").value_name(protocol.subject().trim_end_matches('.'));
    if takes_files(protocol) {
        return arg
            .num_args(1..)
            .required(true)
            .value_parser(value_parser!(PathBuf))
            .help("The files to debate about");
    }
    let word = protocol.subject().to_lowercase();
    arg.help(format!("The {word}, in quotes; `-`, or nothing at all, reads it from stdin"))
}

fn read_subject(protocol: &dyn Protocol, args: &ArgMatches) -> Result<Subject, Failure> {
    if takes_files(protocol) {
        let paths = args.get_many::<PathBuf>("subject").into_iter().flatten();
        let files = input::artifacts(paths.map(PathBuf::as_path))?;
        return Ok(Subject { files, ..Subject::default() });
    }
    let given = args.get_one::<String>("subject").map(String::as_str);
    Ok(Subject { question: input::question(given, protocol)?, ..Subject::default() })
}
