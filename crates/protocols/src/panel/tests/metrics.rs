//! "Debate Metrics", with real values.

use super::templates::{file, keys, rich};
use agon_core::{AbsenceReason, Event, Reply};

use super::*;
use crate::panel::consensus::PanelDecision;
use crate::panel::verdict::metrics;

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
        json!({"agreements_formed": 3, "disputes_resolved": 3, "disputes_remaining": 3})
    );
    assert_eq!(metrics["cost"], json!({"judge_calls": 9, "estimated_usd": 0.09}));
}

/// The clock of the metrics is the debate's: `start_time` and as long as it ran.
#[test]
fn the_end_is_as_much_later_as_the_debate_ran() {
    let mut debate = rich(&[&[2.0], &[4.0], &[4.5]]);
    debate.at_ms = 3_200;
    debate.outcome = None;
    let log = PanelLog::read(&debate).unwrap();
    assert_eq!(metrics(&log, &PanelDecision::NoMajority).end_time, "2026-02-01T00:00:01Z");
}

/// "judge_calls": what was really called. An answer that had to be repaired is two calls, an ask that did not fit the budget none, and
/// a call that an interruption lost is counted once it is repeated.
#[test]
fn judge_calls_are_the_calls_that_came_to_something() {
    let usage = agon_core::CallUsage::default();
    let (mut debate, _) = Debate::open(brief(MODELS, &[])).unwrap();
    let agon_core::NextEvent::Ask(asked, asks) = agon_core::advance(&Panel, &debate).unwrap() else { panic!() };
    let sent = |place: usize, attempt: u32| Event::Sent {
        ask: asks[place].id,
        attempt,
        model: asks[place].model.clone(),
        worst_usd: None,
        errand: false,
    };
    let said = |place: usize| {
        let (value, model) = (statement(4.0), asks[place].model.clone());
        let text = value.to_string();
        let reply = Reply::Said { text, value: Some(value), model, usage, cut_off: false, shortened: None };
        Event::Replied { ask: asks[place].id, reply }
    };
    let fault = |place: usize, attempt: u32| Event::Attempted {
        ask: asks[place].id,
        attempt,
        why: AbsenceReason::Malformed,
        detail: "no JSON".into(),
        text: None,
        usage,
    };
    let absent = |place: usize, why: AbsenceReason| Event::Replied {
        ask: asks[place].id,
        reply: Reply::Absent { why, detail: "test".into() },
    };
    let calls = |debate: &Debate| {
        metrics(&PanelLog::read(debate).unwrap(), &PanelDecision::Consensus).cost.judge_calls
    };
    for (event, counted) in [
        (asked.clone(), 0),
        (sent(0, 1), 0),
        (fault(0, 1), 1),
        (sent(0, 2), 1),
        (said(0), 2),
        (absent(1, AbsenceReason::OverBudget), 2),
        (sent(2, 1), 2),
        (sent(2, 2), 2),
        (said(2), 3),
    ] {
        let what = format!("{event:?}");
        debate.push(event, 0).unwrap();
        assert_eq!(calls(&debate), counted, "after {what}");
    }

    // An ask that stays malformed made its calls, too.
    let (mut debate, _) = Debate::open(brief(MODELS, &[])).unwrap();
    for event in [asked, sent(0, 1), fault(0, 1), sent(0, 2), fault(0, 2), absent(0, AbsenceReason::Malformed)] {
        debate.push(event, 0).unwrap();
    }
    assert_eq!(calls(&debate), 2);

    // What a branch took over has no attempts, but each answer was a call.
    let mut debate = rich(&[&[2.0], &[4.0], &[4.5]]);
    debate.turns[0].inherited = true;
    debate.turns[0].attempts.iter_mut().for_each(Vec::clear);
    assert_eq!(calls(&debate), 9);
}

/// A price that is not known is not made up.
#[test]
fn an_unknown_price_is_null() {
    let mut debate = rich(&[&[2.0], &[4.0], &[4.5]]);
    if let Some(Some(agon_core::Reply::Said { usage, .. })) = debate.turns[0].replies.first_mut() {
        usage.usd = None;
    }
    let cost = metrics(&PanelLog::read(&debate).unwrap(), &PanelDecision::NoMajority).cost;
    assert_eq!((cost.estimated_usd, cost.judge_calls), (None, 9));
}
