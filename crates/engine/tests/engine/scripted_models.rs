//! The models of the tests, and the shortest ways to run a debate with them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_core::{Brief, CallUsage, Debate, Event, Invalid, PhaseTurn};
use agon_engine::*;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::memory_store::MemoryStore;
use crate::rounds_protocol::{CLOSING_ROUNDS, ROUNDS, find_protocol};

/// What a scripted model does with a call.
pub(crate) struct ScriptedResult {
    pub(crate) after: Duration,
    pub(crate) result: Result<ModelCompletion, CallFault>,
}

pub(crate) fn answer(text: &str) -> ScriptedResult {
    let completion = ModelCompletion {
        text: text.to_owned(),
        model: String::new(),
        usage: CallUsage { input_tokens: 10, output_tokens: 5, ..CallUsage::default() },
        finish: FinishReason::End,
        shortened: None,
    };
    ScriptedResult { after: Duration::from_millis(20), result: Ok(completion) }
}

/// An answer whose provider reports no tokens.
pub(crate) fn answer_without_usage(text: &str) -> ScriptedResult {
    let mut result = answer(text);
    result.result.as_mut().unwrap().usage = CallUsage::default();
    result
}

pub(crate) fn fault(kind: CallFaultKind) -> ScriptedResult {
    let fault = CallFault::new(kind, format!("{kind:?}"));
    ScriptedResult { after: Duration::from_millis(20), result: Err(fault) }
}

/// A call that never ends.
pub(crate) fn hang() -> ScriptedResult {
    ScriptedResult { after: Duration::from_secs(1 << 30), ..fault(CallFaultKind::Garbled) }
}

/// A script whose result depends on the number of the attempt. The last step is repeated. A step is the text of an answer or
/// one of the words below.
pub(crate) fn by_attempt(
    steps: &'static [&'static str],
) -> impl Fn(&ModelCall) -> ScriptedResult + Send + Sync {
    let ending_with = |text: &str, finish| {
        let mut scripted = answer(text);
        scripted.result.as_mut().unwrap().finish = finish;
        scripted
    };
    move |call| match steps[(call.attempt as usize - 1).min(steps.len() - 1)] {
        "limited" => fault(CallFaultKind::RateLimited),
        "down" => fault(CallFaultKind::Unavailable),
        "garbled" => fault(CallFaultKind::Garbled),
        "refused" => fault(CallFaultKind::Refused),
        "rejected" => fault(CallFaultKind::Rejected),
        "no schema" => fault(CallFaultKind::Unsupported),
        "key" => fault(CallFaultKind::Key),
        "unknown" => fault(CallFaultKind::NoSuchModel),
        "hang" => hang(),
        "filtered" => ending_with("I cannot help with that", FinishReason::Refused),
        "cut" => ending_with(r#"{"answer": "because"#, FinishReason::Length),
        "cut unverified" => ending_with(r#"{"answer": "unverified""#, FinishReason::Length),
        text => answer(text),
    }
}

type ModelScript = Box<dyn Fn(&str, &ModelCall) -> ScriptedResult + Send + Sync>;

/// Models of any name that follow one script. They record what they see.
///
/// A provider called `nobody` does not exist, models of `slow` set their own timeout, models of `errand` are errands, and a
/// model called `unpriced` has no known price.
pub(crate) struct ScriptedModels {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) price: Mutex<ModelPrice>,
    script: ModelScript,
    pub(crate) calls: Mutex<Vec<(String, ModelCall)>>,
    /// What must never happen, for instance a call before its `Sent` is durable.
    pub(crate) violations: Mutex<Vec<String>>,
    running: Mutex<RunningCount>,
    /// The time until the first token.
    pub(crate) first_token: Mutex<Duration>,
    /// How many calls were streamed.
    pub(crate) streamed: Mutex<usize>,
}

#[derive(Default)]
struct RunningCount {
    now: usize,
    most: usize,
}

impl ScriptedModels {
    pub(crate) fn new(script: impl Fn(&ModelCall) -> ScriptedResult + Send + Sync + 'static) -> Arc<Self> {
        Self::with_store(Arc::default(), script)
    }

    pub(crate) fn with_store(
        store: Arc<MemoryStore>,
        script: impl Fn(&ModelCall) -> ScriptedResult + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::by_name(store, move |_, call| script(call))
    }

    /// Models whose script depends on their names.
    pub(crate) fn by_name(
        store: Arc<MemoryStore>,
        script: impl Fn(&str, &ModelCall) -> ScriptedResult + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            store,
            price: Mutex::new(ModelPrice::Free),
            script: Box::new(script),
            calls: Mutex::default(),
            violations: Mutex::default(),
            running: Mutex::default(),
            first_token: Mutex::default(),
            streamed: Mutex::default(),
        })
    }

    pub(crate) fn engine(self: &Arc<Self>, settings: EngineSettings) -> Engine {
        Engine::new(Arc::new(ScriptedSource(self.clone())), self.store.clone(), settings)
    }

    /// The models called, in order.
    pub(crate) fn called(&self) -> Vec<String> {
        self.calls.lock().unwrap().iter().map(|(model, _)| model.clone()).collect()
    }

    pub(crate) fn running_now(&self) -> usize {
        self.running.lock().unwrap().now
    }

    pub(crate) fn most_running(&self) -> usize {
        self.running.lock().unwrap().most
    }

    pub(crate) fn assert_no_violations(&self) {
        assert_eq!(*self.violations.lock().unwrap(), [""; 0]);
    }

    /// Compares a call with what is durable when it starts.
    fn check_call(&self, model: &str, call: &ModelCall) {
        let log = self.store.log_of(&call.debate);
        let is_sent = log.iter().any(|record| {
            matches!(&record.entry.event, Event::Sent { ask, attempt, model: to, .. }
                if *ask == call.ask && *attempt == call.attempt && to == model)
        });
        let (ask, attempt) = (call.ask, call.attempt);
        let mut violations = self.violations.lock().unwrap();
        if !is_sent {
            violations.push(format!("ask {ask} attempt {attempt} started before its `sent` was durable"));
        }
        let debate = Debate::from_records(&log).unwrap();
        for turn in debate.turns.iter().filter(|turn| turn.phase != call.phase) {
            if turn.outstanding().next().is_some() {
                violations
                    .push(format!("ask {ask} started before the replies of {:?} were durable", turn.phase));
            }
        }
        if debate.turns.iter().flat_map(PhaseTurn::settled).any(|(asked, _)| asked.id == ask) {
            violations.push(format!("ask {ask} was asked again after its reply"));
        }
    }
}

struct ScriptedSource(Arc<ScriptedModels>);

impl ModelSource for ScriptedSource {
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, Invalid> {
        if name.starts_with("nobody/") {
            return Err(Invalid(format!("there is no provider of {name}")));
        }
        let provider = name.split('/').next().unwrap().to_owned();
        let price = match name.ends_with("/unpriced") {
            true => ModelPrice::Unknown,
            false => *self.0.price.lock().unwrap(),
        };
        Ok(Arc::new(ScriptedModel { name: name.to_owned(), provider, price, models: self.0.clone() }))
    }
}

struct ScriptedModel {
    name: String,
    provider: String,
    price: ModelPrice,
    models: Arc<ScriptedModels>,
}

impl Model for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        &self.provider
    }

    fn price(&self) -> ModelPrice {
        self.price
    }

    fn timeout(&self) -> Option<Duration> {
        (self.provider == "slow").then_some(Duration::from_secs(600))
    }

    fn is_errand(&self) -> bool {
        self.provider == "errand"
    }

    fn call<'a>(
        &'a self,
        call: &'a ModelCall,
        deltas: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelCompletion, CallFault>> {
        async move {
            self.models.check_call(&self.name, call);
            self.models.calls.lock().unwrap().push((self.name.clone(), call.clone()));
            let scripted = (self.models.script)(&self.name, call);
            let running = RunningGuard::new(&self.models);
            let first_token = scripted.after.min(*self.models.first_token.lock().unwrap());
            tokio::time::sleep(first_token).await;
            *self.models.streamed.lock().unwrap() += usize::from(deltas.is_some());
            if let (Some(deltas), Ok(completion)) = (deltas, &scripted.result) {
                completion.text.split_inclusive(' ').for_each(deltas);
            }
            tokio::time::sleep(scripted.after - first_token).await;
            drop(running);
            scripted.result.map(|completion| ModelCompletion { model: self.name.clone(), ..completion })
        }
        .boxed()
    }
}

/// Counts a call as running until it ends or is dropped.
struct RunningGuard<'a>(&'a ScriptedModels);

impl<'a> RunningGuard<'a> {
    fn new(models: &'a ScriptedModels) -> Self {
        let mut running = models.running.lock().unwrap();
        running.now += 1;
        running.most = running.most.max(running.now);
        Self(models)
    }
}

impl Drop for RunningGuard<'_> {
    fn drop(&mut self) {
        self.0.running.lock().unwrap().now -= 1;
    }
}

/// Opens a debate and runs it with default settings.
pub(crate) async fn run(models: &Arc<ScriptedModels>, brief: Brief) -> Result<Debate, EngineError> {
    run_with(models, brief, EngineSettings::default()).await
}

/// Opens a debate and runs it with these settings.
pub(crate) async fn run_with(
    models: &Arc<ScriptedModels>,
    brief: Brief,
    settings: EngineSettings,
) -> Result<Debate, EngineError> {
    models.engine(settings).open(&ROUNDS, brief, &DebateWatch::default(), &StopSignal::new()).await
}

/// Runs a debate whose last round is a closing phase.
pub(crate) async fn run_with_closing(
    models: &Arc<ScriptedModels>,
    mut brief: Brief,
) -> Result<Debate, EngineError> {
    brief.protocol = CLOSING_ROUNDS.info.name.into();
    let engine = models.engine(EngineSettings::default());
    engine.open(&CLOSING_ROUNDS, brief, &DebateWatch::default(), &StopSignal::new()).await
}

/// Resumes the debate with default settings.
pub(crate) async fn resume(models: &Arc<ScriptedModels>) -> Result<Debate, EngineError> {
    let engine = models.engine(EngineSettings::default());
    engine.resume(&find_protocol, "d1", None, &DebateWatch::default(), &StopSignal::new()).await
}
