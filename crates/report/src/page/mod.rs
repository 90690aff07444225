//! The whole debate as one page: no script, no network, light and dark, desktop and phone.
//!
//! [`page_report`] writes the page and its sections, `blocks` what is in a section. `position_lines`, `score_lines` and
//! `round_chart` are the drawings.

mod blocks;
mod position_lines;
mod round_chart;
mod score_lines;

use agon_core::{ReportSection, SectionFold, SectionKind};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::report_assembly::{AssembledReport, full_report};
use crate::report_source::ReportSource;
use blocks::{BlockPlace, blocks, inline};

const STYLES: &str = include_str!("page.css");

/// The whole debate as one self-contained page. All text is escaped, and the page's policy forbids it to load or run anything.
pub fn page_report(source: &ReportSource<'_>) -> String {
    let report = full_report(source);
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(policy);
                title { (title(&report)) }
                style { (PreEscaped(STYLES)) }
            }
            body {
                header {
                    p class="facts" { (report.facts.join(" \u{b7} ")) }
                    h1 {
                        @for (place, line) in report.question.lines().enumerate() {
                            @if place > 0 { br; }
                            (line)
                        }
                    }
                    p class={ "ending" @if report.is_troubled { " troubled" } } { (inline(&report.ending)) }
                }
                (contents(&report.sections))
                main {
                    @for (place, part) in report.sections.iter().enumerate() { (section(place, part)) "\n" }
                }
                footer { "Debate " code { (report.id) } ", written by Agon." }
            }
        }
    };
    format!("{}\n", page.into_string())
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
        nav aria-label="Contents" {
            ul {
                @for (place, section) in listed {
                    @let title = if is_transcript(section) { "What was said" } else { &section.title };
                    li { a href={ "#part-" (place) } { (title) } }
                }
            }
        }
    }
}

fn section(place: usize, section: &ReportSection) -> Markup {
    let id = format!("part-{place}");
    let inside =
        blocks(&section.blocks, BlockPlace { level: 3, folded: section.kind == SectionKind::Transcript });
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
