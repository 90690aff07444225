//! Files that a person names as input.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// Opens a file to read. Pipes and devices are refused, because reading them may never end. A pipe that a shell passes as `/dev/fd/N`
/// is allowed.
pub fn open_input_file(path: &Path) -> io::Result<File> {
    let is_handed_over =
        ["/dev/fd", "/proc/self/fd", "/dev/stdin"].iter().any(|folder| path.starts_with(folder));
    if is_handed_over {
        return File::open(path);
    }
    open_regular_file(path)
}

/// Opens a file to read if it is neither a folder nor a pipe nor a device. It never waits for the writer of a pipe.
pub fn open_regular_file(path: &Path) -> io::Result<File> {
    // Opening some devices has an effect, so the path is looked at first. What is opened may be something else by then.
    check_kind(&std::fs::metadata(path)?)?;
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
    );
    let file = options.open(path)?;
    check_kind(&file.metadata()?)?;
    Ok(file)
}

fn check_kind(data: &Metadata) -> io::Result<()> {
    if data.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !data.is_file() {
        let why = "it is a pipe or a device: name a file, or use - for stdin";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn pipes_and_devices_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &fifo,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        for path in [fifo.as_path(), Path::new("/dev/zero")] {
            assert_eq!(open_input_file(path).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{path:?}");
        }
        assert_eq!(open_input_file(folder.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        let file = folder.path().join("file");
        std::fs::write(&file, "x").unwrap();
        assert!(open_input_file(&file).is_ok());
        assert_eq!(open_input_file(&folder.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    /// The program must not wait for a writer, whatever the path names when it is opened.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_pipe_that_takes_the_place_of_a_file_blocks_nobody() {
        use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};
        use std::sync::atomic::{AtomicBool, Ordering};
        let folder = tempfile::tempdir().unwrap();
        let (file, fifo) = (folder.path().join("file"), folder.path().join("fifo"));
        std::fs::write(&file, "x").unwrap();
        mknodat(CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        /// Ends the other thread also when an assertion fails; the scope waits for it.
        struct EndOnDrop<'a>(&'a AtomicBool);
        impl Drop for EndOnDrop<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let _end = EndOnDrop(&is_over);
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    renameat_with(CWD, &file, CWD, &fifo, RenameFlags::EXCHANGE).unwrap();
                }
            });
            for _ in 0..20_000 {
                match open_input_file(&file) {
                    Ok(opened) => assert!(opened.metadata().unwrap().is_file()),
                    Err(why) => assert_eq!(why.kind(), io::ErrorKind::InvalidInput),
                }
            }
        });
    }
}
