//! A debate to make receipts of: small, whole, played with made-up answers by the real protocols.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::collections::BTreeMap;

use agon_core::document::document;
use agon_core::play::{invent, play};
use agon_core::{
    Artifact, Ask, Brief, Debate, LOG_VERSION, Limits, Protocol, Record, Reply, Request, options, protocol,
};
use agon_receipts::envelope::Envelope;
use agon_receipts::file::Receipt;
use agon_receipts::{Known, Means, SecretKey, Standing, Subject, Verification, issue, verify};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

pub(crate) const SIGNED_AT: &str = "2026-02-01T08:30:00Z";

pub(crate) fn brief(protocol: &dyn Protocol, question: &str, given: &[(&str, &str)]) -> Brief {
    let given = given.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let request = Request {
        question: question.into(),
        files: vec![Artifact { path: "plan.md".into(), text: "Adopt the queue.\n".into(), part: None }],
        models: ["one/a", "two/b", "three/c"].map(String::from).to_vec(),
        roles: BTreeMap::new(),
        options: options::resolve(protocol.options(), given).unwrap(),
        seed: 7,
    };
    Brief {
        version: LOG_VERSION,
        id: "calm-otter-7".into(),
        protocol: protocol.name().into(),
        seats: protocol.seats(&request).unwrap(),
        question: request.question,
        files: request.files,
        options: request.options,
        // More than a double can count to.
        seed: u64::MAX,
        limits: Limits::default(),
        templates: protocol::template_hashes(protocol),
        written_by: "0.1.0".into(),
        created_at: "2026-01-31T23:59:58Z".into(),
        parent: None,
    }
}

/// A whole debate. Rules that few made-up answers keep are tried for longer.
pub(crate) fn played(protocol: &dyn Protocol, brief: Brief) -> Vec<Record> {
    let records = vec![Debate::open(brief).unwrap().1];
    let mut answer = |debate: &Debate, ask: &Ask| {
        let mut tries = (0..20).map(|more| invent(protocol, debate, ask, 3 + 1000 * more));
        let said = tries.find(|reply| matches!(reply, Reply::Said { .. }));
        said.unwrap_or_else(|| invent(protocol, debate, ask, 3))
    };
    play(protocol, records, &mut answer, &mut |_| {}).unwrap()
}

pub(crate) fn small() -> Vec<Record> {
    let deep = agon_protocols::find("deep").unwrap();
    let question = "Should the team adopt the queue? Müller asks: \"why\"";
    played(deep, brief(deep, question, &[("min_rounds", "1"), ("max_rounds", "1")]))
}

/// The outcome as the command line works it out, with an evidence section of its own.
pub(crate) fn outcome(debate: &Debate) -> Value {
    let evidence = json!({"phases": debate.turns.len(), "spoke": debate.brief.seats.iter().map(|seat| debate.spoke(&seat.id)).collect::<Vec<_>>()});
    document(debate, evidence)
}

pub(crate) fn raw(records: &[Record]) -> Vec<(String, String)> {
    records.iter().map(|record| (record.body.clone(), record.hash.clone())).collect()
}

/// The receipt of a log.
pub(crate) fn receipt(records: &[Record], key: &SecretKey) -> String {
    let (debate, log) = (Debate::from_records(records).unwrap(), raw(records));
    let outcome = outcome(&debate);
    let subject = Subject { outcome: &outcome, debate: &debate, log: Some(&log), secrets: &[] };
    issue(&subject, key, SIGNED_AT).unwrap()
}

pub(crate) fn means(search_bytes: u64) -> Means<'static> {
    Means { protocol: &agon_protocols::find, outcome: &outcome, search_bytes }
}

/// What a receipt says.
pub(crate) fn statement_of(receipt: &str) -> Value {
    let receipt: Receipt = serde_json::from_str(receipt).unwrap();
    serde_json::from_slice(&STANDARD.decode(receipt.receipt.payload).unwrap()).unwrap()
}

pub(crate) fn checked(text: &str, known: &[Known]) -> Verification {
    verify(text.as_bytes(), known, &means(0))
}

pub(crate) fn trusted(key: &SecretKey) -> Vec<Known> {
    vec![Known { key: key.public(), standing: Standing::Trusted { name: "alice".into() } }]
}

/// The receipt with another statement, signed.
pub(crate) fn resigned(text: &str, key: &SecretKey, change: impl FnOnce(&mut Value)) -> String {
    let mut receipt: Receipt = serde_json::from_str(text).unwrap();
    let mut statement = statement_of(text);
    change(&mut statement);
    receipt.receipt = Envelope::seal(&statement, key).unwrap();
    receipt.public_key = key.public().to_string();
    serde_json::to_string_pretty(&receipt).unwrap()
}

/// A receipt of the small debate, and who signed it.
pub(crate) struct Signed {
    pub(crate) text: String,
    pub(crate) key: SecretKey,
}

impl Signed {
    pub(crate) fn new() -> Self {
        // Always the same, so that a change that goes unnoticed can be made again.
        let key = SecretKey::from_bytes(&[7; 32]);
        Self { text: receipt(&small(), &key), key }
    }

    pub(crate) fn known(&self) -> Vec<Known> {
        vec![Known { key: self.key.public(), standing: Standing::Own }]
    }

    /// The file with another byte in one place.
    pub(crate) fn with(&self, place: usize, byte: u8) -> Vec<u8> {
        let mut changed = self.text.clone().into_bytes();
        changed[place] = byte;
        changed
    }

    /// The places of a text in the file.
    pub(crate) fn places(&self, of: &str) -> std::ops::Range<usize> {
        let start = self.text.find(of).unwrap_or_else(|| panic!("no {of}"));
        start..start + of.len()
    }
}
