//! Every model by name: servers, programs, people at the terminal, scripts, agents and embeddings.
//!
//! A model is named `provider/model`. [`ModelCatalogue`] turns the name into something that the engine can call. The crate
//! reads no configuration file, and the catalogue reads the environment only through the function that its maker passes in.
//!
//! A tour, in reading order:
//!
//! - [`config`]: the sections of `agon.toml` that concern models.
//! - [`catalogue`]: from a name to a model, or to a sentence that says what to do.
//! - `provider`: where a provider is and which key it takes; the table of well-known providers.
//! - `prices`: the dated table of what well-known models cost.
//! - [`probe`]: which providers answer, accept their key and have which models, for `agon doctor`.
//! - `server`: a call to a server; one file per wire dialect.
//! - `embedded_models`: the models that run in this process, behind the cargo feature `embedded`.
//! - `agents`: a model with a name and a charter of its own.
//! - [`command`]: a program as a model.
//! - [`human`]: a person at the terminal as a model.
//! - [`script`]: a file of canned replies as a model.
//! - [`embeddings`]: how similar texts are, by a server's embeddings, by MiniLM or by shared words.

#![warn(missing_docs)]

mod agents;
pub mod catalogue;
pub mod command;
pub mod config;
#[cfg_attr(not(feature = "embedded"), path = "embedded_absent.rs")]
mod embedded_models;
pub mod embeddings;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod human;
mod prices;
pub mod probe;
mod provider;
pub mod script;
mod server;

pub use catalogue::{ModelCatalogue, ProviderInfo};
pub use command::CommandModel;
pub use config::{
    AgentConfig, CommandConfig, EmbeddingsConfig, HumanConfig, ModelsConfig, PriceConfig, ProviderConfig,
    WireFormat,
};
pub use embedded_models::{EmbeddedSettings, SMOLLM2};
pub use embeddings::{EmbeddingModel, EmbeddingsInUse, TextEmbedder, TextVectors};
pub use human::{HumanModel, PersonChannel, PersonModel, PromptPart, TerminalPrompt, prompt_parts};
pub use probe::ProviderProbe;
pub use provider::{KNOWN_PROVIDERS, KnownProvider};
pub use script::ScriptModel;
pub use server::http::DEBATE_HEADER;
