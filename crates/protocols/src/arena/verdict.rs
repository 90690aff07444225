//! The verdict: arena's own document in the outcome. It has the decision, and what each agent said.
//!
//! The report reads the decision from it, and what was said from the log.

use agon_core::PhaseTurn;
use agon_core::lesson::RATING_INITIAL;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::context::ContextItem;
use super::convergence::ConvergenceCheck;
use super::log::{
    ArenaAgent, ArenaCritique, ArenaLog, CritiqueStep, HeldProposal, JudgeRound, ProposalStage,
};
use super::rhetoric::{self, RhetoricFinding};
use super::team::{self, SeatingReason};
use super::trickster::{self, ArenaAgreement};
use super::voting::{self, ArenaBallot, ArenaTally, JudgeResult, ProposalScore, RatedSeat, VoteRound};
use super::{ArenaPhase, ConsensusRule, DecidedBy, closing};
use crate::quotes::is_same_text;

/// The verdict of an arena. Agents are known by their labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ArenaVerdict {
    /// The winner's label; `None` without a decision, like the next four.
    pub(super) winner: Option<String>,
    pub(super) winner_seat: Option<String>,
    /// The winning proposal.
    pub(super) answer: Option<String>,
    /// The same in a sentence.
    pub(super) position: Option<String>,
    pub(super) decided_by: Option<DecidedBy>,
    pub(super) consensus: ArenaConsensus,
    /// The last vote, in seat order.
    pub(super) votes: Vec<ArenaBallot>,
    pub(super) tally: Vec<ArenaTally>,
    /// What the judge said of the last proposals; `None` if it was absent or not asked.
    pub(super) judge: Option<JudgeResult>,
    pub(super) convergence: Vec<ConvergenceCheck>,
    pub(super) convergence_threshold: f64,
    pub(super) extended_rounds: u32,
    /// The round of revision in which the proposals converged.
    pub(super) early_consensus: Option<u32>,
    /// The round of revision that changed nothing, so that no further one was held.
    pub(super) idle_revision: Option<u32>,
    pub(super) ratings: Vec<RatedSeat>,
    /// `None` without a trickster.
    pub(super) trickster: Option<ArenaTrickster>,
    /// `None` without an observer.
    pub(super) rhetoric: Option<Vec<ArenaRhetoric>>,
    pub(super) context: Vec<ArenaContext>,
    pub(super) team: Vec<ArenaTeamMember>,
    /// The final proposals, in label order.
    pub(super) proposals: Vec<Value>,
    pub(super) critiques: Vec<Value>,
    /// The ids of the critiques of the winning proposal that no critic has called resolved.
    pub(super) unresolved: Vec<String>,
    /// Every phase: who answered, and what it came to.
    pub(super) rounds: Vec<Value>,
}

/// What the last vote came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ArenaConsensus {
    pub(super) kind: ConsensusRule,
    pub(super) reached: bool,
    /// The largest group's share of the votes; `None` without a quorum.
    pub(super) share: Option<f64>,
    pub(super) cast: usize,
    pub(super) agents: usize,
    #[serde(default)]
    pub(super) hollow: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ArenaTrickster {
    pub(super) checks: Vec<ArenaAgreement>,
}

/// What the observer found in one argument.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ArenaRhetoric {
    pub(super) round: u32,
    pub(super) phase: ArenaPhase,
    pub(super) label: String,
    #[serde(flatten)]
    pub(super) finding: RhetoricFinding,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ArenaContext {
    #[serde(flatten)]
    pub(super) item: ContextItem,
    pub(super) cited_by: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ArenaTeamMember {
    pub(super) seat: String,
    pub(super) agent: String,
    pub(super) rating: f64,
    pub(super) brier: Option<f64>,
    pub(super) games: u32,
    pub(super) why: SeatingReason,
}

impl ArenaVerdict {
    /// The verdict of a log.
    pub(super) fn of(log: &ArenaLog<'_>) -> Self {
        let winner = closing::winner(log);
        let held = winner.as_ref().and_then(|winner| log.proposal(winner.place));
        let vote = log.votes.last();
        Self {
            winner: winner.as_ref().map(|winner| log.label(winner.place).to_owned()),
            winner_seat: winner.as_ref().and_then(|winner| log.seat_id(winner.place)),
            answer: held.map(|held| held.said.now.proposal.clone()),
            position: held.map(|held| held.said.now.position.clone()),
            decided_by: winner.as_ref().map(|winner| winner.by),
            consensus: consensus(log),
            votes: vote.map_or(Vec::new(), |vote| vote.in_seat_order(log)),
            tally: vote.map_or(Vec::new(), |vote| vote.tally(log)),
            judge: closing::final_judgement(log).cloned(),
            convergence: log.checks.clone(),
            convergence_threshold: log.options.convergence_threshold,
            extended_rounds: log.extended_rounds(),
            early_consensus: log.early_consensus().filter(|_| !log.votes.is_empty()),
            idle_revision: log.idle_revision(),
            ratings: voting::rated_seats(log),
            trickster: log.options.trickster.then(|| ArenaTrickster { checks: trickster::reviews(log) }),
            rhetoric: log.options.observer.then(|| rhetoric(log)),
            context: context(log),
            team: team(log),
            proposals: log.stages.last().map_or(Vec::new(), |stage| each_held(log, stage, proposal_entry)),
            critiques: log.critiques.iter().map(|critique| critique_entry(log, critique)).collect(),
            unresolved: winner.map_or(Vec::new(), |winner| {
                log.unresolved(winner.place).iter().map(|critique| critique.id.clone()).collect()
            }),
            rounds: phase_results(log).iter().map(|phase| round_entry(log, phase)).collect(),
        }
    }
}

fn consensus(log: &ArenaLog<'_>) -> ArenaConsensus {
    let vote = log.votes.last();
    let counted = vote.filter(|vote| vote.is_quorum());
    ArenaConsensus {
        kind: log.options.consensus,
        reached: vote.is_some_and(|vote| vote.winning().is_some()),
        share: counted.and_then(|vote| vote.tally(log).first()?.share),
        cast: vote.map_or(0, VoteRound::cast),
        agents: log.agents.len(),
        hollow: vote.is_some_and(|vote| vote.hollow),
    }
}

/// What the observer finds in every argument, round by round. An agent that says the same again in a later round is reported once.
fn rhetoric(log: &ArenaLog<'_>) -> Vec<ArenaRhetoric> {
    let mut entries: Vec<ArenaRhetoric> = Vec::new();
    for (round, phase, label, text) in arguments(log) {
        for finding in rhetoric::observe(&text, log.options.observer_threshold) {
            let is_again = entries.iter().any(|seen| {
                seen.label == label
                    && seen.round < round
                    && seen.finding.name == finding.name
                    && is_same_text(&seen.finding.quote, &finding.quote)
            });
            if !is_again {
                entries.push(ArenaRhetoric { round, phase, label: label.to_owned(), finding });
            }
        }
    }
    entries
}

/// The proposals, critiques and reasons of votes, each with its round, phase and author.
fn arguments<'l>(log: &'l ArenaLog<'_>) -> Vec<(u32, ArenaPhase, &'l str, String)> {
    let mut arguments = Vec::new();
    for (at, stage) in log.stages.iter().enumerate() {
        let new = (0..log.agents.len()).filter(|place| log.is_new(at, *place));
        arguments.extend(new.filter_map(|place| {
            let said = &stage.held_by(place)?.said;
            let text = [said.now.position.as_str(), said.now.proposal.as_str()].join("\n");
            Some((stage.round, stage.phase, log.label(place), text))
        }));
    }
    arguments.extend(log.critiques.iter().filter(|critique| critique.is_by_peer()).map(|critique| {
        let made = log.stages.get(critique.stage + 1).filter(|made| made.round == critique.round);
        let phase = made.map_or(ArenaPhase::Critique, |made| made.phase);
        (critique.round, phase, critique.author(log), critique.issues.join("\n"))
    }));
    for vote in &log.votes {
        let given = vote.ballots.iter();
        arguments.extend(
            given.map(|ballot| (vote.round, ArenaPhase::Vote, ballot.label.as_str(), ballot.reason.clone())),
        );
    }
    arguments.sort_by_key(|(round, ..)| *round);
    arguments
}

fn context(log: &ArenaLog<'_>) -> Vec<ArenaContext> {
    let cited = |item: &ContextItem| log.labels(&item.cited_by(log));
    log.context.iter().map(|item| ArenaContext { item: item.clone(), cited_by: cited(item) }).collect()
}

fn team(log: &ArenaLog<'_>) -> Vec<ArenaTeamMember> {
    let brief = &log.debate.brief;
    let seats = brief.seats_of("agent").zip(team::seating_reasons(brief, &log.options, &log.standings));
    let member = |(seat, why): (&agon_core::Seat, SeatingReason)| {
        let agent = team::agent_name(&seat.model);
        let known = team::standing(&log.standings, &agent);
        ArenaTeamMember {
            seat: seat.id.clone(),
            rating: known.map_or(RATING_INITIAL, |known| known.rating),
            brier: known.and_then(|known| known.brier),
            games: known.map_or(0, |known| known.games),
            agent,
            why,
        }
    };
    seats.map(member).collect()
}

/// What is said of each proposal of a stage, in label order.
fn each_held(
    log: &ArenaLog<'_>,
    stage: &ProposalStage,
    entry: impl Fn(&ArenaLog<'_>, &ArenaAgent<'_>, &HeldProposal) -> Value,
) -> Vec<Value> {
    let held = stage.held.iter().zip(&log.agents);
    held.filter_map(|(held, agent)| Some(entry(log, agent, held.as_ref()?))).collect()
}

fn proposal_entry(log: &ArenaLog<'_>, agent: &ArenaAgent<'_>, held: &HeldProposal) -> Value {
    json!({
        "label": agent.label,
        "seat": agent.seat.id,
        "position": held.said.now.position.as_str(),
        "proposal": held.said.now.proposal.as_str(),
        "claims": held.said.now.claims,
        "confidence": held.said.now.confidence,
        "round": held.round,
        // Whether its author was absent in the last stage.
        "carried": held.carried,
        "addressed": held.said.addressed,
        "conflicts_with": log.labels(&held.conflicts),
    })
}

fn critique_entry(log: &ArenaLog<'_>, critique: &ArenaCritique) -> Value {
    let (answer, verdict) = (critique.answer(), critique.verdict());
    json!({
        "id": critique.id,
        "round": critique.round,
        "from": critique.author(log),
        "to": log.label(critique.to),
        "severity": critique.severity,
        "issues": critique.issues,
        "suggestions": critique.suggestions,
        // The last answer to it, and its round.
        "addressed": answer.map(CritiqueStep::text),
        "addressed_round": answer.map(|step| step.round),
        // What its author said last of the revisions; null if it never did, which counts as unresolved.
        "verdict": verdict
            .map(|step| json!({"critique_id": critique.id, "why": step.said, "status": step.status})),
        // The round of the proposal that this was said of.
        "judged_round": verdict.map(|step| step.round),
    })
}

/// What a phase came to.
pub(super) enum PhaseResult<'l> {
    Proposals(&'l ProposalStage),
    Comparison(&'l ConvergenceCheck),
    Vote(&'l VoteRound),
    Judgement(&'l JudgeRound),
    /// Of context and critiques there is nothing to add, nor of a comparison before the clerk has answered.
    Nothing,
}

/// Every phase with what it came to.
pub(super) fn phase_results<'l>(log: &'l ArenaLog<'_>) -> Vec<(&'l PhaseTurn, ArenaPhase, PhaseResult<'l>)> {
    let (mut stages, mut checks, mut votes, mut judgements) =
        (log.stages.iter(), log.checks.iter(), log.votes.iter(), log.judgements.iter());
    let mut result = |phase: ArenaPhase| match phase {
        ArenaPhase::Propose | ArenaPhase::Revise | ArenaPhase::Refine | ArenaPhase::Challenge => {
            stages.next().map(PhaseResult::Proposals)
        }
        ArenaPhase::Compare => checks.next().map(PhaseResult::Comparison),
        ArenaPhase::Vote => votes.next().map(PhaseResult::Vote),
        ArenaPhase::Judge => judgements.next().map(PhaseResult::Judgement),
        ArenaPhase::Context | ArenaPhase::Critique => None,
    };
    let phases =
        log.debate.turns.iter().filter_map(|turn| Some((turn, ArenaPhase::parse(&turn.phase.name)?)));
    phases.map(|(turn, phase)| (turn, phase, result(phase).unwrap_or(PhaseResult::Nothing))).collect()
}

fn round_entry(
    log: &ArenaLog<'_>,
    (turn, phase, result): &(&PhaseTurn, ArenaPhase, PhaseResult<'_>),
) -> Value {
    let [present, absent] = [true, false].map(|is_present| attendance(log, turn, is_present, str::to_owned));
    let mut entry = json!({"round": turn.phase.round, "phase": phase, "present": present, "absent": absent});
    let came_to = match result {
        PhaseResult::Proposals(stage) => json!({"positions": each_held(log, stage, stage_position)}),
        PhaseResult::Comparison(check) => {
            json!({"agreement_min": check.agreement_min, "converged": check.converged})
        }
        PhaseResult::Vote(vote) => json!({
            "votes": vote.in_seat_order(log),
            "tally": vote.tally(log),
            "reached": vote.winning().is_some(),
            "hollow": vote.hollow,
        }),
        PhaseResult::Judgement(judgement) => {
            let result = judgement.result.as_ref();
            let score = |one: &ProposalScore| json!({"label": one.label, "score": one.score});
            json!({
                "judge_top": result.map(|result| &result.top),
                "margin": result.map(|result| result.margin),
                "scores": result.map(|result| result.scores.iter().map(score).collect::<Vec<_>>()),
            })
        }
        PhaseResult::Nothing => Value::Null,
    };
    if let (Value::Object(entry), Value::Object(came_to)) = (&mut entry, came_to) {
        entry.extend(came_to);
    }
    entry
}

fn stage_position(_: &ArenaLog<'_>, agent: &ArenaAgent<'_>, held: &HeldProposal) -> Value {
    let (position, confidence) = (held.said.now.position.as_str(), held.said.now.confidence);
    json!({"label": agent.label, "position": position, "confidence": confidence, "carried": held.carried})
}

/// Who answered in a phase, or who did not, by the names of their labels, or of their seats if they have none; `A on B` for a critique.
pub(super) fn attendance(
    log: &ArenaLog<'_>,
    turn: &PhaseTurn,
    is_present: bool,
    name: impl Fn(&str) -> String,
) -> Vec<String> {
    let wanted = turn.settled().filter(|(_, reply)| reply.text().is_some() == is_present);
    let named = wanted.map(|(ask, _)| {
        let agent = log.agents.iter().find(|agent| agent.seat.id == ask.seat);
        let who = name(agent.map_or(ask.seat.as_str(), |agent| agent.label.as_str()));
        ask.about.as_ref().map_or(who.clone(), |about| format!("{who} on {}", name(about)))
    });
    named.collect()
}
