//! Where a batch's outcomes go.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use crate::cli::failure::Failure;
use crate::cli::output;

/// A file or stdout. Each line is written whole and at once: a batch may run for hours, and what is done should be
/// there to read, whatever happens to the rest.
pub enum Out {
    /// The file of `--out`.
    File(PathBuf, File),
    /// Stdout.
    Stdout,
}

impl Out {
    /// Opens it. A file that is there already is refused unless `force` says otherwise.
    pub fn open(file: Option<&PathBuf>, force: bool) -> Result<Self, Failure> {
        let Some(file) = file else { return Ok(Self::Stdout) };
        let mut options = OpenOptions::new();
        let options = if force { options.create(true).truncate(true) } else { options.create_new(true) };
        let open = options.write(true).open(file).map_err(|why| match why.kind() {
            ErrorKind::AlreadyExists => {
                Failure::file(file, "it is there already: name another, or add --force")
            }
            _ => Failure::file(file, format!("it cannot be written: {why}")),
        })?;
        Ok(Self::File(file.clone(), open))
    }

    /// Writes one line.
    pub fn line(&mut self, mut line: String) -> Result<(), Failure> {
        line.push('\n');
        match self {
            Self::Stdout => output::print(&line),
            Self::File(file, open) => open
                .write_all(line.as_bytes())
                .map_err(|why| Failure::file(file, format!("it cannot be written: {why}"))),
        }
    }
}
