//! Which score each judge gave after each round, and what a change of it names.

use agon_core::stand::{Change, Held, Marks, Stand, Stands};

use super::figure;
use super::log::{Judge, Log, Round};
use super::verdict::Verdict;
use crate::cited::{self, Known};

/// The scores as the report writes them, of every round in which somebody spoke.
pub(super) fn stands(log: &Log<'_>) -> Stands {
    let mut rounds: Vec<Held> = Vec::new();
    let mut before: Option<&Round> = None;
    for round in log.rounds.iter().filter(|round| round.present() > 0) {
        let stands = (0..log.judges.len()).filter_map(|place| stand(log, place, round, before)).collect();
        let ruling = Verdict::after(log, round).named(round);
        rounds.push(Held { round: round.number, stands, ruling, ..Held::default() });
        before = Some(round);
    }
    let decided = log.debate.outcome.as_ref().zip(log.last());
    let decided = decided.and_then(|(outcome, last)| Verdict::of(log, outcome.termination).named(last));
    let marks = (0..log.judges.len()).filter_map(|place| marks(log, place)).collect();
    // Scores that would be a consensus are one where agreement is counted.
    let near = Some(log.debate.brief.float("consensus_range"));
    Stands { rounds, decided, marks, near, ..Stands::default() }
}

fn stand(log: &Log<'_>, place: usize, round: &Round, before: Option<&Round>) -> Option<Stand> {
    let score = |round: &Round| round.standings.get(place).map(|standing| standing.score);
    let (judge, now) = (log.judges.get(place)?, score(round)?);
    let changed = before.filter(|before| score(before).is_some_and(|then| figure(then) != figure(now)));
    Some(Stand {
        seat: judge.id.to_owned(),
        position: figure(now),
        value: Some(now),
        change: changed.map(|before| Change { cited: reasons(log, place, round, before) }),
        ..Stand::default()
    })
}

/// What a judge names as it changes its score: in the reason that it gives, and in what it says of the critical findings that it
/// takes up or lets go. To dispute a finding moves no score toward anybody.
fn reasons(log: &Log<'_>, place: usize, round: &Round, before: &Round) -> Vec<String> {
    let Some(judge) = log.judges.get(place) else { return Vec::new() };
    let holds = |round: &Round, at: usize| round.standings.get(place).and_then(|s| s.holds.get(at).copied());
    let (mut found, mut words) = (Vec::new(), vec![said(judge, round.number)]);
    for (at, finding) in log.findings.iter().enumerate() {
        let (then, now) = (holds(before, at), holds(round, at));
        if then == now {
            continue;
        }
        if now == Some(true) && is_of_others(&finding.raised_by, place) {
            found.push(format!("[{}]", finding.id));
        }
        let positions = judge.critical_positions(round.number).iter();
        words.extend(positions.filter(|said| said.finding_id == finding.id).map(|said| said.reason.clone()));
    }
    let named = cited::cited(&words.join("\n"), &known(log, place));
    found.extend(named.into_iter().filter(|piece| !found.contains(piece)).collect::<Vec<_>>());
    found
}

/// Why a judge changed its score in a round, in its own words: round 3 has no such field, but the concessions.
fn said(judge: &Judge<'_>, round: u32) -> String {
    let concessions = || judge.last.iter().flat_map(|last| &last.concessions_made);
    match round {
        2 => judge.rebuttal.as_ref().map(|rebuttal| rebuttal.change_reason.clone()).unwrap_or_default(),
        _ => concessions().map(|one| format!("{}\n{}\n", one.convinced_by, one.point)).collect(),
    }
}

/// What a judge can name: the others by id, or by a stance that is not its own, and the findings that they raised.
fn known(log: &Log<'_>, place: usize) -> Known {
    let own = log.judges.get(place).map(|judge| judge.stance);
    let others = log.judges.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, judge)| judge);
    let mut known = Known::default();
    for judge in others {
        known = known.name(judge.id, judge.id);
        if Some(judge.stance) != own {
            known = known.name(judge.stance.called(), judge.stance.called());
        }
    }
    let findings = log.findings.iter().filter(|finding| is_of_others(&finding.raised_by, place));
    findings.fold(known, |known, finding| known.id(&finding.id))
}

fn is_of_others(raised_by: &[usize], place: usize) -> bool {
    raised_by.iter().any(|by| *by != place)
}

/// A judge's scores by dimension, of the last round in which it gave any.
fn marks(log: &Log<'_>, place: usize) -> Option<Marks> {
    let judge = log.judges.get(place)?;
    let keys = || log.rubric.dimensions.iter().map(|dimension| &dimension.key);
    let scored = |round: &&Round| keys().any(|key| judge.dimension(round.number, key).is_some());
    let round = log.rounds.iter().rev().find(scored)?;
    let scores = keys().cloned().zip(round.standings.get(place)?.dimensions.iter().copied()).collect();
    Some(Marks { judge: judge.id.to_owned(), round: round.number, scores, ..Marks::default() })
}
