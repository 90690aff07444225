//! What each proposal is called, over all stages: two that say the same have one name.
//!
//! What arena itself measured says which proposals of different authors are the same; where nothing was measured, their words do. An
//! author who says the same as before keeps its name whatever the others do: where two such are found to be the same, they were all
//! along. One who only adds to its proposal keeps its name as well, until it says what others say.

use std::cmp::Reverse;

use agon_core::Corrupt;
use serde::Deserialize;

use super::super::convergence::{Check, is_other};
use super::super::fates;
use super::super::log::{Held, Log, Stage};
use super::super::reply::Likeness;
use super::super::votes::grouped;
use crate::{grouping, lexical};

/// Comparisons with the threshold allow for rounding.
const TOLERANCE: f64 = 1e-9;

/// The names of the proposals of every stage, by place.
#[derive(Debug, Default)]
pub(super) struct Names {
    stages: Vec<Vec<Option<usize>>>,
    /// Every position that there was, in the order in which they came up.
    positions: Vec<Position>,
}

#[derive(Debug)]
struct Position {
    said: String,
    name: String,
}

impl Names {
    pub(super) fn read(log: &Log<'_>) -> Result<Self, Corrupt> {
        let mut naming = Naming {
            log,
            alike_at_first: alike_at_first(log)?,
            names: Self::default(),
            since: vec![""; log.agents.len()],
        };
        for at in 0..log.stages.len() {
            naming.stage(at);
        }
        Ok(naming.names)
    }

    /// What the proposal of a stage is called.
    pub(super) fn of(&self, stage: usize, place: usize) -> Option<&str> {
        let id = self.id(stage, place)?;
        self.positions.get(id).map(|position| position.name.as_str())
    }

    /// A position that was not there before, by a name that no other has.
    fn add(&mut self, said: &str) -> usize {
        let short = grouping::cut(&said.split_whitespace().collect::<Vec<_>>().join(" "));
        let numbered = (2..).map(|number: u32| format!("{short} ({number})"));
        let free = |name: &String| self.positions.iter().all(|other| other.name != *name);
        let name = std::iter::once(short.clone()).chain(numbered).find(free).unwrap_or_default();
        self.positions.push(Position { said: said.to_owned(), name });
        self.positions.len() - 1
    }

    /// Calls one position as another, which came up before it.
    fn unite(&mut self, first: usize, later: usize) {
        let name = |id: usize| self.positions.get(id).map(|position| position.name.clone());
        let (Some(name), Some(left)) = (name(first), name(later)) else { return };
        let same = self.positions.iter_mut().filter(|position| position.name == left);
        same.for_each(|position| position.name.clone_from(&name));
    }

    fn id(&self, stage: usize, place: usize) -> Option<usize> {
        self.stages.get(stage)?.get(place).copied()?
    }
}

struct Naming<'l> {
    log: &'l Log<'l>,
    /// The likeness of the proposals of round 1, by the order of those who made one, where it was measured.
    alike_at_first: Option<Vec<Vec<f64>>>,
    names: Names,
    /// The words with which each took the name that its proposal has.
    since: Vec<&'l str>,
}

/// A name that a proposal still has.
#[derive(Debug, Clone, Copy)]
struct Kept {
    id: usize,
    /// Whether it says the same as before, and not more.
    firm: bool,
}

/// A stage as it is looked at: who kept its name in it, and what was measured.
struct Now<'l> {
    at: usize,
    stage: &'l Stage,
    check: Option<&'l Check>,
    kept: Vec<Option<Kept>>,
}

impl<'l> Now<'l> {
    fn held(&self, place: usize) -> Option<&'l Held> {
        held(self.stage, place)
    }

    fn kept(&self, place: usize) -> Option<Kept> {
        self.kept.get(place).copied().flatten()
    }

    fn firm(&self, place: usize) -> Option<usize> {
        self.kept(place).filter(|kept| kept.firm).map(|kept| kept.id)
    }
}

impl<'l> Naming<'l> {
    fn stage(&mut self, at: usize) {
        let log = self.log;
        let Some(stage) = log.stages.get(at) else { return };
        let check = log.checks.iter().find(|check| check.stage == at);
        let kept = (0..stage.held.len()).map(|place| self.kept(at, place, stage, check)).collect();
        let now = Now { at, stage, check, kept };
        let mut ids: Vec<Option<usize>> = vec![None; stage.held.len()];
        for group in self.groups(&now) {
            self.unite(&now, &group);
            let id = self.name(&now, &group, &ids);
            for place in group {
                let own = now.firm(place).unwrap_or(id);
                ids.get_mut(place).into_iter().for_each(|slot| *slot = Some(own));
            }
        }
        for (place, since) in self.since.iter_mut().enumerate() {
            let before = at.checked_sub(1).and_then(|before| self.names.id(before, place));
            if let Some(held) = now.held(place).filter(|_| ids.get(place).copied().flatten() != before) {
                *since = held.said.position.trim();
            }
        }
        self.names.stages.push(ids);
    }

    /// The name that a proposal had in the stage before, where it still says that.
    fn kept(&self, at: usize, place: usize, stage: &Stage, check: Option<&Check>) -> Option<Kept> {
        let (now, last) = (held(stage, place)?, at.checked_sub(1)?);
        let (id, before) = (self.names.id(last, place)?, held(self.log.stages.get(last)?, place)?);
        let (since, said) = (self.since.get(place)?, now.said.position.trim());
        let stable = || check.is_some_and(|check| check.is_stable(place)) && !is_other(before, now);
        let firm = !now.is_new || fates::is_same(since, said) || stable();
        (firm || fates::is_added_to(since, said)).then_some(Kept { id, firm })
    }

    /// The proposals of a stage, those together that are the same: first those that have a name, then by seat.
    fn groups(&self, now: &Now<'_>) -> Vec<Vec<usize>> {
        let mut seats = self.log.in_seat_order();
        seats.retain(|place| now.held(*place).is_some());
        let seat = |place: usize| seats.iter().position(|other| *other == place);
        let order = |place: &usize| (now.firm(*place).is_none(), now.kept(*place).is_none(), seat(*place));
        let mut groups = grouped(&seats, |one, other| self.is_same(now, one, other));
        groups.iter_mut().for_each(|group| group.sort_by_key(order));
        groups.sort_by_key(|group| group.first().map(order));
        groups
    }

    /// Whether two authors propose the same. The same sentence says the same, whatever else is declared.
    fn is_same(&self, now: &Now<'_>, one: usize, other: usize) -> bool {
        let (Some(own), Some(theirs)) = (now.held(one), now.held(other)) else { return false };
        let (said, others) = (own.said.sentence(), theirs.said.sentence());
        if lexical::same_words(said, others) {
            return true;
        }
        if let Some(check) = now.check.filter(|check| check.is_measured()) {
            let equal = || grouping::is_equal(said, others) && !check.is_apart(one, other);
            return check.is_same(one, other) || equal();
        }
        let alike = match self.likeness_at_first(now, one, other) {
            Some(alike) => alike >= self.log.threshold() - TOLERANCE,
            None => grouping::is_same(said, others),
        };
        alike && !self.is_in_conflict(now.at, one, other) && !is_other(own, theirs)
    }

    /// Whether one of two says that they conflict; in round 1 nobody is asked, so that what they say first counts.
    fn is_in_conflict(&self, at: usize, one: usize, other: usize) -> bool {
        let says = |place: usize, with: usize| {
            let stages = self.log.stages.get(at..).unwrap_or_default().iter();
            let mut said = stages.filter_map(|stage| held(stage, place)?.conflicts.as_ref());
            said.next().is_some_and(|conflicts| conflicts.contains(&with))
        };
        says(one, other) || says(other, one)
    }

    fn likeness_at_first(&self, now: &Now<'_>, one: usize, other: usize) -> Option<f64> {
        let matrix = self.alike_at_first.as_ref().filter(|_| now.at == 0)?;
        let row = |place: usize| now.stage.held.iter().take(place).flatten().count();
        matrix.get(row(one))?.get(row(other)).copied()
    }

    /// Gives one name to the positions of those who say the same as ever and are found to be the same now; not where somebody else
    /// has one of them, nor where they were told apart before.
    fn unite(&mut self, now: &Now<'_>, group: &[usize]) {
        let firm: Vec<(usize, usize)> =
            group.iter().filter_map(|place| Some((*place, now.firm(*place)?))).collect();
        let alone = |id: usize| {
            let holders =
                now.kept.iter().enumerate().filter(|(_, kept)| kept.is_some_and(|kept| kept.id == id));
            holders.into_iter().all(|(place, _)| group.contains(&place))
        };
        let checks = || self.log.checks.iter().filter(|check| check.stage <= now.at);
        let mut pairs = Vec::new();
        for (one, id) in &firm {
            for (other, theirs) in firm.iter().filter(|(_, theirs)| theirs > id) {
                let apart = checks().any(|check| check.is_apart(*one, *other));
                if !apart && alone(*id) && alone(*theirs) {
                    pairs.push((*id, *theirs));
                }
            }
        }
        pairs.into_iter().for_each(|(first, later)| self.names.unite(first, later));
    }

    /// What a group is called: like somebody in it who says the same as before, or else only more, the most held of these; else by
    /// its own words. Nobody takes a name of somebody from whom it is told apart.
    fn name(&mut self, now: &Now<'_>, group: &[usize], ids: &[Option<usize>]) -> usize {
        let is_apart = |id: usize| {
            let holders = ids.iter().enumerate().filter(|(_, other)| **other == Some(id));
            let mut pairs = holders.flat_map(|(other, _)| group.iter().map(move |one| (*one, other)));
            pairs.any(|(one, other)| now.check.is_some_and(|check| check.is_apart(one, other)))
        };
        let before = now.at.checked_sub(1).and_then(|last| self.names.stages.get(last));
        let holders = |id: usize| before.map_or(0, |ids| ids.iter().filter(|one| **one == Some(id)).count());
        let kept = group.iter().filter_map(|place| now.kept(*place));
        let kept = kept.filter(|kept| kept.firm || !is_apart(kept.id));
        let best = kept.min_by_key(|kept| (!kept.firm, Reverse(holders(kept.id)), kept.id));
        match best {
            Some(kept) => kept.id,
            None => self.by_words(now, group, ids),
        }
    }

    /// The name of words that nobody kept: that of an earlier position which they say again, else their own. Whoever holds the
    /// earlier one now was told apart from them, unless the words are the same.
    fn by_words(&mut self, now: &Now<'_>, group: &[usize], ids: &[Option<usize>]) -> usize {
        let said = group.first().and_then(|place| now.held(*place)).map_or("", |held| held.said.sentence());
        let again = |id: usize, earlier: &str| {
            let free = || !ids.contains(&Some(id));
            lexical::same_words(earlier, said) || (free() && grouping::is_same(earlier, said))
        };
        let mut known = self.names.positions.iter().enumerate();
        let found = known.find(|(id, position)| again(*id, &position.said)).map(|(id, _)| id);
        found.unwrap_or_else(|| self.names.add(said))
    }
}

fn held(stage: &Stage, place: usize) -> Option<&Held> {
    stage.held.get(place)?.as_ref()
}

/// How alike the proposals of round 1 are: the first measure looks at them as well, as what was proposed before.
fn alike_at_first(log: &Log<'_>) -> Result<Option<Vec<Vec<f64>>>, Corrupt> {
    let (mut stages, mut found) = (0, None);
    for turn in &log.debate.turns {
        match turn.phase.name.as_str() {
            "propose" | "revise" | "refine" | "challenge" => stages += 1,
            "compare" if stages == 2 && found.is_none() => {
                found = turn.settled().find_map(|(_, reply)| reply.value());
            }
            _ => {}
        }
    }
    let Some(matrix) = found.map(Likeness::deserialize).transpose()? else { return Ok(None) };
    let count = log.stages.first().map_or(0, |stage| stage.held.iter().flatten().count());
    let rows = matrix.similarity.into_iter().skip(count);
    Ok(Some(rows.map(|row| row.into_iter().skip(count).collect()).collect()))
}
