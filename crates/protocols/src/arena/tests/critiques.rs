//! How critiques live: shown to their target with what was answered, judged by their author, and unresolved until resolved.

use agon_core::ReportBlock;

use super::*;

/// Every ask of the changing phases, by phase, round and seat.
fn asks(table: ScriptedArena<'_>) -> (Vec<(String, u32, Ask)>, Debate) {
    let seen = std::cell::RefCell::new(Vec::new());
    let with = table.with;
    let look = |ask: &Ask, phase: &str, round: u32, said: &mut Value| {
        seen.borrow_mut().push((phase.to_owned(), round, ask.clone()));
        with(ask, phase, round, said);
    };
    let debate = ScriptedArena { with: &look, ..table }.run();
    (seen.into_inner(), debate)
}

fn of<'a>(all: &'a [(String, u32, Ask)], phase: &str, round: u32, seat: &str) -> &'a Ask {
    &all.iter().find(|(name, at, ask)| name == phase && *at == round && ask.seat == seat).unwrap().2
}

fn due(ask: &Ask) -> Vec<String> {
    allowed(ask, "/properties/verdicts/items/properties/critique_id")
}

/// A debate in which agent-1 calls all of its critiques this, from round 4 on.
fn judged(status: &'static str) -> (Vec<(String, u32, Ask)>, Debate) {
    asks(ScriptedArena {
        with: &move |ask: &Ask, phase: &str, _: u32, said: &mut Value| {
            if ["revise", "refine"].contains(&phase) && ask.seat == "agent-1" {
                let verdict = |id: &String| json!({"critique_id": id, "why": "the costs are in it now", "status": status});
                said["verdicts"] = due(ask).iter().map(verdict).collect();
            }
        },
        ..ScriptedArena::default()
    })
}

/// "critics re-read the revision in the next round's call"; "resolved ones are not shown again".
#[test]
fn critics_judge_revisions_and_resolved_critiques_are_not_shown_again() {
    let (all, debate) = judged("resolved");
    assert!(due(of(&all, "revise", 3, "agent-1")).is_empty(), "nothing is revised yet");
    let first = of(&all, "revise", 4, "agent-1");
    assert_eq!(due(first).len(), 2, "both of its critiques");
    for id in due(first) {
        let shown = first.prompt.tail.split_once(&format!("[{id}] on Agent ")).unwrap().1;
        assert!(
            shown.contains("leaves the costs open") && shown.contains("the costs are named"),
            "with the answer"
        );
    }
    assert!(
        first.prompt.shared.contains("That is the plan of 2. As of round 3."),
        "it re-reads the revision"
    );
    assert!(due(of(&all, "revise", 5, "agent-1")).is_empty(), "resolved is settled");
    // Its targets have answered it, and do not see it again from the round after the verdict on.
    for seat in ["agent-2", "agent-3"] {
        assert_eq!((own(of(&all, "revise", 4, seat)).len(), own(of(&all, "revise", 5, seat)).len()), (2, 1));
    }
    let outcome = debate.outcome.unwrap();
    let own = label(&debate.brief, 1);
    for critique in outcome.verdict["critiques"].as_array().unwrap() {
        let resolved = critique["from"] == json!(own);
        let status = if resolved { json!("resolved") } else { Value::Null };
        assert_eq!(critique["verdict"]["status"], status, "{critique}");
    }
}

/// "what the agent answered to them before, and for each critique whether its author called it resolved or unresolved".
#[test]
fn an_unresolved_critique_comes_back_with_the_answer_and_the_critics_reason() {
    let (all, _) = judged("unresolved");
    let third = &of(&all, "revise", 3, "agent-2").prompt.tail;
    assert!(!third.contains("You answered") && !third.contains("unresolved"), "nothing that is not there");
    let fourth = &of(&all, "revise", 4, "agent-2").prompt.tail;
    assert!(fourth.contains("You answered in round 3:") && !fourth.contains("called this unresolved"));
    assert!(!fourth.contains("You have not answered it"));
    let fifth = &of(&all, "revise", 5, "agent-2").prompt.tail;
    let judged = "read the version of round 3 and called this unresolved. What is left:";
    assert_eq!(fifth.matches(judged).count(), 1, "only agent-1 judged");
    let after = fifth.split_once(judged).unwrap().1;
    assert!(after.contains("the costs are in it now"));
    assert!(after.contains("You answered in round 4:"), "the critic had not read that answer");
    let critic = of(&all, "revise", 5, "agent-1");
    assert_eq!(due(critic).len(), 2, "what is not resolved is asked again");
    assert_eq!(critic.prompt.tail.matches(&format!("You {judged}")).count(), 2, "with its own verdict");
}

/// Whose critique was left without an answer, and who left it, are told so. Before the first revision nobody could answer.
#[test]
fn a_critique_without_an_answer_is_marked() {
    let (all, debate) = asks(ScriptedArena {
        with: &|ask, phase, _, said| {
            if ["revise", "refine"].contains(&phase) && ask.seat == "agent-2" {
                said["addressed"] = json!([]);
            }
        },
        ..ScriptedArena::default()
    });
    let silent = format!("{} has not answered it.", name(&debate.brief, 2));
    for (round, own, others) in [(3, 0, 0), (4, 2, 1), (5, 2, 1)] {
        let times =
            |seat: &str, words: &str| of(&all, "revise", round, seat).prompt.tail.matches(words).count();
        assert_eq!(times("agent-2", "You have not answered it."), own, "{round}");
        assert_eq!((times("agent-1", &silent), times("agent-1", "You have not answered it.")), (others, 0));
    }
}

/// "A critique that its author never judged counts as unresolved"; "voters and judge see each proposal's unresolved critiques, and the
/// report lists the winner's".
#[test]
fn voters_the_judge_and_the_report_see_what_is_unresolved() {
    for (status, of_winner) in [("resolved", 2), ("unresolved", 2)] {
        let (all, debate) = judged(status);
        let open = if status == "resolved" { 4 } else { 6 };
        for (phase, round) in [("vote", 7), ("judge", 8)] {
            let asked = all.iter().filter(|(name, at, _)| name == phase && *at == round);
            for (.., ask) in asked {
                assert_eq!(
                    ask.prompt.tail.matches("Open critique of Agent ").count(),
                    open,
                    "{phase} {status}"
                );
                let left = "read the version of round 5 and called this unresolved. What is left:";
                let last = ask.prompt.tail.matches(left).count();
                let settled = ask.prompt.tail.matches("that the critics have called resolved: 1.").count();
                assert_eq!((last, settled), if status == "resolved" { (0, 2) } else { (2, 0) });
            }
        }
        let verdict = &debate.outcome.as_ref().unwrap().verdict;
        // agent-1 wins; the others criticized it and never judged the answers.
        assert_eq!(verdict["unresolved"].as_array().unwrap().len(), of_winner);
        let body = Arena.view(&debate).unwrap().outline.body;
        assert_eq!((body.len(), body[1].title.as_str()), (2, "What is still open"));
        let ReportBlock::Items(items) = &body[1].blocks[1] else { panic!("the critiques") };
        for note in items.iter().map(|item| item.note.as_deref().unwrap()) {
            assert!(note.ends_with(" answers in round 6: the costs are named"), "no verdict: {note}");
        }
    }
}

/// A verdict is about the version before the answer of its round, and the report has them in this order.
#[test]
fn the_report_says_which_version_a_verdict_is_about() {
    let (_, debate) = judged("unresolved");
    let details = Arena.view(&debate).unwrap().outline.details;
    let section =
        details.iter().find(|section| section.title == "Critiques and what became of them").unwrap();
    let own = label(&debate.brief, 1);
    let mut seen = 0;
    for block in &section.blocks {
        let ReportBlock::Group { title, blocks, .. } = block else { panic!("{block:?}") };
        let ReportBlock::Pairs(pairs) = &blocks[0] else { panic!("{blocks:?}") };
        if title.contains(&format!("] Agent {own} on ")) {
            let steps: Vec<&str> = pairs.iter().skip(2).map(|(what, _)| what.as_str()).collect();
            let steps: Vec<&str> = steps.iter().filter_map(|step| step.get(8..)).collect();
            let all = [3, 4, 5].map(|round| {
                [
                    format!("answers in round {round}"),
                    format!("calls it unresolved in the version of round {round}"),
                ]
            });
            assert_eq!(steps[..6], all.concat(), "every answer with the verdict on it");
            assert_eq!(steps[6..], ["answers in round 6"]);
            seen += 1;
        }
    }
    assert_eq!(seen, 2);
}

/// A round with a challenge has two stages: a verdict given in the challenge is about the revision. What changed in both changed in one
/// round.
#[test]
fn a_revision_and_a_challenge_of_one_round_stand_in_their_order() {
    let (all, debate) = asks(ScriptedArena {
        set: &[BARE, &[("trickster", "true")]].concat(),
        alike: &|_| 0.95,
        with: &|ask, phase, _, said| {
            match phase {
                "propose" | "revise" => said["claims"] = json!([]),
                "challenge" => said["claims"][0]["claim"] = json!(format!("{} counted", ask.seat)),
                _ => {}
            }
            if ["revise", "challenge"].contains(&phase) && ask.seat == "agent-2" {
                said["position"] = json!(format!("Watch cron: {phase}."));
            }
            let verdict = |id: &String| json!({"critique_id": id, "why": "no costs", "status": "unresolved"});
            if phase == "challenge" {
                said["verdicts"] = due(ask).iter().map(verdict).collect();
            }
        },
        ..ScriptedArena::default()
    });
    assert!(all.iter().any(|(phase, round, _)| (phase.as_str(), *round) == ("challenge", 3)));
    let view = Arena.view(&debate).unwrap();
    let body = format!("{:?}", view.outline.body);
    assert!(
        body.contains(" answers in round 3: the costs are named"),
        "the answer in the challenge is last: {body}"
    );
    let details = format!("{:?}", view.outline.details);
    let steps = ["answers in round 3", "calls it unresolved in the version of round 3", "answers in round 3"];
    let group = details.split("] Agent ").nth(1).unwrap();
    let mut rest = group;
    for step in steps {
        rest = rest.split_once(step).unwrap_or_else(|| panic!("no {step:?} in {group}")).1;
    }
    let reason = &debate.outcome.as_ref().unwrap().positions;
    let reason = reason.iter().find(|position| position.seat == "agent-2").unwrap().reason.clone();
    assert!(reason.contains("revised by its author in round 3;"), "{reason}");
}

/// What is still open has the critique as it was made, the last answer to it and the last verdict on it, each with its round.
#[test]
fn an_open_critique_has_the_last_answer_and_the_last_verdict() {
    let (_, debate) = asks(ScriptedArena {
        with: &|ask, phase, round, said| {
            if ["revise", "refine"].contains(&phase) && ask.seat == "agent-2" {
                let verdict =
                    |id: &String| json!({"critique_id": id, "why": "no costs", "status": "unresolved"});
                said["verdicts"] = due(ask).iter().map(verdict).collect();
            }
            if phase == "revise" && round == 5 && ask.seat == "agent-3" {
                let issue = json!({"label": name(&ScriptedArena::default().brief(), 1), "issue": "Who pays?", "severity": 0.6});
                said["critiques"] = json!([issue]);
            }
            if phase == "refine" && ask.seat == "agent-1" {
                said["addressed"] = json!([]);
            }
        },
        ..ScriptedArena::default()
    });
    let [first, second, third] = [1, 2, 3].map(|number| name(&debate.brief, number));
    let body = Arena.view(&debate).unwrap().outline.body;
    let ReportBlock::Items(items) = &body[1].blocks[1] else { panic!("the critiques") };
    let of = |author: &str| -> Vec<(&str, &str)> {
        let own = items.iter().filter(|item| item.who.as_ref().unwrap().contains(author));
        own.map(|item| (item.text.as_str(), item.note.as_deref().unwrap())).collect()
    };
    let made = format!("{} leaves the costs open. Say what it costs", label(&debate.brief, 1));
    let answer = format!("{first} answers in round 5: the costs are named");
    let verdict = format!("{second} calls it unresolved in the version of round 5: no costs");
    assert_eq!(of(&second), [(made.as_str(), format!("{answer}\n{verdict}").as_str())]);
    assert_eq!(of(&third), [(made.as_str(), answer.as_str()), ("Who pays?", "No answer")]);
}

/// "the same call may add new critiques of the revised proposals": with ids after the others, shown from the next round on.
#[test]
fn a_revision_may_criticize_the_others() {
    let (all, debate) = asks(ScriptedArena {
        with: &|ask, phase, round, said| {
            if phase == "revise" && round == 4 && ask.seat != "agent-1" {
                let target = &others(ask)[0];
                said["critiques"] = json!([
                    {"label": target, "issue": format!("{} asks who pays", ask.seat), "severity": 0.6},
                    {"label": target, "issue": "  ", "severity": 0.6},
                ]);
            }
        },
        ..ScriptedArena::default()
    });
    let check = &quality_checks(&debate)[2];
    assert_eq!(check.note, "6 of 6 answers", "only those of round 2");
    let verdict = debate.outcome.unwrap().verdict;
    let made = verdict["critiques"].as_array().unwrap();
    assert_eq!(made.len(), 8, "blank ones are dropped");
    assert_eq!((&made[6]["id"], &made[7]["id"]), (&json!("Q7"), &json!("Q8")), "in seat order");
    for critique in &made[6..] {
        assert_eq!((&critique["round"], &critique["severity"]), (&json!(4), &json!(0.6)));
        let target = number(&debate.brief.seats[0].id).to_string();
        assert!(!target.is_empty());
        let to = (1..=3).find(|n| label(&debate.brief, *n) == critique["to"].as_str().unwrap()).unwrap();
        let id = critique["id"].as_str().unwrap().to_owned();
        let seat = format!("agent-{to}");
        assert!(
            !own(of(&all, "revise", 4, &seat)).contains(&id)
                && own(of(&all, "revise", 5, &seat)).contains(&id)
        );
        let from = (1..=3).find(|n| label(&debate.brief, *n) == critique["from"].as_str().unwrap()).unwrap();
        let critic = format!("agent-{from}");
        for (phase, round) in [("revise", 5), ("refine", 6)] {
            assert!(due(of(&all, phase, round, &critic)).contains(&id), "its author has it in its list");
        }
    }
}

/// A critique without any issue is kept, and nobody is asked about it. What it suggests is shown once.
#[test]
fn a_critique_that_finds_nothing_is_not_shown() {
    for (suggestions, shown) in [(json!([]), [1, 1]), (json!(["Try it first"]), [2, 1])] {
        let (all, debate) = asks(ScriptedArena {
            with: &|ask, phase, _, said| {
                if phase == "critique" && ask.seat == "agent-1" {
                    *said = json!({"severity": 0.0, "suggestions": suggestions});
                }
            },
            ..ScriptedArena::default()
        });
        assert_eq!([3, 4].map(|round| own(of(&all, "revise", round, "agent-2")).len()), shown);
        assert!(due(of(&all, "revise", 4, "agent-1")).is_empty());
        let tail = &of(&all, "vote", 7, "agent-3").prompt.tail;
        assert_eq!(tail.matches("Open critique of Agent ").count(), 4, "those of agent-1 are none");
        assert_eq!(debate.outcome.unwrap().verdict["critiques"].as_array().unwrap().len(), 6);
    }
}
