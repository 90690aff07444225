//! Where a store is: a file or a server.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_engine::StoreError;

use crate::postgres::PostgresAddress;

/// Where a store is. It is printed without a password.
#[derive(Debug, Clone)]
pub enum StoreAddress {
    /// A SQLite file.
    File(PathBuf),
    /// A database of a PostgreSQL server.
    Postgres(Box<PostgresAddress>),
}

impl StoreAddress {
    /// Reads what a user gave: an address that begins with `postgres://`, or else the name of a file.
    pub fn parse(text: &OsStr) -> Result<Self, StoreError> {
        match text.to_str().filter(|text| PostgresAddress::is_one(text)) {
            None => Ok(Self::File(text.into())),
            Some(address) => match PostgresAddress::parse(address) {
                Ok(address) => Ok(Self::Postgres(Box::new(address))),
                Err(why) => Err(StoreError::Failed { file: "postgres://…".into(), why }),
            },
        }
    }

    /// Uses this password for a server whose address has none.
    pub fn with_password(mut self, password: &str) -> Self {
        if let Self::Postgres(address) = &mut self {
            address.set_password(password);
        }
        self
    }

    /// Sets after how long without a sign of life a process on a server loses its debates. All processes should use the same.
    pub fn with_takeover_after(mut self, takeover_after: Duration) -> Self {
        if let Self::Postgres(address) = &mut self {
            address.set_takeover_after(takeover_after);
        }
        self
    }

    /// The file, unless it is a server.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(file) => Some(file),
            Self::Postgres(_) => None,
        }
    }
}

impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => file.display().fmt(f),
            Self::Postgres(address) => f.write_str(address.shown()),
        }
    }
}

impl From<&Path> for StoreAddress {
    fn from(file: &Path) -> Self {
        Self::File(file.to_owned())
    }
}

impl From<&PathBuf> for StoreAddress {
    fn from(file: &PathBuf) -> Self {
        Self::File(file.clone())
    }
}

impl From<&StoreAddress> for StoreAddress {
    fn from(address: &StoreAddress) -> Self {
        address.clone()
    }
}
