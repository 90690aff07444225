//! The contract of a protocol, and how a debate advances.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::sha256;
use crate::fence::label;
use crate::history::read_history;
use crate::options::check_options;
use crate::provenance::read_provenance;
use crate::tools::{TOOLS_INFO, TOOLS_PHASE, read_tools};
use crate::{
    Ask, Brief, Debate, DebateLesson, DebateView, Event, Invalid, OptionSpec, Phase, PhaseInfo, PromptHasher,
    Request, Seat, SimulatedPlay,
};

/// The rules of one kind of debate.
///
/// `next` is called only when no reply is outstanding and must be a pure function of `debate`: same log, same
/// step. Absent seats are data, not errors.
pub trait Protocol: Send + Sync {
    /// What never changes: its name, its options, its templates, its phases.
    fn info(&self) -> &'static ProtocolInfo;

    /// The seats for the user's request. Options that contradict each other are refused here.
    fn seats(&self, request: &Request) -> Result<Vec<Seat>, Invalid>;

    /// How large a debate opened with `brief` can become.
    fn plan(&self, brief: &Brief) -> CallPlan;

    /// The next step.
    fn next(&self, debate: &Debate) -> Result<Step, Corrupt>;

    /// The rules that a schema cannot express. The sentence goes back to the seat, which may answer again.
    fn check(&self, debate: &Debate, ask: &Ask, value: &Value) -> Result<(), ReplyFault>;

    /// All that a reader may want to know of a debate, whether it is over or not.
    fn view(&self, debate: &Debate) -> Result<DebateView, Corrupt>;
}

/// What is wrong with a reply that conforms to its schema, in a sentence for the seat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyFault {
    /// The reply breaks a rule. A seat that does not correct it is absent.
    Invalid(String),
    /// The reply declares something that does not verify: a quote, an id, a location, a partition. It is sent back once. If the
    /// declaration still does not verify, the reply counts without that part.
    Unverified(String),
}

impl ReplyFault {
    /// The sentence.
    pub fn sentence(&self) -> &str {
        match self {
            Self::Invalid(sentence) | Self::Unverified(sentence) => sentence,
        }
    }
}

impl From<String> for ReplyFault {
    fn from(sentence: String) -> Self {
        Self::Invalid(sentence)
    }
}

impl From<serde_json::Error> for ReplyFault {
    fn from(why: serde_json::Error) -> Self {
        Self::Invalid(why.to_string())
    }
}

/// What never changes about a protocol. Help, flags, listings, the live view and validation derive from it.
#[derive(Debug)]
pub struct ProtocolInfo {
    /// The verb of the command line, and the name in the log.
    pub name: &'static str,
    /// One line for help and listings.
    pub about: &'static str,
    /// What the first argument on the command line is: `QUESTION`, `TOPIC`, `FILE`...
    pub subject: &'static str,
    /// The options that a user may set.
    pub options: &'static [OptionSpec],
    /// The roles of its seats.
    pub roles: &'static [RoleInfo],
    /// The prompt templates. Their hashes go into the log.
    pub templates: &'static [PromptTemplate],
    /// The phases, in the order in which they first come up.
    pub phases: &'static [PhaseInfo],
    /// The share of every limit on time and money that is kept for the closing phases: the others end when the rest is
    /// spent. One call of a limit on calls is kept, too, unless this is 0.
    pub closing_share: f64,
    /// What a debate is called when the person gave no question: it becomes the brief's question.
    pub title: fn(&Request) -> String,
    /// Set where a verdict can be a gate for a pipeline: whether that of a debate with this brief is one.
    pub gate: Option<fn(&Brief) -> bool>,
    /// Whether the agents are rated. The request then has their standings, as a file of the part
    /// [`STANDINGS`](crate::lesson::STANDINGS).
    pub is_rated: bool,
    /// The folder for its records, where they are written without being asked for.
    pub record_folder: Option<&'static str>,
    /// Options that keep a debate from reading what earlier debates left: key and value.
    pub isolation: &'static [(&'static str, &'static str)],
    /// How simulated seats play it; `None` where it cannot be simulated.
    pub simulation: Option<&'static dyn SimulatedPlay>,
    /// A command line that shows it, for help: the arguments after the verb, and what they do.
    pub example: Option<(&'static str, &'static str)>,
    /// A script of canned replies that shows it without any model: `script/demo-NAME`.
    pub demo: Option<&'static str>,
}

impl ProtocolInfo {
    /// The roles for which a user may name a model: `--moderator`, `--chair`.
    pub fn named_roles(&self) -> impl Iterator<Item = &'static str> {
        let named = self.roles.iter().filter(|role| role.models == RoleModels::Named);
        named.map(|role| role.name)
    }

    /// The models of a debate as a user would list them to seat the same seats again.
    pub fn listed_models(&self, brief: &Brief) -> Vec<String> {
        let listed =
            |role: &str| self.roles.iter().any(|info| info.name == role && info.models == RoleModels::Listed);
        brief.seats.iter().filter(|seat| listed(&seat.role)).map(|seat| seat.model.clone()).collect()
    }

    /// The phase of this name. The phase in which tools are run is part of every protocol.
    pub fn phase(&self, name: &str) -> Option<&'static PhaseInfo> {
        let own = self.phases.iter().find(|phase| phase.name == name);
        own.or((name == TOOLS_PHASE).then_some(&TOOLS_INFO))
    }

    /// Whether a phase comes after the last round.
    pub fn is_closing(&self, phase: &str) -> bool {
        self.phase(phase).is_some_and(|phase| phase.is_closing)
    }

    /// Whether the verdict of a debate with this brief is a gate.
    pub fn gates(&self, brief: &Brief) -> bool {
        self.gate.is_some_and(|gates| gates(brief))
    }
}

/// A title made of the names of the files that are judged.
pub fn file_names(request: &Request) -> String {
    let judged = request.files.iter().filter(|file| file.part.is_none());
    judged.map(|file| label(&file.path)).collect::<Vec<_>>().join(", ")
}

/// A role of a protocol's seats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoleInfo {
    /// Its name: `debater`, `moderator`.
    pub name: &'static str,
    /// Where its models come from.
    pub models: RoleModels,
}

/// Where the models of a role come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleModels {
    /// From the list of models, in order.
    Listed,
    /// From an option of the role's own name, else from the list.
    Named,
    /// From other options, or from the models of other seats.
    Derived,
}

/// How large a debate can become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallPlan {
    /// The fewest asks to seats when nobody is absent.
    pub fewest_calls: u32,
    /// The most asks to seats when nobody is absent.
    pub most_calls: u32,
    /// The most phases, whoever is absent. `next` closes by then.
    pub most_phases: u32,
    /// The most rounds, where the protocol counts them for its readers ("round 1 of 3").
    pub most_rounds: Option<u32>,
}

/// A prompt template: a file beside its protocol.
#[derive(Debug, Clone, Copy)]
pub struct PromptTemplate {
    /// The file's name, for instance `deep/debater.hbs`.
    pub file: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// What a protocol wants next.
#[derive(Debug)]
pub enum Step {
    /// Ask these seats, all at once.
    Ask(Phase, Vec<Ask>),
    /// Close the debate.
    Close(Box<Outcome>),
}

/// How far a debate got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It ended with a verdict.
    Complete,
    /// It was cut short. What was said is reported.
    Incomplete,
    /// It ended without a verdict.
    Failed,
}

impl Status {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Incomplete => "incomplete",
            Self::Failed => "failed",
        }
    }
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

impl Termination {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::Stable => "stable",
            Self::Consensus => "consensus",
            Self::Majority => "majority",
            Self::NoMajority => "no_majority",
            Self::MaxRounds => "max_rounds",
            Self::AllRoundsComplete => "all_rounds_complete",
            Self::QuorumLost => "quorum_lost",
            Self::Budget => "budget",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }
}

/// Whether every voice was heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fidelity {
    /// Every voice that the protocol asked for.
    Full,
    /// Some voices were absent, or a stage was skipped.
    Degraded,
}

impl Fidelity {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Degraded => "degraded",
        }
    }
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
    /// Nobody declared what became of it.
    NotSettled,
}

/// A first-round position and its fate. Every one is accounted for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PositionFate {
    /// Who held it.
    pub seat: String,
    /// The anonymous label, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The position in words.
    pub position: String,
    /// What became of it.
    pub fate: Fate,
    /// Why: the argument, the revision or the vote that decided it.
    pub reason: String,
}

/// How a debate ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// How far it got.
    pub status: Status,
    /// Why it ended.
    pub termination: Termination,
    /// How many rounds count.
    pub rounds_completed: u32,
    /// The protocol's verdict, serialized.
    pub verdict: Value,
    /// The minority's positions, serialized.
    pub dissent: Vec<Value>,
    /// Whether every voice was heard.
    pub fidelity: Fidelity,
    /// What a reader should know before trusting the verdict.
    pub warnings: Vec<String>,
    /// Anonymous labels and the seats behind them.
    pub labels: BTreeMap<String, String>,
    /// Every first-round position and its fate.
    pub positions: Vec<PositionFate>,
    /// Whether a gate passes; `false` is exit status 1. `None` if the debate is no gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<bool>,
    /// What later debates may know about this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lesson: Option<DebateLesson>,
}

/// A log that this program did not write, or cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum Corrupt {
    /// The log has no events.
    #[error("the log is empty")]
    Empty,
    /// Another version of Agon wrote it.
    #[error("the log has format version {found}, but this agon reads version {LOG_VERSION}: use the agon that wrote it", LOG_VERSION = crate::LOG_VERSION)]
    Version {
        /// The log's version.
        found: u32,
    },
    /// An event is out of place.
    #[error("event {seq} of the log is out of place: {why}")]
    Order {
        /// The event's number.
        seq: u64,
        /// What is wrong with it.
        why: String,
    },
    /// A phase that the protocol does not have.
    #[error("the log has a phase {phase:?}, which {protocol} does not have: use the agon that wrote it")]
    UnknownPhase {
        /// The phase's name.
        phase: String,
        /// The protocol's name.
        protocol: String,
    },
    /// The templates are not those that the debate was opened with.
    #[error(
        "the template {file} is not the one this debate was opened with: continue it with the agon that opened it, or start a new one"
    )]
    ChangedTemplate {
        /// The template's file name.
        file: String,
    },
    /// An option has a value that it cannot have.
    #[error("the log sets the option {key} to {value}: use the agon that wrote it")]
    Option {
        /// The option's key.
        key: String,
        /// Its value.
        value: String,
    },
    /// The protocol would have done something else than the log says.
    #[error("the log departs from the protocol at event {seq}: {why}")]
    Departed {
        /// The event's number.
        seq: u64,
        /// The difference.
        why: String,
    },
    /// A prompt could not be made.
    #[error("the template {file} cannot be rendered: {why}")]
    Render {
        /// The template's file name.
        file: String,
        /// The renderer's error.
        why: String,
    },
    /// An event could not be written as JSON, or a value in the log not read.
    #[error("the log holds a value that cannot be read or written: {0}")]
    Json(#[from] serde_json::Error),
}

/// The event that comes next when no reply is outstanding.
#[derive(Debug)]
pub enum NextEvent {
    /// A phase: the event to write, and the asks to make.
    Ask(Event, Vec<Ask>),
    /// The end: the event to write.
    Close(Event),
}

/// Asks the protocol for the next step and gives the asks their numbers.
pub fn advance(protocol: &dyn Protocol, debate: &Debate) -> Result<NextEvent, Corrupt> {
    match protocol.next(debate)? {
        Step::Close(mut outcome) => {
            // To a protocol, a person who asks for the verdict is a limit like any other. Readers want to know which it was.
            let is_cancelled = debate.absences().any(|(_, _, why, _)| why == crate::AbsenceReason::Cancelled);
            if is_cancelled && outcome.termination == Termination::Budget {
                outcome.termination = Termination::Cancelled;
            }
            Ok(NextEvent::Close(Event::Closed { outcome }))
        }
        Step::Ask(phase, mut asks) => {
            for (id, ask) in (debate.asks() + 1..).zip(&mut asks) {
                ask.id = id;
            }
            let mut hasher = PromptHasher::default();
            let records = asks.iter().map(|ask| ask.record(&mut hasher)).collect();
            Ok(NextEvent::Ask(Event::Asked { phase: phase.name, round: phase.round, asks: records }, asks))
        }
    }
}

/// The names and hashes of a protocol's templates, as `Opened` carries them.
pub fn template_hashes(protocol: &dyn Protocol) -> BTreeMap<String, String> {
    protocol
        .info()
        .templates
        .iter()
        .map(|template| (template.file.to_owned(), template_hash(template)))
        .collect()
}

/// The hash of a template, computed once: every debate that is opened needs it.
fn template_hash(template: &PromptTemplate) -> String {
    static HASHES: Mutex<BTreeMap<(usize, usize), String>> = Mutex::new(BTreeMap::new());
    // A static text stays where it is, so its place stands for it.
    let place = (template.text.as_ptr().addr(), template.text.len());
    let mut hashes = HASHES.lock().unwrap_or_else(PoisonError::into_inner);
    hashes.entry(place).or_insert_with(|| sha256(template.text)).clone()
}

/// Refuses a brief with options that the protocol does not have or cannot use, or with a history or tools that cannot be read.
pub fn check_values(protocol: &dyn Protocol, brief: &Brief) -> Result<(), Corrupt> {
    check_options(protocol.info().options, &brief.options)?;
    read_history(brief)?;
    read_tools(brief)?;
    read_provenance(brief).map(drop)
}

/// Refuses a debate that was opened with options of another shape or with other templates, and names the first that differs.
pub fn check_brief(protocol: &dyn Protocol, brief: &Brief) -> Result<(), Corrupt> {
    check_values(protocol, brief)?;
    let ours = template_hashes(protocol);
    let theirs = &brief.templates;
    let differing = ours.keys().chain(theirs.keys()).find(|file| ours.get(*file) != theirs.get(*file));
    differing.map_or(Ok(()), |file| Err(Corrupt::ChangedTemplate { file: file.clone() }))
}
