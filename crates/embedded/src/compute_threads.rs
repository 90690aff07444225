//! On how many threads a model is computed.
//!
//! candle splits each product with quantized weights over its own pool of threads, which spin until the last one is done,
//! about two hundred times per token. On an idle machine that nearly doubles the speed. On a busy one, a thread that is not
//! scheduled delays all others, and a token can take fifty times as long. So both ways are timed during the work, and the
//! faster one is used. The result is the same: every number is computed in the same way on whichever thread.
//!
//! candle takes the size of its pool from `RAYON_NUM_THREADS` or the number of cores, once, and has no function to change it.
//! Its own threads, however, compute whatever they run without splitting it. So with `[embedded] threads = N` the whole
//! computation runs on one of them, and N - 1 others wait for their share of the rows of each matrix.

use std::hint::spin_loop;
use std::sync::mpsc::{self, Receiver, RecvError, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use candle_core::quantized::QMatMul;
use candle_core::utils::barrier_pool;
use candle_core::{D, Error, Module, Tensor};

use crate::EmbeddedError;

/// The threads of one model, with the time that a token takes on all of them and on one.
#[derive(Debug)]
pub(crate) struct ComputeThreads {
    /// The size of candle's pool.
    available: usize,
    /// How many of them may compute.
    limit: usize,
    seconds_on_all: Option<f64>,
    seconds_on_one: Option<f64>,
    steps: u32,
}

/// After so many tokens the slower way is tried again: the machine may have become idle.
const RETRY_STEPS: u32 = 48;
/// A prompt of up to so many tokens computes much like single tokens.
const SHORT_PROMPT_TOKENS: usize = 32;
/// A longer prompt is computed on one thread if single tokens are slower by this factor on all threads.
const BUSY_FACTOR: f64 = 4.0;
/// The weight of the newest time in the running average.
const NEWEST_WEIGHT: f64 = 0.4;
/// How often a thread looks for work before it sleeps: longer than the pause between two products.
const SPINS: u32 = 5_000;

impl ComputeThreads {
    /// `threads` is `[embedded] threads`. `RAYON_NUM_THREADS`, which candle reads itself, takes precedence.
    pub(crate) fn new(threads: Option<usize>) -> Self {
        let available = barrier_pool().n_workers() + 1;
        let threads = threads.filter(|_| std::env::var_os("RAYON_NUM_THREADS").is_none());
        let limit = threads.map_or(available, |threads| threads.min(available));
        if threads.is_some() {
            // candle's other operations use rayon's global pool. If that exists already, it keeps its size.
            let _ = rayon::ThreadPoolBuilder::new().num_threads(limit).build_global();
        }
        Self { available, limit, seconds_on_all: None, seconds_on_one: None, steps: 0 }
    }

    /// Into how many parts a matrix is split by its rows. candle's pool, if all of it may compute, splits by itself.
    pub(crate) fn matrix_parts(&self) -> usize {
        if self.limit < self.available { self.limit } else { 1 }
    }

    /// Runs `compute`, which reads so many tokens, on one or on all threads that may compute.
    pub(crate) fn run<R: Send>(
        &mut self,
        tokens: usize,
        compute: impl FnOnce(&RowHelpers) -> Result<R, EmbeddedError> + Send,
    ) -> Result<R, EmbeddedError> {
        if self.available == 1 {
            return compute(&RowHelpers::none());
        }
        if self.limit == 1 {
            return on_pool_threads(1, compute);
        }
        let on_one = match tokens {
            0 | 1 => self.choose_one_thread(),
            // The longer a prompt, the less it matters that threads wait for each other.
            2..=SHORT_PROMPT_TOKENS => self.all_slower_by(1.0),
            _ => self.all_slower_by(BUSY_FACTOR),
        };
        let start = Instant::now();
        let result = match on_one {
            true => on_pool_threads(1, compute),
            false if self.limit == self.available => compute(&RowHelpers::none()),
            false => on_pool_threads(self.limit, compute),
        };
        if tokens <= 1 {
            let average = if on_one { &mut self.seconds_on_one } else { &mut self.seconds_on_all };
            let seconds = start.elapsed().as_secs_f64();
            *average = Some(average.map_or(seconds, |known| known + NEWEST_WEIGHT * (seconds - known)));
        }
        result
    }

    fn choose_one_thread(&mut self) -> bool {
        self.steps += 1;
        let (Some(all), Some(one)) = (self.seconds_on_all, self.seconds_on_one) else {
            return self.seconds_on_all.is_some();
        };
        let one_is_faster = one < all;
        if self.steps.is_multiple_of(RETRY_STEPS) { !one_is_faster } else { one_is_faster }
    }

    fn all_slower_by(&self, factor: f64) -> bool {
        self.seconds_on_all.zip(self.seconds_on_one).is_some_and(|(all, one)| all > factor * one)
    }
}

/// Runs `compute` on one of candle's own threads, where candle splits nothing, with `threads - 1` others as helpers.
fn on_pool_threads<R: Send>(
    threads: usize,
    compute: impl FnOnce(&RowHelpers) -> Result<R, EmbeddedError> + Send,
) -> Result<R, EmbeddedError> {
    let (senders, receivers): (Vec<_>, Vec<_>) = (1..threads).map(|_| mpsc::channel::<RowProduct>()).unzip();
    let receivers: Vec<Mutex<Receiver<RowProduct>>> = receivers.into_iter().map(Mutex::new).collect();
    let (end, ended) = mpsc::channel::<()>();
    let job = Mutex::new(Some((compute, RowHelpers { senders }, end)));
    let (ended, result) = (Mutex::new(ended), Mutex::new(None));
    let caller = barrier_pool().n_workers();
    barrier_pool().execute(|thread| {
        if thread == 0 {
            let taken = lock(&job).take();
            // The helpers stop and the caller wakes when the channels are dropped, however the work ends.
            if let Some((compute, helpers, _end)) = taken {
                *lock(&result) = Some(compute(&helpers));
            }
        } else if thread == caller {
            // candle would let the calling thread spin; this lets it sleep.
            let _ = lock(&ended).recv();
        } else if let Some(products) = receivers.get(thread - 1) {
            let products = lock(products);
            while let Ok(product) = receive(&products) {
                product.compute();
            }
        }
    });
    let result = lock(&result).take();
    result.unwrap_or_else(|| Err(EmbeddedError::Arithmetic(lost())))
}

/// Threads that compute their share of the rows of each matrix.
pub(crate) struct RowHelpers {
    senders: Vec<Sender<RowProduct>>,
}

/// The product of an input and some rows of a matrix.
struct RowProduct {
    weights: QMatMul,
    input: Tensor,
    done: Sender<candle_core::Result<Tensor>>,
}

impl RowProduct {
    fn compute(self) {
        // If the receiver is gone, the call was abandoned.
        let _ = self.done.send(self.weights.forward(&self.input));
    }
}

impl RowHelpers {
    fn none() -> Self {
        Self { senders: Vec::new() }
    }

    /// Multiplies the input with a matrix that is split into parts. Parts without a helper are computed here.
    pub(crate) fn multiply(&self, parts: &[QMatMul], input: &Tensor) -> candle_core::Result<Tensor> {
        let Some((first, others)) = parts.split_first() else { return Err(lost()) };
        if others.is_empty() {
            return first.forward(input);
        }
        let mut results = Vec::with_capacity(others.len());
        for (index, weights) in others.iter().enumerate() {
            let (done, result) = mpsc::channel();
            let product = RowProduct { weights: weights.clone(), input: input.clone(), done };
            let unsent = match self.senders.get(index) {
                Some(helper) => helper.send(product).err().map(|mpsc::SendError(product)| product),
                None => Some(product),
            };
            unsent.into_iter().for_each(RowProduct::compute);
            results.push(result);
        }
        let mut products = vec![first.forward(input)?];
        for result in results {
            products.push(receive(&result).map_err(|_| lost())??);
        }
        Tensor::cat(&products, D::Minus1)
    }
}

/// Waits for a message, first awake and then asleep.
fn receive<T>(from: &Receiver<T>) -> Result<T, RecvError> {
    for _ in 0..SPINS {
        if let Ok(message) = from.try_recv() {
            return Ok(message);
        }
        spin_loop();
    }
    from.recv()
}

fn lost() -> Error {
    Error::Msg("a part of the computation was lost".into())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
