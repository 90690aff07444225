//! The cache warm-up. Without it, all calls of a phase start at once. With it, the first call to each model starts alone.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_core::DebateLimits;
use agon_engine::*;
use tokio::time::Instant;

use crate::rounds_protocol::*;
use crate::scripted_models::*;

struct PhaseTimes {
    /// When each call started, in seat order.
    started_ms: Vec<u128>,
    streamed: usize,
    replies: Vec<String>,
}

/// Runs one phase. The first token of each call comes after 20 ms.
async fn timed(
    names: &[&str],
    settings: EngineSettings,
    limits: DebateLimits,
    script: impl Fn(&ModelCall) -> ScriptedResult + Send + Sync + 'static,
) -> PhaseTimes {
    let began = Instant::now();
    let starts = Arc::<Mutex<Vec<(u32, u128)>>>::default();
    let seen = starts.clone();
    let models = ScriptedModels::new(move |call| {
        seen.lock().unwrap().push((call.ask, began.elapsed().as_millis()));
        script(call)
    });
    *models.first_token.lock().unwrap() = Duration::from_millis(20);
    let mut brief = brief(names, 1);
    brief.limits = limits;
    let debate = run_with(&models, brief, settings).await.unwrap();
    models.assert_no_violations();
    let mut starts = starts.lock().unwrap().clone();
    starts.sort_by_key(|(ask, _)| *ask);
    let streamed = *models.streamed.lock().unwrap();
    let started_ms = starts.into_iter().map(|(_, ms)| ms).collect();
    PhaseTimes { started_ms, streamed, replies: replies(&debate) }
}

fn with_warm_up() -> EngineSettings {
    EngineSettings { warm_up: true, ..EngineSettings::default() }
}

fn slow_answer() -> ScriptedResult {
    ScriptedResult { after: Duration::from_millis(100), ..answer("yes yes") }
}

/// Without a watcher, nothing is streamed.
#[tokio::test(start_paused = true)]
async fn without_warm_up_all_calls_of_a_phase_start_at_once() {
    let timed =
        timed(&["a/x"; 4], EngineSettings::default(), DebateLimits::default(), |_| slow_answer()).await;
    assert_eq!((timed.started_ms, timed.streamed), (vec![0; 4], 0));
}

#[tokio::test(start_paused = true)]
async fn with_warm_up_the_other_calls_start_at_the_first_token_of_the_lead_call() {
    let all =
        timed(&["a/x", "b/y", "a/x", "a/x", "b/y", "c/z"], with_warm_up(), DebateLimits::default(), |_| {
            slow_answer()
        })
        .await;
    assert_eq!(all.started_ms, [0, 0, 20, 20, 20, 0], "models do not wait for each other");
    assert_eq!(all.streamed, 2, "only if another call waits for the first token");
    assert_eq!(all.replies, ["yes yes"; 6]);
}

/// The other calls wait at most until the lead call ends or the longest wait is over.
#[tokio::test(start_paused = true)]
async fn the_other_calls_start_even_if_the_lead_call_fails_or_hangs() {
    let short_wait = || EngineSettings { warm_up_ms: 70, ..with_warm_up() };
    let one_retry = DebateLimits { retries: 1, ..DebateLimits::default() };
    let timed_out = DebateLimits { call_timeout_ms: 50, ..DebateLimits::default() };
    for (settings, limits, first, started_ms) in [
        (with_warm_up(), one_retry, CallFaultKind::Unavailable, 50),
        (with_warm_up(), DebateLimits::default(), CallFaultKind::Refused, 50),
        (with_warm_up(), DebateLimits::default(), CallFaultKind::Rejected, 50),
        (short_wait(), DebateLimits::default(), CallFaultKind::Garbled, 50),
    ] {
        let timed = timed(&["a/x"; 3], settings, limits, move |call| match (call.ask, call.attempt) {
            (1, 1) => ScriptedResult { after: Duration::from_millis(50), ..fault(first) },
            _ => slow_answer(),
        });
        let starts = timed.await.started_ms;
        assert_eq!((starts[0], &starts[starts.len() - 2..]), (0, &[started_ms; 2][..]), "{first:?}");
    }
    let hangs = |call: &ModelCall| if call.ask == 1 { hang() } else { slow_answer() };
    let timed_out = timed(&["a/x"; 3], with_warm_up(), timed_out, hangs).await;
    assert_eq!((timed_out.started_ms, timed_out.replies[0].as_str()), (vec![0, 50, 50], "(timed_out)"));
    let bounded = timed(&["a/x"; 3], short_wait(), DebateLimits::default(), hangs).await;
    assert_eq!(bounded.started_ms, [0, 70, 70], "never longer than the setting");
}

#[tokio::test(start_paused = true)]
async fn call_limits_and_budget_hold_with_warm_up() {
    let one_at_a_time = EngineSettings { provider_calls: 1, ..with_warm_up() };
    let sequential = timed(&["a/x"; 3], one_at_a_time, DebateLimits::default(), |_| slow_answer()).await;
    assert_eq!(sequential.started_ms, [0, 100, 200]);
    let calls = DebateLimits { calls: Some(2), ..DebateLimits::default() };
    let two = timed(&["a/x"; 3], with_warm_up(), calls, |_| slow_answer()).await;
    assert_eq!(
        (two.started_ms, two.replies),
        (vec![0, 20], ["yes yes", "yes yes", "(over_budget)"].map(String::from).to_vec())
    );
}

#[tokio::test(start_paused = true)]
async fn the_lead_call_gets_no_more_than_its_share_of_the_budget() {
    let shares = Arc::<Mutex<Vec<u32>>>::default();
    let seen = shares.clone();
    let limits = DebateLimits { tokens: Some(3_000), output_tokens: 4_000, ..DebateLimits::default() };
    timed(&["a/x"; 3], with_warm_up(), limits, move |call| {
        seen.lock().unwrap().push(call.max_output_tokens);
        slow_answer()
    })
    .await;
    let shares = shares.lock().unwrap();
    assert!(shares.iter().all(|share| share.abs_diff(shares[0]) <= 1), "{shares:?}");
}

#[tokio::test(start_paused = true)]
async fn a_deadline_or_a_stop_ends_the_wait_for_the_lead_call() {
    let limits = DebateLimits { deadline_ms: Some(60), ..DebateLimits::default() };
    let late = timed(&["a/x"; 3], with_warm_up(), limits, |_| hang()).await;
    assert_eq!((late.started_ms, late.replies), (vec![0], vec!["(timed_out)".to_owned(); 3]));

    let models = ScriptedModels::new(|_| hang());
    let (engine, stop) = (models.engine(EngineSettings { drain_ms: 5, ..with_warm_up() }), StopSignal::new());
    let watch = DebateWatch::default();
    let run = engine.open(&ROUNDS, brief(&["a/x"; 3], 1), &watch, &stop);
    let stopper = async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        stop.stop();
    };
    let (result, ()) = tokio::join!(run, stopper);
    assert!(matches!(result, Err(EngineError::Interrupted { .. })));
    assert_eq!(models.called().len(), 1, "no call starts after a stop");
}

#[tokio::test(start_paused = true)]
async fn the_messages_of_a_phase_are_equal_up_to_their_shared_length() {
    let models = ScriptedModels::new(|call| answer(&format!("I am number {}", call.ask)));
    run(&models, brief(&["a/x", "b/y", "a/x"], 3)).await.unwrap();
    let calls = models.calls.lock().unwrap();
    for phase in calls.chunk_by(|(_, one), (_, other)| one.phase == other.phase) {
        let asks: Vec<&CallMessage> = phase.iter().map(|(_, call)| call.messages.last().unwrap()).collect();
        let common = asks[0].text.bytes().zip(asks[1].text.bytes()).take_while(|(a, b)| a == b).count();
        for (ask, (_, call)) in asks.iter().zip(phase) {
            assert_eq!(ask.shared + "You are seat-".len(), common, "everything before the seat's own part");
            assert_eq!(ask.text[..ask.shared], asks[0].text[..ask.shared]);
            assert_eq!(call.messages[0].shared, call.messages[0].text.len(), "all seats share the rules");
        }
    }
}
