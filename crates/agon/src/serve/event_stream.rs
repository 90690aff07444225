//! The log of a debate as server-sent events: `record` with the event's number as its id, so that a client that reconnects loses
//! nothing and sees nothing twice; `delta` and `state` without an id, because they are not part of the log.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::Stream;
use serde_json::json;
use tokio::sync::{broadcast, mpsc};

use super::problem::Problem;
use super::{ServerState, no_place};
use crate::hosting::hosted_run::LogFollower;
use agon_engine::TextDelta;

/// How many events wait for a slow client. The debate never waits.
const EVENTS_HELD: usize = 64;
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// A stream of the events that `send` writes, until it ends, the client hangs up, or the server ends.
pub fn event_stream<F, W>(state: ServerState, send: F) -> Response
where
    F: FnOnce(EventSender) -> W,
    W: Future<Output = Option<()>> + Send + 'static,
{
    let Ok(place) = state.places.clone().try_acquire_owned() else { return no_place().into_response() };
    let (sender, receiver) = mpsc::channel(EVENTS_HELD);
    let writing = send(EventSender(sender));
    tokio::spawn(async move {
        // A stream is a request under way until it ends.
        let _place = place;
        tokio::select! {
            _ = writing => {}
            () = state.ending() => {}
        }
    });
    Sse::new(received(receiver)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

fn received(receiver: mpsc::Receiver<Event>) -> impl Stream<Item = Result<Event, Infallible>> {
    futures_util::stream::unfold(receiver, |mut receiver| async move {
        let event = receiver.recv().await?;
        Some((Ok(event), receiver))
    })
}

/// Sends events to one client. `None` says that it hung up.
pub struct EventSender(mpsc::Sender<Event>);

impl EventSender {
    pub async fn send(&self, event: Event) -> Option<()> {
        self.0.send(event).await.ok()
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
                        let event = Event::default().event("record").id(line.seq.to_string()).data(line.text);
                        sender.send(event).await?;
                    }
                }
                Ok(None) => return send_state(&state, &id, &mut last_state, &sender).await,
                Err(error) => {
                    let problem = serde_json::to_string(&Problem::from(error)).unwrap_or_default();
                    return sender.send(Event::default().event("problem").data(problem)).await;
                }
            },
            piece = next_piece(&mut deltas) => sender.send(delta_event(&piece)).await?,
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
    let wanted = id.to_owned();
    let listed = state.host.read_store(move |store| store.listed_debate(&wanted)).await.ok()?;
    let asks: Vec<_> = state.host.waiting_asks(id).into_iter().map(|ask| (ask.ask, ask.attempt)).collect();
    let data = json!({"id": id, "state": state.host.state(&listed), "asks": asks}).to_string();
    if last.as_ref() != Some(&data) {
        sender.send(Event::default().event("state").data(&data)).await?;
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

fn delta_event(piece: &TextDelta) -> Event {
    let data = json!({"ask": piece.ask, "attempt": piece.attempt, "text": piece.text});
    Event::default().event("delta").data(data.to_string())
}
