//! The models of a host: those of the command line, but people answer through a face of the process instead of its terminal.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_context::Toolbox;
use agon_core::Invalid;
use agon_engine::{Model, ModelSource};
use agon_models::{HumanConfig, ModelCatalogue};
use agon_store::DebateStore;

use super::person_seats::{CALLER, PersonSeats};
use crate::cli::configuration::Configuration;
use crate::cli::model_directory::ModelDirectory;

/// Everything that a hosted debate can ask.
pub struct HostModels {
    directory: ModelDirectory,
    people: PersonSeats,
    humans: BTreeMap<String, HumanConfig>,
}

impl HostModels {
    pub fn new(
        configuration: &Configuration,
        catalogue: Arc<ModelCatalogue>,
        store: &DebateStore,
        people: PersonSeats,
    ) -> Self {
        let tools = Toolbox::new(configuration.tools.clone());
        let directory = ModelDirectory::new(catalogue, store, configuration.pulse.clone(), tools);
        Self { directory, people, humans: configuration.models_config.humans.clone() }
    }
}

impl ModelSource for HostModels {
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, Invalid> {
        match name.split_once('/') {
            None if name == CALLER => Ok(self.people.caller()),
            Some(("human", person)) if !person.trim().is_empty() => {
                let config = self.humans.get(person).cloned().unwrap_or_default();
                self.people.person(person, &config)
            }
            _ => self.directory.model(name),
        }
    }
}
