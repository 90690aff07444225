//! What leaves the machine after a debate.
//!
//! - [`receipts`]: signed receipts that anybody can check.
//! - [`deliveries`]: brings outcomes to files, callbacks, chats and programs, with retries.

pub mod deliveries;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod receipts;
