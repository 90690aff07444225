//! How agents stand: a view over the logs that is kept, so that nobody has to read all of them.

use std::collections::{BTreeMap, HashMap};

use agon_core::Lesson;
use agon_core::lesson::Standing;
use agon_evidence::calibration::Calibration;
use agon_evidence::ratings::{Game, Glicko, Point, Rating, Ratings, conforms};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;

use crate::closing::Closed;
use crate::place::Fault;
use crate::resolutions::resolution;

/// How an agent stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rated {
    /// Who.
    pub agent: String,
    /// Its ratings, its games, and its history.
    #[serde(flatten)]
    pub rating: Rating,
    /// Its Brier score over resolved debates; `None` where none is resolved.
    pub brier: Option<f64>,
    /// Its expected calibration error over the same.
    pub calibration_error: Option<f64>,
    /// How many of its ballots are resolved.
    pub resolved: u32,
    /// The share of its ballots that were for the winner; `None` where it cast none in a debate that had one.
    pub conformity: Option<f64>,
    /// How many those ballots are.
    pub ballots: u32,
}

/// Keeps what a debate means for the ratings of those who were in it.
pub(crate) fn learn(store: &Connection, closed: &Closed, lesson: &Lesson) -> Result<(), Fault> {
    if let Some(game) = Game::of(&closed.id, &closed.at, lesson) {
        rate(store, closed.n, &game)?;
    }
    let mut insert = store.prepare_cached(
        "INSERT INTO ballots (debate, seat, agent, choice, confidence, decided) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for part in &lesson.parts {
        if let (Some(agent), Some(ballot)) = (&part.agent, &part.ballot) {
            let choice = serde_json::to_string(&ballot.choice).unwrap_or_default();
            let confidence =
                Some(ballot.confidence).filter(|confidence| confidence.is_finite()).unwrap_or_default();
            let decided = conforms(ballot, lesson.decision.as_ref());
            insert.execute(params![closed.n, part.seat, agent, choice, confidence, decided])?;
        }
    }
    Ok(())
}

fn rate(store: &Connection, debate: i64, game: &Game) -> Result<(), Fault> {
    let mut ratings = Ratings::default();
    for player in &game.players {
        if let Some(rating) = current(store, &player.agent)? {
            ratings.agents.insert(player.agent.clone(), rating);
        }
    }
    ratings.apply(game);
    let mut put = store.prepare_cached(
        "INSERT OR REPLACE INTO ratings (agent, elo, glicko, deviation, volatility, games)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let mut add = store.prepare_cached(
        "INSERT INTO rating_history (agent, game, debate, at, elo, glicko) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for (agent, Rating { elo, glicko, games, history }) in &ratings.agents {
        put.execute(params![agent, elo, glicko.rating, glicko.deviation, glicko.volatility, games])?;
        for point in history {
            add.execute(params![agent, games, debate, point.at, point.elo, point.glicko])?;
        }
    }
    Ok(())
}

const RATING: &str = "elo, glicko, deviation, volatility, games";

fn rating(row: &Row<'_>) -> Result<Rating, rusqlite::Error> {
    let glicko = Glicko { rating: row.get(1)?, deviation: row.get(2)?, volatility: row.get(3)? };
    Ok(Rating { elo: row.get(0)?, glicko, games: row.get(4)?, history: Vec::new() })
}

fn current(store: &Connection, agent: &str) -> Result<Option<Rating>, rusqlite::Error> {
    let mut query = store.prepare_cached(&format!("SELECT {RATING} FROM ratings WHERE agent = ?1"))?;
    query.query_row([agent], rating).optional()
}

/// Everybody who was rated or has voted, the best first.
pub(crate) fn list(store: &mut Connection) -> Result<Vec<Rated>, Fault> {
    let moment = store.transaction()?;
    let mut ratings: BTreeMap<String, Rating> = moment
        .prepare_cached(&format!("SELECT {RATING}, agent FROM ratings"))?
        .query_map([], |row| Ok((row.get(5)?, rating(row)?)))?
        .collect::<Result<_, _>>()?;
    for (agent, point) in history(&moment)? {
        ratings.entry(agent).or_default().history.push(point);
    }
    let (calibrations, conformities) = (calibrations(&moment)?, conformities(&moment)?);
    for agent in calibrations.keys().chain(conformities.keys()) {
        ratings.entry(agent.clone()).or_default();
    }
    let mut all: Vec<Rated> = ratings
        .into_iter()
        .map(|(agent, rating)| {
            let calibration = calibrations.get(&agent).cloned().unwrap_or_default();
            let (ballots, winning) = conformities.get(&agent).copied().unwrap_or_default();
            let conformity = (ballots > 0).then(|| f64::from(winning) / f64::from(ballots));
            let (brier, calibration_error) = (calibration.brier(), calibration.error());
            let resolved = calibration.resolved();
            Rated { agent, rating, brier, calibration_error, resolved, conformity, ballots }
        })
        .collect();
    all.sort_by(|a, b| b.rating.elo.total_cmp(&a.rating.elo).then_with(|| a.agent.cmp(&b.agent)));
    Ok(all)
}

/// How these agents stand; one that was never rated stands as everybody begins.
pub(crate) fn standings(store: &mut Connection, agents: &[String]) -> Result<Vec<Standing>, Fault> {
    let moment = store.transaction()?;
    let calibrations = calibrations(&moment)?;
    let stand = |agent: &String| {
        let rating = current(&moment, agent)?.unwrap_or_default();
        Ok(rating.standing(agent, calibrations.get(agent).and_then(Calibration::brier)))
    };
    agents.iter().map(stand).collect()
}

fn history(store: &Connection) -> Result<Vec<(String, Point)>, Fault> {
    let mut query = store.prepare_cached(
        "SELECT h.agent, d.id, h.at, h.elo, h.glicko FROM rating_history AS h JOIN debates AS d ON d.n = h.debate
         ORDER BY h.agent, h.game",
    )?;
    let rows = query.query_map([], |row| {
        let (debate, at) = (row.get(1)?, row.get(2)?);
        Ok((row.get(0)?, Point { debate, at, elo: row.get(3)?, glicko: row.get(4)? }))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// By agent: how its ballots compare with what turned out, by the last resolution of each debate.
fn calibrations(store: &Connection) -> Result<HashMap<String, Calibration>, Fault> {
    let mut query = store.prepare_cached(
        "SELECT b.agent, b.choice, b.confidence, b.decided, r.kind, r.value
         FROM (SELECT debate, max(n) AS n FROM resolutions GROUP BY debate) AS l
             JOIN resolutions AS r ON r.n = l.n JOIN ballots AS b ON b.debate = r.debate
         ORDER BY b.debate, b.seat",
    )?;
    let mut all: HashMap<String, Calibration> = HashMap::new();
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let choice: Vec<String> = serde_json::from_str(row.get_ref(1)?.as_str()?).unwrap_or_default();
        let decided: Option<bool> = row.get(3)?;
        let resolution = resolution(row.get_ref(4)?.as_str()?, row.get(5)?);
        if let Some(truth) = resolution.of_ballot(&choice, decided.unwrap_or_default()) {
            all.entry(row.get(0)?).or_default().add(row.get(2)?, truth);
        }
    }
    Ok(all)
}

/// By agent: its ballots in debates that were decided, and those of them that were for the winner.
fn conformities(store: &Connection) -> Result<HashMap<String, (u32, u32)>, Fault> {
    let mut query = store.prepare_cached(
        "SELECT agent, count(*), sum(decided) FROM ballots WHERE decided IS NOT NULL GROUP BY agent",
    )?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
