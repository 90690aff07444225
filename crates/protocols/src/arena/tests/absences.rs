//! "A missing voice is data": who has no proposal, whose last one is carried, and what is left when too few are.

use super::*;

fn without(absent: &dyn Fn(&Ask, &str, u32) -> bool) -> Debate {
    ScriptedArena { absent, ..ScriptedArena::default() }.run()
}

/// "an absent author's proposal is not critiqued; an agent without proposal still critiques and votes".
#[test]
fn without_a_proposal_an_agent_still_critiques_and_votes() {
    let debate = without(&|ask, phase, _| phase == "propose" && ask.seat == "agent-3");
    let asked = |phase: &str, round: u32| debate.turn(phase, round).unwrap().asks.len();
    assert_eq!(asked("critique", 2), 4, "two proposals, of each two critiques");
    assert_eq!((asked("revise", 3), asked("refine", 6), asked("vote", 7)), (2, 2, 3));
    let third = label(&debate.brief, 3);
    let critiques = debate.turn("critique", 2).unwrap();
    assert!(critiques.asks.iter().all(|asked| asked.about.as_deref() != Some(third.as_str())));
    assert_eq!(critiques.asks.iter().filter(|asked| asked.seat == "agent-3").count(), 2);
    let outcome = debate.outcome.as_ref().unwrap();
    assert_eq!((outcome.status, outcome.fidelity), (Status::Complete, Fidelity::Degraded));
    let verdict = &outcome.verdict;
    assert_eq!(verdict["votes"].as_array().unwrap().len(), 3);
    assert_eq!(
        (
            verdict["proposals"].as_array().unwrap().len(),
            verdict["judge"]["scores"].as_array().unwrap().len()
        ),
        (2, 2)
    );
    assert_eq!(verdict["ratings"].as_array().unwrap().len(), 2);
    assert!(warned(outcome, &format!("without a proposal: Agent {third}")));
    assert_eq!(outcome.positions.len(), 2);
}

/// "Fewer than 2 proposals: `quorum_lost`, incomplete".
#[test]
fn fewer_than_two_proposals_lose_the_quorum() {
    for absent in [&["agent-1", "agent-2"][..], &["agent-1", "agent-2", "agent-3"]] {
        let debate = without(&|ask, phase, _| phase == "propose" && absent.contains(&ask.seat.as_str()));
        assert_eq!(phases(&debate), [("propose".to_owned(), 1)]);
        let outcome = debate.outcome.unwrap();
        assert_eq!((outcome.termination, outcome.status), (Termination::QuorumLost, Status::Incomplete));
        assert_eq!(
            (&outcome.verdict["consensus"]["share"], &outcome.verdict["winner"]),
            (&Value::Null, &Value::Null)
        );
        assert_eq!(outcome.verdict["ratings"], json!([]));
        assert_eq!(outcome.positions.len(), 3 - absent.len());
        assert_eq!(outcome.dissent.len(), outcome.positions.len());
        assert!(outcome.lesson.is_none());
    }
}

/// "Absent in a revision: the last proposal carries (`carried`)", and its author is asked again.
#[test]
fn an_absent_agents_last_proposal_is_carried_and_it_is_asked_again() {
    let debate = without(&|ask, phase, round| phase == "revise" && round == 4 && ask.seat == "agent-2");
    assert_eq!(debate.turn("revise", 5).unwrap().asks.len(), 3);
    let outcome = debate.outcome.as_ref().unwrap();
    let second = label(&debate.brief, 2);
    assert!(warned(
        outcome,
        &format!("round 4, revise: absent, the last proposal counts: Agent {second}")
    ));
    let rounds = outcome.verdict["rounds"].as_array().unwrap();
    let of = |round: u32| {
        let held = rounds.iter().find(|r| r["phase"] == "revise" && r["round"] == round).unwrap();
        held["positions"].as_array().unwrap().iter().find(|p| p["label"] == json!(second)).unwrap()["carried"]
            .clone()
    };
    assert_eq!((of(3), of(4), of(5)), (json!(false), json!(true), json!(false)));
    // Silence is no stability: the figure is that of the two who spoke.
    let check = &outcome.verdict["convergence"][1];
    assert_eq!(check["stability_min"], 0.2);

    let last = without(&|ask, phase, _| phase == "refine" && ask.seat == "agent-2").outcome.unwrap();
    let proposals = last.verdict["proposals"].as_array().unwrap();
    let carried: Vec<&Value> = proposals.iter().filter(|proposal| proposal["carried"] == true).collect();
    assert_eq!((carried.len(), &carried[0]["seat"], &carried[0]["round"]), (1, &json!("agent-2"), &json!(5)));
}

/// Everybody is absent from a round: it is not held, and the debate goes on with what there is.
#[test]
fn a_round_in_which_nobody_speaks_does_not_count() {
    let debate = without(&|_, phase, round| phase == "revise" && round == 4);
    let outcome = debate.outcome.unwrap();
    assert_eq!((outcome.rounds_completed, outcome.termination), (7, Termination::Consensus));
    assert_eq!(outcome.verdict["convergence"][1]["stability_min"], Value::Null);
}

/// Absent critics and voters are named, and what was not said is not made up.
#[test]
fn absent_critics_and_voters_are_data() {
    let debate = without(&|ask, phase, _| ["critique", "vote"].contains(&phase) && ask.seat == "agent-1");
    let outcome = debate.outcome.as_ref().unwrap();
    assert_eq!(outcome.verdict["critiques"].as_array().unwrap().len(), 4);
    assert_eq!(outcome.verdict["critiques"][3]["id"], "Q4", "numbered without a gap");
    assert_eq!(outcome.verdict["votes"].as_array().unwrap().len(), 2);
    assert!(warned(outcome, &format!("without a vote: Agent {}", label(&debate.brief, 1))));
    let nobody = without(&|_, phase, _| phase == "critique").outcome.unwrap();
    assert_eq!((nobody.verdict["critiques"].clone(), nobody.status), (json!([]), Status::Complete));
}

/// Nobody votes: a distinct ending, and no share.
#[test]
fn nobody_voting_loses_the_quorum() {
    let outcome = without(&|_, phase, _| phase == "vote").outcome.unwrap();
    assert_eq!((outcome.termination, outcome.status), (Termination::QuorumLost, Status::Incomplete));
    assert_eq!(
        (&outcome.verdict["consensus"]["share"], &outcome.verdict["votes"]),
        (&Value::Null, &json!([]))
    );
}

/// "the report lists every absence": who was there in each phase stands in `rounds`.
#[test]
fn who_was_there_is_told_for_every_phase() {
    let debate = without(&|ask, phase, _| phase == "critique" && ask.seat == "agent-1");
    let first = label(&debate.brief, 1);
    let rounds = debate.outcome.as_ref().unwrap().verdict["rounds"].clone();
    let critique =
        rounds.as_array().unwrap().iter().find(|round| round["phase"] == "critique").unwrap().clone();
    assert_eq!(
        (critique["present"].as_array().unwrap().len(), critique["absent"].as_array().unwrap().len()),
        (4, 2)
    );
    assert!(critique["absent"][0].as_str().unwrap().starts_with(&format!("{first} on ")));
    assert_eq!(rounds.as_array().unwrap().len(), debate.turns.len());
}

/// "cut off by the limit on output tokens" and "could not read everything" are told as in the other protocols.
#[test]
fn who_could_not_finish_or_read_is_named() {
    let mut brief = ScriptedArena::default().brief();
    for (seat, name) in [("agent-1", "wordy"), ("agent-2", "forgetful")] {
        brief.seats.iter_mut().find(|other| other.id == seat).unwrap().id = name.to_owned();
    }
    let names = |seat: &str| match seat {
        "wordy" => "agent-1".to_owned(),
        "forgetful" => "agent-2".to_owned(),
        other => other.to_owned(),
    };
    let table = ScriptedArena::default();
    let original = table.brief();
    let answer = |ask: &Ask, phase: &str, round: u32| {
        let ask = Ask { seat: names(&ask.seat), ..ask.clone() };
        Some(table.said(&original, &ask, phase, round))
    };
    let outcome = testing::run(&Arena, brief, &answer).1.outcome.unwrap();
    assert!(warned(&outcome, "propose, round 1: wordy was cut off"));
    assert!(warned(&outcome, "forgetful could not read the 3 oldest of 9 entries"));
    assert_eq!(outcome.fidelity, Fidelity::Degraded);
}
