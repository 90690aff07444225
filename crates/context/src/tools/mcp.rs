//! Tools of MCP servers: a program that speaks over its standard streams, or an address that speaks streamable HTTP.
//!
//! A server is asked once, before a debate opens, what it offers. Its connection is kept and made anew when it breaks.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use agon_core::{Invalid, ToolOffer};
use agon_host::{ProcessGroup, ProcessPipes, clean_line, clean_text, innermost_reason};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use reqwest::Client;
use reqwest::redirect::Policy;
use rmcp::model::{CallToolRequestParams, ContentBlock, PaginatedRequestParams, Tool};
use rmcp::service::{Peer, RoleClient, RunningService, serve_client};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::sync::Mutex;

use super::mcp_http::BoundedClient;
use super::{LookupRequest, LookupResult, LookupTool, ToolConfig, add_lines};

const TIMEOUT: Duration = Duration::from_secs(60);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// The largest message of a server.
pub(super) const MESSAGE_BYTES_MAX: usize = 4 << 20;
/// The most tools of one server that seats are told of, and the most pages of its list that are read.
const TOOLS_MAX: usize = 40;
const PAGES_MAX: usize = 10;
const NAME_BYTES_MAX: usize = 64;
/// A longer description is cut; a larger schema is left out.
const ABOUT_CHARS_MAX: usize = 500;
const SCHEMA_BYTES_MAX: usize = 4_000;

/// A server of the configuration.
pub struct McpServer {
    name: String,
    config: ToolConfig,
    connection: Mutex<Option<McpConnection>>,
}

struct McpConnection {
    service: RunningService<RoleClient, ()>,
    /// Ends with the connection.
    _program: Option<ProcessGroup>,
}

/// One tool of a server.
pub(super) struct McpTool {
    pub(super) server: Arc<McpServer>,
    pub(super) tool: String,
}

impl McpServer {
    /// The server of `[tools.NAME]`. Nothing is started.
    pub fn new(name: &str, config: ToolConfig) -> Self {
        Self { name: name.to_owned(), config, connection: Mutex::new(None) }
    }

    /// What the server offers, as seats are told of it.
    pub async fn offers(&self) -> Result<Vec<ToolOffer>, Invalid> {
        let problem = |why: String| {
            Invalid(format!(
                "the tool server {} cannot be used: {why}: correct [tools.{}]",
                self.name, self.name
            ))
        };
        let listed = tokio::time::timeout(TIMEOUT, self.list_tools()).await;
        let tools = listed
            .unwrap_or_else(|_| Err(format!("it did not answer within {TIMEOUT:?}")))
            .map_err(problem)?;
        if tools.is_empty() {
            return Err(problem("it offers no tool".to_owned()));
        }
        Ok(tools
            .iter()
            .filter(|tool| is_plain_name(&tool.name))
            .take(TOOLS_MAX)
            .map(|tool| self.offer(tool))
            .collect())
    }

    /// The first tools of the server. Its list may have any number of pages.
    async fn list_tools(&self) -> Result<Vec<Tool>, String> {
        let peer = self.peer().await?;
        let (mut tools, mut next) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let page = PaginatedRequestParams::default().with_cursor(next);
            let page = peer.list_tools(Some(page)).await.map_err(|why| innermost_reason(&why))?;
            tools.extend(page.tools);
            next = page.next_cursor;
            if next.is_none() || tools.len() >= TOOLS_MAX {
                break;
            }
        }
        Ok(tools)
    }

    fn offer(&self, tool: &Tool) -> ToolOffer {
        let about = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or("It has no description.");
        let mut about = clean_line(about);
        crate::errands::shorten(&mut about, ABOUT_CHARS_MAX);
        let arguments = Value::Object((*tool.input_schema).clone());
        let is_short = arguments.to_string().len() <= SCHEMA_BYTES_MAX;
        ToolOffer {
            name: format!("{}.{}", self.name, tool.name),
            about,
            arguments: if is_short { arguments } else { json!({"type": "object"}) },
        }
    }

    /// The connection's peer. A connection that is closed is made anew.
    async fn peer(&self) -> Result<Peer<RoleClient>, String> {
        let mut connection = self.connection.lock().await;
        if let Some(open) = connection.as_ref().filter(|open| !open.service.is_closed()) {
            return Ok(open.service.peer().clone());
        }
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, self.connect()).await;
        let made =
            connected.unwrap_or_else(|_| Err(format!("it did not answer within {CONNECT_TIMEOUT:?}")))?;
        let peer = made.service.peer().clone();
        *connection = Some(made);
        Ok(peer)
    }

    async fn connect(&self) -> Result<McpConnection, String> {
        if let Some(url) = &self.config.url {
            let client = http_client().await?;
            let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
            if let Some(variable) = &self.config.key_env {
                let key = std::env::var(variable)
                    .map_err(|_| format!("set the environment variable {variable}"))?;
                config = config.auth_header(key);
            }
            let transport = StreamableHttpClientTransport::with_client(BoundedClient(client), config);
            let service = serve_client((), transport).await.map_err(|why| innermost_reason(&why))?;
            return Ok(McpConnection { service, _program: None });
        }
        let (program, pipes) = self.start_program()?;
        let ProcessPipes { stdin, stdout, mut stderr } = pipes;
        // What a server writes there is for whoever starts it alone; unread, it would block the server.
        tokio::spawn(async move {
            let mut unread = [0; 4096];
            while matches!(stderr.read(&mut unread).await, Ok(read) if read > 0) {}
        });
        let transport = AsyncRwTransport::new(stdout, stdin).with_max_line_length(MESSAGE_BYTES_MAX);
        let service = serve_client((), transport).await.map_err(|why| innermost_reason(&why))?;
        Ok(McpConnection { service, _program: Some(program) })
    }

    fn start_program(&self) -> Result<(ProcessGroup, ProcessPipes), String> {
        let (program, arguments) = self.config.command.split_first().ok_or("it has no command")?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A server gets no key that it was not given.
        command.env_clear();
        let given = self.config.env.iter().map(String::as_str);
        for name in ["PATH", "HOME", "LANG", "TMPDIR"].into_iter().chain(given) {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        ProcessGroup::start(command).map_err(|why| format!("{program:?} cannot be started ({why})"))
    }
}

/// Whether a tool can be named in a request and in the log.
fn is_plain_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.bytes().all(is_plain)
}

impl LookupTool for McpTool {
    fn timeout(&self) -> Duration {
        TIMEOUT
    }

    fn look_up(&self, request: LookupRequest) -> BoxFuture<'_, Result<LookupResult, String>> {
        async move { self.call(&request.arguments, request.bytes_max).await }.boxed()
    }
}

impl McpTool {
    async fn call(&self, arguments: &Value, bytes_max: usize) -> Result<LookupResult, String> {
        let mut params = CallToolRequestParams::new(self.tool.clone());
        params.arguments = arguments.as_object().cloned();
        let peer = self.server.peer().await.map_err(|why| format!("the server cannot be used: {why}"))?;
        let response = peer.call_tool_once(params).await.map_err(|why| innermost_reason(&why))?;
        let rmcp::model::CallToolResponse::Complete(result) = response else {
            return Err("the tool wants more than arguments, which is not supported".to_owned());
        };
        let texts = result.content.iter().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        let mut whole = texts.collect::<Vec<_>>().join("\n");
        if whole.trim().is_empty() {
            whole = result.structured_content.map(|content| format!("{content:#}")).unwrap_or_default();
        }
        let whole = clean_text(&whole);
        if result.is_error == Some(true) {
            let mut why = clean_line(&whole);
            crate::errands::shorten(&mut why, ABOUT_CHARS_MAX);
            return Err(format!("the tool failed: {why}"));
        }
        if whole.trim().is_empty() {
            return Err("the tool found no text".to_owned());
        }
        let (lines, mut text) = (whole.lines().flat_map(super::short_lines), String::new());
        add_lines(&mut text, lines, bytes_max);
        let part = match text.len() < whole.len() {
            true => format!(", the first {} of {} characters", text.chars().count(), whole.chars().count()),
            false => String::new(),
        };
        Ok(LookupResult { source: format!("{} with {arguments}{part}", self.tool), text })
    }
}

/// Made on a blocking thread, because it reads the system's certificates.
async fn http_client() -> Result<Client, String> {
    let build = tokio::task::spawn_blocking(|| {
        agon_host::install_tls();
        let builder = Client::builder().redirect(Policy::none()).connect_timeout(CONNECT_TIMEOUT);
        builder.pool_max_idle_per_host(0).build().map_err(|why| innermost_reason(&why))
    });
    build.await.unwrap_or_else(|_| Err("the thread failed".to_owned()))
}
