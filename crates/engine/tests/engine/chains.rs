//! Who takes the seat: fallback chains, models that are down, keys and names that are wrong.

use std::sync::Arc;
use std::time::Duration;

use agon_core::{Absence, Debate, Record};
use agon_engine::*;
use serde_json::json;

use crate::calls::acts;
use crate::stage::*;

/// A wrong key or model stops the debate only where no other model stands behind it.
#[tokio::test(start_paused = true)]
async fn a_wrong_key_at_the_end_of_a_chain_stops_the_debate() {
    for script in [&["hang", "key"], &["key", "unknown"]] as [&'static [&'static str]; 2] {
        let troupe = Troupe::new(Arc::default(), acts(script));
        let why = run(&troupe, brief(&["a/x|b/y"], 1)).await.unwrap_err();
        assert!(matches!(why, EngineError::Stopped { .. }), "{why}");
        assert_eq!(troupe.called(), ["a/x", "b/y"]);
    }
}

/// "A wrong key or model: the whole debate stops", what others answered meanwhile is kept, and a resume goes on.
#[tokio::test(start_paused = true)]
async fn a_wrong_key_stops_the_debate_and_keeps_what_was_answered() {
    for kind in [FaultKind::Key, FaultKind::NoSuchModel] {
        let troupe = Troupe::new(Arc::default(), move |call| match (call.ask, call.attempt) {
            (1, 1) => fault(kind),
            (2 | 4, _) => Act { after: Duration::from_millis(50), ..say("late") },
            _ => say("yes"),
        });
        let mut brief = brief(&["a/x", "b/y"], 2);
        brief.limits.retries = 0;
        let why = run(&troupe, brief).await.unwrap_err();
        assert!(
            matches!(&why, EngineError::Stopped { id, fault } if id == "d1" && fault.kind == kind),
            "{why}"
        );
        assert!(why.to_string().contains("agon resume d1"));
        assert!(!troupe.store.is_leased());
        let engine = troupe.engine(Settings::default());
        let debate = engine.resume(&find, "d1", None, &Watch::default(), &Stop::new()).await.unwrap();
        assert_eq!(replies(&debate), ["yes", "late", "yes", "late"]);
        assert_eq!(troupe.called().len(), 5);
    }
}

/// A key that is revoked midway, or a model that is withdrawn, is a voice that is missing, at once, and what was paid for is not
/// thrown away.
#[tokio::test(start_paused = true)]
async fn a_wrong_key_of_a_model_that_has_answered_is_an_absence() {
    for kind in [FaultKind::Key, FaultKind::NoSuchModel] {
        let troupe = Troupe::new(Arc::default(), move |call| match (call.phase.round, call.seat.as_str()) {
            (2, "seat-1") => fault(kind),
            _ => say("yes"),
        });
        let debate = run(&troupe, brief(&["a/x", "b/y"], 3)).await.unwrap();
        assert_eq!(replies(&debate), ["yes", "yes", "(unreachable)", "yes", "yes", "yes"]);
        let (_, _, why, detail) = debate.absences().next().unwrap();
        assert_eq!((why, detail), (Absence::Unreachable, format!("{kind:?}").as_str()));
        assert_eq!(troupe.called().len(), 6, "no retry");

        let troupe = Troupe::new(Arc::default(), move |call| match (call.phase.round, call.attempt) {
            (2, 1) => fault(kind),
            _ => say("yes"),
        });
        let debate = run(&troupe, brief(&["a/x|b/y"], 2)).await.unwrap();
        assert_eq!(
            (replies(&debate), troupe.called()),
            (vec!["yes".into(); 2], ["a/x", "a/x", "b/y"].map(String::from).to_vec())
        );
    }
}

/// "A wrong key or model stops at once", also where the model is first called in a later phase, as a moderator's or a chair's
/// is. What was answered is kept, and a resume goes on once it is put right.
#[tokio::test(start_paused = true)]
async fn a_wrong_key_of_a_model_that_is_first_called_later_stops_the_debate() {
    for kind in [FaultKind::Key, FaultKind::NoSuchModel] {
        let right = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let is_right = right.clone();
        let troupe = Troupe::new(Arc::default(), move |call| {
            let wrong = call.phase.round > 1 && !is_right.load(std::sync::atomic::Ordering::Relaxed);
            if wrong { fault(kind) } else { say("yes") }
        });
        let mut brief = brief(&["a/x", "b/y"], 2);
        brief.options.insert("stand_in".into(), json!("c/z"));
        let why = run(&troupe, brief).await.unwrap_err();
        assert!(matches!(&why, EngineError::Stopped { fault, .. } if fault.kind == kind), "{why}");
        assert_eq!(troupe.called()[..2], ["a/x", "b/y"]);
        let kept = Debate::from_records(&troupe.store.log()).unwrap();
        assert_eq!(replies(&kept), ["yes", "yes"], "what was answered is kept, and nobody is absent");
        right.store(true, std::sync::atomic::Ordering::Relaxed);
        let debate = resumed(&troupe).await;
        assert_eq!(replies(&debate), ["yes"; 4]);
    }
}

async fn resumed(troupe: &Arc<Troupe>) -> Debate {
    let engine = troupe.engine(Settings::default());
    engine.resume(&find, "d1", None, &Watch::default(), &Stop::new()).await.unwrap()
}

/// What a model does in a table of who is called: it is up, or fails in this way.
fn cast(script: &'static [(&'static str, u32, &'static str)]) -> Arc<Troupe> {
    Troupe::named(Arc::default(), move |model, call| {
        let row = script.iter().find(|(name, round, _)| *name == model && *round == call.phase.round);
        match row.map_or("up", |(_, _, act)| act) {
            "up" => say("yes"),
            act => acts(match act {
                "down" => &["down"],
                "hang" => &["hang"],
                "key" => &["key"],
                "unknown" => &["unknown"],
                "refused" => &["refused"],
                other => panic!("{other}"),
            })(call),
        }
    })
}

/// "Fallback chains: the second takes the seat when the first is down": who is called in each round, one letter a call.
#[tokio::test(start_paused = true)]
async fn a_model_that_is_down_is_passed_over_for_the_rest_of_the_debate() {
    type Row = (&'static [&'static str], &'static [(&'static str, u32, &'static str)], [&'static str; 3]);
    const AB: &[&str] = &["a|b"];
    let rows: &[Row] = &[
        (AB, &[], ["a", "a", "a"]),
        (AB, &[("a", 1, "down")], ["aaab", "b", "b"]),
        (AB, &[("a", 1, "hang")], ["ab", "b", "b"]),
        (AB, &[("a", 1, "key")], ["ab", "b", "b"]),
        (AB, &[("a", 1, "unknown")], ["ab", "b", "b"]),
        (AB, &[("a", 2, "hang")], ["a", "ab", "b"]),
        // An answer that cannot be used is an answer all the same.
        (AB, &[("a", 1, "refused")], ["ab", "a", "a"]),
        // All are down: from the beginning.
        (AB, &[("a", 1, "hang"), ("b", 1, "hang")], ["ab", "a", "a"]),
        (AB, &[("a", 1, "hang"), ("b", 2, "hang")], ["ab", "b", "a"]),
        (AB, &[("a", 1, "hang"), ("b", 2, "hang"), ("a", 3, "hang")], ["ab", "b", "ab"]),
        // What is down is so for every seat that has another model after it, and for no seat that has not.
        (&["a|b", "c|a|b"], &[("a", 1, "hang"), ("c", 2, "hang")], ["acb", "bcb", "bb"]),
        (&["a|b", "c|a"], &[("a", 1, "hang"), ("c", 2, "hang")], ["acb", "bca", "aa"]),
        (&["a", "a|b"], &[("a", 1, "hang")], ["aab", "ab", "aa"]),
        (&["a", "a|b"], &[("a", 1, "hang"), ("a", 2, "hang")], ["aab", "ab", "ab"]),
    ];
    for (models, script, called) in rows {
        let troupe = cast(script);
        let mut brief = brief(models, 3);
        brief.limits.retries = 2;
        run(&troupe, brief).await.unwrap();
        let calls = troupe.calls.lock().unwrap();
        let of = |round: u32| calls.iter().filter(move |(_, call)| call.phase.round == round);
        let seen = [1, 2, 3].map(|round| of(round).map(|(model, _)| model.as_str()).collect::<String>());
        assert_eq!(&seen, called, "{models:?} {script:?}");
    }
}

/// The deadline ends a call that might have been answered yet: that says nothing about its model.
#[tokio::test(start_paused = true)]
async fn a_deadline_makes_no_model_down() {
    let troupe = Troupe::named(Arc::default(), |_, call| match call.phase.round {
        1 => Act { after: Duration::from_secs(9), ..say("slow") },
        _ => say("yes"),
    });
    let mut brief = brief(&["a|b", "c"], 2);
    brief.limits.deadline_ms = Some(10_000);
    let debate = run_keeping(&troupe, brief).await.unwrap();
    assert_eq!(replies(&debate), ["(timed_out)", "(timed_out)", "yes", "yes"]);
    assert_eq!(troupe.called(), ["a", "c", "a", "c"]);
}

/// Who is called follows from the log alone: a run that is resumed after any of its records calls the same models.
#[tokio::test(start_paused = true)]
async fn a_resume_passes_over_the_same_models() {
    const SCRIPT: &[(&str, u32, &str)] =
        &[("a", 1, "down"), ("c", 1, "hang"), ("b", 2, "hang"), ("c", 2, "refused")];
    let whole = cast(SCRIPT);
    run(&whole, brief(&["a|b|c", "c|b", "b|c"], 3)).await.unwrap();
    let log = whole.store.log();
    let answered_by = |log: &[Record]| -> Vec<Option<String>> {
        let debate = Debate::from_records(log).unwrap();
        let last = |attempts: &Vec<agon_core::debate::Attempt>| Some(attempts.last()?.model.clone());
        debate.turns.iter().flat_map(|turn| &turn.attempts).map(last).collect()
    };
    for length in 1..log.len() {
        let troupe = cast(SCRIPT).over(MemoryStore::with(log[..length].to_vec()));
        let debate = resumed(&troupe).await;
        assert_eq!(replies(&debate), replies(&Debate::from_records(&log).unwrap()), "cut at {length}");
        assert_eq!(answered_by(&troupe.store.log()), answered_by(&log), "cut at {length}");
    }
}
