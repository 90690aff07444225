//! Slack and Discord, over loopback. What keeps them from ringing is tested with the messages themselves.

use std::path::Path;

use serde_json::{Value, json};

use crate::server::{Server, status};
use crate::things::{Office, State};

#[tokio::test]
async fn a_chat_gets_its_own_shape() {
    let server = Server::start(|_, _| status(200, "", "ok"));
    let toml = format!("[destinations.ops]\nkind = \"slack\"\nurl = {:?}", server.url("/ops"));
    let office = Office::new(&toml, Path::new("/"), &[]);
    for destination in
        [format!("slack:{}", server.url("/s")), format!("discord:{}", server.url("/d")), "ops".into()]
    {
        assert_eq!(office.once(&destination).await.state, State::Done, "{destination}");
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
    assert_eq!(bodies[2], bodies[0], "a name stands for its section");
    assert!(
        server.requests().iter().all(|request| request.header("agon-signature").is_none()),
        "it has no secret"
    );
}

/// Where a verdict has no answer, the report is one.
#[tokio::test]
async fn a_debate_without_an_answer_is_told_as_its_report() {
    use agon_publish::deliveries::{Courier, Format, Parcel, Render, Settings};
    use std::sync::Arc;

    struct Review;
    impl Render for Review {
        fn outcome(&self, _: &str) -> Result<Value, String> {
            Ok(json!({"id": "d-1", "status": "complete", "verdict": {"verdict": "PASS"}}))
        }
        fn text(&self, _: &str, format: Format) -> Result<String, String> {
            Ok(format!("the report as {format:?}"))
        }
    }
    struct One(std::sync::Mutex<Option<Parcel>>);
    impl agon_publish::deliveries::Outbox for One {
        fn due(&self, _: i64, _: usize) -> Result<Vec<Parcel>, String> {
            Ok(self.0.lock().unwrap().take().into_iter().collect())
        }
        fn done(&self, _: i64) -> Result<(), String> {
            Ok(())
        }
        fn failed(&self, _: i64, error: &str, _: Option<i64>) -> Result<(), String> {
            panic!("{error}")
        }
    }
    let server = Server::start(|_, _| status(204, "", ""));
    let destination = format!("discord:{}", server.url("/"));
    let parcel = Parcel { id: 1, debate: "d-1".into(), destination, attempts: 0 };
    let outbox = Arc::new(One(std::sync::Mutex::new(Some(parcel))));
    let courier = Courier::new(outbox, Arc::new(Review), Settings::new(Path::new("/")));
    let report = courier.deliver(&|| 0, std::time::Duration::from_secs(60)).await;
    assert_eq!(report.delivered.len(), 1, "{report:?}");
    let body: Value = serde_json::from_slice(&server.requests()[0].body).unwrap();
    assert_eq!(body["content"], "the report as Text\ncomplete \u{b7} d\\-1");
}
