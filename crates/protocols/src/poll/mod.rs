//! `poll`: everybody answers alone, once, and the answer that most give is the answer.
//!
//! What a debate is measured against: one model is a poll of one seat, self-consistency one of many seats of one model, a plain
//! vote one of many models. This file is the transition table; [`count`] puts the answers together, [`close`] writes the
//! outcome, [`reply`] has the answer's type. When two answers are the same is said in [`crate::answer`].

use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use agon_core::{
    Ask, Brief, Corrupt, Debate, Fence, Invalid, Kind, Opt, Phase, Protocol, Request, Schema, Seat, Stands,
    Step, Template,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::prompt::{self, Prompts, ask};
use count::Count;

mod close;
mod count;
pub mod reply;
#[cfg(test)]
mod tests;

/// Everybody answers alone.
#[derive(Debug)]
pub struct Poll;

/// The most seats.
pub const SEATS_MAX: u32 = 15;
/// Seats when one model is named.
const SEATS: usize = 3;
const PHASE: &str = "answer";
const ROUND: u32 = 1;

const OPTIONS: &[Opt] = &[Opt {
    key: "seats",
    kind: Kind::Int(1, SEATS_MAX),
    default: "",
    help: "how many answer, the models in turn [default: one for each model, 3 of one]",
}];

const TEMPLATES: &[Template] = &[
    Template { file: "poll/system.hbs", text: include_str!("prompts/system.hbs") },
    Template { file: "poll/answer.hbs", text: include_str!("prompts/answer.hbs") },
];

struct Parts {
    prompts: Prompts,
    given: Arc<Schema>,
}

fn parts() -> Result<&'static Parts, Corrupt> {
    static PARTS: OnceLock<Parts> = OnceLock::new();
    prompt::once(&PARTS, || {
        Ok(Parts {
            prompts: Prompts::new(TEMPLATES)?,
            given: Arc::new(prompt::schema_of::<reply::Given>("given")),
        })
    })
}

impl Protocol for Poll {
    fn name(&self) -> &'static str {
        "poll"
    }

    fn about(&self) -> &'static str {
        "Everybody answers alone, once, and the answer that most give is the answer"
    }

    fn subject(&self) -> &'static str {
        "QUESTION"
    }

    fn options(&self) -> &'static [Opt] {
        OPTIONS
    }

    fn roles(&self) -> &'static [&'static str] {
        &[]
    }

    fn templates(&self) -> &'static [Template] {
        TEMPLATES
    }

    fn seats(&self, request: &Request) -> Result<Vec<Seat>, Invalid> {
        if request.question.trim().is_empty() {
            return Err(Invalid::new("the question is empty: a poll needs one"));
        }
        let models = &request.models;
        let count = match (seats_wanted(request), models.len()) {
            (_, 0) => return Err(Invalid::new("a poll needs at least one model")),
            (Some(seats), named) if seats < named => {
                return Err(Invalid(format!(
                    "seats is {seats}, but {named} models are named, and each is to be heard: name fewer, or set seats to {named} or more"
                )));
            }
            (Some(seats), _) => seats,
            (None, 1) => SEATS,
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

    fn calls(&self, brief: &Brief) -> RangeInclusive<u32> {
        let seats = u32::try_from(brief.seats.len()).unwrap_or(u32::MAX);
        seats..=seats
    }

    fn bound(&self, _brief: &Brief) -> u32 {
        1
    }

    fn next(&self, debate: &Debate) -> Result<Step, Corrupt> {
        match debate.last_phase() {
            None => asks(debate),
            Some(_) => close::close(&Count::of(debate)?),
        }
    }

    fn check(&self, debate: &Debate, _ask: &Ask, value: &Value) -> Result<(), String> {
        let given = reply::Given::deserialize(value).map_err(|why| why.to_string())?;
        match Answer::alone(&debate.brief.question, &given.answer) {
            Some(_) => Ok(()),
            None => Err("`answer` must not be empty".into()),
        }
    }

    fn stands(&self, debate: &Debate) -> Result<Stands, Corrupt> {
        Ok(close::stands(&Count::of(debate)?))
    }
}

fn seats_wanted(request: &Request) -> Option<usize> {
    request.options.get("seats").and_then(Value::as_u64).and_then(|seats| usize::try_from(seats).ok())
}

/// Everybody is asked the same.
fn asks(debate: &Debate) -> Result<Step, Corrupt> {
    let (parts, brief) = (parts()?, &debate.brief);
    let fence = Fence::new(brief);
    let system = parts.prompts.shared("poll/system.hbs", &json!({"rule": fence.rule()}))?;
    let files = brief.files.iter().filter(|file| file.part.is_none());
    let files: Vec<String> = files.map(|file| fence.quote(&file.path, &file.text)).collect();
    let said = debate.interjections.iter();
    let said: Vec<String> = said.map(|said| fence.quote("the person who asked", &said.text)).collect();
    let context = json!({
        "question": fence.quote("the question", &brief.question),
        "files": files,
        "interjections": said,
        "schema": parts.given.json.to_string(),
    });
    let prompt = parts.prompts.whole(&system, "poll/answer.hbs", &context)?;
    let asks = brief.seats.iter().map(|seat| ask(seat, prompt.clone(), Some(parts.given.clone())));
    Ok(Step::Ask(Phase::new(PHASE, ROUND), asks.collect()))
}
