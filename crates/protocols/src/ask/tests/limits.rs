//! "resume, budget, verify, receipts come for free": how limits end the ladder. Each call of these tests costs $0.01.

use super::*;

fn limited(limits: DebateLimits) -> Debate {
    let mut brief = brief(&["a/x", "b/y"], &[]);
    brief.limits = limits;
    play_debate(&Ask, brief, &|ask, phase, round| SCRIPT.reply(ask, phase, round))
}

/// The warning has the figure that the user set.
#[test]
fn a_limit_ends_the_ladder_before_a_step_that_does_not_fit() {
    for (calls, last_phase, status, decided_by, warning) in [
        (
            3,
            "answer",
            Status::Incomplete,
            Value::Null,
            "the two answers were not debated, because a limit was reached: the limit of 3 calls",
        ),
        (7, "deep/synthesis", Status::Complete, json!("debate"), "a limit was reached: the limit of 7 calls"),
        (20, "panel/summary", Status::Complete, json!("panel"), ""),
    ] {
        let debate = limited(DebateLimits { calls: Some(calls), ..DebateLimits::default() });
        let outcome = outcome(&debate);
        assert_eq!(
            (phases(&debate).last().unwrap().as_str(), outcome.status),
            (last_phase, status),
            "{calls}"
        );
        assert_eq!(outcome.verdict["decided_by"], decided_by, "{calls}");
        assert!(debate.spent().calls <= calls, "{} of {calls}", debate.spent().calls);
        assert!(
            warning.is_empty() || outcome.warnings.contains(&warning.to_owned()),
            "{:?}",
            outcome.warnings
        );
        assert_eq!(outcome.fidelity == Fidelity::Full, warning.is_empty());
    }
}

#[test]
fn there_is_no_panel_if_the_debate_used_up_the_budget() {
    let debate = limited(DebateLimits { usd: Some(0.08), ..DebateLimits::default() });
    let outcome = outcome(&debate);
    assert_eq!((outcome.termination, outcome.fidelity), (Termination::Budget, Fidelity::Degraded));
    for warning in [
        "no panel judged what still divides, because a limit was reached: the budget of $0.08",
        "a limit was reached: the budget of $0.08",
    ] {
        assert!(outcome.warnings.contains(&warning.to_owned()), "{:?}", outcome.warnings);
    }
    let generous = limited(DebateLimits { usd: Some(1.0), ..DebateLimits::default() });
    assert_eq!(generous.outcome.unwrap().verdict["decided_by"], "panel");
}

/// "keep a share for what follows": for the debate's synthesis and for the panel.
#[test]
fn a_share_of_every_limit_is_kept_for_the_later_steps() {
    assert!((Ask.info().closing_share - 0.32).abs() < 1e-9);
    let mut debate = SCRIPT.run(&[]);
    debate.brief.limits =
        DebateLimits { usd: Some(1.02), calls: Some(30), deadline_ms: Some(1000), ..DebateLimits::default() };
    let part = parts::deep_part(&debate, &FirstAnswers::read(&debate).unwrap());
    // The pair used $0.02 and 2 calls. 15% of the rest is kept for the panel, and 5 calls: one for each of its seats and one spare.
    assert!((part.brief.limits.usd.unwrap() - 0.85).abs() < 1e-9);
    assert_eq!((part.brief.limits.calls, part.brief.limits.deadline_ms), (Some(23), Some(850)));
    assert!((part.spent().usd - 0.13).abs() < 1e-9, "the cost of the pair belongs to the first step");
}
