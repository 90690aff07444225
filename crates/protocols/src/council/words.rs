//! How words are compared: whether two texts say the same, whether a quotation stands in a text, which sentence is nearest.

use crate::lexical::{figures, opposed, similarity};

/// Points that are so much alike are one.
const SAME_FROM: f64 = 0.8;

/// A text as quotations are looked for: small letters, single spaces.
pub(super) fn folded(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text as it is compared with another: its words, whatever their case, stops and quotation marks. Other signs count: `< 5%` is not
/// `> 5%`.
pub(super) fn plain(text: &str) -> String {
    let text: Vec<char> = text.to_lowercase().chars().collect();
    let digit = |at: usize| text.get(at).is_some_and(char::is_ascii_digit);
    let is_stop = |at: usize, c: char| {
        let stop = matches!(
            c,
            ',' | '.' | ';' | ':' | '!' | '?' | '\'' | '"' | '`' | '(' | ')' | '\u{2018}'
                ..='\u{201f}' | '\u{2026}'
        );
        stop && !(at > 0 && digit(at - 1) && digit(at + 1))
    };
    let kept = text.iter().enumerate().map(|(at, c)| if is_stop(at, *c) { ' ' } else { *c });
    let plain = kept.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ");
    if plain.is_empty() { text.into_iter().collect() } else { plain }
}

/// Whether a text says anything: signs alone do not.
pub(super) fn says_something(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// Whether a quotation stands in a text.
pub(super) fn stands_in(quote: &str, text: &str) -> bool {
    let quote = folded(quote);
    let quote = quote.trim_matches(['"', '\'', '\u{201c}', '\u{201d}', ' ']);
    !quote.is_empty() && folded(text).contains(quote)
}

/// Whether two sentences make the same point.
pub(super) fn is_same_point(a: &str, b: &str) -> bool {
    let alike = similarity(a, b) >= SAME_FROM && !opposed(a, b);
    plain(a) == plain(b) || (alike && figures(a) == figures(b))
}

/// The sentence of some texts that is nearest to what is said of them; none where no word is shared.
pub(super) fn nearest<'a>(about: &str, texts: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut best: Option<(f64, &str)> = None;
    for sentence in texts.into_iter().flat_map(sentences) {
        let near = similarity(about, sentence);
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

/// A text on one line, cut at the end of a word.
pub(super) fn short(text: &str, chars_max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some(end) = line.char_indices().nth(chars_max).map(|(at, _)| at) else { return line };
    let kept = line.get(..end).unwrap_or_default();
    let kept = kept.rsplit_once(' ').map_or(kept, |(kept, _)| kept);
    format!("{} ...", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_stands_whatever_its_spaces_and_case() {
        assert!(stands_in("\"It  DEPENDS\"", "Well, it\ndepends on many things."));
        assert!(!stands_in("it depends on you", "Well, it depends on many things."));
        assert!(!stands_in(" ", "anything"), "nothing stands nowhere");
    }

    #[test]
    fn the_nearest_sentence_shares_most_words() {
        let texts = ["Costs fall. The queue halves the load at night!", "Nobody asked the customers."];
        assert_eq!(nearest("the queue halves the load", texts), Some("The queue halves the load at night!"));
        assert_eq!(nearest("dragons", texts), None);
    }

    #[test]
    fn a_point_and_its_denial_are_two() {
        assert!(is_same_point("The queue pays off.", "the queue pays off"));
        assert!(!is_same_point("The queue pays off this year", "The queue never pays off this year"));
    }

    #[test]
    fn stops_do_not_count_and_other_signs_do() {
        for (one, other, same) in [
            ("Churn, stays low!", "churn stays low", true),
            ("Churn < 5%", "Churn > 5%", false),
            ("Use C++", "Use C#", false),
            ("0.5 s", "05 s", false),
            ("???", "!!!", false),
        ] {
            assert_eq!(plain(one) == plain(other), same, "{one} and {other}");
            assert_eq!(is_same_point(one, other), same, "{one} and {other}");
        }
        assert!(says_something("no") && !says_something(" .-\u{200b}"));
    }
}
