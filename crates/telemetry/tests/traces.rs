//! The law of traces: the spans of any log, whole or cut off anywhere, form one tree, and every reading gives the same ids.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, dead_code)]

#[path = "../../protocols/tests/play/mod.rs"]
mod play;

use std::collections::{BTreeMap, BTreeSet};

use agon_core::play::branch;
use agon_core::{AbsenceReason, Brief, CallUsage, Debate, Event, LogRecord, Protocol, Reply, SeededDraw};
use agon_telemetry::{SpanContent, debate_spans, trace_id, trace_json};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::Span;

use self::play::{cases, opened, played};

fn spans(records: &[LogRecord]) -> Vec<Span> {
    debate_spans(records, SpanContent::Omitted).unwrap()
}

fn value<'a>(span: &'a Span, name: &str) -> Option<&'a Value> {
    let found = span.attributes.iter().find(|attribute| attribute.key == name);
    found.map(|attribute| attribute.value.as_ref().unwrap().value.as_ref().unwrap())
}

fn number(span: &Span, name: &str) -> u64 {
    match value(span, name) {
        Some(Value::IntValue(number)) => u64::try_from(*number).unwrap(),
        None => 0,
        other => panic!("{name} is {other:?}"),
    }
}

fn text<'a>(span: &'a Span, name: &str) -> &'a str {
    match value(span, name) {
        Some(Value::StringValue(text)) => text,
        other => panic!("{name} of {} is {other:?}", span.name),
    }
}

/// One trace, one root, ids that occur once, and children that lie within their parents' times.
fn check_tree(spans: &[Span]) {
    let mut seen: BTreeMap<&[u8], &Span> = BTreeMap::new();
    for span in spans {
        assert_eq!((span.trace_id.len(), span.span_id.len()), (16, 8));
        assert_eq!(span.trace_id, spans[0].trace_id);
        assert!(span.start_time_unix_nano <= span.end_time_unix_nano, "{span:?}");
        match span.parent_span_id.as_slice() {
            [] => assert!(seen.is_empty(), "a second root: {span:?}"),
            id => {
                let parent = seen.get(id).unwrap_or_else(|| panic!("no parent: {span:?}"));
                assert!(parent.start_time_unix_nano <= span.start_time_unix_nano, "{parent:?} {span:?}");
                assert!(parent.end_time_unix_nano >= span.end_time_unix_nano, "{parent:?} {span:?}");
            }
        }
        assert!(seen.insert(&span.span_id, span).is_none(), "an id twice: {span:?}");
    }
}

/// The same debate with failed attempts before some answers, calls that were lost, and words of a person.
fn with_trouble(records: &[LogRecord], seed: u64) -> Vec<LogRecord> {
    let mut draw = SeededDraw::new(seed, "trouble");
    let Event::Opened { brief } = &records[0].entry.event else { panic!() };
    let (mut debate, first) = Debate::open((**brief).clone()).unwrap();
    let mut log = vec![first];
    let mut at_ms = 0;
    for record in &records[1..] {
        let mut events = vec![record.entry.event.clone()];
        match &record.entry.event {
            Event::Sent { ask, model, worst_usd, .. } => {
                let sent = |attempt| Event::Sent {
                    ask: *ask,
                    attempt,
                    model: model.clone(),
                    worst_usd: *worst_usd,
                    worst_tokens: 10,
                    errand: false,
                };
                let usage =
                    CallUsage { input_tokens: 7, output_tokens: 3, usd: Some(0.5), ..CallUsage::default() };
                let failed = Event::Attempted {
                    ask: *ask,
                    attempt: 1,
                    why: AbsenceReason::Malformed,
                    detail: "a comma is missing after \"queue\"".into(),
                    text: None,
                    unverified: false,
                    usage,
                };
                match draw.below(4) {
                    0 => events = vec![sent(1), failed, sent(2)],
                    // A call that was lost when the process was killed.
                    1 => events = vec![sent(1), sent(2)],
                    _ => {}
                }
            }
            Event::Asked { .. } if draw.below(3) == 0 => {
                events.push(Event::Interjected { by: "Ada".into(), text: "Mind the queue.".into() });
            }
            _ => {}
        }
        for event in events {
            at_ms += draw.below(50) as u64;
            log.push(debate.push(event, at_ms).unwrap());
        }
    }
    log
}

#[test]
fn the_spans_of_any_log_form_one_tree_with_the_ids_of_the_whole_log() {
    let mut logs = 0;
    for (protocol, brief) in cases() {
        for seed in 0..2 {
            let whole = with_trouble(&played(protocol, opened(&brief), seed), seed);
            let all = spans(&whole);
            let ids: BTreeSet<&[u8]> = all.iter().map(|span| span.span_id.as_slice()).collect();
            let step = 1 + whole.len() / 12;
            for length in (1..=whole.len()).rev().step_by(step) {
                let part = spans(&whole[..length]);
                check_tree(&part);
                assert!(part.iter().all(|span| ids.contains(span.span_id.as_slice())));
                logs += 1;
            }
        }
    }
    assert!(logs > 1000, "only {logs} logs were tried");
}

#[test]
fn what_the_asks_used_is_what_the_debate_used() {
    for (protocol, brief) in cases() {
        let records = with_trouble(&played(protocol, opened(&brief), 3), 3);
        let (spans, spent) = (spans(&records), Debate::from_records(&records).unwrap().spent());
        let sum = |name: &str| spans.iter().map(|span| number(span, name)).sum::<u64>();
        assert_eq!(sum("gen_ai.usage.input_tokens"), spent.input_tokens, "{}", protocol.info().name);
        assert_eq!(sum("gen_ai.usage.output_tokens"), spent.output_tokens);
        assert_eq!(number(&spans[0], "agon.usage.input_tokens"), spent.input_tokens);
        assert_eq!(number(&spans[0], "agon.usage.calls"), u64::from(spent.calls));
        let usd: f64 = spans[1..]
            .iter()
            .filter_map(|span| match value(span, "agon.cost.usd") {
                Some(Value::DoubleValue(usd)) => Some(*usd),
                _ => None,
            })
            .sum();
        assert!((usd - spent.usd).abs() < 1e-9, "{usd} {}", spent.usd);
    }
}

/// The first debate of the table, played and troubled.
fn sample() -> (&'static dyn Protocol, Brief, Vec<LogRecord>) {
    let (protocol, brief) = cases().remove(0);
    let records = with_trouble(&played(protocol, opened(&brief), 1), 1);
    (protocol, brief, records)
}

fn json_of(spans: Vec<Span>) -> String {
    trace_json(spans, Resource::default()).unwrap()
}

#[test]
fn no_word_that_anybody_wrote_is_in_a_span_unless_it_is_asked_for() {
    let (protocol, brief, records) = sample();
    let replies: Vec<&str> = records
        .iter()
        .filter_map(|record| match &record.entry.event {
            Event::Replied { reply: Reply::Said { text, .. }, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let private = [brief.question.as_str(), "Mind the queue", "a comma is missing", "Ada"];
    let plain = json_of(spans(&records));
    for words in private.iter().chain(&replies) {
        assert!(!plain.contains(words), "{words}");
    }
    let captured = debate_spans(&records, SpanContent::Captured(protocol)).unwrap();
    let whole = json_of(captured.clone());
    for words in private {
        assert!(whole.contains(words), "{words}");
    }
    let ask = captured.iter().find(|span| value(span, "gen_ai.input.messages").is_some()).unwrap();
    let messages: serde_json::Value = serde_json::from_str(text(ask, "gen_ai.input.messages")).unwrap();
    assert_eq!(messages[0]["role"], "user");
    assert!(messages[0]["parts"][0]["content"].as_str().unwrap().contains(&brief.question));
    let answer: serde_json::Value = serde_json::from_str(text(ask, "gen_ai.output.messages")).unwrap();
    assert!(replies.contains(&answer[0]["parts"][0]["content"].as_str().unwrap()));
    let ids = |spans: &[Span]| spans.iter().map(|span| span.span_id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&captured), ids(&spans(&records)));
}

#[test]
fn every_prompt_is_rendered_again_if_content_is_asked_for() {
    for (protocol, brief) in cases().into_iter().step_by(7) {
        let records = played(protocol, opened(&brief), 2);
        let captured = debate_spans(&records, SpanContent::Captured(protocol)).unwrap();
        for span in captured.iter().filter(|span| value(span, "gen_ai.output.messages").is_some()) {
            assert!(text(span, "gen_ai.system_instructions").starts_with(r#"[{"type":"text""#));
            assert!(
                text(span, "gen_ai.input.messages").len() > 50,
                "{}: {}",
                protocol.info().name,
                span.name
            );
        }
    }
}

#[test]
fn an_absence_is_an_error_with_its_reason() {
    let (_, _, records) = sample();
    let faults = spans(&records)
        .into_iter()
        .filter(|span| span.name.starts_with("attempt") && value(span, "error.type").is_some());
    let faults: Vec<Span> = faults.collect();
    assert!(!faults.is_empty());
    for span in faults {
        assert_eq!(text(&span, "error.type"), "malformed");
        let status = span.status.unwrap();
        assert_eq!((status.code, status.message.as_str()), (2, ""), "the words stay in the log");
    }
}

#[test]
fn a_branch_links_to_its_debate_and_counts_only_what_it_asked_itself() {
    let (protocol, brief, records) = sample();
    let new = Brief { id: "other".into(), ..brief.clone() };
    let taken = branch(protocol, &records, new, 1).unwrap();
    let inherited = taken.len();
    assert!(inherited > 1);
    assert_eq!(spans(&taken).len(), 1, "nothing was asked yet");
    let whole = played(protocol, taken, 1);
    let (branched, spent) = (spans(&whole), Debate::from_records(&whole).unwrap().spent());
    check_tree(&branched);
    assert_eq!(branched[0].trace_id, trace_id("other"));
    let [link] = branched[0].links.as_slice() else { panic!("{:?}", branched[0].links) };
    let parent = &spans(&records)[0];
    assert_eq!((&link.trace_id, &link.span_id), (&parent.trace_id, &parent.span_id));
    let sum: u64 = branched.iter().map(|span| number(span, "gen_ai.usage.input_tokens")).sum();
    assert_eq!(sum, spent.input_tokens);
}

#[test]
fn ids_are_written_down_once_and_for_all() {
    let (_, _, records) = sample();
    let shown = json_of(spans(&records)[..1].to_vec());
    assert!(
        shown.contains(r#""traceId":"b3043399486a6189234450df16e26ea3""#)
            && shown.contains(r#""spanId":"93cc85b0d193ec02""#),
        "{shown}"
    );
    assert!(shown.contains(r#""startTimeUnixNano":"1767225600000000000""#), "{shown}");
}
