//! The store's file: creating it with private permissions and connecting to it.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_engine::StoreError;
use rusqlite::{Connection, OpenFlags};

use crate::store_fault::io_sentence;

/// How long to wait for another process that is writing. Writes take milliseconds; the first search of a large store
/// may take seconds.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// How many statements a connection keeps prepared. The crate has fewer, so a closing debate never evicts the
/// statements of the next append.
const STATEMENT_CACHE: usize = 128;

/// Where the store's file and the lock files of its writers are.
#[derive(Debug, Clone)]
pub(crate) struct StorePath {
    /// The path as the user gave it, for messages.
    shown: String,
    /// The absolute path, so that SQLite sees no special names.
    file: PathBuf,
    /// The folder of the lock files. It is the same whatever link the store was opened through.
    pub(crate) locks: PathBuf,
}

impl StorePath {
    /// Creates the file and its folders if they are missing, for their owner's eyes only.
    pub(crate) fn prepare(path: &Path) -> Result<Self, StoreError> {
        let shown = path.display().to_string();
        let failed = |why: String| StoreError::Failed { file: shown.clone(), why };
        if path.is_dir() {
            return Err(failed("this is a folder: name a file in it, for instance `agon.db`".into()));
        }
        let canonical = create_if_missing(path).map_err(|error| failed(io_sentence(&error)))?;
        let file = std::path::absolute(path).map_err(|error| failed(io_sentence(&error)))?;
        let mut locks = canonical.into_os_string();
        locks.push(".owners");
        Ok(Self { shown, file, locks: locks.into() })
    }

    /// A connection that can write.
    pub(crate) fn connect(&self) -> Result<Connection, rusqlite::Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.file, flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
        Ok(connection)
    }

    /// Two read-only connections, the better one first. The first sees what other processes commit. The second reads
    /// the main file alone and works where even SQLite's shared-memory file cannot be created.
    pub(crate) fn connect_read_only(&self) -> [Result<Connection, rusqlite::Error>; 2] {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let path = self.file.to_string_lossy();
        let escaped = path.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
        [
            Connection::open_with_flags(&self.file, flags),
            Connection::open_with_flags(
                format!("file:{escaped}?immutable=1"),
                flags | OpenFlags::SQLITE_OPEN_URI,
            ),
        ]
    }

    /// The size of the file and of its write-ahead log.
    pub(crate) fn size_bytes(&self) -> io::Result<u64> {
        let mut wal = self.file.clone().into_os_string();
        wal.push("-wal");
        Ok(fs::metadata(&self.file)?.len() + fs::metadata(wal).map_or(0, |wal| wal.len()))
    }

    /// The path as the user gave it.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }
}

/// Creates a folder, and those above it, that only its owner may enter.
pub(crate) fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Creates a new file that only its owner may read or write.
pub(crate) fn create_private_file(path: &Path) -> io::Result<fs::File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Creates the file unless it exists, and returns its canonical path. An existing file is not opened: closing a second
/// handle would drop the locks that SQLite holds on it in this process. SQLite gives its side files the same mode.
fn create_if_missing(path: &Path) -> io::Result<PathBuf> {
    if !path.exists() {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            create_private_folder(folder)?;
        }
        match create_private_file(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => drop(created?),
        }
    }
    path.canonicalize()
}
