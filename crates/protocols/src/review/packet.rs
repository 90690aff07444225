//! What the judges are given: files with their paths, texts, a diff, a specification, earlier decisions. And how a location
//! that a judge writes is read against the files of the packet.

use agon_core::brief::part;
use agon_core::{Brief, BriefFile, Fence, Invalid, Request};
use serde::Serialize;

use crate::named_lists::name_key;

/// What a review is called when the user gave no text.
pub(super) fn title(request: &Request) -> String {
    let judged = request.files.iter().filter(|file| file.part.is_none());
    let mut paths: Vec<&str> = judged.map(|file| file.path.as_str()).collect();
    let diff = part(&request.files, "diff");
    paths.extend(diff.map(|file| if file.path == "-" { "a diff" } else { file.path.as_str() }));
    format!("Review of {}", paths.join(", "))
}

/// Rejects a request with nothing to judge, or with a diff that is none.
pub(super) fn check(request: &Request) -> Result<(), Invalid> {
    let diff = part(&request.files, "diff");
    if let Some(file) = diff {
        diff_paths(&file.text).map_err(|why| Invalid(format!("the diff {}: {why}", file.path)))?;
    }
    let has_target = targets(&request.files).next().is_some();
    if !has_target && diff.is_none() && request.question.trim().is_empty() {
        return Err(Invalid::new(
            "there is nothing to review: agon review FILE..., agon review \"TEXT\", or agon review --diff FILE",
        ));
    }
    Ok(())
}

/// The files and texts that are judged.
fn targets(files: &[BriefFile]) -> impl Iterator<Item = &BriefFile> {
    files.iter().filter(|file| matches!(file.part.as_deref(), None | Some("text")))
}

/// The packet as its template takes it.
#[derive(Serialize)]
pub(super) struct PacketContext {
    targets: Vec<TargetContext>,
    diff: Option<String>,
    spec: Option<String>,
    decisions: Option<String>,
    interjections: Vec<String>,
}

#[derive(Serialize)]
struct TargetContext {
    path: Option<String>,
    content: String,
}

impl PacketContext {
    /// Everything is quoted. The lines of files are numbered, so that a finding can say where it is.
    pub(super) fn new(brief: &Brief, fence: &Fence, interjections: Vec<String>) -> Self {
        let target = |file: &BriefFile| match &file.part {
            None => TargetContext {
                path: Some(heading_path(&file.path)),
                content: fence.quote(&format!("file {}", file.path), &with_line_numbers(&file.text)),
            },
            Some(_) => TargetContext { path: None, content: fence.quote("the target", &file.text) },
        };
        let mut targets: Vec<TargetContext> = targets(&brief.files).map(target).collect();
        let quoted = |key: &str, what: &str| {
            brief.part(key).map(|file| fence.quote(&format!("{what} {}", file.path), &file.text))
        };
        let diff = quoted("diff", "diff");
        // Without files the question is the target.
        if targets.is_empty() && diff.is_none() {
            targets.push(TargetContext { path: None, content: fence.quote("the target", &brief.question) });
        }
        let (spec, decisions) = (quoted("spec", "specification"), quoted("decisions", "decisions"));
        Self { targets, diff, spec, decisions, interjections }
    }
}

/// A path as a heading shows it. It stands outside the quotation, and the name of a file may contain anything.
fn heading_path(path: &str) -> String {
    path.chars().filter(|char| !char.is_control() && !matches!(char, '`' | '<' | '>')).collect()
}

fn with_line_numbers(text: &str) -> String {
    let width = text.lines().count().to_string().len();
    text.lines().zip(1..).map(|(line, number)| format!("{number:>width$} | {line}\n")).collect()
}

/// A short name for what is judged, fit for the name of a file.
pub(super) fn slug(brief: &Brief) -> String {
    const WORDS_MAX: usize = 6;
    const CHARS_MAX: usize = 40;
    let file = brief.files.iter().find(|file| file.part.is_none());
    let diff = brief.part("diff").filter(|_| brief.part("text").is_none());
    let name = match (file, diff) {
        (Some(file), _) => file_stem(&file.path).to_owned(),
        (None, Some(diff)) if diff.path == "-" => "diff".into(),
        (None, Some(diff)) => file_stem(&diff.path).to_owned(),
        (None, None) => brief.question.split_whitespace().take(WORDS_MAX).collect::<Vec<_>>().join(" "),
    };
    let key: String = name_key(&name).chars().take(CHARS_MAX).collect();
    let key = key.trim_end_matches('-');
    if key.is_empty() { "target".into() } else { key.to_owned() }
}

fn file_stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}

/// The files that a unified diff changes, by their new paths, or what is wrong with the diff and where.
pub(super) fn diff_paths(text: &str) -> Result<Vec<String>, String> {
    let mut paths: Vec<String> = Vec::new();
    let mut has_hunks = false;
    let mut lines = text.lines().enumerate().peekable();
    while let Some((place, line)) = lines.next() {
        let number = place + 1;
        if let Some(header) = line.strip_prefix("diff --git ") {
            paths.push(git_path(header));
            has_hunks = false;
        } else if let Some(old) = line.strip_prefix("--- ") {
            let Some(new) = lines.peek().and_then(|(_, next)| next.strip_prefix("+++ ")) else {
                // A line of prose before the first file, as in a mailed patch.
                continue;
            };
            let path = changed_path(old, new).ok_or_else(|| format!("line {number}: it names no file"))?;
            lines.next();
            match paths.last_mut() {
                // The `diff --git` line before it named the same file. With quoted paths or prefixes other than `a/` and
                // `b/`, the name holds both paths.
                Some(last) if !has_hunks && (last.contains(&path) || last.is_empty()) => *last = path,
                _ => paths.push(path),
            }
            has_hunks = false;
        } else if line.starts_with("@@") {
            let mut hunk = DiffHunk::read(line).ok_or_else(|| {
                format!("line {number}: it is not the head of a hunk, which looks like this: @@ -1,3 +1,4 @@")
            })?;
            if paths.is_empty() {
                return Err(format!("line {number}: a hunk stands before the first file"));
            }
            hunk.consume(&mut lines, number)?;
            has_hunks = true;
        }
    }
    match paths.is_empty() {
        true => Err("it is not a unified diff: there is no file in it (make one with `git diff`)".into()),
        false => Ok(paths),
    }
}

/// How many lines of a hunk are left, by the counts in its head.
struct DiffHunk {
    old: u64,
    new: u64,
}

impl DiffHunk {
    fn read(line: &str) -> Option<Self> {
        let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
        let (old, new) = ranges.split_once(" +")?;
        let count = |range: &str| {
            let (start, count) = range.split_once(',').unwrap_or((range, "1"));
            start.parse::<u64>().ok()?;
            count.parse::<u64>().ok()
        };
        Some(Self { old: count(old)?, new: count(new)? })
    }

    fn consume<'a>(
        &mut self,
        lines: &mut impl Iterator<Item = (usize, &'a str)>,
        head: usize,
    ) -> Result<(), String> {
        while self.old > 0 || self.new > 0 {
            let (place, line) =
                lines.next().ok_or_else(|| format!("it ends in the middle of the hunk of line {head}"))?;
            self.take(line).ok_or_else(|| {
                format!(
                    "line {}: it does not belong to the hunk of line {head}, whose head counts more lines",
                    place + 1
                )
            })?;
        }
        Ok(())
    }

    /// Counts a line off; `None` if it cannot belong to the hunk.
    fn take(&mut self, line: &str) -> Option<()> {
        let (old, new) = match line.as_bytes().first() {
            // Some tools strip the blank from an empty line.
            None | Some(b' ' | b'\t') => (1, 1),
            Some(b'-') => (1, 0),
            Some(b'+') => (0, 1),
            // "\ No newline at end of file"
            Some(b'\\') => (0, 0),
            _ => return None,
        };
        self.old = self.old.checked_sub(old)?;
        self.new = self.new.checked_sub(new)?;
        Some(())
    }
}

/// The new path in a `diff --git` line.
fn git_path(header: &str) -> String {
    if let Some((_, new)) = header.rsplit_once(" \"b/") {
        return unquoted(&format!("\"{new}"));
    }
    header.rsplit_once(" b/").map_or(header, |(_, new)| new).trim_matches('"').to_owned()
}

/// The new path of a changed file, or the old one of a file that is deleted.
fn changed_path(old: &str, new: &str) -> Option<String> {
    let path = |text: &str| {
        let text = unquoted(text.split('\t').next().unwrap_or_default().trim());
        let text = text.strip_prefix("a/").or_else(|| text.strip_prefix("b/")).unwrap_or(&text);
        (!text.is_empty() && text != "/dev/null").then(|| text.to_owned())
    };
    path(new).or_else(|| path(old))
}

/// A path without git's quotes. Git quotes a path with unusual characters and writes their bytes in octal.
fn unquoted(text: &str) -> String {
    let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else {
        return text.to_owned();
    };
    let (mut bytes, mut rest) = (Vec::new(), inner.bytes().peekable());
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let mut octal = None;
        for _ in 0..3 {
            let Some(digit) = rest.next_if(|byte| (b'0'..=b'7').contains(byte)) else { break };
            octal = Some(octal.unwrap_or(0_u32) * 8 + u32::from(digit - b'0'));
        }
        match octal {
            Some(value) => bytes.push(u8::try_from(value).unwrap_or(b'?')),
            None => bytes.push(match rest.next() {
                Some(b't') => b'\t',
                Some(b'n') => b'\n',
                Some(other) => other,
                None => b'\\',
            }),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Where a finding is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FindingLocation {
    pub(super) file: String,
    pub(super) line: Option<u64>,
    pub(super) end_line: Option<u64>,
}

/// The paths of a packet, against which the locations that judges write are read.
#[derive(Debug)]
pub(super) struct PacketPaths {
    /// With the number of lines, where the packet has the whole file.
    pub(super) known: Vec<(String, Option<u64>)>,
}

/// A path that a location names, how many lines its file has where that is known, and the text after the path.
type NamedPath = (String, Option<u64>, String);

impl PacketPaths {
    pub(super) fn of(brief: &Brief) -> Self {
        let files = brief.files.iter().filter(|file| file.part.is_none());
        let relative = |path: &str| path.strip_prefix("./").unwrap_or(path).to_owned();
        let mut known: Vec<(String, Option<u64>)> =
            files.map(|file| (relative(&file.path), Some(file.text.lines().count() as u64))).collect();
        let changed = brief.part("diff").and_then(|file| diff_paths(&file.text).ok()).unwrap_or_default();
        for path in changed {
            if !known.iter().any(|(other, _)| *other == path) {
                known.push((path, None));
            }
        }
        Self { known }
    }

    /// Reads `auth.py:45`, `src/auth.py lines 45-47`, `auth.py#L45`, and `line 45` where there is only one file.
    pub(super) fn locate(&self, location: &str) -> Option<FindingLocation> {
        let location = location.trim().trim_matches('`');
        let named = self.known_path(location).or_else(|| other_path(location));
        let (file, lines, rest) = named.or_else(|| self.only_path(location))?;
        let (line, end_line) = line_numbers(&rest);
        // A line that the file does not have was made up. The file may still be right.
        let exists = |line: &u64| *line > 0 && lines.is_none_or(|last| *line <= last);
        let line = line.filter(exists);
        let end_line = end_line.filter(exists).filter(|end| line.is_some_and(|line| *end >= line));
        Some(FindingLocation { file, line, end_line })
    }

    /// The known path that a location names, whole or by its end.
    fn known_path(&self, location: &str) -> Option<NamedPath> {
        let mut best: Option<((usize, bool), NamedPath)> = None;
        for (path, lines) in &self.known {
            let ends =
                std::iter::successors(Some(path.as_str()), |path| path.split_once('/').map(|(_, end)| end));
            for end in ends {
                let Some(at) = location.find(end) else { continue };
                let (before, rest) = (location.get(..at)?, location.get(at + end.len()..)?);
                let joined = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-');
                let fits = !before.ends_with(joined)
                    && !rest.starts_with(joined)
                    && is_same_file(before, end == path);
                // Of two files that fit, prefer the one whose whole path is named.
                let rank = (end.len(), end == path);
                if fits && best.as_ref().is_none_or(|(other, _)| rank > *other) {
                    best = Some((rank, (path.clone(), *lines, rest.to_owned())));
                }
            }
        }
        best.map(|(_, named)| named)
    }

    /// The only path of the packet, where a location names nothing but a line.
    fn only_path(&self, location: &str) -> Option<NamedPath> {
        let [(path, lines)] = self.known.as_slice() else { return None };
        // Sections have numbers, too, so a bare number must stand without words.
        let is_bare = !location.chars().any(|char| char.is_alphabetic() && !matches!(char, 'L' | 'l'));
        let has_line = line_word(location).is_some() || is_bare && leading_number(location).is_some();
        has_line.then(|| (path.clone(), *lines, location.to_owned()))
    }
}

/// A path outside the packet, which a judge may know. It must look like a file and stay below the working directory.
fn other_path(location: &str) -> Option<NamedPath> {
    let word = location.split_whitespace().next()?;
    let end = word.find([':', '#', ',', '(', ')']).unwrap_or(word.len());
    let (path, rest) = (word.get(..end)?, location.get(end..)?);
    let (_, extension) = path.rsplit_once('.')?;
    let is_name = extension.len() <= 8 && extension.chars().all(char::is_alphanumeric);
    let has_letter = extension.chars().any(char::is_alphabetic);
    let is_below = !path.starts_with(['/', '.', '\\']) && !path.contains("..");
    (is_name && has_letter && is_below).then(|| (path.to_owned(), None, rest.to_owned()))
}

/// Whether a known path is still the same file with `before` in front of it. Other folders make it another file, unless they
/// lead from the root to a path that is named whole.
fn is_same_file(before: &str, is_whole: bool) -> bool {
    let folder = before.rsplit(|char: char| char.is_whitespace() || matches!(char, '(' | '`' | '"')).next();
    match folder.unwrap_or_default() {
        "./" | "a/" | "b/" => true,
        folder => !folder.ends_with(['/', '\\']) || is_whole && folder.starts_with('/'),
    }
}

/// The text from a line number on that follows a path directly: `:45`, `#L45`, ` (45)`.
fn leading_number(text: &str) -> Option<&str> {
    let number = text.trim_start_matches([' ', ':', '#', '(', '[', ',', 'L', 'l']);
    number.starts_with(|char: char| char.is_ascii_digit()).then_some(number)
}

/// The text from the number after the word `line` on. Other numbers may be names, versions or sections.
fn line_word(text: &str) -> Option<&str> {
    let lower = text.to_ascii_lowercase();
    lower.match_indices("line").find_map(|(at, word)| {
        let (before, after) = (text.get(..at)?, text.get(at + word.len()..)?);
        let after = after.strip_prefix(['s', 'S']).unwrap_or(after);
        let is_word = !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric);
        is_word.then(|| leading_number(after))?
    })
}

/// The line that is stated, and the last line of a range.
fn line_numbers(rest: &str) -> (Option<u64>, Option<u64>) {
    let Some(tail) = leading_number(rest).or_else(|| line_word(rest)) else { return (None, None) };
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
