//! The debate while it runs: seats are columns, phases are rows. A script fills in the cells of answers that are being written.

use agon_core::wording::{heading, seat_name};
use agon_core::{
    AskRecord, Interjection, PhaseTurn, Reply, ReportBlock, ReportLength, ReportSection, SectionKind,
};
use agon_host::clean_line;
use maud::{Markup, html};

use super::blocks::{BlockPlace, blocks, colour, inline};
use super::quotes::QuoteIndex;
use crate::live::NOTES;
use crate::live::phase::is_person;
use crate::report_assembly::renderable;
use crate::report_source::ReportSource;
use crate::transcript::{about_words, speech};

/// The table. If a person sits at the table, seats with a label are shown by the label alone, because that person may be reading.
pub fn live_table(source: &ReportSource<'_>) -> Markup {
    let debate = source.debate;
    let columns = SeatColumns::of(source);
    let width = columns.width();
    let said_after = |place: usize| debate.interjections.iter().filter(move |said| said.after == place);
    html! {
        table class={ "seats seats-" (width.min(WIDTHS)) @if columns.is_blind { " blind" } } {
            @if !columns.is_blind && width > 1 {
                thead { tr {
                    @for (seat, title) in &columns.seats {
                        th scope="col" class=(colour(source.place(seat))) { (title) }
                    }
                } }
            }
            @for (place, turn) in debate.turns.iter().enumerate() {
                tbody {
                    @for said in said_after(place) { (interjection(said, width)) }
                    (phase_rows(source, turn, &columns))
                }
            }
            tbody { @for said in said_after(debate.turns.len()) { (interjection(said, width)) } }
        }
    }
}

/// The style sheet has a width for tables of up to this many columns.
const WIDTHS: usize = 8;

/// The seats that speak at the same time as others.
struct SeatColumns {
    /// Each seat with its title.
    seats: Vec<(String, String)>,
    /// Whether nobody may learn which seat is behind a label. Cells then have no fixed columns.
    is_blind: bool,
}

impl SeatColumns {
    fn of(source: &ReportSource<'_>) -> Self {
        let brief = &source.debate.brief;
        let is_blind = source.outcome().is_none() && brief.seats.iter().any(|seat| is_person(&seat.model));
        let turns = || source.debate.turns.iter().filter(move |turn| !is_lookup(source, turn));
        let mut seats: Vec<(String, String)> = Vec::new();
        for ask in turns().filter(|turn| is_spread(turn)).flat_map(|turn| &turn.asks) {
            if !seats.iter().any(|(seat, _)| *seat == ask.seat) {
                let mut asks = turns().flat_map(|turn| &turn.asks).filter(|other| other.seat == ask.seat);
                let labelled = asks.find(|other| other.label.is_some()).unwrap_or(ask);
                seats.push((ask.seat.clone(), live_name(labelled)));
            }
        }
        seats.sort_by(|one, other| one.1.cmp(&other.1));
        Self { seats, is_blind }
    }

    fn width(&self) -> usize {
        self.seats.len().max(1)
    }

    /// The asks of a phase for each column.
    fn cells<'a>(&self, turn: &'a PhaseTurn) -> Vec<Vec<&'a AskRecord>> {
        let mut cells: Vec<(String, Vec<&AskRecord>)> = match self.is_blind {
            true => Vec::new(),
            false => self.seats.iter().map(|(seat, _)| (seat.clone(), Vec::new())).collect(),
        };
        for ask in &turn.asks {
            let key = if self.is_blind { live_name(ask) } else { ask.seat.clone() };
            match cells.iter_mut().find(|(known, _)| *known == key) {
                Some((_, asks)) => asks.push(ask),
                None => cells.push((key, vec![ask])),
            }
        }
        if self.is_blind {
            cells.sort_by(|one, other| one.0.cmp(&other.0));
        }
        cells.into_iter().map(|(_, asks)| asks).collect()
    }
}

/// Whether a person is asked in a phase and has not answered. That person must not read the others' answers first.
fn waits_for_person(turn: &PhaseTurn) -> bool {
    let reply = |place: usize| turn.replies.get(place).and_then(Option::as_ref);
    let mut asks = turn.asks.iter().enumerate();
    asks.any(|(place, ask)| is_person(&ask.model) && reply(place).is_none())
}

/// Whether several seats speak in a phase.
fn is_spread(turn: &PhaseTurn) -> bool {
    turn.asks.iter().any(|ask| turn.asks.first().is_some_and(|first| first.seat != ask.seat))
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

fn phase_rows(source: &ReportSource<'_>, turn: &PhaseTurn, columns: &SeatColumns) -> Markup {
    let width = columns.width();
    let heading = source.phase_heading(&turn.phase.name, turn.phase.round);
    // A colour must not reveal the seat behind a label either.
    let seat_colour = |ask: &AskRecord| match &ask.label {
        Some(label) if columns.is_blind => colour(label.bytes().map(usize::from).sum()),
        _ => colour(source.place(&ask.seat)),
    };
    html! {
        tr class="phase" { th colspan=(width) scope="rowgroup" { (clean_line(&heading)) } }
        @if waits_for_person(turn) && turn.asks.iter().any(|ask| !is_person(&ask.model)) {
            tr { td colspan=(width) class="alone" {
                p class="note" { "The answers of this phase are shown when every person has answered." }
            } }
        }
        @if is_lookup(source, turn) {
            // It is answered by this machine, and nobody speaks.
        } @else if is_spread(turn) {
            tr {
                @for asks in columns.cells(turn) {
                    td class=[asks.first().map(|ask| seat_colour(ask))] {
                        @for ask in asks { (cell(source, turn, ask)) }
                    }
                }
            }
        } @else {
            @for ask in &turn.asks { tr { td colspan=(width) class="alone" { (cell(source, turn, ask)) } } }
        }
    }
}

fn cell(source: &ReportSource<'_>, turn: &PhaseTurn, ask: &AskRecord) -> Markup {
    let place = turn.asks.iter().position(|asked| asked.id == ask.id).unwrap_or_default();
    let reply = turn.replies.get(place).and_then(Option::as_ref);
    let name = format!("{}{}", live_name(ask), clean_line(&about_words(ask)));
    let state = match reply {
        None => "thinking",
        Some(Reply::Said { .. }) => "said",
        Some(Reply::Absent { .. }) => "absent",
    };
    if !is_person(&ask.model) && waits_for_person(turn) {
        let words = match reply {
            Some(Reply::Said { .. }) => "has answered",
            Some(Reply::Absent { .. }) => "is absent",
            None => "thinking",
        };
        return html! {
            div class={ "turn-cell " (state) } data-ask=(ask.id) { h3 class="who" { (name) } p class="thinks" { (words) } }
        };
    }
    let attempts = turn.attempts.get(place);
    let spoken = speech(source, turn.phase.round, ask, reply, attempts.map_or(&[], Vec::as_slice));
    let section = ReportSection::new(SectionKind::Transcript, "", vec![spoken]);
    let cleaned = renderable(vec![section], ReportLength::Full);
    let block = cleaned.first().and_then(|section| section.blocks.first());
    let quotes = QuoteIndex::default();
    let place = BlockPlace { level: 4, in_transcript: false, quotes: &quotes };
    html! {
        div class={ "turn-cell " (state) } data-ask=(ask.id) {
            h3 class="who" { (name) }
            @if let (Some(ReportBlock::Speech { badges, blocks: inner, .. }), Some(_)) = (block, reply) {
                @if !badges.is_empty() {
                    p class="badges" { @for badge in badges { span class="badge" { (badge) } " " } }
                }
                div class="words" tabindex="0" { (blocks(&notes_last(inner), place)) }
            } @else {
                p class="thinks" { "thinking" }
                div class="words stream" data-json[ask.schema.is_some()] {}
            }
        }
    }
}

/// What a seat says before its notes, which it wrote first.
fn notes_last(said: &[ReportBlock]) -> Vec<ReportBlock> {
    let is_notes = |block: &&ReportBlock| matches!(block, ReportBlock::Group { title, .. } if NOTES.iter().any(|key| *title == heading(key)));
    let (notes, mut words): (Vec<_>, Vec<_>) = said.iter().partition(is_notes);
    words.extend(notes);
    words.into_iter().cloned().collect()
}
