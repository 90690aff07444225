//! Absent voices and reached limits: the debate continues with what there is and says what is missing.

use agon_core::DebateLimits;

use super::*;

fn without(absent: &dyn Fn(&Ask, &str, u32) -> bool) -> Debate {
    ScriptedArena { absent, ..ScriptedArena::default() }.run()
}

/// "an absent author's proposal is not critiqued; an agent without proposal still critiques and votes".
#[test]
fn an_agent_without_a_proposal_still_critiques_and_votes() {
    let debate = without(&|ask, phase, _| phase == "propose" && ask.seat == "agent-3");
    let asked = |phase: &str, round: u32| debate.turn(phase, round).unwrap().asks.len();
    assert_eq!(asked("critique", 2), 4, "two proposals, of each two critiques");
    assert_eq!((asked("revise", 3), asked("refine", 6), asked("vote", 7)), (2, 2, 3));
    let third = label(&debate.brief, 3);
    let critiques = debate.turn("critique", 2).unwrap();
    assert!(critiques.asks.iter().all(|asked| asked.about.as_deref() != Some(third.as_str())));
    assert_eq!(critiques.asks.iter().filter(|asked| asked.seat == "agent-3").count(), 2);
    let outcome = debate.outcome.as_ref().unwrap();
    assert_eq!((outcome.status, outcome.fidelity), (Status::Complete, Fidelity::Degraded));
    let verdict = &outcome.verdict;
    assert_eq!(verdict["votes"].as_array().unwrap().len(), 3);
    assert_eq!(
        (
            verdict["proposals"].as_array().unwrap().len(),
            verdict["judge"]["scores"].as_array().unwrap().len()
        ),
        (2, 2)
    );
    assert_eq!(verdict["ratings"].as_array().unwrap().len(), 2);
    assert!(warned(outcome, &format!("without a proposal: Agent {third}")));
    assert_eq!(outcome.positions.len(), 2);
}

/// "Fewer than 2 proposals: `quorum_lost`, incomplete".
#[test]
fn fewer_than_two_proposals_lose_the_quorum() {
    for absent in [&["agent-1", "agent-2"][..], &["agent-1", "agent-2", "agent-3"]] {
        let debate = without(&|ask, phase, _| phase == "propose" && absent.contains(&ask.seat.as_str()));
        assert_eq!(phases(&debate), [("propose".to_owned(), 1)]);
        let outcome = debate.outcome.unwrap();
        assert_eq!((outcome.termination, outcome.status), (Termination::QuorumLost, Status::Incomplete));
        assert_eq!(
            (&outcome.verdict["consensus"]["share"], &outcome.verdict["winner"]),
            (&Value::Null, &Value::Null)
        );
        assert_eq!(outcome.verdict["ratings"], json!([]));
        assert_eq!(outcome.positions.len(), 3 - absent.len());
        assert_eq!(outcome.dissent.len(), outcome.positions.len());
        assert!(outcome.lesson.is_none());
    }
}

/// "Absent in a revision: the last proposal carries (`carried`)", and its author is asked again.
#[test]
fn an_absent_agents_last_proposal_is_carried_and_it_is_asked_again() {
    let debate = without(&|ask, phase, round| phase == "revise" && round == 4 && ask.seat == "agent-2");
    assert_eq!(debate.turn("revise", 5).unwrap().asks.len(), 3);
    let outcome = debate.outcome.as_ref().unwrap();
    let second = label(&debate.brief, 2);
    let rounds = outcome.verdict["rounds"].as_array().unwrap();
    let of = |round: u32| {
        let held = rounds.iter().find(|r| r["phase"] == "revise" && r["round"] == round).unwrap();
        held["positions"].as_array().unwrap().iter().find(|p| p["label"] == json!(second)).unwrap()["carried"]
            .clone()
    };
    assert_eq!((of(3), of(4), of(5)), (json!(false), json!(true), json!(false)));
    let check = &outcome.verdict["convergence"][1];
    assert_eq!(check["changed"].as_array().unwrap().len(), 2, "the two who spoke");

    let last = without(&|ask, phase, _| phase == "refine" && ask.seat == "agent-2").outcome.unwrap();
    let proposals = last.verdict["proposals"].as_array().unwrap();
    let carried: Vec<&Value> = proposals.iter().filter(|proposal| proposal["carried"] == true).collect();
    assert_eq!((carried.len(), &carried[0]["seat"], &carried[0]["round"]), (1, &json!("agent-2"), &json!(5)));
}

/// A round in which everybody is absent does not count, and the debate continues.
#[test]
fn a_round_in_which_nobody_speaks_does_not_count() {
    let debate = without(&|_, phase, round| phase == "revise" && round == 4);
    let outcome = debate.outcome.unwrap();
    assert_eq!((outcome.rounds_completed, outcome.termination), (7, Termination::Consensus));
    assert_eq!(outcome.verdict["convergence"][1]["stability_min"], Value::Null);
}

/// Absent critics and voters are named, and nothing is made up for them.
#[test]
fn absent_critics_and_voters_do_not_stop_the_debate() {
    let debate = without(&|ask, phase, _| ["critique", "vote"].contains(&phase) && ask.seat == "agent-1");
    let outcome = debate.outcome.as_ref().unwrap();
    assert_eq!(outcome.verdict["critiques"].as_array().unwrap().len(), 4);
    assert_eq!(outcome.verdict["critiques"][3]["id"], "Q4", "numbered without a gap");
    assert_eq!(outcome.verdict["votes"].as_array().unwrap().len(), 2);
    assert_eq!(debate.absences().filter(|(phase, ..)| phase.name == "vote").count(), 1);
    let nobody = without(&|_, phase, _| phase == "critique").outcome.unwrap();
    assert_eq!((nobody.verdict["critiques"].clone(), nobody.status), (json!([]), Status::Complete));
}

/// Without votes there is an ending of its own and no share.
#[test]
fn nobody_voting_loses_the_quorum() {
    let outcome = without(&|_, phase, _| phase == "vote").outcome.unwrap();
    assert_eq!((outcome.termination, outcome.status), (Termination::QuorumLost, Status::Incomplete));
    assert_eq!(
        (&outcome.verdict["consensus"]["share"], &outcome.verdict["votes"]),
        (&Value::Null, &json!([]))
    );
}

/// "the report lists every absence": who was there in each phase stands in `rounds`.
#[test]
fn the_verdict_says_who_was_present_in_every_phase() {
    let debate = without(&|ask, phase, _| phase == "critique" && ask.seat == "agent-1");
    let first = label(&debate.brief, 1);
    let rounds = debate.outcome.as_ref().unwrap().verdict["rounds"].clone();
    let critique =
        rounds.as_array().unwrap().iter().find(|round| round["phase"] == "critique").unwrap().clone();
    assert_eq!(
        (critique["present"].as_array().unwrap().len(), critique["absent"].as_array().unwrap().len()),
        (4, 2)
    );
    assert!(critique["absent"][0].as_str().unwrap().starts_with(&format!("{first} on ")));
    assert_eq!(rounds.as_array().unwrap().len(), debate.turns.len());
}

/// "cut off by the limit on output tokens" and "could not read everything" are told as in the other protocols.
#[test]
fn replies_that_were_cut_off_or_read_in_part_are_named() {
    let mut brief = ScriptedArena::default().brief();
    for (seat, name) in [("agent-1", "wordy"), ("agent-2", "forgetful")] {
        brief.seats.iter_mut().find(|other| other.id == seat).unwrap().id = name.to_owned();
    }
    let names = |seat: &str| match seat {
        "wordy" => "agent-1".to_owned(),
        "forgetful" => "agent-2".to_owned(),
        other => other.to_owned(),
    };
    let table = ScriptedArena::default();
    let original = table.brief();
    let answer = |ask: &Ask, phase: &str, round: u32| {
        let ask = Ask { seat: names(&ask.seat), ..ask.clone() };
        Some(table.said(&original, &ask, phase, round))
    };
    let outcome = testing::run(&Arena, brief, &answer).1.outcome.unwrap();
    assert!(warned(&outcome, "propose, round 1: wordy was cut off"));
    assert!(warned(&outcome, "forgetful could not read the 3 oldest of 9 entries"));
    assert_eq!(outcome.fidelity, Fidelity::Degraded);
}

fn limited(limits: DebateLimits, table: ScriptedArena<'_>) -> Debate {
    let brief = Brief { limits, ..table.brief() };
    table.run_brief(brief)
}

/// "a limit sends the debate to the vote with the proposals there are; termination `budget`".
#[test]
fn a_limit_on_calls_sends_the_debate_to_the_vote() {
    // Propose 3, critique 6, each revision 3 and its sorting 1, vote 3, judge 1.
    for (calls, before_vote, rounds) in [
        (12, ("propose", 1), 3),
        (13, ("critique", 2), 4),
        (15, ("critique", 2), 4),
        (17, ("compare", 3), 5),
        (20, ("compare", 3), 5),
        (21, ("compare", 4), 6),
        (25, ("compare", 5), 7),
    ] {
        let debate =
            limited(DebateLimits { calls: Some(calls), ..DebateLimits::default() }, ScriptedArena::default());
        let held = phases(&debate);
        let vote = held.iter().position(|(name, _)| name == "vote").unwrap();
        assert_eq!(held[vote - 1], (before_vote.0.to_owned(), before_vote.1), "{calls}: {held:?}");
        assert_eq!(held[vote..].len(), 2, "vote and judge, and no extended round");
        assert!(debate.spent().calls <= calls, "{} of {calls}", debate.spent().calls);
        let outcome = debate.outcome.unwrap();
        assert_eq!((outcome.termination, outcome.status), (Termination::Budget, Status::Complete));
        assert_eq!((outcome.fidelity, outcome.rounds_completed), (Fidelity::Degraded, rounds));
        assert_eq!(outcome.verdict["winner_seat"], "agent-1");
        assert!(
            warned(
                &outcome,
                &format!("the debate was cut short, because a limit was reached: the limit of {calls} calls")
            ),
            "{:?}",
            outcome.warnings
        );
    }
    let enough =
        limited(DebateLimits { calls: Some(29), ..DebateLimits::default() }, ScriptedArena::default())
            .outcome
            .unwrap();
    assert_eq!((enough.termination, enough.fidelity), (Termination::Consensus, Fidelity::Full));
}

/// "status complete when there is a winner, else incomplete; no extended rounds then".
#[test]
fn a_limit_that_leaves_no_winner_is_incomplete() {
    let table = || ScriptedArena {
        votes: &|_| SPLIT.to_vec(),
        scores: &|_, _| NEAR.to_vec(),
        ..ScriptedArena::default()
    };
    let early =
        limited(DebateLimits { calls: Some(13), ..DebateLimits::default() }, table()).outcome.unwrap();
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

/// A fifth of time and money is kept for the closing phases, vote and judge.
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

/// A vote on proposals that a limit left unmeasured ends as `budget`.
#[test]
fn a_limit_that_leaves_no_time_to_measure_is_reported() {
    let cut = |deadline_ms: u64| {
        limited(
            DebateLimits { deadline_ms: Some(deadline_ms), ..DebateLimits::default() },
            ScriptedArena::default(),
        )
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

/// A quorum that was lost because of a limit ends as `budget`.
#[test]
fn a_quorum_lost_to_a_limit_ends_as_budget() {
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

/// Plays a debate in which asks without a seat are errands, as the engine records them for models on this machine.
fn with_errands(table: &ScriptedArena<'_>, brief: Brief) -> Debate {
    use agon_core::{Event, NextEvent, Reply, advance};
    let mut debate = Debate::open(brief.clone()).unwrap().0;
    loop {
        let (event, asks) = match advance(&Arena, &debate).unwrap() {
            NextEvent::Ask(event, asks) => (event, asks),
            NextEvent::Close(event) => {
                debate.push(event, 0).unwrap();
                return debate;
            }
        };
        debate.push(event, 0).unwrap();
        for ask in asks {
            let now = debate.last_phase().unwrap().clone();
            let value = table.said(&brief, &ask, &now.name, now.round);
            let (model, errand) = (ask.model.clone(), brief.seat(&ask.seat).is_none());
            let sent = Event::Sent {
                ask: ask.id,
                attempt: 1,
                model: model.clone(),
                worst_usd: None,
                worst_tokens: 0,
                errand,
            };
            debate.push(sent, 0).unwrap();
            let (text, value, usage) = (value.to_string(), Some(value), Default::default());
            let reply = Reply::Said { text, value, model, usage, cut_off: false, shortened: None };
            debate.push(Event::Replied { ask: ask.id, reply }, 0).unwrap();
        }
    }
}

/// "calls on this machine that no limit counts": all nine rounds of three agents fit into exactly 29 calls, each extended round into 8.
#[test]
fn errands_do_not_count_as_calls() {
    let table = ScriptedArena {
        set: &[("embeddings", "embeddings/minilm")],
        votes: &|_| SPLIT.to_vec(),
        scores: &|_, _| NEAR.to_vec(),
        ..ScriptedArena::default()
    };
    for (calls, termination, rounds, extended) in [
        (27, Termination::Budget, 7, 0),
        (29, Termination::Budget, 8, 0),
        (36, Termination::Budget, 8, 0),
        (37, Termination::Budget, 11, 1),
        (45, Termination::NoMajority, 14, 2),
    ] {
        let limits = DebateLimits { calls: Some(calls), ..DebateLimits::default() };
        let debate = with_errands(&table, Brief { limits, ..table.brief() });
        let outcome = debate.outcome.as_ref().unwrap();
        assert_eq!((outcome.termination, outcome.rounds_completed), (termination, rounds), "{calls}");
        assert_eq!(outcome.verdict["extended_rounds"], extended);
        assert!(debate.spent().calls <= calls);
    }
    let decided = ScriptedArena { set: &[], ..ScriptedArena::default() };
    let limits = DebateLimits { calls: Some(29), ..DebateLimits::default() };
    let outcome = with_errands(&decided, Brief { limits, ..decided.brief() }).outcome.unwrap();
    assert_eq!((outcome.termination, outcome.fidelity), (Termination::Consensus, Fidelity::Full));
}
