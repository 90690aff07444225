//! The trickster: whether a consensus is hollow, that is, whether it rests on nothing that can be checked.
//!
//! Four signals, each the share of what was said that is weak in one way, with the words that it rests on:
//!
//! - `uncited`: the claims without evidence. An agent without claims asserts its whole proposal, which counts as one claim.
//! - `unverified`: of the ids and quotes that the evidence cites, those that do not verify. An id must be one that the agent was
//!   shown; words in quotation marks beside an id must occur in what the id names.
//! - `copies`: the claims that another agent of the group makes word for word.
//! - `no_reasons`: the votes for the group without a reason.
//!
//! No list of words is used, so the signals work in every language. A signal fires at its threshold and above, but never at 0. A
//! consensus is hollow if `trickster_signals` of them fire.
//!
//! The trickster looks at the agreement of all agents when the proposals converge, and at the group that wins a vote. A hollow
//! agreement is challenged at most once in a round. A winning group is known only after the vote, so its challenge comes in the
//! extended round.

use serde::{Deserialize, Serialize};

use super::log::{ArenaLog, HeldProposal};
use super::replies::ProposalQuote;
use super::voting::VoteRound;
use super::{ArenaOptions, ArenaPhase};
use crate::quotes::is_same_text;

/// What the trickster found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TricksterFinding {
    pub(super) hollow: bool,
    /// All four signals, in the order above.
    pub(super) signals: Vec<WeaknessSignal>,
}

/// A way in which a consensus is weak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SignalKind {
    Uncited,
    Unverified,
    Copies,
    NoReasons,
}

impl SignalKind {
    /// What fired, in words.
    pub(super) fn about(self) -> &'static str {
        match self {
            Self::Uncited => "Claims without evidence",
            Self::Unverified => "Cited ids or quotes that do not exist",
            Self::Copies => "Claims copied word for word from another agent",
            Self::NoReasons => "Votes without a reason",
        }
    }

    fn threshold(self, options: &ArenaOptions) -> f64 {
        match self {
            Self::Uncited => options.trickster_uncited,
            Self::Unverified => options.trickster_unverified,
            Self::Copies => options.trickster_copies,
            Self::NoReasons => options.trickster_no_reasons,
        }
    }
}

/// How weak a consensus is in one way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct WeaknessSignal {
    pub(super) signal: SignalKind,
    /// The share that is weak, from 0 to 1; `None` if there was nothing to look at.
    pub(super) value: Option<f64>,
    pub(super) threshold: f64,
    pub(super) fired: bool,
    /// The words that it rests on.
    pub(super) quotes: Vec<ProposalQuote>,
}

/// The most quotations of one agent for a signal. All of them would be its whole proposal.
const QUOTES_MAX: usize = 3;
/// A quotation is cut here.
const QUOTE_CHARS_MAX: usize = 240;

/// How many are weak, of how many.
#[derive(Default)]
struct WeakShare {
    weak: usize,
    of: usize,
    quotes: Vec<ProposalQuote>,
}

impl WeakShare {
    fn count(&mut self, is_weak: bool, label: &str, quote: &str) {
        self.of += 1;
        if !is_weak {
            return;
        }
        self.weak += 1;
        let quote: String = quote.trim().chars().take(QUOTE_CHARS_MAX).collect();
        let own = self.quotes.iter().filter(|other| other.label == label);
        let is_new = own.clone().all(|other| other.quote != quote);
        if is_new && own.count() < QUOTES_MAX && !quote.is_empty() {
            self.quotes.push(ProposalQuote { label: label.to_owned(), quote });
        }
    }

    fn signal(self, signal: SignalKind, options: &ArenaOptions) -> WeaknessSignal {
        let threshold = signal.threshold(options);
        let value = (self.of > 0).then(|| self.weak as f64 / self.of as f64);
        let fired = value.is_some_and(|value| value > 0.0 && value >= threshold);
        WeaknessSignal { signal, value, threshold, fired, quotes: self.quotes }
    }
}

/// Looks at the claims of a group of agents, and at the votes for it; `None` without a trickster.
pub(super) fn examine(
    log: &ArenaLog<'_>,
    stage: usize,
    group: &[usize],
    vote: Option<&VoteRound>,
) -> Option<TricksterFinding> {
    let stage = log.stages.get(stage).filter(|_| log.options.trickster)?;
    let holders: Vec<(usize, &HeldProposal)> =
        group.iter().filter_map(|place| Some((*place, stage.held_by(*place)?))).collect();
    let mut no_reasons = WeakShare::default();
    for ballot in vote.into_iter().flat_map(|vote| vote.ballots_for(group)) {
        no_reasons.count(ballot.reason.is_empty(), &ballot.label, "(no reason)");
    }
    let options = &log.options;
    let signals = vec![
        uncited(log, &holders).signal(SignalKind::Uncited, options),
        unverified(log, &holders).signal(SignalKind::Unverified, options),
        copies(log, &holders).signal(SignalKind::Copies, options),
        no_reasons.signal(SignalKind::NoReasons, options),
    ];
    let fired = signals.iter().filter(|signal| signal.fired).count();
    Some(TricksterFinding { hollow: fired > 0 && fired >= options.trickster_signals, signals })
}

/// The claims of an agent, each with its evidence. Without any, its position is its claim.
fn claims(held: &HeldProposal) -> Vec<(&str, &str)> {
    let made = held.said.now.claims.iter().map(|made| (made.claim.trim(), made.evidence.trim()));
    let made: Vec<(&str, &str)> =
        made.filter(|(claim, evidence)| !claim.is_empty() || !evidence.is_empty()).collect();
    if made.is_empty() { vec![(held.said.now.position.as_str(), "")] } else { made }
}

fn uncited(log: &ArenaLog<'_>, holders: &[(usize, &HeldProposal)]) -> WeakShare {
    let mut share = WeakShare::default();
    for (place, held) in holders {
        for (claim, evidence) in claims(held) {
            share.count(!evidence.contains(char::is_alphanumeric), log.label(*place), claim);
        }
    }
    share
}

fn unverified(log: &ArenaLog<'_>, holders: &[(usize, &HeldProposal)]) -> WeakShare {
    let mut share = WeakShare::default();
    for (place, held) in holders {
        let shown = log.ids_shown(*place, held.round);
        for (_, evidence) in claims(held) {
            for id in log.evidence_ids(evidence) {
                share.count(!shown.contains(&id.as_str()), log.label(*place), evidence);
            }
            for (_, is_found) in log.evidence_quotes(evidence) {
                share.count(!is_found, log.label(*place), evidence);
            }
        }
    }
    share
}

fn copies(log: &ArenaLog<'_>, holders: &[(usize, &HeldProposal)]) -> WeakShare {
    let mut share = WeakShare::default();
    for (place, held) in holders.iter().filter(|_| holders.len() > 1) {
        let others = || holders.iter().filter(|(other, _)| other != place).flat_map(|(_, held)| claims(held));
        for (claim, _) in claims(held) {
            let is_copy = others().any(|(other, _)| is_same_text(claim, other));
            share.count(is_copy, log.label(*place), claim);
        }
    }
    share
}

/// What a challenge came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChallengeResult {
    /// The agreement is no longer hollow.
    Met,
    /// It is still hollow.
    NotMet,
    /// The agents no longer agree.
    Left,
    /// Nobody said whether they still agree.
    Unknown,
}

/// An agreement that the trickster looked at.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct ArenaAgreement {
    pub(super) round: u32,
    pub(super) hollow: bool,
    pub(super) agents: Vec<String>,
    pub(super) challenged: bool,
    pub(super) came_to: Option<ChallengeResult>,
    pub(super) met: Option<bool>,
    pub(super) signals: Vec<WeaknessSignal>,
    /// The signals after the challenge.
    pub(super) after: Option<Vec<WeaknessSignal>>,
}

impl ArenaAgreement {
    fn new(log: &ArenaLog<'_>, round: u32, agents: &[usize], found: TricksterFinding) -> Self {
        let TricksterFinding { hollow, signals } = found;
        Self { round, hollow, agents: log.labels(agents), signals, ..Self::default() }
    }

    /// Adds what the agents answered to the challenge.
    fn add_answer(&mut self, log: &ArenaLog<'_>, stage: usize) {
        let agents: Vec<usize> = self.agents.iter().filter_map(|label| log.place(label)).collect();
        let check = log.check_of(stage);
        let agrees = match agents.len() == log.proposers().len() {
            true => check.is_some_and(|check| check.converged),
            false => log.same_groups(stage).iter().any(|group| agents.iter().all(|one| group.contains(one))),
        };
        let is_unknown = check.is_none_or(|check| check.sorted_by.is_none() && check.conflicts.is_empty());
        let after = examine(log, stage, &agents, None).filter(|_| agrees);
        let came_to = match &after {
            Some(after) if after.hollow => ChallengeResult::NotMet,
            Some(_) => ChallengeResult::Met,
            None if is_unknown => ChallengeResult::Unknown,
            None => ChallengeResult::Left,
        };
        self.challenged = true;
        self.came_to = Some(came_to);
        self.met = after.as_ref().map(|after| !after.hollow);
        self.after = after.map(|after| after.signals);
    }
}

/// Whether the proposals of a stage converged and the agreement is hollow.
pub(super) fn is_hollow_agreement(log: &ArenaLog<'_>, stage: usize) -> bool {
    let converged = log.check_of(stage).is_some_and(|check| check.converged);
    converged && examine(log, stage, &log.proposers(), None).is_some_and(|finding| finding.hollow)
}

/// The challenge that is due: the agents of a hollow agreement that was not challenged in this round, and what was found.
pub(super) fn due_challenge(log: &ArenaLog<'_>) -> Option<(Vec<usize>, TricksterFinding)> {
    let (stage, last) = log.stages.iter().enumerate().next_back()?;
    let is_challenged =
        log.stages.iter().any(|one| one.phase == ArenaPhase::Challenge && one.round == last.round);
    doubtful_agreement(log, stage).filter(|(_, finding)| finding.hollow && !is_challenged)
}

/// Every agreement that the trickster looked at, in order.
pub(super) fn reviews(log: &ArenaLog<'_>) -> Vec<ArenaAgreement> {
    let mut reviews: Vec<ArenaAgreement> = Vec::new();
    for (at, stage) in log.stages.iter().enumerate() {
        if let Some(last) = reviews.last_mut().filter(|_| stage.phase == ArenaPhase::Challenge) {
            last.add_answer(log, at);
        } else if let Some((agents, found)) = doubtful_agreement(log, at) {
            reviews.push(ArenaAgreement::new(log, stage.round, &agents, found));
        }
        for vote in log.votes.iter().filter(|vote| vote.stage == at) {
            let Some(group) = vote.favoured() else { continue };
            let found = examine(log, at, group, Some(vote));
            reviews.extend(found.map(|found| ArenaAgreement::new(log, vote.round, group, found)));
        }
    }
    reviews
}

/// The agreement to doubt after a stage: that of all agents if they converged, else that of the group whose last victory was hollow.
fn doubtful_agreement(log: &ArenaLog<'_>, stage: usize) -> Option<(Vec<usize>, TricksterFinding)> {
    let won = || {
        let hollow = log.votes.iter().rfind(|vote| vote.stage < stage).filter(|vote| vote.hollow)?;
        let won = hollow.favoured()?;
        log.same_groups(stage).into_iter().find(|group| group.iter().any(|one| won.contains(one)))
    };
    let group = match log.check_of(stage).is_some_and(|check| check.converged) {
        true => log.proposers(),
        false => won()?,
    };
    examine(log, stage, &group, None).map(|finding| (group, finding))
}
