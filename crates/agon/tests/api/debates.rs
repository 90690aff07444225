//! Opening, listing and reading debates, and what can be done with one.

use serde_json::json;

use crate::support::{EventReader, Server, demo};

/// "201 with `Location` and `{id, state}`"; "`Prefer: wait=SECONDS`"; the JSON outcome with `state`; "`ETag` = head of the chain".
#[test]
fn a_debate_is_opened_waited_for_and_read() {
    let server = Server::start();
    let json = ("Content-Type", "application/json");
    let opened = server.send("POST", "/api/v1/debates", &[json, ("Prefer", "wait=60")], &demo().to_string());
    let outcome = opened.ok(201).json();
    assert_eq!((&outcome["state"], &outcome["status"]), (&json!("complete"), &json!("complete")));
    let path = format!("/api/v1/debates/{}", outcome["id"].as_str().unwrap());
    let read = server.get(&path).ok(200);
    assert_eq!(read.json(), outcome);
    let tag = read.header("etag").unwrap().to_owned();
    assert_eq!(tag.trim_matches('"'), outcome["receipt"]["head"]);
    server.send("GET", &path, &[("If-None-Match", &tag)], "").ok(304);
    // What a server holds, the command line shows, too.
    let id = outcome["id"].as_str().unwrap();
    assert!(server.agon(&["show", id]).contains("Go or Rust?"));
    assert!(server.agon(&["verify", id]).contains("intact"));
}

/// "`Idempotency-Key` (same key and body: the same debate; other body: 422)", also after a restart.
#[test]
fn the_same_request_opens_one_debate() {
    let mut server = Server::start();
    let headers = [("Content-Type", "application/json"), ("Idempotency-Key", "k-1")];
    let open = |server: &Server, body: &str| server.send("POST", "/api/v1/debates", &headers, body);
    let first = open(&server, &demo().to_string()).ok(201).json()["id"].clone();
    assert_eq!(open(&server, &demo().to_string()).ok(201).json()["id"], first);
    let why = open(&server, "{\"question\": \"Another?\", \"models\": [\"script/demo\"]}").problem(422);
    assert!(why.contains("Idempotency-Key") && why.contains(first.as_str().unwrap()), "{why}");
    server.kill();
    server.launch();
    assert_eq!(open(&server, &demo().to_string()).ok(201).json()["id"], first);
    assert_eq!(server.get("/api/v1/debates").json()["debates"].as_array().unwrap().len(), 1);
}

/// Requests that come at the same time are no exception.
#[test]
fn of_many_equal_requests_at_once_one_opens_a_debate() {
    let server = Server::start();
    let body = demo().to_string();
    for key in ["a", "b", "c", "d"] {
        let headers = [("Content-Type", "application/json"), ("Idempotency-Key", key)];
        let send = || server.send("POST", "/api/v1/debates", &headers, &body).ok(201).json()["id"].clone();
        let ids: Vec<_> = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..12).map(|_| scope.spawn(send)).collect();
            clients.into_iter().map(|client| client.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    }
    assert_eq!(server.get("/api/v1/debates").json()["debates"].as_array().unwrap().len(), 4);
}

/// A caller who hangs up while a debate is being opened leaves none that nobody runs.
#[test]
fn a_debate_whose_caller_hung_up_at_once_is_held_all_the_same() {
    let server = Server::start();
    let json = ("Content-Type", "application/json");
    for pause_ms in 0..20 {
        let stream = server.open("POST", "/api/v1/debates", &[json], &demo().to_string());
        std::thread::sleep(std::time::Duration::from_millis(pause_ms));
        drop(stream);
    }
    let debates = server.get("/api/v1/debates").json()["debates"].as_array().unwrap().clone();
    assert!(!debates.is_empty());
    for debate in debates {
        server.wait_for(debate["id"].as_str().unwrap(), "complete");
    }
}

#[test]
fn a_request_that_cannot_be_carried_out_says_what_to_do() {
    let server = Server::start();
    for (body, status, want) in [
        (json!({"models": ["script/demo"]}), 422, "needs a question"),
        (json!({"question": " ", "models": ["script/demo"]}), 422, "needs a question"),
        (json!({"protocol": "nonsense", "question": "q"}), 422, "there is no protocol"),
        (json!({"question": "q", "models": ["nobody/x"]}), 422, "there is no provider"),
        (json!({"question": "q", "models": ["script/demo"], "rounds": 3}), 422, "unknown field `rounds`"),
        (
            json!({"question": "q", "models": ["script/demo"], "options": {"max_rounds": 99}}),
            422,
            "max_rounds",
        ),
        (
            json!({"question": "q", "models": ["script/demo"], "roles": {"king": "script/demo"}}),
            422,
            "no role",
        ),
        (
            json!({"question": "q", "models": ["script/demo"], "limits": {"budget_usd": -1}}),
            422,
            "US dollars",
        ),
        (json!({"protocol": "panel", "models": ["script/demo"]}), 422, "judges files"),
    ] {
        let why = server.post("/api/v1/debates", &body).problem(status);
        assert!(why.contains(want), "{body}: {why}");
    }
    let json = [("Content-Type", "application/json")];
    server.send("POST", "/api/v1/debates", &json, "{\"question\":").problem(400);
    assert_eq!(server.get("/api/v1/debates").json()["debates"], json!([]));
    server.get("/api/v1/debates/nothing").problem(404);
    server.get("/api/v2/debates").problem(404);
    server.send("DELETE", "/api/v1/debates", &[], "").problem(405);
}

/// "`GET /debates?after&limit&protocol&state&q`: `{debates: [..], next}`; opaque cursor".
#[test]
fn the_list_has_pages_filters_and_a_search() {
    let server = Server::start_with(&[], "[serve]\nallow = [\"script/tabs.yaml\"]\n");
    let open = |question: &str| {
        let body =
            json!({"question": question, "models": ["script/tabs.yaml"], "options": {"mode": "quick"}});
        let id = server.debate(&body);
        server.wait_for(&id, "complete");
        id
    };
    let ids: Vec<String> = ["First zebra?", "Second?", "Third zebra?"].into_iter().map(open).collect();
    let list = |query: &str| {
        let page = server.get(&format!("/api/v1/debates?{query}")).ok(200).json();
        let ids: Vec<String> = page["debates"]
            .as_array()
            .unwrap()
            .iter()
            .map(|debate| debate["id"].as_str().unwrap().to_owned())
            .collect();
        (ids, page["next"].as_str().map(str::to_owned))
    };
    let (first, next) = list("limit=2");
    assert_eq!(first, [ids[2].clone(), ids[1].clone()]);
    assert_eq!(list(&format!("limit=2&after={}", next.unwrap())), (vec![ids[0].clone()], None));
    assert_eq!(list("state=complete&protocol=deep").0.len(), 3);
    assert_eq!(list("state=running").0.len() + list("protocol=panel").0.len(), 0);
    let (mut found, next) = list("q=zebra&limit=1");
    found.extend(list(&format!("q=zebra&limit=1&after={}", next.unwrap())).0);
    found.sort();
    let mut with_zebra = [ids[0].clone(), ids[2].clone()];
    with_zebra.sort();
    assert_eq!(found, with_zebra);
    server.get("/api/v1/debates?after=nonsense").problem(422);
}

/// "`POST /debates/{id}/stop`, `/resume`, `/interjections`, `/branches`, `/resolution`; `GET /debates/{id}/export?format=`".
#[test]
fn a_debate_is_stopped_resumed_interrupted_concluded_and_branched() {
    let server = Server::start();
    let body = json!({"question": "q?", "models": ["human/ada", "script/demo", "script/demo"],
        "roles": {"moderator": "script/demo", "chair": "script/demo"}});
    let id = server.debate(&body);
    server.wait_for(&id, "waiting");
    let path = |action: &str| format!("/api/v1/debates/{id}/{action}");
    assert_eq!(server.post(&path("stop"), &json!({})).ok(200).json()["state"], "interrupted");
    let why = server.post(&path("interjections"), &json!({"text": "Hear me."})).problem(409);
    assert!(why.contains("resume it first"), "{why}");
    server.post(&path("resume"), &json!({"text": "Think of the cost."})).ok(200);
    assert!(server.post(&path("resume"), &json!({})).problem(409).contains("runs already"));
    server.wait_for(&id, "waiting");
    server.post(&path("asks/1"), &json!({"value": "Both."})).ok(200);
    server.wait_for(&id, "waiting");
    server.post(&path("interjections"), &json!({"text": "And of the blind."})).ok(201);
    server.post(&path("stop"), &json!({"conclude": true})).ok(200);
    let outcome = server.wait_for(&id, "complete");
    assert_eq!(outcome["termination"], "cancelled");
    let log = server.get(&path("export?format=json")).ok(200).body;
    assert!(log.contains("Think of the cost.") && log.contains("And of the blind."), "{log}");
    assert!(server.post(&path("stop"), &json!({})).problem(409).contains("is over"));

    let branch = server.post(&path("branches"), &json!({"at": 0, "say": "Once more."})).ok(201).json();
    let branch = branch["id"].as_str().unwrap().to_owned();
    server.wait_for(&branch, "waiting");
    server.post(&format!("/api/v1/debates/{branch}/stop"), &json!({"conclude": true})).ok(200);
    server.wait_for(&branch, "complete");
    let compared = server.get(&format!("/api/v1/compare?a={id}&b={branch}")).ok(200).json();
    assert_eq!((&compared["a"]["id"], &compared["b"]["parent"]), (&json!(id), &json!(id)));
    assert!(server.post(&path("branches"), &json!({"at": 9})).problem(422).contains("rounds 0 to"));

    let resolved = server.post(&path("resolution"), &json!({"truth": true})).ok(200).json();
    assert_eq!((&resolved["id"], &resolved["turned_out"]), (&json!(id), &json!("right")));
    server.post(&path("resolution"), &json!({})).problem(422);
    let both = server.post(&path("resolution"), &json!({"truth": true, "winner": "A"})).problem(422);
    assert!(both.contains("not both"), "{both}");
    for (format, want) in
        [("md", "# q?"), ("html", "<!DOCTYPE html>"), ("yaml", "protocol: deep"), ("otlp", "resourceSpans")]
    {
        let text = server.get(&path(&format!("export?format={format}"))).ok(200).body;
        assert!(text.contains(want), "{format}");
    }
    server.get(&path("export?format=exe")).problem(422);
    let receipt = server.get(&path("export?format=receipt")).ok(200).body;
    let verify = |file: &str| {
        let json = [("Content-Type", "application/json")];
        server.send("POST", "/api/v1/verify", &json, file).ok(200).json()["answer"].clone()
    };
    assert_eq!(verify(&receipt), "signed_and_replayed");
    assert_eq!(verify(&json!({"receipt": receipt}).to_string()), "signed_and_replayed");
    let many = format!("{{\"outcome\": [{}{{}}], \"log\": []}}", "{},".repeat(600_000));
    for file in [many.clone(), json!({"receipt": many}).to_string()] {
        let refused = server.send("POST", "/api/v1/verify", &[("Content-Type", "application/json")], &file);
        assert!(refused.problem(413).contains("JSON values"));
    }
    assert_eq!(verify(&log), "chain_only");
    assert_eq!(verify(&log.replace("And of the blind.", "And of the deaf.")), "changed");
}

/// "options of a protocol as JSON Schema; dry run".
#[test]
fn protocols_models_and_estimates_are_listed() {
    let server = Server::start();
    let protocols = server.get("/api/v1/protocols").ok(200).json();
    let protocols = protocols["protocols"].as_array().unwrap();
    assert_eq!(protocols.len(), agon_protocols::all().count());
    for protocol in protocols {
        let schema = &protocol["options"];
        assert!(jsonschema::validator_for(schema).is_ok(), "{schema}");
    }
    let models = server.get("/api/v1/models").ok(200).json();
    assert!(models["scripts"].as_array().unwrap().contains(&json!("script/demo")));
    assert_eq!(server.get("/api/v1/ratings").ok(200).json(), json!({"ratings": []}));
    assert_eq!(server.get("/api/v1/knowledge").ok(200).json(), json!({"entries": []}));
    let estimate = server.post("/api/v1/estimates", &demo()).ok(200).json();
    assert_eq!((&estimate["dry_run"], &estimate["calls"]["min"]), (&json!(true), &json!(12)));
    assert_eq!(server.get("/api/v1/debates").json()["debates"], json!([]));
}

/// A debate that waits for a place can be followed and stopped like any other.
#[test]
fn a_queued_debate_is_followed_and_stopped() {
    let server = Server::start_with(&[], "[serve]\ndebates = 1\n");
    let waiting = json!({"question": "q", "models": ["human/ada"]});
    let (first, second) = (server.debate(&waiting), server.debate(&waiting));
    server.wait_for(&first, "waiting");
    assert_eq!(server.wait_for(&second, "running")["usage"]["calls"], 0);
    let mut reader = EventReader::open(&server, &format!("/api/v1/debates/{second}/events"), &[]);
    assert_eq!(reader.next_record().unwrap().id, Some(0));
    let stop = |id: &str| server.post(&format!("/api/v1/debates/{id}/stop"), &json!({})).ok(200).json();
    assert_eq!(stop(&second)["state"], "interrupted");
    server.post(&format!("/api/v1/debates/{second}/resume"), &json!({})).ok(200);
    stop(&first);
    server.wait_for(&second, "waiting");
    assert_eq!(reader.next_record().unwrap().id, Some(1));
}

/// "Errors are RFC 9457 problem documents whose `detail` says what to do": also those of addresses and bodies that cannot be read.
#[test]
fn what_cannot_be_read_is_a_problem_that_says_what_to_do() {
    let server = Server::start();
    for address in
        ["/api/v1/debates?limit=abc", "/api/v1/compare", "/api/v1/compare?a=x", "/api/v1/models?probe=maybe"]
    {
        let why = server.get(address).problem(400);
        assert!(why.contains("/openapi.json"), "{address}: {why}");
    }
    server.post("/api/v1/debates/x/asks/abc", &json!({"value": null})).problem(400);
    let why = server.post("/api/v1/debates", &json!(["deep", "Q", [], ["script/demo"]])).problem(422);
    assert!(why.contains("must be a JSON object"), "{why}");
    assert_eq!(server.get("/api/v1/debates").ok(200).json()["debates"], json!([]));
    let paths = &server.get("/openapi.json").ok(200).json()["paths"];
    for (path, method, status) in [
        ("/api/v1/compare", "get", "400"),
        ("/api/v1/compare", "get", "404"),
        ("/api/v1/debates", "get", "400"),
        ("/api/v1/debates", "get", "422"),
        ("/api/v1/debates/{id}/asks", "get", "404"),
        ("/api/v1/debates/{id}/asks/{n}", "post", "400"),
        ("/api/v1/debates/{id}/events", "get", "404"),
    ] {
        let listed = &paths[path][method]["responses"][status];
        assert!(listed.is_object(), "{method} {path} {status}");
    }
}
