//! Calls run in parallel and are retried, repaired, limited and streamed.

use std::sync::Arc;
use std::time::Duration;

use agon_core::{AbsenceReason, Event, Reply};
use agon_engine::*;
use serde_json::json;
use tokio::time::Instant;

use crate::memory_store::MemoryStore;
use crate::rounds_protocol::*;
use crate::scripted_models::*;

#[tokio::test(start_paused = true)]
async fn the_calls_of_a_phase_run_in_parallel() {
    let models = ScriptedModels::new(|_| answer("yes"));
    let began = Instant::now();
    let debate = run(&models, brief(&["a/x", "b/y", "c/z"], 4)).await.unwrap();
    assert_eq!(replies(&debate), ["yes"; 12]);
    assert_eq!(models.most_running(), 3);
    // Four rounds of calls of 20 ms each.
    assert_eq!(began.elapsed().as_millis(), 80);
    models.assert_no_violations();
}

#[tokio::test(start_paused = true)]
async fn concurrent_calls_are_limited_in_total_and_for_each_provider() {
    for (settings, most) in [
        (EngineSettings { concurrent_calls: 2, ..EngineSettings::default() }, 2),
        (EngineSettings { provider_calls: 1, ..EngineSettings::default() }, 2),
        (EngineSettings { provider_limits: [("a".into(), 2)].into(), ..EngineSettings::default() }, 3),
        (EngineSettings { concurrent_calls: 0, ..EngineSettings::default() }, 1),
    ] {
        let models = ScriptedModels::new(|_| answer("yes"));
        let brief = brief(&["a/x", "a/y", "a/z", "b/x"], 2);
        let debate = run_with(&models, brief, settings).await.unwrap();
        assert_eq!(replies(&debate), ["yes"; 8]);
        assert_eq!(models.most_running(), most);
    }
}

const UNVERIFIED: &str = r#"{"answer": "unverified"}"#;

/// What each kind of failure leads to, and which calls that takes.
#[tokio::test(start_paused = true)]
async fn every_kind_of_failure_is_retried_repaired_or_given_up_as_specified() {
    const GOOD: &str = r#"{"answer": "yes"}"#;
    const BAD: &str = r#"{"reply": "yes"}"#;
    const RULED_OUT: &str = r#"{"answer": "forbidden"}"#;
    const LOOSE: &str = "Well: {answer: 'unverified',}";
    const AB: &str = "a/x|b/y";
    let rows: &[(&str, &'static [&'static str], &str, &[&str])] = &[
        ("a/x", &[GOOD], GOOD, &["a/x"]),
        ("a/x", &["limited", GOOD], GOOD, &["a/x"; 2]),
        ("a/x", &["down", "garbled", "limited", GOOD], GOOD, &["a/x"; 4]),
        ("a/x", &["down"], "(unreachable)", &["a/x"; 4]),
        ("a/x", &["hang"], "(timed_out)", &["a/x"]),
        ("a/x", &["refused"], "(refused)", &["a/x"]),
        ("a/x", &["filtered"], "(refused)", &["a/x"]),
        ("a/x", &["rejected"], "(unreachable)", &["a/x"]),
        ("a/x", &[BAD, GOOD], GOOD, &["a/x"; 2]),
        ("a/x", &[BAD], "(malformed)", &["a/x"; 2]),
        ("a/x", &[RULED_OUT, GOOD], GOOD, &["a/x"; 2]),
        ("a/x", &[RULED_OUT], "(malformed)", &["a/x"; 2]),
        ("a/x", &["cut", GOOD], GOOD, &["a/x"; 2]),
        ("a/x", &["", GOOD], GOOD, &["a/x"; 2]),
        ("a/x", &[""], "(malformed)", &["a/x"; 2]),
        ("a/x", &["no schema", GOOD], GOOD, &["a/x"; 2]),
        ("a/x", &["no schema", "rejected"], "(unreachable)", &["a/x"; 2]),
        ("a/x", &["no schema"], "(unreachable)", &["a/x"; 4]),
        ("a/x", &["no object here"], "(malformed)", &["a/x"; 2]),
        ("a/x", &[BAD, "down", GOOD], GOOD, &["a/x"; 3]),
        (AB, &["down", "down", "down", "down", GOOD], GOOD, &["a/x", "a/x", "a/x", "a/x", "b/y"]),
        (AB, &["hang", GOOD], GOOD, &["a/x", "b/y"]),
        (AB, &["refused", GOOD], GOOD, &["a/x", "b/y"]),
        (AB, &["rejected", GOOD], GOOD, &["a/x", "b/y"]),
        (AB, &["key", GOOD], GOOD, &["a/x", "b/y"]),
        (AB, &["unknown", GOOD], GOOD, &["a/x", "b/y"]),
        (AB, &["hang"], "(timed_out)", &["a/x", "b/y"]),
        (AB, &[BAD], "(malformed)", &["a/x"; 2]),
        ("a/x|a/x", &["hang"], "(timed_out)", &["a/x"]),
        // An answer that is only unverified is sent back once. It counts unless a better one follows.
        ("a/x", &[UNVERIFIED, GOOD], GOOD, &["a/x"; 2]),
        ("a/x", &[UNVERIFIED], UNVERIFIED, &["a/x"; 2]),
        ("a/x", &[UNVERIFIED, LOOSE], LOOSE, &["a/x"; 2]),
        ("a/x", &[BAD, UNVERIFIED], UNVERIFIED, &["a/x"; 2]),
        ("a/x", &[UNVERIFIED, BAD], UNVERIFIED, &["a/x"; 2]),
        ("a/x", &[LOOSE, BAD], LOOSE, &["a/x"; 2]),
        ("a/x", &[UNVERIFIED, RULED_OUT], UNVERIFIED, &["a/x"; 2]),
        ("a/x", &[UNVERIFIED, "hang"], UNVERIFIED, &["a/x"; 2]),
        ("a/x", &[UNVERIFIED, "refused"], UNVERIFIED, &["a/x"; 2]),
        ("a/x", &[UNVERIFIED, "down"], UNVERIFIED, &["a/x"; 5]),
        ("a/x", &[UNVERIFIED, "down", GOOD], GOOD, &["a/x"; 3]),
        (AB, &[UNVERIFIED, "hang"], UNVERIFIED, &["a/x"; 2]),
        (AB, &["hang", UNVERIFIED, "rejected"], UNVERIFIED, &["a/x", "b/y", "b/y"]),
        ("a/x", &["cut unverified", "hang"], "(timed_out)", &["a/x"; 2]),
    ];
    for (chain, steps, reply, called) in rows {
        let models = ScriptedModels::new(by_attempt(steps));
        let mut brief = brief(&[chain], 1);
        brief.options.insert("structured".into(), json!(true));
        let debate = run(&models, brief).await.unwrap();
        assert_eq!(replies(&debate), [*reply], "{chain} {steps:?}");
        assert_eq!(models.called(), *called, "{chain} {steps:?}");
        let spent = debate.spent();
        assert_eq!((spent.calls as usize, spent.lost_calls), (called.len(), 0), "{chain} {steps:?}");
        assert_eq!(debate, agon_core::Debate::from_records(&models.store.log()).unwrap());
        assert!(!models.store.is_leased());
        models.assert_no_violations();
    }
}

#[tokio::test(start_paused = true)]
async fn a_repair_sends_back_the_answer_and_its_error() {
    let models = ScriptedModels::new(by_attempt(&[r#"{"reply": 1}"#, r#"```{"answer": "yes",}```"#]));
    let mut brief = brief(&["a/x"], 1);
    brief.options.insert("structured".into(), json!(true));
    let debate = run(&models, brief).await.unwrap();
    let calls = models.calls.lock().unwrap();
    let (first, second) = (&calls[0].1.messages, &calls[1].1.messages);
    assert_eq!(second[..first.len()], first[..]);
    assert_eq!((second[2].role, second[2].text.as_str()), (MessageRole::Assistant, r#"{"reply": 1}"#));
    assert!(second[3].text.contains("\"answer\" is a required property"), "{:?}", second[3]);
    let Reply::Said { text, value, model, usage, .. } = debate.turns[0].replies[0].clone().unwrap() else {
        panic!()
    };
    assert_eq!((text.as_str(), value), (r#"```{"answer": "yes",}```"#, Some(json!({"answer": "yes"}))));
    assert_eq!((model.as_str(), usage.latency_ms, usage.usd), ("a/x", 20, Some(0.0)));
    let lost = debate.turns[0].attempts[0][0].fault.clone().unwrap();
    assert_eq!(
        (lost.why, lost.text.as_deref(), lost.usage.output_tokens),
        (AbsenceReason::Malformed, Some(r#"{"reply": 1}"#), 5)
    );
    assert_eq!(debate.spent().output_tokens, 10);
}

#[tokio::test(start_paused = true)]
async fn an_unverified_answer_uses_at_most_one_repair() {
    const GOOD: &str = r#"{"answer": "yes"}"#;
    /// The limits on repairs and calls, the answers, the one that counts, and how many calls that takes.
    type RepairRow = (u32, Option<u32>, &'static [&'static str], &'static str, usize);
    let rows: &[RepairRow] = &[
        (0, None, &[UNVERIFIED], UNVERIFIED, 1),
        (1, Some(1), &[UNVERIFIED], UNVERIFIED, 1),
        (2, None, &[UNVERIFIED], UNVERIFIED, 2),
        (2, None, &["no object", UNVERIFIED, GOOD], GOOD, 3),
        (2, None, &[UNVERIFIED, "no object", GOOD], GOOD, 3),
        (2, None, &[UNVERIFIED, "no object"], UNVERIFIED, 3),
    ];
    for (repairs, calls, steps, reply, called) in rows {
        let models = ScriptedModels::new(by_attempt(steps));
        let mut brief = brief(&["a/x"], 1);
        brief.options.insert("structured".into(), json!(true));
        (brief.limits.repairs, brief.limits.calls) = (*repairs, *calls);
        let debate = run(&models, brief).await.unwrap();
        assert_eq!(
            (replies(&debate), models.called().len()),
            (vec![(*reply).to_owned()], *called),
            "{steps:?}"
        );
        assert_eq!(
            debate.spent().output_tokens,
            5 * *called as u64,
            "each answer is counted once: {steps:?}"
        );
    }
}

/// The cost of an answer that counts after all is that of its own attempt.
#[tokio::test(start_paused = true)]
async fn an_unverified_answer_that_counts_is_paid_once() {
    let models = ScriptedModels::new(by_attempt(&[UNVERIFIED, "rejected"]));
    *models.price.lock().unwrap() =
        ModelPrice::PerMillion { input: 0.0, cached_input: 0.0, cache_write: 0.0, output: 1e6 };
    let mut brief = brief(&["a/x"], 1);
    brief.options.insert("structured".into(), json!(true));
    let debate = run(&models, brief).await.unwrap();
    let Some(Reply::Said { text, value, model, usage, .. }) = debate.turns[0].replies[0].clone() else {
        panic!()
    };
    assert_eq!((text.as_str(), value), (UNVERIFIED, Some(json!({"answer": "unverified"}))));
    assert_eq!((model.as_str(), usage.output_tokens, usage.usd), ("a/x", 0, Some(0.0)));
    let attempts = &debate.turns[0].attempts[0];
    let sent_back: Vec<bool> = attempts.iter().map(|made| made.fault.as_ref().unwrap().unverified).collect();
    assert_eq!(sent_back, [true, false]);
    let spent = debate.spent();
    assert_eq!((spent.calls, spent.output_tokens, spent.usd, spent.usd_known), (2, 5, 5.0, true));
    let calls = models.calls.lock().unwrap();
    assert_eq!(
        calls[1].1.messages[3].text,
        "A part of your answer could not be verified: Nobody said \"yes\". Correct that part, and do not make anything up. \
         If you cannot, it will not count, but the rest of your answer will. Answer again with the whole JSON object, corrected, and \
         nothing else."
    );
}

/// Neither the log nor a prompt contains all of it.
#[tokio::test(start_paused = true)]
async fn an_answer_that_is_too_long_is_malformed_and_truncated() {
    let limits = agon_core::DebateLimits { output_tokens: 1, ..Default::default() };
    for (structured, long) in
        [(false, "\u{e9}".repeat(9)), (true, format!("{{\"answer\": \"{}\"}}", "y".repeat(9)))]
    {
        let text = long.clone();
        let models =
            ScriptedModels::new(move |call| if call.ask == 1 { answer(&text) } else { answer("yes") });
        let mut brief = brief(&["a/x"], 1);
        brief.limits = limits.clone();
        brief.options.insert("structured".into(), json!(structured));
        let debate = run(&models, brief).await.unwrap();
        let (_, _, why, detail) = debate.absences().next().unwrap();
        let bytes = long.len();
        let error = format!("the answer has {bytes} bytes, and at most 16 are allowed: shorten it");
        assert_eq!((why, detail), (AbsenceReason::Malformed, error.as_str()));
        let attempts = &debate.turns[0].attempts[0];
        let kept: Vec<_> = attempts.iter().map(|attempt| attempt.fault.clone().unwrap().text).collect();
        assert_eq!(
            kept,
            [Some(long[..16].to_owned()), Some(long[..16].to_owned())],
            "the answer and one repair"
        );
        let calls = models.calls.lock().unwrap();
        let repair: Vec<&str> = calls[1].1.messages.iter().map(|message| message.text.as_str()).collect();
        assert_eq!(repair[2], &long[..16]);
        assert!(repair[3].contains(&error), "{repair:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_detail_of_an_absence_is_truncated() {
    let models = ScriptedModels::new(|_| {
        let fault = CallFault::new(CallFaultKind::Rejected, "\u{e9}".repeat(501));
        ScriptedResult { after: Duration::ZERO, result: Err(fault) }
    });
    let debate = run(&models, brief(&["a/x"], 1)).await.unwrap();
    let (_, _, _, detail) = debate.absences().next().unwrap();
    assert_eq!(detail, "\u{e9}".repeat(500));
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_respected_unless_it_is_too_long() {
    for (asked_s, deadline_ms, calls, waited_s) in
        [(7, None, 2, 7), (120, None, 2, 120), (121, None, 1, 0), (60, Some(30_000), 1, 0)]
    {
        let models = ScriptedModels::new(move |call| {
            let mut scripted =
                if call.attempt == 1 { fault(CallFaultKind::RateLimited) } else { answer("yes") };
            if let Err(fault) = &mut scripted.result {
                fault.retry_after = Some(Duration::from_secs(asked_s));
            }
            scripted
        });
        let mut brief = brief(&["a/x"], 1);
        brief.limits.deadline_ms = deadline_ms;
        let began = Instant::now();
        let debate = run(&models, brief).await.unwrap();
        assert_eq!((models.called().len(), began.elapsed().as_secs()), (calls, waited_s), "{asked_s} s");
        if calls == 1 {
            let (_, _, why, detail) = debate.absences().next().unwrap();
            assert_eq!(why, AbsenceReason::Unreachable);
            assert!(detail.contains(&format!("asks to wait {asked_s} s")), "{detail}");
        }
    }
}

/// A server that rejects the schema is asked again without it. That attempt counts and is logged like any other.
#[tokio::test(start_paused = true)]
async fn an_attempt_without_the_schema_follows_without_delay() {
    let models = ScriptedModels::new(by_attempt(&["no schema", r#"{"answer": "yes"}"#]));
    let mut brief = brief(&["a/x"], 1);
    brief.options.insert("structured".into(), json!(true));
    let began = Instant::now();
    let debate = run(&models, brief.clone()).await.unwrap();
    assert_eq!(began.elapsed().as_millis(), 40, "two calls of 20 ms and no delay");
    assert_eq!((debate.spent().calls, debate.turns[0].attempts[0].len()), (2, 2));

    let models = ScriptedModels::new(by_attempt(&["no schema", r#"{"answer": "yes"}"#]));
    brief.limits.calls = Some(1);
    let debate = run(&models, brief).await.unwrap();
    assert_eq!((replies(&debate), models.called().len()), (vec!["(over_budget)".to_owned()], 1));
}

#[tokio::test(start_paused = true)]
async fn an_impossible_request_fails_before_anything_is_stored_or_called() {
    let rows: &[(&[&str], Option<f64>, &str)] = &[
        (&["a/x", "nobody/x"], None, "no provider of nobody/x"),
        (&["a/x", "a/y|nobody/x"], None, "no provider of nobody/x"),
        (&["a/x|"], None, "is not a model"),
        (&["a/x", "b/unpriced"], Some(1.0), "[prices] in agon.toml"),
        (&["a/x|b/unpriced"], Some(1.0), "the price of b/unpriced"),
    ];
    for (names, usd, reason) in rows {
        let models = ScriptedModels::new(|_| answer("yes"));
        let mut brief = brief(names, 1);
        brief.limits.usd = *usd;
        let why = run(&models, brief).await.unwrap_err();
        assert!(matches!(why, EngineError::Invalid(_)) && why.to_string().contains(reason), "{why}");
        assert!(models.called().is_empty() && models.store.appends.lock().unwrap().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_is_first_needed_in_a_later_phase_must_exist_too() {
    let models = ScriptedModels::new(|_| answer("yes"));
    let mut brief = brief(&["a/x"], 2);
    brief.options.insert("later_model".into(), json!("c/z"));
    run(&models, brief.clone()).await.unwrap();
    assert_eq!(models.called(), ["a/x", "c/z"]);

    let models = ScriptedModels::new(|_| answer("yes"));
    brief.options.insert("later_model".into(), json!("nobody/z"));
    let why = run(&models, brief).await.unwrap_err();
    assert!(matches!(why, EngineError::Invalid(_)), "{why}");
    let answered =
        models.store.log().iter().any(|record| matches!(record.entry.event, Event::Replied { .. }));
    assert!(answered && !models.store.is_leased(), "earlier answers are kept");
}

#[tokio::test(start_paused = true)]
async fn a_continued_thread_is_sent_as_a_conversation_and_seeds_differ() {
    let models = ScriptedModels::new(|_| answer("first"));
    let mut brief = brief(&["a/x", "a/x"], 2);
    brief.options.insert("continues_thread".into(), json!(true));
    run(&models, brief).await.unwrap();
    let calls = models.calls.lock().unwrap();
    let roles: Vec<MessageRole> = calls[2].1.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [MessageRole::System, MessageRole::User, MessageRole::Assistant, MessageRole::User]);
    assert_eq!(calls[2].1.messages[2].text, "first");
    let seeds: std::collections::BTreeSet<u64> = calls.iter().map(|(_, call)| call.seed).collect();
    assert_eq!(seeds.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn slow_and_dropped_watchers_never_slow_a_debate() {
    let (records, kept) = tokio::sync::mpsc::unbounded_channel();
    let (deltas, slow) = tokio::sync::broadcast::channel(2);
    let (gone, _) = tokio::sync::mpsc::unbounded_channel();
    for watch in [
        DebateWatch { records: Some(records), deltas: Some(deltas), ..DebateWatch::default() },
        DebateWatch { records: Some(gone), ..DebateWatch::default() },
    ] {
        let models = ScriptedModels::new(|_| answer("one two three four"));
        let began = Instant::now();
        let engine = models.engine(EngineSettings::default());
        engine.open(&ROUNDS, brief(&["a/x", "b/y"], 3), &watch, &StopSignal::new()).await.unwrap();
        assert_eq!(began.elapsed().as_millis(), 60);
        assert_eq!(models.called().len(), 6);
    }
    // Records: `opened`, for each of 3 rounds `asked` and 2 times `sent` and `replied`, `closed`. Deltas: 4 for each of 6 calls.
    assert_eq!((kept.len(), slow.len()), (1 + 3 * 5 + 1, 24));
}

#[tokio::test(start_paused = true)]
async fn watchers_receive_every_record_once_it_is_durable_and_the_deltas() {
    let store = Arc::<MemoryStore>::default();
    *store.latency.lock().unwrap() = Duration::from_millis(5);
    let models = ScriptedModels::with_store(store.clone(), |_| answer("one two"));
    let (records, mut seen) = tokio::sync::mpsc::unbounded_channel::<Arc<agon_core::LogRecord>>();
    let (deltas, mut pieces) = tokio::sync::broadcast::channel(64);
    let engine = models.engine(EngineSettings::default());
    let watch = DebateWatch { records: Some(records), deltas: Some(deltas), ..DebateWatch::default() };
    let watcher = tokio::spawn(async move {
        let mut all = Vec::new();
        while let Some(record) = seen.recv().await {
            assert!(store.log().contains(&record), "received before it was durable");
            all.push((*record).clone());
        }
        all
    });
    engine.open(&ROUNDS, brief(&["a/x"], 2), &watch, &StopSignal::new()).await.unwrap();
    drop(watch);
    assert_eq!(watcher.await.unwrap(), models.store.log());
    let first = pieces.recv().await.unwrap();
    assert_eq!((&*first.debate, first.ask, first.attempt, first.text.as_str()), ("d1", 1, 1, "one "));
}

#[tokio::test(start_paused = true)]
async fn a_phase_can_limit_its_concurrent_calls() {
    for (at_once, most) in [(Some(1), 1), (Some(2), 2), (Some(9), 5), (None, 5)] {
        let models = ScriptedModels::new(|_| answer("yes"));
        let mut brief = brief(&["one/a"; 5], 1);
        if let Some(at_once) = at_once {
            brief.options.insert("at_once".into(), json!(at_once));
        }
        let debate = run(&models, brief).await.unwrap();
        assert_eq!((replies(&debate).len(), models.most_running()), (5, most));
    }
}
