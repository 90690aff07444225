//! How independent the seats are, and how well calibrated, judged by their first positions in earlier debates.

use std::collections::BTreeMap;

use agon_core::history::{ResolvedDebate, SeatResult, history};
use agon_core::{Debate, PositionHistory};
use serde::Serialize;

use crate::calibration::{Calibration, Truth};
use crate::independence::{effective_voices, phi};
use crate::resolved::agent;

/// Two agents need this many debates in common before their errors are compared.
const SHARED_DEBATES_MIN: usize = 5;

/// How independent the voices are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IndependenceEvidence {
    /// Whether it is known for every pair.
    pub known: bool,
    /// How many earlier debates of these agents are resolved.
    pub debates: usize,
    /// The mean correlation of their errors.
    pub rho: Option<f64>,
    /// For how many independent voices they count.
    pub n_eff: Option<f64>,
    /// The pairs that were measured.
    pub pairs: Vec<AgentPair>,
    /// Seats that share a model.
    pub shared_models: Vec<SharedModel>,
    /// Seats whose models come from one vendor.
    pub families: Vec<SharedFamily>,
    /// What the figures rest on, or why there are none.
    pub note: String,
}

/// Two agents and how their errors correlate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentPair {
    /// The agents.
    pub agents: [String; 2],
    /// The correlation of their errors.
    pub rho: f64,
    /// Over how many debates.
    pub debates: usize,
}

/// Seats that share a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SharedModel {
    /// The model.
    pub model: String,
    /// The seats.
    pub seats: Vec<String>,
}

/// Seats whose models come from one vendor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SharedFamily {
    /// The vendor.
    pub family: String,
    /// The seats.
    pub seats: Vec<String>,
}

/// How well each seat's confidence was earned.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibrationEvidence {
    /// In seat order.
    pub seats: Vec<SeatCalibration>,
}

/// How well one seat's confidence was earned in earlier debates, and how it changed in this one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeatCalibration {
    /// The seat.
    pub seat: String,
    /// Who spoke.
    pub agent: String,
    /// How many of its forecasts are resolved.
    pub forecasts: u32,
    /// Its Brier score.
    pub brier: Option<f64>,
    /// Its expected calibration error.
    pub ece: Option<f64>,
    /// Its confidence before it read the others.
    pub before: Option<f64>,
    /// Its last confidence.
    pub after: Option<f64>,
}

/// How far the seats' errors go together, and for how many independent voices they count.
pub(super) fn independence(debate: &Debate, stands: &PositionHistory) -> IndependenceEvidence {
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
        measured.map(|(rho, debates)| AgentPair { agents: pair.map(str::to_owned), rho, debates })
    });
    let models = shared(&voices, |voice| Some(voice.agent)).into_iter();
    let families = shared(&voices, |voice| family(voice.agent)).into_iter();
    IndependenceEvidence {
        known: complete,
        debates,
        rho,
        n_eff: rho.and_then(|rho| effective_voices(voices.len(), rho)),
        pairs: rows.collect(),
        shared_models: models.map(|(model, seats)| SharedModel { model, seats }).collect(),
        families: families.map(|(family, seats)| SharedFamily { family, seats }).collect(),
        note: note(complete, voices.len(), debates),
    }
}

struct SeatVoice<'a> {
    seat: &'a str,
    /// The model that spoke, or that was to speak.
    agent: &'a str,
}

fn voices<'a>(debate: &'a Debate, stands: &'a PositionHistory) -> Vec<SeatVoice<'a>> {
    let Some(first) = stands.rounds.first() else { return Vec::new() };
    let voice = |stand: &'a agon_core::Stand| {
        let named = debate.brief.seat(&stand.seat).map(|seat| seat.model.as_str());
        let agent = agent(debate, &stand.seat).or(named)?;
        Some(SeatVoice { seat: &stand.seat, agent })
    };
    first.stands.iter().filter_map(voice).collect()
}

fn is_about(past: &ResolvedDebate, voices: &[SeatVoice<'_>]) -> bool {
    past.seats.iter().any(|showing| voices.iter().any(|voice| voice.agent == showing.agent))
}

/// The correlation of two agents' errors, and over how many debates.
fn correlation(past: &[ResolvedDebate], [one, other]: [&str; 2]) -> Option<(f64, usize)> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for debate in past.iter().filter(|debate| !debate.partial) {
        // An agent that sat twice is compared with itself, not with what it said on the same seat.
        let again = usize::from(one == other);
        if let (Some(a), Some(b)) = (nth(debate, one, 0), nth(debate, other, again)) {
            first.push(!a.right);
            second.push(!b.right);
        }
    }
    let rho = phi(&first, &second).filter(|_| first.len() >= SHARED_DEBATES_MIN)?;
    Some((rho, first.len()))
}

/// What an agent showed on the nth of its seats in a debate.
fn nth<'a>(past: &'a ResolvedDebate, agent: &str, n: usize) -> Option<&'a SeatResult> {
    past.seats.iter().filter(|showing| showing.agent == agent).nth(n)
}

fn note(complete: bool, voices: usize, debates: usize) -> String {
    match (complete, voices, debates) {
        (true, ..) => format!("measured over {debates} earlier debates whose outcome is known"),
        (false, 0 | 1, _) => "there are not two voices to compare".into(),
        (false, _, 0) => {
            "unknown: no earlier debate of these models is resolved; tell agon how one turned out with `agon resolve`"
                .into()
        }
        (false, ..) => format!(
            "unknown: every two of these models need {SHARED_DEBATES_MIN} resolved debates in common, in which each was \
             sometimes right and sometimes wrong"
        ),
    }
}

/// Providers that pass on the models of other vendors.
const AGGREGATORS: [&str; 2] = ["openrouter", "together"];
/// Providers whose names say nothing about a vendor.
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
fn shared<'a>(
    voices: &[SeatVoice<'a>],
    key_of: impl Fn(&SeatVoice<'a>) -> Option<&'a str>,
) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for voice in voices {
        let Some(key) = key_of(voice) else { continue };
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, seats)) => seats.push(voice.seat.to_owned()),
            None => groups.push((key.to_owned(), vec![voice.seat.to_owned()])),
        }
    }
    groups.retain(|(_, seats)| seats.len() > 1);
    groups
}

pub(super) fn calibration(debate: &Debate, stands: &PositionHistory) -> CalibrationEvidence {
    let past = history(&debate.brief);
    let row = |voice: &SeatVoice<'_>| {
        let mut calibration = Calibration::default();
        let results = past.iter().flat_map(|past| &past.seats).filter(|result| result.agent == voice.agent);
        for result in results {
            let truth = if result.right { Truth::Right } else { Truth::Wrong };
            result.confidence.iter().for_each(|confidence| calibration.add(*confidence, truth));
        }
        let first = stands.rounds.first().and_then(|held| held.of(voice.seat));
        SeatCalibration {
            seat: voice.seat.to_owned(),
            agent: voice.agent.to_owned(),
            forecasts: calibration.resolved(),
            brier: calibration.brier(),
            ece: calibration.error(),
            before: first.and_then(|held| held.confidence),
            after: stands.at_last(voice.seat).and_then(|held| held.confidence),
        }
    };
    CalibrationEvidence { seats: voices(debate, stands).iter().map(row).collect() }
}
