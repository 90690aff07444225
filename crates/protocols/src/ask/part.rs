//! The parts of the log that are debates of their own: what `deep` and `panel` see of it.
//!
//! A part has the phases whose names begin with its protocol's, without that beginning, and of the limits what the other
//! phases before it left.

use agon_core::{Artifact, Brief, Debate, Limits, Phase, Protocol, Reply, Seat, Step, Turn, Usage, options};
use serde_json::{Map, Value, json};

use super::firsts::{ANSWER, First, Firsts};
use crate::deep::{Deep, LOOP};
use crate::panel::Panel;

/// What the names of the phases of the second and third step begin with.
pub(super) const DEEP: &str = "deep/";
pub(super) const PANEL: &str = "panel/";
/// The share of the limits on time and money that the debate leaves to the panel.
pub(super) const KEPT_FOR_PANEL: f64 = 0.15;
/// A call may have to be made again: so many of a limit on calls are kept beside one for each judge.
pub(super) const SPARE_CALLS: usize = 1;
const RUBRIC: &str = include_str!("rubric.toml");
/// The rubric as the log knows it.
pub(super) const RUBRIC_TEMPLATE: agon_core::Template =
    agon_core::Template { file: "ask/rubric.toml", text: RUBRIC };

/// The debate of the second step. The first answers are its answers.
pub(super) fn deep(debate: &Debate, firsts: &Firsts<'_>) -> Debate {
    let mut brief = deep_brief(&debate.brief);
    let judges = debate.brief.seats_of("judge").count() + SPARE_CALLS;
    let judges = u32::try_from(judges).unwrap_or(u32::MAX);
    brief.limits = left(debate, DEEP);
    let limits = &mut brief.limits;
    limits.usd = limits.usd.map(|usd| usd * (1.0 - KEPT_FOR_PANEL));
    limits.deadline_ms = limits.deadline_ms.map(|ms| (ms as f64 * (1.0 - KEPT_FOR_PANEL)) as u64);
    limits.calls = limits.calls.map(|calls| calls.saturating_sub(judges));
    let mut part = part(debate, DEEP, brief);
    for turn in part.turns.iter_mut().filter(|turn| turn.phase.name == ANSWER) {
        with_the_pair(turn, debate, firsts);
    }
    part
}

/// The panel of the third step, which judges these files.
pub(super) fn panel(debate: &Debate, files: Vec<Artifact>) -> Debate {
    let mut brief = panel_brief(&debate.brief);
    brief.limits = left(debate, PANEL);
    brief.files.extend(files);
    let mut part = part(debate, PANEL, brief);
    let debated = debated(debate);
    for turn in &mut part.turns {
        turn.phase.round = turn.phase.round.saturating_sub(debated);
    }
    part
}

/// The last round of the debate: those of the panel are counted on from there, so that no two have one number.
fn debated(debate: &Debate) -> u32 {
    let deep = debate.turns.iter().filter(|turn| turn.phase.name.starts_with(DEEP));
    deep.map(|turn| turn.phase.round).max().unwrap_or_default()
}

/// The options that are the debate's.
pub(super) fn of_loop(options: &Map<String, Value>) -> impl Iterator<Item = (String, Value)> + '_ {
    LOOP.iter().filter_map(|opt| Some((opt.key.to_owned(), options.get(opt.key)?.clone())))
}

/// The brief of the second step, as far as it follows from the ladder's.
pub(super) fn deep_brief(brief: &Brief) -> Brief {
    let mut options = options::resolve(Deep.options(), []).unwrap_or_default();
    options.extend(of_loop(&brief.options));
    sub_brief(brief, Deep.name(), options, |seat| seat.role != "judge")
}

/// The brief of the third step, as far as it follows from the ladder's.
pub(super) fn panel_brief(brief: &Brief) -> Brief {
    let mut options = options::resolve(Panel.options(), []).unwrap_or_default();
    options.insert("max_rounds".into(), json!(brief.int("panel_rounds")));
    options.insert("feature".into(), json!("the answer of a debate, in answer.md"));
    let mut panel = sub_brief(brief, Panel.name(), options, |seat| seat.role == "judge");
    let (path, part) = (RUBRIC_TEMPLATE.file.to_owned(), Some("rubric".to_owned()));
    panel.files.push(Artifact { path, text: RUBRIC.to_owned(), part });
    panel
}

fn sub_brief(brief: &Brief, protocol: &str, options: Map<String, Value>, sits: fn(&&Seat) -> bool) -> Brief {
    Brief {
        version: brief.version,
        id: brief.id.clone(),
        protocol: protocol.to_owned(),
        question: brief.question.clone(),
        files: Vec::new(),
        options,
        seats: brief.seats.iter().filter(sits).cloned().collect(),
        seed: brief.seed,
        limits: brief.limits.clone(),
        templates: brief.templates.clone(),
        written_by: brief.written_by.clone(),
        created_at: brief.created_at.clone(),
        parent: brief.parent.clone(),
    }
}

/// What the phases that are not of the part, up to its end, leave of the limits.
fn left(debate: &Debate, prefix: &str) -> Limits {
    let end = end(debate, prefix);
    let elsewhere = debate
        .spent_where(|turn| !turn.inherited && turn.since < end && !turn.phase.name.starts_with(prefix));
    let usd = elsewhere.usd + elsewhere.lost_usd + elsewhere.doubtful_usd;
    let limits = debate.brief.limits.clone();
    Limits {
        usd: limits.usd.map(|limit| (limit - usd).max(0.0)),
        calls: limits.calls.map(|limit| limit.saturating_sub(elsewhere.calls)),
        ..limits
    }
}

/// How many events the log had when the part was over, or has now.
fn end(debate: &Debate, prefix: &str) -> u64 {
    let last = debate.turns.iter().rposition(|turn| turn.phase.name.starts_with(prefix));
    let after = last.and_then(|last| debate.turns.get(last + 1));
    after.map_or(debate.events, |turn| turn.since)
}

fn part(debate: &Debate, prefix: &str, brief: Brief) -> Debate {
    let own = |turn: &Turn| {
        let name = turn.phase.name.strip_prefix(prefix)?;
        Some(Turn { phase: Phase::new(name, turn.phase.round), ..turn.clone() })
    };
    let turns: Vec<Turn> = debate.turns.iter().filter_map(own).collect();
    let events = end(debate, prefix);
    // What came later took its time: a part that is over stays as it was.
    let ended = turns.last().filter(|_| events < debate.events).map(|turn| turn.ended_at_ms);
    Debate {
        brief,
        turns,
        interjections: debate.interjections.clone(),
        outcome: None,
        at_ms: ended.unwrap_or(debate.at_ms),
        events,
        head: debate.head.clone(),
    }
}

/// Puts what the two of the first step answered before what the others did. Its cost is the first step's.
fn with_the_pair(turn: &mut Turn, debate: &Debate, firsts: &Firsts<'_>) {
    for reply in turn.asks.iter().zip(&mut turn.replies) {
        let (ask, reply) = reply;
        as_text(reply, firsts.all.iter().find(|first| first.seat == ask.seat), false);
    }
    let Some(pair) = debate.turn(ANSWER, 0) else { return };
    let mut replies = pair.replies.clone();
    for (ask, reply) in pair.asks.iter().zip(&mut replies) {
        as_text(reply, firsts.all.iter().find(|first| first.seat == ask.seat), true);
    }
    turn.asks.splice(0..0, pair.asks.iter().cloned());
    turn.replies.splice(0..0, replies);
    turn.attempts.splice(0..0, pair.asks.iter().map(|_| Vec::new()));
}

/// A first answer as the debaters read it.
fn as_text(reply: &mut Option<Reply>, first: Option<&First<'_>>, is_paid: bool) {
    if let (Some(Reply::Said { text, value, usage, .. }), Some(first)) = (reply, first) {
        *text = first.given.text();
        *value = None;
        if is_paid {
            *usage = Usage { usd: Some(0.0), latency_ms: usage.latency_ms, ..Usage::default() };
        }
    }
}

/// A part's phase as the ladder's log has it.
pub(super) fn asked(debate: &Debate, prefix: &str, phase: &Phase, asks: Vec<agon_core::Ask>) -> Step {
    let before = if prefix == PANEL { debated(debate) } else { 0 };
    Step::Ask(Phase::new(&format!("{prefix}{}", phase.name), before + phase.round), asks)
}

/// A part's warning with the limits that the person has set, not what was left of them.
pub(super) fn in_whole_limits(warning: &str, part: &Limits, whole: &Limits) -> String {
    let deadline =
        |limits: &Limits| limits.deadline_ms.map(|ms| format!("the deadline of {} s", ms as f64 / 1000.0));
    let budget = |limits: &Limits| limits.usd.map(|usd| format!("the budget of ${usd}"));
    let calls = |limits: &Limits| {
        let s = |n: u32| if n == 1 { "" } else { "s" };
        limits.calls.map(|n| format!("the limit of {n} call{}", s(n)))
    };
    let figures =
        [(deadline(part), deadline(whole)), (budget(part), budget(whole)), (calls(part), calls(whole))];
    let named = figures.into_iter().filter_map(|(part, whole)| part.zip(whole));
    let mut told = named.filter_map(|(part, whole)| Some(format!("{}{whole}", warning.strip_suffix(&part)?)));
    told.next().unwrap_or_else(|| warning.to_owned())
}
