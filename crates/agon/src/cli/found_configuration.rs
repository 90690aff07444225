//! An `agon.toml` in the working directory that the user did not name.
//!
//! Such a file may have come with somebody else's repository. So it is an allow-list: numbers, choices and flags of protocols count,
//! and nothing else. Models, people, money, limits, programs, files and addresses are for the user to name. Where a debate is a gate,
//! not even those options count: a change must not bring its own rules along.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agon_core::{OptionKind, OptionSpec};

use super::configuration::OptionPairs;

/// What counts of a found configuration, and what does not.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct FoundConfiguration {
    /// The file.
    pub file: PathBuf,
    /// The options that count, by protocol.
    pub options: BTreeMap<String, OptionPairs>,
    /// The keys that do not: `models`, `[providers]`, `[review] mixed`.
    pub ignored: Vec<String>,
}

impl FoundConfiguration {
    /// Sorts what a file sets: `sections` are its options by protocol, `other_keys` everything else at its top.
    pub fn new(file: &Path, sections: BTreeMap<String, OptionPairs>, other_keys: Vec<String>) -> Self {
        let mut found = Self { file: file.to_owned(), ignored: other_keys, ..Self::default() };
        for (name, pairs) in sections {
            let table = agon_protocols::find(&name).map_or(&[][..], |protocol| protocol.info().options);
            let (allowed, others): (OptionPairs, OptionPairs) =
                pairs.into_iter().partition(|(key, _)| is_allowed(table, key));
            found.ignored.extend(others.into_iter().map(|(key, _)| format!("[{name}] {key}")));
            if !allowed.is_empty() {
                found.options.insert(name, allowed);
            }
        }
        found
    }

    /// What the user should know, in one sentence.
    pub fn notice(&self) -> Option<String> {
        let file = self.file.display();
        let used = self
            .options
            .iter()
            .flat_map(|(name, pairs)| pairs.iter().map(move |(key, _)| format!("[{name}] {key}")));
        let used: Vec<String> = used.collect();
        let used = match used.as_slice() {
            [] => String::new(),
            used => format!(" Used, but not in gates or to make debates longer: {}.", used.join(", ")),
        };
        let ignored = match self.ignored.as_slice() {
            [] => String::new(),
            ignored => format!(" Not used: {}.", ignored.join(", ")),
        };
        (!used.is_empty() || !ignored.is_empty()).then(|| {
            format!(
                "{file} was found in this directory and not named by you.{used}{ignored} `--config {file}` uses all of it, \
                 `--no-config` nothing."
            )
        })
    }
}

/// Whether a stranger may set this option: not a model, a file or a text that seats would read.
fn is_allowed(table: &[OptionSpec], key: &str) -> bool {
    table.iter().filter(|option| option.key == key).any(|option| match option.kind {
        OptionKind::Int(..) | OptionKind::Float(..) | OptionKind::Choice(_) | OptionKind::Flag => true,
        OptionKind::Text | OptionKind::File | OptionKind::Model | OptionKind::Models => false,
    })
}
