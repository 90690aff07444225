//! Whether the proposals have converged: how alike they are, and whether anybody says that they conflict.
//!
//! Likeness alone makes no agreement: every measure that there is finds a sentence and its contradiction more alike than two ways to say
//! the same. So a declared conflict, in whichever direction, and a contradiction that can be seen in the words always count against it.

use super::judgement::rounded;
use super::log::Held;
use crate::lexical::{self, Wording};

/// Comparisons with the threshold allow for rounding.
const TOLERANCE: f64 = 1e-9;

/// How alike the proposals of a stage are, each with each and each with what it was before.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measured {
    /// The texts' similarities: those of the proposals, in label order, and after them those of the ones before.
    pub(super) matrix: Vec<Vec<f64>>,
    /// Who measured it.
    pub(super) by: String,
}

/// The check of a round.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Check {
    pub(super) round: u32,
    /// The stage of proposals that was looked at.
    pub(super) stage: usize,
    pub(super) agreement: Option<Spread>,
    pub(super) stability: Option<Spread>,
    /// Who declares a conflict with whom.
    pub(super) conflicts: Vec<(usize, usize)>,
    /// Whose positions oppose each other by their words or figures.
    pub(super) opposed: Vec<(usize, usize)>,
    /// Who has never said whether it conflicts with anybody.
    pub(super) silent: Vec<usize>,
    pub(super) converged: bool,
    /// Each pair's likeness, by place.
    pairs: Vec<(usize, usize, f64)>,
    /// How each agent's proposal is like its last one.
    pub(super) stabilities: Vec<(usize, f64)>,
    /// Who has which words: without figures only the same ones say the same.
    texts: Vec<(usize, String)>,
    threshold: f64,
    pub(super) measured_by: Option<String>,
}

/// The least and the mean of some figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spread {
    pub(super) min: f64,
    pub(super) mean: f64,
}

impl Spread {
    fn of(figures: &[f64]) -> Option<Self> {
        let min = figures.iter().copied().reduce(f64::min)?;
        let mean = rounded(figures.iter().sum::<f64>() / figures.len() as f64);
        Some(Self { min, mean })
    }
}

/// Whether the words alone show that two do not propose the same, however alike they are.
pub(super) fn is_other(one: &Held, other: &Held) -> bool {
    Worded::of(one).is_other(&Worded::of(other))
}

/// What is compared of a proposal's words. Every pair is looked at, so that each is taken apart once.
struct Worded {
    position: String,
    positioned: Wording,
    proposed: Wording,
}

impl Worded {
    fn of(held: &Held) -> Self {
        let position = bare(&held.said.position);
        let proposed = Wording::of(&bare(&held.said.proposal));
        Self { positioned: Wording::of(&position), position, proposed }
    }

    fn is_other(&self, other: &Self) -> bool {
        lexical::contrary(&self.position, &other.position)
            || self.positioned.is_alternative(&other.positioned)
            || self.proposed.is_alternative(&other.proposed)
    }
}

impl Check {
    /// Looks at the proposals that are held after a stage.
    pub(super) fn of(
        round: u32,
        stage: usize,
        held: &[Option<Held>],
        measured: Option<Measured>,
        threshold: f64,
    ) -> Self {
        let holders: Vec<(usize, &Held)> =
            held.iter().enumerate().filter_map(|(place, held)| Some((place, held.as_ref()?))).collect();
        let figure = |row: usize, column: usize| -> Option<f64> {
            measured.as_ref()?.matrix.get(row)?.get(column).copied()
        };
        let (mut pairs, mut opposed) = (Vec::new(), Vec::new());
        let worded: Vec<(usize, Worded)> =
            holders.iter().map(|(place, held)| (*place, Worded::of(held))).collect();
        for (row, (one, words)) in worded.iter().enumerate() {
            for (column, (other, theirs)) in worded.iter().enumerate().skip(row + 1) {
                pairs.extend(figure(row, column).map(|alike| (*one, *other, alike)));
                if words.is_other(theirs) {
                    opposed.push((*one, *other));
                }
            }
        }
        // Whoever was absent, or not asked, is not stable, but silent.
        let spoke = holders.iter().enumerate().filter(|(_, (_, held))| held.is_new);
        let stabilities: Vec<(usize, f64)> =
            spoke.filter_map(|(row, (place, _))| Some((*place, figure(row, holders.len() + row)?))).collect();
        let conflicts: Vec<(usize, usize)> = holders
            .iter()
            .flat_map(|(one, held)| held.conflicts.iter().flatten().map(|other| (*one, *other)))
            .collect();
        let silent: Vec<usize> =
            holders.iter().filter(|(_, held)| held.conflicts.is_none()).map(|(place, _)| *place).collect();
        let agreement = Spread::of(&pairs.iter().map(|(.., alike)| *alike).collect::<Vec<_>>());
        let stability = Spread::of(&stabilities.iter().map(|(_, alike)| *alike).collect::<Vec<_>>());
        let alike = agreement.is_some_and(|agreement| agreement.min >= threshold - TOLERANCE);
        let converged = alike && conflicts.is_empty() && opposed.is_empty() && silent.is_empty();
        let texts = holders.iter().map(|(place, held)| (*place, held.said.text())).collect();
        let measured_by = measured.map(|measured| measured.by);
        Self {
            round,
            stage,
            agreement,
            stability,
            conflicts,
            opposed,
            silent,
            converged,
            pairs,
            stabilities,
            texts,
            threshold,
            measured_by,
        }
    }

    /// Whether the least likeness reaches the threshold, whatever anybody declares. The same words need no measure.
    pub(super) fn is_alike(&self) -> bool {
        match (self.agreement, self.texts.as_slice()) {
            (Some(agreement), _) => agreement.min >= self.threshold - TOLERANCE,
            (None, [(_, first), others @ ..]) => {
                !others.is_empty() && others.iter().all(|(_, text)| text == first)
            }
            (None, []) => false,
        }
    }

    /// Whether anybody measured how alike they are.
    pub(super) fn is_measured(&self) -> bool {
        self.agreement.is_some()
    }

    /// Whose proposals it looked at.
    pub(super) fn holders(&self) -> Vec<usize> {
        self.texts.iter().map(|(place, _)| *place).collect()
    }

    /// How alike two proposals are, where it was measured.
    pub(super) fn similarity(&self, one: usize, other: usize) -> Option<f64> {
        let found = self.pairs.iter().find(|(a, b, _)| (*a, *b) == (one, other) || (*b, *a) == (one, other));
        found.map(|(.., alike)| *alike)
    }

    /// Whether two proposals are alike enough; where nobody measured it, whether they have the same words.
    pub(super) fn is_like(&self, one: usize, other: usize) -> bool {
        let text =
            |place: usize| self.texts.iter().find(|(holder, _)| *holder == place).map(|(_, text)| text);
        match self.similarity(one, other) {
            Some(alike) => alike >= self.threshold - TOLERANCE,
            None => text(one).is_some() && text(one) == text(other),
        }
    }

    /// Whether two proposals are the same in substance, so that a vote for one is a vote for the other. The same words are,
    /// whatever was declared: a conflict may be with what its holder has given up in the same round.
    pub(super) fn is_same(&self, one: usize, other: usize) -> bool {
        let text =
            |place: usize| self.texts.iter().find(|(holder, _)| *holder == place).map(|(_, text)| text);
        let verbatim = text(one).zip(text(other)).is_some_and(|(one, other)| lexical::same_words(one, other));
        verbatim || (self.is_like(one, other) && !self.is_apart(one, other))
    }

    /// Whether two proposals are declared to conflict, or seen to.
    pub(super) fn is_apart(&self, one: usize, other: usize) -> bool {
        let either =
            |pairs: &[(usize, usize)]| pairs.contains(&(one, other)) || pairs.contains(&(other, one));
        either(&self.conflicts) || either(&self.opposed)
    }

    /// Whether an agent's proposal is measured to be like its last one.
    pub(super) fn is_stable(&self, place: usize) -> bool {
        let stable =
            |(holder, alike): &(usize, f64)| *holder == place && *alike >= self.threshold - TOLERANCE;
        self.stabilities.iter().any(stable)
    }
}

/// A position without the ids of context that it cites, which are no figures of it.
fn bare(position: &str) -> String {
    let is_id = |word: &str| {
        let id = word.trim_matches(|c: char| !c.is_alphanumeric()).strip_prefix('K');
        id.is_some_and(|id| !id.is_empty() && id.chars().all(|c| c.is_ascii_digit()))
    };
    let words = position.split([' ', ',', '\n', '\t']).filter(|word| !is_id(word));
    words.collect::<Vec<_>>().join(" ")
}
