//! A small, complete debate to make receipts of, played with invented replies by the real protocols.

use std::collections::BTreeMap;

use agon_core::document::document;
use agon_core::play::{invent, play};
use agon_core::{
    Ask, Brief, BriefFile, Debate, DebateLimits, LOG_VERSION, LogRecord, Protocol, Reply, Request, options,
    protocol,
};
use agon_publish::receipts::envelope::SignedEnvelope;
use agon_publish::receipts::{
    KeyStanding, KnownKey, Receipt, ReceiptSubject, ReceiptVerification, ReplayContext, SecretKey, issue,
    verify,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

pub(crate) const SIGNED_AT: &str = "2026-02-01T08:30:00Z";

pub(crate) const CONTEXT: ReplayContext<'static> =
    ReplayContext { protocol: &agon_protocols::find, outcome: &outcome };

pub(crate) fn brief(protocol: &dyn Protocol, question: &str, given: &[(&str, &str)]) -> Brief {
    let given = given.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let request = Request {
        question: question.into(),
        files: vec![BriefFile { path: "plan.md".into(), text: "Adopt the queue.\n".into(), part: None }],
        models: ["one/a", "two/b", "three/c"].map(String::from).to_vec(),
        roles: BTreeMap::new(),
        options: options::resolve(protocol.info().options, given).unwrap(),
        seed: 7,
    };
    Brief {
        version: LOG_VERSION,
        id: "calm-otter-7".into(),
        protocol: protocol.info().name.into(),
        seats: protocol.seats(&request).unwrap(),
        question: request.question,
        files: request.files,
        options: request.options,
        // Larger than the whole numbers that a double can represent.
        seed: u64::MAX,
        nonce: "nonce".into(),
        limits: DebateLimits::default(),
        templates: protocol::template_hashes(protocol),
        written_by: "0.1.0".into(),
        created_at: "2026-01-31T23:59:58Z".into(),
        parent: None,
    }
}

/// Plays a whole debate. A reply that breaks a rule is invented again, up to 20 times.
pub(crate) fn play_debate(protocol: &dyn Protocol, brief: Brief) -> Vec<LogRecord> {
    let records = vec![Debate::open(brief).unwrap().1];
    let mut answer = |debate: &Debate, ask: &Ask| {
        let mut tries = (0..20).map(|more| invent(protocol, debate, ask, 3 + 1000 * more));
        let said = tries.find(|reply| matches!(reply, Reply::Said { .. }));
        said.unwrap_or_else(|| invent(protocol, debate, ask, 3))
    };
    play(protocol, records, &mut answer, &mut |_| {}).unwrap()
}

pub(crate) fn small_debate() -> Vec<LogRecord> {
    let deep = agon_protocols::find("deep").unwrap();
    let question = "Should the team adopt the queue? Müller asks: \"why\"";
    play_debate(deep, brief(deep, question, &[("min_rounds", "1"), ("max_rounds", "1")]))
}

/// The outcome document, with a small evidence section.
pub(crate) fn outcome(debate: &Debate) -> Value {
    let spoke: Vec<Vec<&str>> = debate.brief.seats.iter().map(|seat| debate.spoke(&seat.id)).collect();
    document(debate, json!({"phases": debate.turns.len(), "spoke": spoke}))
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
