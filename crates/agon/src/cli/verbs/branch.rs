//! `agon branch`: a new debate that takes another's first rounds over and goes on in its own way.

use agon_core::options::resolve;
use agon_core::{Artifact, Brief, Debate, Event, Protocol, Record, Request, Turn, play};
use clap::{Arg, ArgMatches, Command};
use serde_json::{Map, Value};

use super::resume::{said, say};
use super::{Group, Verb, id};
use crate::cli::args::{self, Said};
use crate::cli::desk::{self, Kept};
use crate::cli::failure::Failure;
use crate::cli::limits::{Wanted, whole};
use crate::cli::opening::{check_models, parts, split_timeout};
use crate::cli::post::{self, Bound};
use crate::cli::run::{self, Run};
use crate::cli::show::Show;
use crate::cli::{after, clock, defaults, id as ids, output};

pub(super) const VERB: Verb = Verb { name: "branch", group: Group::Kept, command, run };

const RELABELLED: &str = "the rounds that are taken over have their labels from the first debate's seed: \
                          leave --seed away, or branch --at 0";

fn command(command: Command) -> Command {
    let at = Arg::new("at")
        .long("at")
        .value_name("ROUND")
        .required(true)
        .allow_negative_numbers(true)
        .value_parser(whole(0_u32, None))
        .help("The last round to take over; 0 takes what came before the first");
    command
        .about("Take a debate's first rounds over into a new one, and go on in another way")
        .arg(id())
        .arg(at)
        .arg(say())
        .args(args::seats())
        .args(args::roles(super::all_roles()))
        .arg(args::set())
        .args(args::limits())
        .args(args::face())
        .arg(post::to())
        .arg(args::no_files())
        .args(args::files())
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let (config, say) = (desk::config(args)?, said(args)?);
    let kept = Kept::find(args)?;
    let failed = |why| Failure::Log { id: kept.id.clone(), why };
    let records = kept.records()?;
    let source = Debate::from_records(&records).map_err(failed)?;
    let protocol = super::protocol_of(&source.brief)?;
    let at_round = at_round(args, &source)?;
    let said = Said::read(args, super::all_roles(), &[]);
    if at_round > 0 && said.seed.is_some_and(|seed| seed != source.brief.seed) {
        return Err(Failure::input(RELABELLED));
    }
    let brief = brief(protocol, &source.brief, said)?;
    let models = desk::models(&config);
    check_models(&brief, &*models)?;
    let behind = || defaults::names(&brief).map(|name| config.behind(name));
    defaults::fetch(behind(), args.get_flag("quiet"))?;
    let bound = Bound::read(args, &config, protocol.name())?;
    let show = Show::read(args)?;
    show.check(protocol, &brief)?;
    let taken: Vec<Record> = play::branch(protocol, &records, brief.clone(), at_round).map_err(failed)?;
    if let Some(note) = left_behind(protocol, &source, &brief, &taken, at_round)?
        && !args.get_flag("quiet")
    {
        output::note(&format!("note: {note}"));
    }
    let id = brief.id;
    let engine = desk::engine(&config, models.clone(), kept.store.clone());
    run::runtime()?.block_on(bound.bind(&kept.store, &id))?;
    let run = Run { protocol, id: id.clone(), store: kept.store.clone(), show: &show };
    let status = run.debate(async |watch, stop| engine.start(protocol, taken, say, watch, stop).await)?;
    after::all(&models, &kept.store, &[id], args.get_flag("quiet"))?;
    Ok(status)
}

fn at_round(args: &ArgMatches, source: &Debate) -> Result<u32, Failure> {
    let at_round = args.get_one::<u32>("at").copied().unwrap_or_default();
    let last = source.turns.iter().map(|turn| turn.phase.round).max().unwrap_or_default();
    if at_round <= last {
        return Ok(at_round);
    }
    Err(Failure::input(format!(
        "debate {} has rounds 0 to {last}: --at {at_round} is none of them",
        source.brief.id
    )))
}

/// Says which rounds were taken over, if not all that were asked for; fails if none was, for that is a new debate.
fn left_behind(
    protocol: &dyn Protocol,
    source: &Debate,
    brief: &Brief,
    taken: &[Record],
    at_round: u32,
) -> Result<Option<String>, Failure> {
    let taken = taken.iter().filter(|record| matches!(record.entry.event, Event::Asked { .. })).count();
    let id = &source.brief.id;
    if taken == 0 {
        return Err(nothing_taken(source, brief));
    }
    let closing = |turn: &Turn| protocol.closing().contains(&turn.phase.name.as_str());
    let wanted = source.turns.iter().filter(|turn| turn.phase.round <= at_round && !closing(turn));
    let Some(first) = wanted.clone().nth(taken).map(|turn| &turn.phase) else {
        // What closes a debate may have rounds of its own, such as a vote.
        let last = wanted.clone().next_back().map_or(0, |turn| turn.phase.round);
        let mut anew = source.turns.iter().filter(|turn| turn.phase.round <= at_round && closing(turn));
        let beyond = anew.find(|turn| turn.phase.round > last);
        return Ok(beyond.map(|turn| {
            let name = &turn.phase.name;
            format!("of debate {id}, round {last} is the last that is taken over: the {name} closes it and is held anew")
        }));
    };
    let until = match (wanted.take(taken).last(), first.round) {
        (Some(last), round) if last.phase.round == round => {
            format!("round {round} up to {}", last.phase.name)
        }
        (_, 0 | 1) => "what came before round 1".to_owned(),
        (_, round) => format!("round {}", round - 1),
    };
    Ok(Some(format!(
        "of debate {id}, only {until} could be taken over, not all of round {at_round}: the rest is asked anew"
    )))
}

fn nothing_taken(source: &Debate, brief: &Brief) -> Failure {
    let id = &source.brief.id;
    let seats = |brief: &Brief| brief.seats.iter().map(|seat| seat.id.clone()).collect::<Vec<_>>().join(", ");
    let (theirs, ours) = (seats(&source.brief), seats(brief));
    if theirs == ours {
        return Failure::input(format!(
            "nothing of debate {id} can be taken over: its first phase is not over"
        ))
        .help(format!("agon resume {id} goes on with it"));
    }
    Failure::input(format!(
        "nothing of debate {id} can be taken over: its seats are {theirs}, and those of the branch {ours}"
    ))
    .help("name as many models as the first debate had, and leave away --set that changes who sits")
    .help("or open a new debate with these seats")
}

/// The source's brief with what was said in its place. The seed stays, and with it who is called A and who B.
fn brief(protocol: &dyn Protocol, source: &Brief, said: Said) -> Result<Brief, Failure> {
    let (timeout_ms, set) = split_timeout(said.options)?;
    // A file that is named anew takes the place of the one in the log; the others are not read again.
    let named = resolve(protocol.options(), set.iter().cloned())?;
    let anew = parts(protocol.options(), &named)?;
    let replaced = |file: &Artifact| anew.iter().any(|new| new.part == file.part);
    let files = source.files.iter().filter(|file| !replaced(file)).cloned().chain(anew.clone()).collect();
    let options = resolve(protocol.options(), raw(&source.options).chain(set))?;
    let is_role = |role: &str| protocol.roles().contains(&role);
    if let Some(role) = said.roles.keys().find(|role| !is_role(role)) {
        return Err(Failure::input(format!("{} has no {role}: leave --{role} away", protocol.name())));
    }
    // With other models named, the roles are dealt out anew; else everybody keeps their own.
    let mut roles = said.roles;
    if said.models.is_empty() {
        for seat in source.seats.iter().filter(|seat| is_role(&seat.role)) {
            roles.entry(seat.role.clone()).or_insert_with(|| seat.model.clone());
        }
    }
    let models = if said.models.is_empty() { protocol.named(source) } else { said.models };
    let (question, files) = (source.question.clone(), files);
    let seed = said.seed.unwrap_or(source.seed);
    let request = Request { question, files, models, roles, options, seed };
    let now_s = clock::now_s();
    Ok(Brief {
        id: ids::fresh(now_s)?,
        seats: protocol.seats(&request)?,
        options: request.options,
        files: request.files,
        seed,
        limits: said.limits.over(&Wanted { timeout_ms, ..Wanted::default() }.over(&source.limits)),
        written_by: env!("CARGO_PKG_VERSION").to_owned(),
        created_at: clock::rfc3339(now_s),
        parent: None,
        ..source.clone()
    })
}

/// Options as a person would write them.
fn raw(options: &Map<String, Value>) -> impl Iterator<Item = (String, String)> {
    options.iter().map(|(key, value)| match value {
        Value::String(text) => (key.clone(), text.clone()),
        other => (key.clone(), other.to_string()),
    })
}
