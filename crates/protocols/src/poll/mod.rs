//! `poll`: every seat answers once, alone, and the most common answer wins.
//!
//! A poll is what debates are compared with. One seat is a single model, many seats of one model are self-consistency, and
//! seats of many models are a plain vote.
//!
//! This file has the options and the transition table. [`tally`] groups and counts the answers, [`verdict`] closes the poll and
//! describes it for readers, and [`replies`] has the type of an answer. [`crate::answer`] decides when two answers are the same.

use std::sync::{Arc, OnceLock};

use agon_core::protocol::file_names;
use agon_core::{
    Ask, Brief, CallPlan, Corrupt, Debate, DebateView, Fence, Invalid, PhaseInfo, PromptTemplate, Protocol,
    ProtocolInfo, ReplyFault, ReplySchema, Request, RoleInfo, RoleModels, Seat, Step,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::prompt::{self, PromptSet, new_ask};
use tally::PollTally;

pub mod replies;
mod tally;
#[cfg(test)]
mod tests;
pub mod verdict;

/// A vote without a debate.
#[derive(Debug)]
pub struct Poll;

pub const SEATS_MAX: u32 = 15;
/// How many seats there are if only one model is named.
const SEATS_DEFAULT: usize = 3;
const ROUND: u32 = 1;

agon_core::protocol_options! {
    /// What a user may set.
    pub struct PollOptions {
        seats: Option<usize> = Int(1, SEATS_MAX), "", "how many answer, the models in turn [default: one for each model, 3 of one]";
    }
}

agon_core::protocol_phases! {
    pub enum PollPhase {
        Answer => PhaseInfo::new("answer", "First answers", "answers", "answer, each on its own").first_positions(),
    }
}

const TEMPLATES: &[PromptTemplate] = &[
    PromptTemplate { file: "poll/system.hbs", text: include_str!("prompts/system.hbs") },
    PromptTemplate { file: "poll/answer.hbs", text: include_str!("prompts/answer.hbs") },
];

static INFO: ProtocolInfo = ProtocolInfo {
    name: "poll",
    about: "Every seat answers once, alone, and the answer that most of them give is the answer",
    subject: "QUESTION",
    options: PollOptions::SPECS,
    roles: &[RoleInfo { name: "voter", models: RoleModels::Listed }],
    templates: TEMPLATES,
    phases: PollPhase::INFO,
    closing_share: 0.0,
    title: file_names,
    gate: None,
    is_rated: false,
    record_folder: None,
    isolation: &[],
    simulation: None,
    example: None,
    demo: None,
};

struct PollParts {
    prompts: PromptSet,
    answer: Arc<ReplySchema>,
}

fn parts() -> Result<&'static PollParts, Corrupt> {
    static PARTS: OnceLock<PollParts> = OnceLock::new();
    prompt::made_once(&PARTS, || {
        Ok(PollParts {
            prompts: PromptSet::new(TEMPLATES)?,
            answer: Arc::new(prompt::schema_of::<replies::PollAnswer>("given")),
        })
    })
}

impl Protocol for Poll {
    fn info(&self) -> &'static ProtocolInfo {
        &INFO
    }

    fn seats(&self, request: &Request) -> Result<Vec<Seat>, Invalid> {
        if request.question.trim().is_empty() {
            return Err(Invalid::new("the question is empty: a poll needs one"));
        }
        let models = &request.models;
        let count = match (PollOptions::read(&request.options).seats, models.len()) {
            (_, 0) => return Err(Invalid::new("a poll needs at least one model")),
            (Some(seats), named) if seats < named => {
                return Err(Invalid(format!(
                    "seats is {seats}, but {named} models are named and each must answer: name fewer models, or set seats to {named} or more"
                )));
            }
            (Some(seats), _) => seats,
            (None, 1) => SEATS_DEFAULT,
            (None, named) => named,
        };
        if u32::try_from(count).is_ok_and(|count| count > SEATS_MAX) {
            return Err(Invalid(format!("a poll has 1 to {SEATS_MAX} seats, but {count} models are named")));
        }
        let voters = models.iter().cycle().take(count).zip(1..);
        let seat = |(model, n): (&String, u32)| Seat {
            id: format!("voter-{n}"),
            role: "voter".into(),
            model: model.clone(),
        };
        Ok(voters.map(seat).collect())
    }

    fn plan(&self, brief: &Brief) -> CallPlan {
        let seats = u32::try_from(brief.seats.len()).unwrap_or(u32::MAX);
        CallPlan { fewest_calls: seats, most_calls: seats, most_phases: 1, most_rounds: None }
    }

    fn next(&self, debate: &Debate) -> Result<Step, Corrupt> {
        match debate.last_phase().map(PollPhase::of).transpose()? {
            None => ask_everybody(debate),
            Some(PollPhase::Answer) => verdict::close(&PollTally::read(debate)?),
        }
    }

    fn check(&self, debate: &Debate, _ask: &Ask, value: &Value) -> Result<(), ReplyFault> {
        let reply = replies::PollAnswer::deserialize(value)?;
        match Answer::alone(&debate.brief.question, &reply.answer) {
            Some(_) => Ok(()),
            None => Err(ReplyFault::Invalid("`answer` must not be empty".into())),
        }
    }

    fn view(&self, debate: &Debate) -> Result<DebateView, Corrupt> {
        Ok(verdict::view(&PollTally::read(debate)?))
    }
}

/// What the prompt shows. It is the same for every seat.
#[derive(Serialize)]
struct PollPromptContext {
    question: String,
    files: Vec<String>,
    interjections: Vec<String>,
    schema: String,
}

fn ask_everybody(debate: &Debate) -> Result<Step, Corrupt> {
    let (parts, brief) = (parts()?, &debate.brief);
    let fence = Fence::new(brief);
    let system = parts.prompts.shared("poll/system.hbs", &json!({"rule": fence.rule()}))?;
    let files = brief.files.iter().filter(|file| file.part.is_none());
    let interjections = debate.interjections.iter();
    let context = PollPromptContext {
        question: fence.quote("the question", &brief.question),
        files: files.map(|file| fence.quote(&file.path, &file.text)).collect(),
        interjections: interjections
            .map(|interjection| fence.quote("the person who asked", &interjection.text))
            .collect(),
        schema: parts.answer.json.to_string(),
    };
    let prompt = parts.prompts.whole(&system, "poll/answer.hbs", &context)?;
    let asks = brief.seats.iter().map(|seat| new_ask(seat, prompt.clone(), Some(parts.answer.clone())));
    Ok(Step::Ask(PollPhase::Answer.at(ROUND), asks.collect()))
}
