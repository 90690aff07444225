//! The anti-anchoring rule: a judge restates its own verdict first, and changes it only for specific evidence.

use super::reply::{Because, Second, Verdict};

/// The rules of a second verdict that its schema cannot say.
pub(super) fn check(second: &Second, disagreed: bool) -> Result<(), String> {
    check_restatement(&second.restatement)?;
    if disagreed && second.challenges.is_empty() {
        return Err(
            "`challenges` must dispute at least one claim of another judge, for the verdicts differ".into()
        );
    }
    Ok(())
}

/// A restatement says something.
pub(super) fn check_restatement(text: &str) -> Result<(), String> {
    match text.trim().is_empty() {
        true => Err("`restatement` must summarize your verdict of round 1 in 2 to 3 sentences".into()),
        false => Ok(()),
    }
}

/// "You may only change your verdict if you can cite a SPECIFIC technical detail, code location, or factual error."
pub(super) fn is_weak_flip(first: Verdict, second: &Second) -> bool {
    first != second.verdict && !second.changed_because.as_ref().is_some_and(is_specific)
}

/// Words that agree, praise and name judges, and those that hold a sentence together.
const EMPTY: &str = include_str!("empty_words.txt");

/// Whether a citation says anything beyond who was right: "Judge 2 made a good point" is not sufficient.
fn is_specific(because: &Because) -> bool {
    let is_judge = |word: &str, before: &str| {
        before == "judge"
            && word.chars().all(|char| char.is_numeric() || char.is_alphabetic() && word.len() == 1)
    };
    let mut before = String::new();
    because.citation.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).any(|word| {
        let word = word.to_lowercase();
        let says = !EMPTY.split_whitespace().any(|empty| empty == word) && !is_judge(&word, &before);
        before = word;
        says
    })
}
