//! Which texts are one position, as far as words can show it.
//!
//! Texts are put together only where that is plain: they have the same words, give the same short answer, or are nearly alike and
//! nothing speaks against it. In doubt they differ: two names for one position understate an agreement, one name for two would
//! invent it.

use crate::lexical::{self, Text};

mod answer;

/// Texts this much alike are one position, unless something speaks against it.
const SAME_FROM: f64 = 0.85;
/// Texts that open with the same sentence are one position from here on.
const OPENED_ALIKE_FROM: f64 = 0.5;
/// An opening of fewer words says too little to go by.
const OPENING_WORDS: usize = 2;
/// A position's name has at most so many characters.
const NAME_CHARS: usize = 200;

/// The name of what has no words.
const WORDLESS: &str = "(no words)";

/// The positions of a debate by name, in the order in which they were first said.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    groups: Vec<Group>,
}

#[derive(Debug, Clone)]
struct Group {
    name: String,
    members: Vec<Member>,
}

/// A text and all who said it.
#[derive(Debug, Clone)]
struct Member {
    holders: Vec<String>,
    reading: Reading,
}

/// A text with what is compared of it.
#[derive(Debug, Clone)]
struct Reading {
    text: Text,
    answer: Option<String>,
}

impl Groups {
    /// The name of the position that a text is: that of the first text that says the same, else its own. `conflicts` are the holders
    /// whose positions are declared to be others; what has the same words stays the same whatever is declared.
    pub fn name(&mut self, text: &str, holder: &str, conflicts: &[&str]) -> String {
        self.add(Reading::of(text), text, holder, conflicts)
    }

    /// The name of a position that is declared to differ little from the one that has this name and was said in these words: the
    /// same, unless it is plainly another.
    pub fn update(
        &mut self,
        (name, was): (&str, &str),
        text: &str,
        holder: &str,
        conflicts: &[&str],
    ) -> String {
        let reading = Reading::of(text);
        let keeps = self.equal(&reading).is_none() && !reading.is_other_than(was);
        match self.groups.iter_mut().find(|group| keeps && group.name == name) {
            Some(group) => {
                group.add(reading, holder);
                group.name.clone()
            }
            None => self.add(reading, text, holder, conflicts),
        }
    }

    /// The name of the position that a text is, if it has been said.
    pub fn find(&self, text: &str) -> Option<&str> {
        let reading = Reading::of(text);
        let at =
            self.equal(&reading).or_else(|| self.groups.iter().position(|group| group.takes(&reading, &[])));
        at.and_then(|at| self.groups.get(at)).map(|group| group.name.as_str())
    }

    fn add(&mut self, reading: Reading, text: &str, holder: &str, conflicts: &[&str]) -> String {
        let alike = || self.groups.iter().position(|group| group.takes(&reading, conflicts));
        let at = self.equal(&reading).or_else(alike);
        if let Some(group) = at.and_then(|at| self.groups.get_mut(at)) {
            group.add(reading, holder);
            return group.name.clone();
        }
        let name = self.new_name(text);
        let member = Member { holders: vec![holder.to_owned()], reading };
        self.groups.push(Group { name: name.clone(), members: vec![member] });
        name
    }

    /// The position that has been said in the same words, or with the same short answer.
    fn equal(&self, reading: &Reading) -> Option<usize> {
        let same = |group: &Group| group.members.iter().any(|member| member.reading.is_equal(reading));
        self.groups.iter().position(same)
    }

    /// A name that no other position has.
    fn new_name(&self, text: &str) -> String {
        let free = |name: &String| self.groups.iter().all(|group| group.name != *name);
        let long = match cut(&line(text)) {
            none if none.is_empty() => WORDLESS.to_owned(),
            long => long,
        };
        let short = Some(shown(text)).filter(|short| !short.is_empty());
        let numbered = (2..).map(|number: u32| format!("{long} ({number})"));
        let mut names = short.into_iter().chain([long.clone()]).chain(numbered);
        names.find(free).unwrap_or_default()
    }
}

impl Group {
    /// Whether a text says what the first one says, and nothing that speaks against any of the others.
    fn takes(&self, reading: &Reading, conflicts: &[&str]) -> bool {
        let declared =
            |member: &Member| member.holders.iter().any(|holder| conflicts.contains(&holder.as_str()));
        let Some((first, others)) = self.members.split_first() else { return false };
        if self.members.iter().any(declared) {
            return false;
        }
        (first.reading.is_explained(reading) || first.reading.is_alike(reading))
            && others.iter().all(|member| member.reading.fits(reading))
    }

    /// Another text for this position, or somebody else who says one of them.
    fn add(&mut self, reading: Reading, holder: &str) {
        match self.members.iter_mut().find(|member| member.reading.text.raw() == reading.text.raw()) {
            Some(member) => member.holders.push(holder.to_owned()),
            None => self.members.push(Member { holders: vec![holder.to_owned()], reading }),
        }
    }
}

/// Whether two texts are one position.
pub fn is_same(one: &str, other: &str) -> bool {
    let mut groups = Groups::default();
    groups.name(one, "", &[]);
    groups.find(other).is_some()
}

/// Whether two texts have the same words, or give the same short answer.
pub fn is_equal(one: &str, other: &str) -> bool {
    Reading::of(one).is_equal(&Reading::of(other))
}

/// A position as it is named: the answer that it declares, else its first sentence, cut where that is long.
pub fn shown(text: &str) -> String {
    match answer::declared(&plain(text)) {
        Some(answer) => cut(&answer),
        None => cut(first_sentence(&line(text))),
    }
}

impl Reading {
    fn of(text: &str) -> Self {
        let text = plain(text);
        Self { answer: answer::short(&text), text: Text::of(&text) }
    }

    /// Whether it has the same words, or gives the same short answer.
    fn is_equal(&self, other: &Self) -> bool {
        (self.answer.is_some() && self.answer == other.answer) || self.text.same_words(&other.text)
    }

    /// Whether one of the two is the other with its reasons.
    fn is_explained(&self, other: &Self) -> bool {
        !self.answers_other(other) && (self.gives_reasons_for(other) || other.gives_reasons_for(self))
    }

    /// Whether it says the same in nearly the same words. The measures come in the order of their cost.
    fn is_alike(&self, other: &Self) -> bool {
        let alike = self.text.similarity(&other.text);
        let enough = alike >= SAME_FROM || (alike >= OPENED_ALIKE_FROM && self.opens_like(other));
        enough && self.fits(other) && !self.text.alternative(&other.text)
    }

    /// Whether nothing speaks against the two being one. Of long texts only what costs little is looked at.
    fn fits(&self, other: &Self) -> bool {
        let short = self.text.is_short() && other.text.is_short();
        let apart = || short && self.text.alternative(&other.text);
        !self.answers_other(other) && !self.text.contrary(&other.text) && !apart()
    }

    fn answers_other(&self, other: &Self) -> bool {
        self.answer.is_some() && other.answer.is_some() && self.answer != other.answer
    }

    /// Whether it is plainly another position than this text: it gives another short answer, or both are short and differ in what
    /// they say.
    fn is_other_than(&self, was: &str) -> bool {
        if self.answer.is_none() && !self.text.is_short() {
            return false;
        }
        let was = Self::of(was);
        match (&self.answer, &was.answer) {
            (Some(_), Some(_)) => self.answers_other(&was),
            _ => self.text.is_short() && was.text.is_short() && !self.fits(&was),
        }
    }

    fn opens_like(&self, other: &Self) -> bool {
        let (one, two) = (first_sentence(self.text.raw()), first_sentence(other.text.raw()));
        let telling = |one: &str| {
            let words = one.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            words.filter(|word| !lexical::says_little(&word.to_lowercase())).count()
        };
        lexical::same_words(one, two) && telling(one) >= OPENING_WORDS
    }

    /// Whether it is the other text and then why: "tabs, because they are wide" after "tabs".
    fn gives_reasons_for(&self, other: &Self) -> bool {
        const WHY: &[&str] = &["because", "since", "for", "as", "weil", "denn", "parce", "porque"];
        const LIMITS: &[&str] = &[
            "but", "however", "no", "not", "although", "unless", "only", "except", "or", "if", "though",
            "and",
        ];
        let text = self.text.raw();
        let head = other.text.raw().trim_end_matches(['.', ',', ';', ':']);
        let start = text.get(..head.len()).filter(|start| start.eq_ignore_ascii_case(head));
        let Some(rest) = start.and_then(|start| text.get(start.len()..)) else { return false };
        if head.is_empty() || rest.starts_with(char::is_alphanumeric) {
            return false;
        }
        let stop = rest.trim_start().starts_with(['.', ';', ':', '\n']) && rest.contains(char::is_whitespace);
        let next: String =
            rest.chars().skip_while(|c| !c.is_alphanumeric()).take_while(|c| c.is_alphanumeric()).collect();
        let next = next.to_lowercase();
        WHY.contains(&next.as_str()) || (stop && !LIMITS.contains(&next.as_str()))
    }
}

/// A text without what only marks or stresses it, so that it can be compared.
fn plain(text: &str) -> String {
    let text = text.replace("**", "").replace("__", "").replace('`', "");
    let lines = text.lines().map(|line| line.trim().trim_start_matches(['#', '>', '-', ' ']));
    let text = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    let mut chars = text.chars().peekable();
    let mut plain = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        plain.push(match c {
            '!' if chars.peek() != Some(&'=') => '.',
            '?' | '\u{2026}' => '.',
            '\u{2013}' | '\u{2014}' => ';',
            '\u{201c}' | '\u{201d}' | '\u{ab}' | '\u{bb}' => '"',
            c => c,
        });
    }
    plain
}

/// A text in one line, without what marks it.
fn line(text: &str) -> String {
    let text = text.replace("**", "").replace("__", "").replace('`', "");
    let text = text.trim().trim_start_matches(['#', '>', '-', ' ']);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first sentence; a stop after a letter or a number alone ends none.
fn first_sentence(text: &str) -> &str {
    let stops = text.match_indices(['.', '!', '?', '\n']);
    let mut ends = stops.filter_map(|(at, stop)| {
        let (said, after) = (text.get(..at)?, text.get(at + stop.len()..)?);
        let word = said.rsplit(|c: char| !c.is_alphanumeric()).next()?;
        let short = stop == "." && (word.chars().count() <= 1 || word.chars().all(char::is_numeric));
        let ends = stop == "\n" || after.is_empty() || after.starts_with(char::is_whitespace);
        (ends && !short && said.contains(char::is_alphanumeric)).then_some(at + stop.len())
    });
    ends.next().and_then(|end| text.get(..end)).unwrap_or(text).trim()
}

/// A text as long as a name may be, cut at the end of a word.
pub fn cut(text: &str) -> String {
    let Some(cut) = text.char_indices().nth(NAME_CHARS).and_then(|(end, _)| text.get(..end)) else {
        return text.to_owned();
    };
    format!("{} ...", cut.rsplit_once(' ').map_or(cut, |(whole, _)| whole).trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positions that are plainly one.
    #[test]
    fn the_same_words_or_answer_or_nearly_the_same_text_is_one_position() {
        let long = "Adopt the queue: the team writes down what it does, tells everybody a week before, looks at the figures \
                    again, asks the customers, and mends what fails";
        let longer = format!("{long}, as agreed.");
        for (one, other) in [
            ("Tabs!", "tabs"),
            ("**Use tabs.**", "Use tabs"),
            ("B", "(B)"),
            ("B. Paris", "b"),
            ("Option B: Paris", "B) it is Paris, since 1789"),
            ("Yes. It saves 12 ms.", "Yes, it costs 3 dollars less."),
            ("We count them.\nAnswer: 42", "Final answer: 42."),
            ("So it is \\boxed{x^2}.", "\\boxed{x^2}"),
            ("The answer is 7.", "7"),
            ("Tabs", "Tabs, because they are wide."),
            ("Tabs.", "Tabs. They don't break."),
            (
                "Use tabs in all files. They are as wide as you like.",
                "Use tabs in all files. They are wide for some.",
            ),
            (long, &longer),
        ] {
            assert!(is_same(one, other) && is_same(other, one), "{one} | {other}");
        }
    }

    /// "in doubt they differ".
    #[test]
    fn what_only_sounds_alike_stays_apart() {
        for (one, other) in [
            ("Tabs", "Spaces"),
            ("B", "C"),
            ("Yes", "No"),
            ("Yes.", "Yes, but only if it is free."),
            ("Use Postgres for the queue of jobs.", "Use Redis for the queue of jobs."),
            ("Pay out 10 percent of the profit.", "Pay out 90 percent of the profit."),
            ("Adopt the queue this year.", "Do not adopt the queue this year."),
            ("Raise the price of the plan in spring.", "Lower the price of the plan in spring."),
            ("Tabs", "Tabs, but not in Python."),
            ("Tabs", "Tabs are bad."),
            ("It depends. Small teams buy.", "It depends. Big ones build."),
            ("The answer is simple: buy it.", "The answer is simple: build it."),
            ("x < 5", "x > 5"),
            ("Anything", ""),
        ] {
            assert!(!is_same(one, other) && !is_same(other, one), "{one} | {other}");
        }
    }

    #[test]
    fn a_position_has_the_name_of_the_first_who_said_it() {
        let mut groups = Groups::default();
        assert_eq!(groups.name("Use tabs. They are wide.", "a", &[]), "Use tabs.");
        assert_eq!(groups.name("use TABS", "b", &[]), "Use tabs.");
        assert_eq!(groups.name("Spaces.", "c", &[]), "Spaces.");
    }

    /// Two positions never share a name, however they begin.
    #[test]
    fn two_positions_have_two_names() {
        let mut groups = Groups::default();
        let texts = ["It depends. Small teams buy.", "It depends. Big ones build it all again."];
        let names = texts.map(|text| groups.name(text, "a", &[]));
        assert_eq!(names, ["It depends.", "It depends. Big ones build it all again."]);
        let long = |end: &str| format!("{}{end}", "word and more of it, ".repeat(20));
        let [one, other] = ["buy", "build"].map(|end| groups.name(&long(end), "a", &[]));
        assert!(one != other && other.ends_with(" (2)"), "{one} | {other}");
    }

    /// "counterpoints that target a label speak against grouping the two only in long texts where likeness is unsure; equal short
    /// answers stay equal".
    #[test]
    fn a_declared_conflict_keeps_apart_what_is_only_alike() {
        let long = "Adopt the queue: the team writes down what it does, tells everybody a week before, looks at the figures again";
        let longer = format!("{long}, as agreed");
        let named = |conflicts: &[&str], text: &str| {
            let mut groups = Groups::default();
            groups.name(long, "a", &[]) == groups.name(text, "b", conflicts)
        };
        assert!(named(&[], &longer) && named(&["c"], &longer));
        assert!(!named(&["a"], &longer));
        assert!(named(&["a"], long), "the same words are the same");
    }

    #[test]
    fn new_words_for_a_position_keep_its_name_unless_they_are_plainly_others() {
        let update = |was: &str, text: &str| {
            let mut groups = Groups::default();
            groups.name("Spaces.", "b", &[]);
            let name = groups.name(was, "a", &[]);
            (groups.update((&name, was), text, "a", &[]) == name, groups.find(text).is_some())
        };
        for (was, text, kept) in [
            ("Use tabs.", "Tabs everywhere, with a file that says how wide.", true),
            ("Use tabs.", "Use tabs, four wide.", true),
            ("B) Paris", "B", true),
            ("Use tabs.", "Use blanks.", false),
            ("Use tabs.", "spaces", false),
            ("B) Paris", "C) Rome", false),
        ] {
            assert_eq!(update(was, text), (kept, true), "{was} | {text}");
        }
    }

    /// What is like the first of a group may still contradict another of it.
    #[test]
    fn nobody_joins_whom_a_member_contradicts() {
        let texts = [
            "Pay out a part of the profit of the year, as the board proposed in the spring letter.",
            "Pay out a part of the profit of the year, as the board proposed in the spring letter: 10 percent.",
            "Pay out a part of the profit of the year, as the board proposed in the spring letter: 90 percent.",
        ];
        let mut groups = Groups::default();
        let names = texts.map(|text| groups.name(text, "a", &[]));
        assert!(names[0] == names[1] && names[0] != names[2], "{names:?}");
    }

    #[test]
    fn a_name_is_the_declared_answer_or_the_first_sentence() {
        for (text, want) in [
            ("Let us see. 6 * 7 makes it.\n**Answer:** 42", "42"),
            ("A. Paris. It always was.", "A. Paris."),
            ("1. Buy it. 2. Run it.", "1. Buy it."),
            ("# Plan\nBuy it", "Plan Buy it"),
            ("Run version 1.2 now. Then rest.", "Run version 1.2 now."),
            ("  ", ""),
        ] {
            assert_eq!(shown(text), want, "{text}");
        }
        let long = shown(&"word ".repeat(100));
        assert!(long.chars().count() <= NAME_CHARS + 4 && long.ends_with("word ..."), "{long}");
    }
}
