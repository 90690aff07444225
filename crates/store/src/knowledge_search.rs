//! Search of the knowledge store, by words and by meaning at once.
//!
//! By words: any word may match, and the more and the rarer the better. The cost of a word is the number of entries that
//! have it, so rare words go first, and words that would take too long are left out, since they say little.
//!
//! By meaning: the signs of a vector's numbers are a rough sketch of it, 48 bytes for 384 dimensions. The sketches of all
//! entries are compared, and only the nearest entries' vectors are read.
//!
//! The two scores cannot be compared, so only the ranks count: each list gives an entry 1 / (60 + its rank), and the sum
//! decides (reciprocal rank fusion).

use std::collections::{HashMap, HashSet};

use agon_core::DebateProvenance;
use agon_engine::StoreError;
use agon_measure::calibration::OutcomeTruth;
use serde::Serialize;

use crate::closed_debates::LogReceipt;
use crate::knowledge::{self, KnowledgeEntry, KnowledgeKind};
use crate::sql::{SqlDatabase, SqlResult, TransactionKind, sql_values};
use crate::store_fault::StoreFault;
use crate::vectors::{self, QueryVector, VectorSigns};
use crate::{DebateStore, postgres, sqlite};

/// How a search found an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MatchedBy {
    /// It has words of the query.
    Words,
    /// Its meaning is close to the query's.
    Meaning,
    Both,
}

/// An entry that a search found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KnowledgeHit {
    pub id: String,
    /// Where it comes from.
    pub kind: KnowledgeKind,
    /// The subject.
    pub title: String,
    /// What is known.
    pub text: String,
    /// The file, address or debate that it comes from.
    pub source: Option<String>,
    /// The id of the debate that decided it.
    pub debate: Option<String>,
    /// RFC 3339, UTC.
    pub at: String,
    /// Whether it turned out right or wrong, if known.
    pub turned_out: Option<OutcomeTruth>,
    /// The end of the log of the debate that decided it.
    pub receipt: Option<LogReceipt>,
    /// Where that debate was held, and what kind of models spoke in it.
    pub provenance: Option<DebateProvenance>,
    /// Comparable only with the other hits of the same search.
    pub score: f64,
    /// How it was found.
    pub by: MatchedBy,
}

/// Added to every rank, so that the first few of one list do not outweigh the whole other list.
const RANK_OFFSET: f64 = 60.0;

/// How many entries of each list are merged, at least.
const MERGED_MIN: usize = 100;

/// How many entries that match by words are scored. If more match, the newest are scored.
pub(crate) const SCORED_MAX: usize = 3_000;

/// How many words of a query are considered.
const WORDS_MAX: usize = 64;

/// How many of them are searched for: the rarest.
const TERMS_MAX: usize = 12;

/// How many entries are compared by their vectors: those whose signs agree most.
const COMPARED_MAX: usize = 400;

/// Words that nearly every English text has, so they say nothing about one.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "before", "being", "both", "but", "by", "can", "could", "did", "do", "does", "each", "for", "from",
    "had", "has", "have", "having", "he", "her", "here", "his", "how", "i", "if", "in", "into", "is", "it",
    "its", "just", "may", "me", "might", "more", "most", "must", "my", "no", "nor", "not", "of", "on", "or",
    "our", "over", "shall", "she", "should", "so", "some", "such", "than", "that", "the", "their", "them",
    "then", "there", "these", "they", "this", "those", "to", "under", "up", "us", "very", "was", "we",
    "were", "what", "when", "where", "which", "while", "who", "whom", "why", "will", "with", "would", "you",
    "your",
];

impl DebateStore {
    /// The entries that have words of the query or a similar meaning, best first. `vector` is the query's vector, with
    /// the name of the model that made it.
    pub fn knowledge_search(
        &self,
        query: &str,
        vector: Option<(&str, &[f32])>,
        limit: usize,
    ) -> Result<Vec<KnowledgeHit>, StoreError> {
        self.read(|db| {
            // One transaction, so that an entry that is forgotten meanwhile is in both lists or in neither.
            db.in_transaction(TransactionKind::Snapshot, |db| {
                let merged = limit.max(MERGED_MIN);
                let by_words = rank_by_words(db, query, merged)?;
                let by_meaning = match vector {
                    Some((model, vector)) => rank_by_meaning(db, model, vector, merged)?,
                    None => Vec::new(),
                };
                let mut hits = Vec::new();
                for (n, score, by) in merge_ranks(&by_words, &by_meaning).into_iter().take(limit) {
                    hits.extend(hit(db, n, score, by)?);
                }
                Ok(hits)
            })
        })
    }
}

fn hit(db: &SqlDatabase, n: i64, score: f64, by: MatchedBy) -> SqlResult<Option<KnowledgeHit>> {
    Ok(knowledge::entry(db, n)?.map(|entry| {
        let KnowledgeEntry {
            id, kind, title, text, source, debate, at, turned_out, receipt, provenance, ..
        } = entry;
        KnowledgeHit { id, kind, title, text, source, debate, at, turned_out, receipt, provenance, score, by }
    }))
}

fn merge_ranks(by_words: &[i64], by_meaning: &[i64]) -> Vec<(i64, f64, MatchedBy)> {
    let mut all: HashMap<i64, (f64, MatchedBy)> = HashMap::new();
    for (list, by) in [(by_words, MatchedBy::Words), (by_meaning, MatchedBy::Meaning)] {
        for (rank, n) in (1_u32..).zip(list) {
            let score = 1.0 / (RANK_OFFSET + f64::from(rank));
            all.entry(*n)
                .and_modify(|(sum, found)| (*sum, *found) = (*sum + score, MatchedBy::Both))
                .or_insert((score, by));
        }
    }
    let mut merged: Vec<_> = all.into_iter().map(|(n, (score, by))| (n, score, by)).collect();
    merged.sort_by(|(n, a, _), (m, b, _)| b.total_cmp(a).then(m.cmp(n)));
    merged
}

/// The rows of the entries that have any significant word of the query, best first.
fn rank_by_words(db: &SqlDatabase, query: &str, limit: usize) -> Result<Vec<i64>, StoreFault> {
    let words = significant_words(query);
    let mut found = match db {
        SqlDatabase::Sqlite(_) => sqlite::rank_entries(db, &words)?,
        SqlDatabase::Postgres(_) => postgres::rank_entries(db, &words)?,
    };
    // The sort is stable, so of equal entries the newest stays first.
    found.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    Ok(found.into_iter().take(limit).map(|(n, _)| n).collect())
}

/// Of words with the number of entries that each has, those that can be searched for in the time that there is: the rarest.
pub(crate) fn affordable_words(mut counted: Vec<(usize, &String)>) -> Vec<(usize, &String)> {
    counted.sort();
    let mut scored = 0_usize;
    let affordable = counted.into_iter().enumerate().take_while(|(place, (entries, _))| {
        scored = scored.saturating_add(*entries);
        *place == 0 || scored <= SCORED_MAX
    });
    affordable.take(TERMS_MAX).map(|(_, word)| word).collect()
}

/// Indexes the words of an entry. In SQLite, triggers do it.
pub(crate) fn index_entry(db: &SqlDatabase, n: i64, title: &str, text: &str) -> SqlResult<()> {
    match db {
        SqlDatabase::Sqlite(_) => Ok(()),
        SqlDatabase::Postgres(_) => postgres::index_entry(db, n, title, text),
    }
}

/// Removes the words of an entry that was forgotten.
pub(crate) fn unindex_entry(db: &SqlDatabase, n: i64) -> SqlResult<()> {
    match db {
        SqlDatabase::Sqlite(_) => Ok(()),
        SqlDatabase::Postgres(_) => {
            db.run("DELETE FROM knowledge_words WHERE n = ?1", sql_values![n]).map(drop)
        }
    }
}

/// The words of a text that are not stop words, each once and in order. If all are stop words, all of them.
pub(crate) fn significant_words(text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let all: Vec<String> = lowercase_words(text).filter(|word| seen.insert(word.clone())).collect();
    let is_stop_word = |word: &String| STOP_WORDS.contains(&word.as_str());
    let only_stop_words = all.iter().all(is_stop_word);
    all.into_iter().filter(|word| only_stop_words || !is_stop_word(word)).take(WORDS_MAX).collect()
}

/// The words of a text in lower case.
pub(crate) fn lowercase_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// The rows of the entries nearest in meaning, nearest first, without those that point away from the query.
fn rank_by_meaning(
    db: &SqlDatabase,
    model: &str,
    vector: &[f32],
    limit: usize,
) -> Result<Vec<i64>, StoreFault> {
    let Some(model) = vectors::model_row(db, model, vector.len())? else { return Ok(Vec::new()) };
    let query = QueryVector::new(vector);
    let mut found: Vec<(f64, i64)> = Vec::new();
    for n in nearest_by_signs(db, model, &VectorSigns::of(vector))? {
        let sql = "SELECT item, scale, bytes FROM vectors WHERE n = ?1";
        found.extend(db.read_first(sql, sql_values![n], |row| {
            Ok((query.cosine(row.get(1)?, row.bytes(2)?), row.get(0)?))
        })?);
    }
    found.retain(|(cosine, _)| *cosine > 0.0);
    found.sort_by(|(a, n), (b, m)| b.total_cmp(a).then(m.cmp(n)));
    Ok(found.into_iter().take(limit).map(|(_, item)| item).collect())
}

/// The rows of the vectors whose signs agree most with these.
fn nearest_by_signs(db: &SqlDatabase, model: i64, signs: &VectorSigns) -> Result<Vec<i64>, StoreFault> {
    let mut all: Vec<(u32, i64)> = Vec::new();
    db.for_each("SELECT vectors, bits FROM vector_signs WHERE model = ?1", sql_values![model], |row| {
        all.extend(signs.distances(row.bytes(1)?).zip(vectors::block_rows(row.bytes(0)?)));
        Ok(())
    })?;
    if all.len() > COMPARED_MAX {
        all.select_nth_unstable(COMPARED_MAX);
        all.truncate(COMPARED_MAX);
    }
    Ok(all.into_iter().map(|(_, n)| n).collect())
}
