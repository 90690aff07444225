//! The last step of every source: check, flush, rename.
//!
//! A file has its final name only when all its bytes are on the disk and have the right sum.

use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::aside::Tell;
use crate::error::Trouble;
use crate::known::KnownFile;
use crate::progress::Progress;
use crate::receipt;

/// How much is held in memory at a time.
const BLOCK_BYTES: usize = 256 * 1024;

/// Copies a file out of `from` into the folder, or leaves the folder as it was.
pub(crate) fn take_in(
    folder: &Path,
    file: &KnownFile,
    from: &mut dyn Read,
    tell: &Tell,
) -> Result<(), Trouble> {
    tell.say(Progress::Checking { file: file.name.to_owned() })?;
    let temporary = folder.join(format!("{}.new", file.name));
    let _ = fs::remove_file(&temporary);
    let copied = copy(&temporary, file, from, tell).and_then(|()| finish(folder, file, &temporary, tell));
    copied.inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })
}

/// Checks a downloaded file and gives it its final name. A wrong one stays where it is and its sum is the answer.
pub(crate) fn settle(
    folder: &Path,
    file: &KnownFile,
    download: &Path,
    tell: &Tell,
) -> Result<Result<(), String>, Trouble> {
    tell.say(Progress::Checking { file: file.name.to_owned() })?;
    let (sum, _) = sum(download, tell)?;
    if sum != file.sha256 {
        return Ok(Err(sum));
    }
    finish(folder, file, download, tell).map(Ok)
}

/// A file's sum, and what its metadata was then.
pub(crate) fn sum(path: &Path, tell: &Tell) -> Result<(String, Metadata), Trouble> {
    let shelf = Trouble::shelf(path);
    let mut file = File::open(path).map_err(&shelf)?;
    let metadata = file.metadata().map_err(&shelf)?;
    let mut hasher = Sha256::new();
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let read = file.read(&mut block).map_err(&shelf)?;
        let Some(bytes) = block.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
        hasher.update(bytes);
        tell.more_bytes(read)?;
    }
    Ok((hex(&hasher.finalize()), metadata))
}

/// What to say of a file with another sum.
pub(crate) fn wrong_sum(file: &KnownFile, sum: &str) -> String {
    format!("{} is not the file that it should be: its sha256 is {sum} instead of {}", file.name, file.sha256)
}

/// Makes a folder, and those above it, that only its owner may enter.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Renames a file that is already on the disk, and sees that the new name is on the disk too.
pub(crate) fn rename_durably(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    // Only some systems let a folder be opened to be flushed; the others do not need it.
    if let Some(folder) = to.parent().and_then(|folder| File::open(folder).ok()) {
        let _ = folder.sync_all();
    }
    Ok(())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |text, byte| text + &format!("{byte:02x}"))
}

/// The place of a download that is not finished.
pub(crate) fn part(folder: &Path, file: &KnownFile) -> PathBuf {
    folder.join(format!("{}.part", file.name))
}

/// What the server called the version that the part is of.
pub(crate) fn etag(folder: &Path, file: &KnownFile) -> PathBuf {
    folder.join(format!("{}.part.etag", file.name))
}

/// Throws away a download that is not finished.
pub(crate) fn drop_part(folder: &Path, file: &KnownFile) -> Result<(), Trouble> {
    let _ = fs::remove_file(etag(folder, file));
    let part = part(folder, file);
    match fs::remove_file(&part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Trouble::Shelf { path: part, error }),
        _ => Ok(()),
    }
}

fn copy(to: &Path, file: &KnownFile, from: &mut dyn Read, tell: &Tell) -> Result<(), Trouble> {
    let shelf = Trouble::shelf(to);
    let mut out = File::create_new(to).map_err(&shelf)?;
    // One byte more than there should be, so that a longer file is noticed and an endless one ends.
    let mut from = from.take(file.bytes.saturating_add(1));
    let mut hasher = Sha256::new();
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let read = from
            .read(&mut block)
            .map_err(|error| Trouble::Source(format!("{} cannot be read ({error})", file.name)))?;
        let Some(bytes) = block.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
        out.write_all(bytes).map_err(&shelf)?;
        hasher.update(bytes);
        tell.more_bytes(read)?;
    }
    let sum = hex(&hasher.finalize());
    if sum == file.sha256 { Ok(()) } else { Err(Trouble::Source(wrong_sum(file, &sum))) }
}

fn finish(folder: &Path, file: &KnownFile, temporary: &Path, tell: &Tell) -> Result<(), Trouble> {
    let path = folder.join(file.name);
    let shelf = Trouble::shelf(&path);
    let done = File::options().write(true).open(temporary).map_err(&shelf)?;
    done.sync_all().map_err(&shelf)?;
    rename_durably(temporary, &path).map_err(&shelf)?;
    // Without a note the file is only checked once more than needed.
    let _ = done.metadata().and_then(|metadata| receipt::note(folder, file, &metadata));
    let _ = drop_part(folder, file);
    tell.say(Progress::Kept { file: file.name.to_owned(), path: path.clone() })
}
