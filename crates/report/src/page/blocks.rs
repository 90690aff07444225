//! What stands under a heading.

use super::markup::{escape, heading, inline, write_prose, write_table};
use super::{chart, paths, score_paths};
use agon_core::{PositionPaths, ReportBar, ReportBlock, ReportItem, SeatCard, VerdictTone};

use crate::bars::bar_shares;
use crate::evidence::paths::{BARE_MARK, CITED_MARK, marks_legend};
use crate::markdown_text::{Para, parse};

/// Where on the page something is set.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The next heading's level.
    pub(super) level: usize,
    /// Whether each seat's words are folded apath.
    pub(super) folded: bool,
}

/// Blocks, one below the other.
pub(super) fn write(out: &mut String, blocks: &[ReportBlock], place: Place) {
    for block in blocks {
        write_block(out, block, place);
    }
}

/// As many colours for seats as the styles have.
const COLOURS: usize = 8;

/// The class that has a seat's colour.
pub(super) fn colour(place: usize) -> String {
    format!("s{}", place % COLOURS)
}

fn write_block(out: &mut String, block: &ReportBlock, place: Place) {
    match block {
        ReportBlock::Prose(text) => write_prose(out, text, place.level),
        ReportBlock::Line(text) => out.push_str(&format!("<p class=\"line\">{}</p>\n", inline(text))),
        ReportBlock::Headline(tone, text) => {
            let tone = match tone {
                VerdictTone::Good => "good",
                VerdictTone::Warn => "warn",
                VerdictTone::Bad => "bad",
            };
            out.push_str(&format!("<p class=\"headline {tone}\">{}</p>\n", escape(text)));
        }
        ReportBlock::Items(items) => {
            out.push_str("<ul class=\"items\">\n");
            items.iter().for_each(|item| write_item(out, item, place.level));
            out.push_str("</ul>\n");
        }
        ReportBlock::Pairs(pairs) => write_pairs(out, pairs),
        ReportBlock::Table(rows) => write_table(out, rows),
        ReportBlock::Group { title, badges, blocks } => {
            write_group(out, "article", "group", &titled(title, badges, place.level), blocks, place);
        }
        ReportBlock::Speech { place: seat, title, badges, blocks } => {
            let tag = if place.folded && !blocks.is_empty() { "details" } else { "article" };
            let class = format!("speech {}", colour(*seat));
            write_group(out, tag, &class, &titled(title, badges, place.level), blocks, place);
        }
        ReportBlock::Bars(bars) => write_bars(out, bars),
        ReportBlock::Chart(drawn) => out.push_str(&chart::svg(drawn)),
        ReportBlock::Paths(paths) => write_paths(out, paths),
        ReportBlock::Cards(cards) => write_cards(out, cards, place.level),
        ReportBlock::Levels(_) | ReportBlock::OffPage(_) | ReportBlock::In(..) => {}
    }
}

fn titled(title: &str, badges: &[String], level: usize) -> String {
    let tag = heading(level);
    let badges: String =
        badges.iter().map(|badge| format!(" <span class=\"badge\">{}</span>", escape(badge))).collect();
    format!("<{tag}>{}{badges}</{tag}>", escape(title))
}

fn write_group(out: &mut String, tag: &str, class: &str, title: &str, blocks: &[ReportBlock], place: Place) {
    let (before, after) = if tag == "details" { ("<summary>", "</summary>") } else { ("", "") };
    out.push_str(&format!("<{tag} class=\"{class}\">\n{before}{title}{after}\n"));
    write(out, blocks, Place { level: place.level + 1, folded: false });
    out.push_str(&format!("</{tag}>\n"));
}

fn write_item(out: &mut String, item: &ReportItem, level: usize) {
    out.push_str("<li>");
    if let Some(who) = &item.who {
        out.push_str(&format!("<strong>{}:</strong> ", escape(who)));
    }
    match parse(&item.text).as_slice() {
        [Para::Text(text)] => out.push_str(&inline(text)),
        _ => write_prose(out, &item.text, level),
    }
    if let Some(note) = &item.note {
        out.push_str(&format!("<p class=\"note\">{}</p>", inline(note)));
    }
    out.push_str("</li>\n");
}

fn write_pairs(out: &mut String, pairs: &[(String, String)]) {
    out.push_str("<dl>\n");
    for (name, value) in pairs {
        out.push_str(&format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), inline(value)));
    }
    out.push_str("</dl>\n");
}

fn write_bars(out: &mut String, bars: &[ReportBar]) {
    out.push_str("<dl class=\"bars\">\n");
    for (bar, share) in bars.iter().zip(bar_shares(bars)) {
        let (name, written) = (escape(&bar.name), escape(&bar.written));
        let percent = 100.0 * share;
        let drawn =
            format!("<span class=\"track\"><span class=\"bar\" style=\"width:{percent:.1}%\"></span></span>");
        out.push_str(&format!("<div><dt>{name}</dt><dd>{drawn}{written}</dd></div>\n"));
    }
    out.push_str("</dl>\n");
}

/// The drawing, and below it in full what it cuts.
fn write_paths(out: &mut String, paths: &PositionPaths) {
    out.push_str("<figure>\n");
    out.push_str(&if paths.scored { score_paths::svg(paths) } else { paths::svg(paths) });
    if let Some(told) = marks_legend(paths) {
        let told = told.replace(CITED_MARK, "Solid line:").replace(BARE_MARK, "broken line:");
        out.push_str(&format!("<figcaption>{}.</figcaption>\n", capital(&escape(&told))));
    }
    out.push_str("</figure>\n");
    let cut = !paths.scored && paths.positions.iter().any(|position| paths::is_cut(position));
    if cut {
        out.push_str(
            "<details class=\"positions-in-full\">\n<summary>The positions in full</summary>\n<ol>\n",
        );
        for position in &paths.positions {
            out.push_str(&format!("<li>{}</li>\n", inline(position)));
        }
        out.push_str("</ol>\n</details>\n");
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn write_cards(out: &mut String, cards: &[SeatCard], level: usize) {
    let tag = heading(level);
    out.push_str("<div class=\"cards\">\n");
    for card in cards {
        let class = colour(card.place);
        out.push_str(&format!("<article class=\"card {class}\">\n<{tag}>{}</{tag}>\n", escape(&card.name)));
        let id = if card.id.eq_ignore_ascii_case(&card.name) {
            String::new()
        } else {
            format!("{}, ", escape(&card.id))
        };
        out.push_str(&format!("<p class=\"note\">{id}{}</p>\n", escape(&card.model)));
        write_held(out, card);
        let notes: String =
            card.notes.iter().map(|note| format!("<span class=\"badge\">{}</span> ", escape(note))).collect();
        if !notes.is_empty() {
            out.push_str(&format!("<p class=\"notes\">{}</p>\n", notes.trim_end()));
        }
        out.push_str("</article>\n");
    }
    out.push_str("</div>\n");
}

/// Two positions that are shorter stand on one line.
const SHORT_CHARS_MAX: usize = 24;

fn write_held(out: &mut String, card: &SeatCard) {
    let short = |text: &String| text.chars().count() <= SHORT_CHARS_MAX;
    let mut line = |name: &str, text: &str| {
        out.push_str(&format!("<p><span class=\"which\">{name}</span> {}</p>\n", inline(text)));
    };
    match (&card.first, &card.last) {
        (Some(first), Some(last)) if short(first) && short(last) => {
            line("Held", &format!("{first}, then {last}"))
        }
        (Some(first), Some(last)) => {
            line("First", first);
            line("At last", last);
        }
        (Some(first), None) => line("Held", first),
        (None, _) => {}
    }
}
