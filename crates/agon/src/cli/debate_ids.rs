//! New debate ids, seeds and nonces.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::errors::CliError;

/// Crockford's alphabet: it has no letters that look alike.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const TIME_BITS: u32 = 35;
const RANDOM_BITS: u32 = 25;
/// Odd, so that every number comes up before one repeats; large, so that neighbouring ids look different.
const STRIDE: u64 = 0x13C_6EF3;

/// A new id of twelve characters. Ids sort by time, to the second.
pub fn new_debate_id(unix_s: u64) -> Result<String, CliError> {
    static START: OnceLock<u64> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let start = match START.get() {
        Some(start) => *start,
        None => {
            let random = random_number()?;
            *START.get_or_init(|| random)
        }
    };
    // A batch opens thousands of debates in one second. A counter from a random start never repeats within a process;
    // a random number for each id soon would.
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    Ok(encode(unix_s, start.wrapping_add(count.wrapping_mul(STRIDE))))
}

/// A new seed of 53 bits, which JSON readers that store numbers as floats keep exactly.
pub fn new_seed() -> Result<u64, CliError> {
    Ok(random_number()? >> 11)
}

/// A new nonce of 128 bits, from which a debate's fence marker follows.
pub fn new_nonce() -> Result<String, CliError> {
    Ok(format!("{:016x}{:016x}", random_number()?, random_number()?))
}

fn random_number() -> Result<u64, CliError> {
    getrandom::u64().map_err(|why| CliError::System(format!("the system gives no random numbers: {why}")))
}

fn encode(unix_s: u64, random: u64) -> String {
    let time = unix_s & ((1 << TIME_BITS) - 1);
    let bits = time << RANDOM_BITS | random & ((1 << RANDOM_BITS) - 1);
    (0..TIME_BITS + RANDOM_BITS)
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
        let ids: HashSet<String> = (0..100_000).map(|_| new_debate_id(1_763_000_000).unwrap()).collect();
        assert_eq!(ids.len(), 100_000);
    }

    #[test]
    fn a_seed_survives_a_conversion_to_float() {
        for _ in 0..1_000 {
            let seed = new_seed().unwrap();
            assert_eq!(seed as f64 as u64, seed);
        }
    }
}
