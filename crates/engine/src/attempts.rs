//! Takes one ask through its attempts: plan, reserve, send, handle the result, then retry or settle.

use std::collections::BTreeSet;
use std::time::Duration;

use agon_core::debate::CallAttempt;
use agon_core::seed::SeededDraw;
use agon_core::{AbsenceReason, CallUsage, Event, Reply, ReplyFault};
use futures_util::FutureExt;

use crate::answer_parsing::{self, truncated};
use crate::ask_task::{AskProgress, AskState, AskTask, OutgoingCall, PlannedCall};
use crate::budget::{BudgetAnswer, CallEstimate, CallGrant};
use crate::call_limits::CallPermit;
use crate::debate_run::{DebateRun, HaltReason};
use crate::model_chains::{self, ChainModel};
use crate::retry::{self, NextAttempt, PROVIDER_WAIT_MAX};
use crate::shared_budget::SharedAnswer;
use crate::warm_up::FirstTokenSignal;
use crate::{CallFault, CallFaultKind, EngineError, FinishReason, ModelCompletion};

/// The longest detail of an absence. Reports show absences in a list.
const DETAIL_CHARS_MAX: usize = 500;

/// An attempt without a usable answer.
pub(crate) struct FailedAttempt {
    attempt: u32,
    why: AbsenceReason,
    detail: String,
    text: Option<String>,
    /// Whether only a declaration in the answer does not verify.
    unverified: bool,
    usage: CallUsage,
    /// Whether the same call would fail in the same way.
    is_permanent: bool,
    /// How long to wait before the next attempt. `None` leaves the choice to the engine.
    wait: Option<Duration>,
}

impl FailedAttempt {
    fn new(attempt: u32, why: AbsenceReason, detail: String, usage: CallUsage) -> Self {
        Self { attempt, why, detail, text: None, unverified: false, usage, is_permanent: false, wait: None }
    }
}

impl DebateRun<'_> {
    /// Decides what to do next for an ask, from its attempts in the log. `failed` is the last attempt if it has just failed.
    pub(crate) fn plan_attempt(
        &mut self,
        index: usize,
        failed: Option<&FailedAttempt>,
    ) -> Result<(), EngineError> {
        let Some(pending) = self.asks.get(index) else { return Ok(()) };
        let attempts = self.attempts(pending.index_in_phase);
        let chain: Vec<&str> = pending.chain.iter().map(|model| model.name.as_str()).collect();
        let down = match chain.len() {
            0 | 1 => BTreeSet::new(),
            _ => model_chains::models_down(self.protocol, &self.debate),
        };
        let is_permanent = failed.is_some_and(|failed| failed.is_permanent);
        let limits = &self.debate.brief.limits;
        let (model, repair, failures) =
            match retry::next_attempt(&chain, &down, attempts, limits, is_permanent) {
                NextAttempt::Call { model, repair, failures } => (model, repair, failures),
                NextAttempt::GiveUp { why, detail } => return self.settle_absent(index, why, detail),
            };
        let Some(model) = pending.chain.get(model).cloned() else { return Ok(()) };
        let estimate = CallEstimate::new(
            pending.message_lengths(repair.as_ref()),
            pending.schema.as_ref().map_or(0, |schema| schema.request_bytes),
            model.model.price(),
        );
        let unreachable = failed.filter(|failed| failed.why == AbsenceReason::Unreachable && failures > 0);
        let delay = unreachable.map_or(Duration::ZERO, |failed| {
            failed.wait.unwrap_or_else(|| {
                let label = format!("pause {} {} {}", self.id, pending.ask.id, attempts.len());
                let jitter = SeededDraw::new(self.debate.brief.seed, &label);
                retry::retry_delay(&self.engine.settings, failures, jitter)
            })
        });
        if pending.is_late(delay) {
            let detail = failed.map_or_else(|| pending.late_message(), |failed| failed.detail.clone());
            return self.settle_absent(index, AbsenceReason::TimedOut, detail);
        }
        let planned = PlannedCall { model, repair, estimate };
        let state = if delay > Duration::ZERO {
            let delay_over = tokio::time::sleep(delay).map(move |()| AskProgress::RetryDelayOver { index });
            self.progress.push(delay_over.boxed());
            AskState::WaitingToRetry(planned)
        } else {
            AskState::WaitingForBudget(planned)
        };
        self.replace_state(index, state);
        Ok(())
    }

    /// Starts calls in seat order, as far as the budget and the limits on concurrent calls allow.
    pub(crate) fn start_planned_calls(&mut self) -> Result<(), EngineError> {
        let limits = self.phase_limits();
        (self.waits_for_shared, self.used_up) = (false, None);
        let mut waiting = self.asks.iter().filter(|pending| pending.is_waiting()).count();
        for index in 0..self.asks.len() {
            let Some(pending) = self.asks.get(index) else { break };
            let AskState::WaitingForBudget(planned) = &pending.state else { continue };
            if self.warm_up.must_wait(&planned.model.name) || self.is_phase_full(pending.ask.at_once) {
                continue;
            }
            if pending.is_late(Duration::ZERO) {
                let detail = pending.late_message();
                self.settle_absent(index, AbsenceReason::TimedOut, detail)?;
                continue;
            }
            if planned.model.model.is_errand() {
                self.acquire_permit(index, CallGrant::for_errand(&self.debate.brief.limits))?;
                continue;
            }
            match self.budget.check(&planned.estimate, waiting, &limits) {
                BudgetAnswer::Later => break,
                BudgetAnswer::Never(detail) => {
                    self.settle_absent(index, AbsenceReason::OverBudget, detail)?;
                }
                BudgetAnswer::Now(grant) => match self.budget.reserve(pending.ask.id, grant.worst_case) {
                    SharedAnswer::Reserved => {
                        self.warm_up.call_starts(&planned.model.name, pending.ask.id);
                        self.acquire_permit(index, grant)?;
                    }
                    SharedAnswer::Later => {
                        self.waits_for_shared = true;
                        break;
                    }
                    SharedAnswer::UsedUp(why) => {
                        self.used_up = Some(why);
                        break;
                    }
                },
            }
            waiting = waiting.saturating_sub(1);
        }
        Ok(())
    }

    /// Whether the phase has as many calls under way as it allows.
    fn is_phase_full(&self, at_once: Option<u32>) -> bool {
        let under_way = self.asks.iter().filter(|pending| pending.is_under_way()).count();
        at_once.is_some_and(|most| under_way >= usize::try_from(most.max(1)).unwrap_or(usize::MAX))
    }

    fn acquire_permit(&mut self, index: usize, grant: CallGrant) -> Result<(), EngineError> {
        let AskState::WaitingForBudget(planned) = self.replace_state(index, AskState::Unplanned) else {
            return Ok(());
        };
        let limit = planned.model.limit.clone();
        self.replace_state(index, AskState::WaitingForPermit(planned, grant));
        if let Some(permit) = limit.try_permit() {
            return self.log_sent(index, permit);
        }
        let acquired = limit.permit().map(move |permit| AskProgress::PermitAcquired { index, permit });
        self.progress.push(acquired.boxed());
        Ok(())
    }

    /// Logs that a call is about to start.
    fn log_sent(&mut self, index: usize, permit: CallPermit) -> Result<(), EngineError> {
        let AskState::WaitingForPermit(planned, grant) = self.replace_state(index, AskState::Unplanned)
        else {
            return Ok(());
        };
        let (Some(pending), Some(turn)) = (self.asks.get(index), self.debate.turns.last()) else {
            return Ok(());
        };
        let PlannedCall { model, repair, .. } = planned;
        let last_attempt = self.attempts(pending.index_in_phase).last();
        let attempt = last_attempt.map_or(1, |last| last.number.saturating_add(1));
        let brief = &self.debate.brief;
        let call = pending.to_call(brief, &turn.phase, attempt, repair.as_ref(), grant.output_tokens);
        let event = Event::Sent {
            ask: call.ask,
            attempt,
            model: model.name.clone(),
            worst_usd: grant.worst_case.usd,
            worst_tokens: grant.worst_case.tokens,
            errand: model.model.is_errand(),
        };
        let call = Box::new(OutgoingCall { model, call, permit });
        self.replace_state(index, AskState::WaitingForLog { seq: self.debate.events, call });
        self.log.mark_urgent();
        self.log_event(event)
    }

    /// Starts the calls whose `Sent` event is durable.
    pub(crate) fn launch_logged_calls(&mut self) {
        let durable_count = self.log.durable_count();
        let default_timeout_ms = self.debate.brief.limits.call_timeout_ms;
        for index in 0..self.asks.len() {
            let Some(pending) = self.asks.get_mut(index) else { break };
            if !matches!(&pending.state, AskState::WaitingForLog { seq, .. } if *seq < durable_count) {
                continue;
            }
            let AskState::WaitingForLog { call, .. } =
                std::mem::replace(&mut pending.state, AskState::Unplanned)
            else {
                continue;
            };
            let timeout = pending.start_call_timer(&call.model, default_timeout_ms);
            let first_token = self.first_token_signal(&call.model, call.call.ask);
            let calling = AskState::Calling { model: call.model.clone(), attempt: call.call.attempt };
            self.replace_state(index, calling);
            // A stream is more work for a provider, so there is one only if somebody listens.
            let watchers = self.log.watch().deltas.clone().filter(|deltas| deltas.receiver_count() > 0);
            self.progress.push(call.run(index, timeout, self.id.clone(), watchers, first_token).boxed());
        }
    }

    /// How a call reports its first token, if other calls wait for that.
    fn first_token_signal(&self, model: &ChainModel, ask: u32) -> Option<FirstTokenSignal> {
        let signal = self.warm_up.first_token_signal(&model.name, ask)?;
        if self.asks.iter().any(|pending| pending.will_call(&model.name)) {
            return Some(signal);
        }
        // The call is not streamed if nobody waits for it, so its first token would go unnoticed. Later calls must not wait
        // for that.
        signal.send();
        None
    }

    pub(crate) fn handle_progress(&mut self, progress: AskProgress) -> Result<(), EngineError> {
        match progress {
            AskProgress::RetryDelayOver { index } => {
                if let AskState::WaitingToRetry(planned) = self.replace_state(index, AskState::Unplanned) {
                    self.replace_state(index, AskState::WaitingForBudget(planned));
                }
                Ok(())
            }
            AskProgress::PermitAcquired { index, permit: Some(permit) } if self.halt.is_none() => {
                self.log_sent(index, permit)
            }
            AskProgress::PermitAcquired { .. } => Ok(()),
            AskProgress::CallEnded { index, result, latency_ms } => {
                self.handle_call_end(index, result, latency_ms)
            }
        }
    }

    fn handle_call_end(
        &mut self,
        index: usize,
        result: Option<Result<ModelCompletion, CallFault>>,
        latency_ms: u64,
    ) -> Result<(), EngineError> {
        let AskState::Calling { model, attempt } = self.replace_state(index, AskState::Unplanned) else {
            return Ok(());
        };
        let Some(pending) = self.asks.get(index) else { return Ok(()) };
        let (ask, price) = (pending.ask.id, model.model.price());
        self.warm_up.call_ended(ask);
        match result {
            None => {
                self.budget.settle(ask, None);
                let timeout = pending.call_timeout(&model, self.debate.brief.limits.call_timeout_ms);
                let detail = format!("{} did not answer within {timeout:?}", model.name);
                let usage = CallUsage { latency_ms, ..price.usage_of_abandoned_call() };
                self.fail(index, FailedAttempt::new(attempt, AbsenceReason::TimedOut, detail, usage))
            }
            Some(Ok(completion)) => {
                let usage = CallUsage {
                    latency_ms,
                    ..price.usage_of_answer(completion.usage, model.model.uses_tokens())
                };
                self.budget.settle(ask, Some(&usage));
                self.handle_completion(index, attempt, completion, usage)
            }
            Some(Err(fault)) => {
                let usage = match fault.kind {
                    // The model produced words, so the provider may bill them although they are unreadable.
                    CallFaultKind::Garbled | CallFaultKind::Refused => {
                        price.usage_of_answer(fault.usage, model.model.uses_tokens())
                    }
                    _ => price.usage_of_fault(fault.usage),
                };
                let usage = CallUsage { latency_ms, ..usage };
                self.budget.settle(ask, Some(&usage));
                self.handle_fault(index, attempt, &model, fault, usage)
            }
        }
    }

    /// Settles the ask with an answer if that conforms to the schema and the protocol's rules.
    fn handle_completion(
        &mut self,
        index: usize,
        attempt: u32,
        completion: ModelCompletion,
        usage: CallUsage,
    ) -> Result<(), EngineError> {
        let Some(pending) = self.asks.get(index) else { return Ok(()) };
        let ModelCompletion { text, model, finish, shortened, .. } = completion;
        if finish == FinishReason::Refused {
            let detail = format!("{model} refused to answer");
            let failed = FailedAttempt::new(attempt, AbsenceReason::Refused, detail, usage);
            return self.fail(index, FailedAttempt { text: Some(text), ..failed });
        }
        let bytes_max = answer_parsing::answer_bytes_max(&self.debate.brief.limits);
        let parsed = answer_parsing::parse_answer(pending.schema.as_deref(), &text, finish, bytes_max);
        let checked = parsed.map_err(ReplyFault::Invalid).and_then(|value| {
            let checked = value.as_ref().map(|value| self.protocol.check(&self.debate, &pending.ask, value));
            match checked.unwrap_or(Ok(())) {
                // A declaration that does not verify goes back once. Then the reply counts without it.
                Err(ReplyFault::Unverified(_)) if !self.may_be_sent_back(pending) => Ok(value),
                checked => checked.map(|()| value),
            }
        });
        match checked {
            Ok(value) => {
                let cut_off = finish == FinishReason::Length;
                self.settle(index, Reply::Said { text, value, model, usage, cut_off, shortened })
            }
            Err(fault) => {
                let unverified = matches!(fault, ReplyFault::Unverified(_));
                let detail = fault.sentence().to_owned();
                let failed = FailedAttempt::new(attempt, AbsenceReason::Malformed, detail, usage);
                self.fail(index, FailedAttempt { text: Some(text), unverified, ..failed })
            }
        }
    }

    /// Whether an answer that is only unverified may still be sent back: none was yet, and a repair is left.
    fn may_be_sent_back(&self, pending: &AskTask) -> bool {
        let attempts = self.attempts(pending.index_in_phase);
        let is_malformed = |attempt: &&CallAttempt| {
            attempt.fault.as_ref().is_some_and(|fault| fault.why == AbsenceReason::Malformed)
        };
        let repairs = u32::try_from(attempts.iter().filter(is_malformed).count()).unwrap_or(u32::MAX);
        repairs < self.debate.brief.limits.repairs && !attempts.iter().any(retry::is_unverified)
    }

    /// The answer that was sent back because a declaration in it does not verify. It counts if nothing better follows. Its cost
    /// is that of the attempt.
    fn unverified_reply(&self, pending: &AskTask) -> Option<Reply> {
        let attempts = self.attempts(pending.index_in_phase);
        let attempt = attempts.iter().rfind(|attempt| retry::is_unverified(attempt))?;
        let text = attempt.fault.as_ref()?.text.clone()?;
        let schema = pending.schema.as_deref();
        let value = answer_parsing::parse_answer(schema, &text, FinishReason::End, usize::MAX).ok()?;
        let (model, usage) = (attempt.model.clone(), CallUsage { usd: Some(0.0), ..CallUsage::default() });
        Some(Reply::Said { text, value, model, usage, cut_off: false, shortened: None })
    }

    fn handle_fault(
        &mut self,
        index: usize,
        attempt: u32,
        model: &ChainModel,
        fault: CallFault,
        usage: CallUsage,
    ) -> Result<(), EngineError> {
        let mut failed =
            FailedAttempt::new(attempt, AbsenceReason::Unreachable, fault.message.clone(), usage);
        let last_in_chain = self.asks.get(index).and_then(|pending| pending.chain.last());
        let has_fallback = last_in_chain.is_some_and(|last| last.name != model.name);
        match fault.kind {
            // If the model has answered before, its configuration was right. The protocol can continue without the seat;
            // stopping would waste the answers that are paid for.
            CallFaultKind::Key | CallFaultKind::NoSuchModel
                if !has_fallback && !model_chains::has_answered(&self.debate, &model.name) =>
            {
                // Cancelled, so that the seat has all its retries after the user has fixed the configuration.
                failed.why = AbsenceReason::Cancelled;
                self.fail(index, failed)?;
                return self.halt(HaltReason::Fault(fault));
            }
            CallFaultKind::Refused => failed.why = AbsenceReason::Refused,
            CallFaultKind::TimedOut => failed.why = AbsenceReason::TimedOut,
            CallFaultKind::Key | CallFaultKind::NoSuchModel | CallFaultKind::Rejected => {
                failed.is_permanent = true;
            }
            CallFaultKind::Unsupported => failed.wait = Some(Duration::ZERO),
            CallFaultKind::RateLimited | CallFaultKind::Unavailable | CallFaultKind::Garbled => {
                let wait_max = self.time_left().unwrap_or(PROVIDER_WAIT_MAX).min(PROVIDER_WAIT_MAX);
                failed.wait = fault.retry_after;
                if let Some(wait) = fault.retry_after.filter(|wait| *wait > wait_max) {
                    let (asked_s, possible_s) = (wait.as_secs(), wait_max.as_secs());
                    failed.is_permanent = true;
                    failed.detail += &format!(
                        " (the provider asks to wait {asked_s} s, but at most {possible_s} s are possible)"
                    );
                }
            }
        }
        self.fail(index, failed)
    }

    /// Logs a failed attempt and plans the next one.
    fn fail(&mut self, index: usize, failed: FailedAttempt) -> Result<(), EngineError> {
        self.log_failed_attempt(index, &failed)?;
        if self.halt.is_some() || failed.why == AbsenceReason::Cancelled {
            return Ok(());
        }
        self.plan_attempt(index, Some(&failed))
    }

    fn log_failed_attempt(&mut self, index: usize, failed: &FailedAttempt) -> Result<(), EngineError> {
        let Some(ask) = self.asks.get(index).map(|pending| pending.ask.id) else { return Ok(()) };
        let bytes_max = answer_parsing::answer_bytes_max(&self.debate.brief.limits);
        self.log_event(Event::Attempted {
            ask,
            attempt: failed.attempt,
            why: failed.why,
            detail: failed.detail.clone(),
            text: failed.text.as_deref().map(|text| truncated(text, bytes_max).to_owned()),
            unverified: failed.unverified,
            usage: failed.usage,
        })
    }

    /// Settles an ask for which no further call is made: with an earlier answer that counts if there is one, else as absent.
    fn settle_absent(
        &mut self,
        index: usize,
        why: AbsenceReason,
        mut detail: String,
    ) -> Result<(), EngineError> {
        let Some(pending) = self.asks.get(index) else { return Ok(()) };
        if let Some(reply) = self.unverified_reply(pending) {
            self.log_lost_call(index)?;
            return self.settle(index, reply);
        }
        if let Some((end, _)) = detail.char_indices().nth(DETAIL_CHARS_MAX) {
            detail.truncate(end);
        }
        self.settle(index, Reply::Absent { why, detail })
    }

    /// Logs the end of a last call that was lost in a crash. Otherwise the reply would count as its answer.
    fn log_lost_call(&mut self, index: usize) -> Result<(), EngineError> {
        let Some(pending) = self.asks.get(index) else { return Ok(()) };
        let Some(lost) = self.attempts(pending.index_in_phase).last().filter(|last| last.fault.is_none())
        else {
            return Ok(());
        };
        let detail = "the call was lost when the debate was interrupted".to_owned();
        let usage = match pending.chain.iter().find(|model| model.name == lost.model) {
            Some(model) => model.model.price().usage_of_abandoned_call(),
            None => CallUsage::default(),
        };
        let failed = FailedAttempt::new(lost.number, AbsenceReason::Cancelled, detail, usage);
        self.log_failed_attempt(index, &failed)
    }

    fn settle(&mut self, index: usize, reply: Reply) -> Result<(), EngineError> {
        self.replace_state(index, AskState::Settled);
        let Some(ask) = self.asks.get(index).map(|pending| pending.ask.id) else { return Ok(()) };
        self.log_event(Event::Replied { ask, reply })
    }

    /// Settles everything that is still open: the time of the phase is over, or a person does not want to wait.
    pub(crate) fn settle_all(&mut self, why: AbsenceReason, detail: &str) -> Result<(), EngineError> {
        self.progress.clear();
        for index in 0..self.asks.len() {
            if self.asks.get(index).is_some_and(|pending| pending.is_settled()) {
                continue;
            }
            self.abandon_call(index, why, detail)?;
            self.settle_absent(index, why, detail.to_owned())?;
        }
        Ok(())
    }

    /// Logs the end of a call whose `Sent` is written. Of any other, frees what the budget has reserved.
    pub(crate) fn abandon_call(
        &mut self,
        index: usize,
        why: AbsenceReason,
        detail: &str,
    ) -> Result<(), EngineError> {
        let Some(ask) = self.asks.get(index).map(|pending| pending.ask.id) else { return Ok(()) };
        let (attempt, usage) = match self.replace_state(index, AskState::Unplanned) {
            AskState::Calling { model, attempt } => (attempt, model.model.price().usage_of_abandoned_call()),
            // The call never started, so it cost nothing.
            AskState::WaitingForLog { call, .. } => {
                (call.call.attempt, CallUsage { usd: Some(0.0), ..CallUsage::default() })
            }
            _ => {
                self.budget.cancel(ask);
                return Ok(());
            }
        };
        self.budget.settle(ask, None);
        self.log_failed_attempt(index, &FailedAttempt::new(attempt, why, detail.to_owned(), usage))
    }

    /// The attempts in the log at the ask with this index in the current phase.
    fn attempts(&self, index_in_phase: usize) -> &[CallAttempt] {
        let turn = self.debate.turns.last();
        turn.and_then(|turn| turn.attempts.get(index_in_phase)).map_or(&[], Vec::as_slice)
    }

    /// Sets the state of an ask and returns the one before.
    fn replace_state(&mut self, index: usize, state: AskState) -> AskState {
        self.asks
            .get_mut(index)
            .map_or(AskState::Settled, |pending| std::mem::replace(&mut pending.state, state))
    }
}
