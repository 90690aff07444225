//! A server on loopback that takes what it is sent, well or badly.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What the server does with a request.
pub(crate) enum Act {
    /// Sends these bytes and closes.
    Send(Vec<u8>),
    /// Sends these bytes and then nothing until the client goes away.
    Hang(Vec<u8>),
}

/// What it was sent.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// The path.
    pub(crate) fn path(&self) -> &str {
        self.head.split_whitespace().nth(1).unwrap_or_default()
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

/// A server that runs until the tests end.
pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Does with each request, and its number from 0, what `act` says.
    pub(crate) fn start(act: impl Fn(&Request, usize) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (kept, act) = (Arc::clone(&requests), Arc::new(act));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (kept, act) = (Arc::clone(&kept), Arc::clone(&act));
                thread::spawn(move || serve(&stream, &kept, act.as_ref()));
            }
        });
        Self { address, requests }
    }

    /// The address of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What it was sent so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(
    stream: &TcpStream,
    kept: &Mutex<Vec<Request>>,
    act: &(dyn Fn(&Request, usize) -> Act + Send + Sync),
) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            return;
        }
    }
    let mut request = Request { head, body: Vec::new() };
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    request.body = vec![0; length];
    reader.read_exact(&mut request.body).unwrap();
    let number = {
        let mut kept = kept.lock().unwrap();
        kept.push(request.clone());
        kept.len() - 1
    };
    let mut out = stream;
    match act(&request, number) {
        Act::Send(bytes) => {
            let _ = out.write_all(&bytes);
        }
        Act::Hang(bytes) => {
            let _ = out.write_all(&bytes);
            let _ = reader.read_to_end(&mut Vec::new());
        }
    }
}

/// An answer of this status with these headers and this body.
pub(crate) fn status(code: u16, headers: &str, body: &str) -> Act {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {code} Status\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    Act::Send(head.into_bytes())
}
