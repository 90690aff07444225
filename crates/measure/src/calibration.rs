//! Whether those who were sure were right.
//!
//! A ballot is a forecast: its voter says how sure it is that its choice is the right one. What was right is known only
//! later and from outside, when a person *resolves* the debate; agreeing with the winner is conformity, and is kept apart.

use serde::{Deserialize, Serialize};

/// How many groups of like confidence the expected calibration error looks at.
pub const BINS: usize = 10;

/// How something turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Truth {
    /// As it was said.
    Right,
    /// Otherwise.
    Wrong,
}

impl Truth {
    /// The name, as it is stored and shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
        }
    }

    /// The truth of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Right, Self::Wrong].into_iter().find(|truth| truth.name() == name)
    }

    fn of(right: bool) -> Self {
        if right { Self::Right } else { Self::Wrong }
    }
}

/// What became known after a debate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "value", rename_all = "lowercase")]
pub enum Resolution {
    /// The proposal of this label was the right one.
    Winner(String),
    /// The decision was right, or wrong.
    Truth(Truth),
}

impl Resolution {
    /// How the proposal of `label` turned out. Whether it is the decision or says the same is `decided`, and `decision` how
    /// the decision turned out. `None` where the resolution says nothing of it.
    pub fn of_proposal(&self, label: &str, decided: bool, decision: Option<Truth>) -> Option<Truth> {
        match self {
            Self::Winner(winner) => {
                Some(Truth::of(winner == label || (decided && decision == Some(Truth::Right))))
            }
            Self::Truth(truth) => of_choice(*truth, decided),
        }
    }

    /// How the decision turned out that has these labels; `None` where there is none.
    pub fn of_decision(&self, decision: &[String]) -> Option<Truth> {
        match self {
            _ if decision.is_empty() => None,
            Self::Winner(winner) => Some(Truth::of(decision.contains(winner))),
            Self::Truth(truth) => Some(*truth),
        }
    }

    /// How a ballot for the proposals of `choice`, which are the decision where `decided`, turned out.
    pub fn of_ballot(&self, choice: &[String], decided: bool) -> Option<Truth> {
        match self {
            Self::Winner(winner) => Some(Truth::of(choice.contains(winner))),
            Self::Truth(truth) => of_choice(*truth, decided),
        }
    }
}

/// When the decision was right, all else was wrong; when it was wrong, all else is as open as before.
fn of_choice(truth: Truth, decided: bool) -> Option<Truth> {
    match (truth, decided) {
        (truth, true) => Some(truth),
        (Truth::Right, false) => Some(Truth::Wrong),
        (Truth::Wrong, false) => None,
    }
}

/// How somebody's confidence compares with what turned out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Calibration {
    resolved: u32,
    squares: f64,
    bins: [Bin; BINS],
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Bin {
    count: u32,
    confidence: f64,
    right: u32,
}

impl Calibration {
    /// Adds a forecast that was made with this confidence, and how it turned out.
    pub fn add(&mut self, confidence: f64, truth: Truth) {
        let right = u32::from(truth == Truth::Right);
        let confidence = confidence.clamp(0.0, 1.0);
        self.resolved += 1;
        self.squares += (confidence - f64::from(right)).powi(2);
        // The last bin has both its ends: certainty belongs to the most confident.
        let bin = ((confidence * BINS as f64) as usize).min(BINS - 1);
        if let Some(bin) = self.bins.get_mut(bin) {
            bin.count += 1;
            bin.confidence += confidence;
            bin.right += right;
        }
    }

    /// How many forecasts are resolved.
    pub fn resolved(&self) -> u32 {
        self.resolved
    }

    /// The mean of (confidence - outcome) squared; `None` where nothing is resolved.
    pub fn brier(&self) -> Option<f64> {
        (self.resolved > 0).then(|| self.squares / f64::from(self.resolved))
    }

    /// The expected calibration error: how far, on average, the confidence of like forecasts is from the share of them that
    /// was right. `None` where nothing is resolved.
    pub fn error(&self) -> Option<f64> {
        let gap = |bin: &Bin| (bin.confidence - f64::from(bin.right)).abs();
        (self.resolved > 0).then(|| self.bins.iter().map(gap).sum::<f64>() / f64::from(self.resolved))
    }
}

#[cfg(test)]
mod tests;
