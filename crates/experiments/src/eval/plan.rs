//! Every arm on every question.

use std::sync::Arc;

use agon_core::seed::Draw;
use agon_core::{Invalid, event};
use serde_json::{Value, json};

use crate::arms::{Arm, Wanted, arms};
use crate::dataset::Dataset;

/// JSON numbers are exact up to here.
const SEED_BITS: u32 = 53;
/// The version of the results' format.
pub(crate) const VERSION: u32 = 1;

/// What is to be tried on what.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The arms.
    pub arms: Vec<Arc<Arm>>,
    /// All arms on the first question, then all on the second...: whatever part of it is done, the arms can be compared.
    pub trials: Vec<Trial>,
    /// Where the seeds come from.
    pub seed: u64,
    header: Value,
}

/// One debate to hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// By which the results know it: the arm and the question's id.
    pub key: String,
    /// How it is held: protocol, models, roles and options.
    pub arm: Arc<Arm>,
    /// The question's place in the dataset.
    pub question: usize,
    /// The debate's seed.
    pub seed: u64,
}

impl Plan {
    /// The plan of a run. Everything that can be refused is refused here.
    pub fn new(dataset: &Dataset, wanted: &Wanted) -> Result<Self, Invalid> {
        let first = dataset.questions.first().ok_or_else(|| Invalid::new("there is no question to try"))?;
        let arms: Vec<Arc<Arm>> = arms(wanted, first)?.into_iter().map(Arc::new).collect();
        let trials = dataset.questions.iter().enumerate().flat_map(|(place, question)| {
            arms.iter().map(move |arm| {
                let key = format!("{}/{}", arm.name, question.id);
                let seed = Draw::new(wanted.seed, &key).next_u64() >> (u64::BITS - SEED_BITS);
                Trial { key, arm: arm.clone(), question: place, seed }
            })
        });
        let trials = trials.collect();
        let header = header(dataset, &arms, wanted)?;
        Ok(Self { arms, trials, seed: wanted.seed, header })
    }

    /// The first line of the results: what they are of, and its hash.
    pub fn header(&self) -> &Value {
        &self.header
    }

    /// The arm of this name.
    pub fn arm(&self, name: &str) -> Option<&Arc<Arm>> {
        self.arms.iter().find(|arm| arm.name == name)
    }

    /// The most calls that all trials can take when nobody is absent, and the fewest.
    pub fn calls(&self) -> [u64; 2] {
        let sum =
            |at: fn(&[u32; 2]) -> u32| self.trials.iter().map(|trial| u64::from(at(&trial.arm.calls))).sum();
        [sum(|[least, _]| *least), sum(|[_, most]| *most)]
    }
}

/// What decides the results. The templates belong to it: another version may ask differently.
fn header(dataset: &Dataset, arms: &[Arc<Arm>], wanted: &Wanted) -> Result<Value, Invalid> {
    let mut written = Vec::new();
    for arm in arms {
        let mut value = serde_json::to_value(&**arm).map_err(|why| Invalid(why.to_string()))?;
        if let Some(fields) = value.as_object_mut() {
            fields.insert("templates".into(), arm.templates()?);
        }
        written.push(value);
    }
    let mut header = json!({
        "agon_eval": VERSION,
        "dataset": dataset.hash(),
        "questions": dataset.questions.len(),
        "arms": written,
        "seed": wanted.seed,
        "limits": wanted.limits,
    });
    let hash = event::sha256(&header.to_string());
    if let Some(fields) = header.as_object_mut() {
        fields.insert("plan".into(), hash.into());
    }
    Ok(header)
}
