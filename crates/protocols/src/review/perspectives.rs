//! What judges look at: the built-in perspectives and presets, and those of a person's own file.

use std::sync::OnceLock;

use agon_core::{Artifact, Invalid};
use serde_json::Value;

use crate::named;

/// What one judge looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Perspective {
    /// By which it is named: lower case, words joined by dashes.
    pub(super) name: String,
    /// What it asks; empty where a person gave only the name.
    pub(super) about: String,
}

/// The presets' names, as the option's values.
pub(super) const PRESETS: &[&str] = &[
    "security-audit",
    "architecture",
    "code-review",
    "plan-review",
    "doc-review",
    "ops",
    "product",
    "developer-experience",
    "retrospective",
    "research",
];

const NAME_CHARS_MAX: usize = 40;

const DATA: &str = include_str!("perspectives.toml");

/// The data as it stands in its file: presets with their perspectives' names, and all perspectives.
pub(super) struct Known {
    presets: Vec<(String, Vec<String>)>,
    perspectives: Vec<Perspective>,
}

pub(super) fn known() -> &'static Known {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let data: Value = toml::from_str(DATA).unwrap_or_default();
        let section = |name: &str| data.get(name).and_then(Value::as_object).into_iter().flatten();
        let words = |value: &Value| {
            value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Known {
            presets: section("presets").map(|(name, names)| (name.clone(), words(names))).collect(),
            perspectives: section("perspectives")
                .map(|(name, about)| Perspective {
                    name: name.clone(),
                    about: about.as_str().unwrap_or_default().to_owned(),
                })
                .collect(),
        }
    })
}

impl Known {
    /// A preset's perspectives.
    pub(super) fn preset(&self, name: &str) -> Vec<Perspective> {
        let preset = self.presets.iter().find(|(preset, _)| preset == name);
        let names = preset.map_or(&[][..], |(_, names)| names);
        names.iter().filter_map(|name| self.find(name)).cloned().collect()
    }

    pub(super) fn find(&self, name: &str) -> Option<&Perspective> {
        self.perspectives.iter().find(|perspective| perspective.name == name)
    }
}

/// The perspectives that a person asked for: by preset, by name, by a file of their own, each once.
pub(super) fn asked_for(
    preset: &str,
    names: &str,
    file: Option<&Artifact>,
) -> Result<Vec<Perspective>, Invalid> {
    let own = file.map(of_file).transpose()?.unwrap_or_default();
    let mut all = known().preset(preset);
    if names.trim().is_empty() {
        all.extend(own);
    } else {
        for name in names.split(',') {
            all.push(by_name(name, &own)?);
        }
    }
    let mut distinct: Vec<Perspective> = Vec::new();
    for perspective in all {
        if !distinct.iter().any(|other| other.name == perspective.name) {
            distinct.push(perspective);
        }
    }
    Ok(distinct)
}

fn by_name(name: &str, own: &[Perspective]) -> Result<Perspective, Invalid> {
    let key = named::key(name);
    if key.is_empty() {
        return Err(Invalid::new("perspectives has an empty name: write them as a,b,c"));
    }
    let found = own.iter().find(|perspective| perspective.name == key).or_else(|| known().find(&key));
    found.cloned().ok_or_else(|| unknown(name.trim(), own))
}

fn unknown(name: &str, own: &[Perspective]) -> Invalid {
    let names = own.iter().chain(&known().perspectives).map(|perspective| perspective.name.as_str());
    Invalid(format!(
        "there is no perspective {name:?}; there are: {}. Define your own with --perspectives-file FILE, one `name: what it looks at` a line",
        names.collect::<Vec<_>>().join(", ")
    ))
}

fn of_file(file: &Artifact) -> Result<Vec<Perspective>, Invalid> {
    let wrong = |why: String| Invalid(format!("the perspectives in {}: {why}", file.path));
    let entries = named::read(&file.text, &["description", "about"]).map_err(wrong)?;
    if let Some((name, _)) = entries.iter().find(|(name, _)| name.chars().count() > NAME_CHARS_MAX) {
        return Err(wrong(format!(
            "{name:?} is longer than {NAME_CHARS_MAX} characters: it becomes the name of a seat and of a file"
        )));
    }
    let about = |value: &Value| match value {
        Value::String(text) => text.clone(),
        // A record: its one text, whatever it is called.
        Value::Object(fields) => fields.values().find_map(Value::as_str).unwrap_or_default().to_owned(),
        _ => String::new(),
    };
    Ok(entries
        .iter()
        .map(|(name, value)| Perspective { name: named::key(name), about: about(value) })
        .collect())
}
