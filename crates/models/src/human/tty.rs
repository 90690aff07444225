//! The terminal that this process was started in.

use std::io;
use std::sync::Arc;

use super::terminal_prompt::TerminalDevice;

/// Opens the terminal itself, because the standard streams may be files or pipes.
pub(super) fn open() -> io::Result<Arc<dyn TerminalDevice>> {
    system::open()
}

#[cfg(unix)]
mod system {
    use std::fs::{File, OpenOptions};
    use std::io::{self, Read, Write};
    use std::sync::{Arc, Mutex, PoisonError};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};

    use crate::human::terminal_prompt::{TerminalDevice, TerminalInput};

    const LINE_BYTES_MAX: usize = 64 * 1024;
    /// How often a waiting read checks whether the line is still wanted.
    const POLL_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

    pub(super) fn open() -> io::Result<Arc<dyn TerminalDevice>> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        Ok(Arc::new(UnixTerminal::new(file)))
    }

    pub(super) struct UnixTerminal {
        file: File,
        /// What was read after the end of a line: some terminals return several lines at once.
        rest: Mutex<Vec<u8>>,
    }

    impl UnixTerminal {
        pub(super) fn new(file: File) -> Self {
            Self { file, rest: Mutex::default() }
        }

        /// Waits a short time for input.
        fn has_input(&self) -> io::Result<bool> {
            let mut fds = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut fds, Some(&POLL_INTERVAL)) {
                Ok(count) => Ok(count > 0),
                Err(rustix::io::Errno::INTR) => Ok(false),
                Err(why) => Err(why.into()),
            }
        }

        fn take_rest(&self) -> Vec<u8> {
            std::mem::take(&mut *self.rest.lock().unwrap_or_else(PoisonError::into_inner))
        }
    }

    impl TerminalDevice for UnixTerminal {
        fn write(&self, text: &str) -> io::Result<()> {
            (&self.file).write_all(text.as_bytes())
        }

        fn read_line(&self, is_wanted: &dyn Fn() -> bool) -> io::Result<Option<TerminalInput>> {
            let mut line = self.take_rest();
            let mut buffer = [0; 4096];
            loop {
                if let Some(end) = line.iter().position(|byte| *byte == b'\n') {
                    let rest = line.split_off(end + 1);
                    *self.rest.lock().unwrap_or_else(PoisonError::into_inner) = rest;
                    return Ok(Some(line_input(&line)));
                }
                if line.len() > LINE_BYTES_MAX {
                    return Ok(Some(line_input(&line)));
                }
                let has_input = self.has_input()?;
                if !is_wanted() {
                    return Ok(None);
                }
                if !has_input {
                    continue;
                }
                let read = match (&self.file).read(&mut buffer) {
                    Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
                    read => read?,
                };
                match buffer.get(..read) {
                    Some(bytes) if !bytes.is_empty() => line.extend_from_slice(bytes),
                    _ if line.is_empty() => return Ok(Some(TerminalInput::End)),
                    _ => return Ok(Some(line_input(&line))),
                }
            }
        }

        fn discard(&self) {
            drop(self.take_rest());
            // If this fails, the person is asked to type the line again.
            let _ = tcflush(&self.file, QueueSelector::IFlush);
        }

        fn columns(&self) -> usize {
            let columns = tcgetwinsize(&self.file).map_or(0, |size| usize::from(size.ws_col));
            if columns == 0 { 80 } else { columns }
        }
    }

    fn line_input(line: &[u8]) -> TerminalInput {
        TerminalInput::Line(String::from_utf8_lossy(line).trim_end_matches(['\n', '\r']).to_owned())
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;

#[cfg(not(unix))]
mod system {
    use std::fs::{File, OpenOptions};
    use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
    use std::sync::{Arc, Mutex, PoisonError};

    use crate::human::terminal_prompt::{TerminalDevice, TerminalInput};

    /// Uses the standard streams if they are a terminal, because only they accept every character; else the console itself.
    struct ConsoleTerminal {
        input: Mutex<Box<dyn BufRead + Send>>,
        output: Mutex<Box<dyn Write + Send>>,
    }

    pub(super) fn open() -> io::Result<Arc<dyn TerminalDevice>> {
        let console = |name: &str| -> io::Result<File> {
            if cfg!(windows) {
                OpenOptions::new().read(true).write(true).open(name)
            } else {
                Err(io::Error::from(io::ErrorKind::NotFound))
            }
        };
        let input: Box<dyn Read + Send> = match io::stdin().is_terminal() {
            true => Box::new(io::stdin()),
            false => Box::new(console("CONIN$")?),
        };
        let output: Box<dyn Write + Send> = match io::stderr().is_terminal() {
            true => Box::new(io::stderr()),
            false => Box::new(console("CONOUT$")?),
        };
        let input: Box<dyn BufRead + Send> = Box::new(BufReader::new(input));
        Ok(Arc::new(ConsoleTerminal { input: Mutex::new(input), output: Mutex::new(output) }))
    }

    impl TerminalDevice for ConsoleTerminal {
        fn write(&self, text: &str) -> io::Result<()> {
            let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
            output.write_all(text.as_bytes())?;
            output.flush()
        }

        fn read_line(&self, _: &dyn Fn() -> bool) -> io::Result<Option<TerminalInput>> {
            let mut line = Vec::new();
            let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
            let read = input.read_until(b'\n', &mut line)?;
            let text = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
            Ok(Some(if read == 0 { TerminalInput::End } else { TerminalInput::Line(text) }))
        }
    }
}
