//! Receipts: the outcome of a debate, signed, so that anybody can check it on another machine.
//!
//! A receipt is a file with three parts: a statement about the debate in a signed envelope, the public key, and the log.
//! The statement is canonical JSON, so the same statement always has the same bytes. It names the head of the log's hash
//! chain, so it covers every byte of the log. Everything it says can be computed again from that log.
//!
//! The files, in reading order:
//!
//! - [`receipt`]: the file, and [`issue`], which makes one.
//! - [`statement`]: what a receipt says, as an in-toto statement.
//! - [`envelope`]: what exactly is signed: canonical JSON (RFC 8785) in a DSSE envelope.
//! - [`keys`]: Ed25519 keys as text.
//! - [`keyring`]: your own key, your retired keys, and the keys of others that you trust.
//! - [`secrets`]: the check that no receipt contains a secret.
//! - [`verify`](mod@verify): [`verify()`] checks a receipt and names what was changed. `chain` finds which records of a
//!   log differ, `envelope_checks` and `log_checks` are its two halves, and `explain` puts the result into words.
//!
//! Time comes from the caller. Only [`keyring`] touches files.

mod chain;
mod difference;
pub mod envelope;
mod explain;
pub mod keyring;
pub mod keys;
pub mod receipt;
pub mod secrets;
pub mod statement;
pub mod verify;

pub use keyring::{KEY_FILE, KeyStanding, Keyring, KeyringError, KnownKey};
pub use keys::{InvalidKey, PublicKey, SecretKey};
pub use receipt::{IssueError, LoggedRecord, Receipt, ReceiptSubject, is_receipt, issue};
pub use secrets::KnownSecret;
pub use statement::SignedOutcome;
pub use verify::{ReceiptVerification, ReplayContext, verify};
