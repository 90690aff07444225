//! Entries out of plain text or Markdown: each paragraph is one, under the heading of its section.

use super::entry::{Entry, Raw, TEXT_CHARS_MAX, push};

const ENTRIES_MAX: usize = 1_000;
/// What begins and ends a part in which nothing is a heading or a gap.
const FENCES: [&str; 2] = ["```", "~~~"];
/// How many of the same sign make a line that is drawn.
const DRAWN_MIN: usize = 3;

/// The entries of a text.
pub(super) fn entries(text: &str) -> Vec<Entry> {
    let mut page = Page::default();
    for line in text.lines().map(str::trim) {
        page.line(line);
        if page.entries.len() >= ENTRIES_MAX {
            return page.entries;
        }
    }
    page.end_section(0);
    page.entries
}

/// Whether a text is a page of the web, which is mostly not what it is about.
pub(super) fn is_page(text: &str) -> bool {
    let mut rest = text.trim_start();
    loop {
        let after = match rest {
            comment if comment.starts_with("<!--") => comment.split_once("-->"),
            declaration if declaration.starts_with("<?") => declaration.split_once("?>"),
            _ => None,
        };
        let Some((_, after)) = after else { break };
        rest = after.trim_start();
    }
    let begins = |with: &str| rest.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    ["<!doctype html", "<html", "<head>", "<body"].into_iter().any(begins)
}

/// Whether these bytes are no text at all. A sign that controls may have slipped in; many have not.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    const TEXT_PER_CONTROL: usize = 20;
    let controls = bytes.iter().filter(|byte| byte.is_ascii_control() && !is_layout(**byte)).count();
    controls * TEXT_PER_CONTROL > bytes.len() || bytes.contains(&0)
}

/// Signs that texts have for their layout, those of coloured ones included.
fn is_layout(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, 0x08 | 0x0b | 0x1b)
}

#[derive(Default)]
struct Page<'a> {
    /// The heading of the section and its level.
    heading: Option<(usize, &'a str)>,
    /// Whether the section has a paragraph.
    told: bool,
    /// The paragraph so far.
    lines: Vec<&'a str>,
    chars: usize,
    fence: Option<&'static str>,
    entries: Vec<Entry>,
}

impl<'a> Page<'a> {
    fn line(&mut self, line: &'a str) {
        let fence = FENCES.into_iter().find(|fence| line.starts_with(fence));
        match self.fence {
            Some(_) => {
                self.fence = self.fence.filter(|open| fence != Some(open));
                return self.add(line);
            }
            None => self.fence = fence,
        }
        match (heading(line), drawn(line), self.lines.as_slice()) {
            (Some((level, words)), ..) => self.begin_section(level, words),
            // A line drawn under another makes a heading of it.
            (None, Some(sign @ ('=' | '-')), [words]) => {
                let (level, words) = (if sign == '=' { 1 } else { 2 }, *words);
                self.lines.clear();
                self.begin_section(level, words);
            }
            (None, Some(_), _) => self.end_paragraph(),
            _ if line.is_empty() => self.end_paragraph(),
            _ => self.add(line),
        }
    }

    /// What is too long for an entry is several: else the end of a long list would never be seen.
    fn add(&mut self, line: &'a str) {
        let chars = line.chars().count() + 1;
        if self.chars + chars > TEXT_CHARS_MAX {
            self.end_paragraph();
        }
        self.lines.push(line);
        self.chars += chars;
    }

    fn begin_section(&mut self, level: usize, words: &'a str) {
        self.end_section(level);
        self.heading = Some((level, words));
        self.told = false;
    }

    /// A heading that has nothing under it says something itself; one that has only sections names them.
    fn end_section(&mut self, next_level: usize) {
        self.end_paragraph();
        if let Some((level, words)) = self.heading.filter(|(level, _)| !self.told && next_level <= *level) {
            self.heading = Some((level, ""));
            self.keep(words);
        }
    }

    fn end_paragraph(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        self.chars = 0;
        let mut text = String::new();
        for line in lines {
            push(&mut text, line);
            push(&mut text, "\n");
        }
        if !text.trim().is_empty() {
            self.keep(&text);
        }
    }

    fn keep(&mut self, text: &str) {
        let (_, title) = self.heading.unwrap_or_default();
        let raw = Raw { title: title.to_owned(), text: text.to_owned(), ..Raw::default() };
        self.entries.push(Entry::of(&raw));
        self.told = true;
    }
}

/// The words of a heading such as `## What is new ##`, and its level.
fn heading(line: &str) -> Option<(usize, &str)> {
    let words = line.trim_start_matches('#');
    let level = line.len() - words.len();
    let spaced = words.is_empty() || words.starts_with(char::is_whitespace);
    ((1..=6).contains(&level) && spaced).then(|| (level, words.trim().trim_end_matches('#').trim_end()))
}

/// The sign that a line is drawn with, if that is all it has.
fn drawn(line: &str) -> Option<char> {
    let sign = line.chars().next().filter(|sign| matches!(sign, '=' | '-' | '*' | '_'))?;
    let signs = line.chars().filter(|c| !c.is_whitespace());
    (signs.clone().all(|c| c == sign) && signs.count() >= DRAWN_MIN).then_some(sign)
}
