//! A call of an OpenAI-compatible server.
//!
//! genai makes the request and reads the answer, with the endpoint, the key and the dialect given for each call, so
//! that nothing is guessed from a model's name and nothing is read from the environment.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agon_core::{Invalid, Schema, Usage};
use agon_engine::{Call, Completion, Deltas, Fault, FaultKind, Finish, Message, Model, Price, Role};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, JsonSpec, RawFrameRef, ReasoningEffort,
    StopReason,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, Headers, ModelIden, ServiceTarget};
use secrecy::ExposeSecret;
use serde_json::Value;

use crate::clients::Clients;
use crate::fault::{Failed, Failure, Parameter};
use crate::provider::{Base, Provider};

/// A model of an OpenAI-compatible server.
pub(crate) struct OpenAi {
    name: String,
    model: String,
    iden: ModelIden,
    endpoint: Endpoint,
    base: Base,
    provider: Arc<Provider>,
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

impl OpenAi {
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
            Err(Failure { status, mut fault, named }) => {
                let choosy = matches!(status, Some(400 | 422));
                match fault.kind {
                    FaultKind::Rejected if choosy && self.leave_out(&named, &parts) => {
                        fault.kind = FaultKind::Unsupported;
                    }
                    FaultKind::Rejected if choosy && schema.is_some() => {
                        self.schemaless.store(true, Ordering::Relaxed);
                        fault.kind = FaultKind::Unsupported;
                    }
                    // It was something else that the server did not like.
                    FaultKind::Rejected if call.schema.is_some() => {
                        self.schemaless.store(false, Ordering::Relaxed);
                    }
                    FaultKind::Garbled if stream.is_none() => self.streamless.store(false, Ordering::Relaxed),
                    _ => {}
                }
                Err(fault)
            }
        }
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
        let failed = Failed {
            provider: &self.provider,
            model: &self.model,
            at: &self.base.shown,
            sent: &call.messages,
        };
        let client = self.clients.get(self.base.plain).map_err(|why| failed.unmade(why))?;
        let request = ChatRequest::from_messages(call.messages.iter().map(message).collect());
        let options = options(call, parts);
        match deltas {
            None => self.whole(client, request, &options, failed).await,
            Some(deltas) => self.streamed(client, request, options, deltas, failed).await,
        }
    }

    async fn whole(
        &self,
        client: &Client,
        request: ChatRequest,
        options: &ChatOptions,
        failed: Failed<'_>,
    ) -> Result<Completion, Failure> {
        let answer = client.exec_chat(self.target(), request, Some(options)).await;
        let answer = answer.map_err(|error| failed.error(&error))?;
        let body = answer.captured_raw_body.as_ref().unwrap_or(&Value::Null);
        let Some(choice) = body.pointer("/choices/0").filter(|choice| choice.is_object()) else {
            let error = body.get("error").filter(|error| !error.is_null());
            return Err(
                error.map_or_else(|| failed.garbled("is not a chat completion"), |error| failed.told(error))
            );
        };
        let refusal = choice.pointer("/message/refusal").and_then(Value::as_str).map(str::to_owned);
        let (usage, stop) = (usage(&answer.usage), answer.stop_reason.clone());
        let text = answer.into_texts().concat();
        Ok(self.completion(text, refusal, stop.as_ref(), usage))
    }

    async fn streamed(
        &self,
        client: &Client,
        request: ChatRequest,
        options: ChatOptions,
        deltas: Deltas<'_>,
        failed: Failed<'_>,
    ) -> Result<Completion, Failure> {
        let refusal = Arc::new(Mutex::new(String::new()));
        let flows = Arc::new(AtomicBool::new(false));
        let (seen, began) = (Arc::clone(&refusal), Arc::clone(&flows));
        // genai has no event for a refusal, nor for a stream that is none, so both are picked from the frames.
        let options = options.with_raw_frame_fn(move |_, frame| {
            began.fetch_or(frame.event.is_some() || !frame.data.is_empty(), Ordering::Relaxed);
            note_refusal(frame, &seen);
        });
        let stream = client.exec_chat_stream(self.target(), request, Some(&options)).await;
        let mut stream = stream.map_err(|error| failed.error(&error))?.stream;
        let mut text = String::new();
        while let Some(event) = stream.next().await {
            match event.map_err(|error| cut_short(failed.error(&error), &text))? {
                ChatStreamEvent::Chunk(chunk) => {
                    deltas(&chunk.content);
                    text.push_str(&chunk.content);
                }
                ChatStreamEvent::End(end) => {
                    let refusal =
                        std::mem::take(&mut *refusal.lock().unwrap_or_else(PoisonError::into_inner));
                    let refusal = Some(refusal).filter(|refusal| !refusal.is_empty());
                    let used = end.captured_usage.as_ref().map(usage).unwrap_or_default();
                    return Ok(self.completion(text, refusal, end.captured_stop_reason.as_ref(), used));
                }
                _ => {}
            }
        }
        if flows.load(Ordering::Relaxed) {
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
        match self.provider.key.as_ref().map(|key| key.expose_secret()) {
            Some(key) if key.len() >= SECRET_FROM => text.replace(key, "[key removed]"),
            _ => text.to_owned(),
        }
    }

    fn target(&self) -> ServiceTarget {
        let auth = match &self.provider.key {
            Some(key) => AuthData::from_single(key.expose_secret()),
            // genai's only way to send no key at all.
            None => AuthData::RequestOverride { url: self.chat_url(), headers: Headers::default() },
        };
        ServiceTarget { endpoint: self.endpoint.clone(), auth, model: self.iden.clone() }
    }

    fn chat_url(&self) -> String {
        let (path, query) = self.base.url.split_once('?').unwrap_or((&self.base.url, ""));
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{path}chat/completions{mark}{query}")
    }
}

impl Model for OpenAi {
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

fn message(message: &Message) -> ChatMessage {
    let text = message.text.as_str();
    match message.role {
        Role::System => ChatMessage::system(text),
        Role::User => ChatMessage::user(text),
        Role::Assistant => ChatMessage::assistant(text),
    }
}

fn options(call: &Call, parts: &Parts<'_>) -> ChatOptions {
    let mut options = ChatOptions::default()
        .with_max_tokens(call.max_output_tokens)
        .with_capture_usage(parts.tally)
        .with_capture_raw_body(true)
        // Says nothing to the server; without it genai takes `-high` off a model's name and makes an effort of it.
        .with_reasoning_effort(ReasoningEffort::Budget(0));
    if parts.seed {
        // Some servers keep a seed in 32 bits and a sign.
        options = options.with_seed(call.seed & 0x7FFF_FFFF);
    }
    match parts.schema {
        Some(schema) => {
            options.with_response_format(JsonSpec::new(schema.name.as_str(), schema.json.clone()))
        }
        None => options,
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

fn usage(usage: &genai::chat::Usage) -> Usage {
    let tokens = |count: Option<i32>| count.and_then(|count| u64::try_from(count).ok()).unwrap_or_default();
    Usage {
        input_tokens: tokens(usage.prompt_tokens),
        cached_input_tokens: tokens(
            usage.prompt_tokens_details.as_ref().and_then(|details| details.cached_tokens),
        ),
        output_tokens: tokens(usage.completion_tokens),
        ..Usage::default()
    }
}

fn note_refusal(frame: RawFrameRef<'_>, seen: &Mutex<String>) {
    if !frame.data.contains("\"refusal\"") {
        return;
    }
    let words =
        frame.json().and_then(|frame| Some(frame.pointer("/choices/0/delta/refusal")?.as_str()?.to_owned()));
    if let Some(words) = words {
        seen.lock().unwrap_or_else(PoisonError::into_inner).push_str(&words);
    }
}
