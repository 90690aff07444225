//! A result to a program, on its standard input. No shell reads the command.

use std::io::ErrorKind;
use std::path::Path;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, Command};

use super::one_line;
use crate::deliveries::courier::Carried;

/// The last of what a program complains is kept.
const TAIL_BYTES: usize = 2 * 1024;
const READ_BYTES: usize = 8 * 1024;
/// How long the last words of a program that failed are waited for after its end.
const AFTERWARDS: Duration = Duration::from_millis(500);

/// Runs the program until it ends. When the future is dropped, it is ended with everything that it started.
pub(crate) async fn run(
    command: &[String],
    section: &str,
    folder: &Path,
    env: &[(&str, &str)],
    outcome: &str,
) -> Carried {
    let Some((program, arguments)) = command.split_first() else {
        return Carried::Dead { why: format!("{section} has no command: set one") };
    };
    // A path that is not absolute begins where the delivery was bound, and the program runs there.
    let has_path = Path::new(program).components().count() > 1;
    let mut started = if has_path { Command::new(folder.join(program)) } else { Command::new(program) };
    if folder.is_dir() {
        started.current_dir(folder);
    }
    started.args(arguments).envs(env.iter().copied()).kill_on_drop(true);
    // What it says on its output is for nobody, and must not mix with what Agon says.
    started.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    #[cfg(unix)]
    started.process_group(0);
    let mut child = match started.spawn() {
        Ok(child) => Group::new(child),
        Err(why) => return not_started(program, section, &why),
    };
    let (stdin, stderr) = (child.child.stdin.take(), child.child.stderr.take());
    let mut complaints = Vec::new();
    let ended = {
        let mut talk = pin!(async { tokio::join!(tell(stdin, outcome), tail(stderr, &mut complaints)) });
        tokio::select! {
            ended = child.ended() => {
                // Something that it started may hold its streams open and never say a word.
                if !matches!(&ended, Ok(status) if status.success()) {
                    let _ = tokio::time::timeout(AFTERWARDS, &mut talk).await;
                }
                ended
            }
            ((), ()) = &mut talk => child.ended().await,
        }
    };
    match ended {
        Ok(status) if status.success() => Carried::Done { note: None },
        Ok(status) => {
            let said = one_line(&String::from_utf8_lossy(&complaints));
            let said = if said.is_empty() { said } else { format!(": {said}") };
            Carried::later(format!("the program of {section} failed ({status}){said}"))
        }
        Err(why) => Carried::later(format!("the program of {section} was lost sight of ({why})")),
    }
}

fn not_started(program: &str, section: &str, why: &std::io::Error) -> Carried {
    let shown = one_line(program);
    match why.kind() {
        ErrorKind::NotFound => {
            Carried::Dead { why: format!("there is no program {shown}: set command in {section}") }
        }
        ErrorKind::PermissionDenied => Carried::Dead {
            why: format!("{shown} may not be run: make it executable, or set command in {section}"),
        },
        _ => Carried::later(format!("{shown} cannot be started ({why})")),
    }
}

/// A program that does not want to read all of it may still do its work.
async fn tell(stdin: Option<ChildStdin>, outcome: &str) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(outcome.as_bytes()).await;
        let _ = stdin.shutdown().await;
    }
}

/// The last of what comes, however much that is.
async fn tail(pipe: Option<ChildStderr>, tail: &mut Vec<u8>) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = vec![0; READ_BYTES];
    while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
        tail.extend_from_slice(buffer.get(..read).unwrap_or_default());
        let over = tail.len().saturating_sub(TAIL_BYTES);
        tail.drain(..over);
    }
}

/// A program with everything that it started.
struct Group {
    child: Child,
    /// Its process group, until its status was taken: after that the number may be another's.
    #[cfg(unix)]
    id: Option<rustix::process::Pid>,
}

impl Group {
    fn new(child: Child) -> Self {
        #[cfg(unix)]
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        Self {
            child,
            #[cfg(unix)]
            id,
        }
    }

    /// Waits for its end.
    async fn ended(&mut self) -> std::io::Result<ExitStatus> {
        let status = self.child.wait().await;
        #[cfg(unix)]
        {
            self.id = None;
        }
        status
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A group that has no one left in it is as it should be.
        #[cfg(unix)]
        let _ = self.id.map(|id| rustix::process::kill_process_group(id, rustix::process::Signal::KILL));
    }
}
