//! The asks of `deep`: what each seat reads in each phase.

use std::cell::OnceCell;
use std::sync::Arc;

use agon_core::{Corrupt, Debate, Fence, NameMask, Prompt, Step};
use serde::Serialize;
use serde_json::json;

use super::log::{DeepLog, DeepRound};
use super::replies::{Argument, Revision, Stance};
use super::{DeepParts, DeepPhase, evaluation, verdict};
use crate::prompt::new_ask;

/// What a template shows: the question, what the person said in between, and the fields of its phase.
#[derive(Serialize)]
struct QuestionContext<P> {
    question: String,
    interjections: Vec<String>,
    #[serde(flatten)]
    phase: P,
}

/// For a template that shows only the question and, if the reply has one, its schema.
#[derive(Serialize)]
struct SchemaContext {
    schema: Option<String>,
}

/// A debater's words under its label.
#[derive(Serialize)]
struct DebaterText<'a> {
    label: &'a str,
    content: String,
}

/// What all debaters read in a round.
#[derive(Serialize)]
struct DebateContext<'a> {
    schema: Option<&'a str>,
    responses: Vec<DebaterText<'a>>,
    previous_rounds: Vec<RoundContext<ArgumentText<'a>>>,
    focus: Option<String>,
}

/// What one debater reads of itself.
#[derive(Serialize)]
struct OwnDebaterContext<'a> {
    label: &'a str,
    round_number: u32,
    max_rounds: u32,
    targets: String,
    own_response: String,
    own_position: Option<String>,
}

#[derive(Serialize)]
struct ModeratorContext<'a> {
    schema: String,
    round_number: u32,
    max_rounds: u32,
    earlier_rounds: Vec<RoundContext<AssessedArgument<'a>>>,
    arguments: Vec<AssessedArgument<'a>>,
    carried: String,
}

#[derive(Serialize)]
struct SynthesisContext {
    schema: String,
    synthesis_input: String,
    ranking: Option<String>,
}

#[derive(Serialize)]
struct RoundContext<A> {
    round: u32,
    arguments: Vec<A>,
}

/// An argument as the debaters of later rounds read it.
#[derive(Serialize)]
struct ArgumentText<'a> {
    label: &'a str,
    argument: String,
}

/// An argument as the moderator reads it.
#[derive(Serialize)]
struct AssessedArgument<'a> {
    label: &'a str,
    stance: Stance,
    confidence: f64,
    revision: Revision,
    key_points: String,
}

/// Makes the asks of one debate.
pub(super) struct DeepAsks<'a> {
    debate: &'a Debate,
    parts: &'a DeepParts,
    log: &'a DeepLog<'a>,
    fence: Fence,
    /// Made when another seat's words are quoted for the first time.
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
        let prompt = self.whole("deep/answer.hbs", SchemaContext { schema: None })?;
        let asks = self.debate.brief.seats_of("debater").map(|seat| new_ask(seat, prompt.clone(), None));
        Ok(Step::Ask(DeepPhase::Answer.at(0), asks.collect()))
    }

    /// Stage 2D: every debater who answered argues.
    pub(super) fn debate(&self, round: u32) -> Result<Step, Corrupt> {
        let schemas = self.parts.arguments(self.log.debaters.len());
        let last = self.log.rounds.last();
        let focus = last.and_then(|round| round.assessment.as_ref()?.next_round_focus.as_deref());
        let shared = self.shared(
            "deep/debater.hbs",
            DebateContext {
                schema: schemas.map(|schemas| schemas.stated.as_str()),
                responses: self.responses(),
                previous_rounds: self.log.rounds.iter().map(|round| self.arguments(round)).collect(),
                focus: focus.map(|focus| self.quote("the moderator", focus)),
            },
        )?;
        let mut asks = Vec::new();
        for seat in self.debate.brief.seats_of("debater") {
            let Some(place) = self.log.debaters.iter().position(|debater| debater.seat == seat.id) else {
                continue;
            };
            let schema = schemas.and_then(|schemas| schemas.by_place.get(place)).cloned();
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
        let context = OwnDebaterContext {
            label: &own.label,
            round_number: round,
            max_rounds: self.log.options.max_rounds,
            targets: targets.join(", "),
            own_response: self.fence.quote("your words", &own.answer),
            own_position: (position != own.answer.trim()).then(|| self.fence.quote("your words", position)),
        };
        self.parts.prompts.tail("deep/debater.hbs", &context)
    }

    /// The moderator assesses the round.
    pub(super) fn moderation(&self, number: u32) -> Result<Step, Corrupt> {
        let round = self.log.round(number);
        let earlier = self.log.rounds.iter().filter(|round| round.number < number);
        let earlier = earlier
            .map(|round| RoundContext { round: round.number, arguments: self.assessed_arguments(round) });
        let prompt = self.whole(
            "deep/moderator.hbs",
            ModeratorContext {
                schema: self.parts.assessment.json.to_string(),
                round_number: number,
                max_rounds: self.log.options.max_rounds,
                earlier_rounds: earlier.collect(),
                arguments: round.map(|round| self.assessed_arguments(round)).unwrap_or_default(),
                carried: round.map(|round| self.absent_debaters(round)).unwrap_or_default(),
            },
        )?;
        let schema = self.parts.assessment.clone();
        let asks = self
            .debate
            .brief
            .seats_of("moderator")
            .map(|seat| new_ask(seat, prompt.clone(), Some(schema.clone())));
        Ok(Step::Ask(DeepPhase::Moderate.at(number), asks.collect()))
    }

    /// Stage 2S: other debaters score every answer, with one call for each evaluator and answer.
    pub(super) fn evaluations(&self) -> Result<Step, Corrupt> {
        let schema = self.parts.evaluation.clone();
        let shared =
            self.shared("deep/evaluator.hbs", SchemaContext { schema: Some(schema.json.to_string()) })?;
        let mut asks = Vec::new();
        for (evaluator, answer) in evaluation::pairs(self.log) {
            let Some(seat) = self.debate.brief.seat(evaluator.seat) else { continue };
            let context =
                DebaterText { label: &answer.label, content: self.quote(&answer.label, &answer.answer) };
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
            SynthesisContext {
                schema: self.parts.synthesis.json.to_string(),
                synthesis_input: self.quote("the debate", &input),
                ranking,
            },
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

    fn whole(&self, file: &str, phase: impl Serialize) -> Result<Prompt, Corrupt> {
        self.parts.prompts.whole(&self.system, file, &self.with_question(phase))
    }

    fn shared(&self, file: &str, phase: impl Serialize) -> Result<Arc<str>, Corrupt> {
        self.parts.prompts.shared(file, &self.with_question(phase))
    }

    fn with_question<P: Serialize>(&self, phase: P) -> QuestionContext<P> {
        let interjections = self.debate.interjections.iter();
        QuestionContext {
            question: self.fence.quote("the question", &self.debate.brief.question),
            interjections: interjections
                .map(|interjection| self.fence.quote("the person who asked", &interjection.text))
                .collect(),
            phase,
        }
    }

    /// Quotes another seat's words, with the names of models and seats masked.
    fn quote(&self, what: &str, text: &str) -> String {
        let what = if what.len() == 1 { format!("Debater {what}") } else { what.to_owned() };
        self.fence.quote(&what, &self.mask.get_or_init(|| NameMask::new(&self.debate.brief)).apply(text))
    }

    fn responses(&self) -> Vec<DebaterText<'a>> {
        let debaters = self.log.debaters.iter();
        debaters
            .map(|debater| DebaterText {
                label: &debater.label,
                content: self.quote(&debater.label, &debater.answer),
            })
            .collect()
    }

    /// A round's arguments as the debaters of the next round read them.
    fn arguments(&self, round: &DeepRound) -> RoundContext<ArgumentText<'a>> {
        let arguments = self.present_arguments(round).map(|(label, argument)| ArgumentText {
            label,
            argument: self.quote(label, &argument_text(argument)),
        });
        RoundContext { round: round.number, arguments: arguments.collect() }
    }

    /// A round's arguments as the moderator reads them.
    fn assessed_arguments(&self, round: &DeepRound) -> Vec<AssessedArgument<'a>> {
        let assessed = self.present_arguments(round).map(|(label, argument)| {
            let points: Vec<String> = argument.key_points.iter().map(|point| format!("- {point}")).collect();
            AssessedArgument {
                label,
                stance: argument.stance,
                confidence: argument.confidence,
                revision: argument.revision,
                key_points: self.quote(label, &points.join("\n")),
            }
        });
        assessed.collect()
    }

    /// The arguments of those who argued, with their labels, in label order.
    fn present_arguments<'r>(
        &self,
        round: &'r DeepRound,
    ) -> impl Iterator<Item = (&'a str, &'r Argument)> + use<'a, 'r> {
        let log: &'a DeepLog<'a> = self.log;
        let debaters = log.debaters.iter().zip(&round.arguments);
        debaters.filter_map(|(debater, argument)| Some((debater.label.as_str(), argument.as_ref()?)))
    }

    fn absent_debaters(&self, round: &DeepRound) -> String {
        let absent =
            self.log.debaters.iter().zip(&round.arguments).filter(|(_, argument)| argument.is_none());
        absent.map(|(debater, _)| format!("Debater {}", debater.label)).collect::<Vec<_>>().join(", ")
    }
}

/// An argument as others read it: stance, key points, counterpoints and revised position.
fn argument_text(argument: &Argument) -> String {
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
