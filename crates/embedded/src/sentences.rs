//! Where sentences end, and how to clean up what a small model wrote.

/// Words whose full stop does not end a sentence.
const ABBREVIATIONS: &[&str] =
    &["e.g", "i.e", "etc", "vs", "dr", "mr", "mrs", "ms", "st", "no", "approx", "fig", "al"];

/// Where the first `sentences` sentences end, if more text follows. The end of a paragraph ends a sentence too.
pub(crate) fn end_of_sentences(text: &str, sentences: usize) -> Option<usize> {
    let begin = text.len() - text.trim_start().len();
    let mut ends = sentence_ends(text.get(begin..).unwrap_or_default()).map(|end| end + begin);
    ends.nth(sentences.saturating_sub(1)).filter(|end| *end < text.len())
}

/// The text without what small models put around it: bullets, quotation marks, the name of a speaker. An unfinished sentence
/// at the end is dropped if there is a finished one, and otherwise ends with an ellipsis.
pub(crate) fn tidy_sentences(text: &str, sentences: usize) -> String {
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
    let finished: Vec<usize> = sentence_ends(line).take(sentences).collect();
    let kept = match finished.last() {
        Some(end) => line.get(..*end).unwrap_or(line).to_owned(),
        None => format!("{}\u{2026}", line.trim_end_matches([',', ';', ':', ' ', '-'])),
    };
    // A quotation that is never closed.
    let kept = if kept.matches('"').count() % 2 == 1 { kept.replace('"', "") } else { kept };
    let mut chars = kept.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The text without a speaker's name at its beginning ("Debater A: ...").
fn without_speaker(line: &str) -> &str {
    let named = line.split_once(": ").filter(|(name, _)| {
        let mut words = name.split(' ');
        words.next().is_some_and(|word| word.starts_with(char::is_uppercase))
            && words.clone().count() == 1
            && words.all(|label| label.len() == 1)
    });
    named.map_or(line, |(_, words)| words)
}

/// The positions just after each sentence.
fn sentence_ends(text: &str) -> impl Iterator<Item = usize> {
    let mut found = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((position, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let quoted = next.filter(|next| matches!(next, '"' | '\u{201D}' | ')'));
        let closes =
            matches!(c, '.' | '!' | '?' | '。') && (quoted.is_some() || next.is_none_or(char::is_whitespace));
        let before = text.get(..position).unwrap_or_default();
        let word = before.rsplit([' ', '\n', '(']).next().unwrap_or_default().to_lowercase();
        // The number of a list entry, not a year.
        let numbered = matches!(word.len(), 1 | 2) && word.chars().all(|c| c.is_ascii_digit());
        let abbreviated = c == '.' && (ABBREVIATIONS.contains(&word.as_str()) || numbered);
        if closes && !abbreviated {
            found.push(position + c.len_utf8() + quoted.map_or(0, char::len_utf8));
        } else if c == '\n'
            && next == Some('\n')
            && !before.trim().is_empty()
            && !before.trim_end().ends_with(['.', '!', '?', ':'])
        {
            found.push(position);
        }
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_where_a_reader_would_end_it() {
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
            assert_eq!(end_of_sentences(text, sentences).map(|end| &text[..end]), kept, "{text:?}");
        }
    }

    #[test]
    fn what_small_models_put_around_a_sentence_is_removed() {
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
            assert_eq!(tidy_sentences(text, sentences), tidied, "{text:?}");
        }
    }
}
