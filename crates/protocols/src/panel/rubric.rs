//! The rubric: what is scored, how much each dimension weighs, and what the points of the scale mean.

use agon_core::{BriefFile, Invalid, PromptTemplate};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::rounded;
use crate::named_lists::read_named_list;

/// The option whose file is the user's own rubric.
const RUBRIC_PART: &str = "rubric";
/// The standard rubric, listed among the templates so that a log records its hash.
pub(super) const STANDARD: PromptTemplate =
    PromptTemplate { file: "panel/rubric.toml", text: include_str!("rubric.toml") };
const DIMENSIONS_MAX: usize = 12;
const WEIGHTS_SUM: f64 = 100.0;
/// People write weights in tenths and thirds.
const WEIGHT_TOLERANCE: f64 = 1e-6;
/// What the points 1 to 5 mean for a dimension that has no anchors of its own.
const ANCHORS: [&str; 5] = [
    "missing or wrong",
    "serious gaps that must be closed first",
    "acceptable, with gaps that matter",
    "good, with small gaps",
    "nothing to improve",
];

/// The dimensions, in the order in which everybody reads them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rubric {
    pub(super) dimensions: Vec<RubricDimension>,
}

/// Something that is scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RubricDimension {
    /// In snake_case, the same in every JSON and YAML.
    #[serde(rename = "name")]
    pub key: String,
    pub weight: f64,
    pub description: String,
    /// What the points 1 to 5 mean.
    #[serde(skip)]
    pub anchors: Vec<String>,
}

impl RubricDimension {
    /// The question that a judge is asked about it.
    pub(super) fn question(&self) -> String {
        let about = match self.description.trim_end_matches('?') {
            "" => String::new(),
            about => format!(": {about}"),
        };
        let (lowest, highest) = (self.anchors.first(), self.anchors.last());
        let [lowest, highest] = [lowest, highest].map(|anchor| anchor.map_or("", String::as_str));
        let name = self.key.replace('_', " ");
        format!("How good is its {name}{about}? From 1 ({lowest}) to 5 ({highest}).")
    }
}

impl Rubric {
    /// The user's own rubric among these files, else the standard one.
    pub(super) fn of(files: &[BriefFile]) -> Result<Self, Invalid> {
        let own = files.iter().find(|file| file.part.as_deref() == Some(RUBRIC_PART));
        let (path, text) = own.map_or((STANDARD.file, STANDARD.text), |file| (&file.path, &file.text));
        Self::read(path, text)
    }

    fn read(path: &str, text: &str) -> Result<Self, Invalid> {
        let wrong = |why: String| Invalid(format!("the rubric {path}: {why}"));
        let entries = read_named_list(text, &["weight", "description", "anchors"]).map_err(wrong)?;
        let mut dimensions: Vec<RubricDimension> = Vec::new();
        for (name, value) in entries {
            let dimension = read_dimension(&name, &value).map_err(wrong)?;
            if dimensions.iter().any(|other| other.key == dimension.key) {
                return Err(wrong(format!("it has the dimension {} twice", dimension.key)));
            }
            dimensions.push(dimension);
        }
        if dimensions.is_empty() || dimensions.len() > DIMENSIONS_MAX {
            let count = dimensions.len();
            return Err(wrong(format!("it must have 1 to {DIMENSIONS_MAX} dimensions, but it has {count}")));
        }
        let sum: f64 = dimensions.iter().map(|dimension| dimension.weight).sum();
        if (sum - WEIGHTS_SUM).abs() > WEIGHT_TOLERANCE {
            return Err(wrong(format!("its weights must sum to 100, but they sum to {}", rounded(sum))));
        }
        Ok(Self { dimensions })
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.dimensions.iter().map(|dimension| dimension.key.as_str())
    }

    /// The weighted mean of a judge's scores, on the same scale of 1 to 5.
    pub(super) fn weighted(&self, scores: &[f64]) -> f64 {
        let weighted = self.dimensions.iter().zip(scores).map(|(dimension, score)| dimension.weight * score);
        weighted.sum::<f64>() / WEIGHTS_SUM
    }
}

/// Reads `name: weight`, or `{name, weight, description?, anchors?}`.
fn read_dimension(name: &str, value: &Value) -> Result<RubricDimension, String> {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let key = words.map(str::to_lowercase).collect::<Vec<_>>().join("_");
    if key.is_empty() {
        return Err(format!("the dimension name {name:?} has no letter or digit"));
    }
    let weight = value.as_f64().or_else(|| value.get("weight").and_then(Value::as_f64));
    let weight = weight.filter(|weight| weight.is_finite() && *weight > 0.0);
    let weight =
        weight.ok_or_else(|| format!("the dimension {key} needs a weight over 0, such as `{key}: 20`"))?;
    let description = value.get("description").and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    let anchors: Vec<String> = match value.get("anchors").map(Value::as_array) {
        None => ANCHORS.map(str::to_owned).to_vec(),
        Some(list) => {
            let texts = list.into_iter().flatten().filter_map(Value::as_str);
            texts.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect()
        }
    };
    if anchors.len() != ANCHORS.len() {
        return Err(format!("the anchors of {key} must be five sentences, for the points 1 to 5"));
    }
    Ok(RubricDimension { key, weight, description, anchors })
}
