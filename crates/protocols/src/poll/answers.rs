//! The answers that seats give alone: how they are asked for, and how they are read. `ask` begins in the same way.

use std::sync::Arc;

use agon_core::{
    Ballot, Corrupt, Debate, Phase, PhaseTurn, PositionHistory, PromptTemplate, ReplySchema, RoundPositions,
    Seat, SeatPosition, Step,
};
use serde::Deserialize;
use serde_json::json;

use super::replies::PollAnswer;
use crate::attached_context::has_attached;
use crate::prompt::{self, PromptSet, new_ask};
use crate::quotes::QuotedTexts;
use crate::sorting::PositionGroup;

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
        let (brief, quoted) = (&debate.brief, QuotedTexts::anonymous(&debate.brief));
        let files = brief.files.iter().filter(|file| file.part.is_none());
        let files: Vec<String> = files.map(|file| quoted.quote(&file.path, &file.text)).collect();
        let said = debate.interjections.iter().map(|said| quoted.person(&said.text));
        let context = json!({
            "rule": (!files.is_empty() || has_attached(brief)).then(|| quoted.rule()),
            "question": quoted.person(&brief.question),
            "interjections": said.collect::<Vec<_>>(),
            "files": files,
        });
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

/// What all seats answered, for the measures.
pub(crate) fn ballots(answers: &[SeatAnswer<'_>]) -> Vec<Ballot> {
    let ballot = |SeatAnswer { seat, reply }: &SeatAnswer<'_>| Ballot {
        seat: (*seat).to_owned(),
        answer: reply.answer.trim().to_owned(),
        stands_alone: true,
    };
    answers.iter().map(ballot).collect()
}

/// One round of positions: the sorted answers. The name of a position is the answer of the first who gave it.
pub(crate) fn answer_history(
    answers: &[SeatAnswer<'_>],
    groups: &[PositionGroup],
    round: u32,
) -> PositionHistory {
    let seat_position = |(place, answer): (usize, &SeatAnswer<'_>)| {
        let group = groups.iter().find(|group| group.members.contains(&place));
        let first = group.and_then(|group| answers.get(*group.members.first()?));
        SeatPosition {
            seat: answer.seat.to_owned(),
            position: first.map_or("", |first| first.answer()).to_owned(),
            is_unsorted: group.is_some_and(|group| group.is_unsorted),
            confidence: Some(answer.reply.confidence),
            ..SeatPosition::default()
        }
    };
    let stands: Vec<SeatPosition> = answers.iter().enumerate().map(seat_position).collect();
    let round = (!stands.is_empty()).then(|| RoundPositions { round, stands, ..RoundPositions::default() });
    PositionHistory { rounds: round.into_iter().collect(), ..PositionHistory::default() }
}
