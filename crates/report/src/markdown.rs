//! The whole debate as Markdown.

use agon_core::{PositionPaths, ReportBlock, ReportItem, ReportSection};

use crate::evidence::paths::{TABLE_MARKS, held_positions, path_rows, position_keys};
use crate::markdown_text::{MarkdownPart, parse};
use crate::report_assembly::full_report;
use crate::report_source::ReportSource;

/// The full report as Markdown.
pub fn markdown_report(source: &ReportSource<'_>) -> String {
    let outline = full_report(source);
    let question = outline.question.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = format!("# {}\n\n", escape(&question));
    out.push_str(&format!(
        "**{}**\n\n*{}*\n",
        escape(&outline.ending),
        escape(&outline.facts.join(" \u{b7} "))
    ));
    write_sections(&mut out, &outline.sections);
    out
}

pub(crate) fn write_sections(out: &mut String, sections: &[ReportSection]) {
    for section in sections {
        out.push_str(&format!("\n## {}\n\n", escape(&section.title)));
        write_blocks(out, &section.blocks, 3);
    }
}

/// Longer positions are listed below the table.
const CELL_CHARS_MAX: usize = 24;
/// The deepest heading of Markdown.
const LEVEL_MAX: usize = 6;

fn write_blocks(out: &mut String, blocks: &[ReportBlock], level: usize) {
    for (place, block) in blocks.iter().enumerate() {
        if place > 0 && !matches!(block, ReportBlock::Cards(_)) && !out.ends_with("\n\n") {
            out.push('\n');
        }
        write_block(out, block, level);
    }
}

fn write_block(out: &mut String, block: &ReportBlock, level: usize) {
    match block {
        ReportBlock::Prose(text) => out.push_str(&prose(text)),
        ReportBlock::Line(text) => out.push_str(&format!("{}\n", escape(text))),
        ReportBlock::Headline(_, text) => out.push_str(&format!("**{}**\n", escape(text))),
        ReportBlock::Items(items) => items.iter().for_each(|item| write_item(out, item)),
        ReportBlock::Pairs(pairs) => {
            for (name, value) in pairs {
                out.push_str(&format!("- **{}**: {}\n", escape(name), escape(value)));
            }
        }
        ReportBlock::Table(rows) => write_table(out, rows),
        ReportBlock::Group { title, badges, blocks } | ReportBlock::Speech { title, badges, blocks, .. } => {
            out.push_str(&format!("{} {}\n\n", "#".repeat(level.min(LEVEL_MAX)), escape(title)));
            if !badges.is_empty() {
                out.push_str(&format!("*{}*\n\n", escape(&badges.join(" \u{b7} "))));
            }
            write_blocks(out, blocks, level + 1);
        }
        ReportBlock::Paths(paths) => write_paths(out, paths),
        ReportBlock::OffPage(blocks) | ReportBlock::In(_, blocks) => write_blocks(out, blocks, level),
        ReportBlock::Cards(_) => {}
    }
}

/// Seats are rows and rounds are columns. Positions that are too long for a cell are listed below.
fn write_paths(out: &mut String, paths: &PositionPaths) {
    let (keys, own) = position_keys(paths, CELL_CHARS_MAX);
    let marked = |cell: String| cell.replace('*', "\\*").replace('~', "\\~");
    let rows = path_rows(paths, &keys).into_iter().map(|row| row.into_iter().map(marked).collect());
    write_table(out, &rows.collect::<Vec<_>>());
    if !own {
        out.push('\n');
        for (key, position) in held_positions(paths, &keys) {
            out.push_str(&format!("- **{key}**: {}\n", escape(position)));
        }
    }
    if let Some(legend) = TABLE_MARKS.legend(paths) {
        out.push_str(&format!("\n{}\n", marked(legend)));
    }
}

fn write_item(out: &mut String, item: &ReportItem) {
    let who = item.who.as_ref().map(|who| format!("**{}**: ", escape(who))).unwrap_or_default();
    let text = prose(&item.text);
    // A list, table or code block cannot follow its speaker on the line.
    let is_inline = matches!(parse(&item.text).first(), None | Some(MarkdownPart::Text(_)));
    let gap = if is_inline || who.is_empty() { "" } else { "\n\n" };
    let whole = format!("{}{gap}{text}", if gap.is_empty() { who.as_str() } else { who.trim_end() });
    for (place, line) in whole.trim_end().lines().enumerate() {
        let lead = if place == 0 { "- " } else { "  " };
        out.push_str(format!("{lead}{line}").trim_end());
        out.push('\n');
    }
    if let Some(note) = &item.note {
        out.push_str(&format!("  <br>*{}*\n", escape(note)));
    }
}

fn write_table(out: &mut String, rows: &[Vec<String>]) {
    for (place, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row.iter().map(|cell| escape(cell).replace('|', "\\|")).collect();
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
        if place == 0 {
            out.push_str(&format!("|{}\n", " --- |".repeat(row.len())));
        }
    }
}

/// A model's Markdown inside the report. Its headings become bold text, HTML becomes text, images become links so that nothing is
/// fetched, and every code fence is closed.
fn prose(text: &str) -> String {
    let mut out = String::new();
    let mut before: Option<MarkdownPart> = None;
    for para in parse(text) {
        let list = matches!((&before, &para), (Some(MarkdownPart::Item { .. }), MarkdownPart::Item { .. }));
        if before.is_some() && !list {
            out.push('\n');
        }
        match &para {
            MarkdownPart::Heading(text) => out.push_str(&format!("**{}**\n", escape(text).replace("**", ""))),
            MarkdownPart::Text(text) => out.push_str(&format!("{}\n", escape(text))),
            MarkdownPart::Quote(text) => out.push_str(&format!("> {}\n", escape(text))),
            MarkdownPart::Item { depth, marker, text } => {
                let marker = marker.as_deref().unwrap_or("-");
                out.push_str(&format!("{}{marker} {}\n", "   ".repeat(*depth), escape(text)));
            }
            MarkdownPart::Code(lines) => {
                let fence = "`".repeat(longest_run(lines).max(2) + 1);
                out.push_str(&format!("{fence}\n{}\n{fence}\n", lines.join("\n")));
            }
            MarkdownPart::Table(rows) => write_table(&mut out, rows),
        }
        before = Some(para);
    }
    out
}

/// The longest run of backticks. A fence around the lines must be longer.
fn longest_run(lines: &[String]) -> usize {
    let runs = lines.iter().flat_map(|line| line.split(|char| char != '`')).map(str::len);
    runs.max().unwrap_or_default()
}

/// Escapes HTML outside code spans. If the backticks do not pair up, or if something in them could come alive where a reader pairs them
/// otherwise, escapes everything, including the backticks.
fn escape(text: &str) -> String {
    let pieces: Vec<&str> = text.split('`').collect();
    let begins_tag =
        |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
    let has_tag = |code: &str| code.split('<').skip(1).any(begins_tag);
    let has_mark = |code: &str| ["|", "![", "[^", "]:"].iter().any(|mark| code.contains(mark));
    let is_harmless = |code: &&str| !has_tag(code) && !has_mark(code);
    let paired = pieces.len() % 2 == 1
        && !text.contains("``")
        && !text.contains("\\`")
        && pieces.iter().skip(1).step_by(2).all(is_harmless);
    let escaped = pieces.iter().enumerate().map(|(place, piece)| {
        if paired && place % 2 == 1 {
            (*piece).to_owned()
        } else {
            // A line such as `[x]: y` defines a link or a note: it would vanish, and change what others wrote. `[^x]` refers to one.
            let piece = escape_headings(piece).replace("]:", "]\\:").replace("[^", "[\\^");
            // Three tildes at the start of a line would swallow the rest of the report as code.
            piece.replace('&', "&amp;").replace('<', "&lt;").replace("![", "!\\[").replace("~~~", "\\~~~")
        }
    });
    escaped.collect::<Vec<_>>().join(if paired { "`" } else { "&#96;" })
}

/// Escapes what could begin a heading, also inside a list or a quotation: headings are the report's own.
fn escape_headings(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for word in text.split_inclusive(char::is_whitespace) {
        // A quotation needs no space after its mark.
        let mark = word.trim_start_matches('>');
        let is_mark = mark.starts_with('#') && mark.trim_end().chars().all(|c| c == '#');
        let quotation = word.get(..word.len() - mark.len()).unwrap_or_default();
        escaped.push_str(quotation);
        escaped.push_str(if is_mark { "\\" } else { "" });
        escaped.push_str(mark);
    }
    escaped
}
