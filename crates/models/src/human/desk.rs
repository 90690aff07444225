//! One terminal, shared by all who sit at it.
//!
//! A read cannot be called back once it waits. So reading has a thread of its own, which reads only while somebody wants a line
//! and hands it to whoever asked for it; when that one has gone, the line is nobody's, and the next question gets the next
//! line. Writing has a thread too: a terminal that stands still must not hold up the debate.

use std::fmt;
use std::io;
use std::sync::{Arc, mpsc};
use std::thread;

use tokio::sync::{Mutex, MutexGuard, oneshot};

use super::terminal::{Terminal, Typed};
use agon_host::clean_text as clean;

/// Called with `true` before a person is asked and with `false` afterwards, also when the question was given up: for
/// whatever else draws on the same terminal. It may wait until the terminal is free.
pub type Aside = Arc<dyn Fn(bool) + Send + Sync>;

type Open = Box<dyn Fn() -> io::Result<Arc<dyn Terminal>> + Send + Sync>;
type Asker = oneshot::Sender<io::Result<Option<Typed>>>;

const CLOSED: &str =
    "\n\nThis question is closed; what you were typing was not sent. The debate goes on.\n\n";
const TOO_LATE: &str =
    "(That line was begun for the question before, so it does not count. Please type it again.)\n";

/// The place where people sit. One at a time is asked.
pub struct Desk {
    open: Open,
    aside: Option<Aside>,
    turn: Mutex<Option<Hands>>,
}

impl Desk {
    /// At the terminal that this process was started in, wherever its standard streams go. It is opened when somebody is first
    /// asked.
    pub fn here() -> Self {
        Self::opened_by(super::tty::open)
    }

    /// At this terminal.
    pub fn at(terminal: Arc<dyn Terminal>) -> Self {
        Self::opened_by(move || Ok(terminal.clone()))
    }

    /// With something to call before and after a person is asked.
    pub fn with_aside(self, aside: Aside) -> Self {
        Self { aside: Some(aside), ..self }
    }

    /// At the terminal that `open` gives when somebody is first asked, and again after it failed.
    pub fn opened_by(open: impl Fn() -> io::Result<Arc<dyn Terminal>> + Send + Sync + 'static) -> Self {
        Self { open: Box::new(open), aside: None, turn: Mutex::new(None) }
    }

    /// Waits for its turn and opens a question.
    pub(super) async fn sit(&self) -> io::Result<Session<'_>> {
        let mut hands = self.turn.lock().await;
        if hands.is_none() {
            *hands = Some(Hands::new((self.open)()?, self.aside.clone())?);
        }
        let session = Session { hands, closing: CLOSED };
        session.do_next(Job::Begin)?;
        Ok(session)
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").finish_non_exhaustive()
    }
}

/// One question to one person. When it is dropped, the question is closed.
pub(super) struct Session<'a> {
    hands: MutexGuard<'a, Option<Hands>>,
    closing: &'static str,
}

/// The threads that write and read. They end when this is dropped.
struct Hands {
    terminal: Arc<dyn Terminal>,
    pen: mpsc::Sender<Job>,
    ear: mpsc::Sender<Asker>,
}

enum Job {
    Begin,
    Write(String, oneshot::Sender<io::Result<()>>),
    /// With the last words; `true` when the person may be in the middle of a line.
    Finish(&'static str, bool),
}

impl Session<'_> {
    pub(super) fn columns(&self) -> usize {
        self.hands.as_ref().map_or(80, |hands| hands.terminal.columns())
    }

    /// Shows a text, cleaned of everything that could command the terminal.
    pub(super) async fn show(&mut self, text: String) -> io::Result<()> {
        let (done, written) = oneshot::channel();
        self.do_next(Job::Write(clean(&text), done))?;
        let written = written.await.unwrap_or_else(|_| Err(lost()));
        self.kept(written)
    }

    /// The next line that the person types.
    pub(super) async fn line(&mut self) -> io::Result<Typed> {
        let (asker, typed) = oneshot::channel();
        self.hands.as_ref().and_then(|hands| hands.ear.send(asker).ok()).ok_or_else(lost)?;
        let typed = typed.await.unwrap_or_else(|_| Err(lost()));
        let typed = self.kept(typed)?;
        typed.ok_or_else(lost)
    }

    /// Closes the question with these words.
    pub(super) fn close(mut self, words: &'static str) {
        self.closing = words;
    }

    fn do_next(&self, job: Job) -> io::Result<()> {
        self.hands.as_ref().and_then(|hands| hands.pen.send(job).ok()).ok_or_else(lost)
    }

    /// A terminal that failed is opened anew for the next question.
    fn kept<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        if result.is_err() {
            let _ = self.do_next(Job::Finish("", false));
            *self.hands = None;
        }
        result
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        // Without hands there is nobody left to tell.
        let _ = self.do_next(Job::Finish(self.closing, self.closing == CLOSED));
    }
}

impl Hands {
    fn new(terminal: Arc<dyn Terminal>, aside: Option<Aside>) -> io::Result<Self> {
        let (pen, jobs) = mpsc::channel();
        let (ear, askers) = mpsc::channel();
        let (paper, keys) = (terminal.clone(), terminal.clone());
        thread::Builder::new().name("terminal output".into()).spawn(move || write(&*paper, &aside, &jobs))?;
        thread::Builder::new().name("terminal input".into()).spawn(move || listen(&*keys, &askers))?;
        Ok(Self { terminal, pen, ear })
    }
}

fn write(terminal: &dyn Terminal, aside: &Option<Aside>, jobs: &mpsc::Receiver<Job>) {
    let step_aside = |busy: bool| aside.iter().for_each(|aside| aside(busy));
    while let Ok(job) = jobs.recv() {
        match job {
            Job::Begin => {
                step_aside(true);
                terminal.discard();
            }
            Job::Write(text, done) => {
                let _ = done.send(terminal.write(&text));
            }
            Job::Finish(words, in_a_line) => {
                if in_a_line {
                    terminal.discard();
                }
                let _ = terminal.write(words);
                step_aside(false);
            }
        }
    }
}

fn listen(terminal: &dyn Terminal, askers: &mpsc::Receiver<Asker>) {
    let mut next = askers.recv().ok();
    while let Some(asker) = next {
        let typed = terminal.read_line(&|| !asker.is_closed());
        let unclaimed = asker.send(typed).is_err_and(|typed| matches!(typed, Ok(Some(_))));
        next = match askers.try_recv() {
            Ok(asker) => {
                if unclaimed {
                    let _ = terminal.write(TOO_LATE);
                }
                Some(asker)
            }
            Err(_) => askers.recv().ok(),
        };
    }
}

fn lost() -> io::Error {
    io::Error::other("it does not answer")
}
