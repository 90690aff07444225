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

use std::sync::{Arc, OnceLock};

use agon_core::protocol::file_names;
use agon_core::{
    Ask, Brief, CallPlan, Corrupt, Debate, DebateView, Invalid, PhaseInfo, PromptTemplate, Protocol,
    ProtocolInfo, ReplyFault, ReplySchema, Request, RoleInfo, RoleModels, Seat, Step,
};
use serde::Deserialize;
use serde_json::Value;

use crate::prompt::{self, PromptSet};
use log::DeepLog;

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
    }
}

pub(crate) const TEMPLATES: &[PromptTemplate] = &[
    PromptTemplate { file: "deep/system.hbs", text: include_str!("prompts/system.hbs") },
    PromptTemplate { file: "deep/answer.hbs", text: include_str!("prompts/answer.hbs") },
    PromptTemplate { file: "deep/debater.hbs", text: include_str!("prompts/debater.hbs") },
    PromptTemplate { file: "deep/moderator.hbs", text: include_str!("prompts/moderator.hbs") },
    PromptTemplate { file: "deep/evaluator.hbs", text: include_str!("prompts/evaluator.hbs") },
    PromptTemplate { file: "deep/synthesis.hbs", text: include_str!("prompts/synthesis.hbs") },
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
    example: None,
    demo: None,
};

/// How many debaters sit if only one model is named.
const DEBATERS_DEFAULT: usize = 3;
const DEBATERS_MAX: usize = 7;

/// The compiled templates and the schemas that are the same in every debate.
struct DeepParts {
    prompts: PromptSet,
    assessment: Arc<ReplySchema>,
    evaluation: Arc<ReplySchema>,
    synthesis: Arc<ReplySchema>,
    /// By number of debaters. Made when the first debate of that size is held.
    arguments: [OnceLock<ArgumentSchemas>; DEBATERS_MAX + 1],
}

/// The schemas of an argument, for one number of debaters.
struct ArgumentSchemas {
    /// By place in label order. A debater may only target the others.
    by_place: Vec<Arc<ReplySchema>>,
    /// The schema that the shared part of the prompt states.
    stated: String,
}

impl DeepParts {
    fn arguments(&self, debaters: usize) -> Option<&ArgumentSchemas> {
        let made = self.arguments.get(debaters)?;
        Some(made.get_or_init(|| ArgumentSchemas {
            by_place: (0..debaters).map(|own| Arc::new(argument_schema(debaters, Some(own)))).collect(),
            stated: argument_schema(debaters, None).json.to_string(),
        }))
    }
}

fn parts() -> Result<&'static DeepParts, Corrupt> {
    static PARTS: OnceLock<DeepParts> = OnceLock::new();
    prompt::made_once(&PARTS, || {
        Ok(DeepParts {
            prompts: PromptSet::new(TEMPLATES)?,
            assessment: Arc::new(prompt::schema_of::<replies::Assessment>("assessment")),
            evaluation: Arc::new(prompt::schema_of::<replies::Evaluation>("evaluation")),
            synthesis: Arc::new(prompt::schema_of::<replies::Synthesis>("synthesis")),
            arguments: Default::default(),
        })
    })
}

/// The schema of an argument among `count` debaters. Its targets are all of them but `own`.
fn argument_schema(count: usize, own: Option<usize>) -> ReplySchema {
    let labels = log::labels(count).into_iter().enumerate();
    let others: Vec<String> =
        labels.filter(|(place, _)| Some(*place) != own).map(|(_, label)| label).collect();
    let targets: Vec<String> =
        others.iter().map(|label| format!("Debater {label}")).chain(others.clone()).collect();
    let schema = prompt::schema_of::<replies::Argument>("argument");
    prompt::restrict(schema, "/properties/counterpoints/items/properties/target", &targets)
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
        let with_rounds = |rounds: u32| debaters + rounds * (debaters + 1) + 1;
        let (fewest_calls, most_calls) = match options.mode {
            DeepMode::Quick => (debaters + 1, debaters + 1),
            DeepMode::Standard => {
                let calls = debaters + debaters * evaluation::evaluators_each(debaters) + 1;
                (calls, calls)
            }
            DeepMode::Deep => {
                (with_rounds(options.min_rounds.min(options.max_rounds)), with_rounds(options.max_rounds))
            }
        };
        let chairs = u32::try_from(log::chair_models(brief).len()).unwrap_or(u32::MAX);
        let most_phases = 2 + 2 * options.max_rounds + chairs;
        CallPlan { fewest_calls, most_calls, most_phases, most_rounds: Some(options.max_rounds) }
    }

    fn next(&self, debate: &Debate) -> Result<Step, Corrupt> {
        let log = DeepLog::read(debate)?;
        let asks = asks::DeepAsks::new(parts()?, &log)?;
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
            DeepPhase::Synthesis if log.synthesis.is_some() || log.limits().past_deadline() => {
                verdict::close(&log)
            }
            DeepPhase::Synthesis => asks.synthesis(),
        }
    }

    fn check(&self, _debate: &Debate, ask: &Ask, value: &Value) -> Result<(), ReplyFault> {
        match ask.schema.as_ref().map(|schema| schema.name.as_str()) {
            Some("argument") => Ok(check_argument(value)?),
            Some("synthesis") => {
                let synthesis = replies::Synthesis::deserialize(value)?;
                let empty = synthesis.answer.trim().is_empty();
                if empty { Err(ReplyFault::Invalid("`answer` must not be empty".into())) } else { Ok(()) }
            }
            _ => Ok(()),
        }
    }

    fn view(&self, debate: &Debate) -> Result<DebateView, Corrupt> {
        report::view(&DeepLog::read(debate)?)
    }
}

fn check_argument(value: &Value) -> Result<(), String> {
    let argument = replies::Argument::deserialize(value).map_err(|why| why.to_string())?;
    if argument.revision != replies::Revision::NoChange && argument.new_position().is_none() {
        return Err("`revised_position` is required when `revision` is not `no_change`".into());
    }
    Ok(())
}

fn check_request(request: &Request, options: &DeepOptions) -> Result<(), Invalid> {
    if request.question.trim().is_empty() {
        return Err(Invalid::new("the question is empty: agon deep \"QUESTION\""));
    }
    let DeepOptions { min_rounds, max_rounds, .. } = *options;
    let default =
        DeepOptions::SPECS.iter().find(|spec| spec.key == "min_rounds").map_or("", |spec| spec.default);
    if min_rounds > max_rounds && min_rounds.to_string() != default {
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
