//! "`agon resolve ID`": what became known after a debate.

use agon_engine::StoreError;
use agon_store::{Resolution, Truth};

use crate::debates::{Home, append, one, wait};
use crate::lessons::{OPENED_AT, count, debate, debate_at, ending, kept, lesson};
use crate::meaning::index_all;

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
    let (mut silent, mut nothing) = (lesson(), lesson());
    silent.parts[1].position = None;
    debate(&store, "silent", "Why?", silent);
    nothing.parts.iter_mut().for_each(|part| part.position = None);
    debate(&store, "nothing", "Why?", nothing);
    let before = kept(&home);
    for (id, resolution, sentence) in [
        ("open", Resolution::Truth(Truth::Right), "is not over: resolve it when it is"),
        ("plain", Resolution::Truth(Truth::Right), "leaves nothing that could be resolved"),
        ("undecided", Resolution::Truth(Truth::Wrong), "decided nothing that could be right or wrong"),
        ("decided", Resolution::Winner("D".into()), "has no proposal \"D\": say which of A, B, C was right"),
        ("silent", Resolution::Winner("B".into()), "has no proposal \"B\": say which of A, C was right"),
        ("nothing", Resolution::Winner("A".into()), "has no proposal that could have been right"),
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

/// "Repeating a resolution that says the same as the last one changes nothing."
#[test]
fn what_was_said_already_is_not_kept_twice() {
    let home = Home::new();
    let store = home.open();
    debate(&store, "d1", "Which database?", lesson());
    let resolve = |resolution: &Resolution, note: Option<&str>, at: &str| {
        wait(store.resolve("d1", resolution.clone(), note.map(str::to_owned), at)).unwrap()
    };
    let (b, noon) = (Resolution::Winner("B".into()), "2026-05-01T12:00:00Z");
    let first = resolve(&b, Some("the offers were taken"), noon);
    let before = kept(&home);
    assert_eq!(resolve(&b, Some("the offers were taken"), "2026-05-02T12:00:00Z"), first);
    assert_eq!(resolve(&b, None, "2026-05-02T12:00:00Z"), first);
    assert_eq!(kept(&home), before);
    // Another reason is news, but not another outcome.
    resolve(&b, Some("and paid for"), "2026-05-03T12:00:00Z");
    let others = |rows: Vec<String>| -> Vec<String> {
        rows.into_iter().filter(|row| !row.starts_with("resolutions")).collect()
    };
    assert_eq!(others(kept(&home)), others(before));
    assert_eq!(store.resolutions("d1").unwrap().len(), 2);
    let before = kept(&home);
    wait(store.rebuild()).unwrap();
    assert_eq!(kept(&home), before);
}

/// "A correction undoes the earlier observation": what is remembered is as if the last word had been the first.
#[test]
fn a_correction_undoes_what_it_corrects() {
    let memories = |resolved: &[(&str, &str)]| {
        let home = Home::new();
        let store = home.open();
        debate(&store, "d1", "Which database?", lesson());
        let of_memory = |home: &Home| -> Vec<String> {
            kept(home).into_iter().filter(|row| !row.starts_with("resolutions")).collect()
        };
        for (label, at) in resolved {
            // The same agents, on the same question, between one word and the next.
            let id = format!("before-{at}");
            debate_at(&store, &id, "Which database?", &format!("2026-05-0{at}T08:00:00Z"), lesson());
            let (winner, at) = (Resolution::Winner((*label).into()), format!("2026-05-0{at}T12:00:00Z"));
            if !label.is_empty() {
                wait(store.resolve("d1", winner, None, &at)).unwrap();
            }
        }
        let remembered = of_memory(&home);
        wait(store.rebuild()).unwrap();
        assert_eq!(of_memory(&home), remembered, "from the logs comes the same again");
        remembered
    };
    let right = memories(&[("", "2"), ("", "3"), ("B", "4")]);
    assert_eq!(memories(&[("A", "2"), ("C", "3"), ("B", "4")]), right);
    assert_eq!(memories(&[("B", "2"), ("C", "3"), ("B", "4")]), right, "also where it was said before");
    assert_ne!(
        memories(&[("B", "2"), ("B", "3"), ("", "4")]),
        right,
        "what stood all along counts from then"
    );
    assert_eq!(memories(&[("B", "2"), ("B", "3"), ("", "4")]), memories(&[("B", "2"), ("", "3"), ("", "4")]));
}

/// A memory that means the same after a correction keeps its vector.
#[test]
fn a_correction_leaves_the_vectors() {
    let home = Home::new();
    let store = home.open();
    debate(&store, "d1", "Which database?", lesson());
    index_all(&store, "embeddings/x", &[0.3, 0.7]);
    for label in ["A", "B"] {
        wait(store.resolve("d1", Resolution::Winner(label.into()), None, OPENED_AT)).unwrap();
    }
    assert_eq!(store.unindexed("embeddings/x", 9).unwrap(), []);
    assert_eq!(count(&home, "vectors"), 4);
}
