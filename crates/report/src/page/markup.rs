//! Words as markup: escaped, with the light Markdown that models use.

use crate::markdown_text::{Para, Span, parse, spans};

/// Headings of HTML end here.
const LEVEL_MAX: usize = 6;

/// The tag of a heading at this depth.
pub(super) fn heading(level: usize) -> String {
    format!("h{}", level.min(LEVEL_MAX))
}

/// Somebody's words; their headings stand under the one that they stand under.
pub(super) fn write_prose(out: &mut String, text: &str, level: usize) {
    let mut listing = false;
    for para in parse(text) {
        let item = matches!(para, Para::Item { .. });
        if item != listing {
            out.push_str(if item { "<ul class=\"said\">\n" } else { "</ul>\n" });
            listing = item;
        }
        match para {
            Para::Heading(text) => {
                let tag = heading(level);
                out.push_str(&format!("<{tag} class=\"own\">{}</{tag}>\n", inline(&text)));
            }
            Para::Text(text) => out.push_str(&format!("<p>{}</p>\n", inline(&text))),
            Para::Quote(text) => out.push_str(&format!("<blockquote>{}</blockquote>\n", inline(&text))),
            Para::Code(lines) => {
                out.push_str(&format!("<pre tabindex=\"0\">{}</pre>\n", escape(&lines.join("\n"))))
            }
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

/// A table in a frame of its own, which scrolls where the page must not.
pub(super) fn write_table(out: &mut String, rows: &[Vec<String>]) {
    out.push_str("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table>\n");
    for (place, row) in rows.iter().enumerate() {
        let (open, close) = if place == 0 { ("th scope=\"col\"", "th") } else { ("td", "td") };
        let cells: String = row.iter().map(|cell| format!("<{open}>{}</{close}>", inline(cell))).collect();
        out.push_str(&format!("<tr>{cells}</tr>\n"));
    }
    out.push_str("</table></div>\n");
}

/// A line with its marks.
pub(super) fn inline(text: &str) -> String {
    let parts = spans(text).into_iter().map(|span| match span {
        Span::Plain(text) => escape(&text),
        Span::Bold(text) => format!("<strong>{}</strong>", escape(&text)),
        Span::Italic(text) => format!("<em>{}</em>", escape(&text)),
        Span::Code(text) => format!("<code>{}</code>", escape(&text)),
    });
    parts.collect()
}

/// Text that no browser takes for markup, in an element or an attribute.
pub(super) fn escape(text: &str) -> String {
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
