//! The short sentence that a text opens with: "Go. It builds fast" answers "Go", and the rest says why.

use super::first_sentence;
use crate::grouping::limits;
use crate::lexical;

/// With more words it is no short answer.
const WORDS_MAX: usize = 5;
/// What follows must be a sentence: "St. Louis" has none.
const FOLLOWING_WORDS: usize = 2;
/// A stop behind one of these ends no sentence.
const ABBREVIATED: &[&str] = &[
    "dr", "mr", "mrs", "ms", "st", "prof", "no", "nr", "mt", "ft", "vs", "ca", "approx", "fig", "sec", "inc",
    "ltd", "corp", "co", "gen", "sen", "rep", "gov", "jr", "sr", "etc", "eg", "ie", "vol", "ver",
];
/// Words of a sentence that only opens the talk, or says that there is no simple answer.
const TALK: &[&str] = &[
    "depends",
    "depend",
    "maybe",
    "perhaps",
    "possibly",
    "probably",
    "likely",
    "unclear",
    "sure",
    "unsure",
    "well",
    "ok",
    "okay",
    "right",
    "agree",
    "agreed",
    "disagree",
    "partly",
    "partially",
    "mostly",
    "course",
    "really",
    "indeed",
    "certainly",
    "definitely",
    "absolutely",
    "thanks",
    "thank",
    "good",
    "great",
    "fair",
    "hard",
    "tough",
    "tricky",
    "difficult",
    "easy",
    "simple",
    "complicated",
    "complex",
    "nuanced",
    "interesting",
    "question",
    "questions",
    "point",
    "points",
    "call",
    "idea",
    "see",
    "look",
    "think",
    "believe",
    "say",
    "tell",
    "know",
    "let",
    "me",
    "options",
    "option",
    "ways",
    "way",
    "choice",
    "choices",
    "sides",
    "side",
    "factors",
    "reasons",
    "reason",
    "things",
    "thing",
    "matters",
    "matter",
    "context",
    "answer",
    "answers",
    "summary",
    "recommendation",
    "conclusion",
    "overview",
    "verdict",
    "decision",
    "position",
    "proposal",
    "plan",
    "analysis",
    "background",
    "tl",
    "dr",
    "tldr",
    "short",
    "briefly",
    "more",
    "two",
    "three",
    "four",
    "several",
    "many",
    "second",
    "not",
];

/// The short answer that a text opens with, where other sentences follow that do not limit it.
pub(super) fn opening(text: &str) -> Option<String> {
    let text = text.trim();
    let opening = first_sentence(text);
    let rest = text.get(opening.len()..)?.trim_start();
    let words: Vec<String> = words(opening).map(str::to_lowercase).collect();
    let abbreviated = words.last().is_some_and(|last| ABBREVIATED.contains(&last.as_str()));
    let follows =
        rest.split_whitespace().count() >= FOLLOWING_WORDS && rest.starts_with(|c: char| !c.is_lowercase());
    let is_short = opening.ends_with('.') && words.len() <= WORDS_MAX && !abbreviated;
    let tells = words.iter().any(|word| !lexical::says_little(word) && !TALK.contains(&word.as_str()));
    let limited = || limits::begins_limit(rest) || limits::is_conditional(first_sentence(rest));
    (is_short && follows && tells && !limited()).then(|| opening.to_owned())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}
