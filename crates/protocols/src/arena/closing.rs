//! When a debate is over, who has won, and the outcome: the fates of the first positions, the lesson and the warnings.

use agon_core::lesson::{EvidencedClaim, LessonBallot, LessonDecision, LessonSeat, RatingChange};
use agon_core::wording::{counted, rounds};
use agon_core::{
    Corrupt, DebateLesson, Fate, Fidelity, Outcome, PhaseTurn, PositionFate, Status, Step, Termination,
};
use serde::{Deserialize, Serialize};

use super::log::{ArenaLog, HeldProposal, JudgeRound};
use super::verdict::ArenaVerdict;
use super::voting::{self, JudgeResult, JudgeSheet, RatedSeat, SCORE_TOLERANCE, VoteRound};
use super::{ArenaPhase, CLERK_CALLS, DecidedBy, PROPOSALS_MIN, context, team};
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
    let best = judged.and_then(|judged| log.place(judged.top.as_ref()?));
    let best = best.filter(|_| log.options.decide == DecidedBy::Judge);
    match best {
        Some(top) => Some(of(top, DecidedBy::Judge)),
        None => vote.best_of(log, vote.winning()?, judged).map(|place| of(place, DecidedBy::Vote)),
    }
}

/// "Early stop criteria met?": the vote and the judge agree, or the judge's best is clearly ahead. A hollow consensus has a challenge
/// to meet first.
pub(super) fn is_early_stop(log: &ArenaLog<'_>, vote: &VoteRound, judged: &JudgeResult) -> bool {
    if vote.hollow {
        return false;
    }
    let agree = vote.winning().is_some_and(|group| judged.is_for(&log.labels(group)));
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
        is_known(&vote.stage)
            || (!log.is_changed(vote.stage) && vote.stage.checked_sub(1).as_ref().is_some_and(is_known))
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
        let position = held.as_ref()?.said.now.position.clone();
        let fate = fate(log, winner.as_ref(), place);
        let reason = position_facts(log, winner.as_ref(), place);
        let agent = log.agents.get(place)?;
        let (seat, label) = (agent.seat.id.clone(), Some(agent.label.clone()));
        Some(PositionFate { seat, label, position, fate, reason })
    })
    .collect()
}

/// What became of a first position. The winner's is adopted as its author has revised it. Another agent gives its own up by a vote for
/// the winner, or by naming a cause for its first change. Without one, whether that change gave the first position up is a question of
/// meaning that nobody is asked: it is not settled if its last version says the same as the decision, and the minority's if not.
fn fate(log: &ArenaLog<'_>, winner: Option<&ArenaWinner>, place: usize) -> Fate {
    let Some(winner) = winner else { return Fate::Minority };
    let is_revised = !revisions(log, place).is_empty();
    let is_given_up = is_revised && first_cause(log, place).is_some();
    match winner.group.contains(&place) {
        true if place == winner.place || !is_revised => Fate::Adopted,
        true if is_given_up => Fate::Refuted,
        true => Fate::NotSettled,
        false if is_given_up || !is_dissenting(log, Some(winner), place) => Fate::Refuted,
        false => Fate::Minority,
    }
}

/// What the log says about an agent's position: whether it was revised and why, whether it is the decision, its votes, and how its
/// author voted.
fn position_facts(log: &ArenaLog<'_>, winner: Option<&ArenaWinner>, place: usize) -> String {
    let revised = revisions(log, place);
    let change = match revised.is_empty() {
        true => "held to the end".to_owned(),
        false => {
            let cited = first_cause(log, place).map(|cause| format!(", citing {cause}"));
            format!("revised by its author in {}{}", rounds(&revised), cited.unwrap_or_default())
        }
    };
    let mut facts = vec![change];
    facts.push(match winner {
        None => "there is no decision".to_owned(),
        Some(winner) if winner.place == place => {
            format!("its author's last proposal is the decision, by the {}", winner.by.as_str())
        }
        Some(winner) if winner.group.contains(&place) => {
            let decision = log.name(winner.place);
            format!(
                "its author's last proposal is counted as the same as the decision, which is {decision}'s"
            )
        }
        Some(_) => "its author's last proposal is not the decision".to_owned(),
    });
    let Some(vote) = log.votes.last() else { return facts.join("; ") };
    let votes = vote.votes(vote.group(place));
    facts.push(format!("{votes} of {} for it", counted(vote.cast() as u64, "vote")));
    if let Some(ballot) = vote.ballot(place) {
        let voted = match ballot.chosen {
            None => "abstained".to_owned(),
            Some(choice) if choice == place => "voted for it".to_owned(),
            Some(choice) => format!("voted for {}", log.name(choice)),
        };
        let reason = ballot.reason.split_whitespace().collect::<Vec<_>>().join(" ");
        let reason = if reason.is_empty() { reason } else { format!(": {reason}") };
        facts.push(format!("its author {voted}{reason}"));
    }
    facts.join("; ")
}

/// Whether an agent's last position is another than the decision, and its author did not vote for that in the end.
fn is_dissenting(log: &ArenaLog<'_>, winner: Option<&ArenaWinner>, place: usize) -> bool {
    let Some(winner) = winner else { return true };
    let choice = log.votes.last().and_then(|vote| vote.ballot(place)?.chosen);
    !winner.group.contains(&place) && !choice.is_some_and(|choice| winner.group.contains(&choice))
}

/// In which rounds an agent revised its position; none if it ends with the words of its first.
fn revisions(log: &ArenaLog<'_>, place: usize) -> Vec<u32> {
    let ends = log.stages.first().and_then(|stage| stage.held_by(place)).zip(log.proposal(place));
    let is_new =
        ends.is_some_and(|(first, last)| !is_same_text(&first.said.now.position, &last.said.now.position));
    let mut revised: Vec<u32> = match is_new {
        true => new_positions(log, place).map(|held| held.round).collect(),
        false => Vec::new(),
    };
    revised.dedup();
    revised
}

/// The versions in which an agent's position has other words than before.
fn new_positions<'l>(log: &'l ArenaLog<'_>, place: usize) -> impl Iterator<Item = &'l HeldProposal> {
    let held = move || log.stages.iter().filter_map(move |stage| stage.held_by(place));
    let pairs = held().zip(held().skip(1));
    let new = pairs.filter(|(before, now)| !is_same_text(&before.said.now.position, &now.said.now.position));
    new.map(|(_, now)| now)
}

/// What an agent cites for the first change of its position, with the round where there is more than one; `None` if nothing verifies.
fn first_cause(log: &ArenaLog<'_>, place: usize) -> Option<String> {
    let changed = new_positions(log, place).next()?;
    let cause = log.cited_cause(changed.said.changed_because.first()?);
    let is_only = revisions(log, place).len() == 1;
    Some(if is_only { cause } else { format!("{cause} in round {}", changed.round) })
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
    let entry = |first: &PositionFate| {
        let place = log.place(first.label.as_deref()?)?;
        let last = log.proposal(place).filter(|_| is_dissenting(log, winner.as_ref(), place))?;
        Some(ArenaDissent {
            seat: first.seat.clone(),
            label: first.label.clone(),
            position: last.said.now.position.clone(),
            opening: first.position.clone(),
            reason: first.reason.clone(),
            votes: log.votes.last().map(|vote| vote.votes(vote.group(place))),
        })
    };
    fates.iter().filter_map(entry).collect()
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
    let claims = held.said.now.claims.iter();
    Some(LessonDecision {
        position: held.said.now.position.clone(),
        answer: held.said.now.proposal.clone(),
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
    let rated = rated.iter().find(|rated| rated.label == agent.label).map(|rated| RatingChange {
        before: rated.before,
        change: rated.change,
        against: rated.against.clone(),
    });
    let ballot = vote.ballot(place).and_then(|ballot| {
        Some(LessonBallot { choice: ballot.group.clone()?, confidence: ballot.confidence })
    });
    Some(LessonSeat {
        seat: agent.seat.id.clone(),
        label: agent.label.clone(),
        agent: log.sole_speaker(&agent.seat.id),
        position: held.map(|held| held.said.now.position.clone()),
        confidence: held.map(|held| held.said.now.confidence),
        won: winner.is_some_and(|winner| winner.group.contains(&place)),
        score: final_judgement(log).and_then(|judged| judged.score(&agent.label)),
        rated,
        ballot,
    })
}

/// What a reader should know before trusting the verdict. The report has the absences, and what vote and judge came to.
fn warnings(log: &ArenaLog<'_>) -> Vec<String> {
    let limit = is_limited(log).then(|| log.limits().reached(log.proposers().len().max(1)));
    let limit = limit.map(|limit| limit.unwrap_or_else(|| "a limit was reached".to_owned()));
    [
        Vec::from_iter(forgotten_warning(log)),
        Vec::from_iter(limit.map(|limit| format!("the debate was cut short, because {limit}"))),
        context::source_warnings(log),
        participation::cut_off_warnings(log.debate),
        participation::shortened_warnings(log.debate),
        proposal_warnings(log),
        unknown_id_warnings(log),
        sorting_warnings(log),
        shared_model_warnings(log),
        decision_warnings(log),
    ]
    .concat()
}

fn forgotten_warning(log: &ArenaLog<'_>) -> Option<String> {
    let forgotten = "it changes no rating, and later debates learn nothing from it";
    let why =
        log.reason_to_forget().map(|why| format!("{forgotten}, because {why} (`--remember` lets them)"));
    let parent = log.debate.brief.parent.as_ref();
    parent.map(|parent| format!("this is a branch of {}: {forgotten}", parent.id)).or(why)
}

/// Who has no proposal, and who cannot be rated.
fn proposal_warnings(log: &ArenaLog<'_>) -> Vec<String> {
    let (proposing, without): (Vec<usize>, Vec<usize>) =
        (0..log.agents.len()).partition(|place| log.proposal(*place).is_some());
    let has_one_speaker = |seat: String| log.sole_speaker(&seat).is_some();
    let is_rated = |place: &usize| log.seat_id(*place).is_some_and(has_one_speaker);
    let several: Vec<usize> = proposing.into_iter().filter(|place| !is_rated(place)).collect();
    let mut warnings = Vec::new();
    if !without.is_empty() && !log.stages.is_empty() {
        warnings.push(format!("without a proposal: {}", log.names(&without)));
    }
    if !several.is_empty() && final_judgement(log).is_some() {
        let names = log.names(&several);
        warnings.push(format!("not rated, because more than one model spoke for it: {names}"));
    }
    warnings
}

/// Who cites an id in its last proposal that names nothing.
fn unknown_id_warnings(log: &ArenaLog<'_>) -> Vec<String> {
    let cited = |place: usize| {
        let unknown = log.unknown_ids(&log.proposal(place)?.said.now.text())?;
        Some(format!("{} {unknown}", log.name(place)))
    };
    log.proposers().into_iter().filter_map(cited).collect()
}

/// What is not known about how the proposals relate.
fn sorting_warnings(log: &ArenaLog<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    for check in &log.checks {
        let round = check.round;
        if check.sorted_by.is_none() {
            warnings.push(format!(
                "round {round}: the clerk was absent, so it is not known how the proposals relate: they have not converged, and only \
                 equal ones count as one choice"
            ));
        } else if check.unknown().next().is_some() {
            let pairs = check.unknown().map(|pair| format!("{} and {}", pair.a, pair.b));
            let pairs = pairs.collect::<Vec<_>>().join(", ");
            warnings.push(format!(
                "round {round}: how these proposals relate is not known, because the clerk's word on them did not verify: {pairs}"
            ));
        }
        let told = check.contradictions.iter();
        warnings.extend(told.map(|told| format!("round {round}: the clerk contradicts itself: {told}")));
    }
    warnings
}

/// Warns if the judge or the clerk is a model that also makes a proposal.
fn shared_model_warnings(log: &ArenaLog<'_>) -> Vec<String> {
    let mut results = log.judgements.iter().filter_map(|judgement| judgement.result.as_ref());
    let is_seated = team::is_judge_a_proposer(&log.debate.brief) && !log.judgements.is_empty();
    let is_judge = is_seated || results.any(|result| result.also_proposes);
    let sorted_by = log.checks.iter().filter_map(|check| check.sorted_by.as_ref());
    let is_clerk = log.proposing_models().iter().any(|model| sorted_by.clone().any(|by| by == model));
    let mut warnings = Vec::new();
    let orders = if is_seated { "the judge is asked in two orders, and " } else { "" };
    warnings.extend(is_judge.then(|| {
        format!(
            "the judge's model also makes a proposal: {orders}no rating changes (name another with --judge)"
        )
    }));
    let clerk = "the clerk's model also makes a proposal (name another with --clerk)";
    warnings.extend(is_clerk.then(|| clerk.to_owned()));
    warnings
}

/// Where the word of the vote or the judge counts less than it seems.
fn decision_warnings(log: &ArenaLog<'_>) -> Vec<String> {
    let mut warnings: Vec<String> = Vec::new();
    if log.votes.last().is_some_and(|vote| vote.hollow) {
        warnings.push("the agreement behind the vote is hollow by the trickster's signals".to_owned());
    }
    for (JudgeRound { round, orders, .. }, result) in
        log.judgements.iter().filter_map(|judgement| Some((judgement, judgement.result.as_ref()?)))
    {
        if result.orders.len() < *orders {
            warnings.push(format!("round {round}: the judge answered in only one of two orders"));
        }
        if result.consistent == Some(false) {
            let why = "depends on the order in which it reads the proposals: a tie";
            warnings.push(format!("round {round}: the judge's first place {why}"));
        }
        if result.orders.iter().any(JudgeSheet::is_contradictory) {
            let what = "the judge's ranking differs from its scores, which decide";
            warnings.push(format!("round {round}: {what}"));
        }
    }
    if final_judgement(log).is_some_and(|judged| judged.agrees_with_vote == Some(false)) {
        warnings.push("the vote and the judge disagree".to_owned());
    }
    warnings
}
