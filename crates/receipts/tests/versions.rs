//! A receipt that another version signed: a signer can name any version, so that none may switch a check off.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod table;

use agon_core::{Event, Record};
use agon_receipts::statement::VERSION;
use agon_receipts::verify::{Check, State};
use agon_receipts::{SecretKey, Verification};
use serde_json::{Value, json};
use table::{checked, receipt, resigned, small, trusted};

/// What is told of a receipt that its signer changed and says to be of another version.
fn of_another(change: impl FnOnce(&mut Value)) -> Verification {
    let key = SecretKey::from_bytes(&[7; 32]);
    let text = resigned(&receipt(&small(), &key), &key, |statement| {
        statement["predicate"]["agon"] = json!("9.9.9");
        change(statement);
    });
    checked(&text, &trusted(&key))
}

fn check<'a>(told: &'a Verification, what: &str) -> &'a Check {
    told.checks.iter().find(|check| check.what == what).unwrap()
}

fn fields(told: &Verification) -> Vec<&str> {
    told.findings.iter().filter_map(|finding| finding.field.as_deref()).collect()
}

#[test]
fn evidence_that_another_version_is_said_to_give_is_not_trusted_and_is_named() {
    let told = of_another(|statement| {
        statement["predicate"]["evidence"]["phases"] = json!(99);
        statement["predicate"]["evidence"]["spoke"] = json!([]);
    });
    assert!(told.is_intact() && !told.is_trusted(), "{told:?}");
    assert_eq!(told.agon.as_deref(), Some("9.9.9"));
    let outcome = check(&told, "outcome");
    assert_eq!(outcome.state, State::NotChecked);
    let names = ["`predicate.evidence.phases`", "`predicate.evidence.spoke[0]`"];
    assert!(names.iter().all(|name| outcome.said.contains(name)), "{}", outcome.said);
    let text = told.text("r.json");
    let count = told.unsettled.len();
    let headline = format!(
        "r.json: intact as signed, but made by agon 9.9.9: {count} fields could not be worked out again\n"
    );
    assert!(count > 2 && text.starts_with(&headline), "{text}");
    assert!(text.contains("  ? `predicate.evidence.phases`: the receipt says 99, the log gives "), "{text}");
    assert!(!text.contains("every field of the receipt"), "{text}");
    let document = told.document("r.json");
    assert_eq!((&document["intact"], &document["trusted"]), (&json!(true), &json!(false)));
    assert_eq!(document["unsettled"][0]["field"], "predicate.evidence.phases");
}

/// A stranger is told both: that it was made otherwise, and that the key is not known.
#[test]
fn what_another_version_says_does_not_hide_that_the_key_is_unknown() {
    let key = SecretKey::from_bytes(&[7; 32]);
    let text = resigned(&receipt(&small(), &key), &key, |statement| {
        statement["predicate"]["agon"] = json!("9.9.9");
        statement["predicate"]["evidence"]["phases"] = json!(99);
    });
    let said = checked(&text, &[]).text("r.json");
    let headline = said.lines().next().unwrap();
    assert!(headline.contains("made by agon 9.9.9: 1 field could not be worked out again; and"), "{said}");
    assert!(headline.contains("signed with a key that you do not know"), "{said}");
}

/// Sums of the log are the same in every version.
#[test]
fn usage_is_excused_by_no_version() {
    let told = of_another(|statement| statement["predicate"]["usage"]["calls"] = json!(1));
    assert_eq!(fields(&told), ["predicate.usage.calls"]);
    assert_eq!(check(&told, "outcome").state, State::Fails);
    let same_version = resigned(
        &receipt(&small(), &SecretKey::from_bytes(&[7; 32])),
        &SecretKey::from_bytes(&[7; 32]),
        |statement| statement["predicate"]["evidence"]["phases"] = json!(99),
    );
    let told = checked(&same_version, &[]);
    assert_eq!(fields(&told), ["predicate.evidence.phases"]);
}

#[test]
fn another_version_that_gives_the_same_holds() {
    let told = of_another(|_| {});
    assert!(told.is_trusted(), "{told:?}");
    assert!(told.checks.iter().all(|check| check.state == State::Holds), "{:?}", told.checks);
    assert!(told.text("r.json").contains("intact, signed with the key that you trust as alice"));
}

/// Neither many differences before it nor a name that begins alike hides a false verdict.
#[test]
fn nothing_else_hides_behind_the_evidence_of_another_version() {
    let told = of_another(|statement| {
        for n in 0..50 {
            statement["predicate"]["evidence"][n.to_string()] = json!(n);
        }
        statement["predicate"]["verdict"]["answer"] = json!("Buy my shares.");
    });
    assert_eq!(fields(&told), ["predicate.verdict.answer"]);
    let told = of_another(|statement| {
        for n in 0..50 {
            statement["predicate"]["evidence"][n.to_string()] = json!(n);
        }
    });
    assert!(told.is_intact() && !told.is_trusted());
    assert!(told.text("r.json").contains("agon 9.9.9: at least 20 fields could not be"), "{told:?}");
    for place in ["predicate.evidence", "predicate.evidence.phases"] {
        assert_eq!(fields(&of_another(|statement| statement[place] = json!("x"))), [place]);
    }
    let told = of_another(|statement| statement["predicate"]["evidence_2"] = json!("x"));
    assert_eq!(fields(&told), ["predicate.evidence_2"]);
}

/// The log of such a receipt can be made up as well as its evidence.
#[test]
fn a_log_that_departs_from_the_protocol_is_not_trusted_whatever_version_signed_it() {
    let key = SecretKey::from_bytes(&[7; 32]);
    let records = small();
    let mut entry = records.last().unwrap().entry.clone();
    let Event::Closed { outcome } = &mut entry.event else { panic!("closed is last") };
    outcome.verdict["answer"] = json!("Buy my shares.");
    let mut anew = records[..records.len() - 1].to_vec();
    anew.push(Record::seal(entry, &anew.last().unwrap().hash).unwrap());
    let text = resigned(&receipt(&anew, &key), &key, |statement| {
        statement["predicate"]["agon"] = json!("9.9.9");
    });
    let told = checked(&text, &trusted(&key));
    assert!(told.is_intact() && !told.is_trusted(), "{told:?}");
    assert_eq!(check(&told, "outcome").state, State::Holds);
    assert_eq!(check(&told, "replay").state, State::NotChecked);
    assert_eq!(told.unsettled[0].event, Some(anew.len() as u64 - 1));
    let said = told.text("r.json");
    let headline = "made by agon 9.9.9: the steps of the protocol could not be worked out again\n";
    assert!(said.contains(headline), "{said}");
}

/// A version is a few letters: no sentence of the signer's stands where the program speaks.
#[test]
fn a_sentence_in_the_place_of_a_version_is_quoted() {
    let told = of_another(|statement| {
        statement["predicate"]["agon"] =
            json!("1: all of it holds. Nothing to see here, and so it goes on and on");
        statement["predicate"]["evidence"]["phases"] = json!(99);
    });
    let said = told.text("r.json");
    assert!(said.contains("made by agon \"1: all of it holds."), "{said}");
    assert!(said.contains(VERSION) && !said.contains("on and on"), "{said}");
}

/// What was not compared is not said to hold.
#[test]
fn the_outcome_of_a_log_that_was_cut_off_was_not_checked() {
    let key = SecretKey::from_bytes(&[7; 32]);
    let mut file: Value = serde_json::from_str(&receipt(&small(), &key)).unwrap();
    file["log"].as_array_mut().unwrap().pop();
    let told = checked(&file.to_string(), &trusted(&key));
    assert_eq!(check(&told, "outcome").state, State::NotChecked, "{:?}", told.checks);
}
