//! Who does well against whom: a view over what the logs say, in the order in which the debates closed.
//!
//! Two ratings stand side by side. *Elo* is 1500 and the sum of the changes that the debates recorded. *Glicko-2* is computed
//! here from the same meetings and says how uncertain it is; each debate is one rating period of those who met in it, so
//! nobody's rating changes because others debated.

use std::collections::BTreeMap;

use agon_core::DebateLesson;
use agon_core::lesson::{
    AgentStanding, LessonBallot, LessonDecision, LessonSeat, RATING_INITIAL, RatingChange,
};
use serde::Serialize;

mod glicko;

pub use glicko::{Glicko, Met};

/// A debate in which agents met and were rated.
#[derive(Debug, Clone, PartialEq)]
pub struct Game {
    /// Its id.
    pub debate: String,
    /// When it closed: RFC 3339, UTC.
    pub at: String,
    /// Who met, each agent once, by name.
    pub players: Vec<Player>,
}

/// What a game meant for one agent, in all its seats together.
#[derive(Debug, Clone, PartialEq)]
pub struct Player {
    /// Who.
    pub agent: String,
    /// The change of its Elo rating.
    pub change: f64,
    /// Each other agent that it met, with 1 for a win, 0.5 for a tie and 0 for a loss.
    pub met: Vec<(String, f64)>,
}

impl Game {
    /// The game that a debate was. `None` where nothing was rated, or where agents met themselves alone.
    pub fn of(debate: &str, at: &str, lesson: &DebateLesson) -> Option<Self> {
        let agent_of: BTreeMap<&str, &str> =
            rated(lesson).map(|(part, agent, _)| (part.seat.as_str(), agent)).collect();
        let mut players: BTreeMap<&str, Player> = BTreeMap::new();
        for (_, agent, rated) in rated(lesson) {
            let new = || Player { agent: agent.to_owned(), change: 0.0, met: Vec::new() };
            let player = players.entry(agent).or_insert_with(new);
            player.change += rated.change;
            let others = rated
                .against
                .iter()
                .filter_map(|(seat, score)| Some((*agent_of.get(seat.as_str())?, *score)));
            // Two seats of one agent cancel out: it cannot do better than itself.
            player.met.extend(
                others.filter(|(other, _)| *other != agent).map(|(other, score)| (other.to_owned(), score)),
            );
        }
        let players: Vec<Player> = players.into_values().filter(|player| !player.met.is_empty()).collect();
        (!players.is_empty()).then(|| Self { debate: debate.to_owned(), at: at.to_owned(), players })
    }
}

fn rated(lesson: &DebateLesson) -> impl Iterator<Item = (&LessonSeat, &str, &RatingChange)> {
    let rated = |rated: &&RatingChange| rated.change.is_finite();
    let parts = lesson.parts.iter();
    parts.filter_map(move |part| Some((part, part.agent.as_deref()?, part.rated.as_ref().filter(rated)?)))
}

/// The ratings after some games.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ratings {
    /// By agent.
    pub agents: BTreeMap<String, Rating>,
}

/// How one agent stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rating {
    /// The Elo rating.
    pub elo: f64,
    /// The Glicko-2 rating, which knows how uncertain it is.
    pub glicko: Glicko,
    /// How many games it was in.
    pub games: u32,
    /// The ratings after each game, in order.
    pub history: Vec<Point>,
}

/// Ratings after a game.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// The debate.
    pub debate: String,
    /// When it closed: RFC 3339, UTC.
    pub at: String,
    /// The Elo rating after it.
    pub elo: f64,
    /// The Glicko-2 rating after it.
    pub glicko: f64,
}

impl Default for Rating {
    fn default() -> Self {
        Self { elo: RATING_INITIAL, glicko: Glicko::default(), games: 0, history: Vec::new() }
    }
}

impl Rating {
    /// How an agent with this rating and this Brier score stands.
    pub fn standing(&self, agent: &str, brier: Option<f64>) -> AgentStanding {
        let (rating, deviation) = (self.elo, self.glicko.deviation);
        AgentStanding { agent: agent.to_owned(), rating, deviation, games: self.games, brier }
    }
}

impl Ratings {
    /// The ratings after these games, which come in the order in which they closed.
    pub fn of<'a>(games: impl Iterator<Item = &'a Game>) -> Self {
        let mut ratings = Self::default();
        games.for_each(|game| ratings.apply(game));
        ratings
    }

    /// The ratings after one more game.
    pub fn apply(&mut self, game: &Game) {
        // Everybody is rated against what the others were before.
        let before: BTreeMap<&str, Glicko> =
            game.players.iter().map(|player| (player.agent.as_str(), self.glicko(&player.agent))).collect();
        for player in &game.players {
            let met: Vec<Met> = player
                .met
                .iter()
                .map(|(other, score)| Met {
                    opponent: before.get(other.as_str()).copied().unwrap_or_default(),
                    score: *score,
                })
                .collect();
            let rating = self.agents.entry(player.agent.clone()).or_default();
            rating.elo += player.change;
            rating.glicko = rating.glicko.after(&met);
            rating.games += 1;
            let (debate, at) = (game.debate.clone(), game.at.clone());
            rating.history.push(Point { debate, at, elo: rating.elo, glicko: rating.glicko.rating });
        }
    }

    fn glicko(&self, agent: &str) -> Glicko {
        self.agents.get(agent).map(|rating| rating.glicko).unwrap_or_default()
    }
}

/// Whether a ballot was for what was decided. Without a decision there is nothing to conform to.
pub fn conforms(ballot: &LessonBallot, decision: Option<&LessonDecision>) -> Option<bool> {
    decision.map(|decision| ballot.choice.iter().any(|label| decision.labels.contains(label)))
}

#[cfg(test)]
mod tests;
