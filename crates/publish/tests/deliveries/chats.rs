//! Slack and Discord, over loopback. The escaping of messages is tested beside the code.

use std::path::Path;
use std::sync::{Arc, Mutex};

use agon_core::{Debate, Status};
use agon_publish::deliveries::{
    ChatSummary, DeliveredOutcome, DeliveryRunner, DeliverySettings, DueDelivery, Outbox, OutcomeRenderer,
    ReportFormat,
};
use serde_json::{Value, json};

use crate::memory_outbox::{DeliveryBench, StoredState};
use crate::played_debate::{brief, play_debate};
use crate::test_server::{TestServer, status};

#[tokio::test]
async fn each_chat_gets_its_own_kind_of_message() {
    let server = TestServer::start(|_, _| status(200, "", "ok"));
    let toml = format!("[destinations.ops]\nkind = \"slack\"\nurl = {:?}", server.url("/ops"));
    let bench = DeliveryBench::new(&toml, Path::new("/"), &[]);
    for destination in
        [format!("slack:{}", server.url("/s")), format!("discord:{}", server.url("/d")), "ops".into()]
    {
        assert_eq!(bench.try_once(&destination).await.state, StoredState::Done, "{destination}");
    }
    let bodies: Vec<Value> =
        server.requests().iter().map(|request| serde_json::from_slice(&request.body).unwrap()).collect();
    assert_eq!(bodies[0]["text"], "Which &lt;one&gt;?\narena \u{b7} complete \u{b7} d-1");
    assert_eq!(bodies[0]["blocks"][1]["text"]["text"], "This one, @\u{200b}here.");
    assert_eq!(bodies[1]["allowed_mentions"], json!({"parse": []}));
    assert_eq!(
        bodies[1]["content"],
        "**Which \\<one\\>?**\nThis one, @\u{200b}here.\narena \u{b7} complete \u{b7} d\\-1"
    );
    assert_eq!(bodies[2], bodies[0], "a name means its section");
    assert!(
        server.requests().iter().all(|request| request.header("agon-signature").is_none()),
        "chats are not signed"
    );
}

/// A renderer of one debate.
struct OneOutcome(DeliveredOutcome);

impl OutcomeRenderer for OneOutcome {
    fn outcome(&self, _: &str) -> Result<DeliveredOutcome, String> {
        Ok(self.0.clone())
    }

    fn text(&self, _: &str, format: ReportFormat) -> Result<String, String> {
        Ok(format!("the report as {format:?}"))
    }
}

struct OneDelivery(Mutex<Option<DueDelivery>>);

impl Outbox for OneDelivery {
    fn due(&self, _: i64, _: usize) -> Result<Vec<DueDelivery>, String> {
        Ok(self.0.lock().unwrap().take().into_iter().collect())
    }

    fn done(&self, _: i64) -> Result<(), String> {
        Ok(())
    }

    fn failed(&self, _: i64, error: &str, _: Option<i64>) -> Result<(), String> {
        panic!("{error}")
    }
}

/// The message that a chat of this kind gets.
async fn message(kind: &str, outcome: DeliveredOutcome) -> Value {
    let server = TestServer::start(|_, _| status(204, "", ""));
    let destination = format!("{kind}:{}", server.url("/"));
    let delivery = DueDelivery { id: 1, debate: "d-1".into(), destination, attempts: 0 };
    let outbox = Arc::new(OneDelivery(Mutex::new(Some(delivery))));
    let settings = DeliverySettings::new(Path::new("/"));
    let runner = DeliveryRunner::new(outbox, Arc::new(OneOutcome(outcome)), settings);
    let report = runner.deliver(&|| 0, std::time::Duration::from_secs(60)).await;
    assert_eq!(report.delivered.len(), 1, "{report:?}");
    serde_json::from_slice(&server.requests()[0].body).unwrap()
}

#[tokio::test]
async fn a_debate_without_an_answer_sends_its_verdict_and_its_report() {
    let summary = ChatSummary {
        verdict: Some("PASS".into()),
        ending: "complete".into(),
        id: "d-1".into(),
        ..ChatSummary::default()
    };
    let outcome = DeliveredOutcome { status: Status::Complete, summary, document: Value::Null };
    let body = message("discord", outcome).await;
    assert_eq!(body["content"], "Verdict: PASS\nthe report as Text\ncomplete \u{b7} d\\-1");
}

#[tokio::test]
async fn a_message_about_any_protocol_has_its_verdict_or_its_answer() {
    for protocol in agon_protocols::PROTOCOLS {
        let name = protocol.info().name;
        // Some invented debates end without a decision.
        let played = (3..40).map(|seed| {
            let brief = brief(*protocol, "Should the team adopt the queue?", &[]);
            let debate = Debate::from_records(&play_debate(*protocol, brief, seed)).unwrap();
            let view = protocol.view(&debate).unwrap();
            (debate, view)
        });
        let mut decided = played.filter(|(_, view)| view.headline.decision().is_some());
        let (debate, view) = decided.next().unwrap_or_else(|| panic!("{name} decides nothing"));
        let decision = view.headline.decision().unwrap().to_owned();
        let outcome = DeliveredOutcome::new(&debate, &view, Value::Null).unwrap();
        let slack = message("slack", outcome).await;
        assert!(slack["text"].as_str().unwrap().contains("Should the team adopt the queue?"), "{name}");
        let body = slack["blocks"][1]["text"]["text"].as_str().unwrap();
        let plain: String = decision.chars().take_while(|c| c.is_alphanumeric() || *c == ' ').collect();
        assert!(
            !plain.trim().is_empty() && body.contains(plain.trim()),
            "{name}: {decision:?} is not in {body}"
        );
        assert!(!body.contains("the report as Text") || view.headline.verdict.is_some(), "{name}: {body}");
    }
}
