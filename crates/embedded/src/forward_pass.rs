//! One pass of a chunk of tokens through the network, on one or several threads.
//!
//! All threads run the same code, each on its share, and meet where one needs what others have computed. A long chunk is shared by
//! its tokens: each thread computes some tokens from the first layer to the last, and needs only the keys and values of the
//! others. A short one is shared by the rows of each matrix, so that every weight is fetched from memory once.

use std::ops::Range;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;

use fearless_simd::Level;

use crate::EmbeddedError;
use crate::compute_threads::{ThreadMeeting, lost};
use crate::key_value_cache::{AttentionQuery, AttentionScratch, HeadCache};
use crate::llama::{LayerWeights, LlamaShape, NetworkWeights};
use crate::packed_matrix::{InputRows, PANEL_ROWS, PackedMatrix, even_share};
use crate::vector_math::{add, apply_gates, normalize, rotate};

/// Chunks of more tokens per thread than this are shared by tokens.
const ROW_SHARE_TOKENS: usize = 8;

/// The caches of a layer, one for each head of keys.
pub(crate) type LayerCaches = Vec<RwLock<HeadCache>>;

/// What the threads of a pass share.
pub(crate) struct ForwardPass<'a> {
    pub(crate) weights: &'a NetworkWeights,
    pub(crate) shape: &'a LlamaShape,
    pub(crate) caches: &'a [LayerCaches],
    pub(crate) level: Level,
    /// The tokens, and the position of the first one.
    pub(crate) chunk: &'a [u32],
    pub(crate) begin: usize,
    /// Whether the logits after the last token are wanted.
    pub(crate) wants_logits: bool,
}

impl ForwardPass<'_> {
    /// Computes the pass. Returns the logits, if they are wanted.
    pub(crate) fn run(&self, threads: usize) -> Result<Vec<f32>, EmbeddedError> {
        let threads = threads.max(1);
        let is_by_tokens = self.chunk.len() > ROW_SHARE_TOKENS * threads;
        let team = ThreadTeam {
            threads,
            is_by_tokens,
            meeting: ThreadMeeting::new(threads),
            boards: (0..threads).map(|_| Default::default()).collect(),
        };
        let work = |thread: usize| team.meeting.attend(|| PassThread::new(self, &team, thread).logits());
        thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|thread| scope.spawn(move || work(thread))).collect();
            let mut logits = work(0);
            for other in others {
                let more = other.join().map_err(|_| lost()).flatten();
                logits = logits.and_then(|mut logits| {
                    logits.extend(more?);
                    Ok(logits)
                });
            }
            let mut logits = logits?;
            logits.truncate(self.weights.output().rows());
            Ok(logits)
        })
    }
}

/// The threads of a pass.
struct ThreadTeam {
    threads: usize,
    /// Whether the threads share the tokens, not the rows of matrices.
    is_by_tokens: bool,
    meeting: ThreadMeeting,
    /// What each thread tells the others. While they read one of its boards, it writes on the other.
    boards: Vec<[RwLock<Vec<f32>>; 2]>,
}

/// One thread of a pass.
struct PassThread<'a> {
    pass: &'a ForwardPass<'a>,
    team: &'a ThreadTeam,
    thread: usize,
    /// The tokens that it computes, as indices of the chunk.
    tokens: Vec<usize>,
    /// The cosine and sine of each position and pair of numbers.
    angles: Vec<Vec<(f32, f32)>>,
    /// The numbers that go from layer to layer, a row for each token.
    rows: Vec<f32>,
    /// The numbers that a matrix is multiplied with.
    input: InputRows,
    normalized: Vec<f32>,
    queries: Vec<f32>,
    keys: Vec<f32>,
    values: Vec<f32>,
    /// What this thread has computed of the next numbers, and all of them.
    own: Vec<f32>,
    all: Vec<f32>,
    scratch: AttentionScratch,
    /// How often this thread has written on one of its boards.
    written: usize,
}

impl<'a> PassThread<'a> {
    fn new(pass: &'a ForwardPass<'a>, team: &'a ThreadTeam, thread: usize) -> Self {
        let tokens: Vec<usize> = match team.is_by_tokens {
            // Later tokens attend to more of them, so each thread takes some of all.
            true => (thread..pass.chunk.len()).step_by(team.threads).collect(),
            false => (0..pass.chunk.len()).collect(),
        };
        let angles = tokens.iter().map(|token| pass.weights.angles(pass.begin + token)).collect();
        let embedded = tokens.iter().filter_map(|token| pass.chunk.get(*token));
        let rows = embedded.flat_map(|id| pass.weights.embedding.row(*id as usize)).collect();
        Self {
            pass,
            team,
            thread,
            tokens,
            angles,
            rows,
            input: InputRows::new(pass.level),
            normalized: Vec::new(),
            queries: Vec::new(),
            keys: Vec::new(),
            values: Vec::new(),
            own: Vec::new(),
            all: Vec::new(),
            scratch: AttentionScratch::default(),
            written: 0,
        }
    }

    /// This thread's share of the logits.
    fn logits(mut self) -> Result<Vec<f32>, EmbeddedError> {
        let ForwardPass { weights, caches, level, .. } = *self.pass;
        for (layer, caches) in weights.layers.iter().zip(caches) {
            self.remember(layer, caches);
            self.team.meeting.wait()?;
            self.attend(caches);
            self.exchange(|pass, share| {
                let heads = share(pass.shape.heads);
                heads.start * pass.shape.head_width..heads.end * pass.shape.head_width
            })?;
            self.add_product(&layer.out)?;
            self.prepare(&layer.ffn_norm);
            let panels = self.share(layer.gate.panels());
            layer.gate.multiply(panels.clone(), &self.input, &mut self.normalized);
            layer.up.multiply(panels, &self.input, &mut self.own);
            apply_gates(level, &self.normalized, &mut self.own);
            self.exchange(|_, share| panel_columns(share(layer.gate.panels())))?;
            self.add_product(&layer.down)?;
        }
        if !self.pass.wants_logits {
            return Ok(Vec::new());
        }
        self.share_last_row()?;
        self.prepare(&weights.norm);
        let output = weights.output();
        let panels = even_share(output.panels(), self.thread, self.team.threads);
        output.multiply(panels, &self.input, &mut self.own);
        Ok(self.own)
    }

    /// This thread's share of so many rows of a matrix.
    fn share(&self, count: usize) -> Range<usize> {
        self.share_of(self.thread, count)
    }

    fn share_of(&self, thread: usize, count: usize) -> Range<usize> {
        if self.team.is_by_tokens { 0..count } else { even_share(count, thread, self.team.threads) }
    }

    /// Makes the rows, scaled, the input of the next product.
    fn prepare(&mut self, norm: &[f32]) {
        let ForwardPass { weights, level, .. } = *self.pass;
        normalize(level, &self.rows, norm, weights.epsilon, &mut self.normalized);
        self.input.fill(&self.normalized, norm.len());
    }

    /// Computes the queries of this thread's heads, and the keys and values of its share, which it puts into the caches.
    fn remember(&mut self, layer: &LayerWeights, caches: &LayerCaches) {
        let ForwardPass { shape, level, begin, .. } = *self.pass;
        self.prepare(&layer.attention_norm);
        let panels = |heads: &Range<usize>| {
            heads.start * shape.head_width / PANEL_ROWS..heads.end * shape.head_width / PANEL_ROWS
        };
        let heads = self.share(shape.heads);
        layer.query.multiply(panels(&heads), &self.input, &mut self.queries);
        let scale = 1.0 / (shape.head_width as f32).sqrt();
        let width = heads.len() * shape.head_width;
        for (row, angles) in self.queries.chunks_exact_mut(width.max(1)).zip(&self.angles) {
            rotate(level, row, angles, scale);
        }
        // A thread with more heads of queries than another gets fewer of keys.
        let kv_heads = self.share_of(self.team.threads - 1 - self.thread, shape.kv_heads);
        layer.key.multiply(panels(&kv_heads), &self.input, &mut self.keys);
        layer.value.multiply(panels(&kv_heads), &self.input, &mut self.values);
        let width = kv_heads.len() * shape.head_width;
        for (row, angles) in self.keys.chunks_exact_mut(width.max(1)).zip(&self.angles) {
            rotate(level, row, angles, 1.0);
        }
        for (index, cache) in caches.get(kv_heads).unwrap_or_default().iter().enumerate() {
            let mut cache = write(cache);
            let numbers = index * shape.head_width..(index + 1) * shape.head_width;
            let keys = self.keys.chunks_exact(width).zip(self.values.chunks_exact(width));
            for (token, (key, value)) in self.tokens.iter().zip(keys) {
                if let (Some(key), Some(value)) = (key.get(numbers.clone()), value.get(numbers.clone())) {
                    cache.set(begin + token, key, value);
                }
            }
        }
    }

    /// Computes what this thread's heads find in the caches.
    fn attend(&mut self, caches: &LayerCaches) {
        let ForwardPass { shape, level, begin, .. } = *self.pass;
        let heads = self.share(shape.heads);
        let (width, sharing) = (heads.len() * shape.head_width, shape.heads / shape.kv_heads);
        self.own.resize(self.tokens.len() * width, 0.0);
        for (kv_head, cache) in caches.iter().enumerate() {
            let group = (kv_head * sharing).max(heads.start)..((kv_head + 1) * sharing).min(heads.end);
            if group.is_empty() {
                continue;
            }
            // The places of the heads of this group, token by token.
            let places = (0..self.tokens.len()).flat_map(|token| {
                let heads = group.clone().map(|head| head - heads.start);
                heads.map(move |head| (token, token * width + head * shape.head_width))
            });
            let places: Vec<(usize, usize)> = places.collect();
            let queries = places.iter().filter_map(|(token, place)| {
                let numbers = self.queries.get(*place..place + shape.head_width)?;
                Some(AttentionQuery { numbers, position: begin + self.tokens.get(*token)? })
            });
            let queries: Vec<AttentionQuery<'_>> = queries.collect();
            let cache = read(cache);
            let found = cache.attend(level, &queries, &mut self.scratch).chunks_exact(shape.head_width);
            for ((_, place), numbers) in places.iter().zip(found) {
                if let Some(out) = self.own.get_mut(*place..place + shape.head_width) {
                    out.copy_from_slice(numbers);
                }
            }
        }
    }

    /// Makes `all` of what this and the other threads have computed. `columns` says which numbers of a row a share is.
    fn exchange(
        &mut self,
        columns: impl Fn(&ForwardPass<'_>, &dyn Fn(usize) -> Range<usize>) -> Range<usize>,
    ) -> Result<(), EmbeddedError> {
        if self.team.is_by_tokens || self.team.threads == 1 {
            std::mem::swap(&mut self.own, &mut self.all);
            return Ok(());
        }
        let board = self.written % 2;
        self.written += 1;
        if let Some(board) = self.team.boards.get(self.thread).and_then(|boards| boards.get(board)) {
            write(board).clone_from(&self.own);
        }
        self.team.meeting.wait()?;
        let ranges: Vec<_> = (0..self.team.threads)
            .map(|thread| columns(self.pass, &|count| self.share_of(thread, count)))
            .collect();
        let width = ranges.last().map_or(0, |range| range.end);
        self.all.resize(self.tokens.len() * width, 0.0);
        for (range, boards) in ranges.into_iter().zip(&self.team.boards) {
            let Some(board) = boards.get(board) else { continue };
            let numbers = read(board);
            let parts = numbers.chunks_exact(range.len().max(1));
            for (row, part) in self.all.chunks_exact_mut(width).zip(parts) {
                if let Some(place) = row.get_mut(range.clone()) {
                    place.copy_from_slice(part);
                }
            }
        }
        Ok(())
    }

    /// Adds the product of a matrix with `all` numbers to the rows.
    fn add_product(&mut self, matrix: &PackedMatrix) -> Result<(), EmbeddedError> {
        self.input.fill(&self.all, matrix.width());
        matrix.multiply(self.share(matrix.panels()), &self.input, &mut self.own);
        self.exchange(|_, share| panel_columns(share(matrix.panels())))?;
        add(self.pass.level, &mut self.rows, &self.all);
        Ok(())
    }

    /// Reduces the rows to that of the last token, which one thread has.
    fn share_last_row(&mut self) -> Result<(), EmbeddedError> {
        let width = self.pass.weights.norm.len();
        let begin = self.rows.len().saturating_sub(width);
        self.rows.drain(..begin);
        if !self.team.is_by_tokens || self.team.threads == 1 {
            return Ok(());
        }
        let owner = (self.pass.chunk.len() - 1) % self.team.threads;
        let Some([board, _]) = self.team.boards.get(owner) else { return Err(lost()) };
        if self.thread == owner {
            write(board).clone_from(&self.rows);
        }
        self.team.meeting.wait()?;
        self.rows.clone_from(&read(board));
        Ok(())
    }
}

/// The columns of an output that these panels of its matrix compute.
fn panel_columns(panels: Range<usize>) -> Range<usize> {
    panels.start * PANEL_ROWS..panels.end * PANEL_ROWS
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
