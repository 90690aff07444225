//! Parses the subset of Markdown that models use. Each renderer formats the parts.

use std::iter::Peekable;
use std::str::Lines;

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::TerminalStyle;

/// A block of Markdown.
#[derive(Debug, PartialEq)]
pub(crate) enum MarkdownPart {
    Heading(String),
    Text(String),
    Item { depth: usize, marker: Option<String>, text: String },
    Quote(String),
    Code(Vec<String>),
    Table(Vec<Vec<String>>),
}

/// A part of a line.
#[derive(Debug, PartialEq)]
pub(crate) enum MarkdownSpan {
    Plain(String),
    Bold(String),
    Italic(String),
    Code(String),
}

/// Parses a text into blocks.
pub(crate) fn parse(text: &str) -> Vec<MarkdownPart> {
    let mut paras = Vec::new();
    let mut lines = text.lines().peekable();
    let mut open = false;
    while let Some(line) = lines.next() {
        let bare = line.trim();
        if bare.is_empty() || is_rule(bare) {
            open = false;
            continue;
        }
        if let Some(fence) = fence(bare) {
            paras.push(code(&mut lines, fence));
        } else if bare.starts_with('|') && bare.len() > 1 {
            paras.push(pipe_table(bare, &mut lines));
        } else if let (Some(quoted), true, Some(MarkdownPart::Quote(_))) =
            (bare.strip_prefix('>'), open, paras.last())
        {
            go_on(&mut paras, quoted.trim());
            continue;
        } else if let Some(para) = single(line) {
            open = matches!(para, MarkdownPart::Item { .. } | MarkdownPart::Quote(_));
            paras.push(para);
            continue;
        } else if open {
            go_on(&mut paras, bare);
            continue;
        } else {
            paras.push(MarkdownPart::Text(bare.to_owned()));
            open = true;
            continue;
        }
        open = false;
    }
    paras
}

fn is_rule(bare: &str) -> bool {
    bare.len() >= 3
        && (bare.chars().all(|c| c == '-')
            || bare.chars().all(|c| c == '*')
            || bare.chars().all(|c| c == '_'))
}

fn fence(bare: &str) -> Option<&'static str> {
    ["```", "~~~"].into_iter().find(|fence| bare.starts_with(fence))
}

fn code(lines: &mut Peekable<Lines<'_>>, fence: &str) -> MarkdownPart {
    let body = lines.take_while(|line| !line.trim().starts_with(fence));
    MarkdownPart::Code(body.map(|line| line.replace('\t', "    ").trim_end().to_owned()).collect())
}

fn pipe_table(first: &str, lines: &mut Peekable<Lines<'_>>) -> MarkdownPart {
    let row = |line: &str| -> Vec<String> {
        line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let mut rows = vec![row(first)];
    while let Some(line) = lines.next_if(|line| line.trim().starts_with('|')) {
        let cells = row(line);
        let ruler = cells.iter().all(|cell| !cell.is_empty() && cell.chars().all(|c| matches!(c, '-' | ':')));
        if !ruler {
            rows.push(cells);
        }
    }
    MarkdownPart::Table(rows)
}

/// A line whose first characters make it a block of its own.
fn single(line: &str) -> Option<MarkdownPart> {
    let bare = line.trim();
    let hashes = bare.chars().take_while(|c| *c == '#').count();
    if (1..=6).contains(&hashes)
        && let Some(title) = bare.get(hashes..).and_then(|rest| rest.strip_prefix(' '))
    {
        return Some(MarkdownPart::Heading(title.trim().trim_end_matches('#').trim().to_owned()));
    }
    if let Some(quoted) = bare.strip_prefix('>') {
        return Some(MarkdownPart::Quote(quoted.trim().to_owned()));
    }
    let indent = line.replace('\t', "    ").chars().take_while(|c| *c == ' ').count();
    let depth = (indent / 2).min(3);
    if let Some(text) = ["- ", "* ", "+ ", "\u{2022} "].iter().find_map(|marker| bare.strip_prefix(marker)) {
        return Some(MarkdownPart::Item { depth, marker: None, text: text.trim().to_owned() });
    }
    let digits = bare.chars().take_while(char::is_ascii_digit).count();
    let rest = bare.get(digits..).filter(|_| (1..=3).contains(&digits))?;
    let text = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))?;
    let marker = bare.get(..digits).map(|number| format!("{number}."));
    Some(MarkdownPart::Item { depth, marker, text: text.trim().to_owned() })
}

fn go_on(paras: &mut [MarkdownPart], more: &str) {
    if let Some(MarkdownPart::Text(text) | MarkdownPart::Quote(text) | MarkdownPart::Item { text, .. }) =
        paras.last_mut()
    {
        text.push(' ');
        text.push_str(more);
    }
}

/// Parses bold, italic and code in a line. Links, images and HTML are not parsed.
pub(crate) fn spans(text: &str) -> Vec<MarkdownSpan> {
    let mut spans = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let boundary = !plain.chars().next_back().is_some_and(char::is_alphanumeric);
        let found = enclosed(rest, "`").map(|(inner, after)| (MarkdownSpan::Code(inner.into()), after));
        let found = found
            .or_else(|| enclosed(rest, "**").map(|(inner, after)| (MarkdownSpan::Bold(inner.into()), after)));
        let found = found.or_else(|| {
            let (inner, after) = enclosed(rest, "*").filter(|_| boundary)?;
            Some((MarkdownSpan::Italic(inner.into()), after))
        });
        if let Some((span, after)) = found {
            if !plain.is_empty() {
                spans.push(MarkdownSpan::Plain(std::mem::take(&mut plain)));
            }
            spans.push(span);
            rest = after;
        } else {
            plain.push(char);
            rest = rest.get(char.len_utf8()..).unwrap_or_default();
        }
    }
    if !plain.is_empty() {
        spans.push(MarkdownSpan::Plain(plain));
    }
    spans
}

fn enclosed<'a>(text: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let (inner, after) = text.strip_prefix(mark)?.split_once(mark)?;
    let tight = !inner.is_empty() && inner.trim() == inner && !inner.starts_with('*');
    tight.then_some((inner, after))
}

/// The text without Markdown marks.
pub(crate) fn bare(text: &str) -> String {
    let texts = spans(text).into_iter().map(|span| match span {
        MarkdownSpan::Plain(text)
        | MarkdownSpan::Bold(text)
        | MarkdownSpan::Italic(text)
        | MarkdownSpan::Code(text) => text,
    });
    texts.collect()
}

/// Renders a text for a terminal, in lines of at most `width` columns.
pub(crate) fn lines(text: &str, width: usize, style: &TerminalStyle) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut before: Option<MarkdownPart> = None;
    for para in parse(text) {
        let list =
            matches!(para, MarkdownPart::Item { .. }) && matches!(before, Some(MarkdownPart::Item { .. }));
        let under = matches!(before, Some(MarkdownPart::Heading(_)));
        if !(lines.is_empty() || list || under) {
            lines.push(String::new());
        }
        lines.extend(set(&para, width, style));
        before = Some(para);
    }
    lines
}

/// The lines of one block.
pub(crate) fn set(para: &MarkdownPart, width: usize, style: &TerminalStyle) -> Vec<String> {
    match para {
        MarkdownPart::Heading(text) => wrap(&words(&bare(text), |word| style.bold(word)), width, "", ""),
        MarkdownPart::Text(text) => wrap(&painted(text, style), width, "", ""),
        MarkdownPart::Quote(text) => wrap(&painted(text, style), width, "> ", "> "),
        MarkdownPart::Code(code) => code.iter().map(|line| format!("    {}", style.code(line))).collect(),
        MarkdownPart::Table(rows) => {
            let style = TerminalStyle { width, ..*style };
            let rows: Vec<Vec<String>> =
                rows.iter().map(|row| row.iter().map(|cell| bare(cell)).collect()).collect();
            crate::table("", &rows, &style).lines().map(str::to_owned).collect()
        }
        MarkdownPart::Item { depth, marker, text } => {
            let marker = marker.as_deref().unwrap_or(style.bullet());
            let lead = format!("{}{marker} ", "  ".repeat(*depth));
            let hang = " ".repeat(lead.width());
            wrap(&painted(text, style), width, &lead, &hang)
        }
    }
}

/// A line with colours instead of marks. Without colours, code keeps its backticks.
pub(crate) fn painted(text: &str, style: &TerminalStyle) -> String {
    let parts = spans(text).into_iter().map(|span| match span {
        MarkdownSpan::Plain(text) => text,
        MarkdownSpan::Bold(text) => words(&text, |word| style.bold(word)),
        MarkdownSpan::Italic(text) => words(&text, |word| style.italic(word)),
        MarkdownSpan::Code(text) if style.color => words(&text, |word| style.code(word)),
        MarkdownSpan::Code(text) => format!("`{text}`"),
    });
    parts.collect()
}

/// Paints each word by itself, so that a wrapped line does not end inside a colour.
fn words(text: &str, paint: impl Fn(&str) -> String) -> String {
    text.split(' ').map(paint).collect::<Vec<_>>().join(" ")
}

/// Wraps a line at spaces. Words that are too long are broken.
pub(crate) fn wrap(text: &str, width: usize, first: &str, next: &str) -> Vec<String> {
    let options = Options::new(width)
        .initial_indent(first)
        .subsequent_indent(next)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::wrap(text, options).into_iter().map(std::borrow::Cow::into_owned).collect()
}

/// Cuts a line to `width` columns, with an ellipsis at the end.
pub(crate) fn cut(line: &str, width: usize, style: &TerminalStyle) -> String {
    if line.width() <= width {
        return line.to_owned();
    }
    let room = width.saturating_sub(style.ellipsis().width());
    let mut used = 0;
    let kept = line.chars().take_while(|char| {
        used += char.width().unwrap_or_default();
        used <= room
    });
    let kept: String = kept.collect();
    format!("{}{}", kept.trim_end(), style.ellipsis())
}

/// Cuts a line to its last `width` columns, with an ellipsis in front.
pub(crate) fn tail(line: &str, width: usize, style: &TerminalStyle) -> String {
    if line.width() <= width {
        return line.to_owned();
    }
    let room = width.saturating_sub(style.ellipsis().width());
    let mut used = 0;
    let kept = line.chars().rev().take_while(|char| {
        used += char.width().unwrap_or_default();
        used <= room
    });
    let kept: Vec<char> = kept.collect();
    let kept: String = kept.into_iter().rev().collect();
    format!("{}{}", style.ellipsis(), kept.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: TerminalStyle = TerminalStyle { color: false, width: 40, unicode: true };

    #[test]
    fn light_markdown_is_set_with_hanging_indents() {
        let text = "# Title with `code`\nA paragraph\nover two lines, **bold words** and *more*.\n\n- first point that is \
                    longer than one line\n  goes on\n  - below it\n10. tenth\n\n> quoted\n> words\n\n---\n\n| a | b |\n|---|:-:|\n\
                    | 1 | 2 |\n\n```sh\ncargo  run\n";
        insta::assert_snapshot!(lines(text, 40, &PLAIN).join("\n"), @"
        Title with code
        A paragraph over two lines, bold words
        and more.

        • first point that is longer than one
          line goes on
          • below it
        10. tenth

        > quoted words

        a  b
        1  2

            cargo  run
        ");
    }

    #[test]
    fn what_only_looks_like_a_mark_stays() {
        for text in [
            "2 * 3 * 4",
            "snake_case_name",
            "a ** b",
            "#hashtag",
            "1.5 times",
            "-5 degrees",
            "[x](http://y)",
            "`",
            "**",
        ] {
            assert_eq!(bare(text), text);
            assert_eq!(parse(text), [MarkdownPart::Text(text.to_owned())]);
        }
    }

    #[test]
    fn colour_never_runs_over_the_end_of_a_line() {
        let painted =
            lines("**one two three four five six seven**", 12, &TerminalStyle { color: true, ..PLAIN });
        assert!(painted.len() > 2);
        for line in painted {
            assert_eq!(line.matches("\u{1b}[1m").count(), line.matches("\u{1b}[0m").count(), "{line:?}");
        }
    }
}
