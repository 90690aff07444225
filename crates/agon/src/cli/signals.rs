//! Ctrl-C and the system's request to end: the first in order, the second at once.

use agon_engine::Stop;

use super::output::{note, watched};

const STOPPING: &str =
    "stopping: waiting up to 2 s for answers already under way; press Ctrl-C again to stop at once";
const INTERRUPTED: i32 = 130;

/// How somebody asked for the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Ctrl-C, or the system: what is under way may come to its end.
    InOrder,
    /// Ctrl-\: now.
    AtOnce,
}

/// Watches for signals until dropped by the runtime. `tell` shows a line while the debate is on the screen;
/// `farewell` is what the person needs to go on later.
pub async fn watch(stop: Stop, tell: impl Fn(&str), farewell: String) {
    let Ok(asked) = asked_to_end().await else { return };
    if asked == Asked::InOrder {
        tell(STOPPING);
        stop.stop();
        if asked_to_end().await.is_err() {
            return;
        }
    }
    // Spinners may stand on the line.
    note(&if watched() { format!("\n{farewell}") } else { farewell });
    // The person does not want to wait any longer; what is answered is in the store. The calls that are under way are not
    // dropped, and so the programs among them would live on.
    agon_models::kill_commands();
    std::process::exit(INTERRUPTED);
}

/// Returns when somebody wants this process to end.
#[cfg(unix)]
pub async fn asked_to_end() -> std::io::Result<Asked> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut quit = signal(SignalKind::quit())?;
    let mut hangup = if survives_hangup() { None } else { Some(signal(SignalKind::hangup())?) };
    let hung_up = async {
        match &mut hangup {
            Some(hangup) => hangup.recv().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = interrupt.recv() => Ok(Asked::InOrder),
        _ = terminate.recv() => Ok(Asked::InOrder),
        _ = hung_up => Ok(Asked::InOrder),
        _ = quit.recv() => Ok(Asked::AtOnce),
    }
}

/// Whether this process was told to live on when its terminal is closed, as `nohup` does, or where nobody can say: to listen
/// for the signal would undo that.
#[cfg(unix)]
fn survives_hangup() -> bool {
    const HANGUP: u64 = 1;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & HANGUP != 0)
}

/// Returns when somebody wants this process to end.
#[cfg(not(unix))]
pub async fn asked_to_end() -> std::io::Result<Asked> {
    tokio::signal::ctrl_c().await.map(|()| Asked::InOrder)
}
