//! Ed25519 keys, and how they are written down.

use std::fmt;

use agon_core::event::hex;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

const PUBLIC: &str = "ed25519:";
const SECRET: &str = "ed25519-secret:";
const ID_CHARS: usize = 16;
/// More than any text of a key: what is longer was not made by one changed character.
const TEXT_BYTES_MAX: usize = 64;

/// A text that is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoKey {
    /// It does not begin as keys do.
    #[error("this is no public key: one begins with `{PUBLIC}`, as `agon keys show` prints it")]
    Form,
    /// What follows is not 32 bytes.
    #[error("the public key is damaged: after `{PUBLIC}` come 32 bytes in base64; copy it again, all of it")]
    Bytes,
    /// The bytes are no key that could have signed anything.
    #[error("the public key is damaged: its bytes are no Ed25519 key; copy it again, all of it")]
    Point,
    /// A private key where a public one is wanted.
    #[error("this is a private key: never pass it on; name the file that ends in .pub")]
    Private,
    /// The system gave no randomness.
    #[error("no key can be made: the system gives no randomness ({0})")]
    Randomness(String),
}

/// The half of a key that others may have: it checks signatures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// Reads `ed25519:BASE64`.
    pub fn parse(text: &str) -> Result<Self, NoKey> {
        let text = text.trim();
        if text.starts_with(SECRET) {
            return Err(NoKey::Private);
        }
        let bytes =
            STANDARD.decode(text.strip_prefix(PUBLIC).ok_or(NoKey::Form)?).map_err(|_| NoKey::Bytes)?;
        let bytes: [u8; 32] = bytes.try_into().map_err(|_| NoKey::Bytes)?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| NoKey::Point)?;
        // Under a weak key almost any signature is valid.
        if key.is_weak() { Err(NoKey::Point) } else { Ok(Self(key)) }
    }

    /// The key in what a person passes on: the key itself, a `.pub` file, or a receipt.
    pub fn find(text: &str) -> Result<Self, NoKey> {
        let receipt: Option<Value> = serde_json::from_str(text).ok();
        match receipt.as_ref().and_then(|receipt| receipt.get("public_key")?.as_str()) {
            Some(key) => Self::parse(key),
            None => Self::parse(text.split_whitespace().next().unwrap_or_default()),
        }
    }

    /// A short name: the beginning of the hash of its bytes.
    pub fn id(&self) -> String {
        id(self.0.as_bytes())
    }

    /// Whether the owner of the private half signed just these bytes.
    pub fn signed(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        self.0.verify_strict(message, &Signature::from_bytes(signature)).is_ok()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PUBLIC}{}", STANDARD.encode(self.0.as_bytes()))
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> Self {
        key.to_string()
    }
}

/// The half of a key that signs, and that nobody else may have.
pub struct SecretKey(SigningKey);

impl SecretKey {
    /// A new key, from the system's randomness.
    pub fn make() -> Result<Self, NoKey> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|why| NoKey::Randomness(why.to_string()))?;
        Ok(Self(SigningKey::from_bytes(&bytes)))
    }

    /// The key of these bytes, which must be as random as a key: for tests, and for keys that are made elsewhere.
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(bytes))
    }

    /// Reads what [`SecretKey::reveal`] wrote.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let bytes = STANDARD.decode(text.trim().strip_prefix(SECRET)?).ok()?;
        Some(Self(SigningKey::from_bytes(&bytes.try_into().ok()?)))
    }

    /// The key as its file has it, and nothing else may.
    pub(crate) fn reveal(&self) -> String {
        format!("{SECRET}{}", STANDARD.encode(self.0.as_bytes()))
    }

    /// The half that others may have.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Signs these bytes.
    pub(crate) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey of {}", self.public().id())
    }
}

/// The public key that a text was before one of its characters was changed, if its id is this.
pub(crate) fn mended(text: &str, wanted: &str) -> Option<PublicKey> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=:-";
    if text.len() > TEXT_BYTES_MAX {
        return None;
    }
    let mut bytes = text.as_bytes().to_vec();
    for place in 0..bytes.len() {
        let is = *bytes.get(place)?;
        for was in ALPHABET {
            *bytes.get_mut(place)? = *was;
            let key = std::str::from_utf8(&bytes).ok().and_then(|text| PublicKey::parse(text).ok());
            if let Some(key) = key.filter(|key| key.id() == wanted) {
                return Some(key);
            }
        }
        *bytes.get_mut(place)? = is;
    }
    None
}

fn id(key: &[u8]) -> String {
    hex(&Sha256::digest(key)).chars().take(ID_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_it_is_written() {
        let secret = SecretKey::make().unwrap();
        let public = secret.public();
        assert_eq!(PublicKey::parse(&public.to_string()), Ok(public.clone()));
        assert_eq!(PublicKey::find(&format!("{public} trusted 2026-01-01T00:00:00Z\n")), Ok(public.clone()));
        let receipt = serde_json::json!({"public_key": public.to_string()}).to_string();
        assert_eq!(PublicKey::find(&receipt), Ok(public.clone()));
        assert_eq!(SecretKey::parse(&secret.reveal()).unwrap().public(), public);
    }

    #[test]
    fn what_is_no_key_is_refused_with_its_reason() {
        let secret = SecretKey::make().unwrap();
        let weak = format!("{PUBLIC}{}", STANDARD.encode([0_u8; 32]));
        for (text, why) in [
            ("", NoKey::Form),
            ("ssh-ed25519 AAAA", NoKey::Form),
            ("ed25519:AAAA", NoKey::Bytes),
            ("ed25519:?", NoKey::Bytes),
            (weak.as_str(), NoKey::Point),
            (secret.reveal().as_str(), NoKey::Private),
        ] {
            assert_eq!(PublicKey::find(text), Err(why), "{text}");
        }
    }

    #[test]
    fn a_private_key_is_not_in_what_is_printed_for_debugging() {
        let secret = SecretKey::make().unwrap();
        let printed = format!("{secret:?}");
        assert!(!printed.contains(secret.reveal().strip_prefix(SECRET).unwrap()));
        assert!(printed.contains(&secret.public().id()));
    }

    #[test]
    fn a_key_with_one_wrong_character_is_found_again_by_its_id() {
        let key = SecretKey::make().unwrap().public();
        let text = key.to_string();
        for place in 0..text.len() {
            let mut wrong = text.clone().into_bytes();
            wrong[place] = if wrong[place] == b'A' { b'B' } else { b'A' };
            let wrong = String::from_utf8(wrong).unwrap();
            assert_eq!(mended(&wrong, &key.id()).as_ref(), Some(&key), "{wrong}");
        }
    }
}
