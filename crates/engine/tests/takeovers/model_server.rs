//! The server that answers all calls. It keeps a ledger of what arrived and what it answered, which is the oracle: nothing in it comes
//! from the engine's own accounts.

use std::sync::Arc;
use std::time::Duration;

use agon_core::seed::SeededDraw;
use agon_core::{CallUsage, Event, Invalid};
use agon_engine::{
    CallFault, CallFaultKind, DeltaSink, FinishReason, Model, ModelCall, ModelCompletion, ModelPrice,
    ModelSource,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::schedule::{ProcessKey, RunNumber, World};

/// How many calls of an ask fail at most. The debates allow as many retries and repairs, so that every ask gets its answer.
pub(crate) const FAULTS_MAX: usize = 2;

/// A call that arrived.
#[derive(Debug, Clone)]
pub(crate) struct LedgerEntry {
    pub(crate) debate: String,
    pub(crate) ask: u32,
    pub(crate) attempt: u32,
    pub(crate) run: RunNumber,
    /// The words of the answer, once there is one.
    pub(crate) answered: Option<String>,
    /// Whether the ask was already with another process, which has sent another call for it or has its reply.
    pub(crate) is_late: bool,
}

/// The good answer to an ask. It does not depend on who asks and how often.
pub(crate) fn good_answer(seed: u64, debate: &str, ask: u32) -> String {
    let opinion = SeededDraw::new(seed, &format!("answer {debate} {ask}")).below(1_000);
    json!({"answer": format!("opinion {opinion}")}).to_string()
}

/// What the server does with a call.
enum ServerResponse {
    Good,
    /// An answer that has to be repaired.
    Malformed,
    /// An answer that is lost on its way.
    LostAnswer,
    Overloaded,
}

/// The models as one process reaches them.
pub(crate) struct ServedModels {
    pub(crate) world: Arc<World>,
    pub(crate) process: ProcessKey,
}

impl ModelSource for ServedModels {
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, Invalid> {
        Ok(Arc::new(ServedModel { name: name.to_owned(), world: self.world.clone(), process: self.process }))
    }
}

struct ServedModel {
    name: String,
    world: Arc<World>,
    process: ProcessKey,
}

impl Model for ServedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        "a"
    }

    fn price(&self) -> ModelPrice {
        ModelPrice::Free
    }

    /// The request travels on its own, and so does the answer: a process that is stopped or dead by then changes neither.
    fn call<'a>(
        &'a self,
        call: &'a ModelCall,
        _: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelCompletion, CallFault>> {
        let run = self.world.current_run(self.process, &call.debate);
        let (answer, answered) = oneshot::channel();
        let (world, request) = (self.world.clone(), (call.debate.clone(), call.ask, call.attempt));
        tokio::spawn(async move {
            let arrives_ms = if world.below(20) == 0 { 40_000 } else { 20 };
            sleep(world.millis_below(arrives_ms)).await;
            let (place, response) = receive(&world, run, request);
            sleep(world.millis_below(400)).await;
            let result = respond(&world, place, response);
            let travels_ms = [20, 20, 20, 20, 20, 3_000][world.below(6)];
            sleep(world.millis_below(travels_ms)).await;
            let _ = answer.send((place, result));
        });
        async move {
            let (place, result) = answered.await.expect("the server always answers");
            self.world.runs.lock().unwrap()[run].returned.push(place);
            result.map(|completion| ModelCompletion { model: self.name.clone(), ..completion })
        }
        .boxed()
    }
}

/// Enters a call into the ledger and compares it with what is durable now.
fn receive(
    world: &World,
    run: RunNumber,
    (debate, ask, attempt): (String, u32, u32),
) -> (usize, ServerResponse) {
    let database = world.database.lock().unwrap();
    let row = &database.debates[&debate];
    let what = format!("the call {attempt} for ask {ask} of {debate}");
    let is_newer = |event: &Event| match event {
        Event::Replied { ask: replied, .. } => *replied == ask,
        Event::Sent { ask: sent, attempt: number, .. } => *sent == ask && *number > attempt,
        _ => false,
    };
    let is_late = row.log.iter().any(|record| is_newer(&record.entry.event));
    match row.sent_at(ask, attempt).and_then(|place| row.written_by[place]) {
        Some((sender, epoch)) if sender == run => {
            // Only who has lost the debate and does not know it yet may do this.
            if is_late && epoch == row.epoch {
                world.note_violation(format!("{what} arrived although its answer is there"));
            }
        }
        _ => world.note_violation(format!("{what} arrived before its `sent` was durable")),
    }
    let mut ledger = world.ledger.lock().unwrap();
    let of_ask = |entry: &&LedgerEntry| (entry.debate.as_str(), entry.ask) == (debate.as_str(), ask);
    if ledger.iter().filter(of_ask).any(|entry| entry.attempt == attempt) {
        world.note_violation(format!("{what} arrived twice"));
    }
    let earlier = ledger.iter().filter(of_ask).count();
    let mut draw = SeededDraw::new(world.schedule.seed, &format!("faults {debate} {ask}"));
    let faults: Vec<usize> = (0..draw.below(FAULTS_MAX + 1)).map(|_| draw.below(3)).collect();
    let response = match faults.get(earlier) {
        Some(0) => ServerResponse::Malformed,
        Some(1) => ServerResponse::LostAnswer,
        Some(_) => ServerResponse::Overloaded,
        None => ServerResponse::Good,
    };
    ledger.push(LedgerEntry { debate, ask, attempt, run, answered: None, is_late });
    (ledger.len() - 1, response)
}

fn respond(world: &World, place: usize, response: ServerResponse) -> Result<ModelCompletion, CallFault> {
    let mut ledger = world.ledger.lock().unwrap();
    let entry = &mut ledger[place];
    let good = good_answer(world.schedule.seed, &entry.debate, entry.ask);
    let text = match response {
        ServerResponse::Overloaded => {
            return Err(CallFault {
                retry_after: Some(Duration::from_millis(100)),
                ..CallFault::new(CallFaultKind::RateLimited, "too many calls")
            });
        }
        ServerResponse::Malformed => "no object".to_owned(),
        ServerResponse::LostAnswer | ServerResponse::Good => good,
    };
    entry.answered = Some(text.clone());
    if matches!(response, ServerResponse::LostAnswer) {
        return Err(CallFault::new(CallFaultKind::Unavailable, "the connection was lost"));
    }
    Ok(ModelCompletion {
        text,
        model: String::new(),
        usage: CallUsage { input_tokens: receipt(place), output_tokens: 1, ..CallUsage::default() },
        finish: FinishReason::End,
        shortened: None,
    })
}

/// The tokens that a call reports. They are different for each, so that a reply in the log tells which call it comes from.
pub(crate) fn receipt(place: usize) -> u64 {
    1_000 + place as u64
}
