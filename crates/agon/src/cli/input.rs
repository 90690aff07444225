//! What comes in from outside, within limits: questions, files, stdin.

use std::io::{IsTerminal, Read};
use std::path::{Component, Path, PathBuf};

use agon_core::{Artifact, Protocol};

use super::failure::Failure;

/// The most that a question may have. It is in every prompt of the debate.
pub const QUESTION_BYTES_MAX: u64 = 256 * 1024;
/// The most that one file under debate may have.
pub const ARTIFACT_BYTES_MAX: u64 = 1 << 20;
/// The most that all files of a debate may have together.
pub const ARTIFACTS_BYTES_MAX: u64 = 4 << 20;

/// The question of a protocol's verb: as given, or from stdin for `-` or when nothing is given and something is piped
/// in.
pub fn question(given: Option<&str>, protocol: &dyn Protocol) -> Result<String, Failure> {
    let (verb, word) = (protocol.name(), protocol.subject().to_lowercase());
    let text = match given {
        Some(text) if text != "-" => text.to_owned(),
        // Whoever typed the verb alone would wait for us, and we for them.
        None if std::io::stdin().is_terminal() => String::new(),
        _ => stdin(&word, QUESTION_BYTES_MAX)?,
    };
    if text.trim().is_empty() {
        return Err(Failure::input(format!("the {word} is empty: give one in quotes, or pipe it in"))
            .help(format!("agon {verb} \"your {word}\", or: agon {verb} - < FILE")));
    }
    check(&text, &word)
}

/// The question without the white space around it, if it is one.
pub fn check(text: &str, word: &str) -> Result<String, Failure> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Failure::input(format!("the {word} is empty: write one")));
    }
    if text.len() as u64 > QUESTION_BYTES_MAX {
        return Err(too_long(word, QUESTION_BYTES_MAX));
    }
    Ok(text.to_owned())
}

fn too_long(word: &str, bytes_max: u64) -> Failure {
    Failure::input(format!("the {word} is longer than {} KB, the limit: shorten it", bytes_max / 1024))
}

/// What is piped in.
pub fn stdin(word: &str, bytes_max: u64) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    // White space around the question does not count, but somebody could pipe in nothing else for ever.
    std::io::stdin()
        .lock()
        .take(bytes_max * 2)
        .read_to_end(&mut bytes)
        .map_err(|why| Failure::input(format!("stdin cannot be read: {why}")))?;
    if bytes.len() as u64 >= bytes_max * 2 {
        return Err(too_long(word, bytes_max));
    }
    if bytes.contains(&0) {
        return Err(Failure::input(format!("the {word} on stdin is binary, not text")));
    }
    String::from_utf8(bytes).map_err(|_| {
        Failure::input(format!("the {word} on stdin is not UTF-8 text: convert it, then try again"))
    })
}

/// A file's bytes, if there are not too many.
pub fn bytes(file: &Path, bytes_max: u64) -> Result<Vec<u8>, Failure> {
    let open = std::fs::File::open(file).map_err(|why| Failure::file(file, cannot_read(&why)))?;
    let mut bytes = Vec::new();
    open.take(bytes_max + 1).read_to_end(&mut bytes).map_err(|why| Failure::file(file, cannot_read(&why)))?;
    if bytes.len() as u64 > bytes_max {
        return Err(Failure::file(file, format!("it is longer than {} KB, the limit", bytes_max / 1024)));
    }
    Ok(bytes)
}

/// A file's text, if it is text and not too long.
pub fn file(file: &Path, bytes_max: u64) -> Result<String, Failure> {
    let bytes = bytes(file, bytes_max)?;
    if bytes.contains(&0) {
        return Err(Failure::file(file, "it is a binary file, not text: name a text file"));
    }
    String::from_utf8(bytes)
        .map_err(|_| Failure::file(file, "it is not UTF-8 text: convert it, then try again"))
}

/// Why a file cannot be read, and what to do.
pub fn cannot_read(why: &std::io::Error) -> String {
    match why.kind() {
        std::io::ErrorKind::NotFound => "there is no such file: check the path".into(),
        std::io::ErrorKind::IsADirectory => "it is a folder: name a file".into(),
        _ => format!("it cannot be read: {why}"),
    }
}

/// Files to debate about.
pub fn artifacts<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<Vec<Artifact>, Failure> {
    let files: Vec<Artifact> =
        paths.into_iter().map(|path| artifact(path, None)).collect::<Result<_, _>>()?;
    within_limit(files)
}

/// A file that is part of a debate; `part` is the key of the option that named it, for which `-` is stdin.
pub fn artifact(path: &Path, part: Option<&str>) -> Result<Artifact, Failure> {
    let text = match part {
        Some(key) if path == Path::new("-") => stdin(key, ARTIFACT_BYTES_MAX)?,
        _ => file(path, ARTIFACT_BYTES_MAX)?,
    };
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err(match part {
            Some(key) if path == Path::new("-") => Failure::input(format!("the {key} on stdin is empty")),
            _ => Failure::file(path, "it is empty: name a file with something in it"),
        });
    }
    Ok(Artifact { path: shown(path), text, part: part.map(str::to_owned) })
}

/// A path as people and pipelines know it: from the working directory, if it is below that.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let below = std::path::absolute(path).ok().zip(here).and_then(|(path, here)| {
        let plain = plain(&path)?;
        plain.strip_prefix(here).ok().map(Path::to_owned)
    });
    let shown = below.filter(|below| !below.as_os_str().is_empty());
    shown.map_or_else(|| path.display().to_string(), |below| below.display().to_string())
}

/// A path without steps up and down again.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => plain.pop().then_some(())?,
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    Some(plain)
}

/// Refuses files that are too much together: all of them are in every prompt.
pub fn within_limit(files: Vec<Artifact>) -> Result<Vec<Artifact>, Failure> {
    let bytes: usize = files.iter().map(|file| file.text.len()).sum();
    if bytes as u64 <= ARTIFACTS_BYTES_MAX {
        return Ok(files);
    }
    Err(Failure::input(format!(
        "the {} files have {} KB together, and the limit is {} KB: leave some away",
        files.len(),
        bytes / 1024,
        ARTIFACTS_BYTES_MAX / 1024
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_trimmed_and_neither_empty_nor_over_the_limit() {
        assert_eq!(check("  Why?\n", "question").unwrap(), "Why?");
        for text in ["", " \n\t "] {
            assert!(check(text, "question").unwrap_err().to_string().contains("is empty"));
        }
        let long = "x".repeat(usize::try_from(QUESTION_BYTES_MAX).unwrap() + 1);
        assert!(check(&long, "question").unwrap_err().to_string().contains("longer than 256 KB"));
        assert!(check(&long[1..], "question").is_ok());
    }

    #[test]
    fn a_file_that_is_missing_binary_or_too_long_is_named() {
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
            let path = &path;
            let sentence = file(path, 4).unwrap_err().to_string();
            assert!(sentence.contains(want) && sentence.contains(&path.display().to_string()), "{sentence}");
        }
        assert!(file(folder.path(), 4).is_err());
        std::fs::write(path("empty.md"), " \n").unwrap();
        assert!(artifact(&path("empty.md"), None).unwrap_err().to_string().contains("it is empty"));
    }

    #[test]
    fn files_have_a_limit_together() {
        let file = |path: &str, bytes: u64| Artifact {
            path: path.into(),
            text: "x".repeat(usize::try_from(bytes).unwrap()),
            part: None,
        };
        let half = ARTIFACTS_BYTES_MAX / 2;
        assert_eq!(within_limit(vec![file("a", half), file("b", half)]).unwrap().len(), 2);
        let why = within_limit(vec![file("a", half), file("b", half + 1)]).unwrap_err().to_string();
        assert!(
            why.contains("the 2 files have 4096 KB together") && why.contains("leave some away"),
            "{why}"
        );
    }
}
