//! What the judges are given: files, texts and diffs with line numbers, a specification, earlier decisions.

use agon_core::brief::part;
use agon_core::fence::label;
use agon_core::{Brief, BriefFile, Invalid, Request};
use serde_json::{Value, json};

use crate::named_lists::name_key;
use crate::packet_lines::{PacketLines, read_diff, with_line_numbers};
use crate::quotes::QuotedTexts;

/// What a review is called when the user gave no text.
pub(super) fn title(request: &Request) -> String {
    let judged = request.files.iter().filter(|file| file.part.is_none());
    let mut paths: Vec<String> = judged.map(|file| label(&file.path)).collect();
    let diff = part(&request.files, "diff");
    paths.extend(diff.map(|file| if file.path == "-" { "a diff".to_owned() } else { label(&file.path) }));
    format!("Review of {}", paths.join(", "))
}

/// Rejects a request with nothing to judge, or with a diff that is none.
pub(super) fn check(request: &Request) -> Result<(), Invalid> {
    let diff = part(&request.files, "diff");
    if let Some(file) = diff {
        read_diff(&file.text).map_err(|why| Invalid(format!("the diff {}: {why}", file.path)))?;
    }
    let has_target = targets(&request.files).next().is_some();
    if !has_target && diff.is_none() && request.question.trim().is_empty() {
        return Err(Invalid::new(
            "there is nothing to review: agon review FILE..., agon review \"TEXT\", or agon review --diff FILE",
        ));
    }
    Ok(())
}

/// The files and texts that are judged.
fn targets(files: &[BriefFile]) -> impl Iterator<Item = &BriefFile> {
    files.iter().filter(|file| matches!(file.part.as_deref(), None | Some("text")))
}

/// A file, a text or a file's diff, as the judges read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PacketItem {
    title: String,
    /// What it is, on the line that opens the quotation.
    what: String,
    lines: Vec<String>,
}

impl PacketItem {
    fn of_path(kind: &str, path: &str, lines: Vec<String>) -> Self {
        let what = format!("{kind} {path}");
        Self { title: format!("{kind} `{}`", label(path)), what, lines }
    }

    fn of_text(title: &str, text: &str) -> Self {
        let lines = text.lines().map(str::to_owned).collect();
        Self { title: title.to_owned(), what: title.to_owned(), lines }
    }
}

/// Everything that is judged. Lines of files and diffs have numbers, so that a finding can say where it is.
pub(super) fn items(brief: &Brief) -> Vec<PacketItem> {
    let target = |file: &BriefFile| match file.part {
        None => PacketItem::of_path("File", &file.path, with_line_numbers(&file.text)),
        Some(_) => PacketItem::of_text("Text", &file.text),
    };
    let mut items: Vec<PacketItem> = targets(&brief.files).map(target).collect();
    // It was read when the debate was opened.
    if let Some(diff) = brief.part("diff").and_then(|file| read_diff(&file.text).ok()) {
        let message = Some(&diff.message).filter(|message| !message.is_empty());
        items.extend(message.map(|message| PacketItem::of_text("Message of the diff", message)));
        let files = diff.files.into_iter();
        items.extend(files.map(|file| PacketItem::of_path("Diff of", &file.path, file.numbered)));
    }
    // Without files the question is the target.
    if items.is_empty() {
        items.push(PacketItem::of_text("Text", &brief.question));
    }
    items
}

/// The packet in disjoint parts of about the same length, for at most `count` explorers: whole items first, then ranges of lines.
pub(super) fn parts(brief: &Brief, count: usize) -> Vec<Vec<PacketItem>> {
    let mut pieces = items(brief);
    while pieces.len() < count {
        let largest = pieces.iter_mut().enumerate().rev().max_by_key(|(_, item)| item.lines.len());
        let Some((place, item)) = largest.filter(|(_, item)| item.lines.len() > 1) else { break };
        let lines = item.lines.split_off(item.lines.len().div_ceil(2));
        let rest = PacketItem { lines, ..item.clone() };
        pieces.insert(place + 1, rest);
    }
    let mut dealt = vec![(0, Vec::new()); count.min(pieces.len())];
    let mut pieces: Vec<(usize, PacketItem)> = pieces.into_iter().enumerate().collect();
    pieces.sort_by_key(|(_, item)| std::cmp::Reverse(item.lines.len()));
    for piece in pieces {
        let Some((lines, part)) = dealt.iter_mut().min_by_key(|(lines, _)| *lines) else { break };
        // An item without lines counts as one, so that every explorer has something.
        *lines += piece.1.lines.len().max(1);
        part.push(piece);
    }
    let in_order = |mut part: Vec<(usize, PacketItem)>| {
        part.sort_by_key(|(place, _)| *place);
        part.into_iter().map(|(_, item)| item).collect()
    };
    dealt.into_iter().map(|(_, part)| in_order(part)).collect()
}

/// The packet, or a part of it, with the words of the person who asked, as its template takes it.
pub(super) fn context(
    brief: &Brief,
    quoted: &QuotedTexts<'_>,
    items: Vec<PacketItem>,
    interjections: &[String],
) -> Value {
    let item = |PacketItem { title, what, lines }| json!({"title": title, "content": quoted.quote(&what, &lines.join("\n"))});
    let part = |key: &str, what: &str| {
        brief.part(key).map(|file| quoted.quote(&format!("{what} {}", file.path), &file.text))
    };
    json!({
        "items": items.into_iter().map(item).collect::<Vec<_>>(),
        "has_diff": brief.part("diff").is_some(),
        "spec": part("spec", "specification"),
        "decisions": part("decisions", "decisions"),
        "interjections": interjections,
    })
}

/// A short name for what is judged, fit for the name of a file.
pub(super) fn slug(brief: &Brief) -> String {
    const WORDS_MAX: usize = 6;
    const CHARS_MAX: usize = 40;
    let file = brief.files.iter().find(|file| file.part.is_none());
    let diff = brief.part("diff").filter(|_| brief.part("text").is_none());
    let name = match (file, diff) {
        (Some(file), _) => file_stem(&file.path).to_owned(),
        (None, Some(diff)) if diff.path == "-" => "diff".into(),
        (None, Some(diff)) => file_stem(&diff.path).to_owned(),
        (None, None) => brief.question.split_whitespace().take(WORDS_MAX).collect::<Vec<_>>().join(" "),
    };
    let key: String = name_key(&name).chars().take(CHARS_MAX).collect();
    let key = key.trim_end_matches('-');
    if key.is_empty() { "target".into() } else { key.to_owned() }
}

fn file_stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}

/// The packet by line, against which the judges' locations and quotes are verified.
pub(super) fn packet_lines(brief: &Brief) -> PacketLines {
    let mut lines = PacketLines::default();
    for file in targets(&brief.files) {
        lines = match file.part {
            None => lines.with_file(&file.path, &file.text),
            Some(_) => lines.with_text(&file.text),
        };
    }
    if let Some(diff) = brief.part("diff").and_then(|file| read_diff(&file.text).ok()) {
        lines = lines.with_diff(diff.files).with_text(&diff.message);
    }
    for file in ["spec", "decisions"].into_iter().filter_map(|key| brief.part(key)) {
        lines = lines.with_text(&file.text);
    }
    let has_files = lines.paths().next().is_some();
    if has_files { lines } else { lines.with_text(&brief.question) }.as_shown(&QuotedTexts::new(brief))
}
