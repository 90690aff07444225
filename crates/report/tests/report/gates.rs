//! "`--format github` prints annotations from the findings' locations, `--format sarif` a SARIF file, `--format junit` a
//! JUnit report, so that it is useful as a gate in somebody's pipeline."

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod sample;

use agon_report::{Gate, NoGate, gate};
use insta::assert_snapshot;
use proptest::prelude::*;
use sample::formats::{Command, commands, counted, github, junit, sarif};
use sample::review;
use serde_json::{Value, json};

#[test]
fn annotations_come_from_the_findings_locations_the_worst_first() {
    assert_snapshot!(github(&review::failed().document()), @"
    ::error file=src/auth.py,line=45,endLine=47,title=agon%3A critical%2C Authentication::No rate limiting on `/login`%0ARecommendation: Count attempts by account and by address.%0AFound by security, operations.
    ::warning file=src/session store.py,line=12,title=agon%3A significant%2C reliability::The retry loop has no upper bound, so one slow database takes every worker with it%0AFound by operations.
    ::notice title=agon%3A minor::Error responses carry no request id%0AFound by usability.
    ::notice title=agon%3A significant%2C authentication%2C dropped in round 2::Tokens live for an hour%0AFound by security.%0ADropped in round 2 by security.
    ::error title=agon review auth%3A FAIL::FAIL: 1 of 3 judges fails it.%0A3/3 R1, 2/3 R2, fidelity full
    agon review auth: FAIL: 1 of 3 judges fails it.
    - security (openai): FAIL: A password can be tried without end: nothing on the way from `/login` to the database counts attempts.
    - operations (openai): WARN: The retry loop in the session store hides an outage until every worker waits on it.
    - usability (anthropic): WARN: The interface is small and reads well, but an error cannot be traced to its request.
    Heard: 3/3 R1, 2/3 R2, fidelity full
    ");
}

#[test]
fn a_models_words_are_never_a_command() {
    let mut document = review::failed().document();
    let bad = "::set-env name=A::b\n::error::no\r\n  ::stop-commands::x\r##[add-path]/tmp %0A 100%";
    let finding = &mut document["verdict"]["findings"][2];
    finding["description"] = json!(bad);
    finding["recommendation"] = json!(bad);
    finding["category"] = json!("a::b,c=d");
    finding["file"] = json!("odd: name, 100%::x.py");
    let judge = &mut document["verdict"]["judges"][0];
    judge["judge"] = json!("::add-mask::x");
    judge["r2"]["key_insight"] = json!("#\u{200b}#[group]x\n::add-mask::y ##[add-path]/tmp");
    document["verdict"]["target"] = json!("\n::debug::x");
    document["verdict"]["footer"] = json!("::debug::##[error]x");
    document["warnings"] = json!([bad]);
    let output = github(&document);
    let commands = commands(&output);
    assert_eq!(commands.len(), 5, "four findings and the verdict: {output}");
    assert!(commands.iter().all(|command| ["error", "warning", "notice"].contains(&command.name.as_str())));
    let odd =
        commands.iter().find(|command| command.properties.contains_key("file") && command.name == "warning");
    let odd = odd.unwrap();
    assert_eq!(odd.properties["file"], "odd: name, 100%::x.py");
    assert_eq!(odd.properties["title"], "agon: significant, a::b,c=d");
    // A carriage return is no more than the terminal gets; everything else is there, as text.
    assert!(
        odd.message
            .starts_with("::set-env name=A::b\n::error::no\n  ::stop-commands::x##[add-path]/tmp %0A 100%\n")
    );
}

/// "GitHub shows only 10 annotations per type a step": the verdict is one of them, and nothing is lost.
#[test]
fn the_verdict_keeps_its_place_among_the_ten_annotations_that_github_shows() {
    for found in [9, 10, 30] {
        let mut document = review::failed().document();
        let finding = |number: u32| {
            json!({"severity": "critical", "description": format!("Number {number}."), "file": "a.py",
            "line": number})
        };
        document["verdict"]["findings"] = (1..=found).map(finding).collect();
        let output = github(&document);
        let errors: Vec<Command> =
            commands(&output).into_iter().filter(|command| command.name == "error").collect();
        assert_eq!(errors.len(), 10);
        assert!(errors[9].message.starts_with("FAIL: "), "{output}");
        assert_eq!(output.matches("Also found").count(), usize::from(found > 9));
        for number in 10..=found {
            assert!(output.contains(&format!("(a.py:{number}): Number {number}.")), "{output}");
        }
        // A verdict of another kind takes no place from them.
        document["verdict"]["verdict"] = json!("PASS");
        let errors =
            commands(&github(&document)).into_iter().filter(|command| command.name == "error").count();
        assert_eq!(errors, found.min(10) as usize);
    }
}

/// The exit status, the annotation, the JUnit test and the SARIF invocation say the same of every verdict.
#[test]
fn every_verdict_is_the_same_gate_in_every_format() {
    for (verdict, fail_on, fidelity, status, annotation, case, exit) in [
        (json!("PASS"), "fail", "full", "complete", "notice", "", 0),
        (json!("PASS"), "warn", "full", "complete", "notice", "", 0),
        (json!("PASS"), "fail", "degraded", "complete", "warning", "", 0),
        (json!("WARN"), "fail", "full", "complete", "warning", "", 0),
        (json!("WARN"), "warn", "full", "complete", "error", "failure", 1),
        (json!("FAIL"), "fail", "full", "complete", "error", "failure", 1),
        (json!("FAIL"), "warn", "degraded", "complete", "error", "failure", 1),
        (json!("DISAGREE"), "fail", "full", "complete", "error", "failure", 1),
        (Value::Null, "fail", "degraded", "failed", "error", "error", 3),
        // Cut short: whatever stands there, the exit status is 3.
        (json!("PASS"), "fail", "degraded", "incomplete", "error", "error", 3),
        (Value::Null, "fail", "full", "interrupted", "error", "error", 3),
    ] {
        let mut document = review::failed().document();
        document["verdict"]["verdict"] = verdict.clone();
        document["verdict"]["fail_on"] = json!(fail_on);
        document["fidelity"] = json!(fidelity);
        document["status"] = json!(status);
        let told = format!("{verdict} {fail_on} {fidelity} {status}");
        assert_eq!(commands(&github(&document)).last().unwrap().name, annotation, "{told}");
        let xml = junit(&document);
        let read = roxmltree::Document::parse(&xml).unwrap();
        let test = read.descendants().find(|node| node.has_tag_name("testcase")).unwrap();
        assert_eq!(test.attribute("name"), Some("verdict"));
        let not_passed: Vec<&str> = test
            .children()
            .filter(|node| node.is_element())
            .map(|node| node.tag_name().name())
            .filter(|name| *name != "system-out")
            .collect();
        assert_eq!(not_passed.concat(), case, "{told}");
        let invocation = &sarif(&document)["runs"][0]["invocations"][0];
        assert_eq!(invocation["exitCode"], json!(exit), "{told}");
        assert_eq!(invocation["executionSuccessful"], json!(exit != 3), "{told}");
    }
}

#[test]
fn what_gives_no_verdict_by_its_nature_is_no_gate() {
    let mut document = sample::converged().document();
    assert_eq!(gate(&document, Gate::Sarif), Err(NoGate::Protocol { protocol: "deep".into() }));
    assert_snapshot!(gate(&document, Gate::Github).unwrap_err(), @"the formats github, sarif and junit are for the verdict of `review`, and this debate is a `deep`: take another format, such as json");
    document = review::failed().document();
    document["verdict"]["mode"] = json!("brainstorm");
    assert_snapshot!(gate(&document, Gate::Junit).unwrap_err(), @"a review in mode `brainstorm` gives no PASS, WARN or FAIL that a pipeline could go by: review in mode `validate`, or take another format, such as json");
}

#[test]
fn a_format_is_chosen_by_its_name() {
    assert_eq!(Gate::NAMES.map(Gate::from_name), [Some(Gate::Github), Some(Gate::Sarif), Some(Gate::Junit)]);
    assert_eq!(Gate::from_name("xml"), None);
}

/// The document with every string and every null replaced by what comes next.
fn scrambled(value: &Value, words: &mut dyn FnMut() -> Value) -> Value {
    match value {
        Value::String(_) | Value::Null => words(),
        Value::Array(values) => values.iter().map(|value| scrambled(value, words)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), scrambled(value, words))).collect()
        }
        other => other.clone(),
    }
}

fn hostile() -> impl Strategy<Value = String> {
    let pieces = [
        "::",
        "error",
        "##[",
        "]",
        "\n",
        "\r",
        "\r\n",
        " ",
        "%0A",
        "%",
        "]]>",
        "<![CDATA[",
        "<!--",
        "&",
        "&#0;",
        "\"",
        "'",
        "\u{0}",
        "\u{1b}[31m",
        "\u{fffe}",
        "\u{ffff}",
        "\u{2028}",
        "\u{85}",
        "\u{202e}",
        "\u{feff}",
        "\u{200b}",
        "#",
        "[",
        "PASS",
        "r1",
        "r2",
        "critical",
        "word",
        "\u{1f600}",
        "\t",
        "a.py",
        "C:\\",
        "/",
        "\\",
        ",",
        "=",
    ];
    let piece = prop_oneof![4 => proptest::sample::select(pieces.to_vec()).prop_map(str::to_owned), 1 => any::<String>()];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    /// Any strings in any field give well-formed XML, valid JSON and no command but ours.
    #[test]
    fn whatever_the_strings_are_the_formats_hold(
        strings in proptest::collection::vec(hostile(), 1..40),
        kept in proptest::sample::select(vec!["PASS", "WARN", "FAIL", "DISAGREE", "other"]),
    ) {
        let mut next = 0;
        let mut words = || {
            next += 1;
            if next % 5 == 0 { Value::Null } else { json!(strings[next % strings.len()]) }
        };
        let mut document = scrambled(&review::failed().document(), &mut words);
        document["protocol"] = json!("review");
        document["status"] = json!("complete");
        document["verdict"]["mode"] = json!("validate");
        document["verdict"]["verdict"] = json!(kept);
        for judge in document["verdict"]["judges"].as_array_mut().unwrap() {
            judge["used"] = json!("r1");
        }
        let output = github(&document);
        let commands = commands(&output);
        let described = document["verdict"]["findings"].as_array().unwrap().iter().filter(|finding| {
            let text = finding["description"].as_str().unwrap_or_default().trim();
            !agon_report::clean(text).trim().is_empty()
        });
        prop_assert_eq!(commands.len(), described.count() + 1, "{}", output);
        for command in &commands {
            prop_assert!(["error", "warning", "notice"].contains(&command.name.as_str()));
            prop_assert!(command.properties.keys().all(|key| ["file", "line", "endLine", "title"].contains(&key.as_str())));
        }
        counted(&junit(&document));
        for result in sarif(&document)["runs"][0]["results"].as_array().unwrap() {
            let Some(place) = result["locations"].as_array().unwrap().first() else { continue };
            let uri = place["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
            prop_assert!(!uri.is_empty() && uri.chars().all(|char| char.is_ascii_alphanumeric() || "-._~/%:".contains(char)));
        }
    }
}

#[test]
fn a_document_with_almost_nothing_in_it_is_a_review_without_a_verdict() {
    for verdict in
        [Value::Null, json!({}), json!({"judges": [{}, null], "findings": [{}, null, {"description": "x"}]})]
    {
        let document = json!({"protocol": "review", "verdict": verdict});
        assert_eq!(
            commands(&github(&document)).last().unwrap().message,
            "The review failed: there is no verdict."
        );
        assert_eq!(sarif(&document)["runs"][0]["invocations"][0]["exitCode"], json!(3));
        assert_eq!(counted(&junit(&document))[2], 1);
    }
}
