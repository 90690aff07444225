//! Absences, quorum and limits.

use agon_core::DebateLimits;

use super::*;

fn without(absent: &dyn Fn(&str, u32, &str) -> bool) -> Debate {
    run(&[], &|ask, phase, round| {
        if absent(phase, round, &ask.seat) {
            return None;
        }
        with(ask, phase, round, &|said| {
            said.as_object_mut().unwrap().remove("messages");
            // Challenges go only to councillors who gave an opening.
            let here: Vec<&str> =
                SEATS.into_iter().filter(|seat| *seat != ask.seat && !absent("opening", 0, seat)).collect();
            if let Some(challenges) = said.get_mut("challenges").and_then(Value::as_array_mut) {
                for (at, challenge) in challenges.iter_mut().enumerate() {
                    challenge["to"] = json!(here[at % here.len()]);
                    challenge["claim"] =
                        json!(format!("{} argues from {}", here[at % here.len()], ["load", "cost"][at]));
                }
            }
        })
    })
}

/// "Absent ones keep theirs (`carried`)"; they are asked again in the next round.
#[test]
fn an_absent_councillor_keeps_its_position_and_is_asked_again() {
    let debate = without(&|phase, round, seat| (phase, round, seat) == ("respond", 1, "critic"));
    assert_eq!(debate.turn("challenge", 2).unwrap().asks.len(), 4);
    let outcome = debate.outcome.unwrap();
    let steps = &outcome.verdict["position_evolution"]["critic"];
    assert_eq!((&steps[1]["carried"], &steps[1]["position"]), (&json!(true), &steps[0]["position"]));
    assert_eq!(steps[2]["carried"], false);
    assert_eq!((outcome.status, outcome.fidelity), (Status::Complete, Fidelity::Degraded));
}

/// "A councillor without an opening takes no part"; "fewer votes than seated at most MEDIUM".
#[test]
fn a_councillor_without_an_opening_takes_no_part_and_prevents_high_confidence() {
    let debate = without(&|_, _, seat| seat == "critic");
    assert_eq!(debate.turn("challenge", 1).unwrap().asks.len(), 3);
    assert_eq!(debate.turn("verdict", 2).unwrap().asks.len(), 3);
    let outcome = debate.outcome.unwrap();
    assert_eq!(
        (&outcome.verdict["decision"], &outcome.verdict["confidence"]),
        (&json!("PROCEED"), &json!("MEDIUM"))
    );
    assert!(warned(&outcome, "gave no opening and took no part: Critic"));
    let silent = without(&|phase, _, seat| phase == "verdict" && seat == "critic").outcome.unwrap();
    assert_eq!(silent.verdict["confidence"], "MEDIUM");
    assert!(warned(&silent, "did not vote: Critic"));
}

/// "fewer than 2 councillors with an opening, or fewer than 2 present in a round's challenge phase: `quorum_lost`, no vote".
#[test]
fn fewer_than_two_councillors_lose_the_quorum() {
    let opened = |n: usize| without(&move |phase, _, seat| phase == "opening" && SEATS[n..].contains(&seat));
    let one = opened(1);
    assert_eq!(phases(&one), [("opening".to_owned(), 0)]);
    let outcome = one.outcome.unwrap();
    assert_eq!((outcome.status, outcome.termination), (Status::Incomplete, Termination::QuorumLost));
    assert_eq!(outcome.verdict["decision"], Value::Null);
    assert_eq!((outcome.positions.len(), outcome.dissent.len()), (1, 1));
    assert_eq!(opened(2).outcome.unwrap().termination, Termination::AllRoundsComplete);

    let challenged = |n: usize| {
        without(&move |phase, round, seat| (phase, round) == ("challenge", 2) && SEATS[n..].contains(&seat))
    };
    let one = challenged(1);
    assert_eq!(phases(&one).last().unwrap(), &("challenge".to_owned(), 2));
    let outcome = one.outcome.unwrap();
    assert_eq!((outcome.termination, outcome.rounds_completed), (Termination::QuorumLost, 1));
    assert_eq!(outcome.status, Status::Incomplete);
    assert_eq!(challenged(2).outcome.unwrap().status, Status::Complete);
}

/// "Nobody votes: `failed`, incomplete, decision null".
#[test]
fn a_debate_without_votes_fails() {
    let outcome = without(&|phase, _, _| phase == "verdict").outcome.unwrap();
    assert_eq!((outcome.status, outcome.termination), (Status::Incomplete, Termination::Failed));
    assert_eq!((&outcome.verdict["decision"], &outcome.verdict["confidence"]), (&Value::Null, &Value::Null));
    assert_eq!(outcome.dissent.len(), 4);
}

#[test]
fn fewer_than_two_votes_decide_nothing() {
    let voted = |n: usize| {
        without(&move |phase, _, seat| phase == "verdict" && SEATS[n..].contains(&seat)).outcome.unwrap()
    };
    let one = voted(1);
    assert_eq!((one.status, one.termination), (Status::Incomplete, Termination::QuorumLost));
    for field in ["decision", "confidence", "divided", "minority_opinion"] {
        assert_eq!(one.verdict[field], Value::Null, "{field}");
    }
    assert_eq!((one.verdict["votes"].as_array().unwrap().len(), one.rounds_completed), (1, 2));
    assert!(warned(&one, "did not vote: Critic, Pragmatist, Innovator"));
    assert_eq!(one.dissent.len(), 4, "no opening is lost");
    let two = voted(2);
    assert_eq!((two.status, two.termination), (Status::Complete, Termination::AllRoundsComplete));
    assert_eq!((&two.verdict["decision"], &two.verdict["confidence"]), (&json!("PROCEED"), &json!("MEDIUM")));
}

/// Half of the councillors are needed: 3 of 6. A verdict by fewer is `incomplete`.
#[test]
fn the_quorum_is_half_of_the_councillors() {
    let six = ["visionary", "critic", "pragmatist", "innovator", "ethicist", "domain-expert"];
    for (voters, status) in [(2, Status::Incomplete), (3, Status::Complete)] {
        let debate =
            run(&[("councillors", "6"), ("focus", "queues"), ("rounds", "1")], &|ask, phase, round| {
                let place = six.iter().position(|seat| *seat == ask.seat).unwrap_or_default();
                let mut stand_in = ask.clone();
                if place >= 4 {
                    stand_in.seat = "critic".into();
                }
                let said = with(&stand_in, phase, round, &|said| {
                    for (list, at) in [("questions", 0), ("challenges", 0), ("challenges", 1)] {
                        if let Some(entry) = said.get_mut(list).and_then(|list| list.get_mut(at)) {
                            entry["to"] = json!(six[(place + at + 1) % 6]);
                        }
                    }
                });
                said.filter(|_| phase != "verdict" || place < voters)
            });
        let outcome = debate.outcome.unwrap();
        assert_eq!((outcome.status, outcome.verdict["decision"].is_null()), (status, voters < 3));
    }
}

fn limited(limits: DebateLimits, set: &[(&str, &str)]) -> Debate {
    run_brief(Brief { limits, ..brief(set) }, &|ask, phase, round| Some(plain(ask, phase, round)))
}

/// "a limit or loss that cuts it ends `incomplete`": the vote is held with what there is, and says which limit.
#[test]
fn a_limit_ends_in_a_vote_that_is_incomplete() {
    // Openings, two rounds of nine calls, the vote and the conclusion; two calls are missing for round 2.
    let calls = |n: u32| limited(DebateLimits { calls: Some(n), ..DebateLimits::default() }, &[]);
    let cut = calls(4 + 9 + 9 + 5 - 2);
    assert_eq!(phases(&cut).last().unwrap(), &("conclude".to_owned(), 2));
    let outcome = cut.outcome.unwrap();
    assert_eq!((outcome.status, outcome.termination), (Status::Incomplete, Termination::Budget));
    assert_eq!((outcome.rounds_completed, &outcome.verdict["decision"]), (1, &json!("PROCEED")));
    assert_eq!(outcome.verdict["confidence"], "MEDIUM", "cut short it is never HIGH");
    assert!(outcome.verdict["confidence_caps"].as_array().unwrap().contains(&json!("cut_short")));
    assert_eq!(outcome.fidelity, Fidelity::Degraded);
    assert!(warned(&outcome, "the limit of 25 calls"), "{:?}", outcome.warnings);
    assert_eq!(calls(4 + 9 + 9 + 5).outcome.unwrap().termination, Termination::AllRoundsComplete);

    let usd = limited(DebateLimits { usd: Some(0.05), ..DebateLimits::default() }, &[]).outcome.unwrap();
    assert_eq!((usd.termination, usd.rounds_completed), (Termination::Budget, 0));
    assert!(warned(&usd, "the budget of $0.05"), "{:?}", usd.warnings);
}

/// A limit can cut a phase between two calls.
#[test]
fn economy_mode_is_cut_between_two_calls() {
    let debate =
        limited(DebateLimits { calls: Some(4 + 2 + 5), ..DebateLimits::default() }, &[("economy", "true")]);
    let count = |name: &str| phases(&debate).iter().filter(|(phase, _)| phase == name).count();
    assert_eq!((count("opening"), count("challenge"), count("respond"), count("verdict")), (4, 2, 0, 4));
    assert_eq!(debate.outcome.unwrap().termination, Termination::Budget);
}
