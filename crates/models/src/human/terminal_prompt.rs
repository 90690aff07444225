//! One terminal, shared by all people who are asked.
//!
//! A blocking read cannot be cancelled. So a thread reads, only while someone waits for a line. If the question is closed in
//! the meantime, the line is dropped, and the next question gets the next line. Another thread writes, so that a stopped
//! terminal does not stop the debate.

use std::fmt;
use std::io;
use std::sync::{Arc, mpsc};
use std::thread;

use agon_host::clean_text;
use tokio::sync::{Mutex, MutexGuard, oneshot};

/// What a person typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalInput {
    /// A line, without the newline.
    Line(String),
    /// Ctrl-D, or the end of the input.
    End,
}

/// A terminal. Its methods may block: one thread calls those that write, another the one that reads.
pub trait TerminalDevice: Send + Sync {
    /// Writes `text`, which has no control characters except newline and tab.
    fn write(&self, text: &str) -> io::Result<()>;

    /// Reads the next line. `is_wanted` tells whether anyone still waits for it; a terminal that can check this while it
    /// reads returns `None` if not. Otherwise the late line is dropped by the caller.
    fn read_line(&self, is_wanted: &dyn Fn() -> bool) -> io::Result<Option<TerminalInput>>;

    /// Discards what was typed but not read, if possible. Called before a question and after one was closed.
    fn discard(&self) {}

    /// The width in columns.
    fn columns(&self) -> usize {
        80
    }
}

/// Called with `true` before a person is asked and with `false` afterwards, even if the question was cancelled. It lets
/// something else that draws on the terminal, such as the live view, make room. It may block until the terminal is free.
pub type TerminalPauseHook = Arc<dyn Fn(bool) + Send + Sync>;

type OpenTerminal = Box<dyn Fn() -> io::Result<Arc<dyn TerminalDevice>> + Send + Sync>;
type LineSender = oneshot::Sender<io::Result<Option<TerminalInput>>>;

const QUESTION_CLOSED: &str =
    "\n\nThis question is closed; what you were typing was not sent. The debate goes on.\n\n";
const LINE_TOO_LATE: &str =
    "(You started that line for the previous question, so it does not count. Please type it again.)\n";

/// Asks people at a terminal, one at a time.
pub struct TerminalPrompt {
    open: OpenTerminal,
    pause_hook: Option<TerminalPauseHook>,
    threads: Mutex<Option<TerminalThreads>>,
}

impl TerminalPrompt {
    /// Uses the terminal that this process was started in, even if its standard streams are redirected. The terminal is
    /// opened for the first question.
    pub fn on_this_terminal() -> Self {
        Self::opened_by(super::tty::open)
    }

    /// Uses this terminal.
    pub fn on(terminal: Arc<dyn TerminalDevice>) -> Self {
        Self::opened_by(move || Ok(terminal.clone()))
    }

    /// Uses the terminal that `open` returns. It is called for the first question, and again after the terminal failed.
    pub fn opened_by(open: impl Fn() -> io::Result<Arc<dyn TerminalDevice>> + Send + Sync + 'static) -> Self {
        Self { open: Box::new(open), pause_hook: None, threads: Mutex::new(None) }
    }

    /// Calls `hook` before and after each question.
    #[must_use]
    pub fn with_pause_hook(self, hook: TerminalPauseHook) -> Self {
        Self { pause_hook: Some(hook), ..self }
    }

    /// Waits until no other question is open, and opens one.
    pub(super) async fn open_question(&self) -> io::Result<TerminalQuestion<'_>> {
        let mut threads = self.threads.lock().await;
        if threads.is_none() {
            *threads = Some(TerminalThreads::start((self.open)()?, self.pause_hook.clone())?);
        }
        let question = TerminalQuestion { threads, closing_text: QUESTION_CLOSED };
        question.send(WriterJob::OpenQuestion)?;
        Ok(question)
    }
}

impl fmt::Debug for TerminalPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TerminalPrompt").finish_non_exhaustive()
    }
}

/// One question to one person. Dropping it closes the question.
pub(super) struct TerminalQuestion<'a> {
    threads: MutexGuard<'a, Option<TerminalThreads>>,
    closing_text: &'static str,
}

impl TerminalQuestion<'_> {
    pub(super) fn columns(&self) -> usize {
        self.threads.as_ref().map_or(80, |threads| threads.terminal.columns())
    }

    /// Shows a text, without anything that could control the terminal.
    pub(super) async fn show(&mut self, text: String) -> io::Result<()> {
        let (done, written) = oneshot::channel();
        self.send(WriterJob::Write(clean_text(&text), done))?;
        let written = written.await.unwrap_or_else(|_| Err(no_answer()));
        self.reopen_on_error(written)
    }

    pub(super) async fn read_line(&mut self) -> io::Result<TerminalInput> {
        let (sender, typed) = oneshot::channel();
        let threads = self.threads.as_ref().ok_or_else(no_answer)?;
        threads.reader.send(sender).map_err(|_| no_answer())?;
        let typed = typed.await.unwrap_or_else(|_| Err(no_answer()));
        self.reopen_on_error(typed)?.ok_or_else(no_answer)
    }

    pub(super) fn close(mut self, text: &'static str) {
        self.closing_text = text;
    }

    fn send(&self, job: WriterJob) -> io::Result<()> {
        let threads = self.threads.as_ref().ok_or_else(no_answer)?;
        threads.writer.send(job).map_err(|_| no_answer())
    }

    /// Drops a terminal that failed, so that the next question opens it again.
    fn reopen_on_error<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        if result.is_err() {
            let _ = self.send(WriterJob::CloseQuestion { text: "", may_be_mid_line: false });
            *self.threads = None;
        }
        result
    }
}

impl Drop for TerminalQuestion<'_> {
    fn drop(&mut self) {
        // This fails only after an error has closed the question already.
        let may_be_mid_line = self.closing_text == QUESTION_CLOSED;
        let _ = self.send(WriterJob::CloseQuestion { text: self.closing_text, may_be_mid_line });
    }
}

/// The threads that write and read. They end when this is dropped.
struct TerminalThreads {
    terminal: Arc<dyn TerminalDevice>,
    writer: mpsc::Sender<WriterJob>,
    reader: mpsc::Sender<LineSender>,
}

enum WriterJob {
    OpenQuestion,
    Write(String, oneshot::Sender<io::Result<()>>),
    CloseQuestion {
        text: &'static str,
        /// Whether the person may be typing.
        may_be_mid_line: bool,
    },
}

impl TerminalThreads {
    fn start(terminal: Arc<dyn TerminalDevice>, hook: Option<TerminalPauseHook>) -> io::Result<Self> {
        let (writer, jobs) = mpsc::channel();
        let (reader, waiting) = mpsc::channel();
        let (output, input) = (terminal.clone(), terminal.clone());
        let write = move || run_writer(&*output, hook.as_ref(), &jobs);
        thread::Builder::new().name("terminal output".into()).spawn(write)?;
        let read = move || run_reader(&*input, &waiting);
        thread::Builder::new().name("terminal input".into()).spawn(read)?;
        Ok(Self { terminal, writer, reader })
    }
}

fn run_writer(
    terminal: &dyn TerminalDevice,
    hook: Option<&TerminalPauseHook>,
    jobs: &mpsc::Receiver<WriterJob>,
) {
    let call_hook = |is_asking: bool| hook.iter().for_each(|hook| hook(is_asking));
    while let Ok(job) = jobs.recv() {
        match job {
            WriterJob::OpenQuestion => {
                call_hook(true);
                terminal.discard();
            }
            WriterJob::Write(text, done) => {
                let _ = done.send(terminal.write(&text));
            }
            WriterJob::CloseQuestion { text, may_be_mid_line } => {
                if may_be_mid_line {
                    terminal.discard();
                }
                let _ = terminal.write(text);
                call_hook(false);
            }
        }
    }
}

fn run_reader(terminal: &dyn TerminalDevice, waiting: &mpsc::Receiver<LineSender>) {
    let mut next = waiting.recv().ok();
    while let Some(sender) = next {
        let typed = terminal.read_line(&|| !sender.is_closed());
        let is_dropped = sender.send(typed).is_err_and(|typed| matches!(typed, Ok(Some(_))));
        next = match waiting.try_recv() {
            Ok(sender) => {
                if is_dropped {
                    let _ = terminal.write(LINE_TOO_LATE);
                }
                Some(sender)
            }
            Err(_) => waiting.recv().ok(),
        };
    }
}

fn no_answer() -> io::Error {
    io::Error::other("it does not answer")
}
