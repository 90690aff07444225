//! Two debates side by side: what each came to, who held what after each round, and where they differ.

use agon_core::{Debate, Headline, RoundPositions, SeatPosition};
use serde::Serialize;
use serde_json::Value;

use crate::cli::debate_reading::DebateReading;
use crate::hosting::host_error::HostError;

/// Two debates side by side.
#[derive(Debug, Serialize)]
pub struct DebateComparison {
    pub a: ComparedDebate,
    pub b: ComparedDebate,
    /// The rounds of both, aligned by their numbers.
    pub rounds: Vec<ComparedRound>,
    /// Where they differ, in words: `question`, `seats`, `options`, `answer`, `dissent`, and rounds.
    pub differences: Vec<String>,
}

/// What one of them came to.
#[derive(Debug, Serialize)]
pub struct ComparedDebate {
    pub id: String,
    pub protocol: String,
    pub question: String,
    /// The debate that it is a branch of.
    pub parent: Option<String>,
    pub headline: Headline,
    pub dissent: Vec<String>,
    pub usage: Value,
    #[serde(skip)]
    seats: Vec<(String, String)>,
    #[serde(skip)]
    options: Value,
}

/// Who held what after a round, in each of them. Empty where a debate has no such round.
#[derive(Debug, Serialize)]
pub struct ComparedRound {
    pub round: u32,
    pub a: Vec<HeldPosition>,
    pub b: Vec<HeldPosition>,
    /// Whether the same seats held the same.
    pub same: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeldPosition {
    pub seat: String,
    pub position: String,
}

/// Compares two debates, over or not.
pub fn compare(a: &Debate, b: &Debate) -> Result<DebateComparison, HostError> {
    let (reading_a, reading_b) = (DebateReading::of(a)?, DebateReading::of(b)?);
    let rounds = aligned_rounds(&reading_a.view.positions.rounds, &reading_b.view.positions.rounds);
    let (a, b) = (compared(a, reading_a), compared(b, reading_b));
    let mut differences = Vec::new();
    let mut note = |differs: bool, what: &str| {
        if differs {
            differences.push(what.to_owned());
        }
    };
    note(a.protocol != b.protocol, "protocol");
    note(a.question != b.question, "question");
    note(a.seats != b.seats, "seats");
    note(a.options != b.options, "options");
    note(a.headline.decision() != b.headline.decision(), "answer");
    note(a.dissent != b.dissent, "dissent");
    differences
        .extend(rounds.iter().filter(|round| !round.same).map(|round| format!("round {}", round.round)));
    Ok(DebateComparison { a, b, rounds, differences })
}

fn compared(debate: &Debate, reading: DebateReading<'_>) -> ComparedDebate {
    let brief = &debate.brief;
    let dissent = reading.view.dissent.iter().map(|item| match &item.who {
        Some(who) => format!("{who}: {}", item.text),
        None => item.text.clone(),
    });
    ComparedDebate {
        id: brief.id.clone(),
        protocol: brief.protocol.clone(),
        question: brief.question.clone(),
        parent: brief.parent.as_ref().map(|parent| parent.id.clone()),
        dissent: dissent.collect(),
        usage: agon_core::document::usage(debate),
        seats: brief.seats.iter().map(|seat| (seat.id.clone(), seat.model.clone())).collect(),
        options: Value::Object(brief.options.clone()),
        headline: reading.view.headline,
    }
}

fn aligned_rounds(a: &[RoundPositions], b: &[RoundPositions]) -> Vec<ComparedRound> {
    let mut numbers: Vec<u32> = a.iter().chain(b).map(|round| round.round).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let held = |rounds: &[RoundPositions], number: u32| -> Vec<HeldPosition> {
        // A round may be listed more than once; what was held last counts.
        let last = rounds.iter().rev().find(|round| round.round == number);
        let position = |stand: &SeatPosition| HeldPosition {
            seat: stand.seat.clone(),
            position: stand.position.clone(),
        };
        last.into_iter().flat_map(|round| round.stands.iter().map(position)).collect()
    };
    let aligned = |round: u32| {
        let (a, b) = (held(a, round), held(b, round));
        ComparedRound { round, same: a == b, a, b }
    };
    numbers.into_iter().map(aligned).collect()
}
