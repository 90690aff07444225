//! Ed25519 keys, and how they are written as text.

use std::fmt;

use agon_core::event::hex;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

const PUBLIC_PREFIX: &str = "ed25519:";
const SECRET_PREFIX: &str = "ed25519-secret:";
const ID_CHARS: usize = 16;

/// Why a text is not a usable key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
    /// It does not begin like a key.
    #[error("this is not a public key: a key begins with `{PUBLIC_PREFIX}`, as `agon keys show` prints it")]
    Form,
    /// The rest is not 32 bytes.
    #[error(
        "the public key is damaged: `{PUBLIC_PREFIX}` must be followed by 32 bytes in base64; copy the whole key again"
    )]
    Bytes,
    /// No key has these bytes.
    #[error("the public key is damaged: its bytes are not an Ed25519 key; copy the whole key again")]
    Point,
    /// A private key where a public key belongs.
    #[error("this is a private key: never give it to anybody; use the file that ends in .pub")]
    Private,
    /// The system has no randomness.
    #[error("no key can be made: the system provides no random numbers ({0})")]
    Randomness(String),
}

/// The half of a key that you give to others. It checks signatures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// Parses `ed25519:BASE64`.
    pub fn parse(text: &str) -> Result<Self, InvalidKey> {
        let text = text.trim();
        if text.starts_with(SECRET_PREFIX) {
            return Err(InvalidKey::Private);
        }
        let encoded = text.strip_prefix(PUBLIC_PREFIX).ok_or(InvalidKey::Form)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| InvalidKey::Bytes)?;
        let bytes: [u8; 32] = bytes.try_into().map_err(|_| InvalidKey::Bytes)?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| InvalidKey::Point)?;
        // Almost any signature is valid under a weak key.
        if key.is_weak() { Err(InvalidKey::Point) } else { Ok(Self(key)) }
    }

    /// Finds the key in what people send each other: the key itself, a line of `agon keys show`, a `.pub` file, or a
    /// receipt.
    pub fn find(text: &str) -> Result<Self, InvalidKey> {
        let receipt: Option<Value> = serde_json::from_str(text).ok();
        if let Some(key) = receipt.as_ref().and_then(|receipt| receipt.get("public_key")?.as_str()) {
            return Self::parse(key);
        }
        let mut words = text.split_whitespace();
        let first = words.clone().next().unwrap_or_default();
        Self::parse(words.find(|word| word.starts_with(PUBLIC_PREFIX)).unwrap_or(first))
    }

    /// A short id: the beginning of the SHA-256 of the key's bytes.
    pub fn id(&self) -> String {
        hex(&Sha256::digest(self.0.as_bytes())).chars().take(ID_CHARS).collect()
    }

    /// Whether `signature` is this key's signature of `message`.
    pub fn signed(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        self.0.verify_strict(message, &Signature::from_bytes(signature)).is_ok()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PUBLIC_PREFIX}{}", STANDARD.encode(self.0.as_bytes()))
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> Self {
        key.to_string()
    }
}

/// The half of a key that signs. Its owner keeps it private.
pub struct SecretKey(SigningKey);

impl SecretKey {
    /// A new key from the system's random numbers.
    pub fn make() -> Result<Self, InvalidKey> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|why| InvalidKey::Randomness(why.to_string()))?;
        Ok(Self(SigningKey::from_bytes(&bytes)))
    }

    /// The key with these bytes, which must be random. For tests, and for keys that are made elsewhere.
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(bytes))
    }

    /// Parses what [`SecretKey::reveal`] wrote.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let bytes = STANDARD.decode(text.trim().strip_prefix(SECRET_PREFIX)?).ok()?;
        Some(Self(SigningKey::from_bytes(&bytes.try_into().ok()?)))
    }

    /// The key as text, for its file only.
    pub(super) fn reveal(&self) -> String {
        format!("{SECRET_PREFIX}{}", STANDARD.encode(self.0.as_bytes()))
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    pub(super) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey of {}", self.public().id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_survives_a_round_trip_through_text() {
        let secret = SecretKey::make().unwrap();
        let public = secret.public();
        assert_eq!(PublicKey::parse(&public.to_string()), Ok(public.clone()));
        assert_eq!(PublicKey::find(&format!("{public} trusted 2026-01-01T00:00:00Z\n")), Ok(public.clone()));
        let receipt = serde_json::json!({"public_key": public.to_string()}).to_string();
        assert_eq!(PublicKey::find(&receipt), Ok(public.clone()));
        assert_eq!(SecretKey::parse(&secret.reveal()).unwrap().public(), public);
    }

    #[test]
    fn a_text_that_is_not_a_key_is_refused_with_a_reason() {
        let secret = SecretKey::make().unwrap();
        let weak = format!("{PUBLIC_PREFIX}{}", STANDARD.encode([0_u8; 32]));
        for (text, why) in [
            ("", InvalidKey::Form),
            ("ssh-ed25519 AAAA", InvalidKey::Form),
            ("ed25519:AAAA", InvalidKey::Bytes),
            ("ed25519:?", InvalidKey::Bytes),
            (weak.as_str(), InvalidKey::Point),
            (secret.reveal().as_str(), InvalidKey::Private),
        ] {
            assert_eq!(PublicKey::find(text), Err(why), "{text}");
        }
    }

    #[test]
    fn debug_output_does_not_contain_the_private_key() {
        let secret = SecretKey::make().unwrap();
        let printed = format!("{secret:?}");
        assert!(!printed.contains(secret.reveal().strip_prefix(SECRET_PREFIX).unwrap()));
        assert!(printed.contains(&secret.public().id()));
    }
}
