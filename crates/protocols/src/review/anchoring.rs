//! The anti-anchoring rule: a judge restates its own verdict first, and changes it only for specific evidence.

use super::replies::{ChangeReason, JudgeFinding, JudgeVerdict, SecondVerdict};

/// The rules of a second verdict that its schema cannot express.
pub(super) fn check_second_verdict(second: &SecondVerdict, disagreed: bool) -> Result<(), String> {
    check_restatement(&second.restatement)?;
    check_findings(&second.findings)?;
    if disagreed && second.challenges.iter().all(|challenge| challenge.claim.trim().is_empty()) {
        return Err(
            "`challenges` must dispute at least one claim of another judge, because the verdicts differ"
                .into(),
        );
    }
    Ok(())
}

pub(super) fn check_findings(findings: &[JudgeFinding]) -> Result<(), String> {
    match findings.iter().any(|finding| finding.description.trim().is_empty()) {
        true => Err("every one of `findings` needs a `description`".into()),
        false => Ok(()),
    }
}

pub(super) fn check_restatement(text: &str) -> Result<(), String> {
    match text.trim().is_empty() {
        true => Err("`restatement` must summarize your verdict of round 1 in 2 to 3 sentences".into()),
        false => Ok(()),
    }
}

/// Whether a verdict was changed without specific evidence. `seats` are the names of everybody who sits: a name is no evidence.
///
/// "You may only change your verdict if you can cite a SPECIFIC technical detail, code location, or factual error."
pub(super) fn is_weak_flip<'a>(
    first: JudgeVerdict,
    second: &SecondVerdict,
    seats: impl Iterator<Item = &'a str>,
) -> bool {
    let names: Vec<String> = seats.map(str::to_lowercase).collect();
    let names: Vec<&str> = names.iter().flat_map(|name| words(name)).collect();
    let reason = second.changed_because.as_ref();
    first != second.verdict && !reason.is_some_and(|reason| is_specific(reason, &names))
}

/// Words that agree, praise, count, name judges and verdicts, or only hold a sentence together.
const EMPTY_WORDS: &str = include_str!("empty_words.txt");

/// Whether a citation says more than who was right. "Judge 2 made a good point" does not, and neither does the same sentence
/// with the name of a perspective.
fn is_specific(reason: &ChangeReason, names: &[&str]) -> bool {
    let citation = reason.citation.to_lowercase();
    let mut before = "";
    words(&citation).any(|word| {
        let is_judge = before == "judge" && word.chars().count() == 1;
        let is_number = word.chars().all(char::is_numeric);
        let is_empty = EMPTY_WORDS.split_whitespace().any(|empty| empty == word);
        before = word;
        !is_judge && !is_number && !is_empty && !names.contains(&word)
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty())
}
