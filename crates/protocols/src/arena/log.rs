//! What the log says: who has which label, what each agent proposes after each stage, the critiques and what became of them, the
//! sortings, votes and judgements. What does not verify in a reply is dropped here.

use std::collections::HashSet;

use agon_core::lesson::AgentStanding;
use agon_core::provenance::provenance;
use agon_core::wording::joined;
use agon_core::{AskRecord, Brief, Corrupt, Debate, Phase, PhaseTurn, Reply, Seat, SeededDraw, ToolItem};
use serde::Deserialize;
use serde_json::Value;

use super::context::{self, ContextItem};
use super::convergence::{ConvergenceCheck, all_pairs};
use super::replies::{
    ChangeCause, CritiqueReply, CritiqueStatus, JudgementReply, PairRelation, ProposalReply, RevisionReply,
};
use super::voting::{JudgeResult, JudgeSheet, VoteRound};
use super::{ArenaOptions, ArenaPhase, CLOSING_SHARE, JUDGING, LAST_REVISION, REFINEMENT, team, trickster};
use crate::clerk::CLERK;
use crate::limits::LimitCheck;
use crate::quotes::{QuotedTexts, normalized};
use crate::sorting::is_label;
use crate::tools::{SourceCitation, cited_item};

/// The log as an arena reads it. Agents are known by their place in label order.
#[derive(Debug)]
pub(super) struct ArenaLog<'a> {
    pub(super) debate: &'a Debate,
    /// How texts are shown to seats.
    pub(super) quoted: QuotedTexts<'a>,
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
    /// Its text, and its position and proposal alone, normalized: they are compared often.
    text: String,
    substance: [String; 2],
    /// The round and the stage in which it was said.
    pub(super) round: u32,
    pub(super) stage: usize,
    /// Whether its author was absent in this stage, so that its last proposal counts.
    pub(super) carried: bool,
    /// The agents that it conflicts with by its author's declaration.
    pub(super) conflicts: Vec<usize>,
    /// What its author names as the cause of a change and does not verify, as it stands after "citing".
    pub(super) unverified: Vec<String>,
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
    /// An agent, in round 2 or in a revision.
    Peer(usize),
    /// An agent that voted for another proposal, or for none.
    Voter(usize, Option<usize>),
    Judge,
}

impl CritiqueSource {
    /// The agent; `None` for the judge.
    pub(super) fn agent(self) -> Option<usize> {
        match self {
            Self::Peer(place) | Self::Voter(place, _) => Some(place),
            Self::Judge => None,
        }
    }
}

/// A critique of one proposal. Critiques are numbered over the whole debate: those of round 2 first, then those of each revision
/// and, in extended rounds, the reasons of the voters and the judge.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ArenaCritique {
    /// `Q1`, `Q2`...
    pub(super) id: String,
    /// The round in which it was made.
    pub(super) round: u32,
    /// The stage of the proposal that it is about.
    pub(super) stage: usize,
    pub(super) from: CritiqueSource,
    pub(super) to: usize,
    /// `None` for the reasons of voters and judge.
    pub(super) severity: Option<f64>,
    pub(super) issues: Vec<String>,
    pub(super) suggestions: Vec<String>,
    /// Every answer to it and every verdict on it, in the order of the versions that they are about. Critics judge while the next version
    /// is written, so a verdict of the round in which an answer was given is about the version before.
    pub(super) steps: Vec<CritiqueStep>,
}

/// What became of a critique: an answer to it, or its author's verdict.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CritiqueStep {
    /// The round of the version that it is about.
    pub(super) round: u32,
    /// `None` for an answer.
    pub(super) status: Option<CritiqueStatus>,
    /// As it was said.
    pub(super) said: String,
}

impl CritiqueStep {
    pub(super) fn text(&self) -> &str {
        self.said.trim()
    }
}

impl ArenaCritique {
    /// The label of its author, or `judge`.
    pub(super) fn author<'a>(&self, log: &'a ArenaLog<'_>) -> &'a str {
        self.from.agent().map_or("judge", |place| log.label(place))
    }

    /// The last answer to it.
    pub(super) fn answer(&self) -> Option<&CritiqueStep> {
        self.steps.iter().rfind(|step| step.status.is_none())
    }

    /// What its author said last of the revisions; `None` if it never did.
    pub(super) fn verdict(&self) -> Option<&CritiqueStep> {
        self.steps.iter().rfind(|step| step.status.is_some())
    }

    /// Whether its author has called it resolved.
    pub(super) fn is_resolved(&self) -> bool {
        self.verdict().is_some_and(|verdict| verdict.status == Some(CritiqueStatus::Resolved))
    }

    /// Whether it has an issue and its author has not called it resolved.
    pub(super) fn is_open(&self) -> bool {
        !self.is_resolved() && !self.issues.is_empty()
    }

    /// The round of the version that it is about.
    pub(super) fn version(&self, log: &ArenaLog<'_>) -> u32 {
        log.held_at(self.stage, self.to).map_or(self.round, |held| held.round)
    }

    pub(super) fn is_by_peer(&self) -> bool {
        matches!(self.from, CritiqueSource::Peer(_))
    }
}

impl<'a> ArenaLog<'a> {
    pub(super) fn read(debate: &'a Debate) -> Result<Self, Corrupt> {
        Self::read_turns(debate, debate.turns.len())
    }

    /// The log as it was when the last phase, a kind of revision, was asked for.
    pub(super) fn read_before(debate: &'a Debate, last: &Phase) -> Result<Self, Corrupt> {
        let mut log = Self::read_turns(debate, debate.turns.len().saturating_sub(1))?;
        if ArenaPhase::of(last)? == ArenaPhase::Revise && last.round > JUDGING {
            log.add_decision_critiques();
        }
        Ok(log)
    }

    fn read_turns(debate: &'a Debate, count: usize) -> Result<Self, Corrupt> {
        let mut log = Self {
            debate,
            quoted: QuotedTexts::anonymous(&debate.brief),
            options: ArenaOptions::read(&debate.brief.options),
            agents: labelled_agents(&debate.brief),
            standings: team::standings(&debate.brief),
            context: context::attached_items(&debate.brief),
            stages: Vec::new(),
            critiques: Vec::new(),
            checks: Vec::new(),
            votes: Vec::new(),
            judgements: Vec::new(),
        };
        for turn in debate.turns.iter().take(count) {
            log.fold(turn)?;
        }
        Ok(log)
    }

    fn fold(&mut self, turn: &PhaseTurn) -> Result<(), Corrupt> {
        let phase = ArenaPhase::of(&turn.phase)?;
        match phase {
            ArenaPhase::Context => self.context.extend(context::read_items(self, turn)?),
            ArenaPhase::Propose | ArenaPhase::Revise | ArenaPhase::Refine | ArenaPhase::Challenge => {
                if phase == ArenaPhase::Revise && turn.phase.round > JUDGING {
                    self.add_decision_critiques();
                }
                let stage = self.read_stage(phase, turn)?;
                self.stages.push(stage);
                self.read_reviews(turn.phase.round);
            }
            ArenaPhase::Critique => self.read_critiques(turn)?,
            ArenaPhase::Compare => self.checks.extend(ConvergenceCheck::read(self, turn)?),
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
        let (round, stage, before) = (turn.phase.round, self.stages.len(), self.stages.last());
        let mut held = Vec::new();
        for (place, agent) in self.agents.iter().enumerate() {
            let last = before.and_then(|stage| stage.held_by(place));
            let value = reply_value(turn, &agent.seat.id);
            let Some(value) = value else {
                let asked = turn.asks.iter().any(|ask| ask.seat == agent.seat.id);
                held.push(last.map(|last| HeldProposal { carried: asked || last.carried, ..last.clone() }));
                continue;
            };
            // A reply is read as the type that it was checked as.
            let said = match phase {
                ArenaPhase::Propose => {
                    RevisionReply { now: ProposalReply::deserialize(value)?, ..RevisionReply::default() }
                }
                _ => RevisionReply::deserialize(value)?,
            };
            let (said, unverified) = self.verified(place, round, said);
            held.push(Some(HeldProposal {
                text: normalized(&said.now.text()),
                substance: [normalized(&said.now.position), normalized(&said.now.proposal)],
                conflicts: said.conflicts_with.iter().filter_map(|label| self.place(label)).collect(),
                said,
                round,
                stage,
                carried: false,
                unverified,
            }));
        }
        Ok(ProposalStage { phase, round, held })
    }

    /// A revision without what was not asked for or does not verify: ids that its author was not shown, labels of nobody else, and
    /// words that do not occur. The causes that do not verify stand beside it.
    fn verified(&self, place: usize, round: u32, mut said: RevisionReply) -> (RevisionReply, Vec<String>) {
        for text in [&mut said.now.position, &mut said.now.proposal] {
            *text = text.trim().to_owned();
        }
        let causes = self.causes(place, round);
        let mut unverified = Vec::new();
        said.changed_because.retain(|cause| {
            let is_cause = self.is_cause(&causes, cause);
            if !is_cause {
                let is_shown = causes.iter().any(|(id, _)| id == cause.bare_id());
                let what =
                    if is_shown { " with words that do not occur there" } else { ", which it was not shown" };
                unverified.push(format!("{}{what}", self.cause_name(cause)));
            }
            is_cause
        });
        let (mut answered, mut judged) = (HashSet::new(), HashSet::new());
        said.addressed.retain(|answer| {
            let is_own = self.critiques.iter().any(|one| one.id == answer.critique_id && one.to == place);
            answered.insert(answer.critique_id.clone()) && is_own && !answer.how.trim().is_empty()
        });
        let due = self.due_verdicts(place);
        said.verdicts.retain(|verdict| {
            let is_due = due.iter().any(|critique| critique.id == verdict.critique_id);
            judged.insert(verdict.critique_id.clone()) && is_due
        });
        let is_other = |label: &str| {
            self.place(label).is_some_and(|other| other != place && self.proposal(other).is_some())
        };
        let is_asked = self.takes_critiques(round);
        said.critiques
            .retain(|critique| is_asked && is_other(&critique.label) && !critique.issue.trim().is_empty());
        said.conflicts_with.retain(|label| is_other(label));
        (said, unverified)
    }

    /// What the agents said of each other's proposals in round 2, in the order in which they were asked.
    fn read_critiques(&mut self, turn: &PhaseTurn) -> Result<(), Corrupt> {
        for (ask, reply) in turn.settled() {
            let from = self.agents.iter().position(|agent| agent.seat.id == ask.seat);
            let to = ask.about.as_deref().and_then(|label| self.place(label));
            let (Some(from), Some(to), Some(value)) = (from, to, reply.value()) else { continue };
            let said = CritiqueReply::deserialize(value)?;
            let texts =
                |texts: Vec<String>| texts.into_iter().filter(|text| !text.trim().is_empty()).collect();
            let (issues, suggestions) = (texts(said.issues), texts(said.suggestions));
            let (from, severity) = (CritiqueSource::Peer(from), Some(said.severity));
            self.add_critique((turn.phase.round, 0), from, to, severity, issues, suggestions);
        }
        Ok(())
    }

    /// What the agents say in the last stage, in seat order, of the proposals before it, verdicts on their critiques and new ones, and
    /// their answers to the critiques of their own.
    fn read_reviews(&mut self, round: u32) {
        let last = self.stages.len().saturating_sub(1);
        let shown = last.saturating_sub(1);
        let places = self.in_seat_order().into_iter().filter(|place| self.is_new(last, *place));
        let said = places.filter_map(|place| Some((place, self.proposal(place)?.said.clone())));
        let said: Vec<(usize, RevisionReply)> = said.collect();
        for verdict in said.iter().flat_map(|(_, said)| &said.verdicts) {
            self.add_step(&verdict.critique_id, shown, Some(verdict.status), &verdict.why);
        }
        for answer in said.iter().flat_map(|(_, said)| &said.addressed) {
            self.add_step(&answer.critique_id, last, None, &answer.how);
        }
        for (from, made) in
            said.iter().flat_map(|(from, said)| said.critiques.iter().map(|made| (*from, made)))
        {
            let Some(to) = self.place(&made.label) else { continue };
            let (from, issues) = (CritiqueSource::Peer(from), vec![made.issue.trim().to_owned()]);
            self.add_critique((round, shown), from, to, Some(made.severity), issues, Vec::new());
        }
    }

    /// Adds what somebody says of a critique and the version of a stage.
    fn add_step(&mut self, id: &str, stage: usize, status: Option<CritiqueStatus>, said: &str) {
        let Some(critique) = self.critiques.iter_mut().find(|critique| critique.id == id) else { return };
        let version = self.stages.get(stage).and_then(|stage| stage.held_by(critique.to));
        let step = |held: &HeldProposal| CritiqueStep { round: held.round, status, said: said.to_owned() };
        critique.steps.extend(version.map(step));
    }

    /// Adds a critique that was made in a round of the proposals of a stage.
    fn add_critique(
        &mut self,
        (round, stage): (u32, usize),
        from: CritiqueSource,
        to: usize,
        severity: Option<f64>,
        issues: Vec<String>,
        suggestions: Vec<String>,
    ) {
        let id = format!("Q{}", self.critiques.len() + 1);
        self.critiques.push(ArenaCritique {
            id,
            round,
            stage,
            from,
            to,
            severity,
            issues,
            suggestions,
            steps: Vec::new(),
        });
    }

    /// Turns the reasons of the last vote and judge into critiques, as an extended round begins. A voter's reason criticizes every
    /// proposal that differs from its choice and is not its own; the judge's reasons criticize the proposal that they are about.
    pub(super) fn add_decision_critiques(&mut self) {
        let Some(vote) = self.votes.last() else { return };
        let mut reasons: Vec<(CritiqueSource, usize, Vec<String>, u32)> = Vec::new();
        for (voter, ballot) in
            self.in_seat_order().into_iter().filter_map(|place| Some((place, vote.ballot(place)?)))
        {
            let chosen = ballot.chosen.map_or(&[][..], |choice| vote.group(choice));
            let criticized = self.proposers().into_iter().filter(|to| *to != voter && !chosen.contains(to));
            let from = CritiqueSource::Voter(voter, ballot.chosen);
            reasons.extend(criticized.map(|to| (from, to, vec![ballot.reason.clone()], vote.round)));
        }
        reasons.retain(|(.., issues, _)| issues.iter().all(|issue| !issue.is_empty()));
        if let Some((round, result)) =
            self.judgements.last().and_then(|last| Some((last.round, last.result.as_ref()?)))
        {
            let reasons_of = |to: usize| Some((to, result.of_proposal(self.label(to))?.reasons.clone()));
            let given = self.proposers().into_iter().filter_map(reasons_of);
            let given = given.filter(|(_, issues)| !issues.is_empty());
            reasons.extend(given.map(|(to, issues)| (CritiqueSource::Judge, to, issues, round)));
        }
        let stage = vote.stage;
        for (from, to, issues, round) in reasons {
            self.add_critique((round, stage), from, to, None, issues, Vec::new());
        }
    }

    fn read_judgement(&self, turn: &PhaseTurn) -> Result<JudgeRound, Corrupt> {
        let (round, orders) = (turn.phase.round, turn.asks.len());
        let mut sheets = Vec::new();
        for ((ask, reply), order) in turn.settled().zip(self.judging_orders(round)) {
            if let Some(value) = reply.value() {
                let said = JudgementReply::deserialize(value)?;
                let model = speaker(turn, ask).unwrap_or_default();
                sheets.push(JudgeSheet::read(said, self.labels(&order), model, self.options.weights()));
            }
        }
        Ok(JudgeRound { round, orders, result: JudgeResult::of_judge(self, sheets) })
    }

    /// The critiques that an agent is to answer in the next stage: all that are open, the reasons of the last vote and judge, and, once,
    /// suggestions without an issue.
    pub(super) fn due_answers(&self, place: usize) -> Vec<&ArenaCritique> {
        let last_vote = self.votes.last().map_or(0, |vote| vote.round);
        let is_due = |critique: &&ArenaCritique| {
            let is_late = critique.is_by_peer() || critique.round >= last_vote;
            let is_suggested = !critique.suggestions.is_empty() && critique.stage + 1 == self.stages.len();
            critique.to == place && is_late && (critique.is_open() || is_suggested)
        };
        self.critiques.iter().filter(is_due).collect()
    }

    /// Whether a revision of this round may criticize the others: they are shown, and a revision follows in which they can answer.
    pub(super) fn takes_critiques(&self, round: u32) -> bool {
        self.stages.len() > 1 && round < REFINEMENT
    }

    /// What an agent may name as the cause of a change in the next stage: each id with the text that the agent reads there.
    pub(super) fn causes(&self, place: usize, round: u32) -> Vec<(String, String)> {
        let due = self.due_answers(place).into_iter();
        let critiques = due.map(|critique| (critique.id.clone(), critique.text()));
        let items =
            self.context.iter().filter(|item| self.agents.get(place).is_some_and(|agent| item.is_for(agent)));
        let items = items.map(|item| (item.id.clone(), item.quoted_text()));
        let others = self.proposers().into_iter().filter(|other| *other != place);
        let others = others.filter_map(|other| {
            let said = &self.proposal(other)?.said;
            let shown = if self.stages.len() > 1 { said.now.text() } else { said.now.position.clone() };
            Some((self.name(other), shown))
        });
        let looked_up =
            self.items_shown(round).map(|item| (item.id.clone(), item.text().unwrap_or_default().to_owned()));
        critiques.chain(items).chain(looked_up).chain(others).collect()
    }

    /// What was looked up before an agent spoke in a round.
    pub(super) fn items_shown(&self, round: u32) -> impl Iterator<Item = &'a ToolItem> {
        let turns = &self.debate.turns;
        let last = turns.iter().rposition(|turn| turn.phase.round <= round).unwrap_or_default();
        self.debate.items.iter().filter(move |item| item.from_turn <= last && item.text().is_some())
    }

    /// The item of this id.
    pub(super) fn item(&self, id: &str) -> Option<&'a ToolItem> {
        cited_item(&self.debate.items, id)
    }

    /// Whether words occur in the item of this id.
    pub(super) fn is_item_quoted(&self, id: &str, quote: &str) -> bool {
        self.item(id).is_some_and(|item| SourceCitation::verified(&self.quoted, item, quote).is_some())
    }

    /// Whether a declared cause is one of these, with words of it.
    pub(super) fn is_cause(&self, causes: &[(String, String)], declared: &ChangeCause) -> bool {
        let id = declared.bare_id();
        let mut named = causes.iter().filter(|(one, _)| one == id);
        match self.item(id) {
            Some(_) => named.next().is_some() && self.is_item_quoted(id, &declared.quote),
            None => named.any(|(_, text)| self.quoted.is_quoted(&declared.quote, text)),
        }
    }

    /// What a declared cause names: an agent, or an id in brackets.
    fn cause_name(&self, declared: &ChangeCause) -> String {
        let id = declared.bare_id();
        if self.place(id).is_some() { id.to_owned() } else { format!("[{id}]") }
    }

    /// A declared cause that verifies, as reports cite it.
    pub(super) fn cited_cause(&self, declared: &ChangeCause) -> String {
        format!("{}: \"{}\"", self.cause_name(declared), declared.quote.trim())
    }

    /// The critiques by an agent that it is to judge in the next stage: all that are open, as soon as a proposal was revised.
    pub(super) fn due_verdicts(&self, place: usize) -> Vec<&ArenaCritique> {
        let is_due = |critique: &&ArenaCritique| {
            critique.from == CritiqueSource::Peer(place) && critique.is_open() && self.stages.len() > 1
        };
        self.critiques.iter().filter(is_due).collect()
    }

    /// The critiques of a proposal that no critic has called resolved.
    pub(super) fn unresolved(&self, place: usize) -> Vec<&ArenaCritique> {
        let is_unresolved =
            |critique: &&ArenaCritique| critique.to == place && critique.is_by_peer() && critique.is_open();
        self.critiques.iter().filter(is_unresolved).collect()
    }

    /// The ids that an agent had read when it spoke in a round: its context, critiques by and of itself, and what was looked up.
    pub(super) fn ids_shown(&self, place: usize, round: u32) -> Vec<&str> {
        let Some(agent) = self.agents.get(place) else { return Vec::new() };
        let items = self.context.iter().filter(|item| item.is_for(agent)).map(|item| item.id.as_str());
        let is_shown = |critique: &&ArenaCritique| {
            critique.round < round && (critique.to == place || critique.from == CritiqueSource::Peer(place))
        };
        let critiques = self.critiques.iter().filter(is_shown).map(|critique| critique.id.as_str());
        items.chain(critiques).chain(self.items_shown(round).map(|item| item.id.as_str())).collect()
    }

    fn held_at(&self, stage: usize, place: usize) -> Option<&HeldProposal> {
        self.stages.get(stage)?.held_by(place)
    }

    /// Whether an agent spoke in a stage.
    pub(super) fn is_new(&self, stage: usize, place: usize) -> bool {
        self.held_at(stage, place).is_some_and(|held| held.stage == stage)
    }

    /// Whether an agent's proposal has the same text in two stages.
    fn is_unchanged(&self, one: usize, other: usize, place: usize) -> bool {
        let held = self.held_at(one, place).zip(self.held_at(other, place));
        held.is_some_and(|(one, other)| one.text == other.text)
    }

    /// Whether an agent changed its proposal in a stage.
    pub(super) fn is_revised(&self, stage: usize, place: usize) -> bool {
        let before = stage.checked_sub(1);
        before.is_some_and(|before| self.is_new(stage, place) && !self.is_unchanged(before, stage, place))
    }

    /// Whether anybody changed its proposal in a stage.
    pub(super) fn is_changed(&self, stage: usize) -> bool {
        self.proposers().into_iter().any(|place| self.is_revised(stage, place))
    }

    /// Whether agents answered in a round of revision, and none of them changed a proposal or had a new critique.
    pub(super) fn is_idle(&self, round: u32) -> bool {
        let stages = self.stages.iter().enumerate().filter(|(_, stage)| stage.round == round);
        let mut stages = stages.map(|(at, _)| at);
        let has_critique =
            self.critiques.iter().any(|critique| critique.round == round && critique.is_by_peer());
        let is_heard = |at: usize| self.proposers().into_iter().any(|place| self.is_new(at, place));
        stages.clone().any(is_heard) && !has_critique && !stages.any(|at| self.is_changed(at))
    }

    /// The round that ended the rounds of revision early, because it changed nothing.
    pub(super) fn idle_revision(&self) -> Option<u32> {
        let revised = self.stages.iter().filter(|stage| stage.phase == ArenaPhase::Revise);
        let last = revised.map(|stage| stage.round).filter(|round| *round <= LAST_REVISION).max()?;
        let refined = self.stages.iter().any(|stage| stage.phase == ArenaPhase::Refine);
        (refined && last < LAST_REVISION && self.is_idle(last)).then_some(last)
    }

    /// Whether two proposals of a stage are equal: the same position and the same proposal.
    pub(super) fn is_equal(&self, stage: usize, one: usize, other: usize) -> bool {
        let held = self.held_at(stage, one).zip(self.held_at(stage, other));
        held.is_some_and(|(one, other)| one.substance == other.substance)
    }

    /// How two proposals of a stage relate; `None` if that is not known. Equal texts are the same, and what an agent declares of its own
    /// proposal outranks the clerk. The clerk's word counts for the texts that it read: those of the last sorting up to this stage,
    /// or of a later one.
    pub(super) fn relation(&self, stage: usize, one: usize, other: usize) -> Option<PairRelation> {
        if self.is_equal(stage, one, other) {
            return Some(PairRelation::Same);
        }
        if self.declares_conflict(stage, one, other) || self.declares_conflict(stage, other, one) {
            return Some(PairRelation::Conflict);
        }
        let earlier = self.checks.iter().rev().filter(|check| check.stage <= stage);
        let later = self.checks.iter().filter(|check| check.stage > stage);
        let is_about_these = |check: &&ConvergenceCheck| {
            [one, other].iter().all(|place| self.is_unchanged(check.stage, stage, *place))
        };
        earlier
            .chain(later)
            .filter(is_about_these)
            .find_map(|check| check.relation(self.label(one), self.label(other)))
    }

    /// Whether an agent declares a conflict with another's proposal as it is in this stage. A declaration is about the version that the
    /// agent was shown.
    fn declares_conflict(&self, stage: usize, one: usize, other: usize) -> bool {
        let declared = self.held_at(stage, one).filter(|held| held.conflicts.contains(&other));
        let shown = declared.and_then(|held| held.stage.checked_sub(1));
        shown.is_some_and(|shown| self.is_unchanged(shown, stage, other))
    }

    /// The conflicts that agents declare in a stage and that count, each with who declares it first.
    pub(super) fn declared_conflicts(&self, stage: usize) -> Vec<(usize, usize)> {
        let pairs = all_pairs(&self.proposers())
            .into_iter()
            .filter(|(one, other)| !self.is_equal(stage, *one, *other));
        let both = pairs.flat_map(|(one, other)| [(one, other), (other, one)]);
        both.filter(|(one, other)| self.declares_conflict(stage, *one, *other)).collect()
    }

    /// What an agent proposes now.
    pub(super) fn proposal(&self, place: usize) -> Option<&HeldProposal> {
        self.stages.last()?.held_by(place)
    }

    /// The agents that have a proposal.
    pub(super) fn proposers(&self) -> Vec<usize> {
        (0..self.agents.len()).filter(|place| self.proposal(*place).is_some()).collect()
    }

    /// The check of a stage, if its proposals were sorted.
    pub(super) fn check_of(&self, stage: usize) -> Option<&ConvergenceCheck> {
        self.checks.iter().find(|check| check.stage == stage)
    }

    /// The proposals in the order in which one voter of a round reads them.
    pub(super) fn voting_order(&self, round: u32, voter: usize) -> Vec<usize> {
        self.shuffled_proposers(&format!("vote {round} {}", self.label(voter)))
    }

    /// The proposals in the orders in which the judge of a round reads them: one, and its reverse.
    pub(super) fn judging_orders(&self, round: u32) -> Vec<Vec<usize>> {
        let order = self.shuffled_proposers(&format!("judge {round}"));
        let reversed = order.iter().rev().copied().collect();
        let count = team::judge_orders(&self.debate.brief, &self.options);
        [order, reversed].into_iter().take(count).collect()
    }

    fn shuffled_proposers(&self, purpose: &str) -> Vec<usize> {
        let mut order = self.proposers();
        SeededDraw::new(self.debate.brief.seed, purpose).shuffle(&mut order);
        order
    }

    /// The place of a label, as prompts write it or without `Agent` before it.
    pub(super) fn place(&self, label: &str) -> Option<usize> {
        self.agents.iter().position(|agent| is_label(label, &agent_name(&agent.label)))
    }

    pub(super) fn seat_id(&self, place: usize) -> Option<String> {
        self.agents.get(place).map(|agent| agent.seat.id.clone())
    }

    pub(super) fn label(&self, place: usize) -> &str {
        self.agents.get(place).map_or("", |agent| agent.label.as_str())
    }

    pub(super) fn labels(&self, places: &[usize]) -> Vec<String> {
        places.iter().map(|place| self.label(*place).to_owned()).collect()
    }

    /// An agent as prompts and warnings name it.
    pub(super) fn name(&self, place: usize) -> String {
        agent_name(self.label(place))
    }

    /// Several agents as prompts and warnings name them.
    pub(super) fn names(&self, places: &[usize]) -> String {
        joined(&places.iter().map(|place| self.name(*place)).collect::<Vec<_>>())
    }

    /// The places of the agents in seat order.
    pub(super) fn in_seat_order(&self) -> Vec<usize> {
        let seats = self.debate.brief.seats_of("agent");
        seats.filter_map(|seat| self.agents.iter().position(|agent| agent.seat.id == seat.id)).collect()
    }

    /// The limits of the debate. A part of them is kept for the vote and the judge.
    pub(super) fn limits(&self) -> LimitCheck<'a> {
        let closing_calls = self.agents.len() + team::judge_orders(&self.debate.brief, &self.options);
        LimitCheck { debate: self.debate, closing_share: CLOSING_SHARE, closing_calls }
    }

    /// The agent that made a seat's proposals, or, if it made none, that spoke for it at all; `None` if there were several.
    pub(super) fn sole_speaker(&self, seat: &str) -> Option<String> {
        let mut speakers = self.speakers(seat, true);
        if speakers.is_empty() {
            speakers = self.speakers(seat, false);
        }
        let only = speakers.pop();
        only.filter(|_| speakers.is_empty())
    }

    /// All agents that made proposals.
    pub(super) fn proposing_models(&self) -> Vec<String> {
        self.agents.iter().flat_map(|agent| self.speakers(&agent.seat.id, true)).collect()
    }

    /// The agents that spoke for a seat, in any phase or where it made proposals.
    fn speakers(&self, seat: &str, is_proposing: bool) -> Vec<String> {
        let makes_proposals =
            |turn: &PhaseTurn| ArenaPhase::parse(&turn.phase.name).is_some_and(ArenaPhase::makes_proposals);
        let turns = self.debate.turns.iter().filter(|turn| !is_proposing || makes_proposals(turn));
        let replies = turns.flat_map(|turn| turn.settled().map(move |(ask, reply)| (turn, ask, reply)));
        let said = replies.filter(|(_, ask, reply)| ask.seat == seat && reply.text().is_some());
        let mut speakers: Vec<String> = said.filter_map(|(turn, ask, _)| speaker(turn, ask)).collect();
        speakers.sort_unstable();
        speakers.dedup();
        speakers
    }

    /// Whether later debates may know of this one. Not of a branch, because a debate is one game however often it is branched, and not
    /// of one whose provenance forbids it.
    pub(super) fn is_remembered(&self) -> bool {
        self.debate.brief.parent.is_none() && self.reason_to_forget().is_none()
    }

    /// Why its provenance forbids that later debates know of it.
    pub(super) fn reason_to_forget(&self) -> Option<&'static str> {
        provenance(&self.debate.brief)?.reason_to_forget()
    }

    /// The round of revision in which the proposals converged, so that the vote follows at once.
    pub(super) fn early_consensus(&self) -> Option<u32> {
        let stage = match self.votes.first() {
            Some(vote) => vote.stage,
            None => self.stages.len().saturating_sub(1),
        };
        let check = self.check_of(stage).filter(|check| check.converged && check.round <= LAST_REVISION)?;
        (!trickster::is_hollow_agreement(self, stage)).then_some(check.round)
    }

    /// How many extended rounds were begun.
    pub(super) fn extended_rounds(&self) -> u32 {
        let begun =
            self.stages.iter().filter(|stage| stage.phase == ArenaPhase::Revise && stage.round > JUDGING);
        u32::try_from(begun.count()).unwrap_or(u32::MAX)
    }

    /// Whether an agent or the judge answered in a phase. A round in which only the clerk did was not held.
    pub(super) fn was_answered(&self, turn: &PhaseTurn) -> bool {
        let mut answered = turn.settled().filter(|(_, reply)| reply.text().is_some());
        answered.any(|(ask, _)| self.debate.brief.seat(&ask.seat).is_some_and(|seat| seat.role != CLERK))
    }
}

/// The agents, shuffled by the debate's seed and labelled A, B, C...
pub(super) fn labelled_agents(brief: &Brief) -> Vec<ArenaAgent<'_>> {
    let mut seats: Vec<&Seat> = brief.seats_of("agent").collect();
    SeededDraw::new(brief.seed, "labels").shuffle(&mut seats);
    ('A'..='Z').zip(seats).map(|(label, seat)| ArenaAgent { label: label.into(), seat }).collect()
}

/// An agent as prompts and reports name it.
pub(super) fn agent_name(label: &str) -> String {
    match label.trim().strip_prefix(AGENT) {
        Some(_) => label.trim().to_owned(),
        None => format!("{AGENT}{}", label.trim()),
    }
}

/// A label without `Agent` before it.
pub(super) fn bare_label(label: &str) -> &str {
    label.trim().strip_prefix(AGENT).unwrap_or(label.trim())
}

/// What stands before the label of an agent.
const AGENT: &str = "Agent ";

/// What a seat answered in a phase.
pub(super) fn reply_value<'t>(turn: &'t PhaseTurn, seat: &str) -> Option<&'t Value> {
    turn.settled().find(|(ask, _)| ask.seat == seat)?.1.value()
}

/// The agent behind an answer: the model that was called. A branch has no attempts for the answers that it copied, so the model in
/// the answer has to do there.
pub(super) fn speaker(turn: &PhaseTurn, ask: &AskRecord) -> Option<String> {
    let place = turn.asks.iter().position(|other| other.id == ask.id)?;
    let called =
        turn.attempts.get(place).and_then(|attempts| attempts.last()).map(|last| last.model.as_str());
    let answered = match turn.replies.get(place)?.as_ref()? {
        Reply::Said { model, .. } => Some(model.as_str()),
        Reply::Absent { .. } => None,
    };
    Some(team::agent_name(called.or(answered)?))
}
