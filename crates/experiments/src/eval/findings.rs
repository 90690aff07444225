//! Accuracy and cost with 95% intervals, paired tests, and whether debate helped.
//!
//! - Accuracy has Wilson's interval. Mean costs and differences have bootstrap intervals over the questions.
//! - Two arms are compared on the questions that both have results for, by McNemar's exact test. Holm's method corrects all tests of
//!   the table together, because with many comparisons some p is small by chance.
//! - A trial that failed counts as wrong. An answer that nobody could grade counts for nothing.

use std::collections::{BTreeMap, BTreeSet};

use agon_measure::intervals::{RESAMPLES, bootstrap_mean, mcnemar_exact, paired_difference, wilson};
use serde::Serialize;

use super::arms::{ArmKind, EvalArm};
use super::plan::EvalPlan;
use super::results::{ResultRow, TrialUsage};

/// Below this, a corrected p counts as a difference.
pub const SIGNIFICANT: f64 = 0.05;

/// What a run found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvalFindings {
    /// The number of questions in the dataset.
    pub questions: usize,
    /// The number of trials in the plan.
    pub planned: usize,
    /// The number of trials that have a result.
    pub done: usize,
    /// The model that graded what arithmetic could not, and how many trials it was asked about.
    pub clerk: Option<EvalClerk>,
    /// The unit in which costs are compared.
    pub cost_in: CostUnit,
    /// Each arm, in the order of the plan. The vote on the first positions of a debate follows the debate.
    pub arms: Vec<ArmFigures>,
    /// The comparisons of two arms.
    pub comparisons: Vec<ArmComparison>,
    /// What debate changed, for each debate arm.
    pub debates: Vec<DebateEffect>,
    /// How the bootstrap intervals were drawn.
    pub bootstrap: BootstrapInfo,
}

/// The clerk of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvalClerk {
    /// Its model.
    pub model: String,
    /// How many trials it was asked about.
    pub asked: u64,
}

/// The unit in which costs are compared: dollars if all prices are known and some are not 0, otherwise tokens, otherwise calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum CostUnit {
    Usd,
    Tokens,
    Calls,
}

/// How the bootstrap intervals were drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct BootstrapInfo {
    pub resamples: u32,
    pub seed: u64,
}

/// A mean over the questions, with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct MeanCost {
    pub mean: f64,
    pub interval: [f64; 2],
}

/// The figures of one arm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArmFigures {
    /// Its name.
    pub arm: String,
    /// Its kind.
    pub kind: ArmKind,
    /// The name of its protocol.
    pub protocol: String,
    /// The models that sit.
    pub models: Vec<String>,
    /// The fewest and the most calls per question that were expected.
    pub expected_calls: [u32; 2],
    /// For self-consistency: whether an equal budget would have been more samples than a plain vote has seats.
    pub capped: bool,
    /// The questions whose answers are graded.
    pub n: u64,
    /// Those with a right answer.
    pub correct: u64,
    /// Their share.
    pub accuracy: Option<f64>,
    /// The interval of the share.
    pub interval: [f64; 2],
    /// Trials that ended without an answer.
    pub failed: u64,
    /// Trials whose answer nobody could grade. They are not in `n`.
    pub unknown: u64,
    /// Calls per question.
    pub calls: Option<MeanCost>,
    /// Tokens per question, read and written.
    pub tokens: Option<MeanCost>,
    /// US dollars per question; `None` if a price is unknown.
    pub usd: Option<MeanCost>,
}

impl ArmFigures {
    /// The cost per question in this unit.
    pub fn cost(&self, unit: CostUnit) -> Option<MeanCost> {
        match unit {
            CostUnit::Usd => self.usd,
            CostUnit::Tokens => self.tokens,
            CostUnit::Calls => self.calls,
        }
    }
}

/// Two arms on the same questions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArmComparison {
    /// The first arm.
    pub arm: String,
    /// The arm it is compared with.
    pub against: String,
    /// The questions that both have a result for.
    pub n: u64,
    /// Questions that only the first arm got right.
    pub only_arm: u64,
    /// Questions that only the other arm got right.
    pub only_against: u64,
    /// The difference of the shares of right answers.
    pub difference: f64,
    /// The interval of the difference.
    pub interval: [f64; 2],
    /// The p of McNemar's exact test.
    pub p: f64,
    /// The same, corrected for all comparisons of the table.
    pub p_corrected: f64,
    /// The cost of the first arm divided by that of the other, if both are known.
    pub cost_ratio: Option<f64>,
}

impl ArmComparison {
    /// Whether the test shows a difference.
    pub fn is_significant(&self) -> bool {
        self.p_corrected < SIGNIFICANT
    }
}

/// What a debate made of the vote on its first positions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DebateEffect {
    /// The debate arm.
    pub arm: String,
    /// The questions for which both the vote and the verdict are known.
    pub n: u64,
    /// The vote was wrong and the verdict is right.
    pub wrong_to_right: u64,
    /// The vote was right and the verdict is wrong.
    pub right_to_wrong: u64,
    /// Both are right.
    pub stayed_right: u64,
    /// Both are wrong.
    pub stayed_wrong: u64,
}

impl EvalFindings {
    /// The findings from the results of a plan.
    pub fn of(plan: &EvalPlan, rows: &[ResultRow]) -> Self {
        let all = arm_results(plan, rows);
        let seed = plan.seed;
        let arms: Vec<ArmFigures> = all.iter().map(|results| figures(results, seed)).collect();
        let cost_in = cost_unit(&arms);
        let mut comparisons: Vec<ArmComparison> = pairs(&all)
            .into_iter()
            .filter_map(|(one, other)| comparison(one, other, cost_in, seed))
            .collect();
        correct_by_holm(&mut comparisons);
        let questions: BTreeSet<usize> = plan.trials.iter().map(|trial| trial.question).collect();
        Self {
            questions: questions.len(),
            planned: plan.trials.len(),
            done: rows.len(),
            clerk: clerk(rows),
            cost_in,
            debates: debate_effects(&all),
            arms,
            comparisons,
            bootstrap: BootstrapInfo { resamples: RESAMPLES, seed },
        }
    }

    /// The figures of the arm with this name.
    pub fn arm(&self, name: &str) -> Option<&ArmFigures> {
        self.arms.iter().find(|figures| figures.arm == name)
    }

    /// The debates that did not have the budget of self-consistency. The calls of a debate that may end early are not known in advance,
    /// so the budget that was planned may differ from what it used.
    pub fn unequal_budgets(&self) -> Vec<String> {
        let tried = self.arms.iter().filter(|figures| figures.n + figures.unknown > 0);
        let Some(sampled) = tried.clone().find(|figures| figures.kind == ArmKind::SelfConsistency) else {
            return Vec::new();
        };
        let varies = |[fewest, most]: [u32; 2]| fewest.saturating_mul(2) < most;
        let debates =
            tried.filter(|figures| figures.kind == ArmKind::Protocol && varies(figures.expected_calls));
        let note = |debate: &ArmFigures| {
            // The figures are shown in tenths, so they are compared in tenths.
            let (samples, calls) =
                (format!("{:.1}", sampled.calls?.mean), format!("{:.1}", debate.calls?.mean));
            (samples != calls).then(|| {
                let samples = samples.trim_end_matches(".0");
                format!(
                    "{} drew {samples} samples; {} made {calls} calls on average: not an equal budget",
                    sampled.arm, debate.arm
                )
            })
        };
        debates.filter_map(note).collect()
    }
}

/// The results of one arm.
struct ArmResults<'a> {
    name: String,
    kind: ArmKind,
    arm: &'a EvalArm,
    /// By the question's id.
    by_question: BTreeMap<&'a str, QuestionResult>,
}

/// The result of one arm on one question.
struct QuestionResult {
    /// `None` if nobody could grade it.
    correct: Option<bool>,
    failed: bool,
    /// `None` if it is unknown.
    usage: Option<TrialUsage>,
}

impl QuestionResult {
    fn cost(&self, unit: CostUnit) -> Option<f64> {
        let usage = self.usage?;
        match unit {
            CostUnit::Usd => usage.usd,
            CostUnit::Tokens => Some(usage.input_tokens.saturating_add(usage.output_tokens) as f64),
            CostUnit::Calls => Some(usage.calls as f64),
        }
    }
}

/// Every arm and, after each debate, the vote on its first positions, if there are results of it.
fn arm_results<'a>(plan: &'a EvalPlan, rows: &'a [ResultRow]) -> Vec<ArmResults<'a>> {
    let mut all = Vec::new();
    for arm in &plan.arms {
        let own = || rows.iter().filter(|row| row.arm == arm.name);
        let verdict = |row: &'a ResultRow| {
            let (correct, failed) = (row.correct, row.is_failed());
            (row.id.as_str(), QuestionResult { correct, failed, usage: Some(row.usage) })
        };
        let by_question = own().map(verdict).collect();
        all.push(ArmResults { name: arm.name.clone(), kind: arm.kind, arm, by_question });
        let vote = |row: &'a ResultRow| {
            let first = row.first_round.as_ref()?;
            // A tie has no answer, but it is not a failure.
            let result = QuestionResult { correct: first.correct, failed: false, usage: first.usage };
            Some((row.id.as_str(), result))
        };
        let by_question: BTreeMap<&str, QuestionResult> = own().filter_map(vote).collect();
        if arm.kind == ArmKind::Protocol && !by_question.is_empty() {
            let name = format!("{}, first round", arm.name);
            all.push(ArmResults { name, kind: ArmKind::FirstRound, arm, by_question });
        }
    }
    all
}

fn clerk(rows: &[ResultRow]) -> Option<EvalClerk> {
    let asked: Vec<&str> = rows.iter().filter_map(|row| Some(row.grading.as_ref()?.clerk.as_str())).collect();
    asked.first().map(|model| EvalClerk { model: (*model).to_owned(), asked: asked.len() as u64 })
}

fn figures(results: &ArmResults<'_>, seed: u64) -> ArmFigures {
    let count = |is: fn(&QuestionResult) -> bool| {
        results.by_question.values().filter(|result| is(result)).count() as u64
    };
    let n = count(|result| result.correct.is_some());
    let correct = count(|result| result.correct == Some(true));
    let (low, high) = wilson(correct, n);
    let mean = |unit: CostUnit| mean_cost(results, unit, seed);
    ArmFigures {
        arm: results.name.clone(),
        kind: results.kind,
        protocol: results.arm.protocol.clone(),
        models: results.arm.models.clone(),
        expected_calls: results.arm.calls,
        capped: results.arm.capped,
        n,
        correct,
        accuracy: (n > 0).then(|| correct as f64 / n as f64),
        interval: [low, high],
        failed: count(|result| result.failed),
        unknown: count(|result| result.correct.is_none()),
        calls: mean(CostUnit::Calls),
        tokens: mean(CostUnit::Tokens),
        usd: mean(CostUnit::Usd),
    }
}

fn mean_cost(results: &ArmResults<'_>, unit: CostUnit, seed: u64) -> Option<MeanCost> {
    let costs: Option<Vec<f64>> = results.by_question.values().map(|result| result.cost(unit)).collect();
    let costs = costs.filter(|costs| !costs.is_empty())?;
    let mean = costs.iter().sum::<f64>() / costs.len() as f64;
    let (low, high) = bootstrap_mean(&costs, RESAMPLES, seed)?;
    Some(MeanCost { mean, interval: [low, high] })
}

fn cost_unit(arms: &[ArmFigures]) -> CostUnit {
    let tried = || {
        arms.iter().filter(|figures| figures.n + figures.unknown > 0 && figures.kind != ArmKind::FirstRound)
    };
    let is_known = |unit: CostUnit| {
        tried().all(|figures| figures.cost(unit).is_some())
            && tried().any(|figures| figures.cost(unit).is_some_and(|cost| cost.mean > 0.0))
    };
    let mut units = [CostUnit::Usd, CostUnit::Tokens].into_iter();
    units.find(|unit| is_known(*unit)).unwrap_or(CostUnit::Calls)
}

/// Every arm is compared with `single`. A debate is also compared with `vote`, with `self-consistency`, and with the vote on its own
/// first positions.
fn pairs<'s, 'a>(all: &'s [ArmResults<'a>]) -> Vec<(&'s ArmResults<'a>, &'s ArmResults<'a>)> {
    let of_kind = |kind: ArmKind| all.iter().find(move |results| results.kind == kind);
    let mut pairs = Vec::new();
    for one in all {
        let own_vote =
            all.iter().find(|other| other.kind == ArmKind::FirstRound && other.arm.name == one.arm.name);
        let others = match one.kind {
            ArmKind::Single => [None; 4],
            ArmKind::Protocol => {
                let [single, vote, sampled] =
                    [ArmKind::Single, ArmKind::Vote, ArmKind::SelfConsistency].map(of_kind);
                [single, vote, sampled, own_vote]
            }
            _ => [of_kind(ArmKind::Single), None, None, None],
        };
        pairs.extend(others.into_iter().flatten().map(|other| (one, other)));
    }
    pairs
}

fn comparison(
    one: &ArmResults<'_>,
    other: &ArmResults<'_>,
    unit: CostUnit,
    seed: u64,
) -> Option<ArmComparison> {
    let both: Vec<(&QuestionResult, &QuestionResult)> = one
        .by_question
        .iter()
        .filter_map(|(id, result)| Some((result, other.by_question.get(id)?)))
        .filter(|(one, other)| one.correct.is_some() && other.correct.is_some())
        .collect();
    let right = |result: &QuestionResult| f64::from(u8::from(result.correct == Some(true)));
    let a: Vec<f64> = both.iter().map(|(result, _)| right(result)).collect();
    let b: Vec<f64> = both.iter().map(|(_, result)| right(result)).collect();
    let count = |a: bool, b: bool| {
        both.iter().filter(|(x, y)| (x.correct, y.correct) == (Some(a), Some(b))).count() as u64
    };
    let (only_arm, only_against) = (count(true, false), count(false, true));
    let (low, high) = paired_difference(&a, &b, RESAMPLES, seed)?;
    let p = mcnemar_exact(only_arm, only_against);
    let own: Option<f64> = both.iter().map(|(result, _)| result.cost(unit)).sum();
    let others: Option<f64> = both.iter().map(|(_, result)| result.cost(unit)).sum();
    Some(ArmComparison {
        arm: one.name.clone(),
        against: other.name.clone(),
        n: both.len() as u64,
        only_arm,
        only_against,
        difference: (only_arm as f64 - only_against as f64) / both.len() as f64,
        interval: [low, high],
        p,
        p_corrected: p,
        cost_ratio: own.zip(others).filter(|(_, others)| *others > 0.0).map(|(own, others)| own / others),
    })
}

/// Holm's correction over all comparisons.
fn correct_by_holm(comparisons: &mut [ArmComparison]) {
    let all = comparisons.len();
    let mut by_p: Vec<&mut ArmComparison> = comparisons.iter_mut().collect();
    by_p.sort_by(|one, other| one.p.total_cmp(&other.p));
    let mut least = 0.0_f64;
    for (rank, comparison) in by_p.into_iter().enumerate() {
        least = least.max(comparison.p * (all - rank) as f64).min(1.0);
        comparison.p_corrected = least;
    }
}

fn debate_effects(all: &[ArmResults<'_>]) -> Vec<DebateEffect> {
    let effect = |first: &ArmResults<'_>| {
        let debate =
            all.iter().find(|other| other.kind == ArmKind::Protocol && other.arm.name == first.arm.name)?;
        let both: Vec<(bool, bool)> = first
            .by_question
            .iter()
            .filter_map(|(id, vote)| Some((vote.correct?, debate.by_question.get(id)?.correct?)))
            .collect();
        let count =
            |vote: bool, verdict: bool| both.iter().filter(|pair| **pair == (vote, verdict)).count() as u64;
        Some(DebateEffect {
            arm: debate.name.clone(),
            n: both.len() as u64,
            wrong_to_right: count(false, true),
            right_to_wrong: count(true, false),
            stayed_right: count(true, true),
            stayed_wrong: count(false, false),
        })
    };
    all.iter().filter(|results| results.kind == ArmKind::FirstRound).filter_map(effect).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::eval::{EvalDataset, EvalRequest, EvalTrial};

    #[test]
    fn a_debate_that_ended_early_is_noted_as_an_unequal_budget() {
        let line = |n: u32| {
            json!({"id": n.to_string(), "question": format!("Question {n}?"), "answer": "B"}).to_string()
        };
        let dataset = EvalDataset::parse(&[line(1), line(2)].join("\n")).unwrap();
        let early = "deep:min_rounds=1,max_rounds=9";
        let arms = ["self-consistency", early, "deep"].map(String::from).to_vec();
        let models = ["a/x", "b/y", "c/z"].map(String::from).to_vec();
        let plan = EvalPlan::new(&dataset, &EvalRequest { arms, models, ..EvalRequest::default() }).unwrap();
        let [fewest, most] = plan.arm(early).unwrap().calls;
        assert!(fewest * 2 < most, "{fewest} {most}");
        let samples = u64::from(plan.arm("self-consistency").unwrap().calls[0]);
        let rows = |calls: [u64; 2]| -> Vec<ResultRow> {
            let row = |trial: &EvalTrial| {
                let mut row = ResultRow::failed(trial, &dataset.questions[trial.question], "");
                row.usage.calls = if trial.arm.name == early { calls[trial.question] } else { samples };
                row
            };
            plan.trials.iter().map(row).collect()
        };
        let expected = format!(
            "self-consistency drew {samples} samples; {early} made 8.5 calls on average: not an equal budget"
        );
        assert_eq!(EvalFindings::of(&plan, &rows([8, 9])).unequal_budgets(), [expected]);
        assert!(EvalFindings::of(&plan, &rows([samples, samples])).unequal_budgets().is_empty());
        assert!(EvalFindings::of(&plan, &[]).unequal_budgets().is_empty());
    }
}
