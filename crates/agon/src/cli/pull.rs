//! Brings the files of embedded models to this machine, and shows how far it is.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use agon_embedded::{Known, Meter, Pace, Progress, Pulled, Shelf, Source, State, Ways, known};
use agon_report::figures;
use indicatif::{ProgressBar, ProgressStyle};

use super::failure::Failure;
use super::run::no_runtime;
use super::{output, place, signals};

/// Where nobody watches, a line says how far it is so often.
const LINE_EVERY: Duration = Duration::from_secs(5);
const BAR: &str = "{prefix}  [{bar:24}]  {wide_msg}";

/// Brings these models to the shelf, except for those that are there. Shows a bar on a terminal and a line now and then where
/// there is none; nothing if `quiet`. Ctrl-C leaves what a later pull can go on with.
pub fn ensure(names: &[&str], from: &Source, quiet: bool) -> Result<Vec<(&'static Known, Pulled)>, Failure> {
    let wanted = names.iter().map(|name| find(name)).collect::<Result<Vec<_>, _>>()?;
    let shelf = shelf()?;
    let ways = Ways::of(place::env);
    let mut pulled = Vec::new();
    for known in wanted {
        let display = Display::new(known, quiet);
        let report = |progress| display.hear(progress);
        let ended = stoppable(shelf.pull(known, from, &ways, &report))?;
        display.clear();
        let Some(ended) = ended else { return Err(halted(&shelf, known)) };
        pulled.push((known, ended?));
    }
    Ok(pulled)
}

/// The model of this name, or a sentence that has all names.
pub fn find(name: &str) -> Result<&'static Known, Failure> {
    // As it is named at the table, too.
    let bare = name.strip_prefix("embedded/").or_else(|| name.strip_prefix("embeddings/")).unwrap_or(name);
    known(bare).ok_or_else(|| {
        let names: Vec<&str> = agon_embedded::KNOWN.iter().map(|known| known.name).collect();
        Failure::input(format!("there is no model {name:?} to pull; there is {}", names.join(", ")))
            .help("a GGUF file of your own needs no pull: --models embedded/PATH.gguf")
    })
}

/// Where the files are kept.
pub fn shelf() -> Result<Shelf, Failure> {
    place::models(&place::env).map(Shelf::new).ok_or_else(|| {
        Failure::input("there is no folder for models: neither AGON_HOME nor a home directory is set")
            .help("set AGON_HOME to a folder")
    })
}

/// Runs work that waits until it ends, or until somebody wants this process to end: `None`.
pub fn stoppable<T>(work: impl Future<Output = T>) -> Result<Option<T>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(no_runtime)?;
    Ok(runtime.block_on(async {
        tokio::select! {
            done = work => Some(done),
            Ok(_) = signals::asked_to_end() => None,
        }
    }))
}

/// A size as people say it: `612 bytes`, `466 KB`, `98.4 MB`.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.0} KB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

fn halted(shelf: &Shelf, known: &Known) -> Failure {
    let name = known.name;
    Failure::Halted(match shelf.state(known) {
        State::Partial { done_bytes, total_bytes } => format!(
            "stopped; {} of {} are kept, and the same command, or `agon models pull {name}`, goes on from there",
            size(done_bytes),
            size(total_bytes)
        ),
        _ => format!("stopped; nothing of {name} was kept: `agon models pull {name}` fetches it"),
    })
}

/// How one pull is shown.
struct Display {
    known: &'static Known,
    out: Out,
    shown: Mutex<Shown>,
}

enum Out {
    Nothing,
    Lines,
    Bar(ProgressBar),
}

#[derive(Default)]
struct Shown {
    meter: Meter,
    /// When the last line was written.
    line: Option<Instant>,
}

impl Display {
    fn new(known: &'static Known, quiet: bool) -> Self {
        let out = match (quiet, output::watched() && std::io::stderr().is_terminal()) {
            (true, _) => Out::Nothing,
            (_, false) => Out::Lines,
            (_, true) => Out::Bar(bar(known)),
        };
        Self { known, out, shown: Mutex::default() }
    }

    fn hear(&self, progress: Progress) {
        let name = self.known.name;
        match progress {
            Progress::Waiting => self.line(&format!("{name}: another process fetches it; waiting for that")),
            Progress::Trying { source } => {
                *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = Shown::default();
                self.line(&format!("{name}: {}, from {source}", size(self.known.bytes())));
            }
            Progress::Failed { source, why } => self.line(&format!("{name}: {source} is no way: {why}")),
            Progress::Bytes { done_bytes, total_bytes } => self.bytes(done_bytes, total_bytes),
            Progress::Checking { file } => self.message(&format!("checking {file}")),
            Progress::Kept { file, .. } => self.message(&format!("{file} is kept")),
        }
    }

    fn bytes(&self, done_bytes: u64, total_bytes: u64) {
        let now = Instant::now();
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let pace = shown.meter.note(now, done_bytes, total_bytes);
        match &self.out {
            Out::Nothing => {}
            Out::Bar(bar) => {
                bar.set_length(total_bytes);
                bar.set_position(done_bytes);
                bar.set_message(so_far(done_bytes, total_bytes, pace));
            }
            Out::Lines => {
                // What was just begun needs no line.
                let line = shown.line.get_or_insert(now);
                if now.duration_since(*line) >= LINE_EVERY {
                    *line = now;
                    output::note(&format!("{}: {}", self.known.name, so_far(done_bytes, total_bytes, pace)));
                }
            }
        }
    }

    /// What is worth a line of its own.
    fn line(&self, line: &str) {
        let line = agon_report::clean(line);
        match &self.out {
            Out::Nothing => {}
            Out::Lines => output::note(&line),
            // A terminal that has gone away is no reason to stop.
            Out::Bar(bar) => bar.println(line),
        }
    }

    /// What is worth saying only while it lasts.
    fn message(&self, message: &str) {
        if let Out::Bar(bar) = &self.out {
            bar.set_message(message.to_owned());
        }
    }

    fn clear(&self) {
        if let Out::Bar(bar) = &self.out {
            bar.finish_and_clear();
        }
    }
}

/// Nothing is drawn before there is something to show: most models are there already.
fn bar(known: &Known) -> ProgressBar {
    let bar = ProgressBar::new(known.bytes()).with_prefix(known.name);
    match ProgressStyle::with_template(BAR) {
        Ok(look) => bar.with_style(look.progress_chars("=> ")),
        Err(_) => bar,
    }
}

/// `42.0 MB of 98.4 MB, 3.1 MB/s, 18 s left`.
fn so_far(done_bytes: u64, total_bytes: u64, pace: Pace) -> String {
    let mut line = format!("{} of {}", size(done_bytes), size(total_bytes));
    if let Some(pace) = pace.bytes_per_second {
        line.push_str(&format!(", {}/s", size(pace as u64)));
    }
    if let Some(left) = pace.left.filter(|_| done_bytes < total_bytes) {
        let ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        line.push_str(&format!(", {} left", figures::seconds(ms)));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "`agon models pull` with a progress bar".
    #[test]
    fn how_far_it_is_has_bytes_pace_and_time_left() {
        let pace = Pace { bytes_per_second: Some(3_100_000.0), left: Some(Duration::from_secs(18)) };
        assert_eq!(so_far(42_000_000, 98_362_432, pace), "42.0 MB of 98.4 MB, 3.1 MB/s, 18 s left");
        assert_eq!(so_far(612, 612, pace), "612 bytes of 612 bytes, 3.1 MB/s", "nothing is left");
        assert_eq!(so_far(0, 466_247, Pace::default()), "0 bytes of 466 KB");
    }

    #[test]
    fn a_model_is_found_by_its_own_name_and_by_the_one_at_the_table() {
        for name in ["smollm2", "embedded/smollm2"] {
            assert_eq!(find(name).unwrap().name, "smollm2");
        }
        assert_eq!(find("embeddings/minilm").unwrap().name, "minilm");
        let why = find("gpt").unwrap_err();
        assert!(why.status() == 2 && why.to_string().contains("smollm2, minilm"), "{why}");
    }
}
