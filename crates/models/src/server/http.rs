//! The HTTP clients, made when first used and shared by all models.
//!
//! There are two. Loading the system's certificates takes longer than everything else that Agon does before its first call,
//! and a server on `http://` does not need them. Each client is made on a background thread as soon as a model that needs it
//! is named, while the store is opened and the first prompts are written.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use agon_host::{BodyError, BoundedBody};
use reqwest::Client;
use reqwest::redirect::Policy;

/// Every call of a debate carries the debate's id in this header, so that a server of debates can refuse a debate that would call itself.
pub const DEBATE_HEADER: &str = "x-agon-debate";

/// Only for connecting. The engine limits how long an answer may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(crate) struct HttpClients {
    plain: LazyHttpClient,
    secure: LazyHttpClient,
}

#[derive(Debug, Default)]
struct LazyHttpClient {
    client: OnceLock<Result<Client, String>>,
    is_started: AtomicBool,
}

impl HttpClients {
    /// Starts to make the client in the background, unless that has been done. If no thread can be started, the client is
    /// made when it is first used.
    pub(crate) fn prepare(self: &Arc<Self>, is_plain_http: bool) {
        if !self.lazy(is_plain_http).is_started.swap(true, Ordering::Relaxed) {
            let clients = Arc::clone(self);
            drop(std::thread::Builder::new().spawn(move || clients.get(is_plain_http).is_ok()));
        }
    }

    /// The client for `http://` or for `https://`, or why it cannot be made.
    pub(crate) fn get(&self, is_plain_http: bool) -> Result<&Client, &str> {
        let client = self.lazy(is_plain_http).client.get_or_init(|| build_client(is_plain_http));
        client.as_ref().map_err(String::as_str)
    }

    fn lazy(&self, is_plain_http: bool) -> &LazyHttpClient {
        if is_plain_http { &self.plain } else { &self.secure }
    }
}

/// The most that a server may answer, in bytes.
pub(crate) const ANSWER_BYTES_MAX: usize = 16 << 20;

/// The body of an answer as text.
pub(crate) async fn answer_text(answer: reqwest::Response) -> Result<String, BodyError> {
    AnswerBody::new(answer).text().await
}

/// The body of an answer, whose beginning can be looked at before it is read.
pub(crate) struct AnswerBody {
    body: BoundedBody,
    /// What was looked at and not read.
    beginning: Vec<u8>,
}

impl AnswerBody {
    pub(crate) fn new(answer: reqwest::Response) -> Self {
        Self { body: BoundedBody::new(answer, ANSWER_BYTES_MAX), beginning: Vec::new() }
    }

    /// The first byte that is no space; `None` if there is none.
    pub(crate) async fn first_byte(&mut self) -> Result<Option<u8>, BodyError> {
        let mut looked_at = 0;
        loop {
            let new = self.beginning.get(looked_at..).unwrap_or_default();
            if let Some(byte) = new.iter().find(|byte| !byte.is_ascii_whitespace()) {
                return Ok(Some(*byte));
            }
            looked_at = self.beginning.len();
            match self.body.next_piece().await? {
                Some(piece) => self.beginning.extend_from_slice(piece.as_ref()),
                None => return Ok(None),
            }
        }
    }

    /// The next piece, in whatever size it came. `None` at the end.
    pub(crate) async fn next_piece(&mut self) -> Result<Option<Vec<u8>>, BodyError> {
        if !self.beginning.is_empty() {
            return Ok(Some(std::mem::take(&mut self.beginning)));
        }
        Ok(self.body.next_piece().await?.map(|piece| piece.as_ref().to_vec()))
    }

    /// All of it as text.
    pub(crate) async fn text(self) -> Result<String, BodyError> {
        let mut bytes = self.beginning;
        bytes.append(&mut self.body.whole().await?);
        Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }
}

fn build_client(is_plain_http: bool) -> Result<Client, String> {
    agon_host::install_tls();
    let mut builder = Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        // A small compressed body could become a large one.
        .no_gzip()
        // A redirect could send prompts to an address that the user did not configure.
        .redirect(Policy::none())
        .user_agent(concat!("agon/", env!("CARGO_PKG_VERSION")));
    if is_plain_http {
        // Servers on http:// are local, so the environment's proxy is not meant for them.
        builder = builder.http1_only().no_proxy().tls_certs_only([]);
    }
    builder.build().map_err(|why| format!("the HTTP client cannot be made: {why}"))
}
