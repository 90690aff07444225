//! A server on loopback that sends whatever bytes a test wants.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

/// What the server does with a request.
pub(crate) enum ServerAction {
    /// Sends these bytes and closes the connection.
    Send(Vec<u8>),
    /// Sends these bytes, then nothing until the client disconnects.
    Hang(Vec<u8>),
    /// Sends the first bytes once and the second over and over until the client disconnects.
    Endless(Vec<u8>, Vec<u8>),
}

/// A server that runs until the tests end.
pub(crate) struct TestServer {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    requested: Receiver<()>,
    disconnected: Receiver<()>,
}

impl TestServer {
    /// Starts a server that answers each request by its path.
    pub(crate) fn start(action: impl Fn(&str) -> ServerAction + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let ((send_requested, requested), (send_disconnected, disconnected)) = (channel(), channel());
        let (seen, action) = (Arc::clone(&heads), Arc::new(action));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (seen, action) = (Arc::clone(&seen), Arc::clone(&action));
                let senders = (send_requested.clone(), send_disconnected.clone());
                thread::spawn(move || serve(&stream, &seen, action.as_ref(), &senders));
            }
        });
        Self { address, heads, requested, disconnected }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The heads of all requests so far.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    /// Waits for a request without blocking the client's runtime.
    pub(crate) async fn wait_for_request(self) -> Self {
        let wait = tokio::task::spawn_blocking(move || {
            self.requested.recv().unwrap();
            self
        });
        wait.await.unwrap()
    }

    /// Waits until a client has disconnected from an unfinished response.
    pub(crate) async fn wait_for_disconnect(self) -> Self {
        let wait = tokio::task::spawn_blocking(move || {
            self.disconnected.recv().unwrap();
            self
        });
        wait.await.unwrap()
    }
}

fn serve(
    stream: &TcpStream,
    heads: &Mutex<Vec<String>>,
    action: &(dyn Fn(&str) -> ServerAction + Send + Sync),
    (requested, disconnected): &(Sender<()>, Sender<()>),
) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            return;
        }
    }
    let path = head.split_whitespace().nth(1).unwrap_or_default().to_owned();
    heads.lock().unwrap().push(head);
    let _ = requested.send(());
    let mut out = stream;
    match action(&path) {
        ServerAction::Send(bytes) => {
            let _ = out.write_all(&bytes);
        }
        ServerAction::Hang(bytes) => {
            let _ = out.write_all(&bytes);
            let _ = reader.read_to_end(&mut Vec::new());
            let _ = disconnected.send(());
        }
        ServerAction::Endless(first, again) => {
            let _ = out.write_all(&first);
            while out.write_all(&again).is_ok() {}
            let _ = disconnected.send(());
        }
    }
}

/// A complete response with this type and body.
pub(crate) fn ok(content_type: &str, body: impl AsRef<[u8]>) -> ServerAction {
    let body = body.as_ref();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    ServerAction::Send([head.as_bytes(), body].concat())
}

/// A response with this status and these headers, without a body.
pub(crate) fn status(code: u16, headers: &str) -> ServerAction {
    let head = format!("HTTP/1.1 {code} Status\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n");
    ServerAction::Send(head.into_bytes())
}
