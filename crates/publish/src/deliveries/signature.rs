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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sha2::Digest;

    use super::*;

    /// HMAC as RFC 2104 writes it down, without the crate that is tested.
    fn by_hand(secret: &[u8], text: &[u8]) -> String {
        let mut key = [0_u8; 64];
        let short = if secret.len() > 64 { Sha256::digest(secret).to_vec() } else { secret.to_vec() };
        key[..short.len()].copy_from_slice(&short);
        let inner = Sha256::digest([key.map(|byte| byte ^ 0x36).as_slice(), text].concat());
        hex(&Sha256::digest([key.map(|byte| byte ^ 0x5c).as_slice(), &inner].concat()))
    }

    #[test]
    fn the_sum_is_that_of_the_published_example() {
        // RFC 4231, test case 2; the time and the full stop are part of what is signed, so that it cannot be used whole.
        let want = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(by_hand(b"Jefe", b"what do ya want for nothing?"), want);
        assert_eq!(sign("Jefe", 7, b"{}"), format!("t=7,v1={}", by_hand(b"Jefe", b"7.{}")));
    }

    #[test]
    fn what_is_wrong_or_old_is_refused() {
        let header = sign("secret", 1_000, b"{}");
        let check = |secret: &str, header: &str, body: &[u8], now_s| verify(secret, header, body, now_s, 300);
        assert_eq!(check("secret", &header, b"{}", 1_000), Ok(()));
        assert_eq!(
            (check("secret", &header, b"{}", 1_300), check("secret", &header, b"{}", 700)),
            (Ok(()), Ok(()))
        );
        assert_eq!(check("secret", &header, b"{}", 1_301), Err(Unsigned::Stale));
        assert_eq!(check("secret", &header, b"{}", 699), Err(Unsigned::Stale));
        assert_eq!(check("secret", &header, b"{ }", 1_000), Err(Unsigned::Wrong));
        assert_eq!(check("Secret", &header, b"{}", 1_000), Err(Unsigned::Wrong));
        let later = header.replace("t=1000", "t=1001");
        assert_eq!(check("secret", &later, b"{}", 1_000), Err(Unsigned::Wrong), "the time is signed");
        let spaced = header.replace(',', ", ");
        assert_eq!(check("secret", &spaced, b"{}", 1_000), Ok(()));
        let stranger = sign("secret", i64::MIN, b"{}");
        assert_eq!(check("secret", &stranger, b"{}", i64::MAX), Err(Unsigned::Stale));
        for header in
            ["", "t=1000", "v1=00", "t=soon,v1=00", "t=1000,v1=xy", "t=1000,v1=\u{e9}", "t=1000,v1=0"]
        {
            let refused = check("secret", header, b"{}", 1_000);
            assert!(matches!(refused, Err(Unsigned::Unreadable | Unsigned::Wrong)), "{header}: {refused:?}");
        }
        let short: String = sign("secret", 1_000, b"{}").chars().take(20).collect();
        assert_eq!(check("secret", &short, b"{}", 1_000), Err(Unsigned::Wrong), "half a sum is none");
    }

    proptest! {
        #[test]
        fn any_secret_time_and_body_agree_with_the_sum_by_hand(
            secret in ".{0,100}", now_s: i64, body in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let header = sign(&secret, now_s, &body);
            let text = [format!("{now_s}.").as_bytes(), &body].concat();
            prop_assert_eq!(&header, &format!("t={now_s},v1={}", by_hand(secret.as_bytes(), &text)));
            prop_assert_eq!(verify(&secret, &header, &body, now_s, 0), Ok(()));
        }
    }
}
