//! Receipts of another version of Agon. A signer can claim any version, so no version may switch a check off.

use crate::sample_debate::{check, receipt, resign, small_debate, trusted};
use agon_core::{Event, LogRecord};
use agon_publish::receipts::statement::VERSION;
use agon_publish::receipts::verify::{CheckState, ReceiptCheck};
use agon_publish::receipts::{ReceiptVerification, SecretKey};
use serde_json::{Value, json};

/// Checks a receipt that its signer changed and that claims another version.
fn check_other_version(change: impl FnOnce(&mut Value)) -> ReceiptVerification {
    let key = SecretKey::from_bytes(&[7; 32]);
    let text = resign(&receipt(&small_debate(), &key), &key, |statement| {
        statement["predicate"]["agon"] = json!("9.9.9");
        change(statement);
    });
    check(&text, &trusted(&key))
}

fn check_named<'a>(result: &'a ReceiptVerification, what: &str) -> &'a ReceiptCheck {
    result.checks.iter().find(|check| check.what == what).unwrap()
}

fn fields(result: &ReceiptVerification) -> Vec<&str> {
    result.findings.iter().filter_map(|finding| finding.field.as_deref()).collect()
}

#[test]
fn evidence_of_another_version_that_cannot_be_reproduced_is_named_and_not_trusted() {
    let result = check_other_version(|statement| {
        statement["predicate"]["evidence"]["phases"] = json!(99);
        statement["predicate"]["evidence"]["spoke"] = json!([]);
    });
    assert!(result.is_intact() && !result.is_trusted(), "{result:?}");
    assert_eq!(result.agon.as_deref(), Some("9.9.9"));
    let outcome = check_named(&result, "outcome");
    assert_eq!(outcome.state, CheckState::NotChecked);
    let names = ["`predicate.evidence.phases`", "`predicate.evidence.spoke[0]`"];
    assert!(names.iter().all(|name| outcome.said.contains(name)), "{}", outcome.said);
    let text = result.text("r.json");
    let count = result.unsettled.len();
    let headline =
        format!("r.json: intact as signed, but made by agon 9.9.9: {count} fields could not be reproduced\n");
    assert!(count > 2 && text.starts_with(&headline), "{text}");
    assert!(text.contains("  ? `predicate.evidence.phases`: the receipt says 99, the log gives "), "{text}");
    assert!(!text.contains("every field of the receipt"), "{text}");
    let document = result.document("r.json");
    assert_eq!((&document["intact"], &document["trusted"]), (&json!(true), &json!(false)));
    assert_eq!(document["unsettled"][0]["field"], "predicate.evidence.phases");
}

#[test]
fn the_headline_names_both_the_other_version_and_the_unknown_key() {
    let key = SecretKey::from_bytes(&[7; 32]);
    let text = resign(&receipt(&small_debate(), &key), &key, |statement| {
        statement["predicate"]["agon"] = json!("9.9.9");
        statement["predicate"]["evidence"]["phases"] = json!(99);
    });
    let said = check(&text, &[]).text("r.json");
    let headline = said.lines().next().unwrap();
    assert!(headline.contains("made by agon 9.9.9: 1 field could not be reproduced; and"), "{said}");
    assert!(headline.contains("signed with a key that you do not know"), "{said}");
}

/// Sums over the log are the same in every version.
#[test]
fn no_version_excuses_a_wrong_usage() {
    let result = check_other_version(|statement| statement["predicate"]["usage"]["calls"] = json!(1));
    assert_eq!(fields(&result), ["predicate.usage.calls"]);
    assert_eq!(check_named(&result, "outcome").state, CheckState::Fails);
    let same_version = resign(
        &receipt(&small_debate(), &SecretKey::from_bytes(&[7; 32])),
        &SecretKey::from_bytes(&[7; 32]),
        |statement| statement["predicate"]["evidence"]["phases"] = json!(99),
    );
    let result = check(&same_version, &[]);
    assert_eq!(fields(&result), ["predicate.evidence.phases"]);
}

#[test]
fn another_version_with_the_same_results_is_trusted() {
    let result = check_other_version(|_| {});
    assert!(result.is_trusted(), "{result:?}");
    assert!(result.checks.iter().all(|check| check.state == CheckState::Holds), "{:?}", result.checks);
    assert!(
        result.text("r.json").contains("intact and replayed, signed with the key that you trust as alice")
    );
}

#[test]
fn a_false_verdict_cannot_hide_behind_many_differences_in_the_evidence() {
    let result = check_other_version(|statement| {
        for n in 0..50 {
            statement["predicate"]["evidence"][n.to_string()] = json!(n);
        }
        statement["predicate"]["verdict"]["answer"] = json!("Buy my shares.");
    });
    assert_eq!(fields(&result), ["predicate.verdict.answer"]);
    let result = check_other_version(|statement| {
        for n in 0..50 {
            statement["predicate"]["evidence"][n.to_string()] = json!(n);
        }
    });
    assert!(result.is_intact() && !result.is_trusted());
    assert!(result.text("r.json").contains("agon 9.9.9: at least 20 fields could not be"), "{result:?}");
    for place in ["predicate.evidence", "predicate.evidence.phases"] {
        assert_eq!(fields(&check_other_version(|statement| statement[place] = json!("x"))), [place]);
    }
    let result = check_other_version(|statement| statement["predicate"]["evidence_2"] = json!("x"));
    assert_eq!(fields(&result), ["predicate.evidence_2"]);
}

#[test]
fn a_log_that_breaks_the_protocol_is_not_trusted_whatever_version_signed_it() {
    let key = SecretKey::from_bytes(&[7; 32]);
    let records = small_debate();
    let mut entry = records.last().unwrap().entry.clone();
    let Event::Closed { outcome } = &mut entry.event else { panic!("closed is last") };
    outcome.verdict["answer"] = json!("Buy my shares.");
    let mut rewritten = records[..records.len() - 1].to_vec();
    rewritten.push(LogRecord::seal(entry, &rewritten.last().unwrap().hash).unwrap());
    let text = resign(&receipt(&rewritten, &key), &key, |statement| {
        statement["predicate"]["agon"] = json!("9.9.9");
    });
    let result = check(&text, &trusted(&key));
    assert!(result.is_intact() && !result.is_trusted(), "{result:?}");
    assert_eq!(check_named(&result, "outcome").state, CheckState::Holds);
    assert_eq!(check_named(&result, "replay").state, CheckState::NotChecked);
    assert_eq!(result.unsettled[0].event, Some(rewritten.len() as u64 - 1));
    let said = result.text("r.json");
    let headline = "made by agon 9.9.9: the steps of the protocol could not be reproduced\n";
    assert!(said.contains(headline), "{said}");
}

/// Otherwise a signer could write a sentence there that looks like one of Agon's.
#[test]
fn a_version_that_is_a_sentence_is_quoted() {
    let result = check_other_version(|statement| {
        statement["predicate"]["agon"] =
            json!("1: all of it holds. Nothing to see here, and so it goes on and on");
        statement["predicate"]["evidence"]["phases"] = json!(99);
    });
    let said = result.text("r.json");
    assert!(said.contains("made by agon \"1: all of it holds."), "{said}");
    assert!(said.contains(VERSION) && !said.contains("on and on"), "{said}");
}

#[test]
fn the_outcome_of_a_log_without_its_last_event_is_not_checked() {
    let key = SecretKey::from_bytes(&[7; 32]);
    let mut file: Value = serde_json::from_str(&receipt(&small_debate(), &key)).unwrap();
    file["log"].as_array_mut().unwrap().pop();
    let result = check(&file.to_string(), &trusted(&key));
    assert_eq!(check_named(&result, "outcome").state, CheckState::NotChecked, "{:?}", result.checks);
}
