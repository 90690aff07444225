//! Every screen is whole at both widths and in both schemes, quiet, and keeps hostile text as text.

use std::path::Path;

use serde_json::{Value, json};

use crate::chromium::Browser;
use crate::server::{HOSTILE, Server};
use crate::window::browser;

/// Opens everything on the page and reports what is wrong with it.
const LOOK: &str = include_str!("../../../report/tests/report/chromium/look.js");

fn picture(browser: &mut Browser, name: &str) {
    if let Some(folder) = std::env::var_os("AGON_PICTURES") {
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), browser.picture()).unwrap();
    }
}

/// No error on the console, and nothing asked for but from this server.
fn assert_quiet(at: &str, browser: &Browser, server: &Server) {
    assert!(browser.faults().is_empty(), "{at}: {:?}", browser.faults());
    let here = server.url("/");
    let elsewhere: Vec<&str> = browser.asked().into_iter().filter(|url| !url.starts_with(&here)).collect();
    assert!(elsewhere.is_empty(), "{at}: it asked for {elsewhere:?}");
}

#[test]
fn every_screen_is_whole_and_quiet_at_both_widths_and_in_both_schemes() {
    let Some(mut browser) = browser() else { return };
    let server = Server::start();
    browser.open_url(&server.url("/"), 1280, "light");
    assert_eq!(
        browser.evaluate("document.querySelectorAll('.demos button').length > 3"),
        json!(true),
        "no demos"
    );
    let (deep, arena) = (server.demo("deep"), server.demo("arena"));
    server.rated_debate();
    browser.open_url(&server.url("/ratings"), 1280, "light");
    assert_eq!(browser.evaluate("document.querySelectorAll('svg.reliability circle').length"), json!(3));
    let waits = server.debate(
        &json!({"protocol": "deep", "question": "Tea?", "models": ["human/ada", "script/demo-deep"]}),
    );
    let screens = [
        ("list", "/".to_owned()),
        ("empty", "/?q=nothing-has-these-words".to_owned()),
        ("new", "/new".to_owned()),
        ("files", "/new?protocol=panel".to_owned()),
        ("reading", format!("/debates/{deep}")),
        ("arena", format!("/debates/{arena}")),
        ("live", format!("/debates/{waits}")),
        ("compare", format!("/compare?a={deep}&b={arena}")),
        ("ratings", "/ratings".to_owned()),
        ("knowledge", "/knowledge".to_owned()),
    ];
    for (name, path) in &screens {
        for (width, scheme) in [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")] {
            let at = format!("{name} at {width} in {scheme}");
            browser.open_url(&server.url(path), width, scheme);
            if *name == "live" {
                browser.wait_for("document.querySelector('.your-turn')");
            }
            picture(&mut browser, &format!("{name}-{width}-{scheme}"));
            let seen = browser.evaluate(LOOK);
            assert!(
                seen["scroll"].as_f64() <= seen["width"].as_f64(),
                "{at}: it scrolls sideways: {}",
                seen["wider"]
            );
            for what in ["faint", "flat", "skipped", "shut", "nameless"] {
                assert_eq!(seen[what], json!([]), "{at}: {what}");
            }
            let unlabelled = browser.evaluate(
                "[...document.querySelectorAll('input, select, textarea')].filter(field => field.type !== 'hidden' && !field.closest('label')).map(field => field.outerHTML)",
            );
            assert_eq!(unlabelled, json!([]), "{at}: fields without a label");
            assert_quiet(&at, &browser, &server);
        }
    }
}

#[test]
fn hostile_text_stays_text_while_the_debate_runs_and_after() {
    let Some(mut browser) = browser() else { return };
    let server = Server::start();
    let over = server.hostile_debate();
    let waits = server.debate(&json!({
        "protocol": "poll", "question": format!("{HOSTILE}?"), "models": [server.hostile_model(), "human/ada"],
    }));
    for path in [
        "/".to_owned(),
        format!("/debates/{over}"),
        format!("/debates/{waits}"),
        format!("/compare?a={over}&b={waits}"),
    ] {
        browser.open_url(&server.url(&path), 1280, "light");
        browser.wait_for("document.body.textContent.includes('<img src=x onerror=alert(1)>')");
        let found =
            browser.evaluate("document.querySelectorAll('main img, main b, main script, main i').length");
        assert_eq!(found, json!(0), "{path}");
        assert_quiet(&path, &browser, &server);
    }
}

#[test]
fn without_scripts_a_debate_can_be_read_and_a_citation_leads_to_its_words() {
    let Some(mut browser) = browser() else { return };
    let server = Server::start();
    let id = server.demo("deep");
    browser.call("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    browser.open_url(&server.url(&format!("/debates/{id}")), 1280, "light");
    let target = browser.first_link("a.quoted");
    browser.open_url(&server.url("/ratings"), 1280, "light");
    browser.open_url(&server.url(&format!("/debates/{id}{target}")), 1280, "light");
    browser.call("Emulation.setScriptExecutionDisabled", json!({"value": false}));
    let seen = browser.evaluate(
        "(() => { const mark = document.querySelector(':target'); const box = mark.getBoundingClientRect(); \
         return { tag: mark.tagName, open: mark.closest('details').open, high: box.height, answer: document.querySelector('.answer').innerText.length, \
         dissent: document.querySelectorAll('.dissent').length } })()",
    );
    assert_eq!(
        (&seen["tag"], &seen["open"], &seen["dissent"]),
        (&json!("MARK"), &json!(true), &json!(1)),
        "{seen}"
    );
    assert!(seen["high"].as_f64() > Some(0.0) && seen["answer"].as_u64() > Some(100), "{seen}");
    assert_quiet("without scripts", &browser, &server);
}

#[test]
fn nothing_moves_while_a_debate_is_read_and_the_page_is_small() {
    let Some(mut browser) = browser() else { return };
    let server = Server::start();
    let id = server.demo("council");
    // The style is there, and the page comes slowly: its beginning is drawn before the rest is there.
    browser.open_url(&server.url("/ratings"), 1280, "light");
    let slow = json!({"offline": false, "latency": 50, "downloadThroughput": 30_000, "uploadThroughput": -1});
    browser.call("Network.emulateNetworkConditions", slow);
    browser.open_url(&server.url(&format!("/debates/{id}")), 1280, "light");
    browser.wait_for("performance.getEntriesByType('resource').length >= 2");
    let moved = browser.awaited(
        "new Promise(done => { const all = []; new PerformanceObserver(list => list.getEntries().forEach(entry => entry.sources.forEach(source => \
         all.push([source.node?.outerHTML?.slice(0, 200), source.previousRect.toJSON(), source.currentRect.toJSON()])))) \
         .observe({type: 'layout-shift', buffered: true}); setTimeout(() => done(all), 200) })",
    );
    assert_eq!(moved, json!([]), "the page moved");
    let sent: Value = browser
        .evaluate("performance.getEntries().reduce((all, entry) => all + (entry.transferSize ?? 0), 0)");
    assert!(sent.as_u64() < Some(300_000), "{sent} bytes");
}

impl Browser {
    /// Where the first such link leads, also if scripts are switched off.
    fn first_link(&mut self, selector: &str) -> String {
        let root = self.call("DOM.getDocument", json!({}))["root"]["nodeId"].clone();
        let node =
            self.call("DOM.querySelector", json!({"nodeId": root, "selector": selector}))["nodeId"].clone();
        let attributes = self.call("DOM.getAttributes", json!({"nodeId": node}))["attributes"].clone();
        let attributes: Vec<String> = serde_json::from_value(attributes).unwrap();
        attributes[attributes.iter().position(|name| name == "href").unwrap() + 1].clone()
    }
}
