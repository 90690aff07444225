//! Where Agon keeps its files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::failure::Failure;

/// The name of the configuration file, wherever it is.
pub const CONFIG: &str = "agon.toml";
const STORE: &str = "agon.db";

/// How an environment variable is read; tests have their own environment.
pub type Env<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// The environment of this process.
pub fn env(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// The store's file: `AGON_HOME/agon.db`, else in the platform's data directory.
pub fn store(env: Env) -> Result<PathBuf, Failure> {
    let folder = home(env).or_else(|| platform(env, Purpose::Data));
    folder.map(|folder| folder.join(STORE)).ok_or_else(|| {
        Failure::input("there is no folder for the store: neither AGON_HOME nor a home directory is set")
            .help("name a file with --db FILE, or set AGON_HOME to a folder")
    })
}

/// The folder for the files of embedded models: `AGON_HOME/models`, else in the platform's data directory.
pub fn models(env: Env) -> Option<PathBuf> {
    home(env).or_else(|| platform(env, Purpose::Data)).map(|folder| folder.join("models"))
}

/// The folder for keys: `AGON_HOME/keys`, else in the platform's data directory.
pub fn keys(env: Env) -> Option<PathBuf> {
    home(env).or_else(|| platform(env, Purpose::Data)).map(|folder| folder.join("keys"))
}

/// The configuration files that are looked for when none is named, the first that exists wins.
pub fn configs(env: Env) -> Vec<PathBuf> {
    [Some(PathBuf::from(CONFIG)), own_config(env)].into_iter().flatten().collect()
}

/// Whether a configuration file that was found is the person's own. One that merely lies in the folder may have come
/// with somebody else's work.
pub fn is_own(file: &Path, env: Env) -> bool {
    let Some((found, own)) = std::fs::canonicalize(file).ok().zip(own_config(env)) else { return false };
    std::fs::canonicalize(own).is_ok_and(|own| own == found)
}

fn own_config(env: Env) -> Option<PathBuf> {
    let folder = home(env).or_else(|| platform(env, Purpose::Config));
    folder.map(|folder| folder.join(CONFIG))
}

fn home(env: Env) -> Option<PathBuf> {
    set(env, "AGON_HOME")
}

fn set(env: Env, name: &str) -> Option<PathBuf> {
    env(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[derive(Clone, Copy)]
enum Purpose {
    Data,
    Config,
}

#[cfg(target_os = "macos")]
fn platform(env: Env, _: Purpose) -> Option<PathBuf> {
    set(env, "HOME").map(|home| home.join("Library/Application Support/agon"))
}

#[cfg(windows)]
fn platform(env: Env, _: Purpose) -> Option<PathBuf> {
    set(env, "LOCALAPPDATA").map(|folder| folder.join("agon"))
}

#[cfg(not(any(target_os = "macos", windows)))]
fn platform(env: Env, purpose: Purpose) -> Option<PathBuf> {
    let (variable, fallback) = match purpose {
        Purpose::Data => ("XDG_DATA_HOME", ".local/share"),
        Purpose::Config => ("XDG_CONFIG_HOME", ".config"),
    };
    // The XDG rules: a path that is not absolute is to be ignored.
    let folder = set(env, variable).filter(|folder| folder.is_absolute());
    folder.or_else(|| set(env, "HOME").map(|home| home.join(fallback))).map(|folder| folder.join("agon"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
        |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
    }

    #[test]
    fn agon_home_overrides_the_platforms_directory() {
        let env = environment(&[("AGON_HOME", "/a"), ("HOME", "/h"), ("XDG_DATA_HOME", "/x")]);
        assert_eq!(store(&env).unwrap(), PathBuf::from("/a/agon.db"));
        assert_eq!(configs(&env), [PathBuf::from("agon.toml"), PathBuf::from("/a/agon.toml")]);
    }

    #[test]
    fn a_configuration_is_ones_own_only_where_one_keeps_it() {
        let (own, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let files = [own.path().join(CONFIG), other.path().join(CONFIG)];
        files.iter().for_each(|file| std::fs::write(file, "").unwrap());
        let own = own.path().join(".");
        let pairs = [("AGON_HOME", own.to_str().unwrap())];
        let env = environment(&pairs);
        assert_eq!(files.map(|file| is_own(&file, &env)), [true, false]);
        assert!(!is_own(&other.path().join(CONFIG), &environment(&[])));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn linux_keeps_to_the_xdg_directories() {
        for (pairs, file) in [
            (&[("HOME", "/h"), ("XDG_DATA_HOME", "/x")][..], "/x/agon/agon.db"),
            (&[("HOME", "/h"), ("XDG_DATA_HOME", "relative")], "/h/.local/share/agon/agon.db"),
            (&[("HOME", "/h"), ("AGON_HOME", "")], "/h/.local/share/agon/agon.db"),
        ] {
            assert_eq!(store(&environment(pairs)).unwrap(), PathBuf::from(file));
        }
        let env = environment(&[("HOME", "/h")]);
        assert_eq!(configs(&env).last().unwrap(), &PathBuf::from("/h/.config/agon/agon.toml"));
    }

    #[test]
    fn without_any_home_the_sentence_says_what_to_set() {
        let failure = store(&environment(&[])).unwrap_err();
        assert_eq!(failure.status(), 2);
        assert!(failure.to_string().contains("AGON_HOME"));
    }
}
