//! What a collector receives from a server.

use opentelemetry_proto::tonic::trace::v1::Span;
use serde_json::json;

use crate::otlp_receiver::{Behaviour, OtlpReceiver, value};
use crate::support::Server;

#[test]
fn a_server_says_how_many_debates_run_wait_and_are_queued_and_sends_their_traces() {
    let receiver = OtlpReceiver::start(Behaviour::Accept);
    let env = [("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url.as_str()), ("OTEL_METRIC_EXPORT_INTERVAL", "50")];
    let mut server = Server::start_with(&env, "[serve]\ndebates = 1\n");
    let body = |question: &str| json!({"question": question, "models": ["human/ada", "script/demo"]});
    let first = server.debate(&body("One?"));
    let second = server.debate(&body("Two?"));
    server.wait_for(&first, "waiting");
    receiver.wait_until("a debate that waits and one in the queue", |receiver| {
        receiver.metric("agon.debates", "waiting") == 1.0 && receiver.metric("agon.queue.length", "") == 1.0
    });
    assert!(receiver.spans().is_empty(), "spans are sent when a run ends");
    for id in [&first, &second] {
        server.wait_for(id, "waiting");
        server.post(&format!("/api/v1/debates/{id}/stop"), &json!({})).ok(200);
    }
    receiver.wait_until("the traces of both", |receiver| {
        receiver.spans().iter().filter(|span| span.parent_span_id.is_empty()).count() == 2
    });
    receiver.wait_until("their end", |receiver| {
        receiver.metric("agon.debates.ended", "interrupted") == 2.0
            && receiver.metric("agon.queue.length", "") == 0.0
    });
    let third = server.debate(&body("Three?"));
    server.wait_for(&third, "waiting");
    assert_eq!(server.terminate(), Some(0));
    let spans = receiver.spans();
    let roots: Vec<&Span> = spans.iter().filter(|span| span.parent_span_id.is_empty()).collect();
    assert_eq!(roots.len(), 3, "what was interrupted is sent before the process ends");
    assert!(roots.iter().all(|root| value(root, "agon.unfinished").is_some()));
    assert_eq!(receiver.metric("agon.debates.ended", "interrupted"), 3.0);
}
