//! A budget over many debates is never exceeded. What does not fit any more is continued by a later run with a higher one.

use std::sync::Arc;

use agon_core::{Brief, Debate};
use agon_engine::*;
use futures_util::future::join_all;
use proptest::prelude::*;

use crate::budget_limits::{paused_runtime, random_usage};
use crate::rounds_protocol::*;
use crate::scripted_models::*;

const DEBATES: usize = 4;

fn briefs() -> impl Iterator<Item = Brief> {
    (0..DEBATES).map(|n| Brief { id: format!("d{n}"), seed: n as u64, ..brief(&["a/x", "b/y", "c/z"], 2) })
}

/// Opens or continues all debates at once.
async fn run_all(models: &Arc<ScriptedModels>, limits: SharedLimits) -> Vec<Result<Debate, EngineError>> {
    let budget = SharedBudget::new(limits, used(models));
    let engine = models.engine(EngineSettings::default()).with_shared_budget(budget.clone());
    let (watch, stop) = (DebateWatch::default(), StopSignal::new());
    let run = async |brief: Brief| match models.store.log_of(&brief.id).is_empty() {
        true => engine.open(&ROUNDS, brief, &watch, &stop).await,
        false => engine.resume(&find_protocol, &brief.id, None, &watch, &stop).await,
    };
    let ended = join_all(briefs().map(run)).await;
    let (counted, logged) = (budget.used(), used(models));
    assert_eq!(
        (counted.calls, counted.tokens),
        (logged.calls, logged.tokens),
        "the budget counts what the logs say"
    );
    assert!((counted.usd - logged.usd).abs() < 1e-6, "{counted:?} {logged:?}");
    ended
}

/// What all debates have used by their logs.
fn used(models: &ScriptedModels) -> BudgetUse {
    let logs = briefs().map(|brief| models.store.log_of(&brief.id)).filter(|log| !log.is_empty());
    let used = logs.map(|log| BudgetUse::of_debate(&Debate::from_records(&log).unwrap()));
    used.fold(BudgetUse::default(), BudgetUse::plus)
}

fn is_used_up(ended: &Result<Debate, EngineError>) -> bool {
    matches!(ended, Err(EngineError::UsedUp { .. }))
}

#[test]
fn the_debates_that_do_not_fit_are_continued_with_a_higher_budget() {
    let models = ScriptedModels::new(|_| answer(r#"{"answer": "yes"}"#));
    paused_runtime().block_on(async {
        let calls = |calls| SharedLimits { calls: Some(calls), ..SharedLimits::default() };
        // Four debates of six calls each.
        let first = run_all(&models, calls(20)).await;
        assert_eq!(models.called().len(), 20);
        let why =
            first.iter().filter_map(|ended| ended.as_ref().err()).map(ToString::to_string).next().unwrap();
        assert!(why.contains("the limit of 20 calls for all debates is reached"), "{why}");
        let again = run_all(&models, calls(20)).await;
        assert!(again.iter().any(is_used_up) && models.called().len() == 20, "nothing more is called");
        let last = run_all(&models, calls(24)).await;
        assert!(last.iter().all(Result::is_ok));
        assert_eq!(models.called().len(), 24, "no answer is asked for twice");
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_shared_limit_is_exceeded_whatever_calls_use(seed in 0_u64..1_000_000, tokens in 1_000_u64..200_000, usd in 0.0001..0.2_f64, calls in 1_u64..40) {
        let models = ScriptedModels::new(random_usage(seed));
        *models.price.lock().unwrap() =
            ModelPrice::PerMillion { input: 1.0, cached_input: 0.1, cache_write: 1.25, output: 4.0 };
        paused_runtime().block_on(async {
            let limits = SharedLimits { usd: Some(usd), calls: Some(calls), tokens: Some(tokens) };
            let ended = run_all(&models, limits).await;
            let used_by_logs = used(&models);
            assert!(used_by_logs.calls <= calls && used_by_logs.tokens <= tokens, "{used_by_logs:?}");
            assert!(used_by_logs.usd <= usd + 1e-9, "{used_by_logs:?}");
            assert!(ended.iter().all(|ended| ended.is_ok() || is_used_up(ended)), "{ended:?}");
            let more = run_all(&models, SharedLimits::default()).await;
            assert!(more.iter().all(Result::is_ok), "{more:?}");
        });
    }
}
