//! Removing old debates, and giving their space back.

use agon_core::{Brief, Status};
use agon_measure::calibration::{DebateResolution, OutcomeTruth};
use agon_store::{DebateStore, NewDelivery, PrunedDebates};

use crate::fixtures::{OPENED_AT, TestHome, TestLog, append, block_on, brief, close_debate, lesson, load};

const LATER: &str = "2026-06-01T00:00:00Z";

fn opened_at(id: &str, created_at: &str) -> TestLog {
    TestLog::of(Brief { created_at: created_at.into(), ..brief(id, "Tea or coffee?") })
}

fn closed_at(store: &DebateStore, id: &str, created_at: &str) {
    let mut log = opened_at(id, created_at);
    log.say("The unmistakable word samovar.");
    log.close(Status::Complete, "Tea.", "Coffee.");
    append(store, id, log.records).unwrap();
}

fn ids(store: &DebateStore) -> Vec<String> {
    store.list_debates(None).unwrap().into_iter().map(|debate| debate.id).collect()
}

#[test]
fn old_debates_that_nothing_relies_on_are_removed_with_their_words() {
    let home = TestHome::new();
    let store = home.open();
    closed_at(&store, "old1", OPENED_AT);
    closed_at(&store, "old2", OPENED_AT);
    closed_at(&store, "new", LATER);
    assert_eq!(store.search_debates("samovar", 10).unwrap().len(), 3);
    let would = store.prunable(LATER).unwrap();
    assert_eq!((would.removed, ids(&store).len()), (2, 3), "a dry run removes nothing");
    let bytes: usize = ["old1", "old2"]
        .iter()
        .flat_map(|id| load(&store, id).unwrap())
        .map(|record| record.body.len())
        .sum();
    assert_eq!(would.log_bytes, bytes as u64);
    assert_eq!(block_on(store.prune(LATER)).unwrap(), would);
    assert_eq!(ids(&store), ["new"]);
    let found = store.search_debates("samovar", 10).unwrap();
    assert_eq!(found.iter().map(|hit| hit.id.as_str()).collect::<Vec<_>>(), ["new"]);
    assert!(load(&store, "old1").is_err());
    // The index still finds what comes later.
    closed_at(&store, "newer", LATER);
    assert_eq!(store.search_debates("samovar", 10).unwrap().len(), 2);
}

#[test]
fn a_debate_that_something_relies_on_stays() {
    let home = TestHome::new();
    let store = home.open();
    append(&store, "open", opened_at("open", OPENED_AT).records).unwrap();
    closed_at(&store, "resolved", OPENED_AT);
    let right = DebateResolution::Truth(OutcomeTruth::Right);
    block_on(store.resolve_debate("resolved", right, None, OPENED_AT, None)).unwrap();
    let due = NewDelivery { destination: "file:/tmp/x".into(), created_s: 5 };
    block_on(store.deliveries_bind("delivering", vec![due])).unwrap();
    closed_at(&store, "delivering", OPENED_AT);
    close_debate(&store, "lesson", "Which index?", lesson());
    closed_at(&store, "newest", OPENED_AT);
    let pruned = block_on(store.prune(LATER)).unwrap();
    let expected = PrunedDebates {
        removed: 0,
        log_bytes: 0,
        kept_for_lessons: 1,
        kept_for_resolutions: 1,
        kept_for_deliveries: 1,
        kept_open: 1,
    };
    assert_eq!(pruned, expected);
    assert_eq!(ids(&store), ["newest", "lesson", "delivering", "resolved", "open"]);
    assert_eq!(block_on(store.rebuild()).unwrap().debates, 1, "ratings can still be rebuilt");
}

#[test]
fn vacuum_gives_the_space_back_unless_a_debate_runs() {
    let home = TestHome::new();
    let store = home.open();
    for n in 0..200 {
        closed_at(&store, &format!("d{n}"), OPENED_AT);
    }
    append(&store, "running", opened_at("running", LATER).records).unwrap();
    block_on(store.prune(LATER)).unwrap();
    let refused = store.vacuum().unwrap_err().to_string();
    assert!(refused.contains("a debate is running"), "{refused}");
    drop(store);
    let store = home.open();
    let file = store.vacuum().unwrap();
    assert!(file.bytes_after < file.bytes_before / 2, "{file:?}");
    assert_eq!(ids(&store), ["running"]);
    closed_at(&store, "later", LATER);
    assert_eq!(store.search_debates("samovar", 10).unwrap().len(), 1);
}
