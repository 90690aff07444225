//! `poll`: every seat answers once, alone, and the most common answer wins.
//!
//! A poll is what debates are compared with. One seat is a single model, many seats of one model are self-consistency, and
//! seats of many models are a plain vote.
//!
//! This file has the options and the transition table. [`answers`] asks for the answers and reads them, [`tally`] counts them,
//! [`verdict`] closes the poll and describes it for readers, and [`replies`] has the type of an answer.
//! [`AnswerSheet`](crate::clerk::AnswerSheet) says which answers are the same.

use std::sync::OnceLock;

use agon_core::protocol::file_names;
use agon_core::{
    Ask, Brief, CallPlan, Corrupt, Debate, DebateView, Invalid, PhaseInfo, PromptTemplate, Protocol,
    ProtocolInfo, ReplyFault, Request, RoleInfo, RoleModels, Seat, Step,
};
use serde::Deserialize;
use serde_json::Value;

use crate::clerk::{CLERK, CLERK_TEMPLATE, ClerkSorting, clerk_model};
use crate::prompt::made_once;
use answers::AnswerAsks;
use replies::PollAnswer;
use tally::PollTally;

pub(crate) mod answers;
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
const VOTER: &str = "voter";

agon_core::protocol_options! {
    /// What a user may set.
    pub struct PollOptions {
        seats: Option<usize> = Int(1, SEATS_MAX), "", "how many answer, the models in turn [default: one for each model, 3 of one]";
    }
}

agon_core::protocol_phases! {
    pub enum PollPhase {
        Answer => PhaseInfo::new("answer", "First answers", "answers", "answer, each on its own").first_positions().asked_again(),
        Clerk => PhaseInfo::new("clerk", "Which answers are the same", "sorts the answers", "sort the answers"),
    }
}

const SYSTEM: PromptTemplate =
    PromptTemplate { file: "poll/system.hbs", text: include_str!("prompts/system.hbs") };
const ANSWER: PromptTemplate =
    PromptTemplate { file: "poll/answer.hbs", text: include_str!("prompts/answer.hbs") };

static INFO: ProtocolInfo = ProtocolInfo {
    name: "poll",
    about: "Every seat answers once, alone, and the answer that most of them give is the answer",
    subject: "QUESTION",
    options: PollOptions::SPECS,
    roles: &[
        RoleInfo { name: VOTER, models: RoleModels::Listed },
        RoleInfo { name: CLERK, models: RoleModels::Named },
    ],
    templates: &[SYSTEM, ANSWER, CLERK_TEMPLATE],
    phases: PollPhase::INFO,
    closing_share: 0.0,
    title: file_names,
    gate: None,
    is_rated: false,
    record_folder: None,
    isolation: &[],
    simulation: None,
    example: Some((
        "\"Which port does PostgreSQL use by default?\" --models A,B,C",
        "ask three models once and count their answers",
    )),
    demo: Some(include_str!("demo.yaml")),
};

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
        let seat = |(model, n): (&String, u32)| Seat {
            id: format!("{VOTER}-{n}"),
            role: VOTER.into(),
            model: model.clone(),
        };
        let mut seats: Vec<Seat> = models.iter().cycle().take(count).zip(1..).map(seat).collect();
        // One answer needs no sorting.
        if count > 1 {
            let model = clerk_model(request, None, &seats);
            seats.push(Seat { id: CLERK.into(), role: CLERK.into(), model });
        }
        Ok(seats)
    }

    fn plan(&self, brief: &Brief) -> CallPlan {
        let count = |role: &str| u32::try_from(brief.seats_of(role).count()).unwrap_or(u32::MAX);
        let (voters, clerks) = (count(VOTER), count(CLERK));
        CallPlan {
            fewest_calls: voters,
            most_calls: voters.saturating_add(clerks),
            most_phases: 1 + clerks,
            most_rounds: None,
        }
    }

    fn next(&self, debate: &Debate) -> Result<Step, Corrupt> {
        let Some(phase) = debate.last_phase() else { return ask_everybody(debate) };
        let tally = PollTally::read(debate)?;
        match PollPhase::of(phase)? {
            PollPhase::Answer => match tally.clerk_ask()? {
                Some(ask) => Ok(Step::Ask(PollPhase::Clerk.at(ROUND), vec![ask])),
                None => verdict::close(&tally),
            },
            PollPhase::Clerk => verdict::close(&tally),
        }
    }

    fn check(&self, debate: &Debate, _ask: &Ask, value: &Value) -> Result<(), ReplyFault> {
        let unreadable = |why: Corrupt| ReplyFault::Invalid(why.to_string());
        let phase = debate.last_phase().map(PollPhase::of).transpose().map_err(unreadable)?;
        match phase {
            None | Some(PollPhase::Answer) => PollAnswer::deserialize(value)?.check(),
            Some(PollPhase::Clerk) => {
                let reply = ClerkSorting::deserialize(value)?;
                PollTally::read(debate).map_err(unreadable)?.sheet().check_clerk(&reply)
            }
        }
    }

    fn view(&self, debate: &Debate) -> Result<DebateView, Corrupt> {
        Ok(verdict::view(&PollTally::read(debate)?))
    }
}

fn ask_everybody(debate: &Debate) -> Result<Step, Corrupt> {
    static ASKS: OnceLock<AnswerAsks> = OnceLock::new();
    let asks = made_once(&ASKS, || AnswerAsks::new([SYSTEM, ANSWER]))?;
    asks.ask(debate, PollPhase::Answer.at(ROUND), debate.brief.seats_of(VOTER))
}
