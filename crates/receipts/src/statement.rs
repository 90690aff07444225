//! What a receipt says: an in-toto statement about one debate.

use agon_core::event::sha256;
use agon_core::{Artifact, Debate};
use serde_json::{Map, Value, json};

/// The form of the statement.
pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
/// The form of its predicate.
pub const PREDICATE_TYPE: &str = "urn:agon:receipt:1";

/// The version that this program signs as.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What of a statement the log does not give: who made it, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The version of Agon.
    pub agon: String,
    /// RFC 3339, UTC, by the signer's clock.
    pub signed_at: String,
}

impl Made {
    /// By this program, now.
    pub fn at(signed_at: &str) -> Self {
        Self { agon: VERSION.to_owned(), signed_at: signed_at.to_owned() }
    }

    /// As a statement says.
    pub(crate) fn said(statement: &Value) -> Self {
        let said = |key: &str| statement.pointer(&format!("/predicate/{key}")).and_then(Value::as_str);
        let said = |key| said(key).unwrap_or_default().to_owned();
        Self { agon: said("agon"), signed_at: said("signed_at") }
    }
}

/// The statement about a debate. `outcome` is its [document](agon_core::document::document), evidence included. Of the
/// files that the debate was about it has the hashes, never the text.
pub fn statement(outcome: &Value, debate: &Debate, made: &Made) -> Value {
    let brief = &debate.brief;
    let mut predicate = Map::new();
    for key in COPIED {
        predicate.insert(key.to_owned(), outcome.get(key).cloned().unwrap_or_default());
    }
    let of_the_log = json!({
        "agon": made.agon,
        "signed_at": made.signed_at,
        "options": brief.options,
        "limits": brief.limits,
        "files": brief.files.iter().map(file).collect::<Vec<_>>(),
        "templates": brief.templates,
        // The canonical spelling knows whole numbers only up to 2^53.
        "seed": brief.seed.to_string(),
        "log": {"version": brief.version, "events": debate.events, "head": debate.head},
        "positions": debate.outcome.as_ref().map_or(&[][..], |outcome| &outcome.positions),
        "votes": votes(outcome.get("verdict").unwrap_or(&Value::Null)),
    });
    if let Value::Object(more) = of_the_log {
        predicate.extend(more);
    }
    json!({
        "_type": STATEMENT_TYPE,
        "subject": [{"name": subject(&brief.id), "digest": {"sha256": debate.head}}],
        "predicateType": PREDICATE_TYPE,
        "predicate": predicate,
    })
}

/// The fields of the outcome's document that a statement repeats.
const COPIED: [&str; 18] = [
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

/// Where a statement that was read contradicts itself, as a path and a sentence each.
pub(crate) fn contradictions(statement: &Value) -> Vec<(String, String)> {
    let at = |pointer: &str| statement.pointer(pointer).unwrap_or(&Value::Null);
    let id = at("/predicate/id").as_str().map(subject);
    let expected: [(&str, &str, Value); 5] = [
        ("/_type", "of an in-toto statement", json!(STATEMENT_TYPE)),
        ("/predicateType", "of a receipt of this kind", json!(PREDICATE_TYPE)),
        ("/subject/0/name", "of the debate's id", json!(id)),
        ("/subject/0/digest/sha256", "of the log's head", at("/predicate/log/head").clone()),
        ("/predicate/votes", "of the votes in the verdict", votes(at("/predicate/verdict"))),
    ];
    let wrong = expected.into_iter().filter(|(pointer, _, value)| at(pointer) != value);
    wrong
        .map(|(pointer, what, _)| {
            let path = pointer.trim_start_matches('/').replace("/0", "[0]").replace('/', ".");
            (path, format!("it is not that {what}"))
        })
        .collect()
}

fn subject(id: &str) -> String {
    format!("agon:debate:{id}")
}

fn file(file: &Artifact) -> Value {
    json!({"path": file.path, "part": file.part, "sha256": sha256(&file.text), "bytes": file.text.len()})
}

/// Who voted how, as far as a verdict says: the ballots, the judges' rulings or scores, the last stances.
fn votes(verdict: &Value) -> Value {
    if let Some(votes) = verdict.get("votes").filter(|votes| votes.is_array()) {
        return votes.clone();
    }
    if let Some(judges) = verdict.get("judges").and_then(Value::as_array) {
        return judges.iter().map(ruling).collect::<Vec<_>>().into();
    }
    verdict.pointer("/synthesis_input/final_stances").cloned().unwrap_or_else(|| json!([]))
}

fn ruling(judge: &Value) -> Value {
    let told = ["judge", "judge_id", "stance", "verdict", "used", "score", "dimension_scores"];
    let told = told.into_iter().filter_map(|key| Some((key.to_owned(), judge.get(key)?.clone())));
    Value::Object(told.collect())
}
