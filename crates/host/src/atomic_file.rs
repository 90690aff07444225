//! Files that are written whole or not at all, and files that grow. Neither follows a link at its own path: a link may have come with
//! somebody else's repository and lead anywhere.

use std::fs::{self, File, Metadata, OpenOptions};
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
/// reader and no crash ever sees a part of it. A link at `path` is replaced, and what it leads to stays as it is.
pub fn write_atomic(path: &Path, bytes: &[u8], access: FileAccess) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let replaced = fs::symlink_metadata(path).ok().filter(Metadata::is_file);
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

/// Opens a file that grows line by line, and creates it if it does not exist. `options` says how. A link is refused, unless it is one
/// of the system's own, such as `/dev/stdout`.
pub fn open_growing(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    if is_link && !path.starts_with("/dev") {
        return Err(io::Error::other("it is a link: name the file itself"));
    }
    #[cfg(unix)]
    if !is_link {
        use std::os::unix::fs::OpenOptionsExt;
        // Another process may put a link there at this moment.
        options.custom_flags(i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or_default());
    }
    options.create(true).open(path)
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
    fn what_a_link_leads_to_is_not_written() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["mine", "link"].map(|name| folder.path().join(name));
        fs::write(&file, "mine").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
        symlink(&file, &link).unwrap();
        let refused = open_growing(&link, OpenOptions::new().append(true)).unwrap_err();
        assert!(refused.to_string().contains("a link"), "{refused}");
        write_atomic(&link, b"theirs", FileAccess::Default).unwrap();
        assert_eq!(
            (fs::read_to_string(&file).unwrap(), fs::read_to_string(&link).unwrap()),
            ("mine".into(), "theirs".into())
        );
        assert!(fs::symlink_metadata(&link).unwrap().is_file());
        // A link that leads nowhere creates nothing there.
        let (nowhere, dangling) = (folder.path().join("nowhere"), folder.path().join("dangling"));
        symlink(&nowhere, &dangling).unwrap();
        assert!(open_growing(&dangling, OpenOptions::new().append(true)).is_err());
        assert!(!nowhere.exists());
        open_growing(&file, OpenOptions::new().append(true)).unwrap().write_all(b" too").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine too");
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
