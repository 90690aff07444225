//! Time, money and a call are reserved for the closing phases, so that the chair can always answer.

use std::time::Duration;

use agon_core::{AbsenceReason, DebateLimits, Event};
use agon_engine::*;
use tokio::time::Instant;

use crate::rounds_protocol::*;
use crate::scripted_models::*;

const LATE: &str = "the deadline of 1 s (a fifth is reserved for the closing phases) has passed";

#[tokio::test(start_paused = true)]
async fn a_call_that_hangs_is_ended_in_time_for_the_closing_phase() {
    let models = ScriptedModels::new(|call| match (call.phase.round, call.seat.as_str()) {
        (2, "seat-1") => hang(),
        (3, _) => ScriptedResult { after: Duration::from_millis(150), ..answer("in the end") },
        _ => answer("yes"),
    });
    let mut brief = brief(&["a/x", "b/y"], 3);
    brief.limits.deadline_ms = Some(1_000);
    let began = Instant::now();
    let debate = run_with_closing(&models, brief).await.unwrap();
    assert_eq!(replies(&debate), ["yes", "yes", "(timed_out)", "yes", "in the end", "in the end"]);
    assert_eq!(began.elapsed().as_millis(), 800 + 150);
    let absences: Vec<_> = debate.absences().map(|(_, _, why, detail)| (why, detail)).collect();
    assert_eq!(absences, [(AbsenceReason::TimedOut, LATE)]);
    let attempted = models.store.log().into_iter().find_map(|record| match record.entry.event {
        Event::Attempted { why, detail, .. } => Some((why, detail)),
        _ => None,
    });
    assert_eq!(attempted, Some((AbsenceReason::TimedOut, LATE.to_owned())), "the end of the call is logged");
    assert_eq!((models.running_now(), debate.spent().lost_calls), (0, 0));
}

/// The closing phase has the whole deadline, but not more.
#[tokio::test(start_paused = true)]
async fn a_phase_that_would_use_reserved_time_makes_no_calls() {
    let models = ScriptedModels::new(|_| hang());
    let mut brief = brief(&["a/x", "b/y"], 4);
    brief.limits.deadline_ms = Some(1_000);
    let began = Instant::now();
    let debate = run_with_closing(&models, brief).await.unwrap();
    assert_eq!((began.elapsed().as_millis(), debate.at_ms), (1_000, 1_000));
    assert_eq!(replies(&debate), ["(timed_out)"; 8]);
    let rounds: Vec<u32> = models.calls.lock().unwrap().iter().map(|(_, call)| call.phase.round).collect();
    assert_eq!(rounds, [1, 1, 4, 4]);
    let details: Vec<&str> = debate.absences().map(|(_, _, _, detail)| detail).collect();
    assert_eq!(details[..6], [LATE; 6]);
    assert_eq!(details[6..], ["the deadline of 1 s has passed"; 2]);
}

#[tokio::test(start_paused = true)]
async fn a_delay_before_a_retry_never_uses_reserved_time() {
    for (asked_s, why) in [(None, "(timed_out)"), (Some(9), "(unreachable)")] {
        let models = ScriptedModels::new(move |call| {
            let mut scripted =
                if call.phase.round == 1 { fault(CallFaultKind::Unavailable) } else { answer("yes") };
            if let Err(fault) = &mut scripted.result {
                fault.retry_after = asked_s.map(Duration::from_secs);
            }
            scripted
        });
        let mut brief = brief(&["a/x"], 2);
        brief.limits = DebateLimits { deadline_ms: Some(10_000), retries: 1_000, ..DebateLimits::default() };
        let began = Instant::now();
        let debate = run_with_closing(&models, brief).await.unwrap();
        assert_eq!(replies(&debate), [why, "yes"], "{asked_s:?}");
        let waits = why == "(timed_out)";
        assert_eq!(began.elapsed().as_millis(), if waits { 8_020 } else { 40 }, "{asked_s:?}");
    }
}

/// Neither a repair nor a retry uses it.
#[tokio::test(start_paused = true)]
async fn the_last_call_is_reserved_for_the_closing_phase() {
    for failure in ["", "down"] {
        let models = ScriptedModels::new(move |call| match (call.phase.round, failure) {
            (1, "down") => fault(CallFaultKind::Unavailable),
            (1, _) => answer(""),
            _ => answer("yes"),
        });
        let mut brief = brief(&["a/x"], 2);
        brief.limits.calls = Some(2);
        let debate = run_with_closing(&models, brief).await.unwrap();
        assert_eq!(replies(&debate), ["(over_budget)", "yes"]);
        let (_, _, _, detail) = debate.absences().next().unwrap();
        assert_eq!(detail, "the limit of 2 calls is reached (1 is reserved for the closing phases)");
    }
}

/// The models would use everything they can.
#[tokio::test(start_paused = true)]
async fn a_share_of_dollars_and_tokens_is_reserved_for_the_closing_phase() {
    let usd = DebateLimits { usd: Some(2_500e-6), output_tokens: 4_000, ..DebateLimits::default() };
    let tokens = DebateLimits { usd: None, tokens: Some(2_500), ..usd.clone() };
    for (limits, named) in [(usd, "the budget of $0.0025"), (tokens, "the limit of 2500 tokens")] {
        let models = ScriptedModels::new(|call| {
            let mut scripted = answer("yes");
            let read = call.messages.iter().map(|message| message.text.len() as u64 + 16).sum();
            let usage = &mut scripted.result.as_mut().unwrap().usage;
            (usage.input_tokens, usage.output_tokens) = (read, u64::from(call.max_output_tokens));
            scripted
        });
        *models.price.lock().unwrap() =
            ModelPrice::PerMillion { input: 1.0, cached_input: 1.0, cache_write: 1.0, output: 1.0 };
        let mut brief = brief(&["a/x"], 3);
        brief.limits = limits;
        let debate = run_with_closing(&models, brief).await.unwrap();
        assert_eq!(replies(&debate), ["yes", "(over_budget)", "yes"]);
        let spent = debate.spent();
        assert_eq!(spent.input_tokens + spent.output_tokens, 2_500, "2000, and the reserved 500");
        let (_, _, _, detail) = debate.absences().next().unwrap();
        let message = format!("does not fit {named} (a fifth is reserved for the closing phases): it could");
        assert!(detail.contains(&message), "{detail}");
    }
}

/// A person who asks for the verdict waits for nobody but those who write it.
#[tokio::test(start_paused = true)]
async fn a_debate_that_is_concluded_goes_straight_to_its_closing_phase() {
    let models = ScriptedModels::new(|call| match (call.phase.round, call.seat.as_str()) {
        (2, "seat-1") => hang(),
        _ => answer("yes"),
    });
    let engine = models.engine(EngineSettings::default());
    let watch = DebateWatch::default();
    let stop = StopSignal::new();
    let mut brief = brief(&["a/x", "b/y"], 4);
    brief.protocol = CLOSING_ROUNDS.info.name.into();
    let person = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        watch.inbox.interject("ada", "Thank you.");
        watch.inbox.conclude();
    };
    let (debate, ()) = tokio::join!(engine.open(&CLOSING_ROUNDS, brief, &watch, &stop), person);
    let debate = debate.unwrap();
    let cancelled = ["(cancelled)", "(cancelled)"];
    let said: Vec<String> = replies(&debate);
    assert_eq!(said, [&["yes", "yes", "(cancelled)", "yes"][..], &cancelled, &["yes", "yes"]].concat());
    assert_eq!(debate.at_ms, 520, "only the closing phase is waited for");
    assert_eq!(debate.interjections.iter().map(|said| said.by.as_str()).collect::<Vec<_>>(), ["ada"]);
    assert_eq!(models.running_now(), 0);
}
