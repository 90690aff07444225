//! `deep`: anonymous debaters, a moderator who measures convergence, a synthesis (seed 000).
//!
//! This file has the options, the phases and the transition table. The other files:
//!
//! - [`log`] reads the debaters, rounds and positions from the log.
//! - [`asks`] makes the prompts; [`replies`] has the types of the answers.
//! - [`evaluation`] is the cross-evaluation of standard mode.
//! - [`verdict`] closes the debate.
//! - [`positions`] says who held what in each round.
//! - [`report`] describes the result for readers.
//! - [`simulation`] plays the protocol with simulated seats.

use std::sync::OnceLock;

use agon_core::protocol::file_names;
use agon_core::{
    Ask, Brief, CallPlan, Corrupt, Debate, DebateView, Invalid, PhaseInfo, PromptTemplate, Protocol,
    ProtocolInfo, ReplyFault, Request, RoleInfo, RoleModels, Seat, Step,
};
use serde::Deserialize;
use serde_json::Value;

use crate::prompt::{PromptSet, made_once};
use log::DeepLog;
use replies::{Argument, Assessment, Evaluation, Ratification, Revision, Synthesis};

pub(crate) use log::CLOSING_SHARE;

mod asks;
mod evaluation;
mod log;
mod positions;
pub mod replies;
mod report;
mod simulation;
#[cfg(test)]
mod tests;
pub mod verdict;

/// The protocol of seed 000.
#[derive(Debug)]
pub struct Deep;

agon_core::option_words! {
    /// Which stages a debate has.
    pub enum DeepMode {
        /// Answers, debate and synthesis.
        Deep = "deep",
        /// Answers, mutual evaluation and synthesis.
        Standard = "standard",
        /// Answers and synthesis.
        Quick = "quick",
    }
}

agon_core::protocol_options! {
    /// What a user may set.
    pub struct DeepOptions {
        mode: DeepMode = Choice(DeepMode::WORDS), "deep", "the stages: answers, debate and synthesis (deep); answers, mutual evaluation and synthesis (standard); answers and synthesis (quick)";
        min_rounds: u32 = Int(1, 20), "2", "the debate cannot converge before this round";
        max_rounds: u32 = Int(1, 20), "3", "the debate ends after this round";
        agreement_score: f64 = Float(0.0, 1.0), "0.8", "the debate converges at this agreement or more";
        new_points_ratio: f64 = Float(0.0, 1.0), "0.15", "the debate converges at this share of new points or less";
        strict: bool = Flag, "false", "stop without a synthesis when the time or money runs out";
        ratify: bool = Flag, "false", "ask every debater at the end whether it signs the answer";
        weight_accuracy as "weights.accuracy": f64 = Float(0.0, 100.0), "30", "weight in standard mode; the six sum to 100";
        weight_completeness as "weights.completeness": f64 = Float(0.0, 100.0), "15", "weight in standard mode; the six sum to 100";
        weight_verifiability as "weights.verifiability": f64 = Float(0.0, 100.0), "20", "weight in standard mode; the six sum to 100";
        weight_reasoning as "weights.reasoning": f64 = Float(0.0, 100.0), "15", "weight in standard mode; the six sum to 100";
        weight_clarity as "weights.clarity": f64 = Float(0.0, 100.0), "10", "weight in standard mode; the six sum to 100";
        weight_usefulness as "weights.usefulness": f64 = Float(0.0, 100.0), "10", "weight in standard mode; the six sum to 100";
    }
}

impl DeepOptions {
    /// The six weights of standard mode, in the order of [`replies::EvaluationScores`].
    fn weights(&self) -> [f64; 6] {
        [
            self.weight_accuracy,
            self.weight_completeness,
            self.weight_verifiability,
            self.weight_reasoning,
            self.weight_clarity,
            self.weight_usefulness,
        ]
    }
}

agon_core::protocol_phases! {
    pub enum DeepPhase {
        Answer => PhaseInfo::new("answer", "First answers", "answers", "answer, each on its own").first_positions(),
        Debate => PhaseInfo::new("debate", "Arguments", "argues", "argue"),
        Moderate => PhaseInfo::new("moderate", "The moderator's assessment", "measures how far they agree", "measure how far they agree"),
        Evaluate => PhaseInfo::new("evaluate", "Cross-evaluation", "scores the answers of the others", "score the answers of the others"),
        Synthesis => PhaseInfo::new("synthesis", "Synthesis", "writes the verdict", "write the verdict").closing().outside_rounds(),
        Ratify => PhaseInfo::new("ratify", "Signatures", "says whether it signs the answer", "say whether they sign the answer").closing().outside_rounds(),
    }
}

pub(crate) const TEMPLATES: &[PromptTemplate] = &[
    PromptTemplate { file: "deep/system.hbs", text: include_str!("prompts/system.hbs") },
    PromptTemplate { file: "deep/answer.hbs", text: include_str!("prompts/answer.hbs") },
    PromptTemplate { file: "deep/debater.hbs", text: include_str!("prompts/debater.hbs") },
    PromptTemplate { file: "deep/moderator.hbs", text: include_str!("prompts/moderator.hbs") },
    PromptTemplate { file: "deep/evaluator.hbs", text: include_str!("prompts/evaluator.hbs") },
    PromptTemplate { file: "deep/synthesis.hbs", text: include_str!("prompts/synthesis.hbs") },
    PromptTemplate { file: "deep/ratify.hbs", text: include_str!("prompts/ratify.hbs") },
];

static INFO: ProtocolInfo = ProtocolInfo {
    name: "deep",
    about: "Anonymous debaters argue a question, a moderator measures convergence, a chair writes the answer",
    subject: "QUESTION",
    options: DeepOptions::SPECS,
    roles: &[
        RoleInfo { name: "debater", models: RoleModels::Listed },
        RoleInfo { name: "moderator", models: RoleModels::Named },
        RoleInfo { name: "chair", models: RoleModels::Named },
    ],
    templates: TEMPLATES,
    phases: DeepPhase::INFO,
    closing_share: log::CLOSING_SHARE,
    title: file_names,
    gate: None,
    is_rated: false,
    record_folder: None,
    isolation: &[],
    simulation: Some(&simulation::DeepSimulation),
    example: Some(("\"Rust or Go?\" --models script/demo", "watch a scripted debate, without any model")),
    demo: Some(include_str!("demo.yaml")),
};

/// How many debaters sit if only one model is named.
const DEBATERS_DEFAULT: usize = 3;
const DEBATERS_MAX: usize = 7;

fn prompts() -> Result<&'static PromptSet, Corrupt> {
    static PROMPTS: OnceLock<PromptSet> = OnceLock::new();
    made_once(&PROMPTS, || PromptSet::new(TEMPLATES))
}

impl Protocol for Deep {
    fn info(&self) -> &'static ProtocolInfo {
        &INFO
    }

    fn seats(&self, request: &Request) -> Result<Vec<Seat>, Invalid> {
        let options = DeepOptions::read(&request.options);
        check_request(request, &options)?;
        let first = request.models.first().ok_or_else(|| Invalid::new("deep needs at least one model"))?;
        let count = if request.models.len() == 1 { DEBATERS_DEFAULT } else { request.models.len() };
        if count > DEBATERS_MAX {
            return Err(Invalid(format!(
                "deep seats 2 to {DEBATERS_MAX} debaters, but {count} models are named"
            )));
        }
        let seat =
            |id: String, role: &str, model: &String| Seat { id, role: role.into(), model: model.clone() };
        let debaters = request.models.iter().cycle().take(count).zip(1..);
        let mut seats: Vec<Seat> =
            debaters.map(|(model, n)| seat(format!("debater-{n}"), "debater", model)).collect();
        let named = |role: &str| request.roles.get(role).unwrap_or(first);
        // Without rounds there is nothing to moderate, but a named moderator may still stand in for the chair.
        if options.mode == DeepMode::Deep || request.roles.contains_key("moderator") {
            seats.push(seat("moderator".into(), "moderator", named("moderator")));
        }
        seats.push(seat("chair".into(), "chair", named("chair")));
        Ok(seats)
    }

    fn plan(&self, brief: &Brief) -> CallPlan {
        let options = DeepOptions::read(&brief.options);
        let debaters = u32::try_from(brief.seats_of("debater").count()).unwrap_or(u32::MAX);
        let around = debaters + 1 + if options.ratify { debaters } else { 0 };
        let evaluations = debaters * evaluation::evaluators_each(debaters);
        let with_rounds = |rounds: u32| around + rounds * (debaters + 1);
        let (fewest_calls, most_calls) = match options.mode {
            DeepMode::Quick => (around, around),
            DeepMode::Standard => (around + evaluations, around + evaluations),
            DeepMode::Deep => {
                (with_rounds(options.min_rounds.min(options.max_rounds)), with_rounds(options.max_rounds))
            }
        };
        let chairs = u32::try_from(log::chair_models(brief).len()).unwrap_or(u32::MAX);
        let most_phases = 3 + 2 * options.max_rounds + chairs;
        CallPlan { fewest_calls, most_calls, most_phases, most_rounds: Some(options.max_rounds) }
    }

    fn next(&self, debate: &Debate) -> Result<Step, Corrupt> {
        let log = DeepLog::read(debate)?;
        let asks = asks::DeepAsks::new(prompts()?, &log)?;
        let Some(phase) = debate.last_phase() else { return asks.answers() };
        let debaters = log.debaters.len();
        let wrap_up = || if log.is_cut_short_strictly() { verdict::close(&log) } else { asks.synthesis() };
        match DeepPhase::of(phase)? {
            DeepPhase::Answer if debaters < 2 => verdict::close(&log),
            DeepPhase::Answer => match log.options.mode {
                DeepMode::Quick => wrap_up(),
                DeepMode::Standard if log.limits().is_exhausted(evaluation::pairs(&log).len()) => wrap_up(),
                DeepMode::Standard => asks.evaluations(),
                DeepMode::Deep if log.limits().is_exhausted(debaters) => wrap_up(),
                DeepMode::Deep => asks.debate(1),
            },
            DeepPhase::Evaluate => wrap_up(),
            DeepPhase::Debate if log.present(phase.round) == 0 => wrap_up(),
            DeepPhase::Debate if log.limits().is_exhausted(1) => wrap_up(),
            DeepPhase::Debate => asks.moderation(phase.round),
            DeepPhase::Moderate if log.exit(phase.round).is_some() => asks.synthesis(),
            DeepPhase::Moderate if log.limits().is_exhausted(debaters) => wrap_up(),
            DeepPhase::Moderate => asks.debate(phase.round + 1),
            DeepPhase::Synthesis if log.synthesis.is_some() => {
                match log.options.ratify && log.can_be_signed() {
                    true => asks.ratification(),
                    false => verdict::close(&log),
                }
            }
            DeepPhase::Synthesis if log.limits().past_deadline() => verdict::close(&log),
            DeepPhase::Synthesis => asks.synthesis(),
            DeepPhase::Ratify => verdict::close(&log),
        }
    }

    fn check(&self, debate: &Debate, ask: &Ask, value: &Value) -> Result<(), ReplyFault> {
        let faults = reply_faults(debate, ask, value)?;
        match faults.is_empty() {
            true => Ok(()),
            false => Err(ReplyFault::Unverified(faults.join(" "))),
        }
    }

    fn view(&self, debate: &Debate) -> Result<DebateView, Corrupt> {
        report::view(&DeepLog::read(debate)?)
    }
}

/// What a reply declares that does not verify, in sentences for the seat.
fn reply_faults(debate: &Debate, ask: &Ask, value: &Value) -> Result<Vec<String>, ReplyFault> {
    let invalid = |why: &str| ReplyFault::Invalid(why.to_owned());
    let unreadable = |why: Corrupt| ReplyFault::Invalid(why.to_string());
    let phase = debate.last_phase().ok_or_else(|| invalid("nothing was asked yet"))?;
    let mut log = DeepLog::read(debate).map_err(unreadable)?;
    Ok(match DeepPhase::of(phase).map_err(unreadable)? {
        DeepPhase::Answer => return Err(invalid("the answer must be plain text")),
        DeepPhase::Debate => {
            let argument = Argument::deserialize(value)?;
            if argument.revision != Revision::NoChange && argument.new_position().is_none() {
                return Err(invalid("`revised_position` is required when `revision` is not `no_change`"));
            }
            let place = log.debaters.iter().position(|debater| debater.seat.id == ask.seat);
            let place = place.ok_or_else(|| invalid("this seat is no debater"))?;
            log.verified(place, phase.round, &argument).faults
        }
        DeepPhase::Moderate => {
            let assessment = Assessment::deserialize(value)?;
            if let Some(round) = log.rounds.iter_mut().find(|round| round.number == phase.round) {
                round.assessment = Some(assessment);
            }
            let mut faults = positions::sorting_faults(&log, phase.round);
            if phase.round == 1 {
                faults.extend(positions::sorting_faults(&log, 0));
            }
            faults
        }
        DeepPhase::Evaluate => Evaluation::deserialize(value).map(|_| Vec::new())?,
        DeepPhase::Synthesis => {
            let synthesis = Synthesis::deserialize(value)?;
            if synthesis.answer.trim().is_empty() {
                return Err(invalid("`answer` must not be empty"));
            }
            log.synthesis = Some(synthesis);
            let mut faults = verdict::ruling_faults(&log);
            if log.options.mode != DeepMode::Deep {
                faults.extend(positions::sorting_faults(&log, 0));
            }
            faults
        }
        DeepPhase::Ratify => Ratification::deserialize(value).map(|_| Vec::new())?,
    })
}

fn check_request(request: &Request, options: &DeepOptions) -> Result<(), Invalid> {
    if request.question.trim().is_empty() {
        return Err(Invalid::new("the question is empty: agon deep \"QUESTION\""));
    }
    let DeepOptions { min_rounds, max_rounds, .. } = *options;
    if min_rounds > max_rounds && min_rounds != DeepOptions::default().min_rounds {
        return Err(Invalid(format!(
            "min_rounds is {min_rounds}, which is more than max_rounds, {max_rounds}"
        )));
    }
    let weights: f64 = options.weights().iter().sum();
    if (weights - 100.0).abs() > 1e-9 {
        return Err(Invalid(format!("the six weights.* must sum to 100, but they sum to {weights}")));
    }
    Ok(())
}
