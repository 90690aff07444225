//! HTTP callbacks: their form, the ways in which a server can fail, and what is tried again.

use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use agon_core::Status;
use agon_publish::deliveries::{DeliverySettings, Destination, verify_signature};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::memory_outbox::{DeliveryBench, StoredState, settings};
use crate::test_server::{ReceivedRequest, ServerAction, TestServer, status};

fn bench(toml: &str) -> DeliveryBench {
    DeliveryBench::new(
        toml,
        Path::new("/nowhere"),
        &[("CI_SECRET", " sesame\n"), ("CI_URL", "http://127.0.0.1:1/x")],
    )
}

/// HMAC as RFC 2104 defines it.
fn hmac(secret: &[u8], text: &[u8]) -> String {
    let mut key = [0_u8; 64];
    key[..secret.len()].copy_from_slice(secret);
    let inner = Sha256::digest([key.map(|byte| byte ^ 0x36).as_slice(), text].concat());
    let outer = Sha256::digest([key.map(|byte| byte ^ 0x5c).as_slice(), &inner].concat());
    outer.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn a_callback_posts_the_outcome_with_a_signature() {
    let server = TestServer::start(|_, _| status(200, "", "thanks"));
    let bench =
        bench(&format!("[destinations.ci]\nurl = {:?}\nsecret_env = \"CI_SECRET\"", server.url("/hook?x=1")));
    bench.add("d-1", "ci");
    let report = bench.run().await.unwrap();
    assert_eq!((report.delivered.len(), &report.delivered[0].note), (1, &None));
    assert_eq!(report.delivered[0].destination, "ci");
    let requests = server.requests();
    let [request] = requests.as_slice() else { panic!("{requests:?}") };
    assert!(request.head.starts_with("POST /hook?x=1 HTTP/1.1\r\n"), "{}", request.head);
    let outcome: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!((&outcome["id"], &outcome["status"]), (&"d-1".into(), &"complete".into()));
    for (name, value) in
        [("content-type", "application/json"), ("agon-delivery", "d-1-0"), ("agon-event", "debate.closed")]
    {
        assert_eq!(request.header(name), Some(value), "{name}");
    }
    let signature = request.header("agon-signature").unwrap();
    let signed = [b"1000.".as_slice(), &request.body].concat();
    assert_eq!(signature, format!("t=1000,v1={}", hmac(b"sesame", &signed)));
    assert_eq!(verify_signature("sesame", signature, &request.body, 1_100, 300), Ok(()));
}

#[tokio::test]
async fn without_a_secret_a_callback_is_not_signed_and_the_report_says_so() {
    let server = TestServer::start(|_, _| status(204, "", ""));
    let plain = bench("");
    plain.add("d-1", &server.url("/"));
    let report = plain.run().await.unwrap();
    let note = report.delivered[0].note.as_deref().unwrap();
    assert!(note.contains("not signed") && note.contains("AGON_CALLBACK_SECRET"), "{note}");
    assert_eq!(server.requests()[0].header("agon-signature"), None);
    let named = DeliveryBench::new("", Path::new("/"), &[("AGON_CALLBACK_SECRET", "s")]);
    named.add("d-1", &server.url("/"));
    assert_eq!(named.run().await.unwrap().delivered[0].note, None);
    let signature = server.requests()[1].header("agon-signature").unwrap().to_owned();
    assert_eq!(verify_signature("s", &signature, &server.requests()[1].body, 1_000, 0), Ok(()));
}

/// Statuses from 400 to 499 are permanent, except 408, 409, 425 and 429. `Retry-After` is honoured.
#[tokio::test]
async fn each_status_means_done_dead_or_retry() {
    let server = TestServer::start(|request, _| {
        let code = request.path()[1..].split('-').next().unwrap().parse().unwrap();
        let wait = if request.path().ends_with("-wait") { "Retry-After: 90\r\n" } else { "" };
        status(code, wait, "because of\nthis")
    });
    let bench = bench("");
    for (path, at_s) in [
        ("/200", Some(None)),
        ("/202", Some(None)),
        ("/400", None),
        ("/401", None),
        ("/403", None),
        ("/404", None),
        ("/410", None),
        ("/422", None),
        ("/400-wait", None),
        ("/301", None),
        ("/302", None),
        ("/304", None),
        ("/408", Some(Some(1_001))),
        ("/409", Some(Some(1_001))),
        ("/425", Some(Some(1_001))),
        ("/429", Some(Some(1_001))),
        ("/429-wait", Some(Some(1_090))),
        ("/500", Some(Some(1_001))),
        ("/502", Some(Some(1_001))),
        ("/503-wait", Some(Some(1_090))),
    ] {
        let stored = bench.try_once(&server.url(path)).await;
        let want = match at_s {
            None => StoredState::Dead,
            Some(None) => StoredState::Done,
            Some(Some(at_s)) => StoredState::Due { at_s },
        };
        assert_eq!(stored.state, want, "{path}: {}", stored.error);
        if want != StoredState::Done {
            assert!(stored.error.contains(&format!("HTTP {}", &path[1..4])), "{}", stored.error);
            assert_eq!(stored.error.contains("because of this"), !path.starts_with("/3"), "{}", stored.error);
        }
    }
}

#[tokio::test]
async fn a_server_that_hangs_or_breaks_off_is_tried_again() {
    let server = TestServer::start(|request, _| match request.path() {
        "/hang" => ServerAction::Hang(Vec::new()),
        "/stall" => ServerAction::Hang(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok".to_vec()),
        "/close" => ServerAction::Send(Vec::new()),
        "/cut" => ServerAction::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok".to_vec()),
        _ => ServerAction::Send(b"SMTP ready\r\n\r\n".to_vec()),
    });
    for (path, sentence) in [
        ("/hang", "no answer within 200ms"),
        ("/stall", "no answer within 200ms"),
        ("/close", "cannot be reached"),
        ("/cut", "broke off its answer"),
        ("/smtp", "cannot be reached"),
    ] {
        let timeout_s = if sentence.contains("200ms") { 0.2 } else { 45.0 };
        let bench =
            bench(&format!("[destinations.x]\nurl = {:?}\ntimeout_s = {timeout_s:?}", server.url(path)));
        let stored = bench.try_once("x").await;
        assert!(stored.error.contains(sentence), "{path}: {}", stored.error);
        assert_eq!(stored.state, StoredState::Due { at_s: 1_001 }, "{path}");
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let stored = bench("").try_once(&format!("http://127.0.0.1:{port}/")).await;
    assert!(
        stored.error.contains("cannot be reached") && matches!(stored.state, StoredState::Due { .. }),
        "{}",
        stored.error
    );
}

/// The content of an answer does not matter.
#[tokio::test]
async fn a_long_answer_is_not_read_to_its_end() {
    let long = [b"HTTP/1.1 200 OK\r\n\r\n".as_slice(), &[b'x'; 100_000]].concat();
    let server = TestServer::start(move |_, _| ServerAction::Hang(long.clone()));
    assert_eq!(bench("").try_once(&server.url("/")).await.state, StoredState::Done);
}

/// The body is the same too, but each signature has its own time.
#[tokio::test]
async fn every_attempt_has_the_same_id_and_the_eighth_is_the_last() {
    let server = TestServer::start(|request, n| match request.path() {
        "/third" if n == 2 => status(200, "", ""),
        _ => status(500, "", ""),
    });
    for (path, attempts, end) in [("/third", 3, StoredState::Done), ("/never", 8, StoredState::Dead)] {
        let before = server.requests().len();
        let mut bench = DeliveryBench::new("", Path::new("/"), &[("AGON_CALLBACK_SECRET", "s")]);
        let id = bench.add("d-7", &server.url(path));
        let mut runs = 0;
        while let StoredState::Due { at_s } = bench.stored(id).state {
            bench.now_s = bench.now_s.max(at_s);
            bench.run().await;
            runs += 1;
        }
        let requests = &server.requests()[before..];
        assert_eq!((runs, requests.len(), bench.stored(id).state), (attempts, attempts, end), "{path}");
        let same = |of: fn(&ReceivedRequest) -> Vec<u8>| {
            requests.iter().all(|request| of(request) == of(&requests[0]))
        };
        assert!(
            same(|request| request.body.clone())
                && same(|request| request.header("agon-delivery").unwrap().into())
        );
        let signatures: std::collections::BTreeSet<_> =
            requests.iter().map(|request| request.header("agon-signature").unwrap().to_owned()).collect();
        assert_eq!(signatures.len(), attempts, "each has its own time");
    }
}

#[tokio::test]
async fn a_run_waits_for_retries_before_its_deadline() {
    let server = TestServer::start(|_, n| if n == 0 { status(503, "", "") } else { status(200, "", "") });
    let bench = bench("");
    let id = bench.add("d-1", &server.url("/"));
    let report = bench.run_until(Duration::from_secs(60)).await;
    assert_eq!((report.delivered.len(), report.later.len(), report.dead.len()), (1, 0, 0), "{report:?}");
    assert_eq!((bench.stored(id).delivery.attempts, server.requests().len()), (2, 2));
    let failing = TestServer::start(|_, _| status(429, "Retry-After: 3600\r\n", ""));
    bench.add("d-2", &failing.url("/"));
    let report = bench.run_until(Duration::from_secs(60)).await;
    assert_eq!(
        (report.later.len(), failing.requests().len()),
        (1, 1),
        "a run does not wait an hour: {report:?}"
    );
}

#[tokio::test]
async fn a_redirect_never_sends_a_debate_to_another_host() {
    let stranger = TestServer::start(|_, _| status(200, "", ""));
    let elsewhere = stranger.url("/secret-path");
    let server = TestServer::start(move |request, _| match request.path() {
        "/same" => status(307, "Location: /there\r\n", ""),
        "/loop" => status(308, "Location: /loop\r\n", ""),
        "/get" => status(303, "Location: /there\r\n", ""),
        "/other" => status(307, &format!("Location: {elsewhere}\r\n"), ""),
        "/other-308" => status(308, &format!("Location: {elsewhere}\r\n"), ""),
        _ => status(200, "", ""),
    });
    let bench = bench("");
    for (path, end) in [
        ("/same", StoredState::Done),
        ("/loop", StoredState::Dead),
        ("/get", StoredState::Dead),
        ("/other", StoredState::Dead),
        ("/other-308", StoredState::Dead),
    ] {
        let stored = bench.try_once(&server.url(path)).await;
        assert_eq!(stored.state, end, "{path}: {}", stored.error);
        assert!(!stored.error.contains("secret-path"), "{}", stored.error);
    }
    assert!(stranger.requests().is_empty(), "{:?}", stranger.requests());
    let there: Vec<ReceivedRequest> =
        server.requests().into_iter().filter(|request| request.path() == "/there").collect();
    assert_eq!(there.len(), 1);
    assert!(there[0].head.starts_with("POST ") && !there[0].body.is_empty(), "the body is sent again");
}

#[tokio::test]
async fn a_wrong_destination_is_dead_at_once_and_says_what_to_do() {
    let toml = "[destinations.badurl]\nurl_env = \"BAD\"\n[destinations.ok]\nurl_env = \"CI_URL\"";
    let bench = DeliveryBench::new(
        toml,
        Path::new("/"),
        &[("BAD", "not an address, sesame"), ("CI_URL", "http://127.0.0.1:1/")],
    );
    for (destination, sentence) in [
        ("badurl", "[destinations.badurl]: an address begins with http://"),
        ("missing", "there is no [destinations.missing] in agon.toml: add it"),
        ("command:ok", "[destinations.ok] has no command"),
        ("command:missing", "there is no [destinations.missing]"),
        ("hook:missing", "no longer has these [[hooks]]"),
        ("gopher://x", "a destination is"),
        ("", "a destination is"),
    ] {
        let stored = bench.try_once(destination).await;
        assert_eq!(stored.state, StoredState::Dead, "{destination}: {}", stored.error);
        assert!(stored.error.contains(sentence), "{destination}: {}", stored.error);
        assert!(!stored.error.contains("sesame"), "{}", stored.error);
    }
    let gone = bench.add("gone", "ok");
    bench.run().await;
    assert!(bench.stored(gone).error.contains("no debate gone"), "a busy store may find it later");
    assert!(matches!(bench.stored(gone).state, StoredState::Due { .. }));
}

/// A callback that must be signed is never sent unsigned. A variable that is not set here may be set in the next run.
#[tokio::test]
async fn a_delivery_waits_for_its_variables() {
    let server = TestServer::start(|_, _| status(200, "", ""));
    let url = server.url("/x");
    let toml = format!(
        "[destinations.nosecret]\nurl = {url:?}\nsecret_env = \"UNSET\"\n[destinations.nourl]\nurl_env = \"UNSET\"\n\
         [destinations.plain]\nurl = {url:?}\n[destinations.chat]\nkind = \"slack\"\nurl_env = \"UNSET\"\n\
         [destinations.kept]\ndir = \"x\"\n[[hooks]]\nname = \"a\"\nwebhook = \"plain\"\n[[hooks]]\nname = \"b\"\n\
         webhook = {url:?}\n[[hooks]]\nname = \"c\"\ncommand = [\"true\"]"
    );
    let with_signed = |signed| DeliverySettings { signed, ..settings(&toml, Path::new("/nowhere"), &[]) };
    let unset = "the secret in UNSET is not set here";
    let unsigned = "the secret in AGON_CALLBACK_SECRET is not set here";
    for (destination, variables, sentence) in [
        ("nosecret", &["UNSET"][..], unset),
        ("nourl", &["UNSET", "AGON_CALLBACK_SECRET"], "has its address in UNSET, which is not set here"),
        ("chat", &["UNSET"], "[destinations.chat] has its address in UNSET"),
        ("plain", &["AGON_CALLBACK_SECRET"], unsigned),
        ("hook:a", &["AGON_CALLBACK_SECRET"], unsigned),
        ("hook:b", &["AGON_CALLBACK_SECRET"], unsigned),
        (&url, &["AGON_CALLBACK_SECRET"], unsigned),
    ] {
        let stored =
            DeliveryBench::with_settings(Status::Complete, with_signed(true)).try_once(destination).await;
        assert_eq!(stored.state, StoredState::Due { at_s: 1_001 }, "{destination}: {}", stored.error);
        assert!(stored.error.contains(sentence), "{destination}: {}", stored.error);
        let needs = |signed| {
            let settings = with_signed(signed);
            Destination::read(destination).unwrap().variables(&settings).join(" ")
        };
        assert_eq!(needs(true), variables.join(" "), "{destination}");
        assert_eq!(needs(false), needs(true).replace("AGON_CALLBACK_SECRET", "").trim(), "{destination}");
    }
    assert!(server.requests().is_empty());
    for destination in
        ["kept", "hook:c", "hook:gone", "gone", "file:/x.md", "slack:http://a/", "command:kept"]
    {
        let needs = with_signed(true);
        assert!(Destination::read(destination).unwrap().variables(&needs).is_empty(), "{destination}");
    }
    for destination in ["plain", "hook:b"] {
        let stored =
            DeliveryBench::with_settings(Status::Complete, with_signed(false)).try_once(destination).await;
        assert_eq!(stored.state, StoredState::Done, "{destination}: no signature is needed");
    }
}

#[tokio::test]
async fn errors_never_contain_what_follows_the_host() {
    let server = TestServer::start(|request, _| {
        let path = request.path();
        let (alone, query) = path.split_once('?').unwrap();
        let escaped = path.replace('/', "%2F").replace('=', "%3d");
        let token = query.strip_prefix("key=").unwrap();
        status(400, "", &format!("no such hook: {path}, {alone}, {query}, {token}, op sesame, {escaped}."))
    });
    let bench = bench("");
    for kind in ["", "slack:", "discord:"] {
        let id = bench.add("d-1", &format!("{kind}{}", server.url("/services/T0/SESAME?key=op%20sesame")));
        let report = bench.run().await.unwrap();
        let error = bench.stored(id).error;
        assert!(
            error.ends_with("no such hook: \u{2026}, \u{2026}, \u{2026}, \u{2026}, \u{2026}, \u{2026}."),
            "{error}"
        );
        let shown = format!("{report:?} {error}").to_lowercase();
        assert!(!shown.contains("sesame") && !shown.contains("t0"), "{shown}");
    }
    let root = bench.try_once(&server.url("/?key=abc")).await.error;
    assert!(root.ends_with("no such hook: \u{2026}, /, \u{2026}, abc, op sesame, \u{2026}."), "{root}");
}
