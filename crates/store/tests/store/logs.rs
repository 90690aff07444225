//! Appending and loading logs: every byte comes back, or the store says what is wrong.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use agon_core::event::BrokenChain;
use agon_core::{Event, Status};
use agon_engine::{Store, StoreError};

use crate::fixtures::{TestHome, TestLog, append, lease, load, store_with_debate};

#[test]
fn a_log_loads_back_as_it_was_appended() {
    let home = TestHome::new();
    let (store, mut log) = store_with_debate(&home, "d1");
    let more = log.say("Coffee: \u{1F375} is \"not\" it.\n\u{0}");
    append(&store, "d1", more).unwrap();
    assert_eq!(load(&store, "d1").unwrap(), log.records);
    drop(store);
    assert_eq!(load(&home.open(), "d1").unwrap(), log.records);
    let raw: Vec<_> = log.records.iter().map(|record| (record.body.clone(), record.hash.clone())).collect();
    assert_eq!(home.open().raw_log("d1").unwrap(), raw);
}

#[test]
fn a_log_loads_without_a_runtime() {
    let home = TestHome::new();
    let (store, log) = store_with_debate(&home, "d1");
    let loaded = pin!(store.load("d1")).poll(&mut Context::from_waker(Waker::noop()));
    let Poll::Ready(loaded) = loaded else { panic!("it does not wait for anything") };
    assert_eq!(loaded.unwrap(), log.records);
}

#[test]
fn a_missing_debate_is_unknown() {
    let home = TestHome::new();
    let store = home.open();
    let mut log = TestLog::new("d1", "Why?");
    let later = log.say("So.");
    assert!(matches!(append(&store, "d1", later), Err(StoreError::Unknown(id)) if id == "d1"));
    assert!(matches!(load(&store, "d1"), Err(StoreError::Unknown(_))));
    assert!(matches!(lease(&store, "d1"), Err(StoreError::Unknown(_))));
    assert!(matches!(store.raw_log("d1"), Err(StoreError::Unknown(_))));
}

#[test]
fn an_append_with_a_wrong_event_number_is_refused_whole() {
    let home = TestHome::new();
    let (store, mut log) = store_with_debate(&home, "d1");
    let before = log.records.clone();
    let more = log.say("Both.");
    let skipped = vec![more[1].clone()];
    let holed = vec![more[0].clone(), more[2].clone()];
    let again = vec![before[3].clone()];
    let reopened = vec![before[0].clone()];
    let cases = [
        (skipped, "the next event of debate d1 has number 4, not 5"),
        (holed, "the next event of debate d1 has number 5, not 6"),
        (again, "the next event of debate d1 has number 4, not 3"),
        (reopened, "there is already a debate d1"),
    ];
    for (records, sentence) in cases {
        let error = append(&store, "d1", records).unwrap_err().to_string();
        assert!(error.contains(sentence), "{error}");
        assert_eq!(load(&store, "d1").unwrap(), before, "nothing is written");
    }
    let mislaid = TestLog::new("d2", "Why?").records;
    assert!(append(&store, "d3", mislaid).unwrap_err().to_string().contains("cannot be stored as d3"));
    append(&store, "d1", Vec::new()).unwrap();
    append(&store, "d1", more).unwrap();
    assert_eq!(load(&store, "d1").unwrap(), log.records);
}

#[test]
fn nothing_can_be_appended_to_a_closed_debate() {
    let home = TestHome::new();
    let (store, mut log) = store_with_debate(&home, "d1");
    let mut other = TestLog::new("d1", "Tea or coffee?");
    other.say("Tea.");
    let late = other.push(Event::Interjected { by: "me".into(), text: "But".into() });
    let closed = log.close(Status::Complete, "Tea.", "Coffee.");
    append(&store, "d1", vec![closed]).unwrap();
    assert!(append(&store, "d1", vec![late]).unwrap_err().to_string().contains("is over"));
    lease(&store, "d1").unwrap();
    assert_eq!(store.list_debates(None).unwrap()[0].status, "complete");
    assert_eq!(load(&store, "d1").unwrap(), log.records);
}

#[test]
fn a_tampered_log_does_not_load_but_can_be_read_raw() {
    let cases = [
        ("UPDATE events SET body = replace(body, 'Tea', 'Gin') WHERE seq = 3", 3, 4),
        ("UPDATE events SET hash = 'no' WHERE seq = 1", 1, 4),
        ("DELETE FROM events WHERE seq = 1", 1, 3),
    ];
    for (change, at, events) in cases {
        let home = TestHome::new();
        let (store, _) = store_with_debate(&home, "d1");
        assert_eq!(home.change(change), 1);
        match load(&store, "d1") {
            Err(StoreError::BrokenChain { id, broken: BrokenChain::Hash { seq, .. } }) => {
                assert_eq!((id.as_str(), seq), ("d1", at))
            }
            other => panic!("{change}: {other:?}"),
        }
        assert_eq!(store.raw_log("d1").unwrap().len(), events);
    }
}
