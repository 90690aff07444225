//! The asks of `council`: what each seat reads in each phase.
//!
//! The topic, the council and the rounds so far come first and only grow, so that a phase's prompt begins like the one before; then
//! what the phase asks for; what only one councillor reads comes last.

use std::sync::Arc;

use agon_core::{Ask, Corrupt, Fence, Phase, Prompt};
use serde_json::{Map, Value, json};

use super::ledger::Entry;
use super::log::Log;
use super::moderation::{Intervention, Kind};
use super::prompts;
use super::round::Letter;
use super::schema::{Form, Narrow, others};
use super::transcript;
use crate::prompt::{Prompts, ask};

/// Makes the asks of one debate.
pub(super) struct Asks<'a> {
    log: &'a Log<'a>,
    prompts: &'static Prompts,
    fence: Fence,
    system: Arc<str>,
}

impl<'a> Asks<'a> {
    pub(super) fn new(log: &'a Log<'a>) -> Result<Self, Corrupt> {
        let (prompts, fence) = (prompts()?, Fence::new(&log.debate.brief));
        let system = prompts.shared("council/system.hbs", &json!({"rule": fence.rule()}))?;
        Ok(Self { log, prompts, fence, system })
    }

    /// Who is asked in a phase, by place, in the order of the asks.
    pub(super) fn asked(&self, phase: &Phase) -> Vec<usize> {
        let round = self.log.round(phase.round);
        let written_to = |place: &usize| self.sent(phase.round, Some(*place)).next().is_some();
        match phase.name.as_str() {
            "opening" => (0..self.log.members.len()).collect(),
            "exchange" => self.log.active().into_iter().filter(written_to).collect(),
            // The moderator, who has no place among the councillors.
            "moderate" => vec![self.log.members.len()],
            "intervene" => round
                .into_iter()
                .flat_map(|round| &round.interventions)
                .flat_map(|done| done.to.clone())
                .collect(),
            _ => self.log.active(),
        }
    }

    /// The asks of a phase, made from what was said before it: all of them, or in economy mode the one at `only`.
    pub(super) fn phase(&self, phase: &Phase, only: Option<usize>) -> Result<Vec<Ask>, Corrupt> {
        let mut places = self.asked(phase);
        if let (Some(only), false) = (only, phase.name == "intervene") {
            places = places.into_iter().skip(only).take(1).collect();
        }
        if places.is_empty() {
            return Ok(Vec::new());
        }
        match phase.name.as_str() {
            "opening" => self.opening(&places),
            "challenge" => self.challenge(phase.round, &places),
            "exchange" => self.exchange(phase.round, &places),
            "moderate" => self.moderate(phase.round),
            "intervene" => self.intervene(phase.round, only),
            _ => self.verdict(&places),
        }
    }

    fn opening(&self, places: &[usize]) -> Result<Vec<Ask>, Corrupt> {
        let all: Vec<usize> = (0..self.log.members.len()).collect();
        let narrow = |own| Narrow { others: others(self.log, &all, own), ..Narrow::default() };
        let shared = self.shared("opening", Form::Opening, &narrow(None), json!({}))?;
        let asks = places.iter().map(|place| {
            let narrow = narrow(Some(*place));
            let tail = json!({"others": self.named(&all, *place)});
            self.ask("opening", *place, &shared, tail, Form::Opening, &narrow)
        });
        asks.collect()
    }

    fn challenge(&self, round: u32, places: &[usize]) -> Result<Vec<Ask>, Corrupt> {
        let active = self.log.active();
        let exchanges = if self.log.is_economy() { 0 } else { self.log.debate.brief.int("exchanges") };
        let due = |place: Option<usize>| -> Vec<&Entry> {
            let entries = self.log.challenges.iter().filter(|entry| entry.is_due(round));
            let entries = entries.filter(|entry| active.contains(&entry.to));
            entries.filter(|entry| place.is_none_or(|place| entry.to == place)).collect()
        };
        let narrow = |own: Option<usize>| Narrow {
            others: others(self.log, &active, own),
            challenges: due(own).iter().map(|entry| entry.id()).collect(),
            exchanges,
            ..Narrow::default()
        };
        let context = json!({"round": round, "exchange": exchanges > 0, "exchanges": exchanges});
        let shared = self.shared("challenge", Form::Examination, &narrow(None), context)?;
        let asks = places.iter().map(|place| {
            let narrow = narrow(Some(*place));
            let challenges = due(Some(*place)).into_iter().map(|entry| self.entry(entry)).collect::<Vec<_>>();
            let tail = json!({
                "others": self.named(&active, *place),
                "own": self.own(*place),
                "answered": self.answered_to(*place),
                "letters": self.letters(|letter| letter.from == *place || letter.to == *place),
                "challenges": challenges,
            });
            self.ask("challenge", *place, &shared, tail, Form::Examination, &narrow)
        });
        asks.collect()
    }

    /// Those who got messages answer all of them.
    fn exchange(&self, round: u32, places: &[usize]) -> Result<Vec<Ask>, Corrupt> {
        let ids = |own: Option<usize>| Narrow {
            messages: self.sent(round, own).map(Letter::id).collect(),
            ..Narrow::default()
        };
        let shared = self.shared("exchange", Form::Correspondence, &ids(None), json!({"round": round}))?;
        let asks = places.iter().map(|place| {
            let letters = self.letters(|letter| letter.round == round && letter.to == *place);
            let tail = json!({"own": self.own(*place), "letters": letters});
            self.ask("exchange", *place, &shared, tail, Form::Correspondence, &ids(Some(*place)))
        });
        asks.collect()
    }

    fn sent(&self, round: u32, to: Option<usize>) -> impl Iterator<Item = &Letter> {
        let letters = self.log.letters.iter().filter(move |letter| letter.round == round);
        letters.filter(move |letter| to.is_none_or(|to| letter.to == to))
    }

    /// One call for everything in a round that needs judgement.
    fn moderate(&self, number: u32) -> Result<Vec<Ask>, Corrupt> {
        let (log, active) = (self.log, self.log.active());
        let Some(round) = log.round(number) else { return Ok(Vec::new()) };
        let answered = log.challenges.iter().filter(|entry| entry.last().is_some_and(|a| a.round == number));
        let answered: Vec<&Entry> = answered.collect();
        let narrow = Narrow {
            others: others(log, &active, None),
            challenges: answered.iter().map(|entry| entry.id()).collect(),
            ..Narrow::default()
        };
        let updates: Vec<Value> = active
            .iter()
            .map(|place| json!({"name": log.name(*place), "content": self.quote(*place, &transcript::update(round, *place))}))
            .collect();
        let unanswered = round.unanswered.iter().filter_map(|at| log.challenges.get(*at));
        let unanswered: Vec<String> = unanswered.map(|entry| format!("[{}]", entry.id())).collect();
        let context = json!({
            "round": number,
            "updates": updates,
            "answered": answered.iter().map(|entry| self.entry(entry)).collect::<Vec<_>>(),
            "unanswered": unanswered.join(", "),
            "letters": self.letters(|letter| letter.round == number),
        });
        let shared = self.shared("moderator", Form::Moderation, &narrow, context)?;
        let tail = self.prompts.tail("council/moderator.hbs", &json!({}))?;
        let prompt = Prompt { system: self.system.clone(), shared, tail };
        let seats = log.debate.brief.seats_of("moderator");
        let schema = Arc::new(Form::Moderation.schema(&narrow));
        Ok(seats.map(|seat| ask(seat, prompt.clone(), Some(schema.clone()))).collect())
    }

    fn intervene(&self, number: u32, only: Option<usize>) -> Result<Vec<Ask>, Corrupt> {
        let Some(round) = self.log.round(number) else { return Ok(Vec::new()) };
        let (mut asks, mut from) = (Vec::new(), 0);
        let mut points = 0;
        for intervention in &round.interventions {
            points += usize::from(matches!(intervention.kind, Kind::Groupthink { .. }));
            let own = from..from + intervention.to.len();
            from = own.end;
            if only.is_none_or(|only| own.contains(&only)) {
                let places =
                    intervention.to.iter().zip(own).filter(|(_, at)| only.is_none_or(|only| only == *at));
                let places: Vec<usize> = places.map(|(place, _)| *place).collect();
                asks.extend(self.put(points, intervention, &places)?);
            }
        }
        Ok(asks)
    }

    fn put(
        &self,
        point_number: usize,
        intervention: &Intervention,
        places: &[usize],
    ) -> Result<Vec<Ask>, Corrupt> {
        let (mut tail, mut narrow) = (json!({}), Narrow::default());
        let (file, form, about) = match &intervention.kind {
            Kind::Evasion { entry, .. } => {
                let Some(entry) = self.log.challenges.get(*entry) else { return Ok(Vec::new()) };
                narrow.challenges = vec![entry.id()];
                let response = entry.last().map(|answer| self.fence.quote("your words", &answer.response));
                let challenge = self.quote(entry.from, &entry.text());
                let challenger = self.log.name(entry.from);
                tail = json!({"challenger": challenger, "id": entry.id(), "challenge": challenge, "response": response});
                ("re_ask", Form::SecondResponse, Some(entry.id()))
            }
            Kind::Groupthink { point } => {
                tail = json!({"point": self.fence.quote("the converging point", point)});
                ("steelman", Form::Steelman, Some(format!("point {point_number}")))
            }
            Kind::Stale => ("reframing", Form::Reframed, None),
        };
        let question = self.fence.quote("the question", &intervention.question);
        let shared = self.shared(file, form, &narrow, json!({"question": question}))?;
        let mut asks = Vec::new();
        for place in places {
            if let Value::Object(tail) = &mut tail {
                tail.insert("own".into(), self.own(*place).into());
                tail.insert("schema".into(), form.schema(&narrow).json.to_string().into());
            }
            let mut ask = self.ask(file, *place, &shared, tail.clone(), form, &narrow)?;
            ask.about.clone_from(&about);
            asks.push(ask);
        }
        Ok(asks)
    }

    fn verdict(&self, places: &[usize]) -> Result<Vec<Ask>, Corrupt> {
        let log = self.log;
        let complete = log.completed() == log.debate.brief.int("rounds");
        let open = log.challenges.iter().filter(|entry| entry.fate(true) == "open");
        let open: Vec<Value> = open.map(|entry| self.entry(entry)).collect();
        let narrow = Narrow::default();
        let shared =
            self.shared("final", Form::Final, &narrow, json!({"complete": complete, "open": open}))?;
        let asks = places.iter().map(|place| {
            let letters = self.letters(|letter| letter.from == *place || letter.to == *place);
            let tail = json!({"own": self.own(*place), "letters": letters});
            self.ask("final", *place, &shared, tail, Form::Final, &narrow)
        });
        asks.collect()
    }

    fn ask(
        &self,
        file: &str,
        place: usize,
        shared: &Arc<str>,
        mut tail: Value,
        form: Form,
        narrow: &Narrow,
    ) -> Result<Ask, Corrupt> {
        let member = self.log.members.get(place);
        if let (Value::Object(tail), Some(member)) = (&mut tail, member) {
            tail.insert("role".into(), self.line(&member.role.name).into());
            tail.insert("charter".into(), self.line(&member.role.charter).into());
        }
        let tail = self.prompts.tail(&format!("council/{file}.hbs"), &tail)?;
        let prompt = Prompt { system: self.system.clone(), shared: shared.clone(), tail };
        let seat = member.map(|member| member.seat).ok_or(Corrupt::Empty)?;
        Ok(ask(seat, prompt, Some(Arc::new(form.schema(narrow)))))
    }

    /// What all seats of a phase read.
    fn shared(&self, file: &str, form: Form, narrow: &Narrow, context: Value) -> Result<Arc<str>, Corrupt> {
        let Value::Object(mut context) = context else { return Ok(Arc::from("")) };
        context.insert("material".into(), (*self.material()?).into());
        context.insert("positions".into(), (*self.positions()?).into());
        context.insert("rounds".into(), self.log.debate.brief.int("rounds").into());
        context.insert("schema".into(), form.schema(narrow).json.to_string().into());
        self.prompts.shared(&format!("council/{file}.hbs"), &Value::Object(context))
    }

    /// The topic, who sits, and everything that was said to everybody so far.
    fn material(&self) -> Result<Arc<str>, Corrupt> {
        let (log, brief) = (self.log, &self.log.debate.brief);
        let begun = !log.rounds.is_empty() || log.members.iter().any(|member| member.opening.is_some());
        let members: Vec<Value> = log
            .members
            .iter()
            .map(|member| {
                json!({"name": self.line(&member.role.name), "id": member.seat.id, "charter": self.line(&member.role.charter),
                    "out": begun && !member.is_active()})
            })
            .collect();
        let focus = Some(brief.text("focus")).filter(|focus| !focus.trim().is_empty());
        let questions = log.active().into_iter().filter_map(|place| {
            let asked = transcript::questions(log, place)?;
            Some(json!({"name": log.name(place), "content": self.quote(place, &asked)}))
        });
        let interjections = log.debate.interjections.iter();
        let context = json!({
            "topic": self.fence.quote("the topic", &brief.question),
            "focus": focus.map(|focus| self.fence.quote("the focus", focus)),
            "members": members,
            "questions": questions.collect::<Vec<_>>(),
            "rounds": self.rounds(),
            "interjections": interjections.map(|said| self.fence.quote("the person who asked", &said.text)).collect::<Vec<_>>(),
        });
        self.prompts.shared("council/material.hbs", &context)
    }

    fn rounds(&self) -> Vec<Value> {
        let log = self.log;
        let rounds = log.rounds.iter().map(|round| {
            let said = log.active().into_iter().filter_map(|place| {
                let said = transcript::examination(log, round, place)?;
                Some(json!({"name": log.name(place), "content": self.quote(place, &said)}))
            });
            let absent = log.active().into_iter().filter(|place| !round.is_present(*place));
            let put = round.interventions.iter().flat_map(|done| {
                let replies = done.to.iter().zip(&done.replies);
                replies.filter_map(|(place, reply)| {
                    let said = transcript::intervention(done, reply.as_ref()?);
                    let (kind, to) = (done.kind.as_str(), log.name(*place));
                    Some(json!({"kind": kind, "to": to, "content": self.quote(*place, &said)}))
                })
            });
            json!({"number": round.number, "said": said.collect::<Vec<_>>(), "absent": log.names(absent),
                "interventions": put.collect::<Vec<_>>()})
        });
        rounds.collect()
    }

    fn positions(&self) -> Result<Arc<str>, Corrupt> {
        let standings = self.log.standings();
        let positions = self.log.active().into_iter().filter_map(|place| {
            let said = transcript::position(standings.get(place)?);
            Some(json!({"name": self.log.name(place), "content": self.quote(place, &said)}))
        });
        let context = json!({"positions": positions.collect::<Vec<_>>()});
        self.prompts.shared("council/positions.hbs", &context)
    }

    /// A councillor's own position, for its own eyes.
    fn own(&self, place: usize) -> String {
        let standings = self.log.standings();
        let said = standings.get(place).map(transcript::position).unwrap_or_default();
        self.fence.quote("your words", &said)
    }

    /// What became of a councillor's challenges.
    fn answered_to(&self, place: usize) -> Vec<Value> {
        let made = self.log.challenges.iter().filter(|entry| entry.from == place);
        let answered = made.filter_map(|entry| {
            let answer = entry.last()?;
            let stance = answer.stance.map_or("no stance", |stance| stance.as_str());
            let fate = format!("{} ({stance})", entry.fate(false));
            let content = self.quote(entry.to, &answer.response);
            Some(json!({"id": entry.id(), "name": self.log.name(entry.to), "fate": fate, "content": content}))
        });
        answered.collect()
    }

    /// A challenge, with the answer to it where there is one.
    fn entry(&self, entry: &Entry) -> Value {
        let mut content = self.quote(entry.from, &entry.text());
        if let Some(answer) = entry.last() {
            let stance = answer.stance.map_or("no stance", |stance| stance.as_str());
            let said = format!("({stance}) {}", answer.response);
            content = format!("{content}\nAnswered:\n{}", self.quote(entry.to, &said));
        }
        let (from, to) = (self.log.name(entry.from), self.log.name(entry.to));
        json!({"id": entry.id(), "name": from, "from": from, "to": to, "content": content})
    }

    /// Messages with their answers, where there are any.
    fn letters(&self, which: impl Fn(&Letter) -> bool) -> Vec<Value> {
        let letters = self.log.letters.iter().filter(|letter| which(letter));
        let letters = letters.map(|letter| {
            let mut content = self.quote(letter.from, &format!("About {}: {}", letter.topic, letter.text));
            if let Some(reply) = &letter.reply {
                content = format!("{content}\nAnswered:\n{}", self.quote(letter.to, reply));
            }
            let mut shown = Map::new();
            shown.insert("id".into(), letter.id().into());
            shown.insert("round".into(), letter.round.into());
            shown.insert("from".into(), self.log.name(letter.from).into());
            shown.insert("to".into(), self.log.name(letter.to).into());
            shown.insert("content".into(), content.into());
            Value::Object(shown)
        });
        letters.collect()
    }

    /// A councillor's words, quoted.
    fn quote(&self, place: usize, text: &str) -> String {
        self.fence.quote(self.log.name(place), text)
    }

    /// The names of the others, as a seat is told whom it may address.
    fn named(&self, places: &[usize], own: usize) -> String {
        let others = places.iter().filter(|place| **place != own);
        others.map(|place| format!("\"{}\"", self.log.name(*place))).collect::<Vec<_>>().join(", ")
    }

    /// Words of the person's own file, on one line.
    fn line(&self, text: &str) -> String {
        self.fence.defuse(&text.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}
