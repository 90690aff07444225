//! How the verdicts of the judges are consolidated.

use proptest::prelude::*;

use super::*;

const ALL: [&str; 3] = ["PASS", "WARN", "FAIL"];

/// "all PASS: PASS; any FAIL: FAIL; else WARN", written out.
fn expected(verdicts: &[&str]) -> &'static str {
    if verdicts.iter().all(|verdict| *verdict == "PASS") {
        "PASS"
    } else if verdicts.contains(&"FAIL") {
        "FAIL"
    } else {
        "WARN"
    }
}

/// All 27 combinations of three judges of one vendor. One FAIL is enough and cannot be outvoted.
#[test]
fn the_verdicts_of_one_vendor_are_consolidated() {
    for one in ALL {
        for two in ALL {
            for three in ALL {
                let lines = [("judge-1", one, ""), ("judge-2", two, ""), ("judge-3", three, "")];
                let outcome = outcome(&["a/x", "a/y", "a/x"], &[], &lines);
                assert_eq!(outcome.verdict["verdict"], expected(&[one, two, three]), "{one} {two} {three}");
            }
        }
    }
}

/// "When vendors split (one vendor's own result PASS, another's FAIL), with or without `--mixed`, it is DISAGREE": all nine
/// combinations of two vendors.
#[test]
fn vendors_that_split_disagree() {
    for (one, two, want) in [
        ("PASS", "PASS", "PASS"),
        ("PASS", "WARN", "WARN"),
        ("PASS", "FAIL", "DISAGREE"),
        ("WARN", "PASS", "WARN"),
        ("WARN", "WARN", "WARN"),
        ("WARN", "FAIL", "FAIL"),
        ("FAIL", "PASS", "DISAGREE"),
        ("FAIL", "WARN", "FAIL"),
        ("FAIL", "FAIL", "FAIL"),
    ] {
        let lines = [("judge-1", one, ""), ("judge-2", two, "")];
        let plain = outcome(&["a/x", "b/y"], &[], &lines);
        let mixed = outcome(&["a/x"], &[("count", "1"), ("mixed", "b/y")], &lines);
        for outcome in [plain, mixed] {
            assert_eq!(outcome.verdict["verdict"], want, "{one} and {two}");
            let vendors = json!([{"vendor": "a", "verdict": one}, {"vendor": "b", "verdict": two}]);
            assert_eq!(outcome.verdict["vendors"], vendors);
        }
    }
}

/// Three vendors: DISAGREE as soon as one passes and one fails it, whatever the third says.
#[test]
fn three_vendors_disagree_when_two_of_them_do() {
    for one in ALL {
        for two in ALL {
            for three in ALL {
                let lines = [("judge-1", one, ""), ("judge-2", two, ""), ("judge-3", three, "")];
                let outcome = outcome(&["a/x", "b/y", "c/z"], &[], &lines);
                let given = [one, two, three];
                let split = given.contains(&"PASS") && given.contains(&"FAIL");
                let want = if split { "DISAGREE" } else { expected(&given) };
                assert_eq!(outcome.verdict["verdict"], want, "{given:?}");
            }
        }
    }
}

/// DISAGREE compares the results of the vendors, not single judges.
#[test]
fn the_result_of_a_vendor_is_that_of_all_its_judges() {
    for (verdicts, want) in [
        (["PASS", "FAIL", "FAIL", "FAIL"], "FAIL"),
        (["PASS", "FAIL", "PASS", "FAIL"], "DISAGREE"),
        (["PASS", "FAIL", "WARN", "FAIL"], "FAIL"),
        (["PASS", "PASS", "FAIL", "PASS"], "DISAGREE"),
        (["PASS", "PASS", "WARN", "PASS"], "WARN"),
    ] {
        let seats = ["judge-1", "judge-2", "judge-3", "judge-4"];
        let lines: Vec<_> = seats.iter().zip(verdicts).map(|(seat, verdict)| (*seat, verdict, "")).collect();
        let outcome = outcome(&["a/x", "b/y"], &[("count", "4")], &lines);
        assert_eq!(outcome.verdict["verdict"], want, "{verdicts:?}: a, b, a, b");
    }
}

/// Seed: "Consolidation (uses R2 verdicts when --debate)"; with mixed: "use Claude R2 verdicts + Codex R1 verdicts".
#[test]
fn round_2_counts_for_the_first_vendor_and_round_1_for_the_second() {
    let lines = [
        ("judge-1", "FAIL", "PASS"),
        ("judge-2", "WARN", "PASS"),
        ("judge-3", "PASS", ""),
        ("judge-4", "PASS", ""),
    ];
    let outcome = outcome(&["a/x"], &[DEBATE, ("mixed", "b/y")], &lines);
    assert_eq!(outcome.verdict["verdict"], "PASS");
    for (seat, used, mixed) in [("judge-1", "r2", false), ("judge-2", "r2", false), ("judge-3", "r1", true)] {
        let judge = judge(&outcome, seat);
        assert_eq!((&judge["used"], &judge["mixed"]), (&json!(used), &json!(mixed)));
    }
    assert_eq!(judge(&outcome, "judge-3")["note"], Value::Null, "that it has no round 2 is no news");
    assert_eq!(outcome.fidelity, Fidelity::Full);
}

/// "A vendor is the provider prefix of the model". For a chain it is the provider of the model that spoke.
#[test]
fn the_vendor_is_that_of_the_model_that_spoke() {
    for (model, spoke, vendor) in [
        ("a/x", "a/x", "a"),
        ("a/x/y", "a/x/y", "a"),
        ("alone", "alone", "alone"),
        ("a/x | b/y", "b/y", "b"),
        ("a/x|b/y", "a/x", "a"),
        ("a/x|b/y", "", "a"),
        ("command/coder", "something the program says", "command"),
    ] {
        let brief = brief(&[model], &[("count", "1")]);
        let debate = play_replies(brief, |_, _| match spoke {
            "" => Reply::Absent { why: AbsenceReason::Refused, detail: String::new() },
            spoke => spoken(spoke, first("PASS")),
        });
        let outcome = debate.outcome.unwrap();
        assert_eq!(judge(&outcome, "judge-1")["vendor"], vendor, "{model} by {spoke}");
    }
}

/// "Exit status: PASS and WARN 0 (`--fail-on warn` makes WARN 1), FAIL and DISAGREE 1".
#[test]
fn fail_on_sets_the_mildest_verdict_that_fails() {
    for (one, two, fail_on, exit) in [
        ("PASS", "PASS", "fail", 0),
        ("PASS", "PASS", "warn", 0),
        ("PASS", "WARN", "fail", 0),
        ("PASS", "WARN", "warn", 1),
        ("WARN", "FAIL", "fail", 1),
        ("WARN", "FAIL", "warn", 1),
        ("PASS", "FAIL", "fail", 1),
        ("PASS", "FAIL", "warn", 1),
    ] {
        let lines = [("judge-1", one, ""), ("judge-2", two, "")];
        let debate = ruled(&["a/x", "b/y"], &[("fail_on", fail_on)], &lines);
        assert_eq!(agon_core::document::exit_status(&debate), exit, "{one} and {two} on {fail_on}");
        assert_eq!(debate.outcome.unwrap().passed, Some(exit == 0));
    }
    assert!(request(&["a/x"], &[("fail_on", "pass")]).unwrap_err().0.contains("one of fail, warn"));
}

/// "R1 split and R2 unanimous: a convergence warning."
#[test]
fn a_convergence_warning_needs_a_split_and_a_unanimous_round() {
    for (set, lines, fires) in [
        (&[DEBATE][..], [("judge-1", "PASS", "FAIL"), ("judge-2", "FAIL", "FAIL")], true),
        (&[DEBATE], [("judge-1", "PASS", "WARN"), ("judge-2", "FAIL", "WARN")], true),
        (&[DEBATE], [("judge-1", "FAIL", "FAIL"), ("judge-2", "FAIL", "FAIL")], false),
        (&[DEBATE], [("judge-1", "PASS", "FAIL"), ("judge-2", "PASS", "FAIL")], false),
        (&[DEBATE], [("judge-1", "PASS", "WARN"), ("judge-2", "FAIL", "FAIL")], false),
        (&[DEBATE], [("judge-1", "PASS", "FAIL"), ("judge-2", "FAIL", "")], false),
        (&[DEBATE], [("judge-1", "PASS", ""), ("judge-2", "FAIL", "")], false),
        (&[], [("judge-1", "PASS", "FAIL"), ("judge-2", "FAIL", "FAIL")], false),
    ] {
        let outcome = outcome(&["a/x"], set, &lines);
        assert_eq!(
            warns(&outcome, "convergence: the verdicts of round 1 differed"),
            fires,
            "{set:?} {lines:?}"
        );
    }
    // Only judges with a second round matter for it.
    for held in ["PASS", "FAIL"] {
        let lines = [
            ("judge-1", "PASS", "FAIL"),
            ("judge-2", "FAIL", "FAIL"),
            ("judge-3", held, ""),
            ("judge-4", held, ""),
        ];
        let outcome = outcome(&["a/x"], &[DEBATE, ("mixed", "b/y")], &lines);
        assert!(warns(&outcome, "all of round 2 are FAIL"), "the second vendor says {held}");
    }
    let lines = [("judge-1", "PASS", "FAIL"), ("judge-2", "FAIL", "FAIL"), ("judge-3", "WARN", "")];
    let missed = outcome(&["a/x"], &[DEBATE, ("count", "3")], &lines);
    assert!(warns(&missed, "all of round 2 are FAIL"));
    // A reverted verdict did not converge.
    let debate = play(brief(&["a/x"], &[DEBATE, STRICT]), &|ask, phase, _| {
        let mut value = said(ask, phase, &[("judge-1", "PASS", "FAIL"), ("judge-2", "FAIL", "FAIL")])?;
        if phase == "r2" {
            value["changed_because"] = no_evidence();
        }
        Some(value)
    });
    assert!(!warns(debate.outcome.as_ref().unwrap(), "convergence"));
}

fn fates(outcome: &Outcome) -> Vec<(&str, Fate, &str)> {
    outcome
        .positions
        .iter()
        .map(|position| (position.seat.as_str(), position.fate, position.reason.as_str()))
        .collect()
}

/// Rule 12: "Every distinct first-round position ends up adopted, refuted with a reason, or in the dissent section."
#[test]
fn every_first_verdict_is_adopted_refuted_or_dissent() {
    let lines = [
        ("judge-1", "FAIL", "FAIL"),
        ("judge-2", "PASS", "FAIL"),
        ("judge-3", "WARN", "WARN"),
        ("judge-4", "", ""),
        ("judge-5", "PASS", "WARN"),
    ];
    let outcome = outcome(&["a/x"], &[DEBATE, ("count", "5")], &lines);
    let refuted = format!("PASS to FAIL, code location: {EVIDENCE}");
    let moved = format!("PASS to WARN, code location: {EVIDENCE}");
    let held = "the verdict is FAIL";
    assert_eq!(
        fates(&outcome),
        [
            ("judge-1", Fate::Adopted, held),
            ("judge-2", Fate::Refuted, refuted.as_str()),
            ("judge-3", Fate::Minority, held),
            ("judge-5", Fate::Minority, moved.as_str()),
        ]
    );
    let want = |judge: &str, reason: &str| json!({"judge": judge, "seat": judge, "position": "WARN: It is a WARN now.", "reason": reason});
    assert_eq!(
        outcome.dissent,
        [want("judge-3", held), want("judge-5", &moved)],
        "as they hold it at the end"
    );
}

/// A verdict given up without evidence is told with that remark, and nobody whose change was reverted "held to the end". The dissent
/// is what the judge holds at the end.
#[test]
fn a_weak_flip_is_told_in_the_fate_of_the_first_verdict() {
    let weak = "weak flip: it cites Judge 2 made a good point, which does not verify";
    for (set, [r1, r2], fate, dissent) in [
        (&[DEBATE][..], ["PASS", "FAIL"], Fate::Refuted, None),
        (&[DEBATE, STRICT], ["PASS", "FAIL"], Fate::Refuted, None),
        (&[DEBATE, STRICT], ["WARN", "PASS"], Fate::Minority, Some("PASS: It is a PASS now.")),
        (&[DEBATE, STRICT], ["FAIL", "WARN"], Fate::Adopted, None),
        (&[DEBATE], ["FAIL", "WARN"], Fate::Adopted, Some("WARN: It is a WARN now.")),
    ] {
        let reverted = if set.contains(&STRICT) { "; reverted to R1" } else { "" };
        let reason = format!("{r1} to {r2}, {weak}{reverted}");
        let debate = play(brief(&["a/x"], set), &|ask, phase, _| {
            let mut value = said(ask, phase, &[("judge-1", r1, r2), ("judge-2", "FAIL", "FAIL")])?;
            if phase == "r2" {
                value["changed_because"] = no_evidence();
            }
            Some(value)
        });
        let outcome = debate.outcome.as_ref().unwrap();
        let (_, found, told) = fates(outcome)[0];
        assert_eq!((found, told), (fate, reason.as_str()), "{r1} {r2}");
        let held: Vec<String> = view(&debate).dissent.into_iter().map(|item| item.text).collect();
        assert_eq!(held, dissent.into_iter().collect::<Vec<_>>(), "{r1} {r2}");
    }
}

/// "it is DISAGREE, and the user decides": then nobody's position is the verdict.
#[test]
fn when_vendors_disagree_every_position_is_dissent() {
    let outcome = outcome(&["a/x", "b/y"], &[], &[("judge-1", "PASS", ""), ("judge-2", "FAIL", "")]);
    let why = "the providers disagree, and the user decides";
    assert_eq!(fates(&outcome), [("judge-1", Fate::Minority, why), ("judge-2", Fate::Minority, why)]);
    assert_eq!(outcome.dissent.len(), 2);
}

#[test]
fn recommendations_are_of_the_round_that_counts() {
    let lines = [("judge-1", "WARN", "WARN"), ("judge-2", "WARN", "")];
    let outcome = outcome(&["a/x"], &[DEBATE], &lines);
    let want = json!([{"judge": "judge-1", "recommendation": "Fix it now."}, {"judge": "judge-2", "recommendation": "Fix it."}]);
    assert_eq!(outcome.verdict["recommendations"], want);
}

const MODELS: [&str; 3] = ["a/x", "b/y", "c/z"];

/// For any judges, vendors, rounds and absences the ruling is the worst verdict that counts, or DISAGREE between vendors.
#[test]
fn the_ruling_is_never_milder_than_the_worst_verdict() {
    let judge = (0_usize..3, 0_usize..4, 0_usize..4, any::<bool>());
    let table = (prop::collection::vec(judge, 2..6), any::<bool>(), any::<bool>());
    proptest!(ProptestConfig::with_cases(200), |((judges, debate, strict) in table)| {
        let models: Vec<&str> = judges.iter().map(|(vendor, ..)| MODELS[*vendor]).collect();
        let count = judges.len().to_string();
        let (debate, strict) = (debate.to_string(), strict.to_string());
        let set = [("count", count.as_str()), ("debate", debate.as_str()), ("strict_anchoring", strict.as_str())];
        let played = play(brief(&models, &set), &|ask, phase, _| {
            let place: usize = ask.seat.trim_start_matches("judge-").parse().unwrap();
            let (_, r1, r2, specific) = judges[place - 1];
            let mut value = match phase {
                "r1" => first(ALL.get(r1)?),
                "restate" => json!({"restatement": "I said it."}),
                _ => second(ask, ALL.get(r2)?),
            };
            if phase == "r2" && !specific {
                value["changed_because"] = Value::Null;
            }
            Some(value)
        });
        let outcome = played.outcome.unwrap();
        let rank = |verdict: &Value| ALL.iter().position(|name| verdict == name);
        let shown = outcome.verdict["judges"].as_array().unwrap();
        let worst = shown.iter().filter_map(|judge| rank(&judge["verdict"])).max();
        // PASS and WARN need two thirds of the judges and every vendor.
        let heard = |vendor: usize| judges.iter().any(|(other, r1, ..)| *other == vendor && *r1 < 3);
        let heard_count = judges.iter().filter(|(_, r1, ..)| *r1 < 3).count();
        let is_quorate = 3 * heard_count >= 2 * judges.len() && judges.iter().all(|(vendor, ..)| heard(*vendor));
        let worst = worst.filter(|place| *place == 2 || is_quorate);
        match outcome.verdict["verdict"].as_str() {
            Some("DISAGREE") => {
                let vendors = outcome.verdict["vendors"].as_array().unwrap();
                let says = |name: &str| vendors.iter().any(|vendor| vendor["verdict"] == name);
                prop_assert!(says("PASS") && says("FAIL"));
            }
            verdict => prop_assert_eq!(verdict, worst.map(|place| ALL[place])),
        }
        prop_assert_eq!(outcome.status == Status::Complete, worst.is_some());
        prop_assert_eq!(outcome.passed, worst.map(|place| place < 2 && outcome.verdict["verdict"] != "DISAGREE"));
        let survivors = judges.iter().filter(|(_, r1, ..)| *r1 < 3).count();
        prop_assert_eq!(outcome.positions.len(), survivors, "every first verdict has a fate");
        for judge in shown.iter().filter(|judge| judge["weak_flip"] == true) {
            prop_assert_eq!(judge["used"] == "r1", strict == "true", "a weak flip counts only without strict anchoring");
        }
    });
}

/// "PASS and WARN need an R1 of at least two thirds of the judges and of every vendor that was named (`--quorum N` sets the number);
/// otherwise status `incomplete`, exit 3 ... FAIL and DISAGREE stand with any number (status `complete`)."
#[test]
fn pass_and_warn_need_a_quorum_and_fail_does_not() {
    let two = |one, other| [("judge-1", one, ""), ("judge-2", other, ""), ("judge-3", "", "")];
    let quorum = |n| ("quorum", n);
    for (models, set, lines, verdict, exit) in [
        (&["a/x"][..], &[][..], &two("PASS", "PASS")[..], Some("PASS"), 0),
        (&["a/x"], &[], &two("WARN", "PASS"), Some("WARN"), 0),
        (&["a/x"], &[], &two("PASS", ""), None, 3),
        (&["a/x"], &[], &two("", "WARN"), None, 3),
        (&["a/x"], &[], &two("FAIL", ""), Some("FAIL"), 1),
        (&["a/x"], &[quorum("1")], &two("PASS", ""), Some("PASS"), 0),
        (&["a/x"], &[quorum("3")], &two("PASS", "PASS"), None, 3),
        (&["a/x"], &[quorum("3")], &two("PASS", "FAIL"), Some("FAIL"), 1),
        (&["a/x", "a/x", "b/y"], &[], &two("PASS", "PASS"), None, 3),
        (&["a/x", "a/x", "b/y"], &[quorum("1")], &two("PASS", "PASS"), None, 3),
        (&["a/x", "a/x", "b/y"], &[], &two("FAIL", "PASS"), Some("FAIL"), 1),
        (&["a/x", "b/y", "b/y"], &[], &two("FAIL", "PASS"), Some("DISAGREE"), 1),
        (&["a/x", "b/y", "a/x"], &[], &two("PASS", "PASS"), Some("PASS"), 0),
    ] {
        let debate = ruled(models, &[&[("count", "3")], set].concat(), lines);
        let outcome = debate.outcome.as_ref().unwrap();
        let what = format!("{models:?} {set:?} {lines:?}");
        assert_eq!(outcome.verdict["verdict"].as_str(), verdict, "{what}");
        assert_eq!(agon_core::document::exit_status(&debate), exit, "{what}");
        let ended = if verdict.is_some() { Termination::AllRoundsComplete } else { Termination::QuorumLost };
        assert_eq!(outcome.termination, ended, "{what}");
        assert_eq!(
            warns(outcome, "there is no verdict: "),
            verdict.is_none(),
            "{what}: {:?}",
            outcome.warnings
        );
        if verdict.is_none() {
            assert!(
                outcome.positions.iter().all(|held| held.fate == Fate::NotSettled)
                    && outcome.dissent.is_empty()
            );
            assert_eq!(view(&debate).headline.verdict, None, "{what}");
        }
    }
    assert!(
        seated(&["a/x"], &[("quorum", "3")])
            .unwrap_err()
            .contains("--quorum 3 can never be reached by 2 judges")
    );
}

/// "one whose second vendor gives no R1 ends `incomplete`, exit 3: a review that silently was not mixed is worse than none."
#[test]
fn a_mixed_review_without_its_second_vendor_has_no_verdict() {
    for one in ALL {
        let lines = [("judge-1", one, one), ("judge-2", one, one), ("judge-3", "", ""), ("judge-4", "", "")];
        let debate = ruled(&["a/x"], &[DEBATE, ("mixed", "b/y")], &lines);
        let outcome = debate.outcome.as_ref().unwrap();
        assert_eq!(
            (outcome.status, outcome.termination),
            (Status::Incomplete, Termination::QuorumLost),
            "{one}"
        );
        assert_eq!(
            (&outcome.verdict["verdict"], agon_core::document::exit_status(&debate)),
            (&Value::Null, 3)
        );
        assert!(warns(outcome, "no judge of the second vendor gave a verdict, so this review is not mixed"));
    }
    // A chain that falls back to the first vendor is not mixed either.
    let chain = brief(&["a/x"], &[("count", "1"), ("mixed", "b/y|a/x")]);
    let debate = play_replies(chain, |_, _| spoken("a/x", first("PASS")));
    assert_eq!(agon_core::document::exit_status(&debate), 3);
}
