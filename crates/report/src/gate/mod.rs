//! The verdict of `review` for somebody's pipeline.
//!
//! Annotations, a SARIF file and a JUnit report are three ways to write one [`Review`], which is read from the outcome
//! document once: there every word is cleaned and the findings are put in order, so that no format can forget it.

mod github;
mod junit;
mod review;
mod sarif;

pub(crate) use review::{Ruling, meaning, ruling};

use review::Review;
use serde_json::Value;

use crate::clean::one_line;
use crate::outline::words;

/// A format that a pipeline reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// Commands that a GitHub workflow shows as annotations, and a few lines for the log.
    Github,
    /// A SARIF 2.1.0 file, for code scanning.
    Sarif,
    /// A JUnit report: one test for the verdict and one for each judge.
    Junit,
}

impl Gate {
    /// The names by which they are chosen.
    pub const NAMES: [&str; 3] = ["github", "sarif", "junit"];

    /// The format of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "github" => Some(Self::Github),
            "sarif" => Some(Self::Sarif),
            "junit" => Some(Self::Junit),
            _ => None,
        }
    }
}

/// Why there is nothing that a pipeline could go by. A review without a verdict is none of these: the formats say so
/// in their own way.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoGate {
    /// Another protocol's outcome.
    #[error(
        "the formats github, sarif and junit are for the verdict of `review`, and this debate is a `{protocol}`: \
         take another format, such as json"
    )]
    Protocol {
        /// Its name.
        protocol: String,
    },
    /// A mode in which nobody rules.
    #[error(
        "a review in mode `{mode}` gives no PASS, WARN or FAIL that a pipeline could go by: review in mode \
         `validate`, or take another format, such as json"
    )]
    Mode {
        /// Its name.
        mode: String,
    },
}

/// The outcome of a review ([`agon_core::document`]) in a format that a pipeline reads.
pub fn gate(document: &Value, format: Gate) -> Result<String, NoGate> {
    let protocol = words(document, "/protocol").unwrap_or_default();
    if protocol != "review" {
        return Err(NoGate::Protocol { protocol: one_line(protocol) });
    }
    if let Some(mode) = words(document, "/verdict/mode").filter(|mode| *mode != "validate") {
        return Err(NoGate::Mode { mode: one_line(mode) });
    }
    let review = Review::read(document);
    Ok(match format {
        Gate::Github => github::annotations(&review),
        Gate::Sarif => sarif::file(&review),
        Gate::Junit => junit::report(&review),
    })
}
