//! The verdict: arena's own document in the outcome. It has the decision, and what each agent said.

use agon_core::PhaseTurn;
use agon_core::lesson::RATING_INITIAL;
use serde::{Deserialize, Deserializer, Serialize};

use super::context::ContextItem;
use super::convergence::{ConvergenceCheck, EmbeddingFigures};
use super::log::{ArenaCritique, ArenaLog, JudgeRound, ProposalStage};
use super::replies::{
    CriteriaScores, CritiqueAnswer, CritiqueVerdict, PairRelation, ProposalClaim, ProposalQuote,
};
use super::rhetoric::{self, RhetoricFinding};
use super::team::{self, SeatingReason};
use super::trickster::{self, AgreementReview, ChallengeResult, WeaknessSignal};
use super::voting::{self, ABSTAIN, JudgeResult, VoteRound};
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
    pub(super) judge: Option<ArenaJudgement>,
    pub(super) convergence: Vec<ArenaCheck>,
    pub(super) convergence_threshold: f64,
    pub(super) extended_rounds: u32,
    /// The round of revision in which the proposals converged.
    pub(super) early_consensus: Option<u32>,
    /// The round of revision that changed nothing, so that no further one was held.
    pub(super) idle_revision: Option<u32>,
    pub(super) ratings: Vec<ArenaRating>,
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
pub(super) struct ArenaJudgement {
    pub(super) model: String,
    pub(super) scores: Vec<ArenaScore>,
    pub(super) ranking: Vec<String>,
    /// The best; `None` for a tie.
    pub(super) top: Option<String>,
    /// The proposals that share the first place: one, or several that are tied.
    pub(super) first: Vec<String>,
    pub(super) margin: f64,
    pub(super) margin_comment: Option<String>,
    pub(super) consistent: Option<bool>,
    pub(super) orders: Vec<ArenaOrder>,
    pub(super) agrees_with_vote: Option<bool>,
    /// Whether a model that judged also made a proposal.
    pub(super) also_proposes: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ArenaScore {
    pub(super) label: String,
    pub(super) seat: Option<String>,
    /// The weighted mean of the criteria.
    pub(super) score: f64,
    pub(super) criteria: CriteriaScores,
    pub(super) reasons: Vec<String>,
}

/// What the judge said in one order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ArenaOrder {
    pub(super) order: Vec<String>,
    pub(super) scores: Vec<LabelledScore>,
    pub(super) ranking: Vec<String>,
}

impl ArenaOrder {
    /// How far a proposal is ahead of the best other one.
    pub(super) fn lead(&self, label: &str) -> f64 {
        let (own, others): (Vec<_>, Vec<_>) = self.scores.iter().partition(|one| one.label == label);
        let best = |scores: Vec<&LabelledScore>| scores.iter().map(|one| one.score).reduce(f64::max);
        voting::rounded(best(own).unwrap_or_default() - best(others).unwrap_or_default())
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct LabelledScore {
    pub(super) label: String,
    pub(super) score: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ArenaCheck {
    pub(super) round: u32,
    #[serde(default)]
    pub(super) after_challenge: bool,
    pub(super) agreement_min: Option<f64>,
    pub(super) agreement_mean: Option<f64>,
    pub(super) stability_min: Option<f64>,
    pub(super) stability_mean: Option<f64>,
    pub(super) converged: bool,
    /// What the clerk says of every two proposals; null where that is not known.
    pub(super) pairs: Vec<ArenaPair>,
    /// The conflicts that agents declare and that count, each with who declares it first.
    pub(super) conflicts: Vec<[String; 2]>,
    /// Whose proposals changed.
    pub(super) changed: Vec<String>,
    /// The clerk's model; null if the clerk was absent.
    pub(super) sorted_by: Option<String>,
    /// What embeddings say, which decides nothing.
    pub(super) embedding: Option<EmbeddingFigures>,
}

/// How two proposals relate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ArenaPair {
    pub(super) a: String,
    pub(super) b: String,
    pub(super) relation: Option<PairRelation>,
    pub(super) similarity: Option<f64>,
    pub(super) quotes: Vec<ProposalQuote>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ArenaRating {
    pub(super) seat: Option<String>,
    pub(super) agent: String,
    pub(super) before: f64,
    /// Seats of one agent share it.
    pub(super) after: f64,
    pub(super) change: f64,
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
            judge: closing::final_judgement(log).map(|judged| judgement(log, judged)),
            convergence: log.checks.iter().map(|check| convergence(log, check)).collect(),
            convergence_threshold: log.options.convergence_threshold,
            extended_rounds: log.extended_rounds(),
            early_consensus: log.early_consensus().filter(|_| !log.votes.is_empty()),
            idle_revision: log.idle_revision(),
            ratings: ratings(log),
            trickster: log.options.trickster.then(|| ArenaTrickster {
                checks: trickster::reviews(log).into_iter().map(|review| agreement(log, review)).collect(),
            }),
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

    /// Whether every agent voted for one group of proposals.
    pub(super) fn is_backed_by_all(&self) -> bool {
        self.tally.iter().any(|group| group.votes == self.consensus.agents)
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

pub(super) fn judgement(log: &ArenaLog<'_>, judged: &JudgeResult) -> ArenaJudgement {
    let label = |place: usize| log.label(place).to_owned();
    let mut models: Vec<&str> = judged.sheets.iter().map(|sheet| sheet.model.as_str()).collect();
    models.dedup();
    let scores = judged.scores.iter().map(|(place, score)| ArenaScore {
        label: label(*place),
        seat: log.seat_id(*place),
        score: *score,
        criteria: CriteriaScores::from_list(judged.criteria(*place)),
        reasons: judged.reasons(*place),
    });
    let orders = judged.sheets.iter().map(|sheet| ArenaOrder {
        order: log.labels(&sheet.order),
        scores: sheet
            .scores
            .iter()
            .map(|scored| LabelledScore { label: label(scored.place), score: scored.score })
            .collect(),
        ranking: log.labels(&sheet.ranking),
    });
    ArenaJudgement {
        model: models.join(", "),
        scores: scores.collect(),
        ranking: log.labels(&judged.ranking),
        top: judged.top().map(label),
        first: log.labels(&judged.first),
        margin: judged.margin,
        margin_comment: judged.sheets.iter().find_map(|sheet| sheet.margin_comment.clone()),
        consistent: judged.consistent,
        orders: orders.collect(),
        agrees_with_vote: judged.agrees_with_vote(log),
        also_proposes: team::is_judge_a_proposer(&log.debate.brief) || judged.is_by_a_proposer(log),
    }
}

fn convergence(log: &ArenaLog<'_>, check: &ConvergenceCheck) -> ArenaCheck {
    let label = |place: usize| log.label(place).to_owned();
    let known = check.pairs.iter().map(|pair| ArenaPair {
        a: label(pair.a),
        b: label(pair.b),
        relation: Some(pair.relation),
        similarity: Some(pair.similarity),
        quotes: pair
            .quotes
            .iter()
            .map(|(place, quote)| ProposalQuote { label: label(*place), quote: quote.clone() })
            .collect(),
    });
    let unknown = check.unknown.iter().map(|(a, b)| ArenaPair {
        a: label(*a),
        b: label(*b),
        relation: None,
        similarity: None,
        quotes: Vec::new(),
    });
    let mut pairs: Vec<ArenaPair> = known.chain(unknown).collect();
    pairs.sort_by(|one, other| (&one.a, &one.b).cmp(&(&other.a, &other.b)));
    let stage = log.stages.get(check.stage);
    ArenaCheck {
        round: check.round,
        after_challenge: stage.is_some_and(|stage| stage.phase == ArenaPhase::Challenge),
        agreement_min: check.agreement_min,
        agreement_mean: check.agreement_mean,
        stability_min: check.stability.map(|stability| stability.min),
        stability_mean: check.stability.map(|stability| stability.mean),
        converged: check.converged,
        pairs,
        conflicts: check.conflicts.iter().map(|(one, other)| [label(*one), label(*other)]).collect(),
        changed: log.labels(&check.changed),
        sorted_by: check.sorted_by.clone(),
        embedding: check.embedding.clone(),
    }
}

fn ratings(log: &ArenaLog<'_>) -> Vec<ArenaRating> {
    let rated = voting::rated_seats(log);
    let all_changes = |agent: &str| -> f64 {
        rated.iter().filter(|other| other.agent == agent).map(|other| other.change).sum()
    };
    let rows = rated.iter().map(|rated| ArenaRating {
        seat: log.seat_id(rated.place),
        agent: rated.agent.clone(),
        before: rated.before,
        after: rated.before + all_changes(&rated.agent),
        change: rated.change,
        score: rated.score,
    });
    rows.collect()
}

fn agreement(log: &ArenaLog<'_>, review: AgreementReview) -> ArenaAgreement {
    ArenaAgreement {
        round: review.round,
        hollow: review.found.hollow,
        agents: log.labels(&review.agents),
        challenged: review.came_to.is_some(),
        came_to: review.came_to,
        met: review.is_met(),
        signals: review.found.signals,
        after: review.after.map(|after| after.signals),
    }
}

/// What the observer finds in every argument, in the order in which they were made. An agent that says the same again in a later
/// round is reported once.
fn rhetoric(log: &ArenaLog<'_>) -> Vec<ArenaRhetoric> {
    let mut entries: Vec<ArenaRhetoric> = Vec::new();
    let mut observe = |turn: &PhaseTurn, phase: ArenaPhase, label: &str, text: &str| {
        for finding in rhetoric::observe(text, log.options.observer_threshold) {
            let is_again = entries.iter().any(|seen| {
                seen.label == label
                    && seen.round < turn.phase.round
                    && seen.finding.name == finding.name
                    && is_same_text(&seen.finding.quote, &finding.quote)
            });
            if !is_again {
                entries.push(ArenaRhetoric {
                    round: turn.phase.round,
                    phase,
                    label: label.to_owned(),
                    finding,
                });
            }
        }
    };
    let (mut stages, mut votes) = (log.stages.iter().enumerate(), log.votes.iter());
    for turn in &log.debate.turns {
        let Some(phase) = ArenaPhase::parse(&turn.phase.name) else { continue };
        let made = log.critiques.iter().filter(|one| one.is_by_peer() && one.round == turn.phase.round);
        match phase {
            ArenaPhase::Propose | ArenaPhase::Revise | ArenaPhase::Refine | ArenaPhase::Challenge => {
                let Some((at, stage)) = stages.next() else { continue };
                let held = stage.held.iter().zip(&log.agents);
                for (held, agent) in held.filter_map(|(held, agent)| Some((held.as_ref()?, agent))) {
                    if held.round == turn.phase.round && !held.carried {
                        let said = [held.said.position.trim(), held.said.proposal.trim()].join("\n");
                        observe(turn, phase, &agent.label, &said);
                    }
                }
                for critique in made.filter(|one| one.stage + 1 == at) {
                    observe(turn, phase, critique.author(log), &critique.issues.join("\n"));
                }
            }
            ArenaPhase::Critique => {
                for critique in made {
                    observe(turn, phase, critique.author(log), &critique.issues.join("\n"));
                }
            }
            ArenaPhase::Vote => {
                let ballots = votes.next().into_iter().flat_map(|vote| vote.ballots.iter().zip(&log.agents));
                for (ballot, agent) in ballots.filter_map(|(ballot, agent)| Some((ballot.as_ref()?, agent))) {
                    observe(turn, phase, &agent.label, &ballot.reason);
                }
            }
            ArenaPhase::Context | ArenaPhase::Compare | ArenaPhase::Judge => {}
        }
    }
    entries
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
            ArenaPhase::Judge => judgements.next().map(|judgement| judge_round(log, judgement)),
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

fn judge_round(log: &ArenaLog<'_>, judgement: &JudgeRound) -> ArenaRoundResult {
    let result = judgement.result.as_ref();
    let score =
        |(place, score): &(usize, f64)| LabelledScore { label: log.label(*place).to_owned(), score: *score };
    ArenaRoundResult::Judgement {
        judge_top: result.and_then(|result| Some(log.label(result.top()?).to_owned())),
        margin: result.map(|result| result.margin),
        scores: result.map(|result| result.scores.iter().map(score).collect()),
    }
}
