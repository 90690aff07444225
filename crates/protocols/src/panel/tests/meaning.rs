//! "Meaning is declared and verified, never guessed from words": a table of cases in three languages, properties, and a real debate.

use std::cell::RefCell;

use super::*;

/// The critical findings of a debate with equal scores in which judge-1 and judge-2 raise one each, and who declares them the same.
fn findings(one: &str, other: &str, declared_by: &[usize]) -> Value {
    let outcome = run(&[], &|ask, _, round| {
        let mut said = plain(&[3.0], round);
        match (round, place(ask)) {
            (1, 0) => said["critical_findings"] = json!([{"finding": one, "severity": "CRITICAL"}]),
            (1, 1) => said["critical_findings"] = json!([{"finding": other, "severity": "CRITICAL"}]),
            (2, place)
                if declared_by.contains(&place)
                    && ask.schema.as_ref().unwrap().json["properties"].get("same_as").is_some() =>
            {
                said["same_as"] = json!([["F1", "F2"]]);
            }
            _ => {}
        }
        Some(said)
    });
    outcome.verdict["critical_findings"].clone()
}

/// Two findings are one where their texts are equal, or where their raisers or a majority declare it. Words decide nothing.
#[test]
fn findings_are_one_by_equality_or_declaration_and_never_by_words() {
    const NOBODY: &[usize] = &[];
    for (what, one, other, declared_by, same) in [
        ("equal", "no rollback", "no rollback", NOBODY, true),
        ("case and white space", "No  Rollback", "no rollback", NOBODY, true),
        ("full width", "Ｎo rollback", "no rollback", NOBODY, true),
        ("sharp s", "GROSSE LÜCKE", "große lücke", NOBODY, true),
        ("Chinese, equal", "没有回滚", " 没有回滚 ", NOBODY, true),
        ("final stop", "no rollback", "no rollback.", NOBODY, false),
        ("negation", "there is a rollback", "there is no rollback", NOBODY, false),
        ("negation, German", "Es gibt einen Rückweg", "Es gibt keinen Rückweg", NOBODY, false),
        ("negation, Chinese", "有回滚计划", "没有回滚计划", NOBODY, false),
        ("signs", "timeout must be < 30 s", "timeout must be > 30 s", NOBODY, false),
        ("swap", "replace Redis with Postgres", "replace Postgres with Redis", NOBODY, false),
        ("figures", "a loss of 1 %", "a loss of 10 %", NOBODY, false),
        ("paraphrase, nobody says so", "there is no way back", "it cannot be undone", NOBODY, false),
        ("paraphrase, one of the raisers", "there is no way back", "it cannot be undone", &[0], false),
        ("paraphrase, somebody else", "there is no way back", "it cannot be undone", &[2], false),
        ("paraphrase, both raisers", "there is no way back", "it cannot be undone", &[0, 1], true),
        ("paraphrase, a majority", "there is no way back", "it cannot be undone", &[0, 2], true),
        ("paraphrase, German", "Es gibt kein Zurück", "Man kann es nicht rückgängig machen", &[0, 1], true),
        ("paraphrase, Chinese", "没有回滚", "无法撤销", &[1, 2], true),
        ("translation", "no rollback", "没有回滚", &[0, 1, 2], true),
        ("translation, nobody says so", "no rollback", "Kein Rückweg", NOBODY, false),
    ] {
        let records = findings(one, other, declared_by);
        assert_eq!(records.as_array().unwrap().len() == 1, same, "{what}: {records}");
        let raised = &records[0]["raised_by"];
        assert_eq!(raised.as_array().unwrap().len(), if same { 2 } else { 1 }, "{what}: nobody is lost");
    }
    // An id of another debate does not get past the schema.
    let seen = RefCell::new(Value::Null);
    run(&[], &|ask, _, round| {
        let mut said = plain(&[3.0], round);
        if round == 1 {
            let finding = format!("finding of {}", ask.seat);
            said["critical_findings"] = json!([{"finding": finding, "severity": "CRITICAL"}]);
        } else {
            *seen.borrow_mut() = ask.schema.as_ref().unwrap().json.clone();
        }
        Some(said)
    });
    for (id, fits) in [("F2", true), ("F9", false), ("D9", false), ("no rollback", false)] {
        let mut said = last(3.0);
        said["same_as"] = json!([["F1", id]]);
        assert_eq!(jsonschema::is_valid(&seen.borrow(), &said), fits, "{id}");
    }
}

/// "a finding's `evidence` is a location or a verbatim quote, verified; otherwise it is marked `unverified` in every output".
#[test]
#[allow(clippy::too_many_lines, reason = "a table of cases")]
fn evidence_is_a_line_or_a_quote_of_the_files() {
    let files = [
        ("plan.md", "# Plan\n\nMove the jobs to the queue.\nNobody is on call."),
        ("docs/entwurf.md", "# Entwurf\nDie Löschung ist endgültig."),
        ("设计.md", "# 设计\n消息可能丢失。"),
    ];
    for (evidence, is_verified) in [
        ("plan.md:3", true),
        ("`plan.md:3-4`", true),
        ("plan.md#L4", true),
        ("docs/entwurf.md:2", true),
        ("entwurf.md:2", true),
        ("设计.md:2", true),
        ("Move the jobs to the queue.", true),
        ("3 | Move the jobs to the queue.", true),
        ("move the JOBS", true),
        ("the queue. Nobody is", true),
        ("„Die Löschung ist endgültig“", true),
        ("消息可能丢失", true),
        ("plan.md:4 \"Nobody is on call\"", true),
        ("plan.md, Queue: \"Move the jobs\"", true),
        ("\"Nobody is on call\" (plan.md:4)", true),
        ("\"Move the jobs\" and \"on call\"", true),
        ("plan.md:3 \"Move the jobs\", plan.md:4 \"on call\"", true),
        ("", false),
        ("...", false),
        ("plan.md", false),
        ("plan.md:5", false),
        ("plan.md:0", false),
        ("other.md:1", false),
        ("plan.md, section 2", false),
        ("The jobs go to the queue", false),
        ("The deletion is final", false),
        ("消息不会丢失", false),
        ("plan.md:4 \"Somebody is on call\"", false),
        ("plan.md:3 \"Nobody is on call\"", false),
        ("plan.md:99 \"Nobody is on call\"", false),
        ("other.md:4 \"Nobody is on call\"", false),
        ("\"Die Löschung ist vorläufig\"", false),
    ] {
        let mut brief = testing::brief(&Panel, request(&files, MODELS, &[]).unwrap()).unwrap();
        brief.options.insert("fail_on".into(), json!("red"));
        let seen = RefCell::new(String::new());
        let debate = run_brief(brief, &|ask, _, round| {
            let mut said = plain(&[4.0], round);
            if round == 1 && place(ask) == 0 {
                said["critical_findings"] =
                    json!([{"finding": "it fails", "severity": "CRITICAL", "evidence": evidence}]);
                said["key_claims"] =
                    json!([{"claim": "it is so", "evidence": evidence, "confidence": "LOW"}]);
            } else if round == 1 {
                said["key_claims"] = json!([]);
            }
            *seen.borrow_mut() = ask.prompt.user();
            Some(said)
        });
        let view = Panel.view(&debate).unwrap();
        let verdict = &debate.outcome.as_ref().unwrap().verdict;
        assert_eq!(verdict["critical_findings"][0].get("unverified").is_none(), is_verified, "{evidence}");
        let record = super::templates::file(&debate, "round-1-judge-1");
        assert_eq!(record["critical_findings"][0].get("unverified").is_none(), is_verified, "{evidence}");
        assert_eq!(record["key_claims"][0].get("unverified").is_none(), is_verified, "{evidence}");
        assert_eq!(!view.headline.why.unwrap().contains("(evidence unverified)"), is_verified, "{evidence}");
        assert_eq!(!format!("{:?}", view.outline).contains("(unverified)"), is_verified, "{evidence}");
        let gate = view.gate.unwrap();
        assert_eq!(!gate.findings[0].unverified, is_verified, "{evidence}");
        assert_eq!(gate.findings[0].line.is_some(), is_verified, "a quote has a line, too: {evidence}");
        let lines = (gate.findings[0].line, gate.findings[0].end_line);
        match evidence {
            "消息可能丢失" => assert_eq!(lines, (Some(2), None)),
            "\"Nobody is on call\" (plan.md:4)" => assert_eq!(lines, (Some(4), None)),
            "the queue. Nobody is" => assert_eq!(lines, (Some(3), Some(4))),
            _ => {}
        }
        let marks = seen.borrow().matches("unverified: true").count();
        assert_eq!(
            marks,
            if is_verified { 0 } else { 3 },
            "a claim, a finding, and what it means: {evidence}"
        );
    }
}

/// "a score moved by 1.0 or more without a `change_reason` that cites an id" needs attention and caps the confidence; a change is
/// evidenced where it cites another judge's point or a line of the files.
#[test]
fn a_change_is_evidenced_by_ids_and_lines_and_never_by_words() {
    for (reason, cited, has_id) in [
        ("[F1] is right", &["[F1]"][..], true),
        ("F1 stimmt, und A2 auch", &["[F1]", "[A2]"], true),
        ("F1是对的", &["[F1]"], true),
        ("[D1]: I had misread it", &["[D1]"], true),
        ("docs/queue-plan.md:3 says so", &["docs/queue-plan.md:3"], false),
        ("siehe (docs/queue-plan.md:3).", &["docs/queue-plan.md:3"], false),
        ("[A1] was mine", &[], true),
        ("\"Move the jobs to the queue\" is what it says", &["docs/queue-plan.md:3"], false),
        ("[F1]; „move the JOBS“ steht da, docs/queue-plan.md:3", &["[F1]", "docs/queue-plan.md:3"], true),
        ("「Move the jobs」说明了这一点", &["docs/queue-plan.md:3"], false),
        ("\"Move the jobs back\" is what it says", &[], false),
        ("judge-2 is right about line 3", &[], false),
        ("judge-2's argument was more nuanced than mine", &[], false),
        ("Das Argument von judge-2 war differenzierter", &[], false),
        ("judge-2的论点更细致", &[], false),
        ("I was persuaded by the evidence", &[], false),
        ("[F9] and [D77] of another debate", &[], false),
        ("docs/queue-plan.md:99 and nowhere.md:1", &[], false),
        ("XF1, F12 and f1 are no ids", &[], false),
        ("point 3 of 3", &[], false),
    ] {
        let debate = run_brief(brief(MODELS, &[]), &|ask, _, round| {
            let mut said = plain([&[2.0, 4.0][..], &[4.0], &[4.0]][place(ask)], round);
            match (round, place(ask)) {
                (1, 2) => {
                    said["critical_findings"] = json!([{"finding": "no rollback", "severity": "CRITICAL"}])
                }
                (2, 0) => said["change_reason"] = json!(reason),
                (2, 2) => said["critical_positions"] = json!([{"finding_id": "F1", "position": "withdraw"}]),
                _ => {}
            }
            Some(said)
        });
        let flips = Panel.view(&debate).unwrap().positions.flips();
        let [flip] = flips.as_slice() else { panic!("{flips:?}") };
        assert_eq!(
            (flip.evidenced, flip.cited.iter().map(String::as_str).collect::<Vec<_>>()),
            (!cited.is_empty(), cited.to_vec()),
            "{reason}"
        );
        assert_eq!(flip.reason.as_deref(), Some(reason));
        let missing = |what: &str| format!("{what}, which is not in the files");
        let unverified = match reason {
            "[A1] was mine" => vec!["[A1], which is its own".to_owned()],
            "\"Move the jobs back\" is what it says" => vec![missing("\"Move the jobs back\"")],
            "docs/queue-plan.md:99 and nowhere.md:1" => vec![missing("docs/queue-plan.md:99")],
            "[F9] and [D77] of another debate" => {
                ["[F9]", "[D77]"].map(|id| format!("{id}, which does not exist")).to_vec()
            }
            _ => Vec::new(),
        };
        assert_eq!(flip.unverified, unverified, "{reason}");
        let verdict = &debate.outcome.as_ref().unwrap().verdict;
        assert_eq!(verdict["verdict_type"], "consensus");
        assert_eq!(verdict["confidence"], if has_id { "HIGH" } else { "MEDIUM" }, "{reason}");
        assert_eq!(
            verdict["user_attention_needed"].to_string().contains("judge-1 moved its score from 2.0 to 4.0"),
            !has_id,
            "{reason}"
        );
    }
    let small = scored(&[], &[&[3.01, 4.0], &[4.0], &[4.0]]);
    assert_eq!(small.verdict["confidence"], "HIGH", "below 1.0 no id is needed");
}

/// A change is evidenced by what its reason cites. An adopted finding is no reason. In round 3 the first concession stands for a
/// reason that is missing, and the report says so.
#[test]
fn a_change_without_a_reason_is_evidenced_by_a_concession_only() {
    let adopt = json!([{"finding_id": "F1", "position": "adopt"}]);
    let concede = json!([{"point": "it is so", "convinced_by": "judge-3", "about": "A3"}]);
    let vague = json!([{"point": "it is so", "convinced_by": "judge-3 on A3"}]);
    let said = "I was persuaded.";
    let shown = "gives no reason, but concedes, convinced by judge-3: it is so";
    for (round_of_change, reason, field, value, cited, told) in [
        (2, said, "critical_positions", &adopt, &[][..], said),
        (3, said, "concessions_made", &concede, &[], said),
        (3, "", "concessions_made", &concede, &["[A3]"], shown),
        (
            3,
            "",
            "concessions_made",
            &vague,
            &[],
            "gives no reason, but concedes, convinced by judge-3 on A3: it is so",
        ),
    ] {
        let debate = run_brief(brief(MODELS, &[]), &|ask, _, round| {
            let scores: [&[f64]; 3] =
                [if round_of_change == 2 { &[2.0, 2.5] } else { &[2.0, 2.0, 2.5] }, &[4.0], &[5.0]];
            let mut said = plain(scores[place(ask)], round);
            match (round, place(ask)) {
                (1, 2) => {
                    said["critical_findings"] = json!([{"finding": "no rollback", "severity": "CRITICAL"}])
                }
                (round, 0) if round == round_of_change => {
                    said["change_reason"] = json!(reason);
                    said[field] = value.clone();
                }
                _ => {}
            }
            Some(said)
        });
        let flips = Panel.view(&debate).unwrap().positions.flips();
        assert_eq!(flips[0].cited, cited, "{field} {value}");
        assert_eq!(flips[0].reason.as_deref(), Some(told));
    }
}

/// A point that a judge itself left open moves it as little as its own claims.
#[test]
fn a_dispute_of_its_own_evidences_no_change() {
    let debate = run_brief(brief(MODELS, &[]), &|ask, _, round| {
        let mut said = plain([&[2.0, 2.0, 2.4][..], &[4.0], &[5.0]][place(ask)], round);
        said["dimension_scores"] = dimensions(3.0);
        match (round, place(ask)) {
            (2, 0 | 1) => {
                let topic = format!("point of {}", ask.seat);
                said["unresolved_disputes"] =
                    json!([{"topic": topic, "my_view": "yes", "with_judge": "judge-3"}]);
            }
            (3, 0) => said["change_reason"] = json!("[D1] and [D2]"),
            _ => {}
        }
        Some(said)
    });
    let flips = Panel.view(&debate).unwrap().positions.flips();
    assert_eq!(
        (flips[0].cited.join(""), flips[0].unverified.join("")),
        ("[D2]".into(), "[D1], which is its own".into())
    );
}

/// The figures of the disputes of a debate: resolved, remaining, agreements formed.
fn evolution(with: &dyn Fn(u32, usize, &mut Value)) -> [u64; 3] {
    let outcome = run(&[], &|ask, _, round| {
        let mut said = plain([&[4.0][..], &[4.0], &[2.9]][place(ask)], round);
        said["dimension_scores"] = dimensions(3.0);
        with(round, place(ask), &mut said);
        Some(said)
    });
    assert_eq!(outcome.rounds_completed, 3, "{:?}", outcome.verdict["debate_metrics"]);
    let figures = &outcome.verdict["debate_metrics"]["position_evolution"];
    ["disputes_resolved", "disputes_remaining", "agreements_formed"].map(|key| figures[key].as_u64().unwrap())
}

/// "A dispute is *open* after a round when at least two judges hold different scores (over `dimension_range`) or positions on it,
/// *resolved* when it was open after an earlier round and is not now".
#[test]
#[allow(clippy::too_many_lines, reason = "one debate, looked at as a whole")]
fn disputes_are_counted_by_id() {
    let risk = |said: &mut Value, score: f64| said["dimension_scores"]["risk_mitigation"] = json!(score);
    let raise = |said: &mut Value| {
        said["critical_findings"] = json!([{"finding": "no rollback", "severity": "CRITICAL"}])
    };
    let take = |said: &mut Value, word: &str| {
        said["critical_positions"] = json!([{"finding_id": "F1", "position": word}])
    };
    let open = |said: &mut Value, topic: &str, view: &str, with: &str| {
        said["unresolved_disputes"] = json!([{"topic": topic, "my_view": view, "with_judge": with}]);
    };
    let concede =
        |said: &mut Value, id: &str| said["concessions_made"] = json!([{"point": "so be it", "about": id}]);
    let (weeks, wochen) = ("Are nine weeks enough?", "Reichen neun Wochen?");
    type Play<'a> = &'a dyn Fn(u32, usize, &mut Value);
    let accept = |said: &mut Value| {
        said["agreements"] = json!([{"with_judge": "judge-3", "on_point": "a part of it", "about": "A3"}])
    };
    let dispute = |said: &mut Value| {
        open(said, weeks, "yes", "judge-3");
        said["unresolved_disputes"][0]["about"] = json!("A3");
    };
    let cases: [(&str, Play<'_>, [u64; 3]); 19] = [
        ("nothing", &|_, _, _| {}, [0, 0, 0]),
        (
            "a dimension apart to the end",
            &|_, place, said| {
                if place == 0 {
                    risk(said, 4.5)
                }
            },
            [0, 1, 0],
        ),
        (
            "at the range",
            &|_, place, said| {
                if place == 0 {
                    risk(said, 4.0)
                }
            },
            [0, 0, 0],
        ),
        (
            "settled in round 2",
            &|round, place, said| {
                if round == 1 && place == 0 {
                    risk(said, 4.5)
                }
            },
            [1, 0, 1],
        ),
        (
            "settled in round 3",
            &|round, place, said| {
                if round < 3 && place == 0 {
                    risk(said, 4.5)
                }
            },
            [1, 0, 1],
        ),
        (
            "changed back",
            &|round, place, said| {
                if round != 2 && place == 0 {
                    risk(said, 4.5)
                }
            },
            [0, 1, 1],
        ),
        (
            "a finding that nobody has answered",
            &|round, place, said| {
                if round == 1 && place == 0 {
                    raise(said)
                }
            },
            [0, 0, 0],
        ),
        (
            "a finding disputed, then adopted",
            &|round, place, said| match (round, place) {
                (1, 0) => raise(said),
                (2, 1 | 2) => take(said, "dispute"),
                (3, 1 | 2) => take(said, "adopt"),
                _ => {}
            },
            [1, 0, 2],
        ),
        (
            "a finding lowered to the end",
            &|round, place, said| match (round, place) {
                (1, 0) => raise(said),
                (2, 1) => take(said, "lower"),
                _ => {}
            },
            [0, 1, 0],
        ),
        (
            "a point left open",
            &|round, place, said| {
                if (round, place) == (2, 0) {
                    open(said, weeks, "yes", "judge-3")
                }
            },
            [0, 1, 0],
        ),
        (
            "a point about a dimension, which the scores settle and the point not",
            &|round, place, said| {
                if round == 1 && place == 0 {
                    risk(said, 4.5)
                }
                if (round, place) == (2, 0) {
                    open(said, weeks, "yes", "judge-3");
                    said["unresolved_disputes"][0]["about"] = json!("D1");
                }
            },
            [1, 1, 1],
        ),
        (
            "the same, conceded by its own id",
            &|round, place, said| {
                if round == 1 && place == 0 {
                    risk(said, 4.5)
                }
                match (round, place) {
                    (2, 0) => {
                        open(said, weeks, "yes", "judge-3");
                        said["unresolved_disputes"][0]["about"] = json!("D1");
                    }
                    (3, 2) => concede(said, "D2"),
                    _ => {}
                }
            },
            [2, 0, 2],
        ),
        (
            "a point conceded by the other side",
            &|round, place, said| match (round, place) {
                (2, 0) => open(said, weeks, "yes", "judge-3"),
                (3, 2) => concede(said, "D1"),
                _ => {}
            },
            [1, 0, 1],
        ),
        (
            "a claim contested by one and accepted by another, conceded by the first",
            &|round, place, said| match (round, place) {
                (2, 0) => {
                    open(said, weeks, "yes", "judge-3");
                    said["unresolved_disputes"][0]["about"] = json!("A3");
                }
                (2, 1) => {
                    said["agreements"] = json!([{"with_judge": "judge-3", "on_point": "it", "about": "A3"}])
                }
                (3, 0) => concede(said, "D1"),
                _ => {}
            },
            [1, 0, 1],
        ),
        (
            "a claim accepted in part by the judge who disputes the rest",
            &|round, place, said| {
                if (round, place) == (2, 0) {
                    dispute(said);
                    accept(said);
                }
            },
            [0, 1, 0],
        ),
        (
            "the same, accepted by another and given up by its judge",
            &|round, place, said| match (round, place) {
                (2, 0) => {
                    dispute(said);
                    accept(said);
                }
                (2, 1) => accept(said),
                (3, 0) => {
                    said["unresolved_disagreements"] = json!([{"issue": weeks, "my_final_view": "yes", "with_judge": "judge-3", "about": "A3"}])
                }
                (3, 2) => concede(said, "A3"),
                _ => {}
            },
            [1, 0, 1],
        ),
        (
            "given up by both sides in the same round",
            &|round, place, said| match (round, place) {
                (2, 0) => dispute(said),
                (3, 0) => concede(said, "D1"),
                (3, 2) => concede(said, "A3"),
                _ => {}
            },
            [1, 0, 1],
        ),
        (
            "the same topic in equal words from both sides, given up by one",
            &|round, place, said| match (round, place) {
                (2, 0) => open(said, "新方案够吗？", "够", "judge-3"),
                (2, 2) => open(said, " 新方案够吗？", "不够", "judge-1"),
                (3, 0) => concede(said, "D1"),
                _ => {}
            },
            [1, 0, 1],
        ),
        (
            "the same topic in other words is another dispute until somebody declares it",
            &|round, place, said| match (round, place) {
                (2, 0) => open(said, weeks, "yes", "judge-3"),
                (2, 2) => open(said, wochen, "nein", "judge-1"),
                _ => {}
            },
            [0, 2, 0],
        ),
    ];
    for (what, play, figures) in cases {
        assert_eq!(evolution(play), figures, "{what}: resolved, remaining, agreements formed");
    }
    let declared = evolution(&|round, place, said| match (round, place) {
        (2, 0) => open(said, weeks, "yes", "judge-3"),
        (2, 2) => open(said, wochen, "nein", "judge-1"),
        (3, 0 | 2) => said["same_as"] = json!([["D1", "D2"]]),
        _ => {}
    });
    assert_eq!(declared, [0, 1, 0], "both raisers declare it the same");
}

/// What a judge last says of a claim or a lesser finding counts, and what it does not mention stays as it was.
#[test]
#[allow(clippy::too_many_lines, reason = "a table of cases")]
fn the_last_word_on_a_point_counts() {
    let point = |list: &str, about: &str, with: &str| {
        let (list, entry) = (
            list.to_owned(),
            json!([{"with_judge": with, "on_point": "it", "topic": "it", "issue": "it",
            "point": "it", "about": about}]),
        );
        move |said: &mut Value| said[&list] = entry.clone()
    };
    let agree = |with: &str| point("agreements", "L1", with);
    let reject = point("disagreements", "L1", "judge-3");
    let concede = |about: &str| point("concessions_made", about, "");
    let open = |with: &str| point("unresolved_disputes", "L1", with);
    let last = |about: &str, with: &str| point("unresolved_disagreements", about, with);
    let none = |_: &mut Value| {};
    type Change<'a> = &'a dyn Fn(&mut Value);
    // What judge-1 and judge-3, who raised it, say in rounds 2 and 3.
    let again = |said: &mut Value| {
        said["critical_findings"] = json!([{"finding": "no tests", "severity": "HIGH"}]);
    };
    let cases: [(&str, [Change<'_>; 2], [Change<'_>; 2], &str); 11] = [
        ("nobody says anything", [&none, &none], [&none, &none], ""),
        ("accepted", [&agree("judge-3"), &none], [&none, &none], "accepted by judge-1"),
        ("rejected, and silent then", [&reject, &none], [&none, &none], "rejected by judge-1"),
        ("rejected, then conceded", [&reject, &none], [&concede("L1"), &none], "accepted by judge-1"),
        (
            "accepted, then contested",
            [&agree("judge-3"), &none],
            [&last("L1", "judge-3"), &none],
            "rejected by judge-1",
        ),
        ("given up in round 2", [&none, &agree("judge-1")], [&none, &none], "given up by judge-3"),
        (
            "given up in round 3",
            [&reject, &none],
            [&none, &concede("L1")],
            "rejected by judge-1; given up by judge-3",
        ),
        (
            "given up by both who raised it, the second in seat order first",
            [&again, &none],
            [&concede("L1"), &concede("L1")],
            "given up by judge-1, judge-3",
        ),
        (
            "given up by the dispute",
            [&open("judge-3"), &none],
            [&none, &concede("D1")],
            "rejected by judge-1; given up by judge-3",
        ),
        ("the dispute conceded", [&open("judge-3"), &none], [&concede("D1"), &none], "accepted by judge-1"),
        (
            "defended by its raiser",
            [&open("judge-3"), &none],
            [&none, &last("D1", "judge-1")],
            "rejected by judge-1",
        ),
    ];
    for (what, second, third, words) in cases {
        let outcome = run(&[], &|ask, _, round| {
            let mut said = plain([&[4.0][..], &[4.0], &[3.0]][place(ask)], round);
            match (round, place(ask)) {
                (1, 2) => said["critical_findings"] = json!([{"finding": "no tests", "severity": "HIGH"}]),
                (2 | 3, 0 | 2) => [second, third][round as usize - 2][place(ask) / 2](&mut said),
                _ => {}
            }
            Some(said)
        });
        let finding = &outcome.verdict["other_findings"][0];
        let stands = crate::panel::findings::PointStands::deserialize(finding).unwrap();
        assert_eq!(stands.words().collect::<Vec<_>>().join("; "), words, "{what}");
        assert_eq!(finding["action_required"], !what.starts_with("given up"), "{what}");
    }
}

/// "when a judge sets it (a field of every round)", under every verdict.
#[test]
fn a_request_for_attention_is_kept_under_every_verdict() {
    for (scores, kind) in
        [([4.0, 4.0, 4.0], "consensus"), ([4.0, 4.5, 2.0], "majority"), ([3.0, 4.0, 5.0], "no_majority")]
    {
        for asked_in in 1..=3 {
            let outcome = run(&[], &|ask, _, round| {
                let mut said = plain(&[scores[place(ask)]], round);
                if round == asked_in && place(ask) == 1 {
                    said["user_attention_needed"] = json!(true);
                    said["attention_reason"] = json!("Wer trägt das Risiko?");
                }
                Some(said)
            });
            assert_eq!(outcome.verdict["verdict_type"], kind);
            let items = outcome.verdict["user_attention_needed"].as_array().unwrap();
            let found = items.iter().find(|item| item["issue"] == "Wer trägt das Risiko?");
            assert_eq!(found.is_some(), asked_in <= outcome.rounds_completed, "{kind} {asked_in}");
            assert!(found.is_none_or(|item| item["raised_by"] == json!(["judge-2"])));
        }
    }
}

/// A real debate, with the answers as `change` changes them.
pub(super) fn played(log: &str, change: &dyn Fn(&Ask, u32, &mut Value)) -> Debate {
    let log: Value = serde_json::from_str(log).unwrap();
    let files = log["files"].as_array().unwrap().iter();
    let files: Vec<(&str, &str)> =
        files.map(|f| (f["path"].as_str().unwrap(), f["text"].as_str().unwrap())).collect();
    let brief = testing::brief(&Panel, request(&files, MODELS, &[]).unwrap()).unwrap();
    let answer = |ask: &Ask, phase: &str, round: u32| {
        let mut replies = log["replies"].as_array().unwrap().iter();
        let reply = replies.find(|reply| reply["seat"] == ask.seat.as_str() && reply["phase"] == phase);
        let mut said = reply.map_or_else(|| summed_up(ask), |reply| reply["reply"].clone());
        change(ask, round, &mut said);
        Some(said)
    };
    testing::run(&Panel, brief, &answer).1
}

/// The first real debate. `declare` adds what its judges could only say in words.
fn real(declare: bool) -> Outcome {
    let debate = played(include_str!("account_deletion.json"), &|_, round, said| {
        if declare && round > 1 {
            // What is one after round 2 is not declared again.
            if round == 2 {
                said["same_as"] = json!([["F1", "F2"]]);
            }
            // Nor is it asked about under two ids.
            if let (3, Some(positions)) = (round, said["critical_positions"].as_array_mut()) {
                positions.retain(|position| position["finding_id"] != "F2");
            }
            for list in ["unresolved_disputes", "unresolved_disagreements"] {
                let entries = said[list].as_array_mut().into_iter().flatten();
                entries.for_each(|entry| entry["about"] = json!("F3"));
            }
        }
    });
    debate.outcome.unwrap()
}

/// "Three judges; F1 and F2 are the same problem, as all three say; several disputes are settled in rounds 2 and 3."
#[test]
fn a_real_debate_is_told_as_it_was() {
    let outcome = real(true);
    let verdict = &outcome.verdict;
    assert_eq!((outcome.termination, outcome.rounds_completed), (Termination::Majority, 3));
    assert_eq!(verdict["majority_judges"], json!(["judge-1", "judge-3"]));
    assert_eq!(fates(&outcome), [Fate::Adopted, Fate::Minority, Fate::Adopted]);
    let findings = verdict["critical_findings"].as_array().unwrap();
    let told: Vec<_> = findings.iter().map(|f| (&f["finding_id"], &f["same_as"], &f["state"])).collect();
    assert_eq!(
        told,
        [(&json!("F1"), &json!(["F2"]), &json!("adopted")), (&json!("F3"), &json!(null), &json!("disputed"))]
    );
    assert!(
        findings.iter().all(|finding| finding["unverified"] == true),
        "sections are neither lines nor quotes"
    );
    assert_eq!(
        verdict["debate_metrics"]["position_evolution"],
        json!({"agreements_formed": 4, "disputes_resolved": 3, "disputes_remaining": 2}),
        "one finding and architecture, risk, feasibility; implementation clarity and the backlog stay open"
    );
    let open: Vec<&Value> = verdict["disputes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|d| d["state"] == "open")
        .map(|d| &d["about"])
        .collect();
    assert_eq!(open, [&json!("implementation_clarity"), &json!("F3")]);
    assert_eq!(verdict["status"], "RED");
    let attention = verdict["user_attention_needed"].as_array().unwrap();
    assert_eq!(attention.len(), 2, "the backlog once, and the scores: {attention:?}");
    assert!(attention[0]["minority_view"].as_str().unwrap().starts_with("judge-2: disputed. Real, but HIGH"));

    // Without declarations nothing is guessed: F1 and F2 stay two, and the open points of three judges stay apart.
    let bare = real(false);
    let ids: Vec<&Value> =
        bare.verdict["critical_findings"].as_array().unwrap().iter().map(|f| &f["finding_id"]).collect();
    assert_eq!(ids, [&json!("F1"), &json!("F2"), &json!("F3")]);
    assert_eq!(bare.verdict["majority_judges"], verdict["majority_judges"]);
}

/// What decides in a verdict: everything but the words.
fn decisions(outcome: &Outcome) -> Value {
    let verdict = &outcome.verdict;
    let list = |key: &str, fields: &[&str]| -> Vec<Value> {
        let entries = verdict[key].as_array().into_iter().flatten();
        entries.map(|entry| fields.iter().map(|field| entry[*field].clone()).collect()).collect()
    };
    json!({
        "verdict": [&verdict["verdict_type"], &verdict["confidence"], &verdict["status"], &verdict["majority_judges"], &verdict["opinions_by"]],
        "findings": list("critical_findings", &["finding_id", "same_as", "state", "held_by", "raised_by", "unverified"]),
        "disputes": list("disputes", &["dispute_id", "about", "state", "open_after_rounds"]),
        "attention": list("user_attention_needed", &["ids", "raised_by"]),
        "advice": list("recommendations", &["ids", "made_by", "priority", "consensus_level"]),
        "evolution": verdict["debate_metrics"]["position_evolution"],
        "fates": fates(outcome).iter().map(|fate| format!("{fate:?}")).collect::<Vec<_>>(),
    })
}

/// A debate with something of everything, whose texts go through `text`.
fn rich(text: &dyn Fn(&str) -> String) -> Outcome {
    let plan = text("Move the jobs to the queue. Nobody is on call at night.");
    let brief = testing::brief(&Panel, request(&[("plan.md", &plan)], MODELS, &[]).unwrap()).unwrap();
    let t = |words: &str| json!(text(words));
    let answer = |ask: &Ask, _: &str, round: u32| {
        let mut said = plain([&[2.0, 3.1][..], &[4.0], &[4.2]][place(ask)], round);
        let advice = || json!([{"action": t("Write a plan for the night"), "priority": "MUST"}]);
        match (round, place(ask)) {
            (1, 0) => {
                said["critical_findings"] = json!([{"finding": t("Nobody would notice a failure"), "severity": "CRITICAL", "evidence": t("Nobody is on call")}]);
                said["recommendations"] = advice();
            }
            (1, 1) => {
                said["critical_findings"] = json!([{"finding": t("A failure stays unseen until the morning"), "severity": "CRITICAL", "evidence": t("on call by day")}]);
                said["recommendations"] = advice();
            }
            (2, 0 | 1) => {
                said["same_as"] = json!([["F1", "F2"]]);
                said["change_reason"] = t("[F2] moved me, and so did the night");
                said["unresolved_disputes"] = json!([{"topic": t("Is the night worth it?"), "my_view": t("It is"), "with_judge": "judge-3", "stakes": t("A lost night")}]);
            }
            (2 | 3, 2) => {
                said["critical_positions"] =
                    json!([{"finding_id": "F1", "position": "lower", "reason": t("It is rare")}]);
                said["user_attention_needed"] = json!(round == 3);
                said["attention_reason"] = t("Who pays for the night?");
            }
            _ => {}
        }
        Some(said)
    };
    let play = |ask: &Ask, phase: &str, round: u32| {
        let mut reply = if ask.seat == RAPPORTEUR { summed_up(ask) } else { answer(ask, phase, round)? };
        if ask.seat == RAPPORTEUR {
            reply["majority"] = t("The judges disagree about the night");
        }
        Some(reply)
    };
    testing::run(&Panel, brief, &play).1.outcome.unwrap()
}

/// "renaming every word of a debate by a bijection (a made-up language) changes no decision".
#[test]
fn a_made_up_language_changes_no_decision() {
    let as_it_is = rich(&str::to_owned);
    assert_eq!(as_it_is.verdict["critical_findings"][0]["same_as"], json!(["F2"]));
    let shifted =
        |by: u8| {
            move |text: &str| -> String {
                let letter = |c: char| match c {
                    'a'..='z' => char::from((c as u8 - b'a' + by) % 26 + b'a'),
                    'A'..='Z' => char::from((c as u8 - b'A' + by) % 26 + b'A'),
                    _ => c,
                };
                // Ids are no words.
                text.split(' ')
                    .map(|word| {
                        if word.starts_with('[') {
                            word.to_owned()
                        } else {
                            word.chars().map(letter).collect()
                        }
                    })
                    .collect::<Vec<_>>()
                    .join(" ")
            }
        };
    let chinese = |text: &str| -> String {
        let letter = |c: char| {
            if c.is_ascii_alphabetic() {
                char::from_u32(0x4e00 + c.to_ascii_lowercase() as u32).unwrap()
            } else {
                c
            }
        };
        text.split(' ')
            .map(
                |word| {
                    if word.starts_with('[') { word.to_owned() } else { word.chars().map(letter).collect() }
                },
            )
            .collect::<Vec<_>>()
            .join(" ")
    };
    for by in [1, 7, 13, 25] {
        assert_eq!(decisions(&rich(&shifted(by))), decisions(&as_it_is), "shifted by {by}");
    }
    assert_eq!(decisions(&rich(&chinese)), decisions(&as_it_is), "one letter, one sign");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]
    /// "no text that a seat writes, apart from a verified declaration, changes who agrees with whom".
    #[test]
    fn no_text_changes_who_agrees(words in proptest::collection::vec("(agree|disagree|not|same|opposed|ja|nein|同意|反对|judge-2|critical| |\\.){0,8}", 6)) {
        let debate = |words: &[String]| run(&[], &|ask, _, round| {
            let mut said = plain([&[4.0][..], &[4.4], &[2.5]][place(ask)], round);
            let word = |at: usize| json!(format!("{} {}", ask.seat, words[(at + place(ask)) % words.len()]));
            match round {
                1 => {
                    said["position_statement"] = word(0);
                    said["critical_findings"] = json!([{"finding": word(1), "severity": "CRITICAL", "evidence": ""}]);
                }
                2 => {
                    said["position_revision"] = word(2);
                    said["agreements"] = json!([{"with_judge": if place(ask) == 0 { "judge-2" } else { "judge-1" }, "on_point": word(3)}]);
                    said["critical_positions"] = json!([{"finding_id": "F1", "position": "dispute", "reason": word(4)}]);
                }
                _ => said["concessions_made"] = json!([{"point": word(5), "convinced_by": word(0)}]),
            }
            Some(said)
        });
        let silent: Vec<String> = vec!["x".into()];
        proptest::prop_assert_eq!(decisions(&debate(&words)), decisions(&debate(&silent)));
    }
}
