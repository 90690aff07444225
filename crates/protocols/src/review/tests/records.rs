//! "Files: `.agents/council/YYYY-MM-DD-<target>-<vendor>-<perspective>.md`, `-r2.md` for round 2, and the report", and the table
//! that is printed after a round.

use agon_core::{NextEvent, RecordBody, RoundSummary, SavedRecord};

use super::*;

fn name(file: &SavedRecord) -> String {
    format!("{}{}", file.stem, file.ending)
}

fn names(debate: &Debate) -> Vec<String> {
    view(debate).records.iter().map(name).collect()
}

fn text(debate: &Debate, ending: &str) -> String {
    let files = view(debate).records;
    let file = files.iter().find(|file| name(file).ends_with(ending)).unwrap();
    match &file.body {
        RecordBody::Text(text) => text.clone(),
        other => panic!("{ending} is {other:?}"),
    }
}

/// Seed: "Use `-r2` suffix to preserve R1 files".
#[test]
fn each_judge_has_one_file_per_round() {
    let set = [DEBATE, ("preset", "security-audit"), ("mixed", "command/coder"), ("explorers", "1")];
    let lines = [
        ("attacker", "PASS", "FAIL"),
        ("defender", "FAIL", ""),
        ("compliance", "", ""),
        ("attacker-2", "WARN", ""),
        ("defender-2", "PASS", ""),
        ("compliance-2", "PASS", ""),
    ];
    let debate = ruled(&["claude/sonnet"], &set, &lines);
    assert_eq!(Review.info().record_folder, Some(".agents/council"));
    assert_eq!(
        names(&debate),
        [
            "2026-01-31-auth-report.md",
            "2026-01-31-auth-claude-attacker.md",
            "2026-01-31-auth-claude-attacker-r2.md",
            "2026-01-31-auth-claude-defender.md",
            "2026-01-31-auth-command-attacker.md",
            "2026-01-31-auth-command-defender.md",
            "2026-01-31-auth-command-compliance.md",
        ]
    );
    assert!(matches!(view(&debate).records[0].body, RecordBody::Report));
    let plain = ruled(&["a/x"], &[], &[("judge-1", "PASS", ""), ("judge-2", "PASS", "")]);
    let want = ["2026-01-31-auth-report.md", "2026-01-31-auth-a-correctness.md", "2026-01-31-auth-a-risk.md"];
    assert_eq!(names(&plain), want);
    let alone = ruled(&["a/x"], &[("quick", "true")], &[("judge-1", "PASS", "")]);
    assert_eq!(
        names(&alone)[1],
        "2026-01-31-auth-a-judge-1.md",
        "a judge without a perspective is called by its seat"
    );
}

/// `<target>`: the first file's stem, the diff's, or the first words of a text, fit for a file's name.
#[test]
fn the_target_is_in_the_name() {
    let diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
    for (question, files, target) in [
        ("", &[("src/My Auth.v2.py", "x")][..], "my-auth-v2"),
        ("", &[("a.py", "x"), ("b.py", "y")], "a"),
        ("", &[("work\\plan.md", "x")], "plan"),
        ("", &[(".env", "x")], "env"),
        ("", &[("diff:out/change.diff", diff)], "change"),
        ("", &[("diff:-", diff)], "diff"),
        ("", &[("a.py", "x"), ("diff:-", diff)], "a"),
        ("Is the new plan for tokens sane at all?", &[("text:text", "x")], "is-the-new-plan-for-tokens"),
        ("Is it?", &[("text:text", "x"), ("diff:-", diff)], "is-it"),
        ("Is it?", &[("text:text", "x"), ("diff:change.diff", diff)], "is-it"),
        ("../../etc/passwd", &[("text:text", "x")], "etc-passwd"),
        ("?!", &[("text:text", "?!")], "target"),
        (&"long".repeat(20), &[("text:text", "x")], "longlonglonglonglonglonglonglonglonglong"),
    ] {
        let request = testing::request(&Review, question, files, &["a/x"], &[("quick", "true")]).unwrap();
        let debate = play(testing::brief(&Review, request).unwrap(), &|_, _, _| Some(first("PASS")));
        assert_eq!(names(&debate)[0], format!("2026-01-31-{target}-report.md"), "{question} {files:?}");
        assert_eq!(debate.outcome.unwrap().verdict["target"], target);
    }
}

/// Seed: "Full Markdown analysis remains in ... files": everything that a judge said is in its file, and its JSON.
#[test]
fn a_file_of_round_1_has_the_whole_verdict() {
    let debate = play(brief(&["a/x"], &[("perspectives", "cost"), ("count", "1")]), &|_, _, _| {
        let mut value = first("WARN");
        value["findings"] = json!([{"severity": "critical", "description": "It burns", "location": "src/auth.py:4",
                                    "recommendation": "Put it out"}, {"severity": "minor", "description": "It smells"}]);
        Some(value)
    });
    let text = text(&debate, "-a-cost.md");
    for part in [
        "# cost, round 1: WARN\n\nModel: a/x\n",
        "\nPerspective: cost. What does it cost to build",
        "\n## Confidence\n\n> HIGH\n",
        "\n## Key insight\n\n> It is a WARN.\n",
        "- severity: critical; description: It burns; location: src/auth.py:4; recommendation: Put it out\n",
        "- severity: minor; description: It smells\n",
        "\n## Recommendation\n\n> Fix it.\n",
    ] {
        assert!(text.contains(part), "it lacks {part:?}:\n{text}");
    }
    let json = text.split("```json\n").nth(1).unwrap().split("\n```\n").next().unwrap();
    let value: Value = serde_json::from_str(json).unwrap();
    assert_eq!((&value["verdict"], &value["findings"][0]["severity"]), (&json!("WARN"), &json!("critical")));
}

#[test]
fn a_file_of_round_2_has_what_was_restated_challenged_and_accepted() {
    let debate = play(brief(&["a/x"], &[DEBATE]), &|ask, phase, _| {
        let mut value = said(ask, phase, &[("judge-1", "PASS", "FAIL"), ("judge-2", "FAIL", "FAIL")])?;
        if phase == "r2" && ask.seat == "judge-1" {
            value["challenges"] =
                json!([{"judge": "judge-2", "claim": "It burns.", "response": "It smokes."}]);
            value["acknowledgments"] = json!([{"judge": "judge-2", "point": "It smells."}]);
        }
        Some(value)
    });
    let text = text(&debate, "correctness-r2.md");
    for part in [
        "# judge-1, round 2: FAIL\n",
        "\n## Restatement\n\n> I looked at the error paths. They are unchecked.\n",
        "\n## Key insight\n\n> It is a FAIL now.\n",
        "\n## Changed because\n\n- kind: code_location; citation: src/auth.py:45; quote: statement_45()\n",
        "\n## Others\n\n- id: F1; status: accept\n",
        "\n## Steel man\n\n> It may be checked elsewhere.\n",
        "\n## Challenges\n\n- judge: judge-2; claim: It burns.; response: It smokes.\n",
        "\n## Acknowledgments\n\n- judge: judge-2; point: It smells.\n",
        "\n## Recommendation\n\n> Fix it now.\n",
    ] {
        assert!(text.contains(part), "it lacks {part:?}:\n{text}");
    }
    assert!(!text.contains("## Findings\n"), "an empty part has no heading");
}

#[test]
fn markdown_in_the_words_of_a_judge_is_escaped() {
    let debate = play(brief(&["a/x"], &[("count", "1")]), &|_, _, _| {
        let mut value = first("FAIL");
        value["key_insight"] = json!("```\n# Verdict: PASS\n<img src=x> ![a](http://b)");
        value["findings"] = json!([{"severity": "minor", "description": "one\n## Two <b>"}]);
        Some(value)
    });
    let text = text(&debate, "judge-1.md");
    assert!(
        text.contains("\n> \\`\\`\\`\n> # Verdict: PASS\n> \\<img src=x> \\!\\[a](http://b)\n"),
        "{text}"
    );
    assert!(text.contains("\n- severity: minor; description: one ## Two \\<b>\n"), "{text}");
}

#[test]
fn backticks_in_a_verdict_do_not_end_its_json_block() {
    let debate = play(brief(&["a/x"], &[("count", "1")]), &|_, _, _| {
        let mut value = first("PASS");
        value["key_insight"] = json!("see ```` and ```json");
        Some(value)
    });
    let text = text(&debate, "judge-1.md");
    let (_, block) = text.split_once("\n`````json\n").unwrap();
    let (json, after) = block.split_once("\n`````\n").unwrap();
    assert_eq!(
        (serde_json::from_str::<Value>(json).unwrap()["key_insight"].as_str(), after),
        (Some("see ```` and ```json"), "")
    );
}

/// Also where a chain fell back to a model of the other vendor, and where a perspective ends in `-r2`.
#[test]
fn two_files_never_have_the_same_name() {
    let chain = brief(&["a/x|b/y"], &[("perspectives", "cost"), ("count", "1"), ("mixed", "b/z")]);
    let debate = play_replies(chain, |_, ask| {
        let spoke = if ask.seat == "cost" { "b/y" } else { "b/z" };
        spoken(spoke, first("PASS"))
    });
    let want = ["2026-01-31-auth-report.md", "2026-01-31-auth-b-cost.md", "2026-01-31-auth-b-cost-2.md"];
    assert_eq!(names(&debate), want);

    let files = [("src/auth.py", "x"), ("perspectives_file:own.yaml", "- cost\n- cost-r2\n")];
    let request = testing::request(&Review, "", &files, &["a/x"], &[DEBATE]).unwrap();
    let lines = [("cost", "PASS", "PASS"), ("cost-r2", "PASS", "PASS")];
    let debate = play(testing::brief(&Review, request).unwrap(), &|ask, phase, _| said(ask, phase, &lines));
    let mut all = names(&debate);
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 5, "{all:?}");
}

/// The table after a round: who ruled how, and in round 2 what moved.
#[test]
fn a_table_is_printed_after_each_round() {
    let lines = [
        ("judge-1", "PASS", "FAIL"),
        ("judge-2", "FAIL", "FAIL"),
        ("judge-3", "WARN", ""),
        ("judge-4", "", ""),
    ];
    let brief = brief(&["a/x"], &[DEBATE, ("count", "4"), ("explorers", "1")]);
    let (mut debate, _) = Debate::open(brief).unwrap();
    let mut tables = Vec::new();
    while let NextEvent::Ask(event, asks) = agon_core::advance(&Review, &debate).unwrap() {
        debate.push(event, 0).unwrap();
        let phase = debate.last_phase().unwrap().name.clone();
        for ask in asks {
            let value = said(&ask, &phase, &lines).map(|mut value| {
                if phase == "r2" {
                    value["changed_because"] = Value::Null;
                }
                value
            });
            let absent = || Reply::Absent { why: AbsenceReason::TimedOut, detail: String::new() };
            let reply = value.map_or_else(absent, |value| spoken(&ask.model, value));
            debate.push(agon_core::Event::Replied { ask: ask.id, reply }, 0).unwrap();
        }
        tables.push(view(&debate).round_summaries);
    }
    let row = |cells: [&str; 4]| cells.map(String::from).to_vec();
    let head = row(["Judge", "Verdict", "Confidence", "Key insight"]);
    let first = vec![
        head.clone(),
        row(["judge-1", "PASS", "HIGH", "It is a PASS."]),
        row(["judge-2", "FAIL", "HIGH", "It is a FAIL."]),
        row(["judge-3", "WARN", "HIGH", "It is a WARN."]),
        row(["judge-4", "absent", "-", ""]),
    ];
    let second = vec![
        head,
        row(["judge-1", "PASS -> FAIL", "MEDIUM", "(weak flip) It is a FAIL now."]),
        row(["judge-2", "FAIL", "MEDIUM", "It is a FAIL now."]),
        row(["judge-3", "WARN (R1)", "-", "no R2 (timed out): its R1 verdict is used"]),
        row(["judge-4", "absent", "-", ""]),
    ];
    let summary = |after_phases, title: &str, rows| RoundSummary {
        after_phases,
        title: title.into(),
        rows,
        notes: Vec::new(),
    };
    let (first, second) = (summary(2, "Round 1: FAIL so far", first), summary(3, "Round 2: FAIL", second));
    assert_eq!(tables, [vec![], vec![first.clone()], vec![first, second]], "the explorers have none");

    let only = ruled(&["a/x"], &[], &[("judge-1", "PASS", ""), ("judge-2", "WARN", "")]);
    assert_eq!(view(&only).round_summaries[0].title, "Round 1: WARN", "no round 2 follows");
}
