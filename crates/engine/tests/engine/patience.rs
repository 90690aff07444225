//! An ask with a time of its own (`COUNCIL_R2_TIMEOUT`): all its attempts together have no more.

use std::sync::Arc;

use serde_json::json;
use tokio::time::Instant;

use crate::calls::acts;
use crate::stage::*;

/// How a debate of one ask ends that may take 5 s, after how many milliseconds, by how many calls.
async fn asked(models: &str, script: &'static [&'static str], within_ms: u64) -> (String, u128, usize) {
    held(models, script, within_ms, false).await
}

async fn held(
    models: &str,
    script: &'static [&'static str],
    within_ms: u64,
    firm: bool,
) -> (String, u128, usize) {
    let troupe = Troupe::new(Arc::default(), acts(script));
    let mut brief = brief(&[models], 1);
    brief.options.insert("within_ms".into(), json!(within_ms));
    brief.options.insert("firm".into(), json!(firm));
    let began = Instant::now();
    let debate = run(&troupe, brief).await.unwrap();
    (replies(&debate).join(" "), began.elapsed().as_millis(), troupe.called().len())
}

#[tokio::test(start_paused = true)]
async fn an_ask_has_no_more_time_than_its_own() {
    assert_eq!(asked("a/x", &["yes"], 5_000).await, ("yes".into(), 20, 1));
    assert_eq!(asked("a/x", &["hang"], 5_000).await, ("(timed_out)".into(), 5_000, 1));
    assert_eq!(
        asked("a/x", &["hang"], 300_000).await,
        ("(timed_out)".into(), 300_000, 1),
        "over the limit of 120 s"
    );
}

#[tokio::test(start_paused = true)]
async fn retries_and_the_rest_of_a_chain_are_within_it() {
    let (said, took_ms, calls) = asked("a/x|b/y", &["hang"], 5_000).await;
    assert_eq!(
        (said.as_str(), took_ms, calls),
        ("(timed_out)", 5_000, 1),
        "nobody asks b when the time is over"
    );
    let (said, took_ms, calls) = asked("a/x", &["down", "down", "hang"], 5_000).await;
    assert_eq!(
        (said.as_str(), took_ms),
        ("(timed_out)", 5_000),
        "the third call has what the first two left"
    );
    assert_eq!(calls, 3);
    let (said, took_ms, _) = asked("a/x", &["down"], 100).await;
    assert_eq!(said, "(timed_out)");
    assert!(took_ms < 100, "a pause that would outlast the time is not begun: {took_ms}");
}

/// A person, or a program with a time of its own, is held to another one only where somebody set it.
#[tokio::test(start_paused = true)]
async fn a_model_with_a_time_of_its_own_is_hurried_only_firmly() {
    assert_eq!(held("slow/x", &["hang"], 5_000, false).await, ("(timed_out)".into(), 600_000, 1));
    assert_eq!(held("slow/x", &["hang"], 5_000, true).await, ("(timed_out)".into(), 5_000, 1));
    assert_eq!(held("slow/x", &["hang"], 700_000, true).await, ("(timed_out)".into(), 600_000, 1));
}
