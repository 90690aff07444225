//! The positions of the seats and how they changed.
//!
//! Nothing is claimed about texts that nobody sorted into positions: every figure that depends on it is null.

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
    /// The number of the round, as the protocol counts.
    pub round: u32,
    /// The positions, most frequent first.
    pub positions: Vec<PositionCount>,
    /// The result of a plain vote; null if it is tied or not known.
    pub vote: Option<String>,
    /// The tied positions, if the vote is tied.
    pub tied: Vec<String>,
    /// The verdict that the protocol's own rule would give on the first positions.
    pub ruling: Option<String>,
    /// The position that the verdict states; null if there is no verdict or nobody declared its position.
    pub decided: Option<String>,
    /// Whether the verdict differs from `ruling`; null where one of the two is not known.
    pub changed_by_debate: Option<bool>,
}

/// A position and its holders.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PositionCount {
    /// Its name.
    pub position: String,
    /// The number of seats that are known to hold it.
    pub count: usize,
    /// Their share of all seats; null where other seats may hold the same.
    pub share: Option<f64>,
    /// The ids of these seats.
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
    /// Those that cite a point of the debate or of what it was given.
    pub by_argument: usize,
    /// Those that quote a source: something that was looked up or attached, and not what a seat argues.
    pub by_source: usize,
    /// Changes toward the majority; null where that is not known of every change.
    pub toward_majority: Option<usize>,
}

/// How far the seats agreed after a round.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoundAgreement {
    /// The round.
    pub round: u32,
    /// The number of distinct positions. This and the other figures are null where nobody declared which are the same.
    pub positions: Option<usize>,
    /// The share of pairs of seats that held the same position, or scores within the protocol's own range of each other.
    pub pairwise: Option<f64>,
    /// The entropy of the positions, in bits.
    pub entropy: Option<f64>,
    /// How much the entropy fell since the last round of its kind: of proposals, or of votes.
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
    /// Whether nobody declared which other positions of the round are the same. Left out of the JSON where it is false.
    #[serde(rename = "unsorted", skip_serializing_if = "std::ops::Not::not")]
    pub is_unsorted: bool,
}

/// What the verdict would have been after each round.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CounterfactualVerdicts {
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
    let (all, is_sorted) = (first.stands.len(), first.is_sorted());
    let positions = first.distinct().into_iter().map(|(position, holders)| PositionCount {
        position: position.to_owned(),
        count: holders.len(),
        share: is_sorted.then(|| holders.len() as f64 / all as f64),
        seats: holders.iter().map(|held| held.seat.clone()).collect(),
        labels: holders.iter().filter_map(|held| held.label.clone()).collect(),
    });
    let vote = first.plurality().map(str::to_owned);
    let tied = if vote.is_none() && is_sorted { first.foremost() } else { Vec::new() };
    Some(FirstRound {
        round: first.round,
        positions: positions.collect(),
        vote,
        tied: tied.into_iter().map(str::to_owned).collect(),
        ruling: first.ruling.clone().filter(|_| is_sorted),
        decided: history.decided.name().map(str::to_owned),
        changed_by_debate: is_changed(debate, history, first),
    })
}

fn is_changed(debate: &Debate, history: &PositionHistory, first: &RoundPositions) -> Option<bool> {
    if !first.is_sorted() {
        return None;
    }
    // An incomplete debate has no verdict, and with one round of positions there was no debate.
    let is_over = debate.outcome.as_ref().is_some_and(|outcome| outcome.status == Status::Complete);
    if !is_over || history.rounds.len() < 2 {
        return Some(false);
    }
    let is_known = history.decided != DecidedPosition::Unknown;
    is_known.then(|| first.ruling.as_deref() != history.decided.name())
}

/// The last position of every seat that took one, in seat order. A seat that does not vote is not in the last round.
pub(super) fn last_positions<'a>(debate: &Debate, history: &'a PositionHistory) -> Vec<&'a SeatPosition> {
    let mut last: Vec<&SeatPosition> = Vec::new();
    for held in history.rounds.iter().rev().flat_map(|round| &round.stands) {
        if last.iter().all(|known| known.seat != held.seat) {
            last.push(held);
        }
    }
    let place = |held: &&SeatPosition| debate.brief.seats.iter().position(|seat| seat.id == held.seat);
    last.sort_by_key(|held| place(held).unwrap_or(usize::MAX));
    last
}

/// In seat order.
pub(super) fn flips_by_seat(
    debate: &Debate,
    history: &PositionHistory,
    flips: &[PositionFlip],
) -> Vec<SeatFlips> {
    let total = |seat: &str, counts: fn(&PositionFlip) -> bool| {
        flips.iter().filter(|flip| flip.seat == seat && counts(flip)).count()
    };
    let row = |held: &SeatPosition| SeatFlips {
        seat: held.seat.clone(),
        label: held.label.clone(),
        flips: total(&held.seat, |_| true),
        evidenced: total(&held.seat, |flip| flip.evidenced),
        by_argument: total(&held.seat, |flip| flip.by_argument),
        by_source: total(&held.seat, |flip| flip.by_source),
        toward_majority: (total(&held.seat, |flip| flip.toward_majority.is_none()) == 0)
            .then(|| total(&held.seat, |flip| flip.toward_majority == Some(true))),
    };
    last_positions(debate, history).into_iter().map(row).collect()
}

pub(super) fn agreement_by_round(history: &PositionHistory) -> Vec<RoundAgreement> {
    let mut rows: Vec<RoundAgreement> = Vec::new();
    for round in &history.rounds {
        // Proposals and votes on them are different things.
        let alike = history.rounds.iter().zip(&rows).rev().find(|(other, _)| other.ballots == round.ballots);
        let before = alike.and_then(|(_, row)| row.entropy);
        let known = round.is_sorted().then(|| round.grouped(history.near));
        let entropy = known.as_deref().map(agreement::entropy_bits);
        rows.push(RoundAgreement {
            round: round.round,
            positions: known.as_ref().map(|known| known.iter().collect::<BTreeSet<_>>().len()),
            pairwise: known.as_ref().and_then(|_| round.pairs_agreeing(history.near)),
            entropy,
            information_gain: before.zip(entropy).map(|(before, entropy)| before - entropy),
        });
    }
    rows
}

/// In seat order.
pub(super) fn trajectories(debate: &Debate, history: &PositionHistory) -> Vec<SeatTrajectory> {
    let held_by = |seat: &str| {
        let rounds = history.rounds.iter().enumerate().filter_map(|(at, round)| {
            let held = round.of(seat)?;
            let changed = held.change.is_some() && is_renamed(history, at, held);
            Some(HeldPosition {
                round: round.round,
                position: held.position.clone(),
                value: held.value,
                confidence: held.confidence,
                changed,
                is_unsorted: !round.is_sorted() && held.is_unsorted,
            })
        });
        rounds.collect()
    };
    let row = |held: &SeatPosition| SeatTrajectory {
        seat: held.seat.clone(),
        label: held.label.clone(),
        positions: held_by(&held.seat),
    };
    last_positions(debate, history).into_iter().map(row).collect()
}

/// Whether a seat's position in the round at this place has another name than the one that it is compared with.
fn is_renamed(history: &PositionHistory, at: usize, held: &SeatPosition) -> bool {
    let before = history.before(at, &held.seat).and_then(|before| before.of(&held.seat));
    before.is_some_and(|before| before.position != held.position)
}

pub(super) fn counterfactual(debate: &Debate, history: &PositionHistory) -> CounterfactualVerdicts {
    let is_over = debate.outcome.is_some();
    let is_final = |verdict: &Option<String>| match &history.decided {
        DecidedPosition::Held(name) | DecidedPosition::New(name) if is_over => {
            Some(verdict.as_ref() == Some(name))
        }
        DecidedPosition::Nothing if is_over => Some(false),
        _ => None,
    };
    // The outer `None` is not known, the inner one is no verdict.
    let mut before: Option<Option<Option<String>>> = None;
    let (mut rounds, mut idle_rounds) = (Vec::new(), Vec::new());
    for (at, round) in history.rounds.iter().enumerate() {
        let verdict = round.is_sorted().then(|| round.ruling.clone());
        // A position that has another name changed, although its holder may call it a detail.
        let is_revised =
            round.stands.iter().any(|held| held.change.is_some() || is_renamed(history, at, held));
        if before.is_some() && !is_revised && !round.ballots {
            idle_rounds.push(round.round);
        }
        let then = before.as_ref().unwrap_or(&verdict);
        rounds.push(RoundVerdict {
            round: round.round,
            verdict: verdict.clone().flatten(),
            changed: verdict.as_ref().zip(then.as_ref()).map(|(now, then)| now != then),
            as_decided: verdict.as_ref().and_then(is_final),
        });
        before = Some(verdict);
    }
    CounterfactualVerdicts { rounds, idle_rounds }
}
