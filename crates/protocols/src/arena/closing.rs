//! When a debate is over, who has won, and the outcome: the fates of the first positions, the lesson and the warnings.

use agon_core::lesson::{EvidencedClaim, LessonBallot, LessonDecision, LessonSeat, RatingChange};
use agon_core::wording::rounds;
use agon_core::{
    Corrupt, DebateLesson, Fate, Fidelity, Outcome, PhaseTurn, PositionFate, Status, Step, Termination,
};
use serde::{Deserialize, Serialize};

use super::log::{ArenaLog, HeldProposal};
use super::verdict::ArenaVerdict;
use super::voting::{self, JudgeResult, RatedSeat, SCORE_TOLERANCE, VoteRound};
use super::{ArenaPhase, CLERK_CALLS, DecidedBy, PROPOSALS_MIN, context, team};
use crate::clerk::CLERK;
use crate::limits::LimitCheck;
use crate::participation;
use crate::quotes::is_same_text;

/// Closes the debate.
pub(super) fn close(log: &ArenaLog<'_>) -> Result<Step, Corrupt> {
    let (termination, status) = ending(log);
    let positions = position_fates(log);
    let is_full = log.debate.absences().next().is_none()
        && participation::cut_off_warnings(log.debate).is_empty()
        && !is_limited(log)
        && status == Status::Complete;
    let labels = log.agents.iter().map(|agent| (agent.label.clone(), agent.seat.id.clone()));
    let dissent = dissent(log, &positions).iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
    let outcome = Outcome {
        status,
        termination,
        rounds_completed: rounds_completed(log),
        verdict: serde_json::to_value(ArenaVerdict::of(log))?,
        dissent,
        fidelity: if is_full { Fidelity::Full } else { Fidelity::Degraded },
        warnings: warnings(log),
        labels: labels.collect(),
        lesson: lesson(log, &positions),
        positions,
        passed: None,
    };
    Ok(Step::Close(Box::new(outcome)))
}

/// How many of the numbered rounds had an answer from a seat.
fn rounds_completed(log: &ArenaLog<'_>) -> u32 {
    let held = log.debate.turns.iter().filter(|turn| turn.phase.round > 0 && log.was_answered(turn));
    let mut rounds: Vec<u32> = held.map(|turn| turn.phase.round).collect();
    rounds.dedup();
    u32::try_from(rounds.len()).unwrap_or(u32::MAX)
}

/// The proposal that is the decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ArenaWinner {
    pub(super) place: usize,
    /// All proposals that say the same, the winner's included.
    pub(super) group: Vec<usize>,
    pub(super) by: DecidedBy,
}

/// The judge's result on the proposals that were voted on last; `None` if the judge was absent or not asked.
pub(super) fn final_judgement<'l>(log: &'l ArenaLog<'_>) -> Option<&'l JudgeResult> {
    let asked = log.judgements.len() == log.votes.len();
    log.judgements.last().filter(|_| asked)?.result.as_ref()
}

/// Who has won.
pub(super) fn winner(log: &ArenaLog<'_>) -> Option<ArenaWinner> {
    winner_after(log, log.votes.len().checked_sub(1)?)
}

/// Who would have won if this vote had been the last. The vote decides, unless the judge is to decide and names a best.
pub(super) fn winner_after(log: &ArenaLog<'_>, vote: usize) -> Option<ArenaWinner> {
    // Every vote but the last has a judgement.
    let judged = log.judgements.get(vote).and_then(|judgement| judgement.result.as_ref());
    let vote = log.votes.get(vote).filter(|vote| vote.is_quorum())?;
    let of = |place: usize, by: DecidedBy| ArenaWinner { place, group: vote.group(place).to_vec(), by };
    let best = judged.and_then(JudgeResult::top).filter(|_| log.options.decide == DecidedBy::Judge);
    match best {
        Some(top) => Some(of(top, DecidedBy::Judge)),
        None => vote.best_of(vote.winning()?, judged).map(|place| of(place, DecidedBy::Vote)),
    }
}

/// "Early stop criteria met?": the vote and the judge agree, or the judge's best is clearly ahead. A hollow consensus has a challenge
/// to meet first.
pub(super) fn is_early_stop(log: &ArenaLog<'_>, vote: &VoteRound, judged: &JudgeResult) -> bool {
    if vote.hollow {
        return false;
    }
    let agree = vote.winning().is_some_and(|group| judged.is_for(group));
    agree || judged.margin > log.options.judge_gap + SCORE_TOLERANCE
}

/// Whether an extended round is due by the rules.
fn is_extension_due(log: &ArenaLog<'_>) -> bool {
    let Some((vote, judged)) = log.votes.last().zip(final_judgement(log)) else { return false };
    !is_early_stop(log, vote, judged) && log.extended_rounds() < log.options.max_extended_rounds
}

/// Whether an extended round follows the last judgement.
pub(super) fn continues(log: &ArenaLog<'_>) -> bool {
    let calls = log.proposers().len() + CLERK_CALLS;
    is_extension_due(log) && !was_cut_short(log) && !log.limits().is_exhausted(calls)
}

/// Whether a limit left out seats or rounds.
fn was_cut_short(log: &ArenaLog<'_>) -> bool {
    let cut = |turn: &PhaseTurn| {
        let limits = log.limits();
        let closing_share = if is_closing(turn) { 0.0 } else { limits.closing_share };
        LimitCheck { closing_share, ..limits }.cut_short(turn)
    };
    let refined = log.stages.iter().any(|stage| stage.phase == ArenaPhase::Refine);
    let skipped = !log.votes.is_empty() && !refined && log.early_consensus().is_none();
    let is_sorted = |vote: &VoteRound| {
        let is_known = |stage: &usize| log.check_of(*stage).is_some();
        let is_new = log.proposers().into_iter().any(|place| log.is_revised(vote.stage, place));
        is_known(&vote.stage) || (!is_new && vote.stage.checked_sub(1).as_ref().is_some_and(is_known))
    };
    skipped || !log.votes.iter().all(is_sorted) || log.debate.turns.iter().any(cut)
}

fn is_closing(turn: &PhaseTurn) -> bool {
    ArenaPhase::parse(&turn.phase.name).is_some_and(|phase| phase.info().is_closing)
}

/// Whether a limit ended a debate that is about to close. An extended round that is due and was not held did not fit.
fn is_limited(log: &ArenaLog<'_>) -> bool {
    was_cut_short(log) || is_extension_due(log)
}

/// Why a debate ended that is about to close, and how far it got.
fn ending(log: &ArenaLog<'_>) -> (Termination, Status) {
    let limited = is_limited(log);
    let vote = log.votes.last().filter(|vote| vote.is_quorum());
    let Some(vote) = vote.filter(|_| log.proposers().len() >= PROPOSALS_MIN) else {
        let why = if limited { Termination::Budget } else { Termination::QuorumLost };
        return (why, Status::Incomplete);
    };
    let reached = vote.winning().is_some();
    match (final_judgement(log), reached) {
        (None, _) if limited => (Termination::Budget, Status::Incomplete),
        (None, true) => (Termination::Consensus, Status::Incomplete),
        (None, false) => (Termination::Failed, Status::Failed),
        (Some(_), _) if limited => {
            let status = if winner(log).is_some() { Status::Complete } else { Status::Incomplete };
            (Termination::Budget, status)
        }
        (Some(_), true) if log.early_consensus().is_some() && log.extended_rounds() == 0 => {
            (Termination::Converged, Status::Complete)
        }
        (Some(_), true) => (Termination::Consensus, Status::Complete),
        (Some(_), false) => (Termination::NoMajority, Status::Complete),
    }
}

/// Every position of round 1 with its fate, in label order.
pub(super) fn position_fates(log: &ArenaLog<'_>) -> Vec<PositionFate> {
    let winner = winner(log);
    let Some(first) = log.stages.first() else { return Vec::new() };
    let held = first.held.iter().enumerate();
    held.filter_map(|(place, held)| {
        let position = held.as_ref()?.said.position.trim().to_owned();
        let (fate, reason) = fate(log, winner.as_ref(), place, &position);
        let agent = log.agents.get(place)?;
        let (seat, label) = (agent.seat.id.clone(), Some(agent.label.clone()));
        Some(PositionFate { seat, label, position, fate, reason })
    })
    .collect()
}

/// What became of a first position. The winner's is adopted as its author has revised it. Another agent gives its own up by a vote for
/// the winner, or, if its last version says the same as the decision, by naming a cause for its first change. Without one, whether that
/// change gave the first position up is a question of meaning that nobody is asked, so it is not settled. Who neither says the same as the
/// decision nor votes for it dissents. Its first position is given up if it names a cause for its first change, else it is the minority's.
fn fate(log: &ArenaLog<'_>, winner: Option<&ArenaWinner>, place: usize, first: &str) -> (Fate, String) {
    let revision = revision_of(log, place, first);
    let Some(winner) = winner else {
        let held = revision.unwrap_or_else(|| "held to the end".to_owned());
        return (Fate::Minority, format!("{held}; there is no decision{}", vote_count(log, place)));
    };
    let name = log.name(winner.place);
    if winner.group.contains(&place) {
        let what = match winner.place == place {
            true => format!("is the decision, by the {}", winner.by.as_str()),
            false => format!("says the same as the decision, which is {name}'s"),
        };
        let Some(revision) = revision else { return (Fate::Adopted, format!("it {what}")) };
        let (fate, how) = match first_cause(log, place) {
            _ if winner.place == place => (Fate::Adopted, revision),
            Some(cause) => (Fate::Refuted, cause),
            None => (Fate::NotSettled, revision),
        };
        return (fate, format!("{how}; its last version {what}"));
    }
    let ballot = log.votes.last().and_then(|vote| vote.ballot(place));
    if let Some(ballot) =
        ballot.filter(|ballot| ballot.choice.is_some_and(|choice| winner.group.contains(&choice)))
    {
        let given_up = revision.map(|revised| first_cause(log, place).unwrap_or(revised));
        let given_up = given_up.map_or(String::new(), |how| format!("{how}; "));
        let (when, reason) = (rounds_of_votes(log, place, &winner.group), reason_text(&ballot.reason));
        return (Fate::Refuted, format!("{given_up}its author voted for {name}{when}{reason}"));
    }
    // Who names a cause for its first change has given its first position up, and dissents with its last one.
    match revision.and_then(|_| first_cause(log, place)) {
        Some(cause) => (Fate::Refuted, cause),
        None => (Fate::Minority, dissent_reason(log, place, first)),
    }
}

/// Whether an agent kept its first position, how many votes its last one had, and how it voted itself.
fn dissent_reason(log: &ArenaLog<'_>, place: usize, first: &str) -> String {
    let held = revision_of(log, place, first).unwrap_or_else(|| "held to the end".to_owned());
    let ballot = log.votes.last().and_then(|vote| vote.ballot(place));
    let voted = match ballot.map(|ballot| (ballot.choice, reason_text(&ballot.reason))) {
        None => String::new(),
        Some((None, reason)) => format!("; its author abstained{reason}"),
        Some((Some(choice), reason)) if choice == place => format!("; its author voted for it{reason}"),
        Some((Some(choice), reason)) => format!("; its author voted for {}{reason}", log.name(choice)),
    };
    format!("{held}{}{voted}", vote_count(log, place))
}

/// Whether an agent's last position is another than the decision, and its author did not vote for that in the end.
fn is_dissenting(log: &ArenaLog<'_>, winner: Option<&ArenaWinner>, place: usize) -> bool {
    let Some(winner) = winner else { return true };
    let choice = log.votes.last().and_then(|vote| vote.ballot(place)?.choice);
    !winner.group.contains(&place) && !choice.is_some_and(|choice| winner.group.contains(&choice))
}

/// In which votes an agent voted for one of these proposals; nothing if there was only one vote.
fn rounds_of_votes(log: &ArenaLog<'_>, place: usize, group: &[usize]) -> String {
    let is_for = |vote: &&VoteRound| {
        let choice = vote.ballot(place).and_then(|ballot| ballot.choice);
        choice.is_some_and(|choice| group.contains(&choice))
    };
    let voted: Vec<u32> = log.votes.iter().filter(is_for).map(|vote| vote.round).collect();
    if log.votes.len() > 1 { format!(" in {}", rounds(&voted)) } else { String::new() }
}

fn reason_text(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(": {}", one_line(reason)) }
}

/// In which rounds an agent revised its position; `None` if it has the same words as at first.
fn revision_of(log: &ArenaLog<'_>, place: usize, first: &str) -> Option<String> {
    log.proposal(place).filter(|held| !is_same_text(first, &held.said.position))?;
    let mut revised: Vec<u32> = new_positions(log, place).map(|held| held.round).collect();
    revised.dedup();
    Some(format!("revised by its author in {}", rounds(&revised)))
}

/// The versions in which an agent's position has other words than before.
fn new_positions<'l>(log: &'l ArenaLog<'_>, place: usize) -> impl Iterator<Item = &'l HeldProposal> {
    let held = move || log.stages.iter().filter_map(move |stage| stage.held_by(place));
    let pairs = held().zip(held().skip(1));
    let new = pairs.filter(|(before, now)| !is_same_text(&before.said.position, &now.said.position));
    new.map(|(_, now)| now)
}

/// The cause that an agent names for the first change of its position, with the round; `None` if none verifies.
fn first_cause(log: &ArenaLog<'_>, place: usize) -> Option<String> {
    let changed = new_positions(log, place).next()?;
    let cause = log.cited_cause(changed.said.changed_because.first()?);
    Some(format!("its author changed it in round {}, citing {cause}", changed.round))
}

/// How many of the last votes its group had.
fn vote_count(log: &ArenaLog<'_>, place: usize) -> String {
    let Some(vote) = log.votes.last() else { return "; there was no vote".to_owned() };
    let group = vote.group(place);
    let (own, cast) = (vote.votes(group), vote.cast());
    let others: Vec<usize> = group.iter().copied().filter(|other| *other != place).collect();
    let together = match others.is_empty() {
        true => String::new(),
        false => format!(", together with {}, which counts as the same", log.names(&others)),
    };
    format!("; {own} of {cast} vote{}{together}", if cast == 1 { "" } else { "s" })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The last position of an agent that dissents, in the outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ArenaDissent {
    pub(super) seat: String,
    pub(super) label: Option<String>,
    /// The last position.
    pub(super) position: String,
    /// The first position.
    pub(super) opening: String,
    pub(super) reason: String,
    /// The votes of its group; `None` without a vote.
    pub(super) votes: Option<usize>,
}

/// The last positions of those who dissent.
pub(super) fn dissent(log: &ArenaLog<'_>, fates: &[PositionFate]) -> Vec<ArenaDissent> {
    let winner = winner(log);
    fates
        .iter()
        .filter_map(|position| {
            let place = position.label.as_deref().and_then(|label| log.place(label));
            let dissenting = place.filter(|place| is_dissenting(log, winner.as_ref(), *place))?;
            let last = place.and_then(|place| log.proposal(place));
            let last = last.map_or(position.position.as_str(), |held| held.said.position.trim());
            Some(ArenaDissent {
                seat: position.seat.clone(),
                label: position.label.clone(),
                position: last.to_owned(),
                opening: position.position.clone(),
                reason: match position.fate {
                    Fate::Refuted => dissent_reason(log, dissenting, &position.position),
                    _ => position.reason.clone(),
                },
                votes: place.zip(log.votes.last()).map(|(place, vote)| vote.votes(vote.group(place))),
            })
        })
        .collect()
}

/// What later debates may know; `None` without a quorum, or if they may know nothing.
fn lesson(log: &ArenaLog<'_>, fates: &[PositionFate]) -> Option<DebateLesson> {
    if !log.is_remembered() {
        return None;
    }
    let vote = log.votes.last().filter(|vote| vote.is_quorum())?;
    let winner = winner(log);
    let rated = voting::rated_seats(log);
    let places = log.in_seat_order().into_iter();
    let parts = places.filter_map(|place| lesson_seat(log, vote, winner.as_ref(), &rated, place)).collect();
    let decision = winner.and_then(|winner| lesson_decision(log, vote, &winner, fates));
    Some(DebateLesson { decision, parts })
}

fn lesson_decision(
    log: &ArenaLog<'_>,
    vote: &VoteRound,
    winner: &ArenaWinner,
    fates: &[PositionFate],
) -> Option<LessonDecision> {
    let held = log.proposal(winner.place)?;
    let claims = held.said.claims.iter();
    Some(LessonDecision {
        position: held.said.position.trim().to_owned(),
        answer: held.said.proposal.trim().to_owned(),
        claims: claims
            .map(|made| EvidencedClaim { claim: made.claim.clone(), evidence: made.evidence.clone() })
            .collect(),
        share: vote.share(&winner.group).unwrap_or_default(),
        dissent: dissent(log, fates).into_iter().map(|dissent| dissent.position).collect(),
        labels: log.labels(&winner.group),
    })
}

fn lesson_seat(
    log: &ArenaLog<'_>,
    vote: &VoteRound,
    winner: Option<&ArenaWinner>,
    rated: &[RatedSeat],
    place: usize,
) -> Option<LessonSeat> {
    let agent = log.agents.get(place)?;
    let held = log.proposal(place);
    let rated = rated.iter().find(|rated| rated.place == place).map(|rated| RatingChange {
        before: rated.before,
        change: rated.change,
        against: rated
            .against
            .iter()
            .filter_map(|(other, result)| Some((log.seat_id(*other)?, *result)))
            .collect(),
    });
    let ballot = vote.ballot(place).and_then(|ballot| {
        let choice = log.labels(vote.group(ballot.choice?));
        Some(LessonBallot { choice, confidence: ballot.confidence })
    });
    Some(LessonSeat {
        seat: agent.seat.id.clone(),
        label: agent.label.clone(),
        agent: log.sole_speaker(&agent.seat.id),
        position: held.map(|held| held.said.position.trim().to_owned()),
        confidence: held.map(|held| held.said.confidence),
        won: winner.is_some_and(|winner| winner.group.contains(&place)),
        score: final_judgement(log).and_then(|judged| judged.score(place)),
        rated,
        ballot,
    })
}

/// What a reader should know before trusting the verdict.
fn warnings(log: &ArenaLog<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    warnings.extend(forgotten_warning(log));
    warnings.extend(limit_warning(log));
    warnings.extend(context::source_warnings(log));
    warnings.extend(participation::cut_off_warnings(log.debate));
    warnings.extend(participation::shortened_warnings(log.debate));
    warnings.extend(proposal_warnings(log));
    warnings.extend(unknown_id_warnings(log));
    warnings.extend(sorting_warnings(log));
    warnings.extend(log.votes.last().map_or(Vec::new(), |vote| vote_warnings(log, vote)));
    warnings.extend(judge_warnings(log));
    warnings
}

fn forgotten_warning(log: &ArenaLog<'_>) -> Option<String> {
    let forgotten = "it changes no rating, and later debates learn nothing from it";
    match &log.debate.brief.parent {
        Some(parent) => Some(format!("this is a branch of {}: {forgotten}", parent.id)),
        None => {
            log.reason_to_forget().map(|why| format!("{forgotten}, because {why} (`--remember` lets them)"))
        }
    }
}

fn limit_warning(log: &ArenaLog<'_>) -> Option<String> {
    if !is_limited(log) {
        return None;
    }
    let limit = log.limits().reached(log.proposers().len().max(1));
    let limit = limit.unwrap_or_else(|| "a limit was reached".to_owned());
    let mut before_vote = log.debate.turns.iter().rev().filter(|turn| !is_closing(turn));
    let last = before_vote.find(|turn| log.was_answered(turn)).map_or(0, |turn| turn.phase.round);
    Some(match log.votes.is_empty() {
        true => format!("there was no vote, because {limit}"),
        false => format!("after round {last} there was only the vote and the judge, because {limit}"),
    })
}

/// Who has no proposal, who was absent so that its last proposal counts, and who cannot be rated.
fn proposal_warnings(log: &ArenaLog<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    let proposers = log.proposers();
    let without: Vec<usize> = (0..log.agents.len()).filter(|place| !proposers.contains(place)).collect();
    if !without.is_empty() && !log.stages.is_empty() {
        warnings.push(format!("without a proposal: {}", log.names(&without)));
    }
    for stage in log.stages.iter().skip(1) {
        let turn = log.debate.turn(stage.phase.as_str(), stage.round);
        let is_absent = |place: &usize| {
            let seat = log.agents.get(*place).map(|agent| agent.seat.id.as_str());
            turn.is_some_and(|turn| turn.absences().any(|(ask, ..)| Some(ask.seat.as_str()) == seat))
        };
        let places = (0..log.agents.len()).filter(|place| stage.held_by(*place).is_some());
        let carried: Vec<usize> = places.filter(is_absent).collect();
        if !carried.is_empty() {
            let (round, phase, names) = (stage.round, stage.phase.as_str(), log.names(&carried));
            warnings.push(format!("round {round}, {phase}: absent, the last proposal counts: {names}"));
        }
    }
    if final_judgement(log).is_some() {
        let has_several = |place: &usize| {
            log.agents.get(*place).is_some_and(|agent| log.sole_speaker(&agent.seat.id).is_none())
        };
        let several: Vec<usize> = proposers.into_iter().filter(has_several).collect();
        if !several.is_empty() {
            let names = log.names(&several);
            warnings.push(format!("not rated, because more than one model spoke for it: {names}"));
        }
    }
    warnings
}

/// Who cites an id in its last proposal that names nothing.
fn unknown_id_warnings(log: &ArenaLog<'_>) -> Vec<String> {
    let cited = |place: usize| {
        let unknown = log.unknown_ids(&log.proposal(place)?.said.text())?;
        Some(format!("{} {unknown}", log.name(place)))
    };
    log.proposers().into_iter().filter_map(cited).collect()
}

/// What is not known about how the proposals relate.
fn sorting_warnings(log: &ArenaLog<'_>) -> Vec<String> {
    let absent = log.checks.iter().filter(|check| check.sorted_by.is_none()).map(|check| {
        format!(
            "round {}: the clerk was absent, so it is not known how the proposals relate: they have not converged, and only equal \
             ones count as one choice",
            check.round
        )
    });
    let partly = log.checks.iter().filter(|check| check.sorted_by.is_some() && !check.unknown.is_empty());
    let contradicting = log.checks.iter().flat_map(|check| {
        let told = check.contradictions.iter();
        told.map(|told| format!("round {}: the clerk contradicts itself: {told}", check.round))
    });
    let partly = partly.map(|check| {
        let pairs: Vec<String> =
            check.unknown.iter().map(|(a, b)| format!("{} and {}", log.label(*a), log.label(*b))).collect();
        let (round, pairs) = (check.round, pairs.join(", "));
        format!("round {round}: how these proposals relate is not known, because the clerk's word on them did not verify: {pairs}")
    });
    absent.chain(partly).chain(contradicting).collect()
}

fn vote_warnings(log: &ArenaLog<'_>, vote: &VoteRound) -> Vec<String> {
    let mut warnings = Vec::new();
    let absent = vote.ballots.iter().enumerate().filter(|(_, ballot)| ballot.is_none());
    let absent: Vec<usize> = absent.map(|(place, _)| place).collect();
    if !absent.is_empty() {
        warnings.push(format!("round {}: without a vote: {}", vote.round, log.names(&absent)));
    }
    if !vote.is_quorum() {
        warnings.push(format!(
            "{}; half of them must vote for one: nothing is decided, and the judge was not asked",
            vote.turnout()
        ));
    }
    if vote.hollow {
        let why = "it rests on too little that can be checked";
        warnings.push(format!(
            "the agreement is hollow by the trickster's signals ({why}): it makes no consensus"
        ));
    }
    warnings
}

fn judge_warnings(log: &ArenaLog<'_>) -> Vec<String> {
    let mut warnings: Vec<String> = shared_model_warning(log).into_iter().collect();
    for judgement in &log.judgements {
        let round = judgement.round;
        match &judgement.result {
            None => warnings.push(format!(
                "round {round}: the judge was absent: nothing is scored, and no rating changes"
            )),
            Some(result) => {
                let said = order_warnings(log, result, judgement.orders);
                warnings.extend(said.iter().map(|why| format!("round {round}: {why}")));
            }
        }
    }
    warnings.extend(undecided_judge_warning(log));
    let judged = final_judgement(log);
    if let Some(judged) = judged.filter(|judged| judged.agrees_with_vote(log) == Some(false)) {
        let group = log.votes.last().and_then(VoteRound::winning).unwrap_or_default();
        let (voted, first, by) = (log.names(group), log.names(&judged.first), log.options.decide.as_str());
        warnings.push(format!(
            "the vote and the judge disagree: the vote is for {voted}, the judge's scores put {first} first; the {by} decides"
        ));
    }
    warnings
}

/// Warns if the judge or the clerk is a model that also makes a proposal, and says what hangs on its word.
fn shared_model_warning(log: &ArenaLog<'_>) -> Option<String> {
    let proposing: Vec<String> =
        log.agents.iter().flat_map(|agent| log.proposing_speakers(&agent.seat.id)).collect();
    let mut results = log.judgements.iter().filter_map(|judgement| judgement.result.as_ref());
    let is_seated = team::is_judge_a_proposer(&log.debate.brief) && !log.judgements.is_empty();
    let is_judge = is_seated || results.any(|result| result.is_by_a_proposer(log));
    let is_clerk =
        log.checks.iter().filter_map(|check| check.sorted_by.as_ref()).any(|by| proposing.contains(by));
    let model = |role: &'static str| log.debate.brief.seats_of(role).next().map(|seat| &seat.model);
    let both = match model("judge") == model(CLERK) {
        true => "the model of the judge and the clerk also makes a proposal",
        false => "the models of the judge and the clerk also make proposals",
    };
    let (whose, others) = match (is_judge, is_clerk) {
        (true, true) => (both, "others with --judge and --clerk"),
        (true, false) => ("the judge's model also makes a proposal", "another with --judge"),
        (false, true) => ("the clerk's model also makes a proposal", "another with --clerk"),
        (false, false) => return None,
    };
    let mut parts = vec![whose.to_owned()];
    let vote = log.votes.last();
    if is_clerk && vote.is_some_and(|vote| vote.is_won_by_sorting(log)) {
        parts.push("the vote is a consensus only by the clerk's sorting".to_owned());
    }
    match winner(log).filter(|_| is_judge).map(|winner| (winner.by, winner.group)) {
        Some((DecidedBy::Judge, _)) => parts.push("the judge's scores made the decision".to_owned()),
        Some((DecidedBy::Vote, group))
            if vote
                .zip(final_judgement(log))
                .is_some_and(|(vote, judged)| vote.is_chosen_by_score(&group, judged)) =>
        {
            parts.push("the judge's scores chose between proposals that are the same".to_owned());
        }
        _ => {}
    }
    if is_judge {
        let orders = if is_seated { "the judge was asked in two orders and " } else { "" };
        parts.push(format!("{orders}no rating changes"));
    }
    Some(format!("{} (name {others})", parts.join("; ")))
}

/// Warns if the judge was to decide and did not.
fn undecided_judge_warning(log: &ArenaLog<'_>) -> Option<String> {
    let judged = final_judgement(log);
    let has_best = judged.is_some_and(|judged| judged.top().is_some());
    if log.options.decide != DecidedBy::Judge || log.judgements.is_empty() || has_best {
        return None;
    }
    let how = if judged.is_some() { "has a tie for the first place" } else { "was absent" };
    Some(match winner(log) {
        Some(_) => format!("the judge was to decide and {how}: the vote's winner stands"),
        None => {
            let kind = log.options.consensus.as_str();
            format!(
                "the judge was to decide and {how}, and the vote reached no consensus ({kind}): there is no winner"
            )
        }
    })
}

fn order_warnings(log: &ArenaLog<'_>, judged: &JudgeResult, orders: usize) -> Vec<String> {
    let mut warnings = Vec::new();
    if judged.sheets.len() < orders {
        warnings.push("the judge answered in only one of two orders, which counts alone".to_owned());
    }
    if judged.consistent == Some(false) {
        let why = "depends on the order in which it reads the proposals: a tie";
        warnings.push(format!("the judge's first place {why}"));
    }
    warnings.extend(judged.sheets.iter().filter(|sheet| sheet.is_contradictory()).map(|sheet| {
        let in_order = |places: &[usize]| log.labels(places).join(", ");
        let (ranked, scored) = (in_order(&sheet.ranking), in_order(&sheet.by_score()));
        format!(
            "the judge ranks the proposals {ranked}, but scores them in the order {scored}: the scores decide"
        )
    }));
    warnings
}
