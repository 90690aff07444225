//! Where the answer is in a text.

use super::SHORT_WORDS_MAX;
use super::key;
use super::limits;
use super::options::Options;

/// Words that may stand before "answer" in the sentence that gives it.
const BEFORE: &[&str] = &[
    "the",
    "my",
    "our",
    "final",
    "correct",
    "right",
    "best",
    "short",
    "so",
    "therefore",
    "thus",
    "hence",
    "and",
    "then",
];
/// What may stand between "answer" and what it is.
const BETWEEN: &[&str] = &[" is:", " is ", ":", " =", " would be "];
/// A stop behind a word that is not longer may be that of an abbreviation.
const ABBREVIATED_CHARS_MAX: usize = 3;

/// The words of the answer; `None` where there is none that can be told.
pub(super) fn found(text: &str, options: &Options) -> Option<String> {
    let lines: Vec<String> = text.lines().map(plain).collect();
    let spoken = (0..lines.len()).rev().find_map(|at| Some((at, in_line(text, &lines, at)?)));
    let boxed = boxed(text);
    let said = match (spoken, boxed) {
        (Some((line, _)), Some((boxed_line, boxed))) if boxed_line >= line => Some(boxed),
        (Some((_, said)), _) => Some(said),
        (None, boxed) => boxed.map(|(_, boxed)| boxed),
    };
    said.or_else(|| lone_letter(&lines, options)).or_else(|| short(&lines))
}

/// A line without emphasis and spare white space.
fn plain(line: &str) -> String {
    let emphasis = ['*', '`', '_'];
    let words =
        line.split_whitespace().map(|word| word.trim_matches(emphasis)).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    // Emphasis may end before the stop.
    ["**:", "**.", "**,", "**)"].iter().fold(line, |line, end| line.replace(end, end.trim_start_matches('*')))
}

/// What the last sentence of a line that gives an answer gives; of a heading, what stands under it.
fn in_line(text: &str, lines: &[String], at: usize) -> Option<String> {
    let line = lines.get(at)?;
    let lower = line.to_ascii_lowercase();
    let under =
        || lines.iter().skip(at + 1).find(|line| !line.is_empty()).map(|line| sentence(line).to_owned());
    for (place, word) in lower.rmatch_indices("answer") {
        if !begins_a_sentence(lower.get(..place).unwrap_or_default()) {
            continue;
        }
        let behind = place + word.len();
        let rest = lower.get(behind..).unwrap_or_default();
        if let Some(between) = BETWEEN.iter().find(|between| format!("{rest} ").starts_with(**between)) {
            let said = line.get(behind + between.len()..).unwrap_or_default().trim();
            let said = if said.is_empty() { under() } else { Some(sentence(said).to_owned()) };
            return said.filter(|said| !said.is_empty());
        }
        let raw = text.lines().nth(at).unwrap_or_default().trim_start();
        if rest.is_empty() && (raw.starts_with('#') || raw.starts_with("**")) {
            return under();
        }
    }
    None
}

/// Whether what stands before "answer" leaves it at the beginning of a sentence or clause.
fn begins_a_sentence(before: &str) -> bool {
    // "Reanswer: 3" gives none.
    if before.ends_with(char::is_alphanumeric) {
        return false;
    }
    let mut rest = before.trim_end();
    while let Some(shorter) = BEFORE.iter().find_map(|word| without_last(rest, word)) {
        rest = shorter.trim_end();
    }
    // Who quotes an answer does not give it.
    !rest.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '\'' | '"' | '\u{2019}'))
}

fn without_last<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    text.strip_suffix(word).filter(|rest| !rest.ends_with(char::is_alphanumeric))
}

/// The first sentence of what is said, without its reason. What limits an answer belongs to it.
fn sentence(said: &str) -> &str {
    let ends = said.char_indices().filter(|(_, c)| matches!(c, '.' | '!' | '?' | ';'));
    let followed = |at: usize| said.get(at + 1..).is_some_and(|rest| rest.starts_with(char::is_whitespace));
    let goes_on = |at: usize, c: char| {
        let (head, rest) = (said.get(..at).unwrap_or_default(), said.get(at + 1..).unwrap_or_default());
        let word = head.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let is_verdict = ["yes", "no", "true", "false"].iter().any(|known| word.eq_ignore_ascii_case(known));
        match c {
            '.' => is_verdict && limits::begins_limit(rest),
            _ => limits::begins_limit(rest) || (is_verdict && limits::is_limited(word, rest)),
        }
    };
    let mut ends =
        ends.filter(|(at, c)| followed(*at) && (*c != '.' || is_stop(said, *at)) && !goes_on(*at, *c));
    let first = ends.next().map_or(said.len(), |(at, _)| at);
    let reason = [", because ", " because ", ", since "].iter().filter_map(|word| said.find(word)).min();
    said.get(..first.min(reason.unwrap_or(first))).unwrap_or(said).trim()
}

/// Whether the stop at this place ends a sentence, and not an abbreviation.
fn is_stop(said: &str, at: usize) -> bool {
    let word = said.get(..at).and_then(|before| before.split_whitespace().next_back()).unwrap_or_default();
    let is_number = word.chars().next_back().is_some_and(|c| c.is_ascii_digit() || c == '%');
    // "B. Paris" is an option with its letter.
    let is_letter = word.chars().count() == 1;
    is_number || (!is_letter && word.chars().filter(|c| c.is_alphabetic()).count() > ABBREVIATED_CHARS_MAX)
}

/// The content of the last `\boxed{...}`, and the line that it is in.
fn boxed(text: &str) -> Option<(usize, String)> {
    const OPEN: &str = "\\boxed{";
    let at = text.rfind(OPEN)?;
    let inner = text.get(at + OPEN.len()..)?;
    let mut depth = 1_u32;
    let end = inner.char_indices().find(|(_, c)| {
        depth = match c {
            '{' => depth + 1,
            '}' => depth - 1,
            _ => depth,
        };
        depth == 0
    });
    let said = inner.get(..end?.0)?.trim();
    let line = text.get(..at)?.matches('\n').count();
    (!said.is_empty()).then(|| (line, said.to_owned()))
}

/// The letter of an option that is all that stands in the last line.
fn lone_letter(lines: &[String], options: &Options) -> Option<String> {
    let last = lines.iter().rev().find(|line| !line.is_empty())?;
    let bare = last.trim_matches(|c: char| !c.is_alphanumeric());
    let mut chars = bare.chars();
    let letter = chars.next().filter(|_| chars.next().is_none())?;
    options.letter(letter).map(|_| last.clone())
}

/// All of a text that is short.
fn short(lines: &[String]) -> Option<String> {
    let mut said = lines.iter().filter(|line| !line.is_empty());
    let only = said.next().filter(|_| said.next().is_none())?;
    let is_short = only.split_whitespace().count() <= SHORT_WORDS_MAX;
    is_short.then(|| key::bare(sentence(only)).to_owned()).filter(|said| !said.is_empty())
}
