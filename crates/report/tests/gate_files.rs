//! "`--format sarif` a SARIF file, `--format junit` a JUnit report": what the files hold.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod sample;

use insta::assert_snapshot;
use sample::formats::{counted, junit, sarif};
use sample::review;
use serde_json::{Value, json};

#[test]
fn a_sarif_file_has_rules_results_and_the_verdict() {
    let file = sarif(&review::failed().document());
    assert_eq!(file["version"], json!("2.1.0"));
    let run = &file["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!((&driver["name"], &driver["version"]), (&json!("agon"), &json!(env!("CARGO_PKG_VERSION"))));
    let ids: Vec<&str> =
        driver["rules"].as_array().unwrap().iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(
        ids,
        ["authentication", "reliability", "minor"],
        "a category once, however it is written; else the severity"
    );
    for result in run["results"].as_array().unwrap() {
        assert_eq!(result["ruleId"], driver["rules"][result["ruleIndex"].as_u64().unwrap() as usize]["id"]);
    }
    assert_eq!(run["properties"]["verdict"], json!("FAIL"));
    assert_eq!(run["properties"]["footer"], json!("3/3 R1, 2/3 R2, fidelity full"));
    assert_snapshot!(serde_json::to_string_pretty(&run["results"][0]).unwrap(), @r#"
    {
      "ruleId": "authentication",
      "ruleIndex": 0,
      "level": "error",
      "message": {
        "text": "No rate limiting on `/login`\nRecommendation: Count attempts by account and by address.\nFound by security, operations."
      },
      "locations": [
        {
          "physicalLocation": {
            "artifactLocation": {
              "uri": "src/auth.py"
            },
            "region": {
              "startLine": 45,
              "endLine": 47
            }
          }
        }
      ],
      "partialFingerprints": {
        "agonFinding/v1": "35df57c599dc9858e14d971c5c8d1ecd4ead45388c870e734465bb7ea7ab4fcc"
      },
      "properties": {
        "severity": "critical",
        "category": "Authentication",
        "location": "src/auth.py:45-47",
        "judges": [
          "security",
          "operations"
        ],
        "dropped": false,
        "droppedBy": []
      },
      "suppressions": []
    }
    "#);
}

/// A result without a location makes code scanning refuse the whole file.
#[test]
fn every_result_of_a_sarif_file_has_a_place_and_a_dropped_one_is_suppressed() {
    let file = sarif(&review::failed().document());
    let results = file["runs"][0]["results"].as_array().unwrap();
    let shown: Vec<String> = results
        .iter()
        .map(|result| {
            let place = &result["locations"][0]["physicalLocation"];
            let lines = &place["region"];
            let suppressed = &result["suppressions"][0]["justification"];
            format!(
                "{} {}:{}-{} {suppressed}",
                result["level"].as_str().unwrap(),
                place["artifactLocation"]["uri"].as_str().unwrap(),
                lines["startLine"],
                lines["endLine"]
            )
        })
        .collect();
    assert_snapshot!(shown.join("\n"), @r#"
    error src/auth.py:45-47 null
    warning src/session%20store.py:12-12 null
    note src/auth.py:1-1 null
    note src/auth.py:1-1 "Dropped in round 2 by security."
    "#);
}

/// A text has no file: a result on one that does not exist would only mislead.
#[test]
fn without_a_file_there_is_no_place() {
    let mut document = review::failed().document();
    document["verdict"]["paths"] = json!([]);
    let file = sarif(&document);
    let results = file["runs"][0]["results"].as_array().unwrap();
    let places: Vec<usize> =
        results.iter().map(|result| result["locations"].as_array().unwrap().len()).collect();
    assert_eq!(places, [1, 1, 0, 0]);
}

/// Lines count from 1, and a region that ends before it begins is none.
#[test]
fn lines_that_make_no_sense_are_left_out() {
    for (line, end_line, region) in
        [(45, 45, [45, 45]), (45, 44, [45, 45]), (0, 3, [1, 1]), (45, 46, [45, 46])]
    {
        let mut document = review::failed().document();
        document["verdict"]["findings"][1]["line"] = json!(line);
        document["verdict"]["findings"][1]["end_line"] = json!(end_line);
        let place = &sarif(&document)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"];
        assert_eq!([&place["startLine"], &place["endLine"]], [&json!(region[0]), &json!(region[1])]);
    }
}

#[test]
fn a_path_is_a_uri_in_a_sarif_file() {
    for (path, uri) in [
        ("src/auth.py", "src/auth.py"),
        ("./src/auth.py", "src/auth.py"),
        ("src\\win dows\\a.cs", "src/win%20dows/a.cs"),
        ("100%/a#b?c:d.py", "100%25/a%23b%3Fc%3Ad.py"),
        ("caf\u{e9}.py", "caf%C3%A9.py"),
        ("../up.py", "../up.py"),
        ("/etc/passwd", "file:///etc/passwd"),
        ("C:\\a b.cs", "file:///C:/a%20b.cs"),
        ("./", "."),
    ] {
        let mut document = review::failed().document();
        document["verdict"]["findings"][1]["file"] = json!(path);
        let place = &sarif(&document)["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], json!(uri), "{path}");
    }
}

/// "partialFingerprints stable across runs".
#[test]
fn a_fingerprint_outlives_a_moved_line_and_a_changed_comma_but_not_another_file() {
    let print = |change: &dyn Fn(&mut Value)| {
        let mut document = review::failed().document();
        change(&mut document["verdict"]["findings"][1]);
        sarif(&document)["runs"][0]["results"][0]["partialFingerprints"]["agonFinding/v1"].clone()
    };
    let first = print(&|_| {});
    assert!(first.is_string());
    let moved = |finding: &mut Value| {
        finding["line"] = json!(90);
        finding["end_line"] = Value::Null;
        finding["description"] = json!("no rate-limiting on /login.");
        finding["file"] = json!("./src/auth.py");
        finding["judges"] = json!(["usability"]);
    };
    assert_eq!(print(&moved), first);
    assert_ne!(print(&|finding| finding["file"] = json!("src/other.py")), first);
    assert_ne!(print(&|finding| finding["description"] = json!("No limit on /logout")), first);
}

#[test]
fn a_sarif_file_says_who_was_missing_and_makes_no_link_of_a_models_words() {
    let mut document = review::passed();
    document["warnings"] = json!(["Round 1 was split, round 2 was not."]);
    let notices = &sarif(&document)["runs"][0]["invocations"][0]["toolExecutionNotifications"];
    assert_eq!(
        notices[0]["message"]["text"],
        json!("Operations timed out in round 1: no answer within 120 s")
    );
    assert_eq!((&notices[0]["level"], &notices[1]["level"]), (&json!("warning"), &json!("note")));
    document["verdict"]["findings"] =
        json!([{"severity": "minor", "description": "See [here](http://x) and a[0](1)"}]);
    let told = &sarif(&document)["runs"][0]["results"][0]["message"]["text"];
    assert_eq!(told, &json!("See [here] (http://x) and a[0] (1)"));
}

#[test]
fn a_junit_report_has_a_test_for_the_verdict_and_one_for_each_judge() {
    let mut document = review::failed().document();
    document["verdict"]["judges"][2] = review::passed()["verdict"]["judges"][1].clone();
    document["verdict"]["judges"][2]["judge"] = json!("usability");
    assert_snapshot!(junit(&document), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="agon review" tests="4" failures="2" errors="0" skipped="1" time="6.230">
      <testsuite name="agon review auth" tests="4" failures="2" errors="0" skipped="1" time="6.230">
        <properties>
          <property name="debate" value="k3v9q2"/>
          <property name="verdict" value="FAIL"/>
          <property name="fidelity" value="full"/>
          <property name="footer" value="3/3 R1, 2/3 R2, fidelity full"/>
        </properties>
        <testcase classname="agon.review.auth" name="verdict">
          <failure message="FAIL: 1 of 2 judges that were heard fails it." type="FAIL">- critical (src/auth.py:45-47): No rate limiting on `/login`
      Recommendation: Count attempts by account and by address.
      Found by security, operations.
    - significant (src/session store.py:12): The retry loop has no upper bound, so one slow database takes every worker with it
      Found by operations.
    - minor: Error responses carry no request id
      Found by usability.
    - significant (the token settings): Tokens live for an hour
      Found by security.
      Dropped in round 2 by security.</failure>
          <system-out>FAIL: 1 of 2 judges that were heard fails it.
    3/3 R1, 2/3 R2, fidelity full</system-out>
        </testcase>
        <testcase classname="agon.review.auth" name="security">
          <failure message="A password can be tried without end: nothing on the way from `/login` to the database counts attempts." type="FAIL">Limit attempts before release.</failure>
          <system-out>FAIL, confidence HIGH, in round 2
    Key insight: A password can be tried without end: nothing on the way from `/login` to the database counts attempts.
    - critical (src/auth.py:45-47): No rate limiting on `/login`
      Recommendation: Count attempts by account and by address.
    Recommendation: Limit attempts before release.</system-out>
        </testcase>
        <testcase classname="agon.review.auth" name="operations">
          <system-out>WARN, confidence MEDIUM, in round 2
    Key insight: The retry loop in the session store hides an outage until every worker waits on it.
    - significant: The retry loop has no upper bound
    Recommendation: Bound the loop, then ship.
    Note: WEAK FLIP: changed its verdict without evidence</system-out>
        </testcase>
        <testcase classname="agon.review.auth" name="usability">
          <skipped message="no R1 within 120 s"/>
        </testcase>
      </testsuite>
    </testsuites>
    "#);
}

#[test]
fn a_judge_that_warns_fails_its_test_only_where_warn_fails() {
    let mut document = review::failed().document();
    assert_eq!(counted(&junit(&document)), [4, 2, 0, 0], "the verdict and security");
    document["verdict"]["fail_on"] = json!("warn");
    assert_eq!(counted(&junit(&document)), [4, 4, 0, 0], "and the two that warn");
    assert_eq!(counted(&junit(&review::passed())), [4, 0, 0, 1]);
    assert_eq!(counted(&junit(&review::unheard())), [1, 0, 1, 0]);
}
