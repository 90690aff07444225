//! What `agon list` and `agon doctor` read, and finding a debate by the beginning of its id.

use agon_core::{BranchParent, Status};
use agon_engine::StoreError;

use crate::fixtures::{TestHome, TestLog, append, brief, store_with_debate};

#[test]
fn debates_are_listed_newest_first() {
    let home = TestHome::new();
    let (store, mut log) = store_with_debate(&home, "d1");
    let closed = log.close(Status::Incomplete, "Tea.", "Coffee.");
    append(&store, "d1", vec![closed]).unwrap();
    let parent = Some(BranchParent { id: "d1".into(), at_round: 1, events: 3 });
    append(&store, "d2", TestLog::of(agon_core::Brief { parent, ..brief("d2", "Again?") }).records).unwrap();
    let listed = serde_json::to_value(store.list_debates(None).unwrap()).unwrap();
    let expected = serde_json::json!([
        {"id": "d2", "protocol": "deep", "question": "Again?", "status": "running",
         "created_at": "2026-05-01T10:00:00Z", "parent": "d1"},
        {"id": "d1", "protocol": "deep", "question": "Tea or coffee?", "status": "incomplete",
         "created_at": "2026-05-01T10:00:00Z", "parent": null},
    ]);
    assert_eq!(listed, expected);
    assert_eq!(store.list_debates(Some(1)).unwrap()[0].id, "d2");
    assert_eq!(store.list_debates(Some(0)).unwrap(), []);
}

#[test]
fn a_debate_is_found_by_the_beginning_of_its_id() {
    let home = TestHome::new();
    let store = home.open();
    assert!(matches!(store.find_debate("last"), Err(StoreError::Unknown(_))));
    for id in ["abc1", "abc2", "abd", "abd7", "x%_"] {
        append(&store, id, TestLog::new(id, "Why?").records).unwrap();
    }
    assert_eq!(store.find_debate("abc1").unwrap(), "abc1");
    assert_eq!(
        store.find_debate("abd").unwrap(),
        "abd",
        "a whole id is found even if other ids begin with it"
    );
    assert_eq!(store.find_debate("abd7").unwrap(), "abd7");
    assert_eq!(store.find_debate("x").unwrap(), "x%_");
    assert_eq!(store.find_debate("last").unwrap(), "x%_");
    assert!(matches!(store.find_debate("ab"), Err(StoreError::Ambiguous(prefix)) if prefix == "ab"));
    for unknown in ["", "abc3", "%", "a*", "_bd"] {
        assert!(
            matches!(store.find_debate(unknown), Err(StoreError::Unknown(id)) if id == unknown),
            "{unknown}"
        );
    }
}

#[test]
fn health_reports_the_state_of_the_store() {
    let home = TestHome::new();
    let (store, log) = store_with_debate(&home, "d1");
    let health = store.health().unwrap();
    assert_eq!(health.file, home.address());
    assert_eq!((health.debates, health.events), (1, i64::try_from(log.records.len()).unwrap()));
    assert_eq!(health.integrity, "ok");
    let (name, version) = health.database.split_once(' ').unwrap();
    assert!(["SQLite", "PostgreSQL"].contains(&name) && version.contains('.'), "{health:?}");
    let bodies: usize = log.records.iter().map(|record| record.body.len()).sum();
    assert!(health.size_bytes > bodies as u64);
}
