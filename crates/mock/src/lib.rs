//! A server on loopback that speaks the wire formats of models, for tests and benchmarks.
//!
//! It answers `POST /v1/chat/completions` as OpenAI does, `POST /v1/messages` as Anthropic does and
//! `POST /v1beta/models/MODEL:generateContent` as Gemini does, each streamed or not, and beside them `POST /v1/embeddings`
//! and the lists of models. What it answers is a function of the request, so a test says in one closure what the server
//! does, whatever the wire:
//!
//! ```
//! use agon_mock::{Mock, MockSettings, Response};
//!
//! let mock = Mock::start(MockSettings::new(|request| match request.messages().len() {
//!     1 => Response::say("Forty-two."),
//!     _ => Response::error(429, "slow down").header("Retry-After", "2"),
//! }))?;
//! assert!(mock.url().starts_with("http://127.0.0.1:"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! A tour, in reading order:
//!
//! - [`request`]: what was asked.
//! - [`response`]: what is answered: words, errors, and everything that can go wrong on the way.
//! - [`mod@debate`]: a built-in server that plays every seat of a debate.
//! - [`server`]: the server itself: a thread for each connection, no runtime.
//! - `http`: requests from bytes and answers to bytes.
//! - `wire`: the same words, refusals, tokens and errors in each wire format.

#![warn(missing_docs)]

pub mod debate;
mod http;
pub mod request;
pub mod response;
pub mod server;
mod wire;

pub use debate::{Debate, debate};
pub use request::Request;
pub use response::{Response, Spoilt};
pub use server::{Mock, MockSettings, Responder};
pub use wire::Wire;
