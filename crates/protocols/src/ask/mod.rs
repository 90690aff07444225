//! `ask`: the cheapest thing that is good enough, with the proof beside it. Two different models answer; where they differ,
//! `deep` with more seats; then a `panel` of judges on what still divides.
//!
//! This file is the transition table. [`firsts`] reads the first answers and whether two agree, [`part`] makes of a part of the log
//! the debate that `deep` or `panel` sees, [`climb`] says how far the ladder was climbed; [`positions`] who held what and what a
//! plain vote says, [`divided`] what is left for the panel, [`ruling`] what its verdict makes of the answer, [`never_worse`] whether
//! the vote is kept; [`decision`] puts that together, [`risk`] says how often such an agreement was wrong, [`close`] writes the
//! outcome. [`asks`] makes the prompts of the first answers, [`reply`] has their types.

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use agon_core::{
    Brief, Corrupt, Debate, Invalid, Kind, Opt, Protocol, Request, Seat, Stands, Step, Summary, Template,
    options,
};
use serde::Deserialize;
use serde_json::Value;

use crate::deep::{Deep, LOOP};
use crate::panel::Panel;
use climb::{Climb, Rung};
use firsts::{Agreement, Firsts};

mod asks;
mod climb;
mod close;
mod decision;
mod divided;
mod firsts;
mod never_worse;
mod part;
mod positions;
pub mod reply;
mod risk;
mod ruling;
#[cfg(test)]
mod tests;

/// The ladder.
#[derive(Debug)]
pub struct Ask;

const OPTIONS: &[Opt] = &[
    Opt {
        key: "seats",
        kind: Kind::Int(3, 7),
        default: "",
        help: "how many debate if the first two differ, those two included; by default 4, or as many as models are named",
    },
    Opt {
        key: "judges",
        kind: Kind::Int(3, 7),
        default: "3",
        help: "how many judges rule on what still divides the debaters, an odd number",
    },
    Opt {
        key: "stands_from",
        kind: Kind::Float(1.0, 5.0),
        default: "3.0",
        help: "the debate's answer stands if the judges give it at least this score of 5",
    },
    Opt {
        key: "never_worse",
        kind: Kind::Flag,
        default: "false",
        help: "keep the plain vote on the first answers unless evidenced changes of mind back the debate's",
    },
    Opt { key: "panel_rounds", kind: Kind::Int(1, 3), default: "3", help: "the judges end after this round" },
    LOOP[0],
    LOOP[1],
    LOOP[2],
    LOOP[3],
    LOOP[4],
];

/// The templates of the first step; those of the debate and of the panel are theirs.
const OWN_TEMPLATES: &[Template] = &[
    Template { file: "ask/system.hbs", text: include_str!("prompts/system.hbs") },
    Template { file: "ask/answer.hbs", text: include_str!("prompts/answer.hbs") },
    Template { file: "ask/compare.hbs", text: include_str!("prompts/compare.hbs") },
];

/// Debaters when no more models are named.
const SEATS: usize = 4;
const SEATS_MAX: usize = 7;

impl Protocol for Ask {
    fn name(&self) -> &'static str {
        "ask"
    }

    fn about(&self) -> &'static str {
        "Two different models answer; only where they differ there is a debate, then judges on what still divides"
    }

    fn subject(&self) -> &'static str {
        "QUESTION"
    }

    fn options(&self) -> &'static [Opt] {
        OPTIONS
    }

    fn roles(&self) -> &'static [&'static str] {
        &["moderator", "chair", "judge"]
    }

    fn templates(&self) -> &'static [Template] {
        static ALL: OnceLock<Vec<Template>> = OnceLock::new();
        ALL.get_or_init(|| {
            let parts = [OWN_TEMPLATES, &[part::RUBRIC_TEMPLATE], Deep.templates(), Panel.templates()];
            parts.concat()
        })
    }

    fn seats(&self, request: &Request) -> Result<Vec<Seat>, Invalid> {
        if request.question.trim().is_empty() {
            return Err(Invalid::new("the question is empty: agon ask \"QUESTION\""));
        }
        let models = different_first(&request.models);
        let mut seats = debaters(request, &models)?;
        for (seat, n) in seats.iter_mut().zip(1..=2) {
            seat.id = format!("answerer-{n}");
        }
        let named = request.roles.get("judge").into_iter().cycle();
        let judges: Vec<&String> = named.chain(models.iter().cycle()).take(judges(request)?).collect();
        seats.extend((1..).zip(judges).map(|(n, model)| Seat {
            id: format!("judge-{n}"),
            role: "judge".into(),
            model: model.clone(),
        }));
        Ok(seats)
    }

    fn calls(&self, brief: &Brief) -> RangeInclusive<u32> {
        let pair = 2;
        let (deep, panel) = (part::deep_brief(brief), part::panel_brief(brief));
        // The first answers of the pair are those of the debate: nothing that is paid for is asked again.
        let most = pair + (Deep.calls(&deep).end() - pair) + pair + Panel.calls(&panel).end();
        pair..=most
    }

    fn bound(&self, brief: &Brief) -> u32 {
        let pair = 2;
        pair + Deep.bound(&part::deep_brief(brief)) + Panel.bound(&part::panel_brief(brief))
    }

    fn next(&self, debate: &Debate) -> Result<Step, Corrupt> {
        let Some(phase) = debate.last_phase() else { return asks::answers(debate) };
        let firsts = Firsts::read(debate)?;
        match Rung::of(&phase.name) {
            Rung::Pair => after_pair(debate, firsts),
            Rung::Deep => {
                let part = part::deep(debate, &firsts);
                match Deep.next(&part)? {
                    Step::Ask(phase, asks) => Ok(part::asked(debate, part::DEEP, &phase, asks)),
                    Step::Close(deep) => after_deep(Climb::of_deep(debate, firsts, part, *deep)?),
                }
            }
            Rung::Panel => convene(Climb::of_panel(debate, firsts)?),
        }
    }

    fn check(&self, debate: &Debate, ask: &agon_core::Ask, value: &Value) -> Result<(), String> {
        match ask.schema.as_ref().map(|schema| schema.name.as_str()) {
            Some("first_answer") => {
                let given = reply::Given::deserialize(value).map_err(|why| why.to_string())?;
                if given.answer.trim().is_empty() { Err("`answer` must not be empty".into()) } else { Ok(()) }
            }
            Some("comparison") => {
                let comparison = reply::Comparison::deserialize(value).map_err(|why| why.to_string())?;
                match comparison.same || comparison.difference().is_some() {
                    true => Ok(()),
                    false => Err("`difference` must say what differs when `same` is false".into()),
                }
            }
            _ => climb::current(debate).map_or(Ok(()), |(protocol, part)| protocol.check(&part, ask, value)),
        }
    }

    fn closing(&self) -> &'static [&'static str] {
        &["deep/synthesis", "panel/position", "panel/rebuttal", "panel/final"]
    }

    fn kept_for_closing(&self) -> f64 {
        climb::kept()
    }

    fn stands(&self, debate: &Debate) -> Result<Stands, Corrupt> {
        let firsts = Firsts::read(debate)?;
        let debated = debate.turns.iter().any(|turn| Rung::of(&turn.phase.name) == Rung::Deep);
        let part = debated.then(|| part::deep(debate, &firsts));
        let mut stands = positions::Positions::read(debate, &firsts, part.as_ref())?.stands;
        let verdict = debate.outcome.as_ref().map(|outcome| &outcome.verdict);
        let text = |key: &str| Some(verdict?.get(key)?.as_str()?.to_owned());
        // An answer that nobody held is its own words.
        stands.decided = text("position").or_else(|| text("answer"));
        Ok(stands)
    }

    fn summary(&self, debate: &Debate) -> Option<Summary> {
        match climb::current(debate) {
            Some((protocol, part)) => protocol.summary(&part),
            None => first_table(debate),
        }
    }
}

/// Agreed, or compared, or debated; or a limit ends it here.
fn after_pair(debate: &Debate, firsts: Firsts<'_>) -> Result<Step, Corrupt> {
    let pair = firsts::pair_of(debate).len();
    let calls = match &firsts.agreement {
        Agreement::Same | Agreement::Declared => return Ok(close::close(&Climb::of_pair(debate, firsts)?)),
        Agreement::Open => pair,
        Agreement::Missing(_) | Agreement::Divided(_) => {
            debate.brief.seats_of("debater").count().saturating_sub(pair)
        }
    };
    if let Some(limit) = climb::stopped(climb::limits(debate), calls) {
        let climb = Climb { stopped: Some(limit), ..Climb::of_pair(debate, firsts)? };
        return Ok(close::close(&climb));
    }
    match firsts.agreement {
        Agreement::Open => asks::comparisons(debate, &firsts),
        _ => asks::further(debate),
    }
}

/// A panel where something still divides, unless a limit leaves none.
fn after_deep(climb: Climb<'_>) -> Result<Step, Corrupt> {
    if climb.why_panel().is_none() {
        return Ok(close::close(&climb));
    }
    let judges = climb.debate.brief.seats_of("judge").count();
    match climb::stopped(climb::limits_of_panel(climb.debate), judges) {
        Some(limit) => Ok(close::close(&Climb { stopped: Some(limit), ..climb })),
        None => convene(climb),
    }
}

/// The panel's next step.
fn convene(climb: Climb<'_>) -> Result<Step, Corrupt> {
    let part = climb.panel_part();
    match Panel.next(&part)? {
        Step::Ask(phase, asks) => Ok(part::asked(climb.debate, part::PANEL, &phase, asks)),
        Step::Close(panel) => Ok(close::close(&Climb { panel: Some((part, *panel)), ..climb })),
    }
}

/// The models with the first two that differ in front.
fn different_first(models: &[String]) -> Vec<String> {
    let mut models = models.to_vec();
    let other = models.iter().position(|model| Some(model) != models.first());
    if let Some(other) = other {
        let model = models.remove(other);
        models.insert(1, model);
    }
    models
}

/// The seats of the debate, as `deep` gives them.
fn debaters(request: &Request, models: &[String]) -> Result<Vec<Seat>, Invalid> {
    if models.is_empty() {
        return Err(Invalid::new("ask needs at least one model, better two different ones"));
    }
    let set = request.options.get("seats").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let count = set.unwrap_or(SEATS.max(models.len()));
    if count > SEATS_MAX {
        return Err(Invalid(format!(
            "ask seats 3 to {SEATS_MAX} debaters, but {count} models are named: set --seats, and the first of them sit"
        )));
    }
    let mut options = options::resolve(Deep.options(), [])?;
    options.extend(part::of_loop(&request.options));
    Deep.seats(&Request {
        question: request.question.clone(),
        models: models.iter().cycle().take(count).cloned().collect(),
        roles: request.roles.clone(),
        options,
        ..Request::default()
    })
}

/// How many judges sit. An even number could not be told from a tie.
fn judges(request: &Request) -> Result<usize, Invalid> {
    let set = request.options.get("judges").and_then(Value::as_u64).unwrap_or_default();
    let odd = usize::try_from(set).ok().filter(|count| count % 2 == 1);
    odd.ok_or_else(|| Invalid(format!("judges is {set}, but it must be odd: 3, 5 or 7")))
}

/// The first answers, once they are there.
fn first_table(debate: &Debate) -> Option<Summary> {
    let firsts = Firsts::read(debate).ok()?;
    let title = match &firsts.agreement {
        Agreement::Missing(_) => return None,
        Agreement::Same | Agreement::Declared => "The two answers agree",
        Agreement::Open => "The two answers are compared",
        Agreement::Divided(_) => "The two answers differ",
    };
    let mut rows = vec![["Seat", "Answer", "Confidence"].map(String::from).to_vec()];
    for first in &firsts.all {
        let answer = first.given.answer.split_whitespace().collect::<Vec<_>>().join(" ");
        rows.push(vec![first.seat.to_owned(), answer, format!("{:.2}", first.given.confidence)]);
    }
    Some(Summary { title: title.to_owned(), rows, notes: Vec::new() })
}
