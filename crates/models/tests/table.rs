//! What a debate does when a seat's server fails: one row a fault, the same on every wire format, streamed or not.
//!
//! "Against a mock of each wire format: each of 429 with and without Retry-After, 500, 503, 529, 400, 401, 404, hang, stalled stream,
//! connection reset, truncated body, malformed JSON, HTML, empty, fenced JSON, prose around JSON, refusal, length stop. A table test
//! per fault says what the debate does (retry, repair, absence, clear stop) and how many calls it made."
//!
//! Three debaters hold `deep` to its end in two rounds: 12 calls, of which the second debater makes three, one for its answer and one
//! in each round. Its server fails in one of three ways:
//!
//! - `once`: at its first argument, which has a schema; never again;
//! - `rounds`: at each of its arguments;
//! - `start`: from its very first call on, the answer, which is plain text.
//!
//! A call is tried again at most twice after a fault, and once after a malformed answer. The figure is the second debater's calls.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

#[path = "support/stage.rs"]
mod stage;
mod support;

use agon_core::Absence::{Malformed, Refused, TimedOut, Unreachable};
use agon_mock::{Request, Response, Spoilt};
use futures_util::StreamExt;
use stage::Does::{self, Absent, Repairs, Retries, Stops, Takes};
use stage::{Bad, Case, reworded, run};
use support::WIRES;

struct Row {
    fault: &'static str,
    bad: Bad,
    once: (Does, u64),
    rounds: (Does, u64),
    start: (Does, u64),
}

#[rustfmt::skip]
const TABLE: &[Row] = &[
    // The provider is busy or down: the same again, after a pause.
    row("429", |_, _| Response::error(429, "slow down"), (Retries, 4), (Absent(Unreachable), 7), (Absent(Unreachable), 3)),
    row("429, Retry-After 0", |_, _| busy("0"), (Retries, 4), (Absent(Unreachable), 7), (Absent(Unreachable), 3)),
    row("429, Retry-After a date that is past", |_, _| busy("Sun, 06 Nov 1994 08:49:37 GMT"),
        (Retries, 4), (Absent(Unreachable), 7), (Absent(Unreachable), 3)),
    // Longer than anybody waits: no other try.
    row("429, Retry-After an hour", |_, _| busy("3600"), (Absent(Unreachable), 3), (Absent(Unreachable), 3), (Absent(Unreachable), 1)),
    row("500", |_, _| Response::error(500, "oh"), (Retries, 4), (Absent(Unreachable), 7), (Absent(Unreachable), 3)),
    row("503", |_, _| Response::error(503, "down"), (Retries, 4), (Absent(Unreachable), 7), (Absent(Unreachable), 3)),
    row("529", |_, _| Response::error(529, "overloaded"), (Retries, 4), (Absent(Unreachable), 7), (Absent(Unreachable), 3)),
    // The request is turned down: once more without its schema, if it had one.
    row("400", |_, _| Response::error(400, "no"), (Retries, 4), (Absent(Unreachable), 5), (Absent(Unreachable), 1)),
    // A wrong key or model would be wrong again: a stop at the start, a missing voice later.
    row("401", |_, _| Response::error(401, "who?"), (Absent(Unreachable), 3), (Absent(Unreachable), 3), (Stops("_API_KEY"), 1)),
    row("404", |_, _| Response::error(404, "what?"), (Absent(Unreachable), 3), (Absent(Unreachable), 3), (Stops("has no model \"b\""), 1)),
    // Nothing hangs past its timeout.
    row("hang", |_, good| spoilt(good, Spoilt::Hang), (Absent(TimedOut), 3), (Absent(TimedOut), 3), (Absent(TimedOut), 1)),
    row("stalled stream", |_, good| spoilt(good, Spoilt::Stall), (Absent(TimedOut), 3), (Absent(TimedOut), 3), (Absent(TimedOut), 1)),
    // What came is no answer: the same again.
    row("connection reset", |_, good| spoilt(good, Spoilt::Reset), (Retries, 4), (Absent(Unreachable), 7), (Absent(Unreachable), 3)),
    row("truncated body", |_, good| spoilt(good, Spoilt::Truncate), (Retries, 4), (Absent(Unreachable), 7), (Absent(Unreachable), 3)),
    row("malformed JSON", |request, _| malformed(request), (Retries, 4), (Absent(Unreachable), 7), (Absent(Unreachable), 3)),
    row("HTML", |_, _| Response::html(), (Retries, 4), (Absent(Unreachable), 7), (Absent(Unreachable), 3)),
    row("empty body", |_, _| Response::empty(), (Retries, 4), (Absent(Unreachable), 7), (Absent(Unreachable), 3)),
    // What came is an answer in a wrapping: no other call.
    row("fenced JSON", |_, good| reworded(good, |text| format!("```json\n{text}\n```")), (Takes, 3), (Takes, 3), (Takes, 3)),
    row("prose around JSON", |_, good| reworded(good, |text| format!("Here it is:\n\n{text}\n\nI hope it helps.")),
        (Takes, 3), (Takes, 3), (Takes, 3)),
    // What came is not what was asked for: the seat is told why, and asked once more. Plain text has no schema to break.
    row("words that are no JSON", |_, good| reworded(good, |_| "I would rather not put it in that form.".into()),
        (Repairs, 4), (Absent(Malformed), 5), (Takes, 5)),
    row("JSON that breaks the schema", |_, good| reworded(good, |text| text.replace("\"maintain\"", "\"shrug\"")),
        (Repairs, 4), (Absent(Malformed), 5), (Takes, 5)),
    row("no words", |_, good| reworded(good, |_| String::new()), (Repairs, 4), (Absent(Malformed), 5), (Absent(Malformed), 2)),
    row("length stop", |_, good| reworded(good, |text| text[..text.len() / 2].into()).finish("length"),
        (Repairs, 4), (Absent(Malformed), 5), (Takes, 5)),
    // A refusal is an answer of its own kind: no other try.
    row("refusal", |_, good| good.refusing("I cannot help with that."), (Absent(Refused), 3), (Absent(Refused), 3), (Absent(Refused), 1)),
    row("content filter", |_, good| good.finish("content_filter"), (Absent(Refused), 3), (Absent(Refused), 3), (Absent(Refused), 1)),
];

const fn row(
    fault: &'static str,
    bad: Bad,
    once: (Does, u64),
    rounds: (Does, u64),
    start: (Does, u64),
) -> Row {
    Row { fault, bad, once, rounds, start }
}

fn busy(retry_after: &str) -> Response {
    Response::error(429, "slow down").header("Retry-After", retry_after)
}

fn spoilt(good: Response, how: Spoilt) -> Response {
    Response { spoilt: Some(how), ..good }
}

/// Half of an answer that ends in order.
fn malformed(request: &Request) -> Response {
    match request.streams() {
        true => Response::raw(200, "text/event-stream", "event: message_start\ndata: {\"half a\n\n"),
        false => Response::malformed(),
    }
}

/// Every fault on this wire format, streamed and not, a few debates at a time.
async fn hold(wire: &'static str) {
    let cases = [false, true].into_iter().flat_map(|streamed| {
        TABLE.iter().flat_map(move |row| {
            let hangs = matches!(row.rounds.0, Absent(TimedOut));
            let ways = [(2..=2, row.once), (2..=u64::MAX, row.rounds), (1..=u64::MAX, row.start)];
            let Row { fault, bad, .. } = *row;
            ways.map(|(fails, (does, calls))| Case { wire, streamed, fault, bad, fails, hangs, does, calls })
        })
    });
    futures_util::stream::iter(cases.map(run)).buffer_unordered(24).collect::<Vec<()>>().await;
}

#[tokio::test]
async fn openai() {
    hold(WIRES[0]).await;
}

#[tokio::test]
async fn anthropic() {
    hold(WIRES[1]).await;
}

#[tokio::test]
async fn gemini() {
    hold(WIRES[2]).await;
}
