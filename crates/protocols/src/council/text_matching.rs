//! Compares texts: whether two make the same point, whether a quotation occurs in a text, which sentence is nearest to a point.

use crate::lexical::{figures, opposed, similarity};

/// Points that are this similar are one.
const SAME_POINT_MIN: f64 = 0.8;

/// A text reduced to its words: lower case, single spaces, no punctuation or quotation marks. Other symbols stay, because `< 5%` is
/// not `> 5%`.
pub(super) fn plain_words(text: &str) -> String {
    let text: Vec<char> = text.to_lowercase().chars().collect();
    let digit = |at: usize| text.get(at).is_some_and(char::is_ascii_digit);
    let is_punctuation = |at: usize, c: char| {
        let punctuation = matches!(
            c,
            ',' | '.' | ';' | ':' | '!' | '?' | '\'' | '"' | '`' | '(' | ')' | '\u{2018}'
                ..='\u{201f}' | '\u{2026}'
        );
        // The point of 0.5 is part of the number.
        punctuation && !(at > 0 && digit(at - 1) && digit(at + 1))
    };
    let kept = text.iter().enumerate().map(|(at, c)| if is_punctuation(at, *c) { ' ' } else { *c });
    let plain = one_line(&kept.collect::<String>());
    if plain.is_empty() { text.into_iter().collect() } else { plain }
}

/// Whether a text has any letter or digit.
pub(super) fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// Whether a quotation occurs in a text, whatever the case and spacing.
pub(super) fn occurs_in(quote: &str, text: &str) -> bool {
    let folded = |text: &str| one_line(&text.to_lowercase());
    let quote = folded(quote);
    let quote = quote.trim_matches(['"', '\'', '\u{201c}', '\u{201d}', ' ']);
    !quote.is_empty() && folded(text).contains(quote)
}

/// Whether two sentences make the same point.
pub(super) fn is_same_point(a: &str, b: &str) -> bool {
    let alike = similarity(a, b) >= SAME_POINT_MIN && !opposed(a, b);
    plain_words(a) == plain_words(b) || (alike && figures(a) == figures(b))
}

/// The sentence in `texts` that is most similar to `point`; `None` where no sentence shares a word with it.
pub(super) fn nearest_sentence<'a>(point: &str, texts: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut best: Option<(f64, &str)> = None;
    for sentence in texts.into_iter().flat_map(sentences) {
        let near = similarity(point, sentence);
        if near > best.map_or(0.0, |(most, _)| most) {
            best = Some((near, sentence));
        }
    }
    best.map(|(_, sentence)| sentence)
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let pieces = text.split_inclusive(['!', '?', '\n']).flat_map(|piece| piece.split_inclusive(". "));
    pieces.map(str::trim).filter(|sentence| !sentence.is_empty())
}

/// A text on one line with single spaces.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text on one line, cut at the end of a word.
pub(super) fn shortened(text: &str, chars_max: usize) -> String {
    let line = one_line(text);
    let Some(end) = line.char_indices().nth(chars_max).map(|(at, _)| at) else { return line };
    let kept = line.get(..end).unwrap_or_default();
    let kept = kept.rsplit_once(' ').map_or(kept, |(kept, _)| kept);
    format!("{} ...", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_is_found_whatever_its_spacing_and_case() {
        assert!(occurs_in("\"It  DEPENDS\"", "Well, it\ndepends on many things."));
        assert!(!occurs_in("it depends on you", "Well, it depends on many things."));
        assert!(!occurs_in(" ", "anything"), "an empty quotation occurs nowhere");
    }

    #[test]
    fn the_nearest_sentence_shares_most_words() {
        let texts = ["Costs fall. The queue halves the load at night!", "Nobody asked the customers."];
        let nearest = nearest_sentence("the queue halves the load", texts);
        assert_eq!(nearest, Some("The queue halves the load at night!"));
        assert_eq!(nearest_sentence("dragons", texts), None);
    }

    #[test]
    fn a_point_and_its_denial_are_two_points() {
        assert!(is_same_point("The queue pays off.", "the queue pays off"));
        assert!(!is_same_point("The queue pays off this year", "The queue never pays off this year"));
    }

    #[test]
    fn punctuation_does_not_count_and_other_symbols_do() {
        for (one, other, same) in [
            ("Churn, stays low!", "churn stays low", true),
            ("Churn < 5%", "Churn > 5%", false),
            ("Use C++", "Use C#", false),
            ("0.5 s", "05 s", false),
            ("???", "!!!", false),
        ] {
            assert_eq!(plain_words(one) == plain_words(other), same, "{one} and {other}");
            assert_eq!(is_same_point(one, other), same, "{one} and {other}");
        }
        assert!(has_words("no") && !has_words(" .-\u{200b}"));
    }
}
