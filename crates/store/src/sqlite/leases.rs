//! Leases: which process runs a debate.
//!
//! Each writer locks a file of its own in a folder beside the store, and `debates.owner` holds that file's name. If the
//! file is missing, or another process can lock it, the writer is gone: the system released the lock when the process
//! ended, however it ended.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use agon_engine::StoreError;

use super::store_path::{create_private_file, create_private_folder};
use crate::log_table::DebateRow;
use crate::sql::{SqlDatabase, sql_values};
use crate::store_fault::{StoreFault, unknown_debate};

const EXTENSION: &str = ".lock";

/// Leases a debate, unless another living process has it. A closed debate needs no lease.
pub(crate) fn lease(db: &SqlDatabase, holder: &mut LeaseHolder, id: &str) -> Result<(), StoreFault> {
    let row = DebateRow::find(db, id)?.ok_or_else(|| unknown_debate(id))?;
    if row.closed {
        return Ok(());
    }
    let other = row.owner.filter(|name| !holder.is(name));
    if other.is_some_and(|name| is_alive(&holder.folder, &name)) {
        return Err(StoreError::Leased(id.to_owned()).into());
    }
    let owner = holder.name()?;
    db.run("UPDATE debates SET owner = ?2 WHERE n = ?1", sql_values![row.n, owner])?;
    Ok(())
}

/// Gives a debate back if this holder has it.
pub(crate) fn release(db: &SqlDatabase, holder: &LeaseHolder, id: &str) -> Result<(), StoreFault> {
    let row = DebateRow::find(db, id)?.ok_or_else(|| unknown_debate(id))?;
    if row.owner.is_some_and(|name| holder.is(&name)) {
        db.run("UPDATE debates SET owner = NULL WHERE n = ?1", sql_values![row.n])?;
    }
    Ok(())
}

/// One writer and its lock file. The file is created at the first lease, so readers leave no trace.
#[derive(Debug)]
pub(crate) struct LeaseHolder {
    folder: PathBuf,
    lock: Option<HeldLock>,
}

#[derive(Debug)]
struct HeldLock {
    name: String,
    /// The lock lasts as long as the file is open.
    _file: File,
}

impl LeaseHolder {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, lock: None }
    }

    /// The name of the lock file. The first call creates and locks it, and removes files of dead writers.
    pub(crate) fn name(&mut self) -> io::Result<&str> {
        let lock = match self.lock.take() {
            Some(lock) => lock,
            None => {
                remove_stale_locks(&self.folder);
                create_lock(&self.folder)?
            }
        };
        Ok(&self.lock.insert(lock).name)
    }

    /// Whether `name` is this holder's lock file.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.lock.as_ref().is_some_and(|lock| lock.name == name)
    }
}

impl Drop for LeaseHolder {
    fn drop(&mut self) {
        if let Some(lock) = &self.lock {
            // The next writer removes a file that stays behind.
            let _ = fs::remove_file(self.folder.join(&lock.name));
        }
    }
}

/// Whether the writer with this lock file is alive. If it is not, its file is removed.
pub(crate) fn is_alive(folder: &Path, name: &str) -> bool {
    if !is_lock_name(name) {
        return false;
    }
    let path = folder.join(name);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) => return error.kind() != io::ErrorKind::NotFound,
    };
    // A shared lock, so that two processes that ask at once do not take each other for the writer.
    if file.try_lock_shared().is_err() {
        return true;
    }
    let _ = fs::remove_file(path);
    false
}

/// The name comes from the database, which anybody may have edited, so it must not lead out of the folder.
fn is_lock_name(name: &str) -> bool {
    name.strip_suffix(EXTENSION)
        .is_some_and(|stem| !stem.is_empty() && stem.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn create_lock(folder: &Path) -> io::Result<HeldLock> {
    create_private_folder(folder)?;
    loop {
        // The name is not a secret. If two processes pick the same one, `create_new` lets only one have it.
        let name = format!("{:016x}{EXTENSION}", RandomState::new().hash_one(std::process::id()));
        let path = folder.join(&name);
        let file = match create_private_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            created => created?,
        };
        match file.try_lock() {
            // Another process may have removed the file as stale before it was locked. Then try again.
            Ok(()) if path.exists() => return Ok(HeldLock { name, _file: file }),
            Ok(()) | Err(fs::TryLockError::WouldBlock) => {}
            Err(fs::TryLockError::Error(error)) => {
                let _ = fs::remove_file(path);
                return Err(error);
            }
        }
    }
}

fn remove_stale_locks(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if let Some(name) = entry.file_name().to_str() {
            is_alive(folder, name);
        }
    }
}
