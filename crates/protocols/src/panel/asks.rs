//! The asks of `panel`: what each judge reads in each round.
//!
//! The files and the statements of earlier rounds come first and only grow, so each round's prompt starts like the one before it
//! and a provider can reuse its cache. What this round asks for follows. What only one judge reads comes last.

use std::sync::Arc;

use agon_core::{Corrupt, Fence, Prompt, Step};
use serde_json::{Map, Value, json};

use super::log::{self, JudgeStance, JudgeStatement, PanelJudge, PanelLog, PanelRound};
use super::replies::{self, FindingSeverity};
use super::{PanelPhase, figure, findings, prompts};
use crate::prompt::{PromptSet, new_ask};

/// Makes the asks of one debate.
pub(super) struct PanelAsks<'a> {
    log: &'a PanelLog<'a>,
    prompts: &'static PromptSet,
    fence: Fence,
    system: Arc<str>,
}

impl<'a> PanelAsks<'a> {
    pub(super) fn new(log: &'a PanelLog<'a>) -> Result<Self, Corrupt> {
        let (prompts, fence) = (prompts()?, Fence::new(&log.debate.brief));
        let system = prompts.shared("panel/system.hbs", &json!({"rule": fence.rule()}))?;
        Ok(Self { log, prompts, fence, system })
    }

    /// Asks all judges at once: in round 1 all who sit, later those who gave a position statement.
    pub(super) fn round(&self, phase: PanelPhase) -> Result<Step, Corrupt> {
        let file = match phase {
            PanelPhase::Position => "panel/position.hbs",
            PanelPhase::Rebuttal => "panel/rebuttal.hbs",
            PanelPhase::Final => "panel/final.hbs",
        };
        let shared = self.prompts.shared(file, &self.shared_context(phase)?)?;
        let mut asks = Vec::new();
        for (seat_place, seat) in self.log.debate.brief.seats_of("judge").enumerate() {
            let place = self.log.judges.iter().position(|judge| judge.id == seat.id);
            if phase != PanelPhase::Position && place.is_none() {
                continue;
            }
            let context = self.own_context(&seat.id, JudgeStance::at(seat_place), phase, place)?;
            let tail = self.prompts.tail(file, &context)?;
            let prompt = Prompt { system: self.system.clone(), shared: shared.clone(), tail };
            asks.push(new_ask(seat, prompt, Some(Arc::new(replies::schema(self.log, phase, place)))));
        }
        Ok(Step::Ask(phase.at(phase.round()), asks))
    }

    fn shared_context(&self, phase: PanelPhase) -> Result<Value, Corrupt> {
        let blank = if phase == PanelPhase::Position { "X" } else { "X|null" };
        let scores: Vec<String> = self.log.rubric.keys().map(|key| format!("\"{key}\": {blank}")).collect();
        Ok(json!({
            "material": &*self.material()?,
            "findings": self.findings(),
            "scores": format!("{{{}}}", scores.join(", ")),
            "schema": replies::schema(self.log, phase, None).json.to_string(),
        }))
    }

    /// What is judged, by what, and everything that was said so far.
    fn material(&self) -> Result<Arc<str>, Corrupt> {
        let (brief, fence) = (&self.log.debate.brief, &self.fence);
        let feature = self.log.feature();
        let question = Some(&brief.question).filter(|question| !question.is_empty() && **question != feature);
        let artifacts = log::judged(&brief.files);
        let artifacts: Vec<Value> = artifacts
            .map(|file| json!({"path": fence.defuse(&one_line(&file.path)), "content": fence.quote(&file.path, &file.text)}))
            .collect();
        let rounds = self.log.rounds.iter().map(|round| self.statements(round));
        let rounds = rounds.collect::<Result<Vec<Value>, _>>()?;
        let interjections = self.log.debate.interjections.iter();
        let interjections: Vec<String> =
            interjections.map(|said| fence.quote("the person who asked", &said.text)).collect();
        let rubric = self.log.rubric.dimensions.iter();
        let rubric: Vec<Value> = rubric
            .map(|d| json!({"name": d.key, "weight": figure(d.weight), "description": fence.defuse(&one_line(&d.description))}))
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
    fn statements(&self, round: &PanelRound) -> Result<Value, Corrupt> {
        let title = match round.phase {
            PanelPhase::Position => "Round 1: Position Statements",
            PanelPhase::Rebuttal => "Round 2: Rebuttal Statements",
            PanelPhase::Final => "Round 3: Final Statements",
        };
        let (mut statements, mut absent) = (Vec::new(), Vec::new());
        for (judge, standing) in self.log.judges.iter().zip(&round.standings) {
            if !standing.present {
                absent.push(judge.id);
            }
            let Some(said) = self.statement(judge, round.phase)? else { continue };
            let content = self.fence.quote(judge.id, &said);
            statements.push(json!({"judge": judge.id, "stance": judge.stance, "content": content}));
        }
        Ok(json!({"title": title, "statements": statements, "absent": absent.join(", ")}))
    }

    /// What a judge said in a phase, as text. Its critical findings start with their ids.
    fn statement(&self, judge: &PanelJudge<'_>, phase: PanelPhase) -> Result<Option<String>, Corrupt> {
        let Some(mut said) = judge.said(phase) else { return Ok(None) };
        if let JudgeStatement::Position(statement) = &mut said {
            let raised = statement.critical_findings.iter_mut();
            for raised in raised.filter(|raised| raised.severity == FindingSeverity::Critical) {
                let mut findings = self.log.findings.iter();
                if let Some(same) =
                    findings.find(|other| findings::same_words(&other.finding, &raised.finding))
                {
                    raised.finding = format!("[{}] {}", same.id, same.finding);
                }
            }
        }
        Ok(Some(written(&self.log.fields(&said)?)))
    }

    fn findings(&self) -> Vec<Value> {
        let named = |places: &[usize]| match self.log.ids(places) {
            ids if ids.is_empty() => "nobody".to_owned(),
            ids => ids.join(", "),
        };
        let findings = self.log.findings.iter().enumerate();
        findings
            .map(|(place, finding)| {
                let text = format!("{}\nEvidence: {}", finding.finding, finding.evidence);
                json!({
                    "id": finding.id,
                    "raised_by": named(&finding.raised_by),
                    "held_by": named(&findings::holders(self.log, place)),
                    "content": self.fence.quote(&format!("finding {}", finding.id), &text),
                })
            })
            .collect()
    }

    fn own_context(
        &self,
        id: &str,
        stance: JudgeStance,
        phase: PanelPhase,
        place: Option<usize>,
    ) -> Result<Value, Corrupt> {
        let others = self.log.judges.iter().filter(|other| other.id != id);
        let others: Vec<String> = others.map(|other| format!("\"{}\"", other.id)).collect();
        let mut own = None;
        if let Some(judge) = place.and_then(|place| self.log.judges.get(place)) {
            let earlier = self.log.rounds.iter().filter(|round| round.number < phase.round());
            for round in earlier {
                own = self.statement(judge, round.phase)?.or(own);
            }
        }
        Ok(json!({
            "judge": id,
            "stance": stance,
            "charter": stance.charter(),
            "previous_score": place.and_then(|place| self.log.score(place, phase.round().saturating_sub(1))),
            "others": others.join(", "),
            "own": own.map(|own| self.fence.quote("your words", &own)),
        }))
    }
}

/// A statement as others read it: every field that is not empty, under its name.
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
