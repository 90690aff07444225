//! How those who sit did in earlier debates whose outcome a person has told.

use agon_core::Debate;
use agon_core::event::open_all;
use agon_core::history::Past;
use agon_evidence::past::past;
use agon_store::Sqlite;

use super::failure::Failure;

/// The most debates that are looked back on: what is older says little of the models of today.
const DEBATES_MAX: usize = 200;

/// What became of the first positions of these models, the last resolved first.
pub fn of(store: &Sqlite, models: &[&str]) -> Result<Vec<Past>, Failure> {
    let mut found = Vec::new();
    for (id, resolved) in store.resolved(DEBATES_MAX)? {
        // A log that cannot be read says nothing here; `agon verify` says why.
        let Ok(records) = open_all(store.raw(&id)?) else { continue };
        let Ok(debate) = Debate::from_records(&records) else { continue };
        if !debate.brief.seats.iter().any(|seat| models.iter().any(|model| seat.model.contains(model))) {
            continue;
        }
        let Some(protocol) = agon_protocols::find(&debate.brief.protocol) else { continue };
        let Ok(stands) = protocol.stands(&debate) else { continue };
        let mut past = past(&debate, &stands, &resolved.resolution);
        past.seats.retain(|showing| models.contains(&showing.agent.as_str()));
        if !past.seats.is_empty() {
            found.push(past);
        }
    }
    Ok(found)
}
