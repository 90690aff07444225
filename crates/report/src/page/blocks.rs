//! The blocks of a section on the page.

use agon_core::{PositionPaths, ReportBlock, ReportItem, SeatCard, VerdictTone};
use maud::{Markup, html};

use super::quotes::QuoteIndex;
use super::{position_lines, score_lines};
use crate::evidence::paths::PathMarks;
use crate::markdown_text::{MarkdownPart, MarkdownSpan, parse, spans};

/// Where on the page a block is.
#[derive(Clone, Copy)]
pub(super) struct BlockPlace<'a> {
    /// The level of its headings.
    pub(super) level: usize,
    /// Whether it is directly in the transcript, where what each seat said is folded.
    pub(super) in_transcript: bool,
    pub(super) quotes: &'a QuoteIndex,
}

pub(super) fn blocks(blocks: &[ReportBlock], place: BlockPlace<'_>) -> Markup {
    html! { @for inner in blocks { (block(inner, place)) } }
}

/// The number of seat colours in the style sheet.
const COLOURS: usize = 8;

/// The class of a seat's colour.
pub(super) fn colour(place: usize) -> String {
    format!("s{}", place % COLOURS)
}

fn block(block: &ReportBlock, place: BlockPlace<'_>) -> Markup {
    match block {
        ReportBlock::Prose(text) => prose(text, place),
        ReportBlock::Line(text) => html! { p class="line" { (inline(text)) } },
        ReportBlock::Headline(tone, text) => {
            let tone = match tone {
                VerdictTone::Good => "good",
                VerdictTone::Warn => "warn",
                VerdictTone::Bad => "bad",
            };
            html! { p class={ "headline " (tone) } { (text) } }
        }
        ReportBlock::Items(items) => {
            html! { ul class="items" { @for entry in items { (item(entry, place)) } } }
        }
        ReportBlock::Pairs(pairs) => html! {
            dl { @for (name, value) in pairs { div { dt { (name) } dd { (place.quotes.linked(value)) } } } }
        },
        ReportBlock::Table(rows) => table(rows),
        ReportBlock::Group { title, badges, blocks: inner } => html! {
            article class="group" { (titled(title, badges, place.level)) (below(inner, place)) }
        },
        ReportBlock::Speech { place: seat, title, badges, blocks: inner } => {
            let class = format!("speech {}", colour(*seat));
            let title = titled(title, badges, place.level);
            let inside = || below(inner, place);
            let inside = if place.in_transcript { place.quotes.speech(inside) } else { inside() };
            html! {
                @if place.in_transcript && !inner.is_empty() {
                    details class=(class) { summary { (title) } (inside) }
                } @else {
                    article class=(class) { (title) (inside) }
                }
            }
        }
        ReportBlock::Paths(paths) => figure(paths),
        ReportBlock::Cards(cards) => {
            html! { div class="cards" { @for card in cards { (seat_card(card, place.level)) } } }
        }
        ReportBlock::OffPage(_) | ReportBlock::In(..) => html! {},
    }
}

/// The blocks under a title.
fn below(inner: &[ReportBlock], place: BlockPlace<'_>) -> Markup {
    blocks(inner, BlockPlace { level: place.level + 1, in_transcript: false, ..place })
}

fn heading(level: usize, class: Option<&str>, content: &Markup) -> Markup {
    match level {
        ..=3 => html! { h3 class=[class] { (content) } },
        4 => html! { h4 class=[class] { (content) } },
        5 => html! { h5 class=[class] { (content) } },
        _ => html! { h6 class=[class] { (content) } },
    }
}

fn titled(title: &str, badges: &[String], level: usize) -> Markup {
    heading(level, None, &html! { (title) @for badge in badges { " " span class="badge" { (badge) } } })
}

fn item(item: &ReportItem, place: BlockPlace<'_>) -> Markup {
    html! {
        li {
            @if let Some(who) = &item.who { strong { (who) ":" } " " }
            @match parse(&item.text).as_slice() {
                [MarkdownPart::Text(text)] => (said(text, place.quotes)),
                _ => (prose(&item.text, place)),
            }
            @if let Some(note) = &item.note { p class="note" { (inline(note)) } }
        }
    }
}

/// A bar that is filled up to a share from 0 to 1. A width is an attribute, because a page's policy may forbid styles in it.
pub fn share_bar(share: f64) -> Markup {
    let width = format!("{:.1}%", 100.0 * share.clamp(0.0, 1.0));
    html! {
        svg class="track" aria-hidden="true" { rect class="bar" width=(width) height="100%" rx="3" {} }
    }
}

const DRAWING_MARKS: PathMarks =
    PathMarks { cited: "solid line:", bare: "broken line:", unsorted: "hollow dot:", reworded: None };

/// The drawing, and below it the positions that it cuts, in full.
fn figure(paths: &PositionPaths) -> Markup {
    let legend = DRAWING_MARKS.legend(paths).map(|legend| agon_core::wording::capitalized(&legend));
    let is_cut = !paths.scored
        && (paths.in_full.iter().any(|position| position_lines::is_cut(position))
            || paths.reworded.iter().any(Option::is_some));
    html! {
        figure {
            @if paths.scored { (score_lines::svg(paths)) } @else { (position_lines::svg(paths)) }
            @if let Some(legend) = legend { figcaption { (legend) "." } }
        }
        @if is_cut {
            details class="positions-in-full" {
                summary { "The positions in full" }
                ol {
                    @for (position, reworded) in paths.in_full.iter().zip(&paths.reworded) {
                        li {
                            (inline(position))
                            @if let Some(words) = reworded { br; "In other words: " (inline(words)) }
                        }
                    }
                }
            }
        }
    }
}

fn seat_card(card: &SeatCard, level: usize) -> Markup {
    html! {
        article class={ "card " (colour(card.place)) } {
            (heading(level, None, &html! { (card.name) }))
            p class="note" {
                @if !card.id.eq_ignore_ascii_case(&card.name) { (card.id) ", " }
                (card.model)
            }
            (held(card))
            @if !card.notes.is_empty() {
                p class="notes" {
                    @for (place, note) in card.notes.iter().enumerate() {
                        @if place > 0 { " " }
                        span class="badge" { (note) }
                    }
                }
            }
        }
    }
}

/// Two positions no longer than this are on one line.
const SHORT_CHARS_MAX: usize = 24;

fn held(card: &SeatCard) -> Markup {
    let is_short = |text: &String| text.chars().count() <= SHORT_CHARS_MAX;
    let line = |name: &str, text: &str| html! { p { span class="which" { (name) } " " (inline(text)) } };
    match (&card.first, &card.last) {
        (Some(first), Some(last)) if is_short(first) && is_short(last) => {
            line("Held", &format!("{first}, then {last}"))
        }
        (Some(first), Some(last)) => html! { (line("First", first)) (line("At last", last)) },
        (Some(first), None) => line("Held", first),
        (None, _) => html! {},
    }
}

/// A seat's text. Its headings get this level.
fn prose(text: &str, place: BlockPlace<'_>) -> Markup {
    let paras = parse(text);
    let is_item = |para: &MarkdownPart| matches!(para, MarkdownPart::Item { .. });
    html! {
        @for run in paras.chunk_by(|one, next| is_item(one) && is_item(next)) {
            @if run.iter().any(is_item) {
                ul class="said" { @for para in run { (paragraph(para, place)) } }
            } @else {
                @for para in run { (paragraph(para, place)) }
            }
        }
    }
}

fn paragraph(para: &MarkdownPart, place: BlockPlace<'_>) -> Markup {
    match para {
        MarkdownPart::Heading(text) => heading(place.level, Some("own"), &inline(text)),
        MarkdownPart::Text(text) => html! { p { (said(text, place.quotes)) } },
        MarkdownPart::Quote(text) => html! { blockquote { (said(text, place.quotes)) } },
        MarkdownPart::Code(lines) => html! { pre tabindex="0" { (lines.join("\n")) } },
        MarkdownPart::Table(rows) => table(rows),
        MarkdownPart::Item { depth, marker, text } => html! {
            li class={ "depth" (depth) @if marker.is_some() { " numbered" } } {
                @if let Some(marker) = marker { span class="number" { (marker) } " " }
                (said(text, place.quotes))
            }
        },
    }
}

/// A table in a frame that scrolls, so that the page does not.
fn table(rows: &[Vec<String>]) -> Markup {
    html! {
        div class="wide" tabindex="0" role="region" aria-label="Table" {
            table {
                @for (place, row) in rows.iter().enumerate() {
                    tr {
                        @for cell in row {
                            @if place == 0 { th scope="col" { (inline(cell)) } } @else { td { (inline(cell)) } }
                        }
                    }
                }
            }
        }
    }
}

/// A line with its bold, italic and code.
pub(super) fn inline(text: &str) -> Markup {
    said(text, &QuoteIndex::default())
}

/// The same, with the words marked that somebody cites.
fn said(text: &str, quotes: &QuoteIndex) -> Markup {
    html! {
        @for span in spans(text) {
            @match span {
                MarkdownSpan::Plain(text) => (quotes.marked(&text)),
                MarkdownSpan::Bold(text) => strong { (text) },
                MarkdownSpan::Italic(text) => em { (text) },
                MarkdownSpan::Code(text) => code { (text) },
            }
        }
    }
}
