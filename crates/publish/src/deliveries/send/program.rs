//! Gives an outcome to a program on its standard input. No shell is involved.

use std::io::ErrorKind;
use std::path::Path;
use std::pin::pin;
use std::process::{Command, Stdio};
use std::time::Duration;

use agon_host::{ProcessGroup, ProcessPipes};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin};

use super::short_line;
use crate::deliveries::attempt::AttemptResult;

/// How much of the end of its error output is kept.
const STDERR_BYTES_MAX: usize = 2 * 1024;
const READ_BYTES: usize = 8 * 1024;
/// How long to wait for the rest of the error output after a program has failed.
const STDERR_WAIT: Duration = Duration::from_millis(500);

/// Runs a program until it ends. What it leaves running in its process group is killed, also if the future is dropped.
pub(in crate::deliveries) async fn deliver(
    command: &[String],
    section: &str,
    folder: &Path,
    env: &[(&str, &str)],
    outcome: &str,
) -> AttemptResult {
    let Some((program, arguments)) = command.split_first() else {
        return AttemptResult::Dead { why: format!("{section} has no command: set one") };
    };
    // The program runs where the delivery was bound, and a relative path to it starts there.
    let has_path = Path::new(program).components().count() > 1;
    let mut process = if has_path { Command::new(folder.join(program)) } else { Command::new(program) };
    if folder.is_dir() {
        process.current_dir(folder);
    }
    process.args(arguments).envs(env.iter().copied());
    process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (mut group, ProcessPipes { stdin, mut stdout, stderr }) = match ProcessGroup::start(process) {
        Ok(started) => started,
        Err(why) => return start_failure(program, section, &why),
    };
    let mut complaints = Vec::new();
    let ended = {
        let mut nowhere = tokio::io::sink();
        let mut streams = pin!(async {
            tokio::join!(
                write_outcome(stdin, outcome),
                tokio::io::copy(&mut stdout, &mut nowhere),
                read_tail(stderr, &mut complaints)
            )
        });
        // A process that the program started may keep its streams open, so their end is not waited for.
        let all_read = tokio::select! {
            () = group.ended() => false,
            _ = &mut streams => true,
        };
        let ended = group.end().await;
        if !all_read && !matches!(&ended, Ok(status) if status.success()) {
            let _ = tokio::time::timeout(STDERR_WAIT, &mut streams).await;
        }
        ended
    };
    match ended {
        Ok(status) if status.success() => AttemptResult::Done { note: None },
        Ok(status) => {
            let complaint = short_line(&String::from_utf8_lossy(&complaints));
            let said = if complaint.is_empty() { complaint } else { format!(": {complaint}") };
            AttemptResult::retry(format!("the program of {section} failed ({status}){said}"))
        }
        Err(why) => AttemptResult::retry(format!("the program of {section} has no exit status ({why})")),
    }
}

fn start_failure(program: &str, section: &str, why: &std::io::Error) -> AttemptResult {
    let shown = short_line(program);
    match why.kind() {
        ErrorKind::NotFound => {
            AttemptResult::Dead { why: format!("there is no program {shown}: set command in {section}") }
        }
        ErrorKind::PermissionDenied => AttemptResult::Dead {
            why: format!("{shown} cannot be executed: make it executable, or set command in {section}"),
        },
        _ => AttemptResult::retry(format!("{shown} cannot be started ({why})")),
    }
}

/// Writes the outcome. A program may end without reading all of it.
async fn write_outcome(mut stdin: ChildStdin, outcome: &str) {
    let _ = stdin.write_all(outcome.as_bytes()).await;
    let _ = stdin.shutdown().await;
}

/// Reads everything and keeps the end.
async fn read_tail(mut pipe: ChildStderr, tail: &mut Vec<u8>) {
    let mut buffer = vec![0; READ_BYTES];
    while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
        tail.extend_from_slice(buffer.get(..read).unwrap_or_default());
        let over = tail.len().saturating_sub(STDERR_BYTES_MAX);
        tail.drain(..over);
    }
}
