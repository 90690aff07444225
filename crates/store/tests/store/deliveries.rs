//! Deliveries: claims, retries, and giving up.

use agon_store::{AfterFailure, DebateStore, DeliveryState, NewDelivery, StoredDelivery};

use crate::fixtures::{TestHome, TestLog, append, block_on, closed_log};

const NOW: i64 = 1_800_000_000;

fn bind(store: &DebateStore, debate: &str, destinations: &[&str]) -> Vec<i64> {
    let new = destinations.iter().map(|to| NewDelivery { destination: (*to).to_owned(), created_s: NOW });
    block_on(store.deliveries_bind(debate, new.collect())).unwrap()
}

fn close(store: &DebateStore, debate: &str) {
    append(store, debate, closed_log(debate, "Why?", None).0.records).unwrap();
}

fn due(store: &DebateStore, now_s: i64) -> Vec<i64> {
    claimed(store, now_s).into_iter().map(|delivery| delivery.id).collect()
}

fn claimed(store: &DebateStore, now_s: i64) -> Vec<StoredDelivery> {
    block_on(store.deliveries_due(now_s, 10)).unwrap()
}

#[test]
fn a_delivery_is_due_when_its_debate_closes_and_done_when_it_arrives() {
    let home = TestHome::new();
    let store = home.open();
    let ids = bind(&store, "d1", &["file:a", "https://example.com/hook"]);
    assert_eq!(due(&store, NOW), [0; 0]);
    close(&store, "d1");
    let claimed = claimed(&store, NOW);
    assert_eq!(claimed.iter().map(|delivery| delivery.id).collect::<Vec<_>>(), ids);
    assert_eq!(
        (claimed[1].debate.as_str(), claimed[1].destination.as_str()),
        ("d1", "https://example.com/hook")
    );
    assert_eq!((claimed[0].state, claimed[0].attempts), (DeliveryState::Sending, 1));
    block_on(store.delivery_done(ids[0], NOW + 1)).unwrap();
    let done = store.deliveries(Some(DeliveryState::Done)).unwrap();
    assert_eq!((done.len(), done[0].id, done[0].done_s), (1, ids[0], Some(NOW + 1)));
    assert_eq!(due(&store, NOW + 59), [0; 0]);
    assert_eq!(bind(&store, "d1", &["file:late"]).len(), 1);
    assert_eq!(due(&store, NOW + 59).len(), 1, "a delivery of a closed debate is due at once");
}

#[test]
fn an_abandoned_claim_lapses_after_a_minute() {
    let home = TestHome::new();
    let (ours, theirs) = (home.open(), home.open());
    let ids = bind(&ours, "d1", &["file:a"]);
    close(&ours, "d1");
    assert_eq!(due(&ours, NOW), ids);
    assert_eq!(due(&theirs, NOW + 59), [0; 0], "it is claimed");
    drop(ours);
    let again = claimed(&theirs, NOW + 60);
    assert_eq!((again[0].id, again[0].attempts), (ids[0], 2));
}

#[test]
fn two_stores_never_claim_the_same_delivery() {
    let home = TestHome::new();
    let store = home.open();
    let destinations: Vec<String> = (0..60).map(|n| format!("file:{n}")).collect();
    let ids = bind(&store, "d1", &destinations.iter().map(String::as_str).collect::<Vec<_>>());
    close(&store, "d1");
    let mut claimed: Vec<i64> = std::thread::scope(|scope| {
        let claim = || {
            let store = home.open();
            (0..5).flat_map(|_| due(&store, NOW)).collect::<Vec<_>>()
        };
        let both = [scope.spawn(claim), scope.spawn(claim)];
        both.into_iter().flat_map(|one| one.join().unwrap()).collect()
    });
    claimed.sort_unstable();
    assert_eq!(claimed, ids, "each delivery is claimed once");
}

#[test]
fn a_failed_delivery_is_retried_when_it_is_due_and_can_be_given_up() {
    let home = TestHome::new();
    let store = home.open();
    let id = bind(&store, "d1", &["https://example.com"])[0];
    close(&store, "d1");
    due(&store, NOW);
    block_on(store.delivery_failed(id, "it said 503", AfterFailure::At(NOW + 30))).unwrap();
    let waiting = &store.deliveries(Some(DeliveryState::Due)).unwrap()[0];
    assert_eq!((waiting.last_error.as_deref(), waiting.next_s), (Some("it said 503"), NOW + 30));
    assert_eq!(due(&store, NOW + 29), [0; 0]);
    assert_eq!(due(&store, NOW + 30), [id]);
    block_on(store.delivery_failed(id, "it said 410", AfterFailure::Dead)).unwrap();
    assert_eq!(due(&store, NOW + 999_999), [0; 0]);
    let health = store.health().unwrap();
    assert_eq!((health.deliveries_due, health.deliveries_dead), (0, 1));
    let again = block_on(store.delivery_retry(id)).unwrap();
    assert_eq!((again.state, again.attempts), (DeliveryState::Due, 0));
    assert_eq!(due(&store, NOW + 31), [id]);
    let error = block_on(store.delivery_retry(id)).unwrap_err().to_string();
    assert!(error.contains("it is being sent"), "{error}");
    block_on(store.delivery_done(id, NOW + 32)).unwrap();
    block_on(store.delivery_failed(id, "too late to say so", AfterFailure::At(NOW + 40))).unwrap();
    let done = &store.deliveries(None).unwrap()[0];
    assert_eq!(
        (done.state, done.last_error.as_deref()),
        (DeliveryState::Done, None),
        "a late failure does not undo an arrival"
    );
    for unknown in [block_on(store.delivery_done(99, 0)), block_on(store.delivery_retry(99)).map(drop)] {
        assert!(unknown.unwrap_err().to_string().contains("there is no delivery 99"));
    }
}

#[test]
fn a_delivery_of_a_debate_that_never_opens_is_dropped_after_a_day() {
    let home = TestHome::new();
    let store = home.open();
    bind(&store, "never", &["file:a"]);
    bind(&store, "running", &["file:b"]);
    append(&store, "running", TestLog::new("running", "Why?").records).unwrap();
    let day_s = 24 * 3_600;
    due(&store, NOW + day_s);
    assert_eq!(store.deliveries(None).unwrap().len(), 2);
    due(&store, NOW + day_s + 1);
    let left: Vec<String> =
        store.deliveries(None).unwrap().into_iter().map(|delivery| delivery.debate).collect();
    assert_eq!(left, ["running"]);
}

#[test]
fn asking_for_due_deliveries_writes_nothing_if_there_are_none() {
    let home = TestHome::new();
    let store = home.open();
    bind(&store, "d1", &["file:a"]);
    let commits = store.commits();
    (0..10).for_each(|n| assert_eq!(due(&store, NOW + n), [0; 0]));
    assert_eq!(store.commits(), commits);
}
