//! Who held what after each round, what a change cites, and when two proposals have one name.

use agon_core::{PositionFlip, PositionGrouping, PositionHistory, RoundPositions};

use super::*;

pub(super) fn stands(debate: &Debate) -> PositionHistory {
    Arena.view(debate).unwrap().positions
}

pub(super) fn positions(held: &RoundPositions) -> Vec<&str> {
    held.stands.iter().map(|stand| stand.position.as_str()).collect()
}

pub(super) fn rounds(stands: &PositionHistory) -> Vec<u32> {
    stands.rounds.iter().map(|held| held.round).collect()
}

/// The positions of a round, as the numbers of the seats that first said each.
pub(super) fn numbers(held: &RoundPositions) -> Vec<usize> {
    let first = |said: &str| POSITIONS.iter().position(|position| *position == said).map_or(0, |at| at + 1);
    positions(held).into_iter().map(first).collect()
}

/// A seat's changes, as (round, from, to).
pub(super) fn moves<'f>(flips: &'f [PositionFlip], seat: &str) -> Vec<(u32, &'f str, &'f str)> {
    let own = flips.iter().filter(|flip| flip.seat == seat);
    own.map(|flip| (flip.round, flip.from.as_str(), flip.to.as_str())).collect()
}

pub(super) const QUEUE: &str = POSITIONS[0];
pub(super) const CRON: &str = POSITIONS[1];
pub(super) const HOSTED: &str = POSITIONS[2];

/// A debate in which a seat says something else from a round on.
pub(super) fn says(
    seat: &'static str,
    from: u32,
    position: &'static str,
) -> impl Fn(&Ask, &str, u32, &mut Value) {
    move |ask, phase, round, said| {
        if ask.seat == seat && round >= from && matches!(phase, "revise" | "refine") {
            said["position"] = json!(position);
            said["proposal"] = json!(format!("{position} As of round {round}."));
        }
    }
}

/// Round 1, the revisions, the refinement and the vote: "position = the group of the proposal that the seat votes for".
#[test]
fn agents_hold_their_own_proposals_and_then_what_they_vote_for() {
    let debate = ScriptedArena { votes: &|_| vec![1, 1, 0], ..ScriptedArena::default() }.run();
    let stands = stands(&debate);
    assert_eq!(rounds(&stands), [1, 3, 4, 5, 6, 7]);
    for held in &stands.rounds[..5] {
        assert_eq!((numbers(held), held.ruling.as_deref()), (vec![1, 2, 3], None), "round {}", held.round);
    }
    assert_eq!(numbers(&stands.rounds[5]), [1, 1, 3], "an abstention keeps its own");
    assert_eq!((stands.rounds[5].ruling.as_deref(), stands.decided.name()), (Some(QUEUE), Some(QUEUE)));
    assert_eq!(stands.grouping, PositionGrouping::Similarity);
    let outcome = debate.outcome.as_ref().unwrap();
    assert_eq!(outcome.verdict["position"], QUEUE, "by the same name");
    assert_eq!(outcome.positions.len(), stands.rounds[0].stands.len());
    let first = &stands.rounds[0].stands[0];
    assert_eq!((first.seat.as_str(), first.label.clone()), ("agent-1", Some(label(&debate.brief, 1))));
    assert_eq!((first.confidence, stands.rounds[5].stands[0].confidence), (Some(0.6), Some(0.7)));
    let flips = stands.flips();
    assert_eq!((flips.len(), moves(&flips, "agent-2")), (1, vec![(7, CRON, QUEUE)]));
}

/// "evidenced": a vote that names whose proposal or which piece of context decides it, and "I was persuaded", which names nothing.
#[test]
fn a_vote_for_another_proposal_cites_what_its_reason_names() {
    for (reason, cited) in [
        ("Agent X is plainer", &["Agent X"][..]),
        ("X's figures hold", &["Agent X"]),
        ("[K1] says so", &["[K1]"]),
        ("https://example.org/figures", &["https://example.org/figures"]),
        ("[Q1] was never answered", &["[Q1]"]),
        ("[K9] says so, and [Q3] is mine", &[]),
        ("I was persuaded", &[]),
        ("Agent O is nobody else", &[]),
    ] {
        let found = json!({"items": [{"title": "t", "text": "Queues halve delays", "source": "s"}]});
        let brief = ScriptedArena { set: &[("no_memory", "true")], ..ScriptedArena::default() }.brief();
        let (one, two) = (label(&brief, 1), label(&brief, 2));
        let table = ScriptedArena {
            set: &[("no_memory", "true")],
            with: &|ask, phase, _, said| match phase {
                "context" => *said = found.clone(),
                "vote" if ask.seat == "agent-2" => {
                    said["reason"] =
                        json!(reason.replace("X", &one).replace("Agent O", &format!("Agent {two}")));
                }
                _ => {}
            },
            ..ScriptedArena::default()
        };
        let flips = stands(&table.run_brief(brief)).flips();
        let flip = flips.iter().find(|flip| flip.seat == "agent-2").unwrap();
        let own: Vec<String> =
            cited.iter().map(|piece| piece.replace("Agent X", &format!("Agent {one}"))).collect();
        assert_eq!((flip.evidenced, &flip.cited), (!own.is_empty(), &own), "{reason}");
    }
}

/// An agent's own critique is no evidence for it, but another agent's is.
#[test]
fn a_revision_cites_the_critiques_that_it_answers() {
    for (answers, evidenced) in [(true, true), (false, false)] {
        let moved = says("agent-3", 4, "Run them by hand until summer.");
        let table = ScriptedArena {
            with: &|ask, phase, round, said| {
                moved(ask, phase, round, said);
                if !answers && said.get("addressed").is_some() {
                    said["addressed"] = json!([]);
                }
            },
            ..ScriptedArena::default()
        };
        let flips = stands(&table.run()).flips();
        let flip = flips.iter().find(|flip| flip.seat == "agent-3").unwrap();
        assert_eq!(
            (flip.round, flip.from.as_str(), flip.to.as_str()),
            (4, HOSTED, "Run them by hand until summer.")
        );
        assert_eq!(flip.evidenced, evidenced, "{:?}", flip.cited);
        assert!(flip.cited.iter().all(|piece| piece.starts_with("[Q")), "{:?}", flip.cited);
        assert!(!flip.toward_majority, "nobody held that");
    }
}

/// "`evidenced`: the change names another seat's point or a piece of evidence": what others had brought before, in a proposal or a
/// critique, and the proposal takes up anew. What it brings itself has moved nobody.
#[test]
fn only_evidence_that_others_brought_counts_for_a_change() {
    const LINK: &str = "https://example.org/b";
    for (who, first, later, cited) in [
        ("agent-3", LINK, LINK, &[][..]),
        ("agent-3", "a guess", LINK, &[]),
        ("agent-1", LINK, "a guess", &[]),
        ("agent-1", LINK, LINK, &[LINK]),
        ("critics", LINK, LINK, &[LINK]),
        ("agent-3 as a critic", LINK, LINK, &[]),
    ] {
        let moved = says("agent-3", 4, "Run them by hand until summer.");
        let table = ScriptedArena {
            with: &|ask, phase, round, said| {
                moved(ask, phase, round, said);
                if said.get("claims").is_some() {
                    let moved = ask.seat == "agent-3" && round >= 4;
                    let evidence = if moved {
                        later
                    } else if ask.seat == who {
                        first
                    } else {
                        "a guess"
                    };
                    said["claims"] = json!([{"claim": "c", "evidence": evidence}]);
                }
                let critic = if ask.seat == "agent-3" { "agent-3 as a critic" } else { "critics" };
                if phase == "critique" && who == critic {
                    said["issues"] = json!([format!("It leaves out {first}")]);
                }
                if said.get("addressed").is_some() {
                    said["addressed"] = json!([]);
                }
            },
            ..ScriptedArena::default()
        };
        let flips = stands(&table.run()).flips();
        let flip = flips.iter().find(|flip| flip.seat == "agent-3").unwrap();
        assert_eq!(flip.round, 4);
        assert_eq!(flip.cited, cited, "{who}: {later}");
    }
}

/// "toward the majority or away": who takes the words of others has their position, by the name that it had first.
#[test]
fn an_agent_that_adopts_what_others_say_moves_toward_them() {
    let table = ScriptedArena {
        models: &["a/x", "b/y", "c/z", "d/w"],
        with: &|ask, phase, round, said| {
            // Seat 2 says the same as seat 1 in other words; seat 4 joins them and seat 1 leaves.
            if phase == "propose" && ask.seat == "agent-2" {
                said["position"] = json!("move every job into one queue");
            }
            says("agent-2", 3, "Move every job into one queue!")(ask, phase, round, said);
            says("agent-4", 3, QUEUE)(ask, phase, round, said);
            says("agent-1", 5, "Ask the customers about delays.")(ask, phase, round, said);
        },
        ..ScriptedArena::default()
    };
    let stands = stands(&table.run());
    assert_eq!(numbers(&stands.rounds[0]), [1, 1, 3, 4]);
    assert_eq!(stands.rounds[0].ruling.as_deref(), Some(QUEUE), "the plurality");
    assert_eq!(numbers(&stands.rounds[1]), [1, 1, 3, 1]);
    let flips = stands.flips();
    let seen: Vec<_> =
        flips.iter().filter(|f| f.round < 7).map(|f| (f.round, f.seat.as_str(), f.toward_majority)).collect();
    assert_eq!(seen, [(3, "agent-4", true), (5, "agent-1", false)]);
}

/// "who was absent keeps its last stand"; without a proposal one stands for nothing until one votes.
#[test]
fn an_absent_agent_keeps_its_position() {
    let table = ScriptedArena {
        absent: &|ask, phase, round| {
            (ask.seat == "agent-3" && phase == "propose")
                || (ask.seat == "agent-2" && round >= 4 && phase != "judge")
        },
        with: &says("agent-2", 3, "Run them by hand until summer."),
        ..ScriptedArena::default()
    };
    let debate = table.run();
    let stands = stands(&debate);
    let seats =
        |at: usize| stands.rounds[at].stands.iter().map(|stand| stand.seat.as_str()).collect::<Vec<_>>();
    assert_eq!((seats(0), seats(4)), (vec!["agent-1", "agent-2"], vec!["agent-1", "agent-2"]));
    assert_eq!(seats(5), ["agent-1", "agent-2", "agent-3"]);
    assert_eq!(stands.rounds[5].stands[2].change, None, "nobody can leave what it never had");
    let flips = stands.flips();
    assert_eq!(moves(&flips, "agent-2"), [(3, CRON, "Run them by hand until summer.")]);
    assert_eq!(positions(&stands.rounds[5])[1], "Run them by hand until summer.");
    assert_eq!(debate.outcome.unwrap().positions.len(), 2);
}

/// In an extended round an agent holds what it voted for until it votes again.
#[test]
fn in_an_extended_round_the_new_vote_is_compared_with_the_last() {
    let table = ScriptedArena {
        models: &["a/x", "b/y", "c/z", "d/w"],
        votes: &|round| if round < 9 { vec![1, 1, 3, 3] } else { vec![1, 1, 1, 3] },
        scores: &|_, _| vec![7.0, 6.5, 6.9, 6.0],
        ..ScriptedArena::default()
    };
    let stands = stands(&table.run());
    assert_eq!(rounds(&stands), [1, 3, 4, 5, 6, 7, 9]);
    assert_eq!(numbers(&stands.rounds[5]), [1, 1, 3, 3]);
    assert_eq!((numbers(&stands.rounds[6]), stands.rounds[5].ruling.as_deref()), (vec![1, 1, 1, 3], None));
    assert_eq!((stands.rounds[6].ruling.as_deref(), stands.decided.name()), (Some(QUEUE), Some(QUEUE)));
    let flips = stands.flips();
    let seen: Vec<_> = flips.iter().map(|flip| (flip.round, flip.seat.as_str())).collect();
    assert_eq!(seen, [(7, "agent-2"), (7, "agent-4"), (9, "agent-3")]);
}

/// With `--decide judge` the ruling is the judge's choice.
#[test]
fn the_ruling_is_the_judges_if_the_judge_decides() {
    let set = [BARE, &[("decide", "judge")]].concat();
    let table = ScriptedArena { set: &set, scores: &|_, _| vec![4.0, 9.0, 5.0], ..ScriptedArena::default() };
    let stands = stands(&table.run());
    assert_eq!((stands.rounds[5].ruling.as_deref(), stands.decided.name()), (Some(CRON), Some(CRON)));
    assert_eq!(stands.rounds[5].plurality(), Some(QUEUE));
}

/// "order consistency where two orders were asked": both sheets, by label, each with its order.
#[test]
fn judge_marks_have_the_scores_of_each_order() {
    let set = [BARE, &[("judge_orders", "2")]].concat();
    let scores: &dyn Fn(u32, usize) -> Vec<f64> =
        &|_, order| [[8.0, 6.0, 4.0], [7.0, 7.5, 4.0]][order].to_vec();
    for absent in [false, true] {
        let table = ScriptedArena {
            set: &set,
            scores,
            absent: &|ask, phase, _| absent && phase == "judge" && ask.about.as_deref() != Some("order 2"),
            ..ScriptedArena::default()
        };
        let debate = table.run();
        let [one, two, three] = [1, 2, 3].map(|number| label(&debate.brief, number));
        let stands = stands(&debate);
        let seen: Vec<_> =
            stands.marks.iter().filter(|m| m.round == 8).map(|m| (m.judge.as_str(), m.order)).collect();
        let want = [("judge", 0), ("judge", 1)];
        assert_eq!(seen, want[usize::from(absent)..], "who is missing leaves the other its number");
        let last = stands.marks.iter().rfind(|marks| marks.round == 8).unwrap();
        assert_eq!(last.ranking, [two.clone(), one.clone(), three.clone()]);
        let score = |label: &String| last.scores.iter().find(|(item, _)| item == label).unwrap().1;
        assert_eq!([score(&one), score(&two), score(&three)], [7.0, 7.5, 4.0]);
    }
}

/// Names do not depend on what was not said yet.
#[test]
fn a_debate_that_is_not_over_has_rounds_and_no_verdict() {
    let table = ScriptedArena::default();
    let brief = table.brief();
    let answer = |ask: &Ask, phase: &str, round: u32| Some(table.said(&brief, ask, phase, round));
    let (records, _) = testing::run(&Arena, brief.clone(), &answer);
    let mut most = 0;
    for length in 1..records.len() {
        let stands = stands(&Debate::from_records(&records[..length]).unwrap());
        assert_eq!(stands.decided, None);
        assert!(stands.rounds.len() >= most);
        most = stands.rounds.len();
        for held in stands.rounds.iter().take(4) {
            let own = held.stands.iter().map(|stand| number(&stand.seat)).collect::<Vec<_>>();
            assert_eq!(numbers(held), own);
        }
    }
    assert_eq!(most, 6);
}

/// "a proposal that is only added to is the same position; a changed one is new words".
#[test]
fn a_proposal_keeps_its_name_when_it_is_extended_but_not_when_it_changes() {
    for (said, name) in [
        ("Buy a hosted scheduler this year, after a trial in May.", HOSTED),
        ("Buy a hosted scheduler this year!", HOSTED),
        (
            "Buy a hosted scheduler next spring, after a trial.",
            "Buy a hosted scheduler next spring, after a trial.",
        ),
        ("Do not buy a hosted scheduler this year.", "Do not buy a hosted scheduler this year."),
    ] {
        let stands =
            stands(&ScriptedArena { with: &says("agent-3", 3, said), ..ScriptedArena::default() }.run());
        assert_eq!(stands.rounds[1].stands[2].position, name, "{said}");
        assert_eq!(stands.rounds[1].stands[2].change.is_some(), name != HOSTED, "{said}");
        assert_eq!(stands.rounds[4].stands[2].position, name, "and it stays");
    }
}

/// "Use arena's own sameness where it was measured": what is measured to be alike is one position, unless the two conflict.
#[test]
fn proposals_that_are_measured_to_be_the_same_share_a_name() {
    for (conflicts, first, last) in
        [(false, vec![1, 1, 1], vec![1, 1, 1]), (true, vec![1, 2, 1], vec![1, 2, 1])]
    {
        let brief = ScriptedArena::default().brief();
        let one = label(&brief, 1);
        let three = label(&brief, 3);
        let table = ScriptedArena {
            alike: &|_| 0.9,
            votes: &|_| vec![1, 2, 3],
            with: &|ask, _, _, said| {
                if conflicts && ask.seat == "agent-2" && said.get("conflicts_with").is_some() {
                    said["conflicts_with"] = json!([one, three]);
                }
            },
            ..ScriptedArena::default()
        };
        let debate = table.run();
        let stands = stands(&debate);
        assert_eq!(numbers(&stands.rounds[0]), first, "{conflicts}");
        assert_eq!(numbers(stands.rounds.last().unwrap()), last, "{conflicts}");
        assert!(stands.flips().is_empty(), "nobody said anything else");
        assert_eq!(stands.decided.name(), Some(QUEUE), "two of three votes are for one thing, or all");
        assert_eq!(stands.decided, stands.rounds.last().unwrap().ruling);
    }
}

/// An agent that adds to its proposal until it says what another says has moved; the other has not.
#[test]
fn an_agent_that_moves_to_anothers_proposal_takes_its_name() {
    let table = ScriptedArena {
        alike: &|round| if round >= 4 { 0.9 } else { 0.2 },
        with: &|ask, phase, round, said| {
            let more = "Move every job into one queue, hosted, with cron beside it.";
            says("agent-1", 4, more)(ask, phase, round, said);
            if ask.seat == "agent-3" && said.get("conflicts_with").is_some() {
                let others = allowed(ask, "/properties/conflicts_with/items").into_iter();
                said["conflicts_with"] = others.filter(|other| !other.starts_with("Agent")).collect();
            }
            // No proposal is much like the one before.
            if phase == "compare" {
                for at in 0..3 {
                    said["similarity"][at][at + 3] = json!(0.5);
                    said["similarity"][at + 3][at] = json!(0.5);
                }
            }
        },
        ..ScriptedArena::default()
    };
    let stands = stands(&table.run());
    assert_eq!((numbers(&stands.rounds[1]), numbers(&stands.rounds[2])), (vec![1, 2, 3], vec![2, 2, 3]));
    let flips = stands.flips();
    assert_eq!(moves(&flips, "agent-1"), [(4, QUEUE, CRON)]);
    assert!(moves(&flips, "agent-2").is_empty(), "it never moved");
}

/// The names are united unless the proposals were told apart before.
#[test]
fn unmoved_proposals_that_are_found_to_be_the_same_share_one_name_from_the_start() {
    for (conflict, want) in [(false, vec![1, 1, 1]), (true, vec![1, 2, 3])] {
        let table = ScriptedArena {
            alike: &|round| if round >= 4 { 0.9 } else { 0.2 },
            with: &|ask, _, round, said| {
                if conflict && round == 3 && said.get("conflicts_with").is_some() {
                    let others = allowed(ask, "/properties/conflicts_with/items").into_iter();
                    said["conflicts_with"] = others.filter(|other| !other.starts_with("Agent")).collect();
                }
            },
            votes: &|_| vec![1, 2, 3],
            ..ScriptedArena::default()
        };
        let stands = stands(&table.run());
        for held in &stands.rounds {
            assert_eq!(numbers(held), want, "{conflict}: round {}", held.round);
        }
        assert!(
            stands.flips().is_empty() && stands.decided.is_some(),
            "{conflict}: arena counts them as one"
        );
    }
}
