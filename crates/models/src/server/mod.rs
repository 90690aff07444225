//! A call of a server: the way that is the same for every wire format.
//!
//! genai makes the request and reads the answer, with the address, the key and the dialect given for each call, so that
//! nothing is guessed from a model's name and nothing is read from the environment. What is peculiar to a wire format, and
//! what genai makes of it that a debate cannot use, is in [`wire`] and the files beside it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agon_core::{Invalid, Schema, Usage};
use agon_engine::{Call, Completion, Deltas, Fault, FaultKind, Finish, Model, Price};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use genai::chat::{
    CacheControl, ChatOptions, ChatRequest, ChatStreamEvent, JsonSpec, RawFrameRef, StopReason,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, Error, Headers, ModelIden, ServiceTarget};

use crate::clients::Clients;
use crate::fault::{Failed, Failure};
use crate::provider::{Base, Provider};
use crate::told::Parameter;
use wire::{Refusal, Wire};

mod anthropic;
mod gemini;
mod openai;
mod schema;
pub(crate) mod wire;

/// A model of a server.
pub(crate) struct Server {
    name: String,
    model: String,
    iden: ModelIden,
    endpoint: Endpoint,
    base: Base,
    provider: Arc<Provider>,
    wire: &'static dyn Wire,
    price: Price,
    clients: Arc<Clients>,
    /// Whether the server has turned down a schema: calls go without, as long as it takes them so.
    schemaless: AtomicBool,
    /// Whether it has turned down a seed.
    seedless: AtomicBool,
    /// Whether it has turned down `stream_options`.
    tallyless: AtomicBool,
    /// Whether the server has answered a call for a stream with something else: answers are asked for in one piece.
    streamless: AtomicBool,
}

/// The parts of a request that can be left out.
struct Parts<'a> {
    schema: Option<&'a Schema>,
    seed: bool,
    /// `stream_options`, which ask a stream for its usage.
    tally: bool,
    streamed: bool,
}

/// What the frames of a stream say that genai has no event for.
#[derive(Default)]
struct Aside {
    refusal: Mutex<Option<Refusal>>,
    /// Whether it is a stream at all.
    flows: AtomicBool,
    /// Why the model stopped, for servers that never say that the stream is over.
    stop: Mutex<Option<String>>,
}

impl Server {
    pub(crate) fn new(
        name: &str,
        model: &str,
        provider: Arc<Provider>,
        price: Price,
        clients: Arc<Clients>,
    ) -> Result<Self, Invalid> {
        let base = provider.usable()?.clone();
        clients.prepare(base.plain);
        // genai takes what stands before `::` for a namespace and drops it.
        let given =
            if model.contains("::") { format!("{}::{model}", provider.name) } else { model.to_owned() };
        Ok(Self {
            name: name.to_owned(),
            model: model.to_owned(),
            iden: ModelIden::new(provider.adapter, given),
            endpoint: Endpoint::from_owned(base.url.as_str()),
            base,
            wire: wire::of(provider.kind),
            provider,
            price,
            clients,
            schemaless: AtomicBool::new(false),
            seedless: AtomicBool::new(false),
            tallyless: AtomicBool::new(false),
            streamless: AtomicBool::new(false),
        })
    }

    async fn complete(&self, call: &Call, deltas: Option<Deltas<'_>>) -> Result<Completion, Fault> {
        // The prompt states the schema too, so a server that knows none can do without it.
        let schema = call.schema.as_deref().filter(|_| !self.schemaless.load(Ordering::Relaxed));
        let stream = deltas.filter(|_| !self.streamless.load(Ordering::Relaxed));
        // Calls of one model are under way at once, so each remembers what it was sent with.
        let parts = Parts {
            schema,
            seed: !self.seedless.load(Ordering::Relaxed),
            tally: !self.tallyless.load(Ordering::Relaxed),
            streamed: stream.is_some(),
        };
        match self.attempt(call, &parts, stream).await {
            Ok(completion) => {
                if let (Some(deltas), None) = (deltas, stream) {
                    deltas(&completion.text);
                }
                Ok(completion)
            }
            Err(failure) => Err(self.learn(failure, call, &parts)),
        }
    }

    /// Takes from a failure what can be done without in the next attempt.
    fn learn(&self, failure: Failure, call: &Call, sent: &Parts<'_>) -> Fault {
        let Failure { status, mut fault, named } = failure;
        let choosy = matches!(status, Some(400 | 422));
        match fault.kind {
            FaultKind::Rejected if choosy && self.leave_out(&named, sent) => {
                fault.kind = FaultKind::Unsupported;
            }
            FaultKind::Rejected if choosy && sent.schema.is_some() => {
                self.schemaless.store(true, Ordering::Relaxed);
                fault.kind = FaultKind::Unsupported;
            }
            // It was something else that the server did not like.
            FaultKind::Rejected if call.schema.is_some() => {
                self.schemaless.store(false, Ordering::Relaxed);
            }
            FaultKind::Garbled if !sent.streamed => self.streamless.store(false, Ordering::Relaxed),
            _ => {}
        }
        fault
    }

    /// Leaves out from now on what the server named; says whether any of it was in the call that it turned down.
    fn leave_out(&self, named: &[Parameter], sent: &Parts<'_>) -> bool {
        let mut any = false;
        for parameter in named {
            let (was_sent, left_out) = match parameter {
                Parameter::Seed => (sent.seed, &self.seedless),
                Parameter::StreamOptions => (sent.tally && sent.streamed, &self.tallyless),
            };
            if was_sent {
                left_out.store(true, Ordering::Relaxed);
                any = true;
            }
        }
        any
    }

    async fn attempt(
        &self,
        call: &Call,
        parts: &Parts<'_>,
        deltas: Option<Deltas<'_>>,
    ) -> Result<Completion, Failure> {
        let sent: Vec<&str> = call.messages.iter().map(|message| message.text.as_str()).collect();
        let failed =
            Failed { provider: &self.provider, model: &self.model, at: &self.base.shown, sent: &sent };
        let client = self.clients.get(self.base.plain).map_err(|why| failed.unmade(why))?;
        let request = ChatRequest::from_messages(self.wire.messages(&call.messages));
        let options = self.options(call, parts);
        match deltas {
            None => self.whole(&client.genai, request, &options, failed).await,
            Some(deltas) => self.streamed(&client.genai, request, options, deltas, failed).await,
        }
    }

    async fn whole(
        &self,
        client: &Client,
        request: ChatRequest,
        options: &ChatOptions,
        failed: Failed<'_>,
    ) -> Result<Completion, Failure> {
        let (answer, body) = match client.exec_chat(self.target(false), request, Some(options)).await {
            Ok(mut answer) => {
                let body = answer.captured_raw_body.take().unwrap_or_default();
                (Some(answer), body)
            }
            // An answer that genai could not make sense of may still be one that a debate can.
            Err(Error::ChatResponseGeneration { response_body, .. }) => (None, *response_body),
            Err(error) => return Err(failed.error(&error)),
        };
        let refusal = self.wire.refusal(&body);
        match (answer.filter(|_| self.wire.is_answer(&body)), refusal) {
            (Some(answer), refusal) => {
                let (usage, stop) = (wire::usage(&answer.usage), answer.stop_reason.clone());
                let text = answer.into_texts().concat();
                Ok(self.completion(text, refusal.map(|refusal| refusal.words), stop.as_ref(), usage))
            }
            (None, Some(refusal)) => {
                Ok(self.completion(String::new(), Some(refusal.words), None, refusal.usage))
            }
            (None, None) => {
                let error = body.get("error").filter(|error| !error.is_null());
                Err(error
                    .map_or_else(|| failed.garbled("is not a chat completion"), |error| failed.told(error)))
            }
        }
    }

    async fn streamed(
        &self,
        client: &Client,
        request: ChatRequest,
        options: ChatOptions,
        deltas: Deltas<'_>,
        failed: Failed<'_>,
    ) -> Result<Completion, Failure> {
        let aside = Arc::new(Aside::default());
        let (seen, wire) = (Arc::clone(&aside), self.wire);
        let options = options.with_raw_frame_fn(move |_, frame| seen.note(wire, frame));
        let stream = client.exec_chat_stream(self.target(true), request, Some(&options)).await;
        let mut stream = stream.map_err(|error| failed.error(&error))?.stream;
        let mut text = String::new();
        while let Some(event) = stream.next().await {
            match event {
                Ok(ChatStreamEvent::Chunk(chunk)) => {
                    deltas(&chunk.content);
                    text.push_str(&chunk.content);
                }
                Ok(ChatStreamEvent::End(end)) => {
                    let refusal = aside.refusal();
                    if refusal.is_none() && end.captured_stop_reason.is_none() && self.wire.gives_a_reason() {
                        break;
                    }
                    let used = end.captured_usage.as_ref().map(wire::usage).unwrap_or_default();
                    let words = refusal.map(|refusal| refusal.words);
                    return Ok(self.completion(text, words, end.captured_stop_reason.as_ref(), used));
                }
                Ok(_) => {}
                Err(Error::ChatResponse { body, .. }) if self.wire.is_no_error(&body) => {
                    if let Some(refusal) = aside.refusal() {
                        return Ok(self.completion(text, Some(refusal.words), None, refusal.usage));
                    }
                }
                Err(error) => return Err(cut_short(failed.error(&error), &text)),
            }
        }
        let stop = aside.stop.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(stop) = stop {
            // All of it came but for the last mark. What it used is not known then.
            let words = aside.refusal().map(|refusal| refusal.words);
            return Ok(self.completion(text, words, Some(&StopReason::from(stop)), Usage::default()));
        }
        if aside.flows.load(Ordering::Relaxed) {
            return Err(failed.garbled("broke off before its end"));
        }
        // genai does not give out the body that came instead, so another call must ask for it.
        self.streamless.store(true, Ordering::Relaxed);
        Err(failed.garbled("is no stream, though one was asked for"))
    }

    fn completion(
        &self,
        text: String,
        refusal: Option<String>,
        stop: Option<&StopReason>,
        usage: Usage,
    ) -> Completion {
        let finish = match stop {
            _ if refusal.is_some() => Finish::Refused,
            Some(StopReason::ContentFilter(_)) => Finish::Refused,
            Some(StopReason::MaxTokens(_)) => Finish::Length,
            _ => Finish::End,
        };
        let text = self.without_key(refusal.unwrap_or(text).trim());
        Completion { text, model: self.name.clone(), usage, finish, shortened: None }
    }

    /// An answer without the key: a server may say back what it was sent, and the log is no place for it.
    fn without_key(&self, text: &str) -> String {
        // A placeholder such as `none` is no secret, and taking it out would spoil the text.
        const SECRET_FROM: usize = 8;
        match self.provider.secret() {
            Some(key) if key.len() >= SECRET_FROM => text.replace(key, "[key removed]"),
            _ => text.to_owned(),
        }
    }

    fn options(&self, call: &Call, parts: &Parts<'_>) -> ChatOptions {
        let mut options = ChatOptions::default()
            .with_max_tokens(call.max_output_tokens)
            .with_capture_usage(parts.tally)
            .with_capture_raw_body(true);
        if self.wire.caches_by_itself() {
            // Says nothing to the server; without it genai turns the caching of some models off.
            options = options.with_cache_control(CacheControl::Ephemeral5m);
        }
        if let Some(effort) = self.wire.effort(&self.model) {
            options = options.with_reasoning_effort(effort);
        }
        if parts.seed {
            // Some servers keep a seed in 32 bits and a sign.
            options = options.with_seed(call.seed & 0x7FFF_FFFF);
        }
        match parts.schema {
            Some(schema) => options
                .with_response_format(JsonSpec::new(schema.name.as_str(), self.wire.schema(&schema.json))),
            None => options,
        }
    }

    /// Where the call goes. genai drops a query from some addresses and has no other way to send no key.
    fn target(&self, streamed: bool) -> ServiceTarget {
        let url = self.base.join(&self.wire.path(&self.model, streamed));
        let headers = Headers::from(self.wire.headers(self.provider.secret()));
        let auth = AuthData::RequestOverride { url, headers };
        ServiceTarget { endpoint: self.endpoint.clone(), auth, model: self.iden.clone() }
    }
}

impl Model for Server {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        &self.provider.name
    }

    fn price(&self) -> Price {
        self.price
    }

    fn call<'a>(
        &'a self,
        call: &'a Call,
        deltas: Option<Deltas<'a>>,
    ) -> BoxFuture<'a, Result<Completion, Fault>> {
        Box::pin(self.complete(call, deltas))
    }
}

impl Aside {
    fn note(&self, wire: &dyn Wire, frame: RawFrameRef<'_>) {
        self.flows.fetch_or(frame.event.is_some() || !frame.data.is_empty(), Ordering::Relaxed);
        if wire.stop_mark().is_some_and(|mark| frame.data.contains(mark))
            && let Some(stop) = frame.json().and_then(|frame| wire.stop_in_stream(&frame))
        {
            *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = Some(stop);
        }
        if !wire.refusal_mark().is_some_and(|mark| frame.data.contains(mark)) {
            return;
        }
        let Some(refusal) = frame.json().and_then(|frame| wire.refusal_in_stream(&frame)) else { return };
        let mut seen = self.refusal.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *seen {
            Some(seen) => seen.words.push_str(&refusal.words),
            None => *seen = Some(refusal),
        }
    }

    fn refusal(&self) -> Option<Refusal> {
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A failure in the middle of an answer: what came of it may be charged for.
fn cut_short(mut failure: Failure, text: &str) -> Failure {
    let kind = &mut failure.fault.kind;
    if !text.is_empty() && matches!(kind, FaultKind::Unavailable | FaultKind::RateLimited) {
        *kind = FaultKind::Garbled;
    }
    failure
}
