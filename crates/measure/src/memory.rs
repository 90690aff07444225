//! How long a memory lasts.
//!
//! A memory is in one of four tiers, each with its own half-life, and starts in the fastest. A memory whose outcomes keep
//! differing from the predictions moves up to a longer half-life; one that no longer surprises moves down. A memory that
//! does not come up again sinks with time, tier by tier, until it is forgotten.
//!
//! Everything is a pure function of the observations and their times. The caller supplies the time.

use serde::{Deserialize, Serialize};

/// A memory moves up if its mean surprise is at least this.
const SURPRISE_TO_MOVE_UP: f64 = 0.5;

/// A memory moves down if its mean surprise is at most this.
const SURPRISE_TO_MOVE_DOWN: f64 = 0.2;

/// The weight of the newest observation in the running mean of the surprise.
const NEWEST_WEIGHT: f64 = 0.5;

/// A memory that does not come up again leaves its tier after this many half-lives, when its weight is 1/16.
pub const HALF_LIVES_PER_TIER: i64 = 4;

/// Makes both thresholds inclusive despite rounding.
const TOLERANCE: f64 = 1e-9;

/// How fast a memory fades.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryTier {
    /// A half-life of one hour.
    Fast,
    /// One day.
    Medium,
    /// One week.
    Slow,
    /// Thirty days.
    Glacial,
}

impl MemoryTier {
    /// All tiers, fastest first.
    pub const ALL: [Self; 4] = [Self::Fast, Self::Medium, Self::Slow, Self::Glacial];

    /// The time in which a memory loses half of its weight, in seconds.
    pub fn half_life_s(self) -> i64 {
        match self {
            Self::Fast => 3_600,
            Self::Medium => 24 * 3_600,
            Self::Slow => 7 * 24 * 3_600,
            Self::Glacial => 30 * 24 * 3_600,
        }
    }

    /// The name in JSON and in the store.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Medium => "medium",
            Self::Slow => "slow",
            Self::Glacial => "glacial",
        }
    }

    /// The tier with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.name() == name)
    }

    fn slower(self) -> Self {
        match self {
            Self::Fast => Self::Medium,
            Self::Medium => Self::Slow,
            Self::Slow | Self::Glacial => Self::Glacial,
        }
    }

    fn faster(self) -> Option<Self> {
        match self {
            Self::Fast => None,
            Self::Medium => Some(Self::Fast),
            Self::Slow => Some(Self::Medium),
            Self::Glacial => Some(Self::Slow),
        }
    }
}

/// Everything about a memory except its text.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MemoryState {
    /// How fast it fades.
    pub tier: MemoryTier,
    /// The running mean of the distance between predictions and outcomes, from 0 to 1.
    pub surprise: f64,
    /// The agent's confidence, from 0 to 1.
    pub confidence: f64,
    /// How many outcomes were observed.
    pub seen: u32,
    /// When it last changed, in seconds since 1970.
    pub since_s: i64,
}

impl MemoryState {
    /// A new memory without observations.
    pub fn new(confidence: f64, now_s: i64) -> Self {
        let confidence = clamp_share(confidence);
        Self { tier: MemoryTier::Fast, surprise: 0.0, confidence, seen: 0, since_s: now_s }
    }

    /// The memory after it has faded until `now_s`; `None` if it is forgotten.
    ///
    /// It enters the next faster tier at the moment its weight falls below 1/16. Looking once or often gives the same result.
    pub fn at(self, now_s: i64) -> Option<Self> {
        let mut memory = self;
        loop {
            let leaves_s = memory.since_s.saturating_add(HALF_LIVES_PER_TIER * memory.tier.half_life_s());
            if now_s <= leaves_s {
                return Some(memory);
            }
            memory = Self { tier: memory.tier.faster()?, since_s: leaves_s, ..memory };
        }
    }

    /// The memory after it came up again without a prediction: it does not surprise, and fades from now on.
    #[must_use]
    pub fn refreshed(self, now_s: i64) -> Self {
        let memory = self.at(now_s).unwrap_or_else(|| Self::new(self.confidence, now_s));
        Self { since_s: now_s.max(memory.since_s), ..memory }
    }

    /// The memory after an outcome, from 0 to 1, that was predicted as `prediction`.
    ///
    /// The first observation is the mean. A forgotten memory starts anew.
    #[must_use]
    pub fn observed(self, prediction: f64, outcome: f64, now_s: i64) -> Self {
        let memory = self.at(now_s).unwrap_or_else(|| Self::new(prediction, now_s));
        let distance = (clamp_share(outcome) - clamp_share(prediction)).abs();
        let surprise = match memory.seen {
            0 => distance,
            _ => memory.surprise + NEWEST_WEIGHT * (distance - memory.surprise),
        };
        let tier = if surprise >= SURPRISE_TO_MOVE_UP - TOLERANCE {
            memory.tier.slower()
        } else if surprise <= SURPRISE_TO_MOVE_DOWN + TOLERANCE {
            memory.tier.faster().unwrap_or(MemoryTier::Fast)
        } else {
            memory.tier
        };
        Self {
            tier,
            surprise,
            confidence: clamp_share(prediction),
            seen: memory.seen.saturating_add(1),
            // A clock that was set back must not age the memory.
            since_s: now_s.max(memory.since_s),
        }
    }

    /// The remaining weight: 1 if it has just changed, one half after a half-life.
    pub fn weight(&self, now_s: i64) -> f64 {
        let age_s = now_s.saturating_sub(self.since_s).max(0);
        (-(age_s as f64) / self.tier.half_life_s() as f64).exp2()
    }

    /// How relevant the memory is to a question, from 0 to 1, given their similarity.
    pub fn score(&self, similarity: f64, now_s: i64) -> f64 {
        similarity * self.weight(now_s) * (0.5 + 0.5 * self.confidence)
    }
}

/// Clamps to 0..=1; NaN becomes 0.
fn clamp_share(number: f64) -> f64 {
    if number.is_nan() { 0.0 } else { number.clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOUR: i64 = 3_600;
    const DAY: i64 = 24 * HOUR;
    const NOW: i64 = 1_800_000_000;

    fn memory(tier: MemoryTier, surprise: f64) -> MemoryState {
        MemoryState { tier, surprise, confidence: 0.5, seen: 1, since_s: NOW }
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn half_the_weight_is_left_after_a_half_life() {
        let half_lives_s = [HOUR, DAY, 7 * DAY, 30 * DAY];
        for (tier, half_life_s) in MemoryTier::ALL.into_iter().zip(half_lives_s) {
            let memory = memory(tier, 0.3);
            assert_eq!(memory.weight(NOW), 1.0);
            assert!(near(memory.weight(NOW + half_life_s), 0.5), "{tier:?}");
            assert!(near(memory.weight(NOW + 3 * half_life_s), 0.125), "{tier:?}");
            assert!(near(memory.weight(NOW + half_life_s / 2), 0.5_f64.sqrt()), "{tier:?}");
            assert_eq!(MemoryTier::from_name(tier.name()), Some(tier));
        }
        assert_eq!(MemoryTier::from_name("eternal"), None);
    }

    #[test]
    fn the_score_combines_similarity_weight_and_confidence() {
        let sure = MemoryState { confidence: 1.0, ..memory(MemoryTier::Medium, 0.3) };
        let unsure = MemoryState { confidence: 0.0, ..sure };
        assert!(near(sure.score(0.8, NOW + DAY), 0.4));
        assert!(near(unsure.score(0.8, NOW + DAY), 0.2));
        assert_eq!(sure.score(0.0, NOW), 0.0);
    }

    #[test]
    fn a_surprise_of_one_half_moves_up_and_of_one_fifth_moves_down() {
        use MemoryTier::{Fast, Glacial, Medium, Slow};
        for (surprise, expected) in [
            (0.5, [Medium, Slow, Glacial, Glacial]),
            (0.500_001, [Medium, Slow, Glacial, Glacial]),
            (0.499_999, [Fast, Medium, Slow, Glacial]),
            (0.200_001, [Fast, Medium, Slow, Glacial]),
            (0.2, [Fast, Fast, Medium, Slow]),
            (0.199_999, [Fast, Fast, Medium, Slow]),
        ] {
            for (from, to) in MemoryTier::ALL.into_iter().zip(expected) {
                // An observation as far off as the mean does not change the mean.
                let after = memory(from, surprise).observed(surprise, 0.0, NOW + 60);
                assert_eq!(after.tier, to, "{surprise} in {from:?}");
                assert!(near(after.surprise, surprise));
                assert_eq!((after.since_s, after.seen), (NOW + 60, 2));
            }
        }
    }

    /// After n observations that are all off by d, the mean is d + (s - d) / 2^n.
    #[test]
    fn the_surprise_is_a_running_mean() {
        let (start, off) = (0.35, 0.3);
        let mut state = memory(MemoryTier::Slow, start);
        for n in 1..=20 {
            state = state.observed(off, 0.0, NOW + n);
            assert!(near(state.surprise, off + (start - off) / 2_f64.powi(n as i32)), "after {n}");
            assert_eq!(state.tier, MemoryTier::Slow, "between the thresholds");
        }
        assert_eq!(state.seen, 21);
    }

    #[test]
    fn a_new_memory_starts_fast_and_its_first_observation_can_move_it() {
        let new = MemoryState::new(0.9, NOW);
        assert_eq!((new.tier, new.seen, new.surprise, new.confidence), (MemoryTier::Fast, 0, 0.0, 0.9));
        let (lost, won) = (new.observed(0.9, 0.0, NOW), new.observed(0.9, 1.0, NOW));
        assert_eq!((lost.tier, lost.seen), (MemoryTier::Medium, 1));
        assert!(near(lost.surprise, 0.9));
        assert_eq!((won.tier, won.seen), (MemoryTier::Fast, 1));
        assert!(near(won.surprise, 0.1));
    }

    /// Four half-lives after the last change, and not a second earlier.
    #[test]
    fn an_unused_memory_sinks_tier_by_tier_until_it_is_forgotten() {
        let glacial = memory(MemoryTier::Glacial, 0.9);
        let mut leaves_s = NOW;
        for (tier, below) in [
            (MemoryTier::Glacial, Some(MemoryTier::Slow)),
            (MemoryTier::Slow, Some(MemoryTier::Medium)),
            (MemoryTier::Medium, Some(MemoryTier::Fast)),
            (MemoryTier::Fast, None),
        ] {
            let entered_s = leaves_s;
            leaves_s += 4 * tier.half_life_s();
            let last = glacial.at(leaves_s).unwrap();
            assert_eq!((last.tier, last.since_s), (tier, entered_s), "still in its tier");
            assert!(near(last.weight(leaves_s), 1.0 / 16.0), "at the threshold");
            let next = glacial.at(leaves_s + 1);
            assert_eq!(next.map(|state| (state.tier, state.since_s)), below.map(|tier| (tier, leaves_s)));
        }
        assert_eq!(leaves_s - NOW, 120 * DAY + 28 * DAY + 4 * DAY + 4 * HOUR);
        assert_eq!(glacial.at(NOW - 5), Some(glacial), "a clock that was set back forgets nothing");
    }

    #[test]
    fn an_observation_applies_to_the_memory_as_it_has_faded() {
        let slow = memory(MemoryTier::Slow, 0.9);
        let later_s = NOW + 28 * DAY + 1;
        let seen = slow.observed(0.9, 0.0, later_s);
        let expected = (MemoryTier::Slow, later_s);
        assert_eq!((seen.tier, seen.since_s), expected, "down to medium by time, up by surprise");
        let forgotten_s = NOW + 4 * HOUR + 1;
        let anew = memory(MemoryTier::Fast, 0.9).observed(0.3, 0.0, forgotten_s);
        assert_eq!((anew.tier, anew.seen, anew.surprise), (MemoryTier::Fast, 1, 0.3), "forgotten, so new");
    }

    #[test]
    fn a_memory_that_comes_up_again_fades_from_then_on() {
        let slow = memory(MemoryTier::Slow, 0.9);
        assert_eq!(slow.refreshed(NOW + DAY), MemoryState { since_s: NOW + DAY, ..slow });
        let sunk = slow.refreshed(NOW + 29 * DAY);
        assert_eq!((sunk.tier, sunk.since_s, sunk.surprise), (MemoryTier::Medium, NOW + 29 * DAY, 0.9));
        let anew = memory(MemoryTier::Fast, 0.9).refreshed(NOW + DAY);
        assert_eq!(anew, MemoryState::new(0.5, NOW + DAY), "forgotten except for the confidence");
    }

    #[test]
    fn numbers_outside_zero_to_one_are_clamped() {
        let odd = MemoryState::new(f64::NAN, NOW).observed(f64::INFINITY, -3.0, NOW);
        assert_eq!((odd.confidence, odd.surprise), (1.0, 1.0));
        let none = MemoryState::new(f64::NAN, NOW).observed(f64::NAN, 0.0, NOW);
        assert_eq!((none.confidence, none.surprise), (0.0, 0.0));
    }

    fn any_memory() -> impl Strategy<Value = MemoryState> {
        let tier = prop::sample::select(MemoryTier::ALL.to_vec());
        (tier, 0.0..=1.0, 0.0..=1.0, 0_u32..9, -DAY..DAY).prop_map(
            |(tier, surprise, confidence, seen, age_s)| MemoryState {
                tier,
                surprise,
                confidence,
                seen,
                since_s: NOW + age_s,
            },
        )
    }

    proptest! {
        #[test]
        fn looking_often_changes_nothing(
            memory in any_memory(), mut steps in prop::collection::vec(0..200 * DAY, 1..8)
        ) {
            steps.sort_unstable();
            let mut seen = Some(memory);
            for step_s in &steps {
                seen = seen.and_then(|memory| memory.at(NOW + step_s));
                prop_assert_eq!(seen, memory.at(NOW + step_s));
            }
        }

        /// Until a memory is forgotten its weight is at least 1/16. Within a tier the weight only falls.
        #[test]
        fn the_weight_falls_with_time(memory in any_memory(), ages in (0..200 * DAY, 0..200 * DAY)) {
            let (early_s, late_s) = (NOW + ages.0.min(ages.1), NOW + ages.0.max(ages.1));
            if let Some(memory) = memory.at(late_s) {
                let weight = memory.weight(late_s);
                prop_assert!((1.0 / 16.0..=1.0).contains(&weight), "{}", weight);
                let score = memory.score(0.7, late_s);
                prop_assert!(score > 0.0 && score <= 0.7);
            }
            let within = |moment_s: i64| moment_s.min(memory.since_s + 100 * HOUR);
            let (early, late) = (memory.weight(within(early_s)), memory.weight(within(late_s)));
            prop_assert!(late > 0.0 && late <= early && early <= 1.0);
        }

        #[test]
        fn an_observation_moves_a_memory_by_at_most_one_tier(
            memory in any_memory(), p in 0.0..=1.0, o in 0.0..=1.0
        ) {
            let now_s = memory.since_s + 60;
            let after = memory.observed(p, o, now_s);
            prop_assert!((0.0..=1.0).contains(&after.surprise));
            prop_assert!((after.tier as i32 - memory.tier as i32).abs() <= 1);
            prop_assert_eq!(after.tier > memory.tier, after.surprise >= 0.5 && memory.tier != MemoryTier::Glacial);
            prop_assert_eq!(after.tier < memory.tier, after.surprise <= 0.2 && memory.tier != MemoryTier::Fast);
        }
    }
}
