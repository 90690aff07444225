//! Limits on dollars, calls, tokens and time are never exceeded. An ask that does not fit is absent, with the limit as reason.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use agon_core::seed::SeededDraw;
use agon_core::{AbsenceReason, CallUsage, Debate, DebateLimits, Event, LogRecord, Reply};
use agon_engine::*;
use proptest::prelude::*;
use serde_json::json;
use tokio::time::Instant;

use crate::rounds_protocol::*;
use crate::scripted_models::*;

/// Checks after each record that the sum of what is spent and what is reserved keeps within the limits of its phase.
fn assert_limits_hold(log: &[LogRecord], limits: &DebateLimits) {
    let mut under_way: BTreeMap<u32, (Option<f64>, u64)> = BTreeMap::new();
    let (mut usd, mut tokens, mut calls_made, mut usable_share, mut reserved_calls) = (0.0, 0, 0, 1.0, 0);
    let mut spend = |usage: Option<&CallUsage>, (worst, most): (Option<f64>, u64)| {
        usd += usage.and_then(|usage| usage.usd).or(worst).unwrap_or_default();
        tokens += usage.map_or(most, |usage| usage.input_tokens + usage.output_tokens);
        (usd, tokens)
    };
    let mut has_closing = false;
    for record in log {
        let (usd, tokens) = match &record.entry.event {
            Event::Opened { brief } => {
                has_closing = brief.protocol == CLOSING_ROUNDS.info.name;
                continue;
            }
            Event::Asked { phase, .. } => {
                (usable_share, reserved_calls) =
                    if has_closing && phase != "last" { (0.8, 1) } else { (1.0, 0) };
                continue;
            }
            Event::Sent { ask, worst_usd, worst_tokens, .. } => {
                calls_made += 1;
                // If the last `sent` has no result, that call was lost in a crash and may be billed.
                match under_way.insert(*ask, (*worst_usd, *worst_tokens)) {
                    Some(lost) => spend(None, lost),
                    None => spend(Some(&CallUsage::default()), (None, 0)),
                }
            }
            Event::Attempted { ask, usage, why, .. } => {
                let unknown = *why == AbsenceReason::TimedOut || is_unreported(usage);
                spend(Some(usage).filter(|_| !unknown), under_way.remove(ask).unwrap())
            }
            Event::Replied { ask, reply: Reply::Said { usage, .. } } => {
                // Without a call under way, the reply is an earlier answer, whose cost is counted.
                let call = under_way.remove(ask).unwrap_or((Some(0.0), 0));
                spend(Some(usage).filter(|usage| !is_unreported(usage)), call)
            }
            _ => continue,
        };
        let reserved: f64 = under_way.values().filter_map(|(usd, _)| *usd).sum();
        let held: u64 = under_way.values().map(|(_, tokens)| tokens).sum();
        let seq = record.entry.seq;
        assert!(
            limits.usd.is_none_or(|limit| usd + reserved <= limit * usable_share + 1e-12),
            "{usd} + {reserved} dollars at {seq}"
        );
        assert!(
            limits.tokens.is_none_or(|limit| (tokens + held) as f64 <= limit as f64 * usable_share),
            "{tokens} + {held} tokens at {seq}"
        );
        assert!(
            limits.calls.is_none_or(|limit| calls_made + reserved_calls <= limit),
            "{calls_made} calls at {seq}"
        );
    }
}

fn is_unreported(usage: &CallUsage) -> bool {
    usage.unreported || (usage.input_tokens, usage.output_tokens, usage.usd) == (0, 0, None)
}

/// The most tokens that a call can use: one for each byte, 16 for each message, and its longest answer.
fn most_tokens(call: &ModelCall) -> u64 {
    let bytes: usize = call.messages.iter().map(|message| message.text.len() + 16).sum();
    bytes as u64 + u64::from(call.max_output_tokens)
}

/// A model that uses a random share of what it may use, takes a random time, and sometimes fails.
pub(crate) fn random_usage(seed: u64) -> impl Fn(&ModelCall) -> ScriptedResult + Send + Sync {
    move |call| {
        let mut draw = SeededDraw::new(seed, &format!("{} {}", call.ask, call.attempt));
        let bytes: usize = call.messages.iter().map(|message| message.text.len() + 16).sum();
        let (is_unreported, is_half_reported) = (draw.below(6) == 0, draw.below(6) == 0);
        let mut scripted = match draw.below(11) {
            0 => fault(CallFaultKind::Unavailable),
            8 => fault(CallFaultKind::Garbled),
            1 => hang(),
            2 => answer(""),
            9 | 10 => answer(r#"{"answer": "unverified"}"#),
            _ => answer(r#"{"answer": "yes"}"#),
        };
        scripted.after = scripted.after.max(Duration::from_millis(draw.below(40) as u64));
        let usage = CallUsage {
            input_tokens: draw.below(bytes + 1) as u64,
            output_tokens: draw.below(call.max_output_tokens as usize + 1) as u64,
            ..CallUsage::default()
        };
        match &mut scripted.result {
            Ok(completion) if is_unreported => completion.usage = CallUsage::default(),
            Ok(completion) if is_half_reported => {
                completion.usage = CallUsage { output_tokens: usage.output_tokens, ..CallUsage::default() };
            }
            Ok(completion) => completion.usage = usage,
            Err(fault) if fault.kind == CallFaultKind::Garbled => {}
            Err(fault) => fault.usage = usage,
        }
        scripted
    }
}

pub(crate) fn paused_runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    /// This holds for parallel calls too, and the share of the closing phases stays reserved.
    #[test]
    fn no_limit_is_exceeded_and_every_ask_is_settled(
        seed in any::<u64>(),
        seats in 1_usize..6,
        rounds in 1_u32..4,
        (input, output) in (0.0..50.0, 0.0..200.0),
        usd in proptest::option::of(0.0..0.2),
        calls in proptest::option::of(0_u32..20),
        tokens in proptest::option::of(0_u64..8_000),
        output_tokens in prop_oneof![Just(100_u32), Just(300), Just(2_000)],
        (has_closing, structured) in any::<(bool, bool)>(),
    ) {
        let models = ScriptedModels::new(random_usage(seed));
        *models.price.lock().unwrap() = ModelPrice::PerMillion { input, cached_input: input / 10.0, cache_write: input * 1.25, output };
        let mut brief = brief(&vec!["a/x|b/y"; seats], rounds);
        brief.options.insert("structured".into(), json!(structured));
        brief.limits = DebateLimits { usd, calls, tokens, output_tokens, ..DebateLimits::default() };
        let limits = brief.limits.clone();
        let debate = match has_closing {
            true => paused_runtime().block_on(run_with_closing(&models, brief)),
            false => paused_runtime().block_on(run(&models, brief)),
        }
        .unwrap();
        let calls = models.calls.lock().unwrap().clone();
        assert_limits_hold(&models.store.log(), &limits);
        for (_, call) in &calls {
            prop_assert!((256.min(output_tokens)..=output_tokens).contains(&call.max_output_tokens));
        }
        prop_assert_eq!(replies(&debate).len(), seats * rounds as usize);
        prop_assert_eq!(debate.spent().calls as usize, models.called().len());
        for (_, _, why, detail) in debate.absences() {
            prop_assert!(why != AbsenceReason::OverBudget || detail.contains("limit of") || detail.contains("budget of"));
        }
        models.assert_no_violations();
    }
}

/// Models that cost one dollar for a million output tokens, and nothing for input.
fn paid_models(script: impl Fn(&ModelCall) -> ScriptedResult + Send + Sync + 'static) -> Arc<ScriptedModels> {
    let models = ScriptedModels::new(script);
    *models.price.lock().unwrap() =
        ModelPrice::PerMillion { input: 0.0, cached_input: 0.0, cache_write: 0.0, output: 1.0 };
    models
}

fn dollar_limit(micro_usd: u32) -> DebateLimits {
    DebateLimits { usd: Some(f64::from(micro_usd) / 1e6), output_tokens: 1000, ..DebateLimits::default() }
}

fn output_limits(models: &ScriptedModels) -> Vec<u32> {
    models.calls.lock().unwrap().iter().map(|(_, call)| call.max_output_tokens).collect()
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_what_running_calls_do_not_use() {
    let models = paid_models(|_| answer("yes"));
    let mut brief = brief(&["a/x"; 3], 1);
    // Each call needs at least 256 output tokens and uses 5.
    brief.limits = dollar_limit(500);
    let began = Instant::now();
    let debate = run(&models, brief.clone()).await.unwrap();
    assert_eq!(replies(&debate), ["yes"; 3]);
    assert_eq!((began.elapsed().as_millis(), models.most_running()), (60, 1), "one call after the other");
    assert_eq!(output_limits(&models), [256, 256, 490]);

    let models = paid_models(|_| answer("yes"));
    brief.limits = dollar_limit(265);
    let debate = run(&models, brief).await.unwrap();
    assert_eq!(replies(&debate), ["yes", "yes", "(over_budget)"], "in seat order");
    let (_, _, _, detail) = debate.absences().next().unwrap();
    let message =
        "the call does not fit the budget of $0.000265: it could cost $0.000256, and $0.000255 is left";
    assert_eq!(detail, message);
}

/// The asks of a phase share the budget evenly, and the share limits the length of the answer.
#[tokio::test(start_paused = true)]
async fn the_length_of_answers_depends_on_the_budget() {
    for (micro_usd, first, second) in
        [(100_000, 1000, 1000), (3_000, 1000, 995), (1_200, 400, 395), (769, 256, 256)]
    {
        let models = paid_models(|_| answer("yes"));
        let mut brief = brief(&["a/x"; 3], 2);
        brief.limits = dollar_limit(micro_usd);
        let debate = run(&models, brief).await.unwrap();
        assert_eq!(replies(&debate), ["yes"; 6], "{micro_usd}");
        // Shares are rounded, so they may differ by one token.
        let near = |(got, want): (&u32, u32)| got.abs_diff(want) <= 1;
        assert!(output_limits(&models).iter().zip([first, first, first, second]).all(near), "{micro_usd}");
    }
    // A limit on tokens counts the input too.
    let models = ScriptedModels::new(|_| answer("yes"));
    let mut brief = brief(&["a/x"; 2], 1);
    brief.limits = DebateLimits { tokens: Some(2_000), output_tokens: 4_000, ..DebateLimits::default() };
    run(&models, brief).await.unwrap();
    let most: Vec<u64> = models.calls.lock().unwrap().iter().map(|(_, call)| most_tokens(call)).collect();
    assert_eq!(most, [1_000, 1_000]);
}

/// A call without reported usage is never treated as free.
#[tokio::test(start_paused = true)]
async fn an_answer_without_reported_usage_counts_for_its_worst_case() {
    let unreported = |_: &ModelCall| answer_without_usage("yes");
    let mut brief = brief(&["a/x"], 3);
    brief.limits = dollar_limit(1_500);
    let debate = run(&paid_models(unreported), brief.clone()).await.unwrap();
    assert_eq!(replies(&debate), ["yes", "yes", "(over_budget)"], "1000, then 500, then nothing");
    assert!(!debate.spent().usd_known);
    brief.limits = DebateLimits { tokens: Some(1_500), output_tokens: 1000, ..DebateLimits::default() };
    let debate = run(&paid_models(unreported), brief.clone()).await.unwrap();
    assert_eq!(replies(&debate), ["yes", "yes", "(over_budget)"]);
    // The cost of a free model is known, but not how many tokens it used.
    let debate = run(&ScriptedModels::new(unreported), brief).await.unwrap();
    assert_eq!(replies(&debate), ["yes", "yes", "(over_budget)"]);
    assert!(debate.spent().usd_known);
}

/// The provider may bill an answer that arrives broken.
#[tokio::test(start_paused = true)]
async fn a_garbled_answer_counts_for_its_worst_case() {
    let models = paid_models(|_| fault(CallFaultKind::Garbled));
    let mut brief = brief(&["a/x"], 1);
    brief.limits = DebateLimits { retries: 1_000, ..dollar_limit(1_500) };
    let debate = run(&models, brief.clone()).await.unwrap();
    assert_eq!(replies(&debate), ["(over_budget)"]);
    assert_eq!(output_limits(&models), [1000, 500], "then nothing is left");
    let lost = debate.turns[0].attempts[0][0].fault.clone().unwrap();
    assert_eq!((lost.why, lost.usage.usd), (AbsenceReason::Unreachable, None));
    assert!(!debate.spent().usd_known, "the cost is unknown");

    // A call that never reached the model costs nothing, and neither does a free model.
    brief.limits.retries = 5;
    let debate = run(&paid_models(|_| fault(CallFaultKind::Unavailable)), brief.clone()).await.unwrap();
    assert_eq!((replies(&debate), debate.spent().usd_known), (vec!["(unreachable)".into()], true));
    let free = ScriptedModels::new(|_| fault(CallFaultKind::Garbled));
    let debate = run(&free, brief).await.unwrap();
    assert_eq!((replies(&debate), debate.spent().usd_known), (vec!["(unreachable)".into()], true));
}

#[tokio::test(start_paused = true)]
async fn a_resumed_debate_still_counts_worst_cases() {
    for (garbled, absent) in [(false, "(malformed)"), (true, "(unreachable)")] {
        let models = paid_models(move |call| match (call.ask, call.attempt) {
            (1, _) if garbled => fault(CallFaultKind::Garbled),
            (1, _) => answer_without_usage(""),
            (_, 1) => fault(CallFaultKind::Key),
            _ => answer_without_usage("yes"),
        });
        let mut brief = brief(&["a/x"; 2], 1);
        brief.limits = DebateLimits { repairs: 0, retries: 0, ..dollar_limit(1_300) };
        assert!(matches!(run(&models, brief).await, Err(EngineError::Stopped { .. })));
        let debate = resume(&models).await.unwrap();
        assert_eq!(replies(&debate), [absent, "yes"]);
        let limits = output_limits(&models);
        assert!(limits.iter().all(|limit| limit.abs_diff(650) <= 1), "half for each ask: {limits:?}");
        assert_eq!(limits.len(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn every_attempt_counts_for_the_limit_on_calls() {
    let models = ScriptedModels::new(|call| {
        if call.ask == 1 && call.attempt < 3 { fault(CallFaultKind::Unavailable) } else { answer("yes") }
    });
    let mut brief = brief(&["a/x", "b/y"], 3);
    brief.limits.calls = Some(5);
    let debate = run(&models, brief).await.unwrap();
    let absent = "(over_budget)";
    assert_eq!(replies(&debate), ["yes", "yes", "yes", absent, absent, absent]);
    assert_eq!((models.called().len(), debate.spent().calls), (5, 5));
    assert!(debate.absences().all(|(_, _, _, detail)| detail == "the limit of 5 calls is reached"));
}

/// The usage of an abandoned call is unknown.
#[tokio::test(start_paused = true)]
async fn a_call_that_timed_out_counts_for_its_worst_case() {
    let models = paid_models(|call| if call.ask == 1 { hang() } else { answer("yes") });
    let mut brief = brief(&["a/x"], 3);
    brief.limits = dollar_limit(1_260);
    let debate = run(&models, brief).await.unwrap();
    assert_eq!(replies(&debate), ["(timed_out)", "yes", "(over_budget)"]);
    assert!(!debate.spent().usd_known, "the cost is unknown");
}

/// Running calls are abandoned, and no call starts.
#[tokio::test(start_paused = true)]
async fn at_the_deadline_all_open_asks_are_absent_and_the_debate_closes() {
    for closes_early in [true, false] {
        let models = ScriptedModels::new(|call| match (call.phase.round, call.seat.as_str()) {
            (2, "seat-1") => hang(),
            (2, "seat-2") => fault(CallFaultKind::Unavailable),
            _ => answer("yes"),
        });
        let mut brief = brief(&["a/x", "b/y", "c/z"], 4);
        brief.options.insert("closes_at_deadline".into(), json!(closes_early));
        brief.limits = DebateLimits { deadline_ms: Some(1_000), retries: 1_000, ..DebateLimits::default() };
        let began = Instant::now();
        let debate = run(&models, brief).await.unwrap();
        assert_eq!((began.elapsed().as_millis(), debate.at_ms), (1_000, 1_000));
        assert!(debate.outcome.is_some());
        assert_eq!(replies(&debate)[..6], ["yes", "yes", "yes", "(timed_out)", "(timed_out)", "yes"]);
        assert!(replies(&debate)[6..].iter().all(|reply| reply == "(timed_out)"));
        assert_eq!(replies(&debate).len(), if closes_early { 6 } else { 12 });
        assert!(debate.absences().all(|(_, _, _, detail)| detail == "the deadline of 1 s has passed"));
        assert!(models.calls.lock().unwrap().iter().all(|(_, call)| call.phase.round < 3));
        assert_eq!((models.running_now(), debate.spent().lost_calls), (0, 0));
    }
}

/// The deadline counts only the time during which the debate runs.
#[tokio::test(start_paused = true)]
async fn a_resumed_debate_has_the_rest_of_its_time_left() {
    let models = ScriptedModels::new(|call| if call.ask == 1 { answer("yes") } else { hang() });
    let mut brief = brief(&["a/x"], 2);
    brief.limits.deadline_ms = Some(10_000);
    let (engine, watch, stop) = (
        models.engine(EngineSettings { drain_ms: 0, ..EngineSettings::default() }),
        DebateWatch::default(),
        StopSignal::new(),
    );
    let stopper = async {
        tokio::time::sleep(Duration::from_millis(4_000)).await;
        stop.stop();
    };
    let (why, ()) = tokio::join!(engine.open(&ROUNDS, brief, &watch, &stop), stopper);
    assert!(matches!(why, Err(EngineError::Interrupted { .. })));
    let at_ms = Debate::from_records(&models.store.log()).unwrap().at_ms;
    tokio::time::sleep(Duration::from_secs(3600)).await;
    let began = Instant::now();
    let debate = engine.resume(&find_protocol, "d1", None, &watch, &StopSignal::new()).await.unwrap();
    assert_eq!(u64::try_from(began.elapsed().as_millis()).unwrap(), 10_000 - at_ms);
    assert_eq!(replies(&debate), ["yes", "(timed_out)"]);
    assert_eq!(debate.spent().lost_calls, 1, "the call that was running at the interruption");
}

/// It still runs when every limit is reached.
#[tokio::test(start_paused = true)]
async fn no_limit_counts_an_errand() {
    let models = ScriptedModels::new(|_| answer("yes"));
    let mut brief = brief(&["errand/look", "one/a", "one/b"], 2);
    brief.limits = DebateLimits { calls: Some(3), tokens: Some(1_000_000), ..DebateLimits::default() };
    let debate = run(&models, brief).await.unwrap();
    assert_eq!(replies(&debate), ["yes", "yes", "yes", "yes", "yes", "(over_budget)"]);
    assert_eq!(debate.spent().calls, 3, "two of the five calls were errands");
}
