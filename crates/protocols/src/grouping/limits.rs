//! What takes a part of an answer back: "yes" is not "yes, but only if the budget is doubled".

/// Wherever one of these stands behind an answer, the answer is not meant as it stands.
const ANYWHERE: &[&str] = &[
    "but",
    "if",
    "only",
    "unless",
    "provided",
    "providing",
    "except",
    "although",
    "though",
    "however",
    "until",
    "otherwise",
    "depends",
    "depending",
    "assuming",
];
/// Right behind an answer these go on with it; further on they may belong to a reason.
const AT_ONCE: &[&str] = &["with", "and", "or", "when", "once"];
/// Of the words above and phrases, those that can be nothing but a condition, even in a sentence of reasons.
const CONDITIONS: &[&str] =
    &["unless", "provided", "except", "only if", "as long as", "so long as", "on condition", "in which case"];

/// Whether what follows the word yes or no limits it, takes it back, or ends with the other word.
pub(crate) fn is_limited(verdict: &str, rest: &str) -> bool {
    let words = words(rest);
    let affirms = |word: &str| matches!(word, "yes" | "true" | "ja" | "oui");
    let denies = |word: &str| matches!(word, "no" | "false" | "nein" | "non");
    let verdict = verdict.to_lowercase();
    let turned = words
        .last()
        .is_some_and(|last| (affirms(&verdict) && denies(last)) || (denies(&verdict) && affirms(last)));
    let denied = affirms(&verdict) && words.first().is_some_and(|next| next == "not");
    let limits = words.iter().any(|word| ANYWHERE.contains(&word.as_str()));
    begins_limit(rest) || is_conditional(rest) || turned || denied || limits
}

/// Whether the first word of what follows an answer limits it.
pub(crate) fn begins_limit(rest: &str) -> bool {
    let next: String =
        rest.chars().skip_while(|c| !c.is_alphanumeric()).take_while(|c| c.is_alphanumeric()).collect();
    let next = next.to_lowercase();
    ANYWHERE.contains(&next.as_str()) || AT_ONCE.contains(&next.as_str())
}

/// Whether a sentence behind an answer names a condition.
pub(crate) fn is_conditional(sentence: &str) -> bool {
    let words = format!(" {} ", words(sentence).join(" "));
    CONDITIONS.iter().any(|condition| words.contains(&format!(" {condition} ")))
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
