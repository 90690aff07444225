//! What the judges are given: files, texts and diffs with line numbers, a specification, earlier decisions.

use agon_core::brief::part;
use agon_core::fence::label;
use agon_core::{Brief, BriefFile, Invalid, Request};
use serde::Serialize;

use crate::named_lists::name_key;
use crate::packet_lines::{PacketLines, PacketLocation, read_diff, with_line_numbers};
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
        let message =
            (!diff.message.is_empty()).then(|| PacketItem::of_text("Message of the diff", &diff.message));
        items.extend(message);
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
        let largest =
            (0..pieces.len()).rev().max_by_key(|place| pieces.get(*place).map(|item| item.lines.len()));
        let Some(item) = largest.and_then(|place| pieces.get_mut(place)).filter(|item| item.lines.len() > 1)
        else {
            break;
        };
        let lines = item.lines.split_off(item.lines.len().div_ceil(2));
        let rest = PacketItem { lines, ..item.clone() };
        pieces.insert(largest.unwrap_or_default() + 1, rest);
    }
    let mut places: Vec<usize> = (0..pieces.len()).collect();
    places.sort_by_key(|place| std::cmp::Reverse(pieces.get(*place).map(|item| item.lines.len())));
    let mut hands: Vec<(usize, Vec<usize>)> = vec![(0, Vec::new()); count.min(pieces.len())];
    for place in places {
        let Some((lines, hand)) = hands.iter_mut().min_by_key(|(lines, _)| *lines) else { break };
        // An item without lines counts as one, so that every explorer has something.
        *lines += pieces.get(place).map_or(1, |item| item.lines.len().max(1));
        hand.push(place);
    }
    let items = |mut hand: Vec<usize>| {
        hand.sort_unstable();
        hand.iter().filter_map(|place| pieces.get(*place).cloned()).collect()
    };
    hands.into_iter().map(|(_, hand)| items(hand)).collect()
}

/// The packet, or a part of it, as its template takes it.
#[derive(Serialize)]
pub(super) struct PacketContext {
    items: Vec<ItemContext>,
    has_diff: bool,
    spec: Option<String>,
    decisions: Option<String>,
    /// The words of the person who asked.
    interjections: Vec<String>,
}

#[derive(Serialize)]
struct ItemContext {
    title: String,
    content: String,
}

impl PacketContext {
    pub(super) fn new(
        brief: &Brief,
        quoted: &QuotedTexts<'_>,
        items: Vec<PacketItem>,
        interjections: Vec<String>,
    ) -> Self {
        let item = |item: PacketItem| ItemContext {
            content: quoted.quote(&item.what, &item.lines.join("\n")),
            title: item.title,
        };
        let part = |key: &str, what: &str| {
            brief.part(key).map(|file| quoted.quote(&format!("{what} {}", file.path), &file.text))
        };
        Self {
            items: items.into_iter().map(item).collect(),
            has_diff: brief.part("diff").is_some(),
            spec: part("spec", "specification"),
            decisions: part("decisions", "decisions"),
            interjections,
        }
    }
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

/// The text of the lines that a location names. Nothing if there are none, or if a diff has an old and a new line of one number.
pub(super) fn line_text(brief: &Brief, place: &PacketLocation) -> Option<String> {
    let first = place.line?;
    let numbers = first..=place.end_line.unwrap_or(first);
    let text = |line: &String| {
        let (number, text) = line.split_once(" | ")?;
        let number: u64 = number.trim_start_matches(['+', '-']).trim().parse().ok()?;
        numbers.contains(&number).then(|| text.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let is_file = |item: &PacketItem| {
        let path = item.what.strip_prefix("File ").or_else(|| item.what.strip_prefix("Diff of "));
        path.is_some_and(|path| path.strip_prefix("./").unwrap_or(path) == place.file)
    };
    let texts = |item: PacketItem| {
        let lines: Vec<String> = item.lines.iter().filter_map(text).collect();
        let text = lines.join(" ");
        (lines.len() == numbers.clone().count() && !text.trim().is_empty()).then_some(text)
    };
    items(brief).into_iter().filter(is_file).find_map(texts)
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
