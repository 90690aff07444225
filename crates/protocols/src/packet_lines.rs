//! The files and diffs that seats judge, by line: where a location points, and whether a quote of a line is true.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::quotes::{QuotedTexts, is_quote_of, normalized, occurs_in, without_line_numbers};

/// A unified diff.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnifiedDiff {
    /// What stands before the first file, such as the message of a mailed patch.
    pub message: String,
    /// The files that it changes.
    pub files: Vec<PacketFile>,
}

/// A file of a packet, or the lines of it that a diff shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PacketFile {
    /// Its new path, or the old one of a file that is deleted.
    pub path: String,
    /// The diff of this file with line numbers: the new number of a line that is there, the old one of a removed line.
    pub numbered: Vec<String>,
    /// The lines after the change, by number.
    lines: BTreeMap<u64, String>,
    /// The lines that the diff removes, by their old number. They can be quoted.
    removed: BTreeMap<u64, String>,
}

impl PacketFile {
    /// Whether a quote is of the lines with these numbers, or of removed ones.
    fn contains(&self, quote: &str, numbers: RangeInclusive<u64>) -> bool {
        [&self.lines, &self.removed].into_iter().any(|lines| {
            let text: Vec<&str> = lines.range(numbers.clone()).map(|(_, line)| line.as_str()).collect();
            let text = text.join("\n");
            quotes_of_lines(quote).iter().any(|quote| is_quote_of(quote, &text))
        })
    }
}

/// Reads a unified diff, or says what is wrong with it and where.
pub fn read_diff(text: &str) -> Result<UnifiedDiff, String> {
    let (mut message, mut files) = (String::new(), Vec::<PacketFile>::new());
    let mut has_hunks = false;
    let mut lines = lines_of(text).enumerate().peekable();
    while let Some((place, whole)) = lines.next() {
        let (number, line) = (place + 1, whole.trim_end_matches('\r'));
        if let Some(header) = line.strip_prefix("diff --git ") {
            files.push(PacketFile { path: git_path(header), ..PacketFile::default() });
            has_hunks = false;
        } else if let (Some(old), Some(new)) =
            (line.strip_prefix("--- "), lines.peek().and_then(|(_, next)| next.strip_prefix("+++ ")))
        {
            let path = changed_path(old, new).ok_or_else(|| format!("line {number}: it names no file"))?;
            lines.next();
            match files.last_mut() {
                // The `diff --git` line before it named the same file. With quoted paths or prefixes other than `a/` and
                // `b/`, the name holds both paths.
                Some(last) if !has_hunks && (last.path.contains(&path) || last.path.is_empty()) => {
                    last.path = path;
                }
                _ => files.push(PacketFile { path, ..PacketFile::default() }),
            }
            has_hunks = false;
        } else if line.starts_with("@@") {
            let wrong = |what: &str| format!("line {number}: {what}");
            let mut hunk = DiffHunk::read(line).ok_or_else(|| {
                wrong("it is not the head of a hunk, which looks like this: @@ -1,3 +1,4 @@")
            })?;
            let file = files.last_mut().ok_or_else(|| wrong("a hunk stands before the first file"))?;
            file.numbered.push(line.to_owned());
            while hunk.old_left > 0 || hunk.new_left > 0 {
                let cut = || format!("it ends in the middle of the hunk of line {number}");
                let (place, line) = lines.next().ok_or_else(cut)?;
                hunk.take(line, file).ok_or_else(|| {
                    let what =
                        format!("does not belong to the hunk of line {number}, whose head counts more lines");
                    format!("line {}: it {what}", place + 1)
                })?;
            }
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
    if files.is_empty() {
        return Err("it is not a unified diff: there is no file in it (make one with `git diff`)".into());
    }
    Ok(UnifiedDiff { message: message.trim().to_owned(), files })
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

    /// Counts a line off; `None` if it cannot belong to the hunk.
    fn take(&mut self, line: &str, file: &mut PacketFile) -> Option<()> {
        let (sign, old, new) = match line.as_bytes().first() {
            // Some tools strip the blank from an empty line.
            None | Some(b' ' | b'\t' | b'\r') => (' ', 1, 1),
            Some(b'-') => ('-', 1, 0),
            Some(b'+') => ('+', 0, 1),
            Some(b'\\') => {
                // "\ No newline at end of file"
                file.numbered.push(line.to_owned());
                return Some(());
            }
            _ => return None,
        };
        let (number, shown) = match sign {
            '-' => (self.old_line, &mut file.removed),
            _ => (self.new_line, &mut file.lines),
        };
        let text = visible(line.get(1..).unwrap_or_default());
        file.numbered.push(format!("{sign}{number:>5} | {text}"));
        shown.insert(number, text);
        (self.old_left, self.new_left) = (self.old_left.checked_sub(old)?, self.new_left.checked_sub(new)?);
        // A head may name any number.
        self.old_line = self.old_line.saturating_add(old);
        self.new_line = self.new_line.saturating_add(new);
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
    let mut bytes = Vec::new();
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        let mut octal = String::new();
        while byte == b'\\' && octal.len() < 3 {
            let Some(digit) = rest.next_if(|byte| (b'0'..=b'7').contains(byte)) else { break };
            octal.push(char::from(digit));
        }
        bytes.push(match byte {
            b'\\' if !octal.is_empty() => u8::from_str_radix(&octal, 8).unwrap_or(b'?'),
            b'\\' => match rest.next() {
                Some(b't') => b'\t',
                Some(b'n') => b'\n',
                other => other.unwrap_or(b'\\'),
            },
            byte => byte,
        });
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
    /// The lines of all files and the removed ones, file by file and normalized. Made when words are first looked for in all of them.
    whole_files: OnceCell<Vec<String>>,
}

impl PacketLines {
    /// Adds a whole file.
    #[must_use]
    pub fn with_file(mut self, path: &str, text: &str) -> Self {
        let path = path.strip_prefix("./").unwrap_or(path).to_owned();
        let lines = (1..).zip(lines_of(text)).map(|(number, line)| (number, visible(line))).collect();
        self.files.push(PacketFile { path, lines, ..PacketFile::default() });
        self
    }

    /// Adds what a diff shows of the files that it changes. A file that is in the packet already keeps its own lines.
    #[must_use]
    pub fn with_diff(mut self, files: Vec<PacketFile>) -> Self {
        for diff in files {
            match self.files.iter_mut().find(|file| file.path == diff.path) {
                Some(known) => known.removed.extend(diff.removed),
                None => self.files.push(diff),
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
        let Some((file, rest)) = self.known_file(location).or_else(|| self.only_file(location)) else {
            let (path, rest) = other_path(location)?;
            let (line, end_line) = line_numbers(rest);
            return Some(PacketLocation { file: path.to_owned(), line, end_line, is_verified: false });
        };
        let (line, end_line) = line_numbers(rest);
        let exists = |line: &u64| file.lines.contains_key(line) || file.removed.contains_key(line);
        let is_range = |end: &u64| line.is_some_and(|line| *end >= line);
        Some(PacketLocation {
            file: file.path.clone(),
            line: line.filter(exists),
            end_line: end_line.filter(exists).filter(is_range),
            is_verified: line.iter().chain(&end_line).all(exists),
        })
    }

    /// Whether a location names a line of the packet and `quote` is of that line, or of the lines of a range.
    pub fn quotes_line(&self, location: &str, quote: &str) -> bool {
        let Some(PacketLocation { file, line: Some(first), end_line, is_verified: true }) =
            self.locate(location)
        else {
            return false;
        };
        // A quote of several lines begins at the line that is named.
        let more = (quote.trim().lines().count() as u64).saturating_sub(1);
        let last = end_line.unwrap_or(first).max(first.saturating_add(more));
        let named = self.files.iter().find(|known| known.path == file);
        named.is_some_and(|file| file.contains(quote, first..=last))
    }

    /// Whether the packet has these words anywhere.
    pub fn contains(&self, quote: &str) -> bool {
        let is_in_file = |quote: &str| self.whole_files().iter().any(|text| occurs_in(quote, || text));
        quotes_of_lines(quote).iter().any(|quote| is_in_file(quote))
            || self.texts.iter().any(|text| is_quote_of(quote, text))
    }

    fn whole_files(&self) -> &[String] {
        self.whole_files.get_or_init(|| {
            let lines = self.files.iter().flat_map(|file| [&file.lines, &file.removed]);
            lines
                .map(|lines| normalized(&lines.values().map(String::as_str).collect::<Vec<_>>().join("\n")))
                .collect()
        })
    }

    /// The file that a location names, by its whole path or by the end of it, and the text after it.
    fn known_file<'l>(&self, location: &'l str) -> Option<(&PacketFile, &'l str)> {
        let joined = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-');
        let mut best = None;
        for file in &self.files {
            let path = Some(file.path.as_str());
            let ends = std::iter::successors(path, |path| path.split_once('/').map(|(_, end)| end));
            for end in ends.filter(|end| !end.is_empty()) {
                let Some((before, rest)) = location.split_once(end) else { continue };
                let is_whole = end == file.path;
                let is_word = !before.ends_with(joined) && !rest.starts_with(joined);
                // Of two files that fit, prefer the one whose whole path is named.
                let is_better = best.is_none_or(|(rank, _)| (end.len(), is_whole) > rank);
                if is_better && is_word && is_same_file(before, is_whole) {
                    best = Some(((end.len(), is_whole), (file, rest)));
                }
            }
        }
        best.map(|(_, named)| named)
    }

    /// The only file of the packet, where a location is nothing but a line.
    fn only_file<'l>(&self, location: &'l str) -> Option<(&PacketFile, &'l str)> {
        let [file] = self.files.as_slice() else { return None };
        let has_words = location.chars().any(|char| char.is_alphabetic() && !matches!(char, 'L' | 'l'));
        (!has_words && leading_number(location).is_some()).then_some((file, location))
    }
}

/// The lines of a text, each with its number.
pub fn with_line_numbers(text: &str) -> Vec<String> {
    let width = lines_of(text).count().to_string().len();
    lines_of(text).zip(1..).map(|(line, number)| format!("{number:>width$} | {}", visible(line))).collect()
}

/// A quote of lines without what a packet shows before them: numbers with the signs of a diff, or signs alone.
fn quotes_of_lines(quote: &str) -> [String; 2] {
    const SIGNS: [char; 2] = ['+', '-'];
    let unsigned = quote.lines().map(|line| line.strip_prefix(SIGNS).unwrap_or(line));
    [without_line_numbers(quote, &SIGNS), unsigned.collect::<Vec<_>>().join("\n")]
}

/// A path outside the packet, which a judge may know. It must look like a file and stay below the working directory.
fn other_path(location: &str) -> Option<(&str, &str)> {
    let word = location.split_whitespace().next()?;
    let end = word.find([':', '#', ',', '(', ')']).unwrap_or(word.len());
    let (path, rest) = (word.get(..end)?, location.get(end..)?);
    let (_, extension) = path.rsplit_once('.')?;
    let is_name = extension.len() <= 8 && extension.chars().all(char::is_alphanumeric);
    let has_letter = extension.chars().any(char::is_alphabetic);
    let is_below = !path.starts_with(['/', '.', '\\']) && !path.contains("..");
    (is_name && has_letter && is_below).then_some((path, rest))
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
    let split = |text: &'_ str| text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let Some(tail) = leading_number(rest) else { return (None, None) };
    let (line, after) = tail.split_at(split(tail));
    let range = ["-", "\u{2013}", ".."].iter().find_map(|sign| after.trim_start().strip_prefix(sign));
    let end = range.map(|end| end.trim_start().trim_start_matches(['L', 'l', '=']));
    (line.parse().ok(), end.and_then(|end| end.split_at(split(end)).0.parse().ok()))
}

#[cfg(test)]
#[path = "packet_lines_tests.rs"]
mod tests;
