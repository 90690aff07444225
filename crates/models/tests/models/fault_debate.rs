//! A debate in which the server of one seat fails, and how the debate reacts.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use agon_core::{
    AbsenceReason, Brief, Debate, DebateLimits, LOG_VERSION, LogRecord, Phase, Reply,
    Request as DebateRequest, options,
};
use agon_engine::{DebateWatch, Engine, EngineError, EngineSettings, StopSignal, Store, StoreError};
use agon_mock::response::ResponseBody;
use agon_mock::{MockRequest, MockResponse, MockServer, converging_debate};
use agon_protocols::deep::replies::{Argument, Assessment, Synthesis};
use agon_protocols::prompt::schema_of;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use jsonschema::Validator;

use crate::support::{all_wires, mock};

/// Makes the failing server's answer from the request and the good answer.
pub(crate) type BadAnswer = fn(&MockRequest, MockResponse) -> MockResponse;

/// How the debate reacts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reaction {
    /// Accepts the answer.
    Accepts,
    /// Repeats the call and gets an answer.
    Retries,
    /// Tells the seat what is wrong and gets an answer.
    Repairs,
    /// Goes on without the seat.
    Absent(AbsenceReason),
    /// Stops with a message that contains these words.
    Stops(&'static str),
}

/// One debate.
pub(crate) struct FaultCase {
    pub(crate) wire: &'static str,
    pub(crate) streamed: bool,
    pub(crate) fault: &'static str,
    pub(crate) bad: BadAnswer,
    /// Which calls of the seat fail, counted from 1.
    pub(crate) fails: RangeInclusive<u64>,
    pub(crate) hangs: bool,
    pub(crate) reaction: Reaction,
    /// How many calls the seat makes.
    pub(crate) calls: u64,
}

/// The calls of the other two debaters, the moderator and the chair.
const OTHER_CALLS: u64 = 9;

/// The same answer with another text.
pub(crate) fn reworded(mut good: MockResponse, other: impl Fn(&str) -> String) -> MockResponse {
    if let ResponseBody::Words(words) = &mut good.body {
        words.text = other(&words.text);
    }
    good
}

/// Plays the debate and compares its reaction.
pub(crate) async fn run(case: FaultCase) {
    let what =
        format!("{} {}, calls {:?} of it, streamed: {}", case.wire, case.fault, case.fails, case.streamed);
    let (server, seats_calls) = failing_server(case.bad, case.fails.clone());
    let ended = tokio::time::timeout(Duration::from_secs(100), play(&server, &case)).await;
    let ended = ended.unwrap_or_else(|_| panic!("{what}: it does not end"));
    let calls = seats_calls.load(Ordering::Relaxed);
    assert_eq!(calls, case.calls, "{what}: the seat's calls");
    if let Reaction::Stops(words) = case.reaction {
        let why = ended.map(|_| ()).unwrap_err();
        let EngineError::Stopped { fault, .. } = &why else { panic!("{what}: {why}") };
        assert!(fault.message.contains(words) && fault.message.contains(case.wire), "{what}: {why}");
        assert!(server.calls() <= 3, "{what}: nothing after the first phase");
        return;
    }
    let debate = ended.unwrap_or_else(|why| panic!("{what}: {why}"));
    assert_eq!(server.calls(), OTHER_CALLS + case.calls, "{what}: all calls");
    assert!(
        debate.outcome.as_ref().is_some_and(|outcome| outcome.verdict["answer"].is_string()),
        "{what}: no verdict"
    );
    let failed = reactions(&debate, *case.fails.start() == 1, case.fails.end() - case.fails.start() > 0);
    assert!(failed.iter().all(|seen| *seen == case.reaction), "{what}: {failed:?}");
    assert_values_conform(&debate, &what);
}

/// A server that answers for every seat and fails at these calls of the model `b`.
fn failing_server(bad: BadAnswer, fails: RangeInclusive<u64>) -> (MockServer, Arc<AtomicU64>) {
    let calls = Arc::new(AtomicU64::new(0));
    let (counted, good) = (Arc::clone(&calls), converging_debate(Duration::ZERO));
    let server = mock(move |request| {
        let good = good(request);
        if request.model() != "b" {
            return good;
        }
        let call = counted.fetch_add(1, Ordering::Relaxed) + 1;
        if fails.contains(&call) { bad(request, good) } else { good }
    });
    (server, calls)
}

async fn play(server: &MockServer, case: &FaultCase) -> Result<Debate, EngineError> {
    let settings = EngineSettings { backoff_first_ms: 1, backoff_max_ms: 2, ..EngineSettings::default() };
    let engine = Engine::new(Arc::new(all_wires(server)), Arc::new(MemoryStore::default()), settings);
    // Answers are streamed only if somebody listens.
    let (deltas, _listener) = tokio::sync::broadcast::channel(16);
    let watch = DebateWatch { deltas: case.streamed.then_some(deltas), ..DebateWatch::default() };
    let protocol = agon_protocols::find("deep").unwrap();
    engine.open(protocol, brief(case), &watch, &StopSignal::new()).await
}

fn brief(case: &FaultCase) -> Brief {
    let protocol = agon_protocols::find("deep").unwrap();
    let options = options::resolve(protocol.info().options, []).unwrap();
    let models = ["a", "b", "c"].map(|model| format!("{}/{model}", case.wire)).to_vec();
    let question = "Sell the house in autumn?".to_owned();
    let request = DebateRequest {
        question: question.clone(),
        models,
        options: options.clone(),
        ..DebateRequest::default()
    };
    // Long enough for a working server on a busy machine, short enough for one that hangs.
    let call_timeout_ms = if case.hangs { 4_000 } else { 90_000 };
    Brief {
        version: LOG_VERSION,
        id: "d1".into(),
        protocol: "deep".into(),
        question,
        files: Vec::new(),
        options,
        seats: protocol.seats(&request).unwrap(),
        seed: 7,
        nonce: "nonce".into(),
        limits: DebateLimits { call_timeout_ms, retries: 2, repairs: 1, ..DebateLimits::default() },
        templates: agon_core::protocol::template_hashes(protocol),
        written_by: String::new(),
        created_at: "2026-01-01T00:00:00Z".into(),
        parent: None,
    }
}

/// How the debate reacted to the asks that failed.
fn reactions(debate: &Debate, from_the_start: bool, always: bool) -> Vec<Reaction> {
    let is_hit = |phase: &Phase| match (phase.name.as_str(), from_the_start) {
        ("answer", true) => true,
        ("debate", false) => always || phase.round == 1,
        _ => false,
    };
    let mut seen = Vec::new();
    for turn in debate.turns.iter().filter(|turn| is_hit(&turn.phase)) {
        for (place, asked) in turn.asks.iter().enumerate().filter(|(_, asked)| asked.seat == "debater-2") {
            let faults: Vec<AbsenceReason> =
                turn.attempts[place].iter().filter_map(|attempt| Some(attempt.fault.as_ref()?.why)).collect();
            seen.push(match (turn.replies[place].as_ref().unwrap(), faults.as_slice()) {
                (Reply::Absent { why, .. }, _) => Reaction::Absent(*why),
                (Reply::Said { .. }, []) => Reaction::Accepts,
                (Reply::Said { .. }, [AbsenceReason::Unreachable]) => Reaction::Retries,
                (Reply::Said { .. }, [AbsenceReason::Malformed]) => Reaction::Repairs,
                (Reply::Said { .. }, faults) => panic!("{}: {faults:?}", asked.seat),
            });
        }
    }
    assert!(!seen.is_empty(), "no ask failed");
    seen
}

/// No reply that breaks its schema counts as an answer.
fn assert_values_conform(debate: &Debate, what: &str) {
    for (asked, reply) in debate.turns.iter().flat_map(|turn| turn.settled()) {
        let (Some(schema), Reply::Said { value, .. }) = (&asked.schema, reply) else { continue };
        let value = value.as_ref().unwrap_or_else(|| panic!("{what}: {} gave no value", asked.seat));
        let valid = VALIDATORS[schema.as_str()].validate(value).map_err(|why| why.to_string());
        assert_eq!(valid, Ok(()), "{what}: {}", asked.seat);
    }
}

static VALIDATORS: LazyLock<BTreeMap<String, Validator>> = LazyLock::new(|| {
    let argument = schema_of::<Argument>("argument");
    let schemas = [argument, schema_of::<Assessment>("assessment"), schema_of::<Synthesis>("synthesis")];
    schemas.map(|schema| (schema.name, jsonschema::validator_for(&schema.json).unwrap())).into()
});

#[derive(Default)]
struct MemoryStore(Mutex<Vec<LogRecord>>);

impl Store for MemoryStore {
    fn append<'a>(&'a self, _: &'a str, records: Vec<LogRecord>) -> BoxFuture<'a, Result<(), StoreError>> {
        self.0.lock().unwrap().extend(records);
        async { Ok(()) }.boxed()
    }

    fn load<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Vec<LogRecord>, StoreError>> {
        let records = self.0.lock().unwrap().clone();
        async { Ok(records) }.boxed()
    }

    fn lease<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        async { Ok(()) }.boxed()
    }

    fn release<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        async { Ok(()) }.boxed()
    }
}
