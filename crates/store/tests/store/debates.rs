//! Debates for the tests.

use std::path::PathBuf;

use agon_core::{
    Asked, Brief, Debate, Event, Fidelity, LOG_VERSION, Lesson, Limits, Outcome, Record, Reply, Seat, Status,
    Termination, Usage,
};
use agon_engine::{Store, StoreError};
use agon_store::Sqlite;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// A folder that is gone after the test, and the store's file in it.
pub(crate) struct Home {
    folder: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("agon.db")
    }

    pub(crate) fn open(&self) -> Sqlite {
        Sqlite::open(&self.file()).unwrap()
    }

    /// A plain connection, for what the store itself would never do.
    pub(crate) fn plain(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.file()).unwrap()
    }

    /// The names of the owners' lock files.
    pub(crate) fn locks(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path().join("agon.db.owners")).into_iter().flatten();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

pub(crate) fn brief(id: &str, question: &str) -> Brief {
    Brief {
        version: LOG_VERSION,
        id: id.into(),
        protocol: "deep".into(),
        question: question.into(),
        files: Vec::new(),
        options: Map::new(),
        seats: vec![Seat { id: "debater-1".into(), role: "debater".into(), model: "script/a".into() }],
        seed: 7,
        limits: Limits::default(),
        templates: [("deep/answer.hbs".to_owned(), "00".to_owned())].into(),
        written_by: String::new(),
        created_at: "2026-05-01T10:00:00Z".into(),
        parent: None,
    }
}

/// A log that grows: an ask, its call and its reply, one phase after another.
pub(crate) struct Talk {
    debate: Debate,
    pub(crate) records: Vec<Record>,
}

impl Talk {
    pub(crate) fn new(id: &str, question: &str) -> Self {
        Self::of(brief(id, question))
    }

    pub(crate) fn of(brief: Brief) -> Self {
        let (debate, record) = Debate::open(brief).unwrap();
        Self { debate, records: vec![record] }
    }

    pub(crate) fn id(&self) -> &str {
        &self.debate.brief.id
    }

    /// Adds an event and gives its record.
    pub(crate) fn push(&mut self, event: Event) -> Record {
        let record = self.debate.push(event, self.debate.at_ms + 5).unwrap();
        self.records.push(record.clone());
        record
    }

    /// Adds a phase in which one seat says this: three records.
    pub(crate) fn say(&mut self, text: &str) -> Vec<Record> {
        self.say_value(text, None)
    }

    pub(crate) fn say_value(&mut self, text: &str, value: Option<Value>) -> Vec<Record> {
        let ask = self.debate.asks() + 1;
        let (seat, model) = ("debater-1".to_owned(), "script/a".to_owned());
        let asked = Asked {
            id: ask,
            seat,
            model: model.clone(),
            label: None,
            about: None,
            schema: None,
            prompt: "0".into(),
        };
        let reply = Reply::Said {
            text: text.into(),
            value,
            model: model.clone(),
            usage: Usage::default(),
            cut_off: false,
            shortened: None,
        };
        vec![
            self.push(Event::Asked { phase: "answer".into(), round: ask, asks: vec![asked] }),
            self.push(Event::Sent { ask, attempt: 1, model, worst_usd: Some(0.1 + 0.2), errand: false }),
            self.push(Event::Replied { ask, reply }),
        ]
    }

    pub(crate) fn close(&mut self, status: Status, answer: &str, dissent: &str) -> Record {
        self.close_with(status, answer, dissent, None)
    }

    pub(crate) fn close_with(
        &mut self,
        status: Status,
        answer: &str,
        dissent: &str,
        lesson: Option<Lesson>,
    ) -> Record {
        let outcome = Outcome {
            status,
            termination: Termination::Converged,
            rounds_completed: 1,
            verdict: json!({"answer": answer, "rounds": [{"note": "deeper"}]}),
            dissent: vec![json!({"position": dissent})],
            fidelity: Fidelity::Full,
            warnings: Vec::new(),
            labels: [("A".to_owned(), "debater-1".to_owned())].into(),
            positions: Vec::new(),
            passed: None,
            lesson,
        };
        self.push(Event::Closed { outcome: Box::new(outcome) })
    }
}

pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

pub(crate) fn append(store: &Sqlite, id: &str, records: Vec<Record>) -> Result<(), StoreError> {
    wait(store.append(id, records))
}

pub(crate) fn load(store: &Sqlite, id: &str) -> Result<Vec<Record>, StoreError> {
    wait(store.load(id))
}

pub(crate) fn lease(store: &Sqlite, id: &str) -> Result<(), StoreError> {
    wait(store.lease(id))
}

/// A store with one debate of four events, and the debate.
pub(crate) fn one(home: &Home, id: &str) -> (Sqlite, Talk) {
    let store = home.open();
    let mut talk = Talk::new(id, "Tea or coffee?");
    talk.say("Tea.");
    append(&store, id, talk.records.clone()).unwrap();
    (store, talk)
}
