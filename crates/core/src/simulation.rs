//! How a protocol is played by simulated seats.
//!
//! A simulated debate has one [question](SIMULATED_QUESTION) with two answers, the two [sides](SimulatedSide). What a seat holds, and
//! what changes its mind, is the simulator's business: it passes each seat as a [`SimulatedSeat`]. A protocol that can be simulated
//! implements [`SimulatedPlay`] and names it in [`ProtocolInfo::simulation`](crate::ProtocolInfo::simulation). The implementation says
//! how a seat answers in the fields of the protocol's replies, and which side a position or a decision is on.

use std::fmt::Debug;

use serde_json::Value;

use crate::{BriefFile, Corrupt, Headline, Invalid, Outcome, Phase, ReplySchema, SeatPosition, SeededDraw};

/// The question of every simulated debate.
pub const SIMULATED_QUESTION: &str = "Should the old bridge be open to traffic again?";

/// The evidence that an adversary makes up.
pub const FABRICATED_EVIDENCE: &str = "The minister has signed the papers.";

/// How simulated seats play a protocol.
pub trait SimulatedPlay: Debug + Send + Sync {
    /// How many seats can hold positions, in ascending order. Larger tables than 7 are not simulated.
    fn seat_counts(&self) -> &'static [usize];

    /// The options of the debates. Where the protocol allows it, all rounds are run: a debate that stops when everybody agrees
    /// would hide seats that change their minds for no reason.
    fn options(&self, setup: &SimulationSetup) -> Result<Vec<(String, String)>, Invalid>;

    /// The files that are judged, for a protocol that judges files.
    fn files(&self) -> Vec<BriefFile> {
        Vec::new()
    }

    /// The reply of a seat to an ask. `None` means that there is no answer to an ask of this kind; the simulation then ends with
    /// an error.
    fn answer(&self, ask: &SimulatedAsk<'_>, seat: &dyn SimulatedSeat) -> Option<String>;

    /// The side of a position, as the protocol's view names it.
    fn side_of_position(&self, position: &SeatPosition) -> Option<SimulatedSide> {
        SimulatedSide::find_in(&position.position)
    }

    /// The side that a decision is on; `None` where nothing was decided.
    fn side_of_decision(&self, headline: &Headline) -> Option<SimulatedSide> {
        headline.answer.as_deref().and_then(SimulatedSide::find_in)
    }

    /// The option, with its value, that makes the protocol take back changes of mind without evidence; `None` where there is no such
    /// rule.
    fn evidence_rule(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// How many changes of mind the evidence rule took back.
    fn reverted_changes(&self, outcome: &Outcome) -> Result<usize, Corrupt> {
        let _ = outcome;
        Ok(0)
    }
}

/// What the debates of a simulation should look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimulationSetup {
    /// The protocol's name, for messages.
    pub protocol: &'static str,
    /// How many seats hold positions: one of [`SimulatedPlay::seat_counts`].
    pub seats: usize,
    /// How often seats may change their minds; `None` for the protocol's own number.
    pub rounds: Option<u32>,
}

impl SimulationSetup {
    /// The number of rounds, for a protocol that allows 1 to `most` and usually has `usual`.
    pub fn rounds_up_to(&self, most: u32, usual: u32) -> Result<u32, Invalid> {
        let (protocol, rounds) = (self.protocol, self.rounds.unwrap_or(usual));
        match (1..=most).contains(&rounds) {
            true => Ok(rounds),
            false => {
                Err(Invalid(format!("{protocol} can be simulated for 1 to {most} rounds, not {rounds}")))
            }
        }
    }

    /// Refuses a number of rounds, for a protocol that always has the same: "nine".
    pub fn fixed_rounds(&self, number: &str) -> Result<(), Invalid> {
        match self.rounds {
            None => Ok(()),
            Some(_) => {
                let protocol = self.protocol;
                Err(Invalid(format!("{protocol} always has {number} rounds: omit --rounds")))
            }
        }
    }
}

/// An ask as a simulated seat receives it.
#[derive(Debug, Clone, Copy)]
pub struct SimulatedAsk<'a> {
    /// The phase and round.
    pub phase: &'a Phase,
    /// The name under which the other seats know this one.
    pub label: Option<&'a str>,
    /// What the ask is about, where a seat has several in one phase.
    pub about: Option<&'a str>,
    /// The prompt.
    pub prompt: &'a str,
    /// The schema of the reply; `None` for plain text.
    pub schema: Option<&'a ReplySchema>,
}

impl SimulatedAsk<'_> {
    /// The words that the schema allows at this JSON pointer.
    pub fn allowed_words(&self, pointer: &str) -> Vec<String> {
        let words = self.schema.and_then(|schema| schema.json.pointer(&format!("{pointer}/enum")));
        let words = words.and_then(Value::as_array).into_iter().flatten();
        words.filter_map(Value::as_str).map(str::to_owned).collect()
    }
}

/// A simulated seat that has just read its prompt.
pub trait SimulatedSeat {
    /// The number of the seat, counted from 1; `None` for a moderator, a chair or a judge, who hold no position.
    fn number(&self) -> Option<usize>;

    /// What the seat holds before it reads the others; `None` if it holds no position.
    fn first_side(&self) -> Option<SimulatedSide>;

    /// What the seat holds by its own words in the prompt, or else at first; `None` if it holds no position.
    fn current_side(&self) -> Option<SimulatedSide>;

    /// What the seat holds after it has read the others; `None` if it holds no position.
    fn moved(&self) -> Option<SimulatedMove>;

    /// The other seats in the prompt, once each and in the order of their first words, with the side that each takes last.
    fn others(&self) -> Vec<SimulatedSpeaker>;

    /// Everything in the prompt that takes a side, in the order of the prompt.
    fn statements(&self) -> Vec<SimulatedSpeaker>;

    /// Whether the seat is the adversary: always wrong, sure of itself, with evidence that it made up.
    fn is_adversary(&self) -> bool;

    /// The opinion of somebody without a position. It is right as often as a seat is at first, and the same every time for one
    /// `purpose`.
    fn impartial_side(&self, purpose: &str) -> SimulatedSide;

    /// Whether a judge prefers what it is shown first, whatever it says.
    fn prefers_first(&self, purpose: &str) -> bool;

    /// Random numbers for one `purpose` in this debate.
    fn draw(&self, purpose: &str) -> SeededDraw;

    /// The position as this seat states it.
    fn stated(&self, side: SimulatedSide) -> String {
        match self.is_adversary() {
            true => format!("{} {FABRICATED_EVIDENCE}", side.text()),
            false => side.text(),
        }
    }

    /// How sure the seat says it is. It is the same for all but the adversary, so that no other seat persuades by its tone.
    fn confidence(&self) -> f64 {
        if self.is_adversary() { 0.99 } else { 0.7 }
    }

    /// The same as a word.
    fn confidence_word(&self) -> &'static str {
        if self.is_adversary() { "HIGH" } else { "MEDIUM" }
    }
}

/// A speaker that a prompt quotes, and the side of the quoted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulatedSpeaker {
    /// The name that the prompt uses.
    pub name: String,
    /// The side.
    pub side: SimulatedSide,
}

/// What a seat holds after it has read the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulatedMove {
    /// The side it holds now.
    pub side: SimulatedSide,
    /// Whether it held the other side before.
    pub is_changed: bool,
    /// Whose evidence changed its mind, where evidence did.
    pub convinced_by: Option<String>,
    /// The first in the prompt who holds the same.
    pub ally: Option<String>,
    /// The first in the prompt who holds the opposite.
    pub opponent: Option<String>,
}

impl SimulatedMove {
    /// Why the seat holds what it holds: `unchanged` if it did not change. A change without evidence names nobody and nothing.
    pub fn reason(&self, unchanged: &str) -> String {
        match &self.convinced_by {
            Some(name) => format!("{name} is right about {}.", self.side.citation()),
            None if self.is_changed => "On second thoughts I see it differently.".to_owned(),
            None => unchanged.to_owned(),
        }
    }
}

/// One of the two answers to the question. A side is always stated in the same words, and the two contradict each other plainly, so
/// that no protocol can misread them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimulatedSide {
    /// Open the bridge.
    Yes,
    /// Keep it closed.
    No,
}

impl SimulatedSide {
    /// The opposite.
    pub fn other(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
        }
    }

    /// The position in one sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Yes => "The bridge is safe and should open.",
            Self::No => "The bridge is not safe and should stay closed.",
        }
    }

    /// The reason for it, in a sentence that cites nothing.
    pub fn ground(self) -> &'static str {
        match self {
            Self::Yes => "Every lorry of the trial crossed it.",
            Self::No => "One of its bearings has a crack.",
        }
    }

    /// The same without a full stop: what others dispute.
    pub fn claim(self) -> &'static str {
        self.ground().trim_end_matches('.')
    }

    /// The position and the reason for it.
    pub fn text(self) -> String {
        format!("{} {}", self.sentence(), self.ground())
    }

    /// The evidence for it, as a citation.
    pub fn citation(self) -> &'static str {
        match self {
            Self::Yes => "the lorries at trial.txt:31",
            Self::No => "the cracked bearing at survey.txt:12",
        }
    }

    /// The side that a text takes: that of the last sentence that takes one.
    pub fn find_in(text: &str) -> Option<Self> {
        let last = |side: Self| text.rfind(side.sentence().trim_end_matches('.'));
        match (last(Self::Yes), last(Self::No)) {
            (None, None) => None,
            (yes, no) => Some(if yes > no { Self::Yes } else { Self::No }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_is_recognised_by_its_sentence_and_by_nothing_else() {
        for side in [SimulatedSide::Yes, SimulatedSide::No] {
            assert_eq!(SimulatedSide::find_in(&side.text()), Some(side));
            let changed = format!("{} Now: {}", side.other().text(), side.text());
            assert_eq!(SimulatedSide::find_in(&changed), Some(side));
            for text in
                [side.ground(), side.citation(), side.claim(), SIMULATED_QUESTION, FABRICATED_EVIDENCE]
            {
                assert_eq!(SimulatedSide::find_in(text), None, "{text}");
            }
        }
    }

    #[test]
    fn rounds_are_refused_with_what_is_possible() {
        let setup = |rounds| SimulationSetup { protocol: "example", seats: 3, rounds };
        assert_eq!(setup(None).rounds_up_to(4, 2), Ok(2));
        assert_eq!(setup(Some(4)).rounds_up_to(4, 2), Ok(4));
        let refused = setup(Some(5)).rounds_up_to(4, 2).unwrap_err();
        assert_eq!(refused.0, "example can be simulated for 1 to 4 rounds, not 5");
        assert_eq!(setup(None).fixed_rounds("nine"), Ok(()));
        assert_eq!(
            setup(Some(2)).fixed_rounds("nine").unwrap_err().0,
            "example always has nine rounds: omit --rounds"
        );
    }
}
