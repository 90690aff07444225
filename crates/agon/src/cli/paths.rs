//! Where Agon keeps its files.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_store::StoreAddress;

use super::errors::CliError;

/// The name of the configuration file, wherever it is.
pub const CONFIGURATION_FILE: &str = "agon.toml";
const STORE_FILE: &str = "agon.db";

/// How an environment variable is read. Tests pass their own.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// The environment of this process.
pub fn process_env(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// The store that was named, by an option or else by `AGON_DB`, or else [`store_file`]. A server's password can be in `PGPASSWORD`.
pub fn store_address(given: Option<&OsStr>, env: Environment) -> Result<StoreAddress, CliError> {
    let named = given.map(OsStr::to_owned).or_else(|| env("AGON_DB").filter(|value| !value.is_empty()));
    let mut address = match named {
        Some(named) => StoreAddress::parse(&named)?,
        None => StoreAddress::File(store_file(env)?),
    };
    if let Some(password) = env("PGPASSWORD").and_then(|password| password.into_string().ok()) {
        address = address.with_password(&password);
    }
    let seconds = env("AGON_TAKEOVER_S").and_then(|value| value.to_str()?.parse().ok());
    if let Some(takeover_after) = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        address = address.with_takeover_after(takeover_after);
    }
    Ok(address)
}

/// The store if none is named: `AGON_HOME/agon.db`, else `agon.db` in the platform's data folder.
pub fn store_file(env: Environment) -> Result<PathBuf, CliError> {
    data_folder(env).map(|folder| folder.join(STORE_FILE)).ok_or_else(|| {
        CliError::input("there is no folder for the store: neither AGON_HOME nor a home directory is set")
            .with_help("name a store with --db, or set AGON_HOME to a folder")
    })
}

/// The folder for the files of embedded models.
pub fn models_folder(env: Environment) -> Option<PathBuf> {
    data_folder(env).map(|folder| folder.join("models"))
}

/// The folder for the keys that sign receipts.
pub fn keys_folder(env: Environment) -> Option<PathBuf> {
    data_folder(env).map(|folder| folder.join("keys"))
}

/// Whether a configuration file is the user's own. One in the working directory may have come with somebody else's
/// repository.
pub fn is_own_configuration(file: &Path, env: Environment) -> bool {
    let Some((found, own)) = std::fs::canonicalize(file).ok().zip(own_configuration(env)) else {
        return false;
    };
    std::fs::canonicalize(own).is_ok_and(|own| own == found)
}

/// The user's own configuration file, whether it exists or not.
pub fn own_configuration(env: Environment) -> Option<PathBuf> {
    let folder = non_empty(env, "AGON_HOME").or_else(|| platform_folder(env, FolderPurpose::Configuration));
    folder.map(|folder| folder.join(CONFIGURATION_FILE))
}

fn data_folder(env: Environment) -> Option<PathBuf> {
    non_empty(env, "AGON_HOME").or_else(|| platform_folder(env, FolderPurpose::Data))
}

/// The working directory as a provenance names it: below the user's home, with `~` for that.
pub fn working_folder(env: Environment) -> String {
    let Ok(folder) = std::env::current_dir() else { return "an unknown folder".to_owned() };
    let below = non_empty(env, "HOME").and_then(|home| Some(folder.strip_prefix(home).ok()?.to_owned()));
    match below {
        Some(below) if below.as_os_str().is_empty() => "~".to_owned(),
        Some(below) => Path::new("~").join(below).to_string_lossy().into_owned(),
        None => folder.to_string_lossy().into_owned(),
    }
}

fn non_empty(env: Environment, name: &str) -> Option<PathBuf> {
    env(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[derive(Clone, Copy)]
enum FolderPurpose {
    Data,
    Configuration,
}

#[cfg(target_os = "macos")]
fn platform_folder(env: Environment, _: FolderPurpose) -> Option<PathBuf> {
    non_empty(env, "HOME").map(|home| home.join("Library/Application Support/agon"))
}

#[cfg(windows)]
fn platform_folder(env: Environment, _: FolderPurpose) -> Option<PathBuf> {
    non_empty(env, "LOCALAPPDATA").map(|folder| folder.join("agon"))
}

#[cfg(not(any(target_os = "macos", windows)))]
fn platform_folder(env: Environment, purpose: FolderPurpose) -> Option<PathBuf> {
    let (variable, fallback) = match purpose {
        FolderPurpose::Data => ("XDG_DATA_HOME", ".local/share"),
        FolderPurpose::Configuration => ("XDG_CONFIG_HOME", ".config"),
    };
    // The XDG specification says to ignore paths that are not absolute.
    let folder = non_empty(env, variable).filter(|folder| folder.is_absolute());
    let folder = folder.or_else(|| non_empty(env, "HOME").map(|home| home.join(fallback)));
    folder.map(|folder| folder.join("agon"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
        |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
    }

    #[test]
    fn agon_home_overrides_the_platform_folder() {
        let env = environment(&[("AGON_HOME", "/a"), ("HOME", "/h"), ("XDG_DATA_HOME", "/x")]);
        assert_eq!(store_file(&env).unwrap(), PathBuf::from("/a/agon.db"));
        assert_eq!(own_configuration(&env), Some(PathBuf::from("/a/agon.toml")));
    }

    #[test]
    fn the_option_wins_over_agon_db_and_that_over_the_folders() {
        let env = environment(&[("AGON_DB", "postgres://me:secret@host/agon"), ("AGON_HOME", "/a")]);
        let shown = |given: Option<&str>| store_address(given.map(OsStr::new), &env).unwrap().to_string();
        assert_eq!(shown(Some("mine.db")), "mine.db");
        assert_eq!(shown(Some("postgres://you@there/x")), "postgres://you@there/x");
        assert_eq!(shown(None), "postgres://me@host/agon");
        let env = environment(&[("AGON_DB", ""), ("AGON_HOME", "/a")]);
        assert_eq!(store_address(None, &env).unwrap().to_string(), "/a/agon.db");
        assert!(store_address(Some(OsStr::new("postgres://me:secret@host/agon?x=y")), &env).is_err());
    }

    #[test]
    fn only_the_configuration_in_the_users_own_folder_is_the_users_own() {
        let (own, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let files = [own.path().join(CONFIGURATION_FILE), other.path().join(CONFIGURATION_FILE)];
        files.iter().for_each(|file| std::fs::write(file, "").unwrap());
        let own = own.path().join(".");
        let pairs = [("AGON_HOME", own.to_str().unwrap())];
        let env = environment(&pairs);
        assert_eq!(files.map(|file| is_own_configuration(&file, &env)), [true, false]);
        assert!(!is_own_configuration(&other.path().join(CONFIGURATION_FILE), &environment(&[])));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn linux_uses_the_xdg_folders() {
        for (pairs, file) in [
            (&[("HOME", "/h"), ("XDG_DATA_HOME", "/x")][..], "/x/agon/agon.db"),
            (&[("HOME", "/h"), ("XDG_DATA_HOME", "relative")], "/h/.local/share/agon/agon.db"),
            (&[("HOME", "/h"), ("AGON_HOME", "")], "/h/.local/share/agon/agon.db"),
        ] {
            assert_eq!(store_file(&environment(pairs)).unwrap(), PathBuf::from(file));
        }
        let env = environment(&[("HOME", "/h")]);
        assert_eq!(own_configuration(&env), Some(PathBuf::from("/h/.config/agon/agon.toml")));
    }

    #[test]
    fn without_any_home_the_error_says_what_to_set() {
        let error = store_file(&environment(&[])).unwrap_err();
        assert_eq!(error.exit_status(), 2);
        assert!(error.to_string().contains("AGON_HOME"));
    }
}
