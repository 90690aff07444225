//! Splits documents into sections for the knowledge store: Markdown at its headings, plain text between paragraphs.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentSection {
    /// The headings above it, or the name of the file.
    pub title: String,
    pub text: String,
}

/// Longer sections are split, so that a search finds the place and not the whole document.
const SECTION_CHARS_MAX: usize = 2_400;

/// The sections of a document with this file name.
pub fn split_document(file_name: &str, text: &str) -> Vec<DocumentSection> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let stem = file_name.rsplit(['/', '\\']).next().unwrap_or(file_name);
    let is_markdown =
        [".md", ".markdown", ".mdown"].iter().any(|ending| stem.to_lowercase().ends_with(ending));
    let parts = if is_markdown { split_at_headings(&text) } else { vec![(Vec::new(), text)] };
    let mut sections = Vec::new();
    for (headings, body) in parts {
        let title = if headings.is_empty() { stem.to_owned() } else { headings.join(" > ") };
        let pieces = split_long_text(&body);
        let is_split = pieces.len() > 1;
        for (number, text) in (1..).zip(pieces) {
            let title = if is_split { format!("{title} ({number})") } else { title.clone() };
            sections.push(DocumentSection { title, text });
        }
    }
    sections
}

/// Each part with the headings above it. A line in a code block is never a heading.
fn split_at_headings(text: &str) -> Vec<(Vec<String>, String)> {
    let mut parts: Vec<(Vec<String>, String)> = vec![(Vec::new(), String::new())];
    let mut above: Vec<(usize, String)> = Vec::new();
    let mut code_fence: Option<&str> = None;
    for line in text.lines() {
        let fence = ["```", "~~~"].into_iter().find(|fence| line.trim_start().starts_with(fence));
        match (code_fence, fence) {
            (None, Some(fence)) => code_fence = Some(fence),
            (Some(open), Some(fence)) if open == fence => code_fence = None,
            _ => {}
        }
        if let Some((depth, heading)) = heading(line).filter(|_| code_fence.is_none() && fence.is_none()) {
            above.retain(|(outer, _)| *outer < depth);
            above.push((depth, heading));
            parts.push((above.iter().map(|(_, heading)| heading.clone()).collect(), String::new()));
        } else if let Some((_, body)) = parts.last_mut() {
            body.push_str(line);
            body.push('\n');
        }
    }
    parts
}

fn heading(line: &str) -> Option<(usize, String)> {
    let depth = line.chars().take_while(|c| *c == '#').count();
    let words = line.get(depth..)?.strip_prefix(' ')?.trim().trim_end_matches('#').trim();
    ((1..=6).contains(&depth) && !words.is_empty()).then(|| (depth, words.to_owned()))
}

/// Pieces that are not too long, split between paragraphs where possible, else between words.
fn split_long_text(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut open = String::new();
    for paragraph in text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty()) {
        for part in split_paragraph(paragraph) {
            if !open.is_empty() && open.chars().count() + 2 + part.chars().count() > SECTION_CHARS_MAX {
                pieces.push(std::mem::take(&mut open));
            }
            if !open.is_empty() {
                open.push_str("\n\n");
            }
            open.push_str(&part);
        }
    }
    if !open.is_empty() {
        pieces.push(open);
    }
    pieces
}

fn split_paragraph(paragraph: &str) -> Vec<String> {
    if paragraph.chars().count() <= SECTION_CHARS_MAX {
        return vec![paragraph.to_owned()];
    }
    let mut parts = vec![String::new()];
    let mut length = 0;
    for word in paragraph.split_inclusive(char::is_whitespace) {
        for piece in split_word(word) {
            let chars = piece.chars().count();
            if length + chars > SECTION_CHARS_MAX {
                parts.push(String::new());
                length = 0;
            }
            if let Some(last) = parts.last_mut() {
                last.push_str(&piece);
            }
            length += chars;
        }
    }
    parts.into_iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// A word, or the pieces of one that is longer than a section.
fn split_word(word: &str) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    chars.chunks(SECTION_CHARS_MAX).map(|piece| piece.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(name: &str, text: &str) -> Vec<String> {
        let sections = split_document(name, text).into_iter();
        sections.map(|section| format!("{}: {}", section.title, section.text)).collect()
    }

    #[test]
    fn markdown_is_split_at_headings_and_each_section_has_those_above_it() {
        let text = "Before.\n\n# Queue\nWhy.\n## Costs ##\n12 a month.\n\n```sh\n# no heading\n```\n# End\n";
        assert_eq!(
            titles("docs/plan.md", text),
            ["plan.md: Before.", "Queue: Why.", "Queue > Costs: 12 a month.\n\n```sh\n# no heading\n```"]
        );
        assert_eq!(titles("plan.txt", "# one\n\ntwo"), ["plan.txt: # one\n\ntwo"]);
    }

    #[test]
    fn long_text_is_split_between_paragraphs_and_nothing_is_lost() {
        let paragraph = "word ".repeat(200);
        let text = [paragraph.trim(); 5].join("\n\n");
        let sections = split_document("a.txt", &text);
        let titles: Vec<&str> = sections.iter().map(|section| section.title.as_str()).collect();
        assert_eq!(titles, ["a.txt (1)", "a.txt (2)", "a.txt (3)"]);
        assert!(sections.iter().all(|section| section.text.chars().count() <= SECTION_CHARS_MAX));
        let words: usize = sections.iter().map(|section| section.text.split_whitespace().count()).sum();
        assert_eq!(words, 1_000);
        let long_word = "é".repeat(SECTION_CHARS_MAX * 2 + 1);
        let chars: usize =
            split_document("a.txt", &long_word).iter().map(|section| section.text.chars().count()).sum();
        assert_eq!(chars, SECTION_CHARS_MAX * 2 + 1);
        assert_eq!(split_document("a.md", "# only a heading\n\n \n"), []);
    }
}
