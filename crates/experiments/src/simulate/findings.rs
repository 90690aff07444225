//! A whole simulation: a plan in, findings out.

use agon_core::Invalid;
use serde::{Deserialize, Serialize};

use crate::bar::{EvidenceBar, evidence_bar};
use crate::curve::{Curve, curves};
use crate::measure::{Estimate, Flips, Observation, Share, estimates, mean, share};
use crate::neutral::{Neutral, neutral};
use crate::population::Population;
use crate::sitting::{SimulateError, Sitting};

/// Rounds and tables of the figures without a debate.
const NEUTRAL_ROUNDS: u32 = 5;
const NEUTRAL_TRIALS: usize = 20_000;

/// What is to be simulated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Which protocol is played.
    pub protocol: String,
    /// How often seats may change their mind; `None` for the protocol's own number.
    pub rounds: Option<u32>,
    /// How many debates are held.
    pub trials: usize,
    /// Where all chance comes from.
    pub seed: u64,
    /// Whether the curve of every protocol with one adversary is wanted.
    pub curve: bool,
    /// Who sits.
    pub population: Population,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            protocol: "deep".into(),
            rounds: None,
            trials: 300,
            seed: 1,
            curve: false,
            population: Population::default(),
        }
    }
}

/// What a simulation shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// What was simulated.
    pub plan: Plan,
    /// How often a plain vote on the first positions is right; a tie counts half.
    pub first_round_vote: Share,
    /// How often the verdict is right; none is not.
    pub verdict: Share,
    /// Debates whose verdict is right though the vote was wrong.
    pub wrong_to_right: usize,
    /// Debates whose verdict is wrong though the vote was right.
    pub right_to_wrong: usize,
    /// What was planted, and what the logs show of it.
    pub recovered: Vec<Recovered>,
    /// What was held, round by round.
    pub rounds: Vec<RoundFigures>,
    /// All changes of mind.
    pub flips: Flips,
    /// What the evidence bar stops; only of `review`, where there is something to stop.
    pub evidence_bar: Option<EvidenceBar>,
    /// The same table if it only counted what it hears.
    pub neutral: Neutral,
    /// The same with the drift, where there is one.
    pub drifting: Option<Neutral>,
    /// One adversary in N, for every protocol.
    pub curves: Vec<Curve>,
}

/// A planted figure and what the logs show of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recovered {
    /// What it is called on the command line.
    pub name: String,
    /// What was planted; `None` where somebody sits of whom it is not true.
    pub planted: Option<f64>,
    /// What the logs show.
    #[serde(flatten)]
    pub found: Estimate,
    /// Whether the planted figure is in the interval; `None` where one of them is missing.
    pub within: Option<bool>,
}

/// What was held after a round, over all debates. A debate that had ended keeps what it ended with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RoundFigures {
    /// The round, as the protocol counts it.
    pub round: u32,
    /// The mean over all debates of the share of seats that are right.
    pub mean_belief: Share,
    /// How often most seats are right; a tie counts half.
    pub majority_accuracy: Share,
}

/// Carries out a plan.
pub fn simulate(plan: &Plan) -> Result<Findings, SimulateError> {
    if plan.trials == 0 {
        return Err(Invalid::new("trials is 0: hold one debate at least").into());
    }
    let population = &plan.population;
    let sitting = Sitting::new(&plan.protocol, population, plan.rounds, false)?;
    let held = sitting.hold(plan.trials, plan.seed)?;
    let votes: f64 = held.iter().map(Observation::first_vote).sum();
    let right = held.iter().filter(|seen| seen.is_right()).count();
    let against = |vote: f64, verdict: bool| {
        held.iter().filter(|seen| seen.first_vote() == vote && seen.is_right() == verdict).count()
    };
    let counted = |drift: f64| {
        let honest = Population { adversary: None, drift, ..population.clone() };
        neutral(&honest, NEUTRAL_ROUNDS, NEUTRAL_TRIALS, plan.seed)
    };
    let protocols: Vec<&str> = agon_protocols::PROTOCOLS.iter().map(|known| known.name()).collect();
    let protocols: &[&str] = if plan.curve { &protocols } else { &[] };
    Ok(Findings {
        first_round_vote: share(votes, held.len()),
        verdict: share(right as f64, held.len()),
        wrong_to_right: against(0.0, true),
        right_to_wrong: against(1.0, false),
        recovered: recovered(population, &held, plan.seed),
        rounds: rounds(&held, plan.seed),
        flips: held.iter().fold(Flips::default(), |sum, seen| sum + seen.flips),
        evidence_bar: bar(plan)?,
        neutral: counted(0.0),
        drifting: (population.drift > 0.0).then(|| counted(population.drift)),
        curves: curves(protocols, population, plan.trials, plan.seed)?,
        plan: plan.clone(),
    })
}

fn bar(plan: &Plan) -> Result<Option<EvidenceBar>, SimulateError> {
    let Population { flips, conformity, persuadable, .. } = plan.population;
    let shown = plan.protocol == "review" && flips + conformity > 0.0 && persuadable > 0.0;
    shown.then(|| evidence_bar(&plan.population, plan.trials, plan.seed)).transpose()
}

fn recovered(population: &Population, held: &[Observation], seed: u64) -> Vec<Recovered> {
    let found = estimates(held, seed);
    // An adversary never moves and moves others in its own way; who counts moves for another reason.
    let plain = population.adversary.is_none() && !population.neutral;
    let of = |name: &str, planted: Option<f64>, found: Estimate| {
        let within =
            planted.zip(found.interval).map(|(planted, [low, high])| (low..=high).contains(&planted));
        Recovered { name: name.to_owned(), planted, found, within }
    };
    vec![
        of("flips", plain.then_some(population.flips), found.flips),
        of("conformity", plain.then_some(population.conformity), found.conformity),
        of("persuadable", plain.then_some(population.persuadable), found.persuadable),
        of("position-bias", Some(population.position_bias), found.position_bias),
    ]
}

fn rounds(held: &[Observation], seed: u64) -> Vec<RoundFigures> {
    let longest = held.iter().max_by_key(|seen| seen.rounds.len());
    let numbers = longest.into_iter().flat_map(|seen| &seen.rounds).map(|round| round.number);
    let figures = numbers.enumerate().map(|(place, number)| {
        let after =
            held.iter().filter_map(|seen| Some((seen, seen.rounds.get(place).or(seen.rounds.last())?)));
        let (beliefs, votes): (Vec<f64>, Vec<f64>) = after
            .map(|(seen, round)| {
                (seen.right(round) as f64 / round.seats.len().max(1) as f64, seen.vote(round))
            })
            .unzip();
        RoundFigures {
            round: number,
            mean_belief: mean(&beliefs, seed),
            majority_accuracy: share(votes.iter().sum(), votes.len()),
        }
    });
    figures.collect()
}
