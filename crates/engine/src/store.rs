//! What a store is to the engine.

use agon_core::Record;
use agon_core::event::Broken;
use futures_util::future::BoxFuture;

/// Why a store would not do what it was asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// No such debate.
    #[error("there is no debate {0:?}: `agon list` shows the ones there are")]
    Unknown(String),
    /// More than one debate's id begins so.
    #[error("more than one debate's id begins with {0:?}: give more of it")]
    Ambiguous(String),
    /// Another process runs it.
    #[error("debate {0} is being run by another process: wait for it, or stop that process first")]
    Leased(String),
    /// Another process has taken it over.
    #[error("debate {0} was taken over by another process")]
    LeaseLost(String),
    /// The log was changed.
    #[error("the log of debate {id} is broken: {broken}")]
    Broken {
        /// Which debate.
        id: String,
        /// Where.
        broken: Broken,
    },
    /// What was asked for cannot be meant: there is no such entry, or nothing that could be done with it.
    #[error("{0}")]
    Refused(String),
    /// The disk is full, the file cannot be read, and so on.
    #[error("the store {file}: {why}")]
    Failed {
        /// Which file.
        file: String,
        /// What the system said, and what to do.
        why: String,
    },
}

/// A place for logs. Appending is the only way to change one.
pub trait Store: Send + Sync {
    /// Appends records to a debate's log. When the future is ready they are durable, all of them or none. A record
    /// with `seq` 0 creates the debate and leases it; any other needs the lease.
    fn append<'a>(&'a self, id: &'a str, records: Vec<Record>) -> BoxFuture<'a, Result<(), StoreError>>;

    /// The whole log, with the chain checked.
    fn load<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Vec<Record>, StoreError>>;

    /// Takes the debate for this process; refused while another living process has it.
    fn lease<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Gives it back. A process that dies gives back all it has.
    fn release<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;
}
