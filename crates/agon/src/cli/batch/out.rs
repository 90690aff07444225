//! Where a batch's outcomes go.

use std::fs::{File, OpenOptions};
use std::io::Write;
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
    /// Opens it. A file that has something in it is refused unless `force` says otherwise.
    pub fn open(file: Option<&PathBuf>, force: bool) -> Result<Self, Failure> {
        let Some(file) = file else { return Ok(Self::Stdout) };
        let failed = |why: std::io::Error| Failure::file(file, format!("it cannot be written: {why}"));
        let open = OpenOptions::new().create(true).write(true).truncate(force).open(file).map_err(failed)?;
        if open.metadata().map_err(failed)?.len() > 0 {
            return Err(Failure::file(
                file,
                "it is there already and not empty: name another, or add --force",
            ));
        }
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
