//! Where a result goes besides the terminal: what is bound to a debate before it is opened, and who brings it when it is over.
//!
//! A delivery is kept with everything that it needs as it was configured when it was bound, so that a later run, under another
//! configuration or in another folder, brings the same thing to the same place or leaves it alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agon_core::Debate;
use agon_core::event::open_all;
use agon_publish::deliveries::signature::CALLBACK_SECRET;
use agon_publish::deliveries::{
    Courier, Destination, DestinationConfig, Format, HookConfig, Outbox, Parcel, Render, Report, Settings,
    Told, hooks_for,
};
use agon_report::Style;
use agon_store::{Delivery, DeliveryState, NewDelivery, Next, Sqlite};
use clap::{Arg, ArgAction, ArgMatches};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::config::Config;
use super::failure::Failure;
use super::{clock, output, show, signals};

/// How long a debate that is over waits for its result to arrive; what takes longer is brought by `agon deliver`.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// So many are on their way at once.
const AT_ONCE: usize = 8;
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
    slips: Vec<String>,
}

/// A delivery as it is kept: where to, and all that this means.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct Slip {
    to: String,
    /// Where it was bound: relative paths begin there, and programs run there.
    folder: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    destination: Option<DestinationConfig>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hook: Option<HookConfig>,
    /// Whether there was a secret to sign it with; it is then never sent without.
    #[serde(default)]
    signed: bool,
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
        let mut slips = Vec::new();
        for destination in &destinations {
            let slip = Slip::new(destination, &folder, config);
            let slip = serde_json::to_string(&slip)
                .map_err(|why| Failure::System(format!("a delivery cannot be written: {why}")))?;
            // Whoever names a place twice means it once.
            if !slips.contains(&slip) {
                slips.push(slip);
            }
        }
        Ok(Self { slips })
    }

    /// Keeps them with the store, so that they survive whatever happens to this process.
    pub async fn bind(&self, store: &Sqlite, id: &str) -> Result<(), Failure> {
        if self.slips.is_empty() {
            return Ok(());
        }
        let created_s = now_s();
        let new = |slip: &String| NewDelivery { destination: slip.clone(), created_s };
        store.deliveries_bind(id, self.slips.iter().map(new).collect()).await?;
        Ok(())
    }
}

impl Slip {
    fn new(to: &Destination, folder: &Path, config: &Config) -> Self {
        let named = |name: &str| config.destinations.get(name).map(|to| to.clone().anchored(folder));
        let destination = match to {
            Destination::Named(name) | Destination::Command(name) => named(name),
            _ => None,
        };
        let hook = match to {
            Destination::Hook(key) => config.hooks.iter().find(|hook| hook.key() == *key).cloned(),
            _ => None,
        };
        // A hook may name a destination.
        let destination = destination
            .or_else(|| hook.as_ref().and_then(|hook| named(hook.webhook.as_deref().unwrap_or_default())));
        let hook = hook.map(|hook| hook.anchored(folder));
        // A hook is known by what it says, and it says now where its folder is.
        let to = hook.as_ref().map_or_else(|| to.clone(), |hook| Destination::Hook(hook.key()));
        let signed = std::env::var_os(CALLBACK_SECRET).is_some();
        Self { to: to.stored(), folder: folder.to_owned(), destination, hook, signed }
    }

    /// What a kept delivery says.
    fn of(delivery: &Delivery) -> Option<Self> {
        serde_json::from_str(&delivery.destination).ok()
    }

    /// Where it goes, without what is secret.
    fn shown(&self) -> String {
        Destination::read(&self.to).map_or_else(|_| UNREADABLE.to_owned(), |to| to.to_string())
    }

    /// The first variable that it needs and that is not set here.
    fn lacks(&self) -> Option<String> {
        let (to, settings) = (Destination::read(&self.to).ok()?, self.settings());
        let mut needed = to.variables(&settings).into_iter();
        needed.find(|variable| std::env::var_os(variable).is_none()).map(str::to_owned)
    }

    fn settings(&self) -> Settings {
        let name = match Destination::read(&self.to) {
            Ok(Destination::Named(name) | Destination::Command(name)) => Some(name),
            _ => self.hook.as_ref().and_then(|hook| hook.webhook.clone()),
        };
        let destinations: BTreeMap<String, DestinationConfig> =
            name.zip(self.destination.clone()).into_iter().collect();
        Settings {
            destinations,
            hooks: self.hook.clone().into_iter().collect(),
            env: Arc::new(|name| std::env::var(name).ok()),
            folder: self.folder.clone(),
            seed: u64::from(std::process::id()),
            signed: self.signed,
        }
    }
}

const UNREADABLE: &str = "an address that cannot be read";

/// Where a delivery goes, without what is secret.
pub fn place(delivery: &Delivery) -> String {
    Slip::of(delivery).map_or_else(|| UNREADABLE.to_owned(), |slip| slip.shown())
}

/// Brings what is due, of one debate or of all. Stops when somebody wants this process to end: what is on its way is on the disk.
pub async fn deliver(store: &Sqlite, debate: Option<&str>, patience: Duration) -> Report {
    let ours: Vec<i64> = due(store, debate).unwrap_or_default().iter().map(|delivery| delivery.id).collect();
    tokio::select! {
        report = bring(store, debate, patience) => report,
        _ = signals::asked_to_end() => {
            let mut report = Report::default();
            report.troubles.push("stopped: `agon deliver` brings what has not arrived".into());
            // What was on its way is given back, so that nobody waits for a claim to lapse.
            let claimed = store.deliveries(Some(DeliveryState::Sending)).unwrap_or_default();
            for delivery in claimed.iter().filter(|delivery| ours.contains(&delivery.id)) {
                drop(store.delivery_failed(delivery.id, "it was stopped on its way", Next::At(now_s())).await);
            }
            report
        }
    }
}

async fn bring(store: &Sqlite, debate: Option<&str>, patience: Duration) -> Report {
    let mut report = Report::default();
    let mut waiting = match due(store, debate) {
        Ok(due) => due.into_iter(),
        Err(why) => {
            report.troubles.push(why.to_string());
            return report;
        }
    };
    let mut under_way = JoinSet::new();
    loop {
        while under_way.len() < AT_ONCE
            && let Some(delivery) = waiting.next()
        {
            let Some(slip) = Slip::of(&delivery) else { continue };
            if let Some(variable) = slip.lacks() {
                report.later.push(Told {
                    id: delivery.id,
                    debate: delivery.debate,
                    destination: slip.shown(),
                    note: Some(format!("it needs {variable}, which is not set here")),
                });
                continue;
            }
            let office = Arc::new(Office {
                store: store.clone(),
                runtime: Handle::current(),
                id: delivery.id,
                to: slip.to.clone(),
            });
            let courier = Courier::new(office.clone(), office, slip.settings());
            under_way.spawn(async move { courier.deliver(&now_s, patience).await });
        }
        let Some(ended) = under_way.join_next().await else { break };
        let Ok(Report { delivered, later, dead, troubles }) = ended else { continue };
        report.delivered.extend(delivered);
        report.later.extend(later);
        report.dead.extend(dead);
        report.troubles.extend(troubles);
    }
    report
}

/// What could be sent now, the oldest first; to look is no write.
fn due(store: &Sqlite, debate: Option<&str>) -> Result<Vec<Delivery>, agon_engine::StoreError> {
    let mut due = store.deliveries(Some(DeliveryState::Due))?;
    due.extend(store.deliveries(Some(DeliveryState::Sending))?);
    due.retain(|delivery| delivery.next_s <= now_s() && debate.is_none_or(|id| delivery.debate == id));
    due.sort_by_key(|delivery| delivery.id);
    Ok(due)
}

/// What a person should know of how it went.
pub fn tell(report: &Report, quiet: bool) {
    let line = |told: &Told, what: &str| {
        let note = told.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
        output::note(&agon_report::clean(&format!("{what} {}{note}", told.destination)));
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

/// The store as an outbox of one delivery, and as what its debate is rendered from.
struct Office {
    store: Sqlite,
    runtime: Handle,
    id: i64,
    to: String,
}

impl Outbox for Office {
    fn due(&self, now_s: i64, _: usize) -> Result<Vec<Parcel>, String> {
        let claimed = self.runtime.block_on(self.store.delivery_claim(self.id, now_s));
        // The store counts the claim that it has just made.
        let parcel = |Delivery { id, debate, attempts, .. }| Parcel {
            id,
            debate,
            destination: self.to.clone(),
            attempts: u32::saturating_sub(attempts, 1),
        };
        claimed.map(|claimed| claimed.map(parcel).into_iter().collect()).map_err(|why| why.to_string())
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
