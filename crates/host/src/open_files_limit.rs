//! The limit on open files, `ulimit -n`.

/// Enough for a server. A much higher limit slows down programs that close all files that they could have inherited.
#[cfg(unix)]
const OPEN_FILES: u64 = 16_384;

/// Raises the limit if the system allows it. Many systems begin with 1,024, and every connection is an open file.
pub fn raise_open_files_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        let wanted = OPEN_FILES.min(maximum.unwrap_or(OPEN_FILES));
        if current.is_some_and(|current| current < wanted) {
            // If the system refuses, everything is as before.
            let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
        }
    }
}
