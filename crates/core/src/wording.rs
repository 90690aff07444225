//! How numbers, names and lists are written in reports.

/// A count with thousands separators: `8,412`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let lead = digits.len() % 3;
    let mut written = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && place % 3 == lead {
            written.push(',');
        }
        written.push(digit);
    }
    written
}

/// A count with its noun: `1 call`, `12 calls`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// US dollars with as many digits as are useful: `$12.30`, `$0.0123`, `$0.00042`.
pub fn dollars(usd: f64) -> String {
    match usd {
        _ if !usd.is_finite() || usd < 0.0 => "price unknown".into(),
        _ if usd == 0.0 => "$0.00".into(),
        _ if usd < 1e-6 => "under $0.000001".into(),
        _ if usd < 0.01 => {
            // Two significant digits.
            let places = (1.0 - usd.log10().floor()) as usize;
            let written = format!("{usd:.places$}");
            format!("${}", written.trim_end_matches('0'))
        }
        _ if usd < 1.0 => format!("${usd:.4}"),
        _ => {
            let cents = (usd * 100.0).round() as u64;
            format!("${}.{:02}", count(cents / 100), cents % 100)
        }
    }
}

/// A share in whole percent.
pub fn percent(part: u64, whole: u64) -> String {
    format!("{:.0}%", 100.0 * part as f64 / whole.max(1) as f64)
}

/// A score, or any other measure, with two decimals.
pub fn score(value: f64) -> String {
    format!("{value:.2}")
}

/// A duration: `0.8 s`, `14 s`, `2 min 05 s`.
pub fn seconds(ms: u64) -> String {
    match ms {
        0..10_000 => format!("{:.1} s", (ms as f64 / 100.0).round() / 10.0),
        10_000..60_000 => format!("{} s", ms / 1000),
        _ => format!("{} min {:02} s", ms / 60_000, ms / 1000 % 60),
    }
}

/// A small count as a word, for use in a sentence: `three`, but `13`.
pub fn number_word(count: usize) -> String {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    WORDS.get(count).map_or_else(|| count.to_string(), |word| (*word).to_owned())
}

/// The text with a capital first letter.
pub fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// A list in a sentence: `one, two and three`.
pub fn joined(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

/// Rounds in a sentence: `round 2`, `rounds 1 and 2`, `rounds 1 to 3`.
pub fn rounds(rounds: &[u32]) -> String {
    let noun = if rounds.len() == 1 { "round" } else { "rounds" };
    let runs = rounds.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let ranges: Vec<String> = runs
        .flat_map(|run| match run {
            [first, .., last] if run.len() > 2 => vec![format!("{first} to {last}")],
            run => run.iter().map(u32::to_string).collect(),
        })
        .collect();
    format!("{noun} {}", joined(&ranges))
}

/// A wire name as words: `partial_concede` becomes `partial concede`.
pub fn spoken(name: &str) -> String {
    name.replace(['_', '-'], " ").trim().to_owned()
}

/// A wire name as a heading: `new_points_ratio` becomes `New points ratio`.
pub fn heading(name: &str) -> String {
    capitalized(&spoken(name))
}

/// A seat's id as a name: `moderator` becomes `Moderator`, but `debater-2` keeps its dash.
pub fn seat_name(id: &str) -> String {
    if id.contains('-') { id.to_owned() } else { heading(id) }
}

/// The beginning of a text, cut at a word, with a mark where it was cut.
pub fn excerpt(text: &str, chars_max: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(chars_max) else { return text.to_owned() };
    let kept = text.get(..end).unwrap_or_default();
    let kept = kept.rsplit_once(char::is_whitespace).map_or(kept, |(kept, _)| kept);
    format!("{} [...]", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_separators() {
        for (number, written) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (8_412, "8,412"), (1_234_567, "1,234,567")]
        {
            assert_eq!(count(number), written);
        }
        assert_eq!((counted(1, "call"), counted(2, "call")), ("1 call".into(), "2 calls".into()));
    }

    #[test]
    fn dollars_have_useful_digits() {
        for (usd, written) in [
            (0.0, "$0.00"),
            (1e-9, "under $0.000001"),
            (0.000_42, "$0.00042"),
            (0.005, "$0.005"),
            (0.0123, "$0.0123"),
            (0.5, "$0.5000"),
            (12.3, "$12.30"),
            (1_234.567, "$1,234.57"),
            (f64::NAN, "price unknown"),
        ] {
            assert_eq!(dollars(usd), written);
        }
    }

    #[test]
    fn durations_are_short() {
        for (ms, written) in
            [(0, "0.0 s"), (840, "0.8 s"), (9_999, "10.0 s"), (14_200, "14 s"), (125_000, "2 min 05 s")]
        {
            assert_eq!(seconds(ms), written);
        }
    }

    #[test]
    fn lists_and_counts_read_like_a_sentence() {
        assert_eq!((number_word(2), number_word(13)), ("two".to_owned(), "13".to_owned()));
        for (given, told) in [
            (&[2][..], "round 2"),
            (&[1, 2], "rounds 1 and 2"),
            (&[1, 2, 3, 5], "rounds 1 to 3 and 5"),
            (&[u32::MAX, 1], "rounds 4294967295 and 1"),
        ] {
            assert_eq!(rounds(given), told);
        }
    }

    #[test]
    fn an_excerpt_ends_at_a_word_and_says_that_it_was_cut() {
        assert_eq!(excerpt("one two three", 20), "one two three");
        assert_eq!(excerpt("one two three", 9), "one two [...]");
    }
}
