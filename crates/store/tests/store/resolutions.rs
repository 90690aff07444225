//! Resolutions: what became known after a debate.

use agon_engine::StoreError;
use agon_measure::calibration::{DebateResolution, OutcomeTruth};

use crate::fixtures::{
    OPENED_AT, TestHome, append, block_on, close_debate, close_debate_at, closed_log, count_rows, lesson,
    store_with_debate, table_rows,
};
use crate::vectors::index_all;

#[test]
fn the_last_resolution_counts_and_all_are_stored() {
    let home = TestHome::new();
    let store = home.open();
    close_debate(&store, "d1", "Which database?", lesson());
    assert_eq!(store.resolutions("d1").unwrap(), []);
    assert_eq!(store.knowledge_list(1).unwrap()[0].turned_out, None);
    let later = "2026-06-01T10:00:00Z";
    block_on(store.resolve_debate(
        "d1",
        DebateResolution::Truth(OutcomeTruth::Right),
        Some("it held".into()),
        OPENED_AT,
        None,
    ))
    .unwrap();
    assert_eq!(store.knowledge_list(1).unwrap()[0].turned_out, Some(OutcomeTruth::Right));
    block_on(store.resolve_debate("d1", DebateResolution::Winner("C".into()), None, later, None)).unwrap();
    assert_eq!(store.knowledge_list(1).unwrap()[0].turned_out, Some(OutcomeTruth::Wrong));
    let all = store.resolutions("d1").unwrap();
    assert_eq!(all[0].note.as_deref(), Some("it held"));
    assert_eq!(
        (&all[0].resolution, all[0].at.as_str()),
        (&DebateResolution::Truth(OutcomeTruth::Right), OPENED_AT)
    );
    assert_eq!(
        (&all[1].resolution, all[1].turned_out),
        (&DebateResolution::Winner("C".into()), Some(OutcomeTruth::Wrong))
    );
    assert_eq!(
        serde_json::to_value(&all[1]).unwrap(),
        serde_json::json!({"kind": "winner", "value": "C", "note": null, "at": later, "turned_out": "wrong"})
    );
}

#[test]
fn an_impossible_resolution_is_refused_and_nothing_changes() {
    let home = TestHome::new();
    let (store, _) = store_with_debate(&home, "open");
    let mut undecided = lesson();
    undecided.decision = None;
    close_debate(&store, "undecided", "Why?", undecided);
    close_debate(&store, "decided", "Why?", lesson());
    let (mut silent, mut nothing) = (lesson(), lesson());
    silent.parts[1].position = None;
    close_debate(&store, "silent", "Why?", silent);
    nothing.parts.iter_mut().for_each(|part| part.position = None);
    close_debate(&store, "nothing", "Why?", nothing);
    let before = table_rows(&home);
    for (id, resolution, sentence) in [
        ("open", DebateResolution::Truth(OutcomeTruth::Right), "is not over: resolve it when it is"),
        (
            "undecided",
            DebateResolution::Truth(OutcomeTruth::Wrong),
            "decided nothing that could be right or wrong",
        ),
        (
            "decided",
            DebateResolution::Winner("D".into()),
            "has no proposal \"D\": say which of A, B, C was right",
        ),
        (
            "silent",
            DebateResolution::Winner("B".into()),
            "has no proposal \"B\": say which of A, C was right",
        ),
        ("nothing", DebateResolution::Winner("A".into()), "has no proposal that could have been right"),
    ] {
        let error = block_on(store.resolve_debate(id, resolution, None, OPENED_AT, None)).unwrap_err();
        assert!(error.to_string().contains(sentence), "{error}");
    }
    let unknown =
        block_on(store.resolve_debate("nobody", DebateResolution::Winner("A".into()), None, OPENED_AT, None))
            .unwrap_err();
    assert!(matches!(unknown, StoreError::Unknown(_)), "{unknown}");
    assert!(matches!(store.resolutions("nobody"), Err(StoreError::Unknown(_))));
    assert_eq!(table_rows(&home), before);
    block_on(store.resolve_debate("undecided", DebateResolution::Winner("B".into()), None, OPENED_AT, None))
        .unwrap();
}

/// The caller has read from the log whether the decision was right.
#[test]
fn a_debate_without_a_lesson_is_resolved_by_what_the_caller_says() {
    let home = TestHome::new();
    let store = home.open();
    append(&store, "d1", closed_log("d1", "Why?", None).0.records).unwrap();
    let winner = DebateResolution::Winner("debater-1".into());
    block_on(store.resolve_debate("d1", winner, None, OPENED_AT, Some(OutcomeTruth::Wrong))).unwrap();
    let [(id, resolution)] = &store.latest_resolutions(9).unwrap()[..] else { panic!("one debate") };
    assert_eq!((id.as_str(), resolution.turned_out), ("d1", Some(OutcomeTruth::Wrong)));
}

#[test]
fn a_resolution_is_not_stored_if_the_memories_cannot_be_updated() {
    let home = TestHome::new();
    let store = home.open();
    close_debate(&store, "d1", "Why?", lesson());
    let before = table_rows(&home);
    home.spoil("UPDATE ON memories");
    block_on(store.resolve_debate("d1", DebateResolution::Winner("C".into()), None, OPENED_AT, None))
        .unwrap_err();
    assert_eq!(table_rows(&home), before);
}

#[test]
fn a_repeated_resolution_changes_nothing() {
    let home = TestHome::new();
    let store = home.open();
    close_debate(&store, "d1", "Which database?", lesson());
    let resolve = |resolution: &DebateResolution, note: Option<&str>, at: &str| {
        block_on(store.resolve_debate("d1", resolution.clone(), note.map(str::to_owned), at, None)).unwrap()
    };
    let (b, noon) = (DebateResolution::Winner("B".into()), "2026-05-01T12:00:00Z");
    let first = resolve(&b, Some("the offers were taken"), noon);
    let before = table_rows(&home);
    assert_eq!(resolve(&b, Some("the offers were taken"), "2026-05-02T12:00:00Z"), first);
    assert_eq!(resolve(&b, None, "2026-05-02T12:00:00Z"), first);
    assert_eq!(table_rows(&home), before);
    // A new note is stored, but the outcome is the same.
    resolve(&b, Some("and paid for"), "2026-05-03T12:00:00Z");
    let others = |rows: Vec<String>| -> Vec<String> {
        rows.into_iter().filter(|row| !row.starts_with("resolutions")).collect()
    };
    assert_eq!(others(table_rows(&home)), others(before));
    assert_eq!(store.resolutions("d1").unwrap().len(), 2);
    let before = table_rows(&home);
    block_on(store.rebuild()).unwrap();
    assert_eq!(table_rows(&home), before);
}

/// After a correction, the memories are as if the last resolution had been the only one.
#[test]
fn a_corrected_resolution_undoes_the_earlier_one() {
    let memories = |resolved: &[(&str, &str)]| {
        let home = TestHome::new();
        let store = home.open();
        close_debate(&store, "d1", "Which database?", lesson());
        let of_memory = |home: &TestHome| -> Vec<String> {
            table_rows(home).into_iter().filter(|row| !row.starts_with("resolutions")).collect()
        };
        for (label, at) in resolved {
            // The same agents debate the same question between two resolutions.
            let id = format!("before-{at}");
            close_debate_at(&store, &id, "Which database?", &format!("2026-05-0{at}T08:00:00Z"), lesson());
            let (winner, at) =
                (DebateResolution::Winner((*label).into()), format!("2026-05-0{at}T12:00:00Z"));
            if !label.is_empty() {
                block_on(store.resolve_debate("d1", winner, None, &at, None)).unwrap();
            }
        }
        let remembered = of_memory(&home);
        block_on(store.rebuild()).unwrap();
        assert_eq!(of_memory(&home), remembered, "a rebuild gives the same rows");
        remembered
    };
    let right = memories(&[("", "2"), ("", "3"), ("B", "4")]);
    assert_eq!(memories(&[("A", "2"), ("C", "3"), ("B", "4")]), right);
    assert_eq!(memories(&[("B", "2"), ("C", "3"), ("B", "4")]), right, "even if the same was said before");
    assert_ne!(
        memories(&[("B", "2"), ("B", "3"), ("", "4")]),
        right,
        "a resolution that was never corrected counts from its first time"
    );
    assert_eq!(memories(&[("B", "2"), ("B", "3"), ("", "4")]), memories(&[("B", "2"), ("", "3"), ("", "4")]));
}

#[test]
fn a_correction_keeps_the_vectors_of_unchanged_memories() {
    let home = TestHome::new();
    let store = home.open();
    close_debate(&store, "d1", "Which database?", lesson());
    index_all(&store, "embeddings/x", &[0.3, 0.7]);
    for label in ["A", "B"] {
        block_on(store.resolve_debate("d1", DebateResolution::Winner(label.into()), None, OPENED_AT, None))
            .unwrap();
    }
    assert_eq!(store.texts_without_vectors("embeddings/x", 9).unwrap(), []);
    assert_eq!(count_rows(&home, "vectors"), 4);
}
