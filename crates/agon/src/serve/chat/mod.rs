//! Debates as models: chat programs speak to a debate as they speak to a model of OpenAI's.
//!
//! - [`chat_request`]: from a conversation to a debate. [`side_task`]: what a chat program asks for itself.
//! - [`chat_answer`]: from a debate to an answer. [`chat_error`]: errors in the same format.
//! - [`chat_clients`]: what becomes of a debate when the program hangs up.
//!
//! Every protocol is a model, `agon/NAME`. What is said in the debate comes as reasoning, as each reply is recorded, and the verdict as
//! the content.

pub mod chat_answer;
pub mod chat_clients;
pub mod chat_error;
pub mod chat_request;
pub mod side_task;

use std::time::Duration;

use agon_core::event::{GENESIS, sha256};
use agon_core::{LogRecord, Protocol};
use agon_report::DebateNarrator;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::ServerState;
use super::api::debates::idempotency_key;
use super::api::{parse_body, read_body};
use super::event_stream::{EventSender, data_frame, event_stream};
use crate::cli::clock;
use crate::cli::verification::split_log_line;
use crate::hosting::DebateHost;
use crate::hosting::hosted_run::{LogFollower, LogLine};
use chat_answer::{AnswerHead, ChatAnswer};
use chat_clients::WaitingClient;
use chat_error::ChatError;
use chat_request::ChatRequest;
use side_task::SideTask;

/// Where the routes are.
pub const CHAT_PREFIX: &str = "/v1";
/// What the names of the models begin with.
const MODEL_PREFIX: &str = "agon/";
/// Says which debate an answer comes from.
const ID_HEADER: HeaderName = HeaderName::from_static("x-agon-debate-id");
/// Official clients count here how often they have sent a request before. They give up on an answer after ten minutes and send it again.
const RETRY_HEADER: &str = "x-stainless-retry-count";
/// The debate itself has the limits on time.
const NO_TIMEOUT: Duration = Duration::MAX;

/// Whether a path is one of these routes, so that its errors are in their format.
pub fn is_chat_path(path: &str) -> bool {
    path.strip_prefix(CHAT_PREFIX).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The kinds of debate, as models of OpenAI's format.
#[utoipa::path(
    get, path = "/models", tag = "chat",
    responses((status = 200, description = "`{object: \"list\", data: [{id: \"agon/NAME\", ..}]}`", body = Value))
)]
pub async fn list_chat_models() -> Json<Value> {
    let model = |protocol: &'static dyn Protocol| {
        let info = protocol.info();
        json!({
            "id": model_name(protocol), "object": "model", "created": 0, "owned_by": "agon", "description": info.about,
        })
    };
    Json(json!({"object": "list", "data": agon_protocols::all().map(model).collect::<Vec<_>>()}))
}

fn model_name(protocol: &dyn Protocol) -> String {
    format!("{MODEL_PREFIX}{}", protocol.info().name)
}

/// A debate about the last message of the user, in OpenAI's format.
///
/// Earlier turns are context. The field `agon` may set `models`, `roles`, `options` and `limits`, with the same rights as `/api/v1/debates`.
/// A request that a chat program makes for itself (a title, tags, follow-ups) is answered by one call to one model.
#[utoipa::path(
    post, path = "/chat/completions", tag = "chat", request_body = ChatRequest,
    params(("Idempotency-Key" = Option<String>, Header, description = "The same key and body: the same debate")),
    responses(
        (status = 200, description = "A chat completion or, with `stream`, its chunks; `agon` has the debate's id, state, dissent, cost and receipt", body = Value),
        (status = 400, description = "The request cannot be carried out", body = Value),
        (status = 404, description = "There is no such model", body = Value),
        (status = 429, description = "The money of the day is spent", body = Value),
        (status = 503, description = "There is no room", body = Value),
        (status = 508, description = "The request comes from a debate", body = Value),
    )
)]
pub async fn complete_chat(
    State(state): State<ServerState>,
    request: Request,
) -> Result<Response, ChatError> {
    refuse_debates(request.headers())?;
    let key = idempotency_key(request.headers())?;
    let retries = request.headers().get(RETRY_HEADER).and_then(|count| count.to_str().ok());
    let is_retry = retries.is_some_and(|count| count.trim() != "0");
    let body = read_body(request, &state).await?;
    let request: ChatRequest = parse_body(&body)?;
    let hash = sha256(&String::from_utf8_lossy(&body));
    let earlier = match &key {
        Some(key) => state.host.opened_before(key.clone(), &hash).await?,
        None if is_retry => state.chat_clients.debate_of(&hash),
        None => None,
    };
    let turn = ChatTurn::open(&state, &request, earlier, key, hash).await?;
    let id_header = HeaderValue::from_str(&turn.head.id).ok().map(|id| (ID_HEADER, id));
    let mut response = match request.stream == Some(true) {
        true => event_stream(state, move |sender| turn.stream(sender)),
        false => turn.whole().await.into_response(),
    };
    response.headers_mut().extend(id_header);
    Ok(response)
}

/// A debate that sits at its own table would call itself without end.
fn refuse_debates(headers: &HeaderMap) -> Result<(), ChatError> {
    match headers.contains_key(agon_models::DEBATE_HEADER) {
        false => Ok(()),
        true => Err(ChatError::new(
            StatusCode::LOOP_DETECTED,
            "debate_in_debate",
            "this request comes from a debate, and a debate cannot be a seat of another one: name a model instead",
        )
        .not_again()),
    }
}

fn find_model(name: &str) -> Result<&'static dyn Protocol, ChatError> {
    let mut protocols = agon_protocols::all();
    protocols.find(|protocol| model_name(*protocol) == name).ok_or_else(|| {
        let known: Vec<String> = agon_protocols::all().map(model_name).collect();
        let message = format!("there is no model {name:?} here; there are: {}", known.join(", "));
        ChatError::new(StatusCode::NOT_FOUND, "model_not_found", message)
    })
}

/// One answer that is under way.
struct ChatTurn {
    host: DebateHost,
    protocol: &'static dyn Protocol,
    head: AnswerHead,
    task: Option<SideTask>,
    wants_usage: bool,
    /// Says that somebody waits for the debate.
    _client: WaitingClient,
}

impl ChatTurn {
    /// Opens the debate that a request asks for, unless it was opened before.
    async fn open(
        state: &ServerState,
        request: &ChatRequest,
        earlier: Option<String>,
        key: Option<String>,
        hash: String,
    ) -> Result<Self, ChatError> {
        let host = &state.host;
        let protocol = find_model(&request.model)?;
        request.check().map_err(ChatError::invalid)?;
        let task = SideTask::of(request);
        let id = match earlier {
            Some(id) => id,
            None => {
                let debate = request.debate(protocol.info()).map_err(ChatError::invalid)?;
                let prepared = match &task {
                    Some(_) => {
                        host.prepare_single_call(debate, SideTask::question(&request.last_words())).await?
                    }
                    None => host.prepare(debate).await?,
                };
                host.open(prepared, key, hash.clone()).await?
            }
        };
        let linger = Duration::from_secs(state.settings.linger_s);
        Ok(Self {
            host: host.clone(),
            protocol,
            _client: state.chat_clients.wait_for(host, &id, &hash, linger),
            head: AnswerHead { id, model: request.model.clone(), created: clock::unix_seconds() },
            task,
            wants_usage: request.stream_options.is_some_and(|options| options.include_usage),
        })
    }

    async fn answer(&self) -> Result<ChatAnswer, ChatError> {
        self.host.wait(&self.head.id, NO_TIMEOUT).await;
        ChatAnswer::read(&self.host, &self.head.id, self.task.as_ref()).await
    }

    async fn whole(self) -> Result<Json<Value>, ChatError> {
        Ok(Json(self.answer().await?.completion(&self.head)))
    }

    /// Sends what is said as reasoning and then the verdict. `None` if the client hung up.
    async fn stream(self, sender: EventSender) -> Option<()> {
        send_json(&sender, &self.head.chunk(json!({"role": "assistant", "content": ""}))).await?;
        tokio::select! {
            told = self.tell_turns(&sender) => told?,
            () = sender.hung_up() => return None,
        }
        match self.answer().await {
            Ok(answer) => {
                for chunk in answer.last_chunks(&self.head, self.wants_usage) {
                    send_json(&sender, &chunk).await?;
                }
            }
            Err(error) => send_json(&sender, &error.document()).await?,
        }
        sender.send(data_frame("[DONE]")).await
    }

    /// Sends each reply as it is recorded, until the debate is over or stopped.
    async fn tell_turns(&self, sender: &EventSender) -> Option<()> {
        let id = &self.head.id;
        if self.task.is_some() {
            self.host.wait(id, NO_TIMEOUT).await;
            return Some(());
        }
        let Ok(follower) = self.host.follow(id, 0).await else { return Some(()) };
        let mut narration = Narration::new(follower, self.protocol);
        tokio::select! {
            told = narration.send_all(&self.head, sender) => return told,
            _ = self.host.wait(id, NO_TIMEOUT) => {}
        }
        // A debate that was stopped gets no more records. One that is over has its last ones in the store.
        match self.host.read_debate(id).await {
            Ok(debate) if debate.outcome.is_some() => narration.send_all(&self.head, sender).await,
            _ => Some(()),
        }
    }
}

/// The log of a debate as paragraphs for a reader.
struct Narration {
    follower: LogFollower,
    narrator: DebateNarrator,
    previous: String,
    /// Lines that are read and not sent yet, so that nothing is lost when sending is interrupted.
    unsent: std::collections::VecDeque<LogLine>,
}

impl Narration {
    fn new(follower: LogFollower, protocol: &'static dyn Protocol) -> Self {
        let narrator = DebateNarrator::new(protocol);
        Self { follower, narrator, previous: GENESIS.to_owned(), unsent: std::collections::VecDeque::new() }
    }

    /// Sends everything until the log is over. `None` if the client hung up.
    async fn send_all(&mut self, head: &AnswerHead, sender: &EventSender) -> Option<()> {
        loop {
            while let Some(line) = self.unsent.pop_front() {
                if let Some(words) = self.words(&line) {
                    send_json(sender, &head.chunk(json!({"reasoning_content": words}))).await?;
                }
            }
            match self.follower.next_lines().await {
                Ok(Some(lines)) => self.unsent.extend(lines),
                // The end of the debate says what is wrong with it.
                Ok(None) | Err(_) => return Some(()),
            }
        }
    }

    fn words(&mut self, line: &LogLine) -> Option<String> {
        let (body, hash) = split_log_line(line.text())?;
        let record = LogRecord::open(line.seq, body, hash, &self.previous).ok()?;
        self.previous.clone_from(&record.hash);
        self.narrator.tell(&record)
    }
}

async fn send_json(sender: &EventSender, chunk: &Value) -> Option<()> {
    sender.send(data_frame(&chunk.to_string())).await
}
