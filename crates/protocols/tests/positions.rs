//! The laws of `DebateView::positions`, which every protocol of `PROTOCOLS` and `COMPANIONS` keeps. Every measure of a debate is
//! computed from the positions.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod play;

use std::collections::BTreeSet;

use agon_core::{Debate, PositionHistory, Protocol};

use play::{cases, opened, played};

/// The protocols that must report positions.
const WITH_POSITIONS: &[&str] = &["deep", "panel", "council", "arena", "review", "ask", "poll"];

#[test]
fn positions_follow_from_every_prefix_of_a_log() {
    let mut with_positions = BTreeSet::new();
    for (protocol, brief) in cases() {
        for seed in 0..2 {
            let records = played(protocol, opened(&brief), seed);
            // Every prefix of one debate of each protocol and every eleventh prefix of the others, so that the test stays quick.
            let step = if with_positions.contains(protocol.info().name) { 11 } else { 1 };
            for end in (1..=records.len()).rev().step_by(step) {
                let debate = Debate::from_records(&records[..end]).unwrap();
                let history = checked_positions(protocol, &debate);
                if debate.outcome.is_some() && !history.rounds.is_empty() {
                    with_positions.insert(protocol.info().name);
                }
            }
        }
    }
    for name in WITH_POSITIONS {
        assert!(with_positions.contains(name), "{name}: {with_positions:?}");
    }
}

/// The positions of a debate, after checking every law that they keep.
fn checked_positions(protocol: &dyn Protocol, debate: &Debate) -> PositionHistory {
    let name = protocol.info().name;
    let history =
        protocol.view(debate).map(|view| view.positions).unwrap_or_else(|why| panic!("{name}: {why:?}"));
    let again = protocol.view(debate).unwrap().positions;
    assert_eq!(history, again, "{name}: the same log gives the same positions");
    for (at, round) in history.rounds.iter().enumerate() {
        let places =
            round.stands.iter().map(|held| debate.brief.seats.iter().position(|seat| seat.id == held.seat));
        let places: Vec<usize> = places.map(|place| place.expect("a seat of the brief")).collect();
        let distinct: BTreeSet<&usize> = places.iter().collect();
        assert!(places.is_sorted() && distinct.len() == places.len(), "{name}: {places:?}");
        for held in &round.stands {
            assert!(!held.position.is_empty(), "{name}: {held:?}");
            assert!(held.confidence.is_none_or(|value| (0.0..=1.0).contains(&value)), "{name}: {held:?}");
            // Who abstains or does not vote has no position in that vote.
            let Some(before) = history.rounds[..at].iter().rev().find_map(|round| round.of(&held.seat))
            else {
                assert_eq!(held.change, None, "{name}: a first position is not a change");
                continue;
            };
            // A change that is not declared would not be counted. A declared change may lead back to the same position. Texts
            // that nobody changed may be sorted in another way than before, and a vote may have another name than the
            // position that it is cast for.
            assert!(
                held.change.is_some() || history.are_texts || before.position == held.position,
                "{name}: {before:?} {held:?}"
            );
        }
    }
    for (before, after) in history.rounds.iter().zip(history.rounds.iter().skip(1)) {
        assert!(before.round < after.round, "{name}: rounds are in order");
        assert!(
            after.ballots
                || history.rounds.iter().take_while(|round| round.round < after.round).all(|round| {
                    round.ballots || round.stands.iter().all(|held| after.of(&held.seat).is_some())
                }),
            "{name}: a seat that has a position of its own keeps one"
        );
    }
    if let Some((outcome, first)) = debate.outcome.as_ref().zip(history.rounds.first())
        && !outcome.positions.is_empty()
    {
        assert_eq!(first.stands.len(), outcome.positions.len(), "{name}: first positions");
    }
    history
}
