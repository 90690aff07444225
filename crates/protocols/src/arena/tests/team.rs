//! "Select agent team (ELO + calibration)": who sits, and why.

use agon_core::Invalid;
use agon_core::lesson::AgentStanding;
use proptest::prelude::*;

use super::*;
use crate::arena::team::{SeatingReason, pick};

fn standing(agent: &str, rating: f64, deviation: f64, brier: Option<f64>) -> AgentStanding {
    AgentStanding { agent: agent.to_owned(), rating, deviation, games: 4, brier }
}

fn names(n: usize) -> Vec<String> {
    ('a'..).take(n).map(|name| format!("{name}/m")).collect()
}

fn seats(
    models: &[&str],
    set: &[(&str, &str)],
    roles: &[(&str, &str)],
) -> Result<Vec<(String, String)>, Invalid> {
    let mut request = testing::request(&Arena, "How?", &[], models, set)?;
    request.roles = roles.iter().map(|(role, model)| ((*role).to_owned(), (*model).to_owned())).collect();
    Ok(Arena.seats(&request)?.into_iter().map(|seat| (seat.id, seat.model)).collect())
}

fn models_of(seated: &[(String, String)]) -> Vec<&str> {
    seated.iter().map(|(_, model)| model.as_str()).collect()
}

/// "3 agents by default"; as many as models are named; 2 to 8.
#[test]
fn every_named_model_sits_and_one_model_fills_three_seats() {
    let one = seats(&["a/x"], &[], &[]).unwrap();
    assert_eq!(models_of(&one), ["a/x", "a/x", "a/x", "a/x", "a/x"], "three agents, the judge and the clerk");
    let ids: Vec<&str> = one.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["agent-1", "agent-2", "agent-3", "judge", "clerk"]);
    assert_eq!(seats(&["a/x", "b/y"], &[], &[]).unwrap().len(), 4);
    let eight: Vec<String> = names(8);
    let eight: Vec<&str> = eight.iter().map(String::as_str).collect();
    assert_eq!(seats(&eight, &[], &[]).unwrap().len(), 10);
    let nine: Vec<String> = names(9);
    let nine: Vec<&str> = nine.iter().map(String::as_str).collect();
    let why = seats(&nine, &[], &[]).unwrap_err().0;
    assert!(why.contains("9 models") && why.contains("--team"), "{why}");
    assert_eq!(seats(&nine, &[("team", "8")], &[]).unwrap().len(), 10);
    assert!(seats(&[], &[], &[]).is_err());
    for (key, value) in [
        ("team", "1"),
        ("team", "9"),
        ("explore", "1.1"),
        ("judge_orders", "3"),
        ("max_extended_rounds", "6"),
    ] {
        assert!(seats(MODELS, &[(key, value)], &[]).unwrap_err().0.contains(key));
    }
    let mut empty = testing::request(&Arena, "How?", &[], MODELS, &[]).unwrap();
    empty.question = "  ".to_owned();
    assert!(Arena.seats(&empty).unwrap_err().0.contains("agon arena"));
}

/// With as many or fewer names than `--team` the models cycle.
#[test]
fn models_cycle_if_there_are_fewer_than_seats() {
    let seated = seats(&["a/x", "b/y"], &[("team", "5")], &[]).unwrap();
    assert_eq!(models_of(&seated), ["a/x", "b/y", "a/x", "b/y", "a/x", "a/x", "a/x"]);
    assert_eq!(
        models_of(&seats(MODELS, &[("team", "3")], &[]).unwrap()),
        ["a/x", "b/y", "c/z", "a/x", "a/x"]
    );
    assert_eq!(
        models_of(&seats(&["a/x", "a/x", "b/y"], &[("team", "2")], &[]).unwrap()),
        ["a/x", "b/y", "a/x", "a/x"]
    );
}

/// "`--judge`, else the first named model that was not picked, else the first model".
#[test]
fn the_judge_is_named_or_the_first_model_that_does_not_sit() {
    assert_eq!(models_of(&seats(MODELS, &[], &[("judge", "d/w")]).unwrap())[3], "d/w");
    let picked = seats(&["a/x", "b/y", "c/z"], &[("team", "2"), ("explore", "0")], &[]).unwrap();
    assert_eq!(models_of(&picked), ["a/x", "b/y", "c/z", "c/z"]);
    assert_eq!(models_of(&seats(MODELS, &[], &[]).unwrap())[3], "a/x");
}

/// "role `clerk`, option `--clerk MODEL`, by default the judge's model".
#[test]
fn the_clerk_is_named_or_has_the_judges_model() {
    for (roles, clerk) in [
        (&[][..], "a/x"),
        (&[("judge", "d/w")], "d/w"),
        (&[("judge", "d/w"), ("clerk", "e/v")], "e/v"),
        (&[("clerk", "e/v")], "e/v"),
    ] {
        assert_eq!(models_of(&seats(MODELS, &[], roles).unwrap())[4], clerk, "{roles:?}");
    }
    assert!(INFO.named_roles().any(|role| role == "clerk"));
}

/// "score = rating + 400 * (0.25 - brier); the best first, ties by name order"; an unseen agent has the uninformative prior.
#[test]
fn the_best_by_rating_and_calibration_are_picked() {
    let known = [
        standing("a/m", 1400.0, 60.0, None),
        standing("b/m", 1520.0, 60.0, None),
        standing("c/m", 1480.0, 60.0, Some(0.05)),
        standing("d/m", 1520.0, 60.0, Some(0.45)),
    ];
    let picked = |n: usize, team: usize| -> Vec<usize> {
        pick(&names(n), &known, team, 0.0, 1).into_iter().map(|(place, _)| place).collect()
    };
    // 1400, 1520, 1480 + 80, 1520 - 80, and 1500 for the unseen e.
    assert_eq!(picked(5, 1), [2]);
    assert_eq!(picked(5, 2), [1, 2]);
    assert_eq!(picked(5, 3), [1, 2, 4]);
    assert_eq!(picked(5, 4), [1, 2, 3, 4]);
    let nobody = pick(&names(5), &[], 3, 0.0, 1);
    assert_eq!(
        nobody,
        [(0, SeatingReason::Rated), (1, SeatingReason::Rated), (2, SeatingReason::Rated)],
        "equals in the order of their names"
    );
    let prior = [standing("b/m", 1499.9, 60.0, None), standing("c/m", 1500.1, 60.0, None)];
    let places: Vec<usize> = pick(&names(3), &prior, 2, 0.0, 1).into_iter().map(|(place, _)| place).collect();
    assert_eq!(places, [0, 2], "the prior is 1500");
}

/// "floor(explore * N) seats, plus one with the probability of the rest by the debate's seed; explore 0 none, 1 all".
#[test]
fn a_share_of_the_picks_explores() {
    let explored = |team: usize, explore: f64, seed: u64| {
        let picked = pick(&names(10), &[], team, explore, seed);
        assert_eq!(picked.len(), team);
        picked.iter().filter(|(_, why)| *why == SeatingReason::Explored).count()
    };
    for (team, explore, whole) in [
        (3, 0.0, 0),
        (3, 0.1, 0),
        (8, 0.1, 0),
        (4, 0.25, 1),
        (4, 0.26, 1),
        (4, 0.5, 2),
        (5, 0.6, 3),
        (4, 0.99, 3),
        (2, 0.9, 1),
        (4, 1.0, 4),
    ] {
        let rest = explore * team as f64 - f64::from(whole);
        let drawn: Vec<usize> = (0..2000).map(|seed| explored(team, explore, seed)).collect();
        assert!(drawn.iter().all(|n| *n == whole as usize || (rest > 1e-9 && *n == whole as usize + 1)));
        let mean = drawn.iter().sum::<usize>() as f64 / 2000.0;
        assert!((mean - explore * team as f64).abs() < 0.05, "{team} {explore}: {mean}");
        assert_eq!(explored(team, explore, 5), explored(team, explore, 5), "the same every time");
    }
}

/// "weighted by deviation (unknown: 350)": the less is known of somebody, the likelier it is drawn.
#[test]
fn the_least_known_are_the_likeliest_to_be_drawn() {
    let known = [standing("b/m", 1400.0, 50.0, None), standing("c/m", 1400.0, 150.0, None)];
    let mut drawn = [0; 4];
    for seed in 0..4000 {
        // The best, a, sits by its rating; d is unknown.
        let best = [standing("a/m", 1900.0, 50.0, None)];
        let all = [&best[..], &known].concat();
        for (place, why) in pick(&names(4), &all, 2, 0.5, seed) {
            drawn[place] += usize::from(why == SeatingReason::Explored);
        }
    }
    assert_eq!(drawn[0], 0);
    for (place, deviation) in [(1, 50.0), (2, 150.0), (3, 350.0)] {
        let expected = 4000.0 * deviation / 550.0;
        assert!((drawn[place] as f64 - expected).abs() < 0.15 * expected + 40.0, "{drawn:?}");
    }
}

proptest! {
    /// "property: N distinct", in the order of the names, the same every time.
    #[test]
    fn nobody_is_picked_twice(n in 3_usize..12, team in 2_usize..8, explore in 0.0..=1.0_f64, seed: u64,
                                        ratings in proptest::collection::vec(1000.0..2000.0_f64, 12)) {
        prop_assume!(team < n);
        let known: Vec<AgentStanding> =
            names(n).iter().zip(&ratings).step_by(2).map(|(name, rating)| standing(name, *rating, 80.0, Some(0.2))).collect();
        let picked = pick(&names(n), &known, team, explore, seed);
        prop_assert_eq!(picked.len(), team);
        prop_assert!(picked.windows(2).all(|pair| pair[0].0 < pair[1].0));
        prop_assert!(picked.iter().all(|(place, _)| *place < n));
        prop_assert_eq!(picked, pick(&names(n), &known, team, explore, seed));
    }
}

/// "The verdict has `team: [{seat, agent, rating, brier, games, why}]`".
#[test]
fn the_verdict_says_why_each_agent_sits() {
    let known = json!([
        standing("a/x", 1400.0, 60.0, None),
        standing("b/y", 1600.0, 60.0, Some(0.1)),
        standing("keen", 1550.0, 60.0, None),
        standing("d/w", 1300.0, 300.0, None),
    ])
    .to_string();
    let files = [("standings:kept", known.as_str())];
    let set = [BARE, &[("team", "2"), ("explore", "0")]].concat();
    let models = ["a/x", "b/y", "agent/keen", "d/w"];
    let table = ScriptedArena { models: &models, files: &files, set: &set, ..ScriptedArena::default() };
    let outcome = table.outcome();
    let team = outcome.verdict["team"].as_array().unwrap();
    assert_eq!(
        team[0],
        json!({"seat": "agent-1", "agent": "b/y", "rating": 1600.0, "brier": 0.1, "games": 4, "why": "rated"})
    );
    assert_eq!(
        (&team[1]["agent"], &team[1]["why"], &team[1]["brier"]),
        (&json!("keen"), &json!("rated"), &Value::Null)
    );
    let rated = &outcome.verdict["ratings"];
    assert_eq!(
        (&rated[0]["before"], &rated[1]["before"], &rated[1]["agent"]),
        (&json!(1600.0), &json!(1550.0), &json!("keen"))
    );

    let explored = [BARE, &[("team", "2"), ("explore", "0.5")]].concat();
    let outcome =
        ScriptedArena { models: &models, files: &files, set: &explored, ..ScriptedArena::default() }
            .outcome();
    let mut why: Vec<&str> =
        outcome.verdict["team"].as_array().unwrap().iter().map(|one| one["why"].as_str().unwrap()).collect();
    why.sort_unstable();
    assert_eq!(why, ["explored", "rated"]);
    let best = outcome.verdict["team"].as_array().unwrap().iter().find(|one| one["why"] == "rated").unwrap();
    assert_eq!(best["agent"], "b/y");
    let named = ScriptedArena::default().outcome();
    assert!(
        named.verdict["team"]
            .as_array()
            .unwrap()
            .iter()
            .all(|one| one["why"] == "named" && one["rating"] == 1500.0)
    );
}

/// The reason for each seat of a debate of these models, with initial standings of everybody who could speak, as for a debate without a
/// store.
fn whys(models: &[&str], set: &[(&str, &str)]) -> Vec<String> {
    let mut links: Vec<&str> = models.iter().flat_map(|model| model.split('|')).collect();
    links.dedup();
    let known: Vec<AgentStanding> = links.iter().map(|link| standing(link, 1500.0, 350.0, None)).collect();
    let known = json!(known).to_string();
    let files = [("standings:ratings", known.as_str())];
    let set = [BARE, set].concat();
    let outcome = ScriptedArena { models, files: &files, set: &set, ..ScriptedArena::default() }.outcome();
    let team = outcome.verdict["team"].as_array().unwrap();
    team.iter().map(|one| one["why"].as_str().unwrap().to_owned()).collect()
}

/// "`why` is right for chains (a link of a chain that sits was not left out) and when there are standings for all".
#[test]
fn a_link_of_a_seated_fallback_chain_was_not_left_out() {
    let chains = ["a/x|d/w", "b/y|e/v|f/u", "c/z"];
    assert_eq!(whys(&chains, &[("team", "3")]), ["named"; 3]);
    assert_eq!(whys(&chains, &[("team", "5")]), ["named"; 5], "they cycle");
    assert_eq!(whys(&chains, &[]), ["named"; 3]);
    assert_eq!(whys(&chains, &[("team", "2"), ("explore", "0")]), ["rated"; 2]);
    assert_eq!(whys(&["a/x", "b/y|a/x", "c/z"], &[("team", "2"), ("explore", "0")]), ["rated"; 2]);
    let mut half = whys(&["a/x", "b/y", "c/z", "d/w"], &[("team", "2"), ("explore", "0.5")]);
    half.sort_unstable();
    assert_eq!(half, ["explored", "rated"]);
    assert_eq!(whys(&["a/x", "b/y", "c/z", "d/w"], &[("team", "2"), ("explore", "1")]), ["explored"; 2]);
}

#[test]
fn standings_that_cannot_be_read_are_refused() {
    let request = testing::request(&Arena, "How?", &[("standings:kept", "not json")], MODELS, &[]).unwrap();
    assert!(Arena.seats(&request).unwrap_err().0.contains("kept"));
    assert!(INFO.is_rated);
}
