//! Many debates at once.

use std::io::Write;
use std::sync::Arc;

use agon_core::document;
use agon_engine::{Engine, EngineError, Stop, Watch};
use agon_store::Sqlite;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::aside::terminal;
use super::failure::Failure;
use super::opening::Opening;
use super::post::Bound;
use super::run::no_runtime;
use super::{output, show, signals};
use lines::Line;
use out::Out;

pub mod lines;
pub mod out;

/// Debates are waited for, not computed: two threads do for many at once, and for one after another the one that is there.
const THREADS: usize = 2;
const COULD_NOT_COMPLETE: u8 = 3;
const INTERRUPTED: u8 = 130;
/// More resume lines than a person reads are no help.
const RESUME_LINES_MAX: usize = 10;

/// How a batch is run.
pub struct Batch {
    /// The engine that all debates share, with its limits.
    pub engine: Engine,
    /// The store that it keeps the logs in.
    pub store: Sqlite,
    /// How each is opened.
    pub opening: Opening,
    /// Where each result goes besides.
    pub bound: Bound,
    /// How many run at once.
    pub concurrency: usize,
    /// Whether somebody watches stderr.
    pub progress: bool,
    /// ` --db FILE` where one was named, for the commands that go on with what was interrupted.
    pub again: String,
}

/// What became of one debate, as far as the rest of the batch cares.
struct Done {
    line: String,
    complete: bool,
    interrupted: bool,
    /// Its id, if it is not over and there is a log to go on from.
    resumable: Option<String>,
}

impl Batch {
    /// Runs all lines and gives the exit status: 3 if any could not complete, 130 if it was interrupted.
    pub fn run(self, lines: Vec<Line>, out: Out) -> Result<u8, Failure> {
        let mut builder = match self.concurrency {
            1 => tokio::runtime::Builder::new_current_thread(),
            _ => tokio::runtime::Builder::new_multi_thread(),
        };
        let runtime = builder.worker_threads(THREADS).enable_all().build().map_err(no_runtime)?;
        runtime.block_on(self.hold(lines, out))
    }

    async fn hold(self, lines: Vec<Line>, mut out: Out) -> Result<u8, Failure> {
        let stop = Stop::new();
        let again = self.again.clone();
        let farewell = format!(
            "`agon list{again}` shows the debates that were interrupted; agon resume ID{again} goes on with one"
        );
        tokio::spawn(signals::watch(stop.clone(), output::note, farewell));
        let mut tally = Tally { total: lines.len(), shown: self.progress, again, ..Tally::default() };
        let (batch, mut waiting) = (Arc::new(self), lines.into_iter());
        let mut running = JoinSet::new();
        loop {
            while running.len() < batch.concurrency && !stop.is_asked() {
                let Some(line) = waiting.next() else { break };
                running.spawn(one(Arc::clone(&batch), line, stop.clone()));
            }
            let Some(ended) = running.join_next().await else { break };
            let done = ended.map_err(|why| Failure::System(format!("a debate broke off: {why}")))?;
            tally.count(&done);
            // What cannot be written down must not be paid for: the rest is interrupted.
            if let Err(failure) = out.line(done.line) {
                stop.stop();
                while running.join_next().await.is_some() {}
                return Err(failure);
            }
        }
        Ok(tally.end(stop.is_asked()))
    }
}

async fn one(batch: Arc<Batch>, line: Line, stop: Stop) -> Done {
    let Line { index, input_id, subject } = line;
    let mut unfinished = Unfinished { question: subject.question.clone(), id: None };
    let ended = match batch.opening.brief(subject) {
        Ok(brief) => {
            unfinished.id = Some(brief.id.clone());
            match batch.bound.bind(&batch.store, &brief.id).await {
                Ok(()) => {
                    let watch = Watch::default();
                    let ended = batch.engine.open(batch.opening.protocol, brief, &watch, &stop).await;
                    ended.map_err(Failure::from)
                }
                Err(failure) => Err(failure),
            }
        }
        Err(failure) => Err(failure),
    };
    // The debate is dropped here: a thousand of them do not fit in a small memory.
    match ended {
        Ok(debate) => Done {
            line: numbered(show::outcome(&debate), index, input_id),
            complete: document::exit_status(&debate) < COULD_NOT_COMPLETE,
            interrupted: false,
            resumable: None,
        },
        Err(failure) => {
            let interrupted = matches!(failure, Failure::Engine(EngineError::Interrupted { .. }));
            let resumable = unfinished.id.clone().filter(|id| is_kept(&batch.store, id));
            let line = unfinished.line(&batch, resumable.is_some(), &failure);
            Done { line: numbered(line, index, input_id), complete: false, interrupted, resumable }
        }
    }
}

/// A debate that did not run to its end.
struct Unfinished {
    question: String,
    id: Option<String>,
}

impl Unfinished {
    /// What its line says, with the fields that a reader of outcomes looks for first.
    fn line(self, batch: &Batch, kept: bool, failure: &Failure) -> Value {
        json!({
            "id": self.id,
            "protocol": batch.opening.protocol.name(),
            "question": self.question,
            "status": if kept { "interrupted" } else { "failed" },
            "termination": null,
            "verdict": null,
            "error": failure.to_string(),
        })
    }
}

/// Whether there is a log to go on from; only then does `agon list` know the debate.
fn is_kept(store: &Sqlite, id: &str) -> bool {
    store.raw(id).is_ok_and(|log| !log.is_empty())
}

/// An outcome on one line, with the place of its question in the input.
fn numbered(mut outcome: Value, index: usize, input_id: Option<Value>) -> String {
    if let Some(fields) = outcome.as_object_mut() {
        fields.insert("input_id".into(), input_id.unwrap_or_default());
        fields.insert("index".into(), json!(index));
    }
    outcome.to_string()
}

#[derive(Default)]
struct Tally {
    total: usize,
    done: usize,
    failed: usize,
    interrupted: Vec<String>,
    shown: bool,
    again: String,
}

impl Tally {
    fn count(&mut self, done: &Done) {
        if done.interrupted {
            self.interrupted.extend(done.resumable.clone());
        } else {
            self.done += 1;
            self.failed += usize::from(!done.complete);
        }
        // A person who is asked has the terminal to themselves; the next count says it all.
        if self.shown && !terminal().is_busy() {
            let mut screen = std::io::stderr().lock();
            // Nobody there to see it is no reason to stop.
            drop(write!(
                screen,
                "\r{} of {} debates, {} could not complete ",
                self.done, self.total, self.failed
            ));
            drop(screen.flush());
        }
    }

    fn end(self, stopped: bool) -> u8 {
        if self.shown {
            output::note("");
        }
        if stopped {
            output::note(&format!(
                "interrupted after {} of {} debates; the logs are kept",
                self.done, self.total
            ));
            for id in self.interrupted.iter().take(RESUME_LINES_MAX) {
                output::note(&format!("agon resume {id}{}", self.again));
            }
            if self.interrupted.len() > RESUME_LINES_MAX {
                output::note(&format!("and so on: `agon list{}` shows the rest", self.again));
            }
            return INTERRUPTED;
        }
        if self.failed > 0 {
            output::note(&format!("{} of {} debates could not complete", self.failed, self.total));
            return COULD_NOT_COMPLETE;
        }
        0
    }
}
