//! Names for new debates, and chance for new seeds.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::failure::Failure;

/// Crockford's alphabet: no letter that a person takes for another.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const TIME_BITS: u32 = 35;
const CHANCE_BITS: u32 = 25;
/// Odd, so that it visits every number before it comes back; large, so that neighbours do not look alike.
const STRIDE: u64 = 0x13C_6EF3;

/// A new id: twelve characters that sort by time, to the second, and end in chance.
pub fn fresh(unix_s: u64) -> Result<String, Failure> {
    static START: OnceLock<u64> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let start = match START.get() {
        Some(start) => *start,
        None => *START.get_or_init({
            let chance = random()?;
            move || chance
        }),
    };
    // A batch opens thousands of debates in one second: counting on from a random start never repeats within a
    // process, where drawing afresh would soon do so.
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    Ok(encode(unix_s, start.wrapping_add(count.wrapping_mul(STRIDE))))
}

/// A new seed. JSON readers that hold numbers as floats keep 53 bits, so that is what a seed has.
pub fn seed() -> Result<u64, Failure> {
    Ok(random()? >> 11)
}

fn random() -> Result<u64, Failure> {
    getrandom::u64().map_err(|why| Failure::System(format!("the system gives no random numbers: {why}")))
}

fn encode(unix_s: u64, chance: u64) -> String {
    let time = unix_s & ((1 << TIME_BITS) - 1);
    let bits = time << CHANCE_BITS | chance & ((1 << CHANCE_BITS) - 1);
    (0..TIME_BITS + CHANCE_BITS)
        .step_by(5)
        .rev()
        .filter_map(|shift| ALPHABET.get(usize::try_from(bits >> shift & 31).ok()?))
        .map(|byte| char::from(*byte))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn an_id_has_twelve_characters_and_sorts_by_time() {
        let (first, second) = (encode(1_763_000_000, u64::MAX), encode(1_763_000_001, 0));
        assert_eq!((first.len(), second.len()), (12, 12));
        assert!(first < second);
        assert!(first.bytes().chain(second.bytes()).all(|byte| ALPHABET.contains(&byte)));
        assert_eq!(encode(0, 31), "00000000000z");
    }

    #[test]
    fn a_hundred_thousand_ids_of_one_second_are_all_different() {
        let ids: HashSet<String> = (0..100_000).map(|_| fresh(1_763_000_000).unwrap()).collect();
        assert_eq!(ids.len(), 100_000);
    }

    #[test]
    fn a_seed_survives_a_reader_that_holds_numbers_as_floats() {
        for _ in 0..1_000 {
            let seed = seed().unwrap();
            assert_eq!(seed as f64 as u64, seed);
        }
    }
}
