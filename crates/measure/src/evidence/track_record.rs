//! How independent and how well calibrated the agents are, according to earlier debates whose outcome is known.

use std::collections::BTreeMap;

use agon_core::history::{ResolvedDebate, SeatResult, history};
use agon_core::{Debate, PositionHistory, SeatPosition};
use serde::Serialize;

use super::movement::last_positions;
use crate::calibration::{CalibrationTally, OutcomeTruth};
use crate::independence::{effective_voices, phi_coefficient};
use crate::resolved::seat_agent;

/// The errors of two agents are compared only if they have this many debates in common.
const SHARED_DEBATES_MIN: usize = 5;

/// How independent the seats are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IndependenceEvidence {
    /// Whether the error correlation of every pair is known.
    pub known: bool,
    /// How many resolved debates these agents were in.
    pub debates: usize,
    /// The mean error correlation.
    pub rho: Option<f64>,
    /// How many independent voices the seats are worth.
    pub n_eff: Option<f64>,
    /// The pairs whose error correlation is known.
    pub pairs: Vec<AgentPair>,
    /// Seats that share a model.
    pub shared_models: Vec<SharedModel>,
    /// Seats whose models come from one vendor.
    pub families: Vec<SharedFamily>,
    /// What the figures are based on, or why there are none.
    pub note: String,
}

/// The error correlation of two agents.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentPair {
    /// The agents.
    pub agents: [String; 2],
    /// The error correlation.
    pub rho: f64,
    /// The number of debates it is measured over.
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

/// Whether the seats' confidence is justified.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibrationEvidence {
    /// In seat order.
    pub seats: Vec<SeatCalibration>,
}

/// A seat's calibration in earlier debates, and its confidence in this one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeatCalibration {
    /// The seat.
    pub seat: String,
    /// The model that spoke for it.
    pub agent: String,
    /// The number of its resolved forecasts.
    pub forecasts: u32,
    /// Its Brier score.
    pub brier: Option<f64>,
    /// Its expected calibration error.
    pub ece: Option<f64>,
    /// Its confidence before it read the other seats.
    pub before: Option<f64>,
    /// Its last confidence.
    pub after: Option<f64>,
}

pub(super) fn independence(debate: &Debate, positions: &PositionHistory) -> IndependenceEvidence {
    let voices = seat_voices(debate, positions);
    let past = history(&debate.brief);
    let mut pairs: BTreeMap<[&str; 2], Result<(f64, usize), UnknownPair>> = BTreeMap::new();
    let mut known = Vec::new();
    let mut pair_count = 0_usize;
    for (place, one) in voices.iter().enumerate() {
        for other in voices.iter().skip(place + 1) {
            pair_count += 1;
            let mut pair = [one.agent, other.agent];
            pair.sort_unstable();
            let measured = pairs.entry(pair).or_insert_with(|| error_correlation(&past, pair));
            known.extend(measured.as_ref().ok().map(|(rho, _)| *rho));
        }
    }
    let complete = pair_count > 0 && known.len() == pair_count;
    let rho = complete.then(|| known.iter().sum::<f64>() / known.len() as f64);
    let is_of_these_agents = |past: &&ResolvedDebate| {
        past.seats.iter().any(|seat| voices.iter().any(|voice| voice.agent == seat.agent))
    };
    let debates = past.iter().filter(is_of_these_agents).count();
    let rows = pairs.iter().filter_map(|(pair, measured)| {
        let (rho, debates) = *measured.as_ref().ok()?;
        Some(AgentPair { agents: pair.map(str::to_owned), rho, debates })
    });
    let unknown = pairs.iter().filter_map(|(pair, measured)| Some(measured.as_ref().err()?.words(*pair)));
    let models = shared_by_seats(&voices, |voice| Some(voice.agent)).into_iter();
    let families = shared_by_seats(&voices, |voice| model_family(voice.agent)).into_iter();
    IndependenceEvidence {
        known: complete,
        debates,
        rho,
        n_eff: rho.and_then(|rho| effective_voices(voices.len(), rho)),
        pairs: rows.collect(),
        shared_models: models.map(|(model, seats)| SharedModel { model, seats }).collect(),
        families: families.map(|(family, seats)| SharedFamily { family, seats }).collect(),
        note: independence_note(voices.len(), debates, &unknown.collect::<Vec<_>>()),
    }
}

/// A seat that took a position, and its agent.
struct SeatVoice<'a> {
    seat: &'a str,
    /// The model that spoke, or the model of the brief if several spoke.
    agent: &'a str,
}

fn seat_voices<'a>(debate: &'a Debate, positions: &'a PositionHistory) -> Vec<SeatVoice<'a>> {
    let voice = |held: &'a SeatPosition| {
        let in_brief = debate.brief.seat(&held.seat).map(|seat| seat.model.as_str());
        let agent = seat_agent(debate, &held.seat).or(in_brief)?;
        Some(SeatVoice { seat: &held.seat, agent })
    };
    last_positions(debate, positions).into_iter().filter_map(voice).collect()
}

/// Why the error correlation of two agents is not known.
enum UnknownPair {
    /// They have only so many resolved debates in common.
    TooFew(usize),
    /// In all their debates in common, one of them was right every time, or wrong every time.
    NoSpread(usize),
}

impl UnknownPair {
    fn words(&self, [one, other]: [&str; 2]) -> String {
        let who = match one == other {
            true => format!("{one} on two seats"),
            false => format!("{one} and {other}"),
        };
        match self {
            Self::TooFew(debates) => format!("{who}: {debates} of {SHARED_DEBATES_MIN}"),
            Self::NoSpread(debates) => {
                format!("{who}: {debates}, in which one of them was always right or always wrong")
            }
        }
    }
}

/// The correlation of two agents' errors, and the number of debates it is measured over.
fn error_correlation(past: &[ResolvedDebate], [one, other]: [&str; 2]) -> Result<(f64, usize), UnknownPair> {
    let nth_result = |debate: &ResolvedDebate, agent: &str, n: usize| {
        debate.seats.iter().filter(|seat| seat.agent == agent).nth(n).map(|seat| seat.right)
    };
    // A model on two seats is compared with itself across these seats.
    let other_seat = usize::from(one == other);
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for debate in past.iter().filter(|debate| !debate.partial) {
        let results = (nth_result(debate, one, 0), nth_result(debate, other, other_seat));
        if let (Some(a), Some(b)) = results {
            first.push(!a);
            second.push(!b);
        }
    }
    match first.len() {
        debates @ ..SHARED_DEBATES_MIN => Err(UnknownPair::TooFew(debates)),
        debates => match phi_coefficient(&first, &second) {
            Some(rho) => Ok((rho, debates)),
            None => Err(UnknownPair::NoSpread(debates)),
        },
    }
}

/// How many pairs a note names.
const PAIRS_NAMED: usize = 3;

fn independence_note(voices: usize, debates: usize, unknown: &[String]) -> String {
    match (voices, debates) {
        (0 | 1, _) => "there are not two voices to compare".into(),
        _ if unknown.is_empty() => format!("measured over {debates} earlier debates whose outcome is known"),
        (_, 0) => {
            "unknown: no earlier debate of these models is resolved; tell agon how one turned out with `agon resolve`"
                .into()
        }
        _ => {
            let more = unknown.len().saturating_sub(PAIRS_NAMED);
            let mut named: Vec<String> = unknown.iter().take(PAIRS_NAMED).cloned().collect();
            named.extend((more > 0).then(|| format!("{more} more")));
            format!(
                "unknown: every two seats need {SHARED_DEBATES_MIN} resolved debates in which both of their models spoke, each \
                 sometimes right and sometimes wrong. Resolved so far: {}",
                named.join("; ")
            )
        }
    }
}

/// Providers that offer the models of other vendors as `vendor/model`, or under the model's own name.
const AGGREGATORS: [&str; 3] = ["openrouter", "together", "groq"];
/// Servers on the user's own machines. What is before a slash there is a user or a site.
const LOCAL_SERVERS: [&str; 1] = ["ollama"];
/// Providers whose names do not tell the vendor.
const NO_FAMILY: [&str; 5] = ["script", "human", "command", "agent", "embedded"];

/// The vendor of a model: the part before the first slash. For an aggregator it is the next part, and where there is none, or for a local
/// server, the letters that the model's own name begins with: `llama` for `llama3.2:3b`.
fn model_family(model: &str) -> Option<&str> {
    let (provider, rest) = model.split_once('/')?;
    match rest.split_once('/') {
        _ if NO_FAMILY.contains(&provider) => None,
        Some((vendor, _)) if AGGREGATORS.contains(&provider) => Some(vendor),
        Some(_) if LOCAL_SERVERS.contains(&provider) => None,
        None if AGGREGATORS.contains(&provider) || LOCAL_SERVERS.contains(&provider) => {
            rest.split(|c: char| !c.is_alphabetic()).next().filter(|name| !name.is_empty())
        }
        _ => Some(provider),
    }
}

/// Groups the seats by a key and keeps the groups of at least two.
fn shared_by_seats<'a>(
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

pub(super) fn calibration(debate: &Debate, positions: &PositionHistory) -> CalibrationEvidence {
    let past = history(&debate.brief);
    let row = |voice: &SeatVoice<'_>| {
        let mut tally = CalibrationTally::default();
        let results = past.iter().flat_map(|past| &past.seats).filter(|result| result.agent == voice.agent);
        for SeatResult { right, confidence, .. } in results {
            let truth = if *right { OutcomeTruth::Right } else { OutcomeTruth::Wrong };
            confidence.iter().for_each(|confidence| tally.add(*confidence, truth));
        }
        let first = positions.rounds.first().and_then(|round| round.of(voice.seat));
        SeatCalibration {
            seat: voice.seat.to_owned(),
            agent: voice.agent.to_owned(),
            forecasts: tally.resolved(),
            brier: tally.brier(),
            ece: tally.expected_error(),
            before: first.and_then(|held| held.confidence),
            after: positions.at_last(voice.seat).and_then(|held| held.confidence),
        }
    };
    CalibrationEvidence { seats: seat_voices(debate, positions).iter().map(row).collect() }
}
