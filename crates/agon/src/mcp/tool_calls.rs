//! What each tool does.

use std::time::Duration;

use agon_core::event::sha256;
use agon_host::clean_text;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, ErrorData,
    InputRequiredResult,
};
use rmcp::service::RequestContext;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::McpServer;
use super::debate_resources::RESOURCE_BYTES_MAX;
use super::debate_result::{DebateResult, debate_result, debate_uri};
use super::debate_waiting::WaitUntil;
use super::elicitation::{is_modern, shows_forms};
use super::shown_parts::shown_part;
use super::token_limits::{bytes_for_tokens, cut_text};
use super::tool_table::{
    SHOWN_TOKENS_DEFAULT, WAIT_S_DEFAULT, WAIT_S_MAX, WAIT_S_SILENT_MAX, diff_judge, names,
};
use crate::cli::input::DIFF_PART;
use crate::cli::seat_models;
use crate::cli::verbs::models::listing_document;
use crate::hosting::debate_request::{DebateRequest, RequestFile};
use crate::hosting::host_error::{HostError, HostErrorKind};
use crate::hosting::person_seats::CALLER;
use crate::hosting::{DebateState, blocking};

/// The file option of a specification.
const SPEC_PART: &str = "spec";
/// How often one call may come back with forms. Clients give up after ten times.
const FORM_ROUNDS_MAX: u32 = 8;
/// How long an answer waits for its ask, after a debate was continued for it.
const ASK_PATIENCE: Duration = Duration::from_secs(10);
const ASK_LOOK_EVERY: Duration = Duration::from_millis(50);
const HITS_MAX: usize = 8;
const HIT_TEXT_BYTES: usize = 200;
const MODELS_LISTED: usize = 40;
const ERROR_BYTES: usize = 2_000;

/// Arguments of `debate`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DebateArguments {
    question: String,
    protocol: Option<String>,
    #[serde(default)]
    models: Vec<String>,
    #[serde(default)]
    files: Vec<RequestFile>,
    budget_usd: Option<f64>,
    wait_s: Option<u64>,
}

/// Arguments of the tool that judges.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JudgeArguments {
    diff: Option<String>,
    #[serde(default)]
    files: Vec<RequestFile>,
    spec: Option<String>,
    wait_s: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WaitArguments {
    id: String,
    wait_s: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerArguments {
    id: String,
    ask: u32,
    value: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StopArguments {
    id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShowArguments {
    id: String,
    part: Option<String>,
    max_tokens: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchArguments {
    query: String,
}

/// What a tool wants to say.
enum ToolReply {
    /// How a debate stands, after a wait.
    Wait(DebateWait),
    Done(CallToolResult),
}

/// A debate to wait for.
struct DebateWait {
    id: String,
    wait: Duration,
    /// Whether the call opened it, so that it can be a task.
    is_new: bool,
    /// Whether the wait goes on while only people are asked.
    outlasts_people: bool,
    form_rounds: u32,
}

impl McpServer {
    /// Calls a tool. What goes wrong in it is told to the agent as its result.
    pub(super) async fn call(
        &self,
        params: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let reply = match params.request_state.clone() {
            Some(state) => self.continue_call(&state, params).await,
            None => match self.start_call(params, context).await {
                Some(reply) => reply,
                None => return Err(ErrorData::invalid_params("there is no such tool: see tools/list", None)),
            },
        };
        let response = match reply {
            Ok(ToolReply::Wait(wait)) => self.wait_and_tell(wait, context).await,
            Ok(ToolReply::Done(result)) => Ok(result.into()),
            Err(error) => Err(error),
        };
        Ok(response
            .unwrap_or_else(|error| CallToolResult::error(vec![ContentBlock::text(short(&error))]).into()))
    }

    /// Does what a tool does. `None` if there is no such tool.
    async fn start_call(
        &self,
        params: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<ToolReply, HostError>> {
        let arguments = Value::Object(params.arguments.unwrap_or_default());
        Some(match params.name.as_ref() {
            names::DEBATE => self.start_debate(arguments).await,
            name if diff_judge().is_some_and(|info| info.name == name) => self.start_judging(arguments).await,
            names::WAIT => self.wait_again(arguments).await,
            names::ANSWER => self.answer(arguments).await,
            names::STOP => self.stop(arguments).await,
            names::SHOW => self.show(arguments, context).await,
            names::SEARCH => self.search(arguments).await,
            names::MODELS => self.list_models().await,
            _ => return None,
        })
    }

    /// Goes on with a call that returned forms. The state is the debate's id, which anybody may name, and how often this happened.
    async fn continue_call(
        &self,
        state: &str,
        params: CallToolRequestParams,
    ) -> Result<ToolReply, HostError> {
        let (id, rounds) = state.split_once(' ').unwrap_or((state, ""));
        let id = self.host().find(id).await?;
        self.take_form_answers(&id, params.input_responses.unwrap_or_default()).await;
        let wait_s = params.arguments.as_ref().and_then(|arguments| arguments.get("wait_s")?.as_u64());
        let form_rounds = rounds.parse().unwrap_or(FORM_ROUNDS_MAX);
        let is_new = params.name == names::DEBATE;
        Ok(ToolReply::Wait(DebateWait { form_rounds, is_new, ..DebateWait::new(id, wait_s) }))
    }

    async fn start_debate(&self, arguments: Value) -> Result<ToolReply, HostError> {
        let hash = sha256(&arguments.to_string());
        let DebateArguments { question, protocol, models, files, budget_usd, wait_s } = parsed(arguments)?;
        let limits = json!({"budget_usd": budget_usd});
        let limits = if budget_usd.is_some() { limits } else { json!({}) };
        let limits =
            serde_json::from_value(limits).map_err(|why| HostError::invalid(format!("budget_usd: {why}")))?;
        let request = DebateRequest {
            protocol,
            question: Some(question),
            models,
            files,
            limits,
            ..DebateRequest::default()
        };
        self.open(request, hash, wait_s).await
    }

    async fn start_judging(&self, arguments: Value) -> Result<ToolReply, HostError> {
        let hash = sha256(&arguments.to_string());
        let JudgeArguments { diff, mut files, spec, wait_s } = parsed(arguments)?;
        if diff.is_none() && files.is_empty() {
            return Err(HostError::invalid("there is nothing to judge: send a `diff` or `files`"));
        }
        let part = |part: &str, text: String| RequestFile {
            path: part.to_owned(),
            text,
            part: Some(part.to_owned()),
        };
        files.extend(diff.map(|text| part(DIFF_PART, text)));
        files.extend(spec.map(|text| part(SPEC_PART, text)));
        let protocol = diff_judge().map(|info| info.name.to_owned());
        self.open(DebateRequest { protocol, files, ..DebateRequest::default() }, hash, wait_s).await
    }

    async fn open(
        &self,
        request: DebateRequest,
        hash: String,
        wait_s: Option<u64>,
    ) -> Result<ToolReply, HostError> {
        let prepared = self.host().prepare_with(request, self.rights().clone()).await?;
        let id = self.host().open(prepared, None, hash).await?;
        Ok(ToolReply::Wait(DebateWait { is_new: true, ..DebateWait::new(id, wait_s) }))
    }

    async fn wait_again(&self, arguments: Value) -> Result<ToolReply, HostError> {
        let WaitArguments { id, wait_s } = parsed(arguments)?;
        let id = self.host().find(&id).await?;
        self.continue_debate(&id).await?;
        Ok(ToolReply::Wait(DebateWait { outlasts_people: true, ..DebateWait::new(id, wait_s) }))
    }

    /// Continues a debate that nobody runs.
    async fn continue_debate(&self, id: &str) -> Result<(), HostError> {
        if self.host().runs_here(id) || self.host().state_of(id).await? != DebateState::Interrupted {
            return Ok(());
        }
        match self.host().resume(id, None, self.rights()).await {
            // Somebody was faster.
            Err(HostError { kind: HostErrorKind::Conflict | HostErrorKind::Elsewhere, .. }) => Ok(()),
            resumed => resumed,
        }
    }

    async fn answer(&self, arguments: Value) -> Result<ToolReply, HostError> {
        let AnswerArguments { id, ask, value } = parsed(arguments)?;
        let id = self.host().find(&id).await?;
        self.continue_debate(&id).await?;
        self.await_ask(&id, ask).await;
        self.host().answer(&id, ask, Some(value).filter(|value| !value.is_null())).await?;
        Ok(ToolReply::Wait(DebateWait::new(id, None)))
    }

    /// Waits until a debate that was just continued asks again what it had asked.
    async fn await_ask(&self, id: &str, ask: u32) {
        let host = self.host();
        let is_there = || host.waiting_asks(id).iter().any(|waiting| waiting.ask == ask);
        let looking = async {
            while !is_there() && host.runs_here(id) {
                let debate = host.debate_so_far(id).await;
                if !debate.is_ok_and(|debate| debate.outstanding().any(|asked| asked.id == ask)) {
                    return;
                }
                tokio::time::sleep(ASK_LOOK_EVERY).await;
            }
        };
        // If it does not come, the answer is refused with the reason.
        drop(tokio::time::timeout(ASK_PATIENCE, looking).await);
    }

    async fn stop(&self, arguments: Value) -> Result<ToolReply, HostError> {
        let StopArguments { id } = parsed(arguments)?;
        let id = self.host().find(&id).await?;
        match self.host().state_of(&id).await? {
            DebateState::Running | DebateState::Waiting => self.host().stop(&id).await?,
            _ => {}
        }
        let result = debate_result(self.host(), &id).await?;
        Ok(ToolReply::Done(debate_call_result(&result)))
    }

    async fn show(
        &self,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<ToolReply, HostError> {
        let _place = self.place_for_answer(context).await;
        let ShowArguments { id, part, max_tokens } = parsed(arguments)?;
        let id = self.host().find(&id).await?;
        let text = shown_part(self.host(), &id, part.as_deref().unwrap_or("report")).await?;
        let room = bytes_for_tokens(max_tokens.unwrap_or(SHOWN_TOKENS_DEFAULT)).min(RESOURCE_BYTES_MAX);
        let text = cut_text(&text, room, "raise max_tokens, or ask for a part");
        Ok(ToolReply::Done(CallToolResult::success(vec![ContentBlock::text(text)])))
    }

    async fn search(&self, arguments: Value) -> Result<ToolReply, HostError> {
        let SearchArguments { query } = parsed(arguments)?;
        if !query.chars().any(char::is_alphanumeric) {
            return Err(HostError::invalid("there is no word to search for: name one or more"));
        }
        let host = self.host().clone();
        let found = self.host().read_store(move |store| {
            let hits = store.search_debates(&query, HITS_MAX)?;
            let found = hits.into_iter().map(|hit| {
                let state = store.listed_debate(&hit.id).map(|listed| host.state(&listed));
                (hit, state.unwrap_or(DebateState::Interrupted))
            });
            Ok(found.collect::<Vec<_>>())
        });
        let cut =
            |text: &str| cut_text(&clean_text(text).replace('\n', " "), HIT_TEXT_BYTES, "see debate_show");
        let hits = found.await?.into_iter().map(|(hit, state)| {
            json!({
                "id": hit.id, "question": cut(&hit.question), "protocol": hit.protocol, "state": state,
                "said": cut(&hit.snippet), "uri": debate_uri(&hit.id),
            })
        });
        let hits: Vec<Value> = hits.collect();
        Ok(ToolReply::Done(structured(json!({"debates": hits}))))
    }

    async fn list_models(&self) -> Result<ToolReply, HostError> {
        let host = self.host().clone();
        let has_seat = self.rights().caller_seat;
        let document = blocking(move || {
            let (configuration, catalogue) = (host.configuration(), host.catalogue());
            let default = match configuration.models.as_slice() {
                [] => seat_models::default_models(catalogue).unwrap_or_default(),
                models => models.to_vec(),
            };
            Ok(short_listing(listing_document(configuration, catalogue), default, has_seat))
        });
        Ok(ToolReply::Done(structured(document.await?)))
    }

    /// Waits for a debate and says how it stands.
    async fn wait_and_tell(
        &self,
        asked: DebateWait,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, HostError> {
        let id = &asked.id;
        let returns_forms = shows_forms(context) && is_modern(context);
        let until = match shows_forms(context) {
            true if returns_forms => WaitUntil::AnyoneAsked,
            false if !asked.outlasts_people => WaitUntil::AnyoneAsked,
            _ => WaitUntil::CallerAsked,
        };
        let wait = allowed_wait(asked.wait, context.meta.get_progress_token().is_some());
        self.wait_for_debate(id, wait, until, context).await?;
        let forms = self.form_requests(id);
        if returns_forms && !forms.is_empty() && asked.form_rounds < FORM_ROUNDS_MAX {
            let state = format!("{id} {}", asked.form_rounds + 1);
            return Ok(InputRequiredResult::new(Some(forms), Some(state)).into());
        }
        let result = debate_result(self.host(), id).await?;
        match asked.is_new && !result.state.is_over() && self.is_task_for(id, context).await? {
            true => Ok(self.new_task(id).await?.into()),
            false => Ok(debate_call_result(&result).into()),
        }
    }

    /// Whether the client wants to follow this debate as a task. Older clients that declare tasks mean those of an older revision.
    async fn is_task_for(&self, id: &str, context: &RequestContext<RoleServer>) -> Result<bool, HostError> {
        let takes_tasks = context.client_capabilities().is_some_and(|client| client.supports_tasks());
        if !takes_tasks || !is_modern(context) {
            return Ok(false);
        }
        // An agent that waits for a task could not answer the asks of its own seat.
        let debate = self.host().debate_so_far(id).await?;
        Ok(!debate.brief.seats.iter().any(|seat| seat.model == CALLER))
    }
}

impl DebateWait {
    fn new(id: String, wait_s: Option<u64>) -> Self {
        let wait = Duration::from_secs(wait_s.unwrap_or(WAIT_S_DEFAULT).min(WAIT_S_MAX));
        Self { id, wait, is_new: false, outlasts_people: false, form_rounds: 0 }
    }
}

/// How long a call waits. Clients give up on a call of which they hear nothing for a minute.
fn allowed_wait(asked: Duration, has_progress: bool) -> Duration {
    if has_progress { asked } else { asked.min(Duration::from_secs(WAIT_S_SILENT_MAX)) }
}

fn parsed<T: DeserializeOwned>(arguments: Value) -> Result<T, HostError> {
    serde_json::from_value(arguments)
        .map_err(|why| HostError::invalid(format!("the arguments cannot be read: {why}")))
}

/// A result in both forms.
pub fn debate_call_result(result: &DebateResult) -> CallToolResult {
    let mut call = CallToolResult::success(vec![ContentBlock::text(result.text())]);
    call.structured_content = Some(result.document());
    call
}

fn structured(document: Value) -> CallToolResult {
    let mut call = CallToolResult::success(vec![ContentBlock::text(document.to_string())]);
    call.structured_content = Some(document);
    call
}

/// An error as JSON-RPC has it.
pub fn protocol_error(error: HostError) -> ErrorData {
    match error.kind {
        HostErrorKind::NotFound => ErrorData::new(ErrorCode::RESOURCE_NOT_FOUND, short(&error), None),
        HostErrorKind::Failed => ErrorData::internal_error(short(&error), None),
        _ => ErrorData::invalid_params(short(&error), None),
    }
}

/// The sentence of an error. It may repeat what was sent, which may be long.
fn short(error: &HostError) -> String {
    cut_text(&error.sentence, ERROR_BYTES, "what was sent is too long to be repeated here")
}

/// The models that can be called now, in few words.
fn short_listing(listing: Value, default: Vec<String>, has_caller_seat: bool) -> Value {
    let list = |key: &str| listing.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let text =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (ready, others): (Vec<Value>, Vec<Value>) = list("providers")
        .into_iter()
        .partition(|provider| provider.get("ready").and_then(Value::as_bool).unwrap_or_default());
    let priced = ready.iter().filter_map(|provider| provider.get("priced")?.as_array()).flatten();
    let price = |model: &Value| {
        let field = |key: &str| model.get(key).cloned().unwrap_or_default();
        json!({"model": field("model"), "input": field("input"), "output": field("output")})
    };
    let agents = list("agents");
    json!({
        "default": default,
        "any_model_of": ready.iter().map(|provider| text(provider, "provider")).collect::<Vec<_>>(),
        "with_price": priced.take(MODELS_LISTED).map(price).collect::<Vec<_>>(),
        "agents": agents.iter().map(|agent| text(agent, "agent")).collect::<Vec<_>>(),
        "people": match has_caller_seat {
            true => vec![CALLER, "human/NAME"],
            false => vec!["human/NAME"],
        },
        "scripts": list("scripts"),
        "not_ready": others.iter().map(|provider| text(provider, "provider")).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "Clients cut off at 60 s": only progress keeps them waiting.
    #[test]
    fn a_call_without_progress_returns_within_a_minute() {
        let allowed =
            |seconds, has_progress| allowed_wait(Duration::from_secs(seconds), has_progress).as_secs();
        assert_eq!((allowed(120, false), allowed(120, true)), (WAIT_S_SILENT_MAX, 120));
        assert_eq!((allowed(5, false), allowed(5, true)), (5, 5));
    }
}
