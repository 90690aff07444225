//! "Debate Metrics", with real values.

use super::templates::{file, keys, rich};
use super::*;
use crate::panel::metrics::record;

/// "Debate Metrics: Round-by-Round Tracking", with real values.
#[test]
fn template_of_the_debate_metrics() {
    let debate = rich(&[&[2.0, 2.5, 3.0], &[4.0], &[4.5]]);
    let saved = file(&debate, "debate_metrics");
    let metrics = &saved["debate_metrics"];
    assert_eq!(metrics, &debate.outcome.as_ref().unwrap().verdict["debate_metrics"]);
    assert_eq!(keys(metrics), ["feature", "start_time", "end_time", "rounds", "position_evolution", "cost"]);
    assert_eq!(
        (&metrics["feature"], &metrics["start_time"]),
        (&json!("queue-plan"), &json!("2026-01-31T23:59:58Z"))
    );
    assert_eq!(keys(&metrics["rounds"]), ["round_1", "round_2", "round_3"]);
    let round = &metrics["rounds"]["round_1"];
    assert_eq!(round, &json!({"scores": [2.0, 4.0, 4.5], "range": 2.5, "consensus_check": false}));
    let round = &metrics["rounds"]["round_2"];
    assert_eq!((&round["scores"], &round["range"]), (&json!([2.5, 4.0, 4.5]), &json!(2.0)));
    assert_eq!(round["consensus_check"], false);
    assert_eq!(
        round["score_changes"],
        json!([{"judge": "judge-1", "delta": 0.5, "reason": "judge-2 is right about line 3"}])
    );
    let round = &metrics["rounds"]["round_3"];
    assert_eq!((&round["range"], &round["final_verdict"]), (&json!(1.5), &json!("majority")));
    assert_eq!(round["score_changes"][0]["reason"], "persuaded by judge-2, on load: the queue is needed");
    // Three agreements in round 2; three concessions in round 3; three entries still open.
    assert_eq!(
        metrics["position_evolution"],
        json!({"agreements_formed": 6, "disputes_resolved": 3, "disputes_remaining": 3})
    );
    assert_eq!(metrics["cost"], json!({"judge_calls": 9, "estimated_usd": 0.09}));
}

/// The clock of the metrics is the debate's: `start_time` and as long as it ran.
#[test]
fn the_end_is_as_much_later_as_the_debate_ran() {
    let mut debate = rich(&[&[2.0], &[4.0], &[4.5]]);
    debate.at_ms = 3_200;
    debate.outcome = None;
    let log = Log::read(&debate).unwrap();
    let metrics = record(&log, &verdict::Verdict::NoMajority);
    assert_eq!(metrics["end_time"], "2026-02-01T00:00:01Z");
}

/// A price that is not known is not made up.
#[test]
fn an_unknown_price_is_null() {
    let mut debate = rich(&[&[2.0], &[4.0], &[4.5]]);
    if let Some(Some(agon_core::Reply::Said { usage, .. })) = debate.turns[0].replies.first_mut() {
        usage.usd = None;
    }
    let metrics = record(&Log::read(&debate).unwrap(), &verdict::Verdict::NoMajority);
    assert!(metrics["cost"]["estimated_usd"].is_null());
    assert_eq!(metrics["cost"]["judge_calls"], 9);
}
