//! The file and the payload in it, or the place at which they cannot be read.

use serde::de::IgnoredAny;
use serde_json::Value;

use super::Verification;
use crate::canonical;
use crate::difference::excerpt;
use crate::envelope::{Envelope, PAYLOAD_TYPE, decode};
use crate::file::Receipt;
use crate::trail;

/// What was signed.
pub(super) struct Payload {
    pub(super) bytes: Vec<u8>,
    /// What it says, if it can be read.
    pub(super) statement: Option<Value>,
}

/// The file, or a finding that says where it is broken.
pub(super) fn file(bytes: &[u8], told: &mut Verification) -> Option<Receipt> {
    let broken: serde_json::Error = match serde_json::from_slice::<IgnoredAny>(bytes) {
        Err(broken) => broken,
        Ok(_) => match serde_json::from_slice::<Receipt>(bytes) {
            Ok(receipt) => return Some(receipt),
            Err(broken) => broken,
        },
    };
    let place = place_of(bytes, &broken);
    let within = if place.is_empty() { String::new() } else { format!(", in `{place}`") };
    let why = format!(
        "line {}, column {}{within}: this is not as agon writes a receipt: {}",
        broken.line(),
        broken.column(),
        without_place(&broken)
    );
    match event_of(&place) {
        Some(event) => told.find_event(place, event, format!("event {event}: {why}")),
        None => told.find(place, why),
    }
    None
}

/// The payload of an envelope, with findings where it is not as Agon writes it.
pub(super) fn payload(envelope: &Envelope, told: &mut Verification) -> Option<Payload> {
    const PLACE: &str = "receipt.payload";
    if envelope.payload_type != PAYLOAD_TYPE {
        let why = format!("the payload's type is {:?} instead of {PAYLOAD_TYPE:?}", envelope.payload_type);
        told.find("receipt.payloadType", why);
    }
    let bytes = match decode(&envelope.payload) {
        Ok(bytes) => bytes,
        Err(why) => {
            let within = within_base64(&envelope.payload);
            told.find(PLACE, format!("the receipt's payload is not base64{within}: {why}"));
            return None;
        }
    };
    let statement: Value = match serde_json::from_slice(&bytes) {
        Ok(statement) => statement,
        Err(why) => {
            let offset = trail::offset(&bytes, &why);
            let (path, around) = (trail::path(&bytes, offset), around(&bytes, offset));
            let why = format!(
                "the statement in the payload was changed: it is no JSON at byte {offset}, in `{path}`, {around} ({})",
                without_place(&why)
            );
            told.find_field(&path, why);
            return Some(Payload { bytes, statement: None });
        }
    };
    if !canonical::text(&statement).is_ok_and(|text| text.as_bytes() == bytes) {
        told.find(PLACE, "the statement in the payload was changed: it is not in canonical JSON (RFC 8785)");
    }
    Some(Payload { bytes, statement: Some(statement) })
}

/// The value that a parser stopped in. Agon writes one a line, so that what is before the line is whole, whatever a change made of
/// the line itself.
fn place_of(bytes: &[u8], broken: &serde_json::Error) -> String {
    let offset = trail::offset(bytes, broken);
    let line = offset - bytes.iter().take(offset).rev().take_while(|byte| **byte != b'\n').count();
    let name = bytes.iter().skip(line).take(offset - line).position(|byte| *byte == b':');
    let upto = match name {
        Some(name) if line > 0 => line + name + 1,
        _ => offset,
    };
    let place = trail::path(bytes, upto);
    let part = place.split(['.', '[']).next().unwrap_or_default();
    if ["receipt", "public_key", "log"].contains(&part) { place } else { String::new() }
}

/// The event that a path leads to.
fn event_of(path: &str) -> Option<u64> {
    path.strip_prefix("log[")?.split_once(']')?.0.parse().ok()
}

/// Where in the statement a base64 text breaks off.
fn within_base64(text: &str) -> String {
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let good = text.bytes().take_while(|byte| is_base64(byte)).count();
    let whole = text.get(..good - good % 4).and_then(|text| decode(text).ok()).unwrap_or_default();
    let path = trail::path(&whole, whole.len());
    format!(" at character {good}, in `{path}` of the statement")
}

fn around(bytes: &[u8], offset: usize) -> String {
    let before = String::from_utf8_lossy(bytes.get(..offset).unwrap_or_default());
    let text = String::from_utf8_lossy(bytes);
    let place = before.chars().count();
    format!("around {}", excerpt(&text, place.saturating_sub(24), place))
}

/// The parser's words without its own "at line 1 column 2", which stands elsewhere.
fn without_place(error: &serde_json::Error) -> String {
    let said = error.to_string();
    said.rsplit_once(" at line ").map_or(said.clone(), |(why, _)| why.to_owned())
}
