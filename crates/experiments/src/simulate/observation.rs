//! What a log shows of those who played it. Nothing here knows the population: the truth is the only thing that is not in the log, as
//! it is in no log of a real debate.
//!
//! A change of mind that names another's point or a piece of evidence is the evidence's. What is left is bare, and of that:
//!
//! - what those do against whom no majority stands is chance: the spontaneous flips `s`;
//! - those whom most of the others contradict change their mind by chance or because of them: `r = s + (1 - s) c`, so that the
//!   conformity `c` is `(r - s) / (1 - s)`;
//! - of all who read the other view, the share that changes with evidence is the persuadability `q`;
//! - a judge who does not look at the order has its best first in one of `n` cases: with `f` the share in which it does,
//!   `b = (f - 1/n) / (1 - 1/n)`.

use agon_core::{Corrupt, Debate, Protocol, Stand, Stands};
use serde_json::Value;

use crate::words::Side;

mod estimate;

pub use estimate::{Estimate, Estimates, Share, estimates, mean, share};

/// What one debate shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// The right answer.
    pub truth: Side,
    /// From the first round to the last.
    pub rounds: Vec<Round>,
    /// The side that the verdict is on; `None` where the protocol decided nothing.
    pub verdict: Option<Side>,
    /// Changes of verdict that `review` took back.
    pub reverted: usize,
    /// For each order in which a judge was asked, how many things it was shown and whether its best was the first of them.
    pub judged: Vec<(usize, bool)>,
    /// All changes of mind.
    pub flips: Flips,
}

/// Who held what after a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// The round, as the protocol counts it.
    pub number: u32,
    /// In seat order.
    pub seats: Vec<Held>,
}

/// What one seat held after a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Whose.
    pub seat: String,
    /// What.
    pub side: Side,
    /// Where it has just changed, whether it names anything.
    pub evidenced: Option<bool>,
}

/// How many changed their mind, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Flips {
    /// All of them.
    pub flips: usize,
    /// With evidence.
    pub evidenced: usize,
    /// To where more of the others were.
    pub toward_majority: usize,
}

impl std::ops::Add for Flips {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self {
            flips: self.flips + more.flips,
            evidenced: self.evidenced + more.evidenced,
            toward_majority: self.toward_majority + more.toward_majority,
        }
    }
}

impl Observation {
    /// Reads a debate that is over.
    pub fn read(protocol: &dyn Protocol, debate: &Debate, truth: Side) -> Result<Self, Corrupt> {
        let stands = protocol.stands(debate)?;
        let verdict = debate.outcome.as_ref().map(|outcome| &outcome.verdict).unwrap_or(&Value::Null);
        let mut flips = Flips::default();
        for flip in stands.flips() {
            flips.flips += 1;
            flips.evidenced += usize::from(flip.evidenced);
            flips.toward_majority += usize::from(flip.toward_majority);
        }
        Ok(Self {
            truth,
            rounds: rounds(&stands),
            verdict: decided(protocol.name(), verdict),
            reverted: reverted(verdict),
            judged: judged(&stands),
            flips,
        })
    }

    /// How right a plain vote on the first positions is: 1, 0, or half where it is tied.
    pub fn first_vote(&self) -> f64 {
        self.rounds.first().map_or(0.0, |round| self.vote(round))
    }

    /// The same for any round.
    pub(crate) fn vote(&self, round: &Round) -> f64 {
        crate::neutral::vote(self.right(round), round.seats.len())
    }

    pub(crate) fn right(&self, round: &Round) -> usize {
        round.seats.iter().filter(|held| held.side == self.truth).count()
    }

    /// Whether the verdict is right. No verdict is not.
    pub fn is_right(&self) -> bool {
        self.verdict == Some(self.truth)
    }
}

/// The rounds in which seats said what they hold. Ballots are on what was settled before.
fn rounds(stands: &Stands) -> Vec<Round> {
    let rounds = stands
        .rounds
        .iter()
        .filter(|held| !held.ballots)
        .map(|held| Round { number: held.round, seats: held.stands.iter().filter_map(read).collect() });
    rounds.collect()
}

fn read(stand: &Stand) -> Option<Held> {
    let side = match stand.value {
        Some(score) => Some(Side::of_score(score)),
        None => Side::of(&stand.position).or_else(|| Side::of_word(&stand.position)),
    };
    let evidenced = stand.change.as_ref().map(|change| !change.cited.is_empty());
    Some(Held { seat: stand.seat.clone(), side: side?, evidenced })
}

/// The side of a verdict, by what each protocol calls it.
fn decided(protocol: &str, verdict: &Value) -> Option<Side> {
    let text = |key: &str| verdict.get(key).and_then(Value::as_str);
    match protocol {
        "deep" => Side::of(text("answer")?),
        "arena" => Side::of(text("position")?),
        "council" => Side::of_word(text("decision")?),
        "panel" => {
            let score = verdict.get("consensus_score").or_else(|| verdict.get("majority_score"));
            score.and_then(Value::as_f64).map(Side::of_score)
        }
        _ => Side::of_word(text("verdict")?),
    }
}

fn reverted(verdict: &Value) -> usize {
    let shifts = verdict.get("shifts").and_then(Value::as_array).into_iter().flatten();
    shifts.filter(|shift| shift.get("reverted").and_then(Value::as_bool) == Some(true)).count()
}

/// What a judge liked best, in each order in which it was asked. It scores things in the order in which it is shown them, as simulated
/// judges do, and every time that it was asked counts: of a debate that goes on until its judge is consistent the last time would
/// show a better judge than it has.
fn judged(stands: &Stands) -> Vec<(usize, bool)> {
    let judged = stands.marks.iter().filter_map(|marks| {
        let (shown, best) = (marks.scores.first()?, marks.ranking.first()?);
        Some((marks.scores.len(), shown.0 == *best))
    });
    judged.collect()
}

#[cfg(test)]
mod tests {
    use agon_core::stand::Marks;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_verdict_is_read_in_the_words_of_its_protocol() {
        for (protocol, verdict, side) in [
            ("review", json!({"verdict": "PASS"}), Some(Side::Yes)),
            ("review", json!({"verdict": "FAIL"}), Some(Side::No)),
            ("deep", json!({"answer": Side::No.text()}), Some(Side::No)),
            ("deep", json!({"answer": null}), None),
            ("panel", json!({"consensus_score": 4.5}), Some(Side::Yes)),
            ("panel", json!({"majority_score": 2.0}), Some(Side::No)),
            ("panel", json!({"verdict_type": "no_majority"}), None),
            ("council", json!({"decision": "RECONSIDER"}), Some(Side::No)),
            ("council", json!({"decision": "PROCEED WITH CONDITIONS"}), Some(Side::Yes)),
            ("arena", json!({"position": null}), None),
        ] {
            assert_eq!(decided(protocol, &verdict), side, "{protocol} {verdict}");
        }
    }

    #[test]
    fn a_judge_is_seen_to_take_the_first() {
        let marks = |shown: [&str; 3], ranking: &[&str]| Marks {
            scores: shown.iter().map(|label| ((*label).to_owned(), 5.0)).collect(),
            ranking: ranking.iter().map(|label| (*label).to_owned()).collect(),
            ..Marks::default()
        };
        let ranking = &["A", "C", "B"];
        let all = vec![
            marks(["A", "B", "C"], ranking),
            marks(["C", "B", "A"], ranking),
            marks(["A", "B", "C"], &[]),
        ];
        let stands = Stands { marks: all, ..Stands::default() };
        assert_eq!(judged(&stands), [(3, true), (3, false)], "without a ranking there is no best");
    }
}
