//! Which position each debater holds after each round of `deep`. Positions are texts, grouped by similarity.

use std::cell::OnceCell;

use agon_core::{
    Corrupt, DecidedPosition, Fate, JudgeMarks, PositionChange, PositionHistory, RoundPositions, SeatPosition,
};

use super::evaluation;
use super::log::{DeepLog, DeepRound};
use super::replies::{Argument, Counterpoint, Revision, Stance};
use super::verdict;
use crate::cited::{Known, OwnWords, cited};
use crate::grouping::{self, Groups};
use crate::lexical;

/// The positions after Stage 1 and after each round that counts.
pub(super) fn positions(log: &DeepLog<'_>) -> Result<PositionHistory, Corrupt> {
    let mut tracker = PositionTracker {
        log,
        groups: Groups::default(),
        current: Vec::new(),
        counterpoints: OnceCell::new(),
    };
    let mut rounds = Vec::new();
    if !log.debaters.is_empty() {
        rounds.push(tracker.first_positions());
        rounds.extend(log.counted().map(|round| tracker.positions_after(round)));
    }
    let decided = tracker.decided_position();
    Ok(PositionHistory {
        are_texts: true,
        rounds,
        decided: decided.map_or(DecidedPosition::Nothing, DecidedPosition::Held),
        marks: marks(log)?,
        near: None,
    })
}

/// Follows every debater's position while the rounds are read.
struct PositionTracker<'l> {
    log: &'l DeepLog<'l>,
    groups: Groups,
    /// For each debater in label order, the name of its position and its confidence.
    current: Vec<(String, Option<f64>)>,
    /// Every counterpoint of the debate. Read when the first debater changes its position.
    counterpoints: OnceCell<Vec<CounterpointWords>>,
}

/// The words of a counterpoint, without those of the question and of its author's own position.
struct CounterpointWords {
    round: u32,
    from: usize,
    to: usize,
    words: OwnWords,
}

impl<'l> PositionTracker<'l> {
    fn first_positions(&mut self) -> RoundPositions {
        for (place, debater) in self.log.debaters.iter().enumerate() {
            let conflicts = self.conflicts(place, 0);
            self.current.push((self.groups.name(&debater.answer, debater.seat, &conflicts), None));
        }
        self.round_positions(0, |_| None)
    }

    fn positions_after(&mut self, round: &DeepRound) -> RoundPositions {
        let mut changes: Vec<Option<PositionChange>> = Vec::new();
        for (place, argument) in round.arguments.iter().enumerate() {
            let changed = argument.as_ref().and_then(|argument| self.change(place, round, argument));
            let stated = argument.as_ref().map(|argument| argument.confidence);
            if let Some((position, confidence)) = self.current.get_mut(place) {
                *confidence = stated.filter(|stated| (0.0..=1.0).contains(stated)).or(*confidence);
                changed.iter().for_each(|(name, _)| position.clone_from(name));
            }
            changes.push(changed.map(|(_, change)| change));
        }
        self.round_positions(round.number, |place| changes.get(place).cloned().flatten())
    }

    /// The name of a debater's new position and what it cites for the change. `None` unless the debater declares a change and
    /// its words differ from before.
    fn change(
        &mut self,
        place: usize,
        round: &DeepRound,
        argument: &Argument,
    ) -> Option<(String, PositionChange)> {
        let (new, seat) = (argument.new_position()?, self.log.debaters.get(place)?.seat);
        let old = self.log.position(place, round.number.checked_sub(1)?);
        if lexical::same_words(new, old) {
            return None;
        }
        let change = PositionChange { cited: self.cited(place, round, argument, new), reason: None };
        let given_up = argument.stance == Stance::Concede || argument.revision == Revision::MajorRevision;
        let conflicts = self.conflicts(place, round.number);
        // A minor update keeps the name of the position, unless the words plainly say something else.
        let name = match self.current.get(place) {
            Some((name, _)) if !given_up => self.groups.update((name, old), new, seat, &conflicts),
            _ => self.groups.name(new, seat, &conflicts),
        };
        Some((name, change))
    }

    /// The seats whose positions differ by declaration from the one that a debater took in a round. The debater argues against
    /// them in that round or in the next, or they argue against it in the next.
    fn conflicts(&self, place: usize, number: u32) -> Vec<&'l str> {
        let argues_against = |number: u32, from: usize, to: usize| {
            let argument = self.log.round(number).and_then(|round| round.arguments.get(from)?.as_ref());
            argument.is_some_and(|argument| self.counterpoints_to(argument, to).next().is_some())
        };
        let next = number + 1;
        let others = self.log.debaters.iter().enumerate().filter(|(other, _)| {
            argues_against(number, place, *other)
                || argues_against(next, place, *other)
                || argues_against(next, *other, place)
        });
        others.map(|(_, debater)| debater.seat).collect()
    }

    /// The counterpoints of an argument that target a debater.
    fn counterpoints_to<'a>(
        &self,
        argument: &'a Argument,
        place: usize,
    ) -> impl Iterator<Item = &'a Counterpoint> + use<'a, 'l> {
        let label = self.log.debaters.get(place).map(|debater| debater.label.as_str());
        let targets_it =
            move |point: &&Counterpoint| label.is_some_and(|label| point.target.ends_with(label));
        argument.counterpoints.iter().filter(targets_it)
    }

    /// What a debater cites for a change: other debaters whose points it adopts, evidence, and earlier counterpoints against it
    /// whose words it now uses. Its own counterpoints argue against others, so they are no reason to change.
    fn cited(&self, place: usize, round: &DeepRound, argument: &Argument, new: &str) -> Vec<String> {
        let text = format!("{}\n{new}", argument.key_points.join("\n"));
        let earlier_text = self.text_before(place, round.number);
        let others = self.log.debaters.iter().enumerate().filter(|(other, _)| *other != place);
        let known = others.fold(Known::default().said_before(&earlier_text), |known, (_, debater)| {
            known.label("Debater", &debater.label)
        });
        let mut named = cited(&text, &known);
        let counterpoints = self.counterpoints.get_or_init(|| self.all_counterpoints());
        let mut received =
            counterpoints.iter().filter(|point| point.to == place && point.round < round.number).peekable();
        if received.peek().is_none() {
            return named;
        }
        let (words, earlier_words) = (OwnWords::of(&text), OwnWords::of(&earlier_text));
        for point in received {
            let Some(debater) = self.log.debaters.get(point.from) else { continue };
            let name = format!("Debater {}", debater.label);
            let their_point = format!("{name}'s point");
            let is_named = named.contains(&name) || named.contains(&their_point);
            if !is_named && words.takes_up(&point.words, &earlier_words) {
                named.push(their_point);
            }
        }
        named
    }

    fn all_counterpoints(&self) -> Vec<CounterpointWords> {
        let question = OwnWords::of(&self.log.debate.brief.question);
        let mut points = Vec::new();
        for round in self.log.counted() {
            for (from, argument) in round.arguments.iter().enumerate() {
                let Some(argument) = argument.as_ref().filter(|argument| !argument.counterpoints.is_empty())
                else {
                    continue;
                };
                let position = OwnWords::of(&grouping::shown(self.log.position(from, round.number)));
                for to in (0..self.log.debaters.len()).filter(|to| *to != from) {
                    points.extend(self.counterpoints_to(argument, to).map(|counterpoint| {
                        let text = format!("{}\n{}", counterpoint.point, counterpoint.evidence);
                        let words = OwnWords::of(&text).without(&question).without(&position);
                        CounterpointWords { round: round.number, from, to, words }
                    }));
                }
            }
        }
        points
    }

    /// What a debater wrote for its own position before a round.
    fn text_before(&self, place: usize, number: u32) -> String {
        let mut texts: Vec<&str> =
            self.log.debaters.get(place).map(|debater| debater.answer.as_ref()).into_iter().collect();
        for round in self.log.rounds.iter().filter(|round| round.number < number) {
            let Some(argument) = round.arguments.get(place).and_then(Option::as_ref) else { continue };
            texts.extend(argument.key_points.iter().map(String::as_str).chain(argument.new_position()));
        }
        texts.join("\n")
    }

    /// The current positions, in seat order.
    fn round_positions(
        &self,
        round: u32,
        change: impl Fn(usize) -> Option<PositionChange>,
    ) -> RoundPositions {
        let seat_position = |seat: &agon_core::Seat| {
            let place = self.log.debaters.iter().position(|debater| debater.seat == seat.id)?;
            let (position, confidence) = self.current.get(place)?.clone();
            let label = self.log.debaters.get(place).map(|debater| debater.label.clone());
            Some(SeatPosition {
                seat: seat.id.clone(),
                label,
                position,
                is_unsorted: false,
                value: None,
                confidence,
                change: change(place),
            })
        };
        let stands = self.log.debate.brief.seats.iter().filter_map(seat_position).collect();
        let positions = RoundPositions { round, stands, ..RoundPositions::default() };
        RoundPositions { ruling: positions.plurality().map(str::to_owned), ..positions }
    }

    /// The name of the position that the answer states. It is the most common position of the debaters whose first answers are
    /// adopted. If there are none, of the debaters whose last words are similar to the answer. Otherwise the answer is a new
    /// position.
    fn decided_position(&mut self) -> Option<String> {
        let log = self.log;
        let answer = &log.synthesis.as_ref()?.answer;
        let (termination, _) = verdict::ending(log);
        let fates = verdict::fates(log, termination);
        let places = || 0..log.debaters.len();
        let last = |place: usize| log.position(place, u32::MAX);
        let is_adopted =
            |place: &usize| fates.get(*place).is_some_and(|position| position.fate == Fate::Adopted);
        let mut holders: Vec<usize> = places().filter(is_adopted).collect();
        if holders.is_empty() {
            holders = places().filter(|place| verdict::is_similar(last(*place), answer)).collect();
        }
        let name = |place: usize| self.current.get(place).map(|(name, _)| name);
        let count = |place: usize| holders.iter().filter(|other| name(**other) == name(place)).count();
        let rank = |place: usize| (count(place), lexical::similarity(last(place), answer));
        let mut best: Option<(usize, (usize, f64))> = None;
        for place in holders.iter().copied() {
            let rank = rank(place);
            if best.is_none_or(|(_, other)| rank > other) {
                best = Some((place, rank));
            }
        }
        let best = best.and_then(|(place, _)| name(place).cloned());
        Some(best.unwrap_or_else(|| self.groups.name(answer, "", &[])))
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
