//! What each seat is asked in each phase.
//!
//! The topic, the council and the rounds so far come first and only grow, so that a phase's prompt begins like the one before it. Then
//! come the current positions and what the phase asks for, and last what only one councillor reads.

use std::sync::Arc;

use agon_core::{Ask, Corrupt, Prompt, ReplySchema};
use serde::Serialize;
use serde_json::{Value, json};

use super::log::{
    Challenge, ChallengeFate, CouncilLog, CouncilRound, CouncillorStanding, PeerMessage, has_words, one_line,
    texts_of,
};
use super::moderation::{self, InterventionKind, ModeratorIntervention, id_list};
use super::replies::{ReplyForm, without_answered};
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
    shared: Arc<str>,
}

/// What a template shows to all seats of a phase.
#[derive(Serialize)]
struct SharedContext {
    material: String,
    positions: String,
    rounds: u32,
    /// What only this template shows.
    #[serde(flatten)]
    own: Value,
}

/// What a template shows to one seat.
#[derive(Serialize)]
struct SeatContext {
    role: String,
    others: String,
    /// What only this template shows.
    #[serde(flatten)]
    own: Value,
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
        let system = prompts.shared("council/system.hbs", &json!({"rule": log.texts.rule()}))?;
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
        let phase = self.phase("opening", 0, json!({}))?;
        let asks = all.iter().map(|seat| {
            let others = self.addressees(&all, seat);
            let schema = ReplyForm::Opening.schema(&[("questions/items/properties/to", others)]);
            self.ask(&phase, seat, &all, json!({}), schema)
        });
        asks.collect()
    }

    fn examinations(&self, round: u32) -> Result<Vec<Ask>, Corrupt> {
        let log = self.log;
        let exchanges = match log.messages_max() {
            0 => String::new(),
            1 => "1 message".to_owned(),
            most => format!("1 to {most} messages"),
        };
        // The questions of the openings, as long as no round has put them to those who answer.
        let open = log.challenges.iter().filter(|_| log.rounds.is_empty());
        let open: Vec<QuotedEntry> = open.map(|put| self.challenge(put)).collect();
        let phase =
            self.phase("challenge", round, json!({"round": round, "exchanges": exchanges, "open": open}))?;
        let asks = log.active.iter().map(|seat| {
            let councillors = self.addressees(&log.active, seat);
            let recipients = if log.messages_max() > 0 { councillors.clone() } else { Vec::new() };
            let schema = ReplyForm::Examination.schema(&[
                ("challenges/items/properties/to", councillors),
                ("messages/items/properties/to", recipients),
            ]);
            let context = json!({"messages": self.messages(|message| message.is_of(seat))});
            self.ask(&phase, seat, &log.active, context, schema)
        });
        asks.collect()
    }

    fn responses(&self, round: u32) -> Result<Vec<Ask>, Corrupt> {
        let log = self.log;
        let shared = json!({"round": round, "has_messages": !log.messages.is_empty()});
        let phase = self.phase("respond", round, shared)?;
        let asks = log.active.iter().map(|seat| {
            let due: Vec<&Challenge> =
                log.challenges.iter().filter(|put| put.is_due(round) && put.to == *seat).collect();
            let is_due = |message: &PeerMessage| message.round == round && message.to == *seat;
            let messages = self.messages(is_due);
            let schema = ReplyForm::Response.schema(&[
                ("responses/items/properties/challenge_id", ids_of(&due)),
                (
                    "replies/items/properties/message_id",
                    messages.iter().map(|entry| entry.id.clone()).collect(),
                ),
            ]);
            let context = json!({
                "vote": self.vote(seat),
                "challenges": due.iter().map(|put| self.challenge(put)).collect::<Vec<_>>(),
                "earlier": self.messages(|message| message.is_of(seat) && !is_due(message)),
                "messages": messages,
            });
            self.ask(&phase, seat, &log.active, context, schema)
        });
        asks.collect()
    }

    /// One call for everything in a round that needs judgement.
    fn moderation(&self, number: u32) -> Result<Vec<Ask>, Corrupt> {
        let log = self.log;
        let Some(round) = log.round(number) else { return Ok(Vec::new()) };
        let judged: Vec<&Challenge> = log.challenges.iter().filter(|put| put.is_judged_in(number)).collect();
        let is_second = |put: &Challenge| put.re_asked.is_some_and(|again| again < number);
        let (second, first): (Vec<&Challenge>, Vec<&Challenge>) =
            judged.iter().copied().partition(|put| is_second(put));
        let steelmanned = log.steelmanned_points();
        let superseded = round.before.iter().filter_map(|(seat, before)| {
            Some(self.said(seat, &superseded_text(before, round.after.get(seat)?)?))
        });
        let votes = round.after.iter().map(|(seat, held)| {
            let before = round.before.get(seat).filter(|before| before.vote != held.vote);
            let before = before.map(|held| format!(" (before round {number}: {})", held.vote.as_str()));
            let note = format!("{}{}", held.vote.as_str(), before.unwrap_or_default());
            json!({"name": log.name(seat), "note": note})
        });
        let context = json!({
            "round": number,
            "judged": id_list(ids_of(&first)),
            "second": id_list(ids_of(&second)),
            "unanswered": id_list(&round.unanswered),
            "before": superseded.collect::<Vec<_>>(),
            "messages": self.messages(|_| true),
            "votes": votes.collect::<Vec<_>>(),
            "steelmanned": steelmanned.map(|point| log.texts.quote("the point", point)).collect::<Vec<_>>(),
        });
        let councillors = self.addressees(&log.active, "");
        let all: Vec<&Challenge> = log.challenges.iter().collect();
        let schema = ReplyForm::Moderation.schema(&[
            ("shared_points/items/properties/members/items/properties/councillor", councillors.clone()),
            ("shared_points/items/properties/challenged_by/items", ids_of(&all)),
            ("evasions/items/properties/challenge_id", ids_of(&judged)),
            ("new_arguments/items/properties/councillor", councillors),
            ("key_exchanges/items", moderation::key_exchange_ids(log, number)),
        ]);
        self.moderator_asks("moderator", number, context, schema)
    }

    /// The moderator's call after the votes.
    fn conclusion(&self) -> Result<Vec<Ask>, Corrupt> {
        let log = self.log;
        let (conditions, risks, last) = (stated_conditions(log), stated_risks(log), log.options.rounds);
        let decision = decide(&log.votes(), log.quorum());
        let second: Vec<&Challenge> =
            log.challenges.iter().filter(|put| put.is_judged_in(last + 1)).collect();
        let finals = log.finals.iter().map(|(seat, said)| {
            let concern = format!("\nRemaining concern: {}", said.remaining_concern.trim());
            let concern = if has_words(&said.remaining_concern) { concern } else { String::new() };
            let (position, argument) = (said.final_position.trim(), said.key_argument.trim());
            let text = format!("{position}\nKey argument: {argument}{concern}");
            QuotedEntry { note: said.vote.as_str().to_owned(), ..self.said(seat, &text) }
        });
        let can_conflict =
            conditions.iter().any(|term| conditions.iter().any(|other| other.seat != term.seat));
        let context = json!({
            "finals": finals.collect::<Vec<_>>(),
            "can_conflict": can_conflict,
            "conditions": conditions.iter().map(|term| self.term(term)).collect::<Vec<_>>(),
            "risks": risks.iter().map(|term| self.term(term)).collect::<Vec<_>>(),
            "has_terms": !conditions.is_empty() || !risks.is_empty(),
            "decision": decision.map_or(String::new(), |decided| decided.words()),
            "is_divided": decision.is_some_and(|decided| decided.divided),
            "second": id_list(ids_of(&second)),
        });
        let voters: Vec<&str> = log.finals.keys().copied().collect();
        let ids = |terms: &[StatedTerm<'_>]| terms.iter().map(|term| term.id.clone()).collect::<Vec<_>>();
        let schema = ReplyForm::Conclusion.schema(&[
            ("quotes/items/properties/councillor", self.addressees(&voters, "")),
            ("merged/items/properties/ids/items", [ids(&conditions), ids(&risks)].concat()),
            (
                "conflicts/items/properties/ids/items",
                if can_conflict { ids(&conditions) } else { Vec::new() },
            ),
            ("evasions/items/properties/challenge_id", ids_of(&second)),
        ]);
        self.moderator_asks("conclusion", last, context, schema)
    }

    /// A condition, with what it is wanted for where that is not the start; or a risk, with its figures.
    fn term(&self, term: &StatedTerm<'_>) -> QuotedEntry {
        let vote = self.log.finals.get(term.seat).map(|last| last.vote).filter(|vote| !vote.is_in_favour());
        let (text, note) = match (term.risk, vote) {
            (Some(risk), _) => {
                let mitigation = format!("\nMitigation: {}", risk.mitigation.trim());
                let mitigation = if has_words(&risk.mitigation) { mitigation } else { String::new() };
                let (severity, probability) = (risk.severity.as_str(), risk.probability.as_str());
                let note = format!("severity {severity}, probability {probability}");
                (format!("{}{mitigation}", term.text), note)
            }
            (None, Some(vote)) => {
                (term.text.to_owned(), format!(" (voted {}: wanted before a new vote)", vote.as_str()))
            }
            (None, None) => (term.text.to_owned(), String::new()),
        };
        QuotedEntry { id: term.id.clone(), note, ..self.said(term.seat, &text) }
    }

    /// The moderator reads the round that it judges, too.
    fn moderator_asks(
        &self,
        file: &'static str,
        round: u32,
        context: Value,
        schema: Arc<ReplySchema>,
    ) -> Result<Vec<Ask>, Corrupt> {
        let shared = self.phase(file, round + 1, context)?.shared;
        let tail = self.prompts.tail(&format!("council/{file}.hbs"), &json!({}))?;
        let prompt = Prompt { system: self.system.clone(), shared, tail };
        let seats = self.log.debate.brief.seats_of("moderator");
        Ok(seats.map(|seat| new_ask(seat, prompt.clone(), Some(schema.clone()))).collect())
    }

    fn interventions(&self, number: u32) -> Result<Vec<Ask>, Corrupt> {
        let (mut asks, mut points) = (Vec::new(), 0);
        for planned in self.log.round(number).into_iter().flat_map(|round| &round.interventions) {
            match planned.kind {
                InterventionKind::Evasion => asks.extend(self.re_asks(planned)?),
                InterventionKind::Groupthink => {
                    points += 1;
                    asks.extend(self.steelman(planned, points)?);
                }
                InterventionKind::Stale => asks.extend(self.reframing(planned)?),
            }
        }
        Ok(asks)
    }

    fn re_asks(&self, planned: &ModeratorIntervention) -> Result<Option<Ask>, Corrupt> {
        let Some(put) = planned.about.as_deref().and_then(|id| self.log.challenge(id)) else {
            return Ok(None);
        };
        let (texts, is_question) = (&self.log.texts, put.claim.is_empty());
        let why = planned.why.as_deref().filter(|why| has_words(why));
        let context = json!({
            "challenge": self.challenge(put),
            "is_question": is_question,
            "response": put.response.as_deref().map(|response| texts.own_words(response)),
            "why": why.map(|why| texts.quote("the moderator", why)),
        });
        let schema = ReplyForm::SecondResponse.schema(&[("challenge_id", vec![put.id.clone()])]);
        let schema = if is_question { schema } else { without_answered(&schema) };
        let phase = self.phase("re_ask", planned.round + 1, json!({}))?;
        let ask = self.ask(&phase, &put.to, &[], context, schema)?;
        Ok(Some(Ask { about: planned.about.clone(), ..ask }))
    }

    fn steelman(&self, planned: &ModeratorIntervention, point_number: usize) -> Result<Option<Ask>, Corrupt> {
        let Some(seat) = self.log.seat_named(&planned.to) else { return Ok(None) };
        let texts = &self.log.texts;
        let point = texts.quote("the moderator", &planned.question);
        let context = json!({"point": point, "shown": texts.quote("what shows it", &planned.quote)});
        let phase = self.phase("steelman", planned.round + 1, json!({}))?;
        let ask = self.ask(&phase, seat, &[], context, ReplyForm::Steelman.schema(&[]))?;
        Ok(Some(Ask { about: Some(format!("point {point_number}")), ..ask }))
    }

    fn reframing(&self, planned: &ModeratorIntervention) -> Result<Vec<Ask>, Corrupt> {
        let question = self.log.texts.quote("the moderator", &planned.question);
        let phase = self.phase("reframing", planned.round + 1, json!({"question": question}))?;
        let schema = ReplyForm::Reframing.schema(&[]);
        let asks = self.log.active.iter();
        asks.map(|seat| self.ask(&phase, seat, &[], json!({}), schema.clone())).collect()
    }

    fn votes(&self) -> Result<Vec<Ask>, Corrupt> {
        let log = self.log;
        let open = log.challenges.iter().filter(|challenge| challenge.fate == ChallengeFate::Open);
        let context = json!({
            "is_complete": log.rounds_completed() == log.options.rounds,
            "open": open.map(|challenge| self.challenge(challenge)).collect::<Vec<_>>(),
        });
        let phase = self.phase("final", log.options.rounds + 1, context)?;
        let asks = log.active.iter().map(|seat| {
            let messages = self.messages(|message| message.is_of(seat));
            let context = json!({"vote": self.vote(seat), "messages": messages});
            self.ask(&phase, seat, &[], context, ReplyForm::Final.schema(&[]))
        });
        asks.collect()
    }

    /// The ask of one councillor, who may address `others`.
    fn ask(
        &self,
        phase: &PhasePrompt,
        seat: &str,
        others: &[&str],
        own: Value,
        schema: Arc<ReplySchema>,
    ) -> Result<Ask, Corrupt> {
        let member = self.log.members.iter().find(|member| member.seat.id == seat).ok_or(Corrupt::Empty)?;
        let others = others.iter().filter(|other| **other != seat);
        let others: Vec<String> = others.map(|other| format!("\"{}\"", self.log.name(other))).collect();
        let role = self.plain_line(&member.role.name);
        let context = SeatContext { role, others: others.join(", "), own };
        let tail = self.prompts.tail(&format!("council/{}.hbs", phase.file), &context)?;
        let prompt = Prompt { system: self.system.clone(), shared: phase.shared.clone(), tail };
        Ok(new_ask(member.seat, prompt, Some(schema)))
    }

    /// Renders what all seats of a phase read. The transcript has the rounds before `round`.
    fn phase(&self, file: &'static str, round: u32, own: Value) -> Result<PhasePrompt, Corrupt> {
        let standings = self.log.standings().iter();
        let positions: Vec<QuotedEntry> =
            standings.map(|(seat, standing)| self.said(seat, &position_text(standing))).collect();
        let positions = json!({"positions": positions});
        let context = SharedContext {
            material: self.prompts.shared("council/material.hbs", &self.material(round))?.to_string(),
            positions: self.prompts.shared("council/positions.hbs", &positions)?.to_string(),
            rounds: self.log.options.rounds,
            own,
        };
        let shared = self.prompts.shared(&format!("council/{file}.hbs"), &context)?;
        Ok(PhasePrompt { file, shared })
    }

    /// The topic, the councillors, and what was said to everybody in the rounds before `round`.
    fn material(&self, round: u32) -> Value {
        let (log, brief) = (self.log, &self.log.debate.brief);
        let members = log.members.iter().map(|member| {
            json!({
                "name": self.plain_line(&member.role.name),
                "charter": self.plain_line(&member.role.charter),
                "is_out": !log.active.is_empty() && round > 0 && !log.active.contains(&member.seat.id.as_str()),
            })
        });
        let focus = Some(log.options.focus.as_str()).filter(|focus| has_words(focus));
        let rounds = log.rounds.iter().filter(|earlier| earlier.number < round);
        let interjections = log.debate.interjections.iter();
        json!({
            "topic": log.texts.person(&brief.question),
            "focus": focus.map(|focus| log.texts.person(focus)),
            "members": members.collect::<Vec<_>>(),
            "rounds": rounds.map(|round| self.round(round)).collect::<Vec<_>>(),
            "interjections": interjections.map(|said| log.texts.person(&said.text)).collect::<Vec<_>>(),
        })
    }

    fn round(&self, round: &CouncilRound<'_>) -> Value {
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
        json!({
            "number": round.number,
            "said": said.collect::<Vec<_>>(),
            "interventions": interventions.collect::<Vec<_>>(),
        })
    }

    fn challenge(&self, challenge: &Challenge) -> QuotedEntry {
        let to = self.log.name(&challenge.to).to_owned();
        QuotedEntry { id: challenge.id.clone(), to, ..self.said(&challenge.from, &challenge.text()) }
    }

    /// Messages with their replies.
    fn messages(&self, is_wanted: impl Fn(&PeerMessage) -> bool) -> Vec<QuotedEntry> {
        let entries = self.log.messages.iter().filter(|sent| is_wanted(sent)).map(|sent| {
            let (to, text) = (self.log.name(&sent.to), format!("{}: {}", sent.topic, sent.text));
            let answer = sent.reply.as_deref().map(|reply| self.log.texts.quote(to, reply));
            let (id, to, note) = (sent.id.clone(), to.to_owned(), sent.round.to_string());
            QuotedEntry { id, to, note, answer, ..self.said(&sent.from, &text) }
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
        let others = seats.iter().copied().filter(|seat| *seat != own);
        let names = others.flat_map(|seat| {
            let name = self.log.name(seat);
            [Some(name), Some(seat).filter(|seat| *seat != name)]
        });
        names.flatten().map(str::to_owned).collect()
    }

    /// A councillor's provisional vote.
    fn vote(&self, seat: &str) -> &'static str {
        self.log.standings().get(seat).map_or("", |held| held.vote.as_str())
    }

    /// Words of the user's own roster, on one line.
    fn plain_line(&self, text: &str) -> String {
        self.log.texts.shown(&one_line(text))
    }
}

fn ids_of(challenges: &[&Challenge]) -> Vec<String> {
    challenges.iter().map(|put| put.id.clone()).collect()
}

/// What a councillor said to everybody in a round. Ids stand before the texts that they name. The questions of the openings are
/// answered in round 1 and stand there.
pub(super) fn round_lines(log: &CouncilLog<'_>, round: &CouncilRound<'_>, seat: &str) -> Vec<String> {
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
