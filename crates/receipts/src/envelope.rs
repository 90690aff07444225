//! The envelope around a statement: DSSE, version 1.
//!
//! The signature is over the type and the bytes of the payload together, so that a signature made for one kind of
//! document never fits another.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::canonical;
use crate::key::SecretKey;

/// What the payload is.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// A statement and who signed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Envelope {
    /// Always [`PAYLOAD_TYPE`].
    pub payload_type: String,
    /// The statement's canonical JSON, in base64.
    pub payload: String,
    /// One.
    pub signatures: Vec<Signature>,
}

/// A signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// The id of the key.
    pub keyid: String,
    /// The signature's 64 bytes, in base64.
    pub sig: String,
}

impl Envelope {
    /// Signs a statement.
    pub fn seal(statement: &Value, key: &SecretKey) -> Result<Self, serde_json::Error> {
        let payload = canonical::text(statement)?;
        let sig = STANDARD.encode(key.sign(&signed_bytes(PAYLOAD_TYPE, payload.as_bytes())));
        Ok(Self {
            payload_type: PAYLOAD_TYPE.to_owned(),
            payload: STANDARD.encode(payload),
            signatures: vec![Signature { keyid: key.public().id(), sig }],
        })
    }
}

/// What a signature is over: DSSE's "pre-authentication encoding".
pub fn signed_bytes(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let mut bytes = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len()).into_bytes();
    bytes.extend_from_slice(payload);
    bytes
}

/// The bytes that a base64 text stands for, if it is spelled as Agon spells it.
pub(crate) fn decode(text: &str) -> Result<Vec<u8>, String> {
    STANDARD.decode(text).map_err(|why| why.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification of DSSE.
    #[test]
    fn the_signed_bytes_are_those_of_the_specification() {
        assert_eq!(
            signed_bytes("http://example.com/HelloWorld", b"hello world"),
            b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
        );
    }
}
