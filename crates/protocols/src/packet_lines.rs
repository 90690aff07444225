//! The files and diffs that seats judge, by line: where a location points, and whether a quote of a line is true.

use std::collections::BTreeMap;

use crate::quotes::{QuotedTexts, is_quote_of};

/// A unified diff.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnifiedDiff {
    /// What stands before the first file, such as the message of a mailed patch.
    pub message: String,
    /// The files that it changes.
    pub files: Vec<DiffFile>,
}

/// A file that a diff changes, with the lines that the diff shows of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiffFile {
    /// Its new path, or the old one of a file that is deleted.
    pub path: String,
    /// The diff of this file with line numbers: the new number of a line that is there, the old one of a removed line.
    pub numbered: Vec<String>,
    /// The lines after the change that the diff shows, by number.
    pub new_lines: BTreeMap<u64, String>,
    /// The lines that the diff removes, by their old number.
    pub removed_lines: BTreeMap<u64, String>,
}

impl DiffFile {
    fn new(path: String) -> Self {
        Self { path, ..Self::default() }
    }
}

/// Reads a unified diff, or says what is wrong with it and where.
pub fn read_diff(text: &str) -> Result<UnifiedDiff, String> {
    let (mut message, mut files) = (String::new(), Vec::<DiffFile>::new());
    let mut has_hunks = false;
    let mut lines = lines_of(text).enumerate().peekable();
    while let Some((place, whole)) = lines.next() {
        let (number, line) = (place + 1, whole.trim_end_matches('\r'));
        if let Some(header) = line.strip_prefix("diff --git ") {
            files.push(DiffFile::new(git_path(header)));
            has_hunks = false;
        } else if let Some((old, new)) = changed_paths(line, lines.peek().map(|(_, next)| *next)) {
            let path = changed_path(old, new).ok_or_else(|| format!("line {number}: it names no file"))?;
            lines.next();
            match files.last_mut() {
                // The `diff --git` line before it named the same file. With quoted paths or prefixes other than `a/` and
                // `b/`, the name holds both paths.
                Some(last) if !has_hunks && (last.path.contains(&path) || last.path.is_empty()) => {
                    last.path = path;
                }
                _ => files.push(DiffFile::new(path)),
            }
            has_hunks = false;
        } else if line.starts_with("@@") {
            let mut hunk = DiffHunk::read(line).ok_or_else(|| {
                format!("line {number}: it is not the head of a hunk, which looks like this: @@ -1,3 +1,4 @@")
            })?;
            let file = files
                .last_mut()
                .ok_or_else(|| format!("line {number}: a hunk stands before the first file"))?;
            file.numbered.push(line.to_owned());
            hunk.consume(&mut lines, number, file)?;
            has_hunks = true;
        } else if let Some(file) = files.last_mut() {
            // A new mode, a rename, a binary file. After the hunks there is only the note that the last line does not end, and the
            // signature of a mailed patch.
            if line.starts_with('\\') || !has_hunks && !line.starts_with("index ") {
                file.numbered.push(line.to_owned());
            }
        } else {
            message.extend([line, "\n"]);
        }
    }
    match files.is_empty() {
        true => Err("it is not a unified diff: there is no file in it (make one with `git diff`)".into()),
        false => Ok(UnifiedDiff { message: message.trim().to_owned(), files }),
    }
}

/// The lines of a text. A carriage return stays part of its line.
fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.split('\n').take(if text.is_empty() { 0 } else { usize::MAX })
}

/// A line as readers are shown it: a carriage return is written out.
fn visible(line: &str) -> String {
    line.replace('\r', "\\r")
}

/// What follows the marks of two lines that name the old and the new file.
fn changed_paths<'t>(line: &'t str, next: Option<&'t str>) -> Option<(&'t str, &'t str)> {
    Some((line.strip_prefix("--- ")?, next?.strip_prefix("+++ ")?))
}

/// Where a hunk is, and how many of its lines are left, by its head.
struct DiffHunk {
    old_line: u64,
    new_line: u64,
    old_left: u64,
    new_left: u64,
}

impl DiffHunk {
    fn read(line: &str) -> Option<Self> {
        let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
        let (old, new) = ranges.split_once(" +")?;
        let range = |range: &str| {
            let (start, count) = range.split_once(',').unwrap_or((range, "1"));
            Some((start.parse::<u64>().ok()?, count.parse::<u64>().ok()?))
        };
        let ((old_line, old_left), (new_line, new_left)) = (range(old)?, range(new)?);
        Some(Self { old_line, new_line, old_left, new_left })
    }

    fn consume<'a>(
        &mut self,
        lines: &mut impl Iterator<Item = (usize, &'a str)>,
        head: usize,
        file: &mut DiffFile,
    ) -> Result<(), String> {
        while self.old_left > 0 || self.new_left > 0 {
            let (place, line) =
                lines.next().ok_or_else(|| format!("it ends in the middle of the hunk of line {head}"))?;
            self.take(line, file).ok_or_else(|| {
                format!(
                    "line {}: it does not belong to the hunk of line {head}, whose head counts more lines",
                    place + 1
                )
            })?;
        }
        Ok(())
    }

    /// Counts a line off; `None` if it cannot belong to the hunk.
    fn take(&mut self, line: &str, file: &mut DiffFile) -> Option<()> {
        let (old, new) = match line.as_bytes().first() {
            // Some tools strip the blank from an empty line.
            None | Some(b' ' | b'\t' | b'\r') => (1, 1),
            Some(b'-') => (1, 0),
            Some(b'+') => (0, 1),
            // "\ No newline at end of file"
            Some(b'\\') => (0, 0),
            _ => return None,
        };
        self.old_left = self.old_left.checked_sub(old)?;
        self.new_left = self.new_left.checked_sub(new)?;
        let text = visible(line.get(1..).unwrap_or_default());
        let (old_line, new_line) = (self.old_line, self.new_line);
        match (old, new) {
            (1, 0) => {
                file.numbered.push(format!("-{old_line:>5} | {text}"));
                file.removed_lines.insert(old_line, text);
            }
            (old, 1) => {
                let sign = if old == 0 { '+' } else { ' ' };
                file.numbered.push(format!("{sign}{new_line:>5} | {text}"));
                file.new_lines.insert(new_line, text);
            }
            _ => file.numbered.push(line.to_owned()),
        }
        // A head may name any number.
        (self.old_line, self.new_line) = (old_line.saturating_add(old), new_line.saturating_add(new));
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

/// A place in a packet that a seat names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PacketLocation {
    /// The path of a file of the packet.
    pub file: String,
    /// The line, where one is named and the packet has it.
    pub line: Option<u64>,
    /// The last line of a range.
    pub end_line: Option<u64>,
    /// Whether the file is in the packet, and every line that is named.
    pub is_verified: bool,
}

/// The files of a packet by line, against which locations and quotes are verified.
#[derive(Debug, Default)]
pub struct PacketLines {
    files: Vec<PacketFile>,
    /// Texts without a path.
    texts: Vec<String>,
}

#[derive(Debug)]
struct PacketFile {
    path: String,
    lines: BTreeMap<u64, String>,
    /// Lines that a diff removes. They can be quoted.
    removed: BTreeMap<u64, String>,
}

/// A file that a location names, and the text after its path.
type NamedFile<'p> = (&'p PacketFile, String);

impl PacketLines {
    /// Adds a whole file.
    #[must_use]
    pub fn with_file(mut self, path: &str, text: &str) -> Self {
        let path = path.strip_prefix("./").unwrap_or(path).to_owned();
        let lines = (1..).zip(lines_of(text)).map(|(number, line)| (number, visible(line))).collect();
        self.files.push(PacketFile { path, lines, removed: BTreeMap::new() });
        self
    }

    /// Adds what a diff shows of the files that it changes. A file that is in the packet already keeps its own lines.
    #[must_use]
    pub fn with_diff(mut self, files: Vec<DiffFile>) -> Self {
        for DiffFile { path, new_lines, removed_lines, .. } in files {
            match self.files.iter_mut().find(|file| file.path == path) {
                Some(known) => known.removed.extend(removed_lines),
                None => self.files.push(PacketFile { path, lines: new_lines, removed: removed_lines }),
            }
        }
        self
    }

    /// Adds a text that has no path. It can be quoted.
    #[must_use]
    pub fn with_text(mut self, text: &str) -> Self {
        self.texts.push(text.to_owned());
        self
    }

    /// The same with every line as seats are shown it.
    #[must_use]
    pub fn as_shown(mut self, quoted: &QuotedTexts<'_>) -> Self {
        let lines = self.files.iter_mut().flat_map(|file| [&mut file.lines, &mut file.removed]);
        let lines = lines.flat_map(BTreeMap::values_mut).chain(&mut self.texts);
        lines.for_each(|line| *line = quoted.shown(line));
        self
    }

    /// The paths of the files.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.path.as_str())
    }

    /// Reads `auth.py:45`, `src/auth.py:45-47`, `auth.py#L45`, `auth.py (45)`, and `:45` where there is only one file.
    pub fn locate(&self, location: &str) -> Option<PacketLocation> {
        let location = location.trim().trim_matches('`');
        if let Some((file, rest)) = self.known_file(location).or_else(|| self.only_file(location)) {
            let (line, end_line) = line_numbers(&rest);
            let exists = |line: &u64| file.lines.contains_key(line) || file.removed.contains_key(line);
            let is_range = |end: &u64| line.is_some_and(|line| *end >= line);
            let is_verified =
                line.is_none_or(|line| exists(&line)) && end_line.is_none_or(|end| exists(&end));
            return Some(PacketLocation {
                file: file.path.clone(),
                line: line.filter(exists),
                end_line: end_line.filter(exists).filter(is_range),
                is_verified,
            });
        }
        let (file, rest) = other_path(location)?;
        let (line, end_line) = line_numbers(&rest);
        Some(PacketLocation { file, line, end_line, is_verified: false })
    }

    /// Whether a location names a line of the packet and `quote` is of that line, or of the lines of a range.
    pub fn quotes_line(&self, location: &str, quote: &str) -> bool {
        let located = self.locate(location).filter(|place| place.is_verified);
        let Some((place, first)) = located.and_then(|place| place.line.map(|line| (place, line))) else {
            return false;
        };
        let Some(file) = self.files.iter().find(|file| file.path == place.file) else { return false };
        let last = place.end_line.unwrap_or(first);
        // A quote of several lines begins at the line that is named.
        let more = (quote.trim().lines().count() as u64).saturating_sub(1);
        let last = last.max(first.saturating_add(more));
        [&file.lines, &file.removed].into_iter().any(|lines| {
            let text: Vec<&str> = lines.range(first..=last).map(|(_, line)| line.as_str()).collect();
            is_quote_of_lines(quote, &text.join("\n"))
        })
    }

    /// Whether the packet has these words anywhere.
    pub fn contains(&self, quote: &str) -> bool {
        let text = |lines: &BTreeMap<u64, String>| lines.values().cloned().collect::<Vec<_>>().join("\n");
        let in_file = |file: &PacketFile| {
            is_quote_of_lines(quote, &text(&file.lines)) || is_quote_of_lines(quote, &text(&file.removed))
        };
        self.files.iter().any(in_file) || self.texts.iter().any(|text| is_quote_of(quote, text))
    }

    /// The file that a location names, by its whole path or by the end of it.
    fn known_file(&self, location: &str) -> Option<NamedFile<'_>> {
        let mut best: Option<((usize, bool), NamedFile<'_>)> = None;
        for file in &self.files {
            let path = file.path.as_str();
            let ends = std::iter::successors(Some(path), |path| path.split_once('/').map(|(_, end)| end));
            for end in ends.filter(|end| !end.is_empty()) {
                let Some(at) = location.find(end) else { continue };
                let (before, rest) = (location.get(..at)?, location.get(at + end.len()..)?);
                let joined = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-');
                let fits = !before.ends_with(joined)
                    && !rest.starts_with(joined)
                    && is_same_file(before, end == path);
                // Of two files that fit, prefer the one whose whole path is named.
                let rank = (end.len(), end == path);
                if fits && best.as_ref().is_none_or(|(other, _)| rank > *other) {
                    best = Some((rank, (file, rest.to_owned())));
                }
            }
        }
        best.map(|(_, named)| named)
    }

    /// The only file of the packet, where a location is nothing but a line.
    fn only_file(&self, location: &str) -> Option<NamedFile<'_>> {
        let [file] = self.files.as_slice() else { return None };
        let has_words = location.chars().any(|char| char.is_alphabetic() && !matches!(char, 'L' | 'l'));
        (!has_words && leading_number(location).is_some()).then(|| (file, location.to_owned()))
    }
}

/// The lines of a text, each with its number.
pub fn with_line_numbers(text: &str) -> Vec<String> {
    let width = lines_of(text).count().to_string().len();
    lines_of(text).zip(1..).map(|(line, number)| format!("{number:>width$} | {}", visible(line))).collect()
}

/// Whether a quote is of these lines, as they are, or as a packet shows them: with numbers, and the signs of a diff.
fn is_quote_of_lines(quote: &str, lines: &str) -> bool {
    let bare = |line: &str| {
        let number = line.split_once(" | ").filter(|(number, _)| {
            let number = number.trim_start_matches(['+', '-']).trim();
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        });
        number.map_or(line, |(_, rest)| rest).to_owned()
    };
    let unsigned = |line: &str| line.strip_prefix(['+', '-']).unwrap_or(line).to_owned();
    let every = |change: &dyn Fn(&str) -> String| quote.lines().map(change).collect::<Vec<_>>().join("\n");
    is_quote_of(&every(&bare), lines) || is_quote_of(&every(&unsigned), lines)
}

/// A path outside the packet, which a judge may know. It must look like a file and stay below the working directory.
fn other_path(location: &str) -> Option<(String, String)> {
    let word = location.split_whitespace().next()?;
    let end = word.find([':', '#', ',', '(', ')']).unwrap_or(word.len());
    let (path, rest) = (word.get(..end)?, location.get(end..)?);
    let (_, extension) = path.rsplit_once('.')?;
    let is_name = extension.len() <= 8 && extension.chars().all(char::is_alphanumeric);
    let has_letter = extension.chars().any(char::is_alphabetic);
    let is_below = !path.starts_with(['/', '.', '\\']) && !path.contains("..");
    (is_name && has_letter && is_below).then(|| (path.to_owned(), rest.to_owned()))
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

/// The line that is stated, and the last line of a range.
fn line_numbers(rest: &str) -> (Option<u64>, Option<u64>) {
    let Some(tail) = leading_number(rest) else { return (None, None) };
    let digits = |text: &str| -> (Option<u64>, usize) {
        let length = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
        (text.get(..length).and_then(|digits| digits.parse().ok()), length)
    };
    let (line, length) = digits(tail);
    let after = tail.get(length..).unwrap_or_default().trim_start();
    let range = ["-", "\u{2013}", ".."].iter().find_map(|sign| after.strip_prefix(sign));
    let end =
        range.map(|end| end.trim_start().trim_start_matches(['L', 'l', '='])).and_then(|end| digits(end).0);
    (line, end)
}

#[cfg(test)]
#[path = "packet_lines_tests.rs"]
mod tests;
