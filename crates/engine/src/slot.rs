//! One ask on its way: what state it is in, and the call that it becomes.

use std::sync::Arc;
use std::time::Duration;

use agon_core::seed::Draw;
use agon_core::{Ask, Brief, Phase, Schema, Thread};
use tokio::sync::broadcast;
use tokio::time::Instant;

use crate::budget::{Grant, Need};
use crate::chain::{Chain, Link};
use crate::gate::Permit;
use crate::warm_up::Bell;
use crate::{Call, Completion, Delta, Deltas, Fault, Message, Role};

/// One ask of the phase.
pub(crate) struct Slot {
    pub(crate) ask: Ask,
    /// Its place in the phase, which is seat order.
    pub(crate) place: usize,
    pub(crate) chain: Chain,
    pub(crate) schema_bytes: u64,
    pub(crate) state: State,
    /// By when it must be answered, once its first call has left; `None` where only each call has a limit.
    pub(crate) due: Option<Instant>,
}

/// Where an ask is.
pub(crate) enum State {
    /// It is not decided yet what to do.
    New,
    /// It wants to leave and waits for the budget.
    Ready(Plan),
    /// Its last call failed, and it waits before the next.
    Resting(Plan),
    /// It has its share of the budget and waits at the gate.
    AtGate(Plan, Grant),
    /// Its `Sent` is written, and the call leaves when that is durable.
    Posted { seq: u64, outgoing: Box<Outgoing> },
    /// The call is under way.
    Calling { link: Arc<Link>, attempt: u32 },
    /// It has its reply.
    Settled,
}

/// The next call of an ask.
pub(crate) struct Plan {
    pub(crate) link: Arc<Link>,
    /// What the seat said last and what was wrong with it, if the call asks for a repair.
    pub(crate) repair: Option<(String, String)>,
    pub(crate) need: Need,
}

/// A call that is ready to leave.
pub(crate) struct Outgoing {
    pub(crate) link: Arc<Link>,
    pub(crate) call: Call,
    pub(crate) permit: Permit,
}

/// Something that happened to the ask at this index.
pub(crate) enum Step {
    Rested {
        index: usize,
    },
    Entered {
        index: usize,
        permit: Option<Permit>,
    },
    /// `None`: the call took too long.
    Came {
        index: usize,
        came: Option<Result<Completion, Fault>>,
        latency_ms: u64,
    },
}

impl Slot {
    pub(crate) fn new(ask: Ask, place: usize, chain: Chain) -> Self {
        let schema_bytes = ask.schema.as_ref().map_or(0, |schema| sent_bytes(schema));
        Self { ask, place, chain, schema_bytes, state: State::New, due: None }
    }

    /// Whether its time is over, or would be after this pause.
    pub(crate) fn is_late(&self, pause: Duration) -> bool {
        self.due.is_some_and(|due| Instant::now() + pause >= due)
    }

    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.state, State::Settled)
    }

    /// Whether a call of it is still to get its share of the budget.
    pub(crate) fn is_waiting(&self) -> bool {
        matches!(self.state, State::Ready(_) | State::Resting(_))
    }

    /// Whether a call of it has its share of the budget and has not come back.
    pub(crate) fn is_under_way(&self) -> bool {
        matches!(self.state, State::AtGate(..) | State::Posted { .. } | State::Calling { .. })
    }

    /// Whether a call of it is still to leave for this model.
    pub(crate) fn waits_for(&self, model: &str) -> bool {
        matches!(&self.state, State::Ready(plan) | State::Resting(plan) if plan.link.name == model)
    }

    /// The conversation: the rules, the seat's earlier turns, the ask, and the repair if it is one.
    pub(crate) fn messages(&self, repair: Option<(&str, &str)>) -> Vec<Message> {
        let mut messages = Vec::with_capacity(4);
        let mut say = |role, text: String, shared| messages.push(Message { role, text, shared });
        if !self.ask.prompt.system.is_empty() {
            say(Role::System, self.ask.prompt.system.to_string(), self.ask.prompt.system.len());
        }
        if let Thread::Continue(exchanges) = &self.ask.thread {
            for exchange in exchanges {
                say(Role::User, exchange.prompt.clone(), 0);
                say(Role::Assistant, exchange.reply.clone(), 0);
            }
        }
        let (asked, shared) = (self.ask.prompt.user(), self.ask.prompt.shared.len());
        match repair {
            None => say(Role::User, asked, shared),
            // Providers refuse a message without text.
            Some((said, why)) if said.trim().is_empty() => {
                say(Role::User, format!("{asked}\n\n{}", self.again(why)), shared);
            }
            Some((said, why)) => {
                say(Role::User, asked, shared);
                say(Role::Assistant, said.to_owned(), 0);
                say(Role::User, self.again(why), 0);
            }
        }
        messages
    }

    fn again(&self, why: &str) -> String {
        match &self.ask.schema {
            Some(_) => format!("Your answer cannot be used: {why}. Answer again with only the JSON object."),
            None => format!("Your answer cannot be used: {why}. Answer again."),
        }
    }

    /// The call of this ask with these messages, whose answer may have so many tokens.
    pub(crate) fn call(
        &self,
        brief: &Brief,
        phase: &Phase,
        attempt: u32,
        messages: Vec<Message>,
        max_output_tokens: u32,
    ) -> Call {
        Call {
            debate: brief.id.clone(),
            seat: self.ask.seat.clone(),
            ask: self.ask.id,
            attempt,
            phase: phase.clone(),
            label: self.ask.label.clone(),
            about: self.ask.about.clone(),
            messages,
            schema: self.ask.schema.clone(),
            max_output_tokens,
            seed: Draw::new(brief.seed, &format!("call {}", self.ask.id)).next_u64(),
        }
    }
}

impl Outgoing {
    /// Makes the call. With watchers or a bell the answer is streamed.
    pub(crate) async fn leave(
        self,
        index: usize,
        timeout: Duration,
        debate: Arc<str>,
        watchers: Option<broadcast::Sender<Delta>>,
        bell: Option<Bell>,
    ) -> Step {
        let Self { link, call, permit } = self;
        let began = Instant::now();
        let (ask, attempt) = (call.ask, call.attempt);
        let streams = watchers.is_some() || bell.is_some();
        let forward = streams.then_some(move |text: &str| {
            // Some servers open a stream before the model has read its prompt.
            bell.iter().filter(|_| !text.is_empty()).for_each(Bell::ring);
            if let Some(watchers) = &watchers {
                // Sending to a ring never waits, and nobody listening is no fault.
                let _ = watchers.send(Delta { debate: debate.clone(), ask, attempt, text: text.to_owned() });
            }
        });
        let deltas = forward.as_ref().map(|forward| -> Deltas<'_> { forward });
        let came = tokio::time::timeout(timeout, link.model.call(&call, deltas)).await.ok();
        drop(permit);
        let latency_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Step::Came { index, came, latency_ms }
    }
}

fn sent_bytes(schema: &Schema) -> u64 {
    let json = schema.json.to_string();
    (json.len() + schema.name.len()) as u64
}
