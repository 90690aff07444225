//! A seeded simulation: random faults, delays, limits and stops, and a store that sometimes fails. With every seed, the debate
//! must close, keep its limits, and never start a call before the log is durable.

use std::sync::Arc;
use std::time::Duration;

use agon_core::seed::SeededDraw;
use agon_core::{Debate, DebateLimits};
use agon_engine::*;
use serde_json::json;

use crate::budget_limits::assert_limits_hold;
use crate::memory_store::MemoryStore;
use crate::rounds_protocol::*;
use crate::scripted_models::*;

fn random_results(seed: u64) -> impl Fn(&ModelCall) -> ScriptedResult + Send + Sync {
    move |call| {
        let mut draw = SeededDraw::new(seed, &format!("act {} {}", call.ask, call.attempt));
        let mut scripted = match draw.below(17) {
            0 => fault(CallFaultKind::RateLimited),
            1 => fault(CallFaultKind::Unavailable),
            2 => fault(CallFaultKind::Garbled),
            3 => fault(CallFaultKind::Refused),
            4 => fault(CallFaultKind::Rejected),
            5 => fault(CallFaultKind::Key),
            6 => hang(),
            14 => fault(CallFaultKind::Unsupported),
            7 => answer(r#"{"answer": "forbidden"}"#),
            15 | 16 => answer(r#"{"answer": "unverified"}"#),
            8 => answer("nothing that can be repaired"),
            9 => answer(r#"<think>hm</think> Well: {"answer": "yes",}"#),
            _ => answer(&json!({"answer": format!("{}", call.ask)}).to_string()),
        };
        scripted.after = scripted.after.max(Duration::from_millis(draw.below(400) as u64));
        if let Err(fault) = &mut scripted.result {
            fault.retry_after = (draw.below(3) == 0).then(|| Duration::from_secs(draw.below(200) as u64));
        }
        scripted
    }
}

fn random_limits(draw: &mut SeededDraw) -> DebateLimits {
    let mut sometimes = |most: usize| (draw.below(2) == 0).then(|| draw.below(most));
    DebateLimits {
        call_timeout_ms: 5_000,
        deadline_ms: sometimes(60_000).map(|ms| ms as u64),
        usd: sometimes(1_000).map(|milli| milli as f64 / 1e3),
        calls: sometimes(60).map(|calls| calls as u32),
        tokens: sometimes(100_000).map(|tokens| tokens as u64),
        repairs: sometimes(3).unwrap_or(1) as u32,
        retries: sometimes(4).unwrap_or(2) as u32,
        output_tokens: 500,
    }
}

async fn simulate(seed: u64, warm_up: bool) {
    let mut draw = SeededDraw::new(seed, "simulation");
    let store = Arc::<MemoryStore>::default();
    *store.latency.lock().unwrap() = Duration::from_millis(draw.below(30) as u64);
    let models = ScriptedModels::with_store(store.clone(), random_results(seed));
    *models.price.lock().unwrap() =
        ModelPrice::PerMillion { input: 3.0, cached_input: 0.3, cache_write: 3.75, output: 15.0 };
    let chains: Vec<&str> = (0..=draw.below(4)).map(|index| ["a/x", "b/y|a/x", "c/z"][index % 3]).collect();
    let mut brief = brief(&chains, 1 + draw.below(4) as u32);
    let protocol = if draw.below(2) == 0 { &ROUNDS } else { &CLOSING_ROUNDS };
    brief.protocol = protocol.info.name.into();
    brief.options.insert("structured".into(), json!(draw.below(4) > 0));
    brief.limits = random_limits(&mut draw);
    let limits = brief.limits.clone();
    *models.first_token.lock().unwrap() = Duration::from_millis(draw.below(40) as u64);
    let (concurrent_calls, warm_up_ms) = (1 + draw.below(4), draw.below(300) as u64);
    let settings =
        EngineSettings { concurrent_calls, drain_ms: 100, warm_up, warm_up_ms, ..EngineSettings::default() };
    let engine = models.engine(settings);
    let mut closed: Option<Debate> = None;
    for _ in 0..500 {
        let stop = StopSignal::new();
        let stop_after = Duration::from_millis(draw.below(20_000) as u64);
        let made = store.appends.lock().unwrap().len();
        *store.fail_at.lock().unwrap() = (draw.below(3) == 0).then(|| made + draw.below(8));
        let (watch, is_new) = (DebateWatch::default(), store.log().is_empty());
        let run = async {
            if is_new {
                engine.open(protocol, brief.clone(), &watch, &stop).await
            } else {
                engine.resume(&find_protocol, "d1", None, &watch, &stop).await
            }
        };
        tokio::pin!(run);
        let result = tokio::select! {
            result = &mut run => result,
            () = tokio::time::sleep(stop_after) => {
                stop.stop();
                run.await
            }
        };
        assert!(!store.is_leased(), "seed {seed}: the lease was not released");
        match result {
            Ok(debate) => {
                closed = Some(debate);
                break;
            }
            Err(EngineError::Invalid(_) | EngineError::Corrupt(_)) => panic!("seed {seed}: {result:?}"),
            Err(_) => store.restart(),
        }
    }
    let debate = closed.unwrap_or_else(|| panic!("seed {seed}: the debate never closes"));
    let violations = models.violations.lock().unwrap();
    assert!(violations.is_empty(), "seed {seed}: {violations:?}");
    let log = store.log();
    let checked = std::panic::catch_unwind(|| assert_limits_hold(&log, &limits));
    assert!(checked.is_ok(), "seed {seed}: a limit was exceeded");
    let replayed = agon_core::play::replay(protocol, &log);
    assert!(replayed.is_ok_and(|replayed| replayed == debate), "seed {seed}: the log does not replay");
    let counted = debate.spent().calls as usize;
    assert!(counted >= models.called().len(), "seed {seed}: a call is not in the log");
}

fn simulate_all(warm_up: bool) {
    for seed in 0..300 {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(simulate(seed, warm_up));
    }
}

#[test]
fn a_debate_closes_within_its_limits_whatever_goes_wrong() {
    simulate_all(false);
}

#[test]
fn a_debate_with_warm_up_closes_within_its_limits_whatever_goes_wrong() {
    simulate_all(true);
}
