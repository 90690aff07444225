//! Why a debate did not get to its end.

use agon_core::{Corrupt, Invalid};

use crate::{Fault, StoreError};

/// Why a debate did not get to its end. What was answered until then is in the log.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The request cannot be carried out: an unknown model or provider, a dollar budget with a model of unknown price, an
    /// unknown protocol in the log.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// A wrong key or model, none after it in its chain, and no answer of it before in the debate: every further call would
    /// fail as this one did.
    #[error("{fault}; once that is put right, `agon resume {id}` goes on with the debate")]
    Stopped {
        /// The debate.
        id: String,
        /// What the provider said, and what to do.
        fault: Box<Fault>,
    },
    /// [`Stop`](crate::Stop) was asked for.
    #[error("debate {id} was interrupted: its log is kept, and `agon resume {id}` goes on with it")]
    Interrupted {
        /// The debate.
        id: String,
    },
    /// The store would not take or give a log.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The log or a template is not what it should be.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
}
