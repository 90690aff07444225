//! What there is, and what it says.

use serde_json::{Value, json};

use crate::support::{HeldModel, Home};

/// A debate that is over at once.
fn quick_debate() -> Value {
    json!({"question": "Tabs or spaces?", "models": ["script/demo-deep"]})
}

#[test]
fn the_server_introduces_itself_and_lists_what_the_contract_names() {
    let home = Home::new();
    let mut client = home.silent_client();
    let info = client.introduce(json!({}));
    assert_eq!(info["serverInfo"]["name"], "agon");
    assert!(info["instructions"].as_str().unwrap().contains("debate_wait"));
    assert!(info["capabilities"]["extensions"]["io.modelcontextprotocol/tasks"].is_object());
    let tools = client.request("tools/list", json!({}))["tools"].clone();
    let arguments = |tool: &Value| {
        let properties = tool["inputSchema"]["properties"].as_object().unwrap();
        properties.keys().cloned().collect::<Vec<_>>().join(" ")
    };
    let listed: Vec<String> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| format!("{}: {}", tool["name"].as_str().unwrap(), arguments(tool)))
        .collect();
    assert_eq!(
        listed,
        [
            "debate: question protocol models files budget_usd wait_s",
            "review: diff files spec wait_s",
            "debate_wait: id wait_s",
            "debate_answer: id ask value",
            "debate_stop: id",
            "debate_show: id part max_tokens",
            "search_debates: query",
            "list_models: ",
        ]
    );
    let debate = &tools[0];
    let about = debate["description"].as_str().unwrap();
    assert!(about.contains("Do not use it") && about.contains("use protocol \"ask\""), "{about}");
    let kinds: Vec<&str> = agon_protocols::all().map(|protocol| protocol.info().name).collect();
    assert_eq!(debate["inputSchema"]["properties"]["protocol"]["enum"], json!(kinds));
    let prompts = client.request("prompts/list", json!({}))["prompts"].clone();
    let prompts: Vec<&str> =
        prompts.as_array().unwrap().iter().map(|prompt| prompt["name"].as_str().unwrap()).collect();
    assert_eq!(prompts, ["debate", "plan-review", "diff-review"]);
    let prompt =
        client.request("prompts/get", json!({"name": "diff-review", "arguments": {"diff": "main...HEAD"}}));
    assert!(prompt["messages"][0]["content"]["text"].as_str().unwrap().contains("git diff main...HEAD"));
    assert_eq!(client.hang_up(), Some(0));
}

#[test]
fn a_debate_is_told_in_few_words_and_can_be_read_in_full() {
    let home = Home::new();
    let mut client = home.client();
    let result = client.call("debate", quick_debate());
    let (told, text) = (&result["structuredContent"], result["content"][0]["text"].as_str().unwrap());
    assert_eq!(told["state"], "complete");
    let id = told["id"].as_str().unwrap().to_owned();
    assert_eq!(told["uri"], format!("agon://debate/{id}"));
    let answer = told["answer"].as_str().unwrap();
    assert!(!answer.is_empty() && text.contains(answer), "{text}");
    assert!(told["dissent"].is_array() && told["changed_minds"].is_array(), "{told}");
    assert!(told["cost"]["calls"].as_u64().unwrap() > 5);
    assert!((told.to_string().len() + text.len()) / 3 < 2_000, "{told}\n{text}");

    let shown = |client: &mut crate::support::McpClient, part: &str, max_tokens: u64| {
        let result = client.call("debate_show", json!({"id": id, "part": part, "max_tokens": max_tokens}));
        result["content"][0]["text"].as_str().unwrap().to_owned()
    };
    for part in ["report", "answer", "verdict", "dissent", "changes", "timeline", "round:1", "seat:moderator"]
    {
        assert!(!shown(&mut client, part, 20_000).is_empty(), "{part}");
    }
    let whole = shown(&mut client, "report", 20_000);
    let cut = shown(&mut client, "report", 200);
    assert!(cut.len() <= 600 && cut.contains("raise max_tokens") && whole.len() > cut.len(), "{cut}");
    assert!(
        client.complaint("debate_show", json!({"id": id, "part": "gossip"})).contains("there is no part")
    );

    let read = |client: &mut crate::support::McpClient, uri: &str| {
        client.request("resources/read", json!({"uri": uri}))["contents"][0].clone()
    };
    let report = read(&mut client, &format!("agon://debate/{id}"));
    assert_eq!(
        (report["mimeType"].as_str(), report["text"].as_str().unwrap().starts_with('#')),
        (Some("text/markdown"), true)
    );
    let log = read(&mut client, &format!("agon://debate/{id}/log"))["text"].as_str().unwrap().to_owned();
    assert!(log.lines().all(|line| serde_json::from_str::<Value>(line).unwrap()["hash"].is_string()));
    let receipt =
        read(&mut client, &format!("agon://debate/{id}/receipt"))["text"].as_str().unwrap().to_owned();
    let file = home.path("receipt.json");
    std::fs::write(&file, receipt).unwrap();
    assert!(home.printed(&["verify", file.to_str().unwrap()]).contains("intact and replayed"));
    assert!(client.refused("resources/read", json!({"uri": "agon://debate/none"}))["message"].is_string());
    let listed = client.request("resources/list", json!({}))["resources"].clone();
    assert_eq!(listed[0]["uri"], told["uri"]);

    let found = client.told("search_debates", json!({"query": "tabs"}));
    assert_eq!(found["debates"][0]["id"], json!(id));
    assert_eq!(client.told("search_debates", json!({"query": "zebra"}))["debates"], json!([]));
}

#[test]
fn a_diff_is_judged_by_the_protocol_that_takes_one() {
    let home = Home::new();
    home.configure("models = [\"script/demo-review\"]\n[mcp]\nallow = []\n");
    let mut client = home.client();
    let diff = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n";
    let told = client.told("review", json!({"diff": diff, "spec": "a must be 2", "wait_s": 60}));
    assert!(["complete", "incomplete", "failed"].contains(&told["state"].as_str().unwrap()), "{told}");
    let log =
        client.request("resources/read", json!({"uri": format!("{}/log", told["uri"].as_str().unwrap())}));
    let log = log["contents"][0]["text"].as_str().unwrap();
    assert!(log.contains("x.py") && log.contains("a must be 2"), "{log}");
    assert!(client.complaint("review", json!({})).contains("send a `diff` or `files`"));
}

#[test]
fn what_is_wrong_is_said_to_the_agent() {
    let home = Home::new();
    let mut client = home.client();
    for (tool, arguments, wanted) in [
        ("debate", json!({}), "question"),
        ("debate", json!({"question": "x", "speed": 1}), "unknown field `speed`"),
        ("debate", json!({"question": "x", "protocol": "duel"}), "there is no protocol \"duel\""),
        ("debate", json!({"question": "x", "budget_usd": -1}), "budget_usd"),
        ("debate", json!({"question": "x", "models": ["command/rm"]}), "allow` in [mcp]"),
        ("debate", json!({"question": "x", "models": ["script/own.yaml"]}), "callers may not name"),
        ("debate_wait", json!({"id": "nobody", "wait_s": 1}), "nobody"),
        ("debate_answer", json!({"id": "nobody", "ask": 1, "value": "x"}), "nobody"),
        ("debate_show", json!({"id": "nobody"}), "nobody"),
        ("search_debates", json!({"query": "?!"}), "no word"),
    ] {
        let complaint = client.complaint(tool, arguments.clone());
        assert!(complaint.contains(wanted), "{tool} {arguments}: {complaint}");
    }
    // Whatever was sent, an error is short.
    let long = "x".repeat(100_000);
    for (tool, arguments) in [
        ("debate", json!({"question": "x", "protocol": long})),
        ("debate", json!({"question": "x", "models": [format!("human/{long}")]})),
        ("debate_wait", json!({"id": long})),
        ("debate_show", json!({"id": long})),
    ] {
        let complaint = client.complaint(tool, arguments);
        assert!(complaint.len() <= 2_000, "{tool}: {}", complaint.len());
    }
    let named =
        client.complaint("debate", json!({"question": "x", "models": [format!("human/{}", "x".repeat(65))]}));
    assert!(named.contains("the name is too long"), "{named}");
    assert!(
        client.refused("resources/read", json!({"uri": long}))["message"].as_str().unwrap().len() <= 2_000
    );
    assert!(client.refused("prompts/get", json!({"name": long}))["message"].as_str().unwrap().len() <= 2_000);
    assert!(
        client.refused("tools/call", json!({"name": "dance"}))["message"]
            .as_str()
            .unwrap()
            .contains("no such tool")
    );
    let models = client.told("list_models", json!({}));
    assert!(models["people"].as_array().unwrap().contains(&json!("caller")), "{models}");
    assert!(models.to_string().len() / 3 < 2_000, "{models}");
}

/// A client counts as one of the revision that it was told, also if it asks for one that nobody knows.
#[test]
fn a_client_of_an_unknown_revision_is_understood() {
    let home = Home::new();
    let mut client = home.silent_client();
    for _ in 0..2 {
        let about =
            json!({"protocolVersion": "x", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let told = client.request("initialize", about)["protocolVersion"].clone();
        assert!(told.as_str().unwrap().starts_with("2025"), "{told}");
        client.notify("notifications/initialized", json!({}));
        client.request("ping", json!({}));
    }
}

/// "Progress with words at least every 10 seconds", and a request that is cancelled leaves its debate alone.
#[test]
fn a_call_reports_progress_and_can_be_cancelled_without_harm() {
    let (home, model) = (Home::new(), HeldModel::start());
    home.configure(&model.configuration());
    let mut client = home.client();
    let params = json!({
        "name": "debate", "arguments": {"question": "Why?", "wait_s": 600}, "_meta": {"progressToken": "p"},
    });
    let id = client.ask("tools/call", params);
    let progress = client.heard("notifications/progress")["params"].clone();
    assert_eq!((progress["progressToken"].as_str(), progress["progress"].as_f64()), (Some("p"), Some(1.0)));
    assert!(!progress["message"].as_str().unwrap().is_empty());
    // The words change when the first phase begins, and come again although nothing changes.
    let words = loop {
        let progress = client.heard("notifications/progress")["params"].clone();
        let words = progress["message"].as_str().unwrap().to_owned();
        if words.contains("0 of 3 answered") {
            break words;
        }
    };
    assert_eq!(client.heard("notifications/progress")["params"]["message"], json!(words));
    client.notify("notifications/cancelled", json!({"requestId": id, "reason": "the user pressed escape"}));
    let listed = client.request("resources/list", json!({}))["resources"].clone();
    let debate = listed[0]["uri"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    assert_eq!(client.told("debate_wait", json!({"id": debate, "wait_s": 0}))["state"], "running");
    model.release();
    assert_eq!(client.told("debate_wait", json!({"id": debate, "wait_s": 60}))["state"], "complete");
}

/// "The tasks extension with task id = debate id, over the log."
#[test]
fn a_client_with_tasks_gets_a_long_debate_as_a_task() {
    let (home, model) = (Home::new(), HeldModel::start());
    home.configure(&model.configuration());
    let tasks = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let mut client = home.silent_client();
    client.speak_modern(tasks.clone());
    let task = client.call("debate", json!({"question": "Why?", "wait_s": 0}));
    assert_eq!((task["resultType"].as_str(), task["status"].as_str()), (Some("task"), Some("working")));
    let id = task["taskId"].as_str().unwrap().to_owned();
    let get = json!({"taskId": id});
    assert_eq!(client.request("tasks/get", get.clone())["status"], "working");
    client.request("tasks/cancel", get.clone());
    assert_eq!(client.request("tasks/get", get.clone())["status"], "cancelled");
    assert_eq!(
        client.told("debate_wait", json!({"id": id, "wait_s": 0}))["state"],
        "running",
        "it is continued"
    );
    client.kill();

    model.release();
    let mut client = home.silent_client();
    client.speak_modern(tasks);
    assert_eq!(client.told("debate_wait", json!({"id": id, "wait_s": 60}))["state"], "complete");
    let done = client.request("tasks/get", get);
    assert_eq!(done["status"], "completed");
    assert_eq!(done["result"]["structuredContent"]["id"], json!(id));
    assert!(client.refused("tasks/get", json!({"taskId": "none"}))["message"].is_string());
    let mut plain = home.client();
    assert!(plain.refused("tasks/get", json!({"taskId": id}))["message"].is_string(), "it must be declared");
}
