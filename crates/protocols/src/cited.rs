//! What a text names of what others said, and of what anybody can look up.
//!
//! A change of mind is evidenced where it names such a thing, and bare where it only says that somebody was persuaded. The rule
//! reads words, not meaning: it finds that something is named, never whether it is true.

mod evidence;

pub use evidence::evidence;

use evidence::Word;

use std::sync::OnceLock;

use crate::lexical;

/// So many are enough to read; the first are kept.
const MOST: usize = 12;

/// What can be named of a debate: the others, and the ids that its log has. Whoever speaks leaves itself out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    names: Vec<Name>,
    ids: Vec<String>,
    before: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Name {
    /// One of several of a kind: `Debater B`, also in `Debaters B and C` and in `B's`.
    Label { noun: String, label: String },
    /// Somebody by the words of a name, whatever their case: `performance engineer`.
    Words { shown: String, words: Vec<String> },
}

impl Known {
    /// Somebody by kind and label, as in `Debater B`.
    #[must_use]
    pub fn label(mut self, noun: &str, label: &str) -> Self {
        self.names.push(Name::Label { noun: noun.to_owned(), label: label.to_owned() });
        self
    }

    /// Somebody by a name; several names of one may be shown as the same. A name of one word must be written as one, for it may be
    /// any word: `Critic`, or `the critic`.
    #[must_use]
    pub fn name(mut self, shown: &str, name: &str) -> Self {
        let words: Vec<String> = evidence::words(name).iter().map(|word| word.text.to_lowercase()).collect();
        if !words.is_empty() {
            self.names.push(Name::Words { shown: shown.to_owned(), words });
        }
        self
    }

    /// An id that the log has, without brackets: `Q3`.
    #[must_use]
    pub fn id(mut self, id: &str) -> Self {
        self.ids.push(id.to_owned());
        self
    }

    /// What the speaker had said before: evidence that it had then is not what changed its mind.
    #[must_use]
    pub fn said_before(mut self, text: &str) -> Self {
        self.before.push(text.to_owned());
        self
    }
}

/// What a text names, each once, as a person can read it: others whose points it does not reject, ids, places, links, documents,
/// figures with their sources.
pub fn cited(text: &str, known: &Known) -> Vec<String> {
    let words = evidence::words(text);
    let mut found = Vec::new();
    for name in &known.names {
        if (0..words.len()).any(|at| {
            let named = name.length_at(text, &words, at);
            named.is_some_and(|length| !is_rejected(text, &words, at, length))
                && has_point(text, &words, at, known)
        }) {
            add(&mut found, name.shown());
        }
    }
    let numbered = text.bytes().any(|byte| byte.is_ascii_digit());
    for id in known.ids.iter().filter(|id| numbered || !id.contains(|c: char| c.is_ascii_digit())) {
        if has_id(text, id) {
            add(&mut found, format!("[{id}]"));
        }
    }
    let mut pieces = evidence(text);
    if !pieces.is_empty() {
        let had: Vec<String> = known.before.iter().flat_map(|text| evidence(text)).collect();
        pieces.retain(|piece| !had.contains(piece));
    }
    pieces.into_iter().for_each(|piece| add(&mut found, piece));
    found.truncate(MOST);
    found
}

/// Whether the sentence around a name says anything but that its owner is followed: who only counts heads names no point.
fn has_point(text: &str, words: &[Word<'_>], at: usize, known: &Known) -> bool {
    /// Words of somebody who gives way, whatever was said.
    const FOLLOWING: &[&str] = &[
        "agree",
        "agrees",
        "agreed",
        "follow",
        "follows",
        "join",
        "joins",
        "hold",
        "holds",
        "held",
        "says",
        "said",
        "say",
        "persuaded",
        "convinced",
        "convincing",
        "majority",
        "everybody",
        "everyone",
        "consensus",
        "concede",
        "correct",
        "believe",
        "trust",
        "side",
        "view",
        "views",
        "opinion",
        "opinions",
        "same",
        "all",
        "now",
        "change",
        "changed",
        "mind",
        "so",
        "says",
        "therefore",
        "according",
        "already",
        "both",
        "many",
        "two",
        "three",
        "four",
    ];
    static IGNORED: OnceLock<Vec<u64>> = OnceLock::new();
    let ignored = IGNORED.get_or_init(|| lexical::hashes_of(FOLLOWING));
    let Some(word) = words.get(at) else { return false };
    let ends = |c: char| matches!(c, '.' | '!' | '?' | ';' | '\n');
    let before = text.get(..word.start).and_then(|text| text.rfind(ends)).map_or(0, |at| at + 1);
    let after = text.get(word.end..).and_then(|text| text.find(ends)).map_or(text.len(), |at| word.end + at);
    let own = OwnWords::of(text.get(before..after).unwrap_or_default());
    let names = known.names.iter().map(Name::shown).collect::<Vec<_>>().join(" ");
    let names = OwnWords::of(&names);
    own.0.iter().filter(|word| !names.has(word) && ignored.binary_search(word).is_err()).count() > 0
}

/// The words of a text by which an argument can be told from others.
#[derive(Debug, Clone, Default)]
pub struct OwnWords(Vec<u64>);

impl OwnWords {
    /// Those of a text.
    pub fn of(text: &str) -> Self {
        /// Words that any argument has.
        const COMMON: &[&str] = &[
            "because", "more", "most", "less", "such", "while", "other", "others", "think", "point",
            "argument", "answer", "position", "debater", "like", "better", "right", "wrong", "good", "make",
            "makes", "use",
        ];
        static COMMON_HASHES: OnceLock<Vec<u64>> = OnceLock::new();
        let common = COMMON_HASHES.get_or_init(|| lexical::hashes_of(&[COMMON, lexical::LITTLE].concat()));
        let own = lexical::hashes(text).filter(|word| common.binary_search(word).is_err());
        let mut words: Vec<u64> = own.collect();
        words.sort_unstable();
        words.dedup();
        Self(words)
    }

    /// Without those of another text.
    #[must_use]
    pub fn without(mut self, other: &Self) -> Self {
        self.0.retain(|word| !other.has(word));
        self
    }

    /// Whether somebody who says this takes up a point: it has three of the words that are the point's own, or half of them. Those
    /// are the ones that it `had` not said before.
    pub fn takes_up(&self, point: &Self, had: &Self) -> bool {
        const ENOUGH: usize = 3;
        let fresh = || point.0.iter().filter(|word| !had.has(word));
        let taken = fresh().filter(|word| self.has(word)).count();
        taken >= ENOUGH || (taken + 1 >= ENOUGH && taken * 2 >= fresh().count())
    }

    fn has(&self, word: &u64) -> bool {
        self.0.binary_search(word).is_ok()
    }
}

fn add(found: &mut Vec<String>, piece: String) {
    if !found.contains(&piece) {
        found.push(piece);
    }
}

impl Name {
    fn shown(&self) -> String {
        match self {
            Self::Label { noun, label } => format!("{noun} {label}"),
            Self::Words { shown, .. } => shown.clone(),
        }
    }

    /// How many words the name has that ends or begins at this one.
    fn length_at(&self, text: &str, words: &[Word<'_>], at: usize) -> Option<usize> {
        match self {
            Self::Label { noun, label } => {
                let word = words.get(at).filter(|word| word.text == label)?;
                let after = text.get(word.end..).unwrap_or_default();
                let lettered = label.len() == 1 && label.bytes().all(|c| c.is_ascii_uppercase());
                let owns = after.starts_with("'s") || after.starts_with("\u{2019}s");
                (is_listed(noun, words, at) || (lettered && owns)).then_some(1)
            }
            Self::Words { words: name, .. } => {
                let there = words.get(at..at + name.len())?;
                let same = there.iter().zip(name).all(|(word, name)| is_word(word.text, name));
                let whole = text.get(there.first()?.start..there.last()?.end)?;
                let article = at.checked_sub(1).and_then(|at| words.get(at));
                let proper = whole.starts_with(|c: char| !c.is_lowercase())
                    || article.is_some_and(|word| word.text.eq_ignore_ascii_case("the"));
                let proper = proper || name.len() > 1;
                (same && proper && !whole.contains(['.', ';', '\n', ','])).then_some(name.len())
            }
        }
    }
}

/// Whether a word is this one in small letters.
fn is_word(word: &str, lower: &str) -> bool {
    word.eq_ignore_ascii_case(lower) || (!word.is_ascii() && word.to_lowercase() == lower)
}

/// Whether the noun stands before this label, or before a list of labels that it is in.
fn is_listed(noun: &str, words: &[Word<'_>], at: usize) -> bool {
    let is_noun = |word: &str| {
        let word = word.to_lowercase();
        let noun = noun.to_lowercase();
        word == noun || word.strip_suffix('s') == Some(noun.as_str())
    };
    let joins = |word: &str| matches!(word, "and" | "or" | "und" | "et" | "y" | "e" | "s");
    let label =
        |word: &str| word.len() == 1 && word.bytes().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
    let before = words.get(..at).unwrap_or_default().iter().rev().map(|word| word.text);
    let mut before = before.skip_while(|word| label(word) || joins(word));
    before.next().is_some_and(is_noun)
}

/// Whether an id stands there, in brackets or as a word; a quarter of a year is none without them.
fn has_id(text: &str, id: &str) -> bool {
    let quarter = ["Q1", "Q2", "Q3", "Q4"].iter().any(|quarter| quarter.eq_ignore_ascii_case(id));
    let edge = |c: Option<char>| c.is_none_or(|c| !(c.is_alphanumeric() || c == '-' || c == '_'));
    text.match_indices(id).any(|(start, _)| {
        let before = text.get(..start).unwrap_or_default();
        let after = text.get(start + id.len()..).unwrap_or_default();
        let bracketed = before.rfind('[') > before.rfind(']') && after.contains(']');
        let whole = edge(before.chars().next_back()) && edge(after.chars().next());
        whole && (bracketed || !quarter)
    })
}

/// Whether what is named is set aside at once: "unlike Debater B", "Debater B is wrong", "Debater B's claim fails".
fn is_rejected(text: &str, words: &[Word<'_>], at: usize, length: usize) -> bool {
    const BEFORE: &[&str] = &[
        "unlike",
        "despite",
        "against",
        "disagree",
        "contra",
        "contrary",
        "reject",
        "rejecting",
        "dispute",
        "disputing",
        "refute",
        "refuting",
        "doubt",
    ];
    const AFTER: &[&str] = &[
        "wrong",
        "mistaken",
        "incorrect",
        "unconvincing",
        "fails",
        "failed",
        "overlooks",
        "ignores",
        "misses",
        "misreads",
        "errs",
        "overstates",
        "unpersuasive",
        "unsupported",
    ];
    /// So far from the name a word still speaks of it.
    const NEAR: usize = 4;
    let has = |list: &[&str], word: &&Word<'_>| list.contains(&word.text.to_lowercase().as_str());
    let end = words.get(at + length - 1).map_or(0, |word| word.end);
    let start = words.get(at).map_or(0, |word| word.start);
    let ends =
        |between: Option<&str>| between.is_some_and(|b| b.contains(['.', ';', ',', ':', '\n', '!', '?']));
    let before = words.get(at.saturating_sub(NEAR)..at).unwrap_or_default();
    let before = before.iter().filter(|word| !ends(text.get(word.end..start)));
    let after = words.get(at + length..(at + length + NEAR).min(words.len())).unwrap_or_default();
    let after =
        after.iter().take_while(|word| !matches!(word.text, "that" | "me" | "my" | "I" | "how" | "why"));
    let mut after = after.filter(|word| !ends(text.get(end..word.start)));
    let mut before = before;
    before.any(|word| has(BEFORE, &word)) || after.any(|word| has(AFTER, &word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Known {
        Known::default()
            .label("Debater", "B")
            .label("Debater", "C")
            .name("performance-engineer", "performance-engineer")
            .name("Visionary", "visionary")
            .id("Q3")
            .id("C2-1")
    }

    /// "`evidenced`: the change names another seat's point or a piece of evidence".
    #[test]
    fn others_and_ids_are_named() {
        for (text, want) in [
            ("Debater B showed that it leaks.", &["Debater B"][..]),
            ("I take debaters B and C's point about keys.", &["Debater B", "Debater C"]),
            ("I follow Debater B because most hold it.", &[]),
            ("As Debater B says.", &[]),
            ("Debater B and Debater C all say so.", &[]),
            ("Debater B is right.", &[]),
            ("B's counterexample holds.", &["Debater B"]),
            ("The Performance Engineer measured it.", &["performance-engineer"]),
            ("As [Q3] says, the key leaks.", &["[Q3]"]),
            ("Both [K1, Q3] say so.", &["[Q3]"]),
            ("C2-1 is right: nobody pays.", &["[C2-1]"]),
            ("Debater B showed that I was wrong.", &["Debater B"]),
            ("The visionary has figures, and Visionary is asked.", &["Visionary"]),
            ("Despite the cost, Debater C is right.", &["Debater C"]),
        ] {
            assert_eq!(cited(text, &known()), want, "{text}");
        }
    }

    #[test]
    fn evidence_that_was_known_before_changed_nothing() {
        let known = Known::default().said_before("See a.rs:1.");
        assert_eq!(cited("As a.rs:1 and a.rs:2 show.", &known), ["a.rs:2"]);
    }

    #[test]
    fn a_point_is_taken_up_by_the_words_that_are_its_own() {
        let point = "Tabs break the alignment of comments in diffs.";
        let takes_up = |said: &str, point: &str| {
            OwnWords::of(said).takes_up(&OwnWords::of(point), &OwnWords::of("Tabs or spaces? Tabs."))
        };
        assert!(takes_up("Spaces, because alignment of comments breaks in diffs.", point));
        assert!(!takes_up("Spaces, tabs or not.", point), "nothing of it is new");
        assert!(!takes_up("Spaces keep the alignment.", point), "one word may be chance");
        assert!(takes_up("It costs 40% of the salaries.", "Salaries: 40%!"));
    }

    /// "I was persuaded" is bare; so is what only argues against somebody.
    #[test]
    fn persuasion_alone_names_nothing() {
        for text in [
            "",
            "I was persuaded.",
            "The others made good points and most of them agree.",
            "Plan B is better, and vitamin C too.",
            "Debater D is new here.",
            "Sales rose in Q3.",
            "Unlike Debater B, I now think so.",
            "I disagree with Debater B.",
            "Debater B's claim is wrong.",
            "On reflection 42 is more likely.",
            "The engineer was right.",
            "It is a visionary plan.",
        ] {
            assert_eq!(cited(text, &known()), [""; 0], "{text}");
        }
    }
}
