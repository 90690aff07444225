//! When a delivery is tried again, and when it is dead.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agon_core::seed::SeededDraw;

/// How often a delivery is tried.
pub const ATTEMPTS_MAX: u32 = 8;
/// How many attempts run at the same time.
pub const CONCURRENT_ATTEMPTS_MAX: usize = 8;
/// How long an attempt may take, unless the configuration says otherwise.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// The longest timeout that the configuration may set.
pub const TIMEOUT_S_MAX: f64 = 45.0;
/// No attempt takes longer than this, rendering and bookkeeping included. A delivery that an outbox handed out longer ago
/// belongs to a process that is gone.
pub const ATTEMPT_S_MAX: i64 = 60;

/// The pauses after each attempt but the last.
const PAUSES_S: [u32; 7] = [1, 5, 30, 120, 600, 3_600, 21_600];
/// How far a pause may be from the one above, so that deliveries which failed together are not all retried together.
const JITTER: f64 = 0.2;
/// The longest wait that a server may ask for.
const RETRY_AFTER_S_MAX: u64 = 24 * 3600;

/// How long to wait after this many attempts, at least as long as the server asks; `None` after the last attempt. The
/// same delivery waits equally long with the same seed.
pub fn pause(attempts: u32, retry_after: Option<Duration>, seed: u64, id: i64) -> Option<Duration> {
    let index = usize::try_from(attempts.checked_sub(1)?).ok()?;
    let pause_s = f64::from(*PAUSES_S.get(index)?);
    let spread = 2.0 * SeededDraw::new(seed, &format!("delivery {id} {attempts}")).unit() - 1.0;
    // The outbox counts whole seconds.
    let pause = Duration::from_secs((pause_s * (1.0 + JITTER * spread)).round().max(1.0) as u64);
    let asked = retry_after.unwrap_or_default().min(Duration::from_secs(RETRY_AFTER_S_MAX));
    Some(pause.max(Duration::from_secs(asked.as_secs() + u64::from(asked.subsec_nanos() > 0))))
}

/// The wait that a `Retry-After` header asks for, in seconds or as a date, seen at `now_s`.
pub(super) fn parse_retry_after(value: &str, now_s: u64) -> Option<Duration> {
    match value.trim().parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => {
            let (then, now): (SystemTime, _) =
                (httpdate::parse_http_date(value).ok()?, UNIX_EPOCH + Duration::from_secs(now_s));
            Some(then.duration_since(now).unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pause_s(attempts: u32, retry_after_ms: Option<u64>) -> Option<u64> {
        pause(attempts, retry_after_ms.map(Duration::from_millis), 7, 1).map(|pause| pause.as_secs())
    }

    #[test]
    fn a_server_is_not_asked_again_before_it_wants_to_be() {
        assert_eq!(pause_s(1, Some(90_000)), Some(90));
        assert_eq!(pause_s(1, Some(1_500)), Some(2), "rounded up to whole seconds");
        assert_eq!(pause_s(1, Some(0)), Some(1), "not sooner than the policy says");
        assert_eq!(pause_s(1, Some(u64::MAX)), Some(86_400), "at most a day");
        assert_eq!(pause_s(8, Some(1_000)), None, "no ninth attempt");
    }

    #[test]
    fn pauses_are_spread_and_reproducible() {
        let spread = |seed| (0..50).map(|id| pause(6, None, seed, id)).collect::<Vec<_>>();
        assert_eq!(spread(1), spread(1));
        assert_ne!(spread(1), spread(2));
        let (least, most) = (spread(1).into_iter().min(), spread(1).into_iter().max());
        assert!(
            least < Some(Some(Duration::from_secs(3_200))) && most > Some(Some(Duration::from_secs(4_000)))
        );
    }

    #[test]
    fn retry_after_is_parsed_as_seconds_or_as_a_date() {
        for (value, now_s, want_ms) in [
            ("7", 0, Some(7_000)),
            (" 0.5 ", 0, Some(500)),
            ("0", 0, Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_770, Some(7_000)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 900_000_000, Some(0)),
            ("soon", 0, None),
            ("-1", 0, None),
            ("inf", 0, None),
            ("nan", 0, None),
            ("", 0, None),
            ("Sun, 99 Nov 1994 08:49:37 GMT", 0, None),
        ] {
            assert_eq!(parse_retry_after(value, now_s), want_ms.map(Duration::from_millis), "{value}");
        }
    }

    proptest! {
        #[test]
        fn pauses_follow_the_plan_within_the_jitter(seed: u64, id: i64, attempts in 0..20_u32) {
            let plan = [1_u64, 5, 30, 120, 600, 3_600, 21_600];
            let found = pause(attempts, None, seed, id).map(|pause| pause.as_secs());
            match attempts.checked_sub(1).and_then(|index| plan.get(index as usize)) {
                Some(plan_s) => {
                    let found = found.unwrap();
                    prop_assert!(found.abs_diff(*plan_s) * 5 <= *plan_s, "{found} for {plan_s}");
                }
                None => prop_assert_eq!(found, None),
            }
        }
    }
}
