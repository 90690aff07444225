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
    format!("{:.2}", hundredths(value))
}

/// A number in whole hundredths, for reports. The noise of binary fractions does not decide where it is rounded, and zero has no sign.
pub fn hundredths(value: f64) -> f64 {
    ((value * 1e6).round() / 1e4).round() / 100.0 + 0.0
}

/// A duration: `0.8 s`, `14 s`, `2 min 05 s`.
pub fn seconds(ms: u64) -> String {
    let whole = ms.saturating_add(500) / 1000;
    match whole {
        _ if ms < 10_000 => format!("{:.1} s", (ms as f64 / 100.0).round() / 10.0),
        ..60 => format!("{whole} s"),
        _ => format!("{} min {:02} s", whole / 60, whole % 60),
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

/// The text with a full stop, unless it ends a sentence already, in whatever language.
pub fn sentence(text: &str) -> String {
    let text = text.trim_end();
    let is_over = text.ends_with("[...]") || text.trim_end_matches(is_closing).ends_with(is_stop);
    if is_over || text.is_empty() { text.to_owned() } else { format!("{text}.") }
}

/// The texts as sentences in a row. The last one keeps its own end.
pub fn sentences(texts: &[String]) -> String {
    match texts {
        [] => String::new(),
        [before @ .., last] => {
            before.iter().map(|text| format!("{} ", sentence(text))).chain([last.clone()]).collect()
        }
    }
}

/// The texts as parts of one sentence: `one; two; three`. Only the last one may end with a full stop.
pub fn clauses(texts: &[String]) -> String {
    match texts {
        [] => String::new(),
        [before @ .., last] => {
            before.iter().map(|text| format!("{}; ", without_stop(text))).chain([last.clone()]).collect()
        }
    }
}

/// The text without a full stop at its end. A question mark, an exclamation mark and dots that stand for more remain.
pub fn without_stop(text: &str) -> &str {
    let text = text.trim_end();
    let is_more = text.ends_with("..") || text.ends_with("[...]");
    if is_more {
        text
    } else {
        text.trim_end_matches(['.', '\u{3002}', '\u{ff0e}', '\u{ff61}', '\u{964}', '\u{589}', '\u{6d4}'])
    }
}

/// What ends a sentence, in several scripts.
fn is_stop(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '\u{2026}' | '\u{203d}' | '\u{2047}'..='\u{2049}')
        || matches!(c, '\u{3002}' | '\u{ff01}' | '\u{ff0e}' | '\u{ff1f}' | '\u{ff61}')
        || matches!(c, '\u{61f}' | '\u{6d4}' | '\u{964}' | '\u{965}' | '\u{589}' | '\u{1362}' | '\u{104b}')
}

/// What may follow the stop that it encloses.
fn is_closing(c: char) -> bool {
    matches!(c, '"' | '\'' | ')' | ']' | '\u{bb}' | '\u{ab}' | '*' | '`')
        || matches!(
            c,
            '\u{2018}'..='\u{201f}' | '\u{203a}' | '\u{300d}' | '\u{300f}' | '\u{300b}' | '\u{ff09}'
        )
}

/// A cut must save at least this much, which is about a line.
const CUT_CHARS_MIN: usize = 80;

/// The beginning of a text, cut at a word, with a mark where it was cut. A text that is longer by less than a line, or by less than
/// half where little is kept, is not cut: the mark would not be shorter than what it stands for.
pub fn excerpt(text: &str, chars_max: usize) -> String {
    let slack = CUT_CHARS_MIN.min(chars_max / 2);
    if text.chars().nth(chars_max.saturating_add(slack)).is_none() {
        return text.to_owned();
    }
    let Some((end, _)) = text.char_indices().nth(chars_max) else { return text.to_owned() };
    let kept = text.get(..end).unwrap_or_default();
    let kept = kept.rsplit_once(char::is_whitespace).map_or(kept, |(kept, _)| kept);
    format!("{} [...]", kept.trim_end())
}

/// The beginning of a text, cut at the end of a sentence. Where no sentence ends in time, it is cut at a word.
pub fn excerpt_of_sentences(text: &str, chars_max: usize) -> String {
    let short = excerpt(text, chars_max);
    let slack = CUT_CHARS_MIN.min(chars_max / 2);
    let ends = text.char_indices().take(chars_max.saturating_add(slack)).filter_map(|(at, c)| {
        let rest = text.get(at + c.len_utf8()..)?.trim_start_matches(is_closing);
        let is_end = is_stop(c) && (!c.is_ascii() || rest.starts_with(char::is_whitespace));
        is_end.then_some(text.len() - rest.len())
    });
    match ends.last().and_then(|end| text.get(..end)) {
        Some(kept) if short != text => format!("{kept} [...]"),
        _ => short,
    }
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

    /// Neither 2.735 nor a sum that falls just below it is 2.73 in one place and 2.74 in another.
    #[test]
    fn a_score_is_rounded_in_one_way() {
        for (value, written) in [
            (2.735, "2.74"),
            (2.734_999_999_999_999_4, "2.74"),
            (1.005, "1.01"),
            (2.5, "2.50"),
            (-0.001, "0.00"),
            (-0.0, "0.00"),
            (-0.126, "-0.13"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(score(value), written, "{value:?}");
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
        assert_eq!(excerpt("one two three four", 9), "one two [...]");
    }

    /// A reason that was cut two words before its end said less than one without the mark.
    #[test]
    fn an_excerpt_of_sentences_ends_where_one_does() {
        let long = "and nobody knows the queue ".repeat(4);
        for (text, told) in [
            ("One. Two.", "One. Two.".to_owned()),
            (&format!("It costs 3.5 weeks. So {long}"), "It costs 3.5 weeks. [...]".to_owned()),
            (&format!("One (\"two.\") Three, {long}"), "One (\"two.\") [...]".to_owned()),
            (&format!("\u{4e00}\u{3002}\u{4e8c} {long}"), "\u{4e00}\u{3002} [...]".to_owned()),
            (&format!("Nobody counts it {long}"), "Nobody counts it and nobody [...]".to_owned()),
        ] {
            assert_eq!(excerpt_of_sentences(text, 30), told);
        }
    }

    /// "[...]" for the one word "preparations" saved nothing.
    #[test]
    fn a_cut_saves_at_least_a_line() {
        let line = "a word and another one ".repeat(30);
        for (chars, is_cut) in [(500, false), (540, false), (580, false), (581, true), (660, true)] {
            let text: String = line.chars().take(chars).collect();
            let shown = excerpt(&text, 500);
            assert_eq!(shown.ends_with(" [...]"), is_cut, "{chars}");
            assert!(!is_cut || shown.chars().count() + CUT_CHARS_MIN - " [...]".len() <= chars, "{chars}");
        }
    }

    #[test]
    fn a_stop_is_never_doubled() {
        for (text, told, bare) in [
            ("It is cheap", "It is cheap.", "It is cheap"),
            ("It is cheap.", "It is cheap.", "It is cheap"),
            ("It is cheap. ", "It is cheap.", "It is cheap"),
            ("Is it cheap?", "Is it cheap?", "Is it cheap?"),
            ("Es ist billig!", "Es ist billig!", "Es ist billig!"),
            ("Es ist billig \u{2026}", "Es ist billig \u{2026}", "Es ist billig \u{2026}"),
            ("and so on ...", "and so on ...", "and so on ..."),
            ("a word [...]", "a word [...]", "a word [...]"),
            (
                "\u{8fd9}\u{5f88}\u{4fbf}\u{5b9c}\u{3002}",
                "\u{8fd9}\u{5f88}\u{4fbf}\u{5b9c}\u{3002}",
                "\u{8fd9}\u{5f88}\u{4fbf}\u{5b9c}",
            ),
            ("\u{8d35}\u{5417}\u{ff1f}", "\u{8d35}\u{5417}\u{ff1f}", "\u{8d35}\u{5417}\u{ff1f}"),
            ("\u{6c7a}\u{5b9a}\u{ff01}", "\u{6c7a}\u{5b9a}\u{ff01}", "\u{6c7a}\u{5b9a}\u{ff01}"),
            ("\u{926}\u{93e}\u{92e} \u{964}", "\u{926}\u{93e}\u{92e} \u{964}", "\u{926}\u{93e}\u{92e} "),
            ("\u{647}\u{644}\u{61f}", "\u{647}\u{644}\u{61f}", "\u{647}\u{644}\u{61f}"),
            ("He said \"no.\"", "He said \"no.\"", "He said \"no.\""),
            (
                "\u{300c}\u{4e0d}\u{3002}\u{300d}",
                "\u{300c}\u{4e0d}\u{3002}\u{300d}",
                "\u{300c}\u{4e0d}\u{3002}\u{300d}",
            ),
            ("It is cheap (2 of 3)", "It is cheap (2 of 3).", "It is cheap (2 of 3)"),
            ("", "", ""),
        ] {
            assert_eq!((sentence(text).as_str(), without_stop(text)), (told, bare), "{text}");
        }
        let texts = ["Reason: It is late.", "Question: Why?", "Note: none"].map(str::to_owned);
        assert_eq!(sentences(&texts), "Reason: It is late. Question: Why? Note: none");
        assert_eq!(clauses(&texts), "Reason: It is late; Question: Why?; Note: none");
        assert_eq!((sentences(&[]), clauses(&[])), (String::new(), String::new()));
    }
}
