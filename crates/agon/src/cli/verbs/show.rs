//! `agon show`: a kept debate's report.

use agon_core::{Debate, Protocol, Record};
use agon_report::{Live, View};
use clap::{Arg, ArgMatches, Command};
use serde_json::json;

use super::{Group, Verb, id};
use crate::cli::desk::Kept;
use crate::cli::failure::Failure;
use crate::cli::limits::whole;
use crate::cli::show::{outcome, report};
use crate::cli::{args, checks, output};

pub(super) const VERB: Verb = Verb { name: "show", group: Group::Kept, command, run };

fn command(command: Command) -> Command {
    let check =
        "Check what makes a good debate of its kind, over the log; exit status 1 if something is not met";
    let round = Arg::new("round")
        .long("round")
        .value_name("N")
        .value_parser(whole(0_u32, None))
        .help("Only what was said in this round");
    let seat = Arg::new("seat")
        .long("seat")
        .value_name("S")
        .help("Only what this seat said: its id, its label or its role");
    let parts = ["check", "flips", "dissent", "timeline"];
    let part = |name: &'static str, help: &'static str| {
        let others = parts.into_iter().filter(move |other| *other != name);
        args::switch(name, help).conflicts_with_all(others.chain(["round", "seat"]))
    };
    command
        .about("Print a debate's report again, or a part of it")
        .arg(id())
        .args([round, seat])
        .arg(part("flips", "Who changed position, when, and on what"))
        .arg(part("dissent", "What the minority holds, and what became of every first position"))
        .arg(part("timeline", "The calls on one axis of time: where it went"))
        .arg(part("check", check))
        .arg(args::json())
        .arg(args::db())
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let kept = Kept::find(args)?;
    let records = kept.records()?;
    let debate = Debate::from_records(&records).map_err(|why| Failure::Log { id: kept.id.clone(), why })?;
    if args.get_flag("check") {
        return checks::print(super::protocol_of(&debate.brief)?, &debate, &records, args.get_flag("json"));
    }
    let mut outcome = outcome(&debate);
    if let Some(view) = view(args) {
        let kept = agon_report::Kept { document: &outcome, debate: &debate, records: &records };
        return part(&view, &kept, args.get_flag("json"));
    }
    if debate.outcome.is_none()
        && is_running(&kept)?
        && let Some(status) = outcome.get_mut("status")
    {
        *status = json!("running");
    }
    if args.get_flag("json") {
        output::print_json(&outcome)?;
        return Ok(0);
    }
    if debate.outcome.is_none() {
        so_far(super::protocol_of(&debate.brief)?, &records);
    }
    output::print(&report(&outcome, &args::same_store(args)))?;
    Ok(0)
}

/// The part that is wanted, if only one is.
fn view(args: &ArgMatches) -> Option<View> {
    let (round, seat) = (args.get_one::<u32>("round").copied(), args.get_one::<String>("seat").cloned());
    match ["flips", "dissent", "timeline"].map(|name| args.get_flag(name)) {
        [true, ..] => Some(View::Flips),
        [_, true, _] => Some(View::Dissent),
        [.., true] => Some(View::Timeline),
        _ => (round.is_some() || seat.is_some()).then_some(View::Said { round, seat }),
    }
}

fn part(view: &View, kept: &agon_report::Kept<'_>, as_json: bool) -> Result<u8, Failure> {
    let wrong = |why: agon_report::NoView| Failure::input(why.to_string());
    match as_json {
        true => output::print_json(&view.json(kept).map_err(wrong)?)?,
        false => output::print(&view.text(kept, &output::stdout_style()).map_err(wrong)?)?,
    }
    Ok(0)
}

/// What the live view showed until the debate broke off; there is no verdict to show in its place.
fn so_far(protocol: &'static dyn Protocol, records: &[Record]) {
    let mut live = Live::plain(protocol, output::stdout_style(), Box::new(std::io::stdout()));
    records.iter().for_each(|record| live.record(record));
    live.finish();
}

fn is_running(kept: &Kept) -> Result<bool, Failure> {
    let listed = kept.store.list(None)?;
    Ok(listed.iter().any(|debate| debate.id == kept.id && debate.status == "running"))
}
