//! The rubric: what is scored, and how much each dimension weighs.

use agon_core::{Artifact, Invalid};
use serde_json::{Value, json};

use crate::named;

/// The option whose file is a rubric of the user's own.
pub(super) const PART: &str = "rubric";
const DIMENSIONS_MAX: usize = 12;
const WHOLE: f64 = 100.0;
/// Weights are written by people, in tenths and thirds.
const WEIGHT_TOLERANCE: f64 = 1e-6;

/// One dimension.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dimension {
    /// In snake_case: the name in every JSON and YAML.
    pub(super) key: String,
    pub(super) weight: f64,
    pub(super) description: String,
}

/// The dimensions, in the order in which everybody reads them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rubric {
    pub(super) dimensions: Vec<Dimension>,
}

/// The seed's five dimensions.
const STANDARD: &[(&str, f64, &str)] = &[
    ("problem_understanding", 20.0, "is the problem that is to be solved understood, and the right one?"),
    ("architecture_quality", 25.0, "is the structure sound, and no more than is needed?"),
    ("risk_mitigation", 20.0, "are the risks named and met?"),
    ("implementation_clarity", 20.0, "could somebody else build it from this?"),
    ("feasibility", 15.0, "can it be done with the time, people and means that there are?"),
];

impl Rubric {
    /// The rubric of a request or a brief: the user's own where there is one.
    pub(super) fn of(files: &[Artifact]) -> Result<Self, Invalid> {
        match files.iter().find(|file| file.part.as_deref() == Some(PART)) {
            Some(file) => read(file),
            None => Ok(Self::standard()),
        }
    }

    fn standard() -> Self {
        let dimension = |(key, weight, description): &(&str, f64, &str)| Dimension {
            key: (*key).to_owned(),
            weight: *weight,
            description: (*description).to_owned(),
        };
        Self { dimensions: STANDARD.iter().map(dimension).collect() }
    }

    /// What a judge's scores weigh to, on the same scale.
    pub(super) fn weighted(&self, scores: &[f64]) -> f64 {
        self.dimensions.iter().zip(scores).map(|(dimension, score)| dimension.weight * score).sum::<f64>()
            / WHOLE
    }

    /// As the verdict shows it.
    pub(super) fn record(&self) -> Vec<Value> {
        let dimensions = self.dimensions.iter();
        dimensions.map(|d| json!({"name": d.key, "weight": d.weight, "description": d.description})).collect()
    }
}

fn read(file: &Artifact) -> Result<Rubric, Invalid> {
    let wrong = |why: String| Invalid(format!("the rubric {}: {why}", file.path));
    let entries = named::read(&file.text, &["weight", "description"]).map_err(wrong)?;
    let mut dimensions: Vec<Dimension> = Vec::new();
    for (name, value) in entries {
        let dimension = dimension(&name, &value).map_err(wrong)?;
        if dimensions.iter().any(|other| other.key == dimension.key) {
            return Err(wrong(format!("the dimension {} is there twice", dimension.key)));
        }
        dimensions.push(dimension);
    }
    if dimensions.is_empty() || dimensions.len() > DIMENSIONS_MAX {
        let count = dimensions.len();
        return Err(wrong(format!("it must have 1 to {DIMENSIONS_MAX} dimensions, but it has {count}")));
    }
    let sum: f64 = dimensions.iter().map(|dimension| dimension.weight).sum();
    if (sum - WHOLE).abs() > WEIGHT_TOLERANCE {
        return Err(wrong(format!("its weights must sum to 100, but they sum to {}", super::tidy(sum))));
    }
    Ok(Rubric { dimensions })
}

/// `name: weight`, or `{name, weight, description?}`.
fn dimension(name: &str, value: &Value) -> Result<Dimension, String> {
    let key = snake_case(name);
    if key.is_empty() {
        return Err(format!("a dimension has the name {name:?}, in which there is no letter or digit"));
    }
    let weight = value.as_f64().or_else(|| value.get("weight").and_then(Value::as_f64));
    let weight = weight.filter(|weight| weight.is_finite() && *weight > 0.0);
    let weight =
        weight.ok_or_else(|| format!("the dimension {key} needs a weight over 0, such as `{key}: 20`"))?;
    let description = value.get("description").and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    Ok(Dimension { key, weight, description })
}

/// A name as a key: `Risk Mitigation` is `risk_mitigation`.
fn snake_case(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("_")
}
