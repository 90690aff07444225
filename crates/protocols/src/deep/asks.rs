//! The asks of `deep`: what each seat reads in each phase, and the schema of its reply.

use std::sync::Arc;

use agon_core::wording::joined;
use agon_core::{Ask, Corrupt, Prompt, ReplySchema, Step};
use serde::Serialize;
use serde_json::Value;

use super::log::{DebatePoint, DeepLog, DeepRound};
use super::positions::DebatePositions;
use super::replies::{Argument, Revision, Stance, wire_name};
use super::{DeepMode, DeepParts, DeepPhase, evaluation, verdict};
use crate::prompt::{list_values, new_ask, restrict};

/// What a template shows: the question, what the person said in between, and the fields of its phase.
#[derive(Serialize)]
struct QuestionContext<P> {
    question: String,
    interjections: Vec<String>,
    #[serde(flatten)]
    phase: P,
}

/// For a template that shows the question alone.
#[derive(Serialize)]
struct NoContext {}

/// The rule about quoted text.
#[derive(Serialize)]
struct SystemContext {
    rule: String,
}

/// A debater's words under its label.
#[derive(Serialize)]
struct DebaterText<'a> {
    label: &'a str,
    content: String,
}

#[derive(Serialize)]
struct RoundContext<'a> {
    round: u32,
    arguments: Vec<DebaterText<'a>>,
}

/// What all debaters read in a round.
#[derive(Serialize)]
struct DebateContext<'a> {
    responses: Vec<DebaterText<'a>>,
    previous_rounds: Vec<RoundContext<'a>>,
    revised: Vec<String>,
    focus: Option<String>,
}

/// What one debater reads of itself.
#[derive(Serialize)]
struct OwnDebaterContext<'a> {
    label: &'a str,
    round_number: u32,
    max_rounds: u32,
    open: Option<String>,
}

#[derive(Serialize)]
struct ModeratorContext<'a> {
    round_number: u32,
    max_rounds: u32,
    first_answers: Vec<DebaterText<'a>>,
    earlier_rounds: Vec<RoundContext<'a>>,
    arguments: Vec<AssessedArgument<'a>>,
    positions: Vec<DebaterText<'a>>,
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

#[derive(Serialize)]
struct SynthesisContext<'a> {
    sorts: bool,
    synthesis_input: String,
    positions: Option<String>,
    key_points: Vec<DebaterText<'a>>,
    unanswered: Option<String>,
    ranking: Option<String>,
}

/// What all debaters read before they sign.
#[derive(Serialize)]
struct AnswerContext {
    answer: String,
}

/// What one debater reads of itself before it signs.
#[derive(Serialize)]
struct OwnPositionContext<'a> {
    label: &'a str,
    own_position: String,
}

/// Makes the asks of one debate.
pub(super) struct DeepAsks<'a> {
    parts: &'a DeepParts,
    log: &'a DeepLog<'a>,
    system: Arc<str>,
}

impl<'a> DeepAsks<'a> {
    pub(super) fn new(parts: &'a DeepParts, log: &'a DeepLog<'a>) -> Result<Self, Corrupt> {
        let system = parts.prompts.shared("deep/system.hbs", &SystemContext { rule: log.quoted.rule() })?;
        Ok(Self { parts, log, system })
    }

    /// Stage 1: every debater answers, independently.
    pub(super) fn answers(&self) -> Result<Step, Corrupt> {
        self.ask_role(DeepPhase::Answer, 0, "debater", "deep/answer.hbs", NoContext {}, None)
    }

    /// Stage 2D: every debater who answered argues.
    pub(super) fn debate(&self, round: u32) -> Result<Step, Corrupt> {
        let log = self.log;
        let last = log.rounds.last().and_then(|round| round.assessment.as_ref());
        let focus = last.and_then(|assessment| assessment.next_round_focus.as_deref());
        let places = 0..log.debaters.len();
        let context = DebateContext {
            responses: self
                .texts(|place| Some(self.points(|point| point.round == 0 && point.author == place))),
            previous_rounds: log.rounds.iter().map(|round| self.arguments(round)).collect(),
            revised: places.filter_map(|place| self.revised_in(place)).collect(),
            focus: focus.map(|focus| log.quoted.quote("the moderator", focus)),
        };
        let shared = self.parts.prompts.shared("deep/debater.hbs", &self.with_question(context))?;
        self.ask_debaters(DeepPhase::Debate, round, &shared, |place, label| {
            let is_open = |point: &&DebatePoint| point.target == Some(place);
            let open: Vec<String> = log.unanswered().filter(is_open).map(|point| point.id.clone()).collect();
            let shown: Vec<String> = open.iter().map(|id| format!("[{id}]")).collect();
            let context = OwnDebaterContext {
                label,
                round_number: round,
                max_rounds: log.options.max_rounds,
                open: (!shown.is_empty()).then(|| joined(&shown)),
            };
            let tail = self.parts.prompts.tail("deep/debater.hbs", &context)?;
            Ok((tail, Arc::new(self.argument_schema(place, round, &open))))
        })
    }

    /// The moderator assesses the round.
    pub(super) fn moderation(&self, number: u32) -> Result<Step, Corrupt> {
        let log = self.log;
        let is_first = number == 1;
        let key_points = |round: u32, author: usize| {
            self.points(|point| point.round == round && point.author == author && point.target.is_none())
        };
        let earlier = log.rounds.iter().filter(|round| round.number < number).map(|round| RoundContext {
            round: round.number,
            arguments: self.texts(|place| present(round, place).map(|_| key_points(round.number, place))),
        });
        let round = log.round(number);
        let arguments = log.debaters.iter().enumerate().filter_map(|(place, debater)| {
            let argument = present(round?, place)?;
            Some(AssessedArgument {
                label: &debater.label,
                stance: argument.stance,
                confidence: argument.confidence,
                revision: argument.revision,
                key_points: log.quoted.quote(&debater.name(), &key_points(number, place)),
            })
        });
        // A first answer that is still held stands above already in the first round.
        let position = |place: usize| log.position(place, number);
        let is_shown = |place: usize| is_first && position(place) == log.position(place, 0);
        let positions = log.debaters.iter().enumerate().map(|(place, debater)| DebaterText {
            label: &debater.label,
            content: match is_shown(place) {
                true => "Its first answer, as above.".to_owned(),
                false => log.quoted.quote(&debater.name(), position(place)),
            },
        });
        let context = ModeratorContext {
            round_number: number,
            max_rounds: log.options.max_rounds,
            first_answers: self.texts(|place| is_first.then(|| log.position(place, 0).to_owned())),
            earlier_rounds: earlier.collect(),
            arguments: arguments.collect(),
            positions: positions.collect(),
        };
        let schema = self.with_debaters(copied(&self.parts.assessment), "first_positions");
        let mut schema = self.with_debaters(schema, "positions");
        if !is_first {
            remove_field(&mut schema, "first_positions");
        }
        self.ask_role(DeepPhase::Moderate, number, "moderator", "deep/moderator.hbs", context, Some(schema))
    }

    /// Stage 2S: other debaters score every answer, with one call for each evaluator and answer.
    pub(super) fn evaluations(&self) -> Result<Step, Corrupt> {
        let shared = self.parts.prompts.shared("deep/evaluator.hbs", &self.with_question(NoContext {}))?;
        let mut asks = Vec::new();
        for (evaluator, answer) in evaluation::pairs(self.log) {
            let Some(seat) = self.log.debate.brief.seat(evaluator.seat) else { continue };
            let content = self.log.quoted.quote(&answer.name(), &answer.answer);
            let context = DebaterText { label: &answer.label, content };
            let tail = self.parts.prompts.tail("deep/evaluator.hbs", &context)?;
            let prompt = Prompt { system: self.system.clone(), shared: shared.clone(), tail };
            let mut ask = new_ask(seat, prompt, Some(self.parts.evaluation.clone()));
            ask.label = Some(evaluator.name());
            ask.about = Some(answer.label.clone());
            asks.push(ask);
        }
        Ok(Step::Ask(DeepPhase::Evaluate.at(0), asks))
    }

    /// Stage 3: the chair, or a stand-in, writes the result.
    pub(super) fn synthesis(&self) -> Result<Step, Corrupt> {
        let log = self.log;
        let Some(model) = log.next_chair() else { return verdict::close(log) };
        let sorts = log.options.mode != DeepMode::Deep;
        let input = serde_json::to_string_pretty(&verdict::synthesis_input(log))?;
        let ranking = evaluation::ranking(log)?;
        let ranking = (!ranking.is_empty()).then(|| serde_json::to_string(&ranking)).transpose()?;
        let last = DebatePositions::read(log).last;
        let ids: Vec<String> = match sorts {
            true => (1..=log.debaters.len()).map(|number| format!("P{number}")).collect(),
            false => last.iter().filter_map(|held| held.id.clone()).collect(),
        };
        let positions = last.iter().filter(|_| !sorts).filter_map(|held| {
            let holders: Vec<String> = held.holders.iter().map(|place| log.name(*place)).collect();
            Some(format!("[{}] {} (held by {})", held.id.as_ref()?, held.statement, joined(&holders)))
        });
        let positions: Vec<String> = positions.collect();
        let is_key_point = |point: &DebatePoint| point.round > 0 && point.target.is_none();
        let last_round = log.rounds.last().map_or(0, |round| round.number);
        let unanswered = log.unanswered().map(|point| {
            let note = if point.round == last_round { " (made in the last round)" } else { "" };
            format!("{} said by {}{note}", point_line(log, point), log.name(point.author))
        });
        let unanswered: Vec<String> = unanswered.collect();
        let quote = |what: &str, lines: &[String]| {
            (!lines.is_empty()).then(|| log.quoted.quote(what, &lines.join("\n")))
        };
        let context = SynthesisContext {
            sorts,
            synthesis_input: log.quoted.quote("the debate", &input),
            positions: quote("the positions", &positions),
            key_points: self.texts(|place| {
                let text = self.points(|point| point.author == place && is_key_point(point));
                (!text.is_empty()).then_some(text)
            }),
            unanswered: quote("the counterpoints", &unanswered),
            ranking: ranking.map(|ranking| log.quoted.quote("the ranking", &ranking)),
        };
        let mut schema = self.with_debaters(copied(&self.parts.synthesis), "positions");
        if !sorts {
            remove_field(&mut schema, "positions");
        }
        let schema = list_values(schema, "/properties/fates/items/properties/position", &ids);
        let round = log.counted().last().map_or(0, |round| round.number);
        let step =
            self.ask_role(DeepPhase::Synthesis, round, "chair", "deep/synthesis.hbs", context, Some(schema))?;
        let with_model = |mut ask: Ask| {
            ask.model.clone_from(&model);
            ask
        };
        Ok(match step {
            Step::Ask(phase, asks) => Step::Ask(phase, asks.into_iter().map(with_model).collect()),
            close => close,
        })
    }

    /// With `--ratify`, every debater reads the answer and says whether it signs it.
    pub(super) fn ratification(&self) -> Result<Step, Corrupt> {
        let Some(synthesis) = &self.log.synthesis else { return verdict::close(self.log) };
        let mut lines = vec![synthesis.answer.clone(), format!("Why: {}", synthesis.why)];
        lines.extend(synthesis.contested.iter().map(|point| format!("Contested: {point}")));
        let answer = self.log.quoted.quote("the chair", &lines.join("\n\n"));
        let context = self.with_question(AnswerContext { answer });
        let shared = self.parts.prompts.shared("deep/ratify.hbs", &context)?;
        let round = self.log.counted().last().map_or(0, |round| round.number);
        self.ask_debaters(DeepPhase::Ratify, round, &shared, |place, label| {
            let own_position = self.log.quoted.own_words(self.log.position(place, u32::MAX));
            let context = OwnPositionContext { label, own_position };
            Ok((self.parts.prompts.tail("deep/ratify.hbs", &context)?, self.parts.ratification.clone()))
        })
    }

    /// Asks every seat of a role the same.
    fn ask_role(
        &self,
        phase: DeepPhase,
        round: u32,
        role: &str,
        file: &str,
        context: impl Serialize,
        schema: Option<ReplySchema>,
    ) -> Result<Step, Corrupt> {
        let prompt = self.parts.prompts.whole(&self.system, file, &self.with_question(context))?;
        let schema = schema.map(Arc::new);
        let seats = self.log.debate.brief.seats_of(role);
        let asks = seats.map(|seat| new_ask(seat, prompt.clone(), schema.clone()));
        Ok(Step::Ask(phase.at(round), asks.collect()))
    }

    /// Asks every debater who answered, in seat order, with a private part and a schema of its own.
    fn ask_debaters(
        &self,
        phase: DeepPhase,
        round: u32,
        shared: &Arc<str>,
        own_part: impl Fn(usize, &'a str) -> Result<(String, Arc<ReplySchema>), Corrupt>,
    ) -> Result<Step, Corrupt> {
        let mut asks = Vec::new();
        for seat in self.log.debate.brief.seats_of("debater") {
            let mut debaters = self.log.debaters.iter().enumerate();
            let Some((place, debater)) = debaters.find(|(_, debater)| debater.seat == seat.id) else {
                continue;
            };
            let (tail, schema) = own_part(place, &debater.label)?;
            let prompt = Prompt { system: self.system.clone(), shared: shared.clone(), tail };
            let mut ask = new_ask(seat, prompt, Some(schema));
            ask.label = Some(debater.name());
            asks.push(ask);
        }
        Ok(Step::Ask(phase.at(round), asks))
    }

    fn with_question<P: Serialize>(&self, phase: P) -> QuestionContext<P> {
        let (debate, quoted) = (self.log.debate, &self.log.quoted);
        let interjections = debate.interjections.iter();
        QuestionContext {
            question: quoted.person(&debate.brief.question),
            interjections: interjections.map(|said| quoted.person(&said.text)).collect(),
            phase,
        }
    }

    /// The schema of a debater's argument. It lists the other debaters, the counterpoints that are to be answered, and the points that
    /// can be cited.
    fn argument_schema(&self, place: usize, round: u32, open: &[String]) -> ReplySchema {
        let others = self.log.debaters.iter().enumerate().filter(|(other, _)| *other != place);
        let others: Vec<String> = others.map(|(_, debater)| debater.name()).collect();
        let short = others.iter().filter_map(|name| Some(name.rsplit_once(' ')?.1.to_owned()));
        let targets: Vec<String> = others.iter().cloned().chain(short).collect();
        let citable = self.log.points.iter().filter(|point| point.author != place && point.round < round);
        let citable: Vec<String> = citable.map(|point| point.id.clone()).collect();
        let schema = copied(&self.parts.argument);
        let schema = restrict(schema, "/properties/counterpoints/items/properties/target", &targets);
        let schema = list_values(schema, "/properties/agrees_with/items", &others);
        let schema = list_values(schema, "/properties/changed_because/items/properties/id", &citable);
        let mut schema = list_values(schema, "/properties/answers/items/properties/id", open);
        if open.is_empty() {
            remove_field(&mut schema, "answers");
        }
        schema
    }

    /// A schema in which the members of these positions are debaters.
    fn with_debaters(&self, schema: ReplySchema, list: &str) -> ReplySchema {
        let names: Vec<String> = self.log.debaters.iter().map(|debater| debater.name()).collect();
        let members = format!("/properties/{list}/items/properties/members/items/properties/debater");
        list_values(schema, &members, &names)
    }

    /// What every debater says, quoted, in label order. `None` leaves a debater out.
    fn texts(&self, text: impl Fn(usize) -> Option<String>) -> Vec<DebaterText<'a>> {
        let log: &'a DeepLog<'a> = self.log;
        let quoted = log.debaters.iter().enumerate().filter_map(|(place, debater)| {
            let content = log.quoted.quote(&debater.name(), &text(place)?);
            Some(DebaterText { label: &debater.label, content })
        });
        quoted.collect()
    }

    /// The lines of these points, each with its id.
    fn points(&self, is_wanted: impl Fn(&DebatePoint) -> bool) -> String {
        let points = self.log.points.iter().filter(|point| is_wanted(point));
        points.map(|point| point_line(self.log, point)).collect::<Vec<_>>().join("\n")
    }

    /// A round's arguments as the debaters of later rounds read them: stance, key points, counterpoints, answers, revised position.
    fn arguments(&self, round: &DeepRound) -> RoundContext<'a> {
        let arguments = self.texts(|place| {
            let argument = present(round, place)?;
            let (stance, revision) = (wire_name(argument.stance), wire_name(argument.revision));
            let is_its = |point: &DebatePoint| point.round == round.number && point.author == place;
            let key_points = self.points(|point| is_its(point) && point.target.is_none());
            let counterpoints = self.points(|point| is_its(point) && point.target.is_some());
            let mut lines = vec![format!("Stance: {stance} ({revision})"), "Key points:".into(), key_points];
            if !counterpoints.is_empty() {
                lines.extend(["Counterpoints:".into(), counterpoints]);
            }
            let answers = argument.answers.iter();
            lines.extend(answers.map(|answer| format!("Answer to {}: {}", answer.id, answer.response)));
            lines.extend(argument.new_position().map(|position| format!("Revised position: {position}")));
            Some(lines.join("\n"))
        });
        RoundContext { round: round.number, arguments }
    }

    /// Which of a debater's texts is its current position, if it has revised its first answer.
    fn revised_in(&self, place: usize) -> Option<String> {
        let rounds = self.log.rounds.iter().rev();
        let mut revised = rounds
            .filter(|round| present(round, place).is_some_and(|argument| argument.new_position().is_some()));
        let (name, round) = (self.log.name(place), revised.next()?.number);
        Some(format!("{name}: its revised position of round {round}. Its earlier positions are superseded."))
    }
}

/// What a debater argued in a round. `None` if it was absent.
fn present(round: &DeepRound, place: usize) -> Option<&Argument> {
    round.arguments.get(place)?.as_ref()
}

/// A point after its id.
fn point_line(log: &DeepLog<'_>, point: &DebatePoint) -> String {
    let text = match (point.target, point.texts.as_slice()) {
        (Some(target), [text, evidence]) => format!("To {}: {text} ({evidence})", log.name(target)),
        (_, texts) => texts.join("\n"),
    };
    format!("[{}] {text}", point.id)
}

fn copied(schema: &ReplySchema) -> ReplySchema {
    ReplySchema { name: schema.name.clone(), json: schema.json.clone() }
}

/// Takes a field that does not apply out of a schema.
fn remove_field(schema: &mut ReplySchema, field: &str) {
    if let Some(Value::Object(fields)) = schema.json.pointer_mut("/properties") {
        fields.shift_remove(field);
    }
}
