//! What readers see: the headline, the sections and their order.

use agon_core::{Outline, ReportBlock, ReportSection, SectionFold, SectionKind, VerdictTone};

use super::*;

fn view(scores: [&[f64]; 3], with: &dyn Fn(&Ask, u32, &mut Value)) -> DebateView {
    let debate = run_brief(brief(MODELS, &[]), &|ask, _, round| {
        let mut said = plain(scores[place(ask)], round);
        with(ask, round, &mut said);
        Some(said)
    });
    Panel.view(&debate).unwrap()
}

fn titles(sections: &[ReportSection]) -> Vec<&str> {
    sections.iter().map(|section| section.title.as_str()).collect()
}

fn find<'a>(outline: &'a Outline, title: &str) -> &'a ReportSection {
    let mut sections = outline.answer.iter().chain(&outline.body).chain(&outline.details);
    sections
        .find(|section| section.title == title)
        .unwrap_or_else(|| panic!("no section {title}: {outline:?}"))
}

/// The texts of a list, each with its owner and its note.
fn items(section: &ReportSection) -> Vec<String> {
    let lists = section.blocks.iter().filter_map(|block| match block {
        ReportBlock::Items(items) => Some(items),
        _ => None,
    });
    let told = |item: &agon_core::ReportItem| {
        let (who, note) = (item.who.as_deref().unwrap_or("-"), item.note.as_deref().unwrap_or("-"));
        format!("{who} | {} | {note}", item.text)
    };
    lists.flatten().map(told).collect()
}

fn lines(section: &ReportSection) -> Vec<&str> {
    let blocks = section.blocks.iter();
    blocks
        .filter_map(|block| match block {
            ReportBlock::Line(line) | ReportBlock::Headline(_, line) => Some(line.as_str()),
            _ => None,
        })
        .collect()
}

/// "The report leads with one go/no-go line"; then why, who disagreed and why, what to decide and do; then how it came about.
#[test]
#[allow(clippy::too_many_lines, reason = "one debate, looked at as a whole")]
fn a_majority_reads_from_go_or_no_go_to_the_figures() {
    let view = view([&[3.5, 3.8, 4.0], &[4.5, 4.5, 4.3], &[2.0, 2.2]], &|ask, round, said| {
        if (round, place(ask)) == (1, 2) {
            said["critical_findings"] = json!([
                {"finding": "no rollback", "severity": "CRITICAL", "evidence": "docs/queue-plan.md:3", "fix": "Write one."},
                {"finding": "few tests", "severity": "HIGH", "evidence": "somewhere"}]);
            said["recommendations"] = json!([{"action": "Add a rollback", "priority": "MUST", "rationale": "It fails.", "finding_ids": ["F1", "F9"]}]);
        }
        if (round, place(ask)) == (2, 2) {
            said["unresolved_disputes"] = json!([{"topic": "who pays", "my_view": "nobody", "opposing_view": "everybody", "with_judge": "judge-1",
                "stakes": "it stops", "user_attention_needed": true}]);
        }
    });
    let outline = &view.outline;
    assert_eq!(
        titles(&outline.answer),
        ["Verdict", "Critical findings", "The majority's opinion", "The minority's opinion"]
    );
    assert_eq!(titles(&outline.body), ["What needs your attention", "Recommendations", "Scores"]);
    assert_eq!(titles(&outline.details), ["Disputes", "Other findings"]);
    assert_eq!(
        lines(&outline.answer[0]),
        [
            "NO GO (YELLOW), critical: [F1]",
            "Held as critical by judge-3: [F1] no rollback. Majority of 2 of 3 judges (judge-1, judge-2): 4.15 of 5; minority (judge-3): 2.2. \
             No consensus: scores 2.1 apart, 5 dimensions more than 1.0 apart, 1 critical finding open. Confidence MEDIUM. Weighted score \
             3.5, status YELLOW."
        ]
    );
    assert_eq!(
        items(find(outline, "Critical findings")),
        [
            "[F1] | no rollback | Disputed: critical (judge-3); no position (judge-1, judge-2). Raised by judge-3 (F1, CRITICAL). Evidence: \
             docs/queue-plan.md:3. Fix: Write one."
        ]
    );
    assert_eq!(
        items(find(outline, "Other findings")),
        ["[L1] | few tests | Raised by judge-3 (L1, HIGH). Evidence (unverified): somewhere."]
    );
    assert_eq!(
        items(find(outline, "Recommendations")),
        ["MUST | Add a rollback | judge-3 (MUST). For F1. It fails."]
    );
    for title in ["The majority's opinion", "The minority's opinion"] {
        assert_eq!(find(outline, title).fold, SectionFold::Never, "{title}");
    }
    assert_eq!(
        lines(find(outline, "The majority's opinion")),
        ["Written by the rapporteur; 3 of its 3 quotes verify."]
    );
    let attention = pairs(find(outline, "What needs your attention"));
    assert!(attention.contains(&"Other side, as judge-3 puts it | everybody".to_owned()), "{attention:?}");
    let open: Vec<String> = items(find(outline, "Disputes"));
    assert_eq!(open.len(), 6, "{open:?}");
    assert_eq!(
        open[0],
        "[D1] | The score of problem understanding | Open in the end; open after rounds 1 to 3."
    );
    assert_eq!(open[5], "[D6] | who pays | Open in the end; open after rounds 2 and 3.");
    let ReportBlock::Table(rows) = &find(outline, "Scores").blocks[0] else { panic!("a table") };
    assert_eq!(rows[0], ["Score", "J1", "J2", "J3", "Avg", "Gap"]);
    assert_eq!(rows[1], ["overall", "4.0", "4.3", "2.2", "3.50", "2.1"]);
    assert_eq!(rows[7], ["weighted", "4.0", "4.3", "2.2", "3.50", "2.1"]);
    let headline = &view.headline;
    assert_eq!((headline.verdict.as_deref(), headline.score), (Some("YELLOW"), Some(4.15)));
    assert_eq!(headline.tone, VerdictTone::Warn);
    assert_eq!(headline.ending, "A majority after 3 rounds, not a consensus.");
    assert_eq!((view.dissent.len(), view.dissent[0].text.as_str()), (1, "In the end 2.2."));
    let answers: Vec<&str> = view.ballots.iter().map(|ballot| ballot.answer.as_str()).collect();
    let votes: Vec<&str> = view.votes.iter().map(|vote| vote.vote.as_str()).collect();
    assert_eq!((answers, votes), (vec!["3.5", "4.5", "2.0"], vec!["4.0", "4.3", "2.2"]));
}

/// Every status has its line, and no line says more than the log.
#[test]
#[allow(clippy::too_many_lines, reason = "a table of cases")]
fn every_ending_has_its_go_line() {
    let none: &dyn Fn(&Ask, u32, &mut Value) = &|_, _, _| {};
    for (scores, line) in [
        ([4.5, 4.6, 4.4], "GO (GREEN)"),
        ([3.5, 3.6, 3.4], "GO WITH CHANGES (YELLOW)"),
        ([2.0, 2.1, 2.2], "NO GO (RED)"),
        ([3.0, 4.0, 5.0], "UNDECIDED (NO MAJORITY)"),
    ] {
        let view = view([&scores[..1], &scores[1..2], &scores[2..]], none);
        assert_eq!(lines(&view.outline.answer[0])[0], line);
    }
    let tie = view([&[3.0], &[4.0], &[5.0]], none);
    assert_eq!(
        lines(&tie.outline.answer[0])[1],
        "No majority: of the scores 3.0, 4.0, 5.0 no group is nearer together than another. Confidence LOW. Weighted score 4.0, \
         status NO MAJORITY."
    );
    let held = view([&[4.5], &[4.6], &[4.4]], &|_, _, said| {
        said["critical_findings"] =
            json!([{"finding": "no rollback.", "severity": "CRITICAL", "evidence": "nowhere"}]);
    });
    assert_eq!(
        lines(&held.outline.answer[0]),
        [
            "NO GO (YELLOW), critical: [F1]",
            "Held as critical by judge-1, judge-2, judge-3: [F1] no rollback. (evidence unverified). Consensus of 3 judges: 4.5 of 5, scores \
             from 4.4 to 4.6. Confidence HIGH. Weighted score 4.5, status YELLOW."
        ]
    );
    let two = view([&[2.0], &[2.1], &[2.2]], &|_, _, said| {
        said["critical_findings"] = json!([{"finding": "no rollback", "severity": "CRITICAL"},
            {"finding": "no owner", "severity": "CRITICAL"}]);
    });
    assert_eq!(lines(&two.outline.answer[0])[0], "NO GO (RED), critical: [F1], [F2]");
    let dimension = view([&[3.0], &[3.0], &[3.0]], &|ask, _, said| {
        said["dimension_scores"]["feasibility"] = json!(if place(ask) == 0 { 5.0 } else { 3.0 });
    });
    assert!(
        lines(&dimension.outline.answer[0])[1].contains("No consensus: 1 dimension more than 1.0 apart.")
    );
    for (scores, fail_on, decided) in [
        ([3.5, 3.6, 3.4], "red", "passes: the status is YELLOW."),
        ([3.5, 3.6, 3.4], "yellow", "does not pass: the status is YELLOW."),
        ([3.0, 4.0, 5.0], "red", "does not pass: the status is NO MAJORITY."),
    ] {
        let brief = brief(MODELS, &[("fail_on", fail_on), ("ask", "Is it safe?")]);
        let debate = run_brief(brief, &|ask, _, round| {
            let mut said = plain(&[scores[place(ask)]], round);
            // What a judge does not say again stays as it was.
            if place(ask) < 2 && (place(ask), round) != (1, 3) {
                said["answer_to_question"] = json!(format!("Yes, if [A{round}] holds."));
            }
            Some(said)
        });
        let outline = Panel.view(&debate).unwrap().outline;
        let told = lines(&outline.answer[0]);
        let rounds = debate.outcome.as_ref().unwrap().rounds_completed;
        let answer = |judge: u32, round: u32| format!("judge-{judge} | Yes, if [A{round}] holds. | -");
        assert_eq!(items(&outline.answer[0]), [answer(1, rounds), answer(2, rounds.min(2))]);
        assert_eq!(
            (told[1], told[3]),
            ("You asked: Is it safe?", format!("The gate (`--fail-on {fail_on}`) {decided}").as_str())
        );
        assert_eq!(debate.outcome.unwrap().verdict["question"], "Is it safe?");
    }
    let lost =
        run_brief(brief(MODELS, &[]), &|ask, _, round| (place(ask) == 0).then(|| plain(&[4.0], round)));
    let lost = Panel.view(&lost).unwrap();
    assert_eq!(
        lines(&lost.outline.answer[0]),
        ["No verdict", "There is no verdict, because fewer than two judges were left."]
    );
    assert_eq!((lost.headline.verdict, lost.outline.answer[0].kind), (None, SectionKind::NoAnswer));
}

/// One id means one thing, whoever puts it in which words; a merged recommendation keeps whose each word is.
#[test]
fn ids_and_words_keep_their_owners() {
    let debate = run_brief(brief(MODELS, &[]), &|ask, _, round| {
        let mut said = plain([&[3.0][..], &[3.2], &[2.0]][place(ask)], round);
        match (round, place(ask)) {
            (1, 2) => said["critical_findings"] = json!([{"finding": "no rollback", "severity": "CRITICAL"}]),
            (2, 0 | 1) => {
                said["critical_positions"] =
                    json!([{"finding_id": "F1", "position": "lower", "reason": "It is HIGH."}]);
                if place(ask) == 0 {
                    said["unresolved_disputes"] =
                        json!([{"topic": "who pays", "my_view": "You.", "with_judge": "judge-2"}]);
                }
            }
            (2, 2) => {
                said["unresolved_disputes"] =
                    json!([{"topic": "Does time count?", "my_view": "No.", "about": "F1"}]);
            }
            (3, 1 | 2) => {
                if place(ask) == 1 {
                    said["concessions_made"] = json!([{"point": "We pay", "about": "D7"}]);
                }
                said["recommendations"] = json!([{"action": "Write a rollback", "finding_ids": ["F1"],
                    "priority": if place(ask) == 1 { "SHOULD" } else { "MUST" }, "rationale": format!("Why {}.", place(ask))}]);
            }
            _ => {}
        }
        Some(said)
    });
    let outline = &Panel.view(&debate).unwrap().outline;
    let disputes = items(find(outline, "Disputes"));
    assert_eq!(
        disputes[5..],
        [
            "[D6] | Whether [F1] is critical | Open in the end; open after rounds 2 and 3.",
            "[D7] | who pays | Resolved in the end; open after round 2. judge-2 concedes in round 3: We pay."
        ]
    );
    assert_eq!(
        items(find(outline, "Recommendations")),
        [
            "MUST | Write a rollback | judge-2 (SHOULD), judge-3 (MUST). For F1. judge-2: Why 1. judge-3: Why 2."
        ]
    );
    let item = &debate.outcome.unwrap().verdict["user_attention_needed"][0];
    assert_eq!(item["minority_view"], "judge-3: critical. On \"Does time count?\": No.");
    assert_eq!(item["recommendation"], "judge-2: Write a rollback. judge-3: Write a rollback.");
}

/// A finding that is settled has every position on it. What was put together keeps the words of each.
#[test]
#[allow(clippy::too_many_lines, reason = "one debate, looked at as a whole")]
fn what_settled_a_finding_or_is_merged_away_is_still_told() {
    let answer = |ask: &Ask, _: &str, round: u32| {
        if ask.seat == RAPPORTEUR {
            let mut summary = summed_up(ask);
            summary["merged"] = json!([{"ids": ["R1", "R2"], "text": "Stop writing."}]);
            return Some(summary);
        }
        let mut said = plain(&[[2.0], [3.0], [2.2]][place(ask)], round);
        let tests = |severity: &str, text: &str| json!({"finding": text, "severity": severity, "evidence": "docs/queue-plan.md:3"});
        match (round, place(ask)) {
            (1, 0) => said["critical_findings"] = json!([tests("MEDIUM", "few tests")]),
            (1, 2) => {
                said["critical_findings"] =
                    json!([tests("CRITICAL", "it is illegal and breaks"), tests("HIGH", "no tests")])
            }
            (2, 0) => {
                said["critical_positions"] = json!([{"finding_id": "F1", "position": "adopt"}]);
                said["same_as"] = json!([["L1", "L2"]]);
            }
            (2, 1) => {
                said["critical_positions"] =
                    json!([{"finding_id": "F1", "position": "lower", "reason": "It is rare."}]);
                said["disagreements"] = json!([{"with_judge": "judge-3", "on_point": "It is illegal.",
                    "my_counterargument": "No line shows it.", "about": "F1"}]);
                said["unresolved_disputes"] = json!([{"topic": "is it rare", "my_view": "yes", "with_judge": "judge-3", "about": "F1"}]);
            }
            (2, 2) => {
                said["critical_positions"] = json!([{"finding_id": "F1", "position": "hold"}]);
                said["disagreements"] = json!([{"with_judge": "judge-2", "on_point": "It is rare.",
                    "my_counterargument": "It is not.", "about": "F1"}]);
                said["same_as"] = json!([["L1", "L2"]]);
            }
            (3, at) => {
                let position = if at == 1 { "adopt" } else { "hold" };
                said["critical_positions"] = json!([{"finding_id": "F1", "position": position}]);
                said["concessions_made"] = match at {
                    0 => json!([{"point": "nothing to do with it"}]),
                    1 => json!([{"point": "It breaks", "about": "D1"}]),
                    _ => json!([{"point": "it breaks later than I said", "impact": "I hold [F1]."}]),
                };
                if at < 2 {
                    let action = ["Stop writing.", "Stop, and compare what was copied"][at];
                    said["recommendations"] =
                        json!([{"action": action, "priority": "MUST", "rationale": "Why"}]);
                }
            }
            _ => {}
        }
        Some(said)
    };
    let (_, debate) = testing::run(&Panel, brief(MODELS, &[]), &answer);
    let outline = Panel.view(&debate).unwrap().outline;
    assert_eq!(
        items(find(&outline, "Critical findings")),
        [
            "[F1] | it is illegal and breaks | Adopted: critical (judge-1, judge-2, judge-3). Raised by judge-3 (F1, CRITICAL). \
             Evidence: docs/queue-plan.md:3. judge-1 in round 2: adopt. judge-2 in round 2: lower. It is rare. judge-3 in round 2: hold. \
             judge-1 in round 3: hold. judge-2 in round 3: adopt. judge-3 in round 3: hold."
        ]
    );
    assert_eq!(
        items(find(&outline, "Other findings")),
        [
            "[L1, L2] | few tests | Raised by judge-1 (L1, MEDIUM), judge-3 (L2, HIGH). Evidence: docs/queue-plan.md:3. [L2] no tests. \
             Evidence: docs/queue-plan.md:3."
        ]
    );
    assert_eq!(
        items(find(&outline, "Recommendations")),
        [
            "MUST | Stop writing. | judge-1 (MUST), judge-2 (MUST). Why. judge-2: Stop, and compare what was copied."
        ]
    );
    let disputes = items(find(&outline, "Disputes"));
    let settled = "[D1] | Whether [F1] is critical | Resolved in the end; open after round 2.";
    assert!(disputes.contains(&settled.to_owned()), "{disputes:?}");
}

/// The names and values of the groups of a section.
fn pairs(section: &ReportSection) -> Vec<String> {
    let groups = section.blocks.iter().flat_map(|block| match block {
        ReportBlock::Group { blocks, .. } => blocks.as_slice(),
        _ => &[],
    });
    let pairs = groups.flat_map(|block| match block {
        ReportBlock::Pairs(pairs) => pairs.as_slice(),
        _ => &[],
    });
    pairs.map(|(name, text)| format!("{name} | {text}")).collect()
}

/// A debate in which judge-3 raises a critical finding, judge-1 raises it as a lesser one, and judge-2 adopts it. Two of the lesser
/// findings are one. Judge-3 puts the dispute in other words in round 3, under another id that turns out to be the same. Every ask
/// goes to `look`.
pub(super) fn merged_debate(look: &dyn Fn(&Ask, u32)) -> Debate {
    let finding = |text: &str, severity: &str| json!({"finding": text, "severity": severity, "evidence": "docs/queue-plan.md:3"});
    let position = |word: &str, why: &str| json!([{"finding_id": "F1", "position": word, "reason": why}]);
    let open = |topic: &str, view: &str, about: &str| {
        json!([{"topic": topic, "issue": topic, "my_view": view, "my_final_view": view, "stakes": format!("{topic} at stake"),
            "with_judge": "judge-1", "about": about}])
    };
    let answer = |ask: &Ask, _: &str, round: u32| {
        look(ask, round);
        if ask.seat == RAPPORTEUR {
            return Some(summed_up(ask));
        }
        let mut said = plain(&[[2.7], [2.8], [2.3]][place(ask)], round);
        match (round, place(ask)) {
            (1, 0) => {
                said["critical_findings"] =
                    json!([finding("no way back", "HIGH"), finding("one expert", "MEDIUM")])
            }
            (1, 1) => said["critical_findings"] = json!([finding("nobody at night", "MEDIUM")]),
            (1, 2) => {
                said["critical_findings"] =
                    json!([finding("no rollback", "CRITICAL"), finding("no alerts", "LOW")])
            }
            (2, 0) => {
                said["critical_positions"] = position("lower", "There is time.");
                said["dimension_scores"]["feasibility"] = json!(2.6);
                said["change_reason"] = json!("[A3] lowers one dimension.");
                said["agreements"] = json!([{"with_judge": "judge-3", "on_point": "alerts", "about": "L4"}]);
                said["same_as"] = json!([["F1", "L1"], ["L2", "L3"]]);
            }
            (2, 1) => {
                said["critical_positions"] = position("adopt", "A1 and F1 convince me.");
                said["same_as"] = json!([["F1", "L1"], ["L2", "L3"]]);
            }
            (2, _) => {
                said["unresolved_disputes"] = open("an old topic", "an old view", "L1");
                said["agreements"] = json!([{"with_judge": "judge-2", "on_point": "night", "about": "L3"}]);
            }
            (3, 0 | 1) => {
                said["critical_positions"] = position(["lower", "hold"][place(ask)], "As before.");
                said["same_as"] = json!([["D1", "D2"]]);
            }
            _ => {
                said["critical_positions"] = position("hold", "Nobody met it.");
                said["unresolved_disagreements"] = open("a new topic", "a new view", "F1");
            }
        }
        Some(said)
    };
    testing::run(&Panel, brief(MODELS, &[]), &answer).1
}

/// Of a judge the latest round counts. What is one is told once, with everybody's words for it, who raised it as what, and who took it
/// up because of what. A finding has sides of its own.
#[test]
fn what_became_one_is_told_once_with_the_last_words_of_everybody() {
    let debate = merged_debate(&|_, _| {});
    let view = Panel.view(&debate).unwrap();
    let outline = &view.outline;
    assert_eq!(
        items(find(outline, "Critical findings")),
        [
            "[F1, L1] | no rollback | Disputed: critical (judge-2, judge-3); real, but not critical (judge-1). Raised by judge-1 (L1, HIGH), \
             judge-3 (F1, CRITICAL). Evidence: docs/queue-plan.md:3. [L1] no way back. Evidence: docs/queue-plan.md:3."
        ]
    );
    assert_eq!(
        items(find(outline, "Other findings")),
        [
            "[L2, L3] | one expert | Accepted by judge-3. Raised by judge-1 (L2, MEDIUM), judge-2 (L3, MEDIUM). Evidence: \
             docs/queue-plan.md:3. [L3] nobody at night. Evidence: docs/queue-plan.md:3.",
            "[L4] | no alerts | Accepted by judge-1. Raised by judge-3 (L4, LOW). Evidence: docs/queue-plan.md:3."
        ]
    );
    assert_eq!(
        items(find(outline, "Disputes")),
        ["[D1, D2] | Whether [F1] is critical | Open in the end; open after rounds 2 and 3."]
    );
    assert_eq!(
        pairs(find(outline, "What needs your attention")),
        [
            "judge-1 | real, but not critical. As before.",
            "judge-2 | critical. As before.",
            "judge-3 | critical. Nobody met it. On \"a new topic\": a new view",
            "At stake | judge-3: a new topic at stake."
        ]
    );
    assert_eq!(
        lines(&outline.answer[0])[1],
        "Held as critical by judge-2, judge-3: [F1] no rollback. Majority of 2 of 3 judges (judge-1, judge-2): 2.75 of 5; minority \
         (judge-3): 2.3. No consensus: 1 critical finding open. Confidence MEDIUM. Weighted score 2.6, status RED."
    );
}

/// Seven judges fit in 80 columns.
#[test]
fn tables_of_seven_judges_fit_in_80_columns() {
    let scores = [4.25, 4.35, 3.15, 2.25, 1.75, 4.45, 3.85];
    let models = ["m/m"; 7];
    let debate = run_brief(brief(&models, &[]), &|ask, _, round| Some(plain(&[scores[place(ask)]], round)));
    let view = Panel.view(&debate).unwrap();
    let sections = view.outline.answer.iter().chain(&view.outline.body).chain(&view.outline.details);
    let mut tables: Vec<Vec<Vec<String>>> =
        view.round_summaries.iter().map(|summary| summary.rows.clone()).collect();
    tables.extend(sections.flat_map(|section| &section.blocks).filter_map(|block| match block {
        ReportBlock::Table(rows) => Some(rows.clone()),
        _ => None,
    }));
    assert_eq!(tables.len(), 4);
    for rows in tables {
        let widths = (0..rows[0].len())
            .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap() + 2);
        assert!(widths.sum::<usize>() <= 78, "{rows:?}");
    }
}

/// A debate that is not over has the scores so far and no verdict.
#[test]
fn a_debate_that_is_not_over_has_an_outline() {
    let (records, _) = run_log(brief(MODELS, &[]), &|ask, _, round| {
        Some(plain([&[2.0][..], &[3.0], &[5.0]][place(ask)], round))
    });
    for length in 1..records.len() {
        let debate = Debate::from_records(&records[..length]).unwrap();
        let view = Panel.view(&debate).unwrap();
        assert_eq!(
            (view.headline.verdict, view.headline.why, view.headline.ending.as_str()),
            (None, None, "")
        );
        assert_eq!(lines(&view.outline.answer[0])[1], "There is no verdict yet.");
        let judges = debate.turns.first().map_or(0, |turn| turn.settled().count());
        assert_eq!(titles(&view.outline.body).contains(&"Scores"), judges > 0);
    }
}

/// In a real debate, what a judge says last counts, and what others say against a point is told with it.
#[test]
#[allow(clippy::too_many_lines, reason = "one debate, looked at as a whole")]
fn a_real_debate_shows_who_gave_up_and_who_rejects_what() {
    let debate = super::meaning::played(include_str!("blood_bank.json"), &|_, _, _| {});
    let view = Panel.view(&debate).unwrap();
    let outline = &view.outline;
    let told = |title: &str| items(find(outline, title)).join("\n") + "\n";
    let attention = pairs(find(outline, "What needs your attention")).join("\n") + "\n";
    for (what, text, wanted) in [
        (
            "the words of both",
            told("Critical findings"),
            "Evidence: plan.md:42. Fix: Run recorder and sensor",
        ),
        (
            "words of the files",
            told("Critical findings"),
            "Evidence: On the day of cutover the chart recorder is switched off.",
        ),
        (
            "the fix of both",
            told("Critical findings"),
            "Fix: Keep the recorders running until the validation report",
        ),
        (
            "who rejects it",
            told("Other findings"),
            "Rejected by judge-2. Raised by judge-3 (L8, HIGH). Evidence: plan.md:36. Fix: Place a second",
        ),
        (
            "who gave it up",
            told("Other findings"),
            "Rejected by judge-1. Given up by judge-3. Raised by judge-3 (L9, MEDIUM).",
        ),
        ("not verified", told("Other findings"), "Evidence (unverified): plan.md:112. Fix: Extend"),
        ("all ids of a dispute", told("Disputes"), "[D5, D6] | Whether [F1] is critical | "),
        (
            "a judge's reason is of its own finding",
            attention.clone(),
            "judge-3 | critical. Still no step back and no day on which both records run. On",
        ),
        (
            "the last view",
            attention.clone(),
            "judge-2 | real, but not critical. Real: nothing compares the two records. Not critical: the recorders stay usable until December, and the first depot has 8 units.\n",
        ),
        ("sentences", attention.clone(), "later than 30 September. judge-3: If judge-2 is right"),
        (
            "an open point",
            attention.clone(),
            "judge-2 | Yes; the mapping would show a unit that needs more.\njudge-3 | [L8] A sensor at the warmest point cannot see the coldest.",
        ),
    ] {
        assert!(text.contains(wanted), "{what}: no {wanted:?} in\n{text}");
    }
    let all = format!("{attention}{}", told("Disputes"));
    for superseded in [
        "Validation under QP-17 with a signed report is the test",
        "A depot could lose",
        "Is a cutover without",
    ] {
        assert!(!all.contains(superseded), "{superseded}: {all}");
    }
    let last = items(find(outline, "Other findings")).pop().unwrap();
    assert!(last.starts_with("[L9] | "), "what nobody holds comes last: {last}");
    let note = view.dissent[0].note.as_deref().unwrap();
    assert!(
        note.starts_with("The majority's score is 3.1; its score went from 4.1 to 3.7. In round 3: "),
        "{note}"
    );
}
