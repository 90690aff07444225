//! `agon deliver`: sends results that have not arrived yet.

use std::time::Duration;

use agon_publish::deliveries::DeliveryReport;
use agon_store::{DebateStore, DeliveryState, StoredDelivery};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};

use super::{CliVerb, VerbGroup};
use crate::cli::app::App;
use crate::cli::errors::{CliError, EXIT_INCOMPLETE};
use crate::cli::limits::{parse_seconds, whole_number};
use crate::cli::progress::TaskProgress;
use crate::cli::runtime::block_on;
use crate::cli::{arguments, clock, deliveries, output};

pub(super) const VERB: CliVerb = CliVerb { name: "deliver", group: VerbGroup::Setup, command, run };

fn command(command: Command) -> Command {
    let retry = Arg::new("retry")
        .long("retry")
        .value_name("N")
        .action(ArgAction::Append)
        .num_args(0..=1)
        .default_missing_value("0")
        .value_parser(whole_number(0_u64, None))
        .help("Try this delivery now, even if it was given up; without a number, all that were given up");
    let patience = Arg::new("patience")
        .long("patience")
        .value_name("SECONDS")
        .value_parser(parse_seconds)
        .help("How long to keep trying [default: 10]");
    command
        .about("Send results that have not arrived yet")
        .after_help("Exit status: 0, or 3 if a delivery is still due or was given up; with --list always 0.")
        .arg(retry)
        .arg(patience)
        .arg(arguments::switch("list", "Only list the deliveries: due, done and given up"))
        .arg(arguments::json())
        .arg(arguments::store())
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let app = App::new(args);
    let Some(store) = app.store_to_read()? else {
        return print_deliveries(&app, &DeliveryReport::default(), &[]);
    };
    if app.flag("list") {
        return print_deliveries(&app, &DeliveryReport::default(), &store.deliveries(None)?);
    }
    for number in deliveries_to_retry(args, &store)? {
        block_on(store.delivery_retry(number))??;
    }
    let patience =
        args.get_one::<u64>("patience").map_or(deliveries::PATIENCE, |ms| Duration::from_millis(*ms));
    let progress = TaskProgress::start("delivering results", false);
    let report = block_on(deliveries::deliver(&store, None, patience))?;
    drop(progress);
    let all = store.deliveries(None)?;
    print_deliveries(&app, &report, &all)?;
    let is_open = |delivery: &StoredDelivery| {
        matches!(delivery.state, DeliveryState::Due | DeliveryState::Sending | DeliveryState::Dead)
    };
    Ok(if all.iter().any(is_open) { EXIT_INCOMPLETE } else { 0 })
}

fn deliveries_to_retry(args: &ArgMatches, store: &DebateStore) -> Result<Vec<i64>, CliError> {
    let ids = |state| -> Result<Vec<i64>, CliError> {
        Ok(store.deliveries(Some(state))?.iter().map(|delivery| delivery.id).collect())
    };
    let (dead, due) = (ids(DeliveryState::Dead)?, ids(DeliveryState::Due)?);
    let mut numbers = Vec::new();
    for number in args.get_many::<u64>("retry").into_iter().flatten() {
        match i64::try_from(*number).unwrap_or(i64::MAX) {
            0 => numbers.extend(&dead),
            number if dead.contains(&number) || due.contains(&number) => numbers.push(number),
            number => {
                return Err(CliError::input(format!(
                    "no delivery {number} is due or was given up: `agon deliver --list` shows them"
                )));
            }
        }
    }
    numbers.dedup();
    Ok(numbers)
}

fn print_deliveries(app: &App<'_>, report: &DeliveryReport, all: &[StoredDelivery]) -> Result<u8, CliError> {
    if app.flag("json") {
        output::print_json(&all.iter().map(delivery_document).collect::<Vec<_>>())?;
    } else if app.flag("list") {
        match all.is_empty() {
            true => output::note("there are no deliveries: pass --to WHERE when you open a debate"),
            false => output::print(&delivery_table(all))?,
        }
    } else {
        deliveries::print_report(report, false);
        if report == &DeliveryReport::default() {
            let later = all.iter().filter(|delivery| delivery.state == DeliveryState::Due).count();
            output::note(&match later {
                0 => "nothing is due".to_owned(),
                _ => format!("nothing is due yet, {later} later: agon deliver --retry N tries one now"),
            });
        }
    }
    Ok(0)
}

/// A delivery as JSON, without secrets.
pub(super) fn delivery_document(delivery: &StoredDelivery) -> Value {
    let timestamp = |s: i64| clock::rfc3339(u64::try_from(s).unwrap_or_default());
    json!({
        "delivery": delivery.id,
        "debate": delivery.debate,
        "to": deliveries::public_address(delivery),
        "state": delivery.state,
        "attempts": delivery.attempts,
        "last_error": delivery.last_error,
        "created_at": timestamp(delivery.created_s),
        "done_at": delivery.done_s.map(timestamp),
    })
}

pub(super) fn delivery_table(all: &[StoredDelivery]) -> String {
    let row = |delivery: &StoredDelivery| {
        vec![
            delivery.id.to_string(),
            delivery.debate.clone(),
            deliveries::public_address(delivery),
            json!(delivery.state).as_str().unwrap_or_default().to_owned(),
            delivery.attempts.to_string(),
            delivery.last_error.clone().unwrap_or_default(),
        ]
    };
    output::table(&["number", "debate", "to", "state", "tried", "last error"], all.iter().map(row))
}
