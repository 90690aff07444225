//! "Early stop criteria met? No: Extended rounds if needed".

use super::*;

fn extended(
    set: &[(&str, &str)],
    votes: &dyn Fn(u32) -> Vec<usize>,
    scores: &dyn Fn(u32, usize) -> Vec<f64>,
) -> Debate {
    let set = [BARE, set].concat();
    ScriptedArena { set: &set, votes, scores, ..ScriptedArena::default() }.run()
}

/// "up to `max_extended_rounds` (default 2) further rounds of revision, vote and judge; then `consensus` or `no_majority`".
#[test]
fn extended_rounds_are_held_until_somebody_decides() {
    let near = |_: u32, _: usize| NEAR.to_vec();
    for (max, settled, held, termination) in [
        ("0", 99, 0, Termination::NoMajority),
        ("1", 99, 1, Termination::NoMajority),
        ("2", 99, 2, Termination::NoMajority),
        ("2", 9, 1, Termination::Consensus),
        ("2", 10, 2, Termination::Consensus),
        ("5", 99, 5, Termination::NoMajority),
        ("5", 12, 4, Termination::Consensus),
    ] {
        let votes = |round: u32| if round >= settled { vec![1, 1, 1] } else { SPLIT.to_vec() };
        let debate = extended(&[("max_extended_rounds", max)], &votes, &near);
        assert_eq!(calls(&debate).0, 25 + 7 * held, "max {max}, settled in {settled}");
        let outcome = debate.outcome.as_ref().unwrap();
        assert_eq!((outcome.termination, outcome.status), (termination, Status::Complete));
        assert_eq!(outcome.verdict["extended_rounds"], held);
        assert_eq!(outcome.rounds_completed as usize, 8 + held);
        assert_eq!(outcome.fidelity, Fidelity::Full);
        let more = phases(&debate).split_off(12);
        for round in more.chunks(4) {
            let names: Vec<&str> = round.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, ["revise", "compare", "vote", "judge"]);
        }
    }
}

/// "consensus reached and judge's top proposal equal to the winner, or judge's margin over `judge_gap`": both sides of each.
#[test]
fn either_criterion_stops_and_neither_alone_is_enough_when_not_met() {
    for (votes, scores, gap, stops) in [
        (vec![1, 1, 2], vec![7.0, 6.9, 1.0], "1", true),
        (vec![2, 2, 1], vec![7.0, 6.9, 1.0], "1", false),
        (vec![2, 2, 1], vec![8.0, 7.0, 1.0], "1", false),
        (vec![2, 2, 1], vec![8.000_001, 7.0, 1.0], "1", true),
        (vec![1, 2, 3], vec![8.0, 7.0, 1.0], "1", false),
        (vec![1, 2, 3], vec![8.1, 7.0, 1.0], "1", true),
        (vec![1, 2, 3], vec![8.1, 7.0, 1.0], "1.2", false),
        (vec![1, 2, 3], vec![7.0, 7.0, 1.0], "0", false),
        (vec![1, 2, 3], vec![7.1, 7.0, 1.0], "0", true),
    ] {
        let what = format!("{votes:?} {scores:?} {gap}");
        let debate = extended(&[("judge_gap", gap)], &|_| votes.clone(), &|_, _| scores.clone());
        assert_eq!(debate.outcome.unwrap().verdict["extended_rounds"] == 0, stops, "{what}");
    }
}

/// "the reasons of judge and voters are the critiques": by id, for whom they are against, and nobody else's.
#[test]
fn the_reasons_of_voters_and_judge_are_the_critiques_of_an_extended_round() {
    let seen = std::cell::RefCell::new(Vec::new());
    let set = [BARE, &[("max_extended_rounds", "1")]].concat();
    let debate = ScriptedArena {
        set: &set,
        votes: &|_| vec![1, 2, 0],
        scores: &|_, _| NEAR.to_vec(),
        with: &|ask, phase, round, _| {
            if phase == "revise" && round == 9 {
                seen.borrow_mut().push((ask.seat.clone(), own(ask), ask.prompt.tail.clone()));
            }
        },
        ..ScriptedArena::default()
    }
    .run();
    let verdict = &debate.outcome.as_ref().unwrap().verdict;
    let critiques = verdict["critiques"].as_array().unwrap();
    let brief = &debate.brief;
    // Round 2 has six; agent-1 is against 2 and 3, agent-2 against 1 and 3, agent-3 abstains against 1 and 2; the judge has three.
    assert_eq!(critiques.len(), 6 + 6 + 3);
    for (seat, ids, tail) in seen.into_inner() {
        let own: Vec<&Value> = critiques
            .iter()
            .filter(|q| q["to"] == label(brief, number(&seat)) && q["round"].as_u64() > Some(2))
            .collect();
        let numbers: Vec<&str> = own.iter().map(|q| q["id"].as_str().unwrap()).collect();
        assert_eq!(ids, numbers, "{seat}");
        assert_eq!(ids.len(), 3, "two voters and the judge");
        for critique in &own {
            assert!(tail.contains(&format!("[{}]", critique["id"].as_str().unwrap())));
            let words = critique["issues"][0].as_str().unwrap().split_once(' ').unwrap().1;
            assert!(tail.contains(words), "{words}");
            assert_eq!(
                (&critique["severity"], &critique["addressed"]),
                (&Value::Null, &json!("the costs are named"))
            );
            assert_ne!(critique["from"], critique["to"]);
        }
        assert!(tail.contains("from the judge:") && !tail.contains("[Q1]"), "only what is new: {tail}");
    }
    assert_eq!(critiques.iter().filter(|q| q["from"] == "judge").count(), 3);
    assert_eq!(critiques.last().unwrap()["id"], "Q15");
}

/// A judge who is absent in an extended round: what was decided before was about other proposals.
#[test]
fn a_judge_absent_in_an_extended_round_leaves_no_figure() {
    let outcome = ScriptedArena {
        votes: &|_| SPLIT.to_vec(),
        scores: &|_, _| NEAR.to_vec(),
        absent: &|_, phase, round| phase == "judge" && round == 9,
        ..ScriptedArena::default()
    }
    .outcome();
    assert_eq!((outcome.termination, outcome.status), (Termination::Failed, Status::Failed));
    assert_eq!((&outcome.verdict["judge"], &outcome.verdict["ratings"]), (&Value::Null, &json!([])));
    assert_eq!(
        outcome.verdict["rounds"].as_array().unwrap().iter().filter(|r| r["judge_top"].is_string()).count(),
        1
    );
}

/// A vote without a quorum in an extended round ends the debate too.
#[test]
fn a_quorum_can_be_lost_in_an_extended_round() {
    let votes = |round: u32| if round == 9 { vec![0, 0, 1] } else { SPLIT.to_vec() };
    let debate = extended(&[], &votes, &|_, _| NEAR.to_vec());
    assert_eq!(phases(&debate).last().unwrap(), &("vote".to_owned(), 9));
    let outcome = debate.outcome.unwrap();
    assert_eq!((outcome.termination, outcome.status), (Termination::QuorumLost, Status::Incomplete));
    assert_eq!((&outcome.verdict["judge"], &outcome.verdict["extended_rounds"]), (&Value::Null, &json!(1)));
    assert!(outcome.lesson.is_none());
}

/// What was voted before is kept in `rounds`; `votes` has the last.
#[test]
fn every_vote_is_kept() {
    let votes = |round: u32| if round == 9 { vec![1, 1, 2] } else { SPLIT.to_vec() };
    let outcome = extended(&[], &votes, &|_, _| NEAR.to_vec()).outcome.unwrap();
    let held: Vec<&Value> = outcome.verdict["rounds"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|round| round["phase"] == "vote")
        .collect();
    assert_eq!(held.len(), 2);
    assert_eq!((&held[0]["reached"], &held[1]["reached"]), (&json!(false), &json!(true)));
    assert_eq!(held[1]["votes"], outcome.verdict["votes"]);
    assert_ne!(held[0]["votes"], outcome.verdict["votes"]);
}
