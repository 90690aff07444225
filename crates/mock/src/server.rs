//! The server: a thread for each connection and blocking I/O.
//!
//! That is cheaper here than a runtime: a call costs one read, one sleep on the kernel's timer and one write, and a
//! client that keeps its connections makes no more threads than it has calls at once.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

use crate::{Request, Response, Spoilt, http, wire};

/// What the server answers to a request.
pub type Responder = Arc<dyn Fn(&Request) -> Response + Send + Sync>;

/// The stack of a connection's thread: it holds no big value, and there may be thousands.
const STACK_BYTES: usize = 128 * 1024;

/// How a mock server behaves.
#[derive(Clone)]
pub struct MockSettings {
    /// What it answers.
    pub responder: Responder,
    /// How many requests it keeps for [`Mock::requests`]; later ones are only counted. A benchmark sets 0.
    pub keep: usize,
}

impl MockSettings {
    /// Answers with `responder` and keeps the first thousand requests.
    pub fn new(responder: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Self {
        Self { responder: Arc::new(responder), keep: 1_000 }
    }
}

/// A server that runs until it is dropped.
pub struct Mock {
    address: SocketAddr,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

struct Shared {
    settings: MockSettings,
    stopped: AtomicBool,
    calls: AtomicU64,
    abandoned: AtomicU64,
    requests: Mutex<Vec<Request>>,
    lister: Mutex<Option<Responder>>,
    connections: Mutex<BTreeMap<u64, (TcpStream, Thread)>>,
}

impl Mock {
    /// Starts a server on a free port of loopback.
    pub fn start(settings: MockSettings) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            settings,
            stopped: AtomicBool::new(false),
            calls: AtomicU64::new(0),
            abandoned: AtomicU64::new(0),
            requests: Mutex::default(),
            lister: Mutex::default(),
            connections: Mutex::default(),
        });
        let listening = {
            let shared = Arc::clone(&shared);
            thread::Builder::new().name("mock".into()).spawn(move || listen(&listener, &shared))?
        };
        Ok(Self { address, shared, listening: Some(listening) })
    }

    /// The base URL, with `/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The same without the path: Gemini has it in another place.
    pub fn root(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers requests for the list of models so from now on.
    pub fn list(&self, lister: impl Fn(&Request) -> Response + Send + Sync + 'static) {
        *lock(&self.shared.lister) = Some(Arc::new(lister));
    }

    /// The requests so far, without those for the list of models: the first [`MockSettings::keep`] of them.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }

    /// How many requests there were for an answer or for embeddings.
    pub fn calls(&self) -> u64 {
        self.shared.calls.load(Ordering::Relaxed)
    }

    /// How many clients went away from an answer that hung or stalled.
    pub fn abandoned(&self) -> u64 {
        self.shared.abandoned.load(Ordering::Relaxed)
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // The listener waits in accept; one more connection lets it see that it is to stop.
        let woken = TcpStream::connect_timeout(&self.address, Duration::from_secs(1)).is_ok();
        if let Some(listening) = self.listening.take().filter(|_| woken) {
            let _ = listening.join();
        }
        for (stream, thread) in lock(&self.shared.connections).values() {
            let _ = stream.shutdown(Shutdown::Both);
            thread.unpark();
        }
    }
}

impl fmt::Debug for Mock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mock").field("url", &self.url()).field("calls", &self.calls()).finish()
    }
}

fn listen(listener: &TcpListener, shared: &Arc<Shared>) {
    for (id, stream) in (0..).zip(listener.incoming()) {
        if shared.stopped.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        let connection = thread::Builder::new().name("mock-connection".into()).stack_size(STACK_BYTES);
        let _ = connection.spawn(move || {
            // A client may go away at any moment; that is no fault of the server's.
            let _ = connect(id, stream, &shared);
        });
    }
}

fn connect(id: u64, stream: TcpStream, shared: &Shared) -> io::Result<()> {
    lock(&shared.connections).insert(id, (stream.try_clone()?, thread::current()));
    let served = if shared.stopped.load(Ordering::SeqCst) { Ok(()) } else { serve(&stream, shared) };
    lock(&shared.connections).remove(&id);
    served
}

fn serve(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::with_capacity(32 * 1024, stream);
    while let Some(request) = http::read(&mut reader)? {
        let since = Instant::now();
        let response = answer(&request, shared);
        let (bytes, head) = http::write(&request, &response);
        keep(request, shared);
        if !wait_until(since + response.delay, shared) {
            return Ok(());
        }
        let half = head + (bytes.len() - head) / 2;
        match response.spoilt {
            None => (&*stream).write_all(&bytes)?,
            Some(Spoilt::Hang) => return abandon(reader, shared),
            Some(Spoilt::Stall) => {
                (&*stream).write_all(bytes.get(..half).unwrap_or_default())?;
                return abandon(reader, shared);
            }
            Some(Spoilt::Truncate) => return (&*stream).write_all(bytes.get(..half).unwrap_or_default()),
            Some(Spoilt::Reset) => {
                (&*stream).write_all(bytes.get(..half).unwrap_or_default())?;
                return reset(stream);
            }
        }
    }
    Ok(())
}

fn answer(request: &Request, shared: &Shared) -> Response {
    if request.wire().is_some() {
        shared.calls.fetch_add(1, Ordering::Relaxed);
        return (shared.settings.responder)(request);
    }
    match wire::models(request).filter(|_| request.method == "GET") {
        Some(models) => {
            let lister = lock(&shared.lister).clone();
            lister.map_or_else(|| Response::json(200, &models), |lister| lister(request))
        }
        None => Response::error(404, "there is no such path"),
    }
}

fn keep(request: Request, shared: &Shared) {
    if shared.settings.keep == 0 || request.method != "POST" {
        return;
    }
    let mut requests = lock(&shared.requests);
    if requests.len() < shared.settings.keep {
        requests.push(request);
    }
}

/// Waits on this thread's own timer; `false` when the server was dropped meanwhile.
fn wait_until(moment: Instant, shared: &Shared) -> bool {
    loop {
        let left = moment.saturating_duration_since(Instant::now());
        if shared.stopped.load(Ordering::SeqCst) || left.is_zero() {
            return left.is_zero();
        }
        thread::park_timeout(left);
    }
}

/// Waits until the client goes away.
fn abandon(mut reader: impl Read, shared: &Shared) -> io::Result<()> {
    let gone = io::copy(&mut reader, &mut io::sink());
    if !shared.stopped.load(Ordering::SeqCst) {
        shared.abandoned.fetch_add(1, Ordering::Relaxed);
    }
    gone.map(|_| ())
}

/// Closes with a reset in the place of a goodbye. The client must have taken in what was sent before, for a reset
/// overtakes it.
fn reset(stream: &TcpStream) -> io::Result<()> {
    thread::sleep(Duration::from_millis(20));
    socket2::SockRef::from(stream).set_linger(Some(Duration::ZERO))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
