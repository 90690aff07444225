//! The server: HTTP/1.1 over blocking I/O, with one thread per connection.
//!
//! This is cheaper here than a runtime: a call costs one read, one sleep on the kernel's timer and one write. A client
//! that reuses its connections causes no more threads than it has calls in flight.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

use crate::response::ResponseBody;
use crate::{ConnectionFault, MockRequest, MockResponse, wire_formats};

/// Decides what the server answers to a request.
pub type MockResponder = Arc<dyn Fn(&MockRequest) -> MockResponse + Send + Sync>;

/// A connection's thread has no large values on its stack, and there may be thousands of threads.
const STACK_BYTES: usize = 128 * 1024;
/// Larger than any request of a debate.
const HEAD_BYTES_MAX: u64 = 64 * 1024;
const BODY_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How a mock server behaves.
#[derive(Clone)]
pub struct MockSettings {
    /// Answers the requests.
    pub responder: MockResponder,
    /// How many requests to keep for [`MockServer::requests`]. Later ones are only counted. A benchmark sets 0.
    pub keep: usize,
}

impl MockSettings {
    /// Answers with `responder` and keeps the first thousand requests.
    pub fn new(responder: impl Fn(&MockRequest) -> MockResponse + Send + Sync + 'static) -> Self {
        Self { responder: Arc::new(responder), keep: 1_000 }
    }
}

/// A server that runs until it is dropped.
pub struct MockServer {
    address: SocketAddr,
    state: Arc<ServerState>,
    listener: Option<JoinHandle<()>>,
}

struct ServerState {
    settings: MockSettings,
    stopped: AtomicBool,
    calls: AtomicU64,
    abandoned: AtomicU64,
    requests: Mutex<Vec<MockRequest>>,
    model_lister: Mutex<Option<MockResponder>>,
    connections: Mutex<BTreeMap<u64, (TcpStream, Thread)>>,
}

impl MockServer {
    /// Starts a server on a free port of loopback.
    pub fn start(settings: MockSettings) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let state = Arc::new(ServerState {
            settings,
            stopped: AtomicBool::new(false),
            calls: AtomicU64::new(0),
            abandoned: AtomicU64::new(0),
            requests: Mutex::default(),
            model_lister: Mutex::default(),
            connections: Mutex::default(),
        });
        let listener = {
            let state = Arc::clone(&state);
            thread::Builder::new().name("mock".into()).spawn(move || listen(&listener, &state))?
        };
        Ok(Self { address, state, listener: Some(listener) })
    }

    /// The base URL with `/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The base URL without a path, for Gemini.
    pub fn root(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on, answers requests for the list of models with `lister`.
    pub fn list(&self, lister: impl Fn(&MockRequest) -> MockResponse + Send + Sync + 'static) {
        *lock(&self.state.model_lister) = Some(Arc::new(lister));
    }

    /// The first [`MockSettings::keep`] requests, without those for the list of models.
    pub fn requests(&self) -> Vec<MockRequest> {
        lock(&self.state.requests).clone()
    }

    /// How many requests asked for a message or for embeddings.
    pub fn calls(&self) -> u64 {
        self.state.calls.load(Ordering::Relaxed)
    }

    /// How many clients disconnected from an answer that hung or stalled.
    pub fn abandoned(&self) -> u64 {
        self.state.abandoned.load(Ordering::Relaxed)
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        self.state.stopped.store(true, Ordering::SeqCst);
        // The listener is blocked in `accept`. One more connection wakes it up.
        let woken = TcpStream::connect_timeout(&self.address, Duration::from_secs(1)).is_ok();
        if let Some(listener) = self.listener.take().filter(|_| woken) {
            let _ = listener.join();
        }
        for (stream, thread) in lock(&self.state.connections).values() {
            let _ = stream.shutdown(Shutdown::Both);
            thread.unpark();
        }
    }
}

impl fmt::Debug for MockServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MockServer").field("url", &self.url()).field("calls", &self.calls()).finish()
    }
}

fn listen(listener: &TcpListener, state: &Arc<ServerState>) {
    for (id, stream) in (0..).zip(listener.incoming()) {
        if state.stopped.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let state = Arc::clone(state);
        let connection = thread::Builder::new().name("mock-connection".into()).stack_size(STACK_BYTES);
        let _ = connection.spawn(move || {
            // A client may disconnect at any time; that is not an error of the server.
            let _ = handle_connection(id, stream, &state);
        });
    }
}

fn handle_connection(id: u64, stream: TcpStream, state: &ServerState) -> io::Result<()> {
    lock(&state.connections).insert(id, (stream.try_clone()?, thread::current()));
    let result = if state.stopped.load(Ordering::SeqCst) { Ok(()) } else { serve_requests(&stream, state) };
    lock(&state.connections).remove(&id);
    result
}

fn serve_requests(mut stream: &TcpStream, state: &ServerState) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::with_capacity(32 * 1024, stream);
    while let Some(request) = read_request(&mut reader)? {
        let received_at = Instant::now();
        let response = respond(&request, state);
        let (bytes, head_bytes) = response_bytes(&request, &response);
        keep_request(request, state);
        if !wait_until(received_at + response.delay, state) {
            return Ok(());
        }
        let half = bytes.get(..head_bytes + (bytes.len() - head_bytes) / 2).unwrap_or_default();
        match response.spoilt {
            None => stream.write_all(&bytes)?,
            Some(ConnectionFault::Hang) => return wait_for_disconnect(reader, state),
            Some(ConnectionFault::Stall) => {
                stream.write_all(half)?;
                return wait_for_disconnect(reader, state);
            }
            Some(ConnectionFault::Truncate) => return stream.write_all(half),
            Some(ConnectionFault::Endless) => {
                stream.write_all(&bytes)?;
                let body = bytes.get(head_bytes..).unwrap_or_default();
                while !state.stopped.load(Ordering::SeqCst) {
                    stream.write_all(body)?;
                }
                return Ok(());
            }
            Some(ConnectionFault::Reset) => {
                stream.write_all(half)?;
                return reset_connection(stream);
            }
        }
    }
    Ok(())
}

fn respond(request: &MockRequest, state: &ServerState) -> MockResponse {
    if request.wire().is_some() {
        state.calls.fetch_add(1, Ordering::Relaxed);
        return (state.settings.responder)(request);
    }
    match wire_formats::model_list(request).filter(|_| request.method == "GET") {
        Some(models) => {
            let lister = lock(&state.model_lister).clone();
            lister.map_or_else(|| MockResponse::json(200, &models), |lister| lister(request))
        }
        None => MockResponse::error(404, "there is no such path"),
    }
}

fn keep_request(request: MockRequest, state: &ServerState) {
    if state.settings.keep == 0 || request.method != "POST" {
        return;
    }
    let mut requests = lock(&state.requests);
    if requests.len() < state.settings.keep {
        requests.push(request);
    }
}

/// Sleeps on this thread's timer. Returns `false` if the server was dropped meanwhile.
fn wait_until(moment: Instant, state: &ServerState) -> bool {
    loop {
        let left = moment.saturating_duration_since(Instant::now());
        if state.stopped.load(Ordering::SeqCst) || left.is_zero() {
            return left.is_zero();
        }
        thread::park_timeout(left);
    }
}

fn wait_for_disconnect(mut reader: impl Read, state: &ServerState) -> io::Result<()> {
    let result = io::copy(&mut reader, &mut io::sink());
    if !state.stopped.load(Ordering::SeqCst) {
        state.abandoned.fetch_add(1, Ordering::Relaxed);
    }
    result.map(|_| ())
}

/// Makes the connection end with a reset. A reset discards data in flight, so this waits until the client has read what
/// was sent.
fn reset_connection(stream: &TcpStream) -> io::Result<()> {
    thread::sleep(Duration::from_millis(20));
    socket2::SockRef::from(stream).set_linger(Some(Duration::ZERO))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads the next request of a connection. `None` if the client closed it.
fn read_request(from: &mut impl BufRead) -> io::Result<Option<MockRequest>> {
    let invalid = |why: &str| Err(io::Error::new(io::ErrorKind::InvalidData, why));
    let mut head = from.take(HEAD_BYTES_MAX);
    let mut line = String::new();
    if head.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return invalid("no request line") };
    let mut headers = Vec::new();
    loop {
        line.clear();
        if head.read_line(&mut line)? == 0 {
            return invalid("the head ends early or is too long");
        }
        match line.trim_end().split_once(':') {
            Some((name, value)) => headers.push((name.to_ascii_lowercase(), value.trim().to_owned())),
            None => break,
        }
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: u64 = length.and_then(|(_, value)| value.parse().ok()).unwrap_or_default();
    if length > BODY_BYTES_MAX {
        return invalid("the body is too long");
    }
    let mut body = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    if from.take(length).read_to_end(&mut body)? as u64 != length {
        return invalid("the body ends early");
    }
    Ok(Some(MockRequest::new(method, path, headers, body)))
}

/// The whole response, and how many of its bytes are the head.
fn response_bytes(request: &MockRequest, response: &MockResponse) -> (Vec<u8>, usize) {
    let json = "application/json";
    let (content_type, body, is_chunked) = match &response.body {
        ResponseBody::Raw { content_type, bytes } => (content_type.as_str(), bytes.clone(), false),
        ResponseBody::Words(words) if request.streams() => {
            ("text/event-stream", wire_formats::stream_body(request, words), true)
        }
        ResponseBody::Words(words) => (json, wire_formats::message_body(request, words), false),
        ResponseBody::Error { message } => {
            (json, wire_formats::error_body(request, response.status, message), false)
        }
    };
    let mut head = format!("HTTP/1.1 {} Mock\r\nContent-Type: {content_type}\r\n", response.status);
    for (name, value) in &response.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if response.spoilt == Some(ConnectionFault::Endless) {
        head.push_str("Connection: close\r\n\r\n");
    } else if is_chunked {
        head.push_str("Transfer-Encoding: chunked\r\n\r\n");
    } else {
        head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
    }
    let head_bytes = head.len();
    let mut bytes = head.into_bytes();
    bytes.extend(body);
    (bytes, head_bytes)
}
