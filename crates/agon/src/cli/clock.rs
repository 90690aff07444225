//! The time of day.

use std::time::{SystemTime, UNIX_EPOCH};

pub use agon_core::timestamps::rfc3339;

/// Seconds since 1970. A clock that is set before 1970 counts as 0, because a debate does not depend on it.
pub fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Milliseconds since 1970.
pub fn unix_millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Seconds since 1970, as the store counts them.
pub fn store_seconds() -> i64 {
    i64::try_from(unix_seconds()).unwrap_or(i64::MAX)
}

/// The time as a log writes it.
pub fn timestamp() -> String {
    rfc3339(unix_seconds())
}
