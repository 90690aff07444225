//! How counts and lists are put into a sentence.

/// A count in words, as it stands in a sentence; big ones in digits.
pub(super) fn number(count: usize) -> String {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    WORDS.get(count).map_or_else(|| count.to_string(), |word| (*word).to_owned())
}

/// A sentence's first letter is a capital.
pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// "one, two and three".
pub(crate) fn joined(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

/// "3 to 6", "9".
pub(super) fn ranges(rounds: &[u64]) -> Vec<String> {
    let follows = |a: &u64, b: &u64| a.checked_add(1) == Some(*b);
    let runs = rounds.chunk_by(follows);
    runs.flat_map(|run| match run {
        [first, .., last] if run.len() > 2 => vec![format!("{first} to {last}")],
        run => run.iter().map(u64::to_string).collect(),
    })
    .collect()
}

/// "round 2", "rounds 1 and 2", "rounds 1 to 3".
pub(crate) fn rounds(rounds: &[u64]) -> String {
    let noun = if rounds.len() == 1 { "round" } else { "rounds" };
    format!("{noun} {}", joined(&ranges(rounds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_counts_read_like_a_sentence() {
        assert_eq!((number(2), number(13)), ("two".to_owned(), "13".to_owned()));
        for (given, told) in [
            (&[2][..], "round 2"),
            (&[1, 2], "rounds 1 and 2"),
            (&[1, 2, 3, 5], "rounds 1 to 3 and 5"),
            (&[u64::MAX, 1], "rounds 18446744073709551615 and 1"),
        ] {
            assert_eq!(rounds(given), told);
        }
    }
}
