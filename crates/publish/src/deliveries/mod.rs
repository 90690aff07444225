//! Deliveries: bring the outcome of a debate to files, HTTP callbacks, chats and programs.
//!
//! Deliveries are bound to a debate before it opens and stored with it. When the debate closes, they are due. A
//! [`DeliveryRunner`] makes those that are due, in this run of the program or in a later one. Every delivery ends as
//! *done* or *dead*, even if processes are killed on the way, and each one is made at least once. A receiver that must not
//! act twice can compare the delivery id, which is the same in every attempt. This module reads no environment and no
//! configuration file, and prints nothing.
//!
//! The files, in reading order:
//!
//! - [`destination`]: where an outcome can go, as a person writes it. Secrets in an address are never shown.
//! - [`config`]: `[destinations.NAME]` and `[[hooks]]` of `agon.toml`, and what a file found in the working directory
//!   may not do.
//! - [`outbox`]: the traits of the store that keeps the deliveries and of the renderer of outcomes.
//! - [`runner`]: one run: takes what is due, makes the attempts, and waits for retries that fit into the time.
//! - [`retry_policy`]: when a delivery is tried again, and when it is dead.
//! - `attempt`: one attempt, by its `delivery_plan`: what a destination means under a configuration.
//! - `send`: the ways to send: `http`, `chat`, `program` and `file`. `masking` hides secrets in what a server says.
//! - [`signature`]: how a receiver checks that a callback is genuine.

mod attempt;
pub mod config;
mod delivery_plan;
pub mod destination;
pub mod outbox;
pub mod retry_policy;
pub mod runner;
mod send;
pub mod signature;

pub use config::{
    DestinationConfig, DestinationKind, ExportConfig, HookConfig, HookTrigger, check_config, hooks_for,
};
pub use destination::{Destination, ReportFormat, WebAddress};
pub use outbox::{DeliveredOutcome, DueDelivery, Outbox, OutcomeRenderer};
pub use runner::{DeliveryReport, DeliveryRunner, DeliverySettings, EnvReader, ReportedDelivery, UnixClock};
pub use send::chat::ChatSummary;
pub use send::file::{WriteFailure, write_to_path};
pub use signature::{CALLBACK_SECRET, SignatureError, sign, verify_signature};
