//! A small, complete debate to make receipts of.

use agon_core::document::document;
use agon_core::{Debate, LogRecord};
use agon_publish::receipts::envelope::SignedEnvelope;
use agon_publish::receipts::{
    KeyStanding, KnownKey, Receipt, ReceiptSubject, ReceiptVerification, ReplayContext, SecretKey,
    SignedOutcome, issue, verify,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::played_debate::{brief, play_debate};

pub(crate) const SIGNED_AT: &str = "2026-02-01T08:30:00Z";

pub(crate) const CONTEXT: ReplayContext<'static> =
    ReplayContext { protocol: &agon_protocols::find, outcome: &read_outcome };

pub(crate) fn small_debate() -> Vec<LogRecord> {
    let deep = agon_protocols::find("deep").unwrap();
    let question = "Should the team adopt the queue? Müller asks: \"why\"";
    play_debate(deep, brief(deep, question, &[("min_rounds", "1"), ("max_rounds", "1")]), 3)
}

/// The outcome, with a small evidence section.
pub(crate) fn outcome(debate: &Debate) -> SignedOutcome {
    read_outcome(debate).unwrap()
}

fn read_outcome(debate: &Debate) -> Result<SignedOutcome, String> {
    let protocol = agon_protocols::find(&debate.brief.protocol).ok_or("there is no such protocol")?;
    let votes = protocol.view(debate).map_err(|why| why.to_string())?.votes;
    let spoke: Vec<Vec<&str>> = debate.brief.seats.iter().map(|seat| debate.spoke(&seat.id)).collect();
    let document = document(debate, json!({"phases": debate.turns.len(), "spoke": spoke}));
    Ok(SignedOutcome { document, votes })
}

/// The body and the hash of each record.
pub(crate) fn raw_log(records: &[LogRecord]) -> Vec<(String, String)> {
    records.iter().map(|record| (record.body.clone(), record.hash.clone())).collect()
}

pub(crate) fn receipt(records: &[LogRecord], key: &SecretKey) -> String {
    let (debate, log) = (Debate::from_records(records).unwrap(), raw_log(records));
    let outcome = outcome(&debate);
    let subject = ReceiptSubject { outcome: &outcome, debate: &debate, log: Some(&log), secrets: &[] };
    issue(&subject, key, SIGNED_AT).unwrap()
}

pub(crate) fn statement_of(receipt: &str) -> Value {
    let receipt: Receipt = serde_json::from_str(receipt).unwrap();
    serde_json::from_slice(&STANDARD.decode(receipt.receipt.payload).unwrap()).unwrap()
}

pub(crate) fn check(text: &str, known: &[KnownKey]) -> ReceiptVerification {
    verify(text.as_bytes(), known, &CONTEXT)
}

pub(crate) fn trusted(key: &SecretKey) -> Vec<KnownKey> {
    vec![KnownKey { key: key.public(), standing: KeyStanding::Trusted { name: "alice".into() } }]
}

/// The receipt with a changed statement that is signed again.
pub(crate) fn resign(text: &str, key: &SecretKey, change: impl FnOnce(&mut Value)) -> String {
    let mut receipt: Receipt = serde_json::from_str(text).unwrap();
    let mut statement = statement_of(text);
    change(&mut statement);
    receipt.receipt = SignedEnvelope::sign(&statement, key).unwrap();
    receipt.public_key = key.public().to_string();
    serde_json::to_string_pretty(&receipt).unwrap()
}

/// A receipt of the small debate, and the key that signed it.
pub(crate) struct SampleReceipt {
    pub(crate) text: String,
    pub(crate) key: SecretKey,
}

impl SampleReceipt {
    pub(crate) fn new() -> Self {
        // A fixed key, so that a failure can be reproduced.
        let key = SecretKey::from_bytes(&[7; 32]);
        Self { text: receipt(&small_debate(), &key), key }
    }

    pub(crate) fn parsed(&self) -> Receipt {
        serde_json::from_str(&self.text).unwrap()
    }

    /// The keyring of the signer.
    pub(crate) fn known(&self) -> Vec<KnownKey> {
        vec![KnownKey { key: self.key.public(), standing: KeyStanding::Own }]
    }

    /// Checks a changed receipt with the keyring of the signer.
    pub(crate) fn check(&self, changed: &Receipt) -> ReceiptVerification {
        check(&serde_json::to_string(changed).unwrap(), &self.known())
    }

    /// The file with one byte replaced.
    pub(crate) fn with_byte(&self, at: usize, byte: u8) -> Vec<u8> {
        let mut changed = self.text.clone().into_bytes();
        changed[at] = byte;
        changed
    }

    /// Where a text is in the file.
    pub(crate) fn range_of(&self, text: &str) -> std::ops::Range<usize> {
        let start = self.text.find(text).unwrap_or_else(|| panic!("no {text}"));
        start..start + text.len()
    }
}
