//! Calls: parallel, retried, repaired, absent, limited in number, streamed.

use std::sync::Arc;
use std::time::Duration;

use agon_core::{Absence, Event, Reply};
use agon_engine::*;
use serde_json::json;
use tokio::time::Instant;

use crate::stage::*;

#[tokio::test(start_paused = true)]
async fn the_calls_of_a_phase_run_in_parallel() {
    let troupe = Troupe::new(Arc::default(), |_| say("yes"));
    let began = Instant::now();
    let debate = run(&troupe, brief(&["a/x", "b/y", "c/z"], 4)).await.unwrap();
    assert_eq!(replies(&debate), ["yes"; 12]);
    assert_eq!(troupe.running.lock().unwrap().1, 3);
    // Twelve calls of 20 ms, four in a row; and all that was said in between cost no time.
    assert_eq!(began.elapsed().as_millis(), 80);
    assert!(troupe.violations.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn calls_at_once_are_limited_over_all_and_for_each_provider() {
    for (settings, most) in [
        (Settings { concurrent_calls: 2, ..Settings::default() }, 2),
        (Settings { provider_calls: 1, ..Settings::default() }, 2),
        (Settings { provider_limits: [("a".into(), 2)].into(), ..Settings::default() }, 3),
        (Settings { concurrent_calls: 0, ..Settings::default() }, 1),
    ] {
        let troupe = Troupe::new(Arc::default(), |_| say("yes"));
        let engine = troupe.engine(settings);
        let brief = brief(&["a/x", "a/y", "a/z", "b/x"], 2);
        let debate = engine.open(&CIRCLE, brief, &Watch::default(), &Stop::new()).await.unwrap();
        assert_eq!(replies(&debate), ["yes"; 8]);
        assert_eq!(troupe.running.lock().unwrap().1, most);
    }
}

/// What a row of the table plays: the model's answers by attempt, the last one repeated.
pub(crate) fn acts(script: &'static [&'static str]) -> impl Fn(&Call) -> Act + Send + Sync {
    move |call| {
        let place = (call.attempt as usize - 1).min(script.len() - 1);
        match script[place] {
            "limited" => fault(FaultKind::RateLimited),
            "down" => fault(FaultKind::Unavailable),
            "garbled" => fault(FaultKind::Garbled),
            "refused" => fault(FaultKind::Refused),
            "rejected" => fault(FaultKind::Rejected),
            "no schema" => fault(FaultKind::Unsupported),
            "key" => fault(FaultKind::Key),
            "unknown" => fault(FaultKind::NoSuchModel),
            "hang" => hang(),
            "filtered" => {
                let mut act = say("I cannot help with that");
                act.result.as_mut().unwrap().finish = Finish::Refused;
                act
            }
            "cut" => {
                let mut act = say(r#"{"answer": "because"#);
                act.result.as_mut().unwrap().finish = Finish::Length;
                act
            }
            text => say(text),
        }
    }
}

/// "Retries with backoff", "malformed output repaired as in rule 6", fallback chains: what each leads to, and how many calls
/// that takes.
#[tokio::test(start_paused = true)]
async fn every_way_to_fail_has_its_number_of_calls() {
    const GOOD: &str = r#"{"answer": "yes"}"#;
    const BAD: &str = r#"{"reply": "yes"}"#;
    const RULED_OUT: &str = r#"{"answer": "forbidden"}"#;
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
    ];
    for (model, script, reply, called) in rows {
        let troupe = Troupe::new(Arc::default(), acts(script));
        let mut brief = brief(&[model], 1);
        brief.options.insert("structured".into(), json!(true));
        let debate = run(&troupe, brief).await.unwrap();
        assert_eq!(replies(&debate), [*reply], "{model} {script:?}");
        assert_eq!(troupe.called(), *called, "{model} {script:?}");
        let spent = debate.spent();
        assert_eq!((spent.calls as usize, spent.lost_calls), (called.len(), 0), "{model} {script:?}");
        assert_eq!(debate, agon_core::Debate::from_records(&troupe.store.log()).unwrap());
        assert!(!troupe.store.is_leased() && troupe.violations.lock().unwrap().is_empty());
    }
}

/// Rule 6: "ask the same seat again with the validation error"; "every attempt is in the log with its cost".
#[tokio::test(start_paused = true)]
async fn a_repair_carries_the_answer_and_its_error() {
    let troupe = Troupe::new(Arc::default(), acts(&[r#"{"reply": 1}"#, r#"```{"answer": "yes",}```"#]));
    let mut brief = brief(&["a/x"], 1);
    brief.options.insert("structured".into(), json!(true));
    let debate = run(&troupe, brief).await.unwrap();
    let calls = troupe.calls.lock().unwrap();
    let (first, second) = (&calls[0].1.messages, &calls[1].1.messages);
    assert_eq!(second[..first.len()], first[..]);
    assert_eq!((second[2].role, second[2].text.as_str()), (Role::Assistant, r#"{"reply": 1}"#));
    assert!(second[3].text.contains("\"answer\" is a required property"), "{:?}", second[3]);
    let Reply::Said { text, value, model, usage, .. } = debate.turns[0].replies[0].clone().unwrap() else {
        panic!()
    };
    assert_eq!((text.as_str(), value), (r#"```{"answer": "yes",}```"#, Some(json!({"answer": "yes"}))));
    assert_eq!((model.as_str(), usage.latency_ms, usage.usd), ("spoken", 20, Some(0.0)));
    let lost = debate.turns[0].attempts[0][0].fault.clone().unwrap();
    assert_eq!(
        (lost.why, lost.text.as_deref(), lost.usage.output_tokens),
        (Absence::Malformed, Some(r#"{"reply": 1}"#), 5)
    );
    assert_eq!(debate.spent().output_tokens, 10);
}

/// Rule 8, "limits on everything: message length": too long an answer is malformed, and no log or prompt carries all of it.
#[tokio::test(start_paused = true)]
async fn an_answer_that_is_too_long_is_malformed_and_kept_in_part() {
    let limits = agon_core::Limits { output_tokens: 1, ..Default::default() };
    for (structured, long) in
        [(false, "\u{e9}".repeat(9)), (true, format!("{{\"answer\": \"{}\"}}", "y".repeat(9)))]
    {
        let words = long.clone();
        let troupe =
            Troupe::new(Arc::default(), move |call| if call.ask == 1 { say(&words) } else { say("yes") });
        let mut brief = brief(&["a/x"], 1);
        brief.limits = limits.clone();
        brief.options.insert("structured".into(), json!(structured));
        let debate = run(&troupe, brief).await.unwrap();
        let (_, _, why, detail) = debate.absences().next().unwrap();
        let bytes = long.len();
        let said = format!("the answer has {bytes} bytes, and at most 16 are read: answer more briefly");
        assert_eq!((why, detail), (Absence::Malformed, said.as_str()));
        let attempts = &debate.turns[0].attempts[0];
        let kept: Vec<_> = attempts.iter().map(|attempt| attempt.fault.clone().unwrap().text).collect();
        assert_eq!(kept, [Some(long[..16].to_owned()), Some(long[..16].to_owned())], "one repair");
        let calls = troupe.calls.lock().unwrap();
        let repair: Vec<&str> = calls[1].1.messages.iter().map(|message| message.text.as_str()).collect();
        assert_eq!(repair[2], &long[..16]);
        assert!(repair[3].contains(&said), "{repair:?}");
    }
}

/// An absence stands in a list of them, so that its detail has an end.
#[tokio::test(start_paused = true)]
async fn the_detail_of_an_absence_is_cut() {
    let troupe = Troupe::new(Arc::default(), |_| {
        let fault = Fault::new(FaultKind::Rejected, "\u{e9}".repeat(501));
        Act { after: Duration::ZERO, result: Err(fault) }
    });
    let debate = run(&troupe, brief(&["a/x"], 1)).await.unwrap();
    let (_, _, _, detail) = debate.absences().next().unwrap();
    assert_eq!(detail, "\u{e9}".repeat(500));
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_honoured_and_one_too_long_is_not_waited_for() {
    for (asked_s, deadline_ms, calls, waited_s) in
        [(7, None, 2, 7), (120, None, 2, 120), (121, None, 1, 0), (60, Some(30_000), 1, 0)]
    {
        let troupe = Troupe::new(Arc::default(), move |call| {
            let mut act = if call.attempt == 1 { fault(FaultKind::RateLimited) } else { say("yes") };
            if let Err(fault) = &mut act.result {
                fault.retry_after = Some(Duration::from_secs(asked_s));
            }
            act
        });
        let mut brief = brief(&["a/x"], 1);
        brief.limits.deadline_ms = deadline_ms;
        let began = Instant::now();
        let debate = run(&troupe, brief).await.unwrap();
        assert_eq!((troupe.called().len(), began.elapsed().as_secs()), (calls, waited_s), "{asked_s} s");
        if calls == 1 {
            let (_, _, why, detail) = debate.absences().next().unwrap();
            assert_eq!(why, Absence::Unreachable);
            assert!(detail.contains(&format!("asks to wait {asked_s} s")), "{detail}");
        }
    }
}

/// A schema that the server turned down is left out at once: the next attempt is in the log like any other, and waits for
/// nothing.
#[tokio::test(start_paused = true)]
async fn an_attempt_without_the_schema_follows_at_once_and_is_logged() {
    let troupe = Troupe::new(Arc::default(), acts(&["no schema", r#"{"answer": "yes"}"#]));
    let mut brief = brief(&["a/x"], 1);
    brief.options.insert("structured".into(), json!(true));
    let began = Instant::now();
    let debate = run(&troupe, brief.clone()).await.unwrap();
    assert_eq!(began.elapsed().as_millis(), 40, "two calls of 20 ms and no pause");
    assert_eq!((debate.spent().calls, debate.turns[0].attempts[0].len()), (2, 2));

    let troupe = Troupe::new(Arc::default(), acts(&["no schema", r#"{"answer": "yes"}"#]));
    brief.limits.calls = Some(1);
    let debate = run(&troupe, brief).await.unwrap();
    assert_eq!((replies(&debate), troupe.called().len()), (vec!["(over_budget)".to_owned()], 1));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_carried_out_is_said_before_anything_is_stored_or_called() {
    let rows: &[(&[&str], Option<f64>, &str)] = &[
        (&["a/x", "nobody/x"], None, "no provider of nobody/x"),
        (&["a/x", "a/y|nobody/x"], None, "no provider of nobody/x"),
        (&["a/x|"], None, "is not a model"),
        (&["a/x", "b/dear"], Some(1.0), "[prices] in agon.toml"),
        (&["a/x|b/dear"], Some(1.0), "the price of b/dear"),
    ];
    for (models, usd, said) in rows {
        let troupe = Troupe::new(Arc::default(), |_| say("yes"));
        let mut brief = brief(models, 1);
        brief.limits.usd = *usd;
        let why = run(&troupe, brief).await.unwrap_err();
        assert!(matches!(why, EngineError::Invalid(_)) && why.to_string().contains(said), "{why}");
        assert!(troupe.called().is_empty() && troupe.store.appends.lock().unwrap().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_stand_in_speaks_for_a_seat_and_must_exist_too() {
    let troupe = Troupe::new(Arc::default(), |_| say("yes"));
    let mut brief = brief(&["a/x"], 2);
    brief.options.insert("stand_in".into(), json!("c/z"));
    run(&troupe, brief.clone()).await.unwrap();
    assert_eq!(troupe.called(), ["a/x", "c/z"]);

    let troupe = Troupe::new(Arc::default(), |_| say("yes"));
    brief.options.insert("stand_in".into(), json!("nobody/z"));
    let why = run(&troupe, brief).await.unwrap_err();
    assert!(matches!(why, EngineError::Invalid(_)), "{why}");
    let answered =
        troupe.store.log().iter().any(|record| matches!(record.entry.event, Event::Replied { .. }));
    assert!(answered && !troupe.store.is_leased(), "what was answered before is kept");
}

#[tokio::test(start_paused = true)]
async fn a_continued_thread_is_a_real_conversation_and_seeds_differ() {
    let troupe = Troupe::new(Arc::default(), |_| say("first"));
    let mut brief = brief(&["a/x", "a/x"], 2);
    brief.options.insert("continued".into(), json!(true));
    run(&troupe, brief).await.unwrap();
    let calls = troupe.calls.lock().unwrap();
    let roles: Vec<Role> = calls[2].1.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::User]);
    assert_eq!(calls[2].1.messages[2].text, "first");
    let seeds: std::collections::BTreeSet<u64> = calls.iter().map(|(_, call)| call.seed).collect();
    assert_eq!(seeds.len(), 4);
}

/// "A slow or failed watcher never slows a debate."
#[tokio::test(start_paused = true)]
async fn watchers_that_never_read_or_have_gone_cost_nothing() {
    let (records, kept) = tokio::sync::mpsc::unbounded_channel();
    let (deltas, slow) = tokio::sync::broadcast::channel(2);
    let (gone, _) = tokio::sync::mpsc::unbounded_channel();
    for watch in [
        Watch { records: Some(records), deltas: Some(deltas) },
        Watch { records: Some(gone), deltas: Some(tokio::sync::broadcast::channel(1).0) },
    ] {
        let troupe = Troupe::new(Arc::default(), |_| say("one two three four"));
        let began = Instant::now();
        let engine = troupe.engine(Settings::default());
        engine.open(&CIRCLE, brief(&["a/x", "b/y"], 3), &watch, &Stop::new()).await.unwrap();
        assert_eq!(began.elapsed().as_millis(), 60);
        assert_eq!(troupe.called().len(), 6);
    }
    // `opened`, three times `asked` with two of `sent` and `replied` each, `closed`; and 4 pieces from each of 6 calls.
    assert_eq!((kept.len(), slow.len()), (1 + 3 * 5 + 1, 24));
}

#[tokio::test(start_paused = true)]
async fn watchers_see_every_record_in_order_once_it_is_durable_and_the_pieces_of_answers() {
    let store = Arc::<MemoryStore>::default();
    *store.latency.lock().unwrap() = Duration::from_millis(5);
    let troupe = Troupe::new(store.clone(), |_| say("one two"));
    let (records, mut seen) = tokio::sync::mpsc::unbounded_channel::<Arc<agon_core::Record>>();
    let (deltas, mut pieces) = tokio::sync::broadcast::channel(64);
    let engine = troupe.engine(Settings::default());
    let watch = Watch { records: Some(records), deltas: Some(deltas) };
    let watcher = tokio::spawn(async move {
        let mut all = Vec::new();
        while let Some(record) = seen.recv().await {
            assert!(store.log().contains(&record), "seen before it was durable");
            all.push((*record).clone());
        }
        all
    });
    engine.open(&CIRCLE, brief(&["a/x"], 2), &watch, &Stop::new()).await.unwrap();
    drop(watch);
    assert_eq!(watcher.await.unwrap(), troupe.store.log());
    let first = pieces.recv().await.unwrap();
    assert_eq!((&*first.debate, first.ask, first.attempt, first.text.as_str()), ("d1", 1, 1, "one "));
}

/// Seed 003: `MAX_CONCURRENT_PROPOSALS`: a phase may say how many of its asks are under way at once.
#[tokio::test(start_paused = true)]
async fn a_phase_limits_how_many_of_its_asks_are_under_way() {
    for (at_once, most) in [(Some(1), 1), (Some(2), 2), (Some(9), 5), (None, 5)] {
        let troupe = Troupe::new(Arc::default(), |_| say("yes"));
        let mut brief = brief(&["one/a"; 5], 1);
        if let Some(at_once) = at_once {
            brief.options.insert("at_once".into(), serde_json::json!(at_once));
        }
        let engine = troupe.engine(Settings::default());
        let debate = engine.open(&CIRCLE, brief, &Watch::default(), &Stop::new()).await.unwrap();
        assert_eq!((replies(&debate).len(), troupe.running.lock().unwrap().1), (5, most));
    }
}
