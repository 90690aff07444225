//! Parts of a stored debate, for readers who do not want all of it.
//!
//! Each part is a text and a JSON document of the same content. `said` is what was said in a round or by a seat,
//! `changes` is who changed and who dissents, `timeline` is where the time went.

mod changes;
mod said;
mod timeline;

use agon_core::{LogRecord, ReportLength, ReportSection};
use serde_json::Value;

use crate::Style;
use crate::assemble::settable;
use crate::source::ReportSource;

/// A stored debate.
#[derive(Debug, Clone, Copy)]
pub struct StoredDebate<'a> {
    /// What a report is made of.
    pub source: ReportSource<'a>,
    /// Its log, event by event.
    pub records: &'a [LogRecord],
}

/// Which part of a debate to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DebateExcerpt {
    /// What was said: in a round, by a seat, or by a seat in a round.
    Said {
        /// As the protocol counts.
        round: Option<u32>,
        /// A seat's id, label ("B", "Debater B") or role, in any case.
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
pub enum ExcerptError {
    /// Nothing was asked in that round.
    #[error("there is no round {round} in this debate: there {there}")]
    NoRound {
        /// The round that was wanted.
        round: u32,
        /// The rounds that there are.
        there: String,
    },
    /// No seat has this name.
    #[error("no seat is called `{seat}` in this debate: there are {there}")]
    NoSeat {
        /// The seat that was wanted.
        seat: String,
        /// The seats that there are.
        there: String,
    },
    /// The seat was not asked in that round.
    #[error("{seat} was not asked in round {round}; it was asked in {there}")]
    NotAsked {
        /// The seat.
        seat: String,
        /// The round.
        round: u32,
        /// Where it was asked.
        there: String,
    },
}

impl DebateExcerpt {
    /// The part as people read it.
    pub fn text(&self, stored: &StoredDebate<'_>, style: &Style) -> Result<String, ExcerptError> {
        let source = &stored.source;
        Ok(match self {
            Self::Said { round, seat } => set(said::sections(source, *round, seat.as_deref())?, style),
            Self::Flips => set(changes::flips(source), style),
            Self::Dissent => set(changes::dissent(source), style),
            Self::Timeline => timeline::text(stored, style),
        })
    }

    /// The part as a document.
    pub fn json(&self, stored: &StoredDebate<'_>) -> Result<Value, ExcerptError> {
        let source = &stored.source;
        Ok(match self {
            Self::Said { round, seat } => said::json(source, *round, seat.as_deref())?,
            Self::Flips => changes::flips_json(source),
            Self::Dissent => changes::dissent_json(source),
            Self::Timeline => timeline::json(stored),
        })
    }
}

fn set(sections: Vec<ReportSection>, style: &Style) -> String {
    crate::terminal::set_sections(&settable(sections, ReportLength::Full), style)
}
