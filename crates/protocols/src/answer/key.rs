//! What answers are compared by.

use std::fmt;

use super::options::Options;
use super::{limits, scale};

/// By what an answer is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    /// An option of the question.
    Option(char),
    /// A number as a reduced fraction, and its unit.
    Number { numerator: i128, denominator: i128, unit: String },
    /// Plain words.
    Words(String),
}

/// A number with more words behind it than this is no number with a unit.
const UNIT_WORDS_MAX: usize = 3;
const CURRENCIES: &[char] = &['$', '\u{20ac}', '\u{a3}', '\u{a5}'];

impl Key {
    pub(super) fn of(said: &str, options: &Options) -> Option<Self> {
        // An answer of nothing but stops is one all the same.
        let said = Some(bare(said)).filter(|bare| !bare.is_empty()).unwrap_or(said.trim());
        if let Some(letter) = option(said, options) {
            return Some(Self::Option(letter));
        }
        same_words(said, options).map(Self::Option).or_else(|| Self::plain(said))
    }

    /// Whether a text has just the words of an option, however long it is.
    pub(super) fn is_an_option(text: &str, options: &Options) -> bool {
        same_words(bare(text), options).is_some()
    }

    /// The key of words to which no option applies; `None` where there are none.
    fn plain(said: &str) -> Option<Self> {
        if let Some(number) = number(said) {
            return Some(number);
        }
        let words = words(yes_or_no(said).unwrap_or(said));
        let words = if words.is_empty() { said.trim().to_owned() } else { words };
        (!words.is_empty()).then_some(Self::Words(words))
    }

    /// Whether this is the other's number with a unit that the other has not. What makes it another number is no unit.
    pub(super) fn is_with_unit(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Number { numerator, denominator, unit: own },
                Self::Number { numerator: n, denominator: d, unit },
            ) => {
                let is_unit = !scale::is_share(own) && !limits::begins_limit(own);
                unit.is_empty() && is_unit && (numerator, denominator) == (n, d)
            }
            _ => false,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option(letter) => write!(f, "{letter}"),
            Self::Words(words) => f.write_str(words),
            Self::Number { numerator, denominator, unit } => {
                write!(f, "{numerator}")?;
                if *denominator != 1 {
                    write!(f, "/{denominator}")?;
                }
                if unit.is_empty() { Ok(()) } else { write!(f, " {unit}") }
            }
        }
    }
}

/// An answer without what wraps it: quotation marks, emphasis, the signs of a formula, `\text{...}`, a last stop.
pub(super) fn bare(said: &str) -> &str {
    let mut bare = said.trim();
    loop {
        let mut inner = bare.trim_matches(|c: char| {
            c.is_whitespace() || matches!(c, '"' | '\u{201c}' | '\u{201d}' | '`' | '*')
        });
        for (open, close) in [
            ("\\(", "\\)"),
            ("\\[", "\\]"),
            ("\\text{", "}"),
            ("\\textbf{", "}"),
            ("\\mathrm{", "}"),
            ("$", "$"),
        ] {
            let unwrapped = inner.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
            inner = unwrapped.unwrap_or(inner);
        }
        if inner.len() == bare.len() {
            return bare.trim_end_matches(['.', '!']).trim_end();
        }
        bare = inner;
    }
}

/// The only option that has the words of an answer.
fn same_words(said: &str, options: &Options) -> Option<char> {
    let own = Key::plain(said)?;
    let mut same = options.listed().filter(|(_, words)| Key::plain(words).as_ref() == Some(&own));
    let (letter, _) = same.next()?;
    same.next().is_none().then_some(letter)
}

/// The option whose letter an answer begins with.
fn option(said: &str, options: &Options) -> Option<char> {
    if options.is_empty() {
        return None;
    }
    let lower = said.to_ascii_lowercase();
    let named = ["option ", "choice ", "letter "].iter().find(|word| lower.starts_with(**word));
    let said = said.get(named.map_or(0, |word| word.len())..)?.trim_start_matches(['(', '[', ' ']);
    let mut chars = said.chars();
    let letter = options.letter(chars.next()?)?;
    let rest = chars.as_str();
    let behind = rest.trim_start_matches([')', ']', '.', ':', ',', ' ', '-', '\u{2013}', '\u{2014}']);
    let begins = |words: &[&str]| words.iter().any(|word| rest.starts_with(word));
    let closed = rest.is_empty()
        || begins(&[")", "]", ": ", ". ", " - ", " \u{2013} ", " \u{2014} "])
        || rest == "."
        || rest == ":";
    let explained = begins(&[" (", " is ", " because ", ", because ", ", since "]);
    let same_words =
        || options.listed().any(|(own, text)| own == letter && Key::plain(text) == Key::plain(behind));
    let alone = closed || explained || (rest.starts_with(' ') && same_words());
    (alone && !is_another(behind, letter, options)).then_some(letter)
}

/// Whether the letter of another option follows: then nobody can say which was meant.
fn is_another(behind: &str, letter: char, options: &Options) -> bool {
    let joined = ["and ", "or ", "& ", "/ ", "/", "&"].iter().find_map(|word| behind.strip_prefix(word));
    let mut chars = joined.unwrap_or(behind).trim_start_matches(['(', '[']).chars();
    let other = chars.next().and_then(|c| options.letter(c)).filter(|other| *other != letter);
    let ends = chars.next().is_none_or(|after| matches!(after, ')' | ']' | '.' | ',' | ':'));
    other.is_some() && ends
}

/// The word of an answer that is yes or no, with more behind it that does not limit it.
fn yes_or_no(said: &str) -> Option<&str> {
    let (word, rest) = said.split_once([',', ';'])?;
    let word = word.trim();
    let is_known = ["yes", "no"].iter().any(|known| word.eq_ignore_ascii_case(known));
    (is_known && !limits::is_limited(word, rest)).then_some(word)
}

/// The number that an answer is.
fn number(said: &str) -> Option<Key> {
    let said = said.replace('\u{2212}', "-").replace("\\%", "%").replace("\\$", "$");
    let said = fraction(&said).unwrap_or(said);
    let (negative, rest) = match said.trim_start_matches(CURRENCIES).strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, said.trim_start_matches(CURRENCIES).trim_start_matches('+')),
    };
    let (mut value, rest) = decimal(rest.trim_start_matches(CURRENCIES).trim_start())?;
    let over = rest.strip_prefix('/').and_then(decimal);
    let rest = match over {
        Some(((numerator, denominator), rest)) => {
            value = (value.0.checked_mul(denominator)?, value.1.checked_mul(numerator)?);
            rest
        }
        None => rest,
    };
    let (rest, thousands) = thousands(rest);
    let spaced = rest.is_empty() || rest.starts_with([' ', '%', '\u{b0}', ',', '.']);
    let unit = words(&rest.replace('%', " percent "));
    let (times, unit) = scale::scaled(&unit, said.contains(CURRENCIES))?;
    let is_unit = !rest.contains(|c: char| c.is_numeric()) && unit.split(' ').count() <= UNIT_WORDS_MAX;
    if !spaced || !is_unit || value.1 == 0 {
        return None;
    }
    value.0 = value.0.checked_mul(times)?.checked_mul(thousands)?;
    let divisor = divisor(value.0, value.1);
    let sign = if negative { -1 } else { 1 };
    let unit = scale::one_percent(unit);
    Some(Key::Number { numerator: sign * (value.0 / divisor), denominator: value.1 / divisor, unit })
}

/// What stands behind a number without its `k`, and how many times the number that makes. `300 K` is a temperature.
fn thousands(rest: &str) -> (&str, i128) {
    let behind = ["k", "K", " k"].iter().find_map(|sign| rest.strip_prefix(sign));
    match behind.filter(|behind| !behind.starts_with(char::is_alphanumeric)) {
        Some(behind) => (behind, 1_000),
        None => (rest, 1),
    }
}

/// `\frac{a}{b}` as `a/b`.
fn fraction(said: &str) -> Option<String> {
    let (before, rest) = said.split_once("\\frac{").or_else(|| said.split_once("\\dfrac{"))?;
    let (numerator, rest) = rest.split_once("}{")?;
    let (denominator, behind) = rest.split_once('}')?;
    Some(format!("{before}{numerator}/{denominator}{behind}"))
}

/// The decimal number that a text begins with as a fraction, and what stands behind it.
fn decimal(text: &str) -> Option<((i128, i128), &str)> {
    let whole_end = text.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(text.len());
    let whole = text.get(..whole_end)?.trim_end_matches(',');
    let mut rest = text.get(whole.len()..)?;
    let mut digits = grouped(whole)?;
    let mut places = 0_i32;
    if let Some(after) = rest.strip_prefix('.') {
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        digits.push_str(after.get(..end)?);
        places = i32::try_from(end).ok()?;
        rest = after.get(end..)?;
    }
    if let Some((exponent, after)) = exponent(rest) {
        places -= exponent;
        rest = after;
    }
    let value: i128 = digits.parse().ok()?;
    let scale = 10_i128.checked_pow(places.unsigned_abs())?;
    match places >= 0 {
        true => Some(((value, scale), rest)),
        false => Some(((value.checked_mul(scale)?, 1), rest)),
    }
}

/// Digits without the commas between their groups of three; `None` where the commas are something else.
fn grouped(whole: &str) -> Option<String> {
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let mut rest = groups.peekable();
    let has_groups = rest.peek().is_some();
    let fits = !has_groups || (1..=3).contains(&first.len());
    let all = rest.all(|group| group.len() == 3);
    (!first.is_empty() && fits && all).then(|| whole.replace(',', ""))
}

fn exponent(text: &str) -> Option<(i32, &str)> {
    let after = text.strip_prefix(['e', 'E'])?;
    let signed = after.strip_prefix(['+', '-']).unwrap_or(after);
    let end = signed.find(|c: char| !c.is_ascii_digit()).unwrap_or(signed.len());
    let sign = after.len() - signed.len();
    let number = after.get(..sign + end)?.trim_start_matches('+').parse().ok()?;
    Some((number, signed.get(end..)?))
}

fn divisor(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

/// Words as they are compared. In a formula only white space and case do not count, for every sign may matter.
fn words(said: &str) -> String {
    if said.contains(['+', '*', '/', '^', '=', '<', '>', '\\', '|', '~']) {
        return said.to_lowercase().split_whitespace().collect();
    }
    let chars: Vec<char> = said.chars().collect();
    let at = |place: Option<usize>| place.and_then(|place| chars.get(place)).copied().unwrap_or(' ');
    let mut plain = String::new();
    for (place, char) in chars.iter().enumerate() {
        let (before, after) = (at(place.checked_sub(1)), at(Some(place + 1)));
        match char {
            '\'' | '\u{2019}' => {}
            '.' | ',' if before.is_ascii_digit() && after.is_ascii_digit() => plain.push(*char),
            '-' | '\u{2010}' | '\u{2013}' if before.is_alphanumeric() && after.is_alphanumeric() => {
                plain.push(' ')
            }
            _ if is_punctuation(*char) => plain.push(' '),
            _ => plain.extend(char.to_lowercase()),
        }
    }
    let words: Vec<&str> = plain.split_whitespace().collect();
    match words.as_slice() {
        ["a" | "an" | "the", rest @ ..] if !rest.is_empty() => rest.join(" "),
        all => all.join(" "),
    }
}

fn is_punctuation(char: char) -> bool {
    let paired = matches!(
        char,
        '(' | ')' | '[' | ']' | '{' | '}' | '"' | '\u{201c}' | '\u{201d}' | '\u{ab}' | '\u{bb}'
    );
    paired
        || matches!(
            char,
            '.' | ',' | ';' | ':' | '!' | '?' | '`' | '_' | '\u{2014}' | '\u{2026}' | '\u{bf}' | '\u{a1}'
        )
}
