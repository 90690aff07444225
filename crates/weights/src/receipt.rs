//! A note beside each file: it was checked, and this is how it looked then.
//!
//! To take the sum of a hundred megabytes at every start would cost more than everything else that happens there.
//! Size and time of change tell as much, unless somebody means to deceive who can write to the folder anyway.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::error::shelf_sentence;
use crate::known::KnownFile;

/// What a glance at a file's place shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Look {
    /// It was checked and has not changed since.
    Right,
    /// It has the right size, and nobody has checked it as it is now.
    Unchecked,
    Missing,
    /// It cannot be the file.
    Wrong(String),
}

/// A glance: no file is read but the note.
pub(crate) fn look(folder: &Path, file: &KnownFile) -> Look {
    let path = folder.join(file.name);
    let metadata = match fs::metadata(&path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Look::Missing,
        Err(error) => return Look::Wrong(format!("{}: {}", path.display(), shelf_sentence(&error))),
    };
    if !metadata.is_file() {
        return Look::Wrong(format!("{} is not a file: move it away", path.display()));
    }
    if metadata.len() != file.bytes {
        let (has, wants) = (metadata.len(), file.bytes);
        return Look::Wrong(format!("{} has {has} bytes instead of {wants}", path.display()));
    }
    let noted = read(folder, file);
    if noted.is_some_and(|noted| noted == Receipt::of(file, &metadata)) {
        Look::Right
    } else {
        Look::Unchecked
    }
}

/// Notes that the file with this metadata was found right.
pub(crate) fn note(folder: &Path, file: &KnownFile, metadata: &Metadata) -> io::Result<()> {
    let path = place(folder, file);
    // The name is this process's own, because a note may be written without the lock.
    let temporary = folder.join(format!("{}.receipt.{}", file.name, std::process::id()));
    let text = serde_json::to_string(&Receipt::of(file, metadata))?;
    fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, path)).inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })
}

/// Takes the note away, if there is one.
pub(crate) fn forget(folder: &Path, file: &KnownFile) {
    let _ = fs::remove_file(place(folder, file));
}

/// Whether a file that was made here is as it was then.
pub(crate) fn is_as_made(path: &Path) -> bool {
    let noted = fs::read(beside(path)).ok().and_then(|text| serde_json::from_slice::<Receipt>(&text).ok());
    let now = fs::metadata(path).ok().filter(Metadata::is_file).map(|metadata| Receipt::seen("", &metadata));
    noted.is_some() && noted == now
}

/// Notes how a file looks that was made here just now.
pub(crate) fn note_made(path: &Path) -> io::Result<()> {
    let receipt = Receipt::seen("", &fs::metadata(path)?);
    fs::write(beside(path), serde_json::to_string(&receipt)?)
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".receipt");
    name.into()
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Receipt {
    sha256: String,
    bytes: u64,
    /// Since 1970, in nanoseconds; absent where the system does not tell.
    modified_ns: Option<u64>,
}

impl Receipt {
    fn of(file: &KnownFile, metadata: &Metadata) -> Self {
        Self::seen(file.sha256, metadata)
    }

    fn seen(sha256: &str, metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Self {
            sha256: sha256.to_owned(),
            bytes: metadata.len(),
            modified_ns: modified.and_then(|since| u64::try_from(since.as_nanos()).ok()),
        }
    }
}

fn place(folder: &Path, file: &KnownFile) -> PathBuf {
    folder.join(format!("{}.receipt", file.name))
}

fn read(folder: &Path, file: &KnownFile) -> Option<Receipt> {
    serde_json::from_slice(&fs::read(place(folder, file)).ok()?).ok()
}
