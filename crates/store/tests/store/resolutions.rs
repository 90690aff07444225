//! "`agon resolve ID`": what became known after a debate.

use agon_engine::StoreError;
use agon_store::{Resolution, Truth};

use crate::debates::{Home, append, one, wait};
use crate::lessons::{OPENED_AT, debate, ending, kept, lesson};

#[test]
fn the_last_resolution_counts_and_all_are_kept() {
    let home = Home::new();
    let store = home.open();
    debate(&store, "d1", "Which database?", lesson());
    assert_eq!(store.resolutions("d1").unwrap(), []);
    assert_eq!(store.knowledge_list(1).unwrap()[0].turned_out, None);
    let later = "2026-06-01T10:00:00Z";
    wait(store.resolve("d1", Resolution::Truth(Truth::Right), Some("it held".into()), OPENED_AT)).unwrap();
    assert_eq!(store.knowledge_list(1).unwrap()[0].turned_out, Some(Truth::Right));
    wait(store.resolve("d1", Resolution::Winner("C".into()), None, later)).unwrap();
    assert_eq!(store.knowledge_list(1).unwrap()[0].turned_out, Some(Truth::Wrong));
    let all = store.resolutions("d1").unwrap();
    assert_eq!(all[0].note.as_deref(), Some("it held"));
    assert_eq!((&all[0].resolution, all[0].at.as_str()), (&Resolution::Truth(Truth::Right), OPENED_AT));
    assert_eq!(
        (&all[1].resolution, all[1].turned_out),
        (&Resolution::Winner("C".into()), Some(Truth::Wrong))
    );
    assert_eq!(
        serde_json::to_value(&all[1]).unwrap(),
        serde_json::json!({"kind": "winner", "value": "C", "note": null, "at": later, "turned_out": "wrong"})
    );
}

/// "Refuses a debate that is not over or has no such label": and says what to do instead.
#[test]
fn what_cannot_be_resolved_is_refused_and_nothing_changes() {
    let home = Home::new();
    let (store, _) = one(&home, "open");
    append(&store, "plain", ending("plain", "Why?", None).0.records).unwrap();
    let mut undecided = lesson();
    undecided.decision = None;
    debate(&store, "undecided", "Why?", undecided);
    debate(&store, "decided", "Why?", lesson());
    let before = kept(&home);
    for (id, resolution, sentence) in [
        ("open", Resolution::Truth(Truth::Right), "is not over: resolve it when it is"),
        ("plain", Resolution::Truth(Truth::Right), "leaves nothing that could be resolved"),
        ("undecided", Resolution::Truth(Truth::Wrong), "decided nothing that could be right or wrong"),
        ("decided", Resolution::Winner("D".into()), "has no proposal \"D\": say which of A, B, C was right"),
    ] {
        let error = wait(store.resolve(id, resolution, None, OPENED_AT)).unwrap_err();
        assert!(error.to_string().contains(sentence), "{error}");
    }
    let unknown = wait(store.resolve("nobody", Resolution::Winner("A".into()), None, OPENED_AT)).unwrap_err();
    assert!(matches!(unknown, StoreError::Unknown(_)), "{unknown}");
    assert!(matches!(store.resolutions("nobody"), Err(StoreError::Unknown(_))));
    assert_eq!(kept(&home), before);
    wait(store.resolve("undecided", Resolution::Winner("B".into()), None, OPENED_AT)).unwrap();
}

/// "Resolving also observes the memories of that debate again, in the same transaction."
#[test]
fn a_resolution_that_cannot_be_observed_is_not_kept() {
    let home = Home::new();
    let store = home.open();
    debate(&store, "d1", "Why?", lesson());
    let before = kept(&home);
    let spoil = "CREATE TRIGGER spoil BEFORE UPDATE ON memory BEGIN SELECT RAISE(ABORT, 'spoiled'); END";
    home.plain().execute_batch(spoil).unwrap();
    wait(store.resolve("d1", Resolution::Winner("C".into()), None, OPENED_AT)).unwrap_err();
    assert_eq!(kept(&home), before);
}
