//! What happens to one ask: plan, reserve, send, judge what came, and try again or settle.

use std::collections::BTreeSet;
use std::time::Duration;

use agon_core::debate::Attempt;
use agon_core::seed::Draw;
use agon_core::{Absence, Event, Reply, Usage};
use futures_util::FutureExt;

use crate::budget::{Fit, Grant, Need};
use crate::chain::Link;
use crate::charge::{charged, uncharged, unheard};
use crate::gate::Permit;
use crate::patience::late;
use crate::retry::{self, LONGEST_WAIT, Next};
use crate::run::{Halt, Run};
use crate::slot::{Outgoing, Plan, State, Step};
use crate::warm_up::Bell;
use crate::{Completion, EngineError, Fault, FaultKind, Finish, repair, standing};

/// The longest detail of an absence: a report shows them in a list.
const DETAIL_CHARS_MAX: usize = 500;

/// An attempt that brought no usable answer.
pub(crate) struct Failure {
    why: Absence,
    detail: String,
    text: Option<String>,
    usage: Usage,
    /// The same call would fail in the same way.
    hopeless: bool,
    /// How long the provider asks to wait.
    wait: Option<Duration>,
}

impl Run<'_> {
    /// Decides what to do next for an ask, from its attempts in the log. `failure` is the last of them, if it happened just now.
    pub(crate) fn plan(&mut self, index: usize, failure: Option<&Failure>) -> Result<(), EngineError> {
        let Some(slot) = self.slots.get(index) else { return Ok(()) };
        let attempts = self.attempts(slot.place);
        let names: Vec<&str> = slot.chain.iter().map(|link| link.name.as_str()).collect();
        let hopeless = failure.is_some_and(|failure| failure.hopeless);
        let limits = &self.debate.brief.limits;
        let down = match names.len() {
            0 | 1 => BTreeSet::new(),
            _ => standing::down(self.protocol, &self.debate),
        };
        let (link, repair, failures) = match retry::next(&names, &down, attempts, limits, hopeless) {
            Next::Try { link, repair, failures } => (link, repair, failures),
            Next::GiveUp { why, detail } => {
                let detail = detail.to_owned();
                return self.settle(index, Reply::Absent { why, detail });
            }
        };
        let Some(link) = slot.chain.get(link).cloned() else { return Ok(()) };
        // Many wait and few are under way: the words are copied only for a call that leaves.
        let need = Need::of(&slot.messages(repair), slot.schema_bytes, link.model.price());
        let repair = repair.map(|(said, why)| (said.to_owned(), why.to_owned()));
        let plan = Plan { link, repair, need };
        let failed_now = failure.filter(|failure| failure.why == Absence::Unreachable && failures > 0);
        let pause = failed_now.map_or(Duration::ZERO, |failure| {
            failure.wait.unwrap_or_else(|| {
                let spread = format!("pause {} {} {}", self.id, slot.ask.id, attempts.len());
                retry::pause(&self.engine.settings, failures, Draw::new(self.debate.brief.seed, &spread))
            })
        });
        if slot.is_late(pause) {
            let detail = failure.map_or_else(|| late(&slot.ask), |failure| failure.detail.clone());
            return self.settle(index, Reply::Absent { why: Absence::TimedOut, detail });
        }
        let state = if pause > Duration::ZERO {
            self.steps.push(tokio::time::sleep(pause).map(move |()| Step::Rested { index }).boxed());
            State::Resting(plan)
        } else {
            State::Ready(plan)
        };
        self.set(index, state);
        Ok(())
    }

    /// Lets asks leave in seat order, as far as the budget and the gate have room.
    pub(crate) fn offer(&mut self) -> Result<(), EngineError> {
        let allowed = self.allowance();
        let mut waiting = self.slots.iter().filter(|slot| slot.is_waiting()).count();
        for index in 0..self.slots.len() {
            let Some(slot) = self.slots.get(index) else { break };
            let State::Ready(plan) = &slot.state else { continue };
            if self.warm_up.holds(&plan.link.name) || self.is_full(slot.ask.at_once) {
                continue;
            }
            if slot.is_late(Duration::ZERO) {
                let detail = late(&slot.ask);
                self.settle(index, Reply::Absent { why: Absence::TimedOut, detail })?;
                continue;
            }
            if plan.link.model.is_errand() {
                self.approach(index, Grant::errand(&self.debate.brief.limits))?;
                continue;
            }
            match self.budget.afford(&plan.need, waiting, &allowed) {
                Fit::Later => break,
                Fit::Never(detail) => {
                    self.settle(index, Reply::Absent { why: Absence::OverBudget, detail })?
                }
                Fit::Now(grant) => {
                    self.budget.reserve(slot.ask.id, grant.worst);
                    self.warm_up.let_go(&plan.link.name, slot.ask.id);
                    self.approach(index, grant)?;
                }
            }
            waiting = waiting.saturating_sub(1);
        }
        Ok(())
    }

    /// Whether no more asks of the phase may leave that allow only so many at once.
    fn is_full(&self, at_once: Option<u32>) -> bool {
        let under_way = self.slots.iter().filter(|slot| slot.is_under_way()).count();
        at_once.is_some_and(|most| under_way >= usize::try_from(most.max(1)).unwrap_or(usize::MAX))
    }

    fn approach(&mut self, index: usize, grant: Grant) -> Result<(), EngineError> {
        let State::Ready(plan) = self.set(index, State::New) else { return Ok(()) };
        let lane = plan.link.lane.clone();
        let at_once = lane.try_enter();
        if at_once.is_none() {
            self.steps.push(lane.enter().map(move |permit| Step::Entered { index, permit }).boxed());
        }
        self.set(index, State::AtGate(plan, grant));
        at_once.map_or(Ok(()), |permit| self.post(index, permit))
    }

    /// Writes that a call is about to leave.
    fn post(&mut self, index: usize, permit: Permit) -> Result<(), EngineError> {
        let State::AtGate(Plan { link, repair, .. }, grant) = self.set(index, State::New) else {
            return Ok(());
        };
        let Grant { output_tokens, worst } = grant;
        let (Some(slot), Some(turn)) = (self.slots.get(index), self.debate.turns.last()) else {
            return Ok(());
        };
        let attempt = self.attempts(slot.place).last().map_or(1, |last| last.number.saturating_add(1));
        let repair = repair.as_ref().map(|(said, why)| (said.as_str(), why.as_str()));
        let messages = slot.messages(repair);
        let call = slot.call(&self.debate.brief, &turn.phase, attempt, messages, output_tokens);
        let errand = link.model.is_errand();
        let event =
            Event::Sent { ask: call.ask, attempt, model: link.name.clone(), worst_usd: worst.usd, errand };
        let seq = self.debate.events;
        self.set(index, State::Posted { seq, outgoing: Box::new(Outgoing { link, call, permit }) });
        self.journal.hurry();
        self.write(event)
    }

    /// Lets the calls go whose `Sent` is durable.
    pub(crate) fn launch(&mut self) {
        let durable = self.journal.durable();
        for index in 0..self.slots.len() {
            let Some(slot) = self.slots.get_mut(index) else { break };
            if !matches!(&slot.state, State::Posted { seq, .. } if *seq < durable) {
                continue;
            }
            let State::Posted { outgoing, .. } = self.set(index, State::New) else { continue };
            let (link, attempt) = (outgoing.link.clone(), outgoing.call.attempt);
            let (timeout, bell) = (self.time_for(index, &link), self.bell(&link, outgoing.call.ask));
            self.set(index, State::Calling { link, attempt });
            let watchers = self.journal.watch().deltas.clone();
            self.steps.push(outgoing.leave(index, timeout, self.id.clone(), watchers, bell).boxed());
        }
    }

    /// What a call rings at its first token, if others wait for that.
    fn bell(&self, link: &Link, ask: u32) -> Option<Bell> {
        let bell = self.warm_up.bell(&link.name, ask)?;
        if self.slots.iter().any(|slot| slot.waits_for(&link.name)) {
            return Some(bell);
        }
        // Who comes later could not know when it began, for without somebody to tell nothing is streamed.
        bell.ring();
        None
    }

    /// Takes in what happened to an ask.
    pub(crate) fn take(&mut self, step: Step) -> Result<(), EngineError> {
        match step {
            Step::Rested { index } => {
                if let State::Resting(plan) = self.set(index, State::New) {
                    self.set(index, State::Ready(plan));
                }
                Ok(())
            }
            Step::Entered { index, permit: Some(permit) } if self.halt.is_none() => self.post(index, permit),
            Step::Entered { .. } => Ok(()),
            Step::Came { index, came, latency_ms } => self.came(index, came, latency_ms),
        }
    }

    fn came(
        &mut self,
        index: usize,
        came: Option<Result<Completion, Fault>>,
        latency_ms: u64,
    ) -> Result<(), EngineError> {
        let State::Calling { link, attempt } = self.set(index, State::New) else { return Ok(()) };
        let price = link.model.price();
        let Some(ask) = self.slots.get(index).map(|slot| slot.ask.id) else { return Ok(()) };
        self.warm_up.ended(ask);
        match came {
            None => {
                self.budget.abandon(ask);
                let waited = self.patience(index, &link);
                let detail = format!("{} did not answer within {waited:?}", link.name);
                let usage = Usage { latency_ms, ..unheard(&price) };
                self.fail(index, attempt, Failure::plain(Absence::TimedOut, detail, None, usage))
            }
            Some(Ok(completion)) => {
                let usage = Usage { latency_ms, ..charged(&price, completion.usage) };
                self.budget.settle(ask, &usage);
                self.judge(index, attempt, completion, usage)
            }
            Some(Err(fault)) => {
                let usage = match fault.kind {
                    // The model has spoken, so that a provider may charge for words which nobody could read.
                    FaultKind::Garbled | FaultKind::Refused => charged(&price, fault.usage),
                    _ => uncharged(&price, fault.usage),
                };
                let usage = Usage { latency_ms, ..usage };
                self.budget.settle(ask, &usage);
                self.fault(index, attempt, &link, fault, usage)
            }
        }
    }

    /// Reads an answer and settles the ask with it, if it keeps schema and rules.
    fn judge(
        &mut self,
        index: usize,
        attempt: u32,
        completion: Completion,
        usage: Usage,
    ) -> Result<(), EngineError> {
        let Some(slot) = self.slots.get(index) else { return Ok(()) };
        let Completion { text, model, finish, shortened, .. } = completion;
        if finish == Finish::Refused {
            let detail = format!("{model} would not answer");
            return self.fail(index, attempt, Failure::plain(Absence::Refused, detail, Some(text), usage));
        }
        let most = repair::bytes_max(&self.debate.brief.limits);
        let read = repair::read(slot.ask.schema.as_deref(), &text, finish, most);
        let checked = read.and_then(|value| match &value {
            Some(inner) => self.protocol.check(&self.debate, &slot.ask, inner).map(|()| value),
            None => Ok(value),
        });
        let cut_off = finish == Finish::Length;
        match checked {
            Ok(value) => self.settle(index, Reply::Said { text, value, model, usage, cut_off, shortened }),
            Err(why) => self.fail(index, attempt, Failure::plain(Absence::Malformed, why, Some(text), usage)),
        }
    }

    fn fault(
        &mut self,
        index: usize,
        attempt: u32,
        link: &Link,
        fault: Fault,
        usage: Usage,
    ) -> Result<(), EngineError> {
        let detail = fault.message.clone();
        let plain = |why| Failure::plain(why, detail.clone(), None, usage);
        let chain = self.slots.get(index).map(|slot| slot.chain.clone());
        let more = chain.is_some_and(|chain| chain.last().is_some_and(|last| last.name != link.name));
        match fault.kind {
            // A model that has answered was set up right, and the protocol has its way to do without a voice: stopping would
            // throw away what is paid for.
            FaultKind::Key | FaultKind::NoSuchModel
                if !more && !standing::has_answered(&self.debate, &link.name) =>
            {
                // Not the seat's failure: after the person has put it right, the seat has all its retries.
                self.fail(index, attempt, plain(Absence::Cancelled))?;
                self.stop(Halt::Fault(fault))
            }
            FaultKind::Refused => self.fail(index, attempt, plain(Absence::Refused)),
            FaultKind::Key | FaultKind::NoSuchModel | FaultKind::Rejected => {
                self.fail(index, attempt, Failure { hopeless: true, ..plain(Absence::Unreachable) })
            }
            FaultKind::Unsupported => {
                let at_once = Some(Duration::ZERO);
                self.fail(index, attempt, Failure { wait: at_once, ..plain(Absence::Unreachable) })
            }
            FaultKind::RateLimited | FaultKind::Unavailable | FaultKind::Garbled => {
                let left = self.time_left().unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT);
                let mut failure = Failure { wait: fault.retry_after, ..plain(Absence::Unreachable) };
                if let Some(wait) = fault.retry_after.filter(|wait| *wait > left) {
                    failure.hopeless = true;
                    failure.detail = format!(
                        "{detail} (the provider asks to wait {} s, and only {} s can be waited)",
                        wait.as_secs(),
                        left.as_secs()
                    );
                }
                self.fail(index, attempt, failure)
            }
        }
    }

    fn fail(&mut self, index: usize, attempt: u32, failure: Failure) -> Result<(), EngineError> {
        self.attempted(index, attempt, &failure)?;
        if self.halt.is_some() || failure.why == Absence::Cancelled {
            return Ok(());
        }
        self.plan(index, Some(&failure))
    }

    fn attempted(&mut self, index: usize, attempt: u32, failure: &Failure) -> Result<(), EngineError> {
        let Some(ask) = self.slots.get(index).map(|slot| slot.ask.id) else { return Ok(()) };
        let Failure { why, detail, text, usage, .. } = failure;
        let most = repair::bytes_max(&self.debate.brief.limits);
        let text = text.as_deref().map(|text| repair::cut(text, most).to_owned());
        let (why, detail, usage) = (*why, detail.clone(), *usage);
        self.write(Event::Attempted { ask, attempt, why, detail, text, usage })
    }

    fn settle(&mut self, index: usize, mut reply: Reply) -> Result<(), EngineError> {
        if let Reply::Absent { detail, .. } = &mut reply
            && let Some((end, _)) = detail.char_indices().nth(DETAIL_CHARS_MAX)
        {
            detail.truncate(end);
        }
        self.set(index, State::Settled);
        let Some(ask) = self.slots.get(index).map(|slot| slot.ask.id) else { return Ok(()) };
        self.write(Event::Replied { ask, reply })
    }

    /// Settles everything that is still open: the time of the phase is over.
    pub(crate) fn expire(&mut self) -> Result<(), EngineError> {
        self.steps.clear();
        let detail = self.allowance().late();
        for index in 0..self.slots.len() {
            if self.slots.get(index).is_some_and(|slot| slot.is_settled()) {
                continue;
            }
            self.abandon(index, Absence::TimedOut, &detail)?;
            self.settle(index, Reply::Absent { why: Absence::TimedOut, detail: detail.clone() })?;
        }
        Ok(())
    }

    /// Writes off the call of an ask that has left or is about to, and gives back what one that has not had reserved.
    pub(crate) fn abandon(&mut self, index: usize, why: Absence, detail: &str) -> Result<(), EngineError> {
        let Some(ask) = self.slots.get(index).map(|slot| slot.ask.id) else { return Ok(()) };
        let (link, attempt, left) = match self.set(index, State::New) {
            State::Calling { link, attempt } => (link, attempt, true),
            State::Posted { outgoing, .. } => (outgoing.link, outgoing.call.attempt, false),
            _ => {
                self.budget.give_back(ask);
                return Ok(());
            }
        };
        self.budget.abandon(ask);
        let usage =
            if left { unheard(&link.model.price()) } else { Usage { usd: Some(0.0), ..Usage::default() } };
        self.attempted(index, attempt, &Failure::plain(why, detail.to_owned(), None, usage))
    }

    /// The calls that were made for the ask at this place of the phase.
    pub(crate) fn attempts(&self, place: usize) -> &[Attempt] {
        let turn = self.debate.turns.last();
        turn.and_then(|turn| turn.attempts.get(place)).map_or(&[], Vec::as_slice)
    }

    fn set(&mut self, index: usize, state: State) -> State {
        self.slots.get_mut(index).map_or(State::Settled, |slot| std::mem::replace(&mut slot.state, state))
    }
}

impl Failure {
    fn plain(why: Absence, detail: String, text: Option<String>, usage: Usage) -> Self {
        Self { why, detail, text, usage, hopeless: false, wait: None }
    }
}
