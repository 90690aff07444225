//! "Critical Finding: a severe issue that blocks consensus until resolved."

use std::cell::RefCell;

use super::*;

/// A debate with equal scores in which judge-1 raises one critical finding. `said` has a letter for each judge in seat order, for
/// round 2 and round 3: `h`old, `a`dopt, `l`ower, `d`ispute, `w`ithdraw, `-` nothing.
fn raised(said: &str) -> Outcome {
    raised_debate(said).outcome.unwrap()
}

fn raised_debate(said: &str) -> Debate {
    let letters: Vec<&str> = said.split(' ').collect();
    run_brief(brief(MODELS, &[("fail_on", "red")]), &|ask, _, round| {
        let mut reply = plain(&[4.0], round);
        match round {
            1 if place(ask) == 0 => {
                reply["critical_findings"] = json!([
                    {"finding": "ordinary", "severity": "HIGH", "evidence": "line 1"},
                    {"finding": "no rollback", "severity": "CRITICAL", "evidence": "docs/queue-plan.md:3", "fix": "add one", "blocks_consensus": true},
                ]);
            }
            1 => {}
            _ => {
                let letter = &letters[round as usize - 2][place(ask)..=place(ask)];
                let position = ["hold", "adopt", "lower", "dispute", "withdraw"]
                    .into_iter()
                    .find(|word| word.starts_with(letter));
                let entry =
                    |word| json!({"finding_id": "F1", "position": word, "reason": format!("{word} it")});
                reply["critical_positions"] = position.into_iter().map(entry).collect();
            }
        }
        Some(reply)
    })
}

/// "A judge *holds* a critical finding that it raised or adopted and has not since disputed or withdrawn. Held by all: adopted.
/// Held by none: withdrawn. Anything between: disputed, and it blocks consensus at any scores."
#[test]
fn a_finding_is_adopted_withdrawn_or_disputed() {
    for (what, said, state, held, rounds) in [
        ("raised and left", "--- ---", "disputed", 1, 3),
        ("held and lowered", "hll ---", "disputed", 1, 3),
        ("lowered by its own judge", "l-- ---", "lowered", 0, 2),
        ("lowered by all who held it", "-ad ll-", "lowered", 0, 3),
        ("lowered by one and withdrawn by another", "-a- lw-", "withdrawn", 0, 3),
        ("adopted by all", "-aa ---", "adopted", 3, 2),
        ("adopted by one", "-a- ---", "disputed", 2, 3),
        ("adopted late", "-ad --a", "adopted", 3, 3),
        ("withdrawn", "w-- ---", "withdrawn", 0, 2),
        ("withdrawn late", "-d- w--", "withdrawn", 0, 3),
        ("disputed by its own judge", "d-- ---", "withdrawn", 0, 2),
        ("taken up again", "wa- a-a", "adopted", 3, 3),
        ("given up again", "-a- -da", "disputed", 2, 3),
        ("withdrawn by one who never held it", "-w- ---", "disputed", 1, 3),
    ] {
        let outcome = raised(said);
        let finding = &outcome.verdict["critical_findings"][0];
        assert_eq!(finding["state"], state, "{what}");
        assert_eq!(finding["held_by"].as_array().unwrap().len(), held, "{what}");
        let open = state == "disputed";
        let termination = if open { Termination::Majority } else { Termination::Consensus };
        assert_eq!((outcome.rounds_completed, outcome.termination), (rounds, termination), "{what}");
        assert_ne!(open, outcome.verdict["confidence"] == "HIGH", "{what}: open is never HIGH");
    }
}

/// "One that all hold is consensus that the plan is bad: verdict `consensus`, and the finding leads the report with
/// `action_required: true`."
#[test]
fn a_finding_that_all_hold_leads_the_consensus() {
    let outcome = raised("-aa ---");
    let verdict = &outcome.verdict;
    assert_eq!(verdict["verdict_type"], "consensus");
    assert_eq!(
        verdict["convergent_findings"][0],
        json!({"finding": "no rollback", "priority": "CRITICAL", "source_judges": ["all"], "action_required": true, "id": "F1"})
    );
    assert_eq!(verdict["status"], "YELLOW", "with a critical finding never GREEN");
    assert_eq!(verdict["recommendations"], json!([]), "nothing is filled in by formula");
    let ledger = &verdict["critical_findings"][0];
    assert_eq!((&ledger["finding_id"], &ledger["raised_by"]), (&json!("F1"), &json!(["judge-1"])));
    assert_eq!(
        ledger["positions"][0],
        json!({"round": 2, "judge_id": "judge-2", "position": "adopt", "reason": "adopt it"})
    );
    assert_eq!(
        verdict["critical_findings"].as_array().unwrap().len(),
        1,
        "other severities are ordinary findings"
    );
}

/// "a critical is open": it is in `user_attention_needed`, first; who holds it and who does not, with the reasons.
#[test]
fn an_open_finding_comes_first_in_what_needs_attention() {
    let outcome = raised("-a- --l");
    let entry = &outcome.verdict["user_attention_needed"][0];
    assert_eq!(entry["issue"], "[F1] no rollback");
    assert_eq!(
        entry["majority_view"],
        "judge-1: critical. judge-2: critical. adopt it. judge-3: real, but not critical. lower it."
    );
    assert_eq!((&entry["stakes"], &entry["recommendation"]), (&json!(null), &json!("add one")));
    assert_eq!(entry["ids"], json!(["F1", "D1"]));
    let alone = raised("--- ---");
    assert_eq!(alone.verdict["critical_findings"][0]["state"], "disputed");
    assert_eq!(alone.verdict["disputes"], json!([]), "nobody has said the opposite");
    assert!(warned(
        &alone,
        "round 2: no position on the critical findings, so those of the round before count: judge-1, judge-2, judge-3"
    ));
}

/// "With an open or adopted CRITICAL the status is never GREEN and the headline names it."
#[test]
fn the_headline_names_a_critical_finding() {
    for (said, words) in [
        ("-aa ---", "Held as critical by judge-1, judge-2, judge-3: [F1] no rollback"),
        ("--- ---", "Held as critical by judge-1: [F1] no rollback"),
        ("w-- ---", ""),
    ] {
        let debate = raised_debate(said);
        let view = Panel.view(&debate).unwrap();
        let (verdict, why) = (view.headline.verdict.unwrap(), view.headline.why.unwrap());
        assert_eq!(verdict == "GREEN", words.is_empty(), "{said}");
        assert_eq!(why.contains("[F1]"), !words.is_empty(), "{why}");
        assert!(why.contains(words), "{why}");
        assert_eq!(why.contains("No consensus: 1 critical finding open."), said == "--- ---", "{why}");
    }
}

/// A gate says where everybody stands in the end, who gave it up and when, and why it is open although it is NO GO.
#[test]
fn a_gate_shows_the_positions_at_the_end() {
    for (said, severity, judges, remarks) in [
        (
            "-ad ---",
            agon_core::GateSeverity::Critical,
            &["judge-1", "judge-2"][..],
            "Disputed: critical (judge-1, judge-2); disputed (judge-3). judge-2 in round 2: adopt. adopt it. judge-3 in round 2: dispute. \
             dispute it.",
        ),
        (
            "-ad ll-",
            agon_core::GateSeverity::Minor,
            &["judge-1"],
            "Lowered: real, but not critical (judge-1, judge-2); disputed (judge-3). judge-2 in round 2: adopt. adopt it. judge-3 in \
             round 2: dispute. dispute it. judge-1 in round 3: lower. lower it. judge-2 in round 3: lower. lower it.",
        ),
    ] {
        let gate = Panel.view(&raised_debate(said)).unwrap().gate.unwrap();
        let finding = &gate.findings[0];
        assert_eq!((finding.severity, finding.description.as_str()), (severity, "no rollback."));
        assert_eq!(finding.remarks.join(" "), remarks);
        assert_eq!(
            (finding.judges.as_slice(), finding.dropped),
            (&judges.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>()[..], false)
        );
        let why = "The gate (`--fail-on red`) passes: the status is YELLOW.";
        assert_eq!(
            gate.meaning.starts_with(&format!("NO GO (YELLOW), critical: [F1]. {why} ")),
            said == "-ad ---",
            "{}",
            gate.meaning
        );
    }
}

/// "A judge may raise a critical finding in round 2 as well."
#[test]
fn a_finding_of_round_2_blocks_consensus_and_is_asked_about_in_round_3() {
    for (position, termination) in [("adopt", Termination::Consensus), ("dispute", Termination::Majority)] {
        let outcome = run(&[], &|ask, _, round| {
            let mut said = plain(&[4.0], round);
            said["dimension_scores"]["feasibility"] =
                json!(if round == 1 && place(ask) == 0 { 2.0 } else { 4.0 });
            match (round, place(ask)) {
                (2, 1) => {
                    said["critical_findings"] = json!([{"finding": "no owner", "severity": "CRITICAL", "evidence": "docs/queue-plan.md:3"}]);
                }
                (3, place) if place != 1 => {
                    assert!(ask.prompt.user().contains("[F1]"), "{}", ask.prompt.user());
                    said["critical_positions"] = json!([{"finding_id": "F1", "position": position}]);
                }
                _ => {}
            }
            Some(said)
        });
        assert_eq!((outcome.termination, outcome.rounds_completed), (termination, 3), "{position}");
        assert_eq!(outcome.verdict["critical_findings"][0]["raised_by"], json!(["judge-2"]));
    }
}

/// Rule 10: ids "numbered in seat order over the whole debate; the schema enumerates the ones that may be used".
#[test]
fn findings_are_numbered_in_seat_order_and_enumerated() {
    let seen = RefCell::new(Vec::new());
    let outcome = run(&[], &|ask, _, round| {
        let mut said = plain(&[4.0], round);
        if round == 1 {
            let finding = |text: &str| json!({"finding": text, "severity": "CRITICAL", "evidence": "line 3"});
            let texts: &[&str] = [&["one", "two"][..], &[], &["TWO", "three"]][place(ask)];
            said["critical_findings"] = texts.iter().map(|text| finding(text)).collect();
        } else {
            let schema = ask.schema.as_ref().unwrap().json.clone();
            let ids =
                schema.pointer("/properties/critical_positions/items/properties/finding_id/enum").unwrap();
            assert_eq!(ids, &json!(["F1", "F2", "F3"]));
            for (id, fits) in [("F1", true), ("F4", false), ("[F1]", false)] {
                said["critical_positions"] = json!([{"finding_id": id, "position": "dispute"}]);
                assert_eq!(jsonschema::is_valid(&schema, &said), fits, "{id}");
            }
            seen.borrow_mut().push(ask.prompt.user());
            said["critical_positions"] = json!([{"finding_id": "F1", "position": "adopt"}]);
        }
        Some(said)
    });
    let raised: Vec<&Value> =
        outcome.verdict["critical_findings"].as_array().unwrap().iter().map(|f| &f["raised_by"]).collect();
    assert_eq!(
        raised,
        [&json!(["judge-1"]), &json!(["judge-1", "judge-3"]), &json!(["judge-3"])],
        "the same words are one"
    );
    for prompt in seen.into_inner() {
        assert!(
            prompt.contains("- [F1] finding: one")
                && prompt.contains("- Critical finding [F2]: critical (judge-1, judge-3);")
        );
    }
}

/// A judge who raises the words of another in round 2 holds the finding from then on, not before.
#[test]
fn equal_words_in_round_2_join_a_finding_of_round_1() {
    let outcome = run(&[], &|ask, _, round| {
        let mut said = plain(&[4.0], round);
        if (round, place(ask)) == (1, 0) || round == 2 && place(ask) > 0 {
            said["critical_findings"] = json!([{"finding": "no rollback", "severity": "CRITICAL"}]);
        }
        Some(said)
    });
    assert_eq!((outcome.termination, outcome.rounds_completed), (Termination::Consensus, 2));
    assert_eq!(
        outcome.verdict["critical_findings"][0]["raised_by"],
        json!(["judge-1", "judge-2", "judge-3"])
    );
    let rounds = &outcome.verdict["debate_metrics"]["rounds"];
    assert_eq!(
        (&rounds["round_1"]["agreements_formed"], &rounds["round_2"]["agreements_formed"]),
        (&json!(0), &json!(1))
    );
}

/// Findings that became one are asked about as one, and the answer counts for all of them.
#[test]
fn a_position_on_findings_that_became_one_counts_for_all() {
    let asked = RefCell::new(String::new());
    let outcome = run(&[], &|ask, _, round| {
        let mut said = plain(&[4.0], round);
        let position = |id: &str, word: &str| json!({"finding_id": id, "position": word, "reason": "so"});
        match (round, place(ask)) {
            (1, 0 | 2) => {
                let finding = ["no way back", "", "no rollback"][place(ask)];
                said["critical_findings"] = json!([{"finding": finding, "severity": "CRITICAL"},
                    {"finding": "few tests", "severity": "HIGH"}]);
            }
            (2, 2) => {
                said["critical_positions"] = json!([position("F1", "adopt"), position("F2", "hold")]);
                said["same_as"] = json!([["F1", "F2"]]);
            }
            (2, _) => {
                said["critical_positions"] = json!([position("F1", "lower"), position("F2", "lower")]);
                said["same_as"] = json!([["F1", "F2"]]);
            }
            (3, _) => {
                *asked.borrow_mut() = ask.prompt.user();
                said["critical_positions"] = json!([position("F1", "lower")]);
            }
            _ => {}
        }
        Some(said)
    });
    let asked = asked.into_inner();
    assert!(asked.contains("take one position on each of [F1], and"), "{asked}");
    assert!(
        asked.contains("- Critical finding [F1] (the same as [F2], which it replaces): critical (judge-3);"),
        "{asked}"
    );
    let finding = &outcome.verdict["critical_findings"][0];
    assert_eq!((&finding["state"], &finding["held_by"]), (&json!("lowered"), &json!([])));
    let given_up = &outcome.positions[2];
    assert_eq!(
        given_up.fate,
        Fate::NotSettled,
        "who gives up its critical finding leaves its first position"
    );
    assert_eq!(
        given_up.reason,
        "its judge is in the consensus; its score stayed at 4.0. [F2]: judge-3 in round 3: lower. so. Its reasons cite no point of \
         another judge and no line or words of the files."
    );
    assert_eq!(outcome.positions[1].reason, "its judge is in the consensus; its score stayed at 4.0.");
}

/// Findings below CRITICAL have ids of their own, so that judges can answer them and say what they are the same as.
#[test]
fn lesser_findings_have_ids_and_can_be_the_same_as_a_critical_one() {
    let outcome = run(&[], &|ask, _, round| {
        let mut said = plain([&[2.0][..], &[3.0], &[5.0]][place(ask)], round);
        match (round, place(ask)) {
            (1, 0) => said["critical_findings"] = json!([{"finding": "no rollback", "severity": "CRITICAL"}]),
            (1, at) => {
                let finding = ["", "no way back", "nobody is on call"][at];
                said["critical_findings"] = json!([{"finding": finding, "severity": "HIGH"}]);
            }
            (2, 0 | 1) => {
                let schema = &ask.schema.as_ref().unwrap().json;
                let about = &schema["properties"]["agreements"]["items"]["properties"]["about"]["enum"];
                assert!(about.as_array().unwrap().contains(&json!("L2")), "{about}");
                assert!(ask.prompt.user().contains("- [L1] finding: no way back"));
                said["same_as"] = json!([["F1", "L1"]]);
            }
            _ => {}
        }
        Some(said)
    });
    let told: Vec<_> = outcome.verdict["other_findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| (&finding["id"], &finding["same_as"]))
        .collect();
    assert_eq!(told, [(&json!("L1"), &json!(["F1"])), (&json!("L2"), &json!(null))]);
}

/// "each finding_id at most once".
#[test]
fn a_judge_takes_one_position_on_each_finding() {
    let position = |id: &str| json!({"finding_id": id, "position": "adopt", "reason": ""});
    for (ids, fits) in [(&["F1", "F2"][..], true), (&["F1", "F2", "F1"], false), (&[], true)] {
        let mut said = last(3.0);
        said["critical_positions"] = ids.iter().map(|id| position(id)).collect();
        assert_eq!(replies::check_final(&said).is_ok(), fits, "{ids:?}");
    }
}

/// Judges who raise the same words in round 1 all hold the finding at once.
#[test]
fn a_finding_that_all_raise_in_the_same_words_is_adopted_at_once() {
    let outcome = run(&[], &|ask, _, _| {
        let mut said = statement(1.5);
        let text = ["No rollback", "no  rollback", "NO ROLLBACK"][place(ask)];
        said["critical_findings"] = json!([{"finding": text, "severity": "CRITICAL", "evidence": "line 3"}]);
        Some(said)
    });
    assert_eq!((outcome.termination, outcome.rounds_completed), (Termination::Consensus, 1));
    assert_eq!(outcome.verdict["critical_findings"][0]["state"], "adopted");
    assert_eq!(outcome.verdict["status"], "RED");
}
