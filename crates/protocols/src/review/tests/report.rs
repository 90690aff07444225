//! What readers and pipelines are told: the outline, the meaning of the verdict, the gate.

use agon_core::{
    GateFinding, GateReport, GateRuling, GateSeverity, ReportBlock, ReportItem, ReportSection, SectionKind,
    VerdictTone,
};

use super::*;

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
        ["judge-1", "correctness", "a", "WARN", "FAIL", "MEDIUM", "FAIL (R2)"],
        ["judge-2", "risk", "a", "PASS", "WARN", "MEDIUM", "WARN (R2)"],
        ["judge-3", "correctness", "b", "WARN", "not asked", "HIGH", "WARN (R1)"],
        ["judge-4", "risk", "b", "absent", "not asked", "", "nothing"],
    ];
    assert_eq!(table(judges), want);
    let notes: Vec<_> =
        items(&judges.blocks[2]).iter().map(|item| (item.text.as_str(), item.note.as_deref())).collect();
    let because = format!("WARN to FAIL. Its evidence (code location): {EVIDENCE}");
    let want = [
        ("It is a FAIL now.", Some(because.as_str())),
        ("It is a WARN now.", Some("weak flip: changed without evidence that could be verified")),
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
        ("Critical", "F3", "src/auth.py:45-47, security. Advice: Count attempts. Found by judge-1."),
        (
            "Significant",
            "F2",
            "src/auth.py:7. Found by judge-3. Accepted by judge-2. Disputed by judge-1: Line 7 is fine.",
        ),
        (
            "Minor",
            "F1 (dropped)",
            "the settings (unverified: not in the target). Found by judge-1. Dropped in round 2 by judge-1: It is meant to be so.",
        ),
    ];
    assert_eq!(shown, want);
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
    assert_eq!(flipped.notes, ["weak flip: changed without evidence that could be verified"]);
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
