//! `agon ratings`: how agents stand, over all debates that were judged.

use std::path::PathBuf;

use agon_report::{Rated as Row, figures};
use agon_store::{Rated, Sqlite};
use clap::{ArgMatches, Command};
use serde_json::{Value, json};

use super::{Group, Verb};
use crate::cli::failure::Failure;
use crate::cli::run::runtime;
use crate::cli::{args, desk, output};

pub(super) const VERB: Verb = Verb { name: "ratings", group: Group::Kept, command, run };

fn command(command: Command) -> Command {
    command
        .about("Show how agents stand: rating, uncertainty, calibration and course")
        .after_help(
            "rating is Elo (K 32, from 1500): each judged debate is a game between all who proposed. The column after it is how\n\
             uncertain that is, by Glicko-2. Brier scores forecasts (votes with their confidence) against `agon resolve`: 0 is\n\
             perfect, 0.25 is guessing. How often an agent votes with the winner is no merit, and is shown apart.",
        )
        .arg(args::path("plot", "FILE.svg", "Also draw the course of the ratings"))
        .arg(args::switch("rebuild", "Make the ratings again from the logs first, and say what was not as they have it"))
        .arg(args::json())
        .arg(args::db())
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let plot = args.get_one::<PathBuf>("plot");
    output::check_svg(plot)?;
    let store = desk::kept(args)?;
    if let Some(store) = store.as_ref().filter(|_| args.get_flag("rebuild")) {
        rebuild(store)?;
    }
    let rated = store.map(|store| store.ratings()).transpose()?.unwrap_or_default();
    let rows: Vec<Row> = rated.iter().map(row).collect();
    if let Some(file) = plot {
        output::picture(file, &agon_report::ratings_svg(&rows))?;
    }
    if args.get_flag("json") {
        output::print_json(&rated.iter().map(entry).collect())?;
    } else if rows.is_empty() {
        output::note("nobody is rated yet: agon arena \"TASK\" --models A,B,C holds a debate that is judged");
    } else {
        output::print(&agon_report::ratings(&rows, &output::stdout_style()))?;
    }
    Ok(0)
}

fn rebuild(store: &Sqlite) -> Result<(), Failure> {
    let rebuilt = runtime()?.block_on(store.rebuild())?;
    let differed = rebuilt.knowledge + rebuilt.memories + rebuilt.ratings;
    let debates = figures::counted(rebuilt.debates, "debate");
    output::note(&match differed {
        0 => format!("made again from the logs of {debates}: nothing was different"),
        _ => format!(
            "made again from the logs of {debates}: {} ratings and ballots, {} memories and {} entries were different",
            rebuilt.ratings, rebuilt.memories, rebuilt.knowledge
        ),
    });
    Ok(())
}

fn row(rated: &Rated) -> Row {
    Row {
        agent: rated.agent.clone(),
        rating: rated.rating.elo,
        deviation: rated.rating.glicko.deviation,
        games: rated.rating.games,
        brier: rated.brier.map(|brier| (brier, rated.resolved)),
        conformity: rated.conformity,
        history: rated.rating.history.iter().map(|point| (point.at.clone(), point.elo)).collect(),
    }
}

fn entry(rated: &Rated) -> Value {
    let glicko = &rated.rating.glicko;
    json!({
        "agent": rated.agent,
        "rating": rated.rating.elo,
        "deviation": glicko.deviation,
        "games": rated.rating.games,
        "brier": rated.brier,
        "resolved": rated.resolved,
        "calibration_error": rated.calibration_error,
        "conformity": rated.conformity,
        "ballots": rated.ballots,
        "glicko": {"rating": glicko.rating, "deviation": glicko.deviation, "volatility": glicko.volatility},
        "history": rated.rating.history,
    })
}
