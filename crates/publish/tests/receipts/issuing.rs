//! What a receipt contains, who signed it, and what it never contains.

use crate::played_debate::{brief, play_debate};
use crate::sample_debate::{
    SIGNED_AT, check, outcome, raw_log, receipt, resign, small_debate, statement_of, trusted,
};
use agon_core::event::sha256;
use agon_core::{Debate, LogRecord};
use agon_protocols::PROTOCOLS;
use agon_publish::receipts::envelope::canonical_value;
use agon_publish::receipts::verify::CheckState;
use agon_publish::receipts::{
    IssueError, KeyStanding, KnownKey, KnownSecret, LoggedRecord, Receipt, ReceiptSubject, SecretKey,
    SignedOutcome, is_receipt, issue,
};
use serde_json::json;

#[test]
fn a_receipt_of_every_protocol_is_valid_and_can_be_replayed() {
    let key = SecretKey::make().unwrap();
    for protocol in PROTOCOLS {
        let records = play_debate(*protocol, brief(*protocol, "Should the team adopt the queue?", &[]), 3);
        let text = receipt(&records, &key);
        let result = check(&text, &trusted(&key));
        assert_eq!(result.findings, [], "{}", protocol.info().name);
        assert!(result.is_trusted());
        assert!(result.checks.iter().all(|check| check.state == CheckState::Holds), "{:?}", result.checks);
        assert_eq!(result.checks.len(), 5);
        assert_eq!((result.notes.len(), result.events), (0, Some(records.len() as u64)));
    }
}

#[test]
fn a_statement_describes_the_whole_debate() {
    let key = SecretKey::make().unwrap();
    for protocol in PROTOCOLS {
        let records = play_debate(*protocol, brief(*protocol, "Should the team adopt the queue?", &[]), 3);
        let debate = Debate::from_records(&records).unwrap();
        let statement = statement_of(&receipt(&records, &key));
        let predicate = &statement["predicate"];
        let SignedOutcome { document, votes } = outcome(&debate);
        let outcome = canonical_value(&document).unwrap();
        assert_eq!(statement["_type"], "https://in-toto.io/Statement/v1");
        assert_eq!(statement["predicateType"], "urn:agon:receipt:1");
        assert_eq!(
            statement["subject"],
            json!([{"name": "agon:debate:calm-otter-7", "digest": {"sha256": debate.head}}])
        );
        for key in
            ["question", "protocol", "seats", "verdict", "dissent", "evidence", "labels", "status", "usage"]
        {
            assert_eq!(predicate[key], outcome[key], "{} {key}", protocol.info().name);
            assert!(!predicate[key].is_null(), "{} {key}", protocol.info().name);
        }
        let brief = &debate.brief;
        assert_eq!(predicate["options"], canonical_value(&json!(brief.options)).unwrap());
        assert_eq!(predicate["templates"], json!(brief.templates));
        assert_eq!(predicate["seed"], u64::MAX.to_string());
        assert_eq!(
            predicate["log"],
            json!({"version": agon_core::LOG_VERSION, "events": records.len(), "head": debate.head})
        );
        assert_eq!(predicate["signed_at"], SIGNED_AT);
        let file =
            json!({"path": "plan.md", "part": null, "sha256": sha256("Adopt the queue.\n"), "bytes": 17});
        assert_eq!(predicate["files"], json!([file]));
        assert!(
            !statement.to_string().contains("Adopt the queue."),
            "no receipt contains the text of a file"
        );
        assert_eq!(predicate["votes"], canonical_value(&json!(votes)).unwrap());
        assert!(!votes.is_empty(), "{} has votes", protocol.info().name);
        assert!(votes.iter().all(|vote| brief.seat(&vote.seat).is_some() && !vote.vote.is_empty()));
    }
}

#[test]
fn a_valid_signature_by_an_unknown_key_is_intact_but_not_trusted() {
    let key = SecretKey::make().unwrap();
    let text = receipt(&small_debate(), &key);
    let result = check(&text, &[]);
    assert!(result.is_intact() && !result.is_trusted());
    let said = result.text("r.json");
    assert!(said.contains("intact, but signed with a key that you do not know"), "{said}");
    assert!(said.contains(&format!("agon keys trust {} --name NAME", key.public())), "{said}");
    let document = result.document("r.json");
    assert_eq!((&document["intact"], &document["trusted"]), (&json!(true), &json!(false)));
    assert_eq!(document["signer"]["id"], key.public().id());
}

#[test]
fn a_required_key_must_be_the_key_that_signed() {
    let (key, other) = (SecretKey::make().unwrap(), SecretKey::make().unwrap());
    let text = receipt(&small_debate(), &key);
    let mut result = check(&text, &trusted(&key));
    result.require(&key.public());
    assert!(result.is_trusted() && result.wanted.is_none(), "{result:?}");
    result.require(&other.public());
    assert!(!result.is_intact() && !result.is_trusted());
    assert_eq!(result.findings.len(), 1);
    assert_eq!(result.findings[0].place, "receipt.signatures");
    let (id, wanted) = (key.public().id(), other.public().id());
    let why = format!(
        "it is signed with the key that you trust as alice ({id}), not with the required key ({wanted})"
    );
    assert_eq!(result.findings[0].why, why);
    let said = result.text("r.json");
    let headline = format!("r.json: signed, but not with the required key ({wanted})\n");
    assert!(said.starts_with(&headline) && !said.contains("changed"), "{said}");
    assert!(said.contains("signature  FAILS: valid, by the key that you trust as alice"), "{said}");
    let document = result.document("r.json");
    assert_eq!((&document["trusted"], &document["wanted"]), (&json!(false), &json!(wanted)));
    // Other changes still count, and a receipt without a signature has one finding.
    let forged = resign(&text, &key, |statement| statement["predicate"]["question"] = json!("Why?"));
    let mut result = check(&forged, &trusted(&key));
    result.require(&other.public());
    assert!(
        result.text("r.json").starts_with("r.json: changed\n") && result.findings.len() == 2,
        "{result:?}"
    );
    let mut result = check("{\"receipt\": 1}", &[]);
    result.require(&other.public());
    assert_eq!((result.findings.len(), result.is_trusted()), (1, false));
}

#[test]
fn a_signature_after_the_retirement_of_its_key_is_a_finding() {
    let key = SecretKey::make().unwrap();
    let text = receipt(&small_debate(), &key);
    let retired =
        |at: &str| vec![KnownKey { key: key.public(), standing: KeyStanding::Retired { at: at.into() } }];
    let result = check(&text, &retired("2026-02-01T08:30:01Z"));
    assert!(result.is_trusted());
    assert!(result.text("r.json").contains("a key of your own that was retired at 2026-02-01T08:30:01Z"));
    let result = check(&text, &retired("2026-02-01T08:29:59Z"));
    assert_eq!(result.findings.len(), 1);
    assert!(result.findings[0].why.contains("after its key was retired"), "{}", result.findings[0].why);
}

#[test]
fn a_receipt_without_a_log_says_what_was_not_checked() {
    let key = SecretKey::make().unwrap();
    let records = small_debate();
    let debate = Debate::from_records(&records).unwrap();
    let outcome = outcome(&debate);
    let subject = ReceiptSubject { outcome: &outcome, debate: &debate, log: None, secrets: &[] };
    let text = issue(&subject, &key, SIGNED_AT).unwrap();
    assert!(!text.contains("\"log\""));
    let result = check(&text, &trusted(&key));
    assert!(result.is_trusted());
    assert!(result.text("r.json").contains("note: the file has no log: only the signature was checked"));
    // Without a log, a statement still must not contradict itself.
    let forged = resign(&text, &key, |statement| statement["predicate"]["log"]["head"] = json!("00"));
    let result = check(&forged, &trusted(&key));
    assert_eq!(result.findings.len(), 1, "{:?}", result.findings);
    assert_eq!(result.findings[0].field.as_deref(), Some("subject[0].digest.sha256"));
}

#[test]
fn a_receipt_with_a_secret_is_refused_and_the_error_does_not_repeat_it() {
    let key = SecretKey::make().unwrap();
    let deep = agon_protocols::find("deep").unwrap();
    let value = "sk-\"0123456789";
    let secrets = [KnownSecret { name: "OPENAI_API_KEY", value }];
    let attempt = |records: &[LogRecord], with_log: bool| {
        let (debate, log) = (Debate::from_records(records).unwrap(), raw_log(records));
        let outcome = outcome(&debate);
        let log = with_log.then_some(log.as_slice());
        issue(&ReceiptSubject { outcome: &outcome, debate: &debate, log, secrets: &secrets }, &key, SIGNED_AT)
    };
    let in_question = play_debate(deep, brief(deep, &format!("Is {value} a good key?"), &[]), 3);
    let why = attempt(&in_question, false).unwrap_err();
    assert!(
        matches!(&why, IssueError::Secret { path, .. } if path == "statement.predicate.question"),
        "{why}"
    );
    let mut in_file = brief(deep, "Why?", &[]);
    in_file.files[0].text = format!("key = {value}");
    let in_file = play_debate(deep, in_file, 3);
    let why = attempt(&in_file, true).unwrap_err().to_string();
    assert!(why.contains("OPENAI_API_KEY is in log[0].brief.files[0].text"), "{why}");
    assert!(why.contains("--no-log") && !why.contains("0123456789"), "{why}");
    // The advice of the error works: without the log, the secret is nowhere in the file.
    let text = attempt(&in_file, false).unwrap();
    assert!(!text.contains("0123456789") && !statement_of(&text).to_string().contains("0123456789"));
    // The private key of the signer is never in it.
    let text = attempt(&small_debate(), true).unwrap();
    assert!(!text.contains("ed25519-secret"));
}

#[test]
fn a_receipt_needs_a_debate_that_is_over_and_its_own_log() {
    let key = SecretKey::make().unwrap();
    let records = small_debate();
    let part = &records[..records.len() - 1];
    let debate = Debate::from_records(part).unwrap();
    let (outcome_of_part, log) = (outcome(&debate), raw_log(part));
    let subject =
        ReceiptSubject { outcome: &outcome_of_part, debate: &debate, log: Some(&log), secrets: &[] };
    assert!(matches!(issue(&subject, &key, SIGNED_AT), Err(IssueError::NotOver(_))));
    let debate = Debate::from_records(&records).unwrap();
    let outcome = outcome(&debate);
    let subject = ReceiptSubject { outcome: &outcome, debate: &debate, log: Some(&log), secrets: &[] };
    assert!(matches!(issue(&subject, &key, SIGNED_AT), Err(IssueError::OtherLog)));
}

#[test]
fn a_false_statement_with_a_valid_signature_is_found() {
    let key = SecretKey::make().unwrap();
    let forged = resign(&receipt(&small_debate(), &key), &key, |statement| {
        statement["predicate"]["verdict"]["answer"] = json!("Buy my shares.");
    });
    let result = check(&forged, &trusted(&key));
    assert_eq!(result.findings.len(), 1, "{:?}", result.findings);
    let why = &result.findings[0].why;
    assert!(
        why.starts_with("`predicate.verdict.answer`: the receipt says \"Buy my shares.\", the log gives "),
        "{why}"
    );
}

/// A rewritten log has another head than the one signed. If it is signed again, it breaks the protocol.
#[test]
fn a_rewritten_log_is_found() {
    let key = SecretKey::make().unwrap();
    let records = small_debate();
    let text = receipt(&records, &key);
    let last = records.last().unwrap();
    let mut entry = last.entry.clone();
    let agon_core::Event::Closed { outcome } = &mut entry.event else { panic!("closed is last") };
    outcome.verdict["answer"] = json!("Buy my shares.");
    let mut rewritten = records[..records.len() - 1].to_vec();
    rewritten.push(LogRecord::seal(entry, &rewritten.last().unwrap().hash).unwrap());
    let mut swapped: Receipt = serde_json::from_str(&text).unwrap();
    swapped.log =
        Some(raw_log(&rewritten).into_iter().map(|(body, hash)| LoggedRecord { hash, body }).collect());
    let result = check(&serde_json::to_string(&swapped).unwrap(), &trusted(&key));
    let said = result.text("r.json");
    assert!(said.contains("this is another log: its hashes are consistent"), "{said}");
    assert!(said.contains("`predicate.verdict.answer`: the receipt says"), "{said}");
    let result = check(&receipt(&rewritten, &key), &trusted(&key));
    assert_eq!(result.findings.len(), 1, "{:?}", result.findings);
    let seq = rewritten.len() as u64 - 1;
    assert_eq!(result.findings[0].event, Some(seq));
    let why = format!("the log departs from the protocol at event {seq}: the outcome is not the same");
    assert_eq!(result.findings[0].why, why);
}

#[test]
fn a_receipt_is_recognised_by_its_beginning() {
    let text = receipt(&small_debate(), &SecretKey::make().unwrap());
    assert!(is_receipt(text.as_bytes()));
    for place in 0..120 {
        let mut changed = text.clone().into_bytes();
        changed[place] = b'#';
        assert!(is_receipt(&changed), "{place}");
    }
    for other in ["", "{\"seq\":0,\"receipt\"", "{\n  \"outcome\": {\n    \"receipt\": {", "hello"] {
        assert!(!is_receipt(other.as_bytes()), "{other}");
    }
}
