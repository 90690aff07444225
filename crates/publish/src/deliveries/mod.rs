//! Brings the outcome of a debate where it belongs: a file, an HTTP callback, a chat, a program.
//!
//! Whoever opens a debate binds deliveries to it; they are kept with it, and when it closes they are due. A [`Courier`] takes
//! what is due and brings it, now or in a later run of the program: a delivery is *done* or *dead* in the end, whatever is
//! killed on the way. Each is made at least once. A receiver that must not act twice looks at its name, which is the same on
//! every attempt. This crate reads no environment and no configuration file, and prints nothing.
//!
//! A tour, in reading order:
//!
//! - [`destination`]: where a result can go, as a person writes it; never shown with what is secret in it, nor (`visible`) with
//!   what a terminal would obey.
//! - [`config`]: `[destinations.NAME]` of `agon.toml`; [`hooks`]: its `[[hooks]]`; `trust`: what neither may do in a file that
//!   was found and not asked for.
//! - [`outbox`]: what keeps the deliveries, and what renders a debate.
//! - [`courier`]: one run: takes what is due, brings it, waits for what can be tried again in time.
//! - [`policy`]: when a delivery is tried again, and when it is given up.
//! - `carrier`: one attempt; `address` is what a destination means under a configuration.
//! - `send`: the ways over the network and to programs: `post` (HTTP), `program`; `retry_after` is what a server
//!   asks for, and `mask` keeps from its words what may be a secret.
//! - [`mod@file`]: the way to the disk, which spoils nothing that is there; `stream` is for what is no file.
//! - `chat`: what a chat gets to read, and what keeps a debate from ringing everybody's bell.
//! - [`signature`]: how a receiver knows that a callback is ours.

mod address;
mod carrier;
mod chat;
pub mod config;
pub mod courier;
pub mod destination;
pub mod file;
pub mod hooks;
pub mod outbox;
pub mod policy;
mod send;
pub mod signature;
mod trust;
mod visible;

pub use config::{DestinationConfig, Kind, check};
pub use courier::{Clock, Courier, Env, Report, Settings, Told};
pub use destination::{Destination, Format};
pub use hooks::{ExportConfig, HookConfig, On, hooks_for};
pub use outbox::{Outbox, Parcel, Render};
pub use signature::{Unsigned, sign, verify};
pub use trust::check_found;
