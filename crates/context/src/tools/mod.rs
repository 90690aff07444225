//! `tool/NAME`: what seats can have looked up while a debate runs.
//!
//! - [`config`]: `[tools.NAME]` of `agon.toml`.
//! - [`files`]: reads, searches and lists what is under one folder.
//! - [`fetch`]: gets a page from a host that the user allows.
//! - [`mcp`]: the tools of MCP servers; `mcp_http`: those that are reached over HTTP.
//!
//! A request that cannot be served is answered with the reason, so that the seat that asked learns it. What a tool returns is
//! untrusted: prompts quote it.

pub mod config;
pub mod fetch;
pub mod files;
pub mod mcp;
mod mcp_http;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agon_core::tools::TOOL_PREFIX;
use agon_core::{CallUsage, Invalid, ToolAnswer, ToolOffer};
use agon_engine::{
    CallFault, DeltaSink, FinishReason, MessageRole, Model, ModelCall, ModelCompletion, ModelPrice,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;

pub use config::{ToolConfig, ToolsConfig};
use fetch::FetchTool;
use files::FilesTool;
use mcp::{McpServer, McpTool};

/// The longest text of one item, in bytes.
const TEXT_BYTES_MAX: usize = 16 * 1024;
/// The engine reads twice as many bytes for each token that a call allows, and JSON writes some characters as two.
const BYTES_PER_TOKEN: usize = 8;
/// A longer line is divided, so that a text of one line can be shown in part.
const LINE_CHARS_MAX: usize = 400;
/// How much longer the engine waits than a tool does. The tool then answers with a reason.
const TIMEOUT_GRACE: Duration = Duration::from_secs(5);

/// How long all that seats are told of the tools of servers may be. It is in every prompt.
const SERVER_OFFERS_BYTES_MAX: usize = 32 * 1024;
/// The most tools of one server that seats are told of.
const SERVER_TOOLS_MAX: usize = 40;

/// The names of the tools that need no configuration file.
pub const BUILT_IN_TOOLS: [&str; 2] = [files::NAME, fetch::NAME];

/// A tool that answers requests.
pub trait LookupTool: Send + Sync {
    /// How long a request may take.
    fn timeout(&self) -> Duration;

    /// Serves a request. The error is the reason why nothing was looked up.
    fn look_up(&self, request: LookupRequest) -> BoxFuture<'_, Result<LookupResult, String>>;
}

/// What a tool is asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LookupRequest {
    /// What the seat wrote.
    pub arguments: Value,
    /// The folder that the debate was opened with, for a tool that reads one.
    pub folder: Option<String>,
    /// The most bytes that the text may have.
    pub bytes_max: usize,
}

/// What a tool found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LookupResult {
    /// Where the text comes from, and which part of it this is.
    pub source: String,
    /// What was found.
    pub text: String,
}

/// What the seats of a debate are offered.
#[derive(Debug, Clone, Default)]
pub struct ToolOffers {
    /// The tools that they are told of.
    pub offers: Vec<ToolOffer>,
    /// The names of the tools of servers that do not fit.
    pub left_out: Vec<String>,
}

/// The tools of a configuration. A clone shares the connections to servers.
#[derive(Clone, Default)]
pub struct Toolbox {
    config: ToolsConfig,
    servers: BTreeMap<String, Arc<McpServer>>,
}

impl Toolbox {
    /// The tools that this configuration describes.
    pub fn new(config: ToolsConfig) -> Self {
        let own = config.iter().filter(|(name, _)| !BUILT_IN_TOOLS.contains(&name.as_str()));
        let server = |(name, config): (&String, &ToolConfig)| {
            (name.clone(), Arc::new(McpServer::new(name, config.clone())))
        };
        Self { servers: own.map(server).collect(), config }
    }

    /// The folder that the tool `files` reads, with `~` for the user's home.
    pub fn folder(&self) -> Result<String, Invalid> {
        Ok(FilesTool::new(&self.config)?.folder())
    }

    /// What the seats are offered if the user names these tools. Servers are started and asked.
    pub async fn offers(&self, names: &[String]) -> Result<ToolOffers, Invalid> {
        let (mut offers, mut left_out, mut bytes_left) = (Vec::new(), Vec::new(), SERVER_OFFERS_BYTES_MAX);
        for name in names {
            match name.as_str() {
                files::NAME => {
                    FilesTool::new(&self.config)?;
                    offers.push(files::offer());
                }
                fetch::NAME => offers.push(FetchTool::new(&self.config)?.offer()),
                other => {
                    let server = self.servers.get(other).ok_or_else(|| self.unknown(other))?;
                    for (place, offer) in server.offers().await?.into_iter().enumerate() {
                        let bytes = offer.name.len() + offer.about.len() + offer.arguments.to_string().len();
                        match bytes_left.checked_sub(bytes).filter(|_| place < SERVER_TOOLS_MAX) {
                            Some(left) => {
                                bytes_left = left;
                                offers.push(offer);
                            }
                            None => left_out.push(offer.name),
                        }
                    }
                }
            }
        }
        Ok(ToolOffers { offers, left_out })
    }

    /// The model that answers requests for a tool: `name` is what comes after `tool/`.
    pub fn model(&self, name: &str) -> Result<Arc<dyn Model>, Invalid> {
        let tool: Box<dyn LookupTool> = match name.split_once('.') {
            None if name == files::NAME => Box::new(FilesTool::new(&self.config)),
            None if name == fetch::NAME => Box::new(FetchTool::new(&self.config)?),
            None => return Err(self.unknown(name)),
            Some((server, tool)) => {
                let server = self.servers.get(server).ok_or_else(|| self.unknown(server))?;
                Box::new(McpTool { server: Arc::clone(server), tool: tool.to_owned() })
            }
        };
        Ok(Arc::new(ToolModel { name: format!("{TOOL_PREFIX}{name}"), tool }))
    }

    fn unknown(&self, name: &str) -> Invalid {
        let own = self.config.keys().map(String::as_str).filter(|own| !BUILT_IN_TOOLS.contains(own));
        let names: Vec<&str> = BUILT_IN_TOOLS.into_iter().chain(own).collect();
        Invalid(format!(
            "there is no tool {name:?} (there is {}): add [tools.{name}] with command = [..] or url = \"..\" to your agon.toml",
            names.join(", ")
        ))
    }
}

/// A tool as a model that answers errands.
struct ToolModel {
    /// `tool/NAME`.
    name: String,
    tool: Box<dyn LookupTool>,
}

impl ToolModel {
    async fn answer(&self, call: &ModelCall) -> ModelCompletion {
        let message = call.messages.last().map_or("", |last| last.text.as_str());
        let tokens = usize::try_from(call.max_output_tokens).unwrap_or(usize::MAX);
        let bytes_max = TEXT_BYTES_MAX.min(tokens.saturating_mul(BYTES_PER_TOKEN));
        let arguments: Value = serde_json::from_str(message).unwrap_or_default();
        let folder = call.messages.iter().find(|message| message.role == MessageRole::System);
        let folder = folder.map(|message| message.text.clone()).filter(|folder| !folder.is_empty());
        let timeout = self.tool.timeout();
        let request = LookupRequest { arguments, folder, bytes_max };
        let found = tokio::time::timeout(timeout, self.tool.look_up(request)).await;
        let answer = match found.unwrap_or_else(|_| Err(format!("nothing was found within {timeout:?}"))) {
            Ok(LookupResult { source, text }) => ToolAnswer { source, text, refused: None },
            Err(why) => ToolAnswer { refused: Some(why), ..ToolAnswer::default() },
        };
        let (text, model) = (serde_json::json!(answer).to_string(), self.name.clone());
        let usage = CallUsage::default();
        ModelCompletion { text, model, usage, finish: FinishReason::End, shortened: None }
    }
}

impl Model for ToolModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        "tool"
    }

    fn price(&self) -> ModelPrice {
        ModelPrice::Free
    }

    fn is_errand(&self) -> bool {
        true
    }

    fn timeout(&self) -> Option<Duration> {
        Some(self.tool.timeout() + TIMEOUT_GRACE)
    }

    fn call<'a>(
        &'a self,
        call: &'a ModelCall,
        _deltas: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelCompletion, CallFault>> {
        self.answer(call).map(Ok).boxed()
    }
}

impl fmt::Debug for ToolModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolModel").field(&self.name).finish()
    }
}

/// Adds whole lines to a text until one does not fit. Returns how many were added.
fn add_lines(text: &mut String, lines: impl IntoIterator<Item = String>, bytes_max: usize) -> usize {
    let mut added = 0;
    for line in lines {
        if text.len() + line.len() + 1 > bytes_max {
            break;
        }
        text.push_str(&line);
        text.push('\n');
        added += 1;
    }
    added
}

/// A line in pieces of at most [`LINE_CHARS_MAX`] characters, divided between words where there are any.
fn short_lines(line: &str) -> Vec<String> {
    let (mut lines, mut rest) = (Vec::new(), line);
    while let Some((end, _)) = rest.char_indices().nth(LINE_CHARS_MAX) {
        let piece = rest.get(..end).unwrap_or_default();
        let end = piece.rfind(' ').filter(|end| *end > 0).unwrap_or(end);
        lines.push(rest.get(..end).unwrap_or_default().to_owned());
        rest = rest.get(end..).unwrap_or_default().trim_start();
    }
    lines.push(rest.to_owned());
    lines
}
