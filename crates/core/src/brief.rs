//! What a debate is opened with.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of the log's format. Logs of other versions are refused.
pub const LOG_VERSION: u32 = 4;

/// A place at the table: a role and the model that speaks in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// The seat's name in the log and the report, for instance `debater-2`.
    pub id: String,
    /// What the seat does: `debater`, `moderator`, `chair`.
    pub role: String,
    /// `provider/model`, or a fallback chain `a/x|b/y`.
    pub model: String,
}

/// A person's request, before the protocol turns it into seats.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The question, topic or task. May be empty for protocols that judge files.
    pub question: String,
    /// The files to be judged, and those that options name, read by the caller.
    pub files: Vec<BriefFile>,
    /// `--models`, in order.
    pub models: Vec<String>,
    /// Models for single roles: `moderator`, `chair`, `judge`.
    pub roles: BTreeMap<String, String>,
    /// The options as resolved by [`options::resolve`](crate::options::resolve).
    pub options: Map<String, Value>,
    /// The debate's seed, for a choice among possible seats.
    pub seed: u64,
}

/// A file that a debate is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BriefFile {
    /// The path as the user gave it.
    pub path: String,
    /// The file's text.
    pub text: String,
    /// The key of the option that named the file; `None` for a file that the debate is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
}

/// The limits on one debate. `None` is "no such limit".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DebateLimits {
    /// How long one call may take, `execution.timeout.per_llm_call`.
    pub call_timeout_ms: u64,
    /// How long the debate may take, counted while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    /// The budget in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// The most calls, counting every attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u32>,
    /// The most tokens, input and output together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// How often a seat is asked again after a malformed answer.
    pub repairs: u32,
    /// How often a call is made again after a fault of the network or the provider.
    pub retries: u32,
    /// The most tokens that one answer may have.
    pub output_tokens: u32,
}

impl Default for DebateLimits {
    fn default() -> Self {
        Self {
            call_timeout_ms: 120_000,
            deadline_ms: None,
            usd: None,
            calls: None,
            tokens: None,
            repairs: 1,
            retries: 3,
            output_tokens: 4096,
        }
    }
}

/// Where a branch came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchParent {
    /// The debate that was branched.
    pub id: String,
    /// The last round that was taken over.
    pub at_round: u32,
    /// How many events after `Opened` were taken over; their cost is the parent's.
    pub events: u64,
}

/// Everything that a debate is opened with: the first event of its log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Brief {
    /// The version of the log's format.
    pub version: u32,
    /// The debate's id.
    pub id: String,
    /// The protocol's name.
    pub protocol: String,
    /// The question, topic or task.
    pub question: String,
    /// The files that it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<BriefFile>,
    /// The protocol's options, all of them, defaults included.
    pub options: Map<String, Value>,
    /// The seats, in order.
    pub seats: Vec<Seat>,
    /// The source of every shuffle and draw.
    pub seed: u64,
    /// The source of the marker that fences quoted text: random, drawn by the caller when the debate is opened. It never follows
    /// from the seed or the question, because somebody who writes a file or a question may know those.
    pub nonce: String,
    /// What the debate may cost and how long it may take.
    pub limits: DebateLimits,
    /// The templates' names and hashes; a resume with other templates is refused.
    pub templates: BTreeMap<String, String>,
    /// The version of Agon that opened the debate. Another version may word an outcome differently.
    #[serde(default)]
    pub written_by: String,
    /// When the debate was opened, by the caller's clock: RFC 3339 in UTC.
    pub created_at: String,
    /// For a branch, where it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<BranchParent>,
}

/// The file that an option of this key named.
pub fn part<'a>(files: &'a [BriefFile], key: &str) -> Option<&'a BriefFile> {
    files.iter().find(|file| file.part.as_deref() == Some(key))
}

impl Brief {
    /// The file that an option of this key named.
    pub fn part(&self, key: &str) -> Option<&BriefFile> {
        part(&self.files, key)
    }

    /// The seat with this id.
    pub fn seat(&self, id: &str) -> Option<&Seat> {
        self.seats.iter().find(|seat| seat.id == id)
    }

    /// The seats of one role, in seat order.
    pub fn seats_of<'a>(&'a self, role: &'a str) -> impl Iterator<Item = &'a Seat> {
        self.seats.iter().filter(move |seat| seat.role == role)
    }
}
