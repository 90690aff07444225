//! What agents remember of the debates that they took part in.
//!
//! A memory is what an agent proposed on a question and how that ended. When the same agent meets the same question
//! again, or makes the same proposal again, the existing memory is *observed again* instead of a second one being added.
//! How long a memory lasts is up to [`agon_measure::memory`].

use std::collections::{BTreeMap, HashSet};

use agon_core::DebateProvenance;
use agon_core::lesson::{DebateLesson, LessonDecision, LessonSeat};
use agon_engine::StoreError;
use agon_measure::calibration::{DebateResolution, OutcomeTruth};
use agon_measure::memory::{HALF_LIVES_PER_TIER, MemoryState, MemoryTier};
use serde::Serialize;

use crate::closed_debates::{ClosedDebate, LogReceipt, truncate};
use crate::knowledge_search::{lowercase_words, significant_words};
use crate::log_table::read_provenance;
use crate::resolutions;
use crate::sql::{SqlDatabase, SqlResult, SqlRow, TransactionKind, sql_values};
use crate::store_fault::{StoreFault, refused};
use crate::vectors::{self, QueryVector, VectorSource};
use crate::{DebateStore, StoreFuture};

/// A memory that was recalled or listed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemoryHit {
    /// `m-` and a number.
    pub id: String,
    /// The agent that remembers it.
    pub agent: String,
    /// What the agent proposed on what question, and how that ended.
    pub text: String,
    /// The id of the last debate in which it was observed.
    pub debate: String,
    /// When it was first observed: RFC 3339, UTC.
    pub at: String,
    /// Whether it turned out right or wrong, if known.
    pub turned_out: Option<OutcomeTruth>,
    /// The end of the log of that last debate.
    pub receipt: Option<LogReceipt>,
    /// Where that debate was held, and what kind of models spoke in it.
    pub provenance: Option<DebateProvenance>,
    /// How fast it fades by now.
    pub tier: MemoryTier,
    /// How often it was observed.
    pub seen: u32,
    /// Whether it has faded away: its text is still stored, but no debate gets it.
    pub has_faded: bool,
    /// Similarity, times how little it has faded, times how sure its agent was: from 0 to 1. Without a query, the similarity is 1.
    pub score: f64,
}

impl MemoryHit {
    /// What the agent proposed. Memories of one question differ in it.
    pub fn proposal(&self) -> &str {
        self.text.lines().find_map(|line| line.strip_prefix(PROPOSAL)).unwrap_or_default()
    }
}

/// What is before the proposal in the text of a memory.
const PROPOSAL: &str = "Proposal: ";

const QUESTION_CHARS_MAX: usize = 600;
const POSITION_CHARS_MAX: usize = 1_000;

/// A shorter position on another question is not the same position: "yes" to one is not "yes" to the other.
const SAME_POSITION_WORDS_MIN: usize = 4;

/// How many of an agent's memories a recall considers: those that changed last.
const RECALLED_MAX: i64 = 2_000;

impl DebateStore {
    /// What these agents remember by now about the query, best first. `limit` is per agent, so an agent that is sure of
    /// many things does not crowd out the others. `vector` is the query's vector, with the name of its model.
    pub fn recall_memories(
        &self,
        agents: &[String],
        query: &str,
        vector: Option<(&str, &[f32])>,
        now_s: i64,
        limit: usize,
    ) -> Result<Vec<MemoryHit>, StoreError> {
        self.read(|db| {
            db.in_transaction(TransactionKind::Snapshot, |db| {
                let similarity = QuerySimilarity::new(db, query, vector)?;
                let best_first = |(a, one): &(f64, StoredMemory), (b, other): &(f64, StoredMemory)| {
                    b.total_cmp(a).then(other.n.cmp(&one.n))
                };
                let mut found = Vec::new();
                for agent in agents.iter().collect::<HashSet<_>>() {
                    let mut scored = Vec::new();
                    for memory in memories_of_agent(db, agent, now_s, RECALLED_MAX)? {
                        let similarity = similarity.to(db, &memory)?;
                        if similarity > 0.0 {
                            scored.push((memory.item.score(similarity, now_s), memory));
                        }
                    }
                    scored.sort_by(best_first);
                    found.extend(scored.into_iter().take(limit));
                }
                found.sort_by(best_first);
                found.into_iter().map(|(score, memory)| hit(db, score, memory)).collect()
            })
        })
    }

    /// What all agents, or one of them, remember by now, the last changed first.
    pub fn list_memories(
        &self,
        agent: Option<&str>,
        now_s: i64,
        limit: usize,
    ) -> Result<Vec<MemoryHit>, StoreError> {
        self.read(|db| {
            db.in_transaction(TransactionKind::Snapshot, |db| {
                let found = match agent {
                    Some(agent) => memories_of_agent(db, agent, now_s, i64::MAX)?,
                    None => unfaded_memories(db, "text <> ?1", "", now_s, i64::MAX)?,
                };
                found.into_iter().take(limit).map(|memory| unasked_hit(db, memory, now_s)).collect()
            })
        })
    }

    /// The memory with this id. It may have faded away.
    pub fn show_memory(&self, id: &str, now_s: i64) -> Result<MemoryHit, StoreError> {
        self.read(|db| unasked_hit(db, find(db, id)?, now_s))
    }

    /// Deletes a memory for good: its text and its vectors. Returns what it was. A debate's log is not changed, and a rebuild does not
    /// bring the memory back.
    pub fn forget_memory(&self, id: &str, now_s: i64) -> StoreFuture<'_, MemoryHit> {
        let id = id.to_owned();
        self.write(move |db| {
            let memory = find(db, &id)?;
            vectors::remove(db, VectorSource::Memory, memory.n)?;
            // The row stays, so that its number is not given away and a rebuild knows what not to make again.
            let sql = "UPDATE memories SET agent = '', text = '', question = '', position = '', tier = 'fast', surprise = 0,
                     confidence = 0, seen = 0, since_s = 0 WHERE n = ?1";
            db.run(sql, sql_values![memory.n])?;
            unasked_hit(db, memory, now_s)
        })
    }
}

/// The memories that were deleted, for a rebuild: the observations that belong to each.
#[derive(Debug, Default)]
pub(crate) struct ForgottenMemories {
    /// The row of the memory, by the debate and the seat of an observation.
    observed: BTreeMap<(i64, String), i64>,
    /// The row that it has now.
    made: BTreeMap<i64, i64>,
}

impl ForgottenMemories {
    pub(crate) fn read(db: &SqlDatabase) -> SqlResult<Self> {
        let sql = "SELECT o.debate, o.seat, o.memory FROM memory_observations AS o
             JOIN memories AS m ON m.n = o.memory WHERE m.text = ''";
        let observed: Vec<((i64, String), i64)> =
            db.read_all(sql, &[], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
        Ok(Self { observed: observed.into_iter().collect(), made: BTreeMap::new() })
    }

    /// The row of the deleted memory that an observation belongs to, made again without its text. `None` for any other observation.
    fn row(&mut self, db: &SqlDatabase, closed: &ClosedDebate, seat: &str) -> SqlResult<Option<i64>> {
        let Some(before) = self.observed.get(&(closed.n, seat.to_owned())) else { return Ok(None) };
        if let Some(n) = self.made.get(before) {
            db.run("UPDATE memories SET debate = ?2 WHERE n = ?1", sql_values![*n, closed.n])?;
            return Ok(Some(*n));
        }
        let sql = "INSERT INTO memories (n, agent, text, question, position, tier, surprise, confidence, seen, since_s, debate,
                 created_at)
             VALUES ((SELECT coalesce(max(n), 0) + 1 FROM memories), '', '', '', '', 'fast', 0, 0, 0, 0, ?1, ?2) RETURNING n";
        let n = db.insert(sql, sql_values![closed.n, closed.at])?;
        self.made.insert(*before, n);
        Ok(Some(n))
    }
}

/// Records, for each seat with an agent and a position, what it proposed and how that ended.
pub(crate) fn record_positions(
    db: &SqlDatabase,
    closed: &ClosedDebate,
    lesson: &DebateLesson,
    forgotten: &mut ForgottenMemories,
) -> Result<(), StoreFault> {
    for part in &lesson.parts {
        if let (Some(agent), Some(position)) = (&part.agent, &part.position) {
            let decision = lesson.decision.as_ref();
            let forgotten = forgotten.row(db, closed, &part.seat)?;
            AgentPosition { closed, agent, position, part, decision }.record(db, forgotten)?;
        }
    }
    Ok(())
}

/// What an agent proposed in a debate.
struct AgentPosition<'a> {
    closed: &'a ClosedDebate,
    agent: &'a str,
    position: &'a str,
    part: &'a LessonSeat,
    decision: Option<&'a LessonDecision>,
}

/// A memory that exists already.
struct ExistingMemory {
    n: i64,
    text: String,
    item: MemoryState,
}

impl AgentPosition<'_> {
    /// Records it in the agent's memory, or as an observation of a memory that was deleted.
    fn record(&self, db: &SqlDatabase, forgotten: Option<i64>) -> Result<(), StoreFault> {
        let memory = match forgotten {
            Some(row) => row,
            None => self.remember(db)?,
        };
        let ClosedDebate { n: debate, receipt, .. } = self.closed;
        let LessonSeat { seat, label, won, confidence, .. } = self.part;
        db.run(
            "INSERT INTO memory_observations (debate, seat, memory, label, won, confidence, head, events)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            sql_values![debate, seat, memory, label, won, confidence, receipt.head, receipt.sql_events()],
        )?;
        Ok(())
    }

    fn remember(&self, db: &SqlDatabase) -> Result<i64, StoreFault> {
        let (question, position) = (words_alone(&self.closed.question), words_alone(self.position));
        match self.find_existing(db, &question, &position)? {
            Some(existing) => self.observe_again(db, existing, &question, &position),
            None => Ok(self.insert(db, &question, &position)?),
        }
    }

    /// The agent's memory of the same position, or else of the same question in an earlier debate.
    fn find_existing(
        &self,
        db: &SqlDatabase,
        question: &str,
        position: &str,
    ) -> SqlResult<Option<ExistingMemory>> {
        let long_enough = position.split(' ').count() >= SAME_POSITION_WORDS_MIN;
        // Two searches, since SQLite would answer an OR by scanning everything that the agent remembers.
        let sql = format!(
            "SELECT {ITEM_COLUMNS}, n, text FROM memories WHERE n IN (
                 SELECT n FROM memories WHERE agent = ?1 AND position = ?3 AND ?5
                 UNION ALL
                 SELECT n FROM memories
                 WHERE agent = ?1 AND question = ?2 AND question <> '' AND (position = ?3 OR debate <> ?4)
             ) ORDER BY position = ?3 DESC, n DESC LIMIT 1"
        );
        let values = sql_values![self.agent, question, position, self.closed.n, long_enough];
        db.read_first(&sql, values, |row| {
            Ok(ExistingMemory { n: row.get(5)?, text: row.get(6)?, item: read_item(row)? })
        })
    }

    fn insert(&self, db: &SqlDatabase, question: &str, position: &str) -> SqlResult<i64> {
        let ClosedDebate { n: debate, at, at_s, .. } = self.closed;
        let item = MemoryState::new(self.part.confidence.unwrap_or_default(), *at_s);
        let MemoryState { tier, surprise, confidence, seen, since_s } = self.observe(item);
        let (agent, text, tier) = (self.agent, self.text(), tier.name());
        db.insert(
            "INSERT INTO memories (n, agent, text, question, position, tier, surprise, confidence, seen, since_s, debate,
                 created_at)
             VALUES ((SELECT coalesce(max(n), 0) + 1 FROM memories), ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             RETURNING n",
            sql_values![agent, text, question, position, tier, surprise, confidence, seen, since_s, debate, at],
        )
    }

    fn observe_again(
        &self,
        db: &SqlDatabase,
        existing: ExistingMemory,
        question: &str,
        position: &str,
    ) -> Result<i64, StoreFault> {
        let ExistingMemory { n, text: old_text, item } = existing;
        let text = self.text();
        if text != old_text {
            vectors::renew(db, VectorSource::Memory, n)?;
        }
        db.run(
            "UPDATE memories SET text = ?2, question = ?3, position = ?4, debate = ?5 WHERE n = ?1",
            sql_values![n, text, question, position, self.closed.n],
        )?;
        write_item(db, n, &self.observe(item))?;
        Ok(n)
    }

    /// Compares the decision with what the agent expected of its proposal. An agent that did not say how sure it was is
    /// not surprised.
    fn observe(&self, item: MemoryState) -> MemoryState {
        match self.part.confidence {
            Some(confidence) => {
                item.observed(confidence, f64::from(u8::from(self.part.won)), self.closed.at_s)
            }
            None => item.refreshed(self.closed.at_s),
        }
    }

    fn text(&self) -> String {
        let question = truncate(&self.closed.question, QUESTION_CHARS_MAX);
        let position = truncate(self.position, POSITION_CHARS_MAX);
        let ending = match self.decision {
            _ if self.part.won => "The debate adopted it.".to_owned(),
            Some(decision) => {
                format!("The debate decided otherwise: {}", truncate(&decision.position, POSITION_CHARS_MAX))
            }
            None => "The debate decided nothing.".to_owned(),
        };
        format!("Question: {question}\n{PROPOSAL}{position}\n{ending}")
    }
}

/// The words of a text, so that texts that differ only in case, punctuation and spaces are equal.
fn words_alone(text: &str) -> String {
    lowercase_words(text).collect::<Vec<_>>().join(" ")
}

/// The columns that [`read_item`] reads, in its order.
const ITEM_COLUMNS: &str = "tier, surprise, confidence, seen, since_s";

fn read_item(row: &SqlRow<'_>) -> SqlResult<MemoryState> {
    let tier = MemoryTier::from_name(row.text(0)?).unwrap_or(MemoryTier::Fast);
    let (surprise, confidence) = (row.get(1)?, row.get(2)?);
    Ok(MemoryState { tier, surprise, confidence, seen: row.get(3)?, since_s: row.get(4)? })
}

fn write_item(db: &SqlDatabase, n: i64, item: &MemoryState) -> SqlResult<()> {
    let MemoryState { tier, surprise, confidence, seen, since_s } = item;
    db.run(
        "UPDATE memories SET tier = ?2, surprise = ?3, confidence = ?4, seen = ?5, since_s = ?6 WHERE n = ?1",
        sql_values![n, tier.name(), surprise, confidence, seen, since_s],
    )?;
    Ok(())
}

/// Observes the memories of a debate again, now that it is known how the debate turned out.
pub(crate) fn observe_resolution(
    db: &SqlDatabase,
    debate: i64,
    resolution: &DebateResolution,
    decision: Option<OutcomeTruth>,
    at_s: i64,
) -> Result<(), StoreFault> {
    let sql = "SELECT memory, label, won, confidence FROM memory_observations
         WHERE debate = ?1 AND confidence IS NOT NULL ORDER BY seat";
    let observed: Vec<(i64, String, bool, f64)> = db
        .read_all(sql, sql_values![debate], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    let sql = format!("SELECT {ITEM_COLUMNS} FROM memories WHERE n = ?1 AND text <> ''");
    for (memory, label, won, confidence) in observed {
        if let Some(truth) = resolution.of_proposal(&label, won, decision) {
            let outcome = f64::from(u8::from(truth == OutcomeTruth::Right));
            if let Some(item) = db.read_first(&sql, sql_values![memory], read_item)? {
                write_item(db, memory, &item.observed(confidence, outcome, at_s))?;
            }
        }
    }
    Ok(())
}

/// A memory as it is stored, or as it is after time has passed.
struct StoredMemory {
    n: i64,
    agent: String,
    text: String,
    debate: i64,
    at: String,
    item: MemoryState,
}

/// The columns that [`read_memory`] reads, after those of [`ITEM_COLUMNS`].
const MEMORY_COLUMNS: &str = "n, agent, text, debate, created_at";

fn read_memory(row: &SqlRow<'_>) -> SqlResult<StoredMemory> {
    let (n, agent, text) = (row.get(5)?, row.get(6)?, row.get(7)?);
    Ok(StoredMemory { n, agent, text, debate: row.get(8)?, at: row.get(9)?, item: read_item(row)? })
}

/// An agent's memories, the last changed first, without those that have faded away.
fn memories_of_agent(db: &SqlDatabase, agent: &str, now_s: i64, limit: i64) -> SqlResult<Vec<StoredMemory>> {
    unfaded_memories(db, "agent = ?1", agent, now_s, limit)
}

/// The memories that meet a condition on ?1, the last changed first, without those that have faded away.
fn unfaded_memories(
    db: &SqlDatabase,
    condition: &str,
    value: &str,
    now_s: i64,
    limit: i64,
) -> SqlResult<Vec<StoredMemory>> {
    let lifetime_s: i64 = MemoryTier::ALL.iter().map(|tier| HALF_LIVES_PER_TIER * tier.half_life_s()).sum();
    let sql = format!(
        "SELECT {ITEM_COLUMNS}, {MEMORY_COLUMNS} FROM memories
         WHERE {condition} AND since_s >= ?2 ORDER BY since_s DESC LIMIT ?3"
    );
    let oldest_s = now_s.saturating_sub(lifetime_s);
    let memories = db.read_all(&sql, sql_values![value, oldest_s, limit], read_memory)?;
    let unfaded = |memory: StoredMemory| memory.item.at(now_s).map(|item| StoredMemory { item, ..memory });
    Ok(memories.into_iter().filter_map(unfaded).collect())
}

/// The memory with this id, unless it was deleted.
fn find(db: &SqlDatabase, id: &str) -> Result<StoredMemory, StoreFault> {
    let number = id.strip_prefix("m-").and_then(|number| number.parse::<i64>().ok());
    let sql = format!("SELECT {ITEM_COLUMNS}, {MEMORY_COLUMNS} FROM memories WHERE n = ?1 AND text <> ''");
    let found = match number {
        Some(number) => db.read_first(&sql, sql_values![number], read_memory)?,
        None => None,
    };
    found.ok_or_else(|| refused(format!("there is no memory {id:?}: `agon memory list` shows what there is")))
}

/// A memory that no query asked for.
fn unasked_hit(db: &SqlDatabase, memory: StoredMemory, now_s: i64) -> Result<MemoryHit, StoreFault> {
    match memory.item.at(now_s) {
        Some(item) => hit(db, item.score(1.0, now_s), StoredMemory { item, ..memory }),
        None => Ok(MemoryHit { has_faded: true, ..hit(db, 0.0, memory)? }),
    }
}

/// How similar memories are to a query: by shared words, or by meaning if both have vectors.
struct QuerySimilarity {
    words: Vec<String>,
    vector: Option<(i64, QueryVector)>,
}

impl QuerySimilarity {
    fn new(db: &SqlDatabase, query: &str, vector: Option<(&str, &[f32])>) -> Result<Self, StoreFault> {
        let vector = match vector {
            Some((model, vector)) => {
                vectors::model_row(db, model, vector.len())?.map(|model| (model, QueryVector::new(vector)))
            }
            None => None,
        };
        Ok(Self { words: significant_words(query), vector })
    }

    fn to(&self, db: &SqlDatabase, memory: &StoredMemory) -> SqlResult<f64> {
        Ok(self.shared_words(&memory.text).max(self.cosine(db, memory.n)?))
    }

    /// The share of the query's words that the text has.
    fn shared_words(&self, text: &str) -> f64 {
        let words: HashSet<String> = lowercase_words(text).collect();
        let shared = self.words.iter().filter(|word| words.contains(*word)).count();
        if self.words.is_empty() { 0.0 } else { shared as f64 / self.words.len() as f64 }
    }

    fn cosine(&self, db: &SqlDatabase, memory: i64) -> SqlResult<f64> {
        let Some((model, query)) = &self.vector else { return Ok(0.0) };
        let sql = "SELECT scale, bytes FROM vectors WHERE model = ?1 AND source = 1 AND item = ?2";
        let cosine = db.read_first(sql, sql_values![*model, memory], |row| {
            Ok(query.cosine(row.get(0)?, row.bytes(1)?))
        })?;
        Ok(cosine.unwrap_or_default())
    }
}

fn hit(db: &SqlDatabase, score: f64, memory: StoredMemory) -> Result<MemoryHit, StoreFault> {
    let sql = "SELECT id, provenance FROM debates WHERE n = ?1";
    let (debate, provenance) = db
        .read_first(sql, sql_values![memory.debate], |row| Ok((row.get(0)?, read_provenance(row, 1)?)))?
        .unwrap_or_default();
    let sql = "SELECT label, won, head, events FROM memory_observations
         WHERE debate = ?1 AND memory = ?2 ORDER BY seat LIMIT 1";
    let observed: Option<(String, bool, Option<LogReceipt>)> =
        db.read_first(sql, sql_values![memory.debate, memory.n], |row| {
            Ok((row.get(0)?, row.get(1)?, LogReceipt::read(row, 2)?))
        })?;
    let (turned_out, receipt) = match observed {
        Some((label, won, receipt)) => {
            let last = resolutions::last(db, memory.debate)?;
            (last.and_then(|last| last.resolution.of_proposal(&label, won, last.turned_out)), receipt)
        }
        None => (None, None),
    };
    let StoredMemory { n, agent, text, at, item: MemoryState { tier, seen, .. }, .. } = memory;
    let id = format!("m-{n}");
    Ok(MemoryHit {
        id,
        agent,
        text,
        debate,
        at,
        turned_out,
        receipt,
        provenance,
        tier,
        seen,
        has_faded: false,
        score,
    })
}
