//! One ask on its way to a reply: its state, its time limit, and how it becomes a call.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use agon_core::seed::SeededDraw;
use agon_core::wording::sentence;
use agon_core::{Ask, Brief, Phase, SeatThread};
use tokio::sync::broadcast;
use tokio::time::Instant;

use crate::budget::{CallEstimate, CallGrant};
use crate::call_limits::CallPermit;
use crate::model_chains::{ChainModel, ModelChain};
use crate::prepared_schema::PreparedSchema;
use crate::retry::RepairRequest;
use crate::warm_up::FirstTokenSignal;
use crate::{CallFault, CallMessage, DeltaSink, MessageRole, ModelCall, ModelCompletion, TextDelta};

/// An ask of the current phase.
pub(crate) struct AskTask {
    pub(crate) ask: Ask,
    /// The index of the ask in its phase.
    pub(crate) index_in_phase: usize,
    pub(crate) chain: ModelChain,
    /// The schema of the answer; `None` for plain text.
    pub(crate) schema: Option<Arc<PreparedSchema>>,
    pub(crate) state: AskState,
    /// When the time limit of the ask ends. The first call starts the clock. `None` if only single calls are limited.
    due: Option<Instant>,
}

/// How far an ask has come.
pub(crate) enum AskState {
    /// The next attempt is not planned yet.
    Unplanned,
    /// The last attempt failed, and the delay before the next is not over.
    WaitingToRetry(PlannedCall),
    /// The next call waits for the budget.
    WaitingForBudget(PlannedCall),
    /// The call has its share of the budget and waits for a permit.
    WaitingForPermit(PlannedCall, CallGrant),
    /// The `Sent` event with this number is written. The call starts when that is durable.
    WaitingForLog { seq: u64, call: Box<OutgoingCall> },
    /// The call is running.
    Calling { model: Arc<ChainModel>, attempt: u32 },
    /// The ask has its reply.
    Settled,
}

/// The next call of an ask.
pub(crate) struct PlannedCall {
    pub(crate) model: Arc<ChainModel>,
    pub(crate) repair: Option<RepairRequest>,
    pub(crate) estimate: CallEstimate,
}

/// A call that is ready to start.
pub(crate) struct OutgoingCall {
    pub(crate) model: Arc<ChainModel>,
    pub(crate) call: ModelCall,
    pub(crate) permit: CallPermit,
}

/// What happened to the pending ask at `index`.
pub(crate) enum AskProgress {
    RetryDelayOver {
        index: usize,
    },
    PermitAcquired {
        index: usize,
        permit: Option<CallPermit>,
    },
    /// `result` is `None` if the call timed out.
    CallEnded {
        index: usize,
        result: Option<Result<ModelCompletion, CallFault>>,
        latency_ms: u64,
    },
}

impl AskTask {
    pub(crate) fn new(ask: Ask, index_in_phase: usize, chain: ModelChain) -> Self {
        let schema = ask.schema.as_ref().map(PreparedSchema::of);
        Self { ask, index_in_phase, chain, schema, state: AskState::Unplanned, due: None }
    }

    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.state, AskState::Settled)
    }

    /// Whether its next call has no share of the budget yet.
    pub(crate) fn is_waiting(&self) -> bool {
        matches!(self.state, AskState::WaitingForBudget(_) | AskState::WaitingToRetry(_))
    }

    /// Whether a call of it has a share of the budget and has not ended.
    pub(crate) fn is_under_way(&self) -> bool {
        matches!(
            self.state,
            AskState::WaitingForPermit(..) | AskState::WaitingForLog { .. } | AskState::Calling { .. }
        )
    }

    /// Whether it is going to call this model.
    pub(crate) fn will_call(&self, name: &str) -> bool {
        matches!(
            &self.state,
            AskState::WaitingForBudget(plan) | AskState::WaitingToRetry(plan) if plan.model.name == name
        )
    }

    /// Whether its time limit is over, or will be after `delay`.
    pub(crate) fn is_late(&self, delay: Duration) -> bool {
        self.due.is_some_and(|due| Instant::now() + delay >= due)
    }

    /// Says that the time limit of the ask is over.
    pub(crate) fn late_message(&self) -> String {
        let limit = Duration::from_millis(self.ask.within_ms.unwrap_or_default());
        format!("no answer within {limit:?}")
    }

    /// How long one call to `model` may take. `default_ms` holds if neither the ask nor the model sets a time.
    pub(crate) fn call_timeout(&self, model: &ChainModel, default_ms: u64) -> Duration {
        let limit = Duration::from_millis(self.ask.within_ms.unwrap_or(default_ms));
        match model.model.timeout() {
            Some(own) if self.ask.firm => own.min(limit),
            Some(own) => own,
            None => limit,
        }
    }

    /// How long the call that starts now may take. The first call starts the clock of an ask with a time limit.
    pub(crate) fn start_call_timer(&mut self, model: &ChainModel, default_ms: u64) -> Duration {
        let timeout = self.call_timeout(model, default_ms);
        // A model that sets its own time, for instance a person, is bound by the limit of the ask only if that is firm.
        if !self.ask.firm && model.model.timeout().is_some() {
            return timeout;
        }
        if let Some(within_ms) = self.ask.within_ms {
            self.due.get_or_insert(Instant::now() + Duration::from_millis(within_ms));
        }
        self.due.map_or(timeout, |due| timeout.min(due.saturating_duration_since(Instant::now())))
    }

    /// The conversation.
    pub(crate) fn messages(&self, repair: Option<&RepairRequest>) -> Vec<CallMessage> {
        self.drafts(repair).into_iter().map(MessageDraft::written).collect()
    }

    /// How many bytes each message of the conversation has.
    pub(crate) fn message_lengths<'a>(
        &'a self,
        repair: Option<&'a RepairRequest>,
    ) -> impl Iterator<Item = usize> + 'a {
        self.drafts(repair).into_iter().map(|draft| draft.pieces.iter().map(|piece| piece.len()).sum())
    }

    /// The messages: the rules, the earlier turns of the seat, the ask, and the request for a repair if there is one.
    fn drafts<'a>(&'a self, repair: Option<&'a RepairRequest>) -> Vec<MessageDraft<'a>> {
        let prompt = &self.ask.prompt;
        let mut drafts = Vec::with_capacity(4);
        if !prompt.system.is_empty() {
            drafts.push(MessageDraft {
                shared: prompt.system.len(),
                ..MessageDraft::new(MessageRole::System, &*prompt.system)
            });
        }
        if let SeatThread::Continue(exchanges) = &self.ask.thread {
            for exchange in exchanges {
                drafts.push(MessageDraft::new(MessageRole::User, exchange.prompt.as_str()));
                drafts.push(MessageDraft::new(MessageRole::Assistant, exchange.reply.as_str()));
            }
        }
        let (answered, unanswered) = match repair {
            Some(repair) if !repair.has_text() => (None, Some(repair)),
            repair => (repair, None),
        };
        drafts.push(MessageDraft {
            role: MessageRole::User,
            pieces: [
                (&*prompt.shared).into(),
                prompt.tail.as_str().into(),
                unanswered.map_or("".into(), |repair| format!("\n\n{}", self.repair_prompt(repair)).into()),
            ],
            shared: prompt.shared.len(),
        });
        if let Some(repair) = answered {
            drafts.push(MessageDraft::new(MessageRole::Assistant, repair.answer.as_str()));
            drafts.push(MessageDraft::new(MessageRole::User, self.repair_prompt(repair)));
        }
        drafts
    }

    fn repair_prompt(&self, repair: &RepairRequest) -> String {
        let error = sentence(&repair.error);
        let again = match &self.ask.schema {
            Some(_) => "Answer again with the whole JSON object, corrected, and nothing else.",
            None => "Answer again.",
        };
        match repair.is_unverified {
            true => format!(
                "A part of your answer could not be verified: {error} Correct that part, and do not make anything up. If you cannot, it \
                 will not count, but the rest of your answer will. {again}"
            ),
            false => format!("Your answer cannot be used: {error} {again}"),
        }
    }

    pub(crate) fn to_call(
        &self,
        brief: &Brief,
        phase: &Phase,
        attempt: u32,
        repair: Option<&RepairRequest>,
        max_output_tokens: u32,
    ) -> ModelCall {
        ModelCall {
            debate: brief.id.clone(),
            seat: self.ask.seat.clone(),
            ask: self.ask.id,
            attempt,
            is_again: self.ask.repeats.is_some(),
            is_repair: repair.is_some_and(RepairRequest::has_text),
            phase: phase.clone(),
            label: self.ask.label.clone(),
            about: self.ask.about.clone(),
            question: brief.question.clone(),
            messages: self.messages(repair),
            schema: self.schema.as_ref().map(|prepared| Arc::clone(&prepared.schema)),
            max_output_tokens,
            seed: SeededDraw::new(brief.seed, &format!("call {}", self.ask.id)).next_u64(),
        }
    }
}

/// A message that is not written yet, so that its length can be known without a copy of the prompt.
struct MessageDraft<'a> {
    role: MessageRole,
    pieces: [Cow<'a, str>; 3],
    /// As in [`CallMessage`].
    shared: usize,
}

impl<'a> MessageDraft<'a> {
    fn new(role: MessageRole, text: impl Into<Cow<'a, str>>) -> Self {
        Self { role, pieces: [text.into(), "".into(), "".into()], shared: 0 }
    }

    fn written(self) -> CallMessage {
        CallMessage { role: self.role, text: self.pieces.concat(), shared: self.shared }
    }
}

impl OutgoingCall {
    /// Makes the call for the pending ask at `index`. The answer is streamed if there are watchers or if other calls wait
    /// for its first token.
    pub(crate) async fn run(
        self,
        index: usize,
        timeout: Duration,
        debate: Arc<str>,
        watchers: Option<broadcast::Sender<TextDelta>>,
        first_token: Option<FirstTokenSignal>,
    ) -> AskProgress {
        let Self { model, call, permit } = self;
        let began = Instant::now();
        let (ask, attempt) = (call.ask, call.attempt);
        let is_streamed = watchers.is_some() || first_token.is_some();
        let forward = is_streamed.then_some(move |text: &str| {
            // Some servers send an empty piece before the model has read its prompt.
            first_token.iter().filter(|_| !text.is_empty()).for_each(FirstTokenSignal::send);
            if let Some(watchers) = &watchers {
                // This never waits, and it fails only if nobody listens.
                let _ =
                    watchers.send(TextDelta { debate: debate.clone(), ask, attempt, text: text.to_owned() });
            }
        });
        let deltas = forward.as_ref().map(|forward| -> DeltaSink<'_> { forward });
        let result = tokio::time::timeout(timeout, model.model.call(&call, deltas)).await.ok();
        drop(permit);
        let latency_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        AskProgress::CallEnded { index, result, latency_ms }
    }
}
