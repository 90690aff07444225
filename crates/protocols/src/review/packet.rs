//! What the judges are given: files with their paths, texts, a diff, a specification, earlier decisions.

use agon_core::{Artifact, Brief, Fence};
use serde_json::{Value, json};

use super::diff;
use crate::named;

/// The files and texts that are judged.
pub(super) fn targets(files: &[Artifact]) -> impl Iterator<Item = &Artifact> {
    files.iter().filter(|file| matches!(file.part.as_deref(), None | Some("text")))
}

/// The packet as the templates take it: everything quoted, files with their lines numbered so that a finding can say where.
pub(super) fn context(brief: &Brief, fence: &Fence) -> Value {
    let quoted = |file: &Artifact| match &file.part {
        None => fence.quote(&format!("file {}", file.path), &numbered(&file.text)),
        Some(_) => fence.quote("the target", &file.text),
    };
    let mut judged: Vec<Value> = targets(&brief.files)
        .map(|file| json!({"path": file.part.is_none().then(|| plain(&file.path)), "content": quoted(file)}))
        .collect();
    let part = |key: &str, what: &str| {
        brief.part(key).map(|file| fence.quote(&format!("{what} {}", file.path), &file.text))
    };
    let diff = part("diff", "diff");
    // Whoever opens a debate without files has put the target into the question.
    if judged.is_empty() && diff.is_none() {
        judged.push(json!({"path": null, "content": fence.quote("the target", &brief.question)}));
    }
    json!({
        "targets": judged,
        "diff": diff,
        "spec": part("spec", "specification"),
        "decisions": part("decisions", "decisions"),
    })
}

/// A path as a heading shows it. Who names a file may not have made it, and a name may hold anything.
fn plain(path: &str) -> String {
    path.chars().filter(|char| !char.is_control() && !matches!(char, '`' | '<' | '>')).collect()
}

fn numbered(text: &str) -> String {
    let width = text.lines().count().to_string().len();
    text.lines().zip(1..).map(|(line, n)| format!("{n:>width$} | {line}\n")).collect()
}

/// A short name for what is judged, fit for a file's name.
pub(super) fn slug(brief: &Brief) -> String {
    const WORDS_MAX: usize = 6;
    const CHARS_MAX: usize = 40;
    let file = brief.files.iter().find(|file| file.part.is_none());
    let name = match (file, brief.part("diff")) {
        (Some(file), _) => stem(&file.path).to_owned(),
        (None, Some(diff)) if brief.part("text").is_none() && diff.path != "-" => stem(&diff.path).to_owned(),
        (None, Some(_)) if brief.part("text").is_none() => "diff".into(),
        _ => brief.question.split_whitespace().take(WORDS_MAX).collect::<Vec<_>>().join(" "),
    };
    let key: String = named::key(&name).chars().take(CHARS_MAX).collect();
    let key = key.trim_end_matches('-');
    if key.is_empty() { "target".into() } else { key.to_owned() }
}

fn stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}

/// Where a finding is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) line: Option<u64>,
    pub(super) end_line: Option<u64>,
}

/// The paths of a packet, by which a judge's words about a location are read.
#[derive(Debug)]
pub(super) struct Paths {
    /// With the number of lines, where the whole file is there.
    known: Vec<(String, Option<u64>)>,
}

/// A path, how many lines its file has where that is known, and what a location says after it.
type Named = (String, Option<u64>, String);

impl Paths {
    pub(super) fn of(brief: &Brief) -> Self {
        let files = brief.files.iter().filter(|file| file.part.is_none());
        let mut known: Vec<(String, Option<u64>)> =
            files.map(|file| (relative(&file.path), Some(file.text.lines().count() as u64))).collect();
        let changed = brief.part("diff").and_then(|file| diff::read(&file.text).ok()).unwrap_or_default();
        for file in changed {
            if !known.iter().any(|(path, _)| *path == file.path) {
                known.push((file.path, None));
            }
        }
        Self { known }
    }

    /// All of them, in order.
    pub(super) fn all(&self) -> Vec<&str> {
        self.known.iter().map(|(path, _)| path.as_str()).collect()
    }

    /// Reads `auth.py:45`, `src/auth.py lines 45-47`, `auth.py#L45`, and `line 45` where there is but one file.
    pub(super) fn place(&self, location: &str) -> Option<Place> {
        let location = location.trim().trim_matches('`');
        let (file, lines, rest) = self.known_in(location).or_else(|| foreign(location)).or_else(|| {
            let [(path, lines)] = self.known.as_slice() else { return None };
            // A section has a number, too.
            let bare = !location.chars().any(|char| char.is_alphabetic() && !matches!(char, 'L' | 'l'));
            let numbered = line_word(location).is_some() || bare && first_digits(location).is_some();
            numbered.then(|| (path.clone(), *lines, location.to_owned()))
        })?;
        let (line, end_line) = numbers(&rest);
        // A line that the file does not have was made up; the file may still be right.
        let exists = |line: &u64| *line > 0 && lines.is_none_or(|last| *line <= last);
        let line = line.filter(exists);
        let end_line = end_line.filter(exists).filter(|end| line.is_some_and(|line| *end >= line));
        Some(Place { file, line, end_line })
    }

    /// The known path that a location names, whole or by its end, and what stands after it.
    fn known_in(&self, location: &str) -> Option<Named> {
        let mut best: Option<((usize, bool), Named)> = None;
        for (path, lines) in &self.known {
            let ends =
                std::iter::successors(Some(path.as_str()), |path| path.split_once('/').map(|(_, end)| end));
            for end in ends {
                let Some(at) = location.find(end) else { continue };
                let (before, rest) = (location.get(..at)?, location.get(at + end.len()..)?);
                let joined = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-');
                let whole = !before.ends_with(joined)
                    && !rest.starts_with(joined)
                    && may_precede(before, end == path);
                // Of two files that a name fits, it is that of the one which is called so and no more.
                let fit = (end.len(), end == path);
                if whole && best.as_ref().is_none_or(|(other, _)| fit > *other) {
                    best = Some((fit, (path.clone(), *lines, rest.to_owned())));
                }
            }
        }
        best.map(|(_, found)| found)
    }
}

/// A path as a repository knows it.
fn relative(path: &str) -> String {
    path.strip_prefix("./").unwrap_or(path).to_owned()
}

/// A path that is not of the packet: a judge may know of others. Only one that looks like a file's and stays below here.
fn foreign(location: &str) -> Option<Named> {
    let word = location.split_whitespace().next()?;
    let end = word.find([':', '#', ',', '(', ')']).unwrap_or(word.len());
    let (path, rest) = (word.get(..end)?, location.get(end..)?);
    let (_, extension) = path.rsplit_once('.')?;
    let named = !extension.is_empty() && extension.len() <= 8 && extension.chars().all(char::is_alphanumeric);
    let below = !path.starts_with(['/', '.', '\\']) && !path.contains("..");
    let lettered = extension.chars().any(char::is_alphabetic);
    (named && below && lettered).then(|| (path.to_owned(), None, rest.to_owned()))
}

/// Whether what stands before a known path, or before the end of one, leaves it the same file: other folders make it another,
/// unless they lead from the root to a path that is known whole.
fn may_precede(before: &str, known_whole: bool) -> bool {
    let folder = before.rsplit(|char: char| char.is_whitespace() || matches!(char, '(' | '`' | '"')).next();
    match folder.unwrap_or_default() {
        "./" | "a/" | "b/" => true,
        folder => !folder.ends_with(['/', '\\']) || known_whole && folder.starts_with('/'),
    }
}

/// The number of a line that is said at once after a path: `:45`, `#L45`, ` (45)`.
fn first_digits(text: &str) -> Option<&str> {
    let number = text.trim_start_matches([' ', ':', '#', '(', '[', ',', 'L', 'l']);
    number.starts_with(|char: char| char.is_ascii_digit()).then_some(number)
}

/// The number after the word `line`, and no other: names, versions and sections have numbers, too.
fn line_word(text: &str) -> Option<&str> {
    let lower = text.to_ascii_lowercase();
    lower.match_indices("line").find_map(|(at, word)| {
        let (before, after) = (text.get(..at)?, text.get(at + word.len()..)?);
        let after = after.strip_prefix(['s', 'S']).unwrap_or(after);
        let is_word = !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric);
        is_word.then(|| first_digits(after))?
    })
}

/// The number of the line that is stated, and the one that ends a range.
fn numbers(rest: &str) -> (Option<u64>, Option<u64>) {
    let Some(tail) = first_digits(rest).or_else(|| line_word(rest)) else { return (None, None) };
    let digits = |text: &str| -> (Option<u64>, usize) {
        let length = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
        (text.get(..length).and_then(|digits| digits.parse().ok()), length)
    };
    let (line, length) = digits(tail);
    let after = tail.get(length..).unwrap_or_default().trim_start();
    let range = ["-", "\u{2013}", "to ", ".."].iter().find_map(|sign| after.strip_prefix(sign));
    let end =
        range.map(|end| end.trim_start().trim_start_matches(['L', 'l', '='])).and_then(|end| digits(end).0);
    (line, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(files: &[(&str, Option<u64>)]) -> Paths {
        Paths { known: files.iter().map(|(path, lines)| ((*path).to_owned(), *lines)).collect() }
    }

    fn place(paths: &Paths, location: &str) -> Option<(String, Option<u64>, Option<u64>)> {
        paths.place(location).map(|place| (place.file, place.line, place.end_line))
    }

    /// "annotations from the findings' locations"
    #[test]
    fn a_location_is_read_however_a_judge_writes_it() {
        let known = paths(&[("src/auth.py", Some(60)), ("src/deep/mod.rs", None), ("mod.rs", None)]);
        let at = |file: &str, line, end| Some((file.to_owned(), line, end));
        for (location, want) in [
            ("src/auth.py:45", at("src/auth.py", Some(45), None)),
            ("auth.py:45", at("src/auth.py", Some(45), None)),
            ("`auth.py:45-47`", at("src/auth.py", Some(45), Some(47))),
            ("src/auth.py:45:7", at("src/auth.py", Some(45), None)),
            ("src/auth.py#L45-L47", at("src/auth.py", Some(45), Some(47))),
            ("src/auth.py, lines 45 to 47", at("src/auth.py", Some(45), Some(47))),
            ("login() in auth.py (line 3)", at("src/auth.py", Some(3), None)),
            ("src/auth.py", at("src/auth.py", None, None)),
            ("src/auth.py:60", at("src/auth.py", Some(60), None)),
            ("src/auth.py:61", at("src/auth.py", None, None)),
            ("src/auth.py:0", at("src/auth.py", None, None)),
            ("src/auth.py:50-40", at("src/auth.py", Some(50), None)),
            ("src/deep/mod.rs:9", at("src/deep/mod.rs", Some(9), None)),
            ("mod.rs:9", at("mod.rs", Some(9), None)),
            ("tests/login.py:5", at("tests/login.py", Some(5), None)),
            ("tests/auth.py:5", at("tests/auth.py", Some(5), None)),
            ("/repo/src/auth.py:5", at("src/auth.py", Some(5), None)),
            ("b/src/auth.py:5", at("src/auth.py", Some(5), None)),
            ("./auth.py:5", at("src/auth.py", Some(5), None)),
            ("other/mod.rs:5", at("other/mod.rs", Some(5), None)),
            ("src/auth.py, function sha256", at("src/auth.py", None, None)),
            ("src/auth.py (see RFC 52)", at("src/auth.py", None, None)),
            ("src/auth.py (45)", at("src/auth.py", Some(45), None)),
            ("/etc/passwd.txt:1", None),
            ("../up.py:1", None),
            ("version 2.5", None),
            ("the login handler", None),
            ("line 45", None),
            ("", None),
        ] {
            assert_eq!(place(&known, location), want, "{location}");
        }
        let one = paths(&[("plan.md", Some(10))]);
        assert_eq!(place(&one, "line 4"), at("plan.md", Some(4), None));
        for bare in ["4", "L4", ":4", "Line 4", "at line: 4 of the plan"] {
            assert_eq!(place(&one, bare), at("plan.md", Some(4), None), "{bare}");
        }
        assert_eq!(place(&one, "4-6"), at("plan.md", Some(4), Some(6)));
        for other in ["the introduction", "Section 3", "deadline 3", "3. Rollout"] {
            assert_eq!(place(&one, other), None, "{other}");
        }
    }
}
