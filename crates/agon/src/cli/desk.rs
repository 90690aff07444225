//! What a debate is run with: the models, the store and the engine, each opened only when needed.

use std::path::Path;
use std::sync::Arc;

use agon_core::event::open_all;
use agon_core::{Debate, Record};
use agon_engine::{Engine, StoreError};
use agon_models::Catalogue;
use agon_store::Sqlite;
use clap::ArgMatches;

use super::config::{self, Config};
use super::failure::Failure;
use super::house::House;
use super::{aside, place};

/// The configuration that `--config` names, or the one that is found.
pub fn config(args: &ArgMatches) -> Result<Config, Failure> {
    let named = args.get_one::<std::path::PathBuf>("config");
    config::load(named.map(std::path::PathBuf::as_path), &place::env)
}

/// The models that the configuration and the environment give.
pub fn models(config: &Config) -> Arc<Catalogue> {
    let models_dir = place::models(&place::env);
    let providers = agon_models::Config { models_dir, ..config.providers.clone() };
    let desk = agon_models::Desk::here().with_aside(aside::terminal().hook());
    Arc::new(Catalogue::new(providers, |name| std::env::var(name).ok()).with_desk(Arc::new(desk)))
}

/// The store, created if it is not there.
pub fn store(args: &ArgMatches) -> Result<Sqlite, Failure> {
    match args.get_one::<std::path::PathBuf>("db") {
        Some(file) => open(file),
        None => open(&place::store(&place::env)?),
    }
}

/// The store for verbs that only read: `None` when nothing was ever stored, for looking creates nothing.
pub fn kept(args: &ArgMatches) -> Result<Option<Sqlite>, Failure> {
    match args.get_one::<std::path::PathBuf>("db") {
        Some(file) if !file.exists() => Err(Failure::file(file, "there is no such store: check the path")),
        Some(file) => look(file).map(Some),
        None => {
            let file = place::store(&place::env)?;
            if file.exists() { look(&file).map(Some) } else { Ok(None) }
        }
    }
}

/// A store on a full or write-protected disk can still be read. If it cannot, why it could not be opened matters.
fn look(file: &Path) -> Result<Sqlite, Failure> {
    open(file).or_else(|failure| Sqlite::open_to_read(file).map_err(|_| failure))
}

/// The store in this file, created if it is not there.
pub fn open(file: &Path) -> Result<Sqlite, Failure> {
    Sqlite::open(file).map_err(|error| match error {
        StoreError::Failed { why, .. } => Failure::file(file, why),
        other => other.into(),
    })
}

/// An engine over these models and this store, which is also what is known.
pub fn engine(config: &Config, models: Arc<Catalogue>, store: Sqlite) -> Engine {
    let house = House::new(models, &store, config.pulse.clone());
    Engine::new(Arc::new(house), Arc::new(store), config.settings.clone())
}

/// The store if there is one already, for a look before a debate is opened.
pub fn already(args: &ArgMatches) -> Result<Option<Sqlite>, Failure> {
    let file = match args.get_one::<std::path::PathBuf>("db") {
        Some(file) => file.clone(),
        None => place::store(&place::env)?,
    };
    if file.exists() { look(&file).map(Some) } else { Ok(None) }
}

/// A debate as it is kept.
pub struct Kept {
    /// The store that it is in.
    pub store: Sqlite,
    /// Its full id.
    pub id: String,
}

impl Kept {
    /// The debate that `ID` names: a unique beginning of its id, or `last`.
    pub fn find(args: &ArgMatches) -> Result<Self, Failure> {
        let name = args.get_one::<String>("id").map(String::as_str).unwrap_or_default();
        let store = kept(args)?.ok_or_else(|| StoreError::Unknown(name.to_owned()))?;
        let id = store.find(name)?;
        Ok(Self { store, id })
    }

    /// Its log, with the chain checked.
    pub fn records(&self) -> Result<Vec<Record>, Failure> {
        let raw = self.store.raw(&self.id)?;
        open_all(raw).map_err(|broken| Failure::Broken { id: self.id.clone(), broken })
    }

    /// The debate, folded from its log.
    pub fn debate(&self) -> Result<Debate, Failure> {
        Debate::from_records(&self.records()?).map_err(|why| Failure::Log { id: self.id.clone(), why })
    }
}
