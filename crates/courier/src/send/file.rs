//! A result as a file: written under another name, and renamed when all of it is on the disk.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::courier::{Carried, aside};

/// Writes the file, in the place of an older one if there is one.
pub(crate) async fn write(path: &Path, text: &str, id: i64, make_folder: bool) -> Carried {
    let (path, text) = (path.to_owned(), text.to_owned());
    let written =
        aside(move || Ok(put(&path, &text, id, make_folder).map_err(|why| sentence(&path, &why)))).await;
    match written {
        Ok(Ok(())) => Carried::Done { note: None },
        Ok(Err((why, true))) => Carried::Dead { why },
        Ok(Err((why, false))) | Err(why) => Carried::later(why),
    }
}

fn put(path: &Path, text: &str, id: i64, make_folder: bool) -> io::Result<()> {
    if make_folder && let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    if path.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    let part = part(path, id);
    let written = File::create(&part).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
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

/// The name that the file has until it is whole: no two deliveries have the same.
fn part(path: &Path, id: i64) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // A name can be as long as the system lets it, and the part's must not be longer.
    let short: String = name.chars().take(32).collect();
    path.with_file_name(format!(".{short}.{id}.part"))
}

/// What to tell, and whether another attempt would be the same until somebody does something.
fn sentence(path: &Path, why: &io::Error) -> (String, bool) {
    let shown = path.display();
    let folder = path.parent().unwrap_or(Path::new("")).display();
    match why.kind() {
        ErrorKind::NotFound => (format!("there is no folder {folder}: make it, and deliver again"), true),
        ErrorKind::PermissionDenied => {
            (format!("{shown} may not be written: give yourself write access, and deliver again"), true)
        }
        ErrorKind::ReadOnlyFilesystem => {
            (format!("{shown} is on a disk that is read-only: make it writable, and deliver again"), true)
        }
        ErrorKind::IsADirectory => (format!("{shown} is a folder: name a file in it"), true),
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            (format!("{shown} has a file where a folder must be: move it away, and deliver again"), true)
        }
        ErrorKind::InvalidFilename | ErrorKind::InvalidInput => {
            (format!("{shown} is no name that a file can have here ({why})"), true)
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            (format!("there is no room for {shown}: free some space"), false)
        }
        _ => (format!("{shown} cannot be written ({why})"), false),
    }
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
            let (why, dead) = sentence(Path::new("/a/b.md"), &kind.into());
            assert!(why.contains(part) && dead == hopeless, "{kind:?}: {why}");
        }
    }

    #[test]
    fn a_part_has_a_name_of_its_own_and_never_one_that_is_too_long() {
        let long = "n".repeat(255);
        let part_of = |id| part(Path::new("/a").join(&long).as_path(), id);
        assert_ne!(part_of(1), part_of(2));
        assert!(part_of(i64::MAX).file_name().unwrap().len() < 80);
        assert_eq!(part(Path::new("/a/b.md"), 7), Path::new("/a/.b.md.7.part"));
    }
}
