//! Limits that all processes on a store keep together.

use agon_engine::{PlaceClaim, PlaceGrant};
use agon_store::{AllowanceAnswer, AllowanceClaim, DebateStore};

use crate::fixtures::{TestHome, block_on};

fn claim_places(store: &DebateStore, process: &str, have: usize, wanted: usize) -> PlaceGrant {
    let claim = PlaceClaim { name: "openai".into(), limit: 10, have, wanted };
    block_on(store.claim_places(process, vec![claim])).unwrap()[0]
}

fn set_aside(store: &DebateStore, debate: &str, limit: u64, used: u64) -> AllowanceAnswer {
    let claim = AllowanceClaim { pool: "batch".into(), most: 100, limit, used };
    block_on(store.set_aside(debate, vec![claim])).unwrap()
}

fn used_up(left: u64) -> AllowanceAnswer {
    AllowanceAnswer::UsedUp { pool: "batch".into(), left }
}

#[test]
fn processes_together_never_have_more_places_than_there_are() {
    let home = TestHome::new();
    let (one, two) = (home.open(), home.open());
    assert_eq!(claim_places(&one, "one", 0, 8), PlaceGrant { places: 8, fair: 10 });
    assert_eq!(claim_places(&two, "two", 0, 8), PlaceGrant { places: 2, fair: 10 });
    // Somebody wants more than there is, so the first learns that half is its share; what it gives up, the other gets.
    assert_eq!(claim_places(&one, "one", 8, 8), PlaceGrant { places: 8, fair: 5 });
    assert_eq!(claim_places(&one, "one", 5, 5), PlaceGrant { places: 5, fair: 5 });
    assert_eq!(claim_places(&two, "two", 2, 8).places, 5);
}

#[test]
fn what_is_set_aside_is_never_more_than_the_pool_has() {
    let home = TestHome::new();
    let (one, two) = (home.open(), home.open());
    assert_eq!(set_aside(&one, "a", 60, 0), AllowanceAnswer::SetAside);
    assert_eq!(set_aside(&two, "b", 60, 0), AllowanceAnswer::Later);
    assert_eq!(set_aside(&two, "c", 40, 0), AllowanceAnswer::SetAside);
    assert_eq!(one.unsettled_allowances("batch").unwrap(), ["a", "c"]);
    block_on(one.settle_allowance("batch", "a", 15)).unwrap();
    assert_eq!(set_aside(&two, "b", 60, 0), AllowanceAnswer::Later);
    block_on(two.settle_allowance("batch", "c", 40)).unwrap();
    assert_eq!(set_aside(&two, "b", 60, 0), used_up(45));
    assert_eq!(set_aside(&two, "b", 45, 0), AllowanceAnswer::SetAside);
    assert_eq!(set_aside(&two, "d", 1, 0), AllowanceAnswer::Later);
}

/// A debate that is continued sets aside only what it may still use; what it used meanwhile counts, however its run ended.
#[test]
fn a_debate_that_is_continued_is_counted_once() {
    let home = TestHome::new();
    let store = home.open();
    // It has used 10 before, from another pool.
    assert_eq!(set_aside(&store, "a", 60, 10), AllowanceAnswer::SetAside);
    // Its process died when 30 were used.
    assert_eq!(set_aside(&store, "a", 60, 30), AllowanceAnswer::SetAside);
    assert_eq!(set_aside(&store, "b", 51, 0), AllowanceAnswer::Later);
    block_on(store.settle_allowance("batch", "a", 45)).unwrap();
    assert_eq!(set_aside(&store, "b", 66, 0), used_up(65));
    // It is resumed after it had ended.
    assert_eq!(set_aside(&store, "a", 60, 45), AllowanceAnswer::SetAside);
    block_on(store.settle_allowance("batch", "a", 60)).unwrap();
    assert_eq!(set_aside(&store, "b", 51, 0), used_up(50));
    assert_eq!(set_aside(&store, "b", 50, 0), AllowanceAnswer::SetAside);
}

#[test]
fn nothing_is_set_aside_if_one_of_several_pools_has_too_little() {
    let home = TestHome::new();
    let store = home.open();
    let claim = |pool: &str, most, limit| AllowanceClaim { pool: pool.into(), most, limit, used: 0 };
    let answer = block_on(store.set_aside("a", vec![claim("dollars", 10, 5), claim("calls", 2, 3)]));
    assert_eq!(answer.unwrap(), AllowanceAnswer::UsedUp { pool: "calls".into(), left: 2 });
    assert_eq!(store.unsettled_allowances("dollars").unwrap(), Vec::<String>::new());
}
