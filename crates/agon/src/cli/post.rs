//! Where a result goes besides the terminal: what is bound to a debate before it is opened, and who brings it when it is over.

use std::sync::Arc;
use std::time::Duration;

use agon_core::Debate;
use agon_core::event::open_all;
use agon_courier::{Courier, Destination, Format, Outbox, Parcel, Render, Report, Settings, Told, hooks_for};
use agon_report::Style;
use agon_store::{Delivery, DeliveryState, NewDelivery, Next, Sqlite};
use clap::{Arg, ArgAction, ArgMatches};
use serde_json::Value;
use tokio::runtime::Handle;

use super::config::Config;
use super::failure::Failure;
use super::{clock, output, show};

/// How long a debate that is over waits for its result to arrive; what takes longer is brought by a later run.
pub const PATIENCE: Duration = Duration::from_secs(15);
const TEXT_WIDTH: usize = 80;

/// `--to`.
pub fn to() -> Arg {
    Arg::new("to")
        .long("to")
        .value_name("WHERE")
        .action(ArgAction::Append)
        .help("Also bring the result to a file, https://..., slack:URL, discord:URL, or NAME of [destinations.NAME]")
        .help_heading("Output")
}

/// Where a debate's result goes.
#[derive(Debug, Clone, Default)]
pub struct Bound {
    destinations: Vec<Destination>,
}

impl Bound {
    /// What was said with `--to`, and the hooks of the configuration for this protocol.
    pub fn read(args: &ArgMatches, config: &Config, protocol: &str) -> Result<Self, Failure> {
        let folder = std::env::current_dir()
            .map_err(|why| Failure::System(format!("the working folder cannot be found: {why}")))?;
        let mut destinations = Vec::new();
        for text in args.try_get_many::<String>("to").ok().flatten().into_iter().flatten() {
            let destination = Destination::parse(text, &folder)?;
            config.check_destination(&destination)?;
            destinations.push(destination);
        }
        destinations.extend(hooks_for(&config.hooks, protocol));
        Ok(Self { destinations })
    }

    /// Keeps them with the store, so that they survive whatever happens to this process.
    pub async fn bind(&self, store: &Sqlite, id: &str) -> Result<(), Failure> {
        if self.destinations.is_empty() {
            return Ok(());
        }
        let created_s = now_s();
        let new = |to: &Destination| NewDelivery { destination: to.stored(), created_s };
        store.deliveries_bind(id, self.destinations.iter().map(new).collect()).await?;
        Ok(())
    }
}

/// Brings what is due, this debate's and what earlier ones left.
pub async fn deliver(config: &Config, store: &Sqlite, patience: Duration) -> Report {
    // To look costs nothing; to claim is a write, and most debates have nothing to bring.
    let none = |state| store.deliveries(Some(state)).is_ok_and(|deliveries| deliveries.is_empty());
    if none(DeliveryState::Due) && none(DeliveryState::Sending) {
        return Report::default();
    }
    let office = Arc::new(Office { store: store.clone(), runtime: Handle::current() });
    let settings = Settings {
        destinations: config.destinations.clone(),
        hooks: config.hooks.clone(),
        env: Arc::new(|name| std::env::var(name).ok()),
        folder: std::env::current_dir().unwrap_or_default(),
        seed: u64::from(std::process::id()),
    };
    Courier::new(office.clone(), office, settings).deliver(&now_s, patience).await
}

/// What a person should know of how it went.
pub fn tell(report: &Report, quiet: bool) {
    let line = |told: &Told, what: &str| {
        let note = told.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
        output::note(&format!("{what} {}{note}", told.destination));
    };
    if !quiet {
        report.delivered.iter().for_each(|told| line(told, "brought to"));
    }
    report.later.iter().for_each(|told| line(told, "not yet brought (`agon deliver` tries again) to"));
    report.dead.iter().for_each(|told| line(told, "given up (`agon doctor` lists it): to"));
    report.troubles.iter().for_each(|trouble| output::note(&format!("note: {trouble}")));
}

/// Seconds since 1970, as deliveries count them.
pub fn now_s() -> i64 {
    i64::try_from(clock::now_s()).unwrap_or(i64::MAX)
}

/// The store as an outbox, and as what its debates are rendered from.
struct Office {
    store: Sqlite,
    runtime: Handle,
}

impl Outbox for Office {
    fn due(&self, now_s: i64, limit: usize) -> Result<Vec<Parcel>, String> {
        let due = self.runtime.block_on(self.store.deliveries_due(now_s, limit));
        // The store counts the claim that it has just made.
        let parcel = |Delivery { id, debate, destination, attempts, .. }| Parcel {
            id,
            debate,
            destination,
            attempts: u32::saturating_sub(attempts, 1),
        };
        due.map(|due| due.into_iter().map(parcel).collect()).map_err(|why| why.to_string())
    }

    fn done(&self, id: i64) -> Result<(), String> {
        self.runtime.block_on(self.store.delivery_done(id, now_s())).map_err(|why| why.to_string())
    }

    fn failed(&self, id: i64, error: &str, next_at_s: Option<i64>) -> Result<(), String> {
        let next = next_at_s.map_or(Next::Dead, Next::At);
        self.runtime.block_on(self.store.delivery_failed(id, error, next)).map_err(|why| why.to_string())
    }
}

impl Render for Office {
    fn outcome(&self, debate: &str) -> Result<Value, String> {
        self.debate(debate).map(|debate| show::outcome(&debate))
    }

    fn text(&self, debate: &str, format: Format) -> Result<String, String> {
        let debate = self.debate(debate)?;
        let outcome = show::outcome(&debate);
        match format {
            Format::Json => Ok(format!("{outcome:#}\n")),
            Format::Markdown => Ok(agon_report::markdown(&outcome, &debate)),
            Format::Html => Ok(agon_report::html(&outcome, &debate)),
            Format::Yaml => agon_report::yaml(&outcome).map_err(|why| why.to_string()),
            Format::Text => {
                Ok(agon_report::text(&outcome, &Style { color: false, width: TEXT_WIDTH, unicode: true }))
            }
        }
    }
}

impl Office {
    fn debate(&self, id: &str) -> Result<Debate, String> {
        let raw = self.store.raw(id).map_err(|why| why.to_string())?;
        let records = open_all(raw).map_err(|broken| broken.to_string())?;
        Debate::from_records(&records).map_err(|why| why.to_string())
    }
}
