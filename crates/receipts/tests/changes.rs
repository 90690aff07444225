//! "`agon verify FILE` ... says exactly what was changed": the sentences, one change after the other.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod table;

use agon_core::event::sha256;
use agon_core::seed::Draw;
use agon_receipts::envelope::Envelope;
use agon_receipts::file::{Link, Receipt};
use agon_receipts::statement::VERSION;
use agon_receipts::verify::{SEARCH_BYTES, State};
use agon_receipts::{SecretKey, verify};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use table::{Signed, means};

/// One change, one finding, and all the rest is as it was: whatever byte of whatever event.
#[test]
fn the_very_byte_of_an_event_is_named() {
    let signed = Signed::new();
    let mut receipt: Receipt = serde_json::from_str(&signed.text).unwrap();
    let mut draw = Draw::new(3, "bytes");
    let log = receipt.log.clone().unwrap();
    for (number, link) in log.iter().enumerate().filter(|(_, link)| link.body.len() < 1500) {
        let place = draw.below(link.body.len());
        let mut bytes = link.body.clone().into_bytes();
        bytes[place] = if bytes[place] == b'7' { b'8' } else { b'7' };
        let Ok(body) = String::from_utf8(bytes) else { continue };
        receipt.log.as_mut().unwrap()[number].body = body;
        let told = verify(
            serde_json::to_string(&receipt).unwrap().as_bytes(),
            &signed.known(),
            &means(SEARCH_BYTES),
        );
        receipt.log = Some(log.clone());
        assert_eq!(told.findings.len(), 1, "{:#?}", told.findings);
        let finding = &told.findings[0];
        assert_eq!(finding.event, Some(number as u64));
        assert!(finding.why.contains(&format!("byte {place} of it")), "{place}: {}", finding.why);
        let wrong = told.checks.iter().filter(|check| check.state != State::Holds).map(|check| check.what);
        assert_eq!(wrong.collect::<Vec<_>>(), ["log"], "{:?}", told.checks);
    }
}

/// The sentences as a person reads them.
#[test]
fn what_was_changed_is_said_in_a_sentence() {
    let signed = Signed::new();
    let said = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let place = signed.places(from).start;
        let changed = [&signed.text[..place], to, &signed.text[place + from.len()..]].concat();
        let told = verify(changed.as_bytes(), &signed.known(), &means(SEARCH_BYTES));
        assert_eq!(told.findings.len(), 1, "{:#?}", told.findings);
        told.findings[0].why.clone()
    };
    let log = serde_json::from_str::<Receipt>(&signed.text).unwrap().log.unwrap();
    insta::assert_snapshot!(said("Should the team", "Should the tram"), @r#"event 0 (opened) was changed: byte 119 of it, in `brief.question`, was "e" and is "r": "Should the team adopt the queue? Müller asks: \"why\"" became "Should the tram adopt the queue? Müller asks: \"why\"""#);
    insta::assert_snapshot!(said("\\\"round\\\":1,\\\"asks", "\\\"round\\\":2,\\\"asks"), @r#"event 8 (asked: debate, round 1) was changed: byte 61 of it, in `round`, was "1" and is "2": 1 became 2"#);
    let reply = log.iter().find(|link| link.body.contains("\"event\":\"replied\"")).unwrap();
    let text = reply.body.split("\"text\":\"").nth(1).unwrap().split('"').next().unwrap();
    insta::assert_snapshot!(said(text, &text.replacen('e', "a", 1)), @r#"event 3 (replied: debater-1, answer, round 0) was changed: byte 70 of it, in `text`, was "e" and is "a": "because time half half time team first users load…" became "bacause time half half time team first users load…""#);
    let hash = &log[3].hash;
    let other = hash.replacen(|digit: char| digit != '0', "0", 1);
    assert_eq!(
        said(hash, &other),
        format!(
            "the hash beside event 3 (replied: debater-1, answer, round 0) was changed: it is {other:?}, and was {hash:?}"
        )
    );
    insta::assert_snapshot!(said("application/vnd.in-toto+json", "application/vnd.in-tofu+json"), @r#"the payload's type is "application/vnd.in-tofu+json" instead of "application/vnd.in-toto+json""#);
}

/// What was signed is worked out again from the log, so that a changed field is known by its name and its value.
#[test]
fn a_changed_field_of_the_statement_is_named_with_what_was_signed() {
    let signed = Signed::new();
    let receipt: Receipt = serde_json::from_str(&signed.text).unwrap();
    let statement = String::from_utf8(STANDARD.decode(&receipt.receipt.payload).unwrap()).unwrap();
    let findings = |from: &str, to: &str| {
        assert!(statement.contains(from), "no {from} in {statement}");
        let mut changed = receipt.clone();
        changed.receipt.payload = STANDARD.encode(statement.replacen(from, to, 1));
        let text = serde_json::to_string_pretty(&changed).unwrap();
        verify(text.as_bytes(), &signed.known(), &means(0)).findings
    };
    let version = format!("\"agon\":\"{VERSION}\"");
    let other_version = format!("\"agon\":\"9{}\"", &VERSION[1..]);
    for (from, to, field, why) in [
        (
            "\"protocol\":\"deep\"",
            "\"protocol\":\"beep\"",
            "predicate.protocol",
            "`predicate.protocol` was changed: it is \"beep\", and \"deep\" was signed",
        ),
        (
            "\"events\":",
            "\"events\":1",
            "predicate.log.events",
            "`predicate.log.events` was changed: it is 1",
        ),
        (
            "\"signed_at\":\"2026-02-01T08:30:00Z\"",
            "\"signed_at\":\"2026-02-01T08:36:00Z\"",
            "predicate.signed_at",
            "`predicate.signed_at` was changed: it is \"2026-02-01T08:36:00Z\", and \"2026-02-01T08:30:00Z\" was signed",
        ),
        (&version, &other_version, "predicate.agon", "`predicate.agon` was changed: it is \"9"),
        (
            "urn:agon:receipt:1",
            "urn:agon:receipt:2",
            "predicateType",
            "and \"urn:agon:receipt:1\" was signed",
        ),
    ] {
        let found = findings(from, to);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!(found[0].field.as_deref(), Some(field));
        assert!(found[0].why.contains(why), "{}", found[0].why);
    }
}

#[test]
fn a_signature_that_was_changed_is_told_from_a_statement_that_was() {
    let signed = Signed::new();
    let mut receipt: Receipt = serde_json::from_str(&signed.text).unwrap();
    let other = SecretKey::make().unwrap();
    let sig = Envelope::seal(&serde_json::json!({}), &other).unwrap().signatures[0].sig.clone();
    receipt.receipt.signatures[0].sig = sig;
    let told = verify(serde_json::to_string(&receipt).unwrap().as_bytes(), &signed.known(), &means(0));
    assert_eq!(told.findings.len(), 1, "{:#?}", told.findings);
    assert_eq!(told.findings[0].place, "receipt.signatures[0].sig");
    assert!(told.findings[0].why.starts_with("the signature was changed"), "{}", told.findings[0].why);
    assert_eq!(told.signer, None);
}

/// Somebody who puts his own key beside another's receipt has not signed it.
#[test]
fn another_s_key_in_the_file_is_found() {
    let signed = Signed::new();
    let mut receipt: Receipt = serde_json::from_str(&signed.text).unwrap();
    let other = SecretKey::make().unwrap().public();
    receipt.public_key = other.to_string();
    let text = serde_json::to_string(&receipt).unwrap();
    let told = verify(text.as_bytes(), &signed.known(), &means(0));
    assert_eq!(told.findings.len(), 1, "{:#?}", told.findings);
    let why = format!(
        "the public key was changed: its id is {}, but the signature names the key {:?}, which is your own key",
        other.id(),
        signed.key.public().id()
    );
    assert_eq!(told.findings[0].why, why);
    let told = verify(text.as_bytes(), &[], &means(0));
    assert!(told.findings[0].why.ends_with("who signed cannot be told"), "{:?}", told.findings);
    assert_eq!((told.findings.len(), &told.signer), (1, &None));
    // With the id put right too, the signature does not fit.
    receipt.receipt.signatures[0].keyid = other.id();
    let told = verify(serde_json::to_string(&receipt).unwrap().as_bytes(), &signed.known(), &means(0));
    assert!(!told.is_intact() && told.signer.is_none(), "{:?}", told.findings);
}

/// "an event missing/inserted/reordered"
#[test]
fn events_that_were_taken_out_put_in_or_moved_are_named() {
    let signed = Signed::new();
    let receipt: Receipt = serde_json::from_str(&signed.text).unwrap();
    let log = receipt.log.clone().unwrap();
    let count = log.len();
    let why = |log: Vec<Link>| {
        let changed = Receipt { log: Some(log), ..receipt.clone() };
        let text = serde_json::to_string(&changed).unwrap();
        let told = verify(text.as_bytes(), &signed.known(), &means(0));
        assert_eq!(told.findings.len(), 1, "{:#?}", told.findings);
        told.findings[0].why.clone()
    };
    let mut short = log.clone();
    short.remove(4);
    assert_eq!(why(short), "event 4 is missing: event 5 stands in the place of event 4");
    let mut short = log.clone();
    short.drain(4..7);
    assert_eq!(why(short), "events 4 to 6 are missing: event 7 stands in the place of event 4");
    let last = why(log[..count - 1].to_vec());
    let told = format!(
        "the last event is missing: the receipt is of {count} events, and the log ends with event {}",
        count - 2
    );
    assert_eq!(last, told);
    assert!(why(log[..count - 3].to_vec()).starts_with("the last 3 events are missing"));
    let none = format!(
        "the last {count} events are missing: the receipt is of {count} events, and the log is empty"
    );
    assert_eq!(why(Vec::new()), none);
    let mut long = log.clone();
    long.insert(4, log[2].clone());
    assert_eq!(why(long), "log[4] was put in: it is of no place in the chain, which is whole without it");
    let mut moved = log.clone();
    moved.swap(4, 5);
    assert!(why(moved).ends_with("was moved: it stands in the place of event 4"));
    let mut long = log.clone();
    let body = "{\"seq\":99,\"at_ms\":0,\"event\":\"interjected\",\"by\":\"me\",\"text\":\"\"}"
        .replace("99", &count.to_string());
    long.push(Link { hash: sha256(&format!("{}{body}", log[count - 1].hash)), body });
    assert_eq!(
        why(long),
        format!("the log was added to: the receipt is of {count} events, and the log has {}", count + 1)
    );
}

/// A change of more than a byte is named by its event, and by the fields of the receipt that no longer follow.
#[test]
fn a_larger_change_is_named_by_its_event_and_by_what_follows_from_it() {
    let signed = Signed::new();
    let told = |from: &str, to: &str| {
        assert!(signed.text.contains(from), "no {from}");
        verify(signed.text.replacen(from, to, 1).as_bytes(), &signed.known(), &means(1 << 24))
    };
    let asked = told("Should the team adopt the queue?", "Should the team sell the queue?");
    assert!(asked.findings[0].why.starts_with("event 0 (opened) was changed"), "{:#?}", asked.findings);
    let field =
        asked.findings.iter().find(|finding| finding.field.as_deref() == Some("predicate.question")).unwrap();
    assert!(field.why.contains("the receipt says \"Should the team adopt the"), "{}", field.why);
    assert!(field.why.contains("the log gives \"Should the team sell the"), "{}", field.why);
    // What the protocol decides follows from the log before it, so that the whole event is known as it was.
    let closed = told("\\\"termination\\\":\\\"max_rounds\\\"", "\\\"termination\\\":\\\"consensus\\\"");
    assert_eq!(closed.findings.len(), 1, "{:#?}", closed.findings);
    let why = &closed.findings[0].why;
    assert!(
        why.contains("(closed) was changed: `outcome.termination` was \"max_rounds\" and is \"consensus\""),
        "{why}"
    );
}
