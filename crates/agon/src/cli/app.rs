//! What a verb works with: configuration, models, store and engine. Each is opened when it is first needed, so that
//! `agon list` reads no configuration and creates no store.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::Arc;

use agon_context::Toolbox;
use agon_core::event::open_all;
use agon_core::{Brief, Corrupt, Debate, LogRecord, Protocol};
use agon_engine::{Engine, StoreError};
use agon_experiments::eval::find_grading;
use agon_models::{ModelCatalogue, ModelsConfig, TerminalPrompt};
use agon_store::{DebateStore, StoreAddress};
use clap::ArgMatches;

use super::arguments;
use super::configuration::{Configuration, ConfigurationSource};
use super::errors::CliError;
use super::found_configuration::FoundConfiguration;
use super::model_directory::{ModelDirectory, demo_scripts};
use super::paths::{self, process_env};
use super::progress::TaskProgress;
use super::runtime::block_on;
use super::telemetry::TelemetryNotes;
use super::verification::RawLog;
use super::{deliveries, knowledge_index, output, telemetry, terminal_pause};
use crate::worker::remote_debates::RemoteDebates;
use crate::worker::restate_client::RestateClient;

/// The parts that a verb works with.
pub struct App<'a> {
    /// The verb's arguments.
    pub args: &'a ArgMatches,
    configuration: OnceCell<Configuration>,
    catalogue: OnceCell<Arc<ModelCatalogue>>,
    toolbox: OnceCell<Toolbox>,
}

impl<'a> App<'a> {
    /// An app with these arguments. Nothing is opened yet.
    pub fn new(args: &'a ArgMatches) -> Self {
        let (configuration, catalogue, toolbox) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { args, configuration, catalogue, toolbox }
    }

    /// Whether a flag is set. A flag that the verb does not have is not set.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.args.try_get_one::<bool>(name), Ok(Some(true)))
    }

    /// ` --db STORE` if a store was named, for commands that are printed.
    pub fn store_option(&self) -> String {
        arguments::store_option(self.args)
    }

    /// The configuration that `--config` names, or the one that is found.
    pub fn configuration(&self) -> Result<&Configuration, CliError> {
        if let Some(configuration) = self.configuration.get() {
            return Ok(configuration);
        }
        let loaded = self.load_configuration()?;
        let notice = loaded.found.as_ref().and_then(FoundConfiguration::notice);
        if let Some(notice) = notice.filter(|_| !self.flag("quiet")) {
            output::note(&format!("note: {notice}"));
        }
        Ok(self.configuration.get_or_init(|| loaded))
    }

    /// The same, read again.
    pub fn load_configuration(&self) -> Result<Configuration, CliError> {
        let source = match self.args.get_one::<PathBuf>("config") {
            Some(file) => ConfigurationSource::Named(file),
            None if self.flag("no-config") => ConfigurationSource::Nothing,
            None => ConfigurationSource::Usual,
        };
        Configuration::load(source, &process_env)
    }

    /// The models that the configuration and the environment give.
    pub fn catalogue(&self) -> Result<&Arc<ModelCatalogue>, CliError> {
        let configuration = self.configuration()?;
        Ok(self.catalogue.get_or_init(|| model_catalogue(configuration)))
    }

    /// The tools of the configuration. Servers that were asked what they offer stay connected.
    pub fn toolbox(&self) -> Result<&Toolbox, CliError> {
        let configuration = self.configuration()?;
        Ok(self.toolbox.get_or_init(|| Toolbox::new(configuration.tools.clone())))
    }

    /// The store, created if it does not exist.
    pub fn store(&self) -> Result<DebateStore, CliError> {
        open_store(&self.store_address()?, self.flag("quiet"))
    }

    /// The store for verbs that only read. `None` if nothing was ever stored; an error if `--db` names a file that does
    /// not exist.
    pub fn store_to_read(&self) -> Result<Option<DebateStore>, CliError> {
        match (self.args.get_one::<PathBuf>("db"), self.store_address()?.file()) {
            (Some(_), Some(file)) if !file.exists() => {
                Err(CliError::file(file, "there is no such store: check the path"))
            }
            _ => self.existing_store(),
        }
    }

    /// The store, if it exists.
    pub fn existing_store(&self) -> Result<Option<DebateStore>, CliError> {
        let address = self.store_address()?;
        let Some(file) = address.file() else {
            return open_store(&address, self.flag("quiet")).map(Some);
        };
        if !file.exists() {
            return Ok(None);
        }
        // A store on a full or write-protected disk can still be read. If that fails too, the first error says why.
        let store = open_store(&address, self.flag("quiet"))
            .or_else(|error| DebateStore::open_to_read(file).map_err(|_| error));
        store.map(Some)
    }

    fn store_address(&self) -> Result<StoreAddress, CliError> {
        let given = self.args.get_one::<PathBuf>("db").map(|store| store.as_os_str());
        paths::store_address(given, &process_env)
    }

    /// The debate that the argument `ID` names: a unique prefix of its id, or `last`.
    pub fn stored_debate(&self) -> Result<DebateHandle, CliError> {
        let name = self.args.get_one::<String>("id").map(String::as_str).unwrap_or_default();
        let store = self.store_to_read()?.ok_or_else(|| StoreError::Unknown(name.to_owned()))?;
        let id = store.find_debate(name)?;
        Ok(DebateHandle { store, id })
    }

    /// An engine that keeps its logs in `store` and looks up knowledge there.
    pub fn engine(&self, store: &DebateStore) -> Result<Engine, CliError> {
        let configuration = self.configuration()?;
        let directory = ModelDirectory::new(
            self.catalogue()?.clone(),
            store,
            configuration.pulse.clone(),
            self.toolbox()?.clone(),
        );
        let notes = if self.flag("quiet") { TelemetryNotes::Quiet } else { TelemetryNotes::AtTheEnd };
        telemetry::start(&configuration.telemetry, notes);
        let store = telemetry::observed(Arc::new(store.clone()));
        Ok(Engine::new(Arc::new(directory), store, configuration.engine.clone()))
    }

    /// The workers that `--restate` names, if it is given.
    pub fn workers(&self, store: &DebateStore) -> Result<Option<RemoteDebates>, CliError> {
        let Some(client) = self.restate_client()? else { return Ok(None) };
        Ok(Some(RemoteDebates::new(client, store.clone())))
    }

    /// The server that `--restate` names, if it is given.
    pub fn restate_client(&self) -> Result<Option<RestateClient>, CliError> {
        let text = |name: &str| self.args.get_one::<String>(name).map(String::as_str);
        let Some(url) = text("restate") else { return Ok(None) };
        block_on(RestateClient::connect(url, text("restate-admin")))?.map(Some)
    }

    /// Delivers the results of one debate, or all that are due, and indexes what was learned. Problems are printed, but
    /// they do not change the result of the debate; a later run makes up for them.
    pub fn deliver_and_index(&self, store: &DebateStore, debate: Option<&str>) -> Result<(), CliError> {
        let catalogue = self.catalogue()?;
        let progress = TaskProgress::start("delivering results", self.flag("quiet"));
        block_on(async {
            let report = deliveries::deliver(store, debate, deliveries::PATIENCE).await;
            deliveries::print_report(&report, self.flag("quiet"));
            drop(progress);
            let _progress = TaskProgress::start("indexing what was decided", self.flag("quiet"));
            // Without an index, entries are found by words alone until the next search indexes them.
            drop(knowledge_index::index_entries(catalogue, store).await);
        })
    }
}

/// The models that a configuration and the environment give.
pub fn model_catalogue(configuration: &Configuration) -> Arc<ModelCatalogue> {
    Arc::new(new_catalogue(configuration))
}

/// The models of the configuration, for an estimate: it calls nobody, so it needs no keys.
pub fn estimate_catalogue(configuration: &Configuration) -> Arc<ModelCatalogue> {
    Arc::new(new_catalogue(configuration).without_keys())
}

fn new_catalogue(configuration: &Configuration) -> ModelCatalogue {
    let models_dir = paths::models_folder(&process_env);
    let config = ModelsConfig { models_dir, ..configuration.models_config.clone() };
    let prompt = TerminalPrompt::on_this_terminal().with_pause_hook(terminal_pause::terminal().pause_hook());
    let catalogue = ModelCatalogue::new(config, |name| std::env::var(name).ok());
    catalogue.with_terminal(Arc::new(prompt)).with_scripts(demo_scripts())
}

/// The store at this address, created if it does not exist.
pub fn open_store(address: &StoreAddress, is_quiet: bool) -> Result<DebateStore, CliError> {
    // A store of an older version is brought up to date first, and a server may be far away.
    let _progress = TaskProgress::start("opening the store", is_quiet);
    DebateStore::open(address).map_err(|error| match (error, address.file()) {
        (StoreError::Failed { why, .. }, Some(file)) => CliError::file(file, why),
        (other, _) => other.into(),
    })
}

/// The protocol of a stored debate.
pub fn protocol_of(brief: &Brief) -> Result<&'static dyn Protocol, CliError> {
    find_protocol(&brief.protocol).ok_or_else(|| {
        CliError::input(format!(
            "debate {} was run with the protocol {:?}, which this agon does not have: use a newer agon",
            brief.id, brief.protocol
        ))
    })
}

/// The protocol with this name, among those that users open and those that evals use.
pub fn find_protocol(name: &str) -> Option<&'static dyn Protocol> {
    agon_protocols::find(name).or_else(|| find_grading(name))
}

/// A debate in a store.
pub struct DebateHandle {
    pub store: DebateStore,
    /// The debate's full id.
    pub id: String,
}

/// A log from the store, read and checked.
pub struct StoredLog {
    /// The bytes and hash of each event.
    pub raw: RawLog,
    pub records: Vec<LogRecord>,
    /// The debate that they make.
    pub debate: Debate,
}

impl DebateHandle {
    /// Reads the log and checks its hash chain.
    pub fn read(&self) -> Result<StoredLog, CliError> {
        let raw = self.store.raw_log(&self.id)?;
        let records = open_all(raw.iter().cloned())
            .map_err(|broken| CliError::BrokenLog { id: self.id.clone(), broken })?;
        let debate = Debate::from_records(&records).map_err(|reason| self.log_error(reason))?;
        Ok(StoredLog { raw, records, debate })
    }

    pub fn log_error(&self, reason: Corrupt) -> CliError {
        CliError::Log { id: self.id.clone(), reason: Box::new(reason) }
    }
}
