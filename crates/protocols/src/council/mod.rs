//! `council`: councillors with roles cross-examine each other, exchange messages, a moderator intervenes, and they vote (seed 002).
//!
//! This file has the options, the phases and the transition table. In reading order:
//!
//! - [`roster`]: the roles and their charters.
//! - [`replies`]: what the seats reply, with the schemas; [`reply_rules`]: the rules that schemas cannot express.
//! - [`log`]: what was said in each round, what became of each challenge, and where everybody stands.
//! - [`moderation`]: what is found in a round, and what the moderator does about it.
//! - [`asks`]: the prompts.
//! - [`verdict`]: what the votes decide, and the verdict; [`closing`]: the outcome, and who voted what when.
//! - [`minutes`]: the round summaries, `session.md`, and the seed's success metrics and failure modes.
//! - [`report`]: the headline and the report.
//! - [`simulation`]: how simulated seats play it.

use std::sync::OnceLock;

use agon_core::{
    Ask, Brief, CallPlan, Corrupt, Debate, DebateView, Invalid, PhaseInfo, PromptTemplate, Protocol,
    ProtocolInfo, ReplyFault, Request, RoleInfo, RoleModels, Seat, Step, Termination,
};
use serde::Deserialize;
use serde_json::Value;

use crate::prompt::{PromptSet, made_once};
use asks::AskBuilder;
use log::CouncilLog;
use verdict::CouncilVerdict;

/// Declares an enum of the words of replies and verdicts, with the list of its values.
macro_rules! wire_words {
    ($(#[$meta:meta])* enum $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub(super) enum $name { $($(#[$variant_meta])* #[serde(rename = $word)] $variant,)+ }

        #[allow(dead_code, reason = "not every enum needs the list of its values")]
        impl $name {
            pub(super) const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            pub(super) fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }
    };
}
use wire_words;

mod asks;
mod closing;
mod log;
mod minutes;
mod moderation;
mod replies;
mod reply_rules;
mod report;
mod roster;
mod simulation;
#[cfg(test)]
mod tests;
mod verdict;

/// The share of the limits on time and money that is kept for the vote.
const CLOSING_SHARE: f64 = 0.2;

/// The protocol of seed 002.
#[derive(Debug)]
pub struct Council;

agon_core::protocol_options! {
    /// What a user may set.
    pub struct CouncilOptions {
        rounds: u32 = Int(1, 4), "2", "rounds of cross-examination; all of them are held";
        councillors: Option<usize> = Int(3, 6), "", "how many councillors there are; by default 4, or as many as the roster has roles";
        focus: String = Text, "", "the field that matters most; the Domain Expert, the sixth councillor, needs it";
        exchanges: usize = Int(1, 5), "2", "the most messages that a councillor sends to others in a round";
        economy: bool = Flag, "false", "one call at a time on one model, and no messages between councillors";
        economy_model: String = Model, "", "the model of economy mode; by default the first of --models";
        roster: String = File, "", "a file (YAML, JSON or TOML) with roles and their charters, which take the first seats";
    }
}

agon_core::protocol_phases! {
    /// The phases of a council.
    pub enum CouncilPhase {
        Opening => PhaseInfo::new("opening", "Opening statements", "gives an opening", "give their openings, each on its own").first_positions(),
        Challenge => PhaseInfo::new("challenge", "Cross-examination", "challenges the others", "challenge each other"),
        Respond => PhaseInfo::new("respond", "Responses", "answers challenges and messages", "answer challenges and messages"),
        Moderate => PhaseInfo::new("moderate", "The moderator's assessment", "looks for groupthink, evasion and stalemate", "look for groupthink, evasion and stalemate"),
        Intervene => PhaseInfo::new("intervene", "Answers to the moderator", "answers the moderator", "answer the moderator"),
        Vote => PhaseInfo::new("verdict", "Votes", "votes", "vote").closing().outside_rounds(),
        Conclude => PhaseInfo::new("conclude", "The moderator's conclusion", "merges conditions and risks", "merge conditions and risks").closing().outside_rounds(),
    }
}

static INFO: ProtocolInfo = ProtocolInfo {
    name: "council",
    about: "Councillors with roles cross-examine each other, exchange messages, a moderator intervenes, and they vote",
    subject: "TOPIC",
    options: CouncilOptions::SPECS,
    roles: &[
        RoleInfo { name: "councillor", models: RoleModels::Listed },
        RoleInfo { name: "moderator", models: RoleModels::Named },
    ],
    templates: TEMPLATES,
    phases: CouncilPhase::INFO,
    closing_share: CLOSING_SHARE,
    title: |request| request.question.clone(),
    gate: None,
    is_rated: false,
    record_folder: None,
    isolation: &[],
    simulation: Some(&simulation::CouncilSimulation),
    example: Some((
        "\"Should we move to a four-day week?\" --rounds 3 --focus \"a team of twelve\"",
        "four councillors cross-examine each other for three rounds and vote",
    )),
    demo: Some(include_str!("demo.yaml")),
};

const TEMPLATES: &[PromptTemplate] = &[
    PromptTemplate { file: "council/system.hbs", text: include_str!("prompts/system.hbs") },
    PromptTemplate { file: "council/material.hbs", text: include_str!("prompts/material.hbs") },
    PromptTemplate { file: "council/positions.hbs", text: include_str!("prompts/positions.hbs") },
    PromptTemplate { file: "council/opening.hbs", text: include_str!("prompts/opening.hbs") },
    PromptTemplate { file: "council/challenge.hbs", text: include_str!("prompts/challenge.hbs") },
    PromptTemplate { file: "council/respond.hbs", text: include_str!("prompts/respond.hbs") },
    PromptTemplate { file: "council/moderator.hbs", text: include_str!("prompts/moderator.hbs") },
    PromptTemplate { file: "council/re_ask.hbs", text: include_str!("prompts/re_ask.hbs") },
    PromptTemplate { file: "council/steelman.hbs", text: include_str!("prompts/steelman.hbs") },
    PromptTemplate { file: "council/reframing.hbs", text: include_str!("prompts/reframing.hbs") },
    PromptTemplate { file: "council/final.hbs", text: include_str!("prompts/final.hbs") },
    PromptTemplate { file: "council/conclusion.hbs", text: include_str!("prompts/conclusion.hbs") },
];

fn prompts() -> Result<&'static PromptSet, Corrupt> {
    static PROMPTS: OnceLock<PromptSet> = OnceLock::new();
    made_once(&PROMPTS, || PromptSet::new(TEMPLATES))
}

impl Protocol for Council {
    fn info(&self) -> &'static ProtocolInfo {
        &INFO
    }

    fn seats(&self, request: &Request) -> Result<Vec<Seat>, Invalid> {
        if request.question.trim().is_empty() {
            return Err(Invalid::new("the topic is empty: agon council \"TOPIC\""));
        }
        let first = request.models.first().ok_or_else(|| Invalid::new("council needs at least one model"))?;
        let options = CouncilOptions::read(&request.options);
        let roles = roster::seated_roles(request, &options)?;
        let economy = economy_model(first, &options)?;
        let councillor = |(role, model): (&roster::CouncilRole, &String)| Seat {
            id: role.id(),
            role: "councillor".into(),
            model: economy.as_ref().unwrap_or(model).clone(),
        };
        let mut seats: Vec<Seat> = roles.iter().zip(request.models.iter().cycle()).map(councillor).collect();
        // A moderator that the user names keeps its model in economy mode, too.
        let moderator = request.roles.get("moderator").or(economy.as_ref()).unwrap_or(first);
        seats.push(Seat { id: "moderator".into(), role: "moderator".into(), model: moderator.clone() });
        Ok(seats)
    }

    fn plan(&self, brief: &Brief) -> CallPlan {
        let options = CouncilOptions::read(&brief.options);
        let n = u32::try_from(brief.seats_of("councillor").count()).unwrap_or(u32::MAX);
        // The interventions with the most calls are a question to all and two to one councillor each.
        let interventions = n + 2;
        let total = |calls_per_round: u32| n + options.rounds * calls_per_round + n + 1;
        let most_calls = total(2 * n + 1 + interventions);
        CallPlan {
            fewest_calls: total(2 * n + 1),
            most_calls,
            most_phases: if options.economy { most_calls } else { 3 + 4 * options.rounds },
            most_rounds: Some(options.rounds),
        }
    }

    fn next(&self, debate: &Debate) -> Result<Step, Corrupt> {
        let log = CouncilLog::read(debate)?;
        let Some(last) = debate.last_phase() else { return ask(&log, CouncilPhase::Opening, 0) };
        let (phase, round) = (CouncilPhase::of(last)?, last.round);
        if let Some(step) = rest_of_phase(&log, phase, round)? {
            return Ok(step);
        }
        let (quorum, is_short) = (log.quorum(), log.limits().is_exhausted(1));
        let current = log.round(round);
        let examined = current.map_or(0, |round| round.examined.len());
        let responded = current.map_or(0, |round| round.responded.len());
        let intervenes = current.is_some_and(|round| !round.interventions.is_empty());
        match phase {
            CouncilPhase::Opening if log.active.len() >= quorum => ask(&log, CouncilPhase::Challenge, 1),
            CouncilPhase::Opening if !log.never_asked(phase, 0).is_empty() => {
                close(&log, Termination::Budget)
            }
            CouncilPhase::Opening => close(&log, Termination::QuorumLost),
            CouncilPhase::Challenge if examined < quorum && !is_short => close(&log, Termination::QuorumLost),
            CouncilPhase::Challenge => ask(&log, CouncilPhase::Respond, round),
            CouncilPhase::Respond if responded < quorum && !is_short => close(&log, Termination::QuorumLost),
            CouncilPhase::Respond => ask(&log, CouncilPhase::Moderate, round),
            CouncilPhase::Moderate if intervenes => ask(&log, CouncilPhase::Intervene, round),
            CouncilPhase::Moderate | CouncilPhase::Intervene if round < log.options.rounds => {
                ask(&log, CouncilPhase::Challenge, round + 1)
            }
            CouncilPhase::Moderate | CouncilPhase::Intervene => {
                ask(&log, CouncilPhase::Vote, log.options.rounds)
            }
            CouncilPhase::Vote if log.finals.len() >= quorum && !log.closing_limits().is_exhausted(1) => {
                ask(&log, CouncilPhase::Conclude, log.options.rounds)
            }
            CouncilPhase::Vote | CouncilPhase::Conclude => close(&log, closing::termination(&log)),
        }
    }

    fn check(&self, debate: &Debate, ask: &Ask, value: &Value) -> Result<(), ReplyFault> {
        let log = CouncilLog::read(debate).map_err(|why| why.to_string())?;
        reply_rules::check_reply(&log, ask, value)
    }

    fn view(&self, debate: &Debate) -> Result<DebateView, Corrupt> {
        let log = CouncilLog::read(debate)?;
        // The recorded verdict counts: it may come from another version of these rules.
        let verdict = match &debate.outcome {
            Some(outcome) => CouncilVerdict::deserialize(&outcome.verdict)?,
            None => CouncilVerdict::from_log(&log),
        };
        Ok(DebateView {
            headline: report::headline(&log, &verdict),
            outline: report::outline(&log, &verdict),
            positions: closing::position_history(&log),
            ballots: closing::ballots(&log),
            votes: closing::last_votes(&log),
            dissent: report::dissent_items(&log)?,
            round_summaries: minutes::round_summaries(&log),
            records: vec![minutes::session_record(&log)?],
            checks: minutes::quality_checks(&log),
            citable: log.citable(),
            ..DebateView::default()
        })
    }
}

/// All asks of a phase at once; in economy mode its first.
fn ask(log: &CouncilLog<'_>, phase: CouncilPhase, round: u32) -> Result<Step, Corrupt> {
    let mut asks = AskBuilder::new(log)?.asks(phase, round)?;
    if log.options.economy {
        asks.truncate(1);
    }
    // The limits keep enough for the vote.
    match !phase.info().is_closing && phase != CouncilPhase::Opening && log.limits().is_exhausted(asks.len())
    {
        true => ask(log, CouncilPhase::Vote, log.options.rounds),
        false => Ok(Step::Ask(phase.at(round), asks)),
    }
}

/// In economy mode, the next ask of the phase that is under way. It is made from what was said before the phase, so that nobody sees
/// words of the phase itself.
fn rest_of_phase(log: &CouncilLog<'_>, phase: CouncilPhase, round: u32) -> Result<Option<Step>, Corrupt> {
    let is_short = !phase.info().is_closing && log.limits().is_exhausted(1);
    if !log.options.economy || is_short {
        return Ok(None);
    }
    let turns = &log.debate.turns;
    let asked = turns.iter().rev().take_while(|turn| turn.phase == phase.at(round)).count();
    let before = CouncilLog::read_first(log.debate, turns.len() - asked)?;
    let next = AskBuilder::new(&before)?.asks(phase, round)?.into_iter().nth(asked);
    Ok(next.map(|next| Step::Ask(phase.at(round), vec![next])))
}

fn close(log: &CouncilLog<'_>, termination: Termination) -> Result<Step, Corrupt> {
    Ok(Step::Close(Box::new(closing::close(log, termination)?)))
}

/// The one model of economy mode; `None` in standard mode.
fn economy_model(first: &str, options: &CouncilOptions) -> Result<Option<String>, Invalid> {
    match (options.economy, options.economy_model.trim()) {
        (false, "") => Ok(None),
        (false, _) => Err(Invalid::new("economy_model is set, but economy is not: add --economy")),
        (true, "") => Ok(Some(first.to_owned())),
        (true, named) if named.contains(',') => {
            Err(Invalid(format!("economy_model is {named:?}, but it must be one model")))
        }
        (true, named) => Ok(Some(named.to_owned())),
    }
}
