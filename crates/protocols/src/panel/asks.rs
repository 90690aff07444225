//! The asks of `panel`: what each judge reads in each round.
//!
//! The files and the statements of the rounds so far come first and only grow, so that a round's prompt begins like the one before;
//! what this round asks for follows; what only one judge reads comes last.

use std::sync::Arc;

use agon_core::{Corrupt, Fence, Prompt, Step};
use serde_json::{Map, Value, json};

use super::ledger;
use super::log::{self, Judge, Log};
use super::prompts;
use super::schema::schema;
use crate::prompt::{Prompts, ask};

/// Makes the asks of one debate.
pub(super) struct Asks<'a> {
    log: &'a Log<'a>,
    prompts: &'static Prompts,
    fence: Fence,
    system: Arc<str>,
}

impl<'a> Asks<'a> {
    pub(super) fn new(log: &'a Log<'a>) -> Result<Self, Corrupt> {
        let (prompts, fence) = (prompts()?, Fence::new(&log.debate.brief));
        let system = prompts.shared("panel/system.hbs", &json!({"rule": fence.rule()}))?;
        Ok(Self { log, prompts, fence, system })
    }

    /// Every judge, all at once: in round 1 all who sit, later those who gave a position statement.
    pub(super) fn round(&self, round: u32) -> Result<Step, Corrupt> {
        let file = match round {
            1 => "panel/position.hbs",
            2 => "panel/rebuttal.hbs",
            _ => "panel/final.hbs",
        };
        let shared = self.prompts.shared(file, &self.shared(round)?)?;
        let mut asks = Vec::new();
        for (seat, stance) in self.seats() {
            let place = self.log.judges.iter().position(|judge| judge.id == seat.id);
            if round > 1 && place.is_none() {
                continue;
            }
            let tail = self.prompts.tail(file, &self.tail(&seat.id, stance, round, place))?;
            let prompt = Prompt { system: self.system.clone(), shared: shared.clone(), tail };
            asks.push(ask(seat, prompt, Some(Arc::new(schema(self.log, round, place)))));
        }
        Ok(Step::Ask(log::phase(round), asks))
    }

    fn seats(&self) -> impl Iterator<Item = (&agon_core::Seat, super::Stance)> {
        let seats = self.log.debate.brief.seats_of("judge").enumerate();
        seats.map(|(place, seat)| (seat, super::Stance::at(place)))
    }

    fn shared(&self, round: u32) -> Result<Value, Corrupt> {
        let first = round == 1;
        let dimensions = self.log.rubric.dimensions.iter();
        let scores: Vec<String> = dimensions
            .map(|dimension| format!("\"{}\": {}", dimension.key, if first { "X" } else { "X|null" }))
            .collect();
        Ok(json!({
            "material": &*self.material()?,
            "findings": self.findings(),
            "scores": format!("{{{}}}", scores.join(", ")),
            "schema": schema(self.log, round, None).json.to_string(),
        }))
    }

    /// What is judged, by what, and everything that was said so far.
    fn material(&self) -> Result<Arc<str>, Corrupt> {
        let (brief, fence) = (&self.log.debate.brief, &self.fence);
        let feature = log::feature_of(brief);
        let question = Some(&brief.question).filter(|question| !question.is_empty() && **question != feature);
        let artifacts = log::judged(&brief.files);
        let artifacts: Vec<Value> = artifacts
            .map(|file| json!({"path": fence.defuse(&one_line(&file.path)), "content": fence.quote(&file.path, &file.text)}))
            .collect();
        let rounds: Vec<Value> = self.log.rounds.iter().map(|round| self.said(round)).collect();
        let interjections = self.log.debate.interjections.iter();
        let interjections: Vec<String> =
            interjections.map(|said| fence.quote("the person who asked", &said.text)).collect();
        let rubric = self.log.rubric.dimensions.iter();
        let rubric: Vec<Value> = rubric
            .map(|d| json!({"name": d.key, "weight": super::figure(d.weight), "description": fence.defuse(&one_line(&d.description))}))
            .collect();
        let context = json!({
            "feature": fence.quote("what is judged", &feature),
            "question": question.map(|question| fence.quote("the person who asked", question)),
            "dimensions": rubric,
            "artifacts": artifacts,
            "rounds": rounds,
            "interjections": interjections,
        });
        self.prompts.shared("panel/material.hbs", &context)
    }

    /// A round's statements, as everybody reads them afterwards.
    fn said(&self, round: &log::Round) -> Value {
        let title = match round.number {
            1 => "Round 1: Position Statements",
            2 => "Round 2: Rebuttal Statements",
            _ => "Round 3: Final Statements",
        };
        let judges = || self.log.judges.iter().zip(&round.standings);
        let statements: Vec<Value> = judges()
            .filter_map(|(judge, _)| {
                let said = self.statement(judge, round.number)?;
                let (id, stance) = (judge.id, judge.stance.as_str());
                Some(json!({"judge": id, "stance": stance, "content": self.fence.quote(id, &said)}))
            })
            .collect();
        let absent = judges().filter(|(_, standing)| !standing.present).map(|(judge, _)| judge.id);
        let absent = absent.collect::<Vec<_>>().join(", ");
        json!({"title": title, "statements": statements, "absent": absent})
    }

    /// What a judge said in a round, as text, with the ids of its critical findings before them.
    fn statement(&self, judge: &Judge<'_>, round: u32) -> Option<String> {
        let mut said = self.log.statement(judge, round)?;
        for raised in said.get_mut("critical_findings").and_then(Value::as_array_mut).into_iter().flatten() {
            let same = |finding: &&ledger::Finding| {
                raised["severity"] == "CRITICAL"
                    && raised["finding"]
                        .as_str()
                        .is_some_and(|text| ledger::same_words(&finding.finding, text))
            };
            if let Some(same) = self.log.findings.iter().find(same) {
                raised["finding"] = json!(format!("[{}] {}", same.id, same.finding));
            }
        }
        Some(written(&said))
    }

    fn findings(&self) -> Vec<Value> {
        let findings = self.log.findings.iter().enumerate();
        findings
            .map(|(place, finding)| {
                let named = |places: &[usize]| match self.log.ids(places) {
                    ids if ids.is_empty() => "nobody".to_owned(),
                    ids => ids.join(", "),
                };
                let text = format!("{}\nEvidence: {}", finding.finding, finding.evidence);
                json!({
                    "id": finding.id,
                    "raised_by": named(&finding.raised_by),
                    "held_by": named(&ledger::holders(self.log, place)),
                    "content": self.fence.quote(&format!("finding {}", finding.id), &text),
                })
            })
            .collect()
    }

    fn tail(&self, id: &str, stance: super::Stance, round: u32, place: Option<usize>) -> Value {
        let judge = place.and_then(|place| self.log.judges.get(place));
        let others = self.log.judges.iter().filter(|other| other.id != id);
        let others: Vec<String> = others.map(|other| format!("\"{}\"", other.id)).collect();
        let own = (1..round).rev().find_map(|round| self.statement(judge?, round));
        json!({
            "judge": id,
            "stance": stance.as_str(),
            "charter": stance.charter(),
            "previous_score": place.and_then(|place| self.log.score(place, round.saturating_sub(1))),
            "others": others.join(", "),
            "own": own.map(|own| self.fence.quote("your words", &own)),
        })
    }
}

/// A statement as others read it: every field that says something, by its name.
fn written(statement: &Map<String, Value>) -> String {
    let mut lines = Vec::new();
    for (key, value) in statement {
        match value {
            Value::Array(entries) if entries.is_empty() => {}
            Value::Array(entries) => {
                lines.push(format!("{key}:"));
                lines.extend(entries.iter().map(|entry| format!("- {}", fields(entry))));
            }
            Value::Object(_) => lines.push(format!("{key}: {}", fields(value))),
            Value::String(text) if text.contains('\n') => lines.push(format!("{key}:\n{}", text.trim())),
            _ => lines.extend(scalar(value).map(|value| format!("{key}: {value}"))),
        }
    }
    lines.join("\n")
}

fn fields(value: &Value) -> String {
    let fields = value.as_object().into_iter().flatten();
    let said = fields.filter_map(|(key, value)| Some(format!("{key}: {}", scalar(value)?)));
    said.collect::<Vec<_>>().join("; ")
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        other => Some(other.to_string()),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
