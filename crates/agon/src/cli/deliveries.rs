//! Where a result goes besides the terminal: `--to` and hooks.
//!
//! Deliveries are bound to a debate before it is opened, and delivered when it is over. A delivery is stored with its
//! whole configuration, so that a later run in another folder or with another `agon.toml` sends the same thing to the same
//! place.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agon_core::Debate;
use agon_engine::StoreError;
use agon_publish::deliveries::{
    CALLBACK_SECRET, DeliveredOutcome, DeliveryReport, DeliveryRunner, DeliverySettings, Destination,
    DestinationConfig, DueDelivery, HookConfig, Outbox, OutcomeRenderer, ReportFormat, ReportedDelivery,
    hooks_for,
};
use agon_report::TerminalStyle;
use agon_store::{AfterFailure, DebateStore, DeliveryState, NewDelivery, StoredDelivery};
use clap::{Arg, ArgAction, ArgMatches};
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::app::DebateHandle;
use super::clock::store_seconds;
use super::configuration::Configuration;
use super::debate_reading::DebateReading;
use super::errors::CliError;
use super::{output, signals};

/// How long the end of a debate waits for its deliveries. `agon deliver` makes those that take longer.
pub const PATIENCE: Duration = Duration::from_secs(10);
const CONCURRENT_DELIVERIES: usize = 8;
const PLAIN_STYLE: TerminalStyle = TerminalStyle { color: false, width: 80, unicode: true };
const UNREADABLE_ADDRESS: &str = "an address that cannot be read";

/// `--to`.
pub fn to_option() -> Arg {
    Arg::new("to")
        .long("to")
        .value_name("WHERE")
        .action(ArgAction::Append)
        .help("Also send the result to file:PATH, https://..., slack:URL, discord:URL, or NAME of [destinations.NAME]")
        .help_heading("Output")
}

/// The deliveries to bind to a debate, as the store keeps them.
#[derive(Debug, Clone, Default)]
pub struct DeliveryBindings {
    stored: Vec<String>,
}

impl DeliveryBindings {
    /// Reads `--to` and the hooks of the configuration for this protocol.
    pub fn read(args: &ArgMatches, configuration: &Configuration, protocol: &str) -> Result<Self, CliError> {
        let folder = working_folder()?;
        let mut destinations = Vec::new();
        for text in args.try_get_many::<String>("to").ok().flatten().into_iter().flatten() {
            let destination = Destination::parse(text, &folder)?;
            configuration.check_destination(&destination)?;
            destinations.push(destination);
        }
        destinations.extend(hooks_for(&configuration.hooks, protocol));
        Self::new(&destinations, &folder, configuration)
    }

    /// Reads only the hooks of the configuration for this protocol.
    pub fn of_hooks(configuration: &Configuration, protocol: &str) -> Result<Self, CliError> {
        let destinations: Vec<Destination> = hooks_for(&configuration.hooks, protocol).into_iter().collect();
        match destinations.is_empty() {
            true => Ok(Self::default()),
            false => Self::new(&destinations, &working_folder()?, configuration),
        }
    }

    fn new(
        destinations: &[Destination],
        folder: &Path,
        configuration: &Configuration,
    ) -> Result<Self, CliError> {
        let mut stored = Vec::new();
        for destination in destinations {
            let bound = serde_json::to_string(&BoundDelivery::new(destination, folder, configuration))
                .map_err(|why| CliError::System(format!("a delivery cannot be written as JSON: {why}")))?;
            // A destination that is named twice is used once.
            if !stored.contains(&bound) {
                stored.push(bound);
            }
        }
        Ok(Self { stored })
    }

    /// Stores the deliveries, so that they survive whatever happens to this process.
    pub async fn bind(&self, store: &DebateStore, debate: &str) -> Result<(), CliError> {
        if self.stored.is_empty() {
            return Ok(());
        }
        let created_s = store_seconds();
        let new = |bound: &String| NewDelivery { destination: bound.clone(), created_s };
        store.deliveries_bind(debate, self.stored.iter().map(new).collect()).await?;
        Ok(())
    }
}

fn working_folder() -> Result<PathBuf, CliError> {
    std::env::current_dir()
        .map_err(|why| CliError::System(format!("the working directory cannot be found: {why}")))
}

/// A delivery with everything that it needs, as the store keeps it.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct BoundDelivery {
    to: String,
    /// The working directory when it was bound. Relative paths start there, and programs run there.
    folder: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    destination: Option<DestinationConfig>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hook: Option<HookConfig>,
    /// Whether there was a secret to sign it with. If so, it is never sent unsigned.
    #[serde(default)]
    signed: bool,
}

impl BoundDelivery {
    fn new(to: &Destination, folder: &Path, configuration: &Configuration) -> Self {
        let configured =
            |name: &str| configuration.destinations.get(name).map(|config| config.clone().anchored(folder));
        let destination = match to {
            Destination::Named(name) | Destination::Command(name) => configured(name),
            _ => None,
        };
        let hook = match to {
            Destination::Hook(key) => configuration.hooks.iter().find(|hook| hook.key() == *key).cloned(),
            _ => None,
        };
        // A hook may name a destination.
        let webhook = hook.as_ref().and_then(|hook| hook.webhook.as_deref());
        let destination = destination.or_else(|| webhook.and_then(configured));
        let hook = hook.map(|hook| hook.anchored(folder));
        // The key of a hook is made of its contents, which now include the folder.
        let to = hook.as_ref().map_or_else(|| to.clone(), |hook| Destination::Hook(hook.key()));
        let signed = std::env::var_os(CALLBACK_SECRET).is_some();
        Self { to: to.stored(), folder: folder.to_owned(), destination, hook, signed }
    }

    fn read(delivery: &StoredDelivery) -> Option<Self> {
        serde_json::from_str(&delivery.destination).ok()
    }

    /// The address without secrets.
    fn public_address(&self) -> String {
        Destination::read(&self.to).map_or_else(|_| UNREADABLE_ADDRESS.to_owned(), |to| to.to_string())
    }

    /// The first variable that it needs and that is not set.
    fn missing_variable(&self) -> Option<String> {
        let (to, settings) = (Destination::read(&self.to).ok()?, self.settings());
        let mut needed = to.variables(&settings).into_iter();
        needed.find(|variable| std::env::var_os(variable).is_none()).map(str::to_owned)
    }

    fn settings(&self) -> DeliverySettings {
        let name = match Destination::read(&self.to) {
            Ok(Destination::Named(name) | Destination::Command(name)) => Some(name),
            _ => self.hook.as_ref().and_then(|hook| hook.webhook.clone()),
        };
        let destinations: BTreeMap<String, DestinationConfig> =
            name.zip(self.destination.clone()).into_iter().collect();
        DeliverySettings {
            destinations,
            hooks: self.hook.clone().into_iter().collect(),
            env: Arc::new(|name| std::env::var(name).ok()),
            folder: self.folder.clone(),
            seed: u64::from(std::process::id()),
            signed: self.signed,
        }
    }
}

/// Where a stored delivery goes, without secrets.
pub fn public_address(delivery: &StoredDelivery) -> String {
    BoundDelivery::read(delivery)
        .map_or_else(|| UNREADABLE_ADDRESS.to_owned(), |bound| bound.public_address())
}

/// Makes the deliveries that are due, of one debate or of all. It stops when the process is asked to end; what is not
/// delivered stays in the store.
pub async fn deliver(store: &DebateStore, debate: Option<&str>, patience: Duration) -> DeliveryReport {
    let due = match store.deliveries_ready(debate, store_seconds()) {
        Ok(due) if due.is_empty() => return DeliveryReport::default(),
        Ok(due) => due,
        Err(why) => return DeliveryReport { troubles: vec![why.to_string()], ..DeliveryReport::default() },
    };
    let ours: Vec<i64> = due.iter().map(|delivery| delivery.id).collect();
    tokio::select! {
        report = deliver_all(store, due, patience) => report,
        _ = signals::end_requested() => {
            let mut troubles = vec!["stopped: `agon deliver` sends what has not arrived".to_owned()];
            if let Err(why) = release_claims(store, &ours).await {
                troubles.push(format!("a delivery stays claimed for a few minutes: {why}"));
            }
            DeliveryReport { troubles, ..DeliveryReport::default() }
        }
    }
}

/// Releases those of our deliveries that are claimed, so that the next run does not have to wait until the claims expire.
async fn release_claims(store: &DebateStore, ours: &[i64]) -> Result<(), StoreError> {
    for delivery in store.deliveries(Some(DeliveryState::Sending))? {
        if ours.contains(&delivery.id) {
            let retry = AfterFailure::At(store_seconds());
            store.delivery_failed(delivery.id, "it was stopped before it arrived", retry).await?;
        }
    }
    Ok(())
}

async fn deliver_all(store: &DebateStore, due: Vec<StoredDelivery>, patience: Duration) -> DeliveryReport {
    let mut report = DeliveryReport::default();
    let mut waiting = due.into_iter();
    let mut running = JoinSet::new();
    loop {
        while running.len() < CONCURRENT_DELIVERIES
            && let Some(delivery) = waiting.next()
        {
            let Some(bound) = BoundDelivery::read(&delivery) else { continue };
            if let Some(variable) = bound.missing_variable() {
                report.later.push(ReportedDelivery {
                    id: delivery.id,
                    debate: delivery.debate,
                    destination: bound.public_address(),
                    note: Some(format!("it needs {variable}, which is not set")),
                });
                continue;
            }
            let outbox = Arc::new(StoreOutbox {
                store: store.clone(),
                runtime: Handle::current(),
                id: delivery.id,
                to: bound.to.clone(),
            });
            let runner = DeliveryRunner::new(outbox.clone(), outbox, bound.settings());
            running.spawn(async move { runner.deliver(&store_seconds, patience).await });
        }
        let Some(ended) = running.join_next().await else { break };
        let Ok(DeliveryReport { delivered, later, dead, troubles }) = ended else { continue };
        report.delivered.extend(delivered);
        report.later.extend(later);
        report.dead.extend(dead);
        report.troubles.extend(troubles);
    }
    report
}

/// Tells the user what was delivered and what was not.
pub fn print_report(report: &DeliveryReport, is_quiet: bool) {
    let line = |delivery: &ReportedDelivery, what: &str| {
        let note = delivery.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
        output::note(&agon_host::clean_text(&format!("{what} {}{note}", delivery.destination)));
    };
    if !is_quiet {
        report.delivered.iter().for_each(|delivery| line(delivery, "delivered to"));
    }
    let later = "not delivered yet (`agon deliver` tries again) to";
    report.later.iter().for_each(|delivery| line(delivery, later));
    report.dead.iter().for_each(|delivery| line(delivery, "given up (`agon doctor` lists it): to"));
    report.troubles.iter().for_each(|trouble| output::note(&format!("note: {trouble}")));
}

/// The store as an outbox with one delivery, and as the source of what is sent. Its methods are called on threads that may
/// block.
struct StoreOutbox {
    store: DebateStore,
    runtime: Handle,
    id: i64,
    to: String,
}

impl Outbox for StoreOutbox {
    fn due(&self, now_s: i64, _: usize) -> Result<Vec<DueDelivery>, String> {
        let claimed = self.runtime.block_on(self.store.delivery_claim(self.id, now_s));
        // The store's count includes the claim that was just made.
        let delivery = |StoredDelivery { id, debate, attempts, .. }| DueDelivery {
            id,
            debate,
            destination: self.to.clone(),
            attempts: u32::saturating_sub(attempts, 1),
        };
        claimed.map(|claimed| claimed.map(delivery).into_iter().collect()).map_err(|why| why.to_string())
    }

    fn done(&self, id: i64) -> Result<(), String> {
        self.runtime.block_on(self.store.delivery_done(id, store_seconds())).map_err(|why| why.to_string())
    }

    fn failed(&self, id: i64, error: &str, next_at_s: Option<i64>) -> Result<(), String> {
        let next = next_at_s.map_or(AfterFailure::Dead, AfterFailure::At);
        self.runtime.block_on(self.store.delivery_failed(id, error, next)).map_err(|why| why.to_string())
    }
}

impl OutcomeRenderer for StoreOutbox {
    fn outcome(&self, debate: &str) -> Result<DeliveredOutcome, String> {
        let debate = self.debate(debate)?;
        let DebateReading { view, document, .. } =
            DebateReading::of(&debate).map_err(|why| why.to_string())?;
        let outcome = DeliveredOutcome::new(&debate, &view, document);
        outcome.ok_or_else(|| format!("debate {} is not over", debate.brief.id))
    }

    fn text(&self, debate: &str, format: ReportFormat) -> Result<String, String> {
        let debate = self.debate(debate)?;
        let reading = DebateReading::of(&debate).map_err(|why| why.to_string())?;
        let source = reading.source();
        match format {
            ReportFormat::Json => Ok(format!("{:#}\n", reading.document)),
            ReportFormat::Markdown => Ok(agon_report::markdown_report(&source)),
            ReportFormat::Html => Ok(agon_report::page_report(&source)),
            ReportFormat::Yaml => agon_report::yaml(&reading.document).map_err(|why| why.to_string()),
            ReportFormat::Text => Ok(agon_report::terminal_report(&source, &PLAIN_STYLE, "")),
        }
    }
}

impl StoreOutbox {
    fn debate(&self, id: &str) -> Result<Debate, String> {
        let handle = DebateHandle { store: self.store.clone(), id: id.to_owned() };
        handle.read().map(|log| log.debate).map_err(|error| error.to_string())
    }
}
