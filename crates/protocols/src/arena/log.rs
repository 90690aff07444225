//! What the log says: who has which label, what each agent proposes after each stage, the critiques, votes and judgements.

use agon_core::lesson::AgentStanding;
use agon_core::{AskRecord, Brief, Corrupt, Debate, PhaseTurn, Reply, Seat, SeededDraw};
use serde::Deserialize;
use serde_json::Value;

use super::ballots::VoteRound;
use super::context::{self, ContextItem};
use super::convergence::{ConvergenceCheck, SimilarityMatrix};
use super::judging::{JudgeResult, JudgeSheet};
use super::options::ArenaOptions;
use super::replies::{CritiqueReply, JudgementReply, ProposalReply, RevisionReply, SimilarityReply};
use super::{ArenaPhase, CLOSING_SHARE, JUDGING, LAST_REVISION, team};
use crate::limits::LimitCheck;

/// The log as an arena reads it. Agents are known by their place in label order.
#[derive(Debug)]
pub(super) struct ArenaLog<'a> {
    pub(super) debate: &'a Debate,
    pub(super) options: ArenaOptions,
    pub(super) agents: Vec<ArenaAgent<'a>>,
    pub(super) standings: Vec<AgentStanding>,
    pub(super) context: Vec<ContextItem>,
    pub(super) stages: Vec<ProposalStage>,
    pub(super) critiques: Vec<ArenaCritique>,
    pub(super) checks: Vec<ConvergenceCheck>,
    pub(super) votes: Vec<VoteRound>,
    pub(super) judgements: Vec<JudgeRound>,
}

/// An agent with its label.
#[derive(Debug)]
pub(super) struct ArenaAgent<'a> {
    /// `A`, `B`...
    pub(super) label: String,
    pub(super) seat: &'a Seat,
}

/// A phase in which proposals are made or changed.
#[derive(Debug)]
pub(super) struct ProposalStage {
    pub(super) phase: ArenaPhase,
    pub(super) round: u32,
    /// By place; `None` for agents without a proposal in round 1.
    pub(super) held: Vec<Option<HeldProposal>>,
}

impl ProposalStage {
    pub(super) fn held_by(&self, place: usize) -> Option<&HeldProposal> {
        self.held.get(place)?.as_ref()
    }
}

/// What an agent proposes after a stage.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HeldProposal {
    pub(super) said: RevisionReply,
    /// The round in which it was said.
    pub(super) round: u32,
    /// Whether its author was absent in this stage, so that its last proposal counts.
    pub(super) carried: bool,
    /// Whether it was said in this stage.
    pub(super) is_new: bool,
    /// The agents that it conflicts with by its author's last declaration; `None` before the first.
    pub(super) conflicts: Option<Vec<usize>>,
}

/// A phase in which the judge was asked.
#[derive(Debug)]
pub(super) struct JudgeRound {
    pub(super) round: u32,
    /// In how many orders it was asked.
    pub(super) orders: usize,
    /// `None` if the judge was absent in all of them.
    pub(super) result: Option<JudgeResult>,
}

/// Who criticizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CritiqueSource {
    /// An agent, in round 2.
    Peer(usize),
    /// An agent that voted for another proposal, or for none.
    Voter(usize, Option<usize>),
    Judge,
}

/// A critique of one proposal. Critiques are numbered over the whole debate: those of round 2 first, then, in extended rounds, the
/// reasons of the voters and the judge.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ArenaCritique {
    /// `Q1`, `Q2`...
    pub(super) id: String,
    /// The round in which it was made.
    pub(super) round: u32,
    pub(super) from: CritiqueSource,
    pub(super) to: usize,
    /// `None` for the reasons of voters and judge.
    pub(super) severity: Option<f64>,
    pub(super) issues: Vec<String>,
    pub(super) suggestions: Vec<String>,
}

impl ArenaCritique {
    /// The label of its author, or `judge`.
    pub(super) fn author<'a>(&self, log: &'a ArenaLog<'_>) -> &'a str {
        match self.from {
            CritiqueSource::Peer(place) | CritiqueSource::Voter(place, _) => log.label(place),
            CritiqueSource::Judge => "judge",
        }
    }

    pub(super) fn is_by(&self, place: usize) -> bool {
        matches!(self.from, CritiqueSource::Peer(by) | CritiqueSource::Voter(by, _) if by == place)
    }

    /// The last answer that the criticized agent gave.
    pub(super) fn answer<'a>(&self, log: &'a ArenaLog<'_>) -> Option<&'a str> {
        let said = log.stages.iter().rev().filter_map(|stage| stage.held_by(self.to));
        let mut answers = said.flat_map(|held| &held.said.addressed);
        answers.find(|answer| answer.critique_id == self.id).map(|answer| answer.how.as_str())
    }
}

impl<'a> ArenaLog<'a> {
    pub(super) fn read(debate: &'a Debate) -> Result<Self, Corrupt> {
        let mut log = Self {
            debate,
            options: ArenaOptions::read(&debate.brief.options),
            agents: labelled_agents(&debate.brief),
            standings: team::standings(&debate.brief),
            context: Vec::new(),
            stages: Vec::new(),
            critiques: Vec::new(),
            checks: Vec::new(),
            votes: Vec::new(),
            judgements: Vec::new(),
        };
        for turn in &debate.turns {
            log.fold(turn)?;
        }
        Ok(log)
    }

    fn fold(&mut self, turn: &PhaseTurn) -> Result<(), Corrupt> {
        let phase = ArenaPhase::of(&turn.phase)?;
        match phase {
            ArenaPhase::Context => self.context = context::read_items(self, turn)?,
            ArenaPhase::Propose | ArenaPhase::Revise | ArenaPhase::Refine | ArenaPhase::Challenge => {
                if phase == ArenaPhase::Revise && turn.phase.round > JUDGING {
                    self.add_decision_critiques();
                }
                let stage = self.read_stage(phase, turn)?;
                self.stages.push(stage);
            }
            ArenaPhase::Critique => self.critiques = self.read_critiques(turn)?,
            ArenaPhase::Compare => self.checks.extend(self.read_check(turn)?),
            ArenaPhase::Vote => {
                let vote = VoteRound::read(self, turn)?;
                self.votes.push(vote);
            }
            ArenaPhase::Judge => {
                let judgement = self.read_judgement(turn)?;
                self.judgements.push(judgement);
            }
        }
        Ok(())
    }

    fn read_stage(&self, phase: ArenaPhase, turn: &PhaseTurn) -> Result<ProposalStage, Corrupt> {
        let round = turn.phase.round;
        let before = self.stages.last();
        let mut held = Vec::new();
        for (place, agent) in self.agents.iter().enumerate() {
            let last = before.and_then(|stage| stage.held_by(place));
            held.push(match (reply_value(turn, &agent.seat.id), before) {
                (Some(value), None) => {
                    let said = RevisionReply::from(ProposalReply::deserialize(value)?);
                    Some(HeldProposal { said, round, carried: false, is_new: true, conflicts: None })
                }
                (Some(value), Some(_)) => {
                    let mut said = RevisionReply::deserialize(value)?;
                    said.addressed.retain(|answer| self.is_critique_of(&answer.critique_id, place));
                    let mut conflicts: Vec<usize> =
                        said.conflicts_with.iter().filter_map(|label| self.place(label)).collect();
                    conflicts.sort_unstable();
                    conflicts.dedup();
                    conflicts.retain(|other| *other != place);
                    Some(HeldProposal {
                        said,
                        round,
                        carried: false,
                        is_new: true,
                        conflicts: Some(conflicts),
                    })
                }
                (None, _) => last.map(|last| {
                    let asked = turn.asks.iter().any(|ask| ask.seat == agent.seat.id);
                    HeldProposal { carried: asked || last.carried, is_new: false, ..last.clone() }
                }),
            });
        }
        Ok(ProposalStage { phase, round, held })
    }

    /// What the agents said of each other's proposals, in the order in which they were asked.
    fn read_critiques(&self, turn: &PhaseTurn) -> Result<Vec<ArenaCritique>, Corrupt> {
        let mut critiques = Vec::new();
        for (ask, reply) in turn.settled() {
            let from = self.agents.iter().position(|agent| agent.seat.id == ask.seat);
            let to = ask.about.as_deref().and_then(|label| self.place(label));
            let (Some(from), Some(to), Some(value)) = (from, to, reply.value()) else { continue };
            let said = CritiqueReply::deserialize(value)?;
            critiques.push(ArenaCritique {
                id: self.critique_id(critiques.len()),
                round: turn.phase.round,
                from: CritiqueSource::Peer(from),
                to,
                severity: Some(said.severity),
                issues: said.issues,
                suggestions: said.suggestions,
            });
        }
        Ok(critiques)
    }

    /// Turns the reasons of the last vote and judge into critiques, as an extended round begins. A voter's reason criticizes every
    /// proposal that differs from its choice and is not its own; the judge's reasons criticize the proposal that they are about.
    pub(super) fn add_decision_critiques(&mut self) {
        let Some(vote) = self.votes.last() else { return };
        let mut reasons: Vec<(CritiqueSource, usize, Vec<String>, u32)> = Vec::new();
        for voter in self.in_seat_order() {
            let Some(ballot) = vote.ballot(voter) else { continue };
            let chosen = ballot.choice.map_or(&[][..], |choice| vote.group(choice));
            for to in self.proposers().into_iter().filter(|to| *to != voter && !chosen.contains(to)) {
                let from = CritiqueSource::Voter(voter, ballot.choice);
                reasons.push((from, to, vec![ballot.reason.clone()], vote.round));
            }
        }
        if let Some(judgement) = self.judgements.last()
            && let Some(result) = &judgement.result
        {
            let given = self.proposers().into_iter().map(|to| (to, result.reasons(to)));
            let given = given.filter(|(_, issues)| !issues.is_empty());
            reasons.extend(given.map(|(to, issues)| (CritiqueSource::Judge, to, issues, judgement.round)));
        }
        for (from, to, issues, round) in reasons {
            let id = self.critique_id(0);
            self.critiques.push(ArenaCritique {
                id,
                round,
                from,
                to,
                severity: None,
                issues,
                suggestions: vec![],
            });
        }
    }

    fn critique_id(&self, after: usize) -> String {
        format!("Q{}", self.critiques.len() + after + 1)
    }

    fn read_check(&self, turn: &PhaseTurn) -> Result<Option<ConvergenceCheck>, Corrupt> {
        let Some((place, stage)) = self.stages.iter().enumerate().next_back() else { return Ok(None) };
        let said = turn.settled().next();
        let measured = match said.and_then(|(ask, reply)| Some((ask, reply.value()?))) {
            Some((ask, value)) => {
                let measured_by = speaker(turn, ask).unwrap_or_default();
                Some(SimilarityMatrix { rows: SimilarityReply::deserialize(value)?.similarity, measured_by })
            }
            None => None,
        };
        let threshold = self.options.convergence_threshold;
        Ok(Some(ConvergenceCheck::of(turn.phase.round, place, &stage.held, measured, threshold)))
    }

    fn read_judgement(&self, turn: &PhaseTurn) -> Result<JudgeRound, Corrupt> {
        let (round, orders) = (turn.phase.round, turn.asks.len());
        let mut sheets = Vec::new();
        for ((ask, reply), order) in turn.settled().zip(self.judging_orders(round)) {
            if let Some(value) = reply.value() {
                let said = JudgementReply::deserialize(value)?;
                let model = speaker(turn, ask).unwrap_or_default();
                sheets.push(JudgeSheet::read(said, order, model, |label| self.place(label)));
            }
        }
        Ok(JudgeRound { round, orders, result: JudgeResult::of(sheets) })
    }

    /// Whether a critique is about an agent's proposal.
    pub(super) fn is_critique_of(&self, id: &str, place: usize) -> bool {
        self.critiques.iter().any(|critique| critique.id == id && critique.to == place)
    }

    /// The ids that an agent had read when it spoke in a round: its context, and the critiques of its proposal.
    pub(super) fn ids_shown(&self, place: usize, round: u32) -> Vec<&str> {
        let Some(agent) = self.agents.get(place) else { return Vec::new() };
        let items = self.context.iter().filter(|item| item.is_for(agent)).map(|item| item.id.as_str());
        let critiques =
            self.critiques.iter().filter(|critique| critique.to == place && critique.round < round);
        items.chain(critiques.map(|critique| critique.id.as_str())).collect()
    }

    /// What everybody proposes now, by place.
    pub(super) fn held(&self) -> &[Option<HeldProposal>] {
        self.stages.last().map_or(&[], |stage| &stage.held)
    }

    /// What an agent proposes now.
    pub(super) fn proposal(&self, place: usize) -> Option<&HeldProposal> {
        self.held().get(place)?.as_ref()
    }

    /// The agents that have a proposal.
    pub(super) fn proposers(&self) -> Vec<usize> {
        let held = self.held().iter().enumerate();
        held.filter(|(_, held)| held.is_some()).map(|(place, _)| place).collect()
    }

    /// The check of the last stage.
    pub(super) fn current_check(&self) -> ConvergenceCheck {
        self.check_of_stage(self.stages.len().saturating_sub(1))
    }

    /// The check of a stage, without figures if nothing was measured.
    pub(super) fn check_of_stage(&self, place: usize) -> ConvergenceCheck {
        let measured = self.checks.iter().find(|check| check.stage == place).cloned();
        let stage = self.stages.get(place);
        let (round, held) = stage.map_or((0, &[][..]), |stage| (stage.round, &stage.held));
        let threshold = self.options.convergence_threshold;
        measured.unwrap_or_else(|| ConvergenceCheck::of(round, place, held, None, threshold))
    }

    /// The proposals in the order in which all voters of a round read them.
    pub(super) fn voting_order(&self, round: u32) -> Vec<usize> {
        self.shuffled_proposers(&format!("vote {round}"))
    }

    /// The proposals in the orders in which the judge of a round reads them: one, and its reverse.
    pub(super) fn judging_orders(&self, round: u32) -> Vec<Vec<usize>> {
        let order = self.shuffled_proposers(&format!("judge {round}"));
        let reversed = order.iter().rev().copied().collect();
        [order, reversed].into_iter().take(self.options.judge_orders).collect()
    }

    fn shuffled_proposers(&self, purpose: &str) -> Vec<usize> {
        let mut order = self.proposers();
        SeededDraw::new(self.debate.brief.seed, purpose).shuffle(&mut order);
        order
    }

    /// The place of a label, with or without `Agent` before it.
    pub(super) fn place(&self, label: &str) -> Option<usize> {
        let label = bare_label(label);
        self.agents.iter().position(|agent| agent.label == label)
    }

    pub(super) fn label(&self, place: usize) -> &str {
        self.agents.get(place).map_or("", |agent| agent.label.as_str())
    }

    pub(super) fn labels(&self, places: &[usize]) -> Vec<String> {
        places.iter().map(|place| self.label(*place).to_owned()).collect()
    }

    /// An agent as prompts and warnings name it.
    pub(super) fn name(&self, place: usize) -> String {
        format!("Agent {}", self.label(place))
    }

    /// Several agents as prompts and warnings name them.
    pub(super) fn names(&self, places: &[usize]) -> String {
        places.iter().map(|place| self.name(*place)).collect::<Vec<_>>().join(", ")
    }

    /// The places of the agents in seat order.
    pub(super) fn in_seat_order(&self) -> Vec<usize> {
        let seats = self.debate.brief.seats_of("agent");
        seats.filter_map(|seat| self.agents.iter().position(|agent| agent.seat.id == seat.id)).collect()
    }

    /// The limits of the debate. A part of them is kept for the vote and the judge.
    pub(super) fn limits(&self) -> LimitCheck<'a> {
        let closing_calls = self.agents.len() + self.options.judge_orders;
        LimitCheck { debate: self.debate, closing_share: CLOSING_SHARE, closing_calls }
    }

    /// The agent that made a seat's proposals, or, if it made none, that spoke for it at all; `None` if there were several.
    pub(super) fn sole_speaker(&self, seat: &str) -> Option<String> {
        let mut speakers = self.proposing_speakers(seat);
        if speakers.is_empty() {
            speakers = self.speakers(seat, |_| true);
        }
        let only = speakers.pop();
        only.filter(|_| speakers.is_empty())
    }

    /// All agents that made a seat's proposals.
    pub(super) fn proposing_speakers(&self, seat: &str) -> Vec<String> {
        self.speakers(seat, ArenaPhase::makes_proposals)
    }

    fn speakers(&self, seat: &str, counts: impl Fn(ArenaPhase) -> bool) -> Vec<String> {
        let mut speakers: Vec<String> = Vec::new();
        for turn in
            self.debate.turns.iter().filter(|turn| ArenaPhase::parse(&turn.phase.name).is_some_and(&counts))
        {
            let said = turn.settled().filter(|(ask, reply)| ask.seat == seat && reply.text().is_some());
            speakers.extend(said.filter_map(|(ask, _)| speaker(turn, ask)));
        }
        speakers.sort_unstable();
        speakers.dedup();
        speakers
    }

    /// Whether this debate is a branch of another one.
    pub(super) fn is_branch(&self) -> bool {
        self.debate.brief.parent.is_some()
    }

    /// The round of revision in which the proposals converged and went straight to the vote.
    pub(super) fn early_consensus(&self) -> Option<u32> {
        let vote = self.votes.first()?;
        let check = self.checks.iter().rev().find(|check| check.stage == vote.stage)?;
        let early = check.converged && check.round <= LAST_REVISION && !vote.hollow;
        early.then_some(check.round)
    }

    /// How many extended rounds were begun.
    pub(super) fn extended_rounds(&self) -> u32 {
        let begun =
            self.stages.iter().filter(|stage| stage.phase == ArenaPhase::Revise && stage.round > JUDGING);
        u32::try_from(begun.count()).unwrap_or(u32::MAX)
    }

    /// Whether a seat of the debate answered in a phase. Errands are no seats.
    pub(super) fn was_answered(&self, turn: &PhaseTurn) -> bool {
        let mut answered = turn.settled().filter(|(_, reply)| reply.text().is_some());
        answered.any(|(ask, _)| self.debate.brief.seat(&ask.seat).is_some())
    }
}

/// The agents, shuffled by the debate's seed and labelled A, B, C...
pub(super) fn labelled_agents(brief: &Brief) -> Vec<ArenaAgent<'_>> {
    let mut seats: Vec<&Seat> = brief.seats_of("agent").collect();
    SeededDraw::new(brief.seed, "labels").shuffle(&mut seats);
    ('A'..='Z').zip(seats).map(|(label, seat)| ArenaAgent { label: label.into(), seat }).collect()
}

/// A label without `Agent` before it.
pub(super) fn bare_label(label: &str) -> &str {
    let label = label.trim();
    label.strip_prefix("Agent ").unwrap_or(label).trim()
}

/// What a seat answered in a phase.
pub(super) fn reply_value<'t>(turn: &'t PhaseTurn, seat: &str) -> Option<&'t Value> {
    turn.settled().find(|(ask, _)| ask.seat == seat)?.1.value()
}

/// The agent behind an answer: the model that was called. A branch has no attempts for the answers that it copied, so the model in
/// the answer has to do there.
fn speaker(turn: &PhaseTurn, ask: &AskRecord) -> Option<String> {
    let place = turn.asks.iter().position(|other| other.id == ask.id)?;
    let called =
        turn.attempts.get(place).and_then(|attempts| attempts.last()).map(|last| last.model.as_str());
    let answered = match turn.replies.get(place)?.as_ref()? {
        Reply::Said { model, .. } => Some(model.as_str()),
        Reply::Absent { .. } => None,
    };
    Some(team::agent_name(called.or(answered)?))
}
