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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pause_s(attempts: u32, retry_after_ms: Option<u64>) -> Option<u64> {
        pause(attempts, retry_after_ms.map(Duration::from_millis), 7, 1).map(|pause| pause.as_secs())
    }

    #[test]
    fn a_server_is_not_asked_before_it_wants_to_be() {
        assert_eq!(pause_s(1, Some(90_000)), Some(90));
        assert_eq!(pause_s(1, Some(1_500)), Some(2), "whole seconds, and never too early");
        assert_eq!(pause_s(1, Some(0)), Some(1), "nor sooner than it would be");
        assert_eq!(pause_s(1, Some(u64::MAX)), Some(86_400), "nor later than in a day");
        assert_eq!(pause_s(8, Some(1_000)), None, "a wish makes no ninth attempt");
    }

    #[test]
    fn pauses_are_spread_and_the_same_with_the_same_seed() {
        let spread = |seed| (0..50).map(|id| pause(6, None, seed, id)).collect::<Vec<_>>();
        assert_eq!(spread(1), spread(1));
        assert_ne!(spread(1), spread(2));
        let (least, most) = (spread(1).into_iter().min(), spread(1).into_iter().max());
        assert!(
            least < Some(Some(Duration::from_secs(3_200))) && most > Some(Some(Duration::from_secs(4_000)))
        );
    }

    proptest! {
        /// "pauses 1 s, 5 s, 30 s, 2 min, 10 min, 1 h, 6 h (with seeded jitter of 20%), 8 attempts then dead"
        #[test]
        fn pauses_are_those_of_the_policy(seed: u64, id: i64, attempts in 0..20_u32) {
            let plan = [1_u64, 5, 30, 120, 600, 3_600, 21_600];
            let found = pause(attempts, None, seed, id).map(|pause| pause.as_secs());
            match attempts.checked_sub(1).and_then(|place| plan.get(place as usize)) {
                Some(plan_s) => {
                    let found = found.unwrap();
                    prop_assert!(found.abs_diff(*plan_s) * 5 <= *plan_s, "{found} for {plan_s}");
                }
                None => prop_assert_eq!(found, None),
            }
        }
    }
}
