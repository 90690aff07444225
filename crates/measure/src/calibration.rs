//! Whether confidence is justified.
//!
//! A ballot is a forecast: its confidence says how likely its choice is right. What was right is known later and from outside,
//! when a person *resolves* the debate. Agreeing with the winner is conformity, not calibration, and is counted separately.

use serde::{Deserialize, Serialize};

/// The expected calibration error compares forecasts within this many groups of similar confidence.
const CONFIDENCE_BINS: usize = 10;

/// Whether a forecast or a decision turned out right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutcomeTruth {
    /// It was right.
    Right,
    /// It was wrong.
    Wrong,
}

impl OutcomeTruth {
    /// The name in JSON and in the store.
    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
        }
    }

    /// The truth with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Right, Self::Wrong].into_iter().find(|truth| truth.name() == name)
    }

    fn from_bool(right: bool) -> Self {
        if right { Self::Right } else { Self::Wrong }
    }
}

/// What became known after a debate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "value", rename_all = "lowercase")]
pub enum DebateResolution {
    /// The proposal with this label was right.
    Winner(String),
    /// The decision was right or wrong.
    Truth(OutcomeTruth),
}

impl DebateResolution {
    /// How the proposal with this label turned out. `decided` says whether it is the decision or means the same, and `decision`
    /// how the decision turned out. `None` if the resolution does not tell.
    pub fn of_proposal(
        &self,
        label: &str,
        decided: bool,
        decision: Option<OutcomeTruth>,
    ) -> Option<OutcomeTruth> {
        match self {
            Self::Winner(winner) => {
                let means_winner = decided && decision == Some(OutcomeTruth::Right);
                Some(OutcomeTruth::from_bool(winner == label || means_winner))
            }
            Self::Truth(truth) => of_choice(*truth, decided),
        }
    }

    /// How the decision with these labels turned out; `None` without labels.
    pub fn of_decision(&self, labels: &[String]) -> Option<OutcomeTruth> {
        match self {
            _ if labels.is_empty() => None,
            Self::Winner(winner) => Some(OutcomeTruth::from_bool(labels.contains(winner))),
            Self::Truth(truth) => Some(*truth),
        }
    }

    /// How a ballot for the proposals in `choice` turned out. `decided` says whether they are the decision.
    pub fn of_ballot(&self, choice: &[String], decided: bool) -> Option<OutcomeTruth> {
        match self {
            Self::Winner(winner) => Some(OutcomeTruth::from_bool(choice.contains(winner))),
            Self::Truth(truth) => of_choice(*truth, decided),
        }
    }
}

/// If the decision was right, everything else was wrong. If it was wrong, nothing is known about the rest.
fn of_choice(decision: OutcomeTruth, decided: bool) -> Option<OutcomeTruth> {
    match (decision, decided) {
        (truth, true) => Some(truth),
        (OutcomeTruth::Right, false) => Some(OutcomeTruth::Wrong),
        (OutcomeTruth::Wrong, false) => None,
    }
}

/// Compares forecasts with how they turned out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CalibrationTally {
    resolved: u32,
    squared_errors: f64,
    bins: [ConfidenceBin; CONFIDENCE_BINS],
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct ConfidenceBin {
    /// The sum of the confidences.
    confidence: f64,
    right: u32,
    forecasts: u32,
}

/// What became of forecasts of similar confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ReliabilityPoint {
    /// The mean confidence.
    pub confidence: f64,
    /// The share that was right.
    pub right: f64,
    /// How many forecasts there are.
    pub forecasts: u32,
}

impl CalibrationTally {
    /// Adds a forecast and how it turned out.
    pub fn add(&mut self, confidence: f64, truth: OutcomeTruth) {
        let right = u32::from(truth == OutcomeTruth::Right);
        let confidence = confidence.clamp(0.0, 1.0);
        self.resolved += 1;
        self.squared_errors += (confidence - f64::from(right)).powi(2);
        // A confidence of 1 belongs to the last bin.
        let bin = ((confidence * CONFIDENCE_BINS as f64) as usize).min(CONFIDENCE_BINS - 1);
        if let Some(bin) = self.bins.get_mut(bin) {
            bin.confidence += confidence;
            bin.right += right;
            bin.forecasts += 1;
        }
    }

    /// The number of forecasts added.
    pub fn resolved(&self) -> u32 {
        self.resolved
    }

    /// The Brier score: the mean of (confidence - outcome)². `None` without forecasts.
    pub fn brier(&self) -> Option<f64> {
        (self.resolved > 0).then(|| self.squared_errors / f64::from(self.resolved))
    }

    /// The reliability curve: for each group of similar confidence, in order, how sure the forecasts were and how many were right.
    pub fn reliability(&self) -> Vec<ReliabilityPoint> {
        let point = |bin: &ConfidenceBin| {
            let forecasts = f64::from(bin.forecasts);
            let (confidence, right) = (bin.confidence / forecasts, f64::from(bin.right) / forecasts);
            ReliabilityPoint { confidence, right, forecasts: bin.forecasts }
        };
        self.bins.iter().filter(|bin| bin.forecasts > 0).map(point).collect()
    }

    /// The expected calibration error: the mean distance, over bins of similar confidence, between the confidence and the share
    /// that was right. `None` without forecasts.
    pub fn expected_error(&self) -> Option<f64> {
        let gap = |bin: &ConfidenceBin| (bin.confidence - f64::from(bin.right)).abs();
        (self.resolved > 0).then(|| self.bins.iter().map(gap).sum::<f64>() / f64::from(self.resolved))
    }
}

#[cfg(test)]
mod tests {
    use super::OutcomeTruth::{Right, Wrong};
    use super::*;

    fn labels(labels: &[&str]) -> Vec<String> {
        labels.iter().map(|label| (*label).to_owned()).collect()
    }

    fn tally(forecasts: &[(f64, OutcomeTruth)]) -> CalibrationTally {
        let mut tally = CalibrationTally::default();
        forecasts.iter().for_each(|(confidence, truth)| tally.add(*confidence, *truth));
        tally
    }

    fn near(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() < 1e-12)
    }

    /// By hand: 0.62 and 0.66 are one group, of which one is right.
    #[test]
    fn a_reliability_curve_has_a_point_for_each_group_of_similar_confidence() {
        assert_eq!(CalibrationTally::default().reliability(), []);
        let points = tally(&[(0.66, Right), (1.0, Right), (0.62, Wrong)]).reliability();
        let shown: Vec<(f64, f64, u32)> =
            points.iter().map(|p| ((p.confidence * 100.0).round(), p.right, p.forecasts)).collect();
        assert_eq!(shown, [(64.0, 0.5, 2), (100.0, 1.0, 1)]);
    }

    /// By hand: (0.9 - 1)² + (0.6 - 0)² + (0.2 - 0)² = 0.01 + 0.36 + 0.04 = 0.41, divided by 3.
    #[test]
    fn a_brier_score_is_the_mean_squared_error() {
        let none = CalibrationTally::default();
        assert_eq!((none.brier(), none.expected_error(), none.resolved()), (None, None, 0));
        let three = tally(&[(0.9, Right), (0.6, Wrong), (0.2, Wrong)]);
        assert_eq!(three.resolved(), 3);
        assert!(near(three.brier(), 0.41 / 3.0));
        for (confidence, truth, brier) in
            [(0.5, Right, 0.25), (0.5, Wrong, 0.25), (1.0, Right, 0.0), (1.0, Wrong, 1.0)]
        {
            assert!(near(tally(&[(confidence, truth); 7]).brier(), brier), "{confidence} {truth:?}");
        }
    }

    /// By hand: of four at 0.75, three are right: no error. Of two at 0.95, one is right: 0.45 off. (4 x 0 + 2 x 0.45) / 6.
    #[test]
    fn the_expected_error_compares_within_ten_bins() {
        let six = [(0.75, Right), (0.75, Right), (0.75, Right), (0.75, Wrong), (0.95, Right), (0.95, Wrong)];
        assert!(near(tally(&six).expected_error(), 0.15));
        // Errors cancel out only within a bin: 0.69 and 0.71 are in two bins, 0.71 and 0.79 in one.
        let error = |a: f64, b: f64| tally(&[(a, Right), (b, Wrong)]).expected_error();
        assert!(near(error(0.71, 0.79), 0.25));
        assert!(near(error(0.69, 0.71), (0.31 + 0.71) / 2.0));
        assert!(near(error(0.95, 1.0), 0.475), "1 is in the last bin");
        assert!(near(error(0.0, 0.05), 0.475), "0 is in the first bin");
    }

    #[test]
    fn a_winner_makes_every_ballot_right_or_wrong() {
        let winner = DebateResolution::Winner("B".into());
        assert_eq!(winner.of_ballot(&labels(&["A", "B"]), false), Some(Right));
        assert_eq!(winner.of_ballot(&labels(&["A", "C"]), true), Some(Wrong));
        assert_eq!(winner.of_decision(&labels(&["A", "B"])), Some(Right));
        assert_eq!(winner.of_decision(&labels(&["A"])), Some(Wrong));
        assert_eq!(winner.of_decision(&[]), None);
        assert_eq!(winner.of_proposal("B", false, Some(Wrong)), Some(Right));
        assert_eq!(
            winner.of_proposal("A", true, Some(Right)),
            Some(Right),
            "it means the same as the winner"
        );
        assert_eq!(winner.of_proposal("A", false, Some(Right)), Some(Wrong));
        assert_eq!(winner.of_proposal("A", true, Some(Wrong)), Some(Wrong));
    }

    #[test]
    fn a_wrong_decision_says_nothing_about_other_choices() {
        let (right, wrong) = (DebateResolution::Truth(Right), DebateResolution::Truth(Wrong));
        let choice = labels(&["A"]);
        assert_eq!(
            (right.of_ballot(&choice, true), wrong.of_ballot(&choice, true)),
            (Some(Right), Some(Wrong))
        );
        assert_eq!((right.of_ballot(&choice, false), wrong.of_ballot(&choice, false)), (Some(Wrong), None));
        assert_eq!((right.of_decision(&choice), wrong.of_decision(&choice)), (Some(Right), Some(Wrong)));
        assert_eq!(right.of_proposal("A", true, Some(Right)), Some(Right));
        assert_eq!(wrong.of_proposal("A", false, Some(Wrong)), None);
    }

    #[test]
    fn names_are_read_back() {
        for truth in [Right, Wrong] {
            assert_eq!(OutcomeTruth::from_name(truth.name()), Some(truth));
        }
        assert_eq!(OutcomeTruth::from_name("maybe"), None);
    }
}
