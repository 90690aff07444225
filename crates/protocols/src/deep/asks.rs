//! The asks of `deep`: what each seat reads in each phase, and the schema of its reply.

use std::sync::{Arc, LazyLock};

use agon_core::wording::joined;
use agon_core::{Ask, Corrupt, Phase, Prompt, ReplySchema, Step};
use serde_json::{Value, json};

use super::log::{DebatePoint, Debater, DeepLog, DeepRound};
use super::positions::{self, DebatePositions};
use super::replies::{Argument, Assessment, Evaluation, Ratification, Synthesis, wire_name};
use super::{DeepMode, DeepPhase, evaluation, verdict};
use crate::prompt::{ListedSchemas, PromptSet, list_values, new_ask, remove_field, restrict, schema_of};

/// The schemas of the replies, by the labels and ids that they list.
static SCHEMAS: LazyLock<ListedSchemas> = LazyLock::new(ListedSchemas::default);

/// Makes the asks of one debate.
pub(super) struct DeepAsks<'a> {
    prompts: &'a PromptSet,
    log: &'a DeepLog<'a>,
    system: Arc<str>,
}

impl<'a> DeepAsks<'a> {
    pub(super) fn new(prompts: &'a PromptSet, log: &'a DeepLog<'a>) -> Result<Self, Corrupt> {
        let system = prompts.shared("deep/system.hbs", &json!({"rule": log.quoted.rule()}))?;
        Ok(Self { prompts, log, system })
    }

    /// Stage 1: every debater answers, independently.
    pub(super) fn answers(&self) -> Result<Step, Corrupt> {
        self.ask_role(DeepPhase::Answer.at(0), "debater", "deep/answer.hbs", json!({}), None)
    }

    /// Stage 2D: every debater who answered argues.
    pub(super) fn debate(&self, round: u32) -> Result<Step, Corrupt> {
        let log = self.log;
        let last = log.rounds.last().and_then(|round| round.assessment.as_ref());
        let focus = last.and_then(|assessment| assessment.next_round_focus.as_deref());
        let previous: Vec<Value> = log.rounds.iter().map(|round| self.arguments(round, true)).collect();
        let revised = (0..log.debaters.len()).filter_map(|place| self.revised_in(place));
        let page = json!({
            "responses": self.first_answers(),
            "previous_rounds": previous,
            "revised": revised.collect::<Vec<_>>(),
            "focus": focus.map(|focus| log.quoted.quote("the moderator", focus)),
        });
        self.ask_debaters(DeepPhase::Debate.at(round), "deep/debater.hbs", page, |place| {
            let is_open =
                |point: &&DebatePoint| point.target == Some(place) && log.answer_to(point).is_none();
            let open: Vec<String> = log.points.iter().filter(is_open).map(|point| point.id.clone()).collect();
            let shown: Vec<String> = open.iter().map(|id| format!("[{id}]")).collect();
            let own = json!({
                "label": log.label(place),
                "round_number": round,
                "max_rounds": log.options.max_rounds,
                "own_position": log.is_revised(place).then(|| log.position_id(place, u32::MAX)),
                "open": (!shown.is_empty()).then(|| joined(&shown)),
            });
            (own, self.argument_schema(place, round, &open))
        })
    }

    /// The moderator assesses the round.
    pub(super) fn moderation(&self, number: u32) -> Result<Step, Corrupt> {
        let (log, is_first) = (self.log, number == 1);
        let labels = || log.debaters.iter().map(|debater| debater.label.as_str()).enumerate();
        let arguments = labels().filter_map(|(place, label)| {
            let argument = log.argument(number, place)?;
            Some(json!({
                "label": label,
                "stance": argument.stance,
                "confidence": argument.confidence,
                "revision": argument.revision,
                "content": log.quoted.quote(&log.name(place), &self.argument(number, place)?.join("\n")),
            }))
        });
        // A first answer that is still held stands above already.
        let current = labels().map(|(place, label)| {
            let position = || format!("[{}] {}", log.position_id(place, number), log.position(place, number));
            let content = match log.is_revised(place) {
                false => "Its first answer, as above.".to_owned(),
                true => log.quoted.quote(&log.name(place), &position()),
            };
            json!({"label": label, "content": content})
        });
        let earlier = || log.rounds.iter().filter(|round| round.number < number);
        let last = earlier().rev().find_map(|round| round.assessment.as_ref());
        let page = json!({
            "round_number": number,
            "max_rounds": log.options.max_rounds,
            "is_first_round": is_first,
            "is_last_round": number >= log.options.max_rounds,
            "responses": self.first_answers(),
            "previous_rounds": earlier().map(|round| self.arguments(round, false)).collect::<Vec<_>>(),
            "last_assessment": last.map(|last| log.quoted.own_words(&assessment_lines(last).join("\n"))),
            "arguments": arguments.collect::<Vec<_>>(),
            "current": current.collect::<Vec<_>>(),
        });
        let schema = self.assessment_schema(is_first);
        let phase = DeepPhase::Moderate.at(number);
        self.ask_role(phase, "moderator", "deep/moderator.hbs", page, Some(schema))
    }

    /// Stage 2S: other debaters score every answer, with one call for each evaluator and answer.
    pub(super) fn evaluations(&self) -> Result<Step, Corrupt> {
        let file = "deep/evaluator.hbs";
        let shared = self.prompts.shared(file, &self.page(json!({})))?;
        let schema = SCHEMAS.get("evaluation", &[], || schema_of::<Evaluation>("evaluation"));
        let asks = evaluation::pairs(self.log).into_iter().map(|(evaluator, answer)| {
            let content = self.log.quoted.quote(&answer.name, &answer.answer);
            let ask = self.own_ask(evaluator, file, &shared, &json!({"content": content}), schema.clone())?;
            Ok(Ask { about: Some(answer.label.clone()), ..ask })
        });
        Ok(Step::Ask(DeepPhase::Evaluate.at(0), asks.collect::<Result<_, Corrupt>>()?))
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
        let held = last.iter().filter(|_| !sorts).filter_map(|held| {
            let holder =
                |place: &usize| format!("{} [{}]", log.name(*place), log.position_id(*place, u32::MAX));
            let holders: Vec<String> = held.holders.iter().map(holder).collect();
            let statement = if held.is_stated { &held.statement } else { "As written above." };
            Some(format!("[{}] {statement} (held by {})", held.position.as_ref()?, joined(&holders)))
        });
        let quote = |what: &str, lines: Vec<String>| {
            (!lines.is_empty()).then(|| log.quoted.quote(what, &lines.join("\n")))
        };
        let page = json!({
            "sorts": sorts,
            "is_ratified": log.options.ratify,
            "responses": self.texts(|place| self.superseded(place)),
            "synthesis_input": log.quoted.quote("the debate", &input),
            "positions": quote("the positions", held.collect()),
            "revisions": quote("the revisions", self.revisions()),
            "key_points": self.texts(|place| self.key_points(place)),
            "counterpoints": quote("the counterpoints", self.counterpoints()),
            "ranking": ranking.map(|ranking| log.quoted.quote("the ranking", &ranking)),
        });
        let ids: Vec<String> = match sorts {
            true => (1..=log.debaters.len()).map(|number| format!("P{number}")).collect(),
            false => last.iter().filter_map(|held| held.position.clone()).collect(),
        };
        let schema = self.synthesis_schema(sorts, &ids);
        let phase = DeepPhase::Synthesis.at(log.rounds_completed());
        let mut step = self.ask_role(phase, "chair", "deep/synthesis.hbs", page, Some(schema))?;
        if let Step::Ask(_, asks) = &mut step {
            asks.iter_mut().for_each(|ask| ask.model.clone_from(&model));
        }
        Ok(step)
    }

    /// With `--ratify`, every debater reads the answer and says whether it signs it.
    pub(super) fn ratification(&self) -> Result<Step, Corrupt> {
        let Some(synthesis) = &self.log.synthesis else { return verdict::close(self.log) };
        let mut lines = vec![synthesis.answer.clone(), format!("Why: {}", synthesis.why)];
        lines.extend(synthesis.contested.iter().map(|point| format!("Contested: {point}")));
        let content = self.log.quoted.quote("the chair", &lines.join("\n\n"));
        let positions = DebatePositions::read(self.log);
        let schema = SCHEMAS.get("ratification", &[], || schema_of::<Ratification>("ratification"));
        let phase = DeepPhase::Ratify.at(self.log.rounds_completed());
        self.ask_debaters(phase, "deep/ratify.hbs", json!({"content": content}), |place| {
            let (quoted, position) = (&self.log.quoted, self.log.position(place, u32::MAX));
            let held = positions.held_by(place);
            let ruling = held.and_then(|held| {
                let ruling =
                    format!("{}. {}", wire_name(held.fate?), held.reason.as_deref().unwrap_or_default());
                Some(quoted.quote("the chair", ruling.trim()))
            });
            // Without a statement of whoever sorted, a position is known by its own words.
            let stated = held.filter(|held| held.is_stated && held.statement != position);
            let own = json!({
                "label": self.log.label(place),
                "content": quoted.own_words(position),
                "statement": stated.map(|held| quoted.quote("the position", &held.statement)),
                "ruling": ruling,
            });
            (own, schema.clone())
        })
    }

    /// Asks every seat of a role the same.
    fn ask_role(
        &self,
        phase: Phase,
        role: &str,
        file: &str,
        page: Value,
        schema: Option<Arc<ReplySchema>>,
    ) -> Result<Step, Corrupt> {
        let prompt = self.prompts.whole(&self.system, file, &self.page(page))?;
        let seats = self.log.debate.brief.seats_of(role);
        Ok(Step::Ask(phase, seats.map(|seat| new_ask(seat, prompt.clone(), schema.clone())).collect()))
    }

    /// Asks every debater who answered, in seat order, with a private part and a schema of its own.
    fn ask_debaters(
        &self,
        phase: Phase,
        file: &str,
        page: Value,
        own_part: impl Fn(usize) -> (Value, Arc<ReplySchema>),
    ) -> Result<Step, Corrupt> {
        let shared = self.prompts.shared(file, &self.page(page))?;
        let debaters =
            self.log.in_seat_order().filter_map(|place| Some((place, self.log.debaters.get(place)?)));
        let asks = debaters.map(|(place, debater)| {
            let (own, schema) = own_part(place);
            self.own_ask(debater, file, &shared, &own, schema)
        });
        Ok(Step::Ask(phase, asks.collect::<Result<_, _>>()?))
    }

    /// An ask with a part that only this debater reads.
    fn own_ask(
        &self,
        debater: &Debater<'_>,
        file: &str,
        shared: &Arc<str>,
        own: &Value,
        schema: Arc<ReplySchema>,
    ) -> Result<Ask, Corrupt> {
        let tail = self.prompts.tail(file, own)?;
        let prompt = Prompt { system: self.system.clone(), shared: shared.clone(), tail };
        Ok(Ask { label: Some(debater.name.clone()), ..new_ask(debater.seat, prompt, Some(schema)) })
    }

    /// A page with the question and what the person said in between.
    fn page(&self, mut page: Value) -> Value {
        let (debate, quoted) = (self.log.debate, &self.log.quoted);
        let interjections = debate.interjections.iter().map(|said| quoted.person(&said.text));
        if let Value::Object(fields) = &mut page {
            fields.insert("question".into(), quoted.person(&debate.brief.question).into());
            fields.insert("interjections".into(), interjections.collect());
        }
        page
    }

    /// The schema of a debater's argument. It lists the other debaters, the counterpoints that are to be answered, and the points that
    /// can be cited.
    fn argument_schema(&self, place: usize, round: u32, open: &[String]) -> Arc<ReplySchema> {
        let others = self.log.debaters.iter().enumerate().filter(|(other, _)| *other != place);
        let others: Vec<String> = others.map(|(_, debater)| debater.name.clone()).collect();
        let citable = self.log.points.iter().filter(|point| point.author != place && point.round < round);
        let looked_up = self.log.debate.items_shown(DeepPhase::Debate.as_str(), round);
        let looked_up = looked_up.filter(|item| item.text().is_some()).map(|item| item.id.clone());
        let citable: Vec<String> = citable.map(|point| point.id.clone()).chain(looked_up).collect();
        SCHEMAS.get("argument", &[&others, &citable, open], || {
            let short = others.iter().filter_map(|name| Some(name.rsplit_once(' ')?.1.to_owned()));
            let targets: Vec<String> = others.iter().cloned().chain(short).collect();
            let schema = schema_of::<Argument>("argument");
            let schema = restrict(schema, "/properties/counterpoints/items/properties/target", &targets);
            let schema = list_values(schema, "/properties/agrees_with/items", &others);
            let schema = list_values(schema, "/properties/changed_because/items/properties/id", &citable);
            let mut schema = list_values(schema, "/properties/answers/items/properties/id", open);
            if open.is_empty() {
                remove_field(&mut schema, "answers");
            }
            schema
        })
    }

    /// The schema of the moderator's assessment. The first one sorts the first answers, too.
    fn assessment_schema(&self, is_first: bool) -> Arc<ReplySchema> {
        let names = self.names();
        let kind = if is_first { "first assessment" } else { "assessment" };
        SCHEMAS.get(kind, &[&names], || {
            let mut schema = with_debaters(schema_of::<Assessment>("assessment"), "positions", &names);
            if is_first {
                return with_debaters(schema, "first_positions", &names);
            }
            remove_field(&mut schema, "first_positions");
            schema
        })
    }

    /// The schema of the chair's synthesis. `ids` are those of the positions that it rules on.
    fn synthesis_schema(&self, sorts: bool, ids: &[String]) -> Arc<ReplySchema> {
        let names = self.names();
        let kind = if sorts { "sorting synthesis" } else { "synthesis" };
        SCHEMAS.get(kind, &[&names, ids], || {
            let mut schema = with_debaters(schema_of::<Synthesis>("synthesis"), "positions", &names);
            if !sorts {
                remove_field(&mut schema, "positions");
            }
            list_values(schema, "/properties/fates/items/properties/position", ids)
        })
    }

    /// The names of all debaters.
    fn names(&self) -> Vec<String> {
        self.log.debaters.iter().map(|debater| debater.name.clone()).collect()
    }

    /// What every debater says, quoted, in label order. `None` leaves a debater out.
    fn texts(&self, text: impl Fn(usize) -> Option<String>) -> Vec<Value> {
        let log = self.log;
        let quoted = log.debaters.iter().enumerate().filter_map(|(place, debater)| {
            let content = log.quoted.quote(&debater.name, &text(place)?);
            Some(json!({"label": debater.label, "content": content}))
        });
        quoted.collect()
    }

    /// The first answers of all debaters, each with its id.
    fn first_answers(&self) -> Vec<Value> {
        self.texts(|place| Some(self.points(|point| point.round == 0 && point.author == place)))
    }

    /// The positions that a debater has replaced. What others say of them needs their text.
    fn superseded(&self, place: usize) -> Option<String> {
        let current = self.log.position_id(place, u32::MAX);
        let positions =
            self.points(|point| point.is_position && point.author == place && point.id != current);
        (!positions.is_empty()).then_some(positions)
    }

    /// The lines of these points, each with its id.
    fn points(&self, is_wanted: impl Fn(&DebatePoint) -> bool) -> String {
        let points = self.log.points.iter().filter(|point| is_wanted(point));
        points.map(|point| point_line(self.log, point)).collect::<Vec<_>>().join("\n")
    }

    /// A round's arguments as they are read in later rounds.
    fn arguments(&self, round: &DeepRound, with_positions: bool) -> Value {
        let arguments = self.texts(|place| {
            let argument = self.log.argument(round.number, place)?;
            let (stance, revision) = (wire_name(argument.stance), wire_name(argument.revision));
            let mut lines = vec![format!("Stance: {stance} ({revision})")];
            lines.extend(self.argument(round.number, place)?);
            let is_new = |point: &DebatePoint| point.round == round.number && point.author == place;
            let position = self.points(|point| is_new(point) && point.is_position);
            if with_positions && !position.is_empty() {
                lines.extend(["Revised position:".into(), position]);
            }
            Some(lines.join("\n"))
        });
        json!({"round": round.number, "arguments": arguments})
    }

    /// What a debater says in a round beside its position: key points, counterpoints, answers, the debaters it agrees with, and what it cites.
    fn argument(&self, number: u32, place: usize) -> Option<Vec<String>> {
        let (round, argument) = (self.log.round(number)?, self.log.argument(number, place)?);
        let is_its = |point: &DebatePoint| point.round == number && point.author == place;
        let key_points = self.points(|point| is_its(point) && point.is_key_point());
        let counterpoints = self.points(|point| is_its(point) && point.target.is_some());
        let mut lines = vec!["Key points:".into(), key_points];
        if !counterpoints.is_empty() {
            lines.extend(["Counterpoints:".into(), counterpoints]);
        }
        let answers = argument.answers.iter();
        lines.extend(answers.map(|answer| format!("Answer to {}: {}", answer.id, answer.response)));
        // It was shown the positions from before the round.
        let shown = |other: &usize| {
            let id = self.log.position_id(*other, number.saturating_sub(1));
            format!("[{id}] of {}", self.log.name(*other))
        };
        let agrees: Vec<String> = round.verified.get(place)?.agrees_with.iter().map(shown).collect();
        if !agrees.is_empty() {
            lines.push(format!("Could sign {}.", joined(&agrees)));
        }
        if argument.new_position().is_some() {
            lines.push(format!("Revises its position, {}.", verdict::citing(round, place)));
        }
        Some(lines)
    }

    /// A debater's key points by round, for the chair.
    fn key_points(&self, place: usize) -> Option<String> {
        let rounds = self.log.rounds.iter().filter_map(|round| {
            let number = round.number;
            let is_its = |point: &DebatePoint| point.round == number && point.author == place;
            let points = self.points(|point| is_its(point) && point.is_key_point());
            let mut later = self.log.rounds.iter().filter(|later| later.number > number);
            let is_given_up = later.any(|later| positions::gives_up(self.log, place, later.number));
            let note = if is_given_up { ", for a position that it gave up later" } else { "" };
            (!points.is_empty()).then(|| format!("Round {number}{note}:\n{points}"))
        });
        let rounds: Vec<String> = rounds.collect();
        (!rounds.is_empty()).then(|| rounds.join("\n"))
    }

    /// Who revised its position in which round, and what it cites for that.
    fn revisions(&self) -> Vec<String> {
        let log = self.log;
        let in_round = |round: &DeepRound| {
            let number = round.number;
            let revised = (0..log.debaters.len()).filter(|place| positions::is_revised(log, *place, number));
            let line = |place: usize| {
                let what = match positions::gives_up(log, place, number) {
                    true => "gave up its position for another one",
                    false => "revised a part of its position",
                };
                format!("Round {number}: {} {what}, {}.", log.name(place), verdict::citing(round, place))
            };
            revised.map(line).collect::<Vec<_>>()
        };
        log.rounds.iter().flat_map(in_round).collect()
    }

    /// Every counterpoint with its answer.
    fn counterpoints(&self) -> Vec<String> {
        let log = self.log;
        let counterpoints = log.points.iter().filter(|point| point.target.is_some());
        let line = |point: &DebatePoint| {
            let answer = log.answer_to(point).map(|answer| format!("Answer: {answer}"));
            let answer = answer.or_else(|| log.why_unanswered(point)).unwrap_or_default();
            format!("{}\n{answer}", point_line(log, point))
        };
        counterpoints.map(line).collect()
    }

    /// Which of a debater's texts is its current position, if it has revised its first answer.
    fn revised_in(&self, place: usize) -> Option<String> {
        let (name, id) = (self.log.name(place), self.log.position_id(place, u32::MAX));
        let is_revised = self.log.is_revised(place);
        is_revised.then(|| format!("{name}: [{id}]. Its earlier positions are superseded."))
    }
}

/// A point after its id.
fn point_line(log: &DeepLog<'_>, point: &DebatePoint) -> String {
    let text = match (point.target, point.texts.as_slice()) {
        (Some(target), [text, evidence]) => {
            let because = if evidence.trim().is_empty() { "" } else { " Because: " };
            format!("{} to {}: {text}{because}{evidence}", log.name(point.author), log.name(target))
        }
        (_, texts) => texts.join("\n"),
    };
    format!("[{}] {text}", point.id)
}

/// What the moderator said of a round, as it reads it in the next one.
fn assessment_lines(assessment: &Assessment) -> Vec<String> {
    let mut lines = vec![format!("agreement_score: {:.2}", assessment.agreement_score)];
    lines.extend(assessment.positions.iter().map(|position| {
        let members: Vec<String> = position.members.iter().map(|member| member.debater.clone()).collect();
        format!("Position: {} ({})", position.statement, joined(&members))
    }));
    lines.extend(assessment.remaining_disagreements.iter().map(|open| format!("Open: {open}")));
    lines.extend(assessment.next_round_focus.iter().map(|focus| format!("You asked: {focus}")));
    lines
}

/// A schema in which the members of these positions are debaters.
fn with_debaters(schema: ReplySchema, list: &str, names: &[String]) -> ReplySchema {
    let members = format!("/properties/{list}/items/properties/members/items/properties/debater");
    list_values(schema, &members, names)
}
