//! Seats that are no server: a program, and a person.
//!
//! Both are a [`Model`](agon_engine::Model) like any other, so that the engine asks them as it asks a server.
//!
//! A tour, in reading order:
//!
//! - [`config`]: the sections `[commands.NAME]` and `[humans.NAME]` of `agon.toml`, and what one of them may not do that was
//!   found and not asked for.
//! - [`command`]: `command/NAME`, a program that reads the prompt on its standard input. `prompt` is how a conversation
//!   is written down for it, `group` the program with everything that it started, `output` what it says.
//! - [`human`]: `human/NAME`, a person at the terminal. `page` is what the person reads, [`human::form`] asks for a structured
//!   answer field by field, [`human::desk`] shares one terminal between all who sit at it, [`human::terminal`] is what a
//!   terminal has to do and `tty` the real one.
//! - `clean`: what makes a stranger's words safe for a terminal.

#![warn(missing_docs)]

mod clean;
pub mod command;
pub mod config;
pub mod human;

pub use command::{Command, kill_commands};
pub use config::{CommandConfig, HumanConfig, check_found};
pub use human::{Desk, Human};
