//! `agon batch`: many debates at once, one JSON object a line in, one outcome a line out.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};

use super::{Group, Verb};
use crate::cli::args::{self, Said};
use crate::cli::batch::{self, Batch};
use crate::cli::failure::Failure;
use crate::cli::limits::whole;
use crate::cli::opening::Opening;
use crate::cli::post::Bound;
use crate::cli::{after, defaults, desk, output, place};

pub(super) const VERB: Verb = Verb { name: "batch", group: Group::Many, command, run };

const CONCURRENCY: &str = "8";
const CONCURRENCY_MAX: u32 = 100_000;

fn command(command: Command) -> Command {
    let file = Arg::new("file")
        .value_name("FILE.jsonl")
        .required(true)
        .value_parser(value_parser!(PathBuf))
        .help("One JSON object a line; `-` reads stdin");
    let names: Vec<&'static str> = agon_protocols::all().map(|protocol| protocol.name()).collect();
    let protocol = Arg::new("protocol")
        .long("protocol")
        .value_name("P")
        .default_value(names.first().copied().unwrap_or_default())
        .value_parser(PossibleValuesParser::new(names))
        .help("The protocol of every debate");
    let concurrency = Arg::new("concurrency")
        .long("concurrency")
        .value_name("N")
        .default_value(CONCURRENCY)
        .value_parser(whole(1, Some(CONCURRENCY_MAX)))
        .help("How many debates run at once");
    command
        .about("Hold many debates: one JSON object a line in, one outcome a line out, each as it ends")
        .after_help(
            "A line: {\"question\": \"...\"}, and if wanted \"id\", \"models\": [..], \"options\": {..}, \"seed\".\n\
             The whole file is checked before the first call.",
        )
        .arg(file)
        .arg(protocol)
        .arg(concurrency)
        .arg(args::path("out", "FILE.jsonl", "Write the outcomes here [default: stdout]"))
        .arg(args::switch("force", "Overwrite the file of --out"))
        .arg(args::switch("quiet", "Show no progress"))
        .args(args::seats())
        .args(args::roles(super::all_roles()))
        .arg(args::set())
        .args(args::limits())
        .args(args::files())
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let config = desk::config(args)?;
    let name = args.get_one::<String>("protocol").map(String::as_str).unwrap_or_default();
    let protocol = agon_protocols::find(name).ok_or_else(|| {
        Failure::input(format!("there is no protocol {name:?}: `agon protocols` lists them"))
    })?;
    let said = Said::read(args, super::all_roles(), &[]);
    if let Some(role) = said.roles.keys().find(|role| !protocol.roles().contains(&role.as_str())) {
        return Err(Failure::input(format!("{name} has no {role}: leave --{role} away")));
    }
    let seed = said.seed;
    let models = desk::models(&config);
    let opening = Opening::new(protocol, said, &config)?.or_else(|| {
        // Every line may name its own.
        Ok(defaults::models(&models, &place::env).unwrap_or_default())
    })?;
    let opening = opening.here(&config, &models)?;
    let bound = Bound::read(args, &config, protocol.name())?;
    let lines = batch::lines::read(args.get_one("file"), &opening, seed, &*models)?;
    let own = lines.iter().flat_map(|line| line.subject.models.iter().map(String::as_str));
    let all: Vec<&str> = match lines.iter().all(|line| !line.subject.models.is_empty()) {
        true => own.collect(),
        false => own.chain(opening.named()).collect(),
    };
    if !args.get_flag("quiet") {
        defaults::notices(all.iter().copied(), &*models).iter().for_each(|notice| output::note(notice));
    }
    defaults::fetch(all.iter().map(|name| config.behind(name)), args.get_flag("quiet"))?;
    let out = batch::out::Out::open(args.get_one("out"), args.get_flag("force"))?;
    let store = desk::store(args)?;
    let concurrency =
        args.get_one::<u32>("concurrency").map_or(1, |n| usize::try_from(*n).unwrap_or(usize::MAX));
    let progress = !args.get_flag("quiet") && output::watched();
    let opening = opening.known_by(Some(store.clone()));
    let engine = desk::engine(&config, models.clone(), store.clone());
    let again = args::same_store(args);
    let kept = store.clone();
    let status = Batch { engine, store, opening, bound, concurrency, progress, again }.run(lines, out)?;
    after::batch(&models, &kept, args.get_flag("quiet"))?;
    Ok(status)
}
