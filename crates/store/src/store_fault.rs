//! What can go wrong inside the store, and the sentence that tells the user about it.

use std::io;

use agon_engine::StoreError;
use rusqlite::ErrorCode;

use crate::postgres::server_sentence;
use crate::sql::SqlFault;
use crate::sqlite::BUSY_TIMEOUT;

/// An error inside the store. [`StorePlace::explain`](crate::store_place::StorePlace::explain) adds where it is and turns it
/// into a [`StoreError`].
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreFault {
    /// The store's rules forbid it: an unknown debate, a lost lease, a request that makes no sense.
    #[error(transparent)]
    Refused(#[from] StoreError),
    /// The file or the caller is wrong. The text ends with what to do.
    #[error("{0}")]
    Failed(String),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Sql(#[from] SqlFault),
}

/// A request that cannot be carried out, with the sentence that says why.
pub(crate) fn refused(sentence: impl Into<String>) -> StoreFault {
    StoreFault::Refused(StoreError::Refused(sentence.into()))
}

/// The error for an id that no debate has.
pub(crate) fn unknown_debate(id: &str) -> StoreFault {
    StoreFault::Refused(StoreError::Unknown(id.to_owned()))
}

impl From<rusqlite::Error> for StoreFault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error.into())
    }
}

const DISK_FULL: &str = "the disk is full: free some space";

pub(crate) const GIVE_ACCESS: &str =
    "give yourself write access to the file and its folder, or name another file with --db";

/// What to tell the user when the system refuses.
pub(crate) fn io_sentence(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => DISK_FULL.into(),
        _ => format!("it cannot be written ({error}): {GIVE_ACCESS}"),
    }
}

/// What to tell the user when the database refuses.
pub(crate) fn sql_sentence(fault: &SqlFault) -> String {
    match fault {
        SqlFault::Sqlite(error) => sqlite_sentence(error),
        SqlFault::Postgres(error) => server_sentence(error),
        SqlFault::Value(_) => format!("{fault}; `agon doctor` checks the store"),
    }
}

fn sqlite_sentence(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => DISK_FULL.into(),
        Some(ErrorCode::SystemIoFailure) => {
            format!("the disk reports an error ({error}): check the disk and its free space")
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            format!("it cannot be written ({error}): {GIVE_ACCESS}")
        }
        Some(ErrorCode::NotADatabase) => "this is not an agon store: name another file with --db".into(),
        Some(ErrorCode::DatabaseCorrupt) => {
            format!("the file is damaged ({error}): restore it from a copy, or name another file with --db")
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            let seconds = BUSY_TIMEOUT.as_secs();
            format!("another process has locked it for {seconds} seconds: stop that process, then try again")
        }
        _ => format!("SQLite says: {error}; `agon doctor` checks the file"),
    }
}
