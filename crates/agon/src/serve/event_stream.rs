//! The log of a debate as server-sent events: `record` with the event's number as its id, so that a client that reconnects loses
//! nothing and sees nothing twice; `delta` and `state` without an id, because they are not part of the log.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::Stream;
use serde_json::json;
use tokio::sync::{broadcast, mpsc};

use super::ServerState;
use super::problem::Problem;
use crate::hosting::hosted_run::LogFollower;
use agon_engine::TextDelta;

/// How many events wait for a slow client. The debate never waits.
const EVENTS_HELD: usize = 64;
/// A comment is sent when there is nothing else to send, so that nobody on the way takes the connection for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(10);
const COMMENT: Bytes = Bytes::from_static(b":\n\n");

/// A stream of the events that `send` writes, until it ends, the client hangs up, or the server ends.
pub fn event_stream<F, W>(state: ServerState, send: F) -> Response
where
    F: FnOnce(EventSender) -> W,
    W: Future<Output = Option<()>> + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(EVENTS_HELD);
    let writing = send(EventSender(sender));
    tokio::spawn(async move {
        tokio::select! {
            _ = writing => {}
            () = state.ending() => {}
        }
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")];
    (headers, Body::from_stream(received(receiver))).into_response()
}

fn received(receiver: mpsc::Receiver<Bytes>) -> impl Stream<Item = Result<Bytes, Infallible>> {
    futures_util::stream::unfold(receiver, |mut receiver| async move {
        match tokio::time::timeout(KEEP_ALIVE, receiver.recv()).await {
            Ok(frame) => Some((Ok(frame?), receiver)),
            Err(_) => Some((Ok(COMMENT), receiver)),
        }
    })
}

/// An event without a name. The data must have one line, as compact JSON has.
pub fn data_frame(data: &str) -> Bytes {
    format!("data: {data}\n\n").into()
}

/// An event with a name.
pub fn named_frame(name: &str, data: &str) -> Bytes {
    format!("event: {name}\ndata: {data}\n\n").into()
}

/// Sends events to one client. `None` says that it hung up.
pub struct EventSender(mpsc::Sender<Bytes>);

impl EventSender {
    pub async fn send(&self, frame: Bytes) -> Option<()> {
        self.0.send(frame).await.ok()
    }

    /// Waits until the client hangs up.
    pub async fn hung_up(&self) {
        self.0.closed().await;
    }
}

/// Sends the log of one debate and, while it runs here, the pieces of answers and the state.
pub async fn send_debate(
    state: ServerState,
    id: String,
    mut follower: LogFollower,
    sender: EventSender,
) -> Option<()> {
    let mut deltas = None;
    let mut changes = state.host.changes();
    let mut last_state = None;
    loop {
        if deltas.is_none() {
            deltas = state.host.deltas(&id);
        }
        tokio::select! {
            biased;
            lines = follower.next_lines() => match lines {
                Ok(Some(lines)) => {
                    for line in lines {
                        sender.send(line.frame()).await?;
                    }
                }
                Ok(None) => return send_state(&state, &id, &mut last_state, &sender).await,
                Err(error) => {
                    let problem = serde_json::to_string(&Problem::from(error)).unwrap_or_default();
                    return sender.send(named_frame("problem", &problem)).await;
                }
            },
            piece = next_piece(&mut deltas) => sender.send(delta_frame(&piece)).await?,
            changed = changed(&mut changes, &id) => {
                changed?;
                send_state(&state, &id, &mut last_state, &sender).await?;
            }
            () = sender.hung_up() => return None,
        }
    }
}

/// Returns when the debate changes.
async fn changed(changes: &mut broadcast::Receiver<String>, id: &str) -> Option<()> {
    loop {
        match changes.recv().await {
            Ok(changed) if changed == id => return Some(()),
            Err(broadcast::error::RecvError::Lagged(_)) => return Some(()),
            Ok(_) => {}
            Err(broadcast::error::RecvError::Closed) => return None,
        }
    }
}

/// Sends where the debate is and what waits for a person, if that is new.
async fn send_state(
    state: &ServerState,
    id: &str,
    last: &mut Option<String>,
    sender: &EventSender,
) -> Option<()> {
    let now = state.host.state_of(id).await.ok()?;
    let asks: Vec<_> = state.host.waiting_asks(id).into_iter().map(|ask| (ask.ask, ask.attempt)).collect();
    let data = json!({"id": id, "state": now, "asks": asks}).to_string();
    if last.as_ref() != Some(&data) {
        sender.send(named_frame("state", &data)).await?;
        *last = Some(data);
    }
    Some(())
}

/// The next piece of an answer. A client that lags loses pieces; the whole answer comes with its record.
async fn next_piece(deltas: &mut Option<broadcast::Receiver<TextDelta>>) -> TextDelta {
    while let Some(receiver) = deltas {
        match receiver.recv().await {
            Ok(piece) => return piece,
            Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => *deltas = None,
        }
    }
    std::future::pending().await
}

fn delta_frame(piece: &TextDelta) -> Bytes {
    let data = json!({"ask": piece.ask, "attempt": piece.attempt, "text": piece.text});
    named_frame("delta", &data.to_string())
}
