//! What a batch has begun and finished, so that a batch that was killed goes on where it was.
//!
//! The outcomes are in the file of `--out`. Beside it, `FILE.progress` has a line for each debate before its first call: the place of the
//! line in the input, a hash of it, and the debate's id. When all lines are done, it is removed.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::batch_input::BatchLine;
use super::errors::CliError;
use super::input;

const FILE_BYTES_MAX: u64 = 1 << 32;

/// A debate that was begun.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct BegunLine {
    index: usize,
    /// The hash of the line in the input.
    line: String,
    id: String,
}

/// The progress of a batch that writes to a file.
#[derive(Debug)]
pub struct BatchProgressFile {
    path: PathBuf,
    file: File,
    /// The ids of debates that were begun and are not over, by the place of their line.
    begun: BTreeMap<usize, String>,
}

impl BatchProgressFile {
    /// Opens the progress of a batch with this output, and takes the lines that are done out of `lines`.
    pub fn open(out: &Path, lines: &mut Vec<BatchLine>) -> Result<Self, CliError> {
        let mut name = out.as_os_str().to_owned();
        name.push(".progress");
        let path = PathBuf::from(name);
        let begun = match path.exists() {
            true => read_lines::<BegunLine>(&path)?,
            false => Vec::new(),
        };
        for earlier in &begun {
            if lines.get(earlier.index).is_none_or(|line| line.hash != earlier.line) {
                let sentence = format!(
                    "line {} of the input is not the one that this batch began with: choose another --out, or add --force",
                    earlier.index + 1
                );
                return Err(CliError::file(&path, sentence));
            }
        }
        if begun.is_empty() && out.metadata().is_ok_and(|file| file.len() > 0) {
            let sentence = "it exists already and is not of a batch that was interrupted: choose another name, or add --force";
            return Err(CliError::file(out, sentence));
        }
        drop_torn_line(out)?;
        let mut begun: BTreeMap<usize, String> =
            begun.into_iter().map(|line| (line.index, line.id)).collect();
        let written = if out.exists() { read_lines::<Value>(out)? } else { Vec::new() };
        for outcome in written.iter().filter(|outcome| outcome["status"] != "interrupted") {
            let index = outcome["index"].as_u64().and_then(|index| usize::try_from(index).ok());
            if let Some(index) = index {
                begun.remove(&index);
                lines.retain(|line| line.index != index);
            }
        }
        let error = |why: std::io::Error| CliError::file(&path, format!("it cannot be written: {why}"));
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(error)?;
        Ok(Self { path, file, begun })
    }

    /// Forgets an earlier batch with this output.
    pub fn remove(out: &Path) {
        let mut name = out.as_os_str().to_owned();
        name.push(".progress");
        drop(std::fs::remove_file(PathBuf::from(name)));
    }

    /// The debate of a line that was begun and is not over.
    pub fn begun(&self, line: &BatchLine) -> Option<&String> {
        self.begun.get(&line.index)
    }

    /// Writes down that a debate begins.
    pub fn begin(&mut self, line: &BatchLine, id: &str) -> Result<(), CliError> {
        let begun = BegunLine { index: line.index, line: line.hash.clone(), id: id.to_owned() };
        let error = |why: String| CliError::file(&self.path, format!("it cannot be written: {why}"));
        let mut text = serde_json::to_string(&begun).map_err(|why| error(why.to_string()))?;
        text.push('\n');
        self.file.write_all(text.as_bytes()).map_err(|why| error(why.to_string()))
    }

    /// Removes the file: all lines are done.
    pub fn finish(self) {
        drop(std::fs::remove_file(&self.path));
    }
}

/// A line that a kill cut off is not an outcome.
fn drop_torn_line(out: &Path) -> Result<(), CliError> {
    if !out.exists() {
        return Ok(());
    }
    let bytes = input::read_bytes(out, FILE_BYTES_MAX)?;
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let error = |why: std::io::Error| CliError::file(out, format!("it cannot be written: {why}"));
    let file = OpenOptions::new().write(true).open(out).map_err(error)?;
    file.set_len(end as u64).map_err(error)
}

/// The lines of a file that was written line by line; a torn line at its end is left out.
fn read_lines<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Vec<T>, CliError> {
    let text = input::read_text(path, FILE_BYTES_MAX)?;
    let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|why| CliError::file(path, format!("line {}: {why}", number + 1)))
    };
    whole.enumerate().map(parse).collect()
}
