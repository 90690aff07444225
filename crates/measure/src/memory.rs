//! How long something is remembered.
//!
//! A memory is in one of four tiers, each with its own half-life. It starts in the fastest. What surprised is worth keeping:
//! a memory whose outcomes keep departing from what was predicted moves up to the longer half-life, and one that has
//! stopped surprising moves down. One that nobody comes back to sinks by time alone, tier by tier, until it is forgotten.
//!
//! All of it is a pure function of what was observed and when; the clock is the caller's.

use serde::{Deserialize, Serialize};

/// A mean surprise from which on a memory moves up.
pub const SURPRISING: f64 = 0.5;

/// A mean surprise down from which a memory moves down.
pub const EXPECTED: f64 = 0.2;

/// The share of a new observation in the running mean of the surprise.
pub const NEWEST: f64 = 0.5;

/// After so many half-lives, which is a weight of 1/16, a memory that nobody came back to leaves its tier.
pub const HALF_LIVES: i64 = 4;

/// Both thresholds are inclusive, whatever the last bit of a sum is.
const TOLERANCE: f64 = 1e-9;

/// How fast a memory fades.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Half of it is gone after an hour.
    Fast,
    /// After a day.
    Medium,
    /// After a week.
    Slow,
    /// After thirty days.
    Glacial,
}

impl Tier {
    /// All of them, the fastest first.
    pub const ALL: [Self; 4] = [Self::Fast, Self::Medium, Self::Slow, Self::Glacial];

    /// The time in which a memory of this tier loses half of its weight.
    pub fn half_life_s(self) -> i64 {
        match self {
            Self::Fast => 3_600,
            Self::Medium => 24 * 3_600,
            Self::Slow => 7 * 24 * 3_600,
            Self::Glacial => 30 * 24 * 3_600,
        }
    }

    /// The name, as it is stored and shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Medium => "medium",
            Self::Slow => "slow",
            Self::Glacial => "glacial",
        }
    }

    /// The tier of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.name() == name)
    }

    fn up(self) -> Self {
        match self {
            Self::Fast => Self::Medium,
            Self::Medium => Self::Slow,
            Self::Slow | Self::Glacial => Self::Glacial,
        }
    }

    fn down(self) -> Option<Self> {
        match self {
            Self::Fast => None,
            Self::Medium => Some(Self::Fast),
            Self::Slow => Some(Self::Medium),
            Self::Glacial => Some(Self::Slow),
        }
    }
}

/// All of a memory but its words.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// How fast it fades.
    pub tier: Tier,
    /// The running mean of how far outcomes were from what was predicted, from 0 to 1.
    pub surprise: f64,
    /// How sure the one who remembers was, from 0 to 1.
    pub confidence: f64,
    /// How often it was observed.
    pub seen: u32,
    /// When it last changed, in seconds since 1970.
    pub since_s: i64,
}

impl Item {
    /// A new memory, of which no outcome has been observed yet.
    pub fn new(confidence: f64, now_s: i64) -> Self {
        Self { tier: Tier::Fast, surprise: 0.0, confidence: unit(confidence), seen: 0, since_s: now_s }
    }

    /// The memory as time alone has left it; `None` when it is forgotten.
    ///
    /// It leaves its tier at the moment at which its weight falls below 1/16, and is in the next one from then on: to look
    /// once or often gives the same.
    pub fn at(self, now_s: i64) -> Option<Self> {
        let mut item = self;
        loop {
            let leaves_s = item.since_s.saturating_add(HALF_LIVES * item.tier.half_life_s());
            if now_s <= leaves_s {
                return Some(item);
            }
            item = Self { tier: item.tier.down()?, since_s: leaves_s, ..item };
        }
    }

    /// The memory after it came up again without anything having been predicted: nothing surprised, and it lasts from now.
    #[must_use]
    pub fn met(self, now_s: i64) -> Self {
        let item = self.at(now_s).unwrap_or_else(|| Self::new(self.confidence, now_s));
        Self { since_s: now_s.max(item.since_s), ..item }
    }

    /// The memory after an outcome, from 0 to 1, that was predicted with `prediction`.
    ///
    /// The first observation is the mean. One that had been forgotten starts anew.
    #[must_use]
    pub fn observed(self, prediction: f64, outcome: f64, now_s: i64) -> Self {
        let item = self.at(now_s).unwrap_or_else(|| Self::new(prediction, now_s));
        let off = (unit(outcome) - unit(prediction)).abs();
        let surprise = if item.seen == 0 { off } else { item.surprise + NEWEST * (off - item.surprise) };
        let tier = if surprise >= SURPRISING - TOLERANCE {
            item.tier.up()
        } else if surprise <= EXPECTED + TOLERANCE {
            item.tier.down().unwrap_or(Tier::Fast)
        } else {
            item.tier
        };
        let confidence = unit(prediction);
        // A clock that was set back must not make a memory older than it is.
        Self {
            tier,
            surprise,
            confidence,
            seen: item.seen.saturating_add(1),
            since_s: now_s.max(item.since_s),
        }
    }
}

/// What is left of a memory: 1 when it has just changed, one half after a half-life.
pub fn weight(item: &Item, now_s: i64) -> f64 {
    let age_s = now_s.saturating_sub(item.since_s).max(0);
    (-(age_s as f64) / item.tier.half_life_s() as f64).exp2()
}

/// How much a memory counts for a question that it is so similar to, from 0 to 1.
pub fn score(similarity: f64, item: &Item, now_s: i64) -> f64 {
    similarity * weight(item, now_s) * (0.5 + 0.5 * item.confidence)
}

/// A number as a share. What is no number is none of it.
fn unit(number: f64) -> f64 {
    if number.is_nan() { 0.0 } else { number.clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests;
