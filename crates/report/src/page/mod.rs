//! The whole debate as a page: no script, no network, light and dark, desktop and phone.
//!
//! [`page_report`] writes a file with the page; [`PageParts`] are what it consists of, for a server that has pages of its own. `blocks`
//! renders what is in a section, and `quotes` links citations to the words they quote. `position_lines` and `score_lines` are
//! the drawings. [`live_table`] is the debate while it runs.

mod blocks;
mod live_table;
mod position_lines;
mod quotes;
mod score_lines;

use agon_core::{ReportSection, SectionFold, SectionKind};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::report_assembly::{AssembledReport, full_report};
use crate::report_source::ReportSource;
pub use blocks::share_bar;
use blocks::{BlockPlace, blocks, inline};
pub use live_table::live_table;
use quotes::QuoteIndex;

/// The style sheet of the page. It needs nothing else, and nothing on the page has a style of its own.
pub const PAGE_STYLES: &str = include_str!("page.css");

/// What a page about a debate consists of. All text is escaped.
pub struct PageParts {
    /// The question, short enough for a title.
    pub title: String,
    /// The question and how the debate ended.
    pub header: Markup,
    /// Links to the sections.
    pub contents: Markup,
    /// The sections.
    pub sections: Markup,
}

impl PageParts {
    /// The parts of the page about a debate.
    pub fn new(source: &ReportSource<'_>) -> Self {
        let mut report = full_report(source);
        dissent_after_answer(&mut report.sections);
        Self {
            title: title(&report),
            header: header(&report),
            contents: contents(&report.sections),
            sections: all_sections(&report.sections),
        }
    }
}

/// The whole debate as one self-contained page. All text is escaped, and the page's policy forbids it to load or run anything.
pub fn page_report(source: &ReportSource<'_>) -> String {
    let parts = PageParts::new(source);
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(policy);
                title { (parts.title) }
                style { (PreEscaped(PAGE_STYLES)) }
            }
            body class="report" {
                (parts.header)
                (parts.contents)
                main { (parts.sections) }
                footer { "Debate " code { (agon_host::clean_line(&source.debate.brief.id)) } ", written by Agon." }
            }
        }
    };
    format!("{}\n", page.into_string())
}

fn header(report: &AssembledReport) -> Markup {
    html! {
        header class="question" {
            p class="facts" { (report.facts.join(" \u{b7} ")) }
            h1 {
                @for (place, line) in report.question.lines().enumerate() {
                    @if place > 0 { br; }
                    (line)
                }
            }
            p class={ "ending" @if report.is_troubled { " troubled" } } { (inline(&report.ending)) }
        }
    }
}

fn is_answer(section: &ReportSection) -> bool {
    matches!(section.kind, SectionKind::Answer | SectionKind::NoAnswer)
}

/// The minority is as prominent as the answer, so it follows at once.
fn dissent_after_answer(sections: &mut Vec<ReportSection>) {
    let answers = sections.iter().take_while(|section| is_answer(section)).count();
    let dissent = sections.iter().position(|section| section.kind == SectionKind::Dissent);
    if let Some(place) = dissent.filter(|place| *place > answers) {
        let dissent = sections.remove(place);
        sections.insert(answers, dissent);
    }
}

/// The answer and the dissent side by side, then everything else.
fn all_sections(sections: &[ReportSection]) -> Markup {
    let quotes = QuoteIndex::new(sections);
    let answers = sections.iter().take_while(|part| is_answer(part)).count();
    let is_dissent = sections.get(answers).is_some_and(|part| part.kind == SectionKind::Dissent);
    let first = answers + usize::from(is_dissent);
    let mut rendered = sections.iter().enumerate().map(|(place, part)| section(place, part, &quotes));
    html! {
        div class="verdict" {
            @if answers > 0 { div class="decided" { @for part in rendered.by_ref().take(answers) { (part) } } }
            @for part in rendered.by_ref().take(first - answers) { (part) }
        }
        @for part in rendered { (part) "\n" }
    }
}

/// Browsers cut longer titles.
const TITLE_CHARS_MAX: usize = 120;

fn title(report: &AssembledReport) -> String {
    report.question.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TITLE_CHARS_MAX).collect()
}

/// Links to the sections. The whole transcript is one entry.
fn contents(sections: &[ReportSection]) -> Markup {
    let is_transcript = |section: &ReportSection| section.kind == SectionKind::Transcript;
    let first_said = sections.iter().position(is_transcript);
    let listed = sections.iter().enumerate();
    let listed = listed.filter(|(place, section)| !is_transcript(section) || Some(*place) == first_said);
    html! {
        nav class="contents" aria-label="Contents" {
            ul {
                @for (place, section) in listed {
                    @let title = if is_transcript(section) { "What was said" } else { &section.title };
                    li { a href={ "#part-" (place) } { (title) } }
                }
            }
        }
    }
}

fn section(place: usize, section: &ReportSection, quotes: &QuoteIndex) -> Markup {
    let id = format!("part-{place}");
    let in_transcript = section.kind == SectionKind::Transcript;
    let inside = blocks(&section.blocks, BlockPlace { level: 3, in_transcript, quotes });
    html! {
        @if section.fold == SectionFold::Never {
            section class=(section.kind.as_str()) id=(id) { h2 { (section.title) } (inside) }
        } @else {
            details class=(section.kind.as_str()) id=(id) open[section.fold == SectionFold::Open] {
                summary { h2 { (section.title) } }
                (inside)
            }
        }
    }
}
