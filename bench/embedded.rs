//! The speed of the embedded model: `AGON_TEST_MODELS=FOLDER cargo bench -p agon-embedded --bench embedded`, with the folder that
//! `agon models` shows.
//!
//! Prompts of three lengths are read and answered, on all cores. `AGON_BENCH_THREADS` sets `[embedded] threads`. Every prompt is
//! new, so that nothing of it is cached.
//!
//! `AGON_BENCH_LLAMA=PYTHON` names a Python that has `llama-cpp-python` (`pip install llama-cpp-python` needs a C compiler; Agon does
//! not). Then llama.cpp reads the same prompts and writes as many tokens with the same file, in turn with the embedded model, and the
//! ratios are printed. For a machine without AVX-512, set `AGON_EMBEDDED_INSTRUCTIONS=avx2`, and install `llama-cpp-python` with
//! `CMAKE_ARGS=-DGGML_NATIVE=OFF`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

use agon_core::Phase;
use agon_embedded::model_files::{ModelFileStore, known_model};
use agon_embedded::{EmbeddedModel, EmbeddedSettings, SMOLLM2};
use agon_engine::{CallMessage, MessageRole, Model, ModelCall};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

const RUNS: u64 = 9;
const SENTENCE: &str = "The team argued about the plan and wrote its reasons down in a long list. ";
/// What the embedded model is told besides the prompt, so that llama.cpp reads the same.
const SYSTEM_PROMPT: &str =
    "You are an expert with an opinion of your own. You answer plainly and give reasons.";

fn main() {
    let Some(folder) = std::env::var_os("AGON_TEST_MODELS") else {
        println!("set AGON_TEST_MODELS to the folder that `agon models pull {SMOLLM2}` creates");
        return;
    };
    let threads = std::env::var("AGON_BENCH_THREADS").ok().map(|threads| threads.parse().unwrap());
    let settings = EmbeddedSettings { threads, ..EmbeddedSettings::default() };
    let store = ModelFileStore::new(folder);
    let model_folder = store.model_folder(known_model(SMOLLM2).unwrap());
    let model = EmbeddedModel::new(SMOLLM2, Some(store), settings).unwrap();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let began = Instant::now();
    runtime.block_on(model.call(&call("Hello.".into(), 0), None)).unwrap();
    println!("load and first answer   {:6.2} s", began.elapsed().as_secs_f64());
    let threads =
        threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    let mut llama =
        std::env::var_os("AGON_BENCH_LLAMA").map(|python| LlamaCpp::start(python, &model_folder, threads));
    for sentences in [2, 12, 40] {
        let (mut ours, mut theirs) = (Speeds::default(), Speeds::default());
        let (mut read_ratios, mut write_ratios, mut tokens) = (Vec::new(), Vec::new(), 0);
        for run in 0..RUNS {
            let prompt = format!(
                "Run {run} of {sentences}. {}What should the team do? Say it at length.",
                SENTENCE.repeat(sentences)
            );
            let own = ours.measure(&runtime, &model, &prompt, run);
            tokens = own.tokens;
            let Some(llama) = &mut llama else { continue };
            let other = llama.measure(&prompt, own.written);
            theirs.keep(&other);
            read_ratios.push(own.read_speed / other.read_speed);
            write_ratios.extend(own.write_speed.zip(other.write_speed).map(|(own, other)| own / other));
        }
        println!("prompt of {tokens:4} tokens   {}", ours.medians());
        if llama.is_some() {
            println!("              llama.cpp   {}", theirs.medians());
            let (read, written) = (median(&mut read_ratios), median(&mut write_ratios));
            println!("                  ratio   {read:6.2} read,       {written:5.2} written");
        }
    }
}

/// One answer: the length of the prompt and the output, and tokens per second.
struct MeasuredAnswer {
    tokens: u64,
    written: u64,
    read_speed: f64,
    write_speed: Option<f64>,
}

#[derive(Default)]
struct Speeds {
    read: Vec<f64>,
    written: Vec<f64>,
}

impl Speeds {
    /// Asks the embedded model. Its time includes tokens from text, text from tokens, and choosing them.
    fn measure(
        &mut self,
        runtime: &Runtime,
        model: &EmbeddedModel,
        prompt: &str,
        run: u64,
    ) -> MeasuredAnswer {
        let first = Mutex::new(None::<Instant>);
        let on_delta = |_: &str| {
            first.lock().unwrap().get_or_insert_with(Instant::now);
        };
        let began = Instant::now();
        let done = runtime.block_on(model.call(&call(prompt.to_owned(), run), Some(&on_delta))).unwrap();
        let ended = Instant::now();
        let first = first.lock().unwrap().unwrap_or(ended);
        let fresh = done.usage.input_tokens - done.usage.cached_input_tokens;
        let written = done.usage.output_tokens;
        let answer = MeasuredAnswer {
            tokens: done.usage.input_tokens,
            written,
            read_speed: fresh as f64 / (first - began).as_secs_f64(),
            write_speed: (written > 20).then(|| (written - 1) as f64 / (ended - first).as_secs_f64()),
        };
        self.keep(&answer);
        answer
    }

    fn keep(&mut self, answer: &MeasuredAnswer) {
        self.read.push(answer.read_speed);
        self.written.extend(answer.write_speed);
    }

    fn medians(&mut self) -> String {
        let (read, written) = (median(&mut self.read), median(&mut self.written));
        format!("{read:6.0} tok/s read, {written:5.1} tok/s written (medians of {RUNS})")
    }
}

/// llama.cpp in another process, with the same file.
struct LlamaCpp {
    _process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl LlamaCpp {
    fn start(python: impl AsRef<std::ffi::OsStr>, folder: &Path, threads: usize) -> Self {
        let file = q8_file(folder).expect("the first answer has written the file with 8-bit weights");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/compare_llama.py");
        let mut process = Command::new(python)
            .args([script, file, PathBuf::from(threads.to_string())])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("AGON_BENCH_LLAMA names a Python");
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let mut llama = Self { _process: process, input, output: BufReader::new(output) };
        println!("llama.cpp: {}", llama.line().trim());
        llama
    }

    fn measure(&mut self, prompt: &str, output_tokens: u64) -> MeasuredAnswer {
        let prompt = format!(
            "<|im_start|>system\n{SYSTEM_PROMPT}<|im_end|>\n<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n"
        );
        writeln!(self.input, "{}", json!({ "prompt": prompt, "output_tokens": output_tokens })).unwrap();
        let [tokens, read_ms, written, write_ms]: [f64; 4] = serde_json::from_str(&self.line()).unwrap();
        MeasuredAnswer {
            tokens: tokens as u64,
            written: written as u64,
            read_speed: 1000.0 * tokens / read_ms,
            write_speed: (written > 20.0).then_some(1000.0 * written / write_ms),
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "llama.cpp has stopped; is llama-cpp-python installed?");
        line
    }
}

/// The file with 8-bit weights in a folder or a folder in it.
fn q8_file(folder: &Path) -> Option<PathBuf> {
    let paths = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut found = paths.filter_map(|path| match path.is_dir() {
        true => q8_file(&path),
        false => Some(path).filter(|path| path.to_string_lossy().ends_with("Q8_0.gguf")),
    });
    found.next()
}

fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

fn call(prompt: String, seed: u64) -> ModelCall {
    ModelCall {
        is_again: false,
        is_repair: false,
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
