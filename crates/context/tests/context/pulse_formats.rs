//! The formats and encodings of sources, and which entries a debate gets.

use agon_context::{ContextItem, ErrandAnswer};
use agon_engine::{Model, ModelPrice};
use proptest::prelude::*;

use crate::support::{ask, ask_file, call_with, pulse, titles};
use crate::test_server::{ServerAction, TestServer, ok, status};

const RSS_2: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/" xmlns:content="http://purl.org/rss/1.0/modules/content/">
 <channel>
  <title>The channel</title><description>Not an entry</description><link>https://news.example/</link>
  <item>
   <media:title>Not the title</media:title>
   <title>Rust 2.0 &amp; the <![CDATA[borrow <b>checker</b>]]></title>
   <link>https://news.example/rust?a=1&amp;b=2</link>
   <description>&lt;p&gt;It is &lt;em&gt;out&lt;/em&gt;.&lt;/p&gt;&lt;p&gt;At last&amp;#8230;&lt;/p&gt;</description>
   <content:encoded><![CDATA[<p>Much more.</p>]]></content:encoded>
   <pubDate>Sat, 31 Jan 2026 09:30:00 +0100</pubDate>
  </item>
  <item><title>Weather</title><pubDate>Sun, 01 Feb 2026 00:00:00 GMT</pubDate></item>
 </channel>
</rss>"#;

const RSS_1: &str = r#"<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
  xmlns:dc="http://purl.org/dc/elements/1.1/">
 <channel rdf:about="https://old.example/"><title>Old</title><items><rdf:Seq><rdf:li rdf:resource="x"/></rdf:Seq></items></channel>
 <item rdf:about="https://old.example/1">
  <title>Rust in RDF</title><link>https://old.example/1</link><description>Short.</description>
  <dc:date>2026-01-31T08:30:00Z</dc:date>
 </item>
</rdf:RDF>"#;

const ATOM: &str = r#"<?xml version="1.0"?>
<feed xmlns="http://www.w3.org/2005/Atom">
 <title>Not an entry</title><updated>2026-02-02T00:00:00Z</updated>
 <entry>
  <title type="html">Rust &amp;amp; Atom</title>
  <link rel="self" href="https://atom.example/self"/><link href="https://atom.example/1"/>
  <updated>2026-02-01T00:00:00Z</updated><published>2026-01-31T10:30:00+02:00</published>
  <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>One</p><p>two.</p></div></content>
 </entry>
</feed>"#;

const PREFIXED_ATOM: &str = r#"<atom:feed xmlns:atom="http://www.w3.org/2005/Atom"><atom:entry>
 <atom:title>Rust with a prefix</atom:title><atom:summary>Short.</atom:summary></atom:entry></atom:feed>"#;

const JSON_FEED: &str = r#"{"version": "https://jsonfeed.org/version/1.1", "title": "Not an entry", "items": [
 {"id": "1", "url": "https://json.example/1", "title": "Rust in JSON", "content_html": "<p>Tags &lt; words</p>",
  "date_published": "2026-01-31T08:30:00Z"},
 {"id": "2", "content_text": "A rust message without a title"}]}"#;

fn item(title: &str, text: &str, at: Option<&str>, score: f64) -> ContextItem {
    let at = at.map(str::to_owned);
    ContextItem {
        title: title.into(),
        text: text.into(),
        source: "news".into(),
        at,
        score: Some(score),
        ..ContextItem::default()
    }
}

#[tokio::test]
async fn every_format_is_recognised_by_its_content() {
    let published = Some("2026-01-31T08:30:00Z");
    for (name, text, want) in [
        (
            "RSS 2.0",
            RSS_2,
            vec![item(
                "Rust 2.0 & the borrow checker",
                "It is out. At last\u{2026}\nhttps://news.example/rust?a=1&b=2",
                published,
                1.0,
            )],
        ),
        ("RSS 1.0", RSS_1, vec![item("Rust in RDF", "Short.\nhttps://old.example/1", published, 1.0)]),
        ("Atom", ATOM, vec![item("Rust & Atom", "One two.\nhttps://atom.example/1", published, 1.0)]),
        ("Atom with a prefix", PREFIXED_ATOM, vec![item("Rust with a prefix", "Short.", None, 1.0)]),
        (
            "JSON Feed",
            JSON_FEED,
            vec![
                item("Rust in JSON", "Tags < words\nhttps://json.example/1", published, 1.0),
                item("A rust message without a title", "A rust message without a title", None, 1.0),
            ],
        ),
    ] {
        let answer = ask_file(text, "", "What about Rust?").await.unwrap();
        assert_eq!(answer, ErrandAnswer { items: want, note: None }, "{name}");
    }
}

const MARKDOWN: &str = "# News\n\n## Rust 2.0 is out\n\nThe *borrow* checker\nis faster.\n\n```\n# not a heading\n\nlet rust = 2;\n\
                        ```\n\nOlder rust\n----------\nStays & works.\n\n* * *\n\n## Rust alone ##\n### Cats and rust\n<b>Purr.</b>";

#[tokio::test]
async fn each_paragraph_of_a_text_is_an_entry() {
    let read = async |text: &str, settings: &str| -> Vec<(String, String)> {
        let answer = ask_file(text, &format!("limit = 50\n{settings}"), "rust").await.unwrap();
        answer.items.into_iter().map(|item| (item.title, item.text)).collect()
    };
    let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(title, text)| ((*title).to_owned(), (*text).to_owned())).collect()
    };
    let want = pairs(&[
        ("Rust 2.0 is out", "The *borrow* checker is faster."),
        ("Rust 2.0 is out", "``` # not a heading let rust = 2; ```"),
        ("Older rust", "Stays & works."),
        ("Cats and rust", "Purr."),
    ]);
    assert_eq!(read(MARKDOWN, "").await, want);
    assert_eq!(read(&MARKDOWN.replace('\n', "\r\n"), "format = \"md\"").await, want);
    let plain = "Rust is a language\nwith rules.\n\n\n  \t\nRust is iron oxide.\n\nCats are not.";
    let plain_want = pairs(&[
        ("Rust is a language with rules.", "Rust is a language with rules."),
        ("Rust is iron oxide.", "Rust is iron oxide."),
    ]);
    assert_eq!(read(plain, "").await, plain_want);
    assert_eq!(
        read("# Rust\n# Rusty\n## Rust", "").await,
        pairs(&[("Rust", "Rust")]),
        "headings without text, each once"
    );
    assert_eq!(read("```\nrust, and no end", "").await.len(), 1);
    let list: String = (0..200).map(|n| format!("- rust number {n}\n")).collect();
    let items = read(&list, "").await;
    assert!(items.len() > 3 && items.iter().any(|(_, text)| text.contains("number 199")), "{items:?}");
}

/// A text that begins with a link or a tag is not taken for JSON or a feed if it is known to be Markdown.
#[tokio::test]
async fn markdown_is_recognised_by_file_name_content_type_or_format() {
    let texts = ["[Rust](https://a.example/) is out.", "<p>Rust</p> is out.", "{rust} is out."];
    let server = TestServer::start(move |path| {
        let (index, kind) = path.split_at(2);
        ok(&format!("text{kind}; charset=utf-8"), texts[index[1..].parse::<usize>().unwrap()])
    });
    let folder = tempfile::tempdir().unwrap();
    for (index, text) in texts.into_iter().enumerate() {
        let path = folder.path().join(format!("{index}.MD"));
        std::fs::write(&path, text).unwrap();
        let [typed, plain] = ["/markdown", "/plain"].map(|kind| server.url(&format!("/{index}{kind}")));
        for section in [
            format!("file = {path:?}"),
            format!("url = {typed:?}"),
            format!("url = {plain:?}\nformat = \"text\""),
        ] {
            let answer = ask(&pulse(&section), "rust", 5).await.unwrap();
            assert!(answer.items[0].title.ends_with("is out."), "{section}: {answer:?}");
        }
        assert!(ask(&pulse(&format!("url = {plain:?}")), "rust", 5).await.is_err(), "{text}");
    }
}

#[tokio::test]
async fn duplicates_in_a_source_do_not_count_towards_the_limit() {
    let text =
        r#"["rust", "rust", {"title": "rust", "at": "2026-01-01"}, "rust", "rusty rust", "rust", "of rust"]"#;
    let answer = ask_file(text, "limit = 3", "rust").await.unwrap();
    assert_eq!(titles(&answer), ["rust", "rusty rust", "of rust"]);
    assert_eq!(answer.items[0].at.as_deref(), Some("2026-01-01T00:00:00Z"));
}

#[tokio::test]
async fn the_section_names_the_fields_of_a_json_document() {
    let text = r#"{"data": {"articles": [
        {"meta": {"headline": "Rust"}, "body": "Words.", "where": "https://a.example/", "when": 1769848200},
        {"meta": {"headline": "Rust again"}, "when": 1769848200000},
        {"meta": {"headline": "Rust once more"}, "when": "31 Jan 26 09:30 +0100"},
        {"meta": {}, "when": true}, "Rust as a text", 7, null]}}"#;
    let section = "format = \"json\"\nitems = \"/data/articles\"\ntitle = \"/meta/headline\"\ntext = \"body\"\n\
                   link = \"where\"\nat = \"when\"\nlimit = 50";
    let answer = ask_file(text, section, "rust").await.unwrap();
    assert_eq!(titles(&answer), ["Rust", "Rust again", "Rust once more", "Rust as a text"]);
    assert_eq!(answer.items[0].text, "Words.\nhttps://a.example/");
    for item in &answer.items[..3] {
        assert_eq!(item.at.as_deref(), Some("2026-01-31T08:30:00Z"), "{}", item.title);
    }
    assert_eq!(answer.items[3].at, None);
}

#[tokio::test]
async fn matching_entries_come_first_or_else_the_newest() {
    let text = r#"[
        {"title": "Databases", "at": "2026-01-01"},
        {"title": "Migrating databases to Postgres", "at": "2025-01-01"},
        {"title": "Postgres is 40", "at": "2026-02-01"},
        {"title": "Undated"},
        {"title": "Cats", "at": "2026-03-01"}]"#;
    let ask = async |query| ask_file(text, "", query).await.unwrap();
    let near = ask("Should we migrate our database to Postgres?").await;
    assert_eq!(titles(&near), ["Migrating databases to Postgres", "Postgres is 40", "Databases"]);
    assert_eq!(
        near.items.iter().map(|item| item.score.unwrap()).collect::<Vec<_>>(),
        [0.6667, 0.3333, 0.3333]
    );
    let new = ask("What about the?").await;
    assert_eq!(
        titles(&new),
        ["Cats", "Postgres is 40", "Databases", "Migrating databases to Postgres", "Undated"]
    );
    assert!(new.items.iter().all(|item| item.score.is_none()), "the newest entries have no score");
}

#[tokio::test]
async fn the_number_of_items_is_limited_by_the_errand_and_the_section() {
    let text = r#"["rust 1", "rust 2", "rust 3", "rust 4", "rust 5", "rust 6", "rust 7"]"#;
    assert_eq!(ask_file(text, "", "rust").await.unwrap().items.len(), 5, "the default");
    assert_eq!(ask_file(text, "limit = 2", "rust").await.unwrap().items.len(), 2);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("source");
    std::fs::write(&path, text).unwrap();
    let source = pulse(&format!("file = {path:?}"));
    for limit in [0, 1, 3] {
        assert_eq!(ask(&source, "rust", limit).await.unwrap().items.len(), limit);
    }
}

#[tokio::test]
async fn the_encoding_comes_from_the_byte_order_mark_the_server_or_the_document() {
    let feed = |encoding: &str| {
        format!(
            "<?xml version=\"1.0\"{encoding}?><rss><channel><item><title>Café 中</title></item></channel></rss>"
        )
    };
    let utf16: Vec<u8> = [0xfeff]
        .into_iter()
        .chain(feed(" encoding=\"UTF-16\"").encode_utf16())
        .flat_map(u16::to_be_bytes)
        .collect();
    let (gbk, ..) =
        encoding_rs::GBK.encode("<rss><channel><item><title>Café 中</title></item></channel></rss>");
    let latin =
        feed(" encoding='ISO-8859-1'").replace('中', "").chars().map(|c| c as u8).collect::<Vec<u8>>();
    let bodies = [
        ("text/xml", feed("").into_bytes(), "Café 中"),
        ("text/xml", [b"\xef\xbb\xbf".as_slice(), feed("").as_bytes()].concat(), "Café 中"),
        ("text/xml", utf16, "Café 中"),
        ("text/xml; charset=\"gbk\"", gbk.into_owned(), "Café 中"),
        ("text/xml", latin.clone(), "Café"),
        ("text/xml; charset=utf-8", latin, "Café"),
        ("text/xml; charset=klingon", feed("").into_bytes(), "Café 中"),
    ];
    let wants: Vec<&str> = bodies.iter().map(|(_, _, want)| *want).collect();
    let served = bodies.clone();
    let server = TestServer::start(move |path| {
        let (content_type, body, _) = &served[path[1..].parse::<usize>().unwrap()];
        ok(content_type, body)
    });
    for (index, want) in wants.into_iter().enumerate() {
        let source = pulse(&format!("url = {:?}", server.url(&format!("/{index}"))));
        let answer = ask(&source, "x", 5).await.unwrap_or_else(|why| panic!("{index}: {why}"));
        assert_eq!(titles(&answer), [want], "{index}");
    }
}

#[tokio::test]
async fn chunked_compressed_and_redirected_bodies_are_read() {
    use std::io::Write;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(RSS_1.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let server = TestServer::start(move |path| match path {
        "/chunks" => {
            let mut out =
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n".to_vec();
            for chunk in RSS_1.as_bytes().chunks(7) {
                out.extend(
                    format!("{:x}\r\n", chunk.len()).bytes().chain(chunk.iter().copied()).chain(*b"\r\n"),
                );
            }
            out.extend(b"0\r\n\r\n");
            ServerAction::Send(out)
        }
        "/gzip" => {
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                gzip.len()
            );
            ServerAction::Send([head.as_bytes(), &gzip].concat())
        }
        "/moved" => status(302, "Location: /chunks\r\n"),
        _ => ok("application/rdf+xml", RSS_1),
    });
    for path in ["/", "/chunks", "/gzip", "/moved"] {
        let answer = ask(&pulse(&format!("url = {:?}", server.url(path))), "rust", 5).await.unwrap();
        assert_eq!(titles(&answer), ["Rust in RDF"], "{path}");
    }
}

#[tokio::test]
async fn the_key_is_sent_but_the_question_is_not() {
    let server = TestServer::start(|_| ok("application/json", r#"["rust"]"#));
    let url = server.url("/feed");
    ask(&pulse(&format!("url = {url:?}\nkey_env = \"NEWS_KEY\"")), "secret plans", 5).await.unwrap();
    ask(&pulse(&format!("url = {url:?}")), "secret plans", 5).await.unwrap();
    let heads = server.heads();
    assert!(heads[0].contains("authorization: Bearer k-123\r\n"), "{}", heads[0]);
    assert!(!heads[1].contains("authorization"), "{}", heads[1]);
    assert!(heads.iter().all(|head| !head.contains("secret") && head.starts_with("GET /feed ")));
}

#[test]
fn a_source_is_a_free_errand_with_its_own_timeout() {
    let source = pulse("file = \"x\"\ntimeout_s = 2");
    assert_eq!((source.name(), source.provider(), source.price()), ("pulse/news", "pulse", ModelPrice::Free));
    assert!(source.is_errand());
    assert_eq!(source.timeout(), Some(std::time::Duration::from_secs(2)));
    assert!(source.missing().is_none(), "a debate can run without its sources");
    assert_eq!(format!("{source:?}"), "PulseSource(\"pulse/news\")");
}

#[tokio::test]
async fn a_call_that_is_not_an_errand_is_rejected() {
    let source = pulse("file = \"x\"");
    for message in ["", "rust", "[]", "{\"query\": \"x\"}", "{\"query\": \"x\", \"limit\": -1}"] {
        let fault = source.call(&call_with(message), None).await.unwrap_err();
        assert_eq!(fault.kind, agon_engine::CallFaultKind::Rejected, "{message}");
        assert!(fault.message.contains("\"query\""), "{}", fault.message);
    }
}

proptest! {
    #[test]
    fn any_bytes_give_a_bounded_answer_or_a_fault(
        start in prop::sample::select(vec!["", "<rss><channel><item><title>", "<feed><entry>", "[", "{\"items\":[", "<?xml"]),
        rest in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..200),
            "[<>/&;a-z\"'! \\[\\]{}:,-]{0,200}".prop_map(String::into_bytes),
        ],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let bytes = [start.as_bytes(), &rest].concat();
        match runtime.block_on(ask_file(bytes, "", "a b c rust")) {
            Ok(answer) => {
                prop_assert!(!answer.items.is_empty() && answer.items.len() <= 5);
                for item in answer.items {
                    prop_assert!(!item.title.trim().is_empty());
                    prop_assert!(!item.title.chars().any(char::is_control), "{:?}", item.title);
                    prop_assert!(item.text.chars().count() <= 600);
                }
            }
            Err(fault) => prop_assert!(fault.message.starts_with("pulse/news "), "{}", fault.message),
        }
    }
}
