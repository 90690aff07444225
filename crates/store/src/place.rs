//! Where the store is, and what to tell a person when it cannot be used.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_engine::StoreError;
use rusqlite::types::FromSqlError;
use rusqlite::{Connection, ErrorCode, OpenFlags};

/// How long to wait for another process that is writing. Writes take milliseconds; the first search of a large store
/// may take seconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// How many statements a connection keeps ready: more than there are, so that a debate that closes does not drive out what
/// the next append needs.
const STATEMENTS: usize = 128;

/// The store's file and the folder of its owners' locks.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// As the user gave it, for messages.
    shown: String,
    /// For SQLite: absolute, so that no name has a special meaning.
    file: PathBuf,
    /// The same folder whatever name or link the file was opened by.
    pub(crate) owners: PathBuf,
}

impl Place {
    /// The place at `path`, with the folder and the file created if they are not there, for their owner's eyes only.
    pub(crate) fn prepare(path: &Path) -> Result<Self, StoreError> {
        let shown = path.display().to_string();
        let failed = |why: String| StoreError::Failed { file: shown.clone(), why };
        if path.is_dir() {
            return Err(failed("this is a folder: name a file in it, for instance `agon.db`".into()));
        }
        let canonical = create(path).map_err(|error| failed(io_sentence(&error)))?;
        let file = std::path::absolute(path).map_err(|error| failed(io_sentence(&error)))?;
        let mut owners = canonical.into_os_string();
        owners.push(".owners");
        Ok(Self { shown, file, owners: owners.into() })
    }

    /// A connection to the file, which must be there.
    pub(crate) fn connect(&self) -> Result<Connection, rusqlite::Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.file, flags)?;
        connection.busy_timeout(PATIENCE)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(connection)
    }

    /// Connections that write nothing, the better one first: with what others are writing, and to the file as it lies
    /// there, for where not even the files that readers share can be made.
    pub(crate) fn readers(&self) -> [Result<Connection, rusqlite::Error>; 2] {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let lying = format!("file:{}?immutable=1", escaped(&self.file.to_string_lossy()));
        [
            Connection::open_with_flags(&self.file, flags),
            Connection::open_with_flags(lying, flags | OpenFlags::SQLITE_OPEN_URI),
        ]
    }

    /// The space that the file takes, with the commits that are not folded in yet.
    pub(crate) fn size_bytes(&self) -> io::Result<u64> {
        let mut beside = self.file.clone().into_os_string();
        beside.push("-wal");
        Ok(fs::metadata(&self.file)?.len() + fs::metadata(beside).map_or(0, |beside| beside.len()))
    }

    /// The file as the user knows it.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// A failure with a reason of our own.
    pub(crate) fn failed(&self, why: impl Into<String>) -> StoreError {
        StoreError::Failed { file: self.shown.clone(), why: why.into() }
    }

    /// A fault in the words of the engine's error.
    pub(crate) fn tell(&self, fault: Fault) -> StoreError {
        match fault {
            Fault::Refused(error) => error,
            Fault::Odd(why) => self.failed(why),
            Fault::Io(error) => self.failed(io_sentence(&error)),
            Fault::Sql(error) => self.failed(sql_sentence(&error)),
        }
    }
}

/// What can go wrong inside the store, before it is put into words.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The store's own rules say no.
    Refused(StoreError),
    /// A caller asked for what makes no sense.
    Odd(String),
    /// The system said no.
    Io(io::Error),
    /// SQLite said no.
    Sql(rusqlite::Error),
}

/// What cannot be meant: the caller's mistake, not the store's.
pub(crate) fn refused(sentence: impl Into<String>) -> Fault {
    Fault::Refused(StoreError::Refused(sentence.into()))
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<FromSqlError> for Fault {
    fn from(error: FromSqlError) -> Self {
        Self::Sql(error.into())
    }
}

/// A path as a URI has it.
fn escaped(path: &str) -> String {
    path.replace('%', "%25").replace('?', "%3f").replace('#', "%23")
}

/// Makes a folder, and those above it, that only its owner may enter.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Makes a new file that only its owner may read or write.
pub(crate) fn create_file(path: &Path) -> io::Result<fs::File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Creates the file unless it is there. An existing file is never opened here: closing a second handle would drop the
/// locks that SQLite holds on it in this process. SQLite gives the files beside it the same mode.
fn create(path: &Path) -> io::Result<PathBuf> {
    if !path.exists() {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            create_folder(folder)?;
        }
        match create_file(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => drop(made?),
        }
    }
    path.canonicalize()
}

fn io_sentence(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => FULL.into(),
        _ => format!("it cannot be written ({error}): {GIVE_ACCESS}"),
    }
}

const FULL: &str = "the disk is full: free some space";
const MEND: &str = "see that it is sound and has space";
pub(crate) const GIVE_ACCESS: &str =
    "give yourself write access to the file and its folder, or name another file with --db";

fn sql_sentence(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => FULL.into(),
        Some(ErrorCode::SystemIoFailure) => {
            format!("the disk would not take or give the data ({error}): {MEND}")
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            format!("it cannot be written ({error}): {GIVE_ACCESS}")
        }
        Some(ErrorCode::NotADatabase) => "this is not an agon store: name another file with --db".into(),
        Some(ErrorCode::DatabaseCorrupt) => {
            format!("the file is damaged ({error}): restore it from a copy, or name another file with --db")
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            let seconds = PATIENCE.as_secs();
            format!(
                "another process has kept it locked for {seconds} seconds: stop that process, then try again"
            )
        }
        _ => format!("SQLite says: {error}; `agon doctor` checks the file"),
    }
}
