//! The programs on this machine that may take a seat: `[commands.NAME]`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use agon_models::{CommandConfig, ModelsConfig};
use serde_json::{Value, json};

/// A program that may take a seat.
pub struct LocalProgram {
    /// `command/NAME`.
    pub model: String,
    program: String,
    path: Option<PathBuf>,
    is_free: bool,
}

/// The programs in the configuration, searched in these folders, as in `PATH`.
pub fn local_programs(config: &ModelsConfig, search_path: Option<&OsStr>) -> Vec<LocalProgram> {
    let program = |(name, command): (&String, &CommandConfig)| {
        let program = command.program.first().cloned().unwrap_or_default();
        let path = find_program(&program, search_path);
        LocalProgram { model: format!("command/{name}"), program, path, is_free: command.free }
    };
    config.commands.iter().map(program).collect()
}

impl LocalProgram {
    /// The state in a word or two.
    pub fn state_word(&self) -> &'static str {
        if self.path.is_some() { "found" } else { "not found" }
    }

    /// What the state means, and what to do.
    pub fn explanation(&self) -> String {
        match &self.path {
            Some(path) => path.display().to_string(),
            None => format!("there is no program {:?}: install it, or give its path", self.program),
        }
    }

    /// The state as JSON.
    pub fn document(&self) -> Value {
        json!({"model": self.model, "program": self.program, "found": self.path, "free": self.is_free})
    }
}

/// A bare name is searched in the folders. A path is used as it is.
fn find_program(program: &str, search_path: Option<&OsStr>) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 || program.starts_with('.') {
        return Some(path.to_owned()).filter(|file| is_executable(file));
    }
    let folders = search_path.map(std::env::split_paths).into_iter().flatten();
    let suffixes = ["", std::env::consts::EXE_SUFFIX];
    let mut files =
        folders.flat_map(|folder| suffixes.map(|suffix| folder.join(format!("{program}{suffix}"))));
    files.find(|file| is_executable(file))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_program_is_found_in_the_path_if_it_is_executable() {
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
        let find = |program: &str| find_program(program, Some(&path));
        assert_eq!(find("agent"), Some(agent.clone()));
        assert_eq!((find("notes"), find("folder"), find("other")), (None, None, None));
        assert_eq!(find_program(agent.to_str().unwrap(), None), Some(agent));
        assert_eq!((find_program(notes.to_str().unwrap(), None), find_program("agent", None)), (None, None));
    }
}
