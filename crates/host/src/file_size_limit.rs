//! The limit on the size of files, `ulimit -f`.

/// Lets a write beyond the limit fail like one on a full disk. Without this, the system ends the process with a signal.
pub fn survive_file_size_limit() {
    // A handler is enough: the write then returns an error. Unlike an ignored signal, it is not handed down to programs that are
    // started. If it cannot be installed, everything is as before.
    #[cfg(unix)]
    drop(signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default()));
}
