//! The words in which a simulated seat says what it holds. There is one question with two answers; the same view is always in the same
//! words, and the two contradict each other plainly, so that a protocol reads them as they are meant.

use serde::{Deserialize, Serialize};

/// What is asked, in all protocols.
pub const QUESTION: &str = "Should the old bridge be open to traffic again?";

/// What the adversary makes up.
pub(crate) const FABRICATED: &str = "The minister has signed the papers.";

/// One of the two answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Open it.
    Yes,
    /// Keep it closed.
    No,
}

impl Side {
    /// The other one.
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

    /// What speaks for it, in words that cite nothing.
    pub fn ground(self) -> &'static str {
        match self {
            Self::Yes => "Every lorry of the trial crossed it.",
            Self::No => "One of its bearings has a crack.",
        }
    }

    /// The position with what speaks for it.
    pub fn text(self) -> String {
        format!("{} {}", self.sentence(), self.ground())
    }

    /// Where what speaks for it can be looked up.
    pub fn citation(self) -> &'static str {
        match self {
            Self::Yes => "the lorries at trial.txt:31",
            Self::No => "the cracked bearing at survey.txt:12",
        }
    }

    /// What others dispute of it.
    pub(crate) fn claim(self) -> &'static str {
        match self {
            Self::Yes => "Every lorry of the trial crossed it",
            Self::No => "One of its bearings has a crack",
        }
    }

    /// The side that a text takes, by the last of its sentences that takes one.
    pub fn of(text: &str) -> Option<Self> {
        let last = |side: Self| text.rfind(side.sentence().trim_end_matches('.'));
        match (last(Self::Yes), last(Self::No)) {
            (None, None) => None,
            (yes, no) => Some(if yes > no { Self::Yes } else { Self::No }),
        }
    }

    /// The side of a verdict or vote that is a word of its protocol.
    pub fn of_word(word: &str) -> Option<Self> {
        match word {
            "PASS" | "PROCEED" | "PROCEED WITH CONDITIONS" => Some(Self::Yes),
            "WARN" | "FAIL" | "RECONSIDER" | "DO NOT PROCEED" => Some(Self::No),
            _ => None,
        }
    }

    /// The side of a score from 1 to 5.
    pub fn of_score(score: f64) -> Self {
        if score >= 3.0 { Self::Yes } else { Self::No }
    }

    /// The score from 1 to 5 that stands for it.
    pub(crate) fn score(self) -> f64 {
        match self {
            Self::Yes => 4.5,
            Self::No => 2.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use agon_protocols::lexical;

    use super::*;

    #[test]
    fn protocols_read_the_two_sides_as_contradicting_each_other() {
        let (yes, no) = (Side::Yes.text(), Side::No.text());
        assert!(lexical::opposed(&yes, &no));
        assert!(lexical::contrary(Side::Yes.sentence(), Side::No.sentence()));
        assert!(!lexical::opposed(&yes, &yes) && !lexical::contrary(&yes, &yes));
        assert!(!lexical::alternative(&yes, &yes));
    }

    #[test]
    fn a_side_is_known_by_its_words() {
        for side in [Side::Yes, Side::No] {
            assert_eq!(Side::of(&side.text()), Some(side));
            assert_eq!(Side::of(&format!("{} Now: {}", side.other().text(), side.text())), Some(side));
            assert_eq!(Side::of_score(side.score()), side);
            for said in [side.ground(), side.citation(), side.claim(), QUESTION, FABRICATED] {
                assert_eq!(Side::of(said), None, "{said}");
            }
        }
    }
}
