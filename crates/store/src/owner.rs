//! Whose a debate is.
//!
//! A process that writes holds the system's lock on a file of its own in the folder beside the store. Whoever can lock
//! that file, or cannot find it, knows that the owner is gone: the system gave the lock back when the process ended,
//! however it ended.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use crate::place::{create_file, create_folder};

const ENDING: &str = ".lock";

/// One writer's name and its lock.
#[derive(Debug)]
pub(crate) struct Owner {
    folder: PathBuf,
    held: Option<Held>,
}

#[derive(Debug)]
struct Held {
    name: String,
    /// The lock lasts as long as the file is open.
    _lock: File,
}

impl Owner {
    /// An owner that owns nothing yet: no file is made before there is something to own.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, held: None }
    }

    /// The name to write into what is owned. From the first call on, the lock is held.
    pub(crate) fn name(&mut self) -> io::Result<&str> {
        if self.held.is_none() {
            sweep(&self.folder);
        }
        let held = match self.held.take() {
            Some(held) => held,
            None => take(&self.folder)?,
        };
        Ok(&self.held.insert(held).name)
    }

    /// Whether the name is this owner's.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.held.as_ref().is_some_and(|held| held.name == name)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if let Some(held) = &self.held {
            // A file that stays is removed by the next owner, so a failure here harms nobody.
            let _ = fs::remove_file(self.folder.join(&held.name));
        }
    }
}

/// Whether the owner of this name lives. The file of one that does not is removed.
pub(crate) fn alive(folder: &Path, name: &str) -> bool {
    if !is_name(name) {
        return false;
    }
    let path = folder.join(name);
    let lock = match File::open(&path) {
        Ok(lock) => lock,
        Err(error) => return error.kind() != io::ErrorKind::NotFound,
    };
    // Shared, so that two who ask at once do not take each other for the owner.
    if lock.try_lock_shared().is_err() {
        return true;
    }
    let _ = fs::remove_file(path);
    false
}

/// A name comes from the store, which anybody may have written: it must not lead out of the folder.
fn is_name(name: &str) -> bool {
    name.strip_suffix(ENDING)
        .is_some_and(|stem| !stem.is_empty() && stem.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn take(folder: &Path) -> io::Result<Held> {
    create_folder(folder)?;
    loop {
        // Not a secret, only a name that no other process picks; `create_new` settles a draw.
        let name = format!("{:016x}{ENDING}", RandomState::new().hash_one(std::process::id()));
        let path = folder.join(&name);
        let lock = match create_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            made => made?,
        };
        match lock.try_lock() {
            // Between making and locking, somebody who sweeps may have removed it.
            Ok(()) if path.exists() => return Ok(Held { name, _lock: lock }),
            Ok(()) | Err(fs::TryLockError::WouldBlock) => {}
            Err(fs::TryLockError::Error(error)) => {
                let _ = fs::remove_file(path);
                return Err(error);
            }
        }
    }
}

fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if let Some(name) = entry.file_name().to_str() {
            alive(folder, name);
        }
    }
}
