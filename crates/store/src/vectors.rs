//! What texts mean, as vectors: made elsewhere, kept here in a quarter of their size.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, params};

use crate::place::Fault;

/// How many vectors share a row of signs.
const BLOCK: usize = 2_048;

/// The most numbers that a vector may have.
const DIMENSIONS_MAX: usize = 16_384;

/// Whose a vector is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Of {
    Knowledge,
    Memory,
}

impl Of {
    fn flag(self) -> i64 {
        i64::from(self == Self::Memory)
    }

    fn upto(self) -> &'static str {
        match self {
            Self::Knowledge => "knowledge_upto",
            Self::Memory => "memory_upto",
        }
    }

    /// The table, and what holds of the rows that are to have a vector.
    fn table(self) -> (&'static str, &'static str) {
        match self {
            Self::Knowledge => ("knowledge", "forgotten = 0"),
            Self::Memory => ("memory", "TRUE"),
        }
    }

    /// The columns by which a row is known outside and of which its vector is made.
    fn id_and_text(self) -> (&'static str, &'static str) {
        match self {
            Self::Knowledge => ("id", "title || char(10) || text"),
            Self::Memory => ("'m-' || n", "text"),
        }
    }
}

/// The ids and texts of what has no vector of this model yet, entries before memories.
pub(crate) fn unindexed(
    store: &Connection,
    model: &str,
    limit: usize,
) -> Result<Vec<(String, String)>, Fault> {
    let mut found = missing(store, model, Of::Knowledge, limit)?;
    let rest = limit.saturating_sub(found.len());
    found.extend(missing(store, model, Of::Memory, rest)?);
    Ok(found)
}

fn missing(store: &Connection, model: &str, of: Of, limit: usize) -> Result<Vec<(String, String)>, Fault> {
    let ((table, holds), (id, text), upto) = (of.table(), of.id_and_text(), of.upto());
    let mut query = store.prepare_cached(&format!(
        "SELECT {id}, {text} FROM {table} WHERE {holds}
             AND n > coalesce((SELECT {upto} FROM embedders WHERE name = ?1), 0)
             AND NOT EXISTS (SELECT 1 FROM vectors WHERE memory = ?2 AND item = {table}.n
                 AND embedder = (SELECT n FROM embedders WHERE name = ?1))
         ORDER BY n LIMIT ?3"
    ))?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = query.query_map(params![model, of.flag(), limit], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Keeps vectors by the ids and texts that [`unindexed`] gave. Those of what is gone by now, or has other words, are left out.
pub(crate) fn index(
    store: &Connection,
    model: &str,
    vectors: &[(String, String, Vec<f32>)],
) -> Result<(), Fault> {
    let Some((.., first)) = vectors.first() else { return Ok(()) };
    let dimensions = first.len();
    if dimensions == 0 || dimensions > DIMENSIONS_MAX {
        return Err(Fault::Odd(format!(
            "{model} gave vectors of {dimensions} numbers: use a model that gives 1 to {DIMENSIONS_MAX}"
        )));
    }
    if let Some((id, _, odd)) = vectors.iter().find(|(.., vector)| vector.len() != dimensions) {
        let lengths = format!("{} numbers for {id}, {dimensions} for others", odd.len());
        return Err(Fault::Odd(format!(
            "{model} gave vectors of different lengths ({lengths}): use another model"
        )));
    }
    store
        .prepare_cached("INSERT OR IGNORE INTO embedders (name, dimensions) VALUES (?1, ?2)")?
        .execute(params![model, dimensions as i64])?;
    let embedder = embedder(store, model, dimensions)?
        .ok_or_else(|| Fault::Odd(format!("the vectors of {model} could not be kept: try again")))?;
    let mut signed = Vec::with_capacity(vectors.len());
    let mut seen = HashSet::new();
    for (id, text, vector) in vectors {
        let Some((of, item)) = item(store, id, text)?.filter(|item| seen.insert(*item)) else { continue };
        let n = put(store, embedder, of, item, vector)?;
        if of == Of::Knowledge {
            signed.push((n, Signature::of(vector)));
        }
    }
    sign(store, embedder, &signed)?;
    advance(store, embedder, Of::Knowledge)?;
    advance(store, embedder, Of::Memory)
}

/// The number of the model's vectors; `None` where there are none.
pub(crate) fn embedder(store: &Connection, model: &str, dimensions: usize) -> Result<Option<i64>, Fault> {
    let mut query = store.prepare_cached("SELECT n, dimensions FROM embedders WHERE name = ?1")?;
    let known = query.query_row([model], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?))).optional()?;
    match known {
        Some((_, kept)) if kept != dimensions as i64 => Err(Fault::Odd(format!(
            "the vectors of {model} have {kept} numbers here, but now {dimensions}: give the other model another name"
        ))),
        known => Ok(known.map(|(n, _)| n)),
    }
}

/// What has this id, if it still says this: a memory may have been observed anew since its vector was asked for.
fn item(store: &Connection, id: &str, text: &str) -> Result<Option<(Of, i64)>, Fault> {
    let (of, is) = match id.strip_prefix("m-") {
        Some(_) => (Of::Memory, "n = CAST(substr(?1, 3) AS INTEGER)"),
        None => (Of::Knowledge, "id = ?1"),
    };
    let ((table, holds), (_, words)) = (of.table(), of.id_and_text());
    let mut query =
        store.prepare_cached(&format!("SELECT n FROM {table} WHERE {is} AND {holds} AND {words} = ?2"))?;
    let n = query.query_row([id, text], |row| row.get(0)).optional()?;
    Ok(n.map(|n| (of, n)))
}

fn put(store: &Connection, embedder: i64, of: Of, item: i64, vector: &[f32]) -> Result<i64, Fault> {
    let mut old =
        store.prepare_cached("SELECT n FROM vectors WHERE embedder = ?1 AND memory = ?2 AND item = ?3")?;
    if let Some(n) = old.query_row([embedder, of.flag(), item], |row| row.get(0)).optional()? {
        delete(store, embedder, of, n)?;
    }
    let (scale, bytes) = quantized(vector);
    let mut insert = store.prepare_cached(
        "INSERT INTO vectors (embedder, memory, item, scale, bytes) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    Ok(insert.insert(params![embedder, of.flag(), item, scale, bytes])?)
}

/// From the first that has no vector on, they are still to be made.
fn advance(store: &Connection, embedder: i64, of: Of) -> Result<(), Fault> {
    let ((table, holds), upto) = (of.table(), of.upto());
    store
        .prepare_cached(&format!(
            "UPDATE embedders SET {upto} = coalesce(
                 (SELECT n - 1 FROM {table} WHERE {holds} AND n > {upto} AND NOT EXISTS (
                     SELECT 1 FROM vectors WHERE embedder = ?1 AND memory = ?2 AND item = {table}.n
                 ) ORDER BY n LIMIT 1),
                 (SELECT max(n) FROM {table}), 0)
             WHERE n = ?1"
        ))?
        .execute([embedder, of.flag()])?;
    Ok(())
}

/// Removes all vectors of an entry or a memory that has other words now: it is to have new ones.
pub(crate) fn renew(store: &Connection, of: Of, item: i64) -> Result<(), Fault> {
    remove(store, of, item)?;
    let upto = of.upto();
    let mut again = store.prepare_cached(&format!("UPDATE embedders SET {upto} = min({upto}, ?1 - 1)"))?;
    again.execute([item])?;
    Ok(())
}

/// How far each model has come with the memories.
pub(crate) struct Shelf(Vec<(i64, i64)>);

/// Puts the vectors of all memories aside while memories are made again: what a memory said in between needs none.
pub(crate) fn shelve(store: &Connection) -> Result<Shelf, rusqlite::Error> {
    store.execute("UPDATE vectors SET memory = 2 WHERE memory = 1", [])?;
    let mut query = store.prepare("SELECT n, memory_upto FROM embedders")?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(Shelf(rows.collect::<Result<_, _>>()?))
}

/// Takes them back.
pub(crate) fn unshelve(store: &Connection, shelf: Shelf) -> Result<(), rusqlite::Error> {
    store.execute("UPDATE vectors SET memory = 1 WHERE memory = 2", [])?;
    let mut back = store.prepare("UPDATE embedders SET memory_upto = ?2 WHERE n = ?1")?;
    shelf.0.into_iter().try_for_each(|(n, upto)| back.execute([n, upto]).map(drop))
}

/// Removes all vectors of an entry or a memory.
pub(crate) fn remove(store: &Connection, of: Of, item: i64) -> Result<(), Fault> {
    let mut query = store.prepare_cached(
        "SELECT v.embedder, v.n FROM embedders AS e JOIN vectors AS v ON v.embedder = e.n
         WHERE v.memory = ?1 AND v.item = ?2",
    )?;
    let found: Vec<(i64, i64)> = query
        .query_map([of.flag(), item], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    for (embedder, n) in found {
        delete(store, embedder, of, n)?;
    }
    Ok(())
}

fn delete(store: &Connection, embedder: i64, of: Of, n: i64) -> Result<(), Fault> {
    store.prepare_cached("DELETE FROM vectors WHERE n = ?1")?.execute([n])?;
    if of == Of::Memory {
        return Ok(());
    }
    let Some(mut block) = Block::read(store, embedder, n)? else { return Ok(()) };
    block.remove(n);
    block.write(store, embedder)
}

/// Adds signs to the model's last block, and new blocks as it fills. The numbers are the largest of all vectors.
fn sign(store: &Connection, embedder: i64, signed: &[(i64, Signature)]) -> Result<(), Fault> {
    let Some((first, _)) = signed.first() else { return Ok(()) };
    let mut block = Block::read(store, embedder, *first)?.unwrap_or_else(|| Block::new(*first));
    for (n, signature) in signed {
        if block.numbers.len() >= 8 * BLOCK {
            block.write(store, embedder)?;
            block = Block::new(*n);
        }
        block.numbers.extend_from_slice(&n.to_le_bytes());
        block.bits.extend_from_slice(&signature.bytes);
    }
    block.write(store, embedder)
}

/// The signs of some vectors.
struct Block {
    first: i64,
    numbers: Vec<u8>,
    bits: Vec<u8>,
}

impl Block {
    fn new(first: i64) -> Self {
        Self { first, numbers: Vec::new(), bits: Vec::new() }
    }

    /// The block in which the vector of this number is, or would be.
    fn read(store: &Connection, embedder: i64, n: i64) -> Result<Option<Self>, Fault> {
        let mut query = store.prepare_cached(
            "SELECT first, vectors, bits FROM signatures WHERE embedder = ?1 AND first <= ?2 ORDER BY first DESC LIMIT 1",
        )?;
        let row = query.query_row([embedder, n], |row| {
            Ok(Self { first: row.get(0)?, numbers: row.get(1)?, bits: row.get(2)? })
        });
        Ok(row.optional()?)
    }

    fn write(&self, store: &Connection, embedder: i64) -> Result<(), Fault> {
        let mut put = store.prepare_cached(
            "INSERT OR REPLACE INTO signatures (embedder, first, vectors, bits) VALUES (?1, ?2, ?3, ?4)",
        )?;
        put.execute(params![embedder, self.first, self.numbers, self.bits])?;
        Ok(())
    }

    fn remove(&mut self, n: i64) {
        let Some(place) = numbers(&self.numbers).position(|other| other == n) else { return };
        let width = self.bits.len() / (self.numbers.len() / 8).max(1);
        self.numbers.drain(8 * place..8 * (place + 1));
        self.bits.drain(width * place..width * (place + 1));
    }
}

/// The vectors' numbers in a block.
pub(crate) fn numbers(bytes: &[u8]) -> impl Iterator<Item = i64> {
    words(bytes).map(u64::cast_signed)
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks_exact(8).filter_map(|word| Some(u64::from_le_bytes(word.try_into().ok()?)))
}

/// The signs of a vector's numbers.
#[derive(Debug, Clone)]
pub(crate) struct Signature {
    bytes: Vec<u8>,
    words: Vec<u64>,
}

impl Signature {
    pub(crate) fn of(vector: &[f32]) -> Self {
        let word = |numbers: &[f32]| {
            let signs = (0_u32..).zip(numbers);
            signs.fold(0_u64, |word, (place, number)| word | u64::from(*number > 0.0) << place)
        };
        let words: Vec<u64> = vector.chunks(64).map(word).collect();
        Self { bytes: words.iter().flat_map(|word| word.to_le_bytes()).collect(), words }
    }

    /// In how many signs each of a block's vectors differs from this one.
    pub(crate) fn distances(&self, bits: &[u8]) -> impl Iterator<Item = u32> {
        bits.chunks_exact(self.bytes.len().max(1))
            .map(|other| words(other).zip(&self.words).map(|(a, b)| (a ^ b).count_ones()).sum())
    }
}

/// A vector that kept ones are compared with.
#[derive(Debug)]
pub(crate) struct Compared {
    direction: Vec<f32>,
}

impl Compared {
    pub(crate) fn new(vector: &[f32]) -> Self {
        Self { direction: direction(vector) }
    }

    /// The cosine of the angle to a kept vector.
    pub(crate) fn with(&self, scale: f64, bytes: &[u8]) -> f64 {
        let product =
            self.direction.iter().zip(bytes).map(|(number, byte)| number * f32::from(byte.cast_signed()));
        f64::from(product.sum::<f32>()) * scale
    }
}

/// A vector as one byte a number, and what a step of it is.
fn quantized(vector: &[f32]) -> (f64, Vec<u8>) {
    let direction = direction(vector);
    let largest = direction.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
    let scale = largest / f32::from(i8::MAX);
    let byte = |number: &f32| if scale > 0.0 { (number / scale).round() as i8 } else { 0 };
    (f64::from(scale), direction.iter().map(|number| byte(number).cast_unsigned()).collect())
}

/// The vector with a length of 1. One without a direction, or with what is no number, is nothing.
fn direction(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    if length.is_normal() {
        vector.iter().map(|number| number / length).collect()
    } else {
        vec![0.0; vector.len()]
    }
}
