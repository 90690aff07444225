//! The short answer that a text gives, where it gives one: an option, a yes or no, a figure, or what it calls its answer.

use super::first_sentence;
use crate::grouping::limits;

/// What is called an answer is one up to so many words.
const ANSWER_WORDS: usize = 8;

/// The short answer of a text, in the form in which two are compared.
pub(super) fn short(text: &str) -> Option<String> {
    let declared = declared(text).or_else(|| named(text));
    let answer = declared.as_deref().unwrap_or(text);
    option(answer)
        .or_else(|| verdict(answer))
        .or_else(|| declared.as_deref().map(folded))
        .or_else(|| figure(text))
}

/// What a text calls its answer, as it is written: after "Answer:", or in a box.
pub(super) fn declared(text: &str) -> Option<String> {
    let boxed = text.rsplit_once("\\boxed{").and_then(|(_, rest)| closed(rest));
    let labelled = || {
        let lines = text.lines().rev();
        lines.filter_map(|line| after(line, "answer:")).find(|answer| is_short(answer))
    };
    boxed.or_else(labelled).map(|answer| answer.trim().trim_end_matches('.').trim().to_owned())
}

/// What stands after "the answer is" where it can be nothing but an answer: "the answer is simple" tells none.
fn named(text: &str) -> Option<String> {
    let said = after(text, "answer is")?;
    let said = said.lines().next()?.trim_start_matches([':', ' ']);
    (option(said).is_some() || figure(said).is_some() || verdict(said).is_some()).then(|| said.to_owned())
}

/// What stands in a text after the last place of some words, whatever their case.
fn after<'t>(text: &'t str, words: &str) -> Option<&'t str> {
    let starts = text.char_indices().map(|(at, _)| at).rev();
    let is_there =
        |at: &usize| text.get(*at..*at + words.len()).is_some_and(|said| said.eq_ignore_ascii_case(words));
    text.get(starts.into_iter().find(is_there)? + words.len()..)
}

fn is_short(answer: &str) -> bool {
    let words = answer.split_whitespace().count();
    (1..=ANSWER_WORDS).contains(&words) && answer.contains(|c: char| c.is_alphanumeric())
}

/// What stands before the brace that closes a box.
fn closed(rest: &str) -> Option<&str> {
    let mut depth = 1_usize;
    let end = rest.find(|c: char| {
        depth = match c {
            '{' => depth + 1,
            '}' => depth - 1,
            _ => depth,
        };
        depth == 0
    })?;
    rest.get(..end).filter(|inside| !inside.trim().is_empty())
}

/// `B`, `(B)`, `B. Paris`, `Option B`: the letter. `I` is a word, and so is `A` before another.
fn option(text: &str) -> Option<String> {
    let text = text.trim_start();
    let named = ["option ", "Option ", "OPTION "].iter().find_map(|name| text.strip_prefix(name));
    let open = named.unwrap_or(text).trim_start_matches(['(', '[']);
    let mut chars = open.chars();
    let letter = chars.next().filter(|c| c.is_ascii_alphabetic())?;
    let rest = chars.as_str();
    let alone = rest.trim_matches(['.', ')', ']', ' ', '\n']).is_empty();
    let marked = rest.starts_with([')', ']', '.', ':']) && letter.is_ascii_uppercase();
    let is_letter = matches!(letter.to_ascii_uppercase(), 'A'..='H' | 'J');
    let follows = named.is_some() && !rest.starts_with(char::is_alphanumeric);
    (is_letter && (alone || marked || follows)).then(|| letter.to_ascii_lowercase().to_string())
}

/// A yes or no that is not taken back at once.
fn verdict(text: &str) -> Option<String> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    let (word, rest) = (text.get(..end)?.to_lowercase(), text.get(end..)?);
    let is_verdict = matches!(word.as_str(), "yes" | "no" | "true" | "false" | "ja" | "nein" | "oui" | "non");
    let stops = rest.trim().is_empty() || rest.starts_with([',', '.', ';', ':', '\n', ')']);
    // What stands in the same sentence belongs to the verdict; of the next one only how it begins.
    let goes_on = rest.starts_with([',', ';']) && limits::is_limited(&word, first_sentence(rest));
    (is_verdict && stops && !goes_on && !limits::begins_limit(rest)).then_some(word)
}

/// A figure alone.
fn figure(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches('.');
    let is_figure = text.contains(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || ".,-+/%$\u{20ac} ".contains(c));
    is_figure.then(|| folded(text))
}

fn folded(answer: &str) -> String {
    let answer = answer.to_lowercase();
    let answer = answer.trim_matches(|c: char| c.is_whitespace() || matches!(c, '.' | '"' | '\'' | '$'));
    answer.split_whitespace().collect::<Vec<_>>().join(" ")
}
