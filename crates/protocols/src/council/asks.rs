//! What each seat is asked in each phase.
//!
//! The topic, the council and the rounds so far come first and only grow, so that a phase's prompt begins like the one before it. Then
//! come the current positions and what the phase asks for, and last what only one councillor reads.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_core::{Ask, Corrupt, Prompt};
use serde::Serialize;

use super::log::{
    Challenge, ChallengeFate, CouncilLog, CouncilRound, CouncillorStanding, PeerMessage, has_words, one_line,
    texts_of,
};
use super::moderation::{self, InterventionKind, ModeratorIntervention, id_list};
use super::replies::{ReplyForm, SchemaChoices};
use super::verdict::{StatedTerm, decide, stated_conditions, stated_risks};
use super::{CouncilPhase, prompts};
use crate::prompt::{PromptSet, new_ask};
use crate::quotes::is_same_text;

/// Makes the asks of one debate.
pub(super) struct AskBuilder<'a> {
    log: &'a CouncilLog<'a>,
    prompts: &'static PromptSet,
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
    round: u32,
    rounds: u32,
    /// How many messages are asked for; empty where there are none.
    exchanges: String,
    is_complete: bool,
    question: String,
    unanswered: String,
    judged: String,
    second: String,
    before: Vec<QuotedEntry>,
    messages: Vec<QuotedEntry>,
    has_messages: bool,
    votes: Vec<QuotedEntry>,
    steelmanned: Vec<String>,
    open: Vec<QuotedEntry>,
    finals: Vec<QuotedEntry>,
    conditions: Vec<QuotedEntry>,
    risks: Vec<QuotedEntry>,
    has_terms: bool,
    can_conflict: bool,
    decision: String,
    is_divided: bool,
}

/// What a template shows to one seat.
#[derive(Debug, Default, Serialize)]
struct SeatContext {
    role: String,
    others: String,
    vote: &'static str,
    /// Messages that the seat sent or has answered.
    earlier: Vec<QuotedEntry>,
    messages: Vec<QuotedEntry>,
    challenges: Vec<QuotedEntry>,
    challenge: QuotedEntry,
    /// Whether the challenge quotes no claim.
    is_question: bool,
    response: Option<String>,
    why: Option<String>,
    point: String,
    shown: String,
}

/// What everybody has read so far.
#[derive(Debug, Serialize)]
struct MaterialContext {
    topic: String,
    focus: Option<String>,
    members: Vec<MemberEntry>,
    rounds: Vec<RoundEntry>,
    interjections: Vec<String>,
}

#[derive(Debug, Serialize)]
struct MemberEntry {
    name: String,
    charter: String,
    is_out: bool,
}

#[derive(Debug, Serialize)]
struct RoundEntry {
    number: u32,
    said: Vec<QuotedEntry>,
    interventions: Vec<QuotedEntry>,
}

/// Quoted words, with what a template says of them.
#[derive(Debug, Default, Serialize)]
struct QuotedEntry {
    id: String,
    name: String,
    to: String,
    note: String,
    content: String,
    answer: Option<String>,
}

impl<'a> AskBuilder<'a> {
    pub(super) fn new(log: &'a CouncilLog<'a>) -> Result<Self, Corrupt> {
        let prompts = prompts()?;
        let system = prompts.shared("council/system.hbs", &BTreeMap::from([("rule", log.texts.rule())]))?;
        Ok(Self { log, prompts, system })
    }

    /// The asks of a phase, in order, made from what was said before it.
    pub(super) fn asks(&self, phase: CouncilPhase, round: u32) -> Result<Vec<Ask>, Corrupt> {
        match phase {
            CouncilPhase::Opening => self.openings(),
            CouncilPhase::Challenge => self.examinations(round),
            CouncilPhase::Respond => self.responses(round),
            CouncilPhase::Moderate => self.moderation(round),
            CouncilPhase::Intervene => self.interventions(round),
            CouncilPhase::Vote => self.votes(),
            CouncilPhase::Conclude => self.conclusion(),
        }
    }

    fn openings(&self) -> Result<Vec<Ask>, Corrupt> {
        let all: Vec<&str> = self.log.members.iter().map(|member| member.seat.id.as_str()).collect();
        let phase = self.phase("opening", ReplyForm::Opening, 0, SharedContext::default())?;
        let asks = all.iter().map(|seat| {
            let choices = SchemaChoices { councillors: self.addressees(&all, seat), ..Default::default() };
            let context = SeatContext { others: self.quoted_names(&all, seat), ..Default::default() };
            self.ask(&phase, seat, context, &choices)
        });
        asks.collect()
    }

    fn examinations(&self, round: u32) -> Result<Vec<Ask>, Corrupt> {
        let log = self.log;
        let exchanges = if log.options.economy { 0 } else { log.options.exchanges };
        let asked = match exchanges {
            0 => String::new(),
            1 => "1 message".to_owned(),
            most => format!("1 to {most} messages"),
        };
        let phase = self.phase(
            "challenge",
            ReplyForm::Examination,
            round,
            SharedContext { exchanges: asked, open: self.opening_questions(), ..Default::default() },
        )?;
        let asks = log.active.iter().map(|seat| {
            let councillors = self.addressees(&log.active, seat);
            let recipients = if exchanges > 0 { councillors.clone() } else { Vec::new() };
            let context = SeatContext {
                others: self.quoted_names(&log.active, seat),
                messages: self.messages(|message| message.from == *seat || message.to == *seat),
                ..SeatContext::default()
            };
            let choices = SchemaChoices { councillors, recipients, ..SchemaChoices::default() };
            self.ask(&phase, seat, context, &choices)
        });
        asks.collect()
    }

    fn responses(&self, round: u32) -> Result<Vec<Ask>, Corrupt> {
        let shared =
            SharedContext { has_messages: !self.log.messages.is_empty(), ..SharedContext::default() };
        let phase = self.phase("respond", ReplyForm::Response, round, shared)?;
        let asks = self.log.active.iter().map(|seat| {
            let due = || self.log.challenges.iter().filter(|put| put.is_due(round) && put.to == *seat);
            let is_due = |message: &PeerMessage| message.round == round && message.to == *seat;
            let messages = || self.log.messages.iter().filter(|message| is_due(message));
            let vote = self.log.standings().get(seat).map_or("", |held| held.vote.as_str());
            let context = SeatContext {
                vote,
                challenges: due().map(|put| self.challenge(put)).collect(),
                earlier: self
                    .messages(|message| (message.from == *seat || message.to == *seat) && !is_due(message)),
                messages: self.messages(is_due),
                ..SeatContext::default()
            };
            let choices = SchemaChoices {
                challenges: due().map(|put| put.id.clone()).collect(),
                messages: messages().map(|message| message.id.clone()).collect(),
                ..SchemaChoices::default()
            };
            self.ask(&phase, seat, context, &choices)
        });
        asks.collect()
    }

    /// One call for everything in a round that needs judgement.
    fn moderation(&self, number: u32) -> Result<Vec<Ask>, Corrupt> {
        let log = self.log;
        let Some(round) = log.round(number) else { return Ok(Vec::new()) };
        let judged = || log.challenges.iter().filter(|put| put.is_judged_in(number));
        let is_second = |put: &&Challenge| put.re_asked.is_some_and(|again| again < number);
        let done = log.rounds.iter().flat_map(|round| &round.interventions);
        let steelmanned = done.filter_map(ModeratorIntervention::steelmanned_point);
        let superseded = round.before.iter().filter_map(|(seat, before)| {
            Some(self.said(seat, &superseded_text(before, round.after.get(seat)?)?))
        });
        let context = SharedContext {
            judged: id_list(judged().filter(|put| !is_second(put)).map(|put| put.id.as_str())),
            second: id_list(judged().filter(is_second).map(|put| put.id.as_str())),
            unanswered: id_list(round.unanswered.iter().map(String::as_str)),
            before: superseded.collect(),
            messages: self.messages(|_| true),
            votes: round.after.iter().map(|(seat, held)| self.provisional_vote(round, seat, held)).collect(),
            steelmanned: steelmanned.map(|point| log.texts.quote("the point", point)).collect(),
            ..SharedContext::default()
        };
        let choices = SchemaChoices {
            councillors: self.addressees(&log.active, ""),
            challenges: judged().map(|put| put.id.clone()).collect(),
            all_challenges: log.challenges.iter().map(|put| put.id.clone()).collect(),
            exchanges: moderation::key_exchange_ids(log, number),
            ..SchemaChoices::default()
        };
        self.moderator_asks("moderator", ReplyForm::Moderation, number, context, &choices)
    }

    /// The moderator's call after the votes.
    fn conclusion(&self) -> Result<Vec<Ask>, Corrupt> {
        let log = self.log;
        let (conditions, risks, last) = (stated_conditions(log), stated_risks(log), log.options.rounds);
        let decision = decide(&log.votes(), log.quorum());
        let second = || log.challenges.iter().filter(|put| put.is_judged_in(last + 1));
        let finals = log.finals.iter().map(|(seat, said)| {
            let mut lines = vec![
                said.final_position.trim().to_owned(),
                format!("Key argument: {}", said.key_argument.trim()),
            ];
            if has_words(&said.remaining_concern) {
                lines.push(format!("Remaining concern: {}", said.remaining_concern.trim()));
            }
            QuotedEntry { note: said.vote.as_str().to_owned(), ..self.said(seat, &lines.join("\n")) }
        });
        let can_conflict =
            conditions.iter().any(|term| conditions.iter().any(|other| other.seat != term.seat));
        let context = SharedContext {
            finals: finals.collect(),
            can_conflict,
            conditions: conditions.iter().map(|term| self.condition(term)).collect(),
            risks: risks.iter().map(|term| self.risk(term)).collect(),
            has_terms: !conditions.is_empty() || !risks.is_empty(),
            decision: decision.map_or(String::new(), |decided| decided.words()),
            is_divided: decision.is_some_and(|decided| decided.divided),
            second: id_list(second().map(|put| put.id.as_str())),
            ..SharedContext::default()
        };
        let voters: Vec<&str> = log.finals.keys().copied().collect();
        let choices = SchemaChoices {
            councillors: self.addressees(&voters, ""),
            challenges: second().map(|put| put.id.clone()).collect(),
            terms: conditions.iter().chain(&risks).map(|term| term.id.clone()).collect(),
            conditions: conditions.iter().filter(|_| can_conflict).map(|term| term.id.clone()).collect(),
            ..SchemaChoices::default()
        };
        self.moderator_asks("conclusion", ReplyForm::Conclusion, last, context, &choices)
    }

    /// A councillor's provisional vote after a round, and the one before if it is another.
    fn provisional_vote(
        &self,
        round: &CouncilRound<'_>,
        seat: &str,
        held: &CouncillorStanding,
    ) -> QuotedEntry {
        let before = round.before.get(seat).filter(|before| before.vote != held.vote);
        let before = before.map_or_else(String::new, |before| {
            format!(" (before round {}: {})", round.number, before.vote.as_str())
        });
        let note = format!("{}{before}", held.vote.as_str());
        QuotedEntry { name: self.log.name(seat).to_owned(), note, ..QuotedEntry::default() }
    }

    /// A condition, with what it is a condition of where that is not the start.
    fn condition(&self, term: &StatedTerm<'_>) -> QuotedEntry {
        let against = self.log.finals.get(term.seat).filter(|last| !last.vote.is_in_favour());
        let note = against.map_or_else(String::new, |last| {
            format!(" (voted {}: wanted before a new vote)", last.vote.as_str())
        });
        QuotedEntry { id: term.id.clone(), note, ..self.said(term.seat, term.text) }
    }

    /// A risk, with its severity and probability and what would make it smaller.
    fn risk(&self, term: &StatedTerm<'_>) -> QuotedEntry {
        let stated = term.stated_risk(self.log);
        let note = stated.map_or_else(String::new, |stated| {
            let (severity, probability) = (stated.severity.as_str(), stated.probability.as_str());
            format!("severity {severity}, probability {probability}")
        });
        let mitigation = stated.map(|stated| stated.mitigation.trim()).filter(|text| has_words(text));
        let mitigation = mitigation.map_or_else(String::new, |text| format!("\nMitigation: {text}"));
        let text = format!("{}{mitigation}", term.text);
        QuotedEntry { id: term.id.clone(), note, ..self.said(term.seat, &text) }
    }

    fn moderator_asks(
        &self,
        file: &'static str,
        form: ReplyForm,
        round: u32,
        context: SharedContext,
        choices: &SchemaChoices,
    ) -> Result<Vec<Ask>, Corrupt> {
        let shared = self.phase(file, form, round + 1, SharedContext { round, ..context })?.shared;
        let tail = self.prompts.tail(&format!("council/{file}.hbs"), &SeatContext::default())?;
        let prompt = Prompt { system: self.system.clone(), shared, tail };
        let schema = Arc::new(form.schema(choices));
        let seats = self.log.debate.brief.seats_of("moderator");
        Ok(seats.map(|seat| new_ask(seat, prompt.clone(), Some(schema.clone()))).collect())
    }

    fn interventions(&self, number: u32) -> Result<Vec<Ask>, Corrupt> {
        let (mut asks, mut points) = (Vec::new(), 0);
        for planned in self.log.round(number).into_iter().flat_map(|round| &round.interventions) {
            points += usize::from(planned.kind == InterventionKind::Groupthink);
            asks.extend(self.intervention(planned, points)?);
        }
        Ok(asks)
    }

    fn intervention(
        &self,
        planned: &ModeratorIntervention,
        point_number: usize,
    ) -> Result<Vec<Ask>, Corrupt> {
        let challenge = planned.about.as_deref().and_then(|id| self.log.challenge(id));
        let challenge = challenge.filter(|_| planned.kind == InterventionKind::Evasion);
        let (file, form, about) = match planned.kind {
            InterventionKind::Evasion => ("re_ask", ReplyForm::SecondResponse, planned.about.clone()),
            InterventionKind::Groupthink => {
                ("steelman", ReplyForm::Steelman, Some(format!("point {point_number}")))
            }
            InterventionKind::Stale => ("reframing", ReplyForm::Reframing, None),
        };
        let choices = SchemaChoices {
            challenges: challenge.iter().map(|challenge| challenge.id.clone()).collect(),
            has_claim: challenge.is_some_and(|challenge| !challenge.claim.is_empty()),
            ..SchemaChoices::default()
        };
        let quoted = self.log.texts.quote("the moderator", &planned.question);
        let context = SharedContext { question: quoted.clone(), ..SharedContext::default() };
        let phase = self.phase(file, form, planned.round + 1, context)?;
        let asks = planned.asked(self.log).into_iter().map(|seat| {
            let shown = self.log.texts.quote("what shows it", &planned.quote);
            let mut context = SeatContext { point: quoted.clone(), shown, ..SeatContext::default() };
            if let Some(put) = challenge {
                let why = planned.why.as_deref().filter(|why| has_words(why));
                context.why = why.map(|why| self.log.texts.quote("the moderator", why));
                (context.challenge, context.is_question) = (self.challenge(put), put.claim.is_empty());
                context.response = put.response.as_deref().map(|response| self.log.texts.own_words(response));
            }
            Ok(Ask { about: about.clone(), ..self.ask(&phase, seat, context, &choices)? })
        });
        asks.collect()
    }

    fn votes(&self) -> Result<Vec<Ask>, Corrupt> {
        let log = self.log;
        let open = log.challenges.iter().filter(|challenge| challenge.fate == ChallengeFate::Open);
        let context = SharedContext {
            is_complete: log.rounds_completed() == log.options.rounds,
            open: open.map(|challenge| self.challenge(challenge)).collect(),
            ..SharedContext::default()
        };
        let phase = self.phase("final", ReplyForm::Final, log.options.rounds + 1, context)?;
        let asks = log.active.iter().map(|seat| {
            let vote = log.standings().get(seat).map_or("", |held| held.vote.as_str());
            let messages = self.messages(|message| message.from == *seat || message.to == *seat);
            let context = SeatContext { vote, messages, ..Default::default() };
            self.ask(&phase, seat, context, &SchemaChoices::default())
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
        let context = SeatContext { role: self.plain_line(&member.role.name), ..context };
        let tail = self.prompts.tail(&format!("council/{}.hbs", phase.file), &context)?;
        let prompt = Prompt { system: self.system.clone(), shared: phase.shared.clone(), tail };
        Ok(new_ask(member.seat, prompt, Some(Arc::new(phase.form.schema(choices)))))
    }

    /// Renders what all seats of a phase read. The transcript has the rounds before `round`.
    fn phase(
        &self,
        file: &'static str,
        form: ReplyForm,
        round: u32,
        context: SharedContext,
    ) -> Result<PhasePrompt, Corrupt> {
        let standings = self.log.standings().iter();
        let positions: Vec<QuotedEntry> =
            standings.map(|(seat, standing)| self.said(seat, &position_text(standing))).collect();
        let positions =
            self.prompts.shared("council/positions.hbs", &BTreeMap::from([("positions", positions)]))?;
        let context = SharedContext {
            material: self.prompts.shared("council/material.hbs", &self.material(round))?.to_string(),
            positions: positions.to_string(),
            round: if context.round > 0 { context.round } else { round },
            rounds: self.log.options.rounds,
            ..context
        };
        let shared = self.prompts.shared(&format!("council/{file}.hbs"), &context)?;
        Ok(PhasePrompt { file, form, shared })
    }

    /// The topic, the councillors, and what was said to everybody in the rounds before `round`.
    fn material(&self, round: u32) -> MaterialContext {
        let (log, brief) = (self.log, &self.log.debate.brief);
        let members = log.members.iter().map(|member| MemberEntry {
            name: self.plain_line(&member.role.name),
            charter: self.plain_line(&member.role.charter),
            is_out: !log.active.is_empty() && round > 0 && member.opening.is_none(),
        });
        let focus = Some(log.options.focus.as_str()).filter(|focus| has_words(focus));
        let rounds = log.rounds.iter().filter(|earlier| earlier.number < round);
        let interjections = log.debate.interjections.iter();
        MaterialContext {
            topic: log.texts.person(&brief.question),
            focus: focus.map(|focus| log.texts.person(focus)),
            members: members.collect(),
            rounds: rounds.map(|round| self.round(round)).collect(),
            interjections: interjections.map(|said| log.texts.person(&said.text)).collect(),
        }
    }

    fn round(&self, round: &CouncilRound<'_>) -> RoundEntry {
        let log = self.log;
        let said = log.active.iter().filter_map(|seat| {
            let lines = round_lines(log, round, seat);
            (!lines.is_empty()).then(|| self.said(seat, &lines.join("\n")))
        });
        let interventions = round.interventions.iter().flat_map(|done| {
            done.replies.iter().map(|reply| QuotedEntry {
                note: match done.kind {
                    InterventionKind::Evasion => {
                        let id = done.about.as_deref().unwrap_or_default();
                        format!("was asked again, because [{id}] had no direct answer")
                    }
                    InterventionKind::Groupthink => "was asked to argue the opposite; apart from \"What would change my mind\", these are not its own claims".to_owned(),
                    InterventionKind::Stale => {
                        format!("was asked: {}", log.texts.shown(&one_line(&done.question)))
                    }
                },
                ..self.said(&reply.councillor, &reply.text)
            })
        });
        RoundEntry { number: round.number, said: said.collect(), interventions: interventions.collect() }
    }

    /// The questions of the openings, as long as no round has put them to those who answer.
    fn opening_questions(&self) -> Vec<QuotedEntry> {
        let asked = self.log.challenges.iter().filter(|_| self.log.rounds.is_empty());
        asked.map(|put| self.challenge(put)).collect()
    }

    fn challenge(&self, challenge: &Challenge) -> QuotedEntry {
        let to = self.log.name(&challenge.to).to_owned();
        QuotedEntry { id: challenge.id.clone(), to, ..self.said(&challenge.from, &challenge.text()) }
    }

    /// Messages with their replies.
    fn messages(&self, is_wanted: impl Fn(&PeerMessage) -> bool) -> Vec<QuotedEntry> {
        let wanted = self.log.messages.iter().filter(|message| is_wanted(message));
        let entries = wanted.map(|message| {
            let to = self.log.name(&message.to);
            let answer = message.reply.as_deref().map(|reply| self.log.texts.quote(to, reply));
            let text = format!("{}: {}", message.topic, message.text);
            QuotedEntry {
                id: message.id.clone(),
                to: to.to_owned(),
                note: message.round.to_string(),
                answer,
                ..self.said(&message.from, &text)
            }
        });
        entries.collect()
    }

    /// A councillor's words under its name.
    fn said(&self, seat: &str, text: &str) -> QuotedEntry {
        let name = self.log.name(seat).to_owned();
        QuotedEntry { content: self.log.texts.quote(&name, text), name, ..QuotedEntry::default() }
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
        self.log.texts.shown(&one_line(text))
    }
}

/// What a councillor said to everybody in a round. Ids stand before the texts that they name. The questions of the openings are
/// answered in round 1 and stand there.
fn round_lines(log: &CouncilLog<'_>, round: &CouncilRound<'_>, seat: &str) -> Vec<String> {
    let opening = log.made_by(seat, 0).filter(|_| round.number == 1);
    let made = opening.chain(log.made_by(seat, round.number));
    let mut lines: Vec<String> =
        made.map(|made| format!("[{}] to {}: {}", made.id, log.name(&made.to), made.text())).collect();
    for put in log.challenges.iter().filter(|put| put.to == seat) {
        if let Some(answer) = put.answer_in(round.number) {
            lines.push(format!("Answer to [{}] ({}): {}", put.id, answer.stance_word(), answer.response));
        }
    }
    if let Some(held) = round.after.get(seat).filter(|held| has_words(&held.because)) {
        let changed = if held.changed { "Changed its position because" } else { "Kept its position because" };
        lines.push(format!("{changed}: {}", held.because));
    }
    // A new argument is a key argument, too, and stands with the position.
    let is_key = |new: &String| {
        let held = round.after.get(seat).into_iter().flat_map(CouncillorStanding::words);
        held.into_iter().any(|text| is_same_text(text, new))
    };
    let new = round.responded.get(seat).map(|said| texts_of(&said.new_arguments)).unwrap_or_default();
    lines.extend(new.iter().filter(|new| !is_key(new)).map(|new| format!("New argument: {new}")));
    lines
}

/// "{Role}: {position summary}, Key arguments: {numbered list}, Confidence: {level}".
fn position_text(standing: &CouncillorStanding) -> String {
    let mut lines = vec![format!("Position: {}", standing.position), "Key arguments:".into()];
    lines.extend(standing.key_arguments.iter().zip(1..).map(|(argument, n)| format!("{n}. {argument}")));
    lines.push(format!("Confidence: {}", standing.confidence.as_str()));
    lines.join("\n")
}

/// What a councillor no longer says after a round.
fn superseded_text(before: &CouncillorStanding, after: &CouncillorStanding) -> Option<String> {
    let is_kept = |text: &str| after.words().any(|other| is_same_text(other, text));
    let position = Some(format!("Position: {}", before.position)).filter(|_| !is_kept(&before.position));
    let dropped = before.key_arguments.iter().filter(|argument| !is_kept(argument));
    let lines = position.into_iter().chain(dropped.map(|argument| format!("Key argument: {argument}")));
    Some(lines.collect::<Vec<_>>().join("\n")).filter(|text| !text.is_empty())
}
