//! How long a search of the knowledge store takes, and how many of the truly nearest entries the vectors' signs find:
//! `cargo bench -p agon-store --bench knowledge`. You can give sizes: `-- 1000 10000`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::time::Instant;

use agon_store::{DebateStore, KnowledgeKind, NewKnowledge};

const MODEL: &str = "embeddings/bench";
const DIMENSIONS: usize = 384;
const QUESTIONS: usize = 100;
const LIMIT: usize = 10;
const BATCH: usize = 1_000;

/// Which words a search uses.
#[derive(Clone, Copy)]
enum QueryWords {
    None,
    /// Twelve words of the question, common and rare.
    Any,
    /// Only words that most entries have: the worst case.
    Common,
}

const SEARCHES: [(&str, QueryWords, bool); 4] = [
    ("words", QueryWords::Any, false),
    ("common", QueryWords::Common, false),
    ("meaning", QueryWords::None, true),
    ("hybrid", QueryWords::Any, true),
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
    let mut random = SeededRandom(0x9e37_79b9_7f4a_7c15 ^ size as u64);
    let clusters: Vec<Vec<f32>> = (0..(size / 50).max(10)).map(|_| random.vector()).collect();
    let vectors: Vec<Vec<f32>> = (0..size).map(|n| random.near(&clusters[n % clusters.len()], 0.8)).collect();
    let store = DebateStore::open(&file).unwrap();
    fill(&store, &vectors, &mut random);
    let questions: Vec<(String, Vec<f32>)> = (0..QUESTIONS)
        .map(|_| {
            let near = random.below(size);
            (random.text(12), random.near(&vectors[near], 0.5))
        })
        .collect();
    let recall = recall(&store, &vectors, &questions);
    for (name, words, meaning) in SEARCHES {
        let ask = |store: &DebateStore, (text, vector): &(String, Vec<f32>)| {
            let text = match words {
                QueryWords::None => "",
                QueryWords::Any => text,
                QueryWords::Common => "w0 w1 w2 w3",
            };
            store.knowledge_search(text, meaning.then_some((MODEL, vector.as_slice())), LIMIT).unwrap();
        };
        ask(&store, &questions[0]);
        let warm = times(&questions, |question| ask(&store, question));
        let fresh = times(&questions, |question| ask(&DebateStore::open(&file).unwrap(), question));
        let recall = if name == "meaning" { format!("{recall:.3}") } else { String::new() };
        println!("{size:<9} {name:<9} {warm:<16} {fresh:<16} {recall}");
    }
    drop(store);
    println!("{size:<9} {} MB on the disk", std::fs::metadata(&file).unwrap().len() / 1_000_000);
}

/// Entries of 20 to 120 words, and their vectors.
fn fill(store: &DebateStore, vectors: &[Vec<f32>], random: &mut SeededRandom) {
    for batch in vectors.chunks(BATCH) {
        let entries: Vec<NewKnowledge> = batch
            .iter()
            .map(|_| {
                let (title, words) = (random.text(8), 20 + random.below(100));
                let (text, at) = (random.text(words), "2026-11-15T10:00:00Z".to_owned());
                NewKnowledge { kind: KnowledgeKind::Note, title, text, source: None, confidence: None, at }
            })
            .collect();
        let texts: Vec<String> =
            entries.iter().map(|entry| format!("{}\n{}", entry.title, entry.text)).collect();
        let ids = block_on(store.knowledge_add(entries)).unwrap();
        let indexed =
            ids.into_iter().zip(texts).zip(batch).map(|((id, text), vector)| (id, text, vector.clone()));
        block_on(store.add_vectors(MODEL, indexed.collect())).unwrap();
    }
}

/// The share of the truly nearest entries that a search finds.
fn recall(store: &DebateStore, vectors: &[Vec<f32>], questions: &[(String, Vec<f32>)]) -> f64 {
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

/// A generator whose numbers are the same in every run.
struct SeededRandom(u64);

impl SeededRandom {
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

    /// A direction near another: noise of length `far` is added.
    fn near(&mut self, vector: &[f32], far: f32) -> Vec<f32> {
        let noise = self.vector();
        unit(vector.iter().zip(noise).map(|(number, noise)| number + far * noise).collect())
    }

    /// Words with the frequencies of language: a few are in nearly every text, most are rare.
    fn text(&mut self, words: usize) -> String {
        let words = (0..words).map(|_| format!("w{}", (50_000_f64.powf(self.share()) - 1.0) as usize));
        words.collect::<Vec<_>>().join(" ")
    }
}

fn unit(vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.into_iter().map(|number| number / length).collect()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}
