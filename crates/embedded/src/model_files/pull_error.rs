//! What went wrong with a pull, in sentences that say what to do.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::known_models::KnownModel;
use super::pull_settings::PullSettings;

/// Why a model could not be pulled.
#[derive(Debug, thiserror::Error)]
pub enum PullError {
    /// No source had it.
    #[error("{model} could not be fetched: {}. {next}", list(tried))]
    NoSource {
        /// The model.
        model: String,
        /// The sources that were tried, in order.
        tried: Vec<FailedSource>,
        /// What to do.
        next: String,
    },
    /// The local file cannot be used.
    #[error("{}: {why}", path.display())]
    Local {
        /// The path that was given.
        path: PathBuf,
        /// The reason, and what to use instead.
        why: String,
    },
    /// The folder of models cannot be read or written. No other source would help.
    #[error("{}: {why}", path.display())]
    Store {
        /// What could not be read or written.
        path: PathBuf,
        /// The reason, and what to do.
        why: String,
    },
}

/// A source that was tried and failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedSource {
    /// The source, as a person knows it.
    pub source: String,
    /// The reason.
    pub why: String,
}

/// What stopped one source.
#[derive(Debug)]
pub(super) enum SourceFailure {
    /// The source itself: the next one may work.
    Source(String),
    /// The folder of models: no source would work.
    Store { path: PathBuf, error: io::Error },
}

impl SourceFailure {
    pub(super) fn store(path: &Path) -> impl Fn(io::Error) -> Self {
        move |error| Self::Store { path: path.to_owned(), error }
    }
}

impl PullError {
    pub(super) fn store(path: PathBuf, error: &io::Error) -> Self {
        Self::Store { path, why: store_error_sentence(error) }
    }

    pub(super) fn no_source(model: &KnownModel, settings: &PullSettings, tried: Vec<FailedSource>) -> Self {
        let (name, wheel) = (model.name, model.wheel);
        let (files, argument) = match model.files {
            [file] => (model.hub_address(&settings.hub, file), "FILE"),
            files => {
                let names: Vec<&str> = files.iter().map(|file| file.name).collect();
                (format!("{} from {}", names.join(", "), model.hub_page(&settings.hub)), "WHEEL-OR-FOLDER")
            }
        };
        let next = format!(
            "Try again when the network is available. Or download the wheel {} {} or {files} on another machine, and run \
             `agon models pull {name} --from {argument}`",
            wheel.package, wheel.version,
        );
        Self::NoSource { model: name.to_owned(), tried, next }
    }
}

fn list(tried: &[FailedSource]) -> String {
    let each: Vec<String> =
        tried.iter().map(|FailedSource { source, why }| format!("{source}: {why}")).collect();
    each.join("; ")
}

const ELSEWHERE: &str = "or set AGON_HOME to another folder";

pub(super) fn store_error_sentence(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            format!("the disk is full: free some space and run the same command again, {ELSEWHERE}")
        }
        ErrorKind::ReadOnlyFilesystem => {
            format!("the disk is read-only: make it writable, {ELSEWHERE}")
        }
        ErrorKind::PermissionDenied => {
            format!("it cannot be written ({error}): give yourself write access, {ELSEWHERE}")
        }
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            format!("there is a file where a folder must be: move it away, {ELSEWHERE}")
        }
        ErrorKind::IsADirectory | ErrorKind::DirectoryNotEmpty => {
            format!("there is a folder where a file must be: move it away, {ELSEWHERE}")
        }
        _ => format!("it cannot be used ({error}): check the disk, {ELSEWHERE}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_of_the_folder_says_what_to_do() {
        let kinds = [
            (ErrorKind::StorageFull, "the disk is full"),
            (ErrorKind::QuotaExceeded, "the disk is full"),
            (ErrorKind::ReadOnlyFilesystem, "read-only"),
            (ErrorKind::PermissionDenied, "write access"),
            (ErrorKind::NotADirectory, "a file where a folder must be"),
            (ErrorKind::AlreadyExists, "a file where a folder must be"),
            (ErrorKind::IsADirectory, "a folder where a file must be"),
            (ErrorKind::Other, "cannot be used"),
        ];
        for (kind, part) in kinds {
            let sentence = store_error_sentence(&kind.into());
            assert!(sentence.contains(part) && sentence.contains("AGON_HOME"), "{kind:?}: {sentence}");
        }
    }
}
