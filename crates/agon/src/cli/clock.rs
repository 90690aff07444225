//! The time of day, as the log writes it.

use std::time::{SystemTime, UNIX_EPOCH};

pub use agon_core::calendar::rfc3339;

/// Seconds since 1970, by the system's clock.
pub fn now_s() -> u64 {
    // A clock before 1970 is broken; a debate can be held all the same.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
