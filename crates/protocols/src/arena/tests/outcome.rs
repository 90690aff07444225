//! The outcome: the fates of the first positions, the lesson, and what holds for every outcome.

use std::collections::BTreeSet;

use agon_core::SeededDraw;
use agon_core::lesson::EvidencedClaim;
use agon_core::play::invent;

use super::*;

/// A debate in which agent-2 takes this position from a round on.
fn moved(position: &'static str, from: u32, votes: [usize; 3]) -> Outcome {
    ScriptedArena {
        votes: &move |_| votes.to_vec(),
        with: &move |ask: &Ask, phase: &str, round: u32, said: &mut Value| {
            if ["revise", "refine"].contains(&phase) && ask.seat == "agent-2" && round >= from {
                said["position"] = json!(position);
            }
        },
        ..ScriptedArena::default()
    }
    .outcome()
}

fn fate(outcome: &Outcome, seat: &str) -> (Fate, String) {
    let position = outcome.positions.iter().find(|position| position.seat == seat).unwrap();
    (position.fate, position.reason.clone())
}

#[test]
fn the_decision_is_adopted_and_dissent_has_its_own_reason() {
    let outcome = ScriptedArena { votes: &|_| vec![1, 1, 3], ..ScriptedArena::default() }.outcome();
    assert_eq!(fate(&outcome, "agent-1").0, Fate::Adopted);
    let (third, reason) = fate(&outcome, "agent-3");
    assert_eq!(third, Fate::Minority);
    assert!(
        reason
            .starts_with("held to the end; its author's last proposal is not the decision; 1 of 3 votes for it; its author voted for it: "),
        "{reason}"
    );
    assert!(reason.ends_with(": agent-3 finds it the best"), "{reason}");
    assert_eq!(outcome.dissent.len(), 1);
    let entry = &outcome.dissent[0];
    assert_eq!((&entry["position"], &entry["opening"]), (&json!(POSITIONS[2]), &json!(POSITIONS[2])));
    assert_eq!((&entry["votes"], &entry["seat"]), (&json!(1), &json!("agent-3")));
    assert_eq!(outcome.verdict["winner_seat"], "agent-1");
}

/// What an outvoted agent says in the end is as visible as the winner.
#[test]
fn an_outvoted_agent_dissents_with_its_last_position() {
    let outcome = moved("Rent machines by the hour instead.", 5, [1, 2, 1]);
    let (fate, reason) = fate(&outcome, "agent-2");
    assert_eq!(fate, Fate::Minority);
    assert!(reason.starts_with("revised by its author in round 5"), "{reason}");
    let entry = outcome.dissent.iter().find(|entry| entry["seat"] == "agent-2").unwrap();
    assert_eq!(
        (&entry["position"], &entry["opening"]),
        (&json!("Rent machines by the hour instead."), &json!(POSITIONS[1]))
    );
}

/// Who names a cause for its first change has given its first position up, and dissents with its last one.
#[test]
fn an_outvoted_agent_that_was_convinced_gave_its_first_position_up() {
    let debate = ScriptedArena {
        votes: &|_| vec![1, 2, 1],
        with: &|ask, phase, round, said| {
            if ["revise", "refine"].contains(&phase) && ask.seat == "agent-2" {
                said["position"] = json!("Rent machines by the hour instead.");
                if round == 3 {
                    said["changed_because"] = json!([{"id": own(ask)[0], "quote": "the costs"}]);
                }
            }
        },
        ..ScriptedArena::default()
    }
    .run();
    let outcome = debate.outcome.as_ref().unwrap();
    let (fate, reason) = fate(outcome, "agent-2");
    assert_eq!(fate, Fate::Refuted);
    let revised = "revised by its author in round 3, citing [Q";
    assert!(reason.starts_with(revised), "{reason}");
    let entry = outcome.dissent.iter().find(|entry| entry["seat"] == "agent-2").unwrap();
    assert_eq!(entry["position"], "Rent machines by the hour instead.");
    assert!(
        reason.contains(
            "; its author's last proposal is not the decision; 1 of 3 votes for it; its author voted for it"
        ),
        "{reason}"
    );
    assert_eq!(entry["reason"], json!(reason));
    let view = Arena.view(&debate).unwrap();
    let check =
        view.checks.iter().find(|check| check.sentence.starts_with("Every position of round 1")).unwrap();
    assert_eq!((check.met, check.note.contains("2 given up")), (Some(true), true), "{}", check.note);
}

/// What the winner proposed first is adopted as it has revised it: it was not given up, whatever was answered then, and is never dissent.
#[test]
fn a_revised_winner_did_not_give_its_first_position_up() {
    for position in ["Watch cron closely and keep it.", "Do not keep cron.", "保留 cron。"] {
        let outcome = moved(position, 3, [2, 2, 2]);
        let (fate, reason) = fate(&outcome, "agent-2");
        assert_eq!(fate, Fate::Adopted);
        assert!(
            reason.starts_with(
                "revised by its author in round 3; its author's last proposal is the decision, by the vote; "
            ),
            "{reason}"
        );
        assert!(outcome.dissent.iter().all(|held| held["seat"] != "agent-2"));
    }
    assert_eq!(fate(&moved("  KEEP cron and watch it closely. ", 3, [2, 2, 2]), "agent-2").0, Fate::Adopted);
}

/// "A seat that voted for the winner or whose final position was adopted is never listed as dissent."
#[test]
fn nobody_who_voted_for_the_winner_dissents() {
    for votes in [[1, 1, 1], [1, 1, 2], [1, 1, 3], [2, 2, 3], [1, 1, 0], [3, 3, 3]] {
        let outcome = ScriptedArena { votes: &|_| votes.to_vec(), ..ScriptedArena::default() }.outcome();
        let winner = votes[0];
        for (seat, vote) in (1..=3).zip(votes) {
            let seat = format!("agent-{seat}");
            let dissents = outcome.dissent.iter().any(|held| held["seat"] == json!(seat));
            assert_eq!(dissents, vote != winner && seat != format!("agent-{winner}"), "{votes:?} {seat}");
            if vote == winner && seat != format!("agent-{winner}") {
                assert_eq!(fate(&outcome, &seat).0, Fate::Refuted);
                assert!(
                    fate(&outcome, &seat).1.contains("its author voted for Agent "),
                    "{}",
                    fate(&outcome, &seat).1
                );
            }
        }
    }
}

/// Without a decision nothing is adopted, and no position is lost.
#[test]
fn without_a_decision_every_position_is_dissent() {
    let outcome = moved("Rent machines by the hour.", 3, SPLIT);
    assert_eq!((&outcome.verdict["winner"], outcome.dissent.len()), (&Value::Null, 3));
    assert!(
        outcome
            .positions
            .iter()
            .all(|held| held.fate == Fate::Minority && held.reason.contains("there is no decision"))
    );
    let entry = outcome.dissent.iter().find(|entry| entry["seat"] == "agent-2").unwrap();
    assert_eq!(
        (&entry["position"], &entry["opening"]),
        (&json!("Rent machines by the hour."), &json!(POSITIONS[1]))
    );
}

#[test]
fn the_lesson_has_the_decision_and_everybodys_part() {
    let outcome = ScriptedArena { votes: &|_| vec![1, 1, 3], ..ScriptedArena::default() }.outcome();
    let (lesson, brief) = (outcome.lesson.unwrap(), ScriptedArena::default().brief());
    let decision = lesson.decision.unwrap();
    assert_eq!(decision.position, POSITIONS[0]);
    assert_eq!(decision.answer, outcome.verdict["answer"].as_str().unwrap());
    let claim = EvidencedClaim {
        claim: "It halves the delays".into(),
        evidence: "figures of 2025: 40 s to 20 s".into(),
    };
    assert_eq!(decision.claims, [claim]);
    assert!((decision.share - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!(decision.labels, [label(&brief, 1)]);
    let mut dissent = decision.dissent.clone();
    dissent.sort();
    assert_eq!(dissent, [POSITIONS[2]]);
    let seats: Vec<&str> = lesson.parts.iter().map(|part| part.seat.as_str()).collect();
    assert_eq!(seats, ["agent-1", "agent-2", "agent-3"], "in seat order");
    let first = &lesson.parts[0];
    assert_eq!((first.label.clone(), first.agent.as_deref()), (label(&brief, 1), Some("a/x")));
    assert_eq!((first.won, first.score, first.confidence), (true, Some(8.0), Some(0.6)));
    let rated = first.rated.as_ref().unwrap();
    assert_eq!((rated.before, rated.change), (1500.0, 16.0));
    let mut against = rated.against.clone();
    against.sort_by(|(a, _), (b, _)| a.cmp(b));
    assert_eq!(against, [("agent-2".to_owned(), 1.0), ("agent-3".to_owned(), 1.0)]);
    let ballot = lesson.parts[2].ballot.as_ref().unwrap();
    assert_eq!((ballot.choice.clone(), ballot.confidence), (vec![label(&brief, 3)], 0.7));
    assert!(!lesson.parts[2].won);
}

/// "`Decision.labels` = the winning group; `Part.ballot.choice` = the chosen label's group".
#[test]
fn agents_that_say_the_same_win_together() {
    let outcome =
        ScriptedArena { alike: &|_| 0.9, votes: &|_| vec![2, 0, 2], ..ScriptedArena::default() }.outcome();
    let lesson = outcome.lesson.unwrap();
    assert_eq!(lesson.decision.as_ref().unwrap().labels, ["A", "B", "C"]);
    assert!(lesson.parts.iter().all(|part| part.won));
    assert_eq!(lesson.parts[0].ballot.as_ref().unwrap().choice, ["A", "B", "C"]);
    assert!(lesson.parts[1].ballot.is_none(), "an abstention is no forecast");
}

/// "None at all for `quorum_lost`"; without a decision the forecasts are still there.
#[test]
fn a_lesson_needs_a_vote_but_no_decision() {
    let split =
        ScriptedArena { votes: &|_| SPLIT.to_vec(), ..ScriptedArena::default() }.outcome().lesson.unwrap();
    assert!(split.decision.is_none() && split.parts.iter().all(|part| part.ballot.is_some() && !part.won));
    assert!(
        ScriptedArena { votes: &|_| vec![0, 0, 0], ..ScriptedArena::default() }.outcome().lesson.is_none()
    );
    let absent = |ask: &Ask, phase: &str, _: u32| phase == "propose" && ask.seat != "agent-1";
    assert!(ScriptedArena { absent: &absent, ..ScriptedArena::default() }.outcome().lesson.is_none());
    let failed = ScriptedArena {
        votes: &|_| SPLIT.to_vec(),
        absent: &|_, phase, _| phase == "judge",
        ..ScriptedArena::default()
    };
    let lesson = failed.outcome().lesson.unwrap();
    assert!(
        lesson.parts.iter().all(|part| part.rated.is_none() && part.score.is_none() && part.ballot.is_some())
    );
}

/// A seat without a proposal is in the lesson without a position.
#[test]
fn a_seat_without_a_proposal_has_no_position() {
    let absent = |ask: &Ask, phase: &str, _: u32| phase == "propose" && ask.seat == "agent-3";
    let lesson = ScriptedArena { absent: &absent, ..ScriptedArena::default() }.outcome().lesson.unwrap();
    let third = &lesson.parts[2];
    assert_eq!(
        (third.position.clone(), third.confidence, third.score, third.rated.clone()),
        (None, None, None, None)
    );
    assert_eq!((third.agent.as_deref(), third.ballot.is_some()), (Some("c/z"), true));
}

/// One debate and twelve branches of it are one game, not thirteen.
#[test]
fn a_branch_leaves_no_lesson_and_no_rating() {
    let brief = ScriptedArena::default().brief();
    let parent = agon_core::BranchParent { id: "01parent".into(), at_round: 0, events: 0 };
    let whole = ScriptedArena::default().run_brief(brief.clone());
    let branch = ScriptedArena::default().run_brief(Brief { parent: Some(parent), ..brief });
    assert!(quality_checks(&branch).iter().all(|check| check.met != Some(false)));
    let (whole, mut branch) = (whole.outcome.unwrap(), branch.outcome.unwrap());
    assert!(whole.lesson.is_some() && whole.verdict["ratings"].as_array().unwrap().len() == 3);
    assert_eq!((&branch.lesson, &branch.verdict["ratings"]), (&None, &json!([])));
    assert!(warned(&branch, "a branch of 01parent"), "{:?}", branch.warnings);
    assert!(!warned(&whole, "a branch of"));
    // Everything else is the same.
    branch.verdict["ratings"] = whole.verdict["ratings"].clone();
    branch.warnings.retain(|warning| !warning.contains("a branch of"));
    assert_eq!(branch, Outcome { lesson: None, ..whole });
}

/// A debate of made-up answers in which one ask in `absent` is without a reply.
fn made_up(set: &[(&str, &str)], seed: u64, absent: usize) -> Debate {
    let mut draw = SeededDraw::new(seed, "absences");
    let mut answer = |debate: &Debate, ask: &Ask| match absent > 0 && draw.below(absent) == 0 {
        true => Reply::Absent { why: AbsenceReason::TimedOut, detail: "test".into() },
        false => invent(&Arena, debate, ask, seed),
    };
    let brief = Brief { seed, ..ScriptedArena { set, ..ScriptedArena::default() }.brief() };
    let records = play(&Arena, vec![Debate::open(brief).unwrap().1], &mut answer, &mut |_| {}).unwrap();
    Debate::from_records(&records).unwrap()
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect()
}

/// "no invented figure": every figure of an outcome rests on something that was said.
fn balanced(debate: &Debate) {
    let outcome = debate.outcome.as_ref().unwrap();
    let verdict = &outcome.verdict;
    let judged = verdict["judge"].is_object();
    let rated = verdict["ratings"].as_array().unwrap();
    assert!(judged || rated.is_empty(), "no judge, no ratings");
    let sum: f64 = rated.iter().map(|one| one["change"].as_f64().unwrap()).sum();
    assert!(sum.abs() < 1e-9);
    let decided = verdict["winner"].is_string();
    for field in ["winner_seat", "answer", "position", "decided_by"] {
        assert_eq!(verdict[field].is_string(), decided, "{field}");
    }
    match outcome.termination {
        Termination::Converged | Termination::Consensus => assert_eq!(verdict["consensus"]["reached"], true),
        Termination::NoMajority | Termination::Failed => assert_eq!(verdict["consensus"]["reached"], false),
        Termination::QuorumLost => assert!(!decided && !judged && outcome.lesson.is_none()),
        _ => {}
    }
    let complete = matches!(outcome.status, Status::Complete);
    assert_eq!(
        complete, judged,
        "complete is what was judged, where no limit cuts: {:?}",
        outcome.termination
    );
    let votes = verdict["votes"].as_array().unwrap();
    let cast = votes.iter().filter(|vote| vote["choice"] != "abstain").count();
    assert_eq!(verdict["consensus"]["cast"], cast);
    let agents = verdict["consensus"]["agents"].as_u64().unwrap() as usize;
    assert_eq!(verdict["consensus"]["share"].is_null(), 2 * cast < agents, "no share without a quorum");
    let counted: u64 =
        verdict["tally"].as_array().unwrap().iter().map(|group| group["votes"].as_u64().unwrap()).sum();
    assert_eq!(counted as usize, cast);
    let grouped: Vec<&str> =
        verdict["tally"].as_array().unwrap().iter().flat_map(|group| strings(&group["labels"])).collect();
    let distinct: BTreeSet<&str> = grouped.iter().copied().collect();
    assert_eq!(distinct.len(), grouped.len(), "each proposal is in one group");
    for (critique, n) in verdict["critiques"].as_array().unwrap().iter().zip(1..) {
        assert_eq!(critique["id"], format!("Q{n}"));
        assert_ne!(critique["from"], critique["to"]);
    }
    for check in verdict["convergence"].as_array().unwrap() {
        let quiet = check["conflicts"] == json!([])
            && check["pairs"]
                .as_array()
                .unwrap()
                .iter()
                .all(|pair| ["same", "compatible"].iter().any(|one| pair["relation"] == *one));
        let alike = check["agreement_min"].as_f64().is_some_and(|least| least >= 0.85 - 1e-9);
        assert_eq!(check["converged"] == true, quiet && alike);
    }
    assert_eq!(verdict["rounds"].as_array().unwrap().len(), debate.turns.len());
}

#[test]
fn every_outcome_is_consistent_whoever_is_absent() {
    let mut ends = BTreeSet::new();
    for set in [
        &[][..],
        BARE,
        &[("trickster", "true"), ("judge_orders", "2")],
        &[("decide", "judge"), ("consensus", "unanimous")],
    ] {
        for seed in 0..16 {
            for absent in [0, 4, 12] {
                let debate = made_up(set, seed, absent);
                balanced(&debate);
                ends.insert(format!("{:?}", debate.outcome.unwrap().termination));
            }
        }
    }
    for end in ["Consensus", "NoMajority", "QuorumLost", "Failed"] {
        assert!(ends.contains(end), "{ends:?}");
    }
}
