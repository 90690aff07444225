//! Slack and Discord, over loopback. The escaping of messages is tested beside the code.

use std::path::Path;

use serde_json::{Value, json};

use crate::memory_outbox::{DeliveryBench, StoredState};
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

#[tokio::test]
async fn a_debate_without_an_answer_sends_its_verdict_and_its_report() {
    use std::sync::{Arc, Mutex};

    use agon_publish::deliveries::{
        DeliveryRunner, DeliverySettings, DueDelivery, Outbox, OutcomeRenderer, ReportFormat,
    };

    struct OutcomeWithoutAnswer;
    impl OutcomeRenderer for OutcomeWithoutAnswer {
        fn outcome(&self, _: &str) -> Result<Value, String> {
            Ok(json!({"id": "d-1", "status": "complete", "headline": {"verdict": "PASS"}}))
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
    let server = TestServer::start(|_, _| status(204, "", ""));
    let destination = format!("discord:{}", server.url("/"));
    let delivery = DueDelivery { id: 1, debate: "d-1".into(), destination, attempts: 0 };
    let outbox = Arc::new(OneDelivery(Mutex::new(Some(delivery))));
    let settings = DeliverySettings::new(Path::new("/"));
    let runner = DeliveryRunner::new(outbox, Arc::new(OutcomeWithoutAnswer), settings);
    let report = runner.deliver(&|| 0, std::time::Duration::from_secs(60)).await;
    assert_eq!(report.delivered.len(), 1, "{report:?}");
    let body: Value = serde_json::from_slice(&server.requests()[0].body).unwrap();
    assert_eq!(body["content"], "Verdict: PASS\nthe report as Text\ncomplete \u{b7} d\\-1");
}
