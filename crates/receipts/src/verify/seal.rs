//! Whose key it is, and whether the signature fits.

use super::{Signer, Verification};
use crate::envelope::{PAYLOAD_TYPE, Signature, decode, signed_bytes};
use crate::file::Receipt;
use crate::key::{PublicKey, mended};
use crate::keyring::{Known, Standing};

/// A signature as far as it can be checked.
pub(super) struct Seal {
    key: Option<PublicKey>,
    signature: Option<[u8; 64]>,
    /// Whether the payload is what was signed; `None` where that cannot be told.
    pub(super) valid: Option<bool>,
}

impl Seal {
    /// Whether these bytes are what was signed.
    pub(super) fn fits(&self, payload: &[u8]) -> bool {
        match (&self.key, &self.signature) {
            (Some(key), Some(signature)) => key.signed(&signed_bytes(PAYLOAD_TYPE, payload), signature),
            _ => false,
        }
    }
}

/// Checks who signed the payload.
pub(super) fn check(
    receipt: &Receipt,
    payload: Option<&[u8]>,
    known: &[Known],
    told: &mut Verification,
) -> Seal {
    let [signed] = receipt.receipt.signatures.as_slice() else {
        let count = receipt.receipt.signatures.len();
        told.find("receipt.signatures", format!("a receipt has one signature, and this has {count}"));
        return Seal { key: None, signature: None, valid: None };
    };
    let signature = signature_of(signed, told);
    let mut seal = Seal { key: PublicKey::parse(&receipt.public_key).ok(), signature, valid: None };
    let named = seal.key.as_ref().is_some_and(|key| key.id() == signed.keyid);
    if !named {
        let fits = payload.is_some_and(|payload| seal.fits(payload));
        if fits {
            let why = format!(
                "the key's id was changed: it is {:?}, but the signature is by another key",
                signed.keyid
            );
            told.find("receipt.signatures[0].keyid", why);
        } else {
            seal.key = other_key(receipt, signed, known, told);
        }
    }
    seal.valid =
        payload.filter(|_| seal.key.is_some() && seal.signature.is_some()).map(|payload| seal.fits(payload));
    if let Some(key) = seal.key.as_ref().filter(|_| seal.valid == Some(true)) {
        let standing = known.iter().find(|known| known.key == *key).map(|known| known.standing.clone());
        told.signer = Some(Signer { key: key.to_string(), id: key.id(), standing });
    }
    seal
}

/// A retired key signs nothing any more: who still does so is not its owner.
pub(super) fn after_retirement(told: &mut Verification) {
    let Some(Signer { standing: Some(Standing::Retired { at }), .. }) = &told.signer else { return };
    // Both are RFC 3339 in UTC, so that the order of the texts is that of the times.
    if told.signed_at.as_ref().is_some_and(|signed_at| signed_at > at) {
        let why = format!(
            "it says that it was signed at {}, after its key was retired at {at}: somebody else may have that key",
            told.signed_at.as_deref().unwrap_or_default()
        );
        told.find_field("predicate.signed_at", why);
    }
}

fn signature_of(signed: &Signature, told: &mut Verification) -> Option<[u8; 64]> {
    let place = "receipt.signatures[0].sig";
    let bytes = match decode(&signed.sig) {
        Ok(bytes) => bytes,
        Err(why) => {
            told.find(place, format!("the signature was changed: it is not base64 ({why})"));
            return None;
        }
    };
    let signature = <[u8; 64]>::try_from(bytes).ok();
    if signature.is_none() {
        told.find(place, "the signature was changed: it is not 64 bytes long");
    }
    signature
}

/// The key that the signature names, where the one in the file is another.
fn other_key(
    receipt: &Receipt,
    signed: &Signature,
    known: &[Known],
    told: &mut Verification,
) -> Option<PublicKey> {
    let found = PublicKey::parse(&receipt.public_key);
    let what = match &found {
        Ok(key) => format!("its id is {}, but the signature names the key {:?}", key.id(), signed.keyid),
        Err(why) => why.to_string(),
    };
    if let Some(known) = known.iter().find(|known| known.key.id() == signed.keyid) {
        let why = format!("the public key was changed: {what}, which is {}", known.standing);
        told.find("public_key", why);
        return Some(known.key.clone());
    }
    let mended = mended(&receipt.public_key, &signed.keyid);
    match &mended {
        Some(key) => {
            let why = format!("the public key was changed: {what}; the key of that id is {key}");
            told.find("public_key", why);
        }
        None if found.is_ok() => {
            let why = format!(
                "the public key, or the signature's key id beside it, was changed: {what}; who signed cannot be told"
            );
            told.find("public_key", why);
        }
        None => {
            told.find("public_key", format!("the public key was changed: {what}; who signed cannot be told"))
        }
    }
    mended
}
