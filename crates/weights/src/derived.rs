//! Files made from a model's own, kept beside them.
//!
//! They lie in a folder named after the sums of the files that they were made from, so that a copy of other weights
//! is never taken for theirs.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::PullError;
use crate::keep::{create_folder, hex, rename_durably};
use crate::known::Known;
use crate::lock;
use crate::receipt;
use crate::shelf::Shelf;

/// So many digits of the sum of sums keep the files of different weights apart.
const DIGITS: usize = 16;

impl Shelf {
    /// The file of this name that was made from the model's own, if it is there and as it was made.
    pub fn made(&self, known: &Known, name: &str) -> Option<PathBuf> {
        Some(self.derived(known, name)).filter(|path| receipt::is_as_made(path))
    }

    /// Where a file made from the model's own is kept.
    pub fn derived(&self, known: &Known, name: &str) -> PathBuf {
        let mut hasher = Sha256::new();
        known.files.iter().for_each(|file| hasher.update(file.sha256));
        let sum: String = hex(&hasher.finalize()).chars().take(DIGITS).collect();
        self.place(known).join("derived").join(sum).join(name)
    }

    /// Makes that file, unless it is there as it was made: `write` fills a temporary one, which gets its name when all of it is on
    /// the disk. Blocks while another process makes one for the same model, and then finds it there.
    ///
    /// `name` is the name of a file: one that leads elsewhere is refused.
    pub fn keep_derived(
        &self,
        known: &Known,
        name: &str,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<PathBuf, PullError> {
        let path = self.derived(known, name);
        let fault = |error: io::Error| PullError::shelf(path.clone(), &error);
        if name.is_empty() || Path::new(name).file_name() != Some(name.as_ref()) {
            return Err(fault(io::Error::new(ErrorKind::InvalidInput, "not the name of a file")));
        }
        if receipt::is_as_made(&path) {
            return Ok(path);
        }
        let folder = path.parent().unwrap_or(&path);
        create_folder(folder).map_err(fault)?;
        let _lock = lock::take_blocking(&folder.join("derived.lock")).map_err(fault)?;
        if receipt::is_as_made(&path) {
            return Ok(path);
        }
        let temporary = folder.join(format!("{name}.new"));
        let made = make(&temporary, write)
            .and_then(|()| rename_durably(&temporary, &path))
            .and_then(|()| receipt::note_made(&path));
        made.map_err(|error| {
            let _ = fs::remove_file(&temporary);
            fault(error)
        })?;
        Ok(path)
    }
}

fn make(temporary: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    // Readable too: some writers go back to fill in what they know only at the end.
    let mut file = File::options().read(true).write(true).create(true).truncate(true).open(temporary)?;
    write(&mut file)?;
    file.sync_all()
}
