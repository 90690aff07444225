//! How an MCP server is reached over HTTP. What it answers is read no further than it may be long.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

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
const EVENT_STREAM: &str = "text/event-stream";
const SESSION_HEADER: &str = "Mcp-Session-Id";

type HttpError = StreamableHttpError<reqwest::Error>;
type EventStream = BoxStream<'static, Result<Sse, SseError>>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// A client that reads no endless answer. The library's own bounds the events of a stream, but not an answer in one piece.
#[derive(Debug, Clone)]
pub(super) struct BoundedClient(pub(super) Client);

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
        let mut request = self.0.post(&*uri).header(ACCEPT, format!("application/json, {EVENT_STREAM}"));
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
        self.0.delete_session(uri, session, key, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        key: Option<String>,
        headers: Headers,
    ) -> Result<EventStream, HttpError> {
        let stream = self.0.get_stream_with_max_sse_event_size(
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
