//! `agon serve`: debates over HTTP, for browsers, programs and chat programs.
//!
//! - [`settings`]: `[serve]` of the configuration. [`access`]: who may use the server. [`problem`]: its errors.
//! - [`connections`]: how many there are, and how long one may be silent.
//! - [`api`]: the routes under `/api/v1`; [`openapi`]: their description, made from the handlers.
//! - [`page`]: the screens at `/`.
//! - [`event_stream`]: a log as server-sent events. [`compare`]: two debates side by side.
//! - [`chat`]: debates as models, in OpenAI's format under `/v1`.
//! - `/mcp` has the tools of [`crate::mcp`], behind the same checks.
//!
//! No rule of debate is here, and no protocol is named: everything comes from [`DebateHost`] and the protocols' tables.

pub mod access;
pub mod api;
pub mod chat;
pub mod compare;
pub mod connections;
pub mod event_stream;
pub mod openapi;
pub mod page;
pub mod problem;
pub mod settings;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::cli::errors::CliError;
use crate::cli::signals;
use crate::hosting::DebateHost;
use crate::hosting::debate_request::CallerRights;
use crate::mcp::McpServer;
use crate::mcp::http::mcp_router;
use access::{AccessRules, LOGIN_PATH};
use api::ApiQuery;
use chat::chat_clients::ChatClients;
use chat::chat_error::in_chat_format;
use connections::{accept_connections, body_in_time};
use problem::{NO_SUCH_PATH, Problem};
use settings::ServeSettings;

/// What every handler works with.
#[derive(Clone)]
pub struct ServerState {
    pub host: DebateHost,
    pub access: Arc<AccessRules>,
    pub settings: Arc<ServeSettings>,
    /// Who waits for which debate in a chat program.
    pub chat_clients: ChatClients,
    /// True when the server is about to end, so that streams end, too.
    ending: watch::Receiver<bool>,
}

/// A page may load nothing but what this server sends, and run no script that stands in it.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// How long connections may take to end after the debates have stopped.
const CLOSING_TIME: Duration = Duration::from_secs(2);

/// A server that listens and does not serve yet.
pub struct BoundServer {
    listener: TcpListener,
    pub address: SocketAddr,
}

impl BoundServer {
    /// Starts to listen. Port 0 picks a free one.
    pub async fn bind(listen: &str) -> Result<Self, CliError> {
        let cannot = |why: std::io::Error| {
            CliError::input(format!("cannot listen on {listen}: {why}"))
                .with_help("--listen takes an address and a port: 127.0.0.1:7717; port 0 picks a free one")
        };
        let listener = TcpListener::bind(listen).await.map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        Ok(Self { listener, address })
    }

    /// Serves until the process is asked to end. Then the debates are stopped in order.
    pub async fn serve(
        self,
        host: DebateHost,
        access: Arc<AccessRules>,
        settings: ServeSettings,
    ) -> Result<(), CliError> {
        let (end, ending) = watch::channel(false);
        let (resumes, connections_max) = (settings.resume, settings.connections);
        let state = ServerState {
            host: host.clone(),
            access,
            settings: Arc::new(settings),
            chat_clients: ChatClients::default(),
            ending,
        };
        if resumes {
            let host = host.clone();
            tokio::spawn(async move { host.resume_all().await });
        }
        let rights = CallerRights { caller_seat: true, ..host.rights().clone() };
        let mcp = McpServer::new(host.clone(), rights, end.subscribe()).await;
        let router = router(state, mcp);
        agon_host::raise_open_files_limit();
        let accepting = accept_connections(self.listener, router, connections_max, end.subscribe());
        let serving = tokio::spawn(accepting);
        // Without signals there is nothing to wait for, and only a kill ends the server.
        if signals::end_requested().await.is_err() {
            std::future::pending::<()>().await;
        }
        end.send_replace(true);
        host.shut_down().await;
        // A client that keeps its connection must not keep the server.
        match tokio::time::timeout(CLOSING_TIME, serving).await {
            Ok(Err(why)) => Err(CliError::System(format!("the server ended: {why}"))),
            Ok(Ok(())) | Err(_) => Ok(()),
        }
    }
}

impl ServerState {
    /// Waits until the server is about to end.
    pub async fn ending(&self) {
        let mut ending = self.ending.clone();
        if ending.wait_for(|ends| *ends).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// All routes, behind the checks that every request must pass.
pub fn router(state: ServerState, mcp: McpServer) -> Router {
    let (api, document) = openapi::api_router();
    let document = Arc::new(document);
    let body_bytes = state.settings.body_mb.saturating_mul(1 << 20);
    Router::new()
        .merge(api)
        .merge(page::page_router())
        .route("/openapi.json", get(move || async move { axum::Json(document.as_ref().clone()) }))
        .route("/healthz", get(|| async { axum::Json(json!({"status": "ok"})) }))
        .route("/readyz", get(readiness))
        .route(LOGIN_PATH, get(login))
        .merge(
            mcp_router(mcp, body_bytes, state.ending.clone())
                .layer(middleware::from_fn(api::json_limits::bounded_json)),
        )
        .fallback(|| async { Problem::new(StatusCode::NOT_FOUND, NO_SUCH_PATH) })
        .method_not_allowed_fallback(|| async {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "this path takes other methods: see /openapi.json")
        })
        .layer(DefaultBodyLimit::max(body_bytes))
        .layer(middleware::from_fn_with_state(state.clone(), guard))
        .with_state(state)
}

/// The checks that every request must pass, and the headers that every answer carries.
async fn guard(State(state): State<ServerState>, request: Request, next: Next) -> Response {
    let is_chat = chat::is_chat_path(request.uri().path());
    let checked = state.access.check(request.method(), request.uri(), request.headers());
    let wants_page = page::wants_page(request.method(), request.uri().path(), request.headers());
    let mut response = match checked {
        Ok(()) => next.run(request.map(body_in_time)).await,
        Err(problem) => problem.into_response(),
    };
    if is_chat {
        response = in_chat_format(response);
    } else if let Some(problem) = response.extensions().get::<Problem>().filter(|_| wants_page) {
        response = page::frame::error_page(problem);
    }
    let headers = response.headers_mut();
    let mut set = |name, value| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    set(header::CONTENT_SECURITY_POLICY, PAGE_POLICY);
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::X_FRAME_OPTIONS, "DENY");
    set(header::REFERRER_POLICY, "no-referrer");
    set(header::CACHE_CONTROL, "no-store");
    set(header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    set(header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    response
}

fn no_place() -> Problem {
    let detail = "the server has as many connections as it allows: try again later";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).retry_after(1)
}

/// Ready means that the store can be read.
async fn readiness(State(state): State<ServerState>) -> Result<impl IntoResponse, Problem> {
    state
        .host
        .read_store(|store| store.list_debates(Some(1)).map(drop))
        .await
        .map_err(|error| Problem::new(StatusCode::SERVICE_UNAVAILABLE, error.sentence).retry_after(5))?;
    Ok(axum::Json(json!({"status": "ready"})))
}

#[derive(Deserialize)]
struct LoginQuery {
    #[serde(default)]
    code: String,
}

/// Exchanges a one-time link for a session.
async fn login(State(state): State<ServerState>, ApiQuery(query): ApiQuery<LoginQuery>) -> Response {
    if !state.access.needs_token() {
        return axum::response::Redirect::to("/").into_response();
    }
    match state.access.open_session(&query.code) {
        Some(cookie) => {
            ([(header::SET_COOKIE, cookie)], axum::response::Redirect::to("/")).into_response()
        }
        None => Problem::new(
            StatusCode::UNAUTHORIZED,
            "this link was used before or is not one of this server's: restart `agon serve` for a new one, or ask \
             for one with POST /api/v1/links and the token",
        )
        .into_response(),
    }
}
