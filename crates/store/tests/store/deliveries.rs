//! "Routing back to the origin with retries and a dead-letter list. None of it lost by `kill -9`."

use agon_store::{Delivery, DeliveryState, NewDelivery, Next, Sqlite};

use crate::debates::{Home, Talk, append, wait};
use crate::lessons::ending;

const NOW: i64 = 1_800_000_000;

fn bind(store: &Sqlite, debate: &str, destinations: &[&str]) -> Vec<i64> {
    let new = destinations.iter().map(|to| NewDelivery { destination: (*to).to_owned(), created_s: NOW });
    wait(store.deliveries_bind(debate, new.collect())).unwrap()
}

fn close(store: &Sqlite, debate: &str) {
    append(store, debate, ending(debate, "Why?", None).0.records).unwrap();
}

fn due(store: &Sqlite, now_s: i64) -> Vec<i64> {
    claimed(store, now_s).into_iter().map(|delivery| delivery.id).collect()
}

fn claimed(store: &Sqlite, now_s: i64) -> Vec<Delivery> {
    wait(store.deliveries_due(now_s, 10)).unwrap()
}

#[test]
fn a_delivery_is_due_when_its_debate_closes_and_done_when_it_arrived() {
    let home = Home::new();
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
    wait(store.delivery_done(ids[0], NOW + 1)).unwrap();
    let done = store.deliveries(Some(DeliveryState::Done)).unwrap();
    assert_eq!((done.len(), done[0].id, done[0].done_s), (1, ids[0], Some(NOW + 1)));
    assert_eq!(due(&store, NOW + 59), [0; 0]);
    assert_eq!(bind(&store, "d1", &["file:late"]).len(), 1);
    assert_eq!(due(&store, NOW + 59).len(), 1, "of a debate that is over, it is due at once");
}

/// "A lease by time so that a killed process's claim lapses after 60 s": not a second earlier.
#[test]
fn a_claim_that_nobody_answers_for_lapses() {
    let home = Home::new();
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
fn two_stores_at_once_never_claim_the_same() {
    let home = Home::new();
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
    assert_eq!(claimed, ids, "all of them, each once");
}

#[test]
fn what_fails_is_tried_again_when_it_is_time_and_given_up_in_the_end() {
    let home = Home::new();
    let store = home.open();
    let id = bind(&store, "d1", &["https://example.com"])[0];
    close(&store, "d1");
    due(&store, NOW);
    wait(store.delivery_failed(id, "it said 503", Next::At(NOW + 30))).unwrap();
    let waiting = &store.deliveries(Some(DeliveryState::Due)).unwrap()[0];
    assert_eq!((waiting.last_error.as_deref(), waiting.next_s), (Some("it said 503"), NOW + 30));
    assert_eq!(due(&store, NOW + 29), [0; 0]);
    assert_eq!(due(&store, NOW + 30), [id]);
    wait(store.delivery_failed(id, "it said 410", Next::Dead)).unwrap();
    assert_eq!(due(&store, NOW + 999_999), [0; 0]);
    let health = store.health().unwrap();
    assert_eq!((health.deliveries_due, health.deliveries_dead), (0, 1));
    let again = wait(store.delivery_retry(id)).unwrap();
    assert_eq!((again.state, again.attempts), (DeliveryState::Due, 0));
    assert_eq!(due(&store, NOW + 31), [id]);
    let error = wait(store.delivery_retry(id)).unwrap_err().to_string();
    assert!(error.contains("it is being sent"), "{error}");
    wait(store.delivery_done(id, NOW + 32)).unwrap();
    wait(store.delivery_failed(id, "too late to say so", Next::At(NOW + 40))).unwrap();
    let done = &store.deliveries(None).unwrap()[0];
    assert_eq!(
        (done.state, done.last_error.as_deref()),
        (DeliveryState::Done, None),
        "what arrived has arrived"
    );
    for unknown in [wait(store.delivery_done(99, 0)), wait(store.delivery_retry(99)).map(drop)] {
        assert!(unknown.unwrap_err().to_string().contains("there is no delivery 99"));
    }
}

/// "Bound deliveries of debates that never opened are swept after a day"; those of debates that run are not.
#[test]
fn what_was_bound_to_a_debate_that_never_opened_is_dropped_after_a_day() {
    let home = Home::new();
    let store = home.open();
    bind(&store, "never", &["file:a"]);
    bind(&store, "running", &["file:b"]);
    append(&store, "running", Talk::new("running", "Why?").records).unwrap();
    let day_s = 24 * 3_600;
    due(&store, NOW + day_s);
    assert_eq!(store.deliveries(None).unwrap().len(), 2);
    due(&store, NOW + day_s + 1);
    let left: Vec<String> =
        store.deliveries(None).unwrap().into_iter().map(|delivery| delivery.debate).collect();
    assert_eq!(left, ["running"]);
}

#[test]
fn to_ask_for_what_is_due_writes_nothing_when_nothing_is() {
    let home = Home::new();
    let store = home.open();
    bind(&store, "d1", &["file:a"]);
    let commits = store.commits();
    (0..10).for_each(|n| assert_eq!(due(&store, NOW + n), [0; 0]));
    assert_eq!(store.commits(), commits);
}
