//! The debate while it runs: seats are columns, phases are rows. A script fills in the cells of answers that are being written.

use agon_core::wording::seat_name;
use agon_core::{
    AskRecord, Interjection, PhaseTurn, Reply, ReportBlock, ReportLength, ReportSection, SectionKind,
};
use agon_host::clean_line;
use maud::{Markup, html};

use super::blocks::{BlockPlace, blocks, colour, inline};
use super::quotes::QuoteIndex;
use crate::report_assembly::renderable;
use crate::report_source::ReportSource;
use crate::transcript::{about_words, speech};

/// The table. Seats with a label are shown by the label alone, because a person at the table may be reading.
pub fn live_table(source: &ReportSource<'_>) -> Markup {
    let debate = source.debate;
    let columns = columns(source);
    let width = columns.len().max(1);
    let said_after = |place: usize| debate.interjections.iter().filter(move |said| said.after == place);
    html! {
        table class={ "seats seats-" (width.min(WIDTHS)) } {
            @if width > 1 {
                thead { tr {
                    @for (place, name) in columns.iter().enumerate() {
                        th scope="col" class=(colour(place)) { (name) }
                    }
                } }
            }
            @for (place, turn) in debate.turns.iter().enumerate() {
                tbody {
                    @for said in said_after(place) { (interjection(said, width)) }
                    (phase_rows(source, turn, &columns, width))
                }
            }
            tbody { @for said in said_after(debate.turns.len()) { (interjection(said, width)) } }
        }
    }
}

/// The style sheet has a width for tables of up to this many columns.
const WIDTHS: usize = 8;

/// The names of those who speak at the same time as others.
fn columns(source: &ReportSource<'_>) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for turn in source.debate.turns.iter().filter(|turn| !is_lookup(source, turn)) {
        let names: Vec<String> = turn.asks.iter().map(live_name).collect();
        if names.iter().any(|name| Some(name) != names.first()) {
            names.into_iter().for_each(|name| {
                if !columns.contains(&name) {
                    columns.push(name);
                }
            });
        }
    }
    columns.sort();
    columns
}

fn live_name(ask: &AskRecord) -> String {
    clean_line(&ask.label.clone().unwrap_or_else(|| seat_name(&ask.seat)))
}

fn is_lookup(source: &ReportSource<'_>, turn: &PhaseTurn) -> bool {
    source.info.phase(&turn.phase.name).is_some_and(|phase| phase.is_lookup)
}

fn interjection(said: &Interjection, width: usize) -> Markup {
    html! {
        tr class="interjected" {
            td colspan=(width) { strong { (clean_line(&said.by)) } " " (inline(&clean_line(&said.text))) }
        }
    }
}

fn phase_rows(source: &ReportSource<'_>, turn: &PhaseTurn, columns: &[String], width: usize) -> Markup {
    let asks: Vec<(&AskRecord, Option<&Reply>)> =
        turn.asks.iter().zip(turn.replies.iter().map(Option::as_ref)).collect();
    let of = |name: &String| asks.iter().filter(|(ask, _)| live_name(ask) == *name).collect::<Vec<_>>();
    let is_spread = asks.iter().any(|(ask, _)| asks.first().is_some_and(|(first, _)| first.seat != ask.seat));
    let heading = source.phase_heading(&turn.phase.name, turn.phase.round);
    html! {
        tr class="phase" { th colspan=(width) scope="rowgroup" { (clean_line(&heading)) } }
        @if is_lookup(source, turn) {
            // It is answered by this machine, and nobody speaks.
        } @else if is_spread {
            tr {
                @for (place, name) in columns.iter().enumerate() {
                    td class=(colour(place)) {
                        @for (ask, reply) in of(name) { (cell(source, turn, ask, *reply)) }
                    }
                }
            }
        } @else {
            @for (ask, reply) in &asks { tr { td colspan=(width) class="alone" { (cell(source, turn, ask, *reply)) } } }
        }
    }
}

fn cell(source: &ReportSource<'_>, turn: &PhaseTurn, ask: &AskRecord, reply: Option<&Reply>) -> Markup {
    let name = format!("{}{}", live_name(ask), clean_line(&about_words(ask)));
    let state = match reply {
        None => "thinking",
        Some(Reply::Said { .. }) => "said",
        Some(Reply::Absent { .. }) => "absent",
    };
    let attempts = turn.asks.iter().position(|asked| asked.id == ask.id).and_then(|at| turn.attempts.get(at));
    let spoken = speech(source, ask, reply, attempts.map_or(&[], Vec::as_slice));
    let section = ReportSection::new(SectionKind::Transcript, "", vec![spoken]);
    let cleaned = renderable(vec![section], ReportLength::Full);
    let block = cleaned.first().and_then(|section| section.blocks.first());
    let quotes = QuoteIndex::default();
    let place = BlockPlace { level: 3, in_transcript: false, quotes: &quotes };
    html! {
        div class={ "turn-cell " (state) } data-ask=(ask.id) {
            h3 class="who" { (name) }
            @if let (Some(ReportBlock::Speech { badges, blocks: inner, .. }), Some(_)) = (block, reply) {
                @if !badges.is_empty() {
                    p class="badges" { @for badge in badges { span class="badge" { (badge) } " " } }
                }
                div class="words" tabindex="0" { (blocks(inner, place)) }
            } @else {
                p class="waiting" { "thinking" }
                div class="words stream" {}
            }
        }
    }
}
