//! `agon store`: keeps the file of debates small.

use agon_store::{DebateStore, PrunedDebates, VacuumedFile};
use clap::{Arg, ArgMatches, Command};
use serde_json::json;

use super::{CliVerb, VerbGroup};
use crate::cli::app::App;
use crate::cli::errors::CliError;
use crate::cli::limits::whole_number;
use crate::cli::runtime::block_on;
use crate::cli::{arguments, clock, output};

pub(super) const VERB: CliVerb = CliVerb { name: "store", group: VerbGroup::Setup, command, run };

const DAY_S: u64 = 86_400;

fn command(command: Command) -> Command {
    let age = Arg::new("older-than")
        .long("older-than")
        .value_name("DAYS")
        .required(true)
        .value_parser(whole_number(0_u64, None))
        .help("Remove debates that were opened at least this many days ago");
    let dry_run = arguments::switch("dry-run", "Only say what would be removed");
    let subcommand = |name: &'static str, about: &'static str| {
        Command::new(name).about(about).arg(arguments::json()).arg(arguments::store())
    };
    command
        .about("Remove old debates, or make the file smaller")
        .after_help(
            "A debate stays, however old, if it is not over, if you have said how it turned out, if its result is still to be \
             delivered, if ratings, memories or knowledge come from it, or if it is the newest.",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(subcommand("prune", "Remove old debates that nothing relies on").args([age, dry_run]))
        .subcommand(subcommand("vacuum", "Give the space of removed debates back to the disk"))
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let Some((subcommand, args)) = args.subcommand() else { return Ok(0) };
    let app = App::new(args);
    let Some(store) = app.existing_store()? else {
        output::note("there is no store yet");
        return Ok(0);
    };
    match subcommand {
        "prune" => prune(&app, args, &store),
        _ => vacuum(&app, &store),
    }
}

fn prune(app: &App<'_>, args: &ArgMatches, store: &DebateStore) -> Result<u8, CliError> {
    let days = args.get_one::<u64>("older-than").copied().unwrap_or_default();
    let before = clock::rfc3339(clock::unix_seconds().saturating_sub(days.saturating_mul(DAY_S)));
    let is_dry = app.flag("dry-run");
    let pruned = if is_dry { store.prunable(&before)? } else { block_on(store.prune(&before))?? };
    output::print_result(
        app.flag("json"),
        || json!({"opened_before": before, "dry_run": is_dry, "debates": pruned}),
        || pruned_lines(&pruned, &before, is_dry),
    )
}

fn pruned_lines(pruned: &PrunedDebates, before: &str, is_dry: bool) -> String {
    let would = if is_dry { "would be removed" } else { "removed" };
    let mut text = format!(
        "{} opened before {before} {would}; their logs have {}.\n",
        debates(pruned.removed),
        megabytes(pruned.log_bytes)
    );
    for (count, reason) in [
        (pruned.kept_open, "not over"),
        (pruned.kept_for_resolutions, "you said how it turned out"),
        (pruned.kept_for_deliveries, "the result is still to be delivered"),
        (pruned.kept_for_lessons, "ratings, memories or knowledge come from it"),
    ] {
        if count > 0 {
            text.push_str(&format!("{} kept: {reason}.\n", debates(count)));
        }
    }
    if pruned.removed > 0 && !is_dry {
        text.push_str("`agon store vacuum` gives the space back to the disk.\n");
    }
    text
}

fn vacuum(app: &App<'_>, store: &DebateStore) -> Result<u8, CliError> {
    let file = store.vacuum()?;
    output::print_result(
        app.flag("json"),
        || json!(file),
        || {
            let VacuumedFile { bytes_before, bytes_after } = file;
            format!("{} before, {} now.\n", megabytes(bytes_before), megabytes(bytes_after))
        },
    )
}

fn debates(count: u64) -> String {
    if count == 1 { "1 debate".to_owned() } else { format!("{count} debates") }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
