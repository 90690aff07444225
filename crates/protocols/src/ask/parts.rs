//! The parts of the log that are debates of their own, as `deep` and `panel` read them.
//!
//! A part has the phases whose names start with its protocol's name, without that prefix. Its limits are what earlier phases
//! left of the whole limits.

use agon_core::{
    Brief, BriefFile, CallUsage, Debate, DebateLimits, Phase, PhaseTurn, PromptTemplate, Protocol, Reply,
    Request, Seat, Step,
};
use serde_json::{Map, Value};

use super::first_answers::FirstAnswers;
use super::{AskOptions, AskPhase};
use crate::attached_context::CONTEXT_PART;
use crate::deep::{self, Deep, DeepOptions, DeepPhase};
use crate::limits::limit_words;
use crate::panel::{Panel, PanelOptions};
use crate::poll::answers::SeatAnswer;

/// The prefixes of the phases of the second and third step.
pub(super) const DEEP_PREFIX: &str = "deep/";
pub(super) const PANEL_PREFIX: &str = "panel/";
/// The share of the time and money limits that the debate leaves to the panel.
pub(super) const PANEL_SHARE: f64 = 0.15;
/// The share of the time and money limits that is kept for the debate's synthesis and for the panel.
pub(super) const CLOSING_SHARE: f64 = 1.0 - (1.0 - PANEL_SHARE) * (1.0 - deep::CLOSING_SHARE);
/// Calls that are kept for the panel in addition to one for each of its seats, because a call may have to be repeated.
pub(super) const SPARE_CALLS: usize = 1;
/// The rubric, listed among the templates so that a log records its hash.
pub(super) const RUBRIC_TEMPLATE: PromptTemplate =
    PromptTemplate { file: "ask/rubric.toml", text: include_str!("rubric.toml") };

/// The debate of the second step. The first answers are its Stage 1 answers.
pub(super) fn deep_part(debate: &Debate, firsts: &FirstAnswers<'_>) -> Debate {
    let mut brief = deep_brief(&debate.brief);
    let panel_calls = panel_seats(&debate.brief) + SPARE_CALLS;
    let panel_calls = u32::try_from(panel_calls).unwrap_or(u32::MAX);
    brief.limits = remaining_limits(debate, DEEP_PREFIX);
    let limits = &mut brief.limits;
    limits.usd = limits.usd.map(|usd| usd * (1.0 - PANEL_SHARE));
    limits.deadline_ms = limits.deadline_ms.map(|ms| (ms as f64 * (1.0 - PANEL_SHARE)) as u64);
    limits.calls = limits.calls.map(|calls| calls.saturating_sub(panel_calls));
    let mut part = part(debate, DEEP_PREFIX, brief);
    for turn in part.turns.iter_mut().filter(|turn| turn.phase.name == DeepPhase::Answer.as_str()) {
        add_pair_answers(turn, debate, firsts);
    }
    part
}

/// The panel of the third step, which judges these files.
pub(super) fn panel_part(debate: &Debate, files: Vec<BriefFile>) -> Debate {
    let mut brief = panel_brief(&debate.brief);
    brief.limits = remaining_limits(debate, PANEL_PREFIX);
    brief.files.extend(files);
    let mut part = part(debate, PANEL_PREFIX, brief);
    let debate_rounds = last_debate_round(debate);
    for turn in &mut part.turns {
        turn.phase.round = turn.phase.round.saturating_sub(debate_rounds);
    }
    part
}

/// The last round of the debate. The panel's rounds continue from it, so that no two rounds have the same number.
fn last_debate_round(debate: &Debate) -> u32 {
    let deep = debate.turns.iter().filter(|turn| turn.phase.name.starts_with(DEEP_PREFIX));
    deep.map(|turn| turn.phase.round).max().unwrap_or_default()
}

/// The options of the debate: those that `ask` passes on, and `deep`'s own defaults.
pub(super) fn deep_options(options: &AskOptions) -> Map<String, Value> {
    let passed_on = DeepOptions {
        min_rounds: options.min_rounds,
        max_rounds: options.max_rounds,
        agreement_score: options.agreement_score,
        new_points_ratio: options.new_points_ratio,
        strict: options.strict,
        ..DeepOptions::default()
    };
    passed_on.write()
}

fn panel_options(options: &AskOptions) -> Map<String, Value> {
    let passed_on = PanelOptions {
        max_rounds: options.panel_rounds,
        judges: Some(options.judges),
        feature: "the answer of a debate, in answer.md".to_owned(),
        ..PanelOptions::default()
    };
    passed_on.write()
}

/// The request that seats the panel. Which files it judges is known after the debate.
pub(super) fn panel_request(request: &Request, options: &AskOptions, models: &[String]) -> Request {
    let judges = request.roles.get("judge").map_or_else(|| models.to_vec(), |judge| vec![judge.clone()]);
    let answer = BriefFile { path: "answer.md".to_owned(), text: request.question.clone(), part: None };
    Request {
        question: request.question.clone(),
        files: vec![rubric_file(), answer],
        models: judges,
        roles: request.roles.clone(),
        options: panel_options(options),
        seed: request.seed,
    }
}

fn rubric_file() -> BriefFile {
    let (path, part) = (RUBRIC_TEMPLATE.file.to_owned(), Some("rubric".to_owned()));
    BriefFile { path, text: RUBRIC_TEMPLATE.text.to_owned(), part }
}

/// The brief of the debate, with the whole limits.
pub(super) fn deep_brief(brief: &Brief) -> Brief {
    let options = deep_options(&AskOptions::read(&brief.options));
    Brief { files: brief.files.clone(), ..sub_brief(brief, &Deep, options) }
}

/// The brief of the panel, with the whole limits and without the files that it judges.
pub(super) fn panel_brief(brief: &Brief) -> Brief {
    let options = panel_options(&AskOptions::read(&brief.options));
    let attached = brief.files.iter().filter(|file| file.part.as_deref() == Some(CONTEXT_PART));
    let files = std::iter::once(rubric_file()).chain(attached.cloned()).collect();
    Brief { files, ..sub_brief(brief, &Panel, options) }
}

/// How many seats the panel has.
pub(super) fn panel_seats(brief: &Brief) -> usize {
    brief.seats.iter().filter(|seat| has_role(&Panel, seat)).count()
}

fn has_role(protocol: &dyn Protocol, seat: &Seat) -> bool {
    protocol.info().roles.iter().any(|role| role.name == seat.role)
}

fn sub_brief(brief: &Brief, protocol: &dyn Protocol, options: Map<String, Value>) -> Brief {
    Brief {
        protocol: protocol.info().name.to_owned(),
        files: Vec::new(),
        options,
        seats: brief.seats.iter().filter(|seat| has_role(protocol, seat)).cloned().collect(),
        ..brief.clone()
    }
}

/// The whole limits minus what phases outside the part used before the part ended.
fn remaining_limits(debate: &Debate, prefix: &str) -> DebateLimits {
    let end = event_count(debate, prefix);
    let elsewhere = debate
        .spent_where(|turn| !turn.inherited && turn.since < end && !turn.phase.name.starts_with(prefix));
    let usd = elsewhere.usd + elsewhere.lost_usd + elsewhere.doubtful_usd;
    let limits = debate.brief.limits.clone();
    DebateLimits {
        usd: limits.usd.map(|limit| (limit - usd).max(0.0)),
        calls: limits.calls.map(|limit| limit.saturating_sub(elsewhere.calls)),
        ..limits
    }
}

/// How many events the log had when the part ended, or has now if the part goes on.
fn event_count(debate: &Debate, prefix: &str) -> u64 {
    let last = debate.turns.iter().rposition(|turn| turn.phase.name.starts_with(prefix));
    let after = last.and_then(|last| debate.turns.get(last + 1));
    after.map_or(debate.events, |turn| turn.since)
}

fn part(debate: &Debate, prefix: &str, brief: Brief) -> Debate {
    let own_turn = |turn: &PhaseTurn| {
        let name = turn.phase.name.strip_prefix(prefix)?;
        Some(PhaseTurn { phase: Phase::new(name, turn.phase.round), ..turn.clone() })
    };
    let turns: Vec<PhaseTurn> = debate.turns.iter().filter_map(own_turn).collect();
    let own_turns = |turns: usize| {
        debate.turns.iter().take(turns).filter(|turn| turn.phase.name.starts_with(prefix)).count()
    };
    let mut items = debate.items.clone();
    items.iter_mut().for_each(|item| item.from_turn = own_turns(item.from_turn));
    let events = event_count(debate, prefix);
    // Later phases take more time, but a part that has ended must not change.
    let ended = turns.last().filter(|_| events < debate.events).map(|turn| turn.ended_at_ms);
    Debate {
        brief,
        turns,
        interjections: debate.interjections.clone(),
        items,
        outcome: None,
        at_ms: ended.unwrap_or(debate.at_ms),
        events,
        head: debate.head.clone(),
    }
}

/// Adds the first two answers before the others. Their cost belongs to the first step.
fn add_pair_answers(turn: &mut PhaseTurn, debate: &Debate, firsts: &FirstAnswers<'_>) {
    let first = |seat: &str| firsts.all.iter().find(|first| first.seat == seat);
    for (ask, reply) in turn.asks.iter().zip(&mut turn.replies) {
        make_plain_text(reply, first(&ask.seat), false);
    }
    let Some(pair) = debate.turn(AskPhase::Answer.as_str(), 0) else { return };
    let mut replies = pair.replies.clone();
    for (ask, reply) in pair.asks.iter().zip(&mut replies) {
        make_plain_text(reply, first(&ask.seat), true);
    }
    turn.asks.splice(0..0, pair.asks.iter().cloned());
    turn.replies.splice(0..0, replies);
    turn.attempts.splice(0..0, pair.asks.iter().map(|_| Vec::new()));
}

/// Turns a first answer into the plain text that the debaters read.
fn make_plain_text(reply: &mut Option<Reply>, first: Option<&SeatAnswer<'_>>, is_paid: bool) {
    if let (Some(Reply::Said { text, value, usage, .. }), Some(first)) = (reply, first) {
        *text = first.reply.text();
        *value = None;
        if is_paid {
            *usage = CallUsage { usd: Some(0.0), latency_ms: usage.latency_ms, ..CallUsage::default() };
        }
    }
}

/// A part's step as a step of the whole debate: with the prefix, and with the panel's rounds after the debate's.
pub(super) fn whole_step(debate: &Debate, prefix: &str, phase: &Phase, asks: Vec<agon_core::Ask>) -> Step {
    let rounds_before = if prefix == PANEL_PREFIX { last_debate_round(debate) } else { 0 };
    Step::Ask(Phase::new(&format!("{prefix}{}", phase.name), rounds_before + phase.round), asks)
}

/// A part's warning with the limits that the user set, instead of what was left of them for the part.
pub(super) fn with_whole_limits(warning: &str, part: &DebateLimits, whole: &DebateLimits) -> String {
    let set_limits = limit_words(part).into_iter().zip(limit_words(whole));
    let mut reworded = set_limits.filter_map(|(part, whole)| {
        let before = warning.strip_suffix(&part?)?;
        Some(format!("{before}{}", whole?))
    });
    reworded.next().unwrap_or_else(|| warning.to_owned())
}
