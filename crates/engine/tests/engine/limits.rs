//! Limits: dollars, calls, tokens and time are never exceeded, and what does not fit is an absence that names its limit.

use std::sync::Arc;
use std::time::Duration;

use agon_core::seed::Draw;
use agon_core::{Absence, Debate, Event, Limits, Record, Reply, Usage};
use agon_engine::*;
use proptest::prelude::*;
use serde_json::json;
use tokio::time::Instant;

use crate::stage::*;

/// What is spent for certain and what is reserved, in dollars and tokens, after each record of a log: the sum that may never
/// exceed a limit. Tokens of calls under way are not in the log, so they count for nothing here.
pub(crate) fn committed(log: &[Record], limits: &Limits) {
    let mut under_way = std::collections::BTreeMap::new();
    let (mut usd, mut tokens, mut calls) = (0.0, 0, 0);
    let mut spend = |usage: &Usage, worst: Option<f64>| {
        usd += usage.usd.or(worst).unwrap_or_default();
        tokens += usage.input_tokens + usage.output_tokens;
        (usd, tokens)
    };
    for record in log {
        let (usd, tokens) = match &record.entry.event {
            Event::Sent { ask, worst_usd, .. } => {
                calls += 1;
                // A second `sent` without a result in between: the first was lost in a crash and may have been charged.
                let lost = under_way.insert(*ask, *worst_usd).flatten();
                spend(&Usage::default(), lost)
            }
            Event::Attempted { ask, usage, .. } => spend(usage, under_way.remove(ask).flatten()),
            Event::Replied { ask, reply: Reply::Said { usage, .. } } => {
                spend(usage, under_way.remove(ask).flatten())
            }
            _ => continue,
        };
        let reserved: f64 = under_way.values().flatten().sum();
        let place = record.entry.seq;
        assert!(
            limits.usd.is_none_or(|limit| usd + reserved <= limit + 1e-12),
            "{usd} + {reserved} dollars at {place}"
        );
        assert!(limits.tokens.is_none_or(|limit| tokens <= limit), "{tokens} tokens at {place}");
        assert!(limits.calls.is_none_or(|limit| calls <= limit), "{calls} calls at {place}");
    }
}

/// A model that uses a random part of what it may, takes its time, and sometimes fails.
fn spender(seed: u64) -> impl Fn(&Call) -> Act + Send + Sync {
    move |call| {
        let mut draw = Draw::new(seed, &format!("{} {}", call.ask, call.attempt));
        let bytes: usize = call.messages.iter().map(|message| message.text.len() + 16).sum();
        let mut act = match draw.below(8) {
            0 => fault(FaultKind::Unavailable),
            1 => hang(),
            2 => say(""),
            _ => say("yes"),
        };
        act.after = act.after.max(Duration::from_millis(draw.below(40) as u64));
        let usage = Usage {
            input_tokens: draw.below(bytes + 1) as u64,
            output_tokens: draw.below(call.max_output_tokens as usize + 1) as u64,
            ..Usage::default()
        };
        match &mut act.result {
            Ok(completion) => completion.usage = usage,
            Err(fault) => fault.usage = usage,
        }
        act
    }
}

fn paused() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    /// "A budget in dollars, calls and tokens that reserves the worst case before a call leaves, so that it is never exceeded,
    /// not even by parallel calls."
    #[test]
    fn no_limit_is_ever_exceeded_and_every_ask_settles(
        seed in any::<u64>(),
        seats in 1_usize..6,
        rounds in 1_u32..4,
        (input, output) in (0.0..50.0, 0.0..200.0),
        usd in proptest::option::of(0.0..0.2),
        calls in proptest::option::of(0_u32..20),
        tokens in proptest::option::of(0_u64..8_000),
    ) {
        let troupe = Troupe::new(Arc::default(), spender(seed));
        *troupe.price.lock().unwrap() = Price::PerMillion { input, cached_input: input / 10.0, output };
        let mut brief = brief(&vec!["a/x|b/y"; seats], rounds);
        brief.limits = Limits { usd, calls, tokens, output_tokens: 300, ..Limits::default() };
        let limits = brief.limits.clone();
        let debate = paused().block_on(run(&troupe, brief)).unwrap();
        committed(&troupe.store.log(), &limits);
        prop_assert_eq!(replies(&debate).len(), seats * rounds as usize);
        prop_assert_eq!(debate.spent().calls as usize, troupe.called().len());
        for (_, _, why, detail) in debate.absences() {
            prop_assert!(why != Absence::OverBudget || detail.contains("limit of") || detail.contains("budget of"));
        }
        prop_assert!(troupe.violations.lock().unwrap().is_empty());
    }
}

/// An ask that does not fit while others are under way waits for what they do not use.
#[tokio::test(start_paused = true)]
async fn what_a_call_does_not_use_is_there_for_the_next() {
    let troupe = Troupe::new(Arc::default(), |_| say("yes"));
    *troupe.price.lock().unwrap() = Price::PerMillion { input: 0.0, cached_input: 0.0, output: 1.0 };
    let mut brief = brief(&["a/x"; 3], 1);
    // The worst case is 1000 tokens of output, each uses 5.
    brief.limits = Limits { usd: Some(1_100e-6), output_tokens: 1000, ..Limits::default() };
    let began = Instant::now();
    let debate = run(&troupe, brief.clone()).await.unwrap();
    assert_eq!(replies(&debate), ["yes"; 3]);
    assert_eq!(
        (began.elapsed().as_millis(), troupe.running.lock().unwrap().1),
        (60, 1),
        "one after the other"
    );

    let troupe = Troupe::new(Arc::default(), |_| say("yes"));
    *troupe.price.lock().unwrap() = Price::PerMillion { input: 0.0, cached_input: 0.0, output: 1.0 };
    brief.limits.usd = Some(1_007e-6);
    let debate = run(&troupe, brief).await.unwrap();
    assert_eq!(replies(&debate), ["yes", "yes", "(over_budget)"], "in seat order");
    let (_, _, _, detail) = debate.absences().next().unwrap();
    assert_eq!(detail, "of the budget of $0.001007 $0.000997 is left, and the call could cost $0.001000");
}

#[tokio::test(start_paused = true)]
async fn the_limit_on_calls_counts_every_attempt() {
    let troupe = Troupe::new(Arc::default(), |call| {
        if call.ask == 1 && call.attempt < 3 { fault(FaultKind::Unavailable) } else { say("yes") }
    });
    let mut brief = brief(&["a/x", "b/y"], 3);
    brief.limits.calls = Some(5);
    let debate = run(&troupe, brief).await.unwrap();
    let none = "(over_budget)";
    assert_eq!(replies(&debate), ["yes", "yes", "yes", none, none, none]);
    assert_eq!((troupe.called().len(), debate.spent().calls), (5, 5));
    assert!(debate.absences().all(|(_, _, _, detail)| detail == "the limit of 5 calls is reached"));
}

/// Nobody knows what an abandoned call used, so that the worst is taken for spent.
#[tokio::test(start_paused = true)]
async fn a_call_that_timed_out_counts_for_the_most_that_it_can_have_cost() {
    let troupe = Troupe::new(Arc::default(), |call| if call.ask == 1 { hang() } else { say("yes") });
    *troupe.price.lock().unwrap() = Price::PerMillion { input: 0.0, cached_input: 0.0, output: 1.0 };
    let mut brief = brief(&["a/x"], 3);
    brief.limits = Limits { usd: Some(2_004e-6), output_tokens: 1000, ..Limits::default() };
    let debate = run(&troupe, brief).await.unwrap();
    assert_eq!(replies(&debate), ["(timed_out)", "yes", "(over_budget)"]);
    assert!(!debate.spent().usd_known, "the report does not claim to know it");
}

/// "Overall deadline": calls under way are abandoned, nothing leaves any more, and the debate closes.
#[tokio::test(start_paused = true)]
async fn at_the_deadline_everything_open_is_absent_and_the_debate_closes() {
    for punctual in [true, false] {
        let troupe = Troupe::new(Arc::default(), |call| match (call.phase.round, call.seat.as_str()) {
            (2, "seat-1") => hang(),
            (2, "seat-2") => fault(FaultKind::Unavailable),
            _ => say("yes"),
        });
        let mut brief = brief(&["a/x", "b/y", "c/z"], 4);
        brief.options.insert("punctual".into(), json!(punctual));
        brief.limits = Limits { deadline_ms: Some(1_000), retries: 1_000, ..Limits::default() };
        let began = Instant::now();
        let debate = run(&troupe, brief).await.unwrap();
        assert_eq!((began.elapsed().as_millis(), debate.at_ms), (1_000, 1_000));
        assert!(debate.outcome.is_some());
        assert_eq!(replies(&debate)[..6], ["yes", "yes", "yes", "(timed_out)", "(timed_out)", "yes"]);
        assert!(replies(&debate)[6..].iter().all(|reply| reply == "(timed_out)"));
        assert_eq!(replies(&debate).len(), if punctual { 6 } else { 12 });
        assert!(debate.absences().all(|(_, _, _, detail)| detail == "the debate's deadline"));
        assert!(troupe.calls.lock().unwrap().iter().all(|(_, call)| call.phase.round < 3));
        assert_eq!((troupe.running.lock().unwrap().0, debate.spent().lost_calls), (0, 0));
    }
}

/// The deadline counts time while running: a resumed debate goes on from the last moment in its log.
#[tokio::test(start_paused = true)]
async fn a_resumed_debate_has_the_rest_of_its_time() {
    let troupe = Troupe::new(Arc::default(), |call| if call.ask == 1 { say("yes") } else { hang() });
    let mut brief = brief(&["a/x"], 2);
    brief.limits.deadline_ms = Some(10_000);
    let (engine, watch, stop) =
        (troupe.engine(Settings { drain_ms: 0, ..Settings::default() }), Watch::default(), Stop::new());
    let stopper = async {
        tokio::time::sleep(Duration::from_millis(4_000)).await;
        stop.stop();
    };
    let (why, ()) = tokio::join!(engine.open(&CIRCLE, brief, &watch, &stop), stopper);
    assert!(matches!(why, Err(EngineError::Interrupted { .. })));
    let at_ms = Debate::from_records(&troupe.store.log()).unwrap().at_ms;
    tokio::time::sleep(Duration::from_secs(3600)).await;
    let began = Instant::now();
    let debate = engine.resume(&find, "d1", None, &watch, &Stop::new()).await.unwrap();
    assert_eq!(u64::try_from(began.elapsed().as_millis()).unwrap(), 10_000 - at_ms);
    assert_eq!(replies(&debate), ["yes", "(timed_out)"]);
    assert_eq!(debate.spent().lost_calls, 1, "the call that the interruption lost");
}
