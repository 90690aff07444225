//! Whether evidence can be checked.
//!
//! It can where it has a figure or a date, words in quotation marks, code, a path, a link, or the name of somebody or something; and
//! where it cites by id, as `[K1]`, what its author was shown: an id that stands for nothing is nothing. What everybody says of anything ("best practice", "studies show") is none of these, however it is written.
//!
//! Where a rule cannot see, it does not accuse: scripts without capitals show no names, so that evidence in them passes, and in
//! German every noun looks like one.

use super::super::ids;
use super::super::rhetoric::phrases::{Word, words};
use super::lists;

/// Whether there is anything in it that somebody could look up, where its author was shown these ids.
pub(super) fn is_specific(evidence: &str, shown: &[&str]) -> bool {
    let is_shown =
        |one: &ids::Cited<'_>| !one.foreign && shown.iter().any(|id| id.eq_ignore_ascii_case(one.id));
    if ids::cited(evidence).iter().any(is_shown) {
        return true;
    }
    if is_bare(&without_boilerplate(&without_ids(evidence, |_| true))) {
        return false;
    }
    let evidence = without_ids(evidence, |one| !one.is_quarter());
    let rest = without_boilerplate(&evidence);
    let quotes =
        [('"', '"'), ('`', '`'), ('\u{201c}', '\u{201d}'), ('\u{201e}', '\u{201c}'), ('\u{ab}', '\u{bb}')];
    rest.chars().any(char::is_numeric)
        || quotes.iter().any(|(open, close)| encloses(&rest, *open, *close))
        || rest.split_whitespace().any(|piece| is_path(piece) || is_code(piece))
        || has_number_word(&rest)
        || (!shouts(&evidence) && words(&rest).iter().any(|word| is_name(&rest, word)))
        || has_no_capitals(&rest)
}

/// Whether there is nothing but numbers and links: what they have to do with it, nobody says.
pub(super) fn is_bare(text: &str) -> bool {
    let said: Vec<&str> = text.split_whitespace().filter(|piece| !is_link(piece)).collect();
    let is_number =
        |word: &Word| !word.folded.chars().any(char::is_alphabetic) || has_number_word(&word.folded);
    words(&said.join(" ")).iter().all(is_number)
}

/// What stands for words that were taken out, so that what follows them does not look like a sentence's beginning.
const GAP: char = '_';

fn without_ids(text: &str, is_one: impl Fn(&ids::Cited<'_>) -> bool) -> String {
    let (mut kept, mut from) = (String::new(), 0);
    for one in ids::cited(text).into_iter().filter(is_one) {
        kept.push_str(text.get(from..one.place.start).unwrap_or_default());
        kept.push(GAP);
        let rest = text.get(one.place.end..).unwrap_or_default();
        let mark = [ids::OF_DEBATE, ids::OF_SOURCE].into_iter().find(|mark| rest.starts_with(mark));
        from = one.place.end + mark.map_or(0, str::len);
    }
    kept + text.get(from..).unwrap_or_default()
}

fn without_boilerplate(text: &str) -> String {
    let words = words(text);
    let (mut kept, mut from, mut at) = (String::new(), 0, 0);
    while let Some(word) = words.get(at) {
        let rest = words.get(at..).unwrap_or_default();
        let found =
            lists().boilerplate.iter().filter_map(|phrase| phrase.begins(rest)).max().unwrap_or_default();
        if let Some(last) = found.checked_sub(1).and_then(|last| rest.get(last)) {
            kept.push_str(text.get(from..word.place.start).unwrap_or_default());
            kept.push(GAP);
            from = last.place.end;
        }
        at += found.max(1);
    }
    kept.push_str(text.get(from..).unwrap_or_default());
    kept
}

/// Whether there is a word between these two.
fn encloses(text: &str, open: char, close: char) -> bool {
    let mut rest = text;
    while let Some((inner, later)) = rest.split_once(open).and_then(|(_, after)| after.split_once(close)) {
        if inner.chars().any(char::is_alphanumeric) {
            return true;
        }
        rest = later;
    }
    false
}

fn is_link(piece: &str) -> bool {
    /// How the names of sites end.
    const SITES: &str = "com dev io net org";
    let piece = piece.trim_matches(|c: char| !c.is_alphanumeric());
    let host = piece.split('/').next().unwrap_or_default();
    let is_site = |(_, ending): (&str, &str)| SITES.split(' ').any(|known| known == ending);
    piece.contains("://") || piece.starts_with("www.") || host.rsplit_once('.').is_some_and(is_site)
}

/// A path or link. A single stroke between words, as in "and/or", is none.
fn is_path(piece: &str) -> bool {
    let piece = piece.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '~' | '_'));
    let piece = piece.trim_end_matches(['.', '/']);
    let is_word = |part: &str| part.chars().any(char::is_alphanumeric);
    let rooted =
        ["/", "./", "../", "~/", "www."].iter().any(|root| piece.strip_prefix(root).is_some_and(is_word));
    let parts = piece.split(['/', '\\']);
    let file = piece.rsplit_once('.').is_some_and(|(stem, ending)| stem.len() > 1 && is_ending(ending));
    rooted || file || piece.contains("://") || (parts.clone().count() > 2 && parts.clone().all(is_word))
}

fn is_ending(ending: &str) -> bool {
    /// The kinds of files and sites that people cite.
    const ENDINGS: &str = "c com cpp css csv dev go h html io java js json log md net org pdf py rs sh sql toml ts txt xml yaml yml";
    ENDINGS.split(' ').any(|known| known == ending)
}

fn is_code(piece: &str) -> bool {
    let chars: Vec<char> = piece.chars().collect();
    let snake = |three: &[char]| matches!(three, [a, '_', b] if a.is_alphanumeric() && b.is_alphanumeric());
    let camel = |two: &[char]| matches!(two, [a, b] if a.is_lowercase() && b.is_uppercase());
    let option = piece.strip_prefix("--").is_some_and(|name| name.starts_with(char::is_alphabetic));
    let signs =
        ["::", "()", "==", "->", "=>"].iter().any(|sign| piece.contains(sign) && piece.len() > sign.len());
    option || signs || chars.windows(3).any(snake) || chars.windows(2).any(camel)
}

fn has_number_word(text: &str) -> bool {
    let words = words(text);
    let begins = |rest: &[Word]| lists().numbers.iter().any(|phrase| phrase.begins(rest).is_some());
    (0..words.len()).any(|at| words.get(at..).is_some_and(begins))
}

/// Whether all of it is in capitals, so that they tell nothing. A few letters alone can be a name.
fn shouts(text: &str) -> bool {
    const SHORT_WORDS: usize = 3;
    words(text).len() > SHORT_WORDS && !text.chars().any(char::is_lowercase)
}

/// A word that begins with a capital in the middle of a sentence, or has two of them anywhere.
fn is_name(text: &str, word: &Word) -> bool {
    const NO_NAMES: &[&str] = &["i", "i'm", "i'd", "i've", "i'll", "ai", "ok", "it"];
    let shown = text.get(word.place.clone()).unwrap_or_default();
    let before = text.get(..word.place.start).unwrap_or_default();
    let goes_on = before.ends_with(|c: char| c.is_whitespace() && c != '\n')
        && before.trim_end().ends_with(|c: char| c.is_alphanumeric() || matches!(c, ',' | GAP));
    let capitals = shown.chars().filter(|c| c.is_uppercase()).count();
    let begins = shown.starts_with(char::is_uppercase);
    !NO_NAMES.contains(&word.folded.as_str()) && (capitals > 1 || (begins && goes_on))
}

/// Whether there are words, all in a script that has no capitals.
fn has_no_capitals(text: &str) -> bool {
    let has_words = text.chars().any(char::is_alphabetic);
    has_words && !text.chars().any(|c| c.is_lowercase() || c.is_uppercase())
}
