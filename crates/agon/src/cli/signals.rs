//! Ctrl-C and the system's request to end: the first in order, the second at once.

use agon_engine::Stop;

use super::output::{note, watched};

const STOPPING: &str =
    "stopping: waiting up to 2 s for answers already under way; press Ctrl-C again to stop at once";
const INTERRUPTED: i32 = 130;

/// Watches for signals until dropped by the runtime. `tell` shows a line while the debate is on the screen;
/// `farewell` is what the person needs to go on later.
pub async fn watch(stop: Stop, tell: impl Fn(&str), farewell: String) {
    if asked_to_end().await.is_err() {
        return;
    }
    tell(STOPPING);
    stop.stop();
    if asked_to_end().await.is_ok() {
        // Spinners may stand on the line.
        note(&if watched() { format!("\n{farewell}") } else { farewell });
        // The person does not want to wait any longer; what is answered is in the store.
        std::process::exit(INTERRUPTED);
    }
}

#[cfg(unix)]
async fn asked_to_end() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        _ = interrupt.recv() => Ok(()),
        _ = terminate.recv() => Ok(()),
    }
}

#[cfg(not(unix))]
async fn asked_to_end() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}
