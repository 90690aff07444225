//! `panel`: judges with stances score files on a rubric, rebut each other, and reach consensus or a majority with dissent
//! (seed 001).
//!
//! This file has the options, the phases and the transition table. [`log`] reads from the log where each judge stands after each
//! round, [`rubric`] has the dimensions, [`replies`] the types of the answers, [`asks`] makes the prompts. [`consensus`] is the
//! arithmetic that decides, [`findings`] says who holds which critical finding, [`disputes`] what is open between the judges.
//! [`follow_up`] is what the judges advise and what the rapporteur makes of it, [`verdict`] composes the verdict, and [`closing`]
//! writes the outcome. [`report`] describes the result for readers, with the findings in [`finding_sections`], and [`simulation`]
//! plays it with simulated seats.

use std::sync::OnceLock;

use agon_core::{
    Ask, Brief, CallPlan, Corrupt, Debate, DebateView, Invalid, PhaseInfo, PromptTemplate, Protocol,
    ProtocolInfo, ReplyFault, Request, RoleInfo, RoleModels, Seat, Step, options::OptionValue,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::prompt::{self, PromptSet};
use log::PanelLog;

mod asks;
mod closing;
pub(crate) mod consensus;
mod disputes;
mod finding_sections;
mod findings;
mod follow_up;
mod log;
pub mod replies;
mod report;
mod rubric;
mod simulation;
#[cfg(test)]
mod tests;
pub mod verdict;

/// The protocol of seed 001.
#[derive(Debug)]
pub struct Panel;

agon_core::protocol_options! {
    /// What a user may set.
    pub struct PanelOptions {
        feature: String = Text, "", "what the files are about; by default the first file's name without its ending";
        ask: String = Text, "", "a question of your own that the judges answer, too";
        judges: Option<usize> = Int(3, 7), "", "how many judges sit, an odd number; by default 3, or as many as models are named";
        rubric: Option<String> = File, "", "a file (YAML, JSON or TOML) with dimensions and their weights, which sum to 100";
        consensus_range: f64 = Float(0.0, 4.0), "0.5", "consensus needs all overall scores within this range";
        dimension_range: f64 = Float(0.0, 4.0), "1.0", "consensus needs the scores of every dimension within this range";
        bands: String = Text, "4.0,3.0", "the weighted scores from which the status is GREEN and YELLOW; below is RED";
        max_rounds: u32 = Int(1, 3), "3", "the debate ends after this round";
        fail_on: Option<PanelFailOn> = Choice(&["red", "yellow"]), "", "make the panel a gate: this status, or a worse one, is exit status 1";
    }
}

agon_core::protocol_phases! {
    /// The phases, one for each round.
    pub enum PanelPhase {
        Position => PhaseInfo::new("position", "Positions", "scores alone", "score, each on its own").first_positions(),
        Rebuttal => PhaseInfo::new("rebuttal", "Rebuttals", "reads the others and answers", "read the others and answer"),
        Final => PhaseInfo::new("final", "Final statements", "gives a final score", "give their final scores"),
        Summary => PhaseInfo::new("summary", "Summary", "sums up what the judges say", "sum up what the judges say").closing().outside_rounds(),
    }
}

impl PanelPhase {
    /// The number of its round. The summary belongs to none.
    fn round(self) -> u32 {
        match self {
            Self::Position => 1,
            Self::Rebuttal => 2,
            Self::Final => 3,
            Self::Summary => 0,
        }
    }
}

/// The mildest status that fails the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PanelFailOn {
    /// RED fails.
    Red,
    /// YELLOW and RED fail.
    Yellow,
}

impl OptionValue for PanelFailOn {
    fn from_json(value: &Value) -> Option<Self> {
        Self::deserialize(value).ok()
    }

    fn to_json(&self) -> Value {
        wire_name(self).into()
    }
}

/// The weighted scores from which the status is GREEN and YELLOW.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ScoreBands {
    pub green: f64,
    pub yellow: f64,
}

impl ScoreBands {
    fn parse(written: &str) -> Option<Self> {
        let (green, yellow) = written.split_once(',')?;
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| (1.0..=5.0).contains(n));
        let (green, yellow) = (number(green)?, number(yellow)?);
        (green > yellow).then_some(Self { green, yellow })
    }
}

/// The band of a weighted score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum PanelStatus {
    Green,
    Yellow,
    Red,
}

pub(crate) const TEMPLATES: &[PromptTemplate] = &[
    PromptTemplate { file: "panel/system.hbs", text: include_str!("prompts/system.hbs") },
    PromptTemplate { file: "panel/material.hbs", text: include_str!("prompts/material.hbs") },
    PromptTemplate { file: "panel/position.hbs", text: include_str!("prompts/position.hbs") },
    PromptTemplate { file: "panel/rebuttal.hbs", text: include_str!("prompts/rebuttal.hbs") },
    PromptTemplate { file: "panel/final.hbs", text: include_str!("prompts/final.hbs") },
    PromptTemplate { file: "panel/summary.hbs", text: include_str!("prompts/summary.hbs") },
    rubric::STANDARD,
];

static INFO: ProtocolInfo = ProtocolInfo {
    name: "panel",
    about: "Judges with stances score files on a rubric, rebut each other, and reach consensus or a majority with dissent",
    subject: "FILE...",
    options: PanelOptions::SPECS,
    roles: &[
        RoleInfo { name: "judge", models: RoleModels::Listed },
        RoleInfo { name: RAPPORTEUR, models: RoleModels::Named },
    ],
    templates: TEMPLATES,
    phases: PanelPhase::INFO,
    closing_share: 0.0,
    title: |request| log::title(&PanelOptions::read(&request.options), &request.files),
    gate: Some(|brief| PanelOptions::read(&brief.options).fail_on.is_some()),
    is_rated: false,
    record_folder: None,
    isolation: &[],
    simulation: Some(&simulation::PanelSimulation),
    example: Some((
        "design.md plan.md --fail-on red",
        "a panel of three scores a design and its plan; RED is exit status 1",
    )),
    demo: Some(include_str!("demo.yaml")),
};

/// The role of the seat that sums up, and the option that names its model.
const RAPPORTEUR: &str = "rapporteur";

/// Judges when no more models are named.
const JUDGES_DEFAULT: usize = 3;
const JUDGES_MAX: usize = 7;

fn prompts() -> Result<&'static PromptSet, Corrupt> {
    static PROMPTS: OnceLock<PromptSet> = OnceLock::new();
    prompt::made_once(&PROMPTS, || PromptSet::new(TEMPLATES))
}

impl Protocol for Panel {
    fn info(&self) -> &'static ProtocolInfo {
        &INFO
    }

    fn seats(&self, request: &Request) -> Result<Vec<Seat>, Invalid> {
        let options = PanelOptions::read(&request.options);
        check_request(request, &options)?;
        let count = judge_count(request, &options)?;
        let models = request.models.iter().cycle().take(count).zip(1..);
        let judge = |(model, n): (&String, usize)| Seat {
            id: format!("judge-{n}"),
            role: "judge".into(),
            model: model.clone(),
        };
        let named = request.roles.get(RAPPORTEUR).or(request.models.first());
        let rapporteur =
            named.map(|model| Seat { id: RAPPORTEUR.into(), role: RAPPORTEUR.into(), model: model.clone() });
        Ok(models.map(judge).chain(rapporteur).collect())
    }

    fn plan(&self, brief: &Brief) -> CallPlan {
        let rounds = PanelOptions::read(&brief.options).max_rounds;
        let judges = u32::try_from(brief.seats_of("judge").count()).unwrap_or(u32::MAX);
        // Without a seat for it, as in `ask`, there is no summary.
        let summaries = u32::from(brief.seats_of(RAPPORTEUR).next().is_some());
        CallPlan {
            fewest_calls: judges.saturating_add(summaries),
            most_calls: judges.saturating_mul(rounds).saturating_add(summaries),
            most_phases: rounds.saturating_add(summaries),
            most_rounds: Some(rounds),
        }
    }

    fn next(&self, debate: &Debate) -> Result<Step, Corrupt> {
        let log = PanelLog::read(debate)?;
        let Some(termination) = log.ending() else {
            return asks::PanelAsks::new(&log)?.round(match log.rounds.last().map(|round| round.phase) {
                None => PanelPhase::Position,
                Some(PanelPhase::Position) => PanelPhase::Rebuttal,
                Some(PanelPhase::Rebuttal | PanelPhase::Final | PanelPhase::Summary) => PanelPhase::Final,
            });
        };
        let decision = consensus::PanelDecision::of(&log, termination);
        let rapporteur = log.rapporteur_to_ask(&decision);
        let follow_up = follow_up::PanelFollowUp::new(&log, decision);
        match rapporteur {
            Some(seat) => asks::PanelAsks::new(&log)?.summary(&follow_up, seat),
            None => closing::close(&follow_up, termination),
        }
    }

    fn check(&self, debate: &Debate, ask: &Ask, value: &Value) -> Result<(), ReplyFault> {
        let unreadable = |why: Corrupt| ReplyFault::Invalid(why.to_string());
        let phase = debate.last_phase().ok_or(Corrupt::Empty).and_then(PanelPhase::of).map_err(unreadable)?;
        let log = || PanelLog::read(debate).map_err(unreadable);
        match phase {
            PanelPhase::Position => replies::check_position(value),
            PanelPhase::Rebuttal => replies::check_rebuttal(value, log()?.first_score(&ask.seat)),
            PanelPhase::Final => replies::check_final(value),
            PanelPhase::Summary => follow_up::check_summary(&log()?, value),
        }
    }

    fn view(&self, debate: &Debate) -> Result<DebateView, Corrupt> {
        report::view(&PanelLog::read(debate)?)
    }
}

fn check_request(request: &Request, options: &PanelOptions) -> Result<(), Invalid> {
    if request.models.is_empty() {
        return Err(Invalid::new("panel needs at least one model"));
    }
    if log::judged(&request.files).next().is_none() {
        return Err(Invalid::new("there is nothing to judge: agon panel FILE..."));
    }
    if let Some(file) = log::judged(&request.files).find(|file| file.text.trim().is_empty()) {
        return Err(Invalid(format!("the file {} is empty: there is nothing in it to judge", file.path)));
    }
    if ScoreBands::parse(&options.bands).is_none() {
        return Err(Invalid(format!(
            "bands is {:?}, but it must be two numbers from 1 to 5, the larger first, such as 4.0,3.0",
            options.bands
        )));
    }
    rubric::Rubric::of(&request.files).map(|_| ())
}

/// How many judges sit. The number is odd so that the judges cannot split in half.
fn judge_count(request: &Request, options: &PanelOptions) -> Result<usize, Invalid> {
    let named = request.models.len();
    let count = options.judges.unwrap_or(JUDGES_DEFAULT.max(named));
    match options.judges {
        _ if count % 2 == 1 && (JUDGES_DEFAULT..=JUDGES_MAX).contains(&count) => Ok(count),
        Some(count) => Err(Invalid(format!("judges is {count}, but it must be odd: 3, 5 or 7"))),
        None => Err(Invalid(format!(
            "panel seats an odd number of judges, 3 to {JUDGES_MAX}, but {named} models are named: set --judges to 3, 5 or 7, and the \
             models cycle over the seats"
        ))),
    }
}

/// The name of a status, stance, severity or the like in JSON.
fn wire_name(word: impl Serialize) -> String {
    let value = serde_json::to_value(word).ok();
    value.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A number without the noise of binary fractions, for records.
fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

/// A score as people read it: `3.0`, `3.5`, `3.67`.
pub(crate) fn figure(score: f64) -> String {
    format!("{:?}", agon_core::wording::hundredths(score))
}
