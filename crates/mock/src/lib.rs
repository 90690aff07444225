//! A server on loopback that speaks the wire formats of models, for tests and benchmarks.
//!
//! It answers `POST /v1/chat/completions` like OpenAI, `POST /v1/messages` like Anthropic and
//! `POST /v1beta/models/MODEL:generateContent` like Gemini, streamed or not, as well as `POST /v1/embeddings` and the
//! lists of models. One closure says what the server answers, in any wire format:
//!
//! ```
//! use agon_mock::{MockResponse, MockServer, MockSettings};
//!
//! let server = MockServer::start(MockSettings::new(|request| match request.messages().len() {
//!     1 => MockResponse::say("Forty-two."),
//!     _ => MockResponse::error(429, "slow down").header("Retry-After", "2"),
//! }))?;
//! assert!(server.url().starts_with("http://127.0.0.1:"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! A tour, in reading order:
//!
//! - [`request`]: what a client asked.
//! - [`response`]: what the server answers: words, errors, and faults of the connection.
//! - [`debate_replies`]: a ready-made responder that plays every seat of a debate.
//! - [`server`]: the server: HTTP/1.1 with one thread per connection, no runtime.
//! - [`wire_formats`]: the same answer in each wire format.
//! - [`postgres_server`]: a PostgreSQL server of its own, beside the models.

#![warn(missing_docs)]

pub mod debate_replies;
pub mod postgres_server;
pub mod request;
pub mod response;
pub mod server;
pub mod wire_formats;

pub use debate_replies::{MockDebate, converging_debate};
pub use postgres_server::PostgresServer;
pub use request::MockRequest;
pub use response::{ConnectionFault, MockResponse};
pub use server::{MockResponder, MockServer, MockSettings};
pub use wire_formats::MockFormat;
