//! Where sentences end, and how one is made presentable.

/// Short words before a full stop that is none.
const ABBREVIATIONS: &[&str] =
    &["e.g", "i.e", "etc", "vs", "dr", "mr", "mrs", "ms", "st", "no", "approx", "fig", "al"];

/// Where the text of so many sentences ends, if more has come after it; a paragraph's end is a sentence's end.
pub(crate) fn end(text: &str, sentences: usize) -> Option<usize> {
    let begin = text.len() - text.trim_start().len();
    let mut ends = ends(text.get(begin..).unwrap_or_default()).map(|end| end + begin);
    ends.nth(sentences.saturating_sub(1)).filter(|end| *end < text.len())
}

/// The words without what small models put round them: a greeting, a bullet, the name of a field. Half a sentence at the end is left out
/// if a whole one stands before it, and else shown to be half.
pub(crate) fn tidy(text: &str, sentences: usize) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_start_matches(|c: char| {
        matches!(c, '-' | '*' | '#' | '>' | ':' | '.' | ',' | '"') || c.is_whitespace()
    });
    let line = without_speaker(line).trim_start_matches(['-', '*', '"', ' ']);
    let line = line.replace("**", "");
    let line = line.trim_end_matches(|c: char| matches!(c, '"' | '*') || c.is_whitespace());
    if line.is_empty() {
        return String::new();
    }
    let whole: Vec<usize> = ends(line).take(sentences).collect();
    let kept = match whole.last() {
        Some(end) => line.get(..*end).unwrap_or(line).to_owned(),
        None => format!("{}\u{2026}", line.trim_end_matches([',', ';', ':', ' ', '-'])),
    };
    // A quotation that is opened and never closed.
    let kept = if kept.matches('"').count() % 2 == 1 { kept.replace('"', "") } else { kept };
    let mut chars = kept.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The words without the name of whoever is said to say them, if they begin with it ("Debater A: ...").
fn without_speaker(line: &str) -> &str {
    let named = line.split_once(": ").filter(|(name, _)| {
        let mut words = name.split(' ');
        words.next().is_some_and(|word| word.starts_with(char::is_uppercase))
            && words.clone().count() == 1
            && words.all(|label| label.len() == 1)
    });
    named.map_or(line, |(_, words)| words)
}

/// The places just after each sentence.
fn ends(text: &str) -> impl Iterator<Item = usize> {
    let mut found = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((place, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let quoted = next.filter(|next| matches!(next, '"' | '\u{201D}' | ')'));
        let closes =
            matches!(c, '.' | '!' | '?' | '。') && (quoted.is_some() || next.is_none_or(char::is_whitespace));
        let before = text.get(..place).unwrap_or_default();
        let word = before.rsplit([' ', '\n', '(']).next().unwrap_or_default().to_lowercase();
        // The number of an entry in a list, not a year.
        let numbered = matches!(word.len(), 1 | 2) && word.chars().all(|c| c.is_ascii_digit());
        let abbreviated = c == '.' && (ABBREVIATIONS.contains(&word.as_str()) || numbered);
        if closes && !abbreviated {
            found.push(place + c.len_utf8() + quoted.map_or(0, char::len_utf8));
        } else if c == '\n'
            && next == Some('\n')
            && !before.trim().is_empty()
            && !before.trim_end().ends_with(['.', '!', '?', ':'])
        {
            found.push(place);
        }
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_where_a_reader_would_say_so() {
        for (text, sentences, kept) in [
            ("Tabs. Always", 1, Some("Tabs.")),
            ("Tabs, e.g. in Go, are fine. Yes", 1, Some("Tabs, e.g. in Go, are fine.")),
            ("Version 1.5 is out. Yes", 1, Some("Version 1.5 is out.")),
            ("1. Tabs are fine. Yes", 1, Some("1. Tabs are fine.")),
            ("The reasons are: 1. Width. 2. Looks", 1, Some("The reasons are: 1. Width.")),
            ("It began in 1987. Yes", 1, Some("It began in 1987.")),
            ("Is it? Yes! No", 2, Some("Is it? Yes!")),
            ("A heading\n\nand more", 1, Some("A heading")),
            ("  Tabs. x", 1, Some("  Tabs.")),
            ("Tabs.", 1, None),
            ("Tabs are", 1, None),
            ("Tabs. Yes", 2, None),
        ] {
            assert_eq!(end(text, sentences).map(|end| &text[..end]), kept, "{text:?}");
        }
    }

    // "made of sensible sentences": what stands round them is taken away, and half of one is left out or shown to be half.
    #[test]
    fn what_small_models_put_round_a_sentence_is_taken_away() {
        for (text, sentences, tidied) in [
            ("- **Tabs** are fine.", 1, "Tabs are fine."),
            ("\"tabs are fine.\"", 1, "Tabs are fine."),
            ("It is: \"tabs are fine. And", 1, "It is: tabs are fine."),
            ("Debater A: - \"tabs are fine.\" And", 1, "Tabs are fine."),
            ("The answer: tabs are fine.", 1, "The answer: tabs are fine."),
            ("Tabs are fine. And then", 3, "Tabs are fine."),
            ("Tabs are\n fine, and", 1, "Tabs are fine, and\u{2026}"),
            (" \n", 1, ""),
            ("One. Two. Three.", 2, "One. Two."),
        ] {
            assert_eq!(tidy(text, sentences), tidied, "{text:?}");
        }
    }
}
