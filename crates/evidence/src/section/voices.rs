//! How independent those who sat are, and how well calibrated, by what became of their first positions in earlier debates.

use std::collections::BTreeMap;

use agon_core::history::{Past, Showing, history};
use agon_core::{Debate, Stands};
use serde_json::{Value, json};

use crate::calibration::{Calibration, Truth};
use crate::independence::{effective_voices, phi};
use crate::past::agent;

/// The fewest debates that two must have had in common before anything is said of how they err together.
const SHARED_MIN: usize = 5;

/// How far the seats' errors go together, and for how many independent voices they count.
pub(super) fn independence(debate: &Debate, stands: &Stands) -> Value {
    let voices = voices(debate, stands);
    let past = history(&debate.brief);
    let mut pairs: BTreeMap<[&str; 2], Option<(f64, usize)>> = BTreeMap::new();
    let mut known = Vec::new();
    let mut wanted = 0_usize;
    for (place, one) in voices.iter().enumerate() {
        for other in voices.iter().skip(place + 1) {
            wanted += 1;
            let mut pair = [one.agent, other.agent];
            pair.sort_unstable();
            let measured = pairs.entry(pair).or_insert_with(|| correlation(&past, pair));
            known.extend(measured.map(|(rho, _)| rho));
        }
    }
    let complete = wanted > 0 && known.len() == wanted;
    let rho = complete.then(|| known.iter().sum::<f64>() / known.len() as f64);
    let debates = past.iter().filter(|past| is_about(past, &voices)).count();
    let rows = pairs.iter().filter_map(|(pair, measured)| {
        measured.map(|(rho, debates)| json!({"agents": pair, "rho": rho, "debates": debates}))
    });
    json!({
        "known": complete,
        "debates": debates,
        "rho": rho,
        "n_eff": rho.and_then(|rho| effective_voices(voices.len(), rho)),
        "pairs": rows.collect::<Vec<_>>(),
        "shared_models": shared(&voices, |voice| Some(voice.agent), "model"),
        "families": shared(&voices, |voice| family(voice.agent), "family"),
        "note": note(complete, voices.len(), debates),
    })
}

struct Voice<'a> {
    seat: &'a str,
    /// The model that spoke, or that was to speak.
    agent: &'a str,
}

fn voices<'a>(debate: &'a Debate, stands: &'a Stands) -> Vec<Voice<'a>> {
    let Some(first) = stands.rounds.first() else { return Vec::new() };
    let voice = |stand: &'a agon_core::Stand| {
        let named = debate.brief.seat(&stand.seat).map(|seat| seat.model.as_str());
        let agent = agent(debate, &stand.seat).or(named)?;
        Some(Voice { seat: &stand.seat, agent })
    };
    first.stands.iter().filter_map(voice).collect()
}

fn is_about(past: &Past, voices: &[Voice<'_>]) -> bool {
    past.seats.iter().any(|showing| voices.iter().any(|voice| voice.agent == showing.agent))
}

/// The correlation of two agents' errors, and over how many debates.
fn correlation(past: &[Past], [one, other]: [&str; 2]) -> Option<(f64, usize)> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for debate in past.iter().filter(|debate| !debate.partial) {
        // An agent that sat twice is compared with itself, not with what it said on the same seat.
        let again = usize::from(one == other);
        if let (Some(a), Some(b)) = (nth(debate, one, 0), nth(debate, other, again)) {
            first.push(!a.right);
            second.push(!b.right);
        }
    }
    let rho = phi(&first, &second).filter(|_| first.len() >= SHARED_MIN)?;
    Some((rho, first.len()))
}

/// What an agent showed on the nth of its seats in a debate.
fn nth<'a>(past: &'a Past, agent: &str, n: usize) -> Option<&'a Showing> {
    past.seats.iter().filter(|showing| showing.agent == agent).nth(n)
}

fn note(complete: bool, voices: usize, debates: usize) -> String {
    match (complete, voices, debates) {
        (true, ..) => format!("measured over {debates} earlier debates whose outcome is known"),
        (false, 0 | 1, _) => "there are not two voices to compare".into(),
        (false, _, 0) => {
            "unknown: no earlier debate of these models is resolved; `agon resolve` says how one turned out"
                .into()
        }
        (false, ..) => format!(
            "unknown: every two of these models need {SHARED_MIN} resolved debates in common of which it is known of both whether they were \
             right, and each must have been right and wrong"
        ),
    }
}

/// Who passes on the models of others.
const AGGREGATORS: [&str; 2] = ["openrouter", "together"];
/// Who is no model, or of whom nothing follows from the name.
const NO_FAMILY: [&str; 4] = ["script", "human", "command", "agent"];

/// The vendor of a model: what stands before the first slash, behind one that passes on the models of others the next part.
fn family(model: &str) -> Option<&str> {
    let (family, rest) = model.split_once('/')?;
    match rest.split_once('/') {
        _ if NO_FAMILY.contains(&family) => None,
        Some((vendor, _)) if AGGREGATORS.contains(&family) => Some(vendor),
        _ => Some(family),
    }
}

/// The seats that have something in common, where there are at least two of them.
fn shared<'a>(voices: &'a [Voice<'a>], of: impl Fn(&Voice<'a>) -> Option<&'a str>, name: &str) -> Vec<Value> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for voice in voices {
        let Some(key) = of(voice) else { continue };
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, seats)) => seats.push(voice.seat),
            None => groups.push((key, vec![voice.seat])),
        }
    }
    groups.retain(|(_, seats)| seats.len() > 1);
    groups.into_iter().map(|(key, seats)| json!({name: key, "seats": seats})).collect()
}

/// How well each seat's confidence was earned in earlier debates, and what reading the others did to it in this one.
pub(super) fn calibration(debate: &Debate, stands: &Stands) -> Value {
    let past = history(&debate.brief);
    let rows: Vec<Value> = voices(debate, stands)
        .iter()
        .map(|voice| {
            let mut calibration = Calibration::default();
            let showings =
                past.iter().flat_map(|past| &past.seats).filter(|showing| showing.agent == voice.agent);
            for showing in showings {
                let truth = if showing.right { Truth::Right } else { Truth::Wrong };
                showing.confidence.iter().for_each(|confidence| calibration.add(*confidence, truth));
            }
            let first = stands.rounds.first().and_then(|held| held.of(voice.seat));
            json!({
                "seat": voice.seat,
                "agent": voice.agent,
                "forecasts": calibration.resolved(),
                "brier": calibration.brier(),
                "ece": calibration.error(),
                "before": first.and_then(|stand| stand.confidence),
                "after": stands.at_last(voice.seat).and_then(|stand| stand.confidence),
            })
        })
        .collect();
    json!({"seats": rows})
}
