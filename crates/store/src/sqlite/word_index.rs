//! Full-text search with FTS5.

use crate::debate_list::{LISTED_COLUMNS, StatusReader};
use crate::knowledge_search::{SCORED_MAX, affordable_words};
use crate::search::{SearchHit, SearchableText, WordQuery};
use crate::sql::{SqlDatabase, SqlResult, sql_limit, sql_values};

/// The words as an FTS5 query, each quoted so that none is read as syntax.
pub(crate) fn word_query<'a>(words: impl Iterator<Item = &'a str>) -> Option<WordQuery> {
    let quoted: Vec<String> = words.map(|word| format!("\"{}\"", word.replace('"', "\"\""))).collect();
    let whole = quoted.join(" ");
    (!quoted.is_empty()).then(|| WordQuery { begun: format!("{whole}*"), whole })
}

/// The newest debates that match, each with its score.
pub(crate) fn ranked_debates(db: &SqlDatabase, terms: &str, most: usize) -> SqlResult<Vec<(i64, f64)>> {
    // A match in the question weighs more than one in the verdict, and that more than one in a reply.
    let sql = "SELECT rowid, -bm25(search, 4.0, 2.0, 1.0) FROM search WHERE search MATCH ?1
               ORDER BY rowid DESC LIMIT ?2";
    db.read_all(sql, sql_values![terms, sql_limit(most)], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// The debates that match, the newest first, or only the one in this row.
pub(crate) fn read_hits(
    db: &SqlDatabase,
    terms: &str,
    debate: Option<i64>,
    limit: usize,
    statuses: &mut StatusReader<'_>,
) -> SqlResult<Vec<SearchHit>> {
    let row = if debate.is_some() { "AND rowid = ?3" } else { "AND ?3 IS NULL" };
    let sql = format!(
        "SELECT {LISTED_COLUMNS}, snippet FROM debates JOIN (
             SELECT rowid AS n, snippet(search, -1, char(2), char(3), '…', 20) AS snippet
             FROM search WHERE search MATCH ?1 {row} ORDER BY rowid DESC LIMIT ?2
         ) USING (n) ORDER BY n DESC"
    );
    db.read_all(&sql, sql_values![terms, sql_limit(limit), debate], |row| {
        Ok(SearchHit::new(statuses.listed(row)?, row.get(7)?))
    })
}

/// Puts a debate into the index in place of what was there of it.
pub(crate) fn index_debate(db: &SqlDatabase, debate: i64, text: &SearchableText) -> SqlResult<()> {
    let sql = "INSERT OR REPLACE INTO search (rowid, question, verdict, replies) VALUES (?1, ?2, ?3, ?4)";
    db.run(sql, sql_values![debate, text.question, text.verdict, text.replies]).map(drop)
}

/// The entries that have any of the words, the newest first, each with its score.
pub(crate) fn rank_entries(db: &SqlDatabase, words: &[String]) -> SqlResult<Vec<(i64, f64)>> {
    let mut counted = Vec::with_capacity(words.len());
    for word in words {
        let sql = "SELECT doc FROM knowledge_word_counts WHERE term = ?1";
        let entries: Option<i64> = db.read_first(sql, sql_values![word], |row| row.get(0))?;
        // A word without a count may still be in the index, without its accents.
        counted.push((usize::try_from(entries.unwrap_or(1)).unwrap_or(usize::MAX), word));
    }
    let quoted: Vec<String> =
        affordable_words(counted).into_iter().map(|(_, word)| format!("\"{word}\"")).collect();
    if quoted.is_empty() {
        return Ok(Vec::new());
    }
    // A match in the title weighs more than one in the text.
    let sql =
        "SELECT rowid, -bm25(knowledge_words, 4.0, 1.0) FROM knowledge_words WHERE knowledge_words MATCH ?1
         ORDER BY rowid DESC LIMIT ?2";
    let (terms, most) = (quoted.join(" OR "), sql_limit(SCORED_MAX));
    db.read_all(sql, sql_values![terms, most], |row| Ok((row.get(0)?, row.get(1)?)))
}
