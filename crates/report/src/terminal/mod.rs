//! The report in a terminal.

mod paths;

use agon_core::{ReportBlock, ReportItem, ReportSection, VerdictTone};
use unicode_width::UnicodeWidthStr;

use crate::TerminalStyle;
use crate::markdown_text::{lines, painted, wrap};
use crate::report_assembly::{AssembledReport, short_report};
use crate::report_source::ReportSource;

/// The report of a debate for a terminal. `store` is appended to every command that it shows, for a store that must be named.
pub fn terminal_report(source: &ReportSource<'_>, style: &TerminalStyle, store: &str) -> String {
    let outline = short_report(source, store);
    let mut page = TerminalPage { out: String::new(), style, width: style.columns() };
    page.head(&outline);
    for section in &outline.sections {
        page.section(section);
    }
    page.foot(&outline, store);
    page.out
}

/// Some sections of a report.
pub(crate) fn rendered_sections(sections: &[ReportSection], style: &TerminalStyle) -> String {
    let mut page = TerminalPage { out: String::new(), style, width: style.columns() };
    sections.iter().for_each(|section| page.section(section));
    page.out.trim_start_matches('\n').to_owned()
}

/// The indentation under a heading, in columns.
const INDENT: usize = 2;

struct TerminalPage<'a> {
    out: String,
    style: &'a TerminalStyle,
    width: usize,
}

impl TerminalPage<'_> {
    fn head(&mut self, outline: &AssembledReport) {
        let style = self.style;
        for paragraph in outline.question.lines() {
            for line in wrap(paragraph, self.width, "", "") {
                self.line(0, &style.bold(&line));
            }
        }
        let paint = |line: &str| if outline.is_troubled { style.warn(line) } else { style.good(line) };
        for line in wrap(&outline.ending, self.width, "", "") {
            self.line(0, &paint(&line));
        }
        let facts = outline.facts.join(&format!(" {} ", style.dot()));
        for line in wrap(&facts, self.width, "", "") {
            self.line(0, &style.dim(&line));
        }
    }

    fn section(&mut self, section: &ReportSection) {
        self.out.push('\n');
        let heading = self.style.heading(&section.title);
        self.line(0, &heading);
        self.blocks(&section.blocks, INDENT);
    }

    fn blocks(&mut self, blocks: &[ReportBlock], indent: usize) {
        for (place, block) in blocks.iter().enumerate() {
            let apart = matches!(
                block,
                ReportBlock::Group { .. } | ReportBlock::Speech { .. } | ReportBlock::Paths(_)
            );
            if place > 0 && apart {
                self.out.push('\n');
            }
            self.block(block, indent);
        }
    }

    fn block(&mut self, block: &ReportBlock, indent: usize) {
        let style = self.style;
        let room = self.width.saturating_sub(indent).max(INDENT);
        match block {
            ReportBlock::Prose(text) => {
                lines(text, room, style).iter().for_each(|line| self.line(indent, line))
            }
            ReportBlock::Line(text) => {
                wrap(&painted(text, style), room, "", "").iter().for_each(|line| self.line(indent, line));
            }
            ReportBlock::Headline(tone, text) => {
                let paint = |line: &str| match tone {
                    VerdictTone::Good => style.good(line),
                    VerdictTone::Warn => style.warn(line),
                    VerdictTone::Bad => style.bad(line),
                };
                wrap(text, room, "", "").iter().for_each(|line| self.line(indent, &style.bold(&paint(line))));
            }
            ReportBlock::Items(items) => items.iter().for_each(|item| self.item(item, indent)),
            ReportBlock::Pairs(pairs) => {
                for (name, value) in pairs {
                    let pair = format!("{}: {value}", style.bold(name));
                    wrap(&pair, room, "", "  ").iter().for_each(|line| self.line(indent, line));
                }
            }
            ReportBlock::Table(rows) => {
                let table = crate::table("", rows, &TerminalStyle { width: room, ..*style });
                table.lines().for_each(|line| self.line(indent, line));
            }
            ReportBlock::Group { title, badges, blocks }
            | ReportBlock::Speech { title, badges, blocks, .. } => {
                let badges = badges.join(&format!(" {} ", style.dot()));
                let gap = if badges.is_empty() { "" } else { "  " };
                let title = format!("{}{gap}{}", style.bold(title), style.dim(&badges));
                wrap(&title, room, "", "  ").iter().for_each(|line| self.line(indent, line));
                self.blocks(blocks, indent + INDENT);
            }
            ReportBlock::Paths(paths) => {
                paths::path_lines(paths, room, style).iter().for_each(|line| self.line(indent, line));
            }
            ReportBlock::OffPage(blocks) | ReportBlock::In(_, blocks) => self.blocks(blocks, indent),
            ReportBlock::Cards(_) => {}
        }
    }

    /// A bullet with who, what, and a note below.
    fn item(&mut self, item: &ReportItem, indent: usize) {
        let style = self.style;
        let bullet = format!("{} ", style.bullet());
        let hang = indent + bullet.width();
        let room = self.width.saturating_sub(hang).max(INDENT);
        let who = item.who.as_ref().map(|who| format!("{}: ", style.bold(who))).unwrap_or_default();
        let mut text = lines(&item.text, room, style);
        // One paragraph follows its speaker on the line. Several are below the speaker.
        if !item.text.contains('\n') {
            text = wrap(&format!("{who}{}", painted(&item.text, style)), room, "", "");
        } else if !who.is_empty() {
            text.insert(0, who.trim_end().to_owned());
        }
        for (place, line) in text.iter().enumerate() {
            let lead = if place == 0 { bullet.as_str() } else { "  " };
            self.line(indent, &format!("{lead}{line}"));
        }
        for line in item.note.iter().flat_map(|note| wrap(note, room, "", "")) {
            self.line(hang, &style.dim(&line));
        }
    }

    fn foot(&mut self, outline: &AssembledReport, store: &str) {
        let (style, id) = (self.style, &outline.id);
        self.out.push('\n');
        self.line(0, &style.dim(&format!("Debate {id}")));
        // Commands are not wrapped, so that they can be copied.
        for command in [format!("agon show {id}{store}"), format!("agon export {id}{store} --format html")] {
            self.line(INDENT, &style.dim(&command));
        }
    }

    fn line(&mut self, indent: usize, line: &str) {
        let line = line.trim_end();
        if !line.is_empty() {
            self.out.push_str(&" ".repeat(indent));
            self.out.push_str(line);
        }
        self.out.push('\n');
    }
}
