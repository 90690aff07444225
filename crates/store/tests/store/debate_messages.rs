//! What is said to a debate that another process runs.

use agon_store::DebateMessage;

use crate::fixtures::{TestHome, block_on, close_debate, lesson, store_with_debate};

#[test]
fn messages_stay_in_order_until_their_effect_is_in_the_log() {
    let home = TestHome::new();
    let (store, log) = store_with_debate(&home, "d1");
    let said = DebateMessage::Interject { by: "ada".into(), text: "What does it cost?".into() };
    let answer = DebateMessage::Answer { ask: 3, text: None, insists: false };
    for message in [&said, &answer, &DebateMessage::Stop] {
        block_on(store.send_message("d1", message.clone())).unwrap();
    }
    let unread = home.open().unread_messages().unwrap();
    assert_eq!(
        unread.iter().map(|stored| &stored.message).collect::<Vec<_>>(),
        [&said, &answer, &DebateMessage::Stop]
    );
    assert!(
        unread.iter().all(|stored| stored.debate == "d1" && stored.after_event == log.records.len() as u64)
    );
    block_on(store.remove_messages(vec![unread[0].n])).unwrap();
    assert_eq!(store.unread_messages().unwrap(), unread[1..]);
}

#[test]
fn a_debate_that_is_over_has_no_messages() {
    let home = TestHome::new();
    let store = home.open();
    close_debate(&store, "d1", "Why?", lesson());
    block_on(store.send_message("d1", DebateMessage::Conclude)).unwrap();
    assert_eq!(store.unread_messages().unwrap(), []);
}
