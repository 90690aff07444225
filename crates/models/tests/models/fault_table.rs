//! What a debate does when a seat's server fails: one row per fault, the same for every wire format, streamed or not.
//!
//! Three debaters play `deep` to its end in two rounds. That takes 12 calls. The second debater makes three of them: one for its
//! answer and one in each round. Its server fails in one of three ways:
//!
//! - `once`: at its first argument, which has a schema, and never again;
//! - `rounds`: at each of its arguments;
//! - `start`: from its first call on, the answer, which is plain text.
//!
//! After a fault a call is repeated at most twice, after a malformed answer once. Each number is the second debater's calls.

use crate::fault_debate::Reaction::{self, Absent, Accepts, Repairs, Retries, Stops};
use crate::fault_debate::{BadAnswer, FaultCase, reworded, run};
use crate::support::WIRES;
use agon_core::AbsenceReason::{Malformed, Refused, TimedOut, Unreachable};
use agon_mock::{ConnectionFault, MockRequest, MockResponse};
use futures_util::StreamExt;

struct FaultRow {
    fault: &'static str,
    bad: BadAnswer,
    once: (Reaction, u64),
    rounds: (Reaction, u64),
    start: (Reaction, u64),
}

#[rustfmt::skip]
const TABLE: &[FaultRow] = &[
    // The provider is busy or down: the call is repeated after a pause.
    row("429", |_, _| MockResponse::error(429, "slow down"), (Retries, 4), (Absent(Unreachable), 7), (Absent(Unreachable), 3)),
    row("429, Retry-After 0", |_, _| busy("0"), (Retries, 4), (Absent(Unreachable), 7), (Absent(Unreachable), 3)),
    row("429, Retry-After a date in the past", |_, _| busy("Sun, 06 Nov 1994 08:49:37 GMT"),
        (Retries, 4), (Absent(Unreachable), 7), (Absent(Unreachable), 3)),
    // The wait is too long: the call is not repeated.
    row("429, Retry-After an hour", |_, _| busy("3600"), (Absent(Unreachable), 3), (Absent(Unreachable), 3), (Absent(Unreachable), 1)),
    row("500", |_, _| MockResponse::error(500, "oh"), (Retries, 4), (Absent(Unreachable), 7), (Absent(Unreachable), 3)),
    row("503", |_, _| MockResponse::error(503, "down"), (Retries, 4), (Absent(Unreachable), 7), (Absent(Unreachable), 3)),
    row("529", |_, _| MockResponse::error(529, "overloaded"), (Retries, 4), (Absent(Unreachable), 7), (Absent(Unreachable), 3)),
    // The request is rejected: it is repeated without its schema, if it had one.
    row("400", |_, _| MockResponse::error(400, "no"), (Retries, 4), (Absent(Unreachable), 5), (Absent(Unreachable), 1)),
    // A wrong key or model would fail again: the debate stops at the start, and goes on without the seat later.
    row("401", |_, _| MockResponse::error(401, "who?"), (Absent(Unreachable), 3), (Absent(Unreachable), 3), (Stops("_API_KEY"), 1)),
    row("404", |_, _| MockResponse::error(404, "what?"), (Absent(Unreachable), 3), (Absent(Unreachable), 3), (Stops("has no model \"b\""), 1)),
    // Nothing takes longer than its timeout.
    row("hang", |_, good| spoilt(good, ConnectionFault::Hang), (Absent(TimedOut), 3), (Absent(TimedOut), 3), (Absent(TimedOut), 1)),
    row("stalled stream", |_, good| spoilt(good, ConnectionFault::Stall), (Absent(TimedOut), 3), (Absent(TimedOut), 3), (Absent(TimedOut), 1)),
    // The answer cannot be used: the call is repeated.
    row("connection reset", |_, good| spoilt(good, ConnectionFault::Reset), (Retries, 4), (Absent(Unreachable), 7), (Absent(Unreachable), 3)),
    row("truncated body", |_, good| spoilt(good, ConnectionFault::Truncate), (Retries, 4), (Absent(Unreachable), 7), (Absent(Unreachable), 3)),
    row("malformed JSON", |request, _| malformed(request), (Retries, 4), (Absent(Unreachable), 7), (Absent(Unreachable), 3)),
    row("HTML", |_, _| MockResponse::html(), (Retries, 4), (Absent(Unreachable), 7), (Absent(Unreachable), 3)),
    row("empty body", |_, _| MockResponse::empty(), (Retries, 4), (Absent(Unreachable), 7), (Absent(Unreachable), 3)),
    // The answer has text around it: no further call is needed.
    row("fenced JSON", |_, good| reworded(good, |text| format!("```json\n{text}\n```")), (Accepts, 3), (Accepts, 3), (Accepts, 3)),
    row("prose around JSON", |_, good| reworded(good, |text| format!("Here it is:\n\n{text}\n\nI hope it helps.")),
        (Accepts, 3), (Accepts, 3), (Accepts, 3)),
    // The answer breaks its schema: the seat is told why and asked once more. Plain text has no schema.
    row("text that is not JSON", |_, good| reworded(good, |_| "I would rather not put it in that form.".into()),
        (Repairs, 4), (Absent(Malformed), 5), (Accepts, 5)),
    row("JSON that breaks the schema", |_, good| reworded(good, |text| text.replace("\"maintain\"", "\"shrug\"")),
        (Repairs, 4), (Absent(Malformed), 5), (Accepts, 5)),
    row("empty answer", |_, good| reworded(good, |_| String::new()), (Repairs, 4), (Absent(Malformed), 5), (Absent(Malformed), 2)),
    row("length stop", |_, good| reworded(good, |text| text[..text.len() / 2].into()).finish("length"),
        (Repairs, 4), (Absent(Malformed), 5), (Accepts, 5)),
    // A refusal is final: the call is not repeated.
    row("refusal", |_, good| good.refusing("I cannot help with that."), (Absent(Refused), 3), (Absent(Refused), 3), (Absent(Refused), 1)),
    row("content filter", |_, good| good.finish("content_filter"), (Absent(Refused), 3), (Absent(Refused), 3), (Absent(Refused), 1)),
];

const fn row(
    fault: &'static str,
    bad: BadAnswer,
    once: (Reaction, u64),
    rounds: (Reaction, u64),
    start: (Reaction, u64),
) -> FaultRow {
    FaultRow { fault, bad, once, rounds, start }
}

fn busy(retry_after: &str) -> MockResponse {
    MockResponse::error(429, "slow down").header("Retry-After", retry_after)
}

fn spoilt(good: MockResponse, how: ConnectionFault) -> MockResponse {
    MockResponse { spoilt: Some(how), ..good }
}

/// Half an answer, although the connection ends normally.
fn malformed(request: &MockRequest) -> MockResponse {
    match request.streams() {
        true => MockResponse::raw(200, "text/event-stream", "event: message_start\ndata: {\"half a\n\n"),
        false => MockResponse::malformed(),
    }
}

/// Every fault in this wire format, streamed and not, several debates at a time.
async fn run_table(wire: &'static str) {
    let cases = [false, true].into_iter().flat_map(|streamed| {
        TABLE.iter().flat_map(move |row| {
            let hangs = matches!(row.rounds.0, Absent(TimedOut));
            let variants = [(2..=2, row.once), (2..=u64::MAX, row.rounds), (1..=u64::MAX, row.start)];
            let FaultRow { fault, bad, .. } = *row;
            variants.map(|(fails, (reaction, calls))| FaultCase {
                wire,
                streamed,
                fault,
                bad,
                fails,
                hangs,
                reaction,
                calls,
            })
        })
    });
    futures_util::stream::iter(cases.map(run)).buffer_unordered(24).collect::<Vec<()>>().await;
}

#[tokio::test]
async fn openai_faults_are_handled_as_the_table_says() {
    run_table(WIRES[0]).await;
}

#[tokio::test]
async fn anthropic_faults_are_handled_as_the_table_says() {
    run_table(WIRES[1]).await;
}

#[tokio::test]
async fn gemini_faults_are_handled_as_the_table_says() {
    run_table(WIRES[2]).await;
}
