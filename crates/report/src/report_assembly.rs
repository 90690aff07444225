//! Puts the sections of a report together: those of the protocol's outline and those that every debate has.

use agon_core::view::{ending_sentence, is_troubled};
use agon_core::wording::{counted, excerpt, seconds, spoken};
use agon_core::{
    PositionPaths, ReportBlock, ReportItem, ReportLength, ReportSection, SeatCard, SeatPath, SectionKind,
    VerdictTone,
};
use agon_host::{clean_line, clean_text};

use crate::report_source::ReportSource;
use crate::{evidence, json_blocks, sections, transcript};

/// A report that is ready to render: its sections in order, with all text cleaned.
#[derive(Debug, Default)]
pub(crate) struct AssembledReport {
    pub(crate) id: String,
    pub(crate) question: String,
    /// How the debate ended, in a sentence or two.
    pub(crate) ending: String,
    /// Whether the ending is a warning.
    pub(crate) is_troubled: bool,
    /// The line under the title: the number of seats and rounds, the time it took.
    pub(crate) facts: Vec<String>,
    pub(crate) sections: Vec<ReportSection>,
}

/// The report for a terminal. `store` is appended to every command that the report shows.
pub(crate) fn short_report(source: &ReportSource<'_>, store: &str) -> AssembledReport {
    let outline = &source.view.outline;
    let mut all = verdict(source);
    all.extend(evidence::what_the_debate_did(source, ReportLength::Short));
    all.extend(outline.body.iter().cloned());
    all.extend(sections::dissent(source));
    all.extend(sections::missing(source));
    all.extend(sections::warnings(source));
    all.extend(outline.details.iter().cloned());
    all.extend(sections::seats(source));
    all.extend(sections::cost(source));
    all.extend(outline.footer.iter().cloned());
    assembled(source, all, ReportLength::Short, store)
}

/// The report with the whole debate in it.
pub(crate) fn full_report(source: &ReportSource<'_>) -> AssembledReport {
    let outline = &source.view.outline;
    let mut all = verdict(source);
    all.extend(evidence::what_the_debate_did(source, ReportLength::Full));
    all.extend(sections::seat_cards(source));
    all.extend(outline.body.iter().cloned());
    all.extend(sections::dissent(source));
    all.extend(sections::missing(source));
    all.extend(sections::warnings(source));
    all.extend(evidence::who_changed(source, source.evidence.flips.iter()));
    all.extend(outline.details.iter().cloned());
    all.extend(transcript::all_phases(source));
    all.extend(sections::first_positions(source));
    all.extend(sections::cost(source));
    all.extend(sections::cost_by_round(source));
    all.extend(evidence::measures(source));
    all.push(sections::technical_details(source));
    all.extend(outline.footer.iter().cloned());
    assembled(source, all, ReportLength::Full, "")
}

/// The protocol's verdict, or its JSON if the protocol describes none.
fn verdict(source: &ReportSource<'_>) -> Vec<ReportSection> {
    let outline = &source.view.outline;
    match source.outcome() {
        Some(outcome) if outline.answer.is_empty() && outline.body.is_empty() => {
            json_blocks::sections(&outcome.verdict)
        }
        _ => outline.answer.clone(),
    }
}

fn assembled(
    source: &ReportSource<'_>,
    sections: Vec<ReportSection>,
    length: ReportLength,
    store: &str,
) -> AssembledReport {
    let brief = &source.debate.brief;
    AssembledReport {
        id: clean_line(&brief.id),
        question: clean_text(&brief.question).trim().to_owned(),
        ending: clean_line(&ending(source, store)),
        is_troubled: source.outcome().is_none_or(is_troubled)
            || source.view.headline.tone == VerdictTone::Bad,
        facts: facts(source).iter().map(|fact| clean_line(fact)).collect(),
        sections: renderable(sections, length),
    }
}

fn ending(source: &ReportSource<'_>, store: &str) -> String {
    let Some(outcome) = source.outcome() else {
        let id = &source.debate.brief.id;
        return format!("Not over yet. If nothing runs it, continue it with `agon resume {id}{store}`.");
    };
    let sentence = match source.view.headline.ending.trim() {
        "" => ending_sentence(outcome, "seats"),
        sentence => sentence.to_owned(),
    };
    match outcome.fidelity {
        agon_core::Fidelity::Degraded => format!("{sentence} Degraded: see what was missing."),
        agon_core::Fidelity::Full => sentence,
    }
}

/// The line under the title. The first fact is the protocol's name.
pub(crate) fn facts(source: &ReportSource<'_>) -> Vec<String> {
    let (brief, outline) = (&source.debate.brief, &source.view.outline);
    let role = brief.seats.first().map_or("seat", |seat| seat.role.as_str());
    let (voices, noun) = outline.voices.map_or_else(
        || (brief.seats_of(role).count() as u64, spoken(role)),
        |(count, noun)| (count, noun.into()),
    );
    let mut facts = vec![brief.protocol.clone()];
    facts.extend(outline.facts.iter().cloned());
    facts.extend((voices > 0).then(|| counted(voices, &noun)));
    let rounds = source.outcome().map_or(0, |outcome| outcome.rounds_completed);
    facts.extend((rounds > 0).then(|| counted(u64::from(rounds), "round")));
    facts.push(seconds(source.debate.at_ms));
    facts.extend(brief.parent.as_ref().map(|parent| match parent.at_round {
        0 => format!("branched from {} before round 1", parent.id),
        round => format!("branched from {} after round {round}", parent.id),
    }));
    facts
}

/// A short report cuts longer texts of list entries.
const ENTRY_CHARS_MAX: usize = 500;

/// The sections of reports of this length that are not empty, with all text cleaned.
pub(crate) fn renderable(sections: Vec<ReportSection>, length: ReportLength) -> Vec<ReportSection> {
    let shown = |wanted: ReportLength| wanted == ReportLength::Any || wanted == length;
    let mut renderable = Vec::new();
    for mut section in sections.into_iter().filter(|section| shown(section.shown)) {
        section.blocks = unwrapped(section.blocks, length);
        section.title = clean_line(&section.title);
        // The minority is never cut short.
        let length = if section.kind == SectionKind::Dissent { ReportLength::Full } else { length };
        section.blocks.iter_mut().for_each(|block| clean_block(block, length));
        if !section.blocks.is_empty() {
            renderable.push(section);
        }
    }
    renderable
}

/// The blocks of reports of this length, without [`ReportBlock::In`].
fn unwrapped(blocks: Vec<ReportBlock>, length: ReportLength) -> Vec<ReportBlock> {
    let mut kept = Vec::new();
    for block in blocks {
        match block {
            ReportBlock::In(wanted, inner) if wanted == ReportLength::Any || wanted == length => {
                kept.extend(unwrapped(inner, length));
            }
            ReportBlock::In(..) => {}
            ReportBlock::Items(items) if items.is_empty() => {}
            ReportBlock::Group { title, badges, blocks } => {
                kept.push(ReportBlock::Group { title, badges, blocks: unwrapped(blocks, length) });
            }
            ReportBlock::Speech { place, title, badges, blocks } => {
                kept.push(ReportBlock::Speech { place, title, badges, blocks: unwrapped(blocks, length) });
            }
            block => kept.push(block),
        }
    }
    kept
}

/// Cleans all text of a block, so that no renderer has to.
fn clean_block(block: &mut ReportBlock, length: ReportLength) {
    let line = |text: &mut String| *text = clean_line(text);
    let prose = |text: &mut String| *text = clean_text(text).trim().to_owned();
    match block {
        ReportBlock::Prose(text) => prose(text),
        ReportBlock::Line(text) | ReportBlock::Headline(_, text) => line(text),
        ReportBlock::Items(items) => {
            for ReportItem { who, text, note } in items {
                who.iter_mut().chain(note).for_each(line);
                prose(text);
                if length == ReportLength::Short {
                    *text = excerpt(text, ENTRY_CHARS_MAX);
                }
            }
        }
        ReportBlock::Pairs(pairs) => pairs.iter_mut().for_each(|(name, value)| {
            line(name);
            line(value);
        }),
        ReportBlock::Table(rows) => rows.iter_mut().flatten().for_each(line),
        ReportBlock::Group { title, badges, blocks } | ReportBlock::Speech { title, badges, blocks, .. } => {
            line(title);
            badges.iter_mut().for_each(line);
            blocks.iter_mut().for_each(|block| clean_block(block, length));
        }
        ReportBlock::OffPage(blocks) | ReportBlock::In(_, blocks) => {
            blocks.iter_mut().for_each(|block| clean_block(block, length));
        }
        ReportBlock::Cards(cards) => cards.iter_mut().for_each(|card| clean_card(card, line)),
        ReportBlock::Paths(paths) => clean_paths(paths, line),
    }
}

fn clean_card(card: &mut SeatCard, line: impl Fn(&mut String)) {
    let SeatCard { name, id, model, first, last, notes, .. } = card;
    [name, id, model].into_iter().chain(first).chain(last).chain(notes).for_each(line);
}

fn clean_paths(paths: &mut PositionPaths, line: impl Fn(&mut String)) {
    let reworded = paths.reworded.iter_mut().flatten();
    paths.positions.iter_mut().chain(&mut paths.in_full).chain(reworded).for_each(&line);
    for SeatPath { who, steps, .. } in &mut paths.seats {
        line(who);
        steps.iter_mut().flatten().filter_map(|step| step.cited.as_mut()).flatten().for_each(&line);
    }
}
