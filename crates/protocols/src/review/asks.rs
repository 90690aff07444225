//! The asks of `review`: what each seat reads in each phase.

use std::sync::Arc;

use agon_core::{Ask, Corrupt, Fence, PriorExchange, Prompt, Reply, ReplySchema, SeatThread, Step};
use serde::Serialize;
use serde_json::{Value, json};

use super::log::{ReviewJudge, ReviewLog};
use super::packet::PacketContext;
use super::replies::{JudgeVerdict, SecondVerdict};
use super::seats::explorer_id;
use super::verdict::{JudgeAnswer, ReviewBranch};
use super::{ReviewMode, ReviewParts, ReviewPhase};
use crate::prompt::{new_ask, restrict, schema_of};

/// Makes the asks of one debate.
pub(super) struct ReviewAsks<'a> {
    log: &'a ReviewLog<'a>,
    parts: &'a ReviewParts,
    fence: Fence,
    system: Arc<str>,
}

/// What a judge or an explorer reads of its own in round 1.
#[derive(Serialize)]
struct SeatContext<'a> {
    judge: &'a str,
    perspective: Option<String>,
    about: String,
    /// For a judge, what its explorers found.
    explorations: Vec<String>,
    /// For an explorer, which one it is.
    number: usize,
    of: usize,
    several: bool,
}

/// What a judge reads in round 2.
#[derive(Serialize)]
struct SecondRoundContext<'a> {
    judge: &'a str,
    own: Option<JudgeVerdict>,
    restated: bool,
    disagreed: bool,
    others: Vec<OtherVerdict<'a>>,
    interjections: Vec<String>,
    schema: String,
}

/// The verdict of another judge, quoted.
#[derive(Serialize)]
struct OtherVerdict<'a> {
    judge: &'a str,
    verdict: String,
}

impl<'a> ReviewAsks<'a> {
    pub(super) fn new(parts: &'a ReviewParts, log: &'a ReviewLog<'a>) -> Result<Self, Corrupt> {
        let fence = Fence::new(log.brief());
        let system = parts.prompts.shared("review/system.hbs", &json!({"rule": fence.rule()}))?;
        Ok(Self { log, parts, fence, system })
    }

    /// The explorers of every judge look around.
    pub(super) fn explorations(&self) -> Result<Step, Corrupt> {
        let (file, schema) = ("review/explore.hbs", &self.parts.exploration);
        let shared = self.with_packet(file, schema)?;
        let of = self.log.options.explorers;
        let mut asks = Vec::new();
        for judge in &self.log.judges {
            for number in 1..=of {
                let Some(seat) = self.log.brief().seat(&explorer_id(&judge.seat.id, number)) else {
                    continue;
                };
                let context = SeatContext { number, of, several: of > 1, ..self.seat_context(judge) };
                let tail = self.parts.prompts.tail(file, &context)?;
                asks.push(new_ask(seat, self.prompt(&shared, tail), Some(schema.clone())));
            }
        }
        Ok(Step::Ask(ReviewPhase::Explore.at(1), asks))
    }

    /// Round 1: every judge rules on its own.
    pub(super) fn first_verdicts(&self) -> Result<Step, Corrupt> {
        let schema = self.first_template().1;
        let ask =
            |(judge, prompt): (&ReviewJudge<'_>, Prompt)| new_ask(judge.seat, prompt, Some(schema.clone()));
        let asks = self.first_prompts(self.log.judges.iter())?.into_iter().map(ask).collect();
        Ok(Step::Ask(ReviewPhase::FirstVerdict.at(1), asks))
    }

    /// Round 2 with strict anchoring: every judge restates its verdict before it reads another one.
    pub(super) fn restatements(&self) -> Result<Step, Corrupt> {
        let shared = self.restate_prompt()?;
        let mut asks = Vec::new();
        for (judge, first) in self.first_prompts(self.log.revisers())? {
            let prompt = self.prompt(&shared, String::new());
            let thread = vec![self.exchange(ReviewPhase::FirstVerdict, judge, first.user())];
            asks.push(self.second_round_ask(judge, prompt, self.parts.restatement.clone(), thread));
        }
        Ok(Step::Ask(ReviewPhase::Restate.at(2), asks))
    }

    /// Round 2: the conversation of each judge goes on, with the full verdicts of the others.
    pub(super) fn second_verdicts(&self) -> Result<Step, Corrupt> {
        let strict = self.log.options.strict_anchoring;
        let restate = self.restate_prompt()?;
        let mut asks = Vec::new();
        for (judge, first) in
            self.first_prompts(self.log.revisers().filter(|judge| !strict || judge.restated))?
        {
            let mut thread = vec![self.exchange(ReviewPhase::FirstVerdict, judge, first.user())];
            if strict {
                thread.push(self.exchange(ReviewPhase::Restate, judge, restate.to_string()));
            }
            let schema = self.second_schema(judge);
            let context = self.second_round_context(judge, &schema)?;
            let shared = self.parts.prompts.shared("review/r2.hbs", &context)?;
            let prompt = self.prompt(&shared, String::new());
            asks.push(self.second_round_ask(judge, prompt, Arc::new(schema), thread));
        }
        Ok(Step::Ask(ReviewPhase::SecondVerdict.at(2), asks))
    }

    /// The time of round 2 is for the whole answer. A time that the user set also holds for a person or a program that has a
    /// time of its own.
    fn second_round_ask(
        &self,
        judge: &ReviewJudge<'_>,
        prompt: Prompt,
        schema: Arc<ReplySchema>,
        thread: Vec<PriorExchange>,
    ) -> Ask {
        Ask {
            thread: SeatThread::Continue(thread),
            within_ms: Some(self.log.r2_within_ms()),
            firm: self.log.options.r2_timeout.is_some(),
            ..new_ask(judge.seat, prompt, Some(schema))
        }
    }

    fn second_round_context(
        &self,
        judge: &'a ReviewJudge<'_>,
        schema: &ReplySchema,
    ) -> Result<SecondRoundContext<'a>, Corrupt> {
        let mut others = Vec::new();
        for other in self.others(judge) {
            let full = serde_json::to_string_pretty(&JudgeAnswer::of(other))?;
            let id = other.seat.id.as_str();
            others.push(OtherVerdict { judge: id, verdict: self.fence.quote(id, &full) });
        }
        Ok(SecondRoundContext {
            judge: &judge.seat.id,
            own: judge.first.as_ref().map(|first| first.verdict),
            restated: self.log.options.strict_anchoring,
            disagreed: self.log.branch() == Some(ReviewBranch::Disagreed),
            others,
            interjections: self.interjections(|after| after > self.phases_before_verdicts()),
            schema: schema.json.to_string(),
        })
    }

    /// The schema lets a judge answer only the others, and where the verdicts differ it must challenge somebody.
    fn second_schema(&self, judge: &ReviewJudge<'_>) -> ReplySchema {
        let others: Vec<String> = self.others(judge).map(|other| other.seat.id.clone()).collect();
        let schema = schema_of::<SecondVerdict>("second_verdict");
        let schema = restrict(schema, "/properties/challenges/items/properties/judge", &others);
        let mut schema = restrict(schema, "/properties/acknowledgments/items/properties/judge", &others);
        if self.log.branch() == Some(ReviewBranch::Disagreed)
            && let Some(Value::Object(challenges)) = schema.json.pointer_mut("/properties/challenges")
        {
            challenges.insert("minItems".into(), 1.into());
        }
        schema
    }

    fn others(&self, judge: &ReviewJudge<'_>) -> impl Iterator<Item = &'a ReviewJudge<'a>> {
        self.log.survivors().filter(|other| other.seat.id != judge.seat.id)
    }

    /// The prompts of round 1 for these judges. A later round repeats them, as the beginning of the judge's conversation.
    fn first_prompts<'b>(
        &self,
        judges: impl Iterator<Item = &'b ReviewJudge<'a>>,
    ) -> Result<Vec<(&'b ReviewJudge<'a>, Prompt)>, Corrupt>
    where
        'a: 'b,
    {
        let (file, schema) = self.first_template();
        let shared = self.with_packet(file, schema)?;
        let mut prompts = Vec::new();
        for judge in judges {
            let explored = self.log.explorations(&judge.seat.id);
            let explorations =
                explored.map(|(seat, value)| self.fence.quote(seat, &format!("{value:#}"))).collect();
            let context = SeatContext { explorations, ..self.seat_context(judge) };
            prompts.push((judge, self.prompt(&shared, self.parts.prompts.tail(file, &context)?)));
        }
        Ok(prompts)
    }

    fn first_template(&self) -> (&'static str, &'a Arc<ReplySchema>) {
        match self.log.options.mode {
            ReviewMode::Validate => ("review/r1.hbs", &self.parts.first),
            ReviewMode::Brainstorm => ("review/brainstorm.hbs", &self.parts.brainstorm),
            ReviewMode::Research => ("review/research.hbs", &self.parts.research),
        }
    }

    fn restate_prompt(&self) -> Result<Arc<str>, Corrupt> {
        let schema = self.parts.restatement.json.to_string();
        self.parts.prompts.shared("review/restate.hbs", &json!({"schema": schema}))
    }

    /// An earlier turn of a judge, as it was asked and answered.
    fn exchange(&self, phase: ReviewPhase, judge: &ReviewJudge<'_>, prompt: String) -> PriorExchange {
        let words = self.log.reply(phase, &judge.seat.id).and_then(Reply::words);
        PriorExchange { prompt, reply: words.map(|words| words.into_owned()).unwrap_or_default() }
    }

    fn seat_context<'b>(&self, judge: &'b ReviewJudge<'_>) -> SeatContext<'b> {
        let perspective = judge.perspective.as_ref();
        // The user's own file may contain anything. It is reduced to a name and one line, which cannot open a quotation.
        let one_line = |text: &str| self.fence.defuse(&text.split_whitespace().collect::<Vec<_>>().join(" "));
        SeatContext {
            judge: &judge.seat.id,
            perspective: perspective.map(|perspective| one_line(&perspective.name)),
            about: perspective.map(|perspective| one_line(&perspective.about)).unwrap_or_default(),
            explorations: Vec::new(),
            number: 0,
            of: 0,
            several: false,
        }
    }

    /// The shared part of a template that shows the whole packet.
    fn with_packet(&self, file: &str, schema: &ReplySchema) -> Result<Arc<str>, Corrupt> {
        let interjections = self.interjections(|after| after <= self.phases_before_verdicts());
        let context = PacketContext::new(self.log.brief(), &self.fence, interjections);
        let packet = self.parts.prompts.shared("review/packet.hbs", &context)?;
        let context = json!({"schema": schema.json.to_string(), "packet": packet.trim_end()});
        self.parts.prompts.shared(file, &context)
    }

    /// How many phases come before the verdicts of round 1.
    fn phases_before_verdicts(&self) -> usize {
        let turns = &self.log.debate.turns;
        let is_first = |name: &str| name == ReviewPhase::FirstVerdict.as_str();
        turns.iter().position(|turn| is_first(&turn.phase.name)).unwrap_or(turns.len())
    }

    /// What a person said, quoted, where the number of phases before it is wanted.
    fn interjections(&self, is_wanted: impl Fn(usize) -> bool) -> Vec<String> {
        let said = self.log.debate.interjections.iter().filter(|said| is_wanted(said.after));
        said.map(|said| self.fence.quote("the person who asked", &said.text)).collect()
    }

    fn prompt(&self, shared: &Arc<str>, tail: String) -> Prompt {
        Prompt { system: self.system.clone(), shared: shared.clone(), tail }
    }
}
