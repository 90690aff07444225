//! The receipt file: a signed statement, the key that signed it, and the log it is about.

use agon_core::Debate;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::envelope::{SignedEnvelope, canonical_value};
use super::keys::SecretKey;
use super::secrets::{KnownSecret, SecretLeak, find_leaks, find_leaks_in_body};
use super::statement::{SignedOutcome, StatementOrigin, build_statement};

/// A receipt as it is written to a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The signed statement.
    pub receipt: SignedEnvelope,
    /// The key to check it with, `ed25519:BASE64`.
    pub public_key: String,
    /// The log, unless it is private.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<Vec<LoggedRecord>>,
}

/// One record of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedRecord {
    /// The hash of the record before it and of `body`.
    pub hash: String,
    /// The exact bytes of the event. It is a string and not an object because the hash covers these bytes.
    pub body: String,
}

/// What a receipt is made from.
#[derive(Debug, Clone, Copy)]
pub struct ReceiptSubject<'a> {
    /// What the debate came to.
    pub outcome: &'a SignedOutcome,
    /// The debate itself.
    pub debate: &'a Debate,
    /// Its log, as the body and the hash of each record. `None` keeps the texts private.
    pub log: Option<&'a [(String, String)]>,
    /// What the receipt must not contain.
    pub secrets: &'a [KnownSecret<'a>],
}

/// Why no receipt was made.
#[derive(Debug, thiserror::Error)]
pub enum IssueError {
    /// The debate is still open.
    #[error("the debate is not over, and a receipt needs an outcome: finish it with `agon resume {0}`")]
    NotOver(String),
    /// The log belongs to another debate.
    #[error("the log does not belong to this debate: its last hash is not the debate's head")]
    OtherLog,
    /// The receipt would contain a secret.
    #[error(
        "no receipt was made, because it would reveal a secret: {name} is in {path}; {}",
        leak_advice(path)
    )]
    Secret {
        /// The secret's name.
        name: String,
        /// Where it is.
        path: String,
    },
    /// The statement has no canonical text.
    #[error("the outcome cannot be written as canonical JSON: {0}")]
    Json(#[from] serde_json::Error),
}

fn leak_advice(path: &str) -> &'static str {
    match path.starts_with("log") {
        true => "revoke that secret, because anybody who reads the log can see it, or use --no-log",
        false => "revoke that secret, because it is in a stored debate, and run the debate again without it",
    }
}

/// Makes the receipt of a debate that is over. `signed_at` is the caller's clock, RFC 3339, UTC.
pub fn issue(subject: &ReceiptSubject<'_>, key: &SecretKey, signed_at: &str) -> Result<String, IssueError> {
    let debate = subject.debate;
    if debate.outcome.is_none() {
        return Err(IssueError::NotOver(debate.brief.id.clone()));
    }
    if subject.log.is_some_and(|log| log.last().map(|(_, hash)| hash) != Some(&debate.head)) {
        return Err(IssueError::OtherLog);
    }
    let statement = build_statement(subject.outcome, debate, &StatementOrigin::at(signed_at));
    let statement = canonical_value(&statement)?;
    if let Some(SecretLeak { name, path }) = first_leak(&statement, subject, key) {
        return Err(IssueError::Secret { name, path });
    }
    let record = |(body, hash): &(String, String)| LoggedRecord { hash: hash.clone(), body: body.clone() };
    let receipt = Receipt {
        receipt: SignedEnvelope::sign(&statement, key)?,
        public_key: key.public().to_string(),
        log: subject.log.map(|log| log.iter().map(record).collect()),
    };
    Ok(format!("{}\n", serde_json::to_string_pretty(&receipt)?))
}

/// The first secret in what would be published. The private key itself counts as one.
fn first_leak(statement: &Value, subject: &ReceiptSubject<'_>, key: &SecretKey) -> Option<SecretLeak> {
    let key_text = key.reveal();
    let key_bytes = key_text.rsplit_once(':').map_or("", |(_, bytes)| bytes);
    let mut secrets = subject.secrets.to_vec();
    secrets.push(KnownSecret { name: "the private key", value: key_bytes });
    let in_log = || {
        let log = subject.log.unwrap_or_default().iter().enumerate();
        log.flat_map(|(n, (body, _))| find_leaks_in_body(body, &format!("log[{n}]"), &secrets)).next()
    };
    find_leaks(statement, "statement", &secrets).into_iter().next().or_else(in_log)
}

/// Whether a file is meant to be a receipt. A receipt with a changed byte still counts as one, so that it gets checked.
pub fn is_receipt(bytes: &[u8]) -> bool {
    const START_BYTES: usize = 200;
    let start = String::from_utf8_lossy(bytes.get(..START_BYTES).unwrap_or(bytes));
    let start = start.trim_start();
    let is_log_or_export = start.starts_with("{\"seq\":") || start.split('"').nth(1) == Some("outcome");
    let marks = ["\"receipt\"", "\"payloadType\"", "in-toto"];
    !is_log_or_export && marks.into_iter().any(|mark| start.contains(mark))
}
