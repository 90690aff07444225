//! Two models first, and the others only when the two disagree.

use serde::Serialize;

use super::figures::{Counted, mean};
use crate::audit::resampling::{named, of_share};
use crate::audit::{Bootstrap, Intervals, Trouble};

/// "These two agree, else the plurality of all".
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gate {
    /// The two that are asked first.
    pub models: [String; 2],
    /// The share of questions that their agreement answers.
    pub stops: f64,
    /// How many models are asked for a question, on average.
    pub calls: f64,
    /// How often the answer is right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
}

/// A gate with the intervals of its figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AskedGate {
    /// The gate.
    #[serde(flatten)]
    pub gate: Gate,
    /// 95% intervals of `stops`, `calls` and `accuracy`.
    pub intervals: Intervals,
}

/// The places of the two models that were asked for, among those that are audited.
pub(super) fn asked(models: &[String], gate: &[String]) -> Result<Option<(usize, usize)>, Trouble> {
    let place = |name: &String| models.iter().position(|model| model == name);
    match gate {
        [] => Ok(None),
        [one, other] if one != other => match (place(one), place(other)) {
            (Some(one), Some(other)) => Ok(Some((one, other))),
            _ => Err(trouble(models, gate)),
        },
        _ => Err(trouble(models, gate)),
    }
}

fn trouble(models: &[String], gate: &[String]) -> Trouble {
    let example = models.iter().take(2).cloned().collect::<Vec<_>>().join(",");
    Trouble::Gate { example, given: gate.join(",") }
}

/// Every pair, in the order of the models.
pub(super) fn every(counted: &Counted) -> Vec<Gate> {
    let models = counted.ballots.models.len();
    let pairs = (0..models).flat_map(|one| (one + 1..models).map(move |other| (one, other)));
    pairs.map(|(one, other)| Opened::by(counted, one, other).gate(counted)).collect()
}

/// One of them, with intervals.
pub(super) fn one(
    counted: &Counted,
    (one, other): (usize, usize),
    bootstrap: Bootstrap,
    threads: usize,
) -> AskedGate {
    let opened = Opened::by(counted, one, other);
    let calls = |stops: f64| counted.calls(stops);
    let intervals = bootstrap.intervals(counted.ballots.questions, threads, |counts| {
        let stops = mean(&opened.stops, counts);
        vec![stops, calls(stops), opened.right.as_ref().map_or(f64::NAN, |right| mean(right, counts))]
    });
    let gate = opened.gate(counted);
    let values = [gate.stops, f64::NAN, gate.accuracy.unwrap_or(f64::NAN)];
    let of_shares = intervals.into_iter().zip(values);
    let intervals = of_shares.map(|(drawn, share)| of_share(drawn, share, counted.ballots.questions));
    AskedGate { intervals: named(["stops", "calls", "accuracy"], intervals), gate }
}

/// What a gate does with each question.
struct Opened {
    models: [String; 2],
    stops: Vec<bool>,
    right: Option<Vec<bool>>,
}

impl Opened {
    fn by(counted: &Counted, one: usize, other: usize) -> Self {
        let ballots = &counted.ballots;
        let name = |place: usize| ballots.models.get(place).cloned().unwrap_or_default();
        let answers = |place: usize| ballots.answers.get(place).map_or(&[][..], Vec::as_slice);
        let agree = |(one, other): (&Option<u32>, &Option<u32>)| one.is_some() && one == other;
        let stops: Vec<bool> = answers(one).iter().zip(answers(other)).map(agree).collect();
        let right = counted.right.as_ref().map(|right| {
            let first = right.models.get(one).map_or(&[][..], Vec::as_slice);
            let both = stops.iter().zip(first).zip(&right.plurality);
            both.map(|((stops, first), plurality)| if *stops { *first } else { *plurality }).collect()
        });
        Self { models: [name(one), name(other)], stops, right }
    }

    fn gate(self: &Opened, counted: &Counted) -> Gate {
        let share = |yes: &[bool]| yes.iter().filter(|yes| **yes).count() as f64 / yes.len().max(1) as f64;
        let stops = share(&self.stops);
        let accuracy = self.right.as_ref().map(|right| share(right));
        Gate { models: self.models.clone(), stops, calls: counted.calls(stops), accuracy }
    }
}
