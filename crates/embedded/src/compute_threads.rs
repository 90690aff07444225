//! On how many threads a model is computed, and how they wait for each other.
//!
//! The threads of a pass meet about a hundred and fifty times per token, and spin until the last one has come. On an idle
//! machine that nearly doubles the speed. On a busy one, a thread that is not scheduled delays all others, and a token can take
//! fifty times as long. So both ways are timed during the work, and the faster one is used. The result is the same: every number
//! is computed in the same way on whichever thread.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{available_parallelism, yield_now};
use std::time::Instant;

use crate::EmbeddedError;

/// The threads of one model, with the time that a token takes on all of them and on one.
#[derive(Debug)]
pub(crate) struct ComputeThreads {
    /// How many may compute.
    limit: usize,
    seconds_on_all: Option<f64>,
    seconds_on_one: Option<f64>,
    /// Whether the last token was computed on one thread.
    was_on_one: bool,
    /// How many tokens were computed since the slower way was last tried, and after how many it is tried again.
    steps: u32,
    retry_steps: u32,
}

/// After so many tokens the slower way is tried again: the machine may have become idle. If it is slower still, twice as many
/// tokens pass before the next time, up to the larger number.
const RETRY_STEPS_MIN: u32 = 4;
const RETRY_STEPS_MAX: u32 = 64;
/// A prompt of up to so many tokens computes much like single tokens.
const SHORT_PROMPT_TOKENS: usize = 32;
/// A longer prompt is computed on one thread if single tokens are slower by this factor on all threads.
const BUSY_FACTOR: f64 = 4.0;
/// The weight of the newest time in the running average.
const NEWEST_WEIGHT: f64 = 0.4;
/// How often a thread looks whether the others have come before it lets other programs run: for longer than they usually take.
const SPINS: u32 = 5_000;

impl ComputeThreads {
    /// `threads` is `[embedded] threads`. `RAYON_NUM_THREADS`, which other models read, takes precedence.
    pub(crate) fn new(threads: Option<usize>) -> Self {
        let available = available_parallelism().map_or(1, usize::from);
        let variable = std::env::var("RAYON_NUM_THREADS").ok();
        let variable = variable.and_then(|threads| threads.parse().ok()).filter(|threads| *threads > 0);
        let limit = variable.or(threads).map_or(available, |threads| threads.min(available));
        if threads.is_some() {
            // candle uses rayon's global pool. If that exists already, it keeps its size.
            let _ = rayon::ThreadPoolBuilder::new().num_threads(limit).build_global();
        }
        Self {
            limit,
            seconds_on_all: None,
            seconds_on_one: None,
            was_on_one: false,
            steps: 0,
            retry_steps: RETRY_STEPS_MIN,
        }
    }

    /// Runs `compute`, which reads so many tokens, with the number of threads that it should use.
    pub(crate) fn run<R>(&mut self, tokens: usize, compute: impl FnOnce(usize) -> R) -> R {
        if self.limit < 2 {
            return compute(1);
        }
        let on_one = match tokens {
            0 | 1 => self.choose_one_thread(),
            // The longer a prompt, the less it matters that threads wait for each other.
            2..=SHORT_PROMPT_TOKENS => self.all_slower_by(1.0),
            _ => self.all_slower_by(BUSY_FACTOR),
        };
        let start = Instant::now();
        let result = compute(if on_one { 1 } else { self.limit });
        if tokens <= 1 {
            self.note_time(on_one, start.elapsed().as_secs_f64());
        }
        result
    }

    fn choose_one_thread(&mut self) -> bool {
        let (Some(all), Some(one)) = (self.seconds_on_all, self.seconds_on_one) else {
            return self.seconds_on_all.is_some();
        };
        self.steps += 1;
        if self.steps < self.retry_steps {
            return one < all;
        }
        self.steps = 0;
        self.retry_steps = (self.retry_steps * 2).min(RETRY_STEPS_MAX);
        one >= all
    }

    /// Notes how long a token took. If it is the first one on so many threads for a while, the times before are outdated.
    fn note_time(&mut self, on_one: bool, seconds: f64) {
        let was_slower = self.all_slower_by(1.0);
        let average = if on_one { &mut self.seconds_on_one } else { &mut self.seconds_on_all };
        let known = average.filter(|_| self.was_on_one == on_one);
        *average = Some(known.map_or(seconds, |known| known + NEWEST_WEIGHT * (seconds - known)));
        self.was_on_one = on_one;
        if self.all_slower_by(1.0) != was_slower {
            self.retry_steps = RETRY_STEPS_MIN;
        }
    }

    fn all_slower_by(&self, factor: f64) -> bool {
        self.seconds_on_all.zip(self.seconds_on_one).is_some_and(|(all, one)| all > factor * one)
    }
}

/// Where a fixed number of threads wait for each other, again and again.
#[derive(Debug)]
pub(crate) struct ThreadMeeting {
    threads: usize,
    arrived: AtomicUsize,
    /// How often all have met.
    meetings: AtomicUsize,
    is_cancelled: AtomicBool,
}

impl ThreadMeeting {
    pub(crate) fn new(threads: usize) -> Self {
        let (arrived, meetings) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { threads, arrived, meetings, is_cancelled: AtomicBool::new(false) }
    }

    /// Waits until all threads have called this. An error says that one of them never will.
    pub(crate) fn wait(&self) -> Result<(), EmbeddedError> {
        let before = self.meetings.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.meetings.store(before.wrapping_add(1), Ordering::Release);
            return Ok(());
        }
        let mut spins = 0;
        while self.meetings.load(Ordering::Acquire) == before {
            if self.is_cancelled.load(Ordering::Relaxed) {
                return Err(lost());
            }
            if spins < SPINS {
                spins += 1;
                spin_loop();
            } else {
                yield_now();
            }
        }
        Ok(())
    }

    /// Runs one thread's work. However it ends, the others do not wait for it afterwards.
    pub(crate) fn attend<R>(
        &self,
        work: impl FnOnce() -> Result<R, EmbeddedError>,
    ) -> Result<R, EmbeddedError> {
        struct CancelOnDrop<'a>(Option<&'a AtomicBool>);
        impl Drop for CancelOnDrop<'_> {
            fn drop(&mut self) {
                if let Some(is_cancelled) = self.0 {
                    is_cancelled.store(true, Ordering::Relaxed);
                }
            }
        }
        let mut guard = CancelOnDrop(Some(&self.is_cancelled));
        let result = work();
        if result.is_ok() {
            guard.0 = None;
        }
        result
    }
}

/// The error of a thread that another one has left alone.
pub(crate) fn lost() -> EmbeddedError {
    EmbeddedError::Arithmetic(candle_core::Error::Msg("a part of the computation was lost".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of the next tokens are computed on all threads, if they take these seconds.
    fn tokens_on_all(threads: &mut ComputeThreads, tokens: u32, on_all: f64, on_one: f64) -> u32 {
        let mut chosen = 0;
        for _ in 0..tokens {
            let is_one = threads.choose_one_thread();
            chosen += u32::from(!is_one);
            threads.note_time(is_one, if is_one { on_one } else { on_all });
        }
        chosen
    }

    #[test]
    fn the_faster_way_is_used_and_found_again() {
        let mut threads = ComputeThreads::new(None);
        let idle = tokens_on_all(&mut threads, 200, 0.01, 0.02);
        assert!(idle > 180, "{idle} of 200 tokens on all threads of an idle machine");
        let busy = tokens_on_all(&mut threads, 200, 0.2, 0.03);
        assert!(busy < 20, "{busy} of 200 tokens on all threads of a busy machine");
        let idle = tokens_on_all(&mut threads, 200, 0.01, 0.02);
        assert!(idle > 120, "{idle} of 200 tokens on all threads of a machine that became idle");
        // One slow token does not decide for long.
        threads.note_time(false, 5.0);
        let idle = tokens_on_all(&mut threads, 100, 0.01, 0.02);
        assert!(idle > 85, "{idle} of 100 tokens on all threads after one slow token");
    }

    #[test]
    fn a_thread_that_fails_does_not_keep_the_others_waiting() {
        let meeting = ThreadMeeting::new(2);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| meeting.attend(|| meeting.wait()));
            assert!(meeting.attend(|| Err::<(), _>(lost())).is_err());
            assert!(waits.join().unwrap().is_err());
        });
    }
}
