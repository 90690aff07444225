//! What agents remember of the debates that they were in.
//!
//! A memory is what an agent proposed on a question and how that ended. When the same agent meets the same question again,
//! or proposes the same again, that is no second memory: the one that there is has been *observed again*. How long a memory
//! lasts is [`agon_evidence::memory`]'s.

use std::collections::HashSet;

use agon_core::lesson::{Decision, Lesson, Part};
use agon_evidence::calibration::{Resolution, Truth};
use agon_evidence::memory::{HALF_LIVES, Item, Tier, score};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;

use crate::closing::{Closed, Receipt, cut};
use crate::knowledge::words::{significant, words};
use crate::place::Fault;
use crate::resolutions;
use crate::vectors::{self, Compared, Of};

/// A memory that was recalled.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemoryHit {
    /// Its id: `m-` and a number.
    pub id: String,
    /// Who remembers.
    pub agent: String,
    /// What it proposed on what question, and how that ended.
    pub text: String,
    /// The id of the last debate in which it was seen.
    pub debate: String,
    /// When that first happened: RFC 3339, UTC.
    pub at: String,
    /// How it turned out, where that is known.
    pub turned_out: Option<Truth>,
    /// How the log of that last debate ends.
    pub receipt: Option<Receipt>,
    /// How fast it fades by now.
    pub tier: Tier,
    /// How often it was seen.
    pub seen: u32,
    /// Similarity, times what is left of it, times how sure its agent was: from 0 to 1.
    pub score: f64,
}

const QUESTION_CHARS: usize = 600;
const POSITION_CHARS: usize = 1_000;

/// The same words on another question are the same position only if they say something by themselves: "yes" does not.
const POSITION_WORDS_MIN: usize = 4;

/// How many memories of an agent are looked at, the last to change.
const RECALLED_MAX: i64 = 2_000;

/// Keeps what each seat with an agent and a position had to do with a debate.
pub(crate) fn learn(store: &Connection, closed: &Closed, lesson: &Lesson) -> Result<(), Fault> {
    for part in &lesson.parts {
        if let (Some(agent), Some(position)) = (&part.agent, &part.position) {
            let memory = Remembered { closed, agent, position, part, decision: lesson.decision.as_ref() };
            memory.keep(store)?;
        }
    }
    Ok(())
}

/// What a debate gives an agent to remember.
struct Remembered<'a> {
    closed: &'a Closed,
    agent: &'a str,
    position: &'a str,
    part: &'a Part,
    decision: Option<&'a Decision>,
}

/// A memory that is there already.
struct Known {
    n: i64,
    text: String,
    item: Item,
}

impl Remembered<'_> {
    fn keep(&self, store: &Connection) -> Result<(), Fault> {
        let (question, position) = (plain(&self.closed.question), plain(self.position));
        let memory = match self.known(store, &question, &position)? {
            Some(known) => self.again(store, known, &question, &position)?,
            None => self.first(store, &question, &position)?,
        };
        let Part { seat, label, won, confidence, .. } = self.part;
        store
            .prepare_cached(
                "INSERT INTO sightings (debate, seat, memory, label, won, confidence, head, events)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                self.closed.n,
                seat,
                memory,
                label,
                won,
                confidence,
                self.closed.receipt.head,
                self.closed.receipt.count()
            ])?;
        Ok(())
    }

    /// The agent's memory of the same position, or else of the same question in an earlier debate.
    fn known(&self, store: &Connection, question: &str, position: &str) -> Result<Option<Known>, Fault> {
        let telling = position.split(' ').count() >= POSITION_WORDS_MIN;
        // Two searches, since SQLite would answer an OR by going through all that the agent remembers.
        let mut query = store.prepare_cached(&format!(
            "SELECT {ITEM}, n, text FROM memory WHERE n IN (
                 SELECT n FROM memory WHERE agent = ?1 AND position = ?3 AND ?5
                 UNION ALL
                 SELECT n FROM memory
                 WHERE agent = ?1 AND question = ?2 AND question <> '' AND (position = ?3 OR debate <> ?4)
             ) ORDER BY position = ?3 DESC, n DESC LIMIT 1"
        ))?;
        let values = params![self.agent, question, position, self.closed.n, telling];
        let known =
            query.query_row(values, |row| Ok(Known { n: row.get(5)?, text: row.get(6)?, item: item(row)? }));
        Ok(known.optional()?)
    }

    fn first(&self, store: &Connection, question: &str, position: &str) -> Result<i64, Fault> {
        let item = self.observed(Item::new(self.part.confidence.unwrap_or_default(), self.closed.at_s));
        let mut insert = store.prepare_cached(
            "INSERT INTO memory (agent, text, question, position, tier, surprise, confidence, seen, since_s, debate,
                 created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?;
        let Item { tier, surprise, confidence, seen, since_s } = item;
        let (closed, text) = (self.closed, self.text());
        Ok(insert.insert(params![
            self.agent,
            text,
            question,
            position,
            tier.name(),
            surprise,
            confidence,
            seen,
            since_s,
            closed.n,
            closed.at
        ])?)
    }

    fn again(&self, store: &Connection, known: Known, question: &str, position: &str) -> Result<i64, Fault> {
        let (n, text) = (known.n, self.text());
        if text != known.text {
            vectors::renew(store, Of::Memory, n)?;
        }
        let mut change = store.prepare_cached(
            "UPDATE memory SET text = ?2, question = ?3, position = ?4, debate = ?5 WHERE n = ?1",
        )?;
        change.execute(params![n, text, question, position, self.closed.n])?;
        write(store, n, &self.observed(known.item))?;
        Ok(n)
    }

    /// The decision against what the agent expected of its proposal. Who did not say what it expected was not surprised.
    fn observed(&self, item: Item) -> Item {
        match self.part.confidence {
            Some(confidence) => {
                item.observed(confidence, f64::from(u8::from(self.part.won)), self.closed.at_s)
            }
            None => item.met(self.closed.at_s),
        }
    }

    fn text(&self) -> String {
        let question = cut(&self.closed.question, QUESTION_CHARS);
        let proposed = format!("Question: {question}\nProposal: {}", cut(self.position, POSITION_CHARS));
        match self.decision {
            _ if self.part.won => format!("{proposed}\nIt was decided so."),
            Some(decision) => {
                format!("{proposed}\nIt was decided otherwise: {}", cut(&decision.position, POSITION_CHARS))
            }
            None => format!("{proposed}\nNothing was decided."),
        }
    }
}

/// A text by its words alone: case, marks and spaces make no other text of it.
fn plain(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// The columns that [`item`] reads, in its order.
const ITEM: &str = "tier, surprise, confidence, seen, since_s";

fn item(row: &Row<'_>) -> Result<Item, rusqlite::Error> {
    let tier = Tier::named(row.get_ref(0)?.as_str()?).unwrap_or(Tier::Fast);
    let (surprise, confidence) = (row.get(1)?, row.get(2)?);
    Ok(Item { tier, surprise, confidence, seen: row.get(3)?, since_s: row.get(4)? })
}

fn write(store: &Connection, n: i64, item: &Item) -> Result<(), rusqlite::Error> {
    let Item { tier, surprise, confidence, seen, since_s } = item;
    store
        .prepare_cached(
            "UPDATE memory SET tier = ?2, surprise = ?3, confidence = ?4, seen = ?5, since_s = ?6 WHERE n = ?1",
        )?
        .execute(params![n, tier.name(), surprise, confidence, seen, since_s])?;
    Ok(())
}

/// Observes the memories of a debate again, now that it is known how it turned out.
pub(crate) fn resolve(
    store: &Connection,
    debate: i64,
    resolution: &Resolution,
    decision: Option<Truth>,
    at_s: i64,
) -> Result<(), Fault> {
    let mut query = store.prepare_cached(
        "SELECT memory, label, won, confidence FROM sightings WHERE debate = ?1 AND confidence IS NOT NULL ORDER BY seat",
    )?;
    let seen: Vec<(i64, String, bool, f64)> = query
        .query_map([debate], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
        .collect::<Result<_, _>>()?;
    let mut read = store.prepare_cached(&format!("SELECT {ITEM} FROM memory WHERE n = ?1"))?;
    for (memory, label, won, confidence) in seen {
        if let Some(truth) = resolution.of_proposal(&label, won, decision) {
            let outcome = f64::from(u8::from(truth == Truth::Right));
            let item = read.query_row([memory], item)?.observed(confidence, outcome, at_s);
            write(store, memory, &item)?;
        }
    }
    Ok(())
}

/// A memory as it is read to be recalled.
struct Memory {
    n: i64,
    agent: String,
    text: String,
    debate: i64,
    at: String,
    item: Item,
}

/// What these agents remember that has to do with the question, what counts most first. The limit is each agent's own: one that
/// is sure of much does not keep the others from remembering.
pub(crate) fn recall(
    store: &mut Connection,
    agents: &[String],
    query: &str,
    vector: Option<(&str, &[f32])>,
    now_s: i64,
    limit: usize,
) -> Result<Vec<MemoryHit>, Fault> {
    let moment = store.transaction()?;
    let sought = significant(query);
    let likeness = Likeness::new(&moment, vector)?;
    let mut found = Vec::new();
    let best =
        |(a, one): &(f64, Memory), (b, other): &(f64, Memory)| b.total_cmp(a).then(other.n.cmp(&one.n));
    for agent in agents.iter().collect::<HashSet<_>>() {
        let mut own = Vec::new();
        for memory in of_agent(&moment, agent, now_s)? {
            let similarity = overlap(&sought, &memory.text).max(likeness.with(&moment, memory.n)?);
            if similarity > 0.0 {
                own.push((score(similarity, &memory.item, now_s), memory));
            }
        }
        own.sort_by(best);
        found.extend(own.into_iter().take(limit));
    }
    found.sort_by(best);
    found.into_iter().map(|(score, memory)| hit(&moment, score, memory)).collect()
}

/// The agent's memories as they are by now, without those that are forgotten.
fn of_agent(store: &Connection, agent: &str, now_s: i64) -> Result<Vec<Memory>, Fault> {
    let lasts_s: i64 = Tier::ALL.iter().map(|tier| HALF_LIVES * tier.half_life_s()).sum();
    let mut query = store.prepare_cached(&format!(
        "SELECT {ITEM}, n, agent, text, debate, created_at FROM memory
         WHERE agent = ?1 AND since_s >= ?2 ORDER BY since_s DESC LIMIT ?3"
    ))?;
    let rows = query.query_map(params![agent, now_s.saturating_sub(lasts_s), RECALLED_MAX], |row| {
        let Some(item) = item(row)?.at(now_s) else { return Ok(None) };
        let (n, agent, text) = (row.get(5)?, row.get(6)?, row.get(7)?);
        Ok(Some(Memory { n, agent, text, debate: row.get(8)?, at: row.get(9)?, item }))
    })?;
    Ok(rows.filter_map(Result::transpose).collect::<Result<_, _>>()?)
}

/// The share of the sought words that the text has.
fn overlap(sought: &[String], text: &str) -> f64 {
    let there: HashSet<String> = words(text).into_iter().collect();
    let shared = sought.iter().filter(|word| there.contains(*word)).count();
    if sought.is_empty() { 0.0 } else { shared as f64 / sought.len() as f64 }
}

/// How near memories are to a question in meaning, where both have vectors.
struct Likeness {
    compared: Option<(i64, Compared)>,
}

impl Likeness {
    fn new(store: &Connection, vector: Option<(&str, &[f32])>) -> Result<Self, Fault> {
        let Some((model, vector)) = vector else { return Ok(Self { compared: None }) };
        let embedder = vectors::embedder(store, model, vector.len())?;
        Ok(Self { compared: embedder.map(|embedder| (embedder, Compared::new(vector))) })
    }

    fn with(&self, store: &Connection, memory: i64) -> Result<f64, Fault> {
        let Some((embedder, compared)) = &self.compared else { return Ok(0.0) };
        let mut query = store.prepare_cached(
            "SELECT scale, bytes FROM vectors WHERE embedder = ?1 AND memory = 1 AND item = ?2",
        )?;
        let likeness = query
            .query_row([*embedder, memory], |row| Ok(compared.with(row.get(0)?, row.get_ref(1)?.as_blob()?)));
        Ok(likeness.optional()?.unwrap_or_default())
    }
}

fn hit(store: &Connection, score: f64, memory: Memory) -> Result<MemoryHit, Fault> {
    let mut query = store.prepare_cached("SELECT id FROM debates WHERE n = ?1")?;
    let debate = query.query_row([memory.debate], |row| row.get(0))?;
    let (turned_out, receipt) = last_sighting(store, memory.debate, memory.n)?;
    Ok(MemoryHit {
        id: format!("m-{}", memory.n),
        agent: memory.agent,
        text: memory.text,
        debate,
        at: memory.at,
        turned_out,
        receipt,
        tier: memory.item.tier,
        seen: memory.item.seen,
        score,
    })
}

/// How a memory turned out in this debate, and the debate's receipt.
fn last_sighting(
    store: &Connection,
    debate: i64,
    memory: i64,
) -> Result<(Option<Truth>, Option<Receipt>), Fault> {
    let mut query = store.prepare_cached(
        "SELECT label, won, head, events FROM sightings WHERE debate = ?1 AND memory = ?2 ORDER BY seat LIMIT 1",
    )?;
    let seen: Option<(String, bool, Option<Receipt>)> = query
        .query_row([debate, memory], |row| Ok((row.get(0)?, row.get(1)?, Receipt::read(row, 2)?)))
        .optional()?;
    let Some((label, won, receipt)) = seen else { return Ok((None, None)) };
    let last = resolutions::last(store, debate)?;
    Ok((last.and_then(|last| last.resolution.of_proposal(&label, won, last.turned_out)), receipt))
}
