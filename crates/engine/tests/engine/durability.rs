//! The log: what is durable when, how few appends that takes, and how a debate goes on from any of them.

use std::sync::Arc;
use std::time::Duration;

use agon_core::{Debate, Event};
use agon_engine::*;
use serde_json::json;

use crate::stage::*;

/// Answers that depend on nothing but the ask, with one failure and one repair on the way.
fn steady(call: &Call) -> Act {
    let mut act = match (call.ask, call.attempt) {
        (2, 1) => fault(FaultKind::Unavailable),
        (5, 1) => say("no object"),
        _ => say(&json!({"answer": format!("{} in round {}", call.seat, call.phase.round)}).to_string()),
    };
    act.after = Duration::from_millis(20 + u64::from(call.ask * 7 % 5));
    act
}

fn structured(seats: usize, rounds: u32) -> agon_core::Brief {
    let mut brief = brief(&vec!["a/x"; seats], rounds);
    brief.options.insert("structured".into(), json!(true));
    brief
}

/// "The last reply of a phase, the next `Asked` and its first `Sent`s are one append": a phase costs one.
#[tokio::test(start_paused = true)]
async fn a_phase_costs_one_append_when_its_replies_come_together() {
    let troupe = Troupe::new(Arc::default(), |_| say("yes"));
    run(&troupe, brief(&["a/x", "b/y", "c/z"], 3)).await.unwrap();
    // `opened` and the first phase; two times three replies and the next phase; three replies and `closed`.
    assert_eq!(*troupe.store.appends.lock().unwrap(), [1 + 4, 3 + 4, 3 + 4, 3 + 1]);
    assert!(troupe.violations.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_reply_is_durable_while_the_others_are_still_thinking() {
    let troupe = Troupe::new(Arc::default(), |call| match call.seat.as_str() {
        "seat-1" => say("quick"),
        _ => Act { after: Duration::from_secs(60), ..say("slow") },
    });
    let (engine, watch, stop) = (troupe.engine(Settings::default()), Watch::default(), Stop::new());
    let look = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let log = troupe.store.log();
        log.iter().filter(|record| matches!(record.entry.event, Event::Replied { .. })).count()
    };
    let (debate, seen) = tokio::join!(engine.open(&CIRCLE, brief(&["a/x", "b/y"], 1), &watch, &stop), look);
    assert_eq!((seen, replies(&debate.unwrap())), (1, vec!["quick".to_owned(), "slow".to_owned()]));
}

/// A slow disk holds back what depends on it and nothing else: calls under way come in meanwhile and are written together.
#[tokio::test(start_paused = true)]
async fn records_that_come_during_an_append_go_together_in_the_next() {
    let store = Arc::<MemoryStore>::default();
    *store.latency.lock().unwrap() = Duration::from_millis(100);
    let troupe = Troupe::new(store, |call| {
        let millis = if call.ask == 1 { 10 } else { 30 + u64::from(call.ask) };
        Act { after: Duration::from_millis(millis), ..say("yes") }
    });
    let debate = run(&troupe, brief(&["a/x"; 4], 1)).await.unwrap();
    assert_eq!(*troupe.store.appends.lock().unwrap(), [1 + 5, 1, 3 + 1]);
    assert_eq!(debate, Debate::from_records(&troupe.store.log()).unwrap());
}

/// "`kill -9` at any moment loses nothing that was answered and repeats no answered call": the store dies at every append in
/// turn, and what a new process finds there goes on to the same end.
#[tokio::test(start_paused = true)]
async fn a_crash_at_every_append_loses_and_repeats_nothing_that_was_answered() {
    let whole = Troupe::new(Arc::default(), steady);
    let expected = replies(&run(&whole, structured(3, 3)).await.unwrap());
    let appends = whole.store.appends.lock().unwrap().len();
    assert!(appends > 5);
    for at in 0..appends {
        let troupe = Troupe::new(Arc::default(), steady);
        *troupe.store.fail_at.lock().unwrap() = Some(at);
        let why = run(&troupe, structured(3, 3)).await.unwrap_err();
        assert!(matches!(why, EngineError::Store(StoreError::Failed { .. })), "{why}");
        assert!(!troupe.store.is_leased() && troupe.running.lock().unwrap().0 == 0);
        let made = troupe.called().len();
        tokio::time::sleep(Duration::from_secs(600)).await;
        assert_eq!(troupe.called().len(), made, "no call after the store failed");
        troupe.store.restart();
        let engine = troupe.engine(Settings::default());
        let debate = match at {
            0 => engine.open(&CIRCLE, structured(3, 3), &Watch::default(), &Stop::new()).await.unwrap(),
            _ => engine.resume(&find, "d1", None, &Watch::default(), &Stop::new()).await.unwrap(),
        };
        assert_eq!(replies(&debate), expected, "after append {at}");
        assert_eq!(*troupe.violations.lock().unwrap(), [""; 0], "after append {at}");
        agon_core::play::replay(&CIRCLE, &troupe.store.log()).unwrap();
    }
}

/// The same from every prefix of the log, which is finer than the appends.
#[tokio::test(start_paused = true)]
async fn a_debate_goes_on_from_every_prefix_of_its_log() {
    let whole = Troupe::new(Arc::default(), steady);
    let expected = replies(&run(&whole, structured(2, 3)).await.unwrap());
    let log = whole.store.log();
    for kept in 1..=log.len() {
        let troupe = Troupe::new(MemoryStore::with(log[..kept].to_vec()), steady);
        let engine = troupe.engine(Settings::default());
        let debate = engine.resume(&find, "d1", None, &Watch::default(), &Stop::new()).await.unwrap();
        assert_eq!(replies(&debate), expected, "from {kept} records");
        assert_eq!(*troupe.violations.lock().unwrap(), [""; 0], "from {kept} records");
        assert_eq!(troupe.store.log()[..kept], log[..kept]);
        assert!(!troupe.store.is_leased());
        if kept == log.len() {
            assert!(troupe.called().is_empty(), "a closed debate is returned as it is");
        }
    }
}

/// Cancellation: "no new call or phase starts", answers under way are kept, the rest is asked again by the resume.
#[tokio::test(start_paused = true)]
async fn a_stop_at_any_moment_ends_in_order_and_the_resume_comes_to_the_same_end() {
    let whole = Troupe::new(Arc::default(), steady);
    let expected = replies(&run(&whole, structured(3, 2)).await.unwrap());
    for (stop_ms, drain_ms) in (0..60).flat_map(|ms| [(ms * 13, 0), (ms * 13, 2_000)]) {
        let store = Arc::<MemoryStore>::default();
        *store.latency.lock().unwrap() = Duration::from_millis(5);
        let troupe = Troupe::new(store, steady);
        let engine = troupe.engine(Settings { drain_ms, ..Settings::default() });
        let (watch, stop) = (Watch::default(), Stop::new());
        let stopper = async {
            tokio::time::sleep(Duration::from_millis(stop_ms)).await;
            stop.stop();
            troupe.called().len()
        };
        let (first, called) = tokio::join!(engine.open(&CIRCLE, structured(3, 2), &watch, &stop), stopper);
        assert!(!troupe.store.is_leased());
        let debate = match first {
            Ok(debate) => debate,
            Err(EngineError::Interrupted { id }) => {
                assert_eq!(troupe.called().len(), called, "nothing leaves after a stop, {stop_ms} ms");
                engine.resume(&find, &id, None, &watch, &Stop::new()).await.unwrap()
            }
            Err(why) => panic!("{why}"),
        };
        assert_eq!(replies(&debate), expected, "stopped after {stop_ms} ms");
        assert_eq!(*troupe.violations.lock().unwrap(), [""; 0]);
        let spent = debate.spent();
        assert!(drain_ms == 0 || spent.lost_calls == 0, "answers that were waited for are not lost");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_before_the_first_call_leaves_a_debate_that_can_be_resumed() {
    let troupe = Troupe::new(Arc::default(), |_| say("yes"));
    let (engine, stop) = (troupe.engine(Settings::default()), Stop::new());
    stop.stop();
    let why = engine.open(&CIRCLE, brief(&["a/x"], 1), &Watch::default(), &stop).await.unwrap_err();
    assert!(matches!(why, EngineError::Interrupted { .. }) && troupe.called().is_empty());
    let debate =
        engine.resume(&find, "d1", Some("Go on.".into()), &Watch::default(), &Stop::new()).await.unwrap();
    assert_eq!(replies(&debate), ["yes"]);
    assert_eq!(
        (debate.interjections[0].by.as_str(), debate.interjections[0].text.as_str()),
        ("you", "Go on.")
    );
}

#[tokio::test(start_paused = true)]
async fn a_branch_is_stored_whole_and_runs_on() {
    let troupe = Troupe::new(Arc::default(), |_| say("yes"));
    run(&troupe, brief(&["a/x", "b/y"], 3)).await.unwrap();
    let mut twig = brief(&["a/x", "b/y"], 3);
    twig.id = "d2".into();
    let records = agon_core::play::branch(&CIRCLE, &troupe.store.log(), twig, 1).unwrap();
    let (watch, stop) = (Watch::default(), Stop::new());
    let other = Troupe::new(Arc::default(), |_| say("no"));
    let debate =
        other.engine(Settings::default()).start(&CIRCLE, records, None, &watch, &stop).await.unwrap();
    assert_eq!(replies(&debate), ["yes", "yes", "no", "no", "no", "no"]);
    assert_eq!((debate.spent().calls, other.called().len()), (4, 4));
    assert_eq!(Debate::from_records(&other.store.log_of("d2")).unwrap(), debate);
}

#[tokio::test(start_paused = true)]
async fn a_debate_is_run_once_at_a_time_and_given_back_whatever_happens() {
    let troupe = Troupe::new(Arc::default(), |_| say("yes"));
    let engine = troupe.engine(Settings::default());
    let (watch, stop) = (Watch::default(), Stop::new());
    let missing = engine.resume(&find, "d1", None, &watch, &stop).await.unwrap_err();
    assert!(matches!(missing, EngineError::Store(StoreError::Unknown(_))) && !troupe.store.is_leased());

    let second = async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        engine.resume(&find, "d1", None, &watch, &stop).await.unwrap_err()
    };
    let (first, second) = tokio::join!(engine.open(&CIRCLE, brief(&["a/x"], 2), &watch, &stop), second);
    assert!(first.is_ok() && matches!(second, EngineError::Store(StoreError::Leased(_))));

    let unknown = engine.resume(&|_| None, "d1", None, &watch, &stop).await.unwrap_err();
    assert!(matches!(unknown, EngineError::Invalid(_)) && !troupe.store.is_leased(), "{unknown}");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_dropped_half_way_gives_its_debate_back() {
    let troupe = Troupe::new(Arc::default(), |_| hang());
    let engine = troupe.engine(Settings::default());
    let (watch, stop) = (Watch::default(), Stop::new());
    let run = engine.open(&CIRCLE, brief(&["a/x"], 1), &watch, &stop);
    assert!(tokio::time::timeout(Duration::from_secs(1), run).await.is_err());
    tokio::task::yield_now().await;
    assert!(!troupe.store.is_leased() && troupe.running.lock().unwrap().0 == 0);
}
