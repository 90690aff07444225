//! The asks of `review`: what each seat reads in each phase.

use std::sync::Arc;

use agon_core::wording::excerpt;
use agon_core::{Ask, Corrupt, PriorExchange, Prompt, Reply, ReplySchema, Seat, SeatThread, Step};
use serde::Serialize;
use serde_json::Value;

use super::findings;
use super::log::{RaisedFinding, ReviewJudge, ReviewLog};
use super::packet::{self, PacketContext, PacketItem};
use super::replies::{
    BrainstormAnswer, ExplorerReport, FirstVerdict, JudgeVerdict, ResearchAnswer, SecondVerdict,
    VerdictRestatement,
};
use super::seats::explorer_id;
use super::verdict::{JudgeAnswer, ReviewBranch};
use super::{ReviewMode, ReviewPhase};
use crate::prompt::{PromptSet, new_ask, restrict, schema_of};
use crate::quotes::QuotedTexts;

/// Makes the asks of one debate.
pub(super) struct ReviewAsks<'a> {
    log: &'a ReviewLog<'a>,
    prompts: &'a PromptSet,
    quoted: QuotedTexts<'a>,
    system: Arc<str>,
}

/// The rule about quoted texts, for the templates that say nothing of a target.
#[derive(Serialize)]
struct SystemContext {
    rule: String,
}

/// What all seats of a phase read.
#[derive(Serialize)]
struct TargetContext<'a> {
    packet: &'a str,
    has_spec: bool,
    has_diff: bool,
    has_lines: bool,
}

/// What a judge or an explorer reads of its own in round 1.
#[derive(Serialize)]
struct SeatContext<'a> {
    judge: &'a str,
    perspective: Option<String>,
    about: String,
    /// For a judge, what its explorers found.
    explorations: Vec<String>,
    /// For an explorer, its part of the packet.
    part: String,
}

/// What a judge reads in round 2.
#[derive(Serialize)]
struct SecondRoundContext<'a> {
    judge: &'a str,
    verdict: Option<JudgeVerdict>,
    is_strict: bool,
    is_disagreed: bool,
    own: Vec<String>,
    has_other_findings: bool,
    can_be_same: bool,
    others: Vec<OtherVerdict<'a>>,
    interjections: Vec<String>,
}

/// The verdict of another judge, quoted.
#[derive(Serialize)]
struct OtherVerdict<'a> {
    judge: &'a str,
    ids: String,
    verdict: String,
}

impl<'a> ReviewAsks<'a> {
    pub(super) fn new(prompts: &'a PromptSet, log: &'a ReviewLog<'a>) -> Result<Self, Corrupt> {
        let quoted = QuotedTexts::new(log.brief());
        let system = prompts.shared("review/system.hbs", &SystemContext { rule: quoted.rule() })?;
        Ok(Self { log, prompts, quoted, system })
    }

    /// The explorers of every judge look around, each in its own part of the packet.
    pub(super) fn explorations(&self) -> Result<Step, Corrupt> {
        let (file, schema) = ("review/explore.hbs", Arc::new(schema_of::<ExplorerReport>("exploration")));
        let shared = self.prompts.shared(file, &self.rule())?;
        let parts = packet::parts(self.log.brief(), self.log.options.explorers);
        let mut asks = Vec::new();
        for judge in &self.log.judges {
            for (number, part) in (1..).zip(&parts) {
                let seat = self.log.brief().seat(&explorer_id(&judge.seat.id, number));
                let context = SeatContext { part: self.packet(part.clone())?, ..self.seat_context(judge) };
                let tail = self.prompts.tail(file, &context)?;
                asks.extend(seat.map(|seat| new_ask(seat, self.prompt(&shared, tail), Some(schema.clone()))));
            }
        }
        Ok(Step::Ask(ReviewPhase::Explore.at(1), asks))
    }

    /// Round 1: every judge rules on its own.
    pub(super) fn first_verdicts(&self) -> Result<Step, Corrupt> {
        let schema = Arc::new(self.first_template().1);
        let ask =
            |(judge, prompt): (&ReviewJudge<'_>, Prompt)| new_ask(judge.seat, prompt, Some(schema.clone()));
        let asks = self.first_prompts(self.log.judges.iter())?.into_iter().map(ask).collect();
        Ok(Step::Ask(ReviewPhase::FirstVerdict.at(1), asks))
    }

    /// Round 2 with strict anchoring: every judge restates its verdict before it reads another one.
    pub(super) fn restatements(&self) -> Result<Step, Corrupt> {
        let (shared, schema) =
            (self.restate_prompt()?, Arc::new(schema_of::<VerdictRestatement>("restatement")));
        let mut asks = Vec::new();
        for (judge, first) in self.first_prompts(self.log.revisers())? {
            let prompt = self.prompt(&shared, String::new());
            let thread = vec![self.exchange(ReviewPhase::FirstVerdict, judge, first.user())];
            asks.push(self.second_round_ask(judge.seat, prompt, schema.clone(), thread));
        }
        Ok(Step::Ask(ReviewPhase::Restate.at(2), asks))
    }

    /// Round 2: the conversation of each judge goes on, with the full verdicts of the others.
    pub(super) fn second_verdicts(&self) -> Result<Step, Corrupt> {
        let strict = self.log.options.strict_anchoring;
        let restate = self.restate_prompt()?;
        let revisers = self.log.revisers().filter(|judge| !strict || judge.restated);
        let mut asks = Vec::new();
        for (judge, first) in self.first_prompts(revisers)? {
            let mut thread = vec![self.exchange(ReviewPhase::FirstVerdict, judge, first.user())];
            if strict {
                thread.push(self.exchange(ReviewPhase::Restate, judge, restate.to_string()));
            }
            let shared = self.prompts.shared("review/r2.hbs", &self.second_round_context(judge)?)?;
            let prompt = self.prompt(&shared, String::new());
            asks.push(self.second_round_ask(judge.seat, prompt, Arc::new(self.second_schema(judge)), thread));
        }
        Ok(Step::Ask(ReviewPhase::SecondVerdict.at(2), asks))
    }

    /// The time of round 2 is for the whole answer. A time that the user set also holds for a person or a program that has a
    /// time of its own.
    fn second_round_ask(
        &self,
        seat: &Seat,
        prompt: Prompt,
        schema: Arc<ReplySchema>,
        thread: Vec<PriorExchange>,
    ) -> Ask {
        Ask {
            thread: SeatThread::Continue(thread),
            within_ms: Some(self.log.r2_within_ms()),
            firm: self.log.options.r2_timeout.is_some(),
            ..new_ask(seat, prompt, Some(schema))
        }
    }

    fn second_round_context<'b>(
        &'b self,
        judge: &'b ReviewJudge<'_>,
    ) -> Result<SecondRoundContext<'b>, Corrupt> {
        let mut others = Vec::new();
        for other in self.others(judge) {
            let raised: Vec<&RaisedFinding> = self.log.shown_findings(other, true).collect();
            let full = serde_json::to_string_pretty(&JudgeAnswer::shown(self.log, other, &raised))?;
            let judge = other.seat.id.as_str();
            let ids: Vec<String> = raised.iter().map(|raised| format!("[{}]", raised.id)).collect();
            others.push(OtherVerdict {
                judge,
                ids: ids.join(", "),
                verdict: self.quoted.quote(judge, &full),
            });
        }
        let own: Vec<String> =
            self.log.shown_findings(judge, true).map(|raised| self.own_finding(raised)).collect();
        let has_other_findings = self.log.shown_findings(judge, false).next().is_some();
        Ok(SecondRoundContext {
            judge: &judge.seat.id,
            verdict: judge.first.as_ref().map(|first| first.verdict),
            is_strict: self.log.options.strict_anchoring,
            is_disagreed: self.log.branch() == Some(ReviewBranch::Disagreed),
            can_be_same: !own.is_empty() && has_other_findings,
            own,
            has_other_findings,
            others,
            interjections: self.interjections(|after| after > self.phases_before_verdicts()),
        })
    }

    /// The id of a judge's own finding, with enough of it to know which one it is: all of it is in the judge's conversation.
    fn own_finding(&self, raised: &RaisedFinding) -> String {
        const CHARS_MAX: usize = 100;
        let text = self.one_line(&excerpt(&raised.finding.description, CHARS_MAX));
        let mark = if findings::is_misplaced(self.log, &raised.finding) {
            " (its location is unverified)"
        } else {
            ""
        };
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
            if let Some(Value::Object(fields)) =
                schema.json.pointer_mut("/properties").filter(|_| values.is_empty())
            {
                fields.shift_remove(field);
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

    /// The prompts of round 1 for these judges. A later round repeats them, as the beginning of the judge's conversation.
    fn first_prompts<'b>(
        &self,
        judges: impl Iterator<Item = &'b ReviewJudge<'a>>,
    ) -> Result<Vec<(&'b ReviewJudge<'a>, Prompt)>, Corrupt>
    where
        'a: 'b,
    {
        let (file, brief) = (self.first_template().0, self.log.brief());
        let packet = self.packet(packet::items(brief))?;
        let context = TargetContext {
            packet: &packet,
            has_spec: brief.part("spec").is_some(),
            has_diff: brief.part("diff").is_some(),
            has_lines: brief.part("diff").is_some() || brief.files.iter().any(|file| file.part.is_none()),
        };
        let shared = self.prompts.shared(file, &context)?;
        let mut prompts = Vec::new();
        for judge in judges {
            let explored = self.log.explorations(&judge.seat.id);
            let explorations =
                explored.map(|(seat, value)| self.quoted.quote(seat, &format!("{value:#}"))).collect();
            let context = SeatContext { explorations, ..self.seat_context(judge) };
            prompts.push((judge, self.prompt(&shared, self.prompts.tail(file, &context)?)));
        }
        Ok(prompts)
    }

    fn first_template(&self) -> (&'static str, ReplySchema) {
        match self.log.options.mode {
            ReviewMode::Validate => ("review/r1.hbs", schema_of::<FirstVerdict>("verdict")),
            ReviewMode::Brainstorm => ("review/brainstorm.hbs", schema_of::<BrainstormAnswer>("brainstorm")),
            ReviewMode::Research => ("review/research.hbs", schema_of::<ResearchAnswer>("research")),
        }
    }

    fn rule(&self) -> SystemContext {
        SystemContext { rule: self.quoted.rule() }
    }

    fn restate_prompt(&self) -> Result<Arc<str>, Corrupt> {
        self.prompts.shared("review/restate.hbs", &self.rule())
    }

    /// An earlier turn of a judge, as it was asked and answered.
    fn exchange(&self, phase: ReviewPhase, judge: &ReviewJudge<'_>, prompt: String) -> PriorExchange {
        let words = self.log.reply(phase, &judge.seat.id).and_then(Reply::words);
        PriorExchange { prompt, reply: words.map(|words| words.into_owned()).unwrap_or_default() }
    }

    fn seat_context<'b>(&self, judge: &'b ReviewJudge<'_>) -> SeatContext<'b> {
        let perspective = judge.perspective.as_ref();
        SeatContext {
            judge: &judge.seat.id,
            perspective: perspective.map(|perspective| self.one_line(&perspective.name)),
            about: perspective.map(|perspective| self.one_line(&perspective.about)).unwrap_or_default(),
            explorations: Vec::new(),
            part: String::new(),
        }
    }

    /// Words that stand outside a quotation, reduced to one line that cannot open one.
    fn one_line(&self, text: &str) -> String {
        self.quoted.shown(&text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    fn packet(&self, items: Vec<PacketItem>) -> Result<String, Corrupt> {
        let interjections = self.interjections(|after| after <= self.phases_before_verdicts());
        let context = PacketContext::new(self.log.brief(), &self.quoted, items, interjections);
        Ok(self.prompts.shared("review/packet.hbs", &context)?.trim_end().to_owned())
    }

    /// How many phases come before the verdicts of round 1.
    fn phases_before_verdicts(&self) -> usize {
        let turns = &self.log.debate.turns;
        let is_first = |name: &str| name == ReviewPhase::FirstVerdict.as_str();
        turns.iter().position(|turn| is_first(&turn.phase.name)).unwrap_or(turns.len())
    }

    /// What the person who asked said, where the number of phases before it is wanted.
    fn interjections(&self, is_wanted: impl Fn(usize) -> bool) -> Vec<String> {
        let said = self.log.debate.interjections.iter().filter(|said| is_wanted(said.after));
        said.map(|said| self.quoted.person(&said.text)).collect()
    }

    fn prompt(&self, shared: &Arc<str>, tail: String) -> Prompt {
        Prompt { system: self.system.clone(), shared: shared.clone(), tail }
    }
}
