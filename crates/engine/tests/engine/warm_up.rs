//! The warm-up: off, all calls of a phase leave at once; on, one of each model goes ahead.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_core::Limits;
use agon_engine::*;
use tokio::time::Instant;

use crate::stage::*;

/// When each call of the first phase left, in milliseconds, in seat order; each reads 20 ms and takes 100.
struct Timed {
    left_ms: Vec<u128>,
    streamed: usize,
    replies: Vec<String>,
}

async fn timed(
    models: &[&str],
    settings: Settings,
    limits: Limits,
    script: impl Fn(&Call) -> Act + Send + Sync + 'static,
) -> Timed {
    let began = Instant::now();
    let left = Arc::<Mutex<Vec<(u32, u128)>>>::default();
    let seen = left.clone();
    let troupe = Troupe::new(Arc::default(), move |call| {
        seen.lock().unwrap().push((call.ask, began.elapsed().as_millis()));
        script(call)
    });
    *troupe.first_token.lock().unwrap() = Duration::from_millis(20);
    let mut brief = brief(models, 1);
    brief.limits = limits;
    let engine = troupe.engine(settings);
    let debate = engine.open(&CIRCLE, brief, &Watch::default(), &Stop::new()).await.unwrap();
    assert!(troupe.violations.lock().unwrap().is_empty());
    let mut left = left.lock().unwrap().clone();
    left.sort_by_key(|(ask, _)| *ask);
    let streamed = *troupe.streamed.lock().unwrap();
    Timed { left_ms: left.into_iter().map(|(_, ms)| ms).collect(), streamed, replies: replies(&debate) }
}

fn on() -> Settings {
    Settings { warm_up: true, ..Settings::default() }
}

fn slow() -> Act {
    Act { after: Duration::from_millis(100), ..say("yes yes") }
}

/// "The warm-up is off unless asked for, so that independent calls all leave at once", and without a watcher nothing streams.
#[tokio::test(start_paused = true)]
async fn without_it_all_calls_of_a_phase_leave_at_once() {
    let timed = timed(&["a/x"; 4], Settings::default(), Limits::default(), |_| slow()).await;
    assert_eq!((timed.left_ms, timed.streamed), (vec![0; 4], 0));
}

/// "The warm-up stagger as a setting": the first call to a model goes ahead until its first token has come.
#[tokio::test(start_paused = true)]
async fn with_it_the_others_leave_at_the_first_token_of_the_one_ahead() {
    let all = timed(&["a/x", "b/y", "a/x", "a/x", "b/y", "c/z"], on(), Limits::default(), |_| slow()).await;
    assert_eq!(all.left_ms, [0, 0, 20, 20, 20, 0], "models do not wait for each other");
    assert_eq!(all.streamed, 2, "only where somebody waits for the first token");
    assert_eq!(all.replies, ["yes yes"; 6]);
}

/// A call that fails, hangs or never streams holds nobody for longer than it takes or than the bound.
#[tokio::test(start_paused = true)]
async fn whatever_becomes_of_the_one_ahead_the_others_leave() {
    let short = || Settings { warm_up_ms: 70, ..on() };
    let retried = Limits { retries: 1, ..Limits::default() };
    let timed_out = Limits { call_timeout_ms: 50, ..Limits::default() };
    for (settings, limits, first, left_ms) in [
        (on(), retried.clone(), FaultKind::Unavailable, 50),
        (on(), Limits::default(), FaultKind::Refused, 50),
        (on(), Limits::default(), FaultKind::Rejected, 50),
        (short(), Limits::default(), FaultKind::Garbled, 50),
    ] {
        let timed = timed(&["a/x"; 3], settings, limits, move |call| match (call.ask, call.attempt) {
            (1, 1) => Act { after: Duration::from_millis(50), ..fault(first) },
            _ => slow(),
        });
        let left = timed.await.left_ms;
        assert_eq!((left[0], &left[left.len() - 2..]), (0, &[left_ms, left_ms][..]), "{first:?}");
    }
    let hangs = |call: &Call| if call.ask == 1 { hang() } else { slow() };
    let timed_out = timed(&["a/x"; 3], on(), timed_out, hangs).await;
    assert_eq!((timed_out.left_ms, timed_out.replies[0].as_str()), (vec![0, 50, 50], "(timed_out)"));
    let bounded = timed(&["a/x"; 3], short(), Limits::default(), hangs).await;
    assert_eq!(bounded.left_ms, [0, 70, 70], "never longer than the bound");
}

/// A call that waits behind the gate is one that others wait for, too, and no longer than the bound.
#[tokio::test(start_paused = true)]
async fn the_gate_and_the_budget_hold_with_it() {
    let narrow = Settings { provider_calls: 1, ..on() };
    let one_by_one = timed(&["a/x"; 3], narrow, Limits::default(), |_| slow()).await;
    assert_eq!(one_by_one.left_ms, [0, 100, 200]);
    let calls = Limits { calls: Some(2), ..Limits::default() };
    let two = timed(&["a/x"; 3], on(), calls, |_| slow()).await;
    assert_eq!(
        (two.left_ms, two.replies),
        (vec![0, 20], ["yes yes", "yes yes", "(over_budget)"].map(String::from).to_vec())
    );
}

/// The others share the budget evenly with the one that goes ahead.
#[tokio::test(start_paused = true)]
async fn the_one_ahead_takes_no_more_than_its_share() {
    let shares = Arc::<Mutex<Vec<u32>>>::default();
    let seen = shares.clone();
    let limits = Limits { tokens: Some(3_000), output_tokens: 4_000, ..Limits::default() };
    timed(&["a/x"; 3], on(), limits, move |call| {
        seen.lock().unwrap().push(call.max_output_tokens);
        slow()
    })
    .await;
    let shares = shares.lock().unwrap();
    assert!(shares.iter().all(|share| share.abs_diff(shares[0]) <= 1), "{shares:?}");
}

/// The deadline and a stop end a phase in which calls wait for the one ahead.
#[tokio::test(start_paused = true)]
async fn a_deadline_and_a_stop_find_calls_that_wait() {
    let limits = Limits { deadline_ms: Some(60), ..Limits::default() };
    let late = timed(&["a/x"; 3], on(), limits, |_| hang()).await;
    assert_eq!((late.left_ms, late.replies), (vec![0], vec!["(timed_out)".to_owned(); 3]));

    let troupe = Troupe::new(Arc::default(), |_| hang());
    let (engine, stop) = (troupe.engine(Settings { drain_ms: 5, ..on() }), Stop::new());
    let watch = Watch::default();
    let run = engine.open(&CIRCLE, brief(&["a/x"; 3], 1), &watch, &stop);
    let halt = async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        stop.stop();
    };
    let (result, ()) = tokio::join!(run, halt);
    assert!(matches!(result, Err(EngineError::Interrupted { .. })));
    assert_eq!(troupe.called().len(), 1, "nothing leaves after a stop");
}

/// `Message::shared` is what all seats of a phase read: their messages are the same up to there.
#[tokio::test(start_paused = true)]
async fn the_seats_of_a_phase_have_in_common_what_their_messages_call_shared() {
    let troupe = Troupe::new(Arc::default(), |call| say(&format!("I am number {}", call.ask)));
    run(&troupe, brief(&["a/x", "b/y", "a/x"], 3)).await.unwrap();
    let calls = troupe.calls.lock().unwrap();
    for phase in calls.chunk_by(|(_, one), (_, other)| one.phase == other.phase) {
        let asks: Vec<&Message> = phase.iter().map(|(_, call)| call.messages.last().unwrap()).collect();
        let common = asks[0].text.bytes().zip(asks[1].text.bytes()).take_while(|(a, b)| a == b).count();
        for (ask, (_, call)) in asks.iter().zip(phase) {
            assert_eq!(ask.shared + "You are seat-".len(), common, "all but the seat's own words");
            assert_eq!(ask.text[..ask.shared], asks[0].text[..ask.shared]);
            assert_eq!(call.messages[0].shared, call.messages[0].text.len(), "the rules are everybody's");
        }
    }
}
