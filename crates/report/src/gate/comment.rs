//! A summary for a comment on a pull request.
//!
//! A comment is public, sends messages to people, and stands under the name of the pipeline. So the words of models are text and
//! nothing else: no markup but code, no links, no mentions of people, no references to issues. Services refuse comments that are too
//! long, so every part has a limit, and what does not fit is counted.

use agon_core::wording::{capitalized, excerpt};
use agon_core::{
    GateFinding, GateJudge, PositionPaths, ReportBlock, ReportItem, ReportLength, ReportSection,
};
use agon_host::clean_line;

use super::{PipelineReport, dropped_sentence, unverified_sentence};
use crate::evidence::paths::{TABLE_MARKS, held_positions, path_rows, position_keys};
use crate::evidence::what_the_debate_did;
use crate::markdown_text::{MarkdownSpan, spans};
use crate::report_assembly::{facts, renderable};
use crate::report_source::ReportSource;
use crate::sections;

/// The most characters of each part. Together with headings they stay under the 65,536 characters that GitHub accepts, and leave room
/// for a few lines of the pipeline.
const FINDINGS_CHARS_MAX: usize = 20_000;
const DISSENT_CHARS_MAX: usize = 10_000;
const EVIDENCE_CHARS_MAX: usize = 7_000;
const JUDGES_CHARS_MAX: usize = 8_000;
const REMARKS_CHARS_MAX: usize = 3_000;

/// Longer texts are cut, before they are escaped.
const TEXT_CHARS_MAX: usize = 600;
const NAME_CHARS_MAX: usize = 300;
/// Longer positions are listed below the table.
const CELL_CHARS_MAX: usize = 24;

/// The summary as Markdown. Its first line is a heading that ends with the verdict.
pub(super) fn summary(source: &ReportSource<'_>, review: &PipelineReport) -> String {
    let mut out = format!("## {}: {}\n\n", capitalized(&review.command), name(&review.verdict));
    out.push_str(&format!("{}\n\n", bold(&short(&review.gate.meaning))));
    let facts: Vec<String> = facts(source).iter().skip(1).map(|fact| name(fact)).collect();
    out.push_str(&format!("{}\n", facts.join(" \u{b7} ")));
    let findings: Vec<String> = review.gate.findings.iter().map(finding_entry).collect();
    match findings.is_empty() {
        true => out.push_str("\nNo findings.\n"),
        false => out.push_str(&part("Findings", &findings, FINDINGS_CHARS_MAX)),
    }
    let parts = [
        (sections::dissent(source), DISSENT_CHARS_MAX),
        (what_the_debate_did(source, ReportLength::Short), EVIDENCE_CHARS_MAX),
        (sections::missing(source), REMARKS_CHARS_MAX),
        (sections::warnings(source), REMARKS_CHARS_MAX),
    ];
    for (section, chars_max) in parts {
        for section in renderable(section.into_iter().collect(), ReportLength::Short) {
            out.push_str(&part(&section.title, &section_entries(&section), chars_max));
        }
    }
    out.push_str(&judges(review));
    out.push_str(&last_lines(source, review));
    out
}

/// What the debate cost, who was heard, and its id.
fn last_lines(source: &ReportSource<'_>, review: &PipelineReport) -> String {
    let mut lines = Vec::new();
    for section in renderable(sections::cost(source).into_iter().collect(), ReportLength::Short) {
        lines.extend(section_entries(&section).into_iter().map(|entry| format!("Cost: {}", entry.trim())));
    }
    lines.extend(review.gate.footer.as_ref().map(|footer| format!("Who was heard: {}", name(footer))));
    lines.push(format!("Debate {}", name(&review.id)));
    format!("\n{}\n", lines.join("<br>\n"))
}

/// A heading, the entries that fit, and how many do not.
fn part(title: &str, entries: &[String], chars_max: usize) -> String {
    format!("\n### {}\n\n{}", name(title), fitting(entries, chars_max).trim_start_matches('\n'))
}

fn fitting(entries: &[String], chars_max: usize) -> String {
    let mut room = chars_max;
    let mut out = String::new();
    for (place, entry) in entries.iter().enumerate() {
        match room.checked_sub(entry.chars().count()) {
            Some(left) => room = left,
            None => {
                let left_out = match entries.len() - place {
                    1 => "One more entry is".to_owned(),
                    count => format!("{count} more entries are"),
                };
                out.push_str(&format!("\n*{left_out} not shown here.*\n"));
                break;
            }
        }
        out.push_str(entry);
    }
    out
}

fn finding_entry(finding: &GateFinding) -> String {
    let severity = capitalized(finding.severity.as_str());
    let place = finding.place().map(|place| format!(" {}", code(&excerpt(&place, NAME_CHARS_MAX))));
    let category = finding.category.as_ref().map(|category| format!(" ({})", name(category)));
    let (place, category) = (place.unwrap_or_default(), category.unwrap_or_default());
    let mut lines = vec![format!("- **{severity}**{place}{category}: {}", short(&finding.description))];
    lines.extend(finding.recommendation.as_ref().map(|advice| format!("Advice: {}", short(advice))));
    let mut remarks = Vec::new();
    remarks.extend(
        (!finding.judges.is_empty()).then(|| format!("Raised or accepted by {}.", finding.judges.join(", "))),
    );
    remarks.extend(finding.remarks.iter().cloned());
    remarks.extend(unverified_sentence(finding));
    remarks.extend(dropped_sentence(finding));
    lines.extend((!remarks.is_empty()).then(|| short(&remarks.join(" "))));
    format!("{}\n", lines.join("<br>\n  "))
}

/// The judges, folded away.
fn judges(review: &PipelineReport) -> String {
    let entries: Vec<String> = review.judges().map(|(model, judge)| judge_entry(&model, judge)).collect();
    if entries.is_empty() {
        return String::new();
    }
    let entries = fitting(&entries, JUDGES_CHARS_MAX);
    format!("\n<details><summary>The judges</summary>\n\n{entries}\n</details>\n")
}

fn judge_entry(model: &str, judge: &GateJudge) -> String {
    let model = if model.is_empty() { String::new() } else { format!(" {}", name(model)) };
    let confidence = judge.confidence.as_ref().map_or(String::new(), |sure| format!(", {sure}"));
    let said = match (&judge.verdict, &judge.absence) {
        (Some(verdict), _) => format!("{verdict}{confidence}"),
        (None, Some(absence)) => absence.clone(),
        (None, None) => "absent".to_owned(),
    };
    let insight = judge.key_insight.as_ref().map_or(String::new(), |insight| format!(": {insight}"));
    let mut lines =
        vec![format!("- {}{model}: {}", bold(&name(&judge.name)), short(&format!("{said}{insight}")))];
    let notes = judge.notes.iter().filter(|_| judge.absence.is_none());
    lines.extend(notes.map(|note| short(note)));
    format!("{}\n", lines.join("<br>\n  "))
}

/// The blocks of a section as entries, each of which stands or is left out as a whole.
fn section_entries(section: &ReportSection) -> Vec<String> {
    section.blocks.iter().flat_map(block_entries).collect()
}

fn block_entries(block: &ReportBlock) -> Vec<String> {
    match block {
        // The empty line ends a list before it.
        ReportBlock::Prose(text) | ReportBlock::Line(text) => vec![format!("\n{}\n", long(text))],
        ReportBlock::Headline(_, text) => vec![format!("\n{}\n", bold(&long(text)))],
        ReportBlock::Items(items) => items.iter().map(item_entry).collect(),
        ReportBlock::Pairs(pairs) => pairs
            .iter()
            .map(|(name, value)| format!("- {}: {}\n", bold(&short(name)), short(value)))
            .collect(),
        ReportBlock::Table(rows) => vec![table(rows)],
        ReportBlock::Group { title, blocks, .. } | ReportBlock::Speech { title, blocks, .. } => {
            let title = format!("\n{}\n\n", bold(&short(title)));
            std::iter::once(title).chain(blocks.iter().flat_map(block_entries)).collect()
        }
        ReportBlock::Paths(paths) => vec![paths_table(paths)],
        ReportBlock::In(_, blocks) | ReportBlock::OffPage(blocks) => {
            blocks.iter().flat_map(block_entries).collect()
        }
        ReportBlock::Cards(_) => Vec::new(),
    }
}

fn item_entry(item: &ReportItem) -> String {
    let who = item.who.as_ref().map_or(String::new(), |who| format!("{}: ", bold(&short(who))));
    let note = item.note.as_ref().map_or(String::new(), |note| format!("<br>\n  {}", short(note)));
    format!("- {who}{}{note}\n", long(&item.text))
}

fn paths_table(paths: &PositionPaths) -> String {
    let (keys, are_names) = position_keys(paths, CELL_CHARS_MAX);
    let mut out = table(&path_rows(paths, &keys));
    if !are_names {
        out.push('\n');
        for (key, position) in held_positions(paths, &keys) {
            out.push_str(&format!("- {}: {}\n", bold(&name(&key)), short(position)));
        }
    }
    out.push_str(
        &TABLE_MARKS.legend(paths).map_or(String::new(), |legend| format!("\n{}\n", inert(&legend))),
    );
    out
}

fn table(rows: &[Vec<String>]) -> String {
    let mut out = String::from("\n");
    for (place, row) in rows.iter().enumerate() {
        // A bar in code would still end the cell, so cells have no code.
        let cells: Vec<String> =
            row.iter().map(|cell| plain(&excerpt(&clean_line(cell), NAME_CHARS_MAX))).collect();
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
        if place == 0 {
            out.push_str(&format!("|{}\n", " --- |".repeat(row.len())));
        }
    }
    out
}

fn name(text: &str) -> String {
    inert(&excerpt(&clean_line(text), NAME_CHARS_MAX))
}

fn short(text: &str) -> String {
    inert(&excerpt(&clean_line(text), TEXT_CHARS_MAX))
}

fn long(text: &str) -> String {
    inert(&excerpt(&clean_line(text), 2 * TEXT_CHARS_MAX))
}

/// Bold. Marks around nothing would be a rule.
fn bold(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("**{text}**") }
}

/// A text of one line that is only text, apart from code.
fn inert(text: &str) -> String {
    let mut out = if begins_block(text) { NOTHING.to_owned() } else { String::new() };
    // Marks between two spans go, so what is on both sides of them becomes one text before it is looked at.
    let mut words = String::new();
    for span in spans(text) {
        match span {
            MarkdownSpan::Code(code) if can_be_code(&code) => {
                out.push_str(&format!("{}`{code}`", plain(&words)));
                words.clear();
            }
            MarkdownSpan::Plain(text)
            | MarkdownSpan::Bold(text)
            | MarkdownSpan::Italic(text)
            | MarkdownSpan::Code(text) => words.push_str(&text),
        }
    }
    out.push_str(&plain(&words));
    out
}

/// Whether a line with this text would be a heading, a list, a definition or a rule.
fn begins_block(text: &str) -> bool {
    let after_digits = text.trim_start_matches(|char: char| char.is_ascii_digit());
    let is_number = after_digits.len() < text.len() && after_digits.starts_with(['.', ')']);
    is_number || text.starts_with(['#', '-', '+', '=', ':'])
}

/// A text as code, in which services look for nothing. A backtick would end it.
fn code(text: &str) -> String {
    if can_be_code(text) { format!("`{text}`") } else { plain(text) }
}

fn can_be_code(text: &str) -> bool {
    !text.is_empty() && !text.contains('`')
}

/// A text without any meaning: not to Markdown and HTML, nor to what services make of text afterwards, which a backslash does not
/// stop: links, `@` before a name, and `#` or `GH-` before a number.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(char) = rest.next() {
        // A reader looks for `www.` before it reads references, so the reference must be in the middle.
        if char == '.' && ends_with(&out, "www") {
            out.push_str(NOTHING);
        }
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '`' => out.push_str("&#96;"),
            // Between two of them GitHub sets formulas.
            '$' => out.push_str("&#36;"),
            '\\' | '*' | '_' | '~' | '^' | '[' | ']' | '|' => out.extend(['\\', char]),
            _ => out.push(char),
        }
        let is_link = match (char, rest.peek()) {
            ('@', Some(next)) => !next.is_whitespace(),
            ('#', Some(next)) => next.is_ascii_digit(),
            (':', Some('/')) => true,
            ('-', Some(next)) => next.is_ascii_digit() && ends_with(&out, "GH-"),
            _ => false,
        };
        out.push_str(if is_link { NOTHING } else { "" });
    }
    out
}

/// A space without width. It is a reference, so that a reader of the Markdown sees it.
const NOTHING: &str = "&#8203;";

fn ends_with(text: &str, end: &str) -> bool {
    let start = text.len().checked_sub(end.len());
    start.and_then(|start| text.get(start..)).is_some_and(|last| last.eq_ignore_ascii_case(end))
}
