//! `/mcp` of `agon serve`: the same server over streamable HTTP.
//!
//! The guard of `agon serve` checks Host, Origin, content type and token of every request before it comes here. It knows the names of
//! the server, so the checks of the transport are off.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::watch;

use super::McpServer;

/// Where `agon serve` has it.
pub const MCP_PATH: &str = "/mcp";
/// How long a session may be silent. An agent may think and work between two calls.
const SESSION_SILENCE_MAX: Duration = Duration::from_secs(3_600);
/// Each session keeps memory, whether or not its client is still there, so a new one ends the oldest when there are more.
const SESSIONS_MAX: usize = 256;
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
    let sessions = OpenSessions { manager: Arc::new(manager), oldest_first: Arc::default() };
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions.manager.clone(), config);
    let router = Router::new().route_service(MCP_PATH, service);
    router.layer(middleware::from_fn_with_state(sessions, limit_sessions))
}

/// The sessions of all clients.
#[derive(Clone)]
struct OpenSessions {
    manager: Arc<LocalSessionManager>,
    oldest_first: Arc<Mutex<VecDeque<String>>>,
}

/// Ends the oldest session when a new one is too many. Its debates go on, and its client opens another.
async fn limit_sessions(State(sessions): State<OpenSessions>, request: Request, next: Next) -> Response {
    let is_first = !request.headers().contains_key(SESSION_HEADER);
    let response = next.run(request).await;
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
