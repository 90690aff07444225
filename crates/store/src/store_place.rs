//! Where the store is, for messages, and which of the processes that run debates in it are alive.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use agon_engine::StoreError;

use crate::postgres::{self, PostgresServer};
use crate::sql::{SqlDatabase, SqlResult};
use crate::sqlite::{self, StorePath};
use crate::store_fault::{StoreFault, io_sentence, sql_sentence};

/// The file or the server.
#[derive(Debug, Clone)]
pub(crate) enum StorePlace {
    File(StorePath),
    Server(PostgresServer),
}

impl StorePlace {
    /// The path as the user gave it, or the address without a password.
    pub(crate) fn shown(&self) -> &str {
        match self {
            Self::File(path) => path.shown(),
            Self::Server(server) => server.shown(),
        }
    }

    /// A failure of this store.
    pub(crate) fn failed(&self, why: impl Into<String>) -> StoreError {
        StoreError::Failed { file: self.shown().to_owned(), why: why.into() }
    }

    /// Turns a fault into the engine's error, with the store's name and what to do.
    pub(crate) fn explain(&self, fault: StoreFault) -> StoreError {
        explain(self.shown(), fault)
    }
}

/// The same for a store that is not open yet.
pub(crate) fn explain(shown: &str, fault: StoreFault) -> StoreError {
    let why = match fault {
        StoreFault::Refused(error) => return error,
        StoreFault::Failed(why) => why,
        StoreFault::Io(error) => io_sentence(&error),
        StoreFault::Sql(error) => sql_sentence(&error),
    };
    StoreError::Failed { file: shown.to_owned(), why }
}

/// Which owners of debates are alive.
pub(crate) enum LivingOwners<'a> {
    /// By their lock files in this folder. Each is checked once.
    LockFiles(&'a Path, HashMap<String, bool>),
    /// These are.
    Known(HashSet<String>),
}

impl<'a> LivingOwners<'a> {
    pub(crate) fn read(db: &SqlDatabase, place: &'a StorePlace) -> SqlResult<Self> {
        Ok(match place {
            StorePlace::File(path) => Self::LockFiles(&path.locks, HashMap::new()),
            StorePlace::Server(server) => Self::Known(postgres::living_owners(db, server.takeover_after())?),
        })
    }

    pub(crate) fn has(&mut self, owner: String) -> bool {
        match self {
            Self::LockFiles(folder, checked) => {
                *checked.entry(owner).or_insert_with_key(|name| sqlite::is_alive(folder, name))
            }
            Self::Known(living) => living.contains(&owner),
        }
    }
}
