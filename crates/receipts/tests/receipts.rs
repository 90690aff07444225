//! "Receipts: canonical JSON over question, protocol and options, template hashes, seats and models, head of the hash chain,
//! verdict, votes, dissent, evidence": what is in one, who is said to have signed it, and what never is in one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod table;

use agon_core::event::sha256;
use agon_core::{Debate, Record};
use agon_protocols::PROTOCOLS;
use agon_receipts::file::{Link, Receipt};
use agon_receipts::verify::State;
use agon_receipts::{Known, Secret, SecretKey, Standing, Subject, Unissued, canonical, is_receipt, issue};
use serde_json::json;
use table::{
    SIGNED_AT, brief, checked, outcome, played, raw, receipt, resigned, small, statement_of, trusted,
};

#[test]
fn a_receipt_of_every_protocol_holds_and_is_replayed() {
    let key = SecretKey::make().unwrap();
    for protocol in PROTOCOLS {
        let records = played(*protocol, brief(*protocol, "Should the team adopt the queue?", &[]));
        let text = receipt(&records, &key);
        let told = checked(&text, &trusted(&key));
        assert_eq!(told.findings, [], "{}", protocol.name());
        assert!(told.is_trusted());
        assert!(told.checks.iter().all(|check| check.state == State::Holds), "{:?}", told.checks);
        assert_eq!(told.checks.len(), 5);
        assert_eq!((told.notes.len(), told.events), (0, Some(records.len() as u64)));
    }
}

#[test]
fn a_statement_has_all_that_the_issue_names() {
    let key = SecretKey::make().unwrap();
    for protocol in PROTOCOLS {
        let records = played(*protocol, brief(*protocol, "Should the team adopt the queue?", &[]));
        let debate = Debate::from_records(&records).unwrap();
        let statement = statement_of(&receipt(&records, &key));
        let predicate = &statement["predicate"];
        let outcome = canonical::normal(&outcome(&debate)).unwrap();
        assert_eq!(statement["_type"], "https://in-toto.io/Statement/v1");
        assert_eq!(statement["predicateType"], "urn:agon:receipt:1");
        assert_eq!(
            statement["subject"],
            json!([{"name": "agon:debate:calm-otter-7", "digest": {"sha256": debate.head}}])
        );
        for key in
            ["question", "protocol", "seats", "verdict", "dissent", "evidence", "labels", "status", "usage"]
        {
            assert_eq!(predicate[key], outcome[key], "{} {key}", protocol.name());
            assert!(!predicate[key].is_null(), "{} {key}", protocol.name());
        }
        let brief = &debate.brief;
        assert_eq!(predicate["options"], canonical::normal(&json!(brief.options)).unwrap());
        assert_eq!(predicate["templates"], json!(brief.templates));
        assert_eq!(predicate["seed"], u64::MAX.to_string());
        assert_eq!(predicate["log"], json!({"version": 1, "events": records.len(), "head": debate.head}));
        assert_eq!(predicate["signed_at"], SIGNED_AT);
        let file =
            json!({"path": "plan.md", "part": null, "sha256": sha256("Adopt the queue.\n"), "bytes": 17});
        assert_eq!(predicate["files"], json!([file]));
        assert!(!statement.to_string().contains("Adopt the queue."), "a file's text is not in a receipt");
        let votes = predicate["votes"].as_array().unwrap();
        assert!(!votes.is_empty(), "{} has votes", protocol.name());
    }
}

/// Whoever reads a receipt with other tools finds the votes in one place.
#[test]
fn the_votes_of_each_protocol_say_who_and_what() {
    let key = SecretKey::make().unwrap();
    for (name, who, what) in [
        ("deep", "debater", "stance"),
        ("panel", "judge_id", "score"),
        ("council", "councillor", "vote"),
        ("arena", "seat", "choice"),
        ("review", "judge", "verdict"),
    ] {
        let protocol = agon_protocols::find(name).unwrap();
        let statement =
            statement_of(&receipt(&played(protocol, brief(protocol, "Adopt the queue?", &[])), &key));
        for vote in statement["predicate"]["votes"].as_array().unwrap() {
            assert!(vote.get(who).is_some() && vote.get(what).is_some(), "{name}: {vote}");
        }
    }
}

#[test]
fn a_valid_signature_by_an_unknown_key_is_said_to_be_one() {
    let key = SecretKey::make().unwrap();
    let text = receipt(&small(), &key);
    let told = checked(&text, &[]);
    assert!(told.is_intact() && !told.is_trusted());
    let said = told.text("r.json");
    assert!(said.contains("intact, but signed with a key that you do not know"), "{said}");
    assert!(said.contains(&format!("agon keys trust {} --name NAME", key.public())), "{said}");
    let document = told.document("r.json");
    assert_eq!((&document["intact"], &document["trusted"]), (&json!(true), &json!(false)));
    assert_eq!(document["signer"]["id"], key.public().id());
}

/// "with the public key": a valid signature by another key that is known too is not the one that was asked for.
#[test]
fn a_key_that_was_asked_for_must_be_the_one_that_signed() {
    let (key, other) = (SecretKey::make().unwrap(), SecretKey::make().unwrap());
    let text = receipt(&small(), &key);
    let mut told = checked(&text, &trusted(&key));
    told.require(&key.public());
    assert!(told.is_trusted() && told.wanted.is_none(), "{told:?}");
    told.require(&other.public());
    assert!(!told.is_intact() && !told.is_trusted());
    assert_eq!(told.findings.len(), 1);
    assert_eq!(told.findings[0].place, "receipt.signatures");
    let (id, wanted) = (key.public().id(), other.public().id());
    let why = format!(
        "it is signed with the key that you trust as alice ({id}), and not with the key that was asked for ({wanted})"
    );
    assert_eq!(told.findings[0].why, why);
    let said = told.text("r.json");
    let headline = format!("r.json: signed, but not with the key that was asked for ({wanted})\n");
    assert!(said.starts_with(&headline) && !said.contains("changed"), "{said}");
    assert!(said.contains("signature  FAILS: valid, by the key that you trust as alice"), "{said}");
    let document = told.document("r.json");
    assert_eq!((&document["trusted"], &document["wanted"]), (&json!(false), &json!(wanted)));
    // What was changed besides is still counted as such, and what nobody signed is said once.
    let forged = resigned(&text, &key, |statement| statement["predicate"]["question"] = json!("Why?"));
    let mut told = checked(&forged, &trusted(&key));
    told.require(&other.public());
    assert!(told.text("r.json").starts_with("r.json: changed\n") && told.findings.len() == 2, "{told:?}");
    let mut told = checked("{\"receipt\": 1}", &[]);
    told.require(&other.public());
    assert_eq!((told.findings.len(), told.is_trusted()), (1, false));
}

#[test]
fn a_key_that_was_retired_signs_nothing_afterwards() {
    let key = SecretKey::make().unwrap();
    let text = receipt(&small(), &key);
    let retired = |at: &str| vec![Known { key: key.public(), standing: Standing::Retired { at: at.into() } }];
    let told = checked(&text, &retired("2026-02-01T08:30:01Z"));
    assert!(told.is_trusted());
    assert!(told.text("r.json").contains("a key of your own that was retired at 2026-02-01T08:30:01Z"));
    let told = checked(&text, &retired("2026-02-01T08:29:59Z"));
    assert_eq!(told.findings.len(), 1);
    assert!(told.findings[0].why.contains("after its key was retired"), "{}", told.findings[0].why);
}

#[test]
fn a_receipt_without_its_log_says_what_was_not_checked() {
    let key = SecretKey::make().unwrap();
    let records = small();
    let debate = Debate::from_records(&records).unwrap();
    let outcome = outcome(&debate);
    let subject = Subject { outcome: &outcome, debate: &debate, log: None, secrets: &[] };
    let text = issue(&subject, &key, SIGNED_AT).unwrap();
    assert!(!text.contains("\"log\""));
    let told = checked(&text, &trusted(&key));
    assert!(told.is_trusted());
    assert!(told.text("r.json").contains("note: the file has no log: only the signature was checked"));
    // With nothing to compare with, a statement still must not contradict itself.
    let forged = resigned(&text, &key, |statement| statement["predicate"]["log"]["head"] = json!("00"));
    let told = checked(&forged, &trusted(&key));
    assert_eq!(told.findings.len(), 1, "{:?}", told.findings);
    assert_eq!(told.findings[0].field.as_deref(), Some("subject[0].digest.sha256"));
}

/// "A receipt never contains a secret."
#[test]
fn a_secret_anywhere_is_refused_by_its_name_and_place_and_never_repeated() {
    let key = SecretKey::make().unwrap();
    let deep = agon_protocols::find("deep").unwrap();
    let value = "sk-\"0123456789";
    let secrets = [Secret { name: "OPENAI_API_KEY", value }];
    let attempt = |records: &[Record], with_log: bool| {
        let (debate, log) = (Debate::from_records(records).unwrap(), raw(records));
        let outcome = outcome(&debate);
        let log = with_log.then_some(log.as_slice());
        issue(&Subject { outcome: &outcome, debate: &debate, log, secrets: &secrets }, &key, SIGNED_AT)
    };
    let in_question = played(deep, brief(deep, &format!("Is {value} a good key?"), &[]));
    let why = attempt(&in_question, false).unwrap_err();
    assert!(matches!(&why, Unissued::Secret { path, .. } if path == "statement.predicate.question"), "{why}");
    let mut in_file = brief(deep, "Why?", &[]);
    in_file.files[0].text = format!("key = {value}");
    let in_file = played(deep, in_file);
    let why = attempt(&in_file, true).unwrap_err().to_string();
    assert!(why.contains("OPENAI_API_KEY, which is in log[0].brief.files[0].text"), "{why}");
    assert!(why.contains("--no-log") && !why.contains("0123456789"), "{why}");
    // What the sentence advises works, and the secret is then in no spelling of the file.
    let text = attempt(&in_file, false).unwrap();
    assert!(!text.contains("0123456789") && !statement_of(&text).to_string().contains("0123456789"));
    // The signer's own private key is in neither half of it.
    let text = attempt(&small(), true).unwrap();
    assert!(!text.contains("ed25519-secret"));
}

#[test]
fn only_a_debate_that_is_over_has_a_receipt_and_only_of_its_own_log() {
    let key = SecretKey::make().unwrap();
    let records = small();
    let part = &records[..records.len() - 1];
    let debate = Debate::from_records(part).unwrap();
    let (outcome_of_part, log) = (outcome(&debate), raw(part));
    let subject = Subject { outcome: &outcome_of_part, debate: &debate, log: Some(&log), secrets: &[] };
    assert!(matches!(issue(&subject, &key, SIGNED_AT), Err(Unissued::NotOver(_))));
    let debate = Debate::from_records(&records).unwrap();
    let outcome = outcome(&debate);
    let subject = Subject { outcome: &outcome, debate: &debate, log: Some(&log), secrets: &[] };
    assert!(matches!(issue(&subject, &key, SIGNED_AT), Err(Unissued::OtherLog)));
}

/// A signer can sign what he likes: what the log does not give is found also under a valid signature.
#[test]
fn a_false_statement_is_found_also_if_it_is_signed() {
    let key = SecretKey::make().unwrap();
    let forged = resigned(&receipt(&small(), &key), &key, |statement| {
        statement["predicate"]["verdict"]["answer"] = json!("Buy my shares.");
    });
    let told = checked(&forged, &trusted(&key));
    assert_eq!(told.findings.len(), 1, "{:?}", told.findings);
    let why = &told.findings[0].why;
    assert!(
        why.starts_with("`predicate.verdict.answer`: the receipt says \"Buy my shares.\", the log gives "),
        "{why}"
    );
}

/// A log that was made up and chained anew is not what was signed; one that is signed too is not what the protocol does.
#[test]
fn a_log_that_was_written_anew_is_found() {
    let key = SecretKey::make().unwrap();
    let records = small();
    let text = receipt(&records, &key);
    let last = records.last().unwrap();
    let mut entry = last.entry.clone();
    let agon_core::Event::Closed { outcome } = &mut entry.event else { panic!("closed is last") };
    outcome.verdict["answer"] = json!("Buy my shares.");
    let mut anew = records[..records.len() - 1].to_vec();
    anew.push(Record::seal(entry, &anew.last().unwrap().hash).unwrap());
    let mut swapped: Receipt = serde_json::from_str(&text).unwrap();
    swapped.log = Some(raw(&anew).into_iter().map(|(body, hash)| Link { hash, body }).collect());
    let told = checked(&serde_json::to_string(&swapped).unwrap(), &trusted(&key));
    let said = told.text("r.json");
    assert!(said.contains("the log is another one: its hashes fit each other"), "{said}");
    assert!(said.contains("`predicate.verdict.answer`: the receipt says"), "{said}");
    let told = checked(&receipt(&anew, &key), &trusted(&key));
    assert_eq!(told.findings.len(), 1, "{:?}", told.findings);
    let seq = anew.len() as u64 - 1;
    assert_eq!(told.findings[0].event, Some(seq));
    let why = format!("the log departs from the protocol at event {seq}: the outcome is not the same");
    assert_eq!(told.findings[0].why, why);
}

#[test]
fn a_receipt_is_known_by_its_beginning() {
    let text = receipt(&small(), &SecretKey::make().unwrap());
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
