//! What can be done with a debate, as the verbs do it.

use agon_core::event::GENESIS;
use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::debates::{listed_state, opened};
use super::json_limits::check_values;
use super::{ApiPath, ApiQuery, JsonBody};
use crate::cli::app::DebateHandle;
use crate::cli::input::check_question;
use crate::cli::verbs;
use crate::hosting::blocking;
use crate::hosting::host_error::HostError;
use crate::serve::ServerState;
use crate::serve::problem::Problem;

/// How to stop.
#[derive(Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StopRequest {
    /// End the rounds and let the debate close with what there is, instead of interrupting it.
    conclude: bool,
}

async fn state_of(state: &ServerState, id: &str) -> Result<Json<Value>, Problem> {
    Ok(Json(json!({"id": id, "state": listed_state(&state.host, id).await?})))
}

/// Stops a debate in order. It can be resumed. With `conclude`, it closes with what there is.
#[utoipa::path(
    post, path = "/debates/{id}/stop", tag = "actions", params(("id" = String, Path, description = "The debate")),
    request_body = Option<StopRequest>,
    responses(
        (status = 200, description = "`{id, state}`", body = Value),
        (status = 404, description = "There is no such debate", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "It does not run here", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn stop_debate(
    State(state): State<ServerState>,
    ApiPath(id): ApiPath<String>,
    JsonBody(request): JsonBody<StopRequest>,
) -> Result<Json<Value>, Problem> {
    let id = state.host.find(&id).await?;
    match request.conclude {
        true => state.host.conclude(&id).await?,
        false => state.host.stop(&id).await?,
    }
    state_of(&state, &id).await
}

/// Something that a person says.
#[derive(Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpokenText {
    text: Option<String>,
}

impl SpokenText {
    fn checked(self) -> Result<Option<String>, Problem> {
        let checked = self.text.map(|text| check_question(&text, "text")).transpose();
        Ok(checked.map_err(HostError::from)?)
    }
}

/// Continues a debate that was interrupted. `text` is said to all seats first.
#[utoipa::path(
    post, path = "/debates/{id}/resume", tag = "actions", params(("id" = String, Path, description = "The debate")),
    request_body = Option<SpokenText>,
    responses(
        (status = 200, description = "`{id, state}`", body = Value),
        (status = 404, description = "There is no such debate", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "It runs or is over", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn resume_debate(
    State(state): State<ServerState>,
    ApiPath(id): ApiPath<String>,
    JsonBody(spoken): JsonBody<SpokenText>,
) -> Result<Json<Value>, Problem> {
    let id = state.host.find(&id).await?;
    state.host.resume(&id, spoken.checked()?, state.host.rights()).await?;
    state_of(&state, &id).await
}

/// Says something to all seats of a running debate. They read it in the next phase.
#[utoipa::path(
    post, path = "/debates/{id}/interjections", tag = "actions", params(("id" = String, Path, description = "The debate")),
    request_body = SpokenText,
    responses(
        (status = 201, description = "`{id, state}`", body = Value),
        (status = 404, description = "There is no such debate", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "It does not run here", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn interject(
    State(state): State<ServerState>,
    ApiPath(id): ApiPath<String>,
    JsonBody(spoken): JsonBody<SpokenText>,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let id = state.host.find(&id).await?;
    let text =
        spoken.checked()?.ok_or_else(|| Problem::invalid("`text` is missing: what should be said?"))?;
    state.host.interject(&id, "you", &text).await?;
    Ok((StatusCode::CREATED, state_of(&state, &id).await?))
}

/// Where a branch begins.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BranchRequest {
    /// The last round to take over; 0 takes over only what came before round 1.
    at: u32,
    /// What is said to all seats before the branch goes on.
    #[serde(default)]
    say: Option<String>,
}

/// Opens a debate that takes over the first rounds of another.
#[utoipa::path(
    post, path = "/debates/{id}/branches", tag = "actions", params(("id" = String, Path, description = "The debate")),
    request_body = BranchRequest,
    responses(
        (status = 201, description = "`{id, state}` of the branch", body = Value),
        (status = 404, description = "There is no such debate", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "There is no such round", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn branch_debate(
    State(state): State<ServerState>,
    ApiPath(id): ApiPath<String>,
    JsonBody(request): JsonBody<BranchRequest>,
) -> Result<Response, Problem> {
    let id = state.host.find(&id).await?;
    let say = SpokenText { text: request.say }.checked()?;
    let branch = state.host.branch(&id, request.at, say, state.host.rights()).await?;
    opened(&state.host, &branch, None).await
}

/// How a debate turned out.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
pub struct ResolutionRequest {
    /// Whether the decision turned out to be right: true, false, "right" or "wrong".
    truth: Option<Value>,
    /// What turned out to be right: a position, the label or seat that held it, or "nobody".
    winner: Option<String>,
    /// How you know.
    note: Option<String>,
}

/// Records how a debate turned out.
#[utoipa::path(
    post, path = "/debates/{id}/resolution", tag = "actions", params(("id" = String, Path, description = "The debate")),
    request_body = ResolutionRequest,
    responses(
        (status = 200, description = "The resolution", body = Value),
        (status = 404, description = "There is no such debate", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "It cannot be resolved that way", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn resolve_debate(
    State(state): State<ServerState>,
    ApiPath(id): ApiPath<String>,
    JsonBody(request): JsonBody<ResolutionRequest>,
) -> Result<Json<Value>, Problem> {
    let id = state.host.find(&id).await?;
    if request.truth.is_some() && request.winner.is_some() {
        return Err(Problem::invalid(
            "name `truth` or `winner`, not both: the winner alone says whether the decision was right",
        ));
    }
    let truth = request.truth.map(|truth| match truth {
        Value::Bool(is_right) => Ok(is_right),
        Value::String(word) if matches!(word.as_str(), "right" | "true") => Ok(true),
        Value::String(word) if matches!(word.as_str(), "wrong" | "false") => Ok(false),
        _ => Err(Problem::invalid("`truth` must be true, false, \"right\" or \"wrong\"")),
    });
    let truth = truth.transpose()?;
    let handle = DebateHandle { store: state.host.store().clone(), id: id.clone() };
    let note = request.note.map(|note| check_question(&note, "note")).transpose();
    let note = note.map_err(HostError::from)?;
    let resolved =
        blocking(move || Ok(verbs::resolve::prepare_resolution(&handle, request.winner.as_deref(), truth)?));
    let document = resolved.await?.store(state.host.store(), note).await.map_err(HostError::from)?;
    Ok(Json(document))
}

#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub struct ExportQuery {
    /// `md`, `html`, `json`, `yaml`, `github`, `gitlab`, `sarif`, `junit`, `comment`, `otlp`: a trace, or `receipt`: a signed receipt with the log.
    pub format: Option<String>,
}

/// A debate as a file to keep or to pass on.
#[utoipa::path(
    get, path = "/debates/{id}/export", tag = "actions",
    params(("id" = String, Path, description = "The debate"), ExportQuery),
    responses(
        (status = 200, description = "The file", body = String),
        (status = 404, description = "There is no such debate", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "There is no such format", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn export_debate(
    State(state): State<ServerState>,
    ApiPath(id): ApiPath<String>,
    ApiQuery(query): ApiQuery<ExportQuery>,
) -> Result<Response, Problem> {
    let id = state.host.find(&id).await?;
    let format = query.format.unwrap_or_else(|| "md".into());
    let (kind, ending) = match format.as_str() {
        "md" | "comment" => ("text/markdown; charset=utf-8", "md"),
        "html" => ("text/html; charset=utf-8", "html"),
        "json" | "gitlab" | "sarif" => ("application/json", "json"),
        "otlp" => ("application/json", "otlp.json"),
        "receipt" => ("application/json", "receipt.json"),
        "yaml" => ("application/yaml", "yaml"),
        "github" => ("text/plain; charset=utf-8", "txt"),
        "junit" => ("application/xml", "xml"),
        other => {
            return Err(Problem::invalid(format!(
                "there is no format {other:?}: use md, html, json, yaml, github, gitlab, sarif, junit, comment, otlp or receipt"
            )));
        }
    };
    let handle = DebateHandle { store: state.host.store().clone(), id: id.clone() };
    let catalogue = state.host.catalogue().clone();
    let telemetry = state.host.configuration().telemetry.clone();
    let text = blocking(move || {
        Ok(match format.as_str() {
            "receipt" => crate::cli::receipts::issue_receipt(&handle, &catalogue, true)?,
            "otlp" => crate::cli::telemetry::trace_document(&handle.read()?.records, &telemetry)?,
            format => verbs::export::export_text(&handle, format)?,
        })
    })
    .await?;
    // An exported page carries its own style and policy, so it is only ever saved here, never shown.
    let name = format!("attachment; filename=\"{id}.{ending}\"");
    Ok(([(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, name)], text).into_response())
}

/// Checks a receipt, or an export as JSON.
///
/// The body is the file itself, or `{"receipt": FILE}`. The answer says whether it is signed by a known key and replays, only holds together, or was changed.
#[utoipa::path(
    post, path = "/verify", tag = "actions", request_body = Value,
    responses(
        (status = 200, description = "`{answer, ...}` as `agon verify --json` prints it", body = Value),
        (status = 413, description = "It has too many JSON values", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn verify_file(body: Bytes) -> Result<Json<Value>, Problem> {
    if body.trim_ascii().is_empty() {
        return Err(Problem::invalid(format!(
            "the body is empty: send a receipt or an export as JSON, whose chain begins with {GENESIS}"
        )));
    }
    check_values(&body)?;
    let file = wrapped_receipt(&body).unwrap_or_else(|| body.to_vec());
    // A text in JSON counts as one value there.
    check_values(&file)?;
    let document = blocking(move || Ok(verbs::verify::verify_bytes(&file, "body")?));
    Ok(Json(document.await?))
}

/// The file in `{"receipt": FILE}`, as an object or as text.
fn wrapped_receipt(body: &[u8]) -> Option<Vec<u8>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct WrappedReceipt {
        receipt: Value,
    }
    match serde_json::from_slice::<WrappedReceipt>(body).ok()?.receipt {
        Value::String(text) => Some(text.into_bytes()),
        object => serde_json::to_vec(&object).ok(),
    }
}
