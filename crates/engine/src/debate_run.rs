//! Runs one debate, from the log it has so far to its end. One task owns the log, the budget and the calls.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use agon_core::{AbsenceReason, Corrupt, Debate, Event, NextEvent, Phase, Protocol, advance};
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::sync::watch;
use tokio::time::{Instant, Sleep, sleep};

use crate::ask_task::{AskProgress, AskState, AskTask};
use crate::budget::{DebateBudget, PhaseLimits};
use crate::log_writer::LogWriter;
use crate::model_chains::ChainResolver;
use crate::shared_budget::SharedBudget;
use crate::warm_up::CacheWarmUp;
use crate::{CallFault, Engine, EngineError, StopSignal};

/// A running debate.
pub(crate) struct DebateRun<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) protocol: &'a dyn Protocol,
    pub(crate) id: Arc<str>,
    /// The debate with all its events, durable or not.
    pub(crate) debate: Debate,
    pub(crate) log: LogWriter<'a>,
    pub(crate) budget: DebateBudget,
    models: ChainResolver<'a>,
    /// The asks of the current phase, in seat order. After a resume, only those that have no reply yet.
    pub(crate) asks: Vec<AskTask>,
    /// At most one future for each ask, so none outlives its phase.
    pub(crate) progress: FuturesUnordered<BoxFuture<'static, AskProgress>>,
    pub(crate) warm_up: CacheWarmUp,
    /// Why nothing more may start.
    pub(crate) halt: Option<HaltReason>,
    /// Whether the next call does not fit the shared budget now.
    pub(crate) waits_for_shared: bool,
    shared_freed: Option<watch::Receiver<()>>,
    /// Why the next call will never fit the shared budget. The run ends when no call is under way.
    pub(crate) used_up: Option<String>,
    clock: RunClock,
    drain_until: Option<Instant>,
    wakeup: Pin<Box<Sleep>>,
    wakeup_at: Option<Instant>,
}

/// The reason in the log of an answer that nobody waited for any more.
const CONCLUDED: &str = "a person asked for the verdict now";

/// Why a run ends before its debate does.
pub(crate) enum HaltReason {
    StopSignal,
    /// A key or the name of a model is wrong.
    Fault(CallFault),
}

/// Waits until something of the shared budget is freed.
async fn freed(shared: Option<&mut watch::Receiver<()>>) {
    // The sender lives as long as the engine, so the wait cannot fail.
    match shared {
        Some(shared) => drop(shared.changed().await),
        None => std::future::pending().await,
    }
}

/// Counts the time during which the debate runs. It continues from the time in the log.
struct RunClock {
    began: Instant,
    base_ms: u64,
}

impl RunClock {
    fn now_ms(&self) -> u64 {
        let run_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.base_ms.saturating_add(run_ms)
    }
}

impl<'a> DebateRun<'a> {
    /// `asks` are those without a reply.
    pub(crate) fn new(
        engine: &'a Engine,
        protocol: &'a dyn Protocol,
        debate: Debate,
        asks: Vec<AskTask>,
        models: ChainResolver<'a>,
        log: LogWriter<'a>,
    ) -> Self {
        Self {
            engine,
            protocol,
            id: debate.brief.id.as_str().into(),
            clock: RunClock {
                began: Instant::now(),
                base_ms: debate.at_ms.saturating_add(log.watch().waited_ms),
            },
            budget: DebateBudget::from_log(&debate, engine.shared_budget.clone()),
            debate,
            log,
            models,
            asks,
            progress: FuturesUnordered::new(),
            warm_up: CacheWarmUp::new(&engine.settings),
            halt: None,
            waits_for_shared: false,
            used_up: None,
            shared_freed: engine.shared_budget.as_ref().map(SharedBudget::subscribe),
            drain_until: None,
            wakeup: Box::pin(sleep(Duration::ZERO)),
            wakeup_at: None,
        }
    }

    /// Runs the debate to its end. `interjection` is what the user says to all seats.
    pub(crate) async fn run_to_end(
        mut self,
        interjection: Option<String>,
        stop: &StopSignal,
    ) -> Result<Debate, EngineError> {
        let mut result = self.run_loop(interjection, stop).await;
        self.progress.clear();
        // Whatever ended the run, keep the answers. Only after a failed append there is no way to do so.
        if !matches!(result, Err(EngineError::Store(_)))
            && let Err(why) = self.log.flush().await
        {
            result = Err(why.into());
        }
        self.log.release().await;
        result.map(|()| self.debate)
    }

    async fn run_loop(&mut self, interjection: Option<String>, stop: &StopSignal) -> Result<(), EngineError> {
        if self.debate.outcome.is_some() {
            return Ok(());
        }
        if let Some(text) = interjection {
            self.log_event(Event::Interjected { by: "you".into(), text })?;
        }
        let inbox = self.log.watch().inbox.clone();
        let mut stopped = pin!(stop.stopped());
        for index in 0..self.asks.len() {
            self.plan_attempt(index, None)?;
        }
        loop {
            for (by, text) in inbox.take_interjections() {
                self.log_event(Event::Interjected { by, text })?;
            }
            if stop.is_stopped() && self.halt.is_none() {
                self.halt(HaltReason::StopSignal)?;
            }
            if self.halt.is_some() {
                if let Some(why) = self.error_once_drained() {
                    return Err(why);
                }
            } else if self.do_all_that_is_ready()? {
                return Ok(());
            } else if let Some(why) = self.used_up.take_if(|_| !self.asks.iter().any(AskTask::is_under_way)) {
                return Err(EngineError::UsedUp { id: self.id.to_string(), why });
            }
            self.log.send_if_due();
            self.set_wakeup();
            tokio::select! {
                biased;
                done = self.log.append_done() => {
                    done?;
                    self.launch_logged_calls();
                }
                Some(progress) = self.progress.next(), if !self.progress.is_empty() => {
                    self.handle_progress(progress)?;
                }
                () = self.wakeup.as_mut(), if self.wakeup_at.is_some() => self.wakeup_at = None,
                () = &mut stopped, if self.halt.is_none() => {}
                () = inbox.changed() => {}
                () = self.warm_up.first_token() => {}
                () = freed(self.shared_freed.as_mut()), if self.waits_for_shared => {}
            }
        }
    }

    /// Does everything that needs no waiting. Returns whether the debate is closed.
    fn do_all_that_is_ready(&mut self) -> Result<bool, EngineError> {
        loop {
            if self.time_left().is_some_and(|left| left.is_zero()) {
                self.settle_all(AbsenceReason::TimedOut, &self.phase_limits().deadline_passed())?;
            } else if self.must_conclude() {
                self.settle_all(AbsenceReason::Cancelled, CONCLUDED)?;
            }
            self.start_planned_calls()?;
            if !self.asks.iter().all(AskTask::is_settled) {
                return Ok(false);
            }
            if self.begin_phase()? {
                return Ok(true);
            }
        }
    }

    /// Asks the protocol for the next step and begins it. Returns whether the debate is closed.
    fn begin_phase(&mut self) -> Result<bool, EngineError> {
        let (event, asks) = match advance(self.protocol, &self.debate)? {
            NextEvent::Ask(event, asks) => (event, asks),
            NextEvent::Close(event) => {
                self.log_event(event)?;
                return Ok(true);
            }
        };
        let phases_max =
            usize::try_from(self.protocol.plan(&self.debate.brief).most_phases).unwrap_or(usize::MAX);
        if self.debate.turns.len() > phases_max {
            let why = "it asks more phases than its bound".to_owned();
            return Err(Corrupt::Departed { seq: self.debate.events, why }.into());
        }
        self.asks = self.models.resolve_asks(asks.into_iter().enumerate())?;
        self.warm_up.begin_phase();
        self.log_event(event)?;
        // The replies of the last phase and the first calls of this one go to the store together.
        self.log.mark_urgent();
        for index in 0..self.asks.len() {
            self.plan_attempt(index, None)?;
        }
        Ok(false)
    }

    /// Begins to end in order: no call starts any more, and running calls may finish.
    pub(crate) fn halt(&mut self, reason: HaltReason) -> Result<(), EngineError> {
        if self.halt.is_some() {
            return Ok(());
        }
        self.halt = Some(reason);
        self.drain_until = Some(Instant::now() + Duration::from_millis(self.engine.settings.drain_ms));
        for index in 0..self.asks.len() {
            let state = self.asks.get(index).map(|pending| &pending.state);
            if matches!(state, Some(AskState::WaitingForLog { .. })) {
                self.abandon_call(index, AbsenceReason::Cancelled, "stopped before the call started")?;
            }
        }
        Ok(())
    }

    /// The error to return, once no call is running or the time for them to finish is over.
    fn error_once_drained(&mut self) -> Option<EngineError> {
        let is_calling = self.asks.iter().any(|pending| matches!(pending.state, AskState::Calling { .. }));
        if is_calling && self.drain_until.is_none_or(|until| Instant::now() < until) {
            return None;
        }
        let id = self.id.to_string();
        self.halt.take().map(|reason| match reason {
            HaltReason::StopSignal => EngineError::Interrupted { id },
            HaltReason::Fault(fault) => EngineError::Stopped { id, fault: Box::new(fault) },
        })
    }

    /// Whether a person wants the verdict now, and the current phase is not one of those that make it.
    fn must_conclude(&self) -> bool {
        let is_closing = |phase: &Phase| self.protocol.info().is_closing(&phase.name);
        self.log.watch().inbox.is_concluding() && !self.debate.last_phase().is_some_and(is_closing)
    }

    /// What the current phase may use.
    pub(crate) fn phase_limits(&self) -> PhaseLimits {
        PhaseLimits::of_last_phase(self.protocol, &self.debate)
    }

    /// How long the current phase may still run; `None` without a deadline.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        let deadline_ms = self.phase_limits().deadline_ms?;
        Some(Duration::from_millis(deadline_ms.saturating_sub(self.clock.now_ms())))
    }

    fn deadline(&self) -> Option<Instant> {
        let left_ms = self.phase_limits().deadline_ms?.saturating_sub(self.clock.base_ms);
        Some(self.clock.began + Duration::from_millis(left_ms))
    }

    /// Adds an event to the log.
    pub(crate) fn log_event(&mut self, event: Event) -> Result<(), EngineError> {
        let record = self.debate.push(event, self.clock.now_ms())?;
        self.log.add(record);
        Ok(())
    }

    /// Sets the timer to the next moment at which something must be done.
    fn set_wakeup(&mut self) {
        let timeouts = match &self.halt {
            Some(_) => [self.drain_until, None],
            None => [self.deadline(), self.warm_up.next_timeout()],
        };
        let next = timeouts.into_iter().chain([self.log.due_at()]).flatten().min();
        if let (Some(at), true) = (next, next != self.wakeup_at) {
            self.wakeup.as_mut().reset(at);
        }
        self.wakeup_at = next;
    }
}
