//! How texts are compared: as one text, or as a quote of another.
//!
//! Equality after normalization makes two texts one, and a quote must occur verbatim after normalization. No other comparison of
//! texts decides anything: what texts mean is declared by seats (see [`sorting`](crate::sorting)).

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use agon_core::{Brief, Fence, NameMask};
use unicode_normalization::UnicodeNormalization;

/// A text as it is compared: Unicode NFKC, folded case, single spaces.
pub fn normalized(text: &str) -> String {
    // ASCII is the same in every normal form. Logs are read often, so the plain case is quick.
    if text.is_ascii() {
        let mut plain = String::with_capacity(text.len());
        for word in text.split_whitespace() {
            let space = if plain.is_empty() { "" } else { " " };
            plain.extend([space, word]);
        }
        plain.make_ascii_lowercase();
        return plain;
    }
    let compatible: String = text.nfkc().collect();
    // Folding can decompose a character, so the result is composed again.
    let folded: String = caseless::default_case_fold_str(&compatible).nfkc().collect();
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether two texts are one text.
pub fn is_same_text(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    if one.is_ascii() && other.is_ascii() {
        let mut words = other.split_whitespace();
        let is_next = |word: &str| words.next().is_some_and(|other| word.eq_ignore_ascii_case(other));
        return one.split_whitespace().all(is_next) && words.next().is_none();
    }
    normalized(one) == normalized(other)
}

/// Whether `quote` occurs in `text`. A quote without any letter or digit quotes nothing.
pub fn is_quote_of(quote: &str, text: &str) -> bool {
    occurs_in(quote, || normalized(text))
}

/// Whether a quote occurs in a normalized text.
pub(crate) fn occurs_in<T: AsRef<str>>(quote: &str, normalized_text: impl FnOnce() -> T) -> bool {
    let quote = normalized(quote);
    let quote = quote.trim_matches(['"', '\u{201c}', '\u{201d}', '\u{201e}', '\u{ab}', '\u{bb}', ' ']);
    quote.contains(char::is_alphanumeric) && normalized_text().as_ref().contains(quote)
}

/// What a seat is told beside a quote of its own that does not occur.
pub const QUOTE_EXACTLY: &str = "quote the exact words, in the language of the original";

/// The words in quotation marks.
pub fn quoted_words(text: &str) -> Vec<&str> {
    quoted_and_other_words(text).0
}

/// The words in quotation marks, and the texts before, between and after them. A mark that nothing closes is a part of the text, and so
/// is an apostrophe in a word.
pub fn quoted_and_other_words(text: &str) -> (Vec<&str>, Vec<&str>) {
    const MARKS: [(char, &[char]); 9] = [
        ('"', &['"']),
        ('\'', &['\'']),
        ('\u{2018}', &['\u{2019}']),
        ('\u{201c}', &['\u{201d}']),
        ('\u{201e}', &['\u{201c}', '\u{201d}']),
        ('\u{ab}', &['\u{bb}']),
        ('\u{bb}', &['\u{ab}']),
        ('\u{300c}', &['\u{300d}']),
        ('\u{300e}', &['\u{300f}']),
    ];
    let (mut quoted, mut others) = (Vec::new(), Vec::new());
    // Where the text after the last quotation begins, and where the next mark is looked for.
    let (mut start, mut at) = (0, 0);
    while let Some(mark) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let before = text.get(..at).unwrap_or_default();
        at += mark.len_utf8();
        let Some((_, closing)) = MARKS.iter().find(|(open, _)| *open == mark) else { continue };
        let inner = text.get(at..).unwrap_or_default();
        let is_apostrophe = |c: char, before: &str, after: &str| {
            let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            matches!(c, '\'' | '\u{2019}')
                && is_letter(before.chars().next_back())
                && is_letter(after.chars().next())
        };
        // An apostrophe at the end of a word opens no quotation.
        if mark == '\'' && before.ends_with(char::is_alphanumeric) {
            continue;
        }
        let end = inner.char_indices().find(|(end, c)| {
            let (before, after) = inner.split_at(*end);
            closing.contains(c) && !is_apostrophe(*c, before, after.get(c.len_utf8()..).unwrap_or_default())
        });
        let Some((end, close)) = end else { continue };
        others.extend(text.get(start..at - mark.len_utf8()));
        quoted.extend(inner.get(..end).filter(|words| words.contains(char::is_alphanumeric)));
        at += end + close.len_utf8();
        start = at;
    }
    others.extend(text.get(start..));
    (quoted, others)
}

/// A text without the numbers before its lines, as [`packet_lines`](crate::packet_lines) and tools write them: `12 | text`. Before a
/// number there may be `signs`.
pub(crate) fn without_line_numbers(text: &str, signs: &[char]) -> String {
    let is_number = |number: &str| {
        let number = number.trim_start_matches(signs).trim();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    let bare = |line| match str::split_once(line, " | ") {
        Some((number, rest)) if is_number(number) => rest,
        _ => line,
    };
    text.lines().map(bare).collect::<Vec<_>>().join("\n")
}

/// How the texts of a debate are shown to its seats, and how their quotes of them are verified.
#[derive(Debug)]
pub struct QuotedTexts<'b> {
    brief: &'b Brief,
    fence: Fence,
    is_anonymous: bool,
    /// Made when the first text is masked, because most phases need none.
    mask: OnceCell<NameMask>,
    /// Texts as seats read them, normalized. One text is compared with many quotes.
    compared: RefCell<HashMap<String, Rc<str>>>,
}

impl<'b> QuotedTexts<'b> {
    /// For a debate whose seats know each other's names.
    pub fn new(brief: &'b Brief) -> Self {
        let (fence, mask, compared) = (Fence::new(brief), OnceCell::new(), RefCell::default());
        Self { brief, fence, is_anonymous: false, mask, compared }
    }

    /// For a debate whose seats are anonymous: the names of models and seats are masked.
    pub fn anonymous(brief: &'b Brief) -> Self {
        Self { is_anonymous: true, ..Self::new(brief) }
    }

    /// The rule that prompts state about quoted text.
    pub fn rule(&self) -> String {
        self.fence.rule()
    }

    /// The words of the person who asked: instructions, outside the fence.
    pub fn person(&self, text: &str) -> String {
        self.fence.person(text)
    }

    /// Another seat's words, a file or retrieved context, in a fence.
    pub fn quote(&self, what: &str, text: &str) -> String {
        self.fence.quote(what, &self.masked(text))
    }

    /// A seat's own words, in a fence. They are not masked.
    pub fn own_words(&self, text: &str) -> String {
        self.fence.quote("your words", text)
    }

    /// A text as other seats read it.
    pub fn shown(&self, text: &str) -> String {
        self.fence.defuse(&self.masked(text))
    }

    /// Whether a seat quotes a text of another seat as it was shown it.
    pub fn is_quoted(&self, quote: &str, text: &str) -> bool {
        occurs_in(quote, || self.compared(text))
    }

    /// A text as other seats read it, normalized.
    fn compared(&self, text: &str) -> Rc<str> {
        let known = self.compared.borrow().get(text).map(Rc::clone);
        known.unwrap_or_else(|| {
            let compared: Rc<str> = normalized(&self.shown(text)).into();
            self.compared.borrow_mut().insert(text.to_owned(), Rc::clone(&compared));
            compared
        })
    }

    /// Whether a seat quotes something that was looked up as it was shown it: with the numbers of its lines or without. Such texts are
    /// not masked, because nobody at the table wrote them.
    pub fn is_quoted_item(&self, quote: &str, text: &str) -> bool {
        let shown = self.fence.defuse(text);
        let bare = |text: &str| without_line_numbers(text, &[]);
        is_quote_of(quote, &shown) || is_quote_of(&bare(quote), &bare(&shown))
    }

    fn masked(&self, text: &str) -> String {
        match self.is_anonymous {
            true => self.mask.get_or_init(|| NameMask::new(self.brief)).apply(text),
            false => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "Compared after Unicode NFKC, case folding and collapsing white space."
    #[test]
    fn case_width_and_white_space_do_not_count_and_everything_else_does() {
        for (one, other) in [
            ("Use  Go\nhere", "use go here"),
            ("STRASSE", "Stra\u{df}e"),
            ("\u{ff35}\u{ff53}\u{ff45} Go", "use go"),
            ("\u{fb01}ne", "FINE"),
            ("Cafe\u{301}", "caf\u{e9}"),
            ("\u{4f7f}\u{7528}\u{3000}Go", "\u{4f7f}\u{7528} go"),
        ] {
            assert!(is_same_text(one, other), "{one:?} {other:?}");
        }
        for (one, other) in [("Use Go", "Use Go."), ("Use Go", "Never use Go"), ("a b", "ab")] {
            assert!(!is_same_text(one, other), "{one:?} {other:?}");
        }
    }

    /// In the order of the text, in every pair of marks. What is not closed hides nothing that follows.
    #[test]
    fn quotations_are_found_in_every_script() {
        for (text, quoted, others) in [
            ("a.md:3 \"one\", \"two\"", &["one", "two"][..], &["a.md:3 ", ", ", ""][..]),
            ("\u{201e}eins\u{201c} und \u{bb}zwei\u{ab}", &["eins", "zwei"], &["", " und ", ""]),
            ("\u{201e}eins\u{201d}, \u{201c}two\u{201d}", &["eins", "two"], &["", ", ", ""]),
            (
                "\u{ab} un \u{bb}\u{ff0c}\u{300c}\u{4e8c}\u{300d}",
                &[" un ", "\u{4e8c}"],
                &["", "\u{ff0c}", ""],
            ),
            (
                "A's plan: 'nobody's dog' and the judges' \u{2018}it\u{2019}s so\u{2019}.",
                &["nobody's dog", "it\u{2019}s so"],
                &["A's plan: ", " and the judges' ", "."],
            ),
            ("5\u{201c} wide: \"so\"", &["so"], &["5\u{201c} wide: ", ""]),
            ("\"...\" and none", &[], &["", " and none"]),
            ("5\" wide", &[], &["5\" wide"]),
        ] {
            let found = quoted_and_other_words(text);
            assert_eq!((found.0.as_slice(), found.1.as_slice()), (quoted, others), "{text}");
        }
    }

    #[test]
    fn a_quote_must_occur_verbatim_and_say_something() {
        let text = "Das Team kennt Go nicht,\n und die Umstellung kostet ein Jahr.";
        for quote in ["Go nicht, und die", "\u{201e}Das Team kennt Go\u{201c}", "EIN JAHR"] {
            assert!(is_quote_of(quote, text), "{quote}");
        }
        for quote in ["", "  ", "...", "Das Team kennt Rust", "Go nicht ... ein Jahr"] {
            assert!(!is_quote_of(quote, text), "{quote}");
        }
        assert!(is_quote_of("\u{8fc1}\u{79fb}", "\u{6211}\u{4eec}\u{5e94}\u{8be5}\u{8fc1}\u{79fb}\u{3002}"));
    }
}
