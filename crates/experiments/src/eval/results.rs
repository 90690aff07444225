//! The results file: a header, then a line for each trial as it ends.
//!
//! An interrupted run continues from this file: a trial that has a line is not held again. The caller appends lines and flushes each, so
//! only the last line can be cut by a crash. It is overwritten.

use std::collections::BTreeSet;
use std::ops::Add;

use agon_core::{Debate, Invalid};
use agon_measure::evidence::PhaseCost;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::dataset::EvalQuestion;
use super::plan::{EvalPlan, EvalTrial};

/// The result of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultRow {
    /// The trial's key.
    pub key: String,
    /// The name of its arm.
    pub arm: String,
    /// The question's id.
    pub id: String,
    /// The id of its debate; `None` if there is none.
    pub debate: Option<String>,
    /// The answer; `None` if there is none.
    pub answer: Option<String>,
    /// Whether it is right; `None` if that is not known.
    pub correct: Option<bool>,
    /// How that is known.
    pub graded_by: Option<GradedBy>,
    /// The gold answers.
    pub gold: Vec<String>,
    /// What it used.
    pub usage: TrialUsage,
    /// What a vote on the first positions says, if the debate has any that can be read.
    pub first_round: Option<FirstVote>,
    /// How the clerk graded it, if the clerk was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grading: Option<GradingRecord>,
    /// The debate's status: `complete`, `incomplete`, `failed` or `interrupted`.
    pub status: String,
    /// Why there is no debate or no grade, if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl ResultRow {
    /// The result of a trial that could not be held.
    pub fn failed(trial: &EvalTrial, question: &EvalQuestion, why: &str) -> Self {
        Self {
            key: trial.key.clone(),
            arm: trial.arm.name.clone(),
            id: question.id.clone(),
            debate: None,
            answer: None,
            correct: Some(false),
            graded_by: None,
            gold: question.gold.clone(),
            usage: TrialUsage::default(),
            first_round: None,
            grading: None,
            status: "failed".into(),
            why: Some(why.to_owned()),
        }
    }

    /// Whether it ended without an answer. Such a trial counts as wrong, and the findings say how many there are.
    pub fn is_failed(&self) -> bool {
        match self.status.as_str() {
            "complete" => false,
            "incomplete" => self.answer.is_none() && self.correct.is_some(),
            _ => true,
        }
    }

    /// The line of the results file, with its line break.
    pub fn line(&self) -> Result<String, Invalid> {
        let line = serde_json::to_string(self).map_err(|why| Invalid(why.to_string()))?;
        Ok(format!("{line}\n"))
    }
}

/// What a vote on the first positions of a debate says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FirstVote {
    /// Its answer; `None` if it is tied.
    pub answer: Option<String>,
    /// Whether it is right; `None` if that is not known.
    pub correct: Option<bool>,
    /// What the debate had used by then.
    pub usage: Option<TrialUsage>,
}

/// How it is known whether an answer is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GradedBy {
    /// It is an option, a number or an equal text.
    Arithmetic,
    /// The clerk declared it, with quotes that verify.
    Clerk,
}

/// The clerk's call for one trial. It does not count as the arm's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GradingRecord {
    /// The id of its log.
    pub debate: String,
    /// The clerk's model.
    pub clerk: String,
    /// What it used.
    pub usage: TrialUsage,
}

/// What a trial used.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct TrialUsage {
    /// Calls, every attempt counted.
    pub calls: u64,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// US dollars; `None` if a price is unknown.
    pub usd: Option<f64>,
}

impl TrialUsage {
    pub(super) fn of_debate(debate: &Debate) -> Self {
        let spent = debate.spent();
        Self {
            calls: u64::from(spent.calls),
            input_tokens: spent.input_tokens,
            output_tokens: spent.output_tokens,
            usd: spent.usd_known.then_some(spent.usd),
        }
    }

    pub(super) fn of_phase(phase: &PhaseCost) -> Self {
        Self {
            calls: u64::from(phase.calls),
            input_tokens: phase.input_tokens,
            output_tokens: phase.output_tokens,
            usd: phase.usd,
        }
    }
}

impl Add for TrialUsage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            usd: self.usd.zip(other.usd).map(|(one, more)| one + more),
        }
    }
}

/// What a results file holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoredResults {
    /// The results, one for each trial, in the order of their lines.
    pub rows: Vec<ResultRow>,
    /// The length of the file up to its last complete line, in bytes. The next line is written there.
    pub length: usize,
}

impl StoredResults {
    /// Reads a results file. A file that belongs to another plan, or that is broken before its last line, is refused. If `length` is
    /// 0, the header is still to be written.
    pub fn read(plan: &EvalPlan, bytes: &[u8]) -> Result<Self, Invalid> {
        // Whatever follows the last line break was cut off by a crash.
        let length = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let complete = bytes.get(..length).unwrap_or_default();
        let text = std::str::from_utf8(complete).map_err(|_| Invalid::new(NOT_RESULTS))?;
        let mut lines = (1_usize..).zip(text.lines());
        let Some((_, header)) = lines.next() else { return Ok(Self::default()) };
        check_header(plan, header)?;
        let planned: BTreeSet<&str> = plan.trials.iter().map(|trial| trial.key.as_str()).collect();
        let mut rows: Vec<ResultRow> = Vec::new();
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let row: ResultRow = serde_json::from_str(line).map_err(|why| {
                Invalid(format!(
                    "line {number} of the results cannot be read ({why}): remove it, and its trial is held again"
                ))
            })?;
            if !planned.contains(row.key.as_str()) {
                let key = &row.key;
                return Err(Invalid(format!(
                    "line {number} of the results is of the trial {key:?}, which is not in the plan: remove it"
                )));
            }
            rows.push(row);
        }
        Ok(Self { rows: latest_results(rows), length })
    }

    /// The trials that are still to be held: those without a result and, with `retry`, those that failed.
    pub fn outstanding<'a>(&self, plan: &'a EvalPlan, retry: bool) -> Vec<&'a EvalTrial> {
        let done = self.rows.iter().filter(|row| !(retry && row.is_failed()));
        let done: BTreeSet<&str> = done.map(|row| row.key.as_str()).collect();
        plan.trials.iter().filter(|trial| !done.contains(trial.key.as_str())).collect()
    }
}

/// The seed of the run that a results file is of. `None` if there is no run yet.
pub fn seed_of_results(bytes: &[u8]) -> Option<u64> {
    let header: Value = serde_json::from_slice(bytes.split(|byte| *byte == b'\n').next()?).ok()?;
    header.get("seed")?.as_u64()
}

/// The last result of each trial: a trial that was held again counts as it went the last time.
pub fn latest_results(rows: Vec<ResultRow>) -> Vec<ResultRow> {
    let mut seen = BTreeSet::new();
    let mut latest: Vec<ResultRow> =
        rows.into_iter().rev().filter(|row| seen.insert(row.key.clone())).collect();
    latest.reverse();
    latest
}

const NOT_RESULTS: &str = "it is not a results file of `agon eval`: name another file, or remove this one";

/// Refuses the results of another plan, and says what differs.
fn check_header(plan: &EvalPlan, line: &str) -> Result<(), Invalid> {
    let theirs: Value = serde_json::from_str(line).map_err(|_| Invalid::new(NOT_RESULTS))?;
    let ours = plan.header();
    let field = |value: &Value, key: &str| value.get(key).cloned().unwrap_or_default();
    if !theirs.get("agon_eval").is_some_and(Value::is_u64) {
        return Err(Invalid::new(NOT_RESULTS));
    }
    if field(&theirs, "plan") == field(ours, "plan") {
        return Ok(());
    }
    let what =
        [("agon_eval", "format"), ("dataset", "dataset"), ("seed", "seed"), ("limits", "set of limits")];
    let what = what.iter().find(|(key, _)| field(&theirs, key) != field(ours, key)).map(|(_, name)| *name);
    let (their_arms, our_arms) = (field(&theirs, "arms"), field(ours, "arms"));
    let what = match what {
        Some(what) => what.to_owned(),
        None if their_arms == our_arms => "clerk".to_owned(),
        None => differing_arm(&their_arms, &our_arms),
    };
    Err(Invalid(format!(
        "these results belong to another run: its {what} differs. Continue with the same dataset, arms, models, seed and limits, or name another file"
    )))
}

fn differing_arm(theirs: &Value, ours: &Value) -> String {
    let name = |arm: &Value| arm.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let list = |arms: &Value| arms.as_array().cloned().unwrap_or_default();
    let (theirs, ours) = (list(theirs), list(ours));
    let names = |arms: &[Value]| arms.iter().map(name).collect::<Vec<_>>();
    if names(&theirs) != names(&ours) {
        return format!("list of arms ({})", names(&theirs).join(", "));
    }
    let mut pairs = theirs.iter().zip(&ours).filter(|(their, our)| their != our);
    let Some((their, our)) = pairs.next() else { return "plan".into() };
    let keys = ["models", "roles", "options", "templates", "calls"];
    let key = keys.iter().find(|key| their.get(**key) != our.get(**key)).copied().unwrap_or("kind");
    format!("arm {}, in its {key},", name(our))
}
