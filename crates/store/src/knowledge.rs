//! What is known: what debates decided and on what evidence, and what people have added.

use agon_core::event::sha256;
use agon_core::lesson::{Decision, Lesson};
use agon_evidence::calibration::Truth;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;

use crate::closing::{Closed, Receipt, cut};
use crate::place::{Fault, refused};
use crate::vectors;

pub(crate) mod hybrid;
pub(crate) mod meaning;
pub(crate) mod words;

/// Where an entry comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A debate decided it.
    Debate,
    /// A person wrote it down.
    Note,
    /// It was read from a file.
    Import,
}

/// What is to be added.
#[derive(Debug, Clone, PartialEq)]
pub struct NewKnowledge {
    /// A note or an import: entries of debates come from debates alone.
    pub kind: Kind,
    /// What it is about.
    pub title: String,
    /// What is known.
    pub text: String,
    /// Where it is from: a file, an address.
    pub source: Option<String>,
    /// How sure it is, from 0 to 1, where somebody said so.
    pub confidence: Option<f64>,
    /// When it was added: RFC 3339, UTC.
    pub at: String,
}

/// An entry.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Knowledge {
    /// By this it is shown and forgotten: `k-` and hex digits.
    pub id: String,
    /// Where it comes from.
    pub kind: Kind,
    /// What it is about: a debate's question.
    pub title: String,
    /// What is known.
    pub text: String,
    /// Where it is from.
    pub source: Option<String>,
    /// The id of the debate that decided it.
    pub debate: Option<String>,
    /// How sure it is, from 0 to 1; of a debate, the share that the decision had.
    pub confidence: Option<f64>,
    /// RFC 3339, UTC.
    pub at: String,
    /// How it turned out, where that is known.
    pub turned_out: Option<Truth>,
    /// How the log of the debate ends that decided it.
    pub receipt: Option<Receipt>,
}

/// How much of a decision's answer is kept.
const ANSWER_CHARS: usize = 4_000;

/// The hex digits of an id, unless another entry has the same.
const ID_DIGITS: usize = 8;

/// The columns that [`entry`] reads, in its order, of `knowledge` as `k`.
pub(crate) const ENTRY: &str = "k.id, k.kind, k.title, k.text, k.source,
    (SELECT id FROM debates WHERE n = k.debate), k.confidence, k.created_at,
    (SELECT turned_out FROM resolutions WHERE debate = k.debate ORDER BY n DESC LIMIT 1),
    k.head, k.events";

/// Reads the columns [`ENTRY`].
pub(crate) fn entry(row: &Row<'_>) -> Result<Knowledge, rusqlite::Error> {
    let turned_out: Option<String> = row.get(8)?;
    Ok(Knowledge {
        id: row.get(0)?,
        kind: row.get(1)?,
        title: row.get(2)?,
        text: row.get(3)?,
        source: row.get(4)?,
        debate: row.get(5)?,
        confidence: row.get(6)?,
        at: row.get(7)?,
        turned_out: turned_out.as_deref().and_then(Truth::named),
        receipt: Receipt::read(row, 9)?,
    })
}

/// Adds entries and gives their ids. One that is there already, word for word and from the same source, stays as it is.
pub(crate) fn add(store: &Connection, entries: &[NewKnowledge]) -> Result<Vec<String>, Fault> {
    entries.iter().map(|entry| add_one(store, entry)).collect()
}

fn add_one(store: &Connection, new: &NewKnowledge) -> Result<String, Fault> {
    if new.kind == Kind::Debate {
        return Err(refused("the entry of a debate is made when it closes: add a note or an import"));
    }
    let mut there = store.prepare_cached(
        "SELECT id FROM knowledge WHERE id = ?1 AND title = ?2 AND text = ?3 AND source IS ?4 AND forgotten = 0",
    )?;
    let hash = sha256(&format!("{}\n{}\n{}", new.source.as_deref().unwrap_or_default(), new.title, new.text));
    for id in ids(&hash) {
        let known = there.query_row(params![id, new.title, new.text, new.source], |row| row.get(0));
        if let Some(id) = known.optional()? {
            return Ok(id);
        }
        if is_free(store, &id)? {
            insert(store, &id, new, None)?;
            return Ok(id);
        }
    }
    Err(refused("no id is left for this entry: change a word of it"))
}

/// The ids that an entry of this hash could have, the shortest first.
fn ids(hash: &str) -> impl Iterator<Item = String> {
    (ID_DIGITS..=hash.len()).filter_map(|digits| Some(format!("k-{}", hash.get(..digits)?)))
}

fn is_free(store: &Connection, id: &str) -> Result<bool, rusqlite::Error> {
    store
        .prepare_cached("SELECT NOT EXISTS (SELECT 1 FROM knowledge WHERE id = ?1)")?
        .query_row([id], |row| row.get(0))
}

fn insert(
    store: &Connection,
    id: &str,
    new: &NewKnowledge,
    closed: Option<&Closed>,
) -> Result<(), rusqlite::Error> {
    let mut insert = store.prepare_cached(
        "INSERT INTO knowledge (id, kind, title, text, source, debate, confidence, created_at, head, events)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    let NewKnowledge { kind, title, text, source, confidence, at } = new;
    let (debate, receipt) = (closed.map(|closed| closed.n), closed.map(|closed| &closed.receipt));
    let (head, events) = (receipt.map(|receipt| &receipt.head), receipt.map(Receipt::count));
    insert.execute(params![id, kind.name(), title, text, source, debate, confidence, at, head, events])?;
    Ok(())
}

/// Keeps what a debate decided; says whether that changed anything. What was forgotten stays so.
pub(crate) fn learn(store: &Connection, closed: &Closed, lesson: &Lesson) -> Result<bool, Fault> {
    let Some(decision) = &lesson.decision else { return remove(store, closed.n) };
    let new = decided(closed, decision);
    let mut query = store.prepare_cached(&format!(
        "SELECT {ENTRY}, k.forgotten, k.n FROM knowledge AS k WHERE k.debate = ?1"
    ))?;
    let there =
        query.query_row([closed.n], |row| Ok((entry(row)?, row.get::<_, bool>(11)?, row.get::<_, i64>(12)?)));
    let Some((old, forgotten, n)) = there.optional()? else {
        let id = first_free(store, &sha256(&closed.id))?;
        insert(store, &id, &new, Some(closed))?;
        return Ok(true);
    };
    let same = old.title == new.title && old.text == new.text && old.source == new.source && old.at == new.at;
    let as_sure = old.confidence == new.confidence && old.kind == Kind::Debate;
    if forgotten || (same && as_sure && old.receipt.as_ref() == Some(&closed.receipt)) {
        return Ok(false);
    }
    store
        .prepare_cached(
            "UPDATE knowledge SET kind = 'debate', title = ?2, text = ?3, source = ?4, confidence = ?5, created_at = ?6,
                 head = ?7, events = ?8
             WHERE n = ?1",
        )?
        .execute(params![
            n,
            new.title,
            new.text,
            new.source,
            new.confidence,
            new.at,
            closed.receipt.head,
            closed.receipt.count()
        ])?;
    vectors::renew(store, vectors::Of::Knowledge, n)?;
    Ok(true)
}

/// Removes the entry of a debate that decided nothing; says whether there was one.
pub(crate) fn remove(store: &Connection, debate: i64) -> Result<bool, Fault> {
    let mut query = store.prepare_cached("SELECT n FROM knowledge WHERE debate = ?1 AND forgotten = 0")?;
    let Some(n) = query.query_row([debate], |row| row.get(0)).optional()? else { return Ok(false) };
    vectors::remove(store, vectors::Of::Knowledge, n)?;
    store.prepare_cached("DELETE FROM knowledge WHERE n = ?1")?.execute([n])?;
    Ok(true)
}

fn first_free(store: &Connection, hash: &str) -> Result<String, Fault> {
    for id in ids(hash) {
        if is_free(store, &id)? {
            return Ok(id);
        }
    }
    Err(refused("no id is left for what this debate decided: forget an entry"))
}

/// The entry of a decision: what, why, on what evidence, and who did not agree.
fn decided(closed: &Closed, decision: &Decision) -> NewKnowledge {
    let mut text = decision.position.clone();
    let mut add = |part: &str| {
        text.push_str("\n\n");
        text.push_str(part);
    };
    if !decision.answer.is_empty() {
        add(&cut(&decision.answer, ANSWER_CHARS));
    }
    for claim in &decision.claims {
        match claim.evidence.as_str() {
            "" => add(&format!("Claim: {}", claim.claim)),
            evidence => add(&format!("Claim: {} Evidence: {evidence}", claim.claim)),
        }
    }
    decision.dissent.iter().for_each(|dissent| add(&format!("Dissent: {dissent}")));
    let title = if closed.question.is_empty() { &decision.position } else { &closed.question };
    NewKnowledge {
        kind: Kind::Debate,
        title: title.clone(),
        text,
        source: Some(format!("debate {}", closed.id)),
        confidence: Some(decision.share).filter(|share| share.is_finite()),
        at: closed.at.clone(),
    }
}

/// The entries, newest first.
pub(crate) fn list(store: &Connection, limit: usize) -> Result<Vec<Knowledge>, Fault> {
    let mut query = store.prepare_cached(&format!(
        "SELECT {ENTRY} FROM knowledge AS k WHERE k.forgotten = 0 ORDER BY k.n DESC LIMIT ?1"
    ))?;
    let rows = query.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], entry)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The entry whose id is, or begins with, this.
pub(crate) fn show(store: &Connection, id: &str) -> Result<Knowledge, Fault> {
    let n = find(store, id)?;
    let mut query = store.prepare_cached(&format!("SELECT {ENTRY} FROM knowledge AS k WHERE k.n = ?1"))?;
    Ok(query.query_row([n], entry)?)
}

/// Forgets an entry: its words, its vectors and what it is found by. Of a debate's entry, that it was forgotten is kept.
pub(crate) fn forget(store: &Connection, id: &str) -> Result<Knowledge, Fault> {
    let n = find(store, id)?;
    let forgotten = show(store, id)?;
    vectors::remove(store, vectors::Of::Knowledge, n)?;
    let change = match forgotten.kind {
        Kind::Debate => {
            "UPDATE knowledge SET title = '', text = '', confidence = NULL, head = NULL, events = NULL, forgotten = 1
             WHERE n = ?1"
        }
        Kind::Note | Kind::Import => "DELETE FROM knowledge WHERE n = ?1",
    };
    store.prepare_cached(change)?.execute([n])?;
    Ok(forgotten)
}

fn find(store: &Connection, id: &str) -> Result<i64, Fault> {
    let mut query = store.prepare_cached(
        "SELECT n, id FROM knowledge WHERE id >= ?1 AND id < ?1 || 'g' AND forgotten = 0 ORDER BY id LIMIT 2",
    )?;
    let found: Vec<(i64, String)> =
        query.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    match found.as_slice() {
        _ if id.len() < "k-".len() + 1 || !id.starts_with("k-") => Err(unknown(id)),
        [] => Err(unknown(id)),
        [(n, _)] => Ok(*n),
        [(n, first), ..] if first == id => Ok(*n),
        _ => Err(refused(format!("more than one entry's id begins with {id:?}: give more of it"))),
    }
}

fn unknown(id: &str) -> Fault {
    refused(format!("there is no knowledge {id:?}: `agon knowledge list` shows what there is"))
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Debate => "debate",
            Self::Note => "note",
            Self::Import => "import",
        }
    }
}

impl FromSql for Kind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_str()? {
            "debate" => Ok(Self::Debate),
            "note" => Ok(Self::Note),
            "import" => Ok(Self::Import),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}
