//! Progress of work that takes longer than a moment: on stderr, and only on a terminal.
//!
//! Nothing is drawn in the first moment, so that quick work leaves no trace. A thread draws, because the work may block. Everything else
//! that is printed meanwhile goes through [`aside`], which takes the drawing away first.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::sync::mpsc::UnboundedReceiver;

use super::output;
use super::terminal_pause::{TerminalPause, terminal};

/// What takes less time than this is not shown.
const APPEARS_AFTER: Duration = Duration::from_millis(700);
const TICK: Duration = Duration::from_millis(120);
const SPINNER: &str = "-\\|/ ";
const SPINNER_TEMPLATE: &str = "{spinner} {prefix}{msg}, {elapsed}";
const COUNT_TEMPLATE: &str = "{prefix}  [{bar:24}]  {pos} of {len}{msg}, {elapsed}";

/// The one that is drawn now. One within another is not shown.
static CURRENT: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Shows that work goes on until it is dropped.
#[derive(Debug)]
#[must_use = "it is shown until it is dropped"]
pub struct TaskProgress {
    shown: Option<ShownProgress>,
}

#[derive(Debug)]
struct ShownProgress {
    bar: ProgressBar,
    /// Dropping it ends the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    shares_terminal: bool,
}

/// How and when it is drawn.
struct DrawingPlan {
    appears_after: Duration,
    target: fn() -> ProgressDrawTarget,
    pauses: Option<UnboundedReceiver<TerminalPause>>,
}

impl TaskProgress {
    /// Shows what is done and for how long.
    pub fn start(what: &str, is_quiet: bool) -> Self {
        Self::on_stderr(spinner(what), is_quiet, false)
    }

    /// Shows how many of `total` are done.
    pub fn counting(what: &str, total: usize, is_quiet: bool) -> Self {
        Self::on_stderr(count_bar(what, total), is_quiet, false)
    }

    /// The same while people may be asked at this terminal: the drawing makes room for their questions.
    pub fn counting_beside_people(what: &str, total: usize, is_quiet: bool) -> Self {
        Self::on_stderr(count_bar(what, total), is_quiet, true)
    }

    /// How many are done now.
    pub fn set_done(&self, done: usize) {
        self.with_bar(|bar| bar.set_position(done as u64));
    }

    /// How many there are, if that was not known at the start.
    pub fn set_total(&self, total: usize) {
        self.with_bar(|bar| bar.set_length(total as u64));
    }

    /// One more is done.
    pub fn add_one(&self) {
        self.with_bar(|bar| bar.inc(1));
    }

    /// Adds words behind what is shown.
    pub fn set_message(&self, message: impl Into<String>) {
        self.with_bar(|bar| bar.set_message(message.into()));
    }

    fn with_bar(&self, change: impl FnOnce(&ProgressBar)) {
        if let Some(shown) = &self.shown {
            change(&shown.bar);
        }
    }

    fn on_stderr(bar: ProgressBar, is_quiet: bool, shares_terminal: bool) -> Self {
        if is_quiet || !output::stderr_is_live() {
            return Self { shown: None };
        }
        let plan = DrawingPlan {
            appears_after: APPEARS_AFTER,
            target: ProgressDrawTarget::stderr,
            pauses: shares_terminal.then(|| terminal().attach_view()),
        };
        Self::planned(bar, plan)
    }

    fn planned(bar: ProgressBar, plan: DrawingPlan) -> Self {
        let mut now = current();
        if now.is_some() {
            return Self { shown: None };
        }
        *now = Some(bar.clone());
        let (end, ended) = mpsc::channel();
        let (drawn, shares_terminal) = (bar.clone(), plan.pauses.is_some());
        let thread = std::thread::spawn(move || draw(&drawn, plan, &ended));
        Self { shown: Some(ShownProgress { bar, end: Some(end), thread: Some(thread), shares_terminal }) }
    }
}

impl Drop for ShownProgress {
    fn drop(&mut self) {
        if self.shares_terminal {
            // A question that is still open would hold up the thread.
            terminal().close();
        }
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // If drawing failed, only the drawing is lost.
            drop(thread.join());
        }
        *current() = None;
        self.bar.finish_and_clear();
    }
}

/// Does something with the terminal while nothing is drawn on it.
pub fn aside<T>(print: impl FnOnce() -> T) -> T {
    let bar = current().clone();
    match bar {
        Some(bar) => bar.suspend(print),
        None => print(),
    }
}

fn current() -> MutexGuard<'static, Option<ProgressBar>> {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn draw(bar: &ProgressBar, mut plan: DrawingPlan, ended: &Receiver<()>) {
    let mut wait = plan.appears_after;
    while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        if wait != TICK {
            bar.set_draw_target((plan.target)());
            wait = TICK;
        }
        if let Some(pause) = plan.pauses.as_mut().and_then(|pauses| pauses.try_recv().ok()) {
            make_room(bar, plan.target, || pause.wait());
        }
        bar.tick();
    }
}

/// Takes the drawing away while `wait` runs. Unlike [`ProgressBar::suspend`], it does not hold up whoever counts meanwhile.
fn make_room(bar: &ProgressBar, target: fn() -> ProgressDrawTarget, wait: impl FnOnce()) {
    let style = bar.style();
    if let Ok(nothing) = ProgressStyle::with_template("") {
        bar.set_style(nothing);
        bar.force_draw();
    }
    bar.set_draw_target(ProgressDrawTarget::hidden());
    wait();
    bar.set_style(style);
    bar.set_draw_target(target());
}

fn spinner(what: &str) -> ProgressBar {
    styled(ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()), SPINNER_TEMPLATE, what)
}

fn count_bar(what: &str, total: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::hidden());
    styled(bar, COUNT_TEMPLATE, what)
}

fn styled(bar: ProgressBar, template: &str, what: &str) -> ProgressBar {
    let bar = bar.with_prefix(what.to_owned());
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style.progress_chars("=> ").tick_chars(SPINNER)),
        Err(_) => bar,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use indicatif::InMemoryTerm;

    use super::*;

    /// The tests share one screen and one current drawing, so they run one after the other.
    static TURN: Mutex<()> = Mutex::new(());

    fn screen() -> &'static InMemoryTerm {
        static SCREEN: OnceLock<InMemoryTerm> = OnceLock::new();
        SCREEN.get_or_init(|| InMemoryTerm::new(5, 80))
    }

    fn plan(appears_after: Duration) -> DrawingPlan {
        let target = || ProgressDrawTarget::term_like(Box::new(screen().clone()));
        DrawingPlan { appears_after, target, pauses: None }
    }

    fn until(is_done: impl Fn() -> bool) {
        while !is_done() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_count_is_drawn_and_taken_away_at_the_end() {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        screen().reset();
        let progress = TaskProgress::planned(count_bar("copying debates", 8), plan(Duration::ZERO));
        progress.set_done(2);
        progress.set_message(" (1 refused)");
        until(|| screen().contents().contains("2 of 8 (1 refused), "));
        let drawn = screen().contents();
        assert!(drawn.starts_with("copying debates  [======>"), "{drawn}");
        let inner = TaskProgress::planned(spinner("inner"), plan(Duration::ZERO));
        assert!(inner.shown.is_none(), "one within another is not shown");
        assert_eq!(aside(|| screen().contents()), "", "the drawing makes room");
        drop(progress);
        assert_eq!(screen().contents(), "");
        assert!(current().is_none());
    }

    #[test]
    fn the_count_goes_on_while_a_person_is_asked() {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        screen().reset();
        let bar = count_bar("debates", 3);
        let target = plan(Duration::ZERO).target;
        bar.set_draw_target(target());
        bar.force_draw();
        assert!(screen().contents().contains("0 of 3"));
        make_room(&bar, target, || {
            assert_eq!(screen().contents(), "");
            bar.set_position(2);
            assert_eq!(screen().contents(), "", "nothing is drawn over the question");
        });
        bar.force_draw();
        assert!(screen().contents().contains("2 of 3"));
        bar.finish_and_clear();
    }

    #[test]
    fn quick_work_leaves_no_trace() {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        screen().reset();
        drop(TaskProgress::planned(spinner("opening the store"), plan(Duration::from_secs(3_600))));
        assert_eq!(screen().contents(), "");
        assert!(screen().moves_since_last_check().is_empty());
    }
}
