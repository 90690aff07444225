//! `agon show`: the report of a stored debate, or a part of it.

use agon_core::{Event, LogRecord, Protocol, QualityCheck};
use agon_host::clean_text;
use agon_report::{DebateExcerpt, LiveView, StoredDebate, terminal_report};
use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use super::{CliVerb, VerbGroup};
use crate::cli::app::{App, StoredLog, protocol_of};
use crate::cli::debate_reading::DebateReading;
use crate::cli::errors::CliError;
use crate::cli::limits::whole_number;
use crate::cli::{arguments, output};

pub(super) const VERB: CliVerb = CliVerb { name: "show", group: VerbGroup::StoredDebates, command, run };

/// How many lines of the log a check names.
const LOG_LINES_MAX: usize = 8;

fn command(command: Command) -> Command {
    let check = "Check over the log what makes a good debate of its kind, if the kind has such checks; exit status 1 if something is not met";
    let round = Arg::new("round")
        .long("round")
        .value_name("N")
        .value_parser(whole_number(0_u32, None))
        .help("Only what was said in this round");
    let seat = Arg::new("seat")
        .long("seat")
        .value_name("S")
        .help("Only what this seat said: its id, its label or its role");
    let parts = ["check", "flips", "dissent", "timeline"];
    let part = |name: &'static str, help: &'static str| {
        let others = parts.into_iter().filter(move |other| *other != name);
        arguments::switch(name, help).conflicts_with_all(others.chain(["round", "seat"]))
    };
    command
        .about("Print the report of a debate again, or a part of it")
        .arg(arguments::debate_id())
        .args([round, seat])
        .arg(part("flips", "Who changed position, when, and on what grounds"))
        .arg(part("dissent", "What the minority holds, and what became of every first position"))
        .arg(part("timeline", "The calls on one time axis: what took how long"))
        .arg(part("check", check))
        .arg(arguments::json())
        .arg(arguments::store())
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let app = App::new(args);
    let as_json = app.flag("json");
    let handle = app.stored_debate()?;
    let StoredLog { records, debate, .. } = handle.read()?;
    let mut reading = DebateReading::of(&debate)?;
    if app.flag("check") {
        return print_checks(&debate.brief.protocol, &reading.view.checks, &records, as_json);
    }
    if let Some(excerpt) = wanted_excerpt(args) {
        let stored = StoredDebate { source: reading.source(), records: &records };
        return match as_json {
            true => output::print_json(&excerpt.json(&stored)?),
            false => output::print(&excerpt.text(&stored, &output::stdout_style())?),
        }
        .map(|()| 0);
    }
    let is_running = debate.outcome.is_none() && handle.store.is_running(&handle.id)?;
    if as_json {
        if let Some(status) = reading.document.get_mut("status").filter(|_| is_running) {
            *status = json!("running");
        }
        output::print_json(&reading.document)?;
        return Ok(0);
    }
    if debate.outcome.is_none() {
        print_log_so_far(protocol_of(&debate.brief)?, &records);
    }
    if is_running {
        output::print("\nStill running.\n")?;
        return Ok(0);
    }
    let report = terminal_report(&reading.source(), &output::stdout_style(), &app.store_option());
    output::print(&report)?;
    Ok(0)
}

/// The part of the debate that is wanted, if only one is.
fn wanted_excerpt(args: &ArgMatches) -> Option<DebateExcerpt> {
    let (round, seat) = (args.get_one::<u32>("round").copied(), args.get_one::<String>("seat").cloned());
    match ["flips", "dissent", "timeline"].map(|name| args.get_flag(name)) {
        [true, ..] => Some(DebateExcerpt::Flips),
        [_, true, _] => Some(DebateExcerpt::Dissent),
        [.., true] => Some(DebateExcerpt::Timeline),
        _ => (round.is_some() || seat.is_some()).then_some(DebateExcerpt::Said { round, seat }),
    }
}

/// Prints what the live view showed. A debate that is not over has no verdict to print.
fn print_log_so_far(protocol: &'static dyn Protocol, records: &[LogRecord]) {
    let mut live = LiveView::plain(protocol, output::stdout_style(), Box::new(std::io::stdout()));
    records.iter().for_each(|record| live.record(record));
    live.finish();
}

/// Prints the checks and returns 1 if one is not met.
fn print_checks(
    protocol: &str,
    checks: &[QualityCheck],
    records: &[LogRecord],
    as_json: bool,
) -> Result<u8, CliError> {
    if checks.is_empty() {
        return Err(CliError::input(format!("{protocol} has no checks: omit --check")));
    }
    output::print_result(
        as_json,
        || checks.iter().map(|check| check_document(check, records)).collect::<Vec<_>>(),
        || checks.iter().map(|check| check_line(check, records)).collect(),
    )?;
    Ok(u8::from(checks.iter().any(|check| check.met == Some(false))))
}

fn check_document(check: &QualityCheck, records: &[LogRecord]) -> Value {
    json!({
        "check": check.sentence,
        "met": check.met,
        "note": check.note,
        "log_lines": log_lines(check, records),
    })
}

fn check_line(check: &QualityCheck, records: &[LogRecord]) -> String {
    const INDENT: usize = 10;
    let style = output::stdout_style();
    let met = match check.met {
        Some(true) => style.good("met     "),
        Some(false) => style.bad("not met "),
        None => style.dim("-       "),
    };
    let lines = log_lines(check, records);
    let mut named: Vec<String> = lines.iter().take(LOG_LINES_MAX).map(u64::to_string).collect();
    named.extend((lines.len() > LOG_LINES_MAX).then(|| "...".to_owned()));
    let proof = match named.as_slice() {
        [] => String::new(),
        [line] if lines.len() == 1 => format!(" (line {line} of the log)"),
        _ => format!(" (lines {} of the log)", named.join(", ")),
    };
    let note = if check.note.is_empty() { String::new() } else { format!(": {}", check.note) };
    let sentence = clean_text(&format!("{}{note}{proof}", check.sentence));
    format!("{met}  {}\n", output::hanging_indent(&sentence, INDENT))
}

/// The lines of the log with the answers that show it, counted from 1 as in an export.
fn log_lines(check: &QualityCheck, records: &[LogRecord]) -> Vec<u64> {
    let shows = |record: &&LogRecord| match &record.entry.event {
        Event::Replied { ask, .. } => check.shown_by.contains(ask),
        _ => false,
    };
    records.iter().filter(shows).map(|record| record.entry.seq + 1).collect()
}
