//! Debates to put into a store.

use agon_core::lesson::{EvidencedClaim, LessonBallot, LessonDecision, LessonSeat, RatingChange};
use agon_core::{
    AskRecord, Brief, CallUsage, Debate, DebateLesson, DebateLimits, Event, Fidelity, LOG_VERSION, LogRecord,
    Outcome, Reply, Seat, Status, Termination,
};
use agon_engine::{Store, StoreError};
use agon_store::{DebateStore, StoreAddress};
use serde_json::{Map, Value, json};

pub(crate) use crate::test_home::TestHome;

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
        nonce: "nonce".into(),
        limits: DebateLimits::default(),
        templates: [("deep/answer.hbs".to_owned(), "00".to_owned())].into(),
        written_by: String::new(),
        created_at: "2026-05-01T10:00:00Z".into(),
        parent: None,
    }
}

/// A log that grows by phases of one ask, its call and its reply.
pub(crate) struct TestLog {
    debate: Debate,
    pub(crate) records: Vec<LogRecord>,
}

impl TestLog {
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

    /// Adds an event and returns its record.
    pub(crate) fn push(&mut self, event: Event) -> LogRecord {
        let record = self.debate.push(event, self.debate.at_ms + 5).unwrap();
        self.records.push(record.clone());
        record
    }

    /// Adds a phase in which one seat says `text`: three records.
    pub(crate) fn say(&mut self, text: &str) -> Vec<LogRecord> {
        self.say_value(text, None)
    }

    pub(crate) fn say_value(&mut self, text: &str, value: Option<Value>) -> Vec<LogRecord> {
        let ask = self.debate.asks() + 1;
        let (seat, model) = ("debater-1".to_owned(), "script/a".to_owned());
        let asked = AskRecord {
            id: ask,
            seat,
            model: model.clone(),
            label: None,
            about: None,
            schema: None,
            repeats: None,
            prompt: "0".into(),
        };
        let reply = Reply::Said {
            text: text.into(),
            value,
            model: model.clone(),
            usage: CallUsage::default(),
            cut_off: false,
            shortened: None,
        };
        vec![
            self.push(Event::Asked { phase: "answer".into(), round: ask, asks: vec![asked] }),
            self.push(Event::Sent {
                ask,
                attempt: 1,
                model,
                worst_usd: Some(0.1 + 0.2),
                worst_tokens: 0,
                errand: false,
            }),
            self.push(Event::Replied { ask, reply }),
        ]
    }

    pub(crate) fn close(&mut self, status: Status, answer: &str, dissent: &str) -> LogRecord {
        self.close_with(status, answer, dissent, None)
    }

    pub(crate) fn close_with(
        &mut self,
        status: Status,
        answer: &str,
        dissent: &str,
        lesson: Option<DebateLesson>,
    ) -> LogRecord {
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

/// Opens the store that a test has given to another process.
pub(crate) fn open_address(address: &str) -> Result<DebateStore, StoreError> {
    DebateStore::open(StoreAddress::parse(address.as_ref())?)
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

pub(crate) fn append(store: &DebateStore, id: &str, records: Vec<LogRecord>) -> Result<(), StoreError> {
    block_on(store.append(id, records))
}

pub(crate) fn load(store: &DebateStore, id: &str) -> Result<Vec<LogRecord>, StoreError> {
    block_on(store.load(id))
}

pub(crate) fn lease(store: &DebateStore, id: &str) -> Result<(), StoreError> {
    block_on(store.lease(id))
}

/// A store with one debate of four events, and the debate.
pub(crate) fn store_with_debate(home: &TestHome, id: &str) -> (DebateStore, TestLog) {
    let store = home.open();
    let mut log = TestLog::new(id, "Tea or coffee?");
    log.say("Tea.");
    append(&store, id, log.records.clone()).unwrap();
    (store, log)
}

/// When the test debates open, in seconds since 1970. They close less than a second later.
pub(crate) const OPENED_S: i64 = 1_777_629_600;

/// The same moment as the log writes it.
pub(crate) const OPENED_AT: &str = "2026-05-01T10:00:00Z";

/// A debate of three agents: a won and was sure, b lost and was sure, c lost and was unsure. a and b voted for A, c for C.
pub(crate) fn lesson() -> DebateLesson {
    DebateLesson {
        decision: Some(LessonDecision {
            position: "Use one SQLite file.".into(),
            answer: "One file is enough, and a copy of it is a backup.".into(),
            claims: vec![
                EvidencedClaim { claim: "Writes are few.".into(), evidence: "measured: 3 a second".into() },
                EvidencedClaim { claim: "Nobody runs a server.".into(), evidence: String::new() },
            ],
            share: 2.0 / 3.0,
            dissent: vec!["A server scales further.".into()],
            labels: vec!["A".into()],
        }),
        parts: vec![
            part("s1", "A", "openai/a", (0.9, true), 16.0, &[("s2", 1.0), ("s3", 1.0)], Some((&["A"], 0.8))),
            part(
                "s2",
                "B",
                "anthropic/b",
                (0.9, false),
                -2.5,
                &[("s1", 0.0), ("s3", 1.0)],
                Some((&["A"], 0.6)),
            ),
            part(
                "s3",
                "C",
                "gemini/c",
                (0.3, false),
                -13.5,
                &[("s1", 0.0), ("s2", 0.0)],
                Some((&["C"], 0.7)),
            ),
        ],
    }
}

pub(crate) fn part(
    seat: &str,
    label: &str,
    agent: &str,
    (confidence, won): (f64, bool),
    change: f64,
    against: &[(&str, f64)],
    ballot: Option<(&[&str], f64)>,
) -> LessonSeat {
    let against = against.iter().map(|(seat, score)| ((*seat).to_owned(), *score)).collect();
    LessonSeat {
        seat: seat.into(),
        label: label.into(),
        agent: Some(agent.into()),
        position: Some(format!("Proposal {label} is to be taken.")),
        confidence: Some(confidence),
        won,
        score: Some(7.0),
        rated: Some(RatingChange { before: 1500.0, change, against }),
        ballot: ballot.map(|(choice, confidence)| LessonBallot {
            choice: choice.iter().map(|label| (*label).to_owned()).collect(),
            confidence,
        }),
    }
}

/// The log of a closed debate, and its last record.
pub(crate) fn closed_log(id: &str, question: &str, lesson: Option<DebateLesson>) -> (TestLog, LogRecord) {
    closed_log_at(id, question, OPENED_AT, lesson)
}

pub(crate) fn closed_log_at(
    id: &str,
    question: &str,
    created_at: &str,
    lesson: Option<DebateLesson>,
) -> (TestLog, LogRecord) {
    let mut brief = brief(id, question);
    brief.created_at = created_at.into();
    let mut log = TestLog::of(brief);
    log.say("So.");
    let closed = log.close_with(Status::Complete, "One file.", "A server.", lesson);
    (log, closed)
}

/// Stores a debate that closes with this lesson.
pub(crate) fn close_debate(store: &DebateStore, id: &str, question: &str, lesson: DebateLesson) {
    close_debate_at(store, id, question, OPENED_AT, lesson);
}

pub(crate) fn close_debate_at(
    store: &DebateStore,
    id: &str,
    question: &str,
    created_at: &str,
    lesson: DebateLesson,
) {
    append(store, id, closed_log_at(id, question, created_at, Some(lesson)).0.records).unwrap();
}

/// Every row of every table but the logs and the word indexes.
pub(crate) fn table_rows(home: &TestHome) -> Vec<String> {
    let tables = [
        "knowledge",
        "memories",
        "memory_observations",
        "ratings",
        "rating_history",
        "ballots",
        "resolutions",
        "deliveries",
        "embedding_models",
        "vectors",
        "vector_signs",
    ];
    let mut all: Vec<String> = tables
        .iter()
        .flat_map(|table| home.rows(table).into_iter().map(move |row| format!("{table} {row}")))
        .collect();
    all.sort();
    all
}

pub(crate) fn count_rows(home: &TestHome, table: &str) -> i64 {
    home.number(&format!("SELECT count(*) FROM {table}"))
}
