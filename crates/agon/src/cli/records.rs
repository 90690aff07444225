//! The files that a protocol writes of a debate: when it is over, and while it runs.

use std::path::{Path, PathBuf};

use agon_core::{Corrupt, Debate, LogRecord, Protocol, RecordBody, SavedRecord};
use serde_json::Value;

use super::debate_reading::DebateReading;
use super::errors::CliError;
use super::output;

/// More runs than this on one day mean that something else is wrong.
const RUNS_MAX: u32 = 10_000;

/// Writes the records of a debate into a folder without overwriting those of earlier runs. Returns the path of the first
/// record, which is the report where there is one.
pub fn write_records(folder: &Path, reading: &DebateReading<'_>) -> Result<Option<PathBuf>, CliError> {
    let records: Vec<&SavedRecord> = reading.view.records.iter().filter(|record| !record.grows).collect();
    let Some(first) = records.first() else { return Ok(None) };
    output::create_folder(folder)?;
    let run = claim_run(folder, &records)?;
    for record in &records {
        output::write_file(&record_path(folder, record, run), &record_text(record, reading)?)?;
    }
    Ok(Some(record_path(folder, first, run)))
}

/// Writes the records that grow while a debate runs, as they are now.
pub fn write_growing_records(folder: &Path, reading: &DebateReading<'_>) -> Result<(), CliError> {
    for record in reading.view.records.iter().filter(|record| record.grows) {
        output::create_folder(folder)?;
        output::write_file(&record_path(folder, record, 1), &record_text(record, reading)?)?;
    }
    Ok(())
}

fn record_text(record: &SavedRecord, reading: &DebateReading<'_>) -> Result<String, CliError> {
    Ok(match &record.body {
        RecordBody::Text(text) => text.clone(),
        RecordBody::Yaml(value) => yaml_record(value)?,
        RecordBody::Report => agon_report::markdown_report(&reading.source()),
    })
}

/// A record as a document of YAML. A second line of `---` would begin another document, which many readers refuse.
fn yaml_record(value: &Value) -> Result<String, CliError> {
    Ok(format!("---\n{}\n", agon_report::yaml(value)?.trim_end()))
}

/// The first run whose files do not exist yet. The first file is created empty, so that no other process takes the same
/// run.
fn claim_run(folder: &Path, records: &[&SavedRecord]) -> Result<u32, CliError> {
    for run in 1..=RUNS_MAX {
        if records.iter().any(|record| record_path(folder, record, run).exists()) {
            continue;
        }
        let Some(first) = records.first().map(|record| record_path(folder, record, run)) else { break };
        match std::fs::OpenOptions::new().write(true).create_new(true).open(&first) {
            Ok(_) => return Ok(run),
            Err(why) if why.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(why) => return Err(CliError::file(&first, format!("it cannot be written: {why}"))),
        }
    }
    Err(CliError::file(folder, "it has too many records of one day on one target: delete some"))
}

fn record_path(folder: &Path, record: &SavedRecord, run: u32) -> PathBuf {
    let SavedRecord { stem, ending, .. } = record;
    match run {
        1 => folder.join(format!("{stem}{ending}")),
        _ => folder.join(format!("{stem}-run{run}{ending}")),
    }
}

/// Writes the growing records of a running debate after every phase.
pub struct GrowingRecords {
    protocol: &'static dyn Protocol,
    folder: PathBuf,
    debate: Option<Debate>,
    written: Vec<SavedRecord>,
    has_failed: bool,
}

impl GrowingRecords {
    /// For a debate with this log so far, empty for a new one, and a folder of its own.
    pub fn new(protocol: &'static dyn Protocol, folder: &Path, log: &[LogRecord]) -> Result<Self, Corrupt> {
        let debate = if log.is_empty() { None } else { Some(Debate::from_records(log)?) };
        Ok(Self { protocol, folder: folder.to_owned(), debate, written: Vec::new(), has_failed: false })
    }

    /// Takes the next record of the log, and writes the files if a phase is over. After an error it writes nothing more. One
    /// message is enough: the debate goes on, and its log has everything.
    pub fn add(&mut self, record: &LogRecord) {
        if self.has_failed {
            return;
        }
        if let Err(error) = self.update(record) {
            output::note(&format!("note: the records are not written any more: {error}"));
            self.has_failed = true;
        }
    }

    fn update(&mut self, record: &LogRecord) -> Result<(), CliError> {
        let unreadable = |protocol: &dyn Protocol, reason: Corrupt| {
            CliError::System(format!("{} cannot read the log: {reason}", protocol.info().name))
        };
        let debate = match &mut self.debate {
            Some(debate) if record.entry.seq < debate.events => return Ok(()),
            Some(debate) => {
                debate.apply(record).map_err(|reason| unreadable(self.protocol, reason))?;
                debate
            }
            None => {
                let debate = Debate::from_records(std::slice::from_ref(record));
                self.debate.insert(debate.map_err(|reason| unreadable(self.protocol, reason))?)
            }
        };
        if debate.outstanding().next().is_some() {
            return Ok(());
        }
        let view = self.protocol.view(debate).map_err(|reason| unreadable(self.protocol, reason))?;
        let growing: Vec<SavedRecord> = view.records.into_iter().filter(|record| record.grows).collect();
        if growing == self.written {
            return Ok(());
        }
        output::create_folder(&self.folder)?;
        for record in &growing {
            if let RecordBody::Text(text) = &record.body {
                output::write_file(&record_path(&self.folder, record, 1), text)?;
            }
        }
        self.written = growing;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// "each a document with `---`".
    #[test]
    fn a_yaml_record_is_one_document_that_begins_with_dashes() {
        let record = yaml_record(&json!({"judge_id": "judge-1", "round": 1})).unwrap();
        let lines: Vec<&str> = record.lines().collect();
        assert_eq!(lines, ["---", "judge_id: judge-1", "round: 1"]);
    }
}
