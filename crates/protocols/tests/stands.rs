//! The law of `stands`, which every entry of `PROTOCOLS` and `BESIDE` keeps: every measure of a debate starts there.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod play;

use std::collections::BTreeSet;

use agon_core::{Debate, PositionGrouping, PositionHistory, Protocol};

use play::{cases, opened, played};

/// The protocols that say who held what; whoever reads their measures relies on it.
const WITH_STANDS: &[&str] = &["deep", "panel", "council", "arena", "review", "ask", "poll"];

/// "Who held what in each round, of a debate that is over or not": every measure of a debate starts there.
#[test]
fn who_held_what_can_be_told_of_every_beginning_of_a_debate() {
    let mut told = BTreeSet::new();
    for (protocol, brief) in cases() {
        for seed in 0..2 {
            let records = played(protocol, opened(&brief), seed);
            // Every record of one debate of each protocol and every eleventh of the others, so that the law stays quick.
            let step = if told.contains(protocol.info().name) { 11 } else { 1 };
            for end in (1..=records.len()).rev().step_by(step) {
                let debate = Debate::from_records(&records[..end]).unwrap();
                let stands = keeps_the_laws_of_stands(protocol, &debate);
                if debate.outcome.is_some() && !stands.rounds.is_empty() {
                    told.insert(protocol.info().name);
                }
            }
        }
    }
    for name in WITH_STANDS {
        assert!(told.contains(name), "{name}: {told:?}");
    }
}

fn keeps_the_laws_of_stands(protocol: &dyn Protocol, debate: &Debate) -> PositionHistory {
    let name = protocol.info().name;
    let stands =
        protocol.view(debate).map(|view| view.positions).unwrap_or_else(|why| panic!("{name}: {why:?}"));
    assert_eq!(
        stands,
        protocol.view(debate).unwrap().positions,
        "{name}: the same log gives the same stands"
    );
    for (at, held) in stands.rounds.iter().enumerate() {
        let places =
            held.stands.iter().map(|stand| debate.brief.seats.iter().position(|seat| seat.id == stand.seat));
        let places: Vec<usize> = places.map(|place| place.expect("a seat of the brief")).collect();
        assert!(
            places.is_sorted() && places.iter().collect::<BTreeSet<_>>().len() == places.len(),
            "{name}: {places:?}"
        );
        for stand in &held.stands {
            assert!(!stand.position.is_empty(), "{name}: {stand:?}");
            assert!(stand.confidence.is_none_or(|sure| (0.0..=1.0).contains(&sure)), "{name}: {stand:?}");
            let Some(before) = at.checked_sub(1).and_then(|at| stands.rounds[at].of(&stand.seat)) else {
                assert_eq!(stand.change, None, "{name}: there is nothing that it changed from");
                continue;
            };
            // Who changes without saying so would go uncounted; a change that is declared may lead to where one was. Where changes
            // are declared, votes may have other names than the positions for which they are cast.
            let renamed = held.ballots && stands.grouping == PositionGrouping::Declared;
            assert!(
                stand.change.is_some() || renamed || before.position == stand.position,
                "{name}: {before:?} {stand:?}"
            );
        }
    }
    let earlier = stands.rounds.iter().zip(stands.rounds.iter().skip(1));
    for (before, after) in earlier {
        assert!(before.round < after.round, "{name}: rounds are in order");
        assert!(
            before.stands.iter().all(|stand| after.of(&stand.seat).is_some()),
            "{name}: nobody is forgotten"
        );
    }
    let Some((outcome, first)) = debate.outcome.as_ref().zip(stands.rounds.first()) else { return stands };
    if !outcome.positions.is_empty() {
        assert_eq!(first.stands.len(), outcome.positions.len(), "{name}: first positions");
    }
    stands
}
