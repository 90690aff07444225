//! One question to one seat.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A stage of a debate: all its asks run in parallel and none sees another's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// The protocol's own word for it: `answer`, `debate`, `moderate`...
    pub name: String,
    /// The round that it belongs to; 0 before the first.
    pub round: u32,
}

impl Phase {
    /// A phase of this name in this round.
    pub fn new(name: &str, round: u32) -> Self {
        Self { name: name.to_owned(), round }
    }
}

/// What a seat is given to read. The three parts are in the order that shares the longest prefix between the
/// seats of a phase: the rules, what all seats read, and what only this one does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The rules of the house, the same for the whole debate.
    pub system: Arc<str>,
    /// What all seats of the phase read.
    pub shared: Arc<str>,
    /// What only this seat reads.
    pub tail: String,
}

impl Prompt {
    /// The hash by which the log knows this prompt.
    pub fn hash(&self) -> String {
        PromptHasher::default().hash(self)
    }

    /// What the user's message says: the shared part and the tail.
    pub fn user(&self) -> String {
        format!("{}{}", self.shared, self.tail)
    }
}

/// Hashes the prompts of a phase. What a prompt shares with the one before it is hashed once.
#[derive(Debug, Default)]
pub struct PromptHasher {
    /// The rules and the shared part of the last prompt, and the state after them.
    last: Option<(Arc<str>, Arc<str>, Sha256)>,
}

impl PromptHasher {
    /// The hash by which the log knows a prompt.
    pub fn hash(&mut self, prompt: &Prompt) -> String {
        let (system, shared) = (&prompt.system, &prompt.shared);
        let is_same = |last: &(Arc<str>, Arc<str>, Sha256)| {
            Arc::ptr_eq(&last.0, system) && Arc::ptr_eq(&last.1, shared)
        };
        let (_, _, state) = match self.last.take().filter(is_same) {
            Some(last) => self.last.insert(last),
            None => {
                let state = with_part(with_part(Sha256::new(), system), shared);
                self.last.insert((Arc::clone(system), Arc::clone(shared), state))
            }
        };
        crate::event::hex(&with_part(state.clone(), &prompt.tail).finalize())
    }
}

fn with_part(mut hasher: Sha256, part: &str) -> Sha256 {
    hasher.update((part.len() as u64).to_be_bytes());
    hasher.update(part.as_bytes());
    hasher
}

/// The shape of a structured answer.
#[derive(Debug, PartialEq)]
pub struct ReplySchema {
    /// A short name, as providers want one.
    pub name: String,
    /// The JSON Schema.
    pub json: Value,
}

/// An earlier turn of the same seat: what it was asked and what it said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriorExchange {
    /// The user's message.
    pub prompt: String,
    /// The seat's words.
    pub reply: String,
}

/// Whether the seat starts afresh or goes on with its own conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SeatThread {
    /// Nothing in front.
    #[default]
    Fresh,
    /// The seat's own earlier turns are in front, rebuilt from the log.
    Continue(Vec<PriorExchange>),
}

/// One question to one seat, as a protocol puts it.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// Numbered over the whole debate from 1; set by [`advance`](crate::advance).
    pub id: u32,
    /// Who is asked.
    pub seat: String,
    /// Which model answers: the seat's own, or that of a stand-in.
    pub model: String,
    /// How the seat is shown while the debate runs, where its name must not be ("Debater B").
    pub label: Option<String>,
    /// What the ask is about, where one seat has several in one phase ("A").
    pub about: Option<String>,
    /// Whether the seat's earlier turns are in front.
    pub thread: SeatThread,
    /// What it reads.
    pub prompt: Prompt,
    /// The shape of its answer; `None` for plain text.
    pub schema: Option<Arc<ReplySchema>>,
    /// How long the whole ask may take, all its attempts together; `None` for the debate's limit on each call.
    pub within_ms: Option<u64>,
    /// Whether the limit also applies to models with their own time limit, such as people.
    pub firm: bool,
    /// How many asks of the phase may run when this one starts; `None` for no limit.
    pub at_once: Option<u32>,
    /// The ask that this one puts again, now that what the seat asked for was looked up.
    pub repeats: Option<u32>,
}

impl Ask {
    /// What the log keeps of this ask. The prompt is a pure function of the log before it, so its hash is enough.
    pub fn record(&self, hasher: &mut PromptHasher) -> AskRecord {
        AskRecord {
            id: self.id,
            seat: self.seat.clone(),
            model: self.model.clone(),
            label: self.label.clone(),
            about: self.about.clone(),
            schema: self.schema.as_ref().map(|schema| schema.name.clone()),
            repeats: self.repeats,
            prompt: hasher.hash(&self.prompt),
        }
    }
}

/// An ask as the log keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskRecord {
    /// The ask's number.
    pub id: u32,
    /// Who was asked.
    pub seat: String,
    /// Which model was to answer.
    pub model: String,
    /// How the seat was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What it was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The name of the answer's schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The ask that it put again, with what the seat had asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
    /// The prompt's hash.
    pub prompt: String,
}
