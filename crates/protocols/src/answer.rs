//! When two short answers are the same answer, and where the answer is in a longer text.
//!
//! The rule, which `poll`, the ladder and the grading of questions with known answers share:
//!
//! 1. **Where the answer is.** The last of these in the text: `\boxed{X}`; a sentence that begins with `Answer: X`, `The answer
//!    is X`, `Final answer: X` (with `so`, `my`, `correct` and the like in front), up to the end of its sentence; a heading
//!    `Answer` with X under it. Else a last line that is the letter of an option and nothing else. Else the whole text, if it is
//!    one line of at most [`SHORT_WORDS_MAX`] words, or has just the words of an option. Else there is none.
//! 2. **Options.** Where the question lists options (`A) ...`, `(A) ...`, on lines of their own also `A. ...` and `A: ...`, from
//!    A on without a gap), an answer that begins with the letter of one, or has the same words as just one, is that option. Two
//!    letters are no option.
//! 3. **Numbers** count by value: `1,000`, `1000.0` and `1e3`, `3/4` and `0.75`, `5 million` and `5,000,000` are the same. The
//!    sign of a currency does not count; a unit that stands behind does, and `%` is one.
//! 4. **Words** count without case, white space, punctuation, emphasis and a first article. Signs that make another answer stay:
//!    `C++` is not `C`, `x < 0` is not `x > 0`. Yes and no count without what follows them, unless that limits them: `yes, but
//!    only if it is free` is not `yes`.

use std::fmt;

mod found;
mod key;
pub(crate) mod limits;
mod options;
mod scale;

use key::Key;
use options::Options;

/// A text of one line with more words than this is no short answer.
pub const SHORT_WORDS_MAX: usize = 12;

/// An answer, as it was said and as it is compared. Two are equal when they are the same answer.
#[derive(Debug, Clone)]
pub struct Answer {
    said: String,
    key: Key,
}

impl Answer {
    /// The answer in a text; `None` where it has none that can be told.
    pub fn read(question: &str, text: &str) -> Option<Self> {
        let options = Options::of(question);
        let text = agon_core::reply::without_thinking(text);
        let said = found::found(&text, &options)
            .or_else(|| Key::is_an_option(&text, &options).then(|| text.trim().to_owned()))?;
        let key = Key::of(&said, &options)?;
        Some(Self { said, key })
    }

    /// The answer of somebody who was asked for the answer alone: where [`read`](Self::read) finds none, all the words are it.
    pub fn alone(question: &str, words: &str) -> Option<Self> {
        Self::read(question, words).or_else(|| {
            let key = Key::of(words, &Options::of(question))?;
            Some(Self { said: words.trim().to_owned(), key })
        })
    }

    /// The answer's own words.
    pub fn said(&self) -> &str {
        &self.said
    }

    /// By what it is compared: the letter of the option, the number, or the plain words.
    pub fn key(&self) -> String {
        self.key.to_string()
    }

    /// Whether this is what was to be said: the same, or the number with a unit where a number without one was wanted.
    /// A percentage is no number with a unit.
    pub fn meets(&self, gold: &Self) -> bool {
        self.key == gold.key || self.key.is_with_unit(&gold.key)
    }

    /// The letter of the option, where it is one.
    pub fn option(&self) -> Option<char> {
        match self.key {
            Key::Option(letter) => Some(letter),
            _ => None,
        }
    }
}

impl PartialEq for Answer {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Answer {}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

#[cfg(test)]
mod tests;
