//! What later debates may know of one.

use agon_core::lesson::{Ballot, Claim, Decision, Lesson, Part, Rated};
use agon_core::{Fate, Position};

use super::ending::{self, Winner};
use super::log::Log;
use super::poll::Poll;
use super::ratings;

/// The lesson of a debate in which enough agents voted. A branch asks what if, and leaves none: a debate that was branched often would
/// else be learnt often.
pub(super) fn lesson(log: &Log<'_>, positions: &[Position]) -> Option<Lesson> {
    if log.is_branch() {
        return None;
    }
    let poll = log.polls.last().filter(|poll| poll.is_quorum())?;
    let winner = ending::winner(log);
    let rated = ratings::rated(log);
    let parts =
        log.in_seat_order().into_iter().filter_map(|place| part(log, poll, winner.as_ref(), &rated, place));
    let parts = parts.collect();
    let decision = winner.and_then(|winner| decision(log, poll, &winner, positions));
    Some(Lesson { decision, parts })
}

fn decision(log: &Log<'_>, poll: &Poll, winner: &Winner, positions: &[Position]) -> Option<Decision> {
    let held = log.proposal(winner.place)?;
    let minority = positions.iter().filter(|position| position.fate == Fate::Minority);
    let dissent = minority.filter_map(|position| {
        let place = log.place(position.label.as_deref()?)?;
        Some(log.proposal(place)?.said.position.trim().to_owned())
    });
    let claims = held.said.claims.iter();
    Some(Decision {
        position: held.said.position.trim().to_owned(),
        answer: held.said.proposal.trim().to_owned(),
        claims: claims
            .map(|made| Claim { claim: made.claim.clone(), evidence: made.evidence.clone() })
            .collect(),
        share: poll.share(&winner.group).unwrap_or_default(),
        dissent: dissent.collect(),
        labels: strings(log, &winner.group),
    })
}

fn part(
    log: &Log<'_>,
    poll: &Poll,
    winner: Option<&Winner>,
    rated: &[ratings::Rated],
    place: usize,
) -> Option<Part> {
    let agent = log.agents.get(place)?;
    let held = log.proposal(place);
    let seat = |place: usize| log.agents.get(place).map(|agent| agent.seat.id.clone());
    let rated = rated.iter().find(|rated| rated.place == place).map(|rated| Rated {
        before: rated.before,
        change: rated.change,
        against: rated.against.iter().filter_map(|(other, how)| Some((seat(*other)?, *how))).collect(),
    });
    let ballot = poll.ballots.get(place)?.as_ref();
    let ballot = ballot.and_then(|ballot| {
        let choice = strings(log, poll.group(ballot.choice?));
        Some(Ballot { choice, confidence: ballot.confidence })
    });
    Some(Part {
        seat: agent.seat.id.clone(),
        label: agent.label.clone(),
        agent: log.speaker(&agent.seat.id),
        position: held.map(|held| held.said.position.trim().to_owned()),
        confidence: held.map(|held| held.said.confidence),
        won: winner.is_some_and(|winner| winner.group.contains(&place)),
        score: ending::judged(log).and_then(|judged| judged.score(place)),
        rated,
        ballot,
    })
}

fn strings(log: &Log<'_>, places: &[usize]) -> Vec<String> {
    log.labels(places).into_iter().map(str::to_owned).collect()
}
