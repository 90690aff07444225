//! A whole document in a terminal, such as a chapter of the book.
//!
//! The parser of reports is for the light Markdown that models write. A document also has links, pictures and comments. They are
//! replaced by plain text first; what is left is parsed as in a report.

use crate::TerminalStyle;
use crate::markdown_text::{MarkdownPart, bare, parse, set, wrap};
use crate::table::whole_table;

/// The indentation of what is below a heading, in columns.
const INDENT: usize = 2;
/// Headings of this level and below are indented.
const INDENTED_LEVEL: usize = 3;
/// Stands for a bar that does not separate cells, while the text is parsed.
const ESCAPED_BAR: char = '\u{e000}';

/// Sets a Markdown document for a terminal. `link_words` says what is printed after the text of a link, for its target; nothing if it
/// returns `None`.
pub fn terminal_document(
    text: &str,
    style: &TerminalStyle,
    link_words: &dyn Fn(&str) -> Option<String>,
) -> String {
    let mut out = String::new();
    for section in sections(text) {
        let (heading_indent, indent) = match section.level {
            0 => (0, 0),
            INDENTED_LEVEL.. => (INDENT, 2 * INDENT),
            _ => (0, INDENT),
        };
        let heading = plain_links(&section.title, link_words);
        for line in wrap(&bare(&heading), style.columns() - heading_indent, "", "") {
            let line = if section.level >= INDENTED_LEVEL { style.bold(&line) } else { style.heading(&line) };
            push_line(&mut out, heading_indent, &line);
        }
        let body = with_plain_links(&section.body, link_words);
        body_lines(&body, indent, style).iter().for_each(|line| push_line(&mut out, indent, line));
        out.push('\n');
    }
    let end = out.trim_end().len();
    out.truncate(end);
    out.push('\n');
    out.replace(ESCAPED_BAR, "|")
}

fn push_line(out: &mut String, indent: usize, line: &str) {
    let line = line.trim_end();
    if !line.is_empty() {
        out.push_str(&" ".repeat(indent));
        out.push_str(line);
    }
    out.push('\n');
}

/// The lines below a heading. Cells of tables are never cut: nobody can see the rest elsewhere.
fn body_lines(text: &str, indent: usize, style: &TerminalStyle) -> Vec<String> {
    let width = style.columns().saturating_sub(indent);
    let mut lines: Vec<String> = Vec::new();
    let mut before_is_item = false;
    for part in parse(text) {
        let is_item = matches!(part, MarkdownPart::Item { .. });
        let is_close = is_item && before_is_item;
        if !lines.is_empty() && !is_close {
            lines.push(String::new());
        }
        match &part {
            MarkdownPart::Table(rows) => {
                let rows: Vec<Vec<String>> =
                    rows.iter().map(|row| row.iter().map(|cell| bare(cell)).collect()).collect();
                let table = whole_table(&rows, &TerminalStyle { width, ..*style });
                lines.extend(table.lines().map(str::to_owned));
            }
            part => lines.extend(set(part, width, style)),
        }
        before_is_item = is_item;
    }
    lines
}

/// A heading and what is below it. The text before the first heading has level 0 and no title.
#[derive(Debug, Default, PartialEq)]
struct DocumentSection {
    level: usize,
    title: String,
    body: String,
}

/// Splits a document at its headings and drops comments. What is in a fence is neither.
fn sections(text: &str) -> Vec<DocumentSection> {
    let mut sections = vec![DocumentSection::default()];
    let mut fences = FenceReader::default();
    let mut is_comment = false;
    for line in text.lines() {
        let bare = line.trim();
        let Some(section) = sections.last_mut() else { break };
        let is_code = !is_comment && fences.is_code(line);
        if !is_code && (is_comment || bare.starts_with("<!--")) {
            is_comment = !bare.contains("-->");
            continue;
        }
        match heading(line).filter(|_| !is_code) {
            Some((level, title)) => {
                sections.push(DocumentSection { level, title: title.to_owned(), body: String::new() });
            }
            None => {
                section.body.push_str(line);
                section.body.push('\n');
            }
        }
    }
    sections.retain(|section| section.level > 0 || !section.body.trim().is_empty());
    sections
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.chars().take_while(|char| *char == '#').count();
    let title = line.get(level..).filter(|_| (1..=6).contains(&level))?.strip_prefix(' ')?;
    Some((level, title.trim()))
}

/// The text with plain words for links, except in fences. Code in a list is not indented.
fn with_plain_links(text: &str, link_words: &dyn Fn(&str) -> Option<String>) -> String {
    let (mut out, mut prose) = (String::new(), String::new());
    let mut fences = FenceReader::default();
    let mut indent = 0;
    for line in text.lines() {
        let was_open = fences.open.is_some();
        // A link may be broken over two lines, so prose is looked at as a whole.
        if !fences.is_code(line) {
            prose.push_str(line);
            prose.push('\n');
            continue;
        }
        out.push_str(&plain_links(&std::mem::take(&mut prose), link_words));
        let spaces = line.chars().take_while(|char| *char == ' ').count();
        if !was_open {
            indent = spaces;
        }
        out.push_str(line.get(spaces.min(indent)..).unwrap_or_default());
        out.push('\n');
    }
    out + &plain_links(&prose, link_words)
}

/// Tells code in fences from prose, line by line.
#[derive(Default)]
struct FenceReader {
    open: Option<&'static str>,
}

impl FenceReader {
    /// Whether this line is code or a fence.
    fn is_code(&mut self, line: &str) -> bool {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim().starts_with(mark));
        match (self.open, mark) {
            (Some(open), Some(mark)) if open == mark => self.open = None,
            (None, Some(mark)) => self.open = Some(mark),
            _ => {}
        }
        self.open.is_some() || mark.is_some()
    }
}

/// `[text](target)` becomes the text and the words for the target. Pictures are dropped, and `<https://...>` loses its brackets. What
/// is in backticks stays.
fn plain_links(text: &str, link_words: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let code = rest.strip_prefix('`').and_then(|inner| inner.find('`')).map(|end| end + 2);
        if let Some((code, after)) = code.and_then(|end| rest.split_at_checked(end)) {
            out.push_str(&code.replace("\\|", &ESCAPED_BAR.to_string()));
            rest = after;
        } else if let Some((_, after)) = rest.strip_prefix('!').and_then(link) {
            rest = after;
        } else if let Some(((words, target), after)) = link(rest) {
            let shown = link_words(target).filter(|shown| shown != words);
            out.push_str(&plain_links(words, link_words));
            out.extend(shown.map(|shown| format!(" ({shown})")));
            rest = after;
        } else if let Some((address, after)) = bracketed_address(rest) {
            out.push_str(address);
            rest = after;
        } else if let Some(after) = rest.strip_prefix("\\|") {
            out.push(ESCAPED_BAR);
            rest = after;
        } else {
            out.push(char);
            rest = rest.get(char.len_utf8()..).unwrap_or_default();
        }
    }
    out
}

/// The words and the target of a link at the start of a text, and what follows.
fn link(text: &str) -> Option<((&str, &str), &str)> {
    let inner = text.strip_prefix('[')?;
    let mut depth = 0_usize;
    let end = inner.char_indices().find_map(|(at, char)| {
        match char {
            '[' => depth += 1,
            ']' if depth == 0 => return Some(at),
            ']' => depth -= 1,
            _ => {}
        }
        None
    })?;
    let (words, after) = inner.split_at_checked(end)?;
    let (target, after) = after.strip_prefix("](")?.split_once(')')?;
    // The title of a link is not shown.
    let target = target.split_whitespace().next().unwrap_or_default();
    Some(((words, target), after))
}

fn bracketed_address(text: &str) -> Option<(&str, &str)> {
    let (address, after) = text.strip_prefix('<')?.split_once('>')?;
    let is_address = address.starts_with("http") && !address.contains(char::is_whitespace);
    is_address.then_some((address, after))
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;

    const PLAIN: TerminalStyle = TerminalStyle { color: false, width: 50, unicode: true };

    fn shown(text: &str) -> String {
        let words = |target: &str| match target.strip_suffix(".md") {
            Some(chapter) => Some(format!("agon help {chapter}")),
            None => target.starts_with("http").then(|| target.to_owned()),
        };
        terminal_document(text, &PLAIN, &words)
    }

    #[test]
    fn a_chapter_reads_well_without_colours() {
        let text = "# Local models\n\nWith [Ollama](https://ollama.com) and [a key](models.md \"title\") you\ncan do more. See [below](#steps).\n\n\
                    ![a picture](images/x.png)\n\n<!-- a note\nto writers -->\n## Steps\n\n1. Start it:\n\n   ```sh\n   # not a heading\n   \
                    ollama serve   # [x](y.md)\n   ```\n\n2. Then go on.\n- a `code [x](y)` item\n\n### Details\n\n| option | meaning |\n|---|---|\n\
                    | `a\\|b` | long words that go over more than one line of the table, and over a second, and over a third, and over a fourth, \
                    and over a fifth |\n\n> quoted\n";
        insta::assert_snapshot!(shown(text), @"
        Local models
          With Ollama (https://ollama.com) and a key (agon
          help models) you can do more. See below.

        Steps
          1. Start it:

              # not a heading
              ollama serve   # [x](y.md)

          2. Then go on.
          • a `code [x](y)` item

          Details
            option  meaning
            a|b     long words that go over more than one
                    line of the table, and over a second,
                    and over a third, and over a fourth,
                    and over a fifth

            > quoted
        ");
    }

    #[test]
    fn no_line_of_prose_or_of_a_table_is_too_wide() {
        let prose = "word ".repeat(60);
        let text = format!(
            "# T\n\n{prose}\n\n- {prose}\n\n### Deeper\n\n| a | b |\n|---|---|\n| {prose} | {prose} |\n\n> {prose}\n"
        );
        let shown = shown(&text);
        assert!(shown.lines().all(|line| line.width() <= 50), "{shown}");
        assert_eq!(shown.matches("word").count(), 5 * 60, "nothing is cut");
    }

    #[test]
    fn what_is_no_link_stays() {
        for text in ["a [b] c", "[x] (y)", "a < b > c", "`[a](b)`", "[open", "!", "[a](b"] {
            assert_eq!(shown(text).trim(), text);
        }
    }
}
