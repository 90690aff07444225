//! The log's events and the hash chain over them.

use crate::invisible::escaped_json;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{AbsenceReason, AskRecord, Brief, CallUsage, Outcome, Reply};

/// One thing that happened in a debate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The debate was opened.
    Opened {
        /// The question, the seats, the options and the limits.
        brief: Box<Brief>,
    },
    /// A phase began: these asks are outstanding until each has a `Replied`.
    Asked {
        /// The phase's name.
        phase: String,
        /// The round that the phase belongs to.
        round: u32,
        /// In seat order.
        asks: Vec<AskRecord>,
    },
    /// A call is about to be sent. The event is durable before the call leaves.
    Sent {
        /// The ask's id.
        ask: u32,
        /// Counted from 1.
        attempt: u32,
        /// The model that is called.
        model: String,
        /// The most that the call can cost; `None` when the price is not known.
        worst_usd: Option<f64>,
        /// The most tokens that the call can use, its prompt and its answer together.
        worst_tokens: u64,
        /// Whether it is an errand on this machine, which no limit on calls counts.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        errand: bool,
    },
    /// An attempt came back without a usable answer, and another may follow.
    Attempted {
        /// The ask's id.
        ask: u32,
        /// The number of the attempt.
        attempt: u32,
        /// What the ask would be if this was its last attempt.
        why: AbsenceReason,
        /// What was seen.
        detail: String,
        /// The words, where there were any: they were paid for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// Whether the answer was sent back only because a declaration in it does not verify. It counts if no attempt does better.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unverified: bool,
        /// What it used.
        usage: CallUsage,
    },
    /// An ask is settled. The event is durable before anything acts on the reply.
    Replied {
        /// The ask's id.
        ask: u32,
        /// The answer or absence.
        #[serde(flatten)]
        reply: Reply,
    },
    /// A person said something to the whole table.
    Interjected {
        /// Who said it.
        by: String,
        /// The words.
        text: String,
    },
    /// The debate is over.
    Closed {
        /// How it ended.
        outcome: Box<Outcome>,
    },
}

/// An event in its place in the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Counted from 0.
    pub seq: u64,
    /// Milliseconds since the debate was opened, counted while it ran.
    pub at_ms: u64,
    /// The event itself.
    #[serde(flatten)]
    pub event: Event,
}

/// An entry as it is stored: its exact bytes and the hash that chains it to all before it.
#[derive(Debug, Clone, PartialEq)]
pub struct LogRecord {
    /// The entry, parsed.
    pub entry: LogEntry,
    /// The entry's JSON. Hashes are over these bytes, never over a re-serialization.
    pub body: String,
    /// `sha256(hash of the record before, body)` in hex.
    pub hash: String,
}

/// The hash before the first record.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A break in the chain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BrokenChain {
    /// A record's hash is not that of its bytes and the record before.
    #[error(
        "event {seq} was changed: its hash is {found}, but its bytes and the event before give {expected}"
    )]
    Hash {
        /// The event's number.
        seq: u64,
        /// What its bytes give.
        expected: String,
        /// What is written.
        found: String,
    },
    /// A record is missing or out of place.
    #[error("event {expected} is missing: event {found} stands in its place")]
    Gap {
        /// The number that should be here.
        expected: u64,
        /// The number that is.
        found: u64,
    },
    /// A record is not an event of any known kind.
    #[error("event {seq} cannot be read: {why}")]
    Unreadable {
        /// The event's number.
        seq: u64,
        /// The parser's words.
        why: String,
    },
}

impl LogRecord {
    /// The record of `entry` after one whose hash is `previous`.
    pub fn seal(entry: LogEntry, previous: &str) -> Result<Self, serde_json::Error> {
        let body = escaped_json(serde_json::to_string(&entry)?);
        let hash = link(previous, &body);
        Ok(Self { entry, body, hash })
    }

    /// Reads a stored record and checks that it follows one whose hash is `previous`.
    pub fn open(seq: u64, body: String, hash: String, previous: &str) -> Result<Self, BrokenChain> {
        let expected = link(previous, &body);
        if expected != hash {
            return Err(BrokenChain::Hash { seq, expected, found: hash });
        }
        let entry: LogEntry = serde_json::from_str(&body)
            .map_err(|why| BrokenChain::Unreadable { seq, why: why.to_string() })?;
        if entry.seq != seq {
            return Err(BrokenChain::Gap { expected: seq, found: entry.seq });
        }
        Ok(Self { entry, body, hash })
    }
}

/// Reads a whole stored log, each record as its bytes and its hash, and checks the chain.
pub fn open_all(stored: impl IntoIterator<Item = (String, String)>) -> Result<Vec<LogRecord>, BrokenChain> {
    let mut records: Vec<LogRecord> = Vec::new();
    for (seq, (body, hash)) in (0_u64..).zip(stored) {
        let previous = records.last().map_or(GENESIS, |record| record.hash.as_str());
        let record = LogRecord::open(seq, body, hash, previous)?;
        records.push(record);
    }
    Ok(records)
}

fn link(previous: &str, body: &str) -> String {
    let mut hasher = Sha256::new();
    hasher.update(previous.as_bytes());
    hasher.update(body.as_bytes());
    hex(&hasher.finalize())
}

/// Bytes as lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let digit = |n: u8| DIGITS.get(usize::from(n & 15)).copied().unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

/// The sha256 of a text, in hex.
pub fn sha256(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}
