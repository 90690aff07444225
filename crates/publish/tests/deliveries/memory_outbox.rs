//! An outbox in memory, a debate, and a runner for both.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_core::Status;
use agon_publish::deliveries::{
    ChatSummary, DeliveredOutcome, DeliveryReport, DeliveryRunner, DeliverySettings, DestinationConfig,
    DueDelivery, HookConfig, Outbox, OutcomeRenderer, ReportFormat, check_config,
};
use serde::Deserialize;
use serde_json::json;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoredState {
    Due { at_s: i64 },
    Sending,
    Done,
    Dead,
}

#[derive(Debug, Clone)]
pub(crate) struct StoredDelivery {
    pub(crate) delivery: DueDelivery,
    pub(crate) state: StoredState,
    pub(crate) error: String,
}

#[derive(Debug, Default)]
pub(crate) struct MemoryOutbox(Mutex<Vec<StoredDelivery>>);

impl Outbox for MemoryOutbox {
    fn due(&self, now_s: i64, limit: usize) -> Result<Vec<DueDelivery>, String> {
        let mut stored = self.0.lock().unwrap();
        let due = stored
            .iter_mut()
            .filter(|stored| matches!(stored.state, StoredState::Due { at_s } if at_s <= now_s));
        let take = |stored: &mut StoredDelivery| {
            stored.state = StoredState::Sending;
            let delivery = stored.delivery.clone();
            stored.delivery.attempts += 1;
            delivery
        };
        Ok(due.take(limit).map(take).collect())
    }

    fn done(&self, id: i64) -> Result<(), String> {
        self.0.lock().unwrap()[id as usize].state = StoredState::Done;
        Ok(())
    }

    fn failed(&self, id: i64, error: &str, next_at_s: Option<i64>) -> Result<(), String> {
        let stored = &mut self.0.lock().unwrap()[id as usize];
        stored.state = next_at_s.map_or(StoredState::Dead, |at_s| StoredState::Due { at_s });
        stored.error = error.to_owned();
        Ok(())
    }
}

/// Renders debates that ended with this status.
struct FixedOutcome(Status);

impl OutcomeRenderer for FixedOutcome {
    fn outcome(&self, debate: &str) -> Result<DeliveredOutcome, String> {
        let (status, question) = (self.0, "Which <one>?");
        let answer = match debate {
            "gone" => return Err("there is no debate gone".into()),
            "big" => "x".repeat(1 << 20),
            _ => "This one, @here.".to_owned(),
        };
        let document = json!({
            "id": debate, "protocol": "arena", "question": question, "status": status,
            "headline": {"answer": answer},
        });
        let summary = ChatSummary {
            question: question.into(),
            answer: Some(answer),
            ending: format!("arena \u{b7} {}", status.as_str()),
            id: debate.into(),
            ..ChatSummary::default()
        };
        Ok(DeliveredOutcome { status, summary, document })
    }

    fn text(&self, debate: &str, format: ReportFormat) -> Result<String, String> {
        Ok(format!("{debate} as {format:?}"))
    }
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ConfigFile {
    destinations: BTreeMap<String, DestinationConfig>,
    hooks: Vec<HookConfig>,
}

/// The settings for this `agon.toml` and these environment variables.
pub(crate) fn settings(
    toml: &str,
    folder: &Path,
    env: &'static [(&'static str, &'static str)],
) -> DeliverySettings {
    let ConfigFile { destinations, hooks } = toml::from_str(toml).unwrap();
    check_config(&destinations, &hooks).unwrap();
    let read = |name: &str| env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    DeliverySettings { destinations, hooks, env: Arc::new(read), ..DeliverySettings::new(folder) }
}

/// An outbox, a runner and a clock that stands still.
pub(crate) struct DeliveryBench {
    pub(crate) outbox: Arc<MemoryOutbox>,
    runner: DeliveryRunner,
    pub(crate) now_s: i64,
}

impl DeliveryBench {
    pub(crate) fn new(toml: &str, folder: &Path, env: &'static [(&'static str, &'static str)]) -> Self {
        Self::with_status(Status::Complete, toml, folder, env)
    }

    pub(crate) fn with_status(
        status: Status,
        toml: &str,
        folder: &Path,
        env: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self::with_settings(status, settings(toml, folder, env))
    }

    pub(crate) fn with_settings(status: Status, settings: DeliverySettings) -> Self {
        let outbox = Arc::new(MemoryOutbox::default());
        let runner = DeliveryRunner::new(outbox.clone(), Arc::new(FixedOutcome(status)), settings);
        Self { outbox, runner, now_s: 1_000 }
    }

    /// Adds a delivery that is due now.
    pub(crate) fn add(&self, debate: &str, destination: &str) -> usize {
        let mut stored = self.outbox.0.lock().unwrap();
        let id = stored.len();
        let delivery = DueDelivery {
            id: id as i64,
            debate: debate.into(),
            destination: destination.into(),
            attempts: 0,
        };
        stored.push(StoredDelivery { delivery, state: StoredState::Due { at_s: 0 }, error: String::new() });
        id
    }

    /// Makes one attempt at each due delivery. It does not wait for retries and then returns no report.
    pub(crate) async fn run(&self) -> Option<DeliveryReport> {
        let now_s = self.now_s;
        let settled = async {
            let open = |stored: &StoredDelivery| match stored.state {
                StoredState::Due { at_s } => at_s <= now_s,
                StoredState::Sending => true,
                StoredState::Done | StoredState::Dead => false,
            };
            while self.outbox.0.lock().unwrap().iter().any(open) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        let now = move || now_s;
        tokio::select! {
            report = self.runner.deliver(&now, Duration::from_secs(60)) => Some(report),
            () = settled => None,
        }
    }

    /// One run with a running clock.
    pub(crate) async fn run_until(&self, deadline: Duration) -> DeliveryReport {
        let (start, now_s) = (std::time::Instant::now(), self.now_s);
        let now = move || now_s + start.elapsed().as_secs() as i64;
        self.runner.deliver(&now, deadline).await
    }

    pub(crate) fn stored(&self, id: usize) -> StoredDelivery {
        self.outbox.0.lock().unwrap()[id].clone()
    }

    /// One delivery after one attempt.
    pub(crate) async fn try_once(&self, destination: &str) -> StoredDelivery {
        let id = self.add("d-1", destination);
        self.run().await;
        self.stored(id)
    }
}
