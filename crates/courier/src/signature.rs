//! How a receiver knows that a callback is ours.
//!
//! A callback has the header `Agon-Signature: t=UNIX,v1=HEX`. `HEX` is the HMAC-SHA256, with the secret that both sides know,
//! of the seconds in `t`, a full stop and the body. The time is signed too, so that an old callback cannot be sent again.

use agon_core::event::hex;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The header that has the signature.
pub const HEADER: &str = "Agon-Signature";
/// The environment variable with the secret, where no other is named.
pub const CALLBACK_SECRET: &str = "AGON_CALLBACK_SECRET";

/// Why a signature is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsigned {
    /// It is not written as one.
    Unreadable,
    /// It is another's, or the body was changed.
    Wrong,
    /// It was made too long ago, or is not of this time at all.
    Stale,
}

/// The value of the header for a body that is sent at `now_s`.
pub fn sign(secret: &str, now_s: i64, body: &[u8]) -> String {
    let sum = mac(secret, now_s, body).map(|mac| hex(&mac.finalize().into_bytes()));
    format!("t={now_s},v1={}", sum.unwrap_or_default())
}

/// Checks the header of a callback that came at `now_s`. How long that takes says nothing about the secret. One that is more
/// than `tolerance_s` away from now is refused.
pub fn verify(secret: &str, header: &str, body: &[u8], now_s: i64, tolerance_s: i64) -> Result<(), Unsigned> {
    let parts = header.split(',').map(|part| part.trim().split_once('=').unwrap_or((part, "")));
    let value = |name: &str| parts.clone().find(|(key, _)| *key == name).map(|(_, value)| value);
    let (at_s, sum) = (value("t"), value("v1"));
    let at_s: i64 = at_s.and_then(|at| at.parse().ok()).ok_or(Unsigned::Unreadable)?;
    let sum = sum.and_then(bytes).ok_or(Unsigned::Unreadable)?;
    let mac = mac(secret, at_s, body).ok_or(Unsigned::Unreadable)?;
    mac.verify_slice(&sum).map_err(|_| Unsigned::Wrong)?;
    let age_s = now_s.checked_sub(at_s).and_then(i64::checked_abs);
    if age_s.is_some_and(|age_s| age_s <= tolerance_s) { Ok(()) } else { Err(Unsigned::Stale) }
}

impl std::fmt::Display for Unsigned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Unreadable => "the signature is not written as t=SECONDS,v1=HEX: refuse the callback",
            Self::Wrong => "the signature is not of this secret and body: refuse the callback",
            Self::Stale => "the signature is not of this time: refuse the callback, or set the clock right",
        })
    }
}

impl std::error::Error for Unsigned {}

// A key of any length is taken; the type only cannot say so.
fn mac(secret: &str, at_s: i64, body: &[u8]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
    mac.update(at_s.to_string().as_bytes());
    mac.update(b".");
    mac.update(body);
    Some(mac)
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        hex.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let pairs = digits?;
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(high << 4 | low),
        _ => None,
    };
    pairs.chunks(2).map(pair).collect()
}
