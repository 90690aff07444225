//! Many debates over one connection.
//!
//! `cargo test --release -p agon --test mcp a_hundred_debates -- --nocapture` prints how long they take.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use agon_mock::{MockServer, MockSettings, converging_debate};
use serde_json::{Value, json};

use crate::support::{Home, mock_configuration};

const DEBATES: usize = 100;
const AT_ONCE: usize = 10;
const DELAY: Duration = Duration::from_millis(20);

/// "100 MCP debates over one stdio connection, ten at a time, with a mock model of 20 ms: all complete, every result valid, no orphan."
#[test]
fn a_hundred_debates_over_one_connection_all_complete() {
    let mock = MockServer::start(MockSettings::new({
        let answer = converging_debate(DELAY);
        move |request: &agon_mock::MockRequest| answer(request)
    }));
    let mock = mock.unwrap();
    let home = Home::new();
    home.configure(&mock_configuration(&mock));
    let mut client = home.client();
    let schema = client.request("tools/list", json!({}))["tools"][0]["outputSchema"].clone();
    let required: Vec<&str> =
        schema["required"].as_array().unwrap().iter().map(|key| key.as_str().unwrap()).collect();
    let begun = Instant::now();
    let (mut open, mut asked, mut ids) = (Vec::new(), 0, BTreeSet::new());
    let mut longest = Duration::ZERO;
    while ids.len() < DEBATES {
        while open.len() < AT_ONCE && asked < DEBATES {
            let arguments = json!({"question": format!("Question {asked}?"), "wait_s": 600});
            let request = client.ask("tools/call", json!({"name": "debate", "arguments": arguments}));
            open.push((request, Instant::now()));
            asked += 1;
        }
        let (request, since) = open.remove(0);
        let result: Value = client.answer_to(request)["result"].clone();
        longest = longest.max(since.elapsed());
        let told = &result["structuredContent"];
        assert_eq!(told["state"], "complete", "{told}");
        assert!(required.iter().all(|key| told.get(key).is_some()), "{told}");
        ids.insert(told["id"].as_str().unwrap().to_owned());
    }
    let took = begun.elapsed();
    assert_eq!(client.hang_up(), Some(0));
    let listed: Vec<Value> =
        serde_json::from_str(&home.printed(&["list", "--json", "--limit", "1000"])).unwrap();
    assert_eq!(listed.len(), DEBATES, "no debate is left over");
    assert!(listed.iter().all(|debate| debate["status"] == "complete"));
    println!(
        "{DEBATES} debates, {AT_ONCE} at once, {} calls of {} ms: {:.2} s; the longest call {:.2} s",
        mock.calls(),
        DELAY.as_millis(),
        took.as_secs_f64(),
        longest.as_secs_f64()
    );
}
