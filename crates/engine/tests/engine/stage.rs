//! The stage that the tests play on: a protocol and models.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_core::protocol::{Fidelity, Status};
use agon_core::*;
use agon_engine::*;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

pub(crate) use crate::memory::MemoryStore;

/// So many rounds in which every seat reads all that was said and answers.
pub(crate) struct Circle {
    /// The share of the limits that is kept for the last round.
    kept: f64,
}
pub(crate) static CIRCLE: Circle = Circle { kept: 0.0 };
/// The same, with a fifth of every limit kept for the last round.
pub(crate) static KEEPER: Circle = Circle { kept: 0.2 };

pub(crate) fn find(name: &str) -> Option<&'static dyn Protocol> {
    [&CIRCLE, &KEEPER].into_iter().find(|circle| circle.name() == name).map(|circle| circle as &dyn Protocol)
}

impl Protocol for Circle {
    fn name(&self) -> &'static str {
        if self.kept > 0.0 { "keeper" } else { "circle" }
    }
    fn closing(&self) -> &'static [&'static str] {
        if self.kept > 0.0 { &["last"] } else { &[] }
    }
    fn kept_for_closing(&self) -> f64 {
        self.kept
    }
    fn about(&self) -> &'static str {
        "everybody speaks in every round"
    }
    fn subject(&self) -> &'static str {
        "QUESTION"
    }
    fn options(&self) -> &'static [Opt] {
        &[]
    }
    fn roles(&self) -> &'static [&'static str] {
        &[]
    }
    fn templates(&self) -> &'static [Template] {
        &[]
    }
    fn seats(&self, _: &Request) -> Result<Vec<Seat>, Invalid> {
        Ok(Vec::new())
    }
    fn calls(&self, brief: &Brief) -> RangeInclusive<u32> {
        let calls = brief.int("rounds") * brief.seats.len() as u32;
        calls..=calls
    }
    fn bound(&self, brief: &Brief) -> u32 {
        brief.int("rounds")
    }

    fn next(&self, debate: &Debate) -> Result<Step, Corrupt> {
        let round = debate.turns.len() as u32 + 1;
        let late = debate.brief.limits.deadline_ms.is_some_and(|deadline| debate.at_ms >= deadline);
        if round > debate.brief.int("rounds") || (late && debate.brief.flag("punctual")) {
            return Ok(Step::Close(Box::new(outcome(debate))));
        }
        let heard: Vec<String> = debate.turns.iter().flat_map(Turn::settled).map(|(_, r)| said(r)).collect();
        let prompt = |seat: &Seat| Prompt {
            system: "Be brief.".into(),
            shared: heard.join("\n").into(),
            tail: format!("You are {}. {}", seat.id, debate.brief.question),
        };
        let schema = debate.brief.flag("structured").then(|| Arc::new(schema()));
        let stand_in = debate.brief.options.get("stand_in").and_then(Value::as_str);
        let asks = debate.brief.seats.iter().map(|seat| Ask {
            id: 0,
            seat: seat.id.clone(),
            model: stand_in.filter(|_| round > 1).unwrap_or(&seat.model).to_owned(),
            label: None,
            about: None,
            thread: match heard.first() {
                Some(reply) if debate.brief.flag("continued") => {
                    Thread::Continue(vec![Exchange { prompt: "before".into(), reply: reply.clone() }])
                }
                _ => Thread::Fresh,
            },
            prompt: prompt(seat),
            schema: schema.clone(),
            within_ms: debate.brief.options.get("within_ms").and_then(Value::as_u64),
            firm: debate.brief.flag("firm"),
            at_once: debate.brief.options.get("at_once").and_then(Value::as_u64).map(|n| n as u32),
        });
        let last = self.kept > 0.0 && round == debate.brief.int("rounds");
        Ok(Step::Ask(Phase::new(if last { "last" } else { "speak" }, round), asks.collect()))
    }

    fn check(&self, _: &Debate, _: &Ask, value: &Value) -> Result<(), String> {
        if value["answer"] == "forbidden" { Err("that word is forbidden".into()) } else { Ok(()) }
    }
}

fn schema() -> Schema {
    let properties = json!({"answer": {"type": "string"}});
    Schema {
        name: "answer".into(),
        json: json!({"type": "object", "properties": properties, "required": ["answer"]}),
    }
}

fn said(reply: &Reply) -> String {
    match reply {
        Reply::Said { text, .. } => text.clone(),
        Reply::Absent { why, .. } => format!("({})", why.as_str()),
    }
}

fn outcome(debate: &Debate) -> Outcome {
    Outcome {
        status: Status::Complete,
        termination: Termination::AllRoundsComplete,
        rounds_completed: debate.turns.len() as u32,
        verdict: json!(replies(debate)),
        dissent: Vec::new(),
        fidelity: Fidelity::Full,
        warnings: Vec::new(),
        labels: BTreeMap::new(),
        positions: Vec::new(),
        passed: None,
        lesson: None,
    }
}

/// What was said, or why not, in ask order.
pub(crate) fn replies(debate: &Debate) -> Vec<String> {
    debate.turns.iter().flat_map(Turn::settled).map(|(_, reply)| said(reply)).collect()
}

pub(crate) fn brief(models: &[&str], rounds: u32) -> Brief {
    let seats = models.iter().enumerate().map(|(place, model)| Seat {
        id: format!("seat-{}", place + 1),
        role: "speaker".into(),
        model: (*model).to_owned(),
    });
    Brief {
        version: LOG_VERSION,
        id: "d1".into(),
        protocol: "circle".into(),
        question: "Why?".into(),
        files: Vec::new(),
        options: [("rounds".to_owned(), json!(rounds))].into_iter().collect(),
        seats: seats.collect(),
        seed: 7,
        limits: Limits::default(),
        templates: BTreeMap::new(),
        written_by: String::new(),
        created_at: "2026-01-01T00:00:00Z".into(),
        parent: None,
    }
}

/// What a made-up model does with a call.
pub(crate) struct Act {
    pub(crate) after: Duration,
    pub(crate) result: Result<Completion, Fault>,
}

pub(crate) fn say(text: &str) -> Act {
    let usage = Usage { input_tokens: 10, output_tokens: 5, ..Usage::default() };
    let completion = Completion {
        text: text.to_owned(),
        model: "spoken".into(),
        usage,
        finish: Finish::End,
        shortened: None,
    };
    Act { after: Duration::from_millis(20), result: Ok(completion) }
}

pub(crate) fn fault(kind: FaultKind) -> Act {
    Act { after: Duration::from_millis(20), result: Err(Fault::new(kind, format!("{kind:?}"))) }
}

pub(crate) fn hang() -> Act {
    Act { after: Duration::from_secs(1 << 30), result: Err(Fault::new(FaultKind::Garbled, "never")) }
}

type Script = Box<dyn Fn(&str, &Call) -> Act + Send + Sync>;

/// Models of any name, all played by one script; what they see is kept.
pub(crate) struct Troupe {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) price: Mutex<Price>,
    script: Script,
    pub(crate) calls: Mutex<Vec<(String, Call)>>,
    /// What should never be: a call before its `Sent` is durable, a phase before the last one's replies are.
    pub(crate) violations: Mutex<Vec<String>>,
    pub(crate) running: Mutex<(usize, usize)>,
    /// How long a model reads before its first token.
    pub(crate) first_token: Mutex<Duration>,
    /// How many calls were to be streamed.
    pub(crate) streamed: Mutex<usize>,
}

impl Troupe {
    pub(crate) fn new(
        store: Arc<MemoryStore>,
        script: impl Fn(&Call) -> Act + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::named(store, move |_, call| script(call))
    }

    /// A troupe whose players know their names.
    pub(crate) fn named(
        store: Arc<MemoryStore>,
        script: impl Fn(&str, &Call) -> Act + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            store,
            price: Mutex::new(Price::Free),
            script: Box::new(script),
            calls: Mutex::default(),
            violations: Mutex::default(),
            running: Mutex::default(),
            first_token: Mutex::default(),
            streamed: Mutex::default(),
        })
    }

    /// The same players on another store.
    pub(crate) fn over(self: Arc<Self>, store: Arc<MemoryStore>) -> Arc<Self> {
        let troupe = Arc::into_inner(self).expect("nobody has played yet");
        Arc::new(Self { store, ..troupe })
    }

    pub(crate) fn engine(self: &Arc<Self>, settings: Settings) -> Engine {
        Engine::new(Arc::new(Cast(self.clone())), self.store.clone(), settings)
    }

    /// The models called, in order.
    pub(crate) fn called(&self) -> Vec<String> {
        self.calls.lock().unwrap().iter().map(|(model, _)| model.clone()).collect()
    }

    fn witness(&self, model: &str, call: &Call) {
        let log = self.store.log_of(&call.debate);
        let sent = log.iter().any(|record| {
            matches!(&record.entry.event, Event::Sent { ask, attempt, model: to, .. }
                if *ask == call.ask && *attempt == call.attempt && to == model)
        });
        let mut violations = self.violations.lock().unwrap();
        if !sent {
            violations.push(format!(
                "ask {} attempt {} left before its `sent` was durable",
                call.ask, call.attempt
            ));
        }
        let debate = Debate::from_records(&log).unwrap();
        for turn in debate.turns.iter().filter(|turn| turn.phase != call.phase) {
            if turn.outstanding().next().is_some() {
                violations.push(format!(
                    "ask {} left before the replies of {:?} were durable",
                    call.ask, turn.phase
                ));
            }
        }
        let answered = debate.turns.iter().flat_map(Turn::settled).any(|(asked, _)| asked.id == call.ask);
        if answered {
            violations.push(format!("ask {} was asked again after its reply", call.ask));
        }
    }
}

struct Cast(Arc<Troupe>);

impl Models for Cast {
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, Invalid> {
        if name.starts_with("nobody/") {
            return Err(Invalid(format!("there is no provider of {name}")));
        }
        let provider = name.split('/').next().unwrap().to_owned();
        let price = if name.ends_with("dear") { Price::Unknown } else { *self.0.price.lock().unwrap() };
        Ok(Arc::new(Player { name: name.to_owned(), provider, price, troupe: self.0.clone() }))
    }
}

struct Player {
    name: String,
    provider: String,
    price: Price,
    troupe: Arc<Troupe>,
}

impl Model for Player {
    fn name(&self) -> &str {
        &self.name
    }
    fn provider(&self) -> &str {
        &self.provider
    }
    fn price(&self) -> Price {
        self.price
    }

    /// A player of this provider takes the time that it likes, as a person does.
    fn timeout(&self) -> Option<Duration> {
        (self.provider == "slow").then_some(Duration::from_secs(600))
    }

    /// Players of this provider run errands.
    fn is_errand(&self) -> bool {
        self.provider == "errand"
    }

    fn call<'a>(
        &'a self,
        call: &'a Call,
        deltas: Option<Deltas<'a>>,
    ) -> BoxFuture<'a, Result<Completion, Fault>> {
        async move {
            self.troupe.witness(&self.name, call);
            self.troupe.calls.lock().unwrap().push((self.name.clone(), call.clone()));
            let act = (self.troupe.script)(&self.name, call);
            let running = Running::new(&self.troupe);
            let first_token = act.after.min(*self.troupe.first_token.lock().unwrap());
            tokio::time::sleep(first_token).await;
            *self.troupe.streamed.lock().unwrap() += usize::from(deltas.is_some());
            if let (Some(deltas), Ok(completion)) = (deltas, &act.result) {
                completion.text.split_inclusive(' ').for_each(deltas);
            }
            tokio::time::sleep(act.after - first_token).await;
            drop(running);
            act.result
        }
        .boxed()
    }
}

/// Counts the calls under way, also those that are dropped.
struct Running<'a>(&'a Troupe);

impl<'a> Running<'a> {
    fn new(troupe: &'a Troupe) -> Self {
        let mut running = troupe.running.lock().unwrap();
        running.0 += 1;
        running.1 = running.1.max(running.0);
        Self(troupe)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.lock().unwrap().0 -= 1;
    }
}

/// Opens a debate and runs it with everything at its default.
pub(crate) async fn run(troupe: &Arc<Troupe>, brief: Brief) -> Result<Debate, EngineError> {
    troupe.engine(Settings::default()).open(&CIRCLE, brief, &Watch::default(), &Stop::new()).await
}

/// The same, with a fifth of every limit kept for the last round.
pub(crate) async fn run_keeping(troupe: &Arc<Troupe>, mut brief: Brief) -> Result<Debate, EngineError> {
    brief.protocol = KEEPER.name().into();
    troupe.engine(Settings::default()).open(&KEEPER, brief, &Watch::default(), &Stop::new()).await
}
