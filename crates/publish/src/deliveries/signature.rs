//! How a receiver checks that a callback is genuine.
//!
//! A callback has the header `Agon-Signature: t=UNIX,v1=HEX`. `HEX` is the HMAC-SHA256 of the seconds in `t`, a full stop
//! and the body, with a secret that both sides know. The time is signed too, so that nobody can send an old callback again.

use agon_core::event::hex;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The header with the signature.
pub const HEADER: &str = "Agon-Signature";
/// The environment variable with the secret, unless the configuration names another.
pub const CALLBACK_SECRET: &str = "AGON_CALLBACK_SECRET";

/// Why a signature is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The header has another form.
    #[error("the signature is not of the form t=SECONDS,v1=HEX: refuse the callback")]
    Unreadable,
    /// The secret or the body is another.
    #[error("the signature does not match the secret and the body: refuse the callback")]
    Wrong,
    /// It is too old, or from the future.
    #[error("the time of the signature is too far from now: refuse the callback, or correct the clock")]
    Stale,
}

/// The value of the header for a body that is sent at `now_s`.
pub fn sign(secret: &str, now_s: i64, body: &[u8]) -> String {
    let sum = mac(secret, now_s, body).map(|mac| hex(&mac.finalize().into_bytes()));
    format!("t={now_s},v1={}", sum.unwrap_or_default())
}

/// Checks the header of a callback that arrived at `now_s`, in constant time. The time in the header may differ from now
/// by at most `tolerance_s`.
pub fn verify_signature(
    secret: &str,
    header: &str,
    body: &[u8],
    now_s: i64,
    tolerance_s: i64,
) -> Result<(), SignatureError> {
    let parts = header.split(',').map(|part| part.trim().split_once('=').unwrap_or((part, "")));
    let value = |name: &str| parts.clone().find(|(key, _)| *key == name).map(|(_, value)| value);
    let at_s: i64 = value("t").and_then(|at| at.parse().ok()).ok_or(SignatureError::Unreadable)?;
    let sum = value("v1").and_then(decode_hex).ok_or(SignatureError::Unreadable)?;
    let mac = mac(secret, at_s, body).ok_or(SignatureError::Unreadable)?;
    mac.verify_slice(&sum).map_err(|_| SignatureError::Wrong)?;
    let age_s = now_s.checked_sub(at_s).and_then(i64::checked_abs);
    if age_s.is_some_and(|age_s| age_s <= tolerance_s) { Ok(()) } else { Err(SignatureError::Stale) }
}

/// HMAC accepts a key of any length, so this is never `None`.
fn mac(secret: &str, at_s: i64, body: &[u8]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
    mac.update(at_s.to_string().as_bytes());
    mac.update(b".");
    mac.update(body);
    Some(mac)
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sha2::Digest;

    use super::*;

    /// HMAC as RFC 2104 defines it, without the crate.
    fn hmac_by_hand(secret: &[u8], text: &[u8]) -> String {
        let mut key = [0_u8; 64];
        let short = if secret.len() > 64 { Sha256::digest(secret).to_vec() } else { secret.to_vec() };
        key[..short.len()].copy_from_slice(&short);
        let inner = Sha256::digest([key.map(|byte| byte ^ 0x36).as_slice(), text].concat());
        hex(&Sha256::digest([key.map(|byte| byte ^ 0x5c).as_slice(), &inner].concat()))
    }

    #[test]
    fn the_signature_matches_the_published_example() {
        // RFC 4231, test case 2. It cannot be used directly because the time and the full stop are signed too.
        let want = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(hmac_by_hand(b"Jefe", b"what do ya want for nothing?"), want);
        assert_eq!(sign("Jefe", 7, b"{}"), format!("t=7,v1={}", hmac_by_hand(b"Jefe", b"7.{}")));
    }

    #[test]
    fn wrong_and_old_signatures_are_refused() {
        let header = sign("secret", 1_000, b"{}");
        let check = |secret: &str, header: &str, body: &[u8], now_s| {
            verify_signature(secret, header, body, now_s, 300)
        };
        for now_s in [700, 1_000, 1_300] {
            assert_eq!(check("secret", &header, b"{}", now_s), Ok(()));
        }
        assert_eq!(check("secret", &header, b"{}", 1_301), Err(SignatureError::Stale));
        assert_eq!(check("secret", &header, b"{}", 699), Err(SignatureError::Stale));
        assert_eq!(check("secret", &header, b"{ }", 1_000), Err(SignatureError::Wrong));
        assert_eq!(check("Secret", &header, b"{}", 1_000), Err(SignatureError::Wrong));
        let later = header.replace("t=1000", "t=1001");
        assert_eq!(check("secret", &later, b"{}", 1_000), Err(SignatureError::Wrong), "the time is signed");
        let spaced = header.replace(',', ", ");
        assert_eq!(check("secret", &spaced, b"{}", 1_000), Ok(()));
        let ancient = sign("secret", i64::MIN, b"{}");
        assert_eq!(check("secret", &ancient, b"{}", i64::MAX), Err(SignatureError::Stale));
        for header in
            ["", "t=1000", "v1=00", "t=soon,v1=00", "t=1000,v1=xy", "t=1000,v1=\u{e9}", "t=1000,v1=0"]
        {
            assert_eq!(check("secret", header, b"{}", 1_000), Err(SignatureError::Unreadable), "{header}");
        }
        let half: String = header.chars().take(20).collect();
        assert_eq!(check("secret", &half, b"{}", 1_000), Err(SignatureError::Wrong), "half a signature");
    }

    proptest! {
        #[test]
        fn every_signature_matches_the_definition(
            secret in ".{0,100}", now_s: i64, body in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let header = sign(&secret, now_s, &body);
            let text = [format!("{now_s}.").as_bytes(), &body].concat();
            prop_assert_eq!(&header, &format!("t={now_s},v1={}", hmac_by_hand(secret.as_bytes(), &text)));
            prop_assert_eq!(verify_signature(&secret, &header, &body, now_s, 0), Ok(()));
        }
    }
}
