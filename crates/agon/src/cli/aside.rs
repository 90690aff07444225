//! Who has the terminal: the live view, or a person who is asked something.
//!
//! The desk at which people sit writes on a thread of its own, and so does the live view. Before a question the desk says so
//! here and waits until the view has taken its drawing away; the view then stands still until the question is over. What
//! happens meanwhile stays in the view's queues.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// How long the end of a debate waits for a question to be closed in words. A terminal that stands still is not waited for.
const CLOSING: Duration = Duration::from_secs(1);

/// The terminal of this process: there is only one.
pub fn terminal() -> &'static Terminal {
    static TERMINAL: Terminal = Terminal::new();
    &TERMINAL
}

/// A terminal that two may want to draw on.
#[derive(Debug)]
pub struct Terminal {
    now: Mutex<Now>,
    free: Condvar,
}

#[derive(Debug)]
struct Now {
    view: Option<UnboundedSender<Pause>>,
    /// Held while a person is asked; whoever waits for the end of the question has the other end.
    asking: Option<Sender<()>>,
}

/// A question that the view has to make room for.
#[derive(Debug)]
pub struct Pause {
    cleared: Sender<()>,
    over: Receiver<()>,
}

impl Terminal {
    const fn new() -> Self {
        Self { now: Mutex::new(Now { view: None, asking: None }), free: Condvar::new() }
    }

    /// What the desk calls before and after a question.
    pub fn hook(&'static self) -> agon_models::human::Aside {
        Arc::new(|busy| if busy { self.ask() } else { self.answered() })
    }

    /// The view's side: what it gets it has to [hold](Pause::hold) once its drawing is gone.
    pub fn view(&self) -> UnboundedReceiver<Pause> {
        let (view, pauses) = unbounded_channel();
        self.now().view = Some(view);
        pauses
    }

    /// Whether a person is being asked.
    pub fn is_busy(&self) -> bool {
        self.now().asking.is_some()
    }

    /// The debate is over. A question that is still open is given a moment to be closed, and then no longer waited for:
    /// nobody may ever say that it is over.
    pub fn leave(&self) {
        let busy = |now: &mut Now| now.asking.is_some();
        let waited = self.free.wait_timeout_while(self.now(), CLOSING, busy);
        let (mut now, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *now = Now { view: None, asking: None };
    }

    /// Returns when the terminal is free for a question.
    fn ask(&self) {
        let (asking, over) = mpsc::channel();
        let (cleared, free) = mpsc::channel();
        let mut now = self.now();
        // A question before that was never said to be over is over now.
        now.asking = Some(asking);
        let told = now.view.as_ref().is_some_and(|view| view.send(Pause { cleared, over }).is_ok());
        drop(now);
        if told {
            // Nothing is sent: the other end is dropped, by a view that has cleared its drawing or by one that is gone.
            let _ = free.recv();
        }
    }

    fn answered(&self) {
        self.now().asking = None;
        self.free.notify_all();
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pause {
    /// Lets the question be put, and returns when it is over.
    pub fn hold(self) {
        drop(self.cleared);
        let _ = self.over.recv();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A terminal with a view that notes what it does.
    fn watched(terminal: &'static Terminal) -> (Receiver<&'static str>, std::thread::JoinHandle<()>) {
        let (note, notes) = mpsc::channel();
        let mut pauses = terminal.view();
        let view = std::thread::spawn(move || {
            while let Some(pause) = pauses.blocking_recv() {
                note.send("aside").unwrap();
                pause.hold();
                note.send("back").unwrap();
            }
        });
        (notes, view)
    }

    fn leaked() -> &'static Terminal {
        Box::leak(Box::new(Terminal::new()))
    }

    /// "On true, clear and hide the drawing ... acknowledge, on false go on."
    #[test]
    fn the_view_is_aside_before_the_question_and_back_after_it() {
        let terminal = leaked();
        let (notes, view) = watched(terminal);
        let hook = terminal.hook();
        for _ in 0..3 {
            hook(true);
            assert_eq!(notes.try_recv(), Ok("aside"), "the hook waits for it");
            assert!(terminal.is_busy() && notes.try_recv().is_err());
            hook(false);
            assert_eq!(notes.recv(), Ok("back"));
        }
        terminal.leave();
        view.join().unwrap();
    }

    /// "Do not rely on false arriving."
    #[test]
    fn a_question_that_is_never_closed_holds_up_neither_the_next_nor_the_end() {
        let terminal = leaked();
        let (notes, view) = watched(terminal);
        let hook = terminal.hook();
        hook(true);
        hook(true);
        terminal.leave();
        view.join().unwrap();
        assert_eq!(notes.iter().collect::<Vec<_>>(), ["aside", "back", "aside", "back"]);
        assert!(!terminal.is_busy());
    }

    #[test]
    fn without_a_view_or_with_one_that_is_gone_nobody_waits() {
        let terminal = leaked();
        let hook = terminal.hook();
        hook(true);
        hook(false);
        drop(terminal.view());
        hook(true);
        hook(false);
        assert!(!terminal.is_busy());
    }
}
