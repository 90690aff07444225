//! Asks with a time limit of their own, which all their attempts share.

use serde_json::json;
use tokio::time::Instant;

use crate::rounds_protocol::*;
use crate::scripted_models::*;

/// Runs a debate with one ask. Returns its reply, the milliseconds it took, and the number of calls.
async fn ask(chain: &str, steps: &'static [&'static str], within_ms: u64) -> (String, u128, usize) {
    ask_firmly(chain, steps, within_ms, false).await
}

/// The same. If `firm`, the limit also holds for models that set their own time.
async fn ask_firmly(
    chain: &str,
    steps: &'static [&'static str],
    within_ms: u64,
    firm: bool,
) -> (String, u128, usize) {
    let models = ScriptedModels::new(by_attempt(steps));
    let mut brief = brief(&[chain], 1);
    brief.options.insert("within_ms".into(), json!(within_ms));
    brief.options.insert("firm".into(), json!(firm));
    let began = Instant::now();
    let debate = run(&models, brief).await.unwrap();
    (replies(&debate).join(" "), began.elapsed().as_millis(), models.called().len())
}

#[tokio::test(start_paused = true)]
async fn an_ask_ends_at_its_time_limit() {
    assert_eq!(ask("a/x", &["yes"], 5_000).await, ("yes".into(), 20, 1));
    assert_eq!(ask("a/x", &["hang"], 5_000).await, ("(timed_out)".into(), 5_000, 1));
    assert_eq!(
        ask("a/x", &["hang"], 300_000).await,
        ("(timed_out)".into(), 300_000, 1),
        "it replaces the default of 120 s"
    );
}

#[tokio::test(start_paused = true)]
async fn retries_and_fallbacks_share_the_time_limit_of_the_ask() {
    let (reply, took_ms, calls) = ask("a/x|b/y", &["hang"], 5_000).await;
    assert_eq!(
        (reply.as_str(), took_ms, calls),
        ("(timed_out)", 5_000, 1),
        "b is not called after the limit"
    );
    let (reply, took_ms, calls) = ask("a/x", &["down", "down", "hang"], 5_000).await;
    assert_eq!((reply.as_str(), took_ms), ("(timed_out)", 5_000), "the third call has the rest of the time");
    assert_eq!(calls, 3);
    let (reply, took_ms, _) = ask("a/x", &["down"], 100).await;
    assert_eq!(reply, "(timed_out)");
    assert!(took_ms < 100, "a delay that would exceed the limit is not started: {took_ms}");
}

#[tokio::test(start_paused = true)]
async fn only_a_firm_limit_holds_for_a_model_with_its_own_timeout() {
    assert_eq!(ask_firmly("slow/x", &["hang"], 5_000, false).await, ("(timed_out)".into(), 600_000, 1));
    assert_eq!(ask_firmly("slow/x", &["hang"], 5_000, true).await, ("(timed_out)".into(), 5_000, 1));
    assert_eq!(ask_firmly("slow/x", &["hang"], 700_000, true).await, ("(timed_out)".into(), 600_000, 1));
}
