//! Which debaters hold the same position after each round of `deep`: declared by the moderator, the chair and the debaters themselves,
//! and verified.

use agon_core::{
    Corrupt, DecidedPosition, JudgeMarks, PositionChange, PositionHistory, RoundPositions, SeatPosition,
};

use super::log::{DeepLog, is_id};
use super::replies::{Argument, RulingFate, declared_groups};
use super::verdict::PositionRecord;
use super::{DeepMode, evaluation};
use crate::quotes::is_same_text;
use crate::sorting::{DeclaredGroup, LabelledText, PositionGroup, PositionNames, Sorting, short_name};

/// Who holds what.
#[derive(Debug, Default)]
pub(super) struct DebatePositions {
    /// After Stage 1 and after each round that counts.
    pub(super) rounds: Vec<RoundPositions>,
    /// The positions at the end, in label order.
    pub(super) last: Vec<PositionRecord>,
}

impl DebatePositions {
    pub(super) fn read(log: &DeepLog<'_>) -> Self {
        let (mut names, mut positions) = (PositionNames::default(), Self::default());
        let counted = log.counted().map(|round| round.number);
        for number in std::iter::once(0).chain(counted).filter(|_| !log.debaters.is_empty()) {
            let declared = declared(log, number);
            let sorting = sorting(log, number, declared.as_deref());
            let places = 0..log.debaters.len();
            let texts: Vec<&str> = places.clone().map(|place| log.position(place, number)).collect();
            let keeps: Vec<bool> = places.map(|place| !gives_up(log, place, number)).collect();
            let named = names.next_round(&sorting, &texts, &keeps);
            if number == log.rounds_completed() {
                positions.last = last_positions(log, &sorting, &named, declared.as_deref());
            }
            let round = round_positions(log, number, &named, &sorting, positions.rounds.last());
            positions.rounds.push(round);
        }
        positions
    }

    /// The positions after a round.
    pub(super) fn round(&self, number: u32) -> Option<&RoundPositions> {
        self.rounds.iter().find(|round| round.round == number)
    }

    /// The share of pairs of debaters who hold one position after a round. `None` if that is not known.
    pub(super) fn agreement(&self, number: u32) -> Option<f64> {
        self.round(number).filter(|round| round.is_sorted())?.pairs_agreeing(None)
    }

    /// The position that a debater holds at the end.
    pub(super) fn held_by(&self, place: usize) -> Option<&PositionRecord> {
        self.last.iter().find(|held| held.holders.contains(&place))
    }

    /// The positions that the chair does not rule on.
    pub(super) fn not_settled(&self) -> impl Iterator<Item = &PositionRecord> {
        self.last.iter().filter(|held| held.fate.is_none())
    }
}

/// The groups that a seat declares for the positions after a round. Without rounds the chair declares them.
fn declared(log: &DeepLog<'_>, after: u32) -> Option<Vec<DeclaredGroup>> {
    let assessment = |number: u32| log.round(number).and_then(|round| round.assessment.as_ref());
    match (log.options.mode, after) {
        (DeepMode::Deep, 0) => declared_groups(&assessment(1)?.first_positions),
        (DeepMode::Deep, after) => declared_groups(&assessment(after)?.positions),
        _ => declared_groups(&log.synthesis.as_ref()?.positions),
    }
}

/// What does not verify in the groups that are declared for the positions after a round.
pub(super) fn sorting_faults(log: &DeepLog<'_>, after: u32) -> Vec<String> {
    sorting(log, after, declared(log, after).as_deref()).faults
}

fn sorting(log: &DeepLog<'_>, after: u32, declared: Option<&[DeclaredGroup]>) -> Sorting {
    let texts = log.debaters.iter().enumerate();
    let texts =
        texts.map(|(place, debater)| LabelledText { label: &debater.name, text: log.position(place, after) });
    Sorting::verify(declared, &texts.collect::<Vec<_>>(), &signed_pairs(log, after), &log.quoted)
}

/// The pairs of which one says that it could sign the other's position. The word counts for the positions that it was given for: the
/// debater's own after that round, and the other's as it was shown, from before that round.
fn signed_pairs(log: &DeepLog<'_>, after: u32) -> Vec<(usize, usize)> {
    let is_same = |place: usize, then: u32| log.position(place, then) == log.position(place, after);
    let mut pairs = Vec::new();
    for round in &log.rounds {
        let (now, before) = (round.number, round.number.saturating_sub(1));
        for (place, verified) in round.verified.iter().enumerate().filter(|(place, _)| is_same(*place, now)) {
            let others = verified.agrees_with.iter().filter(|other| is_same(**other, before));
            pairs.extend(others.map(|other| (place, *other)));
        }
    }
    pairs
}

/// Whether a debater takes other words for its position in a round, and declares that it gives the old one up.
pub(super) fn gives_up(log: &DeepLog<'_>, place: usize, number: u32) -> bool {
    log.argument(number, place).is_some_and(Argument::gives_up) && is_revised(log, place, number)
}

pub(super) fn is_revised(log: &DeepLog<'_>, place: usize, number: u32) -> bool {
    number > 0 && !is_same_text(log.position(place, number), log.position(place, number - 1))
}

/// The round in which a debater gave up its first position for good.
pub(super) fn given_up_in(log: &DeepLog<'_>, place: usize, rounds: &[RoundPositions]) -> Option<u32> {
    fn name<'r>(round: &'r RoundPositions, seat: &str) -> Option<&'r str> {
        round.of(seat).map(|held| held.position.as_str())
    }
    let seat = &log.debaters.get(place)?.seat.id;
    let first = rounds.first().and_then(|round| name(round, seat));
    rounds.iter().fold(None, |left, round| {
        let number = round.round;
        let is_same_words = || is_same_text(log.position(place, 0), log.position(place, number));
        match name(round, seat) == first || is_same_words() {
            true => None,
            false => left.or_else(|| gives_up(log, place, number).then_some(number)),
        }
    })
}

/// The positions after a round, in seat order.
fn round_positions(
    log: &DeepLog<'_>,
    number: u32,
    named: &[(String, bool)],
    sorting: &Sorting,
    before: Option<&RoundPositions>,
) -> RoundPositions {
    let seat_position = |place: usize| {
        let debater = log.debaters.get(place)?;
        let (position, is_unsorted) = named.get(place)?.clone();
        let (before_all, before) = (before, before.and_then(|before| before.of(&debater.seat.id)));
        let stated = log.argument(number, place).map(|argument| argument.confidence);
        let stated = stated.filter(|stated| (0.0..=1.0).contains(stated));
        // A minor update is no change of mind, even if the moderator now counts it as another position.
        let is_renamed = before.is_some_and(|before| before.position != position);
        let is_revised = is_revised(log, place, number);
        let is_changed = is_revised && (gives_up(log, place, number) || !is_renamed);
        // Who joins a position that another debater held before does so in words of its own.
        let is_anothers =
            before_all.is_some_and(|before| before.stands.iter().any(|held| held.position == position));
        let statement = sorting.group_of(place).and_then(|group| group.statement.as_ref());
        let reworded = statement.filter(|statement| is_revised && !is_renamed && **statement != position);
        Some(SeatPosition {
            seat: debater.seat.id.clone(),
            label: Some(debater.label.clone()),
            words: (is_renamed && is_anothers).then(|| log.position(place, number).to_owned()),
            reworded: reworded.cloned(),
            is_unsorted,
            confidence: stated.or(before.and_then(|before| before.confidence)),
            change: is_changed.then(|| change(log, number, place)).flatten(),
            position,
            ..SeatPosition::default()
        })
    };
    let stands = log.in_seat_order().filter_map(seat_position).collect();
    let positions = RoundPositions { round: number, stands, ..RoundPositions::default() };
    RoundPositions { ruling: positions.plurality().map(str::to_owned), ..positions }
}

/// What a debater cites for its change in a round. If nothing of it verifies, the analysis is its reason; nobody else in the debate
/// reads that.
fn change(log: &DeepLog<'_>, number: u32, place: usize) -> Option<PositionChange> {
    let cause = &log.round(number)?.verified.get(place)?.cause;
    let analysis = log.argument(number, place)?.analysis.trim();
    let is_reason = cause.cited.is_empty() && !analysis.is_empty();
    Some(PositionChange { reason: is_reason.then(|| analysis.to_owned()), ..cause.clone() })
}

/// The positions with their ids. If the chair sorts, the ids follow its list; otherwise the order of the debaters.
fn last_positions(
    log: &DeepLog<'_>,
    sorting: &Sorting,
    named: &[(String, bool)],
    declared: Option<&[DeclaredGroup]>,
) -> Vec<PositionRecord> {
    let mut last: Vec<(&str, PositionRecord)> = Vec::new();
    for (place, (name, _)) in named.iter().enumerate() {
        let label = log.label(place).to_owned();
        if let Some((_, known)) = last.iter_mut().find(|(other, _)| other == name) {
            known.holders.push(place);
            known.debaters.push(label);
            continue;
        }
        let group = sorting.group_of(place);
        let number = match log.options.mode {
            DeepMode::Deep => Some(last.len()),
            _ => declared.zip(group).and_then(|(declared, group)| declared_number(log, declared, group)),
        };
        let id = number.map(|number| format!("P{}", number + 1));
        let rulings = log.synthesis.iter().flat_map(|synthesis| &synthesis.fates);
        let mut rulings = rulings.filter(|ruling| id.as_ref().is_some_and(|id| is_id(&ruling.position, id)));
        // Two rulings on one position do not verify.
        let ruling = rulings.next().filter(|_| rulings.next().is_none());
        let reason = ruling.map(|ruling| ruling.reason.trim().to_owned());
        let stated = group.and_then(|group| group.statement.clone());
        let record = PositionRecord {
            is_stated: stated.is_some(),
            statement: stated.unwrap_or_else(|| short_name(log.position(place, u32::MAX))),
            debaters: vec![label],
            holders: vec![place],
            fate: ruling.map(|ruling| ruling.fate),
            reason: reason.filter(|reason| !reason.is_empty()),
            position: id,
        };
        last.push((name, record));
    }
    last.into_iter().map(|(_, position)| position).collect()
}

/// Which declared group became this one.
fn declared_number(log: &DeepLog<'_>, declared: &[DeclaredGroup], group: &PositionGroup) -> Option<usize> {
    let has_member = |(label, _): &(String, String)| {
        log.place_of(label).is_some_and(|place| group.members.contains(&place))
    };
    let statement = group.statement.as_deref()?;
    declared.iter().position(|one| one.statement.trim() == statement && one.members.iter().any(has_member))
}

/// The positions for every measure.
pub(super) fn history(log: &DeepLog<'_>, positions: DebatePositions) -> Result<PositionHistory, Corrupt> {
    let decided = decided(log, &positions);
    Ok(PositionHistory { are_texts: true, rounds: positions.rounds, decided, marks: marks(log)?, near: None })
}

/// The position that the answer states: the only one that it adopts, or a new one. A position is not adopted if one of its holders
/// dissents from the answer.
fn decided(log: &DeepLog<'_>, positions: &DebatePositions) -> DecidedPosition {
    let Some(synthesis) = &log.synthesis else { return DecidedPosition::Nothing };
    let name = |held: &PositionRecord| {
        let seat = &log.debaters.get(*held.holders.first()?)?.seat.id;
        Some(positions.rounds.last()?.of(seat)?.position.clone())
    };
    let mut adopted = positions.last.iter().filter(|held| {
        held.fate == Some(RulingFate::Adopted) && !held.holders.iter().any(|place| log.dissents(*place))
    });
    match (adopted.next(), adopted.next()) {
        (Some(held), None) => name(held).map_or(DecidedPosition::Unknown, DecidedPosition::Held),
        (None, _) if positions.not_settled().next().is_some() => DecidedPosition::Unknown,
        _ => DecidedPosition::New(short_name(&synthesis.answer)),
    }
}

/// The scores of each evaluator of standard mode.
fn marks(log: &DeepLog<'_>) -> Result<Vec<JudgeMarks>, Corrupt> {
    let scores = evaluation::scores(log)?;
    let of_one = scores.chunk_by(|score, next| score.evaluator == next.evaluator);
    let marks = of_one.filter_map(|given| {
        Some(JudgeMarks {
            judge: given.first()?.evaluator.clone(),
            scores: given.iter().map(|score| (score.answer.clone(), score.weighted)).collect(),
            ..JudgeMarks::default()
        })
    });
    Ok(marks.collect())
}
