//! What the evidence of a debate costs when it closes: the protocol's reading of the log, and the figures made of it.
//!
//! The largest debate that each protocol allows, up to seven seats and four rounds, with positions of about 150 words.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use agon_core::play::{invent, play};
use agon_core::{
    Ask, Brief, BriefFile, Debate, DebateLimits, LOG_VERSION, Protocol, Reply, Request, SeededDraw, options,
    protocol,
};
use agon_measure::evidence;
use serde_json::Value;

use crate::{median, ms};

const RUNS: usize = 101;
const WORDS: usize = 150;

/// Options that make a debate long, for every protocol that accepts them.
const LONG: [(&str, &str); 10] = [
    ("min_rounds", "4"),
    ("max_rounds", "4"),
    ("agreement_score", "1.0"),
    ("judges", "7"),
    ("councillors", "6"),
    ("rounds", "4"),
    ("exchanges", "5"),
    ("focus", "queues"),
    ("count", "7"),
    ("debate", "true"),
];

/// The targets, in ms.
const TARGETS_MS: [(&str, f64); 2] = [("deep", 0.5), ("council", 5.0)];

/// Prints a row for each protocol.
pub(crate) fn measure() {
    println!("Evidence at closing, median of {RUNS} in ms; beside it the worst");
    for protocol in agon_protocols::all() {
        let name = protocol.info().name;
        // An invented ranking rarely names each of seven proposals once, so fewer seats are tried as well.
        let Some(debate) = [7, 5, 3].into_iter().find_map(|models| played(protocol, models)) else {
            println!("  {name} could not be played with invented answers");
            continue;
        };
        let positions = protocol.view(&debate).unwrap().positions;
        let mut figures_ms =
            times_ms(|| drop(black_box(evidence(black_box(&debate), black_box(&positions)))));
        let mut both_ms = times_ms(|| {
            let view = protocol.view(black_box(&debate)).unwrap();
            black_box(evidence(&debate, &view.positions));
        });
        let seats = positions.rounds.first().map_or(0, |round| round.stands.len());
        let (rounds, events) = (positions.rounds.len(), debate.events);
        let what = format!("  {name}, {seats} seats, {rounds} rounds, {events} events");
        let target = TARGETS_MS.iter().find(|(wanted, _)| *wanted == name);
        let target = target.map_or(String::new(), |(_, target)| format!("{target} ms"));
        println!("{what:<44} {:>9.2} ms {:>11.2} ms {target:>10}", median(&mut both_ms), both_ms[RUNS - 1]);
        println!(
            "{:<44} {:>9.2} ms {:>11.2} ms",
            "    the figures alone",
            median(&mut figures_ms),
            figures_ms[RUNS - 1]
        );
    }
}

fn times_ms(mut work: impl FnMut()) -> Vec<f64> {
    let time = |_| {
        let start = Instant::now();
        work();
        ms(start.elapsed())
    };
    (0..RUNS).map(time).collect()
}

/// Plays a debate with invented answers; `None` if the protocol does not accept so many models or the answers.
fn played(protocol: &dyn Protocol, models: usize) -> Option<Debate> {
    let info = protocol.info();
    let given = LONG.map(|(key, value)| (key.to_owned(), value.to_owned())).into_iter();
    let given = given.filter(|option| options::resolve(info.options, [option.clone()]).is_ok());
    let request = Request {
        question: "Should the team adopt the queue?".into(),
        files: vec![BriefFile { path: "plan.md".into(), text: "Adopt the queue.".into(), part: None }],
        models: (0..models).map(|n| format!("vendor-{n}/model")).collect(),
        roles: BTreeMap::new(),
        options: options::resolve(info.options, given).ok()?,
        seed: 7,
    };
    let brief = Brief {
        version: LOG_VERSION,
        id: "bench".into(),
        protocol: info.name.into(),
        seats: protocol.seats(&request).ok()?,
        question: request.question,
        files: request.files,
        options: request.options,
        seed: 7,
        nonce: "nonce".into(),
        limits: DebateLimits::default(),
        templates: protocol::template_hashes(protocol),
        written_by: String::new(),
        created_at: "2026-01-01T00:00:00Z".into(),
        parent: None,
    };
    let opened = vec![Debate::open(brief).unwrap().1];
    let mut answer = |debate: &Debate, ask: &Ask| {
        let mut tries = (0..50).map(|more| invent(protocol, debate, ask, 7 + 1000 * more));
        let said = tries.find(|reply| matches!(reply, Reply::Said { .. }));
        let mut reply = said.unwrap_or_else(|| invent(protocol, debate, ask, 7));
        if let Reply::Said { text, value, .. } = &mut reply {
            lengthen(value, &ask.prompt.hash());
            if value.is_none() {
                *text = prose(&ask.prompt.hash());
            }
        }
        reply
    };
    let records = play(protocol, opened, &mut answer, &mut |_| {}).ok()?;
    Debate::from_records(&records).ok()
}

/// Makes positions as long as models write them.
fn lengthen(value: &mut Option<Value>, salt: &str) {
    let fields = value.as_mut().and_then(Value::as_object_mut);
    for (key, field) in fields.into_iter().flatten() {
        if ["revised_position", "position", "proposal"].contains(&key.as_str()) && field.is_string() {
            *field = Value::from(prose(&format!("{salt}{key}")));
        }
    }
}

fn prose(salt: &str) -> String {
    const VOCABULARY: &str = "queue team latency adopt pilot risk not because costs deploy before rollback measure \
                              throughput never month owner fails scale simple";
    let vocabulary: Vec<&str> = VOCABULARY.split_whitespace().collect();
    let mut draw = SeededDraw::new(7, salt);
    let words: Vec<&str> = (0..WORDS).map(|_| vocabulary[draw.below(vocabulary.len())]).collect();
    words.join(" ")
}
