//! `agon deliver`: brings results that have not arrived yet.

use std::time::Duration;

use agon_publish::deliveries::Report;
use agon_store::{Delivery, DeliveryState, Sqlite};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};

use super::{Group, Verb};
use crate::cli::failure::Failure;
use crate::cli::limits::{seconds, whole};
use crate::cli::run::runtime;
use crate::cli::{args, clock, desk, output, post};

pub(super) const VERB: Verb = Verb { name: "deliver", group: Group::Around, command, run };

const COULD_NOT_COMPLETE: u8 = 3;

fn command(command: Command) -> Command {
    let retry = Arg::new("retry")
        .long("retry")
        .value_name("N")
        .action(ArgAction::Append)
        .num_args(0..=1)
        .default_missing_value("0")
        .value_parser(whole(0_u64, None))
        .help("Try this one now that waits or was given up; without a number, all that were given up");
    let patience = Arg::new("patience")
        .long("patience")
        .value_name("SECONDS")
        .value_parser(seconds)
        .help("How long to go on trying [default: 15]");
    command
        .about("Bring results that have not arrived yet where they belong")
        .after_help(
            "Exit status: 0, or 3 if something is still to be brought or was given up; with --list 0.",
        )
        .arg(retry)
        .arg(patience)
        .arg(args::switch("list", "Only show what there is to bring, what has arrived and what was given up"))
        .arg(args::json())
        .arg(args::db())
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let Some(store) = desk::kept(args)? else {
        return shown(args, &Report::default(), &[]);
    };
    let runtime = runtime()?;
    if args.get_flag("list") {
        return shown(args, &Report::default(), &store.deliveries(None)?);
    }
    for number in again(args, &store)? {
        runtime.block_on(store.delivery_retry(number))?;
    }
    let patience = args.get_one::<u64>("patience").map_or(post::PATIENCE, |ms| Duration::from_millis(*ms));
    let report = runtime.block_on(post::deliver(&store, None, patience));
    let all = store.deliveries(None)?;
    shown(args, &report, &all)?;
    let open = |delivery: &Delivery| {
        matches!(delivery.state, DeliveryState::Due | DeliveryState::Sending | DeliveryState::Dead)
    };
    Ok(if all.iter().any(open) { COULD_NOT_COMPLETE } else { 0 })
}

/// The deliveries that are to be tried again.
fn again(args: &ArgMatches, store: &Sqlite) -> Result<Vec<i64>, Failure> {
    let named: Vec<u64> = args.get_many::<u64>("retry").into_iter().flatten().copied().collect();
    let ids = |state| -> Result<Vec<i64>, Failure> {
        Ok(store.deliveries(Some(state))?.iter().map(|delivery| delivery.id).collect())
    };
    let (dead, due) = (ids(DeliveryState::Dead)?, ids(DeliveryState::Due)?);
    let mut numbers = Vec::new();
    for number in named {
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        match number {
            0 => numbers.extend(&dead),
            _ if dead.contains(&number) || due.contains(&number) => numbers.push(number),
            _ => {
                return Err(Failure::input(format!(
                    "no delivery {number} is due or was given up: `agon deliver --list` shows them"
                )));
            }
        }
    }
    numbers.dedup();
    Ok(numbers)
}

fn shown(args: &ArgMatches, report: &Report, all: &[Delivery]) -> Result<u8, Failure> {
    if args.get_flag("json") {
        output::print_json(&json!(all.iter().map(entry).collect::<Vec<_>>()))?;
    } else if args.get_flag("list") {
        match all.is_empty() {
            true => output::note("nothing was ever to be brought: say --to WHERE when you open a debate"),
            false => output::print(&table(all))?,
        }
    } else {
        post::tell(report, false);
        if report == &Report::default() {
            let later = all.iter().filter(|delivery| delivery.state == DeliveryState::Due).count();
            output::note(&match later {
                0 => "nothing is due".to_owned(),
                _ => format!("nothing is due yet, {later} later: agon deliver --retry N tries one now"),
            });
        }
    }
    Ok(0)
}

/// A delivery without what is secret in its address.
pub(super) fn entry(delivery: &Delivery) -> Value {
    json!({
        "delivery": delivery.id,
        "debate": delivery.debate,
        "to": post::place(delivery),
        "state": delivery.state,
        "attempts": delivery.attempts,
        "last_error": delivery.last_error,
        "created_at": moment(delivery.created_s),
        "done_at": delivery.done_s.map(moment),
    })
}

fn moment(s: i64) -> String {
    clock::rfc3339(u64::try_from(s).unwrap_or_default())
}

pub(super) fn table(all: &[Delivery]) -> String {
    let head = ["number", "debate", "to", "state", "tried", "last error"].map(str::to_owned).to_vec();
    let row = |delivery: &Delivery| {
        let state = json!(delivery.state).as_str().unwrap_or_default().to_owned();
        let error = delivery.last_error.clone().unwrap_or_default();
        vec![
            delivery.id.to_string(),
            delivery.debate.clone(),
            post::place(delivery),
            state,
            delivery.attempts.to_string(),
            error,
        ]
    };
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(all.iter().map(row)).collect();
    agon_report::table("", &rows, &output::stdout_style())
}
