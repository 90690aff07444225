//! Embedding vectors of knowledge entries and memories. They are made elsewhere and stored in a quarter of their size.

use std::collections::HashSet;

use agon_engine::StoreError;

use crate::sql::{SqlDatabase, SqlResult, ToSqlValue, sql_limit, sql_values};
use crate::store_fault::StoreFault;
use crate::{DebateStore, StoreFuture};

/// How many vectors share a row of signs.
const BLOCK_VECTORS: usize = 2_048;

/// The most dimensions that a vector may have.
const DIMENSIONS_MAX: usize = 16_384;

impl DebateStore {
    /// The ids and texts of entries and memories that have no vector of this model yet, entries first.
    pub fn texts_without_vectors(
        &self,
        model: &str,
        limit: usize,
    ) -> Result<Vec<(String, String)>, StoreError> {
        self.read(|db| {
            let mut found = texts_without_vectors(db, model, VectorSource::Knowledge, limit)?;
            let rest = limit.saturating_sub(found.len());
            found.extend(texts_without_vectors(db, model, VectorSource::Memory, rest)?);
            Ok(found)
        })
    }

    /// Stores vectors, each with the id and the text from [`texts_without_vectors`](Self::texts_without_vectors). A
    /// vector whose entry or memory is gone, or has another text by now, is dropped.
    pub fn add_vectors(&self, model: &str, vectors: Vec<(String, String, Vec<f32>)>) -> StoreFuture<'_, ()> {
        let model = model.to_owned();
        self.write(move |db| add(db, &model, &vectors))
    }
}

/// What a vector belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum VectorSource {
    Knowledge,
    Memory,
}

impl VectorSource {
    /// The value of the column `vectors.source`.
    fn number(self) -> i64 {
        match self {
            Self::Knowledge => 0,
            Self::Memory => 1,
        }
    }

    /// The column of `embedding_models` that says how far the vectors are complete.
    fn progress(self) -> &'static str {
        match self {
            Self::Knowledge => "knowledge_done",
            Self::Memory => "memories_done",
        }
    }

    /// The table, and the condition on its rows that are to have a vector.
    fn table(self) -> (&'static str, &'static str) {
        match self {
            Self::Knowledge => ("knowledge", "forgotten = 0"),
            Self::Memory => ("memories", "text <> ''"),
        }
    }

    /// SQL for a row's public id and for the text that its vector is made of.
    fn id_and_text(self) -> (&'static str, &'static str) {
        match self {
            Self::Knowledge => ("id", "title || '\n' || text"),
            Self::Memory => ("'m-' || n", "text"),
        }
    }
}

fn texts_without_vectors(
    db: &SqlDatabase,
    model: &str,
    source: VectorSource,
    limit: usize,
) -> SqlResult<Vec<(String, String)>> {
    let ((table, condition), (id, text), progress) =
        (source.table(), source.id_and_text(), source.progress());
    let sql = format!(
        "SELECT {id}, {text} FROM {table} WHERE {condition}
             AND n > coalesce((SELECT {progress} FROM embedding_models WHERE name = ?1), 0)
             AND NOT EXISTS (SELECT 1 FROM vectors WHERE source = ?2 AND item = {table}.n
                 AND model = (SELECT n FROM embedding_models WHERE name = ?1))
         ORDER BY n LIMIT ?3"
    );
    db.read_all(&sql, sql_values![model, source.number(), sql_limit(limit)], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
}

fn add(db: &SqlDatabase, model: &str, vectors: &[(String, String, Vec<f32>)]) -> Result<(), StoreFault> {
    let Some((.., first)) = vectors.first() else { return Ok(()) };
    let dimensions = first.len();
    if dimensions == 0 || dimensions > DIMENSIONS_MAX {
        return Err(StoreFault::Failed(format!(
            "{model} gave vectors of {dimensions} numbers: use a model that gives 1 to {DIMENSIONS_MAX}"
        )));
    }
    if let Some((id, _, other)) = vectors.iter().find(|(.., vector)| vector.len() != dimensions) {
        let lengths = format!("{} numbers for {id}, {dimensions} for others", other.len());
        return Err(StoreFault::Failed(format!(
            "{model} gave vectors of different lengths ({lengths}): use another model"
        )));
    }
    let sql = "INSERT INTO embedding_models (name, dimensions) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING";
    db.run(sql, sql_values![model, dimensions as i64])?;
    let model_row = model_row(db, model, dimensions)?.ok_or_else(|| {
        StoreFault::Failed(format!("the vectors of {model} could not be stored: try again"))
    })?;
    let mut signs = Vec::with_capacity(vectors.len());
    let mut seen = HashSet::new();
    for (id, text, vector) in vectors {
        let Some((source, item)) = find_item(db, id, text)?.filter(|item| seen.insert(*item)) else {
            continue;
        };
        let n = put(db, model_row, source, item, vector)?;
        if source == VectorSource::Knowledge {
            signs.push((n, VectorSigns::of(vector)));
        }
    }
    append_signs(db, model_row, &signs)?;
    update_progress(db, model_row, VectorSource::Knowledge)?;
    update_progress(db, model_row, VectorSource::Memory)
}

/// The row of a model that has vectors here, or `None`.
pub(crate) fn model_row(db: &SqlDatabase, model: &str, dimensions: usize) -> Result<Option<i64>, StoreFault> {
    let sql = "SELECT n, dimensions FROM embedding_models WHERE name = ?1";
    match db.read_first(sql, sql_values![model], |row| Ok((row.get(0)?, row.get::<i64>(1)?)))? {
        Some((_, stored)) if stored != dimensions as i64 => Err(StoreFault::Failed(format!(
            "the vectors of {model} have {stored} numbers here, but now {dimensions}: give the other model another name"
        ))),
        known => Ok(known.map(|(n, _)| n)),
    }
}

/// The entry or memory with this id, if it still has this text: it may have changed since its vector was asked for.
fn find_item(db: &SqlDatabase, id: &str, text: &str) -> SqlResult<Option<(VectorSource, i64)>> {
    let memory: Option<i64> = id.strip_prefix("m-").map(|n| n.parse().unwrap_or_default());
    let (source, column, key) = match &memory {
        Some(n) => (VectorSource::Memory, "n", n.sql_value()),
        None => (VectorSource::Knowledge, "id", id.sql_value()),
    };
    let ((table, condition), (_, stored_text)) = (source.table(), source.id_and_text());
    let sql = format!("SELECT n FROM {table} WHERE {column} = ?1 AND {condition} AND {stored_text} = ?2");
    db.read_first(&sql, &[key, text.sql_value()], |row| Ok((source, row.get(0)?)))
}

/// Stores one vector in place of an older one, and returns its row.
fn put(
    db: &SqlDatabase,
    model: i64,
    source: VectorSource,
    item: i64,
    vector: &[f32],
) -> Result<i64, StoreFault> {
    let sql = "SELECT n FROM vectors WHERE model = ?1 AND source = ?2 AND item = ?3";
    if let Some(n) = db.read_first(sql, sql_values![model, source.number(), item], |row| row.get(0))? {
        delete(db, model, source, n)?;
    }
    let (scale, bytes) = quantize(vector);
    let sql =
        "INSERT INTO vectors (model, source, item, scale, bytes) VALUES (?1, ?2, ?3, ?4, ?5) RETURNING n";
    Ok(db.insert(sql, sql_values![model, source.number(), item, scale, bytes])?)
}

/// Moves a model's progress to just before the first row without a vector.
fn update_progress(db: &SqlDatabase, model: i64, source: VectorSource) -> Result<(), StoreFault> {
    let ((table, condition), progress) = (source.table(), source.progress());
    let sql = format!(
        "UPDATE embedding_models SET {progress} = coalesce(
             (SELECT n - 1 FROM {table} WHERE {condition} AND n > {progress} AND NOT EXISTS (
                 SELECT 1 FROM vectors WHERE model = ?1 AND source = ?2 AND item = {table}.n
             ) ORDER BY n LIMIT 1),
             (SELECT max(n) FROM {table}), 0)
         WHERE n = ?1"
    );
    db.run(&sql, sql_values![model, source.number()])?;
    Ok(())
}

/// Removes the vectors of an entry or memory whose text has changed, so that it gets new ones.
pub(crate) fn renew(db: &SqlDatabase, source: VectorSource, item: i64) -> Result<(), StoreFault> {
    remove(db, source, item)?;
    let progress = source.progress();
    let sql = format!("UPDATE embedding_models SET {progress} = ?1 WHERE {progress} > ?1");
    db.run(&sql, sql_values![item - 1])?;
    Ok(())
}

/// Removes all vectors of an entry or memory.
pub(crate) fn remove(db: &SqlDatabase, source: VectorSource, item: i64) -> Result<(), StoreFault> {
    // The join lets SQLite use the index on (model, source, item).
    let sql = "SELECT v.model, v.n FROM embedding_models AS m JOIN vectors AS v ON v.model = m.n
         WHERE v.source = ?1 AND v.item = ?2";
    let found: Vec<(i64, i64)> =
        db.read_all(sql, sql_values![source.number(), item], |row| Ok((row.get(0)?, row.get(1)?)))?;
    found.into_iter().try_for_each(|(model, n)| delete(db, model, source, n))
}

fn delete(db: &SqlDatabase, model: i64, source: VectorSource, n: i64) -> Result<(), StoreFault> {
    db.run("DELETE FROM vectors WHERE n = ?1", sql_values![n])?;
    if source == VectorSource::Knowledge
        && let Some(mut block) = SignBlock::read(db, model, n)?
    {
        block.remove(n);
        block.write(db, model)?;
    }
    Ok(())
}

/// How far each model has come with the memories, while those are rebuilt.
pub(crate) struct MemoryVectorProgress(Vec<(i64, i64)>);

/// Sets the vectors of all memories aside while memories are rebuilt: their intermediate texts need no vectors.
pub(crate) fn set_memory_vectors_aside(db: &SqlDatabase) -> SqlResult<MemoryVectorProgress> {
    db.run("UPDATE vectors SET source = 2 WHERE source = 1", &[])?;
    let models = db.read_all("SELECT n, memories_done FROM embedding_models", &[], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    Ok(MemoryVectorProgress(models))
}

/// Puts the vectors back.
pub(crate) fn restore_memory_vectors(db: &SqlDatabase, progress: MemoryVectorProgress) -> SqlResult<()> {
    db.run("UPDATE vectors SET source = 1 WHERE source = 2", &[])?;
    let sql = "UPDATE embedding_models SET memories_done = ?2 WHERE n = ?1";
    progress.0.into_iter().try_for_each(|(n, done)| db.run(sql, sql_values![n, done]).map(drop))
}

/// Adds signs to the model's last block, and starts new blocks when it is full. The rows are the largest of all vectors.
fn append_signs(db: &SqlDatabase, model: i64, signs: &[(i64, VectorSigns)]) -> SqlResult<()> {
    let Some((first, _)) = signs.first() else { return Ok(()) };
    let mut block = SignBlock::read(db, model, *first)?.unwrap_or_else(|| SignBlock::new(*first));
    for (n, signs) in signs {
        if block.rows.len() >= 8 * BLOCK_VECTORS {
            block.write(db, model)?;
            block = SignBlock::new(*n);
        }
        block.rows.extend_from_slice(&n.to_le_bytes());
        block.bits.extend_from_slice(&signs.bytes);
    }
    block.write(db, model)
}

/// One row of the table `vector_signs`.
struct SignBlock {
    first: i64,
    rows: Vec<u8>,
    bits: Vec<u8>,
}

impl SignBlock {
    fn new(first: i64) -> Self {
        Self { first, rows: Vec::new(), bits: Vec::new() }
    }

    /// The block that holds, or would hold, the signs of the vector in row `n`.
    fn read(db: &SqlDatabase, model: i64, n: i64) -> SqlResult<Option<Self>> {
        let sql = "SELECT first, vectors, bits FROM vector_signs WHERE model = ?1 AND first <= ?2
             ORDER BY first DESC LIMIT 1";
        db.read_first(sql, sql_values![model, n], |row| {
            Ok(Self { first: row.get(0)?, rows: row.get(1)?, bits: row.get(2)? })
        })
    }

    fn write(&self, db: &SqlDatabase, model: i64) -> SqlResult<()> {
        let sql = "INSERT INTO vector_signs (model, first, vectors, bits) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (model, first) DO UPDATE SET vectors = excluded.vectors, bits = excluded.bits";
        db.run(sql, sql_values![model, self.first, self.rows, self.bits]).map(drop)
    }

    fn remove(&mut self, n: i64) {
        let Some(place) = block_rows(&self.rows).position(|row| row == n) else { return };
        let width = self.bits.len() / (self.rows.len() / 8).max(1);
        self.rows.drain(8 * place..8 * (place + 1));
        self.bits.drain(width * place..width * (place + 1));
    }
}

/// The rows of `vectors` whose signs are in a block.
pub(crate) fn block_rows(bytes: &[u8]) -> impl Iterator<Item = i64> {
    words(bytes).map(u64::cast_signed)
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks_exact(8).filter_map(|word| Some(u64::from_le_bytes(word.try_into().ok()?)))
}

/// The signs of a vector's numbers, one bit each.
#[derive(Debug, Clone)]
pub(crate) struct VectorSigns {
    bytes: Vec<u8>,
    words: Vec<u64>,
}

impl VectorSigns {
    pub(crate) fn of(vector: &[f32]) -> Self {
        let word = |numbers: &[f32]| {
            let places = (0_u32..).zip(numbers);
            places.fold(0_u64, |word, (place, number)| word | u64::from(*number > 0.0) << place)
        };
        let words: Vec<u64> = vector.chunks(64).map(word).collect();
        Self { bytes: words.iter().flat_map(|word| word.to_le_bytes()).collect(), words }
    }

    /// In how many signs each vector of a block differs from this one.
    pub(crate) fn distances(&self, bits: &[u8]) -> impl Iterator<Item = u32> {
        bits.chunks_exact(self.bytes.len().max(1))
            .map(|other| words(other).zip(&self.words).map(|(a, b)| (a ^ b).count_ones()).sum())
    }
}

/// A query's vector, to compare stored ones with.
#[derive(Debug)]
pub(crate) struct QueryVector {
    normalized: Vec<f32>,
}

impl QueryVector {
    pub(crate) fn new(vector: &[f32]) -> Self {
        Self { normalized: normalize(vector) }
    }

    /// The cosine of the angle to a stored vector.
    pub(crate) fn cosine(&self, scale: f64, bytes: &[u8]) -> f64 {
        let products =
            self.normalized.iter().zip(bytes).map(|(number, byte)| number * f32::from(byte.cast_signed()));
        f64::from(products.sum::<f32>()) * scale
    }
}

/// A vector as one byte per number, and the size of one step.
fn quantize(vector: &[f32]) -> (f64, Vec<u8>) {
    let normalized = normalize(vector);
    let largest = normalized.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
    let scale = largest / f32::from(i8::MAX);
    let byte = |number: &f32| if scale > 0.0 { (number / scale).round() as i8 } else { 0 };
    (f64::from(scale), normalized.iter().map(|number| byte(number).cast_unsigned()).collect())
}

/// The vector scaled to length 1. A vector of zeros, or with a NaN or infinity, becomes all zeros.
fn normalize(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    if length.is_normal() {
        vector.iter().map(|number| number / length).collect()
    } else {
        vec![0.0; vector.len()]
    }
}
