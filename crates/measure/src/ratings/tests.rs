//! "Pairwise Elo over n-1, zero-sum to 1e-9, with a rating that carries uncertainty beside it. Ratings are a view over the
//! logs: rebuilding them from the logs gives the same numbers."

use agon_core::lesson::RatingChange;
use proptest::prelude::*;

use super::*;

/// A seat, its agent, its change, and how it did against other seats.
type Seat<'a> = (&'a str, Option<&'a str>, f64, &'a [(&'a str, f64)]);

fn lesson(seats: &[Seat<'_>]) -> DebateLesson {
    let part = |(seat, agent, change, against): &Seat<'_>| LessonSeat {
        seat: (*seat).to_owned(),
        label: seat.to_uppercase(),
        agent: agent.map(str::to_owned),
        position: None,
        confidence: None,
        won: false,
        score: None,
        rated: Some(RatingChange {
            before: RATING_INITIAL,
            change: *change,
            against: against.iter().map(|(seat, score)| ((*seat).to_owned(), *score)).collect(),
        }),
        ballot: None,
    };
    DebateLesson { decision: None, parts: seats.iter().map(part).collect() }
}

fn game(seats: &[Seat<'_>]) -> Option<Game> {
    Game::of("d1", "2026-11-15T10:00:00Z", &lesson(seats))
}

/// The example of Glickman's paper: 1500/200 against 1400/30 (won), 1550/100 (lost) and 1700/300 (lost).
#[test]
fn glickmans_example_comes_out_as_published() {
    let player = |rating, deviation| Glicko { rating, deviation, volatility: 0.06 };
    let met = [(player(1400.0, 30.0), 1.0), (player(1550.0, 100.0), 0.0), (player(1700.0, 300.0), 0.0)];
    let met: Vec<Met> = met.into_iter().map(|(opponent, score)| Met { opponent, score }).collect();
    let after = player(1500.0, 200.0).after(&met);
    assert!((after.rating - 1464.06).abs() < 0.01, "{after:?}");
    assert!((after.deviation - 151.52).abs() < 0.01, "{after:?}");
    assert!((after.volatility - 0.05999).abs() < 0.00001, "{after:?}");
}

#[test]
fn who_met_nobody_stays_as_it_was() {
    assert_eq!(Glicko::default().after(&[]), Glicko::default());
}

/// A result that could not be foreseen makes the rating more volatile; one that could does not.
#[test]
fn an_upset_raises_volatility() {
    let (weak, strong) = (
        Glicko { rating: 1200.0, deviation: 50.0, volatility: 0.06 },
        Glicko { rating: 1900.0, deviation: 50.0, volatility: 0.06 },
    );
    let upset = weak.after(&[Met { opponent: strong, score: 1.0 }; 5]);
    let expected = weak.after(&[Met { opponent: strong, score: 0.0 }; 5]);
    assert!(upset.volatility > 0.06 && expected.volatility < 0.06, "{upset:?} {expected:?}");
}

/// By hand: K 32, three at 1500, a beats b and c, b beats c: the changes are 16, 0 and -16 over n - 1 = 2 meetings each.
#[test]
fn elo_is_the_start_and_the_sum_of_the_changes() {
    let seats: &[Seat<'_>] = &[
        ("s1", Some("a"), 16.0, &[("s2", 1.0), ("s3", 1.0)]),
        ("s2", Some("b"), 0.0, &[("s1", 0.0), ("s3", 1.0)]),
        ("s3", Some("c"), -16.0, &[("s1", 0.0), ("s2", 0.0)]),
    ];
    let game = game(seats).unwrap();
    let ratings = Ratings::of([&game, &game].into_iter());
    let elo: Vec<f64> = ratings.agents.values().map(|rating| rating.elo).collect();
    assert_eq!(elo, [1532.0, 1500.0, 1468.0]);
    let first = &ratings.agents["a"];
    assert_eq!((first.games, first.history.len()), (2, 2));
    assert_eq!((first.history[0].elo, first.history[1].elo), (1516.0, 1532.0));
    assert_eq!(
        (first.history[0].debate.as_str(), first.history[0].at.as_str()),
        ("d1", "2026-11-15T10:00:00Z")
    );
    let glicko: Vec<Glicko> = ratings.agents.values().map(|rating| rating.glicko).collect();
    assert!(glicko[0].rating > glicko[1].rating && glicko[1].rating > glicko[2].rating);
    assert!(glicko.iter().all(|glicko| glicko.deviation < 350.0), "to have met somebody makes surer");
}

/// "Opponents' pre-period values": two who begin alike move by the same, in opposite directions.
/// A rating is handed on to a debate with the certainty of its Glicko side.
#[test]
fn a_standing_is_elo_with_how_uncertain_it_is() {
    let (agent, brier) = ("a".to_owned(), None);
    let begins = AgentStanding { agent, rating: 1500.0, deviation: 350.0, games: 0, brier };
    assert_eq!(Rating::default().standing("a", None), begins);
    let glicko = Glicko { rating: 1650.0, deviation: 90.5, ..Glicko::default() };
    let known = Rating { elo: 1512.25, glicko, games: 3, history: Vec::new() };
    let stands = AgentStanding { rating: 1512.25, deviation: 90.5, games: 3, brier: Some(0.2), ..begins };
    assert_eq!(known.standing("a", Some(0.2)), stands);
}

#[test]
fn everybody_is_rated_against_what_the_others_were_before() {
    let game =
        game(&[("s1", Some("a"), 16.0, &[("s2", 1.0)]), ("s2", Some("b"), -16.0, &[("s1", 0.0)])]).unwrap();
    let ratings = Ratings::of([&game].into_iter());
    let (a, b) = (ratings.agents["a"].glicko, ratings.agents["b"].glicko);
    assert!((a.rating - 1500.0 - (1500.0 - b.rating)).abs() < 1e-9);
    assert!((a.deviation - b.deviation).abs() < 1e-9);
}

/// "A debate in which an agent met only itself is no game."
#[test]
fn an_agent_that_met_only_itself_played_no_game() {
    assert_eq!(
        game(&[("s1", Some("a"), 16.0, &[("s2", 1.0)]), ("s2", Some("a"), -16.0, &[("s1", 0.0)])]),
        None
    );
    let unnamed = game(&[("s1", Some("a"), 16.0, &[("s2", 1.0)]), ("s2", None, -16.0, &[("s1", 0.0)])]);
    assert_eq!(unnamed, None, "nor one that met nobody who can be named");
    assert_eq!(Game::of("d1", "", &DebateLesson { decision: None, parts: Vec::new() }), None);
}

/// An agent in two seats has one rating: its seats' changes add up, and what they did against each other is nothing.
#[test]
fn the_seats_of_an_agent_count_together() {
    let seats: &[Seat<'_>] = &[
        ("s1", Some("a"), 16.0, &[("s2", 1.0), ("s3", 1.0)]),
        ("s2", Some("a"), -4.0, &[("s1", 0.0), ("s3", 0.5)]),
        ("s3", Some("b"), -12.0, &[("s1", 0.0), ("s2", 0.5)]),
    ];
    let game = game(seats).unwrap();
    assert_eq!(game.players[0].change, 12.0);
    assert_eq!(game.players[0].met, [("b".to_owned(), 1.0), ("b".to_owned(), 0.5)]);
    assert_eq!(game.players[1].met, [("a".to_owned(), 0.0), ("a".to_owned(), 0.5)]);
    assert_eq!(Ratings::of([&game].into_iter()).agents["a"].games, 1, "one debate is one game");
}

/// "Conformity: share of its ballots that were for the winner."
#[test]
fn a_ballot_conforms_when_its_choice_is_the_decision() {
    let ballot = |choice: &str| LessonBallot { choice: vec![choice.into(), "X".into()], confidence: 0.7 };
    let decision = LessonDecision {
        position: String::new(),
        answer: String::new(),
        claims: Vec::new(),
        share: 0.5,
        dissent: Vec::new(),
        labels: vec!["A".into(), "B".into()],
    };
    assert_eq!(conforms(&ballot("B"), Some(&decision)), Some(true));
    assert_eq!(conforms(&ballot("C"), Some(&decision)), Some(false));
    assert_eq!(conforms(&ballot("A"), None), None);
}

fn any_game() -> impl Strategy<Value = Game> {
    let seat = (0_usize..5, 0.0..10.0_f64);
    prop::collection::vec(seat, 2..6).prop_filter_map("somebody must meet another", |seats| {
        let names: Vec<String> = (0..seats.len()).map(|n| format!("s{n}")).collect();
        let scores: Vec<f64> = seats.iter().map(|(_, score)| *score).collect();
        let parts = seats.iter().enumerate().map(|(n, (agent, score))| {
            let result = |other: f64| {
                if *score > other {
                    1.0
                } else if *score < other {
                    0.0
                } else {
                    0.5
                }
            };
            let against: Vec<(String, f64)> =
                (0..seats.len()).filter(|m| *m != n).map(|m| (names[m].clone(), result(scores[m]))).collect();
            let change =
                against.iter().map(|(_, result)| 32.0 * (result - 0.5)).sum::<f64>() / against.len() as f64;
            let mut part = lesson(&[("", None, change, &[])]).parts.remove(0);
            (part.seat, part.agent) = (names[n].clone(), Some(format!("agent-{agent}")));
            part.rated = part.rated.map(|rated| RatingChange { against, ..rated });
            part
        });
        Game::of("d", "then", &DebateLesson { decision: None, parts: parts.collect() })
    })
}

proptest! {
    /// "Incremental `apply(game)` equals rebuilding", also when only those who play are at hand, as in a store.
    #[test]
    fn one_game_after_another_gives_what_all_at_once_gives(games in prop::collection::vec(any_game(), 1..12)) {
        let whole = Ratings::of(games.iter());
        let mut kept: BTreeMap<String, Rating> = BTreeMap::new();
        for game in &games {
            let present = game.players.iter().filter_map(|p| Some((p.agent.clone(), kept.get(&p.agent)?.clone())));
            let mut some = Ratings { agents: present.collect() };
            some.apply(game);
            kept.extend(some.agents);
        }
        prop_assert_eq!(&whole.agents, &kept);
        for rating in whole.agents.values() {
            prop_assert!(rating.glicko.rating.is_finite() && rating.glicko.deviation > 0.0);
            prop_assert!(rating.glicko.deviation <= 351.0 && rating.glicko.volatility > 0.0);
            prop_assert_eq!(rating.games as usize, rating.history.len());
        }
    }

    /// "Zero-sum to 1e-9": what some win, others lose.
    #[test]
    fn the_changes_of_a_game_sum_to_nothing(games in prop::collection::vec(any_game(), 1..12)) {
        let sum: f64 = Ratings::of(games.iter()).agents.values().map(|rating| rating.elo - RATING_INITIAL).sum();
        prop_assert!(sum.abs() < 1e-9, "{}", sum);
    }
}
