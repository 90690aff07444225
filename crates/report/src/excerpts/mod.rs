//! Parts of a stored debate.
//!
//! Each part is a text and a JSON document of the same content. `replies` is what was said in a round or by a seat, `changes` is
//! who changed and who dissents, and `timeline` is the calls on one time axis.

mod changes;
mod replies;
mod timeline;

use agon_core::{LogRecord, ReportLength, ReportSection};
use serde_json::Value;

use crate::TerminalStyle;
use crate::report_assembly::renderable;
use crate::report_source::ReportSource;

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
        /// The round, as the protocol counts.
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
        /// The requested round.
        round: u32,
        /// The existing rounds, in words.
        there: String,
    },
    /// No seat has this name.
    #[error("no seat is called `{seat}` in this debate: there are {there}")]
    NoSeat {
        /// The requested seat.
        seat: String,
        /// The existing seats, in words.
        there: String,
    },
    /// The seat was not asked in that round.
    #[error("{seat} was not asked in round {round}; it was asked in {there}")]
    NotAsked {
        /// The seat.
        seat: String,
        /// The round.
        round: u32,
        /// The rounds in which it was asked, in words.
        there: String,
    },
}

impl DebateExcerpt {
    /// The part as people read it.
    pub fn text(&self, stored: &StoredDebate<'_>, style: &TerminalStyle) -> Result<String, ExcerptError> {
        let source = &stored.source;
        Ok(match self {
            Self::Said { round, seat } => {
                rendered(replies::sections(source, *round, seat.as_deref())?, style)
            }
            Self::Flips => rendered(changes::flips(source), style),
            Self::Dissent => rendered(changes::dissent(source), style),
            Self::Timeline => timeline::text(stored, style),
        })
    }

    /// The part as a document.
    pub fn json(&self, stored: &StoredDebate<'_>) -> Result<Value, ExcerptError> {
        let source = &stored.source;
        Ok(match self {
            Self::Said { round, seat } => replies::json(source, *round, seat.as_deref())?,
            Self::Flips => changes::flips_json(source),
            Self::Dissent => changes::dissent_json(source),
            Self::Timeline => timeline::json(stored),
        })
    }
}

fn rendered(sections: Vec<ReportSection>, style: &TerminalStyle) -> String {
    crate::terminal::rendered_sections(&renderable(sections, ReportLength::Full), style)
}
