//! The terminal that this process was started in.

use std::io;
use std::sync::Arc;

use super::terminal::Terminal;

/// Opens it, wherever the standard streams go: they may be files, or pipes to another program.
pub(super) fn open() -> io::Result<Arc<dyn Terminal>> {
    system::open()
}

/// The longest line that is read at once.
#[cfg(unix)]
const LINE_BYTES_MAX: usize = 64 * 1024;

#[cfg(unix)]
mod system {
    use std::fs::{File, OpenOptions};
    use std::io::{self, Read, Write};
    use std::sync::{Arc, Mutex, PoisonError};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};

    use super::LINE_BYTES_MAX;
    use crate::human::terminal::{Terminal, Typed};

    /// How often it is looked whether a line is still wanted.
    const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

    pub(super) fn open() -> io::Result<Arc<dyn Terminal>> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        Ok(Arc::new(Tty::on(file)))
    }

    pub(super) struct Tty {
        file: File,
        /// What was read after the end of a line: some terminals give more than one.
        rest: Mutex<Vec<u8>>,
    }

    impl Tty {
        pub(super) fn on(file: File) -> Self {
            Self { file, rest: Mutex::default() }
        }

        /// Whether something can be read, after a short wait. A system that cannot tell has to be asked by reading.
        fn ready(&self) -> io::Result<bool> {
            let mut fds = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut fds, Some(&LOOK)) {
                Ok(count) => Ok(count > 0),
                Err(rustix::io::Errno::INTR) => Ok(false),
                Err(why) => Err(why.into()),
            }
        }

        fn rest(&self) -> Vec<u8> {
            std::mem::take(&mut *self.rest.lock().unwrap_or_else(PoisonError::into_inner))
        }
    }

    impl Terminal for Tty {
        fn write(&self, text: &str) -> io::Result<()> {
            (&self.file).write_all(text.as_bytes())
        }

        fn read_line(&self, wanted: &dyn Fn() -> bool) -> io::Result<Option<Typed>> {
            let mut line = self.rest();
            let mut buffer = [0; 4096];
            loop {
                if let Some(end) = line.iter().position(|byte| *byte == b'\n') {
                    let rest = line.split_off(end + 1);
                    *self.rest.lock().unwrap_or_else(PoisonError::into_inner) = rest;
                    return Ok(Some(text(&line)));
                }
                if line.len() > LINE_BYTES_MAX {
                    return Ok(Some(text(&line)));
                }
                let ready = self.ready()?;
                if !wanted() {
                    return Ok(None);
                }
                if !ready {
                    continue;
                }
                let read = match (&self.file).read(&mut buffer) {
                    Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
                    read => read?,
                };
                match buffer.get(..read) {
                    Some(bytes) if !bytes.is_empty() => line.extend_from_slice(bytes),
                    _ if line.is_empty() => return Ok(Some(Typed::End)),
                    _ => return Ok(Some(text(&line))),
                }
            }
        }

        fn discard(&self) {
            drop(self.rest());
            // A system that forgets nothing asks the person to type the line again.
            let _ = tcflush(&self.file, QueueSelector::IFlush);
        }

        fn columns(&self) -> usize {
            let columns = tcgetwinsize(&self.file).map_or(0, |size| usize::from(size.ws_col));
            if columns == 0 { 80 } else { columns }
        }
    }

    fn text(line: &[u8]) -> Typed {
        Typed::Line(String::from_utf8_lossy(line).trim_end_matches(['\n', '\r']).to_owned())
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

    use crate::human::terminal::{Terminal, Typed};

    /// The standard streams where they are a terminal, because only they take every character; else the console itself.
    struct Console {
        input: Mutex<Box<dyn BufRead + Send>>,
        output: Mutex<Box<dyn Write + Send>>,
    }

    pub(super) fn open() -> io::Result<Arc<dyn Terminal>> {
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
        Ok(Arc::new(Console { input: Mutex::new(input), output: Mutex::new(output) }))
    }

    impl Terminal for Console {
        fn write(&self, text: &str) -> io::Result<()> {
            let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
            output.write_all(text.as_bytes())?;
            output.flush()
        }

        fn read_line(&self, _: &dyn Fn() -> bool) -> io::Result<Option<Typed>> {
            let mut line = Vec::new();
            let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
            let read = input.read_until(b'\n', &mut line)?;
            let text = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
            Ok(Some(if read == 0 { Typed::End } else { Typed::Line(text) }))
        }
    }
}
