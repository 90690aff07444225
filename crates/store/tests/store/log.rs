//! "Events hash-chained": what goes in comes out, byte for byte, or the store says what is wrong.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use agon_core::event::Broken;
use agon_core::{Event, Status};
use agon_engine::{Store, StoreError};

use crate::debates::{Home, Talk, append, lease, load, one};

#[test]
fn a_log_loads_back_as_it_was_appended() {
    let home = Home::new();
    let (store, mut talk) = one(&home, "d1");
    let more = talk.say("Coffee: \u{1F375} is \"not\" it.\n\u{0}");
    append(&store, "d1", more).unwrap();
    assert_eq!(load(&store, "d1").unwrap(), talk.records);
    drop(store);
    assert_eq!(load(&home.open(), "d1").unwrap(), talk.records);
    let raw: Vec<_> = talk.records.iter().map(|record| (record.body.clone(), record.hash.clone())).collect();
    assert_eq!(home.open().raw("d1").unwrap(), raw);
}

#[test]
fn a_log_loads_without_a_runtime() {
    let home = Home::new();
    let (store, talk) = one(&home, "d1");
    let loaded = pin!(store.load("d1")).poll(&mut Context::from_waker(Waker::noop()));
    let Poll::Ready(loaded) = loaded else { panic!("nothing to wait for") };
    assert_eq!(loaded.unwrap(), talk.records);
}

#[test]
fn a_debate_that_is_not_there_is_unknown() {
    let home = Home::new();
    let store = home.open();
    let mut talk = Talk::new("d1", "Why?");
    let later = talk.say("So.");
    assert!(matches!(append(&store, "d1", later), Err(StoreError::Unknown(id)) if id == "d1"));
    assert!(matches!(load(&store, "d1"), Err(StoreError::Unknown(_))));
    assert!(matches!(lease(&store, "d1"), Err(StoreError::Unknown(_))));
    assert!(matches!(store.raw("d1"), Err(StoreError::Unknown(_))));
}

#[test]
fn records_out_of_place_are_refused_whole() {
    let home = Home::new();
    let (store, mut talk) = one(&home, "d1");
    let before = talk.records.clone();
    let more = talk.say("Both.");
    let skipped = vec![more[1].clone()];
    let holed = vec![more[0].clone(), more[2].clone()];
    let again = vec![before[3].clone()];
    let reopened = vec![before[0].clone()];
    let cases = [
        (skipped, "goes on with event 4, not with event 5"),
        (holed, "goes on with event 5, not with event 6"),
        (again, "goes on with event 4, not with event 3"),
        (reopened, "there is already a debate d1"),
    ];
    for (records, sentence) in cases {
        let error = append(&store, "d1", records).unwrap_err().to_string();
        assert!(error.contains(sentence), "{error}");
        assert_eq!(load(&store, "d1").unwrap(), before, "nothing of it is written");
    }
    let mislaid = Talk::new("d2", "Why?").records;
    assert!(append(&store, "d3", mislaid).unwrap_err().to_string().contains("cannot be kept as d3"));
    append(&store, "d1", Vec::new()).unwrap();
    append(&store, "d1", more).unwrap();
    assert_eq!(load(&store, "d1").unwrap(), talk.records);
}

#[test]
fn a_debate_that_is_over_takes_no_more() {
    let home = Home::new();
    let (store, mut talk) = one(&home, "d1");
    let mut other = Talk::new("d1", "Tea or coffee?");
    other.say("Tea.");
    let late = other.push(Event::Interjected { by: "me".into(), text: "But".into() });
    let closed = talk.close(Status::Complete, "Tea.", "Coffee.");
    append(&store, "d1", vec![closed]).unwrap();
    assert!(append(&store, "d1", vec![late]).unwrap_err().to_string().contains("is over"));
    lease(&store, "d1").unwrap();
    assert_eq!(store.list(None).unwrap()[0].status, "complete");
    assert_eq!(load(&store, "d1").unwrap(), talk.records);
}

#[test]
fn a_log_that_was_changed_is_broken_and_can_still_be_read_raw() {
    let cases = [
        ("UPDATE events SET body = replace(body, 'Tea', 'Gin') WHERE seq = 3", 3, 4),
        ("UPDATE events SET body = CAST(x'ff00fe' AS TEXT) WHERE seq = 2", 2, 4),
        ("UPDATE events SET hash = 'no' WHERE seq = 1", 1, 4),
        ("DELETE FROM events WHERE seq = 1", 1, 3),
    ];
    for (change, at, events) in cases {
        let home = Home::new();
        let (store, _) = one(&home, "d1");
        assert_eq!(home.plain().execute(change, []).unwrap(), 1);
        match load(&store, "d1") {
            Err(StoreError::Broken { id, broken: Broken::Hash { seq, .. } }) => {
                assert_eq!((id.as_str(), seq), ("d1", at))
            }
            other => panic!("{change}: {other:?}"),
        }
        assert_eq!(store.raw("d1").unwrap().len(), events);
    }
}
