//! Files that a person names as input.

use std::fs::File;
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
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !kind.is_file() {
        let why = "it is a pipe or a device: name a file, or use - for stdin";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    File::open(path)
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
}
