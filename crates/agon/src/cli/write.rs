//! Files that Agon writes: whole or not at all.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::failure::Failure;

/// Writes a file under a temporary name beside it and renames it, so that nobody ever sees half of it.
pub fn whole(file: &Path, text: &str) -> Result<(), Failure> {
    let failed = |why: std::io::Error| Failure::file(file, format!("it cannot be written: {why}"));
    let part = part_name(file);
    let written = write_new(&part, text).and_then(|()| fs::rename(&part, file));
    if written.is_err() {
        // The error that matters is the first one; a part that stays is only untidy.
        drop(fs::remove_file(&part));
    }
    written.map_err(failed)
}

/// Like [`whole`], for a file that must not be there yet.
pub fn fresh(file: &Path, text: &str) -> Result<(), Failure> {
    if file.exists() {
        return Err(Failure::file(
            file,
            "it is there already, and nothing is overwritten: name another place",
        ));
    }
    whole(file, text)
}

fn part_name(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    file.with_file_name(name)
}

fn write_new(file: &Path, text: &str) -> std::io::Result<()> {
    let mut out = OpenOptions::new().write(true).create_new(true).open(file)?;
    out.write_all(text.as_bytes())?;
    out.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_leaves_no_part_behind() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report.md");
        whole(&file, "one").unwrap();
        whole(&file, "two").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_fresh_file_overwrites_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report.md");
        fresh(&file, "one").unwrap();
        assert!(fresh(&file, "two").unwrap_err().to_string().contains("nothing is overwritten"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "one");
    }
}
