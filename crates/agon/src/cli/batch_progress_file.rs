//! What a batch has begun and finished, so that a batch that was killed goes on where it was.
//!
//! The outcomes are in the file of `--out`. Beside it, `FILE.progress` has a line for each debate before its first call: the place of the
//! line in the input, a hash of it, and the debate's id. When all lines are done, it is removed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use agon_engine::{BudgetUse, StoreError};
use agon_store::DebateStore;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use super::app::DebateHandle;
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
    id: Option<String>,
    /// Only an outcome has one.
    usage: Option<IgnoredAny>,
}

/// The progress of a batch that writes to a file.
#[derive(Debug)]
pub struct BatchProgressFile {
    path: PathBuf,
    file: File,
    /// The ids of debates that were begun and are not over, by the place of their line.
    begun: BTreeMap<usize, String>,
    /// The ids of all debates that were begun, each with whether its outcome is written.
    earlier: BTreeMap<String, bool>,
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
        let mut earlier: BTreeMap<String, bool> = begun.iter().map(|line| (line.id.clone(), false)).collect();
        let with_outcome = written.iter().filter(|line| line.usage.is_some());
        earlier.extend(with_outcome.filter_map(|line| Some((line.id.clone()?, true))));
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

    /// What the debates of earlier runs have used, by their logs. A debate that was begun and has no log made no call.
    pub fn used_before(&self, store: &DebateStore) -> Result<BudgetUse, CliError> {
        let mut used = BudgetUse::default();
        for (id, has_outcome) in &self.earlier {
            let handle = DebateHandle { store: store.clone(), id: id.clone() };
            used = match handle.read() {
                Ok(stored) => used.plus(BudgetUse::of_debate(&stored.debate)),
                Err(CliError::Store(StoreError::Unknown(_))) if !has_outcome => used,
                Err(CliError::Store(StoreError::Unknown(_))) => {
                    return Err(CliError::input(format!(
                        "what debate {id} of this batch has used is not known, because the store does not have it"
                    ))
                    .with_help("name the store of the earlier runs with --db, or omit the limits on the batch"));
                }
                Err(error) => return Err(error),
            };
        }
        Ok(used)
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
