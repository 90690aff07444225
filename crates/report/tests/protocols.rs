//! Every entry of `PROTOCOLS` and `COMPANIONS` is readable in every form, also when nobody answers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex};

use agon_core::document::document;
use agon_core::play::{invent, play};
use agon_core::{
    Absence, Artifact, Ask, Brief, Debate, LOG_VERSION, Limits, Protocol, Record, Reply, Request, options,
    protocol,
};
use agon_protocols::all;
use agon_report::{Live, Style, html, markdown, text, yaml};
use serde_json::{Value, json};

const PLAIN: Style = Style { color: false, width: 80, unicode: true };

fn brief(protocol: &dyn Protocol) -> Brief {
    let request = Request {
        question: "Should the team adopt the queue?".into(),
        files: vec![Artifact { path: "plan.md".into(), text: "Adopt the queue.".into(), part: None }],
        models: ["one/a-1", "two/b-2", "three/c-3"].map(String::from).to_vec(),
        roles: BTreeMap::new(),
        options: options::resolve(protocol.options(), []).unwrap(),
        seed: 7,
    };
    Brief {
        version: LOG_VERSION,
        id: "test".into(),
        protocol: protocol.name().into(),
        seats: protocol.seats(&request).unwrap(),
        question: request.question,
        files: request.files,
        options: request.options,
        seed: 3,
        limits: Limits::default(),
        templates: protocol::template_hashes(protocol),
        written_by: String::new(),
        created_at: "2026-01-01T00:00:00Z".into(),
        parent: None,
    }
}

/// Plays a debate in which the asks that `absent` names bring nothing.
fn played(protocol: &dyn Protocol, absent: fn(u32) -> bool) -> Vec<Record> {
    let mut answer = |debate: &Debate, ask: &Ask| match absent(ask.id) {
        true => Reply::Absent { why: Absence::Unreachable, detail: "connection refused".into() },
        false => invent(protocol, debate, ask, 5),
    };
    play(protocol, vec![Debate::open(brief(protocol)).unwrap().1], &mut answer, &mut |_| {}).unwrap()
}

fn words(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| words(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| words(value, found)),
        _ => {}
    }
}

#[test]
fn every_protocol_is_readable_whoever_is_absent() {
    for protocol in all() {
        for absent in [|_| false, |id| id % 3 == 0, |_| true] as [fn(u32) -> bool; 3] {
            let debate = Debate::from_records(&played(protocol, absent)).unwrap();
            let document = document(&debate, json!({}));
            let shown = text(&document, &PLAIN);
            assert!(shown.contains("Who sat where") && shown.contains("agon show test"), "{shown}");
            assert_eq!(shown.contains("What was missing"), debate.absences().next().is_some(), "{shown}");
            assert!(html(&document, &debate).ends_with("</html>\n"));
            assert!(yaml(&document).is_ok());
            // Every word of every reply is in the long form.
            let long = markdown(&document, &debate);
            let mut said = Vec::new();
            for (_, reply) in debate.turns.iter().flat_map(agon_core::Turn::settled) {
                words(reply.value().unwrap_or(&json!(reply.text())), &mut said);
            }
            for said in said {
                let spoken = said.replace('_', " ");
                assert!(long.contains(&said) || long.contains(&spoken), "{said:?} is missing in\n{long}");
            }
        }
    }
}

#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn while_it_runs_no_label_is_shown_with_its_seat_or_model() {
    for protocol in all() {
        let records = played(protocol, |id| id % 4 == 0);
        let paper = Paper::default();
        let mut live = Live::plain(protocol, PLAIN, Box::new(paper.clone()));
        records.iter().for_each(|record| live.record(record));
        let shown = String::from_utf8(paper.0.lock().unwrap().clone()).unwrap();
        let debate = Debate::from_records(&records).unwrap();
        let labels = debate.turns.iter().flat_map(|turn| &turn.asks).filter_map(|ask| ask.label.clone());
        for label in labels {
            for line in shown.lines().filter(|line| line.contains(&label)) {
                for seat in &debate.brief.seats {
                    assert!(!line.contains(&seat.model) && !line.contains(&seat.id), "{line}");
                }
            }
        }
        assert!(shown.contains(&debate.brief.question), "{shown}");
    }
}
