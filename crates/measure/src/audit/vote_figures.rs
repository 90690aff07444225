//! The figures of a vote, over the whole table and over resamples of it.

use std::collections::BTreeMap;

use super::answer_table::AnswerTable;
use super::bit_columns::BitColumns;
use super::votes::{AgreementGate, GateAudit, VoteAccuracy, VoteAudit};
use super::{BootstrapOptions, FigureIntervals, small_sample_note};
use crate::agreement::entropy_bits;
use crate::independence::{PanelIndependence, effective_voices};
use crate::intervals::{mcnemar_exact, name_intervals, share_interval};

/// The names of [`VoteFigures::panel`].
const PANEL_FIGURES: [&str; 11] = [
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

/// The figures over a resample, `NaN` where it does not determine one.
struct VoteFigures {
    /// In the order of [`PANEL_FIGURES`].
    panel: [f64; PANEL_FIGURES.len()],
    /// How often each model is right; empty if the right answers are unknown.
    models: Vec<f64>,
}

pub(super) fn measure_votes(
    answers: AnswerTable,
    gate: Option<(usize, usize)>,
    bootstrap: BootstrapOptions,
    threads: usize,
) -> VoteAudit {
    let counted = CountedAnswers::new(answers);
    let questions = counted.answers.questions;
    let whole = counted.figures(&vec![1; questions]);
    let mut drawn = bootstrap
        .intervals(questions, threads, |counts| {
            let VoteFigures { panel, models } = counted.figures(counts);
            panel.into_iter().chain(models).collect()
        })
        .into_iter();
    let panel = drawn.by_ref().take(PANEL_FIGURES.len()).zip(PANEL_FIGURES).zip(whole.panel);
    let panel = panel.map(|((drawn, name), value)| match counted.share_base(name) {
        Some(base) => share_interval(drawn, value, base),
        None => drawn,
    });
    let intervals = name_intervals(PANEL_FIGURES, panel.collect::<Vec<_>>());
    let of_models = drawn.zip(&whole.models).map(|(drawn, share)| share_interval(drawn, *share, questions));
    let model_names = counted.answers.models.iter().map(String::as_str);
    let accuracy_intervals = name_intervals(model_names, of_models);
    let [unanimous, tied, pairwise_agreement, entropy, ..] = whole.panel;
    VoteAudit {
        questions,
        rows: counted.answers.rows,
        models: counted.answers.models.clone(),
        gold: counted.answers.gold.as_ref().map(|(name, _)| name.clone()),
        right: counted.right.as_ref().map(|right| counted.accuracy(right, &whole, accuracy_intervals)),
        unanimous,
        pairwise_agreement,
        entropy,
        tied,
        agreement: counted.agreement_matrix(),
        gates: counted.all_gates(),
        gate: gate.map(|(one, other)| counted.audit_gate(one, other, bootstrap, threads)),
        intervals,
        bootstrap,
        notes: small_sample_note(questions, "questions").into_iter().chain(counted.answers.notes).collect(),
    }
}

/// The answers and what follows from them for each question.
struct CountedAnswers {
    answers: AnswerTable,
    right: Option<RightAnswers>,
    unanimous: Vec<bool>,
    agreement: Vec<f64>,
    entropy: Vec<f64>,
    /// In this order: [`RightAnswers::models`] if known, `unanimous`, `tied`, the other columns of [`RightAnswers`].
    columns: BitColumns,
}

/// Who is right about each question.
struct RightAnswers {
    /// For each model.
    models: Vec<Vec<bool>>,
    /// The place of the best single model.
    best: usize,
    plurality: Vec<bool>,
    /// At least one model is right.
    oracle: Vec<bool>,
    /// All models are right.
    unanimous: Vec<bool>,
}

impl CountedAnswers {
    fn new(answers: AnswerTable) -> Self {
        let answers_to = |question: usize| {
            answers.answers.iter().map(|of_model| of_model.get(question).copied().flatten()).collect()
        };
        let rows: Vec<Vec<Option<u32>>> = (0..answers.questions).map(answers_to).collect();
        let unanimous: Vec<bool> = rows.iter().map(|row| is_unanimous(row)).collect();
        let most_frequent: Vec<Vec<u32>> = rows.iter().map(|row| most_frequent(row)).collect();
        let gold = answers.gold.as_ref();
        let right = gold.map(|(_, gold)| RightAnswers::new(&answers, gold, &most_frequent, &unanimous));
        let tied: Vec<bool> = most_frequent.iter().map(|answers| answers.len() > 1).collect();
        let models = right.iter().flat_map(|right| &right.models);
        let others = right.iter().flat_map(|right| [&right.plurality, &right.oracle, &right.unanimous]);
        let columns: Vec<&[bool]> =
            models.chain([&unanimous, &tied]).chain(others).map(Vec::as_slice).collect();
        let columns = BitColumns::new(&columns);
        let entropy = |row: &Vec<Option<u32>>| entropy_bits(&row.iter().flatten().collect::<Vec<_>>());
        Self {
            right,
            columns,
            agreement: rows.iter().map(|row| agreement_share(row)).collect(),
            entropy: rows.iter().map(entropy).collect(),
            unanimous,
            answers,
        }
    }

    /// The figures over all questions, where question `i` counts `counts[i]` times. The counts add up to their number.
    fn figures(&self, counts: &[u32]) -> VoteFigures {
        let all = counts.len() as f64;
        let mean = |values: &[f64]| {
            values.iter().zip(counts).map(|(value, count)| value * f64::from(*count)).sum::<f64>() / all
        };
        let shares: Vec<f64> =
            self.columns.sums(counts).into_iter().map(|sum| f64::from(sum) / all).collect();
        let model_count = self.right.as_ref().map_or(0, |right| right.models.len());
        let (models, others) = shares.split_at_checked(model_count).unwrap_or_default();
        let (unanimous, tied, of_right) = match others {
            [unanimous, tied, of_right @ ..] => (*unanimous, *tied, of_right),
            _ => (f64::NAN, f64::NAN, &[][..]),
        };
        let (agreement, entropy) = (mean(&self.agreement), mean(&self.entropy));
        let [best, plurality, oracle, when_unanimous, rho, voices] = match (&self.right, of_right) {
            (Some(right), [plurality, oracle, right_and_unanimous]) => {
                let best = models.get(right.best).copied().unwrap_or(f64::NAN);
                let rho = self.mean_error_correlation(models, counts);
                let voices = effective_voices(model_count, rho).unwrap_or(f64::NAN);
                [best, *plurality, *oracle, right_and_unanimous / unanimous, rho, voices]
            }
            _ => [f64::NAN; 6],
        };
        let gain = plurality - best;
        VoteFigures {
            panel: [
                unanimous,
                tied,
                agreement,
                entropy,
                best,
                plurality,
                gain,
                oracle,
                when_unanimous,
                rho,
                voices,
            ],
            models: models.to_vec(),
        }
    }

    /// The mean correlation over all pairs, without a loop over pairs: the variance of a sum of standardized variables is their
    /// number plus twice the sum of their correlations. `means` are the models' accuracies. A model that is always right or
    /// always wrong is in no pair.
    fn mean_error_correlation(&self, means: &[f64], counts: &[u32]) -> f64 {
        let weight =
            |mean: &f64| if *mean > 0.0 && *mean < 1.0 { (mean * (1.0 - mean)).sqrt().recip() } else { 0.0 };
        let weights: Vec<f64> = means.iter().map(weight).collect();
        let models = weights.iter().filter(|weight| **weight > 0.0).count() as f64;
        let mean: f64 = means.iter().zip(&weights).map(|(mean, weight)| mean * weight).sum();
        let square = self.columns.weighted_square_sum(&weights, counts) / counts.len() as f64;
        let variance = square - mean * mean;
        if models < 2.0 { f64::NAN } else { (variance - models) / (models * (models - 1.0)) }
    }

    /// The number of questions that a figure is a share of; `None` if it is not a share.
    fn share_base(&self, figure: &str) -> Option<usize> {
        match figure {
            "pairwise_agreement" | "entropy" | "gain" | "mean_rho" | "n_eff" => None,
            "correct_when_unanimous" => Some(self.unanimous.iter().filter(|all| **all).count()),
            _ => Some(self.answers.questions),
        }
    }

    fn accuracy(
        &self,
        right: &RightAnswers,
        whole: &VoteFigures,
        accuracy_intervals: FigureIntervals,
    ) -> VoteAccuracy {
        let [.., best_single, plurality, gain, oracle, when_unanimous, _, _] = whole.panel;
        let independence = PanelIndependence::from_errors(&right.models);
        let best = right.models.get(right.best).map_or(&[][..], Vec::as_slice);
        let only = |one: &[bool], other: &[bool]| {
            one.iter().zip(other).filter(|(one, other)| **one && !**other).count() as u64
        };
        let names = self.answers.models.iter().cloned();
        VoteAccuracy {
            mean_rho: independence.mean_rho,
            n_eff: independence.n_eff,
            best_single,
            best_single_model: self.answers.models.get(right.best).cloned().unwrap_or_default(),
            plurality,
            gain,
            gain_p: mcnemar_exact(only(&right.plurality, best), only(best, &right.plurality)),
            oracle,
            correct_when_unanimous: when_unanimous.is_finite().then_some(when_unanimous),
            accuracy: names.zip(whole.models.iter().copied()).collect(),
            accuracy_intervals,
            correlation: independence.correlation,
        }
    }

    fn agreement_matrix(&self) -> Vec<Vec<f64>> {
        let answers = &self.answers.answers;
        answers
            .iter()
            .map(|one| answers.iter().map(|other| true_share(&agreed(one, other))).collect())
            .collect()
    }

    /// For every pair, in the order of the models.
    fn all_gates(&self) -> Vec<AgreementGate> {
        let models = self.answers.models.len();
        let pairs = (0..models).flat_map(|one| (one + 1..models).map(move |other| (one, other)));
        pairs.map(|(one, other)| self.gate(one, other, &self.gate_columns(one, other))).collect()
    }

    fn audit_gate(&self, one: usize, other: usize, bootstrap: BootstrapOptions, threads: usize) -> GateAudit {
        let columns = self.gate_columns(one, other);
        let questions = self.answers.questions;
        let drawn = bootstrap.intervals(questions, threads, |counts| {
            let stops = weighted_share(&columns.stops, counts);
            let accuracy = columns.right.as_ref().map_or(f64::NAN, |right| weighted_share(right, counts));
            vec![stops, self.calls(stops), accuracy]
        });
        let gate = self.gate(one, other, &columns);
        // `calls` is not a share, so it keeps its drawn interval.
        let shares = [gate.stops, f64::NAN, gate.accuracy.unwrap_or(f64::NAN)];
        let intervals =
            drawn.into_iter().zip(shares).map(|(drawn, share)| share_interval(drawn, share, questions));
        GateAudit { intervals: name_intervals(["stops", "calls", "accuracy"], intervals), gate }
    }

    fn gate(&self, one: usize, other: usize, columns: &GateColumns) -> AgreementGate {
        let name = |place: usize| self.answers.models.get(place).cloned().unwrap_or_default();
        let stops = true_share(&columns.stops);
        let accuracy = columns.right.as_ref().map(|right| true_share(right));
        AgreementGate { models: [name(one), name(other)], stops, calls: self.calls(stops), accuracy }
    }

    fn gate_columns(&self, one: usize, other: usize) -> GateColumns {
        let answers = |place: usize| self.answers.answers.get(place).map_or(&[][..], Vec::as_slice);
        let stops = agreed(answers(one), answers(other));
        let right = self.right.as_ref().map(|right| {
            let first = right.models.get(one).map_or(&[][..], Vec::as_slice);
            let both = stops.iter().zip(first).zip(&right.plurality);
            both.map(|((stops, first), plurality)| if *stops { *first } else { *plurality }).collect()
        });
        GateColumns { stops, right }
    }

    /// How many models are asked per question if the first two settle this share of the questions.
    fn calls(&self, stops: f64) -> f64 {
        2.0 * stops + self.answers.models.len() as f64 * (1.0 - stops)
    }
}

/// What a gate does with each question.
struct GateColumns {
    /// The two agree.
    stops: Vec<bool>,
    /// The resulting answer is right.
    right: Option<Vec<bool>>,
}

impl RightAnswers {
    fn new(answers: &AnswerTable, gold: &[u32], most_frequent: &[Vec<u32>], unanimous: &[bool]) -> Self {
        let is_right = |(answer, gold): (&Option<u32>, &u32)| *answer == Some(*gold);
        let of_model = |answers: &Vec<Option<u32>>| answers.iter().zip(gold).map(is_right).collect();
        let models: Vec<Vec<bool>> = answers.answers.iter().map(of_model).collect();
        let best = best_model(&answers.models, &models);
        let best_answers = answers.answers.get(best).map_or(&[][..], Vec::as_slice);
        let plurality: Vec<bool> = most_frequent
            .iter()
            .zip(best_answers)
            .map(|(tied, best)| best.filter(|best| tied.contains(best)).or_else(|| tied.first().copied()))
            .zip(gold)
            .map(|(answer, gold)| answer == Some(*gold))
            .collect();
        let any_right = |question: usize| models.iter().any(|right| right.get(question) == Some(&true));
        let oracle = (0..gold.len()).map(any_right).collect();
        let unanimous = unanimous.iter().zip(&plurality).map(|(all, right)| *all && *right).collect();
        Self { models, best, plurality, oracle, unanimous }
    }
}

/// The place of the model that is right most often; a tie goes to the first name.
fn best_model(names: &[String], right: &[Vec<bool>]) -> usize {
    let order = |(_, (name, right)): &(usize, (&String, &Vec<bool>))| {
        (std::cmp::Reverse(right.iter().filter(|right| **right).count()), (*name).clone())
    };
    names.iter().zip(right).enumerate().min_by_key(order).map_or(0, |(place, _)| place)
}

/// The most frequent answers, in alphabetical order.
fn most_frequent(row: &[Option<u32>]) -> Vec<u32> {
    let mut votes: BTreeMap<u32, usize> = BTreeMap::new();
    for answer in row.iter().flatten() {
        *votes.entry(*answer).or_default() += 1;
    }
    let most = votes.values().copied().max().unwrap_or_default();
    votes.into_iter().filter(|(_, count)| *count == most).map(|(answer, _)| answer).collect()
}

fn is_unanimous(row: &[Option<u32>]) -> bool {
    row.first().is_some_and(|first| first.is_some() && row.iter().all(|answer| answer == first))
}

/// The share of pairs that gave the same answer. Two missing answers are not the same.
fn agreement_share(row: &[Option<u32>]) -> f64 {
    let equal_later = |(place, one): (usize, &Option<u32>)| {
        row.iter().skip(place + 1).filter(|other| one.is_some() && *other == one).count()
    };
    let pairs = row.len() * row.len().saturating_sub(1) / 2;
    row.iter().enumerate().map(equal_later).sum::<usize>() as f64 / pairs.max(1) as f64
}

/// For each question, whether two models gave the same answer.
fn agreed(one: &[Option<u32>], other: &[Option<u32>]) -> Vec<bool> {
    one.iter().zip(other).map(|(one, other)| one.is_some() && one == other).collect()
}

fn true_share(values: &[bool]) -> f64 {
    values.iter().filter(|value| **value).count() as f64 / values.len().max(1) as f64
}

/// The share of true values, where value `i` counts `counts[i]` times. Integers, so that the compiler can sum several at once.
fn weighted_share(values: &[bool], counts: &[u32]) -> f64 {
    let sum: u32 = values.iter().zip(counts).map(|(value, count)| u32::from(*value) * count).sum();
    f64::from(sum) / counts.len() as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_mean_correlation_equals_the_mean_over_pairs(
            right in proptest::collection::vec(proptest::collection::vec(any::<bool>(), 12), 2..6)
        ) {
            let answers = right.iter().map(|right| right.iter().map(|right| Some(u32::from(*right))).collect());
            let counted = CountedAnswers::new(AnswerTable {
                models: (0..right.len()).map(|n| n.to_string()).collect(),
                answers: answers.collect(),
                gold: Some((String::new(), vec![1; 12])),
                questions: 12,
                rows: 12,
                notes: Vec::new(),
            });
            let means: Vec<f64> = right.iter().map(|right| true_share(right)).collect();
            let short = counted.mean_error_correlation(&means, &[1; 12]);
            let over_pairs = PanelIndependence::from_errors(&right).mean_rho;
            prop_assert_eq!(short.is_finite(), over_pairs.is_some());
            prop_assert!(over_pairs.is_none_or(|over_pairs| (over_pairs - short).abs() < 1e-9));
        }
    }
}
