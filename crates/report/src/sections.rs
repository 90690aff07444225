//! The sections that every report has: dissent, what was missing, the seats, the cost.

use agon_core::view::{absence_words, holder_name, label_name, warning_sentence};
use agon_core::wording::{
    capitalized, count, counted, dollars, excerpt, joined, number_word, percent, seat_name, spoken,
};
use agon_core::{
    Fate, Fidelity, ReportBlock, ReportItem, ReportSection, Seat, SeatCard, SectionFold, SectionKind,
};

use crate::evidence::{SeatMoves, seat_moves};
use crate::json_blocks;
use crate::report_source::ReportSource;
use crate::unshown_files::unshown_files_warning;

/// The minority's positions, or a sentence that there are none if that is known.
pub(crate) fn dissent(source: &ReportSource<'_>) -> Option<ReportSection> {
    let section = |block| ReportSection::new(SectionKind::Dissent, "Dissent", vec![block]);
    if !source.view.dissent.is_empty() {
        return Some(section(ReportBlock::Items(source.view.dissent.clone())));
    }
    let fates = || source.evidence.dissent.iter().map(|held| held.fate);
    if fates().next().is_none() || fates().any(|fate| fate == Fate::Minority) {
        return None;
    }
    let line = match fates().filter(|fate| *fate == Fate::NotSettled).count() {
        0 if source.is_scored() => "No dissent: every first score was adopted or changed.".to_owned(),
        0 => "No dissent: every first-round position was adopted or given up.".to_owned(),
        1 => "Unknown: one first-round position was not settled.".to_owned(),
        open => format!("Unknown: {} first-round positions were not settled.", number_word(open)),
    };
    Some(section(ReportBlock::Line(line)))
}

/// Absences, and what the protocol says was missing.
pub(crate) fn missing(source: &ReportSource<'_>) -> Option<ReportSection> {
    let mut items: Vec<ReportItem> = Vec::new();
    for (phase, ask, why, detail) in source.debate.absences() {
        let title = spoken(&phase.name);
        let place = match phase.round {
            // The phase `r2` is round 2, which is said once.
            round if phase.name == format!("r{round}") => format!(" in round {round}"),
            round if source.is_in_round(&phase.name, round) => format!(" in round {round} ({title})"),
            _ => format!(" ({title})"),
        };
        let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
        let label = source.label(&ask.seat).map(|label| holder_name(source.debate, Some(label), &ask.seat));
        items.push(ReportItem {
            who: Some(label.unwrap_or_else(|| seat_name(&ask.seat))),
            text: format!("{}{place}{detail}", absence_words(why)),
            note: None,
        });
    }
    items.extend(source.view.outline.missing.iter().map(ReportItem::text));
    let is_degraded = source.outcome().is_some_and(|outcome| outcome.fidelity == Fidelity::Degraded);
    if items.is_empty() && is_degraded {
        items.push(ReportItem::text("Some steps of the protocol were skipped."));
    }
    let section =
        |items| ReportSection::new(SectionKind::Part, "What was missing", vec![ReportBlock::Items(items)]);
    (!items.is_empty()).then(|| section(items))
}

pub(crate) fn warnings(source: &ReportSource<'_>) -> Option<ReportSection> {
    let warnings =
        source.outcome()?.warnings.iter().cloned().chain(unshown_files_warning(&source.debate.brief));
    let items: Vec<ReportItem> =
        warnings.map(|warning| ReportItem::text(warning_sentence(&warning))).collect();
    let section = |items| ReportSection::new(SectionKind::Part, "Warnings", vec![ReportBlock::Items(items)]);
    (!items.is_empty()).then(|| section(items))
}

/// Every first-round position and what became of it.
pub(crate) fn first_positions(source: &ReportSource<'_>) -> Option<ReportSection> {
    let positions = source.evidence.dissent.iter();
    let items: Vec<ReportItem> = positions
        .map(|held| ReportItem {
            who: Some(holder_name(source.debate, held.label.as_deref(), &held.seat)),
            text: held.position.clone(),
            note: Some(format!("{}: {}", capitalized(fate_words(source, held.fate)), held.reason)),
        })
        .collect();
    let title = "What became of each first position";
    let section =
        |items| ReportSection::new(SectionKind::Part, title, vec![ReportBlock::Items(items)]).folded();
    (!items.is_empty()).then(|| section(items))
}

/// What became of a first position, in words that its reason follows.
fn fate_words(source: &ReportSource<'_>, fate: Fate) -> &'static str {
    match fate {
        Fate::Adopted => "adopted",
        // Another score is another assessment of the same, not a position that was given up.
        Fate::Refuted if source.is_scored() => "changed",
        Fate::Refuted => "given up",
        Fate::Minority => "minority",
        Fate::NotSettled => "not settled",
    }
}

/// The seats as cards on a page, and as a list elsewhere.
pub(crate) fn seat_cards(source: &ReportSource<'_>) -> Option<ReportSection> {
    let mut section = seats(source)?;
    let moves = seat_moves(source);
    let seats = source.debate.brief.seats.iter().enumerate();
    let mut cards: Vec<SeatCard> =
        seats.map(|(place, seat)| seat_card(source, &moves, place, seat)).collect();
    // In label order; seats without a label follow in seat order.
    cards.sort_by_key(|card| source.label(&card.id).map_or((true, ""), |label| (false, label)));
    section.blocks = vec![ReportBlock::Cards(cards), ReportBlock::OffPage(section.blocks)];
    Some(section)
}

/// A longer position is cut on a card.
const CARD_CHARS_MAX: usize = 180;

fn seat_card(source: &ReportSource<'_>, moves: &[SeatMoves<'_>], place: usize, seat: &Seat) -> SeatCard {
    let positions = &source.view.positions;
    // A vote on texts need not be for the seat's own.
    let rounds = positions.rounds.iter().filter(|round| !(round.ballots && positions.are_texts));
    let held = rounds.filter_map(|round| source.held_words(&seat.id, round.round));
    let mut held = held.map(|words| excerpt(&agon_host::clean_line(&words), CARD_CHARS_MAX));
    let first = held.next();
    let last = held.next_back().filter(|last| Some(last) != first.as_ref());
    let own = moves.iter().filter(|moves| moves.seat == seat.id);
    let mut notes: Vec<String> =
        own.map(|moves| format!("{} in {}", moves.did, source.rounds_name(&moves.rounds))).collect();
    let fate = source.evidence.dissent.iter().find(|held| held.seat == seat.id);
    notes.extend(fate.map(|held| format!("first position: {}", fate_words(source, held.fate))));
    SeatCard {
        place,
        name: source.name(&seat.id),
        id: seat.id.clone(),
        model: model_words(source, seat),
        first,
        last,
        notes,
    }
}

/// The seat and model behind each label. Seats without a label follow in seat order.
pub(crate) fn seats(source: &ReportSource<'_>) -> Option<ReportSection> {
    let seats = &source.debate.brief.seats;
    let mut pairs: Vec<(String, String)> = Vec::new();
    let labels = source.outcome().into_iter().flat_map(|outcome| &outcome.labels);
    for (label, id) in labels {
        let model = source.debate.brief.seat(id).map(|seat| model_words(source, seat)).unwrap_or_default();
        pairs.push((label_name(source.debate, label), format!("{id}, {model}")));
    }
    for seat in seats.iter().filter(|seat| source.label(&seat.id).is_none()) {
        let Seat { id, role, .. } = seat;
        let name = if id.starts_with(role.as_str()) { seat_name(id) } else { format!("{id} ({role})") };
        pairs.push((name, model_words(source, seat)));
    }
    let section = |pairs| ReportSection::new(SectionKind::Part, "Seats", vec![ReportBlock::Pairs(pairs)]);
    (!seats.is_empty()).then(|| section(pairs))
}

/// A seat's model as it was named, and the models that spoke if they differ.
fn model_words(source: &ReportSource<'_>, seat: &Seat) -> String {
    let spoke: Vec<String> = source.debate.spoke(&seat.id).into_iter().map(str::to_owned).collect();
    match spoke.as_slice() {
        [] => seat.model.clone(),
        [only] if *only == seat.model => seat.model.clone(),
        spoke => format!("{} ({} spoke)", seat.model, joined(spoke)),
    }
}

pub(crate) fn cost(source: &ReportSource<'_>) -> Option<ReportSection> {
    let spent = source.debate.spent();
    let shares = [(spent.cached_input_tokens, "cached"), (spent.cache_write_tokens, "written to the cache")];
    let shares = shares.into_iter().filter(|(tokens, _)| *tokens > 0);
    let shares: Vec<String> =
        shares.map(|(tokens, what)| format!("{} {what}", percent(tokens, spent.input_tokens))).collect();
    let share = if shares.is_empty() { String::new() } else { format!(" ({})", shares.join(", ")) };
    let line = format!(
        "{}, {} in{share}, {} out, {}",
        counted(u64::from(spent.calls), "call"),
        counted(spent.input_tokens, "token"),
        count(spent.output_tokens),
        if spent.usd_known { dollars(spent.usd) } else { "price unknown".into() },
    );
    let mut blocks = vec![ReportBlock::Line(line)];
    if spent.lost_calls > 0 {
        let price = if spent.lost_usd_known { dollars(spent.lost_usd) } else { "price unknown".into() };
        let calls = counted(u64::from(spent.lost_calls), "call");
        blocks.push(ReportBlock::Line(format!("possibly billed twice: {calls}, {price}")));
    }
    Some(ReportSection::new(SectionKind::Part, "Cost", blocks))
}

/// The column of the tokens that came from a cache, in the table of costs.
const CACHED_COLUMN: usize = 4;

/// The cost of each phase.
pub(crate) fn cost_by_round(source: &ReportSource<'_>) -> Option<ReportSection> {
    let phases = &source.evidence.cost.rounds;
    // A provider that says nothing of its cache looks like one without it.
    let has_cached = phases.iter().any(|phase| phase.cached_input_tokens > 0);
    let cells = |row: [String; 7]| -> Vec<String> {
        let columns =
            row.into_iter().enumerate().filter(|(column, _)| *column != CACHED_COLUMN || has_cached);
        columns.map(|(_, cell)| cell).collect()
    };
    let head = ["Phase", "Round", "Calls", "Tokens in", "Cached", "Tokens out", "US dollars"];
    let mut rows = vec![cells(head.map(str::to_owned))];
    rows.extend(phases.iter().map(|phase| {
        cells([
            spoken(&phase.phase),
            phase.round.to_string(),
            count(u64::from(phase.calls)),
            count(phase.input_tokens),
            count(phase.cached_input_tokens),
            count(phase.output_tokens),
            phase.usd.map_or("unknown".into(), dollars),
        ])
    }));
    let section = ReportSection::new(SectionKind::Part, "Cost by round", vec![ReportBlock::Table(rows)]);
    (!phases.is_empty()).then_some(ReportSection { fold: SectionFold::Open, ..section })
}

/// What you need to find, check and repeat the debate.
pub(crate) fn technical_details(source: &ReportSource<'_>) -> ReportSection {
    let (debate, brief) = (source.debate, &source.debate.brief);
    let pair = |name: &str, value: String| (name.to_owned(), value);
    let mut pairs = vec![
        pair("Id", brief.id.clone()),
        pair("Opened", brief.created_at.clone()),
        pair("Seed", brief.seed.to_string()),
        pair("Events", count(debate.events)),
        pair("Head of the hash chain", debate.head.clone()),
    ];
    let parent = brief.parent.as_ref();
    pairs.extend(
        parent.map(|parent| pair("Branched from", format!("{} after round {}", parent.id, parent.at_round))),
    );
    pairs.extend(brief.options.iter().map(|(key, value)| (key.clone(), json_blocks::scalar(value))));
    let check = format!("Check it with `agon verify {}`.", brief.id);
    let blocks = vec![ReportBlock::Pairs(pairs), ReportBlock::Line(check)];
    ReportSection::new(SectionKind::Part, "Technical details", blocks).folded()
}
