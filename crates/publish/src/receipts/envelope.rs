//! What exactly is signed: canonical JSON (RFC 8785) in a DSSE envelope, version 1.
//!
//! The signature covers the type of the payload together with its bytes, so a signature that was made for one kind of
//! document is never valid for another.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::keys::SecretKey;

/// The type of every payload.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// A statement with its signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SignedEnvelope {
    /// Always [`PAYLOAD_TYPE`].
    pub payload_type: String,
    /// The statement's canonical JSON, in base64.
    pub payload: String,
    /// Exactly one.
    pub signatures: Vec<EnvelopeSignature>,
}

/// A signature and the key it was made with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvelopeSignature {
    /// The id of the key.
    pub keyid: String,
    /// The 64 bytes of the signature, in base64.
    pub sig: String,
}

impl SignedEnvelope {
    /// Signs a statement.
    pub fn sign(statement: &Value, key: &SecretKey) -> Result<Self, serde_json::Error> {
        let payload = canonical_json(statement)?;
        let sig = STANDARD.encode(key.sign(&signed_bytes(PAYLOAD_TYPE, payload.as_bytes())));
        Ok(Self {
            payload_type: PAYLOAD_TYPE.to_owned(),
            payload: STANDARD.encode(payload),
            signatures: vec![EnvelopeSignature { keyid: key.public().id(), sig }],
        })
    }
}

/// The bytes that a signature covers: DSSE's "pre-authentication encoding".
pub fn signed_bytes(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let mut bytes = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len()).into_bytes();
    bytes.extend_from_slice(payload);
    bytes
}

/// The canonical text of a value: keys sorted, no white space, numbers as ECMAScript writes them.
pub fn canonical_json(value: &Value) -> Result<String, serde_json::Error> {
    serde_json_canonicalizer::to_string(value)
}

/// The value as it is read back from its canonical text, which has only one kind of number. Only such a value can be
/// compared with one that was read from a receipt.
pub fn canonical_value(value: &Value) -> Result<Value, serde_json::Error> {
    serde_json::from_str(&canonical_json(value)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the DSSE specification.
    #[test]
    fn signed_bytes_match_the_specification() {
        assert_eq!(
            signed_bytes("http://example.com/HelloWorld", b"hello world"),
            b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
        );
    }
}
