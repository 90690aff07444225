//! What each seat is asked in each phase.
//!
//! The topic, the council and the rounds so far come first and only grow, so that a phase's prompt begins like the one before it. Then
//! comes what the phase asks for, and last what only one councillor reads.

use std::sync::Arc;

use agon_core::{Ask, Corrupt, Fence, Prompt};
use serde::Serialize;

use super::challenges::{Challenge, ChallengeFate, stance_word};
use super::log::{CouncilLog, CouncilMember, CouncilRound, CouncillorStanding, PeerMessage};
use super::moderation::{InterventionCause, InterventionKind, ModeratorIntervention};
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
struct PositionsContext {
    positions: Vec<QuotedEntry>,
}

#[derive(Debug, Serialize)]
struct SystemContext {
    rule: String,
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
        let system = prompts.shared("council/system.hbs", &SystemContext { rule: fence.rule() })?;
        Ok(Self { log, prompts, fence, system })
    }

    /// How many calls a phase takes.
    pub(super) fn calls(&self, phase: CouncilPhase, round: u32) -> usize {
        match phase {
            CouncilPhase::Moderate => 1,
            CouncilPhase::Intervene => {
                let round = self.log.round(round).into_iter();
                round.flat_map(|round| &round.interventions).map(|planned| planned.to.len()).sum()
            }
            CouncilPhase::Opening | CouncilPhase::Challenge | CouncilPhase::Exchange | CouncilPhase::Vote => {
                self.places(phase, round).len()
            }
        }
    }

    /// The councillors who are asked in a phase, except by the moderator.
    fn places(&self, phase: CouncilPhase, round: u32) -> Vec<usize> {
        let active = self.log.active.iter().copied();
        match phase {
            CouncilPhase::Opening => (0..self.log.members.len()).collect(),
            CouncilPhase::Exchange => {
                active.filter(|place| self.messages_to(round, Some(*place)).next().is_some()).collect()
            }
            CouncilPhase::Challenge | CouncilPhase::Vote => active.collect(),
            CouncilPhase::Moderate | CouncilPhase::Intervene => Vec::new(),
        }
    }

    /// The asks of a phase, made from what was said before it: all of them, or in economy mode the one at index `only`.
    pub(super) fn asks(
        &self,
        phase: CouncilPhase,
        round: u32,
        only: Option<usize>,
    ) -> Result<Vec<Ask>, Corrupt> {
        let mut places = self.places(phase, round);
        if let Some(only) = only {
            places = places.into_iter().skip(only).take(1).collect();
        }
        match phase {
            CouncilPhase::Opening => self.openings(&places),
            CouncilPhase::Challenge => self.examinations(round, &places),
            CouncilPhase::Exchange => self.exchange(round, &places),
            CouncilPhase::Moderate if only.is_none_or(|only| only == 0) => self.moderation(round),
            CouncilPhase::Moderate => Ok(Vec::new()),
            CouncilPhase::Intervene => self.interventions(round, only),
            CouncilPhase::Vote => self.votes(&places),
        }
    }

    fn openings(&self, places: &[usize]) -> Result<Vec<Ask>, Corrupt> {
        let all: Vec<usize> = (0..self.log.members.len()).collect();
        let choices = |own| SchemaChoices { councillors: self.addressees(&all, own), ..SchemaChoices::default() };
        let shared = self.shared("opening", ReplyForm::Opening, &choices(None), SharedContext::default())?;
        let asks = places.iter().map(|place| {
            let seat = SeatContext { others: self.quoted_names(&all, *place), ..SeatContext::default() };
            self.ask("opening", *place, &shared, seat, ReplyForm::Opening, &choices(Some(*place)))
        });
        asks.collect()
    }

    fn examinations(&self, round: u32, places: &[usize]) -> Result<Vec<Ask>, Corrupt> {
        let log = self.log;
        let exchanges = if log.options.economy { 0 } else { log.options.exchanges };
        let due = |place: Option<usize>| -> Vec<&Challenge> {
            let due = log.challenges.iter().filter(|challenge| challenge.is_due(round));
            let due = due.filter(|challenge| log.active.contains(&challenge.to));
            due.filter(|challenge| place.is_none_or(|place| challenge.to == place)).collect()
        };
        let choices = |own: Option<usize>| SchemaChoices {
            councillors: self.addressees(&log.active, own),
            challenges: due(own).into_iter().map(Challenge::id).collect(),
            messages_max: u32::try_from(exchanges).unwrap_or(u32::MAX),
            ..SchemaChoices::default()
        };
        let context = SharedContext { round, exchange: exchanges > 0, exchanges, ..SharedContext::default() };
        let shared = self.shared("challenge", ReplyForm::Examination, &choices(None), context)?;
        let asks = places.iter().map(|place| {
            let seat = SeatContext {
                others: self.quoted_names(&log.active, *place),
                answered: self.answers_to(*place),
                letters: self.messages(|message| message.from == *place || message.to == *place),
                challenges: due(Some(*place)).into_iter().map(|challenge| self.challenge(challenge)).collect(),
                ..SeatContext::default()
            };
            self.ask("challenge", *place, &shared, seat, ReplyForm::Examination, &choices(Some(*place)))
        });
        asks.collect()
    }

    /// The recipients of messages answer them.
    fn exchange(&self, round: u32, places: &[usize]) -> Result<Vec<Ask>, Corrupt> {
        let choices = |own: Option<usize>| SchemaChoices {
            messages: self.messages_to(round, own).map(PeerMessage::id).collect(),
            ..SchemaChoices::default()
        };
        let context = SharedContext { round, ..SharedContext::default() };
        let shared = self.shared("exchange", ReplyForm::Correspondence, &choices(None), context)?;
        let asks = places.iter().map(|place| {
            let letters = self.messages(|message| message.round == round && message.to == *place);
            let seat = SeatContext { letters, ..SeatContext::default() };
            self.ask("exchange", *place, &shared, seat, ReplyForm::Correspondence, &choices(Some(*place)))
        });
        asks.collect()
    }

    /// One call for everything in a round that needs judgement.
    fn moderation(&self, number: u32) -> Result<Vec<Ask>, Corrupt> {
        let log = self.log;
        let Some(round) = log.round(number) else { return Ok(Vec::new()) };
        let answered = || log.challenges.iter().filter(|challenge| challenge.is_answered_in(number));
        let choices = SchemaChoices {
            councillors: self.addressees(&log.active, None),
            challenges: answered().map(Challenge::id).collect(),
            ..SchemaChoices::default()
        };
        let updates = log.active.iter().map(|place| self.said(*place, &position_update(round, *place)));
        let unanswered = round.unanswered.iter().filter_map(|index| log.challenges.get(*index));
        let unanswered: Vec<String> = unanswered.map(|challenge| format!("[{}]", challenge.id())).collect();
        let context = SharedContext {
            round: number,
            updates: updates.collect(),
            answered: answered().map(|challenge| self.challenge(challenge)).collect(),
            unanswered: unanswered.join(", "),
            letters: self.messages(|message| message.round == number),
            ..SharedContext::default()
        };
        let shared = self.shared("moderator", ReplyForm::Moderation, &choices, context)?;
        let tail = self.prompts.tail("council/moderator.hbs", &SeatContext::default())?;
        let prompt = Prompt { system: self.system.clone(), shared, tail };
        let schema = Arc::new(ReplyForm::Moderation.schema(&choices));
        let seats = log.debate.brief.seats_of("moderator");
        Ok(seats.map(|seat| new_ask(seat, prompt.clone(), Some(schema.clone()))).collect())
    }

    fn interventions(&self, number: u32, only: Option<usize>) -> Result<Vec<Ask>, Corrupt> {
        let Some(round) = self.log.round(number) else { return Ok(Vec::new()) };
        let (mut asks, mut first, mut points) = (Vec::new(), 0, 0);
        for planned in &round.interventions {
            points += usize::from(planned.kind() == InterventionKind::Groupthink);
            let wanted = planned.to.iter().zip(first..).filter(|(_, index)| only.is_none_or(|only| only == *index));
            let places: Vec<usize> = wanted.map(|(place, _)| *place).collect();
            first += planned.to.len();
            if !places.is_empty() {
                asks.extend(self.intervention(planned, points, &places)?);
            }
        }
        Ok(asks)
    }

    fn intervention(
        &self,
        planned: &ModeratorIntervention,
        point_number: usize,
        places: &[usize],
    ) -> Result<Vec<Ask>, Corrupt> {
        let mut choices = SchemaChoices::default();
        let mut challenge = None;
        let (file, form, about) = match &planned.cause {
            InterventionCause::Evasion { challenge: index, .. } => {
                let Some(put) = self.log.challenges.get(*index) else { return Ok(Vec::new()) };
                choices.challenges = vec![put.id()];
                challenge = Some(put);
                ("re_ask", ReplyForm::SecondResponse, Some(put.id()))
            }
            InterventionCause::Groupthink { .. } => {
                ("steelman", ReplyForm::Steelman, Some(format!("point {point_number}")))
            }
            InterventionCause::Stale => ("reframing", ReplyForm::Reframed, None),
        };
        let question = self.fence.quote("the question", &planned.question);
        let shared = self.shared(file, form, &choices, SharedContext { question, ..SharedContext::default() })?;
        let asks = places.iter().map(|place| {
            let mut seat = SeatContext {
                point: self.fence.quote("the converging point", &planned.question),
                ..SeatContext::default()
            };
            if let Some(put) = challenge {
                seat.challenger = self.log.name(put.from).to_owned();
                seat.id = put.id();
                seat.challenge = self.quote(put.from, &put.text());
                seat.response =
                    put.last_answer().map(|answer| self.fence.quote("your words", &answer.response));
            }
            let ask = self.ask(file, *place, &shared, seat, form, &choices)?;
            Ok(Ask { about: about.clone(), ..ask })
        });
        asks.collect()
    }

    fn votes(&self, places: &[usize]) -> Result<Vec<Ask>, Corrupt> {
        let log = self.log;
        let open = log.challenges.iter().filter(|challenge| challenge.fate(true) == ChallengeFate::Open);
        let context = SharedContext {
            complete: log.rounds_completed() == log.options.rounds,
            open: open.map(|challenge| self.challenge(challenge)).collect(),
            ..SharedContext::default()
        };
        let choices = SchemaChoices::default();
        let shared = self.shared("final", ReplyForm::Final, &choices, context)?;
        let asks = places.iter().map(|place| {
            let letters = self.messages(|message| message.from == *place || message.to == *place);
            let seat = SeatContext { letters, ..SeatContext::default() };
            self.ask("final", *place, &shared, seat, ReplyForm::Final, &choices)
        });
        asks.collect()
    }

    fn ask(
        &self,
        file: &str,
        place: usize,
        shared: &Arc<str>,
        seat: SeatContext,
        form: ReplyForm,
        choices: &SchemaChoices,
    ) -> Result<Ask, Corrupt> {
        let member = self.log.members.get(place).ok_or(Corrupt::Empty)?;
        let schema = form.schema(choices);
        let own = self.log.standings().get(place).map(position_text).unwrap_or_default();
        let seat = SeatContext {
            role: self.plain_line(&member.role.name),
            charter: self.plain_line(&member.role.charter),
            own: self.fence.quote("your words", &own),
            schema: schema.json.to_string(),
            ..seat
        };
        let tail = self.prompts.tail(&format!("council/{file}.hbs"), &seat)?;
        let prompt = Prompt { system: self.system.clone(), shared: shared.clone(), tail };
        Ok(new_ask(member.seat, prompt, Some(Arc::new(schema))))
    }

    /// What all seats of a phase read.
    fn shared(
        &self,
        file: &str,
        form: ReplyForm,
        choices: &SchemaChoices,
        context: SharedContext,
    ) -> Result<Arc<str>, Corrupt> {
        let log = self.log;
        let positions = log.active.iter().filter_map(|place| {
            let said = position_text(log.standings().get(*place)?);
            Some(self.said(*place, &said))
        });
        let positions = PositionsContext { positions: positions.collect() };
        let context = SharedContext {
            material: self.prompts.shared("council/material.hbs", &self.material())?.to_string(),
            positions: self.prompts.shared("council/positions.hbs", &positions)?.to_string(),
            rounds: log.options.rounds,
            schema: form.schema(choices).json.to_string(),
            ..context
        };
        self.prompts.shared(&format!("council/{file}.hbs"), &context)
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
        let questions = log.active.iter().filter_map(|place| {
            let asked = question_lines(log, *place);
            (!asked.is_empty()).then(|| self.said(*place, &asked.join("\n")))
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

    fn round(&self, round: &CouncilRound) -> RoundEntry {
        let log = self.log;
        let said = log.active.iter().filter_map(|place| {
            let said = examination_text(log, round, *place)?;
            Some(self.said(*place, &said))
        });
        let absent = log.active.iter().copied().filter(|place| !round.is_present(*place));
        let interventions = round.interventions.iter().flat_map(|done| {
            done.heard().map(|(place, reply)| QuotedEntry {
                kind: done.kind().as_str(),
                to: log.name(place).to_owned(),
                content: self.quote(place, &done.reply_text(reply)),
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
    fn answers_to(&self, place: usize) -> Vec<QuotedEntry> {
        let made = self.log.challenges.iter().filter(|challenge| challenge.from == place);
        let answered = made.filter_map(|challenge| {
            let answer = challenge.last_answer()?;
            Some(QuotedEntry {
                id: challenge.id(),
                fate: format!("{} ({})", challenge.fate(false).as_str(), stance_word(answer.stance)),
                ..self.said(challenge.to, &answer.response)
            })
        });
        answered.collect()
    }

    /// A challenge, with its last answer.
    fn challenge(&self, challenge: &Challenge) -> QuotedEntry {
        let mut entry = self.said(challenge.from, &challenge.text());
        if let Some(answer) = challenge.last_answer() {
            let said = format!("({}) {}", stance_word(answer.stance), answer.response);
            entry.content = format!("{}\nAnswered:\n{}", entry.content, self.quote(challenge.to, &said));
        }
        let (from, to) = (entry.name.clone(), self.log.name(challenge.to).to_owned());
        QuotedEntry { id: challenge.id(), from, to, ..entry }
    }

    /// Messages with their answers.
    fn messages(&self, is_wanted: impl Fn(&PeerMessage) -> bool) -> Vec<QuotedEntry> {
        let wanted = self.log.messages.iter().filter(|message| is_wanted(message));
        let entries = wanted.map(|message| {
            let text = format!("About {}: {}", message.topic, message.text);
            let mut content = self.quote(message.from, &text);
            if let Some(reply) = &message.reply {
                content = format!("{content}\nAnswered:\n{}", self.quote(message.to, reply));
            }
            QuotedEntry {
                id: message.id(),
                round: message.round,
                from: self.log.name(message.from).to_owned(),
                to: self.log.name(message.to).to_owned(),
                content,
                ..QuotedEntry::default()
            }
        });
        entries.collect()
    }

    /// The messages of a round, to everybody or to one.
    fn messages_to(&self, round: u32, to: Option<usize>) -> impl Iterator<Item = &PeerMessage> {
        let sent = self.log.messages.iter().filter(move |message| message.round == round);
        sent.filter(move |message| to.is_none_or(|to| message.to == to))
    }

    /// A councillor's words under its name.
    fn said(&self, place: usize, text: &str) -> QuotedEntry {
        QuotedEntry {
            name: self.log.name(place).to_owned(),
            content: self.quote(place, text),
            ..QuotedEntry::default()
        }
    }

    fn quote(&self, place: usize, text: &str) -> String {
        self.fence.quote(self.log.name(place), text)
    }

    /// The names and ids by which a seat may address others.
    fn addressees(&self, places: &[usize], own: Option<usize>) -> Vec<String> {
        let mut named: Vec<String> = Vec::new();
        for place in places.iter().copied().filter(|place| Some(*place) != own) {
            for name in [self.log.name(place).to_owned(), self.log.id(place)] {
                if !named.contains(&name) {
                    named.push(name);
                }
            }
        }
        named
    }

    fn quoted_names(&self, places: &[usize], own: usize) -> String {
        let others = places.iter().filter(|place| **place != own);
        others.map(|place| format!("\"{}\"", self.log.name(*place))).collect::<Vec<_>>().join(", ")
    }

    /// Words of the user's own roster, on one line.
    fn plain_line(&self, text: &str) -> String {
        self.fence.defuse(&one_line(text))
    }
}

/// The questions of a councillor's opening, with their ids.
pub(super) fn question_lines(log: &CouncilLog<'_>, place: usize) -> Vec<String> {
    let asked = log.made_by(place, 0);
    asked.map(|asked| format!("[{}] to {}: {}", asked.id(), log.name(asked.to), asked.question)).collect()
}

/// What a councillor said to everybody in a round. Ids stand before the texts that they name.
fn examination_text(log: &CouncilLog<'_>, round: &CouncilRound, place: usize) -> Option<String> {
    let said = round.said.get(place)?.as_ref()?;
    let mut lines = vec!["Challenges:".to_owned()];
    let made = log.made_by(place, round.number);
    lines.extend(made.map(|made| format!("[{}] to {}: {}", made.id(), log.name(made.to), made.text())));
    let mut responses = round.responses(place, &log.challenges).peekable();
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
    Some(lines.join("\n"))
}

/// "{Role}: {position summary}, Key arguments: {numbered list}, Confidence: {level}".
fn position_text(standing: &CouncillorStanding) -> String {
    let mut lines = vec![format!("Position: {}", standing.position), "Key arguments:".into()];
    lines.extend(standing.arguments.iter().zip(1..).map(|(argument, n)| format!("{n}. {}", argument.trim())));
    let confidence = standing.confidence.map_or("", |confidence| confidence.as_str());
    lines.push(format!("Confidence: {confidence}"));
    lines.join("\n")
}

/// A councillor's position before and after a round, as the moderator reads it.
fn position_update(round: &CouncilRound, place: usize) -> String {
    let (Some(before), Some(after)) = (round.before.get(place), round.after.get(place)) else {
        return String::new();
    };
    let changed = match (after.carried, after.changed) {
        (_, true) => format!("changed because {}", after.because),
        (true, false) => "absent, so that it is carried forward".to_owned(),
        (false, false) => "no change".to_owned(),
    };
    format!("{}\n\nAfter: {}\nThis is: {changed}", position_text(before), after.position)
}
