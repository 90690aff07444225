//! The answers that seats give alone: how they are asked for, and how they are read. `ask` begins in the same way.

use std::sync::Arc;

use agon_core::{Corrupt, Debate, Phase, PhaseTurn, PromptTemplate, ReplySchema, Seat, Step};
use serde::{Deserialize, Serialize};

use super::replies::PollAnswer;
use crate::attached_context::has_attached;
use crate::prompt::{self, PromptSet, new_ask};
use crate::quotes::QuotedTexts;

/// What the prompts show. It is the same for every seat.
#[derive(Serialize)]
struct AnswerPromptContext {
    rule: Option<String>,
    question: String,
    interjections: Vec<String>,
    files: Vec<String>,
}

impl AnswerPromptContext {
    fn of(debate: &Debate) -> Self {
        let quoted = QuotedTexts::anonymous(&debate.brief);
        let files = debate.brief.files.iter().filter(|file| file.part.is_none());
        let files: Vec<String> = files.map(|file| quoted.quote(&file.path, &file.text)).collect();
        Self {
            rule: (!files.is_empty() || has_attached(&debate.brief)).then(|| quoted.rule()),
            question: quoted.person(&debate.brief.question),
            interjections: debate.interjections.iter().map(|said| quoted.person(&said.text)).collect(),
            files,
        }
    }
}

/// Asks seats to answer, each alone. The first template is that of the system prompt, the second that of the question.
pub(crate) struct AnswerAsks {
    prompts: PromptSet,
    files: [&'static str; 2],
    schema: Arc<ReplySchema>,
}

impl AnswerAsks {
    pub(crate) fn new(templates: [PromptTemplate; 2]) -> Result<Self, Corrupt> {
        Ok(Self {
            prompts: PromptSet::new(&templates)?,
            files: templates.map(|template| template.file),
            schema: Arc::new(prompt::schema_of::<PollAnswer>("answer")),
        })
    }

    pub(crate) fn ask<'s>(
        &self,
        debate: &Debate,
        phase: Phase,
        seats: impl Iterator<Item = &'s Seat>,
    ) -> Result<Step, Corrupt> {
        let context = AnswerPromptContext::of(debate);
        let [system, question] = self.files;
        let system = self.prompts.shared(system, &context)?;
        let prompt = self.prompts.whole(&system, question, &context)?;
        let asks = seats.map(|seat| new_ask(seat, prompt.clone(), Some(self.schema.clone())));
        Ok(Step::Ask(phase, asks.collect()))
    }
}

/// What a seat answered.
#[derive(Debug, Clone)]
pub(crate) struct SeatAnswer<'a> {
    pub(crate) seat: &'a str,
    pub(crate) reply: PollAnswer,
}

impl SeatAnswer<'_> {
    /// The answer alone.
    pub(crate) fn answer(&self) -> &str {
        self.reply.answer.trim()
    }
}

/// The answers of a phase, in seat order.
pub(crate) fn seat_answers<'a>(debate: &'a Debate, phase: &str) -> Result<Vec<SeatAnswer<'a>>, Corrupt> {
    let turns = debate.turns.iter().filter(|turn| turn.phase.name == phase);
    let said = turns.flat_map(PhaseTurn::settled);
    let said = said.filter_map(|(ask, reply)| Some((ask, reply.value()?)));
    said.map(|(ask, value)| Ok(SeatAnswer { seat: &ask.seat, reply: PollAnswer::deserialize(value)? }))
        .collect()
}
