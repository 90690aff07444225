//! Experiments with protocols.
//!
//! - [`eval`]: does a debate answer better than one model, than many samples of it, or than a plain vote, and at what cost?
//! - [`simulate`]: what does a protocol do to seats of which everything is known, and do the measures find it in the logs?
//!
//! Neither knows a protocol by name. `eval` grades a debate by its view; `simulate` plays every protocol that says how in
//! [`ProtocolInfo::simulation`](agon_core::ProtocolInfo::simulation).

#![warn(missing_docs)]

pub mod eval;
pub mod simulate;
