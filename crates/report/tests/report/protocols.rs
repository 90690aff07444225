//! Every protocol is readable in every form, also when nobody answers.

use std::collections::BTreeMap;

use agon_core::play::{invent, play};
use agon_core::{
    AbsenceReason, Ask, Brief, BriefFile, Debate, DebateLimits, LOG_VERSION, LogRecord, OptionKind,
    PhaseTurn, Protocol, Reply, Request, Seat, options, protocol,
};
use agon_report::{DebateExcerpt, LiveView, yaml};
use serde_json::{Value, json};

use crate::live::SharedBuffer;
use crate::samples::{PLAIN, ReadDebate};

pub(crate) fn brief(protocol: &dyn Protocol) -> Brief {
    let request = Request {
        question: "Should the team adopt the queue?".into(),
        files: vec![BriefFile { path: "plan.md".into(), text: "Adopt the queue.".into(), part: None }],
        models: ["one/a-1", "two/b-2", "three/c-3"].map(String::from).to_vec(),
        roles: BTreeMap::new(),
        options: options::resolve(protocol.info().options, []).unwrap(),
        seed: 7,
    };
    Brief {
        version: LOG_VERSION,
        id: "test".into(),
        protocol: protocol.info().name.into(),
        seats: protocol.seats(&request).unwrap(),
        question: request.question,
        files: request.files,
        options: request.options,
        seed: 3,
        nonce: "nonce".into(),
        limits: DebateLimits::default(),
        templates: protocol::template_hashes(protocol),
        written_by: String::new(),
        created_at: "2026-01-01T00:00:00Z".into(),
        parent: None,
    }
}

/// Plays a debate with invented answers in which the asks that `is_absent` names bring nothing.
pub(crate) fn played(protocol: &dyn Protocol, is_absent: fn(u32) -> bool) -> Vec<LogRecord> {
    let mut answer = |debate: &Debate, ask: &Ask| match is_absent(ask.id) {
        true => Reply::Absent { why: AbsenceReason::Unreachable, detail: "connection refused".into() },
        false => invent(protocol, debate, ask, 5),
    };
    play(protocol, vec![Debate::open(brief(protocol)).unwrap().1], &mut answer, &mut |_| {}).unwrap()
}

fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| strings(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, found)),
        _ => {}
    }
}

/// What a clerk says of two proposals names both, and is marked where it does not verify.
#[test]
fn a_transcript_marks_a_pair_that_does_not_verify() {
    let arena = agon_protocols::all().into_iter().find(|protocol| protocol.info().name == "arena").unwrap();
    let debate = Debate::from_records(&played(arena, |_| false)).unwrap();
    let long = ReadDebate::new(arena, debate).markdown();
    assert!(long.contains("# (does not verify and does not count) Agent "), "{long}");
    assert!(!long.contains("**B**: Agent"), "{long}");
}

#[test]
fn every_protocol_is_readable_whoever_is_absent() {
    for protocol in agon_protocols::all() {
        for is_absent in [|_| false, |id| id % 3 == 0, |_| true] as [fn(u32) -> bool; 3] {
            let records = played(protocol, is_absent);
            let read = ReadDebate::new(protocol, Debate::from_records(&records).unwrap());
            let shown = read.terminal(&PLAIN);
            assert!(shown.contains("Seats") && shown.contains("agon show test"), "{shown}");
            let any_absent = read.debate.absences().next().is_some();
            assert!(shown.contains("What was missing") || !any_absent, "{shown}");
            assert!(read.page().ends_with("</html>\n"));
            let evidence = serde_json::to_value(&read.evidence).unwrap();
            assert!(yaml(&agon_core::document::document(&read.debate, evidence)).is_ok());
            for excerpt in [DebateExcerpt::Flips, DebateExcerpt::Dissent, DebateExcerpt::Timeline] {
                assert!(excerpt.text(&read.stored(&records), &PLAIN).is_ok());
            }
            // Every word of every reply is in the long form.
            let long = read.markdown();
            let mut said = Vec::new();
            for (_, reply) in read.debate.turns.iter().flat_map(PhaseTurn::settled) {
                strings(reply.value().unwrap_or(&json!(reply.text())), &mut said);
            }
            for said in said {
                let spoken = said.replace('_', " ");
                assert!(long.contains(&said) || long.contains(&spoken), "{said:?} is missing in\n{long}");
            }
        }
    }
}

#[test]
fn while_a_debate_runs_no_label_is_shown_with_its_seat_or_model() {
    for protocol in agon_protocols::all() {
        let records = played(protocol, |id| id % 4 == 0);
        let buffer = SharedBuffer::default();
        let mut live = LiveView::plain(protocol, PLAIN, Box::new(buffer.clone()));
        records.iter().for_each(|record| live.record(record));
        let shown = buffer.text();
        let debate = Debate::from_records(&records).unwrap();
        let asks = || debate.turns.iter().flat_map(|turn| &turn.asks);
        // A seat that never has a label, such as a judge, is no secret.
        let is_hidden = |seat: &&Seat| asks().any(|ask| ask.seat == seat.id && ask.label.is_some());
        for label in asks().filter_map(|ask| ask.label.clone()) {
            for line in shown.lines().filter(|line| line.contains(&label)) {
                for seat in debate.brief.seats.iter().filter(is_hidden) {
                    assert!(!line.contains(&seat.model) && !line.contains(&seat.id), "{line}");
                }
            }
        }
        assert!(shown.contains(&debate.brief.question), "{shown}");
    }
}

/// Whatever the protocol, a page with seven seats and four rounds opens at once.
#[test]
fn a_page_with_seven_seats_and_four_rounds_is_at_most_300_kb() {
    const PAGE_BYTES_MAX: usize = 300_000;
    let paragraph =
        "A team that writes down why it decided can change its mind later for a reason. ".repeat(25);
    for protocol in agon_protocols::all() {
        let rounds = ["min_rounds", "max_rounds", "rounds"].map(|key| (key.to_owned(), "4".to_owned()));
        let takes_four =
            |kind: OptionKind| matches!(kind, OptionKind::Int(low, high) if (low..=high).contains(&4));
        let options = protocol.info().options;
        let known = |key: &str| options.iter().any(|option| option.key == key && takes_four(option.kind));
        let rounds = rounds.into_iter().filter(|(key, _)| known(key));
        let request = Request {
            question: "Should the team adopt the queue?".into(),
            files: vec![BriefFile { path: "plan.md".into(), text: "Adopt the queue.".into(), part: None }],
            models: (1..=7).map(|number| format!("vendor/model-{number}")).collect(),
            options: options::resolve(options, rounds).unwrap(),
            ..Request::default()
        };
        let seats = protocol.seats(&request).unwrap();
        let brief = Brief { seats, options: request.options, ..brief(protocol) };
        let mut answer = |debate: &Debate, ask: &Ask| match (invent(protocol, debate, ask, 5), &ask.schema) {
            (Reply::Said { model, usage, .. }, None) => Reply::Said {
                text: paragraph.clone(),
                value: None,
                model,
                usage,
                cut_off: false,
                shortened: None,
            },
            (reply, _) => reply,
        };
        let opened = vec![Debate::open(brief).unwrap().1];
        let records = play(protocol, opened, &mut answer, &mut |_| {}).unwrap();
        let page = ReadDebate::new(protocol, Debate::from_records(&records).unwrap()).page();
        assert!(page.len() <= PAGE_BYTES_MAX, "{}: {} bytes", protocol.info().name, page.len());
    }
}
