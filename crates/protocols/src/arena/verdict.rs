//! The verdict: arena's own document in the outcome. It has the decision, and what each agent said.

use agon_core::PhaseTurn;
use agon_core::lesson::RATING_INITIAL;
use serde::{Deserialize, Deserializer, Serialize};

use super::context::ContextItem;
use super::convergence::ConvergenceCheck;
use super::log::{ArenaCritique, ArenaLog, JudgeRound, ProposalStage};
use super::replies::{CritiqueAnswer, CritiqueVerdict, ProposalClaim};
use super::rhetoric::{self, RhetoricFinding};
use super::team::{self, SeatingReason};
use super::trickster::{self, ChallengeResult, WeaknessSignal};
use super::voting::{self, ABSTAIN, JudgeResult, ProposalScore, RatedSeat, VoteRound};
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
    pub(super) proposals: Vec<ArenaProposal>,
    pub(super) critiques: Vec<ArenaCritiqueEntry>,
    /// The ids of the critiques of the winning proposal that no critic has called resolved.
    pub(super) unresolved: Vec<String>,
    /// Every phase: who answered, and what it came to.
    pub(super) rounds: Vec<ArenaRound>,
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
pub(super) struct ArenaBallot {
    pub(super) seat: String,
    pub(super) label: String,
    /// A label, or `abstain`.
    pub(super) choice: String,
    /// The choice and all proposals that the last sorting calls the same.
    pub(super) group: Option<Vec<String>>,
    pub(super) confidence: f64,
    pub(super) reason: String,
    /// Whether the voter chose its own proposal.
    pub(super) own: bool,
}

/// The votes of one group of proposals that say the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ArenaTally {
    pub(super) labels: Vec<String>,
    pub(super) votes: usize,
    pub(super) share: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct LabelledScore {
    pub(super) label: String,
    pub(super) score: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ArenaTrickster {
    pub(super) checks: Vec<ArenaAgreement>,
}

/// An agreement that the trickster looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ArenaProposal {
    pub(super) label: String,
    pub(super) seat: String,
    pub(super) position: String,
    pub(super) proposal: String,
    pub(super) claims: Vec<ProposalClaim>,
    pub(super) confidence: f64,
    pub(super) round: u32,
    /// Whether its author was absent in the last stage.
    pub(super) carried: bool,
    pub(super) addressed: Vec<CritiqueAnswer>,
    pub(super) conflicts_with: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ArenaCritiqueEntry {
    pub(super) id: String,
    pub(super) round: u32,
    /// A label, or `judge`.
    pub(super) from: String,
    pub(super) to: String,
    pub(super) severity: Option<f64>,
    pub(super) issues: Vec<String>,
    pub(super) suggestions: Vec<String>,
    /// The last answer to it, and its round.
    pub(super) addressed: Option<String>,
    #[serde(default)]
    pub(super) addressed_round: Option<u32>,
    /// What its author said last of the revisions; null if it never did, which counts as unresolved.
    pub(super) verdict: Option<CritiqueVerdict>,
    /// The round of the proposal that this was said of.
    #[serde(default)]
    pub(super) judged_round: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ArenaRound {
    pub(super) round: u32,
    pub(super) phase: ArenaPhase,
    /// Labels, or seats that have none; `A on B` for a critique.
    pub(super) present: Vec<String>,
    pub(super) absent: Vec<String>,
    #[serde(flatten)]
    pub(super) result: ArenaRoundResult,
}

/// What a phase came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum ArenaRoundResult {
    Proposals {
        positions: Vec<StagePosition>,
    },
    Comparison {
        #[serde(deserialize_with = "present_or_null")]
        agreement_min: Option<f64>,
        converged: bool,
    },
    Vote {
        votes: Vec<ArenaBallot>,
        tally: Vec<ArenaTally>,
        reached: bool,
        #[serde(default)]
        hollow: bool,
    },
    Judgement {
        #[serde(deserialize_with = "present_or_null")]
        judge_top: Option<String>,
        margin: Option<f64>,
        scores: Option<Vec<LabelledScore>>,
    },
    /// Of context and critiques there is nothing to add.
    Nothing {},
}

/// Reads an option whose key must be there, which tells the variants of an untagged enum apart.
fn present_or_null<'de, T: Deserialize<'de>, D: Deserializer<'de>>(input: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(input)
}

/// What an agent proposed after a stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StagePosition {
    pub(super) label: String,
    pub(super) position: String,
    pub(super) confidence: f64,
    pub(super) carried: bool,
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
            answer: held.map(|held| held.said.proposal.trim().to_owned()),
            position: held.map(|held| held.said.position.trim().to_owned()),
            decided_by: winner.as_ref().map(|winner| winner.by),
            consensus: consensus(log),
            votes: vote.map_or(Vec::new(), |vote| ballots(log, vote)),
            tally: vote.map_or(Vec::new(), |vote| tally(log, vote)),
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
            proposals: proposals(log),
            critiques: log.critiques.iter().map(|critique| critique_entry(log, critique)).collect(),
            unresolved: winner.map_or(Vec::new(), |winner| {
                log.unresolved(winner.place).iter().map(|critique| critique.id.clone()).collect()
            }),
            rounds: rounds(log),
        }
    }
}

fn consensus(log: &ArenaLog<'_>) -> ArenaConsensus {
    let vote = log.votes.last();
    let counted = vote.filter(|vote| vote.is_quorum());
    ArenaConsensus {
        kind: log.options.consensus,
        reached: vote.is_some_and(|vote| vote.winning().is_some()),
        share: counted.and_then(|vote| vote.share(vote.tally().first()?.0)),
        cast: vote.map_or(0, VoteRound::cast),
        agents: log.agents.len(),
        hollow: vote.is_some_and(|vote| vote.hollow),
    }
}

/// The ballots of a vote, in seat order.
pub(super) fn ballots(log: &ArenaLog<'_>, vote: &VoteRound) -> Vec<ArenaBallot> {
    let given = log.in_seat_order().into_iter().filter_map(|place| {
        let (agent, ballot) = (log.agents.get(place)?, vote.ballot(place)?);
        Some(ArenaBallot {
            seat: agent.seat.id.clone(),
            label: agent.label.clone(),
            choice: ballot.choice.map_or(ABSTAIN, |choice| log.label(choice)).to_owned(),
            group: ballot.choice.map(|choice| log.labels(vote.group(choice))),
            confidence: ballot.confidence,
            reason: ballot.reason.clone(),
            own: ballot.choice == Some(place),
        })
    });
    given.collect()
}

pub(super) fn tally(log: &ArenaLog<'_>, vote: &VoteRound) -> Vec<ArenaTally> {
    let group = |(group, votes)| ArenaTally { labels: log.labels(group), votes, share: vote.share(group) };
    vote.tally().into_iter().map(group).collect()
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
            let text = [said.position.trim(), said.proposal.trim()].join("\n");
            Some((stage.round, stage.phase, log.label(place), text))
        }));
    }
    arguments.extend(log.critiques.iter().filter(|critique| critique.is_by_peer()).map(|critique| {
        let made = log.stages.get(critique.stage + 1).filter(|made| made.round == critique.round);
        let phase = made.map_or(ArenaPhase::Critique, |made| made.phase);
        (critique.round, phase, critique.author(log), critique.issues.join("\n"))
    }));
    for vote in &log.votes {
        let given = vote.ballots.iter().zip(&log.agents);
        arguments.extend(given.filter_map(|(ballot, agent)| {
            Some((vote.round, ArenaPhase::Vote, agent.label.as_str(), ballot.as_ref()?.reason.clone()))
        }));
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

fn proposals(log: &ArenaLog<'_>) -> Vec<ArenaProposal> {
    let held = log.held().iter().zip(&log.agents);
    held.filter_map(|(held, agent)| {
        let held = held.as_ref()?;
        Some(ArenaProposal {
            label: agent.label.clone(),
            seat: agent.seat.id.clone(),
            position: held.said.position.trim().to_owned(),
            proposal: held.said.proposal.trim().to_owned(),
            claims: held.said.claims.clone(),
            confidence: held.said.confidence,
            round: held.round,
            carried: held.carried,
            addressed: held.said.addressed.clone(),
            conflicts_with: log.labels(&held.conflicts),
        })
    })
    .collect()
}

fn critique_entry(log: &ArenaLog<'_>, critique: &ArenaCritique) -> ArenaCritiqueEntry {
    let answer = critique.last_step(log, false);
    ArenaCritiqueEntry {
        id: critique.id.clone(),
        round: critique.round,
        from: critique.author(log).to_owned(),
        to: log.label(critique.to).to_owned(),
        severity: critique.severity,
        issues: critique.issues.clone(),
        suggestions: critique.suggestions.clone(),
        addressed: answer.map(|step| step.text.to_owned()),
        addressed_round: answer.map(|step| step.round),
        verdict: critique.verdict().cloned(),
        judged_round: critique.last_step(log, true).map(|step| step.round),
    }
}

fn rounds(log: &ArenaLog<'_>) -> Vec<ArenaRound> {
    let (mut stages, mut checks, mut votes, mut judgements) =
        (log.stages.iter(), log.checks.iter(), log.votes.iter(), log.judgements.iter());
    let mut rounds = Vec::new();
    for turn in &log.debate.turns {
        let Some(phase) = ArenaPhase::parse(&turn.phase.name) else { continue };
        let result = match phase {
            ArenaPhase::Propose | ArenaPhase::Revise | ArenaPhase::Refine | ArenaPhase::Challenge => {
                stages.next().map(|stage| ArenaRoundResult::Proposals { positions: positions(log, stage) })
            }
            ArenaPhase::Compare => checks.next().map(|check| ArenaRoundResult::Comparison {
                agreement_min: check.agreement_min,
                converged: check.converged,
            }),
            ArenaPhase::Vote => votes.next().map(|vote| ArenaRoundResult::Vote {
                votes: ballots(log, vote),
                tally: tally(log, vote),
                reached: vote.winning().is_some(),
                hollow: vote.hollow,
            }),
            ArenaPhase::Judge => judgements.next().map(|judgement| judge_round(judgement)),
            ArenaPhase::Context | ArenaPhase::Critique => None,
        };
        let (present, absent) = attendance(log, turn);
        let result = result.unwrap_or(ArenaRoundResult::Nothing {});
        rounds.push(ArenaRound { round: turn.phase.round, phase, present, absent, result });
    }
    rounds
}

/// Who answered in a phase, and who did not.
fn attendance(log: &ArenaLog<'_>, turn: &PhaseTurn) -> (Vec<String>, Vec<String>) {
    let (mut present, mut absent) = (Vec::new(), Vec::new());
    for (ask, reply) in turn.settled() {
        let agent = log.agents.iter().find(|agent| agent.seat.id == ask.seat);
        let who = agent.map_or(ask.seat.as_str(), |agent| agent.label.as_str());
        let name = ask.about.as_ref().map_or(who.to_owned(), |about| format!("{who} on {about}"));
        if reply.text().is_some() { present.push(name) } else { absent.push(name) }
    }
    (present, absent)
}

fn positions(log: &ArenaLog<'_>, stage: &ProposalStage) -> Vec<StagePosition> {
    let held = stage.held.iter().zip(&log.agents);
    held.filter_map(|(held, agent)| {
        let held = held.as_ref()?;
        Some(StagePosition {
            label: agent.label.clone(),
            position: held.said.position.trim().to_owned(),
            confidence: held.said.confidence,
            carried: held.carried,
        })
    })
    .collect()
}

fn judge_round(judgement: &JudgeRound) -> ArenaRoundResult {
    let result = judgement.result.as_ref();
    let score = |scored: &ProposalScore| LabelledScore { label: scored.label.clone(), score: scored.score };
    ArenaRoundResult::Judgement {
        judge_top: result.and_then(|result| result.top.clone()),
        margin: result.map(|result| result.margin),
        scores: result.map(|result| result.scores.iter().map(score).collect()),
    }
}
