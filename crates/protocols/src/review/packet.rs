//! What the judges are given: files with their paths, texts, a diff, a specification, earlier decisions.

use agon_core::brief::part;
use agon_core::{Brief, BriefFile, Fence, Invalid, Request};
use serde::Serialize;

use crate::named_lists::name_key;
use crate::packet_lines::{PacketLines, read_diff, with_line_numbers};

/// What a review is called when the user gave no text.
pub(super) fn title(request: &Request) -> String {
    let judged = request.files.iter().filter(|file| file.part.is_none());
    let mut paths: Vec<&str> = judged.map(|file| file.path.as_str()).collect();
    let diff = part(&request.files, "diff");
    paths.extend(diff.map(|file| if file.path == "-" { "a diff" } else { file.path.as_str() }));
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

/// The packet as its template takes it.
#[derive(Serialize)]
pub(super) struct PacketContext {
    targets: Vec<TargetContext>,
    diff: Option<String>,
    spec: Option<String>,
    decisions: Option<String>,
    interjections: Vec<String>,
}

#[derive(Serialize)]
struct TargetContext {
    path: Option<String>,
    content: String,
}

impl PacketContext {
    /// Everything is quoted. The lines of files are numbered, so that a finding can say where it is.
    pub(super) fn new(brief: &Brief, fence: &Fence, interjections: Vec<String>) -> Self {
        let target = |file: &BriefFile| match &file.part {
            None => TargetContext {
                path: Some(heading_path(&file.path)),
                content: fence.quote(&format!("file {}", file.path), &with_line_numbers(&file.text)),
            },
            Some(_) => TargetContext { path: None, content: fence.quote("the target", &file.text) },
        };
        let mut targets: Vec<TargetContext> = targets(&brief.files).map(target).collect();
        let quoted = |key: &str, what: &str| {
            brief.part(key).map(|file| fence.quote(&format!("{what} {}", file.path), &file.text))
        };
        let diff = quoted("diff", "diff");
        // Without files the question is the target.
        if targets.is_empty() && diff.is_none() {
            targets.push(TargetContext { path: None, content: fence.quote("the target", &brief.question) });
        }
        let (spec, decisions) = (quoted("spec", "specification"), quoted("decisions", "decisions"));
        Self { targets, diff, spec, decisions, interjections }
    }
}

/// A path as a heading shows it. It stands outside the quotation, and the name of a file may contain anything.
fn heading_path(path: &str) -> String {
    path.chars().filter(|char| !char.is_control() && !matches!(char, '`' | '<' | '>')).collect()
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
    let diff = brief.part("diff").and_then(|file| read_diff(&file.text).ok());
    let lines = diff.into_iter().fold(lines, PacketLines::with_diff);
    let has_files = lines.paths().next().is_some();
    if has_files { lines } else { lines.with_text(&brief.question) }
}
