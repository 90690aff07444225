//! The store that keeps the deliveries, and the renderer of outcomes, as traits that the caller implements.

use agon_core::{Debate, DebateView, Status};
use serde_json::Value;

use super::destination::ReportFormat;
use super::send::chat::ChatSummary;

/// A delivery that is due now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueDelivery {
    /// Its number in the outbox, the same in every attempt.
    pub id: i64,
    /// The debate whose outcome it carries.
    pub debate: String,
    /// Where it goes, as [`Destination::stored`](super::Destination::stored) wrote it.
    pub destination: String,
    /// How many attempts were started before this one, including those that a crash cut off.
    pub attempts: u32,
}

impl DueDelivery {
    /// The id that the receiver sees: unique, and the same in every attempt.
    pub fn name(&self) -> String {
        format!("{}-{}", self.debate, self.id)
    }
}

/// Keeps the deliveries. Every call may block; it is made on a thread for blocking work. An error is a sentence for the
/// person.
pub trait Outbox: Send + Sync {
    /// Takes what is due and counts an attempt for each. Nobody else gets these deliveries until `done` or `failed` is
    /// called, or until [`ATTEMPT_S_MAX`](super::retry_policy::ATTEMPT_S_MAX) seconds have passed.
    fn due(&self, now_s: i64, limit: usize) -> Result<Vec<DueDelivery>, String>;

    /// The delivery was made. It stays done.
    fn done(&self, id: i64) -> Result<(), String>;

    /// The delivery failed. It is due again at `next_at_s`, or dead if that is `None`.
    fn failed(&self, id: i64, error: &str, next_at_s: Option<i64>) -> Result<(), String>;
}

/// What a debate came to, as deliveries send it.
#[derive(Debug, Clone, PartialEq)]
pub struct DeliveredOutcome {
    /// How far it got.
    pub status: Status,
    /// What chats are told.
    pub summary: ChatSummary,
    /// The whole JSON outcome.
    pub document: Value,
}

impl DeliveredOutcome {
    /// What a debate came to. `None` if it is not over.
    pub fn new(debate: &Debate, view: &DebateView, document: Value) -> Option<Self> {
        let outcome = debate.outcome.as_ref()?;
        let summary = ChatSummary::new(&debate.brief, outcome, view);
        Some(Self { status: outcome.status, summary, document })
    }
}

/// Renders debates that are over. Every call may block. An error is a sentence for the person.
pub trait OutcomeRenderer: Send + Sync {
    /// What a debate came to.
    fn outcome(&self, debate: &str) -> Result<DeliveredOutcome, String>;

    /// The report of a debate in this format.
    fn text(&self, debate: &str, format: ReportFormat) -> Result<String, String>;
}
