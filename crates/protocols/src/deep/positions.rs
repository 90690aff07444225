//! Who held what in each round of `deep`. Texts are grouped by likeness.

use std::cell::OnceCell;

use agon_core::{
    Corrupt, Fate, JudgeMarks, PositionChange, PositionGrouping, PositionHistory, RoundPositions,
    SeatPosition,
};

use super::evaluation;
use super::log::{DeepLog, DeepRound};
use super::replies::{Argument, Counterpoint, Revision, Stance};
use super::verdict;
use crate::cited::{Known, OwnWords, cited};
use crate::grouping::{self, Groups};
use crate::lexical;

/// The positions after Stage 1 and after each round.
pub(super) fn positions(log: &DeepLog<'_>) -> Result<PositionHistory, Corrupt> {
    let mut table =
        PositionTracker { log, groups: Groups::default(), held: Vec::new(), points: OnceCell::new() };
    let mut rounds = Vec::new();
    if !log.debaters.is_empty() {
        rounds.push(table.first());
        rounds.extend(log.counted().map(|round| table.after(round)));
    }
    let decided = table.decided();
    Ok(PositionHistory {
        grouping: PositionGrouping::Similarity,
        rounds,
        decided,
        marks: marks(log)?,
        near: None,
    })
}

/// Where everybody stands while the rounds are read.
struct PositionTracker<'l> {
    log: &'l DeepLog<'l>,
    groups: Groups,
    /// By place: the name of its position, and how sure it is.
    held: Vec<(String, Option<f64>)>,
    /// Every counterpoint; read when somebody changes its position.
    points: OnceCell<Vec<CounterpointWords>>,
}

/// What a debater holds against another, in the words that are its own: neither the question's nor those of its position.
struct CounterpointWords {
    round: u32,
    from: usize,
    to: usize,
    words: OwnWords,
}

impl<'l> PositionTracker<'l> {
    /// The Stage 1 answers.
    fn first(&mut self) -> RoundPositions {
        for (place, debater) in self.log.debaters.iter().enumerate() {
            let conflicts = self.conflicts(place, 0);
            self.held.push((self.groups.name(&debater.answer, debater.seat, &conflicts), None));
        }
        self.standing(0, |_| None)
    }

    fn after(&mut self, round: &DeepRound) -> RoundPositions {
        let mut changes: Vec<Option<PositionChange>> = Vec::new();
        for (place, argument) in round.arguments.iter().enumerate() {
            let changed = argument.as_ref().and_then(|argument| self.change(place, round, argument));
            let sure = argument.as_ref().map(|argument| argument.confidence);
            if let Some((held, confidence)) = self.held.get_mut(place) {
                *confidence = sure.filter(|sure| (0.0..=1.0).contains(sure)).or(*confidence);
                changed.iter().for_each(|(name, _)| held.clone_from(name));
            }
            changes.push(changed.map(|(_, change)| change));
        }
        self.standing(round.number, |place| changes.get(place).cloned().flatten())
    }

    /// The new position's name and what is given for it, where a debater declares a change and its words are others.
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
        let change = PositionChange { cited: self.cited(place, round, argument, new) };
        let given_up = argument.stance == Stance::Concede || argument.revision == Revision::MajorRevision;
        let conflicts = self.conflicts(place, round.number);
        // Who calls its update minor holds what it held, unless the words plainly say otherwise.
        let name = match self.held.get(place) {
            Some((name, _)) if !given_up => self.groups.update((name, old), new, seat, &conflicts),
            _ => self.groups.name(new, seat, &conflicts),
        };
        Some((name, change))
    }

    /// Whose positions are declared to be others than the one that a debater took in a round: those against which it argues as it
    /// takes it, and those with whom it argues next.
    fn conflicts(&self, place: usize, number: u32) -> Vec<&'l str> {
        let aims = |number: u32, from: usize, at: usize| {
            let said = self.log.round(number).and_then(|round| round.arguments.get(from)?.as_ref());
            said.is_some_and(|said| self.against(said, at).next().is_some())
        };
        let next = number + 1;
        let others = self.log.debaters.iter().enumerate().filter(|(other, _)| {
            aims(number, place, *other) || aims(next, place, *other) || aims(next, *other, place)
        });
        others.map(|(_, debater)| debater.seat).collect()
    }

    /// The points that an argument has against a debater.
    fn against<'a>(
        &self,
        argument: &'a Argument,
        place: usize,
    ) -> impl Iterator<Item = &'a Counterpoint> + use<'a, 'l> {
        let label = self.log.debaters.get(place).map(|debater| debater.label.as_str());
        let aimed = move |point: &&Counterpoint| label.is_some_and(|label| point.target.ends_with(label));
        argument.counterpoints.iter().filter(aimed)
    }

    /// What a change names: others whose points it takes, evidence, and points that were made against the debater before and whose
    /// words it takes up. Counterpoints argue against others and name no reason to change.
    fn cited(&self, place: usize, round: &DeepRound, argument: &Argument, new: &str) -> Vec<String> {
        let said = format!("{}\n{new}", argument.key_points.join("\n"));
        let before = self.said_before(place, round.number);
        let others = self.log.debaters.iter().enumerate().filter(|(other, _)| *other != place);
        let known = others.fold(Known::default().said_before(&before), |known, (_, debater)| {
            known.label("Debater", &debater.label)
        });
        let mut named = cited(&said, &known);
        let points = self.points.get_or_init(|| self.points());
        let mut points =
            points.iter().filter(|point| point.to == place && point.round < round.number).peekable();
        if points.peek().is_none() {
            return named;
        }
        let (said, had) = (OwnWords::of(&said), OwnWords::of(&before));
        for point in points {
            let Some(debater) = self.log.debaters.get(point.from) else { continue };
            let name = format!("Debater {}", debater.label);
            let owned = format!("{name}'s point");
            if !named.contains(&name) && !named.contains(&owned) && said.takes_up(&point.words, &had) {
                named.push(owned);
            }
        }
        named
    }

    /// Every counterpoint of the rounds.
    fn points(&self) -> Vec<CounterpointWords> {
        let question = OwnWords::of(&self.log.debate.brief.question);
        let mut points = Vec::new();
        for round in self.log.counted() {
            for (from, argument) in round.arguments.iter().enumerate() {
                let Some(argument) = argument.as_ref().filter(|said| !said.counterpoints.is_empty()) else {
                    continue;
                };
                let position = OwnWords::of(&grouping::shown(self.log.position(from, round.number)));
                for to in (0..self.log.debaters.len()).filter(|to| *to != from) {
                    points.extend(self.against(argument, to).map(|made| {
                        let words = OwnWords::of(&format!("{}\n{}", made.point, made.evidence));
                        let words = words.without(&question).without(&position);
                        CounterpointWords { round: round.number, from, to, words }
                    }));
                }
            }
        }
        points
    }

    /// What a debater said of its own position before a round.
    fn said_before(&self, place: usize, number: u32) -> String {
        let mut said: Vec<&str> =
            self.log.debaters.get(place).map(|debater| debater.answer.as_ref()).into_iter().collect();
        for round in self.log.rounds.iter().filter(|round| round.number < number) {
            let Some(argument) = round.arguments.get(place).and_then(Option::as_ref) else { continue };
            said.extend(argument.key_points.iter().map(String::as_str).chain(argument.new_position()));
        }
        said.join("\n")
    }

    /// Everybody in seat order.
    fn standing(&self, round: u32, change: impl Fn(usize) -> Option<PositionChange>) -> RoundPositions {
        let stand = |seat: &agon_core::Seat| {
            let place = self.log.debaters.iter().position(|debater| debater.seat == seat.id)?;
            let (position, confidence) = self.held.get(place)?.clone();
            let label = self.log.debaters.get(place).map(|debater| debater.label.clone());
            Some(SeatPosition {
                seat: seat.id.clone(),
                label,
                position,
                value: None,
                confidence,
                change: change(place),
            })
        };
        let stands = self.log.debate.brief.seats.iter().filter_map(stand).collect();
        let held = RoundPositions { round, stands, ..RoundPositions::default() };
        RoundPositions { ruling: held.plurality().map(str::to_owned), ..held }
    }

    /// The position that the answer is: what most of those hold whose first positions it adopts, failing them of those whose last
    /// words it has; else it is a position of its own.
    fn decided(&mut self) -> Option<String> {
        let log = self.log;
        let answer = &log.synthesis.as_ref()?.answer;
        let (termination, _) = verdict::ending(log);
        let fates = verdict::fates(log, termination);
        let places = || 0..log.debaters.len();
        let last = |place: usize| log.position(place, u32::MAX);
        let adopted =
            |place: &usize| fates.get(*place).is_some_and(|position| position.fate == Fate::Adopted);
        let mut holders: Vec<usize> = places().filter(adopted).collect();
        if holders.is_empty() {
            holders = places().filter(|place| verdict::is_like(last(*place), answer)).collect();
        }
        let name = |place: usize| self.held.get(place).map(|(name, _)| name);
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

/// What the evaluators of standard mode gave, each in one order.
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
