//! Limits: dollars, calls, tokens and time are never exceeded, and what does not fit is an absence that names its limit.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use agon_core::seed::Draw;
use agon_core::{Absence, Debate, Event, Limits, Protocol, Record, Reply, Usage};
use agon_engine::*;
use proptest::prelude::*;
use serde_json::json;
use tokio::time::Instant;

use crate::stage::*;

/// Checks after each record of a log that what is spent and what is reserved do not exceed a limit together, nor the part of it
/// that is not kept for the last round. What a call can use in tokens is not in the log, so that it is taken from `calls`, as
/// far as they are there.
pub(crate) fn committed(log: &[Record], limits: &Limits, calls: &[(String, Call)]) {
    let most: BTreeMap<(u32, u32), u64> =
        calls.iter().map(|(_, call)| ((call.ask, call.attempt), most_tokens(call))).collect();
    let mut under_way: BTreeMap<u32, (Option<f64>, u64)> = BTreeMap::new();
    let (mut usd, mut tokens, mut made, mut part, mut spare) = (0.0, 0, 0, 1.0, 0);
    let mut spend = |usage: Option<&Usage>, (worst, most): (Option<f64>, u64)| {
        usd += usage.and_then(|usage| usage.usd).or(worst).unwrap_or_default();
        tokens += usage.map_or(most, |usage| usage.input_tokens + usage.output_tokens);
        (usd, tokens)
    };
    let mut keeps = false;
    for record in log {
        let (usd, tokens) = match &record.entry.event {
            Event::Opened { brief } => {
                keeps = brief.protocol == KEEPER.name();
                continue;
            }
            Event::Asked { phase, .. } => {
                (part, spare) = if keeps && phase != "last" { (0.8, 1) } else { (1.0, 0) };
                continue;
            }
            Event::Sent { ask, attempt, worst_usd, .. } => {
                made += 1;
                let most = most.get(&(*ask, *attempt)).copied().unwrap_or_default();
                // A second `sent` without a result in between: the first was lost in a crash and may have been charged.
                match under_way.insert(*ask, (*worst_usd, most)) {
                    Some(lost) => spend(None, lost),
                    None => spend(Some(&Usage::default()), (None, 0)),
                }
            }
            Event::Attempted { ask, usage, why, .. } => {
                let unknown = *why == Absence::TimedOut || silent(usage);
                spend(Some(usage).filter(|_| !unknown), under_way.remove(ask).unwrap())
            }
            Event::Replied { ask, reply: Reply::Said { usage, .. } } => {
                spend(Some(usage).filter(|usage| !silent(usage)), under_way.remove(ask).unwrap())
            }
            _ => continue,
        };
        let reserved: f64 = under_way.values().filter_map(|(usd, _)| *usd).sum();
        let held: u64 = under_way.values().map(|(_, tokens)| tokens).sum();
        let place = record.entry.seq;
        assert!(
            limits.usd.is_none_or(|limit| usd + reserved <= limit * part + 1e-12),
            "{usd} + {reserved} dollars at {place}"
        );
        assert!(
            limits.tokens.is_none_or(|limit| (tokens + held) as f64 <= limit as f64 * part),
            "{tokens} + {held} tokens at {place}"
        );
        assert!(limits.calls.is_none_or(|limit| made + spare <= limit), "{made} calls at {place}");
    }
}

fn silent(usage: &Usage) -> bool {
    (usage.input_tokens, usage.output_tokens, usage.usd) == (0, 0, None)
}

/// The most tokens that a call can use: its bytes, what a chat template adds, and its longest answer.
fn most_tokens(call: &Call) -> u64 {
    let bytes: usize = call.messages.iter().map(|message| message.text.len() + 16).sum();
    bytes as u64 + u64::from(call.max_output_tokens)
}

/// A model that uses a random part of what it may, takes its time, and sometimes fails.
fn spender(seed: u64) -> impl Fn(&Call) -> Act + Send + Sync {
    move |call| {
        let mut draw = Draw::new(seed, &format!("{} {}", call.ask, call.attempt));
        let bytes: usize = call.messages.iter().map(|message| message.text.len() + 16).sum();
        let silent = draw.below(6) == 0;
        let mut act = match draw.below(9) {
            0 => fault(FaultKind::Unavailable),
            8 => fault(FaultKind::Garbled),
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
            Ok(completion) if silent => completion.usage = Usage::default(),
            Ok(completion) => completion.usage = usage,
            Err(fault) if fault.kind == FaultKind::Garbled => {}
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
    /// not even by parallel calls"; and what is kept for the closing phases is there when they begin.
    #[test]
    fn no_limit_is_ever_exceeded_and_every_ask_settles(
        seed in any::<u64>(),
        seats in 1_usize..6,
        rounds in 1_u32..4,
        (input, output) in (0.0..50.0, 0.0..200.0),
        usd in proptest::option::of(0.0..0.2),
        calls in proptest::option::of(0_u32..20),
        tokens in proptest::option::of(0_u64..8_000),
        output_tokens in prop_oneof![Just(100_u32), Just(300), Just(2_000)],
        keeps in any::<bool>(),
    ) {
        let troupe = Troupe::new(Arc::default(), spender(seed));
        *troupe.price.lock().unwrap() = Price::PerMillion { input, cached_input: input / 10.0, cache_write: input * 1.25, output };
        let mut brief = brief(&vec!["a/x|b/y"; seats], rounds);
        brief.limits = Limits { usd, calls, tokens, output_tokens, ..Limits::default() };
        let limits = brief.limits.clone();
        let debate = match keeps {
            true => paused().block_on(run_keeping(&troupe, brief)),
            false => paused().block_on(run(&troupe, brief)),
        }
        .unwrap();
        let calls = troupe.calls.lock().unwrap().clone();
        committed(&troupe.store.log(), &limits, &calls);
        for (_, call) in &calls {
            prop_assert!((256.min(output_tokens)..=output_tokens).contains(&call.max_output_tokens));
        }
        prop_assert_eq!(replies(&debate).len(), seats * rounds as usize);
        prop_assert_eq!(debate.spent().calls as usize, troupe.called().len());
        for (_, _, why, detail) in debate.absences() {
            prop_assert!(why != Absence::OverBudget || detail.contains("limit of") || detail.contains("budget of"));
        }
        prop_assert!(troupe.violations.lock().unwrap().is_empty());
    }
}

/// A troupe whose answers cost a millionth of a dollar a token, and whose questions cost nothing.
fn dear(script: impl Fn(&Call) -> Act + Send + Sync + 'static) -> Arc<Troupe> {
    let troupe = Troupe::new(Arc::default(), script);
    *troupe.price.lock().unwrap() =
        Price::PerMillion { input: 0.0, cached_input: 0.0, cache_write: 0.0, output: 1.0 };
    troupe
}

fn budget(micro_usd: u32) -> Limits {
    Limits { usd: Some(f64::from(micro_usd) / 1e6), output_tokens: 1000, ..Limits::default() }
}

fn outputs(troupe: &Troupe) -> Vec<u32> {
    troupe.calls.lock().unwrap().iter().map(|(_, call)| call.max_output_tokens).collect()
}

/// An ask that does not fit while others are under way waits for what they do not use.
#[tokio::test(start_paused = true)]
async fn what_a_call_does_not_use_is_there_for_the_next() {
    let troupe = dear(|_| say("yes"));
    let mut brief = brief(&["a/x"; 3], 1);
    // Each wants 256 tokens of output at least and uses 5.
    brief.limits = budget(500);
    let began = Instant::now();
    let debate = run(&troupe, brief.clone()).await.unwrap();
    assert_eq!(replies(&debate), ["yes"; 3]);
    assert_eq!(
        (began.elapsed().as_millis(), troupe.running.lock().unwrap().1),
        (60, 1),
        "one after the other"
    );
    assert_eq!(outputs(&troupe), [256, 256, 490]);

    let troupe = dear(|_| say("yes"));
    brief.limits = budget(265);
    let debate = run(&troupe, brief).await.unwrap();
    assert_eq!(replies(&debate), ["yes", "yes", "(over_budget)"], "in seat order");
    let (_, _, _, detail) = debate.absences().next().unwrap();
    let named =
        "the call does not fit the budget of $0.000265: it could cost $0.000256, and $0.000255 is left";
    assert_eq!(detail, named);
}

/// The asks of a phase share evenly what the budget affords, and no answer may be longer than that.
#[tokio::test(start_paused = true)]
async fn answers_are_as_long_as_the_budget_affords() {
    for (micro_usd, first, second) in
        [(100_000, 1000, 1000), (3_000, 1000, 995), (1_200, 400, 395), (769, 256, 256)]
    {
        let troupe = dear(|_| say("yes"));
        let mut brief = brief(&["a/x"; 3], 2);
        brief.limits = budget(micro_usd);
        let debate = run(&troupe, brief).await.unwrap();
        assert_eq!(replies(&debate), ["yes"; 6], "{micro_usd}");
        // What is left over of a token after sharing may go either way.
        let near = |(got, want): (&u32, u32)| got.abs_diff(want) <= 1;
        assert!(outputs(&troupe).iter().zip([first, first, first, second]).all(near), "{micro_usd}");
    }
    // Tokens are a limit on questions, too: each is at most as many as its bytes and 16 a message.
    let troupe = Troupe::new(Arc::default(), |_| say("yes"));
    let mut brief = brief(&["a/x"; 2], 1);
    brief.limits = Limits { tokens: Some(2_000), output_tokens: 4_000, ..Limits::default() };
    run(&troupe, brief).await.unwrap();
    let most: Vec<u64> = troupe.calls.lock().unwrap().iter().map(|(_, call)| most_tokens(call)).collect();
    assert_eq!(most, [1_000, 1_000]);
}

/// A completion that counts no tokens is never taken for one that cost nothing.
#[tokio::test(start_paused = true)]
async fn an_answer_that_says_nothing_of_its_use_counts_for_the_worst() {
    let quiet = |_: &Call| {
        let mut act = say("yes");
        act.result.as_mut().unwrap().usage = Usage::default();
        act
    };
    let mut brief = brief(&["a/x"], 3);
    brief.limits = budget(1_500);
    let debate = run(&dear(quiet), brief.clone()).await.unwrap();
    assert_eq!(replies(&debate), ["yes", "yes", "(over_budget)"], "1000, then 500, then nothing is left");
    assert!(!debate.spent().usd_known);
    brief.limits = Limits { tokens: Some(1_500), output_tokens: 1000, ..Limits::default() };
    let debate = run(&dear(quiet), brief.clone()).await.unwrap();
    assert_eq!(replies(&debate), ["yes", "yes", "(over_budget)"]);
    // What is free costs nothing, whatever it counts.
    let debate = run(&Troupe::new(Arc::default(), quiet), brief).await.unwrap();
    assert_eq!((replies(&debate), debate.spent().usd_known), (vec!["yes".into(); 3], true));
}

/// An answer that broke may have been charged for, whole as it left its server: a budget is not exceeded by such answers.
#[tokio::test(start_paused = true)]
async fn a_garbled_answer_counts_for_the_worst() {
    let troupe = dear(|_| fault(FaultKind::Garbled));
    let mut brief = brief(&["a/x"], 1);
    brief.limits = Limits { retries: 1_000, ..budget(1_500) };
    let debate = run(&troupe, brief.clone()).await.unwrap();
    assert_eq!(replies(&debate), ["(over_budget)"]);
    assert_eq!(outputs(&troupe), [1000, 500], "and then nothing is left");
    let lost = debate.turns[0].attempts[0][0].fault.clone().unwrap();
    assert_eq!((lost.why, lost.usage.usd), (Absence::Unreachable, None));
    assert!(!debate.spent().usd_known, "the report does not claim to know it");

    // What never began cost nothing, and what is free costs nothing in any case.
    brief.limits.retries = 5;
    let debate = run(&dear(|_| fault(FaultKind::Unavailable)), brief.clone()).await.unwrap();
    assert_eq!((replies(&debate), debate.spent().usd_known), (vec!["(unreachable)".into()], true));
    let free = Troupe::new(Arc::default(), |_| fault(FaultKind::Garbled));
    let debate = run(&free, brief).await.unwrap();
    assert_eq!((replies(&debate), debate.spent().usd_known), (vec!["(unreachable)".into()], true));
}

/// What a call without counts was taken for holds after a resume, too.
#[tokio::test(start_paused = true)]
async fn a_resumed_debate_still_counts_the_worst() {
    for (garbled, absent) in [(false, "(malformed)"), (true, "(unreachable)")] {
        let troupe = dear(move |call| {
            let mut act = match (call.ask, call.attempt) {
                (1, _) if garbled => fault(FaultKind::Garbled),
                (1, _) => say(""),
                (_, 1) => fault(FaultKind::Key),
                _ => say("yes"),
            };
            if let Ok(completion) = &mut act.result {
                completion.usage = Usage::default();
            }
            act
        });
        let mut brief = brief(&["a/x"; 2], 1);
        brief.limits = Limits { repairs: 0, retries: 0, ..budget(1_300) };
        assert!(matches!(run(&troupe, brief).await, Err(EngineError::Stopped { .. })));
        let engine = troupe.engine(Settings::default());
        let debate = engine.resume(&find, "d1", None, &Watch::default(), &Stop::new()).await.unwrap();
        assert_eq!(replies(&debate), [absent, "yes"]);
        let outputs = outputs(&troupe);
        assert!(outputs.iter().all(|output| output.abs_diff(650) <= 1), "half each, also after: {outputs:?}");
        assert_eq!(outputs.len(), 3);
    }
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
    let troupe = dear(|call| if call.ask == 1 { hang() } else { say("yes") });
    let mut brief = brief(&["a/x"], 3);
    brief.limits = budget(1_260);
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
        assert!(debate.absences().all(|(_, _, _, detail)| detail == "the deadline of 1 s has passed"));
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

/// An errand on this machine is no call: no limit counts it, also not after a resume, and it still runs when all is spent.
#[tokio::test(start_paused = true)]
async fn an_errand_counts_for_no_limit() {
    let troupe = Troupe::new(Arc::default(), |_| say("yes"));
    let mut brief = brief(&["errand/look", "one/a", "one/b"], 2);
    brief.limits = Limits { calls: Some(3), tokens: Some(1_000_000), ..Limits::default() };
    let engine = troupe.engine(Settings::default());
    let debate = engine.open(&CIRCLE, brief, &Watch::default(), &Stop::new()).await.unwrap();
    let whys: Vec<String> = replies(&debate);
    assert_eq!(whys, ["yes", "yes", "yes", "yes", "yes", "(over_budget)"]);
    assert_eq!(debate.spent().calls, 3, "of five that left, two were errands");
}
