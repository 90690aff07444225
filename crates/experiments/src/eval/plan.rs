//! Every arm on every question.

use std::sync::Arc;

use agon_core::{Invalid, SeededDraw, event};
use serde_json::{Value, json};

use super::arms::{EvalArm, EvalRequest, arms};
use super::dataset::EvalDataset;

/// JSON numbers are exact up to here.
const SEED_BITS: u32 = 53;
/// The version of the format of the results file.
const FORMAT_VERSION: u32 = 2;

/// The trials of a run.
#[derive(Debug, Clone)]
pub struct EvalPlan {
    /// The arms.
    pub arms: Vec<Arc<EvalArm>>,
    /// All arms on the first question, then all on the second, and so on. So the arms can be compared after any part of the run.
    pub trials: Vec<EvalTrial>,
    /// The seed from which the seeds of the trials derive.
    pub seed: u64,
    /// The model that grades what arithmetic cannot.
    pub clerk: String,
    header: Value,
}

/// One arm on one question: a debate to hold.
#[derive(Debug, Clone, PartialEq)]
pub struct EvalTrial {
    /// The arm's name and the question's id: the key in the results file.
    pub key: String,
    /// The arm.
    pub arm: Arc<EvalArm>,
    /// The question's place in the dataset.
    pub question: usize,
    /// The debate's seed.
    pub seed: u64,
}

impl EvalPlan {
    /// The plan of a run. Anything that cannot be carried out is refused here, before the first call.
    pub fn new(dataset: &EvalDataset, request: &EvalRequest) -> Result<Self, Invalid> {
        let first = dataset.questions.first().ok_or_else(|| Invalid::new("there is no question to try"))?;
        let arms: Vec<Arc<EvalArm>> = arms(request, first)?.into_iter().map(Arc::new).collect();
        let trials = dataset.questions.iter().enumerate().flat_map(|(place, question)| {
            arms.iter().map(move |arm| {
                let key = format!("{}/{}", arm.name, question.id);
                let seed = SeededDraw::new(request.seed, &key).next_u64() >> (u64::BITS - SEED_BITS);
                EvalTrial { key, arm: arm.clone(), question: place, seed }
            })
        });
        let trials = trials.collect();
        let header = header(dataset, &arms, request)?;
        Ok(Self { arms, trials, seed: request.seed, clerk: request.clerk(), header })
    }

    /// The first line of the results file: what the results are of, with its hash.
    pub fn header(&self) -> &Value {
        &self.header
    }

    /// The arm with this name.
    pub fn arm(&self, name: &str) -> Option<&Arc<EvalArm>> {
        self.arms.iter().find(|arm| arm.name == name)
    }

    /// The fewest and the most calls of all trials, if no seat is absent.
    pub fn calls(&self) -> [u64; 2] {
        let sum =
            |at: fn(&[u32; 2]) -> u32| self.trials.iter().map(|trial| u64::from(at(&trial.arm.calls))).sum();
        [sum(|[fewest, _]| *fewest), sum(|[_, most]| *most)]
    }
}

/// Everything that influences the results. The templates are part of it, because another version may ask differently.
fn header(dataset: &EvalDataset, arms: &[Arc<EvalArm>], request: &EvalRequest) -> Result<Value, Invalid> {
    let mut written = Vec::new();
    for arm in arms {
        let mut value = serde_json::to_value(&**arm).map_err(|why| Invalid(why.to_string()))?;
        if let Some(fields) = value.as_object_mut() {
            fields.insert("templates".into(), arm.templates()?);
        }
        written.push(value);
    }
    let mut header = json!({
        "agon_eval": FORMAT_VERSION,
        "dataset": dataset.hash(),
        "questions": dataset.questions.len(),
        "arms": written,
        "seed": request.seed,
        "limits": request.limits,
        "clerk": request.clerk(),
    });
    let hash = event::sha256(&header.to_string());
    if let Some(fields) = header.as_object_mut() {
        fields.insert("plan".into(), hash.into());
    }
    Ok(header)
}
