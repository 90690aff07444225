//! What `agon verify FILE` says about each kind of change.

use agon_core::event::sha256;
use agon_core::seed::SeededDraw;
use agon_publish::receipts::envelope::SignedEnvelope;
use agon_publish::receipts::statement::VERSION;
use agon_publish::receipts::verify::CheckState;
use agon_publish::receipts::{LoggedRecord, Receipt, SecretKey, verify};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::sample_debate::{CONTEXT, SampleReceipt, check};

/// One byte of each event in turn.
#[test]
fn a_changed_event_is_named_and_no_other_event_is() {
    let sample = SampleReceipt::new();
    let mut receipt = sample.parsed();
    let mut draw = SeededDraw::new(3, "bytes");
    let log = receipt.log.clone().unwrap();
    for (number, record) in log.iter().enumerate() {
        let at = draw.below(record.body.len());
        let mut bytes = record.body.clone().into_bytes();
        bytes[at] = if bytes[at] == b'7' { b'8' } else { b'7' };
        let Ok(body) = String::from_utf8(bytes) else { continue };
        receipt.log.as_mut().unwrap()[number].body = body;
        let result = sample.check(&receipt);
        receipt.log = Some(log.clone());
        let finding = &result.findings[0];
        assert_eq!((finding.event, &finding.place), (Some(number as u64), &format!("log[{number}].body")));
        assert!(finding.why.contains("was changed: its text does not match its hash"), "{}", finding.why);
        // Other findings may name fields of the statement that follow from the changed event.
        assert!(result.findings[1..].iter().all(|other| other.event.is_none()), "{:#?}", result.findings);
        let log_check = result.checks.iter().find(|check| check.what == "log").unwrap();
        assert_eq!(log_check.state, CheckState::Fails);
    }
}

#[test]
fn findings_name_the_event_the_seat_the_phase_and_the_kind_of_change() {
    let sample = SampleReceipt::new();
    let why = |from: &str, to: &str| {
        let at = sample.range_of(from).start;
        let changed = [&sample.text[..at], to, &sample.text[at + from.len()..]].concat();
        verify(changed.as_bytes(), &sample.known(), &CONTEXT).findings[0].why.clone()
    };
    let log = sample.parsed().log.unwrap();
    insta::assert_snapshot!(why("Should the team", "Should the tram"), @"event 0 (opened) was changed: its text does not match its hash");
    insta::assert_snapshot!(why("\\\"round\\\":1,\\\"asks", "\\\"round\\\":2,\\\"asks"), @"event 8 (asked: debate, round 2) was changed: its text does not match its hash (or event 7 was changed together with its hash)");
    let reply = log.iter().find(|record| record.body.contains("\"event\":\"replied\"")).unwrap();
    let text = reply.body.split("\"text\":\"").nth(1).unwrap().split('"').next().unwrap();
    insta::assert_snapshot!(why(text, &format!("{text}s")), @"event 3 (replied: debater-1, answer, round 0) was changed: its text does not match its hash (or event 2 was changed together with its hash)");
    let hash = &log[3].hash;
    let other = hash.replacen(|digit: char| digit != '0', "0", 1);
    assert_eq!(
        why(hash, &other),
        format!(
            "the hash of event 3 (replied: debater-1, answer, round 0) was changed: it is {other:?} and should be {hash:?}"
        )
    );
    insta::assert_snapshot!(why("application/vnd.in-toto+json", "application/vnd.in-tofu+json"), @r#"the type of the payload is "application/vnd.in-tofu+json" instead of "application/vnd.in-toto+json""#);
}

/// The statement is computed again from the log, so the finding can show what was signed.
#[test]
fn a_changed_field_of_the_statement_is_named_with_what_was_signed() {
    let sample = SampleReceipt::new();
    let receipt = sample.parsed();
    let statement = String::from_utf8(STANDARD.decode(&receipt.receipt.payload).unwrap()).unwrap();
    let finding = |from: &str, to: &str| {
        assert!(statement.contains(from), "no {from} in {statement}");
        let mut changed = receipt.clone();
        changed.receipt.payload = STANDARD.encode(statement.replacen(from, to, 1));
        let findings = sample.check(&changed).findings;
        assert_eq!(findings.len(), 1, "{findings:#?}");
        findings[0].clone()
    };
    for (from, to, field, why) in [
        (
            "\"protocol\":\"deep\"",
            "\"protocol\":\"beep\"",
            "predicate.protocol",
            "`predicate.protocol` was changed: it is \"beep\", but \"deep\" was signed",
        ),
        (
            "\"events\":",
            "\"events\":1",
            "predicate.log.events",
            "`predicate.log.events` was changed: it is 1",
        ),
        (
            "urn:agon:receipt:1",
            "urn:agon:receipt:2",
            "predicateType",
            "but \"urn:agon:receipt:1\" was signed",
        ),
    ] {
        let finding = finding(from, to);
        assert_eq!(finding.field.as_deref(), Some(field));
        assert!(finding.why.contains(why), "{}", finding.why);
    }
    // The log gives neither the version nor the time, so the finding names both.
    let version = format!("\"agon\":\"{VERSION}\"");
    let other_version = format!("\"agon\":\"9{}\"", &VERSION[1..]);
    for (from, to) in [
        ("\"signed_at\":\"2026-02-01T08:30:00Z\"", "\"signed_at\":\"2026-02-01T08:36:00Z\""),
        (&version, &other_version),
    ] {
        let why = finding(from, to).why;
        assert!(why.contains("or `predicate.agon` or `predicate.signed_at` was changed"), "{why}");
    }
}

#[test]
fn a_signature_by_another_key_does_not_match() {
    let sample = SampleReceipt::new();
    let mut receipt = sample.parsed();
    let other = SecretKey::make().unwrap();
    let sig = SignedEnvelope::sign(&serde_json::json!({}), &other).unwrap().signatures[0].sig.clone();
    receipt.receipt.signatures[0].sig = sig;
    let result = sample.check(&receipt);
    assert_eq!(result.findings.len(), 1, "{:#?}", result.findings);
    assert_eq!(result.findings[0].place, "receipt.signatures[0].sig");
    assert!(result.findings[0].why.starts_with("the signature does not match"), "{}", result.findings[0].why);
    assert_eq!(result.signer, None);
}

#[test]
fn a_replaced_public_key_is_noticed() {
    let sample = SampleReceipt::new();
    let mut receipt = sample.parsed();
    let other = SecretKey::make().unwrap().public();
    receipt.public_key = other.to_string();
    let result = sample.check(&receipt);
    assert_eq!(result.findings.len(), 1, "{:#?}", result.findings);
    let why = format!(
        "the public key was changed: the id of the key is {}, but the signature names {:?}, which is your own key",
        other.id(),
        sample.key.public().id()
    );
    assert_eq!(result.findings[0].why, why);
    let result = check(&serde_json::to_string(&receipt).unwrap(), &[]);
    assert!(result.findings[0].why.ends_with("it is unknown who signed"), "{:?}", result.findings);
    assert_eq!((result.findings.len(), &result.signer), (1, &None));
    // If the key id is replaced too, the signature does not match.
    receipt.receipt.signatures[0].keyid = other.id();
    let result = sample.check(&receipt);
    assert!(!result.is_intact() && result.signer.is_none(), "{:?}", result.findings);
}

#[test]
fn removed_inserted_moved_and_appended_events_are_named() {
    let sample = SampleReceipt::new();
    let log = sample.parsed().log.unwrap();
    let count = log.len();
    let why = |log: Vec<LoggedRecord>| {
        let result = sample.check(&Receipt { log: Some(log), ..sample.parsed() });
        assert_eq!(result.findings.len(), 1, "{:#?}", result.findings);
        result.findings[0].why.clone()
    };
    let mut short = log.clone();
    short.remove(4);
    assert_eq!(why(short), "event 4 is missing: event 5 is in its place");
    let mut short = log.clone();
    short.drain(4..7);
    assert_eq!(why(short), "events 4 to 6 are missing: event 7 is in their place");
    let covers = format!("the receipt covers {count} events, but the log");
    let last = format!("the last event is missing: {covers} ends with event {}", count - 2);
    assert_eq!(why(log[..count - 1].to_vec()), last);
    assert!(why(log[..count - 3].to_vec()).starts_with("the last 3 events are missing"));
    assert_eq!(why(Vec::new()), format!("the last {count} events are missing: {covers} is empty"));
    let mut long = log.clone();
    long.insert(4, log[2].clone());
    assert_eq!(why(long), "log[4] was inserted: the chain is complete without it");
    let mut moved = log.clone();
    moved.swap(4, 5);
    assert!(why(moved).ends_with("was moved: it is in the place of event 4"));
    let mut long = log.clone();
    let body = "{\"seq\":99,\"at_ms\":0,\"event\":\"interjected\",\"by\":\"me\",\"text\":\"\"}"
        .replace("99", &count.to_string());
    long.push(LoggedRecord { hash: sha256(&format!("{}{body}", log[count - 1].hash)), body });
    assert_eq!(why(long), format!("events were appended: {covers} has {}", count + 1));
}

#[test]
fn a_changed_event_also_shows_which_fields_no_longer_follow_from_the_log() {
    let sample = SampleReceipt::new();
    let findings = |from: &str, to: &str| {
        assert!(sample.text.contains(from), "no {from}");
        check(&sample.text.replacen(from, to, 1), &sample.known()).findings
    };
    let asked = findings("Should the team adopt the queue?", "Should the team sell the queue?");
    assert!(asked[0].why.starts_with("event 0 (opened) was changed"), "{asked:#?}");
    let field = asked.iter().find(|finding| finding.field.as_deref() == Some("predicate.question")).unwrap();
    assert!(field.why.contains("the receipt says \"Should the team adopt the"), "{}", field.why);
    assert!(field.why.contains("the log gives \"Should the team sell the"), "{}", field.why);
    // How the invented debate ends depends on its prompts.
    let written = |termination: &str| format!("\\\"termination\\\":\\\"{termination}\\\"");
    let mut endings = ["max_rounds", "converged", "stable"].into_iter();
    let ended = endings.find(|ended| sample.text.contains(&written(ended))).unwrap();
    let closed = findings(&written(ended), &written("consensus"));
    assert!(closed[0].why.contains("(closed) was changed"), "{closed:#?}");
    let why = format!("`predicate.termination`: the receipt says \"{ended}\", the log gives \"consensus\"");
    assert!(closed.iter().any(|finding| finding.why == why), "{closed:#?}");
}

#[test]
fn the_report_lists_the_findings_and_then_the_checks() {
    let sample = SampleReceipt::new();
    let mut receipt = sample.parsed();
    let log = receipt.log.as_mut().unwrap();
    let reply = log.iter_mut().rev().find(|record| record.body.contains("\"event\":\"replied\"")).unwrap();
    // The text as it came. The outcome follows from the value that was read from it.
    reply.body = reply.body.replacen("\"text\":\"", "\"text\":\" ", 1);
    let text = sample.check(&receipt).text("receipt.json");
    insta::assert_snapshot!(text, @r"
    receipt.json: changed
      ! event 20 (replied: chair, synthesis, round 1) was changed: its text does not match its hash (or event 19 was changed together with its hash)
      signature  holds: valid, by your own key (fe812c12f3ab4ce6)
      statement  holds: it does not contradict itself
      log        FAILS: 22 events
      outcome    holds: every field of the receipt is what the log gives
      replay     not checked: the log is not whole
    ");
}
