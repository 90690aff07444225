//! What a debate is told from outside: results of earlier debates, memories of its agents, current topics, and what its seats have
//! looked up.
//!
//! The engine asks for all of it the way it asks a model, so the answers are in the log and a replay needs neither
//! store nor network. Such an ask is an *errand*: it is free and does not count as a call. The answers contain text
//! from strangers. They are data; a protocol quotes them when it puts them into a prompt.
//!
//! A tour, in reading order:
//!
//! - [`errands`]: the request and the answer of every errand, as JSON.
//! - [`knowledge_context`]: `context/knowledge` and `context/memory`, which search a [`KnowledgeSource`] by words and
//!   by embedding.
//! - [`pulse`]: `pulse/NAME`, a feed, a JSON document or a text. `pulse::config` is the section `[pulse.NAME]` of
//!   `agon.toml`; `fetch` gets the bytes; `documents` turns them into entries with the help of `feeds`, `json`,
//!   `markdown` and `html_text`; `nearest` picks the entries that match the question.
//! - `public_addresses`: which addresses a feed or a page may lead to.
//! - [`tools`]: `tool/NAME`, what seats can have looked up while a debate runs.

pub mod errands;
pub mod knowledge_context;
mod public_addresses;
pub mod pulse;
pub mod tools;

pub use errands::{ContextItem, DecisionResolution, Errand, ErrandAnswer};
pub use knowledge_context::{ContextEmbedder, ContextSearch, KnowledgeSource, embed_missing_entries};
pub use pulse::{PulseConfig, PulseSource};
pub use tools::{BUILT_IN_TOOLS, ToolConfig, ToolOffers, Toolbox, ToolsConfig};
