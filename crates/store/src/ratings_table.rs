//! Agents' ratings. They follow from the logs and are stored so that nobody has to read all logs.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use agon_core::lesson::AgentStanding;
use agon_core::{DebateLesson, DebateProvenance};
use agon_engine::StoreError;
use agon_measure::calibration::CalibrationTally;
use agon_measure::ratings::{
    Glicko2Rating, RatedGame, RatingPoint, RatingState, RatingTable, ballot_conforms,
};
use serde::Serialize;

use crate::DebateStore;
use crate::closed_debates::ClosedDebate;
use crate::log_table::read_provenance;
use crate::resolutions::resolution_from_columns;
use crate::sql::{SqlDatabase, SqlResult, SqlRow, TransactionKind, sql_values};
use crate::store_fault::StoreFault;

/// An agent's rating, its calibration and how often it voted with the majority.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentRating {
    pub agent: String,
    /// Its ratings, its games, and its history.
    #[serde(flatten)]
    pub rating: RatingState,
    /// Its Brier score over resolved debates; `None` if there are none.
    pub brier: Option<f64>,
    /// Its expected calibration error over the same debates.
    pub calibration_error: Option<f64>,
    /// How many of its ballots are resolved.
    pub resolved: u32,
    /// The share of its ballots that were for the winner; `None` if no debate in which it voted had one.
    pub conformity: Option<f64>,
    /// How many ballots that share counts.
    pub ballots: u32,
    /// Where its debates were held, and what kind of models spoke in them, each once.
    pub provenance: Vec<DebateProvenance>,
}

impl DebateStore {
    /// Every agent that was rated or has voted, best first.
    pub fn ratings(&self) -> Result<Vec<AgentRating>, StoreError> {
        self.read(|db| db.in_transaction(TransactionKind::Snapshot, list))
    }

    /// The standings of these agents, in the same order. An agent that was never rated has the initial rating.
    pub fn standings(&self, agents: &[String]) -> Result<Vec<AgentStanding>, StoreError> {
        self.read(|db| {
            db.in_transaction(TransactionKind::Snapshot, |db| {
                let calibrations = calibrations(db)?;
                let standing = |agent: &String| {
                    let rating = current_rating(db, agent)?.unwrap_or_default();
                    Ok(rating.standing(agent, calibrations.get(agent).and_then(CalibrationTally::brier)))
                };
                agents.iter().map(standing).collect()
            })
        })
    }
}

/// Updates the ratings of a debate's agents and stores their ballots.
pub(crate) fn record_game(
    db: &SqlDatabase,
    closed: &ClosedDebate,
    lesson: &DebateLesson,
) -> Result<(), StoreFault> {
    if let Some(game) = RatedGame::from_lesson(&closed.id, &closed.at, lesson) {
        apply_game(db, closed.n, &game)?;
    }
    for part in &lesson.parts {
        if let (Some(agent), Some(ballot)) = (&part.agent, &part.ballot) {
            let choice = serde_json::to_string(&ballot.choice).unwrap_or_default();
            let confidence = if ballot.confidence.is_finite() { ballot.confidence } else { 0.0 };
            let decided = ballot_conforms(ballot, lesson.decision.as_ref());
            db.run(
                "INSERT INTO ballots (debate, seat, agent, choice, confidence, decided)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                sql_values![closed.n, part.seat, agent, choice, confidence, decided],
            )?;
        }
    }
    Ok(())
}

fn apply_game(db: &SqlDatabase, debate: i64, game: &RatedGame) -> SqlResult<()> {
    let mut ratings = RatingTable::default();
    for player in &game.players {
        if let Some(rating) = current_rating(db, &player.agent)? {
            ratings.agents.insert(player.agent.clone(), rating);
        }
    }
    ratings.apply(game);
    for (agent, RatingState { elo, glicko, games, history }) in &ratings.agents {
        db.run(
            "INSERT INTO ratings (agent, elo, glicko, deviation, volatility, games) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (agent) DO UPDATE SET elo = excluded.elo, glicko = excluded.glicko,
                 deviation = excluded.deviation, volatility = excluded.volatility, games = excluded.games",
            sql_values![agent, elo, glicko.rating, glicko.deviation, glicko.volatility, games],
        )?;
        for point in history {
            db.run(
                "INSERT INTO rating_history (agent, game, debate, at, elo, glicko) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                sql_values![agent, games, debate, point.at, point.elo, point.glicko],
            )?;
        }
    }
    Ok(())
}

const RATING_COLUMNS: &str = "elo, glicko, deviation, volatility, games";

/// Reads the columns [`RATING_COLUMNS`], without the history.
fn read_rating(row: &SqlRow<'_>) -> SqlResult<RatingState> {
    let glicko = Glicko2Rating { rating: row.get(1)?, deviation: row.get(2)?, volatility: row.get(3)? };
    Ok(RatingState { elo: row.get(0)?, glicko, games: row.get(4)?, history: Vec::new() })
}

fn current_rating(db: &SqlDatabase, agent: &str) -> SqlResult<Option<RatingState>> {
    db.read_first(
        &format!("SELECT {RATING_COLUMNS} FROM ratings WHERE agent = ?1"),
        sql_values![agent],
        read_rating,
    )
}

fn list(db: &SqlDatabase) -> Result<Vec<AgentRating>, StoreFault> {
    let rated = db.read_all(&format!("SELECT {RATING_COLUMNS}, agent FROM ratings"), &[], |row| {
        Ok((row.get(5)?, read_rating(row)?))
    })?;
    let mut ratings: BTreeMap<String, RatingState> = rated.into_iter().collect();
    for (agent, point) in history(db)? {
        ratings.entry(agent).or_default().history.push(point);
    }
    let (calibrations, conformities) = (calibrations(db)?, conformities(db)?);
    let mut provenances = provenances(db)?;
    for agent in calibrations.keys().chain(conformities.keys()) {
        ratings.entry(agent.clone()).or_default();
    }
    let mut all: Vec<AgentRating> = ratings
        .into_iter()
        .map(|(agent, rating)| {
            let calibration = calibrations.get(&agent).cloned().unwrap_or_default();
            let (ballots, winning) = conformities.get(&agent).copied().unwrap_or_default();
            let conformity = (ballots > 0).then(|| f64::from(winning) / f64::from(ballots));
            let (brier, calibration_error) = (calibration.brier(), calibration.expected_error());
            let resolved = calibration.resolved();
            let provenance = provenances.remove(&agent).unwrap_or_default().into_iter().collect();
            AgentRating { agent, rating, brier, calibration_error, resolved, conformity, ballots, provenance }
        })
        .collect();
    all.sort_by(|a, b| b.rating.elo.total_cmp(&a.rating.elo).then_with(|| a.agent.cmp(&b.agent)));
    Ok(all)
}

fn history(db: &SqlDatabase) -> SqlResult<Vec<(String, RatingPoint)>> {
    let sql = "SELECT h.agent, d.id, h.at, h.elo, h.glicko FROM rating_history AS h JOIN debates AS d ON d.n = h.debate
         ORDER BY h.agent, h.game";
    db.read_all(sql, &[], |row| {
        let (debate, at) = (row.get(1)?, row.get(2)?);
        Ok((row.get(0)?, RatingPoint { debate, at, elo: row.get(3)?, glicko: row.get(4)? }))
    })
}

/// Where each agent was rated or voted.
fn provenances(db: &SqlDatabase) -> SqlResult<HashMap<String, BTreeSet<DebateProvenance>>> {
    let sql = "SELECT DISTINCT a.agent, d.provenance
         FROM (SELECT agent, debate FROM rating_history UNION SELECT agent, debate FROM ballots) AS a
             JOIN debates AS d ON d.n = a.debate";
    let mut all: HashMap<String, BTreeSet<DebateProvenance>> = HashMap::new();
    for (agent, provenance) in db.read_all(sql, &[], |row| Ok((row.get(0)?, read_provenance(row, 1)?)))? {
        all.entry(agent).or_default().extend(provenance);
    }
    Ok(all)
}

/// How each agent's ballots compare with what turned out, by the last resolution of each debate.
fn calibrations(db: &SqlDatabase) -> Result<HashMap<String, CalibrationTally>, StoreFault> {
    let sql = "SELECT b.agent, b.choice, b.confidence, b.decided, r.kind, r.value
         FROM (SELECT debate, max(n) AS n FROM resolutions GROUP BY debate) AS l
             JOIN resolutions AS r ON r.n = l.n JOIN ballots AS b ON b.debate = r.debate
         ORDER BY b.debate, b.seat";
    let mut all: HashMap<String, CalibrationTally> = HashMap::new();
    db.for_each(sql, &[], |row| {
        let choice: Vec<String> = serde_json::from_str(row.text(1)?).unwrap_or_default();
        let decided: Option<bool> = row.get(3)?;
        let resolution = resolution_from_columns(row.text(4)?, row.get(5)?);
        if let Some(truth) = resolution.of_ballot(&choice, decided.unwrap_or_default()) {
            all.entry(row.get(0)?).or_default().add(row.get(2)?, truth);
        }
        Ok(())
    })?;
    Ok(all)
}

/// For each agent: its ballots in debates that were decided, and how many of them were for the winner.
fn conformities(db: &SqlDatabase) -> SqlResult<HashMap<String, (u32, u32)>> {
    let sql = "SELECT agent, count(*), CAST(sum(decided) AS BIGINT) FROM ballots WHERE decided IS NOT NULL GROUP BY agent";
    let rows = db.read_all(sql, &[], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
    Ok(rows.into_iter().collect())
}
