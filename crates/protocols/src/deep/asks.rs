//! The asks of `deep`: what each seat reads in each phase.

use std::cell::OnceCell;
use std::sync::Arc;

use agon_core::{Corrupt, Debate, Fence, NameMask, Prompt, Step};
use serde_json::{Value, json};

use super::log::{DeepLog, DeepRound};
use super::replies::Argument;
use super::{DeepParts, DeepPhase, evaluation, verdict};
use crate::prompt::new_ask;

/// Makes the asks of one debate.
pub(super) struct DeepAsks<'a> {
    debate: &'a Debate,
    parts: &'a DeepParts,
    log: &'a DeepLog<'a>,
    fence: Fence,
    /// Made when somebody else's words are first quoted.
    mask: OnceCell<NameMask>,
    system: Arc<str>,
}

impl<'a> DeepAsks<'a> {
    pub(super) fn new(parts: &'a DeepParts, log: &'a DeepLog<'a>) -> Result<Self, Corrupt> {
        let debate = log.debate;
        let fence = Fence::new(&debate.brief);
        let system = parts.prompts.shared("deep/system.hbs", &json!({"rule": fence.rule()}))?;
        Ok(Self { debate, parts, log, fence, mask: OnceCell::new(), system })
    }

    /// Stage 1: every debater answers, independently.
    pub(super) fn answers(&self) -> Result<Step, Corrupt> {
        let prompt = self.whole("deep/answer.hbs", json!({}))?;
        let asks = self.debate.brief.seats_of("debater").map(|seat| new_ask(seat, prompt.clone(), None));
        Ok(Step::Ask(DeepPhase::Answer.at(0), asks.collect()))
    }

    /// Stage 2D: every debater who answered argues.
    pub(super) fn debate(&self, round: u32) -> Result<Step, Corrupt> {
        let count = self.log.debaters.len();
        let arguments = self.parts.arguments(count);
        let last = self.log.rounds.last();
        let focus = last.and_then(|round| round.assessment.as_ref()?.next_round_focus.as_deref());
        let shared = self.shared(
            "deep/debater.hbs",
            json!({
                "schema": arguments.map(|arguments| &arguments.stated),
                "responses": self.responses(),
                "previous_rounds": self.log.rounds.iter().map(|round| self.arguments(round)).collect::<Vec<_>>(),
                "focus": focus.map(|focus| self.quote("the moderator", focus)),
            }),
        )?;
        let mut asks = Vec::new();
        for seat in self.debate.brief.seats_of("debater") {
            let Some(place) = self.log.debaters.iter().position(|debater| debater.seat == seat.id) else {
                continue;
            };
            let schema = arguments.and_then(|arguments| arguments.by_place.get(place)).cloned();
            let prompt = Prompt {
                system: self.system.clone(),
                shared: shared.clone(),
                tail: self.tail(round, place)?,
            };
            let mut ask = new_ask(seat, prompt, schema);
            ask.label = self.log.debaters.get(place).map(|debater| format!("Debater {}", debater.label));
            asks.push(ask);
        }
        Ok(Step::Ask(DeepPhase::Debate.at(round), asks))
    }

    fn tail(&self, round: u32, place: usize) -> Result<String, Corrupt> {
        let Some(own) = self.log.debaters.get(place) else { return Ok(String::new()) };
        let position = self.log.position(place, round);
        let others = self.log.debaters.iter().filter(|debater| debater.label != own.label);
        let targets: Vec<String> = others.map(|debater| format!("\"Debater {}\"", debater.label)).collect();
        let context = json!({
            "label": own.label,
            "round_number": round,
            "max_rounds": self.log.options.max_rounds,
            "targets": targets.join(", "),
            "own_response": self.fence.quote("your words", &own.answer),
            "own_position": (position != own.answer.trim()).then(|| self.fence.quote("your words", position)),
        });
        self.parts.prompts.tail("deep/debater.hbs", &context)
    }

    /// The moderator assesses the round.
    pub(super) fn moderation(&self, number: u32) -> Result<Step, Corrupt> {
        let round = self.log.round(number);
        let earlier = self.log.rounds.iter().filter(|round| round.number < number);
        let earlier: Vec<Value> =
            earlier.map(|round| json!({"round": round.number, "arguments": self.assessed(round)})).collect();
        let prompt = self.whole(
            "deep/moderator.hbs",
            json!({
                "schema": self.parts.assessment.json.to_string(),
                "round_number": number,
                "max_rounds": self.log.options.max_rounds,
                "earlier_rounds": earlier,
                "arguments": round.map(|round| self.assessed(round)),
                "carried": round.map(|round| self.carried(round)),
            }),
        )?;
        let schema = self.parts.assessment.clone();
        let asks = self
            .debate
            .brief
            .seats_of("moderator")
            .map(|seat| new_ask(seat, prompt.clone(), Some(schema.clone())));
        Ok(Step::Ask(DeepPhase::Moderate.at(number), asks.collect()))
    }

    /// Stage 2S: every answer is scored by others than its author, one call each.
    pub(super) fn evaluations(&self) -> Result<Step, Corrupt> {
        let schema = self.parts.evaluation.clone();
        let shared = self.shared("deep/evaluator.hbs", json!({"schema": schema.json.to_string()}))?;
        let mut asks = Vec::new();
        for (evaluator, answer) in evaluation::pairs(self.log) {
            let Some(seat) = self.debate.brief.seat(evaluator.seat) else { continue };
            let context =
                json!({"label": answer.label, "content": self.quote(&answer.label, &answer.answer)});
            let tail = self.parts.prompts.tail("deep/evaluator.hbs", &context)?;
            let prompt = Prompt { system: self.system.clone(), shared: shared.clone(), tail };
            let mut ask = new_ask(seat, prompt, Some(schema.clone()));
            ask.label = Some(format!("Debater {}", evaluator.label));
            ask.about = Some(answer.label.clone());
            asks.push(ask);
        }
        Ok(Step::Ask(DeepPhase::Evaluate.at(0), asks))
    }

    /// Stage 3: the chair, or a stand-in, writes the result.
    pub(super) fn synthesis(&self) -> Result<Step, Corrupt> {
        let Some(model) = self.log.next_chair() else { return verdict::close(self.log) };
        let input = serde_json::to_string_pretty(&verdict::synthesis_input(self.log))?;
        let ranking = evaluation::ranking(self.log)?;
        let ranking = (!ranking.is_empty()).then(|| self.quote("ranking", &json!(ranking).to_string()));
        let prompt = self.whole(
            "deep/synthesis.hbs",
            json!({
                "schema": self.parts.synthesis.json.to_string(),
                "synthesis_input": self.quote("the debate", &input),
                "ranking": ranking,
            }),
        )?;
        let schema = self.parts.synthesis.clone();
        let chair = self.debate.brief.seats_of("chair").map(|seat| {
            let mut ask = new_ask(seat, prompt.clone(), Some(schema.clone()));
            ask.model.clone_from(&model);
            ask
        });
        let round = self.log.counted().last().map_or(0, |round| round.number);
        Ok(Step::Ask(DeepPhase::Synthesis.at(round), chair.collect()))
    }

    fn whole(&self, file: &str, context: Value) -> Result<Prompt, Corrupt> {
        self.parts.prompts.whole(&self.system, file, &self.with_question(context))
    }

    fn shared(&self, file: &str, context: Value) -> Result<Arc<str>, Corrupt> {
        self.parts.prompts.shared(file, &self.with_question(context))
    }

    fn with_question(&self, mut context: Value) -> Value {
        let said = self.debate.interjections.iter();
        let said: Vec<String> =
            said.map(|said| self.fence.quote("the person who asked", &said.text)).collect();
        if let Value::Object(map) = &mut context {
            map.insert(
                "question".into(),
                self.fence.quote("the question", &self.debate.brief.question).into(),
            );
            map.insert("interjections".into(), said.into());
        }
        context
    }

    /// Other seats' words: masked, then quoted.
    fn quote(&self, what: &str, text: &str) -> String {
        let what = if what.len() == 1 { format!("Debater {what}") } else { what.to_owned() };
        self.fence.quote(&what, &self.mask.get_or_init(|| NameMask::new(&self.debate.brief)).apply(text))
    }

    fn responses(&self) -> Vec<Value> {
        let debaters = self.log.debaters.iter();
        debaters.map(|d| json!({"label": d.label, "content": self.quote(&d.label, &d.answer)})).collect()
    }

    /// A round's arguments as the debaters of the next round read them.
    fn arguments(&self, round: &DeepRound) -> Value {
        let arguments = self.rows(
            round,
            |label, argument| json!({"label": label, "argument": self.quote(label, &written(argument))}),
        );
        json!({"round": round.number, "arguments": arguments})
    }

    /// A round's arguments as the moderator reads them.
    fn assessed(&self, round: &DeepRound) -> Vec<Value> {
        self.rows(round, |label, argument| {
            let points: Vec<String> = argument.key_points.iter().map(|point| format!("- {point}")).collect();
            json!({
                "label": label,
                "stance": argument.stance,
                "confidence": argument.confidence,
                "revision": argument.revision,
                "key_points": self.quote(label, &points.join("\n")),
            })
        })
    }

    /// The present debaters' arguments in label order.
    fn rows(&self, round: &DeepRound, show: impl Fn(&str, &Argument) -> Value) -> Vec<Value> {
        let said = self.log.debaters.iter().zip(&round.arguments);
        said.filter_map(|(debater, argument)| Some(show(&debater.label, argument.as_ref()?))).collect()
    }

    fn carried(&self, round: &DeepRound) -> String {
        let absent =
            self.log.debaters.iter().zip(&round.arguments).filter(|(_, argument)| argument.is_none());
        absent.map(|(debater, _)| format!("Debater {}", debater.label)).collect::<Vec<_>>().join(", ")
    }
}

/// An argument as others read it: stance, key points, counterpoints and revised position.
fn written(argument: &Argument) -> String {
    let mut lines = vec![format!("Stance: {} ({})", argument.stance.as_str(), argument.revision.as_str())];
    lines.push("Key points:".into());
    lines.extend(argument.key_points.iter().map(|point| format!("- {point}")));
    if !argument.counterpoints.is_empty() {
        lines.push("Counterpoints:".into());
    }
    for counterpoint in &argument.counterpoints {
        lines.push(format!(
            "- To {}: {} ({})",
            counterpoint.target, counterpoint.point, counterpoint.evidence
        ));
    }
    if let Some(position) = argument.new_position() {
        lines.push(format!("Revised position: {position}"));
    }
    lines.join("\n")
}
