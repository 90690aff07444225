//! "Search is hybrid: FTS5 and embeddings, merged."

use agon_store::{By, Sqlite};
use proptest::prelude::*;

use crate::debates::{Home, wait};
use crate::knowledge::{add, note};
use crate::lessons::{count, debate, lesson};

const MODEL: &str = "embeddings/x";

/// Vectors of entries, each with the text that it is of by now.
pub(crate) fn of_entries(
    store: &Sqlite,
    vectors: Vec<(String, Vec<f32>)>,
) -> Vec<(String, String, Vec<f32>)> {
    let text = |id: &str| {
        store.knowledge_show(id).map(|entry| format!("{}\n{}", entry.title, entry.text)).unwrap_or_default()
    };
    vectors.into_iter().map(|(id, vector)| (id.clone(), text(&id), vector)).collect()
}

/// Gives the same vector to all that has none.
pub(crate) fn index_all(store: &Sqlite, model: &str, vector: &[f32]) {
    let unindexed = store.unindexed(model, 99).unwrap();
    let vectors = unindexed.into_iter().map(|(id, text)| (id, text, vector.to_vec()));
    wait(store.index_vectors(model, vectors.collect())).unwrap();
}

fn index(store: &Sqlite, vectors: Vec<(String, Vec<f32>)>) {
    wait(store.index_vectors(MODEL, of_entries(store, vectors))).unwrap();
}

fn found(store: &Sqlite, query: &str, vector: &[f32]) -> Vec<(String, By)> {
    let hits = store.knowledge_search(query, Some((MODEL, vector)), 10).unwrap();
    hits.into_iter().map(|hit| (hit.title, hit.by)).collect()
}

fn is(title: &str, by: By) -> (String, By) {
    (title.to_owned(), by)
}

#[test]
fn words_and_meaning_are_merged_by_their_places() {
    let home = Home::new();
    let store = home.open();
    let ids = add(&store, vec![note("Cats", "purr"), note("Dogs", "bark"), note("Cars", "honk")]);
    let vectors = [vec![1.0, 0.1, 0.0], vec![0.9, 0.3, 0.0], vec![-1.0, 0.0, 0.2]];
    index(&store, ids.into_iter().zip(vectors).collect());
    assert_eq!(found(&store, "", &[1.0, 0.0, 0.0]), [is("Cats", By::Meaning), is("Dogs", By::Meaning)]);
    let merged = found(&store, "bark honk", &[1.0, 0.0, 0.0]);
    assert_eq!(merged[0], is("Dogs", By::Both), "found twice beats found once");
    assert!(
        merged.contains(&is("Cats", By::Meaning)) && merged.contains(&is("Cars", By::Words)),
        "{merged:?}"
    );
    // Reciprocal rank fusion with 60: the second by meaning and, of two with equal words, the second by words.
    let hits = store.knowledge_search("bark honk", Some((MODEL, &[1.0, 0.0, 0.0])), 10).unwrap();
    assert!((hits[0].score - (1.0 / 62.0 + 1.0 / 62.0)).abs() < 1e-12, "{}", hits[0].score);
    assert!((hits[1].score - 1.0 / 61.0).abs() < 1e-12);
}

#[test]
fn what_has_no_vector_yet_is_told_and_found_by_words_meanwhile() {
    let home = Home::new();
    let store = home.open();
    let ids = add(&store, vec![note("Cats", "purr"), note("Dogs", "bark")]);
    assert_eq!(
        store.unindexed(MODEL, 9).unwrap(),
        [(ids[0].clone(), "Cats\npurr".into()), (ids[1].clone(), "Dogs\nbark".into())]
    );
    assert_eq!(store.unindexed(MODEL, 1).unwrap().len(), 1);
    assert_eq!(found(&store, "bark", &[1.0]), [is("Dogs", By::Words)], "a model that nothing was indexed by");
    index(&store, vec![(ids[1].clone(), vec![1.0])]);
    assert_eq!(store.unindexed(MODEL, 9).unwrap(), [(ids[0].clone(), "Cats\npurr".into())]);
    index(&store, vec![(ids[0].clone(), vec![1.0])]);
    assert_eq!(store.unindexed(MODEL, 9).unwrap(), []);
    assert_eq!(store.unindexed("embeddings/y", 9).unwrap().len(), 2, "each model has its own");
    let more = add(&store, vec![note("Cows", "moo")]);
    assert_eq!(store.unindexed(MODEL, 9).unwrap(), [(more[0].clone(), "Cows\nmoo".into())]);
}

#[test]
fn a_vector_that_is_given_again_replaces_the_one_before() {
    let home = Home::new();
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
    assert_eq!(count(&home, "vectors"), 2);
    assert_eq!(found(&store, "", &[1.0, 0.0]), [is("Cats", By::Meaning)]);
}

#[test]
fn vectors_of_another_length_are_refused() {
    let home = Home::new();
    let store = home.open();
    let ids = add(&store, vec![note("Cats", "purr"), note("Dogs", "bark")]);
    let uneven = vec![(ids[0].clone(), vec![1.0, 0.0]), (ids[1].clone(), vec![1.0])];
    let error = wait(store.index_vectors(MODEL, of_entries(&store, uneven))).unwrap_err().to_string();
    assert!(error.contains("different lengths"), "{error}");
    index(&store, vec![(ids[0].clone(), vec![1.0, 0.0])]);
    let other = |vector| of_entries(&store, vec![(ids[1].clone(), vector)]);
    let error = wait(store.index_vectors(MODEL, other(vec![1.0]))).unwrap_err().to_string();
    assert!(error.contains("have 2 numbers here, but now 1"), "{error}");
    assert!(store.knowledge_search("", Some((MODEL, &[1.0])), 1).is_err());
    assert!(wait(store.index_vectors("embeddings/y", other(vec![]))).is_err());
    wait(store.index_vectors("embeddings/y", Vec::new())).unwrap();
}

/// A vector without a direction, or with what is no number, is near nothing and harms nothing.
#[test]
fn odd_vectors_are_near_nothing() {
    let home = Home::new();
    let store = home.open();
    let ids = add(&store, vec![note("Zero", "a"), note("Odd", "b"), note("Fine", "c")]);
    let vectors = [vec![0.0, 0.0], vec![f32::NAN, 1.0], vec![0.0, 3.0]];
    index(&store, ids.into_iter().zip(vectors).collect());
    assert_eq!(found(&store, "", &[0.1, 0.9]), [is("Fine", By::Meaning)]);
    assert_eq!(found(&store, "", &[f32::NAN, 1.0]), []);
}

/// A vector is of a text: what has other words by the time it comes waits for its own, whatever it consists of.
#[test]
fn a_vector_that_comes_too_late_is_dropped() {
    let home = Home::new();
    let store = home.open();
    debate(&store, "d1", "Which database?", lesson());
    let odd = add(&store, vec![note("Odd", "a\0b 'ä' \u{1F600}\r\n ")]).remove(0);
    let late = store.unindexed(MODEL, 9).unwrap();
    assert_eq!(late.len(), 5);
    let mut other = lesson();
    other.parts[0].position = Some("Something else entirely, this time.".into());
    debate(&store, "d2", "Which database?", other);
    home.plain().execute("UPDATE knowledge SET text = 'Otherwise.' WHERE debate = 1", []).unwrap();
    let changed: Vec<String> = store
        .unindexed(MODEL, 9)
        .unwrap()
        .into_iter()
        .filter(|now| !late.contains(now))
        .map(|(id, _)| id)
        .collect();
    assert_eq!(changed.len(), 3, "the first entry, the second, and a memory: {changed:?}");
    let vectors = late.into_iter().map(|(id, text)| (id, text, vec![1.0, 0.0]));
    wait(store.index_vectors(MODEL, vectors.collect())).unwrap();
    let waiting: Vec<String> = store.unindexed(MODEL, 9).unwrap().into_iter().map(|(id, _)| id).collect();
    assert_eq!(waiting, changed);
    assert_eq!(found(&store, "", &[1.0, 0.0]), [is("Odd", By::Meaning)]);
    assert_eq!(store.knowledge_show(&odd).unwrap().title, "Odd");
    index_all(&store, MODEL, &[0.0, 1.0]);
    assert_eq!(store.unindexed(MODEL, 9).unwrap(), []);
}

/// What a debate decided is indexed like any entry; new words of it need a new vector.
#[test]
fn an_entry_that_a_rebuild_mends_gets_a_new_vector() {
    let home = Home::new();
    let store = home.open();
    debate(&store, "d1", "Which database?", lesson());
    assert_eq!(store.unindexed(MODEL, 9).unwrap().len(), 4);
    index_all(&store, MODEL, &[1.0, 0.5]);
    wait(store.rebuild()).unwrap();
    assert_eq!(store.unindexed(MODEL, 9).unwrap(), [], "nothing changed, so every vector stays");
    home.plain().execute("UPDATE knowledge SET text = 'something else'", []).unwrap();
    assert_eq!(wait(store.rebuild()).unwrap().knowledge, 1);
    assert_eq!(store.unindexed(MODEL, 9).unwrap().len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// With fewer entries than are compared by their vectors, the nearest are found and in order, over several calls and
    /// with some forgotten in between. A byte a number is exact to about a hundredth.
    #[test]
    fn the_nearest_are_found(
        vectors in prop::collection::vec((prop::collection::vec(-1.0_f32..1.0, 70), any::<bool>()), 1..60),
        query in prop::collection::vec(-1.0_f32..1.0, 70),
    ) {
        let home = Home::new();
        let store = home.open();
        let ids = add(&store, (0..vectors.len()).map(|n| note(&format!("Entry {n}"), "text")).collect());
        let pairs: Vec<(String, Vec<f32>)> =
            ids.iter().cloned().zip(vectors.iter().map(|(vector, _)| vector.clone())).collect();
        for some in pairs.chunks(7) {
            index(&store, some.to_vec());
        }
        for (id, (_, gone)) in ids.iter().zip(&vectors) {
            if *gone {
                wait(store.knowledge_forget(id)).unwrap();
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
            prop_assert!(!there || !gone, "a forgotten one was found");
            prop_assert!(there || *gone || cosine(vector) < 0.02, "{} is missing", cosine(vector));
        }
    }
}
