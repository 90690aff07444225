//! One run: takes what is due, makes the attempts, and waits for retries that fit into the time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::time::Instant;

use super::attempt::{AttemptResult, DeliveryAttempts, DeliverySender};
use super::config::{DestinationConfig, HookConfig};
use super::destination::shown_destination;
use super::outbox::{DueDelivery, Outbox, OutcomeRenderer};
use super::retry_policy::{ATTEMPTS_MAX, CONCURRENT_ATTEMPTS_MAX, pause};

/// Makes the deliveries of an outbox that are due.
pub struct DeliveryRunner {
    outbox: Arc<dyn Outbox>,
    attempts: Arc<dyn DeliveryAttempts>,
    seed: u64,
}

/// Reads an environment variable.
pub type EnvReader = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// The clock, in seconds since 1970.
pub type UnixClock<'a> = &'a (dyn Fn() -> i64 + Send + Sync);

/// The configuration and the environment of deliveries.
#[derive(Clone)]
pub struct DeliverySettings {
    /// `[destinations.NAME]`.
    pub destinations: BTreeMap<String, DestinationConfig>,
    /// `[[hooks]]`.
    pub hooks: Vec<HookConfig>,
    /// Reads an environment variable.
    pub env: EnvReader,
    /// Where relative paths start.
    pub folder: PathBuf,
    /// Whether a secret was set when the deliveries were bound. If so, no callback is sent without a signature.
    pub signed: bool,
    /// Seeds the spread of the pauses between attempts.
    pub seed: u64,
}

/// What a run did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliveryReport {
    pub delivered: Vec<ReportedDelivery>,
    /// Failed, and tried again in a later run.
    pub later: Vec<ReportedDelivery>,
    /// Failed for good.
    pub dead: Vec<ReportedDelivery>,
    /// Errors of the outbox itself. A delivery that it could not record as done is made once more.
    pub troubles: Vec<String>,
}

/// One delivery in a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedDelivery {
    /// Its number in the outbox.
    pub id: i64,
    /// The debate.
    pub debate: String,
    /// Where it goes, without secrets.
    pub destination: String,
    /// Why it failed, or what else a person should know.
    pub note: Option<String>,
}

impl DeliveryRunner {
    /// A runner for this outbox.
    pub fn new(
        outbox: Arc<dyn Outbox>,
        renderer: Arc<dyn OutcomeRenderer>,
        settings: DeliverySettings,
    ) -> Self {
        let seed = settings.seed;
        Self { outbox, attempts: Arc::new(DeliverySender::new(renderer, settings)), seed }
    }

    /// Makes everything that is due, and what becomes due again before the deadline. At the deadline, running attempts
    /// are abandoned and tried again in a later run. The future may be dropped at any time.
    pub async fn deliver(&self, now: UnixClock<'_>, deadline: Duration) -> DeliveryReport {
        let end = Instant::now() + deadline;
        let mut run =
            DeliveryRun { runner: self, now, end, later: BTreeMap::new(), report: DeliveryReport::default() };
        let mut running = FuturesUnordered::new();
        loop {
            for delivery in run.take_due(CONCURRENT_ATTEMPTS_MAX.saturating_sub(running.len())).await {
                running.push(self.attempt_and_record(delivery, now, end));
            }
            // If no slot is free, retries wait until one is.
            let retry_at = run.next_retry().filter(|_| running.len() < CONCURRENT_ATTEMPTS_MAX);
            tokio::select! {
                Some(ended) = running.next() => run.add_to_report(ended),
                () = tokio::time::sleep_until(retry_at.unwrap_or(end)), if retry_at.is_some() => {}
                else => break,
            }
        }
        run.report.later = run.later.into_values().map(|retry| retry.reported).collect();
        run.report
    }

    async fn attempt_and_record(
        &self,
        delivery: DueDelivery,
        now: UnixClock<'_>,
        end: Instant,
    ) -> EndedAttempt {
        let result = if delivery.attempts >= ATTEMPTS_MAX {
            AttemptResult::Dead {
                why: format!("{ATTEMPTS_MAX} attempts were started, and the last was cut off"),
            }
        } else {
            let attempt = self.attempts.attempt(&delivery, now());
            let late = |_| AttemptResult::retry("the run ended before the attempt did");
            tokio::time::timeout_at(end, attempt).await.unwrap_or_else(late)
        };
        let state = self.next_state(&delivery, result, now());
        let (id, outbox, recorded) = (delivery.id, Arc::clone(&self.outbox), state.clone());
        let recording = run_blocking(move || match recorded {
            AttemptRecord::Delivered { .. } | AttemptRecord::Skipped => outbox.done(id),
            AttemptRecord::Retry { why, next_at_s } => outbox.failed(id, &why, Some(next_at_s)),
            AttemptRecord::Dead { why } => outbox.failed(id, &why, None),
        });
        let outbox_error = recording.await.err();
        EndedAttempt { delivery, state, outbox_error }
    }

    fn next_state(&self, delivery: &DueDelivery, result: AttemptResult, now_s: i64) -> AttemptRecord {
        let attempts = delivery.attempts.saturating_add(1);
        match result {
            AttemptResult::Done { note } => AttemptRecord::Delivered { note },
            AttemptResult::Skipped => AttemptRecord::Skipped,
            AttemptResult::Dead { why } => AttemptRecord::Dead { why },
            AttemptResult::Retry { why, retry_after } => {
                match pause(attempts, retry_after, self.seed, delivery.id) {
                    Some(pause) => {
                        let pause_s = i64::try_from(pause.as_secs()).unwrap_or(i64::MAX);
                        AttemptRecord::Retry { why, next_at_s: now_s.saturating_add(pause_s) }
                    }
                    None => {
                        let why = format!("{why}; that was attempt {attempts} of {ATTEMPTS_MAX}");
                        AttemptRecord::Dead { why }
                    }
                }
            }
        }
    }
}

impl DeliverySettings {
    /// No configuration and no variables: only destinations that need neither can be reached.
    pub fn new(folder: &Path) -> Self {
        Self {
            destinations: BTreeMap::new(),
            hooks: Vec::new(),
            env: Arc::new(|_| None),
            folder: folder.to_owned(),
            signed: false,
            seed: 0,
        }
    }

    /// The value of an environment variable, if it is set and not empty.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        (self.env)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }
}

/// What the outbox records about an attempt.
#[derive(Debug, Clone)]
enum AttemptRecord {
    Delivered { note: Option<String> },
    Skipped,
    Retry { why: String, next_at_s: i64 },
    Dead { why: String },
}

struct EndedAttempt {
    delivery: DueDelivery,
    state: AttemptRecord,
    outbox_error: Option<String>,
}

/// A failed delivery that is due again at a later second.
struct PendingRetry {
    next_at_s: i64,
    reported: ReportedDelivery,
}

struct DeliveryRun<'a> {
    runner: &'a DeliveryRunner,
    now: UnixClock<'a>,
    end: Instant,
    /// By the number of the delivery.
    later: BTreeMap<i64, PendingRetry>,
    report: DeliveryReport,
}

impl DeliveryRun<'_> {
    /// Takes as many due deliveries as there are free slots.
    async fn take_due(&mut self, slots: usize) -> Vec<DueDelivery> {
        if slots == 0 || Instant::now() >= self.end {
            return Vec::new();
        }
        let (outbox, now_s) = (Arc::clone(&self.runner.outbox), (self.now)());
        let due = run_blocking(move || outbox.due(now_s, slots)).await;
        // What was due by now was taken by this run or by another process, so this run no longer waits for it.
        for retry in self.later.values_mut().filter(|retry| retry.next_at_s <= now_s) {
            retry.next_at_s = i64::MAX;
        }
        due.unwrap_or_else(|why| {
            self.report.troubles.push(why);
            Vec::new()
        })
    }

    /// When the next retry is due, if that is before the end of the run.
    fn next_retry(&self) -> Option<Instant> {
        let next_at_s = self.later.values().map(|retry| retry.next_at_s).min()?;
        let wait_s = u64::try_from(next_at_s.saturating_sub((self.now)())).unwrap_or_default();
        let moment = Instant::now().checked_add(Duration::from_secs(wait_s))?;
        (moment < self.end).then_some(moment)
    }

    fn add_to_report(&mut self, EndedAttempt { delivery, state, outbox_error }: EndedAttempt) {
        self.report.troubles.extend(outbox_error);
        self.later.remove(&delivery.id);
        let destination = shown_destination(&delivery.destination);
        let DueDelivery { id, debate, .. } = delivery;
        let reported = |note| ReportedDelivery { id, debate, destination, note };
        match state {
            AttemptRecord::Skipped => {}
            AttemptRecord::Delivered { note } => self.report.delivered.push(reported(note)),
            AttemptRecord::Dead { why } => self.report.dead.push(reported(Some(why))),
            AttemptRecord::Retry { why, next_at_s } => {
                self.later.insert(id, PendingRetry { next_at_s, reported: reported(Some(why)) });
            }
        }
    }
}

/// Runs work that blocks on a thread for it.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err("an internal error occurred: run `agon doctor` to check the store".into()))
}

#[cfg(test)]
mod simulation;
