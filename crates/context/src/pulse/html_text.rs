//! Plain text from HTML.

use agon_core::invisible::is_invisible;
use agon_host::clean_line;
use quick_xml::escape::resolve_html5_entity;

use crate::errands::shorten;

const ENTITY_NAME_BYTES_MAX: usize = 32;
/// Elements whose content is not text.
const SKIPPED_ELEMENTS: &[&str] =
    &["script", "style", "template", "noscript", "iframe", "object", "svg", "math"];
/// Elements that may be inside a word. Every other element separates words.
const INLINE_ELEMENTS: &[&str] = &[
    "a", "abbr", "b", "code", "del", "em", "font", "i", "ins", "mark", "q", "s", "small", "span", "strong",
    "sub", "sup", "u", "wbr",
];

/// The text of an HTML fragment on one line of at most `chars_max` characters: without tags and scripts, entities
/// decoded once, and without characters that control a terminal, hide, or reorder text.
pub(super) fn html_to_text(html: &str, chars_max: usize) -> String {
    let mut line = clean_line(&without_markup(html));
    shorten(&mut line, chars_max);
    line
}

/// The text of an HTML page: as above, but with one line for each block.
pub(crate) fn page_text(html: &str) -> String {
    let text = without_markup(html);
    let lines = text.lines().map(clean_line).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

fn without_markup(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    // Looking for the end of each tag would take long in a text that has only beginnings.
    let last_end = html.rfind('>').unwrap_or_default();
    while let Some((before, markup)) = rest.find(['<', '&']).and_then(|at| rest.split_at_checked(at)) {
        text.push_str(before);
        rest = match markup.strip_prefix('<') {
            Some(inside) => skip_tag(inside, html.len() - inside.len() <= last_end, &mut text),
            None => decode_entity(markup.strip_prefix('&').unwrap_or_default(), &mut text),
        };
    }
    text.push_str(rest);
    text.retain(|c| !is_invisible(c));
    text
}

/// Reads a tag after its `<` and returns what follows it. Without an end there is no tag.
fn skip_tag<'a>(inside: &'a str, has_end: bool, text: &mut String) -> &'a str {
    if let Some(comment) = inside.strip_prefix("!--") {
        return comment.split_once("-->").map_or("", |(_, after)| after);
    }
    let is_tag = inside.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
    let end = if is_tag && has_end { inside.split_once('>') } else { None };
    let Some((tag, after)) = end else {
        text.push('<');
        return inside;
    };
    let end_tag = tag.strip_prefix('/');
    let name: String = end_tag.unwrap_or(tag).chars().take_while(char::is_ascii_alphanumeric).collect();
    let name = name.to_ascii_lowercase();
    if !INLINE_ELEMENTS.contains(&name.as_str()) {
        text.push('\n');
    }
    let opens = end_tag.is_none() && !tag.ends_with('/');
    if opens && SKIPPED_ELEMENTS.contains(&name.as_str()) { skip_content(after, &name) } else { after }
}

/// What follows the end tag of the element `name`, or nothing if there is none.
fn skip_content<'a>(mut content: &'a str, name: &str) -> &'a str {
    while let Some((_, after)) = content.split_once("</") {
        if after.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)) {
            return after.split_once('>').map_or("", |(_, after)| after);
        }
        content = after;
    }
    ""
}

/// Reads an entity after its `&` and returns what follows it.
fn decode_entity<'a>(inside: &'a str, text: &mut String) -> &'a str {
    let start = inside.get(..inside.floor_char_boundary(ENTITY_NAME_BYTES_MAX)).unwrap_or(inside);
    let name = start.split_once(';').map(|(name, _)| name);
    let Some((name, decoded)) = name.and_then(|name| Some((name, entity_text(name)?))) else {
        text.push('&');
        return inside;
    };
    text.push_str(&decoded);
    inside.get(name.len() + 1..).unwrap_or_default()
}

/// The text of an entity: one of HTML's names, or the number of a character.
pub(super) fn entity_text(name: &str) -> Option<String> {
    let Some(number) = name.strip_prefix('#') else {
        return resolve_html5_entity(name).map(str::to_owned);
    };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => number.parse().ok(),
    };
    code.and_then(char::from_u32).map(String::from)
}
