//! Whether many threads are faster than one, right now.
//!
//! candle splits each product of a vector and a matrix over its threads and spins until the last has done its share, some two
//! hundred times a token. On an idle machine that nearly doubles the speed; on a busy one a thread that is not let run
//! holds all the others, and a token can take fifty times as long. So both ways are timed as the words are made, and the faster
//! is taken. Which one it is changes nothing in the words: every number is computed in the same way by whoever computes it.

use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Instant;

use candle_core::utils::barrier_pool;

/// How long a token takes in either way, as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    together: Option<f64>,
    alone: Option<f64>,
    steps: u32,
}

/// After so many tokens the slower way is tried once again: the machine may have come to rest.
const TRY_AGAIN: u32 = 48;
/// A stretch of prompt that is computed much like single tokens.
const SHORT: usize = 32;
/// A longer one is read alone when single tokens are slower by this with many threads.
const BUSY: f64 = 4.0;
/// How much of the newest time counts.
const NEWEST: f64 = 0.4;

impl Pace {
    /// Runs `compute` over so many tokens, with many threads or with one.
    pub(crate) fn run<R: Send>(&mut self, tokens: usize, compute: impl FnOnce() -> R + Send) -> R {
        if barrier_pool().n_workers() == 0 {
            return compute();
        }
        if tokens > 1 {
            // The longer a stretch of prompt, the less it matters that threads wait for each other.
            let busy = if tokens <= SHORT { 1.0 } else { BUSY };
            return if self.is_slower_by(busy) { alone(compute) } else { compute() };
        }
        let by_itself = self.chooses_alone();
        let since = Instant::now();
        let done = if by_itself { alone(compute) } else { compute() };
        self.note(by_itself, since.elapsed().as_secs_f64());
        done
    }

    fn chooses_alone(&mut self) -> bool {
        self.steps += 1;
        let (Some(together), Some(alone)) = (self.together, self.alone) else {
            return self.together.is_some();
        };
        let faster_alone = alone < together;
        if self.steps.is_multiple_of(TRY_AGAIN) { !faster_alone } else { faster_alone }
    }

    fn is_slower_by(&self, factor: f64) -> bool {
        self.together.zip(self.alone).is_some_and(|(together, alone)| together > factor * alone)
    }

    fn note(&mut self, by_itself: bool, seconds: f64) {
        let known = if by_itself { &mut self.alone } else { &mut self.together };
        *known = Some(known.map_or(seconds, |known| known + NEWEST * (seconds - known)));
    }
}

/// Runs `compute` on one of candle's own threads: there it splits nothing.
fn alone<R: Send>(compute: impl FnOnce() -> R + Send) -> R {
    let (tell, done) = mpsc::channel::<()>();
    let (job, result, tell) = (Mutex::new(Some(compute)), Mutex::new(None), Mutex::new(Some(tell)));
    let done = Mutex::new(done);
    barrier_pool().execute(|thread| match thread {
        0 => {
            // Dropped however the work ends, which wakes the one who waits.
            let _told = lock(&tell).take();
            if let Some(compute) = lock(&job).take() {
                *lock(&result) = Some(compute());
            }
        }
        // The thread that asked sleeps; candle would let it spin.
        thread if thread == barrier_pool().n_workers() => drop(lock(&done).recv()),
        _ => {}
    });
    let result = lock(&result).take();
    match (result, lock(&job).take()) {
        (Some(result), _) => result,
        (None, Some(compute)) => compute(),
        (None, None) => std::panic::resume_unwind(Box::new("the computation was lost")),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
