//! `review`: judges rule PASS, WARN or FAIL, and revise after reading each other under an anti-anchoring rule (seed 004).
//!
//! This file has the options, the phases and the transition table. [`seats`] decides who sits and rejects requests that
//! contradict themselves, [`packet`] is what the judges are given, [`log`] reads the verdicts and findings from the log, [`asks`]
//! makes the prompts, [`replies`] has the types of the answers, [`findings`] verifies what judges declare and merges what they found,
//! [`verdict`] consolidates and closes, [`report`] describes the result for readers, [`records`] for files and pipelines, and
//! [`simulation`] plays it with simulated seats.

use std::sync::OnceLock;

use agon_core::{
    Ask, Brief, CallPlan, Corrupt, Debate, DebateView, Invalid, PhaseInfo, PromptTemplate, Protocol,
    ProtocolInfo, ReplyFault, Request, RoleInfo, RoleModels, Seat, Step,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::prompt::{self, PromptSet};
use log::ReviewLog;
use replies::{FirstVerdict, SecondVerdict};

mod asks;
pub mod findings;
mod log;
mod packet;
mod records;
pub mod replies;
mod report;
mod seats;
mod simulation;
#[cfg(test)]
mod tests;
pub mod verdict;

/// The protocol of seed 004.
#[derive(Debug)]
pub struct Review;

agon_core::option_words! {
    /// What the judges answer.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ReviewMode {
        /// Verdicts with findings.
        Validate = "validate",
        /// Ideas.
        Brainstorm = "brainstorm",
        /// What is known.
        Research = "research",
    }
}

agon_core::option_words! {
    /// The mildest ruling that fails the gate.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ReviewFailOn {
        /// WARN passes.
        Fail = "fail",
        /// WARN fails, too.
        Warn = "warn",
    }
}

agon_core::protocol_options! {
    /// What a user may set.
    pub struct ReviewOptions {
        mode: ReviewMode = Choice(ReviewMode::WORDS), "validate", "verdicts with findings (validate), ideas (brainstorm), or what is known (research)";
        debate: bool = Flag, "false", "a second round, in which the judges read each other and may revise";
        deep: bool = Flag, "false", "three judges instead of two";
        quick: bool = Flag, "false", "one judge, no second round";
        count: Option<usize> = Int(1, 12), "", "the number of judges";
        preset: String = Choice(seats::PRESETS), "", "a set of perspectives, one for each judge";
        perspectives: Option<String> = Text, "", "what the judges look at, by name, with commas";
        perspectives_file: Option<String> = File, "", "perspectives of your own: `name: what it looks at`, in YAML, TOML or JSON";
        explorers: usize = Int(0, 5), "0", "explorers for each judge, who read parts of the target before round 1";
        mixed: Option<String> = Models, "", "judges of a second vendor as well, in round 1 only";
        diff: Option<String> = File, "", "a diff to judge: a file, `-` for stdin, a git range such as main...HEAD, or `staged`";
        spec: Option<String> = File, "", "what the target is meant to do";
        decisions: Option<String> = File, "", "what was decided before and is not up for review";
        strict_anchoring: bool = Flag, "false", "round 2 begins with a call of its own for the restatement, and a changed verdict without evidence that could be verified is reverted";
        quorum: Option<usize> = Int(1, 12), "", "how many judges must give a verdict before PASS or WARN counts [default: two thirds]";
        r2_timeout: Option<f64> = Float(0.001, 86_400.0), "", "seconds for a judge's second round, COUNCIL_R2_TIMEOUT [default: 90, or --timeout if that is less]", env "COUNCIL_R2_TIMEOUT";
        fail_on: ReviewFailOn = Choice(ReviewFailOn::WORDS), "fail", "from which verdict on the exit status is 1";
    }
}

impl ReviewOptions {
    fn is_validation(&self) -> bool {
        self.mode == ReviewMode::Validate
    }

    /// Whether the user wants a second round.
    fn has_debate(&self) -> bool {
        self.debate && self.is_validation()
    }
}

agon_core::protocol_phases! {
    /// The phases.
    pub enum ReviewPhase {
        Explore => PhaseInfo::new("explore", "What the explorers found", "looks around", "look around"),
        FirstVerdict => PhaseInfo::new("r1", "Verdicts, each on its own", "gives a verdict", "give a verdict, each on its own").first_positions(),
        Restate => PhaseInfo::new("restate", "Restatements", "restates its verdict", "restate their own verdicts"),
        SecondVerdict => PhaseInfo::new("r2", "Verdicts after reading the others", "reads the others and may revise", "read the others and may revise"),
    }
}

const TEMPLATES: &[PromptTemplate] = &[
    PromptTemplate { file: "review/system.hbs", text: include_str!("prompts/system.hbs") },
    PromptTemplate { file: "review/packet.hbs", text: include_str!("prompts/packet.hbs") },
    PromptTemplate { file: "review/explore.hbs", text: include_str!("prompts/explore.hbs") },
    PromptTemplate { file: "review/r1.hbs", text: include_str!("prompts/r1.hbs") },
    PromptTemplate { file: "review/restate.hbs", text: include_str!("prompts/restate.hbs") },
    PromptTemplate { file: "review/r2.hbs", text: include_str!("prompts/r2.hbs") },
    PromptTemplate { file: "review/brainstorm.hbs", text: include_str!("prompts/brainstorm.hbs") },
    PromptTemplate { file: "review/research.hbs", text: include_str!("prompts/research.hbs") },
];

static INFO: ProtocolInfo = ProtocolInfo {
    name: "review",
    about: "Judges rule PASS, WARN or FAIL on files, a text or a diff, and may revise after reading each other",
    subject: "TARGET...",
    options: ReviewOptions::SPECS,
    roles: &[
        RoleInfo { name: "judge", models: RoleModels::Listed },
        RoleInfo { name: "mixed_judge", models: RoleModels::Derived },
        RoleInfo { name: "explorer", models: RoleModels::Derived },
    ],
    templates: TEMPLATES,
    phases: ReviewPhase::INFO,
    closing_share: 0.0,
    title: packet::title,
    gate: Some(|brief| ReviewOptions::read(&brief.options).is_validation()),
    is_rated: false,
    record_folder: Some(".agents/council"),
    isolation: &[],
    simulation: Some(&simulation::ReviewSimulation),
    example: Some((
        "--diff main...HEAD --debate",
        "two judges rule on what a branch changes, read each other, and rule again",
    )),
    demo: Some(include_str!("demo.yaml")),
};

fn prompts() -> Result<&'static PromptSet, Corrupt> {
    static PROMPTS: OnceLock<PromptSet> = OnceLock::new();
    prompt::made_once(&PROMPTS, || PromptSet::new(TEMPLATES))
}

impl Protocol for Review {
    fn info(&self) -> &'static ProtocolInfo {
        &INFO
    }

    fn seats(&self, request: &Request) -> Result<Vec<Seat>, Invalid> {
        seats::seats(request)
    }

    fn plan(&self, brief: &Brief) -> CallPlan {
        let options = ReviewOptions::read(&brief.options);
        let of = |role: &str| u32::try_from(brief.seats_of(role).count()).unwrap_or(u32::MAX);
        let (judges, mixed) = (of("judge"), of("mixed_judge"));
        // A short packet has fewer parts than there are explorers.
        let parts = packet::parts(brief, options.explorers).len();
        let explorers = u32::try_from(parts).unwrap_or(u32::MAX).saturating_mul(judges + mixed);
        // A judge that is alone has nobody to read in round 2.
        let has_second = options.has_debate() && judges + mixed > 1;
        let each = if options.strict_anchoring { 2 } else { 1 };
        let second = if has_second { each * judges } else { 0 };
        let calls = explorers + judges + mixed + second;
        CallPlan { fewest_calls: calls, most_calls: calls, most_phases: 4, most_rounds: None }
    }

    fn next(&self, debate: &Debate) -> Result<Step, Corrupt> {
        let log = ReviewLog::read(debate)?;
        let asks = asks::ReviewAsks::new(prompts()?, &log)?;
        let Some(phase) = debate.last_phase() else {
            return if log.options.explorers > 0 { asks.explorations() } else { asks.first_verdicts() };
        };
        let has_room = |calls: usize| calls > 0 && !log.limits().is_exhausted(calls);
        match ReviewPhase::of(phase)? {
            ReviewPhase::Explore => asks.first_verdicts(),
            ReviewPhase::FirstVerdict if log.has_second_round() && has_room(log.second_calls()) => {
                if log.options.strict_anchoring { asks.restatements() } else { asks.second_verdicts() }
            }
            ReviewPhase::Restate if has_room(log.restated().count()) => asks.second_verdicts(),
            _ => verdict::close(&log),
        }
    }

    fn check(&self, debate: &Debate, ask: &Ask, value: &Value) -> Result<(), ReplyFault> {
        let unreadable = |why: Corrupt| ReplyFault::Invalid(why.to_string());
        let phase =
            debate.last_phase().ok_or(Corrupt::Empty).and_then(ReviewPhase::of).map_err(unreadable)?;
        match phase {
            ReviewPhase::Explore => drop(replies::ExplorerReport::deserialize(value)?),
            ReviewPhase::FirstVerdict => match ReviewOptions::read(&debate.brief.options).mode {
                ReviewMode::Validate => findings::check_first_verdict(&FirstVerdict::deserialize(value)?)?,
                ReviewMode::Brainstorm => drop(replies::BrainstormAnswer::deserialize(value)?),
                ReviewMode::Research => drop(replies::ResearchAnswer::deserialize(value)?),
            },
            ReviewPhase::Restate => {
                findings::check_restatement(&replies::VerdictRestatement::deserialize(value)?.restatement)?;
            }
            ReviewPhase::SecondVerdict => {
                let log = ReviewLog::read(debate).map_err(unreadable)?;
                let judge = log.judge(&ask.seat).ok_or(Corrupt::Empty).map_err(unreadable)?;
                findings::check_second_verdict(&log, judge, &SecondVerdict::deserialize(value)?)?;
            }
        }
        Ok(())
    }

    fn view(&self, debate: &Debate) -> Result<DebateView, Corrupt> {
        Ok(report::view(&ReviewLog::read(debate)?))
    }
}
