//! "Findings have ids `[F1]` from R1 on": which are one, which are dropped, who stands behind each, and where they are.

use super::*;

/// What a judge says: findings of round 1, and what it adds to its answer of round 2.
type Said<'a> = (&'a str, Vec<Value>, Value);

/// The findings of a debate of these judges, who all say WARN.
fn found(set: &[(&str, &str)], by: &[Said<'_>]) -> Vec<Value> {
    let count = by.len().to_string();
    let set = [&[("count", count.as_str())], set].concat();
    let debate = play(brief(&["a/x"], &set), &|ask, phase, _| {
        let (_, r1, r2) = by.iter().find(|(seat, ..)| *seat == ask.seat)?;
        let mut value = said(ask, phase, &[(&ask.seat, "WARN", "WARN")])?;
        match phase {
            "r1" => value["findings"] = json!(r1),
            "r2" => {
                value["others"] = json!([]);
                value.as_object_mut().unwrap().extend(r2.as_object().unwrap().clone());
            }
            _ => {}
        }
        Some(value)
    });
    debate.outcome.unwrap().verdict["findings"].as_array().unwrap().clone()
}

fn in_category(category: &str, description: &str, location: &str) -> Value {
    let mut found = finding("minor", description, location);
    found["category"] = json!(category);
    found
}

/// "two are one when location and category are present and equal or a judge declares `same_as` in R2": words decide nothing, in any
/// language. The same text about the same place is the same text.
#[test]
fn findings_are_one_by_place_and_category_or_by_declaration() {
    let at = |category, description, location| in_category(category, description, location);
    let plain = finding;
    for (one, two, same) in [
        (
            at("sql", "SQL injection", "src/auth.py:5"),
            at("SQL", "The name is not escaped", "auth.py:5"),
            true,
        ),
        (at("sql", "SQL-Einschleusung", "src/auth.py:5"), at("sql", "注入漏洞", "src/auth.py:5"), true),
        (at("sql", "SQL injection", "src/auth.py:5"), at("sql", "SQL injection", "src/auth.py:6"), false),
        (at("sql", "SQL injection", "src/auth.py:5"), at("style", "SQL injection!", "src/auth.py:5"), false),
        (at("sql", "Retries are bounded", ""), at("sql", "Retries are not bounded", ""), false),
        (
            at("", "Retries are bounded", "src/auth.py:5"),
            at("", "Retries are not bounded", "src/auth.py:5"),
            false,
        ),
        (
            plain("minor", "Die Eingabe ist ungeprüft", "src/auth.py:5"),
            plain("minor", "Die Eingabe ist nicht geprüft", "src/auth.py:5"),
            false,
        ),
        (
            plain("minor", "输入未经检查", "src/auth.py:5"),
            plain("minor", "没有检查输入", "src/auth.py:5"),
            false,
        ),
        (
            plain("minor", "SQL injection", "src/auth.py:5"),
            plain("minor", "sql  INJECTION", "src/auth.py:5"),
            true,
        ),
        (plain("minor", "输入未经检查", ""), plain("minor", "输入未经检查", ""), true),
        (plain("minor", "SQL injection", "src/auth.py:5"), plain("minor", "SQL injection", ""), false),
        (at("sql", "a", "nowhere.py:7"), at("sql", "b", "nowhere.py:7"), true),
        (at("sql", "a", "nowhere.py:7"), at("sql", "b", "nowhere.py:8"), false),
    ] {
        let judges = [("judge-1", vec![one.clone()], json!({})), ("judge-2", vec![two.clone()], json!({}))];
        let all = found(&[], &judges);
        assert_eq!(all.len(), if same { 1 } else { 2 }, "{one} and {two}");
        assert!(!same || all[0]["judges"] == json!(["judge-1", "judge-2"]), "{all:?}");
        // A declaration makes any two one, whoever declares it, unless it names an id that is not there.
        for (judge, own, other, holds) in [
            (0, "F1", "F2", true),
            (1, "F2", "F1", true),
            (1, "[f2]", "[F1]", true),
            (0, "F2", "F1", false),
            (0, "F1", "F9", false),
        ] {
            let mut judges = judges.clone();
            judges[judge].2 = json!({"same_as": [{"own": own, "other": other}]});
            let all = found_unchecked(&judges);
            assert_eq!(all.len() == 1, same || holds, "{one} and {two}: {own} is {other}");
        }
    }
}

/// The same without the schema, which would not let unknown ids pass.
fn found_unchecked(by: &[Said<'_>]) -> Vec<Value> {
    let debate = play_replies(brief(&["a/x"], &[DEBATE]), |debate, ask| {
        let (_, r1, r2) = by.iter().find(|(seat, ..)| *seat == ask.seat).unwrap();
        let phase = debate.last_phase().unwrap().name.clone();
        let mut value = said(ask, &phase, &[(&ask.seat, "WARN", "WARN")]).unwrap();
        match phase.as_str() {
            "r1" => value["findings"] = json!(r1),
            _ => value.as_object_mut().unwrap().extend(r2.as_object().unwrap().clone()),
        }
        spoken(&ask.model, value)
    });
    debate.outcome.unwrap().verdict["findings"].as_array().unwrap().clone()
}

/// It has the words of its most severe report, and what anybody said of its category, location and recommendation.
#[test]
fn a_merged_finding_combines_what_its_judges_reported() {
    let vague = json!({"severity": "minor", "description": "Escape it"});
    let exact = json!({"severity": "critical", "description": "SQL injection", "category": "injection",
                       "location": "src/auth.py:5-7", "recommendation": "Bind it."});
    let all = found(
        &[DEBATE],
        &[
            ("judge-1", vec![vague], json!({})),
            ("judge-2", vec![exact], json!({"same_as": [{"own": "F2", "other": "F1"}]})),
            ("judge-3", vec![], json!({"others": [{"id": "F1", "status": "accept", "reason": "Seen."}]})),
            (
                "judge-4",
                vec![],
                json!({"others": [{"id": "F2", "status": "dispute", "reason": "It is bound."}],
                                       "findings": [finding("minor", "No docstring", "")]}),
            ),
        ],
    );
    let want = json!({"id": "F1", "ids": ["F1", "F2"], "severity": "critical", "description": "SQL injection",
                      "category": "injection", "location": "src/auth.py:5-7", "recommendation": "Bind it.",
                      "unverified": false, "file": "src/auth.py", "line": 5, "end_line": 7,
                      "judges": ["judge-1", "judge-2", "judge-3"], "raised_by": ["judge-1", "judge-2"], "accepted_by": ["judge-3"],
                      "disputed_by": [{"judge": "judge-4", "reason": "It is bound."}], "rounds": [1],
                      "also": [{"id": "F1", "judge": "judge-1", "severity": "minor", "description": "Escape it", "location": null}],
                      "dropped": false, "dropped_by": []});
    assert_eq!(all[0], want);
    let fields = |found: &Value| (found["id"].clone(), found["rounds"].clone(), found["judges"].clone());
    assert_eq!(fields(&all[1]), (json!("F3"), json!([2]), json!(["judge-4"])), "ids go on in round 2");
}

/// "R2 says `keep|change|drop` for each of the judge's own by id ... "Dropped" is what a judge dropped by id, nothing else; a finding
/// counts everybody who raised or accepted it."
#[test]
fn a_finding_is_dropped_by_its_id_and_by_nothing_else() {
    let own = |status: &str| json!({"own": [{"id": "F1", "status": status, "severity": "critical", "reason": "r"}]});
    let accept = json!({"others": [{"id": "F1", "status": "accept"}]});
    let dispute = json!({"others": [{"id": "F1", "status": "dispute"}]});
    for (first, other, dropped, severity) in [
        (json!({"own": []}), json!({}), false, "minor"),
        (own("keep"), json!({}), false, "minor"),
        (own("change"), json!({}), false, "critical"),
        (own("drop"), json!({}), true, "minor"),
        (own("drop"), accept, false, "minor"),
        (own("drop"), dispute.clone(), true, "minor"),
        (own("keep"), dispute, false, "minor"),
        (
            json!({"own": [{"id": "F1", "status": "drop"}, {"id": "F1", "status": "keep"}]}),
            json!({}),
            false,
            "minor",
        ),
    ] {
        let judges = [
            ("judge-1", vec![finding("minor", "apples rot", "")], first.clone()),
            ("judge-2", vec![finding("minor", "pears burn", "src/auth.py:3")], other.clone()),
        ];
        let all = found(&[DEBATE], &judges);
        let apples = all.iter().find(|found| found["id"] == "F1").unwrap();
        assert_eq!(
            (&apples["dropped"], &apples["severity"]),
            (&json!(dropped), &json!(severity)),
            "{first} {other}"
        );
        let has_dropped = first["own"][0]["status"] == "drop" && first["own"][1].is_null();
        assert_eq!(apples["dropped_by"] == json!(["judge-1"]), has_dropped, "{first}");
    }
}

/// "'Dropped' is what a judge dropped by id, nothing else": only the verdict is reverted. A judge without a second verdict drops nothing.
#[test]
fn a_reverted_judge_still_drops_its_findings() {
    for (set, reason, absent, dropped) in [
        (&[DEBATE][..], evidence(), false, true),
        (&[DEBATE], no_evidence(), false, true),
        (&[DEBATE, STRICT], evidence(), false, true),
        (&[DEBATE, STRICT], no_evidence(), false, true),
        (&[DEBATE], evidence(), true, false),
    ] {
        let lines = [("judge-1", "FAIL", "PASS"), ("judge-2", "PASS", "PASS")];
        let debate = play(brief(&["a/x"], set), &|ask, phase, _| {
            let mut value = said(ask, phase, &lines)?;
            if phase == "r2" && ask.seat == "judge-1" {
                value["own"] = json!([{"id": "F1", "status": "drop"}]);
                value["changed_because"] = reason.clone();
                return (!absent).then_some(value);
            }
            Some(value)
        });
        assert_eq!(
            debate.outcome.unwrap().verdict["findings"][0]["dropped"],
            dropped,
            "{set:?} {reason} {absent}"
        );
    }
}

/// The most severe come first; seat order decides between equals.
#[test]
fn the_most_severe_findings_come_first() {
    let of = |severity: &str, what: &str| finding(severity, what, "");
    let one = vec![of("minor", "apples rot"), of("critical", "pears burn")];
    let two = vec![of("significant", "plums fall"), of("critical", "figs crack")];
    let all = found(&[], &[("judge-1", one, json!({})), ("judge-2", two, json!({}))]);
    assert_eq!(
        all.iter().map(|found| found["id"].as_str().unwrap()).collect::<Vec<_>>(),
        ["F2", "F4", "F3", "F1"]
    );
}

/// "A finding's location is verified against the packet; what does not resolve is marked `unverified` (`unverified: true`)".
#[test]
fn a_finding_has_the_file_and_line_of_its_location() {
    for (location, file, line, unverified) in [
        ("src/auth.py:45", json!("src/auth.py"), json!(45), false),
        ("auth.py:50", json!("src/auth.py"), json!(50), false),
        ("auth.py:51", json!("src/auth.py"), Value::Null, true),
        ("nowhere.py:9999", json!("nowhere.py"), json!(9999), true),
        ("/etc/shadow.conf:1", Value::Null, Value::Null, true),
        ("in the login", Value::Null, Value::Null, true),
        ("bei der Anmeldung", Value::Null, Value::Null, true),
        ("登录处", Value::Null, Value::Null, true),
        ("statement_7()", Value::Null, Value::Null, false),
        (" ", Value::Null, Value::Null, false),
    ] {
        let all = found(&[], &[("judge-1", vec![finding("minor", "apples rot", location)], json!({}))]);
        assert_eq!(
            (&all[0]["file"], &all[0]["line"], &all[0]["unverified"]),
            (&file, &line, &json!(unverified)),
            "{location}"
        );
    }
    // With a diff, the paths and lines are those that it shows.
    let diff = "--- a/src/new.rs\n+++ b/src/new.rs\n@@ -1 +1,2 @@\n-a\n+b\n+c\n";
    let request =
        testing::request(&Review, "", &[("diff:change.diff", diff)], &["a/x"], &[("count", "1")]).unwrap();
    let brief = testing::brief(&Review, request).unwrap();
    for (location, line, unverified) in [("new.rs:2", json!(2), false), ("new.rs:3", Value::Null, true)] {
        let debate = play(brief.clone(), &|_, _, _| {
            let mut value = first("WARN");
            value["findings"] = json!([finding("minor", "apples rot", location)]);
            Some(value)
        });
        let found = &debate.outcome.unwrap().verdict["findings"][0];
        assert_eq!(
            (&found["file"], &found["line"], &found["unverified"]),
            (&json!("src/new.rs"), &line, &json!(unverified))
        );
    }
}
