//! Runs one debate: signals, watchers and the result.

use std::sync::Arc;
use std::thread::JoinHandle;

use agon_core::{Debate, LogRecord, Protocol};
use agon_engine::{DebateWatch, EngineError, StopSignal, StoreError, TextDelta};
use agon_report::{LiveOutput, LiveView};
use agon_store::DebateStore;
use tokio::runtime::Handle;
use tokio::sync::{broadcast, mpsc};

use super::app::DebateHandle;
use super::errors::{CliError, kept_log_sentence};
use super::records::GrowingRecords;
use super::result_output::{OutputMode, ResultOutput};
use super::runtime::runtime;
use super::terminal_pause::{TerminalPause, terminal};
use super::verification::log_line;
use super::{output, signals};

/// How many pieces of text the live view may lag behind before it loses the oldest.
const DELTAS_HELD: usize = 4_096;

/// One debate to run, and how to show it.
pub struct DebateSession<'a> {
    pub protocol: &'static dyn Protocol,
    pub id: String,
    /// The store that has its log.
    pub store: DebateStore,
    /// How it is shown.
    pub output: &'a ResultOutput,
}

impl DebateSession<'_> {
    /// Runs the debate with `start`, shows it while it runs, prints the result and returns the exit status.
    pub fn run<S>(self, start: S) -> Result<u8, CliError>
    where
        S: AsyncFnOnce(&DebateWatch, &StopSignal) -> Result<Debate, CliError>,
    {
        let runtime = runtime()?;
        let DebateWatcher { watch, notes, thread } = self.start_watcher(runtime.handle())?;
        let ended = runtime.block_on(async {
            let stop = StopSignal::new();
            let farewell = kept_log_sentence(&self.resume_command());
            let show_line = move |line: &str| match &notes {
                // While a person is asked, the live view is hidden.
                Some(notes) if !terminal().is_asking() && notes.send(line.to_owned()).is_ok() => {}
                _ => output::note(line),
            };
            let signals = tokio::spawn(signals::watch(stop.clone(), show_line, farewell));
            let ended = start(&watch, &stop).await;
            // The watcher ends when its last sender is gone. This task holds one, so it must be gone too.
            signals.abort();
            drop(signals.await);
            ended
        });
        drop(watch);
        terminal().close();
        // A watcher that panicked has lost the live view and nothing else. One that could not write returns an error.
        let watched = thread.map_or(Ok(()), |thread| thread.join().unwrap_or(Ok(())));
        let debate = ended.map_err(|error| match error {
            CliError::Engine(reason) => self.error(reason),
            other => other,
        })?;
        let status = self.output.finish(&debate, || {
            let raw = self.store.raw_log(&self.id)?;
            Ok(raw.iter().map(|(body, hash)| log_line(body, hash)).collect())
        })?;
        watched.map(|()| status)
    }

    fn resume_command(&self) -> String {
        format!("agon resume {}{}{}", self.id, self.output.store_option, self.output.save_option())
    }

    fn error(&self, reason: EngineError) -> CliError {
        let can_continue = matches!(
            reason,
            EngineError::Interrupted { .. }
                | EngineError::Stopped { .. }
                | EngineError::Store(StoreError::Failed { .. })
        );
        // A disk that was full from the start has no log to continue from. One that cannot even be read may have.
        let has_log = match self.store.raw_log(&self.id) {
            Ok(log) => !log.is_empty(),
            Err(error) => !matches!(error, StoreError::Unknown(_)),
        };
        match can_continue && has_log {
            true => CliError::Unfinished { reason: Box::new(reason), resume_command: self.resume_command() },
            false => reason.into(),
        }
    }

    /// Starts what follows the debate. It has a thread of its own, because a terminal that is paused must not hold up the
    /// debate.
    fn start_watcher(&self, runtime: &Handle) -> Result<DebateWatcher, CliError> {
        let mut watch = DebateWatch::default();
        let growing = self.growing_records()?;
        let prints_events = self.output.mode == OutputMode::Events;
        if !self.output.shows_progress && !prints_events && growing.is_none() {
            return Ok(DebateWatcher { watch, notes: None, thread: None });
        }
        let (sender, records) = mpsc::unbounded_channel();
        watch.records = Some(sender);
        if !self.output.shows_progress {
            let thread = std::thread::spawn(move || follow_log(records, prints_events, growing));
            return Ok(DebateWatcher { watch, notes: None, thread: Some(thread) });
        }
        let (deltas, pieces) = broadcast::channel(DELTAS_HELD);
        let (notes, noted) = mpsc::unbounded_channel();
        // Answers are streamed only if they are shown, because a stream is more work for a provider.
        watch.deltas = self.output.streams_answers().then_some(deltas);
        let sources = LiveSources { records, pieces, notes: noted, pauses: terminal().attach_view() };
        let (protocol, runtime) = (self.protocol, runtime.clone());
        let thread = std::thread::spawn(move || {
            show_live(protocol, &runtime, sources, growing);
            Ok(())
        });
        Ok(DebateWatcher { watch, notes: Some(notes), thread: Some(thread) })
    }

    /// The records that grow in the folder that the debate is saved in.
    fn growing_records(&self) -> Result<Option<GrowingRecords>, CliError> {
        let Some(folder) = self.output.debate_folder(&self.id) else { return Ok(None) };
        let handle = DebateHandle { store: self.store.clone(), id: self.id.clone() };
        let log = match handle.read() {
            Ok(stored) => stored.records,
            // A new debate has no log yet.
            Err(CliError::Store(StoreError::Unknown(_))) => Vec::new(),
            Err(error) => return Err(error),
        };
        let growing = GrowingRecords::new(self.protocol, &folder, &log);
        growing.map(Some).map_err(|reason| handle.log_error(reason))
    }
}

/// What follows a debate while it runs.
struct DebateWatcher {
    watch: DebateWatch,
    /// Lines of the program itself, for the live view.
    notes: Option<mpsc::UnboundedSender<String>>,
    thread: Option<JoinHandle<Result<(), CliError>>>,
}

/// What the live view shows.
struct LiveSources {
    records: mpsc::UnboundedReceiver<Arc<LogRecord>>,
    pieces: broadcast::Receiver<TextDelta>,
    notes: mpsc::UnboundedReceiver<String>,
    pauses: mpsc::UnboundedReceiver<TerminalPause>,
}

fn follow_log(
    mut records: mpsc::UnboundedReceiver<Arc<LogRecord>>,
    prints_events: bool,
    mut growing: Option<GrowingRecords>,
) -> Result<(), CliError> {
    let mut printed = Ok(());
    while let Some(record) = records.blocking_recv() {
        growing.iter_mut().for_each(|growing| growing.add(&record));
        if prints_events && printed.is_ok() {
            printed = output::print(&format!("{}\n", log_line(&record.body, &record.hash)));
        }
    }
    printed
}

fn show_live(
    protocol: &'static dyn Protocol,
    runtime: &Handle,
    mut sources: LiveSources,
    mut growing: Option<GrowingRecords>,
) {
    let style = output::stderr_style();
    let out = match output::stderr_is_live() {
        true => LiveOutput::Terminal { style },
        false => LiveOutput::Plain { style },
    };
    let mut live = LiveView::new(protocol, out);
    runtime.block_on(async {
        loop {
            let has_pieces = !sources.pieces.is_closed() || !sources.pieces.is_empty();
            tokio::select! {
                // Records come first: a piece of an answer makes no sense before its ask, and a person who is asked
                // must have seen everything before.
                biased;
                record = sources.records.recv() => match record {
                    Some(record) => {
                        live.record(&record);
                        growing.iter_mut().for_each(|growing| growing.add(&record));
                    }
                    None => break,
                },
                Some(pause) = sources.pauses.recv() => live.aside(|| pause.wait()),
                Some(note) = sources.notes.recv() => live.note(&note),
                piece = sources.pieces.recv(), if has_pieces => {
                    // A view that lags loses pieces of text. The whole answer comes with its record.
                    if let Ok(piece) = piece {
                        live.delta(piece.ask, piece.attempt, &piece.text);
                    }
                }
            }
        }
    });
    live.finish();
}
