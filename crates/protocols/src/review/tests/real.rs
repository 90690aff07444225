//! A real review of a diff with three planted bugs: "several findings are the same problem in other words; one change of verdict with a
//! cited line, one without a reason."

use super::*;

/// The transcript, with what its round 2 says declared by id: the texts are the judges' own.
fn replayed(set: &[(&str, &str)]) -> Debate {
    let real: Value = serde_json::from_str(include_str!("review-diff.json")).unwrap();
    let seats: Vec<&str> =
        real["seats"].as_array().unwrap().iter().map(|seat| seat["id"].as_str().unwrap()).collect();
    let own = seats.iter().map(|seat| format!("- {seat}\n")).collect::<String>();
    let files = [
        ("diff:partial-refunds.diff", real["files"][0]["text"].as_str().unwrap()),
        ("perspectives_file:own.yaml", &own),
    ];
    let set = [&[DEBATE], set].concat();
    let request = testing::request(&Review, "", &files, &["a/x"], &set).unwrap();
    let brief = testing::brief(&Review, request).unwrap();
    play(brief, &|ask, phase, _| {
        let replies = real["replies"].as_array().unwrap();
        let said = replies.iter().find(|said| said["seat"] == ask.seat.as_str() && said["phase"] == phase);
        let Some(said) = said else { return Some(json!({"restatement": "As before."})) };
        let mut value = said["reply"].clone();
        if phase != "r2" {
            return Some(value);
        }
        // The first edition repeated all findings; what each judge says of which is declared now.
        value["findings"] = json!([]);
        let (kept, accepted, because) = declared(&ask.seat);
        let status = |ids: &[&str], status: &str| {
            ids.iter().map(|id| json!({"id": id, "status": status})).collect::<Vec<_>>()
        };
        value["own"] = json!(
            ids(ask, "own", "id")
                .iter()
                .map(|id| {
                    json!({"id": id, "status": if kept.contains(&id.as_str()) { "keep" } else { "drop" }})
                })
                .collect::<Vec<_>>()
        );
        value["others"] = json!(status(accepted, "accept"));
        if !because.is_null() {
            value["changed_because"] = because;
        }
        if ask.seat == "error-paths" {
            value["same_as"] = json!([{"own": "F5", "other": "F4"}]);
        }
        Some(value)
    })
}

/// The ids that a judge keeps and accepts, and its evidence where it has some.
fn declared(seat: &str) -> (&'static [&'static str], &'static [&'static str], Value) {
    match seat {
        "correctness" => (&["F1", "F2", "F3", "F4"], &["F7"], Value::Null),
        "error-paths" => (
            &["F5", "F6", "F7"],
            &["F1", "F3"],
            json!({"kind": "code_location", "citation": "billing/refunds.py:21", "quote": "\" FROM payments WHERE id = %s\","}),
        ),
        "api-surface" => (&["F8", "F10"], &[], Value::Null),
        _ => (&["F11"], &["F1", "F3"], Value::Null),
    }
}

#[test]
fn a_real_review_is_told_as_a_careful_reader_would_tell_it() {
    let debate = replayed(&[]);
    let outcome = debate.outcome.as_ref().unwrap();
    assert_eq!(outcome.verdict["verdict"], "FAIL");
    let flips = ["correctness", "error-paths", "api-surface", "spec-compliance"].map(|seat| {
        (
            judge(outcome, seat)["r1"]["verdict"].clone(),
            judge(outcome, seat)["verdict"].clone(),
            judge(outcome, seat)["weak_flip"].clone(),
        )
    });
    let of = |r1: &str, r2: &str, weak: bool| (json!(r1), json!(r2), json!(weak));
    assert_eq!(
        flips,
        [
            of("FAIL", "FAIL", false),
            of("WARN", "FAIL", false),
            of("WARN", "FAIL", true),
            of("PASS", "PASS", false)
        ],
        "one cites a line, one only says that the others convinced it"
    );
    let findings = outcome.verdict["findings"].as_array().unwrap();
    let by_id = |id: &str| {
        findings.iter().find(|found| found["ids"].as_array().unwrap().contains(&json!(id))).unwrap()
    };
    assert_eq!(
        by_id("F1")["judges"],
        json!(["correctness", "error-paths", "spec-compliance"]),
        "the lost lock"
    );
    assert_eq!(by_id("F4")["ids"], json!(["F4", "F5"]), "the retry loop, in other words and a line apart");
    assert!(
        by_id("F9")["dropped"] == true && by_id("F9")["dropped_by"] == json!(["api-surface"]),
        "the renamed function"
    );
    assert!(findings.iter().all(|found| found["unverified"] == false), "every line is in the diff");
    assert_eq!(outcome.dissent.len(), 1, "only spec-compliance still says PASS");
    assert_eq!(outcome.dissent[0]["judge"], "spec-compliance");
    let strict = replayed(&[STRICT]);
    assert_eq!(judge(strict.outcome.as_ref().unwrap(), "api-surface")["verdict"], "WARN", "it goes back");
}
