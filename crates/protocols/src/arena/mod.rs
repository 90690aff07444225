//! `arena`: agents propose, critique, revise and vote in nine rounds, and a judge scores the final proposals (seed 003).
//!
//! This file has what never changes about the protocol and its transition table. The other files, in reading order:
//!
//! - [`options`]: what a user may set; [`team`]: who sits.
//! - [`log`]: what the log says after each phase: proposals, critiques, checks, votes, judgements.
//! - [`context`]: round 0, and the ids by which context and critiques are cited.
//! - [`replies`]: the answers, their schemas and rules; [`asks`]: the prompts.
//! - [`convergence`]: how alike the proposals are; [`ballots`]: what a vote comes to; [`judging`]: what the judge's scores come
//!   to, and the ratings that follow.
//! - [`trickster`]: whether an agreement is hollow; [`rhetoric`]: patterns and fallacies in the arguments.
//! - [`closing`]: why a debate ends, who has won, and the outcome; [`verdict`]: arena's document in the outcome.
//! - [`positions`]: who held what after each round; [`report`]: the outline of the report; [`view`]: everything else that a
//!   reader may want.
//! - [`simulation`]: how simulated seats play it.

use std::sync::OnceLock;

use agon_core::{
    Ask, Brief, CallPlan, Corrupt, Debate, DebateView, Invalid, PhaseInfo, PromptTemplate, Protocol,
    ProtocolInfo, ReplyFault, Request, RoleInfo, RoleModels, Seat, Step,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::prompt::{PromptSet, made_once};
use asks::ArenaAsks;
use log::ArenaLog;
use options::ArenaOptions;

mod asks;
mod ballots;
mod closing;
mod context;
mod convergence;
mod judging;
mod log;
mod options;
mod positions;
mod replies;
mod report;
mod rhetoric;
mod simulation;
mod team;
#[cfg(test)]
mod tests;
mod trickster;
mod verdict;
mod view;

/// The protocol of seed 003.
#[derive(Debug)]
pub struct Arena;

/// The share of the time and money limits that is kept for the vote and the judge.
const CLOSING_SHARE: f64 = 0.2;
/// The fewest proposals that a debate can be held about.
const PROPOSALS_MIN: usize = 2;
/// The rounds as the seed counts them.
const FIRST_REVISION: u32 = 3;
const LAST_REVISION: u32 = 5;
const REFINEMENT: u32 = 6;
const VOTING: u32 = 7;
const JUDGING: u32 = 8;

agon_core::protocol_phases! {
    /// The phases of an arena.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub(self) enum ArenaPhase {
        Context => PhaseInfo::lookup("context", "What was looked up", "what is known is looked up"),
        Propose => PhaseInfo::new("propose", "Proposals", "proposes", "propose, each on its own").first_positions(),
        Critique => PhaseInfo::new("critique", "Critiques", "critiques the others", "critique each other"),
        Revise => PhaseInfo::new("revise", "Revisions", "revises its proposal", "revise their proposals"),
        Compare => PhaseInfo::lookup("compare", "How alike the proposals are", "the proposals are compared"),
        Challenge =>
            PhaseInfo::new("challenge", "Answers to the trickster", "answers the trickster", "answer the trickster"),
        Refine => PhaseInfo::new("refine", "Final refinement", "refines its proposal", "refine their proposals"),
        Vote => PhaseInfo::new("vote", "Votes", "votes", "vote").closing(),
        Judge =>
            PhaseInfo::new("judge", "The judge's scores", "scores the proposals", "score the proposals").closing(),
    }
}

impl ArenaPhase {
    /// Whether agents make or change their proposals in it.
    fn makes_proposals(self) -> bool {
        matches!(self, Self::Propose | Self::Revise | Self::Challenge | Self::Refine)
    }
}

const TEMPLATES: &[PromptTemplate] = &[
    PromptTemplate { file: "arena/system.hbs", text: include_str!("prompts/system.hbs") },
    PromptTemplate { file: "arena/material.hbs", text: include_str!("prompts/material.hbs") },
    PromptTemplate { file: "arena/memory.hbs", text: include_str!("prompts/memory.hbs") },
    PromptTemplate { file: "arena/positions.hbs", text: include_str!("prompts/positions.hbs") },
    PromptTemplate { file: "arena/form.hbs", text: include_str!("prompts/form.hbs") },
    PromptTemplate { file: "arena/own.hbs", text: include_str!("prompts/own.hbs") },
    PromptTemplate { file: "arena/propose.hbs", text: include_str!("prompts/propose.hbs") },
    PromptTemplate { file: "arena/critique.hbs", text: include_str!("prompts/critique.hbs") },
    PromptTemplate { file: "arena/revise.hbs", text: include_str!("prompts/revise.hbs") },
    PromptTemplate { file: "arena/refine.hbs", text: include_str!("prompts/refine.hbs") },
    PromptTemplate { file: "arena/challenge.hbs", text: include_str!("prompts/challenge.hbs") },
    PromptTemplate { file: "arena/vote.hbs", text: include_str!("prompts/vote.hbs") },
    PromptTemplate { file: "arena/judge.hbs", text: include_str!("prompts/judge.hbs") },
];

static INFO: ProtocolInfo = ProtocolInfo {
    name: "arena",
    about: "Agents propose, critique, revise and vote in nine rounds, a judge scores them, and ratings and memory remain",
    subject: "TASK",
    options: ArenaOptions::SPECS,
    roles: &[
        RoleInfo { name: "agent", models: RoleModels::Listed },
        RoleInfo { name: "judge", models: RoleModels::Named },
    ],
    templates: TEMPLATES,
    phases: ArenaPhase::INFO,
    closing_share: CLOSING_SHARE,
    title: |_| String::new(),
    gate: None,
    is_rated: true,
    record_folder: None,
    isolation: &[("context_items", "0")],
    simulation: Some(&simulation::ArenaSimulation),
    example: None,
    demo: None,
};

fn prompts() -> Result<&'static PromptSet, Corrupt> {
    static PROMPTS: OnceLock<PromptSet> = OnceLock::new();
    made_once(&PROMPTS, || PromptSet::new(TEMPLATES))
}

impl Protocol for Arena {
    fn info(&self) -> &'static ProtocolInfo {
        &INFO
    }

    fn seats(&self, request: &Request) -> Result<Vec<Seat>, Invalid> {
        team::seats(request)
    }

    /// Counts the calls to seats. Lookups and comparisons are errands, not calls.
    fn plan(&self, brief: &Brief) -> CallPlan {
        let options = ArenaOptions::read(&brief.options);
        let agents = u32::try_from(brief.seats_of("agent").count()).unwrap_or(u32::MAX);
        let orders = u32::try_from(options.judge_orders).unwrap_or(u32::MAX);
        let extended = options.max_extended_rounds;
        let revisions = LAST_REVISION - FIRST_REVISION + 1;
        let decision = agents + orders;
        let proposed_and_critiqued = agents * agents;
        // Every revision, the refinement and every extended round end in a check, and a check leads to at most one challenge.
        let checked = revisions + 1 + extended;
        let challenges = if options.trickster { agents * checked } else { 0 };
        let phases_per_check = if options.trickster { 4 } else { 2 };
        CallPlan {
            fewest_calls: proposed_and_critiqued + agents + decision,
            most_calls: proposed_and_critiqued + checked * agents + (1 + extended) * decision + challenges,
            most_phases: 3 + checked * phases_per_check + (1 + extended) * 2,
            most_rounds: None,
        }
    }

    fn next(&self, debate: &Debate) -> Result<Step, Corrupt> {
        let mut log = ArenaLog::read(debate)?;
        let Some(phase) = debate.last_phase() else {
            return context::lookup(&log)?.map_or_else(|| ArenaAsks::new(&log)?.propose(), Ok);
        };
        let round = phase.round;
        let (proposals, agents) = (log.proposers().len(), log.agents.len());
        let critiques = proposals * agents.saturating_sub(1);
        let is_short = |calls: usize| log.limits().is_exhausted(calls);
        match ArenaPhase::of(phase)? {
            ArenaPhase::Context => ArenaAsks::new(&log)?.propose(),
            ArenaPhase::Propose if proposals < PROPOSALS_MIN => closing::close(&log),
            ArenaPhase::Propose if is_short(critiques) => ArenaAsks::new(&log)?.vote(VOTING),
            ArenaPhase::Propose => ArenaAsks::new(&log)?.critique(),
            ArenaPhase::Critique if is_short(proposals) => ArenaAsks::new(&log)?.vote(VOTING),
            ArenaPhase::Critique => ArenaAsks::new(&log)?.revise(FIRST_REVISION),
            ArenaPhase::Revise | ArenaPhase::Refine | ArenaPhase::Challenge
                if is_short(check_calls(debate)) =>
            {
                ArenaAsks::new(&log)?.vote(vote_round(round))
            }
            ArenaPhase::Revise | ArenaPhase::Refine | ArenaPhase::Challenge => asks::compare(&log, round),
            ArenaPhase::Compare => after_check(&log, round),
            ArenaPhase::Vote if log.votes.last().is_none_or(|vote| !vote.is_quorum()) => closing::close(&log),
            ArenaPhase::Vote => ArenaAsks::new(&log)?.judge(round.max(JUDGING)),
            ArenaPhase::Judge if closing::continues(&log) => {
                log.add_decision_critiques();
                ArenaAsks::new(&log)?.revise(round + 1)
            }
            ArenaPhase::Judge => closing::close(&log),
        }
    }

    fn check(&self, debate: &Debate, ask: &Ask, value: &Value) -> Result<(), ReplyFault> {
        Ok(replies::check(debate, ask, value)?)
    }

    fn view(&self, debate: &Debate) -> Result<DebateView, Corrupt> {
        view::view(&ArenaLog::read(debate)?)
    }
}

/// What follows a check: the challenge of a hollow agreement, the vote, or the next round.
fn after_check(log: &ArenaLog<'_>, round: u32) -> Result<Step, Corrupt> {
    let asks = ArenaAsks::new(log)?;
    let is_short = log.limits().is_exhausted(log.proposers().len() + check_calls(log.debate));
    let check = log.current_check();
    if let Some((agents, finding)) = trickster::due_challenge(log, &check).filter(|_| !is_short) {
        return asks.challenge(round, &agents, &finding);
    }
    let converged = check.converged && !trickster::is_hollow(log, &check);
    match round {
        _ if converged || is_short => asks.vote(vote_round(round)),
        FIRST_REVISION..LAST_REVISION => asks.revise(round + 1),
        LAST_REVISION => asks.refine(),
        _ => asks.vote(vote_round(round)),
    }
}

/// The round of the vote on the proposals of a round.
fn vote_round(round: u32) -> u32 {
    if round <= REFINEMENT { VOTING } else { round }
}

/// The calls that a check takes: none, if the earlier ones were errands on this machine.
fn check_calls(debate: &Debate) -> usize {
    let attempts = debate.turns_of(ArenaPhase::Compare.as_str()).flat_map(|turn| &turn.attempts).flatten();
    usize::from(attempts.into_iter().any(|attempt| !attempt.errand))
}
