//! The positions of the seats and how they changed.

use std::collections::BTreeSet;

use agon_core::{
    Debate, DecidedPosition, PositionFlip, PositionHistory, RoundPositions, SeatPosition, Status,
};
use serde::Serialize;

use crate::agreement;

/// The first positions, a plain vote on them, and whether the debate changed the verdict.
///
/// `vote` counts seats, but `changed_by_debate` compares the verdict with `ruling`, which follows the protocol's own rule. If one
/// FAIL among three is enough for FAIL, a FAIL verdict changes nothing although two of three seats said PASS.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FirstRound {
    /// The round.
    pub round: u32,
    /// The positions, most frequent first.
    pub positions: Vec<PositionCount>,
    /// The result of a plain vote; null if it is tied.
    pub vote: Option<String>,
    /// The tied positions, if the vote is tied.
    pub tied: Vec<String>,
    /// The verdict that the protocol's own rule would give on the first positions.
    pub ruling: Option<String>,
    /// The verdict.
    pub decided: Option<String>,
    /// Whether the verdict differs from `ruling`; null where nobody declared which positions are the same.
    pub changed_by_debate: Option<bool>,
}

/// A position and its holders.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PositionCount {
    /// The position.
    pub position: String,
    /// The number of seats that held it.
    pub count: usize,
    /// Their share of all seats.
    pub share: f64,
    /// The seats.
    pub seats: Vec<String>,
    /// Their labels, if they have any.
    pub labels: Vec<String>,
}

/// How often a seat changed its position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SeatFlips {
    /// The seat.
    pub seat: String,
    /// Its label.
    pub label: Option<String>,
    /// The number of changes.
    pub flips: usize,
    /// Changes that cite another seat's point or a piece of evidence.
    pub evidenced: usize,
    /// Changes toward the majority; null where that is not known of every change.
    pub toward_majority: Option<usize>,
}

/// How far the seats agreed after a round.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoundAgreement {
    /// The round.
    pub round: u32,
    /// The number of distinct positions; null where nobody declared which are the same. So are the other figures.
    pub positions: Option<usize>,
    /// The share of pairs of seats that held the same position.
    pub pairwise: Option<f64>,
    /// The entropy of the positions, in bits.
    pub entropy: Option<f64>,
    /// How much the entropy fell since the round before.
    pub information_gain: Option<f64>,
}

/// What a seat held after each round.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeatTrajectory {
    /// The seat.
    pub seat: String,
    /// Its label.
    pub label: Option<String>,
    /// Its positions, by round.
    pub positions: Vec<HeldPosition>,
}

/// What a seat held after a round.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeldPosition {
    /// The round.
    pub round: u32,
    /// The position.
    pub position: String,
    /// The score, if the position is one.
    pub value: Option<f64>,
    /// The seat's confidence, from 0 to 1.
    pub confidence: Option<f64>,
    /// Whether the seat changed its position in this round.
    pub changed: bool,
}

/// What the verdict would have been after each round.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Counterfactual {
    /// The verdicts, by round.
    pub rounds: Vec<RoundVerdict>,
    /// Rounds in which nobody revised a position. A round of votes is none of them.
    pub idle_rounds: Vec<u32>,
}

/// What the verdict would have been after a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RoundVerdict {
    /// The round.
    pub round: u32,
    /// The verdict by the protocol's own rule; null where it gives none, or where it is not known which positions are the same.
    pub verdict: Option<String>,
    /// Whether it differs from the round before; null where one of the two is not known.
    pub changed: Option<bool>,
    /// Whether it is the final verdict; null where that is not known.
    pub as_decided: Option<bool>,
}

pub(super) fn first_round(debate: &Debate, history: &PositionHistory) -> Option<FirstRound> {
    let first = history.rounds.first().filter(|first| !first.stands.is_empty())?;
    let all = first.stands.len();
    let positions = first.distinct().into_iter().map(|(position, holders)| PositionCount {
        position: position.to_owned(),
        count: holders.len(),
        share: holders.len() as f64 / all as f64,
        seats: holders.iter().map(|held| held.seat.clone()).collect(),
        labels: holders.iter().filter_map(|held| held.label.clone()).collect(),
    });
    let vote = first.plurality().map(str::to_owned);
    let is_known = first.is_sorted() && history.decided != DecidedPosition::Unknown;
    let tied = if vote.is_none() && first.is_sorted() { first.foremost() } else { Vec::new() };
    // An incomplete debate has no verdict, and with one round of positions there was no debate.
    let is_over = debate.outcome.as_ref().is_some_and(|outcome| outcome.status == Status::Complete);
    let was_debated = is_over && history.rounds.len() > 1;
    Some(FirstRound {
        round: first.round,
        positions: positions.collect(),
        vote,
        tied: tied.into_iter().map(str::to_owned).collect(),
        ruling: first.ruling.clone(),
        decided: history.decided.name().map(str::to_owned),
        changed_by_debate: (is_known || !was_debated)
            .then(|| was_debated && first.ruling.as_deref() != history.decided.name()),
    })
}

/// In seat order.
pub(super) fn flips_by_seat(history: &PositionHistory, flips: &[PositionFlip]) -> Vec<SeatFlips> {
    let Some(last) = history.rounds.last() else { return Vec::new() };
    let total = |seat: &str, counts: fn(&PositionFlip) -> bool| {
        flips.iter().filter(|flip| flip.seat == seat && counts(flip)).count()
    };
    let row = |held: &SeatPosition| SeatFlips {
        seat: held.seat.clone(),
        label: held.label.clone(),
        flips: total(&held.seat, |_| true),
        evidenced: total(&held.seat, |flip| flip.evidenced),
        toward_majority: (total(&held.seat, |flip| flip.toward_majority.is_none()) == 0)
            .then(|| total(&held.seat, |flip| flip.toward_majority == Some(true))),
    };
    last.stands.iter().map(row).collect()
}

pub(super) fn agreement_by_round(history: &PositionHistory) -> Vec<RoundAgreement> {
    let mut before: Option<f64> = None;
    let mut rows = Vec::new();
    for round in &history.rounds {
        let known = round.is_sorted().then(|| round.grouped(history.near));
        let entropy = known.as_deref().map(agreement::entropy_bits);
        rows.push(RoundAgreement {
            round: round.round,
            positions: known.as_ref().map(|known| known.iter().collect::<BTreeSet<_>>().len()),
            pairwise: known.as_deref().and_then(agreement::pairwise_agreement),
            entropy,
            information_gain: before.zip(entropy).map(|(before, entropy)| before - entropy),
        });
        before = entropy;
    }
    rows
}

/// In seat order.
pub(super) fn trajectories(history: &PositionHistory) -> Vec<SeatTrajectory> {
    let Some(last) = history.rounds.last() else { return Vec::new() };
    let held_by = |seat: &str| {
        let mut before: Option<&str> = None;
        let rounds = history.rounds.iter().filter_map(|round| {
            let held = round.of(seat)?;
            let changed = held.change.is_some() && before.is_some_and(|before| before != held.position);
            before = Some(&held.position);
            Some(HeldPosition {
                round: round.round,
                position: held.position.clone(),
                value: held.value,
                confidence: held.confidence,
                changed,
            })
        });
        rounds.collect()
    };
    let row = |held: &SeatPosition| SeatTrajectory {
        seat: held.seat.clone(),
        label: held.label.clone(),
        positions: held_by(&held.seat),
    };
    last.stands.iter().map(row).collect()
}

pub(super) fn counterfactual(debate: &Debate, history: &PositionHistory) -> Counterfactual {
    let decided = history.decided.name().filter(|_| debate.outcome.is_some());
    let is_decided = decided.is_some() || history.decided == DecidedPosition::Nothing;
    let known_verdict = |round: &RoundPositions| round.is_sorted().then(|| round.ruling.clone());
    let mut before: Option<&RoundPositions> = None;
    let (mut rounds, mut idle_rounds) = (Vec::new(), Vec::new());
    for round in &history.rounds {
        let verdict = known_verdict(round);
        let pair = verdict.as_ref().zip(before.map_or_else(|| verdict.clone(), known_verdict));
        // A position that has another name changed, although its holder may call it a detail.
        let is_renamed = |held: &SeatPosition| {
            let then = before.and_then(|before: &RoundPositions| before.of(&held.seat));
            then.is_some_and(|then| then.position != held.position)
        };
        let is_revised = round.stands.iter().any(|held| held.change.is_some() || is_renamed(held));
        if before.is_some() && !is_revised && !round.ballots {
            idle_rounds.push(round.round);
        }
        rounds.push(RoundVerdict {
            round: round.round,
            changed: pair.map(|(now, then)| *now != then),
            as_decided: verdict
                .as_ref()
                .filter(|_| is_decided)
                .map(|verdict| decided.is_some() && verdict.as_deref() == decided),
            verdict: verdict.flatten(),
        });
        before = Some(round);
    }
    Counterfactual { rounds, idle_rounds }
}
