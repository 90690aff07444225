//! What comes in from outside, within limits: questions, files, stdin.

use std::io::{IsTerminal, Read};
use std::path::Path;

use agon_core::{Artifact, Protocol};

use super::failure::Failure;

/// The most that a question may have. It is in every prompt of the debate.
pub const QUESTION_BYTES_MAX: u64 = 256 * 1024;
/// The most that one file under debate may have.
pub const ARTIFACT_BYTES_MAX: u64 = 1 << 20;

/// The question of a protocol's verb: as given, or from stdin for `-` or when nothing is given and something is piped
/// in.
pub fn question(given: Option<&str>, protocol: &dyn Protocol) -> Result<String, Failure> {
    let (verb, word) = (protocol.name(), protocol.subject().to_lowercase());
    let text = match given {
        Some(text) if text != "-" => text.to_owned(),
        // Whoever typed the verb alone would wait for us, and we for them.
        None if std::io::stdin().is_terminal() => String::new(),
        _ => stdin(&word)?,
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
        return Err(too_long(word));
    }
    Ok(text.to_owned())
}

fn too_long(word: &str) -> Failure {
    Failure::input(format!(
        "the {word} is longer than {} KB, the limit: shorten it",
        QUESTION_BYTES_MAX / 1024
    ))
}

fn stdin(word: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    // White space around the question does not count, but somebody could pipe in nothing else for ever.
    std::io::stdin()
        .lock()
        .take(QUESTION_BYTES_MAX * 2)
        .read_to_end(&mut bytes)
        .map_err(|why| Failure::input(format!("stdin cannot be read: {why}")))?;
    if bytes.len() as u64 >= QUESTION_BYTES_MAX * 2 {
        return Err(too_long(word));
    }
    String::from_utf8(bytes).map_err(|_| {
        Failure::input(format!("the {word} on stdin is not UTF-8 text: convert it, then try again"))
    })
}

/// A file's text, if it is text and not too long.
pub fn file(file: &Path, bytes_max: u64) -> Result<String, Failure> {
    let open = std::fs::File::open(file).map_err(|why| Failure::file(file, cannot_read(&why)))?;
    let mut bytes = Vec::new();
    open.take(bytes_max + 1).read_to_end(&mut bytes).map_err(|why| Failure::file(file, cannot_read(&why)))?;
    if bytes.len() as u64 > bytes_max {
        return Err(Failure::file(file, format!("it is longer than {} KB, the limit", bytes_max / 1024)));
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
    let artifact = |path: &Path| {
        let text = file(path, ARTIFACT_BYTES_MAX)?;
        Ok(Artifact { path: path.display().to_string(), text })
    };
    paths.into_iter().map(artifact).collect()
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
        let (binary, long) = (folder.path().join("b.md"), folder.path().join("l.md"));
        std::fs::write(&binary, [0xff, 0xfe, 0x00]).unwrap();
        std::fs::write(&long, "12345").unwrap();
        for (path, want) in
            [(&folder.path().join("none"), "no such file"), (&binary, "not UTF-8"), (&long, "longer than")]
        {
            let sentence = file(path, 4).unwrap_err().to_string();
            assert!(sentence.contains(want) && sentence.contains(&path.display().to_string()), "{sentence}");
        }
        assert!(file(folder.path(), 4).is_err());
    }
}
