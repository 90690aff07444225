//! When a delivery is tried again, and when it is given up.

use std::time::Duration;

use agon_core::seed::Draw;

/// How often a delivery is tried.
pub const ATTEMPTS_MAX: u32 = 8;
/// How many deliveries are under way at once.
pub const AT_ONCE: usize = 8;
/// How long an attempt may take, where the configuration does not say.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// The longest that the configuration may say.
pub const TIMEOUT_S_MAX: f64 = 45.0;
/// No attempt takes longer than this, what is rendered and written down included: what an outbox has handed out for so long
/// belongs to a process that is gone.
pub const ATTEMPT_S_MAX: i64 = 60;

/// The pauses after each attempt but the last.
const PAUSES_S: [u32; 7] = [1, 5, 30, 120, 600, 3_600, 21_600];
/// How far a pause is from the one above, so that deliveries which failed together do not come back together.
const JITTER: f64 = 0.2;
/// The longest that a server may ask us to wait.
const RETRY_AFTER_S_MAX: u64 = 24 * 3600;

/// How long to wait after this many attempts, and at least as long as the server asks; `None` when that was the last. The
/// same delivery waits the same with the same seed.
pub fn pause(attempts: u32, retry_after: Option<Duration>, seed: u64, id: i64) -> Option<Duration> {
    let place = usize::try_from(attempts.checked_sub(1)?).ok()?;
    let pause_s = f64::from(*PAUSES_S.get(place)?);
    let spread = 2.0 * Draw::new(seed, &format!("delivery {id} {attempts}")).unit() - 1.0;
    // The outbox counts in whole seconds.
    let pause = Duration::from_secs((pause_s * (1.0 + JITTER * spread)).round().max(1.0) as u64);
    let asked = retry_after.unwrap_or_default().min(Duration::from_secs(RETRY_AFTER_S_MAX));
    Some(pause.max(Duration::from_secs(asked.as_secs() + u64::from(asked.subsec_nanos() > 0))))
}
