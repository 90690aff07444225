//! What the positions of an arena are called: when two proposals have one name, and since when.

use super::stands::{CRON, HOSTED, QUEUE, moves, numbers, says, stands};
use super::*;

/// "a proposal that is only added to is the same position; a changed one is new words".
#[test]
fn what_is_added_to_keeps_its_name_and_what_is_changed_does_not() {
    for (said, name) in [
        ("Buy a hosted scheduler this year, after a trial in May.", HOSTED),
        ("Buy a hosted scheduler this year!", HOSTED),
        (
            "Buy a hosted scheduler next spring, after a trial.",
            "Buy a hosted scheduler next spring, after a trial.",
        ),
        ("Do not buy a hosted scheduler this year.", "Do not buy a hosted scheduler this year."),
    ] {
        let stands = stands(&ScriptedArena { with: &says("agent-3", 3, said), ..ScriptedArena::default() }.run());
        assert_eq!(stands.rounds[1].stands[2].position, name, "{said}");
        assert_eq!(stands.rounds[1].stands[2].change.is_some(), name != HOSTED, "{said}");
        assert_eq!(stands.rounds[4].stands[2].position, name, "and it stays");
    }
}

/// "Use arena's own sameness where it was measured": what is measured to be alike is one position, unless the two conflict.
#[test]
fn what_arena_measures_to_be_the_same_has_one_name() {
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
        assert_eq!(stands.decided.as_deref(), Some(QUEUE), "two of three votes are for one thing, or all");
        assert_eq!(stands.decided, stands.rounds.last().unwrap().ruling);
    }
}

/// Who only adds to its own proposal until it says what another says has come over; who did not move has not.
#[test]
fn who_adds_until_it_says_the_same_takes_the_name_of_who_did_not_move() {
    let table = ScriptedArena {
        alike: &|round| if round >= 4 { 0.9 } else { 0.2 },
        with: &|ask, phase, round, said| {
            let more = "Move every job into one queue, hosted, with cron beside it.";
            says("agent-1", 4, more)(ask, phase, round, said);
            if ask.seat == "agent-3" && said.get("conflicts_with").is_some() {
                let others = allowed(ask, "/properties/conflicts_with/items").into_iter();
                said["conflicts_with"] = others.filter(|other| !other.starts_with("Agent")).collect();
            }
            // Nobody's proposal is much like what it was before.
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

/// Two who say the same as ever and are found to be the same were so all along, unless they were told apart before.
#[test]
fn who_never_moved_and_is_found_to_be_the_same_was_so_all_along() {
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
