//! What the server has: protocols, models, ratings and knowledge; estimates, and comparisons of debates.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};

use super::debates::DebateToOpen;
use super::{ApiQuery, JsonBody};
use crate::cli::verbs;
use crate::cli::{dry_run, knowledge_index};
use crate::hosting::debate_request::DebateRequest;
use crate::hosting::host_error::HostError;
use crate::hosting::{PreparedDebate, blocking};
use crate::serve::ServerState;
use crate::serve::compare::compare;
use crate::serve::problem::Problem;

const DEFAULT_ENTRIES: usize = 50;
const ENTRIES_MAX: usize = 500;
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CompareQuery {
    /// A debate.
    pub a: String,
    /// Another, or a branch of it.
    pub b: String,
}

/// Two debates side by side, round by round.
#[utoipa::path(
    get, path = "/compare", tag = "debates", params(CompareQuery),
    responses(
        (status = 200, description = "`{a, b, rounds, differences}`", body = Value),
        (status = 400, description = "The address cannot be read", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "There is no such debate", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "A name fits more than one debate", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn compare_debates(
    State(state): State<ServerState>,
    ApiQuery(query): ApiQuery<CompareQuery>,
) -> Result<Json<Value>, Problem> {
    let (a, b) = (state.host.find(&query.a).await?, state.host.find(&query.b).await?);
    let (a, b) = (state.host.read_debate(&a).await?, state.host.read_debate(&b).await?);
    let document = blocking(move || Ok(serde_json::to_value(compare(&a, &b)?).unwrap_or_default()));
    Ok(Json(document.await?))
}

/// The kinds of debate, with their options as JSON Schema.
#[utoipa::path(
    get, path = "/protocols", tag = "setup",
    responses((status = 200, description = "`{protocols: [{name, about, subject, roles, options, demo}]}`", body = Value))
)]
pub async fn list_protocols() -> Json<Value> {
    let infos = agon_protocols::all().map(|protocol| protocol.info());
    Json(json!({"protocols": infos.map(verbs::protocols::schema_document).collect::<Vec<_>>()}))
}

#[derive(Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub struct ModelsQuery {
    /// Ask every provider for its list of models, which takes up to three seconds.
    pub probe: bool,
}

/// The models that can be named.
#[utoipa::path(
    get, path = "/models", tag = "setup", params(ModelsQuery),
    responses(
        (status = 200, description = "As `agon models --json` prints them; with `probe`, which providers answer and what they have", body = Value),
        (status = 400, description = "The address cannot be read", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn list_models(
    State(state): State<ServerState>,
    ApiQuery(query): ApiQuery<ModelsQuery>,
) -> Result<Json<Value>, Problem> {
    let host = state.host.clone();
    let mut document =
        blocking(move || Ok(verbs::models::listing_document(host.configuration(), host.catalogue()))).await?;
    if query.probe {
        let probes = state.host.catalogue().probe(PROBE_TIMEOUT).await;
        let probe = |probe: &agon_models::ProviderProbe| {
            json!({
                "provider": probe.name, "reachable": probe.reachable, "key_accepted": probe.key_accepted,
                "models": probe.models,
            })
        };
        if let Value::Object(fields) = &mut document {
            fields.insert("probed".into(), probes.iter().map(probe).collect());
        }
    }
    Ok(Json(document))
}

/// How agents are rated.
#[utoipa::path(
    get, path = "/ratings", tag = "setup",
    responses((status = 200, description = "`{ratings: [..]}`, each as `agon ratings --json` prints it", body = Value))
)]
pub async fn list_ratings(State(state): State<ServerState>) -> Result<Json<Value>, Problem> {
    let ratings = state.host.read_store(|store| store.ratings()).await?;
    let ratings: Vec<Value> = ratings.iter().map(verbs::ratings::rating_document).collect();
    Ok(Json(json!({"ratings": ratings})))
}

#[derive(Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub struct KnowledgeQuery {
    /// What to look for, by words and by meaning; without it, the newest entries.
    pub q: Option<String>,
    /// The most entries, up to 500.
    pub limit: Option<usize>,
}

/// What debates decided, and what people added.
#[utoipa::path(
    get, path = "/knowledge", tag = "setup", params(KnowledgeQuery),
    responses(
        (status = 200, description = "`{entries: [..]}`, each as `agon knowledge --json` prints it", body = Value),
        (status = 400, description = "The address cannot be read", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn list_knowledge(
    State(state): State<ServerState>,
    ApiQuery(query): ApiQuery<KnowledgeQuery>,
) -> Result<Json<Value>, Problem> {
    Ok(Json(json!({"entries": knowledge_entries(&state, query).await?})))
}

/// The entries that a query asks for, as JSON objects.
pub async fn knowledge_entries(state: &ServerState, query: KnowledgeQuery) -> Result<Vec<Value>, Problem> {
    let limit = query.limit.unwrap_or(DEFAULT_ENTRIES).clamp(1, ENTRIES_MAX);
    let words = query.q.filter(|words| words.chars().any(char::is_alphanumeric));
    Ok(match words {
        None => {
            let entries = state.host.read_store(move |store| store.knowledge_list(limit)).await?;
            entries.iter().map(|entry| json!(entry)).collect()
        }
        Some(words) => {
            let (catalogue, store) = (state.host.catalogue(), state.host.store());
            let hits = knowledge_index::search(catalogue, store, &words, limit).await;
            hits.map_err(HostError::from)?.0.iter().map(|hit| json!(hit)).collect()
        }
    })
}

/// What a debate would take. Nothing is asked and nothing is stored.
#[utoipa::path(
    post, path = "/estimates", tag = "debates", request_body = DebateToOpen,
    responses(
        (status = 200, description = "Seats, calls, tokens and price, as `--dry-run --json` prints them", body = Value),
        (status = 422, description = "The request cannot be carried out", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn estimate(
    State(state): State<ServerState>,
    JsonBody(request): JsonBody<DebateRequest>,
) -> Result<Json<Value>, Problem> {
    let seed = request.seed;
    let PreparedDebate { protocol, brief } = state.host.prepare(request).await?;
    let host = state.host.clone();
    let document =
        blocking(move || Ok(dry_run::estimate_document(protocol, brief, seed, host.models())?)).await?;
    Ok(Json(document))
}

/// A new link with which one browser can log in.
#[utoipa::path(
    post, path = "/links", tag = "setup",
    responses((status = 201, description = "`{path}`: open it once, within this server's life", body = Value))
)]
pub async fn new_link(
    State(state): State<ServerState>,
) -> Result<(axum::http::StatusCode, Json<Value>), Problem> {
    let path = state.access.new_link().map_err(HostError::from)?;
    Ok((axum::http::StatusCode::CREATED, Json(json!({"path": path}))))
}
