//! A local file server that misbehaves on demand.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::fixtures::TestFile;

/// How one request is answered.
#[derive(Debug, Clone)]
pub(crate) struct ServerBehaviour {
    /// Status and headers to send instead of the file.
    pub(crate) status: Option<(u16, &'static str)>,
    /// Whether ranges are supported.
    pub(crate) ranges: bool,
    pub(crate) etag: Option<&'static str>,
    /// Whether the length is sent; without it the body ends with the connection.
    pub(crate) length: bool,
    /// The connection ends after so many bytes of the body.
    pub(crate) cut_bytes: Option<usize>,
    /// After the body, or the part of it, the connection stays open in silence.
    pub(crate) hang: bool,
    /// Nothing is sent at all and the connection stays open.
    pub(crate) mute: bool,
    /// Bytes to send instead of the file's.
    pub(crate) body: Option<Vec<u8>>,
}

impl Default for ServerBehaviour {
    fn default() -> Self {
        Self {
            status: None,
            ranges: true,
            etag: Some("\"one\""),
            length: true,
            cut_bytes: None,
            hang: false,
            mute: false,
            body: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServedRequest {
    pub(crate) path: String,
    pub(crate) range: Option<String>,
    pub(crate) if_range: Option<String>,
}

pub(crate) struct FileServer {
    address: SocketAddr,
    shared: Arc<ServerState>,
    listening: Option<JoinHandle<()>>,
}

struct ServerState {
    files: Vec<TestFile>,
    behaviour: Box<dyn Fn(usize) -> ServerBehaviour + Send + Sync>,
    requests: Mutex<Vec<ServedRequest>>,
    stopped: AtomicBool,
}

impl FileServer {
    /// Serves the files; `behaviour` says how each request is answered, by its number from 0.
    pub(crate) fn start(
        files: &[TestFile],
        behaviour: impl Fn(usize) -> ServerBehaviour + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(ServerState {
            files: files.to_vec(),
            behaviour: Box::new(behaviour),
            requests: Mutex::default(),
            stopped: AtomicBool::new(false),
        });
        let for_thread = Arc::clone(&shared);
        let listening = thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                if for_thread.stopped.load(Ordering::Relaxed) {
                    return;
                }
                let shared = Arc::clone(&for_thread);
                // A client may disconnect in the middle.
                thread::spawn(move || drop(shared.serve(connection)));
            }
        });
        Self { address, shared, listening: Some(listening) }
    }

    pub(crate) fn well_behaved(files: &[TestFile]) -> Self {
        Self::start(files, |_| ServerBehaviour::default())
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<ServedRequest> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// The requested ranges, in order.
    pub(crate) fn ranges(&self) -> Vec<Option<String>> {
        self.requests().into_iter().map(|request| request.range).collect()
    }
}

impl Drop for FileServer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
        let _ = self.listening.take().map(JoinHandle::join);
    }
}

impl ServerState {
    fn serve(&self, mut connection: TcpStream) -> std::io::Result<()> {
        let Some(request) = read(&connection)? else { return Ok(()) };
        let number = {
            let mut requests = self.requests.lock().unwrap();
            requests.push(request.clone());
            requests.len() - 1
        };
        let behaviour = (self.behaviour)(number);
        if behaviour.mute {
            self.stay();
            return Ok(());
        }
        if let Some((status, headers)) = behaviour.status {
            write!(
                connection,
                "HTTP/1.1 {status} x\r\n{headers}content-length: 0\r\nconnection: close\r\n\r\n"
            )?;
            return connection.flush();
        }
        let name = request.path.rsplit('/').next().unwrap_or_default();
        let file = self.files.iter().find(|(file, _)| *file == name).expect("only known files are requested");
        let whole = behaviour.body.as_ref().unwrap_or(&file.1);
        let (head, body) = answer(whole, &request, &behaviour);
        connection.write_all(head.as_bytes())?;
        let cut = behaviour.cut_bytes.unwrap_or(body.len()).min(body.len());
        connection.write_all(&body[..cut])?;
        connection.flush()?;
        if behaviour.hang {
            self.stay();
        }
        Ok(())
    }

    fn stay(&self) {
        while !self.stopped.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn answer<'a>(whole: &'a [u8], request: &ServedRequest, behaviour: &ServerBehaviour) -> (String, &'a [u8]) {
    let same = request.if_range.as_deref().is_none_or(|etag| Some(etag) == behaviour.etag);
    let start = request.range.as_ref().filter(|_| behaviour.ranges && same).map(|range| {
        range.strip_prefix("bytes=").unwrap().strip_suffix('-').unwrap().parse::<usize>().unwrap()
    });
    let (status, body) = match start {
        Some(start) if start >= whole.len() => (416, &[][..]),
        Some(start) => (206, &whole[start..]),
        None => (200, whole),
    };
    let mut head = format!("HTTP/1.1 {status} x\r\nconnection: close\r\n");
    if let Some(start) = start.filter(|_| status == 206) {
        head += &format!("content-range: bytes {start}-{}/{}\r\n", whole.len() - 1, whole.len());
    }
    if behaviour.length {
        head += &format!("content-length: {}\r\n", body.len());
    }
    if let Some(etag) = behaviour.etag {
        head += &format!("etag: {etag}\r\n");
    }
    (head + "\r\n", body)
}

fn read(connection: &TcpStream) -> std::io::Result<Option<ServedRequest>> {
    let mut lines = BufReader::new(connection).lines();
    let Some(first) = lines.next() else { return Ok(None) };
    let path = first?.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut request = ServedRequest { path, range: None, if_range: None };
    for line in lines {
        let line = line?;
        match line.split_once(": ") {
            Some(("range", value)) => request.range = Some(value.to_owned()),
            Some(("if-range", value)) => request.if_range = Some(value.to_owned()),
            _ if line.is_empty() => break,
            _ => {}
        }
    }
    Ok(Some(request))
}
