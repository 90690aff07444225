//! A server on loopback that answers well or badly.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What the server does with a request.
pub(crate) enum ServerAction {
    /// Sends these bytes and closes.
    Send(Vec<u8>),
    /// Sends these bytes and then waits until the client is gone.
    Hang(Vec<u8>),
}

#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl ReceivedRequest {
    pub(crate) fn path(&self) -> &str {
        self.head.split_whitespace().nth(1).unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

/// A server that runs until the tests end.
pub(crate) struct TestServer {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl TestServer {
    /// Calls `act` with each request and its number, which starts at 0.
    pub(crate) fn start(
        act: impl Fn(&ReceivedRequest, usize) -> ServerAction + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (received, act) = (Arc::clone(&requests), Arc::new(act));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (received, act) = (Arc::clone(&received), Arc::clone(&act));
                thread::spawn(move || serve(&stream, &received, act.as_ref()));
            }
        });
        Self { address, requests }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(
    stream: &TcpStream,
    received: &Mutex<Vec<ReceivedRequest>>,
    act: &(dyn Fn(&ReceivedRequest, usize) -> ServerAction + Send + Sync),
) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            return;
        }
    }
    let mut request = ReceivedRequest { head, body: Vec::new() };
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    request.body = vec![0; length];
    reader.read_exact(&mut request.body).unwrap();
    let number = {
        let mut received = received.lock().unwrap();
        received.push(request.clone());
        received.len() - 1
    };
    let mut out = stream;
    match act(&request, number) {
        ServerAction::Send(bytes) => {
            let _ = out.write_all(&bytes);
        }
        ServerAction::Hang(bytes) => {
            let _ = out.write_all(&bytes);
            let _ = reader.read_to_end(&mut Vec::new());
        }
    }
}

pub(crate) fn status(code: u16, headers: &str, body: &str) -> ServerAction {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {code} Status\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    ServerAction::Send(head.into_bytes())
}
