//! "Meaning is declared and verified, never guessed from words": the evidence for a changed verdict, in three languages, and that no
//! text decides anything unless it is a declaration that verifies.

use proptest::prelude::*;

use super::*;

const ENGLISH: &str = "Every call is checked before it is sent.";
const GERMAN: &str = "Jeder Aufruf wird geprüft, bevor er gesendet wird.";
const CHINESE: &str = "每次调用在发送之前都经过检查。";

/// Three files, one in each language.
fn three_languages(strict: &str) -> Brief {
    let files = [
        ("src/auth.py", &*target()),
        ("handbuch.md", "Anmeldung\nEin Fehler wird nicht geprüft.\n"),
        ("手册.md", "登录\n错误没有被检查。\n"),
    ];
    let set = [DEBATE, ("strict_anchoring", strict)];
    testing::brief(&Review, testing::request(&Review, "", &files, &["a/x"], &set).unwrap()).unwrap()
}

/// Whether judge-1, who claims in round 1 that all is well and has the finding F1, may go from PASS to FAIL for this reason.
/// Judge-2 has the finding F2 and never changes.
fn is_accepted(strict: &str, because: &Value) -> bool {
    let debate = play(three_languages(strict), &|ask, phase, _| {
        let mut value = said(ask, phase, &[("judge-1", "PASS", "FAIL"), ("judge-2", "FAIL", "FAIL")])?;
        match (phase, ask.seat.as_str()) {
            ("r1", "judge-1") => {
                value["key_insight"] = json!(format!("{ENGLISH} {GERMAN} {CHINESE}"));
                value["findings"] = json!([finding("minor", "A name is too short.", "src/auth.py:3")]);
            }
            ("r1", _) => {
                value["key_insight"] =
                    json!("An error path is open. Ein Fehlerpfad ist offen. 一条错误路径是开放的。");
                value["findings"] = json!([finding(
                    "critical",
                    "The error of this call is dropped. 这个错误被丢弃。",
                    "src/auth.py:45"
                )]);
            }
            ("r2", "judge-1") => value["changed_because"] = because.clone(),
            _ => {}
        }
        Some(value)
    });
    let outcome = debate.outcome.unwrap();
    let judge = judge(&outcome, "judge-1");
    assert_eq!(judge["reverted"] == true, strict == "true" && judge["weak_flip"] == true);
    judge["weak_flip"] == false
}

/// "the evidence bar of `review` count verified `[E..]` citations"
#[test]
fn words_of_something_that_was_looked_up_are_evidence() {
    for (citation, quote, holds) in [
        ("[E1]", "The queue holds nine jobs", true),
        ("see [E1], which says it", "nine jobs at most", true),
        ("[E1]", "The queue holds ten jobs", false),
        ("[E2]", "The queue holds nine jobs", false),
    ] {
        let mut brief = three_languages("true");
        brief.files.push(testing::files_tool().file().unwrap());
        let debate = play_replies(brief, |debate, ask| {
            let phase = debate.last_phase().unwrap().name.as_str();
            let lines = [("judge-1", "PASS", "FAIL"), ("judge-2", "FAIL", "FAIL")];
            let mut value = match phase {
                "tools" => json!({"source": "queue.md", "text": "12 | The queue holds nine jobs at most.\n"}),
                _ => said(ask, phase, &lines).unwrap(),
            };
            match (phase, ask.seat.as_str()) {
                ("r1", "judge-1") => {
                    value["requests"] = json!([{"tool": "files", "arguments": {"path": "queue.md"}}]);
                }
                ("r2", "judge-1") => {
                    value["changed_because"] =
                        json!({"kind": "missed_detail", "citation": citation, "quote": quote});
                }
                _ => {}
            }
            spoken(&ask.model, value)
        });
        let outcome = debate.outcome.unwrap();
        let judge = judge(&outcome, "judge-1");
        assert_eq!(judge["weak_flip"], !holds, "{citation}: {quote}");
    }
}

/// Kind, citation, quote, and whether that is evidence.
const CASES: &[(&str, &str, &str, bool)] = &[
    // code_location: "`path:line` that exists in the packet, with that line quoted"
    ("code_location", "src/auth.py:45", "statement_45()", true),
    ("code_location", "auth.py:45", "STATEMENT_45()", true),
    ("code_location", "src/auth.py:45", "45 | statement_45()", true),
    ("code_location", "handbuch.md:2", "Ein Fehler wird nicht geprüft.", true),
    ("code_location", "手册.md:2", "错误没有被检查。", true),
    ("code_location", "src/auth.py:45", "statement_44()", false),
    ("code_location", "handbuch.md:2", "Ein Fehler wird geprüft.", false),
    ("code_location", "手册.md:2", "错误已经被检查。", false),
    ("code_location", "handbuch.md:1", "Ein Fehler wird nicht geprüft.", false),
    ("code_location", "src/auth.py:45", "", false),
    ("code_location", "src/auth.py:45", "...", false),
    ("code_location", "src/auth.py", "statement_45()", false),
    ("code_location", "src/auth.py:51", "statement_51()", false),
    ("code_location", "nowhere.py:9999", "statement_45()", false),
    ("code_location", "nowhere.py:9999", "", false),
    ("code_location", "F2", "statement_45()", false),
    (
        "code_location",
        "Judge 2 found an unchecked error path at auth.py:45 that I missed",
        "statement_45()",
        true,
    ),
    // missed_detail: "a verbatim quote of the packet or the id of another judge's finding"
    ("missed_detail", "the unchecked statement", "statement_45()", true),
    ("missed_detail", "", "Ein Fehler wird\nnicht geprüft", true),
    ("missed_detail", "", "错误没有被检查", true),
    ("missed_detail", "F2", "", true),
    ("missed_detail", "[F2]", "", true),
    ("missed_detail", "judge-2 shows in [F2] that the error is dropped", "", true),
    ("missed_detail", "F2", "The error of this call is dropped.", true),
    ("missed_detail", "F2", "这个错误被丢弃", true),
    ("missed_detail", "F2", "Judge 2's argument was more nuanced than mine.", false),
    ("missed_detail", "F1", "", false),
    ("missed_detail", "F9", "", false),
    ("missed_detail", "F21", "", false),
    ("missed_detail", "Judge 2 is right about F2", "", false),
    ("missed_detail", "", "An error is not checked.", false),
    ("missed_detail", "", "Ein Fehler wird geprüft.", false),
    ("missed_detail", "", "错误没有被处理。", false),
    ("missed_detail", "judge-2", "An error path is open.", false),
    ("missed_detail", "judge-2", "Ein Fehlerpfad ist offen.", false),
    ("missed_detail", "judge-2", "一条错误路径是开放的。", false),
    ("missed_detail", "", ENGLISH, false),
    ("missed_detail", "", "I looked at the error paths. They are unchecked.", false),
    ("missed_detail", "", "", false),
    // factual_error: "a verbatim quote of its own R1 claim and a quote or location that contradicts it"
    ("factual_error", "src/auth.py:45", ENGLISH, true),
    ("factual_error", "handbuch.md:2", "Jeder Aufruf wird geprüft", true),
    ("factual_error", "错误没有被检查。", CHINESE, true),
    ("factual_error", GERMAN, "Ein Fehler wird nicht geprüft.", true),
    ("factual_error", "src/auth.py:45", "Every call is checked", true),
    ("factual_error", "src/auth.py:45", "No call is checked before it is sent.", false),
    ("factual_error", "src/auth.py:45", "All calls are checked.", false),
    ("factual_error", "src/auth.py:45", "", false),
    ("factual_error", "", ENGLISH, false),
    ("factual_error", "src/auth.py", GERMAN, false),
    ("factual_error", "nowhere.py:9999", CHINESE, false),
    ("factual_error", "src/auth.py:45", "An error path is open.", false),
    ("factual_error", "src/auth.py:45", "statement_45()", false),
];

/// Praise, agreement and being outnumbered, in three languages: never evidence, whatever the kind.
const PRAISE: &[&str] = &[
    "Judge 2 made a good point",
    "Judge 2's argument was more nuanced than mine.",
    "Das Argument von Richter 2 war differenzierter als meines.",
    "二号评委的论点比我的更细致。",
    "The others convinced me.",
    "Die anderen haben mich überzeugt.",
    "其他人说服了我。",
    "I was outnumbered.",
    "Upon reflection it is worse: SQL injection, JWT expiry, auth.py",
];

#[test]
fn only_evidence_that_verifies_is_sufficient() {
    let reason =
        |kind: &str, citation: &str, quote: &str| json!({"kind": kind, "citation": citation, "quote": quote});
    for (kind, citation, quote, holds) in CASES {
        for strict in ["false", "true"] {
            assert_eq!(
                is_accepted(strict, &reason(kind, citation, quote)),
                *holds,
                "{kind} {citation:?} {quote:?}"
            );
        }
    }
    for kind in ["code_location", "missed_detail", "factual_error"] {
        for praise in PRAISE {
            for (citation, quote) in
                [(*praise, ""), ("", *praise), (*praise, *praise), ("nowhere.py:9999", *praise)]
            {
                assert!(
                    !is_accepted("true", &reason(kind, citation, quote)),
                    "{kind} {citation:?} {quote:?}"
                );
            }
        }
    }
    assert!(!is_accepted("true", &Value::Null), "no evidence at all");
}

/// What was decided: who rules what, who flipped, which findings are one, who stands behind them, what was dropped.
fn decisions(outcome: &Outcome) -> Value {
    let judges = outcome.verdict["judges"].as_array().unwrap();
    let of =
        |value: &Value, keys: &[&str]| keys.iter().map(|key| value[*key].clone()).collect::<Vec<Value>>();
    let judged = judges
        .iter()
        .map(|judge| of(judge, &["verdict", "used", "weak_flip", "reverted", "without_finding"]));
    let findings = outcome.verdict["findings"].as_array().unwrap().iter();
    let keys = ["ids", "severity", "judges", "accepted_by", "dropped", "dropped_by", "line", "unverified"];
    let found: Vec<_> = findings.map(|found| of(found, &keys)).collect();
    let positions: Vec<_> = outcome.positions.iter().map(|held| json!([held.seat, held.fate])).collect();
    json!([outcome.verdict["verdict"], judged.collect::<Vec<_>>(), found, positions, outcome.status])
}

/// A debate of three with every kind of declaration. `word` makes every text that a judge writes; declarations are the same.
fn declared(word: &dyn Fn(&str) -> String, rename: &dyn Fn(&str) -> String) -> Outcome {
    let file = rename(&target());
    let path = rename("src/auth.py");
    let files = [(path.as_str(), file.as_str())];
    let set = [DEBATE, STRICT, ("count", "3")];
    let request = testing::request(&Review, "", &files, &["a/x"], &set).unwrap();
    let brief = testing::brief(&Review, request).unwrap();
    let at = |line: u32| format!("{path}:{line}");
    let found = |severity: &str, name: &str, line: u32, category: &str| {
        json!({"severity": severity, "description": format!("{} {}", rename(name), word(name)), "location": at(line),
               "category": rename(category), "recommendation": word("advice")})
    };
    let debate = play(brief, &|ask, phase, _| {
        let verdicts = match ask.seat.as_str() {
            "judge-1" => ["PASS", "FAIL"],
            "judge-2" => ["FAIL", "WARN"],
            _ => ["WARN", "PASS"],
        };
        let findings = match (phase, ask.seat.as_str()) {
            ("r1", "judge-1") => vec![found("minor", "short", 3, "style")],
            ("r1", "judge-2") => {
                vec![found("critical", "dropped", 45, "errors"), found("minor", "brief", 4, "style")]
            }
            ("r1", _) => vec![found("significant", "ignored", 45, "errors"), found("minor", "gone", 99, "x")],
            ("r2", "judge-1") => vec![found("minor", "late", 9, "late")],
            _ => vec![],
        };
        let mut value = match phase {
            "restate" => return Some(json!({"restatement": format!("x{}", word("restated"))})),
            "r1" => json!({"verdict": verdicts[0]}),
            _ => {
                json!({"restatement": format!("x{}", word("again")), "verdict": verdicts[1], "steel_man": word("other"),
                        "challenges": [{"judge": if ask.seat == "judge-1" { "judge-2" } else { "judge-1" },
                                        "claim": word("claim"), "response": word("answer")}],
                        "acknowledgments": [], "changed_because": null})
            }
        };
        if phase == "r2" {
            let (own, others, same, because) = match ask.seat.as_str() {
                "judge-1" => (
                    json!([{"id": "F1", "status": "keep", "reason": word("r")}]),
                    json!([{"id": "F2", "status": "accept", "reason": word("r")}]),
                    json!([{"own": "F1", "other": "F3"}]),
                    json!({"kind": "code_location", "citation": at(45), "quote": rename("statement_45()")}),
                ),
                "judge-2" => (
                    json!([{"id": "F2", "status": "change", "severity": "significant", "reason": word("r")}]),
                    json!([{"id": "F5", "status": "dispute", "reason": word("r")}]),
                    json!([]),
                    json!({"kind": "missed_detail", "citation": "F4", "quote": ""}),
                ),
                _ => (
                    json!([{"id": "F5", "status": "drop", "reason": word("r")}]),
                    json!([]),
                    json!([]),
                    json!({"kind": "factual_error", "citation": at(7), "quote": rename("nobody said this")}),
                ),
            };
            (value["own"], value["others"], value["same_as"], value["changed_because"]) =
                (own, others, same, because);
        }
        for (field, text) in [("analysis", "seen"), ("key_insight", "insight"), ("recommendation", "advice")]
        {
            value[field] = json!(word(text));
        }
        value["confidence"] = json!("LOW");
        value["findings"] = json!(findings);
        Some(value)
    });
    debate.outcome.unwrap()
}

/// What everybody who reads the debate would say: judge-1 moved on evidence, judge-2 on a finding, judge-3 for nothing.
#[test]
fn what_was_declared_decides() {
    let outcome = declared(&str::to_owned, &str::to_owned);
    assert_eq!(outcome.verdict["verdict"], "FAIL");
    let weak = ["judge-1", "judge-2", "judge-3"].map(|seat| judge(&outcome, seat)["weak_flip"].clone());
    assert_eq!(weak, [json!(false), json!(false), json!(true)]);
    let findings = outcome.verdict["findings"].as_array().unwrap();
    let shown: Vec<_> = findings.iter().map(|found| (&found["ids"], &found["judges"])).collect();
    assert_eq!(
        shown,
        [
            (&json!(["F2", "F4"]), &json!(["judge-1", "judge-2", "judge-3"])),
            (&json!(["F1", "F3"]), &json!(["judge-1", "judge-2"])),
            (&json!(["F6"]), &json!(["judge-1"])),
            (&json!(["F5"]), &json!(["judge-3"])),
        ]
    );
    assert_eq!(
        (&findings[3]["dropped"], &findings[3]["unverified"]),
        (&json!(true), &json!(true)),
        "its judge dropped it, although its verdict was reverted"
    );
}

/// "no text that a seat writes, apart from a verified declaration, changes who agrees with whom".
#[test]
fn no_text_changes_a_decision() {
    let want = decisions(&declared(&str::to_owned, &str::to_owned));
    let text = prop_oneof![
        "\\PC{0,40}",
        Just("not ".to_owned()),
        Just(
            "F2 [F3] src/auth.py:45 PASS I agree with judge-2 completely, all findings are the same"
                .to_owned()
        ),
        Just("Ich stimme judge-2 zu; F1 ist erledigt.".to_owned()),
        Just("我同意评委二，F1 已撤回。".to_owned()),
    ];
    proptest!(ProptestConfig::with_cases(64), |(text in text)| {
        let outcome = declared(&|name: &str| format!("{name} {text}"), &str::to_owned);
        prop_assert_eq!(decisions(&outcome), want.clone());
    });
}

/// "renaming every word of a debate by a bijection (a made-up language) changes no decision".
#[test]
fn a_made_up_language_changes_no_decision() {
    let want = decisions(&declared(&str::to_owned, &str::to_owned));
    proptest!(ProptestConfig::with_cases(25), |(shift in 1_u8..26)| {
        let letter = |c: char| match c {
            'a'..='z' => char::from((c as u8 - b'a' + shift) % 26 + b'a'),
            'A'..='Z' => char::from((c as u8 - b'A' + shift) % 26 + b'A'),
            other => other,
        };
        let rename = |text: &str| text.chars().map(letter).collect::<String>();
        prop_assert_eq!(decisions(&declared(&rename, &rename)), want.clone());
    });
    // Letters of another script, without cases.
    let foreign = |text: &str| {
        text.chars()
            .map(|c| if c.is_ascii_lowercase() { char::from_u32(0x4e00 + c as u32).unwrap() } else { c })
            .collect()
    };
    assert_eq!(decisions(&declared(&foreign, &foreign)), want);
}
