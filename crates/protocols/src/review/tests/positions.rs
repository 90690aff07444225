//! Which verdict each judge gave in each round, what its changes cite, and the ruling on each round.

use agon_core::{DecidedPosition, PositionFlip, PositionGrouping, PositionHistory, RoundPositions};

use super::*;

/// Each round's verdicts, in seat order, and the ruling on them.
fn rounds(stands: &PositionHistory) -> Vec<(u32, Vec<&str>, Option<&str>)> {
    stands.rounds.iter().map(|held| (held.round, positions(held), held.ruling.as_deref())).collect()
}

fn positions(held: &RoundPositions) -> Vec<&str> {
    held.stands.iter().map(|stand| stand.position.as_str()).collect()
}

fn history(debate: &Debate) -> PositionHistory {
    view(debate).positions
}

/// A debate of these judges in which every change of judge-1 has this reason.
fn because(set: &[(&str, &str)], lines: VerdictLines<'_>, reason: Value) -> Debate {
    let set = [&[DEBATE, ("count", "3")], set].concat();
    play(brief(&["a/x"], &set), &|ask, phase, _| {
        let mut value = said(ask, phase, lines)?;
        if phase == "r2" && ask.seat == "judge-1" {
            value["changed_because"] = reason.clone();
        }
        Some(value)
    })
}

/// "where a reply has a discrete one (... verdict ...) that is what is compared".
#[test]
fn each_round_has_its_verdicts_and_a_ruling() {
    let lines = [("judge-1", "FAIL", "WARN"), ("judge-2", "PASS", "PASS"), ("judge-3", "WARN", "WARN")];
    let stands = history(&because(&[], &lines, evidence()));
    assert_eq!(
        rounds(&stands),
        [(1, vec!["FAIL", "PASS", "WARN"], Some("FAIL")), (2, vec!["WARN", "PASS", "WARN"], Some("WARN"))]
    );
    assert_eq!((stands.grouping(), stands.decided.name()), (PositionGrouping::Discrete, Some("WARN")));
    assert!(stands.marks.is_empty());
    let seats: Vec<&str> = stands.rounds[0].stands.iter().map(|stand| stand.seat.as_str()).collect();
    assert_eq!(seats, ["judge-1", "judge-2", "judge-3"]);
    assert!(stands.rounds.iter().flat_map(|held| &held.stands).all(|stand| stand.confidence.is_none()));
}

/// "with or without cited evidence", by review's own bar, and "toward the majority or away".
#[test]
fn a_weak_flip_cites_nothing_and_an_evidenced_one_cites_its_evidence() {
    let toward = [("judge-1", "PASS", "FAIL"), ("judge-2", "FAIL", "FAIL"), ("judge-3", "FAIL", "FAIL")];
    let away = [("judge-1", "PASS", "FAIL"), ("judge-2", "PASS", "PASS"), ("judge-3", "PASS", "PASS")];
    for (lines, toward_majority) in [(&toward, true), (&away, false)] {
        for (reason, cited, named) in [
            (evidence(), vec![EVIDENCE], vec![]),
            (
                json!({"kind": "factual_error", "citation": "auth.py:45", "quote": "It is a PASS."}),
                vec!["auth.py:45 against its own words of round 1, \u{201c}It is a PASS.\u{201d}"],
                vec![],
            ),
            (no_evidence(), vec![], vec!["Judge 2 made a good point, which does not verify"]),
            (Value::Null, vec![], vec![]),
        ] {
            let flips = history(&because(&[], lines, reason.clone())).flips();
            let [flip] = flips.as_slice() else { panic!("{flips:?}") };
            let want = PositionFlip {
                round: 2,
                seat: "judge-1".into(),
                label: None,
                from: "PASS".into(),
                to: "FAIL".into(),
                evidenced: !cited.is_empty(),
                by_argument: !cited.is_empty(),
                by_source: false,
                toward_majority: Some(toward_majority),
                unverified: named.into_iter().map(str::to_owned).collect(),
                cited: cited.into_iter().map(str::to_owned).collect(),
                reason: None,
            };
            assert_eq!(*flip, want, "{reason}");
        }
    }
}

/// A change that strict anchoring reverts is still listed; the rulings go by the verdicts that count.
#[test]
fn a_reverted_flip_is_listed_and_does_not_count() {
    let lines = [("judge-1", "PASS", "FAIL"), ("judge-2", "PASS", "PASS"), ("judge-3", "PASS", "PASS")];
    for (set, reason, ruling) in [
        (&[][..], no_evidence(), "FAIL"),
        (&[STRICT], no_evidence(), "PASS"),
        (&[STRICT], evidence(), "FAIL"),
    ] {
        let debate = because(set, &lines, reason);
        let stands = history(&debate);
        assert_eq!(rounds(&stands)[1], (2, vec!["FAIL", "PASS", "PASS"], Some(ruling)), "{set:?}");
        assert_eq!(stands.flips().len(), 1, "{set:?}");
        assert_eq!(stands.decided.name(), Some(ruling), "{set:?}");
        assert_eq!(debate.outcome.unwrap().verdict["verdict"], ruling, "as in the outcome");
    }
}

/// "who was absent keeps its last stand". A judge that never gave a verdict has none.
#[test]
fn an_absent_judge_keeps_its_verdict() {
    let lines = [("judge-1", "WARN", ""), ("judge-2", "", ""), ("judge-3", "PASS", "WARN")];
    let stands = history(&because(&[], &lines, Value::Null));
    assert_eq!(
        rounds(&stands),
        [(1, vec!["WARN", "PASS"], Some("WARN")), (2, vec!["WARN", "WARN"], Some("WARN"))]
    );
    assert_eq!(stands.rounds[1].stands[0].change, None);
    assert_eq!(stands.flips().len(), 1);
    let nobody = [("judge-1", "WARN", ""), ("judge-2", "PASS", ""), ("judge-3", "PASS", "")];
    let alone = history(&because(&[], &nobody, Value::Null));
    assert_eq!(alone.rounds.len(), 1, "a round in which nobody spoke has no positions");
    let out = [("judge-1", "", ""), ("judge-2", "", ""), ("judge-3", "", "")];
    assert_eq!(history(&because(&[], &out, Value::Null)), PositionHistory::default());
}

#[test]
fn every_round_can_be_ruled_disagree() {
    let lines = [
        ("judge-1", "FAIL", "PASS"),
        ("judge-2", "FAIL", "PASS"),
        ("judge-3", "FAIL", ""),
        ("judge-4", "FAIL", ""),
    ];
    let stands = history(&ruled(&["a/x"], &[DEBATE, ("mixed", "b/y")], &lines));
    assert_eq!(
        rounds(&stands),
        [(1, vec!["FAIL"; 4], Some("FAIL")), (2, vec!["PASS", "PASS", "FAIL", "FAIL"], Some("DISAGREE"))]
    );
    assert_eq!(stands.decided.name(), Some("DISAGREE"));
}

#[test]
fn a_debate_that_is_not_over_has_rounds_and_no_verdict() {
    let lines = [("judge-1", "PASS", "FAIL"), ("judge-2", "FAIL", "FAIL")];
    let (records, _) =
        testing::run(&Review, brief(&["a/x"], &[DEBATE]), &|ask, phase, _| said(ask, phase, &lines));
    let mut seen = Vec::new();
    for length in 1..records.len() {
        let stands = history(&Debate::from_records(&records[..length]).unwrap());
        assert_eq!(stands.decided, DecidedPosition::Nothing);
        let sizes: Vec<usize> = stands.rounds.iter().map(|held| held.stands.len()).collect();
        seen.push(sizes);
    }
    seen.dedup();
    assert_eq!(seen, [vec![], vec![1], vec![2], vec![2, 2]]);
}

/// Ideas and facts are not positions that can be compared.
#[test]
fn other_modes_have_no_rounds() {
    let set = [("mode", "brainstorm")];
    let debate = play(brief(&["a/x"], &set), &|_, _, _| Some(json!({"key_insight": "a cache"})));
    assert!(debate.outcome.is_some());
    assert_eq!(history(&debate), PositionHistory::default());
}
