//! How an MCP server is reached over HTTP. What it answers is read no further than it may be long.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agon_host::{BodyError, BoundedBody};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use super::mcp::MESSAGE_BYTES_MAX;

/// The most bytes of all messages that answer one request: the answer, and what the server says on the way to it.
const STREAM_BYTES_MAX: usize = 4 * MESSAGE_BYTES_MAX;
/// How often a stream is opened again until the next request: what a server asks for with `retry: 0`, or by breaking it off.
const RECONNECTS_MAX: usize = 20;
const RECONNECT_PAUSE: Duration = Duration::from_secs(1);
const EVENT_STREAM: &str = "text/event-stream";
const SESSION_HEADER: &str = "Mcp-Session-Id";

type HttpError = StreamableHttpError<reqwest::Error>;
type EventStream = BoxStream<'static, Result<Sse, SseError>>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// A client that reads no endless answer and does not reconnect without end. The library's own bounds the events of a stream, but not an
/// answer in one piece, and reconnects as soon and as often as the server wants.
#[derive(Debug, Clone)]
pub(super) struct BoundedClient {
    client: Client,
    /// The streams that were opened since the last request, by all clones.
    streams: Arc<AtomicUsize>,
}

impl BoundedClient {
    pub(super) fn new(client: Client) -> Self {
        Self { client, streams: Arc::default() }
    }
}

impl StreamableHttpClient for BoundedClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        key: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        if matches!(message, ClientJsonRpcMessage::Request(_)) {
            self.streams.store(0, Ordering::Relaxed);
        }
        let mut request = self.client.post(&*uri).header(ACCEPT, format!("application/json, {EVENT_STREAM}"));
        request = headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
        if let Some(key) = key {
            request = request.bearer_auth(key);
        }
        let has_session = session.is_some();
        if let Some(session) = session {
            request = request.header(SESSION_HEADER, &*session);
        }
        let response = request.json(&message).send().await?;
        match response.status() {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => Ok(StreamableHttpPostResponse::Accepted),
            StatusCode::NOT_FOUND if has_session => Err(StreamableHttpError::SessionExpired),
            _ => read_answer(response, &message).await,
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        key: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpError> {
        self.client.delete_session(uri, session, key, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        key: Option<String>,
        headers: Headers,
    ) -> Result<EventStream, HttpError> {
        match self.streams.fetch_add(1, Ordering::Relaxed) {
            0 => {}
            1..=RECONNECTS_MAX => tokio::time::sleep(RECONNECT_PAUSE).await,
            // The library takes this for final, and another error for a reason to try again.
            _ => return Err(StreamableHttpError::ServerDoesNotSupportSse),
        }
        let stream = self.client.get_stream_with_max_sse_event_size(
            uri,
            session,
            last_event,
            key,
            headers,
            MESSAGE_BYTES_MAX,
        );
        stream.await
    }
}

async fn read_answer(
    response: Response,
    message: &ClientJsonRpcMessage,
) -> Result<StreamableHttpPostResponse, HttpError> {
    let (status, headers) = (response.status(), response.headers());
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let session = text(SESSION_HEADER).map(str::to_owned);
    if status.is_success() && text(CONTENT_TYPE.as_str()).is_some_and(|kind| kind.starts_with(EVENT_STREAM)) {
        return Ok(StreamableHttpPostResponse::Sse(bounded_events(response), session));
    }
    let body = BoundedBody::new(response, MESSAGE_BYTES_MAX).whole().await.map_err(|error| match error {
        BodyError::Network(why) => why.into(),
        BodyError::TooLong => unusable(format!("its answer has more than {} MB", MESSAGE_BYTES_MAX >> 20)),
    })?;
    let parsed = serde_json::from_slice::<ServerJsonRpcMessage>(&body);
    match (message, parsed) {
        (_, Ok(answer)) if status.is_success() => Ok(StreamableHttpPostResponse::Json(answer, session)),
        (ClientJsonRpcMessage::Request(request), parsed) if is_refusal(status) => {
            // A server that refuses a request may not know its id, so the refusal gets it here.
            let why = match parsed {
                Ok(ServerJsonRpcMessage::Error(refusal)) => refusal.error,
                _ => ErrorData::invalid_request(format!("it answers with HTTP {}", status.as_u16()), None),
            };
            let refusal = ServerJsonRpcMessage::error(why, Some(request.id.clone()));
            Ok(StreamableHttpPostResponse::Json(refusal, None))
        }
        (ClientJsonRpcMessage::Request(_), _) => {
            Err(unusable(format!("it answers with HTTP {} and no message", status.as_u16())))
        }
        // Nobody waits for an answer to anything else.
        _ if status.is_success() => Ok(StreamableHttpPostResponse::Accepted),
        _ => Err(unusable(format!("it answers with HTTP {}", status.as_u16()))),
    }
}

/// Whether a server understood a request and did not want it. A missing key is no such thing.
fn is_refusal(status: StatusCode) -> bool {
    status.is_client_error() && !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}

fn unusable(why: String) -> HttpError {
    StreamableHttpError::UnexpectedServerResponse(Cow::Owned(why))
}

fn bounded_events(response: Response) -> EventStream {
    let body = BoundedBody::new(response, STREAM_BYTES_MAX);
    let pieces = stream::unfold(Some(body), |body| async move {
        let mut body = body?;
        let why = match body.next_piece().await {
            Ok(None) => return None,
            Ok(Some(piece)) => return Some((Ok(io::Cursor::new(piece)), Some(body))),
            Err(BodyError::Network(why)) => io::Error::other(why),
            Err(BodyError::TooLong) => {
                io::Error::other(format!("its answer has more than {} MB", STREAM_BYTES_MAX >> 20))
            }
        };
        Some((Err(why), None))
    });
    SseStream::from_bytes_stream(pieces.boxed()).boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The clock is paused and advances only by what is waited for.
    #[tokio::test(start_paused = true)]
    async fn a_stream_is_opened_again_at_most_once_a_second_and_so_often() {
        agon_host::install_tls();
        let client = BoundedClient::new(Client::builder().no_proxy().build().unwrap());
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let url: Arc<str> = format!("http://127.0.0.1:{port}/mcp").into();
        let begin = tokio::time::Instant::now();
        let (same, url) = (client.clone(), &url);
        let open = || same.get_stream(Arc::clone(url), None, Some("1".into()), None, Headers::new());
        for count in 0..=RECONNECTS_MAX {
            assert!(matches!(open().await, Err(StreamableHttpError::Client(_))), "{count}");
        }
        assert!(begin.elapsed() >= RECONNECT_PAUSE * u32::try_from(RECONNECTS_MAX).unwrap());
        assert!(matches!(open().await, Err(StreamableHttpError::ServerDoesNotSupportSse)));
        // The next request begins anew.
        let ask = ClientJsonRpcMessage::request(
            rmcp::model::ClientRequest::PingRequest(Default::default()),
            rmcp::model::RequestId::Number(1),
        );
        assert!(client.post_message(Arc::clone(url), ask, None, None, Headers::new()).await.is_err());
        assert!(matches!(open().await, Err(StreamableHttpError::Client(_))));
    }
}
