//! The knowledge store: adding, showing and forgetting entries, and search by words.

use agon_measure::calibration::{DebateResolution, OutcomeTruth};
use agon_store::{DebateStore, KnowledgeHit, KnowledgeKind, MatchedBy, NewKnowledge};
use proptest::prelude::*;

use crate::fixtures::{OPENED_AT, TestHome, block_on, close_debate, lesson};
use crate::vectors::index_all;

pub(crate) fn note(title: &str, text: &str) -> NewKnowledge {
    let (title, text, at) = (title.into(), text.into(), OPENED_AT.into());
    NewKnowledge { kind: KnowledgeKind::Note, title, text, source: None, confidence: None, at }
}

pub(crate) fn add(store: &DebateStore, entries: Vec<NewKnowledge>) -> Vec<String> {
    block_on(store.knowledge_add(entries)).unwrap()
}

fn search(store: &DebateStore, query: &str) -> Vec<KnowledgeHit> {
    store.knowledge_search(query, None, 10).unwrap()
}

fn titles(store: &DebateStore, query: &str) -> Vec<String> {
    search(store, query).into_iter().map(|hit| hit.title).collect()
}

#[test]
fn added_entries_are_listed_and_shown() {
    let home = TestHome::new();
    let store = home.open();
    let import = NewKnowledge {
        kind: KnowledgeKind::Import,
        source: Some("notes/tea.md".into()),
        confidence: Some(0.7),
        ..note("Tea", "It is best hot.")
    };
    let ids = add(&store, vec![note("Coffee", "It is best black."), import]);
    let listed = store.knowledge_list(10).unwrap();
    assert_eq!(
        listed.iter().map(|entry| entry.title.as_str()).collect::<Vec<_>>(),
        ["Tea", "Coffee"],
        "newest first"
    );
    assert_eq!(store.knowledge_list(1).unwrap().len(), 1);
    let tea = store.knowledge_show(&ids[1]).unwrap();
    assert_eq!(tea, listed[0]);
    assert_eq!(
        (tea.kind, tea.source.as_deref(), tea.confidence),
        (KnowledgeKind::Import, Some("notes/tea.md"), Some(0.7))
    );
    assert_eq!((tea.debate, tea.turned_out, tea.at.as_str()), (None, None, OPENED_AT));
    assert_eq!(
        store.knowledge_show(&ids[0][..7]).unwrap().title,
        "Coffee",
        "the beginning of an id is enough"
    );
    for unknown in ["k-", "k-zz", "", "d1", "k-ffffffffffff"] {
        let error = store.knowledge_show(unknown).unwrap_err().to_string();
        assert!(error.contains("there is no knowledge") && error.contains("agon knowledge list"), "{error}");
    }
}

#[test]
fn the_same_entry_is_not_added_twice() {
    let home = TestHome::new();
    let store = home.open();
    let twice = add(&store, vec![note("Tea", "Hot."), note("Tea", "Hot.")]);
    assert_eq!(twice[0], twice[1]);
    let others = vec![note("Tea", "Cold."), NewKnowledge { source: Some("x".into()), ..note("Tea", "Hot.") }];
    assert_eq!(add(&store, others).len(), 2);
    assert_eq!(store.knowledge_list(10).unwrap().len(), 3);
    let error =
        block_on(store.knowledge_add(vec![NewKnowledge { kind: KnowledgeKind::Debate, ..note("a", "b") }]))
            .unwrap_err();
    assert!(error.to_string().contains("made when it closes"), "{error}");
}

/// Entries whose hashes begin with the same digits get longer ids.
#[test]
fn an_id_that_is_taken_gets_another_digit() {
    let home = TestHome::new();
    let store = home.open();
    let id = add(&store, vec![note("Tea", "Hot.")]).remove(0);
    let other = home.change("UPDATE knowledge SET text = 'Another text with this id.'");
    assert_eq!(other, 1);
    let longer = add(&store, vec![note("Tea", "Hot.")]).remove(0);
    assert_eq!((longer.len(), longer.starts_with(&id)), (id.len() + 1, true));
    assert_eq!(
        store.knowledge_show(&id).unwrap().text,
        "Another text with this id.",
        "a whole id is not ambiguous"
    );
    let error = store.knowledge_show(&id[..6]).unwrap_err().to_string();
    assert!(error.contains("more than one"), "{error}");
}

#[test]
fn search_finds_entries_by_word_and_ranks_titles_first() {
    let home = TestHome::new();
    let store = home.open();
    let filler = "Something else is said here at some length, about many things. ".repeat(3);
    add(
        &store,
        vec![
            note("On storage", &format!("{filler} The database is named once. {filler}")),
            note("Which database?", &format!("{filler} Only the title says it. {filler}")),
            note("Gardening", "Roses need sun; the café is closed."),
        ],
    );
    assert_eq!(titles(&store, "What should our database be?"), ["Which database?", "On storage"]);
    assert_eq!(titles(&store, "DATABASE"), ["Which database?", "On storage"]);
    assert_eq!(titles(&store, "cafe"), ["Gardening"], "accents do not matter");
    assert_eq!(titles(&store, "roses database")[0], "Gardening", "the rarer word weighs more");
    assert_eq!(titles(&store, "telescope"), [""; 0]);
    assert_eq!(titles(&store, ""), [""; 0]);
    let hit = &search(&store, "roses")[0];
    assert_eq!(
        (hit.by, hit.kind, hit.text.as_str()),
        (MatchedBy::Words, KnowledgeKind::Note, "Roses need sun; the café is closed.")
    );
    assert_eq!(store.knowledge_search("database", None, 1).unwrap().len(), 1);
}

/// Words like "what" and "the" are searched for only if the query has no others.
#[test]
fn stop_words_are_ignored() {
    let home = TestHome::new();
    let store = home.open();
    add(&store, vec![note("One", "What is the matter with you?"), note("Two", "To be or not to be.")]);
    assert_eq!(titles(&store, "what is the telescope"), [""; 0]);
    assert_eq!(titles(&store, "to be or not to be"), ["Two"]);
}

#[test]
fn no_query_is_read_as_syntax() {
    let home = TestHome::new();
    let store = home.open();
    add(&store, vec![note("Title", "plain words")]);
    for query in [
        "\"",
        "plain\"",
        "plain*",
        "title:plain",
        "plain AND words",
        "NOT plain",
        "NEAR(plain words, 2)",
        "-plain",
        "^plain",
        "{title} : plain",
        "(plain",
        "pla\u{0}in plain",
        "plain'; DROP TABLE knowledge; --",
    ] {
        let hits = search(&store, query);
        assert!(hits.len() == usize::from(query.contains("plain")), "{query:?}: {hits:?}");
    }
}

/// More entries have the common word than can be scored.
#[test]
fn a_rare_word_is_found_among_thousands_of_entries_with_a_common_one() {
    let home = TestHome::new();
    let store = home.open();
    let mut entries = vec![note("Needle", "common zebra")];
    entries.extend((0..4_000).map(|n| note(&format!("Hay {n}"), "common straw")));
    add(&store, entries);
    assert_eq!(titles(&store, "common zebra straw")[0], "Needle");
    let common = search(&store, "common");
    assert_eq!(common.len(), 10);
}

#[test]
fn a_forgotten_entry_is_gone() {
    let home = TestHome::new();
    let store = home.open();
    let ids = add(&store, vec![note("Secret", "xylophone quagmire"), note("Kept", "zeppelin hangar")]);
    index_all(&store, "embeddings/x", &[1.0]);
    let forgotten = block_on(store.knowledge_forget(&ids[0])).unwrap();
    assert_eq!(forgotten.title, "Secret");
    assert_eq!(titles(&store, "xylophone"), [""; 0]);
    let meant = store.knowledge_search("", Some(("embeddings/x", &[1.0])), 10).unwrap();
    assert_eq!(meant.iter().map(|hit| hit.title.as_str()).collect::<Vec<_>>(), ["Kept"]);
    assert!(store.knowledge_show(&ids[0]).is_err() && block_on(store.knowledge_forget(&ids[0])).is_err());
    assert_eq!(store.texts_without_vectors("embeddings/x", 9).unwrap(), []);
    assert_eq!(store.health().unwrap().knowledge, 1);
}

#[test]
fn a_rebuild_does_not_restore_a_forgotten_entry() {
    let home = TestHome::new();
    let store = home.open();
    close_debate(&store, "d1", "Which database?", lesson());
    let id = store.knowledge_list(1).unwrap().remove(0).id;
    block_on(store.knowledge_forget(&id)).unwrap();
    let rebuilt = block_on(store.rebuild()).unwrap();
    assert_eq!((rebuilt.debates, rebuilt.knowledge), (1, 0));
    assert_eq!((store.knowledge_list(9).unwrap(), search(&store, "database")), (Vec::new(), Vec::new()));
    assert!(store.knowledge_show(&id).is_err());
    let left = home.text("SELECT title || text FROM knowledge");
    assert_eq!(left, "");
}

#[test]
fn a_search_finds_a_decision_with_its_evidence_and_how_it_turned_out() {
    let home = TestHome::new();
    let store = home.open();
    close_debate(&store, "d1", "Which database for the archive?", lesson());
    let hit = search(&store, "Is SQLite the right database?").remove(0);
    assert_eq!((hit.debate.as_deref(), hit.kind, hit.turned_out), (Some("d1"), KnowledgeKind::Debate, None));
    assert!(hit.text.contains("Evidence: measured: 3 a second") && hit.text.contains("Dissent: A server"));
    block_on(store.resolve_debate("d1", DebateResolution::Truth(OutcomeTruth::Wrong), None, OPENED_AT, None))
        .unwrap();
    assert_eq!(search(&store, "database")[0].turned_out, Some(OutcomeTruth::Wrong));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_entry_is_found_by_its_own_word_unless_it_was_forgotten(
        texts in prop::collection::vec(("[a-e]{1,3}( [a-e]{1,3}){0,12}", any::<bool>(), any::<bool>()), 1..40),
    ) {
        let home = TestHome::new();
        let store = home.open();
        let own = |n: usize| format!("own{n}word");
        let entries = texts.iter().enumerate().map(|(n, (text, in_title, _))| {
            let with = format!("{text} {}", own(n));
            if *in_title { note(&with, text) } else { note(text, &with) }
        });
        let ids = add(&store, entries.collect());
        for (id, (_, _, gone)) in ids.iter().zip(&texts) {
            if *gone {
                block_on(store.knowledge_forget(id)).unwrap();
            }
        }
        for (n, (id, (text, _, gone))) in ids.iter().zip(&texts).enumerate() {
            let alone = search(&store, &own(n));
            let found: Vec<&String> = alone.iter().map(|hit| &hit.id).collect();
            prop_assert_eq!(found, if *gone { Vec::new() } else { vec![id] });
            let among = store.knowledge_search(&format!("{text} {}", own(n)), None, 100).unwrap();
            prop_assert_eq!(among.iter().any(|hit| hit.id == *id), !*gone);
        }
    }
}
