//! The asks of `panel`: what each judge reads in each round, and what the rapporteur reads.
//!
//! The files and the statements of earlier rounds come first and only grow, so each round's prompt starts like the one before it
//! and a provider can reuse its cache. What this round asks for follows. What only one judge reads comes last.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_core::fence::label;
use agon_core::{Corrupt, Prompt, Seat, Step};
use serde_json::{Map, Value, json};

use super::consensus::{FindingState, PanelDecision};
use super::disputes::{DisputeEntry, DisputeTopic, PanelDispute};
use super::findings::CriticalFindingRecord;
use super::follow_up::PanelFollowUp;
use super::log::{self, JudgeStance, PanelJudge, PanelLog, PanelRound};
use super::{PanelPhase, figure, prompts, replies};
use crate::packet_lines::with_line_numbers;
use crate::prompt::{PromptSet, new_ask};
use crate::quotes::QuotedTexts;

/// Makes the asks of one debate.
pub(super) struct PanelAsks<'a> {
    log: &'a PanelLog<'a>,
    prompts: &'static PromptSet,
    quoted: QuotedTexts<'a>,
}

impl<'a> PanelAsks<'a> {
    pub(super) fn new(log: &'a PanelLog<'a>) -> Result<Self, Corrupt> {
        let (prompts, quoted) = (prompts()?, QuotedTexts::new(&log.debate.brief));
        Ok(Self { log, prompts, quoted })
    }

    fn system(&self, is_rapporteur: bool) -> Result<Arc<str>, Corrupt> {
        let context = json!({"rule": self.quoted.rule(), "is_rapporteur": is_rapporteur});
        self.prompts.shared("panel/system.hbs", &context)
    }

    /// Asks all judges at once: in round 1 all who sit, later those who gave a position statement.
    pub(super) fn round(&self, phase: PanelPhase) -> Result<Step, Corrupt> {
        let file = match phase {
            PanelPhase::Position => "panel/position.hbs",
            PanelPhase::Rebuttal => "panel/rebuttal.hbs",
            PanelPhase::Final | PanelPhase::Summary => "panel/final.hbs",
        };
        let (system, shared) =
            (self.system(false)?, self.prompts.shared(file, &self.shared_context(phase)?)?);
        let mut asks = Vec::new();
        for (seat_place, seat) in self.log.debate.brief.seats_of("judge").enumerate() {
            let place = self.log.judges.iter().position(|judge| judge.id == seat.id);
            if phase != PanelPhase::Position && place.is_none() {
                continue;
            }
            let stance = JudgeStance::at(seat_place);
            let judge = place.and_then(|place| self.log.judges.get(place));
            let standing = place.and_then(|place| self.log.last_standings().get(place));
            let score = standing.map(|standing| standing.score);
            let schema = replies::schema(self.log, phase, place);
            let context = json!({
                "judge": seat.id,
                "stance": stance,
                "charter": stance.charter(),
                "previous_score": score,
                "own_scores": standing.map(|standing| self.dimensions(&standing.dimensions)),
                "has_asked": judge.is_some_and(PanelJudge::has_asked),
                "example": self.example(&schema.json, score),
            });
            let tail = self.prompts.tail(file, &context)?;
            let prompt = Prompt { system: system.clone(), shared: shared.clone(), tail };
            asks.push(new_ask(seat, prompt, Some(Arc::new(schema))));
        }
        Ok(Step::Ask(phase.at(phase.round()), asks))
    }

    /// An answer of the right form. Its scores agree with each other, and a judge who has a score keeps it.
    fn example(&self, schema: &Value, score: Option<f64>) -> String {
        let mut example = replies::example(schema);
        let dimensions = example.get("dimension_scores").and_then(Value::as_object);
        let dimensions: Vec<f64> =
            dimensions.into_iter().flat_map(Map::values).filter_map(Value::as_f64).collect();
        let score = score.unwrap_or_else(|| (self.log.rubric.weighted(&dimensions) * 10.0).round() / 10.0);
        for field in ["overall_score", "new_score", "final_score"] {
            if example.get(field).is_some() {
                replies::set(&mut example, field, score);
            }
        }
        example.to_string()
    }

    /// Asks the rapporteur to sum up.
    pub(super) fn summary(&self, follow_up: &PanelFollowUp<'_>, seat: &Seat) -> Result<Step, Corrupt> {
        let decision = &follow_up.decision;
        let [majority, minority] = decision.sides();
        let judges = self.log.judges.iter().enumerate().map(|(place, judge)| {
            let is_in = |side: Option<&[usize]>| side.is_some_and(|side| side.contains(&place));
            let side = is_in(majority).then_some("majority").or(is_in(minority).then_some("minority"));
            let content = self.quoted.quote(judge.id, &follow_up.last_words(judge));
            json!({"judge": judge.id, "stance": judge.stance, "side": side, "content": content})
        });
        let names: Vec<&str> = self.log.judges.iter().map(|judge| judge.id).collect();
        let mergeable = follow_up.mergeable_ids();
        let ids: Vec<&str> = mergeable.iter().map(String::as_str).collect();
        let schema = replies::summary_schema(decision, &names, &ids);
        let held = self.log.critical.iter().filter(|finding| finding.state == FindingState::Adopted);
        let quoted = |what: &str, lines: Vec<String>| {
            (!lines.is_empty()).then(|| self.quoted.quote(what, &lines.join("\n")))
        };
        let context = json!({
            "title": self.quoted.quote("title", &self.log.title()),
            "question": self.question(),
            "first": if majority.is_some() { "majority" } else { "assessment" },
            "open_items": quoted("open items", follow_up.open_issues()),
            "held_by_all": quoted("critical findings", held.map(CriticalFindingRecord::named).collect()),
            "judges": judges.collect::<Vec<_>>(),
            "has_sides": majority.is_some(),
            "has_minority": minority.is_some(),
            "is_undecided": *decision == PanelDecision::NoMajority,
            "can_merge": !ids.is_empty(),
            "example": replies::example(&schema.json).to_string(),
        });
        let prompt = self.prompts.whole(&self.system(true)?, "panel/summary.hbs", &context)?;
        let round = self.log.rounds.last().map_or(0, |round| round.number);
        Ok(Step::Ask(PanelPhase::Summary.at(round), vec![new_ask(seat, prompt, Some(Arc::new(schema)))]))
    }

    /// What all judges of a round read.
    fn shared_context(&self, phase: PanelPhase) -> Result<Value, Corrupt> {
        let records = &self.log.critical;
        let open = records.iter().filter(|finding| finding.state == FindingState::Disputed);
        let open: Vec<String> = open.map(|finding| format!("[{}]", finding.finding_id)).collect();
        let material = self.prompts.shared("panel/material.hbs", &self.material()?)?.to_string();
        Ok(json!({
            "standing": self.standing(phase),
            "question": self.question().is_some(),
            "has_findings": records.len() + self.log.lesser.len() > 0,
            "has_disputes": self.log.disputes.iter().any(|dispute| dispute.open_after.contains(&true)),
            "has_unverified": material.contains("unverified: true"),
            "material": material,
            // Judges may take a position on other critical findings, too.
            "has_settled_findings": open.len() < records.len(),
            "open_findings": open.join(", "),
            "can_be_same": !self.log.same_as_candidates().is_empty(),
            "already_one": self.already_one(),
        }))
    }

    /// The ids of the findings that judges declared the same.
    fn already_one(&self) -> String {
        let mut groups: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for (finding, first) in self.log.all_findings() {
            groups.entry(first).or_default().push(format!("[{}]", finding.id));
        }
        groups.retain(|_, ids| ids.len() > 1);
        groups.values().map(|ids| ids.join(", ")).collect::<Vec<_>>().join("; ")
    }

    /// What is judged, by what, and everything that was said so far.
    fn material(&self) -> Result<Value, Corrupt> {
        let (log, quoted) = (self.log, &self.quoted);
        let artifacts = log::judged(&log.debate.brief.files).map(|file| {
            let content = quoted.quote(&file.path, &with_line_numbers(&file.text).join("\n"));
            json!({"path": quoted.shown(&label(&file.path)), "content": content})
        });
        let one_line = |text: &str| quoted.person(&text.split_whitespace().collect::<Vec<_>>().join(" "));
        let dimensions = log.rubric.dimensions.iter().map(|dimension| {
            let anchors = (1..).zip(&dimension.anchors);
            json!({
                "name": dimension.key,
                "weight": dimension.weight.to_string(),
                "description": one_line(&dimension.description),
                "anchors": anchors.map(|(point, text)| format!("{point}: {}", one_line(text))).collect::<Vec<_>>(),
            })
        });
        let feature = Some(log.options.feature.trim()).filter(|feature| !feature.is_empty());
        let interjections = log.debate.interjections.iter().map(|said| quoted.person(&said.text));
        Ok(json!({
            "feature": feature.map(|feature| quoted.person(feature)),
            "question": self.question(),
            "dimensions": dimensions.collect::<Vec<_>>(),
            "artifacts": artifacts.collect::<Vec<_>>(),
            "rounds": log.rounds.iter().map(|round| self.statements(round)).collect::<Result<Vec<_>, _>>()?,
            "interjections": interjections.collect::<Vec<_>>(),
        }))
    }

    fn question(&self) -> Option<String> {
        self.log.question().map(|asked| self.quoted.person(asked))
    }

    /// A round's statements, as everybody reads them afterwards.
    fn statements(&self, round: &PanelRound) -> Result<Value, Corrupt> {
        let (mut statements, mut absent) = (Vec::new(), Vec::new());
        for (judge, standing) in self.log.judges.iter().zip(&round.standings) {
            if !standing.present {
                absent.push(judge.id);
            }
            let Some(said) = self.log.statement(judge, round.phase)? else { continue };
            let content = self.quoted.quote(judge.id, &written(&said));
            statements.push(json!({"judge": judge.id, "stance": judge.stance, "content": content}));
        }
        let title = match round.phase {
            PanelPhase::Position => "Round 1: Position Statements",
            PanelPhase::Rebuttal => {
                "Round 2: Rebuttal Statements (scores and views here supersede those of round 1)"
            }
            PanelPhase::Final | PanelPhase::Summary => "Round 3: Final Statements",
        };
        Ok(json!({"title": title, "statements": statements, "absent": absent.join(", ")}))
    }

    /// What stands between the judges and consensus. Empty before the first round is over.
    fn standing(&self, phase: PanelPhase) -> String {
        let Some(round) = self.log.last().filter(|_| phase != PanelPhase::Position) else {
            return String::new();
        };
        let mut lines = vec!["\n## What Stands Between the Judges and Consensus".to_owned()];
        let scores = self.by_judge(|place| round.standings.get(place).map(|standing| standing.score));
        let (range, most) = (figure(round.check.range), figure(self.log.options.consensus_range));
        lines.push(format!(
            "- Overall scores: {scores}. They are {range} apart; consensus needs {most} or less."
        ));
        let open = self.log.disputes.iter().filter(|dispute| dispute.is_open());
        lines.extend(open.map(|dispute| format!("- [{}] {}", dispute.id, self.dispute(round, dispute))));
        let settled = self.log.disputes.iter().filter(|dispute| dispute.is_resolved());
        let settled: Vec<String> = settled.map(|dispute| format!("[{}]", dispute.id)).collect();
        if !settled.is_empty() {
            lines.push(format!("- Settled: {}.", settled.join(", ")));
        }
        for finding in &self.log.critical {
            let same: Vec<String> = finding.same_as.iter().map(|id| format!("[{id}]")).collect();
            let same = match same.join(", ") {
                ids if ids.is_empty() => ids,
                ids => format!(" (the same as {ids}, which it replaces)"),
            };
            let stands = finding.stands(&self.log.judges);
            lines.push(format!("- Critical finding [{}]{same}: {stands}.", finding.finding_id));
        }
        if !self.log.findings.is_empty() {
            lines.push(
                "A critical finding blocks consensus until all judges hold it or none does.".to_owned(),
            );
        }
        lines.join("\n")
    }

    fn dispute(&self, round: &PanelRound, dispute: &PanelDispute) -> String {
        let last = dispute.last_entries();
        match &dispute.topic {
            DisputeTopic::Dimension(at) => {
                let score = |place: usize| round.standings.get(place)?.dimensions.get(*at).copied();
                let most = figure(self.log.options.dimension_range);
                let range = round.check.dimensions.get(*at).copied().unwrap_or_default();
                let (key, scores, range) = (&dispute.text, self.by_judge(score), figure(range));
                format!("`{key}`: {scores}. They are {range} apart; consensus needs {most} or less.")
            }
            DisputeTopic::Finding(_) => {
                let id = dispute.about(self.log).unwrap_or_default();
                let mut places: Vec<usize> = last.iter().map(|entry| entry.place).collect();
                places.dedup();
                let more = match self.log.ids(&places).join(", ") {
                    by if by.is_empty() => by,
                    by => format!(" More on it above, under [{}]: {by}.", dispute.id),
                };
                format!("Whether [{id}] is critical.{more}")
            }
            DisputeTopic::Point(_) => {
                let topic = |entry: &&DisputeEntry| {
                    format!("{}: {}", self.log.ids(&[entry.place]).join(""), entry.topic)
                };
                let topics = last.iter().map(topic);
                let topics = self.quoted.quote(&dispute.id, &topics.collect::<Vec<_>>().join("\n"));
                format!("An unresolved point. More on it above, under [{}]:\n{topics}", dispute.id)
            }
        }
    }

    fn by_judge(&self, score: impl Fn(usize) -> Option<f64>) -> String {
        let judges = self.log.judges.iter().enumerate();
        let told =
            judges.filter_map(|(place, judge)| Some(format!("{} {}", judge.id, figure(score(place)?))));
        told.collect::<Vec<_>>().join(", ")
    }

    fn dimensions(&self, scores: &[f64]) -> String {
        let pairs = self.log.rubric.keys().zip(scores);
        pairs.map(|(key, score)| format!("`{key}` {}", figure(*score))).collect::<Vec<_>>().join(", ")
    }
}

/// A statement as others read it: every field that says something, under its name, with ids first.
fn written(statement: &Map<String, Value>) -> String {
    let mut lines = Vec::new();
    for (key, value) in statement.iter().filter(|(key, _)| *key != "analysis") {
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
    let id = value.get("id").and_then(Value::as_str).map(|id| format!("[{id}] ")).unwrap_or_default();
    let said = fields.filter(|(key, _)| *key != "id");
    let said = said.filter_map(|(key, value)| Some(format!("{key}: {}", scalar(value)?)));
    let said = said.collect::<Vec<_>>().join("; ");
    if said.is_empty() { scalar(value).unwrap_or_default() } else { format!("{id}{said}") }
}

/// A value in one line; nothing where it says nothing.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Bool(false) | Value::Object(_) => None,
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Array(entries) => {
            let entries: Vec<String> = entries.iter().filter_map(scalar).collect();
            (!entries.is_empty()).then(|| entries.join(", "))
        }
        other => Some(other.to_string()),
    }
}
