//! What a receipt says: an in-toto statement about one debate.

use agon_core::event::sha256;
use agon_core::{BriefFile, Debate, SeatVote};
use serde_json::{Map, Value, json};

/// The `_type` of the statement.
pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
/// The type of its predicate.
pub const PREDICATE_TYPE: &str = "urn:agon:receipt:1";
/// The version of Agon that this program signs as.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The fields of the outcome document that a statement repeats.
const COPIED_FIELDS: [&str; 18] = [
    "id",
    "protocol",
    "question",
    "created_at",
    "parent",
    "seats",
    "labels",
    "status",
    "termination",
    "rounds_completed",
    "verdict",
    "dissent",
    "warnings",
    "fidelity",
    "absences",
    "evidence",
    "usage",
    "elapsed_ms",
];

/// The part of a statement that does not follow from the log: which version made it, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementOrigin {
    /// The version of Agon.
    pub agon: String,
    /// RFC 3339, UTC, by the signer's clock.
    pub signed_at: String,
}

impl StatementOrigin {
    /// This version, at this time.
    pub fn at(signed_at: &str) -> Self {
        Self { agon: VERSION.to_owned(), signed_at: signed_at.to_owned() }
    }

    /// The origin that a statement claims.
    pub(super) fn claimed_by(statement: &Value) -> Self {
        let predicate = |key: &str| {
            let claimed = statement.pointer(&format!("/predicate/{key}"));
            claimed.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        Self { agon: predicate("agon"), signed_at: predicate("signed_at") }
    }
}

/// What a debate came to, read from its log alone.
#[derive(Debug, Clone, PartialEq)]
pub struct SignedOutcome {
    /// The JSON outcome, evidence included.
    pub document: Value,
    /// What each seat voted or ruled.
    pub votes: Vec<SeatVote>,
}

/// The statement about a debate. Files that the debate was about appear with their hashes, never with their text.
pub fn build_statement(outcome: &SignedOutcome, debate: &Debate, origin: &StatementOrigin) -> Value {
    let brief = &debate.brief;
    let mut predicate = Map::new();
    for key in COPIED_FIELDS {
        predicate.insert(key.to_owned(), outcome.document.get(key).cloned().unwrap_or_default());
    }
    let added = json!({
        "agon": origin.agon,
        "signed_at": origin.signed_at,
        "options": brief.options,
        "limits": brief.limits,
        "files": brief.files.iter().map(file_entry).collect::<Vec<_>>(),
        "templates": brief.templates,
        // Canonical JSON has whole numbers only up to 2^53.
        "seed": brief.seed.to_string(),
        "log": {"version": brief.version, "events": debate.events, "head": debate.head},
        "positions": debate.outcome.as_ref().map_or(&[][..], |outcome| &outcome.positions),
        "votes": outcome.votes,
    });
    if let Value::Object(added) = added {
        predicate.extend(added);
    }
    json!({
        "_type": STATEMENT_TYPE,
        "subject": [{"name": subject_name(&brief.id), "digest": {"sha256": debate.head}}],
        "predicateType": PREDICATE_TYPE,
        "predicate": predicate,
    })
}

/// Where a statement contradicts itself: the path and the reason of each contradiction.
pub(super) fn contradictions(statement: &Value) -> Vec<(String, String)> {
    let at = |pointer: &str| statement.pointer(pointer).unwrap_or(&Value::Null);
    let name = at("/predicate/id").as_str().map(subject_name);
    let expected: [(&str, &str, Value); 4] = [
        ("/_type", "it is not the type of an in-toto statement", json!(STATEMENT_TYPE)),
        ("/predicateType", "it is not the type of a receipt that this version knows", json!(PREDICATE_TYPE)),
        ("/subject/0/name", "it does not name the debate's id", json!(name)),
        ("/subject/0/digest/sha256", "it is not the head of the log", at("/predicate/log/head").clone()),
    ];
    let wrong = expected.into_iter().filter(|(pointer, _, value)| at(pointer) != value);
    wrong
        .map(|(pointer, why, _)| {
            let path = pointer.trim_start_matches('/').replace("/0", "[0]").replace('/', ".");
            (path, why.to_owned())
        })
        .collect()
}

fn subject_name(id: &str) -> String {
    format!("agon:debate:{id}")
}

fn file_entry(file: &BriefFile) -> Value {
    json!({"path": file.path, "part": file.part, "sha256": sha256(&file.text), "bytes": file.text.len()})
}
