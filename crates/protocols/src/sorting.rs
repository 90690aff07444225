//! Which seats hold the same position: declared by a seat, verified by code.
//!
//! A moderator, a chair or a clerk sorts texts into groups and quotes each member ([`DeclaredGroup`]). [`Sorting::verify`] keeps what
//! verifies: labels that exist, quotes that occur, each text once. Texts that are equal after normalization are one position whatever
//! is declared, and so are two positions of which a holder says that it could sign the other. A text that nobody placed is unsorted:
//! nothing is known about it, and nothing is guessed. [`PositionNames`] follows the groups over the rounds.

use crate::quotes::{QUOTE_EXACTLY, QuotedTexts, is_same_text};

/// A group of texts that a seat declares to state the same position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredGroup {
    /// The position in a sentence.
    pub statement: String,
    /// The label of each text, and words of it that show the position.
    pub members: Vec<(String, String)>,
}

/// A text that is sorted: its label, and the text as its author wrote it.
#[derive(Debug, Clone, Copy)]
pub struct LabelledText<'a> {
    /// The label under which it was shown.
    pub label: &'a str,
    /// What was shown under it, before masking.
    pub text: &'a str,
}

/// Texts sorted into positions, by their places in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sorting {
    /// The groups, in the order of their first members. Together they contain every place once.
    pub groups: Vec<PositionGroup>,
    /// What does not verify, in sentences for the seat that sorted.
    pub faults: Vec<String>,
}

/// Texts that are one position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PositionGroup {
    /// The position in a sentence, by whoever sorted; `None` where nobody did.
    pub statement: Option<String>,
    /// The places of the texts, in order.
    pub members: Vec<usize>,
    /// Whether nobody declared how it relates to the other groups.
    pub is_unsorted: bool,
}

impl Sorting {
    /// Verifies what was declared. `same` are pairs of places of which a holder says that they are one position. `None` as the declared
    /// groups means that nobody sorted.
    pub fn verify(
        declared: Option<&[DeclaredGroup]>,
        texts: &[LabelledText<'_>],
        same: &[(usize, usize)],
        quoted: &QuotedTexts<'_>,
    ) -> Self {
        let mut faults = Vec::new();
        let placed = declared.map_or_else(
            || vec![None; texts.len()],
            |declared| placed_texts(declared, texts, quoted, &mut faults),
        );
        let mut joined: Vec<usize> = (0..texts.len()).collect();
        for (one, (text, group)) in texts.iter().zip(&placed).enumerate() {
            for (other, (earlier, other_group)) in texts.iter().zip(&placed).enumerate().take(one) {
                let is_declared = group.is_some() && group == other_group;
                let is_signed = same.contains(&(one, other)) || same.contains(&(other, one));
                if is_declared || is_signed || is_same_text(text.text, earlier.text) {
                    join(&mut joined, one, other);
                }
            }
        }
        Self { groups: groups(&joined, &placed, declared.unwrap_or_default()), faults }
    }

    /// What to tell the seat that sorted; `None` if everything verifies.
    pub fn fault(&self) -> Option<String> {
        (!self.faults.is_empty()).then(|| self.faults.join(" "))
    }

    /// The group of a place.
    pub fn group_of(&self, place: usize) -> Option<&PositionGroup> {
        self.groups.iter().find(|group| group.members.contains(&place))
    }

    /// Whether it is known of every two texts if they are one position.
    pub fn is_complete(&self) -> bool {
        self.groups.len() == 1 || self.groups.iter().all(|group| !group.is_unsorted)
    }
}

/// What a declaration says of one text.
#[derive(Clone, Copy)]
enum MemberPlacement {
    Nowhere,
    /// In the declared group of this number.
    In(usize),
    /// In more than one group.
    Twice,
    /// Only with quotes that do not occur.
    Misquoted,
}

/// For each text, the declared group that it verifiably belongs to.
fn placed_texts(
    declared: &[DeclaredGroup],
    texts: &[LabelledText<'_>],
    quoted: &QuotedTexts<'_>,
    faults: &mut Vec<String>,
) -> Vec<Option<usize>> {
    let mut placed = vec![MemberPlacement::Nowhere; texts.len()];
    let groups = declared.iter().enumerate();
    let members = groups.flat_map(|(number, group)| group.members.iter().map(move |said| (number, said)));
    for (number, (label, quote)) in members {
        let mut shown = placed.iter_mut().zip(texts);
        let Some((place, text)) = shown.find(|(_, text)| is_label(label, text.label)) else {
            faults.push(format!("There is no {label:?} to sort."));
            continue;
        };
        let is_quoted = quoted.is_quoted(quote, text.text);
        if !is_quoted {
            faults.push(format!(
                "The quote of {label} does not occur in its text: {quote:?} ({QUOTE_EXACTLY})."
            ));
        }
        *place = match (*place, is_quoted) {
            (MemberPlacement::Nowhere | MemberPlacement::Misquoted, true) => MemberPlacement::In(number),
            (MemberPlacement::In(other), true) if other != number => MemberPlacement::Twice,
            (MemberPlacement::Nowhere, false) => MemberPlacement::Misquoted,
            (known, _) => known,
        };
    }
    let group = |(place, text): (MemberPlacement, &LabelledText<'_>)| {
        match place {
            MemberPlacement::In(number) => return Some(number),
            MemberPlacement::Twice => faults.push(format!("{} is in more than one group.", text.label)),
            MemberPlacement::Nowhere => faults.push(format!("{} is in no group.", text.label)),
            MemberPlacement::Misquoted => {}
        }
        None
    };
    placed.into_iter().zip(texts).map(group).collect()
}

/// Whether `said` names this label: the same text, or its last word ("A" for "Debater A", and the other way round).
pub fn is_label(said: &str, label: &str) -> bool {
    fn last_word(text: &str) -> &str {
        text.split_whitespace().next_back().unwrap_or_default()
    }
    let is_short = |text: &str| !text.trim().contains(char::is_whitespace);
    is_same_text(said, label)
        || (is_short(said) != is_short(label) && is_same_text(last_word(said), last_word(label)))
}

/// Makes the groups of two places one. Every place points to the smallest of its group.
fn join(joined: &mut [usize], one: usize, other: usize) {
    let root = |place: usize| joined.get(place).copied().unwrap_or(place);
    let (one, other) = (root(one), root(other));
    let (keep, give) = (one.min(other), one.max(other));
    joined.iter_mut().filter(|root| **root == give).for_each(|root| *root = keep);
}

fn groups(joined: &[usize], placed: &[Option<usize>], declared: &[DeclaredGroup]) -> Vec<PositionGroup> {
    let of_root = |root: usize| {
        let members: Vec<usize> =
            (0..joined.len()).filter(|place| joined.get(*place) == Some(&root)).collect();
        let mut numbers: Vec<usize> =
            members.iter().filter_map(|place| placed.get(*place).copied().flatten()).collect();
        let is_unsorted = numbers.is_empty();
        // Of two groups that were joined, the statement of the larger stands.
        let in_turn = numbers.clone();
        let size = |number: &usize| in_turn.iter().filter(|other| *other == number).count();
        numbers.sort_by_key(|number| std::cmp::Reverse(size(number)));
        let statement = numbers.first().and_then(|number| declared.get(*number));
        let statement = statement.map(|group| group.statement.trim().to_owned());
        PositionGroup { statement: statement.filter(|statement| !statement.is_empty()), members, is_unsorted }
    };
    (0..joined.len()).filter(|place| joined.get(*place) == Some(place)).map(of_root).collect()
}

/// The names of positions over the rounds of a debate. A position keeps its name while somebody who held it says that it still does.
#[derive(Debug, Clone, Default)]
pub struct PositionNames {
    /// For each place, the name of its position and whether it is sorted.
    current: Vec<(String, bool)>,
    /// Every name that was ever given.
    given: Vec<String>,
    /// For each place, the text of the last round.
    texts: Vec<String>,
}

/// A position's name has at most this many characters.
const NAME_CHARS_MAX: usize = 200;

impl PositionNames {
    /// Names the positions of the next round. `texts` are the texts by place, and `keeps` says of each place whether its holder kept the
    /// position that it had. Returns each place's name, and whether it is unsorted.
    pub fn next_round(&mut self, sorting: &Sorting, texts: &[&str], keeps: &[bool]) -> Vec<(String, bool)> {
        let keeps = |place: usize| keeps.get(place).copied().unwrap_or(false) && place < self.current.len();
        let old_name = |place: usize| self.current.get(place).map(|(name, _)| name.clone());
        // How many holders each group has of each old name: those who have not changed a word, and all. The largest share takes the name.
        let mut claims: Vec<([usize; 2], usize, String)> = Vec::new();
        for (number, group) in sorting.groups.iter().enumerate() {
            for place in group.members.iter().copied().filter(|place| keeps(*place)) {
                let Some(name) = old_name(place) else { continue };
                let before = self.texts.get(place).map(String::as_str).unwrap_or_default();
                let is_verbatim = texts.get(place).is_some_and(|text| is_same_text(text, before));
                let known = claims.iter_mut().find(|(_, other, known)| *other == number && *known == name);
                match known {
                    Some(([verbatim, all], ..)) => {
                        *verbatim += usize::from(is_verbatim);
                        *all += 1;
                    }
                    None => claims.push(([usize::from(is_verbatim), 1], number, name)),
                }
            }
        }
        claims.sort_by_key(|(counts, number, _)| (std::cmp::Reverse(*counts), *number));
        let mut names: Vec<Option<String>> = vec![None; sorting.groups.len()];
        for (_, number, name) in claims {
            let is_taken = names
                .iter()
                .zip(&sorting.groups)
                .any(|(taken, group)| taken.as_ref() == Some(&name) && !group.is_unsorted);
            let is_open = sorting.groups.get(number).is_some_and(|group| group.is_unsorted);
            if let Some(slot) = names.get_mut(number).filter(|slot| slot.is_none() && (!is_taken || is_open))
            {
                *slot = Some(name);
            }
        }
        let mut round: Vec<(String, bool)> = texts.iter().map(|_| (String::new(), true)).collect();
        for (group, name) in sorting.groups.iter().zip(names) {
            let is_kept = name.is_some();
            let name = name.unwrap_or_else(|| self.new_name(group, texts, &round));
            for place in &group.members {
                let was_sorted = self.current.get(*place).is_some_and(|(_, unsorted)| !unsorted);
                let stays_sorted = is_kept && keeps(*place) && was_sorted;
                if let Some(slot) = round.get_mut(*place) {
                    *slot = (name.clone(), group.is_unsorted && !stays_sorted);
                }
            }
        }
        for (name, _) in &round {
            if !self.given.contains(name) {
                self.given.push(name.clone());
            }
        }
        self.current.clone_from(&round);
        self.texts = texts.iter().map(|text| (*text).to_owned()).collect();
        round
    }

    /// The statement of the group, else its text. A statement that was a name before is that position again.
    fn new_name(&self, group: &PositionGroup, texts: &[&str], round: &[(String, bool)]) -> String {
        let text = || group.members.first().and_then(|place| texts.get(*place)).copied().unwrap_or_default();
        let base = match short_name(group.statement.as_deref().unwrap_or_else(text)) {
            none if none.is_empty() => "(no words)".to_owned(),
            base => base,
        };
        let known = self.given.iter().find(|name| is_same_text(name, &base)).cloned();
        let base = known.unwrap_or(base);
        let is_taken = |name: &String| round.iter().any(|(taken, _)| taken == name);
        let numbered = (2..).map(|number: u32| format!("{base} ({number})"));
        std::iter::once(base.clone()).chain(numbered).find(|name| !is_taken(name)).unwrap_or(base)
    }
}

/// A text as the name of a position: one line, cut where it is long.
pub fn short_name(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(NAME_CHARS_MAX).and_then(|(end, _)| line.get(..end)) {
        Some(cut) => format!("{} ...", cut.rsplit_once(' ').map_or(cut, |(whole, _)| whole).trim_end()),
        None => line,
    }
}

#[cfg(test)]
#[path = "sorting_tests.rs"]
mod tests;
