//! Who may do what, and the limits of the whole server.

use std::time::Duration;

use agon_mock::{MockServer, MockSettings, converging_debate};
use serde_json::{Value, json};

use crate::support::{Server, demo};

const TOKEN: &str = "a-token-for-the-tests-0123456789";

/// Every path and method of the description, with an id in its place.
fn described_routes(server: &Server) -> Vec<(String, String)> {
    let bearer = format!("Bearer {TOKEN}");
    let document = server.send("GET", "/openapi.json", &[("Authorization", &bearer)], "").ok(200).json();
    let mut routes = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let path = path.replace("{id}", "nothing").replace("{n}", "1");
            routes.push((method.to_uppercase(), path));
        }
    }
    routes
}

/// "a test walks the generated OpenAPI document with no token, a wrong token, an evil Host, an evil Origin"
#[test]
fn no_route_is_forgotten() {
    let server = Server::start_with(&[("AGON_TOKEN", TOKEN)], "");
    let routes = described_routes(&server);
    assert!(routes.len() >= 20, "{routes:?}");
    let pages = ["/", "/openapi.json", "/v1/models", "/mcp", "/debates/x", "/new", "/compare"];
    let routes = routes.into_iter().chain(pages.map(|path| ("GET".to_owned(), path.to_owned())));
    let bearer = format!("Bearer {TOKEN}");
    for (method, path) in routes {
        let send = |headers: &[(&str, &str)], body: &str| {
            let json = ("Content-Type", "application/json");
            server.send(&method, &path, &[headers, &[json]].concat(), body).status
        };
        assert_eq!(send(&[], "{}"), 401, "{method} {path}");
        assert_eq!(send(&[("Authorization", "Bearer a-token-for-the-tests-0123456788")], "{}"), 401);
        assert_eq!(send(&[("Authorization", "Basic YTpi")], "{}"), 401);
        assert_eq!(send(&[("Cookie", "agon_session=0")], "{}"), 401);
        let token = ("Authorization", bearer.as_str());
        assert_eq!(send(&[token, ("Host", "evil.example")], "{}"), 403, "{method} {path}");
        assert_eq!(send(&[token, ("Origin", "http://evil.example")], "{}"), 403, "{method} {path}");
        if method == "POST" {
            let form = [token, ("Content-Type", "application/x-www-form-urlencoded")];
            assert_eq!(server.send(&method, &path, &form, "a=b").status, 415, "{path}");
        }
    }
    server.get("/healthz").ok(200);
    server.get("/readyz").ok(200);
}

/// "Browsers exchange a one-time link for an HttpOnly SameSite=Strict cookie."
#[test]
fn a_browser_logs_in_with_a_link_that_works_once() {
    let server = Server::start_with(&[("AGON_TOKEN", TOKEN)], "");
    let link = server.link.clone().unwrap();
    let path = link.split_once("/login").map(|(_, rest)| format!("/login{rest}")).unwrap();
    assert!(!link.contains(TOKEN));
    let answer = server.get(&path);
    let cookie = answer.header("set-cookie").unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let session = cookie.split(';').next().unwrap();
    server.send("GET", "/api/v1/debates", &[("Cookie", session)], "").ok(200);
    server.get(&path).problem(401);
    // A cookie does not help another page.
    let evil = [("Cookie", session), ("Origin", "http://evil.example")];
    server.send("GET", "/api/v1/debates", &evil, "").problem(403);
    let bearer = format!("Bearer {TOKEN}");
    let json = ("Content-Type", "application/json");
    let another = server.send("POST", "/api/v1/links", &[("Authorization", &bearer), json], "{}").ok(201);
    assert!(server.get(another.json()["path"].as_str().unwrap()).header("set-cookie").is_some());
}

/// "Off loopback it refuses to start without a token."
#[test]
fn off_loopback_a_server_needs_a_token() {
    let server = Server::start();
    let output = server.command(&["serve", "--listen", "0.0.0.0:0"]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]));
}

/// "Callers may not name `command/`, `script/FILE`, `embedded/PATH`, files of the server, configuration or destinations"
#[test]
fn callers_cannot_reach_the_servers_machine() {
    let server = Server::start_with(
        &[],
        "[commands.c]\ncommand = [\"true\"]\n[commands.d]\ncommand = [\"true\"]\n[agents.a]\nmodel = \"command/c\"\n\
         [serve]\nallow = [\"command/d\"]\n",
    );
    for (field, value) in [
        ("models", json!(["command/c"])),
        ("models", json!(["script/tabs.yaml"])),
        ("models", json!(["script//etc/passwd"])),
        ("models", json!(["embedded//etc/passwd"])),
        ("models", json!(["agent/a"])),
        ("models", json!(["openai/x|command/c"])),
        ("models", json!(["caller"])),
        ("models", json!(["tool/files"])),
        ("models", json!(["script/demo|tool/fetch"])),
        ("models", json!(["context/knowledge"])),
        ("models", json!(["pulse/news"])),
        ("roles", json!({"chair": "command/c"})),
        ("config", json!("/etc/passwd")),
        ("to", json!("file:/tmp/x")),
        ("files", json!(["/etc/passwd"])),
        ("files", json!([{"path": "/etc/passwd"}])),
    ] {
        let mut body = json!({"question": "q", "models": ["script/demo"]});
        body[field] = value;
        server.post("/api/v1/debates", &body).problem(422);
        server.post("/api/v1/estimates", &body).problem(422);
    }
    for (protocol, options) in [
        ("panel", json!({"rubric": "/etc/passwd"})),
        ("review", json!({"spec": "/etc/passwd"})),
        ("review", json!({"diff": "main...HEAD"})),
        ("review", json!({"mixed": "command/c"})),
        ("review", json!({"mixed": ["command/c"]})),
        ("council", json!({"economy": true, "economy_model": "command/c"})),
        ("arena", json!({"embeddings": "openai/m|command/c"})),
        ("arena", json!({"embeddings": "embeddings/lexical | script/tabs.yaml"})),
    ] {
        let body = json!({"protocol": protocol, "question": "q?", "models": ["script/demo"], "options": options,
            "files": [{"path": "plan.md", "text": "A plan."}]});
        let why = server.post("/api/v1/debates", &body).problem(422);
        assert!(why.contains("not among `files`") || why.contains("callers may not name"), "{why}");
    }
    for info in agon_protocols::all().map(|protocol| protocol.info()) {
        for option in info.options.iter().filter(|option| option.names_models()) {
            for value in ["command/c", "openai/m|command/c", "openai/m,command/c"] {
                let body = json!({"protocol": info.name, "question": "q?", "models": ["script/demo"],
                    "options": {option.key: value}, "files": [{"path": "plan.md", "text": "A plan."}]});
                let why = server.post("/api/v1/estimates", &body).problem(422);
                assert!(
                    why.contains("callers may not name \"command/c\""),
                    "{} {}: {why}",
                    info.name,
                    option.key
                );
            }
        }
    }
    let pulse = json!({"protocol": "arena", "question": "q?", "models": ["script/demo"], "options": {"pulse": "x|command/c"}});
    server.post("/api/v1/estimates", &pulse).problem(422);
    let allowed = json!({"question": "q", "models": ["command/d"]});
    server.post("/api/v1/estimates", &allowed).ok(200);
    assert_eq!(server.get("/api/v1/debates").json()["debates"], json!([]));
}

/// A debate that the terminal opened with a program in a seat cannot be used to run the program again.
#[test]
fn callers_cannot_continue_or_branch_what_they_may_not_open() {
    let server = Server::start_with(&[], "");
    server.agon(&["deep", "Tabs?", "--models", "script/tabs.yaml", "--quiet"]);
    let id = server.get("/api/v1/debates").json()["debates"][0]["id"].as_str().unwrap().to_owned();
    let branch = server.post(&format!("/api/v1/debates/{id}/branches"), &json!({"at": 1, "say": "Run it."}));
    assert!(branch.problem(422).contains("callers may not name"));
    server.agon(&["deep", "Semicolons?", "--models", "script/demo", "--tools", "files", "--quiet"]);
    let with_tools =
        server.get("/api/v1/debates?q=Semicolons").json()["debates"][0]["id"].as_str().unwrap().to_owned();
    let branch =
        server.post(&format!("/api/v1/debates/{with_tools}/branches"), &json!({"at": 1, "say": "Read it."}));
    let why = branch.problem(422);
    assert!(why.contains("callers may not name \"tool/files\""), "{why}");
    let demo = server.debate(&demo());
    server.wait_for(&demo, "complete");
    let branch = server.post(&format!("/api/v1/debates/{demo}/branches"), &json!({"at": 1}));
    branch.ok(201);
}

/// Everything that one request can do wrong is answered, and the next one is served.
#[test]
fn a_hostile_request_is_refused_and_harms_nobody() {
    let server = Server::start();
    let json = ("Content-Type", "application/json");
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let open = "{\"a\":".repeat(50_000);
    for path in ["/api/v1/debates", "/api/v1/estimates", "/api/v1/verify", "/v1/chat/completions", "/mcp"] {
        let accept = ("Accept", "application/json, text/event-stream");
        for body in [nested.as_str(), &open, "null", "{\"question\": 1e999999}", "\u{0}"] {
            let status = server.send("POST", path, &[json, accept], body).status;
            assert!((400..500).contains(&status), "{path} {}: {status}", &body[..5.min(body.len())]);
        }
    }
    for (method, path) in [
        ("TRACE", "/"),
        ("CONNECT", "/"),
        ("PUT", "/api/v1/debates"),
        ("DELETE", "/api/v1/debates/x"),
        ("GET", "/assets/../api/v1/debates"),
        ("GET", "/assets/%2e%2e/api/v1/debates"),
        ("GET", "/api/v1/debates/..%2f..%2fetc"),
        ("GET", "/debates/%00"),
        ("GET", "/debates/%ff"),
        ("GET", "//api/v1/debates"),
        ("GET", "http://evil.example/api/v1/debates"),
    ] {
        let status = server.send(method, path, &[], "").status;
        assert!((400..500).contains(&status), "{method} {path}: {status}");
    }
    let two = server.send("GET", "/", &[("Host", "localhost"), ("Host", "evil.example")], "");
    assert_eq!(two.status, 403);
    let picture =
        [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "image")];
    server.send("GET", "/api/v1/debates", &picture, "").problem(403);
    server.get("/healthz").ok(200);
}

/// "Limits of the whole server ...; beyond them a clear 429 or 503 with `Retry-After`."
#[test]
fn beyond_its_limits_a_server_says_when_to_try_again() {
    let server = Server::start_with(&[], "[serve]\ndebates = 1\nqueue = 1\nbody_mb = 1\n");
    let waiting = json!({"question": "q", "models": ["human/ada"]});
    server.debate(&waiting);
    server.debate(&waiting);
    let busy = server.post("/api/v1/debates", &waiting);
    assert!(busy.header("retry-after").is_some());
    assert!(busy.problem(503).contains("which is the limit"));
    let crowded = Server::start_with(&[], "[serve]\nconnections = 2\n");
    let idle: Vec<_> = (0..2).map(|_| crowded.open("GET", "/api/v1/events", &[], "")).collect();
    let refused = crowded.get("/healthz");
    assert!(refused.header("retry-after").is_some());
    assert!(refused.problem(503).contains("connections"));
    drop(idle);
    let large = json!({"question": "q".repeat(2 << 20), "models": ["script/demo"]});
    assert!(server.post("/api/v1/debates", &large).problem(413).contains("body_mb"));
}

/// Dollars per day: a model of unknown price is refused, and so is a debate when the money is spent.
#[test]
fn the_money_of_a_day_is_limited() {
    let responder = converging_debate(Duration::ZERO);
    let mock = MockServer::start(MockSettings::new(move |request| responder(request))).unwrap();
    let configuration =
        "[serve]\nusd_per_day = 0.01\n[prices]\n\"openai/m\" = { input = 1000.0, output = 1000.0 }\n";
    let server = Server::start_with(&[("OPENAI_BASE_URL", &mock.url())], configuration);
    let body = |model: &str| json!({"question": "q", "models": [model]});
    assert!(server.post("/api/v1/debates", &body("openai/other")).problem(422).contains("price"));
    server.post("/api/v1/debates", &demo()).ok(201);
    let id = server.debate(&body("openai/m"));
    let outcome = server.wait_for(&id, "interrupted");
    assert!(outcome["error"].as_str().unwrap().contains("all debates"), "{}", outcome["error"]);
    assert_eq!(mock.calls(), 0, "not even one call fits");
}

/// Tokens and keys are in no answer and in no log of the server.
#[test]
fn no_answer_contains_the_token() {
    let server = Server::start_with(&[("AGON_TOKEN", TOKEN), ("OPENAI_API_KEY", "sk-secret-0123456789")], "");
    let bearer = format!("Bearer {TOKEN}");
    for (method, path) in described_routes(&server) {
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        if path.ends_with("/events") {
            continue;
        }
        let answer = server.send(&method, &path, &headers, "{}");
        assert!(!answer.body.contains(TOKEN) && !answer.body.contains("sk-secret"), "{method} {path}");
    }
    let document: Value =
        server.send("GET", "/openapi.json", &[("Authorization", &bearer)], "").ok(200).json();
    assert!(document["paths"]["/api/v1/debates"]["post"].is_object());
}
