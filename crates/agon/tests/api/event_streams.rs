//! "The event stream is the log."

use serde_json::{Value, json};

use crate::support::{EventReader, Server, demo};

/// The body and hash of a record as the stream sends it.
fn record(data: &str) -> (String, String) {
    let hash = serde_json::from_str::<Value>(data).unwrap()["hash"].as_str().unwrap().to_owned();
    let body = data.strip_suffix(&format!(",\"hash\":\"{hash}\"}}")).unwrap();
    (format!("{body}}}"), hash)
}

/// "a client that reconnects with `Last-Event-ID` loses nothing and sees nothing twice; its records verify as a chain"
#[test]
fn a_client_that_reconnects_has_the_whole_log_once() {
    let server = Server::start();
    let id = server.debate(&demo());
    let path = format!("/api/v1/debates/{id}/events");
    let mut records: Vec<(u64, String)> = Vec::new();
    loop {
        let last = records.last().map(|(seq, _)| seq.to_string()).unwrap_or_default();
        let headers = [("Last-Event-ID", last.as_str())];
        let mut reader = EventReader::open(&server, &path, if records.is_empty() { &[] } else { &headers });
        // The connection breaks after a few events.
        for _ in 0..5 {
            let Some(event) = reader.next_record() else { break };
            records.push((event.id.unwrap(), event.data));
        }
        if records.last().is_some_and(|(_, data)| data.contains("\"event\":\"closed\"")) {
            break;
        }
    }
    assert!(records.iter().enumerate().all(|(at, (seq, _))| *seq == at as u64));
    let chain: Vec<(String, String)> = records.iter().map(|(_, data)| record(data)).collect();
    let opened = agon_core::event::open_all(chain).unwrap();
    let outcome = server.wait_for(&id, "complete");
    assert_eq!(opened.last().unwrap().hash, outcome["receipt"]["head"]);
    let last = (records.len() - 1).to_string();
    server.send("GET", &path, &[("Last-Event-ID", &last)], "").ok(204);
    server.get(&format!("{path}?after={last}")).ok(204);
    server.get(&format!("{path}?after=x")).problem(422);
}

/// "`event: delta` without id (lossy)", and where the debate is.
#[test]
fn the_text_of_answers_streams_while_they_are_written() {
    let server = Server::start();
    let id = server.debate(&demo());
    let mut reader = EventReader::open(&server, &format!("/api/v1/debates/{id}/events"), &[]);
    let (mut deltas, mut states) = (0, Vec::new());
    while let Some(event) = reader.next() {
        let data: Value = serde_json::from_str(&event.data).unwrap();
        match event.event.as_str() {
            "delta" => {
                assert_eq!(event.id, None);
                assert!(data["ask"].is_u64() && data["text"].is_string());
                deltas += 1;
            }
            "state" => states.push(data["state"].clone()),
            other => assert_eq!(other, "record"),
        }
    }
    assert!(deltas > 0);
    assert_eq!(states.last(), Some(&json!("complete")));
}

/// "One multiplexed stream serves the list", also for what the terminal starts.
#[test]
fn one_stream_tells_of_every_debate() {
    let server = Server::start_with(&[], "[serve]\nallow = [\"script/tabs.yaml\"]\n");
    let mut reader = EventReader::open(&server, "/api/v1/events", &[]);
    let id = server.debate(&json!({"question": "a?", "models": ["script/tabs.yaml"]}));
    server.agon(&["deep", "From the terminal?", "--models", "script/tabs.yaml", "--quiet"]);
    let (mut ended, mut from_terminal) = (false, false);
    while !(ended && from_terminal) {
        let event = reader.next().unwrap();
        let debate: Value = serde_json::from_str(&event.data).unwrap();
        ended |= debate["id"] == json!(id) && debate["state"] == "complete";
        from_terminal |= debate["question"] == "From the terminal?";
    }
}

/// "500 SSE watchers on one debate each get every record"; here a hundred, some of which come late.
#[test]
fn every_watcher_gets_every_record() {
    let server = Server::start();
    let id = server.debate(&demo());
    let path = format!("/api/v1/debates/{id}/events");
    let watchers: Vec<_> = (0..100).map(|_| EventReader::open(&server, &path, &[])).collect();
    let counts: Vec<usize> =
        watchers.into_iter().map(|mut reader| std::iter::from_fn(|| reader.next_record()).count()).collect();
    assert!(counts[0] > 10 && counts.iter().all(|count| *count == counts[0]), "{counts:?}");
}
