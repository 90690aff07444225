//! Who held what after each round, and what a change cites.

use agon_core::{PositionGrouping, PositionHistory, RoundPositions};

use super::*;

fn stands(debate: &Debate) -> PositionHistory {
    Arena.view(debate).unwrap().positions
}

fn held(round: &RoundPositions) -> Vec<&str> {
    round.stands.iter().map(|stand| stand.position.as_str()).collect()
}

/// "Positions: proposals' one-sentence positions as texts, votes as `ballots`".
#[test]
fn agents_hold_their_own_proposals_and_then_what_they_vote_for() {
    let debate = ScriptedArena { votes: &|_| vec![1, 1, 0], ..ScriptedArena::default() }.run();
    let history = stands(&debate);
    assert!(history.are_texts);
    let rounds: Vec<(u32, bool)> = history.rounds.iter().map(|round| (round.round, round.ballots)).collect();
    assert_eq!(rounds, [(1, false), (3, false), (4, false), (5, false), (6, false), (7, true)]);
    for round in &history.rounds[..5] {
        assert_eq!(held(round), POSITIONS[..3]);
        assert_eq!(round.is_sorted(), round.round > 1, "nobody sorted round 1");
        assert_eq!(round.ruling, None);
    }
    assert_eq!(held(&history.rounds[5]), [POSITIONS[0]; 2], "an abstention is no position");
    assert_eq!(
        (history.rounds[5].ruling.as_deref(), history.decided.name()),
        (Some(POSITIONS[0]), Some(POSITIONS[0]))
    );
    assert_eq!(history.grouping(), PositionGrouping::Declared);
    let flips = history.flips();
    assert_eq!(flips.len(), 1, "the wording of a proposal changes in every round, its position does not");
    assert_eq!((flips[0].round, flips[0].seat.as_str(), flips[0].to.as_str()), (7, "agent-2", POSITIONS[0]));
    let votes = Arena.view(&debate).unwrap().votes;
    let votes: Vec<&str> = votes.iter().map(|vote| vote.vote.as_str()).collect();
    let first = label(&debate.brief, 1);
    assert_eq!(votes, [first.as_str(), first.as_str(), "abstain"]);
}

/// Nobody sorted: unknown, not different.
#[test]
fn without_a_clerk_it_is_unknown_who_agrees() {
    let table = |equal: bool| ScriptedArena {
        absent: &|ask, _, _| ask.seat == "clerk",
        with: if equal {
            &|_, phase, _, said| {
                if ["propose", "revise", "refine"].contains(&phase) {
                    said["position"] = json!("Use one queue.");
                    said["proposal"] = json!("One queue for all.");
                }
            }
        } else {
            &|_, _, _, _| {}
        },
        ..ScriptedArena::default()
    };
    let history = stands(&table(false).run());
    assert!(history.rounds.iter().filter(|round| !round.ballots).all(|round| !round.is_sorted()));
    let equal = table(true).run();
    assert!(stands(&equal).rounds.iter().all(RoundPositions::is_sorted), "equal texts need no declaration");
    let outcome = equal.outcome.unwrap();
    assert_eq!(outcome.verdict["tally"].as_array().unwrap().len(), 1, "nor do ballots on them");
    assert_eq!(
        (outcome.termination, &outcome.verdict["convergence"][0]["converged"]),
        (Termination::Consensus, &json!(false))
    );
}

/// An agent whose position in one sentence stays the same has not changed its mind, even if the clerk now counts it as another position.
#[test]
fn who_still_says_the_same_has_not_changed_its_mind() {
    let debate = ScriptedArena {
        with: &|ask, phase, round, said| {
            if ["revise", "refine"].contains(&phase) && ask.seat == "agent-2" && round >= 4 {
                said["proposal"] = json!(format!("{} First by hand.", POSITIONS[1]));
            }
            if phase == "compare" && round >= 4 {
                *said = sorted(ask, &|one, other| {
                    let is_of = |text: &str, place: usize| text.starts_with(POSITIONS[place]);
                    match (is_of(one, 0) || is_of(one, 1)) && (is_of(other, 0) || is_of(other, 1)) {
                        true => ("same", 0.9),
                        false => ("conflict", 0.1),
                    }
                });
            }
        },
        ..ScriptedArena::default()
    }
    .run();
    let history = stands(&debate);
    let of = |number: u32| history.rounds.iter().find(|round| round.round == number).unwrap();
    let (third, fourth) = (of(3).of("agent-2").unwrap(), of(4).of("agent-2").unwrap());
    assert_eq!((&third.position, &third.words), (&fourth.position, &fourth.words));
    assert_eq!(
        (third.is_unsorted, fourth.is_unsorted),
        (false, true),
        "the clerk counts it with another now"
    );
    assert!(history.flips().iter().all(|flip| flip.round != 4));
}

/// "proposals that are the same relate alike to every other one": where the clerk says otherwise, nobody is known to hold the same.
#[test]
fn a_clerk_that_contradicts_itself_sorts_nothing() {
    let debate = ScriptedArena {
        with: &|ask, phase, _, said| {
            if phase == "compare" {
                let is_second = |text: &str| text.starts_with(POSITIONS[1]);
                *said = sorted(ask, &|one, other| match is_second(one) || is_second(other) {
                    true => ("same", 0.9),
                    false => ("conflict", 0.1),
                });
            }
        },
        ..ScriptedArena::default()
    }
    .run();
    for round in stands(&debate).rounds.iter().filter(|round| !round.ballots) {
        assert!(round.stands.iter().all(|stand| stand.is_unsorted), "{round:?}");
        assert_eq!(held(round), POSITIONS[..3]);
    }
}

/// The clerk's `same` makes one position of two; who joins another's position has moved. The change is evidenced by words that were
/// shown and that its author names as the cause; that it answers critiques does not make it so.
#[test]
fn an_agent_that_joins_another_takes_its_name() {
    let first = name(&ScriptedArena::default().brief(), 1);
    const MISQUOTED: &str = " with words that do not occur there";
    for (id, quote, cited, unverified) in [
        ("", "", None, None),
        (first.as_str(), "into one QUEUE", Some(format!("{first}: \"into one QUEUE\"")), None),
        (first.as_str(), "into two queues", None, Some(format!("{first}{MISQUOTED}"))),
        ("Q99", "into one queue", None, Some("[Q99], which it was not shown".to_owned())),
        ("mine", "leaves the costs open", Some("]: \"leaves the costs open\"".to_owned()), None),
    ] {
        let debate = ScriptedArena {
            with: &|ask, phase, round, said| {
                if ["revise", "refine"].contains(&phase) && ask.seat == "agent-2" && round >= 4 {
                    said["position"] = json!("All jobs go into a single queue.");
                    let id = if id == "mine" { own(ask)[0].clone() } else { id.to_owned() };
                    let cause = json!([{"id": id, "quote": quote}]);
                    said["changed_because"] = if id.is_empty() { json!([]) } else { cause };
                }
                if phase == "compare" {
                    let is_queue = |text: &str| text.contains("queue");
                    *said = sorted(ask, &|one, other| match is_queue(one) && is_queue(other) {
                        true => ("same", 0.95),
                        false => ("conflict", 0.1),
                    });
                }
            },
            ..ScriptedArena::default()
        }
        .run();
        let history = stands(&debate);
        let fourth = history.rounds.iter().find(|round| round.round == 4).unwrap();
        let joined = POSITIONS[0];
        assert_eq!(held(fourth), [joined, joined, POSITIONS[2]]);
        let words = fourth.of("agent-2").unwrap().words.as_deref();
        assert_eq!(words, Some("All jobs go into a single queue."), "its own words stay its own");
        assert_eq!(fourth.ruling.as_deref(), Some(joined));
        let flips = history.flips();
        let flip = &flips[0];
        assert_eq!(flips.iter().filter(|flip| flip.round < 7).count(), 1);
        assert_eq!((flip.round, flip.from.as_str(), flip.to.as_str()), (4, POSITIONS[1], joined));
        assert!(flip.toward_majority.is_some(), "both rounds are sorted");
        assert_eq!(flip.evidenced, cited.is_some(), "{id} {quote}");
        assert!(flip.cited.iter().all(|one| cited.as_ref().is_some_and(|cited| one.ends_with(cited))));
        assert_eq!(flip.unverified, Vec::from_iter(unverified), "{id} {quote}");
    }
}

/// A position that several agents put differently has the words in which it was first proposed, and beside them stand the agent's own,
/// also in the vote. An agent gives its first position up only if it names what changed it.
#[test]
fn a_position_of_several_agents_keeps_its_first_words() {
    let brief = ScriptedArena::default().brief();
    // The label of the winner comes after that of the agent that says the same.
    let (other, winner) = if label(&brief, 1) < label(&brief, 2) { (1, 2) } else { (2, 1) };
    let words = |number: usize| format!("The plan in the words of {number}.");
    for (quote, fate) in
        [(None, Fate::NotSettled), (Some("the costs"), Fate::Refuted), (Some("no such"), Fate::NotSettled)]
    {
        let debate = ScriptedArena {
            votes: &|_| vec![winner, winner, 3],
            with: &|ask, phase, round, said| {
                let is_changed = ["revise", "refine"].contains(&phase) && ask.seat != "agent-3";
                if is_changed {
                    said["position"] = json!(words(number(&ask.seat)));
                }
                if let Some(quote) = quote.filter(|_| is_changed && round == 3) {
                    said["changed_because"] = json!([{"id": own(ask)[0], "quote": quote}]);
                }
                if phase == "compare" {
                    *said = sorted(ask, &|a, b| match [a, b].iter().all(|one| one.starts_with("The plan")) {
                        true => ("same", 0.9),
                        false => ("compatible", 0.3),
                    });
                }
            },
            ..ScriptedArena::default()
        }
        .run();
        let history = stands(&debate);
        let first = words(other);
        assert_eq!(history.decided.name(), Some(first.as_str()), "the words of the first label");
        let seat = format!("agent-{other}");
        for round in &history.rounds[1..] {
            let held = round.of(&seat).unwrap();
            assert_eq!((&held.position, held.words.as_ref()), (&first, Some(&words(other))));
        }
        let outcome = debate.outcome.as_ref().unwrap();
        let first = outcome.positions.iter().find(|position| position.seat == seat).unwrap();
        assert_eq!(first.fate, fate, "{quote:?}");
        let cited = first.reason.contains("in round 3, citing [Q");
        assert_eq!(cited, fate == Fate::Refuted, "{}", first.reason);
        let of_winner = outcome.positions.iter().find(|position| position.seat == format!("agent-{winner}"));
        assert_eq!(of_winner.unwrap().fate, Fate::Adopted);
        let tally =
            format!("2 votes for {} ({} is counted as the same)", name(&brief, winner), name(&brief, other));
        assert!(format!("{:?}", Arena.view(&debate).unwrap().outline).contains(&tally), "{tally}");
    }
}

/// A vote for another's proposal cites the ids of its reason that the voter was shown, and what it quotes of others' proposals.
#[test]
fn a_vote_cites_the_ids_that_its_reason_names() {
    let first = name(&ScriptedArena::default().brief(), 1);
    let quoted = format!("{first}: \"the plan of 1\"");
    for (field, text, cited) in [
        ("reason", "[K1] says so", &["[K1]"][..]),
        ("reason", "[K9] and [Q99] say so", &[]),
        ("reason", "Agent A is plainer, see https://example.org, K1", &[]),
        ("reason", "", &[]),
        ("reason", "It says \"the plan of 1\", twice: \u{201c}the plan of 1\u{201d}", &[quoted.as_str()]),
        ("analysis", "\u{300c}the plan of 1\u{300d}说得很清楚。", &[quoted.as_str()]),
        ("reason", "It says \"the plan of one\"", &[]),
        ("reason", "My own \"plan of 2\" is weaker", &[]),
    ] {
        let debate = ScriptedArena {
            set: &[("no_memory", "true")],
            with: &|ask, phase, _, said| match phase {
                "context" => *said = json!({"items": [{"text": "Queues halve delays"}]}),
                "vote" if ask.seat == "agent-2" => said[field] = json!(text),
                _ => {}
            },
            ..ScriptedArena::default()
        }
        .run();
        let flips = stands(&debate).flips();
        let flip = flips.iter().find(|flip| flip.seat == "agent-2").unwrap();
        assert_eq!(
            (flip.cited.iter().map(String::as_str).collect::<Vec<_>>(), flip.evidenced),
            (cited.to_vec(), !cited.is_empty())
        );
    }
}

#[test]
fn an_absent_agent_keeps_its_position() {
    let debate = ScriptedArena {
        absent: &|ask, _, round| ask.seat == "agent-3" && round > 1,
        ..ScriptedArena::default()
    }
    .run();
    for round in stands(&debate).rounds.iter().filter(|round| !round.ballots) {
        let third = round.of("agent-3").unwrap();
        assert_eq!(
            (third.position.as_str(), third.change.is_some()),
            (POSITIONS[2], false),
            "round {}",
            round.round
        );
    }
}

/// An extended round has proposals and votes of its own. Only a declared cause is a cause, and who abstains is in no vote.
#[test]
fn an_extended_round_has_its_own_proposals_causes_and_confidences() {
    let debate = ScriptedArena {
        set: &[BARE, &[("max_extended_rounds", "1")]].concat(),
        votes: &|_| vec![1, 2, 0],
        scores: &|_, _| NEAR.to_vec(),
        with: &|ask, phase, round, said| {
            if phase == "revise" && round == 9 && ask.seat == "agent-3" {
                let id = own(ask).last().unwrap().clone();
                said["position"] = json!("Buy a hosted scheduler after a trial.");
                said["changed_because"] = json!([{"id": id, "quote": "is clear"}]);
                said["confidence"] = json!(0.72);
            }
        },
        ..ScriptedArena::default()
    }
    .run();
    let history = stands(&debate);
    let last: Vec<(u32, bool)> =
        history.rounds[4..].iter().map(|round| (round.round, round.ballots)).collect();
    assert_eq!(last, [(6, false), (7, true), (9, false), (10, true)]);
    let own = history.rounds[6].of("agent-3").unwrap();
    assert_eq!(
        (own.position.as_str(), own.confidence),
        ("Buy a hosted scheduler after a trial.", Some(0.72))
    );
    let change = own.change.as_ref().unwrap();
    assert_eq!(change.cited.len(), 1, "it answers five critiques and names one cause: {change:?}");
    assert!(change.cited[0].starts_with("[Q") && change.cited[0].ends_with("]: \"is clear\""), "{change:?}");
    for vote in history.rounds.iter().filter(|round| round.ballots) {
        assert!(vote.of("agent-3").is_none() && vote.stands.len() == 2);
    }
}

/// A vote is compared with the last one: for the same agent again it is no change.
#[test]
fn in_an_extended_round_the_new_vote_is_compared_with_the_last() {
    let debate = ScriptedArena {
        votes: &|round| if round == 10 { vec![1, 1, 3] } else { vec![1, 2, 3] },
        scores: &|_, _| NEAR.to_vec(),
        ..ScriptedArena::default()
    }
    .run();
    let history = stands(&debate);
    let last = history.rounds.last().unwrap();
    assert_eq!((last.round, held(last)), (10, vec![POSITIONS[0], POSITIONS[0], POSITIONS[2]]));
    assert_eq!(
        history.flips().iter().map(|flip| (flip.round, flip.seat.as_str())).collect::<Vec<_>>(),
        [(10, "agent-2")]
    );
}

#[test]
fn judge_marks_have_the_scores_of_each_order() {
    let set = [BARE, &[("judge_orders", "2")]].concat();
    let debate = ScriptedArena { set: &set, ..ScriptedArena::default() }.run();
    let marks = stands(&debate).marks;
    assert_eq!(marks.iter().map(|mark| (mark.round, mark.order)).collect::<Vec<_>>(), [(8, 0), (8, 1)]);
    assert!(marks.iter().all(|mark| mark.scores.len() == 3 && mark.ranking[0] == label(&debate.brief, 1)));
}
