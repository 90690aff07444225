//! The asks of `review`: what each seat reads in each phase.

use std::sync::Arc;

use agon_core::wording::excerpt;
use agon_core::{Ask, Corrupt, PriorExchange, Prompt, Reply, ReplySchema, SeatThread, Step};
use serde_json::{Value, json};

use super::findings;
use super::log::{RaisedFinding, ReviewJudge, ReviewLog};
use super::packet::{self, PacketItem};
use super::replies::{
    BrainstormAnswer, ExplorerReport, FirstVerdict, ResearchAnswer, SecondVerdict, VerdictRestatement,
};
use super::seats::explorer_id;
use super::verdict::{ReviewBranch, shown_answer};
use super::{ReviewMode, ReviewPhase};
use crate::prompt::{PromptSet, new_ask, remove_field, restrict, schema_of};
use crate::quotes::QuotedTexts;

/// Makes the asks of one debate.
pub(super) struct ReviewAsks<'a> {
    log: &'a ReviewLog<'a>,
    prompts: &'a PromptSet,
    quoted: QuotedTexts<'a>,
    system: Arc<str>,
}

impl<'a> ReviewAsks<'a> {
    pub(super) fn new(prompts: &'a PromptSet, log: &'a ReviewLog<'a>) -> Result<Self, Corrupt> {
        let quoted = QuotedTexts::new(log.brief());
        let system = prompts.shared("review/system.hbs", &json!({"rule": quoted.rule()}))?;
        Ok(Self { log, prompts, quoted, system })
    }

    /// The explorers of every judge look around, each in its own part of the packet.
    pub(super) fn explorations(&self) -> Result<Step, Corrupt> {
        let file = "review/explore.hbs";
        let (shared, schema) =
            (self.prompts.shared(file, &json!({}))?, schema_of::<ExplorerReport>("exploration"));
        let schema = Arc::new(schema);
        let parts = packet::parts(self.log.brief(), self.log.options.explorers);
        let mut asks = Vec::new();
        for judge in &self.log.judges {
            for (number, part) in (1..).zip(&parts) {
                let seat = self.log.brief().seat(&explorer_id(&judge.seat.id, number));
                let part = self.packet(part.clone())?;
                let tail = self.prompts.tail(file, &self.seat_context(judge, &part, &[]))?;
                asks.extend(seat.map(|seat| new_ask(seat, self.prompt(&shared, tail), Some(schema.clone()))));
            }
        }
        Ok(Step::Ask(ReviewPhase::Explore.at(1), asks))
    }

    /// Round 1: every judge rules on its own.
    pub(super) fn first_verdicts(&self) -> Result<Step, Corrupt> {
        let (shared, schema) = (self.first_shared()?, Arc::new(self.first_template().1));
        let mut asks = Vec::new();
        for judge in &self.log.judges {
            asks.push(new_ask(judge.seat, self.first_prompt(&shared, judge)?, Some(schema.clone())));
        }
        Ok(Step::Ask(ReviewPhase::FirstVerdict.at(1), asks))
    }

    /// Round 2 with strict anchoring: every judge restates its verdict before it reads another one.
    pub(super) fn restatements(&self) -> Result<Step, Corrupt> {
        self.second_round(ReviewPhase::Restate, self.log.revisers())
    }

    /// Round 2: every judge reads the full verdicts of the others.
    pub(super) fn second_verdicts(&self) -> Result<Step, Corrupt> {
        let is_strict = self.log.options.strict_anchoring;
        let judges = self.log.revisers().filter(|judge| judge.restated || !is_strict);
        self.second_round(ReviewPhase::SecondVerdict, judges)
    }

    /// A phase of round 2, in which the conversation of each judge goes on. Its time is for the whole answer. A time that the user set
    /// also holds for a person or a program that has a time of its own.
    fn second_round<'l>(
        &self,
        phase: ReviewPhase,
        judges: impl Iterator<Item = &'l ReviewJudge<'l>>,
    ) -> Result<Step, Corrupt> {
        let first_shared = self.first_shared()?;
        let restate = self.prompts.shared("review/restate.hbs", &json!({}))?;
        let mut asks = Vec::new();
        for judge in judges {
            let first = self.first_prompt(&first_shared, judge)?.user();
            let mut thread = vec![self.exchange(ReviewPhase::FirstVerdict, judge, first)];
            let (shared, schema) = if phase == ReviewPhase::Restate {
                (restate.clone(), schema_of::<VerdictRestatement>("restatement"))
            } else {
                let own = judge.restated.then(|| restate.to_string());
                thread.extend(own.map(|prompt| self.exchange(ReviewPhase::Restate, judge, prompt)));
                let context = self.second_round_context(judge)?;
                (self.prompts.shared("review/r2.hbs", &context)?, self.second_schema(judge))
            };
            asks.push(Ask {
                thread: SeatThread::Continue(thread),
                within_ms: Some(self.log.r2_within_ms()),
                firm: self.log.options.r2_timeout.is_some(),
                ..new_ask(judge.seat, self.prompt(&shared, String::new()), Some(Arc::new(schema)))
            });
        }
        Ok(Step::Ask(phase.at(2), asks))
    }

    fn second_round_context(&self, judge: &ReviewJudge<'_>) -> Result<Value, Corrupt> {
        let mut others = Vec::new();
        for other in self.others(judge) {
            let full = serde_json::to_string_pretty(&shown_answer(self.log, other))?;
            let (name, raised) = (other.seat.id.as_str(), self.log.shown_findings(other, true));
            let ids: Vec<String> = raised.map(|raised| format!("[{}]", raised.id)).collect();
            let verdict = self.quoted.quote(name, &full);
            others.push(json!({"judge": name, "ids": ids.join(", "), "verdict": verdict}));
        }
        let own: Vec<String> =
            self.log.shown_findings(judge, true).map(|raised| self.own_finding(raised)).collect();
        let has_other_findings = self.log.shown_findings(judge, false).next().is_some();
        Ok(json!({
            "judge": judge.seat.id,
            "verdict": judge.first_verdict(),
            "is_strict": self.log.options.strict_anchoring,
            "is_disagreed": self.log.branch() == Some(ReviewBranch::Disagreed),
            "can_be_same": !own.is_empty() && has_other_findings,
            "own": own,
            "has_other_findings": has_other_findings,
            "others": others,
            "interjections": self.interjections(false),
        }))
    }

    /// The id of a judge's own finding, with enough of it to know which one it is: all of it is in the judge's conversation.
    fn own_finding(&self, raised: &RaisedFinding) -> String {
        const CHARS_MAX: usize = 100;
        let text = self.one_line(&excerpt(&raised.finding.description, CHARS_MAX));
        let is_misplaced = findings::is_misplaced(self.log, &raised.finding);
        let mark = if is_misplaced { " (its location is unverified)" } else { "" };
        format!("[{}] {}: {text}{mark}", raised.id, raised.finding.severity.as_str())
    }

    /// The schema allows only the judges and the ids that the judge was shown, and omits what there is nothing to say about.
    fn second_schema(&self, judge: &ReviewJudge<'_>) -> ReplySchema {
        let ids = |raised: &RaisedFinding| raised.id.clone();
        let own: Vec<String> = self.log.shown_findings(judge, true).map(ids).collect();
        let other: Vec<String> = self.log.shown_findings(judge, false).map(ids).collect();
        let judges: Vec<String> = self.others(judge).map(|other| other.seat.id.clone()).collect();
        let mut schema = schema_of::<SecondVerdict>("second_verdict");
        if let Some(question) = schema.json.pointer_mut("/properties/findings/description") {
            *question = "What problems did you find now that nobody has reported?".into();
        }
        for (field, key, values) in [
            ("own", "id", &own),
            ("others", "id", &other),
            ("same_as", "own", &own),
            ("same_as", "other", &other),
            ("challenges", "judge", &judges),
            ("acknowledgments", "judge", &judges),
        ] {
            schema = restrict(schema, &format!("/properties/{field}/items/properties/{key}"), values);
            if values.is_empty() {
                remove_field(&mut schema, field);
            }
        }
        // Reasons come before decisions: the verdict is the last thing that a judge writes.
        if let Some(Value::Object(fields)) = schema.json.pointer_mut("/properties") {
            for field in ["key_insight", "verdict", "confidence", "recommendation"] {
                let question = fields.shift_remove(field);
                fields.extend(question.map(|question| (field.to_owned(), question)));
            }
        }
        schema
    }

    fn others(&self, judge: &ReviewJudge<'_>) -> impl Iterator<Item = &'a ReviewJudge<'a>> {
        self.log.survivors().filter(|other| other.seat.id != judge.seat.id)
    }

    /// What all judges read in round 1.
    fn first_shared(&self) -> Result<Arc<str>, Corrupt> {
        let (file, brief) = (self.first_template().0, self.log.brief());
        let has_diff = brief.part("diff").is_some();
        let context = json!({
            "packet": self.packet(packet::items(brief))?,
            "has_spec": brief.part("spec").is_some(),
            "has_diff": has_diff,
            "has_lines": has_diff || brief.files.iter().any(|file| file.part.is_none()),
        });
        self.prompts.shared(file, &context)
    }

    /// The prompt of a judge in round 1. A later round repeats it, as the beginning of the judge's conversation.
    fn first_prompt(&self, shared: &Arc<str>, judge: &ReviewJudge<'_>) -> Result<Prompt, Corrupt> {
        let explored = self.log.explorations(&judge.seat.id);
        let explored: Vec<String> =
            explored.map(|(seat, value)| self.quoted.quote(seat, &format!("{value:#}"))).collect();
        let context = self.seat_context(judge, "", &explored);
        Ok(self.prompt(shared, self.prompts.tail(self.first_template().0, &context)?))
    }

    fn first_template(&self) -> (&'static str, ReplySchema) {
        match self.log.options.mode {
            ReviewMode::Validate => ("review/r1.hbs", schema_of::<FirstVerdict>("verdict")),
            ReviewMode::Brainstorm => ("review/brainstorm.hbs", schema_of::<BrainstormAnswer>("brainstorm")),
            ReviewMode::Research => ("review/research.hbs", schema_of::<ResearchAnswer>("research")),
        }
    }

    /// An earlier turn of a judge, as it was asked and answered.
    fn exchange(&self, phase: ReviewPhase, judge: &ReviewJudge<'_>, prompt: String) -> PriorExchange {
        let words = self.log.reply(phase, &judge.seat.id).and_then(Reply::words);
        PriorExchange { prompt, reply: words.map(|words| words.into_owned()).unwrap_or_default() }
    }

    /// What a judge reads of its own in round 1, with what its explorers found, or what one of them does, with its part of the packet.
    fn seat_context(&self, judge: &ReviewJudge<'_>, part: &str, explored: &[String]) -> Value {
        let perspective = judge.perspective.as_ref();
        json!({
            "judge": judge.seat.id,
            "perspective": perspective.map(|perspective| self.one_line(&perspective.name)),
            "about": perspective.map(|perspective| self.one_line(&perspective.about)).unwrap_or_default(),
            "explorations": explored,
            "part": part,
        })
    }

    /// Words that stand outside a quotation, reduced to one line that cannot open one.
    fn one_line(&self, text: &str) -> String {
        self.quoted.shown(&text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    fn packet(&self, items: Vec<PacketItem>) -> Result<String, Corrupt> {
        let context = packet::context(self.log.brief(), &self.quoted, items, &self.interjections(true));
        Ok(self.prompts.shared("review/packet.hbs", &context)?.trim_end().to_owned())
    }

    /// What the person who asked said, before the verdicts of round 1 or since.
    fn interjections(&self, is_before: bool) -> Vec<String> {
        let turns = &self.log.debate.turns;
        let first = turns.iter().position(|turn| turn.phase.name == ReviewPhase::FirstVerdict.as_str());
        let first = first.unwrap_or(turns.len());
        let said = self.log.debate.interjections.iter().filter(|said| (said.after <= first) == is_before);
        said.map(|said| self.quoted.person(&said.text)).collect()
    }

    fn prompt(&self, shared: &Arc<str>, tail: String) -> Prompt {
        Prompt { system: self.system.clone(), shared: shared.clone(), tail }
    }
}
