//! Fallback chains, models that are down, and wrong keys or model names.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agon_core::{AbsenceReason, Debate, LogRecord};
use agon_engine::*;
use serde_json::json;

use crate::memory_store::MemoryStore;
use crate::rounds_protocol::*;
use crate::scripted_models::*;

/// It stops the debate only if no other model of the chain is left.
#[tokio::test(start_paused = true)]
async fn a_wrong_key_at_the_end_of_a_chain_stops_the_debate() {
    for steps in [&["hang", "key"], &["key", "unknown"]] as [&'static [&'static str]; 2] {
        let models = ScriptedModels::new(by_attempt(steps));
        let why = run(&models, brief(&["a/x|b/y"], 1)).await.unwrap_err();
        assert!(matches!(why, EngineError::Stopped { .. }), "{why}");
        assert_eq!(models.called(), ["a/x", "b/y"]);
    }
}

/// Answers that other seats gave meanwhile are kept, and a resume continues.
#[tokio::test(start_paused = true)]
async fn a_wrong_key_stops_the_debate_and_keeps_the_answers() {
    for kind in [CallFaultKind::Key, CallFaultKind::NoSuchModel] {
        let models = ScriptedModels::new(move |call| match (call.ask, call.attempt) {
            (1, 1) => fault(kind),
            (2 | 4, _) => ScriptedResult { after: Duration::from_millis(50), ..answer("late") },
            _ => answer("yes"),
        });
        let mut brief = brief(&["a/x", "b/y"], 2);
        brief.limits.retries = 0;
        let why = run(&models, brief).await.unwrap_err();
        assert!(
            matches!(&why, EngineError::Stopped { id, fault } if id == "d1" && fault.kind == kind),
            "{why}"
        );
        assert!(why.to_string().contains("agon resume d1"));
        assert!(!models.store.is_leased());
        let debate = resume(&models).await.unwrap();
        assert_eq!(replies(&debate), ["yes", "late", "yes", "late"]);
        assert_eq!(models.called().len(), 5);
    }
}

/// If a key is revoked or a model is withdrawn during a debate, the seat is absent and the answers so far are not wasted.
#[tokio::test(start_paused = true)]
async fn a_wrong_key_of_a_model_that_has_answered_before_makes_the_seat_absent() {
    for kind in [CallFaultKind::Key, CallFaultKind::NoSuchModel] {
        let models = ScriptedModels::new(move |call| match (call.phase.round, call.seat.as_str()) {
            (2, "seat-1") => fault(kind),
            _ => answer("yes"),
        });
        let debate = run(&models, brief(&["a/x", "b/y"], 3)).await.unwrap();
        assert_eq!(replies(&debate), ["yes", "yes", "(unreachable)", "yes", "yes", "yes"]);
        let (_, _, why, detail) = debate.absences().next().unwrap();
        assert_eq!((why, detail), (AbsenceReason::Unreachable, format!("{kind:?}").as_str()));
        assert_eq!(models.called().len(), 6, "no retry");

        let models = ScriptedModels::new(move |call| match (call.phase.round, call.attempt) {
            (2, 1) => fault(kind),
            _ => answer("yes"),
        });
        let debate = run(&models, brief(&["a/x|b/y"], 2)).await.unwrap();
        assert_eq!(
            (replies(&debate), models.called()),
            (vec!["yes".into(); 2], ["a/x", "a/x", "b/y"].map(String::from).to_vec())
        );
    }
}

/// A moderator or a chair, for instance, is first called in a later phase.
#[tokio::test(start_paused = true)]
async fn a_wrong_key_of_a_model_first_called_in_a_later_phase_stops_the_debate() {
    for kind in [CallFaultKind::Key, CallFaultKind::NoSuchModel] {
        let is_fixed = Arc::new(AtomicBool::new(false));
        let fixed = is_fixed.clone();
        let models = ScriptedModels::new(move |call| {
            let is_wrong = call.phase.round > 1 && !fixed.load(Ordering::Relaxed);
            if is_wrong { fault(kind) } else { answer("yes") }
        });
        let mut brief = brief(&["a/x", "b/y"], 2);
        brief.options.insert("later_model".into(), json!("c/z"));
        let why = run(&models, brief).await.unwrap_err();
        assert!(matches!(&why, EngineError::Stopped { fault, .. } if fault.kind == kind), "{why}");
        assert_eq!(models.called()[..2], ["a/x", "b/y"]);
        let kept = Debate::from_records(&models.store.log()).unwrap();
        assert_eq!(replies(&kept), ["yes", "yes"], "the answers are kept, and no seat is absent");
        is_fixed.store(true, Ordering::Relaxed);
        let debate = resume(&models).await.unwrap();
        assert_eq!(replies(&debate), ["yes"; 4]);
    }
}

/// Which models fail in which round, and how. All others answer.
type FailurePlan = &'static [(&'static str, u32, &'static str)];

fn failing_models(store: Arc<MemoryStore>, plan: FailurePlan) -> Arc<ScriptedModels> {
    ScriptedModels::by_name(store, move |model, call| {
        let row = plan.iter().find(|(name, round, _)| *name == model && *round == call.phase.round);
        match row.map(|(_, _, failure)| *failure) {
            None => answer("yes"),
            Some("down") => fault(CallFaultKind::Unavailable),
            Some("hang") => hang(),
            Some("key") => fault(CallFaultKind::Key),
            Some("unknown") => fault(CallFaultKind::NoSuchModel),
            Some("refused") => fault(CallFaultKind::Refused),
            Some(other) => panic!("{other}"),
        }
    })
}

/// Which models are called in each of three rounds, one letter for each call.
#[tokio::test(start_paused = true)]
async fn a_model_that_is_down_is_skipped_for_the_rest_of_the_debate() {
    type Row = (&'static [&'static str], FailurePlan, [&'static str; 3]);
    const AB: &[&str] = &["a|b"];
    let rows: &[Row] = &[
        (AB, &[], ["a", "a", "a"]),
        (AB, &[("a", 1, "down")], ["aaab", "b", "b"]),
        (AB, &[("a", 1, "hang")], ["ab", "b", "b"]),
        (AB, &[("a", 1, "key")], ["ab", "b", "b"]),
        (AB, &[("a", 1, "unknown")], ["ab", "b", "b"]),
        (AB, &[("a", 2, "hang")], ["a", "ab", "b"]),
        // A model that refuses is not down.
        (AB, &[("a", 1, "refused")], ["ab", "a", "a"]),
        // If all are down, the chain starts again from the first.
        (AB, &[("a", 1, "hang"), ("b", 1, "hang")], ["ab", "a", "a"]),
        (AB, &[("a", 1, "hang"), ("b", 2, "hang")], ["ab", "b", "a"]),
        (AB, &[("a", 1, "hang"), ("b", 2, "hang"), ("a", 3, "hang")], ["ab", "b", "ab"]),
        // Seats share this knowledge. The last model of a chain is never skipped.
        (&["a|b", "c|a|b"], &[("a", 1, "hang"), ("c", 2, "hang")], ["acb", "bcb", "bb"]),
        (&["a|b", "c|a"], &[("a", 1, "hang"), ("c", 2, "hang")], ["acb", "bca", "aa"]),
        (&["a", "a|b"], &[("a", 1, "hang")], ["aab", "ab", "aa"]),
        (&["a", "a|b"], &[("a", 1, "hang"), ("a", 2, "hang")], ["aab", "ab", "ab"]),
    ];
    for (chains, plan, called) in rows {
        let models = failing_models(Arc::default(), plan);
        let mut brief = brief(chains, 3);
        brief.limits.retries = 2;
        run(&models, brief).await.unwrap();
        let calls = models.calls.lock().unwrap();
        let calls_of = |round: u32| calls.iter().filter(move |(_, call)| call.phase.round == round);
        let models_called =
            [1, 2, 3].map(|round| calls_of(round).map(|(model, _)| model.as_str()).collect::<String>());
        assert_eq!(&models_called, called, "{chains:?} {plan:?}");
    }
}

/// The deadline ends a call that might still have been answered.
#[tokio::test(start_paused = true)]
async fn a_deadline_does_not_mark_a_model_as_down() {
    let models = ScriptedModels::by_name(Arc::default(), |_, call| match call.phase.round {
        1 => ScriptedResult { after: Duration::from_secs(9), ..answer("slow") },
        _ => answer("yes"),
    });
    let mut brief = brief(&["a|b", "c"], 2);
    brief.limits.deadline_ms = Some(10_000);
    let debate = run_with_closing(&models, brief).await.unwrap();
    assert_eq!(replies(&debate), ["(timed_out)", "(timed_out)", "yes", "yes"]);
    assert_eq!(models.called(), ["a", "c", "a", "c"]);
}

/// The choice of models follows from the log alone, wherever it is cut.
#[tokio::test(start_paused = true)]
async fn a_resumed_debate_skips_the_same_models() {
    const PLAN: FailurePlan = &[("a", 1, "down"), ("c", 1, "hang"), ("b", 2, "hang"), ("c", 2, "refused")];
    let whole = failing_models(Arc::default(), PLAN);
    run(&whole, brief(&["a|b|c", "c|b", "b|c"], 3)).await.unwrap();
    let log = whole.store.log();
    let answered_by = |log: &[LogRecord]| -> Vec<Option<String>> {
        let debate = Debate::from_records(log).unwrap();
        let last = |attempts: &Vec<agon_core::debate::CallAttempt>| Some(attempts.last()?.model.clone());
        debate.turns.iter().flat_map(|turn| &turn.attempts).map(last).collect()
    };
    for length in 1..log.len() {
        let models = failing_models(MemoryStore::with(log[..length].to_vec()), PLAN);
        let debate = resume(&models).await.unwrap();
        assert_eq!(replies(&debate), replies(&Debate::from_records(&log).unwrap()), "cut at {length}");
        assert_eq!(answered_by(&models.store.log()), answered_by(&log), "cut at {length}");
    }
}
