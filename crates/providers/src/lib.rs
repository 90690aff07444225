//! The models: OpenAI-compatible servers, and scripts.
//!
//! A model is named `provider/model`, and [`Catalogue`] turns the name into something that the engine can call. It
//! reads no environment and no configuration file of its own: whoever makes it hands both in.
//!
//! A tour, in reading order:
//!
//! - [`config`]: the sections `[providers.NAME]` and `[prices]` of `agon.toml`.
//! - `trust`: what one of them may not do that was found and not asked for.
//! - [`catalogue`]: from a name to a model, or to a sentence that says what to do.
//! - `provider`: one provider: where it is and which key it takes; the table of the well-known ones.
//! - `clients`: the HTTP clients, made when first used.
//! - `openai`: a call of an OpenAI-compatible server.
//! - `fault`: what went wrong with one, in a sentence without secrets.
//! - [`script`]: a file of replies in the place of a model.

#![warn(missing_docs)]

pub mod catalogue;
mod clients;
pub mod config;
mod fault;
mod openai;
mod provider;
mod retry_after;
pub mod script;
mod trust;

pub use catalogue::{Catalogue, ProviderInfo};
pub use config::{Config, PriceConfig, ProviderConfig, ProviderKind};
