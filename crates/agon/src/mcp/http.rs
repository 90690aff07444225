//! `/mcp` of `agon serve`: the same server over streamable HTTP.
//!
//! The guard of `agon serve` checks Host, Origin, content type and token of every request before it comes here. It knows the names of
//! the server, so the checks of the transport are off.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::middleware::{self, Next};
use axum::response::Response;
use futures_util::StreamExt;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::McpServer;

/// Where `agon serve` has it.
pub const MCP_PATH: &str = "/mcp";
/// How long a session may be silent. An agent may think and work between two calls.
const SESSION_SILENCE_MAX: Duration = Duration::from_secs(3_600);
/// Each session keeps memory, whether or not its client is still there, so a new one ends the oldest when there are more.
const SESSIONS_MAX: usize = 256;
/// How long an answer is kept for a client whose connection broke. Each keeps memory.
const ANSWER_KEPT: Duration = Duration::from_secs(5);
const SESSION_HEADER: &str = "mcp-session-id";

/// The service behind [`MCP_PATH`]. It ends with the server.
pub fn mcp_router<S: Clone + Send + Sync + 'static>(
    server: McpServer,
    body_bytes_max: usize,
    mut ending: watch::Receiver<bool>,
) -> Router<S> {
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(body_bytes_max);
    let ended = config.cancellation_token.clone();
    tokio::spawn(async move {
        // Without a sender the server is gone, too.
        drop(ending.wait_for(|ends| *ends).await);
        ended.cancel();
    });
    let mut manager = LocalSessionManager::default();
    manager.session_config.keep_alive = Some(SESSION_SILENCE_MAX);
    manager.session_config.completed_cache_ttl = ANSWER_KEPT;
    let sessions = OpenSessions { manager: Arc::new(manager), oldest_first: Arc::default() };
    let service =
        StreamableHttpService::new(move || Ok(server.for_new_session()), sessions.manager.clone(), config);
    let router = Router::new().route_service(MCP_PATH, service);
    router.layer(middleware::from_fn_with_state(sessions, limit_sessions))
}

/// The place of a large answer. Whoever makes the answer puts it in, and it is free again when the answer is sent, or its client is gone.
#[derive(Clone, Default)]
pub(super) struct AnswerPlace(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl AnswerPlace {
    /// The one of a request that came over HTTP.
    pub(super) fn of_request(context: &RequestContext<RoleServer>) -> Option<&Self> {
        context.extensions.get::<Parts>()?.extensions.get()
    }

    pub(super) fn keep(&self, place: OwnedSemaphorePermit) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(place);
    }

    /// A body that keeps the place as long as it is there.
    fn kept_with(self, body: Body) -> Body {
        Body::from_stream(body.into_data_stream().inspect(move |_| {
            let Self(_place) = &self;
        }))
    }
}

/// The sessions of all clients.
#[derive(Clone)]
struct OpenSessions {
    manager: Arc<LocalSessionManager>,
    oldest_first: Arc<Mutex<VecDeque<String>>>,
}

/// Ends the oldest session when a new one is too many. Its debates go on, and its client opens another.
async fn limit_sessions(State(sessions): State<OpenSessions>, mut request: Request, next: Next) -> Response {
    let is_first = !request.headers().contains_key(SESSION_HEADER);
    let place = AnswerPlace::default();
    request.extensions_mut().insert(place.clone());
    let response = next.run(request).await.map(|body| place.kept_with(body));
    let opened = response.headers().get(SESSION_HEADER).and_then(|id| id.to_str().ok());
    if let Some(opened) = opened.filter(|_| is_first) {
        let oldest = {
            let mut open = sessions.oldest_first.lock().unwrap_or_else(PoisonError::into_inner);
            open.push_back(opened.to_owned());
            if open.len() > SESSIONS_MAX { open.pop_front() } else { None }
        };
        if let Some(oldest) = oldest {
            // It may have ended by itself.
            drop(sessions.manager.close_session(&oldest.into()).await);
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use tokio::sync::Semaphore;

    use super::*;

    /// An answer that its client does not read keeps its place, whichever of the two comes first.
    #[tokio::test]
    async fn a_place_is_free_again_when_the_answer_is_sent_or_its_client_gone() {
        let places = Arc::new(Semaphore::new(1));
        let take = || places.clone().try_acquire_owned();
        let place = AnswerPlace::default();
        place.keep(take().unwrap());
        let unread = place.clone().kept_with(Body::from("answer"));
        drop(place);
        assert!(take().is_err(), "nobody has read it");
        assert_eq!(axum::body::to_bytes(unread, 99).await.unwrap(), "answer");
        assert!(take().is_ok());
        let gone = AnswerPlace::default();
        drop(gone.clone().kept_with(Body::from("answer")));
        gone.keep(take().unwrap());
        drop(gone);
        assert!(take().is_ok());
    }
}
