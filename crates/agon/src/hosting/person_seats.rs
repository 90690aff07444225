//! Seats of people and of calling agents: their asks wait here until somebody answers.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_core::{Ask, Invalid, Phase, SeatThread};
use agon_engine::{CallFault, CallFaultKind, MessageRole, Model, ModelCall};
use agon_models::{HumanConfig, PersonChannel, PersonModel};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{broadcast, oneshot, watch};

/// The model name of a calling agent that takes a seat.
pub const CALLER: &str = "caller";

/// How long a calling agent may take. It may have other work to do first.
const CALLER_TIMEOUT: Duration = Duration::from_secs(3_600);

/// An ask that waits for a person or a calling agent.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct WaitingAsk {
    /// The number of the ask in the debate: answer it under this number.
    pub ask: u32,
    /// The same number, as the paths of the API call it.
    pub n: u32,
    /// The seat that is asked.
    pub seat: String,
    /// Who should answer: `human/NAME` or `caller`.
    pub model: String,
    /// The name under which the other seats know this one.
    pub label: Option<String>,
    /// The phase of the debate.
    pub phase: String,
    /// The round that the phase belongs to.
    pub round: u32,
    /// Counted from 1. A second attempt says at the end of the prompt what was wrong with the first.
    pub attempt: u32,
    /// What any other seat would read.
    pub prompt: String,
    /// The end of the prompt: what is asked now, without the rules and what was asked earlier.
    #[serde(skip)]
    pub asked: String,
    /// The JSON Schema of the answer; null for plain text.
    pub schema: Option<Value>,
    /// How many seconds are left.
    pub seconds_left: u64,
}

impl WaitingAsk {
    /// An ask that waits at a worker.
    pub fn of_ask(ask: &Ask, phase: &Phase, seconds_left: u64) -> Self {
        let mut shown = vec![ask.prompt.system.trim_end().to_owned()];
        if let SeatThread::Continue(exchanges) = &ask.thread {
            for exchange in exchanges {
                shown.push(exchange.prompt.trim_end().to_owned());
                shown.push(earlier_answer(&exchange.reply));
            }
        }
        shown.push(ask.prompt.user().trim_end().to_owned());
        shown.retain(|part| !part.is_empty());
        Self {
            ask: ask.id,
            n: ask.id,
            seat: ask.seat.clone(),
            model: ask.model.clone(),
            label: ask.label.clone(),
            phase: phase.name.clone(),
            round: phase.round,
            attempt: 1,
            prompt: shown.join("\n\n"),
            asked: ask.prompt.user().trim_end().to_owned(),
            schema: ask.schema.as_ref().map(|schema| schema.json.clone()),
            seconds_left,
        }
    }
}

fn earlier_answer(text: &str) -> String {
    format!("Your earlier answer:\n\n{}", text.trim_end())
}

/// The asks that wait, by debate and number. Clones share them.
#[derive(Clone)]
pub struct PersonSeats(Arc<SeatsState>);

struct SeatsState {
    pending: Mutex<BTreeMap<(String, u32), PendingAnswer>>,
    /// Tells which debates have more or fewer asks that wait.
    changes: broadcast::Sender<String>,
    /// Changes with the asks of any debate.
    asks: watch::Sender<()>,
}

struct PendingAnswer {
    call: ModelCall,
    model: String,
    until: Instant,
    /// `None` once it is answered and the engine looks at the answer.
    answer: Option<oneshot::Sender<Result<String, CallFault>>>,
    /// An answer that the person insists on although a quote in it does not verify.
    insisted: Option<String>,
    /// Whether the person was told that something does not verify.
    was_refused: bool,
}

impl PersonSeats {
    /// Seats without any ask. The ids of debates whose asks change are sent to `changes`.
    pub fn new(changes: broadcast::Sender<String>) -> Self {
        Self(Arc::new(SeatsState { pending: Mutex::default(), changes, asks: watch::Sender::new(()) }))
    }

    fn pending(&self) -> MutexGuard<'_, BTreeMap<(String, u32), PendingAnswer>> {
        self.0.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes whenever an ask of any debate begins or ceases to wait.
    pub fn changes_of_asks(&self) -> watch::Receiver<()> {
        self.0.asks.subscribe()
    }

    fn tell(&self, debate: &str) {
        // Nobody may be listening.
        let _ = self.0.changes.send(debate.to_owned());
        self.0.asks.send_replace(());
    }

    /// The model `human/NAME`: a person who answers through a face of this process.
    pub fn person(&self, name: &str, config: &HumanConfig) -> Result<Arc<dyn Model>, Invalid> {
        Ok(Arc::new(PersonModel::new(name, config, self.clone())?))
    }

    /// The model `caller`: the agent that started the debate.
    pub fn caller(&self) -> Arc<dyn Model> {
        Arc::new(PersonModel::with_timeout(CALLER, CALLER_TIMEOUT, self.clone()))
    }

    async fn wait_for_answer(
        &self,
        name: &str,
        timeout: Duration,
        call: &ModelCall,
        key: (String, u32),
    ) -> Result<String, CallFault> {
        let (sender, answer) = oneshot::channel();
        let pending = PendingAnswer {
            call: call.clone(),
            model: name.to_owned(),
            until: Instant::now() + timeout,
            answer: Some(sender),
            insisted: None,
            was_refused: false,
        };
        self.pending().insert(key.clone(), pending);
        self.tell(&call.debate);
        // If the call is abandoned, for instance because its time is over, the ask must not wait any more.
        let mut entry = PendingEntry { seats: self, key, keep: false };
        let gone = |_| CallFault::new(CallFaultKind::Unavailable, "nobody can answer any more");
        let text = answer.await.map_err(gone)??;
        entry.keep = true;
        Ok(text)
    }

    /// Whether an ask of this debate waits.
    pub fn is_waiting(&self, debate: &str) -> bool {
        let pending = self.pending();
        let of_debate = pending.range((debate.to_owned(), 0)..=(debate.to_owned(), u32::MAX));
        of_debate.into_iter().any(|(_, pending)| pending.answer.is_some())
    }

    /// The asks of a debate that wait, in order.
    pub fn waiting(&self, debate: &str) -> Vec<WaitingAsk> {
        let pending = self.pending();
        let of_debate = pending.range((debate.to_owned(), 0)..=(debate.to_owned(), u32::MAX));
        of_debate
            .filter(|(_, pending)| pending.answer.is_some())
            .map(|(_, pending)| waiting_ask(pending))
            .collect()
    }

    /// Whether the person has already been told that something in the answer does not verify. From now on it has.
    pub fn note_refusal(&self, debate: &str, ask: u32) -> bool {
        let mut pending = self.pending();
        let Some(pending) = pending.get_mut(&(debate.to_owned(), ask)) else { return false };
        std::mem::replace(&mut pending.was_refused, true)
    }

    /// Gives the answer to an ask. Returns whether it still waited. `insists` says that the person was told what does not verify.
    pub fn answer(&self, debate: &str, ask: u32, answer: PersonAnswer) -> bool {
        let sent = {
            let mut pending = self.pending();
            let Some(pending) = pending.get_mut(&(debate.to_owned(), ask)) else { return false };
            let Some(sender) = pending.answer.take() else { return false };
            let answer = match answer {
                PersonAnswer::Pass => {
                    Err(CallFault::new(CallFaultKind::Refused, format!("{} passed", pending.model)))
                }
                PersonAnswer::Late => {
                    let why = format!("{} did not answer in time", pending.model);
                    Err(CallFault::new(CallFaultKind::TimedOut, why))
                }
                PersonAnswer::Text { text, insists } => {
                    pending.insisted = insists.then(|| text.clone());
                    Ok(text)
                }
            };
            sender.send(answer).is_ok()
        };
        self.tell(debate);
        sent
    }
}

/// What a person answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PersonAnswer {
    /// Nothing: the seat is absent.
    Pass,
    /// Nothing, and the time is over.
    Late,
    Text {
        text: String,
        /// Whether the person was told that something does not verify, and means it all the same.
        insists: bool,
    },
}

fn waiting_ask(pending: &PendingAnswer) -> WaitingAsk {
    let PendingAnswer { call, model, until, .. } = pending;
    let shown = call.messages.iter().map(|message| match message.role {
        MessageRole::Assistant => earlier_answer(&message.text),
        MessageRole::System | MessageRole::User => message.text.trim_end().to_owned(),
    });
    // The ask, and what was wrong with the answer to it.
    let questions = call.messages.iter().filter(|message| message.role == MessageRole::User);
    let mut asked: Vec<&str> = questions
        .rev()
        .take(if call.is_repair { 2 } else { 1 })
        .map(|message| message.text.trim_end())
        .collect();
    asked.reverse();
    WaitingAsk {
        ask: call.ask,
        n: call.ask,
        seat: call.seat.clone(),
        model: model.clone(),
        label: call.label.clone(),
        phase: call.phase.name.clone(),
        round: call.phase.round,
        attempt: call.attempt,
        prompt: shown.collect::<Vec<_>>().join("\n\n"),
        asked: asked.join("\n\n"),
        schema: call.schema.as_ref().map(|schema| schema.json.clone()),
        seconds_left: until.saturating_duration_since(Instant::now()).as_secs(),
    }
}

impl PersonChannel for PersonSeats {
    fn ask<'a>(
        &'a self,
        name: &'a str,
        timeout: Duration,
        call: &'a ModelCall,
    ) -> BoxFuture<'a, Result<String, CallFault>> {
        async move {
            let key = (call.debate.clone(), call.ask);
            let earlier = self.pending().get_mut(&key).and_then(|pending| pending.insisted.take());
            match earlier {
                Some(text) => Ok(text),
                None => self.wait_for_answer(name, timeout, call, key).await,
            }
        }
        .boxed()
    }

    /// Every person has a place of their own to answer at, so they can all be asked at once.
    fn at_once(&self) -> usize {
        usize::MAX
    }
}

impl fmt::Debug for PersonSeats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PersonSeats")
    }
}

/// Removes an ask unless it was answered. An answer that the person insists on may be asked for once more.
struct PendingEntry<'a> {
    seats: &'a PersonSeats,
    key: (String, u32),
    keep: bool,
}

impl Drop for PendingEntry<'_> {
    fn drop(&mut self) {
        let mut pending = self.seats.pending();
        let insisted = pending.get(&self.key).is_some_and(|pending| pending.insisted.is_some());
        if !(self.keep && insisted) {
            pending.remove(&self.key);
        }
        drop(pending);
        self.seats.tell(&self.key.0);
    }
}

#[cfg(test)]
mod tests {
    use agon_core::Phase;
    use agon_engine::CallMessage;

    use super::*;

    /// An ask in a thread: the person answered an earlier one.
    fn call(attempt: u32, corrected: Option<&str>) -> ModelCall {
        let message = CallMessage::new;
        let mut messages = vec![
            message(MessageRole::System, "Rules."),
            message(MessageRole::User, "Round 1?"),
            message(MessageRole::Assistant, "First."),
            message(MessageRole::User, "Round 2?"),
        ];
        if let Some(answer) = corrected {
            messages.push(message(MessageRole::Assistant, answer));
            messages.push(message(MessageRole::User, "That cannot be used."));
        }
        ModelCall {
            debate: "d".into(),
            seat: "s".into(),
            ask: 4,
            attempt,
            is_again: false,
            is_repair: corrected.is_some(),
            phase: Phase::new("debate", 2),
            label: None,
            about: None,
            question: String::new(),
            messages,
            schema: None,
            max_output_tokens: 100,
            seed: 0,
        }
    }

    #[test]
    fn what_is_asked_now_is_never_the_question_of_an_earlier_round() {
        for (attempt, corrected, want) in [
            (1, None, "Round 2?"),
            // The first attempt was lost in a crash.
            (2, None, "Round 2?"),
            (2, Some("Second."), "Round 2?\n\nThat cannot be used."),
        ] {
            let call = call(attempt, corrected);
            let pending = PendingAnswer {
                call,
                model: "human/ana".into(),
                until: Instant::now(),
                answer: None,
                insisted: None,
                was_refused: false,
            };
            assert_eq!(waiting_ask(&pending).asked, want, "{attempt}");
        }
    }
}
