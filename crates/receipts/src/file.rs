//! The file that is passed on: a signed statement, the key it was signed with, and the log that it is about.

use agon_core::Debate;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::canonical;
use crate::envelope::Envelope;
use crate::key::SecretKey;
use crate::secrets::{Leak, Secret, leaks, leaks_of_body};
use crate::statement::{Made, statement};

/// A receipt as it is written to a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The signed statement.
    pub receipt: Envelope,
    /// The key to check it with, `ed25519:BASE64`.
    pub public_key: String,
    /// The log, where it may be passed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<Vec<Link>>,
}

/// A record of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Its place in the chain.
    pub hash: String,
    /// Its exact bytes: a text and no object, because the hash is over them.
    pub body: String,
}

/// What a receipt is made of.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The outcome's document, evidence included, worked out from the log alone.
    pub outcome: &'a Value,
    /// The debate.
    pub debate: &'a Debate,
    /// Its log, each record as its bytes and its hash; `None` to keep the texts to oneself.
    pub log: Option<&'a [(String, String)]>,
    /// What must not be in it.
    pub secrets: &'a [Secret<'a>],
}

/// Why there is no receipt.
#[derive(Debug, thiserror::Error)]
pub enum Unissued {
    /// The debate goes on.
    #[error("the debate is not over: a receipt is of an outcome; `agon resume {0}` brings it to its end")]
    NotOver(String),
    /// The log is not that of the debate.
    #[error("the log that was given is not the debate's: its last hash is not the debate's head")]
    OtherLog,
    /// A secret is in it.
    #[error(
        "no receipt is made, because it would tell a secret, {name}, which is in {path}: {}",
        advice(path)
    )]
    Secret {
        /// The secret's name.
        name: String,
        /// Where it is.
        path: String,
    },
    /// The statement has no canonical spelling.
    #[error("the outcome cannot be written as canonical JSON: {0}")]
    Json(#[from] serde_json::Error),
}

fn advice(path: &str) -> &'static str {
    match path.starts_with("log") {
        true => {
            "replace that secret with its issuer, because a log is for reading, or make the receipt with --no-log"
        }
        false => {
            "replace that secret with its issuer, because it is in a kept debate, and hold the debate again without it"
        }
    }
}

/// Makes the receipt of a debate that is over. `signed_at` is the caller's clock, RFC 3339, UTC.
pub fn issue(subject: &Subject<'_>, key: &SecretKey, signed_at: &str) -> Result<String, Unissued> {
    let debate = subject.debate;
    if debate.outcome.is_none() {
        return Err(Unissued::NotOver(debate.brief.id.clone()));
    }
    if subject.log.is_some_and(|log| log.last().map(|(_, hash)| hash) != Some(&debate.head)) {
        return Err(Unissued::OtherLog);
    }
    let statement = canonical::normal(&statement(subject.outcome, debate, &Made::at(signed_at)))?;
    if let Some(Leak { name, path }) = first_leak(&statement, subject, key) {
        return Err(Unissued::Secret { name, path });
    }
    let link = |(body, hash): &(String, String)| Link { hash: hash.clone(), body: body.clone() };
    let receipt = Receipt {
        receipt: Envelope::seal(&statement, key)?,
        public_key: key.public().to_string(),
        log: subject.log.map(|log| log.iter().map(link).collect()),
    };
    Ok(format!("{}\n", serde_json::to_string_pretty(&receipt)?))
}

/// The private key itself is guarded too.
fn first_leak(statement: &Value, subject: &Subject<'_>, key: &SecretKey) -> Option<Leak> {
    let revealed = key.reveal();
    let bare = revealed.rsplit_once(':').map_or("", |(_, bare)| bare);
    let mut secrets = subject.secrets.to_vec();
    secrets.push(Secret { name: "the private key", value: bare });
    let in_the_log = || {
        let log = subject.log.unwrap_or_default().iter().enumerate();
        log.flat_map(|(n, (body, _))| leaks_of_body(body, &format!("log[{n}]"), &secrets)).next()
    };
    leaks(statement, "statement", &secrets).into_iter().next().or_else(in_the_log)
}

/// Whether a file is meant to be a receipt, also when a byte of it was changed.
pub fn is_receipt(bytes: &[u8]) -> bool {
    const BEGINNING_BYTES: usize = 200;
    let beginning = String::from_utf8_lossy(bytes.get(..BEGINNING_BYTES).unwrap_or(bytes));
    let beginning = beginning.trim_start();
    let another = beginning.starts_with("{\"seq\":") || beginning.split('"').nth(1) == Some("outcome");
    let marks = ["\"receipt\"", "\"payloadType\"", "in-toto"];
    !another && marks.into_iter().any(|mark| beginning.contains(mark))
}
