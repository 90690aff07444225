//! What the routes of the page answer, without a browser.

use crate::server::{HOSTILE, Server};

const TOKEN: &str = "0123456789abcdef0123";

#[test]
fn every_page_carries_the_policy_and_no_inline_style_or_script() {
    let server = Server::start();
    let id = server.demo("ask");
    let hostile = server.hostile_debate();
    let paths = [
        "/".to_owned(),
        "/?q=passwords&protocol=ask&state=complete".to_owned(),
        "/new".to_owned(),
        "/new?protocol=panel".to_owned(),
        "/new?protocol=nonsense".to_owned(),
        format!("/debates/{id}"),
        format!("/debates/{id}/live"),
        format!("/debates/{hostile}"),
        format!("/compare?a={id}&b={hostile}"),
        "/compare".to_owned(),
        "/compare?a=none&b=none".to_owned(),
        "/ratings".to_owned(),
        "/knowledge".to_owned(),
        "/knowledge?q=passwords".to_owned(),
        "/debates/nonsense".to_owned(),
        "/nonsense".to_owned(),
    ];
    for path in paths {
        let (status, head, body) = server.page(&path);
        let wanted = match path.as_str() {
            "/debates/nonsense" | "/nonsense" | "/compare?a=none&b=none" => 404,
            "/new?protocol=nonsense" => 422,
            _ => 200,
        };
        assert_eq!(status, wanted, "{path}: {body}");
        assert_eq!(
            body.contains("No debate and no page has this address."),
            path == "/nonsense",
            "{path}: {body}"
        );
        assert!(head.contains("content-type: text/html"), "{path}: {head}");
        let policy = head.lines().find(|line| line.starts_with("content-security-policy:")).unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{path}: {policy}");
        for header in
            ["x-content-type-options: nosniff", "x-frame-options: deny", "referrer-policy: no-referrer"]
        {
            assert!(head.contains(header), "{path}: {head}");
        }
        for inline in [" style=", "<style", " onclick", "javascript:", "<script>"] {
            assert!(!body.contains(inline), "{path} has {inline}");
        }
        assert!(
            !body.contains("<img src=x") && !body.contains("<b>bold"),
            "{path}: hostile text is not escaped"
        );
    }
    assert!(HOSTILE.contains("<img src=x"));
}

#[test]
fn assets_have_their_hash_in_the_name_and_can_be_kept() {
    let server = Server::start_with(Some(TOKEN));
    // The page that says how to log in needs its style, so no token is needed for it.
    let (status, _, body) = server.page("/");
    assert_eq!(status, 401);
    let assets: Vec<&str> = body.split('"').filter(|part| part.starts_with("/assets/")).collect();
    assert!(assets.len() >= 3, "{body}");
    for asset in assets {
        let (status, head, body) = server.page(asset);
        assert_eq!(status, 200, "{asset}");
        assert!(head.contains("immutable") && head.contains("max-age=31536000"), "{asset}: {head}");
        assert!(!body.is_empty());
    }
    assert_eq!(server.page("/assets/agon-0000000000000000.css").0, 404);
}

#[test]
fn without_a_token_a_page_says_how_to_get_the_link_and_the_link_works_once() {
    let server = Server::start_with(Some(TOKEN));
    for path in ["/", "/new", "/ratings", "/debates/x"] {
        let (status, _, body) = server.page(path);
        assert_eq!(status, 401, "{path}");
        assert!(body.contains("works once") && body.contains("/api/v1/links"), "{path}: {body}");
    }
    // Programs still get a problem document.
    let (status, head, _) = server.request("GET", "/api/v1/debates", "Accept: text/html\r\n", "");
    assert!(status == 401 && head.contains("application/problem+json"), "{head}");
    let link = server.link.clone().unwrap();
    let path = link.split_once(&server.address).unwrap().1;
    let (status, head, _) = server.page(path);
    assert_eq!(status, 303, "{head}");
    let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    let session = cookie.split(';').next().unwrap().to_owned();
    let headers = format!("Accept: text/html\r\nCookie: {session}\r\n");
    assert_eq!(server.request("GET", "/", &headers, "").0, 200);
    let (status, _, body) = server.page(path);
    assert!(status == 401 && body.contains("was used before"), "{body}");
}
