//! The page: every screen is HTML that this server renders, and one small script swaps parts of it as events arrive. Without the script,
//! everything can still be read.
//!
//! - [`debate_list`] (`/`), [`new_debate`] (`/new`), [`reading`] and [`live`] (`/debates/ID`), [`comparison`] (`/compare`),
//!   [`ratings`] and [`knowledge`]: one file per screen.
//! - [`frame`]: what is around every screen, and the page of an error. [`assets`]: the style sheet, the script and the icon.
//! - [`answer_form`]: a form for any JSON Schema, where a person answers. [`demos`]: what to ask for to see a demo.
//!
//! All text of debates is hostile. It is escaped here, and the script sets it as text only.

pub mod answer_form;
pub mod assets;
pub mod comparison;
pub mod debate_list;
pub mod demos;
pub mod frame;
pub mod knowledge;
pub mod live;
pub mod new_debate;
pub mod ratings;
pub mod reading;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, Method, header};
use axum::response::Response;
use axum::routing::get;

use super::ServerState;
use super::api::ApiPath;
use super::problem::Problem;
use crate::hosting::DebateState;

/// The routes of the page.
pub fn page_router() -> Router<ServerState> {
    Router::new()
        .route("/", get(debate_list::list_screen))
        .route("/new", get(new_debate::new_screen))
        .route("/debates/{id}", get(debate_screen))
        .route("/debates/{id}/live", get(live::live_parts))
        .route("/compare", get(comparison::compare_screen))
        .route("/ratings", get(ratings::ratings_screen))
        .route("/knowledge", get(knowledge::knowledge_screen))
        .route(&format!("{}{{name}}", assets::ASSETS_PATH), get(assets::asset))
}

/// A debate: the live screen while it is not over, then the reading screen.
async fn debate_screen(
    State(state): State<ServerState>,
    ApiPath(id): ApiPath<String>,
) -> Result<Response, Problem> {
    let id = state.host.find(&id).await?;
    let wanted = id.clone();
    let listed = state.host.read_store(move |store| store.listed_debate(&wanted)).await?;
    match state.host.state(&listed) {
        DebateState::Complete | DebateState::Incomplete | DebateState::Failed => {
            reading::reading_screen(&state, &id).await
        }
        now => live::live_screen(&state, &id, now).await,
    }
}

/// Whether a request comes from a browser that wants to show something, so that an error should be a page, too.
pub fn wants_page(method: &Method, path: &str, headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let for_programs = ["/api/", "/v1/", "/mcp", "/openapi.json", "/healthz", "/readyz"];
    *method == Method::GET
        && accepted.contains("text/html")
        && !for_programs.iter().any(|start| path.starts_with(start))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_browser_gets_errors_as_pages_and_a_program_does_not() {
        let accepts = |accept: &'static str| {
            [(header::ACCEPT, HeaderValue::from_static(accept))].into_iter().collect::<HeaderMap>()
        };
        let browser = accepts("text/html,application/xhtml+xml,*/*;q=0.8");
        assert!(wants_page(&Method::GET, "/debates/x", &browser));
        assert!(!wants_page(&Method::POST, "/debates/x", &browser));
        assert!(!wants_page(&Method::GET, "/api/v1/debates/x", &browser));
        assert!(!wants_page(&Method::GET, "/debates/x", &accepts("application/json")));
        assert!(!wants_page(&Method::GET, "/debates/x", &HeaderMap::new()));
    }
}
