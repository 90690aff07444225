//! Search by meaning: the entries whose vectors point most nearly where the question's does.
//!
//! The signs of a vector's numbers are a rough likeness of it, 48 bytes for 384 dimensions. Those of all entries are read
//! and compared; the vectors themselves only of the few that come near.

use rusqlite::{Connection, OptionalExtension};

use crate::place::Fault;
use crate::vectors::{self, Compared, Signature};

/// How many entries are compared by their vectors, those whose signs agree most.
const COMPARED: usize = 400;

/// The entries nearest in meaning, the nearest first. Those that point away from the question are none.
pub(crate) fn ranked(
    store: &Connection,
    model: &str,
    vector: &[f32],
    limit: usize,
) -> Result<Vec<i64>, Fault> {
    let Some(embedder) = vectors::embedder(store, model, vector.len())? else { return Ok(Vec::new()) };
    let near = nearest(store, embedder, &Signature::of(vector))?;
    let wanted = Compared::new(vector);
    let mut read = store.prepare_cached("SELECT item, scale, bytes FROM vectors WHERE n = ?1")?;
    let mut found: Vec<(f64, i64)> = Vec::with_capacity(near.len());
    for n in near {
        let likeness = read
            .query_row([n], |row| Ok((wanted.with(row.get(1)?, row.get_ref(2)?.as_blob()?), row.get(0)?)));
        found.extend(likeness.optional()?);
    }
    found.retain(|(likeness, _)| *likeness > 0.0);
    found.sort_by(|(a, n), (b, m)| b.total_cmp(a).then(m.cmp(n)));
    Ok(found.into_iter().take(limit).map(|(_, item)| item).collect())
}

/// The vectors whose signs agree most with these.
fn nearest(store: &Connection, embedder: i64, signature: &Signature) -> Result<Vec<i64>, Fault> {
    let mut read = store.prepare_cached("SELECT vectors, bits FROM signatures WHERE embedder = ?1")?;
    let mut rows = read.query([embedder])?;
    let mut all: Vec<(u32, i64)> = Vec::new();
    while let Some(row) = rows.next()? {
        let (numbers, bits) = (row.get_ref(0)?.as_blob()?, row.get_ref(1)?.as_blob()?);
        all.extend(signature.distances(bits).zip(vectors::numbers(numbers)));
    }
    if all.len() > COMPARED {
        all.select_nth_unstable(COMPARED);
        all.truncate(COMPARED);
    }
    Ok(all.into_iter().map(|(_, n)| n).collect())
}
