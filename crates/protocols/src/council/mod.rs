//! `council`: councillors with roles cross-examine each other, write to each other, a moderator intervenes, a vote (seed 002).
//!
//! This file is the transition table. [`roster`] has the roles; [`log`] reads from the log what was said in each [`round`], [`ledger`]
//! what became of each challenge, [`findings`] what the moderator finds, [`moderation`] what it does; [`asks`] makes the prompts from [`transcript`]'s
//! entries, [`schema`] the shapes of the answers, [`validation`] what shapes cannot say; [`votes`] decides, [`close`] writes the
//! outcome, of which [`verdict`] and [`points`] are the parts; [`summary`] is shown as a round ends, [`session`] is the file that
//! grows, [`checks`] are the seed's success metrics and failure modes; [`reply`] has the answers' types.

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use agon_core::{
    Ask, Brief, Check, Corrupt, Debate, Invalid, Kind, Opt, Phase, Protocol, Request, Saved, Seat, Stands,
    Step, Summary, Template, Termination,
};
use serde_json::Value;

use crate::prompt::{self, Prompts};
use asks::Asks;
use log::{Log, QUORUM};

mod asks;
mod checks;
mod close;
mod findings;
mod ledger;
mod log;
mod moderation;
mod points;
pub mod reply;
mod roster;
mod round;
mod schema;
mod session;
mod stands;
mod summary;
#[cfg(test)]
mod tests;
mod transcript;
mod validation;
mod verdict;
mod votes;
mod words;

/// The protocol of seed 002.
#[derive(Debug)]
pub struct Council;

const OPTIONS: &[Opt] = &[
    Opt {
        key: "rounds",
        kind: Kind::Int(1, 4),
        default: "2",
        help: "rounds of cross-examination; all of them are held",
    },
    Opt {
        key: "councillors",
        kind: Kind::Int(3, 6),
        default: "",
        help: "how many councillors sit; by default 4, or as many as the roster has roles",
    },
    Opt {
        key: "focus",
        kind: Kind::Text,
        default: "",
        help: "the field that matters most; the Domain Expert, who sits sixth, needs it",
    },
    Opt {
        key: "exchanges",
        kind: Kind::Int(1, 5),
        default: "2",
        help: "the most messages that a councillor sends to others in a round",
    },
    Opt {
        key: "economy",
        kind: Kind::Flag,
        default: "false",
        help: "one call at a time on one model, and no messages between councillors",
    },
    Opt {
        key: "economy_model",
        kind: Kind::Text,
        default: "",
        help: "the model of economy mode; by default the first of --models",
    },
    Opt {
        key: "roster",
        kind: Kind::File,
        default: "",
        help: "a file (YAML, JSON or TOML) with roles and their charters, which sit first",
    },
];

const TEMPLATES: &[Template] = &[
    Template { file: "council/system.hbs", text: include_str!("prompts/system.hbs") },
    Template { file: "council/material.hbs", text: include_str!("prompts/material.hbs") },
    Template { file: "council/positions.hbs", text: include_str!("prompts/positions.hbs") },
    Template { file: "council/opening.hbs", text: include_str!("prompts/opening.hbs") },
    Template { file: "council/challenge.hbs", text: include_str!("prompts/challenge.hbs") },
    Template { file: "council/exchange.hbs", text: include_str!("prompts/exchange.hbs") },
    Template { file: "council/moderator.hbs", text: include_str!("prompts/moderator.hbs") },
    Template { file: "council/re_ask.hbs", text: include_str!("prompts/re_ask.hbs") },
    Template { file: "council/steelman.hbs", text: include_str!("prompts/steelman.hbs") },
    Template { file: "council/reframing.hbs", text: include_str!("prompts/reframing.hbs") },
    Template { file: "council/final.hbs", text: include_str!("prompts/final.hbs") },
];

fn prompts() -> Result<&'static Prompts, Corrupt> {
    static PROMPTS: OnceLock<Prompts> = OnceLock::new();
    prompt::once(&PROMPTS, || Prompts::new(TEMPLATES))
}

impl Protocol for Council {
    fn name(&self) -> &'static str {
        "council"
    }

    fn about(&self) -> &'static str {
        "Councillors with roles cross-examine each other, exchange messages, a moderator intervenes, and they vote"
    }

    fn subject(&self) -> &'static str {
        "TOPIC"
    }

    fn options(&self) -> &'static [Opt] {
        OPTIONS
    }

    fn roles(&self) -> &'static [&'static str] {
        &["moderator"]
    }

    fn templates(&self) -> &'static [Template] {
        TEMPLATES
    }

    fn seats(&self, request: &Request) -> Result<Vec<Seat>, Invalid> {
        if request.question.trim().is_empty() {
            return Err(Invalid::new("the topic is empty: agon council \"TOPIC\""));
        }
        let first = request.models.first().ok_or_else(|| Invalid::new("council needs at least one model"))?;
        let roles = roster::seated(request)?;
        let economy = economy_model(request)?;
        let models = request.models.iter().cycle();
        let seat = |id: String, role: &str, model: &String| Seat {
            id,
            role: role.into(),
            model: economy.as_ref().unwrap_or(model).clone(),
        };
        let mut seats: Vec<Seat> =
            roles.iter().zip(models).map(|(role, model)| seat(role.id(), "councillor", model)).collect();
        // In economy mode, too, a moderator that somebody named is that one.
        let moderator = request.roles.get("moderator").or(economy.as_ref()).unwrap_or(first);
        seats.push(Seat { id: "moderator".into(), role: "moderator".into(), model: moderator.clone() });
        Ok(seats)
    }

    fn calls(&self, brief: &Brief) -> RangeInclusive<u32> {
        let (n, rounds) = (councillors(brief), brief.int("rounds"));
        let exchange = if brief.flag("economy") { 0 } else { n };
        // The dearest interventions are a question to all and one seat for each of the others.
        let interventions = n + 2;
        let total = |each: u32| n + rounds * each + n;
        total(n + 1)..=total(n + exchange + 1 + interventions)
    }

    fn bound(&self, brief: &Brief) -> u32 {
        match brief.flag("economy") {
            true => *self.calls(brief).end(),
            false => 2 + 4 * brief.int("rounds"),
        }
    }

    fn next(&self, debate: &Debate) -> Result<Step, Corrupt> {
        let log = Log::read(debate)?;
        let Some(phase) = debate.last_phase() else { return ask(&log, Phase::new("opening", 0)) };
        if let Some(step) = rest_of(debate, &log, phase)? {
            return Ok(step);
        }
        let (round, rounds) = (phase.round, debate.brief.int("rounds"));
        let wrote = log.letters.iter().any(|letter| letter.round == round);
        let intervenes = log.round(round).is_some_and(|round| !round.interventions.is_empty());
        let present = log.round(round).map_or(0, round::Round::present);
        let verdict = || ask(&log, Phase::new("verdict", rounds));
        let unless_short = |name: &str, round: u32| unless_short(&log, Phase::new(name, round));
        match phase.name.as_str() {
            "opening" if log.active().len() < QUORUM && log.unasked("opening", 0).next().is_some() => {
                end(&log, Termination::Budget)
            }
            "opening" if log.active().len() < QUORUM => end(&log, Termination::QuorumLost),
            "opening" => unless_short("challenge", 1),
            "challenge" if present < QUORUM && !log.limits().spent(1) => end(&log, Termination::QuorumLost),
            "challenge" if wrote => unless_short("exchange", round),
            "challenge" | "exchange" => unless_short("moderate", round),
            "moderate" if intervenes => unless_short("intervene", round),
            "moderate" | "intervene" if round < rounds => unless_short("challenge", round + 1),
            "moderate" | "intervene" => verdict(),
            _ => end(&log, close::termination(&log)),
        }
    }

    fn check(&self, debate: &Debate, ask: &Ask, value: &Value) -> Result<(), String> {
        let exchanges = usize::try_from(debate.brief.int("exchanges")).unwrap_or(usize::MAX);
        let active = log::opened(debate);
        let standing = log::standing(debate, &ask.seat);
        validation::check(&validation::Rules { active, exchanges, standing }, ask, value)
    }

    fn closing(&self) -> &'static [&'static str] {
        &["verdict"]
    }

    fn kept_for_closing(&self) -> f64 {
        log::KEPT
    }

    fn stands(&self, debate: &Debate) -> Result<Stands, Corrupt> {
        stands::stands(debate)
    }

    fn summary(&self, debate: &Debate) -> Option<Summary> {
        summary::summary(debate)
    }

    fn minutes(&self, debate: &Debate) -> Option<Saved> {
        session::session(debate)
    }

    fn checks(&self, debate: &Debate) -> Vec<Check> {
        checks::checks(debate)
    }
}

/// All asks of a phase at once; in economy mode its first.
fn ask(log: &Log<'_>, phase: Phase) -> Result<Step, Corrupt> {
    let asks = Asks::new(log)?.phase(&phase, log.is_economy().then_some(0))?;
    Ok(Step::Ask(phase, asks))
}

/// In economy mode the next ask of the phase that is under way, made from what was said before it: nobody sees words of the phase
/// that it is in.
fn rest_of(debate: &Debate, log: &Log<'_>, phase: &Phase) -> Result<Option<Step>, Corrupt> {
    let short = phase.name != "verdict" && log.limits().spent(1);
    if !log.is_economy() || short {
        return Ok(None);
    }
    let begun = log::begun(debate);
    let before = Log::of_first(debate, begun)?;
    let next = Asks::new(&before)?.phase(phase, Some(debate.turns.len() - begun))?;
    Ok((!next.is_empty()).then(|| Step::Ask(phase.clone(), next)))
}

/// A phase, or the vote where a limit leaves no more than that.
fn unless_short(log: &Log<'_>, phase: Phase) -> Result<Step, Corrupt> {
    let calls = if log.is_economy() { 1 } else { Asks::new(log)?.asked(&phase).len() };
    match log.limits().spent(calls) {
        true => ask(log, Phase::new("verdict", log.debate.brief.int("rounds"))),
        false => ask(log, phase),
    }
}

fn end(log: &Log<'_>, termination: Termination) -> Result<Step, Corrupt> {
    Ok(Step::Close(Box::new(close::close(log, termination))))
}

fn councillors(brief: &Brief) -> u32 {
    u32::try_from(brief.seats_of("councillor").count()).unwrap_or(u32::MAX)
}

/// The one model of economy mode.
fn economy_model(request: &Request) -> Result<Option<String>, Invalid> {
    let economy = request.options.get("economy").and_then(Value::as_bool).unwrap_or_default();
    let named = request.options.get("economy_model").and_then(Value::as_str).unwrap_or_default().trim();
    match (economy, named) {
        (false, "") => Ok(None),
        (false, _) => Err(Invalid::new("economy_model is set, but economy is not: add --economy")),
        (true, "") => Ok(request.models.first().cloned()),
        (true, named) if named.contains(',') => {
            Err(Invalid(format!("economy_model is {named:?}, but it must be one model")))
        }
        (true, named) => Ok(Some(named.to_owned())),
    }
}
