//! How long the evidence of a debate takes: `cargo bench -p agon-evidence --bench section`.
//!
//! Seven seats and four rounds where the protocol has as many, answers of about 150 words. The target is 5 ms.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::collections::BTreeMap;
use std::time::Instant;

use agon_core::SeededDraw;
use agon_core::play::{invent, play};
use agon_core::{
    Artifact, Ask, Brief, Debate, LOG_VERSION, Limits, Protocol, Reply, Request, options, protocol,
};
use agon_measure::section;
use serde_json::Value;

const RUNS: usize = 101;
const WORDS: usize = 150;

type Case = (&'static str, usize, &'static [(&'static str, &'static str)]);

/// The protocols, how many models are named, and the options that make four rounds, or as many as there can be. A made-up ranking of
/// seven proposals hardly ever has each of them once, so that an arena has three.
const CASES: [Case; 5] = [
    ("deep", 7, &[("min_rounds", "4"), ("max_rounds", "4"), ("agreement_score", "1.0")]),
    ("panel", 7, &[("judges", "7")]),
    ("council", 7, &[("councillors", "6"), ("rounds", "4"), ("focus", "queues")]),
    ("arena", 3, &[("max_extended_rounds", "0")]),
    ("review", 7, &[("count", "7"), ("debate", "true")]),
];

fn main() {
    println!("protocol   seats  rounds  events  median ms  worst ms, of {RUNS}");
    for (name, models, given) in CASES {
        let protocol = agon_protocols::find(name).unwrap();
        let debate = played(protocol, models, given);
        let mut times: Vec<f64> = (0..RUNS)
            .map(|_| {
                let start = Instant::now();
                std::hint::black_box(section(protocol, std::hint::black_box(&debate)));
                start.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let stands = protocol.stands(&debate).unwrap();
        let seats = stands.rounds.first().map_or(0, |held| held.stands.len());
        let (rounds, events) = (stands.rounds.len(), debate.events);
        println!(
            "{name:<10} {seats:>5} {rounds:>7} {events:>7} {:>10.2} {:>9.2}",
            times[RUNS / 2],
            times[RUNS - 1]
        );
    }
}

fn played(protocol: &dyn Protocol, models: usize, given: &[(&str, &str)]) -> Debate {
    let known = |key: &str| protocol.options().iter().any(|opt| opt.key == key);
    let given = given
        .iter()
        .filter(|(key, _)| known(key))
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let request = Request {
        question: "Should the team adopt the queue?".into(),
        files: vec![Artifact { path: "plan.md".into(), text: "Adopt the queue.".into(), part: None }],
        models: (0..models).map(|n| format!("vendor-{n}/model")).collect(),
        roles: BTreeMap::new(),
        options: options::resolve(protocol.options(), given.collect::<Vec<_>>()).unwrap(),
        seed: 7,
    };
    let brief = Brief {
        version: LOG_VERSION,
        id: "bench".into(),
        protocol: protocol.name().into(),
        seats: protocol.seats(&request).unwrap(),
        question: request.question,
        files: request.files,
        options: request.options,
        seed: 7,
        limits: Limits::default(),
        templates: protocol::template_hashes(protocol),
        written_by: String::new(),
        created_at: "2026-01-01T00:00:00Z".into(),
        parent: None,
    };
    let opened = vec![Debate::open(brief).unwrap().1];
    let mut answer = |debate: &Debate, ask: &Ask| {
        let mut tries = (0..50).map(|more| invent(protocol, debate, ask, 7 + 1000 * more));
        let mut reply = tries.find(|reply| matches!(reply, Reply::Said { .. })).unwrap();
        if let Reply::Said { text, value, .. } = &mut reply {
            lengthen(value, &ask.prompt.hash());
            if value.is_none() {
                *text = prose(&ask.prompt.hash());
            }
        }
        reply
    };
    let records = play(protocol, opened, &mut answer, &mut |_| {}).unwrap();
    Debate::from_records(&records).unwrap()
}

/// Positions as long as models write them.
fn lengthen(value: &mut Option<Value>, salt: &str) {
    let fields = value.as_mut().and_then(Value::as_object_mut);
    for (key, field) in fields.into_iter().flatten() {
        if ["revised_position", "position", "proposal"].contains(&key.as_str()) && field.is_string() {
            *field = Value::from(prose(&format!("{salt}{key}")));
        }
    }
}

fn prose(salt: &str) -> String {
    const VOCABULARY: [&str; 20] = [
        "queue",
        "team",
        "latency",
        "adopt",
        "pilot",
        "risk",
        "not",
        "because",
        "costs",
        "deploy",
        "before",
        "rollback",
        "measure",
        "throughput",
        "never",
        "month",
        "owner",
        "fails",
        "scale",
        "simple",
    ];
    let mut draw = SeededDraw::new(7, salt);
    let words: Vec<&str> = (0..WORDS).map(|_| VOCABULARY[draw.below(VOCABULARY.len())]).collect();
    words.join(" ")
}
