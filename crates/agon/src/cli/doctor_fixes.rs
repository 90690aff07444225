//! `agon doctor --fix`: what it can do about what it found.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::errors::CliError;
use super::file_permissions::PermissionProblem;
use super::model_files;
use super::output;
use super::verbs::configuration_template;

/// Something that can be done.
pub enum DoctorFix {
    /// Fetches the files of an embedded model.
    Pull {
        name: &'static str,
        /// Its size, and what it is good for.
        about: String,
    },
    /// Writes a configuration, all of it comments.
    WriteConfiguration(PathBuf),
    /// Gives a file its permissions back.
    Repair(PermissionProblem),
}

/// Whether fixes are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixMode {
    /// Each is asked for at the terminal.
    Ask,
    /// `--yes`.
    All,
    /// There is nobody to ask.
    List,
}

/// What became of a fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FixResult {
    Offered,
    Declined,
    Done,
    Failed(String),
}

impl FixMode {
    /// Nobody is asked without a terminal, and not for a JSON document.
    pub fn new(is_yes: bool, is_json: bool) -> Self {
        let is_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        match (is_yes, is_terminal && !is_json) {
            (true, _) => Self::All,
            (false, true) => Self::Ask,
            (false, false) => Self::List,
        }
    }
}

impl DoctorFix {
    /// What it does, as an order.
    pub fn what(&self) -> String {
        match self {
            Self::Pull { name, about } => format!("fetch {name} ({about})"),
            Self::WriteConfiguration(file) => {
                format!("write a configuration to start from, all of it comments, to {}", file.display())
            }
            Self::Repair(problem) => format!("{}, because {}", problem.command(), problem.sentence()),
        }
    }

    /// Does it, or not.
    pub fn carry_out(&self, mode: FixMode, is_quiet: bool) -> FixResult {
        let is_wanted = match mode {
            FixMode::List => return FixResult::Offered,
            FixMode::All => true,
            FixMode::Ask => is_agreed(&self.what()),
        };
        match is_wanted.then(|| self.apply(is_quiet)) {
            None => FixResult::Declined,
            Some(Ok(())) => FixResult::Done,
            Some(Err(error)) => FixResult::Failed(error.to_string()),
        }
    }

    fn apply(&self, is_quiet: bool) -> Result<(), CliError> {
        match self {
            Self::Pull { name, .. } => {
                model_files::pull_models(&[name], Path::new("auto"), is_quiet).map(drop)
            }
            Self::WriteConfiguration(file) => {
                if let Some(folder) = file.parent() {
                    output::create_folder(folder)?;
                }
                output::write_new_file(file, &configuration_template())
            }
            Self::Repair(problem) => problem.repair(),
        }
    }

    /// The fix and what became of it, as JSON.
    pub fn document(&self, result: &FixResult) -> Value {
        let kind = match self {
            Self::Pull { .. } => "pull",
            Self::WriteConfiguration(_) => "write_configuration",
            Self::Repair(_) => "repair_permissions",
        };
        let (state, problem) = match result {
            FixResult::Offered => ("offered", None),
            FixResult::Declined => ("declined", None),
            FixResult::Done => ("done", None),
            FixResult::Failed(why) => ("failed", Some(why)),
        };
        json!({"fix": kind, "what": self.what(), "state": state, "problem": problem})
    }
}

/// Asks a person. Anything but a yes is a no.
fn is_agreed(what: &str) -> bool {
    let question = format!("{}? [y/N] ", agon_core::wording::capitalized(what));
    let mut stderr = std::io::stderr().lock();
    if write!(stderr, "{}", agon_host::clean_text(&question)).and_then(|()| stderr.flush()).is_err() {
        return false;
    }
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).is_ok() && is_yes(&line)
}

fn is_yes(line: &str) -> bool {
    ["y", "yes"].contains(&line.trim().to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_a_yes() {
        for (line, yes) in
            [("y\n", true), (" Yes\r\n", true), ("\n", false), ("", false), ("n", false), ("yellow", false)]
        {
            assert_eq!(is_yes(line), yes, "{line:?}");
        }
    }

    #[test]
    fn a_configuration_is_written_where_none_is_and_overwrites_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config/agon.toml");
        let fix = DoctorFix::WriteConfiguration(file.clone());
        assert_eq!(fix.carry_out(FixMode::List, true), FixResult::Offered);
        assert!(!file.exists(), "a list changes nothing");
        assert_eq!(fix.carry_out(FixMode::All, true), FixResult::Done);
        assert!(std::fs::read_to_string(&file).unwrap().contains("#models"));
        let again = fix.carry_out(FixMode::All, true);
        assert!(matches!(&again, FixResult::Failed(why) if why.contains("exists already")), "{again:?}");
        assert_eq!(fix.document(&again)["state"], "failed");
    }
}
