//! "resume, budget, verify, receipts come for free": what limits make of the ladder. Each call of the test costs 0.01.

use super::*;

fn limited(limits: DebateLimits) -> Debate {
    let mut brief = brief(&["a/x", "b/y"], &[]);
    brief.limits = limits;
    testing::run(&Ask, brief, &|ask, phase, round| TWO_AND_EIGHT.say(ask, phase, round)).1
}

/// A limit ends the ladder at the step that it leaves no room for, with a sentence in the figures that the person has set.
#[test]
fn a_limit_ends_the_ladder_where_no_step_fits_any_more() {
    for (calls, last, status, by, told) in [
        (
            3,
            "answer",
            Status::Incomplete,
            Value::Null,
            "the two answers were not debated, because a limit was reached: the limit of 3 calls",
        ),
        (7, "deep/synthesis", Status::Complete, json!("debate"), "a limit was reached: the limit of 7 calls"),
        (20, "panel/position", Status::Complete, json!("panel"), ""),
    ] {
        let debate = limited(DebateLimits { calls: Some(calls), ..DebateLimits::default() });
        let outcome = outcome(&debate);
        assert_eq!((phases(&debate).last().unwrap().as_str(), outcome.status), (last, status), "{calls}");
        assert_eq!(outcome.verdict["decided_by"], by, "{calls}");
        assert!(debate.spent().calls <= calls, "{} of {calls}", debate.spent().calls);
        assert!(told.is_empty() || outcome.warnings.contains(&told.to_owned()), "{:?}", outcome.warnings);
        assert_eq!(outcome.fidelity == Fidelity::Full, told.is_empty());
    }
}

#[test]
fn a_budget_that_the_debate_used_up_leaves_no_panel() {
    let debate = limited(DebateLimits { usd: Some(0.08), ..DebateLimits::default() });
    let outcome = outcome(&debate);
    assert_eq!((outcome.termination, outcome.fidelity), (Termination::Budget, Fidelity::Degraded));
    for told in [
        "what still divides was put before no panel, because a limit was reached: the budget of $0.08",
        "a limit was reached: the budget of $0.08",
    ] {
        assert!(outcome.warnings.contains(&told.to_owned()), "{:?}", outcome.warnings);
    }
    let dear = limited(DebateLimits { usd: Some(1.0), ..DebateLimits::default() });
    assert_eq!(dear.outcome.unwrap().verdict["decided_by"], "panel");
}

/// "keep a share for what follows": of time and money what the debate's synthesis and the panel need.
#[test]
fn a_share_of_every_limit_is_kept_for_what_follows() {
    assert!((Ask.info().closing_share - 0.32).abs() < 1e-9);
    let mut debate = TWO_AND_EIGHT.climb(&[]);
    debate.brief.limits =
        DebateLimits { usd: Some(1.02), calls: Some(30), deadline_ms: Some(1000), ..DebateLimits::default() };
    let part = parts::deep(&debate, &FirstAnswers::read(&debate).unwrap());
    // Of 1.02 the pair took 0.02, of 30 calls 2; three judges and a call to spare are kept.
    assert!((part.brief.limits.usd.unwrap() - 0.85).abs() < 1e-9);
    assert_eq!((part.brief.limits.calls, part.brief.limits.deadline_ms), (Some(24), Some(850)));
    assert!((part.spent().usd - 0.13).abs() < 1e-9, "the pair's calls are the first step's");
}
