//! How long the knowledge store takes to answer: `cargo bench -p agon-store --bench knowledge`, and how much of what an
//! exact search would find the signatures find. Sizes can be given: `-- 1000 10000`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::time::Instant;

use agon_store::{Kind, NewKnowledge, Sqlite};

const MODEL: &str = "embeddings/bench";
const DIMENSIONS: usize = 384;
const QUESTIONS: usize = 100;
const LIMIT: usize = 10;
const BATCH: usize = 1_000;

/// Which words are searched for.
#[derive(Clone, Copy)]
enum Words {
    None,
    /// Twelve of the question: some that nearly every entry has, some that few have.
    Any,
    /// Those that most entries have, and no other: the worst case.
    Common,
}

const SEARCHES: [(&str, Words, bool); 4] = [
    ("words", Words::Any, false),
    ("common", Words::Common, false),
    ("meaning", Words::None, true),
    ("hybrid", Words::Any, true),
];

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|size| size.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![1_000, 10_000, 100_000] } else { sizes };
    println!(
        "{QUESTIONS} questions, {LIMIT} entries each; p50 / p95 in ms; a fresh store is opened for each question"
    );
    println!("entries   search    warm             fresh            recall@{LIMIT} of the vectors' signs");
    for size in sizes {
        measure(size);
    }
}

fn measure(size: usize) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agon.db");
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15 ^ size as u64);
    let clusters: Vec<Vec<f32>> = (0..(size / 50).max(10)).map(|_| chance.vector()).collect();
    let vectors: Vec<Vec<f32>> = (0..size).map(|n| chance.near(&clusters[n % clusters.len()], 0.8)).collect();
    let store = Sqlite::open(&file).unwrap();
    fill(&store, &vectors, &mut chance);
    let questions: Vec<(String, Vec<f32>)> = (0..QUESTIONS)
        .map(|_| {
            let near = chance.below(size);
            (chance.text(12), chance.near(&vectors[near], 0.5))
        })
        .collect();
    let recall = recall(&store, &vectors, &questions);
    for (name, words, meaning) in SEARCHES {
        let ask = |store: &Sqlite, (text, vector): &(String, Vec<f32>)| {
            let text = match words {
                Words::None => "",
                Words::Any => text,
                Words::Common => "w0 w1 w2 w3",
            };
            store.knowledge_search(text, meaning.then_some((MODEL, vector.as_slice())), LIMIT).unwrap();
        };
        ask(&store, &questions[0]);
        let warm = times(&questions, |question| ask(&store, question));
        let fresh = times(&questions, |question| ask(&Sqlite::open(&file).unwrap(), question));
        let recall = if name == "meaning" { format!("{recall:.3}") } else { String::new() };
        println!("{size:<9} {name:<9} {warm:<16} {fresh:<16} {recall}");
    }
    drop(store);
    println!("{size:<9} {} MB on the disk", std::fs::metadata(&file).unwrap().len() / 1_000_000);
}

/// Entries of 20 to 120 words, and their vectors.
fn fill(store: &Sqlite, vectors: &[Vec<f32>], chance: &mut Chance) {
    for batch in vectors.chunks(BATCH) {
        let entries: Vec<NewKnowledge> = batch
            .iter()
            .map(|_| {
                let (title, words) = (chance.text(8), 20 + chance.below(100));
                let (text, at) = (chance.text(words), "2026-11-15T10:00:00Z".to_owned());
                NewKnowledge { kind: Kind::Note, title, text, source: None, confidence: None, at }
            })
            .collect();
        let texts: Vec<String> =
            entries.iter().map(|entry| format!("{}\n{}", entry.title, entry.text)).collect();
        let ids = wait(store.knowledge_add(entries)).unwrap();
        let indexed =
            ids.into_iter().zip(texts).zip(batch).map(|((id, text), vector)| (id, text, vector.clone()));
        wait(store.index_vectors(MODEL, indexed.collect())).unwrap();
    }
}

/// The share of the truly nearest that is among those that are found.
fn recall(store: &Sqlite, vectors: &[Vec<f32>], questions: &[(String, Vec<f32>)]) -> f64 {
    let mut ids: Vec<String> =
        store.knowledge_list(vectors.len()).unwrap().into_iter().map(|entry| entry.id).collect();
    ids.reverse();
    let mut shared = 0;
    for (_, question) in questions {
        let mut all: Vec<(f32, usize)> = vectors
            .iter()
            .enumerate()
            .map(|(n, vector)| (vector.iter().zip(question).map(|(a, b)| a * b).sum(), n))
            .collect();
        all.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let exact: Vec<&String> = all.iter().take(LIMIT).map(|(_, n)| &ids[*n]).collect();
        let found = store.knowledge_search("", Some((MODEL, question)), LIMIT).unwrap();
        shared += found.iter().filter(|hit| exact.contains(&&hit.id)).count();
    }
    shared as f64 / (LIMIT * questions.len()) as f64
}

/// The median and the 95th percentile, in milliseconds.
fn times<Q>(questions: &[Q], ask: impl Fn(&Q)) -> String {
    let time = |question| {
        let start = Instant::now();
        ask(question);
        start.elapsed().as_secs_f64() * 1_000.0
    };
    let mut times: Vec<f64> = questions.iter().map(time).collect();
    times.sort_by(f64::total_cmp);
    format!("{:.1} / {:.1}", times[times.len() / 2], times[times.len() * 95 / 100])
}

/// Numbers that are the same in every run.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// About normal: the sum of twelve.
    fn normal(&mut self) -> f32 {
        ((0..12).map(|_| self.share()).sum::<f64>() - 6.0) as f32
    }

    fn vector(&mut self) -> Vec<f32> {
        unit((0..DIMENSIONS).map(|_| self.normal()).collect())
    }

    /// A direction so far from another: noise of that length is added.
    fn near(&mut self, vector: &[f32], far: f32) -> Vec<f32> {
        let noise = self.vector();
        unit(vector.iter().zip(noise).map(|(number, noise)| number + far * noise).collect())
    }

    /// Words as language has them: a few are in nearly every text, most are rare.
    fn text(&mut self, words: usize) -> String {
        let words = (0..words).map(|_| format!("w{}", (50_000_f64.powf(self.share()) - 1.0) as usize));
        words.collect::<Vec<_>>().join(" ")
    }
}

fn unit(vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.into_iter().map(|number| number / length).collect()
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}
