//! Names from the first edition, until every crate uses the new ones.
#![allow(missing_docs)]

pub use crate::intervals as interval;
pub use crate::majority_vote as chance;

pub mod ratings {
    use crate::ratings::{RatedGame, RatingTable};

    pub use crate::ratings::{
        Glicko2Rating as Glicko, RatedGame as Game, RatingPoint as Point, RatingState as Rating,
        RatingTable as Ratings, ballot_conforms as conforms,
    };

    impl RatedGame {
        pub fn of(debate: &str, at: &str, lesson: &agon_core::DebateLesson) -> Option<Self> {
            Self::from_lesson(debate, at, lesson)
        }
    }

    impl RatingTable {
        pub fn of<'a>(games: impl Iterator<Item = &'a RatedGame>) -> Self {
            Self::from_games(games)
        }
    }
}

pub mod calibration {
    use crate::calibration::{CalibrationTally, OutcomeTruth};

    pub use crate::calibration::{
        CalibrationTally as Calibration, DebateResolution as Resolution, OutcomeTruth as Truth,
    };

    impl OutcomeTruth {
        pub fn named(name: &str) -> Option<Self> {
            Self::from_name(name)
        }
    }

    impl CalibrationTally {
        pub fn error(&self) -> Option<f64> {
            self.expected_error()
        }
    }
}

pub mod memory {
    use crate::memory::{MemoryState, MemoryTier};

    pub use crate::memory::{HALF_LIVES_PER_TIER as HALF_LIVES, MemoryState as Item, MemoryTier as Tier};

    impl MemoryTier {
        pub fn named(name: &str) -> Option<Self> {
            Self::from_name(name)
        }
    }

    impl MemoryState {
        #[must_use]
        pub fn met(self, now_s: i64) -> Self {
            self.refreshed(now_s)
        }
    }

    pub fn score(similarity: f64, item: &MemoryState, now_s: i64) -> f64 {
        item.score(similarity, now_s)
    }
}

pub mod resolved {
    pub use crate::resolved::seat_agent as agent;
}

pub mod audit {
    pub use crate::audit::{
        AuditError as Trouble, AuditTable as Table, JudgeAudit as Judges, VoteAudit as Votes,
        audit_judges as judges, audit_votes as votes,
    };
    pub use crate::intervals::{BootstrapOptions as Bootstrap, FigureIntervals as Intervals};
}
