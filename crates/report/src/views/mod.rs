//! Parts of a kept debate, for who does not want to read all of it.
//!
//! Each view is a text and a JSON document of the same things. `said` is what was said in a round or by a seat,
//! `changes` is who changed and who dissents, `timeline` is where the time went.

mod changes;
mod said;
mod timeline;

use agon_core::{Debate, Record};
use serde_json::Value;

use crate::Style;
use crate::outline::{Section, cleaned};

/// A debate as it is kept.
#[derive(Debug, Clone, Copy)]
pub struct Kept<'a> {
    /// Its outcome document.
    pub document: &'a Value,
    /// Its log, folded.
    pub debate: &'a Debate,
    /// Its log, event by event.
    pub records: &'a [Record],
}

/// Which part of a debate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum View {
    /// What was said: in a round, by a seat, or by a seat in a round.
    Said {
        /// As the protocol counts.
        round: Option<u32>,
        /// By its id, its label ("B", "Debater B") or its role, in capitals or not.
        seat: Option<String>,
    },
    /// Every change of position, with its reason.
    Flips,
    /// What the minority holds, and what became of each first position.
    Dissent,
    /// The calls on one time axis.
    Timeline,
}

/// Why a part cannot be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoView {
    /// Nothing was asked in that round.
    #[error("there is no round {round} in this debate: there {there}")]
    Round {
        /// The round that was wanted.
        round: u32,
        /// Those that there are.
        there: String,
    },
    /// Nobody is called that.
    #[error("nobody is called `{seat}` in this debate: there are {there}")]
    Seat {
        /// The seat that was wanted.
        seat: String,
        /// Those that there are.
        there: String,
    },
    /// The seat and the round are there, but it was not asked then.
    #[error("{seat} was not asked in round {round}; it was in {there}")]
    Nothing {
        /// The seat.
        seat: String,
        /// The round.
        round: u32,
        /// Where it was asked.
        there: String,
    },
}

impl View {
    /// The part as people read it.
    pub fn text(&self, kept: &Kept<'_>, style: &Style) -> Result<String, NoView> {
        Ok(match self {
            Self::Said { round, seat } => set(said::sections(kept, *round, seat.as_deref())?, style),
            Self::Flips => set(changes::flips(kept), style),
            Self::Dissent => set(changes::dissent(kept), style),
            Self::Timeline => timeline::text(kept, style),
        })
    }

    /// The part as a document.
    pub fn json(&self, kept: &Kept<'_>) -> Result<Value, NoView> {
        Ok(match self {
            Self::Said { round, seat } => said::json(kept, *round, seat.as_deref())?,
            Self::Flips => changes::flips_json(kept),
            Self::Dissent => changes::dissent_json(kept),
            Self::Timeline => timeline::json(kept),
        })
    }
}

fn set(sections: Vec<Section>, style: &Style) -> String {
    crate::text::sections(&cleaned(sections), style)
}
