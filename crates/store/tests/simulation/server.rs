//! The simulated server. It answers every seat, fails as servers do, and keeps a ledger of what it was asked, answered and
//! charged. The ledger is the oracle: nothing in it comes from the engine's own accounts.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_core::play::{invent, reopen};
use agon_core::seed::SeededDraw;
use agon_core::{CallUsage, Event, Invalid, Protocol};
use agon_engine::{
    CallFault, CallFaultKind, DeltaSink, FinishReason, Model, ModelCall, ModelCompletion, ModelPrice,
    ModelSource,
};
use tokio::time::Instant;

use crate::process_store::DurableLog;

pub(crate) const PRICE: ModelPrice =
    ModelPrice::PerMillion { input: 3.0, cached_input: 0.3, cache_write: 3.75, output: 15.0 };

/// How many calls of an ask a steady server fails at most. The debates of steady servers allow as many retries.
pub(crate) const STEADY_FAULTS_MAX: usize = 2;

/// One request, as the server saw it.
#[derive(Debug, Clone)]
pub(crate) struct LedgerEntry {
    /// The process that asked, counted from 0.
    pub(crate) process: usize,
    pub(crate) ask: u32,
    pub(crate) attempt: u32,
    /// What the server charges, whether or not the client hears of it.
    pub(crate) tokens: u64,
    pub(crate) usd: f64,
    /// The words of the answer, if there is one.
    pub(crate) text: Option<String>,
    /// When the client had the answer or the error.
    pub(crate) returned_at: Option<Instant>,
}

pub(crate) struct SimulatedServer {
    seed: u64,
    protocol: &'static dyn Protocol,
    /// A steady server answers every ask in the end, and always in the same words.
    is_steady: bool,
    /// Until somebody fixes it, the server may reject the key.
    pub(crate) key_is_fixed: AtomicBool,
    /// The process that is running.
    pub(crate) process: AtomicUsize,
    durable: DurableLog,
    pub(crate) ledger: Mutex<Vec<LedgerEntry>>,
    /// What must never happen.
    pub(crate) violations: Mutex<Vec<String>>,
    /// The good answer to each ask.
    answers: Mutex<BTreeMap<u32, String>>,
}

/// What the server does with a request.
struct ServerResponse {
    after: Duration,
    result: Result<ModelCompletion, CallFault>,
    /// What it charges.
    charged: CallUsage,
}

impl SimulatedServer {
    pub(crate) fn new(
        seed: u64,
        protocol: &'static dyn Protocol,
        is_steady: bool,
        durable: DurableLog,
    ) -> Self {
        Self {
            seed,
            protocol,
            is_steady,
            key_is_fixed: AtomicBool::new(false),
            process: AtomicUsize::new(0),
            durable,
            ledger: Mutex::default(),
            violations: Mutex::default(),
            answers: Mutex::default(),
        }
    }

    /// Compares a request with what is durable when it arrives.
    fn check_request(&self, model: &str, call: &ModelCall) {
        let log = self.durable.lock().unwrap();
        let events = || log.iter().map(|record| &record.entry.event);
        let is_sent = events().any(|event| {
            matches!(event, Event::Sent { ask, attempt, model: to, .. }
                if (*ask, *attempt, to.as_str()) == (call.ask, call.attempt, model))
        });
        let is_answered =
            events().any(|event| matches!(event, Event::Replied { ask, .. } if *ask == call.ask));
        let what = format!("ask {} attempt {}", call.ask, call.attempt);
        let mut violations = self.violations.lock().unwrap();
        if !is_sent {
            violations.push(format!("{what} was sent before its `sent` was durable"));
        }
        if is_answered {
            violations.push(format!("{what} was sent although the ask has its reply"));
        }
        let is_same = |entry: &&LedgerEntry| (entry.ask, entry.attempt) == (call.ask, call.attempt);
        if self.ledger.lock().unwrap().iter().any(|entry| is_same(&entry)) {
            violations.push(format!("{what} was sent twice"));
        }
    }

    /// Decides the response and enters it into the ledger. Returns the entry's place.
    fn receive(&self, model: &str, call: &ModelCall) -> (usize, ServerResponse) {
        self.check_request(model, call);
        let response = if self.is_steady { self.steady_response(call) } else { self.response(call) };
        let mut ledger = self.ledger.lock().unwrap();
        ledger.push(LedgerEntry {
            process: self.process.load(Ordering::Relaxed),
            ask: call.ask,
            attempt: call.attempt,
            tokens: response.charged.input_tokens + response.charged.output_tokens,
            usd: PRICE.cost_usd(&response.charged).unwrap(),
            text: response.result.as_ref().ok().map(|completion| completion.text.clone()),
            returned_at: None,
        });
        (ledger.len() - 1, response)
    }

    /// Fails the first requests for an ask, however many processes make them, and answers the next.
    fn steady_response(&self, call: &ModelCall) -> ServerResponse {
        let mut draw = SeededDraw::new(self.seed, &format!("steady {}", call.ask));
        let earlier = self.ledger.lock().unwrap().iter().filter(|entry| entry.ask == call.ask).count();
        let faults: Vec<usize> = (0..draw.below(STEADY_FAULTS_MAX + 1)).map(|_| draw.below(3)).collect();
        let result = match faults.get(earlier) {
            Some(0) => Err(CallFaultKind::RateLimited),
            Some(1) => Err(CallFaultKind::Unavailable),
            Some(_) => Err(CallFaultKind::Garbled),
            None => Ok((self.answer(call.ask), FinishReason::End)),
        };
        self.respond(call, result, &mut SeededDraw::new(self.seed, &format!("pace {} {earlier}", call.ask)))
    }

    fn response(&self, call: &ModelCall) -> ServerResponse {
        use CallFaultKind::{Garbled, Key, RateLimited, Refused, Rejected, Unavailable, Unsupported};
        let mut draw = SeededDraw::new(self.seed, &format!("act {} {}", call.ask, call.attempt));
        let good = || self.answer(call.ask);
        let result = match draw.below(24) {
            0 => Err(RateLimited),
            1 | 2 => Err(Unavailable),
            3 | 4 => Err(Garbled),
            5 => Err(Refused),
            6 => Err(Rejected),
            7 => Err(Unsupported),
            8 if !self.key_is_fixed.load(Ordering::Relaxed) => Err(Key),
            9 => Ok((String::new(), FinishReason::End)),
            10 => Ok(("nothing that can be repaired".to_owned(), FinishReason::End)),
            11 => Ok((format!("<think>hm</think> Well:\n```json\n{}\n```", good()), FinishReason::End)),
            12 => Ok(("I cannot help with that".to_owned(), FinishReason::Refused)),
            13 => {
                let text = good();
                let half: String = text.chars().take(text.chars().count() / 2).collect();
                Ok((half, FinishReason::Length))
            }
            _ => Ok((good(), FinishReason::End)),
        };
        let is_silent = draw.below(16) == 0;
        let mut response = self.respond(call, result, &mut draw);
        if is_silent {
            response.after = Duration::from_secs(1 << 20);
        }
        response
    }

    fn respond(
        &self,
        call: &ModelCall,
        result: Result<(String, FinishReason), CallFaultKind>,
        draw: &mut SeededDraw,
    ) -> ServerResponse {
        // Every byte can be a token, and a server adds some to each message.
        let schema_bytes = call.schema.as_ref().map_or(0, |schema| schema.json.to_string().len());
        let bytes: usize =
            schema_bytes + call.messages.iter().map(|message| message.text.len() + 16).sum::<usize>();
        let mut charged = CallUsage {
            input_tokens: 1 + draw.below(bytes) as u64,
            output_tokens: draw.below(call.max_output_tokens as usize + 1) as u64,
            ..CallUsage::default()
        };
        charged.cached_input_tokens = draw.below(charged.input_tokens as usize) as u64;
        // Some servers do not say what they charge, or only half of it.
        let reported = match draw.below(6) {
            0 => CallUsage::default(),
            1 => CallUsage { output_tokens: charged.output_tokens, ..CallUsage::default() },
            _ => charged,
        };
        let wait = (draw.below(3) == 0).then(|| Duration::from_secs(draw.below(150) as u64));
        let after = Duration::from_millis(draw.below(400) as u64);
        let result = match result {
            Ok((text, finish)) => {
                Ok(ModelCompletion { text, model: String::new(), usage: reported, finish, shortened: None })
            }
            Err(kind) => {
                // A broken connection and a refusal are charged. Nobody charges for an error.
                if !matches!(kind, CallFaultKind::Garbled | CallFaultKind::Refused) {
                    charged = CallUsage::default();
                }
                let retry_after = wait.filter(|_| !self.is_steady);
                Err(CallFault { retry_after, ..CallFault::new(kind, format!("{kind:?}")) })
            }
        };
        ServerResponse { after, result, charged }
    }

    /// The good answer to an ask. It depends on the prompt alone, so a resumed debate gets the same.
    fn answer(&self, ask: u32) -> String {
        let mut answers = self.answers.lock().unwrap();
        if !answers.contains_key(&ask) {
            let (debate, asks) = reopen(self.protocol, &self.durable.lock().unwrap()).unwrap();
            for ask in asks {
                // Few made-up answers pass a strict check, such as that a ranking lists everybody once.
                let tries = (0..20).map(|more| invent(self.protocol, &debate, &ask, self.seed + 1000 * more));
                let said = tries.filter_map(|reply| reply.text().map(str::to_owned)).next();
                answers.entry(ask.id).or_insert(said.unwrap_or_default());
            }
        }
        answers.get(&ask).cloned().unwrap_or_default()
    }
}

/// The server's models, of any name. Those of the providers in `ERRANDS` are errands.
pub(crate) struct ServedModels(pub(crate) Arc<SimulatedServer>);

const ERRANDS: &[&str] = &["embeddings", "context"];

impl ModelSource for ServedModels {
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, Invalid> {
        let provider = name.split('/').next().unwrap_or_default().to_owned();
        Ok(Arc::new(ServedModel { name: name.to_owned(), provider, server: self.0.clone() }))
    }
}

struct ServedModel {
    name: String,
    provider: String,
    server: Arc<SimulatedServer>,
}

impl Model for ServedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        &self.provider
    }

    fn price(&self) -> ModelPrice {
        if self.is_errand() { ModelPrice::Free } else { PRICE }
    }

    fn is_errand(&self) -> bool {
        ERRANDS.contains(&self.provider.as_str())
    }

    fn call<'a>(
        &'a self,
        call: &'a ModelCall,
        deltas: Option<DeltaSink<'a>>,
    ) -> Pin<Box<dyn Future<Output = Result<ModelCompletion, CallFault>> + Send + 'a>> {
        Box::pin(async move {
            if self.is_errand() {
                let text = self.server.answer(call.ask);
                let (usage, finish) = (CallUsage::default(), FinishReason::End);
                return Ok(ModelCompletion {
                    text,
                    model: self.name.clone(),
                    usage,
                    finish,
                    shortened: None,
                });
            }
            let (place, ServerResponse { after, result, .. }) = self.server.receive(&self.name, call);
            tokio::time::sleep(after / 2).await;
            if let (Some(deltas), Ok(completion)) = (deltas, &result) {
                completion.text.split_inclusive(' ').for_each(deltas);
            }
            tokio::time::sleep(after - after / 2).await;
            self.server.ledger.lock().unwrap()[place].returned_at = Some(Instant::now());
            result.map(|completion| ModelCompletion { model: self.name.clone(), ..completion })
        })
    }
}
