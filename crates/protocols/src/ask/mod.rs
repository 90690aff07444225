//! `ask`: the cheapest way to a good enough answer, with its evidence.
//!
//! Two different models answer. If their answers differ, more seats join for a `deep` debate. If that leaves something open, a
//! `panel` of judges rules on it. The three steps are called the ladder.
//!
//! This file has the options, the phases and the transition table. The other files:
//!
//! - [`first_answers`] asks for the first answers and reads them, and says whether the first two agree.
//! - [`parts`] turns the phases of a step into the debate that `deep` or `panel` reads.
//! - [`ladder`] reads from the log which steps were taken.
//! - [`positions`] says who held what in each round.
//! - [`open_points`] says what is left for the panel.
//! - [`decision`] says what was decided and why.
//! - [`verdict`] closes the debate.
//! - [`report`] describes the result for readers.

use std::sync::LazyLock;

use agon_core::protocol::file_names;
use agon_core::{
    Brief, CallPlan, Corrupt, Debate, DebateView, Invalid, PhaseInfo, PromptTemplate, Protocol, ProtocolInfo,
    ReplyFault, Request, RoleInfo, RoleModels, Seat, Step,
};
use serde::Deserialize;
use serde_json::Value;

use crate::clerk::{CLERK, CLERK_TEMPLATE, ClerkSorting, clerk_model};
use crate::deep::{self, Deep};
use crate::panel::{self, Panel};
use crate::poll::replies::PollAnswer;
use first_answers::ask_for_answers;
use first_answers::{FirstAnswers, PairAgreement};
use ladder::{AskLadder, EndedPart, LadderStep};

pub mod decision;
mod first_answers;
mod ladder;
mod open_points;
mod parts;
mod positions;
mod report;
#[cfg(test)]
mod tests;
pub mod verdict;

/// The ladder: two answers, a debate, a panel.
#[derive(Debug)]
pub struct Ask;

agon_core::protocol_options! {
    /// What a user may set.
    pub struct AskOptions {
        seats: Option<usize> = Int(3, 7), "", "how many debate if the first two differ, including those two [default: 4, or one for each model]";
        judges: usize = Int(3, 7), "3", "how many judges rule on what still divides the debaters, an odd number";
        stands_from: f64 = Float(1.0, 5.0), "3.0", "the debate's answer stands if the judges give it this score of 5 or more";
        never_worse: bool = Flag, "false", "keep the plain vote on the first answers unless evidenced changes of mind back the debate's answer";
        panel_rounds: u32 = Int(1, 3), "3", "the judges end after this round";
        min_rounds: u32 = Int(1, 20), "2", "the debate cannot converge before this round";
        max_rounds: u32 = Int(1, 20), "3", "the debate ends after this round";
        agreement_score: f64 = Float(0.0, 1.0), "0.8", "the debate converges at this agreement or more";
        new_points_ratio: f64 = Float(0.0, 1.0), "0.15", "the debate converges at this share of new points or less";
        strict: bool = Flag, "false", "stop without a synthesis when the time or money runs out";
    }
}

agon_core::protocol_phases! {
    /// The phases of the debate and the panel start with that protocol's name.
    pub enum AskPhase {
        Answer => PhaseInfo::new("answer", "First answers", "answers", "answer, each on its own").first_positions().asked_again(),
        Clerk => PhaseInfo::new("clerk", "Whether the two answers are the same", "says whether the two answers are the same", "say whether the two answers are the same"),
        DeepAnswer => PhaseInfo::new("deep/answer", "First answers of the seats that join", "answers", "answer, each on its own").first_positions(),
        DeepDebate => PhaseInfo::new("deep/debate", "Arguments", "argues", "argue"),
        DeepModerate => PhaseInfo::new("deep/moderate", "The moderator's assessment", "measures how far they agree", "measure how far they agree"),
        DeepSynthesis => PhaseInfo::new("deep/synthesis", "Synthesis", "writes the verdict", "write the verdict").closing().outside_rounds(),
        PanelPosition => PhaseInfo::new("panel/position", "The judges' positions", "scores", "score, each on its own").closing(),
        PanelRebuttal => PhaseInfo::new("panel/rebuttal", "The judges' rebuttals", "reads the others and answers", "read the others and answer").closing(),
        PanelFinal => PhaseInfo::new("panel/final", "The judges' final statements", "gives a final score", "give their final scores").closing(),
        PanelSummary => PhaseInfo::new("panel/summary", "The summary of the judges", "sums up what the judges say", "sum up what the judges say").closing(),
    }
}

const SYSTEM: PromptTemplate =
    PromptTemplate { file: "ask/system.hbs", text: include_str!("prompts/system.hbs") };
const ANSWER: PromptTemplate =
    PromptTemplate { file: "ask/answer.hbs", text: include_str!("prompts/answer.hbs") };

/// The templates of the first step, and the panel's rubric.
const OWN_TEMPLATES: &[PromptTemplate] = &[SYSTEM, ANSWER, CLERK_TEMPLATE, parts::RUBRIC_TEMPLATE];

static INFO: LazyLock<ProtocolInfo> = LazyLock::new(|| ProtocolInfo {
    name: "ask",
    about: "Two different models answer; only if they differ there is a debate, then judges on what still divides",
    subject: "QUESTION",
    options: AskOptions::SPECS,
    roles: &[
        RoleInfo { name: "debater", models: RoleModels::Listed },
        RoleInfo { name: "moderator", models: RoleModels::Named },
        RoleInfo { name: "chair", models: RoleModels::Named },
        RoleInfo { name: "judge", models: RoleModels::Named },
        RoleInfo { name: "rapporteur", models: RoleModels::Named },
        RoleInfo { name: CLERK, models: RoleModels::Named },
    ],
    templates: [OWN_TEMPLATES, deep::TEMPLATES, panel::TEMPLATES].concat().leak(),
    phases: AskPhase::INFO,
    closing_share: parts::CLOSING_SHARE,
    title: file_names,
    gate: None,
    is_rated: false,
    record_folder: None,
    isolation: &[],
    simulation: None,
    example: Some(("\"QUESTION\" --models A,B,C", "ask two models, and let them debate only if they differ")),
    demo: Some(include_str!("demo.yaml")),
});

/// How many debaters sit, unless more models are named.
const SEATS_DEFAULT: usize = 4;
const SEATS_MAX: usize = 7;
/// The calls of the first step.
const PAIR_CALLS: u32 = 2;

impl Protocol for Ask {
    fn info(&self) -> &'static ProtocolInfo {
        &INFO
    }

    fn seats(&self, request: &Request) -> Result<Vec<Seat>, Invalid> {
        if request.question.trim().is_empty() {
            return Err(Invalid::new("the question is empty: agon ask \"QUESTION\""));
        }
        let options = AskOptions::read(&request.options);
        let models = different_first(&request.models);
        let mut seats = debaters(request, &options, &models)?;
        for (seat, n) in seats.iter_mut().zip(1..=2) {
            seat.id = format!("answerer-{n}");
        }
        let answerers: Vec<Seat> = seats.iter().take(2).cloned().collect();
        let preferred = ["judge", "chair"].iter().find_map(|role| request.roles.get(*role));
        let clerk = clerk_model(request, preferred.map(String::as_str), &answerers);
        seats.push(Seat { id: CLERK.into(), role: CLERK.into(), model: clerk });
        seats.extend(Panel.seats(&parts::panel_request(request, &options, &models))?);
        Ok(seats)
    }

    fn plan(&self, brief: &Brief) -> CallPlan {
        let deep = Deep.plan(&parts::deep_brief(brief));
        let panel = Panel.plan(&parts::panel_brief(brief));
        // The debate's calls include the pair's answers, which it uses. One more call compares them.
        let most_calls = deep.most_calls + 1 + panel.most_calls;
        CallPlan {
            fewest_calls: PAIR_CALLS,
            most_calls,
            most_phases: 2 + deep.most_phases + panel.most_phases,
            most_rounds: deep.most_rounds,
        }
    }

    fn next(&self, debate: &Debate) -> Result<Step, Corrupt> {
        let Some(phase) = debate.last_phase() else {
            return ask_for_answers(debate, AskPhase::Answer);
        };
        let firsts = FirstAnswers::read(debate)?;
        match LadderStep::of(phase)? {
            LadderStep::Pair => after_pair(debate, firsts),
            LadderStep::Deep => {
                let part = parts::deep_part(debate, &firsts);
                match Deep.next(&part)? {
                    Step::Ask(phase, asks) => Ok(parts::whole_step(debate, parts::DEEP_PREFIX, &phase, asks)),
                    Step::Close(deep) => after_deep(AskLadder::of_deep(debate, firsts, &part, *deep)?),
                }
            }
            LadderStep::Panel => next_of_panel(AskLadder::with_panel(debate, firsts)?),
        }
    }

    fn check(&self, debate: &Debate, ask: &agon_core::Ask, value: &Value) -> Result<(), ReplyFault> {
        let unreadable = |why: Corrupt| ReplyFault::Invalid(why.to_string());
        let firsts = || FirstAnswers::read(debate).map_err(unreadable);
        let Some(phase) = debate.last_phase() else { return PollAnswer::deserialize(value)?.check() };
        match (LadderStep::of(phase).map_err(unreadable)?, AskPhase::parse(&phase.name)) {
            (_, Some(AskPhase::Answer | AskPhase::DeepAnswer)) => PollAnswer::deserialize(value)?.check(),
            (LadderStep::Pair, _) => firsts()?.pair_sheet().check_clerk(&ClerkSorting::deserialize(value)?),
            (LadderStep::Deep, _) => Deep.check(&parts::deep_part(debate, &firsts()?), ask, value),
            (LadderStep::Panel, _) => {
                let ladder = AskLadder::with_panel(debate, firsts()?).map_err(unreadable)?;
                Panel.check(&ladder.panel_part(), ask, value)
            }
        }
    }

    fn view(&self, debate: &Debate) -> Result<DebateView, Corrupt> {
        report::view(debate)
    }
}

/// Closes if the first two agree or a limit leaves no room. Otherwise asks the clerk, or starts the debate.
fn after_pair(debate: &Debate, firsts: FirstAnswers<'_>) -> Result<Step, Corrupt> {
    let pair = first_answers::pair_of(debate).len();
    let calls = match &firsts.agreement {
        PairAgreement::Same(_) => return verdict::close(&AskLadder::of_pair(debate, firsts)),
        PairAgreement::Open => 1,
        PairAgreement::Missing(_) | PairAgreement::Different(..) | PairAgreement::Unknown => {
            debate.brief.seats_of("debater").count().saturating_sub(pair)
        }
    };
    if let Some(limit) = ladder::exhausted_limit(ladder::step_limits(debate), calls) {
        return verdict::close(&AskLadder { stopped: Some(limit), ..AskLadder::of_pair(debate, firsts) });
    }
    match firsts.agreement {
        PairAgreement::Open => first_answers::ask_clerk(debate, &firsts),
        _ => ask_for_answers(debate, AskPhase::DeepAnswer),
    }
}

/// Convenes a panel if the debate leaves something open and no limit prevents it. Otherwise closes.
fn after_deep(ladder: AskLadder<'_>) -> Result<Step, Corrupt> {
    if ladder.why_panel().is_none() {
        return verdict::close(&ladder);
    }
    let seats = parts::panel_seats(&ladder.debate.brief);
    match ladder::exhausted_limit(ladder::panel_limits(ladder.debate), seats) {
        Some(limit) => verdict::close(&AskLadder { stopped: Some(limit), ..ladder }),
        None => next_of_panel(ladder),
    }
}

/// The panel's next step, or the end of the ladder if the panel has ended.
fn next_of_panel(ladder: AskLadder<'_>) -> Result<Step, Corrupt> {
    let part = ladder.panel_part();
    match Panel.next(&part)? {
        Step::Ask(phase, asks) => Ok(parts::whole_step(ladder.debate, parts::PANEL_PREFIX, &phase, asks)),
        Step::Close(panel) => {
            verdict::close(&AskLadder { panel: Some(EndedPart::new(&part, *panel)?), ..ladder })
        }
    }
}

/// The models in order, except that the second differs from the first if any model does.
fn different_first(models: &[String]) -> Vec<String> {
    let mut models = models.to_vec();
    if let Some(place) = models.iter().position(|model| Some(model) != models.first()) {
        let model = models.remove(place);
        models.insert(1, model);
    }
    models
}

/// The seats of the debate, made by `deep`.
fn debaters(request: &Request, options: &AskOptions, models: &[String]) -> Result<Vec<Seat>, Invalid> {
    if models.is_empty() {
        return Err(Invalid::new("ask needs at least one model, better two different ones"));
    }
    let count = options.seats.unwrap_or(SEATS_DEFAULT.max(models.len()));
    if count > SEATS_MAX {
        return Err(Invalid(format!(
            "ask seats 3 to {SEATS_MAX} debaters, but {count} models are named: name fewer, or set --seats to use the first of them"
        )));
    }
    Deep.seats(&Request {
        question: request.question.clone(),
        models: models.iter().cycle().take(count).cloned().collect(),
        roles: request.roles.clone(),
        files: request.files.clone(),
        options: parts::deep_options(options),
        seed: request.seed,
    })
}
