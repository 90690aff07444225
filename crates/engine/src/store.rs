//! What the engine needs from a store.

use agon_core::LogRecord;
use agon_core::event::BrokenChain;
use futures_util::future::BoxFuture;

/// Keeps the logs of debates. A log changes only by appending to it.
pub trait Store: Send + Sync {
    /// Appends records to the log of a debate. When the future completes, either all of them are durable or none is.
    /// A record with `seq` 0 creates the debate and leases it; any other append needs the lease, and `Closed` ends it.
    fn append<'a>(&'a self, id: &'a str, records: Vec<LogRecord>) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Loads the whole log and checks its hash chain.
    fn load<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Vec<LogRecord>, StoreError>>;

    /// Reserves the debate for this process. Fails while another living process holds it.
    fn lease<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Ends the lease. When a process dies, all its leases end.
    fn release<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;
}

/// Why a store did not do what it was asked to.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// There is no debate with this id.
    #[error("there is no debate {0:?}: `agon list` shows the debates that exist")]
    Unknown(String),
    /// The ids of several debates start with these characters.
    #[error("more than one debate has an id that starts with {0:?}: type more of the id")]
    Ambiguous(String),
    /// Another process runs the debate.
    #[error("debate {0} is being run by another process: wait until it ends, or stop that process")]
    Leased(String),
    /// Another process has taken over the debate.
    #[error("debate {0} was taken over by another process")]
    LeaseLost(String),
    /// The hash chain of the log does not hold.
    #[error("the log of debate {id} is broken: {broken}")]
    BrokenChain {
        id: String,
        /// Where the chain breaks.
        broken: BrokenChain,
    },
    /// The request makes no sense for this store. The sentence says why.
    #[error("{0}")]
    Refused(String),
    /// The storage failed, for instance because the disk is full.
    #[error("the store {file}: {why}")]
    Failed {
        /// The file or the address of the store.
        file: String,
        /// The system's message, and what to do.
        why: String,
    },
}
