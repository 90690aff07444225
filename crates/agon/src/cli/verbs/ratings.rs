//! `agon ratings`: how agents are rated, over all debates that were judged.

use std::path::PathBuf;

use agon_core::DebateProvenance;
use agon_core::wording::counted;
use agon_report::{RatedAgent, ratings_svg, ratings_table};
use agon_store::{AgentRating, DebateStore};
use clap::{ArgMatches, Command};
use serde_json::{Value, json};

use super::{CliVerb, VerbGroup};
use crate::cli::app::App;
use crate::cli::errors::CliError;
use crate::cli::runtime::block_on;
use crate::cli::{arguments, output};

pub(super) const VERB: CliVerb = CliVerb { name: "ratings", group: VerbGroup::StoredDebates, command, run };

fn command(command: Command) -> Command {
    command
        .about("Show how agents are rated: rating, uncertainty, calibration and history")
        .after_help(
            "The rating is Elo (K 32, from 1500): each judged debate is a game between all who proposed. The next column is its \
             uncertainty, by Glicko-2. Brier scores forecasts (votes with their confidence) against `agon resolve`: 0 is \
             perfect, 0.25 is guessing. How often an agent votes with the winner is not a merit, so it is a separate column.",
        )
        .arg(arguments::path_option("plot", "FILE.svg", "Also draw the history of the ratings"))
        .arg(arguments::switch("rebuild", "First compute the ratings again from the logs, and report differences"))
        .arg(arguments::json())
        .arg(arguments::store())
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let app = App::new(args);
    let plot = args.get_one::<PathBuf>("plot");
    output::check_svg_name(plot)?;
    let store = app.store_to_read()?;
    if let Some(store) = store.as_ref().filter(|_| app.flag("rebuild")) {
        rebuild(store)?;
    }
    let ratings = store.map(|store| store.ratings()).transpose()?.unwrap_or_default();
    let agents: Vec<RatedAgent> = ratings.iter().map(rated_agent).collect();
    if let Some(file) = plot {
        output::write_file(file, &ratings_svg(&agents))?;
    }
    if app.flag("json") {
        output::print_json(&ratings.iter().map(rating_document).collect::<Vec<_>>())?;
    } else if agents.is_empty() {
        let rated = agon_protocols::all().map(|protocol| protocol.info()).find(|info| info.is_rated);
        let how = rated.map_or_else(String::new, |info| {
            format!(": agon {} \"{}\" --models A,B,C rates three", info.name, info.subject)
        });
        output::note(&format!("no agent is rated yet{how}"));
    } else {
        output::print(&ratings_table(&agents, &output::stdout_style()))?;
    }
    Ok(0)
}

fn rebuild(store: &DebateStore) -> Result<(), CliError> {
    let report = block_on(store.rebuild())??;
    let debates = counted(report.debates, "debate");
    output::note(&match report.knowledge + report.memories + report.ratings {
        0 => format!("rebuilt from the logs of {debates}: nothing was different"),
        _ => format!(
            "rebuilt from the logs of {debates}: {} ratings and ballots, {} memories and {} entries were different",
            report.ratings, report.memories, report.knowledge
        ),
    });
    Ok(())
}

/// An agent as the drawings of the ratings want it.
pub(crate) fn rated_agent(rating: &AgentRating) -> RatedAgent {
    RatedAgent {
        agent: rating.agent.clone(),
        rating: rating.rating.elo,
        deviation: rating.rating.glicko.deviation,
        games: rating.rating.games,
        brier: rating.brier.map(|brier| (brier, rating.resolved)),
        conformity: rating.conformity,
        history: rating.rating.history.iter().map(|point| (point.at.clone(), point.elo)).collect(),
        held_in: rating.provenance.iter().map(DebateProvenance::words).collect(),
    }
}

/// The rating of an agent as JSON.
pub(crate) fn rating_document(rating: &AgentRating) -> Value {
    let glicko = &rating.rating.glicko;
    json!({
        "agent": rating.agent,
        "rating": rating.rating.elo,
        "deviation": glicko.deviation,
        "games": rating.rating.games,
        "brier": rating.brier,
        "resolved": rating.resolved,
        "calibration_error": rating.calibration_error,
        "reliability": rating.reliability,
        "conformity": rating.conformity,
        "ballots": rating.ballots,
        "glicko": {"rating": glicko.rating, "deviation": glicko.deviation, "volatility": glicko.volatility},
        "history": rating.rating.history,
        "provenance": rating.provenance,
    })
}
