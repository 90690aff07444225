//! What keeps the deliveries, and what renders a debate.

use serde_json::Value;

use crate::deliveries::destination::Format;

/// A delivery that is to be made now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parcel {
    /// Its number in the outbox, the same on every attempt.
    pub id: i64,
    /// The debate whose outcome it brings.
    pub debate: String,
    /// Where to, as [`Destination::stored`](crate::deliveries::Destination::stored) wrote it.
    pub destination: String,
    /// How many attempts were begun before this one, those included that a crash cut off.
    pub attempts: u32,
}

impl Parcel {
    /// What the receiver knows it by: the same on every attempt, and no other's.
    pub fn name(&self) -> String {
        format!("{}-{}", self.debate, self.id)
    }
}

/// What keeps the deliveries. Every call may block: it is made on a thread where that is no harm. An error is a sentence for
/// the person.
pub trait Outbox: Send + Sync {
    /// Hands out what is due, as begun. What is handed out is nobody else's until `done` or `failed` is said of it, or until
    /// more time has passed than an attempt may take ([`ATTEMPT_S_MAX`](crate::deliveries::policy::ATTEMPT_S_MAX)): then it is due again.
    fn due(&self, now_s: i64, limit: usize) -> Result<Vec<Parcel>, String>;

    /// It was delivered. What is done stays done.
    fn done(&self, id: i64) -> Result<(), String>;

    /// It was not: it is due again at `next_at_s`, or dead when there is none.
    fn failed(&self, id: i64, error: &str, next_at_s: Option<i64>) -> Result<(), String>;
}

/// What renders a debate that is over. May block. An error is a sentence for the person.
pub trait Render: Send + Sync {
    /// Its outcome, as every face of Agon prints it.
    fn outcome(&self, debate: &str) -> Result<Value, String>;

    /// Its report in this format.
    fn text(&self, debate: &str, format: Format) -> Result<String, String>;
}
