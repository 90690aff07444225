//! The sections that every report has: dissent, what was missing, the seats, the cost.

use agon_core::view::{absence_words, holder_name, label_name, warning_sentence};
use agon_core::wording::{
    capitalized, count, counted, dollars, excerpt, joined, number_word, percent, seat_name, spoken,
};
use agon_core::{
    Fate, Fidelity, PositionFate, ReportBar, ReportBlock, ReportItem, ReportSection, Seat, SeatCard,
    SeatPosition, SectionFold, SectionKind,
};
use agon_measure::evidence::PhaseCost;

use crate::evidence::paths;
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
            note: Some(format!("{}: {}", capitalized(fate_words(source, held)), held.reason)),
        })
        .collect();
    let title = "What became of each first position";
    let section =
        |items| ReportSection::new(SectionKind::Part, title, vec![ReportBlock::Items(items)]).folded();
    (!items.is_empty()).then(|| section(items))
}

/// Of a position whose holder went on to dissent with another.
const DISSENTER_MOVED: &str = "given up; its holder's last position is in the dissent";

/// What became of a first position, in words that its reason follows.
fn fate_words(source: &ReportSource<'_>, first: &PositionFate) -> &'static str {
    let dissenters = source.outcome().into_iter().flat_map(|outcome| &outcome.dissent);
    let is_dissenter =
        dissenters.filter_map(|dissent| dissent.get("seat")?.as_str()).any(|id| id == first.seat);
    match first.fate {
        Fate::Adopted if is_reworded(source, &first.seat) => {
            "replaced; the vote is on the side of the verdict"
        }
        Fate::Minority if is_reworded(source, &first.seat) => "replaced; the vote is in the dissent",
        Fate::Adopted if is_dissenter => "adopted; its holder's last position is in the dissent",
        Fate::Adopted => "adopted",
        // Another score is another assessment of the same, not a position that was given up.
        Fate::Refuted if source.is_scored() => "changed",
        Fate::Refuted if is_dissenter => DISSENTER_MOVED,
        Fate::Minority if is_left(source, &first.seat) => DISSENTER_MOVED,
        Fate::Refuted => "given up",
        Fate::Minority if is_score_left(source, &first.seat) => "changed; its holder is in the dissent",
        Fate::Minority => "in the dissent",
        Fate::NotSettled => "not settled",
    }
}

/// Whether a seat's last position is known to be another than its first. Scores have no such ends.
fn is_left(source: &ReportSource<'_>, seat: &str) -> bool {
    let held = || source.view.positions.rounds.iter().filter_map(|round| round.of(seat));
    let is_known = |held: &&SeatPosition| !held.is_unsorted && held.value.is_none();
    let ends = held().next().filter(is_known).zip(held().next_back().filter(is_known));
    ends.is_some_and(|(first, last)| first.position != last.position)
}

/// Whether a seat's last score is no longer near its first.
fn is_score_left(source: &ReportSource<'_>, seat: &str) -> bool {
    let positions = &source.view.positions;
    let mut scores = positions.rounds.iter().filter_map(|round| round.of(seat)?.value);
    let first = scores.next();
    let ends = first.zip(scores.next_back());
    ends.is_some_and(|(first, last)| (first - last).abs() > positions.near.unwrap_or_default() + 1e-9)
}

/// Whether a seat replaced the words of a position whose value, such as a vote, it always kept.
fn is_reworded(source: &ReportSource<'_>, seat: &str) -> bool {
    let positions = &source.view.positions;
    let held: Vec<&SeatPosition> = positions.rounds.iter().filter_map(|round| round.of(seat)).collect();
    let is_kept = held.windows(2).all(|pair| matches!(pair, [a, b] if a.position == b.position));
    let has_values = !positions.are_texts && held.iter().all(|held| held.value.is_none());
    has_values && is_kept && held.iter().any(|held| held.change.is_some())
}

/// The seats as cards on a page, and as a list elsewhere.
pub(crate) fn seat_cards(source: &ReportSource<'_>) -> Option<ReportSection> {
    let mut section = seats(source)?;
    let paths = paths::position_paths(source);
    let seats = source.debate.brief.seats.iter().enumerate();
    let mut cards: Vec<SeatCard> =
        seats.map(|(place, seat)| seat_card(source, &paths, place, seat)).collect();
    // In label order; seats without a label follow in seat order.
    cards.sort_by_key(|card| source.label(&card.id).map_or((true, ""), |label| (false, label)));
    let (pairs, lines): (Vec<ReportBlock>, Vec<ReportBlock>) =
        section.blocks.into_iter().partition(|block| matches!(block, ReportBlock::Pairs(_)));
    section.blocks = vec![ReportBlock::Cards(cards), ReportBlock::OffPage(pairs)];
    section.blocks.extend(lines);
    Some(section)
}

/// A longer position is cut on a card.
const CARD_CHARS_MAX: usize = 180;

fn seat_card(
    source: &ReportSource<'_>,
    paths: &agon_core::PositionPaths,
    place: usize,
    seat: &Seat,
) -> SeatCard {
    let mut card = SeatCard {
        place,
        name: source.name(&seat.id),
        id: seat.id.clone(),
        model: model_words(source, seat),
        ..SeatCard::default()
    };
    let path = paths.seats.iter().find(|path| path.place == place);
    let steps: Vec<_> = path.iter().flat_map(|path| path.steps.iter().flatten()).collect();
    let shown = |text: &String| excerpt(&agon_host::clean_line(text), CARD_CHARS_MAX);
    let name = |position: usize| paths.positions.get(position).map(shown);
    // A seat's own words, where the name of its position may be those of another seat.
    let held = source.view.positions.rounds.iter().filter_map(|round| round.of(&seat.id));
    let words: Vec<String> = held.filter_map(|held| held.words.as_ref()).map(shown).collect();
    if let (Some(first), Some(last)) = (steps.first(), steps.last()) {
        card.first = words.first().cloned().or_else(|| name(first.position));
        card.last = match words.last() {
            Some(last) => Some(last.clone()).filter(|last| card.first.as_ref() != Some(last)),
            None => name(last.position).filter(|_| first.position != last.position),
        };
        let changes = || steps.iter().filter(|step| step.cited.is_some());
        // A new text that nobody compared may state the old position.
        let changed = if changes().any(|step| step.is_unsorted) { "revised" } else { "changed" };
        let is_revised = !source.view.positions.revisions(&seat.id).is_empty();
        card.notes.push(match changes().count() {
            0 if is_revised => "revised its position without giving it up".to_owned(),
            0 => "kept its position".to_owned(),
            1 => format!("{changed} once"),
            2 => format!("{changed} twice"),
            n => format!("{changed} {n} times"),
        });
    }
    let first = source.evidence.dissent.iter().find(|held| held.seat == seat.id);
    let first = first.filter(|held| held.fate != Fate::Refuted || !source.is_scored());
    card.notes.extend(first.map(|held| format!("first position {}", fate_words(source, held))));
    card
}

/// The seat and model behind each label, and the roles that the first model also plays.
pub(crate) fn seats(source: &ReportSource<'_>) -> Option<ReportSection> {
    let seats = &source.debate.brief.seats;
    let section = |blocks| ReportSection::new(SectionKind::Part, "Seats", blocks);
    if let Some(blocks) = one_model(source) {
        return Some(section(blocks));
    }
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
    let mut blocks = vec![ReportBlock::Pairs(pairs)];
    blocks.extend(also_plays(source, seats).map(ReportBlock::Line));
    (!seats.is_empty()).then(|| section(blocks))
}

/// If one model has every seat, its name is said once.
fn one_model(source: &ReportSource<'_>) -> Option<Vec<ReportBlock>> {
    let debate = source.debate;
    let (first, others) = debate.brief.seats.split_first()?;
    let mut seats = debate.brief.seats.iter();
    let heard = seats.find(|seat| !debate.spoke(&seat.id).is_empty()).unwrap_or(first);
    let spoke = debate.spoke(&heard.id);
    let is_same = |seat: &Seat| {
        let own = debate.spoke(&seat.id);
        seat.model == first.model && (own.is_empty() || own == spoke)
    };
    if others.is_empty() || !debate.brief.seats.iter().all(is_same) {
        return None;
    }
    let labels = source.outcome().into_iter().flat_map(|outcome| &outcome.labels);
    let labels: Vec<String> =
        labels.map(|(label, id)| format!("{} is {id}", label_name(debate, label))).collect();
    let mut blocks = vec![ReportBlock::Pairs(vec![("All seats".to_owned(), model_words(source, heard))])];
    blocks.extend((!labels.is_empty()).then(|| ReportBlock::Line(format!("{}.", labels.join(", ")))));
    Some(blocks)
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

fn also_plays(source: &ReportSource<'_>, seats: &[Seat]) -> Option<String> {
    let first = seats.first()?;
    let others = seats.iter().filter(|seat| seat.role != first.role && seat.model == first.model);
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for seat in others {
        match counts.iter_mut().find(|(role, _)| *role == seat.role) {
            Some((_, count)) => *count += 1,
            None => counts.push((&seat.role, 1)),
        }
    }
    let roles: Vec<String> = counts
        .into_iter()
        .map(|(role, count)| match count {
            1 => role.to_owned(),
            count => format!("{} {role}s", number_word(count)),
        })
        .collect();
    let same = seats.iter().filter(|seat| seat.role == first.role && seat.model == first.model);
    let names: Vec<String> = same.map(|seat| source.name(&seat.id)).collect();
    (!roles.is_empty()).then(|| format!("The model of {} also plays {}.", joined(&names), joined(&roles)))
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

/// The cost of each round as bars, and of each phase in a table.
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
    let mut blocks = vec![ReportBlock::Bars(round_bars(source, phases)), ReportBlock::Table(rows)];
    blocks.extend(cache_sentence(source).map(ReportBlock::Line));
    let section = ReportSection::new(SectionKind::Part, "Cost by round", blocks);
    (!phases.is_empty()).then_some(ReportSection { fold: SectionFold::Open, ..section })
}

/// The rounds in order, and the phases outside rounds: in dollars if every price is known, else in tokens.
fn round_bars(source: &ReportSource<'_>, phases: &[PhaseCost]) -> Vec<ReportBar> {
    let name = |phase: &PhaseCost| match source.is_in_round(&phase.phase, phase.round) {
        true => format!("Round {}", phase.round),
        false => source.phase_title(&phase.phase),
    };
    let mut bars: Vec<(String, u64, u64, f64)> = Vec::new();
    for phase in phases {
        let (calls, usd) = (u64::from(phase.calls), phase.usd.unwrap_or_default());
        let tokens = phase.input_tokens.saturating_add(phase.output_tokens);
        match bars.iter_mut().find(|bar| bar.0 == name(phase)) {
            Some(bar) => {
                bar.1 = bar.1.saturating_add(calls);
                bar.2 = bar.2.saturating_add(tokens);
                bar.3 += usd;
            }
            None => bars.push((name(phase), calls, tokens, usd)),
        }
    }
    let in_dollars = phases.iter().all(|phase| phase.usd.is_some()) && bars.iter().any(|bar| bar.3 > 0.0);
    let bar = |(name, calls, tokens, usd): (String, u64, u64, f64)| {
        let price = if in_dollars { format!(", {}", dollars(usd)) } else { String::new() };
        let written = format!("{}, {}{price}", counted(calls, "call"), counted(tokens, "token"));
        ReportBar { name, value: if in_dollars { usd } else { tokens as f64 }, written }
    };
    bars.into_iter().map(bar).collect()
}

/// How much of the input came from a cache, and the most that was possible.
fn cache_sentence(source: &ReportSource<'_>) -> Option<String> {
    let cost = &source.evidence.cost;
    let percent = |share: f64| format!("{:.0}%", 100.0 * share);
    let possible =
        cost.predicted_cached_share.map(|share| format!("; at most {} was possible", percent(share)));
    // A provider that says nothing of its cache looks like one without it.
    let read = match cost.cached_share? {
        0.0 => "No input is known to have come from a cache".to_owned(),
        share => format!("{} of the input came from a cache", percent(share)),
    };
    Some(format!("{read}{}.", possible.unwrap_or_default()))
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
