//! The keys and values of the tokens that a model has read, and how a token attends to them.

use fearless_simd::{Level, Simd, dispatch};

use crate::vector_math::{panel_products, softmax};

/// The columns of a panel.
const PANEL_COLUMNS: usize = 16;
/// The cache grows by so many tokens, so that it seldom moves.
const STEP_TOKENS: usize = 512;
/// The most queries that attend together: their sums fit into the processor's registers.
const QUERIES_MAX: usize = 6;

/// The keys and values of one head of one layer. Both are stored in panels of 16 columns, for [`panel_products`].
#[derive(Default)]
pub(crate) struct HeadCache {
    width: usize,
    /// A panel has the keys of 16 tokens as columns, and a row for each number of a key.
    keys: Vec<[f32; PANEL_COLUMNS]>,
    /// A panel has 16 numbers of the values as columns, and a row for each token.
    values: Vec<Vec<[f32; PANEL_COLUMNS]>>,
}

/// A row of numbers that attends to all tokens up to its own.
pub(crate) struct AttentionQuery<'a> {
    pub(crate) numbers: &'a [f32],
    /// The position of its token.
    pub(crate) position: usize,
}

impl HeadCache {
    /// An empty cache of keys and values that have so many numbers, a multiple of 16.
    pub(crate) fn new(width: usize) -> Self {
        Self { width, keys: Vec::new(), values: vec![Vec::new(); width / PANEL_COLUMNS] }
    }

    /// Keeps the key and the value of the token at this position, instead of what was there before.
    pub(crate) fn set(&mut self, position: usize, key: &[f32], value: &[f32]) {
        let (panel, column) = (position / PANEL_COLUMNS, position % PANEL_COLUMNS);
        grow(&mut self.keys, (panel + 1) * self.width, STEP_TOKENS / PANEL_COLUMNS * self.width);
        for (row, number) in self.keys.iter_mut().skip(panel * self.width).zip(key) {
            if let Some(place) = row.get_mut(column) {
                *place = *number;
            }
        }
        for (panel, numbers) in self.values.iter_mut().zip(value.as_chunks::<PANEL_COLUMNS>().0) {
            grow(panel, position + 1, STEP_TOKENS);
            if let Some(row) = panel.get_mut(position) {
                *row = *numbers;
            }
        }
    }

    /// What the queries find: for each, the values weighted by how well their keys fit. Returns a row for each query.
    pub(crate) fn attend<'a>(
        &self,
        level: Level,
        queries: &[AttentionQuery<'_>],
        scratch: &'a mut AttentionScratch,
    ) -> &'a [f32] {
        let mut found = std::mem::take(&mut scratch.found);
        found.resize(queries.len() * self.width, 0.0);
        let tiles = found.chunks_mut((QUERIES_MAX * self.width).max(1));
        for (found, queries) in tiles.zip(queries.chunks(QUERIES_MAX)) {
            dispatch!(level, simd => match queries.len() {
                1 => self.attend_tile::<_, 1>(simd, queries, scratch, found),
                2 | 3 => self.attend_tile::<_, 3>(simd, queries, scratch, found),
                _ => self.attend_tile::<_, QUERIES_MAX>(simd, queries, scratch, found),
            });
        }
        scratch.found = found;
        &scratch.found
    }

    /// Lets up to `QUERIES` queries attend together. Places without a query are computed, too, and their result is dropped.
    #[inline(always)]
    fn attend_tile<S: Simd, const QUERIES: usize>(
        &self,
        simd: S,
        queries: &[AttentionQuery<'_>],
        scratch: &mut AttentionScratch,
        found: &mut [f32],
    ) {
        let tokens = queries.iter().map(|query| query.position + 1).max().unwrap_or_default();
        let AttentionScratch { columns, scores, .. } = scratch;
        let panels = tokens.div_ceil(PANEL_COLUMNS);
        let length = panels * PANEL_COLUMNS;
        transpose::<QUERIES>(queries.iter().map(|query| query.numbers), self.width, columns);
        scores.resize(QUERIES * length, 0.0);
        for (index, panel) in self.keys.chunks_exact(self.width.max(1)).take(panels).enumerate() {
            let products = panel_products::<S, QUERIES>(simd, columns.as_chunks().0, panel);
            for (scores, product) in scores.chunks_exact_mut(length).zip(products) {
                if let Some(place) = scores.as_chunks_mut().0.get_mut(index) {
                    *place = product;
                }
            }
        }
        for (scores, query) in scores.chunks_exact_mut(length).zip(queries) {
            softmax(scores, query.position + 1);
        }
        transpose::<QUERIES>(scores.chunks_exact(length).take(queries.len()), tokens, columns);
        for (index, panel) in self.values.iter().enumerate() {
            let products = panel_products::<S, QUERIES>(simd, columns.as_chunks().0, panel);
            for (row, product) in found.chunks_exact_mut(self.width).zip(products) {
                if let Some(place) = row.as_chunks_mut().0.get_mut(index) {
                    *place = product;
                }
            }
        }
    }
}

/// Memory that is used again.
#[derive(Default)]
pub(crate) struct AttentionScratch {
    columns: Vec<f32>,
    scores: Vec<f32>,
    found: Vec<f32>,
}

/// Writes the first `length` numbers of the rows side by side.
#[inline(always)]
fn transpose<'a, const ROWS: usize>(
    rows: impl Iterator<Item = &'a [f32]>,
    length: usize,
    out: &mut Vec<f32>,
) {
    out.clear();
    out.resize(ROWS * length, 0.0);
    for (index, row) in rows.enumerate() {
        for (place, number) in out.as_chunks_mut::<ROWS>().0.iter_mut().zip(row) {
            if let Some(place) = place.get_mut(index) {
                *place = *number;
            }
        }
    }
}

/// Makes room for so many rows, in steps.
fn grow(rows: &mut Vec<[f32; PANEL_COLUMNS]>, wanted: usize, step: usize) {
    if wanted > rows.len() {
        rows.reserve_exact(wanted.next_multiple_of(step.max(1)) - rows.len());
        rows.resize(wanted, [0.0; PANEL_COLUMNS]);
    }
}
