//! Receipts: what a debate decided, signed, so that a stranger can check it without the machine that it ran on.
//!
//! A receipt is a file with three parts: a statement about the debate in a signed envelope, the public key, and the log.
//! The statement is canonical JSON, so that it has one spelling; it names the head of the log's hash chain, so that it
//! stands for every byte of the log; and all that it says can be worked out again from that log.
//!
//! A tour, in reading order:
//!
//! - [`statement`]: what a receipt says, in the shape of in-toto.
//! - [`canonical`]: the one spelling of a JSON value (RFC 8785).
//! - [`envelope`]: what exactly is signed (DSSE).
//! - [`key`]: Ed25519 keys as text.
//! - [`keyring`]: the own key, those that were retired, those of others that are trusted.
//! - [`secrets`]: the last guard before a receipt leaves.
//! - [`file`](mod@file): [`issue`] makes the file.
//! - [`verify`](mod@verify): [`verify()`] checks it, and says exactly what was changed. Of help are `chain` (which records are as
//!   they were sealed), `undo` (what a record was before one byte of it was changed), `trail` (where in a text a byte
//!   is) and [`difference`] (where two values differ).
//!
//! Time comes from the caller. Files are touched by [`keyring`] alone.

#![warn(missing_docs)]

pub mod canonical;
mod chain;
pub mod difference;
pub mod envelope;
pub mod file;
pub mod key;
pub mod keyring;
pub mod secrets;
pub mod statement;
mod trail;
mod undo;
pub mod verify;

pub use file::{Receipt, Subject, Unissued, is_receipt, issue};
pub use key::{NoKey, PublicKey, SecretKey};
pub use keyring::{Keyring, KeyringError, Known, Standing};
pub use secrets::Secret;
pub use verify::{Means, Verification, verify};
