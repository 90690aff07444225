//! One client on stdin and stdout. stdout carries nothing but the protocol.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use agon_host::JsonValueCounter;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rmcp::model::{ClientNotification, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::stdio_pipes;
use rmcp::{RoleServer, ServiceExt};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader, Empty};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::McpServer;
use super::settings::{CloseAction, McpSettings};
use crate::cli::errors::CliError;
use crate::cli::signals;
use crate::hosting::DebateHost;

/// The longest message.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How many requests may wait for their answers, or their answers for the client to read them. The next one is read after that.
const UNANSWERED_MAX: usize = 128;

/// Serves the client until it closes stdin or the process is asked to end. Then its debates are finished or left in order.
pub async fn serve_stdio(host: DebateHost, settings: &McpSettings) -> Result<(), CliError> {
    let (closing, is_closing) = watch::channel(false);
    let server = McpServer::new(host.clone(), host.rights().clone(), is_closing).await;
    if settings.resume {
        let host = host.clone();
        tokio::spawn(async move { host.resume_all().await });
    }
    let (input, output) = stdio_pipes();
    let transport = LineTransport::new(input, output, closing.clone());
    let ended = tokio::select! {
        ended = converse(server, transport) => ended,
        Ok(_) = signals::end_requested() => {
            closing.send_replace(true);
            host.shut_down().await;
            return Ok(());
        }
    };
    tokio::select! {
        () = close_debates(&host, settings.on_close) => {}
        Ok(_) = signals::end_requested() => host.shut_down().await,
    }
    ended
}

async fn converse(
    server: McpServer,
    transport: impl Transport<RoleServer, Error = io::Error> + 'static,
) -> Result<(), CliError> {
    let broken = |why: String| CliError::System(format!("the connection broke off: {why}"));
    let running = match server.serve(transport).await {
        // A client that looks and goes.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        running => running.map_err(|why| broken(why.to_string()))?,
    };
    running.waiting().await.map(drop).map_err(|why| broken(why.to_string()))
}

async fn close_debates(host: &DebateHost, action: CloseAction) {
    match action {
        CloseAction::Finish => host.finish_all().await,
        CloseAction::Stop => host.shut_down().await,
    }
}

/// One message per line. A line that is no message is answered with an error, and a client that does not read its answers is not read.
struct LineTransport<R, W: AsyncWrite> {
    input: BufReader<R>,
    /// What has been read of the next line.
    line: Vec<u8>,
    values: JsonValueCounter,
    /// Why the rest of the line is not read.
    fault: Option<&'static str>,
    /// Set when the input ends, so that calls stop waiting at once and can still be answered.
    closing: watch::Sender<bool>,
    output: AsyncRwTransport<RoleServer, Empty, W>,
    /// The answer to a line that is no message, while it is written.
    refusal: Option<BoxFuture<'static, io::Result<()>>>,
    places: Arc<Semaphore>,
    /// The place of the next request.
    place: Option<OwnedSemaphorePermit>,
    unanswered: HashMap<RequestId, OwnedSemaphorePermit>,
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    fn new(input: R, output: W, closing: watch::Sender<bool>) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            values: JsonValueCounter::default(),
            fault: None,
            closing,
            output: AsyncRwTransport::new(tokio::io::empty(), output),
            refusal: None,
            places: Arc::new(Semaphore::new(UNANSWERED_MAX)),
            place: None,
            unanswered: HashMap::new(),
        }
    }

    /// The next line, or what is wrong with it; `None` at the end. If the future is dropped, the next one goes on with the same line.
    async fn next_line(&mut self) -> Option<Result<Vec<u8>, &'static str>> {
        loop {
            // A pipe that breaks ends like one that is closed.
            let available = self.input.fill_buf().await.unwrap_or_default();
            if available.is_empty() {
                return None;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let piece = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
            if self.fault.is_none() && self.line.len() + piece.len() > LINE_BYTES_MAX {
                self.fault = Some("the message is too long");
            } else if self.fault.is_none() && !piece.iter().all(|byte| self.values.add(*byte)) {
                self.fault = Some("the message has too many values");
            }
            match self.fault {
                Some(_) => self.line = Vec::new(),
                None => self.line.extend_from_slice(piece),
            }
            let read = piece.len() + usize::from(end.is_some());
            self.input.consume(read);
            if end.is_some() {
                self.values = JsonValueCounter::default();
                let line = std::mem::take(&mut self.line);
                return Some(self.fault.take().map_or(Ok(line), Err));
            }
        }
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let place = match &item {
            JsonRpcMessage::Response(answer) => self.unanswered.remove(&answer.id),
            JsonRpcMessage::Error(error) => error.id.as_ref().and_then(|id| self.unanswered.remove(id)),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let sending = self.output.send(item);
        async move {
            let sent = sending.await;
            drop(place);
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(refusal) = &mut self.refusal {
                let sent = refusal.await;
                self.refusal = None;
                sent.ok()?;
            }
            if self.place.is_none() {
                self.place = Some(self.places.clone().acquire_owned().await.ok()?);
            }
            let Some(line) = self.next_line().await else {
                self.closing.send_replace(true);
                return None;
            };
            let message = match line.map_err(unreadable).and_then(|line| read_message(&line)) {
                Ok(Some(message)) => message,
                Ok(None) => continue,
                Err(error) => {
                    let refusal = TxJsonRpcMessage::<RoleServer>::error(error, None);
                    self.refusal = Some(self.output.send(refusal).boxed());
                    continue;
                }
            };
            match &message {
                JsonRpcMessage::Request(request) => {
                    let place = self.place.take();
                    self.unanswered.extend(place.map(|place| (request.id.clone(), place)));
                }
                // A request that is cancelled gets no answer.
                JsonRpcMessage::Notification(told) => {
                    if let ClientNotification::CancelledNotification(cancelled) = &told.notification {
                        cancelled.params.request_id.as_ref().map(|id| self.unanswered.remove(id));
                    }
                }
                JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
            }
            return Some(message);
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.close().await
    }
}

fn unreadable(why: impl Into<String>) -> ErrorData {
    ErrorData::parse_error(why.into(), None)
}

/// The message in a line. `None` if it needs no answer: an empty line, or a notification that is not known.
fn read_message(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, ErrorData> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    let Ok(line) = std::str::from_utf8(line) else { return Err(unreadable("the message is not UTF-8")) };
    if let Ok(message) = serde_json::from_str(line) {
        return Ok(Some(message));
    }
    let value: Value =
        serde_json::from_str(line).map_err(|why| unreadable(format!("the message is not JSON: {why}")))?;
    match value.get("method").is_some() && value.get("id").is_none() {
        true => Ok(None),
        false => Err(ErrorData::invalid_request("this is no JSON-RPC message of MCP", None)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;
    use tokio::io::AsyncReadExt;

    use super::*;

    fn ping(id: usize) -> String {
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "ping"}))
    }

    #[tokio::test]
    async fn a_line_that_is_no_message_is_answered_with_an_error_and_the_next_one_is_read() {
        const PARSE_ERROR: i32 = -32_700;
        let deep = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
        for (line, code) in [
            (b"{\"id\": 1".to_vec(), Some(PARSE_ERROR)),
            (b"{\"id\": \"\xff\"}".to_vec(), Some(PARSE_ERROR)),
            (deep.into_bytes(), Some(PARSE_ERROR)),
            (
                format!("[{}]", vec!["{}"; agon_host::JSON_VALUES_MAX].join(",")).into_bytes(),
                Some(PARSE_ERROR),
            ),
            (vec![b'x'; LINE_BYTES_MAX + 1], Some(PARSE_ERROR)),
            (b"{\"id\": 1}".to_vec(), Some(-32_600)),
            (b"".to_vec(), None),
            (b"{\"jsonrpc\": \"2.0\", \"method\": \"notifications/odd\"}".to_vec(), None),
        ] {
            let shown = String::from_utf8_lossy(&line[..line.len().min(40)]).into_owned();
            let sent = [line, b"\n".to_vec(), ping(2).into_bytes()].concat();
            let (closing, is_closing) = watch::channel(false);
            let (output, mut told) = tokio::io::duplex(64 * 1024);
            let mut transport = LineTransport::new(sent.as_slice(), output, closing);
            let read = loop {
                match transport.receive().await {
                    Some(JsonRpcMessage::Request(request)) => break request.id,
                    Some(_) => {}
                    None => panic!("{shown}: the next message is read"),
                }
            };
            assert_eq!(read, RequestId::Number(2), "{shown}");
            assert!(transport.receive().await.is_none() && *is_closing.borrow(), "{shown}");
            drop(transport);
            let mut answer = String::new();
            told.read_to_string(&mut answer).await.unwrap();
            let error: Option<Value> = serde_json::from_str(&answer).ok();
            assert_eq!(
                error.as_ref().and_then(|error| error["error"]["code"].as_i64()),
                code.map(i64::from),
                "{answer}"
            );
            assert!(
                error.is_none_or(|error| error["id"].is_null()) && answer.lines().count() <= 1,
                "{answer}"
            );
        }
    }

    /// The answers of a client that reads none of them must not fill the memory.
    #[tokio::test]
    async fn only_so_many_requests_are_read_before_their_answers() {
        let sent: String = (0..2 * UNANSWERED_MAX).map(ping).collect();
        let (output, told) = tokio::io::duplex(1);
        let mut transport = LineTransport::new(sent.as_bytes(), output, watch::channel(false).0);
        let mut answers = Vec::new();
        for _ in 0..UNANSWERED_MAX {
            let Some(JsonRpcMessage::Request(request)) = transport.receive().await else {
                panic!("a request")
            };
            let error = ErrorData::internal_error("", None);
            let answer = TxJsonRpcMessage::<RoleServer>::error(error, Some(request.id));
            answers.push(tokio::spawn(transport.send(answer)));
        }
        let next = tokio::time::timeout(Duration::from_millis(200), transport.receive());
        assert!(next.await.is_err(), "it waits");
        let reading = tokio::spawn(async move {
            let (mut told, mut all) = (told, Vec::new());
            drop(told.read_to_end(&mut all).await);
        });
        assert!(transport.receive().await.is_some(), "it goes on when answers are read");
        reading.abort();
        answers.iter().for_each(tokio::task::JoinHandle::abort);
    }
}
