//! A file of replies in the place of a model: for tests, and for showing a debate without any model.
//!
//! The format is described in this crate's README. A script answers by seat, phase, round and attempt, so it says
//! the same every time, whatever order the calls come in.

mod labels;
mod parse;
mod play;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::time::Duration;

use agon_core::Invalid;
use agon_engine::FaultKind;
use serde_json::Value;

/// The largest script that is read.
const SCRIPT_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// The scripts that are always there.
const DEMOS: [(&str, &str); 5] = [
    ("demo", include_str!("../../scripts/demo.yaml")),
    ("demo-panel", include_str!("../../scripts/demo-panel.yaml")),
    ("demo-council", include_str!("../../scripts/demo-council.yaml")),
    ("demo-arena", include_str!("../../scripts/demo-arena.yaml")),
    ("demo-review", include_str!("../../scripts/demo-review.yaml")),
];

/// A script that has been read and checked.
#[derive(Debug)]
pub struct Script {
    name: String,
    /// The question that it was written for.
    question: Option<String>,
    /// Words a second when somebody watches; all at once when `None`.
    words_per_second: Option<u32>,
    seats: BTreeMap<String, Seat>,
    /// What is said where the ask holds certain words, in the order in which they are tried.
    cases: Vec<Case>,
}

/// What is said in one case.
#[derive(Debug)]
struct Case {
    /// In lower case.
    asked: String,
    seats: BTreeMap<String, Seat>,
}

/// What one seat says: for each phase, by round and then by attempt.
type Seat = BTreeMap<String, Vec<Vec<Reply>>>;

/// One scripted reply.
#[derive(Debug, Clone, PartialEq)]
struct Reply {
    after: Duration,
    what: What,
}

#[derive(Debug, Clone, PartialEq)]
enum What {
    /// These words as they are.
    Text(String),
    /// This value, printed as JSON.
    Say(Value),
    /// This fault, and how long the script asks to wait before another try.
    Fail(FaultKind, Option<Duration>),
    /// Nothing, for ever.
    Hang,
}

impl Script {
    /// The script in `file`, or one of the built-in ones.
    pub fn open(file: &str) -> Result<Self, Invalid> {
        if let Some((name, text)) = DEMOS.iter().find(|(name, _)| *name == file) {
            return Self::parse(name, text);
        }
        let wrong = |why: String| Invalid(format!("the script {file}: {why}"));
        let open = File::open(file)
            .map_err(|why| wrong(format!("{why}; a script is named script/FILE, or script/demo")))?;
        let mut bytes = Vec::new();
        let read = open.take(SCRIPT_BYTES_MAX + 1).read_to_end(&mut bytes);
        read.map_err(|why| wrong(why.to_string()))?;
        if bytes.len() as u64 > SCRIPT_BYTES_MAX {
            return Err(wrong(format!(
                "is larger than {} MB, the most that is read",
                SCRIPT_BYTES_MAX >> 20
            )));
        }
        let text = String::from_utf8(bytes).map_err(|_| wrong("is not UTF-8 text".into()))?;
        Self::parse(file, &text)
    }

    /// A script from its text, YAML or JSON; `file` is what errors call it.
    pub fn parse(file: &str, text: &str) -> Result<Self, Invalid> {
        parse::script(file, text).map_err(|why| Invalid(format!("the script {file}: {why}")))
    }
}
