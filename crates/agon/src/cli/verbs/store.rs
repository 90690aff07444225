//! `agon store`: keeps the store small, and copies debates to another one.

use std::path::PathBuf;

use agon_store::{CopyReport, DebateStore, PrunedDebates, StoreAddress, VacuumedFile};
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::json;

use super::{CliVerb, VerbGroup};
use crate::cli::app::{App, open_store};
use crate::cli::errors::CliError;
use crate::cli::limits::whole_number;
use crate::cli::paths::{process_env, store_address};
use crate::cli::progress::TaskProgress;
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
        .about("Remove old debates, make the store smaller, or copy it")
        .after_help(
            "A debate stays, however old, if it is not over, if you have said how it turned out, if its result is still to be \
             delivered, if ratings, memories or knowledge come from it, or if it is the newest.",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(subcommand("prune", "Remove old debates that nothing relies on").args([age, dry_run]))
        .subcommand(subcommand("vacuum", "Give the space of removed debates back to the disk"))
        .subcommand(copy_command())
}

fn copy_command() -> Command {
    let store = |name: &'static str, help: &'static str| {
        Arg::new(name).value_name(name).required(true).value_parser(value_parser!(PathBuf)).help(help)
    };
    Command::new("copy")
        .about("Copy debates to another store, after checking that nobody has changed their logs")
        .after_help(
            "A store is a file, or postgres://USER@HOST/NAME. A debate that is there already is left alone, one that is running is \
             left out. With the debates go their resolutions and deliveries that are over; without IDs, notes and imports, too.\n\
             Exit status: 0, or 1 if a debate was refused: its log is broken, or another one has its id.",
        )
        .arg(store("FROM", "The store that has the debates"))
        .arg(store("TO", "The store that gets them; created if it does not exist"))
        .arg(Arg::new("ids").value_name("ID").num_args(0..).help("The debates [default: all]"))
        .arg(arguments::json())
}

fn copy(args: &ArgMatches) -> Result<u8, CliError> {
    let open = |name: &str| {
        let named = args.get_one::<PathBuf>(name).map(|store| store.as_os_str());
        open_store(&store_address(named, &process_env)?, false)
    };
    if let Some(file) = args.get_one::<PathBuf>("FROM").filter(|from| {
        StoreAddress::parse(from.as_os_str()).is_ok_and(|from| from.file().is_some_and(|file| !file.exists()))
    }) {
        return Err(CliError::file(file, "there is no such store: check the path"));
    }
    let (from, to) = (open("FROM")?, open("TO")?);
    let given = args.get_many::<String>("ids").into_iter().flatten();
    let ids: Vec<String> = given.map(|id| from.find_debate(id)).collect::<Result<_, _>>()?;
    let report = copy_with_progress(&from, &to, &ids)?;
    output::print_result(args.get_flag("json"), || json!(report), || copied_lines(&report))?;
    Ok(u8::from(!report.refused.is_empty()))
}

fn copy_with_progress(from: &DebateStore, to: &DebateStore, ids: &[String]) -> Result<CopyReport, CliError> {
    let progress = TaskProgress::counting("copying debates", 0, false);
    let on_debate = |done: usize, total: usize| {
        progress.set_total(total);
        progress.set_done(done);
        if done == total {
            progress.set_message("; making ratings and memories again");
        }
    };
    Ok(block_on(from.copy_counted(to, ids, &on_debate))??)
}

fn copied_lines(report: &CopyReport) -> String {
    let mut text = format!("{} copied, {} there already.\n", debates(report.copied), report.already_there);
    if report.notes > 0 {
        text.push_str(&format!("{} notes and imports are there, too.\n", report.notes));
    }
    for id in &report.running {
        text.push_str(&format!("{id} is running: left out. Copy it when it is over.\n"));
    }
    for (id, reason) in &report.refused {
        text.push_str(&format!("{id} was refused: {reason}.\n"));
    }
    text
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let Some((subcommand, args)) = args.subcommand() else { return Ok(0) };
    if subcommand == "copy" {
        return copy(args);
    }
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
    let progress = TaskProgress::start("looking for old debates", false);
    let pruned = if is_dry { store.prunable(&before)? } else { block_on(store.prune(&before))?? };
    drop(progress);
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
    let progress = TaskProgress::start("making the store smaller", false);
    let file = store.vacuum()?;
    drop(progress);
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
