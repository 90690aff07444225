//! One pull of a model at a time, also between processes.
//!
//! This is the system's lock on a file that stays. The system releases it when its holder ends, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub(super) struct FileLock {
    _file: File,
}

impl FileLock {
    /// Takes the lock. `on_wait` is called once if another process holds it.
    pub(super) async fn acquire(path: &Path, on_wait: impl FnOnce()) -> io::Result<Self> {
        let file = open(path)?;
        let mut on_wait = Some(on_wait);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) => {
                    if let Some(on_wait) = on_wait.take() {
                        on_wait();
                    }
                }
                Err(TryLockError::Error(error)) => return go_without_lock(error, file),
            }
            tokio::time::sleep(RETRY_INTERVAL).await;
        }
    }

    /// Takes the lock and blocks the thread while another process holds it.
    pub(super) fn acquire_blocking(path: &Path) -> io::Result<Self> {
        let file = open(path)?;
        match file.lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(error) => go_without_lock(error, file),
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

/// Some network disks have no locks. Two pulls at once may then spoil each other's download, but the sum shows that and
/// nothing wrong is kept.
fn go_without_lock(error: io::Error, file: File) -> io::Result<FileLock> {
    if error.kind() == ErrorKind::Unsupported { Ok(FileLock { _file: file }) } else { Err(error) }
}
