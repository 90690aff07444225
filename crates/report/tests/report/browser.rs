//! The page in Chromium, at the widths of a desktop and a phone, in light and dark.
//!
//! Without a browser the tests say so and pass; with `AGON_BROWSER=required` they fail. `AGON_PICTURES=FOLDER` saves a
//! picture of each page there.

use std::path::{Path, PathBuf};

use agon_core::{Debate, PositionChange, PositionHistory, ReportBlock, RoundPositions, SeatPosition};
use serde_json::{Value, json};

use crate::chromium::{self, Browser};
use crate::protocols::played;
use crate::samples::{self, ReadDebate};

const WIDTHS: [u32; 2] = [1280, 390];
const SCHEMES: [&str; 2] = ["light", "dark"];

/// Opens everything on the page and reports what is wrong with it.
const LOOK: &str = include_str!("chromium/look.js");

#[test]
fn every_page_is_whole_at_both_widths_and_in_both_schemes() {
    let Some(mut browser) = started() else { return };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let invented = agon_protocols::all().map(|protocol| {
        let debate = Debate::from_records(&played(protocol, |_| false)).unwrap();
        (protocol.info().name, ReadDebate::new(protocol, debate))
    });
    for (name, read) in invented.chain([("sample", samples::converged().read())]) {
        let file = folder.join(format!("{name}.html"));
        std::fs::write(&file, read.page()).unwrap();
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
    let seen = {
        browser.open(&folder.join("sample.html"), 1280, "light");
        browser.evaluate(LOOK)
    };
    for part in ["h1", ".card", ".flow .way", ".speech", ".did > .line", "nav a", "details.turn"] {
        assert!(seen["parts"][part].as_u64() > Some(0), "no {part}");
    }
}

/// Words without a space, sixteen seats, forty rounds: nothing makes a phone scroll sideways.
#[test]
fn no_word_is_too_long_for_a_phone() {
    let Some(mut browser) = started() else { return };
    let long = format!("{} <b>&amp;</b> {}", "x".repeat(400), "https://example.org/".repeat(20));
    let mut read = samples::converged().read();
    read.debate.brief.question.push_str(&long);
    read.view.outline.answer[0].blocks = vec![
        ReportBlock::Prose(format!(
            "{long}\n\n- {long}\n\n> {long}\n\n```\n{long}\n```\n\n| a | {long} |\n|---|---|\n| 1 | 2 |"
        )),
        ReportBlock::Line(long.clone()),
        ReportBlock::Pairs(vec![(long.clone(), long.clone())]),
    ];
    let round = |round: u32| RoundPositions {
        round,
        stands: (0..16_u32)
            .map(|seat| SeatPosition {
                seat: format!("seat-{seat}{long}"),
                position: format!("{}{long}", (seat * round) % 5),
                change: (round > 0).then(PositionChange::default),
                ..SeatPosition::default()
            })
            .collect(),
        ..RoundPositions::default()
    };
    read.view.positions =
        PositionHistory { rounds: (0..40).map(round).collect(), ..PositionHistory::default() };
    read.evidence = agon_measure::evidence(&read.debate, &read.view.positions);
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("long.html");
    std::fs::write(&file, read.page()).unwrap();
    for width in WIDTHS {
        browser.open(&file, width, "light");
        picture(&mut browser, &format!("long-{width}"));
        let seen = browser.evaluate(LOOK);
        assert_eq!(seen["wider"], json!([]), "at {width}");
        assert!(seen["scroll"].as_f64() <= seen["width"].as_f64(), "at {width} it scrolls sideways: {seen}");
    }
}

/// The checks above find something if there is something: a page with one fault of each kind.
#[test]
fn the_faults_of_a_bad_page_are_found() {
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

fn assert_whole(at: &str, seen: &Value) {
    assert!(seen["scroll"].as_f64() <= seen["width"].as_f64(), "{at}: it scrolls sideways: {seen}");
    for (what, wrong) in [
        ("wider", "wider than the page"),
        ("faint", "text with too little contrast"),
        ("flat", "drawings without a size"),
        ("skipped", "headings that skip a level"),
        ("shut", "details that do not open"),
        ("nameless", "drawings without a description"),
    ] {
        assert_eq!(seen[what], json!([]), "{at}: {wrong}");
    }
    assert!(seen["texts"].as_u64() > Some(30), "{at}: the page is almost empty");
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
