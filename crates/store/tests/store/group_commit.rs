//! Group commit: a thousand debates do not cost a thousand fsyncs.

use agon_engine::{Store, StoreError};
use proptest::prelude::*;

use crate::fixtures::{TestHome, TestLog, block_on, load, store_with_debate};

#[test]
fn a_thousand_simultaneous_appends_share_a_commit() {
    let home = TestHome::new();
    let store = home.open();
    let logs: Vec<TestLog> = (0..1000).map(|n| TestLog::new(&format!("d{n}"), "Why?")).collect();
    // While another connection writes, everything queues up. The writer has taken the first append at most.
    let blocked = home.block_writes();
    let appends: Vec<_> = logs.iter().map(|log| store.append(log.id(), log.records.clone())).collect();
    drop(blocked);
    block_on(async {
        for append in appends {
            append.await.unwrap();
        }
    });
    assert!(store.commits() <= 2, "{} commits", store.commits());
    assert_eq!(store.list_debates(None).unwrap().len(), 1000);
}

#[test]
fn an_append_that_fails_its_check_fails_alone() {
    let home = TestHome::new();
    let (store, mut log) = store_with_debate(&home, "d1");
    let before = log.records.clone();
    let more = log.say("Coffee.");
    let other = TestLog::new("d2", "Why?");
    let third = TestLog::new("d3", "Why?");
    let commits = store.commits();
    let blocked = home.block_writes();
    let plug = store.lease("d1");
    let answers = [
        store.append("d2", other.records.clone()),
        store.append("d1", vec![more[0].clone(), more[2].clone()]),
        store.append("nobody", more.clone()),
        store.append("d3", third.records.clone()),
    ];
    drop(blocked);
    let [second, holed, unknown, fourth] = answers;
    block_on(async {
        plug.await.unwrap();
        second.await.unwrap();
        assert!(matches!(holed.await, Err(StoreError::Failed { .. })));
        assert!(matches!(unknown.await, Err(StoreError::Unknown(_))));
        fourth.await.unwrap();
    });
    assert!(store.commits() - commits <= 2, "one group, or two if the writer took the first one early");
    assert_eq!(load(&store, "d1").unwrap(), before);
    assert_eq!(load(&store, "d2").unwrap(), other.records);
    assert_eq!(load(&store, "d3").unwrap(), third.records);
}

/// Which debate is appended to, and how many phases the append has.
fn turns() -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((0..6_usize, 1..4_usize), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_debate_loads_back_as_it_was_written_however_appends_interleave(turns in turns(), word in "\\PC{0,300}") {
        let home = TestHome::new();
        let stores = [home.open(), home.open()];
        let mut logs: Vec<TestLog> = (0..6).map(|n| TestLog::new(&format!("d{n}"), &word)).collect();
        let opened: Vec<_> =
            logs.iter().enumerate().map(|(n, log)| stores[n % 2].append(log.id(), log.records.clone())).collect();
        block_on(async { for answer in opened { answer.await.unwrap(); } });
        let ids: Vec<String> = logs.iter().map(|log| log.id().to_owned()).collect();
        let answers: Vec<_> = turns.iter().map(|(who, times)| {
            let records = (0..*times).flat_map(|time| logs[*who].say(&format!("{word} {time}"))).collect();
            stores[who % 2].append(&ids[*who], records)
        }).collect();
        block_on(async { for answer in answers { answer.await.unwrap(); } });
        for (n, log) in logs.iter().enumerate() {
            prop_assert_eq!(&load(&stores[n % 2], log.id()).unwrap(), &log.records);
            prop_assert_eq!(&load(&stores[(n + 1) % 2], log.id()).unwrap(), &log.records);
        }
    }
}
