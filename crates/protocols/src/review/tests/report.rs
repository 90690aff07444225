//! What readers and pipelines are told: the outline, the meaning of the verdict, the gate.

use agon_core::{
    GateFinding, GateReport, GateRuling, GateSeverity, ReportBlock, ReportItem, ReportSection, SectionKind,
    VerdictTone,
};

use super::*;

/// The note on a judge that goes from PASS to WARN without evidence.
const WEAK: &str = "PASS to WARN, weak flip: it cites Judge 2 made a good point, which does not verify";

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
    assert_eq!(titles(&outline.answer), ["Verdict", "Findings", "The judges", "Recommendations"]);
    assert!(outline.body.is_empty() && outline.details.is_empty(), "the transcript has the rest");
    let headline = ReportBlock::Headline(VerdictTone::Bad, "FAIL".into());
    let meaning =
        "judge-1 says FAIL; judge-2 and judge-3 say WARN; judge-4 gave no verdict. One FAIL is enough.";
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
    let judges = section(&outline.answer, "The judges");
    let want = [
        ["Judge", "Provider", "R1", "R2", "Confidence", "Counts"],
        ["judge-1 (correctness)", "a", "WARN", "FAIL", "HIGH -> MEDIUM", "FAIL (R2)"],
        ["judge-2 (risk)", "a", "PASS", "WARN", "HIGH -> MEDIUM", "WARN (R2)"],
        ["judge-3 (correctness)", "b", "WARN", "not asked", "HIGH", "WARN (R1)"],
        ["judge-4 (risk)", "b", "absent", "not asked", "", "nothing"],
    ];
    assert_eq!(table(judges), want);
    let notes: Vec<_> =
        items(&judges.blocks[1]).iter().map(|item| (item.text.as_str(), item.note.as_deref())).collect();
    let because = format!("WARN to FAIL, code location: {EVIDENCE}");
    let want = [
        ("It is a FAIL now.", Some(because.as_str())),
        ("It is a WARN now.", Some(WEAK)),
        ("It is a WARN.", None),
        ("no R1 verdict (timed out), so no R2 for it", None),
    ];
    assert_eq!(notes, want);
    assert_eq!(judges.blocks.len(), 2);
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
            "src/auth.py:45-47, security. Advice: Count attempts. Found by judge-1 in round 2.",
        ),
        (
            "Significant",
            "F2",
            "src/auth.py:7. Found by judge-3. Disputed by judge-1: Line 7 is fine. Accepted by judge-2.",
        ),
        (
            "Minor",
            "F1 (dropped)",
            "the settings (unverified: not in the target). Found by judge-1. judge-1 dropped it in round 2: It is meant to be so.",
        ),
    ];
    assert_eq!(shown, want);
}

/// Only what verifies is named, in the judge's own words.
#[test]
fn a_change_is_told_with_what_its_evidence_is() {
    let lines = [("judge-1", "PASS", "FAIL"), ("judge-2", "FAIL", "FAIL")];
    let own = "against its own words of round 1, \u{201c}It is a PASS.\u{201d}";
    for (kind, citation, quote, told) in [
        ("code_location", "auth.py:45", "statement_45()", "auth.py:45 \u{201c}statement_45()\u{201d}".into()),
        ("factual_error", "src/auth.py:45", "It is a PASS.", format!("src/auth.py:45 {own}")),
        ("factual_error", "It is a PASS.", "auth.py:45", format!("auth.py:45 {own}")),
        ("factual_error", "src/auth.py:4-5", "It is a PASS.", format!("src/auth.py:4-5 {own}")),
        ("factual_error", "statement_7()", "It is a PASS.", format!("\u{201c}statement_7()\u{201d} {own}")),
        ("missed_detail", "F1", "", "F1".into()),
        ("missed_detail", "F1", "It is a FAIL here.", "F1 \u{201c}It is a FAIL here.\u{201d}".into()),
        ("missed_detail", "F1", "statement_9()", "F1, \u{201c}statement_9()\u{201d}".into()),
        ("missed_detail", "auth.py:9", "statement_9()", "auth.py:9 \u{201c}statement_9()\u{201d}".into()),
        ("missed_detail", "auth.py:8", "statement_9()", "\u{201c}statement_9()\u{201d}".into()),
        ("missed_detail", "as judge-2 says", "statement_9()", "\u{201c}statement_9()\u{201d}".into()),
    ] {
        let debate = play(brief(&["a/x"], &[DEBATE]), &|ask, phase, _| {
            let mut value = said(ask, phase, &lines)?;
            if phase == "r2" && ask.seat == "judge-1" {
                value["changed_because"] = json!({"kind": kind, "citation": citation, "quote": quote});
            }
            Some(value)
        });
        let outline = view(&debate).outline;
        let item = &items(&section(&outline.answer, "The judges").blocks[1])[0];
        let want = format!("PASS to FAIL, {}: {told}", kind.replace('_', " "));
        assert_eq!(item.note.as_deref(), Some(want.as_str()), "{kind} {citation:?} {quote:?}");
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

/// Every report of a finding stands in its judge's own words, with what the others say to it.
#[test]
fn a_finding_of_several_judges_is_told_as_each_reported_it() {
    let mut first = finding("minor", "apples rot", "src/auth.py:3");
    (first["category"], first["recommendation"]) = (json!("fruit"), json!("Eat them."));
    let mut second = finding("significant", "apples smell", "x.py:99");
    second["recommendation"] = json!("Cook them");
    let answer = |id: &str, status: &str, reason: &str| json!({"id": id, "reason": reason, "status": status, "severity": null});
    let change = json!([{"id": "F2", "status": "change", "reason": "It spreads.", "severity": "critical"}]);
    let long = format!("It smells. {}", "x ".repeat(400).trim_end());
    let notes = finding_notes(&[
        (&[first], json!({"own": [answer("F1", "keep", "I saw it.")]})),
        (&[second], json!({"own": change, "same_as": [{"own": "F2", "other": "F1"}]})),
        (&[], json!({"others": [answer("F1", "accept", "Seen"), answer("F2", "dispute", &long)]})),
        (&[], json!({"others": [{"id": "F2", "status": "accept", "severity": "minor"}]})),
        (&[], json!({"findings": [finding("minor", "pears rot", "")]})),
    ]);
    let want = [
        (
            "F2",
            format!(
                "x.py:99 (unverified: not in the target). Advice: Cook them. Found by judge-2 as significant. Disputed by judge-3: \
                 {long}. Accepted by judge-4 as minor. judge-2 changed it from significant to critical in round 2: It spreads."
            ),
        ),
        (
            "F1, the same as F2",
            "src/auth.py:3, fruit. Advice: Eat them. Found by judge-1 as minor. Accepted by judge-3: Seen. judge-1 kept it in round 2: \
             I saw it."
                .to_owned(),
        ),
        ("F3", "Found by judge-5 in round 2.".to_owned()),
    ];
    assert_eq!(notes, want.map(|(who, note)| (who.to_owned(), note)));
    let drop = json!({"own": [{"id": "F1", "status": "drop"}]});
    let mut advised = finding("minor", "apples rot", "");
    advised["recommendation"] = json!("Eat them.");
    let dropped = finding_notes(&[(&[advised], drop), (&[], json!({}))]);
    assert_eq!(dropped[0].1, "Found by judge-1. judge-1 dropped it in round 2.", "there is nothing to do");
}

/// "DISAGREE, and the user decides": the results of the vendors stand side by side.
#[test]
fn where_the_vendors_disagree_their_verdicts_stand_side_by_side() {
    let debate = ruled(&["a/x", "b/y"], &[], &[("judge-1", "FAIL", ""), ("judge-2", "PASS", "")]);
    let outline = view(&debate).outline;
    let rows = table(section(&outline.answer, "The judges"));
    assert_eq!(
        rows[1..].iter().map(|row| (row[1], row[2])).collect::<Vec<_>>(),
        [("a", "FAIL"), ("b", "PASS")]
    );
    let meaning = "judge-1 says FAIL; judge-2 says PASS. The providers split: a FAIL, b PASS. You decide.";
    assert_eq!(gate(&debate).meaning, meaning);
}

#[test]
fn the_meaning_of_a_verdict_says_who_said_what() {
    for (verdicts, fail_on, ruling, meaning) in [
        (&["PASS"][..], "fail", GateRuling::Passed, "judge-1 says PASS."),
        (&["PASS", "PASS"], "fail", GateRuling::Passed, "judge-1 and judge-2 say PASS."),
        (
            &["PASS", "PASS", ""],
            "warn",
            GateRuling::Passed,
            "judge-1 and judge-2 say PASS; judge-3 gave no verdict.",
        ),
        (
            &["PASS", ""],
            "fail",
            GateRuling::Missing,
            "There is no verdict: 1 of 2 judges gave a verdict, and PASS or WARN needs 2.",
        ),
        (&["PASS", "WARN"], "fail", GateRuling::Warned, "judge-2 says WARN; judge-1 says PASS."),
        (
            &["PASS", "WARN"],
            "warn",
            GateRuling::Blocked,
            "judge-2 says WARN; judge-1 says PASS. WARN counts as failing here.",
        ),
        (
            &["FAIL", "PASS", "FAIL", ""],
            "fail",
            GateRuling::Blocked,
            "judge-1 and judge-3 say FAIL; judge-2 says PASS; judge-4 gave no verdict. One FAIL is enough.",
        ),
        (
            &["", ""],
            "fail",
            GateRuling::Missing,
            "There is no verdict: 0 of 2 judges gave a verdict, and PASS or WARN needs 2.",
        ),
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
    let meaning = "judge-1 (reverted to R1) says FAIL; judge-2 says PASS. One FAIL is enough.";
    assert_eq!(gate.meaning, meaning);
    assert_eq!(gate.judges[0].notes, [format!("{}; reverted to R1", WEAK.replace("PASS", "FAIL"))]);
}

/// The verdicts decide, so a critical finding alone blocks nothing; a reader must learn of it.
#[test]
fn an_open_gate_names_the_critical_findings() {
    let critical = |count: usize| -> Vec<Value> {
        (0..count).map(|place| finding("critical", &format!("It burns {place}."), "")).collect()
    };
    for (count, verdict, meaning) in [
        (0, "PASS", "judge-1 and judge-2 say PASS."),
        (1, "PASS", "judge-1 and judge-2 say PASS. Critical findings that stand: 1."),
        (2, "PASS", "judge-1 and judge-2 say PASS. Critical findings that stand: 2."),
        (1, "WARN", "judge-1 says WARN; judge-2 says PASS. Critical findings that stand: 1."),
        (1, "FAIL", "judge-1 says FAIL; judge-2 says PASS. One FAIL is enough."),
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
