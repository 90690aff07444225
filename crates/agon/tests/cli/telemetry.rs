//! Traces and metrics, as a collector receives them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpListener;
use std::time::Duration;

use agon_mock::{MockServer, MockSettings, converging_debate};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;

use crate::interruption;
use crate::otlp_receiver::{Behaviour, OtlpReceiver, spans_of, sum, value};
use crate::support::{Home, Said, said};

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const TABS: [&str; 7] = ["deep", "Tabs or spaces?", "--models", "script/tabs.yaml", "--seed", "7", "--json"];

fn mock() -> MockServer {
    MockServer::start(MockSettings { responder: converging_debate(Duration::ZERO), keep: 1_000 }).unwrap()
}

/// Holds the debate of `tabs.yaml` with these variables besides the address.
fn debate(home: &Home, url: &str, env: &[(&str, &str)], more: &[&str]) -> Said {
    home.agon_in(&[&[(ENDPOINT, url)], env].concat(), &[&TABS[..], more].concat())
}

fn by_id(spans: &[Span]) -> BTreeMap<Vec<u8>, &Span> {
    // Of a span that came twice, the last one counts.
    spans.iter().map(|span| (span.span_id.clone(), span)).collect()
}

/// One trace with one root, in which no parent is missing.
fn check_tree(spans: &[Span]) {
    let known = by_id(spans);
    let traces: BTreeSet<&Vec<u8>> = known.values().map(|span| &span.trace_id).collect();
    let roots = known.values().filter(|span| span.parent_span_id.is_empty());
    assert_eq!((traces.len(), roots.count()), (1, 1));
    for span in known.values().filter(|span| !span.parent_span_id.is_empty()) {
        let parent = known.get(&span.parent_span_id).unwrap_or_else(|| panic!("no parent: {span:?}"));
        assert!(parent.start_time_unix_nano <= span.start_time_unix_nano);
        assert!(parent.end_time_unix_nano >= span.end_time_unix_nano);
    }
}

fn text<'a>(span: &'a Span, name: &str) -> &'a str {
    match value(span, name) {
        Some(Value::StringValue(text)) => text,
        other => panic!("{name}: {other:?}"),
    }
}

fn exported(home: &Home) -> Vec<Span> {
    let said = home.agon(&["export", "last", "--format", "otlp"]).ok();
    let request: ExportTraceServiceRequest = serde_json::from_str(&said.out).unwrap();
    spans_of(request)
}

#[test]
fn a_debate_arrives_as_one_trace_whose_usage_is_that_of_the_outcome() {
    let (home, mock, receiver) = (Home::new(), mock(), OtlpReceiver::start(Behaviour::Accept));
    let env = [
        (ENDPOINT, receiver.url.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20xyz"),
        ("OPENAI_BASE_URL", &mock.url()),
        ("OPENAI_API_KEY", "sk-secret"),
    ];
    let said = home.agon_in(&env, &["deep", "Tabs or spaces?", "--models", "openai/m", "--json"]).ok();
    assert_eq!(said.err, "", "telemetry that works says nothing");
    let (outcome, spans) = (said.json(), receiver.spans());
    check_tree(&spans);
    assert_eq!(sum(&spans, "gen_ai.usage.input_tokens"), outcome["usage"]["input_tokens"]);
    assert_eq!(sum(&spans, "gen_ai.usage.output_tokens"), outcome["usage"]["output_tokens"]);
    assert!(outcome["usage"]["input_tokens"].as_u64().unwrap() > 0);
    assert_eq!(text(&spans[0], "gen_ai.conversation.id"), outcome["id"]);
    assert_eq!(text(&spans[0], "agon.status"), "complete");
    let chat = spans.iter().find(|span| span.name == "chat m").unwrap();
    assert_eq!((chat.kind, text(chat, "gen_ai.provider.name")), (3, "openai"));
    assert_eq!((text(chat, "gen_ai.request.model"), text(chat, "gen_ai.response.model")), ("m", "m"));
    assert_eq!((text(chat, "agon.seat"), text(chat, "agon.role")), ("debater-1", "debater"));
    assert!(receiver.requests().iter().all(|request| request.headers["authorization"] == "Bearer xyz"));
    assert_eq!(exported(&home), spans, "an old debate gives the same spans");
    assert_eq!(
        receiver.metric("gen_ai.client.token.usage", "input"),
        outcome["usage"]["input_tokens"].as_f64().unwrap()
    );
}

/// "A debate that was resumed yields the same ids."
#[test]
fn a_debate_that_was_interrupted_or_killed_and_resumed_is_one_trace() {
    for signal in ["-INT", "-KILL"] {
        let (home, receiver) = (interruption::home(), OtlpReceiver::start(Behaviour::Accept));
        let child = interruption::started_in(&home, &[(ENDPOINT, &receiver.url)]);
        interruption::signal(&child, signal);
        said(child);
        let first = receiver.spans();
        match signal {
            "-INT" => {
                check_tree(&first);
                assert_eq!(text(&first[0], "agon.status"), "interrupted");
            }
            _ => assert!(first.is_empty(), "a process that is killed sends nothing"),
        }
        interruption::mend(&home);
        home.agon_in(&[(ENDPOINT, &receiver.url)], &["resume", "last", "--json"]).ok();
        let all = receiver.spans();
        check_tree(&all);
        let known = by_id(&all);
        assert_eq!(known.keys().collect::<BTreeSet<_>>(), by_id(&exported(&home)).keys().collect());
        let root = known.values().find(|span| span.parent_span_id.is_empty()).unwrap();
        assert_eq!(text(root, "agon.status"), "complete");
        assert!(
            known.values().all(|span| value(span, "agon.unfinished").is_none()),
            "the later span is the whole one"
        );
        let before = all.len();
        home.agon_in(&[(ENDPOINT, &receiver.url)], &["resume", "last", "--json"]).ok();
        assert_eq!(receiver.spans().len(), before, "a debate that was over already is not sent again");
    }
}

#[test]
fn words_are_sent_only_if_the_user_asks_for_them() {
    let home = Home::new();
    let sent = |env: &[(&str, &str)], more: &[&str]| {
        let receiver = OtlpReceiver::start(Behaviour::Accept);
        debate(&home, &receiver.url, env, more).ok();
        assert!(!receiver.spans().is_empty());
        let bodies = receiver.requests().into_iter().flat_map(|request| request.body).collect::<Vec<u8>>();
        let sent = String::from_utf8_lossy(&bodies).into_owned();
        (sent.contains("Tabs or spaces?"), sent.contains("Everybody sees the width they like"))
    };
    assert_eq!(sent(&[], &[]), (false, false));
    home.write("agon.toml", "[telemetry]\ncontent = true\n");
    assert_eq!(sent(&[], &[]), (false, false), "a file that was found is nobody's wish");
    assert_eq!(sent(&[], &["--config", "agon.toml"]), (true, true));
    std::fs::remove_file(home.path("agon.toml")).unwrap();
    let capture = ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true");
    assert_eq!(sent(&[capture], &[]), (true, true));
    home.write("home/agon.toml", "[telemetry]\ncontent = true\n");
    assert_eq!(sent(&[], &[]), (true, true));
    assert!(home.agon(&["export", "last", "--format", "otlp"]).ok().out.contains("Tabs or spaces?"));
    assert!(
        !home
            .agon(&["export", "last", "--format", "otlp", "--no-config"])
            .ok()
            .out
            .contains("Tabs or spaces?")
    );
}

/// "A receiver that hangs, answers 500 or refuses does not slow or fail the debate."
#[test]
fn a_collector_that_fails_costs_a_note_and_nothing_else() {
    let home = Home::new();
    let plain = home.agon(&TABS).ok().json();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let hanging = OtlpReceiver::start(Behaviour::Hang);
    let failing = OtlpReceiver::start(Behaviour::Refuse(500));
    let busy = OtlpReceiver::start(Behaviour::Refuse(503));
    for (url, why) in [
        (hanging.url, "there was no answer within 3 s"),
        (failing.url, "answered HTTP 500: no room"),
        (busy.url, "answered HTTP 503"),
        (format!("http://{closed}"), "cannot be reached"),
    ] {
        let said = debate(&home, &url, &[], &[]).ok();
        assert_eq!(said.json()["verdict"], plain["verdict"], "{said:?}");
        assert_eq!(said.err.lines().count(), 1, "{said:?}");
        assert!(said.err.starts_with("note: the trace of 1 debate was not sent: "), "{said:?}");
        assert!(said.err.contains(why) && !said.err.contains('\u{1b}'), "{said:?}");
    }
    let quiet = debate(&home, &format!("http://{closed}"), &[], &["--quiet"]).ok();
    assert_eq!(quiet.err, "");
}

#[test]
fn what_cannot_be_used_switches_telemetry_off_and_says_so() {
    let (home, receiver) = (Home::new(), OtlpReceiver::start(Behaviour::Accept));
    let said = debate(&home, &receiver.url, &[("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")], &[]).ok();
    assert!(said.err.starts_with("note: telemetry is off: OTEL_EXPORTER_OTLP_PROTOCOL is grpc"), "{said:?}");
    debate(&home, &receiver.url, &[("OTEL_SDK_DISABLED", "true")], &[]).ok();
    assert!(receiver.requests().is_empty());
    debate(&home, &receiver.url, &[("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")], &[]).ok();
    assert_eq!(receiver.spans(), exported(&home));
}

#[test]
fn a_batch_sends_every_debate_and_counts_them() {
    let (home, mock, receiver) = (Home::new(), mock(), OtlpReceiver::start(Behaviour::Accept));
    let input: String = (0..50).map(|n| format!("{{\"question\": \"Question {n}?\"}}\n")).collect();
    home.write("in.jsonl", input);
    let env = [(ENDPOINT, receiver.url.as_str()), ("OPENAI_BASE_URL", &mock.url()), ("OPENAI_API_KEY", "k")];
    let said = home.agon_in(&env, &["batch", "in.jsonl", "--models", "openai/m"]).ok();
    assert_eq!(said.err, "");
    let mut traces: BTreeMap<Vec<u8>, Vec<Span>> = BTreeMap::new();
    for span in receiver.spans() {
        traces.entry(span.trace_id.clone()).or_default().push(span);
    }
    assert_eq!(traces.len(), 50);
    traces.values().for_each(|spans| check_tree(spans));
    let tokens: u64 = said
        .out
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["usage"]["input_tokens"]
                .as_u64()
                .unwrap()
        })
        .sum();
    assert_eq!(receiver.metric("gen_ai.client.token.usage", "input"), tokens as f64);
    assert_eq!(receiver.metric("agon.debates.ended", "complete"), 50.0);
    assert_eq!(receiver.metric("agon.debates", ""), 0.0);
    assert_eq!(receiver.metric("agon.calls.in_flight", ""), 0.0);
    assert_eq!(receiver.metric("agon.queue.length", ""), 0.0);
    assert!(receiver.metric("agon.store.commit.duration", "") > 0.0);
    assert!(receiver.metric("gen_ai.client.operation.duration", "openai") >= 0.0);
}
