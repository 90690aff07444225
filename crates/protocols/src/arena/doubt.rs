//! Where the trickster comes in: whose agreement it looks at, and what follows from what it finds.

use super::convergence::Check;
use super::log::{Held, LAST_REVISION, Log};
use super::trickster::{Argument, Finding, Thresholds, look};

/// What the trickster made of one round.
#[derive(Debug)]
pub(super) struct Doubt {
    pub(super) round: u32,
    /// What it found at first.
    pub(super) found: Finding,
    /// Whether a challenge was put.
    pub(super) challenged: bool,
    /// What it found when the challenge was answered; `None` where no agreement was left to look at, or nothing was put.
    pub(super) after: Option<Finding>,
}

impl Doubt {
    /// Whether the challenge was met; `None` where none was put.
    pub(super) fn met(&self) -> Option<bool> {
        self.challenged.then(|| self.after.as_ref().is_none_or(|after| !after.hollow))
    }
}

/// Whether the agreement that a vote rests on is hollow.
pub(super) fn is_hollow(log: &Log<'_>, check: &Check) -> bool {
    found(log, check, check.is_alike()).is_some_and(|finding| finding.hollow)
}

/// What must be challenged after a check: the trickster's finding, where it calls an agreement hollow that would count, and has not
/// been answered in this round.
pub(super) fn challenge(log: &Log<'_>, check: &Check) -> Option<Finding> {
    let put = log.stages.iter().any(|stage| stage.name == "challenge" && stage.round == check.round);
    found(log, check, would_count(check)).filter(|finding| finding.hollow && !put)
}

/// Everything that the trickster looked at, round by round.
pub(super) fn doubts(log: &Log<'_>) -> Vec<Doubt> {
    let mut doubts: Vec<Doubt> = Vec::new();
    for check in &log.checks {
        let voted = log.polls.iter().any(|poll| poll.stage == check.stage);
        let finding = found(log, check, would_count(check) || (voted && check.is_alike()));
        let challenged = log.stages.get(check.stage + 1).is_some_and(|stage| stage.name == "challenge");
        match (doubts.last_mut().filter(|last| last.round == check.round && last.challenged), finding) {
            (Some(last), finding) => last.after = finding,
            (None, Some(found)) => {
                doubts.push(Doubt { round: check.round, found, challenged, after: None });
            }
            (None, None) => {}
        }
    }
    doubts
}

/// Whether an agreement would end the rounds of revision or go into a vote.
fn would_count(check: &Check) -> bool {
    if check.round <= LAST_REVISION { check.converged } else { check.is_alike() }
}

fn found(log: &Log<'_>, check: &Check, wanted: bool) -> Option<Finding> {
    if !wanted || !log.debate.brief.flag("trickster") {
        return None;
    }
    let held = &log.stages.get(check.stage)?.held;
    let holders: Vec<(usize, &Held)> =
        held.iter().enumerate().filter_map(|(place, held)| Some((place, held.as_ref()?))).collect();
    let texts: Vec<String> = holders.iter().map(|(_, held)| held.said.text()).collect();
    let arguments: Vec<Argument<'_>> = holders
        .iter()
        .zip(&texts)
        .map(|((place, held), text)| Argument {
            label: log.label(*place),
            text,
            claims: held
                .said
                .claims
                .iter()
                .map(|made| (made.claim.as_str(), made.evidence.as_str()))
                .collect(),
            addressed: held.said.addressed.iter().map(|answer| answer.how.as_str()).collect(),
            shown: log.shown(*place, held.round),
        })
        .collect();
    let similarity = |one: usize, other: usize| check.similarity(holders.get(one)?.0, holders.get(other)?.0);
    Some(look(&arguments, &similarity, &Thresholds::read(&log.debate.brief)))
}
