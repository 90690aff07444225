//! A file server on loopback that misbehaves when told to.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::things::File;

/// How one request is answered.
#[derive(Debug, Clone)]
pub(crate) struct Manner {
    /// Instead of the file.
    pub(crate) status: Option<(u16, &'static str)>,
    /// Whether a request for a range gets one.
    pub(crate) ranges: bool,
    pub(crate) etag: Option<&'static str>,
    /// Whether the length is told; without it the body ends with the connection.
    pub(crate) length: bool,
    /// So many bytes of the body, and then the end.
    pub(crate) cut_bytes: Option<usize>,
    /// After the body, or after so much of it, nothing more comes and the connection stays.
    pub(crate) hang: bool,
    /// Nothing comes at all and the connection stays.
    pub(crate) mute: bool,
    /// These bytes instead of the file's.
    pub(crate) body: Option<Vec<u8>>,
}

impl Default for Manner {
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
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) range: Option<String>,
    pub(crate) if_range: Option<String>,
}

pub(crate) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

struct Shared {
    files: Vec<File>,
    manner: Box<dyn Fn(usize) -> Manner + Send + Sync>,
    requests: Mutex<Vec<Request>>,
    stopped: AtomicBool,
}

impl Server {
    /// Serves the files; `manner` says how the request of this number is answered, the first being 0.
    pub(crate) fn start(files: &[File], manner: impl Fn(usize) -> Manner + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            files: files.to_vec(),
            manner: Box::new(manner),
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
                // A client that goes away in the middle is no fault of the server's.
                thread::spawn(move || drop(shared.serve(connection)));
            }
        });
        Self { address, shared, listening: Some(listening) }
    }

    pub(crate) fn well_behaved(files: &[File]) -> Self {
        Self::start(files, |_| Manner::default())
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// The ranges that were asked for, in order.
    pub(crate) fn ranges(&self) -> Vec<Option<String>> {
        self.requests().into_iter().map(|request| request.range).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
        let _ = self.listening.take().map(JoinHandle::join);
    }
}

impl Shared {
    fn serve(&self, mut connection: TcpStream) -> std::io::Result<()> {
        let Some(request) = read(&connection)? else { return Ok(()) };
        let nth = {
            let mut requests = self.requests.lock().unwrap();
            requests.push(request.clone());
            requests.len() - 1
        };
        let manner = (self.manner)(nth);
        if manner.mute {
            self.stay();
            return Ok(());
        }
        if let Some((status, headers)) = manner.status {
            write!(
                connection,
                "HTTP/1.1 {status} x\r\n{headers}content-length: 0\r\nconnection: close\r\n\r\n"
            )?;
            return connection.flush();
        }
        let name = request.path.rsplit('/').next().unwrap_or_default();
        let file = self.files.iter().find(|(file, _)| *file == name).expect("only known files are asked for");
        let whole = manner.body.as_ref().unwrap_or(&file.1);
        let (head, body) = answer(whole, &request, &manner);
        connection.write_all(head.as_bytes())?;
        let cut = manner.cut_bytes.unwrap_or(body.len()).min(body.len());
        connection.write_all(&body[..cut])?;
        connection.flush()?;
        if manner.hang {
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

fn answer<'a>(whole: &'a [u8], request: &Request, manner: &Manner) -> (String, &'a [u8]) {
    let same = request.if_range.as_deref().is_none_or(|etag| Some(etag) == manner.etag);
    let start = request.range.as_ref().filter(|_| manner.ranges && same).map(|range| {
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
    if manner.length {
        head += &format!("content-length: {}\r\n", body.len());
    }
    if let Some(etag) = manner.etag {
        head += &format!("etag: {etag}\r\n");
    }
    (head + "\r\n", body)
}

fn read(connection: &TcpStream) -> std::io::Result<Option<Request>> {
    let mut lines = BufReader::new(connection).lines();
    let Some(first) = lines.next() else { return Ok(None) };
    let path = first?.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut request = Request { path, range: None, if_range: None };
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
