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
fn occurs_in<T: AsRef<str>>(quote: &str, normalized_text: impl FnOnce() -> T) -> bool {
    let quote = normalized(quote);
    let quote = quote.trim_matches(['"', '\u{201c}', '\u{201d}', '\u{201e}', '\u{ab}', '\u{bb}', ' ']);
    quote.contains(char::is_alphanumeric) && normalized_text().as_ref().contains(quote)
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
