//! Programs that end together with everything they started.

use std::collections::BTreeMap;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::oneshot;

/// The programs that are running, by process id.
static RUNNING: Mutex<BTreeMap<u32, Arc<RunningProgram>>> = Mutex::new(BTreeMap::new());

/// Kills every running group. Call it before a process exits without dropping its [`ProcessGroup`]s.
pub fn kill_all_groups() {
    // A program that ends removes itself from the list while its own lock is held, so both must never be held here.
    let running: Vec<Arc<RunningProgram>> = lock(&RUNNING).values().cloned().collect();
    running.iter().for_each(|program| lock(&program.child).kill());
}

/// A running program. When this is dropped, the program and everything in its process group are killed.
///
/// A thread waits for the program and takes its exit status. So no zombie is left behind, whatever happens to the
/// runtime, and no signal reaches an unrelated process: the system does not reuse a process id before the status is taken.
#[derive(Debug)]
pub struct ProcessGroup {
    program: Arc<RunningProgram>,
    ended: Option<oneshot::Receiver<()>>,
    status: oneshot::Receiver<io::Result<ExitStatus>>,
    /// The watching thread takes the status when this is dropped.
    hold: Option<mpsc::Sender<()>>,
}

/// Our ends of a program's pipes.
#[derive(Debug)]
pub struct ProcessPipes {
    /// Its standard input.
    pub stdin: ChildStdin,
    /// Its standard output.
    pub stdout: ChildStdout,
    /// Its standard error.
    pub stderr: ChildStderr,
}

#[derive(Debug)]
struct RunningProgram {
    id: u32,
    child: Mutex<ChildState>,
}

#[derive(Debug)]
struct ChildState {
    child: Child,
    status_taken: bool,
}

impl ProcessGroup {
    /// Starts `command` in its own process group. All three of its streams must be piped.
    pub fn start(mut command: Command) -> io::Result<(Self, ProcessPipes)> {
        in_own_group(&mut command);
        let mut child = command.spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let program = Arc::new(RunningProgram {
            id: child.id(),
            child: Mutex::new(ChildState { child, status_taken: false }),
        });
        lock(&RUNNING).insert(program.id, program.clone());
        let group = Self::watched(program)?;
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("the program was started without pipes"));
        };
        let (stdin, stdout) = (ChildStdin::from_std(stdin)?, ChildStdout::from_std(stdout)?);
        Ok((group, ProcessPipes { stdin, stdout, stderr: ChildStderr::from_std(stderr)? }))
    }

    fn watched(program: Arc<RunningProgram>) -> io::Result<Self> {
        let (end, ended) = oneshot::channel();
        let (take, status) = oneshot::channel();
        let (hold, released) = mpsc::channel::<()>();
        let watched = program.clone();
        let watch = move || {
            watched.wait();
            let _ = end.send(());
            // Nothing is ever sent: this returns when the sender is dropped.
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

    /// Returns when the program has ended. Processes that it started may still run.
    pub async fn ended(&mut self) {
        if let Some(ended) = &mut self.ended {
            let _ = ended.await;
            self.ended = None;
        }
    }

    /// Waits for the program to end, kills what it started, and returns its status.
    pub async fn end(mut self) -> io::Result<ExitStatus> {
        self.ended().await;
        self.hold = None;
        let status = &mut self.status;
        status
            .await
            .unwrap_or_else(|_| Err(io::Error::other("the thread that waits for the program is gone")))
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        lock(&self.program.child).kill();
    }
}

impl RunningProgram {
    /// Waits for the program to end without taking its status.
    #[cfg(unix)]
    fn wait(&self) {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let Some(id) = pid(self.id) else { return };
        let look = || waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        while matches!(look(), Err(rustix::io::Errno::INTR)) {}
    }

    /// Waits for the program to end. It cannot be waited for and killed at the same time here, so this polls.
    #[cfg(not(unix))]
    fn wait(&self) {
        const POLL_INTERVAL: std::time::Duration = std::time::Duration::from_millis(20);
        while matches!(lock(&self.child).child.try_wait(), Ok(None)) {
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Takes the status of a program that has ended and kills what is left of its group.
    fn take(&self) -> io::Result<ExitStatus> {
        let mut held = lock(&self.child);
        held.kill();
        held.status_taken = true;
        lock(&RUNNING).remove(&self.id);
        held.child.wait()
    }
}

impl ChildState {
    #[cfg(unix)]
    fn kill(&mut self) {
        let id = pid(self.child.id()).filter(|_| !self.status_taken);
        // An empty group is fine.
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
