//! Opening, listing, reading and following debates.

use std::collections::BTreeMap;
use std::time::Duration;

use agon_core::event::sha256;
use agon_store::ListedDebate;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ApiPath, ApiQuery, parse_body, read_body};
use crate::hosting::debate_request::{DebateRequest, RequestFile};
use crate::hosting::{DebateDocument, DebateHost, DebateState};
use crate::serve::ServerState;
use crate::serve::event_stream::{event_stream, send_debate};
use crate::serve::problem::Problem;

const DEFAULT_LIMIT: usize = 50;
const LIMIT_MAX: usize = 500;
/// The longest wait for a debate that a caller may ask for.
const WAIT_S_MAX: u64 = 3_600;
const KEY_CHARS_MAX: usize = 255;

/// A debate to open. What is not set comes from the server's configuration.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "it only describes `DebateRequest`, whose limits are another crate's type")]
pub struct DebateToOpen {
    /// The kind of debate: see `/api/v1/protocols`.
    protocol: Option<String>,
    /// The question, topic or task.
    question: Option<String>,
    /// Texts to debate about, or to use. They are content: nothing is read from the server's disk.
    files: Option<Vec<RequestFile>>,
    /// One per seat, repeated as needed: `provider/model`, or `human/NAME`.
    models: Option<Vec<String>>,
    /// Models for single roles: `{"moderator": "provider/model"}`.
    roles: Option<BTreeMap<String, String>>,
    /// The protocol's options: see `/api/v1/protocols`.
    options: Option<BTreeMap<String, Value>>,
    limits: Option<LimitsToSet>,
    /// The source of every shuffle and draw.
    seed: Option<u64>,
}

/// Limits on one debate.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "it only describes `LimitOverrides`")]
pub struct LimitsToSet {
    /// Seconds for one call.
    timeout_s: Option<f64>,
    /// Seconds for the whole debate.
    deadline_s: Option<f64>,
    /// US dollars.
    budget_usd: Option<f64>,
    /// Counting every attempt.
    max_calls: Option<u32>,
    /// Input and output together.
    max_tokens: Option<u64>,
}

/// Opens a debate.
///
/// With `Idempotency-Key`, the same request opens one debate, however often it is sent. With `Prefer: wait=SECONDS`, the answer comes when
/// the debate is over, or after that time.
#[utoipa::path(
    post, path = "/debates", tag = "debates", request_body = DebateToOpen,
    params(
        ("Idempotency-Key" = Option<String>, Header, description = "The same key and body: the same debate. Another body: 422"),
        ("Prefer" = Option<String>, Header, description = "wait=SECONDS"),
    ),
    responses(
        (status = 201, description = "The debate is stored and runs: `{id, state}`; after a wait that was long enough, the whole outcome", body = Value),
        (status = 422, description = "The request cannot be carried out", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "The money of the day is spent", body = Problem, content_type = "application/problem+json"),
        (status = 503, description = "There is no room", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn open_debate(State(state): State<ServerState>, request: Request) -> Result<Response, Problem> {
    let headers = request.headers().clone();
    let key = idempotency_key(&headers)?;
    let body = read_body(request, &state).await?;
    let hash = sha256(&String::from_utf8_lossy(&body));
    let host = &state.host;
    let earlier = match &key {
        Some(key) => host.opened_before(key.clone(), &hash).await?,
        None => None,
    };
    let id = match earlier {
        Some(id) => id,
        None => {
            let prepared = host.prepare(parse_body::<DebateRequest>(&body)?).await?;
            host.open(prepared, key, hash).await?
        }
    };
    opened(host, &id, wait_seconds(&headers)).await
}

/// The answer to a caller who opened a debate.
pub async fn opened(host: &DebateHost, id: &str, wait_s: Option<u64>) -> Result<Response, Problem> {
    let location = [(header::LOCATION, format!("/api/v1/debates/{id}"))];
    let document = match wait_s {
        Some(seconds) => {
            let is_over = host.wait(id, Duration::from_secs(seconds)).await;
            is_over.then_some(host.document(id).await?.document)
        }
        None => None,
    };
    let document = match document {
        Some(document) => document,
        None => json!({"id": id, "state": listed_state(host, id).await?}),
    };
    let mut response = (StatusCode::CREATED, location, Json(document)).into_response();
    if let Some(seconds) = wait_s {
        let applied = HeaderValue::from_str(&format!("wait={seconds}"));
        let name = header::HeaderName::from_static("preference-applied");
        response.headers_mut().extend(applied.ok().map(|applied| (name, applied)));
    }
    Ok(response)
}

/// Where a debate is.
pub async fn listed_state(host: &DebateHost, id: &str) -> Result<Value, Problem> {
    Ok(json!(host.state_of(id).await?))
}

/// The key in `Idempotency-Key`.
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(key) = headers.get("idempotency-key") else { return Ok(None) };
    match key.to_str().ok().map(str::trim) {
        Some(key) if (1..=KEY_CHARS_MAX).contains(&key.len()) => Ok(Some(key.to_owned())),
        _ => Err(Problem::new(
            StatusCode::BAD_REQUEST,
            format!("Idempotency-Key must be plain text of 1 to {KEY_CHARS_MAX} characters"),
        )),
    }
}

/// The seconds in `Prefer: wait=SECONDS`.
fn wait_seconds(headers: &HeaderMap) -> Option<u64> {
    let preferences = headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
    let mut waits = preferences.flat_map(|value| value.split(',')).filter_map(|preference| {
        let (name, seconds) = preference.trim().split_once('=')?;
        let seconds = seconds.trim().trim_matches('"').parse::<u64>().ok()?;
        name.trim().eq_ignore_ascii_case("wait").then_some(seconds.min(WAIT_S_MAX))
    });
    waits.next()
}

/// Which debates to list.
#[derive(Debug, Clone, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub struct ListQuery {
    /// `next` of the page before.
    pub after: Option<String>,
    /// The most debates of a page, up to 500.
    pub limit: Option<usize>,
    /// Only debates of this kind.
    pub protocol: Option<String>,
    /// Only debates in this state.
    pub state: Option<String>,
    /// Only debates with these words, the best matches first.
    pub q: Option<String>,
}

/// Lists debates, the newest first.
#[utoipa::path(
    get, path = "/debates", tag = "debates", params(ListQuery),
    responses(
        (status = 200, description = "`{debates, next}`; `next` is null on the last page", body = Value),
        (status = 400, description = "The address cannot be read", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "`after` is not the `next` of an earlier page", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn list_debates(
    State(state): State<ServerState>,
    ApiQuery(query): ApiQuery<ListQuery>,
) -> Result<Json<Value>, Problem> {
    let (debates, next) = listed_page(&state.host, query).await?;
    let debates: Vec<Value> = debates.iter().map(|debate| listed_document(&state.host, debate)).collect();
    Ok(Json(json!({"debates": debates, "next": next})))
}

/// One page of the list, and where the next one begins.
pub async fn listed_page(
    host: &DebateHost,
    query: ListQuery,
) -> Result<(Vec<ListedDebate>, Option<String>), Problem> {
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, LIMIT_MAX);
    let wrong_cursor = || Problem::invalid("`after` is not the `next` of an earlier page: omit it");
    let after = query.after.as_deref().map(|after| read_cursor(after).ok_or_else(wrong_cursor));
    let after = after.transpose()?;
    let filter = host.clone();
    let wanted = move |debate: &ListedDebate| {
        query.protocol.as_ref().is_none_or(|protocol| *protocol == debate.protocol)
            && query.state.as_deref().is_none_or(|state| filter.state(debate).as_str() == state)
    };
    let words = query.q.filter(|words| words.chars().any(char::is_alphanumeric));
    let (debates, next) = host
        .read_store(move |store| match words {
            None => store.page_of_debates(after, limit, wanted),
            Some(words) => {
                let first = usize::try_from(after.unwrap_or_default()).unwrap_or_default();
                let hits = store.search_debates(&words, first + LIMIT_MAX)?;
                let listed = hits.into_iter().filter_map(|hit| store.listed_debate(&hit.id).ok());
                let mut found = listed.filter(|debate| wanted(debate)).skip(first);
                let page: Vec<ListedDebate> = found.by_ref().take(limit).collect();
                let last = i64::try_from(first + page.len()).unwrap_or(i64::MAX);
                Ok((page, found.next().map(|_| last)))
            }
        })
        .await?;
    Ok((debates, next.map(write_cursor)))
}

/// A debate as a list shows it.
pub fn listed_document(host: &DebateHost, debate: &ListedDebate) -> Value {
    let ListedDebate { id, protocol, question, status, created_at, parent } = debate;
    json!({
        "id": id, "protocol": protocol, "question": question, "status": status, "state": host.state(debate),
        "created_at": created_at, "parent": parent,
    })
}

fn write_cursor(place: i64) -> String {
    format!("c{place:x}")
}

fn read_cursor(cursor: &str) -> Option<i64> {
    i64::from_str_radix(cursor.strip_prefix('c')?, 16).ok().filter(|place| *place >= 0)
}

/// The outcome of a debate, over or not.
#[utoipa::path(
    get, path = "/debates/{id}", tag = "debates",
    params(("id" = String, Path, description = "Its id, or a prefix of it that no other has")),
    responses(
        (status = 200, description = "The JSON outcome, with `state`. The ETag is the head of the log's hash chain", body = Value),
        (status = 304, description = "Nothing has happened since the ETag in If-None-Match"),
        (status = 404, description = "There is no such debate", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn show_debate(
    State(state): State<ServerState>,
    ApiPath(id): ApiPath<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id = state.host.find(&id).await?;
    let DebateDocument { state: now, head, document } = state.host.document(&id).await?;
    // A debate that runs can begin to wait, or be interrupted, without a new event.
    let tag = match now {
        DebateState::Waiting | DebateState::Interrupted => format!("\"{head}-{}\"", now.as_str()),
        _ => format!("\"{head}\""),
    };
    let known = headers.get(header::IF_NONE_MATCH).and_then(|known| known.to_str().ok()).unwrap_or_default();
    let is_known = known.split(',').any(|known| known.trim().trim_start_matches("W/") == tag);
    let tag = [(header::ETAG, tag), (header::CACHE_CONTROL, "no-cache".to_owned())];
    Ok(match is_known {
        true => (StatusCode::NOT_MODIFIED, tag).into_response(),
        false => (tag, Json(document)).into_response(),
    })
}

/// Where to begin.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub struct EventsQuery {
    /// The number of the last event that the client has. `Last-Event-ID` outranks it.
    pub after: Option<String>,
}

/// The log of a debate as server-sent events.
///
/// `event: record` has the event's number as its id and the record as its data; `event: delta` is a piece of an answer that is being written;
/// `event: state` says where the debate is and which asks wait for a person. The last two have no id and may be lost.
#[utoipa::path(
    get, path = "/debates/{id}/events", tag = "debates",
    params(("id" = String, Path, description = "The debate"), EventsQuery,
        ("Last-Event-ID" = Option<String>, Header, description = "The number of the last event that the client has")),
    responses(
        (status = 200, description = "The events", content_type = "text/event-stream", body = String),
        (status = 204, description = "The debate is over and the client has all of it"),
        (status = 400, description = "The address cannot be read", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "There is no such debate", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "`after` is not the number of an event", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn debate_events(
    State(state): State<ServerState>,
    ApiPath(id): ApiPath<String>,
    ApiQuery(query): ApiQuery<EventsQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id = state.host.find(&id).await?;
    let last_id = headers.get("last-event-id").and_then(|last| last.to_str().ok()).map(str::to_owned);
    let after = last_id.or(query.after).filter(|after| !after.is_empty());
    let next_seq = match after.as_deref().map(str::parse::<u64>) {
        None => 0,
        Some(Ok(seq)) => seq.saturating_add(1),
        Some(Err(_)) => return Err(Problem::invalid("the last event id is not the number of an event")),
    };
    if next_seq > 0 {
        let wanted = id.clone();
        let (listed, rest) = state
            .host
            .read_store(move |store| {
                Ok((store.listed_debate(&wanted)?, store.raw_log_from(&wanted, next_seq, 1)?))
            })
            .await?;
        if rest.is_empty() && state.host.state(&listed).is_over() {
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
    }
    let follower = state.host.follow(&id, next_seq).await?;
    Ok(event_stream(state.clone(), move |sender| send_debate(state, id, follower, sender)))
}

/// Every debate that changes, on one connection.
///
/// `event: debate` has a debate as the list shows it. Browsers allow six connections, so a list needs one for all.
#[utoipa::path(
    get, path = "/events", tag = "debates",
    responses((status = 200, description = "The changes", content_type = "text/event-stream", body = String))
)]
pub async fn all_events(State(state): State<ServerState>) -> Response {
    event_stream(state.clone(), move |sender| changes::send_changes(state, sender))
}

mod changes {
    //! The changes of all debates, those of other processes included.

    use std::collections::HashMap;
    use std::time::Duration;

    use tokio::sync::broadcast::error::RecvError;

    use super::listed_document;
    use crate::hosting::DebateHost;
    use crate::serve::ServerState;
    use crate::serve::event_stream::{EventSender, named_frame};

    /// How often the store is asked what other processes did.
    const LOOK_EVERY: Duration = Duration::from_secs(2);
    /// How many of the newest debates are looked at.
    const LOOKED_AT: usize = 50;

    pub(super) async fn send_changes(state: ServerState, sender: EventSender) -> Option<()> {
        let host = &state.host;
        let mut changes = host.changes();
        let mut known: HashMap<String, String> = HashMap::new();
        look(host, &mut known, None).await?;
        let mut look_again = tokio::time::interval(LOOK_EVERY);
        loop {
            tokio::select! {
                changed = changes.recv() => match changed {
                    Ok(id) => {
                        let wanted = id.clone();
                        let listed = host.read_store(move |store| store.listed_debate(&wanted)).await;
                        if let Ok(listed) = listed {
                            send_if_new(&mut known, id, listed_document(host, &listed), Some(&sender)).await?;
                        }
                    }
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return None,
                },
                _ = look_again.tick() => look(host, &mut known, Some(&sender)).await?,
                () = sender.hung_up() => return None,
            }
        }
    }

    async fn look(
        host: &DebateHost,
        known: &mut HashMap<String, String>,
        sender: Option<&EventSender>,
    ) -> Option<()> {
        let newest = host.read_store(|store| store.list_debates(Some(LOOKED_AT))).await.ok()?;
        for debate in newest.into_iter().rev() {
            send_if_new(known, debate.id.clone(), listed_document(host, &debate), sender).await?;
        }
        Some(())
    }

    /// A debate whose line in the list has not changed is not sent again.
    async fn send_if_new(
        known: &mut HashMap<String, String>,
        id: String,
        document: serde_json::Value,
        sender: Option<&EventSender>,
    ) -> Option<()> {
        let line = document.to_string();
        if known.get(&id) == Some(&line) {
            return Some(());
        }
        known.insert(id, line.clone());
        match sender {
            Some(sender) => sender.send(named_frame("debate", &line)).await,
            None => Some(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_back() {
        for place in [0, 1, 77, i64::MAX] {
            assert_eq!(read_cursor(&write_cursor(place)), Some(place));
        }
        for bad in ["", "7", "c", "cx", "c-1", "c1 "] {
            assert_eq!(read_cursor(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_wait_is_read_from_any_preference() {
        let wait = |value: &'static str| {
            let pair = (header::HeaderName::from_static("prefer"), HeaderValue::from_static(value));
            wait_seconds(&[pair].into_iter().collect())
        };
        assert_eq!(wait("wait=5"), Some(5));
        assert_eq!(wait("respond-async, Wait=\"7\""), Some(7));
        assert_eq!(wait("wait=99999999"), Some(WAIT_S_MAX));
        assert_eq!(wait("return=minimal"), None);
        assert_eq!(wait("wait=soon"), None);
    }
}
