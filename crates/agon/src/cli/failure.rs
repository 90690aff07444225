//! What can go wrong, in one shape: a sentence, what to do about it, and an exit status.

use std::path::{Path, PathBuf};

use agon_core::event::Broken;
use agon_core::{Corrupt, Invalid};
use agon_embedded::PullError;
use agon_engine::{EngineError, StoreError};
use agon_report::NoGate;

/// A verb that did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Words that the command line does not know; also `--help` and `--version`, which are no failures at all.
    #[error("{0}")]
    Usage(#[from] clap::Error),
    /// Input that cannot be carried out.
    #[error("{sentence}")]
    Input {
        /// What is wrong.
        sentence: String,
        /// What to do, a line each.
        help: Vec<String>,
    },
    /// A file that cannot be read or written.
    #[error("{}: {why}", .file.display())]
    File {
        /// Which.
        file: PathBuf,
        /// What the system said, or what to do.
        why: String,
    },
    /// The engine gave up.
    #[error("{0}")]
    Engine(#[from] EngineError),
    /// A debate did not get to its end, and its log is kept.
    #[error("{}", unfinished(.why, .again))]
    Unfinished {
        /// Why.
        why: Box<EngineError>,
        /// The command that goes on with it.
        again: String,
    },
    /// The store would not.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// A log that cannot be gone on with.
    #[error("debate {id}: {why}")]
    Log {
        /// Which debate.
        id: String,
        /// Why.
        why: Corrupt,
    },
    /// A log in which this version would have done something else.
    #[error("debate {id}: {why}")]
    Departed {
        /// Which debate.
        id: String,
        /// Where and how.
        why: Corrupt,
        /// The version of Agon that opened it; empty if the log does not say.
        written_by: String,
        /// ` --db FILE` where one was named.
        store: String,
    },
    /// A log whose chain is broken.
    #[error("the log of debate {id} is broken: {broken}")]
    Broken {
        /// Which debate.
        id: String,
        /// Where.
        broken: Broken,
    },
    /// The files of an embedded model could not be had.
    #[error("{0}")]
    Pull(#[from] PullError),
    /// The person stopped it; nothing went wrong.
    #[error("{0}")]
    Halted(String),
    /// The system would not give what every program needs.
    #[error("{0}")]
    System(String),
}

impl From<Invalid> for Failure {
    fn from(invalid: Invalid) -> Self {
        Self::input(invalid.0)
    }
}

impl From<NoGate> for Failure {
    fn from(none: NoGate) -> Self {
        Self::input(none.to_string())
    }
}

impl Failure {
    /// Bad input, in a sentence that says what to do.
    pub fn input(sentence: impl Into<String>) -> Self {
        Self::Input { sentence: sentence.into(), help: Vec::new() }
    }

    /// The same with a line that helps.
    #[must_use]
    pub fn help(self, line: impl Into<String>) -> Self {
        match self {
            Self::Input { sentence, mut help } => {
                help.push(line.into());
                Self::Input { sentence, help }
            }
            other => other,
        }
    }

    /// A file that cannot be read or written.
    pub fn file(file: &Path, why: impl ToString) -> Self {
        Self::File { file: file.to_owned(), why: why.to_string() }
    }

    /// Whether it is the person's input that must change, rather than the world.
    pub fn status(&self) -> u8 {
        match self {
            Self::Usage(error) => u8::try_from(error.exit_code()).unwrap_or(2),
            Self::Input { .. } | Self::File { .. } => 2,
            Self::Engine(error) => engine_status(error),
            Self::Unfinished { why, .. } => engine_status(why),
            Self::Store(error) => store_status(error),
            Self::Pull(PullError::Local { .. }) => 2,
            Self::Halted(_) => 130,
            Self::Pull(_) => 3,
            Self::Log { .. } | Self::Departed { .. } | Self::Broken { .. } | Self::System(_) => 3,
        }
    }

    /// Tells the person on stderr, and gives the exit status.
    pub fn report(&self) -> u8 {
        match self {
            // A closed pipe is the reader's business: `agon --help | head -1`.
            Self::Usage(error) => drop(error.print()),
            Self::Unfinished { why, .. } if matches!(**why, EngineError::Interrupted { .. }) => {
                crate::cli::output::note(&self.to_string());
            }
            Self::Halted(sentence) => crate::cli::output::note(sentence),
            other => crate::cli::output::note(&other.text()),
        }
        self.status()
    }

    fn text(&self) -> String {
        let sentence = agon_report::clean(&self.to_string());
        // One sentence is a seed's own, to the letter, and begins so itself.
        let lead = if sentence.starts_with("Error: ") { "" } else { "error: " };
        let mut text = format!("{lead}{sentence}");
        for line in self.help_lines() {
            text.push_str("\nhelp: ");
            text.push_str(&agon_report::clean(&line));
        }
        text
    }

    fn help_lines(&self) -> Vec<String> {
        match self {
            Self::Input { help, .. } => help.clone(),
            Self::Departed { id, written_by, store, .. } => {
                let theirs = match written_by.as_str() {
                    "" => "an earlier agon".to_owned(),
                    version => format!("agon {version}"),
                };
                let ours = env!("CARGO_PKG_VERSION");
                vec![
                    format!(
                        "it was opened by {theirs}, and this is agon {ours}: only the same wording replays"
                    ),
                    format!(
                        "agon show {id}{store} still reads it, agon verify {id}{store} says whether it was changed"
                    ),
                ]
            }
            _ => Vec::new(),
        }
    }
}

/// The command stands on a line of its own: it is there to be copied.
fn unfinished(why: &EngineError, again: &str) -> String {
    match why {
        EngineError::Interrupted { .. } => format!("interrupted; the log is kept. Go on with:\n{again}"),
        EngineError::Stopped { fault, .. } => {
            format!("{fault}; the log is kept. Once that is put right, go on with:\n{again}")
        }
        other => format!("{other}; the log is kept. Then go on with:\n{again}"),
    }
}

fn engine_status(error: &EngineError) -> u8 {
    match error {
        EngineError::Invalid(_) | EngineError::Stopped { .. } => 2,
        EngineError::Interrupted { .. } => 130,
        EngineError::Store(error) => store_status(error),
        EngineError::Corrupt(_) => 3,
    }
}

/// A name that fits no debate is the person's to mend; a full disk or another process is not.
fn store_status(error: &StoreError) -> u8 {
    match error {
        StoreError::Unknown(_) | StoreError::Ambiguous(_) | StoreError::Refused(_) => 2,
        StoreError::Leased(_)
        | StoreError::LeaseLost(_)
        | StoreError::Broken { .. }
        | StoreError::Failed { .. } => 3,
    }
}
