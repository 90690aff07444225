//! HTTP callbacks: their form, every way in which a server can fail, and what is tried again.

use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use agon_publish::deliveries::{Destination, Settings, verify};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::server::{Act, Request, Server, status};
use crate::things::{Office, State, settings};

fn office(toml: &str) -> Office {
    Office::new(
        toml,
        Path::new("/nowhere"),
        &[("CI_SECRET", " sesame\n"), ("CI_URL", "http://127.0.0.1:1/x")],
    )
}

/// HMAC as RFC 2104 writes it down.
fn hmac(secret: &[u8], text: &[u8]) -> String {
    let mut key = [0_u8; 64];
    key[..secret.len()].copy_from_slice(secret);
    let inner = Sha256::digest([key.map(|byte| byte ^ 0x36).as_slice(), text].concat());
    let outer = Sha256::digest([key.map(|byte| byte ^ 0x5c).as_slice(), &inner].concat());
    outer.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// "POST JSON outcome; headers `Agon-Delivery: ID`, `Agon-Event: debate.closed`, `Agon-Signature: t=UNIX,v1=HEX`"
#[tokio::test]
async fn a_callback_is_the_outcome_signed() {
    let server = Server::start(|_, _| status(200, "", "thanks"));
    let office = office(&format!(
        "[destinations.ci]\nurl = {:?}\nsecret_env = \"CI_SECRET\"",
        server.url("/hook?x=1")
    ));
    office.post("d-1", "ci");
    let report = office.run().await.unwrap();
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
    assert_eq!(verify("sesame", signature, &request.body, 1_100, 300), Ok(()));
}

/// "unsigned and said so when there is none"
#[tokio::test]
async fn without_a_secret_it_is_not_signed_and_that_is_said() {
    let server = Server::start(|_, _| status(204, "", ""));
    let plain = office("");
    plain.post("d-1", &server.url("/"));
    let report = plain.run().await.unwrap();
    let note = report.delivered[0].note.as_deref().unwrap();
    assert!(note.contains("not signed") && note.contains("AGON_CALLBACK_SECRET"), "{note}");
    assert_eq!(server.requests()[0].header("agon-signature"), None);
    let named = Office::new("", Path::new("/"), &[("AGON_CALLBACK_SECRET", "s")]);
    named.post("d-1", &server.url("/"));
    assert_eq!(named.run().await.unwrap().delivered[0].note, None);
    let signature = server.requests()[1].header("agon-signature").unwrap().to_owned();
    assert_eq!(verify("s", &signature, &server.requests()[1].body, 1_000, 0), Ok(()));
}

/// "permanent (dead at once): 400-499 other than 408, 409, 425, 429"; `Retry-After` is honoured.
#[tokio::test]
async fn every_status_is_done_dead_or_tried_again() {
    let server = Server::start(|request, _| {
        let code = request.path()[1..].split('-').next().unwrap().parse().unwrap();
        let wait = if request.path().ends_with("-wait") { "Retry-After: 90\r\n" } else { "" };
        status(code, wait, "because of\nthis")
    });
    let office = office("");
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
        let kept = office.once(&server.url(path)).await;
        let want = match at_s {
            None => State::Dead,
            Some(None) => State::Done,
            Some(Some(at_s)) => State::Due { at_s },
        };
        assert_eq!(kept.state, want, "{path}: {}", kept.error);
        if want != State::Done {
            assert!(kept.error.contains(&format!("HTTP {}", &path[1..4])), "{}", kept.error);
            assert_eq!(kept.error.contains("because of this"), !path.starts_with("/3"), "{}", kept.error);
        }
    }
}

/// "hangs, closes mid-body"
#[tokio::test]
async fn a_server_that_does_not_answer_properly_is_asked_again() {
    let server = Server::start(|request, _| match request.path() {
        "/hang" => Act::Hang(Vec::new()),
        "/stall" => Act::Hang(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok".to_vec()),
        "/close" => Act::Send(Vec::new()),
        "/cut" => Act::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok".to_vec()),
        _ => Act::Send(b"SMTP ready\r\n\r\n".to_vec()),
    });
    for (path, sentence) in [
        ("/hang", "no answer within 200ms"),
        ("/stall", "no answer within 200ms"),
        ("/close", "cannot be reached"),
        ("/cut", "broke off in its answer"),
        ("/smtp", "cannot be reached"),
    ] {
        let timeout_s = if sentence.contains("200ms") { 0.2 } else { 45.0 };
        let office =
            office(&format!("[destinations.x]\nurl = {:?}\ntimeout_s = {timeout_s:?}", server.url(path)));
        let kept = office.once("x").await;
        assert!(kept.error.contains(sentence), "{path}: {}", kept.error);
        assert_eq!(kept.state, State::Due { at_s: 1_001 }, "{path}");
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let kept = office("").once(&format!("http://127.0.0.1:{port}/")).await;
    assert!(
        kept.error.contains("cannot be reached") && matches!(kept.state, State::Due { .. }),
        "{}",
        kept.error
    );
}

/// An answer is of no use, so that a long one is not read to its end.
#[tokio::test]
async fn a_long_answer_is_not_waited_for() {
    let long = [b"HTTP/1.1 200 OK\r\n\r\n".as_slice(), &[b'x'; 100_000]].concat();
    let server = Server::start(move |_, _| Act::Hang(long.clone()));
    assert_eq!(office("").once(&server.url("/")).await.state, State::Done);
}

/// "At least once: the id is the same on every attempt", and so is the body; the signature is of its own time.
#[tokio::test]
async fn every_attempt_has_the_same_name_and_the_eighth_is_the_last() {
    let server = Server::start(|request, n| match request.path() {
        "/third" if n == 2 => status(200, "", ""),
        _ => status(500, "", ""),
    });
    for (path, attempts, end) in [("/third", 3, State::Done), ("/never", 8, State::Dead)] {
        let before = server.requests().len();
        let mut office = Office::new("", Path::new("/"), &[("AGON_CALLBACK_SECRET", "s")]);
        let id = office.post("d-7", &server.url(path));
        let mut runs = 0;
        while let State::Due { at_s } = office.kept(id).state {
            office.now_s = office.now_s.max(at_s);
            office.run().await;
            runs += 1;
        }
        let requests = &server.requests()[before..];
        assert_eq!((runs, requests.len(), office.kept(id).state), (attempts, attempts, end), "{path}");
        let same =
            |of: fn(&Request) -> Vec<u8>| requests.iter().all(|request| of(request) == of(&requests[0]));
        assert!(
            same(|request| request.body.clone())
                && same(|request| request.header("agon-delivery").unwrap().into())
        );
        let signatures: std::collections::BTreeSet<_> =
            requests.iter().map(|request| request.header("agon-signature").unwrap().to_owned()).collect();
        assert_eq!(signatures.len(), attempts, "each of its own time");
    }
}

/// "In one run it waits for retries that fall within the deadline."
#[tokio::test]
async fn a_run_waits_for_what_can_be_tried_again_in_time() {
    let server = Server::start(|_, n| if n == 0 { status(503, "", "") } else { status(200, "", "") });
    let office = office("");
    let id = office.post("d-1", &server.url("/"));
    let report = office.run_on(Duration::from_secs(60)).await;
    assert_eq!((report.delivered.len(), report.later.len(), report.dead.len()), (1, 0, 0), "{report:?}");
    assert_eq!((office.kept(id).parcel.attempts, server.requests().len()), (2, 2));
    let failing = Server::start(|_, _| status(429, "Retry-After: 3600\r\n", ""));
    office.post("d-2", &failing.url("/"));
    let report = office.run_on(Duration::from_secs(60)).await;
    assert_eq!(
        (report.later.len(), failing.requests().len()),
        (1, 1),
        "an hour is not waited for: {report:?}"
    );
}

/// "Never follows redirects with the body to another host."
#[tokio::test]
async fn a_redirect_never_takes_a_debate_to_another_place() {
    let stranger = Server::start(|_, _| status(200, "", ""));
    let elsewhere = stranger.url("/secret-path");
    let server = Server::start(move |request, _| match request.path() {
        "/same" => status(307, "Location: /there\r\n", ""),
        "/loop" => status(308, "Location: /loop\r\n", ""),
        "/get" => status(303, "Location: /there\r\n", ""),
        "/other" => status(307, &format!("Location: {elsewhere}\r\n"), ""),
        "/other-308" => status(308, &format!("Location: {elsewhere}\r\n"), ""),
        _ => status(200, "", ""),
    });
    let office = office("");
    for (path, end) in [
        ("/same", State::Done),
        ("/loop", State::Dead),
        ("/get", State::Dead),
        ("/other", State::Dead),
        ("/other-308", State::Dead),
    ] {
        let kept = office.once(&server.url(path)).await;
        assert_eq!(kept.state, end, "{path}: {}", kept.error);
        assert!(!kept.error.contains("secret-path"), "{}", kept.error);
    }
    assert!(stranger.requests().is_empty(), "{:?}", stranger.requests());
    let there: Vec<Request> =
        server.requests().into_iter().filter(|request| request.path() == "/there").collect();
    assert_eq!(there.len(), 1);
    assert!(there[0].head.starts_with("POST ") && !there[0].body.is_empty(), "the body went with it");
}

#[tokio::test]
async fn what_is_wrong_with_a_destination_is_dead_at_once_with_what_to_do() {
    let toml = "[destinations.badurl]\nurl_env = \"BAD\"\n[destinations.ok]\nurl_env = \"CI_URL\"";
    let office = Office::new(
        toml,
        Path::new("/"),
        &[("BAD", "not an address, sesame"), ("CI_URL", "http://127.0.0.1:1/")],
    );
    for (destination, sentence) in [
        ("badurl", "[destinations.badurl]: an address begins with http://"),
        ("missing", "there is no [destinations.missing] in agon.toml: add it"),
        ("command:ok", "[destinations.ok] has no command"),
        ("command:missing", "there is no [destinations.missing]"),
        ("hook:missing", "no such [[hooks]] any more"),
        ("gopher://x", "a destination is"),
        ("", "a destination is"),
    ] {
        let kept = office.once(destination).await;
        assert_eq!(kept.state, State::Dead, "{destination}: {}", kept.error);
        assert!(kept.error.contains(sentence), "{destination}: {}", kept.error);
        assert!(!kept.error.contains("sesame"), "{}", kept.error);
    }
    let gone = office.post("gone", "ok");
    office.run().await;
    assert!(office.kept(gone).error.contains("no debate gone"), "a store that is busy may know it later");
    assert!(matches!(office.kept(gone).state, State::Due { .. }));
}

/// "A callback that was bound as signed is never sent unsigned", and what is not set in this run may be in the next.
#[tokio::test]
async fn without_its_variables_a_delivery_waits() {
    let server = Server::start(|_, _| status(200, "", ""));
    let url = server.url("/x");
    let toml = format!(
        "[destinations.nosecret]\nurl = {url:?}\nsecret_env = \"UNSET\"\n[destinations.nourl]\nurl_env = \"UNSET\"\n\
         [destinations.plain]\nurl = {url:?}\n[destinations.chat]\nkind = \"slack\"\nurl_env = \"UNSET\"\n\
         [destinations.kept]\ndir = \"x\"\n[[hooks]]\nname = \"a\"\nwebhook = \"plain\"\n[[hooks]]\nname = \"b\"\n\
         webhook = {url:?}\n[[hooks]]\nname = \"c\"\ncommand = [\"true\"]"
    );
    let promised = |signed| Settings { signed, ..settings(&toml, Path::new("/nowhere"), &[]) };
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
        let kept = Office::with("complete", promised(true)).once(destination).await;
        assert_eq!(kept.state, State::Due { at_s: 1_001 }, "{destination}: {}", kept.error);
        assert!(kept.error.contains(sentence), "{destination}: {}", kept.error);
        let needs = |signed| {
            let settings = promised(signed);
            Destination::read(destination).unwrap().variables(&settings).join(" ")
        };
        assert_eq!(needs(true), variables.join(" "), "{destination}");
        assert_eq!(needs(false), needs(true).replace("AGON_CALLBACK_SECRET", "").trim(), "{destination}");
    }
    assert!(server.requests().is_empty());
    for destination in
        ["kept", "hook:c", "hook:gone", "gone", "file:/x.md", "slack:http://a/", "command:kept"]
    {
        let needs = promised(true);
        assert!(Destination::read(destination).unwrap().variables(&needs).is_empty(), "{destination}");
    }
    for destination in ["plain", "hook:b"] {
        let kept = Office::with("complete", promised(false)).once(destination).await;
        assert_eq!(kept.state, State::Done, "{destination}: no signature was promised");
    }
}

/// Errors, shown or stored, "never contain what comes after the host".
#[tokio::test]
async fn no_secret_is_told_whatever_a_server_says() {
    let server = Server::start(|request, _| {
        let path = request.path();
        let (alone, query) = path.split_once('?').unwrap();
        let escaped = path.replace('/', "%2F").replace('=', "%3d");
        let token = query.strip_prefix("key=").unwrap();
        status(400, "", &format!("no such hook: {path}, {alone}, {query}, {token}, op sesame, {escaped}."))
    });
    let office = office("");
    for kind in ["", "slack:", "discord:"] {
        let id = office.post("d-1", &format!("{kind}{}", server.url("/services/T0/SESAME?key=op%20sesame")));
        let report = office.run().await.unwrap();
        let error = office.kept(id).error;
        assert!(
            error.ends_with("no such hook: \u{2026}, \u{2026}, \u{2026}, \u{2026}, \u{2026}, \u{2026}."),
            "{error}"
        );
        let told = format!("{report:?} {error}").to_lowercase();
        assert!(!told.contains("sesame") && !told.contains("t0"), "{told}");
    }
    let root = office.once(&server.url("/?key=abc")).await.error;
    assert!(root.ends_with("no such hook: \u{2026}, /, \u{2026}, abc, op sesame, \u{2026}."), "{root}");
}
