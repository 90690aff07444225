//! The rules that a schema cannot say. Each sentence goes back to the seat with the repair.

use agon_core::{Ask, Debate};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::log::{Log, plain};
use super::reply::{Critique, Found, Judgement, Likeness, Proposal, Revision, Vote};

pub(super) fn check(debate: &Debate, ask: &Ask, value: &Value) -> Result<(), String> {
    let Some(schema) = &ask.schema else { return Ok(()) };
    match schema.name.as_str() {
        "proposal" => {
            let said: Proposal = read(value)?;
            not_blank("proposal", &said.proposal)?;
            not_blank("position", &said.position)
        }
        "revision" => revision(&own_answers(debate, &ask.seat, read(value)?)),
        "critique" => critique(&read(value)?),
        "vote" => not_blank("reason", &read::<Vote>(value)?.reason),
        "judgement" => judgement(&read(value)?, &labels(&schema.json)),
        "similarity" => likeness(&read(value)?),
        _ => read::<Found>(value).map(|_| ()),
    }
}

fn read<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    T::deserialize(value).map_err(|why| why.to_string())
}

fn not_blank(field: &str, text: &str) -> Result<(), String> {
    if text.trim().is_empty() { Err(format!("`{field}` must not be empty")) } else { Ok(()) }
}

/// An answer without what it says to critiques of others' proposals: that is left out when it is read, so that no rule holds for it.
fn own_answers(debate: &Debate, seat: &str, mut said: Revision) -> Revision {
    // A log that cannot be read has no step in which anything is asked.
    let Ok(log) = Log::read(debate) else { return said };
    let place = log.agents.iter().position(|agent| agent.seat.id == seat);
    said.addressed.retain(|answer| place.is_some_and(|place| log.is_of(&answer.critique_id, place)));
    said
}

fn revision(said: &Revision) -> Result<(), String> {
    not_blank("proposal", &said.proposal)?;
    not_blank("position", &said.position)?;
    for (place, answer) in said.addressed.iter().enumerate() {
        let id = &answer.critique_id;
        not_blank(&format!("how` of {id} in `addressed"), &answer.how)?;
        if said.addressed.iter().take(place).any(|other| other.critique_id == *id) {
            return Err(format!("`addressed` has {id} twice: answer each critique once"));
        }
    }
    Ok(())
}

fn critique(said: &Critique) -> Result<(), String> {
    let named = said.issues.iter().any(|issue| !issue.trim().is_empty());
    match said.severity > 0.0 && !named {
        true => Err(format!("`severity` is {}, so `issues` must name at least one", said.severity)),
        false => Ok(()),
    }
}

/// The labels that a schema enumerates, without `Agent` in front.
fn labels(schema: &Value) -> Vec<&str> {
    let listed = schema.pointer("/properties/ranking/items/enum").and_then(Value::as_array);
    let mut labels: Vec<&str> = listed.into_iter().flatten().filter_map(Value::as_str).map(plain).collect();
    labels.sort_unstable();
    labels.dedup();
    labels
}

fn judgement(said: &Judgement, labels: &[&str]) -> Result<(), String> {
    each_once("scores", labels, said.scores.iter().map(|scored| plain(&scored.label)))?;
    each_once("ranking", labels, said.ranking.iter().map(|label| plain(label)))?;
    match said.scores.iter().find(|scored| scored.reasons.said().is_empty()) {
        Some(scored) => Err(format!("`reasons` for {} must not be empty", scored.label)),
        None => Ok(()),
    }
}

fn each_once<'a>(field: &str, labels: &[&str], said: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let said: Vec<&str> = said.collect();
    let times = |label: &str| said.iter().filter(|other| **other == label).count();
    match labels.iter().find(|label| times(label) != 1) {
        Some(label) => Err(format!(
            "`{field}` has Agent {label} {} times: every proposal stands there exactly once",
            times(label)
        )),
        None => Ok(()),
    }
}

fn likeness(said: &Likeness) -> Result<(), String> {
    let texts = said.similarity.len();
    match said.similarity.iter().all(|row| row.len() == texts) {
        true => Ok(()),
        false => Err("`similarity` must have one figure for each text in each row".to_owned()),
    }
}
