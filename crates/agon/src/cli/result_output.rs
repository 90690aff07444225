//! How a debate is shown while it runs, and how its result is printed and saved.

use std::path::{Path, PathBuf};

use agon_core::{Brief, BriefFile, Debate, Protocol, ProtocolInfo, document};
use agon_report::{GateFormat, gate_report, markdown_report, terminal_report};

use super::app::App;
use super::arguments::{DEFAULT_SAVE_FOLDER, shell_quoted};
use super::debate_reading::DebateReading;
use super::errors::CliError;
use super::{output, records};

/// Written after the report. If it exists, the debate was saved here before.
const OUTCOME_FILE: &str = "outcome.json";

/// The part of a brief that says that its debate was opened with `--no-files`.
const NO_FILES_PART: &str = "no_files";

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputMode {
    /// The live view on stderr, the report on stdout.
    Live,
    /// Only the report.
    Quiet,
    /// The outcome as JSON.
    Json,
    /// The log as it happens.
    Events,
}

/// What is printed of a debate, and where it is saved.
#[derive(Debug)]
pub struct ResultOutput {
    /// What goes to stdout.
    pub mode: OutputMode,
    /// Whether progress may be shown on stderr.
    pub shows_progress: bool,
    is_quiet: bool,
    stderr_is_live: bool,
    save_folder: Option<PathBuf>,
    gate_format: Option<GateFormat>,
    writes_records: bool,
    /// ` --db STORE` if a store was named.
    pub store_option: String,
}

impl ResultOutput {
    /// Reads the output options.
    pub fn read(app: &App<'_>) -> Self {
        let mode = match ["json", "events", "quiet"].map(|flag| app.flag(flag)) {
            [true, ..] => OutputMode::Json,
            [_, true, _] => OutputMode::Events,
            [.., true] => OutputMode::Quiet,
            _ => OutputMode::Live,
        };
        let (is_quiet, stderr_is_live) = (app.flag("quiet"), output::stderr_is_live());
        let shows_progress = match mode {
            OutputMode::Live => true,
            OutputMode::Json => !is_quiet && stderr_is_live,
            OutputMode::Quiet | OutputMode::Events => false,
        };
        let format = app.args.try_get_one::<String>("format").ok().flatten();
        Self {
            mode,
            shows_progress,
            is_quiet,
            stderr_is_live,
            save_folder: app.args.get_one::<PathBuf>("save").cloned(),
            gate_format: format.and_then(|name| GateFormat::from_name(name)),
            writes_records: !app.flag("no-files"),
            store_option: app.store_option(),
        }
    }

    /// The output of a demo: a report, and no files.
    pub fn of_demo(app: &App<'_>) -> Self {
        let (is_quiet, stderr_is_live) = (app.flag("quiet"), output::stderr_is_live());
        Self {
            mode: if is_quiet { OutputMode::Quiet } else { OutputMode::Live },
            shows_progress: !is_quiet,
            is_quiet,
            stderr_is_live,
            save_folder: None,
            gate_format: None,
            writes_records: false,
            store_option: app.store_option(),
        }
    }

    /// Writes down in the brief that the user wants no record files, so that a resumed debate writes none either.
    pub fn write_no_files(&self, info: &ProtocolInfo, brief: &mut Brief) {
        if !self.writes_records && info.record_folder.is_some() && brief.part(NO_FILES_PART).is_none() {
            let part = Some(NO_FILES_PART.to_owned());
            brief.files.push(BriefFile { path: NO_FILES_PART.to_owned(), text: String::new(), part });
        }
    }

    /// Writes no record files if the debate was opened so.
    pub fn read_no_files(&mut self, brief: &Brief) {
        self.writes_records &= brief.part(NO_FILES_PART).is_none();
    }

    /// Does not write the protocol's records into its own folder.
    pub fn skip_records(&mut self) {
        self.writes_records = false;
    }

    /// Whether answers are shown word by word.
    pub fn streams_answers(&self) -> bool {
        self.mode == OutputMode::Live && self.stderr_is_live
    }

    /// Refuses a folder or a format that would fail after the debate is paid for.
    pub fn check(&self, protocol: &dyn Protocol, brief: &Brief) -> Result<(), CliError> {
        if self.gate_format.is_some() && !protocol.info().gates(brief) {
            return Err(CliError::input(
                "--format needs a verdict that passes or fails, and with these options there is none: omit it",
            ));
        }
        let (Some(parent), Some(folder)) = (&self.save_folder, self.debate_folder(&brief.id)) else {
            return Ok(());
        };
        if parent == Path::new(DEFAULT_SAVE_FOLDER) && parent.is_symlink() {
            let sentence = "it is a link, and you did not name it: name a folder with --save DIR";
            return Err(CliError::file(parent, sentence));
        }
        output::create_folder(parent)?;
        // Records of an interrupted debate may be there already; an outcome is written once.
        match folder.join(OUTCOME_FILE).exists() {
            true => {
                Err(CliError::file(&folder, "it exists already, and nothing is overwritten: save elsewhere"))
            }
            false => Ok(()),
        }
    }

    /// ` --save DIR`, for a command that is printed and must use the same folder; empty if nothing is saved.
    pub fn save_option(&self) -> String {
        let folder = self.save_folder.as_ref();
        folder
            .map(|folder| format!(" --save {}", shell_quoted(&folder.to_string_lossy())))
            .unwrap_or_default()
    }

    /// The folder that the debate is saved in, if it is saved.
    pub fn debate_folder(&self, id: &str) -> Option<PathBuf> {
        self.save_folder.as_ref().map(|folder| folder.join(id))
    }

    /// Prints and saves the result, and returns the exit status of the debate. `log_lines` returns the lines of the log.
    pub fn finish(
        &self,
        debate: &Debate,
        log_lines: impl FnOnce() -> Result<Vec<String>, CliError>,
    ) -> Result<u8, CliError> {
        let reading = DebateReading::of(debate)?;
        let source = reading.source();
        if let Some(folder) = self.debate_folder(&debate.brief.id) {
            save(&folder, &reading, &log_lines()?)?;
            if !self.is_quiet {
                output::note(&format!("saved in {}", folder.display()));
            }
        }
        if let Some(folder) = source.info.record_folder.filter(|_| self.writes_records) {
            self.write_protocol_records(Path::new(folder), &reading);
        }
        match self.mode {
            OutputMode::Events => {}
            _ if let Some(format) = self.gate_format => output::print(&gate_report(&source, format)?)?,
            OutputMode::Json => output::print_json(&reading.document)?,
            OutputMode::Live | OutputMode::Quiet => {
                output::print(&terminal_report(&source, &output::stdout_style(), &self.store_option))?;
            }
        }
        Ok(document::exit_status(debate))
    }

    /// Writes the records that a protocol writes unasked. If that fails, the verdict still counts.
    fn write_protocol_records(&self, folder: &Path, reading: &DebateReading<'_>) {
        if let Some(link) = folder.ancestors().find(|above| above.is_symlink()) {
            output::note(&format!("note: the records are not written: {} is a link", link.display()));
            return;
        }
        match records::write_records(folder, reading) {
            Ok(Some(report)) if !self.is_quiet => output::note(&format!("written: {}", report.display())),
            Ok(_) => {}
            Err(error) => output::note(&format!("note: the records are not written: {error}")),
        }
    }
}

fn save(folder: &Path, reading: &DebateReading<'_>, log_lines: &[String]) -> Result<(), CliError> {
    output::create_folder(folder)?;
    let log: String = log_lines.iter().flat_map(|line| [line, "\n"]).collect();
    output::write_new_file(&folder.join("report.md"), &markdown_report(&reading.source()))?;
    output::write_new_file(&folder.join(OUTCOME_FILE), &format!("{:#}\n", reading.document))?;
    output::write_new_file(&folder.join("log.ndjson"), &log)?;
    records::write_growing_records(folder, reading)?;
    records::write_records(folder, reading).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_streamed_only_into_a_live_view_on_a_terminal() {
        let output = |mode, stderr_is_live| ResultOutput {
            mode,
            shows_progress: true,
            is_quiet: false,
            stderr_is_live,
            save_folder: None,
            gate_format: None,
            writes_records: true,
            store_option: String::new(),
        };
        assert!(output(OutputMode::Live, true).streams_answers());
        assert!(!output(OutputMode::Live, false).streams_answers());
        for mode in [OutputMode::Quiet, OutputMode::Json, OutputMode::Events] {
            assert!(!output(mode, true).streams_answers(), "{mode:?}");
        }
    }
}
