//! Files that are written whole or not at all.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::Path;

use tempfile::Builder;

/// Who may read a file that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAccess {
    /// As the system's defaults say. A file that is replaced keeps its owner and permissions.
    Default,
    /// Only the owner, for keys and secrets.
    OwnerOnly,
}

/// Writes `bytes` under a temporary name beside `path`, flushes them to the disk and renames the file, so that no
/// reader and no crash ever sees a part of it.
pub fn write_atomic(path: &Path, bytes: &[u8], access: FileAccess) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let replaced = fs::metadata(path).ok();
    let mut builder = Builder::new();
    builder.prefix(".agon-").suffix(".part");
    // The temporary file is private from its first moment; other permissions are given when they are known to be right.
    let mut temporary = builder.tempfile_in(folder)?;
    temporary.write_all(bytes)?;
    set_permissions(temporary.as_file(), replaced.as_ref(), access)?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|failed| failed.error)?;
    // Not every system lets a folder be opened for flushing; those that do not do not need it.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

#[cfg(unix)]
fn set_permissions(file: &File, replaced: Option<&Metadata>, access: FileAccess) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    match (access, replaced) {
        (FileAccess::OwnerOnly, _) => Ok(()),
        (FileAccess::Default, Some(replaced)) => {
            // Giving a file away may be forbidden; it then stays with whoever writes it.
            let _ = std::os::unix::fs::fchown(file, Some(replaced.uid()), Some(replaced.gid()));
            file.set_permissions(replaced.permissions())
        }
        (FileAccess::Default, None) => file.set_permissions(fs::Permissions::from_mode(0o666 & !umask())),
    }
}

#[cfg(not(unix))]
fn set_permissions(_: &File, _: Option<&Metadata>, _: FileAccess) -> io::Result<()> {
    Ok(())
}

/// The bits that the person's environment takes from new files. The only way to read the mask is to set it.
#[cfg(unix)]
fn umask() -> u32 {
    use rustix::fs::Mode;
    use std::sync::OnceLock;
    static MASK: OnceLock<u32> = OnceLock::new();
    *MASK.get_or_init(|| {
        let mask = rustix::process::umask(Mode::from_raw_mode(0o077));
        rustix::process::umask(mask);
        mask.as_raw_mode()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_no_temporary_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report.md");
        write_atomic(&file, b"one", FileAccess::Default).unwrap();
        write_atomic(&file, b"two", FileAccess::Default).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write_atomic(&folder.path().join("no/such/folder"), b"x", FileAccess::Default).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_kept_and_secrets_are_the_owners() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode = |file: &Path| fs::metadata(file).unwrap().permissions().mode() & 0o777;
        let file = folder.path().join("shared");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        write_atomic(&file, b"new", FileAccess::Default).unwrap();
        assert_eq!(mode(&file), 0o640);
        let secret = folder.path().join("secret");
        write_atomic(&secret, b"key", FileAccess::OwnerOnly).unwrap();
        assert_eq!(mode(&secret), 0o600);
    }
}
