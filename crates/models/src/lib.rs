//! The models: servers of three wire formats, embeddings, scripts, and the seats of this crate.
//!
//! A model is named `provider/model`, and [`Catalogue`] turns the name into something that the engine can call. It
//! reads no environment and no configuration file of its own: whoever makes it hands both in.
//!
//! A tour, in reading order:
//!
//! - [`config`]: the sections of `agon.toml` that are about models.
//! - `trust`: what one of them may not do that was found and not asked for.
//! - [`catalogue`]: from a name to a model, or to a sentence that says what to do.
//! - `agent`: a model that speaks under a name and with a charter.
//! - `provider`: one provider: where it is and which key it takes; the table of the well-known ones.
//! - `prices`: the dated table of what well-known models cost.
//! - `clients`: the HTTP clients, made when first used.
//! - `server`: a call of a server; one file for what is peculiar to each wire format.
//! - `fault`: what went wrong with one, in a sentence without secrets; `told`: what the server said about it.
//! - [`probe`]: who can be reached, accepts its key and has which models, for `agon doctor`.
//! - [`embeddings`]: how alike texts are, by a server's embeddings, by MiniLM or by their words.
//! - [`script`]: a file of replies in the place of a model.

#![warn(missing_docs)]

mod agent;
pub mod catalogue;
mod clients;
pub mod command;
pub mod human;
pub mod seat_config;
pub mod config;
pub mod embeddings;
mod fault;
mod prices;
pub mod probe;
mod provider;
mod retry_after;
pub mod script;
mod server;
mod told;
mod trust;

pub use agent::AgentConfig;
pub use agon_embedded::{SMOLLM2, Settings as EmbeddedConfig};
pub use catalogue::{Catalogue, ProviderInfo};
pub use config::{Config, EmbeddingsConfig, PriceConfig, ProviderConfig, ProviderKind};
pub use embeddings::{Embed, Embedded, EmbeddingModel, EmbeddingsInUse};
pub use probe::Probe;
pub use command::{Command, kill_commands};
pub use human::{Desk, Human};
pub use seat_config::{CommandConfig, HumanConfig, check_found};
