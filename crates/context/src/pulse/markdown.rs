//! Entries from plain text or Markdown: each paragraph is an entry, titled with the heading of its section.

use super::documents::{ENTRIES_MAX, PulseEntry, RawEntry, TEXT_CHARS_MAX, push_bounded};

/// Headings and blank lines inside a code fence are ordinary text.
const CODE_FENCES: [&str; 2] = ["```", "~~~"];
/// How many equal characters make a rule or an underline.
const RULE_CHARS_MIN: usize = 3;

pub(super) fn markdown_entries(text: &str) -> Vec<PulseEntry> {
    let mut reader = MarkdownReader::default();
    for line in text.lines().map(str::trim) {
        reader.read_line(line);
        if reader.entries.len() >= ENTRIES_MAX {
            return reader.entries;
        }
    }
    reader.end_section(0);
    reader.entries
}

#[derive(Default)]
struct MarkdownReader<'a> {
    /// The level and text of the current section's heading.
    heading: Option<(usize, &'a str)>,
    section_has_entry: bool,
    /// The current paragraph.
    lines: Vec<&'a str>,
    paragraph_chars: usize,
    open_fence: Option<&'static str>,
    entries: Vec<PulseEntry>,
}

impl<'a> MarkdownReader<'a> {
    fn read_line(&mut self, line: &'a str) {
        let fence = CODE_FENCES.into_iter().find(|fence| line.starts_with(fence));
        match self.open_fence {
            Some(_) => {
                self.open_fence = self.open_fence.filter(|open| fence != Some(open));
                return self.add_line(line);
            }
            None => self.open_fence = fence,
        }
        match (parse_heading(line), parse_rule(line), self.lines.as_slice()) {
            (Some((level, title)), ..) => self.begin_section(level, title),
            // A rule under a single line makes that line a heading.
            (None, Some(rule @ ('=' | '-')), [title]) => {
                let (level, title) = (if rule == '=' { 1 } else { 2 }, *title);
                self.lines.clear();
                self.begin_section(level, title);
            }
            (None, Some(_), _) => self.end_paragraph(),
            _ if line.is_empty() => self.end_paragraph(),
            _ => self.add_line(line),
        }
    }

    /// Splits a paragraph that is too long for one entry, so that the end of a long list is not lost.
    fn add_line(&mut self, line: &'a str) {
        let chars = line.chars().count() + 1;
        if self.paragraph_chars + chars > TEXT_CHARS_MAX {
            self.end_paragraph();
        }
        self.lines.push(line);
        self.paragraph_chars += chars;
    }

    fn begin_section(&mut self, level: usize, title: &'a str) {
        self.end_section(level);
        self.heading = Some((level, title));
        self.section_has_entry = false;
    }

    /// A heading without any text or subsection below it becomes an entry itself.
    fn end_section(&mut self, next_level: usize) {
        self.end_paragraph();
        let is_empty = |(level, _): &(usize, &str)| !self.section_has_entry && next_level <= *level;
        if let Some((level, title)) = self.heading.filter(is_empty) {
            self.heading = Some((level, ""));
            self.push_entry(title);
        }
    }

    fn end_paragraph(&mut self) {
        self.paragraph_chars = 0;
        let mut text = String::new();
        for line in std::mem::take(&mut self.lines) {
            push_bounded(&mut text, line);
            push_bounded(&mut text, "\n");
        }
        if !text.trim().is_empty() {
            self.push_entry(&text);
        }
    }

    fn push_entry(&mut self, text: &str) {
        let (_, title) = self.heading.unwrap_or_default();
        let raw = RawEntry { title: title.to_owned(), text: text.to_owned(), ..RawEntry::default() };
        self.entries.push(PulseEntry::new(&raw));
        self.section_has_entry = true;
    }
}

/// The level and text of a heading such as `## What is new ##`.
fn parse_heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let has_space = text.is_empty() || text.starts_with(char::is_whitespace);
    ((1..=6).contains(&level) && has_space).then(|| (level, text.trim().trim_end_matches('#').trim_end()))
}

/// The character of a rule such as `---` or `* * *`.
fn parse_rule(line: &str) -> Option<char> {
    let rule = line.chars().next().filter(|c| matches!(c, '=' | '-' | '*' | '_'))?;
    let marks = line.chars().filter(|c| !c.is_whitespace());
    (marks.clone().all(|c| c == rule) && marks.count() >= RULE_CHARS_MIN).then_some(rule)
}
