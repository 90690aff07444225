//! The asks of `review`: what each seat reads in each phase.

use std::sync::Arc;

use agon_core::{Ask, Corrupt, Exchange, Fence, Phase, Prompt, Reply, Schema, Step, Thread};
use serde_json::{Map, Value, json};

use super::log::{Judge, Log, said};
use super::reply::Second;
use super::{Parts, packet};
use crate::prompt::{ask, only, schema_of};

/// Makes the asks of one debate.
pub(super) struct Asks<'a> {
    log: &'a Log<'a>,
    parts: &'a Parts,
    fence: Fence,
    system: Arc<str>,
}

impl<'a> Asks<'a> {
    pub(super) fn new(log: &'a Log<'a>, parts: &'a Parts) -> Result<Self, Corrupt> {
        let fence = Fence::new(log.brief());
        let system = parts.prompts.shared("review/system.hbs", &json!({"rule": fence.rule()}))?;
        Ok(Self { log, parts, fence, system })
    }

    /// Every judge's explorers look around.
    pub(super) fn explorations(&self) -> Result<Step, Corrupt> {
        let schema = &self.parts.exploration;
        let shared = self.with_packet("review/explore.hbs", schema)?;
        let of = self.log.brief().int("explorers");
        let mut asks = Vec::new();
        for judge in &self.log.judges {
            for number in 1..=of {
                let id = format!("{}-explorer-{number}", judge.seat.id);
                let Some(seat) = self.log.brief().seat(&id) else { continue };
                let mut context = self.who(judge);
                context.extend([
                    ("number".to_owned(), json!(number)),
                    ("of".to_owned(), json!(of)),
                    ("several".to_owned(), json!(of > 1)),
                ]);
                let tail = self.parts.prompts.tail("review/explore.hbs", &context)?;
                asks.push(ask(seat, self.prompt(&shared, tail), Some(schema.clone())));
            }
        }
        Ok(Step::Ask(Phase::new("explore", 1), asks))
    }

    /// Round 1: every judge alone.
    pub(super) fn first(&self) -> Result<Step, Corrupt> {
        let (file, schema) = self.of_mode();
        let shared = self.with_packet(file, schema)?;
        let mut asks = Vec::new();
        for judge in &self.log.judges {
            let prompt = self.prompt(&shared, self.first_tail(file, judge)?);
            asks.push(ask(judge.seat, prompt, Some(schema.clone())));
        }
        Ok(Step::Ask(Phase::new("r1", 1), asks))
    }

    /// Round 2, strictly: every judge restates its verdict before it sees another.
    pub(super) fn restatements(&self) -> Result<Step, Corrupt> {
        let schema = &self.parts.restatement;
        let shared =
            self.parts.prompts.shared("review/restate.hbs", &json!({"schema": schema.json.to_string()}))?;
        let mut asks = Vec::new();
        for judge in self.log.revisers() {
            let mut ask = ask(judge.seat, self.prompt(&shared, String::new()), Some(schema.clone()));
            ask.thread = Thread::Continue(vec![self.first_turn(judge)?]);
            self.hurry(&mut ask);
            asks.push(ask);
        }
        Ok(Step::Ask(Phase::new("restate", 2), asks))
    }

    /// Round 2: the same conversation goes on, with the others' full verdicts.
    pub(super) fn second(&self) -> Result<Step, Corrupt> {
        let strict = self.log.brief().flag("strict_anchoring");
        let mut asks = Vec::new();
        for judge in self.log.revisers().filter(|judge| !strict || judge.restated) {
            let mut thread = vec![self.first_turn(judge)?];
            if strict {
                thread.push(self.restated_turn(judge)?);
            }
            let schema = Arc::new(self.second_schema(judge));
            let shared = self.parts.prompts.shared("review/r2.hbs", &self.message(judge, strict, &schema))?;
            let mut ask = ask(judge.seat, self.prompt(&shared, String::new()), Some(schema));
            ask.thread = Thread::Continue(thread);
            self.hurry(&mut ask);
            asks.push(ask);
        }
        Ok(Step::Ask(Phase::new("r2", 2), asks))
    }

    /// The time of round 2 is the judge's for the whole of its answer; a time that somebody set holds for everybody.
    fn hurry(&self, ask: &mut Ask) {
        ask.within_ms = Some(self.log.r2_within_ms());
        ask.firm = self.log.brief().options.contains_key("r2_timeout");
    }

    /// What a judge is told in round 2.
    fn message(&self, judge: &Judge<'_>, restated: bool, schema: &Schema) -> Value {
        let others = self.log.survivors().filter(|other| other.seat.id != judge.seat.id);
        let others: Vec<Value> = others
            .map(|other| {
                let verdict = format!("{:#}", full_verdict(other));
                json!({"judge": other.seat.id, "verdict": self.fence.quote(&other.seat.id, &verdict)})
            })
            .collect();
        json!({
            "judge": judge.seat.id,
            "own": judge.first.as_ref().map(|first| first.verdict),
            "restated": restated,
            "disagreed": self.log.branch() == Some("disagreed"),
            "others": others,
            "interjections": self.interjections(|after| after > self.before_first()),
            "schema": schema.json.to_string(),
        })
    }

    /// Only other judges can be answered, and where the verdicts differ somebody must be.
    fn second_schema(&self, judge: &Judge<'_>) -> Schema {
        let others = self.log.survivors().filter(|other| other.seat.id != judge.seat.id);
        let others: Vec<String> = others.map(|other| other.seat.id.clone()).collect();
        let schema = schema_of::<Second>("second_verdict");
        let schema = only(schema, "/properties/challenges/items/properties/judge", &others);
        let mut schema = only(schema, "/properties/acknowledgments/items/properties/judge", &others);
        if self.log.branch() == Some("disagreed")
            && let Some(Value::Object(challenges)) = schema.json.pointer_mut("/properties/challenges")
        {
            challenges.insert("minItems".into(), json!(1));
        }
        schema
    }

    /// A judge's round 1, as it was asked and answered, without a word left out.
    fn first_turn(&self, judge: &Judge<'_>) -> Result<Exchange, Corrupt> {
        let (file, schema) = self.of_mode();
        let prompt = self.prompt(&self.with_packet(file, schema)?, self.first_tail(file, judge)?);
        Ok(Exchange { prompt: prompt.user(), reply: self.words("r1", 1, judge) })
    }

    fn restated_turn(&self, judge: &Judge<'_>) -> Result<Exchange, Corrupt> {
        let schema = &self.parts.restatement;
        let context = json!({"schema": schema.json.to_string()});
        let prompt = self.parts.prompts.shared("review/restate.hbs", &context)?;
        Ok(Exchange { prompt: prompt.to_string(), reply: self.words("restate", 2, judge) })
    }

    fn words(&self, phase: &str, round: u32, judge: &Judge<'_>) -> String {
        let reply = said(self.log.debate, phase, round, &judge.seat.id);
        reply.and_then(Reply::words).map(|words| words.into_owned()).unwrap_or_default()
    }

    fn first_tail(&self, file: &str, judge: &Judge<'_>) -> Result<String, Corrupt> {
        let explored = self.log.explorations(&judge.seat.id);
        let explored: Vec<String> =
            explored.map(|(seat, value)| self.fence.quote(seat, &format!("{value:#}"))).collect();
        let mut context = self.who(judge);
        context.insert("explorations".into(), explored.into());
        self.parts.prompts.tail(file, &context)
    }

    fn who(&self, judge: &Judge<'_>) -> Map<String, Value> {
        let perspective = judge.perspective.as_ref();
        // A person's own file may say anything; it is no more than a name and a sentence.
        let plain = |text: &str| self.fence.defuse(&text.split_whitespace().collect::<Vec<_>>().join(" "));
        Map::from_iter([
            ("judge".to_owned(), json!(judge.seat.id)),
            ("perspective".to_owned(), json!(perspective.map(|perspective| plain(&perspective.name)))),
            (
                "about".to_owned(),
                json!(perspective.map_or(String::new(), |perspective| plain(&perspective.about))),
            ),
        ])
    }

    fn of_mode(&self) -> (&'static str, &'a Arc<Schema>) {
        match self.log.brief().text("mode") {
            "brainstorm" => ("review/brainstorm.hbs", &self.parts.brainstorm),
            "research" => ("review/research.hbs", &self.parts.research),
            _ => ("review/r1.hbs", &self.parts.first),
        }
    }

    /// The shared part of a template that shows the whole packet.
    fn with_packet(&self, file: &str, schema: &Schema) -> Result<Arc<str>, Corrupt> {
        let mut context = packet::context(self.log.brief(), &self.fence);
        if let Value::Object(fields) = &mut context {
            fields.insert("interjections".into(), self.interjections(|after| after <= self.before_first()));
        }
        let packet = self.parts.prompts.shared("review/packet.hbs", &context)?;
        let context = json!({"schema": schema.json.to_string(), "packet": packet.trim_end()});
        self.parts.prompts.shared(file, &context)
    }

    /// How many phases there are before round 1's verdicts.
    fn before_first(&self) -> usize {
        let turns = &self.log.debate.turns;
        turns.iter().position(|turn| turn.phase.name == "r1").unwrap_or(turns.len())
    }

    /// What a person said after so many phases.
    fn interjections(&self, counts: impl Fn(usize) -> bool) -> Value {
        let said = self.log.debate.interjections.iter().filter(|said| counts(said.after));
        said.map(|said| self.fence.quote("the person who asked", &said.text)).collect()
    }

    fn prompt(&self, shared: &Arc<str>, tail: String) -> Prompt {
        Prompt { system: self.system.clone(), shared: shared.clone(), tail }
    }
}

/// A verdict of round 1 as the others read it: the seed's JSON, whole, with the judge's name in front.
pub(super) fn full_verdict(judge: &Judge<'_>) -> Value {
    let mut whole = Map::from_iter([("judge".to_owned(), json!(judge.seat.id))]);
    let own = judge.answer.and_then(Value::as_object).into_iter().flatten();
    whole.extend(own.filter(|(key, _)| *key != "judge").map(|(key, value)| (key.clone(), value.clone())));
    Value::Object(whole)
}
