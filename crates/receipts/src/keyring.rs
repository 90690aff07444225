//! The keys of one person: the own one, those that were retired, and those of others that are trusted.
//!
//! ```text
//! agon.key           the private key, for its owner's eyes only
//! agon.pub           its public half
//! retired/ID.pub     public halves of own keys that were given up
//! trusted/NAME.pub   public keys of others
//! ```

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::key::{NoKey, PublicKey, SecretKey};

mod place;

const KEY: &str = "agon.key";
const PUBLIC: &str = "agon.pub";
const RETIRED: &str = "retired";
const TRUSTED: &str = "trusted";
const NAME_CHARS_MAX: usize = 64;

/// What can be wrong with a keyring.
#[derive(Debug, thiserror::Error)]
pub enum KeyringError {
    /// The system refuses.
    #[error("{}: {why}", file.display())]
    File {
        /// Which file.
        file: PathBuf,
        /// The system's words.
        why: std::io::Error,
    },
    /// Others can read the private key.
    #[error(
        "{}: others on this machine can read this private key (mode {mode:03o}) and sign as you: `agon keys rotate` makes a \
         new one; `chmod 600` that file only if you are sure that nobody did", file.display()
    )]
    Open {
        /// Which file.
        file: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The private key cannot be read.
    #[error("{}: this is no private key of agon's: restore it from a copy, or move it away and a new one is made", file.display())]
    Damaged {
        /// Which file.
        file: PathBuf,
    },
    /// A public key cannot be read.
    #[error("{}: {why}", file.display())]
    Public {
        /// Which file.
        file: PathBuf,
        /// Why not.
        why: NoKey,
    },
    /// A key could not be made or read.
    #[error(transparent)]
    Key(#[from] NoKey),
    /// A name that cannot be one.
    #[error(
        "{0:?} cannot be a name: use letters, digits, `.`, `_` and `-`, beginning with a letter or digit, at most 64"
    )]
    Name(String),
    /// A name that has another key.
    #[error(
        "another key ({id}) is trusted as {name}: choose another name, or `agon keys distrust {name}` first"
    )]
    Taken {
        /// The name.
        name: String,
        /// The id of its key.
        id: String,
    },
    /// A key that is known already.
    #[error("this key ({id}) is known already: {standing}")]
    Known {
        /// Its id.
        id: String,
        /// As what.
        standing: Standing,
    },
    /// Nothing of that name.
    #[error("no key is trusted as {0}: `agon keys show` lists those that are")]
    Unknown(String),
}

/// What a key is to the owner of a keyring.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "standing")]
pub enum Standing {
    /// The own one.
    Own,
    /// An own one that was given up.
    Retired {
        /// When, RFC 3339.
        at: String,
    },
    /// That of another who is trusted.
    Trusted {
        /// By this name.
        name: String,
    },
}

impl std::fmt::Display for Standing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Own => write!(f, "your own key"),
            Self::Retired { at } => write!(f, "a key of your own that was retired at {at}"),
            Self::Trusted { name } => write!(f, "the key that you trust as {name}"),
        }
    }
}

/// A key and what it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Known {
    /// The key.
    pub key: PublicKey,
    /// What it is.
    #[serde(flatten)]
    pub standing: Standing,
}

/// A line as `agon keys show` prints it: id, key, what it is.
impl std::fmt::Display for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}  {}  {}", self.key.id(), self.key, self.standing)
    }
}

/// A folder of keys. Nothing is made before there is something to keep.
#[derive(Debug, Clone)]
pub struct Keyring {
    folder: PathBuf,
}

impl Keyring {
    /// The keyring in this folder, which need not be there.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The own key, made on first use. Of two processes that make one at once, both get the same.
    pub fn key(&self) -> Result<SecretKey, KeyringError> {
        let _lock = place::lock(&self.folder)?;
        let key = match self.read_key()? {
            Some(key) => key,
            None => self.make_key()?,
        };
        self.write_public(&key)?;
        Ok(key)
    }

    /// The public half of the own key; `None` while there is none.
    pub fn own(&self) -> Result<Option<PublicKey>, KeyringError> {
        if let Some((key, _)) = place::read_public(&self.folder.join(PUBLIC))? {
            return Ok(Some(key));
        }
        Ok(self.read_key()?.map(|key| key.public()))
    }

    /// Gives up the own key for a new one. The old private key is deleted; its public half stays known, with the time.
    pub fn rotate(&self, now: &str) -> Result<(Option<PublicKey>, PublicKey), KeyringError> {
        let _lock = place::lock(&self.folder)?;
        // A key that others could read is just what one gives up, so its mode is no reason to refuse.
        let old = place::read_secret_unguarded(&self.folder.join(KEY))?.map(|key| key.public());
        if let Some(old) = &old {
            let file = self.folder.join(RETIRED).join(format!("{}.pub", old.id()));
            place::write_public(&file, old, &format!("retired {now}"))?;
        }
        // Without this file the key itself is asked, so that a crash in between leaves nothing stale.
        place::remove(&self.folder.join(PUBLIC))?;
        let new = self.make_key()?;
        self.write_public(&new)?;
        Ok((old, new.public()))
    }

    /// Trusts another's key by a name.
    pub fn trust(&self, name: &str, key: &PublicKey, now: &str) -> Result<(), KeyringError> {
        check_name(name)?;
        let _lock = place::lock(&self.folder)?;
        for known in self.known()? {
            // Some disks take names that differ in case for the same.
            let same_name = matches!(&known.standing, Standing::Trusted { name: other } if other.eq_ignore_ascii_case(name));
            if known.key == *key {
                return Err(KeyringError::Known { id: key.id(), standing: known.standing });
            }
            if same_name {
                return Err(KeyringError::Taken { name: name.to_owned(), id: known.key.id() });
            }
        }
        place::write_public(&self.trusted(name), key, &format!("trusted {now}"))
    }

    /// Trusts a key no more: another's by its name, or a retired one of one's own by its id, which somebody else may have got hold of.
    pub fn distrust(&self, name: &str) -> Result<PublicKey, KeyringError> {
        check_name(name)?;
        let _lock = place::lock(&self.folder)?;
        let retired = self.folder.join(RETIRED).join(format!("{name}.pub"));
        let file = if retired.exists() { retired } else { self.trusted(name) };
        let (key, _) = place::read_public(&file)?.ok_or_else(|| KeyringError::Unknown(name.to_owned()))?;
        place::remove(&file)?;
        Ok(key)
    }

    /// Every key that is known: the own one, the retired ones, the trusted ones by name.
    pub fn known(&self) -> Result<Vec<Known>, KeyringError> {
        let own = self.own()?;
        let mut known: Vec<Known> =
            own.iter().map(|key| Known { key: key.clone(), standing: Standing::Own }).collect();
        for (_, key, at) in place::public_keys(&self.folder.join(RETIRED), "retired")? {
            // A rotation that was interrupted has noted the key, but it is still the own one.
            if own.as_ref() != Some(&key) {
                known.push(Known { key, standing: Standing::Retired { at } });
            }
        }
        for (name, key, _) in place::public_keys(&self.folder.join(TRUSTED), "trusted")? {
            known.push(Known { key, standing: Standing::Trusted { name } });
        }
        Ok(known)
    }

    /// Where the keys are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn trusted(&self, name: &str) -> PathBuf {
        self.folder.join(TRUSTED).join(format!("{name}.pub"))
    }

    fn read_key(&self) -> Result<Option<SecretKey>, KeyringError> {
        let file = self.folder.join(KEY);
        place::check_mode(&file)?;
        place::read_secret_unguarded(&file)
    }

    fn make_key(&self) -> Result<SecretKey, KeyringError> {
        let key = SecretKey::make()?;
        place::write(&self.folder.join(KEY), &format!("{}\n", key.reveal()))?;
        Ok(key)
    }

    fn write_public(&self, key: &SecretKey) -> Result<(), KeyringError> {
        let (file, public) = (self.folder.join(PUBLIC), key.public());
        match place::read_public(&file) {
            Ok(Some((told, _))) if told == public => Ok(()),
            _ => place::write_public(&file, &public, ""),
        }
    }
}

/// A name becomes that of a file: it must not lead out of the folder, nor be hidden in it.
fn check_name(name: &str) -> Result<(), KeyringError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let good = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(plain)
        && name.len() <= NAME_CHARS_MAX;
    if good { Ok(()) } else { Err(KeyringError::Name(name.to_owned())) }
}
