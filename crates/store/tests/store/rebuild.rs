//! Knowledge, memories and ratings are views over the logs: rebuilding them gives the same rows.

use agon_core::DebateLesson;
use agon_core::lesson::RatingChange;
use agon_measure::calibration::{DebateResolution, OutcomeTruth};
use agon_store::{DebateStore, RebuildReport};
use proptest::prelude::*;

use crate::fixtures::{TestHome, block_on, close_debate, close_debate_at, count_rows, lesson, table_rows};
use crate::knowledge::{add, note};
use crate::vectors::index_all;

/// Fills the store with debates, resolutions between them, a forgotten entry, a note and vectors.
fn fill(store: &DebateStore) {
    for n in 0..6_i32 {
        let mut lesson = lesson();
        for (part, place) in lesson.parts.iter_mut().zip(0..) {
            part.confidence = Some(0.1 + 0.13 * f64::from(n + place));
            part.rated = part
                .rated
                .clone()
                .map(|rated| RatingChange { change: rated.change / f64::from(n + 3), ..rated });
        }
        let at = format!("2026-05-0{}T10:00:00Z", n + 1);
        close_debate_at(store, &format!("d{n}"), &format!("Question {}?", n % 4), &at, lesson);
        if n % 2 == 1 {
            let resolution = if n == 1 {
                DebateResolution::Winner("B".into())
            } else {
                DebateResolution::Truth(OutcomeTruth::Wrong)
            };
            let at = format!("2026-05-0{}T12:00:00Z", n + 1);
            block_on(store.resolve_debate(&format!("d{}", n - 1), resolution, None, &at, None)).unwrap();
        }
    }
    let forgotten = store.knowledge_list(9).unwrap().remove(2);
    block_on(store.knowledge_forget(&forgotten.id)).unwrap();
    add(store, vec![note("A note", "that no log has")]);
    index_all(store, "embeddings/x", &[0.3, 0.7]);
}

fn rebuild(store: &DebateStore) -> RebuildReport {
    block_on(store.rebuild()).unwrap()
}

#[test]
fn rebuilding_an_intact_store_changes_nothing() {
    let home = TestHome::new();
    let store = home.open();
    fill(&store);
    let before = table_rows(&home);
    assert_eq!(rebuild(&store), RebuildReport { debates: 6, ..RebuildReport::default() });
    assert_eq!(table_rows(&home), before);
    assert_eq!(store.health().unwrap().integrity, "ok");
}

#[test]
fn a_rebuild_restores_and_counts_lost_and_changed_rows() {
    let home = TestHome::new();
    let store = home.open();
    fill(&store);
    let without_vectors = |home: &TestHome| -> Vec<String> {
        let all = table_rows(home).into_iter();
        all.filter(|row| {
            !["vectors", "vector_signs", "embedding_models"].iter().any(|table| row.starts_with(table))
        })
        .collect()
    };
    let before = without_vectors(&home);
    for (damage, rows) in [
        ("UPDATE ratings SET elo = elo + 1e-9 WHERE agent = 'openai/a'", (0, 0, 1)),
        ("DELETE FROM ratings", (0, 0, 3)),
        ("DELETE FROM ballots WHERE seat = 's1'", (0, 0, 6)),
        ("INSERT INTO rating_history VALUES ('openai/a', 99, 1, 'then', 1, 1)", (0, 0, 1)),
        ("UPDATE memories SET tier = 'glacial', seen = 9 WHERE n = 2", (0, 1, 0)),
        ("DELETE FROM memory_observations WHERE debate = 2", (0, 3, 0)),
        ("UPDATE knowledge SET confidence = 1 WHERE debate = 1", (1, 0, 0)),
        ("UPDATE knowledge SET head = '00' WHERE debate = 1", (1, 0, 0)),
        ("UPDATE knowledge SET events = NULL WHERE debate = 1", (1, 0, 0)),
        ("UPDATE memory_observations SET head = '00' WHERE debate = 2", (0, 3, 0)),
        (
            "INSERT INTO knowledge (id, kind, title, text, debate, created_at) VALUES ('k-x', 'debate', '', '', 77, '')",
            (1, 0, 0),
        ),
    ] {
        home.change(damage);
        let rebuilt = rebuild(&store);
        assert_eq!((rebuilt.knowledge, rebuilt.memories, rebuilt.ratings), rows, "{damage}");
        assert_eq!(without_vectors(&home), before, "{damage}");
    }
}

#[test]
fn a_search_finds_a_restored_entry() {
    let home = TestHome::new();
    let store = home.open();
    close_debate(&store, "d1", "Which database?", lesson());
    home.change("DELETE FROM knowledge");
    assert_eq!(store.knowledge_search("database", None, 9).unwrap(), []);
    assert_eq!(rebuild(&store).knowledge, 1);
    assert_eq!(store.knowledge_search("database", None, 9).unwrap().len(), 1);
}

#[test]
fn a_rebuild_skips_a_log_that_cannot_be_read() {
    let home = TestHome::new();
    let store = home.open();
    close_debate(&store, "d1", "Question 1?", lesson());
    close_debate(&store, "d2", "Question 2?", lesson());
    home.change("UPDATE events SET body = '{\"lesson\"' WHERE debate = 1 AND seq = 4");
    assert_eq!(rebuild(&store).debates, 1);
    assert_eq!(count_rows(&home, "ballots"), 3);
}

fn any_lesson() -> impl Strategy<Value = DebateLesson> {
    let seat = (0_usize..4, 0.0..=1.0_f64, any::<bool>(), -20.0..20.0_f64, 0_usize..4, 0.0..=1.0_f64);
    (prop::collection::vec(seat, 3), any::<bool>()).prop_map(|(seats, decided)| {
        let mut lesson = lesson();
        for (part, (agent, confidence, won, change, position, sure)) in lesson.parts.iter_mut().zip(seats) {
            part.agent = (agent < 3).then(|| format!("agent-{agent}"));
            part.position = (position < 3).then(|| format!("Position {position} is the one to take."));
            (part.confidence, part.won) = (Some(confidence).filter(|_| agent != 1), won);
            part.rated = part.rated.take().map(|rated| RatingChange { change, ..rated }).filter(|_| decided);
            part.ballot = part
                .ballot
                .take()
                .map(|ballot| agon_core::lesson::LessonBallot { confidence: sure, ..ballot });
        }
        lesson.decision = lesson.decision.filter(|_| decided);
        lesson
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_rebuild_gives_the_same_rows_whatever_closed_and_was_resolved(
        steps in prop::collection::vec((any_lesson(), 0_u8..4, prop::option::of((0_usize..4, 0_usize..3))), 1..8),
    ) {
        let home = TestHome::new();
        let store = home.open();
        for (n, (lesson, question, resolved)) in steps.into_iter().enumerate() {
            close_debate_at(&store, &format!("d{n}"), &format!("Question {question}?"), &format!("2026-05-0{}T10:00:00Z", n + 1), lesson);
            if let Some((debate, label)) = resolved.filter(|(debate, _)| *debate <= n) {
                let resolution = DebateResolution::Winner(["A", "B", "C"][label].into());
                let at = format!("2026-05-0{}T15:00:00Z", n + 1);
                // Refused if that seat proposed nothing.
                drop(block_on(store.resolve_debate(&format!("d{debate}"), resolution, None, &at, None)));
            }
        }
        let before = table_rows(&home);
        let rebuilt = rebuild(&store);
        prop_assert_eq!((rebuilt.knowledge, rebuilt.memories, rebuilt.ratings), (0, 0, 0));
        prop_assert_eq!(table_rows(&home), before);
    }
}
