//! Accepts connections: how many there are, and how long one may be silent.
//!
//! A client that sends its request byte by byte, reads no answer or only stays connected must not keep others out. So there is a time
//! for the head of a request, which also ends idle connections, one for its body, and one for every write.

use std::convert::Infallible;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep};

use super::no_place;

/// How long a client may take for the head of a request, from the end of the last one.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a client may take for the body of a request.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a client may leave what was sent to it unread.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);
/// The largest head of a request, and how much of an answer waits for a slow client.
const BUFFER_BYTES_MAX: usize = 64 * 1024;
/// How many clients at once are told that there is no place. Others are only disconnected.
const REFUSALS_AT_ONCE: usize = 64;
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(5);
/// How long to wait if a connection cannot be accepted, for instance because too many files are open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Accepts connections until the server ends, and then waits until all are closed.
pub async fn accept_connections(
    listener: TcpListener,
    router: Router,
    connections_max: usize,
    mut ending: watch::Receiver<bool>,
) {
    let places = Arc::new(Semaphore::new(connections_max.min(Semaphore::MAX_PERMITS)));
    let refusals = Arc::new(Semaphore::new(REFUSALS_AT_ONCE));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = ending.wait_for(|ends| *ends) => break,
            Some(_) = connections.join_next() => continue,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        // Events are small, and each should arrive at once. If that cannot be set, they arrive a little later.
        drop(stream.set_nodelay(true));
        match places.clone().try_acquire_owned() {
            Ok(place) => {
                let (router, ending) = (router.clone(), ending.clone());
                connections.spawn(async move {
                    let _place = place;
                    serve_connection(stream, router, ending).await;
                });
            }
            Err(_) => {
                let Ok(place) = refusals.clone().try_acquire_owned() else { continue };
                connections.spawn(async move {
                    let _place = place;
                    drop(tokio::time::timeout(REFUSAL_TIMEOUT, refuse_connection(stream)).await);
                });
            }
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn serve_connection(stream: TcpStream, router: Router, mut ending: watch::Receiver<bool>) {
    let service = TowerToHyperService::new(router);
    let stream = TokioIo::new(PatientStream::new(stream, WRITE_TIMEOUT));
    let mut connection = pin!(connection_settings().serve_connection(stream, service));
    // A connection that breaks is the client's business.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = ending.wait_for(|ends| *ends) => connection.as_mut().graceful_shutdown(),
    }
    drop(connection.await);
}

/// Tells a client that there is no place for it.
async fn refuse_connection(stream: TcpStream) {
    let refusal =
        hyper::service::service_fn(|_| async { Ok::<Response, Infallible>(no_place().into_response()) });
    let mut settings = connection_settings();
    drop(settings.keep_alive(false).serve_connection(TokioIo::new(stream), refusal).await);
}

fn connection_settings() -> http1::Builder {
    let mut settings = http1::Builder::new();
    settings.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(BUFFER_BYTES_MAX);
    settings
}

/// A body that ends with an error if the client takes too long for it.
pub fn body_in_time(body: Body) -> Body {
    let until = Instant::now() + BODY_TIMEOUT;
    Body::from_stream(in_time(body.into_data_stream().boxed(), until))
}

fn in_time(
    pieces: impl Stream<Item = Result<Bytes, axum::Error>> + Send + Unpin + 'static,
    until: Instant,
) -> impl Stream<Item = Result<Bytes, axum::Error>> + Send {
    futures_util::stream::unfold(Some(pieces), move |pieces| async move {
        let mut pieces = pieces?;
        match tokio::time::timeout_at(until, pieces.next()).await {
            Ok(piece) => Some((piece?, Some(pieces))),
            Err(_) => {
                let late =
                    io::Error::new(io::ErrorKind::TimedOut, "it did not arrive in time: send it again");
                Some((Err(axum::Error::new(late)), None))
            }
        }
    })
}

/// A connection that breaks if the client reads nothing for a time.
struct PatientStream<S> {
    stream: S,
    patience: Duration,
    /// Runs while a write waits.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S> PatientStream<S> {
    fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, waiting: None }
    }

    fn in_time<T>(&mut self, context: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.waiting = None;
            return polled;
        }
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        waiting.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for PatientStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for PatientStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.in_time(context, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.in_time(context, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.in_time(context, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(context);
        self.in_time(context, polled)
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::{get, post};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// A server with one place, and its address.
    async fn server(connections_max: usize) -> (std::net::SocketAddr, watch::Sender<bool>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (end, ending) = watch::channel(false);
        let echo = |body: Body| async {
            axum::body::to_bytes(body_in_time(body), 99).await.map_err(|why| why.to_string())
        };
        let router = Router::new().route("/", get(|| async { "here" })).route("/", post(echo));
        tokio::spawn(accept_connections(listener, router, connections_max, ending));
        (address, end)
    }

    async fn connect(address: std::net::SocketAddr, said: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(said.as_bytes()).await.unwrap();
        stream
    }

    /// What the server says until it closes the connection.
    async fn answer(mut stream: TcpStream) -> String {
        let mut said = String::new();
        stream.read_to_string(&mut said).await.unwrap();
        said
    }

    const REQUEST: &str = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

    /// Time stands still but for timers, so nobody waits.
    #[tokio::test(start_paused = true)]
    async fn a_client_that_sends_no_whole_head_or_nothing_more_is_disconnected() {
        let (address, _end) = server(10).await;
        for said in ["", "GET / HTTP/1.1\r\nHost: local", "GET / HTTP/1.1\r\n"] {
            assert!(!answer(connect(address, said).await).await.contains("200"), "{said}");
        }
        assert!(
            answer(connect(address, REQUEST).await).await.contains("here"),
            "an idle connection ends, too"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_come_is_an_error() {
        let (address, _end) = server(10).await;
        let half = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf";
        assert!(answer(connect(address, half).await).await.contains("it did not arrive in time"));
    }

    #[tokio::test]
    async fn beyond_the_limit_a_client_is_told_to_come_again() {
        let (address, _end) = server(1).await;
        let mut first = connect(address, REQUEST).await;
        let mut said = [0; 15];
        first.read_exact(&mut said).await.unwrap();
        assert_eq!(&said, b"HTTP/1.1 200 OK");
        let refused = answer(connect(address, REQUEST).await).await;
        assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("retry-after: 1"), "{refused}");
        drop(first);
        // The server learns of it when it looks at the connection.
        while !answer(connect(address, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await)
            .await
            .contains("here")
        {}
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_nothing_is_disconnected() {
        let (_client, server) = tokio::io::duplex(8);
        let mut stream = PatientStream::new(server, WRITE_TIMEOUT);
        let broken = stream.write_all(&[0; 9]).await.unwrap_err();
        assert_eq!(broken.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn at_the_end_open_connections_are_closed() {
        let (address, end) = server(10).await;
        let mut idle = connect(address, REQUEST).await;
        end.send_replace(true);
        // The server may end before it has read the request. Then the connection is reset, which closes it too.
        drop(idle.read_to_end(&mut Vec::new()).await);
    }
}
