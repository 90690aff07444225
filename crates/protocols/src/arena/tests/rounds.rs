//! The rounds of the seed, the extended rounds, and how many calls they take.

use agon_core::ReportBlock;

use super::*;

fn of(names: &[(&str, u32)]) -> Vec<(String, u32)> {
    names.iter().map(|(name, round)| ((*name).to_owned(), *round)).collect()
}

/// The diagram of the seed: rounds 0 to 8, one after the other.
#[test]
fn nine_rounds_are_held_in_the_order_of_the_seed() {
    let debate = ScriptedArena { set: &[], ..ScriptedArena::default() }.run();
    assert_eq!(
        phases(&debate),
        of(&[
            ("context", 0),
            ("propose", 1),
            ("critique", 2),
            ("revise", 3),
            ("compare", 3),
            ("revise", 4),
            ("compare", 4),
            ("revise", 5),
            ("compare", 5),
            ("refine", 6),
            ("compare", 6),
            ("vote", 7),
            ("judge", 8),
        ])
    );
    let outcome = debate.outcome.as_ref().unwrap();
    assert_eq!((outcome.status, outcome.fidelity), (Status::Complete, Fidelity::Full));
    assert_eq!((outcome.termination, outcome.rounds_completed), (Termination::Consensus, 8));
    assert_eq!(
        calls(&debate),
        (29, 2),
        "3 + 6 + 9 + 3 + 3 + 1 calls and four sortings; context is an errand"
    );
    assert_eq!(outcome.verdict["early_consensus"], Value::Null);
}

/// "Convergence detected? Yes: Early Consensus": "straight to the vote and judge, termination `converged`".
#[test]
fn early_consensus_goes_straight_to_the_vote() {
    for (early, seated, rounds) in [(3, 17, 5), (4, 21, 6), (5, 25, 7)] {
        let debate = ScriptedArena {
            alike: &|round| if round == early { 0.9 } else { 0.2 },
            ..ScriptedArena::default()
        }
        .run();
        let held = phases(&debate);
        let vote = held.iter().position(|(name, _)| name == "vote").unwrap();
        assert_eq!(held[vote - 1], ("compare".to_owned(), early), "{held:?}");
        assert_eq!(held[vote..], of(&[("vote", 7), ("judge", 8)]));
        assert_eq!(calls(&debate).0, seated);
        let outcome = debate.outcome.unwrap();
        assert_eq!((outcome.termination, outcome.rounds_completed), (Termination::Converged, rounds));
        assert_eq!(outcome.verdict["early_consensus"], early);
        assert_eq!(outcome.fidelity, Fidelity::Full);
    }
}

/// After round 6 the vote follows in any case.
#[test]
fn convergence_after_the_refinement_is_not_early_consensus() {
    let debate =
        ScriptedArena { alike: &|round| if round == 6 { 0.9 } else { 0.2 }, ..ScriptedArena::default() }
            .run();
    assert_eq!(calls(&debate).0, 29);
    let outcome = debate.outcome.unwrap();
    assert_eq!(
        (outcome.termination, &outcome.verdict["early_consensus"]),
        (Termination::Consensus, &Value::Null)
    );
    assert_eq!(outcome.verdict["convergence"][3]["converged"], true);
}

/// Early consensus leads to the vote and does not replace it: without a quorum nothing is decided.
#[test]
fn early_consensus_still_needs_a_vote_with_a_quorum() {
    let outcome =
        ScriptedArena { alike: &|_| 0.9, votes: &|_| vec![1, 0, 0], ..ScriptedArena::default() }.outcome();
    assert_eq!((outcome.termination, outcome.status), (Termination::QuorumLost, Status::Incomplete));
    assert_eq!((&outcome.verdict["early_consensus"], &outcome.verdict["winner"]), (&json!(3), &Value::Null));
}

/// The plan holds for other numbers of agents and orders, and for other options.
#[test]
fn the_plan_has_the_fewest_and_the_most_calls_of_every_path() {
    let four = ["a/x", "b/y", "c/z", "d/w"];
    for (models, orders, extended) in
        [(&MODELS[..2], "1", "2"), (MODELS, "2", "1"), (&four, "1", "0"), (&four, "2", "5")]
    {
        let set = [BARE, &[("judge_orders", orders), ("max_extended_rounds", extended)]].concat();
        let near = vec![5.0; 8];
        let longest = ScriptedArena {
            models,
            set: &set,
            votes: &|_| vec![1, 2, 3, 4],
            scores: &|_, _| near.clone(),
            ..ScriptedArena::default()
        };
        let plan = Arena.plan(&longest.brief());
        let n = models.len();
        assert_eq!(
            calls(&longest.run()).0,
            plan.most_calls as usize,
            "{n} agents, {orders} orders, {extended} extended"
        );
        let shortest = ScriptedArena { models, set: &set, alike: &|_| 1.0, ..ScriptedArena::default() };
        assert_eq!(calls(&shortest.run()).0, plan.fewest_calls as usize);
        assert!(longest.run().turns.len() as u32 <= plan.most_phases);
    }
}

/// "each agent critiques each other proposal", one call each; "`max_concurrent_proposals`, `_critiques`, `_revisions` are settings".
#[test]
fn options_limit_how_many_asks_are_under_way_at_once() {
    let seen = std::cell::RefCell::new(Vec::new());
    let set = [
        BARE,
        &[
            ("max_concurrent_proposals", "2"),
            ("max_concurrent_critiques", "4"),
            ("max_concurrent_revisions", "1"),
        ],
    ]
    .concat();
    let look = |ask: &Ask, phase: &str, _: u32, _: &mut Value| {
        seen.borrow_mut().push((phase.to_owned(), ask.at_once));
    };
    ScriptedArena { set: &set, with: &look, ..ScriptedArena::default() }.run();
    for (phase, want) in
        [("propose", Some(2)), ("critique", Some(4)), ("revise", Some(1)), ("refine", None), ("vote", None)]
    {
        let asked: Vec<_> =
            seen.borrow().iter().filter(|(name, _)| name == phase).map(|(_, most)| *most).collect();
        assert!(!asked.is_empty() && asked.iter().all(|most| *most == want), "{phase}: {asked:?}");
    }
    let asked = |table: ScriptedArena<'_>| {
        let seen = std::cell::RefCell::new(Vec::new());
        ScriptedArena { with: &|ask, _, _, _| seen.borrow_mut().push(ask.at_once), ..table }.run();
        seen.into_inner()
    };
    assert!(asked(ScriptedArena::default()).iter().all(Option::is_none), "by default all at once");
}

/// "Round 2: each agent critiques each other proposal": every ordered pair once, in seat order.
#[test]
fn every_ordered_pair_has_one_critique() {
    let debate = ScriptedArena::default().run();
    let turn = debate.turn("critique", 2).unwrap();
    let pairs: Vec<(String, String)> =
        turn.asks.iter().map(|asked| (asked.seat.clone(), asked.about.clone().unwrap())).collect();
    assert_eq!(pairs.len(), 6);
    for from in 1..=3 {
        for to in (1..=3).filter(|to| *to != from) {
            let pair = (format!("agent-{from}"), label(&debate.brief, to));
            assert_eq!(pairs.iter().filter(|other| **other == pair).count(), 1, "{pair:?}");
        }
    }
    let ids: Vec<&str> = debate.outcome.as_ref().unwrap().verdict["critiques"]
        .as_array()
        .unwrap()
        .iter()
        .map(|q| q["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["Q1", "Q2", "Q3", "Q4", "Q5", "Q6"]);
}

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
        ("2", 10, 1, Termination::Consensus),
        ("2", 13, 2, Termination::Consensus),
        ("5", 99, 5, Termination::NoMajority),
        ("5", 19, 4, Termination::Consensus),
    ] {
        let votes = |round: u32| if round >= settled { vec![1, 1, 1] } else { SPLIT.to_vec() };
        let debate = extended(&[("max_extended_rounds", max)], &votes, &near);
        assert_eq!(calls(&debate).0, 29 + 8 * held, "max {max}, settled in {settled}");
        let outcome = debate.outcome.as_ref().unwrap();
        assert_eq!((outcome.termination, outcome.status), (termination, Status::Complete));
        assert_eq!(outcome.verdict["extended_rounds"], held);
        assert_eq!(outcome.rounds_completed as usize, 8 + 3 * held, "revision, vote and judge");
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
fn the_debate_stops_if_vote_and_judge_agree_or_the_judge_is_sure() {
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
        // A tie that includes the winner of the vote agrees with it.
        (vec![2, 2, 1], vec![7.0, 7.0, 1.0], "1", true),
        (vec![3, 3, 1], vec![7.0, 7.0, 1.0], "1", false),
    ] {
        let what = format!("{votes:?} {scores:?} {gap}");
        let debate = extended(&[("judge_gap", gap)], &|_| votes.clone(), &|_, _| scores.clone());
        assert_eq!(debate.outcome.unwrap().verdict["extended_rounds"] == 0, stops, "{what}");
    }
}

/// "the reasons of judge and voters are the critiques": by id, for whom they are against, and nobody else's.
#[test]
fn voters_and_judges_reasons_are_the_critiques_of_an_extended_round() {
    let seen = std::cell::RefCell::new(Vec::new());
    let set = [BARE, &[("max_extended_rounds", "1")]].concat();
    let debate = ScriptedArena {
        set: &set,
        votes: &|_| vec![1, 2, 0],
        scores: &|_, _| NEAR.to_vec(),
        with: &|ask, phase, round, _| {
            if phase == "revise" && round == 9 {
                let fields = ask.schema.as_ref().unwrap().json["properties"].as_object().unwrap();
                let fields: Vec<String> = fields.keys().cloned().collect();
                seen.borrow_mut().push((ask.seat.clone(), own(ask), ask.prompt.clone(), fields));
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
    let mut ordered = [name(brief, 1), name(brief, 2)];
    ordered.sort_unstable();
    for (seat, ids, prompt, fields) in seen.into_inner() {
        let own: Vec<&Value> = critiques.iter().filter(|q| q["to"] == label(brief, number(&seat))).collect();
        let numbers: Vec<&str> = own.iter().map(|q| q["id"].as_str().unwrap()).collect();
        assert_eq!(ids, numbers, "{seat}");
        assert_eq!(ids.len(), 2 + 3, "the open critiques of round 2, two voters and the judge");
        let (critiques, reasons) = prompt.tail.split_once("## Reasons of Voters and Judge").unwrap();
        assert_eq!((critiques.matches("] from ").count(), reasons.matches("] from ").count()), (2, 3));
        assert!(
            critiques.contains("## Critiques of Your Proposal")
                && critiques.contains("You answered in round 6:")
        );
        let result = format!(
            "The vote gave 1 vote for {}, 1 vote for {} and 1 abstention. The judge puts {} first, 0.50 points ahead of {}. That does not settle it: the judge would have to",
            ordered[0],
            ordered[1],
            name(brief, 1),
            name(brief, 2)
        );
        assert!(prompt.shared.contains(&result), "{}", prompt.shared);
        assert!(!fields.contains(&"critiques".to_owned()), "the vote follows: nobody could answer");
        let tail = &prompt.tail;
        let own = own.iter().filter(|q| q["round"].as_u64() > Some(2));
        for critique in own {
            assert!(tail.contains(&format!("[{}]", critique["id"].as_str().unwrap())));
            let words = critique["issues"][0].as_str().unwrap().split_once(' ').unwrap().1;
            assert!(tail.contains(words), "{words}");
            assert_eq!(
                (&critique["severity"], &critique["addressed"]),
                (&Value::Null, &json!("the costs are named"))
            );
            assert_ne!(critique["from"], critique["to"]);
        }
        assert!(reasons.contains("from the judge:"), "{reasons}");
    }
    assert_eq!(critiques.iter().filter(|q| q["from"] == "judge").count(), 3);
    assert_eq!(critiques.last().unwrap()["id"], "Q15");
    let details = Arena.view(&debate).unwrap().outline.details;
    let section = details.iter().find(|part| part.title == "Critiques and what became of them").unwrap();
    let groups = section.blocks.iter().filter_map(|block| match block {
        ReportBlock::Group { title, badges, blocks } if title.contains(" reason") => Some((badges, blocks)),
        _ => None,
    });
    let groups: Vec<_> = groups.collect();
    assert_eq!(groups.len(), 6 + 3);
    for (badges, blocks) in groups {
        let ReportBlock::Pairs(pairs) = &blocks[0] else { panic!("{blocks:?}") };
        assert!(badges.is_empty() && pairs[0].0 == "Reason", "it is no issue: {pairs:?}");
    }
}

/// The last judgement does not count for the new proposals.
#[test]
fn an_absent_judge_in_an_extended_round_leaves_no_scores() {
    let outcome = ScriptedArena {
        votes: &|_| SPLIT.to_vec(),
        scores: &|_, _| NEAR.to_vec(),
        absent: &|_, phase, round| phase == "judge" && round == 11,
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

#[test]
fn a_quorum_can_be_lost_in_an_extended_round() {
    let votes = |round: u32| if round == 10 { vec![0, 0, 1] } else { SPLIT.to_vec() };
    let debate = extended(&[], &votes, &|_, _| NEAR.to_vec());
    assert_eq!(phases(&debate).last().unwrap(), &("vote".to_owned(), 10));
    let outcome = debate.outcome.unwrap();
    assert_eq!((outcome.termination, outcome.status), (Termination::QuorumLost, Status::Incomplete));
    assert_eq!((&outcome.verdict["judge"], &outcome.verdict["extended_rounds"]), (&Value::Null, &json!(1)));
    assert!(outcome.lesson.is_none());
}

/// Earlier votes are in `rounds`; `votes` has the last one.
#[test]
fn every_vote_is_kept() {
    let votes = |round: u32| if round == 10 { vec![1, 1, 2] } else { SPLIT.to_vec() };
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
