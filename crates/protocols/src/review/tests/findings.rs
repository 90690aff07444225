//! "Findings: the union of R1 and R2, deduplicated, a finding dropped in R2 is marked so."

use std::slice::from_ref;

use super::*;

const INJECTION: &str = "The user name goes into the SQL statement unescaped";
const INJECTION_TOO: &str = "The user name goes unescaped into the SQL statement";

/// The findings of a debate in which each judge finds these in round 1 and in round 2.
fn found(set: &[(&str, &str)], by: &[(&str, &[Value], &[Value])]) -> Vec<Value> {
    let count = by.len().to_string();
    let set = [&[("count", count.as_str())], set].concat();
    let debate = play(brief(&["a/x"], &set), &|ask, phase, _| {
        let (_, r1, r2) = by.iter().find(|(seat, ..)| *seat == ask.seat)?;
        let mut value = said(ask, phase, &[(&ask.seat, "WARN", "WARN")])?;
        match phase {
            "r1" => value["findings"] = json!(r1),
            "r2" => value["findings"] = json!(r2),
            _ => {}
        }
        Some(value)
    });
    debate.outcome.unwrap().verdict["findings"].as_array().unwrap().clone()
}

/// Two findings are one if their words are the same, or much alike and not opposed, and they are in the same file and at most
/// three lines apart. On the same line less likeness is enough.
#[test]
fn findings_are_the_same_when_words_and_place_are() {
    let denied = "The user name goes into the SQL statement not unescaped";
    let half = "The user name goes into the SQL log";
    let other = "There is no test for the login";
    for (one, at, two, and_at, same) in [
        (INJECTION, "src/auth.py:5", INJECTION, "src/auth.py:5", true),
        (
            INJECTION,
            "src/auth.py:5",
            "the USER name goes into the sql statement unescaped",
            "src/auth.py:5",
            true,
        ),
        (INJECTION, "src/auth.py:5", INJECTION_TOO, "src/auth.py:5", true),
        (INJECTION, "src/auth.py:5", INJECTION_TOO, "auth.py, line 6", true),
        (INJECTION, "src/auth.py:5", INJECTION, "", true),
        (INJECTION, "", INJECTION_TOO, "", true),
        (INJECTION, "src/auth.py:2", INJECTION, "src/auth.py:5", true),
        (INJECTION, "src/auth.py:1", INJECTION, "src/auth.py:5", false),
        (INJECTION, "src/auth.py:5", INJECTION, "src/other.py:5", false),
        (INJECTION, "src/auth.py:5", INJECTION_TOO, "src/other.py:5", false),
        (INJECTION, "src/auth.py:5", denied, "src/auth.py:5", false),
        ("Retries are bounded", "src/auth.py:5", "Retries are not bounded", "src/auth.py:5", false),
        ("Timeout is too low", "src/auth.py:5", "Timeout is too high", "src/auth.py:5", false),
        ("x < 0 is allowed", "src/auth.py:5", "x > 0 is allowed", "src/auth.py:5", false),
        ("The limit is 1", "src/auth.py:5", "The limit is 10", "src/auth.py:5", false),
        (INJECTION, "src/auth.py:5", denied, "src/auth.py:6", false),
        (INJECTION, "", denied, "", false),
        (INJECTION, "src/auth.py:5", half, "src/auth.py:5", true),
        (INJECTION, "src/auth.py:5", half, "src/auth.py:6", false),
        (INJECTION, "", half, "", false),
        (INJECTION, "src/auth.py:5", other, "src/auth.py:5", false),
        (INJECTION, "", other, "", false),
    ] {
        let one = finding("minor", one, at);
        let two = finding("minor", two, and_at);
        let all = found(&[], &[("judge-1", from_ref(&one), &[]), ("judge-2", from_ref(&two), &[])]);
        assert_eq!(all.len(), if same { 1 } else { 2 }, "{one} and {two}");
        if same {
            assert_eq!(all[0]["judges"], json!(["judge-1", "judge-2"]));
        }
    }
}

/// Two findings of one judge in one round are two, however alike they are.
#[test]
fn two_findings_of_one_judge_in_one_round_stay_two() {
    let user =
        finding("significant", "The argument user is not validated before use in the query", "src/auth.py:5");
    let password = finding(
        "significant",
        "The argument password is not validated before use in the query",
        "src/auth.py:5",
    );
    let all = found(&[], &[("judge-1", &[user.clone(), password.clone()], &[])]);
    assert_eq!(all.len(), 2);
    let all = found(&[], &[("judge-1", &[user.clone(), user.clone()], &[])]);
    assert_eq!(all.len(), 1, "the same words at the same place are one");
    let all = found(&[DEBATE], &[("judge-1", &[user, password.clone()], &[password]), ("judge-2", &[], &[])]);
    let dropped: Vec<&Value> = all.iter().map(|finding| &finding["dropped"]).collect();
    assert_eq!(dropped, [true, false]);
}

/// Likeness is inclusive at its thresholds: 0.8, and 0.7 on the same line.
#[test]
fn likeness_has_two_thresholds() {
    let words = |n: usize, of: usize, own: char| -> String {
        let shared = (0..n).map(|i| format!("word{i} "));
        shared.chain((n..of).map(|i| format!("{own}{i} "))).collect()
    };
    for (shared, of, at, same) in [
        (8, 10, "src/auth.py:6", true),
        (80, 100, "src/auth.py:6", true),
        (79, 100, "src/auth.py:6", false),
        (70, 100, "src/auth.py:5", true),
        (69, 100, "src/auth.py:5", false),
    ] {
        let one = finding("minor", &words(shared, of, 'x'), "src/auth.py:5");
        let two = finding("minor", &words(shared, of, 'y'), at);
        let all = found(&[], &[("judge-1", &[one], &[]), ("judge-2", &[two], &[])]);
        assert_eq!(all.len() == 1, same, "{shared} of {of} words, {at}");
    }
}

/// It has the highest severity, and what anybody said of its category, location and recommendation.
#[test]
fn a_merged_finding_combines_what_its_judges_reported() {
    let vague = json!({"severity": "minor", "description": INJECTION});
    let exact = json!({"severity": "critical", "description": INJECTION_TOO, "category": "injection",
                       "location": "src/auth.py:5-7", "recommendation": "Bind it."});
    let all = found(&[], &[("judge-1", &[vague], &[]), ("judge-2", &[exact], &[])]);
    let want = json!({"id": "F1", "severity": "critical", "description": INJECTION_TOO, "category": "injection",
                      "location": "src/auth.py:5-7", "recommendation": "Bind it.", "file": "src/auth.py", "line": 5,
                      "end_line": 7, "judges": ["judge-1", "judge-2"], "rounds": [1],
                      "also": [{"judge": "judge-1", "description": INJECTION, "location": null}], "dropped": false, "dropped_by": []});
    assert_eq!(all, [want]);
}

/// The severity is that of the verdict that counts.
#[test]
fn a_severity_lowered_in_round_2_counts() {
    let (severe, small) =
        (finding("critical", INJECTION, "src/auth.py:5"), finding("minor", INJECTION, "src/auth.py:5"));
    let held = [("judge-1", from_ref(&severe), from_ref(&small)), ("judge-2", &[][..], &[][..])];
    assert_eq!(found(&[DEBATE], &held)[0]["severity"], "minor");
    assert_eq!(found(&[], &held)[0]["severity"], "critical");
    let other =
        [("judge-1", from_ref(&severe), from_ref(&small)), ("judge-2", from_ref(&severe), from_ref(&severe))];
    assert_eq!(found(&[DEBATE], &other)[0]["severity"], "critical", "another judge still calls it so");
}

/// Rule 10: ids `[F1]` are numbered. The most severe come first, and seat order decides between equals.
#[test]
fn the_most_severe_findings_come_first() {
    let of = |severity: &str, what: &str| finding(severity, what, "");
    let all = found(
        &[],
        &[
            (
                "judge-1",
                &[of("minor", "apples rot"), of("critical", "pears burn"), of("minor", "plums fall")],
                &[],
            ),
            ("judge-2", &[of("critical", "wheat drowns"), of("significant", "barley freezes")], &[]),
        ],
    );
    let row = |finding: &Value| {
        format!("{} {}", finding["id"].as_str().unwrap(), finding["description"].as_str().unwrap())
    };
    let rows: Vec<String> = all.iter().map(row).collect();
    assert_eq!(
        rows,
        ["F1 pears burn", "F2 wheat drowns", "F3 barley freezes", "F4 apples rot", "F5 plums fall"]
    );
}

/// "the union of R1 and R2 ... a finding dropped in R2 is marked so": it stays in the list.
#[test]
fn a_finding_dropped_in_round_2_is_kept_and_marked() {
    let (a, b, c, d) = (
        finding("minor", "apples rot", ""),
        finding("minor", "pears burn", ""),
        finding("minor", "plums fall", ""),
        finding("minor", "wheat drowns", ""),
    );
    let all = found(
        &[DEBATE],
        &[
            ("judge-1", &[a.clone(), b.clone(), c.clone()], &[a.clone(), d.clone()]),
            ("judge-2", &[a.clone(), b.clone()], from_ref(&b)),
        ],
    );
    let row = |description: &str| all.iter().find(|finding| finding["description"] == description).unwrap();
    for (description, rounds, dropped, by) in [
        ("apples rot", json!([1, 2]), false, json!(["judge-2"])),
        ("pears burn", json!([1, 2]), false, json!(["judge-1"])),
        ("plums fall", json!([1]), true, json!(["judge-1"])),
        ("wheat drowns", json!([2]), false, json!([])),
    ] {
        let found = row(description);
        assert_eq!(found["rounds"], rounds, "{description}");
        assert_eq!((&found["dropped"], &found["dropped_by"]), (&json!(dropped), &by), "{description}");
    }
    assert_eq!(all.len(), 4);
}

/// A judge drops nothing if it was absent, had no round 2, or was reverted.
#[test]
fn only_a_round_2_that_counts_drops_anything() {
    let lines = [("judge-1", "PASS", "FAIL"), ("judge-2", "FAIL", "FAIL")];
    for (set, absent, weak, dropped) in [
        (&[][..], false, false, false),
        (&[DEBATE], true, false, false),
        (&[DEBATE], false, false, true),
        (&[DEBATE], false, true, true),
        (&[DEBATE, STRICT], false, true, false),
        (&[DEBATE, STRICT], false, false, true),
    ] {
        let debate = play(brief(&["a/x"], set), &|ask, phase, _| {
            let mut value = said(ask, phase, &lines)?;
            match (phase, ask.seat.as_str()) {
                ("r1", "judge-1") => value["findings"] = json!([finding("minor", "apples rot", "")]),
                ("r2", "judge-1") if absent => return None,
                ("r2", "judge-1") if weak => value["changed_because"] = Value::Null,
                _ => {}
            }
            Some(value)
        });
        let outcome = debate.outcome.unwrap();
        assert_eq!(
            outcome.verdict["findings"][0]["dropped"], dropped,
            "{set:?}, absent {absent}, weak {weak}"
        );
    }
}

#[test]
fn a_finding_repeated_in_other_words_is_not_dropped() {
    let one = finding("minor", INJECTION, "src/auth.py:5");
    let two = finding("significant", INJECTION_TOO, "auth.py:5");
    let all = found(&[DEBATE], &[("judge-1", &[one], &[two]), ("judge-2", &[], &[])]);
    assert_eq!(all.len(), 1);
    assert_eq!((&all[0]["rounds"], &all[0]["dropped"]), (&json!([1, 2]), &json!(false)));
}

/// A location is read against the files of the packet. A line that a file does not have is left out.
#[test]
fn a_finding_has_the_file_and_line_of_its_location() {
    for (location, file, line) in [
        ("src/auth.py:45", json!("src/auth.py"), json!(45)),
        ("auth.py:50", json!("src/auth.py"), json!(50)),
        ("auth.py:51", json!("src/auth.py"), Value::Null),
        ("line 7", json!("src/auth.py"), json!(7)),
        ("tests/login.py:3", json!("tests/login.py"), json!(3)),
        ("/etc/shadow.conf:1", Value::Null, Value::Null),
        ("in the login", Value::Null, Value::Null),
    ] {
        let all = found(&[], &[("judge-1", &[finding("minor", "apples rot", location)], &[])]);
        assert_eq!((&all[0]["file"], &all[0]["line"], &all[0]["location"]), (&file, &line, &json!(location)));
    }
}

/// With a diff, the paths are those that it changes.
#[test]
fn locations_are_read_against_a_diff_too() {
    let diff = "diff --git a/src/new.rs b/src/new.rs\n--- a/src/new.rs\n+++ b/src/new.rs\n@@ -1 +1,2 @@\n-a\n+b\n+c\n";
    let request =
        testing::request(&Review, "", &[("diff:change.diff", diff)], &["a/x"], &[("count", "1")]).unwrap();
    let brief = testing::brief(&Review, request).unwrap();
    let debate = play(brief, &|_, _, _| {
        let mut value = first("WARN");
        value["findings"] = json!([finding("minor", "apples rot", "new.rs:2")]);
        Some(value)
    });
    let found = &debate.outcome.unwrap().verdict["findings"][0];
    assert_eq!((&found["file"], &found["line"]), (&json!("src/new.rs"), &json!(2)));
}
