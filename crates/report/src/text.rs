//! The report in a terminal.

pub(crate) mod ways;

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::Style;
use crate::outline::{Bar, Block, Cell, Item, Levels, Outline, Section, Tone, shares, short};
use crate::prose::{lines, painted, wrap};

/// The report that people read when a debate is over.
pub fn text(document: &Value, style: &Style) -> String {
    text_of_store(document, style, "")
}

/// The same for a debate in a store that has to be named: `store` ends every command that the report shows.
pub fn text_of_store(document: &Value, style: &Style, store: &str) -> String {
    let outline = short(document, store);
    let mut page = Page { out: String::new(), style, width: style.columns() };
    page.head(&outline);
    for section in &outline.sections {
        page.section(section);
    }
    page.foot(&outline, store);
    page.out
}

/// Sections alone, for a part of a report.
pub(crate) fn sections(sections: &[Section], style: &Style) -> String {
    let mut page = Page { out: String::new(), style, width: style.columns() };
    sections.iter().for_each(|section| page.section(section));
    page.out.trim_start_matches('\n').to_owned()
}

/// How far what stands under a heading is set in.
const INDENT: usize = 2;

struct Page<'a> {
    out: String,
    style: &'a Style,
    width: usize,
}

impl Page<'_> {
    fn head(&mut self, outline: &Outline) {
        let style = self.style;
        for paragraph in outline.question.lines() {
            for line in wrap(paragraph, self.width, "", "") {
                self.line(0, &style.bold(&line));
            }
        }
        let paint = |line: &str| if outline.troubled { style.warn(line) } else { style.good(line) };
        for line in wrap(&outline.ending, self.width, "", "") {
            self.line(0, &paint(&line));
        }
        let facts = outline.facts.join(&format!(" {} ", style.dot()));
        for line in wrap(&facts, self.width, "", "") {
            self.line(0, &style.dim(&line));
        }
    }

    fn section(&mut self, section: &Section) {
        self.out.push('\n');
        let heading = self.style.heading(&section.title);
        self.line(0, &heading);
        self.blocks(&section.blocks, INDENT);
    }

    fn blocks(&mut self, blocks: &[Block], indent: usize) {
        for (place, block) in blocks.iter().enumerate() {
            let apart = matches!(block, Block::Group { .. } | Block::Speech { .. } | Block::Ways(_));
            if place > 0 && apart {
                self.out.push('\n');
            }
            self.block(block, indent);
        }
    }

    fn block(&mut self, block: &Block, indent: usize) {
        let style = self.style;
        let room = self.width.saturating_sub(indent).max(INDENT);
        match block {
            Block::Prose(text) => lines(text, room, style).iter().for_each(|line| self.line(indent, line)),
            Block::Line(text) => {
                wrap(&painted(text, style), room, "", "").iter().for_each(|line| self.line(indent, line));
            }
            Block::Headline(tone, text) => {
                let paint = |line: &str| match tone {
                    Tone::Good => style.good(line),
                    Tone::Warn => style.warn(line),
                    Tone::Bad => style.bad(line),
                };
                wrap(text, room, "", "").iter().for_each(|line| self.line(indent, &style.bold(&paint(line))));
            }
            Block::Items(items) => items.iter().for_each(|item| self.item(item, indent)),
            Block::Pairs(pairs) => {
                for (name, value) in pairs {
                    let told = format!("{}: {value}", style.bold(name));
                    wrap(&told, room, "", "  ").iter().for_each(|line| self.line(indent, line));
                }
            }
            Block::Table(rows) => {
                let table = crate::table("", rows, &Style { width: room, ..*style });
                table.lines().for_each(|line| self.line(indent, line));
            }
            Block::Group { title, badges, blocks } | Block::Speech { title, badges, blocks, .. } => {
                let badges = badges.join(&format!(" {} ", style.dot()));
                let gap = if badges.is_empty() { "" } else { "  " };
                let told = format!("{}{gap}{}", style.bold(title), style.dim(&badges));
                wrap(&told, room, "", "  ").iter().for_each(|line| self.line(indent, line));
                self.blocks(blocks, indent + INDENT);
            }
            Block::Bars(bars) => self.bars(bars, indent),
            Block::Levels(levels) => self.levels(levels, indent),
            Block::Ways(ways) => {
                ways::lines(ways, room, style).iter().for_each(|line| self.line(indent, line));
            }
            Block::OffPage(blocks) => self.blocks(blocks, indent),
            Block::Chart(_) | Block::Cards(_) => {}
        }
    }

    /// Bars of up to half the line, one below the other.
    fn bars(&mut self, bars: &[Bar], indent: usize) {
        let (style, room) = (self.style, self.room_for(bars, indent));
        let drawn =
            shares(bars).into_iter().map(|share| style.bar().repeat((share * room as f64).round() as usize));
        self.draw(bars, drawn.collect(), indent);
    }

    /// Bars on the same scale, with what they are held against.
    fn levels(&mut self, levels: &Levels, indent: usize) {
        let (style, room) = (self.style, self.room_for(&levels.bars, indent));
        let sign = |cell: Cell| match cell {
            Cell::Full => style.bar(),
            Cell::Empty => " ",
            Cell::Mark => style.mark(),
        };
        let drawn = levels.bars.iter().map(|bar| levels.cells(bar, room).into_iter().map(sign).collect());
        self.draw(&levels.bars, drawn.collect(), indent);
    }

    fn room_for(&self, bars: &[Bar], indent: usize) -> usize {
        let (name, written) = widths(bars);
        (self.width / 2).min(self.width.saturating_sub(indent + name + written + 2 * INDENT))
    }

    fn draw(&mut self, bars: &[Bar], drawn: Vec<String>, indent: usize) {
        let (name, written) = widths(bars);
        for (bar, drawn) in bars.iter().zip(drawn) {
            let gap = |text: &str, to: usize| " ".repeat(INDENT + to.saturating_sub(text.width()));
            let (after_name, after_written) = (gap(&bar.name, name), gap(&bar.written, written));
            let drawn = self.style.code(drawn.trim_end());
            self.line(indent, &format!("{}{after_name}{}{after_written}{drawn}", bar.name, bar.written));
        }
    }

    /// A bullet with its hanging lines: who, what, and a note below.
    fn item(&mut self, item: &Item, indent: usize) {
        let style = self.style;
        let bullet = format!("{} ", style.bullet());
        let hang = indent + bullet.width();
        let room = self.width.saturating_sub(hang).max(INDENT);
        let who = item.who.as_ref().map(|who| format!("{}: ", style.bold(who))).unwrap_or_default();
        let mut told = lines(&item.text, room, style);
        // One paragraph follows its speaker on the line; more than one stand below.
        if !item.text.contains('\n') {
            told = wrap(&format!("{who}{}", painted(&item.text, style)), room, "", "");
        } else if !who.is_empty() {
            told.insert(0, who.trim_end().to_owned());
        }
        for (place, line) in told.iter().enumerate() {
            let lead = if place == 0 { bullet.as_str() } else { "  " };
            self.line(indent, &format!("{lead}{line}"));
        }
        for line in item.note.iter().flat_map(|note| wrap(note, room, "", "")) {
            self.line(hang, &style.dim(&line));
        }
    }

    fn foot(&mut self, outline: &Outline, store: &str) {
        let (style, id) = (self.style, &outline.id);
        self.out.push('\n');
        self.line(0, &style.dim(&format!("Debate {id}")));
        // A command is never wrapped: it is there to be copied.
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

/// How wide the names and the written figures of some bars are.
fn widths(bars: &[Bar]) -> (usize, usize) {
    let widest = |of: fn(&Bar) -> usize| bars.iter().map(of).max().unwrap_or_default();
    (widest(|bar| bar.name.width()), widest(|bar| bar.written.width()))
}
