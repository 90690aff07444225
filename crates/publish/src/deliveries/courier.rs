//! One run: takes what is due, brings it, waits for what can be tried again in time.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::time::Instant;

use crate::deliveries::carrier::Carrier;
use crate::deliveries::config::DestinationConfig;
use crate::deliveries::destination::shown;
use crate::deliveries::hooks::HookConfig;
use crate::deliveries::outbox::{Outbox, Parcel, Render};
use crate::deliveries::policy::{self, AT_ONCE, ATTEMPTS_MAX};

/// Brings what is due.
pub struct Courier {
    outbox: Arc<dyn Outbox>,
    carrier: Arc<dyn Carry>,
    seed: u64,
}

/// Reads an environment variable.
pub type Env = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// The clock: seconds since 1970.
pub type Clock<'a> = &'a (dyn Fn() -> i64 + Send + Sync);

/// What a courier goes by.
#[derive(Clone)]
pub struct Settings {
    /// `[destinations.NAME]`.
    pub destinations: BTreeMap<String, DestinationConfig>,
    /// `[[hooks]]`.
    pub hooks: Vec<HookConfig>,
    /// Reads an environment variable.
    pub env: Env,
    /// Where paths begin that are not absolute.
    pub folder: PathBuf,
    /// Whether a callback was promised a signature: then none is sent without.
    pub signed: bool,
    /// For the spread of the pauses between attempts.
    pub seed: u64,
}

/// How a run went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// What was delivered.
    pub delivered: Vec<Told>,
    /// What was not and is tried again in a later run.
    pub later: Vec<Told>,
    /// What was given up.
    pub dead: Vec<Told>,
    /// What went wrong with the outbox itself: what it does not know of is delivered once more.
    pub troubles: Vec<String>,
}

/// What became of a delivery in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Its number in the outbox.
    pub id: i64,
    /// The debate.
    pub debate: String,
    /// Where it goes, without what is secret.
    pub destination: String,
    /// What a person should know: why it was not delivered, or how.
    pub note: Option<String>,
}

/// How one attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Carried {
    Done {
        note: Option<String>,
    },
    /// There was nothing to do for an outcome like this.
    PassedOver,
    Later {
        why: String,
        retry_after: Option<Duration>,
    },
    Dead {
        why: String,
    },
}

/// Who makes the attempts.
pub(crate) trait Carry: Send + Sync {
    /// Makes one. Dropping the future abandons it.
    fn carry<'a>(&'a self, parcel: &'a Parcel, now_s: i64) -> BoxFuture<'a, Carried>;
}

impl Courier {
    /// A courier for this outbox.
    pub fn new(outbox: Arc<dyn Outbox>, render: Arc<dyn Render>, settings: Settings) -> Self {
        let seed = settings.seed;
        Self::with(outbox, Arc::new(Carrier::new(render, settings)), seed)
    }

    pub(crate) fn with(outbox: Arc<dyn Outbox>, carrier: Arc<dyn Carry>, seed: u64) -> Self {
        Self { outbox, carrier, seed }
    }

    /// Brings everything that is due, and what becomes due again before the deadline.
    /// At the deadline what is under way is broken off and tried again in a later run. The future may be dropped at any time.
    pub async fn deliver(&self, now: Clock<'_>, deadline: Duration) -> Report {
        let end = Instant::now() + deadline;
        let mut run = Run { courier: self, now, end, later: BTreeMap::new(), report: Report::default() };
        let mut under_way = FuturesUnordered::new();
        loop {
            for parcel in run.take(AT_ONCE.saturating_sub(under_way.len())).await {
                under_way.push(self.bring(parcel, now, end));
            }
            // With no room for it, what is due again has to wait for somebody to come back.
            let again = run.again().filter(|_| under_way.len() < AT_ONCE);
            tokio::select! {
                Some(settled) = under_way.next() => run.settle(settled),
                () = tokio::time::sleep_until(again.unwrap_or(end)), if again.is_some() => {}
                else => break,
            }
        }
        run.told()
    }

    /// Makes one attempt and writes down how it ended.
    async fn bring(&self, parcel: Parcel, now: Clock<'_>, end: Instant) -> Settled {
        let carried = if parcel.attempts >= ATTEMPTS_MAX {
            Carried::Dead { why: format!("{ATTEMPTS_MAX} attempts were begun, and the last was cut off") }
        } else {
            let attempt = self.carrier.carry(&parcel, now());
            tokio::time::timeout_at(end, attempt).await.unwrap_or_else(|_| Carried::Later {
                why: "there was no more time for it in that run".into(),
                retry_after: None,
            })
        };
        let fate = self.fate(&parcel, carried, now());
        let (id, outbox, written) = (parcel.id, Arc::clone(&self.outbox), fate.clone());
        let trouble = aside(move || match written {
            Fate::Delivered { .. } | Fate::PassedOver => outbox.done(id),
            Fate::Later { why, next_at_s } => outbox.failed(id, &why, Some(next_at_s)),
            Fate::Dead { why } => outbox.failed(id, &why, None),
        });
        let trouble = trouble.await.err();
        Settled { parcel, fate, trouble }
    }

    fn fate(&self, parcel: &Parcel, carried: Carried, now_s: i64) -> Fate {
        let attempts = parcel.attempts.saturating_add(1);
        match carried {
            Carried::Done { note } => Fate::Delivered { note },
            Carried::PassedOver => Fate::PassedOver,
            Carried::Dead { why } => Fate::Dead { why },
            Carried::Later { why, retry_after } => {
                match policy::pause(attempts, retry_after, self.seed, parcel.id) {
                    Some(pause) => {
                        let pause_s = i64::try_from(pause.as_secs()).unwrap_or(i64::MAX);
                        Fate::Later { why, next_at_s: now_s.saturating_add(pause_s) }
                    }
                    None => {
                        Fate::Dead { why: format!("{why}; that was attempt {attempts} of {ATTEMPTS_MAX}") }
                    }
                }
            }
        }
    }
}

impl fmt::Debug for Courier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Courier").field("seed", &self.seed).finish_non_exhaustive()
    }
}

impl Settings {
    /// Nothing configured and nothing set: what is written out whole can be reached, unsigned.
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

    /// A variable that is set to something.
    pub(crate) fn read(&self, variable: &str) -> Option<String> {
        (self.env)(variable).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { destinations, hooks, folder, signed, seed, .. } = self;
        f.debug_struct("Settings")
            .field("destinations", destinations)
            .field("hooks", hooks)
            .field("folder", folder)
            .field("signed", signed)
            .field("seed", seed)
            .finish_non_exhaustive()
    }
}

/// What is written down of an attempt.
#[derive(Debug, Clone)]
enum Fate {
    Delivered { note: Option<String> },
    PassedOver,
    Later { why: String, next_at_s: i64 },
    Dead { why: String },
}

struct Settled {
    parcel: Parcel,
    fate: Fate,
    trouble: Option<String>,
}

struct Run<'a> {
    courier: &'a Courier,
    now: Clock<'a>,
    end: Instant,
    /// What failed in this run and is due again at that second.
    later: BTreeMap<i64, (i64, Told)>,
    report: Report,
}

impl Run<'_> {
    /// Takes what is due, so much that each can be brought at once.
    async fn take(&mut self, room: usize) -> Vec<Parcel> {
        if room == 0 || Instant::now() >= self.end {
            return Vec::new();
        }
        let (outbox, now_s) = (Arc::clone(&self.courier.outbox), (self.now)());
        let due = aside(move || outbox.due(now_s, room)).await;
        // What was due by then is taken, here or by another; it is not waited for again.
        for (next_at_s, _) in self.later.values_mut().filter(|(next_at_s, _)| *next_at_s <= now_s) {
            *next_at_s = i64::MAX;
        }
        due.unwrap_or_else(|why| {
            self.report.troubles.push(why);
            Vec::new()
        })
    }

    /// The moment at which something is due again, if that is before the end.
    fn again(&self) -> Option<Instant> {
        let next_at_s = self.later.values().map(|(next_at_s, _)| *next_at_s).min()?;
        let wait_s = u64::try_from(next_at_s.saturating_sub((self.now)())).unwrap_or_default();
        let moment = Instant::now().checked_add(Duration::from_secs(wait_s))?;
        (moment < self.end).then_some(moment)
    }

    fn settle(&mut self, Settled { parcel, fate, trouble }: Settled) {
        self.report.troubles.extend(trouble);
        self.later.remove(&parcel.id);
        let destination = shown(&parcel.destination);
        let Parcel { id, debate, .. } = parcel;
        let told = |note| Told { id, debate, destination, note };
        match fate {
            Fate::PassedOver => {}
            Fate::Delivered { note } => self.report.delivered.push(told(note)),
            Fate::Dead { why } => self.report.dead.push(told(Some(why))),
            Fate::Later { why, next_at_s } => {
                self.later.insert(id, (next_at_s, told(Some(why))));
            }
        }
    }

    fn told(mut self) -> Report {
        self.report.later = self.later.into_values().map(|(_, told)| told).collect();
        self.report
    }
}

/// Work that blocks, on a thread where that is no harm.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err("it broke off; run `agon doctor` to see whether the store is sound".into()))
}

#[cfg(test)]
mod simulation;
