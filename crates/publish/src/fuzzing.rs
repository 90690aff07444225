//! What must hold for any receipt and any log that somebody hands in. The tests and the fuzz targets `receipts` and `logs` call it.
//!
//! The bytes are changes to a real receipt or log, so that what follows a change keeps its meaning.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use agon_core::document::document;
use agon_core::event::{GENESIS, sha256};
use agon_core::play::{invent, play};
use agon_core::protocol::check_brief;
use agon_core::{
    Ask, Brief, BriefFile, BrokenChain, Debate, DebateLimits, LOG_VERSION, LogRecord, Protocol, Request,
    advance, options, protocol,
};
use serde_json::{Value, json};

use crate::receipts::{
    KeyStanding, KnownKey, Receipt, ReceiptSubject, ReplayContext, SecretKey, SignedOutcome, issue, verify,
};

/// A receipt that the reader's keyring vouches for says what was signed and has the log that was signed, whatever was changed in the
/// file. Bytes that start with a brace are a file of their own.
pub fn receipts(bytes: &[u8]) {
    static SIGNED: LazyLock<(String, Receipt, Vec<KnownKey>)> = LazyLock::new(|| {
        let key = SecretKey::from_bytes(&[7; 32]);
        let records = played(agon_protocols::PLAIN_VOTE);
        let (debate, log) = (Debate::from_records(&records).unwrap(), raw(&records));
        let outcome = read_outcome(&debate).unwrap();
        let subject = ReceiptSubject { outcome: &outcome, debate: &debate, log: Some(&log), secrets: &[] };
        let text = issue(&subject, &key, "2026-02-01T08:30:00Z").unwrap();
        let receipt = serde_json::from_str(&text).unwrap();
        (text, receipt, vec![KnownKey { key: key.public(), standing: KeyStanding::Own }])
    });
    const CONTEXT: ReplayContext<'static> =
        ReplayContext { protocol: &agon_protocols::find, outcome: &read_outcome };
    const WITHOUT_REPLAY: ReplayContext<'static> = ReplayContext { protocol: &|_| None, ..CONTEXT };
    // A replay takes much longer than all the rest, so few receipts get one.
    let context = if bytes.len().is_multiple_of(32) { &CONTEXT } else { &WITHOUT_REPLAY };
    let (text, signed, known) = &*SIGNED;
    let file = if bytes.starts_with(b"{") { bytes.to_vec() } else { changed(text.as_bytes(), bytes) };
    let result = verify(&file, known, context);
    assert_eq!(result.is_intact(), result.findings.is_empty());
    if !result.is_trusted() {
        assert_ne!(result.answer(), "signed_and_replayed");
        return;
    }
    let receipt: Receipt = serde_json::from_slice(&file).expect("a trusted receipt can be read");
    assert_eq!(statement(&receipt), statement(signed), "another statement is trusted");
    assert!(receipt.log.is_none() || receipt.log == signed.log, "another log is trusted");
    assert!(receipt.log.is_some() || !result.is_replayed(), "nothing was replayed");
}

fn statement(receipt: &Receipt) -> Value {
    use base64::Engine as _;
    let payload = base64::engine::general_purpose::STANDARD.decode(&receipt.receipt.payload);
    serde_json::from_slice(&payload.expect("a trusted payload can be decoded")).expect("and read")
}

/// A log of a debate, and the debate before each of its events.
struct SampleLog {
    protocol: &'static dyn Protocol,
    records: Vec<LogRecord>,
    before: Vec<Debate>,
}

impl SampleLog {
    fn new(protocol: &'static dyn Protocol) -> Self {
        let records = played(protocol);
        let before = (1..records.len()).map(|end| Debate::from_records(&records[..end]).unwrap()).collect();
        Self { protocol, records, before }
    }
}

/// A changed event is refused by its hash. With a new hash it is read or refused with a sentence, and so is the debate with it: no reader
/// and no protocol is stopped by it. The first byte chooses the protocol and the second one the event.
pub fn logs(bytes: &[u8]) {
    static LOGS: LazyLock<Vec<SampleLog>> =
        LazyLock::new(|| agon_protocols::all().map(SampleLog::new).collect());
    let [first, second, changes @ ..] = bytes else { return };
    let SampleLog { protocol, records, before } = &LOGS[usize::from(*first) % LOGS.len()];
    let place = usize::from(*second) % records.len();
    let (seq, record) = (place as u64, &records[place]);
    let previous = place.checked_sub(1).map_or(GENESIS, |place| records[place].hash.as_str());
    let body = changed(record.body.as_bytes(), changes);
    let body = String::from_utf8_lossy(&body).into_owned();
    if body != record.body {
        let found = LogRecord::open(seq, body.clone(), record.hash.clone(), previous);
        assert!(matches!(found, Err(BrokenChain::Hash { seq: named, .. }) if named == seq), "{found:?}");
    }
    let hash = sha256(&format!("{previous}{body}"));
    let Ok(forged) = LogRecord::open(seq, body, hash, previous) else { return };
    let debate = match place.checked_sub(1).map(|place| &before[place]) {
        None => Debate::from_records(std::slice::from_ref(&forged)),
        Some(before) => {
            let mut debate = before.clone();
            debate.apply(&forged).map(|()| debate)
        }
    };
    let Ok(debate) = debate else { return };
    read_outcome(&debate).ok();
    let is_waiting = debate.turns.iter().any(|turn| turn.outstanding().next().is_some());
    if debate.outcome.is_none() && !is_waiting && check_brief(*protocol, &debate.brief).is_ok() {
        advance(*protocol, &debate).ok();
    }
}

/// Applies changes: each has a place in two bytes, how much is removed there, how much is inserted, and what.
fn changed(original: &[u8], changes: &[u8]) -> Vec<u8> {
    let mut bytes = original.to_vec();
    let mut rest = changes;
    while let [high, low, removed, inserted, more @ ..] = rest {
        let place = (usize::from(*high) << 8 | usize::from(*low)) % (bytes.len() + 1);
        let end = (place + usize::from(*removed % 64)).min(bytes.len());
        let (insert, more) = more.split_at(usize::from(*inserted % 64).min(more.len()));
        bytes.splice(place..end, insert.iter().copied());
        rest = more;
    }
    bytes
}

fn raw(records: &[LogRecord]) -> Vec<(String, String)> {
    records.iter().map(|record| (record.body.clone(), record.hash.clone())).collect()
}

fn read_outcome(debate: &Debate) -> Result<SignedOutcome, String> {
    let protocol = agon_protocols::find(&debate.brief.protocol).ok_or("there is no such protocol")?;
    let votes = protocol.view(debate).map_err(|why| why.to_string())?.votes;
    Ok(SignedOutcome { document: document(debate, json!({"phases": debate.turns.len()})), votes })
}

/// A short debate with made-up answers.
fn played(protocol: &'static dyn Protocol) -> Vec<LogRecord> {
    // As few rounds as possible.
    let is_few = |key: &str| ["rounds", "max_rounds", "min_rounds"].contains(&key);
    let set = protocol
        .info()
        .options
        .iter()
        .filter(|option| is_few(option.key))
        .map(|option| (option.key.to_owned(), "1".to_owned()));
    let request = Request {
        question: "Should the team adopt the queue?".into(),
        files: vec![BriefFile { path: "plan.md".into(), text: "Adopt the queue.\n".into(), part: None }],
        models: ["one/a", "two/b"].map(String::from).to_vec(),
        roles: BTreeMap::new(),
        options: options::resolve(protocol.info().options, set).unwrap(),
        seed: 7,
    };
    let brief = Brief {
        version: LOG_VERSION,
        id: "calm-otter-7".into(),
        protocol: protocol.info().name.into(),
        seats: protocol.seats(&request).unwrap(),
        question: request.question,
        files: request.files,
        options: request.options,
        seed: 7,
        nonce: "nonce".into(),
        limits: DebateLimits::default(),
        templates: protocol::template_hashes(protocol),
        written_by: "0.1.0".into(),
        created_at: "2026-01-31T23:59:58Z".into(),
        parent: None,
    };
    let mut answer = |debate: &Debate, ask: &Ask| invent(protocol, debate, ask, 3);
    play(protocol, vec![Debate::open(brief).unwrap().1], &mut answer, &mut |_| {}).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a forger would put in the place of something else.
    const PIECES: &[&str] = &[
        "\0\0\0\u{1}x",
        "\u{1}\0\u{1}\u{1}7",
        "\u{2}\u{10}\u{1}\u{1}0",
        "\u{4}\u{20}\0\u{3}\\u0",
        "\u{3}\u{7f}\u{6}\u{6}absent",
        "\u{5}\u{5}\u{1}\u{1}}",
        "\u{6}\u{1}\u{3f}\0",
        "\u{7}\u{33}\u{2}\u{5}\"x\":",
        "\u{1}\u{1}\u{1}\u{2}\n\n",
        "{}",
        "{\"receipt\":{}}",
        "\u{8}\u{8}\u{4}\u{4}null",
        "\u{2}\u{2}\u{1}\u{9}999999999",
        "\u{c}\u{c}\u{1}\u{2}[]",
    ];

    #[test]
    fn no_change_at_all_to_a_receipt_is_trusted() {
        agon_fuzzing::check("receipts", PIECES, receipts);
    }

    #[test]
    fn no_change_at_all_to_a_log_goes_unnoticed_or_stops_a_reader() {
        agon_fuzzing::check("logs", PIECES, logs);
    }
}
