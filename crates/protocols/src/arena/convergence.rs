//! Whether the proposals have converged: how alike they are, and whether anybody says that they conflict.
//!
//! Similarity alone makes no agreement: every known measure finds a sentence and its contradiction more alike than two ways to
//! say the same. A declared conflict, in either direction, and a contradiction in the words therefore always count against it.

use super::judging::rounded;
use super::log::HeldProposal;
use crate::lexical::{self, Wording};

/// Comparisons with the threshold allow for rounding.
pub(super) const THRESHOLD_TOLERANCE: f64 = 1e-9;

/// The measured similarities of a stage's proposals.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SimilarityMatrix {
    /// Rows and columns are the proposals in label order, then those of the stage before.
    pub(super) rows: Vec<Vec<f64>>,
    pub(super) measured_by: String,
}

/// The check of one stage.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ConvergenceCheck {
    pub(super) round: u32,
    /// The stage whose proposals were checked.
    pub(super) stage: usize,
    /// How alike the proposals are.
    pub(super) agreement: Option<FigureSpread>,
    /// How alike each proposal is to the one before it.
    pub(super) stability: Option<FigureSpread>,
    /// Who declares a conflict with whom.
    pub(super) conflicts: Vec<(usize, usize)>,
    /// Whose positions oppose each other by their words or figures.
    pub(super) opposed: Vec<(usize, usize)>,
    /// Who has never said whether it conflicts with anybody.
    pub(super) undeclared: Vec<usize>,
    pub(super) converged: bool,
    /// The similarity of each pair, by place.
    pairs: Vec<(usize, usize, f64)>,
    /// How alike each agent's proposal is to its last one. Agents that were absent or not asked are missing.
    pub(super) stabilities: Vec<(usize, f64)>,
    /// The texts, by place. Without figures, only equal texts count as the same.
    texts: Vec<(usize, String)>,
    threshold: f64,
    pub(super) measured_by: Option<String>,
}

/// The least and the mean of some figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FigureSpread {
    pub(super) min: f64,
    pub(super) mean: f64,
}

impl FigureSpread {
    fn of(figures: &[f64]) -> Option<Self> {
        let min = figures.iter().copied().reduce(f64::min)?;
        let mean = rounded(figures.iter().sum::<f64>() / figures.len() as f64);
        Some(Self { min, mean })
    }
}

/// Whether the words alone show that two proposals differ, however alike they are.
pub(super) fn differ_by_words(one: &HeldProposal, other: &HeldProposal) -> bool {
    ProposalWording::of(one).differs(&ProposalWording::of(other))
}

/// What is compared of a proposal's words, prepared once because every pair is compared.
struct ProposalWording {
    position: String,
    position_words: Wording,
    proposal_words: Wording,
}

impl ProposalWording {
    fn of(held: &HeldProposal) -> Self {
        let position = without_context_ids(&held.said.position);
        let proposal_words = Wording::of(&without_context_ids(&held.said.proposal));
        Self { position_words: Wording::of(&position), position, proposal_words }
    }

    fn differs(&self, other: &Self) -> bool {
        lexical::contrary(&self.position, &other.position)
            || self.position_words.is_alternative(&other.position_words)
            || self.proposal_words.is_alternative(&other.proposal_words)
    }
}

/// A text without the ids of context that it cites, which are not figures of it.
fn without_context_ids(text: &str) -> String {
    let is_id = |word: &str| {
        let id = word.trim_matches(|c: char| !c.is_alphanumeric()).strip_prefix('K');
        id.is_some_and(|id| !id.is_empty() && id.chars().all(|c| c.is_ascii_digit()))
    };
    let words = text.split([' ', ',', '\n', '\t']).filter(|word| !is_id(word));
    words.collect::<Vec<_>>().join(" ")
}

impl ConvergenceCheck {
    /// Checks the proposals that are held after a stage.
    pub(super) fn of(
        round: u32,
        stage: usize,
        held: &[Option<HeldProposal>],
        measured: Option<SimilarityMatrix>,
        threshold: f64,
    ) -> Self {
        let holders: Vec<(usize, &HeldProposal)> =
            held.iter().enumerate().filter_map(|(place, held)| Some((place, held.as_ref()?))).collect();
        let figure = |row: usize, column: usize| -> Option<f64> {
            measured.as_ref()?.rows.get(row)?.get(column).copied()
        };
        let (mut pairs, mut opposed) = (Vec::new(), Vec::new());
        let wordings: Vec<(usize, ProposalWording)> =
            holders.iter().map(|(place, held)| (*place, ProposalWording::of(held))).collect();
        for (row, (one, words)) in wordings.iter().enumerate() {
            for (column, (other, theirs)) in wordings.iter().enumerate().skip(row + 1) {
                pairs.extend(figure(row, column).map(|alike| (*one, *other, alike)));
                if words.differs(theirs) {
                    opposed.push((*one, *other));
                }
            }
        }
        let spoke = holders.iter().enumerate().filter(|(_, (_, held))| held.is_new);
        let stabilities: Vec<(usize, f64)> =
            spoke.filter_map(|(row, (place, _))| Some((*place, figure(row, holders.len() + row)?))).collect();
        let conflicts: Vec<(usize, usize)> = holders
            .iter()
            .flat_map(|(one, held)| held.conflicts.iter().flatten().map(|other| (*one, *other)))
            .collect();
        let undeclared: Vec<usize> =
            holders.iter().filter(|(_, held)| held.conflicts.is_none()).map(|(place, _)| *place).collect();
        let agreement = FigureSpread::of(&pairs.iter().map(|(.., alike)| *alike).collect::<Vec<_>>());
        let stability = FigureSpread::of(&stabilities.iter().map(|(_, alike)| *alike).collect::<Vec<_>>());
        let alike = agreement.is_some_and(|agreement| agreement.min >= threshold - THRESHOLD_TOLERANCE);
        let converged = alike && conflicts.is_empty() && opposed.is_empty() && undeclared.is_empty();
        let texts = holders.iter().map(|(place, held)| (*place, held.said.text())).collect();
        let measured_by = measured.map(|measured| measured.measured_by);
        Self {
            round,
            stage,
            agreement,
            stability,
            conflicts,
            opposed,
            undeclared,
            converged,
            pairs,
            stabilities,
            texts,
            threshold,
            measured_by,
        }
    }

    /// Whether all proposals are alike enough, whatever anybody declares. Equal texts need no measure.
    pub(super) fn is_alike(&self) -> bool {
        match (self.agreement, self.texts.as_slice()) {
            (Some(agreement), _) => self.reaches_threshold(agreement.min),
            (None, [(_, first), others @ ..]) => {
                !others.is_empty() && others.iter().all(|(_, text)| text == first)
            }
            (None, []) => false,
        }
    }

    pub(super) fn is_measured(&self) -> bool {
        self.agreement.is_some()
    }

    /// The agents whose proposals were checked.
    pub(super) fn holders(&self) -> Vec<usize> {
        self.texts.iter().map(|(place, _)| *place).collect()
    }

    /// The similarity of two proposals, if it was measured.
    pub(super) fn similarity(&self, one: usize, other: usize) -> Option<f64> {
        let found = self.pairs.iter().find(|(a, b, _)| (*a, *b) == (one, other) || (*b, *a) == (one, other));
        found.map(|(.., alike)| *alike)
    }

    /// Whether two proposals are alike enough. If nothing was measured, their texts must be equal.
    pub(super) fn is_like(&self, one: usize, other: usize) -> bool {
        match self.similarity(one, other) {
            Some(alike) => self.reaches_threshold(alike),
            None => self.text(one).is_some() && self.text(one) == self.text(other),
        }
    }

    /// Whether two proposals are the same in substance, so that a vote for one is a vote for the other. Proposals with the same
    /// words are the same even if a conflict was declared: it may be with what its holder gave up in the same round.
    pub(super) fn is_same(&self, one: usize, other: usize) -> bool {
        let texts = self.text(one).zip(self.text(other));
        let same_words = texts.is_some_and(|(one, other)| lexical::same_words(one, other));
        same_words || (self.is_like(one, other) && !self.is_apart(one, other))
    }

    /// Whether two proposals conflict, by declaration or by their words.
    pub(super) fn is_apart(&self, one: usize, other: usize) -> bool {
        let has = |pairs: &[(usize, usize)]| pairs.contains(&(one, other)) || pairs.contains(&(other, one));
        has(&self.conflicts) || has(&self.opposed)
    }

    /// Whether an agent's proposal is measured to be like its last one.
    pub(super) fn is_stable(&self, place: usize) -> bool {
        self.stabilities.iter().any(|(holder, alike)| *holder == place && self.reaches_threshold(*alike))
    }

    fn reaches_threshold(&self, alike: f64) -> bool {
        alike >= self.threshold - THRESHOLD_TOLERANCE
    }

    fn text(&self, place: usize) -> Option<&str> {
        self.texts.iter().find(|(holder, _)| *holder == place).map(|(_, text)| text.as_str())
    }
}
