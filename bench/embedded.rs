//! The speed of the embedded model: `AGON_TEST_MODELS=FOLDER cargo bench -p agon-embedded --bench embedded`, with the folder that
//! `agon models` shows.
//!
//! Prompts of three lengths are read and answered, five times each, on all cores. `AGON_BENCH_THREADS` sets `[embedded] threads`.
//! Every prompt is new, so that nothing of it is cached.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::sync::Mutex;
use std::time::Instant;

use agon_core::Phase;
use agon_embedded::model_files::ModelFileStore;
use agon_embedded::{EmbeddedModel, EmbeddedSettings, SMOLLM2};
use agon_engine::{CallMessage, MessageRole, Model, ModelCall};

const RUNS: u64 = 5;
const SENTENCE: &str = "The team argued about the plan and wrote its reasons down in a long list. ";

fn main() {
    let Some(folder) = std::env::var_os("AGON_TEST_MODELS") else {
        println!("set AGON_TEST_MODELS to the folder that `agon models pull {SMOLLM2}` creates");
        return;
    };
    let threads = std::env::var("AGON_BENCH_THREADS").ok().map(|threads| threads.parse().unwrap());
    let settings = EmbeddedSettings { threads, ..EmbeddedSettings::default() };
    let model = EmbeddedModel::new(SMOLLM2, Some(ModelFileStore::new(folder)), settings).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let began = Instant::now();
    runtime.block_on(model.call(&call("Hello.".into(), 0), None)).unwrap();
    println!("load and first answer   {:6.2} s", began.elapsed().as_secs_f64());
    for sentences in [2, 12, 40] {
        let (mut read, mut written, mut tokens) = (Vec::new(), Vec::new(), 0);
        for run in 0..RUNS {
            let prompt = format!(
                "Run {run} of {sentences}. {}What should the team do? Say it at length.",
                SENTENCE.repeat(sentences)
            );
            let first = Mutex::new(None::<Instant>);
            let on_delta = |_: &str| {
                first.lock().unwrap().get_or_insert_with(Instant::now);
            };
            let began = Instant::now();
            let done = runtime.block_on(model.call(&call(prompt, run), Some(&on_delta))).unwrap();
            let ended = Instant::now();
            let first = first.lock().unwrap().unwrap_or(ended);
            let fresh = done.usage.input_tokens - done.usage.cached_input_tokens;
            tokens = done.usage.input_tokens;
            read.push(fresh as f64 / (first - began).as_secs_f64());
            if done.usage.output_tokens > 20 {
                written.push((done.usage.output_tokens - 1) as f64 / (ended - first).as_secs_f64());
            }
        }
        println!(
            "prompt of {tokens:4} tokens   {:6.0} tok/s read, {:5.1} tok/s written (medians of {RUNS})",
            median(&mut read),
            median(&mut written)
        );
    }
}

fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

fn call(prompt: String, seed: u64) -> ModelCall {
    ModelCall {
        debate: "bench".into(),
        seat: "debater-1".into(),
        ask: 1,
        attempt: 1,
        phase: Phase::new("answer", 0),
        label: None,
        about: None,
        question: String::new(),
        messages: vec![
            CallMessage::new(MessageRole::System, "Rules."),
            CallMessage::new(MessageRole::User, prompt),
        ],
        schema: None,
        max_output_tokens: 2_000,
        seed,
    }
}
