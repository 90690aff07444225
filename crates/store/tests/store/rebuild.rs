//! "Ratings are a view over the logs: rebuilding them from the logs gives the same numbers." So are memories, and what
//! debates decided.

use agon_core::Lesson;
use agon_core::lesson::Rated;
use agon_store::{Rebuilt, Resolution, Sqlite, Truth};
use proptest::prelude::*;
use rusqlite::Connection;

use crate::debates::{Home, Talk, wait};
use crate::knowledge::{add, note};
use crate::lessons::{OPENED_AT, count, debate, debate_at, ending, kept, lesson};
use crate::meaning::index_all;

/// The tables as the second version made them: never to be changed.
const VERSION_2: &str = "
    CREATE TABLE debates (
        n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, protocol TEXT NOT NULL, question TEXT NOT NULL,
        created_at TEXT NOT NULL, parent TEXT, status TEXT, owner TEXT
    ) STRICT;
    CREATE TABLE events (
        n INTEGER PRIMARY KEY, debate INTEGER NOT NULL, seq INTEGER NOT NULL, hash TEXT NOT NULL, body TEXT NOT NULL,
        UNIQUE (debate, seq)
    ) STRICT;
    CREATE VIRTUAL TABLE search USING fts5(
        question, verdict, replies, tokenize = 'unicode61 remove_diacritics 2'
    );
    CREATE TABLE indexed (upto INTEGER NOT NULL) STRICT;
    INSERT INTO indexed VALUES (0);
    PRAGMA application_id = 0x41676f6e;
    PRAGMA user_version = 2;";

fn write(plain: &Connection, n: i64, talk: &Talk, status: Option<&str>) {
    let row = "INSERT INTO debates (n, id, protocol, question, created_at, status) VALUES (?1, ?2, 'arena', ?3, ?4, ?5)";
    plain.execute(row, rusqlite::params![n, talk.id(), format!("Question {n}?"), OPENED_AT, status]).unwrap();
    for record in &talk.records {
        let values = rusqlite::params![n, record.entry.seq.cast_signed(), record.hash, record.body];
        plain
            .execute("INSERT INTO events (debate, seq, hash, body) VALUES (?1, ?2, ?3, ?4)", values)
            .unwrap();
    }
}

/// "An old file (version 2) is migrated and its closed debates' lessons are taken in."
#[test]
fn the_lessons_in_a_file_of_the_second_version_are_taken_in() {
    let old = Home::new();
    let plain = old.plain();
    plain.execute_batch(VERSION_2).unwrap();
    let endings = [Some(lesson()), None, Some(lesson())];
    for (n, lesson) in (1..).zip(endings) {
        let (talk, _) = ending(&format!("d{n}"), &format!("Question {n}?"), lesson);
        write(&plain, n, &talk, Some("complete"));
    }
    let mut open = Talk::new("d4", "Question 4?");
    open.say("\"lesson\"");
    write(&plain, 4, &open, None);
    drop(plain);
    let store = old.open();
    let known: Vec<_> =
        store.knowledge_list(9).unwrap().into_iter().map(|entry| entry.debate.unwrap()).collect();
    assert_eq!(known, ["d3", "d1"]);
    let hits = store.knowledge_search("question", None, 9).unwrap();
    assert_eq!(hits.iter().filter_map(|hit| Some(hit.receipt.as_ref()?.events)).collect::<Vec<_>>(), [5, 5]);
    assert!(store.ratings().unwrap().iter().all(|rated| rated.rating.games == 2));
    let new = Home::new();
    let fresh = new.open();
    debate(&fresh, "d1", "Question 1?", lesson());
    debate(&fresh, "d3", "Question 3?", lesson());
    let ratings = |store: &Sqlite| store.ratings().unwrap();
    assert_eq!(ratings(&store), ratings(&fresh), "as if they had closed in this version");
    assert_eq!(store.health().unwrap().schema_version, fresh.health().unwrap().schema_version);
}

/// Some debates, resolutions between them, an entry forgotten, notes and vectors.
fn busy(store: &Sqlite) {
    for n in 0..6_i32 {
        let mut lesson = lesson();
        for (part, place) in lesson.parts.iter_mut().zip(0..) {
            part.confidence = Some(0.1 + 0.13 * f64::from(n + place));
            part.rated =
                part.rated.clone().map(|rated| Rated { change: rated.change / f64::from(n + 3), ..rated });
        }
        let at = format!("2026-05-0{}T10:00:00Z", n + 1);
        debate_at(store, &format!("d{n}"), &format!("Question {}?", n % 4), &at, lesson);
        if n % 2 == 1 {
            let resolution =
                if n == 1 { Resolution::Winner("B".into()) } else { Resolution::Truth(Truth::Wrong) };
            let at = format!("2026-05-0{}T12:00:00Z", n + 1);
            wait(store.resolve(&format!("d{}", n - 1), resolution, None, &at)).unwrap();
        }
    }
    let forgotten = store.knowledge_list(9).unwrap().remove(2);
    wait(store.knowledge_forget(&forgotten.id)).unwrap();
    add(store, vec![note("A note", "that no log has")]);
    index_all(store, "embeddings/x", &[0.3, 0.7]);
}

fn rebuild(store: &Sqlite) -> Rebuilt {
    wait(store.rebuild()).unwrap()
}

/// Bit for bit, vectors and all; and it says that nothing differed.
#[test]
fn to_rebuild_what_is_sound_changes_nothing() {
    let home = Home::new();
    let store = home.open();
    busy(&store);
    let before = kept(&home);
    assert_eq!(rebuild(&store), Rebuilt { debates: 6, ..Rebuilt::default() });
    assert_eq!(kept(&home), before);
    assert_eq!(store.health().unwrap().integrity, "ok");
}

#[test]
fn what_was_lost_or_changed_comes_back_and_is_counted() {
    let home = Home::new();
    let store = home.open();
    busy(&store);
    let without_vectors = |home: &Home| -> Vec<String> {
        let all = kept(home).into_iter();
        all.filter(|row| !["vectors", "signatures", "embedders"].iter().any(|table| row.starts_with(table)))
            .collect()
    };
    let before = without_vectors(&home);
    for (damage, rows) in [
        ("UPDATE ratings SET elo = elo + 1e-9 WHERE agent = 'openai/a'", (0, 0, 1)),
        ("DELETE FROM ratings", (0, 0, 3)),
        ("DELETE FROM ballots WHERE seat = 's1'", (0, 0, 6)),
        ("INSERT INTO rating_history VALUES ('openai/a', 99, 1, 'then', 1, 1)", (0, 0, 1)),
        ("UPDATE memory SET tier = 'glacial', seen = 9 WHERE n = 2", (0, 1, 0)),
        ("DELETE FROM sightings WHERE debate = 2", (0, 3, 0)),
        ("UPDATE knowledge SET confidence = 1 WHERE debate = 1", (1, 0, 0)),
        ("UPDATE knowledge SET head = '00' WHERE debate = 1", (1, 0, 0)),
        ("UPDATE knowledge SET events = NULL WHERE debate = 1", (1, 0, 0)),
        ("UPDATE sightings SET head = '00' WHERE debate = 2", (0, 3, 0)),
        (
            "INSERT INTO knowledge (id, kind, title, text, debate, created_at) VALUES ('k-x', 'debate', '', '', 77, '')",
            (1, 0, 0),
        ),
    ] {
        home.plain().execute(damage, []).unwrap();
        let rebuilt = rebuild(&store);
        assert_eq!((rebuilt.knowledge, rebuilt.memories, rebuilt.ratings), rows, "{damage}");
        assert_eq!(without_vectors(&home), before, "{damage}");
    }
}

/// A debate's entry that was deleted behind the store's back is found by its words again.
#[test]
fn an_entry_that_was_lost_can_be_found_again() {
    let home = Home::new();
    let store = home.open();
    debate(&store, "d1", "Which database?", lesson());
    home.plain().execute("DELETE FROM knowledge", []).unwrap();
    assert_eq!(store.knowledge_search("database", None, 9).unwrap(), []);
    assert_eq!(rebuild(&store).knowledge, 1);
    assert_eq!(store.knowledge_search("database", None, 9).unwrap().len(), 1);
}

/// An ending that somebody broke is `verify`'s business; the rest is still there.
#[test]
fn a_log_that_cannot_be_read_does_not_hide_the_others() {
    let home = Home::new();
    let store = home.open();
    debate(&store, "d1", "Question 1?", lesson());
    debate(&store, "d2", "Question 2?", lesson());
    home.plain().execute("UPDATE events SET body = '{\"lesson\"' WHERE debate = 1 AND seq = 4", []).unwrap();
    assert_eq!(rebuild(&store).debates, 1);
    assert_eq!(count(&home, "ballots"), 3);
}

fn any_lesson() -> impl Strategy<Value = Lesson> {
    let seat = (0_usize..4, 0.0..=1.0_f64, any::<bool>(), -20.0..20.0_f64, 0_usize..4, 0.0..=1.0_f64);
    (prop::collection::vec(seat, 3), any::<bool>()).prop_map(|(seats, decided)| {
        let mut lesson = lesson();
        for (part, (agent, confidence, won, change, position, sure)) in lesson.parts.iter_mut().zip(seats) {
            part.agent = (agent < 3).then(|| format!("agent-{agent}"));
            part.position = (position < 3).then(|| format!("Position {position} is the one to take."));
            (part.confidence, part.won) = (Some(confidence).filter(|_| agent != 1), won);
            part.rated = part.rated.take().map(|rated| Rated { change, ..rated }).filter(|_| decided);
            part.ballot =
                part.ballot.take().map(|ballot| agon_core::lesson::Ballot { confidence: sure, ..ballot });
        }
        lesson.decision = lesson.decision.filter(|_| decided);
        lesson
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever closed and was resolved, in whatever order: from the logs comes the same again.
    #[test]
    fn from_the_logs_comes_the_same_again(
        steps in prop::collection::vec((any_lesson(), 0_u8..4, prop::option::of((0_usize..4, 0_usize..3))), 1..8),
    ) {
        let home = Home::new();
        let store = home.open();
        for (n, (lesson, question, resolved)) in steps.into_iter().enumerate() {
            debate_at(&store, &format!("d{n}"), &format!("Question {question}?"), &format!("2026-05-0{}T10:00:00Z", n + 1), lesson);
            if let Some((debate, label)) = resolved.filter(|(debate, _)| *debate <= n) {
                let resolution = Resolution::Winner(["A", "B", "C"][label].into());
                let at = format!("2026-05-0{}T15:00:00Z", n + 1);
                // Refused where that seat proposed nothing.
                drop(wait(store.resolve(&format!("d{debate}"), resolution, None, &at)));
            }
        }
        let before = kept(&home);
        let rebuilt = rebuild(&store);
        prop_assert_eq!((rebuilt.knowledge, rebuilt.memories, rebuilt.ratings), (0, 0, 0));
        prop_assert_eq!(kept(&home), before);
    }
}
