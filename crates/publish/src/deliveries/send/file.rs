//! Writes a file so that nobody ever sees a part of it.
//!
//! A file keeps its owner and mode, and a device or a pipe is written to and never replaced. A link to a file is replaced, and the file
//! stays as it is: the link may have come with somebody else's repository. Only the system's own links are followed, such as `/dev/stdout`.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use agon_host::{FileAccess, write_atomic};

use crate::deliveries::attempt::AttemptResult;
use crate::deliveries::destination::shown_path;
use crate::deliveries::runner::run_blocking;

/// Why a file was not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct WriteFailure {
    /// A sentence for the person.
    pub why: String,
    /// Whether it fails again until somebody changes something.
    pub is_permanent: bool,
}

/// Writes these bytes to a path, and replaces an older file. Blocks, but never for long.
pub fn write_to_path(path: &Path, bytes: &[u8]) -> Result<(), WriteFailure> {
    if fs::metadata(path).is_ok_and(|found| found.is_dir()) {
        return Err(explain_failure(path, &ErrorKind::IsADirectory.into()));
    }
    let target = follow_system_links(path)?;
    #[cfg(unix)]
    if let Some(existing) = stream_at(&target) {
        return streams::write(&target, existing.file_type(), bytes);
    }
    write_atomic(&target, bytes, FileAccess::Default).map_err(|why| explain_failure(&target, &why))
}

/// Writes the file of a delivery.
pub(in crate::deliveries) async fn deliver(path: &Path, text: String, create_folder: bool) -> AttemptResult {
    let path = path.to_owned();
    let written = run_blocking(move || {
        let folder = path.parent().filter(|_| create_folder);
        let created = folder.map_or(Ok(()), fs::create_dir_all).map_err(|why| explain_failure(&path, &why));
        Ok(created.and_then(|()| write_to_path(&path, text.as_bytes())))
    });
    match written.await {
        Ok(Ok(())) => AttemptResult::Done { note: None },
        Ok(Err(WriteFailure { why, is_permanent: true })) => AttemptResult::Dead { why },
        Ok(Err(WriteFailure { why, is_permanent: false })) | Err(why) => AttemptResult::retry(why),
    }
}

/// What is at a path, if it is no file: a device, a pipe, or an open file of a process.
#[cfg(unix)]
fn stream_at(path: &Path) -> Option<Metadata> {
    fs::metadata(path).ok().filter(|found| !found.is_file() || is_open_descriptor(path))
}

/// Where a path in `/dev` or `/proc` leads to over links. Other paths stay as they are.
fn follow_system_links(path: &Path) -> Result<PathBuf, WriteFailure> {
    const LINKS_MAX: usize = 40;
    let mut target = path.to_owned();
    for _ in 0..LINKS_MAX {
        let is_system = ["/dev", "/proc"].iter().any(|root| target.starts_with(root));
        // If the path cannot be read, writing it fails too, with a better message.
        match fs::read_link(&target) {
            Ok(next) if is_system && !is_open_descriptor(&target) => {
                target = target.with_file_name("").join(next);
            }
            _ => return Ok(target),
        }
    }
    let why = format!("{} is a link that leads to no file: name another file", shown_path(path));
    Err(WriteFailure { why, is_permanent: true })
}

/// Whether a path is an open file of a process, such as the target of `/dev/stdout`. A new file in its place would not
/// reach that process.
fn is_open_descriptor(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(Path::new(""));
    folder.ends_with("fd") && ["/proc", "/dev"].iter().any(|root| folder.starts_with(root))
}

fn explain_failure(path: &Path, why: &io::Error) -> WriteFailure {
    let shown = shown_path(path);
    let folder = shown_path(path.parent().unwrap_or(Path::new("")));
    let (why, is_permanent) = match why.kind() {
        ErrorKind::NotFound => (format!("there is no folder {folder}: create it, and try again"), true),
        ErrorKind::PermissionDenied => {
            (format!("{shown} cannot be written: give yourself write access, and try again"), true)
        }
        ErrorKind::ReadOnlyFilesystem => {
            (format!("{shown} is on a read-only disk: make it writable, and try again"), true)
        }
        ErrorKind::IsADirectory => (format!("{shown} is a folder: name a file in it"), true),
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            (format!("{shown} has a file where a folder is needed: move the file away, and try again"), true)
        }
        ErrorKind::InvalidFilename | ErrorKind::InvalidInput => {
            (format!("{shown} cannot be the name of a file here ({why})"), true)
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            (format!("there is no space for {shown}: free some space"), false)
        }
        _ => (format!("{shown} cannot be written ({why})"), false),
    };
    WriteFailure { why, is_permanent }
}

/// Paths that are not files: a terminal, `/dev/null`, a named pipe, `/dev/stdout`.
#[cfg(unix)]
mod streams {
    use std::fs::{File, FileType, OpenOptions};
    use std::io::{self, ErrorKind, Write};
    use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
    use std::path::Path;
    use std::time::{Duration, Instant};

    use rustix::fs::OFlags;
    use rustix::io::Errno;

    use super::{WriteFailure, explain_failure};
    use crate::deliveries::destination::shown_path;

    /// How long a reader may take nothing.
    const READER_WAIT: Duration = Duration::from_secs(5);
    const POLL_INTERVAL: Duration = Duration::from_millis(10);

    pub(super) fn write(path: &Path, file_type: FileType, bytes: &[u8]) -> Result<(), WriteFailure> {
        let refuse = |what: &str| {
            let why = format!("{} is {what}: name a file", shown_path(path));
            Err(WriteFailure { why, is_permanent: true })
        };
        if file_type.is_socket() {
            return refuse("a socket");
        }
        if file_type.is_block_device() {
            return refuse("a whole disk, and its contents would be lost");
        }
        match open(path).and_then(|file| write_all(file, bytes)) {
            Err(why) if file_type.is_fifo() && Errno::from_io_error(&why) == Some(Errno::NXIO) => {
                refuse("a pipe that nobody reads")
            }
            Err(why) if matches!(why.kind(), ErrorKind::BrokenPipe | ErrorKind::WouldBlock) => {
                refuse("a stream whose reader stopped before the end")
            }
            written => written.map_err(|why| explain_failure(path, &why)),
        }
    }

    /// Opens it without waiting for a reader.
    fn open(path: &Path) -> io::Result<File> {
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        let flags = i32::try_from(flags.bits()).map_err(|_| ErrorKind::Unsupported)?;
        OpenOptions::new().append(true).custom_flags(flags).open(path)
    }

    fn write_all(mut file: File, mut bytes: &[u8]) -> io::Result<()> {
        let mut last_progress = Instant::now();
        while !bytes.is_empty() {
            match file.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => {
                    (bytes, last_progress) = (bytes.get(count..).unwrap_or_default(), Instant::now())
                }
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) if why.kind() == ErrorKind::WouldBlock && last_progress.elapsed() < READER_WAIT => {
                    std::thread::sleep(POLL_INTERVAL);
                }
                Err(why) => return Err(why),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_of_the_disk_has_its_own_sentence() {
        for (kind, part, is_permanent) in [
            (ErrorKind::NotFound, "there is no folder /a: create it", true),
            (ErrorKind::PermissionDenied, "give yourself write access", true),
            (ErrorKind::ReadOnlyFilesystem, "read-only", true),
            (ErrorKind::IsADirectory, "/a/b.md is a folder", true),
            (ErrorKind::NotADirectory, "a file where a folder is needed", true),
            (ErrorKind::InvalidFilename, "cannot be the name of a file", true),
            (ErrorKind::StorageFull, "free some space", false),
            (ErrorKind::QuotaExceeded, "free some space", false),
            (ErrorKind::Other, "cannot be written", false),
        ] {
            let failure = explain_failure(Path::new("/a/b.md"), &kind.into());
            assert!(
                failure.why.contains(part) && failure.is_permanent == is_permanent,
                "{kind:?}: {failure}"
            );
        }
    }
}
