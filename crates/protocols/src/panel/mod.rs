//! `panel`: judges with stances score files on a rubric, rebut each other, and reach consensus or a majority with dissent
//! (seed 001).
//!
//! This file is the transition table. [`log`] reads from the log where each judge stands after each round, [`consensus`] is the
//! arithmetic of agreement, [`ledger`] the critical findings, [`rubric`] the dimensions; [`asks`] makes the prompts, [`schema`] the
//! shapes of the answers; [`close`] writes the outcome, of which [`verdict`], [`findings`], [`points`], [`disputes`], [`opinion`],
//! [`attention`], [`advice`] and [`metrics`] are the parts, and [`records`] the files; [`stands`] says who gave which score when;
//! [`reply`] has the answers' types.

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use agon_core::{
    Ask, Brief, Corrupt, Debate, Invalid, Kind, Opt, Protocol, Request, Saved, Seat, Stands, Step, Summary,
    Template,
};
use serde::Deserialize;
use serde_json::Value;

use crate::prompt::{self, Prompts};
use log::Log;
use reply::{CriticalPosition, Final, Rebuttal, Statement};

mod advice;
mod asks;
mod attention;
mod close;
mod consensus;
mod disputes;
mod findings;
mod ledger;
mod log;
mod metrics;
mod opinion;
mod points;
mod records;
pub mod reply;
mod rubric;
mod schema;
mod stands;
#[cfg(test)]
mod tests;
mod verdict;

/// The protocol of seed 001.
#[derive(Debug)]
pub struct Panel;

const OPTIONS: &[Opt] = &[
    Opt {
        key: "feature",
        kind: Kind::Text,
        default: "",
        help: "what the files are about; by default the first file's name without its ending",
    },
    Opt {
        key: "judges",
        kind: Kind::Int(3, 7),
        default: "",
        help: "how many judges sit, an odd number; by default 3, or as many as models are named",
    },
    Opt {
        key: "rubric",
        kind: Kind::File,
        default: "",
        help: "a file (YAML, JSON or TOML) with dimensions and their weights, which sum to 100",
    },
    Opt {
        key: "consensus_range",
        kind: Kind::Float(0.0, 4.0),
        default: "0.5",
        help: "consensus needs all overall scores within this range",
    },
    Opt {
        key: "dimension_range",
        kind: Kind::Float(0.0, 4.0),
        default: "1.0",
        help: "consensus needs the scores of every dimension within this range",
    },
    Opt {
        key: "bands",
        kind: Kind::Text,
        default: "4.0,3.0",
        help: "the weighted scores from which the status is GREEN and YELLOW; below is RED",
    },
    Opt { key: "max_rounds", kind: Kind::Int(1, 3), default: "3", help: "the debate ends after this round" },
];

const TEMPLATES: &[Template] = &[
    Template { file: "panel/system.hbs", text: include_str!("prompts/system.hbs") },
    Template { file: "panel/material.hbs", text: include_str!("prompts/material.hbs") },
    Template { file: "panel/position.hbs", text: include_str!("prompts/position.hbs") },
    Template { file: "panel/rebuttal.hbs", text: include_str!("prompts/rebuttal.hbs") },
    Template { file: "panel/final.hbs", text: include_str!("prompts/final.hbs") },
];

/// Judges when no more models are named.
const JUDGES: usize = 3;
const JUDGES_MAX: usize = 7;

/// "The perspective a judge takes: neutral (objective), for (advocate), against (challenger)".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stance {
    Neutral,
    For,
    Against,
}

impl Stance {
    /// Stances go by place and cycle.
    fn at(place: usize) -> Self {
        match place % 3 {
            0 => Self::Neutral,
            1 => Self::For,
            _ => Self::Against,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Neutral => "neutral",
            Self::For => "for",
            Self::Against => "against",
        }
    }

    /// What others may call a judge of this stance, beside its id.
    fn called(self) -> &'static str {
        match self {
            Self::Neutral => "the neutral judge",
            Self::For => "the advocate",
            Self::Against => "the challenger",
        }
    }

    /// What a judge of this stance does.
    fn charter(self) -> &'static str {
        match self {
            Self::Neutral => {
                "You are objective. Weigh strengths and risks alike, with no wish for either to win, and let the evidence set the score."
            }
            Self::For => {
                "You are the advocate. Look for what is strong, for what works and for what could be built on, so that no merit is \
                 overlooked. A strength that the files do not show is none."
            }
            Self::Against => {
                "You are the challenger. Look for risks, gaps and what breaks first, so that no danger is overlooked. A risk that the \
                 files already meet is none."
            }
        }
    }
}

fn prompts() -> Result<&'static Prompts, Corrupt> {
    static PROMPTS: OnceLock<Prompts> = OnceLock::new();
    prompt::once(&PROMPTS, || Prompts::new(TEMPLATES))
}

impl Protocol for Panel {
    fn name(&self) -> &'static str {
        "panel"
    }

    fn about(&self) -> &'static str {
        "Judges with stances score files on a rubric, rebut each other, and reach consensus or a majority with dissent"
    }

    fn subject(&self) -> &'static str {
        "FILE..."
    }

    fn options(&self) -> &'static [Opt] {
        OPTIONS
    }

    fn roles(&self) -> &'static [&'static str] {
        &[]
    }

    fn templates(&self) -> &'static [Template] {
        TEMPLATES
    }

    fn title(&self, request: &Request) -> String {
        let named = request.options.get("feature").and_then(Value::as_str).unwrap_or_default();
        log::feature(named, &request.files)
    }

    fn seats(&self, request: &Request) -> Result<Vec<Seat>, Invalid> {
        check_request(request)?;
        let count = judges(request)?;
        let models = request.models.iter().cycle().take(count).zip(1..);
        let seat = |(model, n): (&String, usize)| Seat {
            id: format!("judge-{n}"),
            role: "judge".into(),
            model: model.clone(),
        };
        Ok(models.map(seat).collect())
    }

    fn calls(&self, brief: &Brief) -> RangeInclusive<u32> {
        let n = u32::try_from(brief.seats_of("judge").count()).unwrap_or(u32::MAX);
        n..=n.saturating_mul(brief.int("max_rounds"))
    }

    fn bound(&self, brief: &Brief) -> u32 {
        brief.int("max_rounds")
    }

    fn next(&self, debate: &Debate) -> Result<Step, Corrupt> {
        let log = Log::read(debate)?;
        let make = asks::Asks::new(&log)?;
        match (debate.last_phase(), log.ending()) {
            (None, _) => make.round(1),
            (Some(phase), None) => make.round(phase.round + 1),
            (Some(_), Some(termination)) => Ok(Step::Close(Box::new(close::close(&log, termination)))),
        }
    }

    fn check(&self, debate: &Debate, ask: &Ask, value: &Value) -> Result<(), String> {
        match ask.schema.as_ref().map(|schema| schema.name.as_str()) {
            Some("position") => {
                let statement = Statement::deserialize(value).map_err(|why| why.to_string())?;
                not_empty("position_statement", &statement.position_statement)?;
                let mut findings = statement.critical_findings.iter();
                findings.try_for_each(|finding| not_empty("critical_findings[].finding", &finding.finding))
            }
            Some("rebuttal") => {
                let rebuttal = Rebuttal::deserialize(value).map_err(|why| why.to_string())?;
                check_rebuttal(&rebuttal, log::first_score(debate, &ask.seat))
            }
            _ => {
                let last = Final::deserialize(value).map_err(|why| why.to_string())?;
                not_empty("final_position", &last.final_position)?;
                each_once(&last.critical_positions)
            }
        }
    }

    fn records(&self, debate: &Debate) -> Vec<Saved> {
        records::records(debate)
    }

    fn summary(&self, debate: &Debate) -> Option<Summary> {
        close::round_table(debate)
    }

    fn stands(&self, debate: &Debate) -> Result<Stands, Corrupt> {
        Ok(stands::stands(&Log::read(debate)?))
    }
}

fn not_empty(field: &str, text: &str) -> Result<(), String> {
    if text.trim().is_empty() { Err(format!("`{field}` must not be empty")) } else { Ok(()) }
}

fn check_rebuttal(rebuttal: &Rebuttal, before: Option<f64>) -> Result<(), String> {
    let Rebuttal { previous_score, new_score, score_changed, .. } = rebuttal;
    let differs = |before: &f64| (before - previous_score).abs() > consensus::TOLERANCE;
    if let Some(before) = before.filter(differs) {
        return Err(format!(
            "`previous_score` is {previous_score}, but your score in the round before was {before}"
        ));
    }
    if let Some(said) = score_changed.filter(|said| *said != rebuttal.is_changed()) {
        return Err(format!(
            "`score_changed` is {said}, but `previous_score` is {previous_score} and `new_score` is {new_score}"
        ));
    }
    if rebuttal.is_changed() {
        not_empty("change_reason", &rebuttal.change_reason)?;
    }
    not_empty("position_revision", &rebuttal.position_revision)?;
    each_once(&rebuttal.critical_positions)
}

fn each_once(positions: &[CriticalPosition]) -> Result<(), String> {
    for (place, position) in positions.iter().enumerate() {
        let id = &position.finding_id;
        if positions.iter().take(place).any(|other| other.finding_id == *id) {
            return Err(format!("`critical_positions` has {id} twice: take one position on each finding"));
        }
    }
    Ok(())
}

fn check_request(request: &Request) -> Result<(), Invalid> {
    if request.models.is_empty() {
        return Err(Invalid::new("panel needs at least one model"));
    }
    if log::judged(&request.files).next().is_none() {
        return Err(Invalid::new("there is nothing to judge: agon panel FILE..."));
    }
    if let Some(file) = log::judged(&request.files).find(|file| file.text.trim().is_empty()) {
        return Err(Invalid(format!("the file {} is empty: there is nothing in it to judge", file.path)));
    }
    let written = request.options.get("bands").and_then(Value::as_str).unwrap_or_default();
    if bands(written).is_none() {
        return Err(Invalid(format!(
            "bands is {written:?}, but it must be two numbers from 1 to 5, the greater first, such as 4.0,3.0"
        )));
    }
    rubric::Rubric::of(&request.files).map(|_| ())
}

/// How many judges sit. An even number could not be told from a tie.
fn judges(request: &Request) -> Result<usize, Invalid> {
    let named = request.models.len();
    let set = request.options.get("judges").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let count = set.unwrap_or(JUDGES.max(named));
    match set {
        _ if count % 2 == 1 && (JUDGES..=JUDGES_MAX).contains(&count) => Ok(count),
        Some(count) => Err(Invalid(format!("judges is {count}, but it must be odd: 3, 5 or 7"))),
        None => Err(Invalid(format!(
            "panel seats an odd number of judges, 3 to {JUDGES_MAX}, but {named} models are named: set --judges 3, 5 or 7, over \
             which they cycle"
        ))),
    }
}

/// The scores from which the status is GREEN and YELLOW.
fn bands(written: &str) -> Option<(f64, f64)> {
    let (green, yellow) = written.split_once(',')?;
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| (1.0..=5.0).contains(n));
    let (green, yellow) = (number(green)?, number(yellow)?);
    (green > yellow).then_some((green, yellow))
}

/// A figure without the noise of binary fractions.
fn tidy(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

/// A score as people read it: `3`, `3.5`, `3.67`.
fn figure(score: f64) -> String {
    ((score * 100.0).round() / 100.0).to_string()
}
