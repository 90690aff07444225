//! The log of a debate with tools or attached texts, read: the debate as its protocol sees it, what was asked for, and what was found.

use std::collections::BTreeSet;

use agon_core::tools::{ROUND_REQUESTS_MAX, SEAT_REQUESTS_MAX, TOOLS_PHASE, estimated_tokens, table_tools};
use agon_core::{
    AbsenceReason, AskRecord, AttemptFault, Brief, CallAttempt, Debate, Fence, ItemAsker, ItemFinding,
    ModelKind, PhaseTurn, Reply, TableTools, ToolAnswer, ToolItem, ToolRequest,
};
use serde::Deserialize;
use serde_json::Value;

use super::prompts::refused_request;
use super::requests::take_requests;
use crate::attached_context::attached_items;
use crate::clerk::CLERK;

/// A debate whose seats read more than the protocol shows them: what was looked up, and what the person attached.
#[derive(Debug)]
pub(super) struct ToolTable {
    /// `None` if nothing can be looked up.
    pub(super) tools: Option<TableTools>,
    /// The debate as its protocol sees it: without the phases in which tools ran, without requests, and with the last reply of a
    /// seat that was asked again.
    pub(super) seen: Debate,
    /// The asks of the last phase whose requests are run. Their seats were not asked again.
    pub(super) requesting: BTreeSet<u32>,
    /// The items that only these second replies had before them in the phase from which on seats read them, and the first asks of the
    /// replies.
    shown_again: Vec<String>,
    second_replies: Vec<u32>,
    /// The requests that were not run and of which seats are not told why, because all tokens are used up.
    pub(super) untold: Vec<String>,
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

/// Whether the protocol sees a phase: no tools ran in it, and no seat was asked again.
fn is_seen(turn: &PhaseTurn) -> bool {
    turn.phase.name != TOOLS_PHASE && turn.asks.iter().all(|ask| ask.repeats.is_none())
}

/// How many phases the log has when the protocol has seen this many.
pub(super) fn raw_phases(debate: &Debate, seen: usize) -> usize {
    let mut turns = debate.turns.iter().enumerate().filter(|(_, turn)| is_seen(turn));
    seen.checked_sub(1).and_then(|last| turns.nth(last)).map_or(seen, |(place, _)| place + 1)
}

impl ToolTable {
    /// Reads a log; `None` if the debate has neither tools nor attached texts.
    pub(super) fn read(debate: &Debate) -> Option<Self> {
        let (tools, attached) = (table_tools(&debate.brief), attached_items(&debate.brief));
        if tools.is_none() && attached.is_empty() {
            return None;
        }
        let mut table = Self {
            tools,
            seen: debate_around(debate, attached),
            requesting: BTreeSet::new(),
            shown_again: Vec::new(),
            second_replies: Vec::new(),
            untold: Vec::new(),
            tokens: 0,
        };
        for turn in &debate.turns {
            match turn {
                _ if is_seen(turn) => table.add_turn(turn),
                _ if turn.phase.name == TOOLS_PHASE => table.add_findings(turn),
                _ => table.add_second_replies(turn),
            }
        }
        for mut said in debate.interjections.iter().cloned() {
            said.after = debate.turns.iter().take(said.after).filter(|turn| is_seen(turn)).count();
            table.seen.interjections.push(said);
        }
        Some(table)
    }

    /// Whether the reply to an ask of a phase, by its place in [`seen`](Self::seen), was given by a seat that had read the item.
    pub(super) fn was_shown(&self, item: &ToolItem, place: usize, ask: &AskRecord) -> bool {
        let is_early = || self.shown_again.contains(&item.id) && !self.second_replies.contains(&ask.id);
        let is_after = item.from_turn < place || item.from_turn == place && !is_early();
        is_after && reads_items(&self.seen.brief, &ask.seat)
    }

    /// The items that wait to be run.
    pub(super) fn pending(&self) -> impl Iterator<Item = &ToolItem> {
        self.seen.items.iter().filter(|item| item.finding == ItemFinding::Pending)
    }

    fn add_turn(&mut self, turn: &PhaseTurn) {
        let mut seen = turn.clone();
        let mut requests: Vec<(&AskRecord, Vec<ToolRequest>)> = Vec::new();
        for (ask, reply) in turn.asks.iter().zip(&mut seen.replies) {
            let may_request = self.tools.is_some() && may_request(&self.seen.brief, &ask.seat, &ask.model);
            let reply = reply.as_mut().filter(|_| may_request);
            requests.extend(reply.map(|reply| (ask, take_requests(reply))));
        }
        self.seen.turns.push(seen);
        self.requesting.clear();
        // Who asks for what is known when all have replied, in whatever order.
        if turn.outstanding().next().is_none() {
            requests
                .into_iter()
                .for_each(|(ask, requests)| self.add_requests(ask, turn.phase.round, requests));
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
                    self.requesting.insert(ask.id);
                }
                continue;
            }
            let refusal = self.refusal(place, &tool, &arguments, round);
            let requested = self.seen.items.iter().filter(|item| !item.is_attached()).count();
            let mut item = ToolItem {
                id: format!("E{}", requested + 1),
                tool,
                arguments,
                askers: vec![asker],
                was_run: refusal.is_none(),
                finding: ItemFinding::Pending,
                from_turn: self.seen.turns.len(),
            };
            match refusal {
                None => {
                    self.requesting.insert(ask.id);
                }
                Some(why) => {
                    if !self.has_room(&refused_request(&item, &why)) {
                        self.untold.push(item.id.clone());
                    }
                    item.finding = ItemFinding::Refused(why);
                }
            }
            self.seen.items.push(item);
        }
    }

    /// Counts a text that seats will read, if it fits. As they read it: hidden characters are written out there.
    fn has_room(&mut self, text: &str) -> bool {
        let tokens = self.tokens_of(text);
        let has_room = tokens <= self.tokens_left();
        self.tokens += if has_room { tokens } else { 0 };
        has_room
    }

    fn tokens_of(&self, text: &str) -> u64 {
        estimated_tokens(&Fence::new(&self.seen.brief).defuse(text))
    }

    fn tokens_left(&self) -> u64 {
        self.tools.as_ref().map_or(0, |tools| tools.tokens).saturating_sub(self.tokens)
    }

    /// Why a request is not run: the one in this place of a reply.
    fn refusal(&self, place: usize, tool: &str, arguments: &Value, round: u32) -> Option<String> {
        let TableTools { offers, calls, .. } = self.tools.as_ref()?;
        let run = || self.seen.items.iter().filter(|item| item.was_run);
        let is_of_round = |item: &&ToolItem| item.askers.first().is_some_and(|asker| asker.round == round);
        if place >= SEAT_REQUESTS_MAX {
            Some(format!("at most {SEAT_REQUESTS_MAX} requests of one reply are run"))
        } else if !offers.iter().any(|offer| offer.name == tool) {
            let names: Vec<&str> = offers.iter().map(|offer| offer.name.as_str()).collect();
            Some(format!("there is no such tool; there is {}", names.join(", ")))
        } else if !arguments.is_object() {
            Some("`arguments` must be a JSON object of at most 2,000 bytes".to_owned())
        } else if run().filter(is_of_round).count() >= ROUND_REQUESTS_MAX {
            Some(format!("at most {ROUND_REQUESTS_MAX} requests are run in one round"))
        } else {
            let is_used_up = run().count() >= usize::try_from(*calls).unwrap_or(usize::MAX);
            is_used_up.then(|| format!("the debate's limit of {calls} requests is used up"))
        }
    }

    fn add_findings(&mut self, turn: &PhaseTurn) {
        for (ask, reply) in turn.settled() {
            let finding = self.finding(reply);
            let is_it = |item: &&mut ToolItem| Some(&item.id) == ask.about.as_ref();
            let Some(item) = self.seen.items.iter_mut().find(is_it) else { continue };
            item.finding = finding;
            if let ItemFinding::Refused(why) = &item.finding {
                // A debate runs few requests, so seats are told of each why it found nothing.
                let told = refused_request(item, why);
                self.tokens += self.tokens_of(&told);
            }
        }
    }

    /// What an errand brought. An item that does not fit is left out as a whole.
    fn finding(&mut self, reply: &Reply) -> ItemFinding {
        let value = match reply {
            Reply::Absent { detail, .. } => return ItemFinding::Refused(detail.clone()),
            Reply::Said { value, .. } => value,
        };
        match ToolAnswer::deserialize(value.clone().unwrap_or_default()) {
            Err(_) => ItemFinding::Refused("the tool's answer cannot be read".to_owned()),
            Ok(ToolAnswer { refused: Some(why), .. }) => ItemFinding::Refused(why),
            Ok(ToolAnswer { source, text, .. }) if self.has_room(&text) => {
                ItemFinding::Found { source, text }
            }
            Ok(ToolAnswer { source, text, .. }) => {
                ItemFinding::LeftOut { source, tokens: self.tokens_of(&text), left: self.tokens_left() }
            }
        }
    }

    /// Puts the replies of seats that were asked again in the place of their first ones.
    fn add_second_replies(&mut self, turn: &PhaseTurn) {
        self.requesting.clear();
        let seen_turns = self.seen.turns.len();
        for item in self.seen.items.iter_mut().filter(|item| item.from_turn == seen_turns) {
            item.from_turn = seen_turns.saturating_sub(1);
            self.shown_again.push(item.id.clone());
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
                    self.second_replies.extend(ask.repeats);
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
    let mut more = more.to_vec();
    if attempts.is_empty() && more.is_empty() && matches!(first, Some(Reply::Said { .. })) {
        // A branch copies replies without their attempts. What both used counts all the same.
        let (worst_usd, worst_tokens) = (None, 0);
        let copied = |number| CallAttempt {
            number,
            model: String::new(),
            worst_usd,
            worst_tokens,
            errand: false,
            fault: None,
        };
        attempts.push(copied(1));
        more.push(copied(2));
    }
    if let (Some(replaced), Some(Reply::Said { usage, .. })) = (attempts.last_mut(), first) {
        let detail = "the seat was asked again with what was looked up".to_owned();
        let (why, usage) = (AbsenceReason::Malformed, *usage);
        replaced.fault.get_or_insert(AttemptFault { why, detail, text: None, unverified: false, usage });
    }
    attempts.extend(more);
}

/// A debate without what was said in it, with these items.
fn debate_around(debate: &Debate, items: Vec<ToolItem>) -> Debate {
    Debate {
        brief: debate.brief.clone(),
        turns: Vec::new(),
        interjections: Vec::new(),
        items,
        outcome: debate.outcome.clone(),
        at_ms: debate.at_ms,
        events: debate.events,
        head: debate.head.clone(),
    }
}
