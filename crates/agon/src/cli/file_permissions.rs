//! Who may read and change Agon's own files: keys, the store, tokens, the configuration.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::errors::CliError;

/// What a file or folder must and must not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AccessRule {
    /// What it is, for messages.
    what: &'static str,
    /// The bits that its owner needs.
    needed: u32,
    /// The bits that must not be set.
    forbidden: u32,
    /// What else to do if it was open to others.
    advice: &'static str,
}

const PRIVATE_KEY: AccessRule = AccessRule {
    what: "your private key",
    needed: 0o600,
    forbidden: 0o077,
    advice: "; if somebody may have read it, `agon keys rotate` replaces it",
};
const KEYS_FOLDER: AccessRule =
    AccessRule { what: "the folder of your keys", needed: 0o700, forbidden: 0o077, advice: "" };
const STORE_FILE: AccessRule = AccessRule { what: "the store", needed: 0o600, forbidden: 0o077, advice: "" };
/// The store itself is private, so its folder may be read.
const STORE_FOLDER: AccessRule =
    AccessRule { what: "the folder of the store", needed: 0o700, forbidden: 0o022, advice: "" };
const TOKEN_FILE: AccessRule = AccessRule {
    what: "the file of tokens",
    needed: 0o400,
    forbidden: 0o077,
    advice: "; if somebody may have read it, write new tokens into it",
};
const CONFIGURATION: AccessRule = AccessRule {
    what: "the configuration, which names programs and servers,",
    needed: 0o400,
    forbidden: 0o022,
    advice: "",
};

/// The files to look at. One that does not exist is no problem.
#[derive(Debug, Default)]
pub struct PrivateFiles {
    pub keys_folder: Option<PathBuf>,
    /// A store that is a file.
    pub store: Option<PathBuf>,
    pub configuration: Option<PathBuf>,
    pub token_file: Option<PathBuf>,
}

/// A file that others can read or change, or that its owner cannot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionProblem {
    pub file: PathBuf,
    mode: u32,
    rule: AccessRule,
}

impl PrivateFiles {
    /// What is wrong with them.
    pub fn problems(&self) -> Vec<PermissionProblem> {
        let keys = self.keys_folder.iter().flat_map(|folder| {
            [(folder.clone(), KEYS_FOLDER), (folder.join(agon_publish::receipts::KEY_FILE), PRIVATE_KEY)]
        });
        let store = self.store.iter().flat_map(|file| {
            let beside = |ending: &str| {
                let mut name = file.clone().into_os_string();
                name.push(ending);
                PathBuf::from(name)
            };
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.map(|folder| (folder.to_owned(), STORE_FOLDER));
            let files = [file.clone(), beside("-wal"), beside("-shm")].map(|file| (file, STORE_FILE));
            folder.into_iter().filter(move |_| file.exists()).chain(files)
        });
        let others = [(&self.configuration, CONFIGURATION), (&self.token_file, TOKEN_FILE)];
        let others = others.into_iter().filter_map(|(file, rule)| Some((file.clone()?, rule)));
        keys.chain(store).chain(others).filter_map(|(file, rule)| PermissionProblem::of(file, rule)).collect()
    }
}

impl PermissionProblem {
    fn of(file: PathBuf, rule: AccessRule) -> Option<Self> {
        let mode = system::mode(&file)?;
        let is_wrong = mode & rule.forbidden != 0 || mode & rule.needed != rule.needed;
        is_wrong.then_some(Self { file, mode, rule })
    }

    fn repaired_mode(&self) -> u32 {
        (self.mode & !self.rule.forbidden) | self.rule.needed
    }

    /// What is wrong, in a sentence.
    pub fn sentence(&self) -> String {
        let Self { file, mode, rule } = self;
        let (file, what, advice) = (file.display(), rule.what, rule.advice);
        let wrong = if mode & rule.needed != rule.needed {
            return format!("{file}: you cannot use {what} (mode {mode:03o})");
        } else if mode & rule.forbidden & 0o022 != 0 {
            "can be changed by others"
        } else {
            "can be read by others"
        };
        format!("{file}: {what} {wrong} on this machine (mode {mode:03o}){advice}")
    }

    /// The command that repairs it.
    pub fn command(&self) -> String {
        format!(
            "chmod {:03o} {}",
            self.repaired_mode(),
            super::arguments::shell_quoted(&self.file.to_string_lossy())
        )
    }

    /// Gives the file the permissions that it should have.
    pub fn repair(&self) -> Result<(), CliError> {
        let file = &self.file;
        system::set_mode(file, self.repaired_mode()).map_err(|why| match why.kind() {
            std::io::ErrorKind::PermissionDenied => {
                CliError::file(file, "it belongs to another user: ask that user, or `sudo chown` it")
            }
            _ => CliError::file(file, format!("its permissions cannot be changed: {why}")),
        })?;
        match Self::of(file.clone(), self.rule) {
            None => Ok(()),
            Some(_) => {
                Err(CliError::file(file, "its file system keeps no permissions: move it to another one"))
            }
        }
    }

    /// As JSON.
    pub fn document(&self) -> Value {
        json!({
            "file": self.file, "mode": format!("{:03o}", self.mode), "wanted": format!("{:03o}", self.repaired_mode()),
            "problem": self.sentence(),
        })
    }
}

#[cfg(unix)]
mod system {
    use std::os::unix::fs::PermissionsExt;

    use super::Path;

    pub(super) fn mode(file: &Path) -> Option<u32> {
        std::fs::metadata(file).ok().map(|found| found.permissions().mode() & 0o777)
    }

    pub(super) fn set_mode(file: &Path, mode: u32) -> std::io::Result<()> {
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode))
    }
}

#[cfg(not(unix))]
mod system {
    use super::Path;

    /// Access lists of other systems are not looked at.
    pub(super) fn mode(_: &Path) -> Option<u32> {
        None
    }

    pub(super) fn set_mode(_: &Path, _: u32) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn open_files_are_found_and_repaired() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("keys")).unwrap();
        for (name, mode) in [
            ("keys", 0o755),
            ("keys/agon.key", 0o644),
            ("agon.db", 0o640),
            ("agon.toml", 0o666),
            ("tokens", 0o604),
        ] {
            if name != "keys" {
                std::fs::write(path(name), "x").unwrap();
            }
            system::set_mode(&path(name), mode).unwrap();
        }
        let files = PrivateFiles {
            keys_folder: Some(path("keys")),
            store: Some(path("agon.db")),
            configuration: Some(path("agon.toml")),
            token_file: Some(path("tokens")),
        };
        let problems = files.problems();
        let found: Vec<(&str, u32)> = problems
            .iter()
            .map(|problem| (problem.file.file_name().unwrap().to_str().unwrap(), problem.repaired_mode()))
            .collect();
        let wanted = [
            ("keys", 0o700),
            ("agon.key", 0o600),
            ("agon.db", 0o600),
            ("agon.toml", 0o644),
            ("tokens", 0o600),
        ];
        assert_eq!(found, wanted);
        assert!(
            problems[1].sentence().contains("can be read by others on this machine (mode 644); if somebody")
        );
        assert!(problems[3].sentence().contains("can be changed by others"));
        assert!(
            problems[1].command().starts_with("chmod 600 ")
                && problems[1].command().ends_with("/keys/agon.key")
        );
        problems.iter().for_each(|problem| problem.repair().unwrap());
        assert_eq!(files.problems(), []);
    }

    #[test]
    fn what_the_owner_cannot_use_is_found_and_what_is_not_there_is_no_problem() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("agon.db");
        let files = PrivateFiles {
            store: Some(store.clone()),
            keys_folder: Some("/no/such".into()),
            ..Default::default()
        };
        assert_eq!(files.problems(), []);
        std::fs::write(&store, "").unwrap();
        system::set_mode(&store, 0o400).unwrap();
        let problems = files.problems();
        assert!(problems[0].sentence().contains("you cannot use the store (mode 400)"), "{problems:?}");
        problems[0].repair().unwrap();
        assert_eq!(system::mode(&store), Some(0o600));
    }
}
