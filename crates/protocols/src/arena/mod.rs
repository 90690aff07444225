//! `arena`: agents propose, critique, revise and vote in nine rounds, and a judge evaluates what they end with (seed 003).
//!
//! This file is the transition table. [`team`] says who sits; [`log`] reads from the log what everybody proposes after each stage,
//! [`context`] what was looked up before, [`ids`] how it is cited, [`critiques`] what was said against each, [`convergence`] how alike
//! they are, [`poll`] and [`votes`] what the agents vote, [`judgement`] what the judge says, [`doubt`] whether the agreement is hollow,
//! by the [`trickster`]; [`asks`] makes the prompts, [`errands`] what is looked up and computed, [`schema`] the shapes of the answers,
//! [`validation`] what shapes cannot say; [`ending`] decides, [`close`] writes the outcome, of which [`verdict`], [`record`], [`fates`],
//! [`lessons`], [`warnings`] and [`ratings`] are the parts, with what the observer ([`rhetoric`]) finds; [`summary`] is shown as a phase
//! ends, [`checks`] are the seed's mechanisms over a log; [`stands`] says who stood for what when; [`reply`] has the answers' types.

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use agon_core::{
    Ask, Brief, Check, Corrupt, Debate, Invalid, Opt, Protocol, Request, Seat, Stands, Step, Summary,
    Template,
};
use serde_json::Value;

use crate::prompt::{self, Prompts};
use asks::Asks;
use log::{FIRST_REVISION, JUDGING, LAST_REVISION, Log, PROPOSALS_MIN, REFINEMENT, VOTING};

mod asks;
mod checks;
mod close;
mod context;
mod convergence;
mod critiques;
mod doubt;
mod ending;
mod errands;
mod fates;
mod ids;
mod judgement;
mod lessons;
mod log;
mod options;
mod poll;
mod ratings;
mod record;
pub mod reply;
pub mod rhetoric;
mod schema;
mod stands;
mod summary;
mod team;
#[cfg(test)]
mod tests;
pub mod trickster;
mod validation;
mod verdict;
mod votes;
mod warnings;

/// The protocol of seed 003.
#[derive(Debug)]
pub struct Arena;

const TEMPLATES: &[Template] = &[
    Template { file: "arena/system.hbs", text: include_str!("prompts/system.hbs") },
    Template { file: "arena/material.hbs", text: include_str!("prompts/material.hbs") },
    Template { file: "arena/memory.hbs", text: include_str!("prompts/memory.hbs") },
    Template { file: "arena/positions.hbs", text: include_str!("prompts/positions.hbs") },
    Template { file: "arena/form.hbs", text: include_str!("prompts/form.hbs") },
    Template { file: "arena/own.hbs", text: include_str!("prompts/own.hbs") },
    Template { file: "arena/propose.hbs", text: include_str!("prompts/propose.hbs") },
    Template { file: "arena/critique.hbs", text: include_str!("prompts/critique.hbs") },
    Template { file: "arena/revise.hbs", text: include_str!("prompts/revise.hbs") },
    Template { file: "arena/refine.hbs", text: include_str!("prompts/refine.hbs") },
    Template { file: "arena/challenge.hbs", text: include_str!("prompts/challenge.hbs") },
    Template { file: "arena/vote.hbs", text: include_str!("prompts/vote.hbs") },
    Template { file: "arena/judge.hbs", text: include_str!("prompts/judge.hbs") },
];

fn prompts() -> Result<&'static Prompts, Corrupt> {
    static PROMPTS: OnceLock<Prompts> = OnceLock::new();
    prompt::once(&PROMPTS, || Prompts::new(TEMPLATES))
}

impl Protocol for Arena {
    fn name(&self) -> &'static str {
        "arena"
    }

    fn about(&self) -> &'static str {
        "Agents propose, critique, revise and vote in nine rounds, a judge scores them, and ratings and memory remain"
    }

    fn subject(&self) -> &'static str {
        "TASK"
    }

    fn options(&self) -> &'static [Opt] {
        options::all()
    }

    fn roles(&self) -> &'static [&'static str] {
        &["judge"]
    }

    fn templates(&self) -> &'static [Template] {
        TEMPLATES
    }

    fn rates(&self) -> bool {
        true
    }

    fn seats(&self, request: &Request) -> Result<Vec<Seat>, Invalid> {
        team::seats(request)
    }

    /// The calls to those who sit; errands are none.
    fn calls(&self, brief: &Brief) -> RangeInclusive<u32> {
        let n = agents(brief);
        let (orders, extended) = (brief.int("judge_orders"), brief.int("max_extended_rounds"));
        let revisions = LAST_REVISION - FIRST_REVISION + 1;
        let verdict = n + orders;
        let least = n * n + n + verdict;
        let most = n * n + revisions * n + n + verdict + extended * (n + verdict);
        // At most one challenge in each round that ends in a check.
        let challenges = if brief.flag("trickster") { n * (revisions + 1 + extended) } else { 0 };
        least..=most + challenges
    }

    fn bound(&self, brief: &Brief) -> u32 {
        let checked = LAST_REVISION - FIRST_REVISION + 2 + brief.int("max_extended_rounds");
        let each = if brief.flag("trickster") { 4 } else { 2 };
        let verdicts = 1 + brief.int("max_extended_rounds");
        3 + checked * each + verdicts * 2
    }

    fn next(&self, debate: &Debate) -> Result<Step, Corrupt> {
        let mut log = Log::read(debate)?;
        let Some(phase) = debate.last_phase() else {
            return errands::context(&log).map_or_else(|| Asks::new(&log)?.propose(), Ok);
        };
        let (proposals, agents) = (log.proposers().len(), log.agents.len());
        let critiques = proposals * agents.saturating_sub(1);
        let short = |log: &Log<'_>, calls: usize| log.limits().spent(calls);
        match phase.name.as_str() {
            "context" => Asks::new(&log)?.propose(),
            "propose" if proposals < PROPOSALS_MIN => close::close(&log),
            "propose" if short(&log, critiques) => Asks::new(&log)?.vote(VOTING),
            "propose" => Asks::new(&log)?.critique(),
            "critique" if short(&log, proposals) => Asks::new(&log)?.vote(VOTING),
            "critique" => Asks::new(&log)?.revise(FIRST_REVISION),
            "revise" | "refine" | "challenge" if short(&log, compared(debate)) => {
                Asks::new(&log)?.vote(vote_after(phase.round))
            }
            "revise" | "refine" | "challenge" => Ok(errands::compare(&log, phase.round)),
            "compare" => after_check(&log, phase.round),
            "vote" if log.polls.last().is_none_or(|poll| !poll.is_quorum()) => close::close(&log),
            "vote" => Asks::new(&log)?.judge(phase.round.max(JUDGING)),
            _ if ending::goes_on(&log) => {
                log.put_reasons();
                Asks::new(&log)?.revise(phase.round + 1)
            }
            _ => close::close(&log),
        }
    }

    fn check(&self, debate: &Debate, ask: &Ask, value: &Value) -> Result<(), String> {
        validation::check(debate, ask, value)
    }

    fn closing(&self) -> &'static [&'static str] {
        ending::CLOSING
    }

    fn kept_for_closing(&self) -> f64 {
        log::KEPT
    }

    fn summary(&self, debate: &Debate) -> Option<Summary> {
        summary::summary(debate)
    }

    fn checks(&self, debate: &Debate) -> Vec<Check> {
        checks::checks(debate)
    }

    fn stands(&self, debate: &Debate) -> Result<Stands, Corrupt> {
        stands::stands(&Log::read(debate)?)
    }
}

/// What follows a check: the challenge to a hollow agreement, the vote, or the next round.
fn after_check(log: &Log<'_>, round: u32) -> Result<Step, Corrupt> {
    let make = Asks::new(log)?;
    let short = log.limits().spent(log.proposers().len() + compared(log.debate));
    let check = log.check_now();
    if let Some((agents, finding)) = doubt::challenge(log, &check).filter(|_| !short) {
        return make.challenge(round, &agents, &finding);
    }
    let converged = check.converged && !doubt::is_hollow(log, &check);
    match round {
        _ if converged || short => make.vote(vote_after(round)),
        FIRST_REVISION..LAST_REVISION => make.revise(round + 1),
        LAST_REVISION => make.refine(),
        _ => make.vote(vote_after(round)),
    }
}

/// The round of the vote on the proposals of a round.
fn vote_after(round: u32) -> u32 {
    if round <= REFINEMENT { VOTING } else { round }
}

/// The calls that a check takes: none, where the last ones were computed on this machine.
fn compared(debate: &Debate) -> usize {
    let attempts = debate.turns_of("compare").flat_map(|turn| &turn.attempts).flatten();
    usize::from(attempts.into_iter().any(|attempt| !attempt.errand))
}

fn agents(brief: &Brief) -> u32 {
    u32::try_from(brief.seats_of("agent").count()).unwrap_or(u32::MAX)
}
