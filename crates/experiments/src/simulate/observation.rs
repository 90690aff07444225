//! What the log of one simulated debate shows. Nothing here knows the population: only the right answer is not in the log, as in any
//! real debate.

use agon_core::simulation::{SimulatedPlay, SimulatedSide};
use agon_core::{Corrupt, Debate, PositionHistory, Protocol};

use super::neutral::vote_accuracy;

/// What one debate shows.
#[derive(Debug, Clone, PartialEq)]
pub struct DebateObservation {
    /// The right answer.
    pub truth: SimulatedSide,
    /// From the first round to the last.
    pub rounds: Vec<ObservedRound>,
    /// The side that the verdict is on; `None` where nothing was decided.
    pub verdict: Option<SimulatedSide>,
    /// The changes of mind that the protocol's evidence rule took back.
    pub reverted: usize,
    /// For each time a judge was asked, how many things it was shown and whether it liked the first of them best.
    pub judged: Vec<(usize, bool)>,
    /// All changes of mind.
    pub flips: FlipCounts,
}

/// Who held what after a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedRound {
    /// The round, as the protocol counts it.
    pub number: u32,
    /// In seat order.
    pub seats: Vec<ObservedPosition>,
}

/// What one seat held after a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedPosition {
    /// The seat.
    pub seat: String,
    /// What it held.
    pub side: SimulatedSide,
    /// Where it has just changed its mind, whether it cites anything.
    pub evidenced: Option<bool>,
}

/// How many seats changed their minds, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct FlipCounts {
    /// All changes of mind.
    pub flips: usize,
    /// Those that cite evidence.
    pub evidenced: usize,
    /// Those to the view that more of the others held.
    pub toward_majority: usize,
}

impl std::ops::Add for FlipCounts {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self {
            flips: self.flips + more.flips,
            evidenced: self.evidenced + more.evidenced,
            toward_majority: self.toward_majority + more.toward_majority,
        }
    }
}

impl DebateObservation {
    /// Reads a debate that is over.
    pub fn read(
        protocol: &dyn Protocol,
        play: &dyn SimulatedPlay,
        debate: &Debate,
        truth: SimulatedSide,
    ) -> Result<Self, Corrupt> {
        let view = protocol.view(debate)?;
        let reverted = debate.outcome.as_ref().map(|outcome| play.reverted_changes(outcome)).transpose()?;
        let mut flips = FlipCounts::default();
        for flip in view.positions.flips() {
            flips.flips += 1;
            flips.evidenced += usize::from(flip.evidenced);
            flips.toward_majority += usize::from(flip.toward_majority == Some(true));
        }
        Ok(Self {
            truth,
            rounds: rounds(&view.positions, play),
            verdict: play.side_of_decision(&view.headline),
            reverted: reverted.unwrap_or_default(),
            judged: judged(&view.positions),
            flips,
        })
    }

    /// How right a plain vote on the first positions is: 1, 0, or 0.5 if it is tied.
    pub fn first_vote(&self) -> f64 {
        self.rounds.first().map_or(0.0, |round| self.vote(round))
    }

    /// How right a plain vote after this round is.
    pub(super) fn vote(&self, round: &ObservedRound) -> f64 {
        vote_accuracy(self.right_seats(round), round.seats.len())
    }

    /// How many seats are right after this round.
    pub(super) fn right_seats(&self, round: &ObservedRound) -> usize {
        round.seats.iter().filter(|held| held.side == self.truth).count()
    }

    /// Whether the verdict is right. No verdict counts as wrong.
    pub fn is_right(&self) -> bool {
        self.verdict == Some(self.truth)
    }
}

/// The rounds in which seats said what they hold. A ballot is on what was settled before, so rounds of ballots do not count.
fn rounds(positions: &PositionHistory, play: &dyn SimulatedPlay) -> Vec<ObservedRound> {
    let rounds = positions.rounds.iter().filter(|round| !round.ballots).map(|round| {
        let seats = round.stands.iter().filter_map(|held| {
            let evidenced = held.change.as_ref().map(|change| !change.cited.is_empty());
            Some(ObservedPosition { seat: held.seat.clone(), side: play.side_of_position(held)?, evidenced })
        });
        ObservedRound { number: round.round, seats: seats.collect() }
    });
    rounds.collect()
}

/// Whether a judge liked best what it was shown first, for each time it was asked. A simulated judge scores things in the order in
/// which it is shown them. Every time counts: some debates go on until the judge is consistent, so the last time alone would
/// show a judge that is better than it is.
fn judged(positions: &PositionHistory) -> Vec<(usize, bool)> {
    let judged = positions.marks.iter().filter_map(|marks| {
        let (shown, best) = (marks.scores.first()?, marks.ranking.first()?);
        Some((marks.scores.len(), shown.0 == *best))
    });
    judged.collect()
}

#[cfg(test)]
mod tests {
    use agon_core::JudgeMarks;

    use super::*;

    #[test]
    fn a_judge_that_prefers_the_first_is_recognised() {
        let marks = |shown: [&str; 3], ranking: &[&str]| JudgeMarks {
            scores: shown.iter().map(|label| ((*label).to_owned(), 5.0)).collect(),
            ranking: ranking.iter().map(|label| (*label).to_owned()).collect(),
            ..JudgeMarks::default()
        };
        let ranking = &["A", "C", "B"];
        let all = vec![
            marks(["A", "B", "C"], ranking),
            marks(["C", "B", "A"], ranking),
            marks(["A", "B", "C"], &[]),
        ];
        let positions = PositionHistory { marks: all, ..PositionHistory::default() };
        assert_eq!(judged(&positions), [(3, true), (3, false)], "without a ranking there is no best");
    }
}
