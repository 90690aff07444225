//! The file, the payload in it, and its signature.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{ReceiptSigner, ReceiptVerification};
use crate::receipts::envelope::{
    EnvelopeSignature, PAYLOAD_TYPE, SignedEnvelope, canonical_json, signed_bytes,
};
use crate::receipts::keyring::{KeyStanding, KnownKey};
use crate::receipts::keys::PublicKey;
use crate::receipts::receipt::Receipt;

/// Parses the file, or adds a finding that says where it is broken.
pub(super) fn parse_receipt(bytes: &[u8], result: &mut ReceiptVerification) -> Option<Receipt> {
    let (path, error) = match parse_json(bytes) {
        Ok(receipt) => return Some(receipt),
        Err(broken) => broken,
    };
    let place = place_in_receipt(bytes, path, error.line());
    let inside = if place.is_empty() { String::new() } else { format!(", in `{place}`") };
    let why = format!(
        "line {}, column {}{inside}: this is not a receipt as agon writes it: {}",
        error.line(),
        error.column(),
        without_position(&error)
    );
    let event = place.strip_prefix("log[").and_then(|rest| rest.split_once(']')?.0.parse().ok());
    match event {
        Some(event) => result.add_event(place, event, format!("event {event}: {why}")),
        None => result.add(place, why),
    }
    None
}

/// The place in the file for a parser that stopped on this line, in this path. A change can end a string early, so that
/// the parser stops far from the change. Agon writes every value on a line of its own, so the line is still right.
fn place_in_receipt(bytes: &[u8], path: String, line: usize) -> String {
    let lines = || bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_start).take(line);
    let is_in_record =
        lines().last().is_some_and(|line| line.starts_with(b"\"hash\":") || line.starts_with(b"\"body\":"));
    if is_in_record {
        let records = lines().filter(|line| line.starts_with(b"\"hash\":")).count();
        let record = format!("log[{}]", records.saturating_sub(1));
        return if path.starts_with(&record) { path } else { record };
    }
    // A changed name of a part is not a place in a receipt.
    let part = path.split(['.', '[']).next().unwrap_or_default();
    if ["receipt", "public_key", "log"].contains(&part) { path } else { String::new() }
}

/// The bytes of the payload.
pub(super) fn decode_payload(envelope: &SignedEnvelope, result: &mut ReceiptVerification) -> Option<Vec<u8>> {
    if envelope.payload_type != PAYLOAD_TYPE {
        let why =
            format!("the type of the payload is {:?} instead of {PAYLOAD_TYPE:?}", envelope.payload_type);
        result.add("receipt.payloadType", why);
    }
    let decoded = STANDARD.decode(&envelope.payload);
    decoded.map_err(|why| result.add("receipt.payload", format!("the payload is not base64: {why}"))).ok()
}

/// The statement in a payload.
pub(super) fn parse_statement(payload: &[u8], result: &mut ReceiptVerification) -> Option<Value> {
    let statement: Value = match parse_json(payload) {
        Ok(statement) => statement,
        Err((path, error)) => {
            let inside = if path.is_empty() { String::new() } else { format!(" in `{path}`") };
            let why = without_position(&error);
            result.add_field(&path, format!("the statement was changed: it is not JSON{inside} ({why})"));
            return None;
        }
    };
    if !canonical_json(&statement).is_ok_and(|text| text.as_bytes() == payload) {
        result.add("receipt.payload", "the statement was changed: it is not canonical JSON (RFC 8785)");
    }
    Some(statement)
}

/// Parses JSON. An error comes with the path at which the parser stopped, which is empty at the top.
fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, (String, serde_json::Error)> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let parsed = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        (if path == "." { String::new() } else { path }, error.into_inner())
    })?;
    json.end().map_err(|error| (String::new(), error))?;
    Ok(parsed)
}

/// The parser's words without its own "at line 1 column 2".
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(why, _)| why.to_owned())
}

/// A signature and the key to check it with, as far as they can be read.
pub(in crate::receipts) struct CheckedSignature {
    key: Option<PublicKey>,
    bytes: Option<[u8; 64]>,
    /// Whether the payload is what was signed; `None` if that cannot be checked.
    pub(in crate::receipts) valid: Option<bool>,
}

impl CheckedSignature {
    /// Whether these bytes are what was signed.
    pub(super) fn matches(&self, payload: &[u8]) -> bool {
        match (&self.key, &self.bytes) {
            (Some(key), Some(bytes)) => key.signed(&signed_bytes(PAYLOAD_TYPE, payload), bytes),
            _ => false,
        }
    }
}

/// Checks the signature and finds out who signed.
pub(super) fn check_signature(
    receipt: &Receipt,
    payload: Option<&[u8]>,
    known: &[KnownKey],
    result: &mut ReceiptVerification,
) -> CheckedSignature {
    let [signature] = receipt.receipt.signatures.as_slice() else {
        let count = receipt.receipt.signatures.len();
        result.add("receipt.signatures", format!("a receipt has one signature, but this one has {count}"));
        return CheckedSignature { key: None, bytes: None, valid: None };
    };
    let bytes = signature_bytes(signature, result);
    let mut checked =
        CheckedSignature { key: PublicKey::parse(&receipt.public_key).ok(), bytes, valid: None };
    if checked.key.as_ref().is_none_or(|key| key.id() != signature.keyid) {
        if payload.is_some_and(|payload| checked.matches(payload)) {
            let why = format!("the key id was changed: it is {:?}, but another key signed", signature.keyid);
            result.add("receipt.signatures[0].keyid", why);
        } else {
            checked.key = key_named_by_signature(receipt, signature, known, result);
        }
    }
    if checked.key.is_some() && checked.bytes.is_some() {
        checked.valid = payload.map(|payload| checked.matches(payload));
    }
    if let Some(key) = checked.key.as_ref().filter(|_| checked.valid == Some(true)) {
        let standing = known.iter().find(|known| known.key == *key).map(|known| known.standing.clone());
        result.signer = Some(ReceiptSigner { key: key.to_string(), id: key.id(), standing });
    }
    checked
}

/// A retired key signs nothing any more, so a later signature is not by its owner.
pub(super) fn check_retirement(result: &mut ReceiptVerification) {
    let Some(ReceiptSigner { standing: Some(KeyStanding::Retired { at }), .. }) = &result.signer else {
        return;
    };
    // Both are RFC 3339 in UTC, so comparing the texts compares the times.
    if let Some(signed_at) = result.signed_at.as_ref().filter(|signed_at| *signed_at > at) {
        let why = format!(
            "it says that it was signed at {signed_at}, after its key was retired at {at}: somebody else may have that key"
        );
        result.add_field("predicate.signed_at", why);
    }
}

fn signature_bytes(signature: &EnvelopeSignature, result: &mut ReceiptVerification) -> Option<[u8; 64]> {
    let why = match STANDARD.decode(&signature.sig).map(<[u8; 64]>::try_from) {
        Ok(Ok(bytes)) => return Some(bytes),
        Ok(Err(_)) => "the signature was changed: it is not 64 bytes long".to_owned(),
        Err(why) => format!("the signature was changed: it is not base64 ({why})"),
    };
    result.add("receipt.signatures[0].sig", why);
    None
}

/// The key with the id that the signature names, if the key in the file is another one.
fn key_named_by_signature(
    receipt: &Receipt,
    signature: &EnvelopeSignature,
    known: &[KnownKey],
    result: &mut ReceiptVerification,
) -> Option<PublicKey> {
    let named = known.iter().find(|known| known.key.id() == signature.keyid);
    let (what, reason) = match PublicKey::parse(&receipt.public_key) {
        Ok(key) => (
            if named.is_some() { "the public key" } else { "the public key or the key id of the signature" },
            format!("the id of the key is {}, but the signature names {:?}", key.id(), signature.keyid),
        ),
        Err(why) => ("the public key", why.to_string()),
    };
    let end = match named {
        Some(known) => format!(", which is {}", known.standing),
        None => "; it is unknown who signed".to_owned(),
    };
    result.add("public_key", format!("{what} was changed: {reason}{end}"));
    named.map(|known| known.key.clone())
}
