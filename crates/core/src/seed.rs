//! Chance that is the same every time.
//!
//! A log must replay for years, so the generator is written down here rather than taken from a crate whose
//! stream may change between releases. It is SplitMix64 (Steele, Lea and Flood, 2014).

use sha2::{Digest, Sha256};

/// A stream of numbers from a debate's seed, separate for each purpose.
#[derive(Debug, Clone)]
pub struct SeededDraw(u64);

impl SeededDraw {
    /// The stream for `purpose`. Different purposes give unrelated streams.
    pub fn new(seed: u64, purpose: &str) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(seed.to_be_bytes());
        hasher.update(purpose.as_bytes());
        let state = hasher.finalize().iter().take(8).fold(0_u64, |n, byte| n << 8 | u64::from(*byte));
        Self(state)
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, each equally likely; 0 when `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // Multiply-shift keeps the bias under 2^-32 for any bound that a debate can have.
        let wide = u128::from(self.next_u64()) * bound as u128;
        usize::try_from(wide >> 64).unwrap_or_default()
    }

    /// A number from 0 up to, not including, 1.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Puts `items` in an order that this stream decides.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_stream_for_ever() {
        let mut draw = SeededDraw::new(7, "labels");
        let first: Vec<u64> = (0..3).map(|_| draw.next_u64()).collect();
        assert_eq!(
            first,
            [3_303_152_632_571_772_748, 17_261_801_678_302_991_785, 14_950_636_084_151_491_120],
            "written down: a change here breaks every old log"
        );
    }

    #[test]
    fn every_order_of_three_comes_up_about_equally_often() {
        let mut seen = std::collections::BTreeMap::new();
        for seed in 0..6_000 {
            let mut items = ['a', 'b', 'c'];
            SeededDraw::new(seed, "labels").shuffle(&mut items);
            *seen.entry(items).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|n| (880..1_120).contains(n)), "{seen:?}");
    }
}
