//! What a vote comes to, and who decides when vote and judge disagree.

use super::*;
use crate::arena::ConsensusRule;
use crate::arena::voting::{is_quorum, leading};

/// "`majority` (> 1/2), `supermajority` (>= 2/3), `unanimous`, of the votes cast": every tally of up to 8.
#[test]
fn the_rules_decide_every_tally_of_up_to_eight() {
    for cast in 0..=8_usize {
        for votes in 0..=cast {
            let share = votes as f64 / cast.max(1) as f64;
            assert_eq!(
                ConsensusRule::Majority.is_met(votes, cast),
                cast > 0 && share > 0.5,
                "{votes} of {cast}"
            );
            assert_eq!(
                ConsensusRule::Supermajority.is_met(votes, cast),
                cast > 0 && share >= 2.0 / 3.0,
                "{votes} of {cast}"
            );
            assert_eq!(
                ConsensusRule::Unanimous.is_met(votes, cast),
                cast > 0 && votes == cast,
                "{votes} of {cast}"
            );
        }
    }
    for (rule, votes, cast, met) in [
        (ConsensusRule::Majority, 2, 4, false),
        (ConsensusRule::Majority, 3, 5, true),
        (ConsensusRule::Majority, 4, 8, false),
        (ConsensusRule::Majority, 5, 8, true),
        (ConsensusRule::Supermajority, 2, 3, true),
        (ConsensusRule::Supermajority, 3, 5, false),
        (ConsensusRule::Supermajority, 4, 6, true),
        (ConsensusRule::Supermajority, 5, 8, false),
        (ConsensusRule::Supermajority, 6, 8, true),
        (ConsensusRule::Unanimous, 7, 8, false),
        (ConsensusRule::Unanimous, 8, 8, true),
        (ConsensusRule::Unanimous, 0, 0, false),
    ] {
        assert_eq!(rule.is_met(votes, cast), met, "{rule:?}: {votes} of {cast}");
    }
}

/// "with quorum half of the agents (fewer: `quorum_lost`)".
#[test]
fn a_quorum_is_half_of_the_agents() {
    for (seated, least) in [(2, 1), (3, 2), (4, 2), (5, 3), (6, 3), (7, 4), (8, 4)] {
        for cast in 0..=seated {
            assert_eq!(is_quorum(cast, seated), cast >= least, "{cast} of {seated}");
        }
    }
}

/// "two groups of equal size never win".
#[test]
fn nobody_leads_if_two_have_the_most_votes() {
    assert_eq!(leading(&[2, 1]), Some(0));
    assert_eq!(leading(&[0, 3, 1]), Some(1));
    for votes in [&[1, 1][..], &[2, 2, 1], &[0, 0], &[]] {
        assert_eq!(leading(votes), None, "{votes:?}");
    }
}

fn voted(models: &[&str], consensus: &str, votes: &[usize]) -> Outcome {
    let set = [BARE, &[("consensus", consensus), ("max_extended_rounds", "0")]].concat();
    ScriptedArena { models, set: &set, votes: &|_| votes.to_vec(), ..ScriptedArena::default() }.outcome()
}

/// The rules over whole debates: who wins, and with which share.
#[test]
fn the_rule_decides_whether_the_vote_is_a_consensus() {
    let five = ["a/1", "b/2", "c/3", "d/4", "e/5"];
    for (consensus, votes, reached, share) in [
        ("majority", &[2, 2, 2, 1, 3][..], true, 0.6),
        ("supermajority", &[2, 2, 2, 1, 3], false, 0.6),
        ("supermajority", &[2, 2, 2, 2, 3], true, 0.8),
        ("unanimous", &[2, 2, 2, 2, 3], false, 0.8),
        ("unanimous", &[2, 2, 2, 2, 0], true, 1.0),
        ("majority", &[1, 1, 2, 2, 0], false, 0.5),
        ("majority", &[1, 1, 2, 0, 0], true, 2.0 / 3.0),
    ] {
        let outcome = voted(&five, consensus, votes);
        let verdict = &outcome.verdict;
        assert_eq!(verdict["consensus"]["reached"], reached, "{consensus} {votes:?}");
        assert_eq!(verdict["consensus"]["share"], share, "{consensus} {votes:?}");
        assert_eq!(verdict["consensus"]["kind"], consensus);
        assert_eq!(verdict["consensus"]["agents"], 5);
        let termination = if reached { Termination::Consensus } else { Termination::NoMajority };
        assert_eq!((outcome.termination, outcome.status), (termination, Status::Complete));
        assert_eq!(verdict["winner"].is_string(), reached);
        assert_eq!(verdict["decided_by"], if reached { json!("vote") } else { Value::Null });
    }
}

/// "fewer: `quorum_lost`: `incomplete`, exit 3, no judge, no extended round".
#[test]
fn a_vote_without_a_quorum_ends_the_debate_without_the_judge() {
    let four = ["a/1", "b/2", "c/3", "d/4"];
    let set = [BARE, &[("max_extended_rounds", "2")]].concat();
    let with = |votes: &'static [usize]| {
        ScriptedArena { models: &four, set: &set, votes: &|_| votes.to_vec(), ..ScriptedArena::default() }
            .run()
    };
    let lost = with(&[1, 0, 0, 0]);
    assert_eq!(phases(&lost).last().unwrap(), &("vote".to_owned(), 7));
    let outcome = lost.outcome.unwrap();
    assert_eq!((outcome.termination, outcome.status), (Termination::QuorumLost, Status::Incomplete));
    let verdict = &outcome.verdict;
    for empty in ["winner", "winner_seat", "answer", "position", "decided_by", "judge"] {
        assert_eq!(verdict[empty], Value::Null, "{empty}");
    }
    assert_eq!((&verdict["ratings"], &verdict["extended_rounds"]), (&json!([]), &json!(0)));
    assert_eq!((&verdict["consensus"]["reached"], &verdict["consensus"]["cast"]), (&json!(false), &json!(1)));
    assert!(outcome.lesson.is_none());
    assert_eq!(with(&[1, 1, 0, 0]).outcome.unwrap().termination, Termination::Consensus);
    let none = with(&[0, 0, 0, 0]).outcome.unwrap();
    assert_eq!(
        (none.termination, &none.verdict["consensus"]["share"]),
        (Termination::QuorumLost, &Value::Null)
    );
    assert_eq!(none.fidelity, Fidelity::Degraded);
}

/// A debate in which the clerk finds these agents the same, two by two, and all others compatible.
fn related(same: &'static [(usize, usize)], seed: u64, conflict: bool) -> Outcome {
    let set = [BARE, &[("max_extended_rounds", "0")]].concat();
    let table = ScriptedArena { set: &set, votes: &|_| SPLIT.to_vec(), ..ScriptedArena::default() };
    let brief = Brief { seed, ..table.brief() };
    let place = |text: &str| POSITIONS.iter().position(|position| *position == text).unwrap() + 1;
    ScriptedArena {
        with: &|ask, phase, _, said| {
            if phase == "compare" {
                *said = sorted(ask, &|one, other| {
                    let pair = (place(one).min(place(other)), place(one).max(place(other)));
                    if same.contains(&pair) { ("same", 0.7) } else { ("compatible", 0.6) }
                });
            }
            if phase == "refine" {
                said["proposal"] = json!(format!("{} As refined.", POSITIONS[number(&ask.seat) - 1]));
                if ask.seat == "agent-1" {
                    // Refined as it was in round 5, so that a declaration about it still counts.
                    said["proposal"] = revision(ask, 5)["proposal"].clone();
                }
                if ask.seat == "agent-2" && conflict {
                    said["conflicts_with"] = json!([name(&brief, 1)]);
                }
            }
        },
        ..table
    }
    .run_brief(brief.clone())
    .outcome
    .unwrap()
}

/// "Ballots on proposals that the last sorting calls `same` are grouped": 2 of 3 for two that say the same are a majority.
#[test]
fn ballots_for_the_same_proposal_count_together() {
    let verdict = related(&[(1, 2)], 11, false).verdict;
    assert_eq!(
        (&verdict["consensus"]["reached"], &verdict["consensus"]["share"]),
        (&json!(true), &json!(2.0 / 3.0))
    );
    assert_eq!(
        (&verdict["tally"][0]["votes"], verdict["tally"][0]["labels"].as_array().unwrap().len()),
        (&json!(2), 2)
    );
    assert_eq!(verdict["winner_seat"], "agent-1", "as many ballots each: the judge's better score");
    assert_eq!(verdict["votes"][0]["group"].as_array().unwrap().len(), 2);
    assert_eq!(
        related(&[(1, 2)], 11, true).verdict["consensus"]["reached"],
        false,
        "a declared conflict keeps them apart"
    );
    assert_eq!(
        related(&[], 11, false).verdict["tally"].as_array().unwrap().len(),
        3,
        "compatible is not the same"
    );
}

/// A third proposal that is the same as two different ones counts with neither, whatever the labels are.
#[test]
fn a_proposal_between_two_different_ones_counts_with_neither() {
    for seed in 0..6 {
        let outcome = related(&[(1, 2), (2, 3)], seed, false);
        assert_eq!(outcome.termination, Termination::NoMajority, "seed {seed}");
        assert_eq!(outcome.verdict["tally"].as_array().unwrap().len(), 3);
        assert_eq!(outcome.verdict["winner"], Value::Null);
    }
}

/// Two abstentions of three lose the quorum, and a vote that does not count has no share.
#[test]
fn a_lost_quorum_says_how_many_voted_and_abstained() {
    let three = voted(MODELS, "majority", &[1, 0, 0]);
    assert_eq!((three.termination, three.status), (Termination::QuorumLost, Status::Incomplete));
    let consensus = &three.verdict["consensus"];
    assert_eq!((&consensus["share"], &consensus["cast"]), (&Value::Null, &json!(1)));
    let four = ScriptedArena {
        models: &["a/1", "b/2", "c/3", "d/4"],
        votes: &|_| vec![1, 0, 1, 1],
        absent: &|ask, phase, _| phase == "vote" && ["agent-3", "agent-4"].contains(&ask.seat.as_str()),
        ..ScriptedArena::default()
    }
    .outcome();
    assert_eq!(four.termination, Termination::QuorumLost);
    assert_eq!(four.termination, Termination::QuorumLost);
    let held = voted(MODELS, "majority", &[1, 1, 0]);
    assert_eq!(held.verdict["consensus"]["share"], 1.0, "with a quorum the share is told");
}

/// "The winner within a group: most ballots, then the judge's score, then label order".
#[test]
fn within_a_group_the_most_ballots_then_the_score_then_the_label_win() {
    let same = |votes: [usize; 3], scores: [f64; 3]| {
        let table = ScriptedArena {
            alike: &|_| 0.9,
            votes: &move |_| votes.to_vec(),
            scores: &move |_, _| scores.to_vec(),
            ..ScriptedArena::default()
        };
        let outcome = table.outcome();
        assert_eq!(outcome.verdict["tally"].as_array().unwrap().len(), 1);
        outcome.verdict["winner_seat"].as_str().unwrap().to_owned()
    };
    assert_eq!(same([2, 2, 3], [9.0, 1.0, 5.0]), "agent-2");
    assert_eq!(same([1, 2, 3], [4.0, 5.0, 6.0]), "agent-3");
    let brief = ScriptedArena::default().brief();
    let first = (1..=3).find(|n| label(&brief, *n) == "A").unwrap();
    assert_eq!(same([1, 2, 3], [5.0, 5.0, 5.0]), format!("agent-{first}"));
}

/// "own proposal allowed but reported", "abstain allowed".
#[test]
fn own_votes_and_abstentions_are_reported() {
    let outcome = ScriptedArena { votes: &|_| vec![1, 1, 0], ..ScriptedArena::default() }.outcome();
    let votes = &outcome.verdict["votes"];
    let label = label(&ScriptedArena::default().brief(), 1);
    assert_eq!((&votes[0]["choice"], &votes[0]["own"]), (&json!(label), &json!(true)));
    assert_eq!((&votes[1]["choice"], &votes[1]["own"]), (&json!(label), &json!(false)));
    assert_eq!(
        (&votes[2]["choice"], &votes[2]["own"], &votes[2]["group"]),
        (&json!("abstain"), &json!(false), &Value::Null)
    );
    assert_eq!(outcome.verdict["consensus"]["share"], 1.0, "an abstention is not cast");
}

/// The vote is for agent-2; the judge puts agent-1 first by more than `judge_gap`.
fn torn(set: &[(&str, &str)], scores: [f64; 3]) -> Outcome {
    let set = [BARE, set].concat();
    ScriptedArena {
        set: &set,
        votes: &|_| vec![2, 2, 1],
        scores: &move |_, _| scores.to_vec(),
        ..ScriptedArena::default()
    }
    .outcome()
}

#[test]
fn the_vote_decides_unless_the_judge_is_set_to_decide() {
    let by_vote = torn(&[], [9.0, 6.0, 3.0]);
    assert_eq!(
        (&by_vote.verdict["winner_seat"], &by_vote.verdict["decided_by"]),
        (&json!("agent-2"), &json!("vote"))
    );
    let by_judge = torn(&[("decide", "judge")], [9.0, 6.0, 3.0]);
    assert_eq!(
        (&by_judge.verdict["winner_seat"], &by_judge.verdict["decided_by"]),
        (&json!("agent-1"), &json!("judge"))
    );
    for outcome in [by_vote, by_judge] {
        assert_eq!((outcome.termination, outcome.status), (Termination::Consensus, Status::Complete));
        assert_eq!(outcome.verdict["judge"]["agrees_with_vote"], false);
        assert!(warned(&outcome, "the vote and the judge disagree"), "{:?}", outcome.warnings);
        let (winner, seat) = (outcome.verdict["winner"].as_str().unwrap(), &outcome.verdict["winner_seat"]);
        assert_eq!(&json!(outcome.labels[winner]), seat);
        let own =
            &outcome.verdict["proposals"].as_array().unwrap().iter().find(|p| p["label"] == winner).unwrap()
                ["proposal"];
        assert_eq!(&outcome.verdict["answer"], own, "the answer is the winner's final proposal");
    }
}

/// "`no_majority` (`winner` null unless `--decide judge`)".
#[test]
fn without_a_majority_only_the_judge_can_decide() {
    let split = |set: &[(&str, &str)]| {
        let set = [BARE, set].concat();
        ScriptedArena { set: &set, votes: &|_| SPLIT.to_vec(), ..ScriptedArena::default() }.outcome()
    };
    let open = split(&[]);
    assert_eq!((open.termination, open.status), (Termination::NoMajority, Status::Complete));
    for empty in ["winner", "winner_seat", "answer", "position", "decided_by"] {
        assert_eq!(open.verdict[empty], Value::Null);
    }
    assert_eq!(open.dissent.len(), 3, "without a decision everybody dissents");
    let judged = split(&[("decide", "judge")]);
    assert_eq!(
        (judged.termination, &judged.verdict["winner_seat"]),
        (Termination::NoMajority, &json!("agent-1"))
    );
    assert_eq!(
        (&judged.verdict["decided_by"], &judged.verdict["consensus"]["reached"]),
        (&json!("judge"), &json!(false))
    );
    assert!((judged.lesson.unwrap().decision.unwrap().share - 1.0 / 3.0).abs() < 1e-9);
}

#[test]
fn the_vote_decides_if_the_deciding_judge_is_absent() {
    let set = [BARE, &[("decide", "judge")]].concat();
    let outcome =
        ScriptedArena { set: &set, absent: &|_, phase, _| phase == "judge", ..ScriptedArena::default() }
            .outcome();
    assert_eq!(
        (&outcome.verdict["winner_seat"], &outcome.verdict["decided_by"]),
        (&json!("agent-1"), &json!("vote"))
    );
    assert_eq!((outcome.termination, outcome.status), (Termination::Consensus, Status::Incomplete));
}

/// Without a consensus nobody wins.
#[test]
fn the_vote_decides_if_the_deciding_judge_names_no_best() {
    let set = [BARE, &[("decide", "judge"), ("judge_orders", "2"), ("max_extended_rounds", "0")]].concat();
    let torn = |_: u32, order: usize| if order == 0 { vec![9.0, 5.0, 1.0] } else { vec![5.0, 9.0, 1.0] };
    let table = |votes: [usize; 3], alike: f64| {
        ScriptedArena {
            set: &set,
            votes: &move |_| votes.to_vec(),
            alike: &move |_| alike,
            scores: &torn,
            ..ScriptedArena::default()
        }
        .outcome()
    };
    let stands = table([3, 3, 1], 0.2);
    assert_eq!(
        (&stands.verdict["winner_seat"], &stands.verdict["decided_by"]),
        (&json!("agent-3"), &json!("vote"))
    );
    assert!(stands.lesson.unwrap().decision.is_some());
    // A tie for the first place that includes the winner agrees with it.
    let same = table([1, 2, 3], 0.9);
    assert_eq!(
        (&same.verdict["winner_seat"], &same.verdict["decided_by"]),
        (&json!("agent-1"), &json!("vote"))
    );
    assert_eq!(
        (&same.verdict["judge"]["top"], &same.verdict["judge"]["agrees_with_vote"]),
        (&Value::Null, &json!(true))
    );
    assert_eq!(same.termination, Termination::Converged);
    let nobody = table(SPLIT, 0.2);
    assert_eq!((&nobody.verdict["winner"], &nobody.verdict["decided_by"]), (&Value::Null, &Value::Null));
}
