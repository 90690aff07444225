//! What the store knows of the agents, as files of a brief: their ratings, and how they did before.

use agon_core::history::{HISTORY, ResolvedDebate};
use agon_core::lesson::STANDINGS;
use agon_core::{BriefFile, Seat};
use agon_measure::ratings::RatingState;
use agon_measure::resolved::resolved_debate;
use agon_store::DebateStore;
use serde::Serialize;

use super::app::{DebateHandle, StoredLog};
use super::errors::CliError;

/// How many resolved debates are looked at. Older ones say little about today's models.
const DEBATES_MAX: usize = 200;

/// The ratings of the agents behind these models. Without a store, everybody has the initial rating.
pub fn standings_file(store: Option<&DebateStore>, models: &[String]) -> Result<BriefFile, CliError> {
    let mut agents: Vec<String> = Vec::new();
    for agent in models.iter().flat_map(|model| agent_names(model)) {
        if !agents.iter().any(|known| known == agent) {
            agents.push(agent.to_owned());
        }
    }
    let standings = match store {
        Some(store) => store.standings(&agents)?,
        None => agents.iter().map(|agent| RatingState::default().standing(agent, None)).collect(),
    };
    json_file("ratings", STANDINGS, &standings)
}

/// How the seated agents did in earlier debates that are resolved. `None` if there are no such debates.
pub fn history_file(store: &DebateStore, seats: &[Seat]) -> Result<Option<BriefFile>, CliError> {
    let agents: Vec<&str> = seats.iter().flat_map(|seat| agent_names(&seat.model)).collect();
    let resolved = resolved_debates(store, &agents)?;
    match resolved.is_empty() {
        true => Ok(None),
        false => json_file(HISTORY, HISTORY, &resolved).map(Some),
    }
}

/// The agents in a fallback chain of models.
fn agent_names(model: &str) -> impl Iterator<Item = &str> {
    model.split('|').map(str::trim).map(|link| link.strip_prefix("agent/").unwrap_or(link))
}

/// The resolved debates of these agents, the last resolved first.
fn resolved_debates(store: &DebateStore, agents: &[&str]) -> Result<Vec<ResolvedDebate>, CliError> {
    let mut found = Vec::new();
    for (id, resolution) in store.latest_resolutions(DEBATES_MAX)? {
        // A log that cannot be read is skipped here; `agon verify` reports it.
        let Ok(StoredLog { debate, .. }) = DebateHandle { store: store.clone(), id }.read() else { continue };
        if !debate.brief.seats.iter().any(|seat| agents.iter().any(|agent| seat.model.contains(agent))) {
            continue;
        }
        let Some(protocol) = agon_protocols::find(&debate.brief.protocol) else { continue };
        let Ok(view) = protocol.view(&debate) else { continue };
        let mut resolved = resolved_debate(&debate, &view.positions, &resolution.resolution);
        resolved.seats.retain(|seat| agents.contains(&seat.agent.as_str()));
        if !resolved.seats.is_empty() {
            found.push(resolved);
        }
    }
    Ok(found)
}

fn json_file(path: &str, part: &str, content: &impl Serialize) -> Result<BriefFile, CliError> {
    let text = serde_json::to_string(content)
        .map_err(|why| CliError::System(format!("the {path} cannot be written as JSON: {why}")))?;
    Ok(BriefFile { path: path.to_owned(), text, part: Some(part.to_owned()) })
}
