//! The anti-anchoring rule: a judge restates its own verdict first, and changes it only for specific evidence.

use super::reply::{Because, Finding, Second, Verdict};

/// The rules of a second verdict that its schema cannot say.
pub(super) fn check(second: &Second, disagreed: bool) -> Result<(), String> {
    check_restatement(&second.restatement)?;
    check_findings(&second.findings)?;
    if disagreed && second.challenges.iter().all(|challenge| challenge.claim.trim().is_empty()) {
        return Err(
            "`challenges` must dispute at least one claim of another judge, for the verdicts differ".into()
        );
    }
    Ok(())
}

/// A finding says something: what nobody can read nobody can mend.
pub(super) fn check_findings(findings: &[Finding]) -> Result<(), String> {
    match findings.iter().any(|finding| finding.description.trim().is_empty()) {
        true => Err("every one of `findings` needs a `description`".into()),
        false => Ok(()),
    }
}

/// A restatement says something.
pub(super) fn check_restatement(text: &str) -> Result<(), String> {
    match text.trim().is_empty() {
        true => Err("`restatement` must summarize your verdict of round 1 in 2 to 3 sentences".into()),
        false => Ok(()),
    }
}

/// "You may only change your verdict if you can cite a SPECIFIC technical detail, code location, or factual error." `judges` are
/// the names of those at the table.
pub(super) fn is_weak_flip<'a>(
    first: Verdict,
    second: &Second,
    judges: impl Iterator<Item = &'a str>,
) -> bool {
    let names: Vec<String> = judges.map(str::to_lowercase).collect();
    let names: Vec<&str> = names.iter().flat_map(|name| words(name)).collect();
    let because = second.changed_because.as_ref();
    first != second.verdict && !because.is_some_and(|because| is_specific(because, &names))
}

/// Words that agree, praise, count and name judges and verdicts, and those that hold a sentence together.
const EMPTY: &str = include_str!("empty_words.txt");

/// Whether a citation says anything beyond who was right: "Judge 2 made a good point" is not sufficient, nor is it with the name
/// of a perspective.
fn is_specific(because: &Because, names: &[&str]) -> bool {
    let citation = because.citation.to_lowercase();
    let mut before = "";
    words(&citation).any(|word| {
        let is_judge = before == "judge" && word.chars().count() == 1;
        let is_number = word.chars().all(char::is_numeric);
        let is_empty = EMPTY.split_whitespace().any(|empty| empty == word);
        before = word;
        !is_judge && !is_number && !is_empty && !names.contains(&word)
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty())
}
