//! `/mcp` of `agon serve`: the same server over streamable HTTP.
//!
//! The guard of `agon serve` checks Host, Origin, content type and token of every request before it comes here. It knows the names of
//! the server, so the checks of the transport are off.

use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::watch;

use super::McpServer;

/// Where `agon serve` has it.
pub const MCP_PATH: &str = "/mcp";
/// How long a session may be silent. An agent may think and work between two calls.
const SESSION_SILENCE_MAX: Duration = Duration::from_secs(3_600);

/// The service behind [`MCP_PATH`]. It ends with the server.
pub fn mcp_service(
    server: McpServer,
    body_bytes_max: usize,
    mut ending: watch::Receiver<bool>,
) -> StreamableHttpService<McpServer, LocalSessionManager> {
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
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(SESSION_SILENCE_MAX);
    StreamableHttpService::new(move || Ok(server.clone()), Arc::new(sessions), config)
}
