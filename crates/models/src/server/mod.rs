//! A call to a server.
//!
//! [`dialect`] and the files next to it write requests and read answers in each wire format; this file makes the call. It
//! never reads more of an answer than [`http::ANSWER_BYTES_MAX`].

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agon_core::reply::without_thinking;
use agon_core::{Invalid, ReplySchema};
use agon_engine::{
    CallFault, CallFaultKind, DeltaSink, FinishReason, Model, ModelCall, ModelCompletion, ModelPrice,
};
use agon_host::{JSON_VALUES_MAX, has_few_json_values};
use futures_util::future::BoxFuture;
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::provider::{BaseUrl, ModelProvider};
use dialect::{ChatRequest, ServerAnswer, WireDialect};
use errors::{CallFailure, FailureContext, OptionalParameter};
use events::FrameReader;
use http::{AnswerBody, DEBATE_HEADER, HttpClients};

mod anthropic;
pub(crate) mod dialect;
pub(crate) mod errors;
mod events;
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
    base: BaseUrl,
    /// Where its calls go, or `None` if that is no URL. The second one is for streams.
    chat_urls: [Option<Url>; 2],
    provider: Arc<ModelProvider>,
    dialect: &'static dyn WireDialect,
    price: ModelPrice,
    clients: Arc<HttpClients>,
    /// The server rejects or ignores the schema of the answer.
    rejects_schema: AtomicBool,
    rejects_seed: AtomicBool,
    rejects_stream_options: AtomicBool,
    /// The server calls the limit on the output `max_completion_tokens`.
    says_completion_tokens: AtomicBool,
    /// Schemas as this server accepts them. The engine keeps one `Arc` for equal schemas.
    accepted_schemas: Mutex<Vec<(Arc<ReplySchema>, Arc<RawValue>)>>,
}

/// The debate's id, if a header can carry it.
fn debate_value(debate: &str) -> HeaderValue {
    HeaderValue::from_str(debate).unwrap_or(HeaderValue::from_static("unnamed"))
}

/// How many schemas are kept as the server accepts them.
const ACCEPTED_SCHEMAS_MAX: usize = 64;

/// The optional parts of one request. Several calls of a model may run at once, so each remembers what it sent.
struct RequestParts<'a> {
    /// The schema, for structured output. Without it, a schema is at the end of the prompt.
    schema: Option<&'a Arc<ReplySchema>>,
    has_seed: bool,
    /// `stream_options`, which asks a stream for its usage.
    has_stream_options: bool,
    says_completion_tokens: bool,
    is_streamed: bool,
}

/// Models of OpenAI that reject `max_tokens`. Others are found out by their first answer.
const COMPLETION_TOKEN_MODELS: &[&str] = &["gpt-5", "gpt-6", "o1", "o3", "o4"];

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
        let dialect = dialect::of(provider.format);
        let chat_urls = [false, true]
            .map(|is_streamed| Url::parse(&base.join(&dialect.chat_path(model, is_streamed))).ok());
        Ok(Self {
            name: name.to_owned(),
            model: model.to_owned(),
            base,
            chat_urls,
            dialect,
            provider,
            price,
            clients,
            rejects_schema: AtomicBool::new(false),
            rejects_seed: AtomicBool::new(false),
            rejects_stream_options: AtomicBool::new(false),
            says_completion_tokens: AtomicBool::new(
                COMPLETION_TOKEN_MODELS.iter().any(|family| model.starts_with(family)),
            ),
            accepted_schemas: Mutex::default(),
        })
    }

    async fn complete(
        &self,
        call: &ModelCall,
        deltas: Option<DeltaSink<'_>>,
    ) -> Result<ModelCompletion, CallFault> {
        let parts = RequestParts {
            schema: call.schema.as_ref().filter(|_| !self.rejects_schema.load(Ordering::Relaxed)),
            has_seed: !self.rejects_seed.load(Ordering::Relaxed),
            has_stream_options: !self.rejects_stream_options.load(Ordering::Relaxed),
            says_completion_tokens: self.says_completion_tokens.load(Ordering::Relaxed),
            is_streamed: deltas.is_some(),
        };
        match self.attempt(call, &parts, deltas).await {
            Ok(completion) => {
                if parts.schema.is_some() && is_prose(&completion) {
                    self.rejects_schema.store(true, Ordering::Relaxed);
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
            _ => {}
        }
        *fault
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
                OptionalParameter::MaxTokens => (!sent.says_completion_tokens, &self.says_completion_tokens),
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
        let body = self.request_body(call, parts).map_err(|_| context.no_request())?;
        let [whole_url, stream_url] = &self.chat_urls;
        let url = if parts.is_streamed { stream_url } else { whole_url };
        let url = url.clone().ok_or_else(|| context.no_request())?;
        let mut request = client.post(url).header(CONTENT_TYPE, "application/json");
        request = request.header(DEBATE_HEADER, debate_value(&call.debate));
        for (name, value) in self.dialect.headers(self.provider.secret()) {
            request = request.header(name, value);
        }
        let answer = request.body(body).send().await.map_err(|error| context.network_error(&error))?;
        if !answer.status().is_success() {
            return Err(context.http_status(answer).await);
        }
        let mut body = AnswerBody::new(answer);
        // What an answer is shows in its first byte. Some servers call all that they send a page.
        match (body.first_byte().await.map_err(|error| context.body_error(&error))?, deltas) {
            (Some(b'<'), _) => Err(context.html_page()),
            (Some(first), Some(deltas)) if !matches!(first, b'{' | b'[') => {
                self.streamed_answer(body, deltas, context).await
            }
            // Some servers answer a request for a stream with a whole answer.
            (_, deltas) => {
                let text = body.text().await.map_err(|error| context.body_error(&error))?;
                let completion = self.read_whole(&text, context)?;
                deltas.into_iter().for_each(|deltas| deltas(&completion.text));
                Ok(completion)
            }
        }
    }

    fn request_body(&self, call: &ModelCall, parts: &RequestParts<'_>) -> serde_json::Result<Vec<u8>> {
        let messages = match parts.schema {
            Some(_) => Cow::Borrowed(call.messages.as_slice()),
            None => call.messages_with_schema(),
        };
        let accepted = parts.schema.map(|schema| self.accepted_schema(schema)).transpose()?;
        self.dialect.request_body(&ChatRequest {
            model: &self.model,
            messages: &messages,
            schema: parts.schema.zip(accepted.as_deref()).map(|(schema, json)| (schema.name.as_str(), json)),
            max_output_tokens: call.max_output_tokens,
            says_completion_tokens: parts.says_completion_tokens,
            // Some servers store a seed as a signed 32-bit number.
            seed: parts.has_seed.then_some(call.seed & 0x7FFF_FFFF),
            is_streamed: parts.is_streamed,
            wants_usage: parts.has_stream_options,
            habits: self.provider.habits,
        })
    }

    fn accepted_schema(&self, schema: &Arc<ReplySchema>) -> serde_json::Result<Arc<RawValue>> {
        let mut kept = self.accepted_schemas.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, accepted)) = kept.iter().find(|(known, _)| Arc::ptr_eq(known, schema)) {
            return Ok(Arc::clone(accepted));
        }
        let accepted: Arc<RawValue> = to_raw_value(&self.dialect.schema(&schema.json))?.into();
        if kept.len() >= ACCEPTED_SCHEMAS_MAX {
            kept.clear();
        }
        kept.push((Arc::clone(schema), Arc::clone(&accepted)));
        Ok(accepted)
    }

    fn read_whole(&self, text: &str, context: FailureContext<'_>) -> Result<ModelCompletion, CallFailure> {
        let body = json_value(text, context)?;
        let mut answer = ServerAnswer::default();
        if self.dialect.read_answer(&body, &self.provider.habits, &mut answer) {
            return Ok(self.completion(answer));
        }
        Err(match error_in(&body) {
            Some(error) => context.error_in_body(error),
            None => context.garbled("is not a chat completion"),
        })
    }

    async fn streamed_answer(
        &self,
        mut body: AnswerBody,
        deltas: DeltaSink<'_>,
        context: FailureContext<'_>,
    ) -> Result<ModelCompletion, CallFailure> {
        let mut frames = FrameReader::default();
        let mut answer = ServerAnswer::default();
        while !answer.is_ended {
            let piece = body.next_piece().await;
            let piece = piece.map_err(|error| cut_off(context.body_error(&error), &answer.text))?;
            let Some(piece) = piece else { break };
            for data in frames.push(&piece) {
                self.read_frame(&data, &mut answer, deltas, context)?;
            }
        }
        self.end_of_stream(frames, answer, deltas, context)
    }

    fn end_of_stream(
        &self,
        frames: FrameReader,
        mut answer: ServerAnswer,
        deltas: DeltaSink<'_>,
        context: FailureContext<'_>,
    ) -> Result<ModelCompletion, CallFailure> {
        let is_stream = frames.has_frames();
        if let Some(data) = frames.finish() {
            self.read_frame(&data, &mut answer, deltas, context)?;
        }
        match is_stream {
            _ if answer.is_complete() => Ok(self.completion(answer)),
            true => Err(context.garbled("was cut off")),
            false => Err(context.garbled("is not a stream, although one was requested")),
        }
    }

    fn read_frame(
        &self,
        data: &str,
        answer: &mut ServerAnswer,
        deltas: DeltaSink<'_>,
        context: FailureContext<'_>,
    ) -> Result<(), CallFailure> {
        // What follows the end of a stream may or may not arrive with it, so it never counts.
        if answer.is_ended || data.trim().is_empty() {
            return Ok(());
        }
        if data.trim() == "[DONE]" {
            answer.is_ended = true;
            return Ok(());
        }
        let frame = json_value(data, context)?;
        if let Some(error) = error_in(&frame) {
            return Err(cut_off(context.error_in_body(error), &answer.text));
        }
        let before = answer.text.len();
        self.dialect.read_frame(&frame, &self.provider.habits, answer);
        if let Some(piece) = answer.text.get(before..).filter(|piece| !piece.is_empty()) {
            deltas(piece);
        }
        Ok(())
    }

    fn completion(&self, answer: ServerAnswer) -> ModelCompletion {
        let finish = answer.finish();
        let text = self.without_key(answer.refusal.unwrap_or(answer.text).trim());
        ModelCompletion { text, model: self.name.clone(), usage: answer.usage, finish, shortened: None }
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

/// Reads JSON, unless it would take much more memory than its text.
pub(crate) fn json_value(text: &str, context: FailureContext<'_>) -> Result<Value, CallFailure> {
    if !has_few_json_values(text.as_bytes()) {
        return Err(context.garbled(&format!("has more than {JSON_VALUES_MAX} JSON values")));
    }
    serde_json::from_str(text).map_err(|_| match text.trim_start().chars().next() {
        None => context.garbled("is empty"),
        Some('{' | '[') => context.garbled("is not complete JSON"),
        Some('<') => context.html_page(),
        Some(_) => context.garbled("is not JSON"),
    })
}

/// The error that a body reports, if it reports one.
fn error_in(body: &Value) -> Option<&Value> {
    body.get("error").filter(|error| !error.is_null())
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
