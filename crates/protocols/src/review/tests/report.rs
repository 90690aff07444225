//! What readers and pipelines are told: the outline, the meaning of the verdict, the gate.

use agon_core::{
    GateFinding, GateReport, GateRuling, GateSeverity, ReportBlock, ReportItem, ReportSection, SectionKind,
    VerdictTone,
};

use super::*;

/// The note on the judge that flips without evidence.
const WEAK: &str =
    "weak flip: changed without evidence that could be verified (it cites Judge 2 made a good point)";

fn gate(debate: &Debate) -> GateReport {
    view(debate).gate.unwrap()
}

fn titles(sections: &[ReportSection]) -> Vec<&str> {
    sections.iter().map(|section| section.title.as_str()).collect()
}

fn section<'a>(sections: &'a [ReportSection], title: &str) -> &'a ReportSection {
    sections.iter().find(|section| section.title == title).unwrap()
}

fn table(section: &ReportSection) -> Vec<Vec<&str>> {
    let ReportBlock::Table(rows) = &section.blocks[0] else { panic!("{section:?}") };
    rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect()
}

fn items(block: &ReportBlock) -> &[ReportItem] {
    let ReportBlock::Items(items) = block else { panic!("{block:?}") };
    items
}

/// A debate in which judge-1 is convinced, judge-2 flips without evidence, and judge-3, of the second vendor, has one round.
fn debated() -> Debate {
    let set = [DEBATE, ("count", "2"), ("mixed", "b/y,b/z")];
    let lines = [
        ("judge-1", "WARN", "FAIL"),
        ("judge-2", "PASS", "WARN"),
        ("judge-3", "WARN", ""),
        ("judge-4", "", ""),
    ];
    play(brief(&["a/x"], &set), &|ask, phase, _| {
        let mut value = said(ask, phase, &lines)?;
        match (phase, ask.seat.as_str()) {
            ("r1", "judge-1") => {
                value["findings"] = json!([finding("minor", "Tokens live for an hour", "the settings")]);
            }
            ("r2", "judge-1") => {
                let mut found = finding("critical", "No rate limit on login", "src/auth.py:45-47");
                found["recommendation"] = json!("Count attempts.");
                found["category"] = json!("security");
                value["findings"] = json!([found]);
                value["own"] = json!([{"id": "F1", "status": "drop", "reason": "It is meant to be so."}]);
                value["others"] = json!([{"id": "F2", "status": "dispute", "reason": "Line 7 is fine."}]);
            }
            ("r2", "judge-2") => {
                value["changed_because"] = no_evidence();
                value["others"] = json!([{"id": "F2", "status": "accept"}]);
            }
            _ => {}
        }
        Some(value)
    })
}

#[test]
fn a_report_goes_from_the_verdict_to_the_footer() {
    let debate = debated();
    let view = view(&debate);
    let outline = &view.outline;
    // "The report opens with verdict, then findings, then the judges' table once."
    assert_eq!(titles(&outline.answer), ["Verdict", "Findings", "Recommendations"]);
    assert_eq!(titles(&outline.body), ["The judges"]);
    assert!(outline.details.is_empty(), "the transcript has the rest");
    let headline = ReportBlock::Headline(VerdictTone::Bad, "FAIL".into());
    let meaning = "1 of 3 judges that were heard fails it. One is enough.";
    assert_eq!(outline.answer[0].blocks, [headline, ReportBlock::Line(meaning.into())]);
    assert_eq!(outline.answer[0].kind, SectionKind::NoAnswer);
    let footer = outline.footer.as_ref().unwrap();
    assert_eq!(footer.blocks, [ReportBlock::Line("3/4 R1, 2/3 R2, fidelity degraded".into())]);
    assert_eq!(
        (view.headline.verdict.as_deref(), view.headline.why.as_deref()),
        (Some("FAIL"), Some(meaning))
    );
    assert_eq!(view.headline.ending, "Both rounds are complete.");
    let ballots: Vec<_> =
        view.ballots.iter().map(|ballot| (ballot.seat.as_str(), ballot.answer.as_str())).collect();
    assert_eq!(ballots, [("judge-1", "WARN"), ("judge-2", "PASS"), ("judge-3", "WARN")]);
    let votes: Vec<_> = view.votes.iter().map(|vote| (vote.seat.as_str(), vote.vote.as_str())).collect();
    assert_eq!(votes, [("judge-1", "FAIL"), ("judge-2", "WARN"), ("judge-3", "WARN")]);
    let dissent: Vec<_> = view.dissent.iter().map(|item| item.text.as_str()).collect();
    assert_eq!(
        dissent,
        ["WARN: It is a WARN now.", "WARN: It is a WARN."],
        "as the judges hold it at the end"
    );
}

#[test]
fn the_tables_show_both_rounds_and_what_moved_the_judges() {
    let outline = view(&debated()).outline;
    let judges = section(&outline.body, "The judges");
    let want = [
        ["Judge", "Perspective", "Vendor", "R1", "R2", "Confidence", "Counts"],
        ["judge-1", "correctness", "a", "WARN", "FAIL", "HIGH -> MEDIUM", "FAIL (R2)"],
        ["judge-2", "risk", "a", "PASS", "WARN", "HIGH -> MEDIUM", "WARN (R2)"],
        ["judge-3", "correctness", "b", "WARN", "not asked", "HIGH", "WARN (R1)"],
        ["judge-4", "risk", "b", "absent", "not asked", "", "nothing"],
    ];
    assert_eq!(table(judges), want);
    let notes: Vec<_> =
        items(&judges.blocks[2]).iter().map(|item| (item.text.as_str(), item.note.as_deref())).collect();
    let because = format!("WARN to FAIL. Its evidence (code location): {EVIDENCE}");
    let want = [
        ("It is a FAIL now.", Some(because.as_str())),
        ("It is a WARN now.", Some(WEAK)),
        ("It is a WARN.", Some("of the second vendor: round 1 only")),
        ("no R1 verdict (timed out), so no R2 for it", None),
    ];
    assert_eq!(notes, want);
    assert_eq!(
        judges.blocks[1],
        ReportBlock::Line("The verdicts differed in round 1, and they differ now.".into())
    );
}

#[test]
fn findings_are_grouped_by_severity_with_their_place_and_advice() {
    let outline = view(&debated()).outline;
    let groups = &section(&outline.answer, "Findings").blocks;
    let shown: Vec<_> = groups
        .iter()
        .map(|group| {
            let ReportBlock::Group { title, blocks, .. } = group else { panic!("{group:?}") };
            let item = &items(&blocks[0])[0];
            (title.as_str(), item.who.as_deref().unwrap(), item.note.as_deref().unwrap())
        })
        .collect();
    let want = [
        (
            "Critical",
            "F3",
            "src/auth.py:45-47, security. Advice: Count attempts. Found by judge-1 in round 2; no other judge has read it.",
        ),
        (
            "Significant",
            "F2",
            "src/auth.py:7. Found by judge-3. Accepted by judge-2. Disputed by judge-1: Line 7 is fine.",
        ),
        (
            "Minor",
            "F1 (dropped)",
            "the settings (unverified: not in the target). Found by judge-1. judge-1 dropped F1 in round 2: It is meant to be so.",
        ),
    ];
    assert_eq!(shown, want);
}

/// What the evidence for a change is said to be holds for each kind of it: only what verifies is named.
#[test]
fn a_change_is_told_with_what_its_evidence_is() {
    let lines = [("judge-1", "PASS", "FAIL"), ("judge-2", "FAIL", "FAIL")];
    let withdraws = |source: &str| {
        format!(
            "PASS to FAIL. It withdraws its own words of round 1, \u{201c}It is a PASS.\u{201d}: {source}."
        )
    };
    let missed = |what: &str| format!("PASS to FAIL. Its evidence (missed detail): {what}");
    let line = "src/auth.py:45 contradicts them (\u{201c}statement_45()\u{201d})";
    for (kind, citation, quote, note) in [
        (
            "code_location",
            "auth.py:45",
            "statement_45()",
            "PASS to FAIL. Its evidence (code location): auth.py:45 \u{201c}statement_45()\u{201d}".into(),
        ),
        ("factual_error", "src/auth.py:45", "It is a PASS.", withdraws(line)),
        ("factual_error", "It is a PASS.", "auth.py:45", withdraws(line)),
        (
            "factual_error",
            "src/auth.py:4-5",
            "It is a PASS.",
            withdraws("src/auth.py:4-5 contradicts them (\u{201c}statement_4() statement_5()\u{201d})"),
        ),
        (
            "factual_error",
            "statement_7()",
            "It is a PASS.",
            withdraws("\u{201c}statement_7()\u{201d} contradicts them"),
        ),
        ("missed_detail", "F1", "", missed("F1")),
        ("missed_detail", "F1", "It is a FAIL here.", missed("F1 \u{201c}It is a FAIL here.\u{201d}")),
        ("missed_detail", "F1", "statement_9()", missed("F1, \u{201c}statement_9()\u{201d}")),
        ("missed_detail", "auth.py:9", "statement_9()", missed("auth.py:9 \u{201c}statement_9()\u{201d}")),
        ("missed_detail", "auth.py:8", "statement_9()", missed("\u{201c}statement_9()\u{201d}")),
    ] {
        let debate = play(brief(&["a/x"], &[DEBATE]), &|ask, phase, _| {
            let mut value = said(ask, phase, &lines)?;
            if phase == "r2" && ask.seat == "judge-1" {
                value["changed_because"] = json!({"kind": kind, "citation": citation, "quote": quote});
            }
            Some(value)
        });
        let outline = view(&debate).outline;
        let told = &items(&section(&outline.body, "The judges").blocks[2])[0];
        assert_eq!(told.note.as_deref(), Some(note.as_str()), "{kind} {citation:?} {quote:?}");
    }
}

/// The note of every finding, by its ids, in a debate of judges who say this in rounds 1 and 2.
fn finding_notes(by: &[(&[Value], Value)]) -> Vec<(String, String)> {
    let count = by.len().to_string();
    let debate = play(brief(&["a/x"], &[DEBATE, ("count", &count)]), &|ask, phase, _| {
        let place: usize = ask.seat.trim_start_matches("judge-").parse().unwrap();
        let (r1, r2) = &by[place - 1];
        let mut value = said(ask, phase, &[(&ask.seat, "WARN", "WARN")])?;
        value["findings"] = json!(r1);
        if phase == "r2" {
            (value["findings"], value["others"]) = (json!([]), json!([]));
            value.as_object_mut().unwrap().extend(r2.as_object().unwrap().clone());
        }
        Some(value)
    });
    let outline = view(&debate).outline;
    let groups = section(&outline.answer, "Findings").blocks.iter();
    let groups = groups.map(|group| {
        let ReportBlock::Group { blocks, .. } = group else { panic!("{group:?}") };
        items(&blocks[0])
    });
    groups.flatten().map(|item| (item.who.clone().unwrap(), item.note.clone().unwrap())).collect()
}

/// An acceptance is told with its reason, which may limit it. Advice of other judges is told where it differs.
#[test]
fn a_finding_is_told_with_what_the_other_judges_say_to_it() {
    let advised = |description: &str, advice: &str| {
        let mut found = finding("minor", description, "");
        found["recommendation"] = json!(advice);
        found
    };
    let accept =
        |id: &str, reason: &str| json!({"id": id, "reason": reason, "status": "accept", "severity": null});
    let same = json!([{"own": "F2", "other": "F1"}]);
    let raised = [advised("apples rot", "Eat them.")];
    for (other_advice, told) in [("Cook them", " Its advice: Cook them."), ("eat  THEM.", ""), (" ", "")] {
        let notes = finding_notes(&[
            (&raised, json!({})),
            (
                &[advised("apples spoil", other_advice)],
                json!({"same_as": same, "others": [accept("F1", "Mine.")]}),
            ),
            (
                &[],
                json!({"others": [accept("F1", "Significant, not minor. It smells"), accept("F2", "So does this.")]}),
            ),
            (&[], json!({"others": [accept("F1", "")]})),
            (&[], json!({"others": [{"id": "F2", "status": "accept", "severity": "critical"}]})),
        ]);
        let want = format!(
            "Advice: Eat them. Found by judge-1, judge-2. judge-2 reports it as F2, minor: apples spoil.{told} Accepted by judge-4 (F1), \
             judge-5 (F2) as critical. Accepted by judge-3: Significant, not minor. It smells. So does this."
        );
        assert_eq!(notes, [("F1, F2".to_owned(), want)], "{other_advice:?}");
    }
    let dropped = finding_notes(&[
        (&raised, json!({"own": [{"id": "F1", "status": "drop"}]})),
        (
            &[advised("apples spoil", "Cook them")],
            json!({"same_as": same, "own": [{"id": "F2", "status": "drop"}]}),
        ),
    ]);
    assert!(!dropped[0].1.contains("dvice"), "{dropped:?}");
}

/// A finding of round 2 was shown to nobody.
#[test]
fn a_finding_of_round_2_says_that_nobody_else_has_read_it() {
    let new = json!({"findings": [finding("minor", "apples rot", "")]});
    let first = [finding("minor", "apples rot", "")];
    let none: &[Value] = &[];
    for (by, want) in [
        (&[(&first[..], json!({})), (none, json!({}))][..], "Found by judge-1."),
        (
            &[(none, new.clone()), (none, json!({}))],
            "Found by judge-1 in round 2; no other judge has read it.",
        ),
        (
            &[(none, new.clone()), (none, json!({})), (none, new.clone())],
            "Found by judge-1, judge-3 in round 2, each on its own; no other judge has read it.",
        ),
        (
            &[(none, new.clone()), (none, new.clone())],
            "Found by judge-1, judge-2 in round 2, each on its own.",
        ),
    ] {
        let note = &finding_notes(by)[0].1;
        assert!(note.starts_with(want), "{note}");
    }
}

/// A judge may accept the finding that decides the verdict and still hold another verdict. Its dissent says what it thinks of it.
#[test]
fn a_dissent_says_what_its_judge_thinks_of_the_finding_that_decided() {
    let reason = "Significant, not critical: it is rare.";
    let held = "held to the end; the worst verdict counts, which is FAIL";
    let on = |severity: &str| format!("{held}. On F1, which it accepts{severity}: {reason}");
    let accept = |id: &str, reason: &str| json!([{"id": id, "status": "accept", "reason": reason}]);
    let weigh = json!([{"id": "F1", "status": "accept", "reason": reason, "severity": "significant"}]);
    let dispute = json!([{"id": "F1", "status": "dispute", "reason": reason}]);
    for (others, same, note) in [
        (accept("F1", reason), json!([]), on("")),
        (weigh, json!([]), on(" as significant")),
        // Its own finding of the same problem is not what it accepts.
        (accept("F1", reason), json!([{"own": "F3", "other": "F1"}]), on("")),
        (accept("F1", ""), json!([]), held.to_owned()),
        (accept("F2", reason), json!([]), held.to_owned()),
        (dispute, json!([]), held.to_owned()),
    ] {
        let lines = [("judge-1", "FAIL", "FAIL"), ("judge-2", "WARN", "WARN")];
        let debate = play(brief(&["a/x"], &[DEBATE]), &|ask, phase, _| {
            let mut value = said(ask, phase, &lines)?;
            match (phase, ask.seat.as_str()) {
                ("r1", "judge-1") => {
                    value["findings"] =
                        json!([finding("critical", "It burns.", ""), finding("minor", "It smells.", "")]);
                }
                ("r2", "judge-2") => (value["others"], value["same_as"]) = (others.clone(), same.clone()),
                _ => {}
            }
            Some(value)
        });
        let dissent = view(&debate).dissent;
        assert_eq!(dissent.len(), 1);
        assert_eq!(dissent[0].note.as_deref(), Some(note.as_str()), "{others} {same}");
    }
}

/// What judges say in round 2 is told of the report that they mean, with the severity that they give it, and not as an answer to what
/// others say in the same round.
#[test]
fn a_finding_of_several_judges_says_who_weighs_which_report_how() {
    let critical = finding("critical", "It burns.", "x.py:99");
    let milder = finding("significant", "It smells of smoke.", "");
    let accept = |id: &str, severity: &str| json!([{"id": id, "status": "accept", "reason": "It is rare.", "severity": severity}]);
    let keep = |id: &str| json!([{"id": id, "status": "keep", "reason": "I saw it."}]);
    let change = json!([{"id": "F2", "status": "change", "reason": "It spreads.", "severity": "critical"}]);
    let same = json!([{"own": "F2", "other": "F1"}]);
    let kept = "judge-1 kept F1 in round 2: I saw it.";
    for (first, second, told) in [
        (
            json!({"own": keep("F1")}),
            json!({"own": keep("F2"), "same_as": same, "others": accept("F1", "significant")}),
            format!(
                "judge-2 reports it as F2, significant: It smells of smoke. judge-2 accepts F1 as significant: It is rare. {kept} \
                     judge-2 kept F2 in round 2: I saw it."
            ),
        ),
        (
            json!({"own": keep("F1")}),
            json!({"own": change, "same_as": same, "others": accept("F1", "critical")}),
            format!(
                "judge-2 reports it as F2, significant, since round 2 critical: It smells of smoke. {kept} \
                     judge-2 changed F2 from significant to critical in round 2: It spreads."
            ),
        ),
        (
            json!({"own": []}),
            json!({"own": keep("F2"), "others": [{"id": "F1", "status": "dispute", "reason": "It does not."}]}),
            "judge-1 did not list F1 among its own findings in round 2. Disputed by judge-2: It does not."
                .to_owned(),
        ),
    ] {
        let notes = finding_notes(&[
            (std::slice::from_ref(&critical), first),
            (std::slice::from_ref(&milder), second),
        ]);
        assert!(notes[0].1.ends_with(&told), "{}", notes[0].1);
    }
}

/// A long reason is cut after a whole sentence, in any language, and the cut is marked.
#[test]
fn a_long_reason_is_cut_after_a_sentence() {
    let rest = "x ".repeat(400);
    for (reason, told) in [
        (format!("Not critical. It is rare. {rest}"), "Not critical. It is rare. [...]".to_owned()),
        (format!("并不严重。{}", "很".repeat(400)), "并不严重。 [...]".to_owned()),
        (rest.clone(), format!("{} [...]", "x ".repeat(150).trim_end())),
    ] {
        let others = json!({"others": [{"id": "F1", "status": "accept", "reason": reason}]});
        let notes = finding_notes(&[(&[finding("minor", "apples rot", "")], json!({})), (&[], others)]);
        assert_eq!(notes[0].1, format!("Found by judge-1. Accepted by judge-2: {told}"));
    }
}

/// "DISAGREE, and the user decides": the results of the vendors stand side by side.
#[test]
fn where_the_vendors_disagree_their_verdicts_stand_side_by_side() {
    let debate = ruled(&["a/x", "b/y"], &[], &[("judge-1", "FAIL", ""), ("judge-2", "PASS", "")]);
    let outline = view(&debate).outline;
    let rows = table(section(&outline.body, "The judges"));
    assert_eq!(
        rows[1..].iter().map(|row| (row[2], row[3])).collect::<Vec<_>>(),
        [("a", "FAIL"), ("b", "PASS")]
    );
    assert_eq!(gate(&debate).meaning, "The vendors split: a says FAIL, b says PASS. You decide.");
}

#[test]
fn the_meaning_of_a_verdict_counts_the_judges() {
    for (verdicts, fail_on, ruling, meaning) in [
        (&["PASS"][..], "fail", GateRuling::Passed, "The judge passes it."),
        (&["PASS", "PASS"], "fail", GateRuling::Passed, "Both judges pass it."),
        (&["PASS", "PASS", "PASS"], "warn", GateRuling::Passed, "All 3 judges pass it."),
        (&["PASS", "PASS", ""], "fail", GateRuling::Passed, "Both judges that were heard pass it."),
        (
            &["PASS", ""],
            "fail",
            GateRuling::Missing,
            "There is no verdict: 1 of 2 judges gave a verdict, and PASS or WARN needs 2.",
        ),
        (&["PASS", "WARN"], "fail", GateRuling::Warned, "1 of 2 judges has reservations, nobody fails it."),
        (
            &["PASS", "WARN"],
            "warn",
            GateRuling::Blocked,
            "1 of 2 judges has reservations, nobody fails it. WARN counts as failing here.",
        ),
        (
            &["FAIL", "PASS", "FAIL", ""],
            "fail",
            GateRuling::Blocked,
            "2 of 3 judges that were heard fail it. One is enough.",
        ),
        (&["", ""], "fail", GateRuling::Missing, "There is no verdict: no judge gave one."),
    ] {
        let seats: Vec<String> = (1..=verdicts.len()).map(|place| format!("judge-{place}")).collect();
        let lines: Vec<_> =
            seats.iter().zip(verdicts).map(|(seat, verdict)| (seat.as_str(), *verdict, "")).collect();
        let count = verdicts.len().to_string();
        let debate = ruled(&["a/x"], &[("count", &count), ("fail_on", fail_on)], &lines);
        let gate = gate(&debate);
        assert_eq!((gate.ruling, gate.meaning.as_str()), (ruling, meaning), "{verdicts:?} {fail_on}");
        let passes = matches!(ruling, GateRuling::Passed | GateRuling::Warned);
        let exit = if passes {
            0
        } else if ruling == GateRuling::Blocked {
            1
        } else {
            3
        };
        assert_eq!(agon_core::document::exit_status(&debate), exit, "it agrees with the exit status");
    }
}

/// The headline, the table and the note say that a verdict counts which its judge left.
#[test]
fn a_reverted_verdict_is_told_as_one() {
    let lines = [("judge-1", "FAIL", "WARN"), ("judge-2", "PASS", "PASS")];
    let debate = play(brief(&["a/x"], &[DEBATE, STRICT]), &|ask, phase, _| {
        let mut value = said(ask, phase, &lines)?;
        if phase == "r2" {
            value["changed_because"] = no_evidence();
        }
        Some(value)
    });
    let gate = gate(&debate);
    let meaning = "1 of 2 judges fails it. One is enough. judge-1 counts with its FAIL of round 1: its move to WARN was not verified.";
    assert_eq!(gate.meaning, meaning);
    assert_eq!(gate.judges[0].notes, [format!("{WEAK}, reverted to R1")]);
}

/// The verdicts decide, so a critical finding alone blocks nothing; a reader must learn of it.
#[test]
fn an_open_gate_names_the_critical_findings() {
    let critical = |count: usize| -> Vec<Value> {
        (0..count).map(|place| finding("critical", &format!("It burns {place}."), "")).collect()
    };
    for (count, verdict, meaning) in [
        (0, "PASS", "Both judges pass it."),
        (1, "PASS", "Both judges pass it. One critical finding stands."),
        (2, "PASS", "Both judges pass it. 2 critical findings stand."),
        (1, "WARN", "1 of 2 judges has reservations, nobody fails it. One critical finding stands."),
        (1, "FAIL", "1 of 2 judges fails it. One is enough."),
    ] {
        let debate = play(brief(&["a/x"], &[]), &|ask, _, _| {
            let is_first = ask.seat == "judge-1";
            let mut value = first(if is_first { verdict } else { "PASS" });
            value["findings"] = json!(if is_first { critical(count) } else { Vec::new() });
            Some(value)
        });
        assert_eq!(gate(&debate).meaning, meaning);
        let footer = view(&debate).outline.footer.unwrap();
        let counted = "2/2 R1, 0/2 R2, fidelity full (no second round)";
        assert_eq!(footer.blocks, [ReportBlock::Line(counted.into())]);
    }
}

#[test]
fn a_gate_has_judges_and_findings_with_the_dropped_ones_last() {
    let gate = gate(&debated());
    assert_eq!((gate.target.as_str(), gate.path.as_deref()), ("auth", Some("src/auth.py")));
    let place = |finding: &GateFinding| (finding.severity, finding.place(), finding.dropped);
    let want = [
        (GateSeverity::Critical, Some("src/auth.py:45-47".to_owned()), false),
        (GateSeverity::Significant, Some("src/auth.py:7".to_owned()), false),
        (GateSeverity::Minor, Some("the settings".to_owned()), true),
    ];
    assert_eq!(gate.findings.iter().map(place).collect::<Vec<_>>(), want);
    let [convinced, flipped, once, absent] = gate.judges.as_slice() else { panic!("{:?}", gate.judges) };
    assert_eq!(
        (convinced.verdict.as_deref(), convinced.round, convinced.findings.len()),
        (Some("FAIL"), Some(2), 1)
    );
    assert_eq!(flipped.notes, [WEAK]);
    let unverified: Vec<bool> = gate.findings.iter().map(|finding| finding.unverified).collect();
    assert_eq!(unverified, [false, false, true]);
    assert_eq!((once.vendor.as_deref(), once.round), (Some("b"), Some(1)));
    assert_eq!(absent.absence.as_deref(), Some("no R1 verdict (timed out), so no R2 for it"));
}

/// A review that is still running has a view and no verdict.
#[test]
fn a_review_that_has_not_ended_has_no_verdict() {
    let lines = [("judge-1", "FAIL", "FAIL"), ("judge-2", "FAIL", "FAIL")];
    let (records, _) =
        testing::run(&Review, brief(&["a/x"], &[DEBATE]), &|ask, phase, _| said(ask, phase, &lines));
    for length in 1..records.len() {
        let debate = Debate::from_records(&records[..length]).unwrap();
        let view = view(&debate);
        assert_eq!((view.headline.verdict, view.headline.ending.as_str()), (None, ""));
        assert!(view.outline.footer.is_none() && view.dissent.is_empty());
        let gate = view.gate.unwrap();
        assert_eq!(gate.ruling, GateRuling::Missing);
        assert_eq!(gate.meaning, "There is no verdict: the review has not ended.");
    }
}

#[test]
fn modes_without_verdicts_list_what_each_judge_answered() {
    let idea = json!({"key_insight": "Cache it.", "ideas": [{"idea": "A cache", "upside": "It is fast.", "risk": "It is stale."}],
                      "recommendation": "Measure first."});
    let fact = json!({"key_insight": "It is slow.", "facts": [{"claim": "It waits", "evidence": "A trace.", "confidence": "LOW"}],
                      "open_questions": ["Why?"], "recommendation": "Ask."});
    for (mode, title, answer, list, note) in [
        ("brainstorm", "Brainstorm", idea, "Ideas", "Upside: It is fast. Risk: It is stale."),
        ("research", "Research", fact, "Facts", "Evidence: A trace. Confidence: LOW"),
    ] {
        let debate = play(brief(&["a/x"], &[("mode", mode)]), &|_, _, _| Some(answer.clone()));
        let outline = view(&debate).outline;
        assert_eq!(titles(&outline.answer), [title]);
        assert!(outline.body.is_empty() && outline.footer.is_some());
        let ReportBlock::Group { title, blocks, .. } = &outline.answer[0].blocks[0] else {
            panic!("{outline:?}")
        };
        assert_eq!(title, "judge-1");
        let ReportBlock::Group { title, blocks, .. } = &blocks[1] else { panic!("{blocks:?}") };
        assert_eq!((title.as_str(), items(&blocks[0])[0].note.as_deref()), (list, Some(note)));
    }
}
