//! What has a name as files have it and is none: a terminal, `/dev/null`, a pipe that somebody reads, `/dev/stdout`.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::{Unwritten, is_open_elsewhere, unwritten};
use crate::deliveries::visible;

/// How long a reader may take for nothing at all.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(10);

/// Writes to what is no file; `None` when `path` leads to one, or to nothing.
pub(super) fn write(path: &Path, there: Option<&Metadata>, bytes: &[u8]) -> Option<Result<(), Unwritten>> {
    let kind = there?.file_type();
    if kind.is_file() && !is_open_elsewhere(path) {
        return None;
    }
    let refused = |what: &str| {
        let why = format!("{} is {what}: name a file", visible::path(path));
        Some(Err(Unwritten { why, hopeless: true }))
    };
    if kind.is_socket() {
        return refused("a socket, which takes no file");
    }
    if kind.is_block_device() {
        return refused("a whole disk, and what is on it would be lost");
    }
    match opened(path).and_then(|file| written(file, bytes)) {
        Err(why) if kind.is_fifo() && Errno::from_io_error(&why) == Some(Errno::NXIO) => {
            refused("a pipe that nobody reads")
        }
        Err(why) if matches!(why.kind(), ErrorKind::BrokenPipe | ErrorKind::WouldBlock) => {
            refused("not read to its end by whoever is there")
        }
        done => Some(done.map_err(|why| unwritten(path, &why))),
    }
}

/// Opens it without waiting for somebody at its other end.
fn opened(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).map_err(|_| ErrorKind::Unsupported)?;
    OpenOptions::new().append(true).custom_flags(flags).open(path)
}

/// Writes it all, as fast as it is taken.
fn written(mut file: File, mut bytes: &[u8]) -> io::Result<()> {
    let mut taken = Instant::now();
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => (bytes, taken) = (bytes.get(count..).unwrap_or_default(), Instant::now()),
            Err(why) if why.kind() == ErrorKind::Interrupted => {}
            Err(why) if why.kind() == ErrorKind::WouldBlock && taken.elapsed() < PATIENCE => {
                std::thread::sleep(PAUSE);
            }
            Err(why) => return Err(why),
        }
    }
    Ok(())
}
