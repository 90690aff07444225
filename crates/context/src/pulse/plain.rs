//! Plain words out of HTML.

use quick_xml::escape::resolve_html5_entity;

use crate::errand::cut;

/// The longest name of an entity that is looked for.
const ENTITY_BYTES_MAX: usize = 32;
/// Elements whose content is no text.
const SILENT: &[&str] = &["script", "style", "template", "noscript", "iframe", "object", "svg", "math"];
/// Elements inside a word.
const INLINE: &[&str] = &[
    "a", "abbr", "b", "code", "del", "em", "font", "i", "ins", "mark", "q", "s", "small", "span", "strong",
    "sub", "sup", "u", "wbr",
];

/// The words of a piece of HTML on one line: no tags, no scripts, entities decoded once, no control character and nothing
/// that reorders or hides text; at most so many characters.
pub(super) fn plain(html: &str, chars_max: usize) -> String {
    let mut words = one_line(&untagged(html));
    cut(&mut words, chars_max);
    words
}

fn untagged(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, marked)) = rest.find(['<', '&']).and_then(|at| rest.split_at_checked(at)) {
        out.push_str(before);
        rest = match marked.strip_prefix('<') {
            Some(inside) => after_tag(inside, &mut out),
            None => after_entity(marked.strip_prefix('&').unwrap_or_default(), &mut out),
        };
    }
    out.push_str(rest);
    out
}

/// Takes in what begins with `<`, and gives what comes after it.
fn after_tag<'a>(inside: &'a str, out: &mut String) -> &'a str {
    if let Some(comment) = inside.strip_prefix("!--") {
        return comment.split_once("-->").map_or("", |(_, after)| after);
    }
    let is_tag = inside.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
    let Some((tag, after)) = inside.split_once('>').filter(|_| is_tag) else {
        out.push('<');
        return inside;
    };
    let end = tag.strip_prefix('/');
    let name: String = end.unwrap_or(tag).chars().take_while(char::is_ascii_alphanumeric).collect();
    let name = name.to_ascii_lowercase();
    if !INLINE.contains(&name.as_str()) {
        out.push(' ');
    }
    match end.is_none() && !tag.ends_with('/') && SILENT.contains(&name.as_str()) {
        true => after_end(after, &name),
        false => after,
    }
}

/// What comes after the end tag of this name; nothing when there is none.
fn after_end<'a>(mut text: &'a str, name: &str) -> &'a str {
    while let Some((_, after)) = text.split_once("</") {
        let named = after.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        if named {
            return after.split_once('>').map_or("", |(_, after)| after);
        }
        text = after;
    }
    ""
}

/// Takes in what begins with `&`, and gives what comes after it.
fn after_entity<'a>(inside: &'a str, out: &mut String) -> &'a str {
    let near = inside.get(..inside.floor_char_boundary(ENTITY_BYTES_MAX)).unwrap_or(inside);
    let name = near.split_once(';').map(|(name, _)| name);
    let Some((name, decoded)) = name.and_then(|name| Some((name, entity(name)?))) else {
        out.push('&');
        return inside;
    };
    out.push_str(&decoded);
    inside.get(name.len() + 1..).unwrap_or_default()
}

/// What stands for an entity: one of HTML's by name, or any character by number.
pub(super) fn entity(name: &str) -> Option<String> {
    let Some(number) = name.strip_prefix('#') else {
        return resolve_html5_entity(name).map(str::to_owned);
    };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => number.parse().ok(),
    };
    code.and_then(char::from_u32).map(String::from)
}

/// A name as it may be shown: with a mark for what would control, hide or reorder.
pub(super) fn visible(name: &str) -> String {
    name.chars().map(|c| if c.is_control() || hides(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn one_line(text: &str) -> String {
    let shown: String = text.chars().filter(|c| !hides(*c)).collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What cannot be seen, or makes other things not be seen.
fn hides(c: char) -> bool {
    let invisible = matches!(c,
        '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}');
    let reorders = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let tags = matches!(c, '\u{e0000}'..='\u{e007f}');
    (c.is_control() && !c.is_whitespace()) || invisible || reorders || tags
}
