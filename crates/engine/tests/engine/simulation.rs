//! A seeded simulation: random faults, delays, limits, stops and a store that dies now and then. Every seed is a debate that
//! must close, keep its limits and never act on what is not durable.

use std::sync::Arc;
use std::time::Duration;

use agon_core::seed::Draw;
use agon_core::{Debate, Limits, Protocol};
use agon_engine::*;
use serde_json::json;

use crate::stage::*;

fn weather(seed: u64) -> impl Fn(&Call) -> Act + Send + Sync {
    move |call| {
        let mut draw = Draw::new(seed, &format!("act {} {}", call.ask, call.attempt));
        let mut act = match draw.below(15) {
            0 => fault(FaultKind::RateLimited),
            1 => fault(FaultKind::Unavailable),
            2 => fault(FaultKind::Garbled),
            3 => fault(FaultKind::Refused),
            4 => fault(FaultKind::Rejected),
            5 => fault(FaultKind::Key),
            6 => hang(),
            14 => fault(FaultKind::Unsupported),
            7 => say(r#"{"answer": "forbidden"}"#),
            8 => say("nothing that could be mended"),
            9 => say(r#"<think>hm</think> Well: {"answer": "yes",}"#),
            _ => say(&json!({"answer": format!("{}", call.ask)}).to_string()),
        };
        act.after = act.after.max(Duration::from_millis(draw.below(400) as u64));
        if let Err(fault) = &mut act.result {
            fault.retry_after = (draw.below(3) == 0).then(|| Duration::from_secs(draw.below(200) as u64));
        }
        act
    }
}

fn limits(draw: &mut Draw) -> Limits {
    let mut sometimes = |most: usize| (draw.below(2) == 0).then(|| draw.below(most));
    Limits {
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
    let mut draw = Draw::new(seed, "simulation");
    let store = Arc::<MemoryStore>::default();
    *store.latency.lock().unwrap() = Duration::from_millis(draw.below(30) as u64);
    let troupe = Troupe::new(store.clone(), weather(seed));
    *troupe.price.lock().unwrap() =
        Price::PerMillion { input: 3.0, cached_input: 0.3, cache_write: 3.75, output: 15.0 };
    let models: Vec<&str> = (0..=draw.below(4)).map(|place| ["a/x", "b/y|a/x", "c/z"][place % 3]).collect();
    let mut brief = brief(&models, 1 + draw.below(4) as u32);
    let protocol = if draw.below(2) == 0 { &CIRCLE } else { &KEEPER };
    brief.protocol = protocol.name().into();
    brief.options.insert("structured".into(), json!(draw.below(4) > 0));
    brief.limits = limits(&mut draw);
    let limits = brief.limits.clone();
    *troupe.first_token.lock().unwrap() = Duration::from_millis(draw.below(40) as u64);
    let (concurrent_calls, warm_up_ms) = (1 + draw.below(4), draw.below(300) as u64);
    let settings = Settings { concurrent_calls, drain_ms: 100, warm_up, warm_up_ms, ..Settings::default() };
    let engine = troupe.engine(settings);
    let mut closed: Option<Debate> = None;
    for _ in 0..500 {
        let stop = Stop::new();
        let patience = Duration::from_millis(draw.below(20_000) as u64);
        let made = store.appends.lock().unwrap().len();
        *store.fail_at.lock().unwrap() = (draw.below(3) == 0).then(|| made + draw.below(8));
        let (watch, fresh) = (Watch::default(), store.log().is_empty());
        let run = async {
            if fresh {
                engine.open(protocol, brief.clone(), &watch, &stop).await
            } else {
                engine.resume(&find, "d1", None, &watch, &stop).await
            }
        };
        tokio::pin!(run);
        let result = tokio::select! {
            result = &mut run => result,
            () = tokio::time::sleep(patience) => {
                stop.stop();
                run.await
            }
        };
        assert!(!store.is_leased(), "seed {seed}: the lease was kept");
        match result {
            Ok(debate) => {
                closed = Some(debate);
                break;
            }
            Err(EngineError::Invalid(_) | EngineError::Corrupt(_)) => panic!("seed {seed}: {result:?}"),
            Err(_) => store.restart(),
        }
    }
    let debate = closed.unwrap_or_else(|| panic!("seed {seed}: it never closes"));
    let violations = troupe.violations.lock().unwrap();
    assert!(violations.is_empty(), "seed {seed}: {violations:?}");
    let log = store.log();
    let kept = std::panic::catch_unwind(|| crate::limits::committed(&log, &limits, &[]));
    assert!(kept.is_ok(), "seed {seed}: a limit was exceeded");
    let replayed = agon_core::play::replay(protocol, &log);
    assert!(replayed.is_ok_and(|replayed| replayed == debate), "seed {seed}: the log does not replay");
    let counted = debate.spent().calls as usize;
    assert!(counted >= troupe.called().len(), "seed {seed}: a call that is not in the log");
}

fn simulate_all(warm_up: bool) {
    for seed in 0..300 {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(simulate(seed, warm_up));
    }
}

#[test]
fn whatever_goes_wrong_a_debate_closes_within_its_limits() {
    simulate_all(false);
}

#[test]
fn it_does_so_with_the_warm_up_on() {
    simulate_all(true);
}
