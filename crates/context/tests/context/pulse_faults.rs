//! Every way in which a source can fail: the fault's kind says whether another try may help, and its message names the
//! source and says what to do.

use std::net::TcpListener;
use std::time::Duration;

use agon_engine::CallFaultKind::{self, RateLimited, Rejected, Unavailable};
use agon_engine::Model;

use crate::support::{ask, ask_file, pulse};
use crate::test_server::{ServerAction, TestServer, ok, status};

async fn fault(server: &TestServer, path: &str, settings: &str) -> (CallFaultKind, String, Option<Duration>) {
    let source = pulse(&format!("url = {:?}\n{settings}", server.url(path)));
    let fault = ask(&source, "rust", 5).await.unwrap_err();
    assert!(fault.message.starts_with("pulse/news "), "{}", fault.message);
    (fault.kind, fault.message, fault.retry_after)
}

fn response_to(path: &str) -> ServerAction {
    let feed = "<rss><channel><item><title>x</title></item></channel></rss>";
    match path {
        "/hang" => ServerAction::Hang(Vec::new()),
        "/slow" => ServerAction::Hang(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<rss>".to_vec()),
        "/cut" => ServerAction::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<rss>".to_vec()),
        "/nothing" => ServerAction::Send(Vec::new()),
        "/https" => status(301, "Location: https://127.0.0.1/feed\r\n"),
        "/ftp" => status(302, "Location: ftp://127.0.0.1/feed\r\n"),
        "/file" => status(302, "Location: file:///etc/passwd\r\n"),
        "/long" => status(302, &format!("Location: {}:x\r\n", "a".repeat(1_000))),
        "/loop" => status(307, "Location: /loop\r\n"),
        "/nowhere" => status(302, ""),
        "/busy" => status(429, "Retry-After: 7\r\n"),
        "/html" => ok("text/html", "<!DOCTYPE html><html><head><title>News</title></head></html>"),
        "/page" => ok("text/plain", "<?xml version='1.0'?><!-- a --> <HTML lang=en><p>News"),
        "/sorry" => ok("text/html; charset=utf-8", "Sorry, nothing here."),
        "/binary" => ok("application/octet-stream", b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\xff"),
        "/controls" => ok("text/plain", "\u{1}\u{2}\u{3} words \u{4}"),
        "/svg" => ok("image/svg+xml", "<svg><title>x</title></svg>"),
        "/words" => ok("text/plain", "Just words."),
        "/half" => ok("text/xml", feed.split_at(28).0),
        "/crossed" => ok("text/xml", "<rss><channel></rss></channel>"),
        "/badjson" => ok("application/json", "[\"x\", "),
        "/nolist" => ok("application/json", "{\"articles\": []}"),
        "/empty" => ok("text/xml", ""),
        "/blank" => ok("text/xml", " \r\n\t "),
        "/noentries" => ok("text/xml", "<rss><channel><title>x</title></channel></rss>"),
        "/wordless" => ok("application/json", "[{\"title\": \" \"}, {}]"),
        "/encoding" => {
            ok("text/xml; charset=utf-8", b"<rss><channel><item><title>\xff</title></item></channel></rss>")
        }
        "/klingon" => {
            ok("text/xml; charset=klingon", b"<rss><channel><item><title>\xff</title></item></channel></rss>")
        }
        "/atom" => ok("text/xml", "<feed><entry><title>x</title></entry></feed>"),
        "/large" => ok("text/xml", " ".repeat(2_000)),
        code => status(code[1..].parse().unwrap(), ""),
    }
}

#[tokio::test]
async fn every_fault_has_a_kind_and_a_message() {
    let server = TestServer::start(response_to);
    for (path, settings, kind, sentence) in [
        ("/hang", "timeout_s = 0.2", Rejected, "did not answer within 200ms"),
        ("/slow", "timeout_s = 0.2", Rejected, "did not answer within 200ms"),
        ("/cut", "", Unavailable, "broke off in the middle"),
        ("/nothing", "", Unavailable, "cannot be reached"),
        ("/https", "", Rejected, "redirects from http:// to https://: set url"),
        ("/ftp", "", Rejected, "redirects from http:// to ftp://: set url"),
        ("/file", "", Rejected, "redirects from http:// to file://: set url"),
        ("/long", "", Rejected, "to aaaaaaaaaaaaaaaaaaa\u{2026}://: set url"),
        ("/loop", "", Rejected, "without reaching an end (HTTP 307)"),
        ("/nowhere", "", Rejected, "(HTTP 302)"),
        ("/busy", "", RateLimited, "accepts no more requests for now (HTTP 429)"),
        ("/400", "", Rejected, "HTTP 400"),
        ("/401", "", Rejected, "(HTTP 401): set key_env"),
        ("/403", "", Rejected, "(HTTP 403): set key_env"),
        ("/404", "", Rejected, "does not exist (HTTP 404): correct url"),
        ("/410", "", Rejected, "does not exist (HTTP 410): correct url"),
        ("/408", "", Unavailable, "HTTP 408"),
        ("/500", "", Unavailable, "failed (HTTP 500)"),
        ("/503", "", Unavailable, "failed (HTTP 503)"),
        ("/html", "", Rejected, "is an HTML page, not a feed or JSON: set url"),
        ("/html", "format = \"text\"", Rejected, "is an HTML page, not a feed or JSON"),
        ("/html", "format = \"rss\"", Rejected, "is not a feed: it begins with <html>"),
        ("/page", "", Rejected, "is an HTML page, not a feed or JSON"),
        ("/sorry", "", Rejected, "is an HTML page, not a feed or JSON"),
        ("/binary", "", Rejected, "is neither a feed nor JSON nor any other text"),
        ("/controls", "", Rejected, "is neither a feed nor JSON nor any other text"),
        ("/controls", "format = \"text\"", Rejected, "is neither a feed nor JSON nor any other text"),
        ("/svg", "", Rejected, "is not a feed: it begins with <svg>"),
        ("/words", "format = \"rss\"", Rejected, "is not a feed"),
        ("/words", "format = \"json\"", Rejected, "is not valid JSON (line 1, column 1)"),
        ("/half", "", Rejected, "is a feed that ends in the middle"),
        ("/crossed", "", Rejected, "is not a feed: "),
        ("/badjson", "", Rejected, "is not valid JSON (line 1"),
        ("/nolist", "", Rejected, "set items"),
        ("/nolist", "items = \"/data\"", Rejected, "has no list at \"/data\""),
        ("/empty", "", Rejected, "is empty"),
        ("/blank", "", Rejected, "is empty"),
        ("/noentries", "", Rejected, "has no entries"),
        ("/wordless", "", Rejected, "has no entries"),
        ("/encoding", "", Rejected, "is not valid UTF-8"),
        ("/klingon", "", Rejected, "has the unknown encoding klingon"),
        ("/atom", "format = \"rss\"", Rejected, "is Atom, not RSS: set format"),
        ("/large", "max_bytes = 1999", Rejected, "has more than 1999 bytes: increase max_bytes"),
        ("/large", "max_bytes = 2000", Rejected, "is empty"),
        ("/hang", "key_env = \"UNSET_KEY\"", Rejected, "needs a key: set the environment variable UNSET_KEY"),
    ] {
        let (found, message, retry_after) = fault(&server, path, settings).await;
        assert_eq!((found, message.contains(sentence)), (kind, true), "{path}: {message}");
        assert_eq!(retry_after, (path == "/busy").then(|| Duration::from_secs(7)), "{path}");
    }
}

/// `a.localhost` is a name that resolves to this machine. `localhost` is the only one that a system must know, so the source is at a number.
#[tokio::test]
async fn a_redirect_to_a_name_of_this_machine_is_refused() {
    let private = TestServer::start(|_| ok("text/plain", "the secret"));
    let port = private.url("").rsplit_once(':').unwrap().1.to_owned();
    let server = TestServer::start(move |path| {
        status(302, &format!("Location: http://{}:{port}/\r\n", path.trim_start_matches('/')))
    });
    for host in ["localhost", "localhost.", "LOCALHOST.", "a.localhost", "localhost.localdomain", "127.1.1.1"]
    {
        let (_, message, _) = fault(&server, &format!("/{host}"), "").await;
        assert!(
            message.contains("redirects to a private") || message.contains("cannot be reached"),
            "{message}"
        );
    }
    assert_eq!(private.heads().len(), 0, "nothing was sent there");
}

/// The engine's timeout ends before the source's own, so the log says `timed_out`.
#[tokio::test(start_paused = true)]
async fn a_slow_source_waits_longer_than_the_timeout_it_reports() {
    let server = TestServer::start(response_to);
    for path in ["/hang", "/slow"] {
        let source = pulse(&format!("url = {:?}\ntimeout_s = 7", server.url(path)));
        let came = tokio::time::timeout(source.timeout().unwrap(), ask(&source, "rust", 5)).await;
        assert!(came.is_err(), "{path}: {came:?}");
    }
}

#[tokio::test]
async fn an_unreachable_source_is_a_fault_that_hides_the_address() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let source = pulse(&format!("url = \"http://127.0.0.1:{port}/?token=sesame\""));
    let fault = ask(&source, "rust", 5).await.unwrap_err();
    assert_eq!(fault.kind, Unavailable);
    assert!(fault.message.starts_with("pulse/news cannot be reached ("), "{}", fault.message);
    assert!(!fault.message.contains("sesame"), "an address may contain a key: {}", fault.message);
}

#[tokio::test]
async fn endless_and_compressed_bodies_are_cut_off_at_the_limit() {
    use std::io::Write;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&vec![b' '; 8 << 20]).unwrap();
    let bomb = gzip.finish().unwrap();
    let server = TestServer::start(move |path| match path {
        "/endless" => {
            ServerAction::Endless(b"HTTP/1.1 200 OK\r\n\r\n<rss>".to_vec(), b"<channel>".repeat(1_000))
        }
        _ => {
            let head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n";
            ServerAction::Send([head.as_slice(), &bomb].concat())
        }
    });
    let (kind, message, _) = fault(&server, "/endless", "timeout_s = 60").await;
    assert_eq!((kind, message.contains("more than 1048576 bytes")), (Rejected, true), "{message}");
    let server = server.wait_for_disconnect().await;
    let (kind, message, _) = fault(&server, "/bomb", "timeout_s = 60").await;
    assert_eq!((kind, message.contains("more than 1048576 bytes")), (Rejected, true), "{message}");
}

#[tokio::test]
async fn dropping_the_future_cancels_the_request() {
    let server = TestServer::start(|_| {
        ServerAction::Hang(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<rss>".to_vec())
    });
    let url = server.url("/");
    let asking =
        tokio::spawn(async move { ask(&pulse(&format!("url = {url:?}\ntimeout_s = 60")), "rust", 5).await });
    let server = server.wait_for_request().await;
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled());
    server.wait_for_disconnect().await;
}

#[tokio::test]
async fn missing_large_and_special_files_are_faults() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let hostile = folder.path().join("a\u{1b}[2J\n");
    for (path, kind, sentence) in [
        (hostile.as_path(), Rejected, "a\u{fffd}[2J\u{fffd}: correct the path in file"),
        (missing.as_path(), Rejected, "correct the path in file"),
        (folder.path(), Rejected, "which is not a regular file"),
    ] {
        // Every JSON string is a TOML string.
        let file = serde_json::json!(path);
        let fault = ask(&pulse(&format!("file = {file}")), "rust", 5).await.unwrap_err();
        assert_eq!(fault.kind, kind);
        assert!(fault.message.contains(sentence), "{}", fault.message);
    }
    for (text, settings, sentence) in [
        ("", "", "is empty"),
        ("[\"rust\"]", "max_bytes = 7", "has more than 7 bytes"),
        ("<html></html>", "", "an HTML page"),
    ] {
        let fault = ask_file(text, settings, "rust").await.unwrap_err();
        assert!(fault.message.contains(sentence), "{}", fault.message);
    }
    assert_eq!(ask_file("[\"rust\"]", "max_bytes = 8", "rust").await.unwrap().items.len(), 1, "just fits");
}
