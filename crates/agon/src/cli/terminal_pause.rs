//! Who uses the terminal: the live view, or a person who is asked something.
//!
//! Both write from threads of their own. Before a question, the prompt announces it here and waits until the live view has
//! removed its drawing. The view then stands still until the question is over; its queues keep what happens meanwhile.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agon_models::human::TerminalPauseHook;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// How long the end of a debate waits for an open question.
const CLOSING_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a process that is told to end at once waits until the live view is gone. If the terminal is stopped, the
/// view never goes away.
const CLEARING_TIMEOUT: Duration = Duration::from_millis(300);

/// The terminal of this process.
pub fn terminal() -> &'static SharedTerminal {
    static TERMINAL: SharedTerminal = SharedTerminal::new();
    &TERMINAL
}

/// A terminal that the live view and a prompt share.
#[derive(Debug)]
pub struct SharedTerminal {
    state: Mutex<TerminalState>,
    question_over: Condvar,
}

#[derive(Debug)]
struct TerminalState {
    view: Option<UnboundedSender<TerminalPause>>,
    /// Held while a person is asked. Dropping it ends the view's pause.
    question: Option<Sender<()>>,
}

/// A question for which the view must pause.
#[derive(Debug)]
pub struct TerminalPause {
    cleared: Sender<()>,
    question_over: Receiver<()>,
}

impl SharedTerminal {
    const fn new() -> Self {
        let state = TerminalState { view: None, question: None };
        Self { state: Mutex::new(state), question_over: Condvar::new() }
    }

    /// What the prompt calls before and after a question.
    pub fn pause_hook(&'static self) -> TerminalPauseHook {
        Arc::new(|is_asking| if is_asking { self.begin_question() } else { self.end_question() })
    }

    /// Registers the live view. For each pause that it receives, it must remove its drawing and then
    /// [wait](TerminalPause::wait).
    pub fn attach_view(&self) -> UnboundedReceiver<TerminalPause> {
        let (view, pauses) = unbounded_channel();
        self.state().view = Some(view);
        pauses
    }

    /// Whether a person is being asked.
    pub fn is_asking(&self) -> bool {
        self.state().question.is_some()
    }

    /// Ends the use of the terminal after a debate. An open question gets a moment to end; it may never do so.
    pub fn close(&self) {
        let is_asking = |state: &mut TerminalState| state.question.is_some();
        let waited = self.question_over.wait_timeout_while(self.state(), CLOSING_TIMEOUT, is_asking);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *state = TerminalState { view: None, question: None };
    }

    /// Removes the live view for good: the process ends at once and says one more thing.
    pub fn clear_for_exit(&self) {
        if !self.is_asking()
            && let Some(view_cleared) = self.pause_view()
        {
            let _ = view_cleared.recv_timeout(CLEARING_TIMEOUT);
        }
    }

    /// Returns when the terminal is free for a question.
    fn begin_question(&self) {
        if let Some(view_cleared) = self.pause_view() {
            let _ = view_cleared.recv();
        }
    }

    /// Asks the live view to pause. Nothing is ever sent to the receiver, which fails when the view drops its end: after clearing, or when
    /// it is gone. `None` without a view.
    fn pause_view(&self) -> Option<Receiver<()>> {
        let (question, question_over) = mpsc::channel();
        let (cleared, view_cleared) = mpsc::channel();
        let mut state = self.state();
        // This also ends an earlier question whose end was never reported.
        state.question = Some(question);
        let pause = TerminalPause { cleared, question_over };
        state.view.as_ref()?.send(pause).ok()?;
        Some(view_cleared)
    }

    fn end_question(&self) {
        self.state().question = None;
        self.question_over.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, TerminalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TerminalPause {
    /// Lets the question begin, and returns when it is over.
    pub fn wait(self) {
        drop(self.cleared);
        let _ = self.question_over.recv();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attaches a view that notes when it pauses and when it continues.
    fn noting_view(
        terminal: &'static SharedTerminal,
    ) -> (Receiver<&'static str>, std::thread::JoinHandle<()>) {
        let (note, notes) = mpsc::channel();
        let mut pauses = terminal.attach_view();
        let view = std::thread::spawn(move || {
            while let Some(pause) = pauses.blocking_recv() {
                note.send("paused").unwrap();
                pause.wait();
                note.send("continued").unwrap();
            }
        });
        (notes, view)
    }

    fn leaked_terminal() -> &'static SharedTerminal {
        Box::leak(Box::new(SharedTerminal::new()))
    }

    #[test]
    fn the_view_pauses_before_a_question_and_continues_after_it() {
        let terminal = leaked_terminal();
        let (notes, view) = noting_view(terminal);
        let hook = terminal.pause_hook();
        for _ in 0..3 {
            hook(true);
            assert_eq!(notes.try_recv(), Ok("paused"), "the hook waits for it");
            assert!(terminal.is_asking() && notes.try_recv().is_err());
            hook(false);
            assert_eq!(notes.recv(), Ok("continued"));
        }
        terminal.close();
        view.join().unwrap();
    }

    #[test]
    fn a_question_that_never_ends_holds_up_neither_the_next_nor_the_end() {
        let terminal = leaked_terminal();
        let (notes, view) = noting_view(terminal);
        let hook = terminal.pause_hook();
        hook(true);
        hook(true);
        terminal.close();
        view.join().unwrap();
        assert_eq!(notes.iter().collect::<Vec<_>>(), ["paused", "continued", "paused", "continued"]);
        assert!(!terminal.is_asking());
    }

    #[test]
    fn a_question_does_not_wait_for_a_view_that_is_gone() {
        let terminal = leaked_terminal();
        let hook = terminal.pause_hook();
        hook(true);
        hook(false);
        drop(terminal.attach_view());
        hook(true);
        hook(false);
        assert!(!terminal.is_asking());
    }
}
