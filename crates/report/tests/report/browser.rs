//! The page in a real browser: "check it in a real browser (Chromium) in a test at desktop and phone width, in light and dark".
//!
//! Without a browser there is nothing to see, and the test says so; with `AGON_BROWSER=required` that is a failure.
//! `AGON_PICTURES=FOLDER` leaves a picture of each page there.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod chromium;
mod sample;

use std::path::{Path, PathBuf};

use agon_report::html;
use chromium::Browser;
use serde_json::{Value, json};

const WIDTHS: [u32; 2] = [1280, 390];
const SCHEMES: [&str; 2] = ["light", "dark"];

/// What is seen on the page once everything is open.
const LOOK: &str = include_str!("chromium/look.js");

/// "one self-contained file (no network) with the debate as people would want to look at it: seats, rounds, arguments, who changed
/// and why, convergence plot, flip diagram, dissent, cost".
#[test]
fn every_protocols_page_is_whole_at_both_widths_and_in_both_schemes() {
    let Some(mut browser) = started() else { return };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    for (name, debate, document) in sample::evidence::all() {
        let file = folder.join(format!("{name}.html"));
        std::fs::write(&file, html(&document, &debate)).unwrap();
        let mut papers = Vec::new();
        for (width, scheme) in WIDTHS.iter().flat_map(|width| SCHEMES.map(|scheme| (*width, scheme))) {
            let at = format!("{name} at {width} in {scheme}");
            browser.open(&file, width, scheme);
            picture(&mut browser, &format!("{name}-{width}-{scheme}"));
            let seen = browser.evaluate(LOOK);
            assert_eq!(seen["width"], json!(width), "{at}: the window is not as wide as asked");
            assert_eq!(seen["dark"], json!(scheme == "dark"), "{at}: the scheme is not the one asked for");
            assert_whole(&at, &seen);
            assert_quiet(&at, &browser.events);
            papers.push(seen["paper"].clone());
        }
        assert_ne!(papers[0], papers[1], "{name}: light and dark look the same");
    }
}

/// Words without a space, wide code and tables, sixteen seats, forty rounds: nothing makes a phone scroll sideways.
#[test]
fn no_word_is_too_long_for_a_phone() {
    let Some(mut browser) = started() else { return };
    let (debate, mut document) = sample::evidence::deep();
    let long = format!("{} <b>&amp;</b> {}", "x".repeat(400), "https://example.org/".repeat(20));
    lengthen(&mut document, &long);
    let seats: Vec<Value> = (0..16).map(|seat| json!({"seat": format!("seat-{seat}"), "label": null,
        "positions": (0..40).map(|round| json!({"round": round, "position": format!("{long}{}", (seat * round) % 5), "changed": round > 0}))
            .collect::<Vec<_>>()})).collect();
    document["evidence"]["trajectory"] = json!(seats);
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("long.html");
    std::fs::write(&file, html(&document, &debate)).unwrap();
    for width in WIDTHS {
        browser.open(&file, width, "light");
        picture(&mut browser, &format!("long-{width}"));
        let seen = browser.evaluate(LOOK);
        assert_eq!(seen["wider"], json!([]), "at {width}");
        assert!(seen["scroll"].as_f64() <= seen["width"].as_f64(), "at {width} it scrolls sideways: {seen}");
    }
}

/// What is looked for would be found: a page with one of each fault.
#[test]
fn a_bad_page_is_found_out() {
    let Some(mut browser) = started() else { return };
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bad.html");
    let page = "<!doctype html><body style='background:#fff'><h1>A</h1><h3>B</h3><p style='color:#aaa'>faint</p>\
        <div style='width:3000px'>wide</div><svg class='flat' width='2' height='2'></svg>\
        <img src='http://127.0.0.1:9/x.png'><script>console.error('bad')</script></body>";
    std::fs::write(&file, page).unwrap();
    browser.open(&file, 390, "light");
    let seen = browser.evaluate(LOOK);
    for what in ["wider", "faint", "flat", "nameless", "skipped"] {
        assert_eq!(seen[what].as_array().unwrap().len(), 1, "{what}: {seen}");
    }
    assert!(seen["scroll"].as_f64() > Some(390.0), "{seen}");
    let quiet = std::panic::catch_unwind(|| assert_quiet("", &browser.events));
    assert!(quiet.is_err(), "{:?}", browser.events);
    let asked = |event: &&Value| event["params"]["request"]["url"] == "http://127.0.0.1:9/x.png";
    assert!(browser.events.iter().any(|event| asked(&event)));
}

/// A browser, unless there is none and none is required.
fn started() -> Option<Browser> {
    let found = chromium::find().ok_or_else(|| "there is no browser".to_owned());
    match found.and_then(|program| Browser::start(&program)) {
        Ok(browser) => Some(browser),
        Err(why) => {
            let required = std::env::var("AGON_BROWSER").is_ok_and(|wanted| wanted == "required");
            assert!(!required, "{why}: install chromium, or name one in AGON_CHROMIUM");
            eprintln!("skipped: {why}; install chromium, or name one in AGON_CHROMIUM");
            None
        }
    }
}

fn picture(browser: &mut Browser, name: &str) {
    if let Some(folder) = std::env::var_os("AGON_PICTURES") {
        let picture = browser.picture();
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), picture).unwrap();
    }
}

/// Every text and key-less string made long.
fn lengthen(value: &mut Value, long: &str) {
    match value {
        Value::String(text) if text.contains(' ') => text.push_str(long),
        Value::Array(values) => values.iter_mut().for_each(|value| lengthen(value, long)),
        Value::Object(fields) => fields.values_mut().for_each(|value| lengthen(value, long)),
        _ => {}
    }
}

fn assert_whole(at: &str, seen: &Value) {
    assert!(seen["scroll"].as_f64() <= seen["width"].as_f64(), "{at}: it scrolls sideways: {seen}");
    for (what, wrong) in [
        ("wider", "wider than the page"),
        ("faint", "text that can hardly be read"),
        ("flat", "drawings without a size"),
        ("skipped", "headings that skip a level"),
        ("shut", "details that do not open"),
        ("nameless", "drawings that say nothing to who does not see them"),
    ] {
        assert_eq!(seen[what], json!([]), "{at}: {wrong}");
    }
    for part in
        ["h1", ".card", ".flow .way", ".speech", ".did > .line", ".bars .bar", "nav a", "details.turn"]
    {
        assert!(seen["parts"][part].as_u64() > Some(0), "{at}: no {part}");
    }
    assert!(seen["texts"].as_u64() > Some(50), "{at}: next to nothing was looked at");
}

/// No error on the console, and nothing asked for but the file itself.
fn assert_quiet(at: &str, events: &[Value]) {
    let of = |method: &str| events.iter().filter(|event| event["method"] == method).collect::<Vec<_>>();
    for method in ["Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"] {
        assert!(of(method).is_empty(), "{at}: {:?}", of(method));
    }
    let asked: Vec<&str> = of("Network.requestWillBeSent")
        .into_iter()
        .map(|event| event["params"]["request"]["url"].as_str().unwrap())
        .collect();
    assert!(asked.len() == 1 && asked[0].starts_with("file://"), "{at}: it asked for {asked:?}");
}
