//! The one tokio runtime of the process.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};

use super::errors::CliError;

/// Debates wait more than they compute: two threads are enough for hundreds of them.
const WORKER_THREADS: usize = 2;

/// The runtime, started when it is first needed.
pub fn runtime() -> Result<&'static Runtime, CliError> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let started = Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .enable_all()
        .build()
        .map_err(|why| CliError::System(format!("the async runtime cannot start: {why}")))?;
    Ok(RUNTIME.get_or_init(|| started))
}

/// Runs a future to its end on the runtime.
pub fn block_on<F: Future>(future: F) -> Result<F::Output, CliError> {
    Ok(runtime()?.block_on(future))
}
