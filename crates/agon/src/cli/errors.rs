//! What can go wrong: a sentence, what to do about it, and an exit status.

use std::path::{Path, PathBuf};

use agon_core::{BrokenChain, Corrupt, Invalid};
use agon_engine::{EngineError, StoreError};
use agon_report::{ExcerptError, NotAGate, NotYaml};

use super::output;

/// The exit status of a debate that could not complete.
pub const EXIT_INCOMPLETE: u8 = 3;
/// The exit status of a verb that the user interrupted.
pub const EXIT_INTERRUPTED: u8 = 130;
const EXIT_BAD_INPUT: u8 = 2;

/// Why a verb did not do what it was asked to do.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The command line cannot be parsed. `--help` and `--version` are reported this way too.
    #[error("{0}")]
    Usage(#[from] clap::Error),
    /// Input that cannot be used.
    #[error("{sentence}")]
    Input {
        /// What is wrong.
        sentence: String,
        /// What to do, one line each.
        help: Vec<String>,
    },
    /// A file that cannot be read or written.
    #[error("{}: {reason}", .file.display())]
    File {
        file: PathBuf,
        /// What the system said, or what to do.
        reason: String,
    },
    /// The engine gave up.
    #[error("{0}")]
    Engine(#[from] EngineError),
    /// A debate that did not end. Its log is kept.
    #[error("{}", unfinished_sentence(.reason, .resume_command))]
    Unfinished {
        /// Why it did not end.
        reason: Box<EngineError>,
        /// The command that continues it.
        resume_command: String,
    },
    /// The store failed.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// A log that its protocol cannot read.
    #[error("debate {id}: {reason}")]
    Log { id: String, reason: Box<Corrupt> },
    /// A log in which this version would have taken another step.
    #[error("debate {id}: {reason}")]
    Departed {
        id: String,
        /// Where and how.
        reason: Box<Corrupt>,
        /// The version of Agon that opened it; empty if the log does not say.
        written_by: String,
        /// ` --db STORE` if a store was named.
        store_option: String,
    },
    /// A log whose hash chain is broken.
    #[error("the log of debate {id} is broken: {broken}")]
    BrokenLog { id: String, broken: BrokenChain },
    /// The files of an embedded model could not be fetched.
    #[error("{0}")]
    Download(String),
    /// The user stopped it. Nothing went wrong.
    #[error("{0}")]
    Stopped(String),
    /// The system refused something that every program needs.
    #[error("{0}")]
    System(String),
}

impl CliError {
    /// Bad input, in a sentence that says what to do.
    pub fn input(sentence: impl Into<String>) -> Self {
        Self::Input { sentence: sentence.into(), help: Vec::new() }
    }

    /// Adds a line of help to bad input.
    #[must_use]
    pub fn with_help(mut self, line: impl Into<String>) -> Self {
        if let Self::Input { help, .. } = &mut self {
            help.push(line.into());
        }
        self
    }

    /// A file that cannot be read or written.
    pub fn file(file: &Path, reason: impl ToString) -> Self {
        Self::File { file: file.to_owned(), reason: reason.to_string() }
    }

    /// The exit status: 2 if the user must change the input, 3 if something else must change first.
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::Usage(error) => u8::try_from(error.exit_code()).unwrap_or(EXIT_BAD_INPUT),
            Self::Input { .. } | Self::File { .. } => EXIT_BAD_INPUT,
            Self::Engine(error) => engine_status(error),
            Self::Unfinished { reason, .. } => engine_status(reason),
            Self::Store(error) => store_status(error),
            Self::Stopped(_) => EXIT_INTERRUPTED,
            Self::Log { .. }
            | Self::Departed { .. }
            | Self::BrokenLog { .. }
            | Self::Download(_)
            | Self::System(_) => EXIT_INCOMPLETE,
        }
    }

    /// Prints the error on stderr and returns the exit status.
    pub fn report(&self) -> u8 {
        match self {
            // It fails if the reader closed the pipe, as `agon --help | head -1` does.
            Self::Usage(error) => drop(error.print()),
            Self::Unfinished { reason, .. } if matches!(**reason, EngineError::Interrupted { .. }) => {
                output::note(&self.to_string());
            }
            Self::Stopped(sentence) => output::note(sentence),
            other => output::note(&other.text()),
        }
        self.exit_status()
    }

    fn text(&self) -> String {
        let sentence = agon_host::clean_text(&self.to_string());
        // One sentence of a protocol is fixed word for word and has its own prefix.
        let prefix = if sentence.starts_with("Error: ") { "" } else { "error: " };
        let mut text = format!("{prefix}{sentence}");
        for line in self.help_lines() {
            text.push_str("\nhelp: ");
            text.push_str(&agon_host::clean_text(&line));
        }
        text
    }

    fn help_lines(&self) -> Vec<String> {
        match self {
            Self::Input { help, .. } => help.clone(),
            Self::Departed { id, written_by, store_option, .. } => {
                let theirs = version_name(written_by);
                let ours = env!("CARGO_PKG_VERSION");
                vec![
                    format!(
                        "it was opened by {theirs}, and this is agon {ours}: a replay needs the same prompts"
                    ),
                    format!("agon show {id}{store_option} still prints it"),
                    format!("agon verify {id}{store_option} tells you whether it was changed"),
                ]
            }
            _ => Vec::new(),
        }
    }
}

/// The version that a log names: `agon 0.1.0`.
pub fn version_name(written_by: &str) -> String {
    if written_by.is_empty() { "an earlier agon".to_owned() } else { format!("agon {written_by}") }
}

/// What is said about a debate that somebody interrupted.
pub fn kept_log_sentence(resume_command: &str) -> String {
    format!("interrupted; the log is kept. Continue with:\n{resume_command}")
}

/// The command is on a line of its own so that it is easy to copy.
fn unfinished_sentence(reason: &EngineError, resume_command: &str) -> String {
    match reason {
        EngineError::Interrupted { .. } => kept_log_sentence(resume_command),
        EngineError::Stopped { fault, .. } => {
            format!("{fault}; the log is kept. After you have fixed that, continue with:\n{resume_command}")
        }
        other => format!("{other}; the log is kept. Then continue with:\n{resume_command}"),
    }
}

fn engine_status(error: &EngineError) -> u8 {
    match error {
        EngineError::Invalid(_) | EngineError::Stopped { .. } => EXIT_BAD_INPUT,
        EngineError::Interrupted { .. } => EXIT_INTERRUPTED,
        EngineError::Store(error) => store_status(error),
        EngineError::Corrupt(_) | EngineError::UsedUp { .. } => EXIT_INCOMPLETE,
    }
}

fn store_status(error: &StoreError) -> u8 {
    match error {
        StoreError::Unknown(_) | StoreError::Ambiguous(_) | StoreError::Refused(_) => EXIT_BAD_INPUT,
        StoreError::Leased(_)
        | StoreError::LeaseLost(_)
        | StoreError::BrokenChain { .. }
        | StoreError::Failed { .. } => EXIT_INCOMPLETE,
    }
}

impl From<Invalid> for CliError {
    fn from(invalid: Invalid) -> Self {
        Self::input(invalid.0)
    }
}

impl From<NotAGate> for CliError {
    fn from(error: NotAGate) -> Self {
        Self::input(error.to_string())
    }
}

impl From<ExcerptError> for CliError {
    fn from(error: ExcerptError) -> Self {
        Self::input(error.to_string())
    }
}

impl From<NotYaml> for CliError {
    fn from(error: NotYaml) -> Self {
        Self::System(error.to_string())
    }
}
