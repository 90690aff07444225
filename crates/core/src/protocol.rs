//! The contract of a protocol, and how a debate advances.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::sha256;
use crate::{Ask, Brief, Debate, Event, Invalid, Lesson, Opt, Phase, Request, Seat, Stands};

/// A prompt template: a file beside its protocol.
#[derive(Debug, Clone, Copy)]
pub struct Template {
    /// The file's name, for instance `deep/debater.hbs`.
    pub file: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// The rules of one kind of debate.
///
/// `next` is called only when no reply is outstanding and must be a pure function of `debate`: same log, same
/// step. Absent seats are data, not errors.
pub trait Protocol: Send + Sync {
    /// The verb of the command line, and the name in the log.
    fn name(&self) -> &'static str;

    /// One line for help and listings.
    fn about(&self) -> &'static str;

    /// What the first words on the command line are: `QUESTION`, `TOPIC`, `FILE`...
    fn subject(&self) -> &'static str;

    /// The options that a user may set. Help, flags and validation derive from this table.
    fn options(&self) -> &'static [Opt];

    /// The roles for which a user may name a model (`--moderator`, `--chair`, `--judge`).
    fn roles(&self) -> &'static [&'static str];

    /// The prompt templates; their hashes go into the log.
    fn templates(&self) -> &'static [Template];

    /// Who sits, from the user's request; also where options that contradict each other are refused.
    fn seats(&self, request: &Request) -> Result<Vec<Seat>, Invalid>;

    /// The fewest and the most asks to those who sit that a debate opened with `brief` can make when nobody is absent.
    fn calls(&self, brief: &Brief) -> RangeInclusive<u32>;

    /// The most phases that a debate opened with `brief` can have, whoever is absent. `next` closes by then.
    fn bound(&self, brief: &Brief) -> u32;

    /// The next step.
    fn next(&self, debate: &Debate) -> Result<Step, Corrupt>;

    /// The rules that a schema cannot say. The sentence goes back to the seat with the repair.
    fn check(&self, debate: &Debate, ask: &Ask, value: &Value) -> Result<(), String>;

    /// What a debate is called for which the person had no words: it becomes the brief's question.
    fn title(&self, request: &Request) -> String {
        let judged = request.files.iter().filter(|file| file.part.is_none());
        judged.map(|file| file.path.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The models as a person would name them to seat these seats again: those of the seats that have no role of their own.
    fn named(&self, brief: &Brief) -> Vec<String> {
        let plain = brief.seats.iter().filter(|seat| !self.roles().contains(&seat.role.as_str()));
        plain.map(|seat| seat.model.clone()).collect()
    }

    /// Variables of the environment that set an option: the variable and the option's key. The command line beats them.
    fn environment(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Whether those who sit are rated: the request then has, as the file of the part [`STANDINGS`](crate::lesson::STANDINGS),
    /// how everybody stands who could.
    fn rates(&self) -> bool {
        false
    }

    /// The files that the protocol writes of a debate, beside the common report.
    fn records(&self, debate: &Debate) -> Vec<Saved> {
        let _ = debate;
        Vec::new()
    }

    /// The folder in which its files are written without being asked for, under the working directory.
    fn folder(&self) -> Option<&'static str> {
        None
    }

    /// Whether its verdict can be a gate: findings with locations, for somebody's pipeline.
    fn is_gate(&self) -> bool {
        false
    }

    /// Whether that of this debate is one.
    fn gates(&self, brief: &Brief) -> bool {
        let _ = brief;
        self.is_gate()
    }

    /// The phases after the last round. A branch never takes them over: to hear them anew is what it is for.
    fn closing(&self) -> &'static [&'static str] {
        &[]
    }

    /// The share of every limit on time and money that is kept for the closing phases: the others end, with whoever has
    /// answered by then, when the rest is spent. One call of a limit on calls is kept, too, where this is not 0.
    fn kept_for_closing(&self) -> f64 {
        0.0
    }

    /// Who held what in each round, of a debate that is over or not. Every measure of what a debate did starts here.
    fn stands(&self, debate: &Debate) -> Result<Stands, Corrupt> {
        let _ = debate;
        Ok(Stands::default())
    }

    /// What to print as a phase ends, where the protocol has something to show.
    fn summary(&self, debate: &Debate) -> Option<Summary> {
        let _ = debate;
        None
    }

    /// A file that grows as the debate goes on: all of it as it is after the last phase.
    fn minutes(&self, debate: &Debate) -> Option<Saved> {
        let _ = debate;
        None
    }

    /// What makes a good debate of this kind, checked over the log.
    fn checks(&self, debate: &Debate) -> Vec<Check> {
        let _ = debate;
        Vec::new()
    }
}

/// What to print as a phase ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The table's title.
    pub title: String,
    /// Its rows, the first of which is the head.
    pub rows: Vec<Vec<String>>,
    /// Headed lists under the table.
    pub notes: Vec<(String, Vec<String>)>,
}

/// A sentence that a good debate of the protocol makes true, and whether this one does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The sentence.
    pub sentence: String,
    /// Whether it is met; `None` where it does not apply.
    pub met: Option<bool>,
    /// By what.
    pub note: String,
    /// The asks that show it.
    pub shown_by: Vec<u32>,
}

/// A file that a protocol writes of a debate.
#[derive(Debug, Clone, PartialEq)]
pub struct Saved {
    /// Its name without what tells one run from another of the same day.
    pub stem: String,
    /// The end of its name, with the extension: `.md`, `-r2.md`.
    pub ending: &'static str,
    /// What is in it.
    pub body: Body,
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// A document to be written as YAML.
    Yaml(Value),
    /// Text as it is.
    Text(String),
    /// The whole report, which is the caller's to write.
    Report,
}

/// What a protocol wants next.
#[derive(Debug)]
pub enum Step {
    /// Ask these seats, all at once.
    Ask(Phase, Vec<Ask>),
    /// Close.
    Close(Box<Outcome>),
}

/// How far a debate got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It ended with a verdict.
    Complete,
    /// It was cut short; what there is is reported.
    Incomplete,
    /// It ended without a verdict.
    Failed,
}

/// Why a debate ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are the protocols' own words")]
pub enum Termination {
    Converged,
    Stable,
    Consensus,
    Majority,
    NoMajority,
    MaxRounds,
    AllRoundsComplete,
    QuorumLost,
    Budget,
    Cancelled,
    Failed,
}

/// Whether everybody was heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fidelity {
    /// Every voice that the protocol wanted.
    Full,
    /// Some were absent, or a stage was left out.
    Degraded,
}

/// What became of a first-round position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It is in the verdict.
    Adopted,
    /// Its holder gave it up.
    Refuted,
    /// It is in the dissent.
    Minority,
}

/// A first-round position and its fate. Every one is accounted for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Position {
    /// Who held it.
    pub seat: String,
    /// The anonymous label, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The position.
    pub position: String,
    /// What became of it.
    pub fate: Fate,
    /// By what: the argument, the revision, the vote.
    pub reason: String,
}

/// How a debate ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// How far it got.
    pub status: Status,
    /// Why it ended.
    pub termination: Termination,
    /// Rounds that count.
    pub rounds_completed: u32,
    /// The protocol's own document.
    pub verdict: Value,
    /// The minority's positions, as the report shows them.
    pub dissent: Vec<Value>,
    /// Whether everybody was heard.
    pub fidelity: Fidelity,
    /// What a reader should know before trusting the verdict.
    pub warnings: Vec<String>,
    /// Anonymous labels and the seats behind them.
    pub labels: BTreeMap<String, String>,
    /// Every first-round position and its fate.
    pub positions: Vec<Position>,
    /// A gate's answer where the protocol is one: `false` is exit status 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<bool>,
    /// What later debates may know of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lesson: Option<Lesson>,
}

/// A log that cannot be what this program wrote, or that this program cannot go on with.
#[derive(Debug, thiserror::Error)]
pub enum Corrupt {
    /// Nothing in it.
    #[error("the log is empty")]
    Empty,
    /// Written by a later Agon.
    #[error("the log has format version {found}, this program reads up to {LOG_VERSION}: use a newer agon", LOG_VERSION = crate::LOG_VERSION)]
    Version {
        /// Its version.
        found: u32,
    },
    /// An event out of place.
    #[error("event {seq} of the log is out of place: {why}")]
    Order {
        /// Which.
        seq: u64,
        /// What is wrong.
        why: String,
    },
    /// The templates are not those that the debate was opened with.
    #[error(
        "the template {file} is not the one this debate was opened with: continue it with the agon that opened it, or start a new one"
    )]
    Template {
        /// Which.
        file: String,
    },
    /// What the protocol would do is not what the log says it did.
    #[error("the log departs from the protocol at event {seq}: {why}")]
    Departed {
        /// Where.
        seq: u64,
        /// How.
        why: String,
    },
    /// A prompt could not be made.
    #[error("the template {file} cannot be rendered: {why}")]
    Render {
        /// Which.
        file: String,
        /// The renderer's words.
        why: String,
    },
    /// An event could not be written as JSON, or a value in the log not read.
    #[error("the log holds a value that cannot be read or written: {0}")]
    Json(#[from] serde_json::Error),
}

/// What comes next in a debate that has no reply outstanding.
#[derive(Debug)]
pub enum Advance {
    /// A phase: the event to write, and the asks to make.
    Ask(Event, Vec<Ask>),
    /// The end: the event to write.
    Close(Event),
}

/// Asks the protocol for the next step and gives the asks their numbers.
pub fn advance(protocol: &dyn Protocol, debate: &Debate) -> Result<Advance, Corrupt> {
    match protocol.next(debate)? {
        Step::Close(outcome) => Ok(Advance::Close(Event::Closed { outcome })),
        Step::Ask(phase, mut asks) => {
            for (id, ask) in (debate.asks() + 1..).zip(&mut asks) {
                ask.id = id;
            }
            let records = asks.iter().map(Ask::record).collect();
            Ok(Advance::Ask(Event::Asked { phase: phase.name, round: phase.round, asks: records }, asks))
        }
    }
}

/// The names and hashes of a protocol's templates, as `Opened` carries them.
pub fn template_hashes(protocol: &dyn Protocol) -> BTreeMap<String, String> {
    protocol.templates().iter().map(|template| (template.file.to_owned(), sha256(template.text))).collect()
}

/// Refuses a debate that was opened with other templates, and names the first that differs.
pub fn check_templates(protocol: &dyn Protocol, brief: &Brief) -> Result<(), Corrupt> {
    let ours = template_hashes(protocol);
    let theirs = &brief.templates;
    let differing = ours.keys().chain(theirs.keys()).find(|file| ours.get(*file) != theirs.get(*file));
    differing.map_or(Ok(()), |file| Err(Corrupt::Template { file: file.clone() }))
}
