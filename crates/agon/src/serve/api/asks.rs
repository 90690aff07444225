//! What waits for a person, and the answers.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};

use super::debates::listed_state;
use super::{ApiPath, JsonBody};
use crate::hosting::person_seats::WaitingAsk;
use crate::serve::ServerState;
use crate::serve::problem::Problem;

/// What waits for a person in a debate.
#[derive(serde::Serialize, utoipa::ToSchema)]
pub struct WaitingAsks {
    asks: Vec<WaitingAsk>,
}

/// Lists the asks of a debate that wait for a person, with their prompts and schemas.
#[utoipa::path(
    get, path = "/debates/{id}/asks", tag = "people", params(("id" = String, Path, description = "The debate")),
    responses(
        (status = 200, description = "The asks", body = WaitingAsks),
        (status = 404, description = "There is no such debate", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn list_asks(
    State(state): State<ServerState>,
    ApiPath(id): ApiPath<String>,
) -> Result<Json<WaitingAsks>, Problem> {
    let id = state.host.find(&id).await?;
    Ok(Json(WaitingAsks { asks: state.host.waiting_asks(&id) }))
}

/// A person's answer.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonsAnswer {
    /// A text where the ask has no schema, else an object that conforms to it. `null` passes: the seat is absent.
    value: Value,
}

/// Answers an ask that waits for a person. The answer is validated like any reply.
#[utoipa::path(
    post, path = "/debates/{id}/asks/{n}", tag = "people", request_body = PersonsAnswer,
    params(("id" = String, Path, description = "The debate"), ("n" = u32, Path, description = "The number of the ask")),
    responses(
        (status = 200, description = "The answer is taken: `{id, ask, state}`", body = Value),
        (status = 400, description = "The address or the body cannot be read", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "There is no such debate, or this ask does not wait", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "The answer is refused; `detail` says why", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn answer_ask(
    State(state): State<ServerState>,
    ApiPath((id, ask)): ApiPath<(String, u32)>,
    JsonBody(answer): JsonBody<PersonsAnswer>,
) -> Result<Json<Value>, Problem> {
    let id = state.host.find(&id).await?;
    let value = Some(answer.value).filter(|value| !value.is_null());
    state.host.answer(&id, ask, value).await?;
    Ok(Json(json!({"id": id, "ask": ask, "state": listed_state(&state.host, &id).await?})))
}
