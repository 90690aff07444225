//! The keys of one person: your own key, your retired keys, and the keys of others that you trust.
//!
//! ```text
//! agon.key           your private key, readable by you only
//! agon.pub           its public half
//! retired/ID.pub     public halves of your retired keys
//! trusted/NAME.pub   public keys of others
//! ```

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use agon_host::{FileAccess, write_atomic};
use serde::Serialize;

use super::keys::{InvalidKey, PublicKey, SecretKey};

/// The name of the private key in its folder.
pub const KEY_FILE: &str = "agon.key";
const PUBLIC_FILE: &str = "agon.pub";
const LOCK_FILE: &str = "lock";
const RETIRED_FOLDER: &str = "retired";
const TRUSTED_FOLDER: &str = "trusted";
const NAME_CHARS_MAX: usize = 64;

/// What can go wrong with a keyring.
#[derive(Debug, thiserror::Error)]
pub enum KeyringError {
    /// The system refused access to a file.
    #[error("{}: {why}", file.display())]
    File {
        file: PathBuf,
        /// The reason.
        why: io::Error,
    },
    /// Others can read the private key.
    #[error(
        "{}: others on this machine can read this private key (mode {mode:03o}) and sign as you: replace it with \
         `agon keys rotate`; use `chmod 600` only if you are sure that nobody has read it", file.display()
    )]
    Open { file: PathBuf, mode: u32 },
    /// The private key is damaged.
    #[error("{}: this file is not a private key of agon: restore it from a copy, or move it away to get a new key", file.display())]
    Damaged { file: PathBuf },
    /// A public key is damaged.
    #[error("{}: {why}", file.display())]
    Public {
        file: PathBuf,
        /// The reason.
        why: InvalidKey,
    },
    /// A key could not be made or parsed.
    #[error(transparent)]
    Key(#[from] InvalidKey),
    /// A name with other characters, or too long.
    #[error(
        "{0:?} cannot be a name: use at most 64 letters, digits, `.`, `_` and `-`, and begin with a letter or digit"
    )]
    Name(String),
    /// A name that another key has.
    #[error(
        "you already trust another key ({id}) as {name}: choose another name, or run `agon keys distrust {name}` first"
    )]
    Taken {
        name: String,
        /// The id of its key.
        id: String,
    },
    /// A key that is already on the keyring.
    #[error("this key ({id}) is already on your keyring: it is {standing}")]
    Known {
        id: String,
        /// What it is to you.
        standing: KeyStanding,
    },
    /// No key has this name.
    #[error("you trust no key as {0}: `agon keys show` lists the keys you trust")]
    Unknown(String),
}

/// What a key is to the owner of a keyring.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "standing")]
pub enum KeyStanding {
    /// The owner's key.
    Own,
    /// A key that the owner replaced.
    Retired {
        /// When, RFC 3339.
        at: String,
    },
    /// The key of somebody the owner trusts.
    Trusted {
        /// The name that the owner gave it.
        name: String,
    },
}

impl std::fmt::Display for KeyStanding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Own => write!(f, "your own key"),
            Self::Retired { at } => write!(f, "a key of your own that was retired at {at}"),
            Self::Trusted { name } => write!(f, "the key that you trust as {name}"),
        }
    }
}

/// A key on a keyring.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KnownKey {
    pub key: PublicKey,
    /// What it is to the owner.
    #[serde(flatten)]
    pub standing: KeyStanding,
}

/// A folder of keys. The folder is created when the first key is written.
#[derive(Debug, Clone)]
pub struct Keyring {
    folder: PathBuf,
}

impl Keyring {
    /// The keyring in this folder, which need not exist.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Your own key, created on first use. Two processes that create it at the same time get the same key.
    pub fn key(&self) -> Result<SecretKey, KeyringError> {
        let _lock = self.lock()?;
        let key = match self.read_key()? {
            Some(key) => key,
            None => self.make_key()?,
        };
        self.write_own_public(&key)?;
        Ok(key)
    }

    /// The public half of your own key; `None` if you have none yet.
    pub fn own(&self) -> Result<Option<PublicKey>, KeyringError> {
        if let Some((key, _)) = read_public(&self.folder.join(PUBLIC_FILE))? {
            return Ok(Some(key));
        }
        Ok(self.read_key()?.map(|key| key.public()))
    }

    /// Replaces your own key with a new one and returns the old and the new. The old private key is deleted. Its public
    /// half stays on the keyring with the time of its retirement.
    pub fn rotate(&self, now: &str) -> Result<(Option<PublicKey>, PublicKey), KeyringError> {
        let _lock = self.lock()?;
        // A key that others could read is a good reason to rotate, so the mode is not checked here.
        let old = read_secret_any_mode(&self.folder.join(KEY_FILE))?.map(|key| key.public());
        if let Some(old) = &old {
            let file = self.folder.join(RETIRED_FOLDER).join(format!("{}.pub", old.id()));
            write_public(&file, old, &format!("retired {now}"))?;
        }
        // If this process dies between the two writes, `own` reads the private key and not an outdated public file.
        remove(&self.folder.join(PUBLIC_FILE))?;
        let new = self.make_key()?;
        self.write_own_public(&new)?;
        Ok((old, new.public()))
    }

    /// Trusts somebody's key under a name.
    pub fn trust(&self, name: &str, key: &PublicKey, now: &str) -> Result<(), KeyringError> {
        check_name(name)?;
        let _lock = self.lock()?;
        for known in self.known()? {
            // Some file systems do not tell apart names that differ only in case.
            let same_name = matches!(&known.standing, KeyStanding::Trusted { name: other } if other.eq_ignore_ascii_case(name));
            if known.key == *key {
                return Err(KeyringError::Known { id: key.id(), standing: known.standing });
            }
            if same_name {
                return Err(KeyringError::Taken { name: name.to_owned(), id: known.key.id() });
            }
        }
        write_public(&self.trusted_file(name), key, &format!("trusted {now}"))
    }

    /// Stops trusting a key: somebody else's by its name, or one of your retired keys by its id, for example because it
    /// was stolen.
    pub fn distrust(&self, name: &str) -> Result<PublicKey, KeyringError> {
        check_name(name)?;
        let _lock = self.lock()?;
        let retired = self.folder.join(RETIRED_FOLDER).join(format!("{name}.pub"));
        let file = if retired.exists() { retired } else { self.trusted_file(name) };
        let (key, _) = read_public(&file)?.ok_or_else(|| KeyringError::Unknown(name.to_owned()))?;
        remove(&file)?;
        Ok(key)
    }

    /// Every key on the keyring: your own, the retired ones, and the trusted ones by name.
    pub fn known(&self) -> Result<Vec<KnownKey>, KeyringError> {
        let own = self.own()?;
        let mut known: Vec<KnownKey> =
            own.iter().map(|key| KnownKey { key: key.clone(), standing: KeyStanding::Own }).collect();
        for (_, key, at) in read_public_folder(&self.folder.join(RETIRED_FOLDER), "retired")? {
            // A rotation that was interrupted has listed the key as retired although it is still in use.
            if own.as_ref() != Some(&key) {
                known.push(KnownKey { key, standing: KeyStanding::Retired { at } });
            }
        }
        for (name, key, _) in read_public_folder(&self.folder.join(TRUSTED_FOLDER), "trusted")? {
            known.push(KnownKey { key, standing: KeyStanding::Trusted { name } });
        }
        Ok(known)
    }

    /// The folder of this keyring.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn trusted_file(&self, name: &str) -> PathBuf {
        self.folder.join(TRUSTED_FOLDER).join(format!("{name}.pub"))
    }

    /// Creates the folder if needed. Other processes wait until the returned file is dropped.
    fn lock(&self) -> Result<File, KeyringError> {
        make_folder(&self.folder)?;
        let path = self.folder.join(LOCK_FILE);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(file_error(&path))?;
        match file.lock() {
            // Some network file systems have no locks. There, two first uses at the same moment may create two keys, and
            // the later one wins.
            Err(why) if why.kind() != ErrorKind::Unsupported => Err(file_error(&path)(why)),
            _ => Ok(file),
        }
    }

    fn read_key(&self) -> Result<Option<SecretKey>, KeyringError> {
        let file = self.folder.join(KEY_FILE);
        check_mode(&file)?;
        read_secret_any_mode(&file)
    }

    fn make_key(&self) -> Result<SecretKey, KeyringError> {
        let key = SecretKey::make()?;
        write_private(&self.folder.join(KEY_FILE), &format!("{}\n", key.reveal()))?;
        Ok(key)
    }

    fn write_own_public(&self, key: &SecretKey) -> Result<(), KeyringError> {
        let (file, public) = (self.folder.join(PUBLIC_FILE), key.public());
        match read_public(&file) {
            Ok(Some((written, _))) if written == public => Ok(()),
            _ => write_public(&file, &public, ""),
        }
    }
}

/// A name becomes the name of a file, so it must not lead out of the folder or hide the file.
fn check_name(name: &str) -> Result<(), KeyringError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let good = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(plain)
        && name.len() <= NAME_CHARS_MAX;
    if good { Ok(()) } else { Err(KeyringError::Name(name.to_owned())) }
}

/// Refuses a private key that others can read.
#[cfg(unix)]
fn check_mode(file: &Path) -> Result<(), KeyringError> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = match fs::metadata(file) {
        Err(why) if why.kind() == ErrorKind::NotFound => return Ok(()),
        found => found.map_err(file_error(file))?.permissions().mode() & 0o777,
    };
    if mode & 0o077 == 0 { Ok(()) } else { Err(KeyringError::Open { file: file.to_owned(), mode }) }
}

/// On other systems, the folder protects a person's files.
#[cfg(not(unix))]
fn check_mode(_: &Path) -> Result<(), KeyringError> {
    Ok(())
}

fn read_secret_any_mode(file: &Path) -> Result<Option<SecretKey>, KeyringError> {
    let Some(text) = read(file)? else { return Ok(None) };
    let damaged = || KeyringError::Damaged { file: file.to_owned() };
    SecretKey::parse(&text).map(Some).ok_or_else(damaged)
}

/// The public key in a file and the words after it; `None` if there is no such file.
fn read_public(file: &Path) -> Result<Option<(PublicKey, String)>, KeyringError> {
    let Some(text) = read(file)? else { return Ok(None) };
    let (key, words) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    let key = PublicKey::parse(key).map_err(|why| KeyringError::Public { file: file.to_owned(), why })?;
    Ok(Some((key, words.to_owned())))
}

/// The public keys in a folder, sorted by name: the name of the file, the key, and the time after `word`.
fn read_public_folder(folder: &Path, word: &str) -> Result<Vec<(String, PublicKey, String)>, KeyringError> {
    let entries = match fs::read_dir(folder) {
        Err(why) if why.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(file_error(folder))?,
    };
    let mut keys = Vec::new();
    for entry in entries {
        let file = entry.map_err(file_error(folder))?.path();
        let Some(name) = file.file_name().and_then(|name| name.to_str()?.strip_suffix(".pub")) else {
            continue;
        };
        if let Some((key, words)) = read_public(&file)? {
            let at = words.strip_prefix(word).unwrap_or_default().trim().to_owned();
            keys.push((name.to_owned(), key, at));
        }
    }
    keys.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(keys)
}

fn write_public(file: &Path, key: &PublicKey, words: &str) -> Result<(), KeyringError> {
    if let Some(folder) = file.parent() {
        make_folder(folder)?;
    }
    write_private(file, &format!("{}\n", format!("{key} {words}").trim()))
}

fn write_private(file: &Path, text: &str) -> Result<(), KeyringError> {
    write_atomic(file, text.as_bytes(), FileAccess::OwnerOnly).map_err(file_error(file))
}

fn remove(file: &Path) -> Result<(), KeyringError> {
    match fs::remove_file(file) {
        Err(why) if why.kind() != ErrorKind::NotFound => Err(file_error(file)(why)),
        _ => Ok(()),
    }
}

fn read(file: &Path) -> Result<Option<String>, KeyringError> {
    match fs::read_to_string(file) {
        Err(why) if why.kind() == ErrorKind::NotFound => Ok(None),
        read => read.map(Some).map_err(file_error(file)),
    }
}

fn make_folder(folder: &Path) -> Result<(), KeyringError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(file_error(folder))
}

fn file_error(file: &Path) -> impl Fn(io::Error) -> KeyringError {
    move |why| KeyringError::File { file: file.to_owned(), why }
}
