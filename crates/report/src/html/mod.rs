//! The whole debate as one page: no script, no network, light and dark, desktop and phone.

mod chart;

use agon_core::Debate;
use serde_json::Value;

use crate::outline::{Block, Fold, Item, Outline, Section, Tone, full, shares};
use crate::prose::{Para, Span, parse, spans};

const STYLES: &str = include_str!("page.css");

/// The whole debate as one self-contained page. All text in it is escaped, and the page forbids itself to load or run
/// anything.
pub fn html(document: &Value, debate: &Debate) -> String {
    let outline = full(document, debate);
    let mut out = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    out.push_str("<meta name=\"color-scheme\" content=\"light dark\">\n");
    out.push_str("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n");
    out.push_str(&format!(
        "<title>{}</title>\n<style>\n{STYLES}</style>\n</head>\n<body>\n",
        escape(&title(&outline))
    ));
    write_header(&mut out, &outline);
    out.push_str("<main>\n");
    for section in &outline.sections {
        write_section(&mut out, section);
    }
    out.push_str("</main>\n");
    out.push_str(&format!(
        "<footer>Debate <code>{}</code>, written by Agon.</footer>\n</body>\n</html>\n",
        escape(&outline.id)
    ));
    out
}

/// A title in a tab is cut anyway.
const TITLE_CHARS_MAX: usize = 120;

fn title(outline: &Outline) -> String {
    outline.question.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TITLE_CHARS_MAX).collect()
}

fn write_header(out: &mut String, outline: &Outline) {
    let troubled = if outline.troubled { " troubled" } else { "" };
    out.push_str(&format!("<header>\n<p class=\"facts\">{}</p>\n", escape(&outline.facts.join(" \u{b7} "))));
    out.push_str(&format!("<h1>{}</h1>\n", escape(&outline.question).replace('\n', "<br>")));
    out.push_str(&format!("<p class=\"ending{troubled}\">{}</p>\n</header>\n", inline(&outline.ending)));
}

fn write_section(out: &mut String, section: &Section) {
    let (kind, title) = (escape(section.kind), escape(&section.title));
    match section.fold {
        Fold::Never => {
            out.push_str(&format!("<section class=\"{kind}\">\n<h2>{title}</h2>\n"));
            write_blocks(out, &section.blocks);
            out.push_str("</section>\n");
        }
        Fold::Open | Fold::Closed => {
            let open = if section.fold == Fold::Open { " open" } else { "" };
            out.push_str(&format!("<details class=\"{kind}\"{open}>\n<summary><h2>{title}</h2></summary>\n"));
            write_blocks(out, &section.blocks);
            out.push_str("</details>\n");
        }
    }
}

fn write_blocks(out: &mut String, blocks: &[Block]) {
    for block in blocks {
        write_block(out, block);
    }
}

fn write_block(out: &mut String, block: &Block) {
    match block {
        Block::Prose(text) => write_prose(out, text),
        Block::Line(text) => out.push_str(&format!("<p class=\"line\">{}</p>\n", inline(text))),
        Block::Headline(tone, text) => {
            let tone = match tone {
                Tone::Good => "good",
                Tone::Warn => "warn",
                Tone::Bad => "bad",
            };
            out.push_str(&format!("<p class=\"headline {tone}\">{}</p>\n", escape(text)));
        }
        Block::Items(items) => {
            out.push_str("<ul class=\"items\">\n");
            items.iter().for_each(|item| write_item(out, item));
            out.push_str("</ul>\n");
        }
        Block::Pairs(pairs) => {
            out.push_str("<dl>\n");
            for (name, value) in pairs {
                out.push_str(&format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), escape(value)));
            }
            out.push_str("</dl>\n");
        }
        Block::Table(rows) => write_table(out, rows),
        Block::Group { title, badges, blocks } => {
            out.push_str(&format!("<article>\n<h3>{}", escape(title)));
            for badge in badges {
                out.push_str(&format!(" <span class=\"badge\">{}</span>", escape(badge)));
            }
            out.push_str("</h3>\n");
            write_blocks(out, blocks);
            out.push_str("</article>\n");
        }
        Block::Bars(bars) => {
            out.push_str("<dl class=\"bars\">\n");
            for (bar, share) in bars.iter().zip(shares(bars)) {
                let (name, written) = (escape(&bar.name), escape(&bar.written));
                let percent = 100.0 * share;
                let drawn = format!("<span class=\"bar\" style=\"width:{percent:.1}%\"></span>");
                out.push_str(&format!("<div><dt>{name}</dt><dd>{written}</dd>{drawn}</div>\n"));
            }
            out.push_str("</dl>\n");
        }
        Block::Chart(chart) => out.push_str(&chart::svg(chart)),
        Block::Levels(_) => {}
    }
}

fn write_item(out: &mut String, item: &Item) {
    out.push_str("<li>");
    if let Some(who) = &item.who {
        out.push_str(&format!("<strong>{}:</strong> ", escape(who)));
    }
    match parse(&item.text).as_slice() {
        [Para::Text(text)] => out.push_str(&inline(text)),
        _ => write_prose(out, &item.text),
    }
    if let Some(note) = &item.note {
        out.push_str(&format!("<p class=\"note\">{}</p>", inline(note)));
    }
    out.push_str("</li>\n");
}

fn write_table(out: &mut String, rows: &[Vec<String>]) {
    out.push_str("<div class=\"wide\"><table>\n");
    for (place, row) in rows.iter().enumerate() {
        let tag = if place == 0 { "th" } else { "td" };
        let cells: String = row.iter().map(|cell| format!("<{tag}>{}</{tag}>", inline(cell))).collect();
        out.push_str(&format!("<tr>{cells}</tr>\n"));
    }
    out.push_str("</table></div>\n");
}

fn write_prose(out: &mut String, text: &str) {
    let mut listing = false;
    for para in parse(text) {
        let item = matches!(para, Para::Item { .. });
        if item != listing {
            out.push_str(if item { "<ul class=\"said\">\n" } else { "</ul>\n" });
            listing = item;
        }
        match para {
            Para::Heading(text) => out.push_str(&format!("<h4>{}</h4>\n", inline(&text))),
            Para::Text(text) => out.push_str(&format!("<p>{}</p>\n", inline(&text))),
            Para::Quote(text) => out.push_str(&format!("<blockquote>{}</blockquote>\n", inline(&text))),
            Para::Code(lines) => out.push_str(&format!("<pre>{}</pre>\n", escape(&lines.join("\n")))),
            Para::Table(rows) => write_table(out, &rows),
            Para::Item { depth, marker, text } => {
                let marker =
                    marker.map(|marker| format!("<span class=\"number\">{}</span> ", escape(&marker)));
                let numbered = if marker.is_some() { " numbered" } else { "" };
                let marker = marker.unwrap_or_default();
                out.push_str(&format!(
                    "<li class=\"deep{depth}{numbered}\">{marker}{}</li>\n",
                    inline(&text)
                ));
            }
        }
    }
    if listing {
        out.push_str("</ul>\n");
    }
}

fn inline(text: &str) -> String {
    let parts = spans(text).into_iter().map(|span| match span {
        Span::Plain(text) => escape(&text),
        Span::Bold(text) => format!("<strong>{}</strong>", escape(&text)),
        Span::Italic(text) => format!("<em>{}</em>", escape(&text)),
        Span::Code(text) => format!("<code>{}</code>", escape(&text)),
    });
    parts.collect()
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(char),
        }
    }
    out
}
