//! Search by words and by meaning at once.
//!
//! The two have scores that cannot be compared, so only the places count: each list gives an entry 1 / (60 + its place), and
//! the sum decides (reciprocal rank fusion).

use std::collections::HashMap;

use agon_evidence::calibration::Truth;
use rusqlite::Connection;
use serde::Serialize;

use super::{ENTRY, Kind, entry, meaning, words};
use crate::closing::Receipt;
use crate::place::Fault;

/// How an entry was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// It has words of the question.
    Words,
    /// It means something like it.
    Meaning,
    /// Both.
    Both,
}

/// An entry that a search found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KnowledgeHit {
    /// Its id.
    pub id: String,
    /// Where it comes from.
    pub kind: Kind,
    /// What it is about.
    pub title: String,
    /// What is known.
    pub text: String,
    /// Where it is from.
    pub source: Option<String>,
    /// The id of the debate that decided it.
    pub debate: Option<String>,
    /// RFC 3339, UTC.
    pub at: String,
    /// How it turned out, where that is known.
    pub turned_out: Option<Truth>,
    /// How the log of the debate ends that decided it.
    pub receipt: Option<Receipt>,
    /// Only to compare with the other hits of the same search.
    pub score: f64,
    /// How it was found.
    pub by: By,
}

/// What a place is added to, so that the first few of one list do not drown the other.
const EVEN: f64 = 60.0;

/// How many of each list are merged, at least.
const MERGED: usize = 100;

/// The best entries, the best first.
pub(crate) fn search(
    store: &mut Connection,
    query: &str,
    vector: Option<(&str, &[f32])>,
    limit: usize,
) -> Result<Vec<KnowledgeHit>, Fault> {
    // One moment for all of it: an entry that is forgotten meanwhile is seen in both lists or in neither.
    let moment = store.transaction()?;
    let merged = limit.max(MERGED);
    let by_words = words::ranked(&moment, query, merged)?;
    let by_meaning = match vector {
        Some((model, vector)) => meaning::ranked(&moment, model, vector, merged)?,
        None => Vec::new(),
    };
    let mut read = moment.prepare_cached(&format!("SELECT {ENTRY} FROM knowledge AS k WHERE k.n = ?1"))?;
    let mut hits = Vec::new();
    for (n, score, by) in merge(&by_words, &by_meaning).into_iter().take(limit) {
        let found = read.query_row([n], entry)?;
        hits.push(KnowledgeHit {
            id: found.id,
            kind: found.kind,
            title: found.title,
            text: found.text,
            source: found.source,
            debate: found.debate,
            at: found.at,
            turned_out: found.turned_out,
            receipt: found.receipt,
            score,
            by,
        });
    }
    Ok(hits)
}

fn merge(by_words: &[i64], by_meaning: &[i64]) -> Vec<(i64, f64, By)> {
    let mut all: HashMap<i64, (f64, By)> = HashMap::new();
    for (list, by) in [(by_words, By::Words), (by_meaning, By::Meaning)] {
        for (place, n) in list.iter().enumerate() {
            let score = 1.0 / (EVEN + place as f64 + 1.0);
            all.entry(*n)
                .and_modify(|(sum, how)| (*sum, *how) = (*sum + score, By::Both))
                .or_insert((score, by));
        }
    }
    let mut merged: Vec<(i64, f64, By)> = all.into_iter().map(|(n, (score, by))| (n, score, by)).collect();
    merged.sort_by(|(n, a, _), (m, b, _)| b.total_cmp(a).then(m.cmp(n)));
    merged
}
