//! Groups that fail, given to the writer's desk as they are, without a queue or a thread.

use agon_core::event::open_all;
use agon_core::{Debate, Event};
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::{catalog, schema};

fn desk(folder: &TempDir) -> Desk {
    let place = Place::prepare(&folder.path().join("agon.db")).unwrap();
    let mut connection = place.connect().unwrap();
    schema::prepare(&mut connection).unwrap();
    let owner = Owner::new(place.owners.clone());
    Desk { connection, owner, place, commits: Arc::default() }
}

/// The records of a debate that was opened and in which a person has said this.
fn records(id: &str, text: &str) -> Vec<Record> {
    let brief = serde_json::from_value(json!({
        "version": 1, "id": id, "protocol": "deep", "question": "Why?", "options": {}, "seats": [], "seed": 1,
        "limits": agon_core::Limits::default(), "templates": {}, "created_at": "2026-05-01T10:00:00Z",
    }));
    let (mut debate, opened) = Debate::open(brief.unwrap()).unwrap();
    let said = debate.push(Event::Interjected { by: "me".into(), text: text.into() }, 5).unwrap();
    vec![opened, said]
}

fn job(id: &str, records: &[Record]) -> Job {
    Job { id: id.into(), task: Task::Append(records.to_vec()), done: oneshot::channel().0 }
}

fn ids(desk: &Desk) -> Vec<String> {
    let listed = catalog::list(&desk.connection, &desk.place, None).unwrap();
    listed.into_iter().map(|debate| debate.id).collect()
}

/// "When the commit fails, nobody's is there and everybody is told."
#[test]
fn a_commit_that_fails_writes_nothing_of_the_group() {
    let folder = tempfile::tempdir().unwrap();
    let mut desk = desk(&folder);
    // A reference that leads nowhere is found out at the commit and not before.
    let spoil = "CREATE TABLE bad (n INTEGER REFERENCES debates (n) DEFERRABLE INITIALLY DEFERRED);
        CREATE TRIGGER spoil AFTER INSERT ON events WHEN new.body LIKE '%spoil%'
        BEGIN INSERT INTO bad VALUES (-1); END;";
    desk.connection.execute_batch(spoil).unwrap();
    let (good, bad) = (records("good", "fine"), records("bad", "spoil"));
    let fault = desk.commit(&[job("good", &good), job("bad", &bad)]).unwrap_err();
    assert!(matches!(fault, Fault::Sql(_)), "{fault:?}");
    assert_eq!(ids(&desk), [""; 0]);
    let answers = desk.commit(&[job("good", &good)]).unwrap();
    assert!(matches!(answers[..], [Ok(())]), "the next group is not harmed");
    let stored = catalog::raw(&desk.connection, "good").unwrap();
    assert_eq!(open_all(stored).unwrap(), good);
    assert_eq!(desk.commits.load(Ordering::Relaxed), 1);
}

/// A full disk is told in a sentence, and nothing is half-written.
#[test]
fn a_full_disk_leaves_nothing_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut desk = desk(&folder);
    let pages: i64 = desk.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    let limit = |desk: &Desk, pages: i64| {
        desk.connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
    };
    limit(&desk, pages + 2);
    let (small, large) = (records("small", "fine"), records("large", &"much ".repeat(20_000)));
    let group = [job("small", &small), job("large", &large)];
    let told: Vec<Answer> = match desk.commit(&group) {
        Ok(answers) => answers.into_iter().filter(Result::is_err).collect(),
        Err(fault) => vec![Err(desk.place.tell(fault))],
    };
    let sentence = told.into_iter().next().unwrap().unwrap_err().to_string();
    assert!(
        sentence.contains("agon.db") && sentence.contains("the disk is full: free some space"),
        "{sentence}"
    );
    assert!(!ids(&desk).contains(&"large".to_owned()));
    let events: i64 = desk.connection.query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
    assert_eq!(events as usize, 2 * ids(&desk).len(), "whole debates only");
    limit(&desk, 1_000_000);
    assert!(
        matches!(desk.commit(&[job("large", &large)]).unwrap()[..], [Ok(())]),
        "and it goes on when there is room"
    );
}
