//! Files as entries that can be found one by one: Markdown by its headings, plain text by its paragraphs.

/// A piece of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chapter {
    /// The headings above it, or the file's name.
    pub title: String,
    /// What it says.
    pub text: String,
}

/// Longer pieces are taken apart between paragraphs: a search should find the place, not the book.
const CHARS_MAX: usize = 2_400;

/// The chapters of a file of this name.
pub fn chapters(name: &str, text: &str) -> Vec<Chapter> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let stem = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let markdown = [".md", ".markdown", ".mdown"].iter().any(|ending| stem.to_lowercase().ends_with(ending));
    let sections = if markdown { by_headings(&text) } else { vec![(Vec::new(), text)] };
    let mut chapters = Vec::new();
    for (headings, body) in sections {
        let title = if headings.is_empty() { stem.to_owned() } else { headings.join(" > ") };
        let pieces = pieces(&body);
        let several = pieces.len() > 1;
        for (number, text) in (1..).zip(pieces) {
            let title = if several { format!("{title} ({number})") } else { title.clone() };
            chapters.push(Chapter { title, text });
        }
    }
    chapters
}

/// Each section with the headings above it. What looks like a heading inside a block of code is none.
fn by_headings(text: &str) -> Vec<(Vec<String>, String)> {
    let mut sections: Vec<(Vec<String>, String)> = vec![(Vec::new(), String::new())];
    let mut above: Vec<(usize, String)> = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        if let Some((depth, heading)) = heading(line).filter(|_| fence.is_none() && mark.is_none()) {
            above.retain(|(outer, _)| *outer < depth);
            above.push((depth, heading));
            sections.push((above.iter().map(|(_, heading)| heading.clone()).collect(), String::new()));
        } else if let Some((_, body)) = sections.last_mut() {
            body.push_str(line);
            body.push('\n');
        }
    }
    sections
}

fn heading(line: &str) -> Option<(usize, String)> {
    let depth = line.chars().take_while(|c| *c == '#').count();
    let words = line.get(depth..)?.strip_prefix(' ')?.trim().trim_end_matches('#').trim();
    ((1..=6).contains(&depth) && !words.is_empty()).then(|| (depth, words.to_owned()))
}

/// The text in pieces that are not too long, cut between paragraphs where that is possible, else between words.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut open = String::new();
    for paragraph in text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty()) {
        for part in parts(paragraph) {
            if !open.is_empty() && open.chars().count() + 2 + part.chars().count() > CHARS_MAX {
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

/// A paragraph, or the parts of one that is too long by itself.
fn parts(paragraph: &str) -> Vec<String> {
    if paragraph.chars().count() <= CHARS_MAX {
        return vec![paragraph.to_owned()];
    }
    let mut parts = vec![String::new()];
    let mut length = 0;
    for word in paragraph.split_inclusive(char::is_whitespace) {
        for bit in bits(word) {
            let chars = bit.chars().count();
            if length + chars > CHARS_MAX {
                parts.push(String::new());
                length = 0;
            }
            if let Some(last) = parts.last_mut() {
                last.push_str(&bit);
            }
            length += chars;
        }
    }
    parts.into_iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// A word, or the bits of one that no piece could hold.
fn bits(word: &str) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    chars.chunks(CHARS_MAX).map(|bit| bit.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(name: &str, text: &str) -> Vec<String> {
        chapters(name, text)
            .into_iter()
            .map(|chapter| format!("{}: {}", chapter.title, chapter.text))
            .collect()
    }

    /// "`agon knowledge import FILE...` (Markdown, text)".
    #[test]
    fn markdown_is_taken_apart_at_its_headings_and_each_piece_knows_those_above_it() {
        let text = "Before.\n\n# Queue\nWhy.\n## Costs ##\n12 a month.\n\n```sh\n# no heading\n```\n# End\n";
        assert_eq!(
            titles("docs/plan.md", text),
            ["plan.md: Before.", "Queue: Why.", "Queue > Costs: 12 a month.\n\n```sh\n# no heading\n```"]
        );
        assert_eq!(titles("plan.txt", "# one\n\ntwo"), ["plan.txt: # one\n\ntwo"]);
    }

    #[test]
    fn what_is_long_is_cut_between_paragraphs_and_nothing_is_lost() {
        let paragraph = "word ".repeat(200);
        let text = [paragraph.trim(); 5].join("\n\n");
        let cut = chapters("a.txt", &text);
        assert_eq!(
            cut.iter().map(|c| c.title.as_str()).collect::<Vec<_>>(),
            ["a.txt (1)", "a.txt (2)", "a.txt (3)"]
        );
        assert!(cut.iter().all(|chapter| chapter.text.chars().count() <= CHARS_MAX));
        let words: usize = cut.iter().map(|chapter| chapter.text.split_whitespace().count()).sum();
        assert_eq!(words, 1_000);
        let one = "é".repeat(CHARS_MAX * 2 + 1);
        assert_eq!(
            chapters("a.txt", &one).iter().map(|c| c.text.chars().count()).sum::<usize>(),
            CHARS_MAX * 2 + 1
        );
        assert_eq!(chapters("a.md", "# only a heading\n\n \n"), []);
    }
}
