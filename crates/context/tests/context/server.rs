//! A server on loopback that gives whatever bytes a test wants, well or badly.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

/// What the server does with a request.
pub(crate) enum Act {
    /// Sends these bytes and closes.
    Send(Vec<u8>),
    /// Sends these bytes and then nothing until the client goes away.
    Hang(Vec<u8>),
    /// Sends these bytes over and over until the client goes away.
    Forever(Vec<u8>, Vec<u8>),
}

/// A server that runs until the tests end.
pub(crate) struct Server {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    asked: Receiver<()>,
    gone: Receiver<()>,
}

impl Server {
    /// Does with each request, by its path, what `act` says.
    pub(crate) fn start(act: impl Fn(&str) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let ((tell_asked, asked), (tell_gone, gone)) = (channel(), channel());
        let (kept, act) = (Arc::clone(&heads), Arc::new(act));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (kept, act) = (Arc::clone(&kept), Arc::clone(&act));
                let tell = (tell_asked.clone(), tell_gone.clone());
                thread::spawn(move || serve(&stream, &kept, act.as_ref(), &tell));
            }
        });
        Self { address, heads, asked, gone }
    }

    /// The address of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The heads of the requests so far.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    /// Waits for a request. The client goes on meanwhile.
    pub(crate) async fn asked(self) -> Self {
        let waited = tokio::task::spawn_blocking(move || {
            self.asked.recv().unwrap();
            self
        });
        waited.await.unwrap()
    }

    /// Waits until a client has gone away from an answer that was not over.
    pub(crate) async fn left(self) -> Self {
        let waited = tokio::task::spawn_blocking(move || {
            self.gone.recv().unwrap();
            self
        });
        waited.await.unwrap()
    }
}

fn serve(
    stream: &TcpStream,
    kept: &Mutex<Vec<String>>,
    act: &(dyn Fn(&str) -> Act + Send + Sync),
    (asked, gone): &(Sender<()>, Sender<()>),
) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            return;
        }
    }
    let path = head.split_whitespace().nth(1).unwrap_or_default().to_owned();
    kept.lock().unwrap().push(head);
    let _ = asked.send(());
    let mut out = stream;
    match act(&path) {
        Act::Send(bytes) => {
            let _ = out.write_all(&bytes);
        }
        Act::Hang(bytes) => {
            let _ = out.write_all(&bytes);
            let _ = reader.read_to_end(&mut Vec::new());
            let _ = gone.send(());
        }
        Act::Forever(first, again) => {
            let _ = out.write_all(&first);
            while out.write_all(&again).is_ok() {}
            let _ = gone.send(());
        }
    }
}

/// A whole answer with this type and body.
pub(crate) fn ok(content_type: &str, body: impl AsRef<[u8]>) -> Act {
    let body = body.as_ref();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    Act::Send([head.as_bytes(), body].concat())
}

/// An answer of this status with these headers and no body.
pub(crate) fn status(code: u16, headers: &str) -> Act {
    let head = format!("HTTP/1.1 {code} Status\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n");
    Act::Send(head.into_bytes())
}
