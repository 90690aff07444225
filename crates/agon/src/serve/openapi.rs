//! The description of the API, made from its handlers.

use axum::Router;
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as OpenApiDocument;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::ServerState;
use super::api::{actions, asks, debates, listings};
use super::chat;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Agon",
        description = "Structured debate between language models. Errors are RFC 9457 problem documents whose `detail` says what to do."
    ),
    components(schemas(super::problem::Problem))
)]
struct ApiDescription;

/// The routes under `/api/v1` and `/v1`, and their description.
pub fn api_router() -> (Router<ServerState>, OpenApiDocument) {
    let api = OpenApiRouter::new()
        .routes(routes!(debates::open_debate, debates::list_debates))
        .routes(routes!(debates::show_debate))
        .routes(routes!(debates::debate_events))
        .routes(routes!(debates::all_events))
        .routes(routes!(asks::list_asks))
        .routes(routes!(asks::answer_ask))
        .routes(routes!(actions::stop_debate))
        .routes(routes!(actions::resume_debate))
        .routes(routes!(actions::interject))
        .routes(routes!(actions::branch_debate))
        .routes(routes!(actions::resolve_debate))
        .routes(routes!(actions::export_debate))
        .routes(routes!(actions::verify_file))
        .routes(routes!(listings::compare_debates))
        .routes(routes!(listings::list_protocols))
        .routes(routes!(listings::list_models))
        .routes(routes!(listings::list_ratings))
        .routes(routes!(listings::list_knowledge))
        .routes(routes!(listings::estimate))
        .routes(routes!(listings::new_link));
    let chat =
        OpenApiRouter::new().routes(routes!(chat::list_chat_models)).routes(routes!(chat::complete_chat));
    OpenApiRouter::with_openapi(ApiDescription::openapi())
        .nest("/api/v1", api)
        .nest(chat::CHAT_PREFIX, chat)
        .split_for_parts()
}
