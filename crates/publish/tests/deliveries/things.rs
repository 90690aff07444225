//! An outbox in memory, a debate, and runs over both.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_publish::deliveries::{
    Courier, DestinationConfig, Format, HookConfig, Outbox, Parcel, Render, Report, Settings,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// What became of a parcel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    Due { at_s: i64 },
    Sending,
    Done,
    Dead,
}

#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) parcel: Parcel,
    pub(crate) state: State,
    pub(crate) error: String,
}

/// An outbox in memory.
#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<Vec<Kept>>);

impl Outbox for Memory {
    fn due(&self, now_s: i64, limit: usize) -> Result<Vec<Parcel>, String> {
        let mut kept = self.0.lock().unwrap();
        let due = kept.iter_mut().filter(|kept| matches!(kept.state, State::Due { at_s } if at_s <= now_s));
        let take = |kept: &mut Kept| {
            kept.state = State::Sending;
            let parcel = kept.parcel.clone();
            kept.parcel.attempts += 1;
            parcel
        };
        Ok(due.take(limit).map(take).collect())
    }

    fn done(&self, id: i64) -> Result<(), String> {
        self.0.lock().unwrap()[id as usize].state = State::Done;
        Ok(())
    }

    fn failed(&self, id: i64, error: &str, next_at_s: Option<i64>) -> Result<(), String> {
        let kept = &mut self.0.lock().unwrap()[id as usize];
        kept.state = next_at_s.map_or(State::Dead, |at_s| State::Due { at_s });
        kept.error = error.to_owned();
        Ok(())
    }
}

/// A debate that ended with this status.
pub(crate) struct Debate(pub(crate) &'static str);

impl Render for Debate {
    fn outcome(&self, debate: &str) -> Result<Value, String> {
        match debate {
            "gone" => Err("there is no debate gone".into()),
            "big" => Ok(json!({"id": debate, "status": self.0, "verdict": {"answer": "x".repeat(1 << 20)}})),
            _ => Ok(json!({"id": debate, "protocol": "arena", "question": "Which <one>?", "status": self.0,
                           "verdict": {"answer": "This one, @here."}})),
        }
    }

    fn text(&self, debate: &str, format: Format) -> Result<String, String> {
        Ok(format!("{debate} as {format:?}"))
    }
}

/// What is written in an `agon.toml`.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
struct File {
    destinations: BTreeMap<String, DestinationConfig>,
    hooks: Vec<HookConfig>,
}

/// What an `agon.toml` and these variables come to.
pub(crate) fn settings(toml: &str, folder: &Path, env: &'static [(&'static str, &'static str)]) -> Settings {
    let File { destinations, hooks } = toml::from_str(toml).unwrap();
    agon_publish::deliveries::check(&destinations, &hooks).unwrap();
    let read = |name: &str| env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    Settings { destinations, hooks, env: Arc::new(read), ..Settings::new(folder) }
}

/// An outbox, a courier and a clock that stands still until it is set.
pub(crate) struct Office {
    pub(crate) outbox: Arc<Memory>,
    courier: Courier,
    pub(crate) now_s: i64,
}

impl Office {
    pub(crate) fn new(toml: &str, folder: &Path, env: &'static [(&'static str, &'static str)]) -> Self {
        Self::of("complete", toml, folder, env)
    }

    pub(crate) fn of(
        status: &'static str,
        toml: &str,
        folder: &Path,
        env: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self::with(status, settings(toml, folder, env))
    }

    pub(crate) fn with(status: &'static str, settings: Settings) -> Self {
        let outbox = Arc::new(Memory::default());
        let courier = Courier::new(outbox.clone(), Arc::new(Debate(status)), settings);
        Self { outbox, courier, now_s: 1_000 }
    }

    /// Puts a parcel in, due now.
    pub(crate) fn post(&self, debate: &str, destination: &str) -> usize {
        let mut kept = self.outbox.0.lock().unwrap();
        let id = kept.len();
        let parcel =
            Parcel { id: id as i64, debate: debate.into(), destination: destination.into(), attempts: 0 };
        kept.push(Kept { parcel, state: State::Due { at_s: 0 }, error: String::new() });
        id
    }

    /// One attempt at each parcel that is due at the time of the clock; what is to be tried again is not waited for.
    pub(crate) async fn run(&self) -> Option<Report> {
        let now_s = self.now_s;
        let settled = async {
            let open = |kept: &Kept| match kept.state {
                State::Due { at_s } => at_s <= now_s,
                State::Sending => true,
                State::Done | State::Dead => false,
            };
            while self.outbox.0.lock().unwrap().iter().any(open) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        let now = move || now_s;
        tokio::select! {
            report = self.courier.deliver(&now, Duration::from_secs(60)) => Some(report),
            () = settled => None,
        }
    }

    /// One run with a clock that goes.
    pub(crate) async fn run_on(&self, deadline: Duration) -> Report {
        let (start, now_s) = (std::time::Instant::now(), self.now_s);
        let now = move || now_s + start.elapsed().as_secs() as i64;
        self.courier.deliver(&now, deadline).await
    }

    pub(crate) fn kept(&self, id: usize) -> Kept {
        self.outbox.0.lock().unwrap()[id].clone()
    }

    /// What becomes of one parcel in one attempt, and why.
    pub(crate) async fn once(&self, destination: &str) -> Kept {
        let id = self.post("d-1", destination);
        self.run().await;
        self.kept(id)
    }
}
