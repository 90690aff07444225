//! Where the trickster comes in: whose agreement it looks at, and what follows from what it finds.
//!
//! It looks at all proposals where they agree, and at those that win a vote together. What it calls hollow is challenged once in a
//! round; of a winning group that is only known after the vote, so that its challenge comes in the extended round.

use super::convergence::Check;
use super::log::{Held, LAST_REVISION, Log};
use super::trickster::{Argument, Finding, Thresholds, look};
use super::votes::grouped;

/// What the trickster made of one agreement.
#[derive(Debug)]
pub(super) struct Doubt {
    pub(super) round: u32,
    /// Whose agreement it is.
    pub(super) agents: Vec<usize>,
    /// What it found at first.
    pub(super) found: Finding,
    /// What a challenge came to; `None` where none was put.
    pub(super) came_to: Option<Answer>,
    /// What it found when the challenge was answered; `None` where there was nothing to look at.
    pub(super) after: Option<Finding>,
    /// The last stage of proposals that it is about.
    stage: usize,
}

/// What a challenge came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// The agreement is not hollow any more.
    Met,
    /// It still is.
    NotMet,
    /// Those who agreed do not any more.
    Left,
    /// Nobody can say whether they still do.
    Unmeasured,
}

impl Answer {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::NotMet => "not_met",
            Self::Left => "left",
            Self::Unmeasured => "unmeasured",
        }
    }
}

impl Doubt {
    fn new(round: u32, stage: usize, agents: Vec<usize>, found: Finding) -> Self {
        Self { round, agents, found, came_to: None, after: None, stage }
    }

    /// Takes what was said to the challenge.
    fn answered(&mut self, log: &Log<'_>, check: &Check) {
        let broken = is_broken(check, &self.agents);
        let agreed = !broken && is_agreed(check, &self.agents);
        self.stage = check.stage;
        self.after = found(log, check, &self.agents).filter(|_| agreed);
        self.came_to = Some(match &self.after {
            Some(after) if after.hollow => Answer::NotMet,
            Some(_) => Answer::Met,
            None if broken || check.is_measured() => Answer::Left,
            None => Answer::Unmeasured,
        });
    }

    /// Whether the challenge was met; `None` where that is not known, or none was put.
    pub(super) fn met(&self) -> Option<bool> {
        match self.came_to? {
            Answer::Met => Some(true),
            Answer::NotMet => Some(false),
            Answer::Left | Answer::Unmeasured => None,
        }
    }

    /// What was found last, where there was still an agreement.
    fn last(&self) -> Option<&Finding> {
        if self.came_to.is_some() { self.after.as_ref() } else { Some(&self.found) }
    }
}

/// Whether the agreement of all that a vote rests on is hollow. What nobody could measure is as hollow as it was found last, unless
/// somebody left it.
pub(super) fn is_hollow(log: &Log<'_>, check: &Check) -> bool {
    let hollow = |agreed: bool, check: &Check, before: bool| match is_left(log, check) {
        true => false,
        false if agreed => found(log, check, &check.holders()).is_some_and(|finding| finding.hollow),
        false => before && !check.is_measured(),
    };
    let earlier = log.checks.iter().filter(|other| other.stage < check.stage);
    let before = earlier.fold(false, |before, check| hollow(would_count(check), check, before));
    hollow(check.is_alike(), check, before)
}

/// Whether some agree on little who have won a vote together.
pub(super) fn is_hollow_among(log: &Log<'_>, check: &Check, group: &[usize]) -> bool {
    group.len() > 1 && found(log, check, group).is_some_and(|finding| finding.hollow)
}

/// What must be challenged after a check: whose agreement the trickster calls hollow, and why, where it would count and has not been
/// challenged in this round.
pub(super) fn challenge(log: &Log<'_>, check: &Check) -> Option<(Vec<usize>, Finding)> {
    let put = log.stages.iter().any(|stage| stage.name == "challenge" && stage.round == check.round);
    doubted(log, check).filter(|(_, finding)| finding.hollow && !put)
}

/// Everything that the trickster looked at, in order.
pub(super) fn doubts(log: &Log<'_>) -> Vec<Doubt> {
    let mut doubts: Vec<Doubt> = Vec::new();
    for (stage, held) in log.stages.iter().enumerate() {
        let check = log.check_at(stage);
        if let Some(last) = doubts.last_mut().filter(|_| held.name == "challenge") {
            last.answered(log, &check);
        } else {
            let voted = log.polls.iter().any(|poll| poll.stage == stage) && check.is_alike();
            let all = || Some((check.holders(), found(log, &check, &check.holders())?));
            let doubted = doubted(log, &check).or_else(|| all().filter(|_| voted));
            doubts.extend(doubted.map(|(agents, found)| Doubt::new(check.round, stage, agents, found)));
        }
        let poll = log.polls.iter().find(|poll| poll.stage == stage);
        let won = poll.and_then(|poll| Some((poll.round, poll.favoured().filter(|group| group.len() > 1)?)));
        if let Some((round, group)) = won {
            let told = doubts.last().filter(|doubt| doubt.stage == stage).and_then(Doubt::last);
            let is_news = |found: &Finding| told.is_none_or(|told| found.hollow && !told.hollow);
            let news = found(log, &check, group).filter(is_news);
            doubts.extend(news.map(|found| Doubt::new(round, stage, group.to_vec(), found)));
        }
    }
    doubts
}

/// Whose agreement there is to doubt after a check: that of all, where it would count, or that of those whose last victory was hollow.
fn doubted(log: &Log<'_>, check: &Check) -> Option<(Vec<usize>, Finding)> {
    if would_count(check) {
        let all = check.holders();
        return found(log, check, &all).map(|finding| (all, finding));
    }
    let lost = log.polls.iter().rfind(|poll| poll.stage < check.stage).filter(|poll| poll.hollow)?;
    let won = lost.favoured()?;
    let groups = grouped(&check.holders(), |one, other| check.is_same(one, other));
    let mut still =
        groups.into_iter().filter(|group| group.len() > 1 && group.iter().any(|one| won.contains(one)));
    let group = still.next()?;
    found(log, check, &group).map(|finding| (group, finding))
}

/// Whether an agreement of all would end the rounds of revision or go into a vote.
fn would_count(check: &Check) -> bool {
    if check.round <= LAST_REVISION { check.converged } else { check.is_alike() }
}

/// Whether these still agree.
fn is_agreed(check: &Check, agents: &[usize]) -> bool {
    let pairs = agents
        .iter()
        .enumerate()
        .flat_map(|(n, one)| agents.iter().skip(n + 1).map(move |other| (*one, *other)));
    pairs.into_iter().all(|(one, other)| check.is_like(one, other))
}

/// Whether somebody of these says, or shows, that it does not agree with another.
fn is_broken(check: &Check, agents: &[usize]) -> bool {
    let mut pairs = check.conflicts.iter().chain(&check.opposed);
    pairs.any(|(one, other)| agents.contains(one) && agents.contains(other))
}

/// Whether those who agreed do not any more: after a challenge, or where nothing else can tell, it is enough that somebody says so.
fn is_left(log: &Log<'_>, check: &Check) -> bool {
    let challenged = log.stages.get(check.stage).is_some_and(|stage| stage.name == "challenge");
    is_broken(check, &check.holders()) && (challenged || !check.is_measured())
}

fn found(log: &Log<'_>, check: &Check, agents: &[usize]) -> Option<Finding> {
    if !log.debate.brief.flag("trickster") {
        return None;
    }
    let held = &log.stages.get(check.stage)?.held;
    let holders: Vec<(usize, &Held)> =
        agents.iter().filter_map(|place| Some((*place, held.get(*place)?.as_ref()?))).collect();
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
