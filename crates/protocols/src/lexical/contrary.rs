//! Whether two positions cannot both hold, as far as their words show it.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::{Text, denials};

/// Texts this much alike are the same but for little: there a denial tells, however long they are.
const NEAR_FROM: f64 = 0.85;
/// So many words after "rather than" and "instead of" are what is not meant.
const ASIDE_WORDS: usize = 3;

/// Whether one of two positions says the opposite of the other: it denies it, has another figure, or has a word where the other has
/// its opposite. Without such a sign they may still be contrary; then only those who hold them know.
pub fn contrary(a: &str, b: &str) -> bool {
    Text::of(a).contrary(&Text::of(b))
}

/// As [`contrary`], of texts that were read.
pub(super) fn is_contrary(a: &Text, b: &Text) -> bool {
    let (one, other) = (a.signs(), b.signs());
    let odd = !(one.denials + other.denials).is_multiple_of(2);
    // A figure that only one has adds to the other and denies nothing.
    let figured = !one.figures.is_empty() && !other.figures.is_empty() && one.figures != other.figures;
    figured
        || are_opposite(&one.sides, &other.sides)
        || (odd && ((a.is_short() && b.is_short()) || a.similarity(b) >= NEAR_FROM))
}

/// What of a text can contradict another.
#[derive(Debug, Clone)]
pub(super) struct Signs {
    denials: usize,
    figures: Vec<String>,
    /// For each pair of opposites, which of the two it has.
    sides: Vec<[bool; 2]>,
}

impl Signs {
    pub(super) fn of(text: &str, tokens: &[String]) -> Self {
        Self { denials: denials(tokens.iter()), figures: figures(text), sides: sides(tokens) }
    }
}

/// The numbers and signs of a text, in order, however they are written: `1,000 ms` is `1000ms`, and `twenty-five` is `25`.
fn figures(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut tens: Option<u32> = None;
    for part in parts(text) {
        let number = named(&part);
        match (tens, number) {
            (Some(tens), Some(ones @ 1..10)) => {
                found.pop();
                found.push((tens + ones).to_string());
            }
            (_, Some(number)) => found.push(number.to_string()),
            (_, None) => found.extend(figure(&part)),
        }
        tens = number.filter(|number| *number >= 20);
    }
    found
}

/// Words and numbers in small letters, and each sign that changes what is said: `C++` is not `C#`, and `> 5` not `< 5`.
fn parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for c in text.to_lowercase().chars() {
        let sign = is_sign(c);
        if sign || !(c.is_alphanumeric() || matches!(c, '.' | ',')) {
            parts.push(String::new());
        }
        if sign || c.is_alphanumeric() || matches!(c, '.' | ',') {
            parts.last_mut().into_iter().for_each(|part| part.push(c));
        }
        if sign {
            parts.push(String::new());
        }
    }
    parts
}

fn is_sign(c: char) -> bool {
    matches!(c, '<' | '>' | '=' | '+' | '#' | '\u{2264}' | '\u{2265}')
}

/// What a part has of a number: without its unit, and as it is where it is part of a name such as `q3`.
fn figure(part: &str) -> Option<String> {
    let part = part.trim_matches(['.', ',']).replace(',', "");
    if !part.contains(|c: char| c.is_numeric() || is_sign(c)) {
        return None;
    }
    let end = part.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(part.len());
    let number = part.get(..end).and_then(|number| number.parse::<f64>().ok());
    Some(number.map_or(part, |number| number.to_string()))
}

/// A number in words. "One" is rarely one.
fn named(word: &str) -> Option<u32> {
    const SMALL: &[&str] = &[
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: &[&str] = &["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let word = word.trim_matches(['.', ',']);
    let place = |names: &[&str]| (0..).zip(names).find(|(_, name)| **name == word).map(|(place, _)| place);
    place(SMALL).map(|place: u32| place + 2).or_else(|| place(TENS).map(|place: u32| (place + 2) * 10))
}

/// Whether one text has a word and the other its opposite, where neither has both.
fn are_opposite(a: &[[bool; 2]], b: &[[bool; 2]]) -> bool {
    let opposite = |(a, b): (&[bool; 2], &[bool; 2])| {
        matches!((a, b), ([true, false], [false, true]) | ([false, true], [true, false]))
    };
    a.iter().zip(b).any(opposite)
}

/// For each pair of opposites, which of the two some words have.
fn sides(tokens: &[String]) -> Vec<[bool; 2]> {
    let mut sides = vec![[false; 2]; pairs().len()];
    for word in meant(tokens) {
        for (pair, side) in places().get(word).into_iter().flatten() {
            sides.get_mut(*pair).and_then(|pair| pair.get_mut(*side)).into_iter().for_each(|has| *has = true);
        }
    }
    sides
}

/// Each form of a word that has an opposite, with its pairs and its side in each: texts are long, and pairs are many.
fn places() -> &'static HashMap<&'static str, Vec<(usize, usize)>> {
    static PLACES: OnceLock<HashMap<&'static str, Vec<(usize, usize)>>> = OnceLock::new();
    PLACES.get_or_init(|| {
        let mut places: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
        for (pair, (one, other)) in pairs().iter().enumerate() {
            for (side, form) in one.iter().map(|form| (0, form)).chain(other.iter().map(|form| (1, form))) {
                places.entry(form).or_default().push((pair, side));
            }
        }
        places
    })
}

/// The words of a text but for those that it sets aside.
fn meant(tokens: &[String]) -> Vec<&str> {
    let (mut kept, mut aside): (Vec<&str>, usize) = (Vec::new(), 0);
    for word in tokens {
        if aside > 0 {
            aside -= 1;
            continue;
        }
        if matches!((kept.last(), word.as_str()), (Some(&"rather"), "than") | (Some(&"instead"), "of")) {
            aside = ASIDE_WORDS;
        }
        kept.push(word);
    }
    kept
}

/// The pairs of `opposites.txt`, each word in all of its forms.
fn pairs() -> &'static [(Vec<String>, Vec<String>)] {
    static PAIRS: OnceLock<Vec<(Vec<String>, Vec<String>)>> = OnceLock::new();
    PAIRS.get_or_init(|| {
        let lines = include_str!("opposites.txt").lines().filter(|line| !line.starts_with('#'));
        lines.filter_map(|line| line.split_once(' ')).map(|(one, other)| (forms(one), forms(other))).collect()
    })
}

/// A word with the endings that words have: `stop`, `stops`, `stopped`, `stopping`. Some of them are no words, and do no harm.
fn forms(word: &str) -> Vec<String> {
    let mut forms = vec![word.to_owned()];
    let mut add = |stem: &str, endings: &[&str]| {
        forms.extend(endings.iter().map(|ending| format!("{stem}{ending}")));
    };
    add(word, &["s", "es", "ed", "ing"]);
    if let Some(stem) = word.strip_suffix('e') {
        add(stem, &["ed", "ing"]);
    }
    if let Some(stem) = word.strip_suffix('y') {
        add(stem, &["ies", "ied"]);
    }
    if let Some(last) = word.chars().last() {
        add(&format!("{word}{last}"), &["ed", "ing"]);
    }
    if let Some(stem) = word.strip_suffix("ize") {
        add(stem, &["ise", "ises", "ised", "ising"]);
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::opposed;

    /// Two ways to say the same, and additions that deny nothing.
    const UNOPPOSED: &[(&str, &str)] = &[
        ("Adopt the queue this year.", "This year the queue should be taken up."),
        ("Raise the price in spring.", "From April on it should cost more."),
        ("Split the monolith into services.", "Cut the one big program into several."),
        ("Buy the tool.", "Purchase it rather than build it."),
        ("Keep cron and watch it closely.", "Watch cron closely and keep it."),
        ("Keep the old path instead of removing it.", "Keep the old path."),
        ("Start with a pilot, and stop if it fails.", "Start with a pilot."),
        (
            "Open the office on Monday and close it on Friday.",
            "Close the office on Friday, open it on Monday.",
        ),
        ("Pay 10% of the profit.", "Of the profit, pay 10 percent."),
        ("Keep three copies.", "Keep 3 copies."),
        ("Keep twenty-five copies.", "Keep 25 copies."),
        ("Allow 1,000 ms.", "Allow 1000ms."),
        ("Pay out part of the profit.", "Pay out 10 percent of the profit."),
        ("Make him an offer on Monday.", "Make him an offer, and soon."),
        ("Move every job into one queue.", "Move all jobs into a single queue."),
        ("Use a queue-based system - now!", "Use a queue based system now."),
    ];

    const OPPOSED: &[(&str, &str)] = &[
        ("Yes: share it.", "No: do not share it."),
        ("Yes, share it", "No, it must not be shared"),
        ("Der Cache wird geteilt.", "Der Cache wird nicht geteilt."),
        (
            "Nous devons partager le cache entre les branches.",
            "Nous ne devons pas partager le cache entre les branches.",
        ),
        (
            "Share the cache across branches of the project",
            "Refuse to share the cache across branches of the project",
        ),
        ("Raise the price.", "We are lowering the price."),
        ("Increase the budget of the team", "The team's budget decreases"),
        ("Allow remote work.", "Remote work is banned."),
        ("Merge the two teams.", "The two teams should be split."),
        ("Enable the flag by default.", "Disabling the flag by default."),
        ("Hire two people.", "Two people are fired."),
        ("The list stays public.", "The list becomes private."),
        ("Centralise the keys.", "Decentralize the keys."),
        ("Build it rather than buy it.", "Buy it rather than build it."),
        ("Pay out 10 percent.", "Pay out 90 percent."),
        ("Pay out ten percent.", "Pay out 90%."),
        ("Run version 1.2.", "Run version 1.3."),
        ("Ship in Q3.", "Ship in Q4."),
        ("Write it in C++.", "Write it in C#."),
        ("Alert from > 5 on.", "Alert from < 5 on."),
        ("Adopt it.", "Do not adopt it."),
    ];

    #[test]
    fn what_says_the_same_is_not_contrary() {
        for (one, other) in UNOPPOSED {
            assert!(!contrary(one, other) && !contrary(other, one), "{one} | {other}");
            assert!(!contrary(one, one) && !contrary(other, other));
        }
    }

    #[test]
    fn opposite_words_and_other_figures_are_contrary() {
        for (one, other) in OPPOSED {
            assert!(contrary(one, other) && contrary(other, one), "{one} | {other}");
        }
    }

    /// "a text that has both words of a pair is not opposed by that pair alone", for every pair.
    #[test]
    fn every_pair_tells_and_none_where_one_text_has_both() {
        let lines =
            include_str!("opposites.txt").lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        let mut seen = 0;
        for line in lines {
            let (one, other) = line.split_once(' ').unwrap();
            assert!(contrary(&format!("They say {one} it."), &format!("They say {other} it.")), "{line}");
            let both = format!("They say {one} it and {other} it.");
            let has_opposite =
                |a: &str, b: &str| are_opposite(&Text::of(a).signs().sides, &Text::of(b).signs().sides);
            assert!(!has_opposite(&both, &format!("They say {one} it.")), "{line}");
            assert!(!has_opposite(&format!("They say {other} it."), &both), "{line}");
            seen += 1;
        }
        assert!((40..=90).contains(&seen) && pairs().len() == seen, "{seen}");
    }

    /// In long texts denials are about other things as well, unless all the rest is the same.
    #[test]
    fn a_denial_tells_in_long_texts_that_are_the_same_but_for_it() {
        let plan = "the team writes down what it does, tells everybody a week before, looks at the figures in June again, \
                    asks the customers, mends what fails, and pays for the nights of those who were called out of bed";
        let (adopt, leave) =
            (format!("Adopt the queue: {plan}."), format!("Do not adopt the queue: {plan}."));
        assert!(!opposed(&adopt, &leave) && contrary(&adopt, &leave));
    }
}
