//! One debate that runs in this process, and how any number of readers follow its log.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use agon_core::{Event, LogRecord, Status};
use agon_engine::{DebateInbox, DebateWatch, StopSignal, TextDelta};
use axum::body::Bytes;
use tokio::sync::{broadcast, mpsc, watch};

use super::DebateHost;
use super::host_error::HostError;
use super::person_seats::WaitingAsk;
use crate::cli::verification::log_line;

/// How many pieces of text a reader may lag behind before it loses the oldest.
const DELTAS_HELD: usize = 1_024;
/// How often the store is read for a debate that another process runs.
const POLL_EVERY: Duration = Duration::from_millis(300);
/// How many events of a stored log are read at once, so that a slow reader holds no more of it.
const LINES_AT_ONCE: usize = 32;

/// A debate that runs in this process. Readers take what they need from it, so none of them can slow it down.
#[derive(Debug)]
pub struct HostedRun {
    pub(super) id: String,
    records: Mutex<Vec<RunRecord>>,
    progress: watch::Sender<RunProgress>,
    pub(super) deltas: broadcast::Sender<TextDelta>,
    pub(super) inbox: DebateInbox,
    pub(super) stop: StopSignal,
    /// Whether it was stopped by a person, and not because the process ends.
    pub(super) stopped_by_person: AtomicBool,
    /// Why it did not reach its end.
    fault: Mutex<Option<HostError>>,
    /// Whether workers run it, and this process only follows.
    is_remote: bool,
    /// How long it has waited for people since its last event, without a process.
    waited_ms: u64,
    remote_asks: Mutex<RemoteAsks>,
    /// Answers were sent that the workers have not been told of.
    pub(super) has_answers_to_tell: AtomicBool,
}

/// The people who are asked at a worker.
#[derive(Debug, Default)]
struct RemoteAsks {
    waiting: Vec<WaitingAsk>,
    /// Answered from here.
    answered: BTreeSet<u32>,
    /// Told that something does not verify.
    refused: BTreeSet<u32>,
}

/// A record, and its line once somebody has read it. All readers share both.
#[derive(Debug, Clone)]
struct RunRecord {
    record: Arc<LogRecord>,
    line: Arc<OnceLock<LogLine>>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RunProgress {
    records: usize,
    has_ended: bool,
}

impl HostedRun {
    pub(super) fn new(id: &str, is_remote: bool, waited_ms: u64) -> Self {
        Self {
            id: id.to_owned(),
            records: Mutex::default(),
            progress: watch::Sender::new(RunProgress::default()),
            deltas: broadcast::Sender::new(DELTAS_HELD),
            inbox: DebateInbox::default(),
            stop: StopSignal::new(),
            stopped_by_person: AtomicBool::new(false),
            fault: Mutex::default(),
            is_remote,
            waited_ms,
            remote_asks: Mutex::default(),
            has_answers_to_tell: AtomicBool::new(false),
        }
    }

    /// What the engine writes to, and the records as they come.
    pub(super) fn watch(&self) -> (DebateWatch, mpsc::UnboundedReceiver<Arc<LogRecord>>) {
        let (sender, records) = mpsc::unbounded_channel();
        let watch = DebateWatch {
            records: Some(sender),
            deltas: Some(self.deltas.clone()),
            inbox: self.inbox.clone(),
            waited_ms: self.waited_ms,
        };
        (watch, records)
    }

    pub(super) fn add(&self, record: Arc<LogRecord>) {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        records.push(RunRecord { record, line: Arc::default() });
        let count = records.len();
        drop(records);
        self.progress.send_modify(|progress| progress.records = count);
    }

    pub(super) fn end(&self, fault: Option<HostError>) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
        self.progress.send_modify(|progress| progress.has_ended = true);
    }

    /// The records from this number on.
    pub(super) fn records_from(&self, first: usize) -> Vec<Arc<LogRecord>> {
        let records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let from = records.get(first..).unwrap_or_default();
        from.iter().map(|known| known.record.clone()).collect()
    }

    /// Some of the lines from this number on.
    fn lines_from(&self, first: usize) -> Vec<LogLine> {
        let records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let from: Vec<RunRecord> =
            records.get(first..).unwrap_or_default().iter().take(LINES_AT_ONCE).cloned().collect();
        drop(records);
        let line = |RunRecord { record, line }: &RunRecord| {
            line.get_or_init(|| LogLine::new(record.entry.seq, &record.body, &record.hash)).clone()
        };
        from.iter().map(line).collect()
    }

    /// Whether the debate has no outcome yet, as far as is known here.
    pub(super) fn is_open(&self) -> bool {
        self.end_status().is_none()
    }

    /// How the debate ended, if it has and that is known here.
    pub(crate) fn end_status(&self) -> Option<Status> {
        let records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        match &records.last()?.record.entry.event {
            Event::Closed { outcome } => Some(outcome.status),
            _ => None,
        }
    }

    /// Changes with every record, and when the run ends.
    pub(super) fn progress(&self) -> watch::Receiver<RunProgress> {
        self.progress.subscribe()
    }

    pub(super) fn is_remote(&self) -> bool {
        self.is_remote
    }

    /// Whether somebody follows the log.
    pub(super) fn is_watched(&self) -> bool {
        self.progress.receiver_count() > 0 || self.deltas.receiver_count() > 0
    }

    pub(super) fn record_count(&self) -> usize {
        self.progress.borrow().records
    }

    fn remote_asks(&self) -> MutexGuard<'_, RemoteAsks> {
        self.remote_asks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who is asked at a worker and has not answered.
    pub(super) fn waiting_at_worker(&self) -> Vec<WaitingAsk> {
        self.remote_asks().waiting.clone()
    }

    /// Notes who is asked at a worker. Returns whether that is something new.
    pub(super) fn set_remote_asks(&self, asks: Vec<WaitingAsk>) -> bool {
        let mut remote = self.remote_asks();
        let ids = |asks: &[WaitingAsk]| asks.iter().map(|ask| ask.ask).collect::<Vec<_>>();
        let is_new = ids(&remote.waiting) != ids(&asks);
        remote.waiting = asks;
        is_new
    }

    pub(super) fn was_answered(&self, ask: u32) -> bool {
        self.remote_asks().answered.contains(&ask)
    }

    /// Whether the person at a worker has already been told that something in the answer does not verify. From now on it has.
    pub(super) fn was_refused(&self, ask: u32) -> bool {
        self.is_remote && !self.remote_asks().refused.insert(ask)
    }

    /// Notes that an ask was answered from here.
    pub(super) fn note_answered(&self, ask: u32) {
        let mut remote = self.remote_asks();
        remote.waiting.retain(|waiting| waiting.ask != ask);
        remote.answered.insert(ask);
        self.has_answers_to_tell.store(true, Ordering::Release);
    }

    /// Why the run did not reach the end of the debate. A run that was stopped has no fault.
    pub(crate) fn fault(&self) -> Option<HostError> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stops the run in order and waits until it is over.
    pub(crate) async fn stop_and_end(&self) {
        self.stop.stop();
        self.ended().await;
    }

    /// Waits until the run is over.
    pub(crate) async fn ended(&self) {
        // The sender lives as long as `self`, so the wait cannot fail.
        let _ = self.progress.subscribe().wait_for(|progress| progress.has_ended).await;
    }

    /// Waits until there are more records than this, or the run is over.
    async fn more_than(&self, count: usize) {
        let more = |progress: &RunProgress| progress.records > count || progress.has_ended;
        let _ = self.progress.subscribe().wait_for(more).await;
    }

    /// Waits until the log that is known here has this ask, or the run is over: a seat may be asked before the event arrives.
    pub(super) async fn has_asked(&self, ask: u32) {
        let is_its = |record: &RunRecord| match &record.record.entry.event {
            Event::Asked { asks, .. } => asks.iter().any(|asked| asked.id == ask),
            _ => false,
        };
        let is_known = |progress: &RunProgress| {
            let records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
            progress.has_ended || records.iter().rev().any(is_its)
        };
        let _ = self.progress.subscribe().wait_for(is_known).await;
    }

    fn has_begun(&self) -> bool {
        self.progress.borrow().records > 0
    }

    fn has_ended(&self) -> bool {
        self.progress.borrow().has_ended
    }

    pub(crate) fn was_stopped_by_person(&self) -> bool {
        self.stopped_by_person.load(Ordering::Acquire)
    }
}

/// An event of a log as a line of JSON, as `--events` prints it. It is kept as streams send it, and clones share the bytes, so that
/// a watcher costs next to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    pub seq: u64,
    frame: Bytes,
}

impl LogLine {
    fn new(seq: u64, body: &str, hash: &str) -> Self {
        let frame = format!("{}{}{FRAME_END}", frame_start(seq), log_line(body, hash));
        Self { seq, frame: frame.into() }
    }

    /// The line.
    pub fn text(&self) -> &str {
        let frame = std::str::from_utf8(&self.frame).unwrap_or_default();
        let line = frame.strip_prefix(&frame_start(self.seq)).and_then(|rest| rest.strip_suffix(FRAME_END));
        line.unwrap_or_default()
    }

    /// The line as a server-sent event.
    pub fn frame(&self) -> Bytes {
        self.frame.clone()
    }
}

const FRAME_END: &str = "\n\n";

fn frame_start(seq: u64) -> String {
    format!("event: record\nid: {seq}\ndata: ")
}

/// Follows the log of one debate, whoever runs it.
pub struct LogFollower {
    host: DebateHost,
    id: String,
    next_seq: u64,
}

impl LogFollower {
    /// Follows a debate from this event on.
    pub(super) fn new(host: DebateHost, id: &str, next_seq: u64) -> Self {
        Self { host, id: id.to_owned(), next_seq }
    }

    /// The next events: at least one. `None` when the debate is over and there are no more. Safe to drop and call again.
    pub async fn next_lines(&mut self) -> Result<Option<Vec<LogLine>>, HostError> {
        loop {
            let run = self.host.run_of(&self.id);
            let first = usize::try_from(self.next_seq).unwrap_or(usize::MAX);
            if let Some(run) = &run {
                let lines = run.lines_from(first);
                if !lines.is_empty() {
                    self.next_seq += lines.len() as u64;
                    return Ok(Some(lines));
                }
                // A run that waits for a place has no records yet. Those of the store are all there are.
                if run.has_begun() && !run.has_ended() {
                    run.more_than(first).await;
                    continue;
                }
            }
            let (id, first) = (self.id.clone(), self.next_seq);
            let stored = self.host.read_store(move |store| {
                // The state is read first: a debate that closes in between has its last events in the log.
                let listed = store.listed_debate(&id)?;
                Ok((listed, store.raw_log_from(&id, first, LINES_AT_ONCE)?))
            });
            let (listed, raw) = stored.await?;
            if !raw.is_empty() {
                let numbered = (self.next_seq..).zip(&raw);
                let lines = numbered.map(|(seq, (body, hash))| LogLine::new(seq, body, hash)).collect();
                self.next_seq += raw.len() as u64;
                return Ok(Some(lines));
            }
            if !matches!(listed.status.as_str(), "running" | "interrupted") {
                return Ok(None);
            }
            match run {
                Some(run) if !run.has_ended() => run.more_than(0).await,
                _ => tokio::time::sleep(POLL_EVERY).await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use agon_core::event::LogEntry;
    use serde_json::json;

    use super::*;

    fn asked(seq: u64, asks: &[u32]) -> Arc<LogRecord> {
        let asks: Vec<_> = asks
            .iter()
            .map(|id| json!({"id": id, "seat": "debater-1", "model": "caller", "prompt": ""}))
            .collect();
        let event =
            json!({"seq": seq, "at_ms": 0, "event": "asked", "phase": "answer", "round": 0, "asks": asks});
        let entry: LogEntry = serde_json::from_value(event).unwrap();
        Arc::new(LogRecord { entry, body: String::new(), hash: String::new() })
    }

    /// A seat is asked as soon as the event is stored, which may be before this process has read it: an answer that comes then must not
    /// be refused.
    #[tokio::test]
    async fn an_answer_waits_until_the_log_has_its_ask() {
        let run = Arc::new(HostedRun::new("d1", false, 0));
        let waiting = tokio::spawn({
            let run = run.clone();
            async move { run.has_asked(3).await }
        });
        run.add(asked(1, &[1, 2]));
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        run.add(asked(2, &[3]));
        waiting.await.unwrap();
        run.has_asked(1).await;
        run.end(None);
        run.has_asked(99).await;
    }
}
