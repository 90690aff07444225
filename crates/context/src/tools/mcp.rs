//! Tools of MCP servers: a program that speaks over its standard streams, or an address that speaks streamable HTTP.
//!
//! A server is asked once, before a debate opens, what it offers. Its connection is kept and made anew when it breaks.

use std::collections::HashSet;
use std::error::Error;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agon_core::{Invalid, ToolOffer};
use agon_host::{ProcessGroup, ProcessPipes, clean_line, clean_text, innermost_reason};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use reqwest::Client;
use reqwest::redirect::Policy;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ContentBlock, JsonRpcMessage, PaginatedRequestParams, Tool,
};
use rmcp::service::{
    Peer, RoleClient, RunningService, RxJsonRpcMessage, ServiceError, TxJsonRpcMessage, serve_client,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, Transport};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::sync::Mutex;

use super::mcp_http::BoundedClient;
use super::{LookupRequest, LookupResult, LookupTool, ToolConfig, add_lines};

const TIMEOUT: Duration = Duration::from_secs(60);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// The largest message of a server.
pub(super) const MESSAGE_BYTES_MAX: usize = 4 << 20;
/// How many messages a server may send before its next answer: requests, notifications, and answers to what was not asked. Each takes
/// memory until it is dealt with, so one that sends more is disconnected.
const UNASKED_MESSAGES_MAX: usize = 2_000;
/// The listing of a server's tools stops after this many tools or pages.
const LISTED_TOOLS_MAX: usize = 400;
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
    end: ConnectionEnd,
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
        let usable = tools.iter().filter(|tool| is_plain_name(&tool.name));
        let offers: Vec<ToolOffer> = usable.map(|tool| self.offer(tool)).collect();
        match (tools.len(), offers.len()) {
            (0, _) => Err(problem("it offers no tool".to_owned())),
            (listed, 0) => Err(problem(format!(
                "none of its {listed} tools has a name of at most {NAME_BYTES_MAX} letters, digits, - _ . and /"
            ))),
            _ => Ok(offers),
        }
    }

    /// The first tools of the server. Its list may have any number of pages.
    async fn list_tools(&self) -> Result<Vec<Tool>, String> {
        let (peer, end) = self.peer().await?;
        let (mut tools, mut next) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let page = PaginatedRequestParams::default().with_cursor(next);
            let page = peer.list_tools(Some(page)).await.map_err(|why| end.reason(&why))?;
            tools.extend(page.tools);
            next = page.next_cursor;
            if next.is_none() || tools.len() >= LISTED_TOOLS_MAX {
                break;
            }
        }
        Ok(tools)
    }

    fn offer(&self, tool: &Tool) -> ToolOffer {
        let about = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or("It has no description.");
        let about = bounded_line(about);
        let arguments = Value::Object((*tool.input_schema).clone());
        let is_short = arguments.to_string().len() <= SCHEMA_BYTES_MAX;
        ToolOffer {
            name: format!("{}.{}", self.name, tool.name),
            about,
            arguments: if is_short { arguments } else { json!({"type": "object"}) },
        }
    }

    /// The connection's peer. A connection that is closed is made anew.
    async fn peer(&self) -> Result<(Peer<RoleClient>, ConnectionEnd), String> {
        let mut connection = self.connection.lock().await;
        if let Some(open) = connection.as_ref().filter(|open| !open.service.is_closed()) {
            return Ok((open.service.peer().clone(), open.end.clone()));
        }
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, self.connect()).await;
        let made =
            connected.unwrap_or_else(|_| Err(format!("it did not answer within {CONNECT_TIMEOUT:?}")))?;
        let peer = (made.service.peer().clone(), made.end.clone());
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
            let transport = StreamableHttpClientTransport::with_client(BoundedClient::new(client), config);
            return serve_bounded(transport, None).await;
        }
        let (program, pipes) = self.start_program()?;
        let ProcessPipes { stdin, stdout, mut stderr } = pipes;
        // What a server writes there is for whoever starts it alone; unread, it would block the server.
        tokio::spawn(async move {
            let mut unread = [0; 4096];
            while matches!(stderr.read(&mut unread).await, Ok(read) if read > 0) {}
        });
        let transport = AsyncRwTransport::new(stdout, stdin).with_max_line_length(MESSAGE_BYTES_MAX);
        serve_bounded(transport, Some(program)).await
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

async fn serve_bounded<T>(transport: T, program: Option<ProcessGroup>) -> Result<McpConnection, String>
where
    T: Transport<RoleClient> + 'static,
{
    let end = ConnectionEnd::default();
    let transport = BoundedTransport { transport, end: end.clone(), asked: HashSet::new(), unasked: 0 };
    let service = serve_client((), transport).await.map_err(|why| end.reason(&why))?;
    Ok(McpConnection { service, end, _program: program })
}

/// Why a connection was ended here, if it was. Clones share it.
#[derive(Clone, Default)]
struct ConnectionEnd {
    was_flooded: Arc<AtomicBool>,
}

impl ConnectionEnd {
    /// Why a call over the connection failed.
    fn reason(&self, why: &dyn Error) -> String {
        match (self.was_flooded.load(Ordering::Relaxed), why.source()) {
            (true, _) => {
                format!("the server sent more than {UNASKED_MESSAGES_MAX} messages that answer nothing")
            }
            (false, Some(_)) => bounded_line(&innermost_reason(why)),
            (false, None) => bounded_line(&why.to_string()),
        }
    }
}

/// A connection that ends when the server has sent too much that nobody asked for.
struct BoundedTransport<T> {
    transport: T,
    end: ConnectionEnd,
    /// The ids of the requests that wait for an answer, as text: some servers answer to `1` with `"1"`.
    asked: HashSet<String>,
    unasked: usize,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for BoundedTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &message {
            self.asked.insert(request.id.to_string());
        }
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.transport.receive().await?;
        let answered = match &message {
            JsonRpcMessage::Response(answer) => Some(&answer.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        self.unasked = match answered.is_some_and(|id| self.asked.remove(&id.to_string())) {
            true => 0,
            false => self.unasked + 1,
        };
        if self.unasked > UNASKED_MESSAGES_MAX {
            self.end.was_flooded.store(true, Ordering::Relaxed);
            return None;
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.transport.close().await
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
        let (peer, end) =
            self.server.peer().await.map_err(|why| format!("the server cannot be used: {why}"))?;
        let response = peer.call_tool_once(params).await.map_err(|why| match why {
            ServiceError::McpError(error) => failed(&error.message),
            why => end.reason(&why),
        })?;
        let CallToolResponse::Complete(result) = response else {
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
            return Err(failed(&whole));
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

/// What a seat is told of a tool that failed, in the server's words.
fn failed(why: &str) -> String {
    format!("the tool failed: {}", bounded_line(why))
}

/// A server's words, as they may stand in a sentence.
fn bounded_line(words: &str) -> String {
    let mut line = clean_line(words);
    crate::errands::shorten(&mut line, ABOUT_CHARS_MAX);
    line
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
