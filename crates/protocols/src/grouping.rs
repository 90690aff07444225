//! Which texts are one position, as far as words can show it.
//!
//! Texts are put together only where that is plain: they have the same words, give the same short answer, or are nearly alike and
//! nothing speaks against it. In doubt they differ: two names for one position understate an agreement, one name for two would
//! invent it.

use crate::lexical::{self, Text};

mod answer;
mod limits;
mod opening;

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
    /// The short sentence that it opens with, where that is its answer.
    opening: Option<String>,
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
        self.groups
            .iter()
            .position(same)
            .or_else(|| self.groups.iter().position(|group| group.opens(reading)))
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

    /// Whether a text opens with the answer of one of these, and says nothing that speaks against any of them.
    fn opens(&self, reading: &Reading) -> bool {
        let same = |member: &Member| member.reading.answers_first(reading);
        self.members.iter().any(same) && self.members.iter().all(|member| member.reading.fits(reading))
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
        let answer = answer::short(&text);
        let opening = if answer.is_none() { opening::opening(&text) } else { None };
        Self { answer, opening, text: Text::of(&text) }
    }

    /// Whether both open with the same short answer.
    fn answers_first(&self, other: &Self) -> bool {
        matches!((&self.opening, &other.opening), (Some(one), Some(two)) if lexical::same_words(one, two))
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
        let limited = limits::begins_limit(rest) || matches!(next.as_str(), "no" | "not");
        WHY.contains(&next.as_str()) || (stop && !limited)
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
mod tests;
