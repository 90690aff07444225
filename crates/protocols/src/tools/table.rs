//! The log of a debate with tools, read: the debate as its protocol sees it, what was asked for, and what was found.

use agon_core::tools::{ROUND_REQUESTS_MAX, SEAT_REQUESTS_MAX, TOOLS_PHASE, estimated_tokens, table_tools};
use agon_core::{
    AbsenceReason, AskRecord, AttemptFault, Brief, CallAttempt, CallUsage, Debate, ItemAsker, ItemFinding,
    ModelKind, PhaseTurn, Reply, TableTools, ToolAnswer, ToolItem, ToolRequest,
};
use serde::Deserialize;
use serde_json::Value;

use super::requests::take_requests;
use crate::clerk::CLERK;

/// A debate with tools.
#[derive(Debug)]
pub(super) struct ToolTable {
    pub(super) tools: TableTools,
    /// The debate as its protocol sees it: without the phases in which tools ran, without requests, and with the last reply of a
    /// seat that was asked again.
    pub(super) seen: Debate,
    /// For each phase of the log, how many phases the protocol has seen after it.
    seen_after: Vec<usize>,
    /// The asks of the last phase whose requests are run. Their seats were not asked again.
    pub(super) requesting: Vec<u32>,
    /// How many tokens the items have.
    tokens: u64,
}

/// Whether a seat that is asked reads the items.
pub(super) fn reads_items(brief: &Brief, seat: &str) -> bool {
    brief.seat(seat).is_some_and(|seat| seat.role != CLERK)
}

/// Whether a seat that is asked may request something. People and small models are asked field by field, which suits no request.
pub(super) fn may_request(brief: &Brief, seat: &str, model: &str) -> bool {
    let by_field = |link| matches!(ModelKind::of_model(link), Some(ModelKind::Embedded | ModelKind::Human));
    reads_items(brief, seat) && !model.split('|').any(by_field)
}

impl ToolTable {
    /// Reads a log; `None` if the debate has no tools.
    pub(super) fn read(debate: &Debate) -> Option<Self> {
        let tools = table_tools(&debate.brief)?;
        let (seen, seen_after, requesting) = (debate_around(debate), Vec::new(), Vec::new());
        let mut table = Self { tools, seen, seen_after, requesting, tokens: 0 };
        for turn in &debate.turns {
            if turn.phase.name == TOOLS_PHASE {
                table.add_findings(turn);
            } else if turn.asks.iter().any(|ask| ask.repeats.is_some()) {
                table.add_second_replies(turn);
            } else {
                table.add_turn(turn);
            }
            table.seen_after.push(table.seen.turns.len());
        }
        let seen_after = |raw: usize| raw.checked_sub(1).and_then(|last| table.seen_after.get(last)).copied();
        let said = debate.interjections.iter().cloned();
        table.seen.interjections = said
            .map(|mut said| {
                said.after = seen_after(said.after).unwrap_or_default();
                said
            })
            .collect();
        Some(table)
    }

    /// How many phases the log has when the protocol has seen this many.
    pub(super) fn raw_phases(&self, seen: usize) -> usize {
        self.seen_after.iter().position(|after| *after == seen).map_or(seen, |place| place + 1)
    }

    /// The items that wait to be run.
    pub(super) fn pending(&self) -> impl Iterator<Item = &ToolItem> {
        self.seen.items.iter().filter(|item| item.finding == ItemFinding::Pending)
    }

    fn add_turn(&mut self, turn: &PhaseTurn) {
        let mut seen = turn.clone();
        let mut requests: Vec<(AskRecord, Vec<ToolRequest>)> = Vec::new();
        for (ask, reply) in turn.asks.iter().zip(&mut seen.replies) {
            let may_request = may_request(&self.seen.brief, &ask.seat, &ask.model);
            if let (Some(reply), true) = (reply, may_request) {
                requests.push((ask.clone(), take_requests(reply)));
            }
        }
        self.seen.turns.push(seen);
        self.requesting.clear();
        // Who asks for what is known when all have replied, in whatever order.
        if turn.outstanding().next().is_some() {
            return;
        }
        for (ask, requests) in requests {
            self.add_requests(&ask, turn.phase.round, requests);
        }
    }

    fn add_requests(&mut self, ask: &AskRecord, round: u32, requests: Vec<ToolRequest>) {
        // One request above the limit is looked at, so that the seat learns of it.
        for (place, request) in requests.into_iter().enumerate().take(SEAT_REQUESTS_MAX + 1) {
            let ToolRequest { tool, arguments, why } = request;
            let asker = ItemAsker { seat: ask.seat.clone(), label: ask.label.clone(), round, why };
            let is_same =
                |item: &&mut ToolItem| item.was_run && item.tool == tool && item.arguments == arguments;
            if let Some(known) = self.seen.items.iter_mut().find(is_same) {
                known.askers.push(asker);
                // The seat has not read it yet if another seat asks for it at the same time.
                if known.finding == ItemFinding::Pending {
                    self.add_requesting(ask.id);
                }
                continue;
            }
            let refusal = match place < SEAT_REQUESTS_MAX {
                true => self.refusal(&tool, &arguments, round),
                false => Some(format!("at most {SEAT_REQUESTS_MAX} requests of one reply are run")),
            };
            if refusal.is_none() {
                self.add_requesting(ask.id);
            }
            self.seen.items.push(ToolItem {
                id: format!("E{}", self.seen.items.len() + 1),
                tool,
                arguments,
                askers: vec![asker],
                was_run: refusal.is_none(),
                finding: refusal.map_or(ItemFinding::Pending, ItemFinding::Refused),
                from_turn: self.seen.turns.len(),
            });
        }
    }

    fn add_requesting(&mut self, ask: u32) {
        if !self.requesting.contains(&ask) {
            self.requesting.push(ask);
        }
    }

    /// Why a request is not run.
    fn refusal(&self, tool: &str, arguments: &Value, round: u32) -> Option<String> {
        let offers = &self.tools.offers;
        if !offers.iter().any(|offer| offer.name == tool) {
            let names: Vec<&str> = offers.iter().map(|offer| offer.name.as_str()).collect();
            return Some(format!("there is no such tool; there is {}", names.join(", ")));
        }
        if !arguments.is_object() {
            return Some("`arguments` must be a JSON object of at most 2,000 bytes".to_owned());
        }
        let run_items = || self.seen.items.iter().filter(|item| item.was_run);
        let is_of_round = |item: &&ToolItem| item.askers.first().is_some_and(|asker| asker.round == round);
        if run_items().filter(is_of_round).count() >= ROUND_REQUESTS_MAX {
            return Some(format!("at most {ROUND_REQUESTS_MAX} requests are run in one round"));
        }
        let calls = self.tools.calls;
        let is_used_up = run_items().count() >= usize::try_from(calls).unwrap_or(usize::MAX);
        is_used_up.then(|| format!("the debate's limit of {calls} requests is used up"))
    }

    fn add_findings(&mut self, turn: &PhaseTurn) {
        for (ask, reply) in turn.settled() {
            let finding = self.finding(reply);
            let is_it = |item: &&mut ToolItem| Some(&item.id) == ask.about.as_ref();
            if let Some(item) = self.seen.items.iter_mut().find(is_it) {
                item.finding = finding;
            }
        }
    }

    /// What an errand brought. An item that does not fit is left out as a whole.
    fn finding(&mut self, reply: &Reply) -> ItemFinding {
        let answer = match reply {
            Reply::Absent { detail, .. } => Err(detail.clone()),
            Reply::Said { value, .. } => ToolAnswer::deserialize(value.clone().unwrap_or_default())
                .map_err(|_| "the tool's answer cannot be read".to_owned()),
        };
        match answer {
            Err(why) | Ok(ToolAnswer { refused: Some(why), .. }) => ItemFinding::Refused(why),
            Ok(ToolAnswer { source, text, .. }) => {
                let (tokens, left) = (estimated_tokens(&text), self.tools.tokens.saturating_sub(self.tokens));
                if tokens > left {
                    return ItemFinding::LeftOut { source, tokens, left };
                }
                self.tokens += tokens;
                ItemFinding::Found { source, text }
            }
        }
    }

    /// Puts the replies of seats that were asked again in the place of their first ones.
    fn add_second_replies(&mut self, turn: &PhaseTurn) {
        self.requesting.clear();
        let seen_turns = self.seen.turns.len();
        for item in self.seen.items.iter_mut().filter(|item| item.from_turn == seen_turns) {
            item.from_turn = seen_turns.saturating_sub(1);
        }
        let Some(last) = self.seen.turns.last_mut() else { return };
        last.ended_at_ms = turn.ended_at_ms;
        for ((ask, reply), attempts) in turn.asks.iter().zip(&turn.replies).zip(&turn.attempts) {
            let place = last.asks.iter().position(|first| Some(first.id) == ask.repeats);
            let slots = place.and_then(|place| last.replies.get_mut(place).zip(last.attempts.get_mut(place)));
            let Some((first, first_attempts)) = slots else { continue };
            add_attempts(first_attempts, attempts, first.as_ref(), reply.as_ref());
            match reply {
                // A seat that does not answer again keeps its first answer.
                Some(Reply::Absent { .. }) => {}
                Some(said) => {
                    let mut said = said.clone();
                    take_requests(&mut said);
                    *first = Some(said);
                }
                None => *first = None,
            }
        }
    }
}

/// Adds the attempts of a second reply to those of the first. What the reply that does not count used is kept with its attempt.
fn add_attempts(
    attempts: &mut Vec<CallAttempt>,
    more: &[CallAttempt],
    first: Option<&Reply>,
    second: Option<&Reply>,
) {
    if let Some(Reply::Absent { .. }) = second {
        let answering = attempts.pop();
        attempts.extend(more.iter().cloned().chain(answering));
        return;
    }
    if let (true, true, Some(Reply::Said { usage, .. })) = (attempts.is_empty(), more.is_empty(), first) {
        // A branch copies replies without their attempts. What both used counts all the same.
        let fault = Some(replaced_fault(*usage));
        attempts.extend([CallAttempt { fault, ..copied_attempt(1) }, copied_attempt(2)]);
        return;
    }
    if let (Some(replaced), Some(Reply::Said { usage, .. })) = (attempts.last_mut(), first) {
        replaced.fault = replaced.fault.take().or_else(|| Some(replaced_fault(*usage)));
    }
    attempts.extend(more.iter().cloned());
}

fn copied_attempt(number: u32) -> CallAttempt {
    let (model, worst_usd, worst_tokens) = (String::new(), None, 0);
    CallAttempt { number, model, worst_usd, worst_tokens, errand: false, fault: None }
}

fn replaced_fault(usage: CallUsage) -> AttemptFault {
    let detail = "the seat was asked again with what was looked up".to_owned();
    AttemptFault { why: AbsenceReason::Malformed, detail, text: None, unverified: false, usage }
}

/// A debate without what was said in it.
fn debate_around(debate: &Debate) -> Debate {
    Debate {
        brief: debate.brief.clone(),
        turns: Vec::new(),
        interjections: Vec::new(),
        items: Vec::new(),
        outcome: debate.outcome.clone(),
        at_ms: debate.at_ms,
        events: debate.events,
        head: debate.head.clone(),
    }
}
