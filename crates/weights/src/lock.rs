//! One pull of a model at a time, also between processes.
//!
//! The lock is the system's, on a file that stays: it is given back when its holder ends, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

/// How often a lock that another holds is tried again.
const AGAIN: Duration = Duration::from_millis(100);

/// Held until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// Takes the lock; `waiting` is called once if another holds it.
pub(crate) async fn take(path: &Path, waiting: impl FnOnce()) -> io::Result<Lock> {
    let file = open(path)?;
    let mut waiting = Some(waiting);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Lock { _file: file }),
            Err(TryLockError::WouldBlock) => {
                if let Some(waiting) = waiting.take() {
                    waiting();
                }
            }
            Err(TryLockError::Error(error)) => return unsupported(error, file),
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Takes the lock and blocks the thread while another holds it.
pub(crate) fn take_blocking(path: &Path) -> io::Result<Lock> {
    let file = open(path)?;
    match file.lock() {
        Ok(()) => Ok(Lock { _file: file }),
        Err(error) => unsupported(error, file),
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

/// Some network disks have no locks. There a pull goes on without: two at once may spoil each other's download, but
/// the sum tells, and nothing wrong is kept.
fn unsupported(error: io::Error, file: File) -> io::Result<Lock> {
    if error.kind() == ErrorKind::Unsupported { Ok(Lock { _file: file }) } else { Err(error) }
}
