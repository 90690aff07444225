//! Vectors, and search by meaning merged with search by words.

use agon_store::{DebateStore, MatchedBy};
use proptest::prelude::*;

use crate::fixtures::{TestHome, block_on, close_debate, count_rows, lesson};
use crate::knowledge::{add, note};

const MODEL: &str = "embeddings/x";

/// Adds the current text of each entry to its vector.
pub(crate) fn with_texts(
    store: &DebateStore,
    vectors: Vec<(String, Vec<f32>)>,
) -> Vec<(String, String, Vec<f32>)> {
    let text = |id: &str| {
        store.knowledge_show(id).map(|entry| format!("{}\n{}", entry.title, entry.text)).unwrap_or_default()
    };
    vectors.into_iter().map(|(id, vector)| (id.clone(), text(&id), vector)).collect()
}

/// Gives this vector to everything that has none.
pub(crate) fn index_all(store: &DebateStore, model: &str, vector: &[f32]) {
    let unindexed = store.texts_without_vectors(model, 99).unwrap();
    let vectors = unindexed.into_iter().map(|(id, text)| (id, text, vector.to_vec()));
    block_on(store.add_vectors(model, vectors.collect())).unwrap();
}

fn index(store: &DebateStore, vectors: Vec<(String, Vec<f32>)>) {
    block_on(store.add_vectors(MODEL, with_texts(store, vectors))).unwrap();
}

fn found(store: &DebateStore, query: &str, vector: &[f32]) -> Vec<(String, MatchedBy)> {
    let hits = store.knowledge_search(query, Some((MODEL, vector)), 10).unwrap();
    hits.into_iter().map(|hit| (hit.title, hit.by)).collect()
}

fn is(title: &str, by: MatchedBy) -> (String, MatchedBy) {
    (title.to_owned(), by)
}

#[test]
fn words_and_meaning_are_merged_by_rank() {
    let home = TestHome::new();
    let store = home.open();
    let ids = add(&store, vec![note("Cats", "purr"), note("Dogs", "bark"), note("Cars", "honk")]);
    let vectors = [vec![1.0, 0.1, 0.0], vec![0.9, 0.3, 0.0], vec![-1.0, 0.0, 0.2]];
    index(&store, ids.into_iter().zip(vectors).collect());
    assert_eq!(
        found(&store, "", &[1.0, 0.0, 0.0]),
        [is("Cats", MatchedBy::Meaning), is("Dogs", MatchedBy::Meaning)]
    );
    let merged = found(&store, "bark honk", &[1.0, 0.0, 0.0]);
    assert_eq!(merged[0], is("Dogs", MatchedBy::Both), "found twice beats found once");
    assert!(
        merged.contains(&is("Cats", MatchedBy::Meaning)) && merged.contains(&is("Cars", MatchedBy::Words)),
        "{merged:?}"
    );
    // Reciprocal rank fusion with 60. The first hit is second by meaning and second by words.
    let hits = store.knowledge_search("bark honk", Some((MODEL, &[1.0, 0.0, 0.0])), 10).unwrap();
    assert!((hits[0].score - (1.0 / 62.0 + 1.0 / 62.0)).abs() < 1e-12, "{}", hits[0].score);
    assert!((hits[1].score - 1.0 / 61.0).abs() < 1e-12);
}

#[test]
fn texts_without_vectors_are_reported_and_found_by_words() {
    let home = TestHome::new();
    let store = home.open();
    let ids = add(&store, vec![note("Cats", "purr"), note("Dogs", "bark")]);
    assert_eq!(
        store.texts_without_vectors(MODEL, 9).unwrap(),
        [(ids[0].clone(), "Cats\npurr".into()), (ids[1].clone(), "Dogs\nbark".into())]
    );
    assert_eq!(store.texts_without_vectors(MODEL, 1).unwrap().len(), 1);
    assert_eq!(found(&store, "bark", &[1.0]), [is("Dogs", MatchedBy::Words)], "the model has no vectors yet");
    index(&store, vec![(ids[1].clone(), vec![1.0])]);
    assert_eq!(store.texts_without_vectors(MODEL, 9).unwrap(), [(ids[0].clone(), "Cats\npurr".into())]);
    index(&store, vec![(ids[0].clone(), vec![1.0])]);
    assert_eq!(store.texts_without_vectors(MODEL, 9).unwrap(), []);
    assert_eq!(
        store.texts_without_vectors("embeddings/y", 9).unwrap().len(),
        2,
        "each model has its own vectors"
    );
    let more = add(&store, vec![note("Cows", "moo")]);
    assert_eq!(store.texts_without_vectors(MODEL, 9).unwrap(), [(more[0].clone(), "Cows\nmoo".into())]);
}

#[test]
fn a_new_vector_replaces_the_old_one() {
    let home = TestHome::new();
    let store = home.open();
    let ids = add(&store, vec![note("Cats", "purr"), note("Dogs", "bark")]);
    let vectors = |first: f32| vec![(ids[0].clone(), vec![first, 1.0]), (ids[1].clone(), vec![-1.0, 0.0])];
    index(&store, vectors(1.0));
    index(&store, vectors(-1.0));
    index(
        &store,
        vec![
            (ids[0].clone(), vec![1.0, 0.0]),
            (ids[0].clone(), vec![0.0, 1.0]),
            ("k-gone".into(), vec![1.0, 0.0]),
        ],
    );
    assert_eq!(count_rows(&home, "vectors"), 2);
    assert_eq!(found(&store, "", &[1.0, 0.0]), [is("Cats", MatchedBy::Meaning)]);
}

#[test]
fn vectors_of_another_length_are_refused() {
    let home = TestHome::new();
    let store = home.open();
    let ids = add(&store, vec![note("Cats", "purr"), note("Dogs", "bark")]);
    let uneven = vec![(ids[0].clone(), vec![1.0, 0.0]), (ids[1].clone(), vec![1.0])];
    let error = block_on(store.add_vectors(MODEL, with_texts(&store, uneven))).unwrap_err().to_string();
    assert!(error.contains("different lengths"), "{error}");
    index(&store, vec![(ids[0].clone(), vec![1.0, 0.0])]);
    let other = |vector| with_texts(&store, vec![(ids[1].clone(), vector)]);
    let error = block_on(store.add_vectors(MODEL, other(vec![1.0]))).unwrap_err().to_string();
    assert!(error.contains("have 2 numbers here, but now 1"), "{error}");
    assert!(store.knowledge_search("", Some((MODEL, &[1.0])), 1).is_err());
    assert!(block_on(store.add_vectors("embeddings/y", other(vec![]))).is_err());
    block_on(store.add_vectors("embeddings/y", Vec::new())).unwrap();
}

/// A vector of zeros or with a NaN is not similar to anything.
#[test]
fn invalid_vectors_are_never_found() {
    let home = TestHome::new();
    let store = home.open();
    let ids = add(&store, vec![note("Zero", "a"), note("Odd", "b"), note("Fine", "c")]);
    let vectors = [vec![0.0, 0.0], vec![f32::NAN, 1.0], vec![0.0, 3.0]];
    index(&store, ids.into_iter().zip(vectors).collect());
    assert_eq!(found(&store, "", &[0.1, 0.9]), [is("Fine", MatchedBy::Meaning)]);
    assert_eq!(found(&store, "", &[f32::NAN, 1.0]), []);
}

/// An entry or memory whose text has changed meanwhile waits for a new vector.
#[test]
fn a_vector_of_an_old_text_is_dropped() {
    let home = TestHome::new();
    let store = home.open();
    close_debate(&store, "d1", "Which database?", lesson());
    let odd = add(&store, vec![note("Odd", "a\0b 'ä' \u{1F600}\r\n ")]).remove(0);
    let late = store.texts_without_vectors(MODEL, 9).unwrap();
    assert_eq!(late.len(), 5);
    let mut other = lesson();
    other.parts[0].position = Some("Something else entirely, this time.".into());
    close_debate(&store, "d2", "Which database?", other);
    home.change("UPDATE knowledge SET text = 'Otherwise.' WHERE debate = 1");
    let changed: Vec<String> = store
        .texts_without_vectors(MODEL, 9)
        .unwrap()
        .into_iter()
        .filter(|now| !late.contains(now))
        .map(|(id, _)| id)
        .collect();
    assert_eq!(changed.len(), 3, "the first entry, the second, and a memory: {changed:?}");
    let vectors = late.into_iter().map(|(id, text)| (id, text, vec![1.0, 0.0]));
    block_on(store.add_vectors(MODEL, vectors.collect())).unwrap();
    let waiting: Vec<String> =
        store.texts_without_vectors(MODEL, 9).unwrap().into_iter().map(|(id, _)| id).collect();
    assert_eq!(waiting, changed);
    assert_eq!(found(&store, "", &[1.0, 0.0]), [is("Odd", MatchedBy::Meaning)]);
    assert_eq!(store.knowledge_show(&odd).unwrap().title, "Odd");
    index_all(&store, MODEL, &[0.0, 1.0]);
    assert_eq!(store.texts_without_vectors(MODEL, 9).unwrap(), []);
}

#[test]
fn an_entry_that_a_rebuild_changes_needs_a_new_vector() {
    let home = TestHome::new();
    let store = home.open();
    close_debate(&store, "d1", "Which database?", lesson());
    assert_eq!(store.texts_without_vectors(MODEL, 9).unwrap().len(), 4);
    index_all(&store, MODEL, &[1.0, 0.5]);
    block_on(store.rebuild()).unwrap();
    assert_eq!(store.texts_without_vectors(MODEL, 9).unwrap(), [], "nothing changed, so every vector stays");
    home.change("UPDATE knowledge SET text = 'something else'");
    assert_eq!(block_on(store.rebuild()).unwrap().knowledge, 1);
    assert_eq!(store.texts_without_vectors(MODEL, 9).unwrap().len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// There are fewer entries than the number that is compared exactly. One byte per number is exact to about 0.01.
    #[test]
    fn the_nearest_entries_are_found_in_order(
        vectors in prop::collection::vec((prop::collection::vec(-1.0_f32..1.0, 70), any::<bool>()), 1..60),
        query in prop::collection::vec(-1.0_f32..1.0, 70),
    ) {
        let home = TestHome::new();
        let store = home.open();
        let ids = add(&store, (0..vectors.len()).map(|n| note(&format!("Entry {n}"), "text")).collect());
        let pairs: Vec<(String, Vec<f32>)> =
            ids.iter().cloned().zip(vectors.iter().map(|(vector, _)| vector.clone())).collect();
        for some in pairs.chunks(7) {
            index(&store, some.to_vec());
        }
        for (id, (_, gone)) in ids.iter().zip(&vectors) {
            if *gone {
                block_on(store.knowledge_forget(id)).unwrap();
            }
        }
        let cosine = |vector: &[f32]| {
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
            dot(vector, &query) / (dot(vector, vector) * dot(&query, &query)).sqrt()
        };
        let hits = store.knowledge_search("", Some((MODEL, &query)), 100).unwrap();
        let likeness = |id: &String| cosine(&vectors[ids.iter().position(|other| other == id).unwrap()].0);
        let found: Vec<f32> = hits.iter().map(|hit| likeness(&hit.id)).collect();
        prop_assert!(found.is_sorted_by(|a, b| *a > b - 0.02), "{:?}", found);
        for (id, (vector, gone)) in ids.iter().zip(&vectors) {
            let there = hits.iter().any(|hit| hit.id == *id);
            prop_assert!(!there || !gone, "a forgotten entry was found");
            prop_assert!(there || *gone || cosine(vector) < 0.02, "{} is missing", cosine(vector));
        }
    }
}
