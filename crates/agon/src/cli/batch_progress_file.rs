//! What a batch has begun and finished, so that a batch that was killed goes on where it was.
//!
//! The outcomes are in the file of `--out`. Beside it, `FILE.progress` has a line for each debate before its first call: the place of the
//! line in the input, a hash of it, and the debate's id. When all lines are done, it is removed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

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

/// What an outcome says about its line.
#[derive(Deserialize)]
struct WrittenLine {
    index: usize,
    status: String,
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
        let path = progress_path(out);
        let begun: Vec<BegunLine> = read_lines(&path)?;
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
        let written: Vec<WrittenLine> = read_lines(out)?;
        let done = written.into_iter().filter(|line| line.status != "interrupted");
        let done: BTreeSet<usize> = done.map(|line| line.index).collect();
        lines.retain(|line| !done.contains(&line.index));
        let begun = begun.into_iter().filter(|line| !done.contains(&line.index));
        let begun = begun.map(|line| (line.index, line.id)).collect();
        let error = |why: std::io::Error| CliError::file(&path, format!("it cannot be written: {why}"));
        let file = agon_host::open_growing(&path, OpenOptions::new().append(true)).map_err(error)?;
        Ok(Self { path, file, begun, earlier })
    }

    /// Forgets an earlier batch with this output.
    pub fn remove(out: &Path) {
        drop(std::fs::remove_file(progress_path(out)));
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

fn progress_path(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".progress");
    PathBuf::from(name)
}

/// The lines of a file that is written line by line, if it exists. A line that a kill cut off is removed from it.
fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, CliError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = input::read_bytes(path, FILE_BYTES_MAX)?;
    let end = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    if end < text.len() {
        let file = OpenOptions::new().write(true).open(path);
        let cut = file.and_then(|file| file.set_len(end as u64));
        cut.map_err(|why| CliError::file(path, format!("it cannot be written: {why}")))?;
    }
    let whole = text.get(..end).unwrap_or_default().split_inclusive(|byte| *byte == b'\n');
    let parse = |(number, line): (usize, &[u8])| {
        serde_json::from_slice(line)
            .map_err(|why| CliError::file(path, format!("line {}: {why}", number + 1)))
    };
    whole.enumerate().map(parse).collect()
}
