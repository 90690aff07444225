//! Ratings of agents, computed from the logs in the order in which the debates closed.
//!
//! Each agent has two ratings. *Elo* is 1500 plus the sum of the changes that the debates recorded. *Glicko-2* is computed
//! here from the same games and has a deviation, which says how uncertain it is. Each debate is one rating period for the
//! agents in it, so a rating never changes because of a debate between others.

use std::collections::BTreeMap;

use agon_core::DebateLesson;
use agon_core::lesson::{
    AgentStanding, LessonBallot, LessonDecision, LessonSeat, RATING_INITIAL, RatingChange,
};
use serde::Serialize;
use skillratings::Outcomes;
use skillratings::glicko2::{Glicko2Config, glicko2_rating_period};

pub use skillratings::glicko2::Glicko2Rating;

/// A debate in which agents were rated against each other.
#[derive(Debug, Clone, PartialEq)]
pub struct RatedGame {
    /// The debate's id.
    pub debate: String,
    /// When it closed: RFC 3339, UTC.
    pub at: String,
    /// The agents in it, each once, sorted by name.
    pub players: Vec<RatedPlayer>,
}

/// One agent's result in a game, over all its seats.
#[derive(Debug, Clone, PartialEq)]
pub struct RatedPlayer {
    /// The agent.
    pub agent: String,
    /// The change of its Elo rating.
    pub change: f64,
    /// Each other agent and the score against it: 1 for a win, 0.5 for a tie, 0 for a loss.
    pub met: Vec<(String, f64)>,
}

impl RatedGame {
    /// The game in a debate's lesson. `None` if nobody was rated, or if no agent was rated against another agent.
    pub fn from_lesson(debate: &str, at: &str, lesson: &DebateLesson) -> Option<Self> {
        let agent_of: BTreeMap<&str, &str> =
            rated_seats(lesson).map(|(part, agent, _)| (part.seat.as_str(), agent)).collect();
        let mut players: BTreeMap<&str, RatedPlayer> = BTreeMap::new();
        for (_, agent, rated) in rated_seats(lesson) {
            let new = || RatedPlayer { agent: agent.to_owned(), change: 0.0, met: Vec::new() };
            let player = players.entry(agent).or_insert_with(new);
            player.change += rated.change;
            let opponents = rated
                .against
                .iter()
                .filter_map(|(seat, score)| Some((*agent_of.get(seat.as_str())?, *score)));
            // Two seats of the same agent are not opponents.
            player.met.extend(
                opponents
                    .filter(|(other, _)| *other != agent)
                    .map(|(other, score)| (other.to_owned(), score)),
            );
        }
        let players: Vec<RatedPlayer> =
            players.into_values().filter(|player| !player.met.is_empty()).collect();
        (!players.is_empty()).then(|| Self { debate: debate.to_owned(), at: at.to_owned(), players })
    }
}

fn rated_seats(lesson: &DebateLesson) -> impl Iterator<Item = (&LessonSeat, &str, &RatingChange)> {
    lesson.parts.iter().filter_map(|part| {
        let rated = part.rated.as_ref().filter(|rated| rated.change.is_finite())?;
        Some((part, part.agent.as_deref()?, rated))
    })
}

/// The ratings of all agents after some games.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RatingTable {
    /// By agent.
    pub agents: BTreeMap<String, RatingState>,
}

/// One agent's ratings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RatingState {
    /// The Elo rating.
    pub elo: f64,
    /// The Glicko-2 rating with its deviation.
    pub glicko: Glicko2Rating,
    /// The number of games.
    pub games: u32,
    /// The ratings after each game, in order.
    pub history: Vec<RatingPoint>,
}

/// An agent's ratings after one game.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RatingPoint {
    /// The debate.
    pub debate: String,
    /// When it closed: RFC 3339, UTC.
    pub at: String,
    /// The Elo rating after it.
    pub elo: f64,
    /// The Glicko-2 rating after it.
    pub glicko: f64,
}

impl Default for RatingState {
    fn default() -> Self {
        Self { elo: RATING_INITIAL, glicko: Glicko2Rating::new(), games: 0, history: Vec::new() }
    }
}

impl RatingState {
    /// What a new debate is told about this agent.
    pub fn standing(&self, agent: &str, brier: Option<f64>) -> AgentStanding {
        let (rating, deviation) = (self.elo, self.glicko.deviation);
        AgentStanding { agent: agent.to_owned(), rating, deviation, games: self.games, brier }
    }
}

impl RatingTable {
    /// The ratings after these games, which must come in the order in which they closed.
    pub fn from_games<'a>(games: impl Iterator<Item = &'a RatedGame>) -> Self {
        let mut table = Self::default();
        games.for_each(|game| table.apply(game));
        table
    }

    /// Updates the ratings with one more game.
    pub fn apply(&mut self, game: &RatedGame) {
        // Opponents count with their ratings before this game.
        let before: BTreeMap<&str, Glicko2Rating> = game
            .players
            .iter()
            .map(|player| {
                let rating = self.agents.get(&player.agent).map(|rating| rating.glicko);
                (player.agent.as_str(), rating.unwrap_or_default())
            })
            .collect();
        for player in &game.players {
            let result = |(other, score): &(String, f64)| {
                (before.get(other.as_str()).copied().unwrap_or_default(), outcome(*score))
            };
            let results: Vec<(Glicko2Rating, Outcomes)> = player.met.iter().map(result).collect();
            let rating = self.agents.entry(player.agent.clone()).or_default();
            rating.elo += player.change;
            // Without results the crate would widen the deviation, as for a missed rating period.
            if !results.is_empty() {
                rating.glicko = glicko2_rating_period(&rating.glicko, &results, &Glicko2Config::new());
            }
            rating.games += 1;
            let (debate, at) = (game.debate.clone(), game.at.clone());
            rating.history.push(RatingPoint { debate, at, elo: rating.elo, glicko: rating.glicko.rating });
        }
    }
}

fn outcome(score: f64) -> Outcomes {
    match score {
        score if score > 0.5 => Outcomes::WIN,
        score if score < 0.5 => Outcomes::LOSS,
        _ => Outcomes::DRAW,
    }
}

/// Whether a ballot was for the decision; `None` without a decision.
pub fn ballot_conforms(ballot: &LessonBallot, decision: Option<&LessonDecision>) -> Option<bool> {
    decision.map(|decision| ballot.choice.iter().any(|label| decision.labels.contains(label)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A seat, its agent, its Elo change, and its scores against other seats.
    type TestSeat<'a> = (&'a str, Option<&'a str>, f64, &'a [(&'a str, f64)]);

    fn lesson(seats: &[TestSeat<'_>]) -> DebateLesson {
        let part = |(seat, agent, change, against): &TestSeat<'_>| LessonSeat {
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

    fn game(seats: &[TestSeat<'_>]) -> Option<RatedGame> {
        RatedGame::from_lesson("d1", "2026-11-15T10:00:00Z", &lesson(seats))
    }

    /// Rates "a", who starts with `rating`, against opponents with these ratings and scores.
    fn rate(rating: Glicko2Rating, met: &[(Glicko2Rating, f64)]) -> Glicko2Rating {
        let mut table = RatingTable::default();
        table.agents.insert("a".into(), RatingState { glicko: rating, ..RatingState::default() });
        let mut players = vec![RatedPlayer { agent: "a".into(), change: 0.0, met: Vec::new() }];
        for (n, (opponent, score)) in met.iter().enumerate() {
            let name = format!("b{n}");
            table.agents.insert(name.clone(), RatingState { glicko: *opponent, ..RatingState::default() });
            players[0].met.push((name.clone(), *score));
            players.push(RatedPlayer { agent: name, change: 0.0, met: Vec::new() });
        }
        table.apply(&RatedGame { debate: "d".into(), at: String::new(), players });
        table.agents["a"].glicko
    }

    fn glicko(rating: f64, deviation: f64) -> Glicko2Rating {
        Glicko2Rating { rating, deviation, volatility: 0.06 }
    }

    /// The example of Glickman's paper: 1500/200 against 1400/30 (won), 1550/100 (lost) and 1700/300 (lost).
    #[test]
    fn glickmans_example_gives_the_published_rating() {
        let met = [(glicko(1400.0, 30.0), 1.0), (glicko(1550.0, 100.0), 0.0), (glicko(1700.0, 300.0), 0.0)];
        let after = rate(glicko(1500.0, 200.0), &met);
        assert!((after.rating - 1464.06).abs() < 0.01, "{after:?}");
        assert!((after.deviation - 151.52).abs() < 0.01, "{after:?}");
        assert!((after.volatility - 0.05999).abs() < 0.00001, "{after:?}");
        assert_eq!(rate(glicko(1500.0, 200.0), &[]), glicko(1500.0, 200.0), "no opponent, no change");
    }

    #[test]
    fn an_upset_raises_volatility_and_an_expected_result_lowers_it() {
        let (weak, strong) = (glicko(1200.0, 50.0), glicko(1900.0, 50.0));
        let (upset, expected) = (rate(weak, &[(strong, 1.0); 5]), rate(weak, &[(strong, 0.0); 5]));
        assert!(upset.volatility > 0.06 && expected.volatility < 0.06, "{upset:?} {expected:?}");
    }

    /// By hand: K = 32, three agents at 1500, a beats b and c, b beats c. The changes, divided by n - 1 = 2, are 16, 0, -16.
    #[test]
    fn elo_is_1500_plus_the_sum_of_the_changes() {
        let game = game(&[
            ("s1", Some("a"), 16.0, &[("s2", 1.0), ("s3", 1.0)]),
            ("s2", Some("b"), 0.0, &[("s1", 0.0), ("s3", 1.0)]),
            ("s3", Some("c"), -16.0, &[("s1", 0.0), ("s2", 0.0)]),
        ])
        .unwrap();
        let ratings = RatingTable::from_games([&game, &game].into_iter());
        let elo: Vec<f64> = ratings.agents.values().map(|rating| rating.elo).collect();
        assert_eq!(elo, [1532.0, 1500.0, 1468.0]);
        let first = &ratings.agents["a"];
        assert_eq!((first.games, first.history.len()), (2, 2));
        assert_eq!((first.history[0].elo, first.history[1].elo), (1516.0, 1532.0));
        let point = &first.history[0];
        assert_eq!((point.debate.as_str(), point.at.as_str()), ("d1", "2026-11-15T10:00:00Z"));
        let glicko: Vec<Glicko2Rating> = ratings.agents.values().map(|rating| rating.glicko).collect();
        assert!(glicko[0].rating > glicko[1].rating && glicko[1].rating > glicko[2].rating);
        assert!(glicko.iter().all(|glicko| glicko.deviation < 350.0), "games make a rating more certain");
    }

    #[test]
    fn a_standing_has_the_elo_rating_and_the_glicko_deviation() {
        let (agent, brier) = ("a".to_owned(), None);
        let initial = AgentStanding { agent, rating: 1500.0, deviation: 350.0, games: 0, brier };
        assert_eq!(RatingState::default().standing("a", None), initial);
        let state = RatingState { elo: 1512.25, glicko: glicko(1650.0, 90.5), games: 3, history: Vec::new() };
        let later = AgentStanding { rating: 1512.25, deviation: 90.5, games: 3, brier: Some(0.2), ..initial };
        assert_eq!(state.standing("a", Some(0.2)), later);
    }

    /// Two agents that start equal move by the same amount in opposite directions.
    #[test]
    fn opponents_count_with_their_ratings_before_the_game() {
        let game = game(&[("s1", Some("a"), 16.0, &[("s2", 1.0)]), ("s2", Some("b"), -16.0, &[("s1", 0.0)])])
            .unwrap();
        let ratings = RatingTable::from_games([&game].into_iter());
        let (a, b) = (ratings.agents["a"].glicko, ratings.agents["b"].glicko);
        assert!((a.rating - 1500.0 - (1500.0 - b.rating)).abs() < 1e-9);
        assert!((a.deviation - b.deviation).abs() < 1e-9);
    }

    #[test]
    fn a_debate_without_two_rated_agents_is_not_a_game() {
        let alone =
            game(&[("s1", Some("a"), 16.0, &[("s2", 1.0)]), ("s2", Some("a"), -16.0, &[("s1", 0.0)])]);
        assert_eq!(alone, None);
        let unnamed = game(&[("s1", Some("a"), 16.0, &[("s2", 1.0)]), ("s2", None, -16.0, &[("s1", 0.0)])]);
        assert_eq!(unnamed, None);
        assert_eq!(game(&[]), None);
    }

    #[test]
    fn the_seats_of_an_agent_count_together() {
        let game = game(&[
            ("s1", Some("a"), 16.0, &[("s2", 1.0), ("s3", 1.0)]),
            ("s2", Some("a"), -4.0, &[("s1", 0.0), ("s3", 0.5)]),
            ("s3", Some("b"), -12.0, &[("s1", 0.0), ("s2", 0.5)]),
        ])
        .unwrap();
        assert_eq!(game.players[0].change, 12.0);
        assert_eq!(game.players[0].met, [("b".to_owned(), 1.0), ("b".to_owned(), 0.5)]);
        assert_eq!(game.players[1].met, [("a".to_owned(), 0.0), ("a".to_owned(), 0.5)]);
        let ratings = RatingTable::from_games([&game].into_iter());
        assert_eq!(ratings.agents["a"].games, 1, "one debate is one game");
    }

    #[test]
    fn a_ballot_conforms_if_its_choice_is_the_decision() {
        let ballot = |choice: &str| LessonBallot { choice: vec![choice.into(), "X".into()], confidence: 0.7 };
        let decision = LessonDecision {
            position: String::new(),
            answer: String::new(),
            claims: Vec::new(),
            share: 0.5,
            dissent: Vec::new(),
            labels: vec!["A".into(), "B".into()],
        };
        assert_eq!(ballot_conforms(&ballot("B"), Some(&decision)), Some(true));
        assert_eq!(ballot_conforms(&ballot("C"), Some(&decision)), Some(false));
        assert_eq!(ballot_conforms(&ballot("A"), None), None);
    }

    /// Seats with random agents and points. More points beat fewer, and the changes are those of Elo at equal ratings.
    fn any_game() -> impl Strategy<Value = RatedGame> {
        let seat = (0_usize..5, 0.0..10.0_f64);
        prop::collection::vec(seat, 2..6).prop_filter_map("two agents must meet", |seats| {
            let score = |own: f64, other: f64| match own.total_cmp(&other) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            };
            let part = |(n, (agent, points)): (usize, &(usize, f64))| {
                let others = seats.iter().enumerate().filter(|(other, _)| *other != n);
                let against: Vec<(String, f64)> =
                    others.map(|(other, seat)| (format!("s{other}"), score(*points, seat.1))).collect();
                let change =
                    against.iter().map(|(_, score)| 32.0 * (score - 0.5)).sum::<f64>() / against.len() as f64;
                let mut part = lesson(&[("", None, change, &[])]).parts.remove(0);
                (part.seat, part.agent) = (format!("s{n}"), Some(format!("agent-{agent}")));
                part.rated = part.rated.map(|rated| RatingChange { against, ..rated });
                part
            };
            let parts = seats.iter().enumerate().map(part).collect();
            RatedGame::from_lesson("d", "then", &DebateLesson { decision: None, parts })
        })
    }

    proptest! {
        /// A store loads only the ratings of the players; the result must be the same.
        #[test]
        fn applying_games_one_by_one_equals_rebuilding(games in prop::collection::vec(any_game(), 1..12)) {
            let rebuilt = RatingTable::from_games(games.iter());
            let mut stored: BTreeMap<String, RatingState> = BTreeMap::new();
            for game in &games {
                let players = game.players.iter();
                let loaded = players.filter_map(|p| Some((p.agent.clone(), stored.get(&p.agent)?.clone())));
                let mut table = RatingTable { agents: loaded.collect() };
                table.apply(game);
                stored.extend(table.agents);
            }
            prop_assert_eq!(&rebuilt.agents, &stored);
            for rating in rebuilt.agents.values() {
                prop_assert!(rating.glicko.rating.is_finite() && rating.glicko.deviation > 0.0);
                prop_assert!(rating.glicko.deviation <= 351.0 && rating.glicko.volatility > 0.0);
                prop_assert_eq!(rating.games as usize, rating.history.len());
            }
        }

        #[test]
        fn elo_changes_sum_to_zero(games in prop::collection::vec(any_game(), 1..12)) {
            let table = RatingTable::from_games(games.iter());
            let sum: f64 = table.agents.values().map(|rating| rating.elo - RATING_INITIAL).sum();
            prop_assert!(sum.abs() < 1e-9, "{}", sum);
        }
    }
}
