//! A call to a server.
//!
//! genai writes the request and reads the answer. It gets the address, the key and the dialect with each call, so it guesses
//! nothing from a model's name and reads nothing from the environment. [`dialect`] and the files next to it contain what
//! differs between wire formats, and where genai's reading is not enough for a debate.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agon_core::reply::without_thinking;
use agon_core::{CallUsage, Invalid, ReplySchema};
use agon_engine::{
    CallFault, CallFaultKind, DeltaSink, FinishReason, Model, ModelCall, ModelCompletion, ModelPrice,
};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use genai::chat::{
    CacheControl, ChatOptions, ChatRequest, ChatStreamEvent, JsonSpec, RawFrameRef, StopReason,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, Error, Headers, ModelIden, ServiceTarget};

use crate::provider::{BaseUrl, ModelProvider};
use dialect::{ServerRefusal, WireDialect};
use errors::{CallFailure, FailureContext, OptionalParameter};
use http::{ANSWER_BYTES_MAX, HttpClients};

mod anthropic;
pub(crate) mod dialect;
pub(crate) mod errors;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod gemini;
pub(crate) mod http;
mod openai;
mod retry_after;

/// A model of a server. It makes one request per call; the engine retries. What it learns about the server from a failed
/// call applies to the following calls.
pub(crate) struct ServerModel {
    name: String,
    /// The provider's name for the model.
    model: String,
    iden: ModelIden,
    endpoint: Endpoint,
    base: BaseUrl,
    provider: Arc<ModelProvider>,
    dialect: &'static dyn WireDialect,
    price: ModelPrice,
    clients: Arc<HttpClients>,
    /// The server rejects or ignores the schema of the answer.
    rejects_schema: AtomicBool,
    rejects_seed: AtomicBool,
    rejects_stream_options: AtomicBool,
    /// The server answered a request for a stream with something else, so whole answers are requested.
    cannot_stream: AtomicBool,
}

/// The optional parts of one request. Several calls of a model may run at once, so each remembers what it sent.
struct RequestParts<'a> {
    /// The schema, for structured output. Without it, a schema is at the end of the prompt.
    schema: Option<&'a ReplySchema>,
    has_seed: bool,
    /// `stream_options`, which asks a stream for its usage.
    has_stream_options: bool,
    is_streamed: bool,
}

/// What the frames of a stream say that genai has no event for.
#[derive(Default)]
struct StreamNotes {
    refusal: Mutex<Option<ServerRefusal>>,
    /// Whether the answer is a stream at all.
    has_frames: AtomicBool,
    /// Why the model stopped, for servers that never mark the end of the stream.
    stop_reason: Mutex<Option<String>>,
}

impl ServerModel {
    pub(crate) fn new(
        name: &str,
        model: &str,
        provider: Arc<ModelProvider>,
        price: ModelPrice,
        clients: Arc<HttpClients>,
    ) -> Result<Self, Invalid> {
        let base = provider.check_usable()?.clone();
        clients.prepare(base.is_plain_http);
        // genai reads the text before `::` as a namespace and drops it.
        let model_for_genai =
            if model.contains("::") { format!("{}::{model}", provider.name) } else { model.to_owned() };
        Ok(Self {
            name: name.to_owned(),
            model: model.to_owned(),
            iden: ModelIden::new(provider.adapter, model_for_genai),
            endpoint: Endpoint::from_owned(base.url.as_str()),
            base,
            dialect: dialect::of(provider.format),
            provider,
            price,
            clients,
            rejects_schema: AtomicBool::new(false),
            rejects_seed: AtomicBool::new(false),
            rejects_stream_options: AtomicBool::new(false),
            cannot_stream: AtomicBool::new(false),
        })
    }

    async fn complete(
        &self,
        call: &ModelCall,
        deltas: Option<DeltaSink<'_>>,
    ) -> Result<ModelCompletion, CallFault> {
        let stream = deltas.filter(|_| !self.cannot_stream.load(Ordering::Relaxed));
        let parts = RequestParts {
            schema: call.schema.as_deref().filter(|_| !self.rejects_schema.load(Ordering::Relaxed)),
            has_seed: !self.rejects_seed.load(Ordering::Relaxed),
            has_stream_options: !self.rejects_stream_options.load(Ordering::Relaxed),
            is_streamed: stream.is_some(),
        };
        match self.attempt(call, &parts, stream).await {
            Ok(completion) => {
                if parts.schema.is_some() && is_prose(&completion) {
                    self.rejects_schema.store(true, Ordering::Relaxed);
                }
                if let (Some(deltas), None) = (deltas, stream) {
                    deltas(&completion.text);
                }
                Ok(completion)
            }
            Err(failure) => Err(self.learn_from(failure, call, &parts)),
        }
    }

    /// Notes what to omit from the next request. The fault is then `Unsupported`, so that the engine tries again.
    fn learn_from(&self, failure: CallFailure, call: &ModelCall, sent: &RequestParts<'_>) -> CallFault {
        let CallFailure { status, mut fault, parameters } = failure;
        let is_bad_request = matches!(status, Some(400 | 422));
        match fault.kind {
            CallFaultKind::Rejected if is_bad_request && self.omit(&parameters, sent) => {
                fault.kind = CallFaultKind::Unsupported;
            }
            CallFaultKind::Rejected if is_bad_request && sent.schema.is_some() => {
                self.rejects_schema.store(true, Ordering::Relaxed);
                fault.kind = CallFaultKind::Unsupported;
            }
            // The request was rejected without the schema too, so the schema was not the reason.
            CallFaultKind::Rejected if call.schema.is_some() => {
                self.rejects_schema.store(false, Ordering::Relaxed);
            }
            CallFaultKind::Garbled if !sent.is_streamed => self.cannot_stream.store(false, Ordering::Relaxed),
            _ => {}
        }
        fault
    }

    /// Omits these parameters from now on. Returns whether any of them was in the rejected request.
    fn omit(&self, parameters: &[OptionalParameter], sent: &RequestParts<'_>) -> bool {
        let mut was_any_sent = false;
        for parameter in parameters {
            let (was_sent, is_rejected) = match parameter {
                OptionalParameter::Seed => (sent.has_seed, &self.rejects_seed),
                OptionalParameter::StreamOptions => {
                    (sent.has_stream_options && sent.is_streamed, &self.rejects_stream_options)
                }
            };
            if was_sent {
                is_rejected.store(true, Ordering::Relaxed);
                was_any_sent = true;
            }
        }
        was_any_sent
    }

    async fn attempt(
        &self,
        call: &ModelCall,
        parts: &RequestParts<'_>,
        deltas: Option<DeltaSink<'_>>,
    ) -> Result<ModelCompletion, CallFailure> {
        let prompt: Vec<&str> = call.messages.iter().map(|message| message.text.as_str()).collect();
        let context = FailureContext::new(&self.provider, &self.model, &self.base, &prompt);
        let client = self.clients.get(self.base.is_plain_http).map_err(|why| context.no_client(why))?;
        let messages = match parts.schema {
            Some(_) => Cow::Borrowed(call.messages.as_slice()),
            None => call.messages_with_schema(),
        };
        let request = ChatRequest::from_messages(self.dialect.messages(&messages));
        let options = self.options(call, parts);
        match deltas {
            None => self.whole_answer(&client.genai, request, &options, context).await,
            Some(deltas) => self.streamed_answer(&client.genai, request, options, deltas, context).await,
        }
    }

    async fn whole_answer(
        &self,
        client: &Client,
        request: ChatRequest,
        options: &ChatOptions,
        context: FailureContext<'_>,
    ) -> Result<ModelCompletion, CallFailure> {
        let (answer, body) = match client.exec_chat(self.target(false), request, Some(options)).await {
            Ok(mut answer) => {
                let body = answer.captured_raw_body.take().unwrap_or_default();
                (Some(answer), body)
            }
            // genai cannot read some bodies that are refusals.
            Err(Error::ChatResponseGeneration { response_body, .. }) => (None, *response_body),
            Err(error) => return Err(context.genai_error(&error)),
        };
        let refusal = self.dialect.refusal(&body);
        match (answer.filter(|_| self.dialect.is_answer(&body)), refusal) {
            (Some(answer), refusal) => {
                let (usage, stop) = (dialect::usage(&answer.usage), answer.stop_reason.clone());
                let text = answer.into_texts().concat();
                Ok(self.completion(text, refusal.map(|refusal| refusal.text), stop.as_ref(), usage))
            }
            (None, Some(refusal)) => {
                Ok(self.completion(String::new(), Some(refusal.text), None, refusal.usage))
            }
            (None, None) => Err(match body.get("error").filter(|error| !error.is_null()) {
                Some(error) => context.error_in_body(error),
                None => context.garbled("is not a chat completion"),
            }),
        }
    }

    async fn streamed_answer(
        &self,
        client: &Client,
        request: ChatRequest,
        options: ChatOptions,
        deltas: DeltaSink<'_>,
        context: FailureContext<'_>,
    ) -> Result<ModelCompletion, CallFailure> {
        let notes = Arc::new(StreamNotes::default());
        let (frame_notes, dialect) = (Arc::clone(&notes), self.dialect);
        let options = options.with_raw_frame_fn(move |_, frame| frame_notes.read_frame(dialect, frame));
        let stream = client.exec_chat_stream(self.target(true), request, Some(&options)).await;
        let mut stream = stream.map_err(|error| context.genai_error(&error))?.stream;
        let mut text = String::new();
        while let Some(event) = stream.next().await {
            match event {
                Ok(ChatStreamEvent::Chunk(chunk)) => {
                    deltas(&chunk.content);
                    text.push_str(&chunk.content);
                    if text.len() > ANSWER_BYTES_MAX {
                        return Err(context.too_long());
                    }
                }
                Ok(ChatStreamEvent::End(end)) => {
                    let (refusal, stop) = (notes.take_refusal(), end.captured_stop_reason);
                    if refusal.is_none() && stop.is_none() && self.dialect.always_gives_stop_reason() {
                        break;
                    }
                    let usage = end.captured_usage.as_ref().map(dialect::usage).unwrap_or_default();
                    return Ok(self.completion(
                        text,
                        refusal.map(|refusal| refusal.text),
                        stop.as_ref(),
                        usage,
                    ));
                }
                Ok(_) => {}
                Err(Error::ChatResponse { body, .. }) if self.dialect.is_false_error(&body) => {
                    if let Some(refusal) = notes.take_refusal() {
                        return Ok(self.completion(text, Some(refusal.text), None, refusal.usage));
                    }
                }
                Err(error) => return Err(cut_off(context.genai_error(&error), &text)),
            }
        }
        if let Some(stop) = lock(&notes.stop_reason).take() {
            // Only the end mark is missing, and with it the usage.
            let refusal = notes.take_refusal().map(|refusal| refusal.text);
            return Ok(self.completion(text, refusal, Some(&StopReason::from(stop)), CallUsage::default()));
        }
        if notes.has_frames.load(Ordering::Relaxed) {
            return Err(context.garbled("was cut off"));
        }
        // genai does not return the body that came instead, so the next call must ask for a whole answer.
        self.cannot_stream.store(true, Ordering::Relaxed);
        Err(context.garbled("is not a stream, although one was requested"))
    }

    fn completion(
        &self,
        text: String,
        refusal: Option<String>,
        stop: Option<&StopReason>,
        usage: CallUsage,
    ) -> ModelCompletion {
        let finish = match stop {
            _ if refusal.is_some() => FinishReason::Refused,
            Some(StopReason::ContentFilter(_)) => FinishReason::Refused,
            Some(StopReason::MaxTokens(_)) => FinishReason::Length,
            _ => FinishReason::End,
        };
        let text = self.without_key(refusal.unwrap_or(text).trim());
        ModelCompletion { text, model: self.name.clone(), usage, finish, shortened: None }
    }

    /// Removes the key from an answer: a server may echo it, and it must not get into the log.
    fn without_key(&self, text: &str) -> String {
        // A placeholder such as `none` is not a secret, and removing it would spoil the text.
        const KEY_BYTES_MIN: usize = 8;
        match self.provider.secret() {
            Some(key) if key.len() >= KEY_BYTES_MIN => text.replace(key, "[key removed]"),
            _ => text.to_owned(),
        }
    }

    fn options(&self, call: &ModelCall, parts: &RequestParts<'_>) -> ChatOptions {
        let mut options = ChatOptions::default()
            .with_max_tokens(call.max_output_tokens)
            .with_capture_usage(parts.has_stream_options)
            .with_capture_raw_body(true);
        if self.dialect.caches_by_itself() {
            // Sends nothing to the server. Without it genai switches caching off for some models.
            options = options.with_cache_control(CacheControl::Ephemeral5m);
        }
        if let Some(effort) = self.dialect.effort(&self.model) {
            options = options.with_reasoning_effort(effort);
        }
        if parts.has_seed {
            // Some servers store a seed as a signed 32-bit number.
            options = options.with_seed(call.seed & 0x7FFF_FFFF);
        }
        match parts.schema {
            Some(schema) => options
                .with_response_format(JsonSpec::new(schema.name.as_str(), self.dialect.schema(&schema.json))),
            None => options,
        }
    }

    /// The full address and headers. Otherwise genai drops the query of some addresses, and always sends a key.
    fn target(&self, is_streamed: bool) -> ServiceTarget {
        let url = self.base.join(&self.dialect.chat_path(&self.model, is_streamed));
        let headers = Headers::from(self.dialect.headers(self.provider.secret()));
        let auth = AuthData::RequestOverride { url, headers };
        ServiceTarget { endpoint: self.endpoint.clone(), auth, model: self.iden.clone() }
    }
}

impl Model for ServerModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        &self.provider.name
    }

    fn price(&self) -> ModelPrice {
        self.price
    }

    fn call<'a>(
        &'a self,
        call: &'a ModelCall,
        deltas: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelCompletion, CallFault>> {
        Box::pin(self.complete(call, deltas))
    }
}

impl StreamNotes {
    fn read_frame(&self, dialect: &dyn WireDialect, frame: RawFrameRef<'_>) {
        self.has_frames.fetch_or(frame.event.is_some() || !frame.data.is_empty(), Ordering::Relaxed);
        // Most frames are pieces of text. The markers avoid parsing them a second time.
        let has = |marker: Option<&str>| marker.is_some_and(|marker| frame.data.contains(marker));
        if has(dialect.stop_marker())
            && let Some(stop) = frame.json().and_then(|frame| dialect.stop_in_frame(&frame))
        {
            *lock(&self.stop_reason) = Some(stop);
        }
        if has(dialect.refusal_marker())
            && let Some(refusal) = frame.json().and_then(|frame| dialect.refusal_in_frame(&frame))
        {
            match &mut *lock(&self.refusal) {
                Some(so_far) => so_far.text.push_str(&refusal.text),
                none => *none = Some(refusal),
            }
        }
    }

    fn take_refusal(&self) -> Option<ServerRefusal> {
        lock(&self.refusal).take()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether an answer is plain text although structured output was requested. Some servers ignore that parameter.
fn is_prose(completion: &ModelCompletion) -> bool {
    let text = without_thinking(&completion.text);
    completion.finish == FinishReason::End && !text.trim().is_empty() && !text.contains('{')
}

/// A failure in the middle of an answer. The text so far may be charged for, so it does not count as "no answer".
fn cut_off(mut failure: CallFailure, text: &str) -> CallFailure {
    let kind = &mut failure.fault.kind;
    if !text.is_empty() && matches!(kind, CallFaultKind::Unavailable | CallFaultKind::RateLimited) {
        *kind = CallFaultKind::Garbled;
    }
    failure
}
