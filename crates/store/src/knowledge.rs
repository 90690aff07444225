//! The knowledge store: what debates decided and on what evidence, and what people have added.

use agon_core::DebateProvenance;
use agon_core::event::sha256;
use agon_core::lesson::{DebateLesson, LessonDecision};
use agon_engine::StoreError;
use agon_measure::calibration::OutcomeTruth;
use serde::Serialize;

use crate::closed_debates::{ClosedDebate, LogReceipt, truncate};
use crate::log_table::read_provenance;
use crate::sql::{SqlDatabase, SqlResult, SqlRow, sql_limit, sql_values, stored_by_name};
use crate::store_fault::{StoreFault, refused};
use crate::vectors::{self, VectorSource};
use crate::{DebateStore, StoreFuture, knowledge_search};

/// Where an entry comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KnowledgeKind {
    /// A debate decided it.
    Debate,
    /// A person wrote it.
    Note,
    /// It was read from a file.
    Import,
}

/// An entry to add.
#[derive(Debug, Clone, PartialEq)]
pub struct NewKnowledge {
    /// A note or an import. The store itself makes the entries of debates.
    pub kind: KnowledgeKind,
    /// The subject.
    pub title: String,
    /// What is known.
    pub text: String,
    /// The file or address that it comes from.
    pub source: Option<String>,
    /// How sure it is, from 0 to 1, if known.
    pub confidence: Option<f64>,
    /// When it was added: RFC 3339, UTC.
    pub at: String,
}

/// An entry of the knowledge store.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KnowledgeEntry {
    /// `k-` and hex digits.
    pub id: String,
    /// Where it comes from.
    pub kind: KnowledgeKind,
    /// The subject. For a debate, its question.
    pub title: String,
    /// What is known.
    pub text: String,
    /// The file, address or debate that it comes from.
    pub source: Option<String>,
    /// The id of the debate that decided it.
    pub debate: Option<String>,
    /// How sure it is, from 0 to 1. For a debate, the share of the votes that the decision had.
    pub confidence: Option<f64>,
    /// RFC 3339, UTC.
    pub at: String,
    /// Whether it turned out right or wrong, if known.
    pub turned_out: Option<OutcomeTruth>,
    /// The end of the log of the debate that decided it.
    pub receipt: Option<LogReceipt>,
    /// Where that debate was held, and what kind of models spoke in it.
    pub provenance: Option<DebateProvenance>,
}

/// How much of a decision's answer an entry holds.
const ANSWER_CHARS_MAX: usize = 4_000;

/// How many hex digits an id has, unless another entry has the same ones.
const ID_DIGITS: usize = 8;

impl DebateStore {
    /// Adds entries and returns their ids. An entry with the same text from the same source is not added again.
    pub fn knowledge_add(&self, entries: Vec<NewKnowledge>) -> StoreFuture<'_, Vec<String>> {
        self.write(move |db| entries.iter().map(|entry| add(db, entry)).collect())
    }

    /// The entries, newest first.
    pub fn knowledge_list(&self, limit: usize) -> Result<Vec<KnowledgeEntry>, StoreError> {
        let sql = format!(
            "SELECT {ENTRY_COLUMNS} FROM knowledge AS k WHERE k.forgotten = 0 ORDER BY k.n DESC LIMIT ?1"
        );
        self.read(|db| Ok(db.read_all(&sql, sql_values![sql_limit(limit)], read_entry)?))
    }

    /// The entry whose id is or begins with `id`.
    pub fn knowledge_show(&self, id: &str) -> Result<KnowledgeEntry, StoreError> {
        self.read(|db| Ok(find(db, id)?.1))
    }

    /// Deletes an entry for good: its text, its vectors and its index. Returns what it was. A debate's log is not
    /// changed, and a rebuild does not bring the entry back.
    pub fn knowledge_forget(&self, id: &str) -> StoreFuture<'_, KnowledgeEntry> {
        let id = id.to_owned();
        self.write(move |db| {
            let (n, entry) = find(db, &id)?;
            vectors::remove(db, VectorSource::Knowledge, n)?;
            let sql = match entry.kind {
                KnowledgeKind::Debate => {
                    "UPDATE knowledge SET title = '', text = '', confidence = NULL, head = NULL, events = NULL,
                         forgotten = 1
                     WHERE n = ?1"
                }
                KnowledgeKind::Note | KnowledgeKind::Import => "DELETE FROM knowledge WHERE n = ?1",
            };
            db.run(sql, sql_values![n])?;
            knowledge_search::unindex_entry(db, n)?;
            Ok(entry)
        })
    }
}

/// The columns that [`read_entry`] reads, in its order, of `knowledge` as `k`.
const ENTRY_COLUMNS: &str = "k.id, k.kind, k.title, k.text, k.source,
    (SELECT id FROM debates WHERE n = k.debate), k.confidence, k.created_at,
    (SELECT turned_out FROM resolutions WHERE debate = k.debate ORDER BY n DESC LIMIT 1),
    k.head, k.events, (SELECT provenance FROM debates WHERE n = k.debate)";

fn read_entry(row: &SqlRow<'_>) -> SqlResult<KnowledgeEntry> {
    let turned_out: Option<String> = row.get(8)?;
    Ok(KnowledgeEntry {
        id: row.get(0)?,
        kind: row.get(1)?,
        title: row.get(2)?,
        text: row.get(3)?,
        source: row.get(4)?,
        debate: row.get(5)?,
        confidence: row.get(6)?,
        at: row.get(7)?,
        turned_out: turned_out.as_deref().and_then(OutcomeTruth::from_name),
        receipt: LogReceipt::read(row, 9)?,
        provenance: read_provenance(row, 11)?,
    })
}

/// The entry in a row.
pub(crate) fn entry(db: &SqlDatabase, n: i64) -> SqlResult<Option<KnowledgeEntry>> {
    let sql = format!("SELECT {ENTRY_COLUMNS} FROM knowledge AS k WHERE k.n = ?1");
    db.read_first(&sql, sql_values![n], read_entry)
}

/// The row and the entry whose id is or begins with `id`.
fn find(db: &SqlDatabase, id: &str) -> Result<(i64, KnowledgeEntry), StoreFault> {
    let unknown =
        || refused(format!("there is no knowledge {id:?}: `agon knowledge list` shows what there is"));
    if id.strip_prefix("k-").is_none_or(str::is_empty) {
        return Err(unknown());
    }
    // 'g' comes after every hex digit.
    let sql = "SELECT n, id FROM knowledge WHERE id >= ?1 AND id < ?2 AND forgotten = 0 ORDER BY id LIMIT 2";
    let end = format!("{id}g");
    let found: Vec<(i64, String)> =
        db.read_all(sql, sql_values![id, end], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let n = match found.as_slice() {
        [(n, _)] => *n,
        [(n, first), ..] if first == id => *n,
        [] => return Err(unknown()),
        _ => return Err(refused(format!("more than one entry's id begins with {id:?}: give more of it"))),
    };
    Ok((n, entry(db, n)?.ok_or_else(unknown)?))
}

fn add(db: &SqlDatabase, new: &NewKnowledge) -> Result<String, StoreFault> {
    if new.kind == KnowledgeKind::Debate {
        return Err(refused("the entry of a debate is made when it closes: add a note or an import"));
    }
    let same = "SELECT id FROM knowledge WHERE id = ?1 AND title = ?2 AND text = ?3 AND source IS NOT DISTINCT FROM ?4 AND forgotten = 0";
    let hash = sha256(&format!("{}\n{}\n{}", new.source.as_deref().unwrap_or_default(), new.title, new.text));
    for id in possible_ids(&hash) {
        let values = sql_values![id, new.title, new.text, new.source];
        if let Some(id) = db.read_first(same, values, |row| row.get(0))? {
            return Ok(id);
        }
        if is_free(db, &id)? {
            insert(db, &id, new, None)?;
            return Ok(id);
        }
    }
    Err(refused("no id is left for this entry: change a word of it"))
}

/// The ids that an entry with this hash could have, shortest first.
fn possible_ids(hash: &str) -> impl Iterator<Item = String> {
    (ID_DIGITS..=hash.len()).filter_map(|digits| Some(format!("k-{}", hash.get(..digits)?)))
}

fn is_free(db: &SqlDatabase, id: &str) -> SqlResult<bool> {
    let taken = db.read_first("SELECT 1 FROM knowledge WHERE id = ?1", sql_values![id], |_| Ok(()))?;
    Ok(taken.is_none())
}

fn insert(db: &SqlDatabase, id: &str, new: &NewKnowledge, closed: Option<&ClosedDebate>) -> SqlResult<()> {
    let NewKnowledge { kind, title, text, source, confidence, at } = new;
    let (debate, receipt) = (closed.map(|closed| closed.n), closed.map(|closed| &closed.receipt));
    let (head, events) = (receipt.map(|receipt| &receipt.head), receipt.map(LogReceipt::sql_events));
    let n = db.insert(
        "INSERT INTO knowledge (id, kind, title, text, source, debate, confidence, created_at, head, events)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) RETURNING n",
        sql_values![id, kind, title, text, source, debate, confidence, at, head, events],
    )?;
    knowledge_search::index_entry(db, n, title, text)
}

/// Stores what a debate decided and returns whether that changed anything. A forgotten entry stays forgotten.
pub(crate) fn record_decision(
    db: &SqlDatabase,
    closed: &ClosedDebate,
    lesson: &DebateLesson,
) -> Result<bool, StoreFault> {
    let Some(decision) = &lesson.decision else { return remove_of_debate(db, closed.n) };
    let new = entry_of_decision(closed, decision);
    let sql = "SELECT n, forgotten FROM knowledge WHERE debate = ?1";
    let stored: Option<(i64, bool)> =
        db.read_first(sql, sql_values![closed.n], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let Some((n, forgotten)) = stored else {
        for id in possible_ids(&sha256(&closed.id)) {
            if is_free(db, &id)? {
                insert(db, &id, &new, Some(closed))?;
                return Ok(true);
            }
        }
        return Err(refused("no id is left for what this debate decided: forget an entry"));
    };
    if forgotten {
        return Ok(false);
    }
    let NewKnowledge { kind, title, text, source, confidence, at } = &new;
    let changed = db.run(
        "UPDATE knowledge SET kind = ?2, title = ?3, text = ?4, source = ?5, confidence = ?6, created_at = ?7,
             head = ?8, events = ?9
         WHERE n = ?1 AND (kind, title, text, source, confidence, created_at, head, events)
             IS DISTINCT FROM (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        sql_values![
            n,
            kind,
            title,
            text,
            source,
            confidence,
            at,
            closed.receipt.head,
            closed.receipt.sql_events()
        ],
    )?;
    if changed > 0 {
        knowledge_search::index_entry(db, n, title, text)?;
        vectors::renew(db, VectorSource::Knowledge, n)?;
    }
    Ok(changed > 0)
}

/// Removes the entry of a debate that decided nothing, and returns whether there was one.
pub(crate) fn remove_of_debate(db: &SqlDatabase, debate: i64) -> Result<bool, StoreFault> {
    let sql = "SELECT n FROM knowledge WHERE debate = ?1 AND forgotten = 0";
    let Some(n) = db.read_first(sql, sql_values![debate], |row| row.get(0))? else { return Ok(false) };
    vectors::remove(db, VectorSource::Knowledge, n)?;
    db.run("DELETE FROM knowledge WHERE n = ?1", sql_values![n])?;
    Ok(true)
}

/// A decision as an entry: the position, the answer, the claims with their evidence, and the dissent.
fn entry_of_decision(closed: &ClosedDebate, decision: &LessonDecision) -> NewKnowledge {
    let mut paragraphs = vec![decision.position.clone()];
    if !decision.answer.is_empty() {
        paragraphs.push(truncate(&decision.answer, ANSWER_CHARS_MAX));
    }
    paragraphs.extend(decision.claims.iter().map(|claim| match claim.evidence.as_str() {
        "" => format!("Claim: {}", claim.claim),
        evidence => format!("Claim: {} Evidence: {evidence}", claim.claim),
    }));
    paragraphs.extend(decision.dissent.iter().map(|dissent| format!("Dissent: {dissent}")));
    let title = if closed.question.is_empty() { &decision.position } else { &closed.question };
    NewKnowledge {
        kind: KnowledgeKind::Debate,
        title: title.clone(),
        text: paragraphs.join("\n\n"),
        source: Some(format!("debate {}", closed.id)),
        confidence: Some(decision.share).filter(|share| share.is_finite()),
        at: closed.at.clone(),
    }
}

stored_by_name!(KnowledgeKind { Debate => "debate", Note => "note", Import => "import" });
