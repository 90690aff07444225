//! Runs one debate: signals, watchers and the result.

use std::sync::Arc;
use std::thread::JoinHandle;

use agon_core::event::open_all;
use agon_core::{Debate, Protocol, Record};
use agon_engine::{Delta, EngineError, Stop, StoreError, Watch};
use agon_report::{Live, LiveOut};
use agon_store::Sqlite;
use tokio::sync::{broadcast, mpsc};

use super::aside::{Pause, terminal};
use super::failure::Failure;
use super::minutes::Minutes;
use super::show::{Face, Show};
use super::{ndjson, output, signals};

/// How many pieces of text a watcher may lag behind before it loses the oldest.
const DELTAS_HELD: usize = 4_096;

/// One debate to run, and how to show it.
pub struct Run<'a> {
    /// Its protocol.
    pub protocol: &'static dyn Protocol,
    /// Its id.
    pub id: String,
    /// Where it is kept.
    pub store: Sqlite,
    /// How it is shown.
    pub show: &'a Show,
}

impl Run<'_> {
    /// Runs it with `go`, shows it while it runs, prints the result and gives the exit status.
    pub fn debate<G>(self, go: G) -> Result<u8, Failure>
    where
        G: AsyncFnOnce(&Watch, &Stop) -> Result<Debate, EngineError>,
    {
        let (watch, notes, watcher) = self.watchers();
        let runtime = runtime()?;
        let ended = runtime.block_on(async {
            let stop = Stop::new();
            // Where nobody shows notes, they go straight to stderr.
            let tell = move |line: &str| match &notes {
                // While a person is asked the view shows nothing.
                Some(notes) if !terminal().is_busy() && notes.send(line.to_owned()).is_ok() => {}
                _ => output::note(line),
            };
            tokio::spawn(signals::watch(stop.clone(), tell, self.again()));
            go(&watch, &stop).await
        });
        // The signals' task goes with it, and with that task the last who could send a note.
        drop(runtime);
        // The watcher ends when nobody can tell it anything any more.
        drop(watch);
        terminal().leave();
        // One that broke has harmed nobody but itself; one that could not write says so.
        let watched = watcher.map_or(Ok(()), |watcher| watcher.join().unwrap_or(Ok(())));
        let ended = ended.map_err(|why| self.failed(why))?;
        let status = self.show.finish(&ended, || {
            let raw = self.store.raw(&self.id)?;
            Ok(raw.iter().map(|(body, hash)| ndjson::line(body, hash)).collect())
        })?;
        watched.map(|()| status)
    }

    /// The command that goes on with it.
    fn again(&self) -> String {
        format!("agon resume {}{}{}", self.id, self.show.store, self.show.again())
    }

    fn failed(&self, why: EngineError) -> Failure {
        let mends = matches!(
            why,
            EngineError::Interrupted { .. }
                | EngineError::Stopped { .. }
                | EngineError::Store(StoreError::Failed { .. })
        );
        // A disk that was full from the start has no log to go on from; one that cannot even be read may have.
        let empty = match self.store.raw(&self.id) {
            Ok(log) => log.is_empty(),
            Err(error) => matches!(error, StoreError::Unknown(_)),
        };
        match mends && !empty {
            true => Failure::Unfinished { why: Box::new(why), again: self.again() },
            false => why.into(),
        }
    }

    /// What grows in the folder that the debate is saved in.
    fn minutes(&self) -> Option<Minutes> {
        let folder = self.show.folder(&self.id)?;
        let log = self.store.raw(&self.id).ok().and_then(|raw| open_all(raw).ok()).unwrap_or_default();
        Some(Minutes::new(self.protocol, &folder, &log))
    }

    /// A watcher has a thread of its own: a terminal that stands still must not hold up the debate.
    fn watchers(&self) -> (Watch, Option<Notes>, Option<Watcher>) {
        let mut watch = Watch::default();
        let minutes = self.minutes();
        if !self.show.progress && self.show.face != Face::Events && minutes.is_none() {
            return (watch, None, None);
        }
        let (sender, records) = mpsc::unbounded_channel();
        if !self.show.progress {
            watch.records = Some(sender);
            let prints = self.show.face == Face::Events;
            return (watch, None, Some(std::thread::spawn(move || print_events(records, prints, minutes))));
        }
        let (deltas, pieces) = broadcast::channel(DELTAS_HELD);
        let (notes, noted) = mpsc::unbounded_channel();
        watch.records = Some(sender);
        // Answers are streamed only for eyes that see them: providers do more work for a stream.
        watch.deltas = self.show.streams().then_some(deltas);
        let (protocol, pauses) = (self.protocol, terminal().view());
        let show_live = move || {
            show_live(protocol, records, pieces, noted, pauses, minutes);
            Ok(())
        };
        let watcher = std::thread::spawn(show_live);
        (watch, Some(notes), Some(watcher))
    }
}

/// Who shows or writes what happens, and what came of that.
type Watcher = JoinHandle<Result<(), Failure>>;

/// Lines from the program itself, to be shown in the live view.
type Notes = mpsc::UnboundedSender<String>;

/// One thread is enough for one debate: it waits, it does not compute.
/// What waits for answers.
pub fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(no_runtime)
}

/// The system would not give what waiting needs.
pub fn no_runtime(why: std::io::Error) -> Failure {
    Failure::System(format!("the system gives no means to wait for answers: {why}"))
}

fn print_events(
    mut records: mpsc::UnboundedReceiver<Arc<Record>>,
    prints: bool,
    mut minutes: Option<Minutes>,
) -> Result<(), Failure> {
    let mut printed = Ok(());
    while let Some(record) = records.blocking_recv() {
        minutes.iter_mut().for_each(|minutes| minutes.record(&record));
        if prints && printed.is_ok() {
            printed = output::print(&format!("{}\n", ndjson::line(&record.body, &record.hash)));
        }
    }
    printed
}

fn show_live(
    protocol: &'static dyn Protocol,
    mut records: mpsc::UnboundedReceiver<Arc<Record>>,
    mut pieces: broadcast::Receiver<Delta>,
    mut notes: mpsc::UnboundedReceiver<String>,
    mut pauses: mpsc::UnboundedReceiver<Pause>,
    mut minutes: Option<Minutes>,
) {
    let style = output::stderr_style();
    let out = if output::watched() { LiveOut::Terminal { style } } else { LiveOut::Plain { style } };
    let mut live = Live::new(protocol, out);
    // Only to wait for several things at once.
    let Ok(waiting) = tokio::runtime::Builder::new_current_thread().build() else { return };
    waiting.block_on(async {
        loop {
            tokio::select! {
                // Records first: a piece of an answer makes no sense before the ask that it answers.
                biased;
                record = records.recv() => match record {
                    Some(record) => {
                        live.record(&record);
                        minutes.iter_mut().for_each(|minutes| minutes.record(&record));
                    }
                    None => break,
                },
                // And a person reads what came before the question first.
                Some(pause) = pauses.recv() => live.aside(|| pause.hold()),
                Some(note) = notes.recv() => live.note(&note),
                piece = pieces.recv(), if !pieces.is_closed() || !pieces.is_empty() => {
                    // A view that lags loses pieces of text; the whole answer comes with its record.
                    if let Ok(piece) = piece {
                        live.delta(piece.ask, piece.attempt, &piece.text);
                    }
                }
            }
        }
    });
    live.finish();
}
