//! Short answers: an option that the question lists, or a number.
//!
//! Short answers are compared by arithmetic, in every language: options by their letters, numbers by their values. Everything else is
//! a text. Texts that are equal after normalization are one answer, and nothing else is known about them without a declaration (see
//! [`clerk`](crate::clerk)).

use crate::quotes::normalized;

/// A short answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShortAnswer {
    /// The letter of an option of the question, in upper case.
    Option(char),
    /// A number: the values that it can be read as. `1,000` is 1000 in one language and 1 in another.
    Number(Vec<NumberValue>),
}

/// The value of a number, as a reduced fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberValue {
    numerator: i128,
    denominator: i128,
}

/// Reads and compares the answers to one question.
#[derive(Debug, Clone)]
pub struct AnswerReader {
    /// The words of the options, from A on. Empty if the question lists none.
    options: Vec<String>,
}

impl AnswerReader {
    /// Finds the options of a question: `A) ...` or `(A) ...`, on lines of their own also `A. ...` and `A: ...`, from A on without
    /// a gap. Examples may stand before them, so the last list counts.
    pub fn new(question: &str) -> Self {
        Self { options: listed_options(question) }
    }

    /// The short answer that a text is; `None` if it is none.
    pub fn read(&self, answer: &str) -> Option<ShortAnswer> {
        let answer = bare(answer);
        self.option(&answer).map(ShortAnswer::Option).or_else(|| number(&answer).map(ShortAnswer::Number))
    }

    /// Whether two answers are the same; `None` if that cannot be told by arithmetic.
    pub fn is_same(&self, one: &str, other: &str) -> Option<bool> {
        if bare(one) == bare(other) {
            return Some(true);
        }
        match (self.read(one)?, self.read(other)?) {
            (ShortAnswer::Option(one), ShortAnswer::Option(other)) => Some(one == other),
            (ShortAnswer::Number(one), ShortAnswer::Number(other)) => match (&*one, &*other) {
                ([one], [other]) => Some(one == other),
                _ if one.iter().any(|value| other.contains(value)) => None,
                _ => Some(false),
            },
            _ => None,
        }
    }

    /// The letter of an option: the letter alone, the words alone, or both.
    fn option(&self, answer: &str) -> Option<char> {
        let words: Vec<String> = self.options.iter().map(|words| bare(words)).collect();
        let is_mark = |c: char| matches!(c, '(' | ')' | '[' | ']' | '.' | ':' | '-' | '\u{3001}') || c == ' ';
        let mut rest = answer.trim_start_matches(['(', '[']).chars();
        let first = rest.next()?.to_ascii_uppercase();
        let rest = rest.as_str();
        let follows = rest.chars().next().is_none_or(is_mark);
        let rest = rest.trim_matches(is_mark);
        let mut lettered = ('A'..='Z').zip(&words).filter(|(letter, words)| {
            *letter == first && follows && (rest.is_empty() || rest == words.trim_matches(is_mark))
        });
        if let Some((letter, _)) = lettered.next() {
            return Some(letter);
        }
        let is_equal = |words: &String| match (number(words).as_deref(), number(answer).as_deref()) {
            (Some([one]), Some([other])) => one == other,
            _ => words == answer,
        };
        let mut equal = ('A'..='Z').zip(&words).filter(|(_, words)| is_equal(words));
        let (letter, _) = equal.next()?;
        equal.next().is_none().then_some(letter)
    }
}

/// What may stand around an answer: quotation marks, emphasis, the signs of a formula.
const WRAPPINGS: [(&str, &str); 11] = [
    ("\"", "\""),
    ("\u{201c}", "\u{201d}"),
    ("\u{201e}", "\u{201c}"),
    ("\u{ab}", "\u{bb}"),
    ("\u{bb}", "\u{ab}"),
    ("`", "`"),
    ("*", "*"),
    ("$", "$"),
    ("\\(", "\\)"),
    ("\\[", "\\]"),
    ("\\boxed{", "}"),
];

/// An answer as it is compared: normalized, without what stands around it and without a last stop.
fn bare(answer: &str) -> String {
    let whole = normalized(answer);
    let mut inner = whole.as_str();
    loop {
        let mut next = inner.trim().strip_suffix(['.', '\u{3002}']).unwrap_or(inner.trim());
        for (open, close) in WRAPPINGS {
            next = next.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)).unwrap_or(next);
        }
        if next.len() == inner.len() {
            break;
        }
        inner = next;
    }
    // An answer of nothing but such signs is compared as it is.
    if inner.is_empty() { whole } else { inner.to_owned() }
}

/// The values that a text can have as a number; `None` if it is no number.
fn number(text: &str) -> Option<Vec<NumberValue>> {
    let (sign, digits) = match text.strip_prefix(['-', '\u{2212}']) {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if let Some((numerator, denominator)) = digits.split_once(['/', '\u{2044}']) {
        let whole = |digits: &str| digits.trim().parse::<i128>().ok().filter(|_| is_digits(digits.trim()));
        return Some(vec![NumberValue::new(sign * whole(numerator)?, whole(denominator)?)?]);
    }
    let (digits, power) = match digits.split_once('e') {
        Some((digits, power)) => (digits, power.parse::<i32>().ok().filter(|power| power.abs() <= 30)?),
        None => (digits, 0),
    };
    let readings = decimal_readings(digits);
    let values = readings.into_iter().filter_map(|(whole, fraction)| {
        let scale = i32::try_from(fraction.len()).ok()? - power;
        let number = sign * format!("{whole}{fraction}").parse::<i128>().ok()?;
        let times = 10_i128.checked_pow(scale.unsigned_abs())?;
        if scale > 0 {
            NumberValue::new(number, times)
        } else {
            NumberValue::new(number.checked_mul(times)?, 1)
        }
    });
    Some(values.collect::<Vec<_>>()).filter(|values| !values.is_empty())
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

/// The digits before and after the decimal separator, for every way to read a number with separators.
fn decimal_readings(digits: &str) -> Vec<(String, String)> {
    let mut readings = Vec::new();
    // Without a decimal separator.
    readings.extend(ungrouped(digits).map(|whole| (whole, String::new())));
    // With one: the only point or the only comma, and whatever else separates thousands.
    for separator in ['.', ','] {
        if let Some((whole, fraction)) = digits.split_once(separator)
            && is_digits(fraction)
        {
            let whole = if whole.is_empty() { Some("0".to_owned()) } else { ungrouped(whole) };
            readings.extend(whole.map(|whole| (whole, fraction.to_owned())));
        }
    }
    readings
}

/// Whole digits without the separator of thousands; `None` if they are not grouped by threes. A group cannot follow a zero.
fn ungrouped(digits: &str) -> Option<String> {
    if is_digits(digits) {
        return Some(digits.to_owned());
    }
    let separator = digits.chars().find(|c| matches!(c, '.' | ',' | '\'' | '\u{2019}' | ' ' | '_'))?;
    let mut groups = digits.split(separator);
    let first = groups.next().filter(|first| is_digits(first) && first.len() <= 3 && *first != "0")?;
    let rest: Vec<&str> = groups.collect();
    let is_grouped = rest.iter().all(|group| is_digits(group) && group.len() == 3);
    is_grouped.then(|| format!("{first}{}", rest.concat()))
}

impl NumberValue {
    fn new(numerator: i128, denominator: i128) -> Option<Self> {
        let mut divisor = (numerator.checked_abs()?, denominator);
        while divisor.1 != 0 {
            divisor = (divisor.1, divisor.0 % divisor.1);
        }
        let value = |part: i128| part.checked_div(divisor.0);
        (denominator > 0).then_some(Self { numerator: value(numerator)?, denominator: value(denominator)? })
    }
}

/// Where an option begins.
struct OptionMark {
    letter: char,
    /// Where the mark begins, and where its words do.
    at: usize,
    words: usize,
}

/// The words of the options that a question lists, from A on.
fn listed_options(question: &str) -> Vec<String> {
    let marks = option_marks(question);
    let mut last: &[OptionMark] = &[];
    for start in (0..marks.len()).filter(|start| marks.get(*start).is_some_and(|mark| mark.letter == 'A')) {
        let rest = marks.get(start..).unwrap_or_default();
        let length = rest.iter().zip('A'..='Z').take_while(|(mark, letter)| mark.letter == *letter).count();
        if length >= 2 {
            last = rest.get(..length).unwrap_or_default();
        }
    }
    let ends = last.iter().skip(1).map(|mark| mark.at).chain(std::iter::once(question.len()));
    let words = last.iter().zip(ends).map(|(mark, end)| {
        let words = question.get(mark.words..end).unwrap_or_default();
        words.trim_start().lines().next().unwrap_or_default().trim().to_owned()
    });
    words.collect()
}

fn option_marks(question: &str) -> Vec<OptionMark> {
    let mut marks = Vec::new();
    let (mut is_line_start, mut before) = (true, '\n');
    for (at, c) in question.char_indices() {
        let rest = question.get(at..).unwrap_or_default();
        if let Some((letter, length)) =
            option_mark(rest, is_line_start).filter(|_| before.is_whitespace() || is_line_start)
        {
            marks.push(OptionMark { letter, at, words: at + length });
        }
        // Bullets and emphasis may stand before the first word of a line.
        is_line_start = c == '\n' || (is_line_start && (c.is_whitespace() || matches!(c, '-' | '*' | '>')));
        before = c;
    }
    marks
}

/// The letter of the mark that a text begins with, and how many bytes the mark has.
fn option_mark(text: &str, is_line_start: bool) -> Option<(char, usize)> {
    let inner = text.strip_prefix(['(', '\u{ff08}']).unwrap_or(text);
    let is_open = inner.len() < text.len();
    let mut chars = inner.chars();
    let letter = chars.next().filter(char::is_ascii_alphabetic)?.to_ascii_uppercase();
    let close = chars.next()?;
    let is_closed = match close {
        ')' | '\u{ff09}' => true,
        '.' | ':' | '\u{3001}' | '\u{ff1a}' | '\u{ff0e}' => is_line_start && !is_open,
        _ => false,
    };
    let next = chars.next()?;
    // Signs of full width need no space after them.
    let is_spaced = next.is_whitespace() || next == '*' || is_open || !close.is_ascii();
    let length = text.len() - inner.len() + letter.len_utf8() + close.len_utf8();
    (is_closed && is_spaced).then_some((letter, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPITAL: &str = "Which is the capital of France?\nA) Lyon\nB) Paris\nC) 1000\nD) A dog";

    fn same(question: &str, one: &str, other: &str) -> Option<bool> {
        let reader = AnswerReader::new(question);
        assert_eq!(reader.is_same(one, other), reader.is_same(other, one), "{one} | {other}");
        reader.is_same(one, other)
    }

    /// "numbers with equal value": right in every language, or not known.
    #[test]
    fn numbers_are_compared_by_value_and_ambiguous_ones_are_not_known() {
        for (one, other) in [
            ("1000", "1000.0"),
            ("1000", "1e3"),
            ("1000", "2000/2"),
            ("1000", "1 000"),
            ("1000", "1'000"),
            ("1000", "**1000**."),
            ("1000000", "1,000,000"),
            ("1000000", "1.000.000"),
            ("1234.5", "1,234.5"),
            ("1234.5", "1.234,5"),
            ("0.75", "3/4"),
            ("0.75", "0,75"),
            ("0.125", "0,125"),
            ("-5", "\u{2212}5"),
            ("42", "\u{ff14}\u{ff12}"),
            ("42", "\\boxed{42}"),
            ("1.5e-3", "0.0015"),
            ("007", "7"),
        ] {
            assert_eq!(same("", one, other), Some(true), "{one} | {other}");
        }
        for (one, other) in [("2", "8"), ("42", "42.5"), ("1,000", "8"), ("1,000", "2000"), ("-5", "5")] {
            assert_eq!(same("", one, other), Some(false), "{one} | {other}");
        }
        for (one, other) in [
            ("1,000", "1000"),
            ("1,000", "1.000"),
            ("1.000", "1"),
            ("42", "42 km"),
            ("42", "forty-two"),
            ("42", "\u{56db}\u{5341}\u{4e8c}"),
            ("50%", "0.5"),
            ("5", "5 million"),
            ("12:05", "1205"),
            ("1.2.3", "123"),
            ("2024-01-05", "2024"),
            ("1/0", "0"),
            ("1e999", "1"),
            ("C++", "C"),
            ("x < 0", "x > 0"),
            ("yes", "no"),
            ("Yes, but only if it is free", "Yes"),
        ] {
            assert_eq!(same("", one, other), None, "{one} | {other}");
        }
    }

    #[test]
    fn an_option_is_its_letter_its_words_or_both() {
        for said in
            ["B", "b", "(B)", "B)", "B.", "**B**", "B) Paris", "B: paris", "B (Paris)", "Paris", "\u{ff22}"]
        {
            assert_eq!(AnswerReader::new(CAPITAL).read(said), Some(ShortAnswer::Option('B')), "{said}");
            assert_eq!(same(CAPITAL, said, "A"), Some(false), "{said}");
        }
        for (said, letter) in [("1000.0", 'C'), ("A dog", 'D'), ("D) A dog", 'D'), ("A", 'A')] {
            assert_eq!(AnswerReader::new(CAPITAL).read(said), Some(ShortAnswer::Option(letter)), "{said}");
        }
        for said in ["E", "A and B", "not B", "Paris or Lyon", "B, C", "B Lyon", "A cat", "Berlin"] {
            assert_eq!(AnswerReader::new(CAPITAL).read(said), None, "{said}");
        }
        let chinese = "\u{54ea}\u{4e2a}\u{ff1f}\nA\u{3001}\u{7ea2}\nB\u{3001}\u{7eff}";
        assert_eq!(same(chinese, "B", "\u{7eff}"), Some(true));
        assert_eq!(same("Welche Farbe?\n(A) Rot\n(B) Gr\u{fc}n", "GR\u{dc}N", "b"), Some(true));
    }

    #[test]
    fn the_options_are_the_last_list_of_letters_from_a() {
        for question in [
            "Q?\nA) x\nB) y",
            "Q?\n(A) x\n(B) y",
            "Q?\nA. x\nB. y",
            "Q?\n- A: x\n- B: y",
            "Is it A) x B) y",
            "Q? (a) x (b) y",
            "Example:\nA) old\nB) older\nC) oldest\nQ?\nA) x\nB) y\n\nEnd with a line.",
            "Q?\n**A)** x\n**B)** y",
        ] {
            let options: Vec<String> = listed_options(question).iter().map(|words| bare(words)).collect();
            assert_eq!(options, ["x", "y"], "{question}");
        }
        for question in
            ["Who is J. R. Smith?", "Q?\nA) only", "Q?\nB) x\nC) y", "See (A).", "A. Smith met B. Jones"]
        {
            assert!(listed_options(question).is_empty(), "{question}");
        }
    }

    proptest::proptest! {
        /// No text makes it panic, every answer is the same as itself, and the order of two does not matter.
        #[test]
        fn any_two_texts_are_compared(one in "(?s).{0,40}", other in "[0-9.,'/e -]{0,12}", question in "(?s).{0,60}") {
            let reader = AnswerReader::new(&question);
            proptest::prop_assert_eq!(reader.is_same(&one, &one), Some(true));
            proptest::prop_assert_eq!(reader.is_same(&one, &other), reader.is_same(&other, &one));
        }
    }
}
