//! A program with everything that it started, and its end.

use std::collections::BTreeMap;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::oneshot;

/// The programs that run, by process number.
static RUNNING: Mutex<BTreeMap<u32, Arc<Program>>> = Mutex::new(BTreeMap::new());

/// Ends every program that a `command/NAME` has started, with all that they started: for a process that exits without
/// dropping the calls that are under way.
pub fn kill_commands() {
    // A program that ends takes itself off the list while it is held, so that both must never be held here.
    let running: Vec<Arc<Program>> = lock(&RUNNING).values().cloned().collect();
    running.iter().for_each(|program| lock(&program.child).kill());
}

/// A program that was started. When this is dropped, the program and all in its process group are ended.
///
/// A thread of its own waits for the program and takes its exit status. So no process is left behind as a zombie, whatever
/// becomes of the runtime, and no signal can go to a stranger: the number of a process is given to nobody else before its
/// status was taken.
#[derive(Debug)]
pub(super) struct Group {
    program: Arc<Program>,
    ended: Option<oneshot::Receiver<()>>,
    status: oneshot::Receiver<io::Result<ExitStatus>>,
    /// Dropped to have the status taken.
    hold: Option<mpsc::Sender<()>>,
}

/// The ends of a program's pipes.
#[derive(Debug)]
pub(super) struct Pipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

#[derive(Debug)]
struct Program {
    id: u32,
    child: Mutex<Held>,
}

#[derive(Debug)]
struct Held {
    child: Child,
    taken: bool,
}

impl Group {
    /// Starts the program in a process group of its own.
    pub(super) fn start(mut command: Command) -> io::Result<(Self, Pipes)> {
        in_own_group(&mut command);
        let mut child = command.spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let program = Arc::new(Program { id: child.id(), child: Mutex::new(Held { child, taken: false }) });
        lock(&RUNNING).insert(program.id, program.clone());
        let group = Self::watched(program)?;
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("it has no pipes"));
        };
        let (stdin, stdout) = (ChildStdin::from_std(stdin)?, ChildStdout::from_std(stdout)?);
        Ok((group, Pipes { stdin, stdout, stderr: ChildStderr::from_std(stderr)? }))
    }

    fn watched(program: Arc<Program>) -> io::Result<Self> {
        let (end, ended) = oneshot::channel();
        let (take, status) = oneshot::channel();
        let (hold, released) = mpsc::channel::<()>();
        let watched = program.clone();
        let watch = move || {
            watched.wait();
            let _ = end.send(());
            // Nothing is ever sent; it returns when the other end is dropped.
            let _ = released.recv();
            let _ = take.send(watched.take());
        };
        let thread = thread::Builder::new().name(format!("command {}", program.id)).spawn(watch);
        if let Err(why) = thread {
            lock(&program.child).kill();
            let _ = program.take();
            return Err(why);
        }
        Ok(Self { program, ended: Some(ended), status, hold: Some(hold) })
    }

    /// Returns when the program has ended. What it started may still run.
    pub(super) async fn ended(&mut self) {
        if let Some(ended) = &mut self.ended {
            let _ = ended.await;
            self.ended = None;
        }
    }

    /// Waits for the program's end, ends what it started, and gives its status.
    pub(super) async fn end(mut self) -> io::Result<ExitStatus> {
        self.ended().await;
        self.hold = None;
        let status = &mut self.status;
        status.await.unwrap_or_else(|_| Err(io::Error::other("nobody waits for it")))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        lock(&self.program.child).kill();
    }
}

impl Program {
    /// Waits for the program's end and leaves its status where it is.
    #[cfg(unix)]
    fn wait(&self) {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let Some(id) = pid(self.id) else { return };
        let look = || waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        while matches!(look(), Err(rustix::io::Errno::INTR)) {}
    }

    /// Waits for the program's end. It cannot be waited for and ended at once, so it is looked at now and then.
    #[cfg(not(unix))]
    fn wait(&self) {
        const BETWEEN_LOOKS: std::time::Duration = std::time::Duration::from_millis(20);
        while matches!(lock(&self.child).child.try_wait(), Ok(None)) {
            thread::sleep(BETWEEN_LOOKS);
        }
    }

    /// Takes the status of a program that has ended, and ends what is left of its group.
    fn take(&self) -> io::Result<ExitStatus> {
        let mut held = lock(&self.child);
        held.kill();
        held.taken = true;
        lock(&RUNNING).remove(&self.id);
        held.child.wait()
    }
}

impl Held {
    #[cfg(unix)]
    fn kill(&mut self) {
        let id = pid(self.child.id()).filter(|_| !self.taken);
        // A group that has no one left in it is as it should be.
        let _ = id.map(|id| rustix::process::kill_process_group(id, rustix::process::Signal::KILL));
    }

    #[cfg(not(unix))]
    fn kill(&mut self) {
        let _ = self.child.kill();
    }
}

#[cfg(unix)]
fn in_own_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn in_own_group(_: &mut Command) {}

#[cfg(unix)]
fn pid(id: u32) -> Option<rustix::process::Pid> {
    i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
