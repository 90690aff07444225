//! The arithmetic of agreement: who is how far from whom, and who the majority is.

use super::log::Standing;

/// Comparisons with thresholds allow for rounding.
pub(super) const TOLERANCE: f64 = 1e-9;

/// The least and the greatest of some scores.
pub(super) fn extremes(scores: &[f64]) -> (f64, f64) {
    let pair = |(low, high): (f64, f64), score: &f64| (low.min(*score), high.max(*score));
    scores.iter().fold((f64::INFINITY, f64::NEG_INFINITY), pair)
}

/// How far the scores are apart.
pub(super) fn range(scores: &[f64]) -> f64 {
    let (low, high) = extremes(scores);
    (high - low).max(0.0)
}

/// The mean; 0 of nothing.
pub(super) fn mean(scores: &[f64]) -> f64 {
    scores.iter().sum::<f64>() / scores.len().max(1) as f64
}

/// How far the judges agree after a round.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Check {
    /// How far the overall scores are apart.
    pub(super) range: f64,
    /// The same for each dimension of the rubric.
    pub(super) dimensions: Vec<f64>,
    /// The places of the critical findings that some hold and some do not.
    pub(super) disputed: Vec<usize>,
    /// Whether that is consensus.
    pub(super) reached: bool,
}

/// Whether the judges agree: overall range, every dimension's range, and no disputed critical finding.
pub(super) fn check(standings: &[Standing], consensus_range: f64, dimension_range: f64) -> Check {
    let scores: Vec<f64> = standings.iter().map(|standing| standing.score).collect();
    let count = |of: fn(&Standing) -> usize| standings.first().map_or(0, of);
    let dimensions: Vec<f64> = (0..count(|standing| standing.dimensions.len()))
        .map(|place| range(&column(standings, place)))
        .collect();
    let disputed: Vec<usize> = (0..count(|standing| standing.holds.len()))
        .filter(|place| state(&holders(standings, *place), standings.len()) == State::Disputed)
        .collect();
    let range = range(&scores);
    let near = range <= consensus_range + TOLERANCE;
    // One judge alone agrees with nobody.
    let reached = standings.len() > 1
        && near
        && disputed.is_empty()
        && dimensions.iter().all(|apart| *apart <= dimension_range + TOLERANCE);
    Check { range, dimensions, disputed, reached }
}

/// The judges' scores in one dimension.
pub(super) fn column(standings: &[Standing], place: usize) -> Vec<f64> {
    standings.iter().filter_map(|standing| standing.dimensions.get(place).copied()).collect()
}

/// The places of the judges who hold a critical finding.
pub(super) fn holders(standings: &[Standing], finding: usize) -> Vec<usize> {
    let places = standings.iter().enumerate();
    places
        .filter(|(_, s)| s.holds.get(finding).copied().unwrap_or_default())
        .map(|(place, _)| place)
        .collect()
}

/// What has become of a critical finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// All hold it.
    Adopted,
    /// Nobody does.
    Withdrawn,
    /// Anything between: it blocks consensus at any scores.
    Disputed,
}

impl State {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Adopted => "adopted",
            Self::Withdrawn => "withdrawn",
            Self::Disputed => "disputed",
        }
    }
}

/// The state of a finding that these judges, of so many, hold.
pub(super) fn state(holders: &[usize], judges: usize) -> State {
    match holders.len() {
        0 => State::Withdrawn,
        n if n == judges => State::Adopted,
        _ => State::Disputed,
    }
}

/// The places of the majority, in place order: of the contiguous groups in score order that hold more than half, the one
/// with the smallest range, of equal ranges the largest. `None` where two are alike in both: that is no majority.
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
