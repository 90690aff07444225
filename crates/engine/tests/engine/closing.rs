//! What is kept for the closing phases: time, money and a call, so that whatever happens before, the chair is heard.

use std::sync::Arc;
use std::time::Duration;

use agon_core::{Absence, Event, Limits};
use agon_engine::*;
use tokio::time::Instant;

use crate::stage::*;

const LATE: &str = "the deadline of 1 s, a fifth of which is kept for the closing phases, has passed";

/// A hanging debater or moderator leaves time for the chair.
#[tokio::test(start_paused = true)]
async fn a_call_that_hangs_is_cut_while_there_is_time_for_the_closing_phase() {
    let troupe = Troupe::new(Arc::default(), |call| match (call.phase.round, call.seat.as_str()) {
        (2, "seat-1") => hang(),
        (3, _) => Act { after: Duration::from_millis(150), ..say("in the end") },
        _ => say("yes"),
    });
    let mut brief = brief(&["a/x", "b/y"], 3);
    brief.limits.deadline_ms = Some(1_000);
    let began = Instant::now();
    let debate = run_keeping(&troupe, brief).await.unwrap();
    assert_eq!(replies(&debate), ["yes", "yes", "(timed_out)", "yes", "in the end", "in the end"]);
    assert_eq!(began.elapsed().as_millis(), 800 + 150);
    let absences: Vec<_> = debate.absences().map(|(_, _, why, detail)| (why, detail)).collect();
    assert_eq!(absences, [(Absence::TimedOut, LATE)]);
    let attempted = troupe.store.log().into_iter().find_map(|record| match record.entry.event {
        Event::Attempted { why, detail, .. } => Some((why, detail)),
        _ => None,
    });
    assert_eq!(attempted, Some((Absence::TimedOut, LATE.to_owned())), "the call was written off");
    assert_eq!((troupe.running.lock().unwrap().0, debate.spent().lost_calls), (0, 0));
}

/// What would begin after the earlier limit is not sent; the closing phase may use all of the deadline and no more.
#[tokio::test(start_paused = true)]
async fn phases_after_the_earlier_limit_are_passed_over_and_the_closing_phase_has_the_whole_deadline() {
    let troupe = Troupe::new(Arc::default(), |_| hang());
    let mut brief = brief(&["a/x", "b/y"], 4);
    brief.limits.deadline_ms = Some(1_000);
    let began = Instant::now();
    let debate = run_keeping(&troupe, brief).await.unwrap();
    assert_eq!((began.elapsed().as_millis(), debate.at_ms), (1_000, 1_000));
    assert_eq!(replies(&debate), ["(timed_out)"; 8]);
    let rounds: Vec<u32> = troupe.calls.lock().unwrap().iter().map(|(_, call)| call.phase.round).collect();
    assert_eq!(rounds, [1, 1, 4, 4]);
    let details: Vec<&str> = debate.absences().map(|(_, _, _, detail)| detail).collect();
    assert_eq!(details[..6], [LATE; 6]);
    assert_eq!(details[6..], ["the deadline of 1 s has passed"; 2]);
}

/// Retries and waits end at the earlier limit, too.
#[tokio::test(start_paused = true)]
async fn no_wait_before_a_retry_goes_beyond_the_earlier_limit() {
    for (asked_s, why) in [(None, "(timed_out)"), (Some(9), "(unreachable)")] {
        let troupe = Troupe::new(Arc::default(), move |call| {
            let mut act = if call.phase.round == 1 { fault(FaultKind::Unavailable) } else { say("yes") };
            if let Err(fault) = &mut act.result {
                fault.retry_after = asked_s.map(Duration::from_secs);
            }
            act
        });
        let mut brief = brief(&["a/x"], 2);
        brief.limits = Limits { deadline_ms: Some(10_000), retries: 1_000, ..Limits::default() };
        let began = Instant::now();
        let debate = run_keeping(&troupe, brief).await.unwrap();
        assert_eq!(replies(&debate), [why, "yes"], "{asked_s:?}");
        let cut = why == "(timed_out)";
        assert_eq!(began.elapsed().as_millis(), if cut { 8_020 } else { 40 }, "{asked_s:?}");
    }
}

/// A repair or a retry does not eat the call that is kept for the synthesis.
#[tokio::test(start_paused = true)]
async fn the_last_call_is_kept_for_the_closing_phase() {
    for bad in ["", "down"] {
        let troupe = Troupe::new(Arc::default(), move |call| match (call.phase.round, bad) {
            (1, "down") => fault(FaultKind::Unavailable),
            (1, _) => say(""),
            _ => say("yes"),
        });
        let mut brief = brief(&["a/x"], 2);
        brief.limits.calls = Some(2);
        let debate = run_keeping(&troupe, brief).await.unwrap();
        assert_eq!(replies(&debate), ["(over_budget)", "yes"]);
        let (_, _, _, detail) = debate.absences().next().unwrap();
        assert_eq!(detail, "the limit of 2 calls is reached, one of which is kept for the closing phases");
    }
}

/// A fifth of the dollars and of the tokens is left for the closing phase by those who would have used all.
#[tokio::test(start_paused = true)]
async fn a_part_of_the_money_is_kept_for_the_closing_phase() {
    let usd = Limits { usd: Some(2_500e-6), output_tokens: 4_000, ..Limits::default() };
    let tokens = Limits { usd: None, tokens: Some(2_500), ..usd.clone() };
    for (limits, named) in [(usd, "the budget of $0.0025"), (tokens, "the limit of 2500 tokens")] {
        let troupe = Troupe::new(Arc::default(), |call| {
            let mut act = say("yes");
            let read = call.messages.iter().map(|message| message.text.len() as u64 + 16).sum();
            let usage = &mut act.result.as_mut().unwrap().usage;
            (usage.input_tokens, usage.output_tokens) = (read, u64::from(call.max_output_tokens));
            act
        });
        *troupe.price.lock().unwrap() =
            Price::PerMillion { input: 1.0, cached_input: 1.0, cache_write: 1.0, output: 1.0 };
        let mut brief = brief(&["a/x"], 3);
        brief.limits = limits;
        let debate = run_keeping(&troupe, brief).await.unwrap();
        assert_eq!(replies(&debate), ["yes", "(over_budget)", "yes"]);
        let spent = debate.spent();
        assert_eq!(spent.input_tokens + spent.output_tokens, 2_500, "2000, and the 500 that were kept");
        let (_, _, _, detail) = debate.absences().next().unwrap();
        let kept = format!("does not fit {named}, of which a fifth is kept for the closing phases: it could");
        assert!(detail.contains(&kept), "{detail}");
    }
}
