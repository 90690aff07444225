//! What is on this machine for a debate: the files of embedded models, and the programs that may take a seat.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use agon_embedded::{KNOWN, Known, Shelf, State};
use agon_models::Config;
use serde_json::{Value, json};

use super::pull::size;

/// An embedded model, and what is here of it.
pub struct Files {
    /// The model.
    pub known: &'static Known,
    /// The folder of its files.
    pub place: PathBuf,
    /// What is there.
    pub state: State,
}

/// All embedded models that can be fetched by name.
pub fn files(shelf: &Shelf) -> Vec<Files> {
    let look = |known: &'static Known| Files { known, place: shelf.place(known), state: shelf.state(known) };
    KNOWN.iter().map(look).collect()
}

impl Files {
    /// As it is named at the table.
    pub fn model(&self) -> String {
        match self.known.name {
            "minilm" => "embeddings/minilm".to_owned(),
            name => format!("embedded/{name}"),
        }
    }

    /// Its state in a word or two.
    pub fn word(&self) -> &'static str {
        match self.state {
            State::Missing => "not here",
            State::Partial { .. } => "in part",
            State::Present { .. } => "ready",
            State::Unchecked { .. } => "unchecked",
            State::Wrong { .. } => "wrong",
        }
    }

    /// What that means, and what to do.
    pub fn more(&self) -> String {
        let (name, bytes, place) = (self.known.name, self.known.bytes(), self.place.display());
        match &self.state {
            State::Missing => format!("`agon models pull {name}` ({})", size(bytes)),
            State::Partial { done_bytes, .. } => {
                let (done, bytes) = (size(*done_bytes), size(bytes));
                format!("{done} of {bytes}: `agon models pull {name}` goes on")
            }
            State::Present { .. } => format!("{} in {place}", size(bytes)),
            State::Unchecked { .. } => format!("`agon models verify {name}` checks {place}"),
            State::Wrong { why } => format!("{why}; `agon models pull {name}` puts it right"),
        }
    }

    /// The same as data.
    pub fn document(&self) -> Value {
        let (paths, problem) = match &self.state {
            State::Present { paths } | State::Unchecked { paths } => (paths.clone(), None),
            State::Wrong { why } => (Vec::new(), Some(why)),
            State::Missing | State::Partial { .. } => (Vec::new(), None),
        };
        let done_bytes = match self.state {
            State::Missing | State::Wrong { .. } => 0,
            State::Partial { done_bytes, .. } => done_bytes,
            State::Present { .. } | State::Unchecked { .. } => self.known.bytes(),
        };
        json!({
            "model": self.model(), "name": self.known.name, "about": self.known.about, "licence": self.known.licence,
            "state": self.word(), "place": self.place, "files": paths,
            "bytes": self.known.bytes(), "done_bytes": done_bytes, "problem": problem,
        })
    }
}

/// A program that may take a seat.
pub struct Program {
    /// `command/NAME`.
    pub model: String,
    /// As the configuration has it.
    pub program: String,
    /// Where it is, if it is anywhere.
    pub found: Option<PathBuf>,
    /// Whether a call of it costs nothing.
    pub free: bool,
}

/// The programs of `[commands.NAME]`, looked for in these folders, as in `PATH`.
pub fn programs(config: &Config, path: Option<&OsStr>) -> Vec<Program> {
    let look = |(name, command): (&String, &agon_models::CommandConfig)| {
        let program = command.program.first().cloned().unwrap_or_default();
        let found = find(&program, path);
        Program { model: format!("command/{name}"), program, found, free: command.free }
    };
    config.commands.iter().map(look).collect()
}

impl Program {
    /// Its state in a word or two.
    pub fn word(&self) -> &'static str {
        if self.found.is_some() { "found" } else { "not found" }
    }

    /// What that means, and what to do.
    pub fn more(&self) -> String {
        match &self.found {
            Some(path) => path.display().to_string(),
            None => format!("there is no program {:?}: install it, or give its path", self.program),
        }
    }

    /// The same as data.
    pub fn document(&self) -> Value {
        json!({"model": self.model, "program": self.program, "found": self.found, "free": self.free})
    }
}

/// A bare name is looked for in the folders, a path is taken as it is.
fn find(program: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    let written = Path::new(program);
    if written.components().count() > 1 || program.starts_with('.') {
        return Some(written.to_owned()).filter(|file| runs(file));
    }
    let folders = path.map(std::env::split_paths).into_iter().flatten();
    let suffixes = ["", std::env::consts::EXE_SUFFIX];
    let files = folders.flat_map(|folder| suffixes.map(|suffix| folder.join(format!("{program}{suffix}"))));
    files.into_iter().find(|file| runs(file))
}

#[cfg(unix)]
fn runs(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn runs(file: &Path) -> bool {
    file.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_program_is_found_in_the_path_if_it_can_be_run() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, mode: u32| {
            let file = folder.path().join(name);
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            file
        };
        let (agent, notes) = (file("agent", 0o755), file("notes", 0o644));
        std::fs::create_dir(folder.path().join("folder")).unwrap();
        let path = std::env::join_paths([Path::new("/none"), folder.path()]).unwrap();
        let found = |program: &str| find(program, Some(&path));
        assert_eq!(found("agent"), Some(agent.clone()));
        assert_eq!((found("notes"), found("folder"), found("other")), (None, None, None));
        assert_eq!(find(agent.to_str().unwrap(), None), Some(agent));
        assert_eq!((find(notes.to_str().unwrap(), None), find("agent", None)), (None, None));
    }

    #[test]
    fn every_state_of_a_models_files_says_what_to_do() {
        let known = &KNOWN[0];
        let files = |state| Files { known, place: "/models/smollm2".into(), state };
        let paths = vec![PathBuf::from("/models/smollm2/x.gguf")];
        for (state, word, more) in [
            (State::Missing, "not here", "`agon models pull smollm2` (98.4 MB)"),
            (State::Partial { done_bytes: 5_000_000, total_bytes: 9 }, "in part", "5.0 MB of 98.4 MB"),
            (State::Present { paths: paths.clone() }, "ready", "98.4 MB in /models/smollm2"),
            (State::Unchecked { paths }, "unchecked", "agon models verify smollm2"),
            (
                State::Wrong { why: "x.gguf is too short".into() },
                "wrong",
                "x.gguf is too short; `agon models pull",
            ),
        ] {
            let files = files(state);
            assert_eq!(files.word(), word);
            assert!(files.more().contains(more), "{}", files.more());
            assert_eq!(files.document()["state"], word);
        }
    }
}
