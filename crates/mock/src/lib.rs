//! An OpenAI-compatible server on loopback, for tests and benchmarks.
//!
//! It answers `POST /v1/chat/completions`, streamed or not, and `GET /v1/models`. What it answers is a function of
//! the request, so a test says in one closure what the server does:
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
//! - [`debate`]: a built-in server that plays every seat of a debate.
//! - [`server`]: the server itself: a thread for each connection, no runtime.

#![warn(missing_docs)]

pub mod debate;
pub mod request;
pub mod response;
pub mod server;
mod wire;

pub use debate::{Debate, debate};
pub use request::Request;
pub use response::{Response, Spoilt};
pub use server::{Mock, MockSettings, Responder};
