//! A file that is put in its place whole: written under another name, and renamed when all of it is on the disk.
//!
//! What has the name stays what it is: a link goes on to lead to its file, a file keeps its mode, and a device or a pipe is
//! written to and never replaced.

#[cfg(unix)]
mod stream;

use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::deliveries::courier::{Carried, aside};
use crate::deliveries::visible;

/// Why a file was not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unwritten {
    /// A sentence for the person.
    pub why: String,
    /// Whether another attempt would be the same until somebody does something.
    pub hopeless: bool,
}

/// Puts these bytes where `path` leads, in the place of an older file if there is one. Blocks, but never for long.
pub fn put(path: &Path, bytes: &[u8]) -> Result<(), Unwritten> {
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    put_by(path, bytes, &format!("{}-{number}", std::process::id()))
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Unwritten {}

/// Writes the file of a delivery. What an attempt that was cut off has left is used again, for the next has the same name.
pub(crate) async fn write(path: &Path, text: &str, id: i64, make_folder: bool) -> Carried {
    let (path, text) = (path.to_owned(), text.to_owned());
    let written = aside(move || {
        let made = match path.parent().filter(|_| make_folder) {
            Some(folder) => fs::create_dir_all(folder).map_err(|why| unwritten(&path, &why)),
            None => Ok(()),
        };
        Ok(made.and_then(|()| put_by(&path, text.as_bytes(), &id.to_string())))
    });
    match written.await {
        Ok(Ok(())) => Carried::Done { note: None },
        Ok(Err(Unwritten { why, hopeless: true })) => Carried::Dead { why },
        Ok(Err(Unwritten { why, hopeless: false })) | Err(why) => Carried::later(why),
    }
}

fn put_by(path: &Path, bytes: &[u8], writer: &str) -> Result<(), Unwritten> {
    let older = fs::metadata(path).ok();
    if older.as_ref().is_some_and(Metadata::is_dir) {
        return Err(unwritten(path, &ErrorKind::IsADirectory.into()));
    }
    let target = target(path)?;
    #[cfg(unix)]
    if let Some(written) = stream::write(&target, older.as_ref(), bytes) {
        return written;
    }
    replace(&target, older.as_ref(), bytes, writer).map_err(|why| unwritten(&target, &why))
}

/// The file that a path leads to over links, whether or not there is one yet.
fn target(path: &Path) -> Result<PathBuf, Unwritten> {
    const LINKS_MAX: usize = 40;
    let mut target = path.to_owned();
    for _ in 0..LINKS_MAX {
        // What cannot be looked at cannot be written either, and that has better words for it.
        match fs::read_link(&target) {
            Ok(next) if !is_open_elsewhere(&target) => target = target.with_file_name("").join(next),
            _ => return Ok(target),
        }
    }
    let why = format!("{} is a link that leads to no file: name another file", visible::path(path));
    Err(Unwritten { why, hopeless: true })
}

/// Whether a name stands for what a process has open, as `/dev/stdout` leads to: a file put in its place would miss it.
fn is_open_elsewhere(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(Path::new(""));
    folder.ends_with("fd") && ["/proc", "/dev"].iter().any(|root| folder.starts_with(root))
}

fn replace(path: &Path, older: Option<&Metadata>, bytes: &[u8], writer: &str) -> io::Result<()> {
    let part = part(path, writer);
    // Only a file of our own is written to: one that lies there already may lead elsewhere.
    let _ = fs::remove_file(&part);
    let written = created(&part, older).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&part, path));
    if let Err(why) = renamed {
        let _ = fs::remove_file(&part);
        return Err(why);
    }
    // Only some systems let a folder be opened to be flushed; the others do not need it.
    if let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// A new file that no more people may read than the older one, at no moment.
fn created(part: &Path, older: Option<&Metadata>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let Some(older) = older else { return options.open(part) };
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(part)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // Whoever may not give a file away keeps it.
        let _ = std::os::unix::fs::fchown(&file, Some(older.uid()), Some(older.gid()));
    }
    file.set_permissions(older.permissions())?;
    Ok(file)
}

/// The name that the file has until it is whole: no two writers have the same.
fn part(path: &Path, writer: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // A name can be as long as the system lets it, and the part's must not be longer.
    let short: String = name.chars().take(32).collect();
    path.with_file_name(format!(".{short}.{writer}.part"))
}

fn unwritten(path: &Path, why: &io::Error) -> Unwritten {
    let shown = visible::path(path);
    let folder = visible::path(path.parent().unwrap_or(Path::new("")));
    let (why, hopeless) = match why.kind() {
        ErrorKind::NotFound => (format!("there is no folder {folder}: make it, and try again"), true),
        ErrorKind::PermissionDenied => {
            (format!("{shown} may not be written: give yourself write access, and try again"), true)
        }
        ErrorKind::ReadOnlyFilesystem => {
            (format!("{shown} is on a disk that is read-only: make it writable, and try again"), true)
        }
        ErrorKind::IsADirectory => (format!("{shown} is a folder: name a file in it"), true),
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            (format!("{shown} has a file where a folder must be: move it away, and try again"), true)
        }
        ErrorKind::InvalidFilename | ErrorKind::InvalidInput => {
            (format!("{shown} is no name that a file can have here ({why})"), true)
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            (format!("there is no room for {shown}: free some space"), false)
        }
        _ => (format!("{shown} cannot be written ({why})"), false),
    };
    Unwritten { why, hopeless }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What only a person can put right is told at once; a disk that is full may be emptied.
    #[test]
    fn each_fault_of_the_disk_has_its_own_sentence() {
        for (kind, part, hopeless) in [
            (ErrorKind::NotFound, "there is no folder /a: make it", true),
            (ErrorKind::PermissionDenied, "give yourself write access", true),
            (ErrorKind::ReadOnlyFilesystem, "read-only", true),
            (ErrorKind::IsADirectory, "/a/b.md is a folder", true),
            (ErrorKind::NotADirectory, "a file where a folder must be", true),
            (ErrorKind::InvalidFilename, "no name that a file can have", true),
            (ErrorKind::StorageFull, "free some space", false),
            (ErrorKind::QuotaExceeded, "free some space", false),
            (ErrorKind::Other, "cannot be written", false),
        ] {
            let Unwritten { why, hopeless: dead } = unwritten(Path::new("/a/b.md"), &kind.into());
            assert!(why.contains(part) && dead == hopeless, "{kind:?}: {why}");
        }
    }

    #[test]
    fn a_part_has_a_name_of_its_own_and_never_one_that_is_too_long() {
        let long = "n".repeat(255);
        let part_of = |id| part(Path::new("/a").join(&long).as_path(), id);
        assert_ne!(part_of("1"), part_of("2"));
        assert!(part_of(&i64::MAX.to_string()).file_name().unwrap().len() < 80);
        assert_eq!(part(Path::new("/a/b.md"), "7"), Path::new("/a/.b.md.7.part"));
    }
}
