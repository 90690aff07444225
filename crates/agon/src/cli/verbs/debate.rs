//! The verb of a protocol: opens a debate and runs it to its end.

use agon_core::Protocol;
use clap::{ArgMatches, Command};

use crate::cli::args::{self, Said};
use crate::cli::failure::Failure;
use crate::cli::opening::{Opening, check_models, notices};
use crate::cli::post::{self, Bound};
use crate::cli::run::{self, Run};
use crate::cli::show::Show;
use crate::cli::{after, defaults, desk, dry_run, output, place, target};

/// The command of one protocol, from its own tables.
pub fn command(protocol: &'static dyn Protocol) -> Command {
    let dry_run = "Show seats, calls, tokens and price range; make no call, store nothing";
    let gate = args::gate().into_iter().filter(|_| protocol.is_gate());
    Command::new(protocol.name())
        .about(protocol.about())
        .args(target::args(protocol))
        .arg(args::switch("dry-run", dry_run))
        .args(args::seats())
        .args(args::roles(protocol.roles()))
        .args(args::options(protocol))
        .arg(args::set())
        .args(args::limits())
        .args(args::face())
        .arg(post::to())
        .args(gate)
        .args(args::files())
}

/// Runs a debate of this protocol.
pub fn run(protocol: &'static dyn Protocol, args: &ArgMatches) -> Result<u8, Failure> {
    let config = desk::config(args)?;
    let said = Said::read(args, protocol.roles(), protocol.options()).under(protocol, &place::env);
    let seed = said.seed;
    if protocol.is_gate() {
        config.check_judges(said.models.iter().map(String::as_str)).map_err(Failure::input)?;
    }
    let models = desk::models(&config);
    let opening =
        Opening::new(protocol, said, &config)?.or_else(|| defaults::models(&models, &place::env))?;
    let opening = opening.here(&config, &models)?.known_by(desk::already(args)?);
    let bound = Bound::read(args, &config, protocol.name())?;
    let brief = opening.brief(target::read(protocol, args)?)?;
    check_models(&brief, &*models)?;
    if args.get_flag("dry-run") {
        return dry_run::show(protocol, brief, seed, &*models, args.get_flag("json"));
    }
    let show = Show::read(args)?;
    show.check(protocol, &brief)?;
    let store = desk::store(args)?;
    if !args.get_flag("quiet") {
        notices(&brief, &*models).iter().for_each(|notice| output::note(&format!("note: {notice}")));
    }
    defaults::fetch(defaults::names(&brief).map(|name| config.behind(name)), args.get_flag("quiet"))?;
    let engine = desk::engine(&config, models.clone(), store.clone());
    let id = brief.id.clone();
    run::runtime()?.block_on(bound.bind(&store, &id))?;
    let run = Run { protocol, id: id.clone(), store: store.clone(), show: &show };
    let status = run.debate(async |watch, stop| engine.open(protocol, brief, watch, stop).await)?;
    after::all(&models, &store, &[id], args.get_flag("quiet"))?;
    Ok(status)
}
