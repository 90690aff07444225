//! The file of results: a header, then a line for each trial as it ends.
//!
//! It is all that a run leaves behind, and all that another needs to go on: what has a line is not held again. The caller appends
//! lines and flushes each; a line that was cut by a crash is the last one, and is written over.

use std::collections::BTreeMap;
use std::ops::Add;

use agon_core::Invalid;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::dataset::Question;
use crate::plan::{Plan, Trial};

/// How one trial went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Which trial.
    pub key: String,
    /// Its arm.
    pub arm: String,
    /// The question's id.
    pub id: String,
    /// The debate, where there is one.
    pub debate: Option<String>,
    /// The answer; `None` where there is none, or none that can be read.
    pub answer: Option<String>,
    /// Whether it is right.
    pub correct: bool,
    /// Whether something was said in which no answer could be found.
    #[serde(default)]
    pub unread: bool,
    /// What was to be said.
    pub gold: Vec<String>,
    /// What it took.
    pub usage: Usage,
    /// What a vote on the first positions says, where the debate has such.
    pub first_round: Option<First>,
    /// How far the debate got.
    pub status: String,
    /// Why there is no debate, where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Row {
    /// A trial that could not be held.
    pub fn failed(trial: &Trial, question: &Question, why: &str) -> Self {
        Self {
            key: trial.key.clone(),
            arm: trial.arm.name.clone(),
            id: question.id.clone(),
            debate: None,
            answer: None,
            correct: false,
            unread: false,
            gold: question.gold.clone(),
            usage: Usage::default(),
            first_round: None,
            status: "failed".into(),
            why: Some(why.to_owned()),
        }
    }

    /// Whether it broke off without an answer: it counts as wrong, and is counted.
    pub fn is_failed(&self) -> bool {
        match self.status.as_str() {
            "complete" => false,
            "incomplete" => self.answer.is_none() && !self.unread,
            _ => true,
        }
    }

    /// The line, with its end.
    pub fn line(&self) -> Result<String, Invalid> {
        let line = serde_json::to_string(self).map_err(|why| Invalid(why.to_string()))?;
        Ok(format!("{line}\n"))
    }
}

/// What the vote on the first positions says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct First {
    /// Its answer; `None` where it is tied or cannot be read.
    pub answer: Option<String>,
    /// Whether it is right.
    pub correct: bool,
    /// What the debate had taken up to there.
    pub usage: Option<Usage>,
}

/// What a trial took.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Calls, every attempt counted.
    pub calls: u64,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// US dollars; `None` where a price is not known.
    pub usd: Option<f64>,
}

impl Usage {
    pub(crate) fn of(value: &Value) -> Self {
        let count = |key: &str| value.get(key).and_then(Value::as_u64).unwrap_or_default();
        Self {
            calls: count("calls"),
            input_tokens: count("input_tokens"),
            output_tokens: count("output_tokens"),
            usd: value.get("usd").and_then(Value::as_f64),
        }
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            input_tokens: self.input_tokens + other.input_tokens,
            output_tokens: self.output_tokens + other.output_tokens,
            usd: self.usd.zip(other.usd).map(|(one, more)| one + more),
        }
    }
}

/// What a file of results holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Kept {
    /// The results, each trial once, in the order of their lines.
    pub rows: Vec<Row>,
    /// How many bytes of the file are whole lines: the next line is written there.
    pub length: usize,
}

impl Kept {
    /// Reads a file of results; one that is of another plan, or broken before its last line, is refused. With `length` 0 the
    /// header is yet to be written.
    pub fn read(plan: &Plan, bytes: &[u8]) -> Result<Self, Invalid> {
        // What stands behind the last line break was cut off while it was written.
        let length = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let whole = bytes.get(..length).unwrap_or_default();
        let text = std::str::from_utf8(whole).map_err(|_| Invalid::new(FOREIGN))?;
        let mut lines = (1_usize..).zip(text.lines());
        let Some((_, header)) = lines.next() else { return Ok(Self::default()) };
        check_header(plan, header)?;
        let known: BTreeMap<&str, usize> =
            plan.trials.iter().enumerate().map(|(place, trial)| (trial.key.as_str(), place)).collect();
        let mut rows: Vec<Option<Row>> = Vec::new();
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let row: Row = serde_json::from_str(line).map_err(|why| {
                Invalid(format!("line {number} of the results cannot be read ({why}): take it out, and its trial is held again"))
            })?;
            let place = known.get(row.key.as_str()).copied().ok_or_else(|| {
                Invalid(format!("line {number} of the results is of the trial {:?}, which is not in the plan: take it out", row.key))
            })?;
            // A trial that was held again counts as it went the last time.
            if let Some(earlier) = places.insert(place, rows.len()).and_then(|at| rows.get_mut(at)) {
                *earlier = None;
            }
            rows.push(Some(row));
        }
        Ok(Self { rows: rows.into_iter().flatten().collect(), length })
    }

    /// The trials that have no result yet.
    pub fn outstanding<'a>(&self, plan: &'a Plan) -> Vec<&'a Trial> {
        let done: std::collections::BTreeSet<&str> = self.rows.iter().map(|row| row.key.as_str()).collect();
        plan.trials.iter().filter(|trial| !done.contains(trial.key.as_str())).collect()
    }
}

const FOREIGN: &str = "it is no file of results of `agon eval`: name another, or remove it";

/// Refuses the results of another plan, and says in what it differs.
fn check_header(plan: &Plan, line: &str) -> Result<(), Invalid> {
    let theirs: Value = serde_json::from_str(line).map_err(|_| Invalid::new(FOREIGN))?;
    let ours = plan.header();
    let field = |value: &Value, key: &str| value.get(key).cloned().unwrap_or_default();
    if !theirs.get("agon_eval").is_some_and(Value::is_u64) {
        return Err(Invalid::new(FOREIGN));
    }
    if field(&theirs, "plan") == field(ours, "plan") {
        return Ok(());
    }
    let what =
        [("agon_eval", "format"), ("dataset", "dataset"), ("seed", "seed"), ("limits", "set of limits")];
    let what = what.iter().find(|(key, _)| field(&theirs, key) != field(ours, key)).map(|(_, name)| *name);
    let what = what
        .map(str::to_owned)
        .unwrap_or_else(|| differing_arm(&field(&theirs, "arms"), &field(ours, "arms")));
    Err(Invalid(format!(
        "these results are of another run: its {what} differs. Go on with the same dataset, arms, models, seed and limits, or name another file"
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
