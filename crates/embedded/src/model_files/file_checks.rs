//! The last step of every source: check the sum, flush, rename.
//!
//! A file gets its final name only when all its bytes are on the disk and its sum is right. A note beside it
//! (`NAME.receipt`) records that. Computing the sum of a hundred megabytes at every start would take longer than
//! everything else that happens then; as long as size and modification time match the note, the file counts as checked.

use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use agon_core::event::hex;
use agon_host::{FileAccess, write_atomic};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::background_work::WorkProgress;
use super::known_models::KnownFile;
use super::pull_error::{SourceFailure, store_error_sentence};
use super::pull_progress::PullProgress;

const BLOCK_BYTES: usize = 256 * 1024;

/// Copies a file from `from` into the folder. If that fails, the folder stays as it was.
pub(super) fn copy_into_store(
    folder: &Path,
    file: &KnownFile,
    from: &mut dyn Read,
    progress: &WorkProgress,
) -> Result<(), SourceFailure> {
    progress.send(PullProgress::Checking { file: file.name.to_owned() })?;
    let temporary = folder.join(format!("{}.new", file.name));
    let _ = fs::remove_file(&temporary);
    let copied =
        copy(&temporary, file, from, progress).and_then(|()| keep(folder, file, &temporary, progress));
    copied.inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })
}

/// Checks the finished download of a file and gives it its final name. If the sum is wrong, the download stays and the
/// wrong sum is the inner error.
pub(super) fn keep_download(
    folder: &Path,
    file: &KnownFile,
    progress: &WorkProgress,
) -> Result<Result<(), String>, SourceFailure> {
    progress.send(PullProgress::Checking { file: file.name.to_owned() })?;
    let download = part_path(folder, file);
    let (sum, _) = sum_file(&download, progress)?;
    if sum != file.sha256 {
        return Ok(Err(sum));
    }
    keep(folder, file, &download, progress).map(Ok)
}

/// The sum of a file, with its metadata from before it was read.
pub(super) fn sum_file(path: &Path, progress: &WorkProgress) -> Result<(String, Metadata), SourceFailure> {
    let store = SourceFailure::store(path);
    let mut file = File::open(path).map_err(&store)?;
    let metadata = file.metadata().map_err(&store)?;
    let mut hasher = Sha256::new();
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let read = file.read(&mut block).map_err(&store)?;
        let Some(bytes) = block.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
        hasher.update(bytes);
        progress.add_bytes(read)?;
    }
    Ok((hex(&hasher.finalize()), metadata))
}

pub(super) fn wrong_sum_sentence(file: &KnownFile, sum: &str) -> String {
    format!("{} is not the expected file: its sha256 is {sum} instead of {}", file.name, file.sha256)
}

/// Creates a folder, and its parents, that only the owner may enter.
pub(super) fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Renames a file that is already flushed, and flushes the new name.
pub(super) fn rename_durably(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    // Not every system lets a folder be opened for flushing; those that do not do not need it.
    if let Some(folder) = to.parent().and_then(|folder| File::open(folder).ok()) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// The path of an unfinished download.
pub(super) fn part_path(folder: &Path, file: &KnownFile) -> PathBuf {
    folder.join(format!("{}.part", file.name))
}

/// The file with the server's version tag of an unfinished download.
pub(super) fn etag_path(folder: &Path, file: &KnownFile) -> PathBuf {
    folder.join(format!("{}.part.etag", file.name))
}

pub(super) fn remove_part(folder: &Path, file: &KnownFile) -> Result<(), SourceFailure> {
    let _ = fs::remove_file(etag_path(folder, file));
    let part = part_path(folder, file);
    match fs::remove_file(&part) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(SourceFailure::Store { path: part, error }),
        _ => Ok(()),
    }
}

fn copy(
    to: &Path,
    file: &KnownFile,
    from: &mut dyn Read,
    progress: &WorkProgress,
) -> Result<(), SourceFailure> {
    let store = SourceFailure::store(to);
    let mut out = File::create_new(to).map_err(&store)?;
    // One byte more than expected: a longer file has another sum, and an endless one ends.
    let mut from = from.take(file.bytes.saturating_add(1));
    let mut hasher = Sha256::new();
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let read = from
            .read(&mut block)
            .map_err(|error| SourceFailure::Source(format!("{} cannot be read ({error})", file.name)))?;
        let Some(bytes) = block.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
        out.write_all(bytes).map_err(&store)?;
        hasher.update(bytes);
        progress.add_bytes(read)?;
    }
    let sum = hex(&hasher.finalize());
    if sum == file.sha256 { Ok(()) } else { Err(SourceFailure::Source(wrong_sum_sentence(file, &sum))) }
}

/// Gives a checked file its final name.
fn keep(
    folder: &Path,
    file: &KnownFile,
    temporary: &Path,
    progress: &WorkProgress,
) -> Result<(), SourceFailure> {
    let path = folder.join(file.name);
    let store = SourceFailure::store(&path);
    let done = File::options().write(true).open(temporary).map_err(&store)?;
    done.sync_all().map_err(&store)?;
    rename_durably(temporary, &path).map_err(&store)?;
    // Without the note, the file is only checked once more than necessary.
    let _ = done.metadata().and_then(|metadata| write_check_note(folder, file, &metadata));
    let _ = remove_part(folder, file);
    progress.send(PullProgress::Kept { file: file.name.to_owned(), path: path.clone() })
}

/// What a quick look at a file shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FileStatus {
    /// It was checked and has not changed since.
    Checked,
    /// It has the right size, but its sum was not checked since it last changed.
    Unchecked,
    Missing,
    /// It cannot be the right file.
    Wrong(String),
}

/// Looks at a file without reading it: only its metadata and its note.
pub(super) fn look_at_file(folder: &Path, file: &KnownFile) -> FileStatus {
    let path = folder.join(file.name);
    let metadata = match fs::metadata(&path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return FileStatus::Missing,
        Err(error) => {
            return FileStatus::Wrong(format!("{}: {}", path.display(), store_error_sentence(&error)));
        }
    };
    if !metadata.is_file() {
        return FileStatus::Wrong(format!("{} is not a file: move it away", path.display()));
    }
    if metadata.len() != file.bytes {
        let (actual, expected) = (metadata.len(), file.bytes);
        return FileStatus::Wrong(format!("{} has {actual} bytes instead of {expected}", path.display()));
    }
    if CheckNote::read(&path) == Some(CheckNote::of(file.sha256, &metadata)) {
        FileStatus::Checked
    } else {
        FileStatus::Unchecked
    }
}

/// Records that the file with this metadata has the right sum.
pub(super) fn write_check_note(folder: &Path, file: &KnownFile, metadata: &Metadata) -> io::Result<()> {
    CheckNote::of(file.sha256, metadata).write(&folder.join(file.name))
}

pub(super) fn remove_check_note(folder: &Path, file: &KnownFile) {
    let _ = fs::remove_file(note_path(&folder.join(file.name)));
}

/// Whether a derived file has not changed since it was made.
pub(super) fn is_as_made(path: &Path) -> bool {
    let now = fs::metadata(path).ok().filter(Metadata::is_file);
    now.is_some_and(|metadata| CheckNote::read(path) == Some(CheckNote::of("", &metadata)))
}

/// Records size and time of a derived file that was just made.
pub(super) fn write_made_note(path: &Path) -> io::Result<()> {
    CheckNote::of("", &fs::metadata(path)?).write(path)
}

/// The note beside a file.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CheckNote {
    /// Empty for a derived file, whose sum is not known in advance.
    sha256: String,
    bytes: u64,
    /// Nanoseconds since 1970; absent where the system does not tell.
    modified_ns: Option<u64>,
}

impl CheckNote {
    fn of(sha256: &str, metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Self {
            sha256: sha256.to_owned(),
            bytes: metadata.len(),
            modified_ns: modified.and_then(|since| u64::try_from(since.as_nanos()).ok()),
        }
    }

    fn read(file: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(note_path(file)).ok()?).ok()
    }

    fn write(&self, file: &Path) -> io::Result<()> {
        write_atomic(&note_path(file), serde_json::to_string(self)?.as_bytes(), FileAccess::Default)
    }
}

fn note_path(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".receipt");
    name.into()
}
