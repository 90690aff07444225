//! "A structured 9-round debate": which phases are held, and how many calls each path takes.

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
        (25, 2 + 4),
        "3 + 6 + 9 + 3 + 3 + 1 calls; context and four checks are errands"
    );
    assert_eq!(outcome.verdict["early_consensus"], Value::Null);
}

/// "Convergence detected? Yes: Early Consensus": "straight to the vote and judge, termination `converged`".
#[test]
fn early_consensus_goes_straight_to_the_vote() {
    for (early, seated, rounds) in [(3, 16, 5), (4, 19, 6), (5, 22, 7)] {
        let debate =
            ScriptedArena { alike: &|round| if round == early { 0.9 } else { 0.2 }, ..ScriptedArena::default() }.run();
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

/// A convergence in round 6 is no early one: the vote follows in any case.
#[test]
fn convergence_after_the_refinement_is_not_early() {
    let debate = ScriptedArena { alike: &|round| if round == 6 { 0.9 } else { 0.2 }, ..ScriptedArena::default() }.run();
    assert_eq!(calls(&debate).0, 25);
    let outcome = debate.outcome.unwrap();
    assert_eq!(
        (outcome.termination, &outcome.verdict["early_consensus"]),
        (Termination::Consensus, &Value::Null)
    );
    assert_eq!(outcome.verdict["convergence"][3]["converged"], true);
}

/// Early consensus leads to the vote, and does not replace it: without a quorum nothing is decided.
#[test]
fn early_consensus_still_needs_a_vote_with_a_quorum() {
    let outcome = ScriptedArena { alike: &|_| 0.9, votes: &|_| vec![1, 0, 0], ..ScriptedArena::default() }.outcome();
    assert_eq!((outcome.termination, outcome.status), (Termination::QuorumLost, Status::Incomplete));
    assert_eq!((&outcome.verdict["early_consensus"], &outcome.verdict["winner"]), (&json!(3), &Value::Null));
}

/// The calls of every path for other numbers of agents, orders and settings are what `calls` promises.
#[test]
fn calls_has_the_least_and_the_most_of_every_path() {
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
fn settings_limit_how_many_are_under_way_at_once() {
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
