//! One debate, from its log so far to its end. One task owns it: its log, its budget and its calls.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use agon_core::{Absence, Advance, Corrupt, Debate, Event, Protocol, advance};
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::time::{Instant, Sleep, sleep};

use crate::allowance::Allowance;
use crate::budget::{Budget, Need};
use crate::chain::Chains;
use crate::journal::Journal;
use crate::slot::{Slot, State, Step};
use crate::warm_up::WarmUp;
use crate::{Engine, EngineError, Fault, Price, Stop};

/// A debate that is being run.
pub(crate) struct Run<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) protocol: &'a dyn Protocol,
    pub(crate) id: Arc<str>,
    /// The log as written; of it, the journal knows how much is durable.
    pub(crate) debate: Debate,
    pub(crate) journal: Journal<'a>,
    pub(crate) budget: Budget,
    pub(crate) chains: Chains<'a>,
    /// The asks of the phase that were open when it began here, in seat order.
    pub(crate) slots: Vec<Slot>,
    /// At most one for each slot, so that none outlives its phase.
    pub(crate) steps: FuturesUnordered<BoxFuture<'static, Step>>,
    pub(crate) warm_up: WarmUp,
    /// Why nothing more may start.
    pub(crate) halt: Option<Halt>,
    clock: Clock,
    drain_until: Option<Instant>,
    alarm: Pin<Box<Sleep>>,
    alarm_at: Option<Instant>,
}

/// Why a run ends before its debate does.
pub(crate) enum Halt {
    /// Somebody asked.
    Asked,
    /// A wrong key or model.
    Fault(Fault),
}

/// Time is counted while a debate runs, on from what its log says.
struct Clock {
    began: Instant,
    base_ms: u64,
}

impl Clock {
    fn at_ms(&self) -> u64 {
        let run_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.base_ms.saturating_add(run_ms)
    }
}

impl<'a> Run<'a> {
    /// A run of `debate`, with the asks that are open in it.
    pub(crate) fn new(
        engine: &'a Engine,
        protocol: &'a dyn Protocol,
        debate: Debate,
        slots: Vec<Slot>,
        chains: Chains<'a>,
        journal: Journal<'a>,
    ) -> Self {
        let limits = &debate.brief.limits;
        let open = slots.iter().map(|slot| {
            let need = Need::of(&slot.messages(None), slot.schema_bytes, Price::Free);
            (slot.ask.id, need.worst(limits.output_tokens).tokens)
        });
        let budget = Budget::of(&debate, &open.collect());
        Self {
            engine,
            protocol,
            id: debate.brief.id.as_str().into(),
            clock: Clock { began: Instant::now(), base_ms: debate.at_ms },
            debate,
            journal,
            budget,
            chains,
            slots,
            steps: FuturesUnordered::new(),
            warm_up: WarmUp::new(&engine.settings),
            halt: None,
            drain_until: None,
            alarm: Box::pin(sleep(Duration::ZERO)),
            alarm_at: None,
        }
    }

    /// Runs the debate to its end. `say` is a person's words to the whole table.
    pub(crate) async fn drive(mut self, say: Option<String>, stop: &Stop) -> Result<Debate, EngineError> {
        let mut result = self.go(say, stop).await;
        self.steps.clear();
        // Whatever ended the run, what was answered is kept. Only after a failed append there is no way to keep it.
        if !matches!(result, Err(EngineError::Store(_)))
            && let Err(why) = self.journal.finish().await
        {
            result = Err(why.into());
        }
        self.journal.release().await;
        result.map(|()| self.debate)
    }

    async fn go(&mut self, say: Option<String>, stop: &Stop) -> Result<(), EngineError> {
        if self.debate.outcome.is_some() {
            return Ok(());
        }
        if let Some(text) = say {
            self.write(Event::Interjected { by: "you".into(), text })?;
        }
        let mut asked = pin!(stop.asked());
        for index in 0..self.slots.len() {
            self.plan(index, None)?;
        }
        loop {
            if stop.is_asked() && self.halt.is_none() {
                self.stop(Halt::Asked)?;
            }
            if self.halt.is_some() {
                if let Some(why) = self.drained() {
                    return Err(why);
                }
            } else if self.pump()? {
                return Ok(());
            }
            self.journal.send();
            self.set_alarm();
            tokio::select! {
                biased;
                done = self.journal.done() => {
                    done?;
                    self.launch();
                }
                Some(step) = self.steps.next(), if !self.steps.is_empty() => self.take(step)?,
                () = self.alarm.as_mut(), if self.alarm_at.is_some() => self.alarm_at = None,
                () = &mut asked, if self.halt.is_none() => {}
                () = self.warm_up.heard() => {}
            }
        }
    }

    /// Does everything that can be done without waiting; says whether the debate is closed.
    fn pump(&mut self) -> Result<bool, EngineError> {
        loop {
            let overdue = self.time_left().is_some_and(|left| left.is_zero());
            if overdue {
                self.expire()?;
            }
            self.offer()?;
            if !self.slots.iter().all(Slot::is_settled) {
                return Ok(false);
            }
            if self.begin_phase()? {
                return Ok(true);
            }
        }
    }

    /// Asks the protocol what comes next and begins it; says whether it was the end.
    fn begin_phase(&mut self) -> Result<bool, EngineError> {
        let (event, asks) = match advance(self.protocol, &self.debate)? {
            Advance::Ask(event, asks) => (event, asks),
            Advance::Close(event) => {
                self.write(event)?;
                return Ok(true);
            }
        };
        let bound = usize::try_from(self.protocol.bound(&self.debate.brief)).unwrap_or(usize::MAX);
        if self.debate.turns.len() > bound {
            let why = "it asks more phases than its bound".to_owned();
            return Err(Corrupt::Departed { seq: self.debate.events, why }.into());
        }
        let placed = asks.into_iter().enumerate();
        self.slots = self.chains.seat(placed)?;
        self.warm_up.restart();
        self.write(event)?;
        // The replies that led here and the first calls of the phase go to the store together.
        self.journal.hurry();
        for index in 0..self.slots.len() {
            self.plan(index, None)?;
        }
        Ok(false)
    }

    /// Begins to end in order: nothing leaves any more, and answers under way are waited for.
    pub(crate) fn stop(&mut self, halt: Halt) -> Result<(), EngineError> {
        if self.halt.is_some() {
            return Ok(());
        }
        self.halt = Some(halt);
        self.drain_until = Some(Instant::now() + Duration::from_millis(self.engine.settings.drain_ms));
        for index in 0..self.slots.len() {
            if self.slots.get(index).is_some_and(|slot| matches!(slot.state, State::Posted { .. })) {
                self.abandon(index, Absence::Cancelled, "stopped before the call left")?;
            }
        }
        Ok(())
    }

    /// The reason to return, once no answer is under way or none is waited for any longer.
    fn drained(&mut self) -> Option<EngineError> {
        let calling = self.slots.iter().any(|slot| matches!(slot.state, State::Calling { .. }));
        if calling && self.drain_until.is_none_or(|until| Instant::now() < until) {
            return None;
        }
        let id = self.id.to_string();
        self.halt.take().map(|halt| match halt {
            Halt::Asked => EngineError::Interrupted { id },
            Halt::Fault(fault) => EngineError::Stopped { id, fault: Box::new(fault) },
        })
    }

    /// What the phase under way may use.
    pub(crate) fn allowance(&self) -> Allowance {
        Allowance::of(self.protocol, &self.debate)
    }

    /// How long the phase under way may still run; `None` without a deadline.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        let deadline_ms = self.allowance().deadline_ms?;
        Some(Duration::from_millis(deadline_ms.saturating_sub(self.clock.at_ms())))
    }

    /// When that is over.
    fn deadline(&self) -> Option<Instant> {
        let left_ms = self.allowance().deadline_ms?.saturating_sub(self.clock.base_ms);
        Some(self.clock.began + Duration::from_millis(left_ms))
    }

    /// Writes the next event of the log.
    pub(crate) fn write(&mut self, event: Event) -> Result<(), EngineError> {
        let record = self.debate.push(event, self.clock.at_ms())?;
        self.journal.add(record);
        Ok(())
    }

    /// Sets the alarm to the next moment at which something must be done unasked.
    fn set_alarm(&mut self) {
        let limits = match &self.halt {
            Some(_) => [self.drain_until, None],
            None => [self.deadline(), self.warm_up.due()],
        };
        let next = limits.into_iter().chain([self.journal.due()]).flatten().min();
        if let (Some(at), true) = (next, next != self.alarm_at) {
            self.alarm.as_mut().reset(at);
        }
        self.alarm_at = next;
    }
}
