//! Accuracy and cost with 95% intervals, paired tests, and whether debating helped.
//!
//! - Accuracy has Wilson's interval; mean costs and differences have bootstrap intervals over the questions.
//! - Two arms are compared on the questions that both were tried on, by McNemar's exact test. All tests of the table are corrected
//!   together by Holm's method: the more is compared, the less a single p says.
//! - A trial that failed counts as wrong.

use agon_evidence::interval::{RESAMPLES, bootstrap_mean, mcnemar_exact, paired_difference, wilson};
use serde::Serialize;

use crate::arms::Kind;
use crate::plan::Plan;
use crate::results::Row;
use series::{Series, cost, series};

mod notes;
mod series;

/// Below this a corrected p is taken for a difference that is there.
pub const SIGNIFICANT: f64 = 0.05;

/// What a run found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Findings {
    /// Questions of the dataset.
    pub questions: usize,
    /// Trials of the plan.
    pub planned: usize,
    /// Those that have a result.
    pub done: usize,
    /// What costs are compared in.
    pub cost_in: CostIn,
    /// Each arm, in the order of the plan, the vote inside a debate behind it.
    pub arms: Vec<Figures>,
    /// Who was compared with whom.
    pub comparisons: Vec<Comparison>,
    /// What debating changed, for each debate arm.
    pub debates: Vec<Debated>,
    /// Where the intervals come from.
    pub bootstrap: Bootstrap,
}

/// What costs are compared in: dollars where all prices are known and not nothing, else tokens, else calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum CostIn {
    Usd,
    Tokens,
    Calls,
}

/// How the bootstrap intervals were drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Bootstrap {
    pub resamples: u32,
    pub seed: u64,
}

/// A mean over the questions, with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Mean {
    pub mean: f64,
    pub interval: [f64; 2],
}

/// How one arm did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// Its name.
    pub arm: String,
    /// What it is.
    pub kind: Kind,
    /// The protocol that it is held as.
    pub protocol: String,
    /// The models that sit.
    pub models: Vec<String>,
    /// The fewest and the most calls a question that were expected.
    pub expected_calls: [u32; 2],
    /// For self-consistency: whether an equal budget would have been more samples than a poll has seats.
    pub capped: bool,
    /// Questions that it was tried on.
    pub n: u64,
    /// Those that it got right.
    pub correct: u64,
    /// Their share.
    pub accuracy: Option<f64>,
    /// The interval of the share.
    pub interval: [f64; 2],
    /// Trials that broke off without an answer.
    pub failed: u64,
    /// Trials that said something in which no answer was found.
    pub unread: u64,
    /// Calls a question.
    pub calls: Option<Mean>,
    /// Tokens a question, read and written.
    pub tokens: Option<Mean>,
    /// US dollars a question; `None` where a price is not known.
    pub usd: Option<Mean>,
}

impl Figures {
    /// What a question cost, in the measure that the arms are compared in.
    pub fn cost(&self, measure: CostIn) -> Option<Mean> {
        match measure {
            CostIn::Usd => self.usd,
            CostIn::Tokens => self.tokens,
            CostIn::Calls => self.calls,
        }
    }
}

/// Two arms on the same questions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The one.
    pub arm: String,
    /// The other.
    pub against: String,
    /// Questions that both were tried on.
    pub n: u64,
    /// Questions that only the one got right.
    pub only_arm: u64,
    /// Questions that only the other got right.
    pub only_against: u64,
    /// How much more of the questions the one got right.
    pub difference: f64,
    /// The interval of the difference.
    pub interval: [f64; 2],
    /// McNemar's exact test.
    pub p: f64,
    /// The same, corrected for all comparisons of the table.
    pub p_corrected: f64,
    /// How many times as much the one cost, where that is known.
    pub cost_ratio: Option<f64>,
}

impl Comparison {
    /// Whether a difference is shown.
    pub fn is_shown(&self) -> bool {
        self.p_corrected < SIGNIFICANT
    }
}

/// What became of a debate's first vote.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Debated {
    /// The debate arm.
    pub arm: String,
    /// Questions on which both the vote and the verdict are known.
    pub n: u64,
    /// The vote was wrong and the verdict right.
    pub wrong_to_right: u64,
    /// The vote was right and the verdict wrong.
    pub right_to_wrong: u64,
    /// Both were right.
    pub stayed_right: u64,
    /// Both were wrong.
    pub stayed_wrong: u64,
}

impl Findings {
    /// What the results of a plan come to.
    pub fn of(plan: &Plan, rows: &[Row]) -> Self {
        let all = series(plan, rows);
        let seed = plan.seed;
        let arms: Vec<Figures> = all.iter().map(|series| figures(series, seed)).collect();
        let cost_in = cost_in(&arms);
        let mut comparisons: Vec<Comparison> = pairs(&all)
            .into_iter()
            .filter_map(|(one, other)| comparison(one, other, cost_in, seed))
            .collect();
        correct(&mut comparisons);
        let questions: std::collections::BTreeSet<usize> =
            plan.trials.iter().map(|trial| trial.question).collect();
        Self {
            questions: questions.len(),
            planned: plan.trials.len(),
            done: rows.len(),
            cost_in,
            debates: debates(&all),
            arms,
            comparisons,
            bootstrap: Bootstrap { resamples: RESAMPLES, seed },
        }
    }

    /// The figures of the arm of this name.
    pub fn arm(&self, name: &str) -> Option<&Figures> {
        self.arms.iter().find(|figures| figures.arm == name)
    }
}

fn figures(series: &Series<'_>, seed: u64) -> Figures {
    let count =
        |is: fn(&series::Point) -> bool| series.points.values().filter(|point| is(point)).count() as u64;
    let (n, correct) = (series.points.len() as u64, count(|point| point.correct));
    let (low, high) = wilson(correct, n);
    let mean = |measure: CostIn| mean(series, measure, seed);
    Figures {
        arm: series.name.clone(),
        kind: series.kind,
        protocol: series.arm.protocol.clone(),
        models: series.arm.models.clone(),
        expected_calls: series.arm.calls,
        capped: series.arm.capped,
        n,
        correct,
        accuracy: (n > 0).then(|| correct as f64 / n as f64),
        interval: [low, high],
        failed: count(|point| point.failed),
        unread: count(|point| point.unread),
        calls: mean(CostIn::Calls),
        tokens: mean(CostIn::Tokens),
        usd: mean(CostIn::Usd),
    }
}

fn mean(series: &Series<'_>, measure: CostIn, seed: u64) -> Option<Mean> {
    let values: Option<Vec<f64>> = series.points.values().map(|point| cost(point.usage?, measure)).collect();
    let values = values.filter(|values| !values.is_empty())?;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let (low, high) = bootstrap_mean(&values, RESAMPLES, seed)?;
    Some(Mean { mean, interval: [low, high] })
}

fn cost_in(arms: &[Figures]) -> CostIn {
    let tried = || arms.iter().filter(|figures| figures.n > 0 && figures.kind != Kind::FirstRound);
    let known = |measure: CostIn| {
        let all = tried().all(|figures| figures.cost(measure).is_some());
        all && tried().any(|figures| figures.cost(measure).is_some_and(|cost| cost.mean > 0.0))
    };
    let mut measures = [CostIn::Usd, CostIn::Tokens].into_iter();
    measures.find(|measure| known(*measure)).unwrap_or(CostIn::Calls)
}

/// Every arm with `single`; every debate also with `vote`, with `self-consistency`, and with the vote on its own first positions.
fn pairs<'s, 'a>(all: &'s [Series<'a>]) -> Vec<(&'s Series<'a>, &'s Series<'a>)> {
    let of_kind = |kind: Kind| all.iter().find(move |series| series.kind == kind);
    let mut pairs = Vec::new();
    for one in all {
        let own = all.iter().find(|other| other.kind == Kind::FirstRound && other.arm.name == one.arm.name);
        let others = match one.kind {
            Kind::Single => [None; 4],
            Kind::Protocol => {
                [of_kind(Kind::Single), of_kind(Kind::Vote), of_kind(Kind::SelfConsistency), own]
            }
            _ => [of_kind(Kind::Single), None, None, None],
        };
        pairs.extend(others.into_iter().flatten().map(|other| (one, other)));
    }
    pairs
}

fn comparison(one: &Series<'_>, other: &Series<'_>, measure: CostIn, seed: u64) -> Option<Comparison> {
    let both: Vec<(&series::Point, &series::Point)> =
        one.points.iter().filter_map(|(id, point)| Some((point, other.points.get(id)?))).collect();
    let right = |point: &series::Point| f64::from(u8::from(point.correct));
    let a: Vec<f64> = both.iter().map(|(point, _)| right(point)).collect();
    let b: Vec<f64> = both.iter().map(|(_, point)| right(point)).collect();
    let count =
        |a: bool, b: bool| both.iter().filter(|(x, y)| (x.correct, y.correct) == (a, b)).count() as u64;
    let (only_arm, only_against) = (count(true, false), count(false, true));
    let (low, high) = paired_difference(&a, &b, RESAMPLES, seed)?;
    let p = mcnemar_exact(only_arm, only_against);
    let total = |of: fn(&(&series::Point, &series::Point)) -> Option<crate::results::Usage>| -> Option<f64> {
        both.iter().map(|pair| cost(of(pair)?, measure)).sum()
    };
    let (own, theirs) = (total(|(point, _)| point.usage), total(|(_, point)| point.usage));
    Some(Comparison {
        arm: one.name.clone(),
        against: other.name.clone(),
        n: both.len() as u64,
        only_arm,
        only_against,
        difference: (only_arm as f64 - only_against as f64) / both.len() as f64,
        interval: [low, high],
        p,
        p_corrected: p,
        cost_ratio: own.zip(theirs).filter(|(_, theirs)| *theirs > 0.0).map(|(own, theirs)| own / theirs),
    })
}

/// Holm's correction over all comparisons.
fn correct(comparisons: &mut [Comparison]) {
    let mut order: Vec<usize> = (0..comparisons.len()).collect();
    let p = |at: &usize| comparisons.get(*at).map_or(1.0, |comparison| comparison.p);
    order.sort_by(|one, other| p(one).total_cmp(&p(other)));
    let mut least = 0.0_f64;
    for (rank, at) in order.iter().enumerate() {
        if let Some(comparison) = comparisons.get_mut(*at) {
            least = least.max(comparison.p * (order.len() - rank) as f64).min(1.0);
            comparison.p_corrected = least;
        }
    }
}

fn debates(all: &[Series<'_>]) -> Vec<Debated> {
    let debated = |first: &Series<'_>| {
        let debate =
            all.iter().find(|other| other.kind == Kind::Protocol && other.arm.name == first.arm.name)?;
        let both: Vec<(bool, bool)> = first
            .points
            .iter()
            .filter_map(|(id, vote)| Some((vote.correct, debate.points.get(id)?.correct)))
            .collect();
        let count =
            |vote: bool, verdict: bool| both.iter().filter(|pair| **pair == (vote, verdict)).count() as u64;
        Some(Debated {
            arm: debate.name.clone(),
            n: both.len() as u64,
            wrong_to_right: count(false, true),
            right_to_wrong: count(true, false),
            stayed_right: count(true, true),
            stayed_wrong: count(false, false),
        })
    };
    all.iter().filter(|series| series.kind == Kind::FirstRound).filter_map(debated).collect()
}
