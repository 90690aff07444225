//! Sections that the reports of several protocols have.

use agon_core::{ReportBlock, ReportItem, ReportSection, SectionKind, VerdictTone};

/// The answer. Without one, `instead` says what the items are that stand in its place.
pub fn answer_section(answer: Option<&str>, instead: &str, items: Vec<ReportItem>) -> ReportSection {
    if let Some(answer) = answer.map(str::trim).filter(|answer| !answer.is_empty()) {
        return ReportSection::new(SectionKind::Answer, "Answer", vec![ReportBlock::Prose(answer.into())]);
    }
    let blocks = match items.is_empty() {
        true => vec![ReportBlock::Line("There is no answer.".into())],
        false => vec![ReportBlock::Line(instead.into()), ReportBlock::Items(items)],
    };
    ReportSection::new(SectionKind::NoAnswer, "No answer", blocks)
}

/// The tone of a verdict that is an answer.
pub fn answer_tone(answer: Option<&String>) -> VerdictTone {
    if answer.is_some() { VerdictTone::Good } else { VerdictTone::Bad }
}

/// Why the answer was given, unless nothing is said.
pub fn why_section(why: Option<&str>) -> Option<ReportSection> {
    let why = why.filter(|why| !why.trim().is_empty())?;
    Some(ReportSection::new(SectionKind::Why, "Why", vec![ReportBlock::Prose(why.to_owned())]))
}

/// A list, unless it is empty.
pub fn list_section(title: &str, items: impl IntoIterator<Item = ReportItem>) -> Option<ReportSection> {
    let items: Vec<ReportItem> = items.into_iter().collect();
    let is_empty = items.is_empty();
    (!is_empty).then(|| ReportSection::new(SectionKind::Part, title, vec![ReportBlock::Items(items)]))
}

/// A table, unless it has no rows.
pub fn table_section<const N: usize>(
    title: &str,
    head: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> Option<ReportSection> {
    let rows = table_rows(head, rows);
    (rows.len() > 1).then(|| ReportSection::new(SectionKind::Part, title, vec![ReportBlock::Table(rows)]))
}

/// The rows of a table, the head first.
pub fn table_rows<const N: usize>(
    head: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> Vec<Vec<String>> {
    std::iter::once(head.map(str::to_owned)).chain(rows).map(Vec::from).collect()
}
