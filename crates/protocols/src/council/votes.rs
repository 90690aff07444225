//! The vote: what it decides and how sure that is.

use super::log::QUORUM;
use super::reply::{Confidence, Vote};

/// Over this share of the votes on one side can be HIGH.
const HIGH_OVER: f64 = 0.75;
const TOLERANCE: f64 = 1e-9;

/// What the votes decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) vote: Vote,
    /// Whether the votes are evenly split.
    pub(super) divided: bool,
}

/// Unanimity first, then a majority of either side; an even split is RECONSIDER, divided. `None` without a
/// quorum of votes.
pub(super) fn decide(votes: &[Vote]) -> Option<Decision> {
    let first = votes.first().filter(|_| votes.len() >= QUORUM)?;
    let unanimous = votes.iter().all(|vote| vote == first);
    let favour = votes.iter().filter(|vote| vote.is_in_favour()).count();
    let against = votes.len() - favour;
    let decided = |vote, divided| Some(Decision { vote, divided });
    match favour.cmp(&against) {
        _ if unanimous && matches!(first, Vote::Proceed | Vote::DoNotProceed) => decided(*first, false),
        std::cmp::Ordering::Greater => decided(Vote::WithConditions, false),
        std::cmp::Ordering::Less => decided(Vote::Reconsider, false),
        std::cmp::Ordering::Equal => decided(Vote::Reconsider, true),
    }
}

/// How sure the decision is: HIGH over 75% on one side where nothing keeps it from that, MEDIUM any other majority, LOW divided.
/// `settled`: everybody voted, all rounds were held, and nobody changed position in the last.
pub(super) fn confidence(votes: &[Vote], settled: bool) -> Option<Confidence> {
    let decision = decide(votes)?;
    let favour = votes.iter().filter(|vote| vote.is_in_favour()).count();
    let share = favour.max(votes.len() - favour) as f64 / votes.len() as f64;
    Some(match decision.divided {
        true => Confidence::Low,
        false if settled && share > HIGH_OVER + TOLERANCE => Confidence::High,
        false => Confidence::Medium,
    })
}
