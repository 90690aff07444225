//! "Faults: timeout, HTTP error, redirect to another scheme, not a feed, too large, wrong encoding, empty: each a Fault with a
//! sentence that names the source; no retry for what is hopeless. Dropping the future cancels the request."

use std::net::TcpListener;
use std::time::Duration;

use agon_engine::FaultKind::{self, RateLimited, Rejected, Unavailable};
use agon_engine::Model;

use crate::server::{Act, Server, ok, status};
use crate::things::{ask, of_file, pulse};

async fn fault(server: &Server, path: &str, more: &str) -> (FaultKind, String, Option<Duration>) {
    let source = pulse(&format!("url = {:?}\n{more}", server.url(path)));
    let fault = ask(&source, "rust", 5).await.unwrap_err();
    assert!(fault.message.starts_with("pulse/news "), "{}", fault.message);
    (fault.kind, fault.message, fault.retry_after)
}

fn scripted(path: &str) -> Act {
    let feed = "<rss><channel><item><title>x</title></item></channel></rss>";
    match path {
        "/hang" => Act::Hang(Vec::new()),
        "/slow" => Act::Hang(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<rss>".to_vec()),
        "/cut" => Act::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<rss>".to_vec()),
        "/nothing" => Act::Send(Vec::new()),
        "/https" => status(301, "Location: https://127.0.0.1/feed\r\n"),
        "/ftp" => status(302, "Location: ftp://127.0.0.1/feed\r\n"),
        "/file" => status(302, "Location: file:///etc/passwd\r\n"),
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
async fn every_fault_has_its_kind_and_a_sentence() {
    let server = Server::start(scripted);
    for (path, more, kind, sentence) in [
        ("/hang", "timeout_s = 0.2", Rejected, "gave no answer within 200ms"),
        ("/slow", "timeout_s = 0.2", Rejected, "gave no answer within 200ms"),
        ("/cut", "", Unavailable, "broke off in the middle"),
        ("/nothing", "", Unavailable, "cannot be reached"),
        ("/https", "", Rejected, "sends us from http:// to https://: set url"),
        ("/ftp", "", Rejected, "sends us from http:// to ftp://: set url"),
        ("/file", "", Rejected, "sends us from http:// to file://: set url"),
        ("/loop", "", Rejected, "without an end (HTTP 307)"),
        ("/nowhere", "", Rejected, "(HTTP 302)"),
        ("/busy", "", RateLimited, "takes no more requests for now (HTTP 429)"),
        ("/400", "", Rejected, "HTTP 400"),
        ("/401", "", Rejected, "(HTTP 401): set key_env"),
        ("/403", "", Rejected, "(HTTP 403): set key_env"),
        ("/404", "", Rejected, "is not there (HTTP 404): set url"),
        ("/410", "", Rejected, "is not there (HTTP 410): set url"),
        ("/408", "", Unavailable, "HTTP 408"),
        ("/500", "", Unavailable, "failed (HTTP 500)"),
        ("/503", "", Unavailable, "failed (HTTP 503)"),
        ("/html", "", Rejected, "is neither a feed nor JSON but an HTML page: set url"),
        ("/html", "format = \"text\"", Rejected, "is neither a feed nor JSON but an HTML page"),
        ("/html", "format = \"rss\"", Rejected, "is no feed: it begins with <html>"),
        ("/page", "", Rejected, "is neither a feed nor JSON but an HTML page"),
        ("/sorry", "", Rejected, "is neither a feed nor JSON but an HTML page"),
        ("/binary", "", Rejected, "is neither a feed nor JSON, nor any other text"),
        ("/controls", "", Rejected, "is neither a feed nor JSON, nor any other text"),
        ("/controls", "format = \"text\"", Rejected, "is neither a feed nor JSON, nor any other text"),
        ("/svg", "", Rejected, "is no feed: it begins with <svg>"),
        ("/words", "format = \"rss\"", Rejected, "is no feed"),
        ("/words", "format = \"json\"", Rejected, "is no JSON (line 1, column 1)"),
        ("/half", "", Rejected, "breaks off in the middle"),
        ("/crossed", "", Rejected, "is no feed: "),
        ("/badjson", "", Rejected, "is no JSON (line 1"),
        ("/nolist", "", Rejected, "set items"),
        ("/nolist", "items = \"/data\"", Rejected, "has no list at \"/data\""),
        ("/empty", "", Rejected, "is empty"),
        ("/blank", "", Rejected, "is empty"),
        ("/noentries", "", Rejected, "has no entries"),
        ("/wordless", "", Rejected, "has no entries"),
        ("/encoding", "", Rejected, "is not in the encoding that it should be in, UTF-8"),
        ("/klingon", "", Rejected, "is in an encoding that is not known here: klingon"),
        ("/atom", "format = \"rss\"", Rejected, "is Atom and not RSS: set format"),
        ("/large", "max_bytes = 1999", Rejected, "has more than 1999 bytes: set max_bytes"),
        ("/large", "max_bytes = 2000", Rejected, "is empty"),
        ("/hang", "key_env = \"UNSET_KEY\"", Rejected, "needs a key: set UNSET_KEY"),
    ] {
        let (found, message, retry_after) = fault(&server, path, more).await;
        assert_eq!((found, message.contains(sentence)), (kind, true), "{path}: {message}");
        assert_eq!(retry_after, (path == "/busy").then(|| Duration::from_secs(7)), "{path}");
    }
}

/// The engine, which waits as long as the source says, gives up before the source does: the absence is `timed_out`.
#[tokio::test(start_paused = true)]
async fn a_late_source_leaves_it_to_the_engine_to_give_up() {
    let server = Server::start(scripted);
    for path in ["/hang", "/slow"] {
        let source = pulse(&format!("url = {:?}\ntimeout_s = 7", server.url(path)));
        let came = tokio::time::timeout(source.timeout().unwrap(), ask(&source, "rust", 5)).await;
        assert!(came.is_err(), "{path}: {came:?}");
    }
}

#[tokio::test]
async fn a_source_that_nobody_serves_cannot_be_reached() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let source = pulse(&format!("url = \"http://127.0.0.1:{port}/?token=sesame\""));
    let fault = ask(&source, "rust", 5).await.unwrap_err();
    assert_eq!(fault.kind, Unavailable);
    assert!(fault.message.starts_with("pulse/news cannot be reached ("), "{}", fault.message);
    assert!(!fault.message.contains("sesame"), "an address may hold a key: {}", fault.message);
}

/// "too large (stop reading at the limit)", also of a body that never ends and of one that grows when it is unpacked.
#[tokio::test]
async fn an_endless_body_is_left_at_the_limit() {
    use std::io::Write;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&vec![b' '; 8 << 20]).unwrap();
    let bomb = gzip.finish().unwrap();
    let server = Server::start(move |path| match path {
        "/endless" => Act::Forever(b"HTTP/1.1 200 OK\r\n\r\n<rss>".to_vec(), b"<channel>".repeat(1_000)),
        _ => {
            let head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n";
            Act::Send([head.as_slice(), &bomb].concat())
        }
    });
    let (kind, message, _) = fault(&server, "/endless", "timeout_s = 60").await;
    assert_eq!((kind, message.contains("more than 1048576 bytes")), (Rejected, true), "{message}");
    let server = server.left().await;
    let (kind, message, _) = fault(&server, "/bomb", "timeout_s = 60").await;
    assert_eq!((kind, message.contains("more than 1048576 bytes")), (Rejected, true), "{message}");
}

#[tokio::test]
async fn dropping_the_future_cancels_the_request() {
    let server =
        Server::start(|_| Act::Hang(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<rss>".to_vec()));
    let url = server.url("/");
    let asking =
        tokio::spawn(async move { ask(&pulse(&format!("url = {url:?}\ntimeout_s = 60")), "rust", 5).await });
    let server = server.asked().await;
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled());
    server.left().await;
}

#[tokio::test]
async fn files_have_their_own_faults() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let hostile = folder.path().join("a\u{1b}[2J\n");
    for (path, kind, sentence) in [
        (hostile.as_path(), Rejected, "a\u{fffd}[2J\u{fffd}: set file to where it is"),
        (missing.as_path(), Rejected, "set file to where it is"),
        (folder.path(), Rejected, "which is no file"),
    ] {
        // A string of JSON is one of TOML.
        let file = serde_json::json!(path);
        let fault = ask(&pulse(&format!("file = {file}")), "rust", 5).await.unwrap_err();
        assert_eq!(fault.kind, kind);
        assert!(fault.message.contains(sentence), "{}", fault.message);
    }
    for (text, more, sentence) in [
        ("", "", "is empty"),
        ("[\"rust\"]", "max_bytes = 7", "has more than 7 bytes"),
        ("<html></html>", "", "an HTML page"),
    ] {
        let fault = of_file(text, more, "rust").await.unwrap_err();
        assert!(fault.message.contains(sentence), "{}", fault.message);
    }
    assert_eq!(of_file("[\"rust\"]", "max_bytes = 8", "rust").await.unwrap().items.len(), 1, "just fits");
}
