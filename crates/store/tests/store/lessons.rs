//! Debates that leave a lesson.

use agon_core::lesson::{Ballot, Claim, Decision, Lesson, Part, Rated};
use agon_core::{Record, Status};
use agon_store::Sqlite;

use crate::debates::{Home, Talk, append, brief};

/// When the debates of the tests are opened, in seconds since 1970; they close less than a second later.
pub(crate) const OPENED_S: i64 = 1_777_629_600;

/// The same moment as the log has it.
pub(crate) const OPENED_AT: &str = "2026-05-01T10:00:00Z";

/// Three who met: a won and was sure, b lost and was sure, c lost and was not. a and b voted for A, c for C.
pub(crate) fn lesson() -> Lesson {
    Lesson {
        decision: Some(Decision {
            position: "Use one SQLite file.".into(),
            answer: "One file is enough, and a copy of it is a backup.".into(),
            claims: vec![
                Claim { claim: "Writes are few.".into(), evidence: "measured: 3 a second".into() },
                Claim { claim: "Nobody runs a server.".into(), evidence: String::new() },
            ],
            share: 2.0 / 3.0,
            dissent: vec!["A server scales further.".into()],
            labels: vec!["A".into()],
        }),
        parts: vec![
            part("s1", "A", "openai/a", (0.9, true), 16.0, &[("s2", 1.0), ("s3", 1.0)], Some((&["A"], 0.8))),
            part(
                "s2",
                "B",
                "anthropic/b",
                (0.9, false),
                -2.5,
                &[("s1", 0.0), ("s3", 1.0)],
                Some((&["A"], 0.6)),
            ),
            part(
                "s3",
                "C",
                "gemini/c",
                (0.3, false),
                -13.5,
                &[("s1", 0.0), ("s2", 0.0)],
                Some((&["C"], 0.7)),
            ),
        ],
    }
}

pub(crate) fn part(
    seat: &str,
    label: &str,
    agent: &str,
    (confidence, won): (f64, bool),
    change: f64,
    against: &[(&str, f64)],
    ballot: Option<(&[&str], f64)>,
) -> Part {
    let against = against.iter().map(|(seat, score)| ((*seat).to_owned(), *score)).collect();
    Part {
        seat: seat.into(),
        label: label.into(),
        agent: Some(agent.into()),
        position: Some(format!("Proposal {label} is to be taken.")),
        confidence: Some(confidence),
        won,
        score: Some(7.0),
        rated: Some(Rated { before: 1500.0, change, against }),
        ballot: ballot.map(|(choice, confidence)| Ballot {
            choice: choice.iter().map(|label| (*label).to_owned()).collect(),
            confidence,
        }),
    }
}

/// A debate that is about to close, and its last record.
pub(crate) fn ending(id: &str, question: &str, lesson: Option<Lesson>) -> (Talk, Record) {
    ending_at(id, question, OPENED_AT, lesson)
}

pub(crate) fn ending_at(
    id: &str,
    question: &str,
    created_at: &str,
    lesson: Option<Lesson>,
) -> (Talk, Record) {
    let mut brief = brief(id, question);
    brief.created_at = created_at.into();
    let mut talk = Talk::of(brief);
    talk.say("So.");
    let closed = talk.close_with(Status::Complete, "One file.", "A server.", lesson);
    (talk, closed)
}

/// Stores a debate that closed with this lesson.
pub(crate) fn debate(store: &Sqlite, id: &str, question: &str, lesson: Lesson) {
    debate_at(store, id, question, OPENED_AT, lesson);
}

pub(crate) fn debate_at(store: &Sqlite, id: &str, question: &str, created_at: &str, lesson: Lesson) {
    append(store, id, ending_at(id, question, created_at, Some(lesson)).0.records).unwrap();
}

/// All that is kept beside the logs, each row with every bit of it, without the index of words.
pub(crate) fn kept(home: &Home) -> Vec<String> {
    let plain = home.plain();
    let mut all = Vec::new();
    for table in [
        "knowledge",
        "memory",
        "sightings",
        "ratings",
        "rating_history",
        "ballots",
        "resolutions",
        "deliveries",
        "embedders",
        "vectors",
        "signatures",
    ] {
        let mut query = plain.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = query.column_count();
        let mut rows = query.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values: Vec<rusqlite::types::Value> = (0..columns).map(|n| row.get(n).unwrap()).collect();
            all.push(format!("{table} {values:?}"));
        }
    }
    all.sort();
    all
}

/// How many rows a table has.
pub(crate) fn count(home: &Home, table: &str) -> i64 {
    home.plain().query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}
