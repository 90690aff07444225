//! `arena`: agents propose, critique, revise and vote in nine rounds, and a judge scores the final proposals (seed 003).
//!
//! This file has what never changes about the protocol, its options and its transition table. The other files, in reading order:
//!
//! - [`team`]: which models are seated.
//! - [`log`]: what the log says after each phase: proposals, critiques, sortings, votes, judgements.
//! - [`context`]: round 0, and the ids by which context and critiques are cited.
//! - [`replies`]: the answers, their schemas and rules; [`asks`]: the prompts.
//! - [`convergence`]: how the clerk relates the proposals to each other, verified; [`voting`]: what the ballots and the
//!   judge's scores come to, and the ratings that follow.
//! - [`trickster`]: whether a consensus is hollow; [`rhetoric`]: patterns and fallacies in the arguments.
//! - [`closing`]: why a debate ends, who has won, and the outcome; [`verdict`]: arena's document in the outcome.
//! - [`report`]: the outline of the report; [`view`]: everything else that a reader may want, such as who held what after each round.
//! - [`simulation`]: how simulated seats play it.

use std::sync::OnceLock;

use agon_core::{
    Ask, Brief, CallPlan, Corrupt, Debate, DebateView, Invalid, PhaseInfo, PromptTemplate, Protocol,
    ProtocolInfo, ReplyFault, Request, RoleInfo, RoleModels, Seat, Step,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clerk::CLERK;
use crate::prompt::{PromptSet, made_once};
use asks::ArenaAsks;
use log::ArenaLog;

mod asks;
mod closing;
mod context;
mod convergence;
mod log;
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
mod voting;

/// The protocol of seed 003.
#[derive(Debug)]
pub struct Arena;

/// The share of the time and money limits that is kept for the vote and the judge.
const CLOSING_SHARE: f64 = 0.2;
/// The fewest proposals that a debate can be held about.
const PROPOSALS_MIN: usize = 2;
/// The calls that sort the proposals once.
const CLERK_CALLS: usize = 1;
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
        Compare => PhaseInfo::new("compare", "How the proposals relate", "compares the proposals", "compare the proposals"),
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

agon_core::protocol_options! {
    /// The options of an arena.
    pub(self) struct ArenaOptions {
        team: Option<usize> = Int(2, 8), "",
            "how many agents sit: of more models the best by rating and calibration; by default all models, or 3 seats of one";
        explore: f64 = Float(0.0, 1.0), "0.1",
            "the share of the team that is drawn among the other models, the least known the likeliest: its whole seats, and one more with the probability of the rest; 0 draws nobody, 1 everybody";
        consensus: ConsensusRule = Choice(ConsensusRule::WORDS), "majority",
            "the votes that make a consensus: more than half of those cast, two thirds, or all";
        decide: DecidedBy = Choice(DecidedBy::WORDS), "vote",
            "whose choice is the winner where the vote and the judge differ";
        judge_orders: usize = Int(1, 2), "1",
            "2: the judge is asked twice, with the proposals in opposite orders, and two different choices are a tie; always 2 if the judge's model also proposes";
        judge_gap: f64 = Float(0.0, 10.0), "1.0",
            "the debate stops when the judge's best proposal is ahead by more than this";
        weight_correctness as "weights.correctness": f64 = Float(0.0, 100.0), "1", "what correctness weighs in the judge's score";
        weight_evidence as "weights.evidence": f64 = Float(0.0, 100.0), "1", "what evidence weighs in the judge's score";
        weight_feasibility as "weights.feasibility": f64 = Float(0.0, 100.0), "1", "what feasibility weighs in the judge's score";
        weight_answers as "weights.answers": f64 = Float(0.0, 100.0), "1", "what answers to critiques weigh in the judge's score";
        weight_clarity as "weights.clarity": f64 = Float(0.0, 100.0), "1", "what clarity weighs in the judge's score";
        convergence_threshold: f64 = Float(0.0, 1.0), "0.85",
            "how similar the clerk must find every two proposals for them to converge, if nobody sees a conflict";
        max_extended_rounds: u32 = Int(0, 5), "2",
            "the most further rounds (a revision, a vote, the judge) while the judge's best is neither the vote's winner nor ahead by `judge_gap`";
        max_concurrent_proposals: Option<u32> = Int(1, 64), "",
            "how many proposals may be under way at once; by default all";
        max_concurrent_critiques: Option<u32> = Int(1, 64), "",
            "how many critiques may be under way at once; by default all";
        max_concurrent_revisions: Option<u32> = Int(1, 64), "",
            "how many revisions may be under way at once; by default all";
        embeddings: String = Model, "",
            "the embeddings whose similarity the report shows beside the clerk's; they decide nothing";
        no_knowledge: bool = Flag, "false", "do not look up what earlier debates decided";
        no_memory: bool = Flag, "false", "do not look up what the agents remember";
        no_pulse: bool = Flag, "false", "do not ask the sources of current topics";
        pulse: String = Text, "",
            "sources of current topics, by their names in the configuration, separated by commas";
        context_items: usize = Int(0, 20), "5", "the most pieces of context from each source";
        context_timeout: f64 = Float(0.1, 60.0), "3",
            "how many seconds each source of context has; the debate continues without a source that is late";
        trickster: bool = Flag, "false", "challenge a consensus that rests on nothing that can be checked before it counts";
        observer: bool = Flag, "false", "report patterns and fallacies in every argument (English phrases only; decides nothing)";
        trickster_uncited: f64 = Float(0.0, 1.0), "0.5",
            "the share of claims without evidence at which the trickster objects";
        trickster_unverified: f64 = Float(0.0, 1.0), "0.5",
            "the share of cited ids and quotes that do not verify at which the trickster objects";
        trickster_copies: f64 = Float(0.0, 1.0), "0.5",
            "the share of claims copied word for word from another agent at which the trickster objects";
        trickster_no_reasons: f64 = Float(0.0, 1.0), "0.5",
            "the share of votes without a reason at which the trickster objects";
        trickster_signals: usize = Int(1, 4), "1",
            "how many of the four objections make a consensus hollow";
        observer_threshold: f64 = Float(0.0, 1.0), "0.5",
            "how surely an argument must show a pattern or fallacy before the observer reports it";
    }
}

impl ArenaOptions {
    /// What the judge's criteria weigh, in the order of [`replies::CriteriaScores::list`].
    fn weights(&self) -> [f64; 5] {
        [
            self.weight_correctness,
            self.weight_evidence,
            self.weight_feasibility,
            self.weight_answers,
            self.weight_clarity,
        ]
    }
}

agon_core::option_words! {
    /// How many of the votes cast make a consensus.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub(self) enum ConsensusRule {
        Majority = "majority",
        Supermajority = "supermajority",
        Unanimous = "unanimous",
    }
}

agon_core::option_words! {
    /// Who chooses the winner.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub(self) enum DecidedBy {
        Vote = "vote",
        Judge = "judge",
    }
}

const TEMPLATES: &[PromptTemplate] = &[
    PromptTemplate { file: "arena/system.hbs", text: include_str!("prompts/system.hbs") },
    PromptTemplate { file: "arena/material.hbs", text: include_str!("prompts/material.hbs") },
    PromptTemplate { file: "arena/propose.hbs", text: include_str!("prompts/propose.hbs") },
    PromptTemplate { file: "arena/critique.hbs", text: include_str!("prompts/critique.hbs") },
    PromptTemplate { file: "arena/revise.hbs", text: include_str!("prompts/revise.hbs") },
    PromptTemplate { file: "arena/compare.hbs", text: include_str!("prompts/compare.hbs") },
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
        RoleInfo { name: CLERK, models: RoleModels::Named },
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
    example: Some((
        "\"How should a team of six be on call?\" --team 3 --trickster",
        "seats the three best agents, and challenges an agreement that rests on nothing",
    )),
    demo: Some(include_str!("demo.yaml")),
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

    /// Counts the calls to seats. Lookups and embeddings are errands, not calls.
    fn plan(&self, brief: &Brief) -> CallPlan {
        let options = ArenaOptions::read(&brief.options);
        let agents = u32::try_from(brief.seats_of("agent").count()).unwrap_or(u32::MAX);
        let orders = u32::try_from(team::judge_orders(brief, &options)).unwrap_or(u32::MAX);
        let extended = options.max_extended_rounds;
        let revisions = LAST_REVISION - FIRST_REVISION + 1;
        let decision = agents + orders;
        let proposed_and_critiqued = agents * agents;
        // Every revision, the refinement and every extended round end in a sorting, after which there is at most one challenge.
        let sorted = revisions + 1 + extended;
        let revised = sorted * (agents + CLERK_CALLS as u32);
        let challenged = if options.trickster { revised } else { 0 };
        let phases_per_sorting = if options.trickster { 4 } else { 2 };
        CallPlan {
            fewest_calls: proposed_and_critiqued + agents + CLERK_CALLS as u32 + decision,
            most_calls: proposed_and_critiqued + revised + (1 + extended) * decision + challenged,
            most_phases: 3 + sorted * phases_per_sorting + (1 + extended) * 2,
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
            // Nothing is new to the clerk.
            ArenaPhase::Refine if !log.is_changed(log.stages.len().saturating_sub(1)) => {
                after_sorting(&log, round)
            }
            ArenaPhase::Revise | ArenaPhase::Refine | ArenaPhase::Challenge if is_short(CLERK_CALLS) => {
                ArenaAsks::new(&log)?.vote(vote_round(round))
            }
            ArenaPhase::Revise | ArenaPhase::Refine | ArenaPhase::Challenge => {
                ArenaAsks::new(&log)?.compare(round)
            }
            ArenaPhase::Compare => after_sorting(&log, round),
            ArenaPhase::Vote if log.votes.last().is_none_or(|vote| !vote.is_quorum()) => closing::close(&log),
            ArenaPhase::Vote => ArenaAsks::new(&log)?.judge(round + 1),
            ArenaPhase::Judge if closing::continues(&log) => {
                log.add_decision_critiques();
                ArenaAsks::new(&log)?.revise(round + 1)
            }
            ArenaPhase::Judge => closing::close(&log),
        }
    }

    fn check(&self, debate: &Debate, ask: &Ask, value: &Value) -> Result<(), ReplyFault> {
        replies::check(debate, ask, value)
    }

    fn view(&self, debate: &Debate) -> Result<DebateView, Corrupt> {
        view::view(&ArenaLog::read(debate)?)
    }
}

/// What follows a sorting: the challenge of a hollow agreement, the vote, or the next round.
fn after_sorting(log: &ArenaLog<'_>, round: u32) -> Result<Step, Corrupt> {
    let asks = ArenaAsks::new(log)?;
    let is_short = log.limits().is_exhausted(log.proposers().len() + CLERK_CALLS);
    if let Some((agents, finding)) = trickster::due_challenge(log).filter(|_| !is_short) {
        return asks.challenge(round, &agents, &finding);
    }
    match round {
        _ if is_short || log.early_consensus().is_some() => asks.vote(vote_round(round)),
        FIRST_REVISION..LAST_REVISION if !log.is_idle(round) => asks.revise(round + 1),
        FIRST_REVISION..=LAST_REVISION => asks.refine(),
        _ => asks.vote(vote_round(round)),
    }
}

/// The round of the vote on the proposals of a round. Vote and judge have rounds of their own after an extended revision, too, so that
/// a round has either proposals or votes.
fn vote_round(round: u32) -> u32 {
    if round <= REFINEMENT { VOTING } else { round + 1 }
}
