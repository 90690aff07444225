//! Ctrl-C and other requests to end: the first ends the debate in order, the second ends the process at once.

use agon_engine::StopSignal;

use super::errors::{CliError, EXIT_INTERRUPTED};
use super::output::{note, stderr_is_live};
use super::runtime::block_on;
use super::terminal_pause::terminal;

const STOPPING: &str =
    "stopping: waiting up to 2 s for calls in progress; press Ctrl-C again to stop immediately";

/// How the process was asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndRequest {
    /// Ctrl-C, or a request of the system: calls in progress may finish.
    Graceful,
    /// Ctrl-\: end immediately.
    Immediate,
}

/// Watches for signals. The first graceful one triggers `stop`; the next one ends the process. `show_line` shows a line
/// while the debate is on the screen; `farewell` tells the user how to continue later.
pub async fn watch(stop: StopSignal, show_line: impl Fn(&str), farewell: String) {
    let Ok(request) = end_requested().await else { return };
    if request == EndRequest::Graceful {
        show_line(STOPPING);
        stop.stop();
        if end_requested().await.is_err() {
            return;
        }
    }
    // A spinner would overwrite the line. The terminal may have echoed `^C` on the current one.
    terminal().clear_for_exit();
    note(&if stderr_is_live() { format!("\n{farewell}") } else { farewell });
    // Calls in progress are not dropped when the process exits, so the programs among them must be killed here.
    agon_host::kill_all_groups();
    std::process::exit(i32::from(EXIT_INTERRUPTED));
}

/// Runs a future until it ends. Returns `None` if the process is asked to end first.
pub fn run_until_stopped<T>(work: impl Future<Output = T>) -> Result<Option<T>, CliError> {
    block_on(async {
        tokio::select! {
            done = work => Some(done),
            Ok(_) = end_requested() => None,
        }
    })
}

/// Returns when the process is asked to end.
#[cfg(unix)]
pub async fn end_requested() -> std::io::Result<EndRequest> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut quit = signal(SignalKind::quit())?;
    let mut hangup = if ignores_hangup() { None } else { Some(signal(SignalKind::hangup())?) };
    let hung_up = async {
        match &mut hangup {
            Some(hangup) => hangup.recv().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = interrupt.recv() => Ok(EndRequest::Graceful),
        _ = terminate.recv() => Ok(EndRequest::Graceful),
        _ = hung_up => Ok(EndRequest::Graceful),
        _ = quit.recv() => Ok(EndRequest::Immediate),
    }
}

/// Whether the process ignores the hangup of its terminal, as `nohup` arranges, or whether that is unknown. A handler
/// for the signal would undo that.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    const HANGUP_BIT: u64 = 1;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_none_or(|mask| mask & HANGUP_BIT != 0)
}

/// Returns when the process is asked to end.
#[cfg(not(unix))]
pub async fn end_requested() -> std::io::Result<EndRequest> {
    tokio::signal::ctrl_c().await.map(|()| EndRequest::Graceful)
}
