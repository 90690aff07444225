//! `deep`: anonymous debaters, a moderator who measures convergence, a synthesis (seed 000).
//!
//! This file is the transition table. [`log`] reads rounds and positions from the log, [`asks`] makes the prompts,
//! [`ranking`] is the cross-evaluation of standard mode, [`close`] writes the outcome, [`stands`] says who held what in
//! each round, [`reply`] has the answers' types.

use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use agon_core::{
    Ask, Brief, Corrupt, Debate, Invalid, Kind, Opt, Protocol, Request, Schema, Seat, Stands, Step, Summary,
    Template,
};
use serde::Deserialize;
use serde_json::Value;

use crate::prompt::{self, Prompts};
use log::Log;

mod asks;
mod close;
mod log;
mod ranking;
pub mod reply;
mod stands;
#[cfg(test)]
mod tests;

/// The protocol of seed 000.
#[derive(Debug)]
pub struct Deep;

/// The options of the debate loop, which whatever contains a debate passes on.
pub(crate) const LOOP: [Opt; 5] = [
    Opt {
        key: "min_rounds",
        kind: Kind::Int(1, 20),
        default: "2",
        help: "no convergence counts before this round",
    },
    Opt { key: "max_rounds", kind: Kind::Int(1, 20), default: "3", help: "the debate ends after this round" },
    Opt {
        key: "agreement_score",
        kind: Kind::Float(0.0, 1.0),
        default: "0.8",
        help: "converged needs at least this much agreement",
    },
    Opt {
        key: "new_points_ratio",
        kind: Kind::Float(0.0, 1.0),
        default: "0.15",
        help: "converged needs at most this share of new points",
    },
    Opt {
        key: "strict",
        kind: Kind::Flag,
        default: "false",
        help: "when the time or money runs out, stop without a synthesis",
    },
];

const OPTIONS: &[Opt] = &[
    Opt {
        key: "mode",
        kind: Kind::Choice(&["deep", "standard", "quick"]),
        default: "deep",
        help: "the stages: answers, debate and synthesis (deep); answers, mutual evaluation and synthesis (standard); answers and synthesis (quick)",
    },
    LOOP[0],
    LOOP[1],
    LOOP[2],
    LOOP[3],
    LOOP[4],
    weight("weights.accuracy", "30"),
    weight("weights.completeness", "15"),
    weight("weights.verifiability", "20"),
    weight("weights.reasoning", "15"),
    weight("weights.clarity", "10"),
    weight("weights.usefulness", "10"),
];

const fn weight(key: &'static str, default: &'static str) -> Opt {
    Opt { key, kind: Kind::Float(0.0, 100.0), default, help: "weight in standard mode; the six sum to 100" }
}

const TEMPLATES: &[Template] = &[
    Template { file: "deep/system.hbs", text: include_str!("prompts/system.hbs") },
    Template { file: "deep/answer.hbs", text: include_str!("prompts/answer.hbs") },
    Template { file: "deep/debater.hbs", text: include_str!("prompts/debater.hbs") },
    Template { file: "deep/moderator.hbs", text: include_str!("prompts/moderator.hbs") },
    Template { file: "deep/evaluator.hbs", text: include_str!("prompts/evaluator.hbs") },
    Template { file: "deep/synthesis.hbs", text: include_str!("prompts/synthesis.hbs") },
];

/// Debaters when one model is named.
const DEBATERS: usize = 3;
const DEBATERS_MAX: usize = 7;

/// The compiled templates and the schemas that are the same in every debate.
struct Parts {
    prompts: Prompts,
    assessment: Arc<Schema>,
    evaluation: Arc<Schema>,
    synthesis: Arc<Schema>,
    /// By number of debaters; made when a debate of that size is held.
    arguments: [OnceLock<Arguments>; DEBATERS_MAX + 1],
}

/// The schemas of an argument among a number of debaters.
struct Arguments {
    /// By own place: only the others may be answered.
    own: Vec<Arc<Schema>>,
    /// The one that the shared part of the prompt states.
    stated: String,
}

impl Parts {
    fn arguments(&self, debaters: usize) -> Option<&Arguments> {
        let made = self.arguments.get(debaters)?;
        Some(made.get_or_init(|| Arguments {
            own: (0..debaters).map(|own| Arc::new(argument(debaters, Some(own)))).collect(),
            stated: argument(debaters, None).json.to_string(),
        }))
    }
}

fn parts() -> Result<&'static Parts, Corrupt> {
    static PARTS: OnceLock<Parts> = OnceLock::new();
    prompt::once(&PARTS, || {
        Ok(Parts {
            prompts: Prompts::new(TEMPLATES)?,
            assessment: Arc::new(prompt::schema_of::<reply::Assessment>("assessment")),
            evaluation: Arc::new(prompt::schema_of::<reply::Evaluation>("evaluation")),
            synthesis: Arc::new(prompt::schema_of::<reply::Synthesis>("synthesis")),
            arguments: Default::default(),
        })
    })
}

/// The schema of an argument among `n` debaters; only the others may be its target.
fn argument(n: usize, own: Option<usize>) -> Schema {
    let others: Vec<String> =
        log::names(n).into_iter().enumerate().filter(|(at, _)| Some(*at) != own).map(|(_, l)| l).collect();
    let targets: Vec<String> =
        others.iter().map(|label| format!("Debater {label}")).chain(others.clone()).collect();
    let schema = prompt::schema_of::<reply::Argument>("argument");
    prompt::only(schema, "/properties/counterpoints/items/properties/target", &targets)
}

impl Protocol for Deep {
    fn name(&self) -> &'static str {
        "deep"
    }

    fn about(&self) -> &'static str {
        "Anonymous debaters argue a question, a moderator measures convergence, a chair writes the answer"
    }

    fn subject(&self) -> &'static str {
        "QUESTION"
    }

    fn options(&self) -> &'static [Opt] {
        OPTIONS
    }

    fn roles(&self) -> &'static [&'static str] {
        &["moderator", "chair"]
    }

    fn templates(&self) -> &'static [Template] {
        TEMPLATES
    }

    fn seats(&self, request: &Request) -> Result<Vec<Seat>, Invalid> {
        check_request(request)?;
        let first = request.models.first().ok_or_else(|| Invalid::new("deep needs at least one model"))?;
        let count = if request.models.len() == 1 { DEBATERS } else { request.models.len() };
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
        let moderated = request.options.get("mode").and_then(Value::as_str) == Some("deep");
        // Without rounds there is nothing to moderate, but a moderator that is named may stand in for the chair.
        if moderated || request.roles.contains_key("moderator") {
            seats.push(seat("moderator".into(), "moderator", named("moderator")));
        }
        seats.push(seat("chair".into(), "chair", named("chair")));
        Ok(seats)
    }

    fn calls(&self, brief: &Brief) -> RangeInclusive<u32> {
        let n = u32::try_from(brief.seats_of("debater").count()).unwrap_or(u32::MAX);
        match brief.text("mode") {
            "quick" => n + 1..=n + 1,
            "standard" => {
                let total = n + n * ranking::evaluators_each(n) + 1;
                total..=total
            }
            _ => {
                let rounds = |count: u32| n + count * (n + 1) + 1;
                rounds(brief.int("min_rounds").min(brief.int("max_rounds")))..=rounds(brief.int("max_rounds"))
            }
        }
    }

    fn bound(&self, brief: &Brief) -> u32 {
        let models = u32::try_from(log::chairs(brief).len()).unwrap_or(u32::MAX);
        2 + 2 * brief.int("max_rounds") + models
    }

    fn next(&self, debate: &Debate) -> Result<Step, Corrupt> {
        let parts = parts()?;
        let log = Log::read(debate)?;
        let make = asks::Asks::new(debate, parts, &log)?;
        let Some(phase) = debate.last_phase() else { return make.answers() };
        let debaters = log.debaters.len();
        let wrap_up = || if log.cut_short_strictly() { close::close(&log) } else { make.synthesis() };
        match phase.name.as_str() {
            "answer" if log.debaters.len() < 2 => close::close(&log),
            "answer" => match debate.brief.text("mode") {
                "quick" => wrap_up(),
                "standard" if log.limits().spent(ranking::pairs(&log).len()) => wrap_up(),
                "standard" => make.evaluations(),
                _ if log.limits().spent(debaters) => wrap_up(),
                _ => make.debate(1),
            },
            "evaluate" => wrap_up(),
            "debate" if log.present(phase.round) == 0 => wrap_up(),
            "debate" if log.limits().spent(1) => wrap_up(),
            "debate" => make.moderation(phase.round),
            "moderate" if log.exit(phase.round).is_some() => make.synthesis(),
            "moderate" if log.limits().spent(debaters) => wrap_up(),
            "moderate" => make.debate(phase.round + 1),
            _ if log.synthesis.is_some() || log.limits().past_deadline() => close::close(&log),
            _ => make.synthesis(),
        }
    }

    fn check(&self, _debate: &Debate, ask: &Ask, value: &Value) -> Result<(), String> {
        match ask.schema.as_ref().map(|schema| schema.name.as_str()) {
            Some("argument") => check_argument(value),
            Some("synthesis") => {
                let synthesis = reply::Synthesis::deserialize(value).map_err(|why| why.to_string())?;
                if synthesis.answer.trim().is_empty() {
                    Err("`answer` must not be empty".into())
                } else {
                    Ok(())
                }
            }
            _ => Ok(()),
        }
    }

    fn closing(&self) -> &'static [&'static str] {
        &["synthesis"]
    }

    fn kept_for_closing(&self) -> f64 {
        log::KEPT
    }

    fn stands(&self, debate: &Debate) -> Result<Stands, Corrupt> {
        stands::stands(debate)
    }

    fn summary(&self, debate: &Debate) -> Option<Summary> {
        close::round_table(debate)
    }
}

fn check_argument(value: &Value) -> Result<(), String> {
    let argument = reply::Argument::deserialize(value).map_err(|why| why.to_string())?;
    if argument.revision != reply::Revision::NoChange && argument.new_position().is_none() {
        return Err("`revised_position` is required when `revision` is not `no_change`".into());
    }
    Ok(())
}

fn check_request(request: &Request) -> Result<(), Invalid> {
    if request.question.trim().is_empty() {
        return Err(Invalid::new("the question is empty: agon deep \"QUESTION\""));
    }
    let number = |key: &str| request.options.get(key).and_then(Value::as_f64).unwrap_or_default();
    let (least, most) = (number("min_rounds"), number("max_rounds"));
    let default = OPTIONS.iter().find(|opt| opt.key == "min_rounds").map_or("", |opt| opt.default);
    if least > most && least.to_string() != default {
        return Err(Invalid(format!("min_rounds is {least}, which is more than max_rounds, {most}")));
    }
    let weights: f64 =
        OPTIONS.iter().filter(|opt| opt.key.starts_with("weights.")).map(|opt| number(opt.key)).sum();
    if (weights - 100.0).abs() > 1e-9 {
        return Err(Invalid(format!("the six weights.* must sum to 100, but they sum to {weights}")));
    }
    Ok(())
}
