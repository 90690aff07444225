//! A pause at the terminal that a key ends.

use std::io::IsTerminal;
use std::time::Duration;

/// How a pause ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseEnd {
    /// Time is up, or somebody pressed a key.
    GoOn,
    /// Somebody pressed `q`, Escape or Ctrl-D.
    Quit,
    /// Somebody pressed Ctrl-C.
    Interrupted,
}

/// Whether somebody can read what is written before a pause, and press a key.
pub fn is_possible() -> bool {
    std::io::stdin().is_terminal() && super::output::stderr_is_live()
}

/// Asks for a key and waits for it, but not longer than `limit`. Without a terminal it returns at once and asks nobody. What was typed before
/// `ask` does not count, what is typed from then on does.
pub fn wait_for_key(limit: Duration, ask: impl FnOnce()) -> PauseEnd {
    if is_possible() { system::wait_for_key(limit, ask) } else { PauseEnd::GoOn }
}

/// What a key means. A key may be several bytes.
#[cfg_attr(not(unix), allow(dead_code))]
fn meaning(bytes: &[u8]) -> PauseEnd {
    const CTRL_C: u8 = 3;
    const CTRL_D: u8 = 4;
    const ESCAPE: u8 = 27;
    match bytes {
        [CTRL_C, ..] => PauseEnd::Interrupted,
        // An arrow is an escape with more bytes.
        [] | [b'q' | b'Q' | CTRL_D, ..] | [ESCAPE] => PauseEnd::Quit,
        _ => PauseEnd::GoOn,
    }
}

#[cfg(unix)]
mod system {
    use std::io;
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;
    use rustix::termios::{
        LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr,
    };

    use super::{PauseEnd, meaning};

    /// The longest key is a function key with modifiers.
    const KEY_BYTES_MAX: usize = 32;

    /// Reads keys as they are pressed until it is dropped, also Ctrl-C: its signal may be handled by a debate that is over.
    struct KeyMode {
        before: Termios,
    }

    impl KeyMode {
        fn enter() -> Result<Self, Errno> {
            let before = tcgetattr(io::stdin())?;
            let mut keys = before.clone();
            keys.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
            tcsetattr(io::stdin(), OptionalActions::Now, &keys)?;
            // What was typed while nobody waited for it is not meant for this pause.
            tcflush(io::stdin(), QueueSelector::IFlush)?;
            Ok(Self { before })
        }
    }

    impl Drop for KeyMode {
        fn drop(&mut self) {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
        }
    }

    pub(super) fn wait_for_key(limit: Duration, ask: impl FnOnce()) -> PauseEnd {
        let Ok(_mode) = KeyMode::enter() else { return PauseEnd::GoOn };
        ask();
        let end = Instant::now() + limit;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let Ok(timeout) = Timespec::try_from(left) else { return PauseEnd::GoOn };
            let stdin = io::stdin();
            match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&timeout)) {
                Err(Errno::INTR) => {}
                Ok(0) | Err(_) => return PauseEnd::GoOn,
                Ok(_) => {
                    let mut key = [0; KEY_BYTES_MAX];
                    let read = rustix::io::read(&stdin, &mut key).unwrap_or_default();
                    return meaning(key.get(..read).unwrap_or_default());
                }
            }
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::time::Duration;

    use super::PauseEnd;

    /// Keys cannot be read one by one here without a library for it, so the time just passes.
    pub(super) fn wait_for_key(limit: Duration, ask: impl FnOnce()) -> PauseEnd {
        ask();
        std::thread::sleep(limit);
        PauseEnd::GoOn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_keys_go_on_and_a_few_end_it() {
        for (bytes, end) in [
            (&b" "[..], PauseEnd::GoOn),
            (b"\n", PauseEnd::GoOn),
            (b"\x1b[C", PauseEnd::GoOn),
            (b"q", PauseEnd::Quit),
            (b"\x1b", PauseEnd::Quit),
            (b"\x04", PauseEnd::Quit),
            (b"", PauseEnd::Quit),
            (b"\x03", PauseEnd::Interrupted),
        ] {
            assert_eq!(meaning(bytes), end, "{bytes:?}");
        }
    }
}
