//! Copying debates between a file and the store under test, in both directions.

use agon_core::Status;
use agon_measure::calibration::DebateResolution;
use agon_store::{DebateStore, NewDelivery};

use crate::fixtures::{
    OPENED_AT, TestHome, TestLog, append, block_on, close_debate, lease, lesson, load, store_with_debate,
};
use crate::knowledge::{add, note};

/// A store in a file of its own, whatever the store under test is.
fn file_store(folder: &tempfile::TempDir) -> DebateStore {
    DebateStore::open(&folder.path().join("other.db")).unwrap()
}

/// Debates whose memories and ratings depend on each other, resolutions between them, a note, a forgotten entry, a delivery that is over.
fn fill(store: &DebateStore) {
    let delivery = NewDelivery { destination: "file:/tmp/x".into(), created_s: 5 };
    let ids = block_on(store.deliveries_bind("d1", vec![delivery])).unwrap();
    for n in 0..4 {
        close_debate(store, &format!("d{n}"), &format!("Question {}?", n % 2), lesson());
        let winner = DebateResolution::Winner(["A", "B", "C"][n % 3].into());
        block_on(store.resolve_debate(&format!("d{}", n / 2), winner, None, OPENED_AT, None)).unwrap();
    }
    block_on(store.deliveries_due(9, 9)).unwrap();
    block_on(store.delivery_done(ids[0], 9)).unwrap();
    add(store, vec![note("A note", "that no log has")]);
    let forgotten =
        store.knowledge_list(9).unwrap().into_iter().find(|entry| entry.debate.as_deref() == Some("d3"));
    block_on(store.knowledge_forget(&forgotten.unwrap().id)).unwrap();
    let mut open = TestLog::new("open", "Is it over?");
    open.say("Not yet.");
    append(store, "open", open.records).unwrap();
    block_on(agon_engine::Store::release(store, "open")).unwrap();
}

/// Everything that a user sees of a store, in an order that does not depend on when debates were opened.
fn seen(store: &DebateStore) -> String {
    let mut debates = store.list_debates(None).unwrap();
    debates.sort_by(|a, b| a.id.cmp(&b.id));
    let logs: Vec<_> = debates.iter().map(|debate| store.raw_log(&debate.id).unwrap()).collect();
    let resolutions: Vec<_> = debates.iter().map(|debate| store.resolutions(&debate.id).unwrap()).collect();
    let mut knowledge = store.knowledge_list(99).unwrap();
    knowledge.sort_by(|a, b| a.id.cmp(&b.id));
    let agents = ["openai/a", "anthropic/b", "gemini/c"].map(str::to_owned);
    let memories = store.recall_memories(&agents, "question", None, crate::fixtures::OPENED_S, 9).unwrap();
    let deliveries: Vec<_> =
        store.deliveries(None).unwrap().into_iter().map(|one| (one.debate, one.state)).collect();
    let ratings = store.ratings().unwrap();
    format!("{debates:#?} {logs:?} {resolutions:#?} {knowledge:#?} {memories:#?} {deliveries:?} {ratings:#?}")
}

#[test]
fn a_copy_has_everything_in_both_directions_and_copying_again_changes_nothing() {
    let (home, folder, back) = (TestHome::new(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (here, file, third) = (home.open(), file_store(&folder), file_store(&back));
    fill(&file);
    for (from, to) in [(&file, &here), (&here, &third)] {
        let report = block_on(from.copy_to(to, &[])).unwrap();
        assert_eq!((report.copied, report.already_there, report.notes), (5, 0, 1), "{report:?}");
        assert_eq!(seen(to), seen(from));
        let again = block_on(from.copy_to(to, &[])).unwrap();
        assert_eq!((again.copied, again.already_there), (0, 5));
        assert_eq!((again.rebuilt.knowledge, again.rebuilt.memories, again.rebuilt.ratings), (0, 0, 0));
        assert_eq!(seen(to), seen(from));
    }
    assert_eq!(here.search_debates("question", 9).unwrap().len(), 4);
    lease(&here, "open").unwrap();
    let mut log = TestLog::new("open", "Is it over?");
    log.say("Not yet.");
    let closed = log.close(Status::Complete, "Yes.", "No.");
    append(&here, "open", vec![closed]).unwrap();
    assert_eq!(load(&here, "open").unwrap(), log.records, "a copied debate can go on");
}

#[test]
fn running_broken_and_different_debates_are_left_out() {
    let (home, folder) = (TestHome::new(), tempfile::tempdir().unwrap());
    let (here, _) = store_with_debate(&home, "running");
    let file = file_store(&folder);
    for id in ["broken", "different", "good"] {
        close_debate(&here, id, "Which database?", lesson());
    }
    close_debate(&file, "different", "Another question?", lesson());
    home.change("UPDATE events SET body = replace(body, 'So.', 'No.') WHERE seq = 3 AND debate = (SELECT n FROM debates WHERE id = 'broken')");
    let report = block_on(here.copy_to(&file, &[])).unwrap();
    assert_eq!((report.copied, &report.running[..]), (1, &["running".to_owned()][..]));
    let refused: Vec<&str> = report.refused.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(refused, ["broken", "different"]);
    assert!(load(&file, "broken").is_err());
    assert_eq!(load(&file, "good").unwrap(), load(&here, "good").unwrap());
}

#[test]
fn some_debates_can_be_copied_by_their_ids() {
    let (home, folder) = (TestHome::new(), tempfile::tempdir().unwrap());
    let (here, file) = (home.open(), file_store(&folder));
    fill(&here);
    let report = block_on(here.copy_to(&file, &["d1".into()])).unwrap();
    assert_eq!((report.copied, report.notes), (1, 0));
    assert_eq!(file.list_debates(None).unwrap().len(), 1);
    assert!(block_on(here.copy_to(&file, &["nobody".into()])).is_err());
}
