//! The arithmetic of agreement: how far the judges are apart, who the majority is, and what that decides.

use agon_core::Termination;
use serde::{Deserialize, Serialize};

use super::findings::{FindingStand, group_stand};
use super::log::{JudgeStanding, PanelLog, PanelRound};
use super::{PanelOptions, wire_name};

/// Comparisons with thresholds allow for rounding.
pub(super) const TOLERANCE: f64 = 1e-9;

/// The smallest and the largest of some scores.
pub(super) fn extremes(scores: &[f64]) -> (f64, f64) {
    let pair = |(low, high): (f64, f64), score: &f64| (low.min(*score), high.max(*score));
    scores.iter().fold((f64::INFINITY, f64::NEG_INFINITY), pair)
}

/// The difference between the smallest and the largest score.
pub(super) fn range(scores: &[f64]) -> f64 {
    let (low, high) = extremes(scores);
    (high - low).max(0.0)
}

/// The mean; 0 for no scores.
pub(super) fn mean(scores: &[f64]) -> f64 {
    scores.iter().sum::<f64>() / scores.len().max(1) as f64
}

/// How far the judges agree after a round.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ConsensusCheck {
    /// The range of the overall scores.
    pub(super) range: f64,
    /// The range of the scores of each dimension, in the rubric's order.
    pub(super) dimensions: Vec<f64>,
    /// The critical findings that all hold, by place. Those that are the same are one.
    pub(super) adopted: Vec<usize>,
    /// How many critical findings are disputed.
    pub(super) disputed: usize,
    /// Whether that is consensus.
    pub(super) reached: bool,
}

impl ConsensusCheck {
    /// Consensus needs a small range of the overall scores and of every dimension, and no disputed critical finding. `groups` has
    /// for each finding the first one that is the same.
    pub(super) fn new(standings: &[JudgeStanding], groups: &[usize], options: &PanelOptions) -> Self {
        let scores: Vec<f64> = standings.iter().map(|standing| standing.score).collect();
        let dimensions = 0..standings.first().map_or(0, |standing| standing.dimensions.len());
        let dimensions: Vec<f64> =
            dimensions.map(|place| range(&dimension_scores(standings, place))).collect();
        let state = |place: usize| FindingState::of(&holders(standings, groups, place), standings.len());
        let in_state = |wanted: FindingState| {
            let firsts = groups.iter().enumerate().filter(|(place, first)| place == *first);
            firsts.map(|(place, _)| place).filter(|place| state(*place) == wanted).collect::<Vec<_>>()
        };
        let (adopted, disputed) = (in_state(FindingState::Adopted), in_state(FindingState::Disputed).len());
        let range = range(&scores);
        // A single judge has nobody to agree with.
        let scores_agree = standings.len() > 1
            && range <= options.consensus_range + TOLERANCE
            && dimensions.iter().all(|apart| *apart <= options.dimension_range + TOLERANCE);
        Self { range, dimensions, adopted, disputed, reached: scores_agree && disputed == 0 }
    }
}

/// The judges' scores in one dimension.
pub(super) fn dimension_scores(standings: &[JudgeStanding], place: usize) -> Vec<f64> {
    standings.iter().filter_map(|standing| standing.dimensions.get(place).copied()).collect()
}

/// The places of the judges who hold a critical finding, or one that is the same.
pub(super) fn holders(standings: &[JudgeStanding], groups: &[usize], finding: usize) -> Vec<usize> {
    let holds = |standing: &JudgeStanding| group_stand(standing, groups, finding) == FindingStand::Holds;
    let places = standings.iter().enumerate();
    places.filter(|(_, standing)| holds(standing)).map(|(place, _)| place).collect()
}

/// What has become of a critical finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingState {
    /// All judges hold it.
    Adopted,
    /// No judge holds it.
    Withdrawn,
    /// No judge holds it, and all who gave it up say that it is real, but not critical.
    Lowered,
    /// Some judges hold it. It blocks consensus at any scores.
    Disputed,
}

impl FindingState {
    /// The state of a finding with these holders among so many judges.
    pub(super) fn of(holders: &[usize], judges: usize) -> Self {
        match holders.len() {
            0 => Self::Withdrawn,
            n if n == judges => Self::Adopted,
            _ => Self::Disputed,
        }
    }

    /// Whether somebody holds it.
    pub(super) fn is_held(self) -> bool {
        matches!(self, Self::Adopted | Self::Disputed)
    }
}

/// The places of the majority, in place order. It is the group of neighbours in score order that has more than half of the
/// judges and the smallest range; of equal ranges the largest group. `None` where two groups are equal in both.
pub(super) fn majority(scores: &[f64]) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    let score = |place: &usize| scores.get(*place).copied().unwrap_or_default();
    order.sort_by(|a, b| score(a).total_cmp(&score(b)).then(a.cmp(b)));
    let least = scores.len() / 2 + 1;
    let mut best: Option<(f64, &[usize])> = None;
    let mut tied = false;
    for group in (least..=scores.len()).rev().flat_map(|size| order.windows(size)) {
        let apart = group.last().map_or(0.0, score) - group.first().map_or(0.0, score);
        match best {
            Some((found, larger)) if (apart - found).abs() <= TOLERANCE => {
                tied |= larger.len() == group.len();
            }
            Some((found, _)) if apart > found => {}
            _ => (best, tied) = (Some((apart, group)), false),
        }
    }
    let (_, group) = best.filter(|_| !tied)?;
    let mut places = group.to_vec();
    places.sort_unstable();
    Some(places)
}

/// What the scores decide, with the judges on each side by place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PanelDecision {
    Consensus,
    Majority {
        majority: Vec<usize>,
        /// Empty where all judges are the majority and something else keeps them from consensus.
        minority: Vec<usize>,
    },
    /// Two groups are equally near together, so neither has won.
    NoMajority,
    /// Too few judges were left, or the debate is not over.
    None,
}

impl PanelDecision {
    /// What a debate that ended in this way decides.
    pub(super) fn of(log: &PanelLog<'_>, termination: Termination) -> Self {
        let last = log.last().filter(|_| termination != Termination::QuorumLost);
        last.map_or(Self::None, |last| Self::after(log, last))
    }

    /// What the scores after a round would decide.
    pub(super) fn after(log: &PanelLog<'_>, round: &PanelRound) -> Self {
        if !log.has_quorum() || !(round.has_quorum() || log.was_cut_short()) {
            return Self::None;
        }
        if round.check.reached {
            return Self::Consensus;
        }
        let Some(majority) = majority(&round.scores()) else { return Self::NoMajority };
        let minority = log.places().into_iter().filter(|place| !majority.contains(place)).collect();
        Self::Majority { majority, minority }
    }

    /// The verdict after a round in a few words: `GO (GREEN) by consensus`. Scores that move within a band change nothing in it, nor
    /// does it matter who is in the majority.
    pub(super) fn label(&self, log: &PanelLog<'_>, round: &PanelRound) -> Option<String> {
        let kind = self.kind()?;
        if *self == Self::NoMajority {
            return Some("no majority".to_owned());
        }
        let (go, band) = log.go_after(round);
        Some(format!("{go} ({}) by {kind}", wire_name(band)))
    }

    /// The seed's kind of verdict, or that of a tie. `None` without a verdict.
    pub(super) fn kind(&self) -> Option<&'static str> {
        match self {
            Self::Consensus => Some("consensus"),
            Self::Majority { .. } => Some("majority"),
            Self::NoMajority => Some("no_majority"),
            Self::None => None,
        }
    }

    /// Whether a judge is on the side that the verdict takes.
    pub(super) fn is_with(&self, place: usize) -> bool {
        match self {
            Self::Consensus => true,
            Self::Majority { majority, .. } => majority.contains(&place),
            Self::NoMajority | Self::None => false,
        }
    }

    /// The majority and the minority, as far as there are any.
    pub(super) fn sides(&self) -> [Option<&[usize]>; 2] {
        match self {
            Self::Majority { majority, minority } if minority.is_empty() => [Some(majority), None],
            Self::Majority { majority, minority } => [Some(majority), Some(minority)],
            Self::Consensus | Self::NoMajority | Self::None => [None, None],
        }
    }
}
