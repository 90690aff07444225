//! Which debaters hold the same position after each round of `deep`: declared by the moderator, the chair and the debaters themselves,
//! and verified.

use agon_core::{
    Corrupt, DecidedPosition, JudgeMarks, PositionChange, PositionHistory, RoundPositions, SeatPosition,
};

use super::log::DeepLog;
use super::replies::{Argument, RulingFate, declared_groups};
use super::verdict::FinalRulings;
use super::{DeepMode, evaluation};
use crate::quotes::is_same_text;
use crate::sorting::{DeclaredGroup, LabelledText, PositionGroup, PositionNames, Sorting, short_name};

/// Who holds what.
#[derive(Debug, Default)]
pub(super) struct DebatePositions {
    /// After Stage 1 and after each round that counts.
    pub(super) rounds: Vec<RoundPositions>,
    /// The positions at the end, in label order.
    pub(super) last: Vec<FinalPosition>,
}

/// A position at the end of the debate.
#[derive(Debug)]
pub(super) struct FinalPosition {
    /// The id under which the chair rules on it. `None` if the chair sorts and did not place it.
    pub(super) id: Option<String>,
    /// What whoever sorted says that it is.
    pub(super) statement: Option<String>,
    /// The debaters who hold it, by place.
    pub(super) holders: Vec<usize>,
}

impl DebatePositions {
    pub(super) fn read(log: &DeepLog<'_>) -> Self {
        let (mut names, mut positions) = (PositionNames::default(), Self::default());
        let mut numbers = vec![0];
        numbers.extend(log.counted().map(|round| round.number));
        for number in numbers.into_iter().filter(|_| !log.debaters.is_empty()) {
            let declared = declared(log, number);
            let sorting = sorting(log, number, declared.as_deref());
            let (texts, keeps): (Vec<&str>, Vec<bool>) = (0..log.debaters.len())
                .map(|place| (log.position(place, number), !gives_up(log, place, number)))
                .unzip();
            let named = names.next_round(&sorting, &texts, &keeps);
            positions.last = last_positions(log, &sorting, &named, declared.as_deref());
            let statements: Vec<Option<&String>> = (0..log.debaters.len())
                .map(|place| sorting.group_of(place).and_then(|group| group.statement.as_ref()))
                .collect();
            let round = round_positions(log, number, &named, &statements, positions.rounds.last());
            positions.rounds.push(round);
        }
        positions
    }

    /// The positions after a round.
    pub(super) fn round(&self, number: u32) -> Option<&RoundPositions> {
        self.rounds.iter().find(|round| round.round == number)
    }
}

/// The share of pairs of debaters who hold one position. `None` if that is not known.
pub(super) fn agreement(round: &RoundPositions) -> Option<f64> {
    round.pairs_agreeing(None).filter(|_| round.is_sorted())
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
    let places = 0..log.debaters.len();
    let texts: Vec<(String, [&str; 1])> =
        places.map(|place| (log.name(place), [log.position(place, after)])).collect();
    let texts: Vec<LabelledText<'_>> =
        texts.iter().map(|(label, texts)| LabelledText { label, texts }).collect();
    Sorting::verify(declared, &texts, &signed_pairs(log, after), &log.quoted)
}

/// The pairs of which one says that it could sign the other's position. The word counts for the positions that it was given for: the
/// debater's own after that round, and the other's as it was shown, from before that round.
fn signed_pairs(log: &DeepLog<'_>, after: u32) -> Vec<(usize, usize)> {
    let is_same = |place: usize, then: u32| log.position(place, then) == log.position(place, after);
    let mut pairs = Vec::new();
    for round in &log.rounds {
        for (place, verified) in
            round.verified.iter().enumerate().filter(|(place, _)| is_same(*place, round.number))
        {
            let others =
                verified.agrees_with.iter().filter(|other| is_same(**other, round.number.saturating_sub(1)));
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

/// The rounds in which a debater gave up its first position, each with the round in which it took it up again, if it did.
pub(super) fn departures(
    log: &DeepLog<'_>,
    place: usize,
    rounds: &[RoundPositions],
) -> Vec<(u32, Option<u32>)> {
    let held = |round: &RoundPositions| {
        let seat = log.debaters.get(place)?.seat;
        round.of(seat).map(|held| held.position.clone())
    };
    let first = rounds.first().and_then(held);
    let mut departures: Vec<(u32, Option<u32>)> = Vec::new();
    for round in rounds {
        let number = round.round;
        let is_first =
            held(round) == first || is_same_text(log.position(place, 0), log.position(place, number));
        match departures.last_mut() {
            Some((_, back @ None)) => *back = is_first.then_some(number),
            _ if !is_first && gives_up(log, place, number) => departures.push((number, None)),
            _ => {}
        }
    }
    departures
}

/// The positions after a round, in seat order. `statements` say what each debater holds, as whoever sorted puts it.
fn round_positions(
    log: &DeepLog<'_>,
    number: u32,
    named: &[(String, bool)],
    statements: &[Option<&String>],
    before: Option<&RoundPositions>,
) -> RoundPositions {
    let seat_position = |seat: &agon_core::Seat| {
        let place = log.debaters.iter().position(|debater| debater.seat == seat.id)?;
        let (position, is_unsorted) = named.get(place)?.clone();
        let before = before.and_then(|before| before.of(&seat.id));
        let stated = log.argument(number, place).map(|argument| argument.confidence);
        let stated = stated.filter(|stated| (0.0..=1.0).contains(stated));
        // A minor update is no change of mind, even if the moderator now counts it as another position.
        let is_renamed = before.is_some_and(|before| before.position != position);
        let is_revised = is_revised(log, place, number);
        let is_changed = is_revised && (gives_up(log, place, number) || !is_renamed);
        let reworded = statements.get(place).copied().flatten().filter(|_| is_revised && !is_renamed);
        let reworded = reworded.filter(|statement| **statement != position).cloned();
        Some(SeatPosition {
            seat: seat.id.clone(),
            label: log.debaters.get(place).map(|debater| debater.label.clone()),
            position,
            words: None,
            reworded,
            is_unsorted,
            value: None,
            confidence: stated.or(before.and_then(|before| before.confidence)),
            change: is_changed.then(|| change(log, number, place)).flatten(),
        })
    };
    let stands = log.debate.brief.seats.iter().filter_map(seat_position).collect();
    let positions = RoundPositions { round: number, stands, ..RoundPositions::default() };
    RoundPositions { ruling: positions.plurality().map(str::to_owned), ..positions }
}

/// What a debater cites for its change in a round. If nothing of it verifies, the analysis is its reason; nobody else in the debate
/// reads that.
fn change(log: &DeepLog<'_>, number: u32, place: usize) -> Option<PositionChange> {
    let verified = log.round(number)?.verified.get(place)?;
    let analysis = log.argument(number, place)?.analysis.trim();
    let is_reason = verified.cited.is_empty() && !analysis.is_empty();
    Some(PositionChange {
        cited: verified.cited.clone(),
        sources: verified.sources.clone(),
        unverified: verified.unverified.clone(),
        reason: is_reason.then(|| analysis.to_owned()),
    })
}

/// The positions with their ids. If the chair sorts, the ids follow its list; otherwise the order of the debaters.
fn last_positions(
    log: &DeepLog<'_>,
    sorting: &Sorting,
    named: &[(String, bool)],
    declared: Option<&[DeclaredGroup]>,
) -> Vec<FinalPosition> {
    let mut last: Vec<FinalPosition> = Vec::new();
    for (place, (name, _)) in named.iter().enumerate() {
        let known = last.iter_mut().find(|held| {
            held.holders.first().and_then(|first| named.get(*first)).is_some_and(|(other, _)| other == name)
        });
        if let Some(known) = known {
            known.holders.push(place);
            continue;
        }
        let group = sorting.group_of(place);
        let id = match log.options.mode {
            DeepMode::Deep => Some(last.len()),
            _ => declared.zip(group).and_then(|(declared, group)| declared_number(log, declared, group)),
        };
        last.push(FinalPosition {
            id: id.map(|number| format!("P{}", number + 1)),
            statement: group.and_then(|group| group.statement.clone()),
            holders: vec![place],
        });
    }
    last
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
pub(super) fn history(log: &DeepLog<'_>, rulings: &FinalRulings) -> Result<PositionHistory, Corrupt> {
    let decided = decided(log, rulings);
    let rounds = rulings.positions.rounds.clone();
    Ok(PositionHistory { are_texts: true, rounds, decided, marks: marks(log)?, near: None })
}

/// The position that the answer states: the only one that it adopts, or a new one. A position is not adopted if one of its holders
/// dissents from the answer.
pub(super) fn decided(log: &DeepLog<'_>, rulings: &FinalRulings) -> DecidedPosition {
    let Some(synthesis) = &log.synthesis else { return DecidedPosition::Nothing };
    let name = |held: &FinalPosition| {
        let seat = log.debaters.get(*held.holders.first()?)?.seat;
        Some(rulings.positions.rounds.last()?.of(seat)?.position.clone())
    };
    let mut adopted = rulings.positions.last.iter().zip(&rulings.records).filter(|(held, record)| {
        record.fate == Some(RulingFate::Adopted) && !held.holders.iter().any(|place| log.dissents(*place))
    });
    match (adopted.next(), adopted.next()) {
        (Some((held, _)), None) => name(held).map_or(DecidedPosition::Unknown, DecidedPosition::Held),
        (None, _) if rulings.not_settled().next().is_some() => DecidedPosition::Unknown,
        _ => DecidedPosition::New(short_name(&synthesis.answer)),
    }
}

/// The scores of each evaluator of standard mode.
fn marks(log: &DeepLog<'_>) -> Result<Vec<JudgeMarks>, Corrupt> {
    let mut marks: Vec<JudgeMarks> = Vec::new();
    for score in evaluation::scores(log)? {
        let given = (score.answer, score.weighted);
        match marks.iter_mut().find(|marks| marks.judge == score.evaluator) {
            Some(marks) => marks.scores.push(given),
            None => marks.push(JudgeMarks {
                judge: score.evaluator,
                scores: vec![given],
                ..JudgeMarks::default()
            }),
        }
    }
    Ok(marks)
}
