//! What the answers to each question come to, and the figures over all of them.

use std::collections::BTreeMap;

use crate::agreement::entropy;
use crate::independence::{Independence, effective_voices};
use crate::interval::mcnemar_exact;

use super::ballots::Ballots;
use super::packed::Packed;
use super::{Accuracy, Votes, gates};
use crate::audit::Bootstrap;
use crate::audit::resampling::{few, named, of_share};

/// All figures but those of single models, in the order in which [`Counted::figures`] gives them.
const NAMES: [&str; 11] = [
    "unanimous",
    "tied",
    "pairwise_agreement",
    "entropy",
    "best_single",
    "plurality",
    "gain",
    "oracle",
    "correct_when_unanimous",
    "mean_rho",
    "n_eff",
];

/// The ballots, and what they come to question by question.
pub(super) struct Counted {
    pub(super) ballots: Ballots,
    pub(super) right: Option<Right>,
    unanimous: Vec<bool>,
    agreement: Vec<f64>,
    entropy: Vec<f64>,
    /// Who is right, if that is known, then `unanimous` and `tied`, then the rest of [`Right`].
    packed: Packed,
}

/// Who is right about each question.
pub(super) struct Right {
    /// A list for each model.
    pub(super) models: Vec<Vec<bool>>,
    pub(super) plurality: Vec<bool>,
    best: usize,
    oracle: Vec<bool>,
    unanimous: Vec<bool>,
}

pub(super) fn audit(
    ballots: Ballots,
    asked: Option<(usize, usize)>,
    bootstrap: Bootstrap,
    threads: usize,
) -> Votes {
    let counted = Counted::of(ballots);
    let whole = counted.figures(&vec![1; counted.ballots.questions]);
    let drawn = bootstrap.intervals(counted.ballots.questions, threads, |counts| counted.figures(counts));
    let intervals: Vec<_> = drawn
        .into_iter()
        .zip(&whole)
        .enumerate()
        .map(|(place, (drawn, value))| match counted.share_of(place) {
            Some(questions) => of_share(drawn, *value, questions),
            None => drawn,
        })
        .collect();
    let figure = |name: &str| {
        let found = NAMES.iter().zip(&whole).find(|(known, _)| **known == name);
        found.map_or(f64::NAN, |(_, value)| *value)
    };
    let right = counted.right.as_ref().map(|right| {
        let of_models = intervals.iter().skip(NAMES.len()).copied();
        let models = || counted.ballots.models.iter().map(String::as_str);
        accuracy(right, &counted.ballots, &figure, named(models(), of_models))
    });
    Votes {
        questions: counted.ballots.questions,
        rows: counted.ballots.rows,
        models: counted.ballots.models.clone(),
        gold: counted.ballots.gold.as_ref().map(|(name, _)| name.clone()),
        right,
        unanimous: figure("unanimous"),
        pairwise_agreement: figure("pairwise_agreement"),
        entropy: figure("entropy"),
        tied: figure("tied"),
        agreement: counted.agreements(),
        gates: gates::every(&counted),
        gate: asked.map(|pair| gates::one(&counted, pair, bootstrap, threads)),
        intervals: named(NAMES, intervals.iter().copied()),
        bootstrap,
        notes: few(counted.ballots.questions, "questions").into_iter().chain(counted.ballots.notes).collect(),
    }
}

fn accuracy(
    right: &Right,
    ballots: &Ballots,
    figure: &dyn Fn(&str) -> f64,
    accuracy_intervals: crate::audit::Intervals,
) -> Accuracy {
    let known = |value: f64| value.is_finite().then_some(value);
    let independence = Independence::of(&right.models);
    let best = right.models.get(right.best).map_or(&[][..], Vec::as_slice);
    let only =
        |one: &[bool], other: &[bool]| one.iter().zip(other).filter(|(one, other)| **one && !**other).count();
    let share = |rights: &Vec<bool>| {
        rights.iter().filter(|right| **right).count() as f64 / rights.len().max(1) as f64
    };
    let each = ballots.models.iter().cloned().zip(right.models.iter().map(share));
    Accuracy {
        mean_rho: independence.mean_rho,
        n_eff: independence.n_eff,
        best_single: figure("best_single"),
        best_single_model: ballots.models.get(right.best).cloned().unwrap_or_default(),
        plurality: figure("plurality"),
        gain: figure("gain"),
        gain_p: mcnemar_exact(only(&right.plurality, best) as u64, only(best, &right.plurality) as u64),
        oracle: figure("oracle"),
        correct_when_unanimous: known(figure("correct_when_unanimous")),
        accuracy: each.collect::<BTreeMap<_, _>>(),
        accuracy_intervals,
        correlation: independence.correlation,
    }
}

impl Counted {
    fn of(ballots: Ballots) -> Self {
        let rows: Vec<Vec<Option<u32>>> = (0..ballots.questions)
            .map(|question| {
                ballots.answers.iter().map(|answers| answers.get(question).copied().flatten()).collect()
            })
            .collect();
        let unanimous: Vec<bool> = rows.iter().map(|row| unanimous(row)).collect();
        let polls: Vec<Vec<u32>> = rows.iter().map(|row| most_voted(row)).collect();
        let right = ballots.gold.as_ref().map(|(_, gold)| Right::of(&ballots, gold, &polls, &unanimous));
        let tied: Vec<bool> = polls.iter().map(|poll| poll.len() > 1).collect();
        let models = right.iter().flat_map(|right| &right.models);
        let others = right.iter().flat_map(|right| [&right.plurality, &right.oracle, &right.unanimous]);
        let columns: Vec<&[bool]> =
            models.chain([&unanimous, &tied]).chain(others).map(Vec::as_slice).collect();
        let packed = Packed::of(&columns);
        let given = |row: &Vec<Option<u32>>| entropy(&row.iter().flatten().collect::<Vec<_>>());
        Self {
            right,
            packed,
            agreement: rows.iter().map(|row| agreement(row)).collect(),
            entropy: rows.iter().map(given).collect(),
            unanimous,
            ballots,
        }
    }

    /// The figures over all questions, each counted as often as told: those of [`NAMES`], then the accuracy of each model.
    fn figures(&self, counts: &[u32]) -> Vec<f64> {
        let all = counts.len() as f64;
        let weighted = |values: &[f64]| {
            values.iter().zip(counts).map(|(value, count)| value * f64::from(*count)).sum::<f64>() / all
        };
        let shares: Vec<f64> = self.packed.sums(counts).into_iter().map(|sum| f64::from(sum) / all).collect();
        let models = self.right.as_ref().map_or(0, |right| right.models.len());
        let (each, others) = shares.split_at_checked(models).unwrap_or_default();
        let [unanimous, tied, of_right @ ..] = others else { return Vec::new() };
        let mut figures = vec![*unanimous, *tied, weighted(&self.agreement), weighted(&self.entropy)];
        if let (Some(right), [plurality, oracle, right_and_unanimous]) = (&self.right, of_right) {
            let best = each.get(right.best).copied().unwrap_or(f64::NAN);
            let rho = mean_rho(&self.packed, each, counts);
            let voices = effective_voices(models, rho).unwrap_or(f64::NAN);
            let when_unanimous = right_and_unanimous / unanimous;
            figures.extend([best, *plurality, plurality - best, *oracle, when_unanimous, rho, voices]);
            figures.extend(each);
        }
        figures
    }

    /// Of how many questions a figure is a share, if it is one.
    fn share_of(&self, place: usize) -> Option<usize> {
        match NAMES.get(place).copied() {
            Some("pairwise_agreement" | "entropy" | "gain" | "mean_rho" | "n_eff") => None,
            Some("correct_when_unanimous") => Some(self.unanimous.iter().filter(|all| **all).count()),
            _ => Some(self.ballots.questions),
        }
    }

    /// How many are asked for a question when two of them settle this share.
    pub(super) fn calls(&self, stops: f64) -> f64 {
        let models = self.ballots.models.len() as f64;
        2.0 * stops + models * (1.0 - stops)
    }

    fn agreements(&self) -> Vec<Vec<f64>> {
        let questions = self.ballots.questions as f64;
        let agree = |(one, other): &(&Option<u32>, &Option<u32>)| one.is_some() && one == other;
        let share = |one: &Vec<Option<u32>>, other: &Vec<Option<u32>>| {
            one.iter().zip(other).filter(agree).count() as f64 / questions
        };
        let answers = &self.ballots.answers;
        answers.iter().map(|one| answers.iter().map(|other| share(one, other)).collect()).collect()
    }
}

impl Right {
    fn of(ballots: &Ballots, gold: &[u32], polls: &[Vec<u32>], unanimous: &[bool]) -> Self {
        let is_right = |(answer, gold): (&Option<u32>, &u32)| *answer == Some(*gold);
        let models: Vec<Vec<bool>> =
            ballots.answers.iter().map(|answers| answers.iter().zip(gold).map(is_right).collect()).collect();
        let best = best(&ballots.models, &models);
        let of_best = ballots.answers.get(best).map_or(&[][..], Vec::as_slice);
        let decided = polls.iter().zip(of_best).map(|(poll, best)| decide(poll, *best));
        let plurality: Vec<bool> = decided.zip(gold).map(|(answer, gold)| answer == Some(*gold)).collect();
        let oracle: Vec<bool> = (0..gold.len())
            .map(|question| models.iter().any(|rights| rights.get(question).copied().unwrap_or_default()))
            .collect();
        let unanimous = unanimous.iter().zip(&plurality).map(|(all, right)| *all && *right).collect();
        Self { models, plurality, best, oracle, unanimous }
    }
}

/// The place of the one that is right most often; of several, of the one whose name comes first.
fn best(names: &[String], rights: &[Vec<bool>]) -> usize {
    let score = |rights: &Vec<bool>| rights.iter().filter(|right| **right).count();
    let better = |(_, (name, rights)): &(usize, (&String, &Vec<bool>))| {
        (std::cmp::Reverse(score(rights)), (*name).clone())
    };
    names.iter().zip(rights).enumerate().min_by_key(better).map_or(0, |(place, _)| place)
}

/// The answers that most give, in alphabetical order.
fn most_voted(row: &[Option<u32>]) -> Vec<u32> {
    let mut votes: BTreeMap<u32, usize> = BTreeMap::new();
    for answer in row.iter().flatten() {
        *votes.entry(*answer).or_default() += 1;
    }
    let most = votes.values().copied().max().unwrap_or_default();
    votes.into_iter().filter(|(_, count)| *count == most).map(|(answer, _)| answer).collect()
}

/// Of those that most give, that of the best single model, else the first.
fn decide(poll: &[u32], best: Option<u32>) -> Option<u32> {
    best.filter(|best| poll.contains(best)).or_else(|| poll.first().copied())
}

fn unanimous(row: &[Option<u32>]) -> bool {
    row.first().is_some_and(|first| first.is_some() && row.iter().all(|answer| answer == first))
}

/// The share of pairs that gave the same answer.
fn agreement(row: &[Option<u32>]) -> f64 {
    let alike = |(place, one): (usize, &Option<u32>)| {
        row.iter().skip(place + 1).filter(|other| one.is_some() && *other == one).count()
    };
    let pairs = row.len() * row.len().saturating_sub(1) / 2;
    row.iter().enumerate().map(alike).sum::<usize>() as f64 / pairs.max(1) as f64
}

/// The share of yes, each counted as often as told: the counts of a resample add up to its questions. Whole numbers, because
/// those can be summed several at a time.
pub(super) fn mean(yes: &[bool], counts: &[u32]) -> f64 {
    let in_favour: u32 = yes.iter().zip(counts).map(|(yes, count)| u32::from(*yes) * count).sum();
    f64::from(in_favour) / counts.len() as f64
}

/// The mean correlation of all pairs without looking at any of them: the variance of the sum of standardized variables is
/// their number and twice the sum of their correlations. A model that is always right or always wrong is in no pair. The
/// models come first in `packed`, and `means` are theirs.
fn mean_rho(packed: &Packed, means: &[f64], counts: &[u32]) -> f64 {
    let weight =
        |mean: &f64| if *mean > 0.0 && *mean < 1.0 { (mean * (1.0 - mean)).sqrt().recip() } else { 0.0 };
    let weights: Vec<f64> = means.iter().map(weight).collect();
    let models = weights.iter().filter(|weight| **weight > 0.0).count() as f64;
    let mean: f64 = means.iter().zip(&weights).map(|(mean, weight)| mean * weight).sum();
    let variance = packed.squares(&weights, counts) / counts.len() as f64 - mean * mean;
    if models < 2.0 { f64::NAN } else { (variance - models) / (models * (models - 1.0)) }
}

#[cfg(test)]
mod tests;
