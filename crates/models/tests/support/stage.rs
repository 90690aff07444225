//! A real debate against a server that fails one seat, and a look at what came of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use agon_core::{
    Absence, Brief, Debate, LOG_VERSION, Limits, Phase, Record, Reply, Request as Wanted, options,
};
use agon_engine::{Engine, EngineError, Settings, Stop, Store, StoreError, Watch};
use agon_mock::response::Body;
use agon_mock::{Mock, Request, Response, debate};
use agon_protocols::deep::reply::{Argument, Assessment, Synthesis};
use agon_protocols::prompt::schema_of;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use jsonschema::Validator;

use crate::support::{all_wires, mock};

/// What the failing server answers, from the request and the good answer to it.
pub(crate) type Bad = fn(&Request, Response) -> Response;

/// What the debate does about it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Does {
    /// Takes what came for an answer.
    Takes,
    /// Makes the call again, and has an answer then.
    Retries,
    /// Tells the seat what is wrong with its words, and has an answer then.
    Repairs,
    /// Goes on without the voice.
    Absent(Absence),
    /// Stops, with a sentence that has these words in it.
    Stops(&'static str),
}

/// One debate.
pub(crate) struct Case {
    pub(crate) wire: &'static str,
    pub(crate) streamed: bool,
    pub(crate) fault: &'static str,
    pub(crate) bad: Bad,
    /// Which of the seat's calls fail, counted from 1.
    pub(crate) fails: RangeInclusive<u64>,
    pub(crate) hangs: bool,
    pub(crate) does: Does,
    /// The seat's calls.
    pub(crate) calls: u64,
}

/// The calls of the other two debaters, the moderator and the chair.
const OTHERS: u64 = 9;

/// The same answer in other words.
pub(crate) fn reworded(mut good: Response, other: impl Fn(&str) -> String) -> Response {
    if let Body::Words(words) = &mut good.body {
        words.text = other(&words.text);
    }
    good
}

/// Holds the debate and compares.
pub(crate) async fn run(case: Case) {
    let what =
        format!("{} {}, calls {:?} of it, streamed: {}", case.wire, case.fault, case.fails, case.streamed);
    let (server, seats_calls) = failing(case.bad, case.fails.clone());
    let ended = tokio::time::timeout(Duration::from_secs(100), hold(&server, &case)).await;
    let ended = ended.unwrap_or_else(|_| panic!("{what}: it hangs"));
    let calls = seats_calls.load(Ordering::Relaxed);
    assert_eq!(calls, case.calls, "{what}: the seat's calls");
    if let Does::Stops(words) = case.does {
        let why = ended.map(|_| ()).unwrap_err();
        let EngineError::Stopped { fault, .. } = &why else { panic!("{what}: {why}") };
        assert!(fault.message.contains(words) && fault.message.contains(case.wire), "{what}: {why}");
        assert!(server.calls() <= 3, "{what}: nothing after the first phase");
        return;
    }
    let debate = ended.unwrap_or_else(|why| panic!("{what}: {why}"));
    assert_eq!(server.calls(), OTHERS + case.calls, "{what}: all calls");
    assert!(
        debate.outcome.as_ref().is_some_and(|outcome| outcome.verdict["answer"].is_string()),
        "{what}: no verdict"
    );
    let failed = seen(&debate, *case.fails.start() == 1, case.fails.end() - case.fails.start() > 0);
    assert!(failed.iter().all(|does| *does == case.does), "{what}: {failed:?}");
    every_value_keeps_its_schema(&debate, &what);
}

/// A server that plays every seat, and fails at these calls of the model `b`.
fn failing(bad: Bad, fails: RangeInclusive<u64>) -> (Mock, Arc<AtomicU64>) {
    let calls = Arc::new(AtomicU64::new(0));
    let (counted, good) = (Arc::clone(&calls), debate(Duration::ZERO));
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

async fn hold(server: &Mock, case: &Case) -> Result<Debate, EngineError> {
    let settings = Settings { backoff_first_ms: 1, backoff_max_ms: 2, ..Settings::default() };
    let engine = Engine::new(Arc::new(all_wires(server)), Arc::new(Memory::default()), settings);
    let deltas = case.streamed.then(|| tokio::sync::broadcast::channel(16).0);
    let watch = Watch { deltas, ..Watch::default() };
    let protocol = agon_protocols::find("deep").unwrap();
    engine.open(protocol, brief(case), &watch, &Stop::new()).await
}

fn brief(case: &Case) -> Brief {
    let protocol = agon_protocols::find("deep").unwrap();
    let options = options::resolve(protocol.options(), []).unwrap();
    let models = ["a", "b", "c"].map(|model| format!("{}/{model}", case.wire)).to_vec();
    let question = "Sell the house in autumn?".to_owned();
    let wanted = Wanted { question: question.clone(), models, options: options.clone(), ..Wanted::default() };
    // A server that works must not be late on a busy machine; one that hangs need not be waited for that long.
    let call_timeout_ms = if case.hangs { 4_000 } else { 90_000 };
    Brief {
        version: LOG_VERSION,
        id: "d1".into(),
        protocol: "deep".into(),
        question,
        files: Vec::new(),
        options,
        seats: protocol.seats(&wanted).unwrap(),
        seed: 7,
        limits: Limits { call_timeout_ms, retries: 2, repairs: 1, ..Limits::default() },
        templates: agon_core::protocol::template_hashes(protocol),
        written_by: String::new(),
        created_at: "2026-01-01T00:00:00Z".into(),
        parent: None,
    }
}

/// What happened to the seat's asks that were to fail.
fn seen(debate: &Debate, from_the_start: bool, always: bool) -> Vec<Does> {
    let is_hit = |phase: &Phase| match (phase.name.as_str(), from_the_start) {
        ("answer", true) => true,
        ("debate", false) => always || phase.round == 1,
        _ => false,
    };
    let mut seen = Vec::new();
    for turn in debate.turns.iter().filter(|turn| is_hit(&turn.phase)) {
        for (place, asked) in turn.asks.iter().enumerate().filter(|(_, asked)| asked.seat == "debater-2") {
            let faults: Vec<Absence> =
                turn.attempts[place].iter().filter_map(|attempt| Some(attempt.fault.as_ref()?.why)).collect();
            seen.push(match (turn.replies[place].as_ref().unwrap(), faults.as_slice()) {
                (Reply::Absent { why, .. }, _) => Does::Absent(*why),
                (Reply::Said { .. }, []) => Does::Takes,
                (Reply::Said { .. }, [Absence::Unreachable]) => Does::Retries,
                (Reply::Said { .. }, [Absence::Malformed]) => Does::Repairs,
                (Reply::Said { .. }, faults) => panic!("{}: {faults:?}", asked.seat),
            });
        }
    }
    assert!(!seen.is_empty(), "no ask was hit");
    seen
}

/// "no reply that fails its schema ever counts as an answer".
fn every_value_keeps_its_schema(debate: &Debate, what: &str) {
    for (asked, reply) in debate.turns.iter().flat_map(|turn| turn.settled()) {
        let (Some(schema), Reply::Said { value, .. }) = (&asked.schema, reply) else { continue };
        let value = value.as_ref().unwrap_or_else(|| panic!("{what}: {} said no value", asked.seat));
        let valid = VALIDATORS[schema.as_str()].validate(value).map_err(|why| why.to_string());
        assert_eq!(valid, Ok(()), "{what}: {}", asked.seat);
    }
}

static VALIDATORS: LazyLock<BTreeMap<String, Validator>> = LazyLock::new(|| {
    let argument = schema_of::<Argument>("argument");
    let schemas = [argument, schema_of::<Assessment>("assessment"), schema_of::<Synthesis>("synthesis")];
    schemas.map(|schema| (schema.name, jsonschema::validator_for(&schema.json).unwrap())).into()
});

/// A store in memory.
#[derive(Default)]
struct Memory(Mutex<Vec<Record>>);

impl Store for Memory {
    fn append<'a>(&'a self, _: &'a str, records: Vec<Record>) -> BoxFuture<'a, Result<(), StoreError>> {
        self.0.lock().unwrap().extend(records);
        async { Ok(()) }.boxed()
    }

    fn load<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Vec<Record>, StoreError>> {
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
