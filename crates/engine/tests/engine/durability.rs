//! The log: when records are durable, how few appends that takes, and how a debate continues after a crash or a stop.

use std::sync::Arc;
use std::time::Duration;

use agon_core::{AbsenceReason, Debate, Event};
use agon_engine::*;
use serde_json::json;

use crate::memory_store::MemoryStore;
use crate::rounds_protocol::*;
use crate::scripted_models::*;

/// Answers that depend only on the ask, with one fault, malformed answers and unverified ones.
fn steady(call: &ModelCall) -> ScriptedResult {
    let is_repair = call.messages.iter().any(|message| message.role == MessageRole::Assistant);
    let mut scripted = match (call.ask, call.attempt) {
        (2, 1) => fault(CallFaultKind::Unavailable),
        (4, _) if is_repair => answer("no object"),
        (3, _) => answer(r#"{"answer": "unverified"}"#),
        (4 | 6, _) if !is_repair => answer(r#"{"answer": "unverified"}"#),
        (5, 1) => answer("no object"),
        _ => answer(&json!({"answer": format!("{} in round {}", call.seat, call.phase.round)}).to_string()),
    };
    scripted.after = Duration::from_millis(20 + u64::from(call.ask * 7 % 5));
    scripted
}

fn structured_brief(seats: usize, rounds: u32) -> agon_core::Brief {
    let mut brief = brief(&vec!["a/x"; seats], rounds);
    brief.options.insert("structured".into(), json!(true));
    brief
}

#[tokio::test(start_paused = true)]
async fn the_replies_of_a_phase_and_the_calls_of_the_next_share_one_append() {
    let models = ScriptedModels::new(|_| answer("yes"));
    run(&models, brief(&["a/x", "b/y", "c/z"], 3)).await.unwrap();
    // `opened` and the first phase, twice three replies and the next phase, three replies and `closed`.
    assert_eq!(*models.store.appends.lock().unwrap(), [1 + 4, 3 + 4, 3 + 4, 3 + 1]);
    models.assert_no_violations();
}

#[tokio::test(start_paused = true)]
async fn a_reply_is_durable_while_other_calls_are_running() {
    let models = ScriptedModels::new(|call| match call.seat.as_str() {
        "seat-1" => answer("quick"),
        _ => ScriptedResult { after: Duration::from_secs(60), ..answer("slow") },
    });
    let (engine, watch, stop) =
        (models.engine(EngineSettings::default()), DebateWatch::default(), StopSignal::new());
    let count_replies = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let log = models.store.log();
        log.iter().filter(|record| matches!(record.entry.event, Event::Replied { .. })).count()
    };
    let (debate, durable) =
        tokio::join!(engine.open(&ROUNDS, brief(&["a/x", "b/y"], 1), &watch, &stop), count_replies);
    assert_eq!((durable, replies(&debate.unwrap())), (1, vec!["quick".to_owned(), "slow".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn records_that_arrive_during_an_append_share_the_next_one() {
    let store = Arc::<MemoryStore>::default();
    *store.latency.lock().unwrap() = Duration::from_millis(100);
    let models = ScriptedModels::with_store(store, |call| {
        let millis = if call.ask == 1 { 10 } else { 30 + u64::from(call.ask) };
        ScriptedResult { after: Duration::from_millis(millis), ..answer("yes") }
    });
    let debate = run(&models, brief(&["a/x"; 4], 1)).await.unwrap();
    assert_eq!(*models.store.appends.lock().unwrap(), [1 + 5, 1, 3 + 1]);
    assert_eq!(debate, Debate::from_records(&models.store.log()).unwrap());
}

/// The store fails at each append in turn. A new process continues from what is stored.
#[tokio::test(start_paused = true)]
async fn a_crash_at_any_append_neither_loses_nor_repeats_an_answered_call() {
    let whole = ScriptedModels::new(steady);
    let expected = replies(&run(&whole, structured_brief(3, 3)).await.unwrap());
    let appends = whole.store.appends.lock().unwrap().len();
    assert!(appends > 5);
    for at in 0..appends {
        let models = ScriptedModels::new(steady);
        *models.store.fail_at.lock().unwrap() = Some(at);
        let why = run(&models, structured_brief(3, 3)).await.unwrap_err();
        assert!(matches!(why, EngineError::Store(StoreError::Failed { .. })), "{why}");
        assert!(!models.store.is_leased() && models.running_now() == 0);
        let made = models.called().len();
        tokio::time::sleep(Duration::from_secs(600)).await;
        assert_eq!(models.called().len(), made, "no call after the store failed");
        models.store.restart();
        let debate = match at {
            0 => run(&models, structured_brief(3, 3)).await.unwrap(),
            _ => resume(&models).await.unwrap(),
        };
        assert_eq!(replies(&debate), expected, "after append {at}");
        models.assert_no_violations();
        agon_core::play::replay(&ROUNDS, &models.store.log()).unwrap();
    }
}

/// There are more prefixes than appends.
#[tokio::test(start_paused = true)]
async fn a_debate_can_be_resumed_from_every_prefix_of_its_log() {
    let whole = ScriptedModels::new(steady);
    let expected = replies(&run(&whole, structured_brief(2, 3)).await.unwrap());
    let log = whole.store.log();
    for kept in 1..=log.len() {
        let models = ScriptedModels::with_store(MemoryStore::with(log[..kept].to_vec()), steady);
        let debate = resume(&models).await.unwrap();
        assert_eq!(replies(&debate), expected, "from {kept} records");
        models.assert_no_violations();
        assert_eq!(models.store.log()[..kept], log[..kept]);
        assert!(!models.store.is_leased());
        if kept == log.len() {
            assert!(models.called().is_empty(), "a closed debate makes no calls");
        }
    }
}

/// The answer that was sent back counts, and the call that was lost counts neither as its answer nor as free.
#[tokio::test(start_paused = true)]
async fn a_call_that_was_lost_after_an_unverified_answer_is_no_answer() {
    let unverified = |_: &ModelCall| answer(r#"{"answer": "unverified"}"#);
    let models = ScriptedModels::new(unverified);
    *models.price.lock().unwrap() =
        ModelPrice::PerMillion { input: 0.0, cached_input: 0.0, cache_write: 0.0, output: 1e6 };
    let mut brief = structured_brief(1, 1);
    brief.limits.calls = Some(2);
    run(&models, brief).await.unwrap();
    let mut log = models.store.log();
    let second_call = log.iter().rposition(|record| matches!(record.entry.event, Event::Sent { .. }));
    log.truncate(second_call.unwrap() + 1);
    let resumed = ScriptedModels::with_store(MemoryStore::with(log), unverified);
    *resumed.price.lock().unwrap() = *models.price.lock().unwrap();
    let debate = resume(&resumed).await.unwrap();
    assert_eq!((replies(&debate), resumed.called().len()), (vec![r#"{"answer": "unverified"}"#.into()], 0));
    let spent = debate.spent();
    assert_eq!((spent.calls, spent.output_tokens, spent.usd, spent.usd_known), (2, 5, 5.0, false));
    let lost = debate.turns[0].attempts[0][1].fault.clone().unwrap();
    assert_eq!((lost.why, lost.usage.usd), (AbsenceReason::Cancelled, None));
    agon_core::play::replay(&ROUNDS, &resumed.store.log()).unwrap();
}

/// After a stop no call starts, running calls may finish, and the resume asks the rest again.
#[tokio::test(start_paused = true)]
async fn a_stop_at_any_moment_and_a_resume_lead_to_the_same_end() {
    let whole = ScriptedModels::new(steady);
    let expected = replies(&run(&whole, structured_brief(3, 2)).await.unwrap());
    for (stop_ms, drain_ms) in (0..60).flat_map(|ms| [(ms * 13, 0), (ms * 13, 2_000)]) {
        let store = Arc::<MemoryStore>::default();
        *store.latency.lock().unwrap() = Duration::from_millis(5);
        let models = ScriptedModels::with_store(store, steady);
        let engine = models.engine(EngineSettings { drain_ms, ..EngineSettings::default() });
        let (watch, stop) = (DebateWatch::default(), StopSignal::new());
        let stopper = async {
            tokio::time::sleep(Duration::from_millis(stop_ms)).await;
            stop.stop();
            models.called().len()
        };
        let (first, called) =
            tokio::join!(engine.open(&ROUNDS, structured_brief(3, 2), &watch, &stop), stopper);
        assert!(!models.store.is_leased());
        let debate = match first {
            Ok(debate) => debate,
            Err(EngineError::Interrupted { id }) => {
                assert_eq!(models.called().len(), called, "a call started after the stop at {stop_ms} ms");
                engine.resume(&find_protocol, &id, None, &watch, &StopSignal::new()).await.unwrap()
            }
            Err(why) => panic!("{why}"),
        };
        assert_eq!(replies(&debate), expected, "stopped after {stop_ms} ms");
        models.assert_no_violations();
        let spent = debate.spent();
        assert!(drain_ms == 0 || spent.lost_calls == 0, "running calls were allowed to finish");
    }
}

#[tokio::test(start_paused = true)]
async fn a_debate_that_was_stopped_before_its_first_call_can_be_resumed() {
    let models = ScriptedModels::new(|_| answer("yes"));
    let (engine, stop) = (models.engine(EngineSettings::default()), StopSignal::new());
    stop.stop();
    let why = engine.open(&ROUNDS, brief(&["a/x"], 1), &DebateWatch::default(), &stop).await.unwrap_err();
    assert!(matches!(why, EngineError::Interrupted { .. }) && models.called().is_empty());
    let debate = engine
        .resume(&find_protocol, "d1", Some("Continue.".into()), &DebateWatch::default(), &StopSignal::new())
        .await
        .unwrap();
    assert_eq!(replies(&debate), ["yes"]);
    assert_eq!(
        (debate.interjections[0].by.as_str(), debate.interjections[0].text.as_str()),
        ("you", "Continue.")
    );
}

#[tokio::test(start_paused = true)]
async fn a_branch_is_stored_with_its_inherited_records_and_continues() {
    let models = ScriptedModels::new(|_| answer("yes"));
    run(&models, brief(&["a/x", "b/y"], 3)).await.unwrap();
    let mut branch_brief = brief(&["a/x", "b/y"], 3);
    branch_brief.id = "d2".into();
    let records = agon_core::play::branch(&ROUNDS, &models.store.log(), branch_brief, 1).unwrap();
    let (watch, stop) = (DebateWatch::default(), StopSignal::new());
    let other = ScriptedModels::new(|_| answer("no"));
    let debate =
        other.engine(EngineSettings::default()).start(&ROUNDS, records, None, &watch, &stop).await.unwrap();
    assert_eq!(replies(&debate), ["yes", "yes", "no", "no", "no", "no"]);
    assert_eq!((debate.spent().calls, other.called().len()), (4, 4));
    assert_eq!(Debate::from_records(&other.store.log_of("d2")).unwrap(), debate);
}

#[tokio::test(start_paused = true)]
async fn only_one_run_holds_the_lease_and_every_failure_releases_it() {
    let models = ScriptedModels::new(|_| answer("yes"));
    let engine = models.engine(EngineSettings::default());
    let (watch, stop) = (DebateWatch::default(), StopSignal::new());
    let missing = engine.resume(&find_protocol, "d1", None, &watch, &stop).await.unwrap_err();
    assert!(matches!(missing, EngineError::Store(StoreError::Unknown(_))) && !models.store.is_leased());

    let second = async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        engine.resume(&find_protocol, "d1", None, &watch, &stop).await.unwrap_err()
    };
    let (first, second) = tokio::join!(engine.open(&ROUNDS, brief(&["a/x"], 2), &watch, &stop), second);
    assert!(first.is_ok() && matches!(second, EngineError::Store(StoreError::Leased(_))));

    let unknown = engine.resume(&|_| None, "d1", None, &watch, &stop).await.unwrap_err();
    assert!(matches!(unknown, EngineError::Invalid(_)) && !models.store.is_leased(), "{unknown}");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_dropped_halfway_releases_its_lease() {
    let models = ScriptedModels::new(|_| hang());
    let engine = models.engine(EngineSettings::default());
    let (watch, stop) = (DebateWatch::default(), StopSignal::new());
    let run = engine.open(&ROUNDS, brief(&["a/x"], 1), &watch, &stop);
    assert!(tokio::time::timeout(Duration::from_secs(1), run).await.is_err());
    tokio::task::yield_now().await;
    assert!(!models.store.is_leased() && models.running_now() == 0);
}
