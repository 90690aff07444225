//! `agon branch`: a new debate that takes over the first rounds of another and then goes its own way.

use agon_core::options::resolve;
use agon_core::{Brief, BriefFile, Debate, Event, LogRecord, PhaseTurn, Protocol, Request, play};
use clap::{Arg, ArgMatches, Command};
use serde_json::{Map, Value};

use super::resume::{interjection, say_option};
use super::{CliVerb, VerbGroup};
use crate::cli::app::{App, DebateHandle, StoredLog, protocol_of};
use crate::cli::arguments::{self, CliArguments};
use crate::cli::brief_builder::{option_files, split_timeout};
use crate::cli::debate_run::DebateSession;
use crate::cli::deliveries::{DeliveryBindings, to_option};
use crate::cli::errors::CliError;
use crate::cli::limits::{LimitOverrides, whole_number};
use crate::cli::result_output::ResultOutput;
use crate::cli::runtime::block_on;
use crate::cli::seat_models::{brief_models, check_models, fetch_model_files};
use crate::cli::{clock, debate_ids, output};

pub(super) const VERB: CliVerb = CliVerb { name: "branch", group: VerbGroup::StoredDebates, command, run };

fn command(command: Command) -> Command {
    let at = Arg::new("at")
        .long("at")
        .value_name("ROUND")
        .required(true)
        .allow_negative_numbers(true)
        .value_parser(whole_number(0_u32, None))
        .help("The last round to take over; 0 takes over only what came before round 1");
    command
        .about("Start a new debate from the first rounds of another, and continue differently")
        .arg(arguments::debate_id())
        .arg(at)
        .arg(say_option())
        .args(arguments::seats())
        .args(arguments::role_models(arguments::all_roles().iter().copied()))
        .arg(arguments::set_option())
        .args(arguments::limits())
        .args(arguments::output_options())
        .arg(to_option())
        .arg(arguments::no_files())
        .args(arguments::config_and_store())
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let app = App::new(args);
    let (configuration, interjection) = (app.configuration()?, interjection(args)?);
    let handle = app.stored_debate()?;
    let StoredLog { records, debate: source, .. } = handle.read()?;
    let protocol = protocol_of(&source.brief)?;
    let at_round = at_round(args, &source)?;
    let arguments = CliArguments::of_any_protocol(args);
    if at_round > 0 && arguments.seed.is_some_and(|seed| seed != source.brief.seed) {
        return Err(CliError::input(
            "the rounds that are taken over have labels from the first debate's seed: omit --seed, or branch --at 0",
        ));
    }
    let mut brief = branch_brief(protocol, &source.brief, arguments)?;
    check_models(&brief, &**app.catalogue()?)?;
    fetch_model_files(&app, brief_models(&brief))?;
    let bindings = DeliveryBindings::read(args, configuration, protocol.info().name)?;
    let mut output = ResultOutput::read(&app);
    output.check(protocol, &brief)?;
    output.read_no_files(&brief);
    output.write_no_files(protocol.info(), &mut brief);
    let taken = play::branch(protocol, &records, brief.clone(), at_round)
        .map_err(|reason| handle.log_error(reason))?;
    if let Some(note) = not_taken_over(protocol, &source, &brief, &taken, at_round)?
        && !app.flag("quiet")
    {
        output::note(&format!("note: {note}"));
    }
    let (id, store) = (brief.id, handle.store);
    let engine = app.engine(&store)?;
    block_on(bindings.bind(&store, &id))??;
    let run = DebateSession { protocol, id: id.clone(), store: store.clone(), output: &output };
    let status =
        run.run(async |watch, stop| Ok(engine.start(protocol, taken, interjection, watch, stop).await?))?;
    app.deliver_and_index(&store, Some(&id))?;
    Ok(status)
}

/// A branch of a debate with the same seats and options: its brief, and the records that it takes over.
pub fn branch_of(handle: &DebateHandle, at_round: u32) -> Result<(Brief, Vec<LogRecord>), CliError> {
    let StoredLog { records, debate: source, .. } = handle.read()?;
    let protocol = protocol_of(&source.brief)?;
    check_round(at_round, &source)?;
    let brief = branch_brief(protocol, &source.brief, CliArguments::default())?;
    let taken = play::branch(protocol, &records, brief.clone(), at_round)
        .map_err(|reason| handle.log_error(reason))?;
    not_taken_over(protocol, &source, &brief, &taken, at_round)?;
    Ok((brief, taken))
}

fn at_round(args: &ArgMatches, source: &Debate) -> Result<u32, CliError> {
    check_round(args.get_one::<u32>("at").copied().unwrap_or_default(), source)
}

fn check_round(at_round: u32, source: &Debate) -> Result<u32, CliError> {
    let last = source.turns.iter().map(|turn| turn.phase.round).max().unwrap_or_default();
    if at_round <= last {
        return Ok(at_round);
    }
    Err(CliError::input(format!(
        "debate {} has rounds 0 to {last}, and {at_round} is not one of them",
        source.brief.id
    )))
}

/// A note on what was not taken over although it was asked for. It is an error if nothing was taken over, because that
/// would be a new debate.
fn not_taken_over(
    protocol: &dyn Protocol,
    source: &Debate,
    brief: &Brief,
    taken: &[LogRecord],
    at_round: u32,
) -> Result<Option<String>, CliError> {
    let taken = taken.iter().filter(|record| matches!(record.entry.event, Event::Asked { .. })).count();
    if taken == 0 {
        return Err(nothing_taken_over(source, brief));
    }
    let id = &source.brief.id;
    let is_closing = |turn: &PhaseTurn| protocol.info().is_closing(&turn.phase.name);
    let wanted = source.turns.iter().filter(|turn| turn.phase.round <= at_round && !is_closing(turn));
    let Some(first) = wanted.clone().nth(taken).map(|turn| &turn.phase) else {
        // Closing phases, such as a vote, may have rounds of their own.
        let last = wanted.clone().next_back().map_or(0, |turn| turn.phase.round);
        let mut closing = source.turns.iter().filter(|turn| turn.phase.round <= at_round && is_closing(turn));
        return Ok(closing.find(|turn| turn.phase.round > last).map(|turn| {
            let name = &turn.phase.name;
            format!(
                "round {last} is the last of debate {id} that is taken over: the {name} closes the debate and is run again"
            )
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
        "of debate {id}, only {until} could be taken over, not all of round {at_round}: the rest is asked again"
    )))
}

fn nothing_taken_over(source: &Debate, brief: &Brief) -> CliError {
    let id = &source.brief.id;
    let seats = |brief: &Brief| brief.seats.iter().map(|seat| seat.id.clone()).collect::<Vec<_>>().join(", ");
    let (theirs, ours) = (seats(&source.brief), seats(brief));
    if theirs == ours {
        let sentence = format!("nothing of debate {id} can be taken over: its first phase is not over");
        return CliError::input(sentence).with_help(format!("agon resume {id} continues it"));
    }
    CliError::input(format!(
        "nothing of debate {id} can be taken over: its seats are {theirs}, and those of the branch are {ours}"
    ))
    .with_help("name as many models as the first debate had, and omit --set options that change the seats")
    .with_help("or open a new debate with these seats")
}

/// The source's brief with the arguments in place of its own values. The seed stays, and with it who is A and who is B.
fn branch_brief(protocol: &dyn Protocol, source: &Brief, arguments: CliArguments) -> Result<Brief, CliError> {
    let info = protocol.info();
    if let Some(role) = arguments.role_without_seat(info) {
        return Err(CliError::input(format!("{} has no {role}: omit --{role}", info.name)));
    }
    let (timeout_ms, set) = split_timeout(arguments.options)?;
    // A file that is named again replaces the one in the log. The others are not read again.
    let new_files = option_files(info.options, &resolve(info.options, set.iter().cloned())?)?;
    let is_replaced = |file: &BriefFile| new_files.iter().any(|new| new.part == file.part);
    let kept_files = source.files.iter().filter(|file| !is_replaced(file)).cloned();
    let files = kept_files.chain(new_files.iter().cloned()).collect();
    let options = resolve(info.options, raw_options(&source.options).chain(set))?;
    // If other models are named, the roles are assigned again. Otherwise every role keeps its model.
    let mut roles = arguments.roles;
    if arguments.models.is_empty() {
        for seat in &source.seats {
            if info.named_roles().any(|role| role == seat.role) {
                roles.entry(seat.role.clone()).or_insert_with(|| seat.model.clone());
            }
        }
    }
    let models = match arguments.models.is_empty() {
        true => info.listed_models(source),
        false => arguments.models,
    };
    let seed = arguments.seed.unwrap_or(source.seed);
    let request = Request { question: source.question.clone(), files, models, roles, options, seed };
    let limits = LimitOverrides::timeout(timeout_ms).apply_to(&source.limits);
    let now_s = clock::unix_seconds();
    Ok(Brief {
        id: debate_ids::new_debate_id(now_s)?,
        seats: protocol.seats(&request)?,
        options: request.options,
        files: request.files,
        seed,
        limits: arguments.limits.apply_to(&limits),
        written_by: env!("CARGO_PKG_VERSION").to_owned(),
        created_at: clock::rfc3339(now_s),
        parent: None,
        ..source.clone()
    })
}

/// Options as a user would write them.
fn raw_options(options: &Map<String, Value>) -> impl Iterator<Item = (String, String)> {
    options.iter().map(|(key, value)| match value {
        Value::String(text) => (key.clone(), text.clone()),
        other => (key.clone(), other.to_string()),
    })
}
