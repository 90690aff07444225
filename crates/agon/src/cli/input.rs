//! What comes in from outside, within limits: questions, files, stdin.

use std::io::{IsTerminal, Read};
use std::path::{Component, Path, PathBuf};

use agon_core::{BriefFile, ProtocolInfo};

use super::errors::CliError;
use super::git_range::{STAGED, git_diff, is_git_range};

/// The longest question. It is in every prompt of the debate.
pub const QUESTION_BYTES_MAX: u64 = 256 * 1024;
/// The longest file in a debate.
pub const DEBATE_FILE_BYTES_MAX: u64 = 1 << 20;
/// The most bytes that all files of a debate may have together.
const DEBATE_FILES_BYTES_MAX: u64 = 4 << 20;

/// The question for a protocol: as given, or from stdin if it is `-` or if nothing is given and stdin is a pipe.
pub fn read_question(given: Option<&str>, info: &ProtocolInfo) -> Result<String, CliError> {
    let (verb, word) = (info.name, info.subject.to_lowercase());
    let text = match given {
        Some(text) if text != "-" => text.to_owned(),
        // Somebody who types the verb alone does not expect that it waits for input.
        None if std::io::stdin().is_terminal() => String::new(),
        _ => read_stdin(&word, QUESTION_BYTES_MAX)?,
    };
    if text.trim().is_empty() {
        return Err(CliError::input(format!("the {word} is empty: give one in quotes, or pipe it in"))
            .with_help(format!("agon {verb} \"your {word}\", or: agon {verb} - < FILE")));
    }
    check_question(&text, &word)
}

/// The question without surrounding white space. `word` is what the error calls it.
pub fn check_question(text: &str, word: &str) -> Result<String, CliError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(CliError::input(format!("the {word} is empty: write one")));
    }
    if text.len() as u64 > QUESTION_BYTES_MAX {
        return Err(too_long(word, QUESTION_BYTES_MAX));
    }
    Ok(text.to_owned())
}

/// The error for a text that is too long. `word` is what it is called.
pub(super) fn too_long(word: &str, bytes_max: u64) -> CliError {
    CliError::input(format!("the {word} is longer than {} KB, the limit: shorten it", bytes_max / 1024))
}

/// The text on stdin.
pub fn read_stdin(word: &str, bytes_max: u64) -> Result<String, CliError> {
    let mut bytes = Vec::new();
    // White space around the text does not count, but a stream of nothing else must end too.
    std::io::stdin()
        .lock()
        .take(bytes_max * 2)
        .read_to_end(&mut bytes)
        .map_err(|why| CliError::input(format!("stdin cannot be read: {why}")))?;
    if bytes.len() as u64 >= bytes_max * 2 {
        return Err(too_long(word, bytes_max));
    }
    if bytes.contains(&0) {
        return Err(CliError::input(format!("the {word} on stdin is binary, not text")));
    }
    String::from_utf8(bytes).map_err(|_| {
        CliError::input(format!("the {word} on stdin is not UTF-8 text: convert it, then try again"))
    })
}

/// The bytes of a file, if there are not too many.
pub fn read_bytes(file: &Path, bytes_max: u64) -> Result<Vec<u8>, CliError> {
    let open = agon_host::open_input_file(file).map_err(|why| CliError::file(file, read_error(&why)))?;
    let mut bytes = Vec::new();
    open.take(bytes_max + 1).read_to_end(&mut bytes).map_err(|why| CliError::file(file, read_error(&why)))?;
    if bytes.len() as u64 > bytes_max {
        return Err(CliError::file(file, format!("it is longer than {} KB, the limit", bytes_max / 1024)));
    }
    Ok(bytes)
}

/// The text of a file, if it is text and not too long.
pub fn read_text(file: &Path, bytes_max: u64) -> Result<String, CliError> {
    let bytes = read_bytes(file, bytes_max)?;
    if bytes.contains(&0) {
        return Err(CliError::file(file, "it is a binary file, not text: name a text file"));
    }
    String::from_utf8(bytes)
        .map_err(|_| CliError::file(file, "it is not UTF-8 text: convert it, then try again"))
}

/// Why a file cannot be read, and what to do.
pub fn read_error(why: &std::io::Error) -> String {
    match why.kind() {
        std::io::ErrorKind::NotFound => "there is no such file: check the path".into(),
        std::io::ErrorKind::IsADirectory => "it is a folder: name a file".into(),
        std::io::ErrorKind::InvalidInput => why.to_string(),
        _ => format!("it cannot be read: {why}"),
    }
}

/// Files to debate about.
pub fn debate_files<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<Vec<BriefFile>, CliError> {
    let files = paths.into_iter().map(|path| debate_file(path, None)).collect::<Result<Vec<_>, _>>()?;
    check_total_size(files)
}

/// The files below a folder, in the order of their paths, without hidden ones.
pub fn folder_files(folder: &Path) -> Result<Vec<BriefFile>, CliError> {
    let entries = std::fs::read_dir(folder).map_err(|why| CliError::file(folder, read_error(&why)))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let is_hidden =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let mut files = Vec::new();
    for path in paths.into_iter().filter(|path| !is_hidden(path)) {
        // A link could lead back to this folder, or to a file that is not for others to read.
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            files.extend(folder_files(&path)?);
        } else if path.is_file() && path.metadata().is_ok_and(|file| file.len() > 0) {
            files.push(debate_file(&path, None)?);
        }
        files = check_total_size(files)?;
    }
    Ok(files)
}

/// The part of a debate that is a diff.
pub const DIFF_PART: &str = "diff";

/// A file of a debate. `part` is the key of the option that named it; for such an option `-` is stdin, and a diff may be a range of
/// commits or what is staged.
pub fn debate_file(path: &Path, part: Option<&str>) -> Result<BriefFile, CliError> {
    let range =
        path.to_str().filter(|word| part == Some(DIFF_PART) && (*word == STAGED || is_git_range(word)));
    if let Some(range) = range {
        return Ok(BriefFile {
            path: range.to_owned(),
            text: git_diff(range)?,
            part: part.map(str::to_owned),
        });
    }
    let text = match part {
        Some(key) if path == Path::new("-") => read_stdin(key, DEBATE_FILE_BYTES_MAX)?,
        _ => read_text(path, DEBATE_FILE_BYTES_MAX)?,
    };
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err(match part {
            Some(key) if path == Path::new("-") => CliError::input(format!("the {key} on stdin is empty")),
            _ => CliError::file(path, "it is empty: name a file with something in it"),
        });
    }
    Ok(BriefFile { path: displayed_path(path), text, part: part.map(str::to_owned) })
}

/// A path as people and pipelines know it: relative to the working directory, if it is below that.
fn displayed_path(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let below = std::path::absolute(path).ok().zip(here).and_then(|(path, here)| {
        let normalized = without_dots(&path)?;
        normalized.strip_prefix(here).ok().map(Path::to_owned)
    });
    let below = below.filter(|below| !below.as_os_str().is_empty());
    below.as_deref().unwrap_or(path).display().to_string()
}

/// A path without `.` and `..`.
fn without_dots(path: &Path) -> Option<PathBuf> {
    let mut normalized = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => normalized.pop().then_some(())?,
            Component::CurDir => {}
            other => normalized.push(other),
        }
    }
    Some(normalized)
}

/// Refuses files that are too long together: all of them are in every prompt.
pub fn check_total_size(files: Vec<BriefFile>) -> Result<Vec<BriefFile>, CliError> {
    let bytes: usize = files.iter().map(|file| file.text.len()).sum();
    if bytes as u64 <= DEBATE_FILES_BYTES_MAX {
        return Ok(files);
    }
    Err(CliError::input(format!(
        "the {} files have {} KB together, and the limit is {} KB: omit some",
        files.len(),
        bytes / 1024,
        DEBATE_FILES_BYTES_MAX / 1024
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_trimmed_and_must_not_be_empty_or_too_long() {
        assert_eq!(check_question("  Why?\n", "question").unwrap(), "Why?");
        for text in ["", " \n\t "] {
            assert!(check_question(text, "question").unwrap_err().to_string().contains("is empty"));
        }
        let long = "x".repeat(usize::try_from(QUESTION_BYTES_MAX).unwrap() + 1);
        assert!(check_question(&long, "question").unwrap_err().to_string().contains("longer than 256 KB"));
        assert!(check_question(&long[1..], "question").is_ok());
    }

    #[test]
    fn the_error_for_a_missing_binary_or_long_file_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("utf.md"), [0xff, 0xfe]).unwrap();
        std::fs::write(path("bin.md"), [b'a', 0x00]).unwrap();
        std::fs::write(path("long.md"), "12345").unwrap();
        for (path, want) in [
            (path("none"), "no such file"),
            (path("utf.md"), "not UTF-8"),
            (path("bin.md"), "binary"),
            (path("long.md"), "longer than"),
        ] {
            let error = read_text(&path, 4).unwrap_err().to_string();
            assert!(error.contains(want) && error.contains(&path.display().to_string()), "{error}");
        }
        assert!(read_text(folder.path(), 4).is_err());
        std::fs::write(path("empty.md"), " \n").unwrap();
        assert!(debate_file(&path("empty.md"), None).unwrap_err().to_string().contains("it is empty"));
    }

    #[test]
    fn all_files_together_have_a_limit() {
        let file = |path: &str, bytes: u64| BriefFile {
            path: path.into(),
            text: "x".repeat(usize::try_from(bytes).unwrap()),
            part: None,
        };
        let half = DEBATE_FILES_BYTES_MAX / 2;
        assert_eq!(check_total_size(vec![file("a", half), file("b", half)]).unwrap().len(), 2);
        let error = check_total_size(vec![file("a", half), file("b", half + 1)]).unwrap_err().to_string();
        assert!(
            error.contains("the 2 files have 4096 KB together") && error.contains("omit some"),
            "{error}"
        );
    }
}
