//! Why a host did not do what it was asked to do.

use agon_engine::{EngineError, StoreError};

use crate::cli::errors::CliError;

/// Why a host did not do what it was asked to do, in a sentence that says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct HostError {
    pub kind: HostErrorKind,
    pub sentence: String,
}

/// What kind of problem it is. Each face has its own words for these: a status, an error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostErrorKind {
    /// The request cannot be carried out as it is.
    Invalid,
    /// There is no such debate, or no such ask.
    NotFound,
    /// The debate is not in a state in which this is possible.
    Conflict,
    /// Another process runs the debate.
    Elsewhere,
    /// There is no room now. It is worth trying again after this many seconds.
    Busy { retry_after_s: u64 },
    /// A quota is used up. There is a new one after this many seconds.
    UsedUp { retry_after_s: u64 },
    /// Something on this machine failed.
    Failed,
}

impl HostError {
    pub fn invalid(sentence: impl Into<String>) -> Self {
        Self { kind: HostErrorKind::Invalid, sentence: sentence.into() }
    }

    pub fn conflict(sentence: impl Into<String>) -> Self {
        Self { kind: HostErrorKind::Conflict, sentence: sentence.into() }
    }

    pub fn not_found(sentence: impl Into<String>) -> Self {
        Self { kind: HostErrorKind::NotFound, sentence: sentence.into() }
    }

    pub fn failed(sentence: impl Into<String>) -> Self {
        Self { kind: HostErrorKind::Failed, sentence: sentence.into() }
    }
}

impl From<CliError> for HostError {
    fn from(error: CliError) -> Self {
        let kind = match &error {
            CliError::Input { .. } | CliError::Usage(_) | CliError::File { .. } => HostErrorKind::Invalid,
            CliError::Engine(error) => engine_kind(error),
            CliError::Unfinished { reason, .. } => engine_kind(reason),
            CliError::Store(error) => store_kind(error),
            _ => HostErrorKind::Failed,
        };
        Self { kind, sentence: error.to_string() }
    }
}

impl From<StoreError> for HostError {
    fn from(error: StoreError) -> Self {
        Self { kind: store_kind(&error), sentence: error.to_string() }
    }
}

impl From<EngineError> for HostError {
    fn from(error: EngineError) -> Self {
        Self { kind: engine_kind(&error), sentence: error.to_string() }
    }
}

fn engine_kind(error: &EngineError) -> HostErrorKind {
    match error {
        EngineError::Invalid(_) => HostErrorKind::Invalid,
        EngineError::Store(error) => store_kind(error),
        EngineError::Stopped { .. } | EngineError::Interrupted { .. } | EngineError::UsedUp { .. } => {
            HostErrorKind::Conflict
        }
        EngineError::Corrupt(_) => HostErrorKind::Failed,
    }
}

fn store_kind(error: &StoreError) -> HostErrorKind {
    match error {
        StoreError::Unknown(_) => HostErrorKind::NotFound,
        StoreError::Ambiguous(_) | StoreError::Refused(_) => HostErrorKind::Invalid,
        StoreError::Leased(_) | StoreError::LeaseLost(_) => HostErrorKind::Elsewhere,
        StoreError::BrokenChain { .. } | StoreError::Failed { .. } => HostErrorKind::Failed,
    }
}
