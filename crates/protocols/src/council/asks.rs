//! What each seat is asked in each phase.
//!
//! The topic, the council and the rounds so far come first and only grow, so that a phase's prompt begins like the one before it. Then
//! comes what the phase asks for, and last what only one councillor reads.

use std::sync::Arc;

use agon_core::{Ask, Corrupt, Fence, Prompt};
use serde::Serialize;
use serde_json::json;

use super::challenges::{Challenge, ChallengeFate, stance_word};
use super::log::{CouncilLog, CouncilMember, CouncilRound, CouncillorStanding, PeerMessage};
use super::moderation::{InterventionKind, ModeratorIntervention};
use super::replies::CrossExamination;
use super::reply_rules::{ReplyForm, SchemaChoices};
use super::text_matching::one_line;
use super::{CouncilPhase, prompts};
use crate::prompt::{PromptSet, new_ask};

/// Makes the asks of one debate.
pub(super) struct AskBuilder<'a> {
    log: &'a CouncilLog<'a>,
    prompts: &'static PromptSet,
    fence: Fence,
    system: Arc<str>,
}

/// The part of a phase's prompts that all seats share.
struct PhasePrompt {
    file: &'static str,
    form: ReplyForm,
    shared: Arc<str>,
}

/// What a template shows to all seats of a phase. Each template reads the fields that it needs.
#[derive(Debug, Default, Serialize)]
struct SharedContext {
    material: String,
    positions: String,
    rounds: u32,
    schema: String,
    round: u32,
    exchange: bool,
    exchanges: usize,
    updates: Vec<QuotedEntry>,
    answered: Vec<QuotedEntry>,
    unanswered: String,
    letters: Vec<QuotedEntry>,
    question: String,
    complete: bool,
    open: Vec<QuotedEntry>,
}

/// What a template shows to one seat.
#[derive(Debug, Default, Serialize)]
struct SeatContext {
    role: String,
    charter: String,
    own: String,
    schema: String,
    others: String,
    answered: Vec<QuotedEntry>,
    letters: Vec<QuotedEntry>,
    challenges: Vec<QuotedEntry>,
    challenger: String,
    id: String,
    challenge: String,
    response: Option<String>,
    point: String,
}

/// What everybody has read so far.
#[derive(Debug, Serialize)]
struct MaterialContext {
    topic: String,
    focus: Option<String>,
    members: Vec<MemberEntry>,
    questions: Vec<QuotedEntry>,
    rounds: Vec<RoundEntry>,
    interjections: Vec<String>,
}

#[derive(Debug, Serialize)]
struct MemberEntry {
    name: String,
    id: String,
    charter: String,
    out: bool,
}

#[derive(Debug, Serialize)]
struct RoundEntry {
    number: u32,
    said: Vec<QuotedEntry>,
    absent: String,
    interventions: Vec<QuotedEntry>,
}

/// Quoted words, with what a template says of them.
#[derive(Debug, Default, Serialize)]
struct QuotedEntry {
    id: String,
    round: u32,
    name: String,
    from: String,
    to: String,
    fate: String,
    kind: &'static str,
    content: String,
}

impl<'a> AskBuilder<'a> {
    pub(super) fn new(log: &'a CouncilLog<'a>) -> Result<Self, Corrupt> {
        let (prompts, fence) = (prompts()?, Fence::new(&log.debate.brief));
        let system = prompts.shared("council/system.hbs", &json!({"rule": fence.rule()}))?;
        Ok(Self { log, prompts, fence, system })
    }

    /// Who is asked in a phase, in the order of the asks.
    pub(super) fn seats(&self, phase: CouncilPhase, round: u32) -> Vec<&'a str> {
        let log = self.log;
        match phase {
            CouncilPhase::Opening => log.members.iter().map(|member| member.seat.id.as_str()).collect(),
            CouncilPhase::Challenge | CouncilPhase::Vote => log.active.clone(),
            CouncilPhase::Exchange => {
                let has_message = |seat: &&str| log.messages_of(round).any(|message| message.to == *seat);
                log.active.iter().copied().filter(has_message).collect()
            }
            CouncilPhase::Moderate => {
                log.debate.brief.seats_of("moderator").map(|seat| seat.id.as_str()).collect()
            }
            CouncilPhase::Intervene => {
                let round = log.round(round).into_iter();
                round.flat_map(|round| &round.interventions).flat_map(|planned| planned.asked(log)).collect()
            }
        }
    }

    /// The asks of a phase, made from what was said before it: all of them, or in economy mode the one at index `only`.
    pub(super) fn asks(
        &self,
        phase: CouncilPhase,
        round: u32,
        only: Option<usize>,
    ) -> Result<Vec<Ask>, Corrupt> {
        let is_wanted = |index: usize| only.is_none_or(|only| only == index);
        let seats = self.seats(phase, round).into_iter().enumerate();
        let seats: Vec<&str> = seats.filter(|(index, _)| is_wanted(*index)).map(|(_, seat)| seat).collect();
        if seats.is_empty() {
            return Ok(Vec::new());
        }
        match phase {
            CouncilPhase::Opening => self.openings(&seats),
            CouncilPhase::Challenge => self.examinations(round, &seats),
            CouncilPhase::Exchange => self.exchange(round, &seats),
            CouncilPhase::Moderate => self.moderation(round),
            CouncilPhase::Intervene => self.interventions(round, &is_wanted),
            CouncilPhase::Vote => self.votes(&seats),
        }
    }

    fn openings(&self, seats: &[&str]) -> Result<Vec<Ask>, Corrupt> {
        let all: Vec<&str> = self.log.members.iter().map(|member| member.seat.id.as_str()).collect();
        let choices =
            |own| SchemaChoices { councillors: self.addressees(&all, own), ..SchemaChoices::default() };
        let phase = self.phase("opening", ReplyForm::Opening, &choices(""), SharedContext::default())?;
        let asks = seats.iter().map(|seat| {
            let context = SeatContext { others: self.quoted_names(&all, seat), ..SeatContext::default() };
            self.ask(&phase, seat, context, &choices(seat))
        });
        asks.collect()
    }

    fn examinations(&self, round: u32, seats: &[&str]) -> Result<Vec<Ask>, Corrupt> {
        let log = self.log;
        let exchanges = if log.options.economy { 0 } else { log.options.exchanges };
        let due = || {
            let due = log.challenges.iter().filter(|challenge| challenge.is_due(round));
            due.filter(|challenge| log.active.contains(&challenge.to.as_str()))
        };
        let choices = |own: &str, challenges| SchemaChoices {
            councillors: self.addressees(&log.active, own),
            challenges,
            messages_max: u32::try_from(exchanges).unwrap_or(u32::MAX),
            ..SchemaChoices::default()
        };
        let context = SharedContext { round, exchange: exchanges > 0, exchanges, ..SharedContext::default() };
        let all_due = choices("", due().map(|challenge| challenge.id.clone()).collect());
        let phase = self.phase("challenge", ReplyForm::Examination, &all_due, context)?;
        let asks = seats.iter().map(|seat| {
            let own_due = || due().filter(|challenge| challenge.to == *seat);
            let context = SeatContext {
                others: self.quoted_names(&log.active, seat),
                answered: self.answers_to(seat),
                letters: self.messages(|message| message.from == *seat || message.to == *seat),
                challenges: own_due().map(|challenge| self.challenge(challenge)).collect(),
                ..SeatContext::default()
            };
            let ids = own_due().map(|challenge| challenge.id.clone()).collect();
            self.ask(&phase, seat, context, &choices(seat, ids))
        });
        asks.collect()
    }

    /// The recipients of messages answer them.
    fn exchange(&self, round: u32, seats: &[&str]) -> Result<Vec<Ask>, Corrupt> {
        let choices = |is_wanted: &dyn Fn(&PeerMessage) -> bool| SchemaChoices {
            messages: self
                .log
                .messages_of(round)
                .filter(|it| is_wanted(it))
                .map(|it| it.id.clone())
                .collect(),
            ..SchemaChoices::default()
        };
        let context = SharedContext { round, ..SharedContext::default() };
        let phase = self.phase("exchange", ReplyForm::Correspondence, &choices(&|_| true), context)?;
        let asks = seats.iter().map(|seat| {
            let letters = self.messages(|message| message.round == round && message.to == *seat);
            let context = SeatContext { letters, ..SeatContext::default() };
            self.ask(&phase, seat, context, &choices(&|message| message.to == *seat))
        });
        asks.collect()
    }

    /// One call for everything in a round that needs judgement.
    fn moderation(&self, number: u32) -> Result<Vec<Ask>, Corrupt> {
        let log = self.log;
        let Some(round) = log.round(number) else { return Ok(Vec::new()) };
        let answered = || log.challenges.iter().filter(|challenge| challenge.answered_in == Some(number));
        let choices = SchemaChoices {
            councillors: self.addressees(&log.active, ""),
            challenges: answered().map(|challenge| challenge.id.clone()).collect(),
            ..SchemaChoices::default()
        };
        let updates = round.before.iter().zip(round.after.values());
        let unanswered: Vec<String> = round.unanswered.iter().map(|id| format!("[{id}]")).collect();
        let context = SharedContext {
            round: number,
            updates: updates
                .map(|((seat, before), after)| self.said(seat, &position_update(before, after)))
                .collect(),
            answered: answered().map(|challenge| self.challenge(challenge)).collect(),
            unanswered: unanswered.join(", "),
            letters: self.messages(|message| message.round == number),
            ..SharedContext::default()
        };
        let shared = self.phase("moderator", ReplyForm::Moderation, &choices, context)?.shared;
        let tail = self.prompts.tail("council/moderator.hbs", &SeatContext::default())?;
        let prompt = Prompt { system: self.system.clone(), shared, tail };
        let schema = Arc::new(ReplyForm::Moderation.schema(&choices));
        let seats = log.debate.brief.seats_of("moderator");
        Ok(seats.map(|seat| new_ask(seat, prompt.clone(), Some(schema.clone()))).collect())
    }

    fn interventions(&self, number: u32, is_wanted: &dyn Fn(usize) -> bool) -> Result<Vec<Ask>, Corrupt> {
        let Some(round) = self.log.round(number) else { return Ok(Vec::new()) };
        let (mut asks, mut index, mut points) = (Vec::new(), 0, 0);
        for planned in &round.interventions {
            points += usize::from(planned.kind == InterventionKind::Groupthink);
            let mut seats = planned.asked(self.log);
            seats.retain(|_| {
                index += 1;
                is_wanted(index - 1)
            });
            if !seats.is_empty() {
                asks.extend(self.intervention(planned, points, &seats)?);
            }
        }
        Ok(asks)
    }

    fn intervention(
        &self,
        planned: &ModeratorIntervention,
        point_number: usize,
        seats: &[&str],
    ) -> Result<Vec<Ask>, Corrupt> {
        let challenge = planned.about.as_deref().and_then(|id| self.log.challenge(id));
        let challenge = challenge.filter(|_| planned.kind == InterventionKind::Evasion);
        let (file, form, about) = match planned.kind {
            InterventionKind::Evasion => ("re_ask", ReplyForm::SecondResponse, planned.about.clone()),
            InterventionKind::Groupthink => {
                ("steelman", ReplyForm::Steelman, Some(format!("point {point_number}")))
            }
            InterventionKind::Stale => ("reframing", ReplyForm::Reframed, None),
        };
        let choices = SchemaChoices {
            challenges: challenge.iter().map(|challenge| challenge.id.clone()).collect(),
            ..SchemaChoices::default()
        };
        let question = self.fence.quote("the question", &planned.question);
        let phase =
            self.phase(file, form, &choices, SharedContext { question, ..SharedContext::default() })?;
        let asks = seats.iter().map(|seat| {
            let mut context = SeatContext {
                point: self.fence.quote("the converging point", &planned.question),
                ..SeatContext::default()
            };
            if let Some(put) = challenge {
                context.challenger = self.log.name(&put.from).to_owned();
                context.id.clone_from(&put.id);
                context.challenge = self.quote(&put.from, &put.text());
                let response = put.response.as_ref();
                context.response = response.map(|response| self.fence.quote("your words", response));
            }
            Ok(Ask { about: about.clone(), ..self.ask(&phase, seat, context, &choices)? })
        });
        asks.collect()
    }

    fn votes(&self, seats: &[&str]) -> Result<Vec<Ask>, Corrupt> {
        let log = self.log;
        let open = log.challenges.iter().filter(|challenge| challenge.fate == ChallengeFate::Open);
        let context = SharedContext {
            complete: log.rounds_completed() == log.options.rounds,
            open: open.map(|challenge| self.challenge(challenge)).collect(),
            ..SharedContext::default()
        };
        let choices = SchemaChoices::default();
        let phase = self.phase("final", ReplyForm::Final, &choices, context)?;
        let asks = seats.iter().map(|seat| {
            let letters = self.messages(|message| message.from == *seat || message.to == *seat);
            self.ask(&phase, seat, SeatContext { letters, ..SeatContext::default() }, &choices)
        });
        asks.collect()
    }

    fn ask(
        &self,
        phase: &PhasePrompt,
        seat: &str,
        context: SeatContext,
        choices: &SchemaChoices,
    ) -> Result<Ask, Corrupt> {
        let member = self.log.members.iter().find(|member| member.seat.id == seat).ok_or(Corrupt::Empty)?;
        let schema = phase.form.schema(choices);
        let own = self.log.standings().get(seat).map(position_text).unwrap_or_default();
        let context = SeatContext {
            role: self.plain_line(&member.role.name),
            charter: self.plain_line(&member.role.charter),
            own: self.fence.quote("your words", &own),
            schema: schema.json.to_string(),
            ..context
        };
        let tail = self.prompts.tail(&format!("council/{}.hbs", phase.file), &context)?;
        let prompt = Prompt { system: self.system.clone(), shared: phase.shared.clone(), tail };
        Ok(new_ask(member.seat, prompt, Some(Arc::new(schema))))
    }

    /// Renders what all seats of a phase read.
    fn phase(
        &self,
        file: &'static str,
        form: ReplyForm,
        choices: &SchemaChoices,
        context: SharedContext,
    ) -> Result<PhasePrompt, Corrupt> {
        let standings = self.log.standings().iter();
        let positions: Vec<QuotedEntry> =
            standings.map(|(seat, standing)| self.said(seat, &position_text(standing))).collect();
        let positions = self.prompts.shared("council/positions.hbs", &json!({"positions": positions}))?;
        let context = SharedContext {
            material: self.prompts.shared("council/material.hbs", &self.material())?.to_string(),
            positions: positions.to_string(),
            rounds: self.log.options.rounds,
            schema: form.schema(choices).json.to_string(),
            ..context
        };
        let shared = self.prompts.shared(&format!("council/{file}.hbs"), &context)?;
        Ok(PhasePrompt { file, form, shared })
    }

    /// The topic, who sits, and everything that was said to everybody so far.
    fn material(&self) -> MaterialContext {
        let (log, brief) = (self.log, &self.log.debate.brief);
        let begun = !log.active.is_empty();
        let member = |member: &CouncilMember<'_>| MemberEntry {
            name: self.plain_line(&member.role.name),
            id: member.seat.id.clone(),
            charter: self.plain_line(&member.role.charter),
            out: begun && member.opening.is_none(),
        };
        let focus = Some(log.options.focus.as_str()).filter(|focus| !focus.trim().is_empty());
        let questions = log.active.iter().filter_map(|seat| {
            let asked = question_lines(log, seat);
            (!asked.is_empty()).then(|| self.said(seat, &asked.join("\n")))
        });
        let interjections = log.debate.interjections.iter();
        MaterialContext {
            topic: self.fence.quote("the topic", &brief.question),
            focus: focus.map(|focus| self.fence.quote("the focus", focus)),
            members: log.members.iter().map(member).collect(),
            questions: questions.collect(),
            rounds: log.rounds.iter().map(|round| self.round(round)).collect(),
            interjections: interjections
                .map(|said| self.fence.quote("the person who asked", &said.text))
                .collect(),
        }
    }

    fn round(&self, round: &CouncilRound<'_>) -> RoundEntry {
        let log = self.log;
        let said = round.said.iter();
        let said = said.map(|(seat, said)| self.said(seat, &examination_text(log, round, seat, said)));
        let absent = log.active.iter().copied().filter(|seat| !round.is_present(seat));
        let interventions = round.interventions.iter().flat_map(|done| {
            done.replies.iter().map(|reply| QuotedEntry {
                kind: done.kind.as_str(),
                to: log.name(&reply.councillor).to_owned(),
                content: self.quote(&reply.councillor, &reply.text),
                ..QuotedEntry::default()
            })
        });
        RoundEntry {
            number: round.number,
            said: said.collect(),
            absent: log.names(absent),
            interventions: interventions.collect(),
        }
    }

    /// How a councillor's challenges were answered.
    fn answers_to(&self, seat: &str) -> Vec<QuotedEntry> {
        let made = self.log.challenges.iter().filter(|challenge| challenge.from == seat);
        let answered = made.filter_map(|challenge| {
            Some(QuotedEntry {
                id: challenge.id.clone(),
                fate: format!("{} ({})", challenge.fate_word(), stance_word(challenge.stance)),
                ..self.said(&challenge.to, challenge.response.as_ref()?)
            })
        });
        answered.collect()
    }

    /// A challenge, with its last answer.
    fn challenge(&self, challenge: &Challenge) -> QuotedEntry {
        let mut entry = self.said(&challenge.from, &challenge.text());
        if let Some(response) = &challenge.response {
            let said = format!("({}) {response}", stance_word(challenge.stance));
            entry.content = format!("{}\nAnswered:\n{}", entry.content, self.quote(&challenge.to, &said));
        }
        let (from, to) = (entry.name.clone(), self.log.name(&challenge.to).to_owned());
        QuotedEntry { id: challenge.id.clone(), from, to, ..entry }
    }

    /// Messages with their answers.
    fn messages(&self, is_wanted: impl Fn(&PeerMessage) -> bool) -> Vec<QuotedEntry> {
        let wanted = self.log.messages.iter().filter(|message| is_wanted(message));
        let entries = wanted.map(|message| {
            let text = format!("About {}: {}", message.topic, message.text);
            let mut content = self.quote(&message.from, &text);
            if let Some(reply) = &message.reply {
                content = format!("{content}\nAnswered:\n{}", self.quote(&message.to, reply));
            }
            QuotedEntry {
                id: message.id.clone(),
                round: message.round,
                from: self.log.name(&message.from).to_owned(),
                to: self.log.name(&message.to).to_owned(),
                content,
                ..QuotedEntry::default()
            }
        });
        entries.collect()
    }

    /// A councillor's words under its name.
    fn said(&self, seat: &str, text: &str) -> QuotedEntry {
        let name = self.log.name(seat).to_owned();
        QuotedEntry { name, content: self.quote(seat, text), ..QuotedEntry::default() }
    }

    fn quote(&self, seat: &str, text: &str) -> String {
        self.fence.quote(self.log.name(seat), text)
    }

    /// The names and ids by which a seat may address the others.
    fn addressees(&self, seats: &[&str], own: &str) -> Vec<String> {
        let mut named: Vec<String> = Vec::new();
        for seat in seats.iter().copied().filter(|seat| *seat != own) {
            for name in [self.log.name(seat), seat] {
                if !named.iter().any(|other| other == name) {
                    named.push(name.to_owned());
                }
            }
        }
        named
    }

    fn quoted_names(&self, seats: &[&str], own: &str) -> String {
        let others = seats.iter().filter(|seat| **seat != own);
        others.map(|seat| format!("\"{}\"", self.log.name(seat))).collect::<Vec<_>>().join(", ")
    }

    /// Words of the user's own roster, on one line.
    fn plain_line(&self, text: &str) -> String {
        self.fence.defuse(&one_line(text))
    }
}

/// The questions of a councillor's opening, with their ids.
pub(super) fn question_lines(log: &CouncilLog<'_>, seat: &str) -> Vec<String> {
    let asked = log.made_by(seat, 0);
    asked.map(|asked| format!("[{}] to {}: {}", asked.id, log.name(&asked.to), asked.question)).collect()
}

/// What a councillor said to everybody in a round. Ids stand before the texts that they name.
fn examination_text(
    log: &CouncilLog<'_>,
    round: &CouncilRound<'_>,
    seat: &str,
    said: &CrossExamination,
) -> String {
    let mut lines = vec!["Challenges:".to_owned()];
    let made = log.made_by(seat, round.number);
    lines.extend(made.map(|made| format!("[{}] to {}: {}", made.id, log.name(&made.to), made.text())));
    let mut responses = round.responses(seat, &log.challenges).peekable();
    if responses.peek().is_some() {
        lines.push("Responses:".into());
    }
    for response in responses {
        let (id, stance) = (&response.challenge_id, response.stance.as_str());
        lines.push(format!("[{id}] ({stance}) {}", response.response.trim()));
    }
    let position = if said.position.trim().is_empty() { "as before" } else { said.position.trim() };
    let changed = match said.changed {
        true => format!("changed because {}", said.because.trim()),
        false => "unchanged".to_owned(),
    };
    lines.push(format!("Position ({changed}): {position}"));
    if !said.new_arguments.is_empty() {
        lines.push("New arguments:".into());
        lines.extend(said.new_arguments.iter().map(|argument| format!("- {}", argument.trim())));
    }
    lines.push(format!("Confidence: {}", said.confidence.as_str()));
    lines.join("\n")
}

/// "{Role}: {position summary}, Key arguments: {numbered list}, Confidence: {level}".
fn position_text(standing: &CouncillorStanding) -> String {
    let mut lines = vec![format!("Position: {}", standing.position), "Key arguments:".into()];
    lines.extend(standing.arguments.iter().zip(1..).map(|(argument, n)| format!("{n}. {}", argument.trim())));
    lines.push(format!("Confidence: {}", standing.confidence.as_str()));
    lines.join("\n")
}

/// A councillor's position before and after a round, as the moderator reads it.
fn position_update(before: &CouncillorStanding, after: &CouncillorStanding) -> String {
    let changed = match (after.carried, after.changed) {
        (_, true) => format!("changed because {}", after.because),
        (true, false) => "absent, so that it is carried forward".to_owned(),
        (false, false) => "no change".to_owned(),
    };
    format!("{}\n\nAfter: {}\nThis is: {changed}", position_text(before), after.position)
}
