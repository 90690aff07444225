//! "A limit that is reached ends the debate in order, with what there is, and says which limit".

use agon_core::DebateLimits;

use super::*;

fn limited(limits: DebateLimits, table: ScriptedArena<'_>) -> Debate {
    let brief = Brief { limits, ..table.brief() };
    table.run_brief(brief)
}

/// "a limit sends the debate to the vote with the proposals there are; termination `budget`".
#[test]
fn a_limit_on_calls_sends_the_debate_to_the_vote() {
    // Propose 3, critique 6, each revision 3 and its check 1 (this table counts every errand), vote 3, judge 1.
    for (calls, before_vote, rounds) in [
        (12, ("propose", 1), 3),
        (13, ("critique", 2), 4),
        (15, ("critique", 2), 4),
        (17, ("compare", 3), 5),
        (20, ("compare", 3), 5),
        (21, ("compare", 4), 6),
        (25, ("compare", 5), 7),
    ] {
        let debate = limited(DebateLimits { calls: Some(calls), ..DebateLimits::default() }, ScriptedArena::default());
        let held = phases(&debate);
        let vote = held.iter().position(|(name, _)| name == "vote").unwrap();
        assert_eq!(held[vote - 1], (before_vote.0.to_owned(), before_vote.1), "{calls}: {held:?}");
        assert_eq!(held[vote..].len(), 2, "vote and judge, and no extended round");
        assert!(debate.spent().calls <= calls, "{} of {calls}", debate.spent().calls);
        let outcome = debate.outcome.unwrap();
        assert_eq!((outcome.termination, outcome.status), (Termination::Budget, Status::Complete));
        assert_eq!((outcome.fidelity, outcome.rounds_completed), (Fidelity::Degraded, rounds));
        assert_eq!(outcome.verdict["winner_seat"], "agent-1");
        let held = format!("after round {} there was only the vote and the judge", before_vote.1);
        assert!(warned(&outcome, &held), "critiques are a round: {:?}", outcome.warnings);
        assert!(warned(&outcome, &format!("the limit of {calls} calls")), "{:?}", outcome.warnings);
    }
    let enough = limited(DebateLimits { calls: Some(29), ..DebateLimits::default() }, ScriptedArena::default()).outcome.unwrap();
    assert_eq!((enough.termination, enough.fidelity), (Termination::Consensus, Fidelity::Full));
}

/// "status complete when there is a winner, else incomplete; no extended rounds then".
#[test]
fn a_limit_that_leaves_no_winner_is_incomplete() {
    let table = || ScriptedArena { votes: &|_| SPLIT.to_vec(), scores: &|_, _| NEAR.to_vec(), ..ScriptedArena::default() };
    let early = limited(DebateLimits { calls: Some(13), ..DebateLimits::default() }, table()).outcome.unwrap();
    assert_eq!((early.termination, early.status), (Termination::Budget, Status::Incomplete));
    assert_eq!((&early.verdict["winner"], &early.verdict["extended_rounds"]), (&Value::Null, &json!(0)));
    // All nine rounds fit, but no extended one.
    let late = limited(DebateLimits { calls: Some(30), ..DebateLimits::default() }, table()).outcome.unwrap();
    assert_eq!(
        (late.termination, late.status, late.rounds_completed),
        (Termination::Budget, Status::Incomplete, 8)
    );
    // One extended round fits: 29 and 8 more.
    let one = limited(DebateLimits { calls: Some(37), ..DebateLimits::default() }, table()).outcome.unwrap();
    assert_eq!((one.termination, &one.verdict["extended_rounds"]), (Termination::Budget, &json!(1)));
}

/// Time and money: "`kept_for_closing` 0.2, closing phases vote and judge".
#[test]
fn a_fifth_of_time_and_money_is_kept_for_the_vote_and_the_judge() {
    let closing = INFO.phases.iter().filter(|phase| phase.is_closing).map(|phase| phase.name);
    assert_eq!((INFO.closing_share, closing.collect::<Vec<_>>()), (0.2, vec!["vote", "judge"]));
    // Every answer costs a cent and takes 10 ms.
    for limits in [
        DebateLimits { usd: Some(0.15), ..DebateLimits::default() },
        DebateLimits { deadline_ms: Some(150), ..DebateLimits::default() },
    ] {
        let debate = limited(limits.clone(), ScriptedArena::default());
        let held = phases(&debate);
        assert_eq!(held.last().unwrap().0, "judge");
        assert!(held.iter().all(|(name, _)| name != "refine"), "{held:?}");
        let outcome = debate.outcome.unwrap();
        assert_eq!(
            (outcome.termination, outcome.status),
            (Termination::Budget, Status::Complete),
            "{limits:?}"
        );
    }
}

/// A vote on proposals that a limit left unmeasured is one that a limit cut.
#[test]
fn a_limit_that_leaves_no_time_to_measure_is_told() {
    let cut = |deadline_ms: u64| {
        limited(DebateLimits { deadline_ms: Some(deadline_ms), ..DebateLimits::default() }, ScriptedArena::default())
    };
    let short = cut(290);
    let held = phases(&short);
    assert_eq!(
        held[held.len() - 3..].iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["refine", "vote", "judge"]
    );
    let outcome = short.outcome.unwrap();
    assert_eq!((outcome.termination, outcome.fidelity), (Termination::Budget, Fidelity::Degraded));
    assert_eq!(cut(1000).outcome.unwrap().termination, Termination::Consensus);
}

/// A quorum that a limit took is the limit's doing.
#[test]
fn a_quorum_that_a_limit_took_is_budget() {
    use agon_core::play::play;
    use agon_core::{AbsenceReason, Reply};
    let end = |phase: &'static str, why: AbsenceReason| {
        let table = ScriptedArena::default();
        let brief = table.brief();
        let mut answer = |debate: &Debate, ask: &Ask| {
            let now = debate.last_phase().unwrap();
            if now.name == phase {
                return Reply::Absent { why, detail: "the limit of 9 calls is reached".into() };
            }
            let value = table.said(&brief, ask, &now.name, now.round);
            let (text, model) = (value.to_string(), ask.model.clone());
            Reply::Said {
                text,
                value: Some(value),
                model,
                usage: Default::default(),
                cut_off: false,
                shortened: None,
            }
        };
        let opened = vec![Debate::open(table.brief()).unwrap().1];
        let records = play(&Arena, opened, &mut answer, &mut |_| {}).unwrap();
        Debate::from_records(&records).unwrap().outcome.unwrap()
    };
    for phase in ["propose", "vote"] {
        assert_eq!(end(phase, AbsenceReason::OverBudget).termination, Termination::Budget, "{phase}");
        assert_eq!(end(phase, AbsenceReason::Refused).termination, Termination::QuorumLost, "{phase}");
        assert_eq!(end(phase, AbsenceReason::OverBudget).status, Status::Incomplete);
    }
    assert_eq!(end("judge", AbsenceReason::OverBudget).termination, Termination::Budget);
    assert_eq!(end("judge", AbsenceReason::OverBudget).status, Status::Incomplete);
    assert_eq!(end("judge", AbsenceReason::Refused).termination, Termination::Consensus);
    let cut = end("revise", AbsenceReason::OverBudget);
    assert_eq!((cut.termination, cut.rounds_completed), (Termination::Budget, 4), "1, 2, 7 and 8");
}

/// Plays a debate in which whoever does not sit runs errands, as the engine says of models on this machine.
fn with_errands(table: &ScriptedArena<'_>, brief: Brief) -> Debate {
    use agon_core::{Advance, Event, Reply, advance};
    let mut debate = Debate::open(brief.clone()).unwrap().0;
    loop {
        let (event, asks) = match advance(&Arena, &debate).unwrap() {
            Advance::Ask(event, asks) => (event, asks),
            Advance::Close(event) => {
                debate.push(event, 0).unwrap();
                return debate;
            }
        };
        debate.push(event, 0).unwrap();
        for ask in asks {
            let now = debate.last_phase().unwrap().clone();
            let value = table.said(&brief, &ask, &now.name, now.round);
            let (model, errand) = (ask.model.clone(), brief.seat(&ask.seat).is_none());
            let sent = Event::Sent { ask: ask.id, attempt: 1, model: model.clone(), worst_usd: None, errand };
            debate.push(sent, 0).unwrap();
            let (text, value, usage) = (value.to_string(), Some(value), Default::default());
            let reply = Reply::Said { text, value, model, usage, cut_off: false, shortened: None };
            debate.push(Event::Replied { ask: ask.id, reply }, 0).unwrap();
        }
    }
}

/// "calls on this machine that no limit counts": all nine rounds of three agents fit into exactly 25 calls, each extended round into 7.
#[test]
fn errands_count_for_no_limit_on_calls() {
    let table =
        ScriptedArena { set: &[], votes: &|_| SPLIT.to_vec(), scores: &|_, _| NEAR.to_vec(), ..ScriptedArena::default() };
    for (calls, termination, rounds, extended) in [
        (24, Termination::Budget, 7, 0),
        (25, Termination::Budget, 8, 0),
        (31, Termination::Budget, 8, 0),
        (32, Termination::Budget, 9, 1),
        (39, Termination::NoMajority, 10, 2),
    ] {
        let limits = DebateLimits { calls: Some(calls), ..DebateLimits::default() };
        let debate = with_errands(&table, Brief { limits, ..table.brief() });
        let outcome = debate.outcome.as_ref().unwrap();
        assert_eq!((outcome.termination, outcome.rounds_completed), (termination, rounds), "{calls}");
        assert_eq!(outcome.verdict["extended_rounds"], extended);
        assert!(debate.spent().calls <= calls);
    }
    let decided = ScriptedArena { set: &[], ..ScriptedArena::default() };
    let limits = DebateLimits { calls: Some(25), ..DebateLimits::default() };
    let outcome = with_errands(&decided, Brief { limits, ..decided.brief() }).outcome.unwrap();
    assert_eq!((outcome.termination, outcome.fidelity), (Termination::Consensus, Fidelity::Full));
}
