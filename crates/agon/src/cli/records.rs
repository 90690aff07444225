//! The files that a protocol writes of a debate. A second run of one day overwrites nothing.

use std::path::{Path, PathBuf};

use agon_core::{Body, Debate, Protocol, Saved};
use serde_json::Value;

use super::failure::Failure;
use super::write;

/// After so many runs of one day on one target something else is wrong.
const RUNS_MAX: u32 = 10_000;

/// Writes the files of a debate into a folder and gives the path of the first, which is the report where there is one.
pub fn write(
    folder: &Path,
    protocol: &dyn Protocol,
    debate: &Debate,
    outcome: &Value,
) -> Result<Option<PathBuf>, Failure> {
    let files = protocol.records(debate);
    let Some(first) = files.first() else { return Ok(None) };
    std::fs::create_dir_all(folder)
        .map_err(|why| Failure::file(folder, format!("the folder cannot be made: {why}")))?;
    let run = claim(folder, &files)?;
    for file in &files {
        let text = match &file.body {
            Body::Text(text) => text.clone(),
            Body::Yaml(value) => agon_report::yaml(value).map_err(|why| Failure::System(why.to_string()))?,
            Body::Report => agon_report::markdown(outcome, debate),
        };
        write::whole(&path(folder, file, run), &text)?;
    }
    Ok(Some(path(folder, first, run)))
}

/// The first run whose files are not there yet. Making the first of them, empty, keeps others from taking the same.
fn claim(folder: &Path, files: &[Saved]) -> Result<u32, Failure> {
    for run in 1..=RUNS_MAX {
        if files.iter().any(|file| path(folder, file, run).exists()) {
            continue;
        }
        let Some(first) = files.first().map(|file| path(folder, file, run)) else { break };
        match std::fs::OpenOptions::new().write(true).create_new(true).open(&first) {
            Ok(_) => return Ok(run),
            Err(why) if why.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(why) => return Err(Failure::file(&first, format!("it cannot be written: {why}"))),
        }
    }
    Err(Failure::file(folder, "there are too many files of one day on one target: clear it up"))
}

fn path(folder: &Path, file: &Saved, run: u32) -> PathBuf {
    let Saved { stem, ending, .. } = file;
    match run {
        1 => folder.join(format!("{stem}{ending}")),
        _ => folder.join(format!("{stem}-run{run}{ending}")),
    }
}
